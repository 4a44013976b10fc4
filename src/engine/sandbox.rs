//! Builds the sandbox of a process: the paths of its turn, those of its CLI, and those that are hidden from it.
//!
//! It reads the disk and the environment, and starts nothing but the probe. Where no sandbox is available, a
//! process is restricted only by its CLI's protocol; the user is told so when a run starts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::adapter::{
    AdapterTraits, AgentSandbox, BundledBubblewrap, LaunchSpec, SandboxProvider, TurnAccess,
    adapter_entry,
};
use crate::config::AppConfig;
use crate::config::config_model::ConfiguredTestNetwork;
use crate::permission::{AgentToolCall, SandboxReach};
use crate::process::{
    BubblewrapProgram, ChildSpawner, SandboxMount, SandboxNetwork, SandboxProcesses, SandboxSpec,
    SandboxSupport, detect_sandbox_support, why_abstract_sockets_stay_open,
};

use super::git::submodule_mounts;
use super::sandbox_escapes::SandboxEscape;

mod cli_state_mounts;
mod command_sandbox;
mod git_call_sandbox;
mod host_sockets;
mod temp_folders;
mod tool_caches;
mod user_environment;

pub use command_sandbox::{
    CleanCopyMounts, CommandReach, CommitSigningMode, check_sandbox_spec, clean_copy_sandbox_spec,
    test_sandbox_spec,
};
pub use git_call_sandbox::{sandbox_git_commits, sandbox_git_reads};
pub use host_sockets::container_sockets;

use command_sandbox::{hidden_workdir_mounts, visible_sockets};
use host_sockets::{KeyAgentAccess, find_sockets, socket_mounts, socket_variables};
use temp_folders::{SandboxScratch, find_temp_folders, mentioned_temp_mounts, private_temp_mounts};
use user_environment::{UserEnvironment, parse_absolute_paths};

/// The inputs of the sandbox for the processes of one turn.
#[derive(Debug, Clone)]
pub struct TurnSandbox {
    pub support: SandboxSupport,
    pub root: PathBuf,
    /// The user's folders that stay read-only even if a folder around them is writable.
    pub read_only_folders: Vec<PathBuf>,
    pub workdir: PathBuf,
    /// The files of that folder that are visible; `None` means all of them.
    pub visible_workdir_files: Option<Vec<PathBuf>>,
    pub staging: PathBuf,
    /// What the turn may write.
    pub access: TurnAccess,
    /// The folder of the session's tools, if it has any; other sessions' folders beside it are hidden.
    pub tools_folder: Option<PathBuf>,
    /// Additional paths that the user lets the CLI write.
    pub writable: Vec<PathBuf>,
    /// Files that rules deny to read: the sandbox shows empty files in their place.
    pub denied_files: Vec<PathBuf>,
    /// How commands can leave the CLI's own sandbox.
    pub sandbox_escapes: Vec<SandboxEscape>,
}

impl TurnSandbox {
    /// Returns the sandbox for the process of a launch; `None` if it runs without one.
    pub fn sandbox_spec(&self, launch: &LaunchSpec, run: &str) -> Option<SandboxSpec> {
        let (SandboxSupport::Available(bwrap), SandboxProvider::AgentCollab(own)) =
            (&self.support, &launch.sandbox)
        else {
            return None;
        };
        let variable = |name: &str| match launch.env.get(name) {
            Some(value) => Some(OsString::from(value)),
            None => std::env::var_os(name),
        };
        let users: Vec<PathBuf> = self
            .writable
            .iter()
            .filter_map(|path| canonical_path(path))
            .collect();
        let own = cli_state_mounts::state_folder_mounts(own, &launch.cwd, &self.root, variable);
        // Paths that the user configured explicitly stay accessible.
        let mut places: Vec<_> = own
            .into_iter()
            .filter(|(path, _)| !users.contains(path))
            .collect();
        let tools = self.tools_folder.iter();
        places.extend(tools.map(|folder| (folder.clone(), SandboxMount::ReadOnly)));
        places.extend(users.into_iter().map(|path| (path, SandboxMount::Writable)));
        // A deeper path overrides the one above it, for example a child's own tree below the hidden trees of
        // others.
        places.extend(
            self.read_only_folders
                .iter()
                .filter_map(|path| Some((canonical_path(path)?, SandboxMount::ReadOnly))),
        );
        let repository = match self.access {
            TurnAccess::ReadOnly => SandboxMount::ReadOnly,
            TurnAccess::Workspace => SandboxMount::Writable,
        };
        places.push((self.root.clone(), repository));
        places.extend(protected_paths(&self.root, &self.workdir));
        places.extend(
            self.visible_workdir_files
                .iter()
                .flat_map(|shown| hidden_workdir_mounts(&self.workdir, shown)),
        );
        places.push((self.staging.clone(), SandboxMount::Writable));
        let unread = self.denied_files.iter().cloned();
        places.extend(unread.map(|file| (file, SandboxMount::EmptyFile)));
        Some(self.with_private_folders(bwrap, places, launch, run))
    }

