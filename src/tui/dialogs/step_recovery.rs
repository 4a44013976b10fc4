//! Dialog: the program ended in the middle of a step; what shall become of what is there?

use super::{answer, back_to_the_goal, cancel, identity};
use crate::domain::diff_scope::DiffScope;
use crate::domain::plan_execution::StepStage;
use crate::domain::question::QuestionAnswer;
use crate::tui::command::Command;
use crate::tui::sheet::{Sheet, Then};
use crate::tui::theme;

pub(super) fn sheet(id: u32, step: u32, stage: StepStage) -> Sheet {
    let title = format!("step {step} was cut off: what now?");
    let cut_off = format!("The program ended while {}.", stage.describe());
    Sheet::new(identity(id), &title)
        .says(&cut_off, theme::PLAIN)
        .offers(
            'g',
            "continue the step from what is there",
            answer(id, QuestionAnswer::ContinueStep),
        )
        .offers(
            'd',
            "read the diff",
            Then::Do(Command::Diff(DiffScope::Step(step))),
        )
        .offers(
            'y',
            "treat it as done: test and commit what is there",
            answer(id, QuestionAnswer::TreatAsDone),
        )
        .offers(
            'r',
            "redo: the tree goes back to before the step",
            answer(id, QuestionAnswer::RedoStep),
        )
        .offers('b', "stop, back to the goal", back_to_the_goal(id))
        .offers('c', "cancel the run", cancel())
}
