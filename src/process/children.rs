//! Who starts children: the system, or stand-ins that are handed in where the program is put together.
//!
//! Refuses to know what a stand-in plays. The program itself never hands any in; whoever rehearses it
//! in one process does, and then no child of the system is started at all.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use nix::sys::signal::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::error::SpawnError;
use super::run_to_end::{Finished, Limits, run_to_end};
use super::running::{Running, spawn};
use super::spec::Spec;
use super::stop::{End, Ladder, Reins, Rung};
use super::table::ProcessIdentity;

/// Where children come from; by default the system starts them.
#[derive(Clone, Default)]
pub struct Children(Option<Arc<dyn StandIns>>);

/// Plays children inside this process.
pub trait StandIns: Send + Sync {
    /// Begins a long-lived child.
    ///
    /// # Errors
    /// As [`spawn`].
    fn begin(&self, spec: &Spec) -> Result<Played, SpawnError>;

    /// Plays a short-lived child to its end; may block.
    ///
    /// # Errors
    /// As [`run_to_end`].
    fn play(&self, spec: &Spec, limits: &Limits) -> Result<Finished, SpawnError>;
}

/// A long-lived child that is played.
pub struct Played {
    /// What it passes for in the process table.
    pub id: ProcessIdentity,
    /// What it reads.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it writes.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// What it complains.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    /// Where signals to it go.
    pub signals: mpsc::UnboundedSender<Signal>,
    /// How it ended, once it has; dropped without a word it counts as lost.
    pub ended: oneshot::Receiver<ExitStatus>,
}

impl fmt::Debug for Children {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.0.as_ref().map_or("system", |_| "stand-ins");
        write!(f, "Children({who})")
    }
}

impl Children {
    /// Children that are played.
    pub fn played_by(stand_ins: Arc<dyn StandIns>) -> Self {
        Self(Some(stand_ins))
    }

    /// Tells whether stand-ins play them.
    pub fn are_played(&self) -> bool {
        self.0.is_some()
    }

    /// Starts a child whose lines are wanted; see [`spawn`].
    ///
    /// # Errors
    /// The child did not start.
    pub async fn spawn(&self, spec: &Spec) -> Result<Running, SpawnError> {
        match &self.0 {
            None => spawn(spec).await,
            Some(stand_ins) => stand_ins.begin(spec).map(running),
        }
    }

    /// Runs a child to its end; see [`run_to_end`].
    ///
    /// # Errors
    /// The child did not start.
    pub async fn run_to_end(
        &self,
        spec: &Spec,
        limits: &Limits,
        cancel: &CancellationToken,
    ) -> Result<Finished, SpawnError> {
        match &self.0 {
            None => run_to_end(spec, limits, cancel).await,
            Some(stand_ins) => stand_ins.play(spec, limits),
        }
    }
}

fn running(played: Played) -> Running {
    let Played {
        id,
        stdin,
        stdout,
        stderr,
        signals,
        ended,
    } = played;
    Running::assemble(id, (stdin, stdout, stderr), |reins| {
        wait(ended, signals, reins)
    })
}

/// Waits for the end of a played child and climbs the ladders that come meanwhile.
async fn wait(
    mut ended: oneshot::Receiver<ExitStatus>,
    signals: mpsc::UnboundedSender<Signal>,
    mut reins: Reins,
) -> End {
    let ladder = tokio::select! {
        biased;
        status = &mut ended => Err(status.ok()),
        Some(ladder) = reins.ladders.recv() => Ok(ladder),
    };
    let status = match ladder {
        Ok(ladder) => climb(&mut ended, &signals, (ladder, &reins.close_input)).await,
        Err(status) => status,
    };
    reins.ended.cancel();
    End {
        status,
        survivors: Vec::new(),
    }
}

async fn climb(
    ended: &mut oneshot::Receiver<ExitStatus>,
    signals: &mpsc::UnboundedSender<Signal>,
    (ladder, close_input): (Ladder, &CancellationToken),
) -> Option<ExitStatus> {
    for (rung, patience) in ladder.0 {
        // One that does not listen any more has ended.
        let _ended = match rung {
            Rung::Wait => Ok(()),
            Rung::CloseInput => {
                close_input.cancel();
                Ok(())
            }
            Rung::Interrupt => signals.send(Signal::SIGINT),
            Rung::Terminate => signals.send(Signal::SIGTERM),
        };
        if let Ok(status) = timeout(patience, &mut *ended).await {
            return status.ok();
        }
    }
    let _ended = signals.send(Signal::SIGKILL);
    ended.await.ok()
}
