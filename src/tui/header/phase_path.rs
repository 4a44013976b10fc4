//! The path of phases with the current one highlighted, in several forms.

use ratatui::style::Modifier;
use ratatui::text::Span;

use crate::domain::phase::Phase;
use crate::tui::text_wrap::text_width;
use crate::tui::theme;

/// The phases of a run that is not cancelled.
const PHASE_ORDER: [Phase; 6] = [
    Phase::RefineGoal,
    Phase::WritePlan,
    Phase::Review,
    Phase::Approved,
    Phase::Execute,
    Phase::Done,
];

/// How much of the path is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhasePathForm {
    /// Every phase, with wide separators.
    Wide,
    /// Every phase, with narrow separators.
    Compact,
    /// Like `Compact`, but of the finished phases only the last, and the first only while it is current.
    Recent,
    /// The current phase and its number.
    Current,
}

/// Returns the path: the current phase is highlighted and finished ones are quiet, in every theme.
pub fn phase_spans(present: Phase, form: PhasePathForm) -> Vec<Span<'static>> {
    let lit = current_span(present, present.label());
    let Some(at) = PHASE_ORDER
        .iter()
        .position(|phase| phase.label() == present.label())
    else {
        return vec![lit];
    };
    let first = match form {
        PhasePathForm::Current => {
            let place = format!(" phase {} of {}", at + 1, PHASE_ORDER.len());
            return vec![lit, Span::styled(place, theme::QUIET)];
        }
        PhasePathForm::Wide | PhasePathForm::Compact => 0,
        PhasePathForm::Recent => at.saturating_sub(1).max(at.min(1)),
    };
    let mut spans = Vec::new();
    if first > 1 {
        spans.push(Span::styled("…›", theme::QUIET));
    }
    for (n, phase) in PHASE_ORDER.iter().enumerate().skip(first) {
        let between = match (form, n) {
            _ if n == first => "",
            (PhasePathForm::Wide, _) => " › ",
            _ => "›",
        };
        spans.push(Span::styled(between, theme::QUIET));
        match n.cmp(&at) {
            std::cmp::Ordering::Less => spans.push(Span::styled(phase.label(), theme::QUIET)),
            std::cmp::Ordering::Equal => spans.push(lit.clone()),
            std::cmp::Ordering::Greater => spans.push(Span::styled(phase.label(), theme::PLAIN)),
        }
    }
    spans
}

/// Returns the highlighted name of the current phase, or a counter that replaces it.
pub fn current_span(present: Phase, name: &str) -> Span<'static> {
    let lit = match present {
        Phase::Done => theme::GOOD,
        Phase::Cancelled => theme::BAD,
        _ => theme::RUNNING,
    };
    let lit = lit.add_modifier(Modifier::BOLD | Modifier::REVERSED);
    Span::styled(format!(" {name} "), lit)
}

/// Returns how many columns the spans take.
pub fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| text_width(&span.content)).sum()
}
