//! Tab: the review. First the verdict and the findings with their answers, to be filtered and pointed at; then the text.
//!
//! Refuses to settle anything.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::findings::{Finding, Stand, Status};
use crate::domain::review::Verdict;
use crate::domain::run::State;
use crate::text::front_matter;
use crate::tui::documents::Text;
use crate::tui::markdown;
use crate::tui::page::{Mark, Marked, Page};
use crate::tui::theme;
use crate::tui::wrap::{one_line, wrap, wrap_own};

/// Which findings are listed, and which of them is pointed at.
#[derive(Debug, Default)]
pub struct Chosen {
    filter: Filter,
    picked: Option<u32>,
}

/// Which findings are listed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
enum Filter {
    #[default]
    All,
    Open,
    Rejected,
    Settled,
}

impl Filter {
    fn next(self) -> Self {
        match self {
            Self::All => Self::Open,
            Self::Open => Self::Rejected,
            Self::Rejected => Self::Settled,
            Self::Settled => Self::All,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Open => "open",
            Self::Rejected => "rejected by the planner",
            Self::Settled => "settled",
        }
    }

    fn has(self, finding: &Finding) -> bool {
        match self {
            Self::All => true,
            Self::Open => finding.status == Status::Open,
            Self::Rejected => {
                let last = finding.responses.last();
                last.is_some_and(|(_, response)| response.stand == Stand::Rejected)
            }
            Self::Settled => finding.status != Status::Open,
        }
    }
}

impl Chosen {
    /// Lists other findings.
    pub fn turn(&mut self) {
        self.filter = self.filter.next();
        self.picked = None;
    }

    /// Points at the next listed finding, or the one before; gives its number.
    pub fn go(&mut self, is_next: bool, state: &State) -> Option<u32> {
        let listed = state.findings.all().iter().filter(|f| self.filter.has(f));
        let listed: Vec<u32> = listed.map(|finding| finding.remark.n).collect();
        let at = listed.iter().position(|n| Some(*n) == self.picked);
        let next = match (at, is_next) {
            (None, true) => 0,
            (None, false) => listed.len().checked_sub(1)?,
            (Some(at), true) => at + 1,
            (Some(at), false) => at.checked_sub(1)?,
        };
        self.picked = Some(*listed.get(next)?);
        self.picked
    }

    /// The number of the finding that is pointed at.
    pub fn picked(&self) -> Option<u32> {
        self.picked
    }

    /// Points at nothing; tells whether something was pointed at.
    pub fn pick_nothing(&mut self) -> bool {
        self.picked.take().is_some()
    }
}

/// A drawable line of the list, with its style, the indent of what is wrapped, and the finding that it is of.
struct Entry {
    text: String,
    style: Style,
    indent: usize,
    of: Option<u32>,
}

impl Entry {
    fn new(text: String, style: Style, indent: usize) -> Self {
        Self {
            text,
            style,
            indent,
            of: None,
        }
    }
}

/// Draws the review.
pub fn draw(
    page: &mut Page,
    text: &Text,
    frame: &mut Frame,
    area: Rect,
    (state, chosen): (Option<&State>, &Chosen),
) {
    let columns = usize::from(area.width);
    let ledger = state
        .map(|state| ledger(state, chosen.filter))
        .unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (columns, text.revision, chosen.filter, chosen.picked).hash(&mut hasher);
    for entry in &ledger {
        entry.text.hash(&mut hasher);
    }
    page.lay_out(hasher.finish(), || {
        let mut laid = Marked::default();
        for entry in &ledger {
            if let Some(n) = entry.of {
                laid.marks
                    .entry(Mark::Finding(n))
                    .or_insert(laid.lines.len());
            }
            let is_picked = entry.of.is_some() && entry.of == chosen.picked;
            let spans = [Span::styled(entry.text.as_str(), entry.style)];
            let lines = wrap(&spans, columns.saturating_sub(1), entry.indent);
            laid.lines.extend(lines.into_iter().map(|mut line| {
                let mark = if is_picked { "▌" } else { " " };
                line.spans.insert(0, Span::styled(mark, theme::KEY));
                line
            }));
        }
        laid.lines
            .extend(document(text, !ledger.is_empty(), columns));
        laid
    });
    page.draw(frame, area);
}

