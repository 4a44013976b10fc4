//! A dialog as data: what is asked, the choices, and what Enter does; and how all of them are drawn.
//!
//! It stands below the tab, never over the whole screen, so that what it is about stays readable.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Clear, Paragraph};

use super::action::Action;
use super::command::Command;
use super::markdown::hanging;
use super::theme;
use super::wrap::{cut, one_line, shown, width, wrap};
use crate::domain::ids::RequestId;
use crate::permission::Scope;

/// What a dialog says in place of what Enter does while it takes no keys yet.
const DEAF: &str = "a moment, to read it";
/// How many columns a text of a dialog takes at most.
const WIDEST: usize = 112;

/// What waits for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Its identity: another one is another dialog.
    pub id: String,
    /// What is asked, in one line.
    pub title: String,
    /// What has to be known to decide.
    pub body: Vec<(String, Style)>,
    /// The choices; at least one.
    pub choices: Vec<Choice>,
    /// Which one Enter carries out at first.
    pub first: usize,
    /// The whole of what the body is cut from, where it is.
    pub whole: Option<(String, String)>,
    /// The lines of the body, by their places, that the plan says itself.
    in_plan: Vec<usize>,
    /// Whether Enter carries it out from an empty composer too.
    pub from_composer: FromComposer,
    /// How long it stands; only for dialogs of the screen's own.
    pub until: Until,
    /// Who wants it answered.
    pub asked_by: AskedBy,
}

/// Who wants a dialog answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedBy {
    /// The run: it waits for the user.
    Run,
    /// The user, who opened a list; nothing waits for it.
    User,
}

/// How long a dialog of the screen's own stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// It is about the turn or the phase at hand and goes with it.
    TheRunMovesOn,
    /// It asks for something beside them and waits for the user.
    ItIsClosed,
}

/// Whether Enter in an empty composer carries a dialog's choice out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromComposer {
    /// It does.
    Yes,
    /// It goes to the dialog first.
    No,
}

/// Who has the keys while a dialog stands, and which of its choices is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The dialog.
    Here(usize),
    /// The composer, but Enter is the dialog's as long as nothing is written.
    EnterOnly(usize),
    /// The composer: a letter is written there and chooses nothing.
    Below(usize),
    /// Nobody yet: it has just come.
    Nobody,
}

impl Keys {
    fn pointed_at(self) -> Option<usize> {
        match self {
            Self::Here(at) | Self::EnterOnly(at) | Self::Below(at) => Some(at),
            Self::Nobody => None,
        }
    }
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The letter that carries it out.
    pub key: char,
    /// What it does, as after "Enter: ".
    pub label: String,
    /// What follows.
    pub then: Then,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// These actions.
    Act(Vec<Action>),
    /// The composer takes a text for it.
    Write(Draft),
    /// A command of the screen.
    Do(Command),
    /// The composer holds this text and is written in.
    Fill(String),
    /// Is asked once more.
    Confirm(Box<Sheet>),
    /// Answers the question at hand of several.
    Pick(String),
    /// Closes a dialog of the screen's own.
    Back,
    /// The same, after these actions.
    ActAndBack(Vec<Action>),
}

/// A text that a dialog asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draft {
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
        /// The call, by its mark.
        of: u64,
    },
    /// A pattern of what is like an agent's call.
    Pattern {
        /// The call, by its mark.
        of: u64,
        /// For how long it is approved.
        scope: Scope,
    },
}

impl Draft {
    /// The mark of a request, by which a text finds the call that it was asked for and no other.
    pub fn mark(request: &RequestId) -> u64 {
        let mut hasher = DefaultHasher::new();
        request.as_str().hash(&mut hasher);
        hasher.finish()
    }
}

impl Choice {
    /// Makes a choice.
    pub fn new(key: char, label: &str, then: Then) -> Self {
        Self {
            key,
            label: label.to_owned(),
            then,
        }
    }
}

impl Sheet {
    /// Makes a dialog of which Enter carries out the first choice.
    #[cfg_attr(test, track_caller)]
    pub fn new(id: impl Into<String>, title: &str) -> Self {
        #[cfg(test)]
        super::tests::sites::note(std::panic::Location::caller());
        Self {
            id: id.into(),
            title: one_line(title),
            body: Vec::new(),
            choices: Vec::new(),
            first: 0,
            whole: None,
            in_plan: Vec::new(),
            from_composer: FromComposer::No,
            until: Until::TheRunMovesOn,
            asked_by: AskedBy::Run,
        }
    }

