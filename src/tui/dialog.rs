//! A dialog as data: what is asked, why, the choices, and what Enter does.
//!
//! It stands below the tab, never over the whole screen, so that what it is about stays readable. Refuses to know how it
//! is drawn.

mod dialog_render;

use ratatui::style::Style;

use super::action::Action;
use super::command::ScreenCommand;
use super::text_wrap::{clean_for_display, to_one_line};
use super::theme;
use crate::permission::ApprovalScope;

/// What waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceDialog {
    /// Its identity: another one is another dialog.
    pub id: String,
    /// What is asked, in one line.
    pub title: String,
    /// What has to be known to decide: first why it is asked, then what.
    pub body: Vec<(String, Style)>,
    /// How many lines of the body say why it is asked; they give way where not all of it fits.
    reason_lines: usize,
    /// The choices; at least one.
    pub choices: Vec<DialogChoice>,
    /// Which one Enter carries out at first.
    pub first_choice: usize,
    /// The whole of what the body is cut from, where it is.
    pub full_text: Option<(String, String)>,
    /// The lines of the body, by their places, that the plan says itself.
    plan_lines: Vec<usize>,
    /// Whether Enter carries it out from an empty composer too.
    pub empty_composer_enter: EmptyComposerEnter,
    /// How long it stands; only for dialogs of the screen's own.
    pub lifetime: DialogLifetime,
    /// Who wants it answered.
    pub origin: DialogOrigin,
}

/// Who wants a dialog answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogOrigin {
    /// The run: it waits for the user.
    Run,
    /// The user, who opened a list; nothing waits for it.
    User,
}

/// How long a dialog of the screen's own stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogLifetime {
    /// It is about the turn or the phase at hand and goes with it.
    RunAdvances,
    /// It asks for something beside them and waits for the user.
    Closed,
    /// It asks whether to stop: it waits for the user, and no turn starts before the answer.
    Answered(StopKind),
}

/// What a dialog asks whether to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// The run, back to the goal.
    ToGoal,
    /// The same, as the answer to a question.
    ByAnswer {
        /// The question.
        id: u32,
    },
    /// The execution, back to planning.
    Replan,
    /// The run, for good.
    Cancel,
    /// The program.
    Quit,
    /// One of the tasks.
    Task,
}

/// Whether Enter in an empty composer carries a dialog's choice out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyComposerEnter {
    /// It does.
    CarriesOutChoice,
    /// It goes to the dialog first.
    FocusesDialog,
}

/// Who has the keys while a dialog stands, and which of its choices is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogFocus {
    /// The dialog.
    Dialog(usize),
    /// The composer, but Enter is the dialog's as long as nothing is written.
    EnterOnly(usize),
    /// The composer: a letter is written there and chooses nothing.
    Composer(usize),
    /// Nobody yet: it has just come.
    Nobody,
}

impl DialogFocus {
    fn pointed_choice(self) -> Option<usize> {
        match self {
            Self::Dialog(at) | Self::EnterOnly(at) | Self::Composer(at) => Some(at),
            Self::Nobody => None,
        }
    }
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    /// The letter that carries it out.
    pub key: char,
    /// What it does, as after "Enter: ".
    pub label: String,
    /// What follows.
    pub action: ChoiceAction,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceAction {
    /// These actions.
    Act(Vec<Action>),
    /// The composer takes a text for it.
    WriteDraft(ComposerDraft),
    /// A command of the screen.
    RunCommand(ScreenCommand),
    /// The composer holds this text and is written in.
    FillComposer(String),
    /// Is asked once more.
    Confirm(Box<ChoiceDialog>),
    /// Answers the question at hand of several.
    PickAnswer(String),
    /// Chooses one of several answers to a question, or takes it back.
    TickAnswer {
        /// The question.
        asked: String,
        /// The answer.
        label: String,
    },
    /// Closes a dialog of the screen's own.
    Close,
    /// The same, after these actions.
    ActAndClose(Vec<Action>),
    /// These actions; a line stands for the dialog from then on, as long as the run waits for the same.
    PutAside(Vec<Action>),
}

/// A text that a dialog asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerDraft {
    /// What shall be changed in the plan.
    Changes {
        /// The question.
        id: u32,
    },
    /// How many more iterations.
    More {
        /// The question.
        id: u32,
    },
    /// The answer to the agent's question at hand.
    Reply {
        /// The question.
        id: u32,
    },
    /// What is said with the turn that goes again.
    Again {
        /// The question.
        id: u32,
    },
    /// A note on a line of the plan.
    Note,
    /// A line of the plan, anew.
    Line,
    /// What shall be discussed about a finding.
    Topic {
        /// Its number.
        finding: u32,
    },
    /// Why an agent's call is refused.
    Refusal {
        /// The call, as the run counts them.
        of: u32,
    },
    /// A pattern of what is like an agent's call.
    Pattern {
        /// The call, as the run counts them.
        of: u32,
        /// For how long it is approved.
        scope: ApprovalScope,
    },
}

