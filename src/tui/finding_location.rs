//! Guesses which line of the plan a finding is about: by the step or line that it names, or by the words that
//! it quotes.
//!
//! Used only for display; a quotation that matches two lines gives no result.

use crate::domain::findings::plan_blocks::BlockLabel;
use crate::domain::findings::{Finding, FindingStatus};
use crate::domain::run::RunState;

/// The shortest quotation that is searched for, in characters.
const MIN_QUOTE_CHARS: usize = 3;

/// Returns the open and the residual findings, each with its line of the text, from 0; `None` if the line is unclear.
pub fn locate_remaining_findings<'a>(
    state: &'a RunState,
    text: &str,
) -> Vec<(&'a Finding, Option<usize>)> {
    let lines: Vec<&str> = text.lines().collect();
    let findings = state.findings.all().iter();
    findings
        .filter(|finding| finding.is_open() || finding.status == FindingStatus::Residual)
        .map(|finding| (finding, locate_finding(finding, &lines)))
        .collect()
}

/// Returns the line that a finding is about, from 0; `None` if it is unclear.
pub fn locate_finding(finding: &Finding, lines: &[&str]) -> Option<usize> {
    let by_block = match finding.record.block {
        Some(BlockLabel::Step(n)) => locate_remark(&format!("step {n}"), lines),
        Some(BlockLabel::Introduction | BlockLabel::Heading(_)) | None => None,
    };
    by_block.or_else(|| locate_remark(&finding.remark.text, lines))
}

/// Returns the line that a remark is about.
fn locate_remark(remark: &str, lines: &[&str]) -> Option<usize> {
    let step = parse_number_after(remark, "step ");
    let by_step = step.and_then(|n| {
        lines
            .iter()
            .position(|line| is_step_checkbox(line.trim_start(), n))
    });
    let by_line = || {
        let n = parse_number_after(remark, "line ")?;
        let at = usize::try_from(n).ok()?.checked_sub(1)?;
        lines.get(at).map(|_| at)
    };
    by_step
        .or_else(by_line)
        .or_else(|| find_quoted_line(remark, lines))
}

/// Returns whether a line is the checkbox of step `n`.
pub fn is_step_checkbox(line: &str, n: u32) -> bool {
    let rest = line.strip_prefix(&n.to_string());
    let rest = rest.and_then(|rest| rest.strip_prefix(['.', ')']));
    rest.is_some_and(|rest| rest.trim_start().starts_with('['))
}

/// Returns the number directly after a word, ignoring case.
fn parse_number_after(text: &str, word: &str) -> Option<u32> {
    let lower = text.to_lowercase();
    lower.match_indices(word).find_map(|(at, _)| {
        let digits: String = lower
            .get(at + word.len()..)?
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    })
}

/// Returns the only line that contains the words quoted in the remark.
fn find_quoted_line(remark: &str, lines: &[&str]) -> Option<usize> {
    let pairs = [('`', '`'), ('"', '"'), ('“', '”'), ('「', '」')];
    pairs.iter().find_map(|(open, close)| {
        let (_, rest) = remark.split_once(*open)?;
        let (quoted, _) = rest.split_once(*close)?;
        if quoted.chars().count() < MIN_QUOTE_CHARS {
            return None;
        }
        let mut found = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.contains(quoted));
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(remark: &str, wanted: Option<usize>) {
        let plan = [
            "# Task",
            "",
            "1. [ ] write `sum`",
            "2. [x] test sum, 空列表",
            "12. [ ] more",
            "Test: `pytest -q`",
        ];
        assert_eq!(locate_remark(remark, &plan), wanted, "{remark}");
    }

    #[test]
    fn a_finding_stands_at_the_line_that_it_names_or_quotes() {
        check("Step 2 says nothing of errors", Some(3));
        check("in step 12: too vague", Some(4));
        check("step 7 is not there", None);
        check("line 1 is no title", Some(0));
        check("`pytest -q` does not find the tests", Some(5));
        check("「空列表」没有说明", Some(3));
        check("`sum` is in two lines", None);
        check("nothing at all", None);
    }
}
