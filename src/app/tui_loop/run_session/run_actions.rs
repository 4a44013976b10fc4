//! Carries out what the user asks of the open run.

use std::path::PathBuf;

use crate::domain::discussion::DiscussionStopReason;
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::plan;
use crate::domain::question::{EditFollowUp, QuestionAnswer, QuestionKind};
use crate::domain::reversal_plan::{ReversalPreview, UndoRequest};
use crate::domain::task::TaskWaitMode;
use crate::engine::Engine;
use crate::engine::tree_reversal::preview_reversals;
use crate::store::{StoreError, WorkdirLayout, document_files};
use crate::tui::{DiscussionTopic, DocumentKind};

use super::super::background_result::{BackgroundResult, RunResult};
use super::super::background_work::BackgroundWork;
use super::super::tui_end::TuiEnd;
use super::task_actions::ChildHistory;
use super::{RunSession, discussion_actions, plan_line_edit, task_actions};

/// A request for a run that needs no goal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunRequest {
    /// Gives an agent a task.
    GiveTask {
        agent: String,
        prompt: String,
    },
    Discuss(DiscussionTopic),
    /// Previews an undo or redo of steps.
    Undo(UndoRequest),
}

impl RunRequest {
    /// Returns what the user typed, if the request has a text of the user's.
    pub fn typed_text(&self) -> Option<String> {
        match self {
            Self::Discuss(topic) if topic.text.is_empty() => None,
            Self::Discuss(topic) => Some(match &topic.preset {
                Some(preset) => format!("/discuss {preset} {}", topic.text),
                None => format!("/discuss {}", topic.text),
            }),
            Self::GiveTask { agent, prompt } => Some(format!("@{agent} {prompt}")),
            Self::Undo(_) => None,
        }
    }
}

