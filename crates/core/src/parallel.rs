//! Work on all processors: the results are those of one, in the same order.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// More threads than this are not started.
const THREADS_MAX: usize = 8;

/// Applies `work` to every item; the results stand in the order of the items.
///
/// Threads are started for the call and end with it. A pool that outlives it would be waited for in vain by a process
/// that was forked, which has none of the threads of its parent.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    on(processors.min(THREADS_MAX), items, work)
}

fn on<T: Send, R: Send>(threads: usize, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    if threads.min(items.len()) < 2 {
        return items.into_iter().map(work).collect();
    }
    let others = threads.min(items.len()) - 1;
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let own = std::iter::from_fn(next).map(|(at, item)| (at, work(item)));
        own.collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        // Where no more threads can be had, those that are there do the work.
        let start = |_| thread::Builder::new().spawn_scoped(scope, run).ok();
        let others: Vec<_> = (0..others).filter_map(start).collect();
        let mut done = run();
        for other in others {
            match other.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_items_on_any_number_of_threads() {
        for count in [0usize, 1, 2, 7, 500] {
            let items: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            let expected: Vec<usize> = items.iter().map(|item| item.len() * 3).collect();
            for threads in 0..6 {
                assert_eq!(on(threads, items.clone(), |item| item.len() * 3), expected, "{threads}");
            }
        }
    }

    #[test]
    fn a_panic_in_another_thread_is_a_panic() {
        let odd = |n: u32| assert!(n != 77, "seventy-seven");
        assert!(std::panic::catch_unwind(|| on(3, (0..100).collect(), odd)).is_err());
    }
}
