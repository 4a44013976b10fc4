//! Carries a command out: as an action, as a change of the view, or as a word why not now.

use super::Screen;
use super::action::Action;
use super::command::Command;
use super::dialogs::{self, confirm};
use super::diff::{DiffView, Does};
use super::help;
use super::keymap::IsWriting;
use super::pager::{Form, Pager};
use super::read_only::acts;
use super::sheet::{Choice, Sheet, Then};
use super::versions::Pair;
use super::writing::{self, Target};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::plan_execution::PlanExecution;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::turn::Role;

impl Screen {
    /// Carries a command out.
    #[expect(clippy::too_many_lines, reason = "one arm a command: a list to read")]
    pub(super) fn perform(&mut self, command: Command, state: Option<&RunState>) -> Vec<Action> {
        if command == Command::Resume
            && let Some(run) = self.again()
        {
            let sheet = dialogs::history::take_up(run);
            return self.ask(sheet);
        }
        if let Some(why) = self.read_only_word().filter(|_| acts(&command)) {
            return self.refuse(&why);
        }
        match command {
            Command::Go => self.go(state),
            Command::Auto => self.set_gate(Gate::Auto, state),
            Command::Pause => self.set_gate(Gate::Manual, state),
            Command::Mode(mode) => self.set_mode(mode, state),
            Command::Stop => self.stop(state),
            Command::Steer(text) => self.steer(text, state),
            Command::Interrupt => self.interrupt(state),
            Command::Approve => self.answer(state, "yes"),
            Command::Changes(text) => self.want_changes(state, &text),
            Command::Cancel => self.cancel(state),
            Command::Goal(text) => self.goal(&text, state),
            Command::Edit(document) => vec![Action::Edit(document)],
            Command::Allow => self.decide(state, ApprovalDecision::AllowOnce),
            Command::Reject(why) if why.is_empty() => {
                self.decide(state, ApprovalDecision::DenyAndStop)
            }
            Command::Reject(why) => self.decide(state, ApprovalDecision::DenyWithReason(why)),
            Command::Permissions => vec![Action::ShowPermissions],
            Command::Todos => self.show_todos(state),
            Command::Answer(word) => self.answer(state, &word),
            Command::Undo(wish) => self.undo(wish, state),
            Command::Diff(scope) => self.diff_of(scope, state),
            Command::Task(agent, prompt) => self.give_task(agent, prompt),
            Command::Sessions => self.list_children(state),
            Command::Discuss(wish) => self.discuss(&wish, state),
            Command::Diagnose => vec![Action::Diagnose],
            Command::OnBoard(does) => self.on_board(does, state),
            Command::Agent(name) => self.show_agents(&name, state),
            Command::Resume if state.is_some_and(|state| !state.phase.is_final()) => {
                self.refuse("a run is under way; cancel it before you begin another")
            }
            Command::Resume => vec![Action::Resume],
            Command::History => vec![Action::ShowHistory],
            Command::Export(form) => self.export_run(form, state),
            Command::Refiner(role) => self.choose_refiner(role, state),
            Command::View => self.view(state),
            Command::Theme(Some(name)) => self.choose_theme(&name),
            Command::Theme(None) => self.list_themes(),
            Command::Mouse => self.turn_clicks(),
            Command::Thinking => self.quietly(|screen| screen.transcript.toggle_thinking()),
            Command::Copy => self.copy(state),
            Command::CopyCode => self.copy_code(state),
            Command::Pick(along) => self.quietly(|screen| screen.go_along(along, state)),
            Command::Open => self.open_picked(state),
            Command::Outside(viewer) => self.open_outside(viewer, state),
            Command::NeedsMe => self.go_to_need(state),
            Command::Voices => self.turn_voices(),
            Command::Find => self.quietly(Screen::open_find),
            Command::Filter => self.filter(),
            Command::Jump => self.jump(state),
            Command::Note(text) => self.note(text, state),
            Command::Unnote(n) => self.unnote(n, state),
            Command::Rewrite => self.rewrite(state),
            Command::Side => self.turn_sides(state),
            Command::OtherPane => self.turn_focus(),
            Command::Redraw => vec![Action::Redraw],
            Command::Show(tab) => self.quietly(|screen| screen.show(tab)),
            Command::NextTab => self.quietly(|screen| screen.step_tab(1)),
            Command::PreviousTab => self.quietly(|screen| screen.step_tab(-1)),
            Command::Scroll(to) => self.quietly(|screen| screen.go_by(to, state)),
            Command::Focus => self.quietly(Screen::begin_writing),
            Command::Unfocus => self.quietly(Screen::leave_composer),
            Command::Suspend => vec![Action::Suspend],
            Command::Quit => self.quit(state),
            Command::Help => {
                let pager = help::pager(self.keymap(), self.actions_here());
                self.open(pager)
            }
            Command::Palette => self.open_palette(),
            Command::InDiff(does) => self.in_diff(does),
            Command::InFind(step) => self.quietly(|screen| screen.find_step(step, state)),
            Command::Close => self.close().unwrap_or_default(),
        }
    }

