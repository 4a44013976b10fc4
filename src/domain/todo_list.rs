//! Defines a session's todo list and its rules, and says why a list is rejected.
//!
//! A list is replaced as a whole or not at all. It is never reordered, and no status changes by itself; texts arrive
//! cleaned.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};
use thiserror::Error;

use crate::text::clean_to_one_line;

/// The maximum number of todos in a list.
pub const MAX_TODOS: usize = 100;
/// The maximum length of a todo's text, in characters.
pub const MAX_TODO_CHARS: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    /// Its id within the list.
    pub id: String,
    /// What to do, in one line.
    pub content: String,
    pub status: TodoStatus,
    /// Its importance; it only affects the display.
    #[serde(default)]
    pub priority: TodoPriority,
}

/// The progress of a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum TodoStatus {
    /// Not started.
    Pending,
    InProgress,
    Completed,
}

impl TodoStatus {
    /// Returns the name in lists and messages.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The importance of a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum TodoPriority {
    High,
    #[default]
    Medium,
    Low,
}

impl TodoPriority {
    /// Returns the name in lists and messages.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for TodoItem {
    /// Writes the todo on one line, after a mark of its status.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.status {
            TodoStatus::Pending => "☐",
            TodoStatus::InProgress => "▸",
            TodoStatus::Completed => "☑",
        };
        let weight = match self.priority {
            TodoPriority::High => " (high)",
            TodoPriority::Low => " (low)",
            TodoPriority::Medium => "",
        };
        write!(out, "{mark} {}{weight}", clean_to_one_line(&self.content))
    }
}

/// A todo as requested; its status and priority are not parsed yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TodoInput {
    /// Its id; by default the todo's place in the list, from 1.
    pub id: Option<String>,
    pub content: String,
    /// The name of its status.
    pub status: String,
    /// The name of its priority; medium by default.
    pub priority: Option<String>,
}

/// A list that keeps the rules: at most one todo is in progress, ids are unique, no text is empty.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<TodoItem>", into = "Vec<TodoItem>")]
pub struct TodoList(Vec<TodoItem>);

/// Why a list is rejected; it names every todo with a problem.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the list stays as it was: {}", .0.join("; "))]
pub struct TodoListError(Vec<String>);

impl TodoList {
    /// Parses a whole list.
    ///
    /// # Errors
    ///
    /// Returns an error when a status or a priority is unknown, or the list breaks a rule.
    pub fn parse(wanted: Vec<TodoInput>) -> Result<Self, TodoListError> {
        let mut problems = Vec::new();
        let mut todos = Vec::new();
        for (at, wanted) in wanted.into_iter().enumerate() {
            match parse_todo(at + 1, wanted) {
                Ok(todo) => todos.push(todo),
                Err(problem) => problems.push(problem),
            }
        }
        problems.extend(list_problems(&todos));
        if problems.is_empty() {
            Ok(Self(todos))
        } else {
            Err(TodoListError(problems))
        }
    }

    /// Returns the todos in the order in which they were written.
    pub fn items(&self) -> &[TodoItem] {
        &self.0
    }

    /// Describes the progress: `Todos: 1 of 3 completed`.
    pub fn describe_progress(&self) -> String {
        let done = self.count_by_status(TodoStatus::Completed);
        format!("Todos: {done} of {} completed", self.0.len())
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how many todos have this status.
    pub fn count_by_status(&self, status: TodoStatus) -> usize {
        self.0.iter().filter(|todo| todo.status == status).count()
    }

    /// Returns whether the list is not empty and every todo is completed.
    pub fn is_completed(&self) -> bool {
        !self.is_empty() && self.count_by_status(TodoStatus::Completed) == self.0.len()
    }
}

impl TryFrom<Vec<TodoItem>> for TodoList {
    type Error = TodoListError;

