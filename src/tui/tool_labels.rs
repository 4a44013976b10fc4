//! What agents do with the tools of the program itself, in words: their arguments are for it, not for people.
//!
//! Refuses to read arguments: a list of todos, a task, a document is told where it comes in.

/// The tool by which a CLI itself asks the user.
pub const ASK_USER_LABEL: &str = "asks you";

/// What each does.
const TOOL_LABELS: &[(&str, &str)] = &[
    ("ask_user", ASK_USER_LABEL),
    ("group_discuss", "has something discussed"),
    ("plan_enter", "asks to go back to planning"),
    ("plan_exit", "asks to hand the plan on"),
    ("plan_submit", "hands its plan over"),
    ("review_submit", "hands its review over"),
    ("session_manage", "looks after its tasks"),
    ("task", "gives a task"),
    ("todoread", "reads its todos"),
    ("todowrite", "writes its todos"),
];

/// What a call does, by what its CLI says it is about; `None` of every other tool's.
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
