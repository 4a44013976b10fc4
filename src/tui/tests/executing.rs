//! Tests from the approval of a plan to the end of its run: the Plan tab, the dialogs and the summary card.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::look::click;
use super::pictures::{check, not_writing};
use super::world::{NOW, approving, asking, drawn, press, press_at, questions, running, settings};
use crate::domain::event::{CallPermission, Event, StepAudit};
use crate::domain::findings::{FindingSeverity, ReviewRemark};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_change::PlanChange;
use crate::domain::plan_execution::{StepOutcome, StepRecord, StepStage};
use crate::domain::question::{CommitTarget, Question, QuestionKind};
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::TurnPurpose;
use crate::tui::{Action, RunDocumentFiles, Screen};

fn ten_steps() -> String {
    let step = |n: u32| {
        format!(
            "{n}. [ ] change file{n}.txt so that it says what number {n} means, with 日本語 and a reason that is long enough to wrap\n   and goes on\n"
        )
    };
    let steps: String = (1..=10).map(step).collect();
    format!("# Task: ten files\n\nEach with its empty case.\n\n## Steps\n{steps}\nTest: `make`\n")
}

/// A run that works on step `n` of ten.
fn working_on(n: u32) -> (Screen, RunState) {
    let text = ten_steps();
    let mut state = running(Phase::Execute, TurnPurpose::Step { n });
    let file = state.plan.as_mut().unwrap();
    file.plan = crate::domain::plan::parse(&text).unwrap();
    let steps = file.plan.steps.clone();
    let execution = state.execution.as_mut().unwrap();
    let first = execution.done.remove(0);
    let done = steps.iter().filter(|step| step.n < n);
    execution.done = done
        .map(|step| StepRecord {
            n: step.n,
            text: step.text.clone(),
            ..first.clone()
        })
        .collect();
    let current = execution.current.as_mut().unwrap();
    current.n = n;
    current.receipt = None;
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        plan: Some(text),
        ..RunDocumentFiles::default()
    });
    (screen, state)
}

#[test]
fn the_step_that_is_worked_on_is_in_view_at_every_size_and_finished_ones_stand_in_one_row() {
    let (mut screen, state) = working_on(7);
    press(&mut screen, Some(&state), &["2"]);
    for size in [(80, 24), (40, 12), (60, 20), (120, 30)] {
        let seen = drawn(&mut screen, size, Some(&state));
        assert!(seen.contains("◐ 7  "), "{size:?}\n{seen}");
        assert!(seen.contains("● agent fixes"), "{size:?}\n{seen}");
    }
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("✓ 1–5  5 steps, 5 commits, tests passed · Space opens"),
        "{seen}"
    );
    assert!(seen.contains("✓ 6  "), "{seen}");
    assert!(!seen.contains("file5.txt"), "{seen}");
    check("plan_ten_steps", &mut screen, Some(&state));
    // Where everything fits, nothing is folded.
    let tall = drawn(&mut screen, (120, 70), Some(&state));
    assert!(tall.contains("✓ 1  ") && tall.contains("○ 10  "), "{tall}");
}

#[test]
fn whoever_scrolls_stays_where_they_are_until_end() {
    let (mut screen, state) = working_on(3);
    let (_, later) = working_on(9);
    press(&mut screen, Some(&state), &["2"]);
    let low = (80, 14);
    assert!(drawn(&mut screen, low, Some(&state)).contains("◐ 3  "));
    let far = drawn(&mut screen, low, Some(&later));
    assert!(far.contains("◐ 9  "), "{far}");
    assert!(!far.contains("follows again"), "{far}");
    press(&mut screen, Some(&later), &["<home>"]);
    let top = drawn(&mut screen, low, Some(&later));
    assert!(top.contains("ten files"), "{top}");
    assert!(
        top.contains(" more rows · End follows again · PgDn"),
        "{top}"
    );
    press(&mut screen, Some(&later), &["<end>"]);
    assert!(drawn(&mut screen, low, Some(&later)).contains("◐ 9  "));
    // Pressing End again goes to the end of the plan.
    press(&mut screen, Some(&later), &["<end>"]);
    let end = drawn(&mut screen, (80, 24), Some(&later));
    assert!(end.contains("Tests  make"), "{end}");
    // The view follows a new execution again.
    let mut over = later.clone();
    over.phase = Phase::Done;
    drawn(&mut screen, low, Some(&over));
    assert!(drawn(&mut screen, low, Some(&later)).contains("◐ 9  "));
}