    pub(super) fn quietly(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Action> {
        change(self);
        Vec::new()
    }

    /// Says in a word why something is not done, or what is to be known of what is.
    pub(super) fn refuse(&mut self, why: &str) -> Vec<Action> {
        self.toast = Some(super::wrap::one_line(why));
        Vec::new()
    }

    /// The same where keys are named, which can be clicked. Nothing that an agent wrote may stand in it: it would name
    /// keys as well.
    pub(super) fn refuse_naming_keys(&mut self, why: &str) -> Vec<Action> {
        self.refuse(why);
        self.naming_keys.clone_from(&self.toast);
        Vec::new()
    }

    fn go(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet: write the goal first");
        };
        let Some(sheet) = self.waiting(Some(state)) else {
            return self.refuse("nothing waits for a release");
        };
        // Other dialogs name an answer of their own by this letter.
        let asked = state.current_question().map(|question| &question.kind);
        let is_its = matches!(asked, None | Some(QuestionKind::Gate { .. }))
            && state.approvals.is_empty()
            && self.own.is_none();
        match sheet.choices.into_iter().find(|choice| choice.key == 'g') {
            Some(choice) if is_its => self.choose(choice, Some(state)),
            Some(_) | None => self.refuse(&format!("not yet: {}", sheet.title)),
        }
    }

