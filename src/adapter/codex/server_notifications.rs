//! Handles codex's notifications: the turn, its items, its errors, its token usage.
//!
//! Only our own thread can end our turn, and a sub-agent's text is never mixed with the agent's.

use serde_json::Value;

use super::app_server_protocol::{
    CodexItemDelta, CodexTurnStatus, ErrorNotification, ItemNotification, McpProgressNotification,
    McpStartupNotification, ModelRerouteNotification, PatchUpdateNotification,
    RateLimitsNotification, RequestResolvedNotification, SettingsUpdateNotification,
    SummaryNotification, SummaryPartNotification, TokenUsageNotification, TurnNotification,
    WarningNotification, parse_params,
};
use super::open_items::CodexSpeaker;
use super::thread_items::{self, ThreadItem};
use super::{
    CodexAdapter, CodexTurnStage, InterruptState, failure_classifier, push_malformed_line,
    push_notice, push_unknown_frame, settings_check,
};
use crate::adapter::{
    AdapterEvent, AdapterOutput, CliTurnOutcome, CliUsageTotals, TurnFailure, TurnFailureKind,
};
use crate::domain::session::AccountUsageWindow;

/// The method of the notification that ends an item.
pub(super) const ITEM_COMPLETED: &str = "item/completed";

/// Notifications that change nothing here. All others without a handler below are kept as unknown.
const IGNORED_METHODS: [&str; 19] = [
    "account/updated",
    "app/list/updated",
    "hook/started",
    "item/commandExecution/terminalInteraction",
    "item/plan/delta",
    "mcpServer/oauthLogin/completed",
    "project/changed",
    "remoteControl/status/changed",
    "skills/changed",
    "thread/environment/connected",
    "thread/goal/cleared",
    "thread/goal/updated",
    "thread/name/updated",
    "thread/queue/changed",
    "thread/readState/changed",
    "thread/started",
    "thread/status/changed",
    "turn/diff/updated",
    "turn/plan/updated",
];

/// The kind of live text that a delta carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaKind {
    Text,
    Thinking,
    Output,
}

impl CodexAdapter {
    pub(super) fn on_notification(
        &mut self,
        method: &str,
        params: Value,
        line: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        if IGNORED_METHODS.contains(&method) {
            return;
        }
        let owner = thread_id_of(&params);
        match self.dispatch_notification(method, params, line, out) {
            Ok(()) => {}
            Err(problem) => {
                let problem = format!("{method}: {problem}");
                push_malformed_line(out, problem.clone(), line);
                // If this unreadable notification were ignored, the turn would never end.
                if method == "turn/completed" && (owner.is_none() || owner == self.thread_id) {
                    self.fail_turn(TurnFailureKind::Protocol, problem, out);
                }
            }
        }
    }

