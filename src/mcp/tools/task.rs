//! `task`: gives one or several tasks to agents, each in its own session.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::mcp::{JsonObject, ToolDefinition, VisibleAgents, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "task",
    describe,
    schema,
};

const DESCRIPTION: &str = "\
Gives a task to an agent that works on it alone, in a session of its own, and returns what that agent says last. It \
knows nothing of your conversation and you see nothing of its work: put into `prompt` all that it must know, and say \
exactly what it is to return. The user sees neither: sum up what matters in your own words. Each task begins anew, but \
where `task_id` says otherwise.
Use it for searches that would fill your own context, and for questions that do not depend on each other: give those in \
one call as `tasks`, and they are worked on side by side.
Do not use it to read a file that you know, for what one or two searches of your own find, or for work of which each \
step depends on the last.
With `background` you go on at once and its end is told with the message that begins your next turn; do not ask for it \
again and again. `task_id` goes on with an earlier task of yours. In EXECUTE an \
agent that may edit works in a copy of the tree; what it changes comes back as a patch, in the tree or kept as its result says.";

fn describe(seen: &VisibleAgents) -> String {
    format!(
        "{DESCRIPTION}\nAgents:\n{}",
        VisibleAgents::format_agent_list(&seen.task_agents)
    )
}

/// Builds the schema of the arguments, with the names of the available agents.
fn schema(seen: &VisibleAgents) -> JsonObject {
    let mut schema = Value::Object(arguments_schema::<TaskToolArguments>());
    let names: Vec<Value> = seen
        .task_agents
        .iter()
        .map(|(name, _)| json!(name))
        .collect();
    for place in [
        "/properties/agent",
        "/properties/tasks/items/properties/agent",
    ] {
        if let Some(Value::Object(agent)) = schema.pointer_mut(place)
            && !names.is_empty()
        {
            let nothing = (agent.get("type") != Some(&json!("string"))).then_some(Value::Null);
            let all: Vec<Value> = names.iter().cloned().chain(nothing).collect();
            agent.insert("enum".to_owned(), Value::Array(all));
        }
    }
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Its arguments: one task, or several.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskToolArguments {
    /// What the task is about, in three to five words.
    #[serde(default)]
    pub description: Option<String>,
    /// All that the agent is told.
    #[serde(default, alias = "objective")]
    pub prompt: Option<String>,
    /// The agent's name.
    #[serde(default, alias = "subagent_type")]
    pub agent: Option<String>,
    /// The id of an earlier task of yours, to go on with it.
    #[serde(default, alias = "session_id")]
    pub task_id: Option<String>,
    /// Several tasks at once, in the place of the one; each gets a result of its own, in this order.
    #[serde(default)]
    pub tasks: Vec<TaskToolItem>,
    /// Whether you go on at once.
    #[serde(default)]
    pub background: bool,
}

/// One of several tasks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskToolItem {
    /// What it is about, in three to five words.
    #[serde(default)]
    pub description: String,
    /// All that the agent is told.
    #[serde(alias = "objective")]
    pub prompt: String,
    /// The agent's name.
    #[serde(alias = "subagent_type")]
    pub agent: String,
    /// The id of an earlier task of yours, to go on with it.
    #[serde(default, alias = "session_id")]
    pub task_id: Option<String>,
}

/// Fields that have two names; our own name comes first.
const FIELD_ALIASES: [(&str, &str); 3] = [
    ("agent", "subagent_type"),
    ("prompt", "objective"),
    ("task_id", "session_id"),
];

/// Keeps only one of the two names of each field if both are given and agree, or if one of them is null.
///
/// # Errors
/// Two names of the same field have different values.
fn merge_field_aliases(given: &mut Value) -> Result<(), String> {
    let Some(fields) = given.as_object_mut() else {
        return Ok(());
    };
    for (ours, other) in FIELD_ALIASES {
        let (Some(first), Some(second)) = (fields.get(ours), fields.get(other)) else {
            continue;
        };
        let goes = match (first, second) {
            (Value::Null, _) => ours,
            (_, Value::Null) => other,
            (first, second) if first == second => other,
            (_, _) => {
                return Err(format!(
                    "`{ours}` and `{other}` are two names of one field and say different things; give one of them"
                ));
            }
        };
        fields.remove(goes);
    }
    let tasks = fields.get_mut("tasks").and_then(Value::as_array_mut);
    tasks
        .into_iter()
        .flatten()
        .try_for_each(merge_field_aliases)
}

