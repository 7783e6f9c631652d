//! Work with a deadline: it runs in a thread of its own, and nobody waits for it longer than that.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use strongroom::{Error, Result};

/// What the work tells while it goes on.
enum Step<T> {
    Reached(String),
    End(Result<T>),
}

/// Where the work tells what it has reached.
pub(super) struct Reached(Box<dyn Fn(String)>);

impl Reached {
    /// Told to nobody.
    pub(super) fn nobody() -> Self {
        Self(Box::new(drop))
    }

    /// This much is done and stays.
    pub(super) fn note(&self, what: String) {
        (self.0)(what);
    }
}

/// Does `work` in a thread and waits for it until the deadline; what it has done until then stays done.
///
/// # Errors
/// Those of `work`; `Unavailable` naming what was reached when the time is over, `Bug` when it panics.
pub(super) fn within<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce(&Reached) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, steps) = channel();
    let start = Instant::now();
    let thread = std::thread::Builder::new().name("hook".to_owned()).spawn(move || run(&sender, work));
    thread.map_err(|error| Error::unavailable("no thread can be started").caused_by(error))?;
    let mut reached = Vec::new();
    loop {
        match steps.recv_timeout(deadline.saturating_sub(start.elapsed())) {
            Ok(Step::Reached(what)) => reached.push(what),
            Ok(Step::End(end)) => return end,
            Err(RecvTimeoutError::Timeout) => return Err(too_late(deadline, &reached)),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::bug("the work ended without a word")),
        }
    }
}

fn run<T: Send + 'static>(sender: &Sender<Step<T>>, work: impl FnOnce(&Reached) -> Result<T>) {
    let progress = sender.clone();
    // Nobody listens any more when the time is over.
    let reached = Reached(Box::new(move |what| drop(progress.send(Step::Reached(what)))));
    let end = catch_unwind(AssertUnwindSafe(|| work(&reached)));
    let end = end.unwrap_or_else(|panic| Err(Error::bug(format!("it panicked: {}", words(panic.as_ref())))));
    drop(sender.send(Step::End(end)));
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

fn too_late(deadline: Duration, reached: &[String]) -> Error {
    let done = match reached {
        [] => String::new(),
        some => format!("; taken in by then: {}", some.join(", ")),
    };
    Error::unavailable(format!("not finished within {} s{done}", deadline.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_reached_is_named_when_the_time_is_over() {
        let late: Result<()> = within(Duration::from_millis(50), |reached| {
            reached.note("a.jsonl".to_owned());
            std::thread::sleep(Duration::from_secs(5));
            Ok(())
        });
        assert!(late.unwrap_err().to_string().ends_with("taken in by then: a.jsonl"));
    }

    #[test]
    fn a_panic_is_an_error() {
        let broken: Result<()> = within(Duration::from_secs(5), |_| panic!("own words"));
        assert_eq!(broken.unwrap_err().to_string(), "it panicked: own words");
        assert_eq!(within(Duration::from_secs(5), |_| Ok(7)).unwrap(), 7);
    }
}
