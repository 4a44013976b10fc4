//! What a participant is told of the discussion: the topic always, then what was said last, then its own last words,
//! then what was said before, and never more than its budget.
//!
//! All of it is data between fences that nothing in it can close. Who said what is told in the order of the names, without
//! votes counted and without confidence, so that nobody leans on numbers. Refuses to know how a participant is told
//! what to do.

use super::mode::{Hearing, rules};
use super::{Budget, CheckEnd, CheckRun, GroupDiscussion, Part, Round, Speak, Speech};
use crate::text::fenced_block::fence_text;
use crate::text::truncate::{ELLIPSIS, to_chars};

/// The longest topic, in characters: it fits into the smallest budget.
pub const MAX_TOPIC: usize = 1_000;
/// The longest text that stands for a speech of an older round, in characters.
const MAX_SUMMARY: usize = 160;
/// A piece shorter than this is left out rather than cut, in characters.
const SHORTEST: usize = 60;
/// The longest run of backticks that is told.
const LONGEST_RUN: usize = 8;
/// The longest output of a check, in characters.
const MAX_OUTPUT: usize = 1_000;

/// The text of a file that participants are given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Its path, from the repository's root.
    pub path: String,
    /// What it says, cleaned.
    pub text: String,
}

impl GroupDiscussion {
    /// What this participant is told of the discussion when it speaks now; at most its budget's `context_chars` long.
    pub fn context_for(&self, speak: &Speak, files: &[SourceText]) -> String {
        let budget = self.order.terms.budget_at(&speak.participant.adapter);
        let mut sheet = Sheet::new(&budget);
        sheet.add("## Topic", &to_chars(&self.order.topic, MAX_TOPIC));
        match rules(self.order.terms.mode).hearing() {
            Hearing::Speeches => self.add_speeches(&mut sheet, speak, &budget),
            Hearing::Proposals => self.add_proposals(&mut sheet, speak),
        }
        if !self.has_been_told(speak) {
            self.add_background(&mut sheet, files);
        }
        sheet.text
    }

    /// Tells whether a participant has spoken in the session that it has now: only then has it surely read all of it.
    fn has_been_told(&self, speak: &Speak) -> bool {
        let mut heard = self.rounds.iter().flat_map(Round::heard);
        speak.session.is_some()
            && heard.any(|speech| {
                speech.participant == speak.participant.name && speech.session == speak.session
            })
    }

    fn add_speeches(&self, sheet: &mut Sheet, speak: &Speak, budget: &Budget) {
        let me = speak.participant.name.as_str();
        let heard = self.heard_by(speak);
        let shares = match speak.part {
            // Whoever rules reads all there is room for.
            Part::Closing => usize::MAX,
            Part::Round => chars(budget.message_chars),
        };
        for (nth, speech) in heard.iter().enumerate() {
            let share = sheet.room() / (heard.len() - nth);
            sheet.add_within(&headline(speech), &in_full(speech, shares), (share, 1));
        }
        let last = heard.iter().map(|speech| speech.round).max().unwrap_or(0);
        for run in self.checks.iter().filter(|run| run.round >= last) {
            sheet.add(&format!("## Check {} was run", run.n), &told(run));
        }
        self.add_left_out(sheet, last);
        let mine = self.rounds.iter().rev().find_map(|round| round.speech(me));
        if let Some(mine) = mine.filter(|_| speak.part == Part::Round && speak.round > 1) {
            sheet.add(
                "## What you said last",
                &in_full(mine, chars(budget.message_chars)),
            );
        }
        self.add_older(sheet, (me, last), budget);
    }

