//! Keeps what the calls of a role's running turn show: the output of commands that only read, and the files that were
//! opened.
//!
//! It is known only to the process that saw the calls: after a restart of the program it is empty.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::adapter::{AdapterEvent, AdapterTraits};
use crate::domain::event::ToolStatus;
use crate::domain::ids::Sha256;
use crate::domain::plan::file_hash;
use crate::permission::call_reads::{ReadDepth, ReadTarget};
use crate::permission::lexical_path::lexical_absolute;
use crate::permission::read_only_prover::{list_read_targets, prints_only_what_it_opens};
use crate::permission::{AgentToolCall, prove_read_only, wildcard};
use crate::store::scoped_read::ScopedReader;
use crate::text::word_similarity::collapse_white_space;
use crate::text::{clean_to_one_line, truncate};

/// How many commands of a turn are kept.
const MAX_COMMANDS: usize = 200;
/// How much of the output of a command is kept, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// How many opened files of a turn are kept.
const MAX_OPENED_FILES: usize = 400;
/// How many lines of a search are read.
const MAX_SEARCH_LINES: usize = 5_000;
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;

/// The calls of a turn, as far as they show what is in the project.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnCalls {
    /// Calls that run now, by the CLI's id.
    running: BTreeMap<String, AgentToolCall>,
    commands: Vec<CommandRun>,
    /// Files below the root whose text was shown, with the hash of their content at that time.
    opened: BTreeMap<String, Sha256>,
}

/// A command that ran.
#[derive(Debug, Clone)]
struct CommandRun {
    /// Its text, with white space collapsed.
    line: String,
    output: String,
    /// Whether it is proven to print nothing but what it opens.
    is_reading: bool,
}

impl TurnCalls {
    /// Notes what an event of the turn's CLI says about a call.
    pub(super) fn on_event(&mut self, event: &AdapterEvent, traits: &AdapterTraits, root: &Path) {
        match event {
            AdapterEvent::ToolStarted {
                item,
                call: Some(call),
                ..
            } if self.running.len() < MAX_COMMANDS => {
                self.running.insert(item.clone(), (**call).clone());
            }
            AdapterEvent::ToolEnded {
                item,
                status,
                output,
                ..
            } => {
                let call = self.running.remove(item);
                let has_run = matches!(status, ToolStatus::Completed | ToolStatus::Failed);
                if let Some(call) = call.filter(|_| has_run) {
                    self.record_call(&call, (traits.command_output)(output), root);
                }
            }
            _ => {}
        }
    }

    fn record_call(&mut self, call: &AgentToolCall, output: &str, root: &Path) {
        match call {
            AgentToolCall::Command { line, cwd, .. } => {
                if self.commands.len() < MAX_COMMANDS {
                    self.commands.push(CommandRun {
                        line: collapse_white_space(line),
                        output: truncate::to_bytes(output, MAX_OUTPUT_BYTES),
                        is_reading: prints_only_what_it_opens(line, cwd, root),
                    });
                }
                if prove_read_only(line, cwd, root).is_ok() {
                    self.record_reads(&list_read_targets(line, cwd, root), output, root);
                }
            }
            AgentToolCall::Read { paths, search } => {
                for path in paths {
                    let path = lexical_absolute(root, path);
                    if search.is_none() || shows_lines(output, &path) {
                        self.record_file(&path, root);
                    }
                }
                if search.is_some() {
                    self.record_found_files(output, &[root.to_owned()], root);
                }
            }
            AgentToolCall::Edit { .. } | AgentToolCall::Tool { .. } => {}
        }
    }

    /// Records the files that a command shows: those it names, and those whose lines a search prints.
    fn record_reads(&mut self, targets: &[ReadTarget], output: &str, root: &Path) {
        let shown = targets
            .iter()
            .filter(|target| target.depth == ReadDepth::Contents);
        for target in shown {
            for folder in &target.folders {
                let expanded = expand_pattern(folder, target);
                // A search prints the names of the files where it gets several, and only of those it found in.
                if target.search.is_none() || expanded.len() < 2 {
                    let named = lexical_absolute(folder, Path::new(&target.text));
                    for path in expanded.iter().chain([&named]) {
                        if shows_lines(output, path) {
                            self.record_file(path, root);
                        }
                    }
                }
            }
            if target.search.is_some() {
                self.record_found_files(output, &target.folders, root);
            }
        }
    }

