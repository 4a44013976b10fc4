//! A tool call as a card: one line with the action and its result; opened, it also shows a command's output
//! or the changes of its files.
//!
//! Changes are shown as the CLI reported them; files are not read.

mod card_decision;
mod tool_outcome;

pub use card_decision::CardDecision;
pub use tool_outcome::ToolCallOutcome;
use tool_outcome::ToolOutcomeKind;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::card_rows::{panel_lines, panel_row, signed_lines};
use super::front_matter_diff::without_front_matter;
use super::read_fold::FoldState;
use crate::domain::event::{PathChange, ToolCallDetail, ToolKind};
use crate::domain::event_wording::{describe_tool_call, join_paths, short_path};
use crate::domain::ids::RequestId;
use crate::text::capitalize;
use crate::text::unified_diff::{DiffLineKind, UnifiedDiff};
use crate::text::{pluralize, truncate};
use crate::tui::diff_view::DiffLineMap;
use crate::tui::text_wrap::{
    clean_for_display, text_width, to_one_line, truncate_middle, truncate_to_columns,
    truncate_to_words,
};
use crate::tui::theme;
use crate::tui::truncated_call::TruncatedToolCall;

/// How much of a command its row shows while the dialog below has all of it.
const MAX_ASKED_COLUMNS: usize = 24;

/// A tool call; all texts are cleaned for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallCard {
    /// The CLI's id of the call.
    pub item: String,
    /// `None` for the changes that a task handed over.
    tool: Option<ToolKind>,
    /// What it acts on, in one line.
    subject: String,
    detail: ToolCallDetail,
    /// The files that it changes.
    files: Vec<ToolFileChange>,
    /// Its result, once it ended.
    pub end: Option<ToolCallOutcome>,
    /// The approval request that it waits for.
    pub pending_request: Option<RequestId>,
    /// Whether a dialog below shows the call that waits.
    pub is_in_dialog: bool,
    /// What was decided about it, if somebody was asked.
    decision: Option<CardDecision>,
    /// The key that shows the full output.
    expand_key: String,
}

/// A file that a call changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFileChange {
    pub path: String,
    pub change: PathChange,
    /// Its removed and added lines, as in a diff; empty if the CLI did not report them.
    pub diff: String,
}

impl ToolFileChange {
    /// Creates a file change and cleans its texts for display.
    pub fn new(path: &str, change: PathChange, diff: &str) -> Self {
        let is_document = path.contains(".agent-collab/") && path.ends_with(".md");
        let diff = clean_for_display(diff);
        Self {
            path: to_one_line(path),
            change,
            diff: if is_document {
                without_front_matter(&diff)
            } else {
                diff
            },
        }
    }

    /// Returns how many lines were added and removed, as far as known. Omitted lines of a file that is
    /// added or deleted as a whole count like the others.
    fn line_counts(&self) -> (usize, usize) {
        let n = |sign: char| {
            let lines = self.diff.lines().filter_map(|line| line.strip_prefix(sign));
            lines
                .map(|line| truncate::count_omitted_lines(line).max(1))
                .sum()
        };
        (n('+'), n('-'))
    }

    /// Returns whether lines were omitted for which it is unknown whether they were added or removed.
    fn is_truncated(&self) -> bool {
        truncate::count_omitted_lines(&self.diff) > 0 || self.diff.ends_with(truncate::ELLIPSIS)
    }

    fn n_bytes(&self) -> usize {
        self.path.len() + self.diff.len()
    }
}

impl ToolCallCard {
    /// Creates the card of a running call.
    pub fn new(item: &str, tool: ToolKind, about: &str, detail: Option<&ToolCallDetail>) -> Self {
        Self {
            item: item.to_owned(),
            detail: match ToolCallDetail::of_event(detail, &tool, about) {
                ToolCallDetail::Edit(paths) => {
                    ToolCallDetail::Edit(paths.iter().map(|path| to_one_line(path)).collect())
                }
                known => known,
            },
            tool: Some(match tool {
                ToolKind::Other(name) => ToolKind::Other(to_one_line(&name)),
                known => known,
            }),
            ..Self::of_patch(about)
        }
    }

