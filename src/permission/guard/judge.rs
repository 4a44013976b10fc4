//! From what a text would run to one verdict: the strictest that phrases, families and doubts give.
//!
//! It refuses to know what single programs do.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use crate::permission::shell::{self, Doubt, Input, Limits, Reading, Simple, Word, WrapperKind};

use super::builtin::{BY_PROGRAM, Builtin};
use super::command::{Command, plain_name, without_carrier};
use super::pattern::Match;
use super::phrases::Phrase;
use super::place::joined;
use super::{Class, Settings, Verdict};
use super::{
    databases, devices, files, git, infrastructure, interpreters, permissions, phrases, remote,
    system, unpacked, wrapped,
};

/// What a word that is not known may hide.
pub static WORDS: Builtin = Builtin::confirm(
    "undecided.words",
    "does what a word decides that only a run would show",
    &[],
);
static PROGRAM: Builtin = Builtin::confirm(
    "undecided.program",
    "runs a program whose name only a run would show",
    &[],
);
static TEXT: Builtin = Builtin::confirm(
    "undecided.text",
    "runs a text that only a run would show",
    &[],
);
static SYNTAX: Builtin = Builtin::confirm("undecided.syntax", "cannot be read as shell text", &[]);
static LIMIT: Builtin = Builtin::confirm(
    "undecided.limit",
    "is too large or too deep to be followed",
    &[],
);

/// What cannot be decided.
pub const RULES: &[&Builtin] = &[&WORDS, &PROGRAM, &TEXT, &SYNTAX, &LIMIT];

/// How deep texts inside texts are followed.
const DEPTH: usize = 6;

/// Longest run of words that is looked at from one place of a text that cannot be read.
const ROUGH_WORDS: usize = 24;

/// Most commands that are looked for in a text that cannot be read.
const ROUGH_COMMANDS: usize = 400;

/// Steps that judging a command takes, besides those for its words.
const JUDGED: usize = 16;

/// The longest name of a working folder that is followed; a longer one goes by its beginning.
const LONGEST_FOLDER: usize = 256;

/// A text, what is known of it, and what was found so far.
pub struct Scene<'a> {
    /// Everything that the text would run.
    pub reading: &'a Reading,
    /// What the guard goes by.
    pub settings: &'a Settings,
    /// The working folder that a `cd` before left, where it is known; `None` where the text began.
    pub cwd: Option<String>,
    phrases: &'a [Phrase],
    depth: usize,
    found: RefCell<Option<Verdict>>,
    /// Steps that are left, for this text and those in it.
    left: &'a Cell<usize>,
    fetches: OnceCell<bool>,
}

