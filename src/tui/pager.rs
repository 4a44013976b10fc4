//! The pager: shows a long text in place of the tab, such as a prompt, the goal or the help, or a child's session.
//!
//! Lays a text out once per width; a session is a transcript, which lays itself out.

mod pager_overlay;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::clickable_keys;
use super::dialog::ChoiceDialog;
use super::help::HelpLine;
use super::keymap::{ActiveKeymap, ComposerFocus};
use super::markdown;
use super::scroll_view::ScrollView;
use super::searchable_view::SearchableView;
use super::tabs::chat::{ChatArrangement, TranscriptStyle, draw_transcript};
use super::text_versions::{
    self, ComparisonLayout, ConflictVersions, DocumentComparison, TextPair,
};
use super::text_wrap::{
    clean_for_display, text_width, to_one_line, truncate_to_columns, wrap_spans,
};
use super::theme;
use super::transcript::{ChatTranscript, ChildSessionView, TranscriptFinder};
use super::view_area::inset_columns;
use crate::domain::ids::SessionId;
use crate::domain::run::RunState;

/// How a text is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerFormat {
    Markdown,
    Plain,
    /// Lines of facts: what does not fit into a row continues below it, further right.
    Report,
}
/// How far right a line of facts continues.
const REPORT_INDENT: usize = 2;

/// How many bytes of a text are shown at most.
const MAX_SHOWN_BYTES: usize = 2 << 20;

/// Texts that are compared.
#[derive(Debug)]
struct PagerComparison {
    title: String,
    documents: Vec<DocumentComparison>,
    layout: ComparisonLayout,
}

impl PagerComparison {
    /// Returns the next layout in the cycle; skips the ones that a narrow window would show twice.
    fn next_layout(&self, columns: usize) -> ComparisonLayout {
        let has_three = self.documents.iter().any(|text| text.before.is_some());
        match self.layout {
            ComparisonLayout::Three if ComparisonLayout::has_room(columns) => {
                ComparisonLayout::Two(text_versions::ComparisonForm::Diff)
            }
            ComparisonLayout::Three
            | ComparisonLayout::Two(text_versions::ComparisonForm::Diff) => {
                ComparisonLayout::Two(text_versions::ComparisonForm::SideBySide)
            }
            ComparisonLayout::Two(text_versions::ComparisonForm::SideBySide) if has_three => {
                ComparisonLayout::Three
            }
            ComparisonLayout::Two(text_versions::ComparisonForm::SideBySide) => {
                ComparisonLayout::Two(text_versions::ComparisonForm::Diff)
            }
        }
    }
}

/// A text to read, with its scroll position.
#[derive(Debug)]
pub struct TextPager {
    title: String,
    text: String,
    form: PagerFormat,
    /// The texts to compare, used instead of `text`.
    comparison: Option<PagerComparison>,
    /// The lines of the help, used instead of `text`.
    help_lines: Vec<HelpLine>,
    /// The dialog whose body is shown instead of `text`.
    dialog: Option<Box<ChoiceDialog>>,
    /// The dialog that the text belongs to.
    dialog_id: Option<String>,
    /// The child's session, used instead of `text`.
    child: Option<Box<ChildSessionView>>,
    /// The open search in the child's session.
    finder: TranscriptFinder,
    /// Where the last frame showed the session.
    session_area: Rect,
    laid_out_columns: Option<usize>,
    scroll_view: ScrollView,
}

impl TextPager {
    /// Binds the pager to a dialog, so that both close together.
    #[must_use]
    pub fn for_dialog(self, id: &str) -> Self {
        Self {
            dialog_id: Some(id.to_owned()),
            ..self
        }
    }

    /// Returns the id of the dialog that the text belongs to.
    pub fn dialog_id(&self) -> Option<&str> {
        self.dialog_id.as_deref()
    }

    /// Creates a pager at the start of a text.
    pub fn new(title: &str, text: &str, form: PagerFormat) -> Self {
        Self {
            title: to_one_line(title),
            text: truncate_for_layout(text),
            form,
            comparison: None,
            help_lines: Vec::new(),
            dialog: None,
            dialog_id: None,
            child: None,
            finder: TranscriptFinder::default(),
            session_area: Rect::default(),
            laid_out_columns: None,
            scroll_view: ScrollView::default(),
        }
    }

    /// Creates a pager for the body of a dialog; `text` is what is copied.
    pub fn from_dialog(title: &str, text: &str, dialog: ChoiceDialog) -> Self {
        Self {
            dialog: Some(Box::new(dialog)),
            ..Self::new(title, text, PagerFormat::Plain)
        }
    }

