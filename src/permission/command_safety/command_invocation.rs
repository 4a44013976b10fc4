//! One simple command as the classifier sees it: the program by its plain name, and its arguments split.
//!
//! Nothing is judged here.

use std::borrow::Cow;

use crate::permission::program_table::{ProgramTrait, has_trait, program_facts, resolve_alias};
use crate::permission::shell::{ShellWord, SimpleCommand, WrapperKind};

use super::command_arguments::CommandArguments;

/// A simple command with its program and split arguments.
pub struct CommandInvocation<'a> {
    /// Its plain name: no folder, no `.exe`, no version, lower case.
    pub program: String,
    /// All words, the program first.
    pub words: &'a [ShellWord],
    /// The words after the program, split.
    pub arguments: CommandArguments<'a>,
    /// The command as the shell analysis found it.
    pub simple: &'a SimpleCommand,
}

impl<'a> CommandInvocation<'a> {
    /// Makes an invocation from words; `None` when there are none.
    pub fn from_words(words: &'a [ShellWord], simple: &'a SimpleCommand) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = normalize_program_name(&first.text);
        let arguments = CommandArguments::parse(&program, rest);
        Some(Self {
            program,
            words,
            arguments,
            simple,
        })
    }

    /// Returns the texts of the words after the program.
    pub(super) fn argument_texts(&self) -> Vec<&str> {
        self.argument_words()
            .iter()
            .map(|word| word.text.as_str())
            .collect()
    }

    /// Returns the words after the program.
    pub fn argument_words(&self) -> &'a [ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// Returns whether the program's row has a trait.
    pub fn has_trait(&self, wanted: ProgramTrait) -> bool {
        has_trait(&self.program, wanted)
    }

    /// Returns whether the program is one of these.
    pub fn is_one_of(&self, programs: &[&str]) -> bool {
        programs.contains(&self.program.as_str())
    }

    /// Returns whether the command only shows its usage.
    pub fn only_shows_help(&self) -> bool {
        let plain: Vec<&str> = self
            .argument_words()
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        let is_help = |word: &&str| matches!(*word, "--help" | "-help");
        match plain.as_slice() {
            ["-h" | "-V" | "--version" | "-version" | "help" | "version" | "-?"] => true,
            [.., "-h"] => {
                plain.len() <= 3
                    && !plain
                        .iter()
                        .any(|word| word.len() > 2 && word.starts_with('-'))
            }
            words => words.iter().take_while(|word| **word != "--").any(is_help),
        }
    }
}

/// Returns the words starting with the program that matters, without a program that only runs it.
pub fn strip_carrier(words: &[ShellWord]) -> Cow<'_, [ShellWord]> {
    let Some((first, rest)) = words.split_first() else {
        return Cow::Borrowed(words);
    };
    let name = first
        .text
        .rsplit('/')
        .next()
        .unwrap_or(&first.text)
        .to_lowercase();
    let meant = &program_facts(&name).stands_for;
    if !meant.is_empty() {
        let front = meant.iter().map(ShellWord::new);
        return front.chain(rest.iter().cloned()).collect::<Vec<_>>().into();
    }
    let program = normalize_program_name(&first.text);
    if program == "cargo"
        && let [toolchain, behind @ ..] = rest
        && toolchain.text.starts_with('+')
    {
        return std::iter::once(first)
            .chain(behind)
            .cloned()
            .collect::<Vec<_>>()
            .into();
    }
    let behind = match (program.as_str(), rest) {
        ("python", [flag, ..]) if flag.text == "-m" => &rest[1..],
        (program, [carried, behind @ ..]) => {
            if !program_facts(program).carries.contains(&carried.text) {
                return Cow::Borrowed(words);
            }
            match carried.text.as_str() {
                "exec" | "x" | "dlx" | "run" | "do" => {
                    let options = behind
                        .iter()
                        .take_while(|word| word.text.starts_with('-'))
                        .count();
                    &behind[options..]
                }
                _ => rest,
            }
        }
        (_, []) => return Cow::Borrowed(words),
    };
    if behind.is_empty() {
        Cow::Borrowed(words)
    } else {
        Cow::Borrowed(behind)
    }
}

/// Returns a program's name without folder, extension and version, in lower case.
pub fn normalize_program_name(text: &str) -> String {
    let name = text
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(text)
        .to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    // `npx npm@9`.
    let name = name
        .split('@')
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(name);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let name = if has_trait(bare, ProgramTrait::Versioned) {
        bare
    } else {
        name
    };
    resolve_alias(name).to_owned()
}

/// Returns whether a command runs once for each of many unknown arguments.
pub fn is_run_for_each_argument(simple: &SimpleCommand) -> bool {
    let mut wrappers = simple
        .wrappers
        .iter()
        .rev()
        .skip_while(|wrapper| wrapper.kind == WrapperKind::Known);
    let is_next = wrappers
        .next()
        .is_some_and(|wrapper| wrapper.kind == WrapperKind::ForEachArgument);
    let is_any = simple
        .wrappers
        .iter()
        .any(|wrapper| wrapper.kind == WrapperKind::ForEachArgument);
    is_next || (is_any && simple.words.iter().any(|word| !word.is_fully_known))
}
