//! The preview of the next prompt, reduced to the lines that earlier prompts did not contain.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::text_wrap::clean_for_display;

/// How many lines are remembered; after that, some lines count as new again.
const MAX_REMEMBERED_LINES: usize = 50_000;

/// The prompt of a turn that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPreview {
    /// The whole prompt, safe to draw.
    pub full_text: String,
    /// The lines that no earlier prompt contained, with their headings.
    pub new_lines: Vec<String>,
    /// Whether no prompt has been sent before.
    pub is_first: bool,
}

/// The hashes of the lines of sent prompts.
#[derive(Debug, Default)]
pub struct PromptHistory(BTreeSet<u64>);

impl PromptHistory {
    /// Finds the new lines of a prompt.
    pub fn preview_prompt(&self, prompt: &str) -> PromptPreview {
        let whole = clean_for_display(prompt);
        let is_first = self.0.is_empty();
        let fresh = if is_first {
            prompt_body(&whole)
        } else {
            self.new_lines(&whole)
        };
        PromptPreview {
            full_text: whole,
            new_lines: fresh,
            is_first,
        }
    }

    /// Records a prompt as sent.
    pub fn record_prompt(&mut self, preview: &PromptPreview) {
        if self.0.len() > MAX_REMEMBERED_LINES {
            self.0.clear();
        }
        self.0.extend(preview.full_text.lines().map(hash_line));
    }

    fn new_lines(&self, whole: &str) -> Vec<String> {
        let mut fresh = Vec::new();
        let (mut heading, mut lead) = (None, None);
        for line in strip_front_matter(whole).filter(|line| !line.trim().is_empty()) {
            let is_new = !self.0.contains(&hash_line(line));
            if line.starts_with('#') {
                (heading, lead) = (Some(line), None);
            } else if is_new && !is_prompt_head(line) {
                let above = [heading.take(), lead.take()];
                fresh.extend(above.into_iter().flatten().map(str::to_owned));
                fresh.push(line.to_owned());
            } else if line.trim_end().ends_with(':') {
                lead = Some(line);
            } else if !is_list_item(line) {
                lead = None;
            }
        }
        fresh
    }
}

/// Returns the lines without the front matter of quoted documents: hashes and versions do not help people.
fn strip_front_matter(whole: &str) -> impl Iterator<Item = &str> {
    let (mut before, mut is_head) = ("", false);
    whole.lines().filter(move |line| {
        let is_fence = line.trim_end() == "---";
        let was_head = is_head;
        is_head = match (is_head, is_fence) {
            (true, true) => false,
            (false, true) => is_quote_opening(before),
            (is_head, false) => is_head,
        };
        before = line;
        !was_head && !is_head
    })
}

/// Returns whether a line opens a quoted text.
fn is_quote_opening(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns whether a line is a list item or continues one.
fn is_list_item(line: &str) -> bool {
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = text.len() < line.len() && text.starts_with(['.', ')']);
    is_numbered || line.starts_with(['-', '*', '+', ' ', '\t'])
}

/// How the standard first lines of the program's prompts start.
const PROMPT_HEAD_PREFIXES: [&str; 3] =
    ["[agent-collab ", "You are the ", "Work in the repository "];

/// Returns a prompt without front matter and standard first lines.
fn prompt_body(whole: &str) -> Vec<String> {
    strip_front_matter(whole)
        .filter(|line| !line.trim().is_empty() && !is_prompt_head(line))
        .map(str::to_owned)
        .collect()
}

fn is_prompt_head(line: &str) -> bool {
    PROMPT_HEAD_PREFIXES
        .iter()
        .any(|head| line.starts_with(head))
}

fn hash_line(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_in_a_prompt_before_is_not_new() {
        let mut sent = PromptHistory::default();
        let first = sent.preview_prompt(
            "You are the planner.\nThis is review 1.\n\n## Goal\nsum\n\n## How\nwell",
        );
        assert_eq!(
            first.new_lines,
            ["This is review 1.", "## Goal", "sum", "## How", "well"]
        );
        assert!(first.is_first);
        // Previewing the same prompt again shows the same new lines.
        assert_eq!(sent.preview_prompt(&first.full_text), first);
        sent.record_prompt(&first);
        let next = sent.preview_prompt(
            "You are the planner.\n\n## Goal\nsum\n\n## The review\n1. 空 🎉\n\n## How\nwell",
        );
        assert_eq!(next.new_lines, ["## The review", "1. 空 🎉"]);
    }

    #[test]
    fn new_items_stand_below_the_line_that_leads_to_them() {
        let mut sent = PromptHistory::default();
        sent.record_prompt(
            &sent.preview_prompt("## Goal\nsum\n\nDone when:\n- it adds\n\nNote:\nno more"),
        );
        let next = sent.preview_prompt(
            "## Goal\nsum\n\nDone when:\n- it adds\n- it is tested\n\nNote:\nno more\nnew",
        );
        let fresh = ["## Goal", "Done when:", "- it is tested", "new"];
        assert_eq!(next.new_lines, fresh);
    }

    #[test]
    fn the_head_of_a_quoted_document_is_not_told() {
        let mut sent = PromptHistory::default();
        sent.record_prompt(&sent.preview_prompt("## Goal\nsum"));
        let plan = "````markdown\n---\nversion: 2\nplan_sha256: ab\n---\n1. [ ] add\n\n---\nafter a rule\n````";
        let next = sent.preview_prompt(&format!("## The plan\n{plan}"));
        let fresh = [
            "## The plan",
            "````markdown",
            "1. [ ] add",
            "---",
            "after a rule",
            "````",
        ];
        assert_eq!(next.new_lines, fresh);
    }
}
