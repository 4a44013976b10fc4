//! Lists, pipelines and blocks in the order in which a shell would run them.
//!
//! Where it cannot know which way a shell goes it goes both and joins what they leave. It refuses
//! to know programs.

use std::rc::Rc;

use super::env::{Env, Function, Variable};
use super::expand::Fields;
use super::reader::{Call, Feed, Names, Reader};
use super::syntax::{Command, For, Item, Kind, Link, List, RawWord};
use super::value::{Field, Texts, Value};
use super::{Doubt, Limited, parse};

/// Programs under whose name a function is looked into although nothing here calls it.
const COMMON: [&str; 24] = [
    "ls", "cd", "git", "echo", "cat", "grep", "make", "cargo", "npm", "python", "python3", "node",
    "docker", "sudo", "ssh", "cp", "mv", "mkdir", "pwd", "printf", "sed", "find", "test", "rm",
];

impl Reader {
    /// Follows a list; answers what it writes to standard output.
    pub fn list(&mut self, list: &List, env: &mut Env, feed: &Feed) -> Texts {
        let mut out = Texts::nothing();
        // What the chain of `&&` and `||` may leave when it ends early.
        let mut left: Option<Env> = None;
        let mut is_certain = false;
        for item in &list.items {
            if self.work.is_spent() {
                break;
            }
            match item.link {
                Link::Always => {
                    self.join(env, left.take());
                }
                Link::IfDone if is_certain => {}
                Link::IfDone | Link::IfFailed => {
                    let mut ended = self.branch(env);
                    self.join(&mut ended, left.take());
                    if item.link == Link::IfFailed {
                        *env = ended.clone();
                    }
                    left = Some(ended);
                }
            }
            let written = self.item(item, env, feed);
            let copied = match item.link {
                Link::IfFailed => out.cost() + written.cost(),
                Link::Always | Link::IfDone => written.cost(),
            };
            let here = self.here();
            self.work.take(copied, &here);
            out = if item.link == Link::IfFailed {
                out.clone().then(&written).or(out)
            } else {
                out.then(&written)
            };
            is_certain = only_assigns(item);
        }
        self.join(env, left);
        out
    }

    /// A copy of the state for a course of events of its own.
    pub fn branch(&mut self, env: &Env) -> Env {
        let here = self.here();
        // The copy is made whole once one of the two changes.
        self.work.take(env.size() / 4, &here);
        env.clone()
    }

    /// Follows a list that leaves nothing behind.
    pub fn list_apart(&mut self, list: &List, env: &Env, feed: &Feed) -> Texts {
        let mut apart = self.branch(env);
        self.list(list, &mut apart, feed)
    }

    fn command_apart(&mut self, command: &Command, env: &Env, feed: &Feed) -> Texts {
        let mut apart = self.branch(env);
        self.command(command, &mut apart, feed)
    }

    /// Takes in what another course of events would leave.
    fn join(&mut self, env: &mut Env, other: Option<Env>) -> bool {
        let Some(other) = other else {
            return false;
        };
        let here = self.here();
        self.work.take(env.cost(&other), &here);
        env.merge(&other)
    }

    fn item(&mut self, item: &Item, env: &mut Env, feed: &Feed) -> Texts {
        match item.commands.as_slice() {
            [only] if !item.is_background => self.command(only, env, feed),
            commands => {
                self.n_forks += 1;
                let mut feed = feed.clone();
                let mut out = Texts::nothing();
                for command in commands {
                    out = self.command_apart(command, env, &feed);
                    feed = Feed::Texts(out.clone());
                }
                self.n_forks -= 1;
                out
            }
        }
    }

    fn command(&mut self, command: &Command, env: &mut Env, feed: &Feed) -> Texts {
        if !self.work.enter(&command.span) {
            return Texts::unknown();
        }
        let before = self.here();
        let n_waiting = self.waiting.len();
        self.stand_at(&command.span);
        let mut out = Texts::unknown();
        if self.work.take(1, &command.span) {
            out = match &command.kind {
                Kind::Simple { .. } => self.simple(command, env, feed),
                _ => self.block(command, env, feed),
            };
        }
        self.end_waiting(n_waiting);
        self.stand_at(&before);
        self.work.leave();
        out
    }

    fn block(&mut self, command: &Command, env: &mut Env, feed: &Feed) -> Texts {
        let redirected = self.redirects(&command.redirects, env, feed);
        if !redirected.redirects.is_empty() {
            self.emit(&Call {
                words: Vec::new(),
                assigned: Vec::new(),
                redirects: redirected.redirects,
                feed: redirected.feed.clone(),
                span: command.span.clone(),
                names: Names::All,
            });
        }
        let feed = &redirected.feed;
        let out = match &command.kind {
            Kind::Simple { .. } => Texts::nothing(),
            Kind::Block(list) => self.list(list, env, feed),
            Kind::Subshell(list) => self.list_apart(list, env, feed),
            Kind::If(branches) => self.branches(branches, env, feed),
            Kind::Loop { test, body } => self.repeat(test, body, env, feed),
            Kind::For(each) => self.each(each, env, feed),
            Kind::Case { subject, arms } => self.case(subject, arms, env, feed),
            Kind::Function { name, body } => {
                env.define(name, Function::Body(Rc::clone(body)));
                Texts::nothing()
            }
            Kind::Test(words) => {
                let words: Vec<Texts> = words
                    .iter()
                    .map(|word| self.texts(&word.pieces, env))
                    .collect();
                self.evaluate_test(&words, env);
                Texts::nothing()
            }
            Kind::Coprocess(command) => {
                self.n_forks += 1;
                self.command_apart(command, env, feed);
                self.n_forks -= 1;
                Texts::nothing()
            }
        };
        self.keep_output(&redirected.output, out)
    }

