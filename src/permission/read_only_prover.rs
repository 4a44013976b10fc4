//! Proves that a command text only reads, stays inside the root, and ends.
//!
//! This is an allow list: a program, option, redirect or path that is not listed here is not proven. Nothing is read
//! from the disk, so callers must check links themselves.

use std::ops::Range;
use std::path::Path;

use thiserror::Error;

use super::program_table::{ProgramTrait, ReaderProgram, has_trait, program_facts};
use super::shell::{
    self, AnalysisLimits, CommandInput, CommandRedirect, CommandWrapper, RedirectKind, ShellWord,
    SimpleCommand, WrapperKind,
};
use super::word_list::is_in_word_list;

mod git_prover;
mod printed_contents;
mod read_targets;
mod reader_programs;
mod script_prover;
mod simple_programs;
mod working_folders;

pub use printed_contents::prints_only_what_it_opens;
pub use read_targets::list_read_targets;
use working_folders::WorkingFolders;

/// Why a text is not proven to only read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct ReadOnlyRefusal {
    /// What is not known to only read, in a few words.
    pub reason: String,
    /// The bytes of the text that the reason is about.
    pub span: Range<usize>,
}

/// Variables that only change how output looks.
const HARMLESS_VARIABLES: &str =
    "LC_ALL LANG LC_CTYPE LC_COLLATE TZ COLUMNS NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE TERM";

/// Proves that a text only reads, inside the root, when it runs in `cwd`; both paths are absolute.
///
/// # Errors
///
/// Returns the first part that is not known to only read.
pub fn prove_read_only(text: &str, cwd: &Path, root: &Path) -> Result<(), ReadOnlyRefusal> {
    let limits = AnalysisLimits {
        max_bytes: 1 << 14,
        max_steps: 20_000,
        ..AnalysisLimits::default()
    };
    let whole = 0..text.len();
    let refused = |reason: String| ReadOnlyRefusal {
        reason,
        span: whole.clone(),
    };
    if let Some(c) = text.chars().find(|c| is_unsafe_control(*c)) {
        return Err(refused(format!(
            "the command contains the control character {}",
            c.escape_unicode()
        )));
    }
    let reading = shell::analyze_script(text, &limits);
    if !reading.doubts.is_empty() {
        return Err(refused(
            "the command cannot be analysed completely".to_owned(),
        ));
    }
    // A lone `[[ … ]]` test yields no command; substitutions inside it do yield commands.
    if reading.commands.is_empty() && !text.trim_start().starts_with("[[ ") {
        return Err(refused("an empty command".to_owned()));
    }
    let mut places = WorkingFolders::new(cwd, root);
    for simple in &reading.commands {
        let proof = ProofContext {
            text,
            commands: &reading.commands,
            folders: &places,
        };
        proof
            .prove_simple_command(simple)
            .map_err(|reason| ReadOnlyRefusal {
                reason,
                span: simple.span.clone(),
            })?;
        places.follow_cd(simple);
    }
    Ok(())
}

/// Returns whether a character is a control character (tabs and line breaks are fine) or makes a line
/// look different from what it is.
fn is_unsafe_control(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | shell::UNKNOWN_PLACEHOLDER)
}

/// Arguments that a wrapper adds to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WrapperArguments {
    Nothing,
    /// Paths that `find` prefixes with its own starting point: none of them looks like an option.
    Paths,
    Anything,
}

/// The reason why a proof fails.
type RefusalReason = String;

/// What the proof of one command depends on.
struct ProofContext<'a> {
    text: &'a str,
    commands: &'a [SimpleCommand],
    folders: &'a WorkingFolders,
}

