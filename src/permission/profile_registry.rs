//! Agent profiles: their names, where they may be used, and their ordered rules.
//!
//! The built-in profiles are data below. The last matching rule wins, so a catch-all comes first and exceptions follow
//! it. Phases, modes and prompt texts are elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::rule::{CallFacts, PermissionAction, Rule, RuleCondition, RuleLayer, RuleOrigin};
use PermissionAction::{Allow, Ask, Deny};
use RuleCondition::{Always, InSandbox, ReadOnly, SandboxNotLifted};

/// Where a profile may be used.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum AgentMode {
    /// By the user and by phases.
    Primary,
    /// As the child of a task or a discussion.
    Subagent,
    All,
}

impl AgentMode {
    /// Returns its name in the configuration.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether a profile is offered to models and users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProfileVisibility {
    #[default]
    Offered,
    Hidden,
}

/// How the agent of a CLI reads files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileReadMethod {
    /// With tools for that.
    ReadTools,
    /// Only by running commands.
    CommandsOnly,
}

/// The configuration of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileDefinition {
    pub name: String,
    pub mode: AgentMode,
    /// What it is for, in one line; may be empty.
    pub description: String,
    /// Its prompt file, next to the configuration file.
    pub prompt: Option<String>,
    /// Its rules, the built-in ones first.
    pub rules: Vec<Rule>,
    /// The adapter that runs it; `None`: the adapter of the role.
    pub adapter: Option<String>,
    /// The model to ask for.
    pub model: Option<String>,
    pub visibility: ProfileVisibility,
}

type ProfileRuleRow = (&'static str, &'static str, PermissionAction, RuleCondition);

/// Rules for reading only; environment files with secrets ask.
const READ_RULES: &[ProfileRuleRow] = &[
    ("read", "*", Allow, Always),
    ("glob", "*", Allow, Always),
    ("grep", "*", Allow, Always),
    ("list", "*", Allow, Always),
    ("webfetch", "*", Allow, Always),
    ("websearch", "*", Allow, Always),
    ("read", ".env", Ask, Always),
    ("read", ".env.*", Ask, Always),
    ("read", "*/.env", Ask, Always),
    ("read", "*/.env.*", Ask, Always),
    ("read", "*.env.example", Allow, Always),
];

const ASK_BY_DEFAULT: &[ProfileRuleRow] = &[("*", "*", Ask, Always)];
const DENY_BY_DEFAULT: &[ProfileRuleRow] = &[("*", "*", Deny, Always)];

/// Rules for edits inside the repository, and for commands that are sandboxed.
const BUILD_RULES: &[ProfileRuleRow] = &[
    ("edit", "*", Allow, SandboxNotLifted),
    ("bash", "*", Allow, InSandbox),
];

/// Tools of this program that a role may use.
const COLLABORATION_RULES: &[ProfileRuleRow] = &[
    ("task", "*", Allow, Always),
    ("todoread", "*", Allow, Always),
    ("todowrite", "*", Allow, Always),
    ("question", "*", Allow, Always),
    ("group_discuss", "*", Allow, Always),
    ("group_discuss_context", "*", Allow, Always),
    ("session_manage", "*", Allow, Always),
];

const NO_PLAN_RULES: &[ProfileRuleRow] = &[
    ("plan_enter", "*", Deny, Always),
    ("step_result", "*", Deny, Always),
    ("plan_exit", "*", Deny, Always),
    ("plan_submit", "*", Deny, Always),
];

const READ_ONLY_RULES: &[ProfileRuleRow] =
    &[("edit", "*", Deny, Always), ("bash", "*", Allow, ReadOnly)];

