//! Permission rules as they are written in a configuration file, with the examples that must hold.
//!
//! Refuses to know files, layers and trust, and what a rule leads to.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::key::{ACTIONS, Kind, quoted};
use super::suggest::nearest;
use super::value::{Flaw, Read, Value, flaw, gather, misfit, parse_texts, parse_value};
use crate::permission::rule_lint::matches_example;
use crate::permission::{PermissionAction, Rule, RuleLayer, RuleOrigin, tool_names};

/// One permission rule as it was read; its examples hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    /// What it is about: `bash`, `edit`, `read`, …, or `*`.
    pub permission: String,
    /// The pattern of the target.
    pub pattern: String,
    /// One of [`ACTIONS`].
    pub action: String,
    /// Where it stands in its file, in bytes.
    pub span: Range<usize>,
}

const RULE_KEYS: [&str; 5] = ["permission", "pattern", "action", "match", "not_match"];

pub(super) fn parse_rules(kind: Kind, raw: &Spanned<DeValue<'_>>) -> Read<Vec<RuleText>> {
    let array: &DeArray<'_> = raw.get_ref().as_array().ok_or_else(|| misfit(kind, raw))?;
    gather(array.iter().map(|item| {
        let table = item
            .get_ref()
            .as_table()
            .ok_or_else(|| misfit(kind, item))?;
        parse_rule(item, table)
    }))
}

fn parse_rule(item: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> Read<RuleText> {
    let mut flaws = Vec::new();
    for name in table
        .keys()
        .filter(|name| !RULE_KEYS.contains(&name.get_ref().as_ref()))
    {
        let hint =
            nearest(name.get_ref(), &RULE_KEYS).map(|near| format!("did you mean `{near}`?"));
        flaws.push(Flaw {
            span: name.span(),
            what: format!("has no key `{}`", name.get_ref()),
            hint,
        });
    }
    let mut field = |name: &str, kind: Kind| match table.get(name) {
        Some(value) => match parse_value(kind, value) {
            Ok(Value::Text(text)) => text,
            Ok(_) => String::new(),
            Err(found) => {
                flaws.extend(found.into_iter().map(|flaw| Flaw {
                    what: format!("`{name}` {}", flaw.what),
                    ..flaw
                }));
                String::new()
            }
        },
        None => {
            flaws.push(Flaw {
                span: item.span(),
                what: format!("lacks `{name}`"),
                hint: None,
            });
            String::new()
        }
    };
    let permission = field("permission", Kind::Text);
    let pattern = field("pattern", Kind::Text);
    let action = field("action", Kind::Choice(&ACTIONS));
    let rule = RuleText {
        permission,
        pattern,
        action,
        span: item.span(),
    };
    if flaws.is_empty() {
        flaws.extend(examples(&rule, table));
    }
    if flaws.is_empty() {
        Ok(rule)
    } else {
        Err(flaws)
    }
}

/// Holds a rule's examples against it: `match` must be taken, `not_match` must not.
fn examples(rule: &RuleText, table: &DeTable<'_>) -> Vec<Flaw> {
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
            _ => parse_texts(Kind::Texts, raw),
        };
        match texts {
            Ok(texts) => {
                let wrong = texts
                    .iter()
                    .filter(|text| matches_example(&as_rule, text) != wanted);
                flaws.extend(wrong.map(|text| Flaw {
                    span: raw.span(),
                    what: match wanted {
                        true => format!(
                            "has {text:?} under `match`, which its pattern {:?} does not match",
                            rule.pattern
                        ),
                        false => format!(
                            "has {text:?} under `not_match`, which its pattern {:?} matches",
                            rule.pattern
                        ),
                    },
                    hint: Some(
                        "change the pattern or the example; `*` takes `/` too, and \"ls *\" takes `ls` alone"
                            .to_owned(),
                    ),
                }));
            }
            Err(found) => flaws.extend(found.into_iter().map(|flaw| Flaw {
                what: format!("`{name}` {}", flaw.what),
                ..flaw
            })),
        }
    }
    flaws
}

pub(super) fn parse_short_rules(kind: Kind, raw: &Spanned<DeValue<'_>>) -> Read<Vec<RuleText>> {
    let array = raw.get_ref().as_array().ok_or_else(|| misfit(kind, raw))?;
    gather(array.iter().map(|item| {
        let words = parse_texts(kind, item)?;
        let n_words = words.len();
        let [permission, pattern, action] = <[String; 3]>::try_from(words).map_err(|_| {
            flaw(
                item,
                format!("must have three parts in each rule, but has {n_words} in one"),
            )
        })?;
        if !ACTIONS.contains(&action.as_str()) {
            return Err(flaw(
                item,
                format!(
                    "must end each rule with {}, but has \"{action}\"",
                    quoted(&ACTIONS)
                ),
            ));
        }
        Ok(RuleText {
            permission,
            pattern,
            action,
            span: item.span(),
        })
    }))
}
