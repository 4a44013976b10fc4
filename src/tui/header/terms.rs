//! The path of phases with how far the present one is, the gate and the mode: as much as a row holds.
//!
//! What is counted is always named. With less room, in this order: the usual mode goes, the count is said in short, the
//! path gives way to the present phase, its place among the phases goes, then the gate.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{aligned_right, joined, path};
use crate::domain::phase::{Mode, Phase};
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::tui::theme;
use crate::tui::words;
use crate::tui::wrap::{cut, one_line, width};

/// Iterations or steps, in words and in short; both may be empty.
#[derive(Debug, Default)]
pub struct HowFar {
    /// As it is read.
    pub long: String,
    /// In few columns.
    pub short: String,
}

/// How far a run is in its phase.
pub fn how_far(state: &RunState) -> HowFar {
    let told = |long: String, short: String| HowFar { long, short };
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            let (n, cap) = (state.iteration, state.iteration_limit());
            told(format!("iteration {n} of {cap}"), format!("iter {n}/{cap}"))
        }
        Phase::Execute => {
            let StepCount { done, all } = state.step_count();
            let execution = state.execution.as_ref();
            match execution.and_then(|execution| execution.current.as_ref()) {
                Some(current) => {
                    let n = current.n;
                    told(format!("step {n} of {all}"), format!("step {n}/{all}"))
                }
                None => told(
                    format!("{done} of {all} steps done"),
                    format!("{done}/{all} steps"),
                ),
            }
        }
        // Who talks about the goal is named as the one who works as well.
        Phase::RefineGoal => {
            let role = state.refiner;
            let adapter = state.session(role).map_or("", |session| &session.adapter);
            let long = format!("with the {} ({})", role.name(), one_line(adapter));
            told(long, String::new())
        }
        Phase::Init
        | Phase::WritePlan
        | Phase::Review
        | Phase::Respond
        | Phase::Approved
        | Phase::Done
        | Phase::Cancelled => HowFar::default(),
    }
}

/// The style of a mode: one in which nothing is asked is to be watched.
pub fn of_mode(mode: Mode) -> Style {
    match mode {
        Mode::Yolo => theme::WARNING,
        Mode::Plan | Mode::Default | Mode::AutoEdit => theme::PLAIN,
    }
}

/// The path of phases, how far the present one is, the gate and the mode.
pub fn path_line(state: &RunState, columns: usize) -> Line<'static> {
    let HowFar { long, short } = how_far(state);
    let gate = format!("gate {}", words::gate(state.gate));
    let mode = state.mode.name();
    let unusual = match state.mode {
        Mode::Default => "",
        Mode::Plan | Mode::AutoEdit | Mode::Yolo => mode,
    };
    let all = [
        joined(&[&long, &gate, &format!("mode {mode}")], " · "),
        joined(&[&long, &gate, unusual], " · "),
        joined(&[&short, &gate, unusual], " · "),
        joined(&[&short, unusual], " · "),
    ];
    let [_, _, with_gate, least] = &all;
    // One form a width, so that the path does not jump with what stands beside it.
    let whole = match columns {
        0..100 => path::Form::Recent,
        100..140 => path::Form::Close,
        140.. => path::Form::Wide,
    };
    let paths = [whole, path::Form::Present].into_iter();
    let forms = paths.flat_map(|form| all.iter().take(3).map(move |terms| (form, terms)));
    let forms = forms.chain([(path::Form::Alone, with_gate), (path::Form::Alone, least)]);
    let laid = |form| {
        let mut spans = vec![Span::raw(" ")];
        spans.extend(path::spans(state.phase, form));
        spans
    };
    let mut forms =
        forms.filter(|(form, terms)| path::columns(&laid(*form)) + width(terms) + 2 <= columns);
    let (form, terms) = forms.next().unwrap_or((path::Form::Alone, least));
    let path = laid(form);
    let room = columns.saturating_sub(path::columns(&path) + 2);
    let terms = format!("{} ", cut(terms, room));
    aligned_right(
        path,
        vec![Span::styled(terms, of_mode(state.mode))],
        columns,
    )
}
