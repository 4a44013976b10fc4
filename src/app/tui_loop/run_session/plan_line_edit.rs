//! Replaces one line of `plan.md` for the user, as an editor would; the engine treats it like any other edit by the
//! user.
//!
//! Does not overwrite a plan that differs from the one on the screen.

use std::path::Path;

use crate::store::{DocumentLock, WorkdirLayout, document_files};

/// Replaces a line (numbered from 1) if it still says `was`. Blocks: another program may have the plan locked for
/// seconds.
///
/// # Errors
/// Nothing was changed: what the user is told.
pub fn rewrite_plan_line(
    layout: &WorkdirLayout,
    line: u32,
    was: &str,
    text: &str,
) -> Result<(), String> {
    let name = &layout.names().plan;
    write_line(&layout.plan(), line, was, text)
        .map_err(|why| format!("{name} was not changed: {why}. You wrote: {text}"))
}

fn write_line(plan: &Path, line: u32, was: &str, text: &str) -> Result<(), String> {
    let lock = DocumentLock::acquire(plan).map_err(|error| error.to_string())?;
    let document = document_files::read_document(plan).map_err(|error| error.to_string())?;
    let document = document.ok_or("it is gone")?;
    let whole = String::from_utf8(document.bytes).map_err(|_| "it is not UTF-8")?;
    let changed = replace_line(&whole, line, was, text)
        .ok_or("the line has changed, or has characters that the screen does not show")?;
    document_files::replace_document(&lock, Some(&document.sha256), changed.as_bytes())
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// Returns the text with one line (numbered from 1) replaced, line ends kept; `None` if the line does not say `was`.
fn replace_line(whole: &str, line: u32, was: &str, text: &str) -> Option<String> {
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let mut lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let old = *lines.get(at)?;
    let kept = old.trim_end_matches(['\n', '\r']);
    if kept != was {
        return None;
    }
    let end = old.get(kept.len()..)?;
    let fresh = format!("{text}{end}");
    *lines.get_mut(at)? = &fresh;
    Some(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_anew_where_it_says_what_it_said() {
        let check = |whole: &str, line, was: &str, text: &str, wanted: Option<&str>| {
            assert_eq!(replace_line(whole, line, was, text).as_deref(), wanted);
        };
        check("a\nb\nc", 2, "b", "B", Some("a\nB\nc"));
        check(
            "a\r\nb\r\n",
            2,
            "b",
            "B\n   more",
            Some("a\r\nB\n   more\r\n"),
        );
        check("a\nb", 2, "b", "", Some("a\n"));
        check("a\nb", 2, "x", "B", None);
        check("a\nb", 3, "", "B", None);
        check("a\nb", 0, "a", "B", None);
    }

    #[test]
    fn a_plan_that_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("plan.md");
        std::fs::write(&plan, "1. [ ] one\n2. [ ] two\n").unwrap();
        write_line(&plan, 2, "2. [ ] two", "2. [ ] zwei").unwrap();
        let why = write_line(&plan, 2, "2. [ ] two", "2. [ ] deux").unwrap_err();
        assert!(why.starts_with("the line has changed"), "{why}");
        let text = std::fs::read_to_string(&plan).unwrap();
        assert_eq!(text, "1. [ ] one\n2. [ ] zwei\n");
    }
}
