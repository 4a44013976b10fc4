//! Tab: the review. It shows the result of each iteration, then the findings and their status, which can be
//! filtered, selected and opened, then the rest of `comments.md`.

mod comments_entry;
mod finding_entry;
mod finding_list;
mod finding_rows;
mod finding_selection;
mod findings_head;
mod review_table;
mod thread_entries;

use comments_entry::CommentsEntry;
use finding_rows::FindingListLayout;
pub use finding_selection::FindingSelection;
use findings_head::{FilterPlace, FindingsHead};
use review_table::ReviewTableMode;

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use super::screen_tab::{OpenedEntry, ScreenTab, SelectionStep, TabContext};
use super::{POINT_HINT, TabHints};
use crate::domain::findings::plan_blocks::BlockLabel;
use crate::domain::ids::UnixMillis;
use crate::domain::plan_thread::UserNote;
use crate::domain::question::QuestionKind;
use crate::domain::review;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::tui::document_texts::DisplayDocuments;
use crate::tui::markdown;
use crate::tui::scroll_view::{ScrollContent, ScrollTarget, ScrollView};
use crate::tui::searchable_view::SearchableView;
use crate::tui::tab_kind::TabKind;
use crate::tui::text_wrap::wrap_trusted_text;
use crate::tui::theme;
use crate::tui::view_moves::SelectionMove;

#[derive(Debug, Default)]
pub struct CommentsTab {
    pub page: ScrollView,
    pub selection: FindingSelection,
    /// Where the last frame showed the filters.
    filters: Vec<FilterPlace>,
}

/// The hints for reading the findings.
const COMMENTS_HINTS: TabHints = &[
    (&["previous-block", "next-block"], "findings"),
    (&["open"], "open"),
    (&["discuss-finding"], "discuss"),
    (&["jump"], "its line"),
    (&["filter"], "filter"),
];

/// Further actions of the tab, which the help lists with the hints.
const THREAD_ACTIONS: TabHints = &[
    POINT_HINT,
    (&["open", "note", "unnote", "jump", "changed"], "threads"),
    (&["discuss-finding", "settle", "filter"], "findings"),
];

impl SearchableView for CommentsTab {
    fn searched_page(&self) -> Option<&ScrollView> {
        Some(&self.page)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn search(&mut self, letters: &str) {
        self.selection.set_query(letters);
        self.page.search(letters);
    }

    fn searched_name(&self) -> &'static str {
        TabKind::Comments.title()
    }

    fn accept_match(&mut self) {
        if let Some(ScrollTarget::Finding(n)) = self.page.match_target() {
            self.selection.select(ScrollTarget::Finding(n));
            self.selection.keep_open(n);
        }
    }

    fn end_search(&mut self) {
        self.page.end_search();
        self.selection.set_query("");
    }
}

impl ScreenTab for CommentsTab {
    fn hints(&self) -> TabHints {
        COMMENTS_HINTS
    }

    fn actions(&self) -> TabHints {
        THREAD_ACTIONS
    }

