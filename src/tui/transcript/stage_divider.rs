//! The heading of a stage or a step: its name, a rule, and at the right end the time. That of the current step is a card
//! with the stages of the step.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::first_clause;
use crate::tui::markdown;
use crate::tui::step_trail::StepTrail;
use crate::tui::text_wrap::{spans_width, text_width, truncate_to_columns, truncate_to_words};
use crate::tui::theme;

/// The least room for a step's title beside its trail.
const MIN_TITLE_COLUMNS: usize = 6;
/// A step's heading keeps this many columns beside its stage.
const MIN_HEADING_COLUMNS: usize = 20;
/// A step's heading keeps this many columns beside all stages.
const MIN_WIDE_HEADING_COLUMNS: usize = 40;
/// What is left of a card's text: its bar, and two blanks.
const CARD_LEAD: &str = "   ";
/// The sign of the step that is being executed.
const RUNNING_SIGN: &str = "◐ ";
/// What stays blank at the right end of a card.
const CARD_END_COLUMNS: usize = 2;
/// The shortest rule between a heading and what stands at its right end, with the blank before it.
const MIN_RULE_COLUMNS: usize = 4;

/// The heading of a stage or a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageDivider {
    /// The stage, or the step's number, as in `Step 2 of 3`.
    pub(super) name: String,
    /// The text of a step; empty for a stage.
    pub(super) title: String,
    /// The time of day when it was reached, as in `14:05Z` until the user's time zone is known; empty before it is in the
    /// stream.
    pub time: String,
    /// The step that it is of, if it is of one.
    pub(super) step: Option<u32>,
    /// Whether that step has ended. If it is done again, it has another heading.
    pub(super) is_over: bool,
    /// The stages of the current step.
    pub(super) trail: Option<StepTrail>,
}

impl StageDivider {
    pub fn of_stage(name: String) -> Self {
        Self {
            name,
            title: String::new(),
            time: String::new(),
            step: None,
            is_over: false,
            trail: None,
        }
    }

    pub fn of_step(step: u32, name: String, title: String) -> Self {
        Self {
            title,
            step: Some(step),
            ..Self::of_stage(name)
        }
    }

    /// Returns the whole heading.
    pub fn text(&self) -> String {
        match self.title.as_str() {
            "" => self.name.clone(),
            title => format!("{}: {title}", self.name),
        }
    }

    /// Renders it over the whole width, below a blank row.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        let heading = match self.trail {
            Some(trail) => self.card_line(trail, columns),
            None => self.rule_line(columns),
        };
        vec![Line::default(), heading]
    }

    /// Renders the card of the current step, which the window draws on a ground, behind a bar in the first column.
    fn card_line(&self, trail: StepTrail, columns: usize) -> Line<'static> {
        let title = self.plain_title();
        let name = format!("{}  ", self.name);
        let sign_columns = text_width(RUNNING_SIGN);
        let room = columns.saturating_sub(CARD_LEAD.len() + sign_columns + CARD_END_COLUMNS);
        let end = fit_trail(trail, &format!("{name}{title}"), room);
        let least = text_width(&name).min(MIN_HEADING_COLUMNS);
        let end = Some(end).filter(|end| room >= least + spans_width(end));
        let end = end.unwrap_or_default();
        let room = room.saturating_sub(spans_width(&end));
        // A blank before the stages, which begin with another one.
        let text_room = room.saturating_sub(1);
        let name = truncate_to_columns(&name, text_room);
        let title_room = text_room.saturating_sub(text_width(&name));
        // A few letters say nothing.
        let title = match title_room {
            0..MIN_TITLE_COLUMNS => String::new(),
            room => truncate_to_words(&title, room),
        };
        let gap = room.saturating_sub(text_width(&name) + text_width(&title));
        let mut spans = vec![
            Span::raw(CARD_LEAD),
            Span::styled(RUNNING_SIGN, theme::RUNNING),
            Span::styled(name, theme::STRONG),
            Span::raw(title),
            Span::raw(" ".repeat(gap)),
        ];
        spans.extend(end);
        Line::from(spans)
    }

    /// Returns the beginning of a step's text.
    fn plain_title(&self) -> String {
        markdown::to_plain_line(first_clause(&self.title))
    }

    fn rule_line(&self, columns: usize) -> Line<'static> {
        let text = match self.plain_title().as_str() {
            "" => markdown::to_plain_line(&self.text()),
            title => format!("{}: {title}", self.name),
        };
        let end = vec![Span::styled(format!(" {}", self.time), theme::QUIET)];
        let end = Some(end).filter(|end| {
            let least = text_width(&text).min(MIN_HEADING_COLUMNS);
            columns >= least + MIN_RULE_COLUMNS + spans_width(end)
        });
        let (end, least_rule) = end.map_or((Vec::new(), 0), |end| (end, MIN_RULE_COLUMNS));
        let room = columns.saturating_sub(spans_width(&end));
        let label = truncate_to_words(&text, room.saturating_sub(least_rule));
        let rule = match room.saturating_sub(text_width(&label)) {
            0 => String::new(),
            rest => format!(" {}", "─".repeat(rest - 1)),
        };
        let mut spans = vec![
            Span::styled(label, theme::STRONG),
            Span::styled(rule, theme::QUIET),
        ];
        spans.extend(end);
        Line::from(spans)
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