impl ProofContext<'_> {
    fn prove_simple_command(&self, simple: &SimpleCommand) -> Result<(), RefusalReason> {
        for redirect in &simple.redirects {
            self.prove_redirect(redirect)?;
        }
        for (name, _) in &simple.assignments {
            let is_own = simple.words.is_empty()
                && !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit());
            let parts_lines = name == "IFS" && is_read_builtin(simple);
            if !is_own && !parts_lines && !is_in_word_list(HARMLESS_VARIABLES, name.as_str()) {
                return Err(format!("`{name}` may change what commands do"));
            }
        }
        let mut fed = WrapperArguments::Nothing;
        for wrapper in &simple.wrappers {
            fed = fed.max(self.prove_wrapper(wrapper, simple)?);
        }
        let Some((program, arguments)) = simple.words.split_first() else {
            return Ok(());
        };
        if !program.is_fully_known || program.is_glob {
            return Err("which program runs is not known".to_owned());
        }
        self.prove_command(&program.text, arguments, fed)
    }

    fn prove_redirect(&self, redirect: &CommandRedirect) -> Result<(), RefusalReason> {
        let target = redirect.target.text.as_str();
        match redirect.kind {
            RedirectKind::Duplicate
                if target == "-" || target.chars().all(|c| c.is_ascii_digit()) =>
            {
                Ok(())
            }
            RedirectKind::Write | RedirectKind::Append
                if matches!(target, "/dev/null" | "/dev/stderr" | "/dev/stdout") =>
            {
                Ok(())
            }
            RedirectKind::Read if target == "/dev/null" => Ok(()),
            RedirectKind::Read => self.folders.prove_path(&redirect.target),
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::ReadWrite
            | RedirectKind::Duplicate => Err(format!("a redirect to `{target}` writes")),
        }
    }

    /// Returns which arguments a wrapper adds.
    fn prove_wrapper(
        &self,
        wrapper: &CommandWrapper,
        simple: &SimpleCommand,
    ) -> Result<WrapperArguments, RefusalReason> {
        let name = wrapper.name.as_str();
        match wrapper.kind {
            WrapperKind::Known if name == "time" && time_writes_file(wrapper) => {
                Err("`time` with this option writes a file".to_owned())
            }
            WrapperKind::Known if has_trait(name, ProgramTrait::HarmlessWrapper) => {
                Ok(WrapperArguments::Nothing)
            }
            WrapperKind::Shell
                if has_trait(name, ProgramTrait::ProvenShell) && is_plain_shell(wrapper) =>
            {
                Ok(WrapperArguments::Nothing)
            }
            // A file name inside a text that a shell reads could be any command.
            WrapperKind::ForEachArgument
                if name == "find" && is_innermost_wrapper(wrapper, simple) =>
            {
                Ok(WrapperArguments::Paths)
            }
            WrapperKind::ForEachArgument if name == "xargs" => self
                .prove_xargs(wrapper, simple)
                .map(|()| WrapperArguments::Anything),
            WrapperKind::Known
            | WrapperKind::Shell
            | WrapperKind::ForEachArgument
            | WrapperKind::Privilege
            | WrapperKind::Unknown
            | WrapperKind::Remote => Err(format!("`{name}` runs other commands")),
        }
    }

    /// Requires that the names come from a program that lists files inside the root, and go to
    /// programs that no option makes write.
    fn prove_xargs(
        &self,
        wrapper: &CommandWrapper,
        simple: &SimpleCommand,
    ) -> Result<(), RefusalReason> {
        let options = [
            "-0",
            "-r",
            "-n",
            "-n1",
            "-I",
            "-I{}",
            "{}",
            "-t",
            "-d",
            "\\n",
            "-P",
            "-P4",
            "--null",
            "--no-run-if-empty",
            "-L1",
            "-L",
            "-0r",
            "-r0",
            "-I%",
            "%",
            "-i",
            "-n10",
            "-0n1",
        ];
        let is_plain = wrapper.words.iter().skip(1).all(|word| {
            options.contains(&word.text.as_str()) || word.text.chars().all(|c| c.is_ascii_digit())
        });
        if !is_plain {
            return Err("`xargs` with these options is not known to only read".to_owned());
        }
        if self
            .pipe_source(simple)
            .is_some_and(|source| self.lists_files(source, 0))
        {
            Ok(())
        } else {
            Err("the arguments of `xargs` are not known".to_owned())
        }
    }

    /// Returns the command on the other side of the pipe that `prove_xargs` reads, if only the pipe is between them.
    fn pipe_source(&self, simple: &SimpleCommand) -> Option<&SimpleCommand> {
        let own = self
            .commands
            .iter()
            .position(|other| std::ptr::eq(other, simple))?;
        let before = self.commands.get(own.checked_sub(1)?)?;
        let between = self.text.get(before.span.end..simple.span.start)?;
        (between.trim() == "|").then_some(before)
    }

    fn lists_files(&self, simple: &SimpleCommand, depth: usize) -> bool {
        let texts: Vec<&str> = simple.words.iter().map(|word| word.text.as_str()).collect();
        let has_short = |letter: char| {
            texts.iter().any(|text| {
                text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
            })
        };
        match texts.as_slice() {
            ["find" | "fd", ..] => true,
            ["git", "ls-files", ..] => true,
            ["git", "diff" | "grep", ..] => texts
                .iter()
                .any(|text| matches!(*text, "--name-only" | "-l" | "--files-with-matches")),
            ["rg", ..] => {
                texts.contains(&"--files")
                    || texts.contains(&"--files-with-matches")
                    || has_short('l')
            }
            ["grep", ..] => {
                texts.contains(&"--files-with-matches") || has_short('l') || has_short('L')
            }
            [name, ..] if depth < 4 && has_trait(name, ProgramTrait::SelectsLines) => match &simple
                .input
            {
                CommandInput::Pipe(from) => {
                    !from.is_empty()
                        && from.iter().all(|at| {
                            self.commands
                                .get(*at)
                                .is_some_and(|source| self.lists_files(source, depth + 1))
                        })
                }
                CommandInput::Nothing | CommandInput::KnownText(_) | CommandInput::Unknown => false,
            },
            _ => false,
        }
    }

    fn prove_command(
        &self,
        program: &str,
        arguments: &[ShellWord],
        fed: WrapperArguments,
    ) -> Result<(), RefusalReason> {
        if is_version_query(program, arguments) {
            return Ok(());
        }
        let Some(reader) = program_facts(program).reader() else {
            return Err(format!("`{program}` is not known to only read"));
        };
        if fed != WrapperArguments::Nothing {
            let takes_paths = fed == WrapperArguments::Paths && reader.takes_paths();
            return if reader.any_option || takes_paths {
                self.prove_with_added_arguments(reader, program, arguments)
            } else {
                Err(format!(
                    "`{program}` with arguments that are not known may do more than read"
                ))
            };
        }
        if let Some(word) = arguments.iter().find(|word| !word.is_fully_known) {
            let is_text =
                reader.takes_text_only() && !word.text.starts_with(shell::UNKNOWN_PLACEHOLDER);
            if !is_text && !reader.no_files {
                return Err(format!("an argument of `{program}` is not known"));
            }
        }
        reader.prove(program, arguments, self.folders)
    }

    /// Proves a command that `prove_xargs` completes, by its known arguments.
    fn prove_with_added_arguments(
        &self,
        reader: &ReaderProgram,
        program: &str,
        arguments: &[ShellWord],
    ) -> Result<(), RefusalReason> {
        let known: Vec<ShellWord> = arguments
            .iter()
            .filter(|word| word.is_fully_known && word.text != "{}")
            .cloned()
            .collect();
        reader.prove(program, &known, self.folders)
    }
}

