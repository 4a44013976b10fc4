//! Linear mode: what the screen shows, as lines of text that are printed once and never changed.
//!
//! The screen is the same, with the same dialogs and commands. `print_news` returns what has come since the last call;
//! `line_commands` takes the user's lines in place of keys.

mod dialog_lines;
mod line_commands;
mod plain_text;
mod view_lines;

pub use line_commands::LineTiming;

use super::Screen;
use super::activity_text::describe_program_operation;
use super::dialog::ComposerDraft;
use super::labels::role_title;
use super::read_only::ReadOnlyStatus;
use super::tabs::TabKind;
use super::transcript::{BlockAuthor, TranscriptNews};
use super::welcome_page::WelcomeInfo;
use super::{composer_target, text_wrap};
use crate::domain::proof_progress::ProofProgress;
use crate::domain::run::{ProgramOperation, ResultValidity, RunState};
use dialog_lines::PrintedDialog;
use plain_text::{signs_to_words, without_signs};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The first lines.
const INTRODUCTION: [&str; 2] = [
    "agent-collab in linear mode: text only, line by line.",
    "Answer a question with the number of a choice. /help lists the commands, /quit or the end of the input quits.",
];

/// What is to be printed now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinearOutput {
    /// Lines without line ends, cleaned of control characters.
    pub lines: Vec<String>,
    /// Whether they contain a question that was not printed before. No line that was typed earlier may answer it.
    pub asks: bool,
}

/// What was printed, so that nothing is printed twice, and what the last line of the user asked for.
#[derive(Debug, Default)]
pub struct LinearView {
    /// Whether anything was printed; if not, the screen draws frames.
    is_introduced: bool,
    /// The dialog that was printed last, while it is open.
    dialog: Option<PrintedDialog>,
    /// The choices that a number chooses from, with their dialog's id.
    asked: Option<(String, Vec<String>)>,
    draft: Option<ComposerDraft>,
    /// The text in the composer, such as a quotation or a text that could not be sent.
    prepared: String,
    toast: Option<String>,
    welcome_problems: Vec<String>,
    read_only: Option<ReadOnlyStatus>,
    /// Who works on what.
    activity: Option<String>,
    /// Whose text was printed last, if nothing came after it.
    speaker: Option<BlockAuthor>,
    /// The last line of the user, which need not be repeated.
    typed: String,
    /// What the user asked to see.
    wanted: Option<WantedView>,
    /// Answers to the user's last line, and ends of test runs.
    replies: Vec<String>,
    /// Hashes of the lines that were printed since the user's last line.
    recent: BTreeSet<u64>,
}

/// A part of the screen that the user asked to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WantedView {
    Tab(TabKind),
    Selection,
}

/// After that many lines, older ones may be printed again below a question.
const MAX_RECENT_LINES: usize = 10_000;

impl LinearView {
    /// Remembers printed lines, so that a question does not repeat what is right above it.
    fn note_printed(&mut self, lines: &[String]) {
        if self.recent.len() > MAX_RECENT_LINES {
            self.recent.clear();
        }
        self.recent.extend(lines.iter().map(|line| hash_line(line)));
    }

    /// Returns whether a line was printed since the user's last line.
    fn is_recent(&self, line: &str) -> bool {
        self.recent.contains(&hash_line(line))
    }

    /// Prints the end of a test run that proves a step.
    pub fn on_proof_progress(&mut self, progress: &ProofProgress) {
        if self.is_introduced {
            let end = progress.describe_end();
            self.replies.extend(end.map(|end| signs_to_words(&end)));
        }
    }

    /// Returns the lines for news of the transcript.
    fn news_lines(&mut self, news: TranscriptNews) -> Vec<String> {
        match news {
            TranscriptNews::Speech {
                author: BlockAuthor::User,
                lines,
                ..
            } => {
                self.speaker = None;
                let text = lines.join("\n");
                let is_reason = text.starts_with("Denied ")
                    && !self.typed.is_empty()
                    && text.ends_with(&format!(": {}", self.typed));
                // The call says that it was denied, and why.
                let is_typed = is_reason || !text.is_empty() && self.typed.ends_with(text.trim());
                let mut lines = if is_typed { Vec::new() } else { lines };
                if let Some(first) = lines.first_mut() {
                    *first = format!("You: {first}");
                }
                lines
            }
            TranscriptNews::Speech {
                author,
                continues,
                lines,
            } => {
                let is_next = self.speaker.replace(author) == Some(author);
                let verb = if continues { "continues" } else { "says" };
                let head = (!is_next).then(|| format!("{} {verb}:", author_name(author)));
                head.into_iter().chain(lines).collect()
            }
            TranscriptNews::Deed { author, mut lines } => {
                self.speaker = None;
                if let Some(first) = lines.first_mut() {
                    *first = format!("{}, {first}", author_name(author));
                }
                lines
            }
            TranscriptNews::Heading(text) => {
                self.speaker = None;
                let text = without_signs(&text);
                // The other headings are those of steps.
                let is_step = text.starts_with("Step ") || text == "Summary";
                let lead = if is_step { "" } else { "Phase: " };
                vec![String::new(), format!("{lead}{text}.")]
            }
            TranscriptNews::Report(lines) => {
                self.speaker = None;
                lines.iter().map(|line| without_signs(line)).collect()
            }
        }
    }
}