    /// Creates the card of the changes that a task handed over.
    pub fn of_patch(about: &str) -> Self {
        Self {
            item: String::new(),
            tool: None,
            subject: to_one_line(about),
            detail: ToolCallDetail::Plain,
            files: Vec::new(),
            end: None,
            pending_request: None,
            is_in_dialog: false,
            decision: None,
            expand_key: String::new(),
        }
    }

    /// Sets the file changes and replaces earlier ones.
    pub fn set_file_changes(&mut self, files: Vec<ToolFileChange>) {
        self.files = files;
    }

    /// Makes paths relative to a folder; returns whether something changed.
    pub fn relativize_paths(&mut self, root: &str) -> bool {
        let paths = self.files.iter_mut().map(|file| &mut file.path);
        let edited = match &mut self.detail {
            ToolCallDetail::Edit(paths) => paths.as_mut_slice(),
            _ => &mut [],
        };
        let mut differs = false;
        for text in paths.chain(edited).chain([&mut self.subject]) {
            if text.contains(root) {
                *text = text.replace(root, "");
                differs = true;
            }
        }
        differs
    }

    /// Sets the key that shows the full output; returns whether it changed.
    pub fn set_expand_key(&mut self, key: &str) -> bool {
        let differs = self.expand_key != key;
        if differs {
            key.clone_into(&mut self.expand_key);
        }
        differs && self.n_lines().is_some()
    }

    /// Returns what the call acts on.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Sets what was decided about the call.
    pub fn set_decision(&mut self, decision: CardDecision) {
        self.decision = Some(decision);
    }

    /// Returns the decision that denied the call.
    fn denial(&self) -> Option<&CardDecision> {
        self.decision
            .as_ref()
            .filter(|decision| !decision.is_allowed)
    }

    /// Returns its kind and its subject if it is a read or a search that succeeded.
    pub fn finished_read(&self) -> Option<(&ToolKind, &str)> {
        let is_read = |tool: &&ToolKind| matches!(tool, ToolKind::Read | ToolKind::Search);
        let tool = self.tool.as_ref().filter(is_read)?;
        self.has_only_succeeded()
            .then_some((tool, self.subject.as_str()))
    }

    /// Returns whether it has handed in a plan, a review, the result of a step or todos, which the run shows itself.
    pub fn has_handed_in(&self) -> bool {
        self.detail.is_submission() && self.has_only_succeeded()
    }

    /// Returns whether it succeeded, and nobody was asked about it.
    fn has_only_succeeded(&self) -> bool {
        let end = self.end.as_ref();
        end.is_some_and(|end| end.kind == ToolOutcomeKind::Succeeded && end.status.is_empty())
            && self.decision.is_none()
            && self.pending_request.is_none()
    }

    /// Returns the size of its text in bytes.
    pub fn n_bytes(&self) -> usize {
        self.item.len()
            + self
                .decision
                .as_ref()
                .map_or(0, |decision| decision.reason.len())
            + self.subject.len()
            + self
                .files
                .iter()
                .map(ToolFileChange::n_bytes)
                .sum::<usize>()
            + self.end.as_ref().map_or(0, ToolCallOutcome::n_bytes)
    }

    /// Returns all of its text, for the clipboard.
    pub fn to_text(&self) -> String {
        let mut text = self.text_without_output();
        let output = self.output();
        if !output.is_empty() {
            text.push('\n');
            text.push_str(output);
        }
        text
    }

    /// Returns the call if only a part of its output is kept.
    pub fn truncated_call(&self) -> Option<TruncatedToolCall> {
        let end = self.end.as_ref()?;
        end.n_lines.filter(|_| !self.output().is_empty())?;
        Some(TruncatedToolCall {
            item: self.item.clone(),
            text: self.text_without_output(),
            output: end.output.clone(),
        })
    }

