//! Lists every built-in rule of every family, with its class and reason.
//!
//! The families judge the commands and record what they find by these rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::builtin_examples::EXAMPLES;
use super::command_pattern::CommandPattern;
use super::{
    BuiltinRuleLevel, Class, archive_extraction, classifier, code_interpreters, databases, devices,
    file_modes, file_operations, git_commands, infrastructure, package_publication, remote_code,
    system_administration,
};

/// A built-in rule: its name, class and reason, and the patterns of its commands.
#[derive(Debug)]
pub struct BuiltinRule {
    /// `family.what`, as the configuration spells it.
    pub name: &'static str,
    pub class: Class,
    /// What the command would do; the sentence starts with "it".
    pub reason: &'static str,
    /// Patterns of its commands, in addition to what its family finds by a closer look.
    pub patterns: &'static [&'static str],
}

impl BuiltinRule {
    pub(super) const fn confirm(
        name: &'static str,
        reason: &'static str,
        patterns: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            class: Class::Confirm,
            reason,
            patterns,
        }
    }

    pub(super) const fn dangerous(
        name: &'static str,
        reason: &'static str,
        patterns: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            class: Class::Dangerous,
            reason,
            patterns,
        }
    }
}

impl BuiltinRule {
    /// Returns whether it may be turned off: not if it is about commands that the classifier cannot understand.
    pub fn can_be_disabled(&self) -> bool {
        self.family() != UNDECIDED_FAMILY
    }

    /// Returns the first part of its name.
    pub fn family(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
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

    /// Returns a command that it blocks.
    pub fn example(&self) -> &'static str {
        let of_it = EXAMPLES.iter().find(|(name, _)| *name == self.name);
        of_it.map_or("", |(_, example)| *example)
    }
}

/// The family of rules about what the classifier cannot decide.
const UNDECIDED_FAMILY: &str = "undecided";

const RULE_FAMILIES: &[&[&BuiltinRule]] = &[
    file_operations::RULES,
    file_modes::RULES,
    devices::RULES,
    git_commands::RULES,
    package_publication::RULES,
    remote_code::RULES,
    code_interpreters::RULES,
    infrastructure::RULES,
    databases::RULES,
    system_administration::RULES,
    archive_extraction::RULES,
    classifier::RULES,
];

/// Lists every built-in rule, family by family.
pub fn all_builtin_rules() -> impl Iterator<Item = &'static BuiltinRule> {
    RULE_FAMILIES.iter().copied().flatten().copied()
}

/// Finds a rule by its name.
pub fn find_builtin_rule(name: &str) -> Option<&'static BuiltinRule> {
    all_builtin_rules().find(|rule| rule.name == name)
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
