//! Words into what they may become: braces, variables, substitutions, splitting.
//!
//! It refuses to know what programs do with words.

use super::env::{Env, Variable};
use super::reader::Reader;
use super::syntax::{Assign, AssignValue, Piece, RawWord};
use super::value::{Field, Texts, Value};
use super::{Limited, UNKNOWN, braces};

/// One way that words may turn out.
pub type Fields = Vec<Field>;

/// What one piece may become.
pub enum Expansion {
    /// One text; outside of quotes it is split, unless it is a number.
    Text(Value),
    Number(Value),
    /// The elements of an array, each a word of its own.
    Elements(Vec<Value>),
}

/// A word in the making.
#[derive(Clone, Default)]
struct Partial {
    done: Fields,
    current: Option<Field>,
}

impl Reader {
    /// Every way that several words may turn out together.
    pub fn words(&mut self, raws: &[RawWord], env: &mut Env) -> Vec<Fields> {
        let mut ways: Vec<Fields> = vec![Vec::new()];
        for raw in raws {
            let of_word = self.word(raw, env);
            ways = self.product(ways, of_word, raw);
        }
        ways
    }

    /// Every way that one word may turn out: none, one or several words each.
    pub fn word(&mut self, raw: &RawWord, env: &mut Env) -> Vec<Fields> {
        if let Some(assign) = &raw.assign {
            let value = self.assign(assign, env);
            return value
                .iter()
                .map(|value| {
                    let mut field = Field::known(format!("{}=", assign.name));
                    field.value.push(value);
                    field.is_assigned = true;
                    vec![field]
                })
                .collect();
        }
        let Some(words) = braces::expand(&raw.pieces, self.work.limits.expansions) else {
            self.work.limit(Limited::Expansions, &raw.span);
            return vec![vec![unknown_words()]];
        };
        if words.len() > 1 {
            self.work
                .take(words.len() * (1 + raw.pieces.len()), &raw.span);
        }
        let mut ways: Vec<Fields> = vec![Vec::new()];
        for pieces in &words {
            if self.work.is_spent() {
                break;
            }
            let of_word = self.fields(pieces, raw, env);
            ways = self.product(ways, of_word, raw);
        }
        ways
    }

    /// Combines ways of what stands first with ways of what follows.
    fn product(&mut self, ways: Vec<Fields>, next: Vec<Fields>, raw: &RawWord) -> Vec<Fields> {
        let n_ways = ways.len().saturating_mul(next.len());
        let n_fields = ways.first().map_or(0, Vec::len) + next.first().map_or(0, Vec::len);
        if n_ways > self.work.limits.expansions {
            self.work.limit(Limited::Expansions, &raw.span);
            return appended(ways, &[vec![unknown_words()]]);
        }
        if n_ways > 1 && !self.work.take(n_ways.saturating_mul(n_fields), &raw.span) {
            return ways;
        }
        appended(ways, &next)
    }

