//! What the user says in the middle of a turn. While a tool runs the CLI takes a line into the turn at hand; at
//! any other time it would make a turn of its own of it, which nobody released. So a text waits for the next tool.
//!
//! Refuses to say anything outside of a turn: what no tool came for is handed back as too late, and so is what a CLI
//! that ends has not taken in.

use super::open_turn::{ClaudeStopReason, ClaudeTurnStage, prompt_line_id};
use super::{AdapterOutput, ClaudeAdapter, control_requests};
use crate::adapter::AdapterEvent;

/// What is said, and what was.
#[derive(Debug, Default)]
pub struct SteerQueue {
    /// Texts that wait for a tool.
    waiting: Vec<String>,
    /// What was sent and not taken in yet, with the ids of its lines, in the order in which it was said.
    unconfirmed: Vec<(String, String)>,
}

impl SteerQueue {
    /// What the turn that ends was not told.
    pub fn drain_waiting(&mut self) -> Vec<AdapterEvent> {
        let untold = std::mem::take(&mut self.waiting).into_iter();
        untold
            .map(|text| AdapterEvent::InputUndelivered { text })
            .collect()
    }

    /// Notes that the turn at hand has taken these lines in.
    pub fn on_delivered(&mut self, lines: &[String]) {
        self.unconfirmed.retain(|(line, _)| !lines.contains(line));
    }

    /// What a CLI that is gone was not told, in the order in which it was said: what it got and did not take in
    /// comes first.
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
    /// Takes a text in, and says it as soon as the turn can take it.
    pub(super) fn on_steer(&mut self, text: String) -> Vec<AdapterOutput> {
        if self.turn.is_none() {
            return vec![AdapterOutput::Event(AdapterEvent::InputUndelivered {
                text,
            })];
        }
        self.steer_queue.waiting.push(text);
        self.send_waiting_steers()
    }

    /// Says what waits, while a tool of our turn runs.
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

    /// Ends at once what the CLI begins of a line that came too late for its turn.
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
