//! Keeps the threads about the plan: what user, planner and reviewer say of a line, or of a finding.
//!
//! A thread keeps the words of its line, so that it is found again when lines move or are rewritten. Where nothing is like
//! them any more, the thread is stale; it is never lost.

mod thread_changes;

use serde::{Deserialize, Serialize};

pub use self::thread_changes::{
    ThreadAuthor, ThreadChanges, ThreadEntry, ThreadMessage, ThreadMove, UserNote,
};

use super::ids::TurnId;
use super::plan;
use super::turn::Role;
use crate::text::word_similarity::{collapse_white_space, word_similarity};

/// The longest message and the longest quoted line, in characters.
pub const MAX_NOTE_CHARS: usize = 4_000;
/// The most messages that one document of an agent brings; the rest is left out.
pub const MAX_SAID_AT_ONCE: usize = 40;
/// The least similarity of a line with the one that a thread was about, where it was rewritten.
const REWRITTEN_SIMILARITY: f64 = 0.5;
/// The same for the first line of a step with the same number.
const SAME_STEP_SIMILARITY: f64 = 0.3;

/// One thread. Version 0.1 kept notes of the user, which are threads with one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanThread {
    /// Its number, from 1; never reused.
    pub n: u32,
    /// The line of `plan.md` that it is about, from 1; 0 for the whole plan.
    pub line: u32,
    /// The text of that line.
    pub quote: String,
    /// Its first message, by `author`.
    pub text: String,
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub author: ThreadAuthor,
    /// What was said after the first message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ThreadMessage>,
    /// The finding that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<u32>,
    /// The version of the plan that it was opened on, counted like reviews; 0 in files of version 0.1.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub opened_in: u32,
    /// The version in which its line changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_in: Option<u32>,
    /// Whether no line of the plan is like its line any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
    /// Whether the user resolved it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_resolved: bool,
    /// Whether a reviewer's prompt contained what the user said last.
    pub reviewed: bool,
    /// The planner's turn whose prompt contained it last.
    sent: Option<TurnId>,
    /// Whether that turn has answered.
    pub answered: bool,
    /// The reviewer's turn whose prompt contained it last, once it was answered.
    #[serde(default)]
    looked_at: Option<TurnId>,
    /// Whether that turn has ended in a review: the reviewer has seen the answer.
    #[serde(default)]
    pub judged: bool,
    /// The last turn whose prompt contained it, with how many messages it had then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shown: Option<(TurnId, usize)>,
    /// How many of its messages the planner has seen.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    n_seen_by_planner: usize,
    /// How many of its messages the reviewer has seen.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    n_seen_by_reviewer: usize,
}

/// All threads of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanThreads {
    all: Vec<PlanThread>,
    n_made: u32,
}

impl PlanThreads {
    /// Returns all threads that were not removed, in the order in which they were opened.
    pub fn all(&self) -> &[PlanThread] {
        &self.all
    }

    /// Returns the thread with this number.
    pub fn get(&self, n: u32) -> Option<&PlanThread> {
        self.all.iter().find(|thread| thread.n == n)
    }

    /// Returns the threads about a finding.
    pub fn of_finding(&self, n: u32) -> impl Iterator<Item = &PlanThread> {
        let is_about = move |thread: &&PlanThread| thread.finding == Some(n);
        self.all.iter().filter(is_about)
    }

    /// Returns the threads in which the user said something that the planner has not answered yet.
    pub fn unanswered(&self) -> impl Iterator<Item = &PlanThread> {
        let unresolved = self.all.iter().filter(|thread| !thread.is_resolved);
        unresolved.filter(|thread| !thread.answered)
    }

    /// Returns the threads in which the user said something whose answer no reviewer has seen yet.
    pub fn open(&self) -> impl Iterator<Item = &PlanThread> {
        let unresolved = self.all.iter().filter(|thread| !thread.is_resolved);
        unresolved.filter(|thread| !thread.judged)
    }

    /// Returns what the next prompt of a role contains: what of the user is open for it, and what another said that it
    /// has not seen.
    pub fn for_prompt(&self, role: Role) -> impl Iterator<Item = &PlanThread> {
        self.all.iter().filter(move |thread| {
            let is_open = match role {
                Role::Planner => !thread.answered,
                Role::Reviewer => !thread.judged,
            };
            !thread.is_resolved && (is_open || thread.has_news_for(role))
        })
    }

