//! Finds the thread that a command is about, and what is to be done with it. Drawing threads is the work of the tabs.

use super::document_texts::DisplayDocuments;
use super::finding_location::locate_finding;
use super::text_wrap::to_one_line;
use crate::domain::event::Event;
use crate::domain::findings::FindingOutcome;
use crate::domain::plan_thread::{PlanThread, UserNote};
use crate::domain::review;
use crate::domain::run::RunState;

/// Returns the open thread with this number, or that of the selected place.
fn find_thread<'a>(
    n: Option<u32>,
    place: Option<&UserNote>,
    state: &'a RunState,
) -> Option<&'a PlanThread> {
    let here = place.and_then(|place| place.thread);
    n.or(here).and_then(|n| state.threads.get(n))
}

/// Splits `PLACE: TEXT` into a note there; `None` where the words before
/// the colon name no place, such as `step 2`, or none follow.
pub fn parse_note(text: &str, state: &RunState, texts: &DisplayDocuments) -> Option<UserNote> {
    let (place, said) = text.split_once(':')?;
    let plan = texts.plan.text.as_deref().unwrap_or_default();
    let entry = review::named_entry(place, &state.threads, plan)?;
    let known = entry.finding.filter(|n| {
        state
            .findings
            .all()
            .iter()
            .any(|found| found.remark.n == *n)
    });
    (entry.finding == known && !said.trim().is_empty()).then(|| UserNote {
        line: entry.line,
        quote: entry.quote,
        text: said.trim().to_owned(),
        thread: entry.thread,
        finding: entry.finding,
        version: state.findings.plan_version(),
    })
}

/// Returns the place that `PLACE: TEXT` names by a number, for a note of which [`parse_note`] did not find the place.
pub fn find_missing_place(text: &str) -> Option<String> {
    let (place, said) = text.split_once(':')?;
    let is_note = review::names_place(place) && !said.trim().is_empty();
    is_note.then(|| to_one_line(place))
}

/// Returns the event that takes back a note that no agent has, and resolves any other thread.
///
/// # Errors
/// No open thread is meant; the message says what to do.
pub fn close_thread(
    n: Option<u32>,
    place: Option<&UserNote>,
    state: &RunState,
) -> Result<Event, &'static str> {
    let meant = find_thread(n, place, state).filter(|thread| !thread.is_resolved);
    match meant {
        Some(thread) if thread.is_unsent() => Ok(Event::NoteRemoved { n: thread.n }),
        Some(thread) => Ok(Event::ThreadResolved { n: thread.n }),
        None => Err("No open thread here. Select it or its line, or name its number (/unnote 1)."),
    }
}

/// What to look at to see what was changed for a finding or a thread.
pub struct PlanComparison {
    /// The review whose plan is the earlier one; 0 for the first plan.
    pub review: u32,
    /// Its line now, from 0; `None` if it is unclear.
    pub line: Option<usize>,
    /// Why nothing was changed for it, if so.
    pub unchanged: Option<&'static str>,
}

/// Returns what to compare for the selected finding or thread, or for thread `n`; `None` if neither is meant.
pub fn find_comparison(
    n: Option<u32>,
    place: Option<&UserNote>,
    state: &RunState,
    texts: &DisplayDocuments,
) -> Option<PlanComparison> {
    let finding = place
        .and_then(|place| place.finding)
        .filter(|_| n.is_none());
    let lines = texts.plan_lines();
    let mut findings = state.findings.all().iter();
    if let Some(finding) = findings.find(|found| Some(found.remark.n) == finding) {
        return Some(PlanComparison {
            review: finding.raised_in,
            line: locate_finding(finding, &lines),
            unchanged: match finding.outcome() {
                FindingOutcome::Withdrawn => Some("The reviewer withdrew this finding"),
                FindingOutcome::Rejected => Some("This finding was rejected with reason"),
                FindingOutcome::Open
                | FindingOutcome::Fixed
                | FindingOutcome::DecidedByUser
                | FindingOutcome::LeftOpen => None,
            },
        });
    }
    let thread = find_thread(n, place, state)?;
    Some(PlanComparison {
        review: thread.opened_in,
        line: thread.find_line(&lines),
        unchanged: None,
    })
}
