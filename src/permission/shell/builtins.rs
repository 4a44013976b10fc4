//! Builtins that change what the shell remembers, and programs that write files.
//!
//! It refuses to know whether a change is dangerous.

use crate::permission::word_list::is_in_word_list;

use super::env::{Env, Variable};
use super::reader::{Call, Feed, Reader};
use super::value::{Field, Texts, Value};
use super::{UNKNOWN, wrappers};

/// The most lines of an input that are told apart.
const MOST_LINES: usize = 64;

/// Words of the shell that take a name or a number, and evaluate the index in it.
const EVALUATING: &str = "let read unset declare typeset local export readonly mapfile readarray";

/// Tells whether a word of a test asks about a name or a number.
fn is_numeric(text: &str) -> bool {
    is_in_word_list("-v -R -eq -ne -lt -le -gt -ge", text)
}

/// Most names that are looked at in one expression.
const MOST_NAMES: usize = 32;

impl Reader {
    /// Does what a builtin does to the shell.
    pub fn change(&mut self, name: &str, call: &Call, env: &mut Env) {
        let compares = || call.arguments().iter().any(|word| is_numeric(word.text()));
        let evaluates = match name {
            "printf" => call.text(1) == "-v",
            "test" | "[" => compares(),
            name => is_in_word_list(EVALUATING, name),
        };
        if evaluates {
            let n_words = if name == "printf" { 2 } else { usize::MAX };
            for word in call.arguments().iter().take(n_words) {
                self.evaluate_index(word.text(), env);
            }
        }
        match name {
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(call, env),
            "alias" => alias(call, env),
            "hash" => hash(call, env),
            "set" => set(call, env),
            "shift" => shift(call, env),
            "unset" => call
                .arguments()
                .iter()
                .for_each(|word| env.forget(word.text())),
            "read" => read(call, env),
            "mapfile" | "readarray" => map_file(call, env),
            "printf" if call.text(1) == "-v" => self.print_to(call, env),
            "getopts" => env.set_text(call.text(2), Value::unknown()),
            _ => {}
        }
    }

    /// What `[[ … ]]` evaluates, where it asks about names and numbers.
    pub fn evaluate_test(&mut self, words: &[Texts], env: &mut Env) {
        let texts = || words.iter().flat_map(Texts::iter);
        // `(( x ))` is one word.
        if words.len() == 1 || texts().any(|value| is_numeric(&value.text)) {
            for value in texts() {
                self.evaluate_index(&value.text, env);
                self.evaluate_names(&value.text, env);
            }
        }
    }

    /// `x[$(command)]` where a name or a number is wanted: what stands in the brackets is run.
    pub fn evaluate_index(&mut self, text: &str, env: &mut Env) {
        if text.contains('[') && (text.contains("$(") || text.contains('`')) {
            self.prompt(text, env);
        }
    }

    /// The same where names stand in an expression: their values are read as expressions, too.
    pub fn evaluate_names(&mut self, text: &str, env: &mut Env) {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        for name in text
            .split(is_end)
            .filter(|name| !name.is_empty())
            .take(MOST_NAMES)
        {
            if !env.is_set(name) {
                continue;
            }
            for variable in env.get(name) {
                if let Variable::One(value) = variable {
                    self.evaluate_index(&value.text, env);
                }
            }
        }
    }

    fn declare(&mut self, call: &Call, env: &mut Env) {
        let options = call.arguments().iter().map(Field::text);
        let is_option = |text: &str| text.starts_with('-') && !text.starts_with("--");
        if options
            .into_iter()
            .any(|text| is_option(text) && text.contains('n'))
        {
            return Self::declare_reference(call, env);
        }
        for word in call.arguments().iter().filter(|word| !word.is_assigned) {
            if let Some((name, value)) = wrappers::assignment(word.text()) {
                let value = word.value.with_text(value.to_owned());
                env.set_text(name, value.clone());
                self.read_variable(name, &Texts::one(value), env);
            }
        }
    }

