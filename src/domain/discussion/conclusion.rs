//! Builds the outcome of a discussion that has stopped.
//!
//! Uses only stances, errors and the moderator's closing speech.

use std::collections::BTreeSet;

use super::vote::{self, CountedStance, StanceTable, VoteResult};
use super::{
    DecisionBasis, DiscussionOutcome, DiscussionSpeech, DiscussionStopReason, GroupDiscussion,
    MinorityPosition, MissingVote, ParticipantStance, ProposalAttitude, ProposalName,
    SpeechErrorCode, SpeechFailure, SpeechPart, UnresolvedPoint, VoteTally, VoteTieBreak,
};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::text::truncate::to_chars;

/// The longest reason of a minority, in characters.
const MAX_REASON_CHARS: usize = 400;

impl GroupDiscussion {
    /// Builds the outcome for a discussion that stops now, for this reason.
    pub fn build_outcome(&self, stop: DiscussionStopReason, now: UnixMillis) -> DiscussionOutcome {
        let standings = self.stance_table(u32::MAX);
        let votes = standings.tallies();
        let count = vote::count_votes(&votes);
        let (basis, decision) = self.decide(stop, &standings, &count);
        let is_by_vote = basis == DecisionBasis::Vote;
        DiscussionOutcome {
            conclusion: self.conclusion_text(&decision, basis, stop, &votes, &count),
            tie: match basis {
                DecisionBasis::None | DecisionBasis::Vote => count.tie,
                DecisionBasis::Consensus | DecisionBasis::Moderator => Vec::new(),
            },
            tie_break: if is_by_vote {
                count.tie_break
            } else {
                VoteTieBreak::None
            },
            basis,
            stop,
            independent: self.stance_table(1).tallies(),
            abstained: self.abstaining_participants(&standings),
            no_vote: self.missing_votes(&standings),
            minority: decision
                .as_ref()
                .map(|decision| minority_positions(&standings, decision))
                .unwrap_or_default(),
            unresolved: self.unresolved_points(&standings),
            shifts: standings.changes,
            errors: self.speech_failures(),
            rounds: self.n_finished_rounds(),
            duration_ms: u64::try_from(now.0 - self.begun_at.0).unwrap_or(0),
            children: if self.order.terms.keep_sessions {
                self.sessions.values().cloned().collect()
            } else {
                Vec::new()
            },
            votes,
            decision,
        }
    }

    /// Returns the decision and its basis. A moderator's ruling counts even against what all others agree on, and a
    /// proposal that the moderator is against is not decided. Otherwise consensus decides, or the votes where enough
    /// participants have one.
    fn decide(
        &self,
        stop: DiscussionStopReason,
        standings: &StanceTable<'_>,
        count: &VoteResult,
    ) -> (DecisionBasis, Option<ProposalName>) {
        if matches!(
            stop,
            DiscussionStopReason::User
                | DiscussionStopReason::ProgramEnded
                | DiscussionStopReason::LostQuorum
        ) {
            return (DecisionBasis::None, None);
        }
        let agreed = self.consensus();
        let ruling = self.moderator_ruling();
        let ruled = ruling.and_then(ParticipantStance::votes_for);
        let is_against = ruling.and_then(ParticipantStance::votes_against);
        let is_quorum = self.is_quorum(standings.by_participant.len());
        let voted = count.decision.clone().filter(|_| is_quorum);
        match (agreed, ruled) {
            (Some(agreed), ruled) if ruled.as_ref().is_none_or(|ruled| *ruled == agreed) => {
                if is_against.as_ref() == Some(&agreed) {
                    (DecisionBasis::None, None)
                } else {
                    (DecisionBasis::Consensus, Some(agreed))
                }
            }
            (_, Some(ruled)) => (DecisionBasis::Moderator, Some(ruled)),
            (_, None) => match voted.filter(|voted| is_against.as_ref() != Some(voted)) {
                Some(voted) => (DecisionBasis::Vote, Some(voted)),
                None => (DecisionBasis::None, None),
            },
        }
    }

    /// Returns the stance of the moderator's closing speech, or of the speech with which it ended the rounds.
    fn moderator_ruling(&self) -> Option<&ParticipantStance> {
        let closing = self
            .closing
            .as_ref()
            .and_then(|speech| speech.stance.as_ref());
        closing.or_else(|| {
            let ends = super::mode_rules::rules_for(self.order.terms.mode).stop_reason(self);
            let mut heard = self.round()?.heard_speeches();
            let by_moderator = |speech: &&DiscussionSpeech| {
                let side = self.participant(&speech.participant).map(|of| of.side);
                side == Some(super::DebateSide::Moderator)
            };
            ends.and(heard.find(by_moderator)?.stance.as_ref())
        })
    }

