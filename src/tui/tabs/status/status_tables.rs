//! The tables of the Status tab: reviews, steps and turns, one row each.
//!
//! Columns are as wide as their content; the last one gets the rest.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::status_row::NAME_COLUMNS;
use crate::domain::findings::{Finding, FindingDisposition};
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{StepAssessment, StepOutcome, StepRecord};
use crate::domain::receipt::Receipt;
use crate::domain::review::Verdict;
use crate::domain::run::RunState;
use crate::domain::run_timeline::{ReviewSpan, TurnSpan, TurnSpanEnd, elapsed_millis};
use crate::text::first_clause;
use crate::tui::labels::{
    self, LocalClock, format_dollars, format_millis, format_tokens, short_commit,
    summarize_receipt, verdict_label,
};
use crate::tui::linear_view::signs_to_words;
use crate::tui::markdown::to_plain_line;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// How many of the latest turns are listed.
const MAX_TURN_ROWS: usize = 12;

/// The columns with numbers, which end below each other.
const NUMBER_TITLES: &[&str] = &[
    "Open",
    "New",
    "Resolved",
    "Left open",
    "Took",
    "Fixes",
    "Tokens",
    "Cost",
];
/// The least width of a text that is cut.
const MIN_CUT_COLUMNS: usize = 8;

/// A table: column titles, and rows of styled cells.
pub struct StatusTable {
    titles: &'static [&'static str],
    rows: Vec<Vec<(String, Style)>>,
    /// The least width of the first column.
    first_columns: usize,
}

impl StatusTable {
    /// Creates a table of these rows.
    pub fn new(heads: &'static [&'static str], rows: Vec<Vec<(String, Style)>>) -> Self {
        Self {
            titles: heads,
            rows,
            first_columns: 0,
        }
    }

    /// Lets the second column begin where the texts of the rows below the table do.
    pub fn in_line_with_rows(self) -> Self {
        Self {
            first_columns: NAME_COLUMNS - 2,
            ..self
        }
    }

    /// Removes the columns with these titles.
    pub fn without_columns(mut self, titles: &[&str]) -> Self {
        for row in &mut self.rows {
            let cells = row.iter_mut().zip(self.titles);
            // A column without a text is left out.
            let gone = cells.filter(|(_, title)| titles.contains(title));
            gone.for_each(|((text, _), _)| text.clear());
        }
        self
    }

    /// Returns each row in one line that names its cells: `Review 1: verdict approved, open 0`.
    pub fn labeled_rows(&self) -> Vec<String> {
        self.rows.iter().map(|row| self.labeled_row(row)).collect()
    }

    fn labeled_row(&self, row: &[(String, Style)]) -> String {
        let cells = row.iter().zip(self.titles);
        let cells = cells.map(|((text, _), title)| (signs_to_words(text), *title));
        let mut cells = cells.map(|(text, title)| (text.trim().to_owned(), title));
        let (head, title) = cells.next().unwrap_or_default();
        // Under the heading of its section the number needs no word.
        let title = if title == "#" { "Review" } else { title };
        // A sign before a number says how it is.
        let (state, head) = match head.rsplit_once(' ') {
            Some((state, n)) if n.parse::<u32>().is_ok() => (state.to_owned(), n.to_owned()),
            _ => (String::new(), head),
        };
        let cells = cells.filter(|(text, _)| !text.is_empty());
        let cells = cells.map(|(text, title)| match title {
            "What" => text,
            "CLI" => format!("{title} {text}"),
            title => format!("{} {text}", title.to_lowercase()),
        });
        let state = (!state.is_empty()).then_some(state);
        let cells: Vec<String> = state.into_iter().chain(cells).collect();
        if head.is_empty() {
            return cells.join(", ");
        }
        format!("{title} {head}: {}", cells.join(", "))
    }

    /// Lays the rows out; empty columns are left out, and the last column is cut.
    pub fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let wide = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at));
            let cells = cells.map(|(text, _)| text_width(text)).max().unwrap_or(0);
            match cells {
                0 => 0,
                cells => cells.max(self.titles.get(at).map_or(0, |head| text_width(head))),
            }
        };
        let mut widths: Vec<usize> = (0..self.titles.len()).map(wide).collect();
        if let Some(first) = widths.first_mut() {
            *first = self.first_columns.max(*first);
        }
        self.leave_out_last(&mut widths, columns);
        let heads: Vec<(String, Style)> = self
            .titles
            .iter()
            .map(|head| ((*head).to_owned(), theme::QUIET))
            .collect();
        std::iter::once(&heads)
            .chain(&self.rows)
            .map(|row| self.lay_out_row(row, &widths, columns))
            .collect()
    }

    /// Leaves out the first column that has no room, and those behind it: a number cut is none.
    fn leave_out_last(&self, widths: &mut [usize], columns: usize) {
        let mut used = 2;
        let mut has_room = true;
        for (at, (wide, title)) in widths.iter_mut().zip(self.titles).enumerate() {
            let least = if NUMBER_TITLES.contains(title) {
                *wide
            } else {
                MIN_CUT_COLUMNS.min(*wide)
            };
            has_room &= at == 0 || used + least <= columns;
            if has_room && *wide > 0 {
                used += *wide + 2;
            } else {
                *wide = 0;
            }
        }
    }

    fn lay_out_row(
        &self,
        row: &[(String, Style)],
        widths: &[usize],
        columns: usize,
    ) -> Line<'static> {
        let mut spans = vec![Span::raw("  ")];
        let mut used = 2;
        for (((text, style), wide), title) in row.iter().zip(widths).zip(self.titles) {
            if *wide == 0 || used >= columns {
                continue;
            }
            let lead = if NUMBER_TITLES.contains(title) {
                wide.saturating_sub(text_width(text))
            } else {
                0
            };
            let text = truncate_to_columns(&format!("{}{text}", " ".repeat(lead)), columns - used);
            let gap = (wide + 2).saturating_sub(text_width(&text));
            used += text_width(&text) + gap;
            spans.push(Span::styled(text, *style));
            spans.push(Span::raw(" ".repeat(gap)));
        }
        if let Some(last) = spans.last().filter(|span| span.content.trim().is_empty())
            && spans.len() > 1
            && text_width(&last.content) > 0
        {
            spans.pop();
        }
        Line::from(spans)
    }
}

