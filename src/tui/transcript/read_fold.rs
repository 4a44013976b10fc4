//! Folds reads and searches that follow each other without a word between them into one row, which opens to them.
//!
//! Each keeps its block, so that it can be selected and opened by itself. A call that runs, waits, failed or was denied is
//! never in a fold.

use std::collections::BTreeSet;
use std::ops::Range;

use ratatui::text::{Line, Span};

use super::ChatTranscript;
use super::block_layout::BlockVisibility;
use super::tool_call_card::ToolCallCard;
use super::transcript_block::{FoldState, TranscriptBlock};
use crate::domain::event::ToolKind;
use crate::domain::event_wording::short_path;
use crate::text::pluralize;
use crate::tui::text_wrap::{text_width, truncate_middle};
use crate::tui::theme;

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
    fn new<'a>(calls: impl Iterator<Item = (&'a ToolKind, &'a str)>, folding: FoldState) -> Self {
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

impl TranscriptBlock {
    /// Returns the kind and the subject of its call if that is a read or a search that succeeded.
    fn finished_read(&self) -> Option<(&ToolKind, &str)> {
        self.card().and_then(ToolCallCard::finished_read)
    }
}

impl ChatTranscript {
    /// Updates the folds around a block that was added or has changed.
    pub(super) fn refold_reads(&mut self, at: usize) {
        for at in at.saturating_sub(1)..=at.saturating_add(1) {
            if at < self.blocks.len() {
                let run = self.read_run(at);
                self.fold_run(run);
            }
        }
    }

    /// Returns the reads and searches around one that follow each other, or just this block.
    fn read_run(&self, at: usize) -> Range<usize> {
        let joins = |at: usize| {
            let (Some(before), Some(block)) = (
                at.checked_sub(1).and_then(|before| self.blocks.get(before)),
                self.blocks.get(at),
            ) else {
                return false;
            };
            // A name stands above the first row of what its author does.
            let is_next = block.author == before.author && !block.is_named;
            is_next && block.finished_read().is_some() && before.finished_read().is_some()
        };
        let mut run = at..at + 1;
        while joins(run.start) {
            run.start -= 1;
        }
        while joins(run.end) {
            run.end += 1;
        }
        run
    }

    fn fold_run(&mut self, run: Range<usize>) {
        let blocks = self.blocks.range(run.clone());
        let is_open = |block: &TranscriptBlock| {
            let fold = block.reads.as_ref().map(|reads| reads.folding);
            fold == Some(FoldState::Open) || block.is_opened()
        };
        let folding = if blocks.clone().any(is_open) {
            FoldState::Open
        } else {
            FoldState::Folded
        };
        let calls = blocks.filter_map(TranscriptBlock::finished_read);
        let fold = (run.len() > 1).then(|| ReadFold::new(calls, folding));
        let is_hidden = fold.is_some() && folding == FoldState::Folded;
        let rest = match &fold {
            None => BlockVisibility::Shown,
            Some(_) if is_hidden => BlockVisibility::Folded,
            Some(_) => BlockVisibility::Unfolded,
        };
        let first = self.first + run.start;
        for (n, block) in self.blocks.range_mut(run.clone()).enumerate() {
            block.set_reads(fold.clone().filter(|_| n == 0));
            if block.visibility != BlockVisibility::ShownElsewhere {
                block.visibility = if n > 0 { rest } else { BlockVisibility::Shown };
            }
        }
        let hidden = first + 1..self.first + run.end;
        if is_hidden
            && self
                .selected_block
                .is_some_and(|picked| hidden.contains(&picked))
        {
            self.selected_block = Some(first);
        }
    }

    /// Opens the fold at a block, or the block's own call if the fold is open, and folds both after that. Returns whether
    /// there is a fold.
    pub(super) fn toggle_read_fold(&mut self, number: usize) -> bool {
        let at = number.wrapping_sub(self.first);
        let thinking = self.thinking;
        let Some(block) = self.blocks.get_mut(at) else {
            return false;
        };
        let folding = match block.reads.as_ref().map(|fold| fold.folding) {
            None => return false,
            Some(FoldState::Folded) => FoldState::Open,
            Some(FoldState::Open) if !block.is_opened() && block.toggle_fold(thinking) => {
                return true;
            }
            Some(FoldState::Open) => FoldState::Folded,
        };
        self.set_read_fold(number, folding)
    }

    /// Opens or folds the fold that a block is in; returns whether that changed something.
    pub(super) fn set_read_fold(&mut self, number: usize, folding: FoldState) -> bool {
        let at = number.wrapping_sub(self.first);
        if at >= self.blocks.len() {
            return false;
        }
        let run = self.read_run(at);
        let first = self.blocks.get(run.start);
        let before = first
            .and_then(|block| block.reads.as_ref())
            .map(|fold| fold.folding);
        if before.is_none_or(|before| before == folding) {
            return false;
        }
        for block in self.blocks.range_mut(run.clone()) {
            if folding == FoldState::Folded {
                block.close();
            }
            if let Some(fold) = block.reads.take() {
                block.set_reads(Some(ReadFold { folding, ..fold }));
            }
        }
        self.fold_run(run);
        true
    }

    /// Returns the text of the calls of a fold that is not open.
    pub(super) fn folded_text(&self, at: usize) -> Option<String> {
        let fold = self.blocks.get(at)?.reads.as_ref()?;
        (fold.folding == FoldState::Folded).then(|| {
            let blocks = self.blocks.range(self.read_run(at));
            let texts: Vec<String> = blocks.map(|block| block.content.to_text()).collect();
            texts.join("\n")
        })
    }
}
