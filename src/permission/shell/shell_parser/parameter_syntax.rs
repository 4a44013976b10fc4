//! Parses `${…}`, array elements and arithmetic.
//!
//! No values are known here; commands inside operands stay in their pieces.

use std::rc::Rc;

use super::word_parser::WordContext;
use super::{RawWord, ShellParser};
use crate::permission::shell::syntax_tree::{
    DefaultOperator, ParameterExpansion, ParameterOperation, TrimSide, WordPiece,
};

impl ShellParser<'_, '_> {
    /// Parses a whole `${…}`.
    pub(super) fn parse_braced_parameter(&mut self, is_quoted: bool, pieces: &mut Vec<WordPiece>) {
        self.position += 2;
        let parameter = self.parse_nested(|parser| Some(parser.parse_parameter(is_quoted)));
        self.expect("}");
        if let Some(parameter) = parameter {
            pieces.push(WordPiece::Parameter {
                parameter: Rc::new(parameter),
                is_quoted,
            });
        }
    }

    fn parse_parameter(&mut self, is_quoted: bool) -> ParameterExpansion {
        let next = self.peek_after(1);
        let counts = self.peek() == Some(b'#') && !matches!(next, Some(b'}' | b':' | b'-' | b'#'));
        let points = self.peek() == Some(b'!') && !matches!(next, Some(b'}' | b':' | b'-'));
        if counts || points {
            self.position += 1;
        }
        let name = self.parse_parameter_name();
        if name.is_empty() {
            self.fail();
        }
        let index = match self.peek() {
            Some(b'[') => self.parse_index(),
            _ => None,
        };
        let operation = if self.peek() == Some(b'}') {
            ParameterOperation::Plain
        } else {
            self.parse_operation(is_quoted)
        };
        let operation = match operation {
            _ if counts => ParameterOperation::Length,
            ParameterOperation::Plain if points => ParameterOperation::Indirect,
            operation => operation,
        };
        ParameterExpansion {
            name,
            index,
            operation,
        }
    }

    fn parse_parameter_name(&mut self) -> String {
        if let Some(name) = self.parse_name() {
            return name.to_owned();
        }
        let rest = self.remaining_text();
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_special = rest.starts_with(['@', '*', '#', '?', '-', '$', '!']);
        let end = if n_digits > 0 {
            n_digits
        } else {
            usize::from(is_special)
        };
        self.position += end;
        rest.get(..end).unwrap_or_default().to_owned()
    }

    fn parse_operation(&mut self, is_quoted: bool) -> ParameterOperation {
        let operand = WordContext::Operand { is_quoted };
        let has_colon = self.remaining_text().starts_with(':');
        let sign = self.peek_after(usize::from(has_colon));
        match sign {
            Some(sign @ (b'-' | b'=' | b'+' | b'?')) => {
                self.position += 1 + usize::from(has_colon);
                let pieces = self.parse_pieces(operand);
                match sign {
                    b'-' => ParameterOperation::Default(pieces, DefaultOperator::Substitute),
                    b'=' => ParameterOperation::Default(pieces, DefaultOperator::Assign),
                    b'+' => ParameterOperation::Alternative(pieces),
                    _ => ParameterOperation::Default(pieces, DefaultOperator::Substitute),
                }
            }
            _ if has_colon => {
                self.position += 1;
                ParameterOperation::Slice(self.parse_pieces(operand))
            }
            Some(sign @ (b'#' | b'%')) => {
                self.position += 1;
                let is_longest = self.eat(if sign == b'#' { "#" } else { "%" });
                ParameterOperation::Trim {
                    from: if sign == b'#' {
                        TrimSide::Start
                    } else {
                        TrimSide::End
                    },
                    is_longest,
                    pattern: self.parse_pieces(operand),
                }
            }
            Some(b'/') => self.parse_replacement(is_quoted),
            Some(sign @ (b'^' | b',')) => {
                self.position += 1;
                let is_whole = self.eat(if sign == b'^' { "^" } else { "," });
                let pattern = self.parse_pieces(operand);
                match sign {
                    _ if !pattern.is_empty() => ParameterOperation::Other(pattern),
                    b'^' => ParameterOperation::Upper { is_whole },
                    _ => ParameterOperation::Lower { is_whole },
                }
            }
            _ => ParameterOperation::Other(self.parse_pieces(operand)),
        }
    }

    fn parse_replacement(&mut self, is_quoted: bool) -> ParameterOperation {
        self.position += 1;
        let is_global = self.eat("/");
        let is_anchored = !is_global && (self.eat("#") || self.eat("%"));
        let mut pattern = self.parse_pieces(WordContext::Pattern { is_quoted });
        let with = if self.eat("/") {
            self.parse_pieces(WordContext::Operand { is_quoted })
        } else {
            Vec::new()
        };
        if is_anchored {
            pattern.extend(with);
            return ParameterOperation::Other(pattern);
        }
        ParameterOperation::Replace {
            is_global,
            pattern,
            with,
        }
    }

    /// Parses `[…]` after a name.
    pub(super) fn parse_index(&mut self) -> Option<RawWord> {
        let from = self.position;
        self.position += 1;
        let pieces = self.parse_nested(|parser| parser.parse_pieces(WordContext::Index));
        self.expect("]");
        Some(RawWord {
            pieces,
            assignment: None,
            span: self.span_from(from),
        })
    }

    /// Parses the arithmetic that opens here; `None` when it is a command substitution or a
    /// subshell that begins with another one.
    pub(super) fn try_parse_arithmetic(&mut self, opening: &str) -> Option<Vec<WordPiece>> {
        let start = self.position;
        if self.not_arithmetic.contains(&start) {
            return None;
        }
        let (was_trial, had_failed) = (self.is_trial, self.has_failed);
        let n_pending = self.pending_documents.len();
        self.is_trial = true;
        self.position += opening.len();
        let pieces = self.parse_nested(|parser| parser.parse_pieces(WordContext::Arithmetic));
        self.is_trial = was_trial;
        if !self.has_failed && self.eat("))") {
            return Some(pieces);
        }
        self.has_failed = had_failed;
        self.pending_documents.truncate(n_pending);
        self.position = start;
        self.not_arithmetic.insert(start);
        None
    }
}
