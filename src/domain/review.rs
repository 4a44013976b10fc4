//! Parses `comments.md`: marker, status, remarks and responses, and the verdict. Any text that is not exactly an
//! approval requires changes.
//!
//! The verdict is read from this document only, never from chat or plan text.

mod judgement_lines;
mod responses_section;
mod threads_section;

use serde::{Deserialize, Serialize};

use strum::{EnumString, IntoStaticStr};

pub use self::judgement_lines::parse_judgements;
pub use self::responses_section::render_responses;
pub use self::threads_section::{
    THREADS_HEADING, describe_place, named_entry, names_place, parse_thread_entries, render_thread,
    render_threads, split_threads,
};
use super::findings::review_facts::ReviewFacts;
use super::findings::{
    FindingLedger, FindingResponse, FindingSeverity, RemarkDetails, ReviewRemark,
};
use crate::text::front_matter;
use crate::text::word_similarity::collapse_white_space;

/// The info string of the block in which an agent judges disputes.
pub const JUDGEMENT_BLOCK: &str = "judgement";

/// The heading under which the program keeps the planner's answers.
pub const RESPONSES_HEADING: &str = "## Responses";

/// A review's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// The reviewer approves the plan.
    Approved,
    ChangesRequired,
}

impl Verdict {
    /// Returns whether it is an approval.
    pub fn is_approved(self) -> bool {
        self == Self::Approved
    }

    /// Returns the word as used in front matter and marker.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::ChangesRequired => "CHANGES_REQUIRED",
        }
    }

    /// Returns the label for the user, the same wherever a verdict is shown.
    pub fn label(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ChangesRequired => "changes required",
        }
    }

    /// Returns the symbol before that label in lists.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Approved => "✓",
            Self::ChangesRequired => "↻",
        }
    }
}

/// What a review says of an earlier finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingVerdict {
    pub n: u32,
    pub kind: VerdictKind,
    /// For `fixed` the changed text, for `stands` what is missing, for `withdrawn` why.
    pub detail: String,
    /// New evidence for a finding that stands; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// What became of an earlier finding. Of two verdicts on one finding the lower one counts.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum VerdictKind {
    Stands,
    Withdrawn,
    Fixed,
}

/// The content of a review document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewDocument {
    /// Its verdict, given the ledger it was read with.
    pub verdict: Verdict,
    /// False when its signals disagree: marker, front-matter status, open findings.
    pub consistent: bool,
    /// What its marker line says, where it has a proper one; `None` in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<Verdict>,
    /// Whether another marker line or the status in its front matter says something else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ambiguous: bool,
    /// Its remarks, in the order of the text.
    pub remarks: Vec<ReviewRemark>,
    /// What it says of earlier findings, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<FindingVerdict>,
    /// The findings that it settles; `None` in logs of earlier versions, where every finding it left out was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Vec<u32>>,
    /// What the program found out about it; `None` in logs of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<ReviewFacts>,
}

impl ReviewDocument {
    /// Returns whether it has the exact marker of an approval and nothing that contradicts it outside its findings.
    pub fn says_approved(&self) -> bool {
        self.marker == Some(Verdict::Approved) && !self.is_ambiguous
    }
}

/// Parses a review document. Works on any text: whatever is not exactly an approval requires changes.
pub fn parse(text: &str, ledger: &FindingLedger) -> ReviewDocument {
    let document = front_matter::parse_document(text);
    let marker = parse_marker(document.body);
    let says_approved = marker == Some(Verdict::Approved);
    let statuses = status_values(&document.fields);
    let status_agrees = statuses.iter().all(|status| status == "APPROVED");
    let (remarks, mut verdicts) = parse_items(document.body);
    for verdict in &mut verdicts {
        verdict.n = ledger.resolve_number(verdict.n);
    }
    let blocking = remarks.iter().any(|remark| {
        remark.severity == FindingSeverity::Blocking && !ledger.is_settled_by_user(remark.n)
    });
    let is_only_opinion = count_marker_lines(text) == 1;
    let approved = says_approved && is_only_opinion && status_agrees && !blocking;
    let status_says_approved = statuses.iter().any(|status| status == "APPROVED");
    let consistent = if says_approved {
        approved
    } else {
        !status_says_approved
    };
    let verdict = if approved {
        Verdict::Approved
    } else {
        Verdict::ChangesRequired
    };
    let settles = |verdict: &&FindingVerdict| verdict.kind != VerdictKind::Stands;
    let settled = verdicts.iter().filter(settles).map(|verdict| verdict.n);
    ReviewDocument {
        verdict,
        consistent,
        marker,
        is_ambiguous: says_approved && !(is_only_opinion && status_agrees),
        settled: Some(settled.collect()),
        remarks,
        verdicts,
        facts: None,
    }
}

