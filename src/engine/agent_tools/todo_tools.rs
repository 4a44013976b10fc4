//! Performs `todoread` and `todowrite` on the todo list of the calling session.
//!
//! The session stores the list; `domain::todo_list` defines what is valid in it.

use serde_json::json;

use super::tool_performer::{ToolCallContext, ToolReply};
use crate::domain::event::Event;
use crate::domain::todo_list::{TodoList, TodoStatus};
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{todoread, todowrite};
use crate::text::clean_to_one_line;

pub(super) fn read_todos(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    parse_arguments::<todoread::TodoReadToolArguments>(&context.call.arguments)?;
    let session = context.run.state().session(context.call.role);
    let todos = session
        .map(|session| session.todos.clone())
        .unwrap_or_default();
    Ok(ToolReply::Now(todo_list_answer(&todos)))
}

pub(super) fn write_todos(context: &ToolCallContext<'_>) -> Result<ToolReply, String> {
    let call = context.call;
    let arguments: todowrite::TodoWriteToolArguments = parse_arguments(&call.arguments)?;
    let wanted = arguments
        .todos
        .into_iter()
        .map(|item| item.into_domain(clean_to_one_line));
    let todos = TodoList::parse(wanted.collect()).map_err(|refused| refused.to_string())?;
    let answer = todo_list_answer(&todos);
    let written = Event::TodosWritten {
        session: call.session.clone(),
        todos,
    };
    Ok(ToolReply::Record(Box::new(written), answer))
}

/// Returns the list as the agent reads it.
fn todo_list_answer(todos: &TodoList) -> ToolAnswer {
    let text = match (
        todos.items().len(),
        todos.count_by_status(TodoStatus::Completed),
    ) {
        (0, _) => "the list is empty".to_owned(),
        (n, done) if n == done => format!(
            "all {n} todos are completed: say so and sum up what was done; unrelated work begins a new list"
        ),
        (n, done) => format!("{done} of {n} todos are completed"),
    };
    let lines = todos.items().iter().map(|todo| {
        format!(
            "- [{}] {} ({}, {})",
            todo.id,
            todo.content,
            todo.status.name(),
            todo.priority.name()
        )
    });
    // Some CLIs show their models only the data.
    let data = json!({ "message": text, "todos": todos });
    let text: Vec<String> = std::iter::once(text).chain(lines).collect();
    ToolAnswer::done(text.join("\n")).with_data(data)
}
