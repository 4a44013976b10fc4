//! Agents: profiles with a name, where they may be used, and their ordered rules.
//!
//! The built-in ones are data below. It refuses to know phases, modes and how a prompt is worded. A
//! catch-all stands first and exceptions follow it, since the last match wins.

use std::collections::BTreeMap;
use std::fmt;

use super::rule::{Action, Facts, Layer, Origin, Rule, When};
use Action::{Allow, Ask, Deny};
use When::{Always, Contained, Inside, Reading};

/// Where a profile may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMode {
    /// By the user and by phases.
    Primary,
    /// As the child of a task or a discussion.
    Subagent,
    /// Everywhere.
    All,
}

impl AgentMode {
    /// Names it as the configuration does.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Subagent => "subagent",
            Self::All => "all",
        }
    }

    /// Reads it by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Primary, Self::Subagent, Self::All]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}

/// Whether a profile is offered to models and people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// It is.
    #[default]
    Offered,
    /// It is not.
    Hidden,
}

/// An agent: configuration, never a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where it may be used.
    pub mode: AgentMode,
    /// What it is for, in one line; empty when nobody said.
    pub description: String,
    /// Its prompt's file beside the configuration file.
    pub prompt: Option<String>,
    /// Its rules, the built-in ones first.
    pub rules: Vec<Rule>,
    /// The adapter that plays it, where it is not the role's.
    pub adapter: Option<String>,
    /// The model to ask for.
    pub model: Option<String>,
    /// Whether it is offered.
    pub shown: Shown,
}

type Row = (&'static str, &'static str, Action, When);

