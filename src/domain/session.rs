//! A role's conversation: who speaks through which adapter, and the messages it consists of.
//!
//! The messages themselves lie in files; here is only what follows from them.

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
    /// The turn it belongs to, where it does.
    pub turn: Option<TurnId>,
    /// Who speaks.
    pub role: MessageRole,
    /// The profile that is current with it; build where none is named.
    #[serde(default)]
    pub agent: TurnProfile,
    /// Whether this program wrote it rather than a person or a model.
    pub synthetic: bool,
    /// When.
    pub ts: UnixMillis,
    /// Its text.
    pub text: String,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// Instructions.
    System,
    /// The user, or this program in the user's place.
    User,
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
}

/// A role's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The adapter's name in the configuration.
    pub adapter: String,
    /// The conversation's id at the CLI, once it can be resumed.
    pub external_id: Option<String>,
    /// Whether the CLI lost the conversation once, so that it goes on from a recovery prompt.
    pub degraded: bool,
    /// The adapter that the role had before it was moved to this one; `None` where it is the one that the run began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The version that the running CLI reported of itself.
    pub version: Option<String>,
    /// How many messages it has.
    pub n_messages: u32,
    /// The agent of the last user message: the session's current agent.
    last_user_agent: TurnProfile,
    /// Running totals of the CLI's usage report.
    pub usage: SessionUsage,
    /// How much of its CLI's plan is used, where the CLI tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<AccountUsageWindow>,
    /// What its agent has written down to do.
    #[serde(default, skip_serializing_if = "TodoList::is_empty")]
    pub todos: TodoList,
    /// Free values about the session.
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
    /// Tokens that the conversation fills of the model's context now, where the CLI tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The model's context size in tokens, where the CLI tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
}

/// A span of time for which the plan of a CLI's account allows so much, as the CLI tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountUsageWindow {
    /// How long it is; `None` where the CLI does not tell.
    pub minutes: Option<u32>,
    /// How much of it is used, in hundredths; more than 100 where the plan allows that.
    pub used_percent: u16,
    /// When it begins anew.
    pub resets_at: Option<UnixMillis>,
}

impl AccountUsageWindow {
    /// Makes one of what a CLI tells: hundredths that are used, and seconds since 1970.
    pub fn from_report(minutes: Option<u32>, percent: f64, resets_at: Option<i64>) -> Self {
        Self {
            minutes,
            // A number out of range saturates, and what is none counts as nothing: `as` defines both.
            used_percent: percent.round() as u16,
            resets_at: resets_at.map(|seconds| UnixMillis(seconds.saturating_mul(1_000))),
        }
    }
}

impl Session {
    /// A session without messages; its agent is the given profile until one comes.
    pub fn new(id: SessionId, adapter: String, agent: TurnProfile) -> Self {
        Self {
            id,
            adapter,
            external_id: None,
            degraded: false,
            moved_from: None,
            version: None,
            n_messages: 0,
            last_user_agent: agent,
            usage: SessionUsage::default(),
            plan: Vec::new(),
            todos: TodoList::default(),
            metadata: BTreeMap::new(),
        }
    }

    /// The session that follows this one at another adapter: nothing of the conversation goes with it.
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

    /// Tells whether the next prompt must say all that the conversation knew: the CLI does not have it any more.
    pub fn needs_recovery(&self) -> bool {
        self.degraded && self.external_id.is_none()
    }

    /// The current agent: that of the last user message.
    pub fn current_profile(&self) -> TurnProfile {
        self.last_user_agent
    }

    /// Takes note of a message that was appended.
    pub fn record_message(&mut self, role: MessageRole, agent: TurnProfile) {
        self.n_messages += 1;
        if role == MessageRole::User {
            self.last_user_agent = agent;
        }
    }
}

/// A version with the name of its adapter, which it may begin with itself.
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
