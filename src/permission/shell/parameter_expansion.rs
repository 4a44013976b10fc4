//! Expands `$name` and `${name…}` to everything that a variable and its operation may give.
//!
//! What only a run would show is unknown. Splitting into words is in `word_expansion`.

use super::UNKNOWN_PLACEHOLDER;
use super::abstract_value::{AbstractValue, PossibleValues};
use super::environment::{ShellEnvironment, VariableValue};
use super::syntax_tree::{
    DefaultOperator, ParameterExpansion, ParameterOperation, RawWord, TrimSide, WordPiece,
};
use super::word_expansion::{PieceExpansion, WordExpander};
use crate::permission::wildcard;

/// Variables that only contain numbers.
const NUMERIC_VARIABLES: [&str; 14] = [
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
const MAX_TRIM_BYTES: usize = 256;

/// How many arguments a text may be given that nothing here sets.
const MAX_UNSET_ARGUMENTS: usize = 3;

impl WordExpander<'_> {
    /// Returns everything that a parameter may give at its place: in quotes `$*` is one word.
    pub fn expand_parameter(
        &mut self,
        parameter: &ParameterExpansion,
        is_quoted: bool,
    ) -> Vec<PieceExpansion> {
        let values = self.apply_parameter_operation(parameter);
        let index = parameter.index.as_ref().and_then(RawWord::literal_text);
        let is_star = parameter.name == "*" || index.as_deref() == Some("*");
        if !is_quoted || !is_star {
            return values;
        }
        let values = values.into_iter().map(PieceExpansion::into_single_value);
        values.map(PieceExpansion::Text).collect()
    }

    /// Returns everything that `$name` or `${name…}` may give.
    fn apply_parameter_operation(&mut self, parameter: &ParameterExpansion) -> Vec<PieceExpansion> {
        let name = parameter.name.as_str();
        if NUMERIC_VARIABLES.contains(&name)
            && matches!(parameter.operation, ParameterOperation::Plain)
        {
            return vec![PieceExpansion::Unsplit(AbstractValue::unknown())];
        }
        let values = self.parameter_elements(parameter);
        if matches!(parameter.operation, ParameterOperation::Length) {
            return vec![PieceExpansion::Unsplit(AbstractValue::unknown())];
        }
        match &parameter.operation {
            ParameterOperation::Plain | ParameterOperation::Length => values,
            ParameterOperation::Indirect => expand_indirect(&values, self.env),
            ParameterOperation::Default(pieces, keeps) => {
                let operand = self.expand_without_splitting(pieces);
                if *keeps == DefaultOperator::Assign {
                    let values = operand.iter().cloned().map(VariableValue::One).collect();
                    self.env.set_variable(name, values);
                }
                let is_set = self.env.is_set(name) && *keeps == DefaultOperator::Substitute;
                apply_default(values, &operand, is_set || is_always_set(name))
            }
            ParameterOperation::Alternative(pieces) => {
                let operand = self.expand_without_splitting(pieces);
                let nothing = PieceExpansion::Text(AbstractValue::default());
                let operands = operand.iter().cloned().map(PieceExpansion::Text);
                operands.chain([nothing]).collect()
            }
            ParameterOperation::Trim {
                from,
                is_longest,
                pattern,
            } => {
                let pattern = self.expand_without_splitting(pattern);
                let here = self.interpreter.current_span();
                let n_steps: usize = pattern.iter().map(|pattern| pattern.text.len()).sum();
                self.interpreter
                    .budget
                    .spend_steps(n_steps * MAX_TRIM_BYTES / 16, &here);
                map_expansions(values, |value| {
                    trim_pattern(value, *from, *is_longest, &pattern)
                })
            }
            ParameterOperation::Replace {
                is_global,
                pattern,
                with,
            } => {
                let pattern = self.expand_without_splitting(pattern);
                let with = self.expand_without_splitting(with);
                map_expansions(values, |value| {
                    replace_pattern(value, *is_global, &pattern, &with)
                })
            }
            ParameterOperation::Slice(pieces) => {
                let bounds = self.expand_without_splitting(pieces);
                slice_expansions(values, &bounds, matches!(name, "@" | "*"))
            }
            ParameterOperation::Upper { is_whole } => map_expansions(values, |value| {
                change_case(value, *is_whole, |c| c.to_ascii_uppercase())
            }),
            ParameterOperation::Lower { is_whole } => map_expansions(values, |value| {
                change_case(value, *is_whole, |c| c.to_ascii_lowercase())
            }),
            ParameterOperation::Other(pieces) => self.apply_other_operation(values, pieces),
        }
    }

    /// Returns the variable's values, or those of the element that is named.
    fn parameter_elements(&mut self, parameter: &ParameterExpansion) -> Vec<PieceExpansion> {
        let name = parameter.name.as_str();
        if let Some(position) = name.parse::<usize>().ok().filter(|position| *position > 0) {
            // No caller passes so many arguments to a text; `$9` is written to end the name before it.
            if position > MAX_UNSET_ARGUMENTS && !self.env.is_set("@") {
                return vec![PieceExpansion::Text(AbstractValue::default())];
            }
            return self
                .env
                .variable_values("@")
                .iter()
                .map(|variable| PieceExpansion::Text(positional_argument(variable, position)))
                .collect();
        }
        if matches!(name, "@" | "*") {
            return self
                .env
                .variable_values("@")
                .into_iter()
                .map(all_elements)
                .collect();
        }
        let index = parameter.index.as_ref().map(|index| {
            let texts = self.expand_without_splitting(&index.pieces);
            texts
                .iter()
                .next()
                .map_or_else(String::new, |value| value.text.clone())
        });
        let mut found = Vec::new();
        for variable in self.env.variable_values(name) {
            match (variable, index.as_deref().map(str::trim)) {
                (variable, Some("@" | "*")) => found.push(all_elements(variable)),
                (VariableValue::Array(values), Some(index)) => match index.parse::<usize>() {
                    Ok(index) => {
                        let value = values.get(index).cloned().unwrap_or_default();
                        found.push(PieceExpansion::Text(value));
                    }
                    Err(_) => found.extend(values.into_iter().map(PieceExpansion::Text)),
                },
                (VariableValue::Array(values), None) => {
                    let first = values.into_iter().next().unwrap_or_default();
                    found.push(PieceExpansion::Text(first));
                }
                (VariableValue::One(value), _) => found.push(PieceExpansion::Text(value)),
            }
        }
        found
    }

    /// Handles operations that are not followed; `@P` reads the value as a prompt, with its substitutions.
    fn apply_other_operation(
        &mut self,
        values: Vec<PieceExpansion>,
        pieces: &[WordPiece],
    ) -> Vec<PieceExpansion> {
        let operation = self.expand_without_splitting(pieces);
        let is_prompt = operation.iter().any(|operation| operation.text == "@P");
        if !is_prompt {
            return map_expansions(values, |value| {
                PossibleValues::single(value.with_text(UNKNOWN_PLACEHOLDER.to_string()))
            });
        }
        let mut found = Vec::new();
        for value in values {
            let PieceExpansion::Text(value) = value else {
                found.push(PieceExpansion::Text(AbstractValue::unknown()));
                continue;
            };
            let texts = self.expand_prompt(&value.text);
            found.extend(texts.iter().cloned().map(PieceExpansion::Text));
        }
        found
    }
}