    /// Makes a list that the user opened; it stands whatever the run does meanwhile.
    #[cfg_attr(test, track_caller)]
    pub fn list(id: impl Into<String>, title: &str) -> Self {
        Self {
            until: Until::ItIsClosed,
            asked_by: AskedBy::User,
            ..Self::new(id, title)
        }
    }

    /// Lets it stand whatever the run does meanwhile.
    #[must_use]
    pub fn until_closed(mut self) -> Self {
        self.until = Until::ItIsClosed;
        self
    }

    /// Adds a text to the body; its lines are kept.
    #[must_use]
    pub fn says(mut self, text: &str, style: Style) -> Self {
        let lines = shown(text);
        self.body
            .extend(lines.lines().map(|line| (line.to_owned(), style)));
        self
    }

    /// Adds a text that stands in the plan, too.
    #[must_use]
    pub fn says_of_plan(mut self, text: &str, style: Style) -> Self {
        let n_before = self.body.len();
        self = self.says(text, style);
        self.in_plan.extend(n_before..self.body.len());
        self
    }

    /// The same without what the plan says, where that is read.
    #[must_use]
    pub fn beside_the_plan(mut self) -> Self {
        let in_plan = std::mem::take(&mut self.in_plan);
        let mut at = 0..self.body.len();
        self.body
            .retain(|_| at.next().is_some_and(|at| !in_plan.contains(&at)));
        self
    }

    /// Adds a choice.
    #[must_use]
    pub fn offers(mut self, key: char, label: &str, then: Then) -> Self {
        self.choices.push(Choice::new(key, &one_line(label), then));
        self
    }

