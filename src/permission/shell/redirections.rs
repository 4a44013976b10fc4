//! Follows redirections: where input comes from and where output goes.
//!
//! Which targets are dangerous is not decided here.

use super::abstract_value::{PossibleValues, ShellField};
use super::environment::ShellEnvironment;
use super::interpreter::{ShellInterpreter, StandardInput};
use super::syntax_tree::{RedirectionNode, RedirectionTarget};
use super::{CommandRedirect, RedirectKind};

/// The result of one command's redirections.
pub struct RedirectionResult {
    pub redirects: Vec<CommandRedirect>,
    pub stdin: StandardInput,
    /// The files that standard output goes to.
    pub stdout_paths: Vec<String>,
}

impl ShellInterpreter {
    pub fn interpret_redirections(
        &mut self,
        redirections: &[RedirectionNode],
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> RedirectionResult {
        let mut found = RedirectionResult {
            redirects: Vec::new(),
            stdin: feed.clone(),
            stdout_paths: Vec::new(),
        };
        for redirection in redirections {
            match &redirection.target {
                RedirectionTarget::HereDocument(body) => {
                    let pieces = body.get().map_or(&[][..], Vec::as_slice);
                    let texts = self.expander(env).expand_without_splitting(pieces);
                    self.feed_descriptor(redirection.fd, texts, &mut found);
                }
                RedirectionTarget::HereString(word) => {
                    let line =
                        PossibleValues::single(super::abstract_value::AbstractValue::known("\n"));
                    let texts = self
                        .expander(env)
                        .expand_without_splitting(&word.pieces)
                        .concat(&line);
                    self.feed_descriptor(redirection.fd, texts, &mut found);
                }
                RedirectionTarget::File { operator, word } => {
                    let ways = self.expander(env).expand_word(word);
                    for field in ways.into_iter().flatten() {
                        self.interpret_redirection(redirection.fd, operator, field, &mut found);
                    }
                }
            }
        }
        found
    }

    fn feed_descriptor(
        &mut self,
        fd: Option<u32>,
        texts: PossibleValues,
        found: &mut RedirectionResult,
    ) {
        match fd {
            Some(0) => found.stdin = StandardInput::Values(texts),
            Some(fd) => self.write_file(&format!("/dev/fd/{fd}"), texts),
            None => {}
        }
    }

    fn interpret_redirection(
        &mut self,
        fd: Option<u32>,
        operator: &str,
        field: ShellField,
        found: &mut RedirectionResult,
    ) {
        let text = field.text();
        let names_descriptor = text == "-"
            || !text.is_empty()
                && text
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit());
        let kind = match operator {
            "<" => RedirectKind::Read,
            "<>" => RedirectKind::ReadWrite,
            ">>" | "&>>" => RedirectKind::Append,
            "<&" => RedirectKind::Duplicate,
            ">&" if names_descriptor => RedirectKind::Duplicate,
            _ => RedirectKind::Write,
        };
        match kind {
            RedirectKind::Read if fd == Some(0) => {
                found.stdin = self.stdin_from_file(&field, &found.stdin)
            }
            RedirectKind::ReadWrite if fd == Some(0) => found.stdin = StandardInput::Unknown,
            RedirectKind::Duplicate if fd == Some(0) => {
                let path = ShellField::known(format!("/dev/fd/{text}"));
                found.stdin = self.stdin_from_file(&path, &found.stdin);
            }
            RedirectKind::Write | RedirectKind::Append
                if fd == Some(1) && found.stdout_paths.last().is_none_or(|last| last != text) =>
            {
                found.stdout_paths.push(text.to_owned());
            }
            _ => {}
        }
        found.redirects.push(CommandRedirect {
            kind,
            fd,
            target: field.to_word(),
        });
    }

    /// Returns the input that comes from a file.
    pub fn stdin_from_file(&self, path: &ShellField, feed: &StandardInput) -> StandardInput {
        if matches!(
            path.text(),
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
        ) {
            return feed.clone();
        }
        if path.text() == "/dev/null" {
            return StandardInput::Values(PossibleValues::empty_string());
        }
        match self.file_contents(path) {
            Some(texts) => StandardInput::Values(texts.clone()),
            None => StandardInput::Unknown,
        }
    }

    /// Writes output to its redirect targets; returns the rest of it.
    pub fn redirect_output(&mut self, files: &[String], out: PossibleValues) -> PossibleValues {
        if files.is_empty() {
            return out;
        }
        for path in files {
            if matches!(path.as_str(), "/dev/stdout" | "/dev/fd/1") {
                return out;
            }
            if !path.starts_with("/dev/") || self.is_output_substitution(path) {
                self.write_file(path, out.clone());
            }
        }
        PossibleValues::empty_string()
    }
}
