//! Resolves the names in a discussion request to participants, each with an agent, an adapter and a unique name.
//!
//! An unknown name is an error that lists the known ones.

use thiserror::Error;

use super::{DebateSide, DiscussionMode, DiscussionParticipant};
use crate::text::cleaner::clean_text;
use crate::text::truncate::to_chars;

/// The agents of a discussion when the user names none.
pub const DEFAULT_AGENTS: [&str; 3] = ["advocate", "critic", "moderator"];
/// How many participants a discussion may have.
pub const MAX_PARTICIPANTS: usize = 10;
/// The longest name, in characters.
const MAX_NAME_CHARS: usize = 32;
/// The longest role text, in characters.
const MAX_ROLE_CHARS: usize = 2_000;

/// A requested participant, written as `name=agent@adapter`; name and adapter are optional.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParticipantSpec {
    /// The name in the discussion; by default the agent's name.
    pub name: Option<String>,
    pub agent: String,
    /// The adapter; by default the agent's own, otherwise one that few participants use.
    pub adapter: Option<String>,
    /// Additional instructions about its part.
    pub role: Option<String>,
}

/// An agent that can take part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AvailableAgent {
    pub name: String,
    /// The adapter that runs it, where that is fixed.
    pub adapter: Option<String>,
    /// The model to request.
    pub model: Option<String>,
}

/// The agents and adapters to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParticipantPool {
    /// The agents for discussions.
    pub agents: Vec<AvailableAgent>,
    /// The names of the adapters that work here.
    pub adapters: Vec<String>,
    pub planner: String,
    /// The reviewer's adapter; the planner's in a run without a reviewer.
    pub reviewer: String,
}

/// Why the requested participants are not possible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RosterError {
    /// The text is not in the required form.
    #[error(
        "{text:?} is not a participant; write [name=]agent[@adapter], in letters, digits, - and _"
    )]
    Malformed {
        /// The text as written.
        text: String,
    },
    /// There is no such agent.
    #[error("no agent {name:?} for discussions; there are {}", known.join(", "))]
    NoSuchAgent { name: String, known: Vec<String> },
    /// There is no such adapter.
    #[error("no adapter {name:?} for {participant}; there are {}", known.join(", "))]
    NoSuchAdapter {
        /// The participant that should use it.
        participant: String,
        name: String,
        known: Vec<String>,
    },
    /// Two participants have the same name.
    #[error("two participants are named {name:?}; give one another name: name=agent")]
    DuplicateName { name: String },
    /// Too few or too many participants speak in the rounds.
    #[error(
        "a {mode} needs 2 to {MAX_PARTICIPANTS} participants who answer in its rounds, there are {n}"
    )]
    ParticipantCount { mode: &'static str, n: usize },
    /// A debate has only one closing speech.
    #[error("a debate has at most one moderator, there are {}", names.join(", "))]
    TooManyModerators { names: Vec<String> },
}

impl ParticipantSpec {
    /// Parses `name=agent@adapter`; name and adapter are optional.
    ///
    /// # Errors
    ///
    /// Returns an error when the text is not in that form.
    pub fn parse(text: &str) -> Result<Self, RosterError> {
        let unreadable = || RosterError::Malformed {
            text: text.to_owned(),
        };
        let (name, rest) = match text.trim().split_once('=') {
            Some((name, rest)) => (Some(name.trim()), rest),
            None => (None, text.trim()),
        };
        let (agent, adapter) = match rest.split_once('@') {
            Some((agent, adapter)) => (agent.trim(), Some(adapter.trim())),
            None => (rest.trim(), None),
        };
        let all = [name, Some(agent), adapter];
        if all.into_iter().flatten().all(is_participant_name) {
            Ok(Self {
                name: name.map(str::to_owned),
                agent: agent.to_owned(),
                adapter: adapter.map(str::to_owned),
                role: None,
            })
        } else {
            Err(unreadable())
        }
    }
}

fn is_participant_name(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.chars().count() <= MAX_NAME_CHARS && text.chars().all(is_sign)
}

