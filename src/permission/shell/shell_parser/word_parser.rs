//! Parses words: quotes, escapes, and the substitutions in them.

use std::rc::Rc;

use super::{ShellParser, push_literal_text};
use crate::permission::shell::syntax_tree::{
    ParameterExpansion, ParameterOperation, ProcessSubstitutionDirection, RawWord, WordPiece,
};

/// Where pieces are read; it decides what ends them and what quotes mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordContext {
    Word,
    DoubleQuotes,
    /// The body of a here-document.
    HereDocument,
    /// After the operator of `${…}`, outside or inside of quotes.
    Operand {
        is_quoted: bool,
    },
    /// After the `/` of `${name/…}`: like an operand, but a `/` ends it.
    Pattern {
        is_quoted: bool,
    },
    /// Between `((` and `))`.
    Arithmetic,
    /// Between `[` and `]` of an element.
    Index,
}

impl WordContext {
    fn is_quoted(self) -> bool {
        match self {
            Self::DoubleQuotes | Self::HereDocument | Self::Arithmetic => true,
            Self::Operand { is_quoted } | Self::Pattern { is_quoted } => is_quoted,
            Self::Word | Self::Index => false,
        }
    }

    /// Returns whether a backslash removes a character's special meaning here.
    fn is_escapable(self, byte: u8) -> bool {
        match self {
            Self::HereDocument => matches!(byte, b'$' | b'`' | b'\\'),
            _ if self.is_quoted() => matches!(byte, b'$' | b'`' | b'\\' | b'"' | b'}'),
            _ => true,
        }
    }

    /// Returns whether a byte has a special meaning here.
    fn is_special(self, byte: u8) -> bool {
        match byte {
            b'$' | b'`' | b'\\' => true,
            b'"' => self != Self::HereDocument,
            b'\'' => !matches!(self, Self::HereDocument | Self::DoubleQuotes),
            b'}' => matches!(self, Self::Operand { .. } | Self::Pattern { .. }),
            b'/' => matches!(self, Self::Pattern { .. }),
            b'(' | b')' => matches!(self, Self::Arithmetic | Self::Word),
            b'[' | b']' => self == Self::Index,
            b'<' | b'>' => !matches!(
                self,
                Self::HereDocument | Self::DoubleQuotes | Self::Arithmetic
            ),
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' => self == Self::Word,
            _ => false,
        }
    }
}

impl ShellParser<'_, '_> {
    /// Parses the word that comes next, if there is one.
    pub(super) fn parse_word(&mut self) -> Option<RawWord> {
        let from = self.position;
        self.count_step();
        let pieces = self.parse_pieces(WordContext::Word);
        if self.position == from {
            return None;
        }
        Some(RawWord {
            pieces,
            assignment: None,
            span: self.span_from(from),
        })
    }

    /// Parses pieces up to what ends them here; the end itself is not consumed.
    pub(super) fn parse_pieces(&mut self, place: WordContext) -> Vec<WordPiece> {
        let mut pieces = Vec::new();
        let mut n_open = 0_usize;
        while let Some(byte) = self.peek() {
            if !place.is_special(byte) {
                self.parse_plain_text(place, &mut pieces);
                continue;
            }
            match byte {
                b'\\' => self.parse_escape(place, &mut pieces),
                b'$' => self.parse_dollar(place, &mut pieces),
                b'`' => self.parse_backticks(place, &mut pieces),
                b'"' if place == WordContext::DoubleQuotes => return pieces,
                b'"' => self.parse_double_quotes(&mut pieces),
                b'\'' if place.is_quoted() => self.push_literal(1, place, &mut pieces),
                b'\'' => self.parse_single_quotes(&mut pieces),
                b'(' if place == WordContext::Arithmetic => {
                    n_open += 1;
                    self.push_literal(1, place, &mut pieces);
                }
                b')' if place == WordContext::Arithmetic && n_open > 0 => {
                    n_open -= 1;
                    self.push_literal(1, place, &mut pieces);
                }
                b'[' => {
                    n_open += 1;
                    self.push_literal(1, place, &mut pieces);
                }
                b']' if n_open > 0 => {
                    n_open -= 1;
                    self.push_literal(1, place, &mut pieces);
                }
                b'(' if ends_with_glob_operator(&pieces) => self.parse_extended_glob(&mut pieces),
                b'<' | b'>' if self.peek_after(1) == Some(b'(') => {
                    self.parse_process_substitution(&mut pieces)
                }
                b'<' | b'>' if place != WordContext::Word => {
                    self.push_literal(1, place, &mut pieces)
                }
                _ => return pieces,
            }
        }
        pieces
    }

