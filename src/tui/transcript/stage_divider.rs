//! The heading of a stage or a step: its name, a rule, and at the right end the time; at the current step its stages.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::transcript_block::TranscriptBlock;
use crate::domain::ids::UnixMillis;
use crate::tui::labels::LocalClock;
use crate::tui::markdown;
use crate::tui::step_trail::StepTrail;
use crate::tui::text_wrap::{spans_width, text_width, truncate_to_columns};
use crate::tui::theme;

/// A step's heading keeps this many columns beside its stage.
const MIN_HEADING_COLUMNS: usize = 20;
/// A step's heading keeps this many columns beside all stages.
const MIN_WIDE_HEADING_COLUMNS: usize = 40;
/// The shortest rule between a heading and what stands at its right end, with the blank before it.
const MIN_RULE_COLUMNS: usize = 4;

/// The heading of a stage or a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageDivider {
    pub text: String,
    /// The time of day when it was reached, as in `14:05Z` until the user's time zone is known; empty before it is in the
    /// stream.
    pub time: String,
    /// The step that it is of, if it is of one.
    step: Option<u32>,
    /// Whether that step has ended. If it is done again, it has another heading.
    is_over: bool,
    /// The stages of the current step.
    trail: Option<StepTrail>,
}

impl StageDivider {
    pub fn new(text: String, step: Option<u32>) -> Self {
        Self {
            text,
            time: String::new(),
            step,
            is_over: false,
            trail: None,
        }
    }

    /// Renders it over the whole width, below a blank row.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let text = markdown::to_plain_line(&self.text);
        let end = match self.trail {
            Some(trail) => fit_trail(trail, &text, columns),
            None => vec![Span::styled(format!(" {}", self.time), theme::QUIET)],
        };
        let end = Some(end).filter(|end| {
            let least = text_width(&text).min(MIN_HEADING_COLUMNS);
            columns >= least + MIN_RULE_COLUMNS + spans_width(end)
        });
        let (end, least_rule) = end.map_or((Vec::new(), 0), |end| (end, MIN_RULE_COLUMNS));
        let room = columns.saturating_sub(spans_width(&end));
        let label = truncate_to_columns(&text, room.saturating_sub(least_rule));
        let rule = match room.saturating_sub(text_width(&label)) {
            0 => String::new(),
            rest => format!(" {}", "─".repeat(rest - 1)),
        };
        let mut spans = vec![
            Span::styled(label, theme::STRONG),
            Span::styled(rule, theme::QUIET),
        ];
        spans.extend(end);
        vec![Line::default(), Line::from(spans)]
    }
}

/// Returns all stages of a step where enough of its heading remains beside them, else the one that it has reached.
fn fit_trail(trail: StepTrail, heading: &str, columns: usize) -> Vec<Span<'static>> {
    let to_spans = |parts: Vec<(String, Style)>| {
        let parts = parts.into_iter();
        let parts = parts.map(|(text, style)| Span::styled(text, style));
        std::iter::once(Span::raw(" "))
            .chain(parts)
            .collect::<Vec<_>>()
    };
    let whole = to_spans(trail.spans());
    let least = text_width(heading).min(MIN_WIDE_HEADING_COLUMNS);
    if columns >= least + spans_width(&whole) + MIN_RULE_COLUMNS {
        whole
    } else {
        to_spans(vec![trail.current_span()])
    }
}

impl TranscriptBlock {
    /// Returns the step of a heading, if it is of one.
    fn step_divider(&self) -> Option<(u32, &StageDivider)> {
        match &self.content {
            BlockContent::Divider(divider) => Some((divider.step?, divider)),
            _ => None,
        }
    }

    /// Sets when a heading was reached, if it is not set yet.
    pub(super) fn set_time_of_day(&mut self, at: Option<UnixMillis>) {
        if let (BlockContent::Divider(divider), Some(at)) = (&mut self.content, at)
            && divider.time.is_empty()
        {
            divider.time = format!("{}Z", LocalClock(0).time_with_minutes(at));
        }
    }
}

impl ChatTranscript {
    /// Shows the stages of the current step at its heading, and removes them from every other heading.
    pub fn show_step_trail(&mut self, current: Option<StepTrail>) {
        let is_new = std::mem::take(&mut self.steps.has_new_headings);
        let before = std::mem::replace(&mut self.steps.shown_trail, current);
        if before == current && !is_new {
            return;
        }
        // The current step can only have the newest heading.
        let mut newest = current;
        for block in self.blocks.iter_mut().rev() {
            let Some((step, divider)) = block.step_divider() else {
                continue;
            };
            let trail = newest.take();
            let trail = trail.filter(|trail| trail.step == step && !divider.is_over);
            if divider.trail != trail {
                let divider = StageDivider {
                    trail,
                    ..divider.clone()
                };
                block.replace_content(BlockContent::Divider(divider));
            }
        }
    }

    /// Marks the newest heading of a step as that of a step that has ended.
    pub(super) fn mark_step_over(&mut self, step: u32) {
        let is_its = |block: &&mut TranscriptBlock| {
            let of = block.step_divider();
            of.is_some_and(|(of, _)| of == step)
        };
        if let Some(block) = self.blocks.iter_mut().rev().find(is_its)
            && let BlockContent::Divider(divider) = &mut block.content
        {
            divider.is_over = true;
            self.steps.has_new_headings = true;
        }
    }
}
