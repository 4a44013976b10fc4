//! Renders one finding: why it is where it is, what the planner answered, what a dispute or a discussion found, and, when
//! it is expanded, its place, scenario and evidence with what the program found of them.

use ratatui::style::Style;

use super::comments_entry::{CommentsEntry, code_parts, status_label};
use super::finding_rows::{self, FindingEmphasis, FindingListLayout};
use crate::domain::discussion::GroupDiscussion;
use crate::domain::findings::evidence::EvidenceCheck;
use crate::domain::findings::{Finding, FindingDisposition, FindingResponse, FindingStatus};
use crate::domain::turn::Role;
use crate::text::capitalize;
use crate::tui::discussion_board::describe_decision;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::text_wrap::{QUOTE_BAR, to_one_line};
use crate::tui::theme;

/// The indent of a field's text, below its label.
const FIELD_INDENT: usize = 10;

pub(super) fn finding_entries(
    finding: &Finding,
    emphasis: FindingEmphasis,
    form: FindingListLayout,
    texts: &DisplayDocuments,
    talk: Option<&GroupDiscussion>,
) -> Vec<CommentsEntry> {
    let remark = &finding.remark;
    let is_open = emphasis.is_opened;
    let (_, word, _) = status_label(finding);
    let evidence = texts.evidence.get(&remark.n);
    let fields = detail_fields(finding);
    let fold = match (evidence.is_some() || !fields.is_empty(), is_open) {
        (false, _) => None,
        (true, true) => Some("▾"),
        (true, false) => Some("▸"),
    };
    let title = CommentsEntry {
        edge: fold,
        ..finding_rows::finding_title(finding, emphasis)
    };
    let mut entries = vec![
        title,
        CommentsEntry::new(&finding_history(&word, finding), theme::QUIET),
    ];
    if is_open {
        if matches!(form, FindingListLayout::Spacious(_)) && !fields.is_empty() {
            entries.push(CommentsEntry::blank());
        }
        for (label, text, style) in &fields {
            entries.push(field_entry(label, text, *style));
        }
    }
    entries.extend(answer_entries(finding, is_open));
    if let Some(judgement) = finding.describe_judgement() {
        entries.push(marked_entry(
            "⇄ ",
            format!("disputed: {judgement}"),
            theme::PLAIN,
        ));
    }
    entries.extend(
        talk.into_iter()
            .flat_map(|talk| discussion_entries(talk, finding)),
    );
    // The parsed fields are the text below the finding, in order and with what was found.
    if let Some(evidence) = evidence.filter(|_| is_open && fields.is_empty()) {
        for line in evidence.lines() {
            let line = line.strip_prefix("   ").unwrap_or(line);
            entries.push(CommentsEntry::from_parts(
                vec![
                    (QUOTE_BAR.to_owned(), theme::QUIET),
                    (line.to_owned(), theme::PLAIN),
                ],
                4,
            ));
        }
    }
    for entry in &mut entries {
        entry.set_mark(ScrollTarget::Finding(remark.n));
    }
    entries
}

/// Returns whether more of the finding is shown when it is opened.
pub(super) fn has_details(finding: &Finding, texts: &DisplayDocuments) -> bool {
    texts.evidence.contains_key(&finding.remark.n)
        || !detail_fields(finding).is_empty()
        || finding.responses.len() > 1
}

/// Returns the fields that the review gave, with what the program found of the evidence below it.
fn detail_fields(finding: &Finding) -> Vec<(&'static str, String, Style)> {
    let details = &finding.remark.details;
    let place = finding.record.block.as_ref().map(ToString::to_string);
    // The line below the title says the place.
    let is_said = place.as_deref() == Some(details.place.trim());
    let fields = [
        given_field("Place", &details.place).filter(|_| !is_said),
        given_field("Scenario", &details.scenario),
        given_field("Evidence", &details.evidence),
        check_field(finding),
        given_field("Suggests", &details.resolution),
    ];
    fields.into_iter().flatten().collect()
}

fn given_field(label: &'static str, text: &str) -> Option<(&'static str, String, Style)> {
    let is_given = !text.trim().is_empty();
    is_given.then(|| (label, to_one_line(text), theme::PLAIN))
}

/// Returns what the program found of the evidence, unless the line below the title says that it is true, and the text where.
fn check_field(finding: &Finding) -> Option<(&'static str, String, Style)> {
    let check = finding.evidence_check()?;
    let evidence = &finding.remark.details.evidence;
    if let EvidenceCheck::Verified { found: places } = check
        && places.split(", ").all(|place| evidence.contains(place))
    {
        return None;
    }
    let found = to_one_line(&check.describe().unwrap_or_default());
    Some(("", found, theme::check_style(check.is_verified())))
}

fn field_entry(label: &str, text: &str, style: Style) -> CommentsEntry {
    let label = format!("{label:<FIELD_INDENT$}");
    let mut parts = vec![(label, theme::QUIET)];
    parts.extend(code_parts(text, style));
    CommentsEntry::from_parts(parts, FIELD_INDENT)
}

fn marked_entry(mark: &str, text: String, style: Style) -> CommentsEntry {
    CommentsEntry::from_parts(vec![(mark.to_owned(), theme::PLAIN), (text, style)], 2)
}