    /// Records the files at the beginning of a search's lines, as in `src/a.rs:3:text`.
    fn record_found_files(&mut self, output: &str, folders: &[PathBuf], root: &Path) {
        let names = output
            .lines()
            .filter_map(|line| Some(line.split_once(':')?.0));
        let names: BTreeSet<&str> = names.take(MAX_SEARCH_LINES).collect();
        for name in names {
            for folder in folders.iter().map(PathBuf::as_path).chain([root]) {
                self.record_file(&lexical_absolute(folder, Path::new(name)), root);
            }
        }
    }

    fn record_file(&mut self, path: &Path, root: &Path) {
        let below = path.strip_prefix(root).ok().and_then(Path::to_str);
        let Some(below) = below.filter(|below| clean_to_one_line(below) == **below) else {
            return;
        };
        if self.opened.len() < MAX_OPENED_FILES
            && let Some(bytes) = read_project_file(root, below)
        {
            self.opened.insert(below.to_owned(), file_hash(&bytes));
        }
    }

    /// Returns the files that were opened, with the hash of what was seen.
    pub(super) fn opened_files(&self) -> &BTreeMap<String, Sha256> {
        &self.opened
    }

    /// Returns what a command printed that the agent ran and that prints only what it opens, the last one if it ran
    /// more than once.
    pub(super) fn command_output(&self, command: &str) -> Option<&str> {
        let line = collapse_white_space(command);
        let mut runs = self.commands.iter().rev();
        let run = runs.find(|run| run.is_reading && run.line == line)?;
        Some(&run.output)
    }

    /// Returns every command that ran with what it printed, the last one first.
    pub(super) fn commands(&self) -> impl Iterator<Item = (&str, &str)> {
        let runs = self.commands.iter().rev();
        runs.map(|run| (run.line.as_str(), run.output.as_str()))
    }
}

/// Returns the paths that the shell passes to a program in place of a pattern; none where other characters than `*` and
/// `?` may have a meaning, and for git, which opens only some of the files that it is given.
fn expand_pattern(folder: &Path, target: &ReadTarget) -> Vec<PathBuf> {
    let pattern = target.text.as_str();
    let is_plain = !pattern.contains(['[', '{', '\\', '~', '$', '(']) && !pattern.contains("**");
    if !target.is_pattern || !target.is_decided_by_name || !is_plain {
        return Vec::new();
    }
    let mut found = vec![lexical_absolute(
        folder,
        Path::new(if pattern.starts_with('/') { "/" } else { "." }),
    )];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for path in found {
            if !part.contains(['*', '?']) {
                next.push(lexical_absolute(&path, Path::new(part)));
                continue;
            }
            // A linked folder may lead out of the project.
            if next.len() >= MAX_OPENED_FILES || path.is_symlink() {
                continue;
            }
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            let is_matched = |name: &String| {
                (part.starts_with('.') || !name.starts_with('.')) && wildcard::matches(part, name)
            };
            let matched = names.filter(is_matched).map(|name| path.join(name));
            next.extend(matched.take(MAX_OPENED_FILES));
        }
        next.truncate(MAX_OPENED_FILES);
        found = next;
    }
    found.retain(|path| path.exists());
    found
}

/// Returns whether an output has a line that is not only the name of the file.
fn shows_lines(output: &str, path: &Path) -> bool {
    let mut lines = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines.any(|line| !path.ends_with(line.trim_start_matches("./")))
}

