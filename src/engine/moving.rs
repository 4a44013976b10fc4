//! Which adapter a role speaks through, its move to another one, and the wait for a usage limit's end.
//!
//! Refuses to decide whether a role moves or a run waits: the run does.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::config::config_model::AdapterKind;
use crate::domain::event::Event;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::question::QuestionKind;
use crate::domain::turn::Role;
use crate::store::{RawStream, utc_time};
use crate::text::clean_json_line;

use super::Engine;
use super::live::{Adoption, Ask};
use super::setup::NamedAdapter;

/// How long is slept before the clock is looked at again: it may be set, and the machine may sleep.
const LOOK: Duration = Duration::from_secs(60);
/// How large one file of a session's raw stream may grow, in bytes; one older file is kept.
const RAW_LIMIT: u64 = 20_000_000;

impl Engine {
    /// The adapter of a role's session.
    pub(super) fn adapter_of(&self, role: Role) -> Result<&NamedAdapter, String> {
        let session = self.state().session(role);
        let name = &session.ok_or("this run has no such role")?.adapter;
        self.adapter_named(name)
            .ok_or_else(|| format!("no adapter `{name}` is set up for this run"))
    }

    fn adapter_named(&self, name: &str) -> Option<&NamedAdapter> {
        let mut adapters = self.setup.adapters.values();
        adapters.find(|adapter| adapter.name == name)
    }

    /// The other adapter that a role could move to: one that was looked at before the start and keeps a
    /// turn to what it may write.
    pub(super) fn other_adapter(&self, role: Role) -> Option<String> {
        let current = &self.state().session(role)?.adapter;
        let mut adapters = self.setup.adapters.values();
        let other = adapters
            .find(|adapter| adapter.name != *current && adapter.settings.kind != AdapterKind::Pipe);
        other.map(|adapter| adapter.name.clone())
    }

    /// Makes a new session for a role at another adapter.
    pub(super) fn move_role(&mut self, role: Role, name: String) -> Vec<Event> {
        let Some(adapter) = self.adapter_named(&name) else {
            let reason = format!(
                "no adapter `{name}` is set up for this run; give it a role in the configuration and resume"
            );
            return vec![Event::SessionStayed { role, reason }];
        };
        let protocol = adapter.protocol();
        let session = SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()));
        let adoption = Adoption {
            adapter: protocol,
            raw: self.raw_stream(&session),
        };
        // A role that has not spoken yet in this program begins with the new session by itself.
        let asked = self
            .lives
            .get(&role)
            .map(|asks| asks.try_send(Ask::Adopt(Box::new(adoption))));
        match asked {
            // Its conversation would go on at the old one.
            Some(Err(mpsc::error::TrySendError::Full(_))) => {
                let reason = "its conversation is busy; try again".to_owned();
                return vec![Event::SessionStayed { role, reason }];
            }
            Some(Err(mpsc::error::TrySendError::Closed(_))) => drop(self.lives.remove(&role)),
            Some(Ok(())) | None => {}
        }
        if let Some(before) = self.state().session(role).map(|before| before.id.clone()) {
            self.tools.doors.close(&before);
        }
        vec![Event::SessionMoved {
            role,
            session,
            adapter: name,
        }]
    }

    pub(super) fn raw_stream(&self, session: &SessionId) -> RawStream {
        self.journal
            .session_files(session)
            .open_raw_stream(RAW_LIMIT, Box::new(clean_json_line))
    }

    /// The question that waits for a usage limit, and until when.
    pub(super) fn limit(&self) -> Option<(u32, UnixMillis)> {
        let question = self.state().awaiting.as_ref()?;
        match question.kind {
            QuestionKind::UsageLimit { until, .. } => Some((question.id, until)),
            _ => None,
        }
    }
}

/// Waits until the wall clock shows an instant, and tells which question waited. Cancel safe.
pub(super) async fn passed(limit: Option<(u32, UnixMillis)>) -> u32 {
    let Some((id, until)) = limit else {
        return std::future::pending().await;
    };
    loop {
        let left = until.0.saturating_sub(utc_time::now().0);
        let Ok(left @ 1..) = u64::try_from(left) else {
            return id;
        };
        tokio::time::sleep(LOOK.min(Duration::from_millis(left))).await;
    }
}
