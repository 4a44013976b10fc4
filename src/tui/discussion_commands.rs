//! The user's commands for discussions: the board, quoting or copying a result, settling the finding that was
//! discussed.
//!
//! How a discussion proceeds is decided in `domain`.

mod discussion_screen_command;
mod discussion_view_state;

use super::action::{Action, DiscussionTopic};
use super::dialog::{ChoiceAction, ChoiceDialog};
use super::discussion_board::{self, BoardAction, DiscussionBoard, build_board_model};
use super::tab_kind::TabKind;
use super::text_wrap::{text_width, to_one_line, truncate_to_columns};
use super::transcript::describe_outcome_details;
use super::{Screen, dialogs, theme};
use crate::domain::discussion::{FINDING_HOLDS, GroupDiscussion};
use crate::domain::event::Event;
use crate::domain::findings::FindingStatus;
use crate::domain::run::RunState;
pub use discussion_screen_command::discussions_of_run;
pub use discussion_screen_command::{
    DiscussionPlanView, DiscussionScreenCommand, describe_running,
};
pub use discussion_view_state::DiscussionViewState;

/// Carries out the user's commands for discussions on the screen.
pub(super) struct DiscussionCommands<'a> {
    screen: &'a mut Screen,
    state: Option<&'a RunState>,
}

impl<'a> DiscussionCommands<'a> {
    pub(super) fn new(screen: &'a mut Screen, state: Option<&'a RunState>) -> Self {
        Self { screen, state }
    }

    fn start_discussion(&mut self, text: &str) -> Vec<Action> {
        match (text, self.state) {
            ("", _) if !discussions_of_run(self.state).is_empty() => self.show_board(),
            ("", _) => self
                .screen
                .show_toast("Write the question and the options after /discuss."),
            (text, _) => vec![Action::Discuss(self.screen.discussions.parse_topic(text))],
        }
    }

    /// Returns the selected finding. One that is only offered counts where the user sees it.
    fn selected_finding(&self) -> Option<u32> {
        let tabs = &self.screen.tabs;
        if tabs.view.focused() == TabKind::Comments {
            tabs.comments.selection.selected_finding(self.state)
        } else {
            tabs.comments.selection.chosen_finding()
        }
    }

    /// Requests the plan of a discussion about the selected finding.
    fn plan_finding_discussion(&mut self) -> Vec<Action> {
        let Some((n, state)) = self.selected_finding().zip(self.state) else {
            self.screen.show_over_all(TabKind::Comments);
            return self.screen.explain_pointing("a finding");
        };
        if state.phase.is_final() {
            return self.screen.show_toast(
                "The run is finished, so no reviewer gets the result. Ask anything else \
            with /discuss.",
            );
        }
        self.screen.show_toast("Choosing the participants …");
        vec![Action::PlanDiscussion(DiscussionTopic {
            finding: Some(n),
            ..DiscussionTopic::default()
        })]
    }

    fn stop_discussion(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion.filter(|each| each.is_running()) {
            Some(discussion) => vec![Action::StopDiscussion(discussion.id().clone())],
            None => self.screen.show_toast("No discussion is running."),
        }
    }

    fn resume_discussion(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion.filter(|each| each.can_resume()) {
            Some(discussion) => vec![Action::GoOnDiscussing(discussion.id().clone())],
            None => self.screen.show_toast(
                "You can continue only a discussion that was stopped, was cut off or failed.",
            ),
        }
    }

    fn export_discussion(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion {
            Some(discussion) => vec![Action::ExportDiscussion(discussion.id().clone())],
            None => self.screen.show_toast("No discussion in this run yet."),
        }
    }

    /// Carries out a command about discussions.
    pub(super) fn perform_discussion_command(
        &mut self,
        wish: &DiscussionScreenCommand,
    ) -> Vec<Action> {
        let all = discussions_of_run(self.state);
        match wish {
            DiscussionScreenCommand::Start(text) => self.start_discussion(text),
            DiscussionScreenCommand::PreviewBudget(preset) => {
                vec![Action::ShowBudget(preset.clone())]
            }
            DiscussionScreenCommand::DiscussFinding => self.plan_finding_discussion(),
            DiscussionScreenCommand::Stop => {
                self.stop_discussion(all.iter().rfind(|each| each.is_running()))
            }
            DiscussionScreenCommand::Resume => {
                self.resume_discussion(all.iter().rfind(|each| each.can_resume()))
            }
            DiscussionScreenCommand::Export => self.export_discussion(all.last()),
            DiscussionScreenCommand::ShowBoard => self.show_board(),
            DiscussionScreenCommand::Quote => {
                self.quote_discussion_result(all.iter().rfind(|each| each.outcome.is_some()))
            }
            DiscussionScreenCommand::Settle => self.ask_to_settle_finding(self.selected_finding()),
        }
    }

    /// Shows the board of the running discussion, or of the last one.
    fn show_board(&mut self) -> Vec<Action> {
        let running = discussions_of_run(self.state)
            .iter()
            .rfind(|each| each.is_running());
        match running.or(discussions_of_run(self.state).last()) {
            Some(discussion) => self
                .screen
                .open_board(DiscussionBoard::new(discussion.id().clone())),
            None => self.screen.show_toast("No discussion in this run yet."),
        }
    }

