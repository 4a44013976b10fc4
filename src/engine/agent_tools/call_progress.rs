//! Reports to waiting calls what the children that they wait for are doing, each in one line.

use crate::domain::event::{AgentActivity, Event};
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
        AgentActivity::Text { text } => Some(format!("says {text}")),
        AgentActivity::Thinking { .. } => Some("thinks".to_owned()),
        AgentActivity::ToolStarted { tool, title, .. } => Some(format!("calls {tool} {title}")),
        AgentActivity::FilesChanged { paths, .. } => {
            let paths: Vec<&str> = paths.keys().map(String::as_str).collect();
            Some(format!("changes {}", paths.join(", ")))
        }
        AgentActivity::CallDenied { tool, reason } => {
            Some(format!("may not call {tool}: {reason}"))
        }
        AgentActivity::Retrying { reason } => Some(format!("tries again: {reason}")),
        AgentActivity::Silent { seconds, verdict } => Some(match verdict {
            Some(verdict) => verdict.clone(),
            None => format!("has said nothing for {seconds} s"),
        }),
        AgentActivity::ToolEnded { .. }
        | AgentActivity::Notice { .. }
        | AgentActivity::Unknown { .. }
        | AgentActivity::Malformed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::ToolKind;

    fn describe_or_nothing(news: AgentActivity) -> String {
        describe_activity(&news).unwrap_or_else(|| "nothing".to_owned())
    }

    #[test]
    fn what_a_child_does_is_told_in_plain_words() {
        let calls = AgentActivity::ToolStarted {
            item: "1".to_owned(),
            tool: ToolKind::Command,
            title: "cargo test".to_owned(),
        };
        assert_eq!(describe_or_nothing(calls), "calls command cargo test");
        let thinks = AgentActivity::Thinking {
            text: "a secret plan".to_owned(),
        };
        assert_eq!(describe_or_nothing(thinks), "thinks");
        let says = AgentActivity::Text {
            text: "Found it.".to_owned(),
        };
        assert_eq!(describe_or_nothing(says), "says Found it.");
        let silent = |verdict: Option<&str>| AgentActivity::Silent {
            seconds: 30,
            verdict: verdict.map(str::to_owned),
        };
        assert_eq!(
            describe_or_nothing(silent(None)),
            "has said nothing for 30 s"
        );
        assert_eq!(
            describe_or_nothing(silent(Some("waits for the model"))),
            "waits for the model"
        );
        let unknown = AgentActivity::Unknown {
            frame: "x".to_owned(),
        };
        assert_eq!(describe_or_nothing(unknown), "nothing");
    }
}
