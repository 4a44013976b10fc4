//! Carries out the user's actions and the commands of other processes: each one calls one owner.

use crate::app::discussion_command::{self, is_discussion_request};
use crate::app::ipc_socket::PendingIpcRequest;
use crate::app::remote_control::halt_reason;
use crate::app::task_command::{self, is_task_request};
use crate::domain::event::Event;
use crate::domain::question::QuestionAnswer;
use crate::tui::{Action, DocumentKind};

use super::run_session::RunRequest;
use super::run_starter::RunStartKind;
use super::tui_end::TuiEnd;
use super::{TuiApp, TuiStart, front_run};

impl TuiApp {
    pub(super) fn handle_actions(&mut self, actions: Vec<Action>) -> Result<(), TuiEnd> {
        for action in actions {
            self.on_action(action)?;
        }
        Ok(())
    }

    fn on_action(&mut self, action: Action) -> Result<(), TuiEnd> {
        let Self {
            starter,
            session,
            viewer,
            terminal,
            work,
            ..
        } = self;
        match action {
            Action::Event(event) => self.on_event(event)?,
            Action::Quit(step) => self.on_quit(step)?,
            Action::Suspend => terminal.suspend()?,
            Action::Redraw => terminal.redraw()?,
            Action::Edit(document) => self.edit_document(document)?,
            Action::Rewrite { line, was, text } => session.rewrite_plan_line(line, was, text, work),
            Action::EditingDone { id, then } => session.finish_manual_edit(id, then)?,
            Action::NewRun { goal, refiner } => {
                starter.start(RunStartKind::Goal(goal, refiner), session, work)?;
            }
            Action::Resume => starter.start(RunStartKind::Unfinished, session, work)?,
            Action::Archive => starter.archive_unfinished(session),
            Action::Instructions(choice) => {
                starter.on_instructions_choice(choice, session, work)?;
            }
            Action::ShowHistory => viewer.list_history(session.layout(), work),
            Action::OpenRun(name) => self.open_finished_run(&name),
            Action::ExportRun(form) => self.export_run(form),
            Action::CloseView => self.close_view()?,
            Action::TakeOver => self.take_over(TuiStart::AskForGoal),
            Action::BringBack(name) => self.resume_archived_run(name),
            Action::AnswerApproval { call, answer } => session.decide_approval(call, answer)?,
            Action::ShowPermissions => session.show_permissions(),
            Action::Revoke(id) => session.revoke_approval(id),
            Action::GiveTask { agent, prompt } => {
                let task = RunRequest::GiveTask { agent, prompt };
                starter.on_request(task, session, work)?;
            }
            Action::Discuss(topic) => {
                starter.on_request(RunRequest::Discuss(topic), session, work)?;
            }
            Action::Undo(wish) => starter.on_request(RunRequest::Undo(wish), session, work)?,
            Action::PlanDiscussion(topic) => session.plan_discussion(topic),
            Action::StopDiscussion(id) => session.stop_discussion(&id)?,
            Action::GoOnDiscussing(id) => session.continue_discussion(&id)?,
            Action::ExportDiscussion(id) => self.export_discussion(&id),
            Action::ShowBudget(preset) => {
                front_run::preview_budget(starter.wishes().clone(), preset, work);
            }
            Action::Diagnose => front_run::diagnose(starter.wishes().clone(), work),
            Action::ShowChild(child) => session.show_child(&child, work),
            Action::StopChild(child) => session.stop_child(&child),
            Action::ListFiles => self.list_repository_files(),
            Action::Copy(text) => terminal.copy_to_clipboard(text, work)?,
            Action::KeepTheme(name) => self.theme_saver.save(name, work),
            Action::OpenText { text, with } => self.open_text(&text, with)?,
            Action::OpenCall { call, with } => self.open_call(call, with)?,
            Action::ShowDiff(scope) => self.show_diff(scope),
        }
        Ok(())
    }

    /// Handles an event of the user. A merge with conflicts opens in the user's editor.
    fn on_event(&mut self, event: Event) -> Result<(), TuiEnd> {
        let is_merge = matches!(
            event,
            Event::QuestionAnswered {
                answer: QuestionAnswer::Merge,
                ..
            }
        );
        let waits = self.starter.is_pending();
        self.starter.on_event(event, &mut self.session)?;
        if is_merge && !waits && self.session.needs_merge_edit() {
            return self.edit_document(DocumentKind::Merge);
        }
        Ok(())
    }

    /// Carries out a command of another process, visibly for the user.
    pub(super) fn on_remote_request(&mut self, asked: PendingIpcRequest) -> Result<(), TuiEnd> {
        if is_task_request(&asked.request) {
            let notice = "received `agent-collab task`";
            self.session.screen().on_notice(notice);
            task_command::handle_request(asked, self.session.engine_for_request())?;
            return Ok(());
        }
        if is_discussion_request(&asked.request) {
            let notice = "received `agent-collab discuss`";
            self.session.screen().on_notice(notice);
            discussion_command::handle_request(asked, self.session.engine_for_request())?;
            return Ok(());
        }
        let request = &asked.request;
        let (screen, state) = self.session.screen_and_state();
        let sent = screen.perform_remote_command(&request.command, &request.text, state);
        let actions = match sent {
            Ok(actions) => actions,
            Err(why) => {
                asked.reply(Err(why));
                return Ok(());
            }
        };
        let mut blockers = actions
            .iter()
            .filter_map(|action| self.action_blocker(action));
        if let Some(why) = blockers.next() {
            asked.reply(Err(why));
            return Ok(());
        }
        let text = format!("received `agent-collab send {}`", request.command);
        self.session.screen().on_notice(&text);
        let ended = self.handle_actions(actions);
        match &ended {
            // Dropping the request tells the client that the instance is ending.
            Err(TuiEnd::Failed(_)) => {}
            Ok(()) => {
                let halted = self.session.engine().and_then(halt_reason);
                asked.reply(halted.map_or(Ok(()), Err));
            }
            Err(_) => asked.reply(Ok(())),
        }
        ended
    }

    /// Returns why an action of another process would have no effect, as far as that is known in advance.
    fn action_blocker(&self, action: &Action) -> Option<String> {
        match (action, self.session.engine()) {
            (Action::NewRun { goal, refiner }, _) => {
                let what = RunStartKind::Goal(goal.clone(), *refiner);
                let blocker = self.starter.start_blocker(&what, self.session.state());
                blocker.map(str::to_owned)
            }
            // The event waits for the run that is being opened.
            (Action::Event(_), None) if self.starter.is_pending() => None,
            (Action::Event(_), None) => Some("No run is open on this screen.".to_owned()),
            (Action::Event(_), Some(engine)) => halt_reason(engine),
            _ => None,
        }
    }
}
