//! Reads the inputs of `claude`'s tools: their kind, what they touch, and the file changes they carry.
//!
//! A diff made from an input shows only the part that the input contains, because the file itself is not read. It has no
//! line numbers, which would be those of the part.

use std::path::{Path, PathBuf};

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::adapter::{AdapterEvent, FileChange, FileChangeKind, TextChange, TextReplacement};
use crate::domain::event::{ToolCallDetail, ToolKind};
use crate::permission::call_reads::{SearchProgram, SearchScope};
use crate::permission::{AgentToolCall, SandboxReach};

/// Above this size a diff is written as "all old lines, all new lines", which needs no search for matches.
const MAX_DIFF_BYTES: usize = 256 * 1024;

/// The tool with which the agent asks the user.
pub const QUESTION_TOOL: &str = "AskUserQuestion";

/// The longest title, in characters.
const MAX_TITLE_CHARS: usize = 2_000;

/// Returns the kind of a tool.
pub fn tool_kind(tool: &str) -> ToolKind {
    match tool {
        "Bash" => ToolKind::Command,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Read" => ToolKind::Read,
        "Glob" | "Grep" | "LS" | "WebSearch" => ToolKind::Search,
        mcp if mcp.starts_with("mcp__") => ToolKind::Mcp,
        other => ToolKind::from(other.to_owned()),
    }
}

/// Returns one line that describes a call to the user.
pub fn call_title(tool: &str, input: &Value) -> String {
    let told = ["command", "file_path", "notebook_path", "pattern", "query"]
        .iter()
        .chain(&["url", "path", "description"])
        .find_map(|key| string_field(input, key));
    let whole = told.unwrap_or(tool);
    let first = whole.lines().next().unwrap_or_default();
    let short: String = first.chars().take(MAX_TITLE_CHARS).collect();
    if short.len() == whole.len() {
        short
    } else {
        format!("{short} …")
    }
}

/// Returns what is known of a call besides its kind and its title.
pub fn call_detail(tool: &str, input: &Value) -> ToolCallDetail {
    match tool_kind(tool) {
        ToolKind::Command => {
            ToolCallDetail::of_command(string_field(input, "command").unwrap_or_default())
        }
        ToolKind::Edit => {
            let path = edited_path(input).map(|path| path.to_string_lossy().into_owned());
            ToolCallDetail::Edit(path.into_iter().collect())
        }
        ToolKind::Mcp => ToolCallDetail::of_mcp_tool(tool),
        ToolKind::Other(_) if tool == QUESTION_TOOL => ToolCallDetail::UserQuestion,
        ToolKind::Read | ToolKind::Search | ToolKind::Other(_) => ToolCallDetail::Plain,
    }
}

/// Returns what a call that the CLI asks about would do; `None` if its input lacks required fields.
pub fn parse_call(tool: &str, input: &Value, cwd: &Path) -> Option<AgentToolCall> {
    Some(match tool {
        "Bash" => AgentToolCall::Command {
            line: string_field(input, "command")?.to_owned(),
            cwd: cwd.to_owned(),
            reach: SandboxReach::Unconfined,
        },
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => AgentToolCall::Edit {
            paths: vec![edited_path(input)?],
            reach: SandboxReach::Unconfined,
        },
        "Read" => AgentToolCall::Read {
            paths: vec![PathBuf::from(string_field(input, "file_path")?)],
            search: None,
        },
        "NotebookRead" => AgentToolCall::Read {
            paths: vec![PathBuf::from(string_field(input, "notebook_path")?)],
            search: None,
        },
        "Glob" | "Grep" | "LS" => AgentToolCall::Read {
            paths: searched_paths(tool, input, cwd),
            search: (tool == "Grep").then(|| grep_scope(input)),
        },
        other => AgentToolCall::Tool {
            name: other.to_owned(),
            input: input.to_string(),
        },
    })
}

/// Returns the folder that a search goes through, and the one that an absolute pattern starts with.
fn searched_paths(tool: &str, input: &Value, cwd: &Path) -> Vec<PathBuf> {
    let folder = string_field(input, "path").map_or_else(|| cwd.to_owned(), PathBuf::from);
    let pattern = match tool {
        "Glob" => string_field(input, "pattern"),
        _ => string_field(input, "glob"),
    };
    let leads = |pattern: &&str| pattern.starts_with(['/', '~']) || pattern.contains("..");
    let behind = pattern.filter(leads).map(|pattern| {
        let plain = pattern
            .split('/')
            .take_while(|part| !part.contains(['*', '?', '[', '{']));
        folder.join(plain.collect::<Vec<_>>().join("/"))
    });
    std::iter::once(folder.clone()).chain(behind).collect()
}

