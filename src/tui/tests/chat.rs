//! Tests of the Chat tab: block selection, opening tool calls, search, the usage of a turn, the second
//! pane.

use crate::tui::pager::TextPager;
use ratatui::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::pictures::{check, not_writing};
use super::world::{
    NOW, approving, asking, created, drawn, press, press_at, questions, running, settings, state,
};
use crate::domain::event::{
    AgentActivity, ApprovalDecider, Event, EventRecord, ToolKind, ToolStatus,
};
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::{Gate, Phase};
use crate::domain::plan::file_hash;
use crate::domain::plan_execution::CommitSize;
use crate::domain::question::{Question, QuestionAnswer, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::session::SessionUsage;
use crate::domain::turn::{Role, TurnOutcome, TurnPurpose};
use crate::tui::keymap::ComposerFocus;
use crate::tui::tab_kind::TabKind;
use crate::tui::{Action, Screen, ScrollbackChunk};

fn reviewing() -> RunState {
    running(Phase::Review, TurnPurpose::Review)
}

#[test]
fn a_call_opens_to_all_that_is_known_of_it() {
    let (mut screen, state) = (not_writing(), reviewing());
    // From the last block up: the reviewer's text, the running call, the failed call.
    press(&mut screen, Some(&state), &[",", ",", ",", ",", " "]);
    check("call_open", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &[" "]);
    let folded = drawn(&mut screen, (80, 24), Some(&state));
    assert!(!folded.contains("collected 0 items"), "{folded}");
    press(&mut screen, Some(&state), &["<esc>", " "]);
    assert!(screen.toast.text.is_some(), "nothing is pointed at");
}

#[test]
fn the_chat_has_the_open_question_while_no_dialog_asks_it() {
    let asks = |kind: QuestionKind| Event::QuestionAsked {
        question: Question { id: 7, kind },
    };
    let mut screen = not_writing();
    let asked = asking(Phase::Review, QuestionKind::ManualEdit);
    let text = "? The plan is being edited by hand";
    screen.on_event(NOW, &asks(QuestionKind::ManualEdit));
    screen.on_event(NOW, &Event::GateChanged { gate: Gate::Auto });
    let seen = drawn(&mut screen, (120, 40), Some(&asked));
    assert!(!seen.contains(text), "{seen}");
    // Another dialog of the run asks something else.
    let call = approving(&["ls"]);
    let seen = drawn(&mut screen, (120, 40), Some(&call));
    assert!(seen.contains(text), "{seen}");
    // An earlier question stays when another one is asked.
    let failure = QuestionKind::CommitFailed {
        step: 2,
        message: "a hook says no".to_owned(),
    };
    screen.on_event(NOW, &asks(failure.clone()));
    let again = asking(Phase::Execute, failure);
    screen.on_event(NOW, &Event::GateChanged { gate: Gate::Auto });
    let seen = drawn(&mut screen, (120, 40), Some(&again));
    assert!(seen.contains(text), "{seen}");
}

#[test]
fn an_edit_opens_to_what_changed() {
    let (mut screen, state) = (not_writing(), reviewing());
    press(&mut screen, Some(&state), &[",", ",", " "]);
    check("edit_open", &mut screen, Some(&state));
}

#[test]
fn a_run_that_is_over_says_what_came_of_it_and_what_can_be_done_now() {
    let mut done = state(Phase::Done);
    if let Some(execution) = &mut done.execution {
        execution.current = None;
        let first = execution.done[0].clone();
        for n in [2, 3] {
            execution
                .done
                .push(crate::domain::plan_execution::StepRecord { n, ..first.clone() });
        }
        execution.done[1].receipt = None;
    }
    let mut screen = not_writing();
    let end = Event::PhaseChanged {
        from: Phase::Execute,
        to: Phase::Done,
        reason: None,
    };
    screen.on_event(NOW, &end);
    check("done", &mut screen, Some(&done));
    press(&mut screen, Some(&done), &["i"]);
    let seen = drawn(&mut screen, (120, 40), Some(&done));
    assert!(seen.contains("See the diff  /diff"), "{seen}");
    press(&mut screen, Some(&done), &["<pgup>"]);
    let scrolled = drawn(&mut screen, (80, 24), Some(&done));
    assert!(!scrolled.contains("▌  ✓ Done"), "{scrolled}");
    let cancelled = state(Phase::Cancelled);
    let end = Event::PhaseChanged {
        from: Phase::Review,
        to: Phase::Cancelled,
        reason: None,
    };
    let mut screen = not_writing();
    screen.on_event(NOW, &end);
    let seen = drawn(&mut screen, (80, 24), Some(&cancelled));
    insta::assert_snapshot!("cancelled", seen);
}

#[test]
fn a_step_that_went_well_is_one_line() {
    let mut screen = Screen::new(settings());
    let receipt = crate::domain::receipt::Receipt {
        command: "python3 -m pytest -q".to_owned(),
        outcome: crate::domain::receipt::TestOutcome::Passed,
        counts: Some(crate::domain::receipt::TestCounts {
            passed: 7,
            failed: 0,
            skipped: 0,
        }),
        ..crate::domain::receipt::Receipt::without_command()
    };
    let events = [
        Event::TestsRan {
            step: 2,
            receipt,
            changed: Vec::new(),
            made_by_tests: Vec::new(),
            entry_points: Vec::new(),
            held: Vec::new(),
            rewritten: Vec::new(),
            tree: None,
        },
        Event::CommitMade {
            step: 2,
            commit: "0e78f21f00".to_owned(),
            message: "[Step 2] test sum".to_owned(),
            size: Some(CommitSize {
                files: 2,
                added: 21,
                removed: 1,
            }),
        },
        Event::StepRecorded {
            step: 2,
            plan_file_sha256: None,
        },
    ];
    for event in &events {
        screen.on_event(NOW, event);
    }
    let seen = drawn(&mut screen, (120, 40), Some(&state(Phase::Execute)));
    let n_checks = |line: &str| line.matches('✓').count();
    // The header marks the finished stages with the same sign.
    assert_eq!(
        seen.lines().skip(2).map(n_checks).sum::<usize>(),
        1,
        "{seen}"
    );
    let row = seen.lines().find(|line| line.contains("✓ Step 2 done  "));
    let facts = "  tests passed: 7 passed, 0 failed, 0 skipped · 0e78f21f · 2 files · +21 −1 ▸";
    assert!(
        row.is_some_and(|row| row.trim_end().ends_with(facts)),
        "{seen}"
    );
}

#[test]
fn a_step_has_a_heading_and_is_not_called_done_while_its_tests_fail() {
    let mut screen = Screen::new(settings());
    let plan = crate::domain::plan::parse("# Sum\n\n1. [ ] write sum\n2. [ ] test sum\n").unwrap();
    let receipt = crate::domain::receipt::Receipt {
        outcome: crate::domain::receipt::TestOutcome::Failed,
        ..crate::domain::receipt::Receipt::without_command()
    };
    let events = [
        Event::PlanEdited {
            plan: Some(plan),
            approval_sha256: file_hash(b""),
            file_sha256: file_hash(b""),
            source: None,
        },
        Event::SnapshotTaken {
            step: 2,
            tree: None,
            attempt: 0,
        },
        Event::TestsRan {
            step: 2,
            receipt,
            changed: Vec::new(),
            made_by_tests: Vec::new(),
            entry_points: Vec::new(),
            held: Vec::new(),
            rewritten: Vec::new(),
            tree: None,
        },
        Event::StepRecorded {
            step: 2,
            plan_file_sha256: None,
        },
        // The executor's summary belongs to no step.
        Event::SnapshotTaken {
            step: 0,
            tree: None,
            attempt: 0,
        },
    ];
    for event in &events {
        screen.on_event(NOW, event);
    }
    let seen = drawn(&mut screen, (120, 40), Some(&state(Phase::Execute)));
    assert!(seen.contains("Step 2 of 2: test sum ──"), "{seen}");
    assert!(
        seen.contains("Summary ──") && !seen.contains("step 0"),
        "{seen}"
    );
    let over = "• Step 2 finished: tests fail, nothing committed";
    assert!(seen.contains(over) && !seen.contains("is done"), "{seen}");
}

#[test]
fn a_call_that_is_asked_about_says_that_it_waits_for_the_user() {
    let state = approving(&["npm test"]);
    let approval = state.approvals.first().unwrap().clone();
    let mut screen = Screen::new(settings());
    let news = AgentActivity::ToolStarted {
        item: "t1".to_owned(),
        tool: ToolKind::Command,
        title: "npm test".to_owned(),
        detail: None,
    };
    let started = Event::Agent {
        turn: approval.turn.clone(),
        role: Role::Planner,
        news,
    };
    let answered = Event::ApprovalDecided {
        request: approval.request.clone(),
        allowed: true,
        by: ApprovalDecider::User,
        reason: String::new(),
        denial: None,
        kept: Vec::new(),
    };
    for (event, word) in [
        (started, "◐ $ npm test"),
        (
            Event::ApprovalRequested(approval),
            "npm test  waiting for you",
        ),
        (answered, "◐ $ npm test"),
    ] {
        screen.on_event(NOW, &event);
        let seen = drawn(&mut screen, (120, 40), None);
        assert!(seen.contains(word), "{seen}");
    }
}

fn asked(target: &str, child: Option<&str>) -> (Event, Event) {
    let state = approving(&[target]);
    let mut approval = state.approvals.first().unwrap().clone();
    approval.child = child.map(|path| path.to_owned().into());
    let started = Event::Agent {
        turn: approval.turn.clone(),
        role: Role::Planner,
        news: AgentActivity::ToolStarted {
            item: "t1".to_owned(),
            tool: ToolKind::Command,
            title: target.to_owned(),
            detail: None,
        },
    };
    (started, Event::ApprovalRequested(approval))
}

fn answered(allowed: bool, by: &str, reason: &str) -> Event {
    Event::ApprovalDecided {
        request: approving(&["x"]).approvals.remove(0).request,
        allowed,
        by: by.parse().unwrap(),
        reason: reason.to_owned(),
        denial: None,
        kept: Vec::new(),
    }
}

#[test]
fn who_was_allowed_what_is_said_and_what_was_refused_with_the_reason() {
    let check = |target: &str, child: Option<&str>, answer: Event, wanted: &str| {
        let mut screen = Screen::new(settings());
        let (_, asked) = asked(target, child);
        screen.on_event(NOW, &asked);
        screen.on_event(NOW, &answer);
        let seen = drawn(&mut screen, (120, 40), None);
        assert!(seen.contains(wanted), "{wanted}\n{seen}");
    };
    let child = Some("you ▸ general#1");
    let curl = "curl example.com";
    check(
        curl,
        child,
        answered(true, "user", "allowed by the user, this once"),
        "Allowed general#1: curl example.com",
    );
    check(
        curl,
        child,
        answered(false, "user", "no net"),
        "Denied general#1: curl example.com: no net",
    );
    check(
        curl,
        None,
        answered(false, "user", "declined by the user"),
        "Denied curl example.com\n",
    );
    check(
        curl,
        child,
        answered(false, "policy", "no net"),
        "Denied: general#1: curl example.com: no net",
    );
}

#[test]
fn what_the_user_decides_stands_behind_the_call_and_the_agent_is_not_named_again() {
    let why = "allowed by the user, this once";
    for (answer, wanted) in [
        (answered(true, "user", why), "◐ $ seq 1 300  allowed by you"),
        (
            answered(false, "user", "no"),
            "✗ $ seq 1 300  denied by you: no",
        ),
    ] {
        let mut screen = Screen::new(settings());
        let (started, asked) = asked("seq 1 300", None);
        let said = Event::Agent {
            turn: TurnId::new("trn_1"),
            role: Role::Planner,
            news: AgentActivity::Text {
                text: "I go on.".to_owned(),
            },
        };
        for event in [&started, &asked, &answer, &said] {
            screen.on_event(NOW, event);
        }
        let seen = drawn(&mut screen, (120, 40), None);
        assert!(seen.contains(wanted), "{wanted}\n{seen}");
        assert_eq!(seen.matches("▎ Planner").count(), 1, "{seen}");
        assert!(!seen.contains("▌ You"), "{seen}");
    }
}

#[test]
fn the_question_whether_to_run_the_plan_is_seen_without_a_dialog_until_it_is_answered() {
    let kinds = questions().into_iter().map(|(_, kind)| kind);
    let kind = kinds
        .into_iter()
        .find(|kind| kind.name() == "execute")
        .unwrap();
    let said = kind.describe();
    let said = said
        .split(&[' ', '\n'][..])
        .take(3)
        .collect::<Vec<_>>()
        .join(" ");
    let question = Question { id: 1, kind };
    let mut screen = Screen::new(settings());
    screen.on_event(NOW, &Event::QuestionAsked { question });
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(seen.contains(&format!("? {said}")), "{said}\n{seen}");
    let answer = QuestionAnswer::Execute;
    screen.on_event(NOW, &Event::QuestionAnswered { id: 1, answer });
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(!seen.contains(&format!("? {said}")), "{seen}");
    assert!(seen.contains("▌ Run the plan"), "{seen}");
}

#[test]
fn the_name_line_says_which_cli_it_is_until_another_one_speaks() {
    let mut screen = Screen::new(settings());
    let version = |version: &str| Event::SessionVersion {
        role: Role::Planner,
        adapter: "codex".to_owned(),
        version: version.to_owned(),
    };
    let (started, _) = asked("ls", None);
    for event in [version("0.169.0"), started] {
        screen.on_event(NOW, &event);
    }
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(seen.contains("▎ Planner  codex 0.169.0"), "{seen}");
    assert!(!seen.contains("The planner is"), "{seen}");
    screen.on_event(NOW, &version("0.170.0"));
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(seen.contains("The planner is codex 0.170.0"), "{seen}");
}

#[test]
fn a_refused_call_is_one_card_that_opens_to_the_reason() {
    let mut screen = not_writing();
    let (started, asked) = asked("seq 1 300", None);
    let ended = |item: &str| Event::Agent {
        turn: TurnId::new("trn_1"),
        role: Role::Planner,
        news: AgentActivity::ToolEnded {
            item: item.to_owned(),
            status: ToolStatus::Declined,
            exit_code: None,
            output: String::new(),
        },
    };
    let no = answered(
        false,
        "policy",
        "no command may leave the sandbox; go on without",
    );
    for event in [&started, &asked, &no, &ended("t1")] {
        screen.on_event(NOW, event);
    }
    let state = reviewing();
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("✗ $ seq 1 300  denied: no command may leave"),
        "{seen}"
    );
    assert!(!seen.contains("declined"), "{seen}");
    press(&mut screen, Some(&state), &[",", " "]);
    let open = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        open.contains("   no command may leave the sandbox; go on without"),
        "{open}"
    );
}

