//! Tests of the summary card at the end of a run, and of what it shows once another run starts.

use super::pictures::not_writing;
use super::world::{NOW, created, drawn, press, press_at, state};
use crate::domain::event::Event;
use crate::domain::ids::RunId;
use crate::domain::phase::Phase;
use crate::domain::plan_execution::StepOutcome;
use crate::domain::run::RunState;
use crate::tui::Screen;

const SIZE: (u16, u16) = (120, 40);

fn done() -> RunState {
    let mut done = state(Phase::Done);
    done.execution.as_mut().unwrap().current = None;
    done
}

/// A screen with enough text to scroll, on which a run has just ended.
fn ended() -> Screen {
    let mut screen = not_writing();
    for n in 0..60 {
        let text = format!("said {n}");
        screen.on_event(NOW, &Event::GoalMessageAdded { text });
    }
    screen.on_event(
        NOW,
        &Event::PhaseChanged {
            from: Phase::Execute,
            to: Phase::Done,
            reason: None,
        },
    );
    screen
}

fn row_of(seen: &str, text: &str) -> usize {
    let found = seen.lines().position(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("{text} is not in\n{seen}"))
}

#[test]
fn the_end_of_a_run_stays_in_the_stream_while_the_next_one_begins_and_after() {
    let (mut screen, done) = (ended(), done());
    let seen = drawn(&mut screen, SIZE, Some(&done));
    assert!(
        seen.contains("▌  ✓ Done") && seen.contains("See the diff"),
        "{seen}"
    );
    // Later notices of the run go before its summary.
    screen.on_notice("later than the end");
    let seen = drawn(&mut screen, SIZE, Some(&done));
    assert!(
        row_of(&seen, "· later than the end") < row_of(&seen, "▌  ✓ Done"),
        "{seen}"
    );
    press(&mut screen, Some(&done), &["i", "new goal"]);
    let seen = drawn(&mut screen, SIZE, Some(&done));
    assert!(
        seen.contains("▌  ✓ Done") && seen.contains("new goal"),
        "{seen}"
    );
    // While the program checks the preconditions, no run is open, and no key acts on one.
    let seen = drawn(&mut screen, SIZE, None);
    assert!(
        seen.contains("▌  ✓ Done") && !seen.contains("One agent plans"),
        "{seen}"
    );
    assert!(!seen.contains("See the diff"), "{seen}");
    let mut next = state(Phase::RefineGoal);
    next.run = RunId::new("run_next");
    screen.on_event(NOW, &Event::RunCreated(Box::new(created())));
    let text = "and now the next one".to_owned();
    screen.on_event(NOW, &Event::GoalGiven { text });
    let seen = drawn(&mut screen, SIZE, Some(&next));
    assert!(
        row_of(&seen, "▌  ✓ Done") < row_of(&seen, "and now the next one"),
        "{seen}"
    );
    assert!(!seen.contains("See the diff"), "{seen}");
}

#[test]
fn the_end_of_a_run_scrolls_with_the_stream_whose_end_is_found_again() {
    let (mut screen, done) = (ended(), done());
    let before = drawn(&mut screen, SIZE, Some(&done));
    for key in ["<up>", "<up>"] {
        press_at(&mut screen, SIZE, Some(&done), &[key]);
        let seen = drawn(&mut screen, SIZE, Some(&done));
        assert!(
            seen.contains("▌  ✓ Done") && seen.contains("End follows again"),
            "{seen}"
        );
    }
    for key in ["<down>", "<down>"] {
        press_at(&mut screen, SIZE, Some(&done), &[key]);
        drawn(&mut screen, SIZE, Some(&done));
    }
    assert!(screen.tabs.chat.transcript.follows_end());
    assert_eq!(drawn(&mut screen, SIZE, Some(&done)), before);
}

#[test]
fn a_run_that_goes_on_after_its_end_has_none() {
    let (mut screen, done) = (ended(), done());
    assert!(drawn(&mut screen, SIZE, Some(&done)).contains("▌  ✓ Done"));
    let mut goes_on = done.clone();
    goes_on.phase = Phase::Execute;
    assert!(!drawn(&mut screen, SIZE, Some(&goes_on)).contains("▌  ✓ Done"));
}

#[test]
fn a_step_that_changed_nothing_is_named_at_the_end() {
    let (mut screen, mut done) = (ended(), done());
    let records = &mut done.execution.as_mut().unwrap().done;
    records[0].outcome = StepOutcome::NoChange;
    let said = format!("– Step {} changed nothing", records[0].n);
    let seen = drawn(&mut screen, SIZE, Some(&done));
    assert!(seen.contains(&said), "{seen}");
}
