//! Performs `todoread` and `todowrite` on the todo list of the calling session.
//!
//! The session stores the list; `domain::todo_list` defines what is valid in it.

use serde_json::json;

use crate::domain::event::Event;
use crate::domain::todo_list::{TodoList, TodoStatus};
use crate::engine::Engine;
use crate::engine::agent_tools::tool_reply::{AdmittedToolCall, ToolReply};
use crate::engine::engine_error::EngineError;
use crate::mcp::parse_arguments;
use crate::mcp::socket_protocol::ToolAnswer;
use crate::mcp::tools::{todoread, todowrite};
use crate::text::clean_to_one_line;

pub(super) fn read_todos(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    if let Err(why) = parse_arguments::<todoread::TodoReadToolArguments>(&call.arguments) {
        return Ok(ToolReply::Now(ToolAnswer::failed(why)));
    }
    let session = engine.state().session(call.role);
    let todos = session
        .map(|session| session.todos.clone())
        .unwrap_or_default();
    Ok(ToolReply::Now(todo_list_answer(&todos)))
}

pub(super) fn write_todos(
    engine: &mut Engine,
    call: &AdmittedToolCall,
) -> Result<ToolReply, EngineError> {
    let arguments: todowrite::TodoWriteToolArguments = match parse_arguments(&call.arguments) {
        Ok(arguments) => arguments,
        Err(why) => return Ok(ToolReply::Now(ToolAnswer::failed(why))),
    };
    let wanted = arguments
        .todos
        .into_iter()
        .map(|item| item.into_domain(clean_to_one_line));
    let todos = match TodoList::parse(wanted.collect()) {
        Ok(todos) => todos,
        Err(refused) => return Ok(ToolReply::Now(ToolAnswer::failed(refused.to_string()))),
    };
    let answer = todo_list_answer(&todos);
    engine.apply_event(Event::TodosWritten {
        session: call.session.clone(),
        todos,
    })?;
    Ok(ToolReply::Now(answer))
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
