//! Tab: who takes part, what they used, what was checked.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::ids::At;
use crate::domain::run::State;
use crate::domain::session::Session;
use crate::domain::turn::Role;
use crate::tui::Silent;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::words::{dollars, elapsed, gate, limit, silent as in_words, tokens};
use crate::tui::wrap::{one_line, wrap, wrap_own};

/// Draws the run's facts.
pub fn draw(
    page: &mut Page,
    frame: &mut Frame,
    area: Rect,
    (state, silent): (Option<&State>, Option<&Silent>),
    now: At,
) {
    let columns = usize::from(area.width);
    page.set_lines(match state {
        Some(state) => lay_out((state, silent), now, columns),
        None => wrap_own("There is no run yet.", columns, theme::QUIET),
    });
    page.draw(frame, area);
}

fn lay_out(
    (state, silent): (&State, Option<&Silent>),
    now: At,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut rows = vec![
        head("run"),
        row("id", state.run.as_str()),
        row("since", &elapsed(state.created, now)),
        row("phase", state.phase.name()),
        row("gate", gate(state.gate)),
        row(
            "mode",
            &format!("{}: {}", state.mode.name(), state.mode.in_words()),
        ),
        row(
            "review",
            &format!(
                "iteration {} of {}, no progress in {} of {}",
                state.iteration,
                state.cap(),
                state.stall,
                state.settings.stall_limit
            ),
        ),
    ];
    if let Some(running) = &state.running {
        let process = match &running.process {
            Some(process) => format!("process {}", process.pid),
            None => "no process yet".to_owned(),
        };
        let text = format!(
            "{} {} for {}, {process}",
            running.order.purpose.role().name(),
            running.order.purpose.in_words(),
            elapsed(running.started_at, now)
        );
        rows.push(row("turn", &text));
        rows.extend(
            silent
                .into_iter()
                .flat_map(|silent| of_silence(silent, now)),
        );
    }
    if let Some(text) = limit(state, now) {
        rows.push(Row::new("waits", &text, theme::NEEDS_YOU));
    }
    if state.failures > 0 {
        let text = format!("{} in a row", state.failures);
        rows.push(Row::new("failures", &text, theme::BAD));
    }
    for role in [Role::Planner, Role::Reviewer] {
        rows.push(head(role.name()));
        match state.session(role) {
            Some(session) => rows.extend(of_session(session)),
            None => rows.push(row("adapter", "none: the plan is not reviewed")),
        }
    }
    rows.extend(receipts(state));
    rows.into_iter()
        .flat_map(|row| row.lay_out(columns))
        // The blank line before a heading is not wanted before the first.
        .skip(1)
        .collect()
}

fn of_silence(silent: &Silent, now: At) -> [Row; 2] {
    let text = in_words(silent, now);
    [
        Row::new("silence", &text, theme::NEEDS_YOU),
        row(
            "you may",
            "interrupt it with Ctrl+X; nothing is ended before limits.turn_timeout",
        ),
    ]
}

fn of_session(session: &Session) -> Vec<Row> {
    let version = session.version.as_deref().unwrap_or("not known yet");
    let usage = &session.usage;
    let cost = match usage.cost_micro_usd {
        Some(micro) => format!(", {}", dollars(micro)),
        None => String::new(),
    };
    let mut rows = vec![
        row("adapter", &session.adapter),
        row("version", version),
        row(
            "usage",
            &format!(
                "{} tokens in, {} out{cost}",
                tokens(usage.input_tokens),
                tokens(usage.output_tokens)
            ),
        ),
        row(
            "session",
            session.external_id.as_deref().unwrap_or("not opened yet"),
        ),
        row("messages", &session.n_messages.to_string()),
    ];
    if let Some(from) = &session.moved_from {
        let text = format!("from {from}: it goes on here from a recovery prompt");
        rows.push(Row::new("moved", &text, theme::BAD));
    } else if session.degraded {
        let text = "the CLI lost the conversation once; it goes on from a recovery prompt";
        rows.push(Row::new("degraded", text, theme::BAD));
    }
    rows
}

fn receipts(state: &State) -> Vec<Row> {
    let Some(execution) = &state.execution else {
        return Vec::new();
    };
    let mut rows = vec![head("receipts")];
    match &execution.test {
        Some(test) => rows.push(row("command", &test.command)),
        None => rows.push(Row::new("command", "none: nothing is tested", theme::BAD)),
    }
    for record in &execution.done {
        let style = match &record.receipt {
            Some(receipt) if receipt.lets_pass() => theme::GOOD,
            Some(_) => theme::BAD,
            None => theme::PLAIN,
        };
        let name = format!("step {}", record.n);
        rows.push(Row::new(&name, &record.tested_in_words(), style));
    }
    if let Some(current) = &execution.current {
        let text = match &current.receipt {
            Some(receipt) => receipt.in_words(),
            None => "not tested yet".to_owned(),
        };
        rows.push(row(&format!("step {}", current.n), &text));
    }
    rows
}

/// A name and what is to be said of it; no name makes a heading.
struct Row {
    name: String,
    text: String,
    style: Style,
}

impl Row {
    fn new(name: &str, text: &str, style: Style) -> Self {
        Self {
            name: name.to_owned(),
            text: one_line(text),
            style,
        }
    }

    fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        if self.name.is_empty() {
            let line = Line::styled(self.text.clone(), self.style);
            return vec![Line::default(), line];
        }
        let name = format!("  {:<10}", self.name);
        let spans = [
            Span::styled(name, theme::QUIET),
            Span::styled(self.text.as_str(), self.style),
        ];
        wrap(&spans, columns, 12)
    }
}

fn row(name: &str, text: &str) -> Row {
    Row::new(name, text, theme::PLAIN)
}

fn head(text: &str) -> Row {
    Row::new("", text, theme::STRONG)
}
