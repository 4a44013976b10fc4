//! Parses a plan file of the user's, with which a run begins at the review.

use thiserror::Error;

use super::plan::{self, CodeFenceTracker, MAX_PLAN_BYTES, Plan, PlanParseError};
use crate::text::{clean_to_one_line, front_matter};

/// A plan file of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPlan {
    /// The file as the user named it.
    pub name: String,
    pub text: String,
    pub plan: Plan,
}

/// Why a file of the user's is not a plan. Each message names the file and, where one is wrong, the line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UserPlanError {
    #[error("{file}:{line}: not UTF-8 text")]
    NotText { file: String, line: usize },
    #[error("{file} is too long: a plan has at most {MAX_PLAN_BYTES} bytes")]
    TooLong { file: String },
    #[error("{file} has no step")]
    NoStep { file: String },
    #[error("{file}:{line}: `{text}` is not a step, and the file has no other one")]
    MalformedStep {
        file: String,
        line: usize,
        text: String,
    },
    #[error("{file}:{line}: step {n} appears twice; the first is in line {first_line}")]
    DuplicateStep {
        file: String,
        line: usize,
        n: u32,
        first_line: usize,
    },
    #[error("{file} names no goal: it has neither a heading `# Task: …` nor a section `## Goal`")]
    NoGoal { file: String },
}

impl UserPlanError {
    /// Says what the user can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotText { .. } => "save the file as UTF-8",
            Self::TooLong { .. } => "shorten it, and put sources and data into files of their own",
            Self::NoStep { .. } | Self::MalformedStep { .. } => {
                "write each step as a line that begins with its number and an empty box, such as `1. [ ] Add the flag`, \
                 outside of code fences"
            }
            Self::DuplicateStep { .. } => "give every step a number of its own",
            Self::NoGoal { .. } => "add one of them, or give the goal with `--goal`",
        }
    }
}

impl UserPlan {
    /// Parses the bytes of a file; `name` is the file as the user named it.
    ///
    /// # Errors
    /// The file is no UTF-8 text, is too long, or has no step or two with the same number.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, UserPlanError> {
        let file = name.to_owned();
        if bytes.len() > MAX_PLAN_BYTES {
            return Err(UserPlanError::TooLong { file });
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let before = error.as_bytes().iter().take(valid);
            UserPlanError::NotText {
                file: name.to_owned(),
                line: 1 + before.filter(|byte| **byte == b'\n').count(),
            }
        })?;
        match plan::parse(&text) {
            Ok(plan) => Ok(Self {
                name: file,
                text,
                plan,
            }),
            Err(PlanParseError::TooLong(_)) => Err(UserPlanError::TooLong { file }),
            Err(PlanParseError::NoCheckbox) => Err(match find_malformed_step(&text) {
                Some((line, text)) => UserPlanError::MalformedStep { file, line, text },
                None => UserPlanError::NoStep { file },
            }),
            Err(PlanParseError::DuplicateStep(n)) => {
                let mut lines = step_lines(&text, n);
                Err(UserPlanError::DuplicateStep {
                    first_line: lines.next().unwrap_or_default(),
                    line: lines.next().unwrap_or_default(),
                    file,
                    n,
                })
            }
        }
    }

    /// Returns the goal that the file states: its title, then its section `Goal`.
    ///
    /// # Errors
    /// It has neither.
    pub fn goal(&self) -> Result<String, UserPlanError> {
        let section = goal_section(front_matter::parse_document(&self.text).body);
        let parts = [self.plan.title.trim(), section.trim()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            let file = self.name.clone();
            return Err(UserPlanError::NoGoal { file });
        }
        Ok(parts.join("\n\n"))
    }
}

/// The lines after the front matter, each with its number in the file.
fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let body = front_matter::parse_document(text).body;
    let front = text.len() - body.len();
    let n_front = text.get(..front).unwrap_or_default().lines().count();
    (n_front + 1..).zip(body.lines())
}

/// Returns the lines outside of code fences that begin step `n`.
fn step_lines(text: &str, n: u32) -> impl Iterator<Item = usize> {
    let mut fence = CodeFenceTracker::default();
    numbered_lines(text)
        .filter(move |(_, line)| !fence.consume_line(line))
        .filter(move |(_, line)| plan::parse_step(line).is_some_and(|step| step.n == n))
        .map(|(number, _)| number)
}