#[test]
fn what_a_task_handed_over_opens_to_its_changes() {
    use crate::domain::task_patch::{PatchState, PatchedFile, TaskPatch};
    let session = crate::domain::ids::SessionId::new("ses_7");
    let order = serde_json::json!({
        "session": "ses_7", "n": 1, "agent": "general", "description": "write things",
        "adapter": "codex", "waits": "foreground", "turn": "trn_7",
    });
    let patch = TaskPatch {
        state: PatchState::Applied,
        base: "b".to_owned(),
        tree: "t".to_owned(),
        files: vec![PatchedFile {
            path: "a.sh".to_owned(),
            added: 1,
            removed: 1,
            about: String::new(),
        }],
        n_files: 2,
        added: 2,
        removed: 1,
        file: None,
        between: None,
        why: String::new(),
        text: "diff --git a/a.sh b/a.sh\n--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-old 中\n+new 🎉\n"
            .to_owned(),
    };
    let mut screen = not_writing();
    screen.on_event(
        NOW,
        &Event::TaskStarted(serde_json::from_value(order).unwrap()),
    );
    screen.on_event(NOW, &Event::TaskPatched { session, patch });
    let state = reviewing();
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("✎ general#1: changes applied (2 files, +2 −1)"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &[",", " "]);
    let open = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        open.contains(" - old 中") && open.contains(" + new 🎉"),
        "{open}"
    );
    assert!(!open.contains("diff --git"), "{open}");
}

