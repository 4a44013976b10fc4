//! A dialog as data: the question, the reason for it, the choices, and what Enter does.
//!
//! It is drawn below the tab and never covers the whole screen, so that its subject stays readable.

mod brief_text;
mod dialog_body;
mod dialog_line;
mod dialog_render;
pub(super) mod dialog_size;
mod dialog_weight;

use ratatui::style::Style;

use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::OpenDialog;
use super::dialogs::edit_preview::EditPreview;
use super::tab_kind::TabKind;
use super::text_wrap::{clean_for_display, text_width, to_one_line};
use super::theme;
use crate::permission::ApprovalScope;
pub use brief_text::BriefText;
use dialog_line::DialogLineKind;
pub use dialog_line::{DialogColumn, DialogLine};
pub use dialog_weight::DialogWeight;

/// A dialog that waits for the user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChoiceDialog {
    /// Identifies the dialog; a new id means a new dialog.
    pub id: String,
    /// The question, in one line.
    pub title: String,
    /// Who asks, at the right of the question; often empty.
    pub about: String,
    /// The information for the decision: first the reason for the question, then the rest.
    pub body: Vec<DialogLine>,
    /// Two texts below the body: side by side where the window is wide, else one after the other.
    pub(super) side_by_side: Option<[DialogColumn; 2]>,
    /// The edit that is decided upon, below the body.
    pub edit: Option<EditPreview>,
    /// The choices; at least one.
    pub choices: Vec<DialogChoice>,
    /// The index of the choice that Enter carries out at first.
    pub first_choice: usize,
    /// The title and the full text, if the body is only an excerpt.
    pub full_text: Option<(String, String)>,
    /// Whether the full text is the body, which is shown there as it is here.
    pub is_body_full_text: bool,
    /// What Enter does, or what can be done later, below the choices; a narrow panel has only the first sentences.
    pub note: String,
    /// Whether Enter in an empty composer carries out the choice.
    pub empty_composer_enter: EmptyComposerEnter,
    /// When the dialog closes by itself; only for the screen's own dialogs.
    pub lifetime: DialogLifetime,
    pub origin: DialogOrigin,
    pub weight: DialogWeight,
}

/// Who needs the answer to a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogOrigin {
    /// The run: it waits for the user.
    Run,
    /// The user, who opened a list; the run does not wait for it.
    User,
}

/// When one of the screen's own dialogs closes by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogLifetime {
    /// When the turn or phase that it is about ends.
    RunAdvances,
    /// Never: it is independent of the run and waits for the user.
    Closed,
    /// Never, and no turn starts before the answer: it asks whether to stop.
    Answered(StopKind),
}

/// What the user is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// The run, back to the goal.
    ToGoal,
    /// The run, back to the goal, as the answer to a question.
    ByAnswer {
        id: u32,
    },
    /// The execution, back to planning.
    Replan,
    /// The run, for good.
    Cancel,
    Quit,
    Task,
}

/// Whether Enter in an empty composer carries out a dialog's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyComposerEnter {
    CarriesOutChoice,
    /// The same, and then the dialogs have the keys: what comes next are questions.
    CarriesOutAndLeaves,
    FocusesDialog,
}

/// Who gets the keys while a dialog is open, and which choice is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialogFocus {
    Dialog(usize),
    /// The composer, but Enter belongs to the dialog while nothing is written.
    EnterOnly(usize),
    /// The composer: letters are typed and choose nothing.
    Composer(usize),
    /// No one: a view is in front.
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

/// One choice of a dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    /// The letter that carries it out.
    pub key: char,
    pub label: String,
    pub action: ChoiceAction,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceAction {
    Act(Vec<Action>),
    /// Lets the user write a text for it in the composer.
    WriteDraft(ComposerDraft),
    RunCommand(ScreenCommand),
    /// Puts this text into the composer and focuses it.
    FillComposer(String),
    /// Opens a dialog that asks for confirmation.
    Confirm(Box<ChoiceDialog>),
    /// Answers the current question of several.
    PickAnswer(String),
    /// Ticks or unticks one of several answers to a question.
    TickAnswer {
        asked: String,
        label: String,
    },
    /// Closes one of the screen's own dialogs.
    Close,
    /// Performs these actions, then closes the dialog.
    ActAndClose(Vec<Action>),
    /// Performs these actions, then shows a line instead of the dialog for as long as the run
    /// waits for the same thing.
    PutAside(Vec<Action>),
}

