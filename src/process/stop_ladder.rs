//! Waits for a child, climbs the ladder that stops it, and sweeps what it leaves behind.
//!
//! Refuses to know what the child says. Dropped in the middle, it kills the child's whole family.

use std::collections::{BTreeSet, VecDeque};
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::process_tree::{ProcessTree, signal_process};

/// How long those whom a child left behind may take after TERM.
const SWEEP_GRACE: Duration = Duration::from_millis(500);
/// How long the system may take to end those who were killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// What is tried, in order, to stop a child; a kill of the whole family is always the end of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopLadder(pub Vec<(StopRung, Duration)>);

/// One attempt to stop a child; beside it stands how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRung {
    /// Waits only: the child was asked by its own protocol.
    Wait,
    /// Closes the child's standard input.
    CloseInput,
    /// Sends INT to the child's group, as Ctrl+C would.
    Interrupt,
    /// Sends TERM to the whole family.
    Terminate,
}

impl StopLadder {
    /// Input closed, INT, TERM, each with some time, then KILL: seven seconds at the most.
    pub fn patient() -> Self {
        let rungs = [
            (StopRung::CloseInput, 2),
            (StopRung::Interrupt, 2),
            (StopRung::Terminate, 3),
        ];
        Self(
            rungs
                .map(|(rung, seconds)| (rung, Duration::from_secs(seconds)))
                .into(),
        )
    }

    /// TERM, one second, KILL.
    pub fn brief() -> Self {
        Self(vec![(StopRung::Terminate, Duration::from_secs(1))])
    }

    /// KILL at once.
    pub fn immediate() -> Self {
        Self(Vec::new())
    }
}

/// The strings that a waiting task pulls and is pulled by.
pub(super) struct StopChannels {
    /// Ladders to climb; a later one replaces an earlier one.
    pub ladders: mpsc::Receiver<StopLadder>,
    /// Closes the child's standard input.
    pub close_input: CancellationToken,
    /// Told once the child has ended and its family is gone.
    pub ended: CancellationToken,
}

/// How a child and its family ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessTreeEnd {
    /// `None` when the system lost track of the child, or it could not be killed.
    pub status: Option<ExitStatus>,
    /// Processes that even KILL did not end.
    pub survivors: Vec<u32>,
}

/// Waits until a child has ended, and ends it when a ladder comes; then ends all that it left.
pub(super) async fn wait_and_sweep(
    mut child: Child,
    mut family: ProcessTree,
    mut reins: StopChannels,
) -> ProcessTreeEnd {
    let status = wait_or_stop(&mut child, &mut family, &mut reins).await;
    family.on_root_reaped();
    let survivors = terminate_remaining(&mut family).await;
    family.on_finished();
    reins.ended.cancel();
    ProcessTreeEnd { status, survivors }
}

async fn wait_or_stop(
    child: &mut Child,
    family: &mut ProcessTree,
    reins: &mut StopChannels,
) -> Option<ExitStatus> {
    let mut climb = StopProgress::Idle;
    loop {
        tokio::select! {
            status = child.wait() => return status.ok(),
            Some(ladder) = reins.ladders.recv() => {
                climb = StopProgress::Climbing { rungs: ladder.0.into(), next_at: Instant::now() };
            }
            () = climb.wait_for_next_rung() => {
                climb = match climb {
                    StopProgress::Idle => StopProgress::Idle,
                    StopProgress::Climbing { rungs, .. } => apply_next_rung(rungs, family, &reins.close_input),
                    // A child that is stuck inside the system is left to it.
                    StopProgress::Killed { .. } => return None,
                };
            }
        }
    }
}

/// Where on its ladder a stop is.
enum StopProgress {
    /// Nobody wants the child stopped.
    Idle,
    Climbing {
        rungs: VecDeque<(StopRung, Duration)>,
        next_at: Instant,
    },
    Killed {
        give_up_at: Instant,
    },
}

impl StopProgress {
    async fn wait_for_next_rung(&self) {
        match self {
            Self::Idle => std::future::pending().await,
            Self::Climbing { next_at: at, .. } | Self::Killed { give_up_at: at } => {
                sleep_until(*at).await
            }
        }
    }
}

fn apply_next_rung(
    mut rungs: VecDeque<(StopRung, Duration)>,
    family: &mut ProcessTree,
    close_input: &CancellationToken,
) -> StopProgress {
    let Some((rung, patience)) = rungs.pop_front() else {
        family.signal_all(Signal::SIGKILL);
        return StopProgress::Killed {
            give_up_at: Instant::now() + KILL_TIMEOUT,
        };
    };
    match rung {
        StopRung::Wait => {}
        StopRung::CloseInput => close_input.cancel(),
        StopRung::Interrupt => family.signal_group(Signal::SIGINT),
        StopRung::Terminate => family.signal_all(Signal::SIGTERM),
    }
    StopProgress::Climbing {
        rungs,
        next_at: Instant::now() + patience,
    }
}

/// Ends whoever of a family is left after the child: TERM, a short grace, KILL. Gives those who live on.
async fn terminate_remaining(family: &mut ProcessTree) -> Vec<u32> {
    let nobody_is_left = signal_until_gone(family, Signal::SIGTERM, SWEEP_GRACE).await
        || signal_until_gone(family, Signal::SIGKILL, KILL_TIMEOUT).await;
    if nobody_is_left {
        return Vec::new();
    }
    family.descendants().into_iter().map(|id| id.pid).collect()
}

/// Signals everybody of a family once, newborns too, until nobody is left or patience ends.
async fn signal_until_gone(family: &mut ProcessTree, signal: Signal, patience: Duration) -> bool {
    let give_up_at = Instant::now() + patience;
    let mut signalled = BTreeSet::new();
    let mut pause = Duration::from_millis(2);
    family.signal_group_off_linux(signal);
    loop {
        let living = family.descendants();
        if living.is_empty() && !family.is_group_alive_off_linux() {
            return true;
        }
        if Instant::now() >= give_up_at {
            return false;
        }
        for id in living {
            if signalled.insert(id) {
                signal_process(id, signal);
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
