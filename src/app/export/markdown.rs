//! The page as Markdown: one file that any viewer of Markdown shows.
//!
//! What agents and files say stands in quotations and blocks; no markup of theirs is left outside of code.

use std::fmt::Write;

use crate::domain::discussion::Discussion;
use crate::domain::execution::StepRecord;
use crate::domain::findings::Finding;
use crate::text::fence::{self, Part};
use crate::text::patch::Patch;
use crate::text::{clean, n_of, one_line};

use super::table::{self, Table};
use super::{Item, Page, Section};

/// A text whose angle brackets outside of code are no tags, and which loads nothing.
fn harmless(text: &str) -> String {
    let parts = fence::parts(text).into_iter();
    parts
        .map(|part| match part {
            Part::Prose(text) => text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                // A picture is fetched by whoever opens the page.
                .replace("![", "!\\["),
            Part::Block(content) => block(&content.info, &content.content),
        })
        .collect()
}

/// A block of code whose fence is longer than any in it.
fn block(info: &str, content: &str) -> String {
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

/// A text as a quotation.
fn quoted(text: &str) -> String {
    harmless(text)
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect()
}

/// A text as one harmless line.
fn line(text: &str) -> String {
    one_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// Something folded.
fn folded(summary: &str, body: &str) -> String {
    format!(
        "<details><summary>{}</summary>\n\n{body}\n</details>\n\n",
        line(summary)
    )
}

/// The whole page.
pub fn page(page: &Page) -> String {
    let state = &page.state;
    let mut out = format!(
        "# {}\n\n{} · {} – {}\n\n",
        line(&page.title()),
        state.phase.name(),
        page.time(state.created),
        page.time(page.end())
    );
    if let Some(problem) = &page.problem {
        let _ = write!(out, "**{}**\n\n", line(problem));
    }
    if let Some(goal) = &state.goal {
        let _ = writeln!(out, "## Goal\n\n{}", quoted(&clean(&goal.text)));
    }
    if !page.plan.is_empty() {
        let _ = writeln!(out, "## Plan\n\n{}", quoted(&page.plan));
    }
    let done: Vec<&StepRecord> = state.execution.iter().flat_map(|e| &e.done).collect();
    if !done.is_empty() {
        out.push_str("## Steps\n\n");
        out.extend(done.into_iter().map(|record| step(page, record)));
    }
    out.push_str(&table("Reviews", &table::reviews(page)));
    let findings = state.findings.all();
    if !findings.is_empty() {
        out.push_str("## Findings\n\n");
        out.extend(findings.iter().map(|found| finding(page, found)));
    }
    if !state.discussions.is_empty() {
        out.push_str("## Discussions\n\n");
    }
    for discussion in &state.discussions {
        let topic = discussion.order.topic.as_str();
        let text: String = of_discussion(discussion)
            .lines()
            .map(|line| format!("> {line}\n"))
            .collect();
        out.push_str(&folded(topic, &text));
    }
    out.push_str("## Course\n\n");
    let sections = page
        .sections
        .iter()
        .filter(|section| !section.items.is_empty());
    out.extend(sections.map(|section| of_section(page, section)));
    out.push_str(&table("Totals", &table::totals(page)));
    out
}

/// A discussion as a page of its own: what it came to, then all that was said.
pub fn of_discussion(discussion: &Discussion) -> String {
    harmless(&clean(&discussion.as_markdown()))
}

fn step(page: &Page, record: &StepRecord) -> String {
    let outcome = match table::outcome(record) {
        Ok(commit) => format!("commit {commit}"),
        Err(why) => line(&why),
    };
    let tested = table::tested(record).map(|tested| format!(" · {}", line(&tested)));
    let mut out = format!(
        "### {} {}. {}\n\n{outcome}{}\n\n",
        record.came().sign(),
        record.n,
        line(&record.text),
        tested.unwrap_or_default()
    );
    if let Some(receipt) = record
        .receipt
        .as_ref()
        .filter(|receipt| !receipt.command.is_empty())
    {
        out.push_str(&folded(
            &receipt.command,
            &block("", &clean(&receipt.output_tail)),
        ));
    }
    if let Some(patch) = page.diffs.get(&record.n) {
        out.push_str(&diff(patch));
    }
    out
}

fn diff(patch: &Patch) -> String {
    let (added, removed) = patch.totals();
    let text: String = patch
        .lines
        .iter()
        .map(|line| format!("{}\n", line.text))
        .collect();
    let summary = format!("{} +{added} −{removed}", n_of(patch.files.len(), "file"));
    folded(&summary, &block("diff", &text))
}

fn table(title: &str, table: &Table) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = row(table.head.iter().map(|name| (*name).to_owned()).collect());
    let rule = "|---".repeat(table.head.len());
    let cell = |text: &String| line(text).replace('|', "\\|");
    let rows = table
        .rows
        .iter()
        .map(|cells| row(cells.iter().map(cell).collect()));
    let rows: String = rows.collect();
    format!("## {title}\n\n{head}{rule}|\n{rows}\n")
}

fn finding(page: &Page, finding: &Finding) -> String {
    let remark = &finding.remark;
    let status = table::status(finding);
    let mut out = format!(
        "### {status} {}. [{}] {}\n\n",
        remark.n,
        remark.severity.word(),
        line(&remark.text)
    );
    for (head, reason) in table::answers(finding) {
        let _ = writeln!(out, "- {head}: {}", line(reason));
    }
    if let Some(evidence) = page.evidence.get(&remark.n) {
        let _ = write!(out, "\n{}", folded("evidence", &block("", evidence)));
    }
    out.push('\n');
    out
}

fn of_section(page: &Page, section: &Section) -> String {
    let items: String = section.items.iter().map(item).collect();
    let head = section.turn.as_ref().and_then(|turn| page.span(turn));
    match head {
        Some(span) => format!(
            "### {}: {}\n\n{}\n\n{items}",
            span.role.name(),
            line(&span.what),
            page.took(span)
        ),
        None => items,
    }
}

fn item(item: &Item) -> String {
    match item {
        Item::You(text) => format!("**you**\n\n{}\n", quoted(text)),
        Item::Said(role, text) => format!("**{}**\n\n{}\n", role.name(), quoted(text)),
        Item::Thought(_, text) => folded("thinks", &quoted(text)),
        Item::Call {
            title,
            status,
            output,
        } => {
            let head = format!("{title} {status}");
            match output.is_empty() {
                true => format!("- {}\n\n", line(&head)),
                false => folded(&head, &block("", output)),
            }
        }
        Item::Fact(text) => format!("- {}\n\n", line(text)),
    }
}
