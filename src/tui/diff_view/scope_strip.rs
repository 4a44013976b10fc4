//! The strip of selectable diffs: `Changes  All  Step 1  Step 2  Plan`.

use ratatui::text::{Line, Span};

use crate::domain::diff_scope::DiffScope;
use crate::tui::clickable_keys;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme;

/// Between two diffs.
const GAP: usize = 2;

/// The laid-out strip and its clickable areas.
pub struct ScopeStrip {
    pub line: Line<'static>,
    /// For each diff in the strip: its first column, its width, its scope.
    pub hit_areas: Vec<(usize, usize, DiffScope)>,
}

/// Lays out the strip with the selected diff marked; if not all fit, those around it. `back` is the key to
/// the pending dialog.
pub fn lay_out_strip(
    scopes: &[DiffScope],
    chosen: DiffScope,
    waits: Option<&str>,
    back: &str,
    columns: usize,
) -> ScopeStrip {
    let hint = waits.map_or(String::new(), |_| format!(" ({back} back) "));
    let hint_columns = text_width(&hint);
    let what = waits.map_or(String::new(), |waits| {
        let room = (columns / 2).saturating_sub(hint_columns);
        truncate_to_columns(&format!(" ? {waits}"), room)
    });
    let mark_columns = text_width(&what) + hint_columns;
    let lead = "Changes  ";
    let room = columns.saturating_sub(text_width(lead) + mark_columns + 4);
    let words: Vec<String> = scopes.iter().copied().map(scope_label).collect();
    let at = scopes
        .iter()
        .position(|scope| *scope == chosen)
        .unwrap_or(0);
    let (from, to) = range_around(&words, at, room);
    let mut spans = vec![Span::styled(lead, theme::STRONG)];
    spans.extend((from > 0).then(|| Span::styled("‹ ", theme::QUIET)));
    let mut places = Vec::new();
    for (n, (text, scope)) in words.iter().zip(scopes).enumerate().take(to).skip(from) {
        if n > from {
            spans.push(Span::raw(" ".repeat(GAP)));
        }
        let style = if n == at { theme::PICKED } else { theme::PLAIN };
        let begins = spans.iter().map(|span| text_width(&span.content)).sum();
        places.push((begins, text_width(text), *scope));
        spans.push(Span::styled(text.clone(), style));
    }
    spans.extend((to < words.len()).then(|| Span::styled(" ›", theme::QUIET)));
    let used: usize = spans.iter().map(|span| text_width(&span.content)).sum();
    let gap = columns.saturating_sub(used + mark_columns);
    spans.push(Span::raw(" ".repeat(gap)));
    spans.push(Span::styled(what, theme::NEEDS_YOU));
    spans.extend(clickable_keys::hint_spans(&hint, theme::NEEDS_YOU));
    ScopeStrip {
        line: Line::from(spans),
        hit_areas: places,
    }
}

fn scope_label(scope: DiffScope) -> String {
    match scope {
        DiffScope::All => "All".to_owned(),
        DiffScope::Step(n) => format!("Step {n}"),
        DiffScope::Plan => "Plan".to_owned(),
    }
}

/// Returns the widest range around `at` that fits.
fn range_around(words: &[String], at: usize, room: usize) -> (usize, usize) {
    let (mut from, mut to) = (at, (at + 1).min(words.len()));
    let mut used = words.get(at).map_or(0, |word| text_width(word));
    loop {
        let before = from.checked_sub(1).and_then(|n| words.get(n));
        let after = words.get(to);
        let fits = |word: &&String| used + GAP + text_width(word) <= room;
        if let Some(word) = after.filter(fits) {
            used += text_width(word) + GAP;
            to += 1;
        } else if let Some(word) = before.filter(fits) {
            used += text_width(word) + GAP;
            from -= 1;
        } else {
            return (from, to);
        }
    }
}
