//! What codex asks its client in the middle of a turn: whether a call may go ahead, and questions to the user.
//!
//! codex's questions were never recorded; their frames follow the schema that it generates of its protocol. Refuses to
//! know what becomes of a call.

use serde_json::{Value, json};

use super::{Codex, Stop, Wake, frames};
use crate::scripted::script::Question;

/// The answer to a request for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Accept,
    Decline,
    /// The client answered something else; the call fails, the turn goes on.
    Garbled,
}

impl Verdict {
    /// How an item ends that was not accepted.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Decline => "declined",
            Self::Accept | Self::Garbled => "failed",
        }
    }
}

/// Why a request got no verdict.
pub(super) enum Cancelled {
    /// The client cancelled the turn with its answer.
    ByAnswer,
    Otherwise(Stop),
}

impl Codex {
    /// Asks for an approval and waits for it.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Result<Verdict, Cancelled> {
        let result = self.put(method, params).map_err(Cancelled::Otherwise)?;
        match result.and_then(|result| result["decision"].as_str().map(str::to_owned)) {
            Some(word) if word == "accept" || word == "acceptForSession" => Ok(Verdict::Accept),
            Some(word) if word == "decline" => Ok(Verdict::Decline),
            Some(word) if word == "cancel" => Err(Cancelled::ByAnswer),
            _ => Ok(Verdict::Garbled),
        }
    }

    /// Asks the user and goes on with the answer, or without one.
    pub(super) fn question(&mut self, question: &Question) -> Result<(), Stop> {
        let id = self.next_item("call");
        let options: Vec<String> = question.options.iter().map(|o| self.fill(o)).collect();
        let text = self.fill(&question.question);
        let params = frames::ask_user(&self.place(), &id, (&question.header, &text), &options);
        self.waiting("waitingOnUserInput");
        let result = self.put("item/tool/requestUserInput", params)?;
        self.waiting("");
        let answer = result
            .as_ref()
            .map(|result| &result["answers"][&id]["answers"][0]);
        let Some(answer) = answer.and_then(Value::as_str).map(str::to_owned) else {
            return self.perform(&question.if_dismissed);
        };
        if let Some(playing) = &mut self.playing {
            playing.words.set("answer", answer);
        }
        self.perform(&question.if_answered)
    }

    /// Puts a request to the client and waits for its result; `None` for a refusal.
    fn put(&mut self, method: &str, params: Value) -> Result<Option<Value>, Stop> {
        let asked = self.n_requests;
        self.n_requests += 1;
        self.stage.send(&frames::request(asked, method, params));
        let answer = loop {
            match self.listen(None) {
                Ok(Wake::Answer { request, result }) if request == asked => break Ok(result),
                Ok(_) => {}
                Err(stop) => break Err(stop),
            }
        };
        if !matches!(answer, Err(Stop::Exit(_))) {
            let params = json!({"threadId": self.place().thread, "requestId": asked});
            self.stage
                .send(&frames::notification("serverRequest/resolved", params));
        }
        answer
    }

    /// Says what the turn waits for; nothing when it waits no more.
    pub(super) fn waiting(&mut self, flag: &str) {
        let flags: Vec<&str> = Some(flag)
            .into_iter()
            .filter(|flag| !flag.is_empty())
            .collect();
        let status = json!({"type": "active", "activeFlags": flags});
        self.stage
            .send(&frames::status(&self.place().thread, status));
    }
}
