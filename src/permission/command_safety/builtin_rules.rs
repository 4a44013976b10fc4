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

/// The files of the table by the family of their rules, in the order in which rules are listed and matched.
const RULE_FILES: [RuleFileText; 12] = [
    RuleFileText::new("files", include_str!("data/rules/files.toml")),
    RuleFileText::new("permissions", include_str!("data/rules/permissions.toml")),
    RuleFileText::new("devices", include_str!("data/rules/devices.toml")),
    RuleFileText::new("git", include_str!("data/rules/git.toml")),
    RuleFileText::new("publish", include_str!("data/rules/publish.toml")),
    RuleFileText::new("remote", include_str!("data/rules/remote.toml")),
    RuleFileText::new("interpreters", include_str!("data/rules/interpreters.toml")),
    RuleFileText::new("infra", include_str!("data/rules/infra.toml")),
    RuleFileText::new("databases", include_str!("data/rules/databases.toml")),
    RuleFileText::new("system", include_str!("data/rules/system.toml")),
    RuleFileText::new("unpacked", include_str!("data/rules/unpacked.toml")),
    RuleFileText::new("undecided", include_str!("data/rules/undecided.toml")),
];

/// A file of the table.
struct RuleFileText {
    family: &'static str,
    text: &'static str,
}

impl RuleFileText {
    const fn new(family: &'static str, text: &'static str) -> Self {
        Self { family, text }
    }
}

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
        .flat_map(|file| parse_embedded_table::<RuleFile>(file.text).rule)
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

/// Returns whether the file of the name's family has the name in quotes. It runs in the compiler, which knows neither `for`
/// nor `contains` and takes long for each byte.
const fn is_quoted_in_table(name: &str) -> bool {
    let mut n_file = 0;
    while n_file < RULE_FILES.len() {
        let file = &RULE_FILES[n_file];
        if is_same_at(name.as_bytes(), 0, file.family.as_bytes()) {
            return is_quoted(name.as_bytes(), file.text.as_bytes());
        }
        n_file += 1;
    }
    false
}

const fn is_quoted(name: &[u8], text: &[u8]) -> bool {
    let (n_name, n_text) = (name.len(), text.len());
    let mut at = 1;
    while at + n_name < n_text {
        if text[at - 1] == b'"' && text[at + n_name] == b'"' && is_same_at(text, at, name) {
            return true;
        }
        at += 1;
    }
    false
}

/// Returns whether `part` is in `text` at an index.
const fn is_same_at(text: &[u8], at: usize, part: &[u8]) -> bool {
    let n_part = part.len();
    let mut n_same = 0;
    while n_same < n_part && at + n_same < text.len() && text[at + n_same] == part[n_same] {
        n_same += 1;
    }
    n_same == n_part
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
