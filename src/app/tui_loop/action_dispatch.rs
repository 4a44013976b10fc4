//! Carries out the user's actions: each one calls one function.

use std::path::PathBuf;

use crossterm::event::EventStream;
use tokio::time::Instant;

use crate::app::discussion_command::{self, is_discussion_request};
use crate::app::ipc_socket::PendingIpcRequest;
use crate::app::remote_control::halt_reason;
use crate::app::task_command::{self, is_task_request};
use crate::domain::event::Event;
use crate::domain::plan;
use crate::domain::question::{EditFollowUp, QuestionAnswer, QuestionKind};
use crate::engine::Engine;
use crate::store::{WorkdirLayout, document_files};
use crate::tui::{Action, DocumentKind};

use super::frame_limiter::FrameReason;
use super::run_startup::RunStartKind;
use super::shutdown::TuiEnd;
use super::{BackgroundResult, TuiApp, TuiStart, external_editor};

impl TuiApp {
    pub(super) fn on_action(&mut self, action: Action) -> Result<Option<TuiEnd>, TuiEnd> {
        match action {
            Action::Event(event) => self.on_event(event),
            Action::Quit(step) => self.on_quit(step),
            Action::Suspend => self.suspend(),
            Action::Redraw => self.redraw(),
            Action::Edit(document) => self.edit_document(document),
            Action::Rewrite { line, was, text } => self.rewrite_plan_line(line, was, text),
            Action::EditingDone { id, then } => self.on_editing_done(id, then),
            Action::NewRun { goal, refiner } => self.start_run(RunStartKind::Goal(goal, refiner)),
            Action::Resume => self.start_run(RunStartKind::Unfinished),
            Action::Archive => self.archive_unfinished(),
            Action::Instructions(choice) => self.on_instructions_choice(choice),
            Action::ShowHistory => self.show_history(),
            Action::OpenRun(name) => self.open_finished_run(&name),
            Action::ExportRun(form) => self.export_run(form),
            Action::CloseView => Ok(self.close_view()),
            Action::TakeOver => self.take_over(TuiStart::AskForGoal),
            Action::BringBack(name) => self.resume_archived_run(name),
            Action::AnswerApproval { call, answer } => self.decide_approval(call, answer),
            Action::ShowPermissions => self.show_permissions(),
            Action::Revoke(id) => self.revoke_approval(id),
            Action::GiveTask { agent, prompt } => self.give_task(agent, prompt),
            Action::Discuss(topic) => self.start_discussion(topic),
            Action::PlanDiscussion(topic) => self.plan_discussion(topic),
            Action::StopDiscussion(id) => self.stop_discussion(&id),
            Action::GoOnDiscussing(id) => self.continue_discussion(&id),
            Action::ExportDiscussion(id) => self.export_discussion(&id),
            Action::ShowBudget(preset) => self.show_budget(preset),
            Action::Diagnose => self.diagnose(),
            Action::ShowChild(session) => self.show_child(&session),
            Action::StopChild(session) => self.stop_child(&session),
            Action::ListFiles => self.list_repository_files(),
            Action::Copy(text) => self.copy_to_clipboard(text),
            Action::KeepTheme(name) => self.save_theme(name),
            Action::OpenText { text, with } => self.open_text(text, with),
            Action::OpenCall { call, with } => self.open_call(call, with),
            Action::ShowDiff(scope) => self.show_diff(scope),
            Action::Undo(wish) => self.preview_undo(wish),
        }
    }

    /// Carries out a command of another process, visibly for the user.
    pub(super) fn on_remote_request(
        &mut self,
        asked: PendingIpcRequest,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        if is_task_request(&asked.request) {
            self.screen.on_notice("received `agent-collab task`");
            return match task_command::handle_request(asked, self.engine.as_mut()) {
                Ok(()) => Ok(None),
                Err(error) => Err(TuiEnd::Failed(error)),
            };
        }
        if is_discussion_request(&asked.request) {
            self.screen.on_notice("received `agent-collab discuss`");
            return match discussion_command::handle_request(asked, self.engine.as_mut()) {
                Ok(()) => Ok(None),
                Err(error) => Err(TuiEnd::Failed(error)),
            };
        }
        let state = self.engine.as_ref().map(Engine::state);
        let request = &asked.request;
        let sent = self
            .screen
            .perform_remote_command(&request.command, &request.text, state);
        let actions = match sent {
            Ok(actions) => actions,
            Err(why) => {
                asked.reply(Err(why));
                return Ok(None);
            }
        };
        if let Some(why) = actions
            .iter()
            .find_map(|action| self.action_blocker(action))
        {
            asked.reply(Err(why));
            return Ok(None);
        }
        let text = format!("received `agent-collab send {}`", request.command);
        self.screen.on_notice(&text);
        let ended = self.handle_actions(actions);
        match &ended {
            // Dropping the request tells the client that the instance is ending.
            Err(TuiEnd::Failed(_)) => {}
            Ok(None) => asked.reply(
                self.engine
                    .as_ref()
                    .and_then(halt_reason)
                    .map_or(Ok(()), Err),
            ),
            Ok(Some(_)) | Err(_) => asked.reply(Ok(())),
        }
        ended
    }