    /// Adds what every such process has: its own temporary files, and no sockets of other programs.
    fn with_private_folders(
        &self,
        bwrap: &Path,
        mut places: Vec<(PathBuf, SandboxMount)>,
        launch: &LaunchSpec,
        run: &str,
    ) -> SandboxSpec {
        let user = UserEnvironment::from_process();
        let folders = find_temp_folders(&user, &self.root);
        let set = launch.args.iter().chain(launch.env.values());
        let set = set
            .chain([&launch.program])
            .flat_map(|text| parse_absolute_paths(text.as_ref()));
        let inherited = user.variable_paths().flat_map(|(_, paths)| paths);
        // The CLI's tools and hooks are started from this program's executable.
        let needed = set.chain(inherited).chain(std::env::current_exe().ok());
        places.extend(mentioned_temp_mounts(&folders, needed, &places));
        let mut scratch = SandboxScratch::new(run);
        places.extend(private_temp_mounts(&folders, &mut scratch));
        places.extend(socket_mounts(&user, KeyAgentAccess::Hidden));
        let own = self.tools_folder.iter().chain([&self.staging]);
        let own: Vec<_> = own.filter_map(|folder| canonical_path(folder)).collect();
        let sockets = find_sockets(&user, KeyAgentAccess::Hidden, SandboxNetwork::Host).into_iter();
        let sockets = sockets.filter(|path| !own.iter().any(|own| path.starts_with(own)));
        let sockets = visible_sockets(sockets, &folders, &places);
        SandboxSpec::new(bwrap, places)
            .with_hidden_sockets(sockets)
            .with_removed_variables(socket_variables(&user, KeyAgentAccess::Hidden, &[]))
            .with_scratch(scratch.into_folder())
    }
}

/// Marks a call as sandboxed by the kernel.
pub fn mark_sandboxed(call: &mut AgentToolCall) {
    match call {
        AgentToolCall::Command { reach, .. } | AgentToolCall::Edit { reach, .. }
            if *reach == SandboxReach::Unconfined =>
        {
            *reach = SandboxReach::Contained;
        }
        AgentToolCall::Command { .. }
        | AgentToolCall::Edit { .. }
        | AgentToolCall::Read { .. }
        | AgentToolCall::Tool { .. } => {}
    }
}

/// Describes what happens to commands that are not sandboxed.
const UNCONTAINED_COMMANDS_ASK: &str = "each command that is not proven read-only asks you, whatever rules, approvals and the mode say (unless --uncontained)";

