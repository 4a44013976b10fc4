//! What linear mode has printed, and the lines for what happens.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::plain_text::{signs_to_words, without_signs};
use crate::domain::event::Event;
use crate::domain::proof_progress::{ProofProgress, ProofRun};
use crate::domain::step_proof::ProofCell;
use crate::domain::turn::TurnOutcome;
use crate::tui::dialog::ComposerDraft;
use crate::tui::labels::{JUDGE_TITLE, role_title};
use crate::tui::markdown::strip_marks;
use crate::tui::read_only::ReadOnlyStatus;
use crate::tui::tab_kind::TabKind;
use crate::tui::transcript::{BlockAuthor, TranscriptNews};

/// A dialog as it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedDialog {
    pub(super) id: String,
    /// Its title and body.
    pub(super) lines: Vec<String>,
    pub(super) choices: Vec<String>,
}

/// What was printed, so that nothing is printed twice, and what the last line of the user asked for.
#[derive(Debug, Default)]
pub struct LinearView {
    /// Whether anything was printed; if not, the screen draws frames.
    pub(super) is_introduced: bool,
    /// The dialog that was printed last, while it is open.
    pub(super) dialog: Option<PrintedDialog>,
    /// The choices that a number chooses from, with their dialog's id.
    pub(super) asked: Option<(String, Vec<String>)>,
    pub(super) draft: Option<ComposerDraft>,
    /// The text in the composer, such as a quotation or a text that could not be sent.
    pub(super) prepared: String,
    pub(super) toast: Option<String>,
    pub(super) welcome_problems: Vec<String>,
    pub(super) read_only: Option<ReadOnlyStatus>,
    /// Who works on what.
    pub(super) activity: Option<String>,
    /// Whose text was printed last, if nothing came after it.
    pub(super) speaker: Option<BlockAuthor>,
    /// The block of code that an agent's text is in: whose text, the length of its fence, and what it is called.
    pub(super) fence: Option<(BlockAuthor, usize, String)>,
    /// Whether the text of the last turn ends with a question.
    pub(super) agent_asks: bool,
    /// The last line of the user, which need not be repeated.
    pub(super) typed: String,
    /// What the user asked to see.
    pub(super) wanted: Option<WantedView>,
    /// Answers to the user's last line, and ends of test runs.
    pub(super) replies: Vec<String>,
    /// Hashes of the lines that were printed since the user's last line.
    pub(super) recent: BTreeSet<u64>,
}

/// A part of the screen that the user asked to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedView {
    Tab(TabKind),
    Selection,
}

/// The backticks that start a block of code.
const MIN_FENCE_TICKS: usize = 3;

/// After that many lines, older ones may be printed again below a question.
const MAX_RECENT_LINES: usize = 10_000;

impl LinearView {
    /// Remembers printed lines, so that a question does not repeat what is right above it.
    pub(super) fn note_printed(&mut self, lines: &[String]) {
        if self.recent.len() > MAX_RECENT_LINES {
            self.recent.clear();
        }
        self.recent.extend(lines.iter().map(|line| hash_line(line)));
    }

    /// Returns whether a line was printed since the user's last line.
    pub(super) fn is_recent(&self, line: &str) -> bool {
        self.recent.contains(&hash_line(line))
    }

    /// Notes whether the agent of a turn that ended asks something. Its text comes in pieces, of which the last need not
    /// have the question.
    pub fn on_event(&mut self, event: &Event) {
        if let Event::TurnEnded { result, .. } = event {
            self.agent_asks = matches!(
                result,
                TurnOutcome::Completed {
                    question: Some(_),
                    ..
                }
            );
        }
    }

    /// Prints the end of a test run that proves a step.
    pub fn on_proof_progress(&mut self, progress: &ProofProgress) {
        // The chat says how a step's own tests ended.
        let is_in_chat = matches!(
            progress.run,
            ProofRun::Cell(ProofCell::Baseline | ProofCell::Green)
        );
        if self.is_introduced && !is_in_chat {
            let end = progress.describe_end();
            self.replies.extend(end.map(|end| signs_to_words(&end)));
        }
    }

