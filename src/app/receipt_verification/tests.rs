//! Tests with small repositories and the receipts of a run in them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::domain::ids::UnixMillis;
use crate::domain::receipt_chain::tests::{ChainFixture, approval, check, step};
use crate::domain::receipt_chain::{
    CheckLink, ReversalLink, StepLink, UserCommitsLink, note_lines,
};
use crate::domain::step_proof::{ProofCell, ProofStatus};
use crate::engine::git::{GitSettings, NOTES_REF, RepositoryDiscovery};
use crate::process::tests::put_program;
use crate::store::receipt_files::ReceiptLog;
use crate::store::{TamperGuard, WorkdirNames};

const ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("HOME", "/nonexistent"),
    ("XDG_CONFIG_HOME", "/nonexistent"),
    ("GIT_AUTHOR_NAME", "Tester"),
    ("GIT_AUTHOR_EMAIL", "tester@example.com"),
    ("GIT_COMMITTER_NAME", "Tester"),
    ("GIT_COMMITTER_EMAIL", "tester@example.com"),
];

/// A repository with a run that writes receipts.
struct RunFixture {
    folder: TempDir,
    _side: TempDir,
    layout: WorkdirLayout,
    log: ReceiptLog,
    /// Whether the commits of steps name their receipts.
    has_trailers: bool,
}