    /// Performs an action of the board.
    pub(super) fn perform_board_action(&mut self, does: BoardAction) -> Vec<Action> {
        let Some(board) = self.screen.overlays.find_mut::<DiscussionBoard>() else {
            return Vec::new();
        };
        if does == BoardAction::Close {
            if !board.close_speech() {
                self.screen.overlays.close::<DiscussionBoard>();
            }
            return Vec::new();
        }
        let Some(minutes) = build_board_model(&board.id, &self.screen.discussions, self.state)
        else {
            return Vec::new();
        };
        if board.perform_action(does, &minutes) {
            return Vec::new();
        }
        let id = &board.id;
        let Some(discussion) = self.state.and_then(|state| state.discussion(id)) else {
            return Vec::new();
        };
        match does {
            BoardAction::Copy => self.screen.copy_front(self.state),
            BoardAction::Quote => self.quote_discussion_result(Some(discussion)),
            BoardAction::Settle => self.ask_to_settle_finding(discussion.order.finding),
            BoardAction::Export => self.export_discussion(Some(discussion)),
            BoardAction::Stop => self.stop_discussion(Some(discussion)),
            BoardAction::Resume => self.resume_discussion(Some(discussion)),
            BoardAction::NextDiscussion => self.show_next_board(),
            BoardAction::PreviousParticipant
            | BoardAction::NextParticipant
            | BoardAction::PreviousRound
            | BoardAction::NextRound
            | BoardAction::Open
            | BoardAction::Close => Vec::new(),
        }
    }

    /// Shows the board of the next discussion; after the last one, the first.
    fn show_next_board(&mut self) -> Vec<Action> {
        let all = discussions_of_run(self.state);
        let board = self.screen.overlays.find::<DiscussionBoard>();
        let at = board.and_then(|board| all.iter().position(|each| *each.id() == board.id));
        let next = at.map_or(0, |at| at + 1);
        match all.get(next).or(all.first()) {
            Some(next) if all.len() > 1 => self
                .screen
                .open_board(DiscussionBoard::new(next.id().clone())),
            Some(_) | None => self
                .screen
                .show_toast("This is the only discussion of this run."),
        }
    }

    /// Quotes a result in the composer, before the text that is already there.
    fn quote_discussion_result(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        let Some(discussion) = discussion else {
            return self
                .screen
                .show_toast("No discussion of this run has finished yet.");
        };
        if discussion.outcome.is_none() {
            return self
                .screen
                .show_toast("The discussion has no result to quote yet.");
        }
        self.screen.close_overlays();
        self.screen.focus_composer();
        self.screen.composer.close_completion();
        let text = format_quotation(discussion);
        self.screen.on_paste(&text);
        Vec::new()
    }

    /// Asks whether the discussion settles a finding.
    fn ask_to_settle_finding(&mut self, n: Option<u32>) -> Vec<Action> {
        let Some((n, state)) = n.zip(self.state) else {
            return self.screen.explain_pointing("a finding");
        };
        let finding = state.findings.all().iter().find(|each| each.remark.n == n);
        let Some(finding) = finding.filter(|each| each.status == FindingStatus::Open) else {
            return self.screen.show_toast("That finding is already resolved.");
        };
        if state.phase.is_final() {
            return self.screen
                .show_toast("The run is finished. To discuss something outside a run, use `agent-collab discuss`.");
        }
        let mut about = discussions_of_run(Some(state)).iter().rev();
        let Some(result) = about.find_map(|each| {
            let of_it = each.order.finding == Some(n);
            each.outcome.as_ref().filter(|_| of_it)
        }) else {
            return self
                .screen
                .show_toast("The discussion of that finding has not finished.");
        };
        self.screen.overlays.close::<DiscussionBoard>();
        let holds = result
            .decision
            .as_ref()
            .is_some_and(|of| of.as_str() == FINDING_HOLDS);
        let found = if holds {
            "The discussion confirmed the finding. Resolving it drops it anyway."
        } else {
            "The finding is dropped and needs no answer."
        };
        let style = if holds { theme::BAD } else { theme::QUIET };
        let text = to_one_line(&finding.remark.text);
        let title = format!("Resolve finding {n} as discussed?");
        let mut sheet = ChoiceDialog::new(format!("settle {n}"), &title)
            .with_prose(
                &truncate_to_columns(&text, dialogs::MAX_FINDING_COLUMNS),
                theme::PLAIN,
            )
            .with_text(
                &discussion_board::describe_decision(result).0,
                theme::STRONG,
            )
            .with_text(&describe_outcome_details(result), theme::QUIET)
            .with_text(found, style)
            .with_choice(
                'y',
                "Resolve it",
                ChoiceAction::ActAndClose(vec![Action::Event(Event::FindingSettled { n })]),
            )
            .with_choice('n', "Leave it open", ChoiceAction::Close)
            .with_first_choice(1);
        if text_width(&text) > dialogs::MAX_FINDING_COLUMNS {
            sheet.full_text = Some((title, format!("{text}\n\n{}", sheet.to_text())));
        }
        self.screen.open_dialog(sheet)
    }
}

/// Formats a result as a quotation: the decision and its reasons, the minority, and the open points.
fn format_quotation(discussion: &GroupDiscussion) -> String {
    let result = discussion.result_to_markdown();
    let lines = result.trim_end().lines();
    let lines: Vec<String> = lines
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    format!("{}\n\n", lines.join("\n"))
}
