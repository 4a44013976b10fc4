//! The adapter of `codex app-server`: one process per session, JSON lines in both directions.
//!
//! Before EXECUTE the sandbox is read-only, during EXECUTE it is workspace-write. The approval policy is always
//! `on-request`, and a codex that answers with weaker settings gets no prompt. Permission decisions come from the
//! engine.

use std::collections::BTreeMap;

use crate::adapter::{
    Adapter, AdapterCommand, AdapterEvent, AdapterOutput, AdapterTraits, CliExit, CliTurnOutcome,
    LaunchSpec, SessionSpec, TurnFailure, TurnFailureKind, TurnSpec,
};

mod app_server_protocol;
mod bash_wrapper;
mod connection;
mod execpolicy_rules;
mod failure_classifier;
mod launch_parameters;
mod open_items;
mod pre_tool_use_hook;
mod sandbox_profile;
mod server_notifications;
mod server_request_handler;
mod server_requests;
mod settings_check;
mod thread_items;
mod traits;
mod unsupported_call;
mod version_check;

#[cfg(test)]
mod tests;

use app_server_protocol::CodexFrame;
use connection::{CodexConnection, CodexConnectionState};
use launch_parameters::WebSearchPolicy;
use open_items::{CodexSpeaker, OpenItems};
use pre_tool_use_hook::PendingHooks;
use server_requests::PendingServerRequests;

/// Returns the output of the tool call `call` if this line of codex ends it.
fn parse_tool_output(call: &str, line: &str) -> Option<String> {
    let CodexFrame::Notification { method, params } =
        app_server_protocol::parse_frame(line).ok()?
    else {
        return None;
    };
    if method != server_notifications::ITEM_COMPLETED {
        return None;
    }
    let changed: app_server_protocol::ItemNotification =
        app_server_protocol::parse_params(params).ok()?;
    let of_sub_agent = call.strip_prefix(&changed.thread_id);
    let speaker = if of_sub_agent.is_some_and(|rest| rest.starts_with(':')) {
        CodexSpeaker::SubAgent(&changed.thread_id)
    } else {
        CodexSpeaker::Agent
    };
    let item = thread_items::parse_item(changed.item).ok()?;
    let told = OpenItems::default().on_completed(speaker, item);
    told.into_iter().find_map(|event| match event {
        AdapterEvent::ToolEnded { item, output, .. } if item == call => Some(output),
        _ => None,
    })
}

/// The protocol of `codex app-server` for one session.
#[derive(Debug, Default)]
pub struct CodexAdapter {
    session: Option<SessionSpec>,
    connection: CodexConnection,
    /// Our own codex thread, once it is open in this process.
    thread_id: Option<String>,
    /// The thread that was reported to the engine.
    announced_thread_id: Option<String>,
    /// The model of the thread.
    model: Option<String>,
    /// The model that was reported to the engine.
    announced_model: Option<String>,
    turn: Option<CodexOpenTurn>,
    server_requests: PendingServerRequests,
    pending_hooks: PendingHooks,
    open_items: OpenItems,
    /// The running turns of sub-agents, by thread.
    sub_agent_turns: BTreeMap<String, String>,
    /// Whether the process was started with codex's own web search.
    web_search: WebSearchPolicy,
    /// This program's tools that the process was started without: codex reads the list of tools once.
    missing_tools: Vec<String>,
    /// When the plan's used-up windows reset, in seconds since 1970.
    resets_at: Option<i64>,
}

/// The turn that the engine waits for.
#[derive(Debug)]
struct CodexOpenTurn {
    spec: TurnSpec,
    stage: CodexTurnStage,
    interrupt: InterruptState,
    /// A failure that is reported no matter how codex ends the turn.
    overriding_failure: Option<TurnFailure>,
    /// The last final error that codex reported, in case the end of the turn names none.
    reported_failure: Option<TurnFailure>,
    /// The agent's last complete message.
    final_text: String,
}

/// The stage of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CodexTurnStage {
    /// The thread is not open yet.
    WaitingForThread,
    /// `turn/start` was sent.
    Sent,
    /// Codex accepted the turn and gave it this id.
    Accepted(String),
    /// Codex works on the turn with this id.
    Running(String),
}

impl CodexTurnStage {
    /// Returns codex's id of the turn, if it has one yet.
    fn turn_id(&self) -> Option<&str> {
        match self {
            Self::WaitingForThread | Self::Sent => None,
            Self::Accepted(id) | Self::Running(id) => Some(id),
        }
    }
}

/// Whether the turn should be interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InterruptState {
    /// The turn is not to be interrupted.
    Unwanted,
    /// It must be interrupted as soon as codex has started it.
    Wanted,
    /// The interrupt was sent to codex.
    Sent,
}

