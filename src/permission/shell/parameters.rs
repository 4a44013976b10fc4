//! `$name` and `${name…}`: what a variable and its operation may give.
//!
//! What only a run would show is unknown. It refuses to know how words are split.

use super::UNKNOWN;
use super::env::{Env, Variable};
use super::expand::Expansion;
use super::reader::Reader;
use super::syntax::{Keeps, Operation, Parameter, Piece, RawWord, Side};
use super::value::{Texts, Value};
use crate::permission::wildcard;

/// Variables that only ever hold numbers.
const NUMBERS: [&str; 14] = [
    "#",
    "?",
    "$",
    "!",
    "-",
    "RANDOM",
    "SECONDS",
    "UID",
    "EUID",
    "PPID",
    "LINENO",
    "BASHPID",
    "EPOCHSECONDS",
    "OPTIND",
];

/// The longest text that a pattern is tried on, in bytes.
const LONGEST_TRIMMED: usize = 256;

/// How many arguments a text may be given that nothing here sets.
const MOST_ARGUMENTS: usize = 3;

impl Reader {
    /// Everything that a parameter may give where it stands: between quotes `$*` is one word.
    pub fn parameter_in_place(
        &mut self,
        parameter: &Parameter,
        is_quoted: bool,
        env: &mut Env,
    ) -> Vec<Expansion> {
        let values = self.parameter(parameter, env);
        let index = parameter.index.as_ref().and_then(RawWord::literal);
        let is_star = parameter.name == "*" || index.as_deref() == Some("*");
        if !is_quoted || !is_star {
            return values;
        }
        let values = values.into_iter().map(Expansion::joined);
        values.map(Expansion::Text).collect()
    }

    /// Everything that `$name` or `${name…}` may give.
    fn parameter(&mut self, parameter: &Parameter, env: &mut Env) -> Vec<Expansion> {
        let name = parameter.name.as_str();
        if NUMBERS.contains(&name) && matches!(parameter.operation, Operation::Value) {
            return vec![Expansion::Number(Value::unknown())];
        }
        let values = self.elements(parameter, env);
        if matches!(parameter.operation, Operation::Count) {
            return vec![Expansion::Number(Value::unknown())];
        }
        match &parameter.operation {
            Operation::Value | Operation::Count => values,
            Operation::Indirect => indirect(&values, env),
            Operation::Default(pieces, keeps) => {
                let operand = self.texts(pieces, env);
                if *keeps == Keeps::Yes {
                    let values = operand.iter().cloned().map(Variable::One).collect();
                    env.set(name, values);
                }
                let is_set = env.is_set(name) && *keeps == Keeps::No;
                with_default(values, &operand, is_set || is_given(name))
            }
            Operation::Alternative(pieces) => {
                let operand = self.texts(pieces, env);
                let nothing = Expansion::Text(Value::default());
                let operands = operand.iter().cloned().map(Expansion::Text);
                operands.chain([nothing]).collect()
            }
            Operation::Trim {
                from,
                is_longest,
                pattern,
            } => {
                let pattern = self.texts(pattern, env);
                let here = self.here();
                let n_steps: usize = pattern.iter().map(|pattern| pattern.text.len()).sum();
                self.work.take(n_steps * LONGEST_TRIMMED / 16, &here);
                each(values, |value| trimmed(value, *from, *is_longest, &pattern))
            }
            Operation::Replace {
                is_global,
                pattern,
                with,
            } => {
                let pattern = self.texts(pattern, env);
                let with = self.texts(with, env);
                each(values, |value| replaced(value, *is_global, &pattern, &with))
            }
            Operation::Slice(pieces) => {
                let bounds = self.texts(pieces, env);
                slices(values, &bounds, matches!(name, "@" | "*"))
            }
            Operation::Upper { is_whole } => each(values, |value| {
                cased(value, *is_whole, |c| c.to_ascii_uppercase())
            }),
            Operation::Lower { is_whole } => each(values, |value| {
                cased(value, *is_whole, |c| c.to_ascii_lowercase())
            }),
            Operation::Other(pieces) => self.other(values, pieces, env),
        }
    }