#[test]
fn a_long_text_of_the_users_is_folded_and_opens() {
    let text: Vec<String> = (1..=200).map(|n| format!("line {n}")).collect();
    let mut screen = not_writing();
    screen.on_event(
        NOW,
        &Event::Steered {
            text: text.join("\n"),
        },
    );
    let state = reviewing();
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("line 8") && seen.contains("▸ +192 lines"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &[",", " ", "<end>"]);
    let open = drawn(&mut screen, (120, 40), Some(&state));
    assert!(open.contains("line 200"), "{open}");
}

#[test]
fn what_is_pointed_at_is_copied() {
    let (mut screen, state) = (not_writing(), reviewing());
    let copied = |screen: &mut Screen, keys: &[&str]| {
        let actions = press(screen, Some(&state), keys);
        match actions.as_slice() {
            [Action::Copy(text)] => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert!(copied(&mut screen, &["<c-y>"]).starts_with("计划不完整"));
    let call = copied(&mut screen, &[",", ",", ",", ",", "<c-y>"]);
    assert_eq!(
        call,
        "$ python3 -m pytest -q\ncollected 0 items\nE   ModuleNotFoundError: No module named 'calc'"
    );
    assert_eq!(copied(&mut screen, &["[", "[", "<c-y>"]), "yes");
}

#[test]
fn what_is_pointed_at_is_opened_in_another_program() {
    use crate::tui::ExternalViewer;
    let (mut screen, state) = (not_writing(), reviewing());
    let actions = press(&mut screen, Some(&state), &["[", "[", "<c-e>", "<a-l>"]);
    let open = |with| Action::OpenText {
        text: "first\nsecond\nthird".to_owned(),
        with,
    };
    assert_eq!(
        actions,
        [open(ExternalViewer::Editor), open(ExternalViewer::Pager)]
    );
}

#[test]
fn both_agents_stand_beside_each_other_in_the_order_in_which_they_speak() {
    let (mut screen, state) = (not_writing(), reviewing());
    press_at(&mut screen, (160, 40), Some(&state), &["|"]);
    check("voices", &mut screen, Some(&state));
    let seen = drawn(&mut screen, (160, 40), Some(&state));
    let place = |word: &str| {
        let found = seen.lines().enumerate();
        let mut found = found.filter_map(|(row, line)| Some((row, line.find(word)?)));
        found.next().unwrap()
    };
    let (planner, reviewer) = (place("▎ Planner"), place("▎ Reviewer"));
    assert!(planner.0 < reviewer.0 && planner.1 < reviewer.1, "{seen}");
    // A block about a turn is in the column of the agent whose turn it was.
    let lost = Event::SessionLost {
        role: Role::Reviewer,
        reason: "no such session".to_owned(),
    };
    screen.on_event(NOW, &lost);
    let seen = drawn(&mut screen, (160, 40), Some(&state));
    let told = seen
        .lines()
        .rfind(|line| line.contains("reviewer: session lost"))
        .unwrap();
    let before = told.split("reviewer: session").next().unwrap();
    let column = before.chars().take_while(|c| *c == ' ').count();
    assert!(column > 75, "{seen}");
}

#[test]
fn one_key_leads_to_what_needs_the_user() {
    let (mut screen, state) = (not_writing(), reviewing());
    press(&mut screen, Some(&state), &["!"]);
    assert_eq!(screen.toast.text.as_deref(), Some("Nothing needs you now."));
    let asking = super::world::approving(&["ls"]);
    press(&mut screen, Some(&asking), &["2", "<pgup>", "?", "!"]);
    let seen = drawn(&mut screen, (80, 24), Some(&asking));
    assert!(!screen.overlays.has::<TextPager>() && screen.tabs.chat.transcript.follows_end());
    assert!(seen.contains("Allow this command?"), "{seen}");
}

#[test]
fn a_click_opens_a_call_and_another_one_folds_it() {
    let (mut screen, state) = (not_writing(), reviewing());
    let before = drawn(&mut screen, (80, 24), Some(&state));
    let row = before
        .lines()
        .position(|line| line.contains("pytest"))
        .unwrap();
    let click = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 10,
        row: u16::try_from(row).unwrap(),
        modifiers: KeyModifiers::NONE,
    };
    screen.on_mouse(click, None);
    let open = drawn(&mut screen, (80, 24), Some(&state));
    assert!(open.contains("   collected 0 items"), "{open}");
}

#[test]
fn what_is_looked_for_is_found_and_lit() {
    let (mut screen, state) = (not_writing(), reviewing());
    press(&mut screen, Some(&state), &["<c-f>", "CALC"]);
    check("find", &mut screen, Some(&state));
    let place = |screen: &mut Screen| {
        let seen = drawn(screen, (80, 24), Some(&state));
        let line = seen
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("find:"));
        line.unwrap_or_default().to_owned()
    };
    assert!(
        place(&mut screen).contains("4 of 4"),
        "{}",
        place(&mut screen)
    );
    press(&mut screen, Some(&state), &["<enter>", "<up>"]);
    assert!(place(&mut screen).contains("2 of 4"));
    press(&mut screen, Some(&state), &["<down>", "<down>", "<down>"]);
    assert!(place(&mut screen).contains("1 of 4"));
    press(&mut screen, Some(&state), &["zz"]);
    assert!(place(&mut screen).contains("no match"));
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(place(&mut screen), "");
    assert_eq!(screen.composer.focus, ComposerFocus::Unfocused);
}