    /// Creates a pager for the help.
    pub fn from_help(title: &str, keys: Vec<HelpLine>) -> Self {
        Self {
            help_lines: keys,
            ..Self::new(title, "", PagerFormat::Plain)
        }
    }

    /// Returns whether it shows the help.
    pub fn is_help(&self) -> bool {
        !self.help_lines.is_empty()
    }

    /// Returns whether a line of the help is at a position.
    pub fn is_help_at(&self, at: Position) -> bool {
        self.is_help() && self.scroll_view.contains(at)
    }

    /// Creates a pager for a child's session.
    pub fn from_child(child: Box<ChildSessionView>) -> Self {
        Self {
            child: Some(child),
            ..Self::new("", "", PagerFormat::Markdown)
        }
    }

    /// Returns the child's session, if it is one.
    pub fn child_mut(&mut self) -> Option<&mut ChildSessionView> {
        self.child.as_deref_mut()
    }

    /// Returns the id of the child's session.
    pub fn session(&self) -> Option<&SessionId> {
        self.child.as_ref().map(|child| child.session())
    }

    /// Returns the transcript of the child's session.
    pub fn transcript(&self) -> Option<&ChatTranscript> {
        self.child.as_ref().map(|child| &child.transcript)
    }

    /// Returns the text for copying: the selected block of a session, otherwise all of it.
    pub fn copy_text(&self) -> String {
        match (self.transcript(), self.text.is_empty()) {
            (Some(transcript), _) => {
                let selected = transcript.selected_text();
                selected.unwrap_or_else(|| transcript.whole_text())
            }
            (None, false) => self.text.clone(),
            (None, true) => self.scroll_view.text(),
        }
    }

    /// Creates a pager that compares the user's text with the agent's.
    pub fn from_versions(versions: &[ConflictVersions]) -> Self {
        let texts: Vec<DocumentComparison> =
            versions.iter().map(ConflictVersions::looked).collect();
        let layout = if texts.iter().any(|text| text.before.is_some()) {
            ComparisonLayout::Three
        } else {
            ComparisonLayout::Two(text_versions::ComparisonForm::Diff)
        };
        Self::with_comparison("Both texts", texts, layout)
    }

    /// Creates a pager that compares pairs of texts.
    pub fn from_pairs(title: &str, pairs: Vec<TextPair>) -> Self {
        let texts = DocumentComparison {
            pairs,
            before: None,
        };
        Self::with_comparison(
            title,
            vec![texts],
            ComparisonLayout::Two(text_versions::ComparisonForm::Diff),
        )
    }

    fn with_comparison(
        title: &str,
        texts: Vec<DocumentComparison>,
        layout: ComparisonLayout,
    ) -> Self {
        Self {
            comparison: Some(PagerComparison {
                title: title.to_owned(),
                documents: texts,
                layout,
            }),
            ..Self::new("", "", PagerFormat::Markdown)
        }
    }

    /// Switches to the next layout; returns whether this is a comparison.
    pub fn cycle_layout(&mut self) -> bool {
        let Some(both) = &mut self.comparison else {
            return false;
        };
        both.layout = both.next_layout(self.laid_out_columns.unwrap_or(0));
        self.laid_out_columns = None;
        true
    }

