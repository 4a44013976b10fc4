//! A long text in the place of the tab: a prompt, the goal, the help.
//!
//! Lays the text out once a width. Refuses to know where the text comes from.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::command::Move;
use super::help::Told;
use super::hints;
use super::keymap::{IsWriting, Keymap};
use super::markdown;
use super::page::{Page, Stand};
use super::theme;
use super::versions::{self, ConflictVersions, Layout, Looked, Pair};
use super::wrap::{cut, drawable, shown, width, wrap};
use crate::domain::ids::SessionId;
use crate::text::TextCleaner;

/// How a text is styled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As Markdown.
    Markdown,
    /// As it is.
    Plain,
}

/// How many bytes of a text are shown.
const MAX_BYTES: usize = 2 << 20;

/// Texts that are compared.
#[derive(Debug)]
struct Both {
    title: String,
    texts: Vec<Looked>,
    layout: Layout,
}

impl Both {
    /// How the texts are shown next; in a narrow window nothing is shown twice.
    fn next(&self, columns: usize) -> Layout {
        let has_three = self.texts.iter().any(|text| text.before.is_some());
        match self.layout {
            Layout::Three if Layout::has_room(columns) => Layout::Two(versions::Form::Diff),
            Layout::Three | Layout::Two(versions::Form::Diff) => Layout::Two(versions::Form::Sides),
            Layout::Two(versions::Form::Sides) if has_three => Layout::Three,
            Layout::Two(versions::Form::Sides) => Layout::Two(versions::Form::Diff),
        }
    }
}

/// A conversation that may go on while it is read.
#[derive(Debug)]
struct Talk {
    session: SessionId,
    /// The piece of text that is being said; drawable.
    live: String,
    cleaner: TextCleaner,
}

/// A text to read.
#[derive(Debug)]
pub struct Pager {
    title: String,
    text: String,
    form: Form,
    /// Texts to compare, in the place of the one.
    both: Option<Both>,
    /// The lines of the help, in its place.
    keys: Vec<Told>,
    /// The dialog that it is about.
    dialog: Option<String>,
    /// Whose conversation it is, where it is one.
    talk: Option<Talk>,
    laid_at: Option<usize>,
    page: Page,
}

impl Pager {
    /// Says which dialog it is about, with which it goes.
    #[must_use]
    pub fn of_dialog(self, id: &str) -> Self {
        Self {
            dialog: Some(id.to_owned()),
            ..self
        }
    }

    /// The dialog that it is about.
    pub fn dialog(&self) -> Option<&str> {
        self.dialog.as_deref()
    }

    /// Opens a text at its beginning.
    pub fn new(title: &str, text: &str, form: Form) -> Self {
        Self {
            title: super::wrap::one_line(title),
            text: bounded(text),
            form,
            both: None,
            keys: Vec::new(),
            dialog: None,
            talk: None,
            laid_at: None,
            page: Page::default(),
        }
    }

    /// Opens the help.
    pub fn of_keys(title: &str, keys: Vec<Told>) -> Self {
        Self {
            keys,
            ..Self::new(title, "", Form::Plain)
        }
    }

    /// Tells whether a line of the help stands at a place of the screen.
    pub fn is_help_at(&self, at: Position) -> bool {
        !self.keys.is_empty() && self.page.is_at(at)
    }

    /// Opens a conversation; one that goes on is followed at its end.
    pub fn talk(session: &SessionId, (title, text): (&str, &str), page: Page) -> Self {
        let talk = Talk {
            session: session.clone(),
            live: String::new(),
            cleaner: TextCleaner::default(),
        };
        Self {
            talk: Some(talk),
            page,
            ..Self::new(title, text, Form::Markdown)
        }
    }

    /// All of its text, as one would copy it.
    pub fn all(&self) -> String {
        match (&self.talk, self.text.is_empty()) {
            (Some(talk), _) => format!("{}{}", self.text, talk.live),
            (None, false) => self.text.clone(),
            (None, true) => self.page.text(),
        }
    }

    /// The session whose conversation is open.
    pub fn session(&self) -> Option<&SessionId> {
        self.talk.as_ref().map(|talk| &talk.session)
    }

    /// Takes the conversation as it is now; the place in it stays.
    pub fn retell(&mut self, title: &str, text: &str) {
        self.title = super::wrap::one_line(title);
        self.text = bounded(text);
        self.laid_at = None;
    }

    /// Takes a piece of what is being said in it.
    pub fn hear(&mut self, piece: &str) {
        if let Some(talk) = &mut self.talk
            && talk.live.len() < MAX_BYTES
        {
            talk.live.push_str(&drawable(talk.cleaner.push(piece)));
            self.laid_at = None;
        }
    }