impl CodexAdapter {
    fn on_turn(&mut self, spec: TurnSpec, out: &mut Vec<AdapterOutput>) {
        if self.turn.is_some() {
            return push_notice(
                out,
                "a turn is already running; the new one was not started",
            );
        }
        let n_chars = spec.prompt.chars().count();
        self.turn = Some(CodexOpenTurn::new(spec));
        if n_chars > launch_parameters::MAX_PROMPT_CHARS {
            let limit = launch_parameters::MAX_PROMPT_CHARS;
            let text = format!(
                "the prompt has {n_chars} characters, but codex accepts at most {limit}; shorten the goal or the plan"
            );
            return self.fail_turn(TurnFailureKind::Refused, text, out);
        }
        match self.connection.state {
            CodexConnectionState::Launched => self.send_initialize(out),
            CodexConnectionState::Handshaking => {}
            CodexConnectionState::Ready => self.send_turn(out),
            CodexConnectionState::NotRunning | CodexConnectionState::Broken => {
                let text = "codex is not running".to_owned();
                self.fail_turn(TurnFailureKind::Protocol, text, out);
            }
        }
    }

    /// Interrupts the turn as soon as codex can handle it; a turn that codex does not know yet ends here.
    fn on_interrupt(&mut self, out: &mut Vec<AdapterOutput>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        match (&turn.stage, turn.interrupt) {
            (CodexTurnStage::WaitingForThread, _) => {
                self.end_turn(CliTurnOutcome::Interrupted, out)
            }
            // Codex cannot interrupt a turn that it has not started yet.
            (CodexTurnStage::Sent | CodexTurnStage::Accepted(_), _) => {
                turn.interrupt = InterruptState::Wanted
            }
            (CodexTurnStage::Running(_), InterruptState::Sent) => {}
            (CodexTurnStage::Running(id), InterruptState::Unwanted | InterruptState::Wanted) => {
                let id = id.clone();
                turn.interrupt = InterruptState::Sent;
                if let Some(thread_id) = self.thread_id.clone() {
                    self.connection.send_interrupt(&thread_id, &id, out);
                }
            }
        }
    }

    fn fail_turn(&mut self, kind: TurnFailureKind, message: String, out: &mut Vec<AdapterOutput>) {
        self.end_turn(CliTurnOutcome::Failed(TurnFailure::new(kind, message)), out);
    }

    /// Ends the open turn, if there is one: first the open items in it, then the turn.
    fn end_turn(&mut self, end: CliTurnOutcome, out: &mut Vec<AdapterOutput>) {
        let Some(turn) = self.turn.take() else {
            return;
        };
        self.decline_pending_requests(out);
        self.pending_hooks.deny_all("the turn has ended", out);
        // A sub-agent would continue to change files after the turn that is responsible for it.
        for (thread_id, turn_id) in std::mem::take(&mut self.sub_agent_turns) {
            self.connection.send_interrupt(&thread_id, &turn_id, out);
        }
        out.extend(
            self.open_items
                .close_turn()
                .into_iter()
                .map(AdapterOutput::Event),
        );
        let end = match turn.overriding_failure {
            Some(failure) => CliTurnOutcome::Failed(failure),
            None => match end {
                CliTurnOutcome::Failed(failure) => {
                    CliTurnOutcome::Failed(failure.with_reset_time(self.resets_at))
                }
                CliTurnOutcome::Completed { .. } | CliTurnOutcome::Interrupted => end,
            },
        };
        // This must come last: no event of the turn may follow its end.
        out.push(AdapterOutput::Event(AdapterEvent::TurnEnded(end)));
    }
}

impl CodexOpenTurn {
    fn new(spec: TurnSpec) -> Self {
        Self {
            spec,
            stage: CodexTurnStage::WaitingForThread,
            interrupt: InterruptState::Unwanted,
            overriding_failure: None,
            reported_failure: None,
            final_text: String::new(),
        }
    }

    /// Returns whether codex has not started this turn yet and may start it under this id.
    fn can_start_as(&self, turn_id: &str) -> bool {
        match &self.stage {
            CodexTurnStage::Sent => true,
            CodexTurnStage::Accepted(id) => id == turn_id,
            CodexTurnStage::WaitingForThread | CodexTurnStage::Running(_) => false,
        }
    }
}

