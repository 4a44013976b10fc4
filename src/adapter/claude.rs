//! The adapter of `claude`: one long-lived stream-json process, driven through its control protocol.
//!
//! This file handles the engine's commands; `frame_handler` handles what the CLI writes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, AdapterTraits, CallDecision, CliExit,
    CliTurnOutcome, LaunchSpec, SessionSpec, TurnAccess, TurnSpec,
};
use crate::domain::ids::{RequestId, TurnId};

mod config_folder;
mod control_requests;
mod failure_classifier;
mod frame_handler;
mod launch_arguments;
mod message_translator;
mod messages_api;
mod open_turn;
mod steer_queue;
mod stream_json;
mod tool_inputs;
mod traits;
mod version_check;

#[cfg(test)]
mod tests;

use control_requests::{ControlRequestKind, PendingControlRequests};
use launch_arguments::ClaudeConversation;
use message_translator::{MessageTranslator, tool_result_text};
use messages_api::{ContentBlock, parse_content_block};
use open_turn::{ClaudeOpenTurn, ClaudeStopReason, ClaudeTurnStage};
use steer_queue::SteerQueue;
use stream_json::ClaudeFrame;

/// The id of the handshake request.
const HANDSHAKE_REQUEST_ID: &str = "initialize";

/// Returns the output of the tool call `call` if this line of claude ends it.
fn parse_tool_output(call: &str, line: &str) -> Option<String> {
    let ClaudeFrame::User(user) = stream_json::parse_line(line).frame else {
        return None;
    };
    let blocks = user.message.content.as_array()?;
    blocks
        .iter()
        .find_map(|block| match parse_content_block(block) {
            Ok(ContentBlock::ToolResult {
                tool_use_id,
                content,
                ..
            }) if tool_use_id == call => Some(tool_result_text(content)),
            Ok(_) | Err(_) => None,
        })
}

/// One session of `claude`.
#[derive(Debug, Default)]
pub struct ClaudeAdapter {
    process: ClaudeProcessState,
    access: Option<TurnAccess>,
    /// Permissions whose tools were left out when the process was started.
    hidden_permissions: Vec<String>,
    cwd: PathBuf,
    fresh_id: String,
    conversation: Option<ClaudeConversation>,
    announced_conversation: Option<String>,
    /// A conversation that the CLI reported as missing.
    lost_conversation: Option<String>,
    /// The turn for which a new process was requested; a second request for it is a failure.
    relaunch_attempted_for: Option<TurnId>,
    model: Option<String>,
    /// How many tokens the conversation occupied in the model's context after its last answer.
    context_tokens: Option<u64>,
    turn: Option<ClaudeOpenTurn>,
    control_requests: PendingControlRequests,
    translator: MessageTranslator,
    /// Calls that were asked about, or whose denial was already reported.
    known_denied_calls: BTreeSet<String>,
    n_interrupts: u32,
    n_lines: u64,
    steer_queue: SteerQueue,
}

/// The state of the CLI process.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ClaudeProcessState {
    /// No process could serve a turn.
    #[default]
    Absent,
    /// The launch was described to the engine; nothing was sent yet.
    Launched,
    /// It has not answered the handshake yet.
    Starting,
    Ready,
    /// It will be replaced; its further output is ignored.
    AwaitingReplacement,
}