    /// `declare -n d=c`: another name of a variable, which may still change.
    fn declare_reference(call: &Call, env: &mut Env) {
        for word in call.arguments() {
            if let Some((name, target)) = wrappers::assignment(word.text()) {
                let now = env.get(target);
                let later = Variable::One(Value::unknown());
                let both = now.into_iter().take(MOST_NAMES).chain([later]);
                env.set(name, both.collect());
            }
        }
    }

    fn print_to(&mut self, call: &Call, env: &mut Env) {
        let words = call.words.get(3..).unwrap_or_default();
        let texts = super::output::of("printf", words, &Feed::Nothing, |_| None);
        let texts = texts.unwrap_or_else(Texts::unknown);
        env.set(
            call.text(2),
            texts.iter().cloned().map(Variable::One).collect(),
        );
    }

    /// Notes the files that a program has written.
    pub fn note_written(&mut self, name: &str, call: &Call, out: &Texts, index: usize) {
        let operands = || {
            call.arguments()
                .iter()
                .filter(|word| !word.text().starts_with('-'))
        };
        match name {
            "tee" | "sponge" => {
                let paths: Vec<String> = operands().map(|word| word.text().to_owned()).collect();
                for path in paths {
                    self.write_file(&path, out.clone());
                }
            }
            "cp" | "mv" | "install" | "ln" => {
                let operands: Vec<&Field> = operands().collect();
                if let [.., from, to] = operands.as_slice()
                    && let Some(texts) = self.file(from).cloned().or_else(|| copied(from))
                {
                    let path = to.text().to_owned();
                    self.write_file(&path, texts);
                }
            }
            "curl" | "wget" | "aria2c" => {
                for path in downloads(name, call) {
                    self.write_file(&path, Texts::one(Value::output_of(index)));
                }
            }
            _ => {}
        }
    }
}

/// What a copy of a program does: the same as the program.
fn copied(program: &Field) -> Option<Texts> {
    let (folder, name) = program.text().rsplit_once('/')?;
    let is_program = folder.ends_with("bin") && program.is_sure() && !name.is_empty();
    is_program.then(|| Texts::one(Value::known(format!("'{name}' \"$@\""))))
}

/// The files that a download goes to.
fn downloads(name: &str, call: &Call) -> Vec<String> {
    let mut paths = Vec::new();
    let mut takes_name = name != "curl";
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let text = word.text();
        let letters = text
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        let option = if name == "curl" { 'o' } else { 'O' };
        match letters.and_then(|letters| letters.split_once(option)) {
            Some((_, "")) => paths.push(call.text(at + 1).to_owned()),
            Some((_, attached)) => paths.push(attached.to_owned()),
            None if matches!(text, "--output" | "--output-document") => {
                paths.push(call.text(at + 1).to_owned());
            }
            None => {
                let attached = text.strip_prefix("--output=");
                let attached = attached.or_else(|| text.strip_prefix("--output-document="));
                paths.extend(attached.map(str::to_owned));
            }
        }
        takes_name |=
            text == "--remote-name" || letters.is_some_and(|letters| letters.contains('O'));
    }
    if takes_name {
        let urls = call
            .arguments()
            .iter()
            .filter(|word| word.text().contains("//"));
        paths.extend(urls.map(|url| {
            url.text()
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_owned()
        }));
    }
    paths.retain(|path| path != "-");
    paths
}

fn alias(call: &Call, env: &mut Env) {
    for word in call.arguments() {
        if let Some((name, text)) = word.text().split_once('=') {
            env.set_alias(name, word.value.with_text(text.to_owned()));
        }
    }
}

/// `hash -p /bin/rm ls` makes `ls` run `rm`.
fn hash(call: &Call, env: &mut Env) {
    if call.text(1) == "-p" {
        env.set_alias(call.text(3), Value::known(call.text(2)));
    }
}

