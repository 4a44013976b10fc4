//! The built-in set as a list: every rule of every family, with its class and reason.
//!
//! It refuses to judge; the families do, and name what they find by these rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::builtin_examples::EXAMPLES;
use super::command_pattern::CommandPattern;
use super::{
    BuiltinRuleLevel, Class, archive_extraction, classifier, code_interpreters, databases, devices,
    file_modes, file_operations, git_commands, infrastructure, package_publication, remote_code,
    system_administration,
};

/// One built-in rule.
#[derive(Debug)]
pub struct BuiltinRule {
    /// `family.what`, as the configuration names it.
    pub name: &'static str,
    /// The class that it gives.
    pub class: Class,
    /// What the command would do, after "it".
    pub reason: &'static str,
    /// Descriptions of commands that it holds for, besides what its family finds by looking closer.
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
    /// Tells whether it may be turned off: not where the guard does not know what a command does.
    pub fn can_be_disabled(&self) -> bool {
        self.family() != UNDECIDED_FAMILY
    }

    /// The first part of its name.
    pub fn family(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }

    /// The class that it gives when a user made this of it; `None` when it is not applied.
    pub fn class_at_level(&self, change: Option<BuiltinRuleLevel>) -> Option<Class> {
        match change {
            None => Some(self.class),
            Some(BuiltinRuleLevel::Off) if self.can_be_disabled() => None,
            Some(BuiltinRuleLevel::Off | BuiltinRuleLevel::Confirm) => Some(Class::Confirm),
            Some(BuiltinRuleLevel::Dangerous) => Some(Class::Dangerous),
        }
    }

    /// A command that it holds back.
    pub fn example(&self) -> &'static str {
        let of_it = EXAMPLES.iter().find(|(name, _)| *name == self.name);
        of_it.map_or("", |(_, example)| *example)
    }
}

/// The family of what the guard cannot decide.
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

/// Every built-in rule, family by family.
pub fn all_builtin_rules() -> impl Iterator<Item = &'static BuiltinRule> {
    RULE_FAMILIES.iter().copied().flatten().copied()
}

/// Finds a rule by its name.
pub fn find_builtin_rule(name: &str) -> Option<&'static BuiltinRule> {
    all_builtin_rules().find(|rule| rule.name == name)
}

/// The rules with patterns by the program that the pattern names.
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