impl RunFixture {
    /// Creates a repository with one commit, and the approval of the plan `p`.
    fn new() -> Self {
        let (folder, side) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let _ = layout.create().unwrap();
        let guard = TamperGuard::open(&layout, side.path()).unwrap();
        let log = ReceiptLog::open(&guard, &RunId::new("run_1")).unwrap();
        let mut fixture = Self {
            folder,
            _side: side,
            layout,
            log,
            has_trailers: true,
        };
        fixture.git(&["init", "-q", "-b", "main"]);
        let base = fixture.commit("first", "first");
        fixture.add(approval("p", Some(&base)));
        fixture
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.root())
            .args(args)
            .envs(ENVIRONMENT)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Commits a change of the file `name`; returns the commit's id.
    fn commit(&self, name: &str, message: &str) -> String {
        std::fs::write(self.root().join(name), message).unwrap();
        self.git(&["add", name]);
        self.git(&["commit", "-q", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn add(&mut self, kind: LinkKind) -> u32 {
        self.log.append(UnixMillis(1), kind).unwrap().number
    }

    fn step_with(&mut self, number: u32, change: impl FnOnce(StepLink) -> StepLink) {
        let tree_before = self.git(&["write-tree"]);
        let name = format!("step{number}");
        std::fs::write(self.root().join(&name), &name).unwrap();
        self.git(&["add", &name]);
        let tree = self.git(&["write-tree"]);
        let output = format!("output of step {number}");
        self.log.save_output(&output).unwrap();
        let green: CheckLink = check(number, ProofCell::Green, &tree, &output);
        let green = self.add(LinkKind::Check(green));
        let head = self.log.head().unwrap().clone();
        let link = step(number, "p", green);
        let trailers = format!(
            "Agent-Collab-Step: {number}\nAgent-Collab-Receipt: {head}\nAgent-Collab-Plan: {}",
            link.plan_sha256
        );
        let title = format!("[Step {number}] do it");
        let body = if self.has_trailers {
            trailers.as_str()
        } else {
            ""
        };
        self.git(&["commit", "-q", "-m", &title, "-m", body]);
        let link = StepLink {
            tree_before,
            tree_after: tree,
            commit: Some(self.git(&["rev-parse", "HEAD"])),
            ..link
        };
        self.add(LinkKind::Step(change(link)));
    }

    fn step(&mut self, number: u32) {
        self.step_with(number, |link| link);
    }

    /// Writes the receipts into notes, as a run does after a step.
    async fn write_notes(&self) {
        let git = self.repository(None).await;
        git.notes()
            .append(&note_lines(self.log.links(), 0))
            .await
            .unwrap();
    }

    /// Takes the receipts away: what a clone has is the notes.
    fn remove_receipts(&self) {
        std::fs::remove_dir_all(self.layout.receipts()).unwrap();
    }

    async fn repository(&self, program: Option<&Path>) -> GitRepository {
        let mut settings = GitSettings::new("none", CancellationToken::new());
        settings.env = ENVIRONMENT
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        if let Some(program) = program {
            settings.program = program.display().to_string();
        }
        match GitRepository::discover(self.root(), settings).await {
            Ok(RepositoryDiscovery::Found(git)) => git,
            other => panic!("{other:?}"),
        }
    }

    async fn run_report(&self) -> VerificationReport {
        let git = self.repository(None).await;
        verify_run(&self.layout, Some(&git)).await.unwrap()
    }

    async fn range_report(&self, range: &str) -> VerificationReport {
        let git = self.repository(None).await;
        verify_range(&self.layout, &git, range).await.unwrap()
    }
}

/// Formats a report as its exit code, its steps and its breaks, with the commits by their names.
fn told(report: &VerificationReport, names: &[(&str, &str)]) -> String {
    let code = report.result(WaiverPolicy::InPlan).exit_code();
    let steps = report.chains.iter().flat_map(|chain| &chain.steps);
    let steps = steps.map(|step| format!("{} {}", step.step, step.status.label()));
    let breaks = report.chains.iter().flat_map(|chain| &chain.breaks);
    let breaks = breaks.chain(&report.breaks).map(ToString::to_string);
    let rewritten = report.rewritten.iter().map(|line| {
        let (_, subject) = line.split_once(' ').unwrap();
        format!("rewritten: {subject}")
    });
    let outside = report.outside.iter().map(|line| {
        let (_, subject) = line.split_once(' ').unwrap();
        format!("outside: {subject}")
    });
    let hint = report.hint.iter().map(|hint| format!("hint: {hint}"));
    let lines: Vec<String> = [code.to_string()]
        .into_iter()
        .chain(steps)
        .chain(breaks)
        .chain(rewritten)
        .chain(outside)
        .chain(hint)
        .chain(report.unreadable.clone())
        .collect();
    let named = |text: String, (id, name): &(&str, &str)| text.replace(id, name);
    names.iter().fold(lines.join("\n"), named)
}

#[tokio::test]
async fn a_run_whose_steps_are_proven_is_whole() {
    let mut run = RunFixture::new();
    run.step(1);
    let by_hand = run.commit("notes", "by hand");
    run.add(LinkKind::UsersCommits(UserCommitsLink {
        commits: vec![by_hand],
    }));
    run.step(2);
    run.commit("later", "after the run");
    assert_eq!(told(&run.run_report().await, &[]), "0\n1 proven\n2 proven");
    // Receipts alone are checked where there is no git; commits they name are then a question.
    let alone = verify_run(&run.layout, None).await.unwrap();
    let expected =
        "1\n1 proven\n2 proven\nthe commits cannot be compared: this is no git repository";
    assert_eq!(told(&alone, &[]), expected);
}

#[tokio::test]
async fn a_step_that_is_not_proven_makes_the_exit_code_6() {
    let mut run = RunFixture::new();
    run.step(1);
    run.step_with(2, |link| StepLink {
        status: ProofStatus::Unproven("no test fails without it".to_owned()),
        ..link
    });
    assert_eq!(
        told(&run.run_report().await, &[]),
        "6\n1 proven\n2 unproven"
    );
}

#[tokio::test]
async fn a_flipped_byte_of_any_receipt_or_output_is_named() {
    let mut run = RunFixture::new();
    run.step(1);
    run.step(2);
    let folder = run.layout.receipts_folder(&RunId::new("run_1"));
    let outputs = std::fs::read_dir(folder.join("outputs")).unwrap();
    let outputs: Vec<PathBuf> = outputs.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(outputs.len(), 2);
    // Only the log of events or a later receipt protects the last one.
    let receipts = (1..5).map(|number| folder.join(format!("{number:04}.json")));
    for path in receipts.chain(outputs) {
        let before = std::fs::read(&path).unwrap();
        for at in 0..before.len() {
            let mut bytes = before.clone();
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            let chain = StoredChain::load(&run.layout, RunId::new("run_1"), None).unwrap();
            let found = chain.check(&mut Vec::new()).breaks;
            assert_ne!(found, [], "byte {at} of {}", path.display());
        }
        std::fs::write(&path, before).unwrap();
    }
    assert_eq!(told(&run.run_report().await, &[]), "0\n1 proven\n2 proven");
    for entry in std::fs::read_dir(folder.join("outputs")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let found = told(&run.run_report().await, &[]);
    assert!(found.starts_with("7\n"), "{found}");
    assert_eq!(found.matches(" is missing").count(), 2, "{found}");
}

#[tokio::test]
async fn a_commit_that_was_amended_is_named() {
    let mut run = RunFixture::new();
    run.step(1);
    run.step(2);
    let (base, commit) = (
        run.git(&["rev-parse", "--short=12", "HEAD~2"]),
        run.git(&["rev-parse", "HEAD"]),
    );
    // Other words for the same tree: whole, but not as it was.
    run.git(&["commit", "-q", "--amend", "-m", "nicer words"]);
    let replaced = run.git(&["rev-parse", "--short=12", "HEAD"]);
    let rewritten = "6\n1 proven\n2 proven\nrewritten: nicer words";
    assert_eq!(told(&run.run_report().await, &[]), rewritten);
    // One more commit, and a command says where the run's last tree is.
    run.commit("later", "after the run");
    let expected = "7\n1 proven\n2 proven\n\
                    receipt 5: the commit C is on neither HEAD nor the run's branch: it was amended or rewritten\n\
                    hint: the run's commits were probably amended, rebased or squashed: \
                    try `agent-collab verify B..R`, which compares the last trees";
    let names = [(commit.as_str(), "C"), (&base, "B"), (&replaced, "R")];
    assert_eq!(told(&run.run_report().await, &names), expected);
    let tried = run.range_report(&format!("{base}..{replaced}")).await;
    assert_eq!(told(&tried, &[]), rewritten);
    run.git(&["reset", "-q", "--hard", "HEAD~"]);
    std::fs::write(run.root().join("step2"), "other").unwrap();
    run.git(&["commit", "-q", "-a", "--amend", "-m", "nicer words"]);
    let expected = expected.replace("B..R", "B..HEAD");
    let report = run.run_report().await;
    assert_eq!(told(&report, &names), expected);
    // A reference that puts the old commit back in the place of the new one changes nothing.
    let amended = run.git(&["rev-parse", "HEAD"]);
    run.git(&["replace", &amended, &commit]);
    assert_eq!(told(&run.run_report().await, &names), expected);
}

#[tokio::test]
async fn commits_that_are_missing_unlinked_or_of_another_tree_are_named() {
    let mut run = RunFixture::new();
    run.step(1);
    let by_hand = run.commit("notes", "by hand");
    run.step_with(2, |link| StepLink {
        tree_after: link.tree_before.clone(),
        ..link
    });
    let (commit, tree) = (
        run.git(&["rev-parse", "HEAD"]),
        run.git(&["rev-parse", "HEAD^{tree}"]),
    );
    let before = run.git(&["rev-parse", "HEAD~^{tree}"]);
    run.add(LinkKind::Undo(ReversalLink {
        steps: vec![2],
        commit: Some("HEAD".to_owned()),
    }));
    let names = [
        (by_hand.as_str(), "H"),
        (&commit, "C"),
        (&tree, "T"),
        (&before, "B"),
    ];
    let expected = "7\n1 proven\n2 undone\n\
                    receipt 5: the commit C has the tree T, and the receipt has B\n\
                    receipt 6: the commit HEAD is not in the repository\n\
                    the commit H (\"by hand\") has no receipt";
    assert_eq!(told(&run.run_report().await, &names), expected);
}

#[tokio::test]
async fn git_is_asked_three_times_however_many_steps_there_are() {
    let mut run = RunFixture::new();
    for number in 1..=12 {
        run.step(number);
    }
    let calls = run.folder.path().join(".git/calls");
    let program = run.folder.path().join(".git/counted");
    let script = format!("#!/bin/sh\necho >> {}\nexec git \"$@\"\n", calls.display());
    put_program(&program, &script);
    let git = run.repository(Some(&program)).await;
    let n_calls = || std::fs::read_to_string(&calls).unwrap().lines().count();
    let before = n_calls();
    let report = verify_run(&run.layout, Some(&git)).await.unwrap();
    assert_eq!(report.result(WaiverPolicy::Never).exit_code(), 0);
    assert_eq!(n_calls() - before, 3);
}

#[tokio::test]
async fn the_commits_of_a_range_are_found_among_all_runs() {
    let mut run = RunFixture::new();
    run.step(1);
    run.step(2);
    assert_eq!(
        told(&run.range_report("HEAD~2..").await, &[]),
        "0\n1 proven\n2 proven"
    );
    assert_eq!(
        told(&run.range_report("HEAD~..HEAD").await, &[]),
        "0\n2 proven"
    );
    // The same after the run was archived.
    let archive = run.layout.history().join("2026-01-02-a-run");
    std::fs::create_dir_all(&archive).unwrap();
    std::fs::rename(run.layout.receipts(), archive.join("receipts")).unwrap();
    assert_eq!(
        told(&run.range_report("HEAD~2..main").await, &[]),
        "0\n1 proven\n2 proven"
    );
    run.commit("notes", "by hand");
    let expected = "6\n2 proven\noutside: by hand";
    assert_eq!(told(&run.range_report("HEAD~2..HEAD").await, &[]), expected);
    let git = run.repository(None).await;
    for (range, code) in [
        ("HEAD..HEAD", 1),
        ("nowhere..HEAD", 2),
        ("HEAD~1...HEAD", 2),
    ] {
        let error = verify_range(&run.layout, &git, range).await.unwrap_err();
        assert_eq!(error.code, code, "{range}: {error}");
    }
}

#[tokio::test]
async fn commits_of_a_range_that_belong_to_no_run_are_told_apart_from_those_of_a_run() {
    let mut run = RunFixture::new();
    let first = run.git(&["rev-parse", "HEAD"]);
    let before = run.commit("before", "before the run");
    run.add(approval("p", Some(&before)));
    run.step(1);
    let between = run.commit("between", "between two steps");
    run.step(2);
    run.commit("later", "after the run");
    // The first approval names the first commit, so that the commit after it is the run's.
    let names = [(before.as_str(), "P"), (&between, "H")];
    let expected = "7\n1 proven\n2 proven\n\
                    the commit P (\"before the run\") has no receipt\n\
                    the commit H (\"between two steps\") has no receipt\noutside: after the run";
    let range = format!("{first}..HEAD");
    assert_eq!(told(&run.range_report(&range).await, &names), expected);
    run.add(LinkKind::UsersCommits(UserCommitsLink {
        commits: vec![before, between],
    }));
    let expected = "6\n1 proven\n2 proven\noutside: after the run";
    assert_eq!(told(&run.range_report(&range).await, &[]), expected);
    // In the place of the last step a commit without trailers is none that came after the run.
    let mut amended = RunFixture::new();
    amended.step(1);
    amended.step(2);
    std::fs::write(amended.root().join("step2"), "other").unwrap();
    amended.git(&["commit", "-q", "-a", "--amend", "-m", "by hand"]);
    let id = amended.git(&["rev-parse", "HEAD"]);
    let expected = "7\n1 proven\nthe commit X (\"by hand\") has no receipt";
    let report = amended.range_report("HEAD~2..HEAD").await;
    assert_eq!(told(&report, &[(&id, "X")]), expected);
}

#[tokio::test]
async fn commits_before_a_run_are_outside_of_it() {
    let mut run = RunFixture::new();
    run.remove_receipts();
    let first = run.git(&["rev-parse", "HEAD"]);
    let before = run.commit("before", "before the run");
    let side = tempfile::tempdir().unwrap();
    let guard = TamperGuard::open(&run.layout, side.path()).unwrap();
    run.log = ReceiptLog::open(&guard, &RunId::new("run_2")).unwrap();
    run.add(approval("p", Some(&before)));
    run.step(1);
    let report = run.range_report(&format!("{first}..HEAD")).await;
    assert_eq!(told(&report, &[]), "6\n1 proven\noutside: before the run");
}

#[tokio::test]
async fn a_chain_is_verified_by_notes_alone() {
    for has_trailers in [true, false] {
        let mut run = RunFixture::new();
        run.has_trailers = has_trailers;
        run.step(1);
        run.step(2);
        run.write_notes().await;
        let whole = "0\n1 proven\n2 proven";
        assert_eq!(told(&run.run_report().await, &[]), whole);
        run.remove_receipts();
        let report = run.range_report("HEAD~2..").await;
        assert_eq!(told(&report, &[]), whole, "{has_trailers}");
        assert!(report.chains[0].is_from_notes);
        // The notes do not lie at the commits that replace those of the run.
        run.git(&["branch", "run"]);
        run.git(&["reset", "-q", "--soft", "HEAD~2"]);
        run.git(&["commit", "-q", "-m", "both steps"]);
        let squashed = "6\n1 proven\n2 proven\nrewritten: both steps";
        assert_eq!(told(&run.range_report("HEAD~..").await, &[]), squashed);
        run.git(&["reset", "-q", "--hard", "run"]);
        run.git(&["update-ref", "-d", NOTES_REF]);
        let git = run.repository(None).await;
        let error = verify_range(&run.layout, &git, "HEAD~2..").await;
        let error = error.unwrap_err();
        assert!(error.hint.contains(NOTES_REF), "{error}");
    }
}

#[tokio::test]
async fn a_note_that_is_not_as_the_receipts_is_a_break() {
    let mut run = RunFixture::new();
    run.step(1);
    run.step(2);
    run.write_notes().await;
    let show = |commit: &str| {
        let note = run.git(&["notes", "--ref", NOTES_REF, "show", commit]);
        note + "\n"
    };
    let set = |commit: &str, note: &str| {
        let path = run.root().join(".git/note");
        std::fs::write(&path, note).unwrap();
        let file = path.display().to_string();
        run.git(&[
            "notes", "--ref", NOTES_REF, "add", "-f", "-F", &file, commit,
        ]);
    };
    let (first, last) = (show("HEAD~"), show("HEAD"));
    let changed = first.replacen("\"duration_ms\":40", "\"duration_ms\":41", 1);
    assert_ne!(changed, first);
    let other = "7\n1 proven\n2 proven\nreceipt 2: the notes have another receipt with this number";
    set("HEAD~", &changed);
    assert_eq!(told(&run.run_report().await, &[]), other);
    assert_eq!(told(&run.range_report("HEAD~2..").await, &[]), other);
    set("HEAD~", &format!("{first}{changed}"));
    let twice = told(&run.run_report().await, &[]);
    assert!(
        twice.contains("the notes have two receipts with this number"),
        "{twice}"
    );
    set("HEAD~", &format!("{first}a remark\n"));
    let remark = told(&run.run_report().await, &[]);
    assert!(remark.contains("has a line that is no receipt"), "{remark}");
    // Notes that lack receipts say nothing against those that are here.
    run.git(&["notes", "--ref", NOTES_REF, "remove", "HEAD"]);
    set("HEAD~", &first);
    assert_eq!(told(&run.run_report().await, &[]), "0\n1 proven\n2 proven");
    // Alone they do: the commit names a receipt that nobody has, or one that was changed.
    run.remove_receipts();
    let lacks = told(&run.range_report("HEAD~2..").await, &[]);
    assert!(
        lacks.starts_with("7\n1 proven\n") && lacks.contains(NOTES_REF),
        "{lacks}"
    );
    set("HEAD", &last);
    assert_eq!(
        told(&run.range_report("HEAD~2..").await, &[]),
        "0\n1 proven\n2 proven"
    );
    set("HEAD~", &changed);
    let alone = told(&run.range_report("HEAD~2..").await, &[]);
    assert!(
        alone.starts_with("7\n") && alone.contains("receipt 3: the hash"),
        "{alone}"
    );
}

#[tokio::test]
async fn a_range_that_was_squashed_or_rebased_is_whole_if_it_ends_with_the_last_tree() {
    let mut run = RunFixture::new();
    run.git(&["branch", "start"]);
    run.step(1);
    run.step(2);
    run.git(&["branch", "run"]);
    run.git(&["reset", "-q", "--soft", "start"]);
    run.git(&["commit", "-q", "-m", "both steps"]);
    let expected = "6\n1 proven\n2 proven\nrewritten: both steps";
    assert_eq!(told(&run.range_report("start..HEAD").await, &[]), expected);
    // Rebased onto its own base with other committer dates: other commits, the same trailers.
    run.git(&["reset", "-q", "--hard", "run"]);
    run.git(&[
        "rebase",
        "-q",
        "--exec",
        "git commit -q --amend --no-edit --reset-author --date=2001-02-03T04:05:06Z",
        "start",
    ]);
    let expected = "6\n1 proven\n2 proven\nrewritten: [Step 1] do it\nrewritten: [Step 2] do it";
    assert_eq!(told(&run.range_report("start..HEAD").await, &[]), expected);
    // Its trailers have to be those of the step whose receipt it names.
    let message = run.git(&["log", "-1", "--format=%B"]);
    let plan = message
        .lines()
        .find(|line| line.starts_with("Agent-Collab-Plan:"));
    for (from, to) in [
        ("Agent-Collab-Step: 2", "Agent-Collab-Step: 1"),
        (plan.unwrap(), "Agent-Collab-Plan: 00"),
    ] {
        run.git(&["commit", "-q", "--amend", "-m", &message.replace(from, to)]);
        let commit = run.git(&["rev-parse", "HEAD"]);
        let report = run.range_report("start..HEAD").await;
        let told = told(&report, &[(&commit, "C")]);
        let named = format!("the commit C says `{to}`, and the receipt does not");
        assert!(told.starts_with("7\n") && told.contains(&named), "{told}");
    }
    run.git(&["commit", "-q", "--amend", "-m", &message]);
    // A commit with the trailers of a step and another tree is none of these.
    std::fs::write(run.root().join("step2"), "more").unwrap();
    run.git(&["commit", "-q", "-a", "--amend", "--no-edit"]);
    let ids = run.git(&["log", "-2", "--format=%H"]);
    let (second, first) = ids.split_once('\n').unwrap();
    let report = run.range_report("start..HEAD").await;
    let expected = "7\n\
                    the commit A (\"[Step 1] do it\") carries a trailer of step 1 and is not its commit: it was amended or rewritten\n\
                    the commit B (\"[Step 2] do it\") carries a trailer of step 2 and is not its commit: it was amended or rewritten";
    assert_eq!(told(&report, &[(first, "A"), (second, "B")]), expected);
}

#[tokio::test]
async fn a_trailer_that_does_not_fit_the_receipt_is_named() {
    let mut run = RunFixture::new();
    run.step_with(1, |link| StepLink { step: 3, ..link });
    let commit = run.git(&["rev-parse", "HEAD"]);
    let expected = "7\n3 proven\nreceipt 3: the commit C says `Agent-Collab-Step: 1`, and the receipt does not";
    let report = run.range_report("HEAD~..HEAD").await;
    assert_eq!(told(&report, &[(&commit, "C")]), expected);
    std::fs::write(run.root().join("x"), "x").unwrap();
    run.git(&["add", "x"]);
    let unknown = format!("Agent-Collab-Receipt: {}", "0".repeat(64));
    run.git(&["commit", "-q", "-m", "x", "-m", &unknown]);
    let commit = run.git(&["rev-parse", "HEAD"]);
    let report = run.range_report("HEAD~..HEAD").await;
    let expected = format!(
        "7\nthe commit C (\"x\") names the receipt {}, which is in no chain here\n\
         hint: its receipts may be in git notes: `git fetch origin {NOTES_REF}:{NOTES_REF}` gets the receipts of a clone's commits",
        "0".repeat(64)
    );
    assert_eq!(told(&report, &[(&commit, "C")]), expected);
}

#[tokio::test]
async fn a_run_without_receipts_is_said_to_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let layout = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
    let error = verify_run(&layout, None).await.unwrap_err();
    assert_eq!((error.code, error.problem.as_str()), (1, "no run here yet"));
}

#[test]
fn receipts_after_the_head_in_the_log_are_set_aside() {
    let mut chain = ChainFixture::default();
    chain.add(approval("p", None));
    let logged = chain.head();
    chain.add(approval("q", None));
    chain.files.push(b"{".to_vec());
    let mut reading = read_chain(&chain.files, logged.as_ref());
    assert_eq!(reading.breaks.len(), 2);
    assert_eq!(set_unlogged_aside(&mut reading), 2);
    assert_eq!(
        (reading.links.len(), reading.hashes.last()),
        (1, logged.as_ref())
    );
    assert_eq!(reading.breaks, []);
    assert_eq!(set_unlogged_aside(&mut reading), 0);
}