impl Scene<'_> {
    /// Notes that a rule holds for a part of the text.
    pub fn note(&self, rule: &Builtin, span: &Range<usize>) {
        let change = self.settings.builtin.get(rule.name).copied();
        let Some(class) = rule.class_by(change) else {
            return;
        };
        self.add(Verdict {
            class,
            rule: rule.name.to_owned(),
            reason: format!("it {}", rule.reason),
            span: span.clone(),
        });
    }

    /// Judges a text that a command of this one runs.
    pub fn note_text(&self, text: &str, span: &Range<usize>) {
        if self.depth >= DEPTH {
            return self.note(&LIMIT, span);
        }
        let reading = shell::read(text, &self.inner_limits());
        if self.take(1 + reading.steps, span) {
            self.note_reading(&reading, text, span);
        }
    }

    /// Judges a command that a command of this one starts without a shell.
    pub fn note_argv(&self, argv: &[String], span: &Range<usize>) {
        if self.depth >= DEPTH {
            return self.note(&LIMIT, span);
        }
        let reading = shell::read_argv(argv, &self.inner_limits());
        if self.take(1 + reading.steps, span) {
            self.note_reading(&reading, &argv.join(" "), span);
        }
    }

    /// Each level has half of the work of the one above.
    fn inner_limits(&self) -> Limits {
        let limits = self.settings.limits;
        Limits {
            bytes: limits.bytes,
            nodes: (limits.nodes >> (self.depth + 1)).min(self.left.get()),
            ..limits
        }
    }

    /// Counts steps; `false`, which is noted, when there are no more.
    pub fn take(&self, steps: usize, span: &Range<usize>) -> bool {
        let left = self.left.get().saturating_sub(steps);
        self.left.set(left);
        if left == 0 {
            self.note(&LIMIT, span);
        }
        left > 0
    }

    /// Tells whether some command brings bytes from another machine.
    pub fn fetches(&self) -> bool {
        *self
            .fetches
            .get_or_init(|| self.reading.commands.iter().any(remote::is_fetcher))
    }

    fn note_reading(&self, reading: &Reading, text: &str, span: &Range<usize>) {
        let inner = Scene {
            reading,
            settings: self.settings,
            cwd: self.cwd.clone(),
            phrases: self.phrases,
            depth: self.depth + 1,
            found: RefCell::new(None),
            left: self.left,
            fetches: OnceCell::new(),
        };
        if let Some(verdict) = inner.judged(text) {
            self.add(Verdict {
                span: span.clone(),
                ..verdict
            });
        }
    }

    /// Judges a text as one that cannot be read: by the words in it, wherever they stand.
    pub fn note_words(&self, text: &str, span: &Range<usize>) {
        if text.contains(' ') && self.take(1 + text.len() / 8, span) {
            self.judge_lines(&shell::rough(text), span, false);
        }
    }

    /// Where a path of a command leads, by name.
    pub fn path(&self, text: &str) -> String {
        joined(self.cwd.as_deref(), text)
    }

    fn add(&self, verdict: Verdict) {
        let mut found = self.found.borrow_mut();
        if found
            .as_ref()
            .is_none_or(|found| found.class < verdict.class)
        {
            *found = Some(verdict);
        }
    }

    fn judged(mut self, text: &str) -> Option<Verdict> {
        let commands = &self.reading.commands;
        for simple in commands {
            if !self.take(cost(simple), &simple.span) {
                break;
            }
            self.judge_simple(simple);
            self.follow_cd(simple);
        }
        self.cwd = began(self.settings);
        if self.left.get() > 0 {
            remote::judge_together(&self);
        }
        self.judge_doubts(text);
        self.found.into_inner()
    }

    fn judge_simple(&self, simple: &Simple) {
        for wrapper in &simple.via {
            if let Some(command) = Command::of(&wrapper.words, simple) {
                self.judge_phrases(&command);
                system::judge_wrapper(wrapper, &command, self);
                wrapped::judge_wrapper(wrapper, simple, self);
            }
        }
        devices::judge_redirects(simple, self);
        files::judge_redirects(simple, self);
        phrases::judge_redirects(simple, self.phrases, self);
        git::judge_assigned(simple, self);
        let words = without_carrier(&simple.words);
        self.judge_words(&words, simple);
        if let Cow::Borrowed(behind) = &words
            && behind.len() < simple.words.len()
            && let Some(carrier) = Command::of(&simple.words, simple)
        {
            self.judge_phrases(&carrier);
        }
    }

    fn judge_words(&self, words: &[Word], simple: &Simple) {
        let Some(command) = Command::of(words, simple) else {
            return;
        };
        if words.first().is_some_and(|first| !first.is_sure) {
            return self.judge_dynamic(words, simple);
        }
        if command.only_helps() && !command.is(files::TREE_REMOVERS) {
            return;
        }
        self.judge_phrases(&command);
        self.judge_bare(words, simple);
        self.judge_patterns(&command);
        files::judge(&command, self);
        unpacked::judge(&command, self);
        permissions::judge(&command, self);
        devices::judge(&command, self);
        git::judge(&command, self);
        remote::judge(&command, self);
        interpreters::judge(&command, self);
        databases::judge(&command, self);
        infrastructure::judge(&command, self);
        wrapped::judge(&command, self);
        system::judge(&command, self);
    }

    /// `rm ${nothing}-rf x`: what is not known in front of an option is mostly nothing.
    fn judge_bare(&self, words: &[Word], simple: &Simple) {
        let is_hidden = |word: &Word| {
            word.text.starts_with(shell::UNKNOWN)
                && word
                    .text
                    .trim_start_matches(shell::UNKNOWN)
                    .starts_with('-')
        };
        if !words.iter().any(is_hidden) {
            return;
        }
        let bare: Vec<Word> = words
            .iter()
            .map(|word| match is_hidden(word) {
                true => Word::new(word.text.trim_start_matches(shell::UNKNOWN)),
                false => word.clone(),
            })
            .collect();
        if let Some(command) = Command::of(&bare, simple) {
            self.judge_phrases(&command);
        }
    }

    /// The words behind a program that is not known may themselves be a command, or be `rm`'s.
    fn judge_dynamic(&self, words: &[Word], simple: &Simple) {
        self.note(&PROGRAM, &simple.span);
        let rest = words.get(1..).unwrap_or_default();
        if rest.iter().any(|word| files::is_tree_flag(&word.text)) {
            self.note(&files::UNKNOWN_TREE, &simple.span);
        }
        for at in 0..rest.len().min(8) {
            let behind = &rest[at..];
            if let Some(command) = Command::of(behind, simple) {
                self.judge_phrases(&command);
            }
        }
    }

    fn judge_phrases(&self, command: &Command<'_>) {
        for phrase in self.phrases {
            match phrase.find(command, self) {
                Match::No => {}
                Match::Maybe => self.note(&WORDS, &command.simple.span),
                Match::Yes => self.add(phrase.verdict(&command.simple.span)),
            }
        }
    }

    fn judge_patterns(&self, command: &Command<'_>) {
        for (rule, pattern) in BY_PROGRAM.get(&command.program).into_iter().flatten() {
            match pattern.find(command) {
                Match::No => {}
                Match::Maybe => self.note(&WORDS, &command.simple.span),
                Match::Yes => self.note(rule, &command.simple.span),
            }
        }
    }

    /// Notes a redirect that a phrase speaks of.
    pub fn note_phrase(&self, phrase: &Phrase, span: &Range<usize>) {
        self.add(phrase.verdict(span));
    }

    fn follow_cd(&mut self, simple: &Simple) {
        let mut words = simple.words.iter();
        if !words
            .next()
            .is_some_and(|first| matches!(first.text.as_str(), "cd" | "pushd" | "chdir"))
        {
            return;
        }
        let target = words.find(|word| !matches!(word.text.as_str(), "-P" | "-L" | "-e" | "--"));
        self.cwd = match target {
            None => Some("~".to_owned()),
            Some(word) if word.text == "-" || !word.is_sure => began(self.settings),
            Some(word) => Some(beginning(self.path(&word.text))),
        };
    }

    fn judge_doubts(&self, text: &str) {
        let mut is_rough = false;
        for doubt in &self.reading.doubts {
            match doubt {
                Doubt::ForkBomb { span } => self.note(&system::FORK_BOMB, span),
                Doubt::Unparsable { span } => {
                    self.note(&SYNTAX, span);
                    is_rough = true;
                }
                Doubt::Limit { span, .. } => {
                    self.note(&LIMIT, span);
                    is_rough = true;
                }
                Doubt::DynamicProgram { span } => self.note(&PROGRAM, span),
                Doubt::DynamicText { span } if remote::is_own_text(self, span) => {}
                Doubt::DynamicText { span } => self.note(&TEXT, span),
            }
        }
        if self.left.get() == 0 {
            self.judge_rough(&shell::rough(text), text);
        } else if is_rough {
            self.judge_rough(&self.reading.rough, text);
        }
    }

    /// Looks for commands at every place of a text that cannot be read; only what is dangerous counts.
    fn judge_rough(&self, lines: &[Vec<String>], text: &str) {
        self.judge_lines(lines, &(0..text.len()), text.contains('>'));
    }

    fn judge_lines(&self, lines: &[Vec<String>], span: &Range<usize>, has_redirect: bool) {
        let mut left = ROUGH_COMMANDS;
        for line in lines {
            let words: Vec<Word> = line.iter().map(Word::new).collect();
            let redirected = line.first().filter(|_| has_redirect);
            if redirected
                .is_some_and(|target| phrases::is_blocked_target(target, self.phrases, self))
            {
                self.note(&devices::WRITE, span);
            }
            for at in 0..words.len() {
                let behind = words
                    .get(at..words.len().min(at + ROUGH_WORDS))
                    .unwrap_or_default();
                if left > 0 && self.judge_rough_command(behind, span) {
                    left -= 1;
                }
            }
            if self
                .found
                .borrow()
                .as_ref()
                .is_some_and(|found| found.class == Class::Dangerous)
            {
                return;
            }
        }
    }

    /// Tells whether the first word is a program that is looked for.
    fn judge_rough_command(&self, words: &[Word], span: &Range<usize>) -> bool {
        let Some(first) = words.first() else {
            return false;
        };
        let name = plain_name(&first.text);
        let is_known = BY_PROGRAM.contains_key(&name)
            || self.phrases.iter().any(|phrase| phrase.begins_with(&name));
        if !is_known {
            return false;
        }
        let simple = Simple {
            words: words.to_vec(),
            via: Vec::new(),
            redirects: Vec::new(),
            input: Input::Nothing,
            assigned: Vec::new(),
            span: span.clone(),
        };
        if let Some(command) = Command::of(&simple.words, &simple) {
            self.judge_phrases(&command);
            self.judge_patterns(&command);
        }
        true
    }
}

