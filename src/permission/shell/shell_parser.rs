//! Parses shell text into a syntax tree: lists, blocks, redirections and here-documents.
//!
//! A part that cannot be parsed is recorded, and the part before it is returned. The parser never goes back by more
//! than one `$((`, so its work stays linear. What commands mean is not known here.

use std::collections::HashSet;
use std::ops::Range;

use super::step_budget::StepBudget;
use super::syntax_tree::{
    CommandList, CommandNode, PipelineCondition, PipelineItem, RawWord, WordPiece,
};

mod compound_commands;
mod here_documents;
mod parameter_syntax;
mod simple_commands;
mod word_parser;

use here_documents::PendingHereDocument;

/// Words that end the list before them.
const LIST_CLOSING_WORDS: [&str; 8] = ["then", "fi", "do", "done", "else", "elif", "esac", "}"];

/// Parses a whole text. If `place` is given, every span is that one: the text is then not a part of the outermost text.
pub fn parse_script(text: &str, place: Option<Range<usize>>, work: &mut StepBudget) -> CommandList {
    let mut parser = ShellParser::new(text, place, work);
    let mut list = parser.parse_list();
    // This is a closing word or bracket without its opening one.
    while !parser.is_at_end() {
        parser.fail();
        list.items.extend(parser.parse_list().items);
    }
    list
}

/// Parses a text as the body of a here-document: text with substitutions.
pub fn parse_here_document(
    text: &str,
    place: Range<usize>,
    work: &mut StepBudget,
) -> Vec<WordPiece> {
    ShellParser::new(text, Some(place), work).parse_document_pieces()
}

/// A parser at a position in a text.
pub(super) struct ShellParser<'a, 'w> {
    text: &'a str,
    position: usize,
    fixed_span: Option<Range<usize>>,
    pending_documents: Vec<PendingHereDocument>,
    /// The positions where `$((` is a command substitution.
    not_arithmetic: HashSet<usize>,
    /// Failures are not recorded: this attempt may be the wrong one.
    is_trial: bool,
    has_failed: bool,
    budget: &'w mut StepBudget,
}

impl<'a, 'w> ShellParser<'a, 'w> {
    fn new(text: &'a str, place: Option<Range<usize>>, work: &'w mut StepBudget) -> Self {
        Self {
            text,
            position: 0,
            fixed_span: place,
            pending_documents: Vec::new(),
            not_arithmetic: HashSet::new(),
            is_trial: false,
            has_failed: false,
            budget: work,
        }
    }

    fn remaining_text(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn peek_after(&self, n_bytes: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + n_bytes).copied()
    }

    fn is_at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    /// Consumes a text if it comes next.
    fn eat(&mut self, expected: &str) -> bool {
        let stands = self.remaining_text().starts_with(expected);
        if stands {
            self.position += expected.len();
        }
        stands
    }

    fn span_from(&self, from: usize) -> Range<usize> {
        self.fixed_span
            .clone()
            .unwrap_or(from..self.position.max(from))
    }

    /// Skips the rest of the text.
    fn fail(&mut self) {
        let span = self
            .fixed_span
            .clone()
            .unwrap_or(self.position..self.text.len());
        self.has_failed = true;
        self.position = self.text.len();
        if !self.is_trial {
            self.budget.record_unparsable(span);
        }
    }

    fn expect(&mut self, expected: &str) {
        if !self.eat(expected) {
            self.fail();
        }
    }

