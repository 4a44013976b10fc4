//! Words tool calls: what a call does, and what it acts on.

use crate::domain::event::{ToolCallDetail, ToolKind};

/// Describes a call, from the CLI's title of it and what its adapter knows of it: a verb, with the space after it, and
/// what it acts on, maybe empty. Events of earlier versions have no detail.
pub fn describe_tool_call(
    tool: &ToolKind,
    title: &str,
    detail: Option<&ToolCallDetail>,
) -> (String, String) {
    let detail = ToolCallDetail::of_event(detail, tool, title);
    if let Some(label) = detail.label() {
        return (label.to_owned(), String::new());
    }
    match tool {
        ToolKind::Command => ("$ ".to_owned(), title.to_owned()),
        ToolKind::Edit => {
            let paths = detail.edited_paths().iter().map(|path| short_path(path));
            let paths: Vec<String> = paths.collect();
            let subject = match paths.as_slice() {
                [] => title.to_owned(),
                paths => paths.join(", "),
            };
            ("edit ".to_owned(), subject)
        }
        ToolKind::Read => ("read ".to_owned(), short_path(title)),
        ToolKind::Search | ToolKind::Mcp | ToolKind::Other(_) => match tool.to_string() {
            tool if title.is_empty() || title == tool => (tool, String::new()),
            tool => (format!("{tool} "), title.to_owned()),
        },
    }
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
    fn a_call_is_a_verb_and_what_it_acts_on() {
        let draft = ".agent-collab/turns/ses_1/plan.md";
        let other = |name: &str| ToolKind::Other(name.to_owned());
        for (tool, title, wanted) in [
            (ToolKind::Command, "ls", "$ ls"),
            (ToolKind::Edit, "a, b", "edit a, b"),
            (ToolKind::Edit, "a, b, c, d", "edit a, b, c, d"),
            (ToolKind::Read, draft, "read plan.md (draft)"),
            (
                ToolKind::Read,
                "agent_collab.ask_user",
                "read agent_collab.ask_user",
            ),
            (ToolKind::Search, "x", "search x"),
            (ToolKind::Mcp, "mcp__agent_collab__task", "gives a task"),
            (other("WebFetch"), "WebFetch", "WebFetch"),
            (other("AskUserQuestion"), "Which?", "asks you"),
        ] {
            let (verb, subject) = describe_tool_call(&tool, title, None);
            assert_eq!(verb + &subject, wanted);
        }
    }
}
