//! Carries out commands: as an action, as a change of the view, or as a toast that says why not now.

use super::Screen;
use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::changes_run;
use super::composer_target::{self, ComposerTarget};
use super::dialog::{ChoiceAction, ChoiceDialog, DialogChoice};
use super::dialogs::{self, confirmations};
use super::diff_view::DiffAction;
use super::help;
use super::keymap::ComposerFocus;
use super::pager::{PagerFormat, TextPager, front_transcript};
use super::text_versions::TextPair;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::Role;

impl Screen {
    /// Carries out a command.
    #[expect(clippy::too_many_lines, reason = "one arm a command: a list to read")]
    pub(super) fn perform_command(
        &mut self,
        command: ScreenCommand,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        if command == ScreenCommand::ResumeRun
            && let Some(run) = self.resumable_run()
        {
            let sheet = dialogs::run_history_list::build_unarchive_dialog(run);
            return self.open_dialog(sheet);
        }
        if let Some(why) = self.read_only_reason().filter(|_| changes_run(&command)) {
            return self.show_toast(&why);
        }
        match command {
            ScreenCommand::Go => self.send_turn_or_confirm_goal(state),
            ScreenCommand::AutoGate => self.set_gate(Gate::Auto, state),
            ScreenCommand::ManualGate => self.set_gate(Gate::Manual, state),
            ScreenCommand::Mode(mode) => self.set_mode(mode, state),
            ScreenCommand::StopToGoal => self.stop_to_goal(state),
            ScreenCommand::SteerTurn(text) => self.steer_turn(text, state),
            ScreenCommand::InterruptTurn => self.interrupt_turn(state),
            ScreenCommand::ApprovePlan => self.answer_question(state, "yes"),
            ScreenCommand::Changes(text) => self.request_changes(state, &text),
            ScreenCommand::CancelRun => self.cancel_run(state),
            ScreenCommand::SetGoal(text) => self.set_goal(&text, state),
            ScreenCommand::Edit(document) => vec![Action::Edit(document)],
            ScreenCommand::AllowCall => self.decide_call(state, ApprovalDecision::AllowOnce),
            ScreenCommand::RejectCall(why) if why.is_empty() => {
                self.decide_call(state, ApprovalDecision::DenyAndStop)
            }
            ScreenCommand::RejectCall(why) => {
                self.decide_call(state, ApprovalDecision::DenyWithReason(why))
            }
            ScreenCommand::AnswerQuestion(word) => self.answer_question(state, &word),
            ScreenCommand::Undo(wish) => self.request_undo(wish, state),
            ScreenCommand::SkipStep(step, reason) => {
                self.change_unfinished_step(state, step, Event::StepSkipped { step, reason })
            }
            ScreenCommand::ReplanStep(step, reason) => {
                let step_again = Some(step);
                let entered = Event::PlanEntered {
                    reason,
                    step: step_again,
                };
                self.change_unfinished_step(state, step, entered)
            }
            ScreenCommand::Diff(scope) => self.show_diff(scope, state),
            ScreenCommand::StartTask(agent, prompt) => self.give_task(agent, prompt),
            ScreenCommand::Discuss(wish) => self.perform_discussion_command(&wish, state),
            ScreenCommand::BoardAction(does) => self.perform_board_action(does, state),
            ScreenCommand::ResumeRun if state.is_some_and(|state| !state.phase.is_final()) => {
                self.show_toast("A run is open. Cancel it before you start another.")
            }
            ScreenCommand::ResumeRun => vec![Action::Resume],
            ScreenCommand::ExportRun(form) => self.export_run(form, state),
            ScreenCommand::ChooseRefiner(role) => self.choose_refiner(role, state),
            ScreenCommand::ViewFullText => self.view_full_text(state),
            ScreenCommand::Theme(Some(name)) => self.choose_theme(&name),
            ScreenCommand::Theme(None) => self.open_theme_list(),
            ScreenCommand::ToggleThinking => {
                front_transcript(&mut self.pager, &mut self.transcript).toggle_thinking();
                Vec::new()
            }
            ScreenCommand::Copy => self.copy_selection(state),
            ScreenCommand::SelectAdjacent(along) => {
                self.change_view(|screen| screen.select_adjacent(along, state))
            }
            ScreenCommand::GoToWaitingDialog => self.go_to_waiting_dialog(state),
            ScreenCommand::OpenSearch => self.change_view(Screen::open_search),
            ScreenCommand::AddPlanNote(text) => self.add_plan_note(text, state),
            ScreenCommand::RemovePlanNote(n) => self.remove_plan_note(n, state),
            ScreenCommand::RewritePlanLine => self.rewrite_plan_line(state),
            ScreenCommand::TogglePaneFocus => self.toggle_pane_focus(),
            ScreenCommand::Show(tab) => self.change_view(|screen| screen.show_tab(tab)),
            ScreenCommand::Scroll(to) => self.change_view(|screen| screen.move_by_line(to, state)),
            ScreenCommand::FocusComposer => self.change_view(Screen::focus_composer),
            ScreenCommand::Quit => self.on_quit(state),
            ScreenCommand::ShowHelp => {
                let pager = help::help_pager(self.keymap(), self.tab_actions());
                self.open_pager(pager)
            }
            ScreenCommand::OpenPalette => self.open_palette(),
            ScreenCommand::DiffAction(does) => self.perform_diff_action(does),
            ScreenCommand::SearchAction(step) => {
                self.change_view(|screen| screen.perform_search_step(step, state))
            }
            ScreenCommand::Close => self.close_top().unwrap_or_default(),
            ScreenCommand::Call(call) => (call.function)(self, &call.argument, state),
        }
    }

