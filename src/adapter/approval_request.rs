//! Defines the request for a decision about a call, as it travels from the protocol to the user.

use serde::{Deserialize, Serialize};

use crate::domain::ids::RequestId;
use crate::permission::AgentToolCall;

use super::FileChange;

/// A call about which an agent's CLI, or a tool of the program, asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The request's id where it was made.
    pub request: RequestId,
    /// The tool call that the request belongs to, where known.
    pub item: Option<String>,
    pub call: AgentToolCall,
    /// The reason that the agent or the CLI gives.
    pub reason: Option<String>,
    /// The sub-agent that makes the call, if it is not the agent itself.
    #[serde(rename = "origin")]
    pub sub_agent: Option<String>,
    /// The changes of an edit, as far as they are known; empty for all other calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// The fingerprint of the tool and its input, see [`crate::permission::loop_detector::call_fingerprint`]; `None` if
    /// the CLI does not report the input.
    #[serde(skip)]
    pub fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "DecisionWait::is_until_user_decides")]
    pub wait: DecisionWait,
}

/// How long a CLI or tool waits for the decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionWait {
    /// Until the user has answered.
    #[default]
    UntilUserDecides,
    /// Only for an immediate decision; if the user must decide, the CLI asks again.
    ImmediateOnly,
}

impl DecisionWait {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_until_user_decides(&self) -> bool {
        *self == Self::UntilUserDecides
    }
}