impl TaskToolArguments {
    /// Parses the arguments; a field may have either of its names, or both if they agree.
    ///
    /// # Errors
    /// They do not match the schema; the message says where.
    pub fn parse(given: &Value) -> Result<Self, String> {
        let mut given = given.clone();
        merge_field_aliases(&mut given)?;
        crate::mcp::parse_arguments(&given)
    }

    /// Returns the requested tasks.
    ///
    /// # Errors
    /// There is none, one is incomplete, or a single task and a list of tasks are both given.
    pub fn into_items(self) -> Result<Vec<TaskToolItem>, String> {
        match (self.prompt, self.agent, self.tasks.is_empty()) {
            (Some(prompt), Some(agent), true) => Ok(vec![TaskToolItem {
                description: self.description.unwrap_or_default(),
                prompt,
                agent,
                task_id: self.task_id.filter(|id| !id.trim().is_empty()),
            }]),
            (None, None, false) => Ok(self.tasks),
            (_, _, true) => Err("a task needs `agent` and `prompt`".to_owned()),
            (_, _, false) => Err(
                "give either one task by `agent` and `prompt`, or several by `tasks`".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Agent, prompt and id of each task.
    type ExpectedItems<'a> = [(&'a str, &'a str, Option<&'a str>)];

    fn check(given: serde_json::Value, wanted: Result<&ExpectedItems<'_>, &str>) {
        let items = TaskToolArguments::parse(&given).and_then(TaskToolArguments::into_items);
        match (items, wanted) {
            (Ok(items), Ok(wanted)) => {
                let items: Vec<_> = items
                    .iter()
                    .map(|i| (i.agent.as_str(), i.prompt.as_str(), i.task_id.as_deref()))
                    .collect();
                assert_eq!(items, wanted, "{given}");
            }
            (Err(why), Err(wanted)) => assert!(why.contains(wanted), "{given}: {why}"),
            (items, wanted) => panic!("{given}: {items:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn one_task_or_several_are_read_by_each_of_their_names() {
        check(
            json!({"description": "d", "prompt": "p", "subagent_type": "explore"}),
            Ok(&[("explore", "p", None)]),
        );
        check(
            json!({"agent": "explore", "objective": "p", "session_id": "ses_1"}),
            Ok(&[("explore", "p", Some("ses_1"))]),
        );
        check(
            json!({"tasks": [{"agent": "a", "objective": "1"}, {"subagent_type": "b", "prompt": "2"}]}),
            Ok(&[("a", "1", None), ("b", "2", None)]),
        );
        check(json!({"prompt": "p"}), Err("needs `agent` and"));
        check(json!({}), Err("needs `agent` and"));
        check(
            json!({"prompt": "p", "agent": "a", "tasks": [{"agent": "a", "prompt": "1"}]}),
            Err("either one task"),
        );
        check(json!({"prompt": 1}), Err("do not fit"));
    }

    #[test]
    fn both_names_of_a_field_may_say_the_same_and_nothing_else() {
        check(
            json!({"agent": "a", "subagent_type": "a", "prompt": "p", "objective": "p", "task_id": null, "session_id": "s"}),
            Ok(&[("a", "p", Some("s"))]),
        );
        check(
            json!({"tasks": [{"agent": "a", "subagent_type": "a", "prompt": "1"}]}),
            Ok(&[("a", "1", None)]),
        );
        let differ = "two names of one field";
        check(
            json!({"agent": "a", "subagent_type": "b", "prompt": "p"}),
            Err(differ),
        );
        check(
            json!({"agent": "", "subagent_type": "b", "prompt": "p"}),
            Err(differ),
        );
        check(
            json!({"tasks": [{"agent": "a", "prompt": "1", "objective": "2"}]}),
            Err(differ),
        );
    }
}