#[test]
fn a_turn_says_what_it_took_and_names_its_author_once() {
    let mut screen = Screen::new(settings());
    let turn = TurnId::new("trn_1");
    let said = |text: &str| Event::Agent {
        turn: turn.clone(),
        role: Role::Planner,
        news: AgentActivity::Text {
            text: text.to_owned(),
        },
    };
    let used = |read, written| Event::UsageReported {
        role: Role::Planner,
        usage: SessionUsage {
            input_tokens: read,
            output_tokens: written,
            cost_micro_usd: None,
            ..SessionUsage::default()
        },
    };
    let events = [
        used(1_000, 100),
        Event::TurnStarted {
            turn: turn.clone(),
            prompt_sha256: file_hash(b"x"),
            process: None,
        },
        said("one"),
        said("two"),
        used(43_000, 850),
        Event::TurnEnded {
            turn: turn.clone(),
            result: TurnOutcome::completed("two"),
        },
    ];
    for (n, event) in (0..).zip(&events) {
        screen.on_event(UnixMillis(NOW.0 + n * 20_000), event);
    }
    let seen = drawn(&mut screen, (80, 24), Some(&state(Phase::WritePlan)));
    assert_eq!(seen.matches("▎ Planner").count(), 1, "{seen}");
    let name = seen.lines().find(|line| line.contains("▎ Planner"));
    let name = name.unwrap().trim_end();
    assert!(name.ends_with("  42k in · 750 out · 1 min 20 s"), "{seen}");
    assert!(!seen.contains("turn took"), "{seen}");
    for (columns, meta) in [
        (36, "750 out · 1 min 20 s"),
        (26, "1 min 20 s"),
        (20, "Planner"),
    ] {
        let seen = drawn(&mut screen, (columns, 24), Some(&state(Phase::WritePlan)));
        let name = seen.lines().find(|line| line.contains("Planner")).unwrap();
        let shown = name.trim_end();
        assert!(shown.ends_with(meta) && !shown.contains(" in"), "{seen}");
    }
}

