//! A long text in the place of the tab: a prompt, the goal, the help.
//!
//! Lays the text out once a width. Refuses to know where the text comes from.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::command::Move;
use super::keymap::{IsWriting, Keymap};
use super::markdown;
use super::page::Page;
use super::theme;
use super::versions::{self, Pair, Versions};
use super::wrap::{cut, shown, wrap};

/// How a text is styled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As Markdown.
    Markdown,
    /// As the list of keys: two columns before the text.
    Keys,
    /// As it is.
    Plain,
}

/// How many bytes of a text are shown.
const MAX_BYTES: usize = 2 << 20;

/// Texts that are compared.
#[derive(Debug)]
struct Both {
    title: String,
    pairs: Vec<Pair>,
    form: versions::Form,
}

/// A text to read.
#[derive(Debug)]
pub struct Pager {
    title: String,
    text: String,
    form: Form,
    /// Texts to compare, in the place of the one.
    both: Option<Both>,
    laid_at: Option<usize>,
    page: Page,
}

impl Pager {
    /// Opens a text at its beginning.
    pub fn new(title: &str, text: &str, form: Form) -> Self {
        let mut text = shown(text);
        if text.len() > MAX_BYTES {
            let n_bytes = text.len();
            text = crate::text::truncate::to_bytes(&text, MAX_BYTES);
            text.push_str(&format!("\n[cut: the text has {n_bytes} bytes]"));
        }
        Self {
            title: super::wrap::one_line(title),
            text,
            form,
            both: None,
            laid_at: None,
            page: Page::default(),
        }
    }

    /// Opens the user's text and the agent's.
    pub fn both(versions: &[Versions]) -> Self {
        let pairs = versions.iter().flat_map(Versions::pairs).collect();
        Self::compared("both texts", pairs)
    }

    /// Opens texts to be compared.
    pub fn compared(title: &str, pairs: Vec<Pair>) -> Self {
        let mut pager = Self {
            both: Some(Both {
                title: title.to_owned(),
                pairs,
                form: versions::Form::Sides,
            }),
            ..Self::new("", "", Form::Markdown)
        };
        pager.turn();
        pager
    }

    /// Shows two texts the other way; says whether there are two.
    pub fn turn(&mut self) -> bool {
        let Some(both) = &mut self.both else {
            return false;
        };
        both.form = both.form.other();
        self.laid_at = None;
        true
    }

    /// The title, with the keys that matter here.
    fn heading(&self, keymap: &Keymap) -> String {
        let key = |action| keymap.named(action, IsWriting::No);
        let title = match &self.both {
            None => self.title.clone(),
            Some(both) => {
                let other = match both.form {
                    versions::Form::Diff => "side by side",
                    versions::Form::Sides => "as a diff",
                };
                format!("{}, {}: {other}", both.title, key("view"))
            }
        };
        format!("▤ {title}  ({} closes)", key("close"))
    }

    /// Moves the view.
    pub fn scroll(&mut self, to: Move) {
        self.page.scroll(to);
    }

    /// Draws the title and the visible lines.
    pub fn draw(&mut self, frame: &mut Frame, area: Rect, keymap: &Keymap) {
        let columns = usize::from(area.width);
        if self.laid_at != Some(columns) {
            self.laid_at = Some(columns);
            self.page.set_lines(match &self.both {
                Some(both) => both
                    .pairs
                    .iter()
                    .flat_map(|pair| pair.lay_out(both.form, columns))
                    .collect(),
                None => lay_out(&self.text, self.form, columns),
            });
        }
        let heading = self.heading(keymap);
        frame.render_widget(Line::styled(cut(&heading, columns), theme::STRONG), area);
        let below = Rect {
            y: area.y.saturating_add(1),
            height: area.height.saturating_sub(1),
            ..area
        };
        self.page.name_keys(keymap);
        self.page.draw(frame, below);
    }
}

fn lay_out(text: &str, form: Form, columns: usize) -> Vec<Line<'static>> {
    match form {
        Form::Keys => {
            let indent = if columns >= 72 {
                super::help::INDENT
            } else {
                4
            };
            let wrapped = |line| wrap(&[Span::raw(line)], columns, indent);
            let prose = |line| wrap(&[Span::raw(line)], columns, 0);
            text.lines()
                .flat_map(|line: &str| {
                    if line.starts_with(' ') {
                        wrapped(line)
                    } else {
                        prose(line)
                    }
                })
                .collect()
        }
        Form::Markdown => markdown::lay_out(text, columns, theme::PLAIN),
        Form::Plain => text
            .lines()
            .flat_map(|line| wrap(&[Span::raw(line)], columns, markdown::hanging(line)))
            .collect(),
    }
}
