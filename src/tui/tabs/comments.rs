//! Tab: the review. What each iteration came to, then the findings with what became of them, to be filtered,
//! pointed at and opened; then whatever else `comments.md` holds.
//!
//! Refuses to settle anything.

mod chosen;
mod rows;
mod verdicts;

pub use chosen::Chosen;
use chosen::{Filter, Settled, last_stand};
use verdicts::Table;

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::discussion::GroupDiscussion;
use crate::domain::findings::{Finding, FindingDisposition, FindingStatus};
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::text::pluralize;
use crate::tui::board::decided;
use crate::tui::documents::Texts;
use crate::tui::markdown;
use crate::tui::page::{Mark, Marked, Page, gutter};
use crate::tui::theme;
use crate::tui::words::Clock;
use crate::tui::wrap::{BAR, barred, one_line, wrap, wrap_own};

/// A drawable line of the list, with the indent of what is wrapped, and what it is of.
#[derive(Debug, Hash)]
struct Entry {
    parts: Vec<(String, Style)>,
    indent: usize,
    of: Option<Mark>,
    /// Whether it takes a row and no more.
    is_row: bool,
}

impl Entry {
    fn new(text: &str, style: Style) -> Self {
        Self {
            parts: vec![(text.to_owned(), style)],
            indent: 2,
            of: None,
            is_row: false,
        }
    }

    fn of_parts(parts: Vec<(String, Style)>, indent: usize) -> Self {
        Self {
            parts,
            indent,
            of: None,
            is_row: false,
        }
    }

    fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        if let [(lead, _), (text, style)] = self.parts.as_slice()
            && lead == BAR
        {
            return barred(text, *style, columns);
        }
        if self.is_row {
            return vec![rows::line(&self.parts, columns)];
        }
        let parts = self.parts.iter();
        let spans: Vec<Span<'_>> = parts
            .map(|(text, style)| Span::styled(text.as_str(), *style))
            .collect();
        wrap(&spans, columns, self.indent)
    }
}

/// Draws the review.
pub fn draw(
    page: &mut Page,
    texts: &Texts,
    frame: &mut Frame,
    area: Rect,
    (state, chosen, clock): (Option<&RunState>, &Chosen, Clock),
) {
    let columns = usize::from(area.width);
    let of = |form: Form, table: Table| {
        let ledger = state.map(|state| ledger(state, (chosen, form, table), texts, clock));
        ledger.unwrap_or_default()
    };
    let whole = of(Form::Whole, Table::Whole);
    let mut hasher = DefaultHasher::new();
    (columns, texts.comments.revision, chosen.picked, &whole).hash(&mut hasher);
    (area.height, chosen.reviews).hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let laid = lay_out(&whole, chosen, texts, columns);
        let rows = usize::from(area.height);
        let (Some(state), true) = (state, laid.lines.len() > rows) else {
            return laid;
        };
        let n_verdicts = verdicts::rows(state, clock, columns);
        let table = match n_verdicts > 1 && n_verdicts * verdicts::SHARE > rows {
            true => chosen.table(),
            false => Table::Whole,
        };
        let laid = lay_out(&of(Form::Whole, table), chosen, texts, columns);
        match laid.lines.len() > rows && chosen.listed(state).len() >= rows::MANY {
            true => lay_out(&of(Form::Rows, table), chosen, texts, columns),
            false => laid,
        }
    });
    page.draw(frame, area);
}

fn lay_out(ledger: &[Entry], chosen: &Chosen, texts: &Texts, columns: usize) -> Marked {
    let columns = columns.saturating_sub(1);
    let mut laid = Marked::default();
    for entry in ledger {
        if let Some(mark) = entry.of {
            laid.marks.entry(mark).or_insert(laid.lines.len());
        }
        let is_picked = entry.of.is_some() && entry.of == chosen.picked;
        laid.lines.extend(gutter(entry.lines(columns), is_picked));
    }
    if ledger.is_empty() && texts.comments.text.is_none() {
        let none = wrap_own("There is no review yet.", columns, theme::QUIET);
        laid.lines.extend(gutter(none, false));
    }
    if !texts.rest.is_empty() {
        let mut rest = Vec::new();
        if !ledger.is_empty() {
            rest.push(Line::default());
            rest.push(Line::styled("── also in the comments ", theme::QUIET));
        }
        rest.extend(markdown::lay_out(&texts.rest, columns, theme::PLAIN));
        laid.lines.extend(gutter(rest, false));
    }
    laid
}

