//! One value of the configuration: parsed from TOML according to its key's kind, written back as TOML or JSON.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path};
use std::time::Duration;

use serde_json::json;
use toml::Spanned;
use toml::de::DeValue;

use super::config_key::ValueKind;
use super::human_units::{format_duration, format_size, parse_duration, parse_size};
use super::key_suggestions::closest_match;
pub use super::rule_syntax::RuleSource;
use super::rule_syntax::{parse_rules, parse_short_rules};

/// A value that matches its key's kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    /// Of [`ValueKind::Flag`].
    Flag(bool),
    /// Of [`ValueKind::Number`], within its range.
    Number(u64),
    /// Of [`ValueKind::Duration`], within its range.
    Duration(Duration),
    /// Of [`ValueKind::Size`], within its range, in bytes.
    Size(u64),
    /// Of every kind that is a single text.
    Text(String),
    /// Of [`ValueKind::Texts`] and [`ValueKind::Command`].
    Texts(Vec<String>),
    /// Of [`ValueKind::Environment`].
    Environment(BTreeMap<String, String>),
    /// Of [`ValueKind::Flags`].
    Flags(BTreeMap<String, bool>),
    /// Of [`ValueKind::Rules`] and [`ValueKind::ShortRules`].
    Rules(Vec<RuleSource>),
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueError {
    /// The position in the text, in bytes.
    pub span: Range<usize>,
    /// What is wrong, so that it can follow the key's name.
    pub what: String,
    /// A specific remedy, if there is one.
    pub hint: Option<String>,
}

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

pub(super) type ValueResult<T> = Result<T, Vec<ValueError>>;

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

/// Parses a value according to its key's kind, or reports everything that is wrong with it.
pub fn parse_value(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<ConfigValue> {
    match kind {
        ValueKind::Flag => raw
            .get_ref()
            .as_bool()
            .map(ConfigValue::Flag)
            .ok_or_else(|| kind_mismatch(kind, raw)),
        ValueKind::Number(low, high) => {
            parse_number(kind, raw, low..=high).map(ConfigValue::Number)
        }
        ValueKind::Duration(low, high) => {
            parse_time(kind, raw, low, high).map(ConfigValue::Duration)
        }
        ValueKind::Size(low, high) => parse_bytes(kind, raw, low, high).map(ConfigValue::Size),
        ValueKind::Text | ValueKind::Adapter | ValueKind::AdapterOrNone => {
            parse_text(kind, raw).map(ConfigValue::Text)
        }
        ValueKind::Choice(words) => parse_choice(kind, raw, words).map(ConfigValue::Text),
        ValueKind::FileName => parse_path(kind, raw, is_file_name).map(ConfigValue::Text),
        ValueKind::Folder => parse_path(kind, raw, is_inner_folder).map(ConfigValue::Text),
        ValueKind::UserFile => parse_path(kind, raw, is_own_file).map(ConfigValue::Text),
        ValueKind::PromptFile => parse_path(kind, raw, is_prompt_file).map(ConfigValue::Text),
        ValueKind::Command => parse_command(kind, raw).map(ConfigValue::Texts),
        ValueKind::Texts => parse_texts(kind, raw).map(ConfigValue::Texts),
        ValueKind::Environment => parse_environment(kind, raw).map(ConfigValue::Environment),
        ValueKind::Flags => parse_flags(kind, raw).map(ConfigValue::Flags),
        ValueKind::Rules => parse_rules(kind, raw).map(ConfigValue::Rules),
        ValueKind::ShortRules => parse_short_rules(kind, raw).map(ConfigValue::Rules),
        ValueKind::KeyBindings => parse_keys(kind, raw).map(ConfigValue::Texts),
        ValueKind::Colour => parse_colour(kind, raw).map(ConfigValue::Text),
    }
}

fn parse_number(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    range: std::ops::RangeInclusive<u64>,
) -> ValueResult<u64> {
    let integer = raw
        .get_ref()
        .as_integer()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| value_error(raw, format!("must be {kind}, but is {}", integer.as_str())))
}

