//! What the screen knows about discussions beyond the run's state: text that is being received, the
//! presets, cached counts.

use std::collections::BTreeMap;

use crate::domain::discussion::{DiscussionEvent, GroupDiscussion};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::text_delta::DeltaChange;
use crate::text::TextCleaner;
use crate::tui::action::DiscussionTopic;
use crate::tui::command_table::edit_distance;
use crate::tui::discussion_board::DiscussionCounts;
use crate::tui::text_wrap::{clean_for_display, to_drawable};

/// How many bytes of a message are kept while it is being received; the finished message is complete.
const MAX_LIVE_BYTES: usize = 256 << 10;
static EMPTY_COUNTS: DiscussionCounts = DiscussionCounts::EMPTY;

/// What the screen knows about discussions beyond the run's state.
#[derive(Debug, Default)]
pub struct DiscussionViewState {
    /// Text that participants are sending.
    pub live: LiveSpeeches,
    /// The available presets, each with its description.
    pub presets: Vec<(String, String)>,
    /// Cached counts of the discussion on the board, with the number of messages they include.
    counts: Option<(DiscussionId, usize, DiscussionCounts)>,
    /// The topic of the discussion that was planned last.
    pub planned_topic: String,
    /// Whether the user has started a discussion that has no board yet.
    pub is_starting: bool,
}

impl DiscussionViewState {
    /// Updates the counts of the discussion on the board if messages were added.
    pub fn update_counts(&mut self, discussion: &GroupDiscussion) {
        let speeches = discussion.rounds.iter().map(|round| round.speeches.len());
        let n = speeches.sum::<usize>() + usize::from(discussion.outcome.is_some());
        let is_known = |(id, known, _): &(DiscussionId, usize, DiscussionCounts)| {
            id == discussion.id() && *known == n
        };
        if !self.counts.as_ref().is_some_and(is_known) {
            let counted = DiscussionCounts::count(discussion);
            self.counts = Some((discussion.id().clone(), n, counted));
        }
    }

    /// Returns the counts of a discussion.
    pub fn counts_of(&self, id: &DiscussionId) -> &DiscussionCounts {
        let of_it = self.counts.as_ref().filter(|(of, ..)| of == id);
        of_it.map_or(&EMPTY_COUNTS, |(_, _, counted)| counted)
    }

    /// Returns a hint if the first word after `/discuss` is a typo of one preset's name and of no other's.
    pub fn preset_typo_hint(&self, text: &str) -> Option<String> {
        let (first, topic) = text.split_once(char::is_whitespace)?;
        let names = || self.presets.iter().map(|(name, _)| name.as_str());
        let near = names().find(|name| is_typo(first, name))?;
        let is_meant = !topic.trim().is_empty() && names().all(|name| name != first);
        is_meant.then(|| {
            format!("There is no preset {first}. Did you mean {near}? Put a topic that starts with this word \
            in quotation marks.")
        })
    }

    /// Parses the text after `/discuss`: a preset if the first word names one, and the topic.
    pub fn parse_topic(&self, text: &str) -> DiscussionTopic {
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_preset = self.presets.iter().any(|(name, _)| name == first);
        if is_preset && !rest.trim().is_empty() {
            DiscussionTopic {
                text: rest.trim().to_owned(),
                preset: Some(first.to_owned()),
                finding: None,
            }
        } else {
            DiscussionTopic {
                text: text.to_owned(),
                ..DiscussionTopic::default()
            }
        }
    }
}

/// Returns whether a typed word may be a typo of another: two letters are swapped, or one is wrong, missing
/// or too many.
fn is_typo(typed: &str, meant: &str) -> bool {
    let exchanged = || {
        let (mut typed, mut meant): (Vec<char>, Vec<char>) =
            (typed.chars().collect(), meant.chars().collect());
        let differ = typed.iter().zip(&meant).filter(|(a, b)| a != b).count();
        typed.sort_unstable();
        meant.sort_unstable();
        differ == 2 && typed == meant
    };
    meant.chars().count() > 3 && (edit_distance(typed, meant) == 1 || exchanged())
}

/// Text that participants are sending, by session; other sessions are ignored.
#[derive(Debug, Default)]
pub struct LiveSpeeches {
    /// Cleaned for display.
    pub texts: BTreeMap<SessionId, String>,
    open_blocks: BTreeMap<SessionId, LiveSpeechBlock>,
}

/// The block that a participant is sending.
#[derive(Debug, Default)]
struct LiveSpeechBlock {
    /// Its id; empty until its first piece.
    item: String,
    cleaner: TextCleaner,
    /// Byte offset of the block in the text.
    start: usize,
}