#[test]
fn a_row_for_finished_steps_opens_and_folds() {
    let (mut screen, state) = working_on(7);
    let size = (80, 24);
    press(&mut screen, Some(&state), &["2"]);
    drawn(&mut screen, size, Some(&state));
    press(&mut screen, Some(&state), &[" "]);
    let open = drawn(&mut screen, size, Some(&state));
    assert!(
        open.contains("✓ 1  ") && open.contains("file2.txt"),
        "{open}"
    );
    assert!(open.contains("End follows again"), "{open}");
    press(&mut screen, Some(&state), &["<end>"]);
    let folded = drawn(&mut screen, size, Some(&state));
    assert!(
        folded.contains("✓ 1–5  ") && folded.contains("◐ 7  "),
        "{folded}"
    );
    // The fold is one line for the selection, and opens when it is selected.
    let mut pointed = Vec::new();
    for _ in 0..6 {
        press(&mut screen, Some(&state), &["."]);
        drawn(&mut screen, size, Some(&state));
        pointed.push(screen.pointed_plan_line().unwrap().1);
    }
    assert!(pointed[3].starts_with("1. "), "{pointed:?}");
    assert!(pointed[4].starts_with("6. "), "{pointed:?}");
    press(&mut screen, Some(&state), &[",", ","]);
    drawn(&mut screen, size, Some(&state));
    let (_, line) = screen.pointed_plan_line().unwrap();
    assert!(line.starts_with("1. "), "{line}");
    press(&mut screen, Some(&state), &[" "]);
    let open = drawn(&mut screen, size, Some(&state));
    assert!(open.contains("▌ ✓ 1  "), "{open}");
    // Esc first clears the selection, then folds.
    press(&mut screen, Some(&state), &["<esc>", "<esc>"]);
    let folded = drawn(&mut screen, size, Some(&state));
    assert!(folded.contains("✓ 1–5  "), "{folded}");
}

#[test]
fn what_has_to_be_known_of_a_finished_step_is_not_folded() {
    let (mut screen, mut state) = working_on(9);
    let execution = state.execution.as_mut().unwrap();
    execution.done[3].outcome = StepOutcome::NoChange;
    execution.done[5].receipt = None;
    let mut remarked = state.clone();
    press(&mut screen, Some(&state), &["2"]);
    let seen = drawn(&mut screen, (80, 32), Some(&state));
    assert!(
        seen.contains("✓ 1–3  3 steps, 3 commits, tests passed"),
        "{seen}"
    );
    assert!(seen.contains("changed nothing"), "{seen}");
    assert!(
        seen.contains("✓ 5–7  3 steps, 3 commits, 2 with passing tests"),
        "{seen}"
    );
    remarked.findings.apply_legacy_review(
        &[ReviewRemark::new(
            3,
            FindingSeverity::Blocking,
            "Step 2 forgets the empty case".to_owned(),
        )],
        None,
    );
    press(&mut screen, Some(&remarked), &["<home>"]);
    let seen = drawn(&mut screen, (80, 40), Some(&remarked));
    assert!(
        seen.contains("✓ 2  ") && seen.contains("forgets the empty case"),
        "{seen}"
    );
    // A search also finds matches in finished steps.
    press(
        &mut screen,
        Some(&state),
        &["<c-f>", "file6.txt", "<enter>"],
    );
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("✓ 6  "), "{seen}");
}

fn recorded(step: u32) -> Event {
    Event::StepRecorded {
        step,
        plan_file_sha256: None,
    }
}

