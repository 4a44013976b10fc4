//! What the user says in the middle of a turn. While a tool runs the CLI takes a line into the turn at hand; at
//! any other time it would make a turn of its own of it, which nobody released. So a text waits for the next tool.
//!
//! Refuses to say anything outside of a turn: what no tool came for is handed back as too late, and so is what a CLI
//! that ends has not taken in.

use super::turn::{Stage, Stop, line_id};
use super::{Claude, Output, asks};
use crate::adapter::AdapterEvent;

/// What is said, and what was.
#[derive(Debug, Default)]
pub struct Steering {
    /// Texts that wait for a tool.
    waiting: Vec<String>,
    /// What was sent and not taken in yet, with the ids of its lines, in the order in which it was said.
    sent: Vec<(String, String)>,
}

impl Steering {
    /// What the turn that ends was not told.
    pub fn untold(&mut self) -> Vec<AdapterEvent> {
        let untold = std::mem::take(&mut self.waiting).into_iter();
        untold.map(|text| AdapterEvent::Untold { text }).collect()
    }

    /// Notes that the turn at hand has taken these lines in.
    pub fn on_taken_in(&mut self, lines: &[String]) {
        self.sent.retain(|(line, _)| !lines.contains(line));
    }

    /// What a CLI that is gone was not told, in the order in which it was said: what it got and did not take in
    /// comes first.
    pub fn lost(&mut self) -> Vec<AdapterEvent> {
        let sent = std::mem::take(&mut self.sent).into_iter();
        let mut lost: Vec<_> = sent
            .map(|(_, text)| AdapterEvent::Untold { text })
            .collect();
        lost.extend(self.untold());
        lost
    }
}

impl Claude {
    /// Takes a text in, and says it as soon as the turn can take it.
    pub(super) fn on_steer(&mut self, text: String) -> Vec<Output> {
        if self.turn.is_none() {
            return vec![Output::Event(AdapterEvent::Untold { text })];
        }
        self.steering.waiting.push(text);
        self.steer()
    }

    /// Says what waits, while a tool of our turn runs.
    pub(super) fn steer(&mut self) -> Vec<Output> {
        let Some(turn) = &self.turn else {
            return Vec::new();
        };
        let can = turn.stage == Stage::Begun && turn.stop == Stop::No;
        if !can || self.steering.waiting.is_empty() || !self.transcript.has_running_tool() {
            return Vec::new();
        }
        let id = turn.turn.clone();
        let mut out = Vec::new();
        for text in std::mem::take(&mut self.steering.waiting) {
            self.n_lines = self.n_lines.saturating_add(1);
            let uuid = line_id(&id, &self.fresh_id, self.n_lines);
            out.push(Output::Send(asks::prompt(&uuid, &text)));
            self.steering.sent.push((uuid, text));
        }
        out
    }

    /// Ends at once what the CLI begins of a line that came too late for its turn.
    pub(super) fn on_steer_alone(&mut self, uuid: &str) -> Option<Vec<Output>> {
        let sent = &mut self.steering.sent;
        let n = sent.iter().position(|(line, _)| line == uuid)?;
        let (_, text) = sent.remove(n);
        let untold = Output::Event(AdapterEvent::Untold { text });
        self.turn.is_none().then(|| vec![untold, self.interrupt()])
    }
}
