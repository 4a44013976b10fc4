//! Builds the part of a participant's prompt that describes the discussion: the topic always, then the latest speeches,
//! then the participant's own last speech, then older speeches, within its budget.
//!
//! All content is data between fences that the content cannot close. Speeches are ordered by name, without vote counts
//! and without confidence, so that no participant follows the numbers.

use super::mode_rules::{PeerVisibility, rules_for};
use super::{
    CheckOutcome, CheckRun, ContextBudget, DiscussionSpeech, GroupDiscussion, Round, SpeechPart,
    SpeechRequest,
};
use crate::text::fenced_block::fence_text;
use crate::text::truncate::{ELLIPSIS, to_chars};

/// The longest topic, in characters: it fits into the smallest budget.
pub const MAX_TOPIC_CHARS: usize = 1_000;
/// The longest summary of a speech of an older round, in characters.
const MAX_SUMMARY_CHARS: usize = 160;
/// A section with less room than this is left out, not cut, in characters.
const MIN_SECTION_CHARS: usize = 60;
/// The longest run of backticks that is kept.
const MAX_BACKTICK_RUN: usize = 8;
/// The longest output of a check, in characters.
const MAX_CHECK_OUTPUT_CHARS: usize = 1_000;

/// The text of a file for the participants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachmentText {
    /// Its path, from the repository's root.
    pub path: String,
    /// Its content, cleaned.
    pub text: String,
}

impl GroupDiscussion {
    /// Builds the context of this participant when it speaks now; at most `context_chars` of its budget long.
    pub fn participant_context(&self, speak: &SpeechRequest, files: &[AttachmentText]) -> String {
        let budget = self
            .order
            .terms
            .budget_for_adapter(&speak.participant.adapter);
        let mut sheet = ContextBuilder::new(&budget);
        sheet.add_section("## Topic", &to_chars(&self.order.topic, MAX_TOPIC_CHARS));
        match rules_for(self.order.terms.mode).peer_visibility() {
            PeerVisibility::Speeches => self.add_speeches(&mut sheet, speak, &budget),
            PeerVisibility::Proposals => self.add_proposals(&mut sheet, speak),
        }
        if !self.has_spoken_in_session(speak) {
            self.add_background(&mut sheet, files);
        }
        sheet.text
    }

    /// Returns whether a participant has spoken in its current session: only then it has certainly read all of it.
    fn has_spoken_in_session(&self, speak: &SpeechRequest) -> bool {
        let mut heard = self.rounds.iter().flat_map(Round::heard_speeches);
        speak.session.is_some()
            && heard.any(|speech| {
                speech.participant == speak.participant.name && speech.session == speak.session
            })
    }

    fn add_speeches(
        &self,
        sheet: &mut ContextBuilder,
        speak: &SpeechRequest,
        budget: &ContextBudget,
    ) {
        let me = speak.participant.name.as_str();
        let heard = self.speeches_heard_by(speak);
        let shares = match speak.part {
            // A moderator's closing speech is based on everything that fits.
            SpeechPart::Closing => usize::MAX,
            SpeechPart::Round => to_usize(budget.message_chars),
        };
        for (nth, speech) in heard.iter().enumerate() {
            let share = sheet.remaining_chars() / (heard.len() - nth);
            sheet.add_section_within(
                &speech_heading(speech),
                &full_speech(speech, shares),
                share,
                1,
            );
        }
        let last = heard.iter().map(|speech| speech.round).max().unwrap_or(0);
        for run in self.checks.iter().filter(|run| run.round >= last) {
            sheet.add_section(&format!("## Check {} was run", run.n), &describe_check(run));
        }
        self.add_unrun_checks(sheet, last);
        let mine = self.rounds.iter().rev().find_map(|round| round.speech(me));
        if let Some(mine) = mine.filter(|_| speak.part == SpeechPart::Round && speak.round > 1) {
            sheet.add_section(
                "## What you said last",
                &full_speech(mine, to_usize(budget.message_chars)),
            );
        }
        self.add_older_rounds(sheet, me, last, budget);
    }

    /// Returns the latest speeches of the others, by name: those of the round before or, where participants speak one
    /// by one, those of this round. For the closing speech it returns the whole last round.
    fn speeches_heard_by(&self, speak: &SpeechRequest) -> Vec<&DiscussionSpeech> {
        let is_one_by_one = self.order.terms.order == super::SpeakingOrder::Sequential;
        let from = match speak.part {
            SpeechPart::Closing => speak.round,
            SpeechPart::Round if speak.round == 1 => return Vec::new(),
            SpeechPart::Round => speak.round - 1,
        };
        let mut names: Vec<&str> = self
            .order
            .participants
            .iter()
            .map(|each| each.name.as_str())
            .filter(|name| *name != speak.participant.name)
            .collect();
        names.sort_unstable();
        let of = |name: &str| {
            let now = self.speech(speak.round, name).filter(|_| is_one_by_one);
            now.or_else(|| self.speech(from, name))
        };
        names.into_iter().filter_map(of).collect()
    }

