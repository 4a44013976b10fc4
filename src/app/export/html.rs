//! Renders the page as HTML: one file that loads nothing, dark or light as the reader's system.
//!
//! Nothing that agents and files say becomes HTML of its own, and the page forbids scripts.

mod markdown_to_html;

use std::fmt::Write;

use crate::domain::discussion::GroupDiscussion;
use crate::domain::findings::{Finding, FindingStatus};
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{StepAssessment, StepOutcome, StepRecord};
use crate::domain::receipt::Receipt;
use crate::domain::turn::Role;
use crate::text::format_duration;
use crate::text::unified_diff::{DiffLineKind, UnifiedDiff};
use crate::text::{clean_text, clean_to_one_line, describe_line_counts, pluralize};

use super::summary_tables::{self, SummaryTable};
use super::{ExportItem, ExportPage, ExportSection};

const STYLE: &str = include_str!("html/style.css");

/// Escapes a text for use between tags and in attributes.
pub fn escape_html(text: &str) -> String {
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

/// Renders the whole page as HTML.
pub fn render_page(page: &ExportPage) -> String {
    let mut out = String::new();
    let title = escape_html(&page.title());
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
    out.push_str(&render_header(page));
    out.push_str("<main>\n");
    for (name, id, body) in [
        ("Goal", "goal", render_goal(page)),
        ("Timeline", "timeline", render_timeline(page)),
        ("Plan", "plan", render_plan(page)),
        ("Steps", "steps", render_steps(page)),
        (
            "Reviews",
            "reviews",
            render_table(&summary_tables::reviews_table(page)),
        ),
        ("Findings", "findings", render_findings(page)),
        ("Discussions", "discussions", render_discussions(page)),
        ("Course", "course", render_sections(page)),
        (
            "Totals",
            "totals",
            render_table(&summary_tables::totals_table(page)),
        ),
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

fn render_header(page: &ExportPage) -> String {
    let state = &page.state;
    let execution = state.execution.iter();
    let done = execution.clone().flat_map(|execution| &execution.done);
    let n_commits = done
        .filter(|record| matches!(record.outcome, StepOutcome::Committed { .. }))
        .count();
    let steps = state.step_count();
    let facts = [
        state.phase.label().to_owned(),
        format!("{} of {}", steps.done, pluralize(steps.all, "step")),
        pluralize(n_commits, "commit"),
        pluralize(
            usize::try_from(state.findings.review_count()).unwrap_or(0),
            "review",
        ),
        state.describe_review_end().unwrap_or_default(),
        format!(
            "{} – {}",
            page.format_time(state.created),
            page.format_time(page.last_activity())
        ),
    ];
    let mut out = format!(
        "<header>\n<h1 dir=\"auto\">{}</h1>\n<p class=\"facts\">",
        escape_html(&page.title())
    );
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        let _ = write!(out, "<span>{}</span> ", escape_html(fact));
    }
    out.push_str("</p>\n");
    if let Some(problem) = &page.problem {
        let _ = writeln!(out, "<p class=\"bad\">{}</p>", escape_html(problem));
    }
    out.push_str("</header>\n");
    out
}

fn render_goal(page: &ExportPage) -> String {
    let goal = page.state.goal.as_ref();
    goal.map_or_else(String::new, |goal| {
        markdown_to_html::to_html(&clean_text(&goal.text))
    })
}

/// Draws a bar for each turn and for each wait for the user.
fn render_timeline(page: &ExportPage) -> String {
    let course = &page.state.course;
    if course.turns().is_empty() {
        return String::new();
    }
    let (from, to) = (page.state.created, page.last_activity());
    let whole = to.0.saturating_sub(from.0).max(1);
    let bar = |class: &str, begin: UnixMillis, end: Option<UnixMillis>, title: &str| {
        let end = end.unwrap_or(to);
        let left = begin.0.saturating_sub(from.0).clamp(0, whole);
        let wide = end.0.saturating_sub(begin.0).clamp(0, whole - left);
        // In thousandths: integers have no locale-dependent decimal point.
        let (left, wide) = (left * 1_000 / whole, (wide * 1_000 / whole).max(3));
        format!(
            "<i class=\"{class}\" style=\"left:{}.{}%;width:{}.{}%\" title=\"{}\"></i>",
            left / 10,
            left % 10,
            wide / 10,
            wide % 10,
            escape_html(title)
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
                    &format!("{}: {}", turn.what, page.describe_turn_cost(turn)),
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "<b>{}</b><div>{bars}</div><span>{}</span>",
            role.name(),
            format_duration(course.work_millis(role, to))
        );
    }
    let before = course.early_wait_times().iter();
    let before = before.map(|(from, to)| bar("you", *from, Some(*to), "earlier"));
    let waits = course.waits().iter();
    let waits = waits.map(|wait| bar("you", wait.from, wait.to, &clean_to_one_line(&wait.what)));
    let waits: String = before.chain(waits).collect();
    let _ = writeln!(
        out,
        "<b>waited for you</b><div>{waits}</div><span>{}</span>\n</div>",
        format_duration(course.wait_millis(to))
    );
    out
}

fn render_plan(page: &ExportPage) -> String {
    if page.plan.is_empty() {
        String::new()
    } else {
        markdown_to_html::to_html(&page.plan)
    }
}

fn render_steps(page: &ExportPage) -> String {
    let execution = page.state.execution.iter();
    let records = execution.flat_map(|execution| &execution.done);
    records.map(|record| render_step(page, record)).collect()
}

fn render_step(page: &ExportPage, record: &StepRecord) -> String {
    let took = page.state.course.step_span(record.n).and_then(|step| {
        let to = step.to?;
        Some(format!(
            " · {}",
            format_duration(to.0.saturating_sub(step.from.0))
        ))
    });
    let outcome = match summary_tables::commit_or_reason(record) {
        Ok(commit) => format!("<code>{}</code>", escape_html(&commit)),
        Err(why) if record.assessment() == StepAssessment::Unchanged => escape_html(&why),
        Err(why) => format!("<span class=\"bad\">{}</span>", escape_html(&why)),
    };
    let class = match record.assessment() {
        StepAssessment::Committed | StepAssessment::Uncommitted => "good",
        StepAssessment::Unchanged => "quiet",
        StepAssessment::Failing => "bad",
    };
    let checks =
        summary_tables::test_label(record).map(|checks| format!(" · {}", escape_html(&checks)));
    let mut out = format!(
        "<article>\n<h3 dir=\"auto\"><span class=\"{class}\">{}</span> {}. {}</h3>\n<p>{outcome}{}{}</p>\n",
        record.assessment().symbol(),
        record.n,
        markdown_to_html::render_inline(&clean_to_one_line(&record.text)),
        checks.unwrap_or_default(),
        took.unwrap_or_default()
    );
    if let Some(receipt) = &record.receipt {
        out.push_str(&render_test_receipt(receipt));
    }
    if let Some(patch) = page.diffs.get(&record.n) {
        out.push_str(&render_diff(patch));
    }
    out.push_str("</article>\n");
    out
}

fn render_test_receipt(receipt: &Receipt) -> String {
    if receipt.command.is_empty() {
        return String::new();
    }
    format!(
        "<details><summary><code>{}</code> <span class=\"quiet\">{}</span></summary>\n<pre>{}</pre></details>\n",
        escape_html(&clean_to_one_line(&receipt.command)),
        format_duration(i64::try_from(receipt.duration_ms).unwrap_or(0)),
        escape_html(&clean_text(&receipt.output_tail))
    )
}

fn render_diff(patch: &UnifiedDiff) -> String {
    let (added, removed) = patch.totals();
    let mut out = format!("<details><summary>{}", pluralize(patch.files.len(), "file"));
    for (class, count) in [
        ("good", describe_line_counts(added, 0)),
        ("bad", describe_line_counts(0, removed)),
    ] {
        if !count.is_empty() {
            out.push_str(&format!(" <span class=\"{class}\">{count}</span>"));
        }
    }
    out.push_str("</summary>\n<pre class=\"diff\">");
    for line in &patch.lines {
        let class = match line.kind {
            DiffLineKind::File => "file",
            DiffLineKind::Hunk => "hunk",
            DiffLineKind::Added => "good",
            DiffLineKind::Removed => "bad",
            DiffLineKind::Note => "quiet",
            DiffLineKind::Context => "same",
        };
        let _ = writeln!(
            out,
            "<span class=\"{class}\">{}</span>",
            escape_html(&line.text)
        );
    }
    out.push_str("</pre></details>\n");
    out
}

fn render_table(table: &SummaryTable) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let cell = |text: &str| {
        if text.starts_with('✓') {
            format!("<td><span class=\"good\">{}</span></td>", escape_html(text))
        } else {
            format!("<td>{}</td>", escape_html(text))
        }
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

fn render_findings(page: &ExportPage) -> String {
    let all = page.state.findings.all().iter();
    all.map(|found| render_finding(page, found)).collect()
}

fn render_finding(page: &ExportPage, finding: &Finding) -> String {
    let remark = &finding.remark;
    let sign = summary_tables::finding_status_label(finding);
    let class = match finding.status {
        FindingStatus::Open => "open",
        FindingStatus::Residual => "quiet",
        FindingStatus::Fixed
        | FindingStatus::Withdrawn
        | FindingStatus::Rebutted
        | FindingStatus::DecidedByUser => "good",
    };
    let mut out = format!(
        "<article>\n<h3 dir=\"auto\"><span class=\"{class}\">{sign}</span> {}. <span class=\"quiet\">[{}]</span> {}</h3>\n",
        remark.n,
        remark.severity.as_str(),
        markdown_to_html::render_inline(&clean_to_one_line(&remark.text))
    );
    for (head, text) in summary_tables::finding_facts(finding) {
        let text = markdown_to_html::render_inline(&text);
        let _ = writeln!(out, "<p class=\"quiet\" dir=\"auto\">{head}: {text}</p>");
    }
    for (head, reason) in summary_tables::planner_answers(finding) {
        let head = escape_html(&head);
        let reason = markdown_to_html::render_inline(&clean_to_one_line(reason));
        let _ = writeln!(out, "<p dir=\"auto\">↳ {head}: {reason}</p>");
    }
    if let Some(evidence) = page.evidence.get(&remark.n) {
        let _ = writeln!(
            out,
            "<details><summary>evidence</summary>\n<pre dir=\"auto\">{}</pre></details>",
            escape_html(evidence)
        );
    }
    out.push_str("</article>\n");
    out
}

/// Renders each discussion folded: the topic with the result, inside it everything that was said.
fn render_discussions(page: &ExportPage) -> String {
    let of = |discussion: &GroupDiscussion| {
        let topic = escape_html(&clean_to_one_line(&clean_text(&discussion.order.topic)));
        let text = markdown_to_html::to_html(&clean_text(&discussion.to_markdown()));
        format!("<details>\n<summary dir=\"auto\">{topic}</summary>\n{text}</details>\n")
    };
    page.state.discussions.iter().map(of).collect()
}

fn render_sections(page: &ExportPage) -> String {
    let sections = page
        .sections
        .iter()
        .filter(|section| !section.items.is_empty());
    sections
        .map(|section| render_section(page, section))
        .collect()
}

fn render_section(page: &ExportPage, section: &ExportSection) -> String {
    let items: String = section.items.iter().map(render_item).collect();
    let Some(turn) = &section.turn else {
        return format!("<div class=\"between\">\n{items}</div>\n");
    };
    let (class, head) = match page.turn_span(turn) {
        Some(span) => (
            span.role.name(),
            format!(
                "<b>{}</b> {} <span class=\"quiet\">{}</span>",
                span.role.name(),
                escape_html(&span.what),
                escape_html(&page.describe_turn_cost(span))
            ),
        ),
        None => ("turn", "<b>turn</b>".to_owned()),
    };
    format!("<details class=\"turn {class}\"><summary>{head}</summary>\n{items}</details>\n")
}

fn render_item(item: &ExportItem) -> String {
    match item {
        ExportItem::UserText(text) => format!(
            "<div class=\"you\"><b>you</b>{}</div>\n",
            markdown_to_html::to_html(text)
        ),
        ExportItem::AgentText(role, text) => {
            format!(
                "<div class=\"said {}\">{}</div>\n",
                role.name(),
                markdown_to_html::to_html(text)
            )
        }
        ExportItem::AgentThought(_, text) => format!(
            "<details class=\"thought\"><summary>thinking</summary>{}</details>\n",
            markdown_to_html::to_html(text)
        ),
        ExportItem::ToolCall {
            title,
            status,
            output,
        } if output.is_empty() => format!(
            "<p class=\"call\"><code>{}</code> <span class=\"quiet\">{}</span></p>\n",
            escape_html(title),
            escape_html(status)
        ),
        ExportItem::ToolCall {
            title,
            status,
            output,
        } => format!(
            "<details class=\"call\"><summary><code>{}</code> <span class=\"quiet\">{}</span></summary>\n<pre>{}</pre></details>\n",
            escape_html(title),
            escape_html(status),
            escape_html(output)
        ),
        ExportItem::ProgramNote(text) => format!(
            "<p class=\"fact\" dir=\"auto\">{}</p>\n",
            escape_lines(text)
        ),
    }
}

/// Escapes a text and keeps its line ends.
fn escape_lines(text: &str) -> String {
    escape_html(text).replace('\n', "<br>\n")
}