    /// Adds what somebody says to its thread, or opens one. Returns false for one without a text, and for a thread that is
    /// not known.
    pub fn say(&mut self, entry: &ThreadEntry) -> bool {
        let text = entry.text.trim();
        let short = |text: &str| text.chars().take(MAX_NOTE_CHARS).collect::<String>();
        if text.is_empty() {
            return false;
        }
        let by_user = entry.author == ThreadAuthor::User;
        if let Some(n) = entry.thread {
            let Some(thread) = self.all.iter_mut().find(|thread| thread.n == n) else {
                return false;
            };
            thread.replies.push(ThreadMessage {
                author: entry.author,
                text: short(text),
            });
            if by_user {
                thread.await_agents();
            }
            return true;
        }
        self.n_made += 1;
        self.all.push(PlanThread {
            n: self.n_made,
            line: entry.line,
            quote: short(entry.quote.trim()),
            text: short(text),
            author: entry.author,
            replies: Vec::new(),
            finding: entry.finding,
            opened_in: entry.version,
            changed_in: None,
            is_stale: false,
            is_resolved: false,
            reviewed: false,
            sent: None,
            answered: !by_user,
            looked_at: None,
            judged: !by_user,
            shown: None,
            n_seen_by_planner: 0,
            n_seen_by_reviewer: 0,
        });
        true
    }

    /// Removes a thread; returns whether there was one with this number.
    pub fn remove(&mut self, n: u32) -> bool {
        let n_before = self.all.len();
        self.all.retain(|thread| thread.n != n);
        self.all.len() < n_before
    }

    /// Resolves a thread, which stays; returns whether there was an open one with this number.
    pub fn resolve(&mut self, n: u32) -> bool {
        let mut open = self.all.iter_mut().filter(|thread| !thread.is_resolved);
        let found = open.find(|thread| thread.n == n);
        found.map(|thread| thread.is_resolved = true).is_some()
    }

    /// Returns which threads have another line in this text of the plan, or none.
    pub fn find_moves(&self, plan: &str) -> Vec<ThreadMove> {
        let lines: Vec<&str> = plan.lines().collect();
        let with_line = self.all.iter().filter(|thread| thread.line > 0);
        with_line
            .filter_map(|thread| {
                let at = thread.find_line(&lines);
                let line = at.and_then(|at| u32::try_from(at + 1).ok());
                let quote = at.map_or("", |at| lines[at].trim());
                let is_same = match line {
                    Some(line) => {
                        !thread.is_stale
                            && line == thread.line
                            && is_same_line(quote, &thread.quote)
                    }
                    None => thread.is_stale,
                };
                (!is_same).then(|| ThreadMove {
                    n: thread.n,
                    line,
                    quote: quote.chars().take(MAX_NOTE_CHARS).collect(),
                })
            })
            .collect()
    }

    /// Applies what a document says and moves; `version` is the version of the plan from then on.
    pub fn apply(&mut self, changes: &ThreadChanges, version: u32) {
        for moved in &changes.moved {
            let Some(thread) = self.all.iter_mut().find(|thread| thread.n == moved.n) else {
                continue;
            };
            thread.is_stale = moved.line.is_none();
            let Some(line) = moved.line else {
                thread.changed_in = Some(version);
                continue;
            };
            thread.line = line;
            if !is_same_line(&moved.quote, &thread.quote) {
                thread.quote.clone_from(&moved.quote);
                thread.changed_in = Some(version);
            }
        }
        for entry in &changes.said {
            self.say(entry);
        }
        self.on_given_with_step(&changes.given_with_step);
    }

    /// Records that this turn of the reviewer has the threads in its prompt.
    pub fn on_review_prompt(&mut self, turn: &TurnId) {
        for thread in self.all.iter_mut().filter(|thread| !thread.is_resolved) {
            thread.show_to(turn);
            if !thread.judged {
                thread.reviewed = true;
                thread.looked_at = thread.answered.then(|| turn.clone());
            }
        }
    }

    /// Records that this turn of the planner has the threads in its prompt.
    pub fn on_respond_prompt(&mut self, turn: &TurnId) {
        for thread in self.all.iter_mut().filter(|thread| !thread.is_resolved) {
            thread.show_to(turn);
            if !thread.answered {
                thread.sent = Some(turn.clone());
            }
        }
    }

    /// Records that this turn of the reviewer has judged the threads in its prompt.
    pub fn on_judged(&mut self, turn: &TurnId) {
        for thread in &mut self.all {
            thread.judged |= thread.looked_at.as_ref() == Some(turn);
            if let Some(n_seen) = thread.n_shown_to(turn) {
                thread.n_seen_by_reviewer = n_seen;
            }
        }
    }

