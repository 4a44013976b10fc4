//! Tests of the dialog that says what an undo would do: its pictures and its keys.

use super::pictures::{check, not_writing};
use super::world::{asking, order, press, screen, state};
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::reversal_plan::{FileReversalKind, ReversalPreview, UndoDirection, UndoRequest};
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::Action;

fn gated() -> RunState {
    let order = order(TurnPurpose::Step { n: 2 });
    asking(Phase::Execute, QuestionKind::Gate { order })
}

pub fn offer(way: UndoDirection) -> ReversalPreview {
    let text = |text: &str| text.to_owned();
    ReversalPreview {
        way,
        steps: vec![2, 3],
        inspected_tree: text("5ee7"),
        files: vec![
            (FileReversalKind::Modify, text("calc.py")),
            (FileReversalKind::Restore, text("tests/说明.md")),
            (
                FileReversalKind::Delete,
                text("a/rather/long/path/that/has/to/be/broken/somewhere/total.py"),
            ),
        ],
        user_edited: vec![text("calc.py")],
        unfinished: Some(3),
        commits: vec![(text("3f2c9a1be0aa"), text("[Step 2] test sum"))],
        commit_subject: Some(text("[Undo steps 2–3]")),
    }
}

#[test]
fn everything_that_would_happen_is_said_before_it_does() {
    let executing = gated();
    let mut undo = not_writing();
    undo.on_undo_previews(&[offer(UndoDirection::Undo { step: 2 })], Phase::Execute);
    check("dialog_undo", &mut undo, Some(&executing));
    let done = state(Phase::Done);
    let mut redo = not_writing();
    let nothing = ReversalPreview {
        user_edited: Vec::new(),
        unfinished: None,
        commits: Vec::new(),
        commit_subject: None,
        ..offer(UndoDirection::Redo)
    };
    redo.on_undo_previews(
        &[nothing, offer(UndoDirection::Undo { step: 1 })],
        Phase::Done,
    );
    check("dialog_redo", &mut redo, Some(&done));
}

#[test]
fn undoing_takes_a_key_of_its_own() {
    let gated = gated();
    let mut undo = not_writing();
    let asked = press(&mut undo, Some(&gated), &["u"]);
    assert_eq!(asked, [Action::Undo(UndoRequest::Last)]);
    undo.on_undo_previews(&[offer(UndoDirection::Undo { step: 2 })], Phase::Execute);
    assert_eq!(press(&mut undo, Some(&gated), &["<enter>"]), []);
    assert!(undo.dialogs.own.is_none(), "Enter goes back");
    undo.on_undo_previews(
        &[
            offer(UndoDirection::Redo),
            offer(UndoDirection::Undo { step: 2 }),
        ],
        Phase::Execute,
    );
    let pressed = press(&mut undo, Some(&gated), &["o", "y"]);
    let wanted = "[Event(UndoAsked { way: Undo { step: 2 }, seen: \"5ee7\" })]";
    assert_eq!(format!("{pressed:?}"), wanted);
    assert_eq!(
        press(&mut undo, Some(&gated), &["<c-r>"]),
        [Action::Undo(UndoRequest::Redo)]
    );
    undo.on_undo_previews(
        &[
            offer(UndoDirection::Undo { step: 2 }),
            offer(UndoDirection::Redo),
        ],
        Phase::Execute,
    );
    let pressed = press(&mut undo, Some(&gated), &["r", "y"]);
    let wanted = "[Event(UndoAsked { way: Redo, seen: \"5ee7\" })]";
    assert_eq!(format!("{pressed:?}"), wanted);
    let typed = press(
        &mut screen(),
        Some(&gated),
        &["/undo 3", "<enter>", "/redo", "<enter>"],
    );
    let wanted = [UndoRequest::BackTo(3), UndoRequest::Redo].map(Action::Undo);
    assert_eq!(typed, wanted);
}