const PLAN_ENTER_RULES: &[ProfileRuleRow] = &[
    ("plan_enter", "*", Allow, Always),
    ("step_result", "*", Allow, Always),
    ("plan_exit", "*", Deny, Always),
    ("plan_submit", "*", Deny, Always),
    ("review_submit", "*", Deny, Always),
];
const PLAN_EXIT_RULES: &[ProfileRuleRow] = &[
    ("plan_enter", "*", Deny, Always),
    ("step_result", "*", Deny, Always),
    ("plan_exit", "*", Allow, Always),
    ("plan_submit", "*", Allow, Always),
    ("review_submit", "*", Deny, Always),
];
const REVIEW_RULES: &[ProfileRuleRow] = &[
    ("review_submit", "*", Allow, Always),
    ("todoread", "*", Allow, Always),
    ("todowrite", "*", Deny, Always),
    ("session_manage", "*", Deny, Always),
    ("group_discuss", "*", Allow, Always),
    ("task", "*", Deny, Always),
    ("task", "explore", Allow, Always),
    ("question", "*", Allow, Always),
    ("group_discuss_context", "*", Allow, Always),
];
/// Denies the tools that only a role's session has.
const NO_SESSION_RULES: &[ProfileRuleRow] = &[
    ("task", "*", Deny, Always),
    ("todoread", "*", Deny, Always),
    ("todowrite", "*", Deny, Always),
    ("group_discuss", "*", Deny, Always),
    ("group_discuss_context", "*", Deny, Always),
    ("session_manage", "*", Deny, Always),
    ("review_submit", "*", Deny, Always),
];
/// Tools that a child never gets, whatever its rules say.
pub const CHILD_FORBIDDEN_TOOLS: [&str; 11] = [
    "task",
    "todoread",
    "todowrite",
    "plan_enter",
    "plan_exit",
    "plan_submit",
    "review_submit",
    "step_result",
    "group_discuss",
    "group_discuss_context",
    "session_manage",
];

/// Name, mode, description, and rules in order.
type BuiltInProfile = (
    &'static str,
    AgentMode,
    &'static str,
    &'static [&'static [ProfileRuleRow]],
);

const BUILT_IN_PROFILES: &[BuiltInProfile] = &[
    (
        "build",
        AgentMode::Primary,
        "Edits the repository, step by step",
        &[
            ASK_BY_DEFAULT,
            READ_RULES,
            BUILD_RULES,
            COLLABORATION_RULES,
            PLAN_ENTER_RULES,
        ],
    ),
    (
        "plan",
        AgentMode::Primary,
        "Reads, and writes nothing but the plan and its answers",
        &[
            ASK_BY_DEFAULT,
            READ_RULES,
            READ_ONLY_RULES,
            COLLABORATION_RULES,
            PLAN_EXIT_RULES,
        ],
    ),
    (
        "review",
        AgentMode::Primary,
        "Reads, and writes nothing but the review",
        &[
            ASK_BY_DEFAULT,
            READ_RULES,
            READ_ONLY_RULES,
            NO_PLAN_RULES,
            REVIEW_RULES,
        ],
    ),
    (
        "explore",
        AgentMode::Subagent,
        "Reads and searches, nothing else",
        &[DENY_BY_DEFAULT, READ_RULES],
    ),
    (
        "general",
        AgentMode::Subagent,
        "Does a task of many steps on its own",
        &[
            ASK_BY_DEFAULT,
            READ_RULES,
            BUILD_RULES,
            NO_PLAN_RULES,
            NO_SESSION_RULES,
        ],
    ),
    (
        "advocate",
        AgentMode::Subagent,
        "Speaks for a proposal in a discussion",
        &[DENY_BY_DEFAULT, READ_RULES],
    ),
    (
        "critic",
        AgentMode::Subagent,
        "Looks for what is wrong with a proposal in a discussion",
        &[DENY_BY_DEFAULT, READ_RULES],
    ),
    (
        "moderator",
        AgentMode::Subagent,
        "Sums a discussion up and decides",
        &[DENY_BY_DEFAULT, READ_RULES],
    ),
];

