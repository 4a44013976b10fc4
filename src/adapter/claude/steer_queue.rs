//! Queues texts that the user sends in the middle of a turn. While a tool runs, the CLI adds a line to the current
//! turn; at any other time it would start a new turn with it that the engine did not release. So a text waits for the
//! next tool.
//!
//! Nothing is sent outside of a turn: a text for which no tool ran is returned as too late, and so is one that an
//! exiting CLI has not confirmed.

use super::open_turn::{ClaudeStopReason, ClaudeTurnStage, prompt_line_id};
use super::{AdapterOutput, ClaudeAdapter, control_requests};
use crate::adapter::AdapterEvent;

/// The texts of the user that are not delivered yet.
#[derive(Debug, Default)]
pub struct SteerQueue {
    /// Texts that wait for a tool to run.
    waiting: Vec<String>,
    /// Line ids and texts that were sent but not confirmed yet, in sending order.
    unconfirmed: Vec<(String, String)>,
}

impl SteerQueue {
    /// Returns the texts that the ending turn did not receive.
    pub fn drain_waiting(&mut self) -> Vec<AdapterEvent> {
        let untold = std::mem::take(&mut self.waiting).into_iter();
        untold
            .map(|text| AdapterEvent::InputUndelivered { text })
            .collect()
    }

    /// Records that the current turn received these lines.
    pub fn on_delivered(&mut self, lines: &[String]) {
        self.unconfirmed.retain(|(line, _)| !lines.contains(line));
    }

    /// Returns the texts that a CLI did not receive before it exited, in sending order: sent but unconfirmed ones
    /// come first.
    pub fn drain_undelivered(&mut self) -> Vec<AdapterEvent> {
        let sent = std::mem::take(&mut self.unconfirmed).into_iter();
        let mut lost: Vec<_> = sent
            .map(|(_, text)| AdapterEvent::InputUndelivered { text })
            .collect();
        lost.extend(self.drain_waiting());
        lost
    }
}

impl ClaudeAdapter {
    /// Queues a text, and sends it as soon as the turn can receive it.
    pub(super) fn on_steer(&mut self, text: String) -> Vec<AdapterOutput> {
        if self.turn.is_none() {
            return vec![AdapterOutput::Event(AdapterEvent::InputUndelivered {
                text,
            })];
        }
        self.steer_queue.waiting.push(text);
        self.send_waiting_steers()
    }

    /// Sends the waiting texts while a tool of our turn runs.
    pub(super) fn send_waiting_steers(&mut self) -> Vec<AdapterOutput> {
        let Some(turn) = &self.turn else {
            return Vec::new();
        };
        let can =
            turn.stage == ClaudeTurnStage::Running && turn.stop == ClaudeStopReason::NotStopping;
        if !can || self.steer_queue.waiting.is_empty() || !self.translator.has_running_tool() {
            return Vec::new();
        }
        let id = turn.turn.clone();
        let mut out = Vec::new();
        for text in std::mem::take(&mut self.steer_queue.waiting) {
            self.n_lines = self.n_lines.saturating_add(1);
            let uuid = prompt_line_id(&id, &self.fresh_id, self.n_lines);
            out.push(AdapterOutput::Send(control_requests::prompt_message(
                &uuid, &text,
            )));
            self.steer_queue.unconfirmed.push((uuid, text));
        }
        out
    }

    /// Interrupts at once a turn that the CLI starts because of a line that came too late.
    pub(super) fn interrupt_late_steer(&mut self, uuid: &str) -> Option<Vec<AdapterOutput>> {
        let sent = &mut self.steer_queue.unconfirmed;
        let n = sent.iter().position(|(line, _)| line == uuid)?;
        let (_, text) = sent.remove(n);
        let untold = AdapterOutput::Event(AdapterEvent::InputUndelivered { text });
        self.turn
            .is_none()
            .then(|| vec![untold, self.interrupt_output()])
    }
}