/// Returns the first line that looks like a step and is none: it has a box without a number, or is in a code fence.
fn find_malformed_step(text: &str) -> Option<(usize, String)> {
    let has_box = |line: &str| {
        ["[ ]", "[x]", "[X]", "[]"]
            .iter()
            .any(|mark| line.contains(mark))
    };
    let is_item = |line: &str| {
        line.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '+' | '['))
    };
    let (number, line) = numbered_lines(text).find(|(_, line)| has_box(line) && is_item(line))?;
    Some((number, clean_to_one_line(line.trim())))
}

/// Returns the text below the heading `## Goal`, up to the next heading of that level.
fn goal_section(body: &str) -> String {
    let mut fence = CodeFenceTracker::default();
    let mut section: Option<String> = None;
    for line in body.lines() {
        let is_heading =
            !fence.consume_line(line) && (line.starts_with("# ") || line.starts_with("## "));
        match &mut section {
            Some(_) if is_heading => break,
            Some(section) => {
                section.push_str(line);
                section.push('\n');
            }
            None => {
                let name = line.trim_start_matches('#').trim().trim_end_matches(':');
                if is_heading && line.starts_with("## ") && name.eq_ignore_ascii_case("goal") {
                    section = Some(String::new());
                }
            }
        }
    }
    section.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "---\ntitle: mine\n---\n# Task: Add sums\n\n## Goal\n`sum` adds.\n\n```sh\n# Not a heading\n```\n\n## Steps\n1. [ ] Write it\n2. [x] Test it\n";

    fn parse(text: &str) -> Result<UserPlan, UserPlanError> {
        UserPlan::parse("my.md", text.as_bytes().to_vec())
    }

    fn check_error(text: &str, expected: &str, hint: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(error.hint().contains(hint), "{}", error.hint());
    }

    fn check_goal(text: &str, expected: &str) {
        let goal = parse(text).unwrap().goal();
        let told = goal.unwrap_or_else(|error| format!("{error}; {}", error.hint()));
        assert_eq!(told, expected);
    }

    #[test]
    fn the_goal_of_a_plan_is_its_title_and_its_section() {
        check_goal(
            PLAN,
            "Add sums\n\n`sum` adds.\n\n```sh\n# Not a heading\n```",
        );
        check_goal("\u{feff}# Add sums\r\n1. [ ] a\r\n", "Add sums");
        check_goal("## GOAL:\nIt adds.\n## Steps\n1. [ ] a\n", "It adds.");
        check_goal(
            "1. [ ] a\n## Goals of others\nx\n",
            "my.md names no goal: it has neither a heading `# Task: …` nor a section `## Goal`; add one of them, or give \
             the goal with `--goal`",
        );
        let ticked: Vec<bool> = parse(PLAN)
            .unwrap()
            .plan
            .steps
            .iter()
            .map(|s| s.done)
            .collect();
        assert_eq!(ticked, [false, true]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        check_error("", "my.md has no step", "such as `1. [ ] Add the flag`");
        check_error(
            "# Task: x\n\n1. Write it\n",
            "my.md has no step",
            "empty box",
        );
        check_error(
            "---\na: b\n---\n# Task: x\n- [ ] Write it\n",
            "my.md:5: `- [ ] Write it` is not a step, and the file has no other one",
            "begins with its number",
        );
        check_error(
            "```\n1. [ ] Write it\n```\n",
            "my.md:2: `1. [ ] Write it` is not a step, and the file has no other one",
            "outside of code fences",
        );
        check_error(
            "---\na: b\n---\n1. [ ] a\n```\n1. [ ] code\n```\n2. [ ] b\n1. [ ] c\n",
            "my.md:9: step 1 appears twice; the first is in line 4",
            "a number of its own",
        );
        check_error(
            &format!("1. [ ] a\n{}", "x".repeat(MAX_PLAN_BYTES)),
            "my.md is too long: a plan has at most 1048576 bytes",
            "shorten it",
        );
        let error = UserPlan::parse("my.md", b"1. [ ] a\n2. [ ] \xff\n".to_vec()).unwrap_err();
        assert_eq!(error.to_string(), "my.md:2: not UTF-8 text");
    }

    proptest::proptest! {
        #[test]
        fn every_file_is_a_plan_or_an_error_with_a_place(bytes in "[0-9\\. \\[\\]xX#\n`~a界-]{0,80}") {
            match parse(&bytes) {
                Ok(plan) => proptest::prop_assert!(!plan.plan.steps.is_empty()),
                Err(error) => proptest::prop_assert!(error.to_string().starts_with("my.md")),
            }
        }
    }
}
