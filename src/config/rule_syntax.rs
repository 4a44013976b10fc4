//! Parses permission rules from a configuration file and checks the examples written with them.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::config_key::{ACTIONS, ValueKind, quote_alternatives};
use super::key_suggestions::closest_match;
use super::value_check::{
    ConfigValue, ValueError, ValueResult, collect_all, kind_mismatch, parse_texts, parse_value,
    value_error,
};
use crate::permission::rule_lint::matches_example;
use crate::permission::{PermissionAction, Rule, RuleLayer, RuleOrigin, tool_names};

/// One permission rule as it was parsed; its examples were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    /// The permission that it is about: `bash`, `edit`, `read`, …, or `*`.
    pub permission: String,
    /// The pattern of the target.
    pub pattern: String,
    /// One of [`ACTIONS`].
    pub action: String,
    /// Its position in the file, in bytes.
    pub span: Range<usize>,
}

const RULE_KEYS: [&str; 5] = ["permission", "pattern", "action", "match", "not_match"];

pub(super) fn parse_rules(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
) -> ValueResult<Vec<RuleSource>> {
    let array: &DeArray<'_> = raw
        .get_ref()
        .as_array()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    collect_all(array.iter().map(|item| {
        let table = item
            .get_ref()
            .as_table()
            .ok_or_else(|| kind_mismatch(kind, item))?;
        parse_rule(item, table)
    }))
}

fn parse_rule(item: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> ValueResult<RuleSource> {
    let mut flaws = Vec::new();
    for name in table
        .keys()
        .filter(|name| !RULE_KEYS.contains(&name.get_ref().as_ref()))
    {
        let hint =
            closest_match(name.get_ref(), &RULE_KEYS).map(|near| format!("did you mean `{near}`?"));
        flaws.push(ValueError {
            span: name.span(),
            what: format!("has no key `{}`", name.get_ref()),
            hint,
        });
    }
    let mut field = |name: &str, kind: ValueKind| match table.get(name) {
        Some(value) => match parse_value(kind, value) {
            Ok(ConfigValue::Text(text)) => text,
            Ok(_) => String::new(),
            Err(found) => {
                flaws.extend(found.into_iter().map(|flaw| ValueError {
                    what: format!("`{name}` {}", flaw.what),
                    ..flaw
                }));
                String::new()
            }
        },
        None => {
            flaws.push(ValueError {
                span: item.span(),
                what: format!("has no `{name}`"),
                hint: None,
            });
            String::new()
        }
    };
    let permission = field("permission", ValueKind::Text);
    let pattern = field("pattern", ValueKind::Text);
    let action = field("action", ValueKind::Choice(&ACTIONS));
    let rule = RuleSource {
        permission,
        pattern,
        action,
        span: item.span(),
    };
    if flaws.is_empty() {
        flaws.extend(check_examples(&rule, table));
    }
    if flaws.is_empty() {
        Ok(rule)
    } else {
        Err(flaws)
    }
}

/// Checks a rule against its examples: those in `match` must match, those in `not_match` must not.
fn check_examples(rule: &RuleSource, table: &DeTable<'_>) -> Vec<ValueError> {
    let origin = RuleOrigin {
        layer: RuleLayer::Own,
        place: String::new(),
    };
    let permission = tool_names::permission_for_tool(&rule.permission);
    let as_rule = Rule::new(permission, &rule.pattern, PermissionAction::Ask, origin);
    let mut flaws = Vec::new();
    for (name, wanted) in [("match", true), ("not_match", false)] {
        let Some(raw) = table.get(name) else {
            continue;
        };
        let texts = match raw.get_ref() {
            DeValue::String(text) => Ok(vec![text.to_string()]),
            _ => parse_texts(ValueKind::Texts, raw),
        };
        match texts {
            Ok(texts) => {
                let wrong = texts
                    .iter()
                    .filter(|text| matches_example(&as_rule, text) != wanted);
                flaws.extend(wrong.map(|text| ValueError {
                    span: raw.span(),
                    what: if wanted {
format!(
                            "has {text:?} under `match`, which its pattern {:?} does not match",
                            rule.pattern
                        )
} else {
format!(
                            "has {text:?} under `not_match`, which its pattern {:?} matches",
                            rule.pattern
                        )
},
                    hint: Some(
                        "change the pattern or the example; `*` matches `/` too, and \"ls *\" also matches `ls` alone"
                            .to_owned(),
                    ),
                }));
            }
            Err(found) => flaws.extend(found.into_iter().map(|flaw| ValueError {
                what: format!("`{name}` {}", flaw.what),
                ..flaw
            })),
        }
    }
    flaws
}

pub(super) fn parse_short_rules(
    kind: ValueKind,
    raw: &Spanned<DeValue<'_>>,
) -> ValueResult<Vec<RuleSource>> {
    let array = raw
        .get_ref()
        .as_array()
        .ok_or_else(|| kind_mismatch(kind, raw))?;
    collect_all(array.iter().map(|item| {
        let words = parse_texts(kind, item)?;
        let n_words = words.len();
        let [permission, pattern, action] = <[String; 3]>::try_from(words).map_err(|_| {
            value_error(
                item,
                format!("must have three parts in each rule, but one has {n_words}"),
            )
        })?;
        if !ACTIONS.contains(&action.as_str()) {
            return Err(value_error(
                item,
                format!(
                    "must end each rule with {}, but has \"{action}\"",
                    quote_alternatives(&ACTIONS)
                ),
            ));
        }
        Ok(RuleSource {
            permission,
            pattern,
            action,
            span: item.span(),
        })
    }))
}