    /// Records that this turn of the planner has answered the threads in its prompt.
    pub fn on_answered(&mut self, turn: &TurnId) {
        for thread in &mut self.all {
            thread.answered |= thread.sent.as_ref() == Some(turn);
            if let Some(n_seen) = thread.n_shown_to(turn) {
                thread.n_seen_by_planner = n_seen;
            }
        }
    }

    /// Records that the prompt of a step contained what the user said last in these threads: no reviewer will judge it.
    fn on_given_with_step(&mut self, given: &[u32]) {
        let given = |thread: &&mut PlanThread| given.contains(&thread.n);
        for thread in self.all.iter_mut().filter(given) {
            (thread.answered, thread.judged) = (true, true);
        }
    }
}

impl PlanThread {
    /// Returns what was said, in order.
    pub fn messages(&self) -> impl Iterator<Item = (ThreadAuthor, &str)> {
        let replies = self.replies.iter();
        let replies = replies.map(|reply| (reply.author, reply.text.as_str()));
        std::iter::once((self.author, self.text.as_str())).chain(replies)
    }

    /// Notes that a turn's prompt has it. What only the user said so far is counted by its answer.
    fn show_to(&mut self, turn: &TurnId) {
        let has_agents = self.messages().any(|(by, _)| by != ThreadAuthor::User);
        if has_agents {
            self.shown = Some((turn.clone(), self.n_messages()));
        }
    }

    fn n_messages(&self) -> usize {
        1 + self.replies.len()
    }

    fn n_shown_to(&self, turn: &TurnId) -> Option<usize> {
        let shown = self.shown.as_ref();
        shown.filter(|(to, _)| to == turn).map(|(_, n)| *n)
    }

    /// Makes both agents get what the user said.
    fn await_agents(&mut self) {
        self.is_resolved = false;
        self.reviewed = false;
        self.answered = false;
        self.judged = false;
        self.sent = None;
        self.looked_at = None;
    }

    fn has_news_for(&self, role: Role) -> bool {
        let n_seen = match role {
            Role::Planner => self.n_seen_by_planner,
            Role::Reviewer => self.n_seen_by_reviewer,
        };
        let mut unseen = self.messages().skip(n_seen);
        // What the user said is open until it is answered and judged, which is counted on its own.
        unseen.any(|(author, _)| author != ThreadAuthor::User && author != role.into())
    }

    /// Returns whether no prompt contained it yet, so that it can still be taken back.
    pub fn is_unsent(&self) -> bool {
        self.author == ThreadAuthor::User
            && self.replies.is_empty()
            && self.sent.is_none()
            && !self.reviewed
            && !self.answered
    }

    /// Returns whether the user said something in it that no prompt contained yet.
    pub fn has_unsent_message(&self) -> bool {
        let is_new = self.sent.is_none() && !self.reviewed && !self.answered && !self.is_resolved;
        let last = self.messages().last();
        is_new && last.is_some_and(|(author, _)| author == ThreadAuthor::User)
    }

    /// Returns whether somebody said this in it, whatever the white space.
    pub fn has_message(&self, text: &str) -> bool {
        let text = collapse_white_space(text);
        let mut all = self.messages();
        all.any(|(_, said)| collapse_white_space(said) == text)
    }

