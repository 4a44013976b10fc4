//! Tests from keys to actions.

use super::world::{
    approving, asking, drawn, order, press, press_at, questions, running, screen, settings, state,
};
use crate::domain::event::Event;
use crate::domain::ids::RequestId;
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::question::{QuestionAnswer, QuestionAsker, QuestionKind};
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::TurnPurpose;
use crate::permission::MaxApprovalScope;
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::all_rows;
use crate::tui::keymap::ComposerFocus;
use crate::tui::{
    Action, MissingRequirement, NextRunSettings, RequirementSeverity, RunCompletion, Screen,
    ScreenSettings, WelcomeInfo, dialogs,
};

/// Presses keys on a screen without composer focus; checks the actions, or else the toast.
fn check(state: Option<&RunState>, keys: &[&str], wanted: &str) {
    let mut screen = screen();
    screen.composer.leave_to_view();
    check_on(&mut screen, state, keys, wanted);
}

fn check_on(screen: &mut Screen, state: Option<&RunState>, keys: &[&str], wanted: &str) {
    let actions = press(screen, state, keys);
    let mut found = actions.iter().map(|a| format!("{a:?}")).collect::<Vec<_>>();
    found.extend(screen.toast.text.iter().map(|toast| format!("! {toast}")));
    assert_eq!(found.join("; "), wanted, "{keys:?}");
}

pub fn question(name: &str) -> RunState {
    let found = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == name);
    let (phase, kind) = found.unwrap();
    asking(phase, kind)
}

#[test]
fn enter_releases_a_turn_and_twice_where_that_is_wanted() {
    let gated = question("gate");
    check(Some(&gated), &["<enter>"], "Event(TurnSendConfirmed)");
    check(Some(&gated), &["g"], "Event(TurnSendConfirmed)");
    check(Some(&gated), &["a"], "Event(GateChanged { gate: Auto })");
    let settings = ScreenSettings {
        confirm_enter: true,
        ..settings()
    };
    let mut asked_twice = Screen::new(settings);
    check_on(&mut asked_twice, Some(&gated), &["<enter>"], "");
    check_on(
        &mut asked_twice,
        Some(&gated),
        &["<enter>"],
        "Event(TurnSendConfirmed)",
    );
}

#[test]
fn a_call_is_allowed_once_or_for_longer_or_refused_with_a_word() {
    let state = approving(&["npm install left-pad"]);
    let answer = |answer: &str| format!("AnswerApproval {{ call: 1, answer: {answer} }}");
    let check_answer = |keys: &[&str], wanted: &str| check(Some(&state), keys, &answer(wanted));
    check_answer(&["y"], "AllowOnce");
    check_answer(&["n"], "DenyAndStop");
    check_answer(&["<enter>"], "DenyAndStop");
    let kept =
        |what: &str, scope: &str| format!("AllowAndRemember {{ what: [{what}], scope: {scope} }}");
    check_answer(&["r", "e"], &kept("Exact(\"npm install left-pad\")", "Run"));
    check_answer(&["l", "a"], &kept("Pattern(\"npm install *\")", "Project"));
    check_answer(
        &["w", "use the one that is here", "<enter>"],
        "DenyWithReason(\"use the one that is here\")",
    );
    // The suggested pattern is in the composer, so that the user can narrow it.
    check_answer(
        &["r", "o", "-D", "<enter>"],
        &kept("Pattern(\"npm install *-D\")", "Run"),
    );
    check_answer(
        &["/reject not now", "<enter>"],
        "DenyWithReason(\"not now\")",
    );
    let mut never = state.clone();
    never.approvals[0].keeping = MaxApprovalScope::Never;
    never.approvals[0].offers.clear();
    check(Some(&never), &["r"], "");
    let mut run = state.clone();
    run.approvals[0].keeping = MaxApprovalScope::Run;
    check(Some(&run), &["l"], "");
}

#[test]
fn a_proposed_text_is_put_behind_nothing_and_goes_when_it_is_left() {
    let state = approving(&["npm install left-pad"]);
    let mut screen = screen();
    screen.composer.editor.set_text("fix the te");
    screen.composer.leave_to_view();
    let word = "! Send or delete your text first.";
    check_on(&mut screen, Some(&state), &["r", "o"], word);
    assert_eq!(screen.composer.editor.text(), "fix the te");
    assert_eq!(
        (screen.composer.draft, screen.dialogs.own.is_some()),
        (None, true)
    );
    screen.composer.editor.set_text("");
    press(&mut screen, Some(&state), &["o"]);
    assert_eq!(screen.composer.editor.text(), "npm install *");
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.composer.editor.is_empty());
    assert_eq!(
        (screen.composer.draft, screen.composer.focus),
        (None, ComposerFocus::Unfocused)
    );
}

