//! Renders the page as Markdown: one file for any Markdown viewer.
//!
//! Everything that agents and files say is in quotations and code blocks; their markup is escaped outside of code.

use std::fmt::Write;

use crate::domain::discussion::GroupDiscussion;
use crate::domain::findings::Finding;
use crate::domain::plan_execution::StepRecord;
use crate::text::fenced_block::{self, MarkdownPart};
use crate::text::unified_diff::UnifiedDiff;
use crate::text::{clean_text, clean_to_one_line, describe_line_counts, pluralize};

use super::summary_tables::{self, SummaryTable};
use super::{ExportItem, ExportPage, ExportSection};

/// Escapes angle brackets and images outside of code, so that the text has no tags and loads nothing.
fn escape_markup(text: &str) -> String {
    let parts = fenced_block::split_parts(text).into_iter();
    parts
        .map(|part| match part {
            MarkdownPart::Prose(text) => text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                // Opening the page would fetch an image.
                .replace("![", "!\\["),
            MarkdownPart::Block(content) => code_block(&content.info, &content.content),
        })
        .collect()
}

/// Renders a code block with a fence longer than any in its content.
fn code_block(info: &str, content: &str) -> String {
    let longest = content
        .lines()
        .map(|line| line.trim_start().chars().take_while(|c| *c == '`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let info: String = info.chars().filter(|c| c.is_alphanumeric()).collect();
    let end = if content.ends_with('\n') || content.is_empty() {
        ""
    } else {
        "\n"
    };
    format!("{fence}{info}\n{content}{end}{fence}\n")
}

/// Renders a text as a quotation.
fn block_quote(text: &str) -> String {
    escape_markup(text)
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect()
}

/// Renders a text as one escaped line.
fn escape_line(text: &str) -> String {
    clean_to_one_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
}

/// Renders a folded section.
fn details_block(summary: &str, body: &str) -> String {
    format!(
        "<details><summary>{}</summary>\n\n{body}\n</details>\n\n",
        escape_line(summary)
    )
}

/// Renders the whole page as Markdown.
pub fn render_page(page: &ExportPage) -> String {
    let state = &page.state;
    let mut out = format!(
        "# {}\n\n{} · {} – {}\n\n",
        escape_line(&page.title()),
        state.phase.label(),
        page.format_time(state.created),
        page.format_time(page.last_activity())
    );
    if let Some(problem) = &page.problem {
        let _ = write!(out, "**{}**\n\n", escape_line(problem));
    }
    if let Some(goal) = &state.goal {
        let _ = writeln!(out, "## Goal\n\n{}", block_quote(&clean_text(&goal.text)));
    }
    if !page.plan.is_empty() {
        let _ = writeln!(out, "## Plan\n\n{}", block_quote(&page.plan));
    }
    let done: Vec<&StepRecord> = state.execution.iter().flat_map(|e| &e.done).collect();
    if !done.is_empty() {
        out.push_str("## Steps\n\n");
        out.extend(done.into_iter().map(|record| render_step(page, record)));
    }
    out.push_str(&render_table(
        "Reviews",
        &summary_tables::reviews_table(page),
    ));
    if let Some(end) = state.describe_review_end() {
        let _ = writeln!(out, "Review {}\n", escape_line(&end));
    }
    let findings = state.findings.all();
    if !findings.is_empty() {
        out.push_str("## Findings\n\n");
        out.extend(findings.iter().map(|found| render_finding(page, found)));
    }
    if !state.discussions.is_empty() {
        out.push_str("## Discussions\n\n");
    }
    for discussion in &state.discussions {
        let topic = discussion.order.topic.as_str();
        let text: String = render_discussion(discussion)
            .lines()
            .map(|line| format!("> {line}\n"))
            .collect();
        out.push_str(&details_block(topic, &text));
    }
    out.push_str("## Conversation\n\n");
    let sections = page
        .sections
        .iter()
        .filter(|section| !section.items.is_empty());
    out.extend(sections.map(|section| render_section(page, section)));
    out.push_str(&render_table("Totals", &summary_tables::totals_table(page)));
    out
}

/// Renders a discussion as a page of its own: the result, then everything that was said.
pub fn render_discussion(discussion: &GroupDiscussion) -> String {
    escape_markup(&clean_text(&discussion.to_markdown()))
}

fn render_step(page: &ExportPage, record: &StepRecord) -> String {
    let outcome = match summary_tables::commit_or_reason(record) {
        Ok(commit) => format!("commit {commit}"),
        Err(why) => escape_line(&why),
    };
    let tested =
        summary_tables::test_label(record).map(|tested| format!(" · {}", escape_line(&tested)));
    let mut out = format!(
        "### {} {}. {}\n\n{outcome}{}\n\n",
        record.assessment().symbol(),
        record.n,
        escape_line(&record.text),
        tested.unwrap_or_default()
    );
    if let Some(receipt) = record
        .receipt
        .as_ref()
        .filter(|receipt| !receipt.command.is_empty())
    {
        out.push_str(&details_block(
            &receipt.command,
            &code_block("", &clean_text(&receipt.output_tail)),
        ));
    }
    if let Some(patch) = page.diffs.get(&record.n) {
        out.push_str(&render_diff(patch));
    }
    out
}

fn render_diff(patch: &UnifiedDiff) -> String {
    let (added, removed) = patch.totals();
    let text: String = patch
        .lines
        .iter()
        .map(|line| format!("{}\n", line.text))
        .collect();
    let files = pluralize(patch.files.len(), "file");
    let counts = describe_line_counts(added, removed);
    let summary = format!("{files} {counts}").trim_end().to_owned();
    details_block(&summary, &code_block("diff", &text))
}

fn render_table(title: &str, table: &SummaryTable) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = row(table.head.iter().map(|name| (*name).to_owned()).collect());
    let rule = "|---".repeat(table.head.len());
    let cell = |text: &String| escape_line(text).replace('|', "\\|");
    let rows = table
        .rows
        .iter()
        .map(|cells| row(cells.iter().map(cell).collect()));
    let rows: String = rows.collect();
    format!("## {title}\n\n{head}{rule}|\n{rows}\n")
}

fn render_finding(page: &ExportPage, finding: &Finding) -> String {
    let remark = &finding.remark;
    let status = summary_tables::finding_status_label(finding);
    let mut out = format!(
        "### {status} {}. [{}] {}\n\n",
        remark.n,
        remark.severity.as_str(),
        escape_line(&remark.text)
    );
    for (head, text) in summary_tables::finding_facts(finding) {
        let _ = writeln!(out, "- {head}: {}", escape_line(&text));
    }
    for (head, reason) in summary_tables::planner_answers(finding) {
        let head = escape_line(&head);
        let _ = writeln!(out, "- {head}: {}", escape_line(reason));
    }
    if let Some(evidence) = page.evidence.get(&remark.n) {
        let _ = write!(
            out,
            "\n{}",
            details_block("evidence", &code_block("", evidence))
        );
    }
    out.push('\n');
    out
}

fn render_section(page: &ExportPage, section: &ExportSection) -> String {
    let items: String = section.items.iter().map(render_item).collect();
    let head = section.turn.as_ref().and_then(|turn| page.turn_span(turn));
    match head {
        Some(span) => format!(
            "### {}: {}\n\n{}\n\n{items}",
            span.role.name(),
            escape_line(&span.what),
            page.describe_turn_cost(span)
        ),
        None => items,
    }
}

fn render_item(item: &ExportItem) -> String {
    match item {
        ExportItem::UserText(text) => format!("**you**\n\n{}\n", block_quote(text)),
        ExportItem::AgentText(role, text) => {
            format!("**{}**\n\n{}\n", role.name(), block_quote(text))
        }
        ExportItem::AgentThought(_, text) => details_block("thinks", &block_quote(text)),
        ExportItem::ToolCall {
            title,
            status,
            output,
        } => {
            let head = format!("{title} {status}");
            if output.is_empty() {
                format!("- {}\n\n", escape_line(&head))
            } else {
                details_block(&head, &code_block("", output))
            }
        }
        ExportItem::ProgramNote(text) => format!("- {}\n\n", escape_line(text)),
    }
}
