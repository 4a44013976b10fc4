//! Reads the full output of a tool from the raw streams when the user wants to see it. Blocks.
//!
//! Events contain only the beginning and the end of a long output. The output is cleaned before it is returned, and
//! is not stored.

use tokio_util::sync::CancellationToken;

use crate::adapter::parse_tool_output;
use crate::store::{StoreError, WorkdirLayout, raw_stream};
use crate::text::{clean_text, truncate};

/// Returns the whole cleaned output of a call that contains this part; `None` if the disk no longer has it, and
/// soon after `cancel`.
///
/// # Errors
/// A raw stream exists and cannot be read.
pub fn load_tool_output(
    layout: &WorkdirLayout,
    call: &str,
    part: &str,
    cancel: &CancellationToken,
) -> Result<Option<String>, StoreError> {
    // Whitespace on the screen differs from that in the output, and a long line may be cut at its end.
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let known = part.lines().map(plain).rfind(|line| !line.is_empty());
    let known = known.unwrap_or_default();
    let known = known.trim_end_matches(truncate::ELLIPSIS);
    let is_wanted = || !cancel.is_cancelled();
    raw_stream::find_last_match(layout, call, is_wanted, |line| {
        let output = clean_text(&parse_tool_output(call, line)?);
        // A CLI may use the same id for another call.
        let is_it =
            known.is_empty() || output.lines().rev().any(|line| plain(line).contains(known));
        is_it.then_some(output)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::store::WorkdirNames;

    /// Checks what is found in a stream of one session when this part is known.
    fn check(lines: &[String], call: &str, part: &str, wanted: Option<&str>) {
        let root = tempfile::tempdir().unwrap();
        let layout = WorkdirLayout::new(root.path(), WorkdirNames::default()).unwrap();
        let cancel = CancellationToken::new();
        let found = || load_tool_output(&layout, call, part, &cancel).unwrap();
        assert_eq!(found(), None);
        let folder = layout.sessions().join("ses_a");
        fs::create_dir_all(&folder).unwrap();
        let (old, new) = lines.split_at(lines.len() / 2);
        fs::write(folder.join("raw.jsonl.1"), old.join("\n")).unwrap();
        fs::write(folder.join("raw.jsonl"), new.join("\n")).unwrap();
        assert_eq!(found().as_deref(), wanted);
        cancel.cancel();
        assert_eq!(found(), None, "nobody waits for it");
    }

    fn codex(call: &str, output: &str) -> String {
        let item = json!({"type": "commandExecution", "id": call, "command": "seq 9", "status": "completed",
            "aggregatedOutput": output, "exitCode": 0});
        let params = json!({"item": item, "threadId": "t", "turnId": "u"});
        json!({"from": "cli", "frame": {"method": "item/completed", "params": params}}).to_string()
    }

    fn claude(call: &str, output: &str) -> String {
        let block = json!({"tool_use_id": call, "type": "tool_result", "content": output, "is_error": false});
        json!({"from": "cli", "frame": {"type": "user", "message": {"role": "user", "content": [block]}}}).to_string()
    }

    #[test]
    fn a_call_is_found_in_the_stream_of_each_cli_and_cleaned() {
        let long: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
        for told in [codex, claude] {
            let lines = [
                told("c1", "other"),
                told("c2", &long),
                "no frame of c2".to_owned(),
            ];
            check(&lines, "c2", "line 4999\nline 5000", Some(&long));
            check(&lines, "c3", "", None);
            let lines = [told("c1", "a\u{1b}[31m b\tc"), told("c2", "")];
            check(&lines, "c1", "a b    c", Some("a b\tc"));
        }
    }

    #[test]
    fn another_call_of_the_same_name_is_not_taken_for_it() {
        let lines = [codex("c1", "one\ntwo"), codex("c1", "three")];
        check(&lines, "c1", "two", Some("one\ntwo"));
        check(&lines, "c1", "thr…", Some("three"));
        check(&lines, "c1", "four", None);
        // What was sent to the CLI is not the CLI's output.
        let said = codex("c1", "one").replace("\"cli\"", "\"us\"");
        check(&[said], "c1", "one", None);
    }
}
