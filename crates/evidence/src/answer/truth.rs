//! Three-valued truth: what is not known is neither yes nor no.

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    No,
    Maybe,
    Yes,
}

impl Truth {
    pub(super) fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.min(other)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.max(other)
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }

    /// The least of all; yes of none. Stops at the first no.
    pub(super) fn all(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut least = Self::Yes;
        for truth in truths {
            least = least.and(truth);
            if least == Self::No {
                break;
            }
        }
        least
    }

    /// The greatest of all; no of none. Stops at the first yes.
    pub(super) fn any(truths: impl IntoIterator<Item = Self>) -> Self {
        let mut greatest = Self::No;
        for truth in truths {
            greatest = greatest.or(truth);
            if greatest == Self::Yes {
                break;
            }
        }
        greatest
    }
}
