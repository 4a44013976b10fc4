//! Renders a discussion as Markdown for people: its result alone, or the complete discussion.
//!
//! Texts of agents keep their own Markdown. In the result their headings are nested one level below the report's
//! headings. In the complete discussion they are block quotes, so that no agent's text passes for a part of the report.

use std::fmt::Write as _;

use super::{
    CheckOutcome, CheckRun, DecisionBasis, DiscussionOutcome, DiscussionSpeech, GroupDiscussion,
    MinorityPosition, ParticipantStance, ParticipantVote, ProposalAttitude, ProposalName,
    SpeechFailure, StanceChange, VoteTally,
};
use crate::text::fenced_block::{self, MarkdownPart};
use crate::text::{clean_to_one_line, pluralize};

impl GroupDiscussion {
    /// Renders the result: the decision and its basis, the votes, the minority, the open points, and why it stopped.
    pub fn result_to_markdown(&self) -> String {
        self.render_result(nest_headings)
    }

    fn render_result(&self, of_agents: fn(&str) -> String) -> String {
        let mut out = format!("# {}\n\n", clean_to_one_line(&self.order.topic));
        match &self.outcome {
            Some(outcome) => out.push_str(&render_outcome(outcome, of_agents)),
            None => {
                let rounds = pluralize(self.rounds.len(), "round");
                let _ = writeln!(
                    out,
                    "Not finished: {}, {rounds} so far.",
                    self.status.name()
                );
            }
        }
        out
    }

    /// Renders everything: the result, the participants, every round with its checks, and the closing speech.
    pub fn to_markdown(&self) -> String {
        let mut out = self.render_result(block_quote);
        out.push_str(&self.render_participants());
        for round in &self.rounds {
            let _ = write!(out, "\n## Round {}\n", round.n);
            if let Some(attacker) = &round.attacker {
                let attacker = clean_to_one_line(attacker);
                let what = match self.leading_proposal(round.n) {
                    Some(_) => "the leading proposal",
                    None => "what seems strongest",
                };
                let _ = write!(out, "\n{attacker} attacks {what}.\n");
            }
            // In the participants' order: which speech ended first has no meaning.
            let all = self.order.participants.iter();
            all.filter_map(|each| round.speech(&each.name))
                .for_each(|speech| out.push_str(&render_speech(speech)));
            let checks = self.checks.iter().filter(|check| check.round == round.n);
            checks.for_each(|check| out.push_str(&render_check(check)));
        }
        if let Some(closing) = &self.closing {
            out.push_str("\n## Final words\n");
            out.push_str(&render_speech(closing));
        }
        out
    }

    fn render_participants(&self) -> String {
        let terms = &self.order.terms;
        let mut out = format!(
            "\n## Participants\n\n{}, {} at most, {}\n\n",
            terms.mode.as_str(),
            pluralize(usize::try_from(terms.max_rounds()).unwrap_or(0), "round"),
            terms.order.as_str(),
        );
        for participant in &self.order.participants {
            let role = participant.role.as_deref().map(clean_to_one_line);
            let role = role.map_or(String::new(), |role| format!(": {role}"));
            let name = clean_to_one_line(&participant.name);
            let (agent, adapter) = (&participant.agent, &participant.adapter);
            let _ = writeln!(out, "- **{name}**, {agent} on {adapter}{role}");
        }
        if !self.order.context.trim().is_empty() {
            let _ = write!(
                out,
                "\n## Context\n\n{}\n",
                block_quote(&self.order.context)
            );
        }
        let files = self.order.files.iter();
        render_list(
            &mut out,
            "Files",
            files.map(|file| {
                format!(
                    "`{}`, {} bytes",
                    clean_to_one_line(&file.path),
                    file.n_bytes
                )
            }),
        );
        out
    }
}

fn render_check(check: &CheckRun) -> String {
    let (word, text) = match &check.end {
        CheckOutcome::Ran {
            exit_code: Some(code),
            output,
        } => (format!("exit {code}"), output),
        CheckOutcome::Ran {
            exit_code: None,
            output,
        } => ("ended by a signal".to_owned(), output),
        CheckOutcome::Refused { reason } => ("not allowed to run".to_owned(), reason),
        CheckOutcome::Failed { reason } => ("failed".to_owned(), reason),
    };
    format!(
        "\n### Check {}: {word}\n\n`{}`, requested by {}\n\n{}\n",
        check.n,
        clean_to_one_line(&check.order.command),
        check.asked_by.join(", "),
        code_fence("", text),
    )
}