impl ParticipantPool {
    /// Turns the requested participants into actual ones; an empty list gives the three of a debate. Agents that are
    /// requested more than once without a name are numbered: `critic`, `critic-2`.
    ///
    /// # Errors
    ///
    /// Returns why a participant is not possible; nothing was started.
    pub fn resolve_participants(
        &self,
        called: &[ParticipantSpec],
        mode: DiscussionMode,
    ) -> Result<Vec<DiscussionParticipant>, RosterError> {
        let default: Vec<ParticipantSpec> = DEFAULT_AGENTS
            .iter()
            .filter(|_| called.is_empty())
            .map(|agent| ParticipantSpec {
                name: None,
                agent: (*agent).to_owned(),
                adapter: None,
                role: None,
            })
            .collect();
        let mut participants: Vec<DiscussionParticipant> = Vec::new();
        for each in called.iter().chain(&default) {
            let participant = self.resolve_participant(each, &participants)?;
            participants.push(participant);
        }
        check_roster(&participants, mode)?;
        Ok(participants)
    }

    fn resolve_participant(
        &self,
        called: &ParticipantSpec,
        before: &[DiscussionParticipant],
    ) -> Result<DiscussionParticipant, RosterError> {
        let mut agents = self.agents.iter();
        let agent = agents
            .find(|agent| agent.name == called.agent)
            .ok_or_else(|| RosterError::NoSuchAgent {
                name: called.agent.clone(),
                known: self.agents.iter().map(|agent| agent.name.clone()).collect(),
            })?;
        let name = match &called.name {
            Some(name) => name.clone(),
            None => unique_name(&agent.name, before),
        };
        if !is_participant_name(&name) {
            return Err(RosterError::Malformed { text: name });
        }
        if before.iter().any(|other| other.name == name) {
            return Err(RosterError::DuplicateName { name });
        }
        let side = DebateSide::from_agent_name(&agent.name);
        let wanted = called.adapter.as_ref().or(agent.adapter.as_ref());
        let adapter = match wanted {
            Some(adapter) if self.adapters.contains(adapter) => adapter.clone(),
            Some(adapter) => {
                return Err(RosterError::NoSuchAdapter {
                    participant: name,
                    name: adapter.clone(),
                    known: self.adapters.clone(),
                });
            }
            None => self.adapter_for(side, before),
        };
        let role = called.role.as_deref().map(clean_text);
        Ok(DiscussionParticipant {
            name,
            agent: agent.name.clone(),
            model: agent.model.clone().filter(|_| called.adapter.is_none()),
            adapter,
            role: role
                .map(|role| to_chars(role.trim(), MAX_ROLE_CHARS))
                .filter(|role| !role.is_empty()),
            side,
        })
    }

    /// Spreads agents over different CLIs. Advocate and critic never share one where there are two, the moderator uses
    /// the reviewer's, and every other participant gets the one of the two with fewer participants.
    fn adapter_for(&self, side: DebateSide, before: &[DiscussionParticipant]) -> String {
        let other = self.second_adapter();
        match side {
            DebateSide::Advocate => self.planner.clone(),
            DebateSide::Critic => other,
            DebateSide::Moderator => self.reviewer.clone(),
            DebateSide::Open => {
                let n_at =
                    |adapter: &str| before.iter().filter(|each| each.adapter == adapter).count();
                if n_at(&other) < n_at(&self.planner) {
                    other
                } else {
                    self.planner.clone()
                }
            }
        }
    }

    /// Returns an adapter that is not the planner's: the reviewer's, otherwise the first that works, otherwise the
    /// planner's.
    fn second_adapter(&self) -> String {
        let mut all = std::iter::once(&self.reviewer).chain(&self.adapters);
        let other = all.find(|adapter| **adapter != self.planner);
        other.unwrap_or(&self.planner).clone()
    }
}

fn unique_name(agent: &str, before: &[DiscussionParticipant]) -> String {
    let is_free = |name: &String| before.iter().all(|other| other.name != *name);
    let numbered = (2..).map(|n: u32| format!("{agent}-{n}"));
    let mut names = std::iter::once(agent.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| agent.to_owned())
}

