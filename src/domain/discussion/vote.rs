//! Where everybody stands, and what that makes: consensus, a vote, a tie.
//!
//! Whoever moves from where it stood must say why. Whoever moves towards what most of the others are for must name what
//! is new besides: words that another participant said, or a check that ran; both are looked up here. Another name for
//! the same proposal, whose words are in the first one or the other way round, needs the reason alone. A move without
//! that does not count, and the stance from before does, so that agreeing with the many is never enough. The order in
//! which participants speak or are named changes nothing.
//! Refuses to read anything but stances; speeches are looked at for what is quoted from them, nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::mode::{Hearing, rules};
use super::{
    Attitude, CheckEnd, CheckRun, GroupDiscussion, Proposal, Round, Shift, Speech, Stance, Tally,
    TieBreak, Vote,
};

/// The shortest reason and the shortest quotation, in characters.
const SHORTEST: usize = 12;

/// Where a participant stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing<'a> {
    /// Who.
    pub participant: &'a str,
    /// The speech with the stance that counts.
    pub speech: &'a Speech,
    /// The stance that counts.
    pub stance: &'a Stance,
    /// Whether the round at hand brought it, or confirmed it.
    pub is_fresh: bool,
}

/// Where everybody stands after a round, and the moves that led there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standings<'a> {
    /// By name; who never had a stance is left out.
    pub of: BTreeMap<&'a str, Standing<'a>>,
    /// All moves, counted and refused.
    pub shifts: Vec<Shift>,
}

/// What a vote makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The proposal that won.
    pub decision: Option<Proposal>,
    /// Those between which nothing decided.
    pub tie: Vec<Proposal>,
    /// What decided between as many votes.
    pub tie_break: TieBreak,
}