/// Describes an agent's sandbox here: first what the kernel enforces, then what only the protocol does.
pub fn describe_adapter_sandbox(
    kernel: &SandboxSupport,
    config: &AppConfig,
    traits: &AdapterTraits,
) -> (String, String) {
    let writes = "writes its staging folder and its own state; during Execute the repository, without .git and .agent-collab";
    let (by_kernel, by_protocol) = match (&traits.sandbox, kernel) {
        (AgentSandbox::Cli { description, .. } | AgentSandbox::NoSandbox(description), _) => {
            (description.by_kernel.to_owned(), description.by_protocol)
        }
        (AgentSandbox::AgentCollab, _) if !config.safety.contain_agents => (
            format!("none: safety.contain_agents is off; {UNCONTAINED_COMMANDS_ASK}"),
            "every call",
        ),
        (AgentSandbox::AgentCollab, SandboxSupport::Available(bwrap)) => (
            format!(
                "{}: {writes}; {}; {}",
                bwrap.display(),
                describe_abstract_sockets(),
                describe_visible_processes(bwrap)
            ),
            "reads and network",
        ),
        (AgentSandbox::AgentCollab, SandboxSupport::Unavailable(why)) => (
            format!(
                "none: {why} (hint: install bubblewrap, `apt install bubblewrap`, and allow user namespaces); {UNCONTAINED_COMMANDS_ASK}"
            ),
            "every call",
        ),
    };
    (by_kernel, by_protocol.to_owned())
}

/// Returns whether a role uses a CLI that runs without a sandbox and has none of its own.
pub fn has_uncontained_role(kernel: &SandboxSupport, config: &AppConfig) -> bool {
    let is_held = matches!(kernel, SandboxSupport::Available(_)) && config.safety.contain_agents;
    let roles = [Some(&config.roles.planner), config.roles.reviewer.as_ref()];
    let mut kinds = roles
        .into_iter()
        .flatten()
        .filter_map(|name| config.adapters.get(name));
    !is_held && kinds.any(|adapter| adapter_entry(adapter.kind).traits.needs_our_sandbox())
}

/// Describes which sockets a process with the machine's network can reach.
fn describe_abstract_sockets() -> String {
    match why_abstract_sockets_stay_open() {
        None => "sockets of other programs are hidden".to_owned(),
        Some(why) => format!(
            "sockets of other programs are hidden, except abstract ones ({why}; hint: Linux 6.12 can hide them)"
        ),
    }
}

/// Returns the names of the adapters that a role uses, and their traits.
fn role_adapters(config: &AppConfig) -> impl Iterator<Item = (&String, &'static AdapterTraits)> {
    let roles = [Some(&config.roles.planner), config.roles.reviewer.as_ref()];
    let adapters = config.adapters.iter();
    let used = adapters.filter(move |(name, _)| roles.contains(&Some(name)));
    used.map(|(name, settings)| (name, adapter_entry(settings.kind).traits))
}

/// Describes the sandbox of each CLI that a role uses: its name, and [`describe_adapter_sandbox`].
pub fn describe_role_sandboxes(
    kernel: &SandboxSupport,
    config: &AppConfig,
) -> Vec<(String, (String, String))> {
    let describe = |traits| describe_adapter_sandbox(kernel, config, traits);
    let adapters = role_adapters(config);
    adapters
        .map(|(name, traits)| (name.clone(), describe(traits)))
        .collect()
}

/// Returns each CLI that a role uses, and in one short sentence what its agent can write and reach here. Where nothing
/// sandboxes it, [`describe_adapter_sandbox`] has the reason and what to do.
pub fn summarize_role_sandboxes(
    kernel: &SandboxSupport,
    config: &AppConfig,
) -> Vec<(String, &'static str)> {
    let summarize = |traits: &AdapterTraits| match (&traits.sandbox, kernel) {
        (AgentSandbox::Cli { description, .. } | AgentSandbox::NoSandbox(description), _) => {
            description.summary
        }
        (AgentSandbox::AgentCollab, SandboxSupport::Available(_))
            if config.safety.contain_agents =>
        {
            "writes this repository only during Execute; rules decide about reads and network"
        }
        (AgentSandbox::AgentCollab, SandboxSupport::Available(_)) => {
            "none (safety.contain_agents is off): commands that may write ask you"
        }
        (AgentSandbox::AgentCollab, SandboxSupport::Unavailable(_)) => {
            "none here: commands that may write ask you. /diagnose says why"
        }
    };
    let adapters = role_adapters(config);
    adapters
        .map(|(name, traits)| (name.clone(), summarize(traits)))
        .collect()
}