impl LiveSpeechBlock {
    fn starting_at(start: usize) -> Self {
        Self {
            start,
            ..Self::default()
        }
    }
}

impl LiveSpeeches {
    /// Applies a change of the text of a block.
    pub fn change_text(&mut self, session: &SessionId, item: &str, change: &DeltaChange) {
        let known = (
            self.texts.get_mut(session),
            self.open_blocks.get_mut(session),
        );
        let (Some(text), Some(open)) = known else {
            return;
        };
        match change {
            DeltaChange::Append(piece) if text.len() < MAX_LIVE_BYTES => {
                if open.item.is_empty() {
                    item.clone_into(&mut open.item);
                }
                text.push_str(&to_drawable(open.cleaner.push(piece)));
            }
            DeltaChange::Withdraw if open.item == item => {
                text.truncate(open.start);
                *open = LiveSpeechBlock::starting_at(open.start);
            }
            DeltaChange::Append(_) | DeltaChange::Withdraw => {}
        }
    }

    /// Replaces the pieces of a block by the finished block.
    fn finish_block(&mut self, session: &SessionId, block: &str) {
        let known = (
            self.texts.get_mut(session),
            self.open_blocks.get_mut(session),
        );
        if let (Some(text), Some(at)) = known
            && text.len() < MAX_LIVE_BYTES
        {
            text.truncate(at.start);
            text.push_str(clean_for_display(block).trim_end());
            text.push_str("\n\n");
            *at = LiveSpeechBlock::starting_at(text.len());
        }
    }

    fn remove_session(&mut self, session: &SessionId) {
        self.texts.remove(session);
        self.open_blocks.remove(session);
    }

    /// Applies an event: a new speaker starts with an empty text, and a finished message removes the text.
    pub fn on_event(&mut self, event: &Event) {
        let news = match event {
            Event::Discussion { news, .. } => news,
            Event::TaskActivity {
                session,
                news: AgentActivity::Text { text },
            } => return self.finish_block(session, text),
            _ => return,
        };
        match news {
            DiscussionEvent::SpeechBegan { session, .. } => {
                self.texts.insert(session.clone(), String::new());
                self.open_blocks
                    .insert(session.clone(), LiveSpeechBlock::default());
            }
            DiscussionEvent::Spoke { speech } => {
                let sessions = speech.session.iter();
                sessions.for_each(|session| self.remove_session(session));
            }
            DiscussionEvent::Ended { .. } | DiscussionEvent::CutOff => *self = Self::default(),
            DiscussionEvent::Started { .. }
            | DiscussionEvent::CheckBegan { .. }
            | DiscussionEvent::Checked { .. }
            | DiscussionEvent::StopAsked { .. }
            | DiscussionEvent::Continued => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_that_is_spelled_wrong_is_no_topic() {
        let talks = DiscussionViewState {
            presets: [("tech", ""), ("naming", "")]
                .map(|(a, b)| (a.into(), b.into()))
                .into(),
            ..DiscussionViewState::default()
        };
        for (text, near) in [
            ("tehc SQLite or files?", Some("tech")),
            ("naminge what?", Some("naming")),
            ("tech SQLite?", None),
            ("tehc", None),
            ("\"tehc SQLite?\"", None),
            ("teach or learn?", Some("tech")),
            ("SQLite or files?", None),
        ] {
            let told = talks.preset_typo_hint(text);
            let is_told = |near: &str| {
                let wanted = format!("Did you mean {near}?");
                told.as_ref().is_some_and(|told| told.contains(&wanted))
            };
            assert!(near.map_or(told.is_none(), is_told), "{text}: {told:?}");
        }
    }

    #[test]
    fn a_block_of_a_speech_that_is_withdrawn_leaves_what_was_finished_before_it() {
        let session = SessionId::new("ses_1");
        let mut live = LiveSpeeches::default();
        live.texts.insert(session.clone(), String::new());
        live.open_blocks
            .insert(session.clone(), LiveSpeechBlock::default());
        let append = |text: &str| DeltaChange::Append(text.to_owned());
        live.change_text(&session, "a", &append("I agree.\n"));
        live.finish_block(&session, "I agree.");
        live.change_text(&session, "b", &append("But the time\n"));
        live.change_text(&session, "a", &DeltaChange::Withdraw);
        assert!(live.texts[&session].starts_with("I agree.\n\nBut"));
        live.change_text(&session, "b", &DeltaChange::Withdraw);
        live.change_text(&session, "c", &append("And the time\n"));
        assert_eq!(live.texts[&session], "I agree.\n\nAnd the time\n");
    }
}