    /// Parses the whole body of a here-document: text with substitutions.
    pub(super) fn parse_document_pieces(&mut self) -> Vec<WordPiece> {
        self.parse_pieces(WordContext::HereDocument)
    }

    /// Parses the text up to the next byte that may have a special meaning.
    fn parse_plain_text(&mut self, place: WordContext, pieces: &mut Vec<WordPiece>) {
        let rest = self.remaining_text();
        let end = rest.bytes().position(|byte| place.is_special(byte));
        self.push_literal(end.unwrap_or(rest.len()), place, pieces);
    }

    fn push_literal(&mut self, n_bytes: usize, place: WordContext, pieces: &mut Vec<WordPiece>) {
        let text = self.remaining_text().get(..n_bytes).unwrap_or_default();
        push_literal_text(pieces, text, place.is_quoted());
        self.position += n_bytes;
    }

    fn parse_escape(&mut self, place: WordContext, pieces: &mut Vec<WordPiece>) {
        self.position += 1;
        let Some(c) = self.remaining_text().chars().next() else {
            push_literal_text(pieces, "\\", true);
            return;
        };
        self.position += c.len_utf8();
        if c == '\n' {
            return;
        }
        let is_taken = u8::try_from(c).map_or(!place.is_quoted(), |byte| place.is_escapable(byte));
        if !is_taken {
            push_literal_text(pieces, "\\", true);
        }
        push_literal_text(pieces, c.encode_utf8(&mut [0; 4]), true);
    }

    fn parse_single_quotes(&mut self, pieces: &mut Vec<WordPiece>) {
        let rest = self.remaining_text();
        match memchr::memchr(b'\'', rest.as_bytes().get(1..).unwrap_or_default()) {
            Some(end) => {
                push_literal_text(pieces, rest.get(1..=end).unwrap_or_default(), true);
                self.position += end + 2;
            }
            None => {
                push_literal_text(pieces, rest.get(1..).unwrap_or_default(), true);
                self.fail();
            }
        }
    }

    fn parse_double_quotes(&mut self, pieces: &mut Vec<WordPiece>) {
        self.position += 1;
        // This keeps an empty quoted word as a word.
        push_literal_text(pieces, "", true);
        let inner = self.parse_nested(|parser| parser.parse_pieces(WordContext::DoubleQuotes));
        pieces.extend(inner);
        self.expect("\"");
    }

    fn parse_backticks(&mut self, place: WordContext, pieces: &mut Vec<WordPiece>) {
        let from = self.position;
        self.position += 1;
        let mut inner = String::new();
        loop {
            let rest = self.remaining_text();
            let Some(end) = memchr::memchr2(b'`', b'\\', rest.as_bytes()) else {
                self.fail();
                break;
            };
            inner.push_str(rest.get(..end).unwrap_or_default());
            self.position += end;
            if self.eat("`") {
                break;
            }
            self.position += 1;
            let next = self.remaining_text().chars().next();
            let is_taken = match next {
                Some('`' | '\\' | '$') => true,
                Some('"') => place == WordContext::DoubleQuotes,
                _ => false,
            };
            if !is_taken {
                inner.push('\\');
            }
            inner.extend(next);
            self.position += next.map_or(0, char::len_utf8);
        }
        let span = self.span_from(from);
        let list = self.parse_nested(|parser| {
            parser.parse_other_text(&inner, span, |inner| inner.parse_list_to_end())
        });
        pieces.push(WordPiece::Command {
            list: Rc::new(list),
            is_quoted: place.is_quoted(),
        });
    }