/// How much of a verdict is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictForm {
    Whole,
    /// In one word, so that there is room for the counts.
    OneWord,
}

/// Returns a row for each review: its verdict and the planner's answers.
pub fn review_table(state: &RunState, clock: LocalClock, form: VerdictForm) -> StatusTable {
    let rows = state.course.reviews().iter();
    let titles = &[
        "#",
        "At",
        "Verdict",
        "Open",
        "New",
        "Resolved",
        "Left open",
        "Answers",
    ];
    let rows = rows.map(|review| review_cells(review, state, clock, form));
    StatusTable::new(titles, rows.collect()).in_line_with_rows()
}

fn review_cells(
    review: &ReviewSpan,
    state: &RunState,
    clock: LocalClock,
    form: VerdictForm,
) -> Vec<(String, Style)> {
    let (label, style) = verdict_label(review.verdict);
    let sign = match (review.verdict, form) {
        (Verdict::ChangesRequired, VerdictForm::OneWord) => {
            format!("{} changes", review.verdict.symbol())
        }
        (Verdict::ChangesRequired, VerdictForm::Whole) | (Verdict::Approved, _) => label,
    };
    let doubt = if review.consistent { "" } else { " ?" };
    let plain = |text: String| (text, theme::PLAIN);
    vec![
        plain(review.review.to_string()),
        (clock.time_with_minutes(review.at), theme::QUIET),
        (format!("{sign}{doubt}"), style),
        plain(review.n_open.to_string()),
        plain(review.n_new.to_string()),
        plain(review.n_settled.to_string()),
        plain(left_open_count(review, state)),
        plain(response_counts(review.review, state)),
    ]
}