fn parse_time(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    low: u64,
    high: u64,
) -> ValueResult<Duration> {
    let time = raw
        .get_ref()
        .as_str()
        .and_then(parse_duration)
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    let (low, high) = (Duration::from_secs(low), Duration::from_secs(high));
    if (low..=high).contains(&time) {
        return Ok(time);
    }
    let limits = format!(
        "must be from {} to {}",
        format_duration(low),
        format_duration(high)
    );
    Err(value_error(
        raw,
        format!("{limits}, but is {}", format_duration(time)),
    ))
}

fn parse_bytes(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    low: u64,
    high: u64,
) -> ValueResult<u64> {
    let size = raw
        .get_ref()
        .as_str()
        .and_then(parse_size)
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    if (low..=high).contains(&size) {
        return Ok(size);
    }
    let limits = format!("must be from {} to {}", format_size(low), format_size(high));
    Err(value_error(
        raw,
        format!("{limits}, but is {}", format_size(size)),
    ))
}

fn parse_text(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<String> {
    let text = raw
        .get_ref()
        .as_str()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    if text.trim().is_empty() {
        return Err(value_error(raw, "must not be blank".to_owned()));
    }
    if text.contains('\0') {
        return Err(value_error(
            raw,
            "must not contain a NUL character".to_owned(),
        ));
    }
    Ok(text.to_owned())
}

fn parse_choice(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    words: &[&str],
) -> ValueResult<String> {
    let word = parse_text(kind, raw)?;
    if words.contains(&word.as_str()) {
        return Ok(word);
    }
    let hint = closest_match(&word, words).map(|word| format!("did you mean \"{word}\"?"));
    Err(vec![ValueError {
        span: raw.span(),
        what: format!("must be {kind}, but is \"{word}\""),
        hint,
    }])
}

fn parse_path(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
    fits: fn(&str) -> bool,
) -> ValueResult<String> {
    let path = parse_text(kind, raw)?;
    if kind == ValueKind::FileName
        && (RESERVED_FILES.contains(&path.as_str()) || path.ends_with(".lock"))
    {
        return Err(value_error(
            raw,
            format!("must not be \"{path}\", which agent-collab uses itself"),
        ));
    }
    if fits(&path) {
        Ok(path)
    } else {
        Err(value_error(
            raw,
            format!("must be {kind}, but is \"{path}\""),
        ))
    }
}

fn parse_command(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<Vec<String>> {
    let words = parse_texts(kind, raw)?;
    if words.is_empty() {
        Err(value_error(raw, format!("must be {kind}, but is empty")))
    } else {
        Ok(words)
    }
}

fn parse_keys(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<Vec<String>> {
    match raw.get_ref() {
        DeValue::String(_) => parse_text(kind, raw).map(|key| vec![key]),
        _ => parse_texts(kind, raw),
    }
}

fn parse_colour(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<String> {
    match raw.get_ref() {
        DeValue::Integer(_) => parse_number(kind, raw, 0..=255).map(|number| number.to_string()),
        _ => parse_text(kind, raw),
    }
}

pub(super) fn parse_texts(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<Vec<String>> {
    let array = raw
        .get_ref()
        .as_array()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    collect_all(array.iter().map(|item| match item.get_ref() {
        DeValue::String(_) => parse_text(ValueKind::Text, item),
        other => Err(value_error(
            item,
            format!(
                "must contain only strings, but has {}",
                describe_toml_value(other)
            ),
        )),
    }))
}

fn parse_flags(kind: ValueKind, raw: &Spanned<DeValue<'_>>) -> ValueResult<BTreeMap<String, bool>> {
    let table = raw
        .get_ref()
        .as_table()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    let pairs = collect_all(table.iter().map(|(name, value)| {
        let flag = value.get_ref().as_bool();
        flag.map(|flag| (name.get_ref().to_string(), flag))
            .ok_or_else(|| kind_mismatch(kind, value))
    }))?;
    Ok(pairs.into_iter().collect())
}

fn parse_environment(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
) -> ValueResult<BTreeMap<String, String>> {
    let table = raw
        .get_ref()
        .as_table()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    let pairs = collect_all(table.iter().map(|(name, value)| {
        let text = value.get_ref().as_str().filter(|text| !text.contains('\0'));
        let is_name = !name.get_ref().is_empty() && !name.get_ref().contains(['=', '\0']);
        match text {
            Some(text) if is_name => Ok((name.get_ref().to_string(), text.to_owned())),
            Some(_) => Err(vec![ValueError {
                span: name.span(),
                what: "has a name that is not valid for an environment variable".to_owned(),
                hint: None,
            }]),
            None => Err(value_error(
                value,
                format!(
                    "must contain strings, but {} is {}",
                    name.get_ref(),
                    describe_toml_value(value.get_ref())
                ),
            )),
        }
    }))?;
    Ok(pairs.into_iter().collect())
}

/// Returns all values, or all errors.
pub(super) fn collect_all<T>(parts: impl Iterator<Item = ValueResult<T>>) -> ValueResult<Vec<T>> {
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
    value_error(
        raw,
        format!(
            "must be {kind}, but is {}",
            describe_toml_value(raw.get_ref())
        ),
    )
}

pub(super) fn value_error(raw: &Spanned<DeValue<'_>>, what: String) -> Vec<ValueError> {
    vec![ValueError {
        span: raw.span(),
        what,
        hint: None,
    }]
}

/// Names the type of a raw value, for messages.
pub fn describe_toml_value(raw: &DeValue<'_>) -> String {
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

impl ConfigValue {
    /// Writes the value as TOML that parses to the same value.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Flag(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Duration(time) => toml_text(&format_duration(*time)),
            Self::Size(bytes) => toml_text(&format_size(*bytes)),
            Self::Text(text) => toml_text(text),
            Self::Texts(texts) => toml_list(texts.iter().map(|text| toml_text(text))),
            Self::Environment(pairs) if pairs.is_empty() => "{}".to_owned(),
            Self::Environment(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, value)| format!("{} = {}", toml_text(name), toml_text(value)))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            Self::Flags(pairs) => {
                let pairs: Vec<String> = pairs
                    .iter()
                    .map(|(name, flag)| format!("{} = {flag}", toml_text(name)))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }
            Self::Rules(rules) => toml_list(rules.iter().map(|rule| {
                toml_list(
                    [&rule.permission, &rule.pattern, &rule.action]
                        .into_iter()
                        .map(|text| toml_text(text)),
                )
            })),
        }
    }

    /// Returns the value as it may be shown: environment variables with secret-looking names show only that they are
    /// set.
    pub fn masked(&self) -> Self {
        let mask = |(name, value): (&String, &String)| {
            let upper = name.to_uppercase();
            let is_secret = SECRET_NAME_PARTS.iter().any(|part| upper.contains(part));
            (
                name.clone(),
                if is_secret {
                    "[SET]".to_owned()
                } else {
                    value.clone()
                },
            )
        };
        match self {
            Self::Environment(pairs) => Self::Environment(pairs.iter().map(mask).collect()),
            other => other.clone(),
        }
    }

    /// Writes the value as JSON; durations and sizes are texts as in the configuration.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Flag(value) => json!(value),
            Self::Number(number) => json!(number),
            Self::Duration(time) => json!(format_duration(*time)),
            Self::Size(bytes) => json!(format_size(*bytes)),
            Self::Text(text) => json!(text),
            Self::Texts(texts) => json!(texts),
            Self::Environment(pairs) => json!(pairs),
            Self::Flags(pairs) => json!(pairs),
            Self::Rules(rules) => rules
                .iter()
                .map(|rule| json!([rule.permission, rule.pattern, rule.action]))
                .collect(),
        }
    }
}

/// Writes a text as a TOML string.
pub fn toml_text(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn toml_list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
