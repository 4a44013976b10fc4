//! Defines a role's conversation: its adapter, its totals, and the messages it consists of.
//!
//! The texts of the messages are in files; this module keeps only what follows from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{SessionId, TurnId, UnixMillis};
use super::todo_list::TodoList;
use super::turn::TurnProfile;

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its id within the session (`msg_…`).
    pub id: String,
    /// The turn it belongs to, if any.
    pub turn: Option<TurnId>,
    pub role: MessageRole,
    /// The profile that is active with it; build where none is named.
    #[serde(default)]
    pub agent: TurnProfile,
    /// Whether this program wrote it, and not a person or a model.
    pub synthetic: bool,
    pub ts: UnixMillis,
    pub text: String,
}

/// One message of a child's session, as far as it is read again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChildMessage {
    /// The turn of the task that it belongs to.
    pub turn: TurnId,
    pub role: MessageRole,
    pub text: String,
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    System,
    /// The user, or this program in the user's place.
    User,
    Assistant,
    Tool,
}

/// The conversation of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    /// The adapter's name in the configuration.
    pub adapter: String,
    /// The conversation's id at the CLI, once it can be resumed.
    pub external_id: Option<String>,
    /// Whether the CLI lost the conversation once, so that it continues from a recovery prompt.
    pub degraded: bool,
    /// The adapter with which the run started, where the role was moved to this one; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The version that the running CLI reported.
    pub version: Option<String>,
    /// The model that answers, where the CLI reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many messages it has.
    pub n_messages: u32,
    /// The profile of the last user message, which is the session's current profile.
    last_user_agent: TurnProfile,
    /// Running totals of the CLI's usage report.
    pub usage: SessionUsage,
    /// How much of its CLI's plan is used, where the CLI reports it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<AccountUsageWindow>,
    /// Its agent's todo list.
    #[serde(default, skip_serializing_if = "TodoList::is_empty")]
    pub todos: TodoList,
    /// Additional values about the session.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

/// Running totals of a conversation as its CLI counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionUsage {
    /// Tokens read by the model.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Millionths of a US dollar, where the CLI computes a cost.
    pub cost_micro_usd: Option<u64>,
    /// Tokens of the model's context that the conversation fills now, where the CLI reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The model's context size in tokens, where the CLI reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// A time window in which the plan of a CLI's account allows a limited amount, as the CLI reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountUsageWindow {
    /// Its length; `None` where the CLI does not report it.
    pub minutes: Option<u32>,
    /// How much of it is used, in percent; more than 100 where the plan allows that.
    pub used_percent: u16,
    /// When it starts again.
    pub resets_at: Option<UnixMillis>,
}

impl AccountUsageWindow {
    /// Creates one from a CLI's report: percent used, and the reset in seconds since 1970.
    pub fn from_report(minutes: Option<u32>, percent: f64, resets_at: Option<i64>) -> Self {
        Self {
            minutes,
            // `as` saturates a number that is out of range, and turns one that is not a number into 0.
            used_percent: percent.round() as u16,
            resets_at: resets_at.map(|seconds| UnixMillis(seconds.saturating_mul(1_000))),
        }
    }
}

impl Session {
    /// Creates a session without messages; its current profile is `agent` until a user message names one.
    pub fn new(id: SessionId, adapter: String, agent: TurnProfile) -> Self {
        Self {
            id,
            adapter,
            external_id: None,
            degraded: false,
            moved_from: None,
            version: None,
            model: None,
            n_messages: 0,
            last_user_agent: agent,
            usage: SessionUsage::default(),
            plan: Vec::new(),
            todos: TodoList::default(),
            metadata: BTreeMap::new(),
        }
    }

    /// Adds the model to what is said of its CLI, where it is known: `codex · gpt-5.5`. Of `claude-opus-5-5` at `claude`,
    /// the name of the CLI is not repeated.
    pub fn with_model(&self, cli: &str) -> String {
        match &self.model {
            Some(model) => {
                let own = model.strip_prefix(self.adapter.as_str());
                let own = own.and_then(|rest| rest.strip_prefix('-'));
                format!("{cli} · {}", own.unwrap_or(model))
            }
            None => cli.to_owned(),
        }
    }

    /// Returns the session that follows this one at another adapter; the conversation does not move with it.
    pub fn successor_at_adapter(&self, id: SessionId, adapter: String) -> Self {
        let began_with = self.moved_from.as_ref().unwrap_or(&self.adapter);
        let moved_from = (*began_with != adapter).then(|| began_with.clone());
        Self {
            degraded: true,
            moved_from,
            todos: self.todos.clone(),
            ..Self::new(id, adapter, self.last_user_agent)
        }
    }

    /// Returns whether the next prompt must repeat everything that the conversation knew, because the CLI lost it.
    pub fn needs_recovery(&self) -> bool {
        self.degraded && self.external_id.is_none()
    }

    /// Returns the current profile: that of the last user message.
    pub fn current_profile(&self) -> TurnProfile {
        self.last_user_agent
    }

    /// Records a message that was appended.
    pub fn record_message(&mut self, role: MessageRole, agent: TurnProfile) {
        self.n_messages += 1;
        if role == MessageRole::User {
            self.last_user_agent = agent;
        }
    }
}

/// Returns a version with the name of its adapter in front, unless the version starts with it.
pub fn version_label(adapter: &str, version: &str) -> String {
    if adapter.is_empty() || version.starts_with(adapter) {
        version.to_owned()
    } else {
        format!("{adapter} {version}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_names_no_agent_is_build_s() {
        let stored =
            r#"{"id":"msg_1","turn":null,"role":"user","synthetic":false,"ts":0,"text":"hello"}"#;
        let message: Message = serde_json::from_str(stored).unwrap();
        assert_eq!(message.agent, TurnProfile::Build);
    }
}
