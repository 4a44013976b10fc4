//! Runs the tests in this program, not through an agent, and writes the receipt.
//!
//! The command runs in a session of its own with a reduced environment: variables for paths, language and caches
//! stay, and no variable that could contain a token. What a failure means for a step is decided by the run.

mod entry_points;
mod failed_tests;
mod missing_network;
mod test_command_detection;
mod test_command_line;
mod test_counts;
mod test_outcome;
mod test_report;

pub use entry_points::{
    ChangedPath, PathChangeKind, SensitiveChange, needs_content, sensitive_changes_between,
};
pub use missing_network::{missing_network_line, missing_socket};
pub use test_command_detection::{TestCommandSelection, TestSelectionSource, choose_test_command};
pub use test_command_line::TestCommandLine;
pub use test_report::{ReportingRunner, find_runner, select_test_files, select_tests};

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::git::{GitError, GitRepository};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::process::{
    ChildSpawner, CommandEndCause, CommandLimits, CommandOutput, EnvironmentBase, ProcessMark,
    SandboxSpec, SpawnSpec, StdinSource,
};

/// Tells programs that nobody watches them; some tests read it.
const CI_VARIABLE: &str = "CI";
/// How many bytes at the end of the output go into a receipt.
const MAX_TAIL_BYTES: usize = 16 * 1024;

/// The variables that a test command keeps; a star matches any ending. None of these may contain a secret.
pub(super) const KEPT_VARIABLES: [&str; 37] = [
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

/// How tests are run: limits, environment and sandbox.
#[derive(Debug, Clone)]
pub struct TestSettings {
    /// `test.timeout`: after this time the command and everything that it started are stopped.
    pub timeout: Duration,
    /// How many bytes of output are parsed for counts; longer output is not counted.
    pub max_output_bytes: usize,
    /// Variables that are set for the command in addition to the reduced environment.
    pub env: BTreeMap<String, String>,
    /// Whether the variable `CI` is set.
    pub sets_ci: bool,
    /// The run, for the mark of the command's processes.
    pub run: String,
    pub spawner: ChildSpawner,
    /// The sandbox of the command; `None` runs it with this program's own rights.
    pub sandbox: Option<SandboxSpec>,
}

/// One test run to perform.
#[derive(Clone, Copy)]
pub struct TestRun<'a> {
    pub command: &'a TestCommandLine,
    /// The folder in which the command runs.
    pub root: &'a Path,
    /// The repository whose trees go into the receipt; `None` without git.
    pub repository: Option<&'a GitRepository>,
    pub settings: &'a TestSettings,
    /// Cleans output before it is stored.
    pub clean: &'a (dyn Fn(&str) -> String + Sync),
}

/// A test run without a receipt.
#[derive(Debug, Error)]
pub enum TestRunError {
    /// The run is being stopped; the command and everything that it started are gone.
    #[error("the test run was stopped")]
    Cancelled,
    /// Storing the tree before or after the tests failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A clean copy of the repository could not be prepared; the text says why.
    #[error("cannot prepare a clean copy of the repository: {0}")]
    Copy(String),
}

/// Runs a test command and writes its receipt. A command that fails or cannot be started has a receipt, too.
///
/// # Errors
/// The run is being stopped, or git fails.
pub async fn run_tests(
    test: TestRun<'_>,
    cancel: &CancellationToken,
) -> Result<Receipt, TestRunError> {
    Ok(run_tests_with_output(test, cancel).await?.receipt)
}

/// A test run that has ended.
#[derive(Debug)]
pub struct FinishedTestRun {
    pub receipt: Receipt,
    /// The whole output as the runner wrote it; `None` where it was too long to keep, or where nothing was started.
    pub output: Option<String>,
}

impl FinishedTestRun {
    /// Replaces the whole output by one that says the same in other words.
    pub fn replace_output(
        &mut self,
        output: String,
        command: &TestCommandLine,
        clean: &dyn Fn(&str) -> String,
    ) {
        let extent = OutputExtent::Whole;
        read_output(&mut self.receipt, command, &output, extent, clean);
        self.output = Some(output);
    }
}

