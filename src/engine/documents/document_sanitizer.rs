//! Cleans what an agent wrote into a document before it becomes an event: each text is one line without control characters.

use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::review_facts::ReviewFacts;
use crate::domain::findings::{FindingResponse, RemarkDetails, ReviewRemark};
use crate::domain::plan::{Plan, Step};
use crate::domain::review::{FindingVerdict, ReviewDocument};
use crate::text::truncate::to_chars;
use crate::text::{clean_text, clean_to_one_line};

/// How much of the scenario, the evidence and the like of a finding is kept.
const MAX_DETAIL_CHARS: usize = 2_000;

/// Cleans the texts of a plan before it becomes an event; its hash stays that of the original bytes.
pub(super) fn clean_plan(plan: Plan) -> Plan {
    let step = |step: Step| Step {
        text: clean_to_one_line(&step.text),
        ..step
    };
    Plan {
        title: clean_to_one_line(&plan.title),
        steps: plan.steps.into_iter().map(step).collect(),
        // A command that cleaning would change has characters that a person could not see, so it is dropped.
        test_command: plan
            .test_command
            .filter(|command| clean_text(command) == *command),
        approval_sha256: plan.approval_sha256,
    }
}

pub(super) fn clean_review(review: ReviewDocument) -> ReviewDocument {
    let remark = |remark: ReviewRemark| ReviewRemark {
        text: clean_to_one_line(&remark.text),
        details: RemarkDetails {
            place: clean_detail(&remark.details.place),
            scenario: clean_detail(&remark.details.scenario),
            evidence: clean_detail(&remark.details.evidence),
            resolution: clean_detail(&remark.details.resolution),
        },
        ..remark
    };
    let verdict = |verdict: FindingVerdict| FindingVerdict {
        detail: clean_detail(&verdict.detail),
        evidence: clean_detail(&verdict.evidence),
        ..verdict
    };
    ReviewDocument {
        remarks: review.remarks.into_iter().map(remark).collect(),
        verdicts: review.verdicts.into_iter().map(verdict).collect(),
        ..review
    }
}

fn clean_detail(text: &str) -> String {
    to_chars(&clean_to_one_line(text), MAX_DETAIL_CHARS)
}

pub(super) fn clean_facts(facts: ReviewFacts) -> ReviewFacts {
    let mut facts = facts;
    for remark in &mut facts.remarks {
        clean_check(&mut remark.evidence);
    }
    for verdict in &mut facts.verdicts {
        clean_check(&mut verdict.evidence);
    }
    facts
}

pub(super) fn clean_check(check: &mut EvidenceCheck) {
    match check {
        EvidenceCheck::Verified { found } | EvidenceCheck::Refuted { found } => {
            *found = clean_to_one_line(found);
        }
        EvidenceCheck::Uncheckable => {}
    }
}

pub(super) fn clean_response(response: FindingResponse) -> FindingResponse {
    FindingResponse {
        reason: clean_to_one_line(&response.reason),
        ..response
    }
}

pub(super) fn clean_response_check(response: &mut FindingResponse) {
    response.check.iter_mut().for_each(clean_check);
}
