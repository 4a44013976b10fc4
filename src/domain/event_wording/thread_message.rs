//! Words what is said in threads about the plan.

use super::{EventSpeaker, EventTone, EventWording};
use crate::domain::plan_thread::{ThreadAuthor, ThreadChanges, ThreadEntry, UserNote};
use crate::domain::turn::Role;
use crate::text::{clean_to_one_line, pluralize};

pub(super) fn word_note(note: &UserNote) -> String {
    word_entry(&ThreadEntry::from(note))
}

fn word_entry(entry: &ThreadEntry) -> String {
    let place = match (entry.thread, entry.finding, entry.line) {
        (Some(n), ..) => format!("In thread {n}"),
        (None, Some(n), _) => format!("Note on finding {n}"),
        (None, None, 0) => "Note on the plan".to_owned(),
        (None, None, line) => format!("Note on line {line} of the plan"),
    };
    format!("{place}: {}", entry.text)
}

/// Words what a document says in threads; `None` where it only moves them.
pub(super) fn word_changes(changes: &ThreadChanges) -> Option<EventWording> {
    let first = changes.said.first()?;
    let speaker = match first.author {
        ThreadAuthor::User => EventSpeaker::User,
        ThreadAuthor::Planner => EventSpeaker::Agent(Some(Role::Planner)),
        ThreadAuthor::Reviewer => EventSpeaker::Agent(Some(Role::Reviewer)),
    };
    let text = match changes.said.as_slice() {
        [only] => clean_to_one_line(&word_entry(only)),
        all => format!("{} in threads of the plan", pluralize(all.len(), "message")),
    };
    let wording = EventWording::new(speaker, EventTone::Quiet, text);
    Some(match changes.said.len() {
        1 => wording,
        _ => wording.with_detail(changes.said.iter().map(word_entry)),
    })
}
