//! Carries out commands: as an action, as a change of the view, or as a toast that says why not now.

use super::Screen;
use super::action::Action;
use super::action::QuitStep;
use super::command::ScreenCommand;
use super::command_palette::CommandPalette;
use super::command_table::changes_run;
use super::composer_target::{self, ComposerTarget};
use super::copy_commands::FrontView;
use super::dialog::{ChoiceAction, ChoiceDialog, DialogChoice};
use super::dialogs::quit_confirmation;
use super::dialogs::{self, confirmations};
use super::diff_view::{DiffAction, DiffView};
use super::discussion_commands::DiscussionCommands;
use super::help;
use super::keymap::ComposerFocus;
use super::pager::{PagerFormat, TextPager};
use super::remote_commands::parse_remote_command;
use super::remote_commands::sends_turn;
use super::run_commands::{self, CommandOutcome};
use super::toast_line::ToastKind;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::phase::TurnHold;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::QuestionKind;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::run::RunState;
use crate::text::clean_text;

impl Screen {
    /// Carries out a command.
    #[expect(clippy::too_many_lines, reason = "one arm a command: a list to read")]
    pub(super) fn perform_command(
        &mut self,
        command: ScreenCommand,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        if command == ScreenCommand::ResumeRun
            && let Some(run) = self.settings.resumable_run()
        {
            let sheet = dialogs::run_history_list::build_unarchive_dialog(run);
            return self.open_dialog(sheet);
        }
        if let Some(why) = self
            .settings
            .read_only_reason()
            .filter(|_| changes_run(&command))
        {
            return self.show_toast(&why);
        }
        match command {
            ScreenCommand::Go => self.send_turn_or_confirm_goal(state),
            ScreenCommand::AutoGate => self.apply(run_commands::set_gate(Gate::Auto, state)),
            ScreenCommand::ManualGate => self.apply(run_commands::set_gate(Gate::Manual, state)),
            ScreenCommand::Mode(mode) => self.apply(run_commands::set_mode(mode, state)),
            ScreenCommand::StopToGoal => {
                let outcome = run_commands::stop_to_goal(state, self.keymap());
                self.apply(outcome)
            }
            ScreenCommand::SteerTurn(text) => self.steer_turn(text, state),
            ScreenCommand::InterruptTurn => self.apply(run_commands::interrupt_turn(state)),
            ScreenCommand::ApprovePlan => self.apply(run_commands::answer_question(state, "yes")),
            ScreenCommand::Changes(text) => self.apply(run_commands::request_changes(state, &text)),
            ScreenCommand::CancelRun => self.apply(run_commands::cancel_run(state)),
            ScreenCommand::SetGoal(text) => self.set_goal(&text, state),
            ScreenCommand::Edit(document) => vec![Action::Edit(document)],
            ScreenCommand::AllowCall => self.apply(run_commands::decide_call(
                state,
                ApprovalDecision::AllowOnce,
            )),
            ScreenCommand::RejectCall(why) if why.is_empty() => self.apply(
                run_commands::decide_call(state, ApprovalDecision::DenyAndStop),
            ),
            ScreenCommand::RejectCall(why) => self.apply(run_commands::decide_call(
                state,
                ApprovalDecision::DenyWithReason(why),
            )),
            ScreenCommand::AnswerQuestion(word) => {
                self.apply(run_commands::answer_question(state, &word))
            }
            ScreenCommand::Undo(wish) => self.apply(run_commands::request_undo(wish, state)),
            ScreenCommand::SkipStep(step, reason) => {
                self.apply(run_commands::skip_step(state, step, reason))
            }
            ScreenCommand::ReplanStep(step, reason) => {
                self.apply(run_commands::replan_step(state, step, reason))
            }
            ScreenCommand::Diff(scope) => self.show_diff(scope, state),
            ScreenCommand::DiffOfFile(path) => self.open_diff_of_file(path),
            ScreenCommand::StartTask(agent, prompt) => {
                let agents = &self.composer.assist.agents;
                let outcome = run_commands::give_task(agent, prompt, agents);
                self.apply(outcome)
            }
            ScreenCommand::Discuss(wish) => {
                DiscussionCommands::new(self, state).perform_discussion_command(&wish)
            }
            ScreenCommand::BoardAction(does) => {
                DiscussionCommands::new(self, state).perform_board_action(does)
            }
            ScreenCommand::ResumeRun => self.apply(run_commands::resume_run(state)),
            ScreenCommand::ExportRun(form) => self.apply(run_commands::export_run(form, state)),
            ScreenCommand::ChooseRefiner(role) => {
                let goal = self.dialogs.proposed_goal.clone();
                let settings = &self.settings;
                let outcome = self.composer.choose_refiner(role, goal, state, settings);
                self.apply(outcome)
            }
            ScreenCommand::ViewFullText => self.view_full_text(state),
            ScreenCommand::Theme(Some(name)) => {
                let outcome = self.dialogs.choose_theme(&name, &mut self.settings);
                self.apply(outcome)
            }
            ScreenCommand::Theme(None) => {
                let sheet = self.dialogs.open_theme_list(&self.settings);
                self.open_dialog(sheet)
            }
            ScreenCommand::ToggleThinking => {
                let chat = &mut self.tabs.chat.transcript;
                self.overlays.front_transcript(chat).toggle_thinking();
                Vec::new()
            }
            ScreenCommand::Copy => self.copy_front(state),
            ScreenCommand::SelectAdjacent(along) => {
                self.change_view(|screen| screen.select_adjacent(along, state))
            }
            ScreenCommand::GoToWaitingDialog => self.go_to_waiting_dialog(state),
            ScreenCommand::OpenSearch => self.open_search(),
            ScreenCommand::AddPlanNote(text) => self.add_plan_note(text, state),
            ScreenCommand::CloseThread(n) => self.close_thread(n, state),
            ScreenCommand::RewritePlanLine => self.rewrite_plan_line(state),
            ScreenCommand::TogglePaneFocus => self.toggle_pane_focus(),
            ScreenCommand::Show(tab) => self.change_view(|screen| screen.show_tab(tab)),
            ScreenCommand::Scroll(to) => self.change_view(|screen| screen.move_by_line(to, state)),
            ScreenCommand::FocusComposer => self.change_view(Screen::focus_composer),
            ScreenCommand::Quit => self.on_quit(state),
            ScreenCommand::ShowHelp => {
                let pager = help::help_pager(self.keymap(), self.tabs.shown_actions());
                self.open_pager(pager)
            }
            ScreenCommand::OpenPalette => self.open_palette(),
            ScreenCommand::DiffAction(does) => self.perform_diff_action(does),
            ScreenCommand::UndoShownStep => self.undo_shown_step(state),
            ScreenCommand::SearchAction(step) => {
                self.overlays
                    .perform_search_step(step, &mut self.tabs, state);
                Vec::new()
            }
            ScreenCommand::Close => self.close_top(state).unwrap_or_default(),
            ScreenCommand::Call(call) => (call.function)(self, &call.argument, state),
        }
    }

