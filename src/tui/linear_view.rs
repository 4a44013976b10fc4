//! Linear mode: what the screen shows, as lines of text that are printed once and never changed.
//!
//! The screen is the same, with the same dialogs and commands. `print_news` returns what has come since the last call;
//! `line_commands` takes the user's lines in place of keys.

mod dialog_lines;
mod line_commands;
mod linear_state;
mod plain_text;
mod view_lines;

pub use line_commands::LineTiming;
pub use linear_state::LinearView;
pub use plain_text::signs_to_words;

use super::Screen;
use super::labels::{describe_program_operation, turn_title};
use super::text_wrap;
use super::welcome_page::WelcomeInfo;
use crate::domain::run::{ProgramOperation, ResultValidity, RunState};
use crate::domain::turn::TurnPurpose;
use plain_text::without_signs;

/// The first lines.
const INTRODUCTION: [&str; 2] = [
    "agent-collab in linear mode: text only, line by line.",
    "Answer a question with the number of a choice. An empty line answers nothing and repeats the question. /help \
     lists the commands, /quit or the end of the input quits.",
];
/// After a view with more lines, an open question is printed again.
const MAX_VIEW_LINES: usize = 10;

/// What is to be printed now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinearOutput {
    /// Lines without line ends, cleaned of control characters.
    pub lines: Vec<String>,
    /// Whether they contain a question that was not printed before. No line that was typed earlier may answer it.
    pub asks: bool,
}

/// The screen by lines: what it prints, and what the user's lines do in place of keys.
pub struct LineInterface<'a> {
    screen: &'a mut Screen,
    state: Option<&'a RunState>,
}

impl<'a> LineInterface<'a> {
    /// Takes the screen, and the state of the run that it shows.
    pub fn new(screen: &'a mut Screen, state: Option<&'a RunState>) -> Self {
        Self { screen, state }
    }
}

impl LineInterface<'_> {
    /// Returns what is to be printed now; call it after the frame was drawn, which updates what it prints.
    pub fn print_news(&mut self) -> LinearOutput {
        let mut lines = Vec::new();
        let is_first = !std::mem::replace(&mut self.screen.linear.is_introduced, true);
        // A view of another run comes after the program's own screen.
        if is_first && !self.screen.is_read_only() {
            lines.extend(INTRODUCTION.map(str::to_owned));
        }
        self.push_read_only_note(&mut lines);
        lines.append(&mut self.screen.linear.replies);
        self.push_welcome_problems(&mut lines);
        for news in self.screen.tabs.chat.transcript.take_news() {
            lines.extend(self.screen.linear.news_lines(news));
        }
        let view = self.take_view_lines();
        let is_long_view = view.as_ref().is_some_and(|v| v.len() > MAX_VIEW_LINES);
        if let Some(view) = view {
            self.screen.linear.speaker = None;
            lines.extend(view);
        }
        self.push_toast(&mut lines);
        self.push_activity(&mut lines);
        self.screen.linear.note_printed(&lines);
        let n_before = lines.len();
        let asks = self.push_question(&mut lines);
        if is_long_view && lines.len() == n_before {
            lines.extend(self.describe_open_question());
        }
        LinearOutput { lines, asks }
    }

    fn push_read_only_note(&mut self, lines: &mut Vec<String>) {
        if self.screen.linear.read_only != self.screen.settings.read_only {
            self.screen
                .linear
                .read_only
                .clone_from(&self.screen.settings.read_only);
            let note = self.screen.settings.read_only_reason();
            lines.extend(note.map(|why| format!("{why}. /chat prints what was said.")));
        }
    }

    /// Says what is missing before a run can start.
    fn push_welcome_problems(&mut self, lines: &mut Vec<String>) {
        let missing = self.screen.run_facts.welcome.missing.iter();
        let missing: Vec<String> = missing
            .map(|one| format!("Missing: {}. {}", one.problem, one.remedy))
            .collect();
        if missing != self.screen.linear.welcome_problems {
            lines.extend(missing.iter().map(|line| text_wrap::to_one_line(line)));
            self.screen.linear.welcome_problems = missing;
        }
    }

    /// Says what was not done and why, unless a notice has just said it.
    fn push_toast(&mut self, lines: &mut Vec<String>) {
        let toast = &self.screen.toast.text;
        if *toast == self.screen.linear.toast {
            return;
        }
        self.screen.linear.toast.clone_from(toast);
        // The transcript shows paths relative to the repository.
        let root = format!("{}/", self.screen.settings.repository);
        let line = toast.as_deref().map(without_signs);
        let line = line.map(|line| line.replace(&root, ""));
        let told = lines.join(" ");
        lines.extend(line.filter(|line| !told.contains(line.as_str())));
    }

    /// Says who works on what, once for each piece of work, and what a text means while nothing runs.
    fn push_activity(&mut self, lines: &mut Vec<String>) {
        let waits = self.screen.pending_dialog(self.state).is_some();
        let (key, line) = match self.state {
            _ if self.screen.run_facts.is_quitting => return,
            // A toast says what is being started.
            None if self.screen.is_read_only() || waits || self.screen.toast.text.is_some() => {
                return;
            }
            // What a text means is said once it is known what is here.
            None if self.screen.run_facts.welcome == WelcomeInfo::default() => return,
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
                self.screen.linear.activity = None;
                return;
            }
            Some(_) => {
                let line = "Type the next goal, or a command.".to_owned();
                (line.clone(), line)
            }
            None => {
                let line = format!("Type a text. {}.", self.screen.describe_target(self.state));
                (line.clone(), line)
            }
        };
        if self.screen.linear.activity.as_ref() != Some(&key) {
            self.screen.linear.activity = Some(key);
            self.screen.linear.speaker = None;
            lines.push(line);
        }
    }
}

/// Returns who works on what, and what identifies this turn.
fn running_turn_line(state: &RunState) -> Option<(String, String)> {
    let running = state.running.as_ref()?;
    let who = turn_title(&running.order.purpose);
    let does = match running.result {
        ResultValidity::Yes => running.order.purpose.describe_progress(),
        ResultValidity::No => "is being interrupted".to_owned(),
    };
    let of = match running.order.purpose {
        TurnPurpose::Review => describe_review_place(state),
        _ => String::new(),
    };
    let line = format!("{who} {does}{of}.");
    Some((format!("{line} {}", running.started_at.0), line))
}

/// Says which review of the goal comes or runs: `, review 2 of at most 5`.
fn describe_review_place(state: &RunState) -> String {
    let review = state.verdict.as_ref().map_or(0, |last| last.iteration) + 1;
    let cap = state.iteration_limit();
    if review > cap {
        return String::new();
    }
    format!(", review {review} of at most {cap}")
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