impl Adapter for ClaudeAdapter {
    fn traits(&self) -> &'static AdapterTraits {
        &traits::TRAITS
    }

    fn prepare_launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> LaunchSpec {
        let resumed = session
            .external_id
            .clone()
            .filter(|id| self.lost_conversation.as_ref() != Some(id));
        let conversation = match resumed {
            Some(id) => ClaudeConversation::Resumed(id),
            None => ClaudeConversation::New(session.fresh_id.clone()),
        };
        let launch = launch_arguments::build_launch(session, &conversation, turn);
        *self = Self {
            process: ClaudeProcessState::Launched,
            access: Some(turn.access),
            hidden_permissions: turn.hidden_permissions.clone(),
            cwd: session.cwd.clone(),
            fresh_id: session.fresh_id.clone(),
            conversation: Some(conversation),
            lost_conversation: self.lost_conversation.take(),
            relaunch_attempted_for: self.relaunch_attempted_for.take(),
            n_lines: self.n_lines,
            ..Self::default()
        };
        launch
    }

    fn can_serve(&self, turn: &TurnSpec) -> bool {
        let takes_turns = !matches!(
            self.process,
            ClaudeProcessState::Absent | ClaudeProcessState::AwaitingReplacement
        );
        let offers =
            self.access == Some(turn.access) && self.hidden_permissions == turn.hidden_permissions;
        takes_turns && self.turn.is_none() && offers
    }

    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput> {
        match order {
            AdapterCommand::StartTurn(turn) => self.on_turn(turn),
            AdapterCommand::DecideApproval(request, decision) => {
                self.on_decision(&request, &decision)
            }
            AdapterCommand::AskUserFirst(request) => {
                let waits = self.control_requests.remove(&request.own).is_some();
                let answer =
                    || AdapterOutput::Send(control_requests::ask_user_response(&request.own));
                waits.then(answer).into_iter().collect()
            }
            AdapterCommand::AnswerQuestions(request, answers) => {
                let Some(ask) = self.control_requests.remove(&request.own) else {
                    return Vec::new();
                };
                vec![AdapterOutput::Send(control_requests::answers_response(
                    &request.own,
                    &ask,
                    answers.as_ref(),
                ))]
            }
            // claude asks its hook over the control channel, not through a hook process.
            AdapterCommand::HandleHookCall(..) => Vec::new(),
            AdapterCommand::Interrupt => self.on_interrupt(),
            AdapterCommand::Steer(text) => self.on_steer(text),
        }
    }

    fn on_stdout_line(&mut self, line: &str) -> Vec<AdapterOutput> {
        if self.process == ClaudeProcessState::AwaitingReplacement || line.trim().is_empty() {
            return Vec::new();
        }
        let parsed = stream_json::parse_line(line);
        let mut out = Vec::new();
        if self.turn.is_some() {
            self.steer_queue.on_delivered(&parsed.user_line_ids);
        }
        if !matches!(parsed.frame, ClaudeFrame::Result(_))
            && self.belongs_to_our_turn(&parsed.user_line_ids)
        {
            out.extend(self.mark_turn_started());
        }
        out.extend(self.on_frame(parsed.frame, &parsed.user_line_ids, line));
        out.extend(self.send_waiting_steers());
        out
    }

    fn on_exit(&mut self, exit: &CliExit) -> Vec<AdapterOutput> {
        let process = std::mem::replace(&mut self.process, ClaudeProcessState::Absent);
        if process == ClaudeProcessState::AwaitingReplacement {
            return Vec::new();
        }
        // A process that exits before the handshake names a lost or already used conversation on standard error.
        if process == ClaudeProcessState::Starting
            && let Some(out) = self.relaunch_for_new_conversation(&exit.stderr_tail)
        {
            return out;
        }
        let mut out = event_outputs(self.steer_queue.drain_undelivered());
        out.extend(match &self.turn {
            Some(turn) => {
                let end = turn.outcome_from_exit(exit);
                self.finish_turn(end)
            }
            None => event_outputs(self.control_requests.withdraw_all()),
        });
        out
    }
}

