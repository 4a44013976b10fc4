//! Parses what codex prints on standard error for a call of a tool that it does not have: it reports this nowhere else.

use crate::adapter::AdapterEvent;
use crate::text::clean_to_one_line;

/// The text before the tool's name. Such a call reaches no hook and is not an item.
const UNSUPPORTED_CALL_PREFIX: &str = "codex_core::tools::router: error=unsupported call: ";

/// The prefix of this program's tools there; the tool's name follows directly.
const OWN_TOOL_PREFIX: &str = "mcp__agent_collab";

/// Parses such a line, which may contain colour codes.
pub(super) fn parse_unsupported_call(line: &str) -> Option<AdapterEvent> {
    let line = clean_to_one_line(line);
    let (_, tool) = line.split_once(UNSUPPORTED_CALL_PREFIX)?;
    let tool = tool.trim();
    let of_ours = tool
        .strip_prefix(OWN_TOOL_PREFIX)
        .filter(|rest| !rest.is_empty());
    (!tool.is_empty()).then(|| AdapterEvent::ToolBlocked {
        tool: match of_ours {
            Some(name) => format!("{OWN_TOOL_PREFIX}__{}", name.trim_start_matches('_')),
            None => tool.to_owned(),
        },
        reason: "codex does not have it here".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::own_tool::own_tool_name;

    #[test]
    fn a_call_of_a_tool_that_is_not_there_is_read_and_no_other_line() {
        // A line as codex 0.169.0 prints it.
        let said = "2026-11-25T19:32:25.001770Z ERROR codex_core::tools::router: error=unsupported call: spawn_agent";
        let blocked = AdapterEvent::ToolBlocked {
            tool: "spawn_agent".to_owned(),
            reason: "codex does not have it here".to_owned(),
        };
        assert_eq!(parse_unsupported_call(said), Some(blocked.clone()));
        let coloured = said.replace(
            "codex_core::tools::router: ",
            "\u{1b}[2mcodex_core::tools::router\u{1b}[0m\u{1b}[2m:\u{1b}[0m ",
        );
        assert_eq!(parse_unsupported_call(&coloured), Some(blocked));
        for ours in ["plan_submit", "__plan_submit"] {
            let said = said.replace("spawn_agent", &format!("mcp__agent_collab{ours}"));
            let Some(AdapterEvent::ToolBlocked { tool, .. }) = parse_unsupported_call(&said) else {
                panic!("{said} is read");
            };
            assert_eq!(own_tool_name(&tool), Some("plan_submit"));
        }
        let failed = "2026-11-25T19:32:25Z ERROR codex_core::tools::router: error=exec_command failed: unsupported call";
        for other in [
            failed,
            "unsupported call: spawn_agent",
            UNSUPPORTED_CALL_PREFIX,
            "",
        ] {
            assert_eq!(parse_unsupported_call(other), None, "{other}");
        }
    }
}