#[test]
fn what_happened_elsewhere_takes_no_key_of_the_footer_and_is_not_said_where_it_is_shown() {
    let (mut screen, state) = working_on(7);
    press(&mut screen, Some(&state), &["3"]);
    let foot = |seen: &str| seen.lines().last().unwrap().to_owned();
    for size in [(80, 24), (40, 12), (120, 40)] {
        screen.toast.cross_tab = None;
        let before = drawn(&mut screen, size, Some(&state));
        screen.on_time(NOW);
        screen.on_event(NOW, &recorded(6));
        let seen = drawn(&mut screen, size, Some(&state));
        assert_eq!(foot(&before), foot(&seen));
        let is_told = |row: &&str| row.contains("✓ Step 6 done");
        assert!(
            seen.lines().rev().take(6).any(|row| is_told(&row)),
            "{seen}"
        );
        assert!(seen.contains("Press I to write"), "{seen}");
        assert_eq!(before.lines().count(), seen.lines().count());
    }
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("Press I to write, / for commands")
            && seen.contains("✓ Step 6 done · 1 opens Chat"),
        "{seen}"
    );
    // The Plan tab shows it itself, also as the second pane, so no toast is needed.
    assert!(!drawn(&mut screen, (200, 50), Some(&state)).contains("Step 6 done"));
    press(&mut screen, Some(&state), &["2"]);
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("Step 6 done"));
    // While the user writes, it is shown above the text.
    press(&mut screen, Some(&state), &["3", "i"]);
    let writing = drawn(&mut screen, (120, 40), Some(&state));
    let above = writing.lines().rev().nth(5).unwrap();
    assert!(above.ends_with(" ✓ Step 6 done"), "{writing}");
    screen.on_time(UnixMillis(NOW.0 + 4_000));
    assert!(!drawn(&mut screen, (80, 24), Some(&state)).contains("Step 6 done"));
}

#[test]
fn the_approval_does_not_repeat_a_plan_that_is_read() {
    let (phase, kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute")
        .unwrap();
    let state = asking(phase, kind);
    let mut screen = not_writing();
    let times = |seen: &str| {
        seen.matches("write sum(numbers)").count() + seen.matches("write `sum").count()
    };
    let chat = drawn(&mut screen, (120, 40), Some(&state));
    assert_eq!(times(&chat), 1, "{chat}");
    // There, the plan is beside the chat.
    assert_eq!(times(&drawn(&mut screen, (200, 50), Some(&state))), 1);
    press(&mut screen, Some(&state), &["2"]);
    for size in [(80, 24), (120, 40), (200, 50)] {
        let seen = drawn(&mut screen, size, Some(&state));
        // A step that is not in view stays in the panel.
        let is_whole = !seen.contains("more rows");
        assert!(times(&seen) == 1 || !is_whole, "{seen}");
        let is_there = seen.contains("在 README") || seen.contains(" more lines  V");
        assert!(is_there, "{seen}");
        for word in [
            "one commit per step",
            "Tests   ",
            "Access  ",
            "Run all steps",
        ] {
            assert!(seen.contains(word), "{word}\n{seen}");
        }
    }
    check("plan_approval", &mut screen, Some(&state));
    // In a low window each term and each step keeps a row.
    press(&mut screen, Some(&state), &["1"]);
    let low = drawn(&mut screen, (40, 30), Some(&state));
    for start in ["Branch  ", "Tests   ", "Access  ", "1. ", "2. ", "3. "] {
        assert_eq!(
            low.matches(&format!("▌ {start}")).count(),
            1,
            "{start}\n{low}"
        );
    }
    // The command is whole, and a row says that something is missing.
    for text in ["pytest after each step", "detected in", " more lines  V"] {
        assert!(low.contains(text), "{text}\n{low}");
    }
    press(&mut screen, Some(&state), &["2"]);
    // Everything that is approved can still be opened.
    press(&mut screen, Some(&state), &["v"]);
    let whole = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        times(&whole) == 1 && whole.contains("What you approve"),
        "{whole}"
    );
}

#[test]
fn the_approval_of_a_changed_plan_names_the_steps_that_changed() {
    let (phase, mut kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute")
        .unwrap();
    if let QuestionKind::Execute { terms } = &mut kind {
        terms.change = Some(Box::new(PlanChange {
            changed: vec![2],
            removed: vec![4],
        }));
    }
    let state = asking(phase, kind);
    let mut screen = not_writing();
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    let said = "Your approval no longer covers step 2 (changed or new) and step 4";
    assert!(seen.contains(said), "{seen}");
    press(&mut screen, Some(&state), &["v"]);
    let whole = drawn(&mut screen, (120, 40), Some(&state));
    let words: Vec<&str> = whole.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("that wraps (changed)"), "{whole}");
    assert_eq!(words.matches("(changed)").count(), 1, "{whole}");
}

