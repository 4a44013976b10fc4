//! What codex tells: the turn, its items, its errors, what it used.
//!
//! Refuses to end our turn for any thread but our own, and to mix a sub-agent's words with the agent's.

use serde_json::Value;

use super::items::{self, Item};
use super::translate::Speaker;
use super::wire::{
    Delta, ErrorTold, ItemChanged, McpStartup, PatchUpdated, Progress, RateLimitsUpdated, Rerouted,
    Resolved, SettingsUpdated, Summary, SummaryPart, TurnChanged, TurnStatus, UsageUpdated,
    Warning, parse_params,
};
use super::{Codex, Interrupt, Stage, failure, malformed, notice, settings, unknown};
use crate::adapter::{AdapterEvent, Failure, FailureKind, Output, TurnEnd, Usage};
use crate::domain::session::PlanWindow;

/// What tells the end of an item.
pub(super) const ENDED: &str = "item/completed";

/// Notifications that change nothing here. All others that are not handled below are kept as unknown.
const HARMLESS: [&str; 19] = [
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

/// Which kind of live text a delta carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    Text,
    Thinking,
    Output,
}

impl Codex {
    pub(super) fn on_notification(
        &mut self,
        method: &str,
        params: Value,
        line: &str,
        out: &mut Vec<Output>,
    ) {
        if HARMLESS.contains(&method) {
            return;
        }
        let owner = thread_of(&params);
        match self.on_known(method, params, line, out) {
            Ok(()) => {}
            Err(problem) => {
                let problem = format!("{method}: {problem}");
                malformed(out, problem.clone(), line);
                // Without a readable end the turn would never end.
                if method == "turn/completed" && (owner.is_none() || owner == self.thread_id) {
                    self.fail(FailureKind::Protocol, problem, out);
                }
            }
        }
    }