/// Returns the verdict in the first line that is not blank, where that line is a marker and nothing else.
fn parse_marker(body: &str) -> Option<Verdict> {
    let first = body.lines().find(|line| !line.trim().is_empty())?;
    match first.trim() {
        "[APPROVED]" => Some(Verdict::Approved),
        "[CHANGES_REQUIRED]" => Some(Verdict::ChangesRequired),
        _ => None,
    }
}

/// Returns the numbers in a line `Settled: 1, 2`; `None` in any other line.
fn parse_settled_line(line: &str) -> Option<Vec<u32>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '`'));
    let (word, numbers) = line.split_once(':')?;
    if !word
        .trim_end_matches('*')
        .trim()
        .eq_ignore_ascii_case("settled")
    {
        return None;
    }
    let words = numbers.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
    let words = words.map(|word| word.trim_matches(['*', '`', '#', '.']));
    let numbers = words.filter(|word| !matches!(*word, "" | "and"));
    // A reason may follow the numbers, and may contain other numbers.
    Some(numbers.map_while(|word| word.parse().ok()).collect())
}

/// Counts the lines of a review that state a verdict, including the first one.
///
/// Every such line counts, wherever and however it is written: quoted, in a list, in a code fence, in another letter
/// case.
fn count_marker_lines(text: &str) -> usize {
    let ends = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    text.split(ends).filter(|line| is_marker_line(line)).count()
}

/// Returns whether a line states a verdict and nothing else, apart from a label such as `Verdict:`.
fn is_marker_line(line: &str) -> bool {
    let is_open = |c: char| matches!(c, '[' | '［' | '【');
    let is_close = |c: char| matches!(c, ']' | '］' | '】');
    let is_dress = |c: char| !c.is_alphanumeric() && !is_open(c) && !is_close(c);
    let line = line.trim_matches(is_dress);
    let (before, marker) = match line.find(is_open) {
        Some(at) => line.split_at(at),
        // Without brackets, only the word that is never written by chance is a marker.
        None => return line.eq_ignore_ascii_case("CHANGES_REQUIRED"),
    };
    if !marker.ends_with(is_close) {
        return false;
    }
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || c == '*');
    let is_label = before.ends_with([':', '=']) && before.split_whitespace().count() <= 3;
    let is_numbered = before.chars().all(|c| !c.is_alphabetic());
    let letters: String = marker.chars().filter(|c| c.is_alphabetic()).collect();
    let says = letters.to_ascii_uppercase();
    (is_label || is_numbered) && matches!(says.as_str(), "APPROVED" | "CHANGESREQUIRED")
}

/// Returns the values of every field called status, whatever the case of its name: a different value is a conflict.
fn status_values(fields: &[(String, String)]) -> Vec<String> {
    let is_status = |name: &str| name.trim().eq_ignore_ascii_case("status");
    let plain = |value: &str| value.trim().trim_matches(['"', '\'']).to_ascii_uppercase();
    fields
        .iter()
        .filter(|(name, _)| is_status(name))
        .map(|(_, value)| plain(value))
        .collect()
}

/// Returns whether a text can be a review at all: it has a marker line or at least one remark.
pub fn is_review(text: &str) -> bool {
    let body = front_matter::parse_document(text).body;
    let (remarks, verdicts) = parse_items(body);
    parse_marker(body).is_some() || !remarks.is_empty() || !verdicts.is_empty()
}

/// Returns the part that the reviewer wrote: everything before the responses, without the threads.
pub fn strip_program_sections(body: &str) -> String {
    let (mut written, _) = split_threads(body);
    let mut at = 0;
    for line in written.split_inclusive('\n') {
        if line.trim_end() == RESPONSES_HEADING {
            written.truncate(at);
            break;
        }
        at += line.len();
    }
    written
}

/// A review split for reading: the text below each remark, and the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewParts {
    /// The lines below each remark's first line, by its number.
    pub evidence: Vec<(u32, String)>,
    /// Everything that is neither marker, remark nor answer.
    pub rest: String,
}