impl Adapter for CodexAdapter {
    fn traits(&self) -> &'static AdapterTraits {
        &traits::TRAITS
    }

    fn prepare_launch(&mut self, session: &SessionSpec, turn: &TurnSpec) -> LaunchSpec {
        // A turn that is still open continues in the new process; the engine sends its command again.
        *self = Self {
            session: Some(session.clone()),
            connection: CodexConnection::for_new_process(),
            announced_thread_id: session.external_id.clone(),
            web_search: launch_parameters::web_search_policy(turn),
            missing_tools: launch_parameters::missing_tools(turn),
            ..Self::default()
        };
        launch_parameters::build_launch(session, self.web_search)
    }

    fn can_serve(&self, turn: &TurnSpec) -> bool {
        match self.connection.state {
            CodexConnectionState::Launched
            | CodexConnectionState::Handshaking
            | CodexConnectionState::Ready => {
                self.web_search == launch_parameters::web_search_policy(turn)
                    && self.missing_tools == launch_parameters::missing_tools(turn)
            }
            CodexConnectionState::NotRunning | CodexConnectionState::Broken => false,
        }
    }

    fn on_command(&mut self, order: AdapterCommand) -> Vec<AdapterOutput> {
        let mut out = Vec::new();
        match order {
            AdapterCommand::StartTurn(spec) => self.on_turn(spec, &mut out),
            AdapterCommand::DecideApproval(request, decision) => {
                self.on_decision(&request, &decision, &mut out)
            }
            AdapterCommand::AnswerQuestions(request, answers) => {
                self.on_question_answers(&request, answers.as_ref(), &mut out);
            }
            // Codex's hook has no such answer: a call is decided at once, or waits.
            AdapterCommand::AskUserFirst(_) => {}
            AdapterCommand::HandleHookCall(number, input) => {
                self.on_hook_call(number, &input, &mut out)
            }
            AdapterCommand::Interrupt => self.on_interrupt(&mut out),
            AdapterCommand::Steer(text) => self.on_steer(text, &mut out),
        }
        out
    }

    fn on_stdout_line(&mut self, line: &str) -> Vec<AdapterOutput> {
        let mut out = Vec::new();
        match app_server_protocol::parse_frame(line) {
            Err(problem) => push_malformed_line(&mut out, problem, line),
            Ok(CodexFrame::Unknown { kind }) => push_unknown_frame(&mut out, &kind, line),
            Ok(CodexFrame::Answer { id, outcome }) => {
                self.on_response(id, outcome, line, &mut out);
            }
            Ok(CodexFrame::Request { id, method, params }) => {
                self.on_request(&id, &method, params, line, &mut out);
            }
            Ok(CodexFrame::Notification { method, params }) => {
                self.on_notification(&method, params, line, &mut out);
            }
        }
        out
    }

    fn on_stderr_line(&mut self, line: &str) -> Vec<AdapterOutput> {
        let blocked = unsupported_call::parse_unsupported_call(line);
        blocked.map(AdapterOutput::Event).into_iter().collect()
    }

    fn on_exit(&mut self, exit: &CliExit) -> Vec<AdapterOutput> {
        let mut out = Vec::new();
        let connection = std::mem::take(&mut self.connection);
        let link = connection.state;
        out.extend(connection.into_undelivered_events());
        self.thread_id = None;
        self.pending_hooks.deny_all("codex has ended", &mut out);
        match (&self.turn, link) {
            (Some(_), _) => self.end_turn(
                CliTurnOutcome::Failed(failure_classifier::classify_exit(exit)),
                &mut out,
            ),
            (None, CodexConnectionState::NotRunning) => {}
            (
                None,
                CodexConnectionState::Launched
                | CodexConnectionState::Handshaking
                | CodexConnectionState::Ready
                | CodexConnectionState::Broken,
            ) => {
                push_notice(
                    &mut out,
                    &format!("codex ended ({})", failure_classifier::describe_exit(exit)),
                );
            }
        }
        out
    }
}

fn push_notice(out: &mut Vec<AdapterOutput>, text: &str) {
    let text = text.to_owned();
    out.push(AdapterOutput::Event(AdapterEvent::Notice { text }));
}

/// The longest piece of a frame that an event keeps, in bytes.
const MAX_EVENT_BYTES: usize = 4096;

fn push_unknown_frame(out: &mut Vec<AdapterOutput>, kind: &str, frame: &str) {
    out.push(AdapterOutput::Event(AdapterEvent::Unknown {
        kind: kind
            .chars()
            .take(app_server_protocol::MAX_PROBLEM_CHARS)
            .collect(),
        frame: truncate_for_event(frame).to_owned(),
    }));
}

fn push_malformed_line(out: &mut Vec<AdapterOutput>, problem: String, line: &str) {
    out.push(AdapterOutput::Event(AdapterEvent::Malformed {
        problem,
        line: truncate_for_event(line).to_owned(),
    }));
}

fn truncate_for_event(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_EVENT_BYTES))
        .unwrap_or(text)
}
