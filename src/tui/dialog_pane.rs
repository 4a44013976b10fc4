//! The state of the dialogs: the screen's own, and what the run's dialogs show beside the run's state.

use std::collections::{BTreeMap, BTreeSet};

use super::action::Action;
use super::appearance::ScreenSettings;
use super::approval_view::ExactCall;
use super::delayed_letter::DelayedLetter;
use super::dialog::{ChoiceDialog, DialogLifetime, DialogOrigin};
use super::dialogs::{
    DialogContext, open_questions, quit_confirmation, run_history_list, theme_picker,
};
use super::document_texts::DisplayDocuments;
use super::input_guard::InputGuard;
use super::prompt_preview::{PromptHistory, PromptPreview};
use super::run_commands::CommandOutcome;
use super::text_versions::ConflictVersions;
use super::theme::ColorTheme;
use super::view_moves::ScrollMove;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::plan_thread::UserNote;
use crate::domain::question::QuestionAnswer;
use crate::domain::run::RunState;

/// The dialogs: the screen's own, and what the run's dialogs show beside the run's state.
#[derive(Debug, Default)]
pub struct DialogPane {
    /// The selected choice, with the id of the dialog that it belongs to.
    pub chosen: Option<(String, usize)>,
    /// The dialog that the last frame showed.
    pub drawn: Option<String>,
    /// A letter that acts at a question in a moment.
    pub letter: Option<DelayedLetter>,
    /// A dialog that the screen opened itself: a list or a confirmation.
    pub own: Option<ChoiceDialog>,
    /// Dialogs that arrived while the user was being asked whether to stop.
    pub deferred: Vec<ChoiceDialog>,
    /// A summary of the unfinished run that was found at the start.
    pub unfinished_run: Option<String>,
    /// The agent instructions in the repository that the user is asked about, each with its text.
    pub instructions: Option<Vec<(String, String)>>,
    pub prompt_preview: Option<PromptPreview>,
    pub prompt_history: PromptHistory,
    /// The first pending call as the agent made it, an edit with its diff against the file.
    pub exact_call: Option<ExactCall>,
    /// Since when the dialog of the last frame has been on the screen.
    pub guard: InputGuard,
    pub versions: Vec<ConflictVersions>,
    pub proposed_goal: Option<String>,
    /// The agent's previous proposal of the goal.
    pub goal_before: Option<String>,
    /// Whether the proposed goal is known; if so, older events loaded from the log no longer change it.
    pub is_goal_known: bool,
    pub picked_answers: BTreeMap<String, String>,
    /// For questions with several answers: the answers chosen so far.
    pub ticked_answers: BTreeMap<String, BTreeSet<String>>,
    /// The theme that was in use before the theme list was opened.
    pub theme_before: Option<ColorTheme>,
}

impl DialogPane {
    pub fn chosen_choice(&self, sheet: &ChoiceDialog) -> usize {
        match &self.chosen {
            Some((id, chosen)) if *id == sheet.id => {
                (*chosen).min(sheet.choices.len().saturating_sub(1))
            }
            Some(_) | None => sheet.first_choice,
        }
    }

    /// Returns whether a key moves among the choices. In lists that the user opened all of these keys do; in
    /// other dialogs, page keys scroll the tab.
    pub fn is_list_move(&self, to: ScrollMove) -> bool {
        let own = self.own.as_ref();
        let is_opened = own.is_some_and(|own| own.origin == DialogOrigin::User);
        is_opened || matches!(to, ScrollMove::Up | ScrollMove::Down)
    }

    /// Returns whether the last frame showed this dialog.
    pub fn is_dialog_drawn(&self, sheet: &ChoiceDialog) -> bool {
        Some(&sheet.id) == self.drawn.as_ref()
    }

    /// Closes the screen's own dialog if the run has advanced past it. Dialogs about stopping or
    /// quitting and lists stay open.
    pub fn drop_stale_dialog(&mut self) {
        let is_overtaken = |sheet: &ChoiceDialog| sheet.lifetime == DialogLifetime::RunAdvances;
        self.own.take_if(|own| is_overtaken(own));
        self.deferred.retain(|sheet| !is_overtaken(sheet));
    }

    /// Returns whether the quit dialog is open.
    pub fn is_quit_dialog_open(&self) -> bool {
        self.own
            .as_ref()
            .is_some_and(|own| own.id == quit_confirmation::DIALOG_ID)
    }

    /// Returns whether the list of earlier runs is open.
    pub fn is_run_list_open(&self) -> bool {
        let mut own = self.own.iter();
        own.any(|own| own.id == run_history_list::DIALOG_ID)
    }

