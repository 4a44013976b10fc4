//! Tests of Plan, Comments, Log and Status: full, empty and odd, at each size, and their keys.

use crate::tui::diff_view::DiffView;
use crate::tui::pager::TextPager;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Modifier;

use super::pictures::{check, not_writing};
use super::world::{
    NOW, PLAN, asking, drawn, note, press, press_at, questions, running, settings, state,
};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::findings::{FindingDisposition, FindingResponse, FindingSeverity, ReviewRemark};
use crate::domain::ids::{Sha256, TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::plan_thread::{ThreadAuthor, ThreadEntry, UserNote};
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::run_timeline::tests::example_timeline;
use crate::domain::todo_list::{TodoInput, TodoList};
use crate::domain::turn::TurnPurpose;
use crate::tui::finding_location::locate_finding;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::text_width;
use crate::tui::{Action, AdapterSandboxView, ColorTheme, RunDocumentFiles, Screen};

#[test]
fn the_comparison_takes_notes_on_its_lines_and_is_left_by_esc() {
    let state = asking_to_execute();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["2", "="]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("· = back"), "{seen}");
    // Without a selection, it refers to the first visible line, and no letter is a choice of the dialog.
    press(&mut screen, Some(&state), &[";yes"]);
    assert_eq!(screen.composer.editor.text(), "yes");
    let (line, quote) = screen.pointed_plan_line().unwrap();
    let begins: String = quote.chars().take(20).collect();
    assert!(seen.contains(&begins), "{line} {quote}");
    press(&mut screen, Some(&state), &["<esc>", "."]);
    let (next, _) = screen.pointed_plan_line().unwrap();
    assert!(next > line);
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.tabs.plan.view.compared_version().is_some());
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(screen.tabs.plan.view.compared_version().is_none());
    press(&mut screen, Some(&state), &["="]);
    let to = Phase::Execute;
    screen.on_event(
        NOW,
        &Event::PhaseChanged {
            from: Phase::Approved,
            to,
            reason: None,
        },
    );
    assert!(screen.tabs.plan.view.compared_version().is_none());
}

fn asking_to_execute() -> RunState {
    let (phase, kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute")
        .unwrap();
    asking(phase, kind)
}

#[test]
fn a_line_below_a_step_stands_at_its_text() {
    let plan = "# Goal\n\n1. [ ] write sum\n   with a second line\n\n   - a part\n\n## Then\n";
    let mut state = reviewing();
    state.plan.as_mut().unwrap().plan = crate::domain::plan::parse(plan).unwrap();
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        plan: Some(plan.to_owned()),
        ..RunDocumentFiles::default()
    });
    press(&mut screen, Some(&state), &["2"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    let at = |what: &str| {
        let line = seen.lines().find(|line| line.contains(what)).unwrap();
        line.split(what).next().map(text_width)
    };
    assert_eq!(at("with a second line"), at("write sum"), "{seen}");
    assert_eq!(at("• a part"), at("write sum"), "{seen}");
    assert_eq!(at("Then"), Some(3), "{seen}");
}

#[test]
fn where_nothing_can_be_pointed_at_a_key_says_so_and_stays() {
    let state = state(Phase::WritePlan);
    let mut screen = Screen::new(settings());
    for (tab, why) in [("2", "No plan to select"), ("3", "No findings to select")] {
        press(&mut screen, Some(&state), &["<esc>", tab, "."]);
        let seen = drawn(&mut screen, (80, 24), Some(&state));
        assert!(seen.contains(why), "{seen}");
        assert_ne!(screen.tabs.view.shown, crate::tui::tab_kind::TabKind::Chat);
    }
}

#[test]
fn a_step_that_is_not_there_has_no_diff_and_what_runs_is_not_resumed() {
    let state = long();
    let mut screen = not_writing();
    assert_eq!(
        press(&mut screen, Some(&state), &["/diff 99", "<enter>"]),
        []
    );
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("Step 99 changed nothing. Steps with changes: "),
        "{seen}"
    );
    assert!(!screen.overlays.has::<DiffView>());
    let mut screen = not_writing();
    assert_eq!(
        press(&mut screen, Some(&state), &["/resume", "<enter>"]),
        []
    );
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("A run is open. Cancel it"), "{seen}");
}

