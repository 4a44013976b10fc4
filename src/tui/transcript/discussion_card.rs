//! A discussion in the stream, as a card of two or three lines: while it runs, which round it is in and who speaks;
//! once it is over, what it came to. The board shows the rest.

use ratatui::text::{Line, Span};

use super::ChatTranscript;
use super::transcript_block::{BlockAuthor, BlockContent, TranscriptBlock};
use crate::domain::discussion::{DiscussionEvent, DiscussionOutcome, SpeechPart};
use crate::domain::event::Event;
use crate::domain::ids::DiscussionId;
use crate::text::pluralize;
use crate::tui::discussion_board::{attitude_label, describe_decision, describe_stop};
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns, wrap_spans_to_rows};
use crate::tui::theme;

/// A discussion; all texts are drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionCard {
    /// Which.
    pub id: DiscussionId,
    topic: String,
    /// How it is discussed, and by whom.
    setup: String,
    max_rounds: u32,
    /// The round, from 1; 0 before the first.
    round: u32,
    /// Who speaks now.
    speakers: Vec<String>,
    /// How it stands.
    status: DiscussionCardStatus,
}

/// How a discussion stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DiscussionCardStatus {
    /// It goes on.
    Running,
    /// It goes on with the moderator's last word.
    Closing,
    /// It was cut off.
    Interrupted,
    /// It is over, and a card further down tells how.
    EndsBelow,
    /// It is over: what was decided, and what else there is to say in a line.
    Finished(Box<(DiscussionOutcome, String)>),
}

impl DiscussionCard {
    /// A discussion that begins.
    pub fn from_event(id: &DiscussionId, news: &DiscussionEvent) -> Option<Self> {
        let DiscussionEvent::Begun { order } = news else {
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

    /// Takes in what happens in it.
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
            DiscussionEvent::Begun { .. }
            | DiscussionEvent::CheckBegan { .. }
            | DiscussionEvent::Checked { .. }
            | DiscussionEvent::StopAsked { .. } => {}
        }
    }

    /// The program ended while it ran.
    pub fn mark_interrupted(&mut self) {
        if matches!(
            self.status,
            DiscussionCardStatus::Running | DiscussionCardStatus::Closing
        ) {
            self.speakers.clear();
            self.status = DiscussionCardStatus::Interrupted;
        }
    }

    /// Another card tells how it ended.
    pub fn mark_ends_below(&mut self) {
        self.status = DiscussionCardStatus::EndsBelow;
    }

    /// How many bytes of text it holds.
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

    /// What it says.
    pub fn to_text(&self) -> String {
        let lines = self.lines(usize::MAX / 4).into_iter();
        let lines: Vec<String> = lines
            .map(|line| line.to_string().trim().to_owned())
            .collect();
        lines.join("\n").trim().to_owned()
    }

    /// Its lines.
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
                lines.push(below(&format!("{}; how it ended stands below", self.setup)))
            }
            DiscussionCardStatus::Interrupted => {
                lines.push(below("■ cut off: the finished rounds are kept"))
            }
            DiscussionCardStatus::Running | DiscussionCardStatus::Closing => {
                let text = truncate_to_columns(
                    &format!("◌ {}", self.describe_progress()),
                    columns.saturating_sub(2),
                );
                lines.push(Line::styled(format!("  {text}"), theme::KEY));
                lines.push(below(&self.setup));
            }
        }
        lines
    }

    /// Which round it is, and who speaks.
    fn describe_progress(&self) -> String {
        let round = match (&self.status, self.round) {
            (DiscussionCardStatus::Closing, _) => "the last word".to_owned(),
            (_, 0) => "it begins".to_owned(),
            (_, round) => format!("round {round} of {}", self.max_rounds),
        };
        match self.speakers.as_slice() {
            [] => round,
            [one] => format!("{round} · {one} speaks"),
            all => format!("{round} · {} speak", all.join(", ")),
        }
    }
}

