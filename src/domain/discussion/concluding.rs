//! From a discussion that has stopped to what came of it.
//!
//! Refuses to find anything out that is not in stances, errors and the moderator's last word.

use std::collections::BTreeSet;

use super::vote::{self, Count, Standing, Standings};
use super::{
    Attitude, Basis, Entry, GroupDiscussion, Minority, NoVote, Outcome, Part, Point, Proposal,
    Speech, SpeechErrorCode, Stance, StopReason, Tally, TieBreak,
};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::text::truncate::to_chars;

/// The longest reason of a minority, in characters.
const MAX_REASON: usize = 400;

impl GroupDiscussion {
    /// What comes of it when it stops now for this reason.
    pub fn outcome_of(&self, stop: StopReason, now: UnixMillis) -> Outcome {
        let standings = self.standings(u32::MAX);
        let votes = standings.tallies();
        let count = vote::count(&votes);
        let (basis, decision) = self.decided(stop, (&standings, &count));
        let is_by_vote = basis == Basis::Vote;
        Outcome {
            conclusion: self.conclusion(&decision, (basis, stop), &votes, &count),
            tie: match basis {
                Basis::None | Basis::Vote => count.tie,
                Basis::Consensus | Basis::Moderator => Vec::new(),
            },
            tie_break: match is_by_vote {
                true => count.tie_break,
                false => TieBreak::None,
            },
            basis,
            stop,
            independent: self.standings(1).tallies(),
            abstained: self.abstained(&standings),
            no_vote: self.no_vote(&standings),
            minority: decision
                .as_ref()
                .map(|decision| minority(&standings, decision))
                .unwrap_or_default(),
            unresolved: self.unresolved(&standings),
            shifts: standings.shifts,
            errors: self.errors(),
            rounds: self.n_finished(),
            duration_ms: u64::try_from(now.0 - self.begun_at.0).unwrap_or(0),
            children: match self.order.terms.keep_sessions {
                true => self.sessions.values().cloned().collect(),
                false => Vec::new(),
            },
            votes,
            decision,
        }
    }