#[test]
fn commands_that_have_nothing_to_do_are_offered_last_and_far_names_are_not_guessed() {
    let mut state = state(Phase::Done);
    state.running = None;
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/st"]);
    let seen = drawn(&mut screen, (100, 40), Some(&state));
    let at = |what: &str| seen.find(what).unwrap();
    assert!(
        at("/status") < at("/stop") && at("/status") < at("/steer"),
        "{seen}"
    );
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/zzz", "<enter>"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("/zzz is not a command. /help lists all."),
        "{seen}"
    );
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["/interupt x", "<enter>"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("Did you mean /interrupt?"), "{seen}");
}

/// A run with a long history: reviewed twice, idle for hours, at its second step.
fn long() -> RunState {
    let mut state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let created = UnixMillis(NOW.0 - 9_300_000);
    state.created = created;
    state.course = example_timeline(created);
    state.planner.usage.context_tokens = Some(41_000);
    state.planner.usage.context_window = Some(258_400);
    let todo = |content: &str, status: &str| TodoInput {
        content: content.to_owned(),
        status: status.to_owned(),
        ..TodoInput::default()
    };
    let todos = [
        todo("read calc.py", "completed"),
        todo("写测试 🎉", "in_progress"),
        todo("run them", "pending"),
    ];
    state.planner.todos = TodoList::parse(todos.to_vec()).unwrap();
    state
}

#[test]
fn a_line_of_the_plan_says_what_it_says_and_a_plan_that_is_none_says_why() {
    let mut state = running(Phase::Review, TurnPurpose::Review);
    let plan = "# Goal\n\n1. [ ] write sum\n2. [ ] test sum\n";
    state.plan.as_mut().unwrap().plan = crate::domain::plan::parse(plan).unwrap();
    let seen = |state: &RunState, plan: &str| {
        let mut screen = not_writing();
        screen.on_documents(RunDocumentFiles {
            plan: Some(plan.to_owned()),
            ..RunDocumentFiles::default()
        });
        press(&mut screen, Some(state), &["2"]);
        drawn(&mut screen, (120, 40), Some(state))
    };
    let twice = seen(
        &state,
        "# Goal\n\n1. [x] broken\n1. [ ] write sum\n2. [ ] test sum\n",
    );
    assert!(twice.contains("✗ Two steps have number 1"), "{twice}");
    assert!(
        twice.contains("broken") && twice.contains("○ 1  write sum"),
        "{twice}"
    );
    let ticked = "# Goal\n\n1. [x] write sum\n2. [ ] test sum\n";
    state.plan.as_mut().unwrap().plan = crate::domain::plan::parse(ticked).unwrap();
    let by_hand = seen(&state, ticked);
    assert!(by_hand.contains("✗ Step 1 was ticked by hand"), "{by_hand}");
}

#[test]
fn status_tells_who_worked_when_and_what_came_of_it() {
    let state = long();
    let mut screen = not_writing();
    screen.on_sandbox_status(vec![AdapterSandboxView {
        adapter: "codex".to_owned(),
        summary: "writes this repository only during Execute, without .git; no network".to_owned(),
    }]);
    press(&mut screen, Some(&state), &["5"]);
    check("status_long", &mut screen, Some(&state));
}

#[test]
fn status_of_a_run_that_is_over_stands_still() {
    let mut state = long();
    state.phase = Phase::Done;
    state.running = None;
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["5"]);
    check("status_done", &mut screen, Some(&state));
}

#[test]
fn status_of_a_run_that_just_began_has_no_empty_tables() {
    let state = state(Phase::Init);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["5"]);
    check("status_new", &mut screen, Some(&state));
}

#[test]
fn the_plan_tells_how_far_each_step_is() {
    let state = long();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["2"]);
    check("plan_executing", &mut screen, Some(&state));
}

