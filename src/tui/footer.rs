//! The footer: a word to the user, or the keys that make sense now, out of the keymap.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Screen;
use super::command::Command;
use super::diff;
use super::keymap::{Binding, IsWriting};
use super::read_only::acts;
use super::sheet::Sheet;
use super::theme;
use super::wrap::{cut, width};
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::QuestionKind;
use crate::domain::run::State;

/// Draws the line.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&State>,
    sheet: Option<&Sheet>,
) {
    if area.is_empty() {
        return;
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
        return;
    }
    if let Some(toast) = &screen.toast {
        let text = cut(&format!(" {toast}"), columns);
        frame.render_widget(Line::styled(text, theme::NEEDS_YOU), area);
        return;
    }
    let line = match screen.diff.is_some() && screen.pager.is_none() {
        true => diff_hints(columns),
        false => hints(screen, state, sheet, columns),
    };
    frame.render_widget(line, area);
}

/// The keys of the diff view.
fn diff_hints(columns: usize) -> Line<'static> {
    let mut line = Hints::new(columns);
    for key in diff::keys::KEYS.iter().filter(|key| !key.name.is_empty()) {
        line.add(key.name, key.hint);
    }
    Line::from(line.spans)
}

/// Keys with what they do, as many as fit.
struct Hints {
    spans: Vec<Span<'static>>,
    left: usize,
    /// For which one room is kept.
    kept: Option<String>,
}

impl Hints {
    fn new(columns: usize) -> Self {
        Self {
            spans: Vec::new(),
            left: columns,
            kept: None,
        }
    }

    /// Keeps room for one.
    fn keep(&mut self, key: &str, what: &str) {
        let needed = width(key) + width(what) + 3;
        if needed <= self.left {
            self.kept = Some(what.to_owned());
            self.left -= needed;
        }
    }

    fn add(&mut self, key: &str, what: &str) {
        let needed = width(key) + width(what) + 3;
        match &self.kept {
            Some(kept) if kept == what => self.kept = None,
            _ if needed > self.left => return,
            _ => self.left -= needed,
        }
        self.spans.push(Span::raw(" "));
        self.spans.push(Span::styled(key.to_owned(), theme::KEY));
        self.spans
            .push(Span::styled(format!(" {what} "), theme::QUIET));
    }
}

fn hints(
    screen: &Screen,
    state: Option<&State>,
    sheet: Option<&Sheet>,
    columns: usize,
) -> Line<'static> {
    let mut line = Hints::new(columns);
    if sheet.is_some() && screen.writing == IsWriting::No {
        line.add("↑↓", "choose");
    }
    if screen.is_read_only() && sheet.is_none() {
        line.add("Esc", "close");
    }
    let keymap = screen.keymap();
    // What explains all others is the last to go.
    let help = keymap.rows().find(|(binding, _)| binding.hint == "help");
    let help = help.and_then(|row| Some((keymap.shown(row, screen.writing)?, row.0.hint)));
    if let Some((key, hint)) = help {
        line.keep(&key.name(), hint);
    }
    for row in keymap
        .rows()
        .filter(|(binding, _)| !binding.hint.is_empty())
    {
        let (binding, _) = row;
        if binding.hint == "edit" && sheet.is_none() && screen.writing == IsWriting::No {
            for (key, what) in screen.tab.hints(screen.is_read_only()) {
                line.add(key, what);
            }
        }
        let is_useful = binding
            .command
            .is_some_and(|command| is_useful(&command(), state, sheet))
            && !(screen.is_read_only() && acts_here(binding));
        if let (true, Some(key)) = (is_useful, keymap.shown(row, screen.writing)) {
            line.add(&key.name(), binding.hint);
        }
    }
    Line::from(line.spans)
}

fn acts_here(binding: &Binding) -> bool {
    binding.command.is_some_and(|command| acts(&command()))
}

/// Tells whether a command has something to do now.
pub(super) fn is_useful(command: &Command, state: Option<&State>, sheet: Option<&Sheet>) -> bool {
    let phase = state.map(|state| state.phase);
    let gate = state
        .filter(|state| !state.phase.is_final())
        .map(|state| state.gate);
    match command {
        Command::Go => sheet.is_some_and(|sheet| sheet.choices.iter().any(|c| c.key == 'g')),
        Command::Auto => gate == Some(Gate::Manual),
        Command::Pause => gate == Some(Gate::Auto),
        Command::Steer(_) | Command::Interrupt => {
            state.is_some_and(|state| state.running.is_some())
        }
        Command::Stop => matches!(
            phase,
            Some(
                Phase::WritePlan
                    | Phase::Review
                    | Phase::Respond
                    | Phase::Approved
                    | Phase::Execute
            )
        ),
        Command::Edit(_) => state.is_some_and(|state| state.plan.is_some()),
        Command::Undo(_) => state.is_some_and(|state| state.stands_against_undo().is_none()),
        Command::Diff(_) => state.is_some_and(|state| state.execution.is_some()),
        Command::View => sheet.is_some(),
        Command::Allow | Command::Reject(_) => {
            state.is_some_and(|state| !state.approvals.is_empty())
        }
        Command::Approve | Command::Changes(_) => {
            let kind = asked(state);
            matches!(kind, Some(QuestionKind::Execute { .. }))
        }
        Command::Answer(_) => asked(state).is_some(),
        Command::Goal(_) => matches!(
            phase,
            None | Some(Phase::RefineGoal | Phase::Done | Phase::Cancelled)
        ),
        Command::Refiner(_) => matches!(phase, None | Some(Phase::RefineGoal)),
        Command::Cancel | Command::Mode(_) => gate.is_some(),
        Command::Resume => state.is_none(),
        _ => true,
    }
}

fn asked(state: Option<&State>) -> Option<&QuestionKind> {
    let question = state?.awaiting.as_ref()?;
    Some(&question.kind)
}
