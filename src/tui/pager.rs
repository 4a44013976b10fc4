//! A long text in the place of the tab: a prompt, the goal, the help.
//!
//! Lays the text out once a width. Refuses to know where the text comes from.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::clickable_keys;
use super::command::ScrollMove;
use super::help::HelpLine;
use super::keymap::{ActiveKeymap, ComposerFocus};
use super::markdown;
use super::scroll_view::{ScrollPosition, ScrollView};
use super::text_versions::{
    self, ComparisonLayout, ConflictVersions, DocumentComparison, TextPair,
};
use super::text_wrap::{
    clean_for_display, text_width, to_drawable, truncate_to_columns, wrap_spans,
};
use super::theme;
use crate::domain::ids::SessionId;
use crate::text::TextCleaner;

/// How a text is styled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagerFormat {
    /// As Markdown.
    Markdown,
    /// As it is.
    Plain,
}

/// How many bytes of a text are shown.
const MAX_SHOWN_BYTES: usize = 2 << 20;

/// Texts that are compared.
#[derive(Debug)]
struct PagerComparison {
    title: String,
    documents: Vec<DocumentComparison>,
    layout: ComparisonLayout,
}

impl PagerComparison {
    /// How the texts are shown next; in a narrow window nothing is shown twice.
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

/// A conversation that may go on while it is read.
#[derive(Debug)]
struct PagerConversation {
    session: SessionId,
    /// The piece of text that is being said; drawable.
    live: String,
    cleaner: TextCleaner,
}

/// A text to read.
#[derive(Debug)]
pub struct TextPager {
    title: String,
    text: String,
    form: PagerFormat,
    /// Texts to compare, in the place of the one.
    comparison: Option<PagerComparison>,
    /// The lines of the help, in its place.
    help_lines: Vec<HelpLine>,
    /// The dialog that it is about.
    dialog_id: Option<String>,
    /// Whose conversation it is, where it is one.
    conversation: Option<PagerConversation>,
    laid_out_columns: Option<usize>,
    scroll_view: ScrollView,
}

impl TextPager {
    /// Says which dialog it is about, with which it goes.
    #[must_use]
    pub fn for_dialog(self, id: &str) -> Self {
        Self {
            dialog_id: Some(id.to_owned()),
            ..self
        }
    }

    /// The dialog that it is about.
    pub fn dialog_id(&self) -> Option<&str> {
        self.dialog_id.as_deref()
    }

    /// Opens a text at its beginning.
    pub fn new(title: &str, text: &str, form: PagerFormat) -> Self {
        Self {
            title: super::text_wrap::to_one_line(title),
            text: truncate_for_layout(text),
            form,
            comparison: None,
            help_lines: Vec::new(),
            dialog_id: None,
            conversation: None,
            laid_out_columns: None,
            scroll_view: ScrollView::default(),
        }
    }

    /// Opens the help.
    pub fn from_help(title: &str, keys: Vec<HelpLine>) -> Self {
        Self {
            help_lines: keys,
            ..Self::new(title, "", PagerFormat::Plain)
        }
    }

    /// Tells whether a line of the help stands at a place of the screen.
    pub fn is_help_at(&self, at: Position) -> bool {
        !self.help_lines.is_empty() && self.scroll_view.contains(at)
    }

    /// Opens a conversation; one that goes on is followed at its end.
    pub fn from_conversation(
        session: &SessionId,
        title: &str,
        text: &str,
        page: ScrollView,
    ) -> Self {
        let talk = PagerConversation {
            session: session.clone(),
            live: String::new(),
            cleaner: TextCleaner::default(),
        };
        Self {
            conversation: Some(talk),
            scroll_view: page,
            ..Self::new(title, text, PagerFormat::Markdown)
        }
    }

    /// All of its text, as one would copy it.
    pub fn copy_text(&self) -> String {
        match (&self.conversation, self.text.is_empty()) {
            (Some(talk), _) => format!("{}{}", self.text, talk.live),
            (None, false) => self.text.clone(),
            (None, true) => self.scroll_view.text(),
        }
    }

    /// The session whose conversation is open.
    pub fn session(&self) -> Option<&SessionId> {
        self.conversation.as_ref().map(|talk| &talk.session)
    }

