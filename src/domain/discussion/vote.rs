//! Computes each participant's position and the result: consensus, a vote or a tie.
//!
//! A participant that changes its position must say why. One that moves towards what most of the others support must
//! also name something new: words that another participant said, or a check that ran; both are verified here. Another
//! name for the same proposal, where one name contains all words of the other, needs only the reason. A change without
//! these does not count and the earlier stance stays, so agreeing with the majority is never enough. The order in which
//! participants speak or are listed changes nothing.
//!
//! Only stances are read. Speeches are searched for quotations and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::mode_rules::{PeerVisibility, rules_for};
use super::{
    CheckOutcome, CheckRun, DiscussionSpeech, GroupDiscussion, ParticipantStance, ParticipantVote,
    ProposalAttitude, ProposalName, Round, StanceChange, VoteTally, VoteTieBreak,
};

/// The shortest reason and the shortest quotation, in characters.
const MIN_QUOTE_CHARS: usize = 12;

/// The position of a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedStance<'a> {
    pub participant: &'a str,
    /// The speech with the stance that counts.
    pub speech: &'a DiscussionSpeech,
    /// The stance that counts.
    pub stance: &'a ParticipantStance,
    /// Whether this round introduced or confirmed it.
    pub is_fresh: bool,
}

/// All positions after a round, and the changes that led to them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StanceTable<'a> {
    /// The positions by name, without participants that never had a stance.
    pub by_participant: BTreeMap<&'a str, CountedStance<'a>>,
    /// All changes of position, counted and refused.
    pub changes: Vec<StanceChange>,
}

/// The result of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteResult {
    /// The proposal that won.
    pub decision: Option<ProposalName>,
    /// The proposals that the vote could not decide between.
    pub tie: Vec<ProposalName>,
    /// What decided between proposals with equal votes.
    pub tie_break: VoteTieBreak,
}