    fn dispatch_notification(
        &mut self,
        method: &str,
        params: Value,
        line: &str,
        out: &mut Vec<AdapterOutput>,
    ) -> Result<(), String> {
        match method {
            "turn/started" => self.on_turn_started(&parse_params(params)?, out),
            "turn/completed" => self.on_turn_completed(&parse_params(params)?, out),
            "item/started" => {
                self.on_item(ItemBoundary::Start, parse_params(params)?, line, out)?
            }
            ITEM_COMPLETED => self.on_item(ItemBoundary::End, parse_params(params)?, line, out)?,
            "item/agentMessage/delta" => self.on_delta(DeltaKind::Text, parse_params(params)?, out),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.on_delta(DeltaKind::Thinking, parse_params(params)?, out);
            }
            "item/reasoning/summaryPartAdded" => self.on_summary_part(parse_params(params)?, out),
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" => {
                self.on_delta(DeltaKind::Output, parse_params(params)?, out);
            }
            "item/mcpToolCall/progress" => self.on_progress(parse_params(params)?, out),
            "item/fileChange/patchUpdated" => self.on_patch_updated(&parse_params(params)?, out),
            "thread/tokenUsage/updated" => self.on_usage(&parse_params(params)?, out),
            "thread/settings/updated" => self.on_settings_updated(&parse_params(params)?, out),
            "hook/completed" => self.on_hook_completed(&parse_params(params)?, out),
            "serverRequest/resolved" => self.on_request_resolved(&parse_params(params)?, out),
            "account/rateLimits/updated" => self.on_rate_limits(parse_params(params)?, out),
            "error" => self.on_error_notification(&parse_params(params)?, out),
            "warning" | "guardianWarning" => on_warning(&parse_params(params)?, out),
            "configWarning" | "deprecationNotice" => on_summary(&parse_params(params)?, out),
            "mcpServer/startupStatus/updated" => on_mcp_startup(&parse_params(params)?, out),
            "model/rerouted" => self.on_model_rerouted(parse_params(params)?, out),
            _ => push_unknown_frame(out, method, line),
        }
        Ok(())
    }

    /// Returns who speaks; `None` if the thread is not part of the running turn.
    fn speaker<'t>(&self, thread_id: &'t str, turn_id: &str) -> Option<CodexSpeaker<'t>> {
        let turn = self.turn.as_ref()?;
        if self.thread_id.as_deref() != Some(thread_id) {
            return Some(CodexSpeaker::SubAgent(thread_id));
        }
        (turn.stage.turn_id() == Some(turn_id)).then_some(CodexSpeaker::Agent)
    }

    fn on_turn_started(&mut self, started: &TurnNotification, out: &mut Vec<AdapterOutput>) {
        let TurnNotification { thread_id, turn } = started;
        if self.thread_id.as_ref() != Some(thread_id) {
            return self.on_sub_agent_started(thread_id, &turn.id, out);
        }
        let started = turn;
        match &mut self.turn {
            Some(turn) if turn.can_start_as(&started.id) => {
                turn.stage = CodexTurnStage::Running(started.id.clone());
                let wanted = turn.interrupt == InterruptState::Wanted;
                self.announce_session(out);
                out.push(AdapterOutput::Event(AdapterEvent::TurnStarted));
                if wanted {
                    self.on_interrupt(out);
                }
            }
            Some(turn) if turn.stage.turn_id() == Some(&started.id) => {}
            // Codex works on its own (a sub-agent has woken it), and that work would run without supervision.
            Some(_) | None => {
                push_notice(out, "codex started a turn on its own; it was interrupted");
                self.connection.send_interrupt(thread_id, &started.id, out);
            }
        }
    }

    /// Tracks a sub-agent's turn; it may run only as long as our turn does.
    fn on_sub_agent_started(
        &mut self,
        thread_id: &str,
        turn_id: &str,
        out: &mut Vec<AdapterOutput>,
    ) {
        if self.turn.is_some() {
            self.sub_agent_turns
                .insert(thread_id.to_owned(), turn_id.to_owned());
        } else {
            push_notice(
                out,
                "a sub-agent started outside a turn; it was interrupted",
            );
            self.connection.send_interrupt(thread_id, turn_id, out);
        }
    }

    /// Reports the session once a turn has started, because a thread cannot be resumed before.
    fn announce_session(&mut self, out: &mut Vec<AdapterOutput>) {
        if self.announced_thread_id == self.thread_id && self.announced_model == self.model {
            return;
        }
        self.announced_thread_id.clone_from(&self.thread_id);
        self.announced_model.clone_from(&self.model);
        if let Some(external_id) = self.thread_id.clone() {
            out.push(AdapterOutput::Event(AdapterEvent::SessionOpened {
                external_id,
                model: self.model.clone(),
            }));
        }
    }

    fn on_model_rerouted(&mut self, told: ModelRerouteNotification, out: &mut Vec<AdapterOutput>) {
        let text = format!(
            "codex uses {} instead of {}",
            told.to_model, told.from_model
        );
        push_notice(out, &text);
        self.model = Some(told.to_model);
        if self.announced_thread_id.is_some() {
            self.announce_session(out);
        }
    }

    fn on_turn_completed(&mut self, completed: &TurnNotification, out: &mut Vec<AdapterOutput>) {
        if self.thread_id.as_ref() != Some(&completed.thread_id) {
            self.sub_agent_turns.remove(&completed.thread_id);
            return;
        }
        let Some(turn) = &mut self.turn else {
            return;
        };
        if turn.stage.turn_id() != Some(&completed.turn.id) {
            return;
        }
        let told = completed
            .turn
            .error
            .as_ref()
            .map(failure_classifier::classify_turn_error);
        let end = match completed.turn.status {
            CodexTurnStatus::Completed => CliTurnOutcome::Completed {
                final_text: std::mem::take(&mut turn.final_text),
            },
            CodexTurnStatus::Interrupted => CliTurnOutcome::Interrupted,
            CodexTurnStatus::Failed => {
                CliTurnOutcome::Failed(told.or(turn.reported_failure.take()).unwrap_or_else(|| {
                    TurnFailure::new(
                        TurnFailureKind::Protocol,
                        "codex ended the turn without a reason",
                    )
                }))
            }
            CodexTurnStatus::InProgress => return,
        };
        if end == CliTurnOutcome::Interrupted {
            self.connection
                .send_clean_terminals(&completed.thread_id, out);
        }
        self.end_turn(end, out);
    }

    fn on_item(
        &mut self,
        edge: ItemBoundary,
        changed: ItemNotification,
        line: &str,
        out: &mut Vec<AdapterOutput>,
    ) -> Result<(), String> {
        let item = thread_items::parse_item(changed.item)?;
        let Some(speaker) = self.speaker(&changed.thread_id, &changed.turn_id) else {
            return Ok(());
        };
        if let ThreadItem::Unknown { kind } = &item {
            push_unknown_frame(out, kind, line);
        }
        if let (ThreadItem::Message(message), ItemBoundary::End, CodexSpeaker::Agent) =
            (&item, edge, speaker)
            && let Some(turn) = &mut self.turn
        {
            turn.final_text.clone_from(&message.text);
        }
        let events = match edge {
            ItemBoundary::Start => self.open_items.on_started(speaker, &item),
            ItemBoundary::End => self.open_items.on_completed(speaker, item),
        };
        out.extend(events.into_iter().map(AdapterOutput::Event));
        Ok(())
    }

    fn on_delta(&mut self, live: DeltaKind, delta: CodexItemDelta, out: &mut Vec<AdapterOutput>) {
        let Some(speaker) = self.speaker(&delta.thread_id, &delta.turn_id) else {
            return;
        };
        let CodexItemDelta { item_id, delta, .. } = delta;
        let event = match (live, speaker) {
            (DeltaKind::Text, CodexSpeaker::Agent) => self.open_items.on_text_delta(item_id, delta),
            (DeltaKind::Thinking, CodexSpeaker::Agent) => {
                self.open_items.on_thinking_delta(item_id, delta)
            }
            // A sub-agent's complete message follows; its deltas would be mixed with the agent's.
            (DeltaKind::Text | DeltaKind::Thinking, CodexSpeaker::SubAgent(_)) => return,
            (DeltaKind::Output, speaker) => AdapterEvent::ToolOutput {
                item: speaker.qualify_item_id(&item_id),
                text: delta,
            },
        };
        out.push(AdapterOutput::Event(event));
    }

    fn on_summary_part(&mut self, part: SummaryPartNotification, out: &mut Vec<AdapterOutput>) {
        let speaker = self.speaker(&part.thread_id, &part.turn_id);
        if speaker == Some(CodexSpeaker::Agent) && part.summary_index > 0 {
            let event = self
                .open_items
                .on_thinking_delta(part.item_id, "\n\n".to_owned());
            out.push(AdapterOutput::Event(event));
        }
    }

    fn on_progress(&mut self, progress: McpProgressNotification, out: &mut Vec<AdapterOutput>) {
        if let Some(speaker) = self.speaker(&progress.thread_id, &progress.turn_id) {
            out.push(AdapterOutput::Event(AdapterEvent::ToolOutput {
                item: speaker.qualify_item_id(&progress.item_id),
                text: format!("{}\n", progress.message),
            }));
        }
    }

    fn on_patch_updated(&mut self, patch: &PatchUpdateNotification, out: &mut Vec<AdapterOutput>) {
        if let Some(speaker) = self.speaker(&patch.thread_id, &patch.turn_id) {
            let item = speaker.qualify_item_id(&patch.item_id);
            let event = self.open_items.on_patch_changes(item, &patch.changes);
            out.extend(event.map(AdapterOutput::Event));
        }
    }

    fn on_usage(&mut self, updated: &TokenUsageNotification, out: &mut Vec<AdapterOutput>) {
        if self.thread_id.as_ref() == Some(&updated.thread_id) {
            let used = &updated.token_usage;
            out.push(AdapterOutput::Event(AdapterEvent::Usage(CliUsageTotals {
                input_tokens: used.total.input_tokens,
                output_tokens: used.total.output_tokens,
                cost_usd: None,
                context_tokens: used.last.as_ref().map(|last| last.total_tokens),
                context_window: used.model_context_window,
            })));
        }
    }

    /// Stops a turn whose settings turn out to be weaker than what was asked for.
    fn on_settings_updated(
        &mut self,
        updated: &SettingsUpdateNotification,
        out: &mut Vec<AdapterOutput>,
    ) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        if self.thread_id.as_ref() != Some(&updated.thread_id)
            || turn.stage == CodexTurnStage::WaitingForThread
        {
            return;
        }
        let access = turn.spec.access;
        if let Err(message) = settings_check::check_turn_settings(&updated.thread_settings, access)
        {
            turn.overriding_failure = Some(TurnFailure::new(TurnFailureKind::Refused, message));
            self.on_interrupt(out);
        }
    }

    /// Remembers which limits are used up; an update without that information does not clear it.
    fn on_rate_limits(&mut self, updated: RateLimitsNotification, out: &mut Vec<AdapterOutput>) {
        let told = updated.rate_limits;
        if told.primary.is_some() || told.secondary.is_some() {
            self.resets_at = failure_classifier::latest_limit_reset(&told);
            let windows = [told.primary, told.secondary].into_iter().flatten();
            let windows = windows.map(|window| {
                AccountUsageWindow::from_report(
                    window
                        .window_duration_mins
                        .and_then(|minutes| u32::try_from(minutes).ok()),
                    window.used_percent,
                    window.resets_at,
                )
            });
            let windows = windows.collect();
            out.push(AdapterOutput::Event(AdapterEvent::PlanUse { windows }));
        }
    }

    fn on_request_resolved(
        &mut self,
        resolved: &RequestResolvedNotification,
        out: &mut Vec<AdapterOutput>,
    ) {
        let event = self.server_requests.on_resolved(resolved);
        out.extend(event.map(AdapterOutput::Event));
    }

    fn on_error_notification(&mut self, told: &ErrorNotification, out: &mut Vec<AdapterOutput>) {
        let own = self.thread_id.as_ref() == Some(&told.thread_id);
        let Some(turn) = &mut self.turn else {
            return push_notice(out, &told.error.message);
        };
        match (own, told.will_retry) {
            (true, true) => {
                let events = self.open_items.withdraw_texts();
                out.extend(events.into_iter().map(AdapterOutput::Event));
                out.push(AdapterOutput::Event(retrying_event(told)));
            }
            (true, false) => {
                turn.reported_failure = Some(failure_classifier::classify_turn_error(&told.error))
            }
            (false, _) => push_notice(out, &format!("sub-agent warning: {}", told.error.message)),
        }
    }
}