    /// Says where a block of code starts and ends, in place of its fences.
    fn speak_fence(&mut self, author: BlockAuthor, line: String) -> String {
        let trimmed = line.trim();
        let rest = trimmed.trim_start_matches('`');
        let n_ticks = trimmed.len() - rest.len();
        match self.fence.take().filter(|(whose, ..)| *whose == author) {
            Some((_, ticks, name)) if rest.is_empty() && n_ticks >= ticks => {
                format!("End of {name}.")
            }
            Some(open) => {
                self.fence = Some(open);
                line
            }
            None if n_ticks < MIN_FENCE_TICKS || rest.contains('`') => line,
            None => {
                let (head, name) = match rest.trim() {
                    "" => ("Code:".to_owned(), "the code"),
                    info => (format!("{info}:"), info),
                };
                self.fence = Some((author, n_ticks, name.to_owned()));
                head
            }
        }
    }

    /// Returns the lines for news of the transcript.
    pub(super) fn news_lines(&mut self, news: TranscriptNews) -> Vec<String> {
        match news {
            TranscriptNews::Speech {
                author: BlockAuthor::User,
                lines,
                reason,
                ..
            } => {
                self.speaker = None;
                let text = lines.join("\n");
                let is_reason = reason.is_some_and(|reason| reason == self.typed);
                let is_typed = is_reason || !text.is_empty() && self.typed.ends_with(text.trim());
                let mut lines = if is_typed { Vec::new() } else { lines };
                if let Some(first) = lines.first_mut() {
                    *first = format!("You: {first}");
                }
                lines
            }
            TranscriptNews::Speech {
                author,
                is_judge,
                continues,
                lines,
                ..
            } => {
                let is_next = self.speaker.replace(author) == Some(author);
                let verb = if continues { "continues" } else { "says" };
                let name = if is_judge {
                    JUDGE_TITLE
                } else {
                    author_name(author)
                };
                let head = (!is_next).then(|| format!("{name} {verb}:"));
                if !continues {
                    self.fence = None;
                }
                let lines = lines.into_iter().map(|line| self.speak_fence(author, line));
                head.into_iter().chain(lines).collect()
            }
            TranscriptNews::Deed { author, mut lines } => {
                self.speaker = None;
                if let Some(first) = lines.first_mut() {
                    *first = format!("{}, {first}", author_name(author));
                }
                lines
            }
            TranscriptNews::Heading { text, of_step } => {
                self.speaker = None;
                let text = without_signs(&text);
                let lead = if of_step.is_some() { "" } else { "Phase: " };
                vec![String::new(), format!("{lead}{text}.")]
            }
            TranscriptNews::Report(lines) => {
                self.speaker = None;
                lines.iter().map(|line| without_signs(line)).collect()
            }
        }
    }
}

/// Returns the hash of a line's words: an agent writes Markdown that a question shows without its marks.
fn hash_line(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    strip_marks(line).hash(&mut hasher);
    hasher.finish()
}

fn author_name(author: BlockAuthor) -> &'static str {
    match author {
        BlockAuthor::Agent(role) => role_title(role),
        BlockAuthor::Subagent => "Agent",
        BlockAuthor::User => "You",
        BlockAuthor::TaskGiver => "Task",
        BlockAuthor::System => "agent-collab",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turn::Role;

    #[test]
    fn a_block_of_code_starts_and_ends_in_words() {
        let mut view = LinearView::default();
        let mut print = |continues: bool, lines: &[&str]| {
            view.news_lines(TranscriptNews::Speech {
                author: BlockAuthor::Agent(Role::Planner),
                is_judge: false,
                continues,
                lines: lines.iter().map(|line| (*line).to_owned()).collect(),
                reason: None,
            })
        };
        assert_eq!(
            print(false, &["Here:", "````goal.md", "# A", "```", "x"]),
            ["Planner says:", "Here:", "goal.md:", "# A", "```", "x"]
        );
        assert_eq!(print(true, &["```", "````"]), ["```", "End of goal.md."]);
        assert_eq!(
            print(false, &["```", "a `b`", "```", "```inline```"]),
            ["Code:", "a `b`", "End of the code.", "```inline```"]
        );
        // A block that was never closed ends with its text.
        assert_eq!(print(false, &["```sh"]), ["sh:"]);
        assert_eq!(print(false, &["```sh"]), ["sh:"]);
    }
}
