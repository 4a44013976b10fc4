//! Decides agents' calls by the user's answer, and shows and revokes stored approvals.

use super::super::tui_end::TuiEnd;
use super::RunSession;
use crate::domain::event::ApprovalDecision;
use crate::domain::ids::RunId;
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
                let current_run = self.state().map(|state| state.run.clone());
                let rows = stored
                    .iter()
                    .map(|stored| permission_row(stored, current_run.as_ref()));
                let rows: Vec<ApprovalEntry> = rows.collect();
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
                    let current_run = self.state().map(|state| state.run.clone());
                    let ApprovalEntry { what, about, .. } =
                        permission_row(&stored, current_run.as_ref());
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

fn permission_row(stored: &ApprovalRecord, current_run: Option<&RunId>) -> ApprovalEntry {
    let approved = &stored.approved;
    let how = match approved.what {
        ApprovalMatcher::Exact(_) => "",
        ApprovalMatcher::Pattern(_) => "everything like ",
    };
    let scope = match approved.scope {
        ApprovalScope::Project => approved.scope.label().to_owned(),
        ApprovalScope::Run if current_run == Some(&stored.run) => approved.scope.label().to_owned(),
        ApprovalScope::Run => "an earlier run".to_owned(),
    };
    ApprovalEntry {
        id: stored.id,
        what: format!("{} {how}{}", approved.permission, approved.what.as_str()),
        about: format!(
            "agent {}, for {scope}, since {}",
            approved.profile,
            local_time::to_local_text(stored.granted_at)
        ),
    }
}
