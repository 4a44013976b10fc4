//! Decides agents' calls by the user's answer, and shows and revokes stored approvals.

use super::super::tui_end::TuiEnd;
use super::RunSession;
use crate::domain::event::ApprovalDecision;
use crate::engine::ApprovalDecisionResult;
use crate::permission::{ApprovalMatcher, ApprovalScope};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};
use crate::store::local_time;
use crate::tui::ApprovalEntry;

impl RunSession {
    /// Answers an agent's call, by its number in the run.
    pub fn decide_approval(&mut self, call: u32, answer: ApprovalDecision) -> Result<(), TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(());
        };
        match engine.decide_approval(call, answer)? {
            ApprovalDecisionResult::Applied => {}
            ApprovalDecisionResult::NoLongerPending => {
                self.screen.set_toast("That request is no longer pending.");
            }
            ApprovalDecisionResult::NotStored(why) => {
                self.screen.set_toast(&format!("Not allowed yet: {why}"));
            }
        }
        self.show_updates()
    }

    /// Shows the stored approvals.
    pub fn show_permissions(&mut self) {
        let Some(approvals) = self.approvals() else {
            return self.screen.set_toast("The repository is not open yet.");
        };
        match approvals.list() {
            Ok(stored) => {
                let rows: Vec<ApprovalEntry> = stored.iter().map(permission_row).collect();
                self.screen.show_stored_approvals(&rows);
            }
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
            }
        }
    }

    /// Revokes a stored approval, by its number.
    pub fn revoke_approval(&mut self, id: u64) {
        let Some(approvals) = self.approvals() else {
            return;
        };
        match approvals.revoke(|stored| stored.id == id) {
            Ok(gone) => {
                for stored in gone {
                    let ApprovalEntry { what, about, .. } = permission_row(&stored);
                    let removed = format!("Approval removed: {what} ({about})");
                    self.screen.on_notice(&removed);
                }
            }
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
            }
        }
    }

    fn approvals(&self) -> Option<ApprovalStore> {
        let found = &self.project.as_ref()?.project;
        Some(ApprovalStore::new(
            &found.places.approvals_dir(),
            &found.root,
        ))
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