/// An agent asks to write a new file, which its diff names as `named`.
fn asking_for_notes(named: &str) -> (Screen, RunState) {
    let mut state = approving(&["NOTES.md"]);
    state.approvals[0].permission = CallPermission::Edit;
    let mut screen = not_writing();
    let lines: String = (1..=30).map(|n| format!("+line {n} 中文\n")).collect();
    screen.on_pending_call(crate::tui::ExactCall {
        call: state.approvals[0].n,
        text: "/home/you/calculator/NOTES.md".to_owned(),
        diff: format!("{named}\ndiff --git a/NOTES.md b/NOTES.md\nnew file mode 100644\nindex 0000000..e69de29\n--- /dev/null\n+++ b/NOTES.md\n@@ -0,0 +1,30 @@\n{lines}"),
    });
    (screen, state)
}

#[test]
fn the_approval_of_an_edit_shows_its_lines_and_why_before_anything_of_gits() {
    let (mut screen, state) = asking_for_notes("NOTES.md");
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("NOTES.md  new  +30") && !seen.contains("diff --git"),
        "{seen}"
    );
    let (mut screen, state) = asking_for_notes("/home/you/calculator/NOTES.md");
    for size in [(80, 24), (40, 20), (120, 40)] {
        let seen = drawn(&mut screen, size, Some(&state));
        for word in ["NOTES.md  new  +30", "the tests", "1 + line 1 中文"] {
            assert!(seen.contains(word), "{word}\n{seen}");
        }
        for word in ["/home/you", "diff --git", "@@", "new file mode"] {
            assert!(!seen.contains(word), "{word}\n{seen}");
        }
    }
    check("dialog_patch", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["v"]);
    let whole = drawn(&mut screen, (120, 50), Some(&state));
    assert!(whole.contains("NOTES.md  new  +30"), "{whole}");
    assert!(
        whole.contains("30 + line 30 中文") && !whole.contains("@@"),
        "{whole}"
    );
}

/// A finished run on a branch with a long name.
fn done() -> RunState {
    let (_, mut state) = working_on(10);
    state.phase = Phase::Done;
    state.running = None;
    let execution = state.execution.as_mut().unwrap();
    execution.current = None;
    execution.commits = CommitTarget::New {
        branch: "agent-collab/that-goes-on-and-on-rewrite-the-whole-parser".to_owned(),
        from: Some("main".to_owned()),
    };
    state
}

#[test]
fn the_command_that_merges_is_whole_and_a_key_copies_it() {
    let state = done();
    let mut screen = not_writing();
    let command =
        "git switch main && git merge agent-collab/that-goes-on-and-on-rewrite-the-whole-parser";
    for size in [(80, 24), (60, 24), (120, 40)] {
        let seen = drawn(&mut screen, size, Some(&state));
        let said: String = seen
            .lines()
            .map(|line| line.trim_matches([' ', '│', '▌']))
            .collect();
        let glued = command.replace(' ', "");
        assert!(said.replace(' ', "").contains(&glued), "{seen}");
    }
    let low = drawn(&mut screen, (40, 12), Some(&state));
    for word in [
        "diff D",
        "undo U",
        "copy merge Ctrl+Y",
        "new goal I",
        "report Ctrl+S",
    ] {
        assert!(low.contains(word), "{word}\n{low}");
    }
    let acts = press(&mut screen, Some(&state), &["<c-y>"]);
    assert_eq!(acts, [Action::Copy(command.to_owned())]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("Copied: git switch main"), "{seen}");
    check("done_long_branch", &mut screen, Some(&state));
    // Before the end there is nothing to merge.
    let (mut screen, state) = working_on(3);
    let acts = press(&mut screen, Some(&state), &["<c-y>"]);
    assert!(
        acts.iter()
            .all(|act| *act != Action::Copy(command.to_owned()))
    );
}

