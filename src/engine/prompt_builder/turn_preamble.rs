//! Writes what precedes an agent's prompt: what happened since its last turn, and why a turn is repeated.
//!
//! Each part has a heading that says what it is.

use crate::domain::run::{DeferredResult, UnansweredRequest};
use crate::domain::turn::{MissingDocumentReason, Role, TurnOrder, TurnRetryReason};

/// Returns the results that arrived for the agent after its last turn.
pub(super) fn describe_deferred_results(results: &[DeferredResult], role: Role) -> String {
    let own = results.iter().filter(|result| result.role == role);
    let lines: String = own.map(|result| format!("{}\n", result.text)).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("[agent-collab results]\n{lines}[end of results]\n\n")
    }
}

/// Returns what an agent had asked for before the program ended; empty if there is nothing.
pub(super) fn describe_unanswered_requests(unanswered: &[UnansweredRequest], role: Role) -> String {
    let own = unanswered
        .iter()
        .filter(|unanswered| unanswered.role == role);
    let list: String = own
        .map(|unanswered| format!("- {}\n", unanswered.what))
        .collect();
    if list.is_empty() {
        list
    } else {
        format!(
            "The program ended while you waited for an answer to this, and nobody answered; none of it was \
             allowed. Ask again for what you still need:\n{list}\n"
        )
    }
}

/// Returns what the user denied when they ended the agent's turn; empty if there is nothing.
pub(super) fn describe_denied_requests(refused: &[UnansweredRequest], role: Role) -> String {
    let own = refused.iter().filter(|refused| refused.role == role);
    let list: String = own.map(|refused| format!("- {}\n", refused.what)).collect();
    if list.is_empty() {
        list
    } else {
        format!(
            "## What the user denied\nThe user ended your last turn by denying this; it was not done. Do not try it \
             again or in another way:\n{list}\n"
        )
    }
}

/// Returns the template's reason why the turn is repeated; `None` if nothing was wrong with the last answer.
pub(super) fn turn_retry_reason(order: &TurnOrder) -> Option<String> {
    match order.again.as_ref()? {
        TurnRetryReason::NoDocument { reason } => match reason {
            MissingDocumentReason::UserKeptOwnText => None,
            MissingDocumentReason::Defect(text) => {
                Some(format!("Your last answer did not count: {text}."))
            }
        },
        TurnRetryReason::AskedBack { reason } => Some(reason.clone()),
        TurnRetryReason::Answered { .. }
        | TurnRetryReason::Failed
        | TurnRetryReason::StepTried
        | TurnRetryReason::Undone { .. } => None,
    }
}

/// Returns why a turn is repeated, under its own heading; empty if the template says it.
pub(super) fn describe_turn_retry(order: &TurnOrder) -> String {
    let is_step = order.purpose.may_write();
    let (heading, text) = match &order.again {
        Some(TurnRetryReason::Answered { answer }) => ("The user's answer to your question", answer.clone()),
        Some(TurnRetryReason::Failed) => (
            "Your last turn was cut off",
            "It was interrupted or failed before its end. Look at what is there and continue."
                .to_owned(),
        ),
        Some(TurnRetryReason::StepTried) => (
            "The step is not done",
            "Your last turn did not do it, and the user wants another try. If something still stands in the way, change \
             nothing and state that it is blocked."
                .to_owned(),
        ),
        Some(TurnRetryReason::Undone { step }) => (
            "The user undid steps",
            format!(
                "Step {step} and all later steps are undone: the files are as they were before step {step}, and \
                 nothing that you did there since counts. Look at what is there and do the step again."
            ),
        ),
        Some(TurnRetryReason::NoDocument { reason: MissingDocumentReason::UserKeptOwnText }) => (
            "The user kept their own text",
            "You and the user changed the same document, and the user chose their text. Read the file again and \
             continue from it."
                .to_owned(),
        ),
        Some(
            TurnRetryReason::NoDocument { reason: MissingDocumentReason::Defect(reason) }
            | TurnRetryReason::AskedBack { reason },
        ) if is_step => ("Why you are asked again", reason.clone()),
        Some(TurnRetryReason::NoDocument { .. } | TurnRetryReason::AskedBack { .. }) | None => return String::new(),
    };
    format!("## {heading}\n{text}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TurnId;
    use crate::domain::turn::TurnPurpose;

    fn check(purpose: TurnPurpose, again: TurnRetryReason, expected: (&str, Option<&str>)) {
        let order = TurnOrder {
            turn: TurnId::new("trn_2"),
            purpose,
            again: Some(again),
        };
        let said = describe_turn_retry(&order);
        let heading = said.lines().next().unwrap_or_default();
        assert_eq!(
            (heading, turn_retry_reason(&order).as_deref()),
            expected,
            "{said}"
        );
    }

    #[test]
    fn each_cause_of_another_turn_has_its_own_heading_and_only_a_bad_answer_did_not_count() {
        let step = TurnPurpose::Step { n: 1 };
        let talk = TurnPurpose::RefineGoal {
            said: "x".to_owned(),
            by: Role::Planner,
        };
        for purpose in [
            TurnPurpose::WritePlan,
            TurnPurpose::Review,
            TurnPurpose::Respond,
            step.clone(),
            talk,
        ] {
            let answer = "blue".to_owned();
            let answered = ("## The user's answer to your question", None);
            check(
                purpose.clone(),
                TurnRetryReason::Answered { answer },
                answered,
            );
            check(
                purpose,
                TurnRetryReason::Failed,
                ("## Your last turn was cut off", None),
            );
        }
        check(
            step,
            TurnRetryReason::Undone { step: 1 },
            ("## The user undid steps", None),
        );
        let reason = "no plan".to_owned().into();
        check(
            TurnPurpose::WritePlan,
            TurnRetryReason::NoDocument { reason },
            ("", Some("Your last answer did not count: no plan.")),
        );
        let reason = MissingDocumentReason::UserKeptOwnText;
        check(
            TurnPurpose::Respond,
            TurnRetryReason::NoDocument { reason },
            ("## The user kept their own text", None),
        );
        let reason = "no verdict".to_owned();
        check(
            TurnPurpose::Review,
            TurnRetryReason::AskedBack { reason },
            ("", Some("no verdict")),
        );
    }

    #[test]
    fn what_was_refused_is_told_to_its_agent_alone() {
        let refused = [UnansweredRequest {
            role: Role::Planner,
            what: "bash git push".to_owned(),
        }];
        let told = describe_denied_requests(&refused, Role::Planner);
        assert!(told.starts_with("## What the user denied\n"), "{told}");
        assert!(told.contains("\n- bash git push\n"), "{told}");
        assert_eq!(describe_denied_requests(&refused, Role::Reviewer), "");
    }
}