    fn on_known(
        &mut self,
        method: &str,
        params: Value,
        line: &str,
        out: &mut Vec<Output>,
    ) -> Result<(), String> {
        match method {
            "turn/started" => self.on_turn_started(&parse_params(params)?, out),
            "turn/completed" => self.on_turn_completed(&parse_params(params)?, out),
            "item/started" => self.on_item(Edge::Start, parse_params(params)?, line, out)?,
            ENDED => self.on_item(Edge::End, parse_params(params)?, line, out)?,
            "item/agentMessage/delta" => self.on_delta(Live::Text, parse_params(params)?, out),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.on_delta(Live::Thinking, parse_params(params)?, out);
            }
            "item/reasoning/summaryPartAdded" => self.on_part(parse_params(params)?, out),
            "item/commandExecution/outputDelta" | "item/fileChange/outputDelta" => {
                self.on_delta(Live::Output, parse_params(params)?, out);
            }
            "item/mcpToolCall/progress" => self.on_progress(parse_params(params)?, out),
            "item/fileChange/patchUpdated" => self.on_patch(&parse_params(params)?, out),
            "thread/tokenUsage/updated" => self.on_usage(&parse_params(params)?, out),
            "thread/settings/updated" => self.on_settings(&parse_params(params)?, out),
            "hook/completed" => self.on_hook_completed(&parse_params(params)?, out),
            "serverRequest/resolved" => self.on_resolved(&parse_params(params)?, out),
            "account/rateLimits/updated" => self.on_rate_limits(parse_params(params)?, out),
            "error" => self.on_error(&parse_params(params)?, out),
            "warning" | "guardianWarning" => on_warning(&parse_params(params)?, out),
            "configWarning" | "deprecationNotice" => on_summary(&parse_params(params)?, out),
            "mcpServer/startupStatus/updated" => on_mcp(&parse_params(params)?, out),
            "model/rerouted" => on_rerouted(&parse_params(params)?, out),
            _ => unknown(out, method, line),
        }
        Ok(())
    }

    /// Tells who speaks; `None` when it is none of the running turn's business.
    fn speaker<'t>(&self, thread_id: &'t str, turn_id: &str) -> Option<Speaker<'t>> {
        let turn = self.turn.as_ref()?;
        if self.thread_id.as_deref() != Some(thread_id) {
            return Some(Speaker::SubAgent(thread_id));
        }
        (turn.stage.turn_id() == Some(turn_id)).then_some(Speaker::Agent)
    }

    fn on_turn_started(&mut self, started: &TurnChanged, out: &mut Vec<Output>) {
        let TurnChanged { thread_id, turn } = started;
        if self.thread_id.as_ref() != Some(thread_id) {
            return self.on_sub_agent_started(thread_id, &turn.id, out);
        }
        let started = turn;
        match &mut self.turn {
            Some(turn) if turn.awaits(&started.id) => {
                turn.stage = Stage::Running(started.id.clone());
                let wanted = turn.interrupt == Interrupt::Wanted;
                self.announce(out);
                out.push(Output::Event(AdapterEvent::TurnStarted));
                if wanted {
                    self.on_interrupt(out);
                }
            }
            Some(turn) if turn.stage.turn_id() == Some(&started.id) => {}
            // Codex works without being told to (a sub-agent has woken it): nobody watches over that.
            Some(_) | None => {
                notice(out, "codex began a turn of its own; it was interrupted");
                self.connection.interrupt(thread_id, &started.id, out);
            }
        }
    }

    /// A sub-agent may work while our turn runs, and no longer.
    fn on_sub_agent_started(&mut self, thread_id: &str, turn_id: &str, out: &mut Vec<Output>) {
        if self.turn.is_some() {
            self.sub_agents
                .insert(thread_id.to_owned(), turn_id.to_owned());
        } else {
            notice(
                out,
                "a sub-agent began to work outside a turn; it was interrupted",
            );
            self.connection.interrupt(thread_id, turn_id, out);
        }
    }

    /// A thread can be resumed once a turn of it has begun, and not before.
    fn announce(&mut self, out: &mut Vec<Output>) {
        if self.announced == self.thread_id {
            return;
        }
        self.announced.clone_from(&self.thread_id);
        if let Some(external_id) = self.thread_id.clone() {
            out.push(Output::Event(AdapterEvent::SessionOpened { external_id }));
        }
    }

    fn on_turn_completed(&mut self, completed: &TurnChanged, out: &mut Vec<Output>) {
        if self.thread_id.as_ref() != Some(&completed.thread_id) {
            self.sub_agents.remove(&completed.thread_id);
            return;
        }
        let Some(turn) = &mut self.turn else {
            return;
        };
        if turn.stage.turn_id() != Some(&completed.turn.id) {
            return;
        }
        let told = completed.turn.error.as_ref().map(failure::failure);
        let end = match completed.turn.status {
            TurnStatus::Completed => TurnEnd::Completed {
                final_text: std::mem::take(&mut turn.final_text),
            },
            TurnStatus::Interrupted => TurnEnd::Interrupted,
            TurnStatus::Failed => TurnEnd::Failed(told.or(turn.told.take()).unwrap_or_else(|| {
                Failure::new(
                    FailureKind::Protocol,
                    "codex gave the turn up and did not say why",
                )
            })),
            TurnStatus::InProgress => return,
        };
        if end == TurnEnd::Interrupted {
            self.connection.clean(&completed.thread_id, out);
        }
        self.end_turn(end, out);
    }

    fn on_item(
        &mut self,
        edge: Edge,
        changed: ItemChanged,
        line: &str,
        out: &mut Vec<Output>,
    ) -> Result<(), String> {
        let item = items::parse_item(changed.item)?;
        let Some(speaker) = self.speaker(&changed.thread_id, &changed.turn_id) else {
            return Ok(());
        };
        if let Item::Unknown { kind } = &item {
            unknown(out, kind, line);
        }
        if let (Item::Message(message), Edge::End, Speaker::Agent) = (&item, edge, speaker)
            && let Some(turn) = &mut self.turn
        {
            turn.final_text.clone_from(&message.text);
        }
        let events = match edge {
            Edge::Start => self.items.on_started(speaker, &item),
            Edge::End => self.items.on_completed(speaker, item),
        };
        out.extend(events.into_iter().map(Output::Event));
        Ok(())
    }

    fn on_delta(&mut self, live: Live, delta: Delta, out: &mut Vec<Output>) {
        let Some(speaker) = self.speaker(&delta.thread_id, &delta.turn_id) else {
            return;
        };
        let Delta { item_id, delta, .. } = delta;
        let event = match (live, speaker) {
            (Live::Text, Speaker::Agent) => self.items.on_text(item_id, delta),
            (Live::Thinking, Speaker::Agent) => self.items.on_thinking(item_id, delta),
            // A sub-agent's whole message follows; its pieces would run into the agent's.
            (Live::Text | Live::Thinking, Speaker::SubAgent(_)) => return,
            (Live::Output, speaker) => AdapterEvent::ToolOutput {
                item: speaker.key(&item_id),
                text: delta,
            },
        };
        out.push(Output::Event(event));
    }

    fn on_part(&mut self, part: SummaryPart, out: &mut Vec<Output>) {
        let speaker = self.speaker(&part.thread_id, &part.turn_id);
        if speaker == Some(Speaker::Agent) && part.summary_index > 0 {
            let event = self.items.on_thinking(part.item_id, "\n\n".to_owned());
            out.push(Output::Event(event));
        }
    }

    fn on_progress(&mut self, progress: Progress, out: &mut Vec<Output>) {
        if let Some(speaker) = self.speaker(&progress.thread_id, &progress.turn_id) {
            out.push(Output::Event(AdapterEvent::ToolOutput {
                item: speaker.key(&progress.item_id),
                text: format!("{}\n", progress.message),
            }));
        }
    }

    fn on_patch(&mut self, patch: &PatchUpdated, out: &mut Vec<Output>) {
        if let Some(speaker) = self.speaker(&patch.thread_id, &patch.turn_id) {
            let item = speaker.key(&patch.item_id);
            let event = self.items.on_changes(item, &patch.changes);
            out.extend(event.map(Output::Event));
        }
    }

    fn on_usage(&mut self, updated: &UsageUpdated, out: &mut Vec<Output>) {
        if self.thread_id.as_ref() == Some(&updated.thread_id) {
            let used = &updated.token_usage;
            out.push(Output::Event(AdapterEvent::Usage(Usage {
                input_tokens: used.total.input_tokens,
                output_tokens: used.total.output_tokens,
                cost_usd: None,
                context_tokens: used.last.as_ref().map(|last| last.total_tokens),
                context_window: used.model_context_window,
            })));
        }
    }

    /// Stops a turn whose settings turn out to be weaker than what was asked.
    fn on_settings(&mut self, updated: &SettingsUpdated, out: &mut Vec<Output>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        if self.thread_id.as_ref() != Some(&updated.thread_id) || turn.stage == Stage::Waiting {
            return;
        }
        let access = turn.spec.access;
        if let Err(message) = settings::check_running(&updated.thread_settings, access) {
            turn.verdict = Some(Failure::new(FailureKind::Refused, message));
            self.on_interrupt(out);
        }
    }

    /// Remembers what is used up; an answer that tells nothing of it does not make that forgotten.
    fn on_rate_limits(&mut self, updated: RateLimitsUpdated, out: &mut Vec<Output>) {
        let told = updated.rate_limits;
        if told.primary.is_some() || told.secondary.is_some() {
            self.resets_at = failure::resets_at(&told);
            let windows = [told.primary, told.secondary].into_iter().flatten();
            let windows = windows.map(|window| {
                PlanWindow::told(
                    window
                        .window_duration_mins
                        .and_then(|minutes| u32::try_from(minutes).ok()),
                    window.used_percent,
                    window.resets_at,
                )
            });
            let windows = windows.collect();
            out.push(Output::Event(AdapterEvent::PlanUse { windows }));
        }
    }

    fn on_resolved(&mut self, resolved: &Resolved, out: &mut Vec<Output>) {
        let event = self.asks.on_resolved(resolved);
        out.extend(event.map(Output::Event));
    }

    fn on_error(&mut self, told: &ErrorTold, out: &mut Vec<Output>) {
        let own = self.thread_id.as_ref() == Some(&told.thread_id);
        let Some(turn) = &mut self.turn else {
            return notice(out, &told.error.message);
        };
        match (own, told.will_retry) {
            (true, true) => {
                let events = self.items.withdraw_texts();
                out.extend(events.into_iter().map(Output::Event));
                out.push(Output::Event(retrying(told)));
            }
            (true, false) => turn.told = Some(failure::failure(&told.error)),
            (false, _) => notice(
                out,
                &format!("a sub-agent's trouble: {}", told.error.message),
            ),
        }
    }
}

/// Which end of an item is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

fn thread_of(params: &Value) -> Option<String> {
    Some(params.get("threadId")?.as_str()?.to_owned())
}

/// Reads `Reconnecting... 1/5`; codex says the same thing in other words where it waits for the network.
fn retrying(told: &ErrorTold) -> AdapterEvent {
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

fn on_warning(warning: &Warning, out: &mut Vec<Output>) {
    notice(out, &warning.message);
}

fn on_summary(told: &Summary, out: &mut Vec<Output>) {
    match &told.details {
        Some(details) => notice(out, &format!("{}: {details}", told.summary.trim())),
        None => notice(out, told.summary.trim()),
    }
}

fn on_mcp(startup: &McpStartup, out: &mut Vec<Output>) {
    if startup.status == "failed" {
        let why = startup.error.as_deref().unwrap_or("codex does not say why");
        let text = format!("the MCP server {} did not start: {why}", startup.name);
        notice(out, &text);
    }
}

fn on_rerouted(told: &Rerouted, out: &mut Vec<Output>) {
    let text = format!(
        "codex uses {} instead of {}",
        told.to_model, told.from_model
    );
    notice(out, &text);
}
