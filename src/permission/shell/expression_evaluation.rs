//! Follows what names and numbers in an expression run: a command in the brackets of an index.

use super::abstract_value::PossibleValues;
use super::environment::VariableValue;
use super::word_expansion::WordExpander;
use crate::permission::word_list::is_in_word_list;

/// The most names that are followed in one expression.
pub const MAX_NAMES: usize = 32;

/// Returns whether an operator of a test is about a name or a number.
pub fn is_numeric_operator(text: &str) -> bool {
    is_in_word_list("-v -R -eq -ne -lt -le -gt -ge", text)
}

impl WordExpander<'_> {
    /// Follows what `[[ … ]]` evaluates, where it is about names and numbers.
    pub fn evaluate_test(&mut self, words: &[PossibleValues]) {
        let texts = || words.iter().flat_map(PossibleValues::iter);
        // `(( x ))` is one word.
        if words.len() == 1 || texts().any(|value| is_numeric_operator(&value.text)) {
            for value in texts() {
                self.evaluate_index(&value.text);
                self.evaluate_names(&value.text);
            }
        }
    }

    /// `x[$(command)]` where a name or a number is expected: the command in the brackets runs.
    pub fn evaluate_index(&mut self, text: &str) {
        if text.contains('[') && (text.contains("$(") || text.contains('`')) {
            self.expand_prompt(text);
        }
    }

    /// Like [`Self::evaluate_index`] for names in an expression: their values are evaluated as expressions, too.
    pub fn evaluate_names(&mut self, text: &str) {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        for name in text
            .split(is_end)
            .filter(|name| !name.is_empty())
            .take(MAX_NAMES)
        {
            if !self.env.is_set(name) {
                continue;
            }
            for variable in self.env.variable_values(name) {
                if let VariableValue::One(value) = variable {
                    self.evaluate_index(&value.text);
                }
            }
        }
    }
}