impl GroupDiscussion {
    /// Returns all positions after this round, counted from 1, and the changes until then. Only participants that speak
    /// in rounds have a position.
    pub fn stance_table(&self, round: u32) -> StanceTable<'_> {
        let mut standings = StanceTable::default();
        for each in self.rounds.iter().filter(|each| each.n <= round) {
            self.record_round(&mut standings, each);
        }
        standings
    }

    fn record_round<'a>(&'a self, standings: &mut StanceTable<'a>, round: &'a Round) {
        let before = standings.by_participant.clone();
        for standing in standings.by_participant.values_mut() {
            standing.is_fresh = false;
        }
        let mut speeches: Vec<&DiscussionSpeech> = round.heard_speeches().collect();
        speeches.sort_by(|a, b| a.participant.cmp(&b.participant));
        for speech in speeches {
            let Some(stance) = &speech.stance else {
                continue;
            };
            let name = speech.participant.as_str();
            let held = before.get(name);
            let moved = held.filter(|held| has_moved(held.stance, stance));
            let refused = moved.and_then(|held| {
                let leading = leading_among_others(&before, name);
                self.refusal_reason(held.stance, stance, speech, leading.as_ref())
            });
            if let Some(held) = moved {
                standings.record_change(stance_change(
                    held.stance,
                    speech,
                    stance,
                    refused.clone(),
                ));
            }
            if refused.is_none() {
                let standing = CountedStance {
                    participant: name,
                    speech,
                    stance,
                    is_fresh: true,
                };
                standings.by_participant.insert(name, standing);
            }
        }
    }

    /// Returns why a change of position does not count; `None` when it counts.
    fn refusal_reason(
        &self,
        from: &ParticipantStance,
        to: &ParticipantStance,
        speech: &DiscussionSpeech,
        leading: Option<&ProposalName>,
    ) -> Option<String> {
        let reason = to.why_changed.as_deref().unwrap_or_default();
        if reason.chars().count() < MIN_QUOTE_CHARS {
            return Some("it gave no reason for the change".to_owned());
        }
        // Jurors do not know what the others support, so they cannot be following the majority.
        let hears = rules_for(self.order.terms.mode).peer_visibility() == PeerVisibility::Speeches;
        let joins = leading.is_some_and(|leading| moves_towards(from, to, leading));
        let joins = joins && !is_renamed(from, to);
        let has_news = to
            .evidence
            .iter()
            .any(|each| self.is_new_evidence(each, speech));
        (hears && joins && !has_news).then(|| {
            "it joined the majority and named nothing new: no words that another said, no check that ran"
                .to_owned()
        })
    }

    /// Accepts words that another participant said up to this round, words that a check of an earlier round printed, or
    /// such a check by its number.
    fn is_new_evidence(&self, evidence: &str, speech: &DiscussionSpeech) -> bool {
        let words = normalize_text(evidence);
        let names = |run: &CheckRun| {
            let name = format!("check {}", run.n);
            words == name || words.starts_with(&format!("{name} "))
        };
        let quotes = |text: &str| {
            words.chars().count() >= MIN_QUOTE_CHARS && normalize_text(text).contains(&words)
        };
        let ran = self.checks.iter().filter(|run| run.round < speech.round);
        let mut printed = ran.filter_map(|run| match &run.end {
            CheckOutcome::Ran { output, .. } => Some((run, output)),
            CheckOutcome::Refused { .. } | CheckOutcome::Failed { .. } => None,
        });
        let rounds = self.rounds.iter().filter(|round| round.n <= speech.round);
        let mut others = rounds
            .flat_map(Round::heard_speeches)
            .filter(|other| other.participant != speech.participant);
        printed.any(|(run, output)| names(run) || quotes(output))
            || others.any(|other| other.reasons().any(quotes))
    }

    /// Returns the proposal on which all stances of the last round agree; `None` without consensus.
    ///
    /// It needs at least two stances, and stances from at least half of all participants that speak in rounds. None may
    /// have a blocking point, and no participant that was silent in the round may have had another position before.
    pub fn consensus(&self) -> Option<ProposalName> {
        let round = self.round()?;
        let standings = self.stance_table(round.n);
        let given: BTreeSet<&str> = round
            .heard_speeches()
            .filter(|speech| speech.stance.is_some())
            .map(|speech| speech.participant.as_str())
            .collect();
        if !self.is_quorum(given.len()) {
            return None;
        }
        let decision = standings
            .by_participant
            .values()
            .find_map(|each| each.stance.votes_for())?;
        let agrees = |each: &CountedStance<'_>| {
            let is_missing = given.contains(each.participant) && !each.is_fresh;
            !is_missing
                && each.stance.is_for()
                && each.stance.blocking.is_empty()
                && each.stance.votes_for().as_ref() == Some(&decision)
        };
        standings
            .by_participant
            .values()
            .all(agrees)
            .then_some(decision)
    }

    /// Returns whether this number of stances can decide: at least two, and at least half of all participants that
    /// speak in rounds.
    pub(super) fn is_quorum(&self, n_stances: usize) -> bool {
        let mode = rules_for(self.order.terms.mode);
        let speak = self.order.participants.iter();
        let n_speakers = speak.filter(|each| mode.speaks_in_rounds(each)).count();
        n_stances >= 2 && n_stances * 2 >= n_speakers
    }

    /// Returns whether no participant has changed position for as many rounds as the settings say, while they still
    /// disagree. A check that ran in between may still change a position.
    pub fn is_stalemate(&self) -> bool {
        // Jurors vote only once, so an unchanged position is not a stalemate.
        if rules_for(self.order.terms.mode).peer_visibility() == PeerVisibility::Proposals {
            return false;
        }
        let n = usize::try_from(self.order.terms.stalemate_rounds.max(2)).unwrap_or(usize::MAX);
        let Some(first) = self.rounds.len().checked_sub(n) else {
            return false;
        };
        let lasts = self.rounds.get(first..).unwrap_or_default();
        let (Some(begin), Some(end)) = (lasts.first(), lasts.last()) else {
            return false;
        };
        // A participant that could not speak may have changed its position.
        if lasts
            .iter()
            .any(|round| round.heard_speeches().count() < round.speeches.len())
        {
            return false;
        }
        let mut checks = self.checks.iter();
        if checks.any(|check| check.round >= begin.n && check.round < end.n) {
            return false;
        }
        let positions = self.stated_positions(begin.n);
        let stays = lasts
            .iter()
            .all(|round| self.stated_positions(round.n) == positions);
        let is_contested = {
            let mut all = positions.values();
            let blocks = positions
                .values()
                .any(|(_, against, n)| *n > 0 || against.is_some());
            let first = all.next().map(|(votes_for, ..)| votes_for);
            blocks || all.any(|(votes_for, ..)| Some(votes_for) != first)
        };
        stays && is_contested
    }

    /// Returns what each participant stated last up to a round, whether it counts or not: for, against, and the number
    /// of blocking points.
    fn stated_positions(&self, round: u32) -> BTreeMap<&str, StanceSummary> {
        let rounds = self.rounds.iter().filter(|each| each.n <= round);
        let speeches = rounds.flat_map(|each| each.heard_speeches());
        speeches
            .filter_map(|speech| Some((speech.participant.as_str(), speech.stance.as_ref()?)))
            .map(|(name, stance)| (name, summarize_stance(stance)))
            .collect()
    }
}