impl DialogChoice {
    /// Makes a choice.
    pub fn new(key: char, label: &str, then: ChoiceAction) -> Self {
        Self {
            key,
            label: label.to_owned(),
            action: then,
        }
    }
}

impl ChoiceDialog {
    /// Makes a dialog of which Enter carries out the first choice.
    #[cfg_attr(test, track_caller)]
    pub fn new(id: impl Into<String>, title: &str) -> Self {
        #[cfg(test)]
        super::tests::sites::note(std::panic::Location::caller());
        Self {
            id: id.into(),
            title: to_one_line(title),
            body: Vec::new(),
            reason_lines: 0,
            choices: Vec::new(),
            first_choice: 0,
            full_text: None,
            plan_lines: Vec::new(),
            empty_composer_enter: EmptyComposerEnter::FocusesDialog,
            lifetime: DialogLifetime::RunAdvances,
            origin: DialogOrigin::Run,
        }
    }

    /// Makes a list that the user opened; it stands whatever the run does meanwhile.
    #[cfg_attr(test, track_caller)]
    pub fn list(id: impl Into<String>, title: &str) -> Self {
        Self {
            lifetime: DialogLifetime::Closed,
            origin: DialogOrigin::User,
            ..Self::new(id, title)
        }
    }

    /// Lets it stand whatever the run does meanwhile.
    #[must_use]
    pub fn until_closed(mut self) -> Self {
        self.lifetime = DialogLifetime::Closed;
        self
    }

    /// Lets it stand until it is answered, and no turn start before that.
    #[must_use]
    pub fn until_answered(mut self, stops: StopKind) -> Self {
        self.lifetime = DialogLifetime::Answered(stops);
        self
    }

    /// What it asks whether to stop, where it does.
    pub fn stop_kind(&self) -> Option<StopKind> {
        match self.lifetime {
            DialogLifetime::Answered(stops) => Some(stops),
            DialogLifetime::RunAdvances | DialogLifetime::Closed => None,
        }
    }

    /// Adds a text to the body; its lines are kept.
    #[must_use]
    pub fn with_text(mut self, text: &str, style: Style) -> Self {
        let lines = clean_for_display(text);
        self.body
            .extend(lines.lines().map(|line| (line.to_owned(), style)));
        self
    }

    /// Says why it is asked, above all that is said of it.
    #[must_use]
    pub fn with_reason(mut self, why: &str, style: Style) -> Self {
        let lines = clean_for_display(why);
        for line in lines.lines() {
            self.body
                .insert(self.reason_lines, (line.to_owned(), style));
            self.reason_lines += 1;
        }
        self
    }

    /// Adds a text that stands in the plan, too.
    #[must_use]
    pub fn with_plan_text(mut self, text: &str, style: Style) -> Self {
        let n_before = self.body.len();
        self = self.with_text(text, style);
        self.plan_lines.extend(n_before..self.body.len());
        self
    }

    /// The same without what the plan says, where that is read.
    #[must_use]
    pub fn without_plan_text(mut self) -> Self {
        let in_plan = std::mem::take(&mut self.plan_lines);
        let mut at = 0..self.body.len();
        self.body
            .retain(|_| at.next().is_some_and(|at| !in_plan.contains(&at)));
        self
    }

    /// Adds a choice.
    #[must_use]
    pub fn with_choice(mut self, key: char, label: &str, then: ChoiceAction) -> Self {
        self.choices
            .push(DialogChoice::new(key, &to_one_line(label), then));
        self
    }

    /// Lets Enter carry out another choice at first.
    #[must_use]
    pub fn with_first_choice(mut self, first: usize) -> Self {
        self.first_choice = first;
        self
    }

    /// All that it says and offers, where a window is too small for it.
    pub fn to_text(&self) -> String {
        let body = self.body.iter().map(|(line, _)| line.clone());
        let offered = self.choices.iter().map(|choice| {
            let key = choice.key.to_uppercase();
            format!("- {key}: {}", choice.label)
        });
        let blank = std::iter::once(String::new());
        let all: Vec<String> = body.chain(blank).chain(offered).collect();
        all.join("\n")
    }

    /// The same without what has to be known, which is read elsewhere, but for what went wrong.
    #[must_use]
    pub fn without_details(mut self) -> Self {
        // A line that is taken away is part of what is read.
        let went_wrong = |line: &str, style| style == theme::BAD && !line.starts_with(['-', '−']);
        self.body.retain(|(line, style)| went_wrong(line, *style));
        self.reason_lines = 0;
        self
    }

    /// The same without anything that has to be known.
    #[must_use]
    pub fn without_body(mut self) -> Self {
        self.body.clear();
        self.plan_lines.clear();
        self.reason_lines = 0;
        self
    }

    /// The same without its choices, while what it asked for is written.
    #[must_use]
    pub fn without_choices(mut self) -> Self {
        self.choices.clear();
        self
    }
}
