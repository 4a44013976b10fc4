//! Linear mode: what is printed, once, and what the user's lines do.

use super::world::{
    approving, asking, created, drawn, questions, running, screen, settings, story,
};
use crate::domain::event::Event;
use crate::domain::ids::{TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::run::{Run, RunState};
use crate::domain::turn::{TurnOutcome, TurnPurpose};
use crate::tui::LineInterface;
use crate::tui::command_table::all_key_rows;
use crate::tui::{
    Action, LineTiming, LinearOutput, QuitStep, Screen, ScreenAppearance, ScreenSettings,
};

const SIZE: (u16, u16) = (112, 60);

/// Draws the frame in memory and prints what is new, as the program does.
fn news(screen: &mut Screen, state: Option<&RunState>) -> LinearOutput {
    drawn(screen, SIZE, state);
    LineInterface::new(screen, state).print_news()
}

fn linear_screen() -> Screen {
    let mut screen = screen();
    screen.on_appearance(ScreenAppearance::default().for_lines());
    screen
}

fn type_line(screen: &mut Screen, line: &str, timing: LineTiming, state: &RunState) -> Vec<Action> {
    LineInterface::new(screen, Some(state)).on_line(line, timing)
}

/// Fails if a line has a mark that a screen reader spells out.
fn assert_plain(lines: &[String]) {
    for line in lines {
        let marks = line.matches([
            '▸', '▾', '✓', '✗', '■', '●', '│', '─', '▌', '▎', '✎', '↳', '◐', '⊘', '⇄', '\u{1b}',
        ]);
        assert_eq!(marks.count(), 0, "{line}");
    }
}

#[test]
fn every_question_is_printed_once_with_numbered_choices() {
    for (phase, kind) in questions() {
        let mut screen = linear_screen();
        news(&mut screen, None);
        let state = asking(phase, kind);
        let printed = news(&mut screen, Some(&state));
        assert_plain(&printed.lines);
        assert!(printed.asks, "{printed:?}");
        let has = |start: &str| {
            printed
                .lines
                .iter()
                .filter(|line| line.starts_with(start))
                .count()
        };
        assert_eq!(
            (has("Question: "), has("1: "), has("Type a number")),
            (1, 1, 1),
            "{:#?}",
            printed.lines
        );
        assert_eq!(news(&mut screen, Some(&state)), LinearOutput::default());
        // An empty line repeats it and answers nothing.
        assert_eq!(
            type_line(&mut screen, " ", LineTiming::AfterQuestion, &state),
            []
        );
        let again = news(&mut screen, Some(&state));
        assert!(
            again
                .lines
                .iter()
                .any(|line| line.starts_with("Question: "))
        );
        assert!(!again.asks, "it is not a new question");
    }
}

#[test]
fn a_call_is_answered_only_by_a_choice_that_was_typed_after_it_was_printed() {
    use LineTiming::{AfterQuestion, BeforeQuestion};
    let state = approving(&["npm install left-pad"]);
    for (line, timing, answer) in [
        ("", AfterQuestion, ""),
        ("yes, do it", AfterQuestion, ""),
        ("0", AfterQuestion, ""),
        ("9", AfterQuestion, ""),
        ("1", BeforeQuestion, ""),
        ("y", BeforeQuestion, ""),
        ("/allow", BeforeQuestion, ""),
        ("1", AfterQuestion, "AllowOnce"),
        ("Y", AfterQuestion, "AllowOnce"),
        ("/allow", AfterQuestion, "AllowOnce"),
        ("4", AfterQuestion, "DenyAndStop"),
        ("/reject", AfterQuestion, "DenyAndStop"),
    ] {
        let mut screen = linear_screen();
        let printed = news(&mut screen, Some(&state)).lines;
        assert!(
            printed.iter().any(|line| line == "npm install left-pad"),
            "{printed:#?}"
        );
        let actions = type_line(&mut screen, line, timing, &state);
        let decided = actions.iter().find_map(|action| match action {
            Action::AnswerApproval { answer, .. } => Some(format!("{answer:?}")),
            _ => None,
        });
        assert_eq!(decided.unwrap_or_default(), answer, "{line}");
    }
    // Nothing is printed yet: no line can be meant for it.
    let mut screen = linear_screen();
    assert_eq!(type_line(&mut screen, "1", AfterQuestion, &state), []);
}

#[test]
fn a_bare_yes_is_sent_to_nobody_where_the_program_asks() {
    let mut n_asked = 0;
    for (phase, kind) in questions() {
        if matches!(kind, QuestionKind::Agent { .. }) {
            continue;
        }
        let state = asking(phase, kind);
        for line in ["yes", "No"] {
            let mut screen = linear_screen();
            news(&mut screen, Some(&state));
            let actions = type_line(&mut screen, line, LineTiming::AfterQuestion, &state);
            assert_eq!(actions, [], "{line}: {state:?}");
            let printed = news(&mut screen, Some(&state)).lines;
            let is_said = |said: &String| said.contains("is not one of the choices");
            assert!(printed.iter().any(is_said), "{printed:#?}");
            n_asked += 1;
        }
    }
    assert!(n_asked > 20, "{n_asked}");
}

#[test]
fn a_bare_yes_confirms_the_goal_unless_the_agent_has_asked_something() {
    let state = super::world::state(Phase::RefineGoal);
    let goal = "Add a goal.\n\n```goal.md\n# A goal\n```\n";
    let question = "Should empty files count?";
    for (question, line, confirms) in [
        (None, "y", true),
        (None, "Yes.", true),
        (None, "ok", true),
        (None, "no", false),
        (Some(question), "yes", false),
    ] {
        let mut screen = linear_screen();
        // The question need not be in the last piece that is printed.
        for said in question.into_iter().chain([goal]) {
            screen.on_event(UnixMillis(0), &super::stream::says(said));
            news(&mut screen, Some(&state));
        }
        let ended = Event::TurnEnded {
            turn: TurnId::new("trn_1"),
            result: TurnOutcome::Completed {
                question: question.map(str::to_owned),
                summary: String::new(),
                result: None,
            },
        };
        screen.on_event(UnixMillis(0), &ended);
        news(&mut screen, Some(&state));
        let actions = type_line(&mut screen, line, LineTiming::AfterQuestion, &state);
        let is_confirmed =
            |action: &Action| matches!(action, Action::Event(Event::GoalConfirmed { .. }));
        assert_eq!(
            actions.iter().any(is_confirmed),
            confirms,
            "{question:?}: {line}"
        );
        if !confirms {
            assert_eq!(actions, []);
            let printed = news(&mut screen, Some(&state)).lines;
            let is_said = |said: &String| said.contains("is not one of the choices");
            assert!(printed.iter().any(is_said), "{printed:#?}");
        }
    }
}

#[test]
fn the_status_has_a_label_in_each_line_and_cuts_nothing() {
    let state = super::world::state(Phase::Execute);
    let mut screen = linear_screen();
    news(&mut screen, Some(&state));
    type_line(&mut screen, "/status", LineTiming::AfterQuestion, &state);
    let printed = news(&mut screen, Some(&state)).lines;
    let rows = printed.iter().filter(|line| line.starts_with("  "));
    for row in rows {
        assert!(row.contains(": ") && !row.ends_with("..."), "{row}");
    }
    assert!(
        printed
            .iter()
            .any(|line| line == "  Stage: Execute, step 2 of 3"),
        "{printed:#?}"
    );
}

#[test]
fn a_choice_that_needs_a_text_takes_the_next_line() {
    let state = approving(&["npm install left-pad"]);
    let mut screen = linear_screen();
    news(&mut screen, Some(&state));
    assert_eq!(
        type_line(&mut screen, "5", LineTiming::AfterQuestion, &state),
        []
    );
    let printed = news(&mut screen, Some(&state));
    assert_eq!(
        printed.lines,
        ["Why not? The agent gets your reason and continues. Type the text, or /leave."]
    );
    let actions = type_line(&mut screen, "1", LineTiming::AfterQuestion, &state);
    let told = format!("{actions:?}");
    assert!(told.contains("DenyWithReason(\"1\")"), "{told}");
}

#[test]
fn the_story_is_printed_once_however_often_it_is_looked_at() {
    let play = |is_printed: fn(usize) -> bool| {
        let mut screen = Screen::new(ScreenSettings {
            appearance: ScreenAppearance::default().for_lines(),
            ..settings()
        });
        let mut run = Run::new(UnixMillis(0), &created());
        let mut lines = news(&mut screen, None).lines;
        for (n, event) in story().iter().enumerate() {
            let at = UnixMillis(i64::try_from(n).unwrap() * 1_000);
            run.step(at, event);
            screen.on_event(at, event);
            if is_printed(n) {
                lines.extend(news(&mut screen, Some(run.state())).lines);
            }
        }
        lines.extend(news(&mut screen, Some(run.state())).lines);
        assert!(news(&mut screen, Some(run.state())).lines.is_empty());
        assert_plain(&lines);
        lines
    };
    let said = |lines: Vec<String>| -> Vec<String> {
        // What works and what is asked depends on when it is looked at.
        let is_now = |line: &String| {
            line.ends_with("is working on step 1.")
                || ["Question: ", "Type a", "1: ", "2: ", "3: "]
                    .iter()
                    .any(|start| line.starts_with(start))
        };
        lines
            .into_iter()
            .filter(|line| !is_now(line) && line.len() > 30)
            .collect()
    };
    let each = said(play(|_| true));
    let mut once = each.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), each.len(), "a line is printed twice: {each:#?}");
    let at_end = said(play(|_| false));
    assert!(
        at_end.iter().all(|line| each.contains(line)),
        "{at_end:#?} {each:#?}"
    );
}

