//! One permission rule, its origin, and the last match in an ordered list of rules.
//!
//! What happens when no rule matches is decided elsewhere.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::wildcard;

/// The answer of a rule or a decision. Ordered from mild to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum PermissionAction {
    Allow,
    Ask,
    /// The call does not run.
    Deny,
}

impl PermissionAction {
    /// Returns the action's name in the configuration.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Who wrote a rule; a later layer beats an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleLayer {
    /// The program's rules for every profile.
    Default,
    /// The program's rules for a built-in profile.
    BuiltIn,
    /// The user's rules for all repositories.
    Global,
    Project,
    /// The configuration file that the user named for this start.
    File,
    /// A command line flag of this start.
    Flag,
    /// The user's rules for one profile.
    Own,
}

impl RuleLayer {
    /// Returns whether its rules are about every agent and not defaults of the program.
    pub fn is_general(self) -> bool {
        match self {
            Self::Global | Self::Project | Self::File | Self::Flag => true,
            Self::Default | Self::BuiltIn | Self::Own => false,
        }
    }
}

/// Where a rule comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOrigin {
    pub layer: RuleLayer,
    /// The place for the user to read: a file and line, a flag, or a profile's name.
    pub place: String,
}

impl fmt::Display for RuleOrigin {
    /// Writes the place and, where that is not a file, the layer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            RuleLayer::Default => f.write_str("the defaults"),
            RuleLayer::BuiltIn => write!(f, "the built-in profile {}", self.place),
            RuleLayer::Global
            | RuleLayer::Project
            | RuleLayer::File
            | RuleLayer::Flag
            | RuleLayer::Own => f.write_str(&self.place),
        }
    }
}

/// What must be true about a call for a rule to apply. Written rules always apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuleCondition {
    #[default]
    Always,
    /// The kernel sandboxes the call.
    InSandbox,
    /// No sandbox is lifted for the call.
    SandboxNotLifted,
    /// The call is a command that is proven to only read.
    ReadOnly,
}

/// What rules need to know about a call besides its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallFacts {
    /// The kernel sandboxes the call.
    pub is_contained: bool,
    /// A sandbox is lifted for the call.
    pub leaves_sandbox: bool,
    /// The call is a command that is proven to only read.
    pub only_reads: bool,
}

impl RuleCondition {
    fn is_met(self, facts: CallFacts) -> bool {
        match self {
            Self::Always => true,
            Self::InSandbox => facts.is_contained,
            Self::SandboxNotLifted => !facts.leaves_sandbox,
            Self::ReadOnly => facts.only_reads,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::InSandbox => " if the kernel contains it",
            Self::SandboxNotLifted => " if it stays in the sandbox",
            Self::ReadOnly => " if it only reads",
        }
    }
}

/// One `[[permission.rule]]` of a configuration file, or a built-in rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// `bash`, `edit`, `read` or a tool's name; may be a pattern as well.
    pub permission: String,
    /// The pattern that the target must match, see [`wildcard::matches`].
    pub pattern: String,
    pub action: PermissionAction,
    pub origin: RuleOrigin,
    /// When the rule applies.
    pub condition: RuleCondition,
    /// Whether the rule was written as an allow that does not count here: it asks, unless an earlier rule allows.
    pub is_discounted: bool,
}

/// A target as rules see it: several texts with the same meaning. A rule needs to match only one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetForm {
    pub texts: Vec<String>,
    /// The absolute path of a target below the root, for rules that name absolute paths.
    pub absolute_path: Option<String>,
}

impl TargetForm {
    /// Makes a target with one text.
    pub fn from_text(text: &str) -> Self {
        Self {
            texts: vec![text.to_owned()],
            absolute_path: None,
        }
    }
}

impl Rule {
    /// Makes a rule that always applies.
    pub fn new(
        permission: &str,
        pattern: &str,
        action: PermissionAction,
        origin: RuleOrigin,
    ) -> Self {
        Self {
            permission: permission.to_owned(),
            pattern: pattern.to_owned(),
            action,
            origin,
            condition: RuleCondition::Always,
            is_discounted: false,
        }
    }

    /// Returns whether the rule is about a permission and applies to such a call.
    pub fn applies_to(&self, permission: &str, facts: CallFacts) -> bool {
        self.condition.is_met(facts) && wildcard::matches(&self.permission, permission)
    }

    /// Returns whether the rule's pattern matches a target.
    pub fn matches_target(&self, form: &TargetForm) -> bool {
        let whole = form
            .absolute_path
            .iter()
            .filter(|_| self.pattern.starts_with('/'));
        form.texts
            .iter()
            .chain(whole)
            .any(|text| wildcard::matches(&self.pattern, text))
    }

    /// Returns whether the rule matches every target of a permission.
    pub fn matches_every_target(&self) -> bool {
        !self.pattern.is_empty() && self.pattern.chars().all(|c| c == '*')
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            permission,
            pattern,
            action,
            condition: when,
            ..
        } = self;
        write!(
            f,
            "{permission} \"{pattern}\" {}{}",
            action.name(),
            when.describe()
        )
    }
}

/// Finds the last rule about a permission whose pattern matches a target. An allow that does not count
/// leaves an earlier allow in force.
pub fn find_last_match<'a>(
    rules: &'a [Rule],
    permission: &str,
    form: &TargetForm,
    facts: CallFacts,
) -> Option<&'a Rule> {
    let mut matching = rules
        .iter()
        .rev()
        .filter(|rule| rule.applies_to(permission, facts) && rule.matches_target(form));
    let last = matching.next()?;
    if !last.is_discounted {
        return Some(last);
    }
    let earlier = matching.find(|rule| !rule.is_discounted);
    Some(
        earlier
            .filter(|rule| rule.action == PermissionAction::Allow)
            .unwrap_or(last),
    )
}

#[cfg(test)]
mod tests;
