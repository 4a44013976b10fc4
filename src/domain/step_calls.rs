//! What the calls of a step's agent account for: the files that its edits name, and when its commands ran.
//!
//! A change that neither accounts for is somebody else's, most likely the user's.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::event::News;
use super::ids::At;
use crate::permission::prove_read_only;
use crate::text::truncate::ELLIPSIS;

/// What stands before the new name of a file that a call moves, in [`News::FilesChanged`].
pub const MOVE_TO: &str = "move to ";

/// A command may start this long before this program hears of it, in milliseconds.
const HEARD_LATE: i64 = 2_000;

/// A file that a command wrote may carry a time this long after the command's end, in milliseconds.
const CLOCKS_DIFFER: i64 = 1_000;

/// How many times of commands are kept; more are joined to the last one.
const MAX_SPANS: usize = 500;

/// What the calls of a step's agent account for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepCalls {
    /// The files that edits name, as the CLI told them: absolute, or below the repository.
    files: BTreeSet<String>,
    /// When commands ran that are not proven to only read, the earliest first.
    commands: Vec<CommandSpan>,
    /// The commands that run, by their calls.
    running: BTreeSet<String>,
}

/// A time in which at least one command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CommandSpan {
    /// When the first of them began.
    from: At,
    /// When the last of them ended; `None` while one runs.
    to: Option<At>,
}

impl StepCalls {
    /// Takes in what the agent did.
    pub(super) fn on_news(&mut self, at: At, news: &News) {
        match news {
            News::FilesChanged { paths, .. } => {
                let moved = paths.values().filter_map(|what| what.strip_prefix(MOVE_TO));
                self.files.extend(paths.keys().cloned());
                self.files.extend(moved.map(str::to_owned));
            }
            News::ToolStarted { item, tool, title } if may_write(tool, title) => {
                self.begin(at, item);
            }
            News::ToolEnded { item, .. } => self.end(at, item),
            News::ToolStarted { .. }
            | News::Text { .. }
            | News::Thinking { .. }
            | News::CallDenied { .. }
            | News::Retrying { .. }
            | News::Notice { .. }
            | News::Silent { .. }
            | News::Unknown { .. }
            | News::Malformed { .. } => {}
        }
    }

    /// Notes that something begins that may write any file.
    pub(super) fn begin(&mut self, at: At, item: &str) {
        self.running.insert(item.to_owned());
        let is_full = self.commands.len() >= MAX_SPANS;
        match self.commands.last_mut() {
            Some(last) if is_full || last.to.is_none_or(|to| at.0 - HEARD_LATE <= to.0) => {
                last.to = None;
            }
            Some(_) | None => self.commands.push(CommandSpan { from: at, to: None }),
        }
    }

    /// Notes that it ended.
    pub(super) fn end(&mut self, at: At, item: &str) {
        if self.running.remove(item) && self.running.is_empty() {
            self.end_all(at);
        }
    }

    /// Notes that nothing of the agent runs any more.
    pub(super) fn end_all(&mut self, at: At) {
        self.running.clear();
        if let Some(last) = self.commands.last_mut() {
            last.to.get_or_insert(at);
        }
    }

    /// The files that edits name, as the CLI told them.
    pub fn files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Tells whether a command may have run at this time.
    pub fn has_command_at(&self, at: At) -> bool {
        self.commands.iter().any(|span| {
            let is_before = span.to.is_none_or(|to| at.0 <= to.0 + CLOCKS_DIFFER);
            span.from.0 - HEARD_LATE <= at.0 && is_before
        })
    }

    /// Tells whether any command ran that is not proven to only read.
    pub fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }
}

/// Tells whether a call may write files that nothing names.
fn may_write(tool: &str, title: &str) -> bool {
    match tool {
        "edit" | "read" | "search" | "mcp" => false,
        // What was cut off, further lines of a script for example, may write.
        "command" if title.ends_with(ELLIPSIS) => true,
        "command" => prove_read_only(title, Path::new("/"), Path::new("/")).is_err(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn started(item: &str, tool: &str, title: &str) -> News {
        News::ToolStarted {
            item: item.to_owned(),
            tool: tool.to_owned(),
            title: title.to_owned(),
        }
    }

    fn ended(item: &str) -> News {
        News::ToolEnded {
            item: item.to_owned(),
            status: "completed".to_owned(),
            exit_code: Some(0),
            output: String::new(),
        }
    }

    /// The whole seconds from 0 to 40 at which a command may have run.
    fn seconds(calls: &StepCalls) -> Vec<i64> {
        let at = |second: &i64| calls.has_command_at(At(second * 1_000));
        (0..=40).filter(at).collect()
    }

    #[test]
    fn a_command_accounts_for_its_time_and_a_little_around_it() {
        let mut calls = StepCalls::default();
        calls.on_news(At(10_000), &started("a", "command", "make all"));
        calls.on_news(At(12_000), &ended("a"));
        calls.on_news(At(30_000), &started("b", "command", "make all"));
        calls.on_news(At(30_500), &started("c", "command", "make all"));
        calls.on_news(At(31_000), &ended("b"));
        calls.on_news(At(32_000), &ended("c"));
        assert_eq!(
            seconds(&calls),
            [8, 9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 33]
        );
    }

    #[test]
    fn what_only_reads_accounts_for_nothing_and_what_never_ended_ends_with_the_turn() {
        let mut calls = StepCalls::default();
        for (tool, title) in [
            ("command", "cat src/lib.rs | head -n 3"),
            ("read", "x"),
            ("search", "x"),
            ("edit", "x"),
            ("mcp", "todowrite"),
        ] {
            calls.on_news(At(5_000), &started(title, tool, title));
        }
        assert!(!calls.has_commands());
        calls.on_news(At(20_000), &started("a", "command", "sh x.sh"));
        calls.end_all(At(21_000));
        calls.on_news(At(40_000), &ended("a"));
        assert_eq!(seconds(&calls), [18, 19, 20, 21, 22]);
    }

    #[test]
    fn a_command_of_which_only_the_beginning_is_known_may_write() {
        for title in ["cat a.txt…", "cat a.txt …"] {
            let mut calls = StepCalls::default();
            calls.on_news(At(5_000), &started("a", "command", title));
            assert!(calls.has_commands(), "{title}");
        }
    }

    #[test]
    fn an_edit_names_its_files_and_where_they_move() {
        let mut calls = StepCalls::default();
        let paths = BTreeMap::from([
            ("/r/a".to_owned(), "update".to_owned()),
            ("/r/b".to_owned(), "move to /r/c".to_owned()),
        ]);
        calls.on_news(
            At(1),
            &News::FilesChanged {
                item: "a".to_owned(),
                paths,
                diffs: BTreeMap::new(),
            },
        );
        let files: Vec<&str> = calls.files().iter().map(String::as_str).collect();
        assert_eq!(files, ["/r/a", "/r/b", "/r/c"]);
    }

    #[test]
    fn many_commands_take_no_more_room_than_some() {
        let mut calls = StepCalls::default();
        for n in 0..2_000 {
            calls.begin(At(n * 10_000), "a");
            calls.end(At(n * 10_000 + 1), "a");
        }
        assert_eq!(calls.commands.len(), MAX_SPANS);
        assert!(calls.has_command_at(At(1_999 * 10_000)));
    }
}