/// The proposal it is for, the proposal it is against, and the number of blocking points.
type StanceSummary = (Option<ProposalName>, Option<ProposalName>, usize);

fn summarize_stance(stance: &ParticipantStance) -> StanceSummary {
    (
        stance.votes_for(),
        stance.votes_against(),
        stance.blocking.len(),
    )
}

impl ParticipantStance {
    /// Returns whether it is for the proposal that it names.
    pub fn is_for(&self) -> bool {
        matches!(
            self.stance,
            ProposalAttitude::Agree | ProposalAttitude::AgreeWithChanges
        )
    }

    /// Describes the position: `for sqlite, 2 blocking`.
    pub fn describe(&self) -> String {
        let stands = match (self.votes_for(), self.votes_against()) {
            (Some(instead), Some(against)) => format!("against {against}, for {instead}"),
            (Some(proposal), None) => format!("for {proposal}"),
            (None, Some(against)) => format!("against {against}"),
            (None, None) => "abstains".to_owned(),
        };
        match self.blocking.len() {
            0 => stands,
            n => format!("{stands}, {n} blocking"),
        }
    }
}

impl DiscussionSpeech {
    /// Returns the participant's own reasons: its words, its blocking points, why it changed. Not the proposal it
    /// supports.
    fn reasons(&self) -> impl Iterator<Item = &str> {
        let stance = self.stance.iter();
        let stated = stance.flat_map(|stance| stance.blocking.iter().chain(&stance.why_changed));
        std::iter::once(self.text.as_str()).chain(stated.map(String::as_str))
    }
}

impl StanceTable<'_> {
    /// Records a change; a repeated refused change is recorded only once.
    fn record_change(&mut self, shift: StanceChange) {
        let mut of_it = self.changes.iter().rev();
        let last = of_it.find(|each| each.participant == shift.participant);
        let is_known = last.is_some_and(|last| {
            last.refused.is_some() && shift.refused.is_some() && last.to == shift.to
        });
        if !is_known {
            self.changes.push(shift);
        }
    }

    /// Returns who is for and against each proposal: the most votes first, then the highest confidence, then by name.
    pub fn tallies(&self) -> Vec<VoteTally> {
        let mut tallies: BTreeMap<ProposalName, VoteTally> = BTreeMap::new();
        for standing in self.by_participant.values() {
            let stance = standing.stance;
            let sides = [
                (
                    stance.votes_for(),
                    stance.instead.as_ref().filter(|_| !stance.is_for()),
                    true,
                ),
                (stance.votes_against(), None, false),
            ];
            for (proposal, instead, is_for) in sides {
                let Some(proposal) = proposal else { continue };
                let tally = tallies
                    .entry(proposal.clone())
                    .or_insert_with(|| VoteTally {
                        proposal,
                        wording: String::new(),
                        votes_for: Vec::new(),
                        against: Vec::new(),
                    });
                let wording = instead.unwrap_or(&stance.proposal);
                // The shortest wording, then the first in alphabetical order, so that it does not matter who spoke
                // first.
                let key = |text: &str| (text.chars().count(), text.to_owned());
                if tally.wording.is_empty() || key(wording) < key(&tally.wording) {
                    tally.wording.clone_from(wording);
                }
                let side = if is_for {
                    &mut tally.votes_for
                } else {
                    &mut tally.against
                };
                side.push(participant_vote(standing, is_for));
            }
        }
        let mut tallies: Vec<VoteTally> = tallies.into_values().collect();
        tallies.sort_by_key(|tally| {
            let weight = (tally.votes_for.len(), tally.total_confidence());
            (std::cmp::Reverse(weight), tally.proposal.clone())
        });
        tallies
    }
}

impl VoteTally {
    /// Sums the confidence of all supporters, in thousandths; a missing value counts as 0.
    pub fn total_confidence(&self) -> u32 {
        let votes = self.votes_for.iter();
        votes
            .map(|vote| {
                vote.confidence
                    .map_or(0, |of| u32::from(of.in_thousandths()))
            })
            .sum()
    }
}