fn hash_line(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.trim().hash(&mut hasher);
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

impl Screen {
    /// Returns what is to be printed now; call it after the frame was drawn, which updates what it prints.
    pub fn print_news(&mut self, state: Option<&RunState>) -> LinearOutput {
        let mut lines = Vec::new();
        let is_first = !std::mem::replace(&mut self.linear.is_introduced, true);
        // A view of another run comes after the program's own screen.
        if is_first && !self.is_read_only() {
            lines.extend(INTRODUCTION.map(str::to_owned));
        }
        self.push_read_only_note(&mut lines);
        lines.append(&mut self.linear.replies);
        self.push_welcome_problems(&mut lines);
        for news in self.tabs.chat.transcript.take_news() {
            lines.extend(self.linear.news_lines(news));
        }
        if let Some(view) = self.take_view_lines(state) {
            self.linear.speaker = None;
            lines.extend(view);
        }
        self.push_toast(&mut lines);
        self.push_activity(&mut lines, state);
        self.linear.note_printed(&lines);
        let asks = self.push_question(&mut lines, state);
        LinearOutput { lines, asks }
    }

    fn push_read_only_note(&mut self, lines: &mut Vec<String>) {
        if self.linear.read_only != self.settings.read_only {
            self.linear.read_only.clone_from(&self.settings.read_only);
            let note = self.settings.read_only_reason();
            lines.extend(note.map(|why| format!("{why}. /chat prints what was said.")));
        }
    }

    /// Says what is missing before a run can start.
    fn push_welcome_problems(&mut self, lines: &mut Vec<String>) {
        let missing = self.run_facts.welcome.missing.iter();
        let missing: Vec<String> = missing
            .map(|one| format!("Missing: {}. {}", one.problem, one.remedy))
            .collect();
        if missing != self.linear.welcome_problems {
            lines.extend(missing.iter().map(|line| text_wrap::to_one_line(line)));
            self.linear.welcome_problems = missing;
        }
    }

    /// Says what was not done and why, unless a notice has just said it.
    fn push_toast(&mut self, lines: &mut Vec<String>) {
        let toast = &self.toast.text;
        if *toast == self.linear.toast {
            return;
        }
        self.linear.toast.clone_from(toast);
        // The transcript shows paths relative to the repository.
        let root = format!("{}/", self.settings.repository);
        let line = toast.as_deref().map(without_signs);
        let line = line.map(|line| line.replace(&root, ""));
        let told = lines.join(" ");
        lines.extend(line.filter(|line| !told.contains(line.as_str())));
    }

    /// Says who works on what, once for each piece of work, and what a text means while nothing runs.
    fn push_activity(&mut self, lines: &mut Vec<String>, state: Option<&RunState>) {
        let waits = self.pending_dialog(state).is_some();
        let (key, line) = match state {
            _ if self.run_facts.is_quitting => return,
            // A toast says what is being started.
            None if self.is_read_only() || waits || self.toast.text.is_some() => return,
            // What a text means is said once it is known what is here.
            None if self.run_facts.welcome == WelcomeInfo::default() => return,
            Some(state) if state.running.is_some() => match running_turn_line(state) {
                Some(found) => found,
                None => return,
            },
            Some(state) if state.busy.is_some() => match state.busy.as_ref() {
                Some(busy) if is_long(busy) => {
                    let line = format!("{}.", describe_program_operation(busy, state));
                    (line.clone(), line)
                }
                _ => return,
            },
            Some(state) if waits || !state.phase.is_final() => {
                self.linear.activity = None;
                return;
            }
            _ => {
                let line = format!("Type a text. {}.", self.describe_text_target(state));
                (line.clone(), line)
            }
        };
        if self.linear.activity.as_ref() != Some(&key) {
            self.linear.activity = Some(key);
            self.linear.speaker = None;
            lines.push(line);
        }
    }

    /// Says what a text does that is no number and no command.
    fn describe_text_target(&self, state: Option<&RunState>) -> String {
        let known = self.dialog_context();
        let target = composer_target::composer_target(state, self.composer.draft, &known);
        composer_target::target_label(&target, self.other_refiner(state), self.keymap())
    }
}

/// Returns who works on what, and what identifies this turn.
fn running_turn_line(state: &RunState) -> Option<(String, String)> {
    let running = state.running.as_ref()?;
    let who = role_title(running.order.purpose.role());
    let does = match running.result {
        ResultValidity::Yes => running.order.purpose.describe_progress(),
        ResultValidity::No => "is being interrupted".to_owned(),
    };
    let line = format!("{who} {does}.");
    Some((format!("{line} {}", running.started_at.0), line))
}

/// Returns whether an operation of the program takes long enough to be told.
fn is_long(busy: &ProgramOperation) -> bool {
    matches!(
        busy,
        ProgramOperation::Baseline
            | ProgramOperation::Moving { .. }
            | ProgramOperation::Reversing { .. }
    )
}