impl ChatTranscript {
    /// Tells whether an event is of a speaker's session, which the discussion's own card and board tell of.
    pub(super) fn is_from_participant(&mut self, event: &Event) -> bool {
        match event {
            Event::TaskStarted(order) if order.speaks.is_some() => {
                self.speakers.insert(order.session.clone());
                true
            }
            Event::TaskEnded(result) => self.speakers.contains(&result.task_id),
            _ => false,
        }
    }

    /// A card where a discussion begins; another one where it ends, once other things stand below the first.
    pub(super) fn on_discussion(&mut self, id: &DiscussionId, news: &DiscussionEvent) {
        let last = self.blocks.len().wrapping_sub(1);
        let is_it = |block: &TranscriptBlock| block.discussion().is_some_and(|talk| talk.id == *id);
        let at = self.blocks.iter().rposition(is_it);
        match (at, news) {
            (_, DiscussionEvent::Begun { .. }) => {
                let talk = DiscussionCard::from_event(id, news).map(BlockContent::Discussion);
                let block = talk.map(|talk| TranscriptBlock::new(BlockAuthor::System, talk));
                self.push_blocks(block.into_iter().collect());
            }
            (Some(at), _) => {
                let Some(block) = self.blocks.get_mut(at) else {
                    return;
                };
                block.on_discussion(news);
                let is_over = matches!(news, DiscussionEvent::Ended { .. });
                let ended = block.discussion().filter(|_| is_over && at != last);
                if let Some(talk) = ended.cloned() {
                    block.mark_ends_below();
                    self.push_blocks(vec![TranscriptBlock::new(
                        BlockAuthor::System,
                        BlockContent::Discussion(talk),
                    )]);
                }
                self.recount_bytes();
            }
            // Its beginning is not kept.
            (None, _) => {
                let told = describe_discussion_event(news).into_iter();
                let told = told.map(|text| {
                    TranscriptBlock::new(BlockAuthor::System, BlockContent::notice(&text))
                });
                self.push_blocks(told.collect());
            }
        }
    }
}

/// What there is to say of an outcome beside what was decided.
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
            "{} not settled",
            pluralize(outcome.unresolved.len(), "point")
        ));
    }
    parts.push(describe_stop(outcome));
    parts.join(" · ")
}

/// What happens in a discussion in one line, for the log; `None` for what says nothing there.
pub fn describe_discussion_event(news: &DiscussionEvent) -> Option<String> {
    Some(match news {
        DiscussionEvent::Begun { order } => format!(
            "a discussion begins ({}): {}",
            order.terms.mode.as_str(),
            to_one_line(&order.topic)
        ),
        DiscussionEvent::SpeechBegan { .. } | DiscussionEvent::CheckBegan { .. } => return None,
        DiscussionEvent::Spoke { speech } => {
            let name = to_one_line(&speech.participant);
            let what = match (&speech.error, &speech.stance) {
                (Some(error), _) => error.describe(),
                (None, Some(stance)) => attitude_label(stance.stance).1.to_owned(),
                (None, None) => "no stance, no vote".to_owned(),
            };
            match speech.part {
                SpeechPart::Round => format!("{name} in round {}: {what}", speech.round),
                SpeechPart::Closing => format!("{name}, the last word: {what}"),
            }
        }
        DiscussionEvent::Checked { run } => {
            format!("check {}: {}", run.n, to_one_line(&run.order.command))
        }
        DiscussionEvent::StopAsked { reason } => {
            format!("the discussion is to stop: {}", reason.describe())
        }
        DiscussionEvent::Ended { outcome } => {
            format!(
                "the discussion is over: {} · {}",
                describe_decision(outcome).0,
                describe_outcome_details(outcome)
            )
        }
        DiscussionEvent::Continued => "the discussion goes on".to_owned(),
        DiscussionEvent::CutOff => "the program ended while it was discussed".to_owned(),
    })
}
