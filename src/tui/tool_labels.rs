//! Labels for agents' calls of the program's own tools, whose raw arguments are not meant for people.
//!
//! The content of such a call, such as a todo list, is shown elsewhere.

/// The label of the tool with which a CLI asks the user.
pub const ASK_USER_LABEL: &str = "asks you";

/// The label of each tool.
const TOOL_LABELS: &[(&str, &str)] = &[
    ("ask_user", ASK_USER_LABEL),
    ("group_discuss", "starts a discussion"),
    ("plan_enter", "asks to go back to planning"),
    ("plan_exit", "asks to submit the plan"),
    ("plan_submit", "submits its plan"),
    ("review_submit", "submits its review"),
    ("session_manage", "manages its tasks"),
    ("task", "gives a task"),
    ("todoread", "reads its todos"),
    ("todowrite", "writes its todos"),
];

/// Returns the label of a call, from the CLI's description of it; `None` for any other tool.
pub fn tool_label(about: &str) -> Option<&'static str> {
    let call = about.split_whitespace().next()?;
    let name = ["agent_collab.", "mcp__agent_collab__"]
        .iter()
        .find_map(|prefix| call.strip_prefix(prefix))?;
    let found = TOOL_LABELS.iter().find(|(tool, _)| *tool == name);
    found.map(|(_, words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_programs_own_tools_are_told_in_words() {
        let codex = tool_label("agent_collab.todowrite {\"todos\":[{\"co…");
        assert_eq!(codex, Some("writes its todos"));
        assert_eq!(tool_label("mcp__agent_collab__task"), Some("gives a task"));
        assert_eq!(tool_label("agent_collab.ask_user {}"), Some(ASK_USER_LABEL));
        for other in [
            "",
            "todowrite",
            "other.todowrite {}",
            "agent_collab.nothing",
        ] {
            assert_eq!(tool_label(other), None, "{other}");
        }
    }
}
