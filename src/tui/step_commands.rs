//! Carries out the commands about steps: undo, skip, plan again, and the diff of a step.

use super::Screen;
use super::action::Action;
use super::diff_view::DiffView;
use super::keymap::ComposerFocus;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::plan_execution::PlanExecution;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::run::RunState;

impl Screen {
    /// Requests a preview of the undo; the dialog opens with the answer.
    pub(super) fn request_undo(
        &mut self,
        wish: UndoRequest,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        // Without an open run, the program opens the finished one of this repository for it.
        if let Some(why) = state.and_then(RunState::undo_blocker) {
            return self.show_toast(&why);
        }
        self.show_toast("Checking what it would do …");
        vec![Action::Undo(wish)]
    }

    /// Skips a step or has it planned again; a running turn ends.
    pub(super) fn change_unfinished_step(
        &mut self,
        state: Option<&RunState>,
        step: u32,
        event: Event,
    ) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No plan is being executed.");
        };
        let is_replan = matches!(event, Event::PlanEntered { .. });
        let blocker = if is_replan {
            state.replan_blocker(step)
        } else {
            state.skip_blocker(step)
        };
        if let Some(why) = blocker {
            return self.show_toast(&why);
        }
        let current = state.execution.as_ref().and_then(|e| e.current.as_ref());
        let is_current = current.is_some_and(|current| current.n == step);
        let mut events = Vec::new();
        if state.running.is_some() && (is_current || is_replan) {
            events.push(Event::InterruptRequested);
        }
        events.push(event);
        events.into_iter().map(Action::Event).collect()
    }

    /// Opens the diff of a step, or says which steps have one.
    pub(super) fn show_diff(&mut self, scope: DiffScope, state: Option<&RunState>) -> Vec<Action> {
        let execution = state.and_then(|state| state.execution.as_ref());
        let scopes = execution
            .map(PlanExecution::diff_scopes)
            .unwrap_or_default();
        let steps: Vec<String> = scopes
            .iter()
            .filter_map(|scope| match scope {
                DiffScope::Step(n) => Some(n.to_string()),
                _ => None,
            })
            .collect();
        match scope {
            DiffScope::Step(n) if !steps.is_empty() && !scopes.contains(&scope) => {
                let steps = steps.join(", ");
                self.show_toast(&format!(
                    "Step {n} changed nothing. Steps with changes: {steps}"
                ))
            }
            _ => self.open_diff(scope),
        }
    }

    /// Opens the diff view at once; the diff itself follows.
    pub(super) fn open_diff(&mut self, scope: DiffScope) -> Vec<Action> {
        (self.overlays.pager, self.overlays.board) = (None, None);
        self.overlays.diff = Some(DiffView::open(scope));
        self.composer.focus = ComposerFocus::Unfocused;
        vec![Action::ShowDiff(scope)]
    }
}