impl RunSession {
    /// Carries out a request.
    pub fn perform(
        &mut self,
        request: &RunRequest,
        work: &mut BackgroundWork,
    ) -> Result<(), TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        match request {
            RunRequest::GiveTask { agent, prompt } => {
                if let Err(why) = task_actions::start_task(engine, agent, prompt)? {
                    self.return_to_composer(&why, request);
                }
                Ok(())
            }
            RunRequest::Discuss(topic) => {
                if let Err(why) = discussion_actions::start(engine, topic)? {
                    self.return_to_composer(&why, request);
                }
                self.show_updates()
            }
            RunRequest::Undo(wish) => {
                self.preview_undo(*wish, work);
                Ok(())
            }
        }
    }

    /// Shows why a request failed, and returns its text to the composer.
    fn return_to_composer(&mut self, why: &str, sent: &RunRequest) {
        self.screen.set_toast(why);
        if let RunRequest::Discuss(_) = sent {
            self.screen.on_discussion_not_started();
        }
        self.screen
            .return_messages(sent.typed_text().into_iter().collect());
    }

    /// Loads what an undo or redo of steps would do; the user is asked with the result.
    fn preview_undo(&mut self, wish: UndoRequest, work: &mut BackgroundWork) {
        let Some(engine) = &self.engine else {
            return;
        };
        if let Some(why) = engine.state().undo_blocker() {
            return self.screen.set_toast(&why);
        }
        let Some(execution) = engine.state().execution.clone() else {
            return;
        };
        let git = engine.repository().cloned();
        let commits = engine.reversal_commit_repository();
        work.spawn(async move {
            let offers = preview_reversals(git.as_ref(), &commits, &execution, wish).await;
            BackgroundResult::Run(RunResult::UndoOffers(offers))
        });
    }

    pub(super) fn on_undo_offers(&mut self, offers: Result<Vec<ReversalPreview>, String>) {
        let state = self.engine.as_ref().map(Engine::state);
        match (offers, state) {
            (Ok(offers), Some(state)) if state.undo_blocker().is_none() => {
                self.screen.on_undo_previews(&offers, state.phase);
            }
            (Ok(_), _) => self
                .screen
                .on_notice("The run continued while the changes were read. Try again."),
            (Err(why), _) => self.screen.on_notice(&format!("Nothing was undone: {why}")),
        }
    }

    /// Shows the settings that a discussion would have.
    pub fn plan_discussion(&mut self, topic: DiscussionTopic) {
        match &self.engine {
            Some(engine) => discussion_actions::plan(engine, topic, &mut self.screen),
            None => self.screen.set_toast(NO_RUN),
        }
    }

    /// Stops a discussion.
    pub fn stop_discussion(&mut self, id: &DiscussionId) -> Result<(), TuiEnd> {
        let stopped = match &mut self.engine {
            Some(engine) => engine.stop_discussion(id, DiscussionStopReason::User)?,
            None => false,
        };
        if !stopped {
            self.screen
                .set_toast("That discussion has already finished.");
        }
        self.show_updates()
    }

    /// Continues a discussion.
    pub fn continue_discussion(&mut self, id: &DiscussionId) -> Result<(), TuiEnd> {
        let Some(engine) = &mut self.engine else {
            self.screen.set_toast(NO_RUN);
            return Ok(());
        };
        if let Err(why) = engine.resume_discussion(id, TaskWaitMode::Background)? {
            self.screen.set_toast(&why.to_string());
        }
        self.show_updates()
    }

    /// Stops a child's task.
    pub fn stop_child(&mut self, session: &SessionId) {
        let stopped = self
            .engine
            .as_mut()
            .is_some_and(|engine| engine.stop_child_task(session, "stopped by the user"));
        if !stopped {
            self.screen.set_toast("That task has already finished.");
        }
    }

    /// Reads a child session in the background, because the log may be long.
    pub fn show_child(&mut self, session: &SessionId, work: &mut BackgroundWork) {
        let Some(layout) = self.layout().cloned() else {
            return;
        };
        let child = self.screen.new_child_view(session);
        work.spawn_blocking(move || {
            let read = ChildHistory::load(&layout, child);
            BackgroundResult::Run(RunResult::ChildRead(read))
        });
    }

    pub(super) fn on_child_read(
        &mut self,
        read: Result<ChildHistory, StoreError>,
    ) -> Result<(), TuiEnd> {
        // Whatever was recorded by now is in the log. The session gets from the screen what comes later.
        self.show_updates()?;
        self.apply_updates();
        match read.and_then(ChildHistory::read_rest) {
            Ok(child) => self.screen.show_child_session(child),
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
            }
        }
        Ok(())
    }

    /// Replaces a line of the plan (numbered from 1) in the background, if it still says `was`.
    pub fn rewrite_plan_line(
        &mut self,
        line: u32,
        was: String,
        text: String,
        work: &mut BackgroundWork,
    ) {
        if let Some(layout) = self.layout().cloned() {
            work.spawn_blocking(move || {
                let written = plan_line_edit::rewrite_plan_line(&layout, line, &was, &text);
                BackgroundResult::Run(RunResult::PlanLineWritten(written))
            });
        }
    }

    /// Returns the file to open in an editor, and holds the run back while it is open there; `None` if there is none,
    /// which the screen says.
    pub fn begin_edit(&mut self, document: DocumentKind) -> Result<Option<PathBuf>, TuiEnd> {
        let Some(layout) = self.layout() else {
            return Ok(None);
        };
        let file = match document {
            DocumentKind::Plan => Ok(layout.plan()),
            DocumentKind::Comments => Ok(layout.comments()),
            DocumentKind::Merge => match &self.engine {
                Some(engine) => engine.prepare_merge_file(),
                None => Err("No run has texts to merge.".to_owned()),
            },
        };
        let there = |file: &PathBuf| file.is_file();
        let missing = || format!("No {} yet.", document.label());
        match file.and_then(|file| Some(file).filter(there).ok_or_else(missing)) {
            Ok(file) => {
                self.set_plan_in_editor(document, true)?;
                Ok(Some(file))
            }
            Err(problem) => {
                self.screen.set_toast(&problem);
                Ok(None)
            }
        }
    }

    /// Continues after the editor has ended: with its problem, or with a merge that it has edited. Other changes are
    /// found like any other edit.
    pub fn end_edit(
        &mut self,
        document: DocumentKind,
        problem: Option<String>,
    ) -> Result<(), TuiEnd> {
        self.on_documents_changed();
        self.set_plan_in_editor(document, false)?;
        match (problem, self.open_conflict()) {
            (Some(problem), _) => self.screen.on_notice(&problem),
            // If conflicts remain, the question is asked again.
            (None, Some((id, _))) if document == DocumentKind::Merge => {
                let answer = QuestionAnswer::Merge;
                self.feed_event(Event::QuestionAnswered { id, answer })?;
            }
            (None, _) => {}
        }
        Ok(())
    }

    fn set_plan_in_editor(&mut self, document: DocumentKind, is_open: bool) -> Result<(), TuiEnd> {
        match &mut self.engine {
            Some(engine) if document == DocumentKind::Plan => {
                Ok(engine.set_plan_in_editor(is_open)?)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether a merge of texts waits for the user's editor.
    pub fn needs_merge_edit(&self) -> bool {
        matches!(self.open_conflict(), Some((_, true)))
    }

    /// Returns the number of the open conflict and whether its merge needs the user.
    fn open_conflict(&self) -> Option<(u32, bool)> {
        let question = self.state()?.awaiting.as_ref()?;
        match &question.kind {
            QuestionKind::Conflict { clash, .. } => Some((question.id, clash.is_some())),
            _ => None,
        }
    }

    /// Answers the question that waits for a manual edit, with the plan as it is now.
    pub fn finish_manual_edit(&mut self, id: u32, then: EditFollowUp) -> Result<(), TuiEnd> {
        let Some(layout) = self.layout() else {
            return Ok(());
        };
        match answer_from_edited_plan(layout, then) {
            Ok(answer) => self.feed_event(Event::QuestionAnswered { id, answer }),
            Err(problem) => {
                self.screen.on_notice(&problem);
                Ok(())
            }
        }
    }
}

/// What the user is told without a run.
const NO_RUN: &str = "No run yet. Write the goal first.";

fn answer_from_edited_plan(
    layout: &WorkdirLayout,
    then: EditFollowUp,
) -> Result<QuestionAnswer, String> {
    let document =
        document_files::read_document(&layout.plan()).map_err(|error| error.to_string())?;
    let name = &layout.names().plan;
    let gone = || format!("{name} is gone. Write it again, or stop the run.");
    let document = document.ok_or_else(gone)?;
    let text = String::from_utf8_lossy(&document.bytes);
    let plan = plan::parse(&text).map_err(|problem| format!("{name} is not a plan: {problem}"))?;
    Ok(QuestionAnswer::Edited {
        then,
        plan,
        file_sha256: document.sha256,
    })
}
