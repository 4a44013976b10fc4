//! The user's lines: a number answers the open question, `/name` runs a command, anything else is a text.
//!
//! A line that was typed before a question was printed never answers it.

use super::LineInterface;
use super::linear_state::WantedView;
use crate::domain::event::Event;
use crate::tui::action::Action;
use crate::tui::command::ScreenCommand;
use crate::tui::command_table::{
    CommandGroup, CommandParseError, all_rows, answers_dialog, parse_slash_command,
};
use crate::tui::composer_submit::SubmitOutcome;
use crate::tui::composer_target::{self, ComposerTarget};
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, DialogChoice};
use crate::tui::text_wrap::clean_for_display;

/// When a line was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineTiming {
    /// After everything that asks for an answer was printed.
    AfterQuestion,
    /// Before the last question was printed.
    BeforeQuestion,
}

/// Sends the text that is in the composer already.
pub(super) const SEND: &str = "/send";

impl LineInterface<'_> {
    /// Turns a line of the user into requests.
    pub fn on_line(&mut self, line: &str, timing: LineTiming) -> Vec<Action> {
        self.screen.is_dirty = true;
        (self.screen.toast.text, self.screen.linear.toast) = (None, None);
        let line = clean_for_display(line);
        let text = line.trim();
        self.screen.linear.typed = text.to_owned();
        self.screen.linear.recent.clear();
        let actions = self.perform_line(text, timing);
        self.screen.note_discussion_request(&actions);
        actions
    }

    /// Quits like the quit key, which asks first if something would stop.
    pub fn on_interrupt(&mut self) -> Vec<Action> {
        self.screen.is_dirty = true;
        (self.screen.toast.text, self.screen.linear.toast) = (None, None);
        self.screen.on_quit(self.state)
    }

    fn perform_line(&mut self, text: &str, timing: LineTiming) -> Vec<Action> {
        if text.is_empty() {
            return self.repeat_question();
        }
        if text == SEND {
            let text = self.screen.composer.editor.text();
            return if text.is_empty() {
                self.reply("There is no text to send.")
            } else {
                self.submit_line(String::new(), timing)
            };
        }
        let is_asked = self.screen.composer.draft.is_none();
        if let Some(sheet) = self.screen.pending_dialog(self.state).filter(|_| is_asked)
            && let Some(at) = parse_choice(text, &sheet)
        {
            return self.choose(&sheet, at, timing);
        }
        if is_asked && text.parse::<usize>().is_ok() {
            return self.reply(
                "No question with such a choice is open. An empty line repeats what is asked.",
            );
        }
        if is_asked && let Some(word) = parse_short_answer(text) {
            let sheet = self.screen.pending_dialog(self.state);
            if let Some(sheet) = sheet.filter(|_| self.takes_no_short_text()) {
                return self.answer_shortly(&sheet, text, word, timing);
            }
        }
        let typed = if text == "?" { "/help" } else { text };
        match parse_slash_command(typed) {
            Ok(command) => self.perform_line_command(&command, text, timing),
            Err(CommandParseError::Wrong(why)) => self.reply(&why),
            Err(CommandParseError::Text) => self.submit_line(text.to_owned(), timing),
        }
    }

    /// Returns whether no agent asked the open question, so that a bare yes would go to the wrong place.
    fn takes_no_short_text(&self) -> bool {
        let known = self.screen.dialog_context();
        let target = composer_target::composer_target(self.state, None, &known);
        !matches!(target, ComposerTarget::AgentQuestion(..))
    }

    /// Confirms the goal by a bare yes; any other question has several choices that a yes could mean.
    fn answer_shortly(
        &mut self,
        sheet: &ChoiceDialog,
        text: &str,
        word: ShortAnswer,
        timing: LineTiming,
    ) -> Vec<Action> {
        let confirms = |choice: &DialogChoice| match &choice.action {
            ChoiceAction::Act(actions) => actions.iter().any(is_goal_confirmation),
            _ => false,
        };
        match sheet.choices.iter().position(confirms) {
            // Where the agent has just asked something, a yes may be meant for it.
            Some(at) if word == ShortAnswer::Yes && !self.screen.linear.agent_asks => {
                self.choose(sheet, at, timing)
            }
            _ => self.reply(&format!(
                "`{text}` is not one of the choices: type a number from 1 to {}, or a whole sentence for the agent.",
                sheet.choices.len()
            )),
        }
    }

    /// Prints the open question again, or what a text does now.
    fn repeat_question(&mut self) -> Vec<Action> {
        (self.screen.linear.dialog, self.screen.linear.draft) = (None, None);
        self.screen.linear.activity = None;
        match self.screen.pending_dialog(self.state) {
            Some(_) => Vec::new(),
            None => self.reply(&format!(
                "A text: {}.",
                self.screen.describe_target(self.state)
            )),
        }
    }

    fn choose(&mut self, sheet: &ChoiceDialog, at: usize, timing: LineTiming) -> Vec<Action> {
        let Some(choice) = sheet.choices.get(at).cloned() else {
            let n = sheet.choices.len();
            return self.reply(&format!("The choices are 1 to {n}."));
        };
        if timing == LineTiming::BeforeQuestion || !self.is_dialog_printed(sheet) {
            return self.refuse_early_answer();
        }
        let ticks = matches!(choice.action, ChoiceAction::TickAnswer { .. });
        let actions = self.screen.perform_choice(choice, self.state);
        if ticks {
            self.screen.linear.toast = None;
        }
        actions
    }

    fn refuse_early_answer(&mut self) -> Vec<Action> {
        self.screen.linear.dialog = None;
        self.reply("Not used: this was typed before the question was printed. Answer it now:")
    }

    fn perform_line_command(
        &mut self,
        command: &ScreenCommand,
        text: &str,
        timing: LineTiming,
    ) -> Vec<Action> {
        if answers_dialog(command)
            && let Some(sheet) = self.screen.pending_dialog(self.state)
            && (timing == LineTiming::BeforeQuestion || !self.is_dialog_printed(&sheet))
        {
            return self.refuse_early_answer();
        }
        let row = match command {
            ScreenCommand::Call(call) => call.row.name,
            _ => "",
        };
        if row == "leave" {
            return self.leave();
        }
        let argument = text
            .split_once(' ')
            .map_or("", |(_, argument)| argument.trim());
        match command {
            ScreenCommand::ShowHelp | ScreenCommand::OpenPalette => {
                self.screen.linear.replies.extend(help_lines());
                // What is asked is not seen any more above so many lines.
                (self.screen.linear.dialog, self.screen.linear.draft) = (None, None);
                Vec::new()
            }
            ScreenCommand::OpenSearch => self.find_lines(argument),
            ScreenCommand::Scroll(_) => {
                self.reply("Scroll with your terminal. /chat and /tab plan print a whole view.")
            }
            ScreenCommand::FocusComposer => self.repeat_question(),
            _ => self.perform_screen_command(command, row, text),
        }
    }

    fn perform_screen_command(
        &mut self,
        command: &ScreenCommand,
        row: &str,
        text: &str,
    ) -> Vec<Action> {
        let shown = self.screen.tabs.view.shown;
        // The user has read what was printed, however short ago.
        self.screen.dialogs.guard.mark_read();
        let waiting = self.screen.composer.editor.text();
        let actions = self.submit_text(text);
        if self.screen.composer.editor.is_empty() && self.screen.composer.draft.is_none() {
            self.screen.composer.editor.set_text(&waiting);
        }
        self.screen.linear.wanted = match command {
            ScreenCommand::Show(tab) => {
                self.screen.tabs.view.shown = *tab;
                Some(WantedView::Tab(*tab))
            }
            _ if self.screen.tabs.view.shown != shown => {
                Some(WantedView::Tab(self.screen.tabs.view.shown))
            }
            ScreenCommand::SelectAdjacent(_) => Some(WantedView::Selection),
            _ if row == "open" => Some(WantedView::Selection),
            _ => None,
        };
        if *command == ScreenCommand::GoToWaitingDialog {
            self.repeat_question();
        }
        actions
    }

    /// Leaves what was begun: a text, a list, or a run that is only read.
    fn leave(&mut self) -> Vec<Action> {
        let had_text =
            self.screen.composer.draft.is_some() || !self.screen.composer.editor.is_empty();
        self.screen.composer.leave_composer();
        self.screen.composer.editor.set_text("");
        if had_text {
            return self.repeat_question();
        }
        if self.screen.dialogs.own.is_some() {
            self.screen.restore_theme();
            self.screen.dialogs.own = None;
            return Vec::new();
        }
        if self.screen.is_read_only() {
            return vec![Action::CloseView];
        }
        self.repeat_question()
    }

    /// Sends a text to whom the composer would send it; to a text that is there already, it is added.
    fn submit_line(&mut self, text: String, timing: LineTiming) -> Vec<Action> {
        let known = self.screen.dialog_context();
        let target =
            composer_target::composer_target(self.state, self.screen.composer.draft, &known);
        let answers = matches!(
            target,
            ComposerTarget::AgentQuestion(..) | ComposerTarget::PlanChanges(_)
        );
        if answers && self.screen.composer.draft.is_none() && timing == LineTiming::BeforeQuestion {
            return self.refuse_early_answer();
        }
        let waiting = self.screen.composer.editor.text();
        let whole = match (text.is_empty(), self.screen.composer.draft) {
            (true, _) => waiting,
            (false, None) if !waiting.is_empty() => format!("{waiting}\n\n{text}"),
            (false, _) => text,
        };
        let actions = self.submit_text(&whole);
        if let ComposerTarget::SteerTurn(role) = target
            && actions.iter().any(is_steering)
            && self.screen.pending_dialog(self.state).is_some()
        {
            self.screen.linear.replies.push(format!(
                "Sent to the {}. The question is still open.",
                role.name()
            ));
            self.screen.linear.dialog = None;
        }
        actions
    }

    fn submit_text(&mut self, text: &str) -> Vec<Action> {
        self.screen.composer.editor.set_text(text);
        match self.screen.submit_composer(self.state) {
            SubmitOutcome::Done(actions) => actions,
            SubmitOutcome::StaysInComposer(why) => {
                self.screen.composer.editor.set_text("");
                self.reply(&format!("Not sent. {why}"))
            }
        }
    }

    fn reply(&mut self, text: &str) -> Vec<Action> {
        self.screen.linear.replies.push(text.to_owned());
        Vec::new()
    }
}

