//! Checks a TOML value against its key's kind, and returns it in the form in which `config_model` reads it.
//!
//! Reports everything that is wrong with a value: `serde` would stop at the first flaw.

use std::ops::{Range, RangeInclusive};
use std::path::{Component, Path};
use std::time::Duration;

use toml::de::{DeInteger, DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::config_key::ValueKind;
use super::human_units::{format_duration, format_size, parse_duration, parse_size};
use super::rule_syntax::{check_rule, check_short_rule};
use super::word_similarity::closest_match;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueError {
    /// The position in the text, in bytes.
    pub(super) span: Range<usize>,
    /// What is wrong, so that it can follow the key's name.
    pub(super) what: String,
    /// A specific remedy, if there is one.
    pub(super) hint: Option<String>,
}

pub(super) type ValueResult<T> = Result<T, Vec<ValueError>>;

/// Parts of environment variable names whose values are not shown.
const SECRET_NAME_PARTS: [&str; 7] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSW",
    "AUTH",
    "CREDENTIAL",
    "COOKIE",
];

/// Files of the work directory that no key may name, because the program uses them itself.
const RESERVED_FILES: [&str; 8] = [
    "config.toml",
    "prompts",
    "state.json",
    "events.jsonl",
    "sessions",
    "turns",
    "iterations",
    "history",
];

/// Checks a value. Returns durations in milliseconds, sizes in bytes, rules as lists of permission, pattern and action,
/// keys of the keyboard as a list, colours as texts; and everything else as it is.
pub(super) fn check_value(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<Value> {
    match (kind, raw.get_ref()) {
        (ValueKind::Flag, DeValue::Boolean(flag)) => Ok(Value::Boolean(*flag)),
        (ValueKind::Number(low, high), DeValue::Integer(number)) => {
            check_number(kind, raw, number, low..=high).map(Value::Integer)
        }
        (ValueKind::Duration(low, high), DeValue::String(text)) => {
            let millis = parse_duration(text).map(|time| time.as_millis());
            let millis = millis.map(|millis| i64::try_from(millis).unwrap_or(i64::MAX));
            check_amount(kind, raw, millis, low * 1000..=high * 1000)
        }
        (ValueKind::Size(low, high), DeValue::String(text)) => {
            let bytes = parse_size(text).map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
            check_amount(kind, raw, bytes, low..=high)
        }
        (ValueKind::Colour, DeValue::Integer(number)) => {
            check_number(kind, raw, number, 0..=255).map(|number| Value::String(number.to_string()))
        }
        (ValueKind::KeyBindings, DeValue::String(text)) => {
            check_text(kind, raw, text).map(|key| Value::Array(vec![key]))
        }
        (ValueKind::Command, DeValue::Array(items)) if items.is_empty() => {
            Err(value_error(raw, format!("must be {kind}, but is empty")))
        }
        (ValueKind::Command | ValueKind::Texts | ValueKind::KeyBindings, DeValue::Array(items)) => {
            check_items(items, check_list_item)
        }
        (ValueKind::Commands, DeValue::Array(items)) => check_items(items, check_command),
        (ValueKind::Rules, DeValue::Array(items)) => check_items(items, check_rule),
        (ValueKind::ShortRules, DeValue::Array(items)) => check_items(items, check_short_rule),
        (ValueKind::Environment, DeValue::Table(table)) => check_entries(table, |name, value| {
            check_variable(name, value).map(|text| Value::String(text.to_owned()))
        }),
        (ValueKind::Flags, DeValue::Table(table)) => {
            check_entries(table, |_, value| match value.get_ref() {
                DeValue::Boolean(flag) => Ok(Value::Boolean(*flag)),
                _ => Err(kind_mismatch(kind, value)),
            })
        }
        (
            ValueKind::Text
            | ValueKind::Choice(_)
            | ValueKind::Adapter
            | ValueKind::AdapterOrNone
            | ValueKind::FileName
            | ValueKind::Folder
            | ValueKind::UserFile
            | ValueKind::PromptFile
            | ValueKind::Colour,
            DeValue::String(text),
        ) => check_text(kind, raw, text),
        _ => Err(kind_mismatch(kind, raw)),
    }
}

/// Checks one `[[test.command]]`.
fn check_command(item: &Spanned<DeValue<'_>>) -> ValueResult<Value> {
    const FIELDS: [(&str, ValueKind); 2] = [("run", ValueKind::Text), ("paths", ValueKind::Texts)];
    let table = item
        .get_ref()
        .as_table()
        .ok_or_else(|| kind_mismatch(ValueKind::Commands, item))?;
    let mut checked = Table::new();
    for (name, value) in table {
        let name_text = name.get_ref().as_ref();
        let Some((_, kind)) = FIELDS.iter().find(|(known, _)| *known == name_text) else {
            let what = format!("has no key `{name_text}`");
            return Err(value_error(value, what));
        };
        checked.insert(name_text.to_owned(), check_value(*kind, value)?);
    }
    if !checked.contains_key("run") {
        return Err(value_error(item, "has no `run`".to_owned()));
    }
    Ok(Value::Table(checked))
}

fn check_number(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    integer: &DeInteger<'_>,
    range: RangeInclusive<i64>,
) -> ValueResult<i64> {
    let number = i64::from_str_radix(integer.as_str(), integer.radix()).ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| value_error(raw, format!("must be {kind}, but is {}", integer.as_str())))
}