    /// The text with what is being said.
    fn whole(&self) -> Cow<'_, str> {
        match self.talk.as_ref().filter(|talk| !talk.live.is_empty()) {
            Some(talk) => Cow::Owned(format!("{}\n\n{}", self.text, talk.live)),
            None => Cow::Borrowed(&self.text),
        }
    }

    /// What was being said is said; with the text it comes again.
    pub fn end_piece(&mut self) {
        if let Some(talk) = &mut self.talk {
            talk.live.clear();
            talk.cleaner = TextCleaner::default();
            self.laid_at = None;
        }
    }

    /// Opens the user's text and the agent's.
    pub fn both(versions: &[ConflictVersions]) -> Self {
        let texts: Vec<Looked> = versions.iter().map(ConflictVersions::looked).collect();
        let layout = match texts.iter().any(|text| text.before.is_some()) {
            true => Layout::Three,
            false => Layout::Two(versions::Form::Diff),
        };
        Self::of("both texts", texts, layout)
    }

    /// Opens texts to be compared.
    pub fn compared(title: &str, pairs: Vec<Pair>) -> Self {
        let texts = Looked {
            pairs,
            before: None,
        };
        Self::of(title, vec![texts], Layout::Two(versions::Form::Diff))
    }

    fn of(title: &str, texts: Vec<Looked>, layout: Layout) -> Self {
        Self {
            both: Some(Both {
                title: title.to_owned(),
                texts,
                layout,
            }),
            ..Self::new("", "", Form::Markdown)
        }
    }

    /// Shows the texts the next way; says whether there are two.
    pub fn turn(&mut self) -> bool {
        let Some(both) = &mut self.both else {
            return false;
        };
        both.layout = both.next(self.laid_at.unwrap_or(0));
        self.laid_at = None;
        true
    }

    /// The title, with the keys that matter here.
    fn heading(&self, keymap: &Keymap, columns: usize) -> Line<'static> {
        let key = |action| keymap.named(action, IsWriting::No);
        let (title, next) = match &self.both {
            None => (self.title.clone(), String::new()),
            Some(both) => {
                let next = match both.next(columns) {
                    Layout::Three => "with the text before",
                    Layout::Two(versions::Form::Sides) => "side by side",
                    Layout::Two(versions::Form::Diff) => "as a diff",
                };
                let next = format!("  {}: {next}", key("view"));
                (both.title.clone(), next)
            }
        };
        let (close, find) = (key("close"), key("text-find"));
        let (sign, back, style) = match &self.dialog {
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
        let fits = |keys: &&String| width(&title) + 2 + width(keys) <= columns;
        let keys = forms.iter().find(fits).unwrap_or(least);
        let title = cut(
            &format!("{sign} {title}"),
            columns.saturating_sub(width(keys)),
        );
        let mut spans = vec![Span::styled(title, style)];
        spans.extend(hints::spans(keys, style));
        Line::from(spans)
    }

    /// Moves the view.
    pub fn scroll(&mut self, to: Move) {
        self.page.scroll(to);
    }

    /// Where the view stands, to come back to it.
    pub fn stand(&self) -> Stand {
        self.page.stand()
    }

    /// Its lines and the window onto them, in which something is looked for.
    pub fn page(&mut self) -> &mut Page {
        &mut self.page
    }

    /// Draws the title and the visible lines.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, keymap: &Keymap) {
        let columns = usize::from(area.width);
        if self.laid_at != Some(columns) {
            self.laid_at = Some(columns);
            self.page.set_lines(match &self.both {
                Some(both) => both
                    .texts
                    .iter()
                    .flat_map(|text| text.lay_out(both.layout, columns))
                    .collect(),
                None if !self.keys.is_empty() => {
                    let keys = self.keys.iter();
                    keys.flat_map(|line| line.lay_out(columns)).collect()
                }
                None => lay_out(&self.whole(), self.form, columns),
            });
        }
        frame.render_widget(self.heading(keymap, columns), area);
        let below = Rect {
            y: area.y.saturating_add(1),
            height: area.height.saturating_sub(1),
            ..area
        };
        self.page.name_keys(Some(keymap));
        self.page.draw(frame, below);
    }
}

/// A drawable text, cut where it is too long to be laid out.
fn bounded(text: &str) -> String {
    let mut text = shown(text);
    if text.len() > MAX_BYTES {
        let n_bytes = text.len();
        text = crate::text::truncate::to_bytes(&text, MAX_BYTES);
        text.push_str(&format!("\n[cut: the text has {n_bytes} bytes]"));
    }
    text
}

fn lay_out(text: &str, form: Form, columns: usize) -> Vec<Line<'static>> {
    match form {
        Form::Markdown => markdown::lay_out(text, columns, theme::PLAIN),
        Form::Plain => text
            .lines()
            .flat_map(|line| wrap(&[Span::raw(line)], columns, markdown::hanging(line)))
            .collect(),
    }
}
