//! Builds the events that the engine makes of the texts of reviews and answers.

use crate::domain::event::Event;
use crate::domain::findings::evidence::EvidenceSource;
use crate::domain::findings::review_facts::{ReviewSources, assess_responses, assess_review};
use crate::domain::findings::{FindingResponse, UnsupportedFindings};
use crate::domain::ids::{Sha256, TurnId};
use crate::domain::plan::{self, Plan};
use crate::domain::review;
use crate::domain::run::RunState;

/// Evidence of a project without files, in which no command was run.
pub(in crate::domain) struct NoFiles;

impl EvidenceSource for NoFiles {
    fn read_file(&self, _path: &str) -> Option<String> {
        None
    }

    fn command_output(&self, _command: &str) -> Option<String> {
        None
    }
}

/// What a document is checked against.
pub(in crate::domain) struct DocumentSources<'a> {
    pub state: &'a RunState,
    /// The plan on disk.
    pub plan: &'a str,
    /// The plans of the earlier reviews of this goal, oldest first; for answers, with the review that they answer.
    pub reviewed_plans: &'a [String],
    pub evidence: &'a dyn EvidenceSource,
    /// Files that the plan names and the reviewer did not open.
    pub unopened: Option<Vec<String>>,
}

impl DocumentSources<'_> {
    /// Returns the event for the text of a review.
    pub fn review_event(&self, turn: TurnId, text: &str) -> Event {
        let mut ledger = self.state.findings.clone();
        let mut review = review::parse(text, &ledger);
        let sources = ReviewSources {
            plan: self.plan,
            earlier_plans: self.reviewed_plans,
            evidence: self.evidence,
            unopened: self.unopened.clone(),
        };
        let facts = assess_review(&review, &ledger, &sources);
        let state = self.state;
        let lacks = state
            .asked_back
            .missing_in_review(&review, &facts, &ledger, state.iteration);
        if !lacks.is_empty() {
            review.facts = Some(facts);
            return Event::DocumentIncomplete {
                turn,
                lacks,
                review: Some(Box::new(review)),
            };
        }
        let lowered = UnsupportedFindings::CountAsMinor;
        let outcome = ledger.apply_review(&review, &facts, self.state.iteration, lowered);
        review.verdict = outcome.verdict;
        review.consistent = !review.is_ambiguous && outcome.contradiction.is_none();
        review.facts = Some(facts);
        Event::ReviewCommitted {
            turn,
            review,
            file_sha256: hash(text),
            plan_now: plan::approval_hash(self.plan),
        }
    }

    /// Returns the event for the text of the planner's answers and the plan that it returned.
    pub fn response_event(&self, turn: TurnId, text: &str, returned: Option<&str>) -> Event {
        let mut responses: Vec<FindingResponse> = review::parse_responses(text);
        for response in &mut responses {
            response.n = self.state.findings.resolve_number(response.n);
        }
        let now = plan::approval_hash(self.plan);
        let is_new = |plan: &(Plan, Sha256)| plan.0.approval_sha256 != now;
        let plan = returned.map(|text| (plan::parse(text).unwrap(), hash(text)));
        let plan = plan.filter(is_new);
        let ledger = &self.state.findings;
        let before = self.reviewed_plans.last().map_or(self.plan, String::as_str);
        let after = returned.unwrap_or(self.plan);
        assess_responses(&mut responses, ledger, before, after, self.evidence);
        if responses.is_empty() && plan.is_none() {
            let reason = "neither answers nor a changed plan were returned"
                .to_owned()
                .into();
            return Event::DocumentMissing { turn, reason };
        }
        let mut answered = ledger.clone();
        answered.apply_responses(&responses);
        let unanswered = answered.unanswered().map(|finding| finding.remark.n);
        Event::ResponseCommitted {
            turn,
            unanswered: unanswered.collect(),
            asked_back: self
                .state
                .asked_back
                .missing_in_answers(&answered, &responses),
            responses,
            plan,
            comments_sha256: hash(text),
        }
    }
}

fn hash(text: &str) -> Sha256 {
    plan::file_hash(text.as_bytes())
}