/// Returns the planner's answers, all of an expanded finding and else the last, and what the reviewer said then.
fn answer_entries(finding: &Finding, is_open: bool) -> Vec<CommentsEntry> {
    let n_hidden = if is_open {
        0
    } else {
        finding.responses.len().saturating_sub(1)
    };
    let shown = finding.responses.iter().skip(n_hidden);
    let mut entries: Vec<CommentsEntry> = shown
        .flat_map(|(_, response)| response_entries(response))
        .collect();
    let last_word = to_one_line(&finding.record.last_word);
    if !last_word.is_empty() {
        let said = match finding.status {
            FindingStatus::Open => " keeps it open: ",
            FindingStatus::Fixed => " calls it fixed: ",
            FindingStatus::Withdrawn => " takes it back: ",
            FindingStatus::Rebutted | FindingStatus::DecidedByUser | FindingStatus::Residual => {
                " says: "
            }
        };
        entries.push(role_entry(Role::Reviewer, said, &last_word));
    }
    if let Some(newest) = &finding.record.new_evidence {
        let text = format!("  with new evidence: {}", to_one_line(&newest.text));
        entries.push(CommentsEntry::from_parts(vec![(text, theme::PLAIN)], 4));
        entries.extend(check_entry(&newest.check));
    }
    entries
}

fn response_entries(response: &FindingResponse) -> Vec<CommentsEntry> {
    let stand = match response.stand {
        FindingDisposition::Accepted => " accepts: ",
        FindingDisposition::Rejected => " rejects: ",
    };
    let mut entries = vec![role_entry(Role::Planner, stand, &response.reason)];
    entries.extend(response.check.as_ref().and_then(check_entry));
    entries
}

/// Returns what the program found of evidence; `None` where there was nothing to check.
fn check_entry(check: &EvidenceCheck) -> Option<CommentsEntry> {
    let found = format!("  {}", to_one_line(&check.describe()?));
    let style = theme::check_style(check.is_verified());
    Some(CommentsEntry::from_parts(vec![(found, style)], 4))
}

fn role_entry(role: Role, verb: &str, text: &str) -> CommentsEntry {
    let mut parts = vec![
        ("↳ ".to_owned(), theme::PLAIN),
        (role.name().to_owned(), theme::role_style(role)),
        (verb.to_owned(), theme::PLAIN),
    ];
    parts.extend(code_parts(&to_one_line(text), theme::PLAIN));
    CommentsEntry::from_parts(parts, 2)
}

/// Describes the state or the result of a finding's discussion.
fn discussion_entries(talk: &GroupDiscussion, finding: &Finding) -> Vec<CommentsEntry> {
    let Some(outcome) = &talk.outcome else {
        let round = talk.round().map_or(0, |round| round.n);
        let text = if talk.is_running() {
            format!(
                "being discussed, round {round} of {} (see /board)",
                talk.order.terms.rounds
            )
        } else {
            "its discussion was cut off (see /board)".to_owned()
        };
        return vec![marked_entry("◆ ", text, theme::QUIET)];
    };
    let (text, style) = describe_decision(outcome);
    let mut entries = vec![marked_entry("◆ ", format!("discussed: {text}"), style)];
    let conclusion = to_one_line(&outcome.conclusion);
    entries.push(CommentsEntry::from_parts(
        vec![(format!("  {conclusion}"), theme::PLAIN)],
        2,
    ));
    if finding.status == FindingStatus::Open {
        let text = "  /settle resolves the finding, /board shows the discussion";
        entries.push(CommentsEntry::new(text, theme::QUIET));
    }
    entries
}

/// Describes why a finding is where it is: its status, a lowered severity, its place and evidence, then what the reviews
/// and the planner said about it, in order.
fn finding_history(word: &str, finding: &Finding) -> String {
    let place = finding.record.block.as_ref().map(ToString::to_string);
    let evidence = finding.evidence_check().and_then(EvidenceCheck::symbol);
    let facts = [
        (!word.is_empty()).then(|| word.to_owned()),
        finding.describe_lowered_severity(),
        place,
        evidence.map(|symbol| format!("{symbol} evidence")),
    ];
    let mut facts: Vec<String> = facts.into_iter().flatten().collect();
    facts.push(format!("raised in review {}", finding.raised_in));
    let mut parts = vec![capitalize(&to_one_line(&facts.join(" · ")))];
    let stated_again = finding.raised_in + 1..=finding.last_in;
    for review in finding.raised_in..=finding.last_in {
        if stated_again.contains(&review) {
            parts.push(format!("again in {review}"));
        }
        let answers = finding.final_answers().filter(|(of, _)| *of == review);
        parts.extend(answers.map(|(_, response)| match response.stand {
            FindingDisposition::Accepted => "accepted".to_owned(),
            FindingDisposition::Rejected => "rejected".to_owned(),
        }));
    }
    let settled_in = finding.record.settled_in;
    parts.extend(match finding.status {
        FindingStatus::Open | FindingStatus::DecidedByUser => None,
        FindingStatus::Fixed => {
            let review = settled_in.unwrap_or(finding.last_in + 1);
            Some(format!("fixed in {review}"))
        }
        FindingStatus::Withdrawn | FindingStatus::Rebutted => {
            settled_in.map(|review| format!("{} in {review}", finding.outcome().label()))
        }
        FindingStatus::Residual => {
            let later = settled_in.filter(|review| *review > finding.raised_in);
            later.map(|review| format!("left open in {review}"))
        }
    });
    let repeated = finding.record.repeated_in;
    parts.extend(repeated.map(|review| format!("repeated in {review}")));
    parts.join(" → ")
}