/// Splits the text of a review into its parts.
pub fn split_parts(body: &str) -> ReviewParts {
    let mut parts = ReviewParts::default();
    let (mut of_remark, mut in_program_section) = (false, false);
    for line in body.lines() {
        if line.starts_with("## ") {
            in_program_section = [RESPONSES_HEADING, THREADS_HEADING].contains(&line.trim_end());
        }
        let is_marker = matches!(line.trim(), "[APPROVED]" | "[CHANGES_REQUIRED]");
        if in_program_section || is_marker {
            continue;
        }
        if let Some(remark) = parse_remark(line) {
            parts.evidence.push((remark.n, String::new()));
            of_remark = true;
            continue;
        }
        if parse_verdict(line).is_some() {
            of_remark = false;
            continue;
        }
        of_remark &= !line.starts_with('#');
        let text = match parts.evidence.last_mut().filter(|_| of_remark) {
            Some((_, text)) => text,
            None => &mut parts.rest,
        };
        text.push_str(line);
        text.push('\n');
    }
    for (_, text) in &mut parts.evidence {
        *text = text.trim_matches('\n').trim_end().to_owned();
    }
    parts.rest = parts.rest.trim().to_owned();
    parts
}

/// An item of a review to which the lines below it belong.
enum ReviewItem {
    Remark(ReviewRemark),
    Verdict(FindingVerdict),
}

/// Parses the remarks `N. [blocking|major|minor] …` with the fields below them, and the verdicts
/// `N. fixed|stands|withdrawn: …` on earlier findings.
fn parse_items(body: &str) -> (Vec<ReviewRemark>, Vec<FindingVerdict>) {
    let mut items: Vec<ReviewItem> = Vec::new();
    let mut field: Option<ItemField> = None;
    // Fields below a heading of their own, such as notes, belong to no item.
    let mut in_item = false;
    for line in strip_program_sections(body).lines() {
        if let Some(remark) = parse_remark(line) {
            items.push(ReviewItem::Remark(remark));
            (field, in_item) = (None, true);
        } else if let Some(verdict) = parse_verdict(line) {
            items.push(ReviewItem::Verdict(verdict));
            (field, in_item) = (None, true);
        } else if let Some(numbers) = parse_settled_line(line) {
            items.extend(numbers.into_iter().map(|n| {
                ReviewItem::Verdict(FindingVerdict {
                    n,
                    kind: VerdictKind::Fixed,
                    detail: String::new(),
                    evidence: String::new(),
                })
            }));
            (field, in_item) = (None, false);
        } else if line.starts_with('#') {
            (field, in_item) = (None, false);
        } else if line.trim().is_empty() {
            field = None;
        } else if let Some((name, text)) = parse_field(line).filter(|_| in_item) {
            field = Some(name);
            start_field(items.last_mut(), name, text);
        } else if let Some(name) = field {
            append_field(items.last_mut(), name, line.trim());
        }
    }
    let (mut remarks, mut verdicts) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            ReviewItem::Remark(remark) => remarks.push(remark),
            ReviewItem::Verdict(verdict) => verdicts.push(verdict),
        }
    }
    (remarks, verdicts)
}

/// A field below a remark or a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemField {
    Place,
    Scenario,
    Evidence,
    Resolution,
}

/// Parses `Evidence: …` and the like, perhaps as a list item or with a bold name.
fn parse_field(line: &str) -> Option<(ItemField, &str)> {
    let line = line.trim_start().trim_start_matches(['-', '*', '_', ' ']);
    let (name, text) = line.split_once(':')?;
    let name = name.trim().trim_end_matches(['*', '_']);
    let name = collapse_white_space(name).to_ascii_lowercase();
    let field = match name.as_str() {
        "place" | "where" | "location" => ItemField::Place,
        "scenario" => ItemField::Scenario,
        "evidence" => ItemField::Evidence,
        "settled by" | "instead" | "would settle it" => ItemField::Resolution,
        _ => return None,
    };
    Some((field, text.trim_start_matches(['*', '_']).trim()))
}

fn start_field(mut item: Option<&mut ReviewItem>, field: ItemField, text: &str) {
    // A place in its own line replaces the one that the sentence begins with.
    if let (Some(ReviewItem::Remark(remark)), ItemField::Place) = (item.as_deref_mut(), field) {
        remark.details.place.clear();
    }
    append_field(item, field, text);
}

fn append_field(item: Option<&mut ReviewItem>, field: ItemField, text: &str) {
    let target = match (item, field) {
        (Some(ReviewItem::Remark(remark)), field) => {
            let details = &mut remark.details;
            match field {
                ItemField::Place => &mut details.place,
                ItemField::Scenario => &mut details.scenario,
                ItemField::Evidence => &mut details.evidence,
                ItemField::Resolution => &mut details.resolution,
            }
        }
        (Some(ReviewItem::Verdict(verdict)), ItemField::Evidence) => &mut verdict.evidence,
        (Some(ReviewItem::Verdict(_)) | None, _) => return,
    };
    if !target.is_empty() {
        target.push(' ');
    }
    target.push_str(text);
}