/// Returns whether an added line has some marked words and some unmarked ones.
fn has_marked_words(screen: &mut Screen, state: &RunState) -> bool {
    let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
    let draw = |frame: &mut ratatui::Frame| screen.draw(frame, Some(state), NOW);
    terminal.draw(draw).unwrap();
    let buffer = terminal.backend().buffer();
    (0..40).any(|y| {
        let (mut text, mut n_letters, mut n_marked) = (String::new(), 0, 0);
        let mut ground = None;
        for x in 0..120 {
            let cell = &buffer[(x, y)];
            text.push_str(cell.symbol());
            if cell.symbol().chars().all(char::is_alphanumeric) {
                n_letters += 1;
                let own = (cell.bg, cell.modifier.contains(Modifier::REVERSED));
                n_marked += usize::from(*ground.get_or_insert(own) != own);
            }
        }
        text.contains(" + ") && n_marked > 0 && n_marked < n_letters
    })
}

#[test]
fn the_plan_is_compared_with_earlier_versions_word_by_word() {
    let state = reviewing();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["2", "="]);
    check("plan_compared", &mut screen, Some(&state));
    // Each theme marks the changed words, also a theme without colors.
    press(&mut screen, Some(&state), &["["]);
    let shown = screen.theme().clone();
    for theme in ColorTheme::built_in() {
        let name = theme.name().to_owned();
        screen.on_theme(theme);
        assert!(has_marked_words(&mut screen, &state), "{name}");
    }
    screen.on_theme(shown);
    press(&mut screen, Some(&state), &["\\"]);
    check("plan_compared_sides", &mut screen, Some(&state));
    let shown = drawn(&mut screen, (120, 40), Some(&state));
    assert!(shown.contains("since review 1"), "{shown}");
    press(&mut screen, Some(&state), &["]", "="]);
    let shown = drawn(&mut screen, (120, 40), Some(&state));
    assert!(!shown.contains("since iteration"), "{shown}");
    let mut none = Screen::new(settings());
    press(&mut none, Some(&state), &["<esc>", "2", "="]);
    let shown = drawn(&mut none, (80, 24), Some(&state));
    assert!(shown.contains("No earlier version of the plan"), "{shown}");
}

fn reviewing() -> RunState {
    running(Phase::Review, TurnPurpose::Review)
}

#[test]
fn what_happens_in_the_chat_is_told_for_a_moment_to_whoever_looks_at_another_tab() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 1 });
    let done = Event::StepRecorded {
        step: 1,
        plan_file_sha256: None,
    };
    let row = |screen: &mut Screen| {
        let seen = drawn(screen, (120, 24), Some(&state));
        let row = seen
            .lines()
            .rev()
            .take(4)
            .find(|row| row.contains("Step 1 done"));
        row.unwrap_or_default().to_owned()
    };
    let at = UnixMillis(1_700_000_000_000);
    let mut screen = not_writing();
    screen.on_time(at);
    screen.on_event(at, &done);
    assert!(
        !row(&mut screen).contains("opens Chat"),
        "the chat itself says it"
    );
    press(&mut screen, Some(&state), &["3"]);
    assert!(
        row(&mut screen).ends_with("✓ Step 1 done · 1 opens Chat"),
        "{}",
        row(&mut screen)
    );
    screen.on_time(UnixMillis(at.0 + 4_001));
    assert!(
        !row(&mut screen).contains("opens Chat"),
        "{}",
        row(&mut screen)
    );
    // A replayed event is old and shows no toast.
    screen.on_event(UnixMillis(at.0 - 60_000), &done);
    assert!(
        !row(&mut screen).contains("opens Chat"),
        "{}",
        row(&mut screen)
    );
}