    /// Adds older rounds in full while there is room, otherwise only the stances in them.
    fn add_older_rounds(
        &self,
        sheet: &mut ContextBuilder,
        me: &str,
        last: u32,
        budget: &ContextBudget,
    ) {
        let older: Vec<&Round> = self.rounds.iter().filter(|round| round.n < last).collect();
        if older.is_empty() {
            return;
        }
        let full = render_rounds(&older, me, |speech| {
            full_speech(speech, to_usize(budget.message_chars))
        });
        let is_compact = sheet.n_chars + full.chars().count() > to_usize(budget.compact_at_chars);
        if is_compact {
            let short = |speech: &DiscussionSpeech| short_speech(speech);
            sheet.add_section(
                "## Earlier rounds, summed up",
                &render_rounds(&older, me, short),
            );
        } else {
            sheet.add_section("## Earlier rounds", &full)
        }
    }

    /// Adds the commands that a round asked for beyond those that run.
    fn add_unrun_checks(&self, sheet: &mut ContextBuilder, round: u32) {
        let round = self.rounds.iter().find(|each| each.n == round);
        let left_out = round.map_or_else(Vec::new, |round| self.requested_checks(round));
        if !left_out.is_empty() {
            let lines = left_out
                .iter()
                .map(|(by, order)| format!("{} ({})", order.command, by.join(", ")));
            let lines: Vec<String> = lines.collect();
            sheet.add_section(
                "## Checks that were asked for beyond those that run",
                &lines.join("\n"),
            );
        }
    }

    /// Adds each proposal once, without the participants that made it.
    fn add_proposals(&self, sheet: &mut ContextBuilder, speak: &SpeechRequest) {
        if speak.round < 2 {
            return;
        }
        let own = self.speech(speak.round - 1, &speak.participant.name);
        if let Some(why) = own.and_then(|own| own.no_stance.as_ref()) {
            sheet.add_section("## Why your answer was not counted", why);
        }
        let mut tallies = self.stance_table(speak.round - 1).tallies();
        tallies.sort_by(|a, b| a.proposal.cmp(&b.proposal));
        let lines: Vec<String> = tallies
            .iter()
            .map(|tally| format!("- {}: {}", tally.proposal, tally.wording))
            .collect();
        sheet.add_section("## The proposals", &lines.join("\n"));
    }

    /// Adds the background. File names come first, so that the participant can open a file whose text is cut or left
    /// out. Where there are files, the context gets half of the room and the files share the rest.
    fn add_background(&self, sheet: &mut ContextBuilder, files: &[AttachmentText]) {
        if !files.is_empty() {
            let names: Vec<String> = files.iter().map(|file| path_label(&file.path)).collect();
            sheet.add_section(
                "## Files that were given; read in the repository what is cut here",
                &names.join("\n"),
            );
        }
        if !self.order.context.trim().is_empty() {
            let share = if files.is_empty() {
                sheet.remaining_chars()
            } else {
                sheet.remaining_chars() / 2
            };
            sheet.add_section_within("## Context", &self.order.context, share, MIN_SECTION_CHARS);
        }
        for (nth, file) in files.iter().enumerate() {
            let share = sheet.remaining_chars() / (files.len() - nth);
            let title = format!("## File {}", path_label(&file.path));
            sheet.add_section_within(&title, &file.text, share, MIN_SECTION_CHARS);
        }
    }

    /// Returns the proposal with the most supporters before a round; `None` where that is not one proposal.
    pub fn leading_proposal(&self, round: u32) -> Option<String> {
        let tallies = self.stance_table(round.saturating_sub(1)).tallies();
        let n = |at: usize| tallies.get(at).map_or(0, |tally| tally.votes_for.len());
        let first = tallies.first().filter(|_| n(0) > n(1))?;
        Some(first.wording.clone())
    }
}

/// Builds a text up to a budget.
struct ContextBuilder {
    text: String,
    n_chars: usize,
    max_chars: usize,
}

impl ContextBuilder {
    fn new(budget: &ContextBudget) -> Self {
        Self {
            text: String::new(),
            n_chars: 0,
            max_chars: to_usize(budget.context_chars),
        }
    }

    fn remaining_chars(&self) -> usize {
        self.max_chars.saturating_sub(self.n_chars)
    }

    fn add_section(&mut self, title: &str, body: &str) {
        self.add_section_within(title, body, self.remaining_chars(), MIN_SECTION_CHARS);
    }