    /// Returns its lines for linear mode, once it ended: what was done, and how it ended.
    pub fn ended_lines(&self) -> Option<Vec<String>> {
        let (verb, about) = self.verb_and_subject();
        let verb = if self.is_command() { "command " } else { &verb };
        let status = match &self.end {
            _ if self.denial().is_some() => String::new(),
            None => return None,
            Some(end) => match (end.kind, end.status.as_str()) {
                (ToolOutcomeKind::Succeeded, "") => "ok".to_owned(),
                (ToolOutcomeKind::Failed, "") => "failed".to_owned(),
                (_, status) => status.to_owned(),
            },
        };
        let n_lines = self.n_lines().map(|n| pluralize(n, "line"));
        let counts = self.change_counts().into_iter();
        // The user's permission is printed where it is given.
        let parts: Vec<String> = n_lines
            .into_iter()
            .chain(counts.map(|(text, _)| text.replace('−', "-")))
            .chain(self.denial().map(CardDecision::describe))
            .chain((!status.is_empty()).then_some(status))
            .collect();
        let mut lines = vec![format!("{verb}{about}: {}", parts.join(", "))];
        if self.denial().is_none() {
            let detail = self.end.as_ref().and_then(|end| end.detail.as_ref());
            lines.extend(detail.map(|detail| format!("  {detail}")));
        }
        Some(lines)
    }

    fn text_without_output(&self) -> String {
        let (verb, about) = self.verb_and_subject();
        let mut parts = vec![format!("{verb}{about}")];
        for file in &self.files {
            if !file.diff.is_empty() {
                parts.push(format!("--- {}\n{}", file.path, file.diff.trim_end()));
            }
        }
        parts.join("\n")
    }

    /// Returns whether it can show more than its line.
    pub fn can_open(&self) -> bool {
        self.has_more() || self.subject.len() > 60
    }

    fn has_more(&self) -> bool {
        let is_refused = self
            .denial()
            .is_some_and(|denial| !denial.reason.is_empty());
        is_refused
            || !self.output().is_empty()
            || self.files.iter().any(|file| !file.diff.is_empty())
    }

    /// Returns the output; empty for an edit whose diff already shows it.
    fn output(&self) -> &str {
        let output = self.end.as_ref().map_or("", |end| end.output.as_str());
        let is_told = self.is_edit() && self.files.iter().any(|file| !file.diff.is_empty());
        let went_badly = self
            .end
            .as_ref()
            .is_some_and(|end| end.kind == ToolOutcomeKind::Failed);
        if is_told && !went_badly { "" } else { output }
    }

    /// Returns the number of lines of the full output if only a part of it is kept.
    fn n_lines(&self) -> Option<usize> {
        let n = self.end.as_ref().and_then(|end| end.n_lines);
        n.filter(|_| !self.output().is_empty())
    }

    /// Returns whether the dialog below asks about it and shows all of it.
    fn is_asked_below(&self) -> bool {
        self.is_in_dialog && self.pending_request.is_some()
    }

    fn is_edit(&self) -> bool {
        self.tool == Some(ToolKind::Edit)
    }

    fn is_command(&self) -> bool {
        self.tool == Some(ToolKind::Command)
    }

    /// Returns the action and what it acts on.
    fn verb_and_subject(&self) -> (String, String) {
        let is_deletion = |file: &ToolFileChange| file.change == PathChange::Delete;
        let verb = match (&self.tool, self.files.first()) {
            (None, _) => return (String::new(), self.subject.clone()),
            (Some(ToolKind::Edit), Some(first)) => match first.change {
                _ if self.files.iter().all(is_deletion) => "delete ",
                PathChange::Move(_) => "move ",
                _ => "edit ",
            },
            (Some(ToolKind::Edit), None) => {
                return (
                    "edit ".to_owned(),
                    join_paths(self.detail.edited_paths().iter().map(String::as_str)),
                );
            }
            (Some(tool), _) => return describe_tool_call(tool, &self.subject, Some(&self.detail)),
        };
        let paths = self.files.iter().map(|file| file.path.as_str());
        (verb.to_owned(), join_paths(paths))
    }

    /// Returns the verb as the row begins with it. The names of a CLI's tools stay as they are.
    fn shown_verb(&self, verb: &str) -> String {
        match &self.tool {
            Some(ToolKind::Read | ToolKind::Edit | ToolKind::Search) => capitalize(verb),
            _ if self.detail.label().is_some() => capitalize(verb),
            _ => verb.to_owned(),
        }
    }