/// Which end of an item is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ItemBoundary {
    Start,
    End,
}

fn thread_id_of(params: &Value) -> Option<String> {
    Some(params.get("threadId")?.as_str()?.to_owned())
}

/// Parses `Reconnecting... 1/5`; codex uses another text for the same thing while it waits for the network.
fn retrying_event(told: &ErrorNotification) -> AdapterEvent {
    let message = &told.error.message;
    let last = message.rsplit(' ').next().unwrap_or_default();
    let counts = last.split_once('/');
    let count = |text: &str| text.parse::<u32>().ok();
    AdapterEvent::Retrying {
        attempt: counts.and_then(|(attempt, _)| count(attempt)),
        max: counts.and_then(|(_, max)| count(max)),
        reason: match &told.error.additional_details {
            Some(details) => details.clone(),
            None => message.clone(),
        },
    }
}

fn on_warning(warning: &WarningNotification, out: &mut Vec<AdapterOutput>) {
    push_notice(out, &warning.message);
}

fn on_summary(told: &SummaryNotification, out: &mut Vec<AdapterOutput>) {
    match &told.details {
        Some(details) => push_notice(out, &format!("{}: {details}", told.summary.trim())),
        None => push_notice(out, told.summary.trim()),
    }
}

fn on_mcp_startup(startup: &McpStartupNotification, out: &mut Vec<AdapterOutput>) {
    if startup.status == "failed" {
        let why = startup.error.as_deref().unwrap_or("codex gave no reason");
        let text = format!("the MCP server {} did not start: {why}", startup.name);
        push_notice(out, &text);
    }
}
