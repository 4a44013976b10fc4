//! The state of one reading: the commands found, the files written, what is being called.
//!
//! It refuses to know syntax and programs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::env::{Env, Variable};
use super::parse;
use super::syntax::List;
use super::value::{Field, Texts, Value};
use super::work::Work;
use super::{
    Doubt, Input, Limited, Limits, Reading, Redirect, Simple, Word, Wrapper, WrapperKind, rough,
};

/// One reading under way.
pub struct Reader {
    pub work: Work,
    pub commands: Vec<Simple>,
    /// What traps run at the end, when functions are known that stand behind them.
    pub traps: Vec<Trap>,
    /// The wrappers around what is being read, outermost first.
    pub via: Vec<Wrapper>,
    /// What the text has written so far, by the file's name without its folder.
    files: BTreeMap<String, Texts>,
    /// The functions and scripts being run, each with the forks around its call.
    pub calls: Vec<(String, usize)>,
    /// How many pipes and background jobs are around what is being read.
    pub n_forks: usize,
    /// Functions that were called or looked into.
    pub called: BTreeSet<String>,
    here: Range<usize>,
    n_processes: usize,
    /// The lists in `>(…)` that the commands under way may write to.
    pub waiting: Vec<Waiting>,
}

/// A list that reads what is written to the name of its `>(…)`.
pub struct Waiting {
    pub name: String,
    pub list: Rc<List>,
    pub env: Env,
    /// Whether something that was followed has been written to it.
    pub is_fed: bool,
}

/// What a trap runs.
pub struct Trap {
    pub texts: Texts,
    pub wrapper: Wrapper,
    pub call: Call,
    /// How many functions were known when it was set.
    pub n_functions: usize,
}

/// What standard input is.
#[derive(Debug, Clone)]
pub enum Feed {
    Nothing,
    Texts(Texts),
    Unknown,
}

impl Feed {
    /// How many steps a copy of it takes.
    pub fn cost(&self) -> usize {
        match self {
            Self::Nothing | Self::Unknown => 0,
            Self::Texts(texts) => texts.cost(),
        }
    }
}

/// Steps for one command found, which is judged later.
const EMITTED: usize = 8;

/// A command about to be run.
#[derive(Debug, Clone)]
pub struct Call {
    pub words: Vec<Field>,
    pub assigned: Vec<(String, Field)>,
    pub redirects: Vec<Redirect>,
    pub feed: Feed,
    pub span: Range<usize>,
    /// What the program's name may be.
    pub names: Names,
}

/// What the first word of a call may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// A function, an alias or a program.
    All,
    /// A program, behind a wrapper.
    Programs,
}

impl Call {
    /// The same call with other words.
    pub fn with_words(&self, words: Vec<Field>) -> Self {
        Self {
            words,
            assigned: self.assigned.clone(),
            redirects: self.redirects.clone(),
            feed: self.feed.clone(),
            span: self.span.clone(),
            names: self.names,
        }
    }

    pub fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", Field::text)
    }

    /// The words after the program.
    pub fn arguments(&self) -> &[Field] {
        self.words.get(1..).unwrap_or_default()
    }
}

impl Reader {
    /// For a text of so many bytes.
    pub fn new(limits: Limits, n_bytes: usize) -> Self {
        Self {
            work: Work::new(limits, n_bytes),
            commands: Vec::new(),
            traps: Vec::new(),
            via: Vec::new(),
            files: BTreeMap::new(),
            calls: Vec::new(),
            n_forks: 0,
            called: BTreeSet::new(),
            here: 0..0,
            n_processes: 0,
            waiting: Vec::new(),
        }
    }

    /// Reads the outermost text.
    pub fn read(mut self, text: &str) -> Reading {
        let whole = 0..text.len();
        let mut env = Env::default();
        if text.len() > self.work.limits.bytes {
            self.work.limit(Limited::Bytes, &whole);
        } else {
            let list = parse::parse(text, None, &mut self.work);
            self.list(&list, &mut env, &Feed::Nothing);
            for trap in std::mem::take(&mut self.traps) {
                if trap.n_functions < env.n_functions() {
                    self.read_texts_apart(&trap.texts, trap.wrapper, &trap.call, &env);
                }
            }
            self.look_into_functions(&mut env);
        }
        self.finished(|| rough::split(text))
    }