/// How many steps judging a command takes.
fn cost(simple: &Simple) -> usize {
    let around: usize = simple
        .via
        .iter()
        .map(|wrapper| 2 + wrapper.words.len())
        .sum();
    let input = match &simple.input {
        Input::Text(text) => text.len() / 64,
        Input::Pipe(from) => from.len(),
        Input::Nothing | Input::Unknown => 0,
    };
    JUDGED + simple.words.len() + around + simple.redirects.len() + input
}

/// The first part of a folder's name.
fn beginning(mut path: String) -> String {
    if let Some((at, _)) = path.char_indices().nth(LONGEST_FOLDER) {
        path.truncate(at);
    }
    path
}

/// The strictest verdict over a reading; `text` is what it was read from.
pub fn verdict(reading: &Reading, text: &str, settings: &Settings) -> Verdict {
    let phrases = Phrase::all(settings);
    let left = Cell::new(settings.limits.for_text(text.len()));
    let scene = Scene {
        reading,
        settings,
        cwd: began(settings),
        phrases: &phrases,
        depth: 0,
        found: RefCell::new(None),
        left: &left,
        fetches: OnceCell::new(),
    };
    scene.judged(text).unwrap_or(Verdict {
        class: Class::Safe,
        rule: String::new(),
        reason: String::new(),
        span: 0..0,
    })
}

/// What is said of a text that no shell can be given.
pub fn unreadable(settings: &Settings) -> Verdict {
    let change = settings.builtin.get(SYNTAX.name).copied();
    Verdict {
        class: SYNTAX.class_by(change).unwrap_or(SYNTAX.class),
        rule: SYNTAX.name.to_owned(),
        reason: format!("it {}", SYNTAX.reason),
        span: 0..0,
    }
}

fn began(settings: &Settings) -> Option<String> {
    let cwd = settings.cwd.as_deref()?.to_str()?;
    Some(cwd.to_owned())
}

/// Tells whether a command is run once for each of many arguments that are not known.
pub fn is_each(simple: &Simple) -> bool {
    let mut wrappers = simple
        .via
        .iter()
        .rev()
        .skip_while(|wrapper| wrapper.kind == WrapperKind::Known);
    let is_next = wrappers
        .next()
        .is_some_and(|wrapper| wrapper.kind == WrapperKind::Each);
    let is_any = simple
        .via
        .iter()
        .any(|wrapper| wrapper.kind == WrapperKind::Each);
    is_next || (is_any && simple.words.iter().any(|word| !word.is_sure))
}
