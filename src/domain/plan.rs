//! Parses `plan.md`: its title, its numbered boxes, its test command and the hash to which an approval is bound.
//!
//! Works on any text without panicking. Does not touch files: the program's own ticks are made here as text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256 as Hasher};
use strum::IntoStaticStr;
use thiserror::Error;

use self::proof_lines::StepProofPlan;
use super::ids::Sha256;
use super::phase::Phase;
use crate::text::{clean_to_one_line, front_matter};

pub mod proof_lines;

/// One numbered box of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number as written, from 1.
    pub n: u32,
    /// Its text without number and box.
    pub text: String,
    /// Whether the box is ticked.
    pub done: bool,
    /// What its lines say about its proof and its files; nothing in plans of earlier versions.
    #[serde(default, skip_serializing_if = "StepProofPlan::is_empty")]
    pub proof: StepProofPlan,
    /// The hash of its whole block without the box; `None` in plans of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_sha256: Option<Sha256>,
}

/// What the program reads from a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The first heading, without a leading `Task:`; empty when there is none.
    pub title: String,
    /// The boxes in the order of the text; at least one.
    pub steps: Vec<Step>,
    /// The command that the planner proposes: of the first line `Test from here:` of a step, else of a `Test:` line.
    pub test_command: Option<String>,
    /// The hash to which an approval is bound: see [`approval_hash`].
    pub approval_sha256: Sha256,
}

impl Plan {
    /// Returns the hash of each step's block, by its number; nothing for plans of earlier versions.
    pub fn block_hashes(&self) -> BTreeMap<u32, Sha256> {
        let steps = self.steps.iter();
        let hashes = steps.filter_map(|step| Some((step.n, step.block_sha256.clone()?)));
        hashes.collect()
    }

    /// Returns the step with this number.
    pub fn step(&self, n: u32) -> Option<&Step> {
        self.steps.iter().find(|step| step.n == n)
    }

    /// Returns the steps before the one that says `Test from here:`; `None` where no step says so.
    pub fn steps_before_tests(&self) -> Option<&[Step]> {
        let mut steps = self.steps.iter();
        let first = steps.position(|step| step.proof.test_from_here.is_some());
        self.steps.get(..first?)
    }
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanParseError {
    /// It has no numbered box.
    #[error("the plan has no numbered box such as `1. [ ] text`")]
    NoCheckbox,
    /// Two boxes share a number, so a commit `[Step N]` would be ambiguous.
    #[error("two steps have number {0}")]
    DuplicateStep(u32),
    /// It is longer than the program accepts.
    #[error(
        "the plan has {0} bytes; the limit is {MAX_PLAN_BYTES}: shorten it, and put sources and data into separate files"
    )]
    TooLong(usize),
}

/// The maximum size of a plan in bytes: a user reads it before it is approved, and each prompt of its execution names
/// it.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;

/// The status of a plan, as written in the front matter of `plan.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PlanStatus {
    /// It is being written.
    Draft,
    /// It is being reviewed, or changed after a review.
    Reviewing,
    /// It is agreed on. The execution's progress is in the run's state only.
    Approved,
}

impl PlanStatus {
    /// Returns the status in a phase; `None` where the front matter is no longer updated.
    pub fn for_phase(phase: Phase) -> Option<Self> {
        match phase {
            Phase::Init | Phase::RefineGoal | Phase::WritePlan => Some(Self::Draft),
            Phase::Review | Phase::Respond => Some(Self::Reviewing),
            Phase::Approved | Phase::Execute | Phase::Done => Some(Self::Approved),
            Phase::Cancelled => None,
        }
    }

