//! The footer: a word to the user, or the keys that make sense now, out of the keymap.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Screen;
use super::command::Command;
use super::hints;
use super::keymap::{Context, Hint, IsWriting};
use super::read_only::{acts, is_calm};
use super::sheet::{Choice, Sheet, Then};
use super::tabs::{self, Tab};
use super::theme;
use super::useful::is_useful;
use super::wrap::{cut, width, wrap};
use crate::domain::run::RunState;

/// How many rows a word to the user takes at most.
const MOST_ROWS: usize = 3;

/// Where a hint stands, and what its key does.
pub type Buttons = Vec<(Rect, Command)>;

/// Draws the line; gives where the keys stand, for the mouse.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
    sheet: Option<&Sheet>,
) -> Buttons {
    if area.is_empty() {
        return Buttons::new();
    }
    let columns = usize::from(area.width);
    if screen.quitting {
        let key = screen.keymap().named("quit", screen.writing);
        let long =
            format!(" you leave: the turn is asked to end, all is saved · {key} again kills now");
        let text = match width(&long) <= columns {
            true => long,
            false => format!(" leaving · {key} again kills now"),
        };
        frame.render_widget(Line::styled(cut(&text, columns), theme::STRONG), area);
        return Buttons::new();
    }
    if let Some(toast) = &screen.toast {
        let lines = word_lines(screen, toast, columns, usize::from(area.height));
        frame.render_widget(Paragraph::new(lines), area);
        return Buttons::new();
    }
    let mut hints = Hints::new(area);
    if screen.palette.is_some() {
        for (keys, what) in [("↑↓", "choose"), ("Enter", "do it"), ("Esc", "close")] {
            hints.add_word(keys, what);
        }
        frame.render_widget(Line::from(hints.spans), area);
        return hints.buttons;
    }
    // Of a run that is only asked about nothing can be done yet.
    let state = state.filter(|_| screen.unfinished.is_none());
    let view = view(screen);
    match view {
        Some(view @ (Context::Diff | Context::Find)) => {
            let all = screen.keymap().hints_of(view);
            all.into_iter().for_each(|hint| hints.add(hint));
        }
        Some(Context::Board) => {
            let all = screen.hints_of_board(state);
            all.into_iter().for_each(|hint| hints.add(hint));
        }
        _ => add_hints(&mut hints, screen, state, sheet),
    }
    frame.render_widget(Line::from(hints.spans), area);
    hints.buttons
}

/// How many rows the footer takes of a window: one, or a few where a word to the user needs them.
pub fn n_rows(screen: &Screen, window: Rect) -> usize {
    let most = match window.height {
        0..3 => return 0,
        3..8 => 1,
        8..12 => 2,
        12.. => MOST_ROWS,
    };
    let columns = usize::from(window.width);
    match &screen.toast {
        Some(toast) if !screen.quitting => word_lines(screen, toast, columns, most).len().max(1),
        _ => 1,
    }
}

/// A word to the user, in that many rows at most.
fn word_lines(screen: &Screen, word: &str, columns: usize, most: usize) -> Vec<Line<'static>> {
    let text = format!(" {word}");
    let in_row = |text: &str| match screen.naming_keys.as_deref() == Some(word) {
        true => hints::spans(text, theme::STRONG),
        false => vec![Span::styled(text.to_owned(), theme::STRONG)],
    };
    if most < 2 {
        return vec![Line::from(in_row(&cut(&text, columns)))];
    }
    let mut lines = wrap(&in_row(&text), columns, 1);
    if lines.len() > most {
        let rest: Vec<String> = lines
            .drain(most - 1..)
            .map(|line| line.to_string())
            .collect();
        let rest: Vec<&str> = rest.iter().map(|line| line.trim()).collect();
        let last = cut(&format!(" {}", rest.join(" ")), columns);
        lines.push(Line::styled(last, theme::STRONG));
    }
    lines
}

/// The view that takes the keys, where one does.
fn view(screen: &Screen) -> Option<Context> {
    match (&screen.find, &screen.pager, &screen.diff) {
        (Some(_), ..) => Some(Context::Find),
        (None, Some(_), _) if screen.writing == IsWriting::No => Some(Context::Text),
        (None, None, Some(_)) => Some(Context::Diff),
        (None, None, None) if screen.is_board() => Some(Context::Board),
        _ => None,
    }
}