/// A text that a dialog asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerDraft {
    /// Changes to the plan.
    Changes { id: u32 },
    /// A number of additional iterations.
    More { id: u32 },
    /// The answer to an agent's current question.
    Reply { id: u32 },
    /// A message for the turn that is retried.
    Again { id: u32 },
    /// A note on a line of the plan.
    Note,
    /// The new text of a line of the plan.
    Line,
    /// The topic of a discussion about a finding.
    Topic { finding: u32 },
    /// The reason for rejecting an agent's call.
    Refusal {
        /// The call's number in the run.
        call: u32,
    },
    /// A pattern that matches calls like this one.
    Pattern {
        /// The call's number in the run.
        call: u32,
        /// How long the approval lasts.
        scope: ApprovalScope,
    },
}

impl DialogChoice {
    pub fn new(key: char, label: &str, then: ChoiceAction) -> Self {
        Self {
            key,
            label: label.to_owned(),
            action: then,
        }
    }
}

impl ChoiceDialog {
    /// Returns what the conditions of commands ask about it.
    pub fn to_open_dialog(&self) -> OpenDialog {
        let resumes = |choice: &DialogChoice| match &choice.action {
            ChoiceAction::ActAndClose(actions) => actions.contains(&Action::Resume),
            _ => false,
        };
        OpenDialog {
            has_go: self.choices.iter().any(|choice| choice.key == 'g'),
            has_resume: self.choices.iter().any(resumes),
        }
    }

    /// Creates a dialog in which Enter carries out the first choice.
    #[cfg_attr(test, track_caller)]
    pub fn new(id: impl Into<String>, title: &str) -> Self {
        #[cfg(test)]
        super::tests::sites::note(std::panic::Location::caller());
        Self {
            id: id.into(),
            title: to_one_line(title),
            about: String::new(),
            body: Vec::new(),
            side_by_side: None,
            edit: None,
            choices: Vec::new(),
            first_choice: 0,
            full_text: None,
            is_body_full_text: false,
            note: String::new(),
            empty_composer_enter: EmptyComposerEnter::FocusesDialog,
            lifetime: DialogLifetime::RunAdvances,
            origin: DialogOrigin::Run,
            weight: DialogWeight::Question,
        }
    }

    /// Creates a list that the user opened; it stays open whatever the run does.
    #[cfg_attr(test, track_caller)]
    pub fn list(id: impl Into<String>, title: &str) -> Self {
        Self {
            lifetime: DialogLifetime::Closed,
            origin: DialogOrigin::User,
            weight: DialogWeight::Routine,
            ..Self::new(id, title)
        }
    }

    #[must_use]
    pub fn with_weight(mut self, weight: DialogWeight) -> Self {
        self.weight = weight;
        self
    }

    /// Keeps the dialog open whatever the run does.
    #[must_use]
    pub fn until_closed(mut self) -> Self {
        self.lifetime = DialogLifetime::Closed;
        self
    }

    /// Keeps the dialog open until it is answered, and lets no turn start before that.
    #[must_use]
    pub fn until_answered(mut self, stops: StopKind) -> Self {
        self.lifetime = DialogLifetime::Answered(stops);
        self
    }

    /// Returns what the dialog asks to stop, if it does.
    pub fn stop_kind(&self) -> Option<StopKind> {
        match self.lifetime {
            DialogLifetime::Answered(stops) => Some(stops),
            DialogLifetime::RunAdvances | DialogLifetime::Closed => None,
        }
    }

    /// Adds a text to the body, line by line.
    #[must_use]
    pub fn with_text(mut self, text: &str, style: Style) -> Self {
        let lines = clean_for_display(text);
        let lines = lines.lines();
        self.body
            .extend(lines.map(|line| DialogLine::new(line, style, DialogLineKind::Text)));
        self
    }

    /// Adds the reason for the question, above the rest of the body.
    #[must_use]
    pub fn with_reason(mut self, why: &str, style: Style) -> Self {
        let lines = clean_for_display(why);
        let at = self.reason().count();
        let lines = lines.lines();
        let lines = lines.map(|line| DialogLine::new(line, style, DialogLineKind::Reason));
        self.body.splice(at..at, lines);
        self
    }

