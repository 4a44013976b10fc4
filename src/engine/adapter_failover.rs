//! Decides which adapter a role uses, moves a role to another adapter, and waits for the end of a usage limit.
//!
//! Whether a role moves or a run waits is decided by the run.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::event::Event;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::question::QuestionKind;
use crate::domain::turn::Role;
use crate::store::{RawStream, utc_time};
use crate::text::clean_json_line;

use super::Engine;
use super::agent_conversation::{ConversationCommand, SessionHandover};
use super::run_setup::NamedAdapter;

/// The longest sleep before the clock is read again: the clock may be changed, and the machine may be suspended.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The largest size of one file of a session's raw stream, in bytes; one older file is kept.
const MAX_RAW_FILE_BYTES: u64 = 20_000_000;

impl Engine {
    /// Returns the adapter of a role's session.
    pub(super) fn role_adapter(&self, role: Role) -> Result<&NamedAdapter, String> {
        let session = self.state().session(role);
        let name = &session.ok_or("this run has no such role")?.adapter;
        self.find_adapter(name)
            .ok_or_else(|| format!("no adapter `{name}` is set up for this run"))
    }

    fn find_adapter(&self, name: &str) -> Option<&NamedAdapter> {
        let mut adapters = self.setup.adapters.values();
        adapters.find(|adapter| adapter.name == name)
    }

    /// Returns the other adapter that a role could move to: one that was probed before the start and can keep a
    /// turn to what it may write.
    pub(super) fn failover_adapter(&self, role: Role) -> Option<String> {
        let current = &self.state().session(role)?.adapter;
        let mut adapters = self.setup.adapters.values();
        let other =
            adapters.find(|adapter| adapter.name != *current && adapter.traits().is_sandboxed());
        other.map(|adapter| adapter.name.clone())
    }

    /// Creates a new session for a role at another adapter.
    pub(super) fn move_role_to_adapter(&mut self, role: Role, name: String) -> Vec<Event> {
        let Some(adapter) = self.find_adapter(&name) else {
            let reason = format!(
                "no adapter `{name}` is set up for this run; give it a role in the configuration and resume"
            );
            return vec![Event::SessionStayed { role, reason }];
        };
        let protocol = adapter.new_adapter();
        let session = SessionId::new(format!("ses_{}", uuid::Uuid::now_v7().simple()));
        let adoption = SessionHandover {
            adapter: protocol,
            raw: self.raw_stream(&session),
        };
        // A role that has not spoken yet in this process starts with the new session anyway.
        let asked = self
            .conversations
            .get(&role)
            .map(|asks| asks.try_send(ConversationCommand::HandOver(Box::new(adoption))));
        match asked {
            // Moving now is not possible: the conversation would continue at the old adapter.
            Some(Err(mpsc::error::TrySendError::Full(_))) => {
                let reason = "its conversation is busy; try again".to_owned();
                return vec![Event::SessionStayed { role, reason }];
            }
            Some(Err(mpsc::error::TrySendError::Closed(_))) => {
                drop(self.conversations.remove(&role))
            }
            Some(Ok(())) | None => {}
        }
        if let Some(before) = self.state().session(role).map(|before| before.id.clone()) {
            self.tools.sockets.close_socket(&before);
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
            .open_raw_stream(MAX_RAW_FILE_BYTES, Box::new(clean_json_line))
    }

    /// Returns the question that waits for a usage limit, and until when.
    pub(super) fn pending_usage_limit(&self) -> Option<(u32, UnixMillis)> {
        let question = self.state().awaiting.as_ref()?;
        match question.kind {
            QuestionKind::UsageLimit { until, .. } => Some((question.id, until)),
            _ => None,
        }
    }
}

/// Waits until the wall clock reaches an instant and returns the question that waited. Cancel safe.
pub(super) async fn wait_until_limit_passed(limit: Option<(u32, UnixMillis)>) -> u32 {
    let Some((id, until)) = limit else {
        return std::future::pending().await;
    };
    loop {
        let left = until.0.saturating_sub(utc_time::now().0);
        let Ok(left @ 1..) = u64::try_from(left) else {
            return id;
        };
        tokio::time::sleep(CLOCK_CHECK_INTERVAL.min(Duration::from_millis(left))).await;
    }
}
