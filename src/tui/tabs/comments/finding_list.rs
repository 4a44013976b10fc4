//! Lists what Comments shows below its first row: earlier reviews, what counts now, the findings, the threads.

use super::comments_entry::CommentsEntry;
use super::finding_rows::{FindingEmphasis, FindingListLayout};
use super::finding_selection::{FindingSelection, SettledFindingsFold};
use super::review_table::ReviewTableMode;
use super::{finding_entry, finding_rows, review_table, thread_entries};
use crate::domain::findings::ReviewBar;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::labels::LocalClock;
use crate::tui::scroll_view::ScrollTarget;
use crate::tui::theme;

/// Returns the lines; `picked` is what is selected or offered.
pub(super) fn ledger_entries(
    state: &RunState,
    chosen: &FindingSelection,
    picked: Option<ScrollTarget>,
    form: FindingListLayout,
    table: ReviewTableMode,
    texts: &DisplayDocuments,
    clock: LocalClock,
) -> Vec<CommentsEntry> {
    let mut entries = review_table::review_rows(state, clock, table);
    let bar = describe_bar(state, texts);
    if let Some(bar) = bar {
        entries.push(CommentsEntry::new(&bar, theme::QUIET));
    }
    if !state.findings.all().is_empty() {
        add_findings(&mut entries, state, chosen, picked, form, texts);
    }
    thread_entries::add_threads(&mut entries, state, &texts.plan_lines());
    entries
}

/// Adds the findings that are listed.
fn add_findings(
    entries: &mut Vec<CommentsEntry>,
    state: &RunState,
    chosen: &FindingSelection,
    picked: Option<ScrollTarget>,
    form: FindingListLayout,
    texts: &DisplayDocuments,
) {
    let all = state.findings.all();
    let n_before = entries.len();
    let listed = chosen.listed_findings(state);
    if form == FindingListLayout::Compact && !listed.is_empty() {
        entries.push(CommentsEntry::blank());
    }
    let first = listed
        .first()
        .map(|first| ScrollTarget::Finding(first.remark.n));
    let row = chosen.settled_row(state);
    for (at, finding) in listed.into_iter().enumerate() {
        if let Some((n_before, stands)) = row.filter(|(n_before, _)| *n_before == at) {
            entries.extend(finding_rows::settled_row(
                all.len() - n_before,
                stands,
                form,
            ));
        }
        let n = finding.remark.n;
        let emphasis = FindingEmphasis {
            is_picked: picked == Some(ScrollTarget::Finding(n)),
            is_opened: chosen.is_open(n, texts.evidence.get(&n)) || form.expands(n),
        };
        let is_whole = emphasis.is_opened || picked.or(first) == Some(ScrollTarget::Finding(n));
        if form == FindingListLayout::Compact && !is_whole {
            entries.push(finding_rows::finding_row(finding));
            continue;
        }
        if form != FindingListLayout::Compact {
            entries.push(CommentsEntry::blank());
        }
        let talk = state
            .discussions
            .iter()
            .rfind(|each| each.order.finding == Some(finding.remark.n));
        entries.extend(finding_entry::finding_entries(
            finding, emphasis, form, texts, talk,
        ));
        entries.extend(thread_entries::finding_messages(state, n));
    }
    if let Some((n_before, SettledFindingsFold::Folded)) = row {
        entries.extend(finding_rows::settled_row(
            all.len() - n_before,
            SettledFindingsFold::Folded,
            form,
        ));
    }
    if entries.iter().skip(n_before).all(CommentsEntry::is_blank) {
        let text = format!(
            "No finding is {}. Press = for others.",
            chosen.filter.label()
        );
        entries.push(CommentsEntry::blank());
        entries.push(CommentsEntry::new(&text, theme::QUIET));
    }
}

/// Describes what a new finding must be to hold the plan up in the present or next review; `None` before the first
/// review, after the last, and where the plan of the review before is not known.
fn describe_bar(state: &RunState, texts: &DisplayDocuments) -> Option<String> {
    let reviewed = state.verdict.as_ref()?.iteration;
    let review = match state.phase {
        Phase::Review | Phase::Respond => reviewed + 1,
        _ => return None,
    };
    let cap = state.iteration_limit();
    if review > cap {
        return None;
    }
    let changed = texts.changed_blocks_since(state.findings.review_count())?;
    // Until the planner has answered, it is open what changes.
    if changed.is_empty() && state.phase == Phase::Respond {
        return None;
    }
    let bar = ReviewBar::for_review(review);
    // Without a change a late review has nothing that it may still raise.
    Some(
        if bar == ReviewBar::BlockingInChanged && changed.is_empty() {
            format!(
                "Review {review} of at most {cap} counts no new findings, because the plan did not change"
            )
        } else {
            let counts = bar.describe(changed);
            format!("Review {review} of at most {cap} counts new findings that are {counts}")
        },
    )
}
