//! What codex asks of us, from its question to our answer.
//!
//! Refuses to leave a request unanswered: what is not known is answered with an error, and what
//! nobody can decide is declined.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::asks::{self, Ask, Asking, Context};
use super::{Codex, Stage, malformed, notice, unknown};
use crate::adapter::{AdapterEvent, Decision, Output};
use crate::domain::ids::RequestId;

impl Codex {
    pub(super) fn on_request(
        &mut self,
        (id, method): (&Value, &str),
        params: Value,
        line: &str,
        out: &mut Vec<Output>,
    ) {
        let Some(session) = &self.session else {
            return self.refuse(id, "nobody listens", out);
        };
        let context = Context {
            own_thread: self.thread_id.as_deref(),
            cwd: &session.cwd,
            items: &self.items,
        };
        match asks::parse_ask(id, method, params, context) {
            Ok(Asking::Open(asked)) => self.on_ask(*asked, out),
            Ok(Asking::Refused(result, text)) => {
                let answer = json!({ "id": id, "result": result });
                self.connection.send(&answer, out);
                notice(out, &text);
            }
            Ok(Asking::Unknown) => {
                self.refuse(id, &format!("agent-collab does not serve {method}"), out);
                unknown(out, method, line);
            }
            Err(problem) => {
                self.refuse(id, &problem, out);
                malformed(out, format!("{method}: {problem}"), line);
            }
        }
    }

    fn refuse(&self, id: &Value, message: &str, out: &mut Vec<Output>) {
        let error = json!({ "code": -32601, "message": message });
        let answer = json!({ "id": id, "error": error });
        self.connection.send(&answer, out);
    }

    /// Outside a turn nobody is there to decide, so nothing is allowed.
    fn on_ask(&mut self, (ask, event): (Ask, AdapterEvent), out: &mut Vec<Output>) {
        if self.turn.is_none() {
            let reason = "no turn is running".to_owned();
            let answer = ask.answer(&Decision::Deny { reason });
            self.connection.send(&answer, out);
            return notice(
                out,
                "codex asked for something outside a turn; it was declined",
            );
        }
        self.asks.insert(ask);
        out.push(Output::Event(event));
    }

    pub(super) fn on_answer(
        &mut self,
        request: &RequestId,
        decision: &Decision,
        out: &mut Vec<Output>,
    ) {
        if self.hooks.answer(request, decision, out) {
            if *decision == Decision::DenyAndStop {
                self.on_interrupt(out);
            }
            return;
        }
        let Some(ask) = self.asks.take(request) else {
            return notice(out, &format!("codex no longer waits for request {request}"));
        };
        let own = self.thread_id.as_deref() == Some(&ask.thread_id);
        match decision {
            // An answer has no room for words. Said before it, they reach the agent together with it.
            Decision::Deny { reason } if own => self.tell_reason(&ask, reason, out),
            Decision::Allow | Decision::Deny { .. } | Decision::DenyAndStop => {}
        }
        self.connection.send(&ask.answer(decision), out);
        let stops_by_itself = own && ask.ends_turn_when_cancelled();
        if *decision == Decision::DenyAndStop && !stops_by_itself {
            self.on_interrupt(out);
        }
    }

    fn tell_reason(&mut self, ask: &Ask, reason: &str, out: &mut Vec<Output>) {
        let running = match &self.turn {
            Some(turn) => turn.stage.clone(),
            None => return,
        };
        let reason = reason.trim();
        if let (Stage::Running(id), false) = (running, reason.is_empty())
            && ask.turn_id.as_ref() == Some(&id)
        {
            self.send_steer(&id, reason, out);
        }
    }

    pub(super) fn on_answers(
        &mut self,
        request: &RequestId,
        answers: Option<&BTreeMap<String, String>>,
        out: &mut Vec<Output>,
    ) {
        match self.asks.take(request) {
            Some(ask) => self.connection.send(&ask.answer_questions(answers), out),
            None => notice(out, &format!("codex no longer waits for request {request}")),
        }
    }

    /// Declines what is still open: a turn that has ended waits for nobody.
    pub(super) fn refuse_open_asks(&mut self, out: &mut Vec<Output>) {
        for (request, ask) in self.asks.drain() {
            let reason = "the turn is over".to_owned();
            let answer = ask.answer(&Decision::Deny { reason });
            self.connection.send(&answer, out);
            out.push(Output::Event(AdapterEvent::RequestWithdrawn { request }));
        }
    }
}