    /// Returns the title with its most important keys.
    fn title_line(&self, keymap: &ActiveKeymap, columns: usize) -> Line<'static> {
        let key = |action| keymap.key_label(action, ComposerFocus::Unfocused);
        let (title, next) = match &self.comparison {
            None => (self.title.clone(), String::new()),
            Some(both) => {
                let next = match both.next_layout(columns) {
                    ComparisonLayout::Three => "with the text before",
                    ComparisonLayout::Two(text_versions::ComparisonForm::SideBySide) => {
                        "side by side"
                    }
                    ComparisonLayout::Two(text_versions::ComparisonForm::Diff) => "as a diff",
                };
                let next = format!("  {}: {next}", key("view"));
                (both.title.clone(), next)
            }
        };
        // What closes it is in the footer.
        let find = format!("{next}  {} finds", key("text-find"));
        let has_room = text_width(&title) + 2 + text_width(&find) <= columns;
        let keys = if has_room { &find } else { &next };
        let title = truncate_to_columns(
            &format!("▤ {title}"),
            columns.saturating_sub(text_width(keys)),
        );
        let mut spans = vec![Span::styled(title, theme::STRONG)];
        spans.extend(clickable_keys::hint_spans(keys, theme::QUIET));
        Line::from(spans)
    }

    /// Draws the title and the visible lines, which are inset by a column.
    fn draw_text(&mut self, frame: &mut Frame, body: Rect, keymap: &ActiveKeymap) {
        let area = inset_columns(body);
        let columns = usize::from(area.width);
        frame.render_widget(self.title_line(keymap, columns), area);
        let below = Rect {
            y: area.y.saturating_add(1),
            height: area.height.saturating_sub(1),
            ..area
        };
        if let Some(child) = &mut self.child {
            // The chat insets its rows itself.
            self.session_area = Rect {
                x: body.x,
                width: body.width,
                ..below
            };
            let (transcript, area) = (&mut child.transcript, self.session_area);
            let style = TranscriptStyle {
                empty_note: "",
                query: self.finder.query(),
                keymap: Some(keymap),
                arrangement: ChatArrangement::Stacked,
            };
            return draw_transcript(transcript, frame, area, &style);
        }
        if self.laid_out_columns != Some(columns) {
            self.laid_out_columns = Some(columns);
            self.scroll_view.set_lines(match &self.comparison {
                Some(both) => both
                    .documents
                    .iter()
                    .flat_map(|text| text.lay_out(both.layout, columns))
                    .collect(),
                None if !self.help_lines.is_empty() => {
                    let keys = self.help_lines.iter();
                    keys.flat_map(|line| line.lay_out(columns)).collect()
                }
                None => match &self.dialog {
                    Some(dialog) => dialog.full_text_lines(columns),
                    None => lay_out(&self.text, self.form, columns),
                },
            });
        }
        self.scroll_view.set_page_keys(Some(keymap));
        self.scroll_view.draw(frame, below);
    }
}

impl SearchableView for TextPager {
    fn searched_page(&self) -> Option<&ScrollView> {
        self.child.is_none().then_some(&self.scroll_view)
    }

    fn searched_page_mut(&mut self) -> Option<&mut ScrollView> {
        self.child.is_none().then_some(&mut self.scroll_view)
    }

    fn begin_search(&mut self) {
        match &self.child {
            Some(child) => self.finder.begin(&child.transcript),
            None => self.scroll_view.begin_search(),
        }
    }

    fn search(&mut self, letters: &str) {
        match &mut self.child {
            Some(child) => self.finder.search(&mut child.transcript, letters),
            None => self.scroll_view.search(letters),
        }
    }

    fn step_match(&mut self, is_next: bool, _state: Option<&RunState>) {
        match &mut self.child {
            Some(child) => self.finder.step_match(&mut child.transcript, is_next),
            None => self.scroll_view.step_match(is_next),
        }
    }

    fn match_position(&self, _state: Option<&RunState>) -> (usize, usize) {
        match &self.child {
            Some(child) => self.finder.match_position(&child.transcript),
            None => self.scroll_view.match_position(),
        }
    }

    fn searched_name(&self) -> &'static str {
        match &self.child {
            Some(_) => "this session",
            None => "this text",
        }
    }

    fn starts_at_end(&self) -> bool {
        self.child.is_some()
    }

    fn cancel_search(&mut self) {
        match &mut self.child {
            Some(child) => self.finder.cancel(&mut child.transcript),
            None => self.scroll_view.cancel_search(),
        }
    }

    fn end_search(&mut self) {
        match &mut self.child {
            Some(child) => self.finder.end(&mut child.transcript),
            None => self.scroll_view.end_search(),
        }
    }
}

/// Cleans a text for display, and truncates it if it is too long to lay out.
fn truncate_for_layout(text: &str) -> String {
    let mut text = clean_for_display(text);
    if text.len() > MAX_SHOWN_BYTES {
        let n_bytes = text.len();
        text = crate::text::truncate::to_bytes(&text, MAX_SHOWN_BYTES);
        text.push_str(&format!("\n[cut: the text has {n_bytes} bytes]"));
    }
    text
}

fn lay_out(text: &str, form: PagerFormat, columns: usize) -> Vec<Line<'static>> {
    match form {
        PagerFormat::Markdown => markdown::lay_out(text, columns, theme::PLAIN),
        PagerFormat::Plain => text
            .lines()
            .flat_map(|line| {
                wrap_spans(&[Span::raw(line)], columns, markdown::hanging_indent(line))
            })
            .collect(),
        PagerFormat::Report => text
            .lines()
            .flat_map(|line| {
                let own = line.len() - line.trim_start().len();
                let indent = markdown::hanging_indent(line).max(own + REPORT_INDENT);
                wrap_spans(&[Span::raw(line)], columns, indent)
            })
            .collect(),
    }
}
