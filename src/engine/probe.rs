//! Finds out about a CLI before any turn: is it there, which version, what it can do.
//!
//! Runs the program once with `--version`; calls no model. A missing login is no refusal, since custom
//! providers have none.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::adapter::probe::{Capabilities, Refusal};
use crate::adapter::{claude, codex};
use crate::config::types::AdapterKind;
use crate::process::{Children, Ended, Limits, Marker, SpawnError, Spec, Stdin};

use super::setup::NamedAdapter;

/// How long a CLI may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// The CLI is there and new enough.
    Ready(Capabilities),
    /// A program whose version nobody knows; it was found.
    Unknown,
    /// It cannot be used.
    Refused {
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
}

/// Probes one adapter's program.
pub async fn probe(children: &Children, adapter: &NamedAdapter, cwd: &Path) -> Probed {
    let settings = &adapter.settings;
    let mut spec = Spec::new(&settings.program, cwd, Marker::new("probe", &adapter.name));
    spec.env = settings.env.clone();
    spec.args = settings.args.clone();
    match settings.kind {
        AdapterKind::Codex => {
            spec.args
                .extend(codex::probe::PROBE_ARGS.iter().map(|&arg| arg.to_owned()));
            let said = ask(children, &spec).await;
            let not_found = codex::probe::not_found;
            judge(
                (&settings.program, "codex"),
                said,
                codex::probe::parse_version,
                not_found,
                Refusal::hint,
            )
        }
        AdapterKind::Claude => {
            spec.args
                .extend(claude::probe::ARGS.iter().map(|&arg| arg.to_owned()));
            let said = ask(children, &spec).await;
            let not_found = claude::probe::not_found;
            judge(
                (&settings.program, "claude"),
                said,
                claude::probe::capabilities,
                not_found,
                claude::probe::hint,
            )
        }
        AdapterKind::Pipe => match is_there(&settings.program, cwd) {
            true => Probed::Unknown,
            false => Probed::Refused {
                problem: format!("{} is not on PATH", settings.program),
                hint: format!(
                    "install it, or set adapters.{}.program in config.toml",
                    adapter.name
                ),
            },
        },
    }
}

/// Asks a CLI whether somebody is logged in; gives the command that logs in where it says that nobody is.
/// Nobody has to be where the CLI's own configuration names another provider: this is advice and no refusal.
pub async fn missing_login(
    children: &Children,
    adapter: &NamedAdapter,
    cwd: &Path,
) -> Option<&'static str> {
    let settings = &adapter.settings;
    let (args, is_logged_out, login): (&[&str], fn(&str) -> bool, _) = match settings.kind {
        AdapterKind::Codex => (
            codex::probe::LOGIN_ARGS,
            codex::probe::is_logged_out,
            codex::probe::LOGIN,
        ),
        AdapterKind::Claude => (
            claude::probe::LOGIN_ARGS,
            claude::probe::is_logged_out,
            claude::probe::LOGIN,
        ),
        AdapterKind::Pipe => return None,
    };
    let mut spec = Spec::new(&settings.program, cwd, Marker::new("probe", &adapter.name));
    spec.env = settings.env.clone();
    spec.args = settings.args.clone();
    spec.args.extend(args.iter().map(|&arg| arg.to_owned()));
    let said = ask(children, &spec).await.ok()??;
    is_logged_out(&said).then_some(login)
}

/// What a CLI said to a question, unless it did not end.
type Said = Result<Option<String>, SpawnError>;

async fn ask(children: &Children, spec: &Spec) -> Said {
    let limits = Limits {
        timeout: PATIENCE,
        cap: 64 * 1024,
        stdin: Stdin::Null,
    };
    let finished = children
        .run_to_end(spec, &limits, &CancellationToken::new())
        .await?;
    if finished.ended != Ended::ByItself {
        return Ok(None);
    }
    let said = finished.stdout.text();
    Ok(Some(match said.trim().is_empty() {
        true => finished.stderr.text(),
        false => said,
    }))
}

fn judge(
    (program, adapter): (&str, &'static str),
    said: Said,
    read: fn(&str, &str) -> Result<Capabilities, Refusal>,
    not_found: fn(&str) -> Refusal,
    hint: fn(&Refusal) -> String,
) -> Probed {
    let refused = |refusal: &Refusal| Probed::Refused {
        problem: refusal.to_string(),
        hint: hint(refusal),
    };
    match said {
        Ok(None) => refused(&Refusal::Silent {
            program: program.to_owned(),
            adapter,
            seconds: PATIENCE.as_secs(),
        }),
        Ok(Some(said)) => match read(program, &said) {
            Ok(capabilities) => Probed::Ready(capabilities),
            Err(refusal) => refused(&refusal),
        },
        Err(SpawnError::NotOnPath { .. } | SpawnError::NoSuchFile { .. }) => {
            refused(&not_found(program))
        }
        Err(error) => Probed::Refused {
            problem: error.to_string(),
            hint: error.hint(),
        },
    }
}

/// Looks for a program as the system would.
pub fn is_there(program: &str, cwd: &Path) -> bool {
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