#[test]
fn a_note_is_written_on_the_line_that_is_pointed_at_and_taken_back() {
    let mut state = reviewing();
    let mut screen = not_writing();
    // Without a selection, it refers to the first visible line.
    drawn(&mut screen, (80, 24), Some(&state));
    press(&mut screen, Some(&state), &["2"]);
    drawn(&mut screen, (80, 24), Some(&state));
    let first = press(&mut screen, Some(&state), &[";", "why", "<enter>"]);
    assert!(
        matches!(&first[..], [Action::Event(Event::NoteMade(UserNote { quote, .. }))] if quote.starts_with("# Task")),
        "{first:?}"
    );
    let keys = [".", ".", ".", ";", "为什么 not 1?", "<enter>"];
    let made = press(&mut screen, Some(&state), &keys);
    let [
        Action::Event(Event::NoteMade(UserNote {
            line, quote, text, ..
        })),
    ] = made.as_slice()
    else {
        panic!("{made:?}");
    };
    assert!(quote.starts_with("1. [ ] write `sum(numbers)`"), "{quote}");
    assert_eq!((*line, text.as_str()), (10, "为什么 not 1?"));
    note(&mut state, *line, quote, text);
    note(&mut state, 99, "a line that is gone", "and this? 🎉");
    check("plan_noted", &mut screen, Some(&state));
    let removed = press(&mut screen, Some(&state), &["-"]);
    assert_eq!(removed, [Action::Event(Event::NoteRemoved { n: 1 })]);
    let by_name = press(&mut screen, Some(&state), &["/", "unnote 2", "<enter>"]);
    assert_eq!(by_name, [Action::Event(Event::NoteRemoved { n: 2 })]);
}

#[test]
fn of_a_finding_that_changed_nothing_its_own_line_is_shown() {
    let mut state = reviewing();
    let remark = ReviewRemark::new(3, FindingSeverity::Major, "step 2 is too long".to_owned());
    state.findings.apply_legacy_review(&[remark], None);
    for (status, why) in [
        ("rebutted", "This finding was rejected with reason"),
        ("withdrawn", "The reviewer withdrew this finding"),
    ] {
        let mut findings = serde_json::to_value(&state.findings).unwrap();
        findings["all"][2]["status"] = status.into();
        state.findings = serde_json::from_value(findings).unwrap();
        let mut screen = not_writing();
        press(&mut screen, Some(&state), &["3"]);
        let mark = ScrollTarget::Finding(3);
        screen.tabs.comments.selection.select_listed(mark);
        let seen = drawn(&mut screen, (120, 40), Some(&state));
        assert!(seen.contains("< what changed"), "{seen}");
        press(&mut screen, Some(&state), &["<"]);
        let told = format!("{why}. Nothing was changed for it.");
        assert_eq!(screen.toast.text.as_deref(), Some(told.as_str()));
        let own = locate_finding(&state.findings.all()[2], &screen.documents.plan_lines());
        assert!(own.is_some());
        assert_eq!(screen.tabs.plan.view.selected_line(), own);
    }
}

#[test]
fn a_note_on_a_place_that_does_not_exist_is_not_made_elsewhere() {
    let mut state = reviewing();
    note(&mut state, 10, "1. [ ] write", "why?");
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["2"]);
    drawn(&mut screen, (120, 40), Some(&state));
    for place in ["line 999", "step 77", "Finding 5"] {
        let note = format!("note {place}: and then?");
        let made = press(&mut screen, Some(&state), &["/", &note, "<enter>"]);
        assert_eq!(made, [], "{place}");
        let seen = drawn(&mut screen, (120, 40), Some(&state));
        assert!(seen.contains(&format!("there is no {place}")), "{seen}");
    }
}