fn is_steering(action: &Action) -> bool {
    matches!(action, Action::Event(Event::Steered { .. }))
}

fn is_goal_confirmation(action: &Action) -> bool {
    matches!(action, Action::Event(Event::GoalConfirmed { .. }))
}

/// A yes or no without a sentence around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShortAnswer {
    Yes,
    No,
}

fn parse_short_answer(text: &str) -> Option<ShortAnswer> {
    match text.trim_end_matches(['.', '!']).to_lowercase().as_str() {
        "y" | "yes" | "ok" | "okay" => Some(ShortAnswer::Yes),
        "n" | "no" => Some(ShortAnswer::No),
        _ => None,
    }
}

/// Returns the choice that a line names: its number from 1, or its letter.
fn parse_choice(text: &str, sheet: &ChoiceDialog) -> Option<usize> {
    if let Ok(number) = text.parse::<usize>() {
        return number.checked_sub(1);
    }
    let mut letters = text.chars();
    let (letter, None) = (letters.next()?.to_ascii_lowercase(), letters.next()) else {
        return None;
    };
    sheet.choices.iter().position(|choice| choice.key == letter)
}

/// Lists the commands by group.
fn help_lines() -> Vec<String> {
    let mut lines = vec![
        "A number answers the open question. An empty line repeats it.".to_owned(),
        "Any other text goes to whom the question names, or is the goal of a new run.".to_owned(),
        format!("{SEND}: Send the text that a command has prepared"),
    ];
    for group in CommandGroup::ALL {
        lines.push(format!("{}:", group.label()));
        let rows = all_rows().filter(|row| row.group == group);
        let mut rows: Vec<_> = rows.filter(|row| !row.is_for_window).collect();
        rows.dedup_by_key(|row| row.slash);
        lines.extend(
            rows.iter()
                .map(|row| format!("{}: {}", row.slash_names(), row.help)),
        );
    }
    lines
}