/// How findings are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Each with all that became of it.
    Whole,
    /// A row each, but for the one that is pointed at and those that are open.
    Rows,
}

fn ledger(
    state: &RunState,
    (chosen, form, table): (&Chosen, Form, Table),
    texts: &Texts,
    clock: Clock,
) -> Vec<Entry> {
    let mut entries = verdicts::of(state, clock, table);
    let all = state.findings.all();
    if all.is_empty() {
        return entries;
    }
    let filter = chosen.filter;
    let n_open = state.findings.open().count();
    let listed = match filter {
        Filter::All => String::new(),
        filter => format!(" · listed: {}", filter.name()),
    };
    entries.push(Entry::new("", theme::PLAIN));
    entries.push(Entry {
        parts: vec![
            (
                format!("{n_open} of {} open", pluralize(all.len(), "finding")),
                theme::STRONG,
            ),
            (listed, theme::QUIET),
        ],
        indent: 2,
        of: None,
        is_row: false,
    });
    let n_before = entries.len();
    let listed = chosen.listed(state);
    if form == Form::Rows {
        entries.push(Entry::new("", theme::PLAIN));
    }
    let first = listed.first().map(|first| Mark::Finding(first.remark.n));
    let row = chosen.row_of_settled(state);
    for (at, finding) in listed.into_iter().enumerate() {
        if let Some((n_open, stands)) = row.filter(|(n_open, _)| *n_open == at) {
            entries.extend(rows::of_settled(all.len() - n_open, stands, form));
        }
        let n = finding.remark.n;
        let is_whole = chosen.picked.or(first) == Some(Mark::Finding(n))
            || chosen.is_open(n, texts.evidence.get(&n));
        if form == Form::Rows && !is_whole {
            entries.push(rows::of(finding));
            continue;
        }
        if form == Form::Whole {
            entries.push(Entry::new("", theme::PLAIN));
        }
        let talk = state
            .discussions
            .iter()
            .rfind(|each| each.order.finding == Some(finding.remark.n));
        entries.extend(of_finding(finding, chosen, texts, talk));
    }
    if let Some((n_open, Settled::Folded)) = row {
        entries.extend(rows::of_settled(all.len() - n_open, Settled::Folded, form));
    }
    if entries.len() == n_before {
        let text = format!("None of them is among {}; = lists others.", filter.name());
        entries.push(Entry::new(&text, theme::QUIET));
    }
    entries
}

/// Where a finding stands: a sign of its own, a word and a style.
fn standing(finding: &Finding) -> (&'static str, &'static str, Style) {
    let weight = theme::severity(finding.remark.severity);
    let answered = finding
        .responses
        .last()
        .filter(|(review, _)| *review >= finding.last_in)
        .map(|(_, response)| response.stand);
    match (finding.status, answered, last_stand(finding)) {
        (FindingStatus::Open, None, _) => ("○", "open", weight),
        (FindingStatus::Open, Some(FindingDisposition::Accepted), _) => {
            ("◐", "accepted, to be looked at", weight)
        }
        (FindingStatus::Open, Some(FindingDisposition::Rejected), _) => {
            ("⊘", "rejected, to be looked at", weight)
        }
        (FindingStatus::SettledByReview, _, Some(FindingDisposition::Rejected)) => {
            ("⊖", "rejected, and let go", theme::QUIET)
        }
        (FindingStatus::SettledByReview, ..) => ("✓", "settled", theme::GOOD),
        (FindingStatus::SettledByUser, ..) => ("☑", "settled by you", theme::GOOD),
    }
}