fn parse_remark(line: &str) -> Option<ReviewRemark> {
    let (n, rest) = parse_item_number(line)?;
    let (severity, text) = parse_severity(rest)?;
    let text = text
        .trim_start_matches([':', '-', '*', '\u{2013}', '\u{2014}', ' '])
        .trim();
    // `step 2: …` at the start is the place, as the tool writes it.
    let place = text.split_once(": ").map(|(place, _)| place);
    let place = place
        .filter(|place| is_plain_place(place))
        .unwrap_or_default();
    Some(ReviewRemark {
        n,
        severity,
        text: text.to_owned(),
        details: RemarkDetails {
            place: place.to_owned(),
            ..RemarkDetails::default()
        },
    })
}

/// Returns whether a text is `step N`, perhaps with more numbers.
fn is_plain_place(text: &str) -> bool {
    let rest = text.to_ascii_lowercase();
    let rest = rest
        .strip_prefix("steps")
        .or_else(|| rest.strip_prefix("step"));
    rest.is_some_and(|rest| {
        let is_list = |c: char| c.is_ascii_digit() || matches!(c, ' ' | ',' | '#' | '-');
        rest.contains(|c: char| c.is_ascii_digit()) && rest.replace("and", "").chars().all(is_list)
    })
}

/// Parses `[major] …`, also with bold marks around it, and the bare words `major:` and `**major**`.
fn parse_severity(text: &str) -> Option<(FindingSeverity, &str)> {
    let text = text.trim_start_matches('*');
    if let Some((word, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let severity = match word.trim().trim_matches('*').to_ascii_lowercase().as_str() {
            "minor" => FindingSeverity::Minor,
            "major" => FindingSeverity::Major,
            // A box such as `[ ]` is a quoted step, not a remark.
            "" | "x" => return None,
            _ => FindingSeverity::Blocking,
        };
        return Some((severity, rest));
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic())?;
    let (word, rest) = text.split_at(end);
    let severity = word.parse().ok()?;
    let after = rest.trim_start();
    after
        .starts_with([':', '*', '\u{2014}'])
        .then_some((severity, after))
}

fn parse_verdict(line: &str) -> Option<FindingVerdict> {
    let (n, rest) = parse_item_number(line)?;
    let rest = rest.trim_start_matches(['*', '[']);
    let end = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let (word, detail) = rest.split_at(end);
    let kind = word.parse().ok()?;
    let detail = detail.trim_start_matches([']', '*', ' ']);
    if !(detail.is_empty() || detail.starts_with([':', '-', '\u{2013}', '\u{2014}', '.'])) {
        return None;
    }
    let detail = detail
        .trim_start_matches([':', '-', '\u{2013}', '\u{2014}', '*', '.', ' '])
        .trim();
    Some(FindingVerdict {
        n,
        kind,
        detail: detail.to_owned(),
        evidence: String::new(),
    })
}

/// Parses the planner's answers: only lines `N. accepted: …` and `N. rejected: …` count, with an `Evidence:` line below.
pub fn parse_responses(text: &str) -> Vec<FindingResponse> {
    let mut responses: Vec<FindingResponse> = Vec::new();
    for line in text.lines() {
        if let Some(response) = parse_response(line) {
            responses.push(response);
        } else if let Some((ItemField::Evidence, evidence)) = parse_field(line)
            && let Some(last) = responses.last_mut()
        {
            last.reason = format!("{} Evidence: {evidence}", last.reason);
        }
    }
    responses
}

fn parse_response(line: &str) -> Option<FindingResponse> {
    let (n, rest) = parse_item_number(line)?;
    let (word, reason) = rest.split_once(':')?;
    let word = word.trim().trim_matches(['*', '[', ']', '`']);
    let stand = word.parse().ok()?;
    Some(FindingResponse {
        n,
        stand,
        reason: reason.trim_start_matches('*').trim().to_owned(),
        check: None,
    })
}

/// Parses `N.` or `N)` at the start of a line, perhaps indented or a list item, and returns what follows.
fn parse_item_number(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start().trim_start_matches('#').trim_start();
    let line = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .unwrap_or(line);
    let line = line.trim_start();
    let boxed = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    let line = boxed.unwrap_or(line).trim_start();
    let line = line.trim_start_matches("**");
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let n: u32 = line.get(..digits)?.parse().ok().filter(|n| *n > 0)?;
    let rest = line[digits..].strip_prefix(['.', ')'])?;
    Some((n, rest.trim_start_matches('*').trim_start()))
}

#[cfg(test)]
mod tests;