    /// Reads a command that is started without a shell.
    pub fn read_argv(mut self, argv: &[String]) -> Reading {
        let n_bytes = argv.iter().map(|word| word.len() + 1).sum::<usize>();
        let span = 0..n_bytes.saturating_sub(1);
        if n_bytes > self.work.limits.bytes {
            self.work.limit(Limited::Bytes, &span);
        } else if !argv.is_empty() {
            let call = Call {
                words: argv.iter().map(Field::known).collect(),
                assigned: Vec::new(),
                redirects: Vec::new(),
                feed: Feed::Nothing,
                span,
                names: Names::All,
            };
            self.run(call, &mut Env::default());
        }
        self.finished(|| argv.iter().flat_map(|word| rough::split(word)).collect())
    }

    fn finished(self, rough: impl FnOnce() -> Vec<Vec<String>>) -> Reading {
        Reading {
            rough: if self.work.is_incomplete {
                rough()
            } else {
                Vec::new()
            },
            commands: self.commands,
            steps: self.work.steps(),
            doubts: self.work.doubts,
        }
    }

    /// The span of the command being read.
    pub fn here(&self) -> Range<usize> {
        self.here.clone()
    }

    pub fn stand_at(&mut self, span: &Range<usize>) {
        self.here = span.clone();
    }

    /// Notes a command; answers its index.
    pub fn emit(&mut self, call: &Call) -> usize {
        let input = input(&call.feed);
        self.emit_reading(call, input)
    }

    pub fn emit_reading(&mut self, call: &Call, input: Input) -> usize {
        let n_words: usize = self.via.iter().map(|wrapper| 1 + wrapper.words.len()).sum();
        let n_around = call.redirects.len() + call.assigned.len();
        let steps = EMITTED + call.words.len() + n_words + n_around + call.feed.cost();
        if self.work.take(steps, &call.span) {
            self.commands.push(Simple {
                words: call.words.iter().map(Field::word).collect(),
                via: self.via.clone(),
                redirects: call.redirects.clone(),
                input,
                assigned: assigned(call),
                span: call.span.clone(),
            });
        }
        self.commands.len().saturating_sub(1)
    }

    /// Notes the redirects and assignments of something whose own words are not a command.
    pub fn emit_around(&mut self, call: &Call) {
        if !call.redirects.is_empty() || !call.assigned.is_empty() {
            self.emit(&call.with_words(Vec::new()));
        }
    }

    /// Notes a command that runs a text that is not known; `from` are the commands that wrote it.
    pub fn emit_dynamic(&mut self, call: &Call, from: Vec<usize>) -> Texts {
        let span = call.span.clone();
        self.work.doubt(Doubt::DynamicText { span });
        let input = if from.is_empty() {
            input(&call.feed)
        } else {
            Input::Pipe(from)
        };
        Texts::one(Value::output_of(self.emit_reading(call, input)))
    }

    /// Reads texts that a call runs as shell commands; `env` is what they see and change.
    pub fn read_texts(
        &mut self,
        texts: &Texts,
        wrapper: Wrapper,
        call: &Call,
        env: &mut Env,
    ) -> Texts {
        let n_commands = self.commands.len();
        // Commands that come from the input leave nothing of it that is known.
        let feed = match &call.feed {
            Feed::Texts(input) if input == texts => Feed::Nothing,
            feed => feed.clone(),
        };
        let mut out: Option<Texts> = None;
        for value in texts.iter() {
            let known = Texts::one(value.clone());
            // What another command writes may be a line of its own anywhere in the text.
            let begins_unknown = value
                .text
                .lines()
                .any(|line| line.trim_start().starts_with(super::UNKNOWN));
            let mut written = Texts::nothing();
            if known.is_unknown() || begins_unknown && !value.from.is_empty() {
                written = self.emit_dynamic(call, value.from.clone());
            }
            if !known.is_unknown() {
                let inner = Call {
                    words: Vec::new(),
                    feed: feed.clone(),
                    ..call.clone()
                };
                written = self.read_text(&value.text, wrapper.clone(), &inner, env);
            }
            out = Some(match out {
                Some(out) => out.or(written),
                None => written,
            });
        }
        if self.commands.len() == n_commands {
            self.emit(call);
        } else {
            self.emit_around(call);
        }
        out.unwrap_or_else(Texts::unknown)
    }

