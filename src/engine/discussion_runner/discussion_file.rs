//! Writes a discussion to a file beside the record of its run, for readers outside of the program.
//!
//! The record of the run stays authoritative; this file is a copy.

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::DiscussionId;
use crate::engine::engine_error::EngineError;
use crate::engine::run_context::RunContext;
use crate::store::StoreError;
use crate::store::discussion_files::SCHEMA;

/// A discussion with its schema number.
#[derive(Serialize)]
struct DiscussionFile<'a> {
    schema: u64,
    #[serde(flatten)]
    discussion: &'a GroupDiscussion,
}

/// Writes or replaces the file of a discussion.
pub(super) fn save_discussion(run: &RunContext, id: &DiscussionId) -> Result<(), EngineError> {
    let Some(discussion) = run.state().discussion(id) else {
        return Ok(());
    };
    let stored = DiscussionFile {
        schema: SCHEMA,
        discussion,
    };
    let path = run.journal.layout().discussion_file(id);
    let bytes = serde_json::to_vec_pretty(&stored).map_err(|error| {
        StoreError::from_io("write", &path, std::io::Error::other(error.to_string()))
    })?;
    Ok(run.journal.guard().replace(&path, &bytes)?)
}

/// Returns the result of a discussion as JSON, for `--json` and for agents.
pub fn discussion_to_json(discussion: &GroupDiscussion) -> Value {
    let order = &discussion.order;
    let mut whole = json!({
        "schema": SCHEMA,
        "discussion_id": order.id,
        "status": discussion.status,
        "topic": order.topic,
        "mode": order.terms.mode,
        "participants": order.participants,
    });
    let outcome = discussion.outcome.as_ref().map(|outcome| json!(outcome));
    if let (Some(whole), Some(Value::Object(outcome))) = (whole.as_object_mut(), outcome) {
        whole.extend(outcome);
    }
    whole["checks"] = json!(discussion.checks);
    if order.terms.verbose {
        whole["transcript"] = json!({ "rounds": discussion.rounds, "closing": discussion.closing });
    }
    whole
}

/// Returns the result of a discussion as Markdown for people, with all messages unless a short form was requested.
pub fn discussion_to_markdown(discussion: &GroupDiscussion) -> String {
    if discussion.order.terms.verbose {
        discussion.to_markdown()
    } else {
        discussion.result_to_markdown()
    }
}

/// Returns the text that an agent gets about a finished discussion, between markers that its content cannot
/// forge.
pub(in crate::engine) fn discussion_for_agent(discussion: &GroupDiscussion) -> String {
    let told = discussion_to_markdown(discussion);
    let told = told
        .replace("<discussion_result>", "<discussion_result >")
        .replace("</discussion_result>", "</discussion_result >");
    format!(
        "discussion_id: {}\nstatus: {}\n<discussion_result>\n{told}\n</discussion_result>",
        discussion.id(),
        discussion.status.name(),
    )
}