    fn parse_process_substitution(&mut self, pieces: &mut Vec<WordPiece>) {
        let feeds = if self.peek() == Some(b'<') {
            ProcessSubstitutionDirection::Input
        } else {
            ProcessSubstitutionDirection::Output
        };
        self.position += 2;
        let list = Rc::new(self.parse_nested(Self::parse_list));
        self.expect(")");
        pieces.push(WordPiece::Process { list, feeds });
    }

    /// Parses `@(a|b)` and similar patterns, whose text does not matter for the analysis.
    fn parse_extended_glob(&mut self, pieces: &mut Vec<WordPiece>) {
        let mut n_open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => n_open += 1,
                b')' => n_open -= 1,
                b'\'' => {
                    self.parse_single_quotes(pieces);
                    continue;
                }
                b'"' => {
                    self.parse_double_quotes(pieces);
                    continue;
                }
                b'$' => {
                    self.parse_dollar(WordContext::Word, pieces);
                    continue;
                }
                b'\n' => break,
                _ => {}
            }
            let width = self.next_char_position() - self.position;
            self.push_literal(width, WordContext::Word, pieces);
            if n_open == 0 {
                return;
            }
        }
        self.fail();
    }

    fn parse_dollar(&mut self, place: WordContext, pieces: &mut Vec<WordPiece>) {
        let is_quoted = place.is_quoted();
        match self.peek_after(1) {
            Some(b'\'') if !is_quoted || place == WordContext::Arithmetic => {
                self.parse_ansi_quotes(pieces)
            }
            Some(b'"') if !is_quoted => {
                self.position += 1;
                self.parse_double_quotes(pieces);
            }
            Some(b'(') if self.peek_after(2) == Some(b'(') => {
                match self.try_parse_arithmetic("$((") {
                    Some(inner) => pieces.push(WordPiece::Arithmetic(Rc::new(inner))),
                    None => self.parse_command_substitution(is_quoted, pieces),
                }
            }
            Some(b'(') => self.parse_command_substitution(is_quoted, pieces),
            Some(b'[') => {
                self.position += 2;
                let inner = self.parse_nested(|parser| parser.parse_pieces(WordContext::Index));
                self.expect("]");
                pieces.push(WordPiece::Arithmetic(Rc::new(inner)));
            }
            Some(b'{') => self.parse_braced_parameter(is_quoted, pieces),
            _ => self.parse_plain_parameter(is_quoted, place, pieces),
        }
    }

    fn parse_plain_parameter(
        &mut self,
        is_quoted: bool,
        place: WordContext,
        pieces: &mut Vec<WordPiece>,
    ) {
        self.position += 1;
        let name = match self.parse_name() {
            Some(name) => name.to_owned(),
            None => match self.peek() {
                Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                    self.position += 1;
                    char::from(byte).to_string()
                }
                _ => {
                    push_literal_text(pieces, "$", place.is_quoted());
                    return;
                }
            },
        };
        pieces.push(WordPiece::Parameter {
            parameter: Rc::new(ParameterExpansion {
                name,
                index: None,
                operation: ParameterOperation::Plain,
            }),
            is_quoted,
        });
    }

    fn parse_command_substitution(&mut self, is_quoted: bool, pieces: &mut Vec<WordPiece>) {
        self.position += 2;
        let list = Rc::new(self.parse_nested(Self::parse_list));
        self.expect(")");
        pieces.push(WordPiece::Command { list, is_quoted });
    }

    /// Parses `$'…'` with its escapes.
    fn parse_ansi_quotes(&mut self, pieces: &mut Vec<WordPiece>) {
        self.position += 2;
        let rest = self.remaining_text();
        let mut end = None;
        let mut bytes = rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b'\'' => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let inner = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let text = super::super::backslash_escapes::decode_ansi_quotes(inner);
        push_literal_text(pieces, &text, true);
        match end {
            Some(end) => self.position += end + 1,
            None => self.fail(),
        }
    }

    /// Parses a list that takes the whole text.
    pub(super) fn parse_list_to_end(&mut self) -> super::CommandList {
        let list = self.parse_list();
        if !self.is_at_end() {
            self.fail();
        }
        list
    }
}

fn ends_with_glob_operator(pieces: &[WordPiece]) -> bool {
    matches!(pieces.last(), Some(WordPiece::Text { text, is_quoted: false })
        if text.ends_with(['@', '?', '*', '+', '!']))
}
