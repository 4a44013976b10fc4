//! Runs every child process: the agents' CLIs, git, test commands, hooks.
//!
//! [`spawn`] returns the output lines of a long-lived child, [`run_to_end`] the whole output of a short one.
//! Every child leads its own session and process group, carries a mark in its environment, dies with this
//! program and is never left behind: when it ends or is stopped, everything that it started ends, too,
//! including processes in sessions of their own.
//!
//! Does not know protocols, agents or git, and does not interpret output.

mod abstract_sockets;
mod ancestor_chain;
mod bubblewrap;
mod bubblewrap_probe;
mod child_launcher;
mod child_output;
mod child_registry;
mod child_spawner;
mod cli_processes;
mod head_tail_buffer;
mod kernel_namespaces;
mod killed_instances;
mod line_framer;
mod orphan_reaper;
mod peer_origin;
mod pipe_reader;
mod process_activity;
mod process_mark;
mod process_table;
mod process_tree;
mod running_child;
mod spawn_error;
mod spawn_spec;
mod stdin_writer;
mod stop_ladder;

pub use abstract_sockets::why_abstract_sockets_stay_open;
pub use bubblewrap::{
    BubblewrapProgram, PRIVATE_TMPDIR, SandboxMount, SandboxNetwork, SandboxProcesses, SandboxSpec,
    ScratchFolder,
};
pub use bubblewrap_probe::{SandboxSupport, describe_foreign_owner, detect_sandbox_support};
pub use child_output::{
    CommandEndCause, CommandLimits, CommandOutput, MAX_SANDBOX_SETUPS, StdinSource, run_to_end,
};
pub use child_registry::become_subreaper;
pub use child_spawner::{ChildSpawner, ProcessSimulator, SimulatedChild};
pub use cli_processes::CliProcesses;
pub use head_tail_buffer::CapturedOutput;
pub use kernel_namespaces::KernelNamespaces;
pub use killed_instances::{
    InstanceFate, InstanceRecord, KilledInstances, LeftoverSuspect, has_living_descendants,
};
pub use orphan_reaper::{
    LeftoverProcess, find_leftovers, terminate_descendants, terminate_leftovers,
    terminate_leftovers_by_prefix, terminate_own_session,
};
pub use peer_origin::{PeerOrigin, classify_peer, is_descendant, is_process_alive, read_parent};
pub use process_activity::{
    InputWait, ProcessActivity, ProcessState, read_process_state, read_tree_activity,
};
pub use process_mark::{MARK_VARIABLE, ProcessMark};
pub use process_table::{ProcessIdentity, read_uptime_ticks};
pub use running_child::{
    ChildExit, OutputEvent, OutputStream, PipeState, RunningChild, StopHandle, spawn,
};
pub use spawn_error::{InputClosedError, SpawnError};
pub use spawn_spec::{EnvironmentBase, SpawnSpec};
pub use stdin_writer::InputHandle;
pub use stop_ladder::{StopLadder, StopRung};

#[cfg(test)]
pub(crate) mod tests;
