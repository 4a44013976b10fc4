//! Maps the tool names of the CLIs and of other programs to the permission that each tool needs.
//!
//! A name that is not listed is its own permission. Tool inputs are read elsewhere.

/// What kind of target a permission has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A shell command line.
    Command,
    Path,
    /// Neither: a pattern, an address, a name, a text.
    Text,
}

/// The permission, the kind of its target, and the tools that need it.
#[rustfmt::skip]
const TOOL_PERMISSIONS: &[(&str, TargetKind, &[&str])] = &[
    ("bash", TargetKind::Command, &["shell", "Bash", "Shell", "exec_command", "local_shell", "shell_command", "run_shell_command", "terminal"]),
    ("edit", TargetKind::Path, &["write", "patch", "apply_patch", "multiedit", "multi_edit", "notebookedit", "write_file", "edit_file", "str_replace", "replace",
        "Edit", "Write", "MultiEdit", "NotebookEdit", "Patch", "ApplyPatch"]),
    ("read", TargetKind::Path, &["view", "read_file", "view_image", "Read", "NotebookRead"]),
    ("list", TargetKind::Path, &["ls", "list_dir", "list_directory", "LS", "List"]),
    ("external_directory", TargetKind::Path, &[]),
    ("glob", TargetKind::Text, &["Glob"]),
    ("grep", TargetKind::Text, &["search", "Grep"]),
    ("webfetch", TargetKind::Text, &["web_fetch", "fetch", "WebFetch"]),
    ("websearch", TargetKind::Text, &["web_search", "WebSearch"]),
    ("task", TargetKind::Text, &["Task", "Agent"]),
    ("todoread", TargetKind::Text, &["TodoRead"]),
    ("todowrite", TargetKind::Text, &["TodoWrite", "update_plan"]),
    ("question", TargetKind::Text, &["AskUserQuestion", "request_user_input", "ask_user"]),
    ("plan_exit", TargetKind::Text, &["ExitPlanMode"]),
    ("plan_enter", TargetKind::Text, &["EnterPlanMode"]),
    ("plan_submit", TargetKind::Text, &[]),
    ("review_submit", TargetKind::Text, &[]),
    ("step_result", TargetKind::Text, &[]),
];

/// Permissions of this program's own tools, and of floors.
const OTHER_PERMISSIONS: &[&str] = &[
    "doom_loop",
    "group_discuss",
    "group_discuss_context",
    "session_manage",
    "request_permissions",
    "network",
];

/// Returns the permission that a tool needs; a name that is not listed is its own permission.
pub fn permission_for_tool(tool: &str) -> &str {
    TOOL_PERMISSIONS
        .iter()
        .find(|(_, _, aliases)| aliases.contains(&tool))
        .map_or(tool, |(permission, ..)| permission)
}

/// Returns what kind of target a tool or a permission has.
pub fn target_kind_for_tool(tool: &str) -> TargetKind {
    let permission = permission_for_tool(tool);
    TOOL_PERMISSIONS
        .iter()
        .find(|(name, ..)| *name == permission)
        .map_or(TargetKind::Text, |(_, sort, _)| *sort)
}

/// Lists the permissions with a known name; those of other MCP servers are not included.
pub fn known_permissions() -> impl Iterator<Item = &'static str> {
    TOOL_PERMISSIONS
        .iter()
        .map(|(name, ..)| *name)
        .chain(OTHER_PERMISSIONS.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_needs_one_permission() {
        for (tool, permission, sort) in [
            ("Bash", "bash", TargetKind::Command),
            ("shell", "bash", TargetKind::Command),
            ("write", "edit", TargetKind::Path),
            ("apply_patch", "edit", TargetKind::Path),
            ("edit", "edit", TargetKind::Path),
            ("Read", "read", TargetKind::Path),
            ("WebFetch", "webfetch", TargetKind::Text),
            ("mcp__server__tool", "mcp__server__tool", TargetKind::Text),
            ("", "", TargetKind::Text),
        ] {
            assert_eq!(
                (permission_for_tool(tool), target_kind_for_tool(tool)),
                (permission, sort)
            );
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        let mut names: Vec<&str> = TOOL_PERMISSIONS
            .iter()
            .flat_map(|(_, _, aliases)| aliases.iter().copied())
            .chain(known_permissions())
            .collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }
}