    /// The variable's values, or those of the element that is meant.
    fn elements(&mut self, parameter: &Parameter, env: &mut Env) -> Vec<Expansion> {
        let name = parameter.name.as_str();
        if let Some(position) = name.parse::<usize>().ok().filter(|position| *position > 0) {
            // Nobody gives a text so many arguments; `$9` serves to end a name before it.
            if position > MOST_ARGUMENTS && !env.is_set("@") {
                return vec![Expansion::Text(Value::default())];
            }
            return env
                .get("@")
                .iter()
                .map(|variable| Expansion::Text(argument(variable, position)))
                .collect();
        }
        if matches!(name, "@" | "*") {
            return env.get("@").into_iter().map(all).collect();
        }
        let index = parameter.index.as_ref().map(|index| {
            let texts = self.texts(&index.pieces, env);
            texts
                .iter()
                .next()
                .map_or_else(String::new, |value| value.text.clone())
        });
        let mut found = Vec::new();
        for variable in env.get(name) {
            match (variable, index.as_deref().map(str::trim)) {
                (variable, Some("@" | "*")) => found.push(all(variable)),
                (Variable::Array(values), Some(index)) => match index.parse::<usize>() {
                    Ok(index) => {
                        let value = values.get(index).cloned().unwrap_or_default();
                        found.push(Expansion::Text(value));
                    }
                    Err(_) => found.extend(values.into_iter().map(Expansion::Text)),
                },
                (Variable::Array(values), None) => {
                    let first = values.into_iter().next().unwrap_or_default();
                    found.push(Expansion::Text(first));
                }
                (Variable::One(value), _) => found.push(Expansion::Text(value)),
            }
        }
        found
    }

    /// Operations that are not followed; `@P` reads the value as a prompt, with its substitutions.
    fn other(&mut self, values: Vec<Expansion>, pieces: &[Piece], env: &mut Env) -> Vec<Expansion> {
        let operation = self.texts(pieces, env);
        let is_prompt = operation.iter().any(|operation| operation.text == "@P");
        if !is_prompt {
            return each(values, |value| {
                Texts::one(value.with_text(UNKNOWN.to_string()))
            });
        }
        let mut found = Vec::new();
        for value in values {
            let Expansion::Text(value) = value else {
                found.push(Expansion::Text(Value::unknown()));
                continue;
            };
            let texts = self.prompt(&value.text, env);
            found.extend(texts.iter().cloned().map(Expansion::Text));
        }
        found
    }
}

fn all(variable: Variable) -> Expansion {
    match variable {
        Variable::Array(values) => Expansion::Elements(values),
        Variable::One(value) => Expansion::Elements(vec![value]),
    }
}

/// The argument at a position, the first at 1.
fn argument(variable: &Variable, position: usize) -> Value {
    let Variable::Array(values) = variable else {
        return Value::unknown();
    };
    match values.get(position - 1) {
        Some(value) => value.clone(),
        None if values.iter().all(Value::is_sure) => Value::default(),
        None => Value::unknown(),
    }
}

/// Set by every shell.
fn is_given(name: &str) -> bool {
    matches!(name, "HOME" | "PWD" | "SHELL" | "IFS" | "0")
}

/// Applies an operation to every value, whatever its form.
fn each(values: Vec<Expansion>, change: impl Fn(&Value) -> Texts) -> Vec<Expansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            Expansion::Text(value) | Expansion::Number(value) => {
                found.extend(change(&value).iter().cloned().map(Expansion::Text));
            }
            Expansion::Elements(values) => found.push(Expansion::Elements(
                values
                    .iter()
                    .map(|value| {
                        let texts = change(value);
                        let mut texts = texts.iter();
                        match (texts.next(), texts.next()) {
                            (Some(only), None) => only.clone(),
                            _ => value.with_text(UNKNOWN.to_string()),
                        }
                    })
                    .collect(),
            )),
        }
    }
    found
}

fn indirect(values: &[Expansion], env: &Env) -> Vec<Expansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            Expansion::Text(value) if value.is_sure() && !value.text.is_empty() => {
                let name = value.text.trim_end_matches("[@]").trim_end_matches("[*]");
                let is_all = name.len() < value.text.len();
                found.extend(env.get(name).into_iter().map(|variable| match variable {
                    Variable::One(value) => Expansion::Text(value),
                    variable if is_all => all(variable),
                    Variable::Array(values) => {
                        Expansion::Text(values.into_iter().next().unwrap_or_default())
                    }
                }));
            }
            _ => found.push(Expansion::Text(Value::unknown())),
        }
    }
    found
}

fn with_default(values: Vec<Expansion>, operand: &Texts, is_set: bool) -> Vec<Expansion> {
    let operands = || operand.iter().cloned().map(Expansion::Text);
    if !is_set {
        return operands().collect();
    }
    let mut found = Vec::new();
    let mut may_be_empty = false;
    for value in values {
        let text = match &value {
            Expansion::Text(value) | Expansion::Number(value) => value.text.clone(),
            Expansion::Elements(values) => values.iter().map(|value| value.text.as_str()).collect(),
        };
        may_be_empty |= text.trim_matches(UNKNOWN).is_empty();
        if !text.is_empty() {
            found.push(value);
        }
    }
    if may_be_empty {
        found.extend(operands());
    }
    found
}

