//! Where everybody stands, and what that makes: consensus, a vote, a tie.
//!
//! Whoever moves from where it stood must say why. Whoever moves towards what most of the others are for must name what
//! is new besides: words that another participant said, or a check that ran; both are looked up here. Another name for
//! the same proposal, whose words are in the first one or the other way round, needs the reason alone. A move without
//! that does not count, and the stance from before does, so that agreeing with the many is never enough. The order in
//! which participants speak or are named changes nothing.
//! Refuses to read anything but stances; speeches are looked at for what is quoted from them, nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::mode_rules::{PeerVisibility, rules_for};
use super::{
    CheckOutcome, CheckRun, DiscussionSpeech, GroupDiscussion, ParticipantStance, ParticipantVote,
    ProposalAttitude, ProposalName, Round, StanceChange, VoteTally, VoteTieBreak,
};

/// The shortest reason and the shortest quotation, in characters.
const MIN_QUOTE_CHARS: usize = 12;

/// Where a participant stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedStance<'a> {
    /// Who.
    pub participant: &'a str,
    /// The speech with the stance that counts.
    pub speech: &'a DiscussionSpeech,
    /// The stance that counts.
    pub stance: &'a ParticipantStance,
    /// Whether the round at hand brought it, or confirmed it.
    pub is_fresh: bool,
}

/// Where everybody stands after a round, and the moves that led there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StanceTable<'a> {
    /// By name; who never had a stance is left out.
    pub by_participant: BTreeMap<&'a str, CountedStance<'a>>,
    /// All moves, counted and refused.
    pub changes: Vec<StanceChange>,
}

/// What a vote makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteResult {
    /// The proposal that won.
    pub decision: Option<ProposalName>,
    /// Those between which nothing decided.
    pub tie: Vec<ProposalName>,
    /// What decided between as many votes.
    pub tie_break: VoteTieBreak,
}

impl GroupDiscussion {
    /// Where everybody stands after this round, from 1, and the moves until then. Only who speaks in rounds stands anywhere.
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

    /// Why a move does not count; `None` when it does.
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
        // Jurors do not know what the others are for: there is nobody to please.
        let hears = rules_for(self.order.terms.mode).peer_visibility() == PeerVisibility::Speeches;
        let joins = leading.is_some_and(|leading| moves_towards(from, to, leading));
        let joins = joins && !is_renamed(from, to);
        let has_news = to
            .evidence
            .iter()
            .any(|each| self.is_new_evidence(each, speech));
        (hears && joins && !has_news).then(|| {
            "it joined what most of the others are for and named nothing new: no words that another said, no check that ran"
                .to_owned()
        })
    }

    /// Words that another participant said, or that a check printed, or a check by its number; all from before.
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

    /// The proposal on which all who had a stance in the round that was spoken last agree; `None` without consensus.
    ///
    /// At least two stances, and those of half of the round's speakers; none with a blocking point; and nobody who said
    /// nothing in it stood elsewhere before.
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

    /// Tells whether so many stances decide anything: two at least, and those of half of all who speak in rounds.
    pub(super) fn is_quorum(&self, n_stances: usize) -> bool {
        let mode = rules_for(self.order.terms.mode);
        let speak = self.order.participants.iter();
        let n_speakers = speak.filter(|each| mode.speaks_in_rounds(each)).count();
        n_stances >= 2 && n_stances * 2 >= n_speakers
    }

    /// Tells whether nobody has moved for as many rounds as the terms say, while something still stands between them.
    /// A check that ran in between may move somebody yet.
    pub fn is_stalemate(&self) -> bool {
        // Jurors vote once: that nobody moves is what a vote is.
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
        // Whoever could not speak may have moved.
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

    /// What everybody said last until a round, whether it counts or not: for, against, how many blocking points.
    fn stated_positions(&self, round: u32) -> BTreeMap<&str, StanceSummary> {
        let rounds = self.rounds.iter().filter(|each| each.n <= round);
        let speeches = rounds.flat_map(|each| each.heard_speeches());
        speeches
            .filter_map(|speech| Some((speech.participant.as_str(), speech.stance.as_ref()?)))
            .map(|(name, stance)| (name, summarize_stance(stance)))
            .collect()
    }
}

/// For, against, how many blocking points.
type StanceSummary = (Option<ProposalName>, Option<ProposalName>, usize);

fn summarize_stance(stance: &ParticipantStance) -> StanceSummary {
    (
        stance.votes_for(),
        stance.votes_against(),
        stance.blocking.len(),
    )
}

impl ParticipantStance {
    /// Tells whether it is for the proposal that it names.
    pub fn is_for(&self) -> bool {
        matches!(
            self.stance,
            ProposalAttitude::Agree | ProposalAttitude::AgreeWithChanges
        )
    }

    /// Where it stands, in words: `for sqlite, 2 blocking`.
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
    /// What it says for itself: its words, what it calls blocking, why it moved. Not what it is for.
    fn reasons(&self) -> impl Iterator<Item = &str> {
        let stance = self.stance.iter();
        let stated = stance.flat_map(|stance| stance.blocking.iter().chain(&stance.why_changed));
        std::iter::once(self.text.as_str()).chain(stated.map(String::as_str))
    }
}

impl StanceTable<'_> {
    /// The same refused move is told once, however often it is tried.
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

    /// Who is for what and against what, the most votes first, then the most confident, then by name.
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
                // The shortest wording, then the first by letters: whoever spoke first does not matter.
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
    /// How sure all who are for it are together, in thousandths; who did not say counts as not sure at all.
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

/// The most votes decide; between as many, confidence does. What at least as many are against as for wins nothing.
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

/// One vote, with what it thinks of the proposal that it is counted at.
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

/// A new confidence, new words and another blocking point are no move; fewer blocking points are one.
fn has_moved(from: &ParticipantStance, to: &ParticipantStance) -> bool {
    from.votes_for() != to.votes_for()
        || from.votes_against() != to.votes_against()
        || to.blocking.len() < from.blocking.len()
}

/// Tells whether a move leads to a proposal: it is for it now, or no longer against it, or asks less of it.
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

/// Tells whether a move is from one name of a proposal to another: all words of one are in the other, `use-sqlite` and
/// `sqlite`. Before they heard each other nobody knew what the others would call it.
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

/// What more of the others are for than for anything else; `None` where that is not one proposal.
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

/// A text as it is compared: letters and digits in lower case, one blank between.
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