/// Checks a number that is written with a unit.
fn check_amount(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    amount: Option<i64>,
    range: RangeInclusive<i64>,
) -> ValueResult<Value> {
    let amount = amount.ok_or_else(|| kind_mismatch(kind, raw))?;
    if range.contains(&amount) {
        return Ok(Value::Integer(amount));
    }
    let [low, high, amount] =
        [*range.start(), *range.end(), amount].map(|amount| format_amount(kind, amount));
    let what = format!("must be from {low} to {high}, but is {amount}");
    Err(value_error(raw, what))
}

fn format_amount(kind: ValueKind, amount: i64) -> String {
    match kind {
        ValueKind::Size(..) => format_size(amount.unsigned_abs()),
        _ => format_duration(Duration::from_millis(amount.unsigned_abs())),
    }
}

fn check_text(kind: ValueKind, raw: &Spanned<DeValue<'_>>, text: &str) -> ValueResult<Value> {
    let what = if text.trim().is_empty() {
        "must not be blank".to_owned()
    } else if text.contains('\0') {
        "must not contain a NUL character".to_owned()
    } else if kind == ValueKind::FileName && is_reserved_file(text) {
        format!("must not be \"{text}\", which agent-collab uses itself")
    } else if !has_right_form(kind, text) {
        format!("must be {kind}, but is \"{text}\"")
    } else {
        return Ok(Value::String(text.to_owned()));
    };
    let hint = match kind {
        ValueKind::Choice(words) => {
            closest_match(text, words).map(|word| format!("did you mean \"{word}\"?"))
        }
        _ => None,
    };
    Err(vec![ValueError {
        span: raw.span(),
        what,
        hint,
    }])
}

fn has_right_form(kind: ValueKind, text: &str) -> bool {
    match kind {
        ValueKind::Choice(words) => words.contains(&text),
        ValueKind::FileName => is_file_name(text),
        ValueKind::Folder => is_inner_folder(text),
        ValueKind::UserFile => is_own_file(text),
        ValueKind::PromptFile => is_prompt_file(text),
        _ => true,
    }
}

fn check_list_item(item: &Spanned<DeValue<'_>>) -> ValueResult<Value> {
    match item.get_ref() {
        DeValue::String(text) => check_text(ValueKind::Text, item, text),
        other => Err(value_error(
            item,
            format!(
                "must contain only strings, but has {}",
                describe_toml_value(other)
            ),
        )),
    }
}

