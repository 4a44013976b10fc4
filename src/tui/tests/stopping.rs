//! Tests that a dialog about stopping stays open until it is answered, whatever the run does behind it.

use super::pictures::not_writing;
use super::undo::offer;
use super::world::{NOW, asking, drawn, order, press, running, state};
use crate::domain::event::Event;
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Phase, TurnHold};
use crate::domain::plan::file_hash;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::reversal_plan::UndoDirection;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::{TurnOutcome, TurnPurpose};
use crate::tui::{Action, Screen};

const SIZE: (u16, u16) = (120, 40);

/// All events of a turn's end and the start of the next turn.
fn moves_on() -> Vec<Event> {
    vec![
        Event::TurnEnded {
            turn: TurnId::new("trn_1"),
            result: TurnOutcome::completed(""),
        },
        Event::PhaseChanged {
            from: Phase::WritePlan,
            to: Phase::Review,
            reason: None,
        },
        Event::TurnSendConfirmed,
        Event::TurnStarted {
            turn: TurnId::new("trn_2"),
            prompt_sha256: file_hash(b"x"),
            process: None,
        },
    ]
}

/// A run that holds its next turn.
fn held(phase: Phase) -> RunState {
    let mut held = state(phase);
    held.busy = Some(ProgramOperation::Held {
        order: order(TurnPurpose::Review),
        by: Gate::Auto,
    });
    held
}

/// A screen on which these keys opened a dialog.
fn opened(state: &RunState, keys: &[&str]) -> Screen {
    let mut screen = not_writing();
    assert_eq!(press(&mut screen, Some(state), keys), []);
    assert_eq!(screen.turn_hold(), TurnHold::Held, "{keys:?}");
    screen
}

#[test]
fn what_asks_whether_to_stop_stays_when_the_run_moves_on() {
    let writes = running(Phase::WritePlan, TurnPurpose::WritePlan);
    let stopped = [Action::Event(Event::RunStopped)];
    let cancelled = [Action::Event(Event::RunCancelled)];
    for (keys, title, wanted) in [
        (&["s"][..], "Stop and return to the goal?", &stopped),
        (&["/cancel", "<enter>"], "Cancel the run?", &cancelled),
    ] {
        let mut screen = opened(&writes, keys);
        for event in moves_on() {
            screen.on_event(NOW, &event);
        }
        let next = held(Phase::Review);
        let seen = drawn(&mut screen, SIZE, Some(&next));
        assert!(seen.contains(title), "{seen}");
        assert!(seen.contains("No turn is running."), "{seen}");
        // The Enter that means "no, back" sends no turn.
        let gated = asking(
            Phase::Review,
            QuestionKind::Gate {
                order: order(TurnPurpose::Review),
            },
        );
        assert_eq!(press(&mut screen, Some(&gated), &["<enter>"]), []);
        assert_eq!(screen.turn_hold(), TurnHold::Free);

        let mut screen = opened(&writes, keys);
        for event in moves_on() {
            screen.on_event(NOW, &event);
        }
        assert_eq!(press(&mut screen, Some(&next), &["y"]), wanted);
        assert_eq!(screen.turn_hold(), TurnHold::Free);
    }
}

#[test]
fn what_comes_by_itself_waits_behind_it() {
    let executing = running(Phase::Execute, TurnPurpose::Step { n: 2 });
    let mut screen = opened(&executing, &["s"]);
    screen.on_undo_previews(&[offer(UndoDirection::Undo { step: 2 })], Phase::Execute);
    let seen = drawn(&mut screen, SIZE, Some(&executing));
    assert!(seen.contains("Stop running the plan?"), "{seen}");
    assert_eq!(press(&mut screen, Some(&executing), &["<esc>"]), []);
    let seen = drawn(&mut screen, SIZE, Some(&executing));
    assert!(!seen.contains("Stop running the plan?"), "{seen}");
    assert!(seen.contains("Undo steps 2–3?"), "{seen}");
    assert_eq!(screen.turn_hold(), TurnHold::Free);
}

#[test]
fn it_offers_no_stop_where_nothing_is_left_to_stop() {
    let writes = running(Phase::WritePlan, TurnPurpose::WritePlan);
    for keys in [&["s"][..], &["/cancel", "<enter>"]] {
        let mut screen = opened(&writes, keys);
        let done = state(Phase::Done);
        let seen = drawn(&mut screen, SIZE, Some(&done));
        assert!(seen.contains("Nothing left to stop"), "{seen}");
        assert_eq!(press(&mut screen, Some(&done), &["y"]), []);
        assert_eq!(press(&mut screen, Some(&done), &["<enter>"]), []);
        assert!(screen.dialogs.own.is_none());
    }
}

#[test]
fn a_stop_that_answers_a_question_stops_the_run_where_the_question_is_gone() {
    let failed = asking(
        Phase::Execute,
        QuestionKind::CommitFailed {
            step: 2,
            message: "no".to_owned(),
        },
    );
    let asked = |screen: &mut Screen, state: &RunState| press(screen, Some(state), &["y"]);
    let answer = Event::QuestionAnswered {
        id: 7,
        answer: QuestionAnswer::Stop,
    };
    let mut screen = opened(&failed, &["b"]);
    assert_eq!(asked(&mut screen, &failed), [Action::Event(answer)]);
    let mut screen = opened(&failed, &["b"]);
    let held = held(Phase::Execute);
    assert_eq!(
        asked(&mut screen, &held),
        [Action::Event(Event::RunStopped)]
    );
}

#[test]
fn leaving_is_asked_until_it_is_answered() {
    let reviews = running(Phase::Review, TurnPurpose::Review);
    let mut screen = opened(&reviews, &["<c-c>"]);
    for event in moves_on() {
        screen.on_event(NOW, &event);
    }
    let seen = drawn(&mut screen, SIZE, Some(&held(Phase::Review)));
    assert!(seen.contains("Everything has finished meanwhile"), "{seen}");
    assert_eq!(screen.turn_hold(), TurnHold::Held);
}
