//! The row below the composer's text: who gets it, and how the run works.

use super::Screen;
use super::clickable_keys;
use super::command::ScreenCommand;
use super::composer_target::{self, ComposerTarget};
use super::header;
use super::hit_areas::FooterButtons;
use super::keymap::ComposerFocus;
use super::labels;
use super::text_wrap::{spans_width, text_width, to_one_line};
use super::theme;
use crate::domain::phase::{Gate, Phase};
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;

/// The row below the composer's text, and who gets that text.
pub(super) struct ModeLine<'a> {
    screen: &'a Screen,
    state: Option<&'a RunState>,
}

impl<'a> ModeLine<'a> {
    pub(super) fn new(screen: &'a Screen, state: Option<&'a RunState>) -> Self {
        Self { screen, state }
    }

    /// Returns the agent that gets what is written now, if it is one; before a run it is the one that gets the goal.
    pub(super) fn addressee(&self) -> Option<Role> {
        let Some(state) = self.state else {
            return Some(self.screen.composer.refiner);
        };
        let known = self.screen.dialog_context();
        match composer_target::composer_target(Some(state), self.screen.composer.draft, &known) {
            ComposerTarget::TalkToRefiner(role)
            | ComposerTarget::AfterTalking(role)
            | ComposerTarget::SteerTurn(role)
            | ComposerTarget::RetryTurn(_, role) => Some(role),
            ComposerTarget::NextTurn(role) => role.or_else(|| next_role(state)),
            ComposerTarget::NewRun => Some(self.screen.composer.refiner),
            ComposerTarget::Nobody(_) | ComposerTarget::PlanChanges(_) => next_role(state),
            _ => None,
        }
    }

    /// Returns the agent that can refine the goal instead of the one that does; `None` without a reviewer.
    pub(super) fn other_refiner(&self) -> Option<Role> {
        match self.state {
            Some(state) => {
                let other = state.refiner.other();
                state.session(other).map(|_| other)
            }
            None if self.screen.settings.next_run.has_no_reviewer() => None,
            None => Some(self.screen.composer.refiner.other()),
        }
    }