/// Counts the findings that are left open once the last review has ended; empty for any other review.
fn left_open_count(review: &ReviewSpan, state: &RunState) -> String {
    let is_last = state.course.reviews().last() == Some(review);
    match state.findings.residual().count() {
        n if n > 0 && is_last => n.to_string(),
        _ => String::new(),
    }
}

/// Counts the planner's answers to a review.
fn response_counts(review: u32, state: &RunState) -> String {
    let all = state.findings.all().iter();
    let stands = all
        .flat_map(Finding::final_answers)
        .filter(|(of, _)| *of == review)
        .map(|(_, response)| response.stand);
    let (accepted, rejected): (Vec<FindingDisposition>, Vec<FindingDisposition>) =
        stands.partition(|stand| *stand == FindingDisposition::Accepted);
    let count = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
    let parts = [
        count(accepted.len(), "accepted"),
        count(rejected.len(), "rejected"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns a row for each step of the plan, with its result.
pub fn step_table(state: &RunState, now: UnixMillis) -> StatusTable {
    let execution = state.execution.as_ref();
    let steps = state.plan.iter().flat_map(|file| &file.plan.steps);
    let rows = steps.map(|step| {
        let done = execution.and_then(|e| e.done.iter().find(|record| record.n == step.n));
        let current = execution
            .and_then(|e| e.current.as_ref())
            .filter(|current| current.n == step.n);
        let took = state.course.step_span(step.n);
        let took = took.filter(|_| done.is_some() || current.is_some());
        let took = took.map_or(String::new(), |took| {
            format_millis(elapsed_millis(took.from, took.to, now))
        });
        let (sign, style, commit, tested, fixes) = match (done, current) {
            (Some(record), _) => step_record_cells(record),
            (None, Some(current)) => (
                "◐",
                theme::RUNNING,
                String::new(),
                current.receipt.as_ref().map(test_cell),
                current.fix_turns,
            ),
            (None, None) => ("○", theme::QUIET, String::new(), None, 0),
        };
        let (tested, tested_style) = tested.unwrap_or_default();
        let title = done.and_then(StepRecord::commit_title);
        let title = title.unwrap_or_else(|| first_clause(&step.text));
        let title = to_plain_line(title);
        let proof = done.filter(|_| state.settings.proves_steps);
        let proof = proof.map_or_else(Default::default, proof_cell);
        let fixes = if fixes > 0 {
            fixes.to_string()
        } else {
            String::new()
        };
        vec![
            (format!("{sign} {}", step.n), style),
            (took, theme::PLAIN),
            (commit, theme::CODE),
            (tested, tested_style),
            proof,
            (fixes, theme::PLAIN),
            (title, theme::PLAIN),
        ]
    });
    let rows = match execution {
        Some(_) => rows.collect(),
        None => Vec::new(),
    };
    let titles = &["Step", "Took", "Commit", "Tests", "Proof", "Fixes", "What"];
    StatusTable::new(titles, rows)
}

/// Returns whether the tests of a finished step or of the current one fail.
pub fn has_failing_tests(state: &RunState) -> bool {
    let execution = state.execution.as_ref();
    let done = execution.into_iter().flat_map(|execution| &execution.done);
    let done = done.filter_map(|record| record.receipt.as_ref());
    let current = execution.and_then(|execution| execution.current.as_ref());
    let current = current.and_then(|current| current.receipt.as_ref());
    done.chain(current)
        .any(|receipt| !receipt.allows_next_step())
}

/// Returns the word for what is proven of a step.
fn proof_cell(record: &StepRecord) -> (String, Style) {
    let word = record.proof_word();
    let style = match word {
        "proven" | "kept" => theme::GOOD,
        _ => theme::WARNING,
    };
    (word.to_owned(), style)
}

/// Says in plain words what the words for proofs mean that the steps have; empty where there are none.
pub fn proof_words(state: &RunState) -> String {
    let execution = state.execution.as_ref();
    let execution = execution.filter(|_| state.settings.proves_steps);
    let steps = execution.map_or(&[][..], |execution| &execution.done);
    let has_word = |word: &'static str| {
        let steps = steps.iter();
        steps.filter(move |record| record.proof_word() == word)
    };
    let is_by_mutants = |record: &StepRecord| {
        let proof = record.proof.as_ref();
        proof.is_some_and(|proof| proof.found.mutants.is_some())
    };
    let proven = if has_word("proven").any(is_by_mutants) {
        "proven: tests fail on the old code, or on a changed line, and pass on the new"
    } else {
        "proven: tests fail on the old code and pass on the new"
    };
    let meanings = [
        ("proven", proven),
        ("kept", "kept: the same tests pass before and after"),
        (
            "checked",
            "checked: tests pass, what they prove is not known",
        ),
    ];
    let meanings = meanings.into_iter();
    let used = meanings.filter(|(word, _)| has_word(word).next().is_some());
    used.map(|(_, text)| text).collect::<Vec<_>>().join(" · ")
}

type StepRecordCells = (&'static str, Style, String, Option<(String, Style)>, u32);

fn step_record_cells(record: &StepRecord) -> StepRecordCells {
    let receipt = record.receipt.as_ref().map(test_cell);
    let fixes = record.fix_turns;
    let (commit, tests) = match &record.outcome {
        StepOutcome::Committed { commit, .. } => (short_commit(commit), receipt),
        StepOutcome::Uncommitted { .. } => ("none".to_owned(), receipt),
        StepOutcome::NoChange => {
            let nothing = (StepAssessment::CHANGED_NOTHING.to_owned(), theme::QUIET);
            (String::new(), Some(nothing))
        }
    };
    let came = record.assessment();
    (
        came.symbol(),
        labels::assessment_style(came),
        commit,
        tests,
        fixes,
    )
}

fn test_cell(receipt: &Receipt) -> (String, Style) {
    let style = if receipt.allows_next_step() {
        theme::GOOD
    } else {
        theme::BAD
    };
    (summarize_receipt(receipt), style)
}

/// Returns the latest turns, oldest first.
pub fn turn_table(state: &RunState, now: UnixMillis, clock: LocalClock) -> StatusTable {
    let turns = state.course.turns();
    let from = turns.len().saturating_sub(MAX_TURN_ROWS);
    let rows = turns.iter().skip(from);
    let rows = rows.map(|turn| turn_cells(turn, now, clock));
    let titles = &["At", "Who", "Took", "Tokens", "Cost", "End", "What"];
    StatusTable::new(titles, rows.collect())
}

fn turn_cells(turn: &TurnSpan, now: UnixMillis, clock: LocalClock) -> Vec<(String, Style)> {
    let used = turn.usage();
    let n = used.input_tokens.saturating_add(used.output_tokens);
    let cost = used.cost_micro_usd.filter(|micro| *micro > 0);
    let style = match turn.end {
        TurnSpanEnd::NotYet => theme::RUNNING,
        TurnSpanEnd::Completed => theme::QUIET,
        TurnSpanEnd::Interrupted | TurnSpanEnd::Failed | TurnSpanEnd::CutOff => theme::BAD,
    };
    vec![
        (clock.time_with_minutes(turn.from), theme::QUIET),
        (turn.role.name().to_owned(), theme::role_style(turn.role)),
        (
            format_millis(elapsed_millis(turn.from, turn.to, now)),
            theme::PLAIN,
        ),
        (
            if n > 0 {
                format_tokens(n)
            } else {
                String::new()
            },
            theme::PLAIN,
        ),
        (cost.map_or(String::new(), format_dollars), theme::PLAIN),
        (turn.end.label().to_owned(), style),
        (to_one_line(&turn.what), theme::PLAIN),
    ]
}
