//! Loads what the open dialog is about, if it is not in the run's state: once per question and per call.

use crate::domain::ids::RunId;
use crate::domain::question::QuestionKind;
use crate::engine::Engine;
use crate::tui::{ExactCall, Screen};

/// The dialogs whose previews are on the screen.
#[derive(Debug, Default)]
pub struct DialogPreviews {
    question: Option<u32>,
    /// The call whose exact form is shown: its run and its number there.
    approval: Option<(RunId, u32)>,
}

impl DialogPreviews {
    /// Makes the preview of the question load again, because what it shows has changed.
    pub fn forget_question(&mut self) {
        self.question = None;
    }

    /// Shows what the open dialog is about: the first pending call exactly as it was made, the prompt of the turn at
    /// the gate, or the texts in conflict.
    pub fn show(&mut self, engine: &Engine, screen: &mut Screen) {
        self.show_first_approval(engine, screen);
        let Some(question) = &engine.state().awaiting else {
            return;
        };
        if self.question == Some(question.id) {
            return;
        }
        match &question.kind {
            QuestionKind::Gate { order } => {
                self.question = Some(question.id);
                let prompt = engine.preview_prompt(order);
                let prompt = prompt.unwrap_or_else(|problem| format!("no prompt: {problem}"));
                screen.on_prompt_preview(&prompt);
            }
            QuestionKind::Conflict { .. } | QuestionKind::Draft { .. } => {
                self.question = Some(question.id);
                match engine.conflict_versions() {
                    Ok(versions) => screen.on_versions(versions),
                    Err(error) => screen.on_notice(&error.to_string()),
                }
            }
            _ => {}
        }
    }

    fn show_first_approval(&mut self, engine: &Engine, screen: &mut Screen) {
        let Some(first) = engine.state().approvals.first() else {
            return;
        };
        let call = (engine.state().run.clone(), first.n);
        if self.approval.as_ref() == Some(&call) {
            return;
        }
        if let Some(shown) = engine.pending_approval_detail(first.n) {
            screen.on_pending_call(ExactCall {
                call: first.n,
                text: shown.text.clone(),
                diff: shown.diff.clone(),
            });
        }
        self.approval = Some(call);
    }
}