fn all_elements(variable: VariableValue) -> PieceExpansion {
    match variable {
        VariableValue::Array(values) => PieceExpansion::Elements(values),
        VariableValue::One(value) => PieceExpansion::Elements(vec![value]),
    }
}

/// Returns the argument at a position, counted from 1.
fn positional_argument(variable: &VariableValue, position: usize) -> AbstractValue {
    let VariableValue::Array(values) = variable else {
        return AbstractValue::unknown();
    };
    match values.get(position - 1) {
        Some(value) => value.clone(),
        None if values.iter().all(AbstractValue::is_fully_known) => AbstractValue::default(),
        None => AbstractValue::unknown(),
    }
}

/// Returns whether every shell sets this variable.
fn is_always_set(name: &str) -> bool {
    matches!(name, "HOME" | "PWD" | "SHELL" | "IFS" | "0")
}

/// Applies an operation to every value, whatever its form.
fn map_expansions(
    values: Vec<PieceExpansion>,
    change: impl Fn(&AbstractValue) -> PossibleValues,
) -> Vec<PieceExpansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            PieceExpansion::Text(value) | PieceExpansion::Unsplit(value) => {
                found.extend(change(&value).iter().cloned().map(PieceExpansion::Text));
            }
            PieceExpansion::Elements(values) => found.push(PieceExpansion::Elements(
                values
                    .iter()
                    .map(|value| {
                        let texts = change(value);
                        let mut texts = texts.iter();
                        match (texts.next(), texts.next()) {
                            (Some(only), None) => only.clone(),
                            _ => value.with_text(UNKNOWN_PLACEHOLDER.to_string()),
                        }
                    })
                    .collect(),
            )),
        }
    }
    found
}

fn expand_indirect(values: &[PieceExpansion], env: &ShellEnvironment) -> Vec<PieceExpansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            PieceExpansion::Text(value) if value.is_fully_known() && !value.text.is_empty() => {
                let name = value.text.trim_end_matches("[@]").trim_end_matches("[*]");
                let is_all = name.len() < value.text.len();
                found.extend(env.variable_values(name).into_iter().map(
                    |variable| match variable {
                        VariableValue::One(value) => PieceExpansion::Text(value),
                        variable if is_all => all_elements(variable),
                        VariableValue::Array(values) => {
                            PieceExpansion::Text(values.into_iter().next().unwrap_or_default())
                        }
                    },
                ));
            }
            _ => found.push(PieceExpansion::Text(AbstractValue::unknown())),
        }
    }
    found
}