#[test]
fn every_key_of_a_view_has_a_line_that_does_the_same() {
    let lines = |name: &str| match name {
        // A printed view is closed at once, and the terminal scrolls.
        "close-diff" | "close-board" | "close-find" | "diff-sides" | "diff-page-up"
        | "diff-page-down" | "file-before" | "file-after" | "text-page-down" => "",
        "diff-before" | "diff-after" | "look-again" => "/diff",
        "undo-shown-step" => "/undo",
        "diff-find" | "text-find" | "find-next" | "find-stay" | "find-back" | "find-on" => "/find",
        "close" => "/leave",
        "read-speech" | "participant-before" | "participant-after" | "round-before"
        | "round-after" | "next-discussion" => "/board",
        "quote-result" => "/quote",
        "settle-by-it" => "/settle",
        "stop-discussion" => "/discuss-stop",
        "go-on-discussing" => "/discuss-on",
        "copy-speech" => "/copy",
        "export-discussion" => "/minutes",
        other => panic!("no line does what {other} does"),
    };
    let names: Vec<&str> = all_key_rows().map(|row| row.slash.name).collect();
    for row in all_key_rows().filter(|row| !row.is_slash_command()) {
        let line = lines(row.name);
        assert!(line.is_empty() || names.contains(&line), "{line}");
    }
}

