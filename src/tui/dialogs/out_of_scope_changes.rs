//! Dialog: a step changed files that its plan does not name.
//!
//! Enter only shows the diff. Restoring the files saves their current content first, so that either answer
//! can be reversed.

use super::changed_files;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;
use crate::domain::step_scope::ScopeChange;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::text_wrap::to_one_line;

pub(super) fn build_dialog(
    id: u32,
    step: u32,
    changes: &[ScopeChange],
    state: &RunState,
) -> ChoiceDialog {
    let title = format!("Step {step} changed files that its plan does not name");
    let said = "Nothing is tested or committed yet.";
    let named = state.step_proof_plan(step).files.join(", ");
    let said = if named.is_empty() {
        said.to_owned()
    } else {
        format!("The plan names {}. {said}", to_one_line(&named))
    };
    let describe = |change: &ScopeChange| {
        if change.is_deleted {
            "deleted"
        } else {
            "changed"
        }
    };
    let put_back = "Restore only these files";
    changed_files::build_dialog(
        id,
        step,
        &title,
        &said,
        changes
            .iter()
            .map(|change| (&*change.path, describe(change))),
        [
            ('r', put_back, QuestionAnswer::PutBack),
            ('y', "Allow them in this step", QuestionAnswer::Allow),
        ],
    )
}
