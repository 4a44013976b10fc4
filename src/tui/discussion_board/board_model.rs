//! The data that the board shows: a discussion, the text that is being received, and who waits for a free
//! slot.

use std::collections::BTreeMap;

use super::BoardTarget;
use super::board_cell::BoardCellContent;
use crate::domain::discussion::{
    DebateSide, DiscussionMode, DiscussionParticipant, DiscussionSpeech, GroupDiscussion,
    ProposalAttitude, SpeechPart, StanceChange, VoteTally,
};
use crate::domain::ids::SessionId;
use crate::domain::task::ChildSession;

/// A discussion as the board shows it.
#[derive(Debug, Clone, Copy)]
pub struct BoardModel<'a> {
    pub discussion: &'a GroupDiscussion,
    /// Text that is being received, by the speaker's session; cleaned for display.
    pub live_texts: &'a BTreeMap<SessionId, String>,
    pub children: &'a [ChildSession],
    /// The number of this discussion within the run, from 1, and the count of discussions.
    pub position: (usize, usize),
    pub counts: &'a DiscussionCounts,
}

/// Counts of a discussion. They change only when a message is complete, so they are cached between
/// messages.
#[derive(Debug, Clone, Default)]
pub struct DiscussionCounts {
    /// Who changed stance, and which changes do not count.
    pub stance_changes: Vec<StanceChange>,
    /// Votes per proposal by the latest messages, the leading proposal first.
    pub tallies: Vec<VoteTally>,
}

impl DiscussionCounts {
    /// The counts of a discussion without messages.
    pub const EMPTY: Self = Self {
        stance_changes: Vec::new(),
        tallies: Vec::new(),
    };

    /// Counts the messages so far.
    pub fn count(discussion: &GroupDiscussion) -> Self {
        match (&discussion.outcome, discussion.round()) {
            (Some(outcome), _) => Self {
                stance_changes: outcome.shifts.clone(),
                tallies: outcome.votes.clone(),
            },
            (None, Some(round)) => {
                let standings = discussion.stance_table(round.n);
                Self {
                    tallies: standings.tallies(),
                    stance_changes: standings.changes,
                }
            }
            (None, None) => Self::EMPTY,
        }
    }
}

