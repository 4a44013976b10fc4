//! Dialog: leave, although something works? It says what would end with the program, since when it is at it, and what is kept.
//!
//! Refuses to ask where nothing would end.

use crate::domain::phase::Phase;
use crate::domain::run::{ProgramOperation, RunState};
use crate::domain::task::ChildSession;
use crate::text::pluralize;
use crate::tui::action::{Action, QuitStep};
use crate::tui::header::busy_in_words;
use crate::tui::sheet::{Sheet, StopKind, Then};
use crate::tui::theme;
use crate::tui::words::Clock;
use crate::tui::wrap::{cut, one_line};

/// The identity of the dialog.
pub const ID: &str = "confirm quit";
/// How many of those that run are named.
const MAX_NAMED: usize = 4;
/// How many columns of what one is about are told, so that the others are seen beside it.
const MOST_OF_TEXT: usize = 64;

/// The dialog, where something works; `key` is that of leaving.
pub fn sheet(state: &RunState, clock: Clock, key: &str) -> Option<Sheet> {
    let works = works(state, clock);
    let is_task = |child: &&ChildSession| child.is_running() && child.order.speaks.is_none();
    let tasks: Vec<&ChildSession> = state.children.iter().filter(is_task).collect();
    let talks = state.discussions.iter().filter(|each| each.is_running());
    let talks: Vec<&str> = talks.map(|each| each.order.topic.as_str()).collect();
    let counts = [(tasks.len(), "task"), (talks.len(), "discussion")];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts = counts.map(|(n, what)| pluralize(n, what));
    let ends: Vec<String> = works
        .iter()
        .map(|works| works.ends.to_owned())
        .chain(counts)
        .collect();
    if ends.is_empty() {
        return None;
    }
    let title = format!("leave, and end {}?", ends.join(" and "));
    let tasked = tasks.iter().map(|child| {
        let about = cut(&one_line(&child.order.description), MOST_OF_TEXT);
        format!("{}: {about}", child.order.short_name())
    });
    let talked = talks
        .iter()
        .map(|topic| format!("discussion: {}", cut(&one_line(topic), MOST_OF_TEXT)));
    let who = works.iter().map(|works| works.who.clone());
    let named: Vec<String> = who.chain(tasked).chain(talked).collect();
    let mut sheet = asked(&title).says(&super::listed(&named, MAX_NAMED), theme::CODE);
    let kept = [
        works.map(|works| works.kept),
        (!tasks.is_empty()).then_some(
            "A task ends where it is. What it said stays in its session, which can be gone on with.",
        ),
        (!talks.is_empty())
            .then_some("A discussion keeps its finished rounds; /discuss-on goes on after them."),
        Some("The run is saved; the next start offers to go on."),
    ];
    for text in kept.into_iter().flatten() {
        sheet = sheet.says(text, theme::PLAIN);
    }
    Some(offered(sheet, key))
}

/// The dialog once nothing works any more that it was opened for.
pub fn at_rest(key: &str) -> Sheet {
    let text = "What was under way has come to its end meanwhile. All is saved.";
    offered(asked("leave?").says(text, theme::PLAIN), key)
}

fn asked(title: &str) -> Sheet {
    Sheet::new(ID, title).until_answered(StopKind::Leave)
}

fn offered(sheet: Sheet, key: &str) -> Sheet {
    let leave = Then::ActAndBack(vec![Action::Quit(QuitStep::Ask)]);
    sheet
        .offers('y', &format!("leave ({key} again: at once)"), leave)
        .offers('n', "no, back", Then::Back)
        .first(1)
}

/// What the workflow is at.
struct Works {
    /// What would end, after "end".
    ends: &'static str,
    /// Who is at what, since when.
    who: String,
    /// What becomes of it.
    kept: &'static str,
}

fn works(state: &RunState, clock: Clock) -> Option<Works> {
    let kept = match (&state.busy, state.phase) {
        (Some(ProgramOperation::Reversing { .. }), _) => {
            "What is being put back is gone through with when the run goes on."
        }
        (_, Phase::Execute) => {
            "The step is cut off. Its changes stay in the work tree; when the run goes on, you say what becomes of them."
        }
        _ => "It is cut off, and done again when the run goes on. What was said and written stays.",
    };
    if let Some(running) = &state.running {
        let role = running.order.purpose.role();
        let adapter = state.session(role).map_or("", |session| &session.adapter);
        return Some(Works {
            ends: "the turn",
            who: format!(
                "{} ({}) {}, since {}",
                role.name(),
                one_line(adapter),
                running.order.purpose.describe(),
                clock.minute(running.started_at)
            ),
            kept,
        });
    }
    // A turn that is held back has not begun: nothing of it would end.
    let is_at_work = |busy: &&ProgramOperation| !matches!(busy, ProgramOperation::Held { .. });
    let busy = state.busy.as_ref().filter(is_at_work)?;
    Some(Works {
        ends: "what is under way",
        who: format!("the program {}", busy_in_words(busy)),
        kept,
    })
}
