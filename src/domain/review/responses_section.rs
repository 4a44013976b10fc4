//! Renders the planner's answers as a section of `comments.md`.

use super::RESPONSES_HEADING;
use crate::domain::findings::{Finding, FindingLedger};

/// Renders the section of responses that the program carries over: all answers so far, by review, and what is
/// unanswered.
pub fn render_responses(ledger: &FindingLedger) -> String {
    let mut out = String::new();
    for review in 1..=ledger.review_count() {
        let answers = response_lines(ledger, review);
        if answers.is_empty() {
            continue;
        }
        out.push_str(&format!(
            "\n### To review {review}\n{}\n",
            answers.join("\n")
        ));
    }
    let left: Vec<String> = ledger.unanswered().map(unanswered_line).collect();
    if out.is_empty() {
        return out;
    }
    if !left.is_empty() {
        out.push_str(&format!("\n### Unanswered\n{}\n", left.join("\n")));
    }
    format!("{RESPONSES_HEADING}\n{out}")
}

fn response_lines(ledger: &FindingLedger, review: u32) -> Vec<String> {
    let mut lines = Vec::new();
    for finding in ledger.all() {
        for (_, response) in finding.responses.iter().filter(|(to, _)| *to == review) {
            let stand: &str = response.stand.into();
            lines.push(format!("{}. {stand}: {}", response.n, response.reason));
        }
    }
    lines
}

fn unanswered_line(finding: &Finding) -> String {
    format!(
        "- finding {} ({}) has no answer",
        finding.remark.n,
        finding.remark.severity.as_str()
    )
}
