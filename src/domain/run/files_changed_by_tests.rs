//! Handles tests that change the files they test: they run once more, then the user decides what to commit.
//!
//! Snapshot tests legitimately change files. The commit contains a tree that was tested, unless the user includes what
//! the tests wrote.

use super::current_step::{exclude_paths, run_tests, test_artifacts};
use super::{RunState, open_questions, proof_questions};
use crate::domain::effect::Effect;
use crate::domain::plan_execution::DirtyPolicy;
use crate::domain::question::{FileOrigin, QuestionAnswer, QuestionKind};
use crate::domain::receipt::{Receipt, TestOutcome};

/// Returns the effects that come between passing tests that changed these files and the commit; `None` where there are
/// none.
pub(super) fn check_rewritten_files(
    state: &mut RunState,
    step: u32,
    receipt: &Receipt,
    rewritten: &[String],
) -> Option<Vec<Effect>> {
    if receipt.outcome == TestOutcome::NoCommand {
        return None;
    }
    let execution = state.execution.as_mut()?;
    let outside = test_artifacts(execution);
    let current = execution.current.as_ref()?;
    let uncommitted = execution.uncommitted_paths(current);
    let rewritten = exclude_paths(&exclude_paths(rewritten, &outside), &uncommitted);
    let rewritten = exclude_paths(&rewritten, &current.users_edits);
    let policy = &execution.rewritten_policy;
    let undecided: Vec<String> = rewritten
        .iter()
        .filter(|path| !policy.contains_key(*path))
        .cloned()
        .collect();
    let is_left_out = |path: &String| policy.get(path) == Some(&DirtyPolicy::LeaveOut);
    let takes_tested = rewritten.iter().any(is_left_out);
    let current = execution.current.as_mut()?;
    if takes_tested {
        current.commit_tree = receipt.tree_before.clone();
    }
    if undecided.is_empty() {
        return None;
    }
    if !current.tested_again {
        current.tested_again = true;
        return Some(run_tests(state));
    }
    let question = QuestionKind::DirtyFiles {
        step,
        paths: undecided,
        origin: FileOrigin::WrittenByTests,
    };
    Some(open_questions::ask_user(state, question))
}

pub(super) fn on_rewritten_files_answered(
    state: &mut RunState,
    paths: &[String],
    answer: &QuestionAnswer,
) -> Vec<Effect> {
    let policy = match answer {
        QuestionAnswer::Include => DirtyPolicy::Include,
        _ => DirtyPolicy::LeaveOut,
    };
    if let Some(execution) = &mut state.execution {
        let decided = paths.iter().map(|path| (path.clone(), policy));
        execution.rewritten_policy.extend(decided);
        if let Some(current) = execution.current.as_mut()
            && policy == DirtyPolicy::LeaveOut
        {
            let receipt = current.receipt.as_ref();
            current.commit_tree = receipt.and_then(|receipt| receipt.tree_before.clone());
        }
    }
    proof_questions::accept_tests(state)
}