    /// Renders its lines, at most `columns` wide.
    pub fn lines(&self, columns: usize, folding: FoldState) -> Vec<Line<'static>> {
        let (verb, about) = self.verb_and_subject();
        let (head, is_whole) = self.head_line(&self.shown_verb(&verb), &about, columns, folding);
        let mut lines = vec![head];
        if folding == FoldState::Open {
            if !is_whole {
                lines.extend(signed_lines("    ", &about, theme::CODE, columns));
            }
            for file in &self.files {
                lines.extend(self.diff_lines(file, columns));
            }
            for line in self
                .denial()
                .iter()
                .flat_map(|denial| denial.reason.lines())
            {
                lines.extend(panel_lines(line, theme::BAD, columns));
            }
            if let Some(n) = self.n_lines() {
                let text = format!(
                    "⋯ {} in all; {} shows them",
                    pluralize(n, "line"),
                    self.expand_key
                );
                lines.extend(panel_lines(&text, theme::CODE, columns));
            }
            for line in self.output().lines() {
                lines.extend(panel_lines(line, theme::QUIET, columns));
            }
        } else if self.denial().is_none()
            && let Some(detail) = self.end.as_ref().and_then(|end| end.detail.as_ref())
        {
            let detail = truncate_to_columns(&format!("    {detail}"), columns);
            lines.push(Line::styled(detail, theme::QUIET));
        }
        lines
    }

    /// Renders the first line, and returns whether nothing of it was cut.
    fn head_line(
        &self,
        verb: &str,
        about: &str,
        columns: usize,
        folding: FoldState,
    ) -> (Line<'static>, bool) {
        let (lead, style) = self.lead(folding);
        // The status matters more than the subject, so it gets half the width, or more if both fit.
        let before = text_width(&lead) + text_width(verb);
        let taken = before + text_width(about);
        let status = self.status_parts((columns / 2).max(columns.saturating_sub(taken + 2)));
        let taken: usize = status.iter().map(|(text, _)| text_width(text)).sum();
        let room = columns.saturating_sub(before + taken);
        let cut_about = if self.is_command() && self.is_asked_below() {
            truncate_to_words(about, room.min(MAX_ASKED_COLUMNS))
        } else if self.is_command() {
            truncate_to_columns(about, room)
        } else {
            truncate_middle(about, room)
        };
        let is_whole = cut_about == *about;
        let mut spans = vec![
            Span::styled(lead, style),
            Span::styled(verb.to_owned(), theme::QUIET),
            Span::styled(cut_about, theme::PLAIN),
        ];
        spans.extend(
            status
                .into_iter()
                .map(|(text, style)| Span::styled(text, style)),
        );
        (Line::from(spans), is_whole)
    }

    /// Returns what stands before the verb: the state, unless the call succeeded, and the kind of call. A command's verb
    /// is its sign.
    fn lead(&self, folding: FoldState) -> (String, Style) {
        let (state, style) = self.state_sign();
        let kind = match &self.tool {
            Some(ToolKind::Read) => "→ ",
            // What a task handed over is an edit, too.
            Some(ToolKind::Edit) | None => "✎ ",
            Some(ToolKind::Search) => "⌕ ",
            Some(ToolKind::Command) => "",
            // Any other is marked only where no state is.
            Some(ToolKind::Mcp | ToolKind::Other(_)) if state.is_empty() => "• ",
            Some(ToolKind::Mcp | ToolKind::Other(_)) => "",
        };
        let fold = match folding {
            FoldState::Open if self.has_more() => "▾ ",
            FoldState::Open | FoldState::Folded => "",
        };
        (format!("{fold}{state}{kind}"), style)
    }

    fn state_sign(&self) -> (&'static str, Style) {
        match self.end.as_ref().map(|end| end.kind) {
            _ if self.denial().is_some() => ("✗ ", theme::BAD),
            None if self.pending_request.is_some() || self.detail.asks_user() => {
                ("● ", theme::NEEDS_YOU)
            }
            None => ("◐ ", theme::QUIET),
            Some(ToolOutcomeKind::Succeeded) => ("", theme::QUIET),
            Some(ToolOutcomeKind::Failed) => ("✗ ", theme::BAD),
            Some(ToolOutcomeKind::Abandoned) => ("■ ", theme::QUIET),
        }
    }

    /// Returns how many lines were added and removed, as far as any were.
    fn change_counts(&self) -> Vec<(String, Style)> {
        let counts = match self.tool {
            // A patch's description already has its full counts, and its lines may be incomplete.
            None => [].iter(),
            Some(_) => self.files.iter(),
        };
        let rest = if counts.clone().any(ToolFileChange::is_truncated) {
            truncate::ELLIPSIS
        } else {
            ""
        };
        let counts = counts.map(ToolFileChange::line_counts);
        let (more, less) = counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let added = (more > 0).then(|| (format!("+{more}{rest}"), theme::GOOD));
        let removed = (less > 0).then(|| (format!("−{less}{rest}"), theme::BAD));
        added.into_iter().chain(removed).collect()
    }

    /// Returns the parts behind the subject: line counts and the status.
    fn status_parts(&self, columns: usize) -> Vec<(String, Style)> {
        let refused = self.denial().map(CardDecision::describe);
        let allowed = self
            .decision
            .as_ref()
            .filter(|decision| decision.is_allowed);
        let (word, style) = match &self.end {
            _ if refused.is_some() => (refused.as_deref().unwrap_or_default(), theme::BAD),
            None if self.detail.asks_user() => ("waiting for your answer", theme::QUIET),
            None if self.pending_request.is_some() && !self.is_asked_below() => {
                ("waiting for you", theme::NEEDS_YOU)
            }
            // The sign in front says it.
            None => ("", theme::QUIET),
            Some(end) => (end.status.as_str(), self.state_sign().1),
        };
        let n_lines = self.n_lines().map(|n| pluralize(n, "line"));
        let mut status = Vec::new();
        status.extend(n_lines.map(|text| (format!("  {text}"), theme::QUIET)));
        for (text, style) in self.change_counts() {
            let lead = if status.is_empty() { "  " } else { " " };
            status.push((format!("{lead}{text}"), style));
        }
        // Words stand apart from each other and from the counts.
        let word = (!word.is_empty()).then(|| (truncate_to_columns(word, columns), style));
        let allowed = allowed.map(|decision| (decision.describe(), theme::QUIET));
        let words = word.into_iter().chain(allowed);
        status.extend(words.map(|(text, style)| (format!("  {text}"), style)));
        status
    }

    /// Renders the changes of a file like any other diff; its name is shown if there are several files.
    fn diff_lines(&self, file: &ToolFileChange, columns: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if self.files.len() > 1 {
            let name = truncate_middle(&short_path(&file.path), columns.saturating_sub(4));
            lines.extend(panel_lines(&name, theme::STRONG, columns));
        }
        let diff = UnifiedDiff::parse_exact(&file.diff);
        let map = DiffLineMap::new(&diff, Some(&file.path));
        // Where the first hunk starts, its numbers tell.
        let is_first_hunk = |at: usize| {
            at == 0 && diff.lines.first().map(|line| line.kind) == Some(DiffLineKind::Hunk)
        };
        for at in (0..diff.lines.len()).filter(|at| !is_first_hunk(*at)) {
            let rows = map
                .line_rows(&diff, at, columns.saturating_sub(2))
                .into_iter();
            lines.extend(rows.map(|row| panel_row(row, columns)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::ToolStatus;
    use crate::tui::theme::Surface;

    fn check(card: &ToolCallCard, columns: usize, folding: FoldState, wanted: &str) {
        let lines: Vec<String> = card
            .lines(columns, folding)
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect();
        assert_eq!(lines.join("\n"), wanted);
    }

    const DRAFT: &str = ".agent-collab/turns/ses_01a202e4e9d872d1836a6e2ad0d55141/plan.md";

    #[test]
    fn a_draft_is_called_by_its_name_and_a_long_path_keeps_its_file() {
        let mut card = ToolCallCard::new("1", ToolKind::Edit, DRAFT, None);
        check(&card, 60, FoldState::Folded, "◐ ✎ Edit plan.md (draft)");
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Completed,
            None,
            "",
        ));
        check(&card, 60, FoldState::Folded, "✎ Edit plan.md (draft)");
        let card = ToolCallCard::new(
            "1",
            ToolKind::Edit,
            "src/a/very/long/path/to/算法/the_file_itself.rs",
            None,
        );
        check(
            &card,
            40,
            FoldState::Folded,
            "◐ ✎ Edit src/a/very/…/the_file_itself.rs",
        );
    }

    #[test]
    fn an_edit_opens_to_what_changed() {
        let mut card = ToolCallCard::new("1", ToolKind::Edit, "a.sh", None);
        let diff = "@@ -1,2 +1,2 @@\n same\n-old 中\n+new 🎉\n@@ -9 +9,2 @@\n+end";
        card.set_file_changes(vec![ToolFileChange::new("a.sh", PathChange::Update, diff)]);
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Completed,
            None,
            "Success. Updated a.sh",
        ));
        check(&card, 40, FoldState::Folded, "✎ Edit a.sh  +2 −1");
        check(
            &card,
            40,
            FoldState::Open,
            "▾ ✎ Edit a.sh  +2 −1\n    1   same\n    2 - old 中\n    2 + new 🎉\n   ⋯ line 9\n    9 + end",
        );
        let added = card.lines(40, FoldState::Open);
        let grounds = added.iter().flat_map(|line| &line.spans);
        let grounds: Vec<_> = grounds.filter_map(|span| span.style.bg).collect();
        for surface in [Surface::Add, Surface::Del, Surface::Panel] {
            assert!(grounds.contains(&surface.color()), "{surface:?}");
        }
    }

    #[test]
    fn a_command_that_failed_says_its_exit_code_and_its_last_line() {
        let mut card = ToolCallCard::new("1", ToolKind::Command, "sh tests/run.sh", None);
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Failed,
            Some(1),
            "ok 1\nnot ok 2\n",
        ));
        check(
            &card,
            40,
            FoldState::Folded,
            "✗ $ sh tests/run.sh  exit 1\n    not ok 2",
        );
        check(
            &card,
            40,
            FoldState::Open,
            "▾ ✗ $ sh tests/run.sh  exit 1\n   ok 1\n   not ok 2",
        );
    }

    #[test]
    fn a_call_that_its_turn_left_did_not_go_well() {
        let mut card = ToolCallCard::new("1", ToolKind::Command, "ls", None);
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Abandoned,
            None,
            "",
        ));
        check(&card, 40, FoldState::Folded, "■ $ ls  ended with its turn");
    }

    #[test]
    fn what_the_user_decided_stands_behind_the_call() {
        let mut card = ToolCallCard::new("1", ToolKind::Command, "ls", None);
        let decision = |is_allowed, reason: &str| CardDecision {
            is_allowed,
            is_users: true,
            reason: reason.to_owned(),
        };
        card.set_decision(decision(true, ""));
        check(&card, 40, FoldState::Folded, "◐ $ ls  allowed by you");
        card.end = Some(ToolCallOutcome::from_status(
            &ToolStatus::Completed,
            None,
            "",
        ));
        check(&card, 40, FoldState::Folded, "$ ls  allowed by you");
        let printed = card.ended_lines();
        assert_eq!(printed, Some(vec!["command ls: ok".to_owned()]));
        card.set_decision(decision(false, "use pnpm"));
        check(
            &card,
            40,
            FoldState::Folded,
            "✗ $ ls  denied by you: use pnpm",
        );
    }

    #[test]
    fn a_question_of_an_agent_is_named_once() {
        let other = |name: &str| ToolKind::Other(name.to_owned());
        let card = ToolCallCard::new("1", other("AskUserQuestion"), "AskUserQuestion", None);
        check(
            &card,
            40,
            FoldState::Folded,
            "● Asks you  waiting for your answer",
        );
        let asks = "agent_collab.ask_user {\"text\":\"Which";
        let card = ToolCallCard::new("1", ToolKind::Mcp, asks, None);
        check(
            &card,
            40,
            FoldState::Folded,
            "● Asks you  waiting for your answer",
        );
        let card = ToolCallCard::new("1", other("WebFetch"), "WebFetch", None);
        check(&card, 40, FoldState::Folded, "◐ WebFetch");
        for detail in [None, Some(&ToolCallDetail::Plain)] {
            let card = ToolCallCard::new("1", ToolKind::Read, "agent_collab.ask_user", detail);
            check(
                &card,
                40,
                FoldState::Folded,
                "◐ → Read agent_collab.ask_user",
            );
        }
    }
}