#[test]
fn a_turn_after_a_restart_is_told_in_the_light_of_what_came_before() {
    let used = |role, read| Event::UsageReported {
        role,
        usage: SessionUsage {
            input_tokens: read,
            output_tokens: 10,
            ..SessionUsage::default()
        },
    };
    let before = [
        Event::RunCreated(Box::new(created())),
        used(Role::Planner, 1_000),
        used(Role::Planner, 2_000),
    ];
    let turn = TurnId::new("trn_1");
    let after = [
        Event::SessionVersion {
            role: Role::Reviewer,
            adapter: "claude".to_owned(),
            version: "2.1.330".to_owned(),
        },
        Event::TurnStarted {
            turn: turn.clone(),
            prompt_sha256: file_hash(b"x"),
            process: None,
        },
        Event::Agent {
            turn: turn.clone(),
            role: Role::Planner,
            news: AgentActivity::Text {
                text: "done".to_owned(),
            },
        },
        used(Role::Planner, 9_000),
        Event::TurnEnded {
            turn,
            result: TurnOutcome::completed(""),
        },
    ];
    let before = before.map(|event| EventRecord { at: NOW, event });
    for (n_left_out, tokens) in [
        (0, "7.0k in · 0 out · "),
        (2, "7.0k in · 0 out · "),
        (3, ""),
    ] {
        let mut screen = Screen::new(settings());
        let piece = before.iter().skip(n_left_out);
        screen.on_scrollback(ScrollbackChunk::from_events(n_left_out as u64, piece));
        for event in &after {
            screen.on_event(NOW, event);
        }
        let seen = drawn(&mut screen, (80, 24), Some(&state(Phase::WritePlan)));
        let name = seen.lines().find(|line| line.contains("▎ Planner"));
        let name = name.unwrap().trim_end();
        let told = format!("  {tokens}<1 s");
        assert!(name.ends_with(&told), "{n_left_out}: {seen}");
        assert!(seen.contains("The reviewer is claude 2.1.330"), "{seen}");
    }
}

