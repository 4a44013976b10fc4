//! Probes a CLI before any turn: whether it exists, its version, and what it supports.
//!
//! Runs the program once with `--version` and calls no model. A missing login does not fail the probe, since custom
//! providers have no login.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapter::cli_capabilities::{CliCapabilities, CliProbeError};
use crate::adapter::{claude, codex};
use crate::config::config_model::AdapterKind;
use crate::process::{
    ChildSpawner, CommandEndCause, CommandLimits, ProcessMark, SpawnError, SpawnSpec, StdinSource,
};

use super::run_setup::NamedAdapter;

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
    let settings = &adapter.settings;
    let mut spec = SpawnSpec::new(
        &settings.program,
        cwd,
        ProcessMark::new("probe", &adapter.name),
    );
    spec.env = settings.env.clone();
    spec.args = settings.args.clone();
    match settings.kind {
        AdapterKind::Codex => {
            spec.args.extend(
                codex::version_check::VERSION_ARGS
                    .iter()
                    .map(|&arg| arg.to_owned()),
            );
            let said = run_probe_command(children, &spec).await;
            let not_found = codex::version_check::not_found_error;
            evaluate_probe(
                &settings.program,
                "codex",
                said,
                codex::version_check::parse_capabilities,
                not_found,
                CliProbeError::hint,
            )
        }
        AdapterKind::Claude => {
            spec.args.extend(
                claude::version_check::VERSION_ARGS
                    .iter()
                    .map(|&arg| arg.to_owned()),
            );
            let said = run_probe_command(children, &spec).await;
            let not_found = claude::version_check::not_found_error;
            evaluate_probe(
                &settings.program,
                "claude",
                said,
                claude::version_check::parse_capabilities,
                not_found,
                claude::version_check::install_hint,
            )
        }
        AdapterKind::Pipe => {
            if program_exists(&settings.program, cwd) {
                CliProbeResult::UnknownVersion
            } else {
                CliProbeResult::Failed {
                    problem: format!("{} not found", settings.program),
                    hint: format!(
                        "install it, or set adapters.{}.program in config.toml",
                        adapter.name
                    ),
                }
            }
        }
    }
}

/// Asks a CLI whether the user is logged in, and returns the command that logs in if it says no. This is advice
/// only: no login is needed if the CLI's own configuration names another provider.
pub async fn missing_login_command(
    children: &ChildSpawner,
    adapter: &NamedAdapter,
    cwd: &Path,
) -> Option<&'static str> {
    let settings = &adapter.settings;
    let (args, is_logged_out, login): (&[&str], fn(&str) -> bool, _) = match settings.kind {
        AdapterKind::Codex => (
            codex::version_check::LOGIN_STATUS_ARGS,
            codex::version_check::is_logged_out,
            codex::version_check::LOGIN_COMMAND,
        ),
        AdapterKind::Claude => (
            claude::version_check::LOGIN_STATUS_ARGS,
            claude::version_check::is_logged_out,
            claude::version_check::LOGIN_COMMAND,
        ),
        AdapterKind::Pipe => return None,
    };
    let mut spec = SpawnSpec::new(
        &settings.program,
        cwd,
        ProcessMark::new("probe", &adapter.name),
    );
    spec.env = settings.env.clone();
    spec.args = settings.args.clone();
    spec.args.extend(args.iter().map(|&arg| arg.to_owned()));
    let said = run_probe_command(children, &spec).await.ok()??;
    is_logged_out(&said).then_some(login)
}

/// The output of a CLI; `None` if the command did not finish.
type CliProbeOutput = Result<Option<String>, SpawnError>;

async fn run_probe_command(children: &ChildSpawner, spec: &SpawnSpec) -> CliProbeOutput {
    let limits = CommandLimits {
        timeout: PROBE_TIMEOUT,
        output_cap: 64 * 1024,
        stdin: StdinSource::Null,
    };
    let finished = children
        .run_to_end(spec, &limits, &CancellationToken::new())
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

fn evaluate_probe(
    program: &str,
    adapter: &'static str,
    said: CliProbeOutput,
    read: fn(&str, &str) -> Result<CliCapabilities, CliProbeError>,
    not_found: fn(&str) -> CliProbeError,
    hint: fn(&CliProbeError) -> String,
) -> CliProbeResult {
    let refused = |refusal: &CliProbeError| CliProbeResult::Failed {
        problem: refusal.to_string(),
        hint: hint(refusal),
    };
    match said {
        Ok(None) => refused(&CliProbeError::TimedOut {
            program: program.to_owned(),
            adapter,
            seconds: PROBE_TIMEOUT.as_secs(),
        }),
        Ok(Some(said)) => match read(program, &said) {
            Ok(capabilities) => CliProbeResult::Ready(capabilities),
            Err(refusal) => refused(&refusal),
        },
        Err(SpawnError::NotOnPath { .. } | SpawnError::NoSuchFile { .. }) => {
            refused(&not_found(program))
        }
        Err(error) => CliProbeResult::Failed {
            problem: error.to_string(),
            hint: error.hint(),
        },
    }
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
