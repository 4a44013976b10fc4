//! The stages of a run in words, with a mark each: finished, current or ahead.

use ratatui::style::Style;
use ratatui::text::Span;

use crate::domain::phase::{Gate, Mode, Phase};
use crate::domain::plan_execution::StepCount;
use crate::domain::run::RunState;
use crate::tui::text_wrap::spans_width;
use crate::tui::theme;

/// The stages of a run that is not cancelled.
const STAGES: [Phase; 6] = [
    Phase::RefineGoal,
    Phase::WritePlan,
    Phase::Review,
    Phase::Approved,
    Phase::Execute,
    Phase::Done,
];

/// Returns the stages, or only the current one if there is no room for all; before them the gate and the mode if they
/// are unusual, because these must be visible in any window.
pub fn stage_spans(state: &RunState, columns: usize) -> Vec<Span<'static>> {
    let mut unusual = Vec::new();
    if state.mode != Mode::Default {
        unusual.push(Span::styled(state.mode.label(), mode_style(state.mode)));
        unusual.push(Span::raw("  "));
    }
    let mut with_gate = unusual.clone();
    if state.gate == Gate::Auto && !state.phase.is_final() {
        with_gate.push(Span::styled(state.gate.label(), theme::PLAIN));
        with_gate.push(Span::raw("  "));
    }
    let current = vec![current_stage(state)];
    let forms = [
        (&with_gate, all_stages(state)),
        (&with_gate, current.clone()),
        (&unusual, current),
    ];
    let joined = forms.map(|(lead, stages)| [lead.clone(), stages].concat());
    let [_, _, least] = &joined;
    let found = joined.iter().find(|spans| spans_width(spans) <= columns);
    found.unwrap_or(least).clone()
}

/// Returns every stage with its mark; a cancelled run has reached none of them.
fn all_stages(state: &RunState) -> Vec<Span<'static>> {
    let label = state.phase.label();
    let Some(at) = STAGES.iter().position(|stage| stage.label() == label) else {
        return vec![current_stage(state)];
    };
    let mut spans = Vec::new();
    for (n, stage) in STAGES.iter().enumerate() {
        if n > 0 {
            spans.push(Span::styled(" ─ ", theme::QUIET));
        }
        match n.cmp(&at) {
            std::cmp::Ordering::Less => {
                spans.push(Span::styled("✓ ", theme::GOOD));
                spans.push(Span::styled(stage.label(), theme::QUIET));
            }
            std::cmp::Ordering::Equal => spans.push(current_stage(state)),
            std::cmp::Ordering::Greater => {
                let ahead = format!("○ {}", stage.label());
                spans.push(Span::styled(ahead, theme::QUIET));
            }
        }
    }
    spans
}

/// Returns the current stage with its mark and its count of reviews or steps.
fn current_stage(state: &RunState) -> Span<'static> {
    let (mark, style) = match state.phase {
        Phase::Done => ("✓", theme::GOOD),
        Phase::Cancelled => ("■", theme::BAD),
        _ => ("●", theme::RUNNING),
    };
    Span::styled(
        format!("{mark} {}{}", state.phase.label(), stage_count(state)),
        style,
    )
}

/// Returns the number of the review or step, and how many there are; empty in other stages.
fn stage_count(state: &RunState) -> String {
    match state.phase {
        Phase::Review | Phase::Respond if state.iteration > 0 => {
            format!(" {}/{}", state.iteration, state.iteration_limit())
        }
        Phase::Execute => {
            let StepCount { done, all } = state.step_count();
            let execution = state.execution.as_ref();
            let current = execution.and_then(|execution| execution.current.as_ref());
            current.map_or_else(
                || format!(" {done}/{all}"),
                |step| format!(" {}/{all}", step.n),
            )
        }
        _ => String::new(),
    }
}

/// Returns the style of a mode: a mode without approvals is a warning.
pub fn mode_style(mode: Mode) -> Style {
    match mode {
        Mode::Yolo => theme::WARNING,
        Mode::Plan | Mode::Default | Mode::AutoEdit => theme::PLAIN,
    }
}
