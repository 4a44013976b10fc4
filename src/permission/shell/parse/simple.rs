//! Simple commands: assignments, words, redirections; and functions by `name()`.
//!
//! It refuses to know which words are programs, but for those whose operands assign.

use std::cell::OnceCell;
use std::rc::Rc;

use super::Parser;
use crate::permission::shell::syntax::{
    Assign, AssignValue, Command, Kind, List, RawWord, Redirection, Target,
};

/// Programs whose operands may assign arrays.
const DECLARERS: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// Operators that redirect, longest first.
const REDIRECTS: [&str; 12] = [
    "&>>", "<<<", "<<-", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

impl<'a> Parser<'a, '_> {
    pub(super) fn simple(&mut self, from: usize) -> Option<Command> {
        let mut assigns = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        let mut is_declaration = false;
        let mut end;
        loop {
            end = self.at;
            self.skip_blanks();
            if let Some(redirection) = self.redirection() {
                redirects.push(redirection);
                continue;
            }
            if words.is_empty() {
                if let Some(assign) = self.assign() {
                    assigns.push(assign);
                    continue;
                }
                if let Some(function) = self.function_without_word(from) {
                    return Some(function);
                }
            }
            let word = match is_declaration.then(|| self.assign_word()).flatten() {
                Some(word) => word,
                None => match self.word() {
                    Some(word) => word,
                    None => break,
                },
            };
            let literal = word.literal();
            is_declaration |=
                words.is_empty() && literal.is_some_and(|name| DECLARERS.contains(&name.as_str()));
            words.push(word);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return None;
        }
        let span = self.place.clone().unwrap_or(from..end.max(from));
        Some(Command {
            kind: Kind::Simple { assigns, words },
            redirects,
            span,
        })
    }

    /// `name() body`.
    fn function_without_word(&mut self, from: usize) -> Option<Command> {
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| byte.is_ascii_whitespace() || b"()<>;&|'\"\\$`{}".contains(&byte))?;
        let after = rest.get(end..)?.trim_start_matches([' ', '\t']);
        let inside = after.strip_prefix('(')?.trim_start_matches([' ', '\t']);
        let body = inside.strip_prefix(')')?;
        if end == 0 {
            return None;
        }
        let name = rest.get(..end)?.to_owned();
        self.at = self.text.len() - body.len();
        let kind = self.function_body(name);
        let span = self.span(from);
        Some(Command {
            kind,
            redirects: Vec::new(),
            span,
        })
    }

    pub(super) fn function_body(&mut self, name: String) -> Kind {
        self.skip_lines();
        match self.deeper(Self::command) {
            Some(body) => Kind::Function {
                name,
                body: Rc::new(body),
            },
            None => {
                self.fail();
                Kind::Block(List::default())
            }
        }
    }

    /// `name=…` where a command may still follow.
    fn assign(&mut self) -> Option<Assign> {
        let start = self.at;
        let name = self.name()?;
        let mut index = None;
        if self.peek() == Some(b'[') {
            index = self.index();
        }
        let is_append = self.rest().starts_with("+=");
        if !(self.eat("=") || self.eat("+=")) || self.has_failed {
            self.at = start;
            return None;
        }
        let value = if self.eat("(") {
            AssignValue::Array(self.deeper(Self::array))
        } else {
            let from = self.at;
            let word = self.word().unwrap_or_else(|| RawWord {
                span: self.span(from),
                ..RawWord::default()
            });
            AssignValue::One(word)
        };
        Some(Assign {
            name: name.to_owned(),
            index,
            is_append,
            value,
        })
    }

    fn assign_word(&mut self) -> Option<RawWord> {
        let from = self.at;
        let assign = self.assign()?;
        Some(RawWord {
            assign: Some(Box::new(assign)),
            span: self.span(from),
            ..RawWord::default()
        })
    }

    /// The values of an array up to its `)`.
    fn array(&mut self) -> Vec<RawWord> {
        let mut values = Vec::new();
        loop {
            self.skip_lines();
            if self.eat(")") {
                return values;
            }
            // `[index]=value`: the index is dropped, any element may be meant later.
            if self.peek() == Some(b'[') {
                let start = self.at;
                self.index();
                if !(self.eat("=") || self.eat("+=")) {
                    self.at = start;
                }
            }
            match self.word() {
                Some(word) => values.push(word),
                None if self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) => {}
                None => {
                    self.fail();
                    return values;
                }
            }
        }
    }

    pub(super) fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.bytes().take_while(is_inside).count();
        let name = rest.get(..end)?;
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += end;
        Some(name)
    }

    pub(super) fn redirection(&mut self) -> Option<Redirection> {
        let rest = self.rest();
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut named = None;
        if let Some(inside) = rest.strip_prefix('{') {
            let end = inside
                .bytes()
                .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_'))?;
            if end > 0 && inside.as_bytes().get(end) == Some(&b'}') {
                named = Some(end + 2);
            }
        }
        let operator_at = named.unwrap_or(n_digits);
        let after = rest.get(operator_at..)?;
        let operator = REDIRECTS
            .iter()
            .find(|operator| after.starts_with(**operator))?;
        if after.starts_with("<(") || after.starts_with(">(") {
            return None;
        }
        if operator.starts_with('&') && operator_at > 0 {
            return None;
        }
        let is_input = operator.starts_with('<');
        let fd = match (named, rest.get(..n_digits).unwrap_or_default()) {
            (Some(_), _) => None,
            (None, "") => Some(u32::from(!is_input)),
            (None, digits) => digits.parse().ok(),
        };
        self.at += operator_at + operator.len();
        self.count();
        self.skip_blanks();
        let target = match *operator {
            "<<" | "<<-" => {
                let body = Rc::new(OnceCell::new());
                self.announce_document(*operator == "<<-", Rc::clone(&body));
                Target::Document(body)
            }
            operator => match self.word() {
                Some(word) if operator == "<<<" => Target::Line(word),
                Some(word) => Target::File { operator, word },
                None => {
                    self.fail();
                    return None;
                }
            },
        };
        Some(Redirection { fd, target })
    }
}
