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

use super::family::{Family, signal_one};

/// How long those whom a child left behind may take after TERM.
const SWEEP_GRACE: Duration = Duration::from_millis(500);
/// How long the system may take to end those who were killed.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// What is tried, in order, to stop a child; a kill of the whole family is always the end of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ladder(pub Vec<(Rung, Duration)>);

/// One attempt to stop a child; beside it stands how long it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// Waits only: the child was asked by its own protocol.
    Wait,
    /// Closes the child's standard input.
    CloseInput,
    /// Sends INT to the child's group, as Ctrl+C would.
    Interrupt,
    /// Sends TERM to the whole family.
    Terminate,
}

impl Ladder {
    /// Input closed, INT, TERM, each with some time, then KILL: seven seconds at the most.
    pub fn patient() -> Self {
        let rungs = [
            (Rung::CloseInput, 2),
            (Rung::Interrupt, 2),
            (Rung::Terminate, 3),
        ];
        Self(
            rungs
                .map(|(rung, seconds)| (rung, Duration::from_secs(seconds)))
                .into(),
        )
    }

    /// TERM, one second, KILL.
    pub fn brief() -> Self {
        Self(vec![(Rung::Terminate, Duration::from_secs(1))])
    }

    /// KILL at once.
    pub fn now() -> Self {
        Self(Vec::new())
    }
}

/// The strings that a waiting task pulls and is pulled by.
pub(super) struct Reins {
    /// Ladders to climb; a later one replaces an earlier one.
    pub ladders: mpsc::Receiver<Ladder>,
    /// Closes the child's standard input.
    pub close_input: CancellationToken,
    /// Told once the child has ended and its family is gone.
    pub ended: CancellationToken,
}

/// How a child and its family ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// `None` when the system lost track of the child, or it could not be killed.
    pub status: Option<ExitStatus>,
    /// Processes that even KILL did not end.
    pub survivors: Vec<u32>,
}

/// Waits until a child has ended, and ends it when a ladder comes; then ends all that it left.
pub(super) async fn wait_and_sweep(mut child: Child, mut family: Family, mut reins: Reins) -> End {
    let status = wait_or_climb(&mut child, &mut family, &mut reins).await;
    family.on_root_reaped();
    let survivors = sweep(&mut family).await;
    family.on_over();
    reins.ended.cancel();
    End { status, survivors }
}

async fn wait_or_climb(
    child: &mut Child,
    family: &mut Family,
    reins: &mut Reins,
) -> Option<ExitStatus> {
    let mut climb = Climb::Resting;
    loop {
        tokio::select! {
            status = child.wait() => return status.ok(),
            Some(ladder) = reins.ladders.recv() => {
                climb = Climb::Climbing { rungs: ladder.0.into(), next_at: Instant::now() };
            }
            () = climb.patience() => {
                climb = match climb {
                    Climb::Resting => Climb::Resting,
                    Climb::Climbing { rungs, .. } => step(rungs, family, &reins.close_input),
                    // A child that is stuck inside the system is left to it.
                    Climb::Killed { .. } => return None,
                };
            }
        }
    }
}

/// Where on its ladder a stop is.
enum Climb {
    /// Nobody wants the child stopped.
    Resting,
    Climbing {
        rungs: VecDeque<(Rung, Duration)>,
        next_at: Instant,
    },
    Killed {
        give_up_at: Instant,
    },
}

impl Climb {
    async fn patience(&self) {
        match self {
            Self::Resting => std::future::pending().await,
            Self::Climbing { next_at: at, .. } | Self::Killed { give_up_at: at } => {
                sleep_until(*at).await
            }
        }
    }
}

fn step(
    mut rungs: VecDeque<(Rung, Duration)>,
    family: &mut Family,
    close_input: &CancellationToken,
) -> Climb {
    let Some((rung, patience)) = rungs.pop_front() else {
        family.signal(Signal::SIGKILL);
        return Climb::Killed {
            give_up_at: Instant::now() + KILL_PATIENCE,
        };
    };
    match rung {
        Rung::Wait => {}
        Rung::CloseInput => close_input.cancel(),
        Rung::Interrupt => family.signal_group(Signal::SIGINT),
        Rung::Terminate => family.signal(Signal::SIGTERM),
    }
    Climb::Climbing {
        rungs,
        next_at: Instant::now() + patience,
    }
}

/// Ends whoever of a family is left after the child: TERM, a short grace, KILL. Gives those who live on.
async fn sweep(family: &mut Family) -> Vec<u32> {
    let nobody_is_left = end_by(family, Signal::SIGTERM, SWEEP_GRACE).await
        || end_by(family, Signal::SIGKILL, KILL_PATIENCE).await;
    if nobody_is_left {
        return Vec::new();
    }
    family.descendants().into_iter().map(|id| id.pid).collect()
}

/// Signals everybody of a family once, newborns too, until nobody is left or patience ends.
async fn end_by(family: &mut Family, signal: Signal, patience: Duration) -> bool {
    let give_up_at = Instant::now() + patience;
    let mut signalled = BTreeSet::new();
    let mut pause = Duration::from_millis(2);
    family.signal_untabled_group(signal);
    loop {
        let living = family.descendants();
        if living.is_empty() && !family.untabled_group_lives() {
            return true;
        }
        if Instant::now() >= give_up_at {
            return false;
        }
        for id in living {
            if signalled.insert(id) {
                signal_one(id, signal);
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}