    /// Returns the word in the front matter.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Parses a plan.
///
/// # Errors
///
/// Returns an error when the text is too long, has no numbered box outside of code fences, or has two with the same
/// number.
pub fn parse(text: &str) -> Result<Plan, PlanParseError> {
    if text.len() > MAX_PLAN_BYTES {
        return Err(PlanParseError::TooLong(text.len()));
    }
    let body = front_matter::parse_document(text).body;
    let mut steps: Vec<Step> = Vec::new();
    let mut title = String::new();
    let mut test_command = None;
    for line in lines_outside_fences(body) {
        if let Some(found) = parse_step_line(line) {
            if steps.iter().any(|step| step.n == found.n) {
                return Err(PlanParseError::DuplicateStep(found.n));
            }
            steps.push(found);
        } else if title.is_empty() && line.starts_with("# ") {
            title = parse_title(line);
        } else if test_command.is_none() {
            test_command = parse_test_line(line);
        }
    }
    if steps.is_empty() {
        return Err(PlanParseError::NoCheckbox);
    }
    for (n, block) in split_blocks(body) {
        if let Some(step) = steps.iter_mut().find(|step| step.n == n) {
            step.proof = StepProofPlan::parse(&block);
            step.block_sha256 = Some(file_hash(block.trim_end().as_bytes()));
        }
    }
    let mut from_here = steps
        .iter()
        .filter_map(|step| step.proof.test_from_here.clone());
    Ok(Plan {
        title,
        test_command: from_here.next().or(test_command),
        steps,
        approval_sha256: approval_hash(text),
    })
}

/// Returns the whole block of step `n`: its line without number and box, and the lines that belong to it.
///
/// It ends at the next box, at a heading, at the `Test:` line, or where a line after a blank one is not indented.
pub fn step_block(text: &str, n: u32) -> Option<String> {
    let mut lines = front_matter::parse_document(text).body.lines();
    let mut fence = CodeFenceTracker::default();
    let first = lines.find_map(|line| {
        let found = (!fence.consume_line(line)).then(|| parse_step_line(line))?;
        found.filter(|step| step.n == n)
    })?;
    let mut block = first.text;
    let mut after_blank = false;
    for line in lines {
        let is_fenced = fence.consume_line(line);
        if !is_fenced && ends_block(line, after_blank) {
            break;
        }
        block.push('\n');
        block.push_str(line);
        after_blank = line.trim().is_empty();
    }
    let block = block.trim_end();
    Some(match fence.open {
        // An unclosed fence would also include the text after the block.
        Some((mark, length)) => format!("{block}\n{}", mark.to_string().repeat(length)),
        None => block.to_owned(),
    })
}

/// Splits a plan into the blocks of its steps, as [`step_block`] returns them, but with their first lines whole.
fn split_blocks(body: &str) -> Vec<(u32, String)> {
    let mut blocks: Vec<(u32, String)> = Vec::new();
    let mut fence = CodeFenceTracker::default();
    let (mut is_inside, mut after_blank) = (false, false);
    for line in body.lines() {
        let is_fenced = fence.consume_line(line);
        let step = if is_fenced {
            None
        } else {
            parse_step_line(line)
        };
        match step {
            Some(step) => {
                blocks.push((step.n, step.text));
                is_inside = true;
            }
            None => {
                is_inside &= is_fenced || !ends_block(line, after_blank);
                if let Some((_, block)) = blocks.last_mut().filter(|_| is_inside) {
                    block.push('\n');
                    block.push_str(line);
                }
            }
        }
        after_blank = line.trim().is_empty();
    }
    blocks
}

/// Returns the plan without the block of step `n`; `None` where it has no such step.
pub fn without_step_block(text: &str, n: u32) -> Option<String> {
    let n_lines = step_block(text, n)?.lines().count();
    let mut fence = CodeFenceTracker::default();
    let is_step = |line: &str| parse_step_line(line).is_some_and(|step| step.n == n);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = lines
        .iter()
        .position(|line| !fence.consume_line(line) && is_step(line))?;
    let rest = lines.iter().skip(first + n_lines);
    Some(lines.iter().take(first).chain(rest).copied().collect())
}

/// Adds the user's words to the block of step `n`, below its other lines; `None` where the plan has no such step.
pub fn amend_step(text: &str, n: u32, words: &str) -> Option<String> {
    let block = step_block(text, n)?;
    let rest = without_step_block(text, n)?;
    let mut lines = text.split_inclusive('\n').zip(rest.split_inclusive('\n'));
    let n_before = lines.position(|(line, other)| line != other);
    let n_before = n_before.unwrap_or_else(|| rest.split_inclusive('\n').count());
    // A block that ends in an open fence has one line less than its text.
    let n_lines = text.split_inclusive('\n').count();
    let until = n_lines.min(n_before + block.lines().count());
    let mut amended = String::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        amended.push_str(line);
        if at + 1 == until {
            if !line.ends_with('\n') {
                amended.push('\n');
            }
            amended.push_str(&format!("   Amended: {}\n", clean_to_one_line(words)));
        }
    }
    Some(amended)
}

/// Returns whether a line outside of code fences ends the block of the step above it.
pub(super) fn ends_block(line: &str, after_blank: bool) -> bool {
    let is_outside = after_blank && !line.trim().is_empty() && !line.starts_with([' ', '\t']);
    let is_other = line.starts_with('#') || parse_test_line(line).is_some();
    find_checkbox(line).is_some() || is_other || is_outside
}

/// Computes the hash to which an approval is bound: the SHA-256 of the body after the front matter, with LF line ends
/// and boxes normalized to `[ ]`, so that neither the program's ticks nor its front matter make an approval stale.
pub fn approval_hash(text: &str) -> Sha256 {
    let body = front_matter::parse_document(text).body;
    let normal = map_checkboxes(&body.replace("\r\n", "\n"), |_, _| ' ');
    file_hash(normal.as_bytes())
}

