//! `${…}`, elements of arrays, and arithmetic.
//!
//! It refuses to know values; what an operand would run is kept in its pieces.

use std::rc::Rc;

use super::words::Place;
use super::{Parser, RawWord};
use crate::permission::shell::syntax::{Keeps, Operation, Parameter, Piece, Side};

impl Parser<'_, '_> {
    /// `${…}` whole.
    pub(super) fn braced_parameter(&mut self, is_quoted: bool, pieces: &mut Vec<Piece>) {
        self.at += 2;
        let parameter = self.deeper(|parser| Some(parser.parameter(is_quoted)));
        self.expect("}");
        if let Some(parameter) = parameter {
            pieces.push(Piece::Parameter {
                parameter: Rc::new(parameter),
                is_quoted,
            });
        }
    }

    fn parameter(&mut self, is_quoted: bool) -> Parameter {
        let next = self.peek_after(1);
        let counts = self.peek() == Some(b'#') && !matches!(next, Some(b'}' | b':' | b'-' | b'#'));
        let points = self.peek() == Some(b'!') && !matches!(next, Some(b'}' | b':' | b'-'));
        if counts || points {
            self.at += 1;
        }
        let name = self.parameter_name();
        if name.is_empty() {
            self.fail();
        }
        let index = match self.peek() {
            Some(b'[') => self.index(),
            _ => None,
        };
        let operation = if self.peek() == Some(b'}') {
            Operation::Value
        } else {
            self.operation(is_quoted)
        };
        let operation = match operation {
            _ if counts => Operation::Count,
            Operation::Value if points => Operation::Indirect,
            operation => operation,
        };
        Parameter {
            name,
            index,
            operation,
        }
    }

    fn parameter_name(&mut self) -> String {
        if let Some(name) = self.name() {
            return name.to_owned();
        }
        let rest = self.rest();
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_special = rest.starts_with(['@', '*', '#', '?', '-', '$', '!']);
        let end = if n_digits > 0 {
            n_digits
        } else {
            usize::from(is_special)
        };
        self.at += end;
        rest.get(..end).unwrap_or_default().to_owned()
    }

    fn operation(&mut self, is_quoted: bool) -> Operation {
        let operand = Place::Operand { is_quoted };
        let has_colon = self.rest().starts_with(':');
        let sign = self.peek_after(usize::from(has_colon));
        match sign {
            Some(sign @ (b'-' | b'=' | b'+' | b'?')) => {
                self.at += 1 + usize::from(has_colon);
                let pieces = self.pieces(operand);
                match sign {
                    b'-' => Operation::Default(pieces, Keeps::No),
                    b'=' => Operation::Default(pieces, Keeps::Yes),
                    b'+' => Operation::Alternative(pieces),
                    _ => Operation::Default(pieces, Keeps::No),
                }
            }
            _ if has_colon => {
                self.at += 1;
                Operation::Slice(self.pieces(operand))
            }
            Some(sign @ (b'#' | b'%')) => {
                self.at += 1;
                let is_longest = self.eat(if sign == b'#' { "#" } else { "%" });
                Operation::Trim {
                    from: if sign == b'#' { Side::Start } else { Side::End },
                    is_longest,
                    pattern: self.pieces(operand),
                }
            }
            Some(b'/') => self.replacement(is_quoted),
            Some(sign @ (b'^' | b',')) => {
                self.at += 1;
                let is_whole = self.eat(if sign == b'^' { "^" } else { "," });
                let pattern = self.pieces(operand);
                match sign {
                    _ if !pattern.is_empty() => Operation::Other(pattern),
                    b'^' => Operation::Upper { is_whole },
                    _ => Operation::Lower { is_whole },
                }
            }
            _ => Operation::Other(self.pieces(operand)),
        }
    }

    fn replacement(&mut self, is_quoted: bool) -> Operation {
        self.at += 1;
        let is_global = self.eat("/");
        let is_anchored = !is_global && (self.eat("#") || self.eat("%"));
        let mut pattern = self.pieces(Place::Pattern { is_quoted });
        let with = if self.eat("/") {
            self.pieces(Place::Operand { is_quoted })
        } else {
            Vec::new()
        };
        if is_anchored {
            pattern.extend(with);
            return Operation::Other(pattern);
        }
        Operation::Replace {
            is_global,
            pattern,
            with,
        }
    }

    /// `[…]` after a name.
    pub(super) fn index(&mut self) -> Option<RawWord> {
        let from = self.at;
        self.at += 1;
        let pieces = self.deeper(|parser| parser.pieces(Place::Index));
        self.expect("]");
        Some(RawWord {
            pieces,
            assign: None,
            span: self.span(from),
        })
    }

    /// The pieces of the arithmetic that opens here, or nothing when it is a substitution or a
    /// subshell that begins with another.
    pub(super) fn arithmetic_here(&mut self, opening: &str) -> Option<Vec<Piece>> {
        let start = self.at;
        if self.not_arithmetic.contains(&start) {
            return None;
        }
        let (was_trial, had_failed) = (self.is_trial, self.has_failed);
        let n_pending = self.pending.len();
        self.is_trial = true;
        self.at += opening.len();
        let pieces = self.deeper(|parser| parser.pieces(Place::Arithmetic));
        self.is_trial = was_trial;
        if !self.has_failed && self.eat("))") {
            return Some(pieces);
        }
        self.has_failed = had_failed;
        self.pending.truncate(n_pending);
        self.at = start;
        self.not_arithmetic.insert(start);
        None
    }
}
