//! Words: quotes, escapes, and the substitutions in them.
//!
//! It refuses to know the values of variables.

use std::rc::Rc;

use super::{Parser, push_text};
use crate::permission::shell::syntax::{Feeds, Operation, Parameter, Piece, RawWord};

/// Where pieces are read, which decides what ends them and what quotes mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// An unquoted word.
    Word,
    /// Between double quotes.
    Quotes,
    /// The body of a here-document.
    Document,
    /// After the operator of `${…}`, outside of quotes or inside.
    Operand { is_quoted: bool },
    /// After the `/` of `${name/…}`: the same, and a `/` ends it.
    Pattern { is_quoted: bool },
    /// Between `((` and `))`.
    Arithmetic,
    /// Between `[` and `]` of an element.
    Index,
}

impl Place {
    fn is_quoted(self) -> bool {
        match self {
            Self::Quotes | Self::Document | Self::Arithmetic => true,
            Self::Operand { is_quoted } | Self::Pattern { is_quoted } => is_quoted,
            Self::Word | Self::Index => false,
        }
    }

    /// Characters that a backslash takes their meaning; others keep it.
    fn escapes(self, byte: u8) -> bool {
        match self {
            Self::Document => matches!(byte, b'$' | b'`' | b'\\'),
            _ if self.is_quoted() => matches!(byte, b'$' | b'`' | b'\\' | b'"' | b'}'),
            _ => true,
        }
    }

    /// Bytes that are more than themselves here.
    fn is_special(self, byte: u8) -> bool {
        match byte {
            b'$' | b'`' | b'\\' => true,
            b'"' => self != Self::Document,
            b'\'' => !matches!(self, Self::Document | Self::Quotes),
            b'}' => matches!(self, Self::Operand { .. } | Self::Pattern { .. }),
            b'/' => matches!(self, Self::Pattern { .. }),
            b'(' | b')' => matches!(self, Self::Arithmetic | Self::Word),
            b'[' | b']' => self == Self::Index,
            b'<' | b'>' => !matches!(self, Self::Document | Self::Quotes | Self::Arithmetic),
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' => self == Self::Word,
            _ => false,
        }
    }
}

impl Parser<'_, '_> {
    /// The word that stands here, if one does.
    pub(super) fn word(&mut self) -> Option<RawWord> {
        let from = self.at;
        self.count();
        let pieces = self.pieces(Place::Word);
        if self.at == from {
            return None;
        }
        Some(RawWord {
            pieces,
            assign: None,
            span: self.span(from),
        })
    }

