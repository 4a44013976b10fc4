//! Measures what a step's proof costs: its cells over one run of the tests, a resume that finds the cells of a cut-off
//! step, and the verification of a long run.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use agent_collab::domain::ids::{RunId, UnixMillis};
use agent_collab::domain::plan::file_hash;
use agent_collab::domain::receipt::TestOutcome;
use agent_collab::domain::receipt_chain::{ApprovalLink, CheckLink, LinkKind, StepLink};
use agent_collab::domain::step_proof::{ProofCell, ProofStatus};
use agent_collab::domain::test_report::{TestIdentity, TestReport, TestStatus};
use agent_collab::store::receipt_files::ReceiptLog;
use agent_collab::store::{TamperGuard, WorkdirLayout, WorkdirNames};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::limit::Limit;
use crate::{side_by_side, timed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");
const ROUNDS: usize = 3;
const RUN: [&str; 5] = ["run", "--goal", "A test", "--mode", "yolo"];
/// Red, green and kept; the baseline ran before the step. The rest is what the program adds.
const CELLS_LIMIT: Limit = Limit::Times(3.2);
const SECOND: Limit = Limit::Within(Duration::from_secs(1));
/// The steps of the verified run, and the tests that each of its checks names.
const N_STEPS: u32 = 50;
const N_TESTS: usize = 200;

/// The test command runs this: it takes a second.
const RUNNER: &str = "sleep 1\nfor file in tests/*.sh; do\n  sh \"$file\" || exit 1\ndone\n";

pub fn run() -> anyhow::Result<()> {
    let mut tests_once = || {
        let project = ProofProject::new("")?;
        let (took, ran) = timed(|| project.command("sh", &["check.sh"]).status());
        anyhow::ensure!(ran?.success(), "the tests fail");
        Ok(took)
    };
    side_by_side(
        "the cells of a step / its tests once",
        CELLS_LIMIT,
        ROUNDS,
        &mut || {
            let project = ProofProject::new("")?;
            project.program(&RUN, 6)?;
            project.last_proof_time()
        },
        &mut tests_once,
    )?;
    side_by_side(
        "a resume that finds its cells / tests once",
        SECOND,
        ROUNDS,
        &mut resume_with_seen_cells,
        &mut tests_once,
    )?;
    let verified = verified_run()?;
    let range = format!("HEAD~{N_STEPS}..HEAD");
    side_by_side(
        "verify a run of 50 steps / git log",
        SECOND,
        ROUNDS,
        &mut || {
            let (took, output) = timed(|| verified.command(PROGRAM, &["verify", &range]).output());
            check_exit(&output?, 0)?;
            Ok(took)
        },
        &mut || {
            let log = ["log", "--format=%H %T %(trailers)"];
            let (took, output) = timed(|| verified.command("git", &log).output());
            check_exit(&output?, 0)?;
            Ok(took)
        },
    )
}

/// Cuts the log of a run after the step's turn, as a kill leaves it, and resumes the run.
fn resume_with_seen_cells() -> anyhow::Result<Duration> {
    // A command that passes before the step proves nothing, so nothing is committed and the user is asked.
    let project = ProofProject::new("   Proof: true\n")?;
    project.program(&RUN, 3)?;
    let n_checks = project.count_checks()?;
    let log = project.root.join(".agent-collab/events.jsonl");
    let text = fs::read_to_string(&log)?;
    let ended = text.rfind("\"kind\":\"turn.ended\"");
    let ended = ended.ok_or_else(|| anyhow::anyhow!("no turn ended"))?;
    let end = text[ended..]
        .find('\n')
        .map_or(text.len(), |at| ended + at + 1);
    fs::write(&log, &text[..end])?;
    fs::write(project.root.join(".agent-collab/state.json"), "{")?;
    project.program(&["resume", "--on-step", "continue"], 3)?;
    anyhow::ensure!(project.count_checks()? == n_checks, "a cell ran again");
    project.last_proof_time()
}

/// A repository whose tests take a second, and a scripted agent that does one step in it.
struct ProofProject {
    _place: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
    config: PathBuf,
}

impl ProofProject {
    /// `proof` is the line of the plan that says how the step is proven.
    fn new(proof: &str) -> anyhow::Result<Self> {
        let place = tempfile::tempdir()?;
        let folder = place.path().canonicalize()?;
        let project = Self {
            home: folder.join("home"),
            root: folder.join("repository"),
            config: folder.join("config.toml"),
            _place: place,
        };
        fs::create_dir_all(&project.home)?;
        fs::create_dir_all(project.root.join("tests"))?;
        fs::write(project.root.join("one.txt"), "one\n")?;
        fs::write(project.root.join("check.sh"), RUNNER)?;
        fs::write(project.root.join("tests/one.sh"), "test -f one.txt\n")?;
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "Bench"],
            &["config", "user.email", "bench@example.invalid"],
            &["add", "."],
            &["commit", "-q", "-m", "first"],
        ] {
            project.git(arguments)?;
        }
        let plan = format!("# Task: A test\n\n## Steps\n1. [ ] Write two\n{proof}");
        let step = json!([
            { "do": "write", "path": "two.txt", "content": "two\n" },
            { "do": "write", "path": "tests/two.sh", "content": "test -f two.txt\n" },
            { "do": "text", "text": "Wrote two.\n\n```step-result\ndone\n```", "delta": "whole" },
        ]);
        let say = json!([{ "do": "text", "text": "All is said.", "delta": "whole" }]);
        let write_plan = json!([{ "do": "write", "path": "${plan_path}", "content": plan }]);
        let turn = |when: &str, action: &Value| json!({ "when": when, "uses": "always", "action": action });
        let script = json!({ "turn": [
            turn("[agent-collab WRITE_PLAN]", &write_plan),
            turn("[agent-collab EXECUTE step 1]", &step),
            turn("[agent-collab EXECUTE summary]", &say),
            turn("[agent-collab RECOVER]", &say),
        ] });
        let path = folder.join("script.json");
        fs::write(&path, script.to_string())?;
        let text = format!(
            "[roles]\nreviewer = \"none\"\n[test]\ndefault_command = \"sh check.sh\"\nmax_fix_turns = 0\n\
             [adapters.codex]\nprogram = {PROGRAM:?}\nargs = [\"scripted-agent\", \"--as\", \"codex\", \"--fast\", \"--script\", {path:?}]\n\
             writable = [{folder:?}]\n"
        );
        fs::write(&project.config, text)?;
        Ok(project)
    }

    /// A command in the repository, with a home of its own.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.command("git", arguments).output()?;
        check_exit(&output, 0)?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs the program, with everything released and approved beforehand.
    fn program(&self, arguments: &[&str], code: i32) -> anyhow::Result<()> {
        let mut command = self.command(PROGRAM, arguments);
        command.args(["--auto", "--yes-execute", "--allow-plan-test"]);
        let output = command.arg("--config").arg(&self.config).output()?;
        check_exit(&output, code)
    }

    /// Returns the time from the end of a step's work to its last proof, by the log.
    fn last_proof_time(&self) -> anyhow::Result<Duration> {
        let text = fs::read_to_string(self.root.join(".agent-collab/events.jsonl"))?;
        let (mut begun, mut took) = (None, None);
        for line in text.lines() {
            let event: Value = serde_json::from_str(line)?;
            let kind = event["kind"].as_str().unwrap_or_default();
            if !["step.audited", "step.proved"].contains(&kind) {
                continue;
            }
            let at: Timestamp = event["ts"].as_str().unwrap_or_default().parse()?;
            if kind == "step.audited" {
                begun = Some(at);
            } else if let Some(begun) = begun {
                took = Some(Duration::try_from(at.duration_since(begun))?);
            }
        }
        took.ok_or_else(|| anyhow::anyhow!("no step was proven"))
    }

    fn count_checks(&self) -> anyhow::Result<usize> {
        let mut n_checks = 0;
        for run in fs::read_dir(self.root.join(".agent-collab/receipts"))? {
            for file in fs::read_dir(run?.path())? {
                let path = file?.path();
                if path.is_file() && fs::read_to_string(&path)?.contains("\"kind\":\"check\"") {
                    n_checks += 1;
                }
            }
        }
        Ok(n_checks)
    }
}