    fn entries_label(&self) -> &'static str {
        "findings"
    }

    fn is_hint_useful(&self, _label: &str, context: &TabContext<'_>) -> bool {
        let has_entries =
            |state: &RunState| !state.findings.all().is_empty() || !state.threads.all().is_empty();
        context.state.is_some_and(has_entries)
    }

    fn revision(&self, documents: &DisplayDocuments) -> u64 {
        documents.comments.revision
    }

    fn count(&self, state: &RunState) -> String {
        match state.findings.open().count() {
            0 => String::new(),
            n_open => format!(" {n_open}"),
        }
    }

    fn page(&mut self) -> Option<&mut ScrollView> {
        Some(&mut self.page)
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &TabContext<'_>, _now: UnixMillis) {
        self.page.set_page_keys(context.page_keys());
        draw(self, frame, area, context);
    }

    fn entry_filter(&self) -> fn(ScrollTarget) -> bool {
        |mark| matches!(mark, ScrollTarget::Finding(_) | ScrollTarget::Note(_))
    }

    fn selected_entry(&self, context: &TabContext<'_>) -> Option<ScrollTarget> {
        let finding = self.selection.selected_finding(context.state);
        finding.map(ScrollTarget::Finding)
    }

    fn select(&mut self, mark: ScrollTarget) {
        if is_entry(mark) {
            self.selection.select(mark);
        }
    }

    fn select_adjacent(&mut self, along: SelectionMove, context: &TabContext<'_>) -> SelectionStep {
        let Some(state) = context
            .state
            .filter(|state| !state.findings.all().is_empty() || !state.threads.all().is_empty())
        else {
            return SelectionStep::Empty("No findings to select yet.");
        };
        let above = self.page.has_target(ScrollTarget::Reviews);
        let above = above.then_some(ScrollTarget::Reviews);
        match self
            .selection
            .move_selection(along.is_forward(), state, above)
        {
            Some(mark) => {
                self.page.scroll_to(mark);
                SelectionStep::Selected(mark)
            }
            None => SelectionStep::AtEdge,
        }
    }

    fn clear_selection(&mut self, context: &TabContext<'_>) -> bool {
        self.selection.clear_selection(context.state)
    }

    fn click(&mut self, at: Position) -> bool {
        if let Some((row, column)) = self.page.place_at(at)
            && let Some(place) = self.filters.iter().find(|it| it.contains(row, column))
        {
            self.selection.set_filter(place.filter);
            return false;
        }
        let Some(mark) = self.page.target_at(at).filter(|mark| is_entry(*mark)) else {
            return false;
        };
        // The other rows can only be opened, so the first click does it.
        let was = self.selection.is_chosen(mark)
            || !matches!(mark, ScrollTarget::Finding(_) | ScrollTarget::Note(_));
        self.selection.select(mark);
        was
    }

    fn open_selection(&mut self, context: &TabContext<'_>) -> OpenedEntry {
        if self.selection.toggle_selected(context.state) {
            OpenedEntry::InPlace
        } else if let Some(ScrollTarget::Note(_)) = self.selection.selected_mark(context.state) {
            OpenedEntry::Refused("A thread is shown in full. > goes to its line, ; answers.")
        } else {
            OpenedEntry::NotSelected("a finding")
        }
    }

    fn cycle_filter(&mut self, context: &TabContext<'_>) -> Option<Result<(), &'static str>> {
        self.selection.next_filter(context.state);
        Some(Ok(()))
    }

    fn selected_text(&self, context: &TabContext<'_>) -> Option<String> {
        if let Some(ScrollTarget::Note(n)) = self.selection.selected_mark(context.state) {
            return context.state?.threads.get(n).map(review::render_thread);
        }
        let n = self.selection.selected_finding(context.state)?;
        let all = context.state?.findings.all().iter();
        let remark = all
            .map(|finding| &finding.remark)
            .find(|remark| remark.n == n)?;
        let evidence = context
            .documents
            .evidence
            .get(&n)
            .map_or("", String::as_str);
        let (severity, text) = (remark.severity.as_str(), &remark.text);
        let text = format!("{n}. [{severity}] {text}\n{evidence}");
        Some(text.trim_end().to_owned())
    }

    fn whole_text(&mut self, context: &TabContext<'_>) -> Result<String, String> {
        let text = context.documents.comments.text.clone();
        text.ok_or_else(|| "No comments yet.".to_owned())
    }

    fn noted_place(&self, context: &TabContext<'_>) -> Option<UserNote> {
        let threads = &context.state?.threads;
        if let Some(ScrollTarget::Note(n)) = self.selection.selected_mark(context.state) {
            return threads.get(n).map(|thread| UserNote {
                line: thread.line,
                quote: thread.quote.clone(),
                thread: Some(n),
                ..UserNote::default()
            });
        }
        let n = self.selection.selected_finding(context.state)?;
        let mut open_threads = threads.of_finding(n).filter(|thread| !thread.is_resolved);
        Some(UserNote {
            thread: open_threads.next().map(|thread| thread.n),
            finding: Some(n),
            ..UserNote::default()
        })
    }
}

/// Returns whether a target is an entry of the list.
fn is_entry(mark: ScrollTarget) -> bool {
    matches!(
        mark,
        ScrollTarget::Finding(_)
            | ScrollTarget::Settled
            | ScrollTarget::Reviews
            | ScrollTarget::Note(_)
    )
}

