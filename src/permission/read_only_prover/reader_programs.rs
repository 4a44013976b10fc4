//! Proves that a program only reads, by its row in the table of programs.
//!
//! Programs whose row says `custom` have code of their own here and in the files beside.

use crate::permission::program_table::{OperandKind, ReaderProgram};
use crate::permission::shell::ShellWord;
use crate::permission::word_list::is_in_word_list;

use super::working_folders::WorkingFolders;
use super::{RefusalReason, git_prover, script_prover, simple_programs};

impl ReaderProgram {
    /// Returns whether each of its operands is a file that it reads.
    pub fn takes_paths(&self) -> bool {
        self.operands == OperandKind::Paths
    }

    /// Returns whether a partly known word can only be text for it.
    pub fn takes_text_only(&self) -> bool {
        self.operands == OperandKind::Texts
    }

    /// Proves that the program with these arguments only reads.
    pub fn prove(
        &self,
        program: &str,
        arguments: &[ShellWord],
        places: &WorkingFolders,
    ) -> Result<(), RefusalReason> {
        match (self.operands, program) {
            (OperandKind::Custom, "git") => git_prover::prove_git(self, arguments, places),
            (OperandKind::Custom, "find" | "fd" | "fdfind") => {
                simple_programs::prove_find(self, program, arguments, places)
            }
            (OperandKind::Custom, "sed") => script_prover::prove_sed(arguments, places),
            (OperandKind::Custom, "awk" | "gawk" | "mawk") => {
                script_prover::prove_awk(arguments, places)
            }
            (OperandKind::Custom, "jq") => script_prover::prove_jq(self, arguments, places),
            (OperandKind::Custom, _) => {
                simple_programs::prove_simple_program(self, program, arguments, places)
            }
            _ => self.prove_plain(program, arguments, places),
        }
    }

    fn prove_plain(
        &self,
        program: &str,
        arguments: &[ShellWord],
        places: &WorkingFolders,
    ) -> Result<(), RefusalReason> {
        let mut n_operands = 0;
        let mut brings_text = false;
        let mut rest = arguments.iter();
        let mut has_ended = false;
        let mut may_be_value = false;
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            let is_option = !has_ended
                && text.len() > 1
                && text.starts_with('-')
                && self.operands != OperandKind::Texts;
            if text == "--" && !has_ended {
                has_ended = true;
            } else if is_option {
                may_be_value = text.starts_with("--")
                    && !text.contains('=')
                    && !is_in_word_list(LONG_FLAGS, text);
                brings_text |= matches!(text, "-f" | "--file" | "--files")
                    || text.starts_with("-e")
                    || text.starts_with("--regexp")
                    || text.starts_with("--file=");
                if self.prove_option(program, text, places)? {
                    rest.next();
                    may_be_value = false;
                }
            } else {
                n_operands += 1;
                let is_text = self.operands == OperandKind::Texts
                    || (self.operands == OperandKind::TextThenPaths
                        && n_operands == 1
                        && !brings_text);
                if self.operands == OperandKind::None
                    || (self.operands == OperandKind::OnePath && n_operands > 1)
                {
                    return Err(format!("`{program} {text}` is not known to only read"));
                }
                if program == "tail" && text.starts_with('+') && text.contains(['f', 'F']) {
                    return Err(format!("`tail {text}` may never end"));
                }
                if program == "bat" && text == "cache" {
                    return Err("`bat cache` writes".to_owned());
                }
                if program == "printf" && text == "-v" {
                    return Err("`printf -v` sets a variable".to_owned());
                }
                // An unquoted file name pattern expands to file names, whatever argument it is.
                if !is_text
                    || word.is_glob && text.contains('/')
                    || may_be_value && places.leaves_root(text, word.is_glob)
                {
                    places.prove_path(word)?;
                }
                may_be_value = false;
            }
        }
        Ok(())
    }

    /// Proves an option; returns whether it takes the next word as text.
    fn prove_option(
        &self,
        program: &str,
        text: &str,
        places: &WorkingFolders,
    ) -> Result<bool, RefusalReason> {
        let refused = || Err(format!("`{program} {text}` is not known to only read"));
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            let is_meant = |option: &String| {
                option
                    .strip_prefix("--")
                    .is_some_and(|option| option.starts_with(name))
            };
            let mut texts = self
                .text_options
                .iter()
                .filter_map(|option| option.strip_prefix("--"));
            let takes_text = texts.clone().any(|option| option == name);
            if self.refused_options.iter().any(is_meant) && !takes_text {
                return refused();
            }
            if long.contains('=') && texts.any(|option| option.trim_end_matches('=') == name) {
                return Ok(false);
            }
            if takes_text {
                return Ok(true);
            }
            return if places.option_leaves_root(text) {
                Err(format!(
                    "`{text}` may name something outside the repository"
                ))
            } else {
                Ok(false)
            };
        }
        let letters: Vec<char> = text.chars().skip(1).collect();
        for (at, letter) in letters.iter().enumerate() {
            let is = |option: &String| option.len() == 2 && option.ends_with(*letter);
            if self.refused_options.iter().any(is) {
                return refused();
            }
            let are_flags = letters
                .iter()
                .take(at)
                .all(|before| SHORT_FLAGS.contains(*before));
            if are_flags && self.text_options.iter().any(is) {
                return Ok(at + 1 == letters.len());
            }
        }
        if places.option_leaves_root(text) {
            Err(format!(
                "`{text}` may name something outside the repository"
            ))
        } else {
            Ok(false)
        }
    }
}

/// Long options without a value: a word after them is not their path.
const LONG_FLAGS: &str = "--no-heading --heading --hidden --json --files-with-matches --files-without-match --ignore-case --line-number \
    --no-line-number --count --word-regexp --fixed-strings --multiline --only-matching --smart-case --recursive \
    --extended-regexp --perl-regexp --invert-match --no-filename --with-filename --color --quiet --no-ignore \
    --pcre2 --vimgrep --column --no-messages --case-sensitive --trim --stats --text --null";

/// Letters without a value, which may come before a letter with a text.
const SHORT_FLAGS: &str = "nilLcvowxhHFPsqzarRuUb";