    /// What is decided, and on what grounds. Whoever moderates rules, also against what all the others agree on; what it
    /// is against is not decided. Else they agree, or their votes decide, where enough of them have one.
    fn decided(
        &self,
        stop: StopReason,
        (standings, count): (&Standings<'_>, &Count),
    ) -> (Basis, Option<Proposal>) {
        if matches!(
            stop,
            StopReason::User | StopReason::ProgramEnded | StopReason::LostQuorum
        ) {
            return (Basis::None, None);
        }
        let agreed = self.consensus();
        let ruling = self.ruling();
        let ruled = ruling.and_then(Stance::votes_for);
        let is_against = ruling.and_then(Stance::is_against);
        let is_quorum = self.is_quorum(standings.of.len());
        let voted = count.decision.clone().filter(|_| is_quorum);
        match (agreed, ruled) {
            (Some(agreed), ruled) if ruled.as_ref().is_none_or(|ruled| *ruled == agreed) => {
                match is_against.as_ref() == Some(&agreed) {
                    true => (Basis::None, None),
                    false => (Basis::Consensus, Some(agreed)),
                }
            }
            (_, Some(ruled)) => (Basis::Moderator, Some(ruled)),
            (_, None) => match voted.filter(|voted| is_against.as_ref() != Some(voted)) {
                Some(voted) => (Basis::Vote, Some(voted)),
                None => (Basis::None, None),
            },
        }
    }

    /// The stance of a moderator's last word, or of the word by which it ended the rounds.
    fn ruling(&self) -> Option<&Stance> {
        let closing = self
            .closing
            .as_ref()
            .and_then(|speech| speech.stance.as_ref());
        closing.or_else(|| {
            let ends = super::mode::rules(self.order.terms.mode).stop(self);
            let mut heard = self.round()?.heard();
            let by_moderator = |speech: &&Speech| {
                let side = self.participant(&speech.participant).map(|of| of.side);
                side == Some(super::Side::Moderator)
            };
            ends.and(heard.find(by_moderator)?.stance.as_ref())
        })
    }

    /// The moderator's last word, where it is for what was decided; else what was decided and how, and then that word, or
    /// the words of who was surest of it.
    fn conclusion(
        &self,
        decision: &Option<Proposal>,
        (basis, stop): (Basis, StopReason),
        votes: &[Tally],
        count: &Count,
    ) -> String {
        let closing = self.closing.as_ref().filter(|speech| speech.is_heard());
        let closing = closing.filter(|closing| !closing.text.is_empty());
        let ruled = closing.and_then(|closing| closing.stance.as_ref()?.votes_for());
        if let Some(closing) = closing.filter(|_| ruled.is_some() && ruled == *decision) {
            return closing.text.clone();
        }
        let n_stances = self.standings(u32::MAX).of.len();
        let told =
            match decision.is_none() && count.decision.is_some() && !self.is_quorum(n_stances) {
                true => format!(
                    "No decision: only {} counts.",
                    pluralize(n_stances, "stance")
                ),
                false => in_a_sentence(decision.as_ref(), (basis, stop), votes, count),
            };
        if let Some(closing) = closing {
            return format!("{told}\n\n{}: {}", closing.participant, closing.text);
        }
        let surest = decision
            .as_ref()
            .and_then(|decision| self.surest_words(decision, votes));
        match surest {
            Some((name, words)) => format!("{told}\n\n{name}: {words}"),
            None => told,
        }
    }

    fn surest_words(&self, decision: &Proposal, votes: &[Tally]) -> Option<(String, String)> {
        let tally = votes.iter().find(|tally| tally.proposal == *decision)?;
        let surest = tally
            .votes_for
            .iter()
            .max_by_key(|vote| (vote.confidence, std::cmp::Reverse(&vote.participant)))?;
        let speech = self.speech(surest.round, &surest.participant)?;
        (!speech.text.is_empty()).then(|| (surest.participant.clone(), speech.text.clone()))
    }

    /// Who abstains, a moderator that does not rule too.
    fn abstained(&self, standings: &Standings<'_>) -> Vec<String> {
        let is_it = |stance: &Stance| stance.stance == Attitude::Abstain;
        let all = standings.of.values();
        let all = all
            .filter(|each| is_it(each.stance))
            .map(|each| each.participant);
        let closing = self.closing.iter();
        let closing = closing.filter(|speech| speech.stance.as_ref().is_some_and(is_it));
        all.chain(closing.map(|speech| speech.participant.as_str()))
            .map(str::to_owned)
            .collect()
    }

    /// Who speaks in rounds and has no stance that counts, and a moderator whose last word has none.
    fn no_vote(&self, standings: &Standings<'_>) -> Vec<NoVote> {
        let mode = super::mode::rules(self.order.terms.mode);
        let mut all: Vec<_> = self.order.participants.iter().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.into_iter()
            .filter(|each| mode.speaks(each) && !standings.of.contains_key(each.name.as_str()))
            .map(|each| {
                let mut rounds = self.rounds.iter().rev();
                let last = rounds.find_map(|round| round.speech(&each.name));
                let why = match last {
                    Some(Speech {
                        error: Some(error), ..
                    }) => error.in_words(),
                    Some(speech) => speech.no_stance.clone().unwrap_or_default(),
                    None => "it did not speak".to_owned(),
                };
                NoVote {
                    participant: each.name.clone(),
                    why,
                }
            })
            .chain(self.closing.iter().filter_map(|speech| {
                Some(NoVote {
                    participant: speech.participant.clone(),
                    why: speech.no_stance.clone()?,
                })
            }))
            .collect()
    }

    fn unresolved(&self, standings: &Standings<'_>) -> Vec<Point> {
        let closing = self
            .closing
            .iter()
            .filter_map(|speech| Some((speech.participant.as_str(), speech.stance.as_ref()?)));
        let all = standings.of.values();
        let stances = all
            .map(|each| (each.participant, each.stance))
            .chain(closing);
        let points = stances.flat_map(|(name, stance)| {
            stance.blocking.iter().map(move |text| Point {
                participant: name.to_owned(),
                text: text.clone(),
            })
        });
        points.collect()
    }

    fn errors(&self) -> Vec<Entry> {
        let speeches = self.rounds.iter().flat_map(|round| &round.speeches);
        let mut entries: Vec<Entry> = speeches
            .chain(&self.closing)
            .filter_map(|speech| {
                // Who was stopped by the user made no error.
                let error = speech.error.clone()?;
                let is_stopped = error.code == SpeechErrorCode::Stopped;
                if is_stopped && self.stopping == Some(StopReason::User) {
                    return None;
                }
                Some(Entry {
                    participant: speech.participant.clone(),
                    round: speech.round,
                    part: speech.part,
                    error,
                })
            })
            .collect();
        entries.sort_by(|a, b| {
            let key = |entry: &Entry| (entry.round, entry.part == Part::Closing);
            (key(a), &a.participant).cmp(&(key(b), &b.participant))
        });
        entries
    }
}

/// Those who are for something else, or against the decision.
fn minority(standings: &Standings<'_>, decision: &Proposal) -> Vec<Minority> {
    let stands_elsewhere = |each: &&Standing<'_>| {
        let votes_for = each.stance.votes_for();
        let is_against = each.stance.is_against();
        votes_for.as_ref().is_some_and(|of| of != decision)
            || (votes_for.is_none() && is_against.is_some())
    };
    let all = standings.of.values().filter(stands_elsewhere);
    all.map(|each| Minority {
        participant: each.participant.to_owned(),
        proposal: each.stance.votes_for().or_else(|| each.stance.is_against()),
        attitude: match (each.stance.votes_for(), each.stance.stance) {
            (Some(_), Attitude::Disagree) => Attitude::Agree,
            (_, attitude) => attitude,
        },
        against: each
            .stance
            .votes_for()
            .and_then(|_| each.stance.is_against()),
        confidence: each.stance.confidence,
        reason: to_chars(&each.speech.text, MAX_REASON),
    })
    .collect()
}

