//! Parses simple commands (assignments, words, redirections) and functions written as `name()`.

use std::cell::OnceCell;
use std::rc::Rc;

use super::ShellParser;
use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::syntax_tree::{
    AssignmentNode, AssignmentValue, CommandList, CommandNode, CommandNodeKind, RawWord,
    RedirectionNode, RedirectionTarget,
};

/// Redirection operators, longest first.
const REDIRECTION_OPERATORS: [&str; 12] = [
    "&>>", "<<<", "<<-", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

impl<'a> ShellParser<'a, '_> {
    pub(super) fn parse_simple_command(&mut self, from: usize) -> Option<CommandNode> {
        let mut assigns = Vec::new();
        let mut words: Vec<RawWord> = Vec::new();
        let mut redirects = Vec::new();
        let mut is_declaration = false;
        let mut end;
        loop {
            end = self.position;
            self.skip_blanks();
            if let Some(redirection) = self.parse_redirection() {
                redirects.push(redirection);
                continue;
            }
            if words.is_empty() {
                if let Some(assign) = self.parse_assignment() {
                    assigns.push(assign);
                    continue;
                }
                if let Some(function) = self.parse_function_by_parentheses(from) {
                    return Some(function);
                }
            }
            let word = match is_declaration
                .then(|| self.parse_assignment_word())
                .flatten()
            {
                Some(word) => word,
                None => match self.parse_word() {
                    Some(word) => word,
                    None => break,
                },
            };
            let literal = word.literal_text();
            is_declaration |= words.is_empty()
                && literal.is_some_and(|name| has_trait(&name, ProgramTrait::Declaration));
            words.push(word);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return None;
        }
        let span = self.fixed_span.clone().unwrap_or(from..end.max(from));
        Some(CommandNode {
            kind: CommandNodeKind::Simple { assigns, words },
            redirects,
            span,
        })
    }

    /// Parses `name() body`.
    fn parse_function_by_parentheses(&mut self, from: usize) -> Option<CommandNode> {
        let rest = self.remaining_text();
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
        self.position = self.text.len() - body.len();
        let kind = self.parse_function_body(name);
        let span = self.span_from(from);
        Some(CommandNode {
            kind,
            redirects: Vec::new(),
            span,
        })
    }

    pub(super) fn parse_function_body(&mut self, name: String) -> CommandNodeKind {
        self.skip_lines();
        match self.parse_nested(Self::parse_command) {
            Some(body) => CommandNodeKind::Function {
                name,
                body: Rc::new(body),
            },
            None => {
                self.fail();
                CommandNodeKind::Group(CommandList::default())
            }
        }
    }

    /// Parses `name=…`, which a command may follow.
    fn parse_assignment(&mut self) -> Option<AssignmentNode> {
        let start = self.position;
        let name = self.parse_name()?;
        let mut index = None;
        if self.peek() == Some(b'[') {
            index = self.parse_index();
        }
        let is_append = self.remaining_text().starts_with("+=");
        if !(self.eat("=") || self.eat("+=")) || self.has_failed {
            self.position = start;
            return None;
        }
        let value = if self.eat("(") {
            AssignmentValue::Array(self.parse_nested(Self::parse_array))
        } else {
            let from = self.position;
            let word = self.parse_word().unwrap_or_else(|| RawWord {
                span: self.span_from(from),
                ..RawWord::default()
            });
            AssignmentValue::One(word)
        };
        Some(AssignmentNode {
            name: name.to_owned(),
            index,
            is_append,
            value,
        })
    }

    fn parse_assignment_word(&mut self) -> Option<RawWord> {
        let from = self.position;
        let assign = self.parse_assignment()?;
        Some(RawWord {
            assignment: Some(Box::new(assign)),
            span: self.span_from(from),
            ..RawWord::default()
        })
    }

    /// Parses the values of an array up to its `)`.
    fn parse_array(&mut self) -> Vec<RawWord> {
        let mut values = Vec::new();
        loop {
            self.skip_lines();
            if self.eat(")") {
                return values;
            }
            // `[index]=value`: the index is dropped, since any element may be meant later.
            if self.peek() == Some(b'[') {
                let start = self.position;
                self.parse_index();
                if !(self.eat("=") || self.eat("+=")) {
                    self.position = start;
                }
            }
            match self.parse_word() {
                Some(word) => values.push(word),
                None if self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) => {}
                None => {
                    self.fail();
                    return values;
                }
            }
        }
    }

    pub(super) fn parse_name(&mut self) -> Option<&'a str> {
        let rest = self.remaining_text();
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.bytes().take_while(is_inside).count();
        let name = rest.get(..end)?;
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.position += end;
        Some(name)
    }

    pub(super) fn parse_redirection(&mut self) -> Option<RedirectionNode> {
        let rest = self.remaining_text();
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
        let operator = REDIRECTION_OPERATORS
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
        self.position += operator_at + operator.len();
        self.count_step();
        self.skip_blanks();
        let target = match *operator {
            "<<" | "<<-" => {
                let body = Rc::new(OnceCell::new());
                self.parse_document_delimiter(*operator == "<<-", Rc::clone(&body));
                RedirectionTarget::HereDocument(body)
            }
            operator => match self.parse_word() {
                Some(word) if operator == "<<<" => RedirectionTarget::HereString(word),
                Some(word) => RedirectionTarget::File { operator, word },
                None => {
                    self.fail();
                    return None;
                }
            },
        };
        Some(RedirectionNode { fd, target })
    }
}