/// What only looks; secrets in environment files are asked about.
const LOOKING: &[Row] = &[
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

const ASK_FIRST: &[Row] = &[("*", "*", Ask, Always)];
const DENY_FIRST: &[Row] = &[("*", "*", Deny, Always)];

/// Edits inside, and commands as far as the kernel holds them.
const BUILDING: &[Row] = &[
    ("edit", "*", Allow, Inside),
    ("bash", "*", Allow, Contained),
];

/// Tools of this program that a role may use.
const TALKING: &[Row] = &[
    ("task", "*", Allow, Always),
    ("todoread", "*", Allow, Always),
    ("todowrite", "*", Allow, Always),
    ("question", "*", Allow, Always),
    ("group_discuss", "*", Allow, Always),
    ("group_discuss_context", "*", Allow, Always),
    ("session_manage", "*", Allow, Always),
];

const NO_PLANNING: &[Row] = &[
    ("plan_enter", "*", Deny, Always),
    ("plan_exit", "*", Deny, Always),
    ("plan_submit", "*", Deny, Always),
];

const ONLY_READING: &[Row] = &[("edit", "*", Deny, Always), ("bash", "*", Allow, Reading)];

const ENTERS: &[Row] = &[
    ("plan_enter", "*", Allow, Always),
    ("plan_exit", "*", Deny, Always),
    ("plan_submit", "*", Deny, Always),
    ("review_submit", "*", Deny, Always),
];
const EXITS: &[Row] = &[
    ("plan_enter", "*", Deny, Always),
    ("plan_exit", "*", Allow, Always),
    ("plan_submit", "*", Allow, Always),
    ("review_submit", "*", Deny, Always),
];
const REVIEWING: &[Row] = &[
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
/// What only the session of a role has.
const NO_SESSIONS: &[Row] = &[
    ("task", "*", Deny, Always),
    ("todoread", "*", Deny, Always),
    ("todowrite", "*", Deny, Always),
    ("group_discuss", "*", Deny, Always),
    ("group_discuss_context", "*", Deny, Always),
    ("session_manage", "*", Deny, Always),
    ("review_submit", "*", Deny, Always),
];
/// A child never has these, whatever its rules say.
pub const NOT_FOR_CHILDREN: [&str; 10] = [
    "task",
    "todoread",
    "todowrite",
    "plan_enter",
    "plan_exit",
    "plan_submit",
    "review_submit",
    "group_discuss",
    "group_discuss_context",
    "session_manage",
];

/// Name, mode, description, rules in their order.
type BuiltIn = (
    &'static str,
    AgentMode,
    &'static str,
    &'static [&'static [Row]],
);

const BUILT_IN: &[BuiltIn] = &[
    (
        "build",
        AgentMode::Primary,
        "Edits the repository, step by step",
        &[ASK_FIRST, LOOKING, BUILDING, TALKING, ENTERS],
    ),
    (
        "plan",
        AgentMode::Primary,
        "Reads, and writes nothing but the plan and its answers",
        &[ASK_FIRST, LOOKING, ONLY_READING, TALKING, EXITS],
    ),
    (
        "review",
        AgentMode::Primary,
        "Reads, and writes nothing but the review",
        &[ASK_FIRST, LOOKING, ONLY_READING, NO_PLANNING, REVIEWING],
    ),
    (
        "explore",
        AgentMode::Subagent,
        "Reads and searches, nothing else",
        &[DENY_FIRST, LOOKING],
    ),
    (
        "general",
        AgentMode::Subagent,
        "Does a task of many steps on its own",
        &[ASK_FIRST, LOOKING, BUILDING, NO_PLANNING, NO_SESSIONS],
    ),
    (
        "advocate",
        AgentMode::Subagent,
        "Speaks for a proposal in a discussion",
        &[DENY_FIRST, LOOKING],
    ),
    (
        "critic",
        AgentMode::Subagent,
        "Looks for what is wrong with a proposal in a discussion",
        &[DENY_FIRST, LOOKING],
    ),
    (
        "moderator",
        AgentMode::Subagent,
        "Sums a discussion up and decides",
        &[DENY_FIRST, LOOKING],
    ),
];

impl Profile {
    /// Gives a built-in profile.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, mode, description, rows) = BUILT_IN.iter().find(|(known, ..)| *known == name)?;
        let origin = Origin {
            layer: Layer::BuiltIn,
            place: (*name).to_owned(),
        };
        let rule = |row: &Row| Rule {
            when: row.3,
            ..Rule::new(row.0, row.1, row.2, origin.clone())
        };
        Some(Self {
            description: (*description).to_owned(),
            rules: rows.iter().copied().flatten().map(rule).collect(),
            ..Self::of_the_user(name, *mode)
        })
    }

    /// The same where files are read by commands alone, as codex does: one that reads and has no shell runs what is
    /// proven to only read. What somebody wrote of it counts all the same.
    #[must_use]
    pub fn reading_by_commands(mut self) -> Self {
        let facts = Facts::default();
        let said = |permission| {
            self.rules
                .iter()
                .rfind(|rule| rule.is_about(permission, facts) && rule.takes_every_target())
        };
        let denied =
            said("bash").filter(|rule| rule.action == Deny && rule.origin.layer == Layer::BuiltIn);
        let reads = said("read").is_some_and(|rule| rule.action == Allow);
        if let Some(origin) = denied.filter(|_| reads).map(|rule| rule.origin.clone()) {
            self.rules.push(Rule {
                when: Reading,
                ..Rule::new("bash", "*", Allow, origin)
            });
        }
        self
    }

    /// Makes a profile without any rule: what no other layer allows is asked about.
    pub fn of_the_user(name: &str, mode: AgentMode) -> Self {
        Self {
            name: name.to_owned(),
            mode,
            description: String::new(),
            prompt: None,
            rules: Vec::new(),
            adapter: None,
            model: None,
            shown: Shown::Offered,
        }
    }

    /// Makes the profile of a name that nobody knows: it may do nothing.
    pub fn of_nobody(name: &str) -> Self {
        let origin = Origin {
            layer: Layer::Own,
            place: format!("the profile {name}, which is not known"),
        };
        Self {
            rules: vec![Rule::new("*", "*", Deny, origin)],
            ..Self::of_the_user(name, AgentMode::All)
        }
    }
}

/// All profiles by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profiles(BTreeMap<String, Profile>);

/// Nobody knows a profile of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
    /// The names that are known and offered.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known.join(", ");
        write!(f, "there is no agent {:?}; known are {known}", self.name)
    }
}

impl Default for Profiles {
    /// The built-in ones.
    fn default() -> Self {
        let built_in = BUILT_IN
            .iter()
            .filter_map(|(name, ..)| Profile::built_in(name));
        Self(
            built_in
                .map(|profile| (profile.name.clone(), profile))
                .collect(),
        )
    }
}

impl Profiles {
    /// Adds a profile, in place of one of the same name.
    pub fn put(&mut self, profile: Profile) {
        self.0.insert(profile.name.clone(), profile);
    }

    /// Finds a profile by its name, a hidden one too.
    ///
    /// # Errors
    /// There is none; the known ones are named.
    pub fn find(&self, name: &str) -> Result<&Profile, UnknownProfile> {
        self.0.get(name).ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
            known: self
                .offered(AgentMode::All)
                .map(|profile| profile.name.clone())
                .collect(),
        })
    }

    /// Lists the profiles of a mode that are offered; one of mode `all` is in every list, and `All` lists every one.
    pub fn offered(&self, mode: AgentMode) -> impl Iterator<Item = &Profile> {
        self.0.values().filter(move |profile| {
            let fits =
                mode == AgentMode::All || profile.mode == AgentMode::All || profile.mode == mode;
            fits && profile.shown == Shown::Offered
        })
    }
}

#[cfg(test)]
mod tests;