fn check_roster(
    participants: &[DiscussionParticipant],
    mode: DiscussionMode,
) -> Result<(), RosterError> {
    let rules = super::mode_rules::rules_for(mode);
    let n = participants
        .iter()
        .filter(|each| rules.speaks_in_rounds(each))
        .count();
    if !(2..=MAX_PARTICIPANTS).contains(&n) {
        let mode = mode.as_str();
        return Err(RosterError::ParticipantCount { mode, n });
    }
    let closers = participants.iter().filter(|each| rules.has_last_word(each));
    let names: Vec<String> = closers.map(|each| each.name.clone()).collect();
    match names.len() {
        0 | 1 => Ok(()),
        _ => Err(RosterError::TooManyModerators { names }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known() -> ParticipantPool {
        let agent = |name: &str| AvailableAgent {
            name: name.to_owned(),
            adapter: None,
            model: None,
        };
        ParticipantPool {
            agents: ["advocate", "critic", "moderator", "general"]
                .map(agent)
                .to_vec(),
            adapters: vec!["claude".to_owned(), "codex".to_owned()],
            planner: "codex".to_owned(),
            reviewer: "claude".to_owned(),
        }
    }

    fn check(called: &[&str], mode: DiscussionMode, expected: &str) {
        let called: Result<Vec<ParticipantSpec>, RosterError> = called
            .iter()
            .map(|text| ParticipantSpec::parse(text))
            .collect();
        let told = match called.and_then(|called| known().resolve_participants(&called, mode)) {
            Ok(all) => all
                .iter()
                .map(|each| format!("{}={}@{}", each.name, each.agent, each.adapter))
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{called:?}", called = told);
    }

    #[test]
    fn nobody_named_are_three_at_different_adapters() {
        check(
            &[],
            DiscussionMode::Debate,
            "advocate=advocate@codex critic=critic@claude moderator=moderator@claude",
        );
    }

    #[test]
    fn whoever_has_no_adapter_gets_the_one_that_fewer_are_at() {
        check(
            &["general", "general", "b=general@codex", "c=general"],
            DiscussionMode::Jury,
            "general=general@codex general-2=general@claude b=general@codex c=general@claude",
        );
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        check(
            &["critc"],
            DiscussionMode::Jury,
            "no agent \"critc\" for discussions; there are advocate, critic, moderator, general",
        );
        check(
            &["a=critic@gemini"],
            DiscussionMode::Jury,
            "no adapter \"gemini\" for a; there are claude, codex",
        );
    }

    #[test]
    fn a_name_is_there_once() {
        check(
            &["a=critic", "a=general"],
            DiscussionMode::Jury,
            "two participants are named \"a\"; give one another name: name=agent",
        );
    }

    #[test]
    fn two_must_speak_in_the_rounds() {
        let told = "a debate needs 2 to 10 participants who answer in its rounds, there are 1";
        check(&["advocate", "moderator"], DiscussionMode::Debate, told);
        let told = "a debate has at most one moderator, there are moderator, moderator-2";
        check(
            &["general", "general", "moderator", "moderator"],
            DiscussionMode::Debate,
            told,
        );
    }

    #[test]
    fn a_participant_is_written_in_one_way() {
        for text in [
            "", "=", "a=", "a=b@", "@codex", "a b", "a=b=c", "a=b@c@d", "a/b",
        ] {
            assert!(ParticipantSpec::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn names_are_unique_whoever_is_called(agents in proptest::collection::vec(
            proptest::sample::select(vec!["critic", "general", "critic-2=general", "x=critic"]), 2..8)) {
            let called: Vec<ParticipantSpec> = agents.iter().map(|text| ParticipantSpec::parse(text).unwrap()).collect();
            if let Ok(all) = known().resolve_participants(&called, DiscussionMode::Collaborative) {
                let names: std::collections::BTreeSet<&str> = all.iter().map(|each| each.name.as_str()).collect();
                prop_assert_eq!(names.len(), all.len());
            }
        }
    }
}
