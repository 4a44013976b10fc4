//! Reads the table of built-in rules, `data/rules/*.toml`: the class, the reason, the patterns and an example of each.
//!
//! What a pattern cannot say is found by the code of the families, which records it by a [`RuleName`]. The
//! configuration and `permissions list --builtin` read the same rows.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::permission::embedded_table::parse_embedded_table;

use super::command_pattern::CommandPattern;
use super::{BuiltinRuleLevel, Class};

/// The files of the table, in the order in which rules are listed and matched.
const RULE_FILES: [&str; 12] = [
    include_str!("data/rules/files.toml"),
    include_str!("data/rules/permissions.toml"),
    include_str!("data/rules/devices.toml"),
    include_str!("data/rules/git.toml"),
    include_str!("data/rules/publish.toml"),
    include_str!("data/rules/remote.toml"),
    include_str!("data/rules/interpreters.toml"),
    include_str!("data/rules/infra.toml"),
    include_str!("data/rules/databases.toml"),
    include_str!("data/rules/system.toml"),
    include_str!("data/rules/unpacked.toml"),
    include_str!("data/rules/undecided.toml"),
];

/// A built-in rule: one row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuiltinRule {
    /// `family.what`, as the configuration spells it.
    pub name: String,
    pub class: Class,
    /// What the command would do; the sentence starts with "it".
    pub reason: String,
    /// Patterns of its commands, in addition to what its family finds by a closer look.
    #[serde(default)]
    pub patterns: Vec<String>,
    /// A command that only this rule holds back.
    pub example: String,
    /// A command that looks like the example and that no rule holds back.
    pub harmless: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<BuiltinRule>,
}

static BUILTIN_RULES: LazyLock<Vec<BuiltinRule>> = LazyLock::new(|| {
    let files = RULE_FILES.iter();
    files
        .flat_map(|text| parse_embedded_table::<RuleFile>(text).rule)
        .collect()
});

impl BuiltinRule {
    /// Returns whether it may be turned off: not if it is about commands that the classifier cannot understand.
    pub fn can_be_disabled(&self) -> bool {
        self.family() != UNDECIDED_FAMILY
    }

    /// Returns the first part of its name.
    pub fn family(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }

    /// Returns the class that it gives at the user's level; `None` when it does not apply.
    pub fn class_at_level(&self, change: Option<BuiltinRuleLevel>) -> Option<Class> {
        match change {
            None => Some(self.class),
            Some(BuiltinRuleLevel::Off) if self.can_be_disabled() => None,
            Some(BuiltinRuleLevel::Off | BuiltinRuleLevel::Confirm) => Some(Class::Confirm),
            Some(BuiltinRuleLevel::Dangerous) => Some(Class::Dangerous),
        }
    }
}

/// The family of rules about what the classifier cannot decide.
const UNDECIDED_FAMILY: &str = "undecided";

/// Lists every built-in rule, family by family.
pub fn all_builtin_rules() -> impl Iterator<Item = &'static BuiltinRule> {
    BUILTIN_RULES.iter()
}

/// Finds a rule by its name.
pub fn find_builtin_rule(name: &str) -> Option<&'static BuiltinRule> {
    all_builtin_rules().find(|rule| rule.name == name)
}

/// The name of a rule that code records. A name that no row has does not compile.
#[derive(Debug, Clone, Copy)]
pub struct RuleName(&'static str);

impl RuleName {
    /// Names a row; for constants only.
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_quoted_in_table(name),
            "no row of data/rules has this name"
        );
        Self(name)
    }

    #[expect(
        clippy::expect_used,
        reason = "the compiler has found the row in the same texts"
    )]
    pub fn row(self) -> &'static BuiltinRule {
        find_builtin_rule(self.0).expect("each rule name has a row")
    }
}

/// Returns whether the table has the name in quotes. It runs in the compiler, which knows neither `for` nor `contains`.
const fn is_quoted_in_table(name: &str) -> bool {
    let name = name.as_bytes();
    let mut n_file = 0;
    while n_file < RULE_FILES.len() {
        let text = RULE_FILES[n_file].as_bytes();
        let mut at = 0;
        while at + name.len() + 1 < text.len() {
            if text[at] == b'"' && text[at + 1 + name.len()] == b'"' {
                let mut n_same = 0;
                while n_same < name.len() && text[at + 1 + n_same] == name[n_same] {
                    n_same += 1;
                }
                if n_same == name.len() {
                    return true;
                }
            }
            at += 1;
        }
        n_file += 1;
    }
    false
}

/// The rules with patterns, by the program that the pattern names.
pub(super) static PATTERNS_BY_PROGRAM: LazyLock<
    HashMap<String, Vec<(&'static BuiltinRule, CommandPattern)>>,
> = LazyLock::new(|| {
    let mut by_program: HashMap<String, Vec<(&'static BuiltinRule, CommandPattern)>> =
        HashMap::new();
    for rule in all_builtin_rules() {
        for pattern in rule
            .patterns
            .iter()
            .filter_map(|line| CommandPattern::parse(line))
        {
            for program in &pattern.programs {
                by_program
                    .entry(program.clone())
                    .or_default()
                    .push((rule, pattern.clone()));
            }
        }
    }
    by_program
});
