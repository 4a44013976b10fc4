//! The end of a run as a card of the stream: what came of it, and while it is the run at hand what can be done now.
//!
//! Refuses to know the run's state: what it says is handed in. It stays where its run ended when another one begins.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Transcript;
use super::block::{Block, Content, Who};
use crate::domain::ids::RunId;
use crate::tui::wrap::{cut, width, wrap, wrap_to};
use crate::tui::{hints, theme};

/// How wide the card gets.
const WIDEST: usize = 100;
/// Below how many columns it is a line.
const NARROW: usize = 20;
/// Below how many rows it is a line.
const LEAST: usize = 5;
/// How many columns its frame takes.
const FRAME: usize = 4;
/// How wide a card is in which keys are named at length.
const ROOMY: usize = 56;
/// How many rows of the window stay above it, where it has that many.
const ABOVE: usize = 3;
/// Below how many rows of the window the card may take all of them.
const LOW: usize = 14;

/// Lines of the card that stay or go together; what gives way first has the highest rank.
type Part = (u8, Vec<Line<'static>>);

/// How a run ended; all texts are drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// Which run.
    pub run: RunId,
    /// What stands in the frame, and how it is written.
    pub head: (&'static str, Style),
    /// The goal's title.
    pub title: Option<String>,
    /// What was done and how it was checked.
    pub said: Vec<(String, Style)>,
    /// How many reviews, how long, how much.
    pub counts: String,
    /// What can be done now.
    pub keys: Vec<Key>,
    /// The command that merges what was committed.
    pub merge: Option<String>,
    /// How many rows it may have.
    pub rows: usize,
}

/// A key with what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// What it does.
    pub does: &'static str,
    /// The same where there is little room.
    pub in_short: &'static str,
}

impl Transcript {
    /// Shows at the end of the stream how the run at hand ended; all that is told from here on stands before it.
    pub fn end_run(&mut self, ending: Ending) {
        let last = self.blocks.back_mut();
        let shown = last.filter(|last| last.ending().is_some_and(|shown| shown.run == ending.run));
        match shown {
            Some(block) => {
                let rows = block.ending().map_or(ending.rows, |shown| shown.rows);
                let ending = Ending { rows, ..ending };
                if block.ending() != Some(&ending) {
                    block.end_run(ending);
                    self.count();
                }
            }
            None => {
                self.leave_run();
                self.push_all(vec![Block::new(Who::System, Content::Ending(ending))]);
            }
        }
    }

    /// The run at hand is not over: where its end stood there, it goes on.
    pub fn go_on_with(&mut self, run: &RunId) {
        let is_its = |block: &mut Block| block.ending().is_some_and(|ending| ending.run == *run);
        if self.blocks.pop_back_if(is_its).is_some() {
            self.scroll.clamp(self.end(), self.end());
            self.count();
        } else {
            self.leave_run();
        }
    }

    /// No run is at hand: the last one's end stays as it is, and names no keys.
    pub fn leave_run(&mut self) {
        let Some(block) = self.blocks.back_mut() else {
            return;
        };
        let ending = block.ending().filter(|ending| ending.is_at_hand());
        if let Some(ending) = ending.cloned() {
            block.end_run(Ending {
                keys: Vec::new(),
                rows: usize::MAX,
                ..ending
            });
        }
    }

    /// Tells whether a run ended here.
    pub fn has_ending(&self) -> bool {
        self.blocks.iter().any(|block| block.ending().is_some())
    }

    /// The place of the end of the run at hand: before it stands all that is told.
    pub(super) fn place_of_ending(&self) -> Option<usize> {
        let last = self.blocks.back().and_then(Block::ending)?;
        let at = self.blocks.len().checked_sub(1);
        at.filter(|_| last.is_at_hand())
    }

    /// Lets the card of the run at hand have no more rows than a window.
    pub(super) fn fit_ending(&mut self, rows: usize) {
        let above = if rows < LOW { 0 } else { ABOVE };
        let rows = rows.saturating_sub(above);
        let Some(last) = self.blocks.back_mut() else {
            return;
        };
        let ending = last.ending().filter(|ending| ending.is_at_hand());
        if let Some(ending) = ending.filter(|ending| ending.rows != rows) {
            let ending = Ending {
                rows,
                ..ending.clone()
            };
            last.end_run(ending);
        }
    }
}

impl Ending {
    /// Tells whether its run is still the one at hand.
    fn is_at_hand(&self) -> bool {
        !self.keys.is_empty()
    }

    /// How many bytes of text it holds.
    pub fn n_bytes(&self) -> usize {
        self.text().len()
    }