    fn fields(&mut self, pieces: &[Piece], raw: &RawWord, env: &mut Env) -> Vec<Fields> {
        let mut partials = vec![Partial::default()];
        for piece in pieces {
            if let Piece::Text { text, is_quoted } = piece {
                for partial in &mut partials {
                    partial.literal(text, *is_quoted);
                }
                continue;
            }
            let is_quoted = is_quoted(piece);
            let expansions = self.piece(piece, env);
            let n_bytes: usize = expansions.iter().map(Expansion::length).sum();
            self.work.take(1 + n_bytes / 32, &raw.span);
            let separators = separators(env);
            if partials.len().saturating_mul(expansions.len()) > self.work.limits.expansions {
                self.work.limit(Limited::Expansions, &raw.span);
                return vec![vec![unknown_words()]];
            }
            if let ([partial], [expansion]) = (partials.as_mut_slice(), expansions.as_slice()) {
                partial.add(expansion, is_quoted, separators.as_deref());
                continue;
            }
            partials = partials
                .into_iter()
                .flat_map(|partial| {
                    expansions
                        .iter()
                        .map(|expansion| partial.with(expansion, is_quoted, separators.as_deref()))
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        partials.into_iter().map(Partial::finished).collect()
    }

    /// What a run of pieces may be as one text, never split.
    pub fn texts(&mut self, pieces: &[Piece], env: &mut Env) -> Texts {
        let mut texts = Texts::nothing();
        for piece in pieces {
            if let Piece::Text { text, .. } = piece {
                texts = texts.then(&Texts::one(Value::known(text.as_str())));
                continue;
            }
            let expansions = self.piece(piece, env);
            let n_bytes: usize = expansions.iter().map(Expansion::length).sum();
            let here = self.here();
            self.work.take(1 + n_bytes / 32, &here);
            let values = expansions.into_iter().map(Expansion::joined);
            texts = texts.then(&Texts::any(values));
        }
        texts
    }

    /// What one piece may become; what it runs is noted once.
    fn piece(&mut self, piece: &Piece, env: &mut Env) -> Vec<Expansion> {
        match piece {
            Piece::Text { text, .. } => vec![Expansion::Text(Value::known(text.as_str()))],
            Piece::Parameter {
                parameter,
                is_quoted,
            } => self.parameter_in_place(parameter, *is_quoted, env),
            Piece::Command { list, .. } => {
                let texts = self.substitution(list, env);
                texts.iter().cloned().map(Expansion::Text).collect()
            }
            Piece::Process { list, feeds } => {
                let name = self.process(list, *feeds, env);
                vec![Expansion::Number(Value::known(name))]
            }
            Piece::Arithmetic(pieces) => {
                let texts = self.texts(pieces, env);
                if let Some(value) = texts.iter().next() {
                    self.evaluate_index(&value.text, env);
                    self.evaluate_names(&value.text, env);
                }
                let number = texts.iter().next().filter(|value| is_number(&value.text));
                let value =
                    number.map_or_else(Value::unknown, |value| Value::known(value.text.trim()));
                vec![Expansion::Number(value)]
            }
        }
    }

    /// Does an assignment; answers what the variable may hold now.
    pub fn assign(&mut self, assign: &Assign, env: &mut Env) -> Texts {
        let needs_old = assign.index.is_some() || assign.is_append;
        let old = if needs_old {
            env.get(&assign.name)
        } else {
            Vec::new()
        };
        let here = self.here();
        self.work.take(old.iter().map(Variable::cost).sum(), &here);
        let new: Vec<Variable> = match &assign.value {
            AssignValue::One(word) => {
                let texts = self.texts(&word.pieces, env);
                texts.iter().cloned().map(Variable::One).collect()
            }
            AssignValue::Array(words) => self
                .words(words, env)
                .into_iter()
                .map(|fields| {
                    Variable::Array(fields.into_iter().map(|field| field.value).collect())
                })
                .collect(),
        };
        let index = assign.index.as_ref().map(|index| {
            let texts = self.texts(&index.pieces, env);
            let first = texts.iter().next();
            first.and_then(|value| value.text.trim().parse::<usize>().ok())
        });
        let values = match index {
            Some(index) => with_element(&old, &new, index),
            None if assign.is_append => joined(&old, &new, env.is_set(&assign.name)),
            None => new,
        };
        let texts = Texts::any(values.iter().map(|variable| match variable {
            Variable::One(value) => value.clone(),
            Variable::Array(values) => in_one(values),
        }));
        self.work
            .take(values.iter().map(Variable::cost).sum(), &here);
        env.set(&assign.name, values);
        self.read_variable(&assign.name, &texts, env);
        texts
    }
}

impl Expansion {
    /// All of it as one text.
    pub fn joined(self) -> Value {
        match self {
            Self::Text(value) | Self::Number(value) => value,
            Self::Elements(values) => in_one(&values),
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Text(value) | Self::Number(value) => value.text.len(),
            Self::Elements(values) => values.iter().map(|value| value.text.len() + 1).sum(),
        }
    }
}

impl Partial {
    fn literal(&mut self, text: &str, is_quoted: bool) {
        let field = self.current.get_or_insert_default();
        field.value.push(&Value::known(text));
        field.glob |= !is_quoted && text.contains(['*', '?', '[']);
    }

    fn with(&self, expansion: &Expansion, is_quoted: bool, separators: Option<&str>) -> Self {
        let mut partial = self.clone();
        partial.add(expansion, is_quoted, separators);
        partial
    }

    fn add(&mut self, expansion: &Expansion, is_quoted: bool, separators: Option<&str>) {
        match expansion {
            Expansion::Elements(values) => {
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        self.close();
                    }
                    self.take(value, is_quoted, separators);
                }
                if let ([_, ..], Some(field)) = (values.as_slice(), &mut self.current) {
                    field.may_split |= values.iter().any(|value| !value.is_sure());
                }
            }
            Expansion::Number(value) => self.take(value, true, separators),
            Expansion::Text(value) => self.take(value, is_quoted, separators),
        }
    }

    fn close(&mut self) {
        self.done.extend(self.current.take());
    }

    fn take(&mut self, value: &Value, is_quoted: bool, separators: Option<&str>) {
        if is_quoted {
            self.current.get_or_insert_default().value.push(value);
            return;
        }
        let Some(separators) = separators else {
            let field = self.current.get_or_insert_default();
            field.value.push(value);
            field.may_split = true;
            return;
        };
        let mut parts = value.text.split(|c| separators.contains(c)).peekable();
        while let Some(part) = parts.next() {
            if !part.is_empty() {
                let field = self.current.get_or_insert_default();
                field.value.push(&value.with_text(part.to_owned()));
                field.may_split |= part.contains(UNKNOWN);
                field.glob |= part.contains(['*', '?', '[']);
            }
            if parts.peek().is_some() {
                self.close();
            }
        }
    }

    fn finished(mut self) -> Fields {
        // `[` alone is a program.
        if let Some(field) = self.current.as_mut().filter(|field| field.text() == "[") {
            field.glob = false;
        }
        self.close();
        self.done
    }
}

/// What separates words: the characters of `IFS`, when they are known.
fn separators(env: &Env) -> Option<String> {
    match env.get("IFS").as_slice() {
        [Variable::One(value)] if value.is_sure() => Some(value.text.clone()),
        _ => None,
    }
}

fn unknown_words() -> Field {
    Field {
        may_split: true,
        value: Value::unknown(),
        ..Field::default()
    }
}

fn appended(ways: Vec<Fields>, next: &[Fields]) -> Vec<Fields> {
    if let [only] = next {
        let mut ways = ways;
        for way in &mut ways {
            way.extend(only.iter().cloned());
        }
        return ways;
    }
    ways.iter()
        .flat_map(|way| {
            next.iter()
                .map(move |fields| way.iter().chain(fields).cloned().collect())
        })
        .collect()
}

fn is_quoted(piece: &Piece) -> bool {
    match piece {
        Piece::Text { is_quoted, .. }
        | Piece::Parameter { is_quoted, .. }
        | Piece::Command { is_quoted, .. } => *is_quoted,
        Piece::Process { .. } | Piece::Arithmetic(_) => true,
    }
}

fn is_number(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// An array as one text.
fn in_one(values: &[Value]) -> Value {
    let mut one = Value::default();
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            one.push(&Value::known(" "));
        }
        one.push(value);
    }
    one
}