#[test]
fn in_a_low_window_a_call_leaves_the_tabs_readable_and_its_line_answers_nothing() {
    let state = approving(&["npm test"]);
    let low = (40, 12);
    let mut screen = not_writing();
    assert!(drawn(&mut screen, low, Some(&state)).contains("npm test"));
    let at = |screen: &mut Screen, code| {
        drawn(screen, low, Some(&state));
        let acts = screen.on_key(KeyEvent::new(code, KeyModifiers::NONE), Some(&state));
        (acts, drawn(screen, low, Some(&state)))
    };
    let (_, plan) = at(&mut screen, KeyCode::Char('2'));
    assert!(plan.contains("◐ 2  "), "{plan}");
    assert!(
        plan.contains("? Allow this command? · Planner · step 2"),
        "{plan}"
    );
    assert!(plan.contains("Enter shows it"), "{plan}");
    for letter in ['y', 'r', 'n'] {
        let (acts, seen) = at(&mut screen, KeyCode::Char(letter));
        assert!(acts.is_empty(), "{letter}");
        assert!(seen.contains("Enter shows it"), "{seen}");
    }
    let (acts, shown) = at(&mut screen, KeyCode::Enter);
    assert!(acts.is_empty() && shown.contains("npm test"), "{shown}");
    assert!(shown.contains("Allow once"), "{shown}");
    // A user who scrolled back is reading the chat, so Enter only shows the request.
    for n in 0..40 {
        screen.on_event(UnixMillis(NOW.0 + n), &recorded(1));
    }
    let (_, back) = at(&mut screen, KeyCode::PageUp);
    assert!(back.contains("Enter shows it"), "{back}");
}

#[test]
fn many_findings_take_a_row_each_the_open_ones_first() {
    let mut state = running(Phase::Respond, TurnPurpose::Respond);
    let remark = |n: u32| {
        ReviewRemark::new(
            n,
            FindingSeverity::Major,
            format!(
                "finding number {n} 日本語 with a text that is long enough to be wrapped in a window of eighty columns"
            ),
        )
    };
    let first: Vec<ReviewRemark> = (1..=20).map(remark).collect();
    state.findings.apply_legacy_review(&first, None);
    let again: Vec<ReviewRemark> = (13..=20).map(remark).collect();
    state.findings.apply_legacy_review(&again, None);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    for n in 13..=20 {
        assert!(
            seen.contains(&format!("    MAJOR    {n:>2}  finding")),
            "{seen}"
        );
    }
    // One row replaces the settled ones.
    assert!(
        seen.contains("▸  12 resolved") && !seen.contains("major     3  "),
        "{seen}"
    );
    // The first finding is selected and shown in full, then the one that the user selects.
    assert!(seen.contains("▌    MAJOR    13  "), "{seen}");
    assert_eq!(seen.matches("Raised in review").count(), 1, "{seen}");
    press(&mut screen, Some(&state), &["."]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("▌    MAJOR    14  "), "{seen}");
    assert_eq!(seen.matches("Raised in review").count(), 1, "{seen}");
    check("comments_many", &mut screen, Some(&state));
    // It opens and folds by a key and by a click; the selected finding stays listed.
    press(
        &mut screen,
        Some(&state),
        &[".", ".", ".", ".", ".", ".", "."],
    );
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("▌▸ 12 resolved"), "{seen}");
    press(&mut screen, Some(&state), &[" ", "."]);
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(
        seen.contains("▾  12 resolved") && seen.contains("▌✓   major     1  "),
        "{seen}"
    );
    press(&mut screen, Some(&state), &[",", " "]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("▌▸ 12 resolved") && !seen.contains("✓    major     1  "),
        "{seen}"
    );
    let row = seen
        .lines()
        .position(|line| line.contains("12 resolved"))
        .unwrap();
    click(&mut screen, &state, (5, u16::try_from(row).unwrap()));
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("▌▾ 12 resolved"), "{seen}");
    // When only settled findings are listed, there is nothing to fold.
    press(&mut screen, Some(&state), &["=", "=", "="]);
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(
        seen.contains("✓    major     1  ") && !seen.contains("12 resolved"),
        "{seen}"
    );
}

/// Returns the heading of a step as it is drawn.
fn heading(screen: &mut Screen, size: (u16, u16), state: &RunState, n: u32) -> String {
    let seen = drawn(screen, size, Some(state));
    let lead = format!("Step {n}");
    let mut rows = seen
        .lines()
        .map(|row| row.trim_start_matches(['▌', '◐', ' ']).trim_end());
    let row = rows.find(|row| row.starts_with(&lead) && row.contains(['─', '●']));
    row.unwrap_or_else(|| panic!("{seen}")).to_owned()
}

fn begin_step(screen: &mut Screen, step: u32) {
    screen.on_event(
        NOW,
        &Event::SnapshotTaken {
            step,
            tree: None,
            attempt: 0,
        },
    );
}

fn end_step(screen: &mut Screen, step: u32) {
    let plan_file_sha256 = None;
    let ended = Event::StepRecorded {
        step,
        plan_file_sha256,
    };
    screen.on_event(NOW, &ended);
}

