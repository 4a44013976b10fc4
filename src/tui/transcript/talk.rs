//! A discussion in the stream, as a card of two or three lines: while it runs, which round it is in and who speaks;
//! once it is over, what it came to. The board shows the rest.

use ratatui::text::{Line, Span};

use super::Transcript;
use super::block::{Block, Content, Who};
use crate::domain::discussion::{DiscussionEvent, DiscussionOutcome, SpeechPart};
use crate::domain::event::Event;
use crate::domain::ids::DiscussionId;
use crate::text::pluralize;
use crate::tui::board::{attitude, decided, stopped};
use crate::tui::theme;
use crate::tui::wrap::{cut, one_line, width, wrap_to};

/// A discussion; all texts are drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    /// Which.
    pub id: DiscussionId,
    topic: String,
    /// How it is discussed, and by whom.
    how: String,
    most_rounds: u32,
    /// The round, from 1; 0 before the first.
    round: u32,
    /// Who speaks now.
    speaking: Vec<String>,
    /// How it stands.
    now: Now,
}

/// How a discussion stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    /// It goes on.
    Runs,
    /// It goes on with the moderator's last word.
    Closes,
    /// It was cut off.
    CutOff,
    /// It is over, and a card further down tells how.
    Below,
    /// It is over: what was decided, and what else there is to say in a line.
    Over(Box<(DiscussionOutcome, String)>),
}

impl Talk {
    /// A discussion that begins.
    pub fn new(id: &DiscussionId, news: &DiscussionEvent) -> Option<Self> {
        let DiscussionEvent::Begun { order } = news else {
            return None;
        };
        let names = order.participants.iter().map(|each| one_line(&each.name));
        let names: Vec<String> = names.collect();
        Some(Self {
            id: id.clone(),
            topic: one_line(&order.topic),
            how: format!("{} of {}", order.terms.mode.as_str(), names.join(", ")),
            most_rounds: order.terms.max_rounds(),
            round: 0,
            speaking: Vec::new(),
            now: Now::Runs,
        })
    }

    /// Takes in what happens in it.
    pub fn take(&mut self, news: &DiscussionEvent) {
        match news {
            DiscussionEvent::SpeechBegan {
                round,
                part,
                participant,
                ..
            } => {
                self.round = *round;
                self.speaking.push(one_line(participant));
                self.now = match part {
                    SpeechPart::Round => Now::Runs,
                    SpeechPart::Closing => Now::Closes,
                };
            }
            DiscussionEvent::Spoke { speech } => {
                let name = one_line(&speech.participant);
                self.speaking.retain(|each| *each != name);
            }
            DiscussionEvent::Ended { outcome } => {
                self.speaking.clear();
                let besides = besides(outcome);
                self.now = Now::Over(Box::new((outcome.as_ref().clone(), besides)));
            }
            DiscussionEvent::Continued => self.now = Now::Runs,
            DiscussionEvent::CutOff => self.cut_off(),
            DiscussionEvent::Begun { .. }
            | DiscussionEvent::CheckBegan { .. }
            | DiscussionEvent::Checked { .. }
            | DiscussionEvent::StopAsked { .. } => {}
        }
    }

    /// The program ended while it ran.
    pub fn cut_off(&mut self) {
        if matches!(self.now, Now::Runs | Now::Closes) {
            self.speaking.clear();
            self.now = Now::CutOff;
        }
    }

    /// Another card tells how it ended.
    pub fn ends_below(&mut self) {
        self.now = Now::Below;
    }

    /// How many bytes of text it holds.
    pub fn n_bytes(&self) -> usize {
        let besides = match &self.now {
            Now::Over(over) => over.1.len() + over.0.conclusion.len(),
            Now::Runs | Now::Closes | Now::CutOff | Now::Below => 0,
        };
        self.topic.len() + self.how.len() + besides
    }

    /// What it says.
    pub fn text(&self) -> String {
        let lines = self.lines(usize::MAX / 4).into_iter();
        let lines: Vec<String> = lines
            .map(|line| line.to_string().trim().to_owned())
            .collect();
        lines.join("\n").trim().to_owned()
    }

