//! `session_manage`: lists, shows and deletes the sessions of tasks that the calling session started.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{ToolDefinition, arguments_schema};

pub const TOOL: ToolDefinition = ToolDefinition {
    name: "session_manage",
    describe: |_| DESCRIPTION.to_owned(),
    schema: |_| arguments_schema::<SessionManageToolArguments>(),
};

const DESCRIPTION: &str = "\
Looks at the tasks that you gave: `list` tells where each stands, `show` tells one with its result, `delete` forgets one \
that is over and that you will not go on with.
Use it to find the id of an earlier task, or to look once at one in the background. Do not use it to wait: the end of a \
task in the background is told to you. Tasks of others cannot be reached.";

/// Its arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionManageToolArguments {
    /// What to do.
    pub action: SessionManageAction,
    /// The task, for `show` and `delete`.
    #[serde(default, alias = "session_id", alias = "id")]
    pub task_id: Option<String>,
}

impl SessionManageToolArguments {
    /// Returns the id of the selected task; empty for `list`.
    ///
    /// # Errors
    /// The id is missing although the action needs one.
    pub fn required_task_id(&self) -> Result<&str, String> {
        let id = self.task_id.as_deref().map_or("", str::trim);
        match self.action {
            SessionManageAction::Show | SessionManageAction::Delete if id.is_empty() => {
                Err("name a task by its `task_id`; `list` tells those that are yours".to_owned())
            }
            SessionManageAction::List | SessionManageAction::Show | SessionManageAction::Delete => {
                Ok(id)
            }
        }
    }
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionManageAction {
    /// Tells where each of your tasks stands.
    List,
    /// Tells one of them with its result.
    Show,
    /// Forgets one that is over.
    Delete,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::parse_arguments;

    #[test]
    fn what_is_about_one_task_names_it() {
        for (action, id, is_right) in [
            ("list", json!(null), true),
            ("show", json!(null), false),
            ("show", json!(" "), false),
            ("delete", json!(null), false),
            ("show", json!("ses_1"), true),
        ] {
            let given = json!({"action": action, "task_id": id});
            let read: SessionManageToolArguments = parse_arguments(&given).unwrap();
            assert_eq!(read.required_task_id().is_ok(), is_right, "{given}");
        }
    }
}
