//! Texts that may not be known in full, and where the unknown comes from.
//!
//! It refuses to know variables and commands.

use super::{UNKNOWN, Word};

/// A text; [`UNKNOWN`] stands in it for what only a run would show.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value {
    pub text: String,
    /// The commands whose output the unknown parts are, ascending; empty when something else fills them.
    pub from: Vec<usize>,
}

/// The longest text that is followed, in bytes.
const LONGEST: usize = 1 << 20;

/// The most commands that one unknown text is traced to.
const MOST_SOURCES: usize = 128;

impl Value {
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            from: Vec::new(),
        }
    }

    pub fn unknown() -> Self {
        Self::known(UNKNOWN)
    }

    /// The output of a command.
    pub fn output_of(command: usize) -> Self {
        Self {
            text: UNKNOWN.to_string(),
            from: vec![command],
        }
    }

    pub fn is_sure(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// Puts a text at the end; one that grows out of hand is not known any more.
    pub fn push(&mut self, other: &Self) {
        if self.text.len() + other.text.len() > LONGEST {
            self.text = UNKNOWN.to_string();
        } else {
            self.text.push_str(&other.text);
        }
        self.take_sources(&other.from);
    }

    /// How many steps a copy of it takes.
    pub fn cost(&self) -> usize {
        1 + self.text.len() / 64 + self.from.len() / 8
    }

    pub fn take_sources(&mut self, from: &[usize]) {
        let is_behind = match (self.from.last(), from.first()) {
            (Some(last), Some(first)) => last < first,
            (_, None) => return,
            (None, _) => true,
        };
        self.from.extend_from_slice(from);
        if !is_behind {
            self.from.sort_unstable();
            self.from.dedup();
        }
        self.from.truncate(MOST_SOURCES);
    }

    /// The same sources with another text.
    pub fn with_text(&self, text: String) -> Self {
        Self {
            text,
            from: self.from.clone(),
        }
    }
}

/// The texts that something may be; never none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts(Vec<Value>);

/// The most texts that are told apart.
const MOST: usize = 16;

impl Texts {
    pub fn nothing() -> Self {
        Self::one(Value::default())
    }

    pub fn one(value: Value) -> Self {
        Self(vec![value])
    }

    pub fn unknown() -> Self {
        Self::one(Value::unknown())
    }

    pub fn any(values: impl IntoIterator<Item = Value>) -> Self {
        let mut values: Vec<Value> = values.into_iter().collect();
        let mut seen = std::collections::BTreeSet::new();
        values.retain(|value| seen.insert(value.clone()));
        match values.len() {
            0 => Self::nothing(),
            1..=MOST => Self(values),
            _ => Self::one(blurred(&values)),
        }
    }

    pub fn or(self, other: Self) -> Self {
        Self::any(self.0.into_iter().chain(other.0))
    }

    pub fn then(mut self, other: &Self) -> Self {
        if let ([only], [next]) = (self.0.as_mut_slice(), other.0.as_slice()) {
            only.push(next);
            return self;
        }
        Self::any(self.0.iter().flat_map(|first| {
            other.0.iter().map(move |second| {
                let mut value = first.clone();
                value.push(second);
                value
            })
        }))
    }

    /// How many steps a copy of it takes.
    pub fn cost(&self) -> usize {
        self.0.iter().map(Value::cost).sum()
    }

    pub fn map(&self, change: impl Fn(&Value) -> Value) -> Self {
        Self::any(self.0.iter().map(change))
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Value> {
        self.0.iter()
    }

    /// Where its unknown parts come from.
    pub fn from(&self) -> Vec<usize> {
        blurred(&self.0).from
    }

    /// Whether it holds nothing that anybody knows.
    pub fn is_unknown(&self) -> bool {
        self.0.iter().all(|value| {
            value.text.trim_matches([UNKNOWN, ' ', '\n']).is_empty() && !value.text.is_empty()
        })
    }
}

fn blurred(values: &[Value]) -> Value {
    let mut value = Value::unknown();
    for other in values {
        value.take_sources(&other.from);
    }
    value
}

/// A word after expansion, with what only the reading needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    pub value: Value,
    pub glob: bool,
    pub may_split: bool,
    /// An operand that assigns and has been done so.
    pub is_assigned: bool,
}

impl Field {
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            value: Value::known(text),
            ..Self::default()
        }
    }

    pub fn text(&self) -> &str {
        &self.value.text
    }

    pub fn is_sure(&self) -> bool {
        self.value.is_sure()
    }

    pub fn word(&self) -> Word {
        Word {
            glob: self.glob,
            may_split: self.may_split,
            ..Word::new(self.value.text.clone())
        }
    }
}