#[test]
fn a_thread_is_answered_found_compared_and_resolved_from_each_side() {
    let mut state = reviewing();
    let quote = "1. [ ] write `sum(numbers)` in calc.py, returning 0 for an empty list";
    note(&mut state, 10, quote, "为什么 not 1?");
    let said = |author, thread, finding, text: &str| ThreadEntry {
        thread,
        author,
        finding,
        text: text.to_owned(),
        ..ThreadEntry::default()
    };
    let turn = TurnId::new("trn_1");
    state.threads.on_respond_prompt(&turn);
    let why = "because an empty sum is 0 🎉";
    for entry in [
        said(ThreadAuthor::Planner, Some(1), None, why),
        said(ThreadAuthor::Reviewer, Some(1), None, "Agreed."),
        said(ThreadAuthor::User, None, Some(1), "this one matters to me"),
    ] {
        assert!(state.threads.say(&entry));
    }
    state.threads.on_answered(&turn);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["2"]);
    check("plan_threads", &mut screen, Some(&state));
    // From the line to its thread, and back.
    press(&mut screen, Some(&state), &[".", ".", ".", ".", ">"]);
    assert_eq!(
        screen.tabs.comments.selection.selected_mark(Some(&state)),
        Some(ScrollTarget::Note(1))
    );
    let reply = press(&mut screen, Some(&state), &[";", "then 0", "<enter>"]);
    assert!(
        matches!(&reply[..], [Action::Event(Event::NoteMade(UserNote { thread: Some(1), text, .. }))] if text == "then 0"),
        "{reply:?}"
    );
    check("comments_threads", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["<"]);
    let view = &screen.tabs.plan.view;
    assert!(view.compared_version().is_some() && view.selected_line().is_some());
    press(&mut screen, Some(&state), &["3", ">"]);
    let line = screen.pointed_plan_line().map(|(line, _)| line);
    assert_eq!(line, Some(10));
    let resolved = press(&mut screen, Some(&state), &["-"]);
    assert_eq!(resolved, [Action::Event(Event::ThreadResolved { n: 1 })]);
    // A place is named in words, too, for linear mode.
    let named = press(
        &mut screen,
        Some(&state),
        &["/", "note step 2: and then?", "<enter>"],
    );
    assert!(
        matches!(&named[..], [Action::Event(Event::NoteMade(UserNote { line: 11, thread: None, text, .. }))] if text == "and then?"),
        "{named:?}"
    );
    // A finding is answered in a thread of its own.
    screen
        .tabs
        .comments
        .selection
        .select_listed(ScrollTarget::Finding(1));
    let reply = press(
        &mut screen,
        Some(&state),
        &["<esc>", "3", ";", "and that", "<enter>"],
    );
    assert!(
        matches!(
            &reply[..],
            [Action::Event(Event::NoteMade(UserNote {
                thread: Some(2),
                ..
            }))]
        ),
        "{reply:?}"
    );
}

#[test]
fn who_executes_is_told_of_notes_that_nobody_has_answered() {
    let execute = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute");
    let (phase, kind) = execute.unwrap();
    let mut state = asking(phase, kind);
    note(&mut state, 3, "1. [ ] a", "why?");
    let mut screen = not_writing();
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("has not answered 1 note of yours"), "{seen}");
    let sent = press(&mut screen, Some(&state), &["s"]);
    assert!(
        matches!(
            &sent[..],
            [Action::Event(Event::QuestionAnswered {
                answer: QuestionAnswer::SendNotes,
                ..
            })]
        ),
        "{sent:?}"
    );
}

#[test]
fn enter_on_an_empty_note_releases_no_turn() {
    let (phase, gate) = questions().swap_remove(0);
    let state = asking(phase, gate);
    let mut screen = not_writing();
    let actions = press(&mut screen, Some(&state), &["2", ".", ";", "<enter>"]);
    assert_eq!(actions, []);
    check("plan_noting", &mut screen, Some(&state));
    let written = press(&mut screen, Some(&state), &["why", "<enter>"]);
    assert!(
        matches!(&written[..], [Action::Event(Event::NoteMade(_))]),
        "{written:?}"
    );
}

#[test]
fn a_line_of_the_plan_is_written_anew_in_its_place_or_left() {
    let state = reviewing();
    let mut screen = not_writing();
    let keys = ["2", ".", ".", ".", ".", "+"];
    assert_eq!(press(&mut screen, Some(&state), &keys), []);
    check("plan_rewriting", &mut screen, Some(&state));
    let was = screen.composer.editor.text();
    assert!(was.starts_with("1. [ ] write `sum(numbers)`"), "{was}");
    // Leaving without a change edits nothing and sends nothing to an agent.
    let left = press(&mut screen, Some(&state), &["<esc>", "i", "<enter>"]);
    assert_eq!(
        (left, screen.composer.editor.text()),
        (Vec::new(), String::new())
    );
    let written = press(&mut screen, Some(&state), &["<esc>", "+", " 🎉", "<enter>"]);
    let text = format!("{was} 🎉");
    assert_eq!(
        written,
        [Action::Rewrite {
            line: 10,
            was,
            text
        }]
    );
}

