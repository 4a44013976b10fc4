//! A scenario's own environment: a folder with a home, the CLIs' own configuration, a temporary folder
//! and a PATH that starts with the pinned CLIs.
//!
//! The CLIs reach the model server through environment variables and their own configuration only.
//! Nothing of the developer's home, login or environment is visible.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::leftovers::assert_none_left;
use crate::model_server::ModelServer;
use crate::model_server::script::Vendor;

/// The pinned CLIs, as `npm ci` puts them here.
const REAL_CLI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real-cli");

/// A folder under `target/tmp`, with a matching environment.
pub struct Home {
    root: PathBuf,
    environment: Vec<(String, String)>,
}

impl Home {
    /// Creates the folder and points both CLIs at the server.
    ///
    /// The temporary folder is next to the home, because codex refuses to put its aliases into a home
    /// below the temporary folder.
    pub fn create(name: &str, server: &ModelServer) -> Home {
        let homes = homes();
        remove_abandoned(&homes, name);
        let root = homes.join(format!("{name}.{}", std::process::id()));
        for folder in [
            "home/.codex",
            "home/.claude",
            "home/.config/agent-collab",
            "tmp",
            "bin",
        ] {
            fs::create_dir_all(root.join(folder)).expect("a scenario's folder");
        }
        let root = root.canonicalize().expect("the scenario's real path");
        fs::write(root.join("home/.codex/config.toml"), codex_config(server))
            .expect("codex's own configuration");
        for vendor in Vendor::ALL {
            symlink(installed(vendor), root.join("bin").join(vendor.cli()))
                .expect("a link to the pinned CLI");
        }
        let environment = environment(&root, server);
        Home { root, environment }
    }

    /// The scenario's folder; every process of the scenario has it in its environment.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the scratch repository belongs.
    pub fn repository(&self) -> PathBuf {
        self.root.join("repository")
    }

    /// The user's own configuration of this program.
    pub fn global_config(&self) -> PathBuf {
        self.root.join("home/.config/agent-collab/config.toml")
    }

    /// Makes codex try each request twice and each stream twice instead of its 5 times 6, through its own
    /// configuration.
    pub fn bound_codex_retries(&self) {
        let path = self.root.join("home/.codex/config.toml");
        let provider = fs::read_to_string(&path).expect("codex's own configuration");
        let bounded = format!("{provider}request_max_retries = 1\nstream_max_retries = 1\n");
        fs::write(&path, bounded).expect("codex's own configuration");
    }

    /// Lets claude use a subscription instead of a key: only those have a plan that is used up.
    pub fn subscribe_claude(&mut self) {
        self.environment
            .retain(|(name, _)| name != "ANTHROPIC_API_KEY");
        self.environment
            .push(("CLAUDE_CODE_OAUTH_TOKEN".to_owned(), "dummy".to_owned()));
    }

    /// Prepares a program that sees this home and nothing else of the machine's environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment.iter().cloned())
            .current_dir(&self.root);
        command
    }

    /// All that a program sees of the machine's environment here.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Prepares one of the pinned CLIs by its name, found on this home's PATH.
    pub fn cli(&self, vendor: Vendor) -> Command {
        self.command(self.root.join("bin").join(vendor.cli()))
    }
}

/// Returns the folder that contains the folders of all scenarios.
pub fn homes() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab")
}

impl Drop for Home {
    /// Checks that no process of the scenario is left. A failed scenario leaves its folder for inspection;
    /// the next run removes it.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_none_left(&self.root);
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// Removes what earlier runs of a scenario left, but nothing of another run that is still active.
fn remove_abandoned(homes: &Path, name: &str) {
    for entry in fs::read_dir(homes).into_iter().flatten().flatten() {
        let folder = entry.file_name().to_string_lossy().into_owned();
        let Some((owner, pid)) = folder.rsplit_once('.') else {
            continue;
        };
        if owner == name && !Path::new("/proc").join(pid).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The program that npm links for a CLI.
///
/// # Panics
/// When it is not there: a missing CLI fails the scenario instead of leaving it out.
fn installed(vendor: Vendor) -> PathBuf {
    let path = Path::new(REAL_CLI)
        .join("node_modules/.bin")
        .join(vendor.cli());
    path.canonicalize().unwrap_or_else(|error| {
        panic!(
            "{} is not installed ({error}); run tests/run, which installs it by npm ci",
            path.display()
        )
    })
}

/// codex's native program, which its npm wrapper starts.
pub fn native_codex() -> PathBuf {
    let vendored = Path::new(REAL_CLI).join("node_modules/@openai");
    let packages = fs::read_dir(&vendored).expect("codex is installed by npm ci");
    packages
        .flatten()
        .flat_map(|package| {
            fs::read_dir(package.path().join("vendor"))
                .into_iter()
                .flatten()
                .flatten()
        })
        .map(|target| target.path().join("bin/codex"))
        .find(|program| program.exists())
        .expect("the npm package brings a native codex")
}

fn codex_config(server: &ModelServer) -> String {
    format!(
        r#"model = "gpt-5.5"
model_provider = "lab"
web_search = "disabled"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[model_providers.lab]
name = "lab"
base_url = "{}/v1"
wire_api = "responses"
env_key = "LAB_KEY"
requires_openai_auth = false
supports_websockets = false
"#,
        server.url()
    )
}

fn environment(root: &Path, server: &ModelServer) -> Vec<(String, String)> {
    let inside = |path: &str| root.join(path).to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let variables = [
        ("PATH", format!("{}:{path}", inside("bin"))),
        ("HOME", inside("home")),
        ("XDG_CONFIG_HOME", inside("home/.config")),
        ("XDG_DATA_HOME", inside("home/.local/share")),
        ("XDG_STATE_HOME", inside("home/.local/state")),
        ("XDG_CACHE_HOME", inside("home/.cache")),
        ("TMPDIR", inside("tmp")),
        ("LANG", "C.UTF-8".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("CODEX_HOME", inside("home/.codex")),
        ("LAB_KEY", "dummy".to_owned()),
        ("CLAUDE_CONFIG_DIR", inside("home/.claude")),
        ("ANTHROPIC_BASE_URL", server.url()),
        ("ANTHROPIC_API_KEY", "dummy".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ];
    variables
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
}