/// `set -- a b`.
fn set(call: &Call, env: &mut Env) {
    let words = call.arguments();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text();
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        at += 1 + usize::from(text.ends_with('o'));
    }
    let rest = words.get(at..).unwrap_or_default();
    let ends_options = words
        .get(at.saturating_sub(1))
        .is_some_and(|word| word.text() == "--");
    if !rest.is_empty() || ends_options {
        let values = rest.iter().map(|word| word.value.clone()).collect();
        env.set("@", vec![Variable::Array(values)]);
    }
}

fn shift(call: &Call, env: &mut Env) {
    let n_gone: usize = call.text(1).parse().unwrap_or(1);
    let shifted = env.get("@").into_iter().map(|variable| match variable {
        Variable::Array(values) if values.iter().all(Value::is_sure) => {
            Variable::Array(values.into_iter().skip(n_gone).collect())
        }
        variable => variable,
    });
    let shifted = shifted.collect();
    env.set("@", shifted);
}

/// The lines of the input, one of which a `read` may get.
fn lines(feed: &Feed) -> Vec<Value> {
    let Feed::Texts(texts) = feed else {
        return vec![Value::unknown()];
    };
    let lines: Vec<Value> = texts
        .iter()
        .flat_map(|value| {
            value
                .text
                .lines()
                .map(|line| value.with_text(line.to_owned()))
        })
        .collect();
    match lines.len() {
        0 => vec![Value::default()],
        n_lines if n_lines > MOST_LINES => vec![
            texts
                .map(|value| value.with_text(UNKNOWN.to_string()))
                .iter()
                .next()
                .cloned()
                .unwrap_or_else(Value::unknown),
        ],
        _ => lines,
    }
}

fn read(call: &Call, env: &mut Env) {
    let mut names: Vec<&str> = Vec::new();
    let mut is_array = false;
    let mut words = call.arguments().iter();
    while let Some(word) = words.next() {
        let text = word.text();
        if !text.starts_with('-') {
            names.push(text);
            continue;
        }
        is_array |= text.contains('a');
        if text.ends_with(['d', 'n', 'N', 'p', 't', 'u', 'i']) {
            words.next();
        }
    }
    if names.is_empty() {
        names.push("REPLY");
    }
    let assigned = call.assigned.iter().find(|(name, _)| name == "IFS");
    let separators = assigned.map_or(" \t", |(_, field)| field.text());
    let lines = lines(&call.feed);
    let n_names = names.len();
    for (at, name) in names.iter().enumerate() {
        let values = lines.iter().map(|line| {
            if is_array {
                let parts = line
                    .text
                    .split(|c| separators.contains(c))
                    .filter(|part| !part.is_empty());
                return Variable::Array(
                    parts.map(|part| line.with_text(part.to_owned())).collect(),
                );
            }
            Variable::One(line.with_text(part(&line.text, at, n_names, separators)))
        });
        env.set(name, values.collect());
    }
}

/// What the variable at a place gets of a line; the last gets all the rest.
fn part(line: &str, at: usize, n_names: usize, separators: &str) -> String {
    let mut rest = line.trim_matches(|c| separators.contains(c) && c != '\0');
    for _ in 0..at {
        let end = rest.find(|c| separators.contains(c)).unwrap_or(rest.len());
        if line.contains(UNKNOWN) && end == rest.len() {
            return UNKNOWN.to_string();
        }
        rest = rest
            .get(end..)
            .unwrap_or_default()
            .trim_start_matches(|c| separators.contains(c));
    }
    if at + 1 < n_names {
        let end = rest.find(|c| separators.contains(c)).unwrap_or(rest.len());
        rest = rest.get(..end).unwrap_or_default();
    }
    rest.to_owned()
}

fn map_file(call: &Call, env: &mut Env) {
    let name = call
        .arguments()
        .iter()
        .rfind(|word| !word.text().starts_with('-'));
    let name = name.map_or("MAPFILE", Field::text).to_owned();
    env.set(&name, vec![Variable::Array(lines(&call.feed))]);
}