#[test]
fn no_note_is_made_while_steps_run_or_on_a_screen_that_only_looks() {
    let state = long();
    let mut screen = not_writing();
    assert_eq!(press(&mut screen, Some(&state), &["2", ".", ";"]), []);
    let shown = drawn(&mut screen, (120, 40), Some(&state));
    assert!(shown.contains("the plan is running"), "{shown}");
}

#[test]
fn a_step_that_is_pointed_at_opens_its_diff() {
    let state = long();
    let mut screen = not_writing();
    let actions = press(&mut screen, Some(&state), &["2", ".", ".", ".", ".", " "]);
    assert_eq!(actions, [Action::ShowDiff(DiffScope::Step(1))]);
}

#[test]
fn a_stale_plan_says_what_changed_and_shows_all_of_it() {
    let stale = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "stale_plan");
    let (phase, kind) = stale.unwrap();
    let state = asking(phase, kind);
    let mut screen = not_writing();
    drawn(&mut screen, (80, 24), Some(&state));
    press(&mut screen, Some(&state), &["v"]);
    check("stale_plan_whole", &mut screen, Some(&state));
}

/// A run with findings of every status.
fn answered_in_every_way() -> RunState {
    let mut state = long();
    state.phase = Phase::Respond;
    state.running = None;
    state.execution = None;
    let remark = |n, severity, text: &str| ReviewRemark::new(n, severity, text.to_owned());
    let answer = |n, stand, reason: &str| FindingResponse {
        n,
        stand,
        reason: reason.to_owned(),
        check: None,
    };
    let again = [
        remark(
            1,
            FindingSeverity::Blocking,
            "an empty list is not said to give 0",
        ),
        remark(
            3,
            FindingSeverity::Major,
            "step 2 不测试空列表 🎉, and it has averylongwordwithoutanyplaceatwhichitcouldbebrokenbutitmustbe",
        ),
        remark(4, FindingSeverity::Minor, "بدون اختبار"),
    ];
    state.findings.apply_legacy_review(&again, None);
    state.findings.apply_responses(&[
        answer(1, FindingDisposition::Accepted, "step 1 says it now"),
        answer(3, FindingDisposition::Rejected, "the test of step 1 does"),
    ]);
    state.findings.apply_legacy_review(&again[..2], None);
    state.findings.apply_responses(&[
        answer(1, FindingDisposition::Accepted, "said twice"),
        answer(3, FindingDisposition::Rejected, "`t.sh:3` does"),
    ]);
    state.findings.settle_by_user(4);
    state
}

#[test]
fn findings_stand_with_a_sign_of_their_own_and_open_to_their_evidence() {
    let state = answered_in_every_way();
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        comments: Some(
            "[CHANGES_REQUIRED]\n\nIn short: not yet.\n\n1. [blocking] an empty list is not said to give 0\n   Evidence: calc.py:3\n   Instead: say it\n"
                .to_owned(),
        ),
        ..RunDocumentFiles::default()
    });
    press(&mut screen, Some(&state), &["3"]);
    check("comments_full", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &[" "]);
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(seen.contains("│ Evidence: calc.py:3"), "{seen}");
    let narrow = drawn(&mut screen, (19, 52), Some(&state));
    let bars = narrow.matches("│ ").count();
    assert!(bars >= 4 && narrow.contains("│ calc.py:3"), "{narrow}");
    press(&mut screen, Some(&state), &[" "]);
    let seen = drawn(&mut screen, (80, 40), Some(&state));
    assert!(!seen.contains("Evidence"), "{seen}");
}