    /// Describes its status for the user.
    pub fn describe_status(&self) -> &'static str {
        let is_of_agent = self
            .messages()
            .all(|(author, _)| author != ThreadAuthor::User);
        match (self.answered, self.sent.is_some(), self.reviewed) {
            _ if self.is_resolved => "resolved",
            (true, ..) if is_of_agent => "a note of an agent",
            (true, ..) if self.judged && self.looked_at.is_none() => {
                "the planner had it with a step"
            }
            (true, ..) => match (self.is_replied_to(), self.judged) {
                (true, true) => "answered by the planner, seen by the reviewer",
                (true, false) => "answered by the planner, the next review checks it",
                (false, true) => "the planner had it and said nothing here, the reviewer saw it",
                (false, false) => {
                    "the planner had it and said nothing here, the next review checks"
                }
            },
            (false, true, _) => "the planner has it",
            (false, false, true) => "the reviewer has it, the planner gets it next",
            (false, false, false) => "not sent yet, goes with the next turn",
        }
    }

    /// Returns whether the planner said something after the user did.
    fn is_replied_to(&self) -> bool {
        let by_user = |(by, _): &(ThreadAuthor, &str)| *by == ThreadAuthor::User;
        let n_before = self
            .messages()
            .collect::<Vec<_>>()
            .iter()
            .rposition(by_user);
        let mut later = self.messages().skip(n_before.unwrap_or(0));
        later.any(|(by, _)| by == ThreadAuthor::Planner)
    }

    /// Finds the line that it is about now, from 0: the nearest line with its words, else the line of its step or the one
    /// most like it.
    pub fn find_line(&self, lines: &[&str]) -> Option<usize> {
        if self.line == 0 {
            return None;
        }
        let was = usize::try_from(self.line).unwrap_or(1).saturating_sub(1);
        let words = without_tick(&self.quote);
        let same = lines.iter().enumerate();
        let same = same.filter(|(_, line)| without_tick(line) == words);
        if let Some(at) = same.map(|(at, _)| at).min_by_key(|at| at.abs_diff(was)) {
            return Some(at);
        }
        let step = plan::parse_step(&self.quote).map(|step| step.n);
        let likeness = |line: &str| {
            let is_same_step = step.is_some() && plan::parse_step(line).map(|step| step.n) == step;
            let least = if is_same_step {
                SAME_STEP_SIMILARITY
            } else {
                REWRITTEN_SIMILARITY
            };
            let likeness = word_similarity(line, &self.quote);
            let is_text = !line.trim().is_empty();
            (is_text && likeness >= least).then_some((is_same_step, likeness))
        };
        let like = lines.iter().enumerate();
        let like = like.filter_map(|(at, line)| likeness(line).map(|likeness| (at, likeness)));
        let best = like.max_by(|(one, (step, like)), (other, (other_step, other_like))| {
            let by_step = step.cmp(other_step).then(like.total_cmp(other_like));
            by_step.then(other.abs_diff(was).cmp(&one.abs_diff(was)))
        });
        best.map(|(at, _)| at)
    }
}

/// Returns whether a line is the same, apart from a tick.
fn is_same_line(one: &str, other: &str) -> bool {
    without_tick(one) == without_tick(other)
}

