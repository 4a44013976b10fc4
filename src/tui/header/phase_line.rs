//! The phases of the run with the progress of the current one, the gate and the mode, as much as fits into a row.
//!
//! Numbers always have a label. If space is short, these go in order: the default mode, the long form of the
//! progress, all phases but the current one, the phase's number, the gate.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{align_left_and_right, join_parts, phase_path};
use crate::domain::phase::{Mode, Phase};
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::tui::labels;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// The iteration or step; both forms can be empty.
#[derive(Debug, Default)]
pub struct PhaseProgress {
    pub long: String,
    pub short: String,
}

/// Returns the progress of a run within its phase.
pub fn phase_progress(state: &RunState) -> PhaseProgress {
    let told = |long: String, short: String| PhaseProgress { long, short };
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            let (n, cap) = (state.iteration, state.iteration_limit());
            told(format!("Review {n} of {cap}"), format!("Review {n}/{cap}"))
        }
        Phase::Execute => {
            let StepCount { done, all } = state.step_count();
            let execution = state.execution.as_ref();
            match execution.and_then(|execution| execution.current.as_ref()) {
                Some(current) => {
                    let n = current.n;
                    told(format!("Step {n} of {all}"), format!("Step {n}/{all}"))
                }
                None => told(
                    format!("{done} of {all} steps done"),
                    format!("{done}/{all} steps"),
                ),
            }
        }
        // The refiner is also shown as the one who works.
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

/// Returns the style of a mode: a mode without approvals is a warning.
pub fn mode_style(mode: Mode) -> Style {
    match mode {
        Mode::Yolo => theme::WARNING,
        Mode::Plan | Mode::Default | Mode::AutoEdit => theme::PLAIN,
    }
}

/// Lays out the phases, the progress, the gate and the mode.
pub fn phase_line(state: &RunState, columns: usize) -> Line<'static> {
    let PhaseProgress { long, short } = phase_progress(state);
    let gate = labels::gate_label(state.gate);
    let mode = state.mode.label();
    let unusual = match state.mode {
        Mode::Default => "",
        Mode::Plan | Mode::AutoEdit | Mode::Yolo => mode,
    };
    let all = [
        join_parts(&[&long, gate, mode], " · "),
        join_parts(&[&long, gate, unusual], " · "),
        join_parts(&[&short, gate, unusual], " · "),
        join_parts(&[&short, unusual], " · "),
    ];
    let [_, _, with_gate, least] = &all;
    // The form depends only on the window width, so that the path does not jump when the text beside it changes.
    let whole = match columns {
        0..60 => phase_path::PhasePathForm::Recent,
        60..140 => phase_path::PhasePathForm::Compact,
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