#[test]
fn a_text_about_a_call_is_not_taken_for_another_call() {
    let state = approving(&["ls"]);
    let mut other = state.clone();
    // Its CLI gives it the same name as the previous request.
    other.approvals[0].n = 2;
    let mut screen = screen();
    screen.composer.leave_to_view();
    check_on(&mut screen, Some(&state), &["w", "no"], "");
    check_on(
        &mut screen,
        Some(&other),
        &["<enter>"],
        "! You cannot send this now: that request is no longer pending",
    );
}

#[test]
fn a_text_whose_addressee_changed_is_sent_by_a_second_enter() {
    let working = running(Phase::WritePlan, TurnPurpose::WritePlan);
    let mut screen = screen();
    check_on(&mut screen, Some(&working), &["keep it small"], "");
    let gated = question("gate");
    let refused = "! Not sent. The turn has changed. Enter again: add to the reviewer's turn";
    check_on(&mut screen, Some(&gated), &["<enter>"], refused);
    assert_eq!(screen.composer.editor.text(), "keep it small");
    assert_eq!(press(&mut screen, Some(&gated), &["<enter>"]).len(), 1);
}

#[test]
fn a_text_at_a_turn_that_failed_goes_with_the_next_try() {
    let mut n_kinds = 0;
    for (phase, kind) in questions() {
        let Some(role) = kind.retried_role() else {
            continue;
        };
        n_kinds += 1;
        let name = kind.name();
        let asked = asking(phase, kind);
        let mut screen = screen();
        let typed = press(&mut screen, Some(&asked), &["i", "use the other pad"]);
        assert_eq!(typed, [], "{name}");
        let seen = super::world::drawn(&mut screen, (80, 24), Some(&asked));
        let enter = format!("Enter: retry the {}'s turn with this text", role.name());
        assert!(seen.contains(&enter), "{name}: {seen}");
        let actions = press(&mut screen, Some(&asked), &["<enter>"]);
        let [
            Action::Event(Event::MessageQueued { to: None, text }),
            Action::Event(Event::QuestionAnswered { answer, .. }),
        ] = &actions[..]
        else {
            panic!("{name}: {actions:?}");
        };
        assert_eq!(
            (text.as_str(), answer),
            ("use the other pad", &QuestionAnswer::Retry)
        );
    }
    assert_eq!(n_kinds, 7);
}

#[test]
fn a_key_that_was_meant_for_something_else_decides_about_no_call() {
    let state = approving(&["ls"]);
    let mut screen = screen();
    screen.composer.leave_to_view();
    let at = |ms: i64| crate::domain::ids::UnixMillis(super::world::NOW.0 + ms);
    screen.on_time(at(0));
    super::world::drawn(&mut screen, (80, 24), Some(&state));
    let y =
        ratatui::crossterm::event::KeyEvent::from(ratatui::crossterm::event::KeyCode::Char('y'));
    // A key is ignored right after the dialog appears and while keys arrive quickly: the dialog must be
    // visible for a while, and then no key may come for a while.
    for (ms, n_actions) in [(0, 0), (149, 0), (200, 0), (299, 0), (399, 1)] {
        screen.on_time(at(ms));
        assert_eq!(screen.on_key(y, Some(&state)).len(), n_actions, "{ms} ms");
    }
}

#[test]
fn a_key_in_the_air_releases_no_turn_and_changes_no_gate() {
    let gated = question("gate");
    let mut screen = screen();
    screen.composer.leave_to_view();
    let at = |ms: i64| crate::domain::ids::UnixMillis(super::world::NOW.0 + ms);
    screen.on_time(at(-400));
    check_on(&mut screen, None, &["<left>"], "");
    screen.on_time(at(0));
    // It looks as it will when it takes keys, and says so only after one that it did not take.
    let early = super::world::drawn(&mut screen, (80, 24), Some(&gated));
    assert!(early.contains("▸Send  G"), "{early}");
    assert!(early.contains("←→ choose"), "{early}");
    assert!(!early.contains("Wait a moment"), "{early}");
    assert_eq!(
        screen.guard_remaining(),
        Some(std::time::Duration::from_millis(100))
    );
    check_on(&mut screen, Some(&gated), &["<enter>", "g", "a"], "");
    let deaf = super::world::drawn(&mut screen, (80, 24), Some(&gated));
    assert!(
        deaf.contains("Wait a moment, so that you can read it"),
        "{deaf}"
    );
    screen.on_time(at(100));
    assert_eq!(screen.guard_remaining(), None);
    let awake = super::world::drawn(&mut screen, (80, 24), Some(&gated));
    assert!(!awake.contains("Wait a moment"), "{awake}");
    // Once it accepts keys, it accepts all of them.
    check_on(
        &mut screen,
        Some(&gated),
        &["<down>", "<up>", "<enter>"],
        "Event(TurnSendConfirmed)",
    );
}