    /// Adds as much of a body as fits into this many characters, including title and fences. Adds nothing where the
    /// room is less than the minimum.
    fn add_section_within(&mut self, title: &str, body: &str, limit: usize, least: usize) {
        let body = strip_long_backticks(body);
        let body = body.trim_end_matches(['\n', '\r']);
        let whole = render_section(title, body);
        let n_whole = whole.chars().count();
        if n_whole <= limit {
            self.n_chars += n_whole;
            self.text.push_str(&whole);
            return;
        }
        let n_body = body.chars().count();
        let around = n_whole.saturating_sub(n_body);
        let room = limit.saturating_sub(around);
        // An empty body still needs its fences, so it is left out where they do not fit.
        if room < least.min(n_body).max(1) {
            return;
        }
        let cut = render_section(title, &to_chars(body, room));
        self.n_chars += cut.chars().count();
        self.text.push_str(&cut);
    }
}

fn render_section(title: &str, body: &str) -> String {
    format!("{title}\n{}\n", fence_text(body).trim_start_matches('\n'))
}

/// Shortens long runs of backticks: otherwise the fence around the text would use up the budget.
fn strip_long_backticks(text: &str) -> String {
    let mut run = 0;
    let is_short = |c: &char| {
        run = if *c == '`' { run + 1 } else { 0 };
        run <= MAX_BACKTICK_RUN
    };
    text.chars().filter(is_short).collect()
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn speech_heading(speech: &DiscussionSpeech) -> String {
    format!("## {} in round {}", speech.participant, speech.round)
}

/// Puts the stance first, so that it is never cut, then the words.
fn full_speech(speech: &DiscussionSpeech, limit: usize) -> String {
    let words = to_chars(&speech.text, limit);
    format!("{}\n{words}", describe_stance(speech))
        .trim_end()
        .to_owned()
}

fn short_speech(speech: &DiscussionSpeech) -> String {
    full_speech(speech, MAX_SUMMARY_CHARS).replace('\n', " ")
}

/// Describes the stance of a speech, one line each.
fn describe_stance(speech: &DiscussionSpeech) -> String {
    if let Some(error) = &speech.error {
        return format!("(could not speak: {})", error.code.as_str());
    }
    let Some(stance) = &speech.stance else {
        let why = speech.no_stance.as_deref();
        return format!(
            "(no stance that counts: {})",
            why.unwrap_or("none was named")
        );
    };
    let mut lines = match stance.stance {
        super::ProposalAttitude::Abstain => "stance: abstain".to_owned(),
        attitude => format!("stance: {} on {}", attitude.as_str(), stance.proposal),
    };
    if let Some(instead) = &stance.instead {
        lines.push_str(&format!("\ninstead: {instead}"));
    }
    for point in &stance.blocking {
        lines.push_str(&format!("\nblocking: {point}"));
    }
    if let Some(why) = &stance.why_changed {
        lines.push_str(&format!("\nchanged because: {why}"));
    }
    lines
}

fn render_rounds(
    rounds: &[&Round],
    me: &str,
    words: impl Fn(&DiscussionSpeech) -> String,
) -> String {
    let mut lines = Vec::new();
    for round in rounds {
        let mut speeches: Vec<&DiscussionSpeech> = round
            .speeches
            .iter()
            .filter(|speech| speech.participant != me)
            .collect();
        speeches.sort_by(|a, b| a.participant.cmp(&b.participant));
        for speech in speeches {
            lines.push(format!(
                "{}, round {}: {}",
                speech.participant,
                round.n,
                words(speech)
            ));
        }
    }
    lines.join("\n")
}

fn describe_check(run: &CheckRun) -> String {
    let order = &run.order;
    let end = match &run.end {
        CheckOutcome::Ran { exit_code, output } => {
            let code = exit_code.map_or("was ended by a signal".to_owned(), |code| {
                format!("ended with exit status {code}")
            });
            format!("{code}\n{}", output_tail(output))
        }
        CheckOutcome::Refused { reason } => format!("may not run: {reason}"),
        CheckOutcome::Failed { reason } => format!("did not run to its end: {reason}"),
    };
    format!("{} ({})\n{end}", order.command, order.why)
}

/// Keeps the end of an output: what matters is there.
fn output_tail(output: &str) -> String {
    let n = output.chars().count();
    if n > MAX_CHECK_OUTPUT_CHARS {
        let end: String = output.chars().skip(n - MAX_CHECK_OUTPUT_CHARS).collect();
        format!("{ELLIPSIS}{end}")
    } else {
        output.to_owned()
    }
}

fn path_label(path: &str) -> String {
    path.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('`', "'")
}

#[cfg(test)]
mod tests;