/// Names what can be done with the selected finding or thread, in a row below it.
fn selected_actions(
    selection: &FindingSelection,
    mark: ScrollTarget,
    form: FindingListLayout,
    context: &TabContext<'_>,
) -> Option<CommentsEntry> {
    let state = context.state?;
    let mut does = Vec::new();
    let mut place = "its line".to_owned();
    if let ScrollTarget::Finding(n) = mark {
        let texts = context.documents;
        let is_opened = selection.is_open(n, texts.evidence.get(&n)) || form.expands(n);
        let mut all = state.findings.all().iter();
        let picked = all.find(|finding| finding.remark.n == n);
        if picked.is_some_and(|finding| finding_entry::has_details(finding, texts)) {
            does.push(("open", if is_opened { "fold" } else { "details" }));
        }
        let block = picked.and_then(|finding| finding.record.block.as_ref());
        if let Some(BlockLabel::Step(n)) = block {
            place = format!("go to step {n}");
        }
    }
    does.extend(match mark {
        ScrollTarget::Finding(n) if state.findings.open().any(|one| one.remark.n == n) => vec![
            ("jump", place.as_str()),
            ("note", "note"),
            ("discuss-finding", "discuss"),
            ("copy", "copy"),
        ],
        ScrollTarget::Finding(_) => vec![
            ("jump", place.as_str()),
            ("changed", "what changed"),
            ("copy", "copy"),
        ],
        ScrollTarget::Note(_) => vec![
            ("jump", "its line"),
            ("note", "answer"),
            ("changed", "what changed"),
            ("copy", "copy"),
        ],
        _ => return None,
    });
    let parts = context.action_spans(&does);
    if parts.is_empty() {
        return None;
    }
    let mut entry = CommentsEntry::from_actions(parts);
    entry.set_mark(mark);
    Some(entry)
}

/// Draws the findings and the one that is selected.
fn draw(tab: &mut CommentsTab, frame: &mut Frame, area: Rect, context: &TabContext<'_>) {
    let CommentsTab {
        page,
        selection: chosen,
        filters,
    } = tab;
    let state = context.state;
    let mut expanded = chosen.expanded;
    let selection = &*chosen;
    let columns = usize::from(area.width);
    let head = state.map(|state| findings_head::lay_out_head(state, selection.filter, columns));
    let head = head.unwrap_or_default();
    // The pane without the keys offers nothing.
    let picked = selection.selected_mark(state.filter(|_| context.has_keys));
    let list = CommentsPage {
        head: &head,
        selection,
        picked,
        context,
        columns,
    };
    let first = state.and_then(|state| selection.first_to_expand(state));
    let most = list.entries(FindingListLayout::Spacious(first), ReviewTableMode::Full);
    let mut hasher = DefaultHasher::new();
    let revision = context.documents.comments.revision;
    (columns, revision, picked, &most, &head).hash(&mut hasher);
    (area.height, selection.reviews_fold).hash(&mut hasher);
    selection.expansion().hash(&mut hasher);
    page.lay_out(hasher.finish(), || {
        let rows = usize::from(area.height);
        let laid = list.lay_out(&most);
        expanded = first.filter(|_| laid.lines.len() <= rows);
        if laid.lines.len() <= rows {
            return laid;
        }
        let form = FindingListLayout::Expanded(first);
        let laid = list.lay_out(&list.entries(form, ReviewTableMode::Full));
        if laid.lines.len() <= rows {
            expanded = first;
            return laid;
        }
        list.lay_out_low(rows)
    });
    *filters = head.filters;
    chosen.expanded = expanded;
    page.draw(frame, area);
}

/// What the page is made of.
struct CommentsPage<'a> {
    head: &'a FindingsHead,
    selection: &'a FindingSelection,
    /// What is selected or offered.
    picked: Option<ScrollTarget>,
    context: &'a TabContext<'a>,
    columns: usize,
}

