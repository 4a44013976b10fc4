//! Words tool calls: what a call does, and what it acts on.
//!
//! Calls of the program's own tools have labels, because their raw arguments are not meant for people: the content of
//! such a call, such as a todo list, is shown elsewhere.

use crate::domain::event::ToolKind;

/// The tool that claude asks the user with.
const CLAUDE_ASK_TOOL: &str = "AskUserQuestion";
/// The label of the tool with which a CLI asks the user.
const ASK_USER_LABEL: &str = "asks you";

/// The label of each of the program's tools.
const TOOL_LABELS: &[(&str, &str)] = &[
    ("ask_user", ASK_USER_LABEL),
    ("group_discuss", "starts a discussion"),
    ("plan_enter", "asks to go back to planning"),
    ("plan_exit", "asks to submit the plan"),
    ("plan_submit", "submits its plan"),
    ("review_submit", "submits its review"),
    ("session_manage", "manages its tasks"),
    ("step_result", "reports the result of its step"),
    ("task", "gives a task"),
    ("todoread", "reads its todos"),
    ("todowrite", "writes its todos"),
];

/// The tools whose calls hand in what the run then shows.
const SUBMISSIONS: &[&str] = &["plan_submit", "review_submit", "step_result"];

/// Describes a call, from the CLI's title of it: a verb, with the space after it, and what it acts on, maybe empty.
pub fn describe_tool_call(tool: &ToolKind, title: &str) -> (String, String) {
    if let Some(label) = call_label(tool, title) {
        return (label.to_owned(), String::new());
    }
    match tool {
        ToolKind::Command => ("$ ".to_owned(), title.to_owned()),
        ToolKind::Edit => {
            let paths: Vec<String> = title.split(", ").map(short_path).collect();
            ("edit ".to_owned(), paths.join(", "))
        }
        ToolKind::Read => ("read ".to_owned(), short_path(title)),
        ToolKind::Search | ToolKind::Mcp | ToolKind::Other(_) => match tool.to_string() {
            tool if title.is_empty() || title == tool => (tool, String::new()),
            tool => (format!("{tool} "), title.to_owned()),
        },
    }
}

/// Returns the label of a call of the program's own tools, or of one that asks the user; `None` for any other.
pub fn call_label(tool: &ToolKind, title: &str) -> Option<&'static str> {
    match tool {
        ToolKind::Command | ToolKind::Edit => None,
        ToolKind::Other(name) if name == CLAUDE_ASK_TOOL => Some(ASK_USER_LABEL),
        ToolKind::Read | ToolKind::Search | ToolKind::Mcp | ToolKind::Other(_) => {
            own_tool_label(title)
        }
    }
}

/// Returns whether an agent asks the user with a call, from the CLI's title of it.
pub fn asks_user(tool: &ToolKind, title: &str) -> bool {
    match tool {
        ToolKind::Command | ToolKind::Edit => false,
        ToolKind::Other(name) if name == CLAUDE_ASK_TOOL => true,
        ToolKind::Read | ToolKind::Search | ToolKind::Mcp | ToolKind::Other(_) => {
            own_tool_name(title) == Some("ask_user")
        }
    }
}

/// Returns whether a call only hands in a plan, a review or the result of a step, from the CLI's title of it.
pub fn is_submission(title: &str) -> bool {
    own_tool_name(title).is_some_and(|name| SUBMISSIONS.contains(&name))
}

/// Returns the name of the program's own tool that is called, from the CLI's title of the call; `None` for any other.
fn own_tool_name(title: &str) -> Option<&str> {
    let call = title.split_whitespace().next()?;
    let prefixes = ["agent_collab.", "mcp__agent_collab__"];
    prefixes.iter().find_map(|prefix| call.strip_prefix(prefix))
}

/// Returns the label of a call of the program's own tools, from the CLI's title of it; `None` for any other.
fn own_tool_label(title: &str) -> Option<&'static str> {
    let name = own_tool_name(title)?;
    let found = TOOL_LABELS.iter().find(|(tool, _)| *tool == name);
    found.map(|(_, words)| *words)
}

/// Names paths: all of up to three, otherwise the first and the number of the others.
pub fn join_paths<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let paths: Vec<String> = paths.map(short_path).collect();
    match paths.as_slice() {
        [first, _, _, _, ..] => format!("{first} and {} more", paths.len() - 1),
        paths => paths.join(", "),
    }
}

/// Shortens a path for display: a document in a turn's folder is called a draft.
pub fn short_path(path: &str) -> String {
    let draft = path
        .split_once("/turns/")
        .and_then(|(_, rest)| rest.split_once('/'))
        .filter(|(session, name)| session.starts_with("ses_") && !name.is_empty());
    match draft {
        Some((_, name)) => format!("{name} (draft)"),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_programs_own_tools_are_told_in_words() {
        let codex = own_tool_label("agent_collab.todowrite {\"todos\":[{\"co…");
        assert_eq!(codex, Some("writes its todos"));
        assert_eq!(
            own_tool_label("mcp__agent_collab__task"),
            Some("gives a task")
        );
        assert_eq!(
            own_tool_label("agent_collab.ask_user {}"),
            Some(ASK_USER_LABEL)
        );
        for other in [
            "",
            "todowrite",
            "other.todowrite {}",
            "agent_collab.nothing",
        ] {
            assert_eq!(own_tool_label(other), None, "{other}");
        }
    }

    #[test]
    fn a_call_is_a_verb_and_what_it_acts_on() {
        let draft = ".agent-collab/turns/ses_1/plan.md";
        let other = |name: &str| ToolKind::Other(name.to_owned());
        for (tool, title, wanted) in [
            (ToolKind::Command, "ls", "$ ls"),
            (ToolKind::Edit, "a, b", "edit a, b"),
            (ToolKind::Edit, "a, b, c, d", "edit a, b, c, d"),
            (ToolKind::Read, draft, "read plan.md (draft)"),
            (ToolKind::Search, "x", "search x"),
            (ToolKind::Mcp, "mcp__agent_collab__task", "gives a task"),
            (other("WebFetch"), "WebFetch", "WebFetch"),
            (other("AskUserQuestion"), "Which?", "asks you"),
        ] {
            let (verb, subject) = describe_tool_call(&tool, title);
            assert_eq!(verb + &subject, wanted);
        }
    }
}