    /// Copies what is in front: a view over the tab, or the tab.
    pub(super) fn copy_front(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let (overlays, context) = self.split_overlays(state, None);
        match overlays.view().and_then(|view| view.copy(&context)) {
            Some(outcome) => self.apply(outcome),
            None => self.apply_to_front(state, |front| front.copy_selection()),
        }
    }

    /// Does what a command asks for that is about the view in front.
    pub(super) fn apply_to_front(
        &mut self,
        state: Option<&RunState>,
        command: impl FnOnce(&mut FrontView<'_>) -> CommandOutcome,
    ) -> Vec<Action> {
        let outcome = command(&mut FrontView {
            overlays: &self.overlays,
            tabs: &mut self.tabs,
            documents: &self.documents,
            settings: &self.settings,
            state,
        });
        self.apply(outcome)
    }

    /// Does what a command asks for.
    pub(super) fn apply(&mut self, outcome: CommandOutcome) -> Vec<Action> {
        if let Some(note) = outcome.note {
            self.toast.show(&note, outcome.note_kind);
        }
        if let Some(dialog) = outcome.dialog {
            self.open_dialog(dialog);
        }
        outcome.actions
    }

    pub(super) fn change_view(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Action> {
        change(self);
        Vec::new()
    }

    /// Shows a toast: why something was not done, or what to know about what was.
    pub(super) fn show_toast(&mut self, why: &str) -> Vec<Action> {
        self.toast.show(why, ToastKind::Plain);
        Vec::new()
    }

    /// Shows a toast whose key names can be clicked. It must not contain text from an agent, because key
    /// names in it would become clickable too.
    pub(super) fn show_toast_with_keys(&mut self, why: &str) -> Vec<Action> {
        self.toast.show(why, ToastKind::WithKeys);
        Vec::new()
    }

    fn send_turn_or_confirm_goal(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast(self.no_run_reason());
        };
        let Some(sheet) = self.pending_dialog(Some(state)) else {
            return self.show_toast("No turn is waiting to be sent.");
        };
        // In other dialogs this letter belongs to another answer.
        let asked = state.current_question().map(|question| &question.kind);
        let is_its = matches!(asked, None | Some(QuestionKind::Gate { .. }))
            && state.approvals.is_empty()
            && self.dialogs.own.is_none();
        let heading = sheet.heading();
        match sheet.choices.into_iter().find(|choice| choice.key == 'g') {
            Some(choice) if is_its => self.perform_choice(choice, Some(state)),
            Some(_) | None => self.show_toast(&format!("Answer the question first: {heading}")),
        }
    }

    /// Returns why a command that needs a run does nothing.
    pub(super) fn no_run_reason(&self) -> &'static str {
        match self.dialogs.unfinished_run {
            Some(_) => "Answer the question about the unfinished run first.",
            None => run_commands::NO_RUN,
        }
    }

