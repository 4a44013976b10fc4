//! The phases of the run with the progress of the current one, the gate and the mode, as much as fits into a row.
//!
//! Numbers always have a label. If space is short, these go in order: the default mode, the long form of the
//! progress, all phases but the current one, the phase's number, the gate. A counter that names the phase replaces
//! its name where only that is shown, which leaves room for the mode.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::phase_path::{self, PhasePathForm};
use super::{align_left_and_right, join_parts};
use crate::domain::phase::{Mode, Phase};
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// The iteration or step; both forms can be empty.
#[derive(Debug, Default)]
pub struct PhaseProgress {
    pub long: String,
    pub short: String,
    /// Whether the short form also says which phase it is: that of a review or a step.
    pub names_phase: bool,
}

/// Returns the progress of a run within its phase.
pub fn phase_progress(state: &RunState) -> PhaseProgress {
    let counted = |long: String, short: String| PhaseProgress {
        long,
        short,
        names_phase: true,
    };
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            let (n, cap) = (state.iteration, state.iteration_limit());
            counted(format!("Review {n} of {cap}"), format!("Review {n}/{cap}"))
        }
        Phase::Execute => {
            let StepCount { done, all } = state.step_count();
            let execution = state.execution.as_ref();
            match execution.and_then(|execution| execution.current.as_ref()) {
                Some(current) => {
                    let n = current.n;
                    counted(format!("Step {n} of {all}"), format!("Step {n}/{all}"))
                }
                None => PhaseProgress {
                    long: format!("{done} of {all} steps done"),
                    short: format!("{done}/{all} steps"),
                    names_phase: false,
                },
            }
        }
        // The refiner is also shown as the one who works.
        Phase::RefineGoal => PhaseProgress {
            long: format!("With the {}", state.refiner.name()),
            ..PhaseProgress::default()
        },
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
    let PhaseProgress {
        long,
        short,
        names_phase,
    } = phase_progress(state);
    let gate = state.gate.label();
    let mode = state.mode.label();
    let unusual = match state.mode {
        Mode::Default => "",
        Mode::Plan | Mode::AutoEdit | Mode::Yolo => mode,
    };
    let beside_path = [
        join_parts(&[&long, gate, mode], " · "),
        join_parts(&[&long, gate, unusual], " · "),
        join_parts(&[&short, gate, unusual], " · "),
    ];
    let (name, counter) = if names_phase {
        (short.as_str(), "")
    } else {
        (state.phase.label(), short.as_str())
    };
    let beside_name = [
        join_parts(&[counter, gate, mode], " · "),
        join_parts(&[counter, gate, unusual], " · "),
        join_parts(&[counter, unusual], " · "),
    ];
    let [_, _, least] = &beside_name;
    // The form depends only on the window width, so that the path does not jump when the text beside it changes.
    let whole = match columns {
        0..60 => PhasePathForm::Recent,
        60..140 => PhasePathForm::Compact,
        140.. => PhasePathForm::Wide,
    };
    let paths =
        [whole, PhasePathForm::Current].map(|form| phase_path::phase_spans(state.phase, form));
    let name = vec![phase_path::current_span(state.phase, name)];
    let forms = paths
        .iter()
        .flat_map(|path| beside_path.iter().map(move |terms| (path, terms)));
    let mut forms = forms.chain(beside_name.iter().map(|terms| (&name, terms)));
    // A margin on the left, and a blank on either side of the text on the right.
    let fits = |path: &[Span<'_>], terms: &str| {
        phase_path::spans_width(path) + text_width(terms) + 3 <= columns
    };
    let found = forms.find(|(path, terms)| fits(path, terms));
    let (path, terms) = found.unwrap_or((&name, least));
    let mut left = vec![Span::raw(" ")];
    left.extend(path.iter().cloned());
    let room = columns.saturating_sub(phase_path::spans_width(&left) + 2);
    let terms = format!("{} ", truncate_to_columns(terms, room));
    align_left_and_right(
        left,
        vec![Span::styled(terms, mode_style(state.mode))],
        columns,
    )
}
