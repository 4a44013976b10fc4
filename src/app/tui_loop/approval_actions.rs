//! Handles agents' calls that need the user's decision, and the stored approvals.
//!
//! The engine decides, by the user's answer.

use crate::app::startup::LockedProject;
use crate::domain::event::ApprovalDecision;
use crate::engine::ApprovalDecisionResult;
use crate::permission::{ApprovalMatcher, ApprovalScope};
use crate::store::approval_store::{ApprovalRecord, ApprovalStore};
use crate::store::local_time;
use crate::tui::{ApprovalEntry, ExactCall};

use super::TuiApp;
use super::shutdown::TuiEnd;

impl TuiApp {
    pub(super) fn decide_approval(
        &mut self,
        call: u32,
        answer: ApprovalDecision,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(engine) = &mut self.engine else {
            return Ok(None);
        };
        let mut waiting = engine.state().approvals.iter();
        let request = waiting.find(|waiting| waiting.n == call);
        let granted = match request.map(|waiting| waiting.request.clone()) {
            Some(request) => engine.decide_approval(&request, answer)?,
            None => ApprovalDecisionResult::NoLongerPending,
        };
        match granted {
            ApprovalDecisionResult::Applied => {}
            ApprovalDecisionResult::NoLongerPending => {
                self.screen.set_toast("That request is no longer pending.")
            }
            ApprovalDecisionResult::NotStored(why) => {
                let word = format!("Not allowed yet: {why}");
                self.screen.set_toast(&word);
            }
        }
        self.show_updates()
    }

    /// Shows the first pending call exactly as it was made.
    pub(super) fn show_first_approval(&mut self) {
        let Some(engine) = &self.engine else {
            return;
        };
        let Some(first) = engine.state().approvals.first() else {
            return;
        };
        let call = (engine.state().run.clone(), first.n);
        if self.shown_approval.as_ref() == Some(&call) {
            return;
        }
        if let Some(shown) = engine.pending_approval_detail(&first.request) {
            self.screen.on_pending_call(ExactCall {
                n: first.n,
                text: shown.text.clone(),
                diff: shown.diff.clone(),
            });
        }
        self.shown_approval = Some(call);
    }

    pub(super) fn show_permissions(&mut self) -> Result<Option<TuiEnd>, TuiEnd> {
        let listed = self.approvals().map(|approvals| approvals.list());
        match listed {
            None => self.screen.set_toast("The repository is not open yet."),
            Some(Ok(stored)) => {
                let kept: Vec<ApprovalEntry> = stored.iter().map(permission_row).collect();
                self.screen.show_stored_approvals(&kept);
            }
            Some(Err(error)) => self.screen.set_toast(&format!("{error}; {}", error.hint())),
        }
        Ok(None)
    }

    pub(super) fn revoke_approval(&mut self, id: u64) -> Result<Option<TuiEnd>, TuiEnd> {
        let Some(approvals) = self.approvals() else {
            return Ok(None);
        };
        match approvals.revoke(|stored| stored.id == id) {
            Ok(gone) => {
                for stored in gone {
                    let told = permission_row(&stored);
                    let text = format!("Approval removed: {} ({})", told.what, told.about);
                    self.screen.on_notice(&text);
                }
                Ok(None)
            }
            Err(error) => {
                self.screen.set_toast(&format!("{error}; {}", error.hint()));
                Ok(None)
            }
        }
    }

    fn approvals(&self) -> Option<ApprovalStore> {
        let LockedProject { project: found, .. } = self.occupied.as_ref()?;
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