fn document(text: &Text, has_ledger: bool, columns: usize) -> Vec<Line<'static>> {
    let Some(text) = &text.text else {
        return if has_ledger {
            Vec::new()
        } else {
            wrap_own("There is no review yet.", columns, theme::QUIET)
        };
    };
    let mut lines = Vec::new();
    if has_ledger {
        lines.push(Line::default());
        lines.push(Line::styled("── comments.md ", theme::QUIET));
    }
    let body = front_matter::split(text).body;
    lines.extend(markdown::lay_out(
        body.trim_start_matches('\n'),
        columns,
        theme::PLAIN,
    ));
    lines
}

fn ledger(state: &State, filter: Filter) -> Vec<Entry> {
    let mut entries = Vec::new();
    if let Some(verdict) = &state.verdict {
        let style = match verdict.value {
            Verdict::Approved => theme::GOOD,
            Verdict::ChangesRequired => theme::NEEDS_YOU,
        };
        let doubt = if verdict.consistent {
            ""
        } else {
            ", but its signals disagree"
        };
        let forced = if verdict.forced {
            "; you let the plan pass"
        } else {
            ""
        };
        let text = format!(
            "iteration {}: {}{doubt}{forced}",
            verdict.iteration,
            verdict.value.word()
        );
        entries.push(Entry::new(text, style, 0));
    }
    let all = state.findings.all();
    if all.is_empty() {
        return entries;
    }
    let n_open = state.findings.open().count();
    let text = format!("{n_open} of {} finding(s) open{}", all.len(), course(state));
    entries.push(Entry::new(text, theme::PLAIN, 0));
    let text = format!(
        "= lists: {} · , . point · Space goes to the plan's line",
        filter.name()
    );
    entries.push(Entry::new(text, theme::QUIET, 0));
    entries.push(Entry::new(String::new(), theme::PLAIN, 0));
    for finding in all.iter().filter(|finding| filter.has(finding)) {
        entries.extend(of_finding(finding));
    }
    entries
}

/// How many findings each review had, where there was more than one.
fn course(state: &State) -> String {
    let n_reviews = state.findings.reviews();
    let stated = |review: u32| {
        let has = |finding: &&Finding| finding.raised_in <= review && review <= finding.last_in;
        state.findings.all().iter().filter(has).count().to_string()
    };
    match n_reviews {
        0 | 1 => String::new(),
        _ => {
            let counts: Vec<String> = (1..=n_reviews).map(stated).collect();
            format!(" · review by review: {}", counts.join(" → "))
        }
    }
}

fn of_finding(finding: &Finding) -> Vec<Entry> {
    let (sign, status, style) = match finding.status {
        Status::Open => ("○", "open", theme::severity(finding.remark.severity)),
        Status::SettledByReview => ("✓", "settled", theme::GOOD),
        Status::SettledByUser => ("✓", "settled by you", theme::GOOD),
    };
    let remark = &finding.remark;
    let reviews = match finding.raised_in == finding.last_in {
        true => format!("review {}", finding.raised_in),
        false => format!("reviews {} to {}", finding.raised_in, finding.last_in),
    };
    let head = format!(
        "{sign} {}. [{}] {} ({status}, {reviews})",
        remark.n,
        remark.severity.word(),
        one_line(&remark.text)
    );
    let mut entries = vec![Entry::new(head, style, 2)];
    for (review, response) in &finding.responses {
        let stand = match response.stand {
            Stand::Accepted => "accepted",
            Stand::Rejected => "rejected",
        };
        let text = format!(
            "    ↳ {stand} after review {review}: {}",
            one_line(&response.reason)
        );
        entries.push(Entry::new(text, theme::PLAIN, 6));
    }
    entries
        .into_iter()
        .map(|entry| Entry {
            of: Some(remark.n),
            ..entry
        })
        .collect()
}
