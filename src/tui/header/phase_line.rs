//! The path of phases with how far the present one is, the gate and the mode: as much as a row holds.
//!
//! What is counted is always named. With less room, in this order: the usual mode goes, the count is said in short, the
//! path gives way to the present phase, its place among the phases goes, then the gate.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{align_left_and_right, join_parts, phase_path};
use crate::domain::phase::{Mode, Phase};
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::tui::labels;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// Iterations or steps, in words and in short; both may be empty.
#[derive(Debug, Default)]
pub struct PhaseProgress {
    /// As it is read.
    pub long: String,
    /// In few columns.
    pub short: String,
}

/// How far a run is in its phase.
pub fn phase_progress(state: &RunState) -> PhaseProgress {
    let told = |long: String, short: String| PhaseProgress { long, short };
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
            let long = format!("with the {} ({})", role.name(), to_one_line(adapter));
            told(long, String::new())
        }
        Phase::Init
        | Phase::WritePlan
        | Phase::Review
        | Phase::Respond
        | Phase::Approved
        | Phase::Done
        | Phase::Cancelled => PhaseProgress::default(),
    }
}

/// The style of a mode: one in which nothing is asked is to be watched.
pub fn mode_style(mode: Mode) -> Style {
    match mode {
        Mode::Yolo => theme::WARNING,
        Mode::Plan | Mode::Default | Mode::AutoEdit => theme::PLAIN,
    }
}

/// The path of phases, how far the present one is, the gate and the mode.
pub fn phase_line(state: &RunState, columns: usize) -> Line<'static> {
    let PhaseProgress { long, short } = phase_progress(state);
    let gate = format!("gate {}", labels::gate_label(state.gate));
    let mode = state.mode.name();
    let unusual = match state.mode {
        Mode::Default => "",
        Mode::Plan | Mode::AutoEdit | Mode::Yolo => mode,
    };
    let all = [
        join_parts(&[&long, &gate, &format!("mode {mode}")], " · "),
        join_parts(&[&long, &gate, unusual], " · "),
        join_parts(&[&short, &gate, unusual], " · "),
        join_parts(&[&short, unusual], " · "),
    ];
    let [_, _, with_gate, least] = &all;
    // One form a width, so that the path does not jump with what stands beside it.
    let whole = match columns {
        0..100 => phase_path::PhasePathForm::Recent,
        100..140 => phase_path::PhasePathForm::Compact,
        140.. => phase_path::PhasePathForm::Wide,
    };
    let paths = [whole, phase_path::PhasePathForm::Current].into_iter();
    let forms = paths.flat_map(|form| all.iter().take(3).map(move |terms| (form, terms)));
    let forms = forms.chain([
        (phase_path::PhasePathForm::NameOnly, with_gate),
        (phase_path::PhasePathForm::NameOnly, least),
    ]);
    let laid = |form| {
        let mut spans = vec![Span::raw(" ")];
        spans.extend(phase_path::phase_spans(state.phase, form));
        spans
    };
    let mut forms = forms.filter(|(form, terms)| {
        phase_path::spans_width(&laid(*form)) + text_width(terms) + 2 <= columns
    });
    let (form, terms) = forms
        .next()
        .unwrap_or((phase_path::PhasePathForm::NameOnly, least));
    let path = laid(form);
    let room = columns.saturating_sub(phase_path::spans_width(&path) + 2);
    let terms = format!("{} ", truncate_to_columns(terms, room));
    align_left_and_right(
        path,
        vec![Span::styled(terms, mode_style(state.mode))],
        columns,
    )
}
