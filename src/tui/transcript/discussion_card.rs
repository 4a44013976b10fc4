//! A discussion as a card of two or three lines: its round and speakers while it runs, its result once it
//! is over. The board shows the rest.

use ratatui::text::{Line, Span};

use crate::domain::discussion::{DiscussionEvent, DiscussionOutcome, SpeechPart};
use crate::domain::ids::DiscussionId;
use crate::text::pluralize;
use crate::tui::discussion_board::{describe_decision, describe_stop};
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns, wrap_spans_to_rows};
use crate::tui::theme;

/// The state of a discussion, as its card shows it; all texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionCard {
    pub id: DiscussionId,
    topic: String,
    /// The mode and the participants.
    setup: String,
    max_rounds: u32,
    /// The round, from 1; 0 before the first.
    round: u32,
    speakers: Vec<String>,
    status: DiscussionCardStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum DiscussionCardStatus {
    Running,
    /// The moderator is writing the final message.
    Closing,
    Interrupted,
    /// Over; a later card shows the result.
    EndsBelow,
    /// Over: the outcome, and further details on one line.
    Finished(Box<(DiscussionOutcome, String)>),
}

impl DiscussionCard {
    /// Creates the card of a discussion that starts; `None` for any other event.
    pub fn from_event(id: &DiscussionId, news: &DiscussionEvent) -> Option<Self> {
        let DiscussionEvent::Started { order } = news else {
            return None;
        };
        let names = order
            .participants
            .iter()
            .map(|each| to_one_line(&each.name));
        let names: Vec<String> = names.collect();
        Some(Self {
            id: id.clone(),
            topic: to_one_line(&order.topic),
            setup: format!("{} of {}", order.terms.mode.as_str(), names.join(", ")),
            max_rounds: order.terms.max_rounds(),
            round: 0,
            speakers: Vec::new(),
            status: DiscussionCardStatus::Running,
        })
    }

    /// Applies an event of the discussion.
    pub fn apply(&mut self, news: &DiscussionEvent) {
        match news {
            DiscussionEvent::SpeechBegan {
                round,
                part,
                participant,
                ..
            } => {
                self.round = *round;
                self.speakers.push(to_one_line(participant));
                self.status = match part {
                    SpeechPart::Round => DiscussionCardStatus::Running,
                    SpeechPart::Closing => DiscussionCardStatus::Closing,
                };
            }
            DiscussionEvent::Spoke { speech } => {
                let name = to_one_line(&speech.participant);
                self.speakers.retain(|each| *each != name);
            }
            DiscussionEvent::Ended { outcome } => {
                self.speakers.clear();
                let besides = describe_outcome_details(outcome);
                self.status =
                    DiscussionCardStatus::Finished(Box::new((outcome.as_ref().clone(), besides)));
            }
            DiscussionEvent::Continued => self.status = DiscussionCardStatus::Running,
            DiscussionEvent::CutOff => self.mark_interrupted(),
            DiscussionEvent::Started { .. }
            | DiscussionEvent::CheckBegan { .. }
            | DiscussionEvent::Checked { .. }
            | DiscussionEvent::StopAsked { .. } => {}
        }
    }

    /// Marks a running discussion as interrupted, because the program ended.
    pub fn mark_interrupted(&mut self) {
        if matches!(
            self.status,
            DiscussionCardStatus::Running | DiscussionCardStatus::Closing
        ) {
            self.speakers.clear();
            self.status = DiscussionCardStatus::Interrupted;
        }
    }

    /// Marks that a later card shows the result.
    pub fn mark_ends_below(&mut self) {
        self.status = DiscussionCardStatus::EndsBelow;
    }

    /// Returns whether it is not running any more.
    pub fn is_over(&self) -> bool {
        !matches!(
            self.status,
            DiscussionCardStatus::Running | DiscussionCardStatus::Closing
        )
    }

    /// Returns what linear mode prints when it starts.
    pub fn start_lines(&self) -> Vec<String> {
        vec![format!("Discussion: {}", self.topic), self.setup.clone()]
    }

