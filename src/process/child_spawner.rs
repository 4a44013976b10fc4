//! Starts children through the system, or through simulators that a test installs.
//!
//! The program itself never installs a simulator. A test that runs the whole program in one process does, and
//! then no real child is started at all.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use nix::sys::signal::Signal;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::child_output::{CommandLimits, CommandOutput, run_to_end};
use super::process_table::ProcessIdentity;
use super::running_child::{RunningChild, spawn};
use super::spawn_error::SpawnError;
use super::spawn_spec::SpawnSpec;
use super::stop_ladder::{ProcessTreeEnd, StopChannels, StopLadder, StopRung};

/// Starts children; by default the system starts them.
#[derive(Clone, Default)]
pub struct ChildSpawner(Option<Arc<dyn ProcessSimulator>>);

/// Simulates children inside this process.
pub trait ProcessSimulator: Send + Sync {
    /// Starts a simulated long-lived child.
    ///
    /// # Errors
    /// As [`spawn`].
    fn spawn_child(&self, spec: &SpawnSpec) -> Result<SimulatedChild, SpawnError>;

    /// Runs a simulated short-lived child to its end; may block.
    ///
    /// # Errors
    /// As [`run_to_end`].
    fn run_child_to_end(
        &self,
        spec: &SpawnSpec,
        limits: &CommandLimits,
    ) -> Result<CommandOutput, SpawnError>;
}

/// A simulated long-lived child.
pub struct SimulatedChild {
    /// Its identity in place of an entry in the process table.
    pub id: ProcessIdentity,
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    /// Receives the signals that are sent to it.
    pub signals: mpsc::UnboundedSender<Signal>,
    /// Receives its exit status; if the sender is dropped, the child counts as lost.
    pub ended: oneshot::Receiver<ExitStatus>,
}

impl fmt::Debug for ChildSpawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.0.as_ref().map_or("system", |_| "stand-ins");
        write!(f, "Children({who})")
    }
}

impl ChildSpawner {
    /// Returns a spawner that uses this simulator.
    pub fn simulated_by(stand_ins: Arc<dyn ProcessSimulator>) -> Self {
        Self(Some(stand_ins))
    }

    /// Returns true if children are simulated.
    pub fn is_simulated(&self) -> bool {
        self.0.is_some()
    }

    /// Starts a child whose output lines are read; see [`spawn`].
    ///
    /// # Errors
    /// The child did not start.
    pub async fn spawn(&self, spec: &SpawnSpec) -> Result<RunningChild, SpawnError> {
        match &self.0 {
            None => spawn(spec).await,
            Some(stand_ins) => stand_ins.spawn_child(spec).map(assemble_simulated_child),
        }
    }

    /// Runs a child to its end; see [`run_to_end`].
    ///
    /// # Errors
    /// The child did not start.
    pub async fn run_to_end(
        &self,
        spec: &SpawnSpec,
        limits: &CommandLimits,
        cancel: &CancellationToken,
    ) -> Result<CommandOutput, SpawnError> {
        match &self.0 {
            None => run_to_end(spec, limits, cancel).await,
            Some(stand_ins) => stand_ins.run_child_to_end(spec, limits),
        }
    }
}

fn assemble_simulated_child(played: SimulatedChild) -> RunningChild {
    let SimulatedChild {
        id,
        stdin,
        stdout,
        stderr,
        signals,
        ended,
    } = played;
    RunningChild::assemble(id, stdin, stdout, stderr, |reins| {
        wait_for_simulated_child(ended, signals, reins)
    })
}

/// Waits for the end of a simulated child and runs the stop ladders that arrive in the meantime.
async fn wait_for_simulated_child(
    mut ended: oneshot::Receiver<ExitStatus>,
    signals: mpsc::UnboundedSender<Signal>,
    mut reins: StopChannels,
) -> ProcessTreeEnd {
    let ladder = tokio::select! {
        biased;
        status = &mut ended => Err(status.ok()),
        Some(ladder) = reins.ladders.recv() => Ok(ladder),
    };
    let status = match ladder {
        Ok(ladder) => climb_stop_ladder(&mut ended, &signals, ladder, &reins.close_input).await,
        Err(status) => status,
    };
    reins.ended.cancel();
    ProcessTreeEnd {
        status,
        survivors: Vec::new(),
    }
}

async fn climb_stop_ladder(
    ended: &mut oneshot::Receiver<ExitStatus>,
    signals: &mpsc::UnboundedSender<Signal>,
    ladder: StopLadder,
    close_input: &CancellationToken,
) -> Option<ExitStatus> {
    for (rung, patience) in ladder.0 {
        // If the receiver is gone, the child has ended.
        let _ended = match rung {
            StopRung::Wait => Ok(()),
            StopRung::CloseInput => {
                close_input.cancel();
                Ok(())
            }
            StopRung::Interrupt => signals.send(Signal::SIGINT),
            StopRung::Terminate => signals.send(Signal::SIGTERM),
        };
        if let Ok(status) = timeout(patience, &mut *ended).await {
            return status.ok();
        }
    }
    let _ended = signals.send(Signal::SIGKILL);
    ended.await.ok()
}
