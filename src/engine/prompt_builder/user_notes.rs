//! Adds the user's own input to a prompt: notes on lines of the plan, and their changes to the review.
//!
//! This is not in the templates, because the user's own templates would omit it.

use similar::TextDiff;

use crate::domain::plan_note::{PlanNote, PlanNotes};
use crate::domain::review;
use crate::domain::turn::TurnPurpose;
use crate::engine::documents::{comments_on_disk, insert_responses};
use crate::engine::run_context::RunContext;
use crate::store::{StoreError, iteration_files};
use crate::text::{fenced_block, front_matter, truncate};

/// How much of a line with a note is quoted, in characters.
const MAX_QUOTE_CHARS: usize = 200;
/// How much of the user's changes to the review is shown, in bytes.
const MAX_REVIEW_DIFF_BYTES: usize = 16 * 1024;

/// Returns the user's notes and changes; empty if there are none.
pub(super) fn describe_user_notes(
    run: &RunContext,
    purpose: &TurnPurpose,
) -> Result<String, String> {
    let notes = describe_plan_notes(&run.state().notes, purpose);
    let changed = match purpose {
        TurnPurpose::Review | TurnPurpose::Respond => user_review_diff(run),
        _ => return Ok(notes),
    };
    let changed = changed.map_err(|error| error.to_string())?;
    Ok(notes + &describe_review_diff(&changed, purpose))
}

/// Returns the user's changes to the last review as a diff; empty if there are none.
fn user_review_diff(run: &RunContext) -> Result<String, StoreError> {
    let findings = &run.state().findings;
    let (layout, n) = (run.journal.layout(), findings.review_count());
    let Some(now) = comments_on_disk(run)? else {
        return Ok(String::new());
    };
    let written = iteration_files::load_first_version(layout, n, &layout.names().comments)?;
    let written = match written {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None if n == 0 => String::new(),
        // It is no longer known which text is whose.
        None => return Ok(String::new()),
    };
    let written = review::strip_responses(front_matter::parse_document(&written).body);
    let answers = review::render_responses(findings);
    let before = insert_responses(written.trim_end(), &answers);
    let now = front_matter::parse_document(&now).body;
    Ok(diff_texts(&before, now, 1))
}

/// Returns the differences between two texts, except for blank lines at their ends, with `context` lines around each.
pub(super) fn diff_texts(before: &str, now: &str, context: usize) -> String {
    let [before, now] = [before, now].map(|text| format!("{}\n", text.trim()));
    TextDiff::from_lines(&before, &now)
        .unified_diff()
        .context_radius(context)
        .to_string()
}

fn describe_review_diff(changed: &str, purpose: &TurnPurpose) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let task = match purpose {
        TurnPurpose::Review => {
            "Judge the plan by it too: what the plan does not meet yet is a finding."
        }
        _ => "It counts for more than the rest of the review. Change the plan so that it is met.",
    };
    let lines = fenced_block::fence_text(&truncate::to_bytes(changed, MAX_REVIEW_DIFF_BYTES));
    format!(
        "\n\n## What the user changed in the last review\nThe user edited it: they wrote the lines with `+` and removed \
         the lines with `-`; the others are the reviewer's. What they wrote is what they want. {task}\n{lines}"
    )
}

/// Returns the user's notes on lines of the plan; empty if there are none.
fn describe_plan_notes(notes: &PlanNotes, purpose: &TurnPurpose) -> String {
    let task = match purpose {
        TurnPurpose::Review => {
            "The user wrote these notes on lines of the plan. They say what the user wants; only the quoted lines are \
             the plan's. Judge the plan by them too: what the plan does not meet yet is a finding."
        }
        TurnPurpose::Respond => {
            "The user wrote these notes on lines of the plan. They say what the user wants and count for more than the \
             review; only the quoted lines are the plan's. Change the plan so that each note is met, and say nothing \
             about them in your answers."
        }
        _ => return String::new(),
    };
    let list: String = match purpose {
        TurnPurpose::Review => notes.open().map(describe_plan_note).collect(),
        _ => notes.unanswered().map(describe_plan_note).collect(),
    };
    if list.is_empty() {
        list
    } else {
        format!("\n\n## Notes of the user\n{task}\n\n{list}")
    }
}

fn describe_plan_note(note: &PlanNote) -> String {
    let text = note.text.replace('\n', "\n   ");
    // An agent wrote the line; it must not end its quotation and appear as the user's text.
    let quote = truncate::to_chars(&note.quote.replace('`', "'"), MAX_QUOTE_CHARS);
    format!("- line {}, `{quote}`:\n   {text}\n", note.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_notes_go_out_with_review_and_answer_and_with_nothing_else() {
        let mut notes = PlanNotes::default();
        notes.add(7, "1. [ ] `a`", "why not b?\nand c?");
        let review = describe_plan_notes(&notes, &TurnPurpose::Review);
        assert!(
            review.ends_with("- line 7, `1. [ ] 'a'`:\n   why not b?\n   and c?\n"),
            "{review}"
        );
        let respond = describe_plan_notes(&notes, &TurnPurpose::Respond);
        assert!(respond.contains("count for more than the review"));
        assert_eq!(describe_plan_notes(&notes, &TurnPurpose::WritePlan), "");
        let turn = crate::domain::ids::TurnId::new("trn_1");
        notes.on_respond_prompt(&turn);
        notes.on_answered(&turn);
        assert_eq!(describe_plan_notes(&notes, &TurnPurpose::Respond), "");
        // The reviewer checks again whether the note was followed.
        assert_eq!(describe_plan_notes(&notes, &TurnPurpose::Review), review);
        notes.on_review_prompt(&turn);
        assert_eq!(describe_plan_notes(&notes, &TurnPurpose::Review), review);
        notes.on_judged(&turn);
        assert_eq!(describe_plan_notes(&notes, &TurnPurpose::Review), "");
    }
    #[test]
    fn what_the_user_changed_in_the_review_goes_out_as_it_was_changed() {
        let before = "[CHANGES_REQUIRED]\n\n1. [major] a\n2. [minor] b\n";
        assert_eq!(diff_texts(before, &format!("\n{before}\n"), 1), "");
        let now = before.replace("1. [major] a\n", "1. [major] a\n   Do not ```.\n");
        let review = describe_review_diff(&diff_texts(before, &now, 1), &TurnPurpose::Review);
        let lines = " 1. [major] a\n+   Do not ```.\n 2. [minor] b\n````\n";
        assert!(review.ends_with(lines), "{review}");
        let respond = describe_review_diff(&diff_texts(&now, before, 1), &TurnPurpose::Respond);
        assert!(respond.contains("counts for more"), "{respond}");
        assert!(respond.contains("\n-   Do not ```.\n"), "{respond}");
    }
}