    /// What it says, as one would copy it.
    pub fn text(&self) -> String {
        let said = self.said.iter().map(|(text, _)| text.as_str());
        let counts = [self.counts.as_str()];
        let parts = self.title.iter().map(String::as_str).chain(said);
        let parts = parts.chain(counts).chain(self.merge.as_deref());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts.join("\n")
    }

    /// Its lines, those that fit.
    pub fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        if columns < NARROW || self.rows < LEAST {
            let (head, style) = self.head;
            let title = self.title.as_deref().unwrap_or_default();
            let text = cut(&format!("{}: {title}", head.trim()), columns);
            return vec![Line::styled(text, style)];
        }
        let columns = columns.min(WIDEST);
        let inner = columns - FRAME;
        // A blank above it where there is room, and its frame.
        let n_blanks = usize::from(self.rows >= LOW);
        let lines = fitting(
            self.parts(inner),
            self.rows.saturating_sub(2 + n_blanks).max(2),
        );
        let (head, style) = self.head;
        let line = "─".repeat(columns.saturating_sub(width(head) + 2));
        let mut framed = vec![Line::default(); n_blanks];
        framed.push(Line::from(vec![
            Span::styled("╭", style),
            Span::styled(head, style.patch(theme::STRONG)),
            Span::styled(format!("{line}╮"), style),
        ]));
        framed.extend(lines.into_iter().map(|line| {
            let pad = " ".repeat(inner.saturating_sub(line.width()));
            let mut spans = vec![Span::styled("│ ", style)];
            spans.extend(line.spans);
            spans.extend([Span::raw(pad), Span::styled(" │", style)]);
            Line::from(spans)
        }));
        let line = "─".repeat(columns - 2);
        framed.push(Line::styled(format!("╰{line}╯"), style));
        framed
    }

    /// What it says, by what gives way first where it is low.
    fn parts(&self, columns: usize) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(title) = &self.title {
            let title = Span::styled(title.clone(), theme::STRONG);
            let mut title = wrap_to(&[title], columns, 0, 2).into_iter();
            parts.push((3, title.next().into_iter().collect()));
            parts.push((6, title.collect()));
        }
        for (text, style) in &self.said {
            let text = Span::styled(text.clone(), *style);
            parts.push((2, wrap(&[text], columns, 2)));
        }
        if !self.counts.is_empty() {
            let text = Span::styled(self.counts.clone(), theme::QUIET);
            parts.push((7, wrap(&[text], columns, 0)));
        }
        if !self.keys.is_empty() {
            parts.push((5, vec![Line::default()]));
            parts.push((0, in_rows(&self.keys, columns)));
        }
        let merge = self.merge.as_deref();
        parts.extend(merge.map(|command| (4, for_the_shell("merge", command, columns))));
        parts
    }
}

/// The lines that fit; those of the lowest rank stay.
fn fitting(mut parts: Vec<Part>, most: usize) -> Vec<Line<'static>> {
    let n_lines = |parts: &[Part]| parts.iter().map(|(_, lines)| lines.len()).sum::<usize>();
    while n_lines(&parts) > most {
        let ranks = parts.iter().map(|(rank, _)| *rank);
        match ranks.max().filter(|rank| *rank > 0) {
            // Of several the last one is the least.
            Some(rank) => {
                let at = parts.iter().rposition(|(of, _)| *of == rank);
                at.map(|at| parts.remove(at));
            }
            None => break,
        }
    }
    let lines = parts.into_iter().flat_map(|(_, lines)| lines);
    lines.take(most).collect()
}

/// A command for the user's shell, whole.
fn for_the_shell(what: &str, command: &str, columns: usize) -> Vec<Line<'static>> {
    let lead = format!("{what}  ");
    let indent = width(&lead);
    let spans = [
        Span::styled(lead, theme::QUIET),
        Span::styled(command.to_owned(), theme::CODE),
    ];
    wrap(&spans, columns, indent)
}

/// Keys with what they do, as many a row as fit.
fn in_rows(keys: &[Key], columns: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for key in keys {
        let does = match columns >= ROOMY {
            true => key.does,
            false => key.in_short,
        };
        let needed = width(&key.name) + width(does) + 4;
        if used > 0 && used + needed > columns {
            rows.push(Vec::new());
            used = 0;
        }
        used += needed;
        if let Some(row) = rows.last_mut() {
            row.push(Span::styled(key.name.clone(), hints::marked(theme::KEY)));
            row.push(Span::styled(
                format!(" {does}"),
                hints::marked(theme::PLAIN),
            ));
            row.push(Span::raw("   "));
        }
    }
    rows.into_iter().map(Line::from).collect()
}