/// Computes the SHA-256 of a whole file, used to detect edit conflicts.
pub fn file_hash(bytes: &[u8]) -> Sha256 {
    let mut hex = String::with_capacity(64);
    for byte in Hasher::digest(bytes) {
        hex.push_str(&format!("{byte:02x}"));
    }
    Sha256::new(hex)
}

/// Sets every box of an agent's text to `[ ]`: only the program ticks boxes.
pub fn untick_all_steps(text: &str) -> String {
    map_checkboxes(text, |_, _| ' ')
}

/// Ticks the box of step `n` and leaves every other byte unchanged.
pub fn tick_step(text: &str, n: u32) -> String {
    map_checkboxes(text, |number, mark| if number == n { 'x' } else { mark })
}

/// Unticks the boxes of these steps and leaves every other byte unchanged.
pub fn untick_steps(text: &str, steps: &[u32]) -> String {
    map_checkboxes(
        text,
        |number, mark| if steps.contains(&number) { ' ' } else { mark },
    )
}

fn map_checkboxes(text: &str, mark_for: impl Fn(u32, char) -> char) -> String {
    let mut fence = CodeFenceTracker::default();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let inside = fence.consume_line(line);
        match (inside, find_checkbox(line)) {
            (false, Some(found)) => {
                out.push_str(&line[..found.mark_at]);
                out.push(mark_for(found.n, found.mark));
                out.push_str(&line[found.mark_at + 1..]);
            }
            (true, _) | (false, None) => out.push_str(line),
        }
    }
    out
}

struct StepCheckbox {
    n: u32,
    /// Byte offset of the mark between the brackets; the mark is one ASCII byte.
    mark_at: usize,
    mark: char,
}

/// Finds `N. [ ]` at the start of a line, indented by at most three spaces.
fn find_checkbox(line: &str) -> Option<StepCheckbox> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[indent.min(4)..];
    if indent > 3 {
        return None;
    }
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n: u32 = rest.get(..digits)?.parse().ok().filter(|n| *n > 0)?;
    let after = rest[digits..].strip_prefix(['.', ')'])?;
    let blanks = after.len() - after.trim_start_matches([' ', '\t']).len();
    let bracket = after[blanks..].strip_prefix('[').filter(|_| blanks > 0)?;
    let mark = bracket
        .chars()
        .next()
        .filter(|c| matches!(c, ' ' | 'x' | 'X'))?;
    let text = bracket[1..].strip_prefix(']')?;
    if !text.starts_with([' ', '\t']) || text.trim().is_empty() {
        return None;
    }
    Some(StepCheckbox {
        n,
        mark_at: indent + digits + 1 + blanks + 1,
        mark,
    })
}

/// Parses the step in a line, if there is one; does not check whether the line is in a code fence.
pub fn parse_step(line: &str) -> Option<Step> {
    parse_step_line(line)
}

fn parse_step_line(line: &str) -> Option<Step> {
    let found = find_checkbox(line)?;
    let text = line[found.mark_at + 2..].trim().to_owned();
    Some(Step {
        n: found.n,
        text,
        done: found.mark != ' ',
        proof: StepProofPlan::default(),
        block_sha256: None,
    })
}

/// Parses the title in a heading: its text without a leading `Task:`.
pub fn parse_title(line: &str) -> String {
    let title = line.trim_start_matches('#').trim();
    let bare = ["Task:", "Plan:", "任务：", "任务:"]
        .iter()
        .find_map(|p| title.strip_prefix(p));
    bare.unwrap_or(title).trim().to_owned()
}

/// Parses `Test: command`, also as a list item, in bold or with the command in backticks.
pub fn parse_test_line(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let rest = line
        .strip_prefix("Test:")
        .or_else(|| line.strip_prefix("Test:**"))?;
    let command = rest.trim_start_matches('*').trim().trim_matches('`').trim();
    (!command.is_empty()).then(|| command.to_owned())
}

fn lines_outside_fences(body: &str) -> impl Iterator<Item = &str> {
    let mut fence = CodeFenceTracker::default();
    body.lines().filter(move |line| !fence.consume_line(line))
}

/// Tracks fenced code blocks line by line.
#[derive(Default)]
pub(super) struct CodeFenceTracker {
    open: Option<(char, usize)>,
}