#[test]
fn the_heading_of_the_current_step_shows_its_stages_and_one_that_is_over_its_time() {
    let (mut screen, mut state) = working_on(7);
    // The step is current before its heading is there.
    drawn(&mut screen, (120, 40), Some(&state));
    begin_step(&mut screen, 6);
    begin_step(&mut screen, 7);
    let time = settings().local_clock().time_with_minutes(NOW);
    let six = heading(&mut screen, (120, 40), &state, 6);
    assert!(six.starts_with("Step 6 of 10: change file6.txt"), "{six}");
    assert!(six.ends_with(&time), "{six}");
    let fixing = heading(&mut screen, (120, 40), &state, 7);
    let stages = "● agent fixes › check › tests › commit › record";
    assert!(fixing.ends_with(stages), "{fixing}");
    let execution = state.execution.as_mut().unwrap();
    execution.current.as_mut().unwrap().stage = StepStage::Test;
    let testing = heading(&mut screen, (120, 40), &state, 7);
    assert!(
        testing.starts_with("Step 7 of 10  change file7.txt so that "),
        "{testing}"
    );
    let stages = "agent › check › ● tests › commit › record";
    assert!(testing.ends_with(stages), "{testing}");
    let narrow = heading(&mut screen, (40, 20), &state, 7);
    assert!(narrow.ends_with(" ● tests"), "{narrow}");
    state.execution.as_mut().unwrap().current = None;
    let over = heading(&mut screen, (120, 40), &state, 7);
    assert!(over.ends_with(&time), "{over}");
}

#[test]
fn the_step_after_the_current_one_is_named_below_the_chat_unless_steps_stand_beside_it() {
    let (mut screen, mut state) = working_on(7);
    begin_step(&mut screen, 7);
    let row = |screen: &mut Screen, size, state: &RunState| {
        let seen = drawn(screen, size, Some(state));
        let mut rows = seen.lines().map(str::trim);
        rows.find(|row| row.starts_with("○ Step 8 "))
            .map(str::to_owned)
    };
    let next = row(&mut screen, (120, 40), &state).unwrap();
    assert!(next.starts_with("○ Step 8  change file8.txt so"), "{next}");
    assert!(next.ends_with(" · 2 more"), "{next}");
    let narrow = row(&mut screen, (40, 40), &state).unwrap();
    assert!(narrow.ends_with("… · 2 more"), "{narrow}");
    // The sidebar lists them, a low window has no room, and an earlier part of the chat is not about them.
    for size in [(160, 45), (80, 16)] {
        assert_eq!(row(&mut screen, size, &state), None, "{size:?}");
    }
    for n in 0..60 {
        screen.on_notice(&format!("notice {n}"));
    }
    press_at(&mut screen, (120, 40), Some(&state), &["<pgup>"]);
    assert_eq!(row(&mut screen, (120, 40), &state), None);
    press(&mut screen, Some(&state), &["<end>"]);
    assert!(row(&mut screen, (120, 40), &state).is_some());
    // A run that is over has no current step and no next one.
    state.phase = Phase::Cancelled;
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        !seen.contains("○ Step ") && !seen.contains("◐ Step "),
        "{seen}"
    );
    state.phase = Phase::Execute;
    // After the last step there is none.
    state
        .execution
        .as_mut()
        .unwrap()
        .current
        .as_mut()
        .unwrap()
        .n = 10;
    begin_step(&mut screen, 10);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(!seen.contains("○ Step "), "{seen}");
}

#[test]
fn a_step_that_ended_shows_no_stages_whatever_comes_before_the_next_frame() {
    let time = settings().local_clock().time_with_minutes(NOW);
    // The last step ends and the summary begins.
    let (mut screen, mut state) = working_on(7);
    begin_step(&mut screen, 7);
    let seen = heading(&mut screen, (120, 40), &state, 7);
    assert!(seen.contains("● agent fixes"), "{seen}");
    end_step(&mut screen, 7);
    begin_step(&mut screen, 0);
    state.execution.as_mut().unwrap().current = None;
    let seen = heading(&mut screen, (120, 40), &state, 7);
    assert!(seen.ends_with(&time), "{seen}");
    // Two headings come at once.
    let (mut screen, mut state) = working_on(7);
    begin_step(&mut screen, 7);
    heading(&mut screen, (120, 40), &state, 7);
    for step in [8, 9] {
        end_step(&mut screen, step - 1);
        begin_step(&mut screen, step);
    }
    let execution = state.execution.as_mut().unwrap();
    execution.current.as_mut().unwrap().n = 9;
    for step in [7, 8] {
        let seen = heading(&mut screen, (120, 40), &state, step);
        assert!(seen.ends_with(&time), "{seen}");
    }
    let seen = heading(&mut screen, (120, 40), &state, 9);
    assert!(seen.contains("● agent fixes"), "{seen}");
    // The step is undone and current again, but its new attempt has not started.
    end_step(&mut screen, 9);
    let seen = heading(&mut screen, (120, 40), &state, 9);
    assert!(seen.ends_with(&time), "{seen}");
}