/// `name+=value`.
fn joined(old: &[Variable], new: &[Variable], is_set: bool) -> Vec<Variable> {
    let mut values = Vec::new();
    for before in old {
        for after in new {
            values.push(match (before, after) {
                (Variable::One(before), Variable::One(after)) if is_set => {
                    let mut value = before.clone();
                    value.push(after);
                    Variable::One(value)
                }
                (Variable::Array(before), Variable::Array(after)) => {
                    Variable::Array(before.iter().chain(after).cloned().collect())
                }
                (Variable::One(before), Variable::Array(after)) if is_set => {
                    Variable::Array(std::iter::once(before).chain(after).cloned().collect())
                }
                (_, after) => after.clone(),
            });
        }
    }
    values
}

/// The highest index that an array is followed to.
const HIGHEST: usize = 64;

/// `name[index]=value`.
fn with_element(old: &[Variable], new: &[Variable], index: Option<usize>) -> Vec<Variable> {
    let mut arrays = Vec::new();
    for before in old {
        let before = match before {
            Variable::Array(values) => values.clone(),
            Variable::One(value) if value.is_sure() => vec![value.clone()],
            Variable::One(_) => Vec::new(),
        };
        for after in new {
            let Variable::One(value) = after else {
                continue;
            };
            let mut values = before.clone();
            match index.filter(|index| *index <= HIGHEST) {
                Some(index) => {
                    let needed = values.len().max(index + 1);
                    values.resize(needed, Value::default());
                    values.splice(index..=index, [value.clone()]);
                }
                None => values.push(value.clone()),
            }
            arrays.push(Variable::Array(values));
        }
    }
    arrays
}
