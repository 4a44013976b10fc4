//! `group_discuss`: lets several agents discuss an open question and reach a decision.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::IntoEnumIterator;

use crate::domain::discussion::{DiscussionMode, SpeakingOrder};
use crate::mcp::{ToolDefinition, VisibleAgents, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "group_discuss",
    describe,
    schema: |_| arguments_schema::<GroupDiscussToolArguments>(),
};

const DESCRIPTION: &str = "\
Has several agents of different vendors discuss one open question in rounds, and returns what they decide: the conclusion, \
what it stands on (consensus, vote or the moderator's word), every vote, the minority and what stays unresolved. Each of \
them first answers alone. They know nothing of your conversation: put into `topic` the question and the options, into \
`context` what they must know, and name in `files` what they must read.
Use it for an open trade-off, a choice of design, a list of risks: where good engineers would differ.
Do not use it for what a test, a search or the documentation settles: do that instead. Do not use it for work, for what \
is decided already, or to be told that you are right. It takes minutes, and the answer is advice: you decide.
With `background` you go on at once and its result is told with the message that begins one of your next turns. \
`diagnose` tells what a discussion would run on and starts nothing; `group_discuss_context` tells its limits.";

pub(super) fn describe(seen: &VisibleAgents) -> String {
    let agents = VisibleAgents::format_agent_list(&seen.discussion_agents);
    format!("{DESCRIPTION}\nAgents:\n{agents}")
}

/// The topic of a discussion of which only the limits are requested.
pub const PLACEHOLDER_TOPIC: &str = "(no topic)";

/// Its arguments. What is left out is the preset's, else the configuration's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupDiscussToolArguments {
    /// The question, with the options that there are.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub topic: String,
    /// debate: advocate against critic, then a moderator rules. collaborative: all together until they agree. jury:
    /// each answers alone, then they vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "mode_schema")]
    pub mode: Option<DiscussionMode>,
    /// Whether those of a round after the first speak at once, or one after another.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "order_schema")]
    pub order: Option<SpeakingOrder>,
    /// The agents that take part, each as `[name=]agent[@adapter]`; without any an advocate, a critic and a moderator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Participants under names of their own; one replaces an agent of the same name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<DiscussionParticipantArgument>,
    /// How many rounds there are at the most, 1 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub rounds: Option<u32>,
    /// What the participants must know besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Files of the repository that they are given: ten at the most, 256 KiB each, 1 MiB together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// A preset of the configuration, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Whether the participants' sessions stay when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_sessions: Option<bool>,
    /// Whether the result holds all that was said; it does when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbose: Option<bool>,
    /// Whether you go on at once.
    #[serde(skip_serializing_if = "is_no")]
    pub background: bool,
    /// Tells what a discussion would run on, and starts nothing.
    #[serde(skip_serializing_if = "is_no")]
    pub diagnose: bool,
}

impl GroupDiscussToolArguments {
    /// Sets a placeholder topic if there is none, because a diagnosis needs no real topic.
    #[must_use]
    pub fn with_placeholder_topic(mut self) -> Self {
        if self.topic.trim().is_empty() {
            PLACEHOLDER_TOPIC.clone_into(&mut self.topic);
        }
        self
    }
}

fn is_no(flag: &bool) -> bool {
    !flag
}

/// One participant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiscussionParticipantArgument {
    /// Its name in the discussion; none is given twice.
    pub name: String,
    /// The agent that plays it; `general` when left out.
    #[serde(alias = "subagent_type", skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The adapter that plays the agent; one that differs from the others' when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// What it is told of its part besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

fn mode_schema(_: &mut SchemaGenerator) -> Schema {
    choice_schema("How a discussion goes.", |mode| match mode {
        DiscussionMode::Debate => "Advocate against critic, then a moderator rules.",
        DiscussionMode::Collaborative => "All together until they agree.",
        DiscussionMode::Jury => "Each answers alone, then they vote.",
    })
}

fn order_schema(_: &mut SchemaGenerator) -> Schema {
    choice_schema("Who hears whom within a round.", |order| match order {
        SpeakingOrder::Simultaneous => "All at once.",
        SpeakingOrder::Sequential => "One after another.",
    })
}

/// Returns the schema of a choice that may be left out: every value of the domain's type by its name, with what it means.
fn choice_schema<T>(about: &str, describe: fn(T) -> &'static str) -> Schema
where
    T: IntoEnumIterator + Copy + Into<&'static str>,
{
    let values = T::iter().map(|value| {
        let name: &'static str = value.into();
        json!({ "type": "string", "const": name, "description": describe(value) })
    });
    let values: Vec<Value> = values.collect();
    json_schema!({ "anyOf": [{ "oneOf": values, "description": about }, { "type": "null" }] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::parse_arguments;

    #[test]
    fn what_is_left_out_is_left_to_the_preset_and_the_configuration() {
        let bare: GroupDiscussToolArguments =
            parse_arguments(&json!({ "topic": "SQLite or Postgres?" })).unwrap();
        let unsaid = GroupDiscussToolArguments {
            topic: "SQLite or Postgres?".to_owned(),
            ..GroupDiscussToolArguments::default()
        };
        assert_eq!(bare, unsaid);
        let again = serde_json::to_value(&bare).unwrap();
        assert_eq!(again, json!({ "topic": "SQLite or Postgres?" }));
        let named: GroupDiscussToolArguments =
            parse_arguments(&json!({ "topic": "x", "mode": "jury",
            "participants": [{ "name": "a", "subagent_type": "explore" }] }))
            .unwrap();
        assert_eq!(named.mode, Some(DiscussionMode::Jury));
        assert_eq!(named.participants[0].agent.as_deref(), Some("explore"));
        let wrong = parse_arguments::<GroupDiscussToolArguments>(
            &json!({ "topic": "x", "mode": "quarrel" }),
        );
        assert!(wrong.unwrap_err().contains("debate"));
    }
}