#[test]
fn who_pressed_no_key_before_a_dialog_is_heard_at_once() {
    let gated = question("gate");
    let mut screen = screen();
    screen.composer.leave_to_view();
    let at = |ms: i64| crate::domain::ids::UnixMillis(super::world::NOW.0 + ms);
    screen.on_time(at(-401));
    check_on(&mut screen, None, &["<left>"], "");
    screen.on_time(at(0));
    super::world::drawn(&mut screen, (80, 24), Some(&gated));
    check_on(
        &mut screen,
        Some(&gated),
        &["<enter>"],
        "Event(TurnSendConfirmed)",
    );
}

#[test]
fn modes_are_gone_through_by_a_key_and_yolo_is_asked_for_by_name() {
    let mode = |mode| {
        let mut state = question("gate");
        state.mode = mode;
        state
    };
    let key = |from, to: &str| {
        let wanted = format!("Event(ModeChanged {{ mode: {to} }})");
        check(Some(&mode(from)), &["<s-tab>"], &wanted);
    };
    key(Mode::Default, "AutoEdit");
    key(Mode::AutoEdit, "Plan");
    key(Mode::Plan, "Default");
    key(Mode::Yolo, "Default");
    let mut screen = screen();
    let default = mode(Mode::Default);
    check_on(&mut screen, Some(&default), &["/yolo", "<enter>"], "");
    // Enter alone does not confirm.
    let mut refusing = super::world::screen();
    check_on(
        &mut refusing,
        Some(&default),
        &["/yolo", "<enter>", "<enter>"],
        "",
    );
    check_on(
        &mut screen,
        Some(&default),
        &["y"],
        "Event(ModeChanged { mode: Yolo })",
    );
    check(None, &["<s-tab>"], "! No run yet. Write the goal first.");
}

#[test]
fn letters_are_text_while_the_user_writes() {
    let gated = question("gate");
    let mut screen = screen();
    check_on(&mut screen, Some(&gated), &["i", "gapsxeduvtyn1?q"], "");
    assert_eq!(screen.composer.editor.text(), "gapsxeduvtyn1?q");
    check_on(
        &mut screen,
        Some(&gated),
        &["<esc>", "a"],
        "Event(GateChanged { gate: Auto })",
    );
}

#[test]
fn gate_stop_and_interrupt_have_their_keys() {
    let reviewing = running(Phase::Review, TurnPurpose::Review);
    check(
        Some(&reviewing),
        &["A"],
        "! Press A again to send turns without asking, or I to write a text.",
    );
    check(
        Some(&reviewing),
        &["a", "h", "a"],
        "! Press A again to send turns without asking, or I to write a text.",
    );
    check(
        Some(&reviewing),
        &["A", "A"],
        "Event(GateChanged { gate: Auto })",
    );
    check(Some(&reviewing), &["p"], "! Already in Manual.");
    check(Some(&reviewing), &["x"], "Event(InterruptRequested)");
    check(Some(&reviewing), &["S"], "");
    check(Some(&reviewing), &["S", "<enter>"], "");
    check(Some(&reviewing), &["S", "<esc>"], "");
    check(Some(&reviewing), &["S", "y"], "Event(RunStopped)");
    check_on(
        &mut screen(),
        Some(&reviewing),
        &["<c-x>"],
        "Event(InterruptRequested)",
    );
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 1 });
    check(Some(&executing), &["s"], "");
    check(Some(&executing), &["s", "<enter>"], "");
    check(Some(&executing), &["s", "y"], "Event(RunStopped)");
    check(
        Some(&executing),
        &["u"],
        "! a turn is running: wait or interrupt it (X), then undo",
    );
}

#[test]
fn ctrl_c_asks_where_something_works_and_the_second_one_kills() {
    let reviewing = running(Phase::Review, TurnPurpose::Review);
    check(Some(&reviewing), &["<c-c>"], "");
    // Nothing was changed: the same key asks again.
    check(
        Some(&reviewing),
        &["<c-c>", "<esc>", "<c-c>", "<enter>", "<c-c>", "n"],
        "",
    );
    check(Some(&reviewing), &["<c-c>", "<c-c>"], "Quit(Now)");
    check(Some(&reviewing), &["<c-c>", "y"], "Quit(Ask)");
    check(
        Some(&reviewing),
        &["<c-c>", "y", "<c-c>"],
        "Quit(Ask); Quit(Now)",
    );
    check_on(
        &mut screen(),
        Some(&reviewing),
        &["half a word", "<c-c>", "<c-c>"],
        "Quit(Now)",
    );
    let mut busy = state(Phase::Approved);
    busy.busy = Some(ProgramOperation::Entering);
    check(Some(&busy), &["<c-c>", "<c-c>"], "Quit(Now)");
    let gated = question("gate");
    check(Some(&gated), &["<c-c>"], "Quit(Ask)");
    check_on(&mut screen(), None, &["/quit", "<enter>"], "Quit(Ask)");
}