    /// Returns the moderator's closing speech, where it supports the decision. Otherwise returns the decision and how
    /// it was made, followed by that speech or by the words of the most confident supporter.
    fn conclusion_text(
        &self,
        decision: &Option<ProposalName>,
        basis: DecisionBasis,
        stop: DiscussionStopReason,
        votes: &[VoteTally],
        count: &VoteResult,
    ) -> String {
        let closing = self.closing.as_ref().filter(|speech| speech.is_heard());
        let closing = closing.filter(|closing| !closing.text.is_empty());
        let ruled = closing.and_then(|closing| closing.stance.as_ref()?.votes_for());
        if let Some(closing) = closing.filter(|_| ruled.is_some() && ruled == *decision) {
            return closing.text.clone();
        }
        let n_stances = self.stance_table(u32::MAX).by_participant.len();
        let told = if decision.is_none() && count.decision.is_some() && !self.is_quorum(n_stances) {
            format!(
                "No decision: only {} counts.",
                pluralize(n_stances, "stance")
            )
        } else {
            summary_sentence(decision.as_ref(), basis, stop, votes, count)
        };
        if let Some(closing) = closing {
            return format!("{told}\n\n{}: {}", closing.participant, closing.text);
        }
        let surest = decision
            .as_ref()
            .and_then(|decision| self.most_confident_words(decision, votes));
        match surest {
            Some((name, words)) => format!("{told}\n\n{name}: {words}"),
            None => told,
        }
    }

    fn most_confident_words(
        &self,
        decision: &ProposalName,
        votes: &[VoteTally],
    ) -> Option<(String, String)> {
        let tally = votes.iter().find(|tally| tally.proposal == *decision)?;
        let surest = tally
            .votes_for
            .iter()
            .max_by_key(|vote| (vote.confidence, std::cmp::Reverse(&vote.participant)))?;
        let speech = self.speech(surest.round, &surest.participant)?;
        (!speech.text.is_empty()).then(|| (surest.participant.clone(), speech.text.clone()))
    }

    /// Lists participants that abstain, including a moderator that does not rule.
    fn abstaining_participants(&self, standings: &StanceTable<'_>) -> Vec<String> {
        let is_it = |stance: &ParticipantStance| stance.stance == ProposalAttitude::Abstain;
        let all = standings.by_participant.values();
        let all = all
            .filter(|each| is_it(each.stance))
            .map(|each| each.participant);
        let closing = self.closing.iter();
        let closing = closing.filter(|speech| speech.stance.as_ref().is_some_and(is_it));
        all.chain(closing.map(|speech| speech.participant.as_str()))
            .map(str::to_owned)
            .collect()
    }

    /// Lists participants that speak in rounds and have no stance that counts, and a moderator whose closing speech has
    /// none.
    fn missing_votes(&self, standings: &StanceTable<'_>) -> Vec<MissingVote> {
        let mode = super::mode_rules::rules_for(self.order.terms.mode);
        let mut all: Vec<_> = self.order.participants.iter().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all.into_iter()
            .filter(|each| {
                mode.speaks_in_rounds(each)
                    && !standings.by_participant.contains_key(each.name.as_str())
            })
            .map(|each| {
                let mut rounds = self.rounds.iter().rev();
                let last = rounds.find_map(|round| round.speech(&each.name));
                let why = match last {
                    Some(DiscussionSpeech {
                        error: Some(error), ..
                    }) => error.describe(),
                    Some(speech) => speech.no_stance.clone().unwrap_or_default(),
                    None => "it did not answer".to_owned(),
                };
                MissingVote {
                    participant: each.name.clone(),
                    why,
                }
            })
            .chain(self.closing.iter().filter_map(|speech| {
                Some(MissingVote {
                    participant: speech.participant.clone(),
                    why: speech.no_stance.clone()?,
                })
            }))
            .collect()
    }