/// Normalizes a ticked box, so that a tick does not change the line.
fn without_tick(line: &str) -> String {
    line.trim().replacen("[x]", "[ ]", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(line: u32, quote: &str, text: &str) -> ThreadEntry {
        ThreadEntry {
            line,
            quote: quote.to_owned(),
            text: text.to_owned(),
            ..ThreadEntry::default()
        }
    }

    fn reply(thread: u32, author: ThreadAuthor, text: &str) -> ThreadEntry {
        ThreadEntry {
            thread: Some(thread),
            author,
            text: text.to_owned(),
            ..ThreadEntry::default()
        }
    }

    fn numbers<'a>(threads: impl Iterator<Item = &'a PlanThread>) -> Vec<u32> {
        threads.map(|thread| thread.n).collect()
    }

    #[test]
    fn what_the_user_says_is_open_until_the_planner_answered_it_and_a_reviewer_had_it_again() {
        let mut threads = PlanThreads::default();
        assert!(threads.say(&note(3, "1. [ ] a", "why not b?")));
        assert!(!threads.say(&note(3, "1. [ ] a", " \n")));
        threads.on_review_prompt(&TurnId::new("trn_0"));
        threads.on_judged(&TurnId::new("trn_0"));
        let (first, second) = (TurnId::new("trn_1"), TurnId::new("trn_2"));
        threads.on_respond_prompt(&first);
        assert!(threads.say(&note(4, "2. [ ] b", "later")));
        threads.on_answered(&second);
        assert_eq!(threads.unanswered().count(), 2);
        threads.on_answered(&first);
        let of = |threads: &PlanThreads| (numbers(threads.unanswered()), numbers(threads.open()));
        // Until the next review, no reviewer has judged the planner's answer.
        assert_eq!(of(&threads), (vec![2], vec![1, 2]));
        let (third, other) = (TurnId::new("trn_3"), TurnId::new("trn_4"));
        threads.on_review_prompt(&third);
        threads.on_judged(&other);
        assert_eq!(of(&threads), (vec![2], vec![1, 2]));
        threads.on_judged(&third);
        assert_eq!(of(&threads), (vec![2], vec![2]));
        assert!(
            threads.resolve(1)
                && !threads.resolve(1)
                && threads.get(1).is_some_and(|thread| thread.is_resolved)
        );
        assert!(threads.say(&note(1, "#", "again")));
        assert!(threads.remove(3) && !threads.remove(3));
        assert!(threads.say(&note(1, "#", "and again")));
        assert_eq!(threads.all().last().unwrap().n, 4, "numbers are not reused");
        // A reply of the user opens the thread for both again.
        let unsent = |threads: &PlanThreads| {
            let threads = threads.all().iter();
            numbers(threads.filter(|thread| thread.has_unsent_message()))
        };
        assert_eq!(unsent(&threads), [4]);
        assert!(threads.say(&reply(1, ThreadAuthor::User, "still?")));
        assert_eq!(unsent(&threads), [1, 4]);
        assert_eq!(of(&threads), (vec![1, 2, 4], vec![1, 2, 4]));
    }

    #[test]
    fn an_agent_gets_what_others_said_once() {
        let mut threads = PlanThreads::default();
        threads.say(&note(3, "1. [ ] a", "why not b?"));
        let turn = TurnId::new("trn_1");
        threads.on_respond_prompt(&turn);
        threads.say(&reply(1, ThreadAuthor::Planner, "b is slower"));
        threads.on_answered(&turn);
        assert_eq!(numbers(threads.for_prompt(Role::Planner)), [0; 0]);
        assert_eq!(numbers(threads.for_prompt(Role::Reviewer)), [1]);
        let turn = TurnId::new("trn_2");
        threads.on_review_prompt(&turn);
        threads.say(&reply(1, ThreadAuthor::Reviewer, "it is not"));
        threads.on_judged(&turn);
        assert_eq!(numbers(threads.for_prompt(Role::Reviewer)), [0; 0]);
        assert_eq!(numbers(threads.for_prompt(Role::Planner)), [1]);
        let turn = TurnId::new("trn_3");
        threads.on_respond_prompt(&turn);
        assert_eq!(
            numbers(threads.for_prompt(Role::Planner)),
            [1],
            "until it ends"
        );
        threads.on_answered(&turn);
        assert_eq!(numbers(threads.for_prompt(Role::Planner)), [0; 0]);
        // What an agent says of its own accord waits for nobody.
        let entry = ThreadEntry {
            author: ThreadAuthor::Reviewer,
            ..note(3, "1. [ ] a", "see main.rs")
        };
        threads.say(&entry);
        assert_eq!(numbers(threads.for_prompt(Role::Planner)), [2]);
        assert_eq!(
            (numbers(threads.unanswered()), numbers(threads.open())),
            (vec![], vec![])
        );
    }

    #[test]
    fn a_thread_follows_its_line_or_is_stale() {
        let mut threads = PlanThreads::default();
        threads.say(&note(2, "1. [ ] Cache the index", "x"));
        let find = |threads: &PlanThreads, lines: &[&str]| threads.all()[0].find_line(lines);
        assert_eq!(find(&threads, &["# T", "1. [ ] Cache the index"]), Some(1));
        assert_eq!(
            find(&threads, &["# T", "", "1. [x] Cache the index"]),
            Some(2)
        );
        let twice = ["1. [ ] Cache the index", "b", "c", "1. [ ] Cache the index"];
        assert_eq!(find(&threads, &twice), Some(0));
        let rewritten =
            "# T\n\n2. [ ] Cache the other index\n1. [ ] Cache it, at most 64 MB of the index\n";
        let moved = threads.find_moves(rewritten);
        let changes = |moved| ThreadChanges {
            moved,
            ..ThreadChanges::default()
        };
        threads.apply(&changes(moved), 2);
        let thread = &threads.all()[0];
        assert_eq!((thread.line, thread.changed_in), (4, Some(2)));
        assert!(thread.quote.contains("64 MB"), "{thread:?}");
        assert_eq!(threads.find_moves(rewritten), [], "nothing moved since");
        let moved = threads.find_moves("# T\n\nAll new.\n");
        threads.apply(&changes(moved), 3);
        let thread = &threads.all()[0];
        assert!(
            thread.is_stale && thread.quote.contains("64 MB"),
            "{thread:?}"
        );
        // The line came back.
        threads.apply(&changes(threads.find_moves(rewritten)), 4);
        assert!(!threads.all()[0].is_stale);
    }

    #[test]
    fn a_note_of_version_0_1_is_a_thread_with_one_message() {
        let stored = r#"{"all":[{"n":1,"line":3,"quote":"1. [ ] a","text":"why?","reviewed":true,"sent":"trn_4",
            "answered":true}],"n_made":1}"#;
        let threads: PlanThreads = serde_json::from_str(stored).unwrap();
        let thread = &threads.all()[0];
        let said: Vec<_> = thread.messages().collect();
        assert_eq!(said, [(ThreadAuthor::User, "why?")]);
        assert_eq!(numbers(threads.open()), [1]);
        assert_eq!(numbers(threads.unanswered()), [0; 0]);
    }
}