    fn steer_turn(&mut self, text: String, state: Option<&RunState>) -> Vec<Action> {
        match state.map(|state| {
            composer_target::composer_target(Some(state), None, &self.dialog_context())
        }) {
            Some(ComposerTarget::NextTurn(_)) => {
                vec![Action::Event(Event::MessageQueued { to: None, text })]
            }
            _ if state.and_then(composer_target::steerable_role).is_some() => {
                vec![Action::Event(Event::Steered { text })]
            }
            _ => self.show_toast("No turn is running to send this to."),
        }
    }

    fn set_goal(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let refiner = self.composer.refiner;
        match (state, text) {
            (None, "") => self.show_toast("Write the goal after /goal."),
            (Some(state), "") => {
                let text = dialogs::goal_text(state, &self.dialog_context());
                self.open_pager(TextPager::new("the goal", &text, PagerFormat::Markdown))
            }
            (Some(state), text) if state.phase == Phase::RefineGoal => {
                if state.running.is_some() || state.busy.is_some() || state.awaiting.is_some() {
                    return self.show_toast("An agent is working on the goal. Interrupt it first.");
                }
                self.composer.focus = ComposerFocus::Unfocused;
                composer_target::confirm_goal(text)
            }
            (Some(state), _) if !state.phase.is_final() && state.phase != Phase::Init => {
                self.show_toast("You cannot change a confirmed goal. Go back to it with /stop.")
            }
            (None | Some(_), text) => vec![Action::NewRun {
                goal: text.to_owned(),
                refiner,
            }],
        }
    }

    /// Asks for the steps from the one in the diff on to be undone, and closes the diff, which would cover the question.
    fn undo_shown_step(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let scope = self.overlays.find().map(DiffView::scope);
        let wish = match scope {
            Some(DiffScope::Step(n)) => UndoRequest::BackTo(n),
            Some(DiffScope::Plan) => {
                return self.show_toast("A version of the plan is shown, no step. ← → show steps.");
            }
            Some(DiffScope::All) | None => UndoRequest::Last,
        };
        let actions = self.apply(run_commands::request_undo(wish, state));
        if !actions.is_empty() {
            self.overlays.close::<DiffView>();
        }
        actions
    }

    /// Performs an action in the diff view.
    pub(super) fn perform_diff_action(&mut self, does: DiffAction) -> Vec<Action> {
        let Some(view) = self.overlays.find_mut::<DiffView>() else {
            return Vec::new();
        };
        match does {
            DiffAction::Close => {
                self.overlays.close::<DiffView>();
            }
            DiffAction::PreviousDiff | DiffAction::NextDiff | DiffAction::Reload => {
                return view
                    .step_scope(does)
                    .map(Action::ShowDiff)
                    .into_iter()
                    .collect();
            }
            DiffAction::SideBySide => {
                if let Err(why) = view.toggle_side_by_side() {
                    return self.show_toast(&why);
                }
            }
            other => view.perform_move(other),
        }
        Vec::new()
    }