    fn branches(&mut self, branches: &[(List, List)], env: &mut Env, feed: &Feed) -> Texts {
        let mut left: Option<Env> = None;
        let mut out: Option<Texts> = None;
        let mut has_else = false;
        for (test, body) in branches {
            if self.work.is_spent() {
                break;
            }
            self.list(test, env, feed);
            has_else = test.items.is_empty();
            let mut taken = self.branch(env);
            let written = self.list(body, &mut taken, feed);
            self.join(&mut taken, left.take());
            left = Some(taken);
            out = Some(match out {
                Some(out) => out.or(written),
                None => written,
            });
        }
        match left {
            Some(left) if has_else => *env = left,
            left => {
                self.join(env, left);
            }
        }
        let out = out.unwrap_or_else(Texts::nothing);
        if has_else {
            out
        } else {
            out.or(Texts::nothing())
        }
    }

    /// Goes through a loop twice where the first time changes what the second would do.
    fn repeat(&mut self, test: &List, body: &List, env: &mut Env, feed: &Feed) -> Texts {
        let mut out = Texts::nothing();
        for _ in 0..2 {
            self.list(test, env, feed);
            let mut after = self.branch(env);
            let written = self.list(body, &mut after, feed);
            let here = self.here();
            self.work.take(out.cost(), &here);
            out = out.clone().then(&written).or(out);
            if !self.join(env, Some(after)) || self.work.is_spent() {
                break;
            }
        }
        out
    }

    fn each(&mut self, each: &For, env: &mut Env, feed: &Feed) -> Texts {
        let For { name, words, body } = each;
        let values = match words.as_deref() {
            Some(words) => self.words(words, env),
            None => env.get("@").into_iter().map(fields_of).collect(),
        };
        let mut out = Texts::nothing();
        let n_values: usize = values.iter().map(Vec::len).sum();
        if n_values > self.work.limits.expansions {
            let here = self.here();
            self.work.limit(Limited::Expansions, &here);
            env.set_text(name, Value::unknown());
            return self.list(body, env, feed);
        }
        let before = self.branch(env);
        for field in values.into_iter().flatten() {
            // One word that is not sure may stand for several rounds.
            let n_rounds = if field.may_split || field.glob { 2 } else { 1 };
            for _ in 0..n_rounds {
                if self.work.is_spent() {
                    break;
                }
                env.set_text(name, field.value.clone());
                let at_start = self.branch(env);
                let written = self.list(body, env, feed);
                out = out.then(&written);
                if !self.join(env, Some(at_start)) {
                    break;
                }
            }
        }
        self.join(env, Some(before));
        out
    }

    fn case(
        &mut self,
        subject: &RawWord,
        arms: &[(Vec<RawWord>, List)],
        env: &mut Env,
        feed: &Feed,
    ) -> Texts {
        self.texts(&subject.pieces, env);
        let mut out = Texts::nothing();
        let mut left: Option<Env> = None;
        for (patterns, body) in arms {
            if self.work.is_spent() {
                break;
            }
            for pattern in patterns {
                self.texts(&pattern.pieces, env);
            }
            let mut taken = self.branch(env);
            out = out.or(self.list(body, &mut taken, feed));
            self.join(&mut taken, left.take());
            left = Some(taken);
        }
        self.join(env, left);
        out
    }

    fn simple(&mut self, command: &Command, env: &mut Env, feed: &Feed) -> Texts {
        let Kind::Simple { assigns, words } = &command.kind else {
            return Texts::nothing();
        };
        let ways = self.words(words, env);
        self.work.take(feed.cost(), &command.span);
        let redirected = self.redirects(&command.redirects, env, feed);
        let is_lasting = words.is_empty();
        let mut scratch = if is_lasting || assigns.is_empty() {
            Env::default()
        } else {
            self.branch(env)
        };
        let mut assigned = Vec::new();
        for assign in assigns {
            let target = if is_lasting { &mut *env } else { &mut scratch };
            let texts = self.assign(assign, target);
            for value in texts.iter() {
                let field = Field {
                    value: value.clone(),
                    ..Field::default()
                };
                assigned.push((assign.name.clone(), field));
            }
        }
        let mut out: Option<Texts> = None;
        for words in ways {
            if self.work.is_spent() {
                break;
            }
            let call = Call {
                words,
                assigned: assigned.clone(),
                redirects: redirected.redirects.clone(),
                feed: redirected.feed.clone(),
                span: command.span.clone(),
                names: Names::All,
            };
            let written = self.run(call, env);
            out = Some(match out {
                Some(out) => out.or(written),
                None => written,
            });
        }
        let out = out.unwrap_or_else(Texts::nothing);
        self.keep_output(&redirected.output, out)
    }