/// Counts the votes. The most votes win, and confidence decides between equal numbers. A proposal with at least as many
/// participants against it as for it cannot win.
pub fn count_votes(tallies: &[VoteTally]) -> VoteResult {
    let carried: Vec<&VoteTally> = tallies
        .iter()
        .filter(|tally| tally.votes_for.len() > tally.against.len())
        .collect();
    let n_most = carried.iter().map(|tally| tally.votes_for.len()).max();
    let most: Vec<&VoteTally> = carried
        .into_iter()
        .filter(|tally| Some(tally.votes_for.len()) == n_most)
        .collect();
    let surest = most.iter().map(|tally| tally.total_confidence()).max();
    let first: Vec<&VoteTally> = most
        .iter()
        .copied()
        .filter(|tally| Some(tally.total_confidence()) == surest)
        .collect();
    match first.as_slice() {
        [] => VoteResult {
            decision: None,
            tie: Vec::new(),
            tie_break: VoteTieBreak::None,
        },
        [one] => VoteResult {
            decision: Some(one.proposal.clone()),
            tie: Vec::new(),
            tie_break: match most.len() {
                1 => VoteTieBreak::None,
                _ => VoteTieBreak::Confidence,
            },
        },
        several => VoteResult {
            decision: None,
            tie: several.iter().map(|tally| tally.proposal.clone()).collect(),
            tie_break: VoteTieBreak::None,
        },
    }
}

/// Builds one vote, with the attitude towards the proposal for which it is counted.
fn participant_vote(standing: &CountedStance<'_>, is_for: bool) -> ParticipantVote {
    ParticipantVote {
        participant: standing.participant.to_owned(),
        attitude: match (is_for, standing.stance.stance) {
            (true, ProposalAttitude::Disagree) => ProposalAttitude::Agree,
            (_, attitude) => attitude,
        },
        confidence: standing.stance.confidence,
        round: standing.speech.round,
    }
}

/// A new confidence, new words and another blocking point are not a change of position; fewer blocking points are.
fn has_moved(from: &ParticipantStance, to: &ParticipantStance) -> bool {
    from.votes_for() != to.votes_for()
        || from.votes_against() != to.votes_against()
        || to.blocking.len() < from.blocking.len()
}

/// Returns whether a change moves towards a proposal: the participant is now for it, or no longer against it.
fn moves_towards(
    from: &ParticipantStance,
    to: &ParticipantStance,
    proposal: &ProposalName,
) -> bool {
    let is_for = to.votes_for().as_ref() == Some(proposal);
    let was_against = from.votes_against().as_ref() == Some(proposal);
    let is_against = to.votes_against().as_ref() == Some(proposal);
    is_for || (was_against && !is_against)
}

/// Returns whether a change only renames a proposal: one name contains all words of the other, like `use-sqlite` and
/// `sqlite`. Before participants read each other's speeches, they could not know how the others would call it.
fn is_renamed(from: &ParticipantStance, to: &ParticipantStance) -> bool {
    let (Some(from_name), Some(to_name)) = (from.votes_for(), to.votes_for()) else {
        return false;
    };
    let words = |name: &ProposalName| {
        name.as_str()
            .split('-')
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    };
    let (before, after) = (words(&from_name), words(&to_name));
    let keeps_points = to.blocking.len() >= from.blocking.len();
    keeps_points && (before.is_subset(&after) || after.is_subset(&before))
}

/// Returns the proposal with the most supporters among the others; `None` where that is not one proposal.
fn leading_among_others(
    of: &BTreeMap<&str, CountedStance<'_>>,
    name: &str,
) -> Option<ProposalName> {
    let mut n_for: BTreeMap<ProposalName, usize> = BTreeMap::new();
    let others = of.values().filter(|each| each.participant != name);
    for proposal in others.filter_map(|each| each.stance.votes_for()) {
        *n_for.entry(proposal).or_default() += 1;
    }
    let most = n_for.values().copied().max()?;
    let mut first = n_for.into_iter().filter(|(_, n)| *n == most);
    let (proposal, _) = first.next()?;
    first.next().is_none().then_some(proposal)
}

fn stance_change(
    from: &ParticipantStance,
    speech: &DiscussionSpeech,
    to: &ParticipantStance,
    refused: Option<String>,
) -> StanceChange {
    StanceChange {
        participant: speech.participant.clone(),
        round: speech.round,
        from: from.describe(),
        to: to.describe(),
        why: to.why_changed.clone(),
        refused,
    }
}

/// Normalizes a text for comparison: letters and digits in lower case, separated by single blanks.
fn normalize_text(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