    /// Lets Enter carry out another choice at first.
    #[must_use]
    pub fn first(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// All that it says and offers, where a window is too small for it.
    pub fn in_words(&self) -> String {
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
    pub fn brief(mut self) -> Self {
        // A line that is taken away is part of what is read.
        let went_wrong = |line: &str, style| style == theme::BAD && !line.starts_with(['-', '−']);
        self.body.retain(|(line, style)| went_wrong(line, *style));
        self
    }

    /// The same without its choices, while what it asked for is written.
    #[must_use]
    pub fn without_choices(mut self) -> Self {
        self.choices.clear();
        self
    }

    /// How many rows it would like to have.
    pub fn n_rows(&self, columns: usize) -> usize {
        self.body_lines(columns.saturating_sub(4), usize::MAX).len() + self.choices.len() + 2
    }

    fn body_lines(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        // Longer lines are hard to read.
        let columns = columns.min(WIDEST);
        let mut lines = Vec::new();
        for (text, style) in &self.body {
            let indent = hanging(text);
            lines.extend(wrap(
                &[Span::styled(text.as_str(), *style)],
                columns,
                indent,
            ));
            if lines.len() > rows.saturating_add(1) {
                break;
            }
        }
        lines
    }

    /// Draws the dialog as far as it has the keys, with what Enter does at its end, and the key that shows all of it
    /// where it is cut; gives the rows of its choices for the mouse.
    pub fn draw(
        &self,
        frame: &mut Frame,
        area: Rect,
        keys: Keys,
        (enter, view): (&str, &str),
    ) -> Vec<(Rect, usize)> {
        frame.render_widget(Clear, area);
        let (inner, columns) = self.draw_frame(frame, area, enter);
        let rows = usize::from(inner.height);
        let n_choices = self.choices.len().min(rows);
        let n_body = rows - n_choices;
        let mut body = self.body_lines(columns, n_body);
        if body.len() > n_body {
            match n_body {
                0 => body.clear(),
                // What it is about says more than that there is more.
                1 => {
                    body.truncate(1);
                    if let Some(line) = body.first_mut() {
                        shorten(line, columns, &format!(" {view} …"));
                    }
                }
                _ => {
                    let more = cut(&format!("… {view} shows all of it"), columns);
                    body.truncate(n_body - 1);
                    body.push(Line::styled(more, theme::QUIET));
                }
            }
        }
        let body_rows = u16::try_from(body.len()).unwrap_or(inner.height);
        let body_area = Rect {
            height: body_rows.min(inner.height),
            ..inner
        };
        frame.render_widget(Paragraph::new(body), body_area);
        // Of more choices than rows the chosen one is among those that are drawn.
        let pointed_at = keys.pointed_at().unwrap_or(self.first);
        let from = (pointed_at + 1).saturating_sub(n_choices.max(1));
        let mut places = Vec::new();
        for (row, at) in (from..from + n_choices).enumerate() {
            let row = u16::try_from(row).unwrap_or(u16::MAX);
            let place = Rect {
                y: inner.y.saturating_add(body_rows).saturating_add(row),
                height: 1,
                ..inner
            };
            if place.y >= inner.bottom() {
                break;
            }
            if let Some(choice) = self.choices.get(at) {
                let is_chosen = keys.pointed_at() == Some(at);
                frame.render_widget(choice_line(choice, keys, is_chosen, columns), place);
                places.push((place, at));
            }
        }
        places
    }

    /// Draws the dialog while it takes no keys yet: it has just come, and a key may be meant for something else.
    pub fn draw_deaf(&self, frame: &mut Frame, area: Rect, view: &str) {
        let _no_place_to_click = self.draw(frame, area, Keys::Nobody, (DEAF, view));
    }

    /// Draws the border where there is room for one.
    fn draw_frame(&self, frame: &mut Frame, area: Rect, enter: &str) -> (Rect, usize) {
        let columns = usize::from(area.width);
        let (sign, style, border) = match self.asked_by {
            AskedBy::Run => ("? ", theme::NEEDS_YOU, BorderType::Thick),
            AskedBy::User => ("", theme::KEY, BorderType::Rounded),
        };
        let least = match self.n_rows(columns) {
            // A list of one has a frame, too.
            3 => 3,
            _ => 4,
        };
        if area.height < least || area.width < 12 {
            let title = cut(&format!("{sign}{}", self.title), columns);
            let title = Line::styled(title, style);
            frame.render_widget(title, area);
            let inner = Rect {
                y: area.y.saturating_add(1),
                height: area.height.saturating_sub(1),
                ..area
            };
            return (inner, columns);
        }
        let room = columns.saturating_sub(6);
        let block = Block::new()
            .borders(Borders::ALL)
            .border_type(border)
            .border_style(style)
            .title(Line::styled(
                format!(" {sign}{} ", cut(&self.title, room.saturating_sub(2))),
                style,
            ))
            .title_bottom(Line::styled(format!(" {} ", cut(enter, room)), style));
        let framed = block.inner(area);
        frame.render_widget(block, area);
        let inner = Rect {
            x: framed.x + 1,
            width: framed.width.saturating_sub(2),
            ..framed
        };
        (inner, usize::from(inner.width))
    }
}

/// Leaves room for a word at a line's end.
fn shorten(line: &mut Line<'static>, columns: usize, word: &str) {
    let style = line.spans.first().map_or(theme::PLAIN, |span| span.style);
    let text: String = line
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let text = cut(&text, columns.saturating_sub(width(word)));
    *line = Line::from(vec![
        Span::styled(text, style),
        Span::styled(word.to_owned(), theme::QUIET),
    ]);
}

/// A choice; quiet where none can be made, and without its letter where that is written elsewhere.
fn choice_line(choice: &Choice, keys: Keys, is_chosen: bool, columns: usize) -> Line<'static> {
    let key = choice.key.to_uppercase().to_string();
    let room = columns.saturating_sub(width(&key) + 4);
    let no_letter = Span::raw(" ".repeat(width(&key)));
    let (sign, style, letter) = match (keys, is_chosen) {
        (Keys::Here(_), true) => ("▸ ", theme::CHOSEN, Span::styled(key, theme::KEY)),
        (Keys::Here(_), false) => ("  ", theme::PLAIN, Span::styled(key, theme::KEY)),
        (Keys::EnterOnly(_), true) => ("▸ ", theme::CHOSEN, no_letter),
        (Keys::EnterOnly(_), false) | (Keys::Below(_), _) => ("  ", theme::QUIET, no_letter),
        (Keys::Nobody, _) => ("  ", theme::QUIET, Span::styled(key, theme::QUIET)),
    };
    Line::from(vec![
        Span::styled(sign, theme::NEEDS_YOU),
        letter,
        Span::raw("  "),
        Span::styled(cut(&choice.label, room), style),
    ])
}
