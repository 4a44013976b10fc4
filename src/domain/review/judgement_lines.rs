//! Parses the judgement of a dispute.

use super::parse_item_number;
use crate::domain::findings::DisputeJudgement;

/// Parses the judgement of disputes: lines `N. reviewer: …` and `N. planner: …`; the first one on a finding counts.
pub fn parse_judgements(text: &str) -> Vec<DisputeJudgement> {
    let mut judgements: Vec<DisputeJudgement> = Vec::new();
    for line in text.lines() {
        let Some((n, rest)) = parse_item_number(line) else {
            continue;
        };
        let Some((word, reason)) = rest.split_once(':') else {
            continue;
        };
        let side = word.trim().trim_matches(['*', '[', ']', '`']).parse();
        if let (Ok(side), false) = (side, judgements.iter().any(|known| known.n == n)) {
            let reason = reason.trim_start_matches('*').trim().to_owned();
            judgements.push(DisputeJudgement { n, side, reason });
        }
    }
    judgements
}