    /// What `$(…)` gives: the output without the line ends behind it.
    pub fn substitution(&mut self, list: &List, env: &Env) -> Texts {
        let here = self.here();
        if !self.work.enter(&here) {
            return Texts::unknown();
        }
        let out = match self.only_reads_a_file(list, env) {
            Some(texts) => texts,
            None => self.list_apart(list, env, &Feed::Nothing),
        };
        self.work.leave();
        self.stand_at(&here);
        out.map(|value| value.with_text(value.text.trim_end_matches('\n').to_owned()))
    }

    /// `$(< file)`.
    fn only_reads_a_file(&mut self, list: &List, env: &Env) -> Option<Texts> {
        let [item] = list.items.as_slice() else {
            return None;
        };
        let [command] = item.commands.as_slice() else {
            return None;
        };
        let Kind::Simple { assigns, words } = &command.kind else {
            return None;
        };
        if !assigns.is_empty() || !words.is_empty() || command.redirects.len() != 1 {
            return None;
        }
        let mut apart = self.branch(env);
        let redirected = self.redirects(&command.redirects, &mut apart, &Feed::Nothing);
        match redirected.feed {
            Feed::Texts(texts) => Some(texts),
            Feed::Unknown => Some(Texts::unknown()),
            Feed::Nothing => None,
        }
    }

    /// What a text gives as a prompt: what it substitutes is run.
    pub fn prompt(&mut self, text: &str, env: &mut Env) -> Texts {
        let here = self.here();
        if !self.work.enter(&here) {
            return Texts::unknown();
        }
        let pieces = parse::document(text, here.clone(), &mut self.work);
        let texts = self.texts(&pieces, env);
        self.work.leave();
        texts
    }

    /// Runs the bodies of a function that a call names.
    pub fn call_function(&mut self, functions: &[Function], call: &Call, env: &mut Env) -> Texts {
        let name = call.text(0).to_owned();
        self.called.insert(name.clone());
        self.emit_around(call);
        self.via.push(Self::shell_wrapper(&name, &call.words));
        let arguments = env.get("@");
        let values = call.arguments().iter().map(|field| field.value.clone());
        env.set("@", vec![Variable::Array(values.collect())]);
        let mut out: Option<Texts> = None;
        for function in functions {
            let Function::Body(body) = function else {
                continue;
            };
            let written = self.call_body(&name, body, call, env);
            out = Some(match out {
                Some(out) => out.or(written),
                None => written,
            });
        }
        env.set("@", arguments);
        self.via.pop();
        out.unwrap_or_else(Texts::nothing)
    }

    /// Goes through a function's body, but not again while it is under way.
    fn call_body(&mut self, name: &str, body: &Rc<Command>, call: &Call, env: &mut Env) -> Texts {
        // A function may define another one under its own name.
        let key = format!("{name} {:p}", Rc::as_ptr(body));
        let outer = self.calls.iter().find(|(calling, _)| *calling == key);
        if let Some((_, n_forks)) = outer {
            if self.n_forks > *n_forks {
                let span = call.span.clone();
                self.work.doubt(Doubt::ForkBomb { span });
            }
            return Texts::unknown();
        }
        self.calls.push((key, self.n_forks));
        let out = self.command(body, env, &call.feed);
        self.calls.pop();
        out
    }

    /// Looks into functions under the name of a common program that nothing has called.
    pub fn look_into_functions(&mut self, env: &mut Env) {
        for name in COMMON {
            let functions = env.functions(name);
            if functions.is_empty() || self.called.contains(name) {
                continue;
            }
            let bodies = functions.iter().filter_map(|function| match function {
                Function::Body(body) => Some(body.span.clone()),
                Function::Program => None,
            });
            let call = Call {
                words: vec![Field::known(name)],
                assigned: Vec::new(),
                redirects: Vec::new(),
                feed: Feed::Nothing,
                span: bodies.min_by_key(|span| span.start).unwrap_or(0..0),
                names: Names::All,
            };
            self.call_function(&functions, &call, env);
        }
    }
}

fn fields_of(variable: Variable) -> Fields {
    let values = match variable {
        Variable::One(value) => vec![value],
        Variable::Array(values) => values,
    };
    values
        .into_iter()
        .map(|value| Field {
            may_split: !value.is_sure(),
            value,
            ..Field::default()
        })
        .collect()
}

/// Whether an item is nothing but assignments, which never fail.
fn only_assigns(item: &Item) -> bool {
    matches!(item.commands.as_slice(), [Command { kind: Kind::Simple { words, .. }, .. }] if words.is_empty())
}