    /// Parses something one level deeper, or skips the rest of the text.
    fn parse_nested<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.span_from(self.position);
        if !self.budget.enter_level(&here) {
            self.position = self.text.len();
            return T::default();
        }
        let found = inner(self);
        self.budget.leave_level();
        found
    }

    fn count_step(&mut self) {
        let here = self.span_from(self.position);
        if !self.budget.spend_steps(1, &here) {
            self.position = self.text.len();
        }
    }

    /// Skips spaces, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.position += 1,
                Some(b'\\') if self.remaining_text().starts_with("\\\n") => self.position += 2,
                Some(b'#') => {
                    let rest = self.remaining_text();
                    self.position += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips spaces, comments and line breaks.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if !self.eat("\n") {
                return;
            }
            self.parse_document_bodies();
        }
    }

    /// Returns the raw text of the next word, to compare it with a reserved word.
    fn peek_word(&self) -> &'a str {
        let rest = self.remaining_text();
        let end = rest.bytes().take(12).position(|byte| {
            matches!(
                byte,
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
            )
        });
        rest.get(..end.unwrap_or(rest.len().min(12)))
            .unwrap_or_default()
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let stands = self.peek_word() == word;
        if stands {
            self.position += word.len();
        }
        stands
    }

    fn expect_word(&mut self, word: &str) {
        self.skip_lines();
        if !self.eat_word(word) {
            self.fail();
        }
    }

    /// Parses commands up to a closing word, `)`, `;;` or the end.
    fn parse_list(&mut self) -> CommandList {
        let mut list = CommandList::default();
        let mut link = PipelineCondition::Always;
        let mut is_separated = true;
        loop {
            let before = self.position;
            self.skip_lines();
            is_separated |= self
                .text
                .get(before..self.position)
                .is_some_and(|text| text.contains('\n'));
            let closes = match self.peek() {
                None => true,
                Some(b')') => true,
                Some(b';') => self.is_case_arm_end(),
                Some(_) => LIST_CLOSING_WORDS.contains(&self.peek_word()),
            };
            if closes {
                if link != PipelineCondition::Always {
                    self.fail();
                }
                return list;
            }
            if !is_separated {
                self.fail();
                return list;
            }
            let commands = self.parse_pipeline();
            if commands.is_empty() && !self.is_at_end() {
                self.fail();
            }
            self.skip_blanks();
            let mut item = PipelineItem {
                condition: link,
                commands,
                is_background: false,
            };
            link = PipelineCondition::Always;
            is_separated = true;
            if self.eat("&&") {
                link = PipelineCondition::IfSucceeded;
            } else if self.eat("||") {
                link = PipelineCondition::IfFailed;
            } else if self.peek() == Some(b'&') {
                self.position += 1;
                item.is_background = true;
            } else if self.peek() == Some(b';') && !self.is_case_arm_end() {
                self.position += 1;
            } else {
                is_separated = false;
            }
            list.items.push(item);
        }
    }

    /// Returns whether `;;`, `;&` or `;;&` comes next: the end of a `case` arm.
    fn is_case_arm_end(&self) -> bool {
        matches!(self.peek_after(1), Some(b';' | b'&')) && self.peek() == Some(b';')
    }

    fn parse_pipeline(&mut self) -> Vec<CommandNode> {
        let mut commands = Vec::new();
        loop {
            self.skip_blanks();
            if !commands.is_empty() {
                self.skip_lines();
            }
            while self.eat_word("!") || self.eat_word("time") {
                self.skip_blanks();
                while self.eat_word("-p") || self.eat_word("--") {
                    self.skip_blanks();
                }
            }
            self.count_step();
            let Some(command) = self.parse_command() else {
                if !commands.is_empty() {
                    self.fail();
                }
                return commands;
            };
            commands.push(command);
            self.skip_blanks();
            if self.remaining_text().starts_with("||") || !self.eat("|") {
                return commands;
            }
            // `|&`: the error output is piped as well.
            self.eat("&");
        }
    }

    fn parse_command(&mut self) -> Option<CommandNode> {
        let from = self.position;
        if self.is_at_end() {
            return None;
        }
        let block = self.parse_nested(Self::parse_compound_command);
        let kind = match block {
            Some(kind) => kind,
            None => return self.parse_simple_command(from),
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_redirection() {
                Some(redirection) => redirects.push(redirection),
                None => break,
            }
        }
        let span = self.span_from(from);
        Some(CommandNode {
            kind,
            redirects,
            span,
        })
    }

    /// Parses another text, or a part of this one, by itself.
    fn parse_other_text<T>(
        &mut self,
        text: &str,
        place: Range<usize>,
        read: impl FnOnce(&mut ShellParser<'_, '_>) -> T,
    ) -> T {
        let mut parser = ShellParser::new(text, Some(place), self.budget);
        parser.is_trial = self.is_trial;
        let found = read(&mut parser);
        let has_failed = parser.has_failed;
        self.has_failed |= has_failed;
        found
    }
}

/// Appends literal text to a word.
fn push_literal_text(pieces: &mut Vec<WordPiece>, added: &str, quoted: bool) {
    match pieces.last_mut() {
        Some(WordPiece::Text { text, is_quoted }) if *is_quoted == quoted => text.push_str(added),
        _ => pieces.push(WordPiece::Text {
            text: added.to_owned(),
            is_quoted: quoted,
        }),
    }
}
