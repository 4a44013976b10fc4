//! Defines the exact bytes that an approval of an execution is bound to, and what changed in them since (TRUTH.md T31).
//!
//! Reads nothing: the engine observes the parts before each step and before its tests.

use serde::{Deserialize, Serialize};

use crate::text::clean_to_one_line;

/// How much of a hash is shown, in characters.
const SHOWN_HASH_CHARS: usize = 12;

/// What a part of an approval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundKind {
    /// The commit that the steps build on; its value is the full id.
    Base,
    /// A file that agents or permissions obey; its value is a hash.
    RuleFile,
    /// The test command, which the execution keeps; its value is the line.
    TestCommand,
    /// An entry of `test.env`; its value is a hash, or says that the user's own value is passed on.
    TestVariable,
    /// An entry of `test.carry`; its value is a hash.
    CarriedPath,
    /// The version of this program or of a CLI.
    Version,
}

/// One part of what an approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundPart {
    pub kind: BoundKind,
    /// Its name within its kind: a path, a variable, a program; empty where there is only one.
    pub name: String,
    pub value: String,
}

impl BoundPart {
    pub fn new(kind: BoundKind, name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            value: value.into(),
        }
    }
}

/// All that an approval is bound to besides the plan, sorted; each kind and name occurs once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalBinding {
    parts: Vec<BoundPart>,
}

/// A part that is not as it was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BindingChange {
    pub kind: BoundKind,
    pub name: String,
    /// The value that was approved; `None` where the part is new.
    pub before: Option<String>,
    /// The value now; `None` where the part is gone.
    pub now: Option<String>,
    /// Whether a step that has ended left it so, which the plan or an answer in that step covers, or the user's undo of
    /// a step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_step: bool,
}

impl ApprovalBinding {
    /// Creates a binding; of two parts with the same kind and name the first one counts.
    pub fn new(mut parts: Vec<BoundPart>) -> Self {
        parts.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        parts.dedup_by(|later, first| (later.kind, &later.name) == (first.kind, &first.name));
        Self { parts }
    }

    /// Returns the parts of all kinds but versions, which have their own place in receipts.
    pub fn parts_without_versions(&self) -> impl Iterator<Item = &BoundPart> {
        let parts = self.parts.iter();
        parts.filter(|part| part.kind != BoundKind::Version)
    }

    /// Returns the versions by the names of the programs.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.parts.iter();
        let versions = parts.filter(|part| part.kind == BoundKind::Version);
        versions.map(|part| (&*part.name, &*part.value))
    }

    /// Returns the value of a part.
    pub fn value_of(&self, kind: BoundKind, name: &str) -> Option<&str> {
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.kind == kind && part.name == name)?;
        Some(&part.value)
    }

    /// Lists what differs in a later observation, in order.
    pub fn changes_to(&self, now: &Self) -> Vec<BindingChange> {
        let change = |part: &BoundPart| {
            let (before, now) = (
                self.value_of(part.kind, &part.name),
                now.value_of(part.kind, &part.name),
            );
            (before != now).then(|| BindingChange {
                kind: part.kind,
                name: part.name.clone(),
                before: before.map(str::to_owned),
                now: now.map(str::to_owned),
                by_step: false,
            })
        };
        let known = |part: &&BoundPart| self.value_of(part.kind, &part.name).is_some();
        let old = self.parts.iter().filter_map(change);
        let new = now.parts.iter().filter(|part| !known(part));
        old.chain(new.filter_map(change)).collect()
    }

    /// Binds the approval to the changed values.
    pub fn apply(&mut self, changes: &[BindingChange]) {
        let of_change = |part: &BoundPart, change: &BindingChange| {
            part.kind == change.kind && part.name == change.name
        };
        let mut parts = std::mem::take(&mut self.parts);
        parts.retain(|part| !changes.iter().any(|change| of_change(part, change)));
        parts.extend(changes.iter().filter_map(|change| {
            let now = change.now.clone()?;
            Some(BoundPart::new(change.kind, change.name.clone(), now))
        }));
        *self = Self::new(parts);
    }
}

impl BindingChange {
    /// Describes the change in one line: what, the approved value and the value now.
    pub fn describe(&self) -> String {
        let name = clean_to_one_line(&self.name);
        let what = match self.kind {
            BoundKind::Base => "the base commit, which HEAD no longer contains".to_owned(),
            BoundKind::RuleFile => name,
            BoundKind::TestCommand => "the test command".to_owned(),
            BoundKind::TestVariable => format!("test.env {name}"),
            BoundKind::CarriedPath => format!("test.carry {name}"),
            BoundKind::Version => format!("the version of {name}"),
        };
        let show = |value: Option<&str>| match (value, self.kind) {
            (None, _) => "none".to_owned(),
            (Some(value), BoundKind::TestCommand | BoundKind::Version) => clean_to_one_line(value),
            (Some(value), _) => value.chars().take(SHOWN_HASH_CHARS).collect(),
        };
        format!(
            "{what}: {} → {}",
            show(self.before.as_deref()),
            show(self.now.as_deref())
        )
    }
}

/// Describes changes in one line.
pub fn describe_binding_changes(changes: &[BindingChange]) -> String {
    let lines: Vec<String> = changes.iter().map(BindingChange::describe).collect();
    lines.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(parts: &[(BoundKind, &str, &str)]) -> ApprovalBinding {
        let parts = parts.iter();
        ApprovalBinding::new(
            parts
                .map(|(kind, name, value)| BoundPart::new(*kind, *name, *value))
                .collect(),
        )
    }

    #[test]
    fn every_kind_of_change_is_told_with_both_values() {
        use BoundKind::{Base, CarriedPath, RuleFile, TestCommand, TestVariable, Version};
        let hash = ["0123456789abcdef", "fedcba9876543210"];
        for (kind, name, before, now, expected) in [
            (
                RuleFile,
                "AGENTS.md",
                Some(hash[0]),
                Some(hash[1]),
                "AGENTS.md: 0123456789ab → fedcba987654",
            ),
            (
                RuleFile,
                "CLAUDE.md",
                None,
                Some(hash[1]),
                "CLAUDE.md: none → fedcba987654",
            ),
            (
                Base,
                "",
                Some(hash[0]),
                Some(hash[1]),
                "the base commit, which HEAD no longer contains: 0123456789ab → fedcba987654",
            ),
            (
                TestCommand,
                "",
                Some("npm test"),
                Some("npm run\ntest:fast"),
                "the test command: npm test → npm run test:fast",
            ),
            (
                TestVariable,
                "KEY",
                Some(hash[0]),
                None,
                "test.env KEY: 0123456789ab → none",
            ),
            (
                CarriedPath,
                ".env",
                Some(hash[0]),
                Some("missing"),
                "test.carry .env: 0123456789ab → missing",
            ),
            (
                Version,
                "codex",
                Some("0.1.0"),
                Some("0.2.0"),
                "the version of codex: 0.1.0 → 0.2.0",
            ),
        ] {
            let part = |value: Option<&str>| {
                let parts: Vec<_> = value.map(|value| (kind, name, value)).into_iter().collect();
                binding(&parts)
            };
            let (mut approved, observed) = (part(before), part(now));
            let changes = approved.changes_to(&observed);
            assert_eq!(describe_binding_changes(&changes), expected);
            assert!(observed.changes_to(&observed).is_empty());
            approved.apply(&changes);
            assert_eq!(approved, observed);
        }
    }
}
