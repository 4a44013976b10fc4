//! What the kernel holds a process to: the places of its turn, of its CLI, and those that are hidden from it.
//!
//! Looks at the disk and the environment, and refuses to start anything but the probe. Where nothing holds a
//! process, the protocol alone does; whoever starts a run is told so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use nix::unistd::getuid;

use crate::adapter::{Access, Held, Keeps, Launch, StatePlace};
use crate::config::Config;
use crate::config::types::AdapterKind;
use crate::permission::{Call, Reach};
use crate::process::{Children, Containment, Hold, Kernel, find_kernel};

use super::codex_rules::WayOut;
use super::git::Repository;
use super::scratch;

/// Sockets by which a process could have others act for it, outside of what holds it.
const DOORS: &[&str] = &[
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/dbus",
    "/run/systemd/private",
    "/run/screen",
    "/tmp/.X11-unix",
];

/// Where the tools of many languages keep what they fetched and built: the variable that names the folder, where
/// there is one, and the folder below the user's home.
const CACHES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", ".cache"),
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("npm_config_cache", ".npm"),
    ("PNPM_HOME", ".local/share/pnpm"),
    ("YARN_CACHE_FOLDER", ".yarn"),
    ("BUN_INSTALL", ".bun"),
    ("DENO_DIR", ".deno"),
    ("UV_CACHE_DIR", ".local/share/uv"),
    ("WORKON_HOME", ".local/share/virtualenvs"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("", ".m2"),
    ("", ".ivy2"),
    ("", ".sbt"),
    ("NUGET_PACKAGES", ".nuget"),
    ("", ".dotnet"),
    ("COMPOSER_HOME", ".composer"),
    ("GEM_HOME", ".gem"),
    ("", ".bundle"),
    ("MIX_HOME", ".mix"),
    ("HEX_HOME", ".hex"),
    ("STACK_ROOT", ".stack"),
    ("CABAL_DIR", ".cabal"),
    ("CCACHE_DIR", ".ccache"),
];

/// What lies in such a folder, but configures or starts the user's own commands.
const NO_CACHES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo/bin"),
    ("CARGO_HOME", ".cargo/config"),
    ("CARGO_HOME", ".cargo/config.toml"),
    ("CARGO_HOME", ".cargo/credentials.toml"),
    ("CARGO_HOME", ".cargo/env"),
    ("GOPATH", "go/bin"),
    ("BUN_INSTALL", ".bun/bin"),
    ("DENO_DIR", ".deno/bin"),
    ("", ".m2/settings.xml"),
    ("GRADLE_USER_HOME", ".gradle/gradle.properties"),
    ("GRADLE_USER_HOME", ".gradle/init.d"),
];

/// What holds a test command of the program's: it writes the repository but for git's folder and the program's,
/// temporary files, and the caches of common tools; `None` where nothing holds it.
/// `trees` is a folder of which it sees nothing.
pub fn hold_tests(
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
    trees: Option<&Path>,
) -> Option<Containment> {
    let Kernel::Holds(bwrap) = kernel else {
        return None;
    };
    let mut places = doors();
    places.extend(users_doors());
    places.extend(work(root));
    places.extend(protected(root, workdir));
    places.extend(trees.map(|folder| (folder.to_owned(), Hold::EmptyFolder)));
    Some(Containment::new(bwrap, places))
}

/// Has the program's own commits held with the hooks that they run: as a test, but a commit writes git's own folders,
/// save hooks and settings in them, and reaches what signs. Nothing changes where nothing holds it.
pub fn hold_commits(
    repository: Repository,
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
) -> Repository {
    let Kernel::Holds(bwrap) = kernel else {
        return repository;
    };
    let mut places = doors();
    places.extend(work(root));
    let git = [&repository.git_dir, &repository.common_dir];
    let there = |path: PathBuf, hold| real(&path).map(|path| (path, hold));
    let pointer = root.join(".git");
    if pointer.is_file() {
        // A linked work tree: the file says where git's folder is.
        places.extend(there(pointer, Hold::ReadOnly));
    }
    for folder in git {
        places.extend(there(folder.clone(), Hold::Writable));
        let settings = ["hooks", "config", "config.worktree"].map(|name| folder.join(name));
        places.extend(
            settings
                .into_iter()
                .filter_map(|path| there(path, Hold::ReadOnly)),
        );
    }
    places.extend(cache("GNUPGHOME", ".gnupg").map(|keys| (keys, Hold::Writable)));
    places.extend(there(root.join(".agent-collab"), Hold::ReadOnly));
    places.push((workdir.to_owned(), Hold::ReadOnly));
    let held = Containment::new(bwrap, places);
    repository.with_commits_held(Some(held))
}