fn check_exit(output: &Output, code: i32) -> anyhow::Result<()> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    anyhow::ensure!(
        output.status.code() == Some(code),
        "{:?}, expected {code}: {}{}",
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr)
    );
    Ok(())
}

/// Creates a repository with the commits and the receipts of a long run.
fn verified_run() -> anyhow::Result<ProofProject> {
    let project = ProofProject::new("")?;
    let layout = WorkdirLayout::new(&project.root, WorkdirNames::default())?;
    let _privacy = layout.create()?;
    fs::write(project.root.join(".git/info/exclude"), ".agent-collab\n")?;
    let guard = TamperGuard::open(&layout, &project.home.join("guard"))?;
    let mut log = ReceiptLog::open(&guard, &RunId::new("run_1"))?;
    let plan_sha256 = file_hash(b"plan");
    let add = |log: &mut ReceiptLog, kind| log.append(UnixMillis(1), kind);
    add(
        &mut log,
        LinkKind::Approval(ApprovalLink {
            plan_sha256: plan_sha256.clone(),
            base: Some(project.git(&["rev-parse", "HEAD"])?),
            test_command: Some("npm test".to_owned()),
            environment: Vec::new(),
            versions: BTreeMap::new(),
            bound: Vec::new(),
        }),
    )?;
    let mut tree_before = project.git(&["write-tree"])?;
    for step in 1..=N_STEPS {
        fs::write(project.root.join("one.txt"), step.to_string())?;
        project.git(&["commit", "-q", "-a", "-m", "a step"])?;
        let tree_after = project.git(&["rev-parse", "HEAD^{tree}"])?;
        let mut checks = Vec::new();
        for cell in [ProofCell::Green, ProofCell::Red, ProofCell::Kept] {
            let output = format!("{step} {cell:?}\n").repeat(1_000);
            let check = CheckLink {
                output_sha256: log.save_output(&output)?,
                ..check_of(step, cell, &tree_after)
            };
            checks.push(add(&mut log, LinkKind::Check(check))?.number);
        }
        let link = StepLink {
            step,
            text: "A step".to_owned(),
            plan_sha256: plan_sha256.clone(),
            tree_before,
            tree_after: tree_after.clone(),
            commit: Some(project.git(&["rev-parse", "HEAD"])?),
            status: ProofStatus::Proven,
            waived_by: None,
            checks,
            flaky: Vec::new(),
            summary: "red → green".to_owned(),
        };
        add(&mut log, LinkKind::Step(link))?;
        tree_before = tree_after;
    }
    Ok(project)
}

fn check_of(step: u32, cell: ProofCell, tree: &str) -> CheckLink {
    let test = |n: usize| TestIdentity {
        file: format!("test/file{}.test.js", n / 10),
        name: format!("does thing {n} as it is described"),
    };
    let tests = (0..N_TESTS).map(|n| (test(n), TestStatus::Passed));
    CheckLink {
        step,
        cell,
        command: "npm test".to_owned(),
        tree: tree.to_owned(),
        outcome: TestOutcome::Passed,
        exit_code: Some(0),
        duration_ms: 1_000,
        sandboxed: true,
        network: "loopback".to_owned(),
        without_ci: false,
        report: Some(TestReport {
            tests: tests.collect(),
            ..TestReport::default()
        }),
        output_sha256: file_hash(b""),
        environment_sha256: file_hash(b"environment"),
    }
}
