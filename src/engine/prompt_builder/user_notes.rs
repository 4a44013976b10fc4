//! Adds what users and agents say beside the documents to a prompt: the threads about the plan, and the user's changes to
//! the review.
//!
//! This is not in the templates, because the user's own templates would omit it.

use similar::TextDiff;

use crate::domain::plan_thread::PlanThreads;
use crate::domain::review;
use crate::domain::turn::{Role, TurnPurpose};
use crate::engine::documents::{ProgramSections, comments_on_disk};
use crate::engine::run_context::RunContext;
use crate::store::{StoreError, iteration_files};
use crate::text::{fenced_block, front_matter, truncate};

/// How much of the user's changes to the review is shown, in bytes.
const MAX_REVIEW_DIFF_BYTES: usize = 16 * 1024;

/// Returns the threads and the user's changes; empty if there are none.
pub(super) fn describe_user_notes(
    run: &RunContext,
    purpose: &TurnPurpose,
) -> Result<String, String> {
    let threads = describe_threads(&run.state().threads, purpose);
    let changed = match purpose {
        TurnPurpose::Review | TurnPurpose::Respond => user_review_diff(run),
        _ => return Ok(threads),
    };
    let changed = changed.map_err(|error| error.to_string())?;
    Ok(threads + &describe_review_diff(&changed, purpose))
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
    let written = review::strip_program_sections(front_matter::parse_document(&written).body);
    // What the user says in threads is told with the threads.
    let sections = ProgramSections {
        ledger: findings,
        threads: &PlanThreads::default(),
    };
    let before = sections.append_to(&written);
    let (now, _) = review::split_threads(front_matter::parse_document(&now).body);
    Ok(diff_texts(&before, &now, 1))
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

/// Returns the threads that a turn is to know of; empty if there are none.
fn describe_threads(threads: &PlanThreads, purpose: &TurnPurpose) -> String {
    let (role, task) = match purpose {
        TurnPurpose::Review => (
            Role::Reviewer,
            "What `user` says is what the user wants: judge the plan by it too, and what the plan does not meet yet is a \
             finding. Answer a thread where you have something to add.",
        ),
        TurnPurpose::Respond => (
            Role::Planner,
            "What `user` says is what the user wants and counts for more than the review: change the plan so that it is \
             met, and answer each of these threads with what you changed, and where.",
        ),
        TurnPurpose::Step { .. } | TurnPurpose::Fix { .. } => (
            Role::Planner,
            "The user said this after the plan was last changed. Follow it where it concerns this step.",
        ),
        _ => return String::new(),
    };
    let is_of_step = matches!(purpose, TurnPurpose::Step { .. } | TurnPurpose::Fix { .. });
    let listed = threads.for_prompt(role);
    // A step is not the place to go on talking about the plan.
    let listed = listed.filter(|thread| !is_of_step || !thread.answered);
    let list: String = listed.map(review::render_thread).collect();
    if list.is_empty() {
        return list;
    }
    let form = if is_of_step { "" } else { ANSWER_FORM };
    format!(
        "\n\n## Threads about the plan\nUser, planner and reviewer talk in them about single lines; only the quoted lines \
         are the plan's. {task}{form}\n{list}"
    )
}

/// How an agent answers threads.
const ANSWER_FORM: &str = " To answer, use `threads` of the tool you submit with, or end your document with a section \
    `## Threads`: a heading `### N` for thread N, and below it `- ` and your answer in one or two sentences. A heading \
    `### step 2` or `### line 9` in place of the number opens a thread there: use it for what the user should know and \
    what is no finding.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan_thread::ThreadEntry;

    #[test]
    fn threads_go_out_with_review_and_answer_until_they_are_answered_and_judged() {
        let mut threads = PlanThreads::default();
        let note = ThreadEntry {
            line: 7,
            quote: "1. [ ] `a`".to_owned(),
            text: "why not b?\nand c?".to_owned(),
            ..ThreadEntry::default()
        };
        threads.say(&note);
        let review = describe_threads(&threads, &TurnPurpose::Review);
        assert!(
            review.ends_with("### 1. line 7: `1. [ ] 'a'`\n- user: why not b?\n  and c?\n"),
            "{review}"
        );
        let respond = describe_threads(&threads, &TurnPurpose::Respond);
        assert!(respond.contains("counts for more than the review"));
        assert_eq!(describe_threads(&threads, &TurnPurpose::WritePlan), "");
        let step = describe_threads(&threads, &TurnPurpose::Step { n: 1 });
        assert!(
            step.contains("why not b?") && !step.contains("### step 2"),
            "{step}"
        );
        let turn = crate::domain::ids::TurnId::new("trn_1");
        threads.on_respond_prompt(&turn);
        threads.on_answered(&turn);
        assert_eq!(describe_threads(&threads, &TurnPurpose::Respond), "");
        assert_eq!(describe_threads(&threads, &TurnPurpose::Step { n: 1 }), "");
        // The reviewer checks again whether it was followed.
        assert_eq!(describe_threads(&threads, &TurnPurpose::Review), review);
        threads.on_review_prompt(&turn);
        assert_eq!(describe_threads(&threads, &TurnPurpose::Review), review);
        threads.on_judged(&turn);
        assert_eq!(describe_threads(&threads, &TurnPurpose::Review), "");
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