#[test]
fn a_stray_enter_allows_and_executes_nothing() {
    let call = approving(&["make"]);
    check(
        Some(&call),
        &["<enter>"],
        "AnswerApproval { call: 1, answer: DenyAndStop }",
    );
    check(
        Some(&call),
        &["y"],
        "AnswerApproval { call: 1, answer: AllowOnce }",
    );
    check(Some(&question("execute")), &["<enter>"], "");
    check(
        Some(&question("execute")),
        &["m"],
        "Event(QuestionAnswered { id: 7, answer: Execute })",
    );
    let mut writing = screen();
    check_on(&mut writing, Some(&call), &["i", "<enter>"], "");
    assert_eq!(writing.composer.focus, ComposerFocus::Unfocused);
}

#[test]
fn a_dialog_that_was_not_drawn_yet_takes_no_key() {
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    let mut screen = screen();
    screen.composer.leave_to_view();
    let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
    assert_eq!(screen.on_key(enter, Some(&question("gate"))), []);
}

#[test]
fn what_is_typed_behind_a_key_that_opened_no_composer_decides_nothing() {
    let execute = question("execute");
    let mut screen = super::pictures::not_writing();
    let at = |ms| crate::domain::ids::UnixMillis(super::world::NOW.0 + ms);
    screen.on_time(at(0));
    drawn(&mut screen, (80, 24), Some(&execute));
    screen.on_time(at(1_000));
    // No discussion has a result that could be quoted.
    assert_eq!(
        press(&mut screen, Some(&execute), &["\"yes it is", "<enter>"]),
        []
    );
    assert!(screen.dialogs.own.is_none() && screen.composer.focus == ComposerFocus::Unfocused);
    let seen = drawn(&mut screen, (80, 24), Some(&execute));
    assert!(
        seen.contains("No discussion of this run has finished yet."),
        "{seen}"
    );
    screen.on_time(at(1_300));
    assert_eq!(press(&mut screen, Some(&execute), &["y"]), []);
    screen.on_time(at(2_000));
    assert_ne!(press(&mut screen, Some(&execute), &["y"]), []);
}

#[test]
fn dialogs_take_texts() {
    let execute = question("execute");
    check(
        Some(&execute),
        &["n", "use a map", "<enter>"],
        "Event(QuestionAnswered { id: 7, answer: RequestChanges { text: \"use a map\" } })",
    );
    check(
        Some(&execute),
        &["/changes shorter", "<enter>"],
        "Event(QuestionAnswered { id: 7, answer: RequestChanges { text: \"shorter\" } })",
    );
    let cap = question("arbitration");
    check(
        Some(&cap),
        &["<enter>", "3", "<enter>"],
        "Event(QuestionAnswered { id: 7, answer: MoreIterations { n: 3 } })",
    );
    check(
        Some(&cap),
        &["m", "x", "<enter>"],
        "! Write a number from 1 to 1000.",
    );
    check(
        Some(&cap),
        &["f", "y"],
        "Event(QuestionAnswered { id: 7, answer: ForcePass })",
    );
    check(Some(&cap), &["c", "y"], "Event(RunCancelled)");
    check(
        Some(&question("question")),
        &["1", "<enter>", "w", "3.13", "<enter>"],
        "Event(QuestionAnswered { id: 7, answer: Texts { answers: {\"Which Python?\": \"3.13\", \"空列表应该返回 0 吗? Shall an empty list give 0, or shall it be an error?\": \"give 0\"} } })",
    );
}

#[test]
fn without_a_reviewer_no_key_names_one_and_choosing_it_says_why() {
    let mut screen = Screen::new(ScreenSettings {
        next_run: NextRunSettings {
            reviewer: None,
            ..settings().next_run
        },
        ..settings()
    });
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(
        seen.contains("Enter send") && !seen.contains("F2"),
        "{seen}"
    );
    let done = press(&mut screen, None, &["<f2>"]);
    assert_eq!(done, []);
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(
        seen.contains("There is no reviewer: roles.reviewer is"),
        "{seen}"
    );
    let mut refining = state(Phase::RefineGoal);
    refining.reviewer = None;
    let seen = drawn(&mut screen, (120, 40), Some(&refining));
    assert!(seen.contains("Message the planner · /go"), "{seen}");
}

