//! The row below the composer's text: who gets it, and how the run works.

use super::Screen;
use super::clickable_keys;
use super::composer_target::{self, ComposerTarget};
use super::header;
use super::keymap::ComposerFocus;
use super::labels;
use super::text_wrap::{text_width, to_one_line, truncate_to_columns};
use super::theme;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use ratatui::text::{Line, Span};

impl Screen {
    /// Returns the agent that gets what is written now, if it is one.
    pub(super) fn addressee(&self, state: Option<&RunState>) -> Option<Role> {
        let state = state?;
        let known = self.dialog_context();
        match composer_target::composer_target(Some(state), self.composer.draft, &known) {
            ComposerTarget::TalkToRefiner(role)
            | ComposerTarget::AfterTalking(role)
            | ComposerTarget::SteerTurn(role)
            | ComposerTarget::RetryTurn(_, role) => Some(role),
            ComposerTarget::NextTurn(role) => role.or_else(|| next_role(state)),
            _ => None,
        }
    }

    /// Returns the agent that can refine the goal instead of the one that does; `None` without a reviewer.
    pub(super) fn other_refiner(&self, state: Option<&RunState>) -> Option<Role> {
        match state {
            Some(state) => {
                let other = state.refiner.other();
                state.session(other).map(|_| other)
            }
            None if self.settings.runs_without_reviewer => None,
            None => Some(self.composer.refiner.other()),
        }
    }

    /// Returns the line below the text: who gets it with CLI and model, the mode and the gate; before a run the keys.
    pub(super) fn mode_line(&self, state: Option<&RunState>, columns: usize) -> Line<'static> {
        let Some(state) = state else {
            let other = self.keymap().key_label("refiner", ComposerFocus::Focused);
            let refiner = self.composer.refiner;
            let mut keys = vec![format!("Enter to {}", refiner.name())];
            let role = self.other_refiner(None);
            keys.extend(role.map(|role| format!("{other} {}", role.name())));
            keys.extend([
                "Shift+Enter new line".to_owned(),
                "@ files".to_owned(),
                "/ commands".to_owned(),
            ]);
            while keys.len() > 1 && text_width(&keys.join("  ")) > columns {
                keys.pop();
            }
            let keys = truncate_to_columns(&keys.join("  "), columns);
            return Line::from(clickable_keys::hint_spans(&keys, theme::QUIET));
        };
        let gate = state.gate.label();
        let mode = state.mode.label();
        let mut left = Vec::new();
        if let Some(role) = self.addressee(Some(state)) {
            let name = labels::role_title(role);
            left.push(Span::styled(name, theme::role_style(role)));
            let taken = text_width(name) + text_width(mode) + text_width(gate) + 6;
            let session = state.session(role).into_iter();
            let forms = session.flat_map(|one| [one.with_model(&one.adapter), one.adapter.clone()]);
            let mut forms = forms.map(|cli| format!("  {}", to_one_line(&cli)));
            // In a narrow window the mode is worth more than the model.
            let cli = forms.find(|cli| taken + text_width(cli) <= columns);
            left.extend(cli.map(|cli| Span::styled(cli, theme::QUIET)));
            left.push(Span::raw("   "));
        }
        left.push(Span::styled(mode, header::mode_style(state.mode)));
        let left_columns: usize = left.iter().map(|span| text_width(&span.content)).sum();
        let room = columns.saturating_sub(left_columns + text_width(gate) + 3);
        let used = header::usage_forms(state).into_iter();
        let mut used = used.map(|used| format!("{used}   "));
        let used = used
            .find(|used| text_width(used) <= room)
            .unwrap_or_default();
        let right = format!("{used}{gate}");
        let gap = columns.saturating_sub(left_columns + text_width(&right));
        left.push(Span::raw(" ".repeat(gap)));
        left.push(Span::styled(used, theme::QUIET));
        left.push(Span::styled(gate, theme::PLAIN));
        Line::from(left)
    }
}

/// Returns the agent that has the next turn, as far as the phase tells.
fn next_role(state: &RunState) -> Option<Role> {
    match state.phase {
        Phase::Review => Some(Role::Reviewer),
        Phase::RefineGoal => Some(state.refiner),
        Phase::WritePlan | Phase::Respond | Phase::Approved | Phase::Execute => Some(Role::Planner),
        Phase::Init | Phase::Done | Phase::Cancelled => None,
    }
}