    /// Returns what linear mode prints when it is over.
    pub fn outcome_lines(&self) -> Vec<String> {
        let head = format!("Discussion is over: {}", self.topic);
        match &self.status {
            DiscussionCardStatus::Finished(over) => {
                let (decision, _) = describe_decision(&over.0);
                vec![head, decision, over.1.clone()]
            }
            DiscussionCardStatus::Interrupted => vec![
                format!("Discussion was cut off: {}", self.topic),
                "Finished rounds are kept.".to_owned(),
            ],
            DiscussionCardStatus::Running
            | DiscussionCardStatus::Closing
            | DiscussionCardStatus::EndsBelow => Vec::new(),
        }
    }

    /// Returns the size of its text in bytes.
    pub fn n_bytes(&self) -> usize {
        let besides = match &self.status {
            DiscussionCardStatus::Finished(over) => over.1.len() + over.0.conclusion.len(),
            DiscussionCardStatus::Running
            | DiscussionCardStatus::Closing
            | DiscussionCardStatus::Interrupted
            | DiscussionCardStatus::EndsBelow => 0,
        };
        self.topic.len() + self.setup.len() + besides
    }

    /// Returns its lines as plain text.
    pub fn to_text(&self) -> String {
        let lines = self.lines(usize::MAX / 4).into_iter();
        let lines: Vec<String> = lines
            .map(|line| line.to_string().trim().to_owned())
            .collect();
        lines.join("\n").trim().to_owned()
    }

    /// Renders its lines, at most `columns` wide.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let head = truncate_to_columns(&format!("◆ {}", self.topic), columns);
        let mut lines = vec![Line::default(), Line::styled(head, theme::STRONG)];
        let hint = " · Space opens the board";
        let below = |text: &str| {
            let room = columns.saturating_sub(2 + text_width(hint));
            let (text, hint) = if text_width(text) <= room {
                (text.to_owned(), hint)
            } else {
                (truncate_to_columns(text, columns.saturating_sub(2)), "")
            };
            Line::styled(format!("  {text}{hint}"), theme::QUIET)
        };
        match &self.status {
            DiscussionCardStatus::Finished(over) => {
                let (text, style) = describe_decision(&over.0);
                let spans = [
                    Span::raw("  "),
                    Span::styled(text, style.patch(theme::STRONG)),
                ];
                lines.extend(wrap_spans_to_rows(&spans, columns, 4, 2));
                lines.push(below(&over.1));
            }
            DiscussionCardStatus::EndsBelow => {
                lines.push(below(&format!("{}, result below", self.setup)))
            }
            DiscussionCardStatus::Interrupted => {
                lines.push(below("■ cut off, finished rounds are kept"))
            }
            DiscussionCardStatus::Running | DiscussionCardStatus::Closing => {
                let text = truncate_to_columns(
                    &format!("◐ {}", self.describe_progress()),
                    columns.saturating_sub(2),
                );
                lines.push(Line::styled(format!("  {text}"), theme::ACCENT));
                lines.push(below(&self.setup));
            }
        }
        lines
    }

    /// Describes the round and the speakers.
    fn describe_progress(&self) -> String {
        let round = match (&self.status, self.round) {
            (DiscussionCardStatus::Closing, _) => "final words".to_owned(),
            (_, 0) => "starting".to_owned(),
            (_, round) => format!("round {round} of {}", self.max_rounds),
        };
        match self.speakers.as_slice() {
            [] => round,
            [one] => format!("{round} · {one} is answering"),
            all => format!("{round} · {} are answering", all.join(", ")),
        }
    }
}

/// Describes an outcome beyond the decision itself.
pub fn describe_outcome_details(outcome: &DiscussionOutcome) -> String {
    let mut parts = Vec::new();
    let minority = outcome
        .minority
        .iter()
        .map(|each| to_one_line(&each.participant));
    let minority: Vec<String> = minority.collect();
    if !minority.is_empty() {
        parts.push(format!("against it: {}", minority.join(", ")));
    }
    if !outcome.unresolved.is_empty() {
        parts.push(format!(
            "{} open",
            pluralize(outcome.unresolved.len(), "point")
        ));
    }
    parts.push(describe_stop(outcome));
    parts.join(" · ")
}