impl ProfileDefinition {
    /// Returns a built-in profile; `None` if the name is unknown.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, mode, description, rows) = BUILT_IN_PROFILES
            .iter()
            .find(|(known, ..)| *known == name)?;
        let origin = RuleOrigin {
            layer: RuleLayer::BuiltIn,
            place: (*name).to_owned(),
        };
        let rule = |row: &ProfileRuleRow| Rule {
            condition: row.3,
            ..Rule::new(row.0, row.1, row.2, origin.clone())
        };
        Some(Self {
            description: (*description).to_owned(),
            rules: rows.iter().copied().flatten().map(rule).collect(),
            ..Self::without_rules(name, *mode)
        })
    }

    /// Adapts the profile for [`FileReadMethod::CommandsOnly`]: a profile that reads and has no
    /// shell may run commands that are proven to only read. Rules that the user wrote still count.
    #[must_use]
    pub fn with_read_only_commands(mut self) -> Self {
        let facts = CallFacts::default();
        let said = |permission| {
            self.rules
                .iter()
                .rfind(|rule| rule.applies_to(permission, facts) && rule.matches_every_target())
        };
        let denied = said("bash")
            .filter(|rule| rule.action == Deny && rule.origin.layer == RuleLayer::BuiltIn);
        let reads = said("read").is_some_and(|rule| rule.action == Allow);
        if let Some(origin) = denied.filter(|_| reads).map(|rule| rule.origin.clone()) {
            self.rules.push(Rule {
                condition: ReadOnly,
                ..Rule::new("bash", "*", Allow, origin)
            });
        }
        self
    }

    /// Makes a profile without rules: it asks about everything that no other layer allows.
    pub fn without_rules(name: &str, mode: AgentMode) -> Self {
        Self {
            name: name.to_owned(),
            mode,
            description: String::new(),
            prompt: None,
            rules: Vec::new(),
            adapter: None,
            model: None,
            visibility: ProfileVisibility::Offered,
        }
    }

    /// Makes a profile for an unknown name: it denies everything.
    pub fn deny_all(name: &str) -> Self {
        let origin = RuleOrigin {
            layer: RuleLayer::Own,
            place: format!("the profile {name}, which is not known"),
        };
        Self {
            rules: vec![Rule::new("*", "*", Deny, origin)],
            ..Self::without_rules(name, AgentMode::All)
        }
    }
}

/// All profiles by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRegistry(BTreeMap<String, ProfileDefinition>);

/// The error for an unknown profile name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProfile {
    /// The name that was asked for.
    pub name: String,
    /// The known profiles that are offered.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.join(", ");
        write!(f, "no agent {:?}; known agents: {known}", self.name)
    }
}

impl Default for ProfileRegistry {
    /// Returns the built-in profiles.
    fn default() -> Self {
        let built_in = BUILT_IN_PROFILES
            .iter()
            .filter_map(|(name, ..)| ProfileDefinition::built_in(name));
        Self(
            built_in
                .map(|profile| (profile.name.clone(), profile))
                .collect(),
        )
    }
}

impl ProfileRegistry {
    /// Adds a profile, or replaces the one with the same name.
    pub fn insert(&mut self, profile: ProfileDefinition) {
        self.0.insert(profile.name.clone(), profile);
    }

    /// Finds a profile by its name, including hidden ones.
    ///
    /// # Errors
    /// There is no such profile; the error lists the known ones.
    pub fn find_by_name(&self, name: &str) -> Result<&ProfileDefinition, UnknownProfile> {
        self.0.get(name).ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
            known: self
                .iter_offered(AgentMode::All)
                .map(|profile| profile.name.clone())
                .collect(),
        })
    }

    /// Lists the offered profiles of a mode. A profile of mode `all` is in every list, and
    /// `AgentMode::All` lists every profile.
    pub fn iter_offered(&self, mode: AgentMode) -> impl Iterator<Item = &ProfileDefinition> {
        self.0.values().filter(move |profile| {
            let fits =
                mode == AgentMode::All || profile.mode == AgentMode::All || profile.mode == mode;
            fits && profile.visibility == ProfileVisibility::Offered
        })
    }
}

#[cfg(test)]
mod tests;
