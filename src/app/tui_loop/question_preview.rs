//! Loads what the open question is about, if it is not in the run's state: once per question.

use crate::domain::question::QuestionKind;
use crate::engine::Engine;
use crate::tui::AdapterSandboxView;

use super::TuiApp;

impl TuiApp {
    /// Shows how the CLIs of a run are sandboxed.
    pub(super) fn show_sandboxing(&mut self, engine: &Engine) {
        let sandboxes = engine.describe_role_sandboxes().into_iter();
        let sandboxes = sandboxes.map(|(adapter, (by_kernel, by_protocol))| AdapterSandboxView {
            adapter,
            by_kernel,
            by_protocol,
        });
        self.screen.on_sandbox_status(sandboxes.collect());
        self.screen
            .on_unsandboxed_agent(engine.has_uncontained_role());
    }

    /// Shows what the open question is about, if it is not in the state: the prompt of the turn at the gate, or the
    /// texts in conflict. Once per question, and after each edit.
    pub(super) fn preview_question(&mut self) {
        self.show_first_approval();
        let Some(engine) = &self.engine else {
            return;
        };
        let Some(question) = &engine.state().awaiting else {
            return;
        };
        if self.previewed_question == Some(question.id) {
            return;
        }
        match &question.kind {
            QuestionKind::Gate { order } => {
                self.previewed_question = Some(question.id);
                let prompt = engine.preview_prompt(order);
                let prompt = prompt.unwrap_or_else(|problem| format!("no prompt: {problem}"));
                self.screen.on_prompt_preview(&prompt);
            }
            QuestionKind::Conflict { .. } | QuestionKind::Draft { .. } => {
                self.previewed_question = Some(question.id);
                match engine.conflict_versions() {
                    Ok(versions) => self.screen.on_versions(versions),
                    Err(error) => self.screen.on_notice(&error.to_string()),
                }
            }
            _ => {}
        }
    }
}