fn in_a_sentence(
    decision: Option<&Proposal>,
    (basis, stop): (Basis, StopReason),
    votes: &[Tally],
    count: &Count,
) -> String {
    let tally = |proposal: &Proposal| votes.iter().find(|tally| tally.proposal == *proposal);
    let n_votes: usize = votes
        .iter()
        .flat_map(|tally| tally.votes_for.iter().chain(&tally.against))
        .map(|vote| vote.participant.as_str())
        .collect::<BTreeSet<_>>()
        .len();
    let Some(decision) = decision else {
        let ties: Vec<&str> = count.tie.iter().map(Proposal::as_str).collect();
        let why = stop.in_words();
        return match ties.is_empty() {
            true => format!("No decision: {why}."),
            false => format!(
                "No decision: {why}, and there is a tie between {}.",
                ties.join(" and ")
            ),
        };
    };
    let wording = tally(decision).map_or(decision.as_str(), |tally| tally.wording.as_str());
    let n_for = tally(decision).map_or(0, |tally| tally.votes_for.len());
    match basis {
        Basis::Consensus => format!("Agreed: {wording}.{}", changes(tally(decision))),
        Basis::Moderator => format!("The moderator decided: {wording}."),
        Basis::Vote | Basis::None => {
            let by = match count.tie_break {
                TieBreak::Confidence => ", by confidence where votes were equal",
                TieBreak::None => "",
            };
            format!(
                "Decided by {n_for} of {}{by}: {wording}.",
                pluralize(n_votes, "vote")
            )
        }
    }
}

/// Who agrees with changes: they may not be the same ones.
fn changes(tally: Option<&Tally>) -> String {
    let votes = tally.into_iter().flat_map(|tally| &tally.votes_for);
    let names: Vec<&str> = votes
        .filter(|vote| vote.attitude == Attitude::AgreeWithChanges)
        .map(|vote| vote.participant.as_str())
        .collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" {one} agrees with changes."),
        all => format!(
            " {} agree with changes, each with its own.",
            all.join(" and ")
        ),
    }
}