fn check_variable<'a>(
    name: &Spanned<toml::de::DeString<'_>>,
    value: &'a Spanned<DeValue<'_>>,
) -> ValueResult<&'a str> {
    let Some(text) = value.get_ref().as_str().filter(|text| !text.contains('\0')) else {
        let is = describe_toml_value(value.get_ref());
        let what = format!("must contain strings, but {} is {is}", name.get_ref());
        return Err(value_error(value, what));
    };
    if name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']) {
        return Err(vec![ValueError {
            span: name.span(),
            what: "has a name that is not valid for an environment variable".to_owned(),
            hint: None,
        }]);
    }
    Ok(text)
}

/// Checks every item of a list; returns all values, or all flaws.
fn check_items(
    items: &[Spanned<DeValue<'_>>],
    check: impl Fn(&Spanned<DeValue<'_>>) -> ValueResult<Value>,
) -> ValueResult<Value> {
    collect_all(items.iter().map(check)).map(Value::Array)
}

fn check_entries(
    table: &DeTable<'_>,
    check: impl Fn(&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>) -> ValueResult<Value>,
) -> ValueResult<Value> {
    let checked = table
        .iter()
        .map(|(name, value)| Ok((name.get_ref().to_string(), check(name, value)?)));
    let entries: Vec<(String, Value)> = collect_all(checked)?;
    Ok(Value::Table(entries.into_iter().collect::<Table>()))
}

fn collect_all<T>(parts: impl Iterator<Item = ValueResult<T>>) -> ValueResult<Vec<T>> {
    let (mut values, mut flaws) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Ok(value) => values.push(value),
            Err(found) => flaws.extend(found),
        }
    }
    if flaws.is_empty() {
        Ok(values)
    } else {
        Err(flaws)
    }
}

pub(super) fn kind_mismatch(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> Vec<ValueError> {
    let is = describe_toml_value(raw.get_ref());
    value_error(raw, format!("must be {kind}, but is {is}"))
}

pub(super) fn value_error(raw: &Spanned<DeValue<'_>>, what: String) -> Vec<ValueError> {
    vec![ValueError {
        span: raw.span(),
        what,
        hint: None,
    }]
}

/// Names the type of a raw value, for messages.
pub(super) fn describe_toml_value(raw: &DeValue<'_>) -> String {
    match raw {
        DeValue::String(text) => format!("the text {:?}", text.as_ref()),
        DeValue::Integer(number) => format!("the number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => format!("{value}"),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn is_reserved_file(name: &str) -> bool {
    RESERVED_FILES.contains(&name) || name.ends_with(".lock")
}

fn is_file_name(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == path)
}

fn is_inner_folder(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    let first_is_git = parts.peek() == Some(&Component::Normal(".git".as_ref()));
    !first_is_git
        && parts.peek().is_some()
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn is_own_file(path: &str) -> bool {
    let rest = path.strip_prefix("~/").or_else(|| path.strip_prefix('/'));
    rest.is_some_and(|rest| !rest.is_empty()) && !path.ends_with('/')
}

fn is_prompt_file(path: &str) -> bool {
    path.strip_prefix("prompts/")
        .is_some_and(|name| is_file_name(name) && name.len() > ".md".len() && name.ends_with(".md"))
}

/// Returns a checked value as it is written in a file.
pub(super) fn to_written_value(kind: ValueKind, value: &Value) -> Value {
    match (kind, value) {
        (ValueKind::Duration(..) | ValueKind::Size(..), Value::Integer(amount)) => {
            Value::String(format_amount(kind, *amount))
        }
        _ => value.clone(),
    }
}

/// Masks the values of environment variables with secret-looking names: they only show that they are set.
pub(super) fn mask_secrets(variables: &mut Table) {
    for (name, value) in variables.iter_mut() {
        let upper = name.to_uppercase();
        if SECRET_NAME_PARTS.iter().any(|part| upper.contains(part)) {
            *value = Value::from("[SET]");
        }
    }
}