    /// What the others said last, by name: in the round before, or in this one where they spoke one by one. For the
    /// last word it is the whole round that was spoken last.
    fn heard_by(&self, speak: &Speak) -> Vec<&Speech> {
        let is_one_by_one = self.order.terms.order == super::Order::Sequential;
        let from = match speak.part {
            Part::Closing => speak.round,
            Part::Round if speak.round == 1 => return Vec::new(),
            Part::Round => speak.round - 1,
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

    /// Older rounds in full while there is room, else what was stood for in them.
    fn add_older(&self, sheet: &mut Sheet, (me, last): (&str, u32), budget: &Budget) {
        let older: Vec<&Round> = self.rounds.iter().filter(|round| round.n < last).collect();
        if older.is_empty() {
            return;
        }
        let full = render(&older, me, |speech| {
            in_full(speech, chars(budget.message_chars))
        });
        let is_compact = sheet.n + full.chars().count() > chars(budget.compact_at_chars);
        match is_compact {
            true => {
                let short = |speech: &Speech| in_short(speech);
                sheet.add("## Earlier rounds, summed up", &render(&older, me, short));
            }
            false => sheet.add("## Earlier rounds", &full),
        }
    }

    /// The commands that a round asked for beyond those that run.
    fn add_left_out(&self, sheet: &mut Sheet, round: u32) {
        let round = self.rounds.iter().find(|each| each.n == round);
        let left_out = round.map_or_else(Vec::new, |round| self.wanted(round));
        if !left_out.is_empty() {
            let lines = left_out
                .iter()
                .map(|(by, order)| format!("{} ({})", order.command, by.join(", ")));
            let lines: Vec<String> = lines.collect();
            sheet.add(
                "## Checks that were asked for beyond those that run",
                &lines.join("\n"),
            );
        }
    }

    /// Which proposals there are, each once, and nothing of who made them.
    fn add_proposals(&self, sheet: &mut Sheet, speak: &Speak) {
        if speak.round < 2 {
            return;
        }
        let own = self.speech(speak.round - 1, &speak.participant.name);
        if let Some(why) = own.and_then(|own| own.no_stance.as_ref()) {
            sheet.add("## Why your answer was not counted", why);
        }
        let mut tallies = self.standings(speak.round - 1).tallies();
        tallies.sort_by(|a, b| a.proposal.cmp(&b.proposal));
        let lines: Vec<String> = tallies
            .iter()
            .map(|tally| format!("- {}: {}", tally.proposal, tally.wording))
            .collect();
        sheet.add("## The proposals", &lines.join("\n"));
    }

    /// What was given: the names of the files first, so that what is cut or left out can be read where it lies; then
    /// the context in half of the room where there are files, and they share the rest.
    fn add_background(&self, sheet: &mut Sheet, files: &[SourceText]) {
        if !files.is_empty() {
            let names: Vec<String> = files.iter().map(|file| one_word(&file.path)).collect();
            sheet.add(
                "## Files that were given; read in the repository what is cut here",
                &names.join("\n"),
            );
        }
        if !self.order.context.trim().is_empty() {
            let share = match files.is_empty() {
                true => sheet.room(),
                false => sheet.room() / 2,
            };
            sheet.add_within("## Context", &self.order.context, (share, SHORTEST));
        }
        for (nth, file) in files.iter().enumerate() {
            let share = sheet.room() / (files.len() - nth);
            let title = format!("## File {}", one_word(&file.path));
            sheet.add_within(&title, &file.text, (share, SHORTEST));
        }
    }

    /// The proposal that most are for before a round; `None` where that is not one.
    pub fn leading(&self, round: u32) -> Option<String> {
        let tallies = self.standings(round.saturating_sub(1)).tallies();
        let n = |at: usize| tallies.get(at).map_or(0, |tally| tally.votes_for.len());
        let first = tallies.first().filter(|_| n(0) > n(1))?;
        Some(first.wording.clone())
    }
}

/// A text that grows up to a budget.
struct Sheet {
    text: String,
    n: usize,
    budget: usize,
}

impl Sheet {
    fn new(budget: &Budget) -> Self {
        Self {
            text: String::new(),
            n: 0,
            budget: chars(budget.context_chars),
        }
    }

    fn room(&self) -> usize {
        self.budget.saturating_sub(self.n)
    }

    fn add(&mut self, title: &str, body: &str) {
        self.add_within(title, body, (self.room(), SHORTEST));
    }

    /// Adds as much of a body as fits into this many characters, title and fences with it; nothing where that is less
    /// than the least.
    fn add_within(&mut self, title: &str, body: &str, (limit, least): (usize, usize)) {
        let body = without_long_fences(body);
        let body = body.trim_end_matches(['\n', '\r']);
        let whole = piece(title, body);
        let n_whole = whole.chars().count();
        if n_whole <= limit {
            self.n += n_whole;
            self.text.push_str(&whole);
            return;
        }
        let n_body = body.chars().count();
        let around = n_whole.saturating_sub(n_body);
        let room = limit.saturating_sub(around);
        // Nothing to be cut is no reason to write its fences where there is no room for them.
        if room < least.min(n_body).max(1) {
            return;
        }
        let cut = piece(title, &to_chars(body, room));
        self.n += cut.chars().count();
        self.text.push_str(&cut);
    }
}

fn piece(title: &str, body: &str) -> String {
    format!("{title}\n{}\n", fence_text(body).trim_start_matches('\n'))
}

/// A text in which no run of backticks is so long that the fence around it would eat up a budget.
fn without_long_fences(text: &str) -> String {
    let mut run = 0;
    let is_short = |c: &char| {
        run = if *c == '`' { run + 1 } else { 0 };
        run <= LONGEST_RUN
    };
    text.chars().filter(is_short).collect()
}

fn chars(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn headline(speech: &Speech) -> String {
    format!("## {} in round {}", speech.participant, speech.round)
}

/// The stance first, so that it is never cut, then the words.
fn in_full(speech: &Speech, limit: usize) -> String {
    let words = to_chars(&speech.text, limit);
    format!("{}\n{words}", stood_for(speech))
        .trim_end()
        .to_owned()
}

fn in_short(speech: &Speech) -> String {
    in_full(speech, MAX_SUMMARY).replace('\n', " ")
}

/// What a speech stands for, a line each.
fn stood_for(speech: &Speech) -> String {
    if let Some(error) = &speech.error {
        return format!("(could not speak: {})", error.code.code());
    }
    let Some(stance) = &speech.stance else {
        let why = speech.no_stance.as_deref();
        return format!(
            "(no stance that counts: {})",
            why.unwrap_or("none was named")
        );
    };
    let mut lines = match stance.stance {
        super::Attitude::Abstain => "stance: abstain".to_owned(),
        attitude => format!("stance: {} on {}", attitude.name(), stance.proposal),
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

fn render(rounds: &[&Round], me: &str, words: impl Fn(&Speech) -> String) -> String {
    let mut lines = Vec::new();
    for round in rounds {
        let mut speeches: Vec<&Speech> = round
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

fn told(run: &CheckRun) -> String {
    let order = &run.order;
    let end = match &run.end {
        CheckEnd::Ran { exit_code, output } => {
            let code = exit_code.map_or("was ended by a signal".to_owned(), |code| {
                format!("ended with exit status {code}")
            });
            format!("{code}\n{}", tail(output))
        }
        CheckEnd::Refused { reason } => format!("may not run: {reason}"),
        CheckEnd::Failed { reason } => format!("did not run to its end: {reason}"),
    };
    format!("{} ({})\n{end}", order.command, order.why)
}

/// The end of an output: what matters stands there.
fn tail(output: &str) -> String {
    let n = output.chars().count();
    match n > MAX_OUTPUT {
        true => {
            let end: String = output.chars().skip(n - MAX_OUTPUT).collect();
            format!("{ELLIPSIS}{end}")
        }
        false => output.to_owned(),
    }
}

fn one_word(path: &str) -> String {
    path.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('`', "'")
}

#[cfg(test)]
mod tests;