    /// Returns the line below the text: who gets it with CLI and model, the mode and the gate; before a run the keys,
    /// unless those are below the composer.
    pub(super) fn lay_out(&self, columns: usize) -> Line<'static> {
        let words = match self.state {
            Some(state) => self.mode_words(state, columns),
            // The keys of a text are of use while one is written.
            None if self.screen.hit_areas.welcome.is_some()
                || self.screen.composer.focus == ComposerFocus::Unfocused =>
            {
                self.next_run_words(columns)
            }
            None => return self.first_keys_line(columns),
        };
        Line::from(words.into_iter().map(|word| word.span).collect::<Vec<_>>())
    }

    /// Returns the keys for a goal.
    pub(super) fn first_keys_line(&self, columns: usize) -> Line<'static> {
        let other = self
            .screen
            .keymap()
            .key_label("refiner", ComposerFocus::Focused);
        // Below the composer of a high window, the line in it names who gets the text.
        let send = match self.screen.hit_areas.welcome {
            Some(_) => "send".to_owned(),
            None => format!("to the {}", self.screen.composer.refiner.name()),
        };
        let mut keys = vec![("Enter".to_owned(), send)];
        let role = self.other_refiner();
        keys.extend(role.map(|role| (other, role.name().to_owned())));
        let others = [
            ("Shift+Enter", "new line"),
            ("@", "files"),
            ("/", "commands"),
        ];
        keys.extend(others.map(|(key, label)| (key.to_owned(), label.to_owned())));
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (n, (key, label)) in keys.into_iter().enumerate() {
            let gap = if n > 0 { "  " } else { "" };
            let more = [
                Span::raw(gap),
                Span::styled(key, clickable_keys::mark_hint(theme::KEY)),
                Span::styled(format!(" {label}"), theme::QUIET),
            ];
            if n > 0 && spans_width(&spans) + spans_width(&more) > columns {
                break;
            }
            spans.extend(more);
        }
        Line::from(spans)
    }

    /// Returns who gets the goal of the next run, with its CLI, and how that run starts.
    fn next_run_words(&self, columns: usize) -> Vec<ModeWord> {
        let next = &self.screen.settings.next_run;
        let role = self.screen.composer.refiner;
        let cli = match role {
            Role::Planner => next.planner.as_str(),
            Role::Reviewer => next.reviewer.as_deref().unwrap_or_default(),
        };
        let mut words = vec![
            ModeWord {
                span: Span::styled(labels::role_title(role), theme::role_style(role)),
                command: self
                    .other_refiner()
                    .map(|_| ScreenCommand::ChooseRefiner(None)),
            },
            ModeWord::text("  ", theme::PLAIN),
        ];
        if !cli.is_empty() {
            words.push(ModeWord::text(to_one_line(cli), theme::QUIET));
            words.push(ModeWord::text("   ", theme::PLAIN));
        }
        words.push(ModeWord::text(
            next.mode.label(),
            header::mode_style(next.mode),
        ));
        let gate = ModeWord::text(next.gate.label(), theme::PLAIN);
        with_right_end(words, vec![gate], columns)
    }

    /// Returns the areas of the words in the line that can be clicked, with what a click does.
    pub(super) fn buttons(&self, row: Rect) -> FooterButtons {
        let mut x = row.x;
        let columns = usize::from(row.width);
        let words = match self.state {
            Some(state) => self.mode_words(state, columns),
            None if self.screen.hit_areas.welcome.is_some() => self.next_run_words(columns),
            None => return FooterButtons::new(),
        };
        let places = words.into_iter().map(|word| {
            let left = row.right().saturating_sub(x);
            let columns = u16::try_from(word.span.width()).unwrap_or(u16::MAX);
            let place = Rect {
                x,
                width: columns.min(left),
                ..row
            };
            x = place.right();
            word.command.map(|command| (place, command))
        });
        places.flatten().collect()
    }

    fn mode_words(&self, state: &RunState, columns: usize) -> Vec<ModeWord> {
        let gate = state.gate.label();
        let mode = state.mode.label();
        let mut left = Vec::new();
        if let Some(role) = self.addressee() {
            let name = labels::role_title(role);
            let is_about_goal = state.phase == Phase::RefineGoal || state.phase.is_final();
            let switches = is_about_goal && self.other_refiner().is_some();
            left.push(ModeWord {
                span: Span::styled(name, theme::role_style(role)),
                command: switches.then_some(ScreenCommand::ChooseRefiner(None)),
            });
            let taken = text_width(name) + text_width(mode) + text_width(gate) + 6;
            let session = state.session(role).into_iter();
            let forms = session.flat_map(|one| [one.with_model(&one.adapter), one.adapter.clone()]);
            let mut forms = forms.map(|cli| format!("  {}", to_one_line(&cli)));
            // In a narrow window the mode is worth more than the model.
            let cli = forms.find(|cli| taken + text_width(cli) <= columns);
            left.extend(cli.map(|cli| ModeWord::text(cli, theme::QUIET)));
            left.push(ModeWord::text("   ", theme::PLAIN));
        }
        left.push(ModeWord {
            span: Span::styled(mode, header::mode_style(state.mode)),
            command: Some(ScreenCommand::Mode(None)),
        });
        let left_columns: usize = left.iter().map(|word| word.span.width()).sum();
        let room = columns.saturating_sub(left_columns + text_width(gate) + 3);
        // The sidebar says it, and the card that ends a run.
        let is_elsewhere = state.phase.is_final() || self.screen.hit_areas.has_sidebar;
        let used = header::describe_total_usage(state).filter(|_| !is_elsewhere);
        let used = used.map(|used| format!("{used}   "));
        let used = used.filter(|used| text_width(used) <= room);
        let used = used.unwrap_or_default();
        let gate = ModeWord {
            span: Span::styled(gate, theme::PLAIN),
            command: Some(match state.gate {
                Gate::Manual => ScreenCommand::AutoGate,
                Gate::Auto => ScreenCommand::ManualGate,
            }),
        };
        with_right_end(
            left,
            vec![ModeWord::text(used, theme::QUIET), gate],
            columns,
        )
    }
}

/// Returns a row of words at the left and of others at the right end.
fn with_right_end(mut words: Vec<ModeWord>, right: Vec<ModeWord>, columns: usize) -> Vec<ModeWord> {
    let taken = words.iter().chain(&right).map(|word| word.span.width());
    let gap = columns.saturating_sub(taken.sum());
    words.push(ModeWord::text(" ".repeat(gap), theme::PLAIN));
    words.extend(right);
    words
}

/// A word of the line.
struct ModeWord {
    span: Span<'static>,
    /// What a click on it does, if anything.
    command: Option<ScreenCommand>,
}

impl ModeWord {
    fn text(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self {
            span: Span::styled(text, style),
            command: None,
        }
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