    fn reason(&self) -> impl Iterator<Item = &DialogLine> {
        let lines = self.body.iter();
        lines.filter(|line| line.kind == DialogLineKind::Reason)
    }

    /// Adds a label and its value; the labels of a dialog have one width, with blanks after them.
    #[must_use]
    pub fn with_field(mut self, label: &str, value: &str, style: Style) -> Self {
        let text = format!("{label}{}", to_one_line(value));
        let kind = DialogLineKind::Field(text_width(label));
        self.body.push(DialogLine::new(&text, style, kind));
        self
    }

    /// Like [`Self::with_field`], for a value that is shown whole also where there is little room.
    #[must_use]
    pub fn with_whole_field(self, label: &str, value: &str, style: Style) -> Self {
        let mut sheet = self.with_field(label, value, style);
        if let Some(line) = sheet.body.last_mut() {
            line.is_never_cut = true;
        }
        sheet
    }

    /// Widens the labels of the fields so far to as many columns, where one of them is that wide.
    #[must_use]
    pub fn with_label_columns(mut self, columns: usize) -> Self {
        for line in &mut self.body {
            let DialogLineKind::Field(used) = line.kind else {
                continue;
            };
            // Labels are in letters of one byte.
            if used < columns && line.text.is_char_boundary(used) {
                line.text.insert_str(used, &" ".repeat(columns - used));
                line.kind = DialogLineKind::Field(columns);
            }
        }
        self
    }

    /// Adds a text that only the full text has.
    #[must_use]
    pub fn with_full_text_line(mut self, text: &str) -> Self {
        let kind = DialogLineKind::InFullText;
        self.body
            .push(DialogLine::new(&to_one_line(text), theme::QUIET, kind));
        self
    }

    /// Makes the body, as it is now, the full text.
    #[must_use]
    pub fn with_body_as_full_text(mut self, title: &str) -> Self {
        let lines = self.body.iter().filter(|line| !self.is_in_edit(line));
        let lines = lines.map(|line| line.text.as_str());
        let mut text = lines.collect::<Vec<_>>().join("\n");
        if let Some(edit) = &self.edit {
            text = format!("{text}\n{}", edit.to_diff());
        }
        self.full_text = Some((title.to_owned(), text));
        self.is_body_full_text = true;
        self
    }

    /// Returns whether the text of the edit says this, too.
    fn is_in_edit(&self, line: &DialogLine) -> bool {
        line.kind == DialogLineKind::Subject && self.edit.is_some()
    }

    /// Adds a blank row, where there is room for it.
    #[must_use]
    pub fn with_gap(mut self) -> Self {
        self.body
            .push(DialogLine::new("", theme::PLAIN, DialogLineKind::Gap));
        self
    }

    /// Says below the choices what Enter does, or what can be done later.
    #[must_use]
    pub fn with_note(self, note: &str) -> Self {
        Self {
            note: to_one_line(note),
            ..self
        }
    }

    /// Names what the question is about; a text that comes later stands below it.
    #[must_use]
    pub fn with_subject(mut self, subject: &str) -> Self {
        let subject = clean_for_display(subject).replace('\n', " ");
        let kind = DialogLineKind::Subject;
        self.body
            .push(DialogLine::new(&subject, theme::PLAIN, kind));
        self
    }

    /// Says at the right of the question who asks.
    #[must_use]
    pub fn with_about(self, about: &str) -> Self {
        Self {
            about: to_one_line(about),
            ..self
        }
    }

    /// Returns the question, and who asks.
    pub fn heading(&self) -> String {
        // Of a turn that waits the counts are no help elsewhere.
        if self.about.is_empty() || self.weight == DialogWeight::Routine {
            self.title.clone()
        } else {
            format!("{} · {}", self.title, self.about)
        }
    }

    /// Adds a text that is also in the plan.
    #[must_use]
    pub fn with_plan_text(self, text: &str, style: Style) -> Self {
        self.with_text_of_tabs(&[TabKind::Plan], text, style)
    }

    /// Adds a text that also stands in each of these tabs.
    #[must_use]
    pub fn with_text_of_tabs(mut self, tabs: &'static [TabKind], text: &str, style: Style) -> Self {
        let n_before = self.body.len();
        self = self.with_text(text, style);
        for line in self.body.iter_mut().skip(n_before) {
            line.tabs = tabs;
        }
        self
    }

