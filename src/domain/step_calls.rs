//! Tracks what the calls of a step's agent account for: the files that its edits name, and when its commands ran.
//!
//! A change that neither accounts for was made by something else, most likely by the user.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::{AgentActivity, CommandAccess, PathChange, ToolCallDetail, ToolKind};
use super::ids::UnixMillis;

/// How long before its report a command may have started, in milliseconds.
const START_REPORT_DELAY_MS: i64 = 2_000;

/// How long after a command's end the time of a file it wrote may be, in milliseconds.
const CLOCK_SKEW_MS: i64 = 1_000;

/// How many command times are kept; more are merged into the last one.
const MAX_COMMAND_SPANS: usize = 500;

/// What the calls of a step's agent account for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepCalls {
    /// The files that edits name, as the CLI reported them: absolute, or below the repository.
    files: BTreeSet<String>,
    /// When commands ran that are not proven to be read-only, the earliest first.
    commands: Vec<CommandSpan>,
    /// The call ids of the commands that run now.
    running: BTreeSet<String>,
}

/// A time span in which at least one command ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CommandSpan {
    /// When the first of them started.
    from: UnixMillis,
    /// When the last of them ended; `None` while one runs.
    to: Option<UnixMillis>,
}

impl StepCalls {
    /// Records what the agent did.
    pub(super) fn on_activity(&mut self, at: UnixMillis, news: &AgentActivity) {
        match news {
            AgentActivity::FilesChanged { paths, .. } => {
                let moved = paths.values().filter_map(|change| match change {
                    PathChange::Move(to) => Some(to.clone()),
                    PathChange::Add
                    | PathChange::Update
                    | PathChange::Delete
                    | PathChange::Other(_) => None,
                });
                self.files.extend(paths.keys().cloned().chain(moved));
            }
            AgentActivity::ToolStarted {
                item,
                tool,
                title,
                detail,
            } if may_write(
                tool,
                &ToolCallDetail::of_event(detail.as_ref(), tool, title),
            ) =>
            {
                self.begin_command(at, item);
            }
            AgentActivity::ToolEnded { item, .. } => self.end_command(at, item),
            AgentActivity::ToolStarted { .. }
            | AgentActivity::Text { .. }
            | AgentActivity::Thinking { .. }
            | AgentActivity::CallDenied { .. }
            | AgentActivity::Retrying { .. }
            | AgentActivity::Notice { .. }
            | AgentActivity::Silent { .. }
            | AgentActivity::Unknown { .. }
            | AgentActivity::Malformed { .. } => {}
        }
    }

    /// Records the start of something that may write any file.
    pub(super) fn begin_command(&mut self, at: UnixMillis, item: &str) {
        self.running.insert(item.to_owned());
        let is_full = self.commands.len() >= MAX_COMMAND_SPANS;
        match self.commands.last_mut() {
            Some(last)
                if is_full
                    || last
                        .to
                        .is_none_or(|to| at.0 - START_REPORT_DELAY_MS <= to.0) =>
            {
                last.to = None;
            }
            Some(_) | None => self.commands.push(CommandSpan { from: at, to: None }),
        }
    }

    pub(super) fn end_command(&mut self, at: UnixMillis, item: &str) {
        if self.running.remove(item) && self.running.is_empty() {
            self.end_all_commands(at);
        }
    }

    /// Records that nothing of the agent runs any more.
    pub(super) fn end_all_commands(&mut self, at: UnixMillis) {
        self.running.clear();
        if let Some(last) = self.commands.last_mut() {
            last.to.get_or_insert(at);
        }
    }

    /// Returns the files that edits name, as the CLI reported them.
    pub fn edited_files(&self) -> &BTreeSet<String> {
        &self.files
    }

    /// Returns whether a command may have run at this time.
    pub fn has_command_at(&self, at: UnixMillis) -> bool {
        self.commands.iter().any(|span| {
            let is_before = span.to.is_none_or(|to| at.0 <= to.0 + CLOCK_SKEW_MS);
            span.from.0 - START_REPORT_DELAY_MS <= at.0 && is_before
        })
    }

    /// Returns whether any command ran that is not proven to be read-only.
    pub fn has_commands(&self) -> bool {
        !self.commands.is_empty()
    }
}

