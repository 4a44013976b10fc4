//! `todowrite`: replaces the session's todo list.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::todo_list::TodoInput;
use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "todowrite",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<TodoWriteToolArguments>(),
};

const DESCRIPTION: &str = "\
Replaces your whole list of todos, which the user sees beside your work. What you leave out is gone.
Use it when your work has three steps or more, or when the user asks for a list: write it before you begin, set \
exactly one todo to in_progress while you work on it, and to completed as soon as it is done, not at the end.
Do not use it for work of one or two steps that nobody asked a list for, nor for todos about the work itself \
(\"read the code\", \"answer the user\"). When all todos are completed, say so and sum up what was done; work \
that has nothing to do with them begins a new list.
At most one todo may be in_progress, otherwise the call fails and the list stays as it was.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoWriteToolArguments {
    /// The whole list, in the order in which it is shown.
    pub todos: Vec<TodoToolItem>,
}

// Status and priority stay strings here and are parsed later, so that an error can name every wrong todo.
/// One todo.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TodoToolItem {
    /// A short id that the todo keeps; its place in the list where you leave it out.
    #[serde(default)]
    pub id: Option<String>,
    /// What is to be done, in one line.
    pub content: String,
    /// How far it is.
    #[schemars(with = "TodoStatusSchema")]
    pub status: String,
    /// How much it matters to the user; medium where you leave it out.
    #[serde(default)]
    #[schemars(with = "Option<TodoPrioritySchema>")]
    pub priority: Option<String>,
}

/// The words of a status, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum TodoStatusSchema {
    Pending,
    InProgress,
    Completed,
}

/// The words of a priority, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum TodoPrioritySchema {
    High,
    Medium,
    Low,
}

impl TodoToolItem {
    /// Converts the todo to the domain type; `clean` sanitises its texts.
    pub fn into_domain(self, clean: impl Fn(&str) -> String) -> TodoInput {
        TodoInput {
            id: self.id.map(|id| clean(&id)),
            content: clean(&self.content),
            status: self.status,
            priority: self.priority,
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames;

    use super::*;
    use crate::domain::todo_list::{TodoPriority, TodoStatus};

    #[test]
    fn the_schema_offers_the_words_that_are_read() {
        let schema = serde_json::Value::Object((TOOL.schema)(&Default::default())).to_string();
        for name in TodoStatus::VARIANTS.iter().chain(TodoPriority::VARIANTS) {
            assert!(schema.contains(&format!("{name:?}")), "{schema}");
        }
    }
}