    /// Adds the reason of a failure, which the chat has too; of a longer one it may show only a part.
    #[must_use]
    pub fn with_reason_in_chat(self, reason: &str, style: Style) -> Self {
        let is_short = reason.lines().nth(1).is_none();
        let tabs: &[TabKind] = if is_short { &[TabKind::Chat] } else { &[] };
        self.with_text_of_tabs(tabs, reason, style)
    }

    /// Removes the lines that also stand in a tab, for when it is visible.
    #[must_use]
    pub fn without_text_of_tab(mut self, tab: TabKind) -> Self {
        self.body.retain(|line| !line.tabs.contains(&tab));
        // What stood between two gaps is gone.
        let is_gap = |line: &DialogLine| matches!(line.kind, DialogLineKind::Gap);
        self.body
            .dedup_by(|line, before| is_gap(line) && is_gap(before));
        self.body.pop_if(|line| is_gap(line));
        self
    }

    /// Removes the first line that also stands in a tab, and those that follow it without a gap.
    #[must_use]
    pub fn without_first_text_of_tab(mut self, tab: TabKind) -> Self {
        let is_of_tab = |line: &DialogLine| line.tabs.contains(&tab);
        if let Some(first) = self.body.iter().position(is_of_tab) {
            let lines = self.body.iter().skip(first);
            let n_lines = lines.take_while(|line| is_of_tab(line)).count();
            self.body.drain(first..first + n_lines);
        }
        self
    }

    /// Returns the texts that also stand in a tab.
    pub fn texts_of_tab(&self, tab: TabKind) -> impl Iterator<Item = &str> {
        let lines = self.body.iter();
        let lines = lines.filter(move |line| line.tabs.contains(&tab));
        lines.map(|line| line.text.as_str())
    }

    /// Adds two texts to compare, between the first line of the body and the others.
    #[must_use]
    pub fn with_columns(mut self, columns: [DialogColumn; 2]) -> Self {
        self.side_by_side = Some(columns);
        self
    }

    /// Returns the body with the texts to compare below its first line, one after the other.
    pub(super) fn sequential_body(&self) -> Vec<(String, Style)> {
        let columns = self.side_by_side.iter().flatten();
        let compared =
            columns.flat_map(|column| std::iter::once(&column.title).chain(&column.texts));
        let body = self.body.iter();
        let body = body.filter(|line| line.kind != DialogLineKind::InFullText);
        let body = body.filter(|line| !self.is_in_edit(line));
        let mut body = body.map(|line| (line.sequential_text(), line.style));
        let first: Vec<_> = body.next().into_iter().collect();
        first
            .into_iter()
            .chain(compared.cloned())
            .chain(body)
            .collect()
    }

    #[must_use]
    pub fn with_choice(mut self, key: char, label: &str, then: ChoiceAction) -> Self {
        self.choices
            .push(DialogChoice::new(key, &to_one_line(label), then));
        self
    }

    /// Sets the choice that Enter carries out at first.
    #[must_use]
    pub fn with_first_choice(mut self, first: usize) -> Self {
        self.first_choice = first;
        self
    }

    /// Returns the whole dialog as text, for windows that are too small for it.
    pub fn to_text(&self) -> String {
        let body = self.sequential_body().into_iter().map(|(line, _)| line);
        let offered = self.choices.iter().map(|choice| {
            let key = choice.key.to_uppercase();
            format!("- {key}: {}", choice.label)
        });
        let blank = std::iter::once(String::new());
        let all: Vec<String> = body.chain(blank).chain(offered).collect();
        all.join("\n")
    }

    /// Removes the body except for errors, for when the details are on the screen elsewhere.
    #[must_use]
    pub fn without_details(mut self) -> Self {
        // A removed line of a diff has the same style but is a detail.
        let went_wrong = |line: &str, style| style == theme::BAD && !line.starts_with(['-', '−']);
        self.body.retain(|line| went_wrong(&line.text, line.style));
        self.side_by_side = None;
        self
    }

    /// Removes the whole body.
    #[must_use]
    pub fn without_body(mut self) -> Self {
        self.body.clear();
        self.side_by_side = None;
        self
    }

    /// Removes the choices, for while the user writes the text that a choice asked for.
    #[must_use]
    pub fn without_choices(mut self) -> Self {
        self.choices.clear();
        self
    }
}