#[test]
fn one_goes_from_a_finding_to_its_line_and_back() {
    let mut state = reviewing();
    let remark = ReviewRemark::new(3, FindingSeverity::Major, "step 2 is too long".to_owned());
    state.findings.apply_legacy_review(&[remark], None);
    let mut screen = not_writing();
    press(
        &mut screen,
        Some(&state),
        &["2", ".", ".", ".", ".", ".", ">"],
    );
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(
        seen.contains("▌    MAJOR     3  step 2 is too long"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &[">"]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("○ 3 major     step 2 is too long"), "{seen}");
}

#[test]
fn the_log_lists_events_by_kind_and_letters_and_shows_all_of_the_one_pointed_at() {
    let state = long();
    let mut screen = not_writing();
    let turn = state.course.turns().last().unwrap().turn.clone();
    screen.on_event(
        NOW,
        &Event::TurnStarted {
            turn,
            prompt_sha256: crate::domain::plan::file_hash(b"x"),
            process: None,
        },
    );
    screen.on_event(
        NOW,
        &Event::NoteMade(UserNote {
            line: 3,
            quote: "1. [ ] a".to_owned(),
            text: "为什么?\nand why averylongwordthatgoesonandonandonandonandonandonandonandonandonandonandonandon".to_owned(),
            ..UserNote::default()
        }),
    );
    press(&mut screen, Some(&state), &["4"]);
    check("log_full", &mut screen, Some(&state));
    press(&mut screen, Some(&state), &["."]);
    check("log_picked", &mut screen, Some(&state));
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("quote: 1. [ ] a"), "{seen}");
    press(&mut screen, Some(&state), &[" "]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("▤ you, 23:14:02") && seen.contains("in the log: note.made"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &["<esc>", "<esc>", "="]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("listed: what you did") && !seen.contains("turn starts: works on step 2"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &["=", "=", "="]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("! Failed to save the raw stream: no space left"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &["=", "<c-f>", "step 2"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("turn starts: works on step 2")
            && !seen.contains("the calculator shall sum lists"),
        "{seen}"
    );
    press(&mut screen, Some(&state), &["zzz"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("None. Press = for others."), "{seen}");
    press(&mut screen, Some(&state), &["<esc>"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("the calculator shall sum lists"), "{seen}");
}

#[test]
fn a_finished_run_is_read_in_all_tabs_without_a_way_to_change_it() {
    let mut state = long();
    state.phase = Phase::Done;
    state.running = None;
    let mut screen = Screen::new(crate::tui::ScreenSettings {
        read_only: Some(crate::tui::ReadOnlyStatus {
            badge: "from the history".to_owned(),
            reason: "This run is in the history".to_owned(),
            owner_activity: crate::tui::OwnerActivity::Idle,
            resumable_run: None,
        }),
        ..settings()
    });
    let documents = super::world::documents();
    screen.on_documents(documents);
    let keys = ["2", ".", ";", "="];
    assert_eq!(press(&mut screen, Some(&state), &keys), []);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("since review 2"), "{seen}");
    assert_eq!(
        press(&mut screen, Some(&state), &["=", "3", ".", ">", "5"]),
        []
    );
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("Timeline"), "{seen}");
    let diff = press(&mut screen, Some(&state), &["d"]);
    assert_eq!(diff, [Action::ShowDiff(DiffScope::All)]);
    let closed = press(&mut screen, Some(&state), &["q", "4", ".", " ", "<esc>"]);
    assert_eq!(closed, [Action::CloseView]);
}

#[test]
fn in_a_low_window_one_row_replaces_the_earlier_reviews_and_findings_have_room() {
    let mut state = answered_in_every_way();
    let mut course = serde_json::to_value(&state.course).unwrap();
    let reviews = course["reviews"].as_array_mut().unwrap();
    let last = reviews.last().cloned().unwrap();
    for n in [3, 4] {
        reviews.push(last.clone());
        reviews.last_mut().unwrap()["review"] = n.into();
    }
    state.course = serde_json::from_value(course).unwrap();
    for size in [(40, 12), (80, 20)] {
        let mut screen = not_writing();
        press_at(&mut screen, size, Some(&state), &["3"]);
        let seen = drawn(&mut screen, size, Some(&state));
        assert!(seen.contains("▸  3 earlier reviews"), "{seen}");
        assert!(!seen.contains("Review 1 · "), "{seen}");
        assert!(seen.to_lowercase().contains(" blocking   1  "), "{seen}");
        // It opens and folds by a key; a search finds matches in it.
        press_at(&mut screen, size, Some(&state), &[",", " ", "<home>"]);
        let seen = drawn(&mut screen, size, Some(&state));
        assert!(
            seen.contains("▌▾ 3 earlier reviews") && seen.contains("Review 1 · "),
            "{seen}"
        );
        press_at(&mut screen, size, Some(&state), &[" "]);
        let seen = drawn(&mut screen, size, Some(&state));
        assert!(
            seen.contains("▌▸ 3 earlier reviews") && !seen.contains("Review 1 · "),
            "{seen}"
        );
    }
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3"]);
    let seen = drawn(&mut screen, (120, 50), Some(&state));
    assert!(
        seen.contains("review 4: approved") && seen.contains("Review 3 · "),
        "{seen}"
    );
    assert!(!seen.contains("earlier reviews"), "{seen}");
}

#[test]
fn the_first_open_finding_is_offered_and_takes_no_key_of_others() {
    let state = answered_in_every_way();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["3"]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(seen.contains("▌◐  BLOCKING   1  "), "{seen}");
    // It is no selection that Esc clears or that another tab acts on.
    let selection = &mut screen.tabs.comments.selection;
    assert_eq!(selection.selected_finding(Some(&state)), Some(1));
    assert_eq!(selection.chosen_finding(), None);
    assert!(!selection.clear_selection(Some(&state)));
    // The pane without the keys offers nothing.
    press_at(&mut screen, (200, 50), Some(&state), &["2"]);
    let seen = drawn(&mut screen, (200, 50), Some(&state));
    assert!(
        seen.contains("BLOCKING   1  ") && !seen.contains("▌◐  BLOCKING"),
        "{seen}"
    );
    // A user who clears a selection wants none.
    press(&mut screen, Some(&state), &["3", ".", "<esc>"]);
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert!(!seen.contains("▌◐  BLOCKING"), "{seen}");
    assert_eq!(
        screen
            .tabs
            .comments
            .selection
            .selected_finding(Some(&state)),
        None
    );
    // A question that is asked has its keys.
    let (phase, kind) = questions()
        .into_iter()
        .find(|(_, kind)| kind.name() == "execute")
        .unwrap();
    let asked = asking(phase, kind);
    let mut screen = not_writing();
    press(&mut screen, Some(&asked), &["3"]);
    let offered = screen
        .tabs
        .comments
        .selection
        .selected_finding(Some(&asked));
    assert!(offered.is_some());
    press(&mut screen, Some(&asked), &["<enter>"]);
    assert!(
        screen.overlays.has::<TextPager>(),
        "Enter reads what is asked"
    );
}

#[test]
fn findings_that_stand_beside_the_chat_are_not_in_the_last_review_of_it() {
    let text = "---\nverdict: CHANGES_REQUIRED\n---\n\n# Review\n\n1. [blocking] nobody says what an empty list gives\n";
    let mut state = reviewing();
    state.phase = Phase::Respond;
    let mut screen = not_writing();
    screen.on_documents(RunDocumentFiles {
        plan: Some(PLAN.to_owned()),
        comments: Some(text.to_owned()),
        ..RunDocumentFiles::default()
    });
    screen.on_event(
        NOW,
        &Event::ReviewCommitted {
            turn: TurnId::new("trn_1"),
            review: crate::domain::review::parse(text, &state.findings),
            file_sha256: Sha256::new("file"),
            plan_now: Sha256::new("plan"),
        },
    );
    let is_in_chat = |screen: &mut Screen, size| {
        let seen = drawn(screen, size, Some(&state));
        assert!(seen.contains("changes required, 1 finding"), "{seen}");
        seen.contains("1  blocking   nobody says")
    };
    assert!(!is_in_chat(&mut screen, (200, 50)));
    assert!(is_in_chat(&mut screen, (120, 40)));
    // Without the second pane they are back.
    press_at(&mut screen, (200, 50), Some(&state), &["\\", "\\"]);
    assert!(is_in_chat(&mut screen, (200, 50)));
}