impl GroupDiscussion {
    /// Where everybody stands after this round, from 1, and the moves until then. Only who speaks in rounds stands anywhere.
    pub fn standings(&self, round: u32) -> Standings<'_> {
        let mut standings = Standings::default();
        for each in self.rounds.iter().filter(|each| each.n <= round) {
            self.hear(&mut standings, each);
        }
        standings
    }

    fn hear<'a>(&'a self, standings: &mut Standings<'a>, round: &'a Round) {
        let before = standings.of.clone();
        for standing in standings.of.values_mut() {
            standing.is_fresh = false;
        }
        let mut speeches: Vec<&Speech> = round.heard().collect();
        speeches.sort_by(|a, b| a.participant.cmp(&b.participant));
        for speech in speeches {
            let Some(stance) = &speech.stance else {
                continue;
            };
            let name = speech.participant.as_str();
            let held = before.get(name);
            let moved = held.filter(|held| has_moved(held.stance, stance));
            let refused = moved.and_then(|held| {
                let leading = leading_without(&before, name);
                self.refusal((held.stance, stance), speech, leading.as_ref())
            });
            if let Some(held) = moved {
                standings.note(shift(held.stance, speech, stance, refused.clone()));
            }
            if refused.is_none() {
                let standing = Standing {
                    participant: name,
                    speech,
                    stance,
                    is_fresh: true,
                };
                standings.of.insert(name, standing);
            }
        }
    }

    /// Why a move does not count; `None` when it does.
    fn refusal(
        &self,
        (from, to): (&Stance, &Stance),
        speech: &Speech,
        leading: Option<&Proposal>,
    ) -> Option<String> {
        let reason = to.why_changed.as_deref().unwrap_or_default();
        if reason.chars().count() < SHORTEST {
            return Some("it gave no reason for the change".to_owned());
        }
        // Jurors do not know what the others are for: there is nobody to please.
        let hears = rules(self.order.terms.mode).hearing() == Hearing::Speeches;
        let joins = leading.is_some_and(|leading| approaches(from, to, leading));
        let joins = joins && !is_renamed(from, to);
        let has_news = to.evidence.iter().any(|each| self.is_news(each, speech));
        (hears && joins && !has_news).then(|| {
            "it joined what most of the others are for and named nothing new: no words that another said, no check that ran"
                .to_owned()
        })
    }

    /// Words that another participant said, or that a check printed, or a check by its number; all from before.
    fn is_news(&self, evidence: &str, speech: &Speech) -> bool {
        let words = plain(evidence);
        let names = |run: &CheckRun| {
            let name = format!("check {}", run.n);
            words == name || words.starts_with(&format!("{name} "))
        };
        let quotes = |text: &str| words.chars().count() >= SHORTEST && plain(text).contains(&words);
        let ran = self.checks.iter().filter(|run| run.round < speech.round);
        let mut printed = ran.filter_map(|run| match &run.end {
            CheckEnd::Ran { output, .. } => Some((run, output)),
            CheckEnd::Refused { .. } | CheckEnd::Failed { .. } => None,
        });
        let rounds = self.rounds.iter().filter(|round| round.n <= speech.round);
        let mut others = rounds
            .flat_map(Round::heard)
            .filter(|other| other.participant != speech.participant);
        printed.any(|(run, output)| names(run) || quotes(output))
            || others.any(|other| other.reasons().any(quotes))
    }

    /// The proposal on which all who had a stance in the round that was spoken last agree; `None` without consensus.
    ///
    /// At least two stances, and those of half of the round's speakers; none with a blocking point; and nobody who said
    /// nothing in it stood elsewhere before.
    pub fn consensus(&self) -> Option<Proposal> {
        let round = self.round()?;
        let standings = self.standings(round.n);
        let given: BTreeSet<&str> = round
            .heard()
            .filter(|speech| speech.stance.is_some())
            .map(|speech| speech.participant.as_str())
            .collect();
        if !self.is_quorum(given.len()) {
            return None;
        }
        let decision = standings
            .of
            .values()
            .find_map(|each| each.stance.votes_for())?;
        let agrees = |each: &Standing<'_>| {
            let is_missing = given.contains(each.participant) && !each.is_fresh;
            !is_missing
                && each.stance.is_for()
                && each.stance.blocking.is_empty()
                && each.stance.votes_for().as_ref() == Some(&decision)
        };
        standings.of.values().all(agrees).then_some(decision)
    }

    /// Tells whether so many stances decide anything: two at least, and those of half of all who speak in rounds.
    pub(super) fn is_quorum(&self, n_stances: usize) -> bool {
        let mode = rules(self.order.terms.mode);
        let speak = self.order.participants.iter();
        let n_speakers = speak.filter(|each| mode.speaks(each)).count();
        n_stances >= 2 && n_stances * 2 >= n_speakers
    }

    /// Tells whether nobody has moved for as many rounds as the terms say, while something still stands between them.
    /// A check that ran in between may move somebody yet.
    pub fn is_stale(&self) -> bool {
        // Jurors vote once: that nobody moves is what a vote is.
        if rules(self.order.terms.mode).hearing() == Hearing::Proposals {
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
            .any(|round| round.heard().count() < round.speeches.len())
        {
            return false;
        }
        let mut checks = self.checks.iter();
        if checks.any(|check| check.round >= begin.n && check.round < end.n) {
            return false;
        }
        let positions = self.positions(begin.n);
        let stays = lasts
            .iter()
            .all(|round| self.positions(round.n) == positions);
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
    fn positions(&self, round: u32) -> BTreeMap<&str, Position> {
        let rounds = self.rounds.iter().filter(|each| each.n <= round);
        let speeches = rounds.flat_map(|each| each.heard());
        speeches
            .filter_map(|speech| Some((speech.participant.as_str(), speech.stance.as_ref()?)))
            .map(|(name, stance)| (name, position(stance)))
            .collect()
    }
}

/// For, against, how many blocking points.
type Position = (Option<Proposal>, Option<Proposal>, usize);

fn position(stance: &Stance) -> Position {
    (
        stance.votes_for(),
        stance.is_against(),
        stance.blocking.len(),
    )
}

impl Stance {
    /// Tells whether it is for the proposal that it names.
    pub fn is_for(&self) -> bool {
        matches!(self.stance, Attitude::Agree | Attitude::AgreeWithChanges)
    }

    /// Where it stands, in words: `for sqlite, 2 blocking`.
    pub fn in_words(&self) -> String {
        let stands = match (self.votes_for(), self.is_against()) {
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

impl Speech {
    /// What it says for itself: its words, what it calls blocking, why it moved. Not what it is for.
    fn reasons(&self) -> impl Iterator<Item = &str> {
        let stance = self.stance.iter();
        let stated = stance.flat_map(|stance| stance.blocking.iter().chain(&stance.why_changed));
        std::iter::once(self.text.as_str()).chain(stated.map(String::as_str))
    }
}

impl Standings<'_> {
    /// The same refused move is told once, however often it is tried.
    fn note(&mut self, shift: Shift) {
        let mut of_it = self.shifts.iter().rev();
        let last = of_it.find(|each| each.participant == shift.participant);
        let is_known = last.is_some_and(|last| {
            last.refused.is_some() && shift.refused.is_some() && last.to == shift.to
        });
        if !is_known {
            self.shifts.push(shift);
        }
    }

    /// Who is for what and against what, the most votes first, then the most confident, then by name.
    pub fn tallies(&self) -> Vec<Tally> {
        let mut tallies: BTreeMap<Proposal, Tally> = BTreeMap::new();
        for standing in self.of.values() {
            let stance = standing.stance;
            let sides = [
                (
                    stance.votes_for(),
                    stance.instead.as_ref().filter(|_| !stance.is_for()),
                    true,
                ),
                (stance.is_against(), None, false),
            ];
            for (proposal, instead, is_for) in sides {
                let Some(proposal) = proposal else { continue };
                let tally = tallies.entry(proposal.clone()).or_insert_with(|| Tally {
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
                let side = match is_for {
                    true => &mut tally.votes_for,
                    false => &mut tally.against,
                };
                side.push(vote(standing, is_for));
            }
        }
        let mut tallies: Vec<Tally> = tallies.into_values().collect();
        tallies.sort_by_key(|tally| {
            let weight = (tally.votes_for.len(), tally.confidence());
            (std::cmp::Reverse(weight), tally.proposal.clone())
        });
        tallies
    }
}

impl Tally {
    /// How sure all who are for it are together, in thousandths; who did not say counts as not sure at all.
    pub fn confidence(&self) -> u32 {
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
pub fn count(tallies: &[Tally]) -> Count {
    let carried: Vec<&Tally> = tallies
        .iter()
        .filter(|tally| tally.votes_for.len() > tally.against.len())
        .collect();
    let n_most = carried.iter().map(|tally| tally.votes_for.len()).max();
    let most: Vec<&Tally> = carried
        .into_iter()
        .filter(|tally| Some(tally.votes_for.len()) == n_most)
        .collect();
    let surest = most.iter().map(|tally| tally.confidence()).max();
    let first: Vec<&Tally> = most
        .iter()
        .copied()
        .filter(|tally| Some(tally.confidence()) == surest)
        .collect();
    match first.as_slice() {
        [] => Count {
            decision: None,
            tie: Vec::new(),
            tie_break: TieBreak::None,
        },
        [one] => Count {
            decision: Some(one.proposal.clone()),
            tie: Vec::new(),
            tie_break: match most.len() {
                1 => TieBreak::None,
                _ => TieBreak::Confidence,
            },
        },
        several => Count {
            decision: None,
            tie: several.iter().map(|tally| tally.proposal.clone()).collect(),
            tie_break: TieBreak::None,
        },
    }
}

/// One vote, with what it thinks of the proposal that it is counted at.
fn vote(standing: &Standing<'_>, is_for: bool) -> Vote {
    Vote {
        participant: standing.participant.to_owned(),
        attitude: match (is_for, standing.stance.stance) {
            (true, Attitude::Disagree) => Attitude::Agree,
            (_, attitude) => attitude,
        },
        confidence: standing.stance.confidence,
        round: standing.speech.round,
    }
}

/// A new confidence, new words and another blocking point are no move; fewer blocking points are one.
fn has_moved(from: &Stance, to: &Stance) -> bool {
    from.votes_for() != to.votes_for()
        || from.is_against() != to.is_against()
        || to.blocking.len() < from.blocking.len()
}

/// Tells whether a move leads to a proposal: it is for it now, or no longer against it, or asks less of it.
fn approaches(from: &Stance, to: &Stance, proposal: &Proposal) -> bool {
    let is_for = to.votes_for().as_ref() == Some(proposal);
    let was_against = from.is_against().as_ref() == Some(proposal);
    let is_against = to.is_against().as_ref() == Some(proposal);
    is_for || (was_against && !is_against)
}

/// Tells whether a move is from one name of a proposal to another: all words of one are in the other, `use-sqlite` and
/// `sqlite`. Before they heard each other nobody knew what the others would call it.
fn is_renamed(from: &Stance, to: &Stance) -> bool {
    let (Some(from_name), Some(to_name)) = (from.votes_for(), to.votes_for()) else {
        return false;
    };
    let words = |name: &Proposal| {
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
fn leading_without(of: &BTreeMap<&str, Standing<'_>>, name: &str) -> Option<Proposal> {
    let mut n_for: BTreeMap<Proposal, usize> = BTreeMap::new();
    let others = of.values().filter(|each| each.participant != name);
    for proposal in others.filter_map(|each| each.stance.votes_for()) {
        *n_for.entry(proposal).or_default() += 1;
    }
    let most = n_for.values().copied().max()?;
    let mut first = n_for.into_iter().filter(|(_, n)| *n == most);
    let (proposal, _) = first.next()?;
    first.next().is_none().then_some(proposal)
}

fn shift(from: &Stance, speech: &Speech, to: &Stance, refused: Option<String>) -> Shift {
    Shift {
        participant: speech.participant.clone(),
        round: speech.round,
        from: from.in_words(),
        to: to.in_words(),
        why: to.why_changed.clone(),
        refused,
    }
}

/// A text as it is compared: letters and digits in lower case, one blank between.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
