//! The row into which reads and searches are folded that follow each other without a word between them.
//!
//! `block_list` decides which calls it has.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use crate::domain::event::ToolKind;
use crate::domain::event_wording::short_path;
use crate::text::pluralize;
use crate::tui::text_wrap::{text_width, truncate_middle};
use crate::tui::theme;

/// Whether a block is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldState {
    #[default]
    Folded,
    Open,
}

/// How many names a fold keeps; a row has no room for more.
const MAX_NAMES: usize = 16;

/// The row of a fold; the first block of the fold has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFold {
    n_files: usize,
    n_searches: usize,
    /// Paths and what was searched for, each once, up to a number of them.
    names: Vec<String>,
    /// Whether the calls are shown below the row.
    pub folding: FoldState,
}

impl ReadFold {
    pub(super) fn new<'a>(
        calls: impl Iterator<Item = (&'a ToolKind, &'a str)>,
        folding: FoldState,
    ) -> Self {
        let (mut seen, mut fold) = (
            BTreeSet::new(),
            Self {
                n_files: 0,
                n_searches: 0,
                names: Vec::new(),
                folding,
            },
        );
        for (tool, subject) in calls {
            let is_read = *tool == ToolKind::Read;
            if !seen.insert((is_read, subject)) {
                continue;
            }
            if is_read {
                fold.n_files += 1;
            } else {
                fold.n_searches += 1;
            }
            if fold.names.len() < MAX_NAMES {
                let name = if is_read {
                    short_path(subject)
                } else {
                    subject.to_owned()
                };
                fold.names.push(name);
            }
        }
        fold
    }

    /// Removes a folder from the beginning of its names; returns whether one had it.
    pub(super) fn relativize_paths(&mut self, root: &str) -> bool {
        let mut differs = false;
        for name in &mut self.names {
            if let Some(below) = name.strip_prefix(root) {
                *name = below.to_owned();
                differs = true;
            }
        }
        differs
    }

    /// Renders its row: how many files and searches, and as many names as fit.
    pub(super) fn line(&self, columns: usize) -> Line<'static> {
        let sign = match (self.folding, self.n_files) {
            (FoldState::Open, _) => "▾ ",
            (FoldState::Folded, 0) => "⌕ ",
            (FoldState::Folded, _) => "→ ",
        };
        let searches = match self.n_searches {
            1 => "1 search".to_owned(),
            n => format!("{n} searches"),
        };
        let files = format!("Read {}", pluralize(self.n_files, "file"));
        let counts = match (self.n_files, self.n_searches) {
            (0, _) => searches,
            (_, 0) => files,
            _ => format!("{files}, {searches}"),
        };
        let head = format!("{sign}{counts}  ");
        let names = self.fitting_names(columns.saturating_sub(text_width(&head)));
        Line::from(vec![
            Span::styled(head, theme::QUIET),
            Span::styled(names, theme::PLAIN),
        ])
    }

    /// Returns the first names that fit, at least a part of one, and the number of the others.
    fn fitting_names(&self, columns: usize) -> String {
        let n_all = self.n_files + self.n_searches;
        let joined = |n: usize| {
            let rest = match n_all - n {
                0 => String::new(),
                n_more => format!(" +{n_more}"),
            };
            (self.names[..n].join(", "), rest)
        };
        let counts = (1..=self.names.len()).rev();
        let mut forms = counts.map(joined);
        let fits =
            |(names, rest): &(String, String)| text_width(names) + text_width(rest) <= columns;
        match forms.find(fits) {
            Some((names, rest)) => names + &rest,
            None if self.names.is_empty() => String::new(),
            None => {
                let (first, rest) = joined(1);
                truncate_middle(&first, columns.saturating_sub(text_width(&rest))) + &rest
            }
        }
    }
}