/// Keys with what they do, as many as fit.
struct Hints {
    spans: Vec<Span<'static>>,
    left: usize,
    /// For which one room is kept.
    kept: Option<&'static str>,
    /// Where they stand, and where the next one does.
    buttons: Buttons,
    next: Rect,
}

impl Hints {
    fn new(area: Rect) -> Self {
        Self {
            spans: Vec::new(),
            left: usize::from(area.width),
            kept: None,
            buttons: Vec::new(),
            next: Rect { height: 1, ..area },
        }
    }

    /// Keeps room for one.
    fn keep(&mut self, hint: &Hint) {
        let needed = needed(hint);
        if needed <= self.left {
            self.kept = Some(hint.what);
            self.left -= needed;
        }
    }

    fn add(&mut self, hint: Hint) {
        let needed = needed(&hint);
        match self.kept {
            Some(kept) if kept == hint.what => self.kept = None,
            _ if needed > self.left => return,
            _ => self.left -= needed,
        }
        let n_keys = hint.keys.len();
        self.push(Span::raw(" "));
        for (n, (key, command)) in hint.keys.into_iter().enumerate() {
            let is_last = n + 1 == n_keys;
            let from = self.next.x;
            self.push(Span::styled(key, theme::KEY));
            match is_last {
                true => self.push(Span::styled(format!(" {} ", hint.what), theme::QUIET)),
                false => self.push(Span::raw(" ")),
            }
            let place = Rect {
                x: from,
                width: self.next.x - from,
                ..self.next
            };
            self.buttons.push((place, command));
        }
    }

    fn push(&mut self, span: Span<'static>) {
        let columns = u16::try_from(width(&span.content)).unwrap_or(u16::MAX);
        self.next.x = self.next.x.saturating_add(columns);
        self.spans.push(span);
    }

    /// Says a word about keys that are always the same.
    fn add_word(&mut self, keys: &'static str, what: &str) {
        let needed = width(keys) + width(what) + 3;
        if needed <= self.left {
            self.left -= needed;
            self.push(Span::raw(" "));
            let (first, others) = keys.split_once(' ').unwrap_or((keys, ""));
            let others = if others.is_empty() {
                ""
            } else {
                &keys[first.len()..]
            };
            self.push(Span::styled(first, hints::marked(theme::KEY)));
            self.push(Span::styled(others, theme::KEY));
            self.push(Span::styled(format!(" {what} "), theme::QUIET));
        }
    }
}

/// How many columns a hint takes.
fn needed(hint: &Hint) -> usize {
    width(&hint.names()) + width(hint.what) + 3
}

fn add_hints(line: &mut Hints, screen: &Screen, state: Option<&RunState>, sheet: Option<&Sheet>) {
    let keymap = screen.keymap();
    // What explains all others is the last to go.
    if let Some(hint) = hint_of(screen, "help", "help") {
        line.keep(&hint);
    }
    if screen.pager.is_some() && screen.writing == IsWriting::No {
        let all = keymap.hints_of(Context::Text);
        all.into_iter().for_each(|hint| line.add(hint));
    } else {
        if sheet.is_some() && screen.writing == IsWriting::No {
            let is_pick =
                |choice: &Choice| matches!(choice.then, Then::Pick(_) | Then::Tick { .. });
            match sheet.is_some_and(|sheet| sheet.choices.iter().any(is_pick)) {
                true => line.add_word("↑↓ 1-9", "choose"),
                false => line.add_word("↑↓", "choose"),
            }
            if screen.own.is_some() {
                line.add_word("Esc", "back");
            }
        }
        if screen.is_read_only() && sheet.is_none() {
            let close = keymap.hints_of(Context::Text).into_iter().next();
            close.into_iter().for_each(|hint| line.add(hint));
        }
    }
    for row in keymap
        .rows()
        .filter(|(binding, _)| !binding.hint.is_empty())
    {
        let (binding, _) = row;
        if binding.hint == "tabs" && screen.helped.offers() {
            // Tab takes what is offered.
            continue;
        }
        let is_free = |hint: &Hint| !is_the_dialogs(hint, screen, sheet);
        let is_tab =
            screen.own.is_none() && screen.pager.is_none() && screen.writing == IsWriting::No;
        if binding.hint == "edit" && is_tab {
            let hints = of_tab(screen, state).into_iter();
            hints.filter(is_free).for_each(|hint| line.add(hint));
        }
        let hint = hint_of(screen, binding.name, binding.hint);
        let lies_over =
            (screen.own.is_some() || screen.pager.is_some()) && screen.writing == IsWriting::No;
        let is_free = |hint: &Hint| {
            let is_calm = hint.keys.iter().all(|(_, command)| is_calm(command));
            is_free(hint) && (is_calm || !lies_over)
        };
        let hint = hint.filter(is_free);
        if let Some(hint) = hint.filter(|hint| is_at_hand(hint, screen, state, sheet)) {
            line.add(hint);
        }
    }
    let is_read = screen.own.is_none() && screen.pager.is_none() && screen.writing == IsWriting::No;
    if screen.tab_at_hand() == Tab::Chat && is_read && sheet.is_none() {
        of_chat(screen).into_iter().for_each(|hint| line.add(hint));
    }
}

