//! What the kernel holds a process to: the places of its turn, of its CLI, and those that are hidden from it.
//!
//! Looks at the disk and the environment, and refuses to start anything but the probe. Where nothing holds a
//! process, the protocol alone does; whoever starts a run is told so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::adapter::{Access, Held, Keeps, Launch, StatePlace};
use crate::config::Config;
use crate::config::types::AdapterKind;
use crate::permission::{Call, Reach};
use crate::process::{Children, Containment, Hold, Kernel, find_kernel};

use super::codex_rules::WayOut;

mod caches;
mod own_commands;
mod sockets;

pub use own_commands::{hold_checks, hold_commits, hold_tests};

use own_commands::alone;
use sockets::{doors, users_doors};

/// What holds the processes of one turn.
#[derive(Debug, Clone)]
pub struct Holder {
    /// Whether anything does.
    pub kernel: Kernel,
    /// The repository's real root.
    pub root: PathBuf,
    /// Folders of the user's that it does not write, whoever lets it write around them.
    pub closed: Vec<PathBuf>,
    /// The program's own folder.
    pub workdir: PathBuf,
    /// The files that it sees of that folder; `None`: it sees all of it.
    pub shown: Option<Vec<PathBuf>>,
    /// The folder that the turn's agent may write.
    pub staging: PathBuf,
    /// What the turn may write.
    pub access: Access,
    /// The folder of the session's tools, where it has any; what lies beside it is hidden.
    pub tools: Option<PathBuf>,
    /// What the user lets the CLI write beside.
    pub writable: Vec<PathBuf>,
    /// How commands get out of the CLI's own sandbox.
    pub ways_out: Vec<WayOut>,
}

impl Holder {
    /// What holds the process that a launch describes; `None` where nothing does.
    pub fn hold(&self, launch: &Launch) -> Option<Containment> {
        let (Kernel::Holds(bwrap), Held::Whole(own)) = (&self.kernel, launch.held) else {
            return None;
        };
        let variable = |name: &str| match launch.env.get(name) {
            Some(value) => Some(OsString::from(value)),
            None => std::env::var_os(name),
        };
        let mut places = doors();
        places.extend(users_doors());
        places.extend(own.iter().filter_map(|place| state(place, variable)));
        let tools = self.tools.iter();
        places.extend(tools.map(|folder| (folder.clone(), Hold::ReadOnly)));
        let users = self.writable.iter().filter_map(|path| real(path));
        places.extend(users.map(|path| (path, Hold::Writable)));
        // Deeper places count for what lies below them: its own tree among those of others, say.
        places.extend(
            self.closed
                .iter()
                .filter_map(|path| Some((real(path)?, Hold::ReadOnly))),
        );
        let repository = match self.access {
            Access::ReadOnly => Hold::ReadOnly,
            Access::Workspace => Hold::Writable,
        };
        places.push((self.root.clone(), repository));
        places.extend(protected(&self.root, &self.workdir));
        places.extend(
            self.shown
                .iter()
                .flat_map(|shown| alone(&self.workdir, shown)),
        );
        places.push((self.staging.clone(), Hold::Writable));
        Some(Containment::new(bwrap, places))
    }
}

/// Says of a call that the kernel holds what its process does.
pub fn mark(call: &mut Call) {
    match call {
        Call::Command { reach, .. } | Call::Edit { reach, .. } if *reach == Reach::Unconfined => {
            *reach = Reach::Contained;
        }
        Call::Command { .. } | Call::Edit { .. } | Call::Read { .. } | Call::Tool { .. } => {}
    }
}

/// What holds an agent here, in words: first what the kernel holds, then what only the protocol does.
pub fn in_words(kernel: &Kernel, config: &Config, kind: AdapterKind) -> (String, String) {
    let writes = "it writes its turn's staging folder and its own state; in EXECUTE the repository, but not .git and .agent-collab";
    let (by_kernel, by_protocol) = match (kind, kernel) {
        (AdapterKind::Codex, _) => (
            "by codex's own sandbox: its commands write nothing before EXECUTE, in it the repository but .git and .agent-collab, and have no network".to_owned(),
            "patches, tools of MCP servers, what leaves the sandbox",
        ),
        (AdapterKind::Claude, _) if !config.safety.contain_agents => (
            "nothing: safety.contain_agents is off".to_owned(),
            "every call",
        ),
        (AdapterKind::Claude, Kernel::Holds(bwrap)) => (
            format!("by {}: {writes}", bwrap.display()),
            "what it reads, the network",
        ),
        (AdapterKind::Claude, Kernel::Cannot(why)) => (
            format!("nothing: {why} (hint: install bubblewrap, `apt install bubblewrap`, and allow user namespaces)"),
            "every call",
        ),
        (AdapterKind::Pipe, _) => (
            "nothing: what this program needs for itself is not known".to_owned(),
            "nothing; its answer is read and no call of it is seen",
        ),
    };
    (by_kernel, by_protocol.to_owned())
}

