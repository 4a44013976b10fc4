//! Probes a CLI before any turn: whether it exists, its version, and what it supports.
//!
//! Runs the program once with `--version` and calls no model. A missing login does not fail the probe, since custom
//! providers have no login.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapter::cli_capabilities::{CliCapabilities, CliProbe, CliProbeError};
use crate::process::{
    ChildSpawner, CommandEndCause, CommandLimits, ProcessMark, SpawnError, SpawnSpec, StdinSource,
};

use super::named_adapter::NamedAdapter;

/// How long a CLI may take to print its version.
const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// The result of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CliProbeResult {
    /// The CLI exists and its version is supported.
    Ready(CliCapabilities),
    /// The program exists, but its version is unknown.
    UnknownVersion,
    Failed {
        problem: String,
        /// What the user should do.
        hint: String,
    },
}

/// Probes one adapter's program and reports whether it can be used.
pub async fn probe_cli(
    children: &ChildSpawner,
    adapter: &NamedAdapter,
    cwd: &Path,
) -> CliProbeResult {
    let program = &adapter.settings.program;
    let cli = adapter.traits().cli_name;
    let probe = match &adapter.traits().probe {
        CliProbe::Version(probe) => probe,
        CliProbe::Exists if program_exists(program, cwd) => return CliProbeResult::UnknownVersion,
        CliProbe::Exists => {
            return CliProbeResult::Failed {
                problem: format!("{program} not found"),
                hint: format!(
                    "install it, or set adapters.{}.program in config.toml",
                    adapter.name
                ),
            };
        }
    };
    let error = match run_probe_command(children, adapter, probe.args, cwd).await {
        Ok(None) => CliProbeError::TimedOut {
            program: program.clone(),
            adapter: cli,
            seconds: PROBE_TIMEOUT.as_secs(),
        },
        Ok(Some(said)) => match probe.parse_capabilities(cli, program, &said) {
            Ok(capabilities) => return CliProbeResult::Ready(capabilities),
            Err(error) => error,
        },
        Err(SpawnError::NotOnPath { .. } | SpawnError::NoSuchFile { .. }) => {
            CliProbeError::NotFound {
                program: program.clone(),
                adapter: cli,
                install: probe.install,
            }
        }
        Err(error) => {
            return CliProbeResult::Failed {
                problem: error.to_string(),
                hint: error.hint(),
            };
        }
    };
    CliProbeResult::Failed {
        problem: error.to_string(),
        hint: probe.error_hint(&error),
    }
}

/// Asks a CLI whether the user is logged in, and returns the command that logs in if it says no. This is advice
/// only: no login is needed if the CLI's own configuration names another provider.
pub async fn missing_login_command(
    children: &ChildSpawner,
    adapter: &NamedAdapter,
    cwd: &Path,
) -> Option<&'static str> {
    let CliProbe::Version(probe) = &adapter.traits().probe else {
        return None;
    };
    let login = &probe.login;
    let said = run_probe_command(children, adapter, login.args, cwd).await;
    (login.is_logged_out)(&said.ok()??).then_some(login.command)
}

/// The output of a CLI; `None` if the command did not finish.
type CliProbeOutput = Result<Option<String>, SpawnError>;

async fn run_probe_command(
    children: &ChildSpawner,
    adapter: &NamedAdapter,
    args: &[&str],
    cwd: &Path,
) -> CliProbeOutput {
    let settings = &adapter.settings;
    let mark = ProcessMark::new("probe", &adapter.name);
    let mut spec = SpawnSpec::new(&settings.program, cwd, mark);
    spec.env = settings.env.clone();
    spec.args = settings.args.clone();
    spec.args.extend(args.iter().map(|&arg| arg.to_owned()));
    let limits = CommandLimits {
        timeout: PROBE_TIMEOUT,
        output_cap: 64 * 1024,
        stdin: StdinSource::Null,
    };
    let finished = children
        .run_to_end(&spec, &limits, &CancellationToken::new())
        .await?;
    if finished.end_cause != CommandEndCause::ByItself {
        return Ok(None);
    }
    let said = finished.stdout.to_text();
    Ok(Some(if said.trim().is_empty() {
        finished.stderr.to_text()
    } else {
        said
    }))
}

/// Returns whether a program exists, searched as the system would.
pub fn program_exists(program: &str, cwd: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let runs = |path: &Path| {
        path.metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return runs(&cwd.join(program));
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| runs(&dir.join(program))))
}
