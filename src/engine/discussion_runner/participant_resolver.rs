//! Resolves who takes part in a discussion, from the request and the agents and adapters that are available.
//!
//! The discussion itself turns the result into participants.

use super::discussion_planner::{DiscussionPlanner, DiscussionStartError};
use crate::domain::discussion::{
    AvailableAgent, DiscussionMode, DiscussionOverrides, DiscussionParticipant, ParticipantPool,
    ParticipantSpec,
};
use crate::engine::cli_probe;
use crate::mcp::tools::group_discuss::{DiscussionParticipantArgument, GroupDiscussToolArguments};
use crate::permission::AgentMode;

/// The agent of a participant that has only a name.
const DEFAULT_AGENT: &str = "general";

impl DiscussionPlanner<'_> {
    /// Resolves all participants: from the request, else from the preset, else the defaults.
    pub(super) fn resolve_participants(
        &self,
        said: &GroupDiscussToolArguments,
        preset: &DiscussionOverrides,
        mode: DiscussionMode,
    ) -> Result<Vec<DiscussionParticipant>, DiscussionStartError> {
        let called = participant_specs(said, preset)?;
        Ok(self
            .participant_pool()
            .resolve_participants(&called, mode)?)
    }

    /// Returns the agents that may run as children, and the adapters whose programs are installed.
    fn participant_pool(&self) -> ParticipantPool {
        let agents = self.permissions.profiles.iter_offered(AgentMode::Subagent);
        let roles = &self.config.roles;
        let planner = roles.planner.clone();
        let reviewer = roles.reviewer.clone().unwrap_or_else(|| planner.clone());
        let is_there = |name: &String, program: &str| {
            [&planner, &reviewer].contains(&name) || cli_probe::program_exists(program, self.root)
        };
        ParticipantPool {
            agents: agents
                .map(|agent| AvailableAgent {
                    name: agent.name.clone(),
                    adapter: agent.adapter.clone(),
                    model: agent.model.clone(),
                })
                .collect(),
            adapters: self
                .config
                .adapters
                .iter()
                .filter(|(name, adapter)| is_there(name, &adapter.program))
                .map(|(name, _)| name.clone())
                .collect(),
            planner,
            reviewer,
        }
    }
}

/// Returns the requested participants; a name that is also an agent's selects that agent.
fn participant_specs(
    said: &GroupDiscussToolArguments,
    preset: &DiscussionOverrides,
) -> Result<Vec<ParticipantSpec>, DiscussionStartError> {
    let from_preset = preset.agents.iter().flatten();
    let nobody = said.agents.is_empty() && said.participants.is_empty();
    let agents = said.agents.iter().chain(from_preset.filter(|_| nobody));
    let mut all: Vec<ParticipantSpec> = agents
        .map(|text| ParticipantSpec::parse(text))
        .collect::<Result<_, _>>()?;
    for one in &said.participants {
        let own = participant_spec_from_argument(one);
        let is_its = |each: &&mut ParticipantSpec| {
            each.name.is_none() && Some(&each.agent) == own.name.as_ref()
        };
        match all.iter_mut().find(is_its) {
            Some(agent) => *agent = own,
            None => all.push(own),
        }
    }
    Ok(all)
}

fn participant_spec_from_argument(one: &DiscussionParticipantArgument) -> ParticipantSpec {
    ParticipantSpec {
        name: Some(one.name.trim().to_owned()),
        agent: one
            .agent
            .clone()
            .unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
        adapter: one.adapter.clone(),
        role: one.role.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> DiscussionParticipantArgument {
        DiscussionParticipantArgument {
            name: name.to_owned(),
            ..DiscussionParticipantArgument::default()
        }
    }

    fn names(said: &GroupDiscussToolArguments, preset: &DiscussionOverrides) -> String {
        let all = participant_specs(said, preset).unwrap();
        let word = |each: &ParticipantSpec| match &each.name {
            Some(name) => format!("{name}={}", each.agent),
            None => each.agent.clone(),
        };
        all.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_participant_of_an_agent_s_name_stands_in_its_place() {
        let said = GroupDiscussToolArguments {
            agents: vec!["advocate".to_owned(), "critic".to_owned()],
            participants: vec![one("critic"), one("ops")],
            ..GroupDiscussToolArguments::default()
        };
        let told = names(&said, &DiscussionOverrides::default());
        assert_eq!(told, "advocate critic=general ops=general");
    }

    #[test]
    fn what_is_said_beats_the_preset() {
        let preset = DiscussionOverrides {
            agents: Some(vec!["explore".to_owned()]),
            ..DiscussionOverrides::default()
        };
        let said = GroupDiscussToolArguments {
            agents: vec!["critic".to_owned()],
            ..GroupDiscussToolArguments::default()
        };
        assert_eq!(
            names(
                &GroupDiscussToolArguments::default(),
                &DiscussionOverrides::default()
            ),
            ""
        );
        assert_eq!(
            names(&GroupDiscussToolArguments::default(), &preset),
            "explore"
        );
        assert_eq!(names(&said, &preset), "critic");
    }
}