    pub(super) fn open_dialog(&mut self, sheet: ChoiceDialog) -> Vec<Action> {
        self.dialogs.own = Some(sheet);
        self.dialogs.guard.note_user_dialog();
        // The dialog starts at its own first choice, even if one with the same id was left at another.
        self.dialogs.chosen = None;
        self.composer.focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Performs a choice of a dialog.
    pub(super) fn perform_choice(
        &mut self,
        choice: DialogChoice,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        match choice.action {
            ChoiceAction::Act(actions) => actions,
            ChoiceAction::PutAside(actions) => {
                self.dialogs.guard.put_limit_aside(state);
                actions
            }
            ChoiceAction::WriteDraft(draft) => self.begin_draft(draft, state),
            ChoiceAction::RunCommand(command) => {
                let own = &mut self.dialogs.own;
                own.take_if(|own| own.id == dialogs::view_list::DIALOG_ID);
                self.perform_command(command, state)
            }
            ChoiceAction::FillComposer(text) => self.change_view(|screen| {
                screen.dialogs.own = None;
                screen.composer.editor.set_text(&text);
                screen.focus_composer();
            }),
            ChoiceAction::Confirm(sheet) => self.open_dialog(*sheet),
            ChoiceAction::PickAnswer(text) => self.dialogs.pick_answer(&text, state),
            ChoiceAction::TickAnswer { asked, label } => self.change_view(|screen| {
                let ticked = screen.dialogs.ticked_answers.entry(asked).or_default();
                if !ticked.remove(&label) {
                    ticked.insert(label);
                }
            }),
            ChoiceAction::Close => self.change_view(|screen| screen.dialogs.own = None),
            ChoiceAction::ActAndClose(actions) => {
                // The screen's own dialog covers the one from the start, so only one of them closes.
                if self.dialogs.own.take().is_none() && self.dialogs.instructions.take().is_none() {
                    self.dialogs.unfinished_run = None;
                }
                self.note_quit(&actions);
                if actions.contains(&Action::Archive) {
                    // The next text is the goal of a new run.
                    self.focus_composer();
                }
                actions
            }
        }
    }
}

/// Quitting: at once if nothing runs, else after a dialog that says what would stop.
impl Screen {
    /// Handles the quit key and `/quit`: asks first if something would stop. A second one, while the dialog
    /// is open or the program is stopping, kills.
    pub(super) fn on_quit(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.open_quit_dialog(state) {
            return Vec::new();
        }
        let step = if self.run_facts.is_quitting || self.dialogs.is_quit_dialog_open() {
            QuitStep::Now
        } else {
            QuitStep::Ask
        };
        self.dialogs.own = None;
        let actions = vec![Action::Quit(step)];
        self.note_quit(&actions);
        actions
    }

    /// Opens the dialog that says what would stop, unless it is open already; returns whether it did.
    pub fn open_quit_dialog(&mut self, state: Option<&RunState>) -> bool {
        if self.dialogs.is_quit_dialog_open() || self.run_facts.is_quitting || self.is_read_only() {
            return false;
        }
        let Some(sheet) = self.needed_quit_dialog(state) else {
            return false;
        };
        // Nothing may cover this dialog.
        self.close_overlays();
        self.overlays.close::<CommandPalette>();
        self.overlays.close_search(&mut self.tabs);
        self.open_dialog(sheet);
        self.is_dirty = true;
        true
    }

    /// Builds the quit dialog for the current state; `None` if nothing would stop.
    fn needed_quit_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        let key = self.keymap().key_label("quit", ComposerFocus::Unfocused);
        quit_confirmation::build_dialog(state?, &key)
    }

    /// Builds the quit dialog while it is open; the run continues behind it.
    pub(super) fn quit_dialog(&self, state: Option<&RunState>) -> ChoiceDialog {
        let key = || self.keymap().key_label("quit", ComposerFocus::Unfocused);
        let sheet = self.needed_quit_dialog(state);
        sheet.unwrap_or_else(|| quit_confirmation::build_idle_dialog(&key()))
    }