fn of_finding(
    finding: &Finding,
    chosen: &Chosen,
    texts: &Texts,
    talk: Option<&GroupDiscussion>,
) -> Vec<Entry> {
    let remark = &finding.remark;
    let (sign, word, style) = standing(finding);
    let evidence = texts.evidence.get(&remark.n);
    let is_open = chosen.is_open(remark.n, evidence);
    let fold = match (evidence, is_open) {
        (None, _) => "",
        (Some(_), true) => "\u{a0}▾",
        (Some(_), false) => "\u{a0}▸",
    };
    let mut entries = vec![
        Entry::of_parts(
            vec![
                (format!("{sign} {}. ", remark.n), style),
                (format!("[{}] ", remark.severity.as_str()), style),
                (one_line(&remark.text), style),
                (fold.to_owned(), theme::QUIET),
            ],
            2,
        ),
        Entry::of_parts(
            vec![(format!("  {word} · {}", course(finding)), theme::QUIET)],
            2,
        ),
    ];
    if let Some((_, response)) = finding.responses.last() {
        let stand = match response.stand {
            FindingDisposition::Accepted => " accepts: ",
            FindingDisposition::Rejected => " rejects: ",
        };
        entries.push(Entry::of_parts(
            vec![
                ("  ↳ ".to_owned(), theme::PLAIN),
                (Role::Planner.name().to_owned(), theme::role(Role::Planner)),
                (stand.to_owned(), theme::PLAIN),
                (one_line(&response.reason), theme::PLAIN),
            ],
            4,
        ));
    }
    entries.extend(talk.into_iter().flat_map(|talk| of_talk(talk, finding)));
    if let Some(evidence) = evidence.filter(|_| is_open) {
        for line in evidence.lines() {
            let line = line.strip_prefix("   ").unwrap_or(line);
            entries.push(Entry::of_parts(
                vec![
                    (BAR.to_owned(), theme::QUIET),
                    (line.to_owned(), theme::PLAIN),
                ],
                4,
            ));
        }
    }
    for entry in &mut entries {
        entry.of = Some(Mark::Finding(remark.n));
    }
    entries
}

/// How the discussion of a finding stands, or what it came to.
fn of_talk(talk: &GroupDiscussion, finding: &Finding) -> Vec<Entry> {
    let line = |text: String, style| Entry {
        parts: vec![("  ◆ ".to_owned(), theme::PLAIN), (text, style)],
        indent: 4,
        of: None,
        is_row: false,
    };
    let Some(outcome) = &talk.outcome else {
        let round = talk.round().map_or(0, |round| round.n);
        let text = match talk.is_running() {
            true => format!(
                "discussed now, round {round} of {}; /board shows it",
                talk.order.terms.rounds
            ),
            false => "its discussion was cut off; /board shows it".to_owned(),
        };
        return vec![line(text, theme::QUIET)];
    };
    let (text, style) = decided(outcome);
    let mut entries = vec![line(format!("discussed: {text}"), style)];
    let conclusion = one_line(&outcome.conclusion);
    entries.push(Entry {
        parts: vec![(format!("    {conclusion}"), theme::PLAIN)],
        indent: 4,
        of: None,
        is_row: false,
    });
    if finding.status == FindingStatus::Open {
        let text = "    /settle settles it by this; /board shows it";
        entries.push(Entry::new(text, theme::QUIET));
    }
    entries
}

/// What the reviews and the planner said of a finding, one after the other.
fn course(finding: &Finding) -> String {
    let mut parts = vec![format!("raised in review {}", finding.raised_in)];
    let stated_again = finding.raised_in + 1..=finding.last_in;
    for review in finding.raised_in..=finding.last_in {
        if stated_again.contains(&review) {
            parts.push(format!("again in {review}"));
        }
        let answers = finding.responses.iter().filter(|(of, _)| *of == review);
        parts.extend(answers.map(|(_, response)| match response.stand {
            FindingDisposition::Accepted => "accepted".to_owned(),
            FindingDisposition::Rejected => "rejected".to_owned(),
        }));
    }
    match finding.status {
        FindingStatus::Open => {}
        FindingStatus::SettledByReview => parts.push(format!("gone in {}", finding.last_in + 1)),
        FindingStatus::SettledByUser => parts.push("settled by you".to_owned()),
    }
    parts.join(" → ")
}
