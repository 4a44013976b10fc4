//! Runs the tests by this program itself and writes the receipt.
//!
//! The command runs in a session of its own with a scrubbed environment: paths, language and caches
//! stay, and with them nothing that could hold a token. Refuses to know steps and to decide what a
//! failure means for them.

mod command;
mod counts;
mod detect;
mod entry_points;
mod failed_tests;
mod lacking_network;
mod outcome;

pub use command::TestCommand;
pub use detect::{Chosen, Source, choose};
pub use entry_points::{Changed, How, SensitiveChange, needs_content, sensitive_changes};
pub use lacking_network::{missing_network_line, missing_socket};

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::git::{GitError, Repository};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::process::{
    ChildSpawner, CommandEndCause, CommandLimits, CommandOutput, EnvironmentBase, ProcessMark,
    SandboxSpec, SpawnSpec, StdinSource,
};

/// How much of the output's end goes into a receipt, in bytes.
const TAIL: usize = 16 * 1024;

/// The variables that a test command keeps; a star stands for any ending. No name here may hold a secret.
const KEPT: [&str; 37] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOCACHE",
    "GOROOT",
    "GOMODCACHE",
    "GOTOOLCHAIN",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "JAVA_HOME",
    "XDG_CACHE_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
];

/// How tests are run.
#[derive(Debug, Clone)]
pub struct TestSettings {
    /// `test.timeout`: when the command is ended with all that it started.
    pub timeout: Duration,
    /// How many bytes of output are read for counts; beyond it nothing is counted.
    pub cap: usize,
    /// Variables set for the command on top of the scrubbed ones.
    pub env: BTreeMap<String, String>,
    /// The run, for the mark of the command's processes.
    pub run: String,
    /// Who starts it.
    pub children: ChildSpawner,
    /// What the kernel holds it to; `None` leaves it what this program may do.
    pub contained: Option<SandboxSpec>,
}

/// One test run to be made.
#[derive(Clone, Copy)]
pub struct TestRun<'a> {
    /// What to run.
    pub command: &'a TestCommand,
    /// Where.
    pub root: &'a Path,
    /// The repository whose trees go into the receipt; `None` without git.
    pub repository: Option<&'a Repository>,
    /// How.
    pub settings: &'a TestSettings,
    /// Cleans output before anybody keeps it.
    pub clean: &'a (dyn Fn(&str) -> String + Sync),
}

/// A test run that has no receipt.
#[derive(Debug, Error)]
pub enum TestRunError {
    /// The run is being stopped; the command and all it started are gone.
    #[error("the test run was stopped")]
    Cancelled,
    /// The tree could not be noted before or after.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Runs a test command and writes its receipt. A command that fails or cannot be started has a receipt, too.
///
/// # Errors
/// The run is being stopped, or git fails.
pub async fn run(test: TestRun<'_>, cancel: &CancellationToken) -> Result<Receipt, TestRunError> {
    let tree_before = tree_of(test.repository).await?;
    let limits = CommandLimits {
        timeout: test.settings.timeout,
        output_cap: test.settings.cap,
        stdin: StdinSource::Null,
    };
    let ran = test
        .settings
        .children
        .run_to_end(&spec_of(&test), &limits, cancel)
        .await;
    let mut receipt = match ran {
        Ok(finished) if finished.end_cause == CommandEndCause::Cancelled => {
            return Err(TestRunError::Cancelled);
        }
        Ok(finished) => receipt_of(&test, &finished),
        Err(error) => Receipt {
            command: test.command.to_string(),
            outcome: TestOutcome::NotStarted(format!("{error} (hint: {})", error.hint())),
            ..Receipt::without_command()
        },
    };
    receipt.tree_before = tree_before;
    receipt.tree_after = tree_of(test.repository).await?;
    Ok(receipt)
}

async fn tree_of(repository: Option<&Repository>) -> Result<Option<String>, GitError> {
    match repository {
        Some(repository) => repository.tree_now().await.map(|tree| Some(tree.0)),
        None => Ok(None),
    }
}

/// A shell joins the two outputs, so that their lines keep their order, and becomes the command.
fn spec_of(test: &TestRun<'_>) -> SpawnSpec {
    let mut spec = SpawnSpec::new(
        "sh",
        test.root,
        ProcessMark::new(&test.settings.run, "tests"),
    );
    spec = match test.command {
        TestCommand::Words(words) => spec
            .args(["-c", "exec \"$@\" 2>&1", "sh"])
            .args(words.clone()),
        TestCommand::Shell(line) => spec.args(["-c", "exec sh -c \"$1\" 2>&1", "sh", line]),
    };
    spec.env_base = EnvironmentBase::Only(KEPT.map(str::to_owned).into());
    for (name, value) in [
        ("CI", "1"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        spec = spec.env(name, value);
    }
    spec.env.extend(test.settings.env.clone());
    spec.sandbox = test.settings.contained.clone();
    spec
}

fn receipt_of(test: &TestRun<'_>, finished: &CommandOutput) -> Receipt {
    let output = finished.stdout.to_text();
    // The middle of an output that was too long is not here to be counted.
    let counts = finished
        .stdout
        .complete_bytes()
        .and_then(|_| counts::parse_counts(&output));
    let outcome = match finished.end_cause {
        CommandEndCause::TimedOut => TestOutcome::TimedOut,
        CommandEndCause::ByItself | CommandEndCause::Cancelled => {
            outcome::judge(test.command, finished.exit.code, counts, &output)
        }
    };
    // Beyond the cap nothing is compared by name.
    let named = finished.stdout.complete_bytes().is_some() && outcome == TestOutcome::Failed;
    let failed_tests = match named {
        true => failed_tests::failed_tests(&(test.clean)(&output)),
        false => Vec::new(),
    };
    Receipt {
        command: test.command.to_string(),
        origin: None,
        outcome,
        exit_code: finished.exit.code,
        duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        counts,
        tree_before: None,
        tree_after: None,
        output_tail: tail_of(&(test.clean)(&output)),
        failed_tests,
        uncounted: finished.exit.code == Some(0)
            && counts.is_none()
            && outcome::tells_counts(test.command, &output),
        lacks_network: None,
        lacks_socket: None,
    }
}

/// The end of a text, whole characters and at most 16 KiB.
fn tail_of(text: &str) -> String {
    let mut start = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}

#[cfg(test)]
mod tests;
