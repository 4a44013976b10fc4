//! Words what agents say and do.

use super::{EventSpeaker, EventTone, EventWording, describe_tool_call};
use crate::domain::event::AgentActivity;
use crate::domain::step_result;
use crate::domain::turn::Role;
use crate::text::capitalize;

/// Words what the agent of a role, or of a task, said or did; `None` where there is nothing to say.
pub fn word_activity(role: Option<Role>, news: &AgentActivity) -> Option<EventWording> {
    use EventTone::{Bad, Message, Minor, Quiet, Warning};
    let who = role.map_or("agent", Role::name);
    let agent = |tone, text: String| Some(EventWording::new(EventSpeaker::Agent(role), tone, text));
    match news {
        AgentActivity::Text { text } => {
            agent(Message, step_result::with_result_line(text).into_owned())
        }
        AgentActivity::ToolStarted {
            tool,
            title,
            detail,
            ..
        } => {
            let (verb, subject) = describe_tool_call(tool, title, detail.as_ref());
            agent(Quiet, verb + &subject)
        }
        AgentActivity::ToolEnded {
            status,
            exit_code: Some(code),
            ..
        } if *code != 0 => agent(Minor, format!("The call ended: {status}, exit {code}")),
        AgentActivity::CallDenied { tool, reason } => {
            agent(Bad, format!("{tool} denied: {reason}"))
        }
        AgentActivity::Retrying {
            reason,
            attempt,
            max,
        } => {
            let max = max.map_or(String::new(), |max| format!(" of {max}"));
            let attempt = attempt.map(|attempt| format!(" (attempt {attempt}{max})"));
            let attempt = attempt.unwrap_or_default();
            let who = capitalize(who);
            agent(Quiet, format!("{who} tries again: {reason}{attempt}"))
        }
        AgentActivity::Notice { text } => agent(Quiet, text.clone()),
        AgentActivity::Silent { seconds, verdict } => {
            let why = verdict.as_ref().map(|why| format!(", {why}"));
            let why = why.unwrap_or_default();
            agent(
                Warning,
                format!("No output from the {who} for {seconds} s{why}"),
            )
        }
        AgentActivity::Unknown { frame } => agent(Quiet, format!("Unknown frame `{frame}` (kept)")),
        AgentActivity::Malformed { problem } => agent(Bad, format!("Malformed line: {problem}")),
        AgentActivity::Thinking { .. }
        | AgentActivity::ToolEnded { .. }
        | AgentActivity::FilesChanged { .. } => None,
    }
}
