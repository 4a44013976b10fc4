//! Waits for a child, stops it step by step, and ends what it leaves behind.
//!
//! If it is dropped in between, it kills the child's whole process tree.

use std::collections::{BTreeSet, VecDeque};
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::process_tree::{ProcessTree, signal_process};

/// How long leftover processes of a child may take after TERM.
const SWEEP_GRACE: Duration = Duration::from_millis(500);
/// How long the system may take to end killed processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// The steps to stop a child, in order; a kill of the whole process tree always follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StopLadder(pub Vec<(StopRung, Duration)>);

/// One step to stop a child; it is paired with its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRung {
    /// Only waits: the child was asked to stop by its own protocol.
    Wait,
    /// Closes the child's standard input.
    CloseInput,
    /// Sends INT to the child's group, as Ctrl+C would.
    Interrupt,
    /// Sends TERM to the whole process tree.
    Terminate,
}

impl StopLadder {
    /// Closes the input, then INT, then TERM, each with some time, then KILL: at most seven seconds.
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

/// The channels to and from the task that waits for a child.
pub(super) struct StopChannels {
    /// Ladders to run; a later one replaces an earlier one.
    pub ladders: mpsc::Receiver<StopLadder>,
    /// Closes the child's standard input.
    pub close_input: CancellationToken,
    /// Cancelled once the child has ended and its process tree is gone.
    pub ended: CancellationToken,
}

/// How a child and its process tree ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessTreeEnd {
    /// `None` if the system lost track of the child, or it could not be killed.
    pub status: Option<ExitStatus>,
    /// Processes that even KILL did not end.
    pub survivors: Vec<u32>,
}

/// Waits until a child has ended, or stops it when a ladder arrives; then ends everything that it left.
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
                    // A child that is stuck inside the system cannot be ended.
                    StopProgress::Killed { .. } => return None,
                };
            }
        }
    }
}

/// The progress of a stop on its ladder.
enum StopProgress {
    /// No stop was requested.
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

/// Ends the remaining processes of a tree after the child: TERM, a short grace, KILL. Returns the survivors.
async fn terminate_remaining(family: &mut ProcessTree) -> Vec<u32> {
    let nobody_is_left = signal_until_gone(family, Signal::SIGTERM, SWEEP_GRACE).await
        || signal_until_gone(family, Signal::SIGKILL, KILL_TIMEOUT).await;
    if nobody_is_left {
        return Vec::new();
    }
    family.descendants().into_iter().map(|id| id.pid).collect()
}

/// Signals every process of a tree once, including new ones, until none is left or time is up.
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
