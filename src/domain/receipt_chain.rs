//! Defines the receipts of a run as a chain: canonical JSON, each with the hash of the one before it (TRUTH.md T30).
//!
//! Pure: `store::receipt_files` writes and reads the files. The test result that a step carries in the event log is
//! `receipt::Receipt`.

mod chain_check;
mod chain_notes;
mod chain_steps;
mod check_reruns;
mod compact_report;
mod missing_links;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::EnumTryAs;
use thiserror::Error;

use super::bound_parts::BoundPart;
use super::ids::{RunId, Sha256, UnixMillis};
use super::receipt::TestOutcome;
use super::step_proof::{ProofCell, ProofStatus};
use super::test_report::TestReport;

pub use chain_check::{
    BreakCause, ChainBreak, ChainReading, check_chain, check_contents, read_chain,
};
pub use chain_notes::{CommitNote, NoteLines, NotedChain, note_lines, read_notes};
pub use chain_steps::{ChainStep, ChainStepStatus, WaiverPolicy, list_steps};
pub use check_reruns::{StepCheck, describe_differences, list_step_checks};
pub use missing_links::{ApprovalFacts, missing_links};

/// The version of the receipts that this program writes.
const CHAIN_VERSION: u64 = 1;

/// One receipt of a run, with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    pub run: RunId,
    /// Its number in the chain, from 1.
    pub number: u32,
    /// The hash of the bytes of the receipt before it; `None` for the first.
    pub previous: Option<Sha256>,
    pub at: UnixMillis,
    pub kind: LinkKind,
}

/// What a receipt records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, EnumTryAs)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum LinkKind {
    Approval(ApprovalLink),
    /// Answers of the user that extend the approval before it.
    Extension(ExtensionLink),
    /// Other versions than those of the approval before it.
    Versions(VersionsLink),
    Check(CheckLink),
    Step(StepLink),
    Undo(ReversalLink),
    Redo(ReversalLink),
    UsersCommits(UserCommitsLink),
    /// Of a version or a kind that this program does not know; it is kept as it is.
    #[serde(skip)]
    Unknown(UnknownLink),
}

/// The user's approval of a plan; later steps belong to the last one before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalLink {
    pub plan_sha256: Sha256,
    /// The full id of the commit that was checked out; `None` before the first commit and without git.
    pub base: Option<String>,
    pub test_command: Option<String>,
    /// The names of the environment variables that checks get.
    pub environment: Vec<String>,
    /// The versions of this program (`agent-collab`) and of the CLIs, by name.
    pub versions: BTreeMap<String, String>,
    /// What else it is bound to: rule files, values of the environment, carried files. Earlier receipts have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<BoundPart>,
}

/// Answers of the user that extend an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionLink {
    /// In the order in which they were given; at least one.
    pub answers: Vec<ApprovalExtension>,
}

/// An answer of the user that allows more than the approval says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalExtension {
    /// The step; 0 before the first one.
    pub step: u32,
    /// The kind of question, as `--answer` names it; `call` for a call of an agent.
    pub question: String,
    /// What was asked, in one line.
    pub about: String,
    pub answer: String,
}

/// The versions with which a run continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionsLink {
    /// All of them, by the name of the program.
    pub versions: BTreeMap<String, String>,
}

/// One run of the tests, or of a proof command, on a clean tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckLink {
    pub step: u32,
    pub cell: ProofCell,
    pub command: String,
    /// The full id of the git tree that was tested.
    pub tree: String,
    pub outcome: TestOutcome,
    /// The exit code, where the command ended by itself.
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    pub sandboxed: bool,
    /// The network that it had, as `[test] network` names it.
    pub network: String,
    /// Whether the variable `CI` was not set; all other checks have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_ci: bool,
    /// The tests by name; `None` where only the exit code is known.
    #[serde(with = "compact_report")]
    pub report: Option<TestReport>,
    /// The hash of its output, which is a file of its own.
    pub output_sha256: Sha256,
    /// The hash of the environment that it ran in.
    pub environment_sha256: Sha256,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepLink {
    pub step: u32,
    /// The step's text in the plan.
    pub text: String,
    /// The hash of the plan that it belongs to, as in its approval.
    pub plan_sha256: Sha256,
    /// The full ids of the git trees around the step.
    pub tree_before: String,
    pub tree_after: String,
    /// The full id of its commit; `None` where nothing was committed.
    pub commit: Option<String>,
    pub status: ProofStatus,
    /// Who accepted it without a proof; `None` where nobody had to.
    pub waived_by: Option<WaiverSource>,
    /// The numbers of the receipts of its checks.
    pub checks: Vec<u32>,
    /// The tests that were found flaky, as their identities read; the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// What its checks showed, in one line: `red → green · kept 13`.
    pub summary: String,
}