#[test]
fn texts_go_to_whoever_takes_them() {
    let mut fresh = Screen::new(settings());
    check_on(
        &mut fresh,
        None,
        &["sum lists", "<enter>"],
        "NewRun { goal: \"sum lists\", refiner: Planner }",
    );
    check_on(
        &mut fresh,
        None,
        &["<f2>", "again", "<enter>"],
        "NewRun { goal: \"again\", refiner: Reviewer }",
    );
    let refining = state(Phase::RefineGoal);
    check_on(
        &mut screen(),
        Some(&refining),
        &["also lists", "<enter>"],
        "Event(GoalMessageAdded { text: \"also lists\" })",
    );
    let reviewing = running(Phase::Review, TurnPurpose::Review);
    let told = "Event(Steered { text: \"look at the tests too\" })";
    check_on(
        &mut screen(),
        Some(&reviewing),
        &["look at the tests too", "<enter>"],
        told,
    );
    let talking = running(
        Phase::RefineGoal,
        TurnPurpose::RefineGoal {
            said: String::new(),
            by: crate::domain::turn::Role::Planner,
        },
    );
    check_on(
        &mut screen(),
        Some(&talking),
        &["/steer look at the tests too", "<enter>"],
        told,
    );
    let mut unknown = screen();
    check_on(
        &mut unknown,
        Some(&reviewing),
        &["/aprove", "<esc>", "<enter>"],
        "! /aprove is not a command. Did you mean /approve? /help lists all.",
    );
    assert_eq!(unknown.composer.editor.text(), "/aprove");
}

#[test]
fn what_nobody_can_take_now_goes_with_the_next_turn() {
    let resting = state(Phase::Review);
    let kept = "Event(MessageQueued { to: None, text: \"hello\" })";
    check_on(&mut screen(), Some(&resting), &["hello", "<enter>"], kept);
    let gate = QuestionKind::Gate {
        order: order(TurnPurpose::Review),
    };
    let at_gate = asking(Phase::Review, gate);
    check_on(
        &mut screen(),
        Some(&at_gate),
        &["i", "hello", "<enter>"],
        kept,
    );
    check_on(
        &mut screen(),
        Some(&at_gate),
        &["i", "/steer hello", "<enter>"],
        kept,
    );
    let mut said = at_gate;
    let words = serde_json::json!([{ "text": "please use awk" }]);
    said.kept = serde_json::from_value(words).unwrap();
    let seen = drawn(&mut super::pictures::not_writing(), (120, 40), Some(&said));
    assert!(seen.contains("With your message"), "{seen}");
}

#[test]
fn the_goal_is_confirmed_as_it_stands() {
    let refining = state(Phase::RefineGoal);
    let wanted = "Event(GoalConfirmed { title: \"Sums\", text: \"# Sums\\n\\nlists too\" })";
    let mut screen = screen();
    screen.dialogs.proposed_goal = Some("# Sums\n\nlists too\n".to_owned());
    screen.composer.leave_to_view();
    check_on(&mut screen, Some(&refining), &["<enter>"], wanted);
    check_on(&mut screen, Some(&refining), &["/go", "<enter>"], wanted);
}

#[test]
fn a_dialogs_letter_never_means_another_thing_outside_of_it() {
    // Some letters mean the same inside and outside on purpose: go, view, auto, edit, diff, write. Where a
    // run of the history is resumed, no run asks a question.
    let same = ["go", "view", "auto", "edit", "diff", "write", "resume"];
    for (phase, kind) in questions() {
        let state = asking(phase, kind);
        let name = state.awaiting.as_ref().map(|q: &_| q.kind.name()).unwrap();
        let picked = std::collections::BTreeMap::new();
        let known = dialogs::DialogContext {
            shows_prompt: false,
            exact_call: None,
            preview: None,
            versions: &[],
            proposed_goal: None,
            goal_before: None,
            picked_answers: &picked,
            ticked_answers: &std::collections::BTreeMap::new(),
            noted_line: None,
            documents: &Default::default(),
            clock: Default::default(),
            confirm_enter: false,
        };
        let sheet = dialogs::pending_dialog(&state, &known).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for choice in &sheet.choices {
            assert!(seen.insert(choice.key), "{name}: {} twice", choice.key);
            // A number only selects.
            if choice.key.is_ascii_digit() {
                continue;
            }
            let outside = all_rows().find(|binding| {
                binding
                    .keys
                    .iter()
                    .any(|key| key.label() == choice.key.to_ascii_uppercase().to_string())
            });
            if let Some(outside) = outside {
                // In a dispute each side has its own letter.
                let is_side = name == "dispute" && outside.hint == "pause";
                assert!(
                    is_side || same.contains(&outside.hint),
                    "{name}: {} is {}",
                    choice.key,
                    outside.help
                );
            }
        }
    }
}

#[test]
fn every_word_of_a_question_answers_it() {
    for (phase, kind) in questions() {
        if matches!(kind, QuestionKind::Gate { .. }) {
            continue;
        }
        for word in kind.choices() {
            let word = word.replace("more:N", "more:2").replace("TEXT", "text");
            let state = asking(phase, kind.clone());
            let mut screen = screen();
            let typed = format!("/answer {word}");
            let actions = press(&mut screen, Some(&state), &[&typed, "<enter>"]);
            let is_asked_again = screen.dialogs.own.is_some();
            assert!(
                !actions.is_empty() || is_asked_again,
                "{} {word}",
                kind.name()
            );
        }
    }
}

