//! Where the view stands in the stream: at its end, or at a line of a block.
//!
//! Refuses to know what blocks hold; it asks for the height of those it passes and of no other.

/// Where the view stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TranscriptScrollPosition {
    /// The block and its line at the top of the window; `None` follows the end.
    top: Option<(usize, usize)>,
    /// Lines to go that were asked for since the last frame; negative is up.
    pending_lines: isize,
    /// The block that changes its height, and the row of the window where it begins: it stays there.
    anchor: Option<(usize, usize)>,
}

/// What a window looks onto.
pub struct ScrollWindow<Height> {
    /// How many blocks there are.
    pub n_blocks: usize,
    /// The number of the first.
    pub first: usize,
    /// The window's height.
    pub rows: usize,
    /// The height of a block by its place, at least 0.
    pub height: Height,
}

impl TranscriptScrollPosition {
    /// Stands at a line of a block.
    pub fn at_line(block: usize, line: usize) -> Self {
        Self {
            top: Some((block, line)),
            ..Self::default()
        }
    }

    /// Has a block begin at a row of the window with the next frame, where more than a window would follow it.
    pub fn anchor_block(&mut self, block: usize, row: usize) {
        self.anchor = Some((block, row));
    }

    /// Tells whether the end is followed.
    pub fn follows_end(&self) -> bool {
        self.top.is_none() && self.pending_lines >= 0
    }

    /// Asks for a move; carried out with the next frame, where widths are known.
    pub fn scroll_by(&mut self, n_lines: isize) {
        self.pending_lines = self.pending_lines.saturating_add(n_lines);
    }

    /// Follows the end where the block it stands at is gone.
    pub fn follow_end_if_gone(&mut self, gone: usize, end: usize) {
        if self
            .top
            .is_some_and(|(block, _)| block >= gone && block >= end)
        {
            self.top = None;
        }
    }

    /// Carries the wish out and gives the place of the first visible block with the lines of it to skip.
    pub fn resolve<H: FnMut(usize) -> usize>(
        &mut self,
        window: &mut ScrollWindow<H>,
    ) -> (usize, usize) {
        let wish = std::mem::take(&mut self.pending_lines);
        let end = end_position(window);
        self.apply_anchor(window, end);
        let Some(start) = self.start_position(window, end, wish) else {
            return end;
        };
        let moved = move_lines(window, start, wish);
        if moved >= end {
            self.top = None;
            return end;
        }
        self.top = Some((moved.0 + window.first, moved.1));
        moved
    }

    /// A view that follows the end, and would so lose the beginning of the block that is held, stays there instead.
    fn apply_anchor<H: FnMut(usize) -> usize>(
        &mut self,
        window: &mut ScrollWindow<H>,
        end: (usize, usize),
    ) {
        let Some((block, row)) = self.anchor.take().filter(|_| self.top.is_none()) else {
            return;
        };
        let Some(at) = block.checked_sub(window.first) else {
            return;
        };
        if (at, 0) < end {
            let up = isize::try_from(row).unwrap_or(0).saturating_neg();
            let (at, line) = move_lines(window, (at, 0), up);
            self.top = Some((at + window.first, line));
        }
    }

    fn start_position<H: FnMut(usize) -> usize>(
        &self,
        window: &mut ScrollWindow<H>,
        end: (usize, usize),
        wish: isize,
    ) -> Option<(usize, usize)> {
        match self.top {
            None if wish < 0 => Some(end),
            None => None,
            Some((block, _)) if block < window.first => Some((0, 0)),
            Some((block, line)) => {
                let at = block - window.first;
                if at >= window.n_blocks {
                    return None;
                }
                // A block may have become shorter with another width.
                Some((at, line.min((window.height)(at).saturating_sub(1))))
            }
        }
    }
}

/// The top of the window that shows the end.
fn end_position<H: FnMut(usize) -> usize>(window: &mut ScrollWindow<H>) -> (usize, usize) {
    let mut left = window.rows;
    for at in (0..window.n_blocks).rev() {
        let height = (window.height)(at);
        if height >= left {
            return (at, height - left);
        }
        left -= height;
    }
    (0, 0)
}

fn move_lines<H: FnMut(usize) -> usize>(
    window: &mut ScrollWindow<H>,
    from: (usize, usize),
    wish: isize,
) -> (usize, usize) {
    let (mut at, line) = from;
    let mut line = line.saturating_add_signed(wish.max(0));
    let mut up = wish.min(0).unsigned_abs();
    while up > line && at > 0 {
        up -= line + 1;
        at -= 1;
        line = (window.height)(at).saturating_sub(1);
    }
    line = line.saturating_sub(up);
    while at < window.n_blocks {
        let height = (window.height)(at);
        if line < height {
            break;
        }
        line -= height;
        at += 1;
    }
    (at, line)
}
