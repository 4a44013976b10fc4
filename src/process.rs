//! One runner for every child process: the agents' CLIs, git, test commands, hooks.
//!
//! [`spawn`] gives lines of a long-lived child, [`run_to_end`] the whole output of a short one. Every
//! child leads its own session and group, carries a mark in its environment, dies with this program
//! and is never left behind: when it ends or is stopped, so is everything that it started, processes
//! that lead sessions of their own included.
//!
//! Refuses to know protocols, agents, git and what any output means.

mod ancestry;
mod capture;
mod children;
mod commands;
mod contain;
mod doing;
mod drain;
mod error;
mod family;
mod frame;
mod input;
mod instance;
mod launch;
mod leftover;
mod namespace;
mod registry;
mod run_to_end;
mod running;
mod scope;
mod spec;
mod standing;
mod stop;
mod table;

pub use capture::Captured;
pub use children::{Children, Played, StandIns};
pub use commands::CliProcesses;
pub use contain::{
    Bubblewrap, Containment, Hold, Kernel, Network, PRIVATE_TMPDIR, Processes, ScratchFolder,
    find_kernel, foreign_owner,
};
pub use doing::{Doing, Input, ProcessState, doing, state_of};
pub use error::{InputClosed, SpawnError};
pub use input::InputHandle;
pub use instance::{
    InstanceFate, InstanceRecord, KilledInstances, LeftoverSuspect, has_living_descendants,
};
pub use leftover::{
    Leftover, end_everything, end_leftovers, end_leftovers_of, end_own_session, find_leftovers,
};
pub use namespace::NamespaceSet;
pub use registry::become_subreaper;
pub use run_to_end::{Ended, Finished, Limits, Stdin, run_to_end};
pub use running::{Exit, Line, Pipes, Running, StopHandle, Stream, spawn};
pub use scope::why_abstract_sockets_stay_open;
pub use spec::{EnvBase, MARK_VARIABLE, Marker, Spec};
pub use standing::{Standing, is_below, is_there, parent_of, standing_of};
pub use stop::{Ladder, Rung};
pub use table::ProcessIdentity;

#[cfg(test)]
pub(crate) mod tests;
