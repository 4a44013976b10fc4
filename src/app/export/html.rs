//! The page as HTML: one file, nothing from elsewhere, dark and light as the reader's system is.
//!
//! What agents and files say is text: all of it is escaped, and the page lets no script run.

mod prose;

use std::fmt::Write;

use crate::domain::discussion::Discussion;
use crate::domain::execution::{Came, StepOutcome, StepRecord};
use crate::domain::findings::{Finding, Status};
use crate::domain::ids::At;
use crate::domain::receipt::Receipt;
use crate::domain::turn::Role;
use crate::text::patch::{LineKind, Patch};
use crate::text::{clean, n_of, one_line};

use super::table::{self, Table};
use super::{Item, Page, Section, length};

const STYLE: &str = include_str!("html/style.css");

/// Makes a text harmless between tags and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The whole page.
pub fn page(page: &Page) -> String {
    let mut out = String::new();
    let title = escape(&page.title());
    let _ = writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"dark light\">\n\
         <meta name=\"generator\" content=\"agent-collab {}\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>",
        env!("CARGO_PKG_VERSION")
    );
    out.push_str(&header(page));
    out.push_str("<main>\n");
    for (name, id, body) in [
        ("Goal", "goal", goal(page)),
        ("Who worked when", "timeline", timeline(page)),
        ("Plan", "plan", plan(page)),
        ("Steps", "steps", steps(page)),
        ("Reviews", "reviews", table(&table::reviews(page))),
        ("Findings", "findings", findings(page)),
        ("Discussions", "discussions", discussions(page)),
        ("Course", "course", course(page)),
        ("Totals", "totals", table(&table::totals(page))),
    ] {
        if !body.is_empty() {
            let _ = writeln!(
                out,
                "<section id=\"{id}\">\n<h2>{name}</h2>\n{body}</section>"
            );
        }
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn header(page: &Page) -> String {
    let state = &page.state;
    let execution = state.execution.iter();
    let done = execution.clone().flat_map(|execution| &execution.done);
    let n_commits = done
        .filter(|record| matches!(record.outcome, StepOutcome::Committed { .. }))
        .count();
    let steps = state.step_count();
    let facts = [
        state.phase.name().to_owned(),
        format!("{} of {}", steps.done, n_of(steps.all, "step")),
        n_of(n_commits, "commit"),
        n_of(
            usize::try_from(state.findings.reviews()).unwrap_or(0),
            "review",
        ),
        format!("{} – {}", page.time(state.created), page.time(page.end())),
    ];
    let mut out = format!(
        "<header>\n<h1 dir=\"auto\">{}</h1>\n<p class=\"facts\">",
        escape(&page.title())
    );
    for fact in facts {
        let _ = write!(out, "<span>{}</span> ", escape(&fact));
    }
    out.push_str("</p>\n");
    if let Some(problem) = &page.problem {
        let _ = writeln!(out, "<p class=\"bad\">{}</p>", escape(problem));
    }
    out.push_str("</header>\n");
    out
}

fn goal(page: &Page) -> String {
    let goal = page.state.goal.as_ref();
    goal.map_or_else(String::new, |goal| prose::html(&clean(&goal.text)))
}

/// Bars of who worked when.
fn timeline(page: &Page) -> String {
    let course = &page.state.course;
    if course.turns().is_empty() {
        return String::new();
    }
    let (from, to) = (page.state.created, page.end());
    let whole = to.0.saturating_sub(from.0).max(1);
    let bar = |class: &str, begin: At, end: Option<At>, title: &str| {
        let end = end.unwrap_or(to);
        let left = begin.0.saturating_sub(from.0).clamp(0, whole);
        let wide = end.0.saturating_sub(begin.0).clamp(0, whole - left);
        // In thousandths, so that no float is printed in a locale's way.
        let (left, wide) = (left * 1_000 / whole, (wide * 1_000 / whole).max(3));
        format!(
            "<i class=\"{class}\" style=\"left:{}.{}%;width:{}.{}%\" title=\"{}\"></i>",
            left / 10,
            left % 10,
            wide / 10,
            wide % 10,
            escape(title)
        )
    };
    let mut out = String::from("<div class=\"bars\">\n");
    for role in [Role::Planner, Role::Reviewer] {
        let turns = page.turns.iter().filter(|turn| turn.role == role);
        let bars: String = turns
            .map(|turn| {
                bar(
                    role.name(),
                    turn.from,
                    turn.to,
                    &format!("{}: {}", turn.what, page.took(turn)),
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "<b>{}</b><div>{bars}</div><span>{}</span>",
            role.name(),
            length(course.worked(role, to))
        );
    }
    let before = course.times_of_early_waits().iter();
    let before = before.map(|(from, to)| bar("you", *from, Some(*to), "earlier"));
    let waits = course.waits().iter();
    let waits = waits.map(|wait| bar("you", wait.from, wait.to, &one_line(&wait.what)));
    let waits: String = before.chain(waits).collect();
    let _ = writeln!(
        out,
        "<b>waited for you</b><div>{waits}</div><span>{}</span>\n</div>",
        length(course.waited(to))
    );
    out
}

fn plan(page: &Page) -> String {
    match page.plan.is_empty() {
        true => String::new(),
        false => prose::html(&page.plan),
    }
}

fn steps(page: &Page) -> String {
    let execution = page.state.execution.iter();
    let records = execution.flat_map(|execution| &execution.done);
    records.map(|record| step(page, record)).collect()
}

fn step(page: &Page, record: &StepRecord) -> String {
    let took = page.state.course.step(record.n).and_then(|step| {
        let to = step.to?;
        Some(format!(" · {}", length(to.0.saturating_sub(step.from.0))))
    });
    let outcome = match table::outcome(record) {
        Ok(commit) => format!("<code>{}</code>", escape(&commit)),
        Err(why) if record.came() == Came::Unchanged => escape(&why),
        Err(why) => format!("<span class=\"bad\">{}</span>", escape(&why)),
    };
    let class = match record.came() {
        Came::Well | Came::Uncommitted => "good",
        Came::Unchanged => "quiet",
        Came::Failing => "bad",
    };
    let checks = table::tested(record).map(|checks| format!(" · {}", escape(&checks)));
    let mut out = format!(
        "<article>\n<h3 dir=\"auto\"><span class=\"{class}\">{}</span> {}. {}</h3>\n<p>{outcome}{}{}</p>\n",
        record.came().sign(),
        record.n,
        prose::inline(&one_line(&record.text)),
        checks.unwrap_or_default(),
        took.unwrap_or_default()
    );
    if let Some(receipt) = &record.receipt {
        out.push_str(&tested(receipt));
    }
    if let Some(patch) = page.diffs.get(&record.n) {
        out.push_str(&diff(patch));
    }
    out.push_str("</article>\n");
    out
}

fn tested(receipt: &Receipt) -> String {
    if receipt.command.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary><code>{}</code> <span class=\"quiet\">{}</span></summary>\n<pre>{}</pre></details>\n",
        escape(&one_line(&receipt.command)),
        length(i64::try_from(receipt.duration_ms).unwrap_or(0)),
        escape(&clean(&receipt.output_tail))
    )
}

fn diff(patch: &Patch) -> String {
    let (added, removed) = patch.totals();
    let mut out = format!(
        "<details><summary>{} <span class=\"good\">+{added}</span> <span class=\"bad\">−{removed}</span></summary>\n<pre class=\"diff\">",
        n_of(patch.files.len(), "file")
    );
    for line in &patch.lines {
        let class = match line.kind {
            LineKind::File => "file",
            LineKind::Hunk => "hunk",
            LineKind::Added => "good",
            LineKind::Removed => "bad",
            LineKind::Note => "quiet",
            LineKind::Context => "same",
        };
        let _ = writeln!(out, "<span class=\"{class}\">{}</span>", escape(&line.text));
    }
    out.push_str("</pre></details>\n");
    out
}

fn table(table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let cell = |text: &str| match text.starts_with('✓') {
        true => format!("<td><span class=\"good\">{}</span></td>", escape(text)),
        false => format!("<td>{}</td>", escape(text)),
    };
    let head: String = table
        .head
        .iter()
        .map(|name| format!("<th>{name}</th>"))
        .collect();
    let rows = table.rows.iter().map(|row| {
        let cells: String = row.iter().map(|text| cell(text)).collect();
        format!("<tr>{cells}</tr>\n")
    });
    let rows: String = rows.collect();
    format!("<table>\n<tr>{head}</tr>\n{rows}</table>\n")
}

fn findings(page: &Page) -> String {
    let all = page.state.findings.all().iter();
    all.map(|found| finding(page, found)).collect()
}

fn finding(page: &Page, finding: &Finding) -> String {
    let remark = &finding.remark;
    let sign = table::status(finding);
    let class = match finding.status {
        Status::Open => "open",
        Status::SettledByReview | Status::SettledByUser => "good",
    };
    let mut out = format!(
        "<article>\n<h3 dir=\"auto\"><span class=\"{class}\">{sign}</span> {}. <em>[{}]</em> {}</h3>\n",
        remark.n,
        remark.severity.word(),
        prose::inline(&one_line(&remark.text))
    );
    for (head, reason) in table::answers(finding) {
        let reason = prose::inline(&one_line(reason));
        let _ = writeln!(out, "<p dir=\"auto\">↳ {head}: {reason}</p>");
    }
    if let Some(evidence) = page.evidence.get(&remark.n) {
        let _ = writeln!(
            out,
            "<details><summary>evidence</summary>\n<pre dir=\"auto\">{}</pre></details>",
            escape(evidence)
        );
    }
    out.push_str("</article>\n");
    out
}

/// Each discussion folded: its topic with what it came to, in it all that was said.
fn discussions(page: &Page) -> String {
    let of = |discussion: &Discussion| {
        let topic = escape(&one_line(&clean(&discussion.order.topic)));
        let text = prose::html(&clean(&discussion.as_markdown()));
        format!("<details>\n<summary dir=\"auto\">{topic}</summary>\n{text}</details>\n")
    };
    page.state.discussions.iter().map(of).collect()
}

fn course(page: &Page) -> String {
    let sections = page
        .sections
        .iter()
        .filter(|section| !section.items.is_empty());
    sections.map(|section| of_section(page, section)).collect()
}

fn of_section(page: &Page, section: &Section) -> String {
    let items: String = section.items.iter().map(item).collect();
    let Some(turn) = &section.turn else {
        return format!("<div class=\"between\">\n{items}</div>\n");
    };
    let (class, head) = match page.span(turn) {
        Some(span) => (
            span.role.name(),
            format!(
                "<b>{}</b> {} <span class=\"quiet\">{}</span>",
                span.role.name(),
                escape(&span.what),
                escape(&page.took(span))
            ),
        ),
        None => ("turn", "<b>a turn</b>".to_owned()),
    };
    format!("<details class=\"turn {class}\"><summary>{head}</summary>\n{items}</details>\n")
}

fn item(item: &Item) -> String {
    match item {
        Item::You(text) => format!("<div class=\"you\"><b>you</b>{}</div>\n", prose::html(text)),
        Item::Said(role, text) => {
            format!(
                "<div class=\"said {}\">{}</div>\n",
                role.name(),
                prose::html(text)
            )
        }
        Item::Thought(_, text) => format!(
            "<details class=\"thought\"><summary>thinks</summary>{}</details>\n",
            prose::html(text)
        ),
        Item::Call {
            title,
            status,
            output,
        } if output.is_empty() => format!(
            "<p class=\"call\"><code>{}</code> <span class=\"quiet\">{}</span></p>\n",
            escape(title),
            escape(status)
        ),
        Item::Call {
            title,
            status,
            output,
        } => format!(
            "<details class=\"call\"><summary><code>{}</code> <span class=\"quiet\">{}</span></summary>\n<pre>{}</pre></details>\n",
            escape(title),
            escape(status),
            escape(output)
        ),
        Item::Fact(text) => format!("<p class=\"fact\" dir=\"auto\">{}</p>\n", lines(text)),
    }
}

/// A text whose line ends are kept.
fn lines(text: &str) -> String {
    escape(text).replace('\n', "<br>\n")
}
