//! Written permission: one rule, where it stands, and what an ordered list of rules says.
//!
//! It refuses to know who asks, what a profile is and what the absence of a match leads to.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::wildcard;

/// What a rule, or a decision, says about a call. Ordered from mild to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionAction {
    /// The call goes ahead.
    Allow,
    /// The user decides.
    Ask,
    /// The call does not go ahead.
    Deny,
}

impl PermissionAction {
    /// Names the action as the configuration does.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Reads an action by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny]
            .into_iter()
            .find(|action| action.name() == name)
    }
}

/// Whose word a rule is; a later one beats an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleLayer {
    /// The program's, for every profile.
    Default,
    /// The program's, of a built-in profile.
    BuiltIn,
    /// The user's, for all repositories.
    Global,
    /// The repository's.
    Project,
    /// The file that the user named for this start.
    File,
    /// A flag of this start.
    Flag,
    /// The user's, of one profile.
    Own,
}

impl RuleLayer {
    /// Tells whether its rules are somebody's about every agent.
    pub fn is_general(self) -> bool {
        match self {
            Self::Global | Self::Project | Self::File | Self::Flag => true,
            Self::Default | Self::BuiltIn | Self::Own => false,
        }
    }

    /// Names the layer in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Default => "defaults",
            Self::BuiltIn => "built-in profile",
            Self::Global => "global",
            Self::Project => "project",
            Self::File => "--config",
            Self::Flag => "flag",
            Self::Own => "own profile",
        }
    }
}

/// Where a rule comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOrigin {
    /// Whose word it is.
    pub layer: RuleLayer,
    /// Where it stands, for a person: a file with its line, a flag, a profile's name.
    pub place: String,
}

impl fmt::Display for RuleOrigin {
    /// Writes the place and, where that is no file, whose it is.
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

/// What must be true of a call for a rule to count. Written rules count always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuleCondition {
    /// Always.
    #[default]
    Always,
    /// The kernel contains the call.
    InSandbox,
    /// No sandbox is lifted for it.
    SandboxNotLifted,
    /// It is a command that is proven to read only.
    ReadOnly,
}

/// What is known of a call besides its targets, as far as rules look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallFacts {
    /// The kernel contains it.
    pub is_contained: bool,
    /// A sandbox is lifted for it.
    pub leaves_sandbox: bool,
    /// It is a command that is proven to read only.
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
            Self::InSandbox => " where the kernel contains it",
            Self::SandboxNotLifted => " where no sandbox is lifted",
            Self::ReadOnly => " where it only reads",
        }
    }
}

/// One `[[permission.rule]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// `bash`, `edit`, `read` or a tool's name; a pattern as below.
    pub permission: String,
    /// What the target must match, see [`wildcard::matches`].
    pub pattern: String,
    /// What then holds.
    pub action: PermissionAction,
    /// Where it stands.
    pub origin: RuleOrigin,
    /// When it counts.
    pub condition: RuleCondition,
    /// Whether it was written as an allow that does not count here: it asks, but never where what stands before it
    /// allows.
    pub is_discounted: bool,
}

/// A target as rules look at it: texts that mean the same, of which one that a rule matches is enough.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TargetForm {
    /// The texts.
    pub texts: Vec<String>,
    /// The absolute path of a target below the root, for rules that name absolute paths.
    pub absolute_path: Option<String>,
}

impl TargetForm {
    /// A target of one text.
    pub fn from_text(text: &str) -> Self {
        Self {
            texts: vec![text.to_owned()],
            absolute_path: None,
        }
    }
}

impl Rule {
    /// Makes a rule that counts always.
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

    /// Tells whether the rule is about a permission and counts for such a call.
    pub fn applies_to(&self, permission: &str, facts: CallFacts) -> bool {
        self.condition.is_met(facts) && wildcard::matches(&self.permission, permission)
    }

    /// Tells whether the rule's pattern matches a target.
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

    /// Tells whether the rule is about everything that a permission can be asked for.
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

/// Finds the last rule about a permission whose pattern matches a target, and whose word that is. An allow that does
/// not count leaves an earlier one in force.
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