impl CommentsPage<'_> {
    /// Returns what is below the head, with the actions below what is selected.
    fn entries(&self, form: FindingListLayout, table: ReviewTableMode) -> Vec<CommentsEntry> {
        let (texts, clock) = (self.context.documents, self.context.clock);
        let entries = self.context.state.map(|state| {
            let (selection, picked) = (self.selection, self.picked);
            finding_list::ledger_entries(state, selection, picked, form, table, texts, clock)
        });
        let mut entries = entries.unwrap_or_default();
        let Some(mark) = self.picked else {
            return entries;
        };
        let of_selected = |entry: &CommentsEntry| entry.mark == Some(mark);
        let (Some(from), Some(to)) = (
            entries.iter().position(of_selected),
            entries.iter().rposition(of_selected),
        ) else {
            return entries;
        };
        entries.splice(
            to + 1..to + 1,
            selected_actions(self.selection, mark, form, self.context),
        );
        if matches!(
            (form, mark),
            (FindingListLayout::Spacious(_), ScrollTarget::Finding(_))
        ) {
            let mut padding = CommentsEntry::blank();
            padding.set_mark(mark);
            let end = entries.iter().rposition(of_selected).unwrap_or(to);
            entries.insert(end + 1, padding.clone());
            entries.insert(from, padding);
        }
        entries
    }

    /// Lays out the page where not everything fits: without details that the user did not open, then with the reviews in
    /// one row, then with one row per finding.
    fn lay_out_low(&self, rows: usize) -> ScrollContent {
        let lay_out = |form, table| self.lay_out(&self.entries(form, table));
        let laid = lay_out(FindingListLayout::Full, ReviewTableMode::Full);
        let Some(state) = self.context.state.filter(|_| laid.lines.len() > rows) else {
            return laid;
        };
        let n_reviews = review_table::table_height(state, self.context.clock, self.columns);
        let table = if n_reviews > 1 && n_reviews * review_table::MAX_TABLE_SHARE > rows {
            self.selection.review_table_mode()
        } else {
            ReviewTableMode::Full
        };
        let laid = lay_out(FindingListLayout::Full, table);
        let n_listed = self.selection.listed_findings(state).len();
        if laid.lines.len() > rows && n_listed >= finding_rows::MIN_COMPACT_FINDINGS {
            lay_out(FindingListLayout::Compact, table)
        } else {
            laid
        }
    }

    fn lay_out(&self, entries: &[CommentsEntry]) -> ScrollContent {
        let texts = self.context.documents;
        let mut laid = ScrollContent {
            lines: self.head.lines.clone(),
            ..ScrollContent::default()
        };
        // The last column stays free: the other pane may begin right behind it.
        let columns = self.columns.saturating_sub(1);
        let is_first = |entry: &&CommentsEntry| self.head.lines.is_empty() && entry.is_blank();
        for entry in entries.iter().skip_while(is_first) {
            if let Some(mark) = entry.mark.filter(|_| !entry.is_blank()) {
                laid.targets.entry(mark).or_insert(laid.lines.len());
            }
            laid.lines.extend(entry.lines(columns, self.bar(entry)));
        }
        if laid.lines.is_empty() && texts.comments.text.is_none() {
            let none = describe_missing_review(self.context.state);
            laid.lines = wrap_trusted_text(none, columns, theme::QUIET);
        }
        if !texts.unparsed_comments.is_empty() {
            if !laid.lines.is_empty() {
                laid.lines.push(Line::default());
                let head = Line::styled("── Also in the comments ", theme::QUIET);
                laid.lines.push(head);
            }
            let rest = markdown::lay_out(&texts.unparsed_comments, columns, theme::PLAIN);
            laid.lines.extend(rest);
        }
        laid
    }

    /// Returns the style of the bar before an entry; `None` if it is not selected.
    fn bar(&self, entry: &CommentsEntry) -> Option<Style> {
        let mark = entry.mark?;
        if self.picked != Some(mark) {
            return None;
        }
        let mut open = self.context.state?.findings.open();
        let severity = open
            .find(|finding| ScrollTarget::Finding(finding.remark.n) == mark)
            .map(|finding| theme::severity_style(finding.remark.severity));
        Some(severity.unwrap_or(theme::ACCENT))
    }
}

/// Says why there is no review, and what brings one.
fn describe_missing_review(state: Option<&RunState>) -> &'static str {
    let is_sent_next = |state: &RunState| {
        let question = state.current_question().map(|question| &question.kind);
        let gate = |kind: &QuestionKind| matches!(kind, QuestionKind::Gate { order } if order.purpose == TurnPurpose::Review);
        question.is_some_and(gate)
    };
    match state {
        Some(state) if is_sent_next(state) => "No review yet. Send the plan to the reviewer.",
        Some(state) if state.plan.is_some() => "No review yet.",
        Some(_) | None => "No review yet. It starts after the plan is written.",
    }
}
