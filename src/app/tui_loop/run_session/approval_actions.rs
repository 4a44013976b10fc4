//! Decides agents' calls by the user's answer, and shows the stored approvals.

use crate::domain::event::ApprovalDecision;
use crate::engine::{ApprovalDecisionResult, Engine, EngineError};
use crate::permission::{ApprovalMatcher, ApprovalScope};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};
use crate::store::local_time;
use crate::tui::{ApprovalEntry, Screen};

/// Answers a call, by its number in the run. Returns why it was not applied.
pub fn decide(
    engine: &mut Engine,
    call: u32,
    answer: ApprovalDecision,
) -> Result<Result<(), String>, EngineError> {
    let mut waiting = engine.state().approvals.iter();
    let request = waiting.find(|waiting| waiting.n == call);
    let decided = match request.map(|waiting| waiting.request.clone()) {
        Some(request) => engine.decide_approval(&request, answer)?,
        None => ApprovalDecisionResult::NoLongerPending,
    };
    Ok(match decided {
        ApprovalDecisionResult::Applied => Ok(()),
        ApprovalDecisionResult::NoLongerPending => {
            Err("That request is no longer pending.".to_owned())
        }
        ApprovalDecisionResult::NotStored(why) => Err(format!("Not allowed yet: {why}")),
    })
}

/// Shows the stored approvals.
pub fn show_stored(approvals: &ApprovalStore, screen: &mut Screen) {
    match approvals.list() {
        Ok(stored) => {
            let rows: Vec<ApprovalEntry> = stored.iter().map(permission_row).collect();
            screen.show_stored_approvals(&rows);
        }
        Err(error) => screen.set_toast(&format!("{error}; {}", error.hint())),
    }
}

/// Revokes a stored approval, by its number.
pub fn revoke(approvals: &ApprovalStore, id: u64, screen: &mut Screen) {
    match approvals.revoke(|stored| stored.id == id) {
        Ok(gone) => {
            for stored in gone {
                let ApprovalEntry { what, about, .. } = permission_row(&stored);
                screen.on_notice(&format!("Approval removed: {what} ({about})"));
            }
        }
        Err(error) => screen.set_toast(&format!("{error}; {}", error.hint())),
    }
}

fn permission_row(stored: &ApprovalRecord) -> ApprovalEntry {
    let approved = &stored.approved;
    let how = match approved.what {
        ApprovalMatcher::Exact(_) => "exactly",
        ApprovalMatcher::Pattern(_) => "everything like",
    };
    let scope = match approved.scope {
        ApprovalScope::Project => approved.scope.label().to_owned(),
        ApprovalScope::Run => format!("run {}", stored.run),
    };
    ApprovalEntry {
        id: stored.id,
        what: format!("{} {how} {}", approved.permission, approved.what.as_str()),
        about: format!(
            "agent {}, {scope}, since {}",
            approved.profile,
            local_time::to_local_text(stored.granted_at)
        ),
    }
}