#[test]
fn tabs_that_fold_are_folded_again_by_their_digit() {
    let mut screen = screen();
    screen.composer.leave_to_view();
    press(&mut screen, None, &["4"]);
    assert_eq!(screen.tabs.view.shown, crate::tui::tab_kind::TabKind::Log);
    press(&mut screen, None, &["4"]);
    assert_eq!(screen.tabs.view.shown, crate::tui::tab_kind::TabKind::Chat);
    press(&mut screen, None, &["<tab>", "<tab>", "<tab>"]);
    assert_eq!(screen.tabs.view.shown, crate::tui::tab_kind::TabKind::Chat);
}

#[test]
fn a_screen_that_only_looks_refuses_every_command_that_acts() {
    let gated = question("gate");
    let read_only = || {
        Screen::new(ScreenSettings {
            read_only: Some(crate::tui::ReadOnlyStatus {
                badge: "b".to_owned(),
                reason: "used by process 4711, continue there".to_owned(),
                owner_activity: crate::tui::OwnerActivity::Working,
                resumable_run: None,
            }),
            ..settings()
        })
    };
    let refused = "! read-only: used by process 4711, continue there";
    for key in [
        "g", "a", "p", "x", "s", "e", "u", "i", ";", "-", "<f2>", "<enter>", "/",
    ] {
        check_on(&mut read_only(), Some(&gated), &[key], refused);
    }
    let mut pasted = read_only();
    pasted.on_paste("rm -rf /");
    assert!(pasted.composer.editor.is_empty());
    check_on(
        &mut read_only(),
        Some(&gated),
        &["y", "n", "2", "j", "?"],
        "",
    );
    check_on(&mut read_only(), Some(&gated), &["<esc>"], "CloseView");
    check_on(
        &mut read_only(),
        Some(&gated),
        &["?", "<esc>", "q"],
        "CloseView",
    );
    check_on(&mut read_only(), Some(&gated), &["<c-c>"], "Quit(Ask)");
    let mut free = read_only();
    free.ask_to_take_over();
    check_on(&mut free, Some(&gated), &["<esc>"], "");
    free.ask_to_take_over();
    check_on(&mut free, Some(&gated), &["<enter>"], "TakeOver");
}

#[test]
fn a_view_says_that_the_run_behind_it_waits_and_goes_there() {
    let gated = question("gate");
    let works = running(Phase::Review, TurnPurpose::Review);
    let past = state(Phase::Done);
    let mut own = screen();
    let mut view = screen();
    let word = "Your run is waiting for you";
    let size = (80, 24);
    view.on_covered_screen_status(own.update_covered_status(Some(&works)));
    let seen = drawn(&mut view, size, Some(&past));
    assert!(!seen.contains(word), "{seen}");
    let outside = own.update_covered_status(Some(&gated));
    assert!(outside.alert.is_some() && outside.title.starts_with("? "));
    view.on_covered_screen_status(outside);
    assert!(view.is_dirty());
    for state in [None, Some(&past)] {
        for size in [(40, 12), (80, 24), (120, 40)] {
            let seen = drawn(&mut view, size, state);
            assert!(seen.contains(word), "{seen}");
        }
    }
    let actions = view.perform_command(ScreenCommand::GoToWaitingDialog, Some(&past));
    assert_eq!(actions, [Action::CloseView]);
}

