//! Parses blocks: groups, loops, branches, functions and tests.

use super::{RawWord, ShellParser};
use crate::permission::shell::syntax_tree::{CommandList, CommandNode, CommandNodeKind, ForLoop};

impl ShellParser<'_, '_> {
    /// Parses the block that opens here, if there is one.
    pub(super) fn parse_compound_command(&mut self) -> Option<CommandNodeKind> {
        match self.peek()? {
            b'(' if self.peek_after(1) == Some(b'(') => Some(self.parse_double_parenthesis()),
            b'(' => Some(self.parse_subshell()),
            b'[' if self.eat_word("[[") => Some(CommandNodeKind::Test(self.parse_test_words())),
            b'{' if self.eat_word("{") => Some(CommandNodeKind::Group(self.parse_list_until("}"))),
            _ => match self.peek_word() {
                word @ ("if" | "while" | "until" | "for" | "select" | "case" | "function"
                | "coproc") => {
                    self.position += word.len();
                    Some(self.parse_keyword_command(word))
                }
                _ => None,
            },
        }
    }

    fn parse_keyword_command(&mut self, word: &str) -> CommandNodeKind {
        match word {
            "if" => self.parse_if(),
            "while" | "until" => {
                let test = self.parse_list_until("do");
                let body = self.parse_list_until("done");
                CommandNodeKind::Loop { test, body }
            }
            "for" | "select" => self.parse_for(),
            "case" => self.parse_case(),
            "function" => self.parse_function(),
            _ => self.parse_coprocess(),
        }
    }

    fn parse_list_until(&mut self, word: &str) -> CommandList {
        let list = self.parse_list();
        self.expect_word(word);
        list
    }

    fn parse_subshell(&mut self) -> CommandNodeKind {
        self.expect("(");
        let list = self.parse_list();
        self.expect(")");
        CommandNodeKind::Subshell(list)
    }

    /// `((…))` is arithmetic; `( (…) )` written without its space is not.
    fn parse_double_parenthesis(&mut self) -> CommandNodeKind {
        match self.try_parse_arithmetic("((") {
            Some(pieces) => CommandNodeKind::Test(vec![RawWord {
                pieces,
                ..RawWord::default()
            }]),
            None => self.parse_subshell(),
        }
    }

    /// Parses the words of `[[ … ]]`; its operators do not matter for the analysis.
    fn parse_test_words(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_word("]]") {
                return words;
            }
            match self.peek() {
                None => {
                    self.fail();
                    return words;
                }
                Some(b'(' | b')' | b'&' | b'|' | b';') => self.position += 1,
                Some(b'<' | b'>') if self.peek_after(1) != Some(b'(') => self.position += 1,
                Some(_) => match self.parse_word() {
                    Some(word) => words.push(word),
                    None => self.position = self.next_char_position(),
                },
            }
        }
    }

    /// Returns the position after the next character.
    pub(super) fn next_char_position(&self) -> usize {
        let width = self
            .remaining_text()
            .chars()
            .next()
            .map_or(1, char::len_utf8);
        self.position + width
    }

    fn parse_if(&mut self) -> CommandNodeKind {
        let mut branches = Vec::new();
        loop {
            let test = self.parse_list_until("then");
            let body = self.parse_list();
            branches.push((test, body));
            self.skip_lines();
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                branches.push((CommandList::default(), self.parse_list()));
            }
            self.expect_word("fi");
            return CommandNodeKind::If(branches);
        }
    }

    fn parse_for(&mut self) -> CommandNodeKind {
        self.skip_blanks();
        if self.remaining_text().starts_with("((") {
            let pieces = self.try_parse_arithmetic("((").unwrap_or_default();
            let head = CommandNodeKind::Test(vec![RawWord {
                pieces,
                ..RawWord::default()
            }]);
            let span = self.span_from(self.position);
            let test = CommandList::from_command(CommandNode {
                kind: head,
                redirects: Vec::new(),
                span,
            });
            let body = self.parse_loop_body();
            return CommandNodeKind::Loop { test, body };
        }
        let name = self.parse_name().unwrap_or_default().to_owned();
        if name.is_empty() {
            self.fail();
        }
        self.skip_lines();
        let mut words = None;
        if self.eat_word("in") {
            words = Some(self.parse_words());
        }
        let body = self.parse_loop_body();
        CommandNodeKind::For(ForLoop { name, words, body })
    }

    fn parse_words(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_word() {
                Some(word) => words.push(word),
                None => return words,
            }
        }
    }

    fn parse_loop_body(&mut self) -> CommandList {
        self.skip_blanks();
        if !self.is_case_arm_end() {
            self.eat(";");
        }
        self.skip_lines();
        if self.eat_word("{") {
            return self.parse_list_until("}");
        }
        self.expect_word("do");
        self.parse_list_until("done")
    }

    fn parse_case(&mut self) -> CommandNodeKind {
        self.skip_blanks();
        let subject = self.parse_word().unwrap_or_default();
        self.expect_word("in");
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_word("esac") {
                return CommandNodeKind::Case { subject, arms };
            }
            if self.is_at_end() {
                self.fail();
                return CommandNodeKind::Case { subject, arms };
            }
            self.eat("(");
            let patterns = self.parse_case_patterns();
            let body = self.parse_list();
            arms.push((patterns, body));
            self.skip_lines();
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    /// Parses the patterns of one arm and the `)` after them.
    fn parse_case_patterns(&mut self) -> Vec<RawWord> {
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_word() {
                Some(word) => patterns.push(word),
                None => {
                    self.fail();
                    return patterns;
                }
            }
            self.skip_blanks();
            if self.eat(")") {
                return patterns;
            }
            self.expect("|");
        }
    }

    fn parse_function(&mut self) -> CommandNodeKind {
        self.skip_blanks();
        let rest = self.remaining_text();
        let end = rest
            .bytes()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'{' | b';'));
        let name = rest
            .get(..end.unwrap_or(rest.len()))
            .unwrap_or_default()
            .to_owned();
        self.position += name.len();
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.expect(")");
        }
        self.parse_function_body(name)
    }

    fn parse_coprocess(&mut self) -> CommandNodeKind {
        self.skip_blanks();
        let start = self.position;
        // `coproc NAME { …; }`: the word is a name only if a block follows.
        if self.parse_name().is_some() {
            self.skip_blanks();
            let opens = self.peek() == Some(b'(') || self.peek_word() == "{";
            if !opens {
                self.position = start;
            }
        }
        match self.parse_nested(Self::parse_command) {
            Some(command) => CommandNodeKind::Coprocess(Box::new(command)),
            None => {
                self.fail();
                CommandNodeKind::Group(CommandList::default())
            }
        }
    }
}