/// Reads a file below the root; `None` if it is none, or too large.
pub(super) fn read_project_file(root: &Path, path: &str) -> Option<Vec<u8>> {
    let reader = ScopedReader::open(root).ok()?;
    reader.read_file(path, MAX_FILE_BYTES).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::adapter_entry;
    use crate::domain::adapter_kind::AdapterKind;
    use crate::domain::event::{ToolCallDetail, ToolKind};
    use crate::permission::SandboxReach;
    use crate::permission::call_reads::{SearchProgram, SearchScope};

    fn run_command(calls: &mut TurnCalls, kind: AdapterKind, line: &str, output: &str) {
        let (traits, root) = (adapter_entry(kind).traits, Path::new("/r"));
        let item = line.to_owned();
        let call = AgentToolCall::Command {
            line: line.to_owned(),
            cwd: root.to_owned(),
            reach: SandboxReach::Contained,
        };
        let started = AdapterEvent::ToolStarted {
            item: item.clone(),
            tool: ToolKind::Command,
            title: line.to_owned(),
            call: Some(Box::new(call)),
            detail: ToolCallDetail::of_command(line),
        };
        calls.on_event(&started, traits, root);
        let ended = AdapterEvent::ToolEnded {
            item,
            status: ToolStatus::Completed,
            exit_code: Some(0),
            output: output.to_owned(),
        };
        calls.on_event(&ended, traits, root);
    }

    #[test]
    fn what_a_reading_command_printed_is_found_by_its_text() {
        let mut calls = TurnCalls::default();
        let (codex, claude) = (AdapterKind::Codex, AdapterKind::Claude);
        run_command(&mut calls, codex, "rg  -n add src", "src/a.rs:1: fn add\n");
        run_command(&mut calls, codex, "echo src/a.rs:9", "src/a.rs:9\n");
        let nothing = "(Bash completed with no output)";
        run_command(&mut calls, claude, "rg absent src", nothing);
        run_command(&mut calls, claude, "grep -rn gone src", "Exit code 1");
        assert_eq!(
            calls.command_output("rg -n\nadd src"),
            Some("src/a.rs:1: fn add\n")
        );
        assert_eq!(calls.command_output("echo src/a.rs:9"), None);
        assert_eq!(calls.command_output("rg absent src"), Some(""));
        assert_eq!(calls.command_output("grep -rn gone src"), Some(""));
        assert_eq!(calls.command_output("cat src/a.rs"), None);
        let echoed = ("echo src/a.rs:9", "src/a.rs:9\n");
        assert!(calls.commands().any(|run| run == echoed));
    }

    fn opened_by(root: &Path, call: AgentToolCall, output: &str) -> String {
        let mut calls = TurnCalls::default();
        calls.record_call(&call, output, root);
        let opened: Vec<&str> = calls.opened_files().keys().map(String::as_str).collect();
        opened.join(" ")
    }

    #[test]
    fn a_file_is_opened_by_what_shows_its_lines() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        for name in ["src/a.rs", "src/b.rs"] {
            std::fs::write(root.join(name), "fn add() {}\n").unwrap();
        }
        let run = |line: &str, output: &str| {
            let call = AgentToolCall::Command {
                line: line.to_owned(),
                cwd: root.clone(),
                reach: SandboxReach::Contained,
            };
            opened_by(&root, call, output)
        };
        for (line, output, expected) in [
            ("cat src/a.rs", "fn add() {}\n", "src/a.rs"),
            ("cd src && sed -n 1,9p b.rs", "fn add() {}\n", "src/b.rs"),
            ("rg -n add src", "src/a.rs:1:fn add() {}\n", "src/a.rs"),
            ("rg -l add src", "src/a.rs\nsrc/b.rs\n", ""),
            ("rg -l add src/a.rs", "src/a.rs\n", ""),
            ("rg absent src/a.rs", "", ""),
            ("ls src", "a.rs\nb.rs\n", ""),
            ("cat src/*.rs", "fn add() {}\n", "src/a.rs src/b.rs"),
            (
                "cd src && head -n 3 ?.rs",
                "fn add() {}\n",
                "src/a.rs src/b.rs",
            ),
            ("sed -n 1,9p */a.rs", "fn add() {}\n", "src/a.rs"),
            ("cat 'src/*.rs'", "cat: 'src/*.rs': No such file", ""),
            ("cat src/[a].rs", "fn add() {}\n", ""),
            ("rg -n add src/*.rs", "src/b.rs:1:fn add() {}\n", "src/b.rs"),
            ("rg -n add src/a*.rs", "1:fn add() {}\n", "src/a.rs"),
            ("wc -l src/*.rs", " 1 src/a.rs\n 1 src/b.rs\n", ""),
            ("git diff -- src/*.rs", "+fn add() {}\n", ""),
            ("cat src/none.rs", "cat: src/none.rs: No such file", ""),
            ("cargo test src/a.rs", "src/a.rs:1: x", ""),
        ] {
            assert_eq!(run(line, output), expected, "{line}");
        }
        let read = |path: PathBuf, search: bool, output: &str| {
            let scope = SearchScope::everything(SearchProgram::GrepTool);
            let call = AgentToolCall::Read {
                paths: vec![path],
                search: search.then_some(scope),
            };
            opened_by(&root, call, output)
        };
        assert_eq!(
            read(root.join("src/a.rs"), false, "1\tfn add() {}"),
            "src/a.rs"
        );
        assert_eq!(
            read(root.clone(), true, "src/b.rs:1:fn add() {}"),
            "src/b.rs"
        );
        assert_eq!(read(root.clone(), true, "Found 1 file\nsrc/b.rs"), "");
        assert_eq!(read(PathBuf::from("/etc/passwd"), false, "root"), "");
    }
}
