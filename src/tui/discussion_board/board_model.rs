//! A discussion with all that is shown of it beside its state: what is being said, and who waits for a place.

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
    /// The discussion.
    pub discussion: &'a GroupDiscussion,
    /// What is being said, by the speaker's session; drawable.
    pub live_texts: &'a BTreeMap<SessionId, String>,
    /// The run's child sessions.
    pub children: &'a [ChildSession],
    /// Which of how many discussions of the run it is, from 1.
    pub position: (usize, usize),
    /// What was counted of it.
    pub counts: &'a DiscussionCounts,
}

/// What is counted of a discussion: nothing of it changes between two speeches.
#[derive(Debug, Clone, Default)]
pub struct DiscussionCounts {
    /// Who moved, and which moves do not count.
    pub stance_changes: Vec<StanceChange>,
    /// Where the proposals stand by what was said last, the leading one first.
    pub tallies: Vec<VoteTally>,
}

impl DiscussionCounts {
    /// Nothing.
    pub const EMPTY: Self = Self {
        stance_changes: Vec::new(),
        tallies: Vec::new(),
    };

    /// Counts what was said until now.
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
    /// Who has a column: everybody who speaks in rounds. A debate's moderator speaks after them.
    pub fn column_participants(&self) -> Vec<&'a DiscussionParticipant> {
        let all = self.discussion.order.participants.iter();
        all.filter(|participant| !self.is_closing_moderator(participant))
            .collect()
    }

    /// Who speaks after the rounds and in none of them.
    pub fn closing_moderator(&self) -> Option<&'a DiscussionParticipant> {
        let mut all = self.discussion.order.participants.iter();
        all.find(|participant| self.is_closing_moderator(participant))
    }

    fn is_closing_moderator(&self, participant: &DiscussionParticipant) -> bool {
        self.discussion.order.terms.mode == DiscussionMode::Debate
            && participant.side == DebateSide::Moderator
    }

    /// All that can be pointed at, from above.
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

    /// Tells whether there is such a thing.
    pub fn has_spot(&self, spot: BoardTarget) -> bool {
        self.spots().contains(&spot)
    }

    /// What one looks at who points at nothing: the outcome, else what is being said.
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

    /// The round that was begun last.
    pub fn last_round(&self) -> Option<BoardTarget> {
        self.discussion
            .rounds
            .len()
            .checked_sub(1)
            .map(BoardTarget::Round)
    }

    /// The column of who speaks first among those who speak now.
    pub fn speaking_column(&self) -> Option<usize> {
        let seats = self.column_participants();
        let speaks = |seat: &&DiscussionParticipant| {
            let mut speaking = self.discussion.speaking.iter();
            speaking.any(|each| each.participant == seat.name)
        };
        seats.iter().position(speaks)
    }

    /// What somebody does in a round, by its place.
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

    /// What the moderator of a debate says last.
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

    /// What somebody does now; `None` where it neither speaks nor waits for a place.
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

    /// How somebody stands in the round at hand, as a sign behind a name; empty before it speaks.
    pub fn stance_sign(&self, name: &str) -> &'static str {
        let last = self.discussion.rounds.len().saturating_sub(1);
        match self.cell_content(last, name) {
            BoardCellContent::Speaking { .. } => " ◌",
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

/// What is said, without the block that only states where the speaker stands.
fn text_before_stance(text: &str) -> &str {
    let said = text.split("```stance").next().unwrap_or(text);
    said.trim_end()
}