/// Runs a test command like [`run_tests`], and returns its output, too.
///
/// # Errors
/// The run is being stopped, or git fails.
pub async fn run_tests_with_output(
    test: TestRun<'_>,
    cancel: &CancellationToken,
) -> Result<FinishedTestRun, TestRunError> {
    let tree_before = current_tree(test.repository).await?;
    let limits = CommandLimits {
        timeout: test.settings.timeout,
        output_cap: test.settings.max_output_bytes,
        stdin: StdinSource::Null,
    };
    let ran = test
        .settings
        .spawner
        .run_to_end(&build_spawn_spec(&test), &limits, cancel)
        .await;
    let (mut receipt, output) = match ran {
        Ok(finished) if finished.end_cause == CommandEndCause::Cancelled => {
            return Err(TestRunError::Cancelled);
        }
        Ok(finished) => {
            let whole = finished.stdout.complete_bytes();
            let whole = whole.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            (build_receipt(&test, &finished), whole)
        }
        Err(error) => {
            let receipt = Receipt {
                command: test.command.to_string(),
                outcome: TestOutcome::NotStarted(format!("{error} (hint: {})", error.hint())),
                ..Receipt::without_command()
            };
            (receipt, None)
        }
    };
    receipt.tree_before = tree_before;
    receipt.tree_after = current_tree(test.repository).await?;
    Ok(FinishedTestRun { receipt, output })
}

async fn current_tree(repository: Option<&GitRepository>) -> Result<Option<String>, GitError> {
    match repository {
        Some(repository) => repository
            .work_tree()
            .current_tree()
            .await
            .map(|tree| Some(tree.0)),
        None => Ok(None),
    }
}

/// Builds the command. A shell joins stdout and stderr, so that lines keep their order, and is replaced by the
/// command.
fn build_spawn_spec(test: &TestRun<'_>) -> SpawnSpec {
    let mut spec = SpawnSpec::new(
        "sh",
        test.root,
        ProcessMark::new(&test.settings.run, "tests"),
    );
    spec = match test.command {
        TestCommandLine::Words(words) => spec
            .args(["-c", "exec \"$@\" 2>&1", "sh"])
            .args(words.clone()),
        TestCommandLine::Shell(line) => spec.args(["-c", "exec sh -c \"$1\" 2>&1", "sh", line]),
    };
    spec.env_base = EnvironmentBase::Only(KEPT_VARIABLES.map(str::to_owned).into());
    for (name, value) in [
        (CI_VARIABLE, "1"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        spec = spec.env(name, value);
    }
    spec.env.extend(test.settings.env.clone());
    if !test.settings.sets_ci {
        spec.env.remove(CI_VARIABLE);
    }
    spec.sandbox = test.settings.sandbox.clone();
    spec
}

fn build_receipt(test: &TestRun<'_>, finished: &CommandOutput) -> Receipt {
    let mut receipt = Receipt {
        command: test.command.to_string(),
        outcome: match finished.end_cause {
            CommandEndCause::TimedOut => TestOutcome::TimedOut,
            CommandEndCause::ByItself | CommandEndCause::Cancelled => TestOutcome::Failed,
        },
        exit_code: finished.exit.code,
        duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        ..Receipt::without_command()
    };
    let output = finished.stdout.to_text();
    // The middle of an output that was too long was dropped, so its tests cannot be counted or compared.
    let extent = match finished.stdout.complete_bytes() {
        Some(_) => OutputExtent::Whole,
        None => OutputExtent::Cut,
    };
    read_output(&mut receipt, test.command, &output, extent, test.clean);
    receipt
}

/// Whether an output is all that a command wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OutputExtent {
    Whole,
    Cut,
}

/// Adds to a receipt what the output says.
fn read_output(
    receipt: &mut Receipt,
    command: &TestCommandLine,
    output: &str,
    extent: OutputExtent,
    clean: &dyn Fn(&str) -> String,
) {
    let is_whole = extent == OutputExtent::Whole;
    receipt.counts = is_whole
        .then(|| test_counts::parse_counts(output))
        .flatten();
    if receipt.outcome != TestOutcome::TimedOut {
        let (exit_code, counts) = (receipt.exit_code, receipt.counts);
        receipt.outcome = test_outcome::classify_outcome(command, exit_code, counts, output);
    }
    let cleaned = clean(output);
    receipt.failed_tests = if is_whole && receipt.outcome == TestOutcome::Failed {
        failed_tests::parse_failed_tests(&cleaned)
    } else {
        Vec::new()
    };
    receipt.uncounted = receipt.exit_code == Some(0)
        && receipt.counts.is_none()
        && test_outcome::reports_counts(command, output);
    receipt.output_tail = truncate_to_tail(&cleaned);
}

/// Returns the end of a text: whole characters, at most 16 KiB.
fn truncate_to_tail(text: &str) -> String {
    let mut start = text.len().saturating_sub(MAX_TAIL_BYTES);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}

#[cfg(test)]
mod tests;