    pub(super) fn change_view(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Action> {
        change(self);
        Vec::new()
    }

    /// Shows a toast: why something was not done, or what to know about what was.
    pub(super) fn show_toast(&mut self, why: &str) -> Vec<Action> {
        self.toast = Some(super::text_wrap::to_one_line(why));
        Vec::new()
    }

    /// Shows a toast whose key names can be clicked. It must not contain text from an agent, because key
    /// names in it would become clickable too.
    pub(super) fn show_toast_with_keys(&mut self, why: &str) -> Vec<Action> {
        self.show_toast(why);
        self.toast_with_keys.clone_from(&self.toast);
        Vec::new()
    }

    fn send_turn_or_confirm_goal(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet. Write the goal first.");
        };
        let Some(sheet) = self.pending_dialog(Some(state)) else {
            return self.show_toast("No turn is waiting to be sent.");
        };
        // In other dialogs this letter belongs to another answer.
        let asked = state.current_question().map(|question| &question.kind);
        let is_its = matches!(asked, None | Some(QuestionKind::Gate { .. }))
            && state.approvals.is_empty()
            && self.own_dialog.is_none();
        match sheet.choices.into_iter().find(|choice| choice.key == 'g') {
            Some(choice) if is_its => self.perform_choice(choice, Some(state)),
            Some(_) | None => self.show_toast(&format!("Not yet: {}", sheet.title)),
        }
    }

