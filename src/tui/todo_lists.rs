//! The agents' todo lists: for the chat when they change, and all of them in the pager.
//!
//! Nothing here changes a list: only the agents do.

use crate::domain::run::RunState;
use crate::domain::session::Session;
use crate::domain::todo_list::TodoList;

/// Formats a list: its progress, then one line per todo.
pub fn format_todo_list(todos: &TodoList) -> String {
    let items = todos.items().iter().map(|todo| format!("\n{todo}"));
    todos.describe_progress() + &items.collect::<String>()
}

/// Formats all lists of a run.
pub fn format_todo_lists(state: &RunState) -> String {
    let sessions = [
        ("planner", Some(&state.planner)),
        ("reviewer", state.reviewer.as_ref()),
    ];
    let lists = sessions.into_iter().filter_map(|(role, session)| {
        let session: &Session = session.filter(|session| !session.todos.is_empty())?;
        Some(format!("{role}\n{}", format_todo_list(&session.todos)))
    });
    let lists: Vec<String> = lists.collect();
    if lists.is_empty() {
        "No agent has a todo list.".to_owned()
    } else {
        lists.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::todo_list::TodoInput;

    #[test]
    fn a_list_is_told_with_how_far_it_is() {
        let wanted = |content: &str, status: &str, priority: &str| TodoInput {
            id: None,
            content: content.to_owned(),
            status: status.to_owned(),
            priority: Some(priority.to_owned()),
        };
        let todos = TodoList::parse(vec![
            wanted("look", "completed", "medium"),
            wanted("mend", "in_progress", "high"),
            wanted("tell", "pending", "low"),
        ]);
        assert_eq!(
            format_todo_list(&todos.unwrap()),
            "Todos: 1 of 3 completed\n☑ look\n▸ mend (high)\n☐ tell (low)"
        );
    }
}