    /// Returns why an action of another process would have no effect, as far as that is known in advance.
    fn action_blocker(&self, action: &Action) -> Option<String> {
        match (action, &self.engine) {
            (Action::NewRun { goal, refiner }, _) => self
                .start_blocker(&RunStartKind::Goal(goal.clone(), *refiner))
                .map(str::to_owned),
            // The event waits for the run that is being opened.
            (Action::Event(_), None) if self.pending_start.is_some() => None,
            (Action::Event(_), None) => Some("No run is open on this screen.".to_owned()),
            (Action::Event(_), Some(engine)) => halt_reason(engine),
            _ => None,
        }
    }

    /// Opens the user's editor in the terminal; the run continues in the background.
    fn edit_document(&mut self, document: DocumentKind) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        let file = match document {
            DocumentKind::Plan => Ok(occupied.layout.plan()),
            DocumentKind::Comments => Ok(occupied.layout.comments()),
            DocumentKind::Merge => self.prepare_merge_file(),
        };
        let there = |file: &PathBuf| file.is_file();
        let missing = || format!("No {} yet.", document.label());
        let file = match file.and_then(|file| Some(file).filter(there).ok_or_else(missing)) {
            Ok(file) => file,
            Err(problem) => {
                self.screen.set_toast(&problem);
                return Ok(None);
            }
        };
        self.set_plan_in_editor(document, true)?;
        self.release_input();
        self.terminal
            .lend_to_program()
            .map_err(TuiEnd::TerminalGone)?;
        self.spawn_background(async move {
            let editor = external_editor::editor_command_line();
            BackgroundResult::EditorClosed(
                document,
                external_editor::run_editor(&editor, &file).await,
            )
        });
        Ok(None)
    }

    /// Takes the terminal back from the editor. Its changes are found like any other edit.
    pub(super) fn on_editor_closed(
        &mut self,
        document: DocumentKind,
        ended: std::io::Result<std::process::ExitStatus>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        self.terminal
            .restore_after_program(external_editor::terminal_condition_after(&ended));
        self.terminal.reacquire().map_err(TuiEnd::TerminalGone)?;
        self.notifier.forget_title();
        self.input = Some(EventStream::new());
        self.screen.mark_dirty();
        self.frame_reason = FrameReason::ForUser;
        self.document_tracker.on_changed(Instant::now());
        self.set_plan_in_editor(document, false)?;
        match ended {
            Ok(status) if status.success() && document == DocumentKind::Merge => {
                return self.apply_edited_merge();
            }
            Ok(status) if status.success() => {}
            Ok(status) => {
                let editor = external_editor::editor_command_line();
                self.screen.on_notice(&format!(
                    "The editor `{editor}` failed with {status}. Set VISUAL or EDITOR to use another one."
                ));
            }
            Err(error) => self
                .screen
                .on_notice(&format!("Cannot start an editor: {error}")),
        }
        Ok(None)
    }

    fn set_plan_in_editor(&mut self, document: DocumentKind, is_open: bool) -> Result<(), TuiEnd> {
        match &mut self.engine {
            Some(engine) if document == DocumentKind::Plan => {
                Ok(engine.set_plan_in_editor(is_open)?)
            }
            _ => Ok(()),
        }
    }

    fn prepare_merge_file(&self) -> Result<PathBuf, String> {
        let engine = self.engine.as_ref();
        let engine = engine.ok_or("No run has texts to merge.")?;
        engine.prepare_merge_file()
    }

    /// Merges with the edited file; if conflicts remain, the question is asked again.
    fn apply_edited_merge(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        match self.open_conflict() {
            Some((id, _)) => self.feed_event(Event::QuestionAnswered {
                id,
                answer: QuestionAnswer::Merge,
            }),
            None => Ok(None),
        }
    }

    /// Merges both texts; on conflicts, opens the merge in the user's editor.
    pub(super) fn merge_conflict(&mut self, id: u32) -> Result<Option<TuiEnd>, TuiEnd> {
        let answer = QuestionAnswer::Merge;
        if let Some(end) = self.feed_event(Event::QuestionAnswered { id, answer })? {
            return Ok(Some(end));
        }
        match self.open_conflict() {
            Some((_, true)) => self.edit_document(DocumentKind::Merge),
            Some((_, false)) | None => Ok(None),
        }
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
    fn on_editing_done(&mut self, id: u32, then: EditFollowUp) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        match answer_from_edited_plan(&occupied.layout, then) {
            Ok(answer) => self.feed_event(Event::QuestionAnswered { id, answer }),
            Err(problem) => {
                self.screen.on_notice(&problem);
                Ok(None)
            }
        }
    }
}

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