    fn set_gate(&mut self, gate: Gate, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) if state.phase.is_final() => self.refuse("the run is over"),
            Some(state) if state.gate == gate && gate == Gate::Auto => {
                self.refuse("the gate is auto already")
            }
            Some(state) if state.gate == gate => self.refuse("the gate is manual already"),
            Some(_) => vec![Action::Event(Event::GateChanged { gate })],
            None => self.refuse("there is no run yet: write the goal first"),
        }
    }

    fn set_mode(&mut self, wanted: Option<Mode>, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet: write the goal first");
        };
        let mode = wanted.unwrap_or_else(|| state.mode.next_in_cycle());
        if state.phase.is_final() {
            return self.refuse("the run is over");
        }
        if state.mode == mode {
            return self.refuse(&format!("the mode is {} already", mode.name()));
        }
        match mode {
            Mode::Yolo => self.ask(confirm::yolo()),
            Mode::Plan | Mode::Default | Mode::AutoEdit => {
                if wanted == Some(Mode::Plan) {
                    self.refuse("agents only read now; the plan itself: /tab plan");
                }
                vec![Action::Event(Event::ModeChanged { mode })]
            }
        }
    }

    fn stop(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state.map(|state| state.phase) {
            Some(
                phase @ (Phase::WritePlan
                | Phase::Review
                | Phase::Respond
                | Phase::Approved
                | Phase::Execute),
            ) => self.ask(confirm::stop(phase, self.keymap())),
            Some(Phase::RefineGoal) => self.interrupt(state),
            Some(Phase::Init | Phase::Done | Phase::Cancelled) | None => {
                self.refuse("nothing is under way that could be stopped")
            }
        }
    }

    fn interrupt(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let tests_run = state.is_some_and(|state| state.busy == Some(ProgramOperation::Baseline));
        match state.and_then(|state| state.running.as_ref()) {
            Some(_) => vec![Action::Event(Event::InterruptRequested)],
            None if tests_run => vec![Action::Event(Event::BaselineStopped)],
            None => self.refuse("no turn is running"),
        }
    }

    fn steer(&mut self, text: String, state: Option<&RunState>) -> Vec<Action> {
        match state.map(|state| writing::target(Some(state), None, &self.known())) {
            Some(Target::Next(_)) => vec![Action::Event(Event::MessageQueued { to: None, text })],
            _ if state.and_then(writing::listener).is_some() => {
                vec![Action::Event(Event::Steered { text })]
            }
            _ => self.refuse("no turn is running that could be told"),
        }
    }

    fn cancel(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) if !state.phase.is_final() => self.ask(confirm::cancel()),
            Some(_) | None => self.refuse("there is no run that could be cancelled"),
        }
    }

    fn goal(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let refiner = self.refiner;
        match (state, text) {
            (None, "") => self.refuse("write the goal after /goal"),
            (Some(state), "") => {
                let text = dialogs::goal_text(state, &self.known());
                self.open(Pager::new("the goal", &text, Form::Markdown))
            }
            (Some(state), text) if state.phase == Phase::RefineGoal => {
                if state.running.is_some() || state.busy.is_some() || state.awaiting.is_some() {
                    return self.refuse("a turn about the goal is under way; interrupt it first");
                }
                self.writing = IsWriting::No;
                writing::confirm_goal(text)
            }
            (Some(state), _) if !state.phase.is_final() && state.phase != Phase::Init => {
                self.refuse("the goal is fixed while agents work on it; /stop goes back to it")
            }
            (None | Some(_), text) => vec![Action::NewRun {
                goal: text.to_owned(),
                refiner,
            }],
        }
    }

    fn decide(&mut self, state: Option<&RunState>, answer: ApprovalDecision) -> Vec<Action> {
        match state.and_then(|state| state.approvals.first()) {
            Some(approval) => vec![Action::AnswerApproval {
                call: approval.n,
                answer,
            }],
            None => self.refuse("no call of an agent waits"),
        }
    }

    fn answer(&mut self, state: Option<&RunState>, word: &str) -> Vec<Action> {
        let Some(question) = state.and_then(RunState::current_question) else {
            return self.refuse("no question is open");
        };
        if matches!(question.kind, QuestionKind::Gate { .. }) && word == "go" {
            return vec![Action::Event(Event::TurnSendConfirmed)];
        }
        match question.kind.parse_answer(word) {
            Some(QuestionAnswer::CancelRun) => self.ask(confirm::cancel()),
            Some(answer) => vec![Action::Event(Event::QuestionAnswered {
                id: question.id,
                answer,
            })],
            None => {
                let choices = match question.kind.choices() {
                    [] => "a key of its dialog".to_owned(),
                    choices => choices.join(", "),
                };
                self.refuse(&format!("`{word}` is no answer here; there is: {choices}"))
            }
        }
    }

    /// Asks for changes to the approved plan that waits.
    fn want_changes(&mut self, state: Option<&RunState>, text: &str) -> Vec<Action> {
        let question = state.and_then(RunState::current_question);
        match question.map(|question| &question.kind) {
            Some(QuestionKind::Execute { .. }) => self.answer(state, &format!("changes:{text}")),
            Some(_) | None => self.refuse("no approved plan waits for you"),
        }
    }

    /// Chooses who talks about the goal, now or with the next one; without a role, the other one.
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
                self.refuse("this run has no reviewer")
            }
            Phase::RefineGoal if is_idle => {
                self.refiner = role;
                let goal = self.proposed_goal.clone();
                vec![Action::Event(Event::RefinerChosen { role, goal })]
            }
            Phase::RefineGoal => {
                let key = self.keymap().named("interrupt", self.writing);
                self.refuse_naming_keys(&format!(
                    "a turn about the goal is under way; interrupt it first ({key})"
                ))
            }
            _ => self.refuse("nobody talks about the goal now; /stop goes back to it"),
        }
    }

    fn view(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if let Some(pager) = &mut self.pager
            && pager.turn()
        {
            return Vec::new();
        }
        let Some(sheet) = self.waiting(state) else {
            return self.refuse("nothing waits that has more to show");
        };
        let is_about = self.own.is_none() && state.is_some_and(writing::is_about_versions);
        let pager = match self.stale(state) {
            _ if is_about && !self.versions.is_empty() => Pager::both(&self.versions),
            Some(pair) => Pager::compared("what changed", vec![pair]),
            None => {
                let text = sheet.in_words();
                let (title, text) = sheet.whole.unwrap_or((sheet.title, text));
                // What is decided about is read as it is, with every sign that a rendered page leaves out.
                Pager::new(&title, &text, Form::Plain)
            }
        };
        self.open(pager.of_dialog(&sheet.id))
    }

    /// The plan that was reviewed and the one that lies there, where that is asked about.
    fn stale(&self, state: Option<&RunState>) -> Option<Pair> {
        let state = state.filter(|state| state.approvals.is_empty() && self.own.is_none())?;
        match &state.current_question()?.kind {
            QuestionKind::StalePlan { reviewed, .. } => {
                dialogs::stale_plan::pair(reviewed, &self.documents)
            }
            _ => None,
        }
    }

    pub(super) fn open(&mut self, pager: Pager) -> Vec<Action> {
        self.pager = Some(pager);
        self.writing = IsWriting::No;
        Vec::new()
    }

    /// Has the run written down as one page.
    fn export_run(&mut self, form: ExportFormat, state: Option<&RunState>) -> Vec<Action> {
        if state.is_none() {
            return self.refuse(
                "there is no run yet that could be written down; /history lists those before",
            );
        }
        self.refuse("writing the page …");
        vec![Action::ExportRun(form)]
    }

    /// Has it looked at what undoing would do; the dialog comes with the answer.
    fn undo(&mut self, wish: UndoRequest, state: Option<&RunState>) -> Vec<Action> {
        // Where none is open yet, the finished one that lies here is opened for it.
        if let Some(why) = state.and_then(RunState::undo_blocker) {
            return self.refuse(&why);
        }
        self.refuse("looking at what it would do …");
        vec![Action::Undo(wish)]
    }

    /// Opens the diff of a step that there is, or another one.
    fn diff_of(&mut self, scope: DiffScope, state: Option<&RunState>) -> Vec<Action> {
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
                self.refuse(&format!(
                    "step {n} has changed nothing; those that have: {steps}"
                ))
            }
            _ => self.open_diff(scope),
        }
    }

    /// Opens the view of a diff at once; what it shows is looked for.
    pub(super) fn open_diff(&mut self, scope: DiffScope) -> Vec<Action> {
        (self.pager, self.board) = (None, None);
        self.diff = Some(DiffView::open(scope));
        self.writing = IsWriting::No;
        vec![Action::ShowDiff(scope)]
    }

    /// Carries out what a key of the diff view does.
    pub(super) fn in_diff(&mut self, does: Does) -> Vec<Action> {
        let Some(view) = &mut self.diff else {
            return Vec::new();
        };
        match does {
            Does::Close => self.diff = None,
            Does::Left | Does::Right | Does::Again => {
                return view.step(does).map(Action::ShowDiff).into_iter().collect();
            }
            other => view.scroll(other),
        }
        Vec::new()
    }

    pub(super) fn ask(&mut self, sheet: Sheet) -> Vec<Action> {
        self.own = Some(sheet);
        self.reading.note_opened();
        // It begins at its own first choice, wherever one of its name was left.
        self.chosen = None;
        self.writing = IsWriting::No;
        Vec::new()
    }

    /// Carries a dialog's choice out.
    pub(super) fn choose(&mut self, choice: Choice, state: Option<&RunState>) -> Vec<Action> {
        match choice.then {
            Then::Act(actions) => actions,
            Then::PutAside(actions) => {
                self.reading.put_aside(state);
                actions
            }
            Then::Write(draft) => self.write(draft, state),
            Then::Do(command) => self.perform(command, state),
            Then::Fill(text) => self.quietly(|screen| {
                screen.own = None;
                screen.composer.set(&text);
                screen.begin_writing();
            }),
            Then::Confirm(sheet) => self.ask(*sheet),
            Then::Pick(text) => self.pick(&text, state),
            Then::Tick { asked, label } => self.quietly(|screen| {
                let ticked = screen.ticked.entry(asked).or_default();
                if !ticked.remove(&label) {
                    ticked.insert(label);
                }
            }),
            Then::Back => self.quietly(|screen| screen.own = None),
            Then::ActAndBack(actions) => {
                // The screen's own dialog lies over the one of the start.
                if self.own.take().is_none() && self.instructions.take().is_none() {
                    self.unfinished = None;
                }
                self.note_leaving(&actions);
                if actions.contains(&Action::Archive) {
                    // The next word is the goal of the run that begins anew.
                    self.begin_writing();
                }
                actions
            }
        }
    }

    /// Answers the question at hand of several; the last answer sends them all.
    pub(super) fn pick(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let Some(question) = state.and_then(RunState::current_question) else {
            return Vec::new();
        };
        let open = dialogs::open_questions(question.kind.agent_questions(), &self.known());
        let (Some(asked), n_open) = (open.first(), open.len()) else {
            return Vec::new();
        };
        let asked = asked.text.clone();
        self.ticked.remove(&asked);
        self.picked.insert(asked, text.to_owned());
        if n_open > 1 {
            return Vec::new();
        }
        let answers = std::mem::take(&mut self.picked);
        vec![Action::Event(Event::QuestionAnswered {
            id: question.id,
            answer: QuestionAnswer::Texts { answers },
        })]
    }
}
