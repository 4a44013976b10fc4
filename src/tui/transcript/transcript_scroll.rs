//! The scroll position in the stream: at its end, or at a line of a block.
//!
//! It only computes the heights of the blocks it passes, because laying out a block is expensive.

/// The scroll position in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TranscriptScrollPosition {
    /// The block and its line at the top of the window; `None` follows the end.
    top: Option<(usize, usize)>,
    /// Lines to scroll that were requested since the last frame; negative is up.
    pending_lines: isize,
    /// The block that changes its height, and the window row where it starts and must stay.
    anchor: Option<(usize, usize)>,
}

/// The blocks and the window that a position is resolved against.
pub struct ScrollWindow<Height> {
    /// The number of blocks.
    pub n_blocks: usize,
    /// The number of the first block.
    pub first: usize,
    pub rows: usize,
    /// Returns the height of a block by its index.
    pub height: Height,
}

impl TranscriptScrollPosition {
    /// Creates a position at a line of a block.
    pub fn at_line(block: usize, line: usize) -> Self {
        Self {
            top: Some((block, line)),
            ..Self::default()
        }
    }

    /// Keeps a block at a window row in the next frame, if more than a window of lines follows it.
    pub fn anchor_block(&mut self, block: usize, row: usize) {
        self.anchor = Some((block, row));
    }

    /// Returns whether the view follows the end.
    pub fn follows_end(&self) -> bool {
        self.top.is_none() && self.pending_lines >= 0
    }

    /// Requests a move, which the next frame carries out, because only then the widths are known.
    pub fn scroll_by(&mut self, n_lines: isize) {
        self.pending_lines = self.pending_lines.saturating_add(n_lines);
    }

    /// Follows the end if the block at the top was removed.
    pub fn follow_end_if_gone(&mut self, gone: usize, end: usize) {
        if self
            .top
            .is_some_and(|(block, _)| block >= gone && block >= end)
        {
            self.top = None;
        }
    }

    /// Carries out the requested move; returns the index of the first visible block and how many of its
    /// lines to skip.
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
        // A view that was scrolled to the end follows it from then on.
        if moved >= end {
            self.top = None;
            return end;
        }
        self.top = Some((moved.0 + window.first, moved.1));
        moved
    }

    /// Stops following the end if that would scroll the start of the anchored block out of the window.
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
                // At another width, the block may have fewer lines.
                Some((at, line.min((window.height)(at).saturating_sub(1))))
            }
        }
    }
}

/// Returns the top of a window that shows the end.
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
        // Some blocks have no rows of their own.
        while at > 0 && (window.height)(at) == 0 {
            at -= 1;
        }
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
