//! Checks permission rules of a configuration file, and the examples written with them.

use strum::VariantNames;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::config_key::{ValueKind, quote_alternatives};
use super::value_check::{ValueError, ValueResult, check_value, kind_mismatch, value_error};
use super::word_similarity::closest_match;
use crate::permission::rule_lint::matches_example;
use crate::permission::{PermissionAction, Rule, RuleLayer, RuleOrigin, tool_names};

/// The keys of a rule that it must have, in the order of a checked rule.
const RULE_FIELDS: [(&str, ValueKind); 3] = [
    ("permission", ValueKind::Text),
    ("pattern", ValueKind::Text),
    ("action", ValueKind::Choice(PermissionAction::VARIANTS)),
];

const RULE_KEYS: [&str; 5] = ["permission", "pattern", "action", "match", "not_match"];

/// Checks one `[[permission.rule]]`; returns permission, pattern and action.
pub(super) fn check_rule(item: &Spanned<DeValue<'_>>) -> ValueResult<Value> {
    let table = item
        .get_ref()
        .as_table()
        .ok_or_else(|| kind_mismatch(ValueKind::Rules, item))?;
    let mut flaws = Vec::new();
    let names = table.keys();
    for name in names.filter(|name| !RULE_KEYS.contains(&name.get_ref().as_ref())) {
        flaws.push(ValueError {
            span: name.span(),
            what: format!("has no key `{}`", name.get_ref()),
            hint: closest_match(name.get_ref(), &RULE_KEYS)
                .map(|near| format!("did you mean `{near}`?")),
        });
    }
    let mut fields = Vec::new();
    for (name, kind) in RULE_FIELDS {
        match table.get(name).map(|value| check_value(kind, value)) {
            Some(Ok(field)) => fields.push(field),
            Some(Err(found)) => flaws.extend(name_field(name, found)),
            None => flaws.extend(value_error(item, format!("has no `{name}`"))),
        }
    }
    if flaws.is_empty()
        && let [Value::String(permission), Value::String(pattern), _] = fields.as_slice()
    {
        flaws.extend(check_examples(permission, pattern, table));
    }
    if flaws.is_empty() {
        Ok(Value::Array(fields))
    } else {
        Err(flaws)
    }
}

fn name_field(name: &str, flaws: Vec<ValueError>) -> impl Iterator<Item = ValueError> {
    flaws.into_iter().map(move |flaw| ValueError {
        what: format!("`{name}` {}", flaw.what),
        ..flaw
    })
}

/// Checks a rule against its examples: those in `match` must match, those in `not_match` must not.
fn check_examples(permission: &str, pattern: &str, table: &DeTable<'_>) -> Vec<ValueError> {
    let origin = RuleOrigin {
        layer: RuleLayer::Own,
        place: String::new(),
    };
    let permission = tool_names::permission_for_tool(permission);
    let as_rule = Rule::new(permission, pattern, PermissionAction::Ask, origin);
    let mut flaws = Vec::new();
    for (name, wanted) in [("match", true), ("not_match", false)] {
        let Some(raw) = table.get(name) else {
            continue;
        };
        let texts = match raw.get_ref() {
            DeValue::String(text) => Ok(Value::Array(vec![Value::String(text.to_string())])),
            _ => check_value(ValueKind::Texts, raw),
        };
        let texts = match texts {
            Ok(texts) => texts,
            Err(found) => {
                flaws.extend(name_field(name, found));
                continue;
            }
        };
        let texts = texts.as_array().into_iter().flatten();
        let wrong = texts
            .filter_map(Value::as_str)
            .filter(|text| matches_example(&as_rule, text) != wanted);
        let verb = if wanted { "does not match" } else { "matches" };
        flaws.extend(wrong.map(|text| ValueError {
            span: raw.span(),
            what: format!("has {text:?} under `{name}`, which its pattern {pattern:?} {verb}"),
            hint: Some(
                "change the pattern or the example; `*` matches `/` too, and \"ls *\" also matches `ls` alone"
                    .to_owned(),
            ),
        }));
    }
    flaws
}

/// Checks one rule that is a list of permission, pattern and action.
pub(super) fn check_short_rule(item: &Spanned<DeValue<'_>>) -> ValueResult<Value> {
    if !item.get_ref().is_array() {
        return Err(kind_mismatch(ValueKind::ShortRules, item));
    }
    let words = check_value(ValueKind::Texts, item)?;
    match words.as_array().map_or(&[][..], Vec::as_slice) {
        [_, _, Value::String(action)] if PermissionAction::VARIANTS.contains(&action.as_str()) => {
            Ok(words)
        }
        [_, _, action] => Err(value_error(
            item,
            format!(
                "must end each rule with {}, but has {action}",
                quote_alternatives(PermissionAction::VARIANTS)
            ),
        )),
        other => Err(value_error(
            item,
            format!(
                "must have three parts in each rule, but one has {}",
                other.len()
            ),
        )),
    }
}