fn render_outcome(outcome: &DiscussionOutcome, of_agents: fn(&str) -> String) -> String {
    let mut out = render_decision(outcome, of_agents);
    render_votes(&mut out, outcome);
    let minority = outcome
        .minority
        .iter()
        .map(|each| render_minority(outcome, each));
    render_list(&mut out, "Minority", minority);
    let unresolved = outcome.unresolved.iter().map(|point| {
        let (text, of) = (
            clean_to_one_line(&point.text),
            clean_to_one_line(&point.participant),
        );
        format!("{text} ({of})")
    });
    render_list(&mut out, "Open points", unresolved);
    render_list(
        &mut out,
        "Changed positions",
        outcome.shifts.iter().map(render_stance_change),
    );
    render_list(
        &mut out,
        "Errors",
        outcome.errors.iter().map(render_failure),
    );
    let rounds = pluralize(usize::try_from(outcome.rounds).unwrap_or(0), "round");
    let _ = write!(
        out,
        "\nIt stopped because {}, after {rounds} and {} s.\n",
        outcome.stop.describe(),
        outcome.duration_ms / 1_000
    );
    out
}

fn render_decision(outcome: &DiscussionOutcome, of_agents: fn(&str) -> String) -> String {
    let grounds = match outcome.basis {
        DecisionBasis::Consensus => "Decided by consensus",
        DecisionBasis::Vote => "Decided by vote",
        DecisionBasis::Moderator => "Decided by the moderator",
        DecisionBasis::None if !outcome.tie.is_empty() => "A tie, not decided",
        DecisionBasis::None => "Not decided",
    };
    let decision = outcome
        .decision
        .as_ref()
        .map(|decision| outcome.proposal_wording(decision));
    let decision = decision.map_or(String::new(), |decision| format!(": {decision}"));
    let conclusion = of_agents(outcome.conclusion.trim());
    format!("**{grounds}{decision}**\n\n{conclusion}\n")
}

fn render_votes(out: &mut String, outcome: &DiscussionOutcome) {
    if !outcome.votes.is_empty() {
        out.push_str("\n## Votes\n\n");
        for tally in &outcome.votes {
            let _ = writeln!(out, "{}", render_tally(tally));
        }
    }
    for abstained in &outcome.abstained {
        let _ = writeln!(out, "- {} abstains", clean_to_one_line(abstained));
    }
    for none in &outcome.no_vote {
        let (who, why) = (
            clean_to_one_line(&none.participant),
            clean_to_one_line(&none.why),
        );
        let _ = writeln!(out, "- no vote of {who}: {why}");
    }
}

fn render_minority(outcome: &DiscussionOutcome, minority: &MinorityPosition) -> String {
    let stands = match minority.describe_position(outcome) {
        stands if stands.is_empty() => stands,
        stands => format!(" ({stands})"),
    };
    let reason = match clean_to_one_line(&minority.reason) {
        reason if reason.is_empty() => reason,
        reason => format!(": {reason}"),
    };
    format!(
        "**{}**{stands}{reason}",
        clean_to_one_line(&minority.participant)
    )
}

impl MinorityPosition {
    /// Describes the position: `for postgres, against sqlite`; empty where it is neither for nor against anything.
    pub fn describe_position(&self, outcome: &DiscussionOutcome) -> String {
        let Some(proposal) = &self.proposal else {
            return String::new();
        };
        let word = match self.attitude {
            ProposalAttitude::Disagree => "against",
            ProposalAttitude::Agree
            | ProposalAttitude::AgreeWithChanges
            | ProposalAttitude::Abstain => "for",
        };
        let against = self.against.as_ref().map(|of| outcome.proposal_wording(of));
        let against = against.map_or(String::new(), |of| format!(", against {of}"));
        format!("{word} {}{against}", outcome.proposal_wording(proposal))
    }
}

fn render_stance_change(shift: &StanceChange) -> String {
    let why = shift.why.as_deref();
    let why = why.map_or(String::new(), |why| format!(": {}", clean_to_one_line(why)));
    let refused = shift.refused.as_deref().map_or(String::new(), |why| {
        format!("; it does not count: {}", clean_to_one_line(why))
    });
    format!(
        "{} in round {}, {} → {}{why}{refused}",
        clean_to_one_line(&shift.participant),
        shift.round,
        clean_to_one_line(&shift.from),
        clean_to_one_line(&shift.to)
    )
}

fn render_failure(entry: &SpeechFailure) -> String {
    format!(
        "{} in round {}: {}",
        clean_to_one_line(&entry.participant),
        entry.round,
        entry.error.describe()
    )
}

