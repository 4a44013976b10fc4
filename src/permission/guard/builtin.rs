//! The built-in set as a list: every rule of every family, with its class and reason.
//!
//! It refuses to judge; the families do, and name what they find by these rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::examples::EXAMPLES;
use super::pattern::Pattern;
use super::{
    Change, Class, databases, devices, files, git, infrastructure, interpreters, judge,
    permissions, publish, remote, system, unpacked,
};

/// One built-in rule.
#[derive(Debug)]
pub struct Builtin {
    /// `family.what`, as the configuration names it.
    pub name: &'static str,
    /// The class that it gives.
    pub class: Class,
    /// What the command would do, after "it".
    pub reason: &'static str,
    /// Descriptions of commands that it holds for, besides what its family finds by looking closer.
    pub patterns: &'static [&'static str],
}

impl Builtin {
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

impl Builtin {
    /// Tells whether it may be turned off: not where the guard does not know what a command does.
    pub fn may_be_off(&self) -> bool {
        self.family() != UNDECIDED
    }

    /// The first part of its name.
    pub fn family(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }

    /// The class that it gives when a user made this of it; `None` when it is not applied.
    pub fn class_by(&self, change: Option<Change>) -> Option<Class> {
        match change {
            None => Some(self.class),
            Some(Change::Off) if self.may_be_off() => None,
            Some(Change::Off | Change::Confirm) => Some(Class::Confirm),
            Some(Change::Dangerous) => Some(Class::Dangerous),
        }
    }

    /// A command that it holds back.
    pub fn example(&self) -> &'static str {
        let of_it = EXAMPLES.iter().find(|(name, _)| *name == self.name);
        of_it.map_or("", |(_, example)| *example)
    }
}

/// The family of what the guard cannot decide.
const UNDECIDED: &str = "undecided";

const FAMILIES: &[&[&Builtin]] = &[
    files::RULES,
    permissions::RULES,
    devices::RULES,
    git::RULES,
    publish::RULES,
    remote::RULES,
    interpreters::RULES,
    infrastructure::RULES,
    databases::RULES,
    system::RULES,
    unpacked::RULES,
    judge::RULES,
];

/// Every built-in rule, family by family.
pub fn builtin() -> impl Iterator<Item = &'static Builtin> {
    FAMILIES.iter().copied().flatten().copied()
}

/// Finds a rule by its name.
pub fn named(name: &str) -> Option<&'static Builtin> {
    builtin().find(|rule| rule.name == name)
}

/// The rules with patterns by the program that the pattern names.
pub(super) static BY_PROGRAM: LazyLock<HashMap<String, Vec<(&'static Builtin, Pattern)>>> =
    LazyLock::new(|| {
        let mut by_program: HashMap<String, Vec<(&'static Builtin, Pattern)>> = HashMap::new();
        for rule in builtin() {
            for pattern in rule.patterns.iter().filter_map(|line| Pattern::parse(line)) {
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