impl ClaudeAdapter {
    fn on_turn(&mut self, turn: TurnSpec) -> Vec<AdapterOutput> {
        if self.turn.is_some() {
            return vec![notice_output(
                "a turn is already running; the new one was not sent".to_owned(),
            )];
        }
        self.n_lines = self.n_lines.saturating_add(1);
        let open = ClaudeOpenTurn::new(turn, &self.fresh_id, self.n_lines);
        match self.process {
            ClaudeProcessState::Ready => {
                let out = vec![AdapterOutput::Send(control_requests::prompt_message(
                    &open.uuid,
                    &open.prompt,
                ))];
                self.turn = Some(ClaudeOpenTurn {
                    stage: ClaudeTurnStage::Sent,
                    ..open
                });
                out
            }
            ClaudeProcessState::Starting => {
                self.turn = Some(open);
                Vec::new()
            }
            ClaudeProcessState::Launched => {
                self.process = ClaudeProcessState::Starting;
                self.turn = Some(open);
                vec![AdapterOutput::Send(control_requests::initialize_request(
                    HANDSHAKE_REQUEST_ID,
                ))]
            }
            ClaudeProcessState::Absent | ClaudeProcessState::AwaitingReplacement => {
                self.turn = Some(open);
                self.finish_turn(open_turn::protocol_failure("claude is not running"))
            }
        }
    }

    fn on_decision(&mut self, request: &RequestId, decision: &CallDecision) -> Vec<AdapterOutput> {
        let Some(ask) = self.control_requests.remove(&request.own) else {
            return Vec::new();
        };
        match (decision, &ask.item, &mut self.turn) {
            (CallDecision::Allow, Some(item), _) => {
                self.translator.on_allowed(item);
                self.control_requests.mark_passed_by_hook(&ask);
            }
            (CallDecision::DenyAndStop, _, Some(turn)) => {
                turn.stop = turn.stop.or(ClaudeStopReason::Interrupted)
            }
            (CallDecision::Allow | CallDecision::Deny { .. } | CallDecision::DenyAndStop, _, _) => {
            }
        }
        let mut out = vec![AdapterOutput::Send(control_requests::decision_response(
            &request.own,
            &ask,
            decision,
        ))];
        if ask.kind == ControlRequestKind::PreToolUseHook && *decision == CallDecision::DenyAndStop
        {
            // A denial by the hook does not end a turn, so it is interrupted as well.
            out.push(self.interrupt_output());
        }
        out
    }

    fn on_interrupt(&mut self) -> Vec<AdapterOutput> {
        match &mut self.turn {
            Some(turn) if turn.stage == ClaudeTurnStage::WaitingForHandshake => {
                self.finish_turn(CliTurnOutcome::Interrupted)
            }
            Some(turn) => {
                turn.stop = turn.stop.or(ClaudeStopReason::Interrupted);
                vec![self.interrupt_output()]
            }
            None if self.process == ClaudeProcessState::Ready => vec![self.interrupt_output()],
            None => Vec::new(),
        }
    }

    fn interrupt_output(&mut self) -> AdapterOutput {
        self.n_interrupts = self.n_interrupts.saturating_add(1);
        let id = format!("interrupt-{}", self.n_interrupts);
        AdapterOutput::Send(control_requests::control_request(&id, "interrupt"))
    }

    fn finish_turn(&mut self, end: CliTurnOutcome) -> Vec<AdapterOutput> {
        if self.turn.take().is_none() {
            return Vec::new();
        }
        let mut closed = self.control_requests.withdraw_all();
        closed.extend(self.steer_queue.drain_waiting());
        closed.extend(self.translator.close_turn());
        closed.push(AdapterEvent::TurnEnded(end));
        event_outputs(closed)
    }

    fn is_prompt_line(&self, uuid: &str) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.uuid == uuid)
    }

    fn belongs_to_our_turn(&self, answers: &[String]) -> bool {
        answers.iter().any(|uuid| self.is_prompt_line(uuid))
    }
}

fn event_outputs(events: Vec<AdapterEvent>) -> Vec<AdapterOutput> {
    events.into_iter().map(AdapterOutput::Event).collect()
}

fn notice_output(text: String) -> AdapterOutput {
    AdapterOutput::Event(AdapterEvent::Notice { text })
}