/// Two turns of a planner and one of a reviewer, each with the totals so far.
fn three_turns() -> Vec<EventRecord> {
    let mut events = vec![Event::RunCreated(Box::new(created()))];
    let turns = [
        ("trn_1", Role::Planner, 1_000),
        ("trn_2", Role::Reviewer, 500),
        ("trn_3", Role::Planner, 3_000),
    ];
    for (turn, role, input_tokens) in turns {
        let turn = TurnId::new(turn);
        let said = |text: &str| Event::Agent {
            turn: turn.clone(),
            role,
            news: AgentActivity::Text {
                text: text.to_owned(),
            },
        };
        events.extend([
            Event::TurnStarted {
                turn: turn.clone(),
                prompt_sha256: file_hash(b"x"),
                process: None,
            },
            said("first"),
            said("second"),
            Event::UsageReported {
                role,
                usage: SessionUsage {
                    input_tokens,
                    output_tokens: input_tokens / 10,
                    ..SessionUsage::default()
                },
            },
            Event::TurnEnded {
                turn: turn.clone(),
                result: TurnOutcome::completed(""),
            },
        ]);
    }
    let times = (0i64..).map(|n| UnixMillis(NOW.0 + n * 1_000));
    let all = events.into_iter().zip(times);
    all.map(|(event, at)| EventRecord { at, event }).collect()
}