    fn try_from(todos: Vec<TodoItem>) -> Result<Self, TodoListError> {
        let problems = list_problems(&todos);
        if problems.is_empty() {
            Ok(Self(todos))
        } else {
            Err(TodoListError(problems))
        }
    }
}

impl From<TodoList> for Vec<TodoItem> {
    fn from(todos: TodoList) -> Self {
        todos.0
    }
}

fn parse_todo(place: usize, wanted: TodoInput) -> Result<TodoItem, String> {
    let named = wanted.id.filter(|id| !id.trim().is_empty());
    let id = named.unwrap_or_else(|| place.to_string());
    let status = wanted.status.parse().map_err(|_| {
        let known = TodoStatus::VARIANTS.join(", ");
        format!(
            "todo {id} has the status {:?}, known are {known}",
            wanted.status
        )
    })?;
    let priority = match &wanted.priority {
        None => TodoPriority::default(),
        Some(word) => word.parse().map_err(|_| {
            let known = TodoPriority::VARIANTS.join(", ");
            format!("todo {id} has the priority {word:?}, known are {known}")
        })?,
    };
    Ok(TodoItem {
        id,
        content: wanted.content,
        status,
        priority,
    })
}

/// Describes the problems of a list.
fn list_problems(todos: &[TodoItem]) -> Vec<String> {
    let mut faults = Vec::new();
    if todos.len() > MAX_TODOS {
        faults.push(format!(
            "it has {} todos, at most {MAX_TODOS} are kept",
            todos.len()
        ));
    }
    for (at, todo) in todos.iter().enumerate() {
        let n_chars = todo.content.chars().count();
        if todo.content.trim().is_empty() {
            faults.push(format!("todo {} says nothing", todo.id));
        }
        if n_chars > MAX_TODO_CHARS {
            faults.push(format!(
                "todo {} has {n_chars} characters, at most {MAX_TODO_CHARS} are kept",
                todo.id
            ));
        }
        if todos.iter().take(at).any(|other| other.id == todo.id) {
            faults.push(format!("two todos have the id {}", todo.id));
        }
    }
    let under_way: Vec<&str> = todos
        .iter()
        .filter(|todo| todo.status == TodoStatus::InProgress)
        .map(|todo| todo.id.as_str())
        .collect();
    if under_way.len() > 1 {
        faults.push(format!(
            "todos {} are in_progress, at most one may be",
            under_way.join(", ")
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(id: &str, status: &str) -> TodoInput {
        TodoInput {
            id: Some(id.to_owned()),
            content: format!("do {id}"),
            status: status.to_owned(),
            priority: None,
        }
    }

    fn check(list: &[(&str, &str)], expected: &str) {
        let list = list.iter().map(|(id, status)| wanted(id, status)).collect();
        let found = match TodoList::parse(list) {
            Ok(todos) => todos
                .items()
                .iter()
                .map(|todo| format!("{} {}", todo.id, todo.status.name()))
                .collect::<Vec<_>>()
                .join(", "),
            Err(refused) => refused.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn one_todo_may_be_in_progress() {
        check(
            &[("a", "completed"), ("b", "in_progress"), ("c", "pending")],
            "a completed, b in_progress, c pending",
        );
        check(&[], "");
    }

    #[test]
    fn a_refusal_names_every_todo_that_is_at_fault() {
        check(
            &[
                ("a", "in_progress"),
                ("b", "in_progress"),
                ("b", "pending"),
                ("c", "blocked"),
            ],
            "the list stays as it was: todo c has the status \"blocked\", known are pending, in_progress, completed; \
             two todos have the id b; todos a, b are in_progress, at most one may be",
        );
    }

    #[test]
    fn a_todo_without_an_id_is_called_by_its_place() {
        let todos = TodoList::parse(vec![TodoInput {
            id: None,
            priority: Some("high".to_owned()),
            ..wanted("", "pending")
        }])
        .unwrap();
        assert_eq!(todos.items()[0].id, "1");
        assert_eq!(todos.items()[0].priority, TodoPriority::High);
    }

    fn anything() -> impl Strategy<Value = Vec<TodoInput>> {
        let word = |known: &'static [&'static str]| {
            proptest::sample::select(known).prop_map(str::to_owned)
        };
        let one = (
            proptest::option::of("[a-c]{0,2}"),
            "[ a-z]{0,4}",
            word(&["pending", "in_progress", "completed", "cancelled", ""]),
            proptest::option::of(word(&["high", "medium", "low", "urgent"])),
        );
        let one = one.prop_map(|(id, content, status, priority)| TodoInput {
            id,
            content,
            status,
            priority,
        });
        proptest::collection::vec(one, 0..6)
    }

    proptest! {
        #[test]
        fn what_is_taken_keeps_the_rules_and_reads_back_the_same(list in anything()) {
            let Ok(todos) = TodoList::parse(list.clone()) else {
                return Ok(());
            };
            prop_assert!(todos.count_by_status(TodoStatus::InProgress) <= 1);
            prop_assert_eq!(todos.items().len(), list.len());
            for (todo, wanted) in todos.items().iter().zip(&list) {
                prop_assert_eq!(todo.status.name(), &wanted.status);
                prop_assert_eq!(&todo.content, &wanted.content);
                let priority = wanted.priority.as_deref().unwrap_or("medium");
                prop_assert_eq!(todo.priority.name(), priority);
            }
            let text = serde_json::to_string(&todos).unwrap();
            prop_assert_eq!(serde_json::from_str::<TodoList>(&text).unwrap(), todos);
        }

        #[test]
        fn a_list_on_disk_that_breaks_a_rule_is_not_read(n in 2_usize..5) {
            let todos: Vec<TodoItem> = (0..n).map(|at| TodoItem {
                id: at.to_string(),
                content: "do it".to_owned(),
                status: TodoStatus::InProgress,
                priority: TodoPriority::Low,
            }).collect();
            let text = serde_json::to_string(&todos).unwrap();
            prop_assert!(serde_json::from_str::<TodoList>(&text).is_err());
        }
    }
}