/// Describes the sandbox of the program's own tests and commits.
pub fn describe_test_sandbox(kernel: &SandboxSupport, config: &AppConfig) -> String {
    match kernel {
        _ if !config.safety.contain_tests => "none: safety.contain_tests is off".to_owned(),
        SandboxSupport::Available(bwrap) => format!(
            "{}: they write the repository, without .git (commits write a copy, from which only objects are kept) and .agent-collab, \
             their own temporary files, and caches of common tools; {}; sockets of other programs are hidden; {}",
            bwrap.display(),
            match config.test.network {
                ConfiguredTestNetwork::Host => "they use the machine's network",
                ConfiguredTestNetwork::Ask =>
                    "they have only their own loopback interface, unless you choose otherwise",
                ConfiguredTestNetwork::Loopback => "they have only their own loopback interface",
            },
            describe_visible_processes(bwrap)
        ),
        SandboxSupport::Unavailable(why) => format!("none: {why}"),
    }
}

/// Describes which processes are visible inside bubblewrap.
fn describe_visible_processes(bwrap: &BubblewrapProgram) -> &'static str {
    match bwrap.processes {
        SandboxProcesses::Own => "only its own processes are visible, and they end with it",
        SandboxProcesses::Host => {
            "all of your processes are visible: this system does not let it mount its own /proc"
        }
    }
}

/// Returns the paths in a repository that no child process may write.
fn protected_paths(root: &Path, workdir: &Path) -> Vec<(PathBuf, SandboxMount)> {
    let named = [root.join(".git"), root.join(".agent-collab")];
    let mut places: Vec<_> = named
        .iter()
        .filter_map(|path| canonical_path(path))
        .map(|path| (path, SandboxMount::ReadOnly))
        .collect();
    places.push((workdir.to_owned(), SandboxMount::ReadOnly));
    // A submodule's `.git` can point git to other settings and hooks.
    places.extend(submodule_mounts(root));
    places
}

fn canonical_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize()
        .ok()
        .filter(|path| path.components().count() > 1)
}

/// Finds the sandbox for agents and tests on this machine: the system's bubblewrap, else the one that a CLI ships.
pub async fn find_sandbox_support(
    children: &ChildSpawner,
    config: &AppConfig,
    root: &Path,
) -> SandboxSupport {
    let mut candidates = find_on_path("bwrap");
    for adapter in config.adapters.values() {
        if let Some(bundled) = &adapter_entry(adapter.kind).traits.bundled_bubblewrap {
            candidates.extend(find_bundled(bundled, &adapter.program));
        }
    }
    // A file of the repository must not be the program that sandboxes the repository's agents.
    candidates.retain(|path| canonical_path(path).is_some_and(|path| !path.starts_with(root)));
    detect_sandbox_support(children, &candidates, root).await
}

fn find_on_path(program: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .filter(|path| path.is_file())
        .collect()
}

/// Finds bubblewrap in a CLI's packages: beside its native program, or beside npm's wrapper of it.
fn find_bundled(bundled: &BundledBubblewrap, program: &str) -> Vec<PathBuf> {
    let named = if program.contains('/') {
        vec![PathBuf::from(program)]
    } else {
        find_on_path(program)
    };
    let Some(program) = named.iter().find_map(|path| canonical_path(path)) else {
        return Vec::new();
    };
    let below = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let brought = |folder: PathBuf| folder.join(bundled.relative_path);
    let mut found = Vec::new();
    for folder in program.ancestors().skip(1).take(4) {
        found.push(brought(folder.to_owned()));
        for packages in [folder.to_owned(), folder.join("node_modules")] {
            let vendored =
                below(packages.join(bundled.npm_scope)).map(|package| package.join("vendor"));
            found.extend(vendored.flat_map(below).map(brought));
        }
    }
    found.retain(|path| path.is_file());
    found
}

#[cfg(test)]
mod reach_tests;
#[cfg(test)]
mod tests;