/// Where a waiver comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaiverSource {
    /// The plan that the user approved.
    Plan,
    /// The user, later; with the user's words.
    User(String),
}

/// Steps that were undone, or redone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReversalLink {
    pub steps: Vec<u32>,
    /// The full id of the commit that undoes or redoes them; `None` where nothing was committed.
    pub commit: Option<String>,
}

/// Commits of the user between two steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserCommitsLink {
    /// Their full ids, oldest first.
    pub commits: Vec<String>,
}

/// The parts of a receipt that a newer version of this program wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLink {
    pub version: u64,
    pub kind: String,
    pub data: Value,
}

/// Why some bytes are not a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LinkParseError {
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It says the same as a receipt in other bytes, so somebody else wrote it.
    #[error("its bytes are not as this program writes them")]
    NotCanonical,
}

/// What all receipts have, of any version.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEnvelope {
    version: u64,
    run: RunId,
    number: u32,
    previous: Option<Sha256>,
    at: UnixMillis,
    kind: String,
    data: Value,
}

/// Writes a receipt: keys in order, no white space, whole numbers only.
pub fn to_canonical_bytes(link: &ChainLink) -> Vec<u8> {
    let (version, kind, data) = match &link.kind {
        LinkKind::Unknown(unknown) => (unknown.version, unknown.kind.clone(), unknown.data.clone()),
        known => {
            // No receipt fails to serialize: the keys of its maps are texts.
            let mut value = serde_json::to_value(known).unwrap_or_default();
            let kind = value["kind"].as_str().unwrap_or_default().to_owned();
            (CHAIN_VERSION, kind, value["data"].take())
        }
    };
    let envelope = LinkEnvelope {
        version,
        run: link.run.clone(),
        number: link.number,
        previous: link.previous.clone(),
        at: link.at,
        kind,
        data,
    };
    let mut value = serde_json::to_value(envelope).unwrap_or_default();
    value.sort_all_objects();
    value.to_string().into_bytes()
}

/// Reads a receipt. One of an unknown version or kind is [`LinkKind::Unknown`].
///
/// # Errors
/// The bytes are no receipt, or not the bytes that this program writes for it.
pub fn parse_link(bytes: &[u8]) -> Result<ChainLink, LinkParseError> {
    let unreadable = |error: serde_json::Error| LinkParseError::Unreadable(error.to_string());
    let envelope: LinkEnvelope = serde_json::from_slice(bytes).map_err(unreadable)?;
    let LinkEnvelope {
        version,
        run,
        number,
        previous,
        at,
        kind,
        data,
    } = envelope;
    if has_fraction(&data) {
        return Err(LinkParseError::NotCanonical);
    }
    let kind = if version == CHAIN_VERSION && is_known_kind(&kind) {
        let tagged = serde_json::json!({ "kind": kind, "data": data });
        serde_json::from_value(tagged).map_err(unreadable)?
    } else {
        LinkKind::Unknown(UnknownLink {
            version,
            kind,
            data,
        })
    };
    let link = ChainLink {
        run,
        number,
        previous,
        at,
        kind,
    };
    if to_canonical_bytes(&link) == bytes {
        Ok(link)
    } else {
        Err(LinkParseError::NotCanonical)
    }
}

fn is_known_kind(kind: &str) -> bool {
    const KNOWN: [&str; 8] = [
        "approval",
        "extension",
        "versions",
        "check",
        "step",
        "undo",
        "redo",
        "users_commits",
    ];
    KNOWN.contains(&kind)
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(fields) => fields.values().any(has_fraction),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

impl LinkKind {
    /// Returns the full ids of the commits that the receipt stands for.
    pub fn commits(&self) -> &[String] {
        match self {
            Self::Step(StepLink { commit, .. })
            | Self::Undo(ReversalLink { commit, .. })
            | Self::Redo(ReversalLink { commit, .. }) => commit.as_slice(),
            Self::UsersCommits(UserCommitsLink { commits }) => commits,
            Self::Approval(_)
            | Self::Extension(_)
            | Self::Versions(_)
            | Self::Check(_)
            | Self::Unknown(_) => &[],
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
