//! What an agent may do: calls go in, a decision comes out.
//!
//! Pure: paths arrive resolved, nothing here looks at the disk, the clock or the environment.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub mod approved;
pub mod check;
pub mod context;
pub mod decide;
pub mod explain;
pub mod floors;
pub mod given;
pub mod guard;
mod judge;
pub mod layers;
pub mod lint;
pub mod mode;
pub mod names;
pub mod parts;
pub mod path;
pub mod profile;
pub mod proposals;
pub mod reading;
pub mod reads;
pub mod repetition;
pub mod rule;
pub mod shell;
mod unboxed;
pub mod uncontained;
pub mod wildcard;
mod words;

pub use approved::{Approvable, Approved, Keeping, Scope};
pub use context::{Context, Lineage, PhaseAccess, Repetition, ResolvedPath};
pub use decide::{Ask, By, Decision, Link, Target, Why, decide};
pub use layers::Rules;
pub use mode::Mode;
pub use profile::{AgentMode, Profile, Profiles};
pub use reading::{Refused, proven};
pub use rule::{Action, Layer, Origin, Rule};
pub use uncontained::UncontainedCommands;

/// Something an agent wants to do and its CLI asks about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Call {
    /// Runs a shell command line.
    Command {
        /// The line as the CLI shows it, `bash -c '…'` wrappers of the CLI taken off.
        line: String,
        /// Where it would run.
        cwd: PathBuf,
        /// What holds the command once it runs.
        reach: Reach,
    },
    /// Creates, changes, moves or deletes files.
    Edit {
        /// Every path touched, as the CLI named it (absolute or relative to its working directory); empty when the CLI did not say.
        paths: Vec<PathBuf>,
        /// What holds the edit once it is made.
        reach: Reach,
    },
    /// Reads outside what the CLI reads unasked.
    Read {
        /// The paths to be read.
        paths: Vec<PathBuf>,
        /// How folders among them are searched; `None`: their names are listed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<reads::SearchScope>,
    },
    /// Calls a tool that is none of the above (MCP tools included).
    Tool {
        /// The tool's name as the CLI gives it.
        name: String,
        /// Its input as JSON text.
        input: String,
    },
}

/// What holds a call once it is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The CLI's sandbox is lifted for this call: codex asks only to leave its sandbox.
    LeavesSandbox,
    /// A rule of the CLI's own lets the command out of its sandbox without asking.
    LetOut,
    /// Nothing holds it: the CLI has no sandbox of its own, and the system lets none be put around it.
    Unconfined,
    /// The kernel holds it to what its turn may write: codex's sandbox, or the one in which claude runs.
    Contained,
}