#[test]
fn a_view_is_printed_when_it_is_asked_for_and_nothing_stands_in_front_afterwards() {
    let state = super::world::state(Phase::Execute);
    for (line, wanted) in [
        ("/tab plan", "Plan:"),
        ("/comments", "Comments:"),
        ("/status", "Status:"),
        ("/chat", "Chat:"),
        ("/todos", "Todos:"),
        (
            "/help",
            "/quit: Quit (asks if something is running, again: at once)",
        ),
        ("/nothing", "/nothing is not a command. /help lists all."),
        (
            "/down",
            "Scroll with your terminal. /chat and /tab plan print a whole view.",
        ),
    ] {
        let mut screen = linear_screen();
        news(&mut screen, Some(&state));
        type_line(&mut screen, line, LineTiming::AfterQuestion, &state);
        let printed = news(&mut screen, Some(&state)).lines;
        assert!(
            printed.iter().any(|line| line == wanted),
            "{line}: {printed:#?}"
        );
        assert_plain(&printed);
        assert!(!screen.overlays.covers_tab());
        assert!(news(&mut screen, Some(&state)).lines.is_empty());
    }
}

#[test]
fn an_interrupt_in_a_turn_asks_first_and_the_second_one_kills() {
    let state = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = linear_screen();
    news(&mut screen, Some(&state));
    assert_eq!(
        LineInterface::new(&mut screen, Some(&state)).on_interrupt(),
        []
    );
    let printed = news(&mut screen, Some(&state)).lines;
    let has = |wanted: &str| printed.iter().any(|line| line.starts_with(wanted));
    assert!(
        has("Question: Quit and end the turn?") && has("1: "),
        "{printed:#?}"
    );
    let actions = LineInterface::new(&mut screen, Some(&state)).on_interrupt();
    assert_eq!(actions, [Action::Quit(QuitStep::Now)]);
}