    fn set_gate(&mut self, gate: Gate, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) if state.phase.is_final() => self.show_toast("The run is finished."),
            Some(state) if state.gate == gate && gate == Gate::Auto => {
                self.show_toast("Already in Auto.")
            }
            Some(state) if state.gate == gate => self.show_toast("Already in Manual."),
            Some(_) => vec![Action::Event(Event::GateChanged { gate })],
            None => self.show_toast("No run yet. Write the goal first."),
        }
    }

    fn set_mode(&mut self, wanted: Option<Mode>, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet. Write the goal first.");
        };
        let mode = wanted.unwrap_or_else(|| state.mode.next_in_cycle());
        if state.phase.is_final() {
            return self.show_toast("The run is finished.");
        }
        if state.mode == mode {
            return self.show_toast(&format!("The mode is already {}.", mode.label()));
        }
        match mode {
            Mode::Yolo => self.open_dialog(confirmations::enable_yolo_mode()),
            Mode::Plan | Mode::Default | Mode::AutoEdit => {
                if wanted == Some(Mode::Plan) {
                    self.show_toast("Agents now only read. See the plan itself with /tab plan");
                }
                vec![Action::Event(Event::ModeChanged { mode })]
            }
        }
    }

    fn stop_to_goal(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state.map(|state| state.phase) {
            Some(
                phase @ (Phase::WritePlan
                | Phase::Review
                | Phase::Respond
                | Phase::Approved
                | Phase::Execute),
            ) => self.open_dialog(confirmations::stop_run(phase, self.keymap())),
            Some(Phase::RefineGoal) => self.interrupt_turn(state),
            Some(Phase::Init | Phase::Done | Phase::Cancelled) | None => {
                self.show_toast("There is nothing to stop.")
            }
        }
    }

    fn interrupt_turn(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let tests_run = state.is_some_and(|state| state.busy == Some(ProgramOperation::Baseline));
        let is_interruptible =
            |state: &RunState| state.running.is_some() || state.may_interrupt_step_tests();
        match state.filter(|state| is_interruptible(state)) {
            Some(_) => vec![Action::Event(Event::InterruptRequested)],
            None if tests_run => vec![Action::Event(Event::BaselineStopped)],
            None => self.show_toast("No turn is running."),
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

    fn cancel_run(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) if !state.phase.is_final() => self.open_dialog(confirmations::cancel_run()),
            Some(_) | None => self.show_toast("There is no run to cancel."),
        }
    }

    fn set_goal(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let refiner = self.refiner;
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
                self.composer_focus = ComposerFocus::Unfocused;
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

    fn decide_call(&mut self, state: Option<&RunState>, answer: ApprovalDecision) -> Vec<Action> {
        match state.and_then(|state| state.approvals.first()) {
            Some(approval) => vec![Action::AnswerApproval {
                call: approval.n,
                answer,
            }],
            None => self.show_toast("No request of an agent is waiting."),
        }
    }

    fn answer_question(&mut self, state: Option<&RunState>, word: &str) -> Vec<Action> {
        let Some(question) = state.and_then(RunState::current_question) else {
            return self.show_toast("No question is open.");
        };
        if matches!(question.kind, QuestionKind::Gate { .. }) && word == "go" {
            return vec![Action::Event(Event::TurnSendConfirmed)];
        }
        match question.kind.parse_answer(word) {
            Some(QuestionAnswer::CancelRun) => self.open_dialog(confirmations::cancel_run()),
            Some(answer) => vec![Action::Event(Event::QuestionAnswered {
                id: question.id,
                answer,
            })],
            None => {
                let choices = match question.kind.choices() {
                    [] => "a key of its dialog".to_owned(),
                    choices => choices.join(", "),
                };
                self.show_toast(&format!(
                    "`{word}` is not an answer here. Answers: {choices}"
                ))
            }
        }
    }

    /// Requests changes to the approved plan.
    fn request_changes(&mut self, state: Option<&RunState>, text: &str) -> Vec<Action> {
        let question = state.and_then(RunState::current_question);
        match question.map(|question| &question.kind) {
            Some(QuestionKind::Execute { .. }) => {
                self.answer_question(state, &format!("changes:{text}"))
            }
            Some(_) | None => self.show_toast("No approved plan is waiting for you."),
        }
    }

    /// Chooses the agent that refines the goal, now or for the next run; without a role, switches to the other one.
    fn choose_refiner(&mut self, role: Option<Role>, state: Option<&RunState>) -> Vec<Action> {
        let has_goal = |state: &&RunState| !state.phase.is_final() && state.phase != Phase::Init;
        let Some(state) = state.filter(has_goal) else {
            self.refiner = role.unwrap_or(self.refiner.other());
            return Vec::new();
        };
        let role = role.unwrap_or(state.refiner.other());
        let is_idle = state.running.is_none() && state.busy.is_none() && state.awaiting.is_none();
        match state.phase {
            Phase::RefineGoal if state.session(role).is_none() => {
                self.show_toast("This run has no reviewer.")
            }
            Phase::RefineGoal if is_idle => {
                self.refiner = role;
                let goal = self.proposed_goal.clone();
                vec![Action::Event(Event::RefinerChosen { role, goal })]
            }
            Phase::RefineGoal => {
                let key = self.keymap().key_label("interrupt", self.composer_focus);
                self.show_toast_with_keys(&format!(
                    "An agent is working on the goal. Interrupt it first ({key})."
                ))
            }
            _ => self.show_toast("The goal is confirmed. Go back to it with /stop."),
        }
    }

    fn view_full_text(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if let Some(pager) = &mut self.pager
            && pager.cycle_layout()
        {
            return Vec::new();
        }
        let Some(sheet) = self.pending_dialog(state) else {
            return self.show_toast("Nothing is waiting that has more to show.");
        };
        let is_about =
            self.own_dialog.is_none() && state.is_some_and(composer_target::is_versions_question);
        let pager = match self.stale_plan_pair(state) {
            _ if is_about && !self.versions.is_empty() => TextPager::from_versions(&self.versions),
            Some(pair) => TextPager::from_pairs("What changed", vec![pair]),
            None => {
                let text = sheet.to_text();
                let (title, text) = sheet.full_text.unwrap_or((sheet.title, text));
                // The user decides about this text, so it is shown raw: rendered Markdown leaves characters out.
                TextPager::new(&title, &text, PagerFormat::Plain)
            }
        };
        self.open_pager(pager.for_dialog(&sheet.id))
    }

    /// Returns the reviewed plan and the plan on disk, if the open question is about their difference.
    fn stale_plan_pair(&self, state: Option<&RunState>) -> Option<TextPair> {
        let state =
            state.filter(|state| state.approvals.is_empty() && self.own_dialog.is_none())?;
        match &state.current_question()?.kind {
            QuestionKind::StalePlan { reviewed, .. } => {
                dialogs::stale_plan::find_text_pair(reviewed, &self.documents)
            }
            _ => None,
        }
    }

    pub(super) fn open_pager(&mut self, pager: TextPager) -> Vec<Action> {
        self.pager = Some(pager);
        self.composer_focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Exports the run as one page.
    fn export_run(&mut self, form: ExportFormat, state: Option<&RunState>) -> Vec<Action> {
        if state.is_none() {
            return self.show_toast("No run to export yet. /history lists earlier runs.");
        }
        self.show_toast("Writing the page …");
        vec![Action::ExportRun(form)]
    }

    /// Performs an action in the diff view.
    pub(super) fn perform_diff_action(&mut self, does: DiffAction) -> Vec<Action> {
        let Some(view) = &mut self.diff_view else {
            return Vec::new();
        };
        match does {
            DiffAction::Close => self.diff_view = None,
            DiffAction::PreviousDiff | DiffAction::NextDiff | DiffAction::Reload => {
                return view
                    .step_scope(does)
                    .map(Action::ShowDiff)
                    .into_iter()
                    .collect();
            }
            other => view.scroll(other),
        }
        Vec::new()
    }

    pub(super) fn open_dialog(&mut self, sheet: ChoiceDialog) -> Vec<Action> {
        self.own_dialog = Some(sheet);
        self.input_guard.note_user_dialog();
        // The dialog starts at its own first choice, even if one with the same id was left at another.
        self.chosen_choice = None;
        self.composer_focus = ComposerFocus::Unfocused;
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
                self.input_guard.put_limit_aside(state);
                actions
            }
            ChoiceAction::WriteDraft(draft) => self.begin_draft(draft, state),
            ChoiceAction::RunCommand(command) => self.perform_command(command, state),
            ChoiceAction::FillComposer(text) => self.change_view(|screen| {
                screen.own_dialog = None;
                screen.composer.set_text(&text);
                screen.focus_composer();
            }),
            ChoiceAction::Confirm(sheet) => self.open_dialog(*sheet),
            ChoiceAction::PickAnswer(text) => self.pick_answer(&text, state),
            ChoiceAction::TickAnswer { asked, label } => self.change_view(|screen| {
                let ticked = screen.ticked_answers.entry(asked).or_default();
                if !ticked.remove(&label) {
                    ticked.insert(label);
                }
            }),
            ChoiceAction::Close => self.change_view(|screen| screen.own_dialog = None),
            ChoiceAction::ActAndClose(actions) => {
                // The screen's own dialog covers the one from the start, so only one of them closes.
                if self.own_dialog.take().is_none() && self.instructions.take().is_none() {
                    self.unfinished = None;
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

    /// Stores the answer to the current question of several; the last answer sends them all.
    pub(super) fn pick_answer(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let Some(question) = state.and_then(RunState::current_question) else {
            return Vec::new();
        };
        let open = dialogs::open_questions(question.kind.agent_questions(), &self.dialog_context());
        let (Some(asked), n_open) = (open.first(), open.len()) else {
            return Vec::new();
        };
        let asked = asked.text.clone();
        self.ticked_answers.remove(&asked);
        self.picked_answers.insert(asked, text.to_owned());
        if n_open > 1 {
            return Vec::new();
        }
        let answers = std::mem::take(&mut self.picked_answers);
        vec![Action::Event(Event::QuestionAnswered {
            id: question.id,
            answer: QuestionAnswer::Texts { answers },
        })]
    }
}