#[test]
fn an_unfinished_run_of_the_history_is_taken_up_again_from_the_list_and_from_its_view() {
    let run = |name: &str, rest| crate::tui::RunListEntry {
        name: name.to_owned(),
        date: "2026-11-21".to_owned(),
        ended: "unfinished in Review".to_owned(),
        about: "it".to_owned(),
        progress: String::new(),
        short_result: String::new(),
        completion: rest,
    };
    let listed = |rests: &[RunCompletion]| {
        let runs = ["one", "two", "three"].into_iter().zip(rests);
        let runs: Vec<_> = runs.map(|(name, rest)| run(name, *rest)).collect();
        let mut screen = screen();
        screen.show_run_history(&runs);
        screen
    };
    let (over, left) = (RunCompletion::Complete, RunCompletion::Unfinished);
    let back = "BringBack(\"two\")";
    check_on(&mut listed(&[over, left]), None, &["r", "<enter>"], back);
    check_on(&mut listed(&[over, left]), None, &["r", "n"], "");
    let several = [left, left, over];
    check_on(&mut listed(&several), None, &["r", "2", "y"], back);
    check_on(&mut listed(&several), None, &["2"], "OpenRun(\"two\")");
    let none = "! This key does not work in the list. Press Esc first.";
    check_on(&mut listed(&[over, over]), None, &["r"], none);
    let looked_at = |again| {
        Screen::new(ScreenSettings {
            read_only: Some(crate::tui::ReadOnlyStatus {
                badge: "b".to_owned(),
                reason: "used by process 4711, continue there".to_owned(),
                owner_activity: crate::tui::OwnerActivity::Idle,
                resumable_run: again,
            }),
            ..settings()
        })
    };
    let reviewing = state(Phase::Review);
    let mut open = looked_at(Some(run("two", left)));
    assert!(drawn(&mut open, (80, 24), Some(&reviewing)).contains("R resume"));
    check_on(&mut open, Some(&reviewing), &["r", "<esc>"], "");
    check_on(&mut open, Some(&reviewing), &["r", "y"], back);
    for (again, is_blocked) in [(Some(run("two", left)), false), (None, true)] {
        let mut open = looked_at(again);
        press(&mut open, Some(&reviewing), &["<c-p>", "resume"]);
        let seen = drawn(&mut open, (80, 24), Some(&reviewing));
        assert!(seen.contains("Resume an unfinished run"), "{seen}");
        assert_eq!(seen.contains("a run is open"), is_blocked, "{seen}");
    }
    let mut open = looked_at(None);
    assert!(!drawn(&mut open, (80, 24), Some(&reviewing)).contains("take up again"));
    // The letter does not decide about the run that the dialog asks about.
    let mut asked = screen();
    asked.composer.leave_to_view();
    asked.ask_to_resume("a run");
    check_on(&mut asked, None, &["r"], "");
}

#[test]
fn a_run_is_written_down_by_key_and_command_also_where_it_is_only_looked_at() {
    let done = state(Phase::Done);
    let word = "! Writing the page …";
    let exported = |form: &str| format!("ExportRun({form}); {word}");
    check(Some(&done), &["<c-s>"], &exported("Html"));
    for (typed, form) in [
        ("/export", "Html"),
        ("/export html", "Html"),
        ("/export md", "Markdown"),
    ] {
        check_on(
            &mut screen(),
            Some(&done),
            &[typed, "<enter>"],
            &exported(form),
        );
    }
    let wrong = "! /export takes `html` or `md`; alone it writes HTML";
    check_on(
        &mut screen(),
        Some(&done),
        &["/export pdf", "<enter>"],
        wrong,
    );
    let none = "! No run to export yet. /history lists earlier runs.";
    check(None, &["<c-s>"], none);
}

#[test]
fn a_finished_run_is_opened_by_its_digit_and_the_dialog_of_the_start_stays() {
    let run = |name: &str| crate::tui::RunListEntry {
        name: name.to_owned(),
        date: "2026-11-21".to_owned(),
        ended: "Done".to_owned(),
        about: "it".to_owned(),
        progress: String::new(),
        short_result: String::new(),
        completion: crate::tui::RunCompletion::Complete,
    };
    let mut screen = screen();
    screen.ask_to_resume("a run");
    check_on(&mut screen, None, &["/history", "<enter>"], "ShowHistory");
    let mut screen = Screen::new(settings());
    screen.ask_to_resume("a run");
    screen.show_run_history(&[run("one"), run("two")]);
    check_on(&mut screen, None, &["2"], "OpenRun(\"two\")");
    assert!(screen.dialogs.unfinished_run.is_some());
}

#[test]
fn whoever_starts_anew_writes_the_goal_next() {
    let mut screen = Screen::new(settings());
    screen.ask_to_resume("a run");
    check_on(&mut screen, None, &["n"], "Archive");
    check_on(
        &mut screen,
        None,
        &["a", "e", "<enter>"],
        "NewRun { goal: \"ae\", refiner: Planner }",
    );
}

#[test]
fn shift_tab_goes_through_the_modes_but_yolo_wherever_one_is() {
    use crate::domain::event::Event;
    use crate::tui::Action;
    for writing in [ComposerFocus::Unfocused, ComposerFocus::Focused] {
        let mut state = running(Phase::Review, TurnPurpose::Review);
        let mut screen = screen();
        screen.composer.focus = writing;
        state.mode = Mode::Yolo;
        let mut told = Vec::new();
        for _ in 0..4 {
            let actions = press(&mut screen, Some(&state), &["<s-tab>"]);
            let [Action::Event(Event::ModeChanged { mode })] = actions.as_slice() else {
                panic!("{actions:?}");
            };
            state.mode = *mode;
            told.push(mode.name());
            let seen = drawn(&mut screen, (120, 30), Some(&state));
            assert!(seen.contains(mode.label()), "{seen}");
        }
        assert_eq!(told, ["default", "auto-edit", "plan", "default"]);
    }
}