    /// Reads texts that leave nothing behind in this shell.
    pub fn read_texts_apart(
        &mut self,
        texts: &Texts,
        wrapper: Wrapper,
        call: &Call,
        env: &Env,
    ) -> Texts {
        let mut apart = self.branch(env);
        self.read_texts(texts, wrapper, call, &mut apart)
    }

    fn read_text(&mut self, text: &str, wrapper: Wrapper, call: &Call, env: &mut Env) -> Texts {
        if !self.work.enter(&call.span) {
            return Texts::unknown();
        }
        self.work.take(1 + text.len() / 32, &call.span);
        let list = parse::parse(text, Some(call.span.clone()), &mut self.work);
        self.via.push(wrapper);
        let out = self.list(&list, env, &call.feed);
        self.via.pop();
        self.work.leave();
        out
    }

    /// What a file holds that this text has written; `None` when it has not.
    pub fn file(&self, path: &Field) -> Option<&Texts> {
        self.files.get(file_name(path.text()))
    }

    /// Notes what a file may hold now, beside what it held.
    pub fn write_file(&mut self, path: &str, texts: Texts) {
        if self.is_waiting(path) {
            return self.feed_waiting(path, texts);
        }
        let here = self.here();
        let held = self.files.get(file_name(path)).map_or(0, Texts::cost);
        self.work.take(4 * (texts.cost() + held), &here);
        let name = file_name(path).to_owned();
        let texts = match self.files.remove(&name) {
            // What is put at the end of a file may stand alone or behind what was there.
            Some(old) => old.clone().then(&texts).or(texts).or(old),
            None => texts,
        };
        self.files.insert(name, texts);
    }

    /// A name for what a process substitution writes.
    pub fn open_process(&mut self, texts: Texts) -> String {
        self.n_processes += 1;
        let name = format!("/dev/fd/{}", 1_000 + self.n_processes);
        self.files.insert(file_name(&name).to_owned(), texts);
        name
    }

    /// The shell wrapper of a call: its words up to the text that it runs.
    pub fn shell_wrapper(name: &str, words: &[Field]) -> Wrapper {
        Wrapper {
            name: name.to_owned(),
            kind: WrapperKind::Shell,
            words: words.iter().map(Field::word).collect(),
        }
    }
}

/// A file's name without its folder; a name that is not known is the same as itself.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn assigned(call: &Call) -> Vec<(String, Word)> {
    let pairs = call.assigned.iter();
    pairs
        .map(|(name, field)| (name.clone(), field.word()))
        .collect()
}

/// What a command reads, as the reading tells it.
fn input(feed: &Feed) -> Input {
    let texts = match feed {
        Feed::Nothing => return Input::Nothing,
        Feed::Unknown => return Input::Unknown,
        Feed::Texts(texts) => texts,
    };
    let from = texts.from();
    if !from.is_empty() {
        return Input::Pipe(from);
    }
    let texts: Vec<&str> = texts.iter().map(|value| value.text.as_str()).collect();
    Input::Text(texts.join("\n"))
}

/// The environment of a shell that a call starts with arguments.
pub fn child_env(env: &Env, call: &Call, name: Option<&Field>, arguments: &[Field]) -> Env {
    let mut child = env.clone();
    child.doubt_functions();
    for (name, field) in &call.assigned {
        child.set_text(name, field.value.clone());
    }
    if let Some(name) = name {
        child.set_text("0", name.value.clone());
    }
    let values = arguments.iter().map(|field| field.value.clone()).collect();
    child.set("@", vec![Variable::Array(values)]);
    child
}
