//! The agents' todo lists: for the chat when they change, and all of them in the pager.
//!
//! Nothing here changes a list: only the agents do.

use super::Screen;
use super::action::Action;
use super::pager::{PagerFormat, TextPager};
use super::text_wrap::to_one_line;
use crate::domain::run::RunState;
use crate::domain::session::Session;
use crate::domain::todo_list::{TodoItem, TodoList, TodoPriority, TodoStatus};

impl Screen {
    /// Shows all todo lists.
    pub(super) fn show_todo_lists(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match state {
            Some(state) => self.open_pager(todo_pager(state)),
            None => self.show_toast("No run yet."),
        }
    }
}

/// Formats a list: its progress, then one line per todo.
pub fn format_todo_list(todos: &TodoList) -> String {
    let (n, done) = (
        todos.items().len(),
        todos.count_by_status(TodoStatus::Completed),
    );
    let mut lines = vec![format!("Todos: {done} of {n} completed")];
    lines.extend(todos.items().iter().map(todo_line));
    lines.join("\n")
}

/// Creates a pager with all lists of a run.
fn todo_pager(state: &RunState) -> TextPager {
    let sessions = [
        ("planner", Some(&state.planner)),
        ("reviewer", state.reviewer.as_ref()),
    ];
    let lists = sessions.into_iter().filter_map(|(role, session)| {
        let session: &Session = session.filter(|session| !session.todos.is_empty())?;
        Some(format!("{role}\n{}", format_todo_list(&session.todos)))
    });
    let lists: Vec<String> = lists.collect();
    let text = if lists.is_empty() {
        "No agent has a todo list.".to_owned()
    } else {
        lists.join("\n\n")
    };
    TextPager::new("Todos", &text, PagerFormat::Plain)
}

fn todo_line(todo: &TodoItem) -> String {
    let mark = match todo.status {
        TodoStatus::Pending => "☐",
        TodoStatus::InProgress => "▸",
        TodoStatus::Completed => "☑",
    };
    let weight = match todo.priority {
        TodoPriority::High => " (high)",
        TodoPriority::Low => " (low)",
        TodoPriority::Medium => "",
    };
    format!("{mark} {}{weight}", to_one_line(&todo.content))
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
