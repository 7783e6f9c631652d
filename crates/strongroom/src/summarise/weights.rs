//! What is worth a token: the tables that every choice of a summary follows. Integers only.

/// Worth of a token of each kind of line, in hundredths.
pub(super) mod density {
    pub(in super::super) const FILE_CHANGED: u64 = 3_000;
    pub(in super::super) const FILE_READ: u64 = 2_500;
    /// A command with a definite effect, one that may have effects, one that only reads.
    pub(in super::super) const COMMAND: [u64; 3] = [2_500, 220, 25];
    /// What a failed call said first; other lines that look like errors.
    pub(in super::super) const ERROR: [u64; 2] = [3_500, 1_500];
    /// A line in which a runner says that what it ran has failed.
    pub(in super::super) const ERROR_AGAIN: u64 = 250;
    /// A question of the agent with what somebody answered.
    pub(in super::super) const ANSWER: u64 = 4_000;
    pub(in super::super) const PLANNED: u64 = 600;
    /// The first chunks of the last reply; the last one goes on.
    pub(in super::super) const LAST_REPLY: [u64; 3] = [2_000, 120, 60];
    /// The beginning of one of the last replies, and the rest of it.
    pub(in super::super) const LATE_REPLY: [u64; 2] = [120, 10];
    pub(in super::super) const REPLY: [u64; 2] = [4, 2];
    pub(in super::super) const PATTERN: u64 = 150;
    /// A value that a command printed or that was said, and one in the text of a file or call.
    pub(in super::super) const VALUE: [u64; 2] = [420, 80];
    /// Divided by what the literal costs, and doubled for each point.
    pub(in super::super) const LITERAL: u64 = 500;
    /// The newest state of a file, and older ones.
    pub(in super::super) const EDIT: [u64; 2] = [6, 2];
    /// A line of the user that bans, demands or sets a condition, however old it is.
    pub(in super::super) const RULE: u64 = 8_000;
    /// The first chunks of a message of the user.
    pub(in super::super) const USER: [u64; 4] = [3_000, 2_000, 1_000, 200];
    /// The beginning of something that was pasted.
    pub(in super::super) const PASTE: u64 = 150;
    /// Later chunks, and those of what is repeated, fall from here by a fortieth each.
    pub(in super::super) const USER_LATER: u64 = 20;
    /// What the last three messages of the user are worth, and the first, in hundredths.
    pub(in super::super) const USER_LAST: u64 = 200;
    pub(in super::super) const USER_FIRST: u64 = 150;
}

/// By how much age changes a worth, in hundredths: the share of the text behind it, in percent, is below the first.
const AGES: [(u64, u64); 3] = [(10, 200), (25, 140), (50, 100)];
const OLD: u64 = 70;

/// The worth of something behind which `behind` percent of the text stand.
pub(super) fn aged(density: u64, behind: u64) -> u64 {
    let factor = AGES.iter().find(|(below, _)| behind < *below).map_or(OLD, |&(_, factor)| factor);
    density * factor / 100
}

/// The largest chunks of a message, in tokens; the last one goes on.
pub(super) const CHUNKS: [u64; 3] = [80, 120, 300];

/// A command is worth less from this length on, in tokens.
pub(super) const COMMAND_TOKENS: u64 = 80;

/// Which signs of re-use double the worth of a literal, and how often.
pub(super) mod points {
    /// The agent wrote it, in a call or a reply.
    pub(in super::super) const AGENT: u32 = 2;
    /// It wrote it within the last half of the text.
    pub(in super::super) const AGENT_HALF: u32 = 1;
    /// It wrote it within the last fiftieth.
    pub(in super::super) const AGENT_NOW: u32 = 1;
    /// It stands in one of the last two messages of the user.
    pub(in super::super) const LAST_USER: u32 = 2;
    /// It stands in two spans or more.
    pub(in super::super) const AGAIN: u32 = 1;
    /// It was last seen in the last quarter.
    pub(in super::super) const LATE: u32 = 1;
    /// It is anything but a hash or a random id, which lose the point that all others have.
    pub(in super::super) const NAMED: u32 = 1;
}
