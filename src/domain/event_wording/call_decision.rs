//! Words the decisions about agents' calls.

use std::collections::BTreeMap;

use super::{EventSpeaker, EventTone, EventWording, RejectedFindings, word_event, word_review};
use crate::domain::event::{Approval, ApprovalDecider, CallPermission, DenialKind, Event};
use crate::domain::ids::RequestId;
use crate::text::clean_to_one_line;

/// Words events in their order; remembers the calls that wait, to name each one with its decision, and which findings the
/// planner rejects.
#[derive(Debug, Default)]
pub struct CallDescriptions {
    waiting: BTreeMap<RequestId, String>,
    rejected: RejectedFindings,
}

impl CallDescriptions {
    /// Words the next event, also one that decides about a call; `None` where there is nothing to say.
    pub fn word_event(&mut self, event: &Event) -> Option<EventWording> {
        match event {
            Event::ApprovalRequested(approval) => {
                self.waiting
                    .insert(approval.request.clone(), approval.describe_call());
                None
            }
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                reason,
                denial,
                ..
            } => {
                let denial = DenialKind::from_event(*denial, reason);
                let call = self.waiting.remove(request);
                let call = call.as_deref().unwrap_or("the call");
                word_decision(call, *allowed, by, denial.shown_reason(reason))
            }
            Event::ApprovalExpired { approval, .. } => {
                self.waiting.remove(&approval.request);
                word_event(event)
            }
            Event::ReviewCommitted { review, .. } => Some(word_review(review, &self.rejected)),
            _ => {
                self.rejected.on_event(event);
                word_event(event)
            }
        }
    }
}

/// Words the decision about a call, described by [`Approval::describe_call`]; `None` where the program allows the call
/// by itself, because the call is worded anyway. `reason` is why it was denied, empty if no reason was given.
pub fn word_decision(
    call: &str,
    is_allowed: bool,
    by: &ApprovalDecider,
    reason: &str,
) -> Option<EventWording> {
    use EventTone::{Bad, Message, Quiet};
    let why = match reason {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let (speaker, tone, text) = match (is_allowed, by) {
        (true, ApprovalDecider::Permission) => return None,
        (true, ApprovalDecider::User) => (EventSpeaker::User, Message, format!("Allowed {call}")),
        (true, by) => (
            EventSpeaker::Program,
            Quiet,
            format!("Allowed by {by}: {call}"),
        ),
        (false, ApprovalDecider::User) => {
            (EventSpeaker::User, Message, format!("Denied {call}{why}"))
        }
        (false, _) => (EventSpeaker::Program, Bad, format!("Denied: {call}{why}")),
    };
    Some(EventWording::new(speaker, tone, text))
}

impl Approval {
    /// Describes what the call would do and, if it is a child's, whose it is.
    pub fn describe_call(&self) -> String {
        let what = clean_to_one_line(&self.targets.join(", "));
        let call = match &self.permission {
            CallPermission::Bash => what,
            permission @ (CallPermission::Edit
            | CallPermission::Read
            | CallPermission::Other(_)) => format!("{permission} {what}"),
        };
        match &self.child {
            Some(child) => format!("{}: {call}", child.last()),
            None => call,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_names_the_call_and_the_reason_of_a_denial() {
        let check = |wording: Option<EventWording>, speaker, tone, text: &str| {
            let wording = wording.unwrap();
            let found = (wording.speaker, wording.tone, wording.text.as_str());
            assert_eq!(found, (speaker, tone, text));
        };
        let decided = |is_allowed, by: &str, reason| {
            word_decision("rm x", is_allowed, &by.parse().unwrap(), reason)
        };
        assert_eq!(decided(true, "permission", ""), None);
        let (user, program) = (EventSpeaker::User, EventSpeaker::Program);
        check(
            decided(true, "user", ""),
            user,
            EventTone::Message,
            "Allowed rm x",
        );
        let denied = decided(false, "user", "");
        check(denied, user, EventTone::Message, "Denied rm x");
        let ruled = decided(false, "rules", "no rm");
        check(ruled, program, EventTone::Bad, "Denied: rm x: no rm");
        let allowed = decided(true, "cascade", "");
        check(
            allowed,
            program,
            EventTone::Quiet,
            "Allowed by cascade: rm x",
        );
    }
}
