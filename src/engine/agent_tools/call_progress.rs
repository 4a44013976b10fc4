//! Reports to waiting calls what the children that they wait for are doing, each in one line.

use crate::domain::event::{AgentActivity, Event};
use crate::domain::event_wording::word_activity;
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;
use crate::engine::owner_request::OwnerRequest;
use crate::text::{clean_to_one_line, truncate};

/// The longest progress line, in characters.
const MAX_PROGRESS_CHARS: usize = 160;

/// Returns what an event of a child means for the calls that wait for it.
pub(in crate::engine) fn describe_child_progress(
    state: &RunState,
    event: &Event,
) -> Option<OwnerRequest> {
    let (session, activity) = child_progress(event)?;
    let mut children = state.children.iter();
    let child = children.find(|child| child.session_id() == session)?;
    let line = clean_to_one_line(&format!("{}: {activity}", child.order.short_name()));
    let speaks = child.order.speaks.as_ref();
    Some(OwnerRequest::ReportCallProgress {
        session: session.clone(),
        discussion: speaks.map(|speaks| speaks.discussion.clone()),
        line: truncate::to_chars(&line, MAX_PROGRESS_CHARS),
    })
}

/// Returns the child that an event is about, and what it does now; `None` if there is nothing to report.
fn child_progress(event: &Event) -> Option<(&SessionId, String)> {
    match event {
        Event::TaskDispatched { session } => Some((session, "begins".to_owned())),
        Event::TaskActivity { session, news } => Some((session, describe_activity(news)?)),
        Event::TaskEnded(result) => Some((&result.task_id, result.end.status().name().to_owned())),
        _of_no_child => None,
    }
}

fn describe_activity(news: &AgentActivity) -> Option<String> {
    match news {
        AgentActivity::Thinking { .. } => Some("thinks".to_owned()),
        AgentActivity::Text { .. }
        | AgentActivity::ToolStarted { .. }
        | AgentActivity::CallDenied { .. }
        | AgentActivity::Retrying { .. }
        | AgentActivity::Silent { .. } => word_activity(None, news).map(|wording| wording.text),
        // A change of files follows a call that was reported.
        AgentActivity::FilesChanged { .. }
        | AgentActivity::ToolEnded { .. }
        | AgentActivity::Notice { .. }
        | AgentActivity::Unknown { .. }
        | AgentActivity::Malformed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::ToolKind;

    #[test]
    fn a_child_is_reported_in_the_words_of_its_events_and_its_thoughts_stay_its_own() {
        let check = |news: AgentActivity, progress: Option<&str>| {
            assert_eq!(describe_activity(&news).as_deref(), progress);
        };
        let calls = AgentActivity::ToolStarted {
            item: "1".to_owned(),
            tool: ToolKind::Command,
            title: "cargo test".to_owned(),
            detail: None,
        };
        check(calls, Some("$ cargo test"));
        let text = "a secret plan".to_owned();
        check(AgentActivity::Thinking { text }, Some("thinks"));
        let text = "Found it.".to_owned();
        check(AgentActivity::Text { text }, Some("Found it."));
        let frame = "x".to_owned();
        check(AgentActivity::Unknown { frame }, None);
    }
}