/// Returns what claude's Grep searches: hidden files too, but nothing that `.gitignore` excludes.
fn grep_scope(input: &Value) -> SearchScope {
    let mut scope = SearchScope {
        ignores: true,
        ..SearchScope::everything(SearchProgram::GrepTool)
    };
    let globs = string_field(input, "glob")
        .unwrap_or_default()
        .split_whitespace();
    let each = globs.flat_map(|glob| {
        if glob.contains('{') {
            vec![glob]
        } else {
            glob.split(',').collect()
        }
    });
    for glob in each.filter(|glob| !glob.is_empty()) {
        match glob.strip_prefix('!') {
            Some(left_out) => scope.excludes.push(left_out.to_owned()),
            None => scope.includes.push(glob.to_owned()),
        }
    }
    scope
}

/// Returns the changes that an editing call would make, as far as its input shows them.
pub fn proposed_changes(tool: &str, input: &Value) -> Vec<FileChange> {
    let Some(path) = edited_path(input) else {
        return Vec::new();
    };
    let (kind, diff) = match tool {
        "Write" => (
            FileChangeKind::Add,
            string_field(input, "content").map(str::to_owned),
        ),
        "Edit" => (FileChangeKind::Update, edit_diff(input)),
        "MultiEdit" => (FileChangeKind::Update, multi_edit_diff(input)),
        "NotebookEdit" => (FileChangeKind::Update, notebook_cell_diff(input)),
        _not_an_edit => return Vec::new(),
    };
    vec![FileChange::new(path, kind, diff.unwrap_or_default())]
}

/// As [`proposed_changes`], with what they do to the text of the file.
pub fn requested_changes(tool: &str, input: &Value) -> Vec<FileChange> {
    let mut changes = proposed_changes(tool, input);
    for change in &mut changes {
        change.text_change = match tool {
            "Write" => {
                string_field(input, "content").map(|text| TextChange::Whole(text.to_owned()))
            }
            "Edit" => replacement(input).map(|only| TextChange::Replaced(vec![only])),
            "MultiEdit" => all_replacements(input).map(TextChange::Replaced),
            _other => None,
        };
    }
    changes
}

fn replacement(input: &Value) -> Option<TextReplacement> {
    let old = string_field(input, "old_string")?.to_owned();
    let new = string_field(input, "new_string")?.to_owned();
    Some(TextReplacement {
        is_everywhere: input.get("replace_all").and_then(Value::as_bool) == Some(true),
        // Seen in claude 2.1.330: what is deleted does not leave an empty line.
        takes_line_end: new.is_empty() && !old.ends_with('\n'),
        old,
        new,
    })
}

fn all_replacements(input: &Value) -> Option<Vec<TextReplacement>> {
    let edits = input.get("edits")?.as_array()?;
    edits.iter().map(replacement).collect()
}

/// Returns the change that was made, with its real position in the file, if the tool's result contains it.
pub fn applied_changes(result: &Value) -> Vec<FileChange> {
    let Some(path) = string_field(result, "filePath") else {
        return Vec::new();
    };
    let hunks = result.get("structuredPatch").and_then(Value::as_array);
    let diff: String = hunks.into_iter().flatten().filter_map(hunk_diff).collect();
    if diff.is_empty() {
        return Vec::new();
    }
    vec![FileChange::new(
        PathBuf::from(path),
        FileChangeKind::Update,
        diff,
    )]
}

/// What claude reports for a command that printed nothing.
const NO_OUTPUT: &str = "(Bash completed with no output)";

/// Returns what a command printed, without the words that claude puts in place of nothing or before a failure.
pub fn command_output(output: &str) -> &str {
    let failed = output.strip_prefix("Exit code ").map(|rest| {
        let (_, printed) = rest.split_once('\n').unwrap_or((rest, ""));
        printed
    });
    match failed.unwrap_or(output) {
        NO_OUTPUT => "",
        printed => printed,
    }
}

/// What claude answers to a call of a tool that does not exist or that it was started without.
const NO_SUCH_TOOL: &str = "<tool_use_error>Error: No such tool available: ";

/// Builds the event for the output of a call that failed because there is no such tool.
pub fn parse_missing_tool(output: &str) -> Option<AdapterEvent> {
    let rest = output.trim_start().strip_prefix(NO_SUCH_TOOL)?;
    let ends = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-');
    let tool = rest.split(ends).next().filter(|tool| !tool.is_empty())?;
    Some(AdapterEvent::ToolBlocked {
        tool: tool.to_owned(),
        reason: "claude does not have it here".to_owned(),
    })
}

fn hunk_diff(hunk: &Value) -> Option<String> {
    let number = |key| hunk.get(key).and_then(Value::as_u64);
    let mut diff = format!(
        "@@ -{},{} +{},{} @@\n",
        number("oldStart")?,
        number("oldLines")?,
        number("newStart")?,
        number("newLines")?
    );
    for line in hunk.get("lines")?.as_array()? {
        diff.push_str(line.as_str()?);
        diff.push('\n');
    }
    Some(diff)
}

fn edited_path(input: &Value) -> Option<PathBuf> {
    string_field(input, "file_path")
        .or_else(|| string_field(input, "notebook_path"))
        .map(PathBuf::from)
}

fn edit_diff(input: &Value) -> Option<String> {
    Some(line_diff(
        string_field(input, "old_string")?,
        string_field(input, "new_string")?,
    ))
}