impl<'a> BoardModel<'a> {
    /// Returns the participants with a column: all who speak in rounds. A debate's moderator speaks after
    /// the rounds and has none.
    pub fn column_participants(&self) -> Vec<&'a DiscussionParticipant> {
        let all = self.discussion.order.participants.iter();
        all.filter(|participant| !self.is_closing_moderator(participant))
            .collect()
    }

    /// Returns the participant who speaks only after the rounds.
    pub fn closing_moderator(&self) -> Option<&'a DiscussionParticipant> {
        let mut all = self.discussion.order.participants.iter();
        all.find(|participant| self.is_closing_moderator(participant))
    }

    fn is_closing_moderator(&self, participant: &DiscussionParticipant) -> bool {
        self.discussion.order.terms.mode == DiscussionMode::Debate
            && participant.side == DebateSide::Moderator
    }

    /// Returns everything that can be selected, from top to bottom.
    pub fn spots(&self) -> Vec<BoardTarget> {
        let mut rows = vec![BoardTarget::Outcome];
        for (at, round) in self.discussion.rounds.iter().enumerate() {
            rows.push(BoardTarget::Round(at));
            let checks = self.discussion.checks.iter().enumerate();
            let of_round = checks.filter(|(_, check)| check.round == round.n);
            rows.extend(of_round.map(|(n, _)| BoardTarget::Check(n)));
        }
        rows.extend(self.closing_moderator().map(|_| BoardTarget::Closing));
        rows
    }

    /// Returns whether a target exists.
    pub fn has_spot(&self, spot: BoardTarget) -> bool {
        self.spots().contains(&spot)
    }

    /// Returns the target to show without a selection: the outcome, else what is being said.
    pub fn latest_spot(&self) -> BoardTarget {
        let closes = self
            .discussion
            .speaking
            .iter()
            .any(|each| each.part == SpeechPart::Closing);
        match self.last_round() {
            _ if self.discussion.outcome.is_some() => BoardTarget::Outcome,
            _ if closes => BoardTarget::Closing,
            Some(last) => last,
            None => BoardTarget::Outcome,
        }
    }

    /// Returns the round that started last.
    pub fn last_round(&self) -> Option<BoardTarget> {
        self.discussion
            .rounds
            .len()
            .checked_sub(1)
            .map(BoardTarget::Round)
    }

    /// Returns the column of the first participant who speaks now.
    pub fn speaking_column(&self) -> Option<usize> {
        let seats = self.column_participants();
        let speaks = |seat: &&DiscussionParticipant| {
            let mut speaking = self.discussion.speaking.iter();
            speaking.any(|each| each.participant == seat.name)
        };
        seats.iter().position(speaks)
    }

    /// Returns what a participant does in a round, given by its index.
    pub fn cell_content(&self, round: usize, name: &str) -> BoardCellContent<'_> {
        let Some(of) = self.discussion.rounds.get(round) else {
            return BoardCellContent::Pending;
        };
        if let Some(speech) = of.speech(name) {
            return self.finished_content(speech, of.n.saturating_sub(1));
        }
        match self.current_content_in(name, SpeechPart::Round) {
            Some(entry) if round + 1 == self.discussion.rounds.len() => entry,
            _ if round + 1 == self.discussion.rounds.len() && self.discussion.is_running() => {
                BoardCellContent::Pending
            }
            _ => BoardCellContent::Silent,
        }
    }

    /// Returns the final message of a debate's moderator.
    pub fn closing_content(&self) -> BoardCellContent<'_> {
        match (&self.discussion.closing, self.closing_moderator()) {
            (Some(speech), _) => self.finished_content(speech, 0),
            (None, Some(closer)) => {
                match self.current_content_in(&closer.name, SpeechPart::Closing) {
                    Some(entry) => entry,
                    None if self.discussion.outcome.is_some() => BoardCellContent::Silent,
                    None => BoardCellContent::Pending,
                }
            }
            (None, None) => BoardCellContent::Silent,
        }
    }

    fn finished_content<'m>(
        &'m self,
        speech: &'m DiscussionSpeech,
        before: u32,
    ) -> BoardCellContent<'m> {
        let mut shifts = self.counts.stance_changes.iter();
        let shift = shifts
            .find(|shift| shift.round == speech.round && shift.participant == speech.participant);
        let earlier = self.discussion.speech(before, &speech.participant);
        BoardCellContent::Finished {
            speech,
            before: earlier.and_then(|speech| speech.stance.as_ref()),
            refused: shift.and_then(|shift| shift.refused.as_deref()),
        }
    }

    /// Returns what a participant does now; `None` if it neither speaks nor waits for a free slot.
    pub fn current_content(&self, name: &str) -> Option<BoardCellContent<'_>> {
        let each = self
            .discussion
            .speaking
            .iter()
            .find(|each| each.participant == name)?;
        let child = self
            .children
            .iter()
            .find(|child| *child.session_id() == each.session);
        Some(match child {
            Some(child) if child.is_running() && child.began_at.is_none() => {
                BoardCellContent::Waiting {
                    since: child.given_at,
                }
            }
            _ => BoardCellContent::Speaking {
                since: each.since,
                text: self
                    .live_texts
                    .get(&each.session)
                    .map_or("", |text| text_before_stance(text)),
            },
        })
    }

    fn current_content_in(&self, name: &str, part: SpeechPart) -> Option<BoardCellContent<'_>> {
        let mut speaking = self.discussion.speaking.iter();
        let is_here = speaking.any(|each| each.participant == name && each.part == part);
        self.current_content(name).filter(|_| is_here)
    }

    /// Returns the participant's stance in the current round as a sign to put behind a name; empty before
    /// it speaks.
    pub fn stance_sign(&self, name: &str) -> &'static str {
        let last = self.discussion.rounds.len().saturating_sub(1);
        match self.cell_content(last, name) {
            BoardCellContent::Speaking { .. } => " ◐",
            BoardCellContent::Silent
            | BoardCellContent::Pending
            | BoardCellContent::Waiting { .. } => "",
            BoardCellContent::Finished { speech, .. } => match (&speech.error, &speech.stance) {
                (Some(_), _) => " !",
                (None, None) => " ?",
                (None, Some(stance)) => match stance.stance {
                    ProposalAttitude::Agree => " ✓",
                    ProposalAttitude::AgreeWithChanges => " ±",
                    ProposalAttitude::Disagree => " ✗",
                    ProposalAttitude::Abstain => " –",
                },
            },
        }
    }
}

/// Removes the block that only states the stance.
fn text_before_stance(text: &str) -> &str {
    let said = text.split("```stance").next().unwrap_or(text);
    said.trim_end()
}