fn apply_default(
    values: Vec<PieceExpansion>,
    operand: &PossibleValues,
    is_set: bool,
) -> Vec<PieceExpansion> {
    let operands = || operand.iter().cloned().map(PieceExpansion::Text);
    if !is_set {
        return operands().collect();
    }
    let mut found = Vec::new();
    let mut may_be_empty = false;
    for value in values {
        let text = match &value {
            PieceExpansion::Text(value) | PieceExpansion::Unsplit(value) => value.text.clone(),
            PieceExpansion::Elements(values) => {
                values.iter().map(|value| value.text.as_str()).collect()
            }
        };
        may_be_empty |= text.trim_matches(UNKNOWN_PLACEHOLDER).is_empty();
        if !text.is_empty() {
            found.push(value);
        }
    }
    if may_be_empty {
        found.extend(operands());
    }
    found
}

/// Returns the only possible text, if it is known.
fn single_known_text(texts: &PossibleValues) -> Option<&str> {
    let mut texts = texts.iter();
    match (texts.next(), texts.next()) {
        (Some(only), None) if only.is_fully_known() => Some(&only.text),
        _ => None,
    }
}

fn to_unknown(value: &AbstractValue) -> PossibleValues {
    PossibleValues::single(value.with_text(UNKNOWN_PLACEHOLDER.to_string()))
}

fn trim_pattern(
    value: &AbstractValue,
    from: TrimSide,
    is_longest: bool,
    pattern: &PossibleValues,
) -> PossibleValues {
    let Some(pattern) = single_known_text(pattern).filter(|_| value.is_fully_known()) else {
        return to_unknown(value);
    };
    let text = value.text.as_str();
    if text.len() > MAX_TRIM_BYTES {
        return to_unknown(value);
    }
    let mut cuts = (0..=text.len()).filter(|at| {
        let part = match from {
            TrimSide::Start => text.get(..*at),
            TrimSide::End => text.get(*at..),
        };
        part.is_some_and(|part| wildcard::matches(pattern, part))
    });
    // A later cut removes more from the start and less from the end.
    let cut = if is_longest == (from == TrimSide::Start) {
        cuts.next_back()
    } else {
        cuts.next()
    };
    let left = cut.and_then(|cut| match from {
        TrimSide::Start => text.get(cut..),
        TrimSide::End => text.get(..cut),
    });
    PossibleValues::single(value.with_text(left.unwrap_or(text).to_owned()))
}

fn replace_pattern(
    value: &AbstractValue,
    is_global: bool,
    pattern: &PossibleValues,
    with: &PossibleValues,
) -> PossibleValues {
    let (Some(pattern), Some(with)) = (single_known_text(pattern), single_known_text(with)) else {
        return to_unknown(value);
    };
    if !value.is_fully_known() || pattern.contains(['*', '?', '[', '\\']) {
        return to_unknown(value);
    }
    let text = match (pattern, is_global) {
        ("", _) => value.text.clone(),
        (_, true) => value.text.replace(pattern, with),
        (_, false) => value.text.replacen(pattern, with, 1),
    };
    PossibleValues::single(value.with_text(text))
}

fn slice_expansions(
    values: Vec<PieceExpansion>,
    bounds: &PossibleValues,
    from_one: bool,
) -> Vec<PieceExpansion> {
    let mut found = Vec::new();
    for value in values {
        match value {
            PieceExpansion::Elements(elements) => {
                found.push(slice_elements(elements, bounds, from_one))
            }
            value => found.extend(map_expansions(vec![value], |value| {
                slice_text(value, bounds)
            })),
        }
    }
    found
}

/// `${name[@]:offset:length}`; arguments are counted from one.
fn slice_elements(
    elements: Vec<AbstractValue>,
    bounds: &PossibleValues,
    from_one: bool,
) -> PieceExpansion {
    let bounds =
        single_known_text(bounds).map(|bounds| bounds.split_once(':').unwrap_or((bounds, "")));
    let numbers = bounds.and_then(|(offset, length)| {
        let offset: usize = offset.trim().parse().ok()?;
        let length = match length.trim() {
            "" => usize::MAX,
            length => length.parse().ok()?,
        };
        Some((offset.saturating_sub(usize::from(from_one)), length))
    });
    match numbers {
        Some((offset, length)) if elements.iter().all(AbstractValue::is_fully_known) => {
            PieceExpansion::Elements(elements.into_iter().skip(offset).take(length).collect())
        }
        _ => PieceExpansion::Text(AbstractValue::unknown()),
    }
}

fn slice_text(value: &AbstractValue, bounds: &PossibleValues) -> PossibleValues {
    let Some(bounds) = single_known_text(bounds).filter(|_| value.is_fully_known()) else {
        return to_unknown(value);
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
        return to_unknown(value);
    };
    let end = match length.map(|length| place(length, start)) {
        None => n_chars,
        Some(Some(end)) => end,
        Some(None) => return to_unknown(value),
    };
    let text = value
        .text
        .chars()
        .skip(start)
        .take(end.saturating_sub(start));
    PossibleValues::single(value.with_text(text.collect()))
}

fn change_case(
    value: &AbstractValue,
    is_whole: bool,
    change: impl Fn(char) -> char,
) -> PossibleValues {
    let text = value
        .text
        .char_indices()
        .map(|(at, c)| if is_whole || at == 0 { change(c) } else { c })
        .collect();
    PossibleValues::single(value.with_text(text))
}