/// How the chat is read; other keys come first, since it is also read by scrolling.
fn of_chat(screen: &Screen) -> Vec<Hint> {
    let names: tabs::Hints = match screen.transcript.is_empty() {
        true => &[],
        false => tabs::READ,
    };
    let keymap = screen.keymap();
    let keys = |actions: &&[&str]| {
        let keys = actions.iter();
        keys.filter_map(|action| keymap.key_of(action, screen.writing))
            .collect()
    };
    let hints = names.iter().map(|(actions, what)| Hint {
        keys: keys(actions),
        what,
    });
    hints.filter(|hint| !hint.keys.is_empty()).collect()
}

/// What is useful in the tab alone.
fn of_tab(screen: &Screen, state: Option<&RunState>) -> Vec<Hint> {
    let tab = screen.tab_at_hand();
    let is_compared = tab == Tab::Plan && screen.plan.against().is_some();
    let own = match is_compared {
        true => tabs::COMPARED,
        false => tab.hints(),
    };
    let hints = own.iter().map(|(actions, what)| Hint {
        keys: actions
            .iter()
            .filter_map(|action| screen.keymap().key_of(action, screen.writing))
            .collect(),
        what,
    });
    let is_there = |hint: &Hint| match (tab, hint.what) {
        (Tab::Plan, _) if screen.documents.plan.text.is_none() => false,
        (Tab::Comments, _) => state.is_some_and(|state| !state.findings.all().is_empty()),
        (Tab::Plan, "compare") => !screen.documents.earlier.is_empty(),
        (Tab::Plan, "its diff") => state.is_some_and(|state| state.execution.is_some()),
        _ => !hint.keys.is_empty(),
    };
    let is_useful = |hint: &Hint| is_there(hint) && is_at_hand(hint, screen, state, None);
    hints.filter(is_useful).collect()
}

fn hint_of(screen: &Screen, action: &str, what: &'static str) -> Option<Hint> {
    let key = screen.keymap().key_of(action, screen.writing)?;
    Some(Hint {
        keys: vec![key],
        what,
    })
}

/// Tells whether its key is a letter of the open dialog, which names it itself.
fn is_the_dialogs(hint: &Hint, screen: &Screen, sheet: Option<&Sheet>) -> bool {
    let sheet = sheet.filter(|_| screen.writing == IsWriting::No);
    let choices = sheet.map_or(&[][..], |sheet| &sheet.choices);
    let is_letter = |name: &str| {
        choices
            .iter()
            .any(|one| one.key.to_uppercase().eq(name.chars()))
    };
    hint.keys.iter().any(|(name, _)| is_letter(name))
}

/// Tells whether what its keys do has something to do here.
fn is_at_hand(
    hint: &Hint,
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&Sheet>,
) -> bool {
    hint.keys.iter().all(|(_, command)| {
        if *command == Command::Resume {
            return screen.again().is_some();
        }
        if *command == Command::OtherPane {
            return screen.places.side.is_some();
        }
        is_useful(command, state, sheet) && !(screen.is_read_only() && acts(command))
    })
}
