//! Texts that may be only partly known, with the commands that the unknown parts come from.

use super::{ShellWord, UNKNOWN_PLACEHOLDER};

/// A text, with [`UNKNOWN_PLACEHOLDER`] for the parts that only a run would show.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbstractValue {
    pub text: String,
    /// The commands whose output fills the unknown parts, ascending; empty when something else fills them.
    pub sources: Vec<usize>,
}

/// The longest text that is followed, in bytes.
const MAX_VALUE_BYTES: usize = 1 << 20;

/// The most commands that one unknown text is traced to.
const MAX_SOURCES: usize = 128;

impl AbstractValue {
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            sources: Vec::new(),
        }
    }

    pub fn unknown() -> Self {
        Self::known(UNKNOWN_PLACEHOLDER)
    }

    /// Makes an unknown text that is the output of a command.
    pub fn from_command_output(command: usize) -> Self {
        Self {
            text: UNKNOWN_PLACEHOLDER.to_string(),
            sources: vec![command],
        }
    }

    pub fn is_fully_known(&self) -> bool {
        !self.text.contains(UNKNOWN_PLACEHOLDER)
    }

    /// Appends a text; a result that is too long becomes unknown.
    pub fn append(&mut self, other: &Self) {
        if self.text.len() + other.text.len() > MAX_VALUE_BYTES {
            self.text = UNKNOWN_PLACEHOLDER.to_string();
        } else {
            self.text.push_str(&other.text);
        }
        self.add_sources(&other.sources);
    }

    /// Returns how many steps a copy of it takes.
    pub fn copy_cost(&self) -> usize {
        1 + self.text.len() / 64 + self.sources.len() / 8
    }

    pub fn add_sources(&mut self, from: &[usize]) {
        let is_behind = match (self.sources.last(), from.first()) {
            (Some(last), Some(first)) => last < first,
            (_, None) => return,
            (None, _) => true,
        };
        self.sources.extend_from_slice(from);
        if !is_behind {
            self.sources.sort_unstable();
            self.sources.dedup();
        }
        self.sources.truncate(MAX_SOURCES);
    }

    /// Returns another text with the same sources.
    pub fn with_text(&self, text: String) -> Self {
        Self {
            text,
            sources: self.sources.clone(),
        }
    }
}

/// The texts that something may be; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PossibleValues(Vec<AbstractValue>);

/// The most different texts that are followed.
const MAX_POSSIBLE_VALUES: usize = 16;

impl PossibleValues {
    pub fn empty_string() -> Self {
        Self::single(AbstractValue::default())
    }

    pub fn single(value: AbstractValue) -> Self {
        Self(vec![value])
    }

    pub fn unknown() -> Self {
        Self::single(AbstractValue::unknown())
    }

    pub fn from_values(values: impl IntoIterator<Item = AbstractValue>) -> Self {
        let mut values: Vec<AbstractValue> = values.into_iter().collect();
        let mut seen = std::collections::BTreeSet::new();
        values.retain(|value| seen.insert(value.clone()));
        match values.len() {
            0 => Self::empty_string(),
            1..=MAX_POSSIBLE_VALUES => Self(values),
            _ => Self::single(unknown_with_sources(&values)),
        }
    }

    pub fn merge_with(self, other: Self) -> Self {
        Self::from_values(self.0.into_iter().chain(other.0))
    }

    pub fn concat(mut self, other: &Self) -> Self {
        if let ([only], [next]) = (self.0.as_mut_slice(), other.0.as_slice()) {
            only.append(next);
            return self;
        }
        Self::from_values(self.0.iter().flat_map(|first| {
            other.0.iter().map(move |second| {
                let mut value = first.clone();
                value.append(second);
                value
            })
        }))
    }

    /// Returns how many steps a copy of it takes.
    pub fn copy_cost(&self) -> usize {
        self.0.iter().map(AbstractValue::copy_cost).sum()
    }

    pub fn map_values(&self, change: impl Fn(&AbstractValue) -> AbstractValue) -> Self {
        Self::from_values(self.0.iter().map(change))
    }

    pub fn iter(&self) -> std::slice::Iter<'_, AbstractValue> {
        self.0.iter()
    }

    /// Returns the commands that its unknown parts come from.
    pub fn sources(&self) -> Vec<usize> {
        unknown_with_sources(&self.0).sources
    }

    /// Returns whether no part of it is known.
    pub fn is_entirely_unknown(&self) -> bool {
        self.0.iter().all(|value| {
            value
                .text
                .trim_matches([UNKNOWN_PLACEHOLDER, ' ', '\n'])
                .is_empty()
                && !value.text.is_empty()
        })
    }
}

fn unknown_with_sources(values: &[AbstractValue]) -> AbstractValue {
    let mut value = AbstractValue::unknown();
    for other in values {
        value.add_sources(&other.sources);
    }
    value
}

/// A word after expansion, with details that only the interpreter needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellField {
    pub value: AbstractValue,
    pub is_glob: bool,
    pub may_split: bool,
    /// Whether it is an assignment operand that is already done.
    pub is_completed_assignment: bool,
}

impl ShellField {
    pub fn known(text: impl Into<String>) -> Self {
        Self {
            value: AbstractValue::known(text),
            ..Self::default()
        }
    }

    pub fn text(&self) -> &str {
        &self.value.text
    }

    pub fn is_fully_known(&self) -> bool {
        self.value.is_fully_known()
    }

    pub fn to_word(&self) -> ShellWord {
        ShellWord {
            is_glob: self.is_glob,
            may_split: self.may_split,
            ..ShellWord::new(self.value.text.clone())
        }
    }
}