/// The only text of several, when it is known.
fn sure(texts: &Texts) -> Option<&str> {
    let mut texts = texts.iter();
    match (texts.next(), texts.next()) {
        (Some(only), None) if only.is_sure() => Some(&only.text),
        _ => None,
    }
}

fn blurred(value: &Value) -> Texts {
    Texts::one(value.with_text(UNKNOWN.to_string()))
}

fn trimmed(value: &Value, from: Side, is_longest: bool, pattern: &Texts) -> Texts {
    let Some(pattern) = sure(pattern).filter(|_| value.is_sure()) else {
        return blurred(value);
    };
    let text = value.text.as_str();
    if text.len() > LONGEST_TRIMMED {
        return blurred(value);
    }
    let mut cuts = (0..=text.len()).filter(|at| {
        let part = match from {
            Side::Start => text.get(..*at),
            Side::End => text.get(*at..),
        };
        part.is_some_and(|part| wildcard::matches(pattern, part))
    });
    // The later the cut, the longer what goes from the start and the shorter what goes from the end.
    let cut = if is_longest == (from == Side::Start) {
        cuts.next_back()
    } else {
        cuts.next()
    };
    let left = cut.and_then(|cut| match from {
        Side::Start => text.get(cut..),
        Side::End => text.get(..cut),
    });
    Texts::one(value.with_text(left.unwrap_or(text).to_owned()))
}

fn replaced(value: &Value, is_global: bool, pattern: &Texts, with: &Texts) -> Texts {
    let (Some(pattern), Some(with)) = (sure(pattern), sure(with)) else {
        return blurred(value);
    };
    if !value.is_sure() || pattern.contains(['*', '?', '[', '\\']) {
        return blurred(value);
    }
    let text = match (pattern, is_global) {
        ("", _) => value.text.clone(),
        (_, true) => value.text.replace(pattern, with),
        (_, false) => value.text.replacen(pattern, with, 1),
    };
    Texts::one(value.with_text(text))
}

fn slices(values: Vec<Expansion>, bounds: &Texts, from_one: bool) -> Vec<Expansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            Expansion::Elements(elements) => found.push(part(elements, bounds, from_one)),
            value => found.extend(each(vec![value], |value| sliced(value, bounds))),
        }
    }
    found
}

/// `${name[@]:offset:length}`; the arguments are counted from one.
fn part(elements: Vec<Value>, bounds: &Texts, from_one: bool) -> Expansion {
    let bounds = sure(bounds).map(|bounds| bounds.split_once(':').unwrap_or((bounds, "")));
    let numbers = bounds.and_then(|(offset, length)| {
        let offset: usize = offset.trim().parse().ok()?;
        let length = match length.trim() {
            "" => usize::MAX,
            length => length.parse().ok()?,
        };
        Some((offset.saturating_sub(usize::from(from_one)), length))
    });
    match numbers {
        Some((offset, length)) if elements.iter().all(Value::is_sure) => {
            Expansion::Elements(elements.into_iter().skip(offset).take(length).collect())
        }
        _ => Expansion::Text(Value::unknown()),
    }
}

fn sliced(value: &Value, bounds: &Texts) -> Texts {
    let Some(bounds) = sure(bounds).filter(|_| value.is_sure()) else {
        return blurred(value);
    };
    let (offset, length) = match bounds.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (bounds, None),
    };
    let n_chars = value.text.chars().count();
    let place = |bound: &str, from: usize| {
        let bound: i64 = bound.trim().parse().ok()?;
        let distance = usize::try_from(bound.unsigned_abs()).ok()?;
        Some(if bound < 0 {
            n_chars.saturating_sub(distance)
        } else {
            from.saturating_add(distance)
        })
    };
    let Some(start) = place(offset, 0) else {
        return blurred(value);
    };
    let end = match length.map(|length| place(length, start)) {
        None => n_chars,
        Some(Some(end)) => end,
        Some(None) => return blurred(value),
    };
    let text = value
        .text
        .chars()
        .skip(start)
        .take(end.saturating_sub(start));
    Texts::one(value.with_text(text.collect()))
}

fn cased(value: &Value, is_whole: bool, change: impl Fn(char) -> char) -> Texts {
    let text = value
        .text
        .char_indices()
        .map(|(at, c)| if is_whole || at == 0 { change(c) } else { c })
        .collect();
    Texts::one(value.with_text(text))
}