#[test]
fn the_heading_of_the_current_step_stays_on_the_first_row_while_its_place_is_above() {
    let (mut screen, state) = working_on(7);
    drawn(&mut screen, (120, 40), Some(&state));
    screen.on_notice("before the step");
    begin_step(&mut screen, 7);
    for n in 0..90 {
        screen.on_notice(&format!("notice {n}"));
    }
    let rows = |screen: &mut Screen, size: (u16, u16)| -> Vec<String> {
        let seen = drawn(screen, size, Some(&state));
        let rows = seen.lines().map(|row| row.trim().to_owned());
        rows.collect()
    };
    for (size, n_header) in [((120, 40), 3), ((80, 24), 1), ((40, 20), 1)] {
        let seen = rows(&mut screen, size);
        assert!(seen[n_header].starts_with("▌  ◐ Step 7 "), "{seen:#?}");
        assert!(seen[n_header + 1].is_empty(), "{seen:#?}");
        assert!(seen[n_header + 2].starts_with("· notice "), "{seen:#?}");
        assert!(seen.iter().any(|row| row == "· notice 89"), "{seen:#?}");
    }
    let low = rows(&mut screen, (80, 19));
    assert!(!low.iter().any(|row| row.contains("◐ Step 7")), "{low:#?}");
    // No row is left out on the way up to its place, where it is drawn once.
    let mut top: Option<usize> = None;
    for _ in 0..60 {
        press_at(&mut screen, (120, 40), Some(&state), &["<up>"]);
        let seen = rows(&mut screen, (120, 40));
        let n_headings = seen.iter().filter(|row| row.contains("◐ Step 7")).count();
        if seen.iter().any(|row| row.ends_with("before the step")) {
            assert_eq!(n_headings, 1, "{seen:#?}");
            break;
        }
        assert_eq!(n_headings, 1, "{seen:#?}");
        let mut notices = seen.iter().filter_map(|row| row.strip_prefix("· notice "));
        let first = notices.next().and_then(|n| n.parse().ok());
        assert!(top.is_none() || first <= top, "{first:?} {top:?}");
        top = first;
    }
}

#[test]
fn the_heading_of_a_step_says_when_it_waits_for_the_user() {
    let (mut screen, mut state) = working_on(7);
    begin_step(&mut screen, 7);
    state.running = None;
    let found = "tests failed".to_owned();
    let kind = QuestionKind::TestsFailed { step: 7, found };
    state.awaiting = Some(Question { id: 1, kind });
    let seen = heading(&mut screen, (120, 40), &state, 7);
    let stages = "● waiting for you › check › tests › commit › record";
    assert!(seen.ends_with(stages), "{seen}");
}

#[test]
fn the_tests_of_a_step_have_a_clock() {
    let (mut screen, mut state) = working_on(7);
    begin_step(&mut screen, 7);
    let audit = StepAudit {
        step: 7,
        changed: Vec::new(),
        dirty: Vec::new(),
        outside_of_calls: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        out_of_scope: Vec::new(),
        tree: None,
    };
    screen.on_event(UnixMillis(NOW.0 - 4_000), &Event::StepAudited(audit));
    state.running = None;
    state.busy = Some(ProgramOperation::Stepping { question: None });
    let execution = state.execution.as_mut().unwrap();
    execution.current.as_mut().unwrap().stage = StepStage::Test;
    let seen = heading(&mut screen, (120, 40), &state, 7);
    assert!(seen.contains("› ● tests 0:04 ›"), "{seen}");
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("Testing step 7 of 10  0:04"), "{seen}");
}