impl CodeFenceTracker {
    /// Returns whether the line belongs to a fenced block, including its fences.
    pub(super) fn consume_line(&mut self, line: &str) -> bool {
        let trimmed = line.trim_start_matches(' ').trim_end();
        let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |m| trimmed.chars().take_while(|c| *c == m).count());
        match (self.open, mark) {
            (None, Some(mark)) if length >= 3 => self.open = Some((mark, length)),
            (None, _) => return false,
            (Some((open, at_least)), Some(mark)) => {
                if mark == open && length >= at_least && trimmed.chars().count() == length {
                    self.open = None;
                }
            }
            (Some(_), None) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "---\nversion: 1\n---\n\n# Task: Add sums\n\n## Steps\n1. [ ] write add\n2. [x] test add\n\nTest: `sh run.sh`\n\n```\n3. [ ] not a step\n```\n";

    #[test]
    fn a_plan_gives_its_title_steps_and_test_command() {
        let plan = parse(PLAN).unwrap();
        assert_eq!(plan.title, "Add sums");
        let steps: Vec<_> = plan
            .steps
            .iter()
            .map(|s| (s.n, s.text.as_str(), s.done))
            .collect();
        assert_eq!(steps, [(1, "write add", false), (2, "test add", true)]);
        assert_eq!(plan.test_command.as_deref(), Some("sh run.sh"));
    }

    #[test]
    fn a_text_without_a_numbered_box_is_no_plan() {
        assert_eq!(
            parse("# T\n- [ ] unnumbered\n").unwrap_err(),
            PlanParseError::NoCheckbox
        );
        assert_eq!(parse("").unwrap_err(), PlanParseError::NoCheckbox);
        let long = |n: usize| format!("1. [ ] a\n{}", "x".repeat(n - 9));
        assert!(parse(&long(MAX_PLAN_BYTES)).is_ok());
        let refused = parse(&long(3 * MAX_PLAN_BYTES)).unwrap_err();
        assert_eq!(refused, PlanParseError::TooLong(3 * MAX_PLAN_BYTES));
        let said = refused.to_string();
        assert!(
            said.starts_with("the plan has 3145728 bytes; the limit is 1048576: shorten it"),
            "{said}"
        );
        assert_eq!(
            parse("1. [ ] a\n1. [ ] b\n").unwrap_err(),
            PlanParseError::DuplicateStep(1)
        );
    }

    #[test]
    fn ticks_and_front_matter_do_not_change_the_approval_hash() {
        let ticked = tick_step(PLAN, 1);
        assert!(ticked.contains("1. [x] write add"));
        assert_eq!(approval_hash(PLAN), approval_hash(&ticked));
        assert_eq!(
            approval_hash(PLAN),
            approval_hash(&PLAN.replace("version: 1", "version: 9"))
        );
        assert_eq!(
            approval_hash(PLAN),
            approval_hash(&PLAN.replace('\n', "\r\n"))
        );
        assert_ne!(
            approval_hash(PLAN),
            approval_hash(&PLAN.replace("write", "wrote"))
        );
    }

    #[test]
    fn a_step_is_its_whole_block_and_nothing_of_the_others() {
        let check = |text: &str, n: u32, expected: Option<&str>| {
            assert_eq!(step_block(text, n).as_deref(), expected, "{n} of {text:?}");
        };
        let plan = "---\nversion: 1\n---\n# Task\n\n1. [x] first\n   - with a file\n\n   and a paragraph\n\n2. [ ] second\n```sh\n3. [ ] no step\n# no heading\n```\n4. [ ] last\n\nNot of it.\n\n## End\n5. [ ] end\n";
        check(
            plan,
            1,
            Some("first\n   - with a file\n\n   and a paragraph"),
        );
        check(
            plan,
            2,
            Some("second\n```sh\n3. [ ] no step\n# no heading\n```"),
        );
        check(plan, 3, None);
        check(plan, 4, Some("last"));
        check(plan, 5, Some("end"));
        check("1. [ ] a\n   b\nTest: sh t.sh\n", 1, Some("a\n   b"));
        check("1. [ ] a\n````\nb\n", 1, Some("a\n````\nb\n````"));
    }

    #[test]
    fn only_boxes_outside_of_fences_are_unticked() {
        let text = "1. [x] a\n```\n2. [x] b\n```\n";
        assert_eq!(untick_all_steps(text), "1. [ ] a\n```\n2. [x] b\n```\n");
    }

    proptest::proptest! {
        #[test]
        fn reading_and_ticking_are_total(text in "[0-9\\. \\[\\]xX#\n`~a界-]{0,80}", n in 0u32..4) {
            let _ = parse(&text);
            let once = tick_step(&text, n);
            proptest::prop_assert_eq!(tick_step(&once, n), once.clone());
            proptest::prop_assert_eq!(approval_hash(&once), approval_hash(&text));
        }
    }
}