    /// Takes the conversation as it is now; the place in it stays.
    pub fn update_conversation(&mut self, title: &str, text: &str) {
        self.title = super::text_wrap::to_one_line(title);
        self.text = truncate_for_layout(text);
        self.laid_out_columns = None;
    }

    /// Takes a piece of what is being said in it.
    pub fn append_live_text(&mut self, piece: &str) {
        if let Some(talk) = &mut self.conversation
            && talk.live.len() < MAX_SHOWN_BYTES
        {
            talk.live.push_str(&to_drawable(talk.cleaner.push(piece)));
            self.laid_out_columns = None;
        }
    }

    /// The text with what is being said.
    fn full_text(&self) -> Cow<'_, str> {
        match self
            .conversation
            .as_ref()
            .filter(|talk| !talk.live.is_empty())
        {
            Some(talk) => Cow::Owned(format!("{}\n\n{}", self.text, talk.live)),
            None => Cow::Borrowed(&self.text),
        }
    }

    /// What was being said is said; with the text it comes again.
    pub fn end_live_text(&mut self) {
        if let Some(talk) = &mut self.conversation {
            talk.live.clear();
            talk.cleaner = TextCleaner::default();
            self.laid_out_columns = None;
        }
    }

    /// Opens the user's text and the agent's.
    pub fn from_versions(versions: &[ConflictVersions]) -> Self {
        let texts: Vec<DocumentComparison> =
            versions.iter().map(ConflictVersions::looked).collect();
        let layout = if texts.iter().any(|text| text.before.is_some()) {
            ComparisonLayout::Three
        } else {
            ComparisonLayout::Two(text_versions::ComparisonForm::Diff)
        };
        Self::with_comparison("both texts", texts, layout)
    }

    /// Opens texts to be compared.
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

    /// Shows the texts the next way; says whether there are two.
    pub fn cycle_layout(&mut self) -> bool {
        let Some(both) = &mut self.comparison else {
            return false;
        };
        both.layout = both.next_layout(self.laid_out_columns.unwrap_or(0));
        self.laid_out_columns = None;
        true
    }

    /// The title, with the keys that matter here.
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
        let (close, find) = (key("close"), key("text-find"));
        let (sign, back, style) = match &self.dialog_id {
            Some(_) => ("?", "goes back to it", theme::NEEDS_YOU),
            None => ("▤", "closes", theme::STRONG),
        };
        // In a narrow window the footer names the keys that have no room here.
        let closes = format!("  ({close} {back})");
        let least = if next.is_empty() { &closes } else { &next };
        let forms = [
            format!("{next}{closes}  {find} finds"),
            format!("{next}{closes}"),
        ];
        let fits = |keys: &&String| text_width(&title) + 2 + text_width(keys) <= columns;
        let keys = forms.iter().find(fits).unwrap_or(least);
        let title = truncate_to_columns(
            &format!("{sign} {title}"),
            columns.saturating_sub(text_width(keys)),
        );
        let mut spans = vec![Span::styled(title, style)];
        spans.extend(clickable_keys::hint_spans(keys, style));
        Line::from(spans)
    }

    /// Moves the view.
    pub fn scroll(&mut self, to: ScrollMove) {
        self.scroll_view.scroll(to);
    }

    /// Where the view stands, to come back to it.
    pub fn position(&self) -> ScrollPosition {
        self.scroll_view.position()
    }

    /// Its lines and the window onto them, in which something is looked for.
    pub fn scroll_view_mut(&mut self) -> &mut ScrollView {
        &mut self.scroll_view
    }

    /// Draws the title and the visible lines.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, keymap: &ActiveKeymap) {
        let columns = usize::from(area.width);
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
                None => lay_out(&self.full_text(), self.form, columns),
            });
        }
        frame.render_widget(self.title_line(keymap, columns), area);
        let below = Rect {
            y: area.y.saturating_add(1),
            height: area.height.saturating_sub(1),
            ..area
        };
        self.scroll_view.set_page_keys(Some(keymap));
        self.scroll_view.draw(frame, below);
    }
}

/// A drawable text, cut where it is too long to be laid out.
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
    }
}