/// Returns whether a call may write files that it does not name.
fn may_write(tool: &ToolKind, detail: &ToolCallDetail) -> bool {
    match tool {
        ToolKind::Edit | ToolKind::Read | ToolKind::Search | ToolKind::Mcp => false,
        ToolKind::Command => *detail != ToolCallDetail::Command(CommandAccess::ReadOnly),
        ToolKind::Other(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::event::ToolStatus;

    fn started(item: &str, tool: ToolKind, title: &str) -> AgentActivity {
        AgentActivity::ToolStarted {
            item: item.to_owned(),
            tool,
            title: title.to_owned(),
            detail: None,
        }
    }

    fn ended(item: &str) -> AgentActivity {
        AgentActivity::ToolEnded {
            item: item.to_owned(),
            status: ToolStatus::Completed,
            exit_code: Some(0),
            output: String::new(),
        }
    }

    /// Returns the whole seconds from 0 to 40 at which a command may have run.
    fn seconds(calls: &StepCalls) -> Vec<i64> {
        let at = |second: &i64| calls.has_command_at(UnixMillis(second * 1_000));
        (0..=40).filter(at).collect()
    }

    #[test]
    fn a_command_accounts_for_its_time_and_a_little_around_it() {
        let mut calls = StepCalls::default();
        calls.on_activity(
            UnixMillis(10_000),
            &started("a", ToolKind::Command, "make all"),
        );
        calls.on_activity(UnixMillis(12_000), &ended("a"));
        calls.on_activity(
            UnixMillis(30_000),
            &started("b", ToolKind::Command, "make all"),
        );
        calls.on_activity(
            UnixMillis(30_500),
            &started("c", ToolKind::Command, "make all"),
        );
        calls.on_activity(UnixMillis(31_000), &ended("b"));
        calls.on_activity(UnixMillis(32_000), &ended("c"));
        assert_eq!(
            seconds(&calls),
            [8, 9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 33]
        );
    }

    #[test]
    fn what_only_reads_accounts_for_nothing_and_what_never_ended_ends_with_the_turn() {
        let mut calls = StepCalls::default();
        for (tool, title) in [
            (ToolKind::Command, "cat src/lib.rs | head -n 3"),
            (ToolKind::Read, "x"),
            (ToolKind::Search, "x"),
            (ToolKind::Edit, "x"),
            (ToolKind::Mcp, "todowrite"),
        ] {
            calls.on_activity(UnixMillis(5_000), &started(title, tool, title));
        }
        assert!(!calls.has_commands());
        calls.on_activity(
            UnixMillis(20_000),
            &started("a", ToolKind::Command, "sh x.sh"),
        );
        calls.end_all_commands(UnixMillis(21_000));
        calls.on_activity(UnixMillis(40_000), &ended("a"));
        assert_eq!(seconds(&calls), [18, 19, 20, 21, 22]);
    }

    #[test]
    fn a_command_of_which_only_the_beginning_is_known_may_write() {
        for title in ["cat a.txt…", "cat a.txt …"] {
            let mut calls = StepCalls::default();
            calls.on_activity(UnixMillis(5_000), &started("a", ToolKind::Command, title));
            assert!(calls.has_commands(), "{title}");
        }
    }

    #[test]
    fn an_edit_names_its_files_and_where_they_move() {
        let mut calls = StepCalls::default();
        let paths = BTreeMap::from([
            ("/r/a".to_owned(), PathChange::Update),
            ("/r/b".to_owned(), PathChange::Move("/r/c".to_owned())),
        ]);
        calls.on_activity(
            UnixMillis(1),
            &AgentActivity::FilesChanged {
                item: "a".to_owned(),
                paths,
                diffs: BTreeMap::new(),
            },
        );
        let files: Vec<&str> = calls.edited_files().iter().map(String::as_str).collect();
        assert_eq!(files, ["/r/a", "/r/b", "/r/c"]);
    }

    #[test]
    fn many_commands_take_no_more_room_than_some() {
        let mut calls = StepCalls::default();
        for n in 0..2_000 {
            calls.begin_command(UnixMillis(n * 10_000), "a");
            calls.end_command(UnixMillis(n * 10_000 + 1), "a");
        }
        assert_eq!(calls.commands.len(), MAX_COMMAND_SPANS);
        assert!(calls.has_command_at(UnixMillis(1_999 * 10_000)));
    }
}