    fn unresolved_points(&self, standings: &StanceTable<'_>) -> Vec<UnresolvedPoint> {
        let closing = self
            .closing
            .iter()
            .filter_map(|speech| Some((speech.participant.as_str(), speech.stance.as_ref()?)));
        let all = standings.by_participant.values();
        let stances = all
            .map(|each| (each.participant, each.stance))
            .chain(closing);
        let points = stances.flat_map(|(name, stance)| {
            stance.blocking.iter().map(move |text| UnresolvedPoint {
                participant: name.to_owned(),
                text: text.clone(),
            })
        });
        points.collect()
    }

    fn speech_failures(&self) -> Vec<SpeechFailure> {
        let speeches = self.rounds.iter().flat_map(|round| &round.speeches);
        let mut entries: Vec<SpeechFailure> = speeches
            .chain(&self.closing)
            .filter_map(|speech| {
                // A speech that the user stopped is not an error.
                let error = speech.error.clone()?;
                let is_stopped = error.code == SpeechErrorCode::Stopped;
                if is_stopped && self.stopping == Some(DiscussionStopReason::User) {
                    return None;
                }
                Some(SpeechFailure {
                    participant: speech.participant.clone(),
                    round: speech.round,
                    part: speech.part,
                    error,
                })
            })
            .collect();
        entries.sort_by(|a, b| {
            let key = |entry: &SpeechFailure| (entry.round, entry.part == SpeechPart::Closing);
            (key(a), &a.participant).cmp(&(key(b), &b.participant))
        });
        entries
    }
}

/// Lists participants that support another proposal, or are against the decision.
fn minority_positions(
    standings: &StanceTable<'_>,
    decision: &ProposalName,
) -> Vec<MinorityPosition> {
    let stands_elsewhere = |each: &&CountedStance<'_>| {
        let votes_for = each.stance.votes_for();
        let is_against = each.stance.votes_against();
        votes_for.as_ref().is_some_and(|of| of != decision)
            || (votes_for.is_none() && is_against.is_some())
    };
    let all = standings.by_participant.values().filter(stands_elsewhere);
    all.map(|each| MinorityPosition {
        participant: each.participant.to_owned(),
        proposal: each
            .stance
            .votes_for()
            .or_else(|| each.stance.votes_against()),
        attitude: match (each.stance.votes_for(), each.stance.stance) {
            (Some(_), ProposalAttitude::Disagree) => ProposalAttitude::Agree,
            (_, attitude) => attitude,
        },
        against: each
            .stance
            .votes_for()
            .and_then(|_| each.stance.votes_against()),
        confidence: each.stance.confidence,
        reason: to_chars(&each.speech.text, MAX_REASON_CHARS),
    })
    .collect()
}

fn summary_sentence(
    decision: Option<&ProposalName>,
    basis: DecisionBasis,
    stop: DiscussionStopReason,
    votes: &[VoteTally],
    count: &VoteResult,
) -> String {
    let tally = |proposal: &ProposalName| votes.iter().find(|tally| tally.proposal == *proposal);
    let n_votes: usize = votes
        .iter()
        .flat_map(|tally| tally.votes_for.iter().chain(&tally.against))
        .map(|vote| vote.participant.as_str())
        .collect::<BTreeSet<_>>()
        .len();
    let Some(decision) = decision else {
        let ties: Vec<&str> = count.tie.iter().map(ProposalName::as_str).collect();
        let why = stop.describe();
        return if ties.is_empty() {
            format!("No decision: {why}.")
        } else {
            format!(
                "No decision: {why}, and there is a tie between {}.",
                ties.join(" and ")
            )
        };
    };
    let wording = tally(decision).map_or(decision.as_str(), |tally| tally.wording.as_str());
    let n_for = tally(decision).map_or(0, |tally| tally.votes_for.len());
    match basis {
        DecisionBasis::Consensus => {
            format!("Agreed: {wording}.{}", describe_changes(tally(decision)))
        }
        DecisionBasis::Moderator => format!("The moderator decided: {wording}."),
        DecisionBasis::Vote | DecisionBasis::None => {
            let by = match count.tie_break {
                VoteTieBreak::Confidence => ", by confidence where votes were equal",
                VoteTieBreak::None => "",
            };
            format!(
                "Decided by {n_for} of {}{by}: {wording}.",
                pluralize(n_votes, "vote")
            )
        }
    }
}

/// Says who agrees with changes, because these may not be the same changes.
fn describe_changes(tally: Option<&VoteTally>) -> String {
    let votes = tally.into_iter().flat_map(|tally| &tally.votes_for);
    let names: Vec<&str> = votes
        .filter(|vote| vote.attitude == ProposalAttitude::AgreeWithChanges)
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
