//! Shell text into its syntax: lists, blocks, redirections and here-documents.
//!
//! What it cannot read it notes, and answers with what stood before. It never goes back over more
//! than one `$((`, so that the work stays linear. It refuses to know what commands mean.

use std::collections::HashSet;
use std::ops::Range;

use super::syntax::{Command, Item, Link, List, Piece, RawWord};
use super::work::Work;

mod blocks;
mod documents;
mod parameters;
mod simple;
mod words;

use documents::Pending;

/// Words that end the list before them.
const CLOSERS: [&str; 8] = ["then", "fi", "do", "done", "else", "elif", "esac", "}"];

/// Reads a whole text. With `place` every span is that one: the text then is no part of the outermost.
pub fn parse(text: &str, place: Option<Range<usize>>, work: &mut Work) -> List {
    let mut parser = Parser::new(text, place, work);
    let mut list = parser.list();
    // A closing word or bracket without its opening one.
    while !parser.is_at_end() {
        parser.fail();
        list.items.extend(parser.list().items);
    }
    list
}

/// Reads a text as the body of a here-document: text with substitutions.
pub fn document(text: &str, place: Range<usize>, work: &mut Work) -> Vec<Piece> {
    Parser::new(text, Some(place), work).document_pieces()
}

/// A place in a text.
pub(super) struct Parser<'a, 'w> {
    text: &'a str,
    at: usize,
    place: Option<Range<usize>>,
    pending: Vec<Pending>,
    /// Where `$((` turned out to be a substitution.
    not_arithmetic: HashSet<usize>,
    /// Failures are not noted: the reading may turn out to be the wrong one.
    is_trial: bool,
    has_failed: bool,
    work: &'w mut Work,
}

impl<'a, 'w> Parser<'a, 'w> {
    fn new(text: &'a str, place: Option<Range<usize>>, work: &'w mut Work) -> Self {
        Self {
            text,
            at: 0,
            place,
            pending: Vec::new(),
            not_arithmetic: HashSet::new(),
            is_trial: false,
            has_failed: false,
            work,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_after(&self, n_bytes: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + n_bytes).copied()
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Goes past a text if it stands here.
    fn eat(&mut self, expected: &str) -> bool {
        let stands = self.rest().starts_with(expected);
        if stands {
            self.at += expected.len();
        }
        stands
    }

    fn span(&self, from: usize) -> Range<usize> {
        self.place.clone().unwrap_or(from..self.at.max(from))
    }

    /// Gives up on the rest of the text.
    fn fail(&mut self) {
        let span = self.place.clone().unwrap_or(self.at..self.text.len());
        self.has_failed = true;
        self.at = self.text.len();
        if !self.is_trial {
            self.work.unparsable(span);
        }
    }

    fn expect(&mut self, expected: &str) {
        if !self.eat(expected) {
            self.fail();
        }
    }

    /// Does something one level deeper, or gives up on the rest.
    fn deeper<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.span(self.at);
        if !self.work.enter(&here) {
            self.at = self.text.len();
            return T::default();
        }
        let found = inner(self);
        self.work.leave();
        found
    }

    fn count(&mut self) {
        let here = self.span(self.at);
        if !self.work.take(1, &here) {
            self.at = self.text.len();
        }
    }

    /// Blanks, line continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.rest().starts_with("\\\n") => self.at += 2,
                Some(b'#') => {
                    let rest = self.rest();
                    self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Blanks, comments and line ends.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if !self.eat("\n") {
                return;
            }
            self.read_documents();
        }
    }

    /// The raw text of the word that stands here, for comparing it with a reserved word.
    fn peek_word(&self) -> &'a str {
        let rest = self.rest();
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
            self.at += word.len();
        }
        stands
    }

    fn expect_word(&mut self, word: &str) {
        self.skip_lines();
        if !self.eat_word(word) {
            self.fail();
        }
    }

    /// Commands up to a closing word, `)`, `;;` or the end.
    fn list(&mut self) -> List {
        let mut list = List::default();
        let mut link = Link::Always;
        let mut is_separated = true;
        loop {
            let before = self.at;
            self.skip_lines();
            is_separated |= self
                .text
                .get(before..self.at)
                .is_some_and(|text| text.contains('\n'));
            let closes = match self.peek() {
                None => true,
                Some(b')') => true,
                Some(b';') => self.is_arm_end(),
                Some(_) => CLOSERS.contains(&self.peek_word()),
            };
            if closes {
                if link != Link::Always {
                    self.fail();
                }
                return list;
            }
            if !is_separated {
                self.fail();
                return list;
            }
            let commands = self.pipeline();
            if commands.is_empty() && !self.is_at_end() {
                self.fail();
            }
            self.skip_blanks();
            let mut item = Item {
                link,
                commands,
                is_background: false,
            };
            link = Link::Always;
            is_separated = true;
            if self.eat("&&") {
                link = Link::IfDone;
            } else if self.eat("||") {
                link = Link::IfFailed;
            } else if self.peek() == Some(b'&') {
                self.at += 1;
                item.is_background = true;
            } else if self.peek() == Some(b';') && !self.is_arm_end() {
                self.at += 1;
            } else {
                is_separated = false;
            }
            list.items.push(item);
        }
    }

    /// `;;`, `;&`, `;;&`: the end of an arm of `case`.
    fn is_arm_end(&self) -> bool {
        matches!(self.peek_after(1), Some(b';' | b'&')) && self.peek() == Some(b';')
    }

    fn pipeline(&mut self) -> Vec<Command> {
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
            self.count();
            let Some(command) = self.command() else {
                if !commands.is_empty() {
                    self.fail();
                }
                return commands;
            };
            commands.push(command);
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return commands;
            }
            // `|&`: the error output is piped as well.
            self.eat("&");
        }
    }

    fn command(&mut self) -> Option<Command> {
        let from = self.at;
        if self.is_at_end() {
            return None;
        }
        let block = self.deeper(Self::block);
        let kind = match block {
            Some(kind) => kind,
            None => return self.simple(from),
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection() {
                Some(redirection) => redirects.push(redirection),
                None => break,
            }
        }
        let span = self.span(from);
        Some(Command {
            kind,
            redirects,
            span,
        })
    }

    /// Reads another text, or a part of this one, in its own right.
    fn within<T>(
        &mut self,
        text: &str,
        place: Range<usize>,
        read: impl FnOnce(&mut Parser<'_, '_>) -> T,
    ) -> T {
        let mut parser = Parser::new(text, Some(place), self.work);
        parser.is_trial = self.is_trial;
        let found = read(&mut parser);
        let has_failed = parser.has_failed;
        self.has_failed |= has_failed;
        found
    }
}

/// Puts literal text at the end of a word.
fn push_text(pieces: &mut Vec<Piece>, added: &str, quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, is_quoted }) if *is_quoted == quoted => text.push_str(added),
        _ => pieces.push(Piece::Text {
            text: added.to_owned(),
            is_quoted: quoted,
        }),
    }
}
