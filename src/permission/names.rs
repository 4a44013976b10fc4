//! What tools are called: the names of the CLIs and of other programs, and the permission each of them needs.
//!
//! It refuses to know inputs. A name that is not listed is its own permission.

/// What the target of a permission is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A shell command line.
    Command,
    /// A path.
    Path,
    /// Neither: a pattern, an address, a name, a text.
    Text,
}

/// Permission, the sort of its target, the names of tools that need it.
#[rustfmt::skip]
const TOOLS: &[(&str, Sort, &[&str])] = &[
    ("bash", Sort::Command, &["shell", "Bash", "Shell", "exec_command", "local_shell", "shell_command", "run_shell_command", "terminal"]),
    ("edit", Sort::Path, &["write", "patch", "apply_patch", "multiedit", "multi_edit", "notebookedit", "write_file", "edit_file", "str_replace", "replace",
        "Edit", "Write", "MultiEdit", "NotebookEdit", "Patch", "ApplyPatch"]),
    ("read", Sort::Path, &["view", "read_file", "view_image", "Read", "NotebookRead"]),
    ("list", Sort::Path, &["ls", "list_dir", "list_directory", "LS", "List"]),
    ("external_directory", Sort::Path, &[]),
    ("glob", Sort::Text, &["Glob"]),
    ("grep", Sort::Text, &["search", "Grep"]),
    ("webfetch", Sort::Text, &["web_fetch", "fetch", "WebFetch"]),
    ("websearch", Sort::Text, &["web_search", "WebSearch"]),
    ("task", Sort::Text, &["Task", "Agent"]),
    ("todoread", Sort::Text, &["TodoRead"]),
    ("todowrite", Sort::Text, &["TodoWrite", "update_plan"]),
    ("question", Sort::Text, &["AskUserQuestion", "request_user_input", "ask_user"]),
    ("plan_exit", Sort::Text, &["ExitPlanMode"]),
    ("plan_enter", Sort::Text, &["EnterPlanMode"]),
    ("plan_submit", Sort::Text, &[]),
    ("review_submit", Sort::Text, &[]),
];

/// Permissions of this program's own tools, and of floors.
const OTHERS: &[&str] = &[
    "doom_loop",
    "group_discuss",
    "group_discuss_context",
    "session_manage",
    "request_permissions",
    "network",
];

/// Returns the permission that a tool needs; a name that is not listed is its own.
pub fn permission_of(tool: &str) -> &str {
    TOOLS
        .iter()
        .find(|(_, _, aliases)| aliases.contains(&tool))
        .map_or(tool, |(permission, ..)| permission)
}

/// Returns what the target of a tool, or of a permission, is.
pub fn sort_of(tool: &str) -> Sort {
    let permission = permission_of(tool);
    TOOLS
        .iter()
        .find(|(name, ..)| *name == permission)
        .map_or(Sort::Text, |(_, sort, _)| *sort)
}

/// Lists the permissions that are known by name; those of foreign MCP servers are not.
pub fn known() -> impl Iterator<Item = &'static str> {
    TOOLS
        .iter()
        .map(|(name, ..)| *name)
        .chain(OTHERS.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_needs_one_permission() {
        for (tool, permission, sort) in [
            ("Bash", "bash", Sort::Command),
            ("shell", "bash", Sort::Command),
            ("write", "edit", Sort::Path),
            ("apply_patch", "edit", Sort::Path),
            ("edit", "edit", Sort::Path),
            ("Read", "read", Sort::Path),
            ("WebFetch", "webfetch", Sort::Text),
            ("mcp__server__tool", "mcp__server__tool", Sort::Text),
            ("", "", Sort::Text),
        ] {
            assert_eq!((permission_of(tool), sort_of(tool)), (permission, sort));
        }
    }

    #[test]
    fn no_name_is_listed_twice() {
        let mut names: Vec<&str> = TOOLS
            .iter()
            .flat_map(|(_, _, aliases)| aliases.iter().copied())
            .chain(known())
            .collect();
        let n_names = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_names);
    }
}