impl DiscussionOutcome {
    /// Returns the wording of a proposal, without any explanation.
    pub fn proposal_wording(&self, proposal: &ProposalName) -> String {
        let tally = self.votes.iter().find(|tally| tally.proposal == *proposal);
        match tally {
            Some(tally) => clean_to_one_line(ProposalName::strip_explanation(&tally.wording)),
            None => proposal.as_str().replace('-', " "),
        }
    }
}

/// Renders a proposal with its votes: `- SQLite: 2 for it: ada (0.50), grace; against: 老王`.
fn render_tally(tally: &VoteTally) -> String {
    let names = |votes: &[ParticipantVote]| {
        let name = |vote: &ParticipantVote| {
            let sure = vote
                .confidence
                .map_or(String::new(), |sure| format!(" ({sure})"));
            format!("{}{sure}", clean_to_one_line(&vote.participant))
        };
        votes.iter().map(name).collect::<Vec<String>>().join(", ")
    };
    let mut out = format!(
        "- **{}**: {} for it",
        clean_to_one_line(&tally.wording),
        tally.votes_for.len()
    );
    for (word, votes) in [(": ", &tally.votes_for), ("; against: ", &tally.against)] {
        if !votes.is_empty() {
            out.push_str(&format!("{word}{}", names(votes)));
        }
    }
    out
}

fn render_list(out: &mut String, title: &str, items: impl Iterator<Item = String>) {
    for (n, item) in items.enumerate() {
        if n == 0 {
            let _ = write!(out, "\n## {title}\n\n");
        }
        let _ = writeln!(out, "- {item}");
    }
}

fn render_speech(speech: &DiscussionSpeech) -> String {
    let mut out = format!("\n### {}\n\n", clean_to_one_line(&speech.participant));
    if let Some(error) = &speech.error {
        let _ = writeln!(out, "Nothing: {}", error.describe());
        return out;
    }
    match &speech.stance {
        Some(stance) => out.push_str(&render_stance(stance)),
        None => {
            let why = speech.no_stance.as_deref().unwrap_or("none was named");
            let _ = writeln!(out, "**No stance, so no vote**: {}", clean_to_one_line(why));
        }
    }
    let _ = write!(out, "\n{}\n", block_quote(speech.text.trim()));
    out
}

fn render_stance(stance: &ParticipantStance) -> String {
    let sure = stance
        .confidence
        .map_or(String::new(), |sure| format!(", {sure} sure"));
    let mut out = format!("**{}{sure}**", stance.stance.as_str().replace('_', " "));
    let mut say = |name: &str, text: &str| {
        let _ = write!(out, "\n- {name}: {}", clean_to_one_line(text));
    };
    if !stance.proposal.trim().is_empty() {
        say("proposal", &stance.proposal);
    }
    if let Some(instead) = &stance.instead {
        say("instead", instead);
    }
    for blocking in &stance.blocking {
        say("blocks", blocking);
    }
    if let Some(why) = &stance.why_changed {
        say("why it changed", why);
    }
    out.push('\n');
    out
}

/// Nests the headings of a text below those of the report.
fn nest_headings(text: &str) -> String {
    let line = |line: &str| {
        let rest = line.trim_start();
        let (indent, _) = line.split_at(line.len() - rest.len());
        if rest.starts_with('#') {
            format!("{indent}###{rest}")
        } else {
            line.to_owned()
        }
    };
    let prose = |text: &str| text.lines().map(line).collect::<Vec<String>>().join("\n");
    let parts = fenced_block::split_parts(text)
        .into_iter()
        .map(|part| match part {
            MarkdownPart::Prose(text) => prose(&text),
            MarkdownPart::Block(block) => code_fence(&block.info, &block.content),
        });
    parts.collect::<Vec<String>>().join("\n")
}

/// Renders a text as a block quote; nothing in the text can end it.
fn block_quote(text: &str) -> String {
    let line = |line: &str| format!("> {line}").trim_end().to_owned();
    text.lines().map(line).collect::<Vec<String>>().join("\n")
}

/// Renders a text as code, in a fence that the text cannot close.
fn code_fence(info: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let info: String = info.chars().filter(|c| c.is_alphanumeric()).collect();
    format!("{fence}{info}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_an_agent_makes_no_heading_of_the_page() {
        let text =
            "# One\n   # Two\n    ```\n# Three\n\n```sh\n# a comment\n```\nFour\n====\n~~~\n# open";
        let indented = nest_headings(text);
        for forged in ["\n# One", "\n   # Two", "\n## "] {
            assert!(!format!("\n{indented}").contains(forged), "{indented}");
        }
        assert!(indented.contains("\n# a comment\n"), "{indented}");
        assert!(block_quote(text).lines().all(|line| line.starts_with('>')));
    }
}