/// What holds each CLI that a role uses: its name, and [`in_words`].
pub fn told(kernel: &Kernel, config: &Config) -> Vec<(String, (String, String))> {
    let roles = [Some(&config.roles.planner), config.roles.reviewer.as_ref()];
    let used = |name: &String| roles.contains(&Some(name));
    let adapters = config.adapters.iter().filter(|(name, _)| used(name));
    adapters
        .map(|(name, settings)| (name.clone(), in_words(kernel, config, settings.kind)))
        .collect()
}

/// What holds the program's own tests and commits, in words.
pub fn tests_in_words(kernel: &Kernel, config: &Config) -> String {
    match kernel {
        _ if !config.safety.contain_tests => "nothing: safety.contain_tests is off".to_owned(),
        Kernel::Holds(bwrap) => format!(
            "by {}: they write the repository but not .git (a commit does, but no hooks and no settings in it) and .agent-collab, \
             temporary files and the caches of common tools; sockets of docker, the desktop and tmux are hidden",
            bwrap.display()
        ),
        Kernel::Cannot(why) => format!("nothing: {why}"),
    }
}

/// What no child may write in a repository.
fn protected(root: &Path, workdir: &Path) -> Vec<(PathBuf, Hold)> {
    let named = [root.join(".git"), root.join(".agent-collab")];
    let mut places: Vec<_> = named
        .iter()
        .filter_map(|path| real(path))
        .map(|path| (path, Hold::ReadOnly))
        .collect();
    places.push((workdir.to_owned(), Hold::ReadOnly));
    places
}

/// A place of the CLI's own. What it writes is made first: what is missing cannot be held open.
fn state(
    place: &StatePlace,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<(PathBuf, Hold)> {
    let named = variable(place.variable).filter(|value| !value.is_empty());
    let folder = match named {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(variable("HOME")?).join(place.at_home),
    };
    let path = match place.below {
        "" => folder,
        below => folder.join(below),
    };
    match place.keeps {
        Keeps::Settings => Some((real(&path)?, Hold::ReadOnly)),
        Keeps::State => {
            if let Err(error) = std::fs::create_dir_all(&path) {
                tracing::warn!(path = %path.display(), %error, "a folder of the CLI's own cannot be made");
            }
            Some((real(&path)?, Hold::Writable))
        }
    }
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .filter(|path| path.components().count() > 1)
}

/// Looks what can hold agents and tests here: the system's bubblewrap, else the one that codex brings.
pub async fn kernel(children: &Children, config: &Config, root: &Path) -> Kernel {
    let codex = config
        .adapters
        .values()
        .filter(|adapter| adapter.kind == AdapterKind::Codex)
        .map(|adapter| adapter.program.as_str());
    let mut candidates = on_path("bwrap");
    candidates.extend(codex.flat_map(beside_codex));
    // What a repository brings may not be what holds its agents.
    candidates.retain(|path| real(path).is_some_and(|path| !path.starts_with(root)));
    find_kernel(children, &candidates, root).await
}

fn on_path(program: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .filter(|path| path.is_file())
        .collect()
}

/// The bubblewraps that the packages of codex bring: beside its native program, or beside npm's wrapper of it.
fn beside_codex(program: &str) -> Vec<PathBuf> {
    let named = match program.contains('/') {
        true => vec![PathBuf::from(program)],
        false => on_path(program),
    };
    let Some(program) = named.iter().find_map(|path| real(path)) else {
        return Vec::new();
    };
    let below = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let brought = |folder: PathBuf| folder.join("codex-resources/bwrap");
    let mut found = Vec::new();
    for folder in program.ancestors().skip(1).take(4) {
        found.push(brought(folder.to_owned()));
        for packages in ["@openai", "node_modules/@openai"] {
            let vendored = below(folder.join(packages)).map(|package| package.join("vendor"));
            found.extend(vendored.flat_map(below).map(brought));
        }
    }
    found.retain(|path| path.is_file());
    found
}

#[cfg(test)]
mod tests;