    /// Builds the theme list and notes the theme in use. Closing it without a choice restores it.
    pub fn open_theme_list(&mut self, settings: &ScreenSettings) -> ChoiceDialog {
        self.theme_before = Some(settings.theme.clone());
        theme_picker::build_dialog(&settings.theme, &settings.appearance)
    }

    /// Returns whether a theme is still previewed although the theme list is gone, whatever replaced it.
    pub fn is_theme_preview_over(&self) -> bool {
        let is_listed = self.own.as_ref().is_some_and(theme_picker::is_theme_picker);
        self.theme_before.is_some() && !is_listed
    }

    /// Restores the theme that was in use before the list was opened.
    pub fn restore_theme(&mut self, settings: &mut ScreenSettings) {
        if let Some(theme) = self.theme_before.take() {
            settings.theme = theme;
        }
    }

    /// Switches to another theme and closes the theme list; returns what to tell the user and how to save it.
    pub fn choose_theme(&mut self, name: &str, settings: &mut ScreenSettings) -> CommandOutcome {
        let Some(theme) = settings.appearance.theme(name) else {
            let themes = settings.appearance.themes();
            let names: Vec<&str> = themes.iter().map(ColorTheme::name).collect();
            return CommandOutcome::refuse(&format!("/theme takes {}", names.join(", ")));
        };
        settings.theme = theme;
        self.theme_before = None;
        self.own = None;
        CommandOutcome::act(Action::KeepTheme(name.to_owned())).with_note(&format!("Theme {name}"))
    }

    /// Drops answers that were chosen but not sent yet.
    pub fn clear_picked_answers(&mut self) {
        self.picked_answers.clear();
        self.ticked_answers.clear();
    }

    /// Forgets the sent prompts, because a new conversation does not contain them.
    pub fn clear_prompt_history(&mut self) {
        self.prompt_history = PromptHistory::default();
    }

    /// Applies a recorded event: drops what it answers or overtakes.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Agent { news, .. } => self.on_agent_activity(news),
            Event::RunCreated(_) => self.reset_for_run(),
            Event::SessionLost { .. } | Event::SessionMoved { .. } => self.clear_prompt_history(),
            Event::GoalGiven { .. } | Event::GoalConfirmed { .. } => {
                (self.proposed_goal, self.goal_before) = (None, None);
                self.is_goal_known = true;
            }
            Event::TurnSendConfirmed | Event::TurnStarted { .. } => {
                if let Some(preview) = self.prompt_preview.take() {
                    self.prompt_history.record_prompt(&preview);
                }
                self.drop_stale_dialog();
            }
            Event::PhaseChanged { .. } | Event::UndoAsked { .. } => self.drop_stale_dialog(),
            Event::QuestionAsked { .. } => {
                self.prompt_preview = None;
                self.versions.clear();
                self.clear_picked_answers();
            }
            Event::QuestionAnswered { .. } | Event::AgentQuestionWithdrawn { .. } => {
                self.clear_picked_answers()
            }
            _ => {}
        }
    }

    /// Drops what belongs to the previous run: calls and questions are numbered from the start in each run.
    fn reset_for_run(&mut self) {
        (self.chosen, self.letter, self.exact_call) = (None, None, None);
        self.guard.clear_dialog();
        self.clear_prompt_history();
        self.prompt_preview = None;
        self.versions.clear();
        self.clear_picked_answers();
    }

    /// Stores the answer to the current question of several; the last answer sends them all.
    pub fn pick_answer(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        let Some(question) = state.and_then(RunState::current_question) else {
            return Vec::new();
        };
        let open = open_questions(question.kind.agent_questions(), &self.picked_answers);
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

    /// Returns what the run's dialogs show beside the run's state.
    pub fn context<'a>(
        &'a self,
        noted_line: Option<&'a UserNote>,
        documents: &'a DisplayDocuments,
        settings: &ScreenSettings,
    ) -> DialogContext<'a> {
        DialogContext {
            preview: self.prompt_preview.as_ref(),
            exact_call: self.exact_call.as_ref(),
            versions: &self.versions,
            proposed_goal: self.proposed_goal.as_deref(),
            goal_before: self.goal_before.as_deref(),
            picked_answers: &self.picked_answers,
            ticked_answers: &self.ticked_answers,
            noted_line,
            documents,
            clock: settings.local_clock(),
            confirm_enter: settings.confirm_enter,
            shows_prompt: settings.shows_prompt,
        }
    }

    fn on_agent_activity(&mut self, news: &AgentActivity) {
        if let Some(goal) = news.proposed_goal() {
            self.goal_before = self.proposed_goal.replace(goal);
            self.is_goal_known = true;
        }
    }
}