#[test]
fn code_is_copied_block_by_block_from_the_last_one_up() {
    use super::world::NOW;
    use crate::domain::event::{AgentActivity, Event};
    use crate::domain::ids::TurnId;
    use crate::domain::turn::Role;
    let state = running(Phase::Review, TurnPurpose::Review);
    let mut screen = screen();
    screen.composer.leave_to_view();
    let says = |screen: &mut Screen, text: &str| {
        let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
        let news = AgentActivity::Text {
            text: text.to_owned(),
        };
        screen.on_event(NOW, &Event::Agent { turn, role, news });
    };
    let none = "! No code here. Select a block with code.";
    check_on(&mut screen, Some(&state), &["<a-y>"], none);
    says(
        &mut screen,
        "so:\n\n```sh\nmake\n```\n\nor\n\n```sh\ncd x\nmake\n```\n",
    );
    says(&mut screen, "```py\nsum([])\n```\n");
    says(&mut screen, "and no code");
    let mut check = |code: &str, told: &str| {
        let toast = format!("! Copied: {told}");
        let wanted = format!("Copy({code:?}); {toast}");
        check_on(&mut screen, Some(&state), &["<a-y>"], &wanted);
    };
    let from_the_last = |at, lines| format!("code block {at} of 3, counted from the last, {lines}");
    check("sum([])\n", &from_the_last(1, "1 line"));
    check("cd x\nmake\n", &from_the_last(2, "2 lines"));
    check("make\n", &from_the_last(3, "1 line"));
    // Above the first one, the selection wraps around to the last.
    check("sum([])\n", &from_the_last(1, "1 line"));
    // A selected block has its own code.
    press(&mut screen, Some(&state), &[",", ","]);
    let one = "Copy(\"sum([])\\n\"); ! Copied: 1 line of code";
    check_on(&mut screen, Some(&state), &["<a-y>"], one);
}

#[test]
fn several_answers_to_one_question_are_ticked_and_given_together() {
    let kind = QuestionKind::Agent {
        request: Some(RequestId::new("q")),
        questions: vec![super::monkey::several()],
        asker: QuestionAsker::Role {
            purpose: TurnPurpose::WritePlan,
        },
    };
    let state = Some(asking(Phase::WritePlan, kind));
    let mut screen = screen();
    screen.composer.leave_to_view();
    drawn(&mut screen, (80, 24), state.as_ref());
    // Selecting an answer twice deselects it.
    for keys in [&["1"], &["2"], &["2"], &["3"]] {
        check_on(&mut screen, state.as_ref(), keys, "");
    }
    check_on(
        &mut screen,
        state.as_ref(),
        &["g"],
        r#"Event(QuestionAnswered { id: 7, answer: Texts { answers: {"Which systems are supported?": "Linux, Windows"} } })"#,
    );
    assert!(screen.dialogs.ticked_answers.is_empty());
}

#[test]
fn before_a_run_the_box_says_who_gets_the_goal_and_suggestions_are_below_it() {
    let mut screen = Screen::new(ScreenSettings {
        next_run: NextRunSettings {
            gate: Gate::Auto,
            mode: Mode::AutoEdit,
            ..settings().next_run
        },
        ..settings()
    });
    screen.on_welcome(WelcomeInfo {
        missing: vec![MissingRequirement {
            problem: "You are not logged in to codex".to_owned(),
            remedy: "Run `codex login`.".to_owned(),
            severity: RequirementSeverity::Degrading,
        }],
        ..WelcomeInfo::default()
    });
    let row = |seen: &str, text: &str| seen.lines().position(|row| row.contains(text));
    let seen = drawn(&mut screen, (120, 40), None);
    let line = seen
        .lines()
        .find(|row| row.contains("Planner  codex   Auto-edit"));
    assert!(line.is_some_and(|row| row.ends_with(" Auto")), "{seen}");
    // A run can start all the same.
    assert!(
        seen.contains("Ready") && !seen.contains("Not ready"),
        "{seen}"
    );
    press_at(&mut screen, (120, 40), None, &["<f2>"]);
    let seen = drawn(&mut screen, (120, 40), None);
    assert!(seen.contains("Reviewer  claude   Auto-edit"), "{seen}");
    press_at(&mut screen, (120, 40), None, &["/"]);
    let seen = drawn(&mut screen, (120, 40), None);
    let first = row(&seen, "▸ /goal").unwrap();
    assert!(
        row(&seen, "What should we build?").unwrap() < first,
        "{seen}"
    );
    assert!(row(&seen, "▌  /").unwrap() < first, "{seen}");
    // What needs a plan is not among the first.
    assert!(
        !seen.contains("/unnote") && !seen.contains("/jump"),
        "{seen}"
    );
    assert!(
        seen.lines().last().unwrap().contains("Ctrl+P commands"),
        "{seen}"
    );
}