fn is_read_builtin(simple: &SimpleCommand) -> bool {
    simple
        .words
        .first()
        .is_some_and(|first| first.text == "read")
}

/// `time -o file`: the shell keyword has no option but `-p`.
fn time_writes_file(wrapper: &CommandWrapper) -> bool {
    let plain = ["-p", "--", "-v", "--verbose", "--portability"];
    let mut options = wrapper.words.iter().skip(1);
    options.any(|word| !plain.contains(&word.text.as_str()))
}

/// Returns whether a wrapper runs the command directly, with no other wrapper between them.
fn is_innermost_wrapper(wrapper: &CommandWrapper, simple: &SimpleCommand) -> bool {
    let last = simple.wrappers.last();
    last.is_some_and(|last| std::ptr::eq(last, wrapper))
}

fn is_plain_shell(wrapper: &CommandWrapper) -> bool {
    wrapper.words.iter().skip(1).all(|word| {
        let text = word.text.as_str();
        !text.starts_with('-')
            || (text.len() <= 5
                && text
                    .chars()
                    .skip(1)
                    .all(|c| matches!(c, 'c' | 'l' | 'e' | 'u' | 'x')))
    })
}

fn is_version_query(program: &str, arguments: &[ShellWord]) -> bool {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    has_trait(program, ProgramTrait::TellsVersion)
        && matches!(texts.as_slice(), ["--version" | "-V" | "-version"] | ["-v"])
        && !(texts == ["-v"] && has_trait(program, ProgramTrait::VerboseV))
        || (has_trait(program, ProgramTrait::VersionWord) && texts == ["version"])
}

#[cfg(test)]
mod tests;