    /// Notes that the user is quitting, if one of the actions says so.
    pub(super) fn note_quit(&mut self, actions: &[Action]) {
        self.run_facts.is_quitting |= actions
            .iter()
            .any(|action| matches!(action, Action::Quit(_)));
    }
}

/// The dialogs that the screen opens itself.
impl Screen {
    /// Returns whether turns may start: not while the user is asked whether to stop.
    pub fn turn_hold(&self) -> TurnHold {
        match self.dialogs.own.as_ref().and_then(ChoiceDialog::stop_kind) {
            Some(_) => TurnHold::Held,
            None => TurnHold::Free,
        }
    }

    /// Returns the screen's own dialog, updated to the current state.
    pub(super) fn current_own_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        if self.dialogs.is_quit_dialog_open() {
            return Some(self.quit_dialog(state));
        }
        let own = self.dialogs.own.as_ref()?;
        Some(match (own.stop_kind(), state) {
            (Some(stops), Some(state)) => {
                confirmations::refresh_stop_dialog(own, stops, state, self.keymap())
            }
            _ => own.clone(),
        })
    }

    /// Opens a dialog that the user has not asked for. It waits while a dialog asks whether to stop.
    pub(super) fn open_or_defer_dialog(&mut self, sheet: ChoiceDialog) {
        match self.turn_hold() {
            TurnHold::Held => self.dialogs.deferred.push(sheet),
            TurnHold::Free => self.open_guarded_dialog(sheet),
        }
    }

    /// Opens a dialog that the user has not asked for, without interrupting the user while they write.
    pub(super) fn open_guarded_dialog(&mut self, sheet: ChoiceDialog) {
        self.is_dirty = true;
        self.dialogs.open_guarded(sheet);
        if self.composer.editor.is_empty() {
            self.composer.focus = ComposerFocus::Unfocused;
        }
    }

    /// Opens the next dialog that had to wait.
    pub(super) fn open_deferred_dialog(&mut self) {
        if self.dialogs.own.is_none() && !self.dialogs.deferred.is_empty() {
            let sheet = self.dialogs.deferred.remove(0);
            self.open_guarded_dialog(sheet);
        }
    }
}

/// Commands that another program sends.
impl Screen {
    /// Turns a sent command into actions without changing what the user is doing on the screen. A command
    /// that a key would ask to confirm counts as confirmed.
    ///
    /// # Errors
    /// The command is not allowed or not possible now; the message says why.
    pub fn perform_remote_command(
        &mut self,
        name: &str,
        text: &str,
        state: Option<&RunState>,
    ) -> Result<Vec<Action>, String> {
        let command = parse_remote_command(name, &clean_text(text))?;
        let chosen = self.dialogs.chosen.clone();
        // Set aside what the user has open, so that the command can neither use nor change it.
        let at_hand = (
            self.dialogs.own.take(),
            self.toast.text.take(),
            self.toast.kind,
            self.composer.focus,
            self.composer.draft,
        );
        let is_release = command == ScreenCommand::Go;
        let actions = self.perform_command(command, state);
        let confirm = self.dialogs.own.take();
        let why = self.toast.text.take();
        (
            self.dialogs.own,
            self.toast.text,
            self.toast.kind,
            self.composer.focus,
            self.composer.draft,
        ) = at_hand;
        self.dialogs.chosen = chosen;
        // The first choice of a confirmation is the one that confirms.
        let actions = match confirm.and_then(|sheet| sheet.choices.into_iter().next()) {
            Some(yes) => match yes.action {
                ChoiceAction::ActAndClose(actions) => actions,
                _ => Vec::new(),
            },
            None => actions,
        };
        // In some dialogs `g` is the key of an answer, which must not be given remotely.
        if is_release && !actions.iter().all(sends_turn) {
            return Err("not yet: a question on the screen needs an answer first".to_owned());
        }
        self.note_quit(&actions);
        if actions.is_empty() {
            Err(why.unwrap_or_else(|| "nothing to do".to_owned()))
        } else {
            Ok(actions)
        }
    }
}