    /// Its lines.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let head = cut(&format!("◆ {}", self.topic), columns);
        let mut lines = vec![Line::default(), Line::styled(head, theme::STRONG)];
        let hint = " · Space opens the board";
        let below = |text: &str| {
            let room = columns.saturating_sub(2 + width(hint));
            let (text, hint) = match width(text) <= room {
                true => (text.to_owned(), hint),
                false => (cut(text, columns.saturating_sub(2)), ""),
            };
            Line::styled(format!("  {text}{hint}"), theme::QUIET)
        };
        match &self.now {
            Now::Over(over) => {
                let (text, style) = decided(&over.0);
                let spans = [
                    Span::raw("  "),
                    Span::styled(text, style.patch(theme::STRONG)),
                ];
                lines.extend(wrap_to(&spans, columns, 4, 2));
                lines.push(below(&over.1));
            }
            Now::Below => lines.push(below(&format!("{}; how it ended stands below", self.how))),
            Now::CutOff => lines.push(below("■ cut off: the finished rounds are kept")),
            Now::Runs | Now::Closes => {
                let text = cut(&format!("◌ {}", self.at_work()), columns.saturating_sub(2));
                lines.push(Line::styled(format!("  {text}"), theme::KEY));
                lines.push(below(&self.how));
            }
        }
        lines
    }

    /// Which round it is, and who speaks.
    fn at_work(&self) -> String {
        let round = match (&self.now, self.round) {
            (Now::Closes, _) => "the last word".to_owned(),
            (_, 0) => "it begins".to_owned(),
            (_, round) => format!("round {round} of {}", self.most_rounds),
        };
        match self.speaking.as_slice() {
            [] => round,
            [one] => format!("{round} · {one} speaks"),
            all => format!("{round} · {} speak", all.join(", ")),
        }
    }
}

impl Transcript {
    /// Tells whether an event is of a speaker's session, which the discussion's own card and board tell of.
    pub(super) fn is_of_speaker(&mut self, event: &Event) -> bool {
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
        let is_it = |block: &Block| block.talk().is_some_and(|talk| talk.id == *id);
        let at = self.blocks.iter().rposition(is_it);
        match (at, news) {
            (_, DiscussionEvent::Begun { .. }) => {
                let talk = Talk::new(id, news).map(Content::Talk);
                let block = talk.map(|talk| Block::new(Who::System, talk));
                self.push_all(block.into_iter().collect());
            }
            (Some(at), _) => {
                let Some(block) = self.blocks.get_mut(at) else {
                    return;
                };
                block.on_discussion(news);
                let is_over = matches!(news, DiscussionEvent::Ended { .. });
                let ended = block.talk().filter(|_| is_over && at != last);
                if let Some(talk) = ended.cloned() {
                    block.ends_below();
                    self.push_all(vec![Block::new(Who::System, Content::Talk(talk))]);
                }
                self.count();
            }
            // Its beginning is not kept.
            (None, _) => {
                let told = in_words(news).into_iter();
                let told = told.map(|text| Block::new(Who::System, Content::notice(&text)));
                self.push_all(told.collect());
            }
        }
    }
}

/// What there is to say of an outcome beside what was decided.
pub fn besides(outcome: &DiscussionOutcome) -> String {
    let mut parts = Vec::new();
    let minority = outcome
        .minority
        .iter()
        .map(|each| one_line(&each.participant));
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
    parts.push(stopped(outcome));
    parts.join(" · ")
}

/// What happens in a discussion in one line, for the log; `None` for what says nothing there.
pub fn in_words(news: &DiscussionEvent) -> Option<String> {
    Some(match news {
        DiscussionEvent::Begun { order } => format!(
            "a discussion begins ({}): {}",
            order.terms.mode.as_str(),
            one_line(&order.topic)
        ),
        DiscussionEvent::SpeechBegan { .. } | DiscussionEvent::CheckBegan { .. } => return None,
        DiscussionEvent::Spoke { speech } => {
            let name = one_line(&speech.participant);
            let what = match (&speech.error, &speech.stance) {
                (Some(error), _) => error.describe(),
                (None, Some(stance)) => attitude(stance.stance).1.to_owned(),
                (None, None) => "no stance, no vote".to_owned(),
            };
            match speech.part {
                SpeechPart::Round => format!("{name} in round {}: {what}", speech.round),
                SpeechPart::Closing => format!("{name}, the last word: {what}"),
            }
        }
        DiscussionEvent::Checked { run } => {
            format!("check {}: {}", run.n, one_line(&run.order.command))
        }
        DiscussionEvent::StopAsked { reason } => {
            format!("the discussion is to stop: {}", reason.describe())
        }
        DiscussionEvent::Ended { outcome } => {
            format!(
                "the discussion is over: {} · {}",
                decided(outcome).0,
                besides(outcome)
            )
        }
        DiscussionEvent::Continued => "the discussion goes on".to_owned(),
        DiscussionEvent::CutOff => "the program ended while it was discussed".to_owned(),
    })
}