#[test]
fn wherever_the_log_is_cut_into_pages_the_chat_is_the_same() {
    let events = three_turns();
    let state = state(Phase::Review);
    let shown = |cuts: &[usize]| {
        let mut screen = Screen::new(settings());
        let mut end = events.len();
        for from in cuts.iter().rev().copied().chain([0]) {
            screen.on_scrollback(ScrollbackChunk::from_events(
                from as u64,
                &events[from..end],
            ));
            end = from;
        }
        drawn(&mut screen, (100, 40), Some(&state))
    };
    let whole = shown(&[]);
    assert!(whole.contains("  2.0k in · 200 out · 4 s"), "{whole}");
    assert!(!whole.contains("turn took"), "{whole}");
    for first in 1..events.len() {
        for second in first..events.len() {
            assert_eq!(shown(&[first, second]), whole, "{first} {second}");
        }
    }
}

#[test]
fn a_wide_window_shows_the_plan_beside_the_chat_until_it_is_hidden() {
    let (mut screen, state) = (not_writing(), reviewing());
    let seen = drawn(&mut screen, (200, 50), Some(&state));
    assert!(seen.contains("Plan  F6 goes there · \\ switches"), "{seen}");
    press_at(&mut screen, (200, 50), Some(&state), &["\\", "\\"]);
    let seen = drawn(&mut screen, (200, 50), Some(&state));
    assert!(!seen.contains("\\ switches"), "{seen}");
}

