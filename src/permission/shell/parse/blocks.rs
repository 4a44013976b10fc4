//! Blocks: groups, loops, branches, functions and tests.
//!
//! It refuses to know which branch is taken.

use super::{Parser, RawWord};
use crate::permission::shell::syntax::{Command, For, Kind, List};

impl Parser<'_, '_> {
    /// The block that opens here, if one does.
    pub(super) fn block(&mut self) -> Option<Kind> {
        match self.peek()? {
            b'(' if self.peek_after(1) == Some(b'(') => Some(self.double_parenthesis()),
            b'(' => Some(self.subshell()),
            b'[' if self.eat_word("[[") => Some(Kind::Test(self.test())),
            b'{' if self.eat_word("{") => Some(Kind::Block(self.until_word("}"))),
            _ => match self.peek_word() {
                word @ ("if" | "while" | "until" | "for" | "select" | "case" | "function"
                | "coproc") => {
                    self.at += word.len();
                    Some(self.named_block(word))
                }
                _ => None,
            },
        }
    }

    fn named_block(&mut self, word: &str) -> Kind {
        match word {
            "if" => self.branches(),
            "while" | "until" => {
                let test = self.until_word("do");
                let body = self.until_word("done");
                Kind::Loop { test, body }
            }
            "for" | "select" => self.each(),
            "case" => self.case(),
            "function" => self.function(),
            _ => self.coprocess(),
        }
    }

    fn until_word(&mut self, word: &str) -> List {
        let list = self.list();
        self.expect_word(word);
        list
    }

    fn subshell(&mut self) -> Kind {
        self.expect("(");
        let list = self.list();
        self.expect(")");
        Kind::Subshell(list)
    }

    /// `((…))` is arithmetic, `( (…) )` written without its blank is not.
    fn double_parenthesis(&mut self) -> Kind {
        match self.arithmetic_here("((") {
            Some(pieces) => Kind::Test(vec![RawWord {
                pieces,
                ..RawWord::default()
            }]),
            None => self.subshell(),
        }
    }

    /// The words of `[[ … ]]`; its operators matter to nobody.
    fn test(&mut self) -> Vec<RawWord> {
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
                Some(b'(' | b')' | b'&' | b'|' | b';') => self.at += 1,
                Some(b'<' | b'>') if self.peek_after(1) != Some(b'(') => self.at += 1,
                Some(_) => match self.word() {
                    Some(word) => words.push(word),
                    None => self.at = self.next_boundary(),
                },
            }
        }
    }

    /// Past the character that stands here.
    pub(super) fn next_boundary(&self) -> usize {
        let width = self.rest().chars().next().map_or(1, char::len_utf8);
        self.at + width
    }

    fn branches(&mut self) -> Kind {
        let mut branches = Vec::new();
        loop {
            let test = self.until_word("then");
            let body = self.list();
            branches.push((test, body));
            self.skip_lines();
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                branches.push((List::default(), self.list()));
            }
            self.expect_word("fi");
            return Kind::If(branches);
        }
    }

    fn each(&mut self) -> Kind {
        self.skip_blanks();
        if self.rest().starts_with("((") {
            let pieces = self.arithmetic_here("((").unwrap_or_default();
            let head = Kind::Test(vec![RawWord {
                pieces,
                ..RawWord::default()
            }]);
            let span = self.span(self.at);
            let test = List::of(Command {
                kind: head,
                redirects: Vec::new(),
                span,
            });
            let body = self.loop_body();
            return Kind::Loop { test, body };
        }
        let name = self.name().unwrap_or_default().to_owned();
        if name.is_empty() {
            self.fail();
        }
        self.skip_lines();
        let mut words = None;
        if self.eat_word("in") {
            words = Some(self.words());
        }
        let body = self.loop_body();
        Kind::For(For { name, words, body })
    }

    fn words(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.word() {
                Some(word) => words.push(word),
                None => return words,
            }
        }
    }

    fn loop_body(&mut self) -> List {
        self.skip_blanks();
        if !self.is_arm_end() {
            self.eat(";");
        }
        self.skip_lines();
        if self.eat_word("{") {
            return self.until_word("}");
        }
        self.expect_word("do");
        self.until_word("done")
    }

    fn case(&mut self) -> Kind {
        self.skip_blanks();
        let subject = self.word().unwrap_or_default();
        self.expect_word("in");
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.eat_word("esac") {
                return Kind::Case { subject, arms };
            }
            if self.is_at_end() {
                self.fail();
                return Kind::Case { subject, arms };
            }
            self.eat("(");
            let patterns = self.patterns();
            let body = self.list();
            arms.push((patterns, body));
            self.skip_lines();
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    /// The patterns of one arm and the `)` after them.
    fn patterns(&mut self) -> Vec<RawWord> {
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            match self.word() {
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

    fn function(&mut self) -> Kind {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'{' | b';'));
        let name = rest
            .get(..end.unwrap_or(rest.len()))
            .unwrap_or_default()
            .to_owned();
        self.at += name.len();
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.expect(")");
        }
        self.function_body(name)
    }

    fn coprocess(&mut self) -> Kind {
        self.skip_blanks();
        let start = self.at;
        // `coproc NAME { …; }`: a name only where a block follows it.
        if self.name().is_some() {
            self.skip_blanks();
            let opens = self.peek() == Some(b'(') || self.peek_word() == "{";
            if !opens {
                self.at = start;
            }
        }
        match self.deeper(Self::command) {
            Some(command) => Kind::Coprocess(Box::new(command)),
            None => {
                self.fail();
                Kind::Block(List::default())
            }
        }
    }
}