    /// Pieces up to what ends them at this place; the end itself is left.
    pub(super) fn pieces(&mut self, place: Place) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut n_open = 0_usize;
        while let Some(byte) = self.peek() {
            if !place.is_special(byte) {
                self.plain(place, &mut pieces);
                continue;
            }
            match byte {
                b'\\' => self.escape(place, &mut pieces),
                b'$' => self.dollar(place, &mut pieces),
                b'`' => self.backtick(place, &mut pieces),
                b'"' if place == Place::Quotes => return pieces,
                b'"' => self.double_quoted(&mut pieces),
                b'\'' if place.is_quoted() => self.literal(1, place, &mut pieces),
                b'\'' => self.single_quoted(&mut pieces),
                b'(' if place == Place::Arithmetic => {
                    n_open += 1;
                    self.literal(1, place, &mut pieces);
                }
                b')' if place == Place::Arithmetic && n_open > 0 => {
                    n_open -= 1;
                    self.literal(1, place, &mut pieces);
                }
                b'[' => {
                    n_open += 1;
                    self.literal(1, place, &mut pieces);
                }
                b']' if n_open > 0 => {
                    n_open -= 1;
                    self.literal(1, place, &mut pieces);
                }
                b'(' if ends_in_glob_sign(&pieces) => self.extended_glob(&mut pieces),
                b'<' | b'>' if self.peek_after(1) == Some(b'(') => self.process(&mut pieces),
                b'<' | b'>' if place != Place::Word => self.literal(1, place, &mut pieces),
                _ => return pieces,
            }
        }
        pieces
    }

    /// Here-document bodies are text with substitutions, whole.
    pub(super) fn document_pieces(&mut self) -> Vec<Piece> {
        self.pieces(Place::Document)
    }

    /// The text up to the next byte that may mean something.
    fn plain(&mut self, place: Place, pieces: &mut Vec<Piece>) {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| place.is_special(byte));
        self.literal(end.unwrap_or(rest.len()), place, pieces);
    }

    fn literal(&mut self, n_bytes: usize, place: Place, pieces: &mut Vec<Piece>) {
        let text = self.rest().get(..n_bytes).unwrap_or_default();
        push_text(pieces, text, place.is_quoted());
        self.at += n_bytes;
    }

    fn escape(&mut self, place: Place, pieces: &mut Vec<Piece>) {
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            push_text(pieces, "\\", true);
            return;
        };
        self.at += c.len_utf8();
        if c == '\n' {
            return;
        }
        let is_taken = u8::try_from(c).map_or(!place.is_quoted(), |byte| place.escapes(byte));
        if !is_taken {
            push_text(pieces, "\\", true);
        }
        push_text(pieces, c.encode_utf8(&mut [0; 4]), true);
    }

    fn single_quoted(&mut self, pieces: &mut Vec<Piece>) {
        let rest = self.rest();
        match memchr::memchr(b'\'', rest.as_bytes().get(1..).unwrap_or_default()) {
            Some(end) => {
                push_text(pieces, rest.get(1..=end).unwrap_or_default(), true);
                self.at += end + 2;
            }
            None => {
                push_text(pieces, rest.get(1..).unwrap_or_default(), true);
                self.fail();
            }
        }
    }

    fn double_quoted(&mut self, pieces: &mut Vec<Piece>) {
        self.at += 1;
        // Keeps an empty word a word.
        push_text(pieces, "", true);
        let inner = self.deeper(|parser| parser.pieces(Place::Quotes));
        pieces.extend(inner);
        self.expect("\"");
    }

    fn backtick(&mut self, place: Place, pieces: &mut Vec<Piece>) {
        let from = self.at;
        self.at += 1;
        let mut inner = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = memchr::memchr2(b'`', b'\\', rest.as_bytes()) else {
                self.fail();
                break;
            };
            inner.push_str(rest.get(..end).unwrap_or_default());
            self.at += end;
            if self.eat("`") {
                break;
            }
            self.at += 1;
            let next = self.rest().chars().next();
            let is_taken = match next {
                Some('`' | '\\' | '$') => true,
                Some('"') => place == Place::Quotes,
                _ => false,
            };
            if !is_taken {
                inner.push('\\');
            }
            inner.extend(next);
            self.at += next.map_or(0, char::len_utf8);
        }
        let span = self.span(from);
        let list = self.deeper(|parser| parser.within(&inner, span, |inner| inner.list_to_end()));
        pieces.push(Piece::Command {
            list: Rc::new(list),
            is_quoted: place.is_quoted(),
        });
    }

    fn process(&mut self, pieces: &mut Vec<Piece>) {
        let feeds = if self.peek() == Some(b'<') {
            Feeds::Command
        } else {
            Feeds::List
        };
        self.at += 2;
        let list = Rc::new(self.deeper(Self::list));
        self.expect(")");
        pieces.push(Piece::Process { list, feeds });
    }

    /// `@(a|b)` and its like: a pattern whose text matters to nobody.
    fn extended_glob(&mut self, pieces: &mut Vec<Piece>) {
        let mut n_open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => n_open += 1,
                b')' => n_open -= 1,
                b'\'' => {
                    self.single_quoted(pieces);
                    continue;
                }
                b'"' => {
                    self.double_quoted(pieces);
                    continue;
                }
                b'$' => {
                    self.dollar(Place::Word, pieces);
                    continue;
                }
                b'\n' => break,
                _ => {}
            }
            let width = self.next_boundary() - self.at;
            self.literal(width, Place::Word, pieces);
            if n_open == 0 {
                return;
            }
        }
        self.fail();
    }

    fn dollar(&mut self, place: Place, pieces: &mut Vec<Piece>) {
        let is_quoted = place.is_quoted();
        match self.peek_after(1) {
            Some(b'\'') if !is_quoted || place == Place::Arithmetic => self.ansi_quoted(pieces),
            Some(b'"') if !is_quoted => {
                self.at += 1;
                self.double_quoted(pieces);
            }
            Some(b'(') if self.peek_after(2) == Some(b'(') => match self.arithmetic_here("$((") {
                Some(inner) => pieces.push(Piece::Arithmetic(Rc::new(inner))),
                None => self.substitution(is_quoted, pieces),
            },
            Some(b'(') => self.substitution(is_quoted, pieces),
            Some(b'[') => {
                self.at += 2;
                let inner = self.deeper(|parser| parser.pieces(Place::Index));
                self.expect("]");
                pieces.push(Piece::Arithmetic(Rc::new(inner)));
            }
            Some(b'{') => self.braced_parameter(is_quoted, pieces),
            _ => self.plain_parameter(is_quoted, place, pieces),
        }
    }

    fn plain_parameter(&mut self, is_quoted: bool, place: Place, pieces: &mut Vec<Piece>) {
        self.at += 1;
        let name = match self.name() {
            Some(name) => name.to_owned(),
            None => match self.peek() {
                Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                    self.at += 1;
                    char::from(byte).to_string()
                }
                _ => {
                    push_text(pieces, "$", place.is_quoted());
                    return;
                }
            },
        };
        pieces.push(Piece::Parameter {
            parameter: Rc::new(Parameter {
                name,
                index: None,
                operation: Operation::Value,
            }),
            is_quoted,
        });
    }

    fn substitution(&mut self, is_quoted: bool, pieces: &mut Vec<Piece>) {
        self.at += 2;
        let list = Rc::new(self.deeper(Self::list));
        self.expect(")");
        pieces.push(Piece::Command { list, is_quoted });
    }

    /// `$'…'` with its escapes.
    fn ansi_quoted(&mut self, pieces: &mut Vec<Piece>) {
        self.at += 2;
        let rest = self.rest();
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
        let text = super::super::escapes::ansi(inner);
        push_text(pieces, &text, true);
        match end {
            Some(end) => self.at += end + 1,
            None => self.fail(),
        }
    }

    /// A list that takes the whole of a text.
    pub(super) fn list_to_end(&mut self) -> super::List {
        let list = self.list();
        if !self.is_at_end() {
            self.fail();
        }
        list
    }
}

fn ends_in_glob_sign(pieces: &[Piece]) -> bool {
    matches!(pieces.last(), Some(Piece::Text { text, is_quoted: false })
        if text.ends_with(['@', '?', '*', '+', '!']))
}