fn multi_edit_diff(input: &Value) -> Option<String> {
    let edits = input.get("edits")?.as_array()?;
    Some(edits.iter().filter_map(edit_diff).collect())
}

fn notebook_cell_diff(input: &Value) -> Option<String> {
    string_field(input, "new_source").map(|source| line_diff("", source))
}

fn line_diff(old: &str, new: &str) -> String {
    let line = |sign: &str, line: &str| format!("{sign}{}\n", line.trim_end_matches('\n'));
    if old.len() + new.len() > MAX_DIFF_BYTES {
        let removed = old.lines().map(|text| line("-", text));
        let added = new.lines().map(|text| line("+", text));
        return removed.chain(added).collect();
    }
    let diff = TextDiff::from_lines(old, new);
    let changes = diff.iter_all_changes().map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
            ChangeTag::Equal => " ",
        };
        line(sign, change.value())
    });
    changes.collect()
}

fn string_field<'a>(input: &'a Value, key: &str) -> Option<&'a str> {
    input.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: &Value) -> String {
        let shown = proposed_changes(tool, input).into_iter().map(|change| {
            format!(
                "{:?} {}\n{}",
                change.kind,
                change.path.display(),
                change.diff
            )
        });
        shown.collect()
    }

    #[test]
    fn a_call_is_known_by_its_tool_and_not_by_its_title() {
        use crate::domain::own_tool::OwnTool;
        let own = "mcp__agent_collab__ask_user";
        let description = json!({"description": "explore", "file_path": "a, b"});
        for (tool, wanted) in [
            (own, ToolCallDetail::OwnTool(OwnTool::AskUser)),
            ("mcp__agent_collab__nothing", ToolCallDetail::Plain),
            ("mcp__notes__ask_user", ToolCallDetail::Plain),
            (QUESTION_TOOL, ToolCallDetail::UserQuestion),
            ("Edit", ToolCallDetail::Edit(vec!["a, b".to_owned()])),
            ("Read", ToolCallDetail::Plain),
        ] {
            assert_eq!(call_detail(tool, &description), wanted, "{tool}");
        }
        let read = json!({ "file_path": own });
        assert_eq!(call_detail("Read", &read), ToolCallDetail::Plain);
    }

    #[test]
    fn an_edit_shows_the_lines_it_replaces() {
        let input = json!({"file_path": "/r/a.py", "old_string": "x = 1\ny = 2", "new_string": "x = 1\ny = 3"});
        insta::assert_snapshot!(check("Edit", &input), @r#"
        Update /r/a.py
         x = 1
        -y = 2
        +y = 3
        "#);
    }

    #[test]
    fn a_write_shows_the_new_text() {
        insta::assert_snapshot!(check("Write", &json!({"file_path": "/r/a", "content": "hi\n"})), @r#"
        Add /r/a
        hi
        "#);
    }

    #[test]
    fn many_edits_show_each_of_them() {
        let input = json!({"file_path": "/r/a", "edits": [
            {"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]});
        insta::assert_snapshot!(check("MultiEdit", &input), @r#"
        Update /r/a
        -a
        +b
        -c
        +d
        "#);
    }

    #[test]
    fn a_cell_of_a_notebook_shows_its_new_source() {
        let input = json!({"notebook_path": "/r/n.ipynb", "new_source": "print(1)"});
        insta::assert_snapshot!(check("NotebookEdit", &input), @r#"
        Update /r/n.ipynb
        +print(1)
        "#);
    }

    #[test]
    fn an_input_without_a_path_changes_nothing_that_could_be_shown() {
        assert_eq!(check("Edit", &json!({"old_string": "a"})), "");
        assert_eq!(check("Write", &json!(null)), "");
    }

    #[test]
    fn a_call_of_a_tool_that_is_not_there_is_told_from_one_that_failed() {
        let told = |output: &str| match parse_missing_tool(output) {
            Some(AdapterEvent::ToolBlocked { tool, .. }) => tool,
            other => format!("{other:?}"),
        };
        let error = "<tool_use_error>Error: No such tool available: ";
        assert_eq!(told(&format!("{error}Task</tool_use_error>")), "Task");
        let long =
            format!("{error}mcp__notes__look. mcp__notes__look is no tool.</tool_use_error>");
        assert_eq!(told(&long), "mcp__notes__look");
        assert_eq!(told(error), "None");
        assert_eq!(told("echo: No such tool available: Task"), "None");
    }

    #[test]
    fn a_title_is_one_line() {
        let input = json!({"command": "cat <<X\nhi\nX"});
        assert_eq!(call_title("Bash", &input), "cat <<X …");
        assert_eq!(call_title("Bash", &json!({"command": "ls"})), "ls");
        assert_eq!(call_title("Nameless", &json!({})), "Nameless");
    }

    #[test]
    fn a_call_without_what_it_needs_is_none() {
        assert_eq!(
            parse_call("Bash", &json!({"cmd": "ls"}), Path::new("/r")),
            None
        );
        assert_eq!(parse_call("Write", &json!({}), Path::new("/r")), None);
    }
}