/// What holds a command that is to settle something: as a test, but of the repository it writes nothing. Of the
/// program's own folder it sees what is `shown`, of the `unread` files nothing.
pub fn hold_checks(
    kernel: &Kernel,
    (root, workdir): (&Path, &Path),
    shown: &[PathBuf],
    unread: Vec<PathBuf>,
) -> Option<Containment> {
    let Kernel::Holds(bwrap) = kernel else {
        return None;
    };
    let mut places = doors();
    places.extend(users_doors());
    places.extend(work(root));
    places.push((root.to_owned(), Hold::ReadOnly));
    places.extend(alone(workdir, shown));
    places.extend(unread.into_iter().map(|file| (file, Hold::EmptyFile)));
    Some(Containment::new(bwrap, places))
}

/// The program's own folder as an empty one, but for these files of it.
fn alone(workdir: &Path, shown: &[PathBuf]) -> impl Iterator<Item = (PathBuf, Hold)> {
    let shown = shown.iter().filter_map(|file| real(file));
    let shown = shown.map(|file| (file, Hold::ReadOnly));
    std::iter::once((workdir.to_owned(), Hold::EmptyFolder)).chain(shown)
}

/// What the program's own children work in: the repository, temporary files, and the caches of common tools.
fn work(root: &Path) -> Vec<(PathBuf, Hold)> {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let writable = temporary.iter().filter_map(|path| real(path));
    let mut places: Vec<_> = writable.map(|path| (path, Hold::Writable)).collect();
    let there = |list: &[(&str, &str)], hold| -> Vec<(PathBuf, Hold)> {
        let named = list.iter().filter_map(|(name, below)| cache(name, below));
        named.map(|path| (path, hold)).collect()
    };
    places.extend(there(CACHES, Hold::Writable));
    places.extend(there(NO_CACHES, Hold::ReadOnly));
    places.push((root.to_owned(), Hold::Writable));
    places
}

/// A folder of a tool, where it is there; `below` begins with the folder that the variable names.
fn cache(variable: &str, below: &str) -> Option<PathBuf> {
    let named =
        std::env::var_os(variable).filter(|value| !variable.is_empty() && !value.is_empty());
    let (_, rest) = below.split_once('/').unwrap_or((below, ""));
    let path = match named {
        Some(folder) if NO_CACHES.contains(&(variable, below)) => PathBuf::from(folder).join(rest),
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(below),
    };
    real(&path)
}

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

/// The sockets that are there, each as an empty file, and folders of sockets as empty folders: those of all runs too.
fn doors() -> Vec<(PathBuf, Hold)> {
    let tmux = std::env::var("TMUX").ok();
    let mut named: Vec<PathBuf> = DOORS.iter().map(PathBuf::from).collect();
    named.push(format!("/tmp/tmux-{}", getuid()).into());
    named.extend(tmux.and_then(|tmux| tmux.split(',').next().map(PathBuf::from)));
    named.extend(scratch::of_all_runs());
    hidden(&named)
}

/// The folders of the user's own sockets: of the desktop, and of agents that keep keys.
fn users_doors() -> Vec<(PathBuf, Hold)> {
    let mut named = vec![PathBuf::from(format!("/run/user/{}", getuid()))];
    named.extend(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
    hidden(&named)
}

fn hidden(named: &[PathBuf]) -> Vec<(PathBuf, Hold)> {
    let there = named.iter().filter_map(|path| real(path));
    let hold = |path: PathBuf| match path.is_dir() {
        true => (path, Hold::EmptyFolder),
        false => (path, Hold::EmptyFile),
    };
    there.map(hold).collect()
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