#[test]
fn what_stands_beside_something_says_how_wide_a_window_it_wants() {
    let state = reviewing();
    for (key, told) in [
        (
            "|",
            "Planner beside reviewer needs 160 columns, the window has 80",
        ),
        ("\\", "The sidebar needs 140 columns, a second pane 160"),
    ] {
        let mut screen = not_writing();
        press(&mut screen, Some(&state), &[key]);
        let seen = drawn(&mut screen, (80, 24), Some(&state));
        assert!(seen.contains(told), "{seen}");
        // A refused command is not carried out later either.
        let before = drawn(&mut not_writing(), (200, 50), Some(&state));
        screen.toast.text = None;
        assert_eq!(drawn(&mut screen, (200, 50), Some(&state)), before);
    }
    let mut screen = not_writing();
    press_at(&mut screen, (200, 50), Some(&state), &["4", "\\"]);
    assert_eq!(
        screen.toast.text.as_deref(),
        Some("Nothing is shown beside Log now")
    );
}

#[test]
fn findings_are_filtered_and_pointed_at_and_one_of_no_line_leads_nowhere() {
    let (mut screen, state) = (not_writing(), reviewing());
    press(&mut screen, Some(&state), &["3", "=", "="]);
    check("comments_rejected", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["=", "=", ".", ".", ".", ","]);
    check("comments_picked", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &[".", ">"]);
    let told = screen.toast.text.as_deref();
    assert_eq!(told, Some("It has no known line in the plan."));
    assert_eq!(screen.tabs.view.shown, TabKind::Comments);
    press(&mut screen, Some(&state), &["3", "<esc>"]);
    assert_eq!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state)),
        None
    );
}

#[test]
fn files_of_the_repository_are_named_from_its_root() {
    let mut screen = Screen::new(settings());
    let call = |item: &str| Event::Agent {
        turn: TurnId::new("trn_1"),
        role: Role::Planner,
        news: AgentActivity::ToolStarted {
            item: item.to_owned(),
            tool: ToolKind::Edit,
            title: "/src/calculator/calc.py".to_owned(),
            detail: None,
        },
    };
    screen.on_event(NOW, &call("1"));
    screen.on_settings(crate::tui::ScreenSettings {
        repository: "/src/calculator".to_owned(),
        ..settings()
    });
    screen.on_event(NOW, &call("2"));
    let seen = drawn(&mut screen, (80, 24), Some(&reviewing()));
    assert_eq!(seen.matches("Edit calc.py").count(), 2, "{seen}");
}

#[test]
fn a_demo_says_in_one_line_what_it_is_and_what_to_press() {
    let demo = |appearance: crate::tui::ScreenAppearance| {
        let mut screen = Screen::new(crate::tui::ScreenSettings {
            demo: true,
            appearance,
            ..settings()
        });
        screen.on_event(UnixMillis(0), &Event::RunCreated(Box::new(created())));
        drawn(&mut screen, (120, 40), Some(&state(Phase::RefineGoal)))
    };
    let with_keys = crate::tui::ScreenAppearance::default();
    let seen = demo(with_keys.clone());
    let line = "Demo: two scripted agents play codex and claude, no model is called.";
    assert!(seen.contains(line), "{seen}");
    assert!(seen.contains("Enter takes the marked answer"), "{seen}");
    let seen = demo(with_keys.for_lines());
    assert!(
        seen.contains(line) && !seen.contains("Enter takes"),
        "{seen}"
    );
}
