//! What codex does for each action of a script.
//!
//! Knows the order of the frames around an action; their shapes are `frames.rs`'s.

use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::asking::{Cancelled, Verdict};
use super::{Codex, Stop, Terminal, Told, Wake, frames};
use crate::scripted::act::{Change, ChangeError, RunNumber, only_reads};
use crate::scripted::in_seconds;
use crate::scripted::script::{
    Action, Ask, Command, Edit, Failing, FailingKind, FailingOutcome, Speech, Stall, Write,
};

impl Codex {
    /// Does what a list of actions says.
    pub(super) fn perform(&mut self, actions: &[Action]) -> Result<(), Stop> {
        actions
            .iter()
            .try_for_each(|action| self.perform_one(action))
    }

    fn perform_one(&mut self, action: &Action) -> Result<(), Stop> {
        match action {
            Action::Text(speech) => self.say(speech),
            Action::Thinking(speech) => self.think(speech),
            Action::Cut(speech) => self.lose_text(speech),
            Action::Command(command) => self.command(command),
            Action::Write(write) => self.write(write),
            Action::Edit(edit) => self.edit(edit),
            Action::Error(failing) => self.fail(failing),
            Action::Stall(stall) => self.stall(stall),
            Action::Exit(exit) => Err(self.exit(exit.code, exit.stderr.as_deref())),
            Action::Frame(frame) => self.frame(&frame.json),
            Action::Malformed(malformed) => self.malformed(&malformed.line),
            Action::Tool(tool) => self.use_tool(tool),
            Action::Usage(tokens) => self.usage((tokens.input, tokens.output)),
            Action::Question(question) => self.question(question),
            // Refused when the script was loaded.
            Action::Unsolicited(_) => Ok(()),
        }
    }

    /// Waits for `ms` of the script's milliseconds.
    fn pause(&mut self, ms: u64) -> Result<(), Stop> {
        let deadline = Instant::now().checked_add(self.stage.pause(ms));
        while !matches!(self.listen(deadline)?, Wake::Timeout) {}
        Ok(())
    }

    pub(super) fn fill(&self, text: &str) -> String {
        self.playing
            .as_ref()
            .map_or_else(|| text.to_owned(), |playing| playing.words.fill(text))
    }

    pub(super) fn place(&self) -> frames::Place {
        match &self.playing {
            Some(playing) => playing.place.clone(),
            None => frames::Place {
                thread: String::new(),
                turn: String::new(),
            },
        }
    }

    pub(super) fn next_item(&mut self, kind: &str) -> String {
        let Some(playing) = &mut self.playing else {
            return kind.to_owned();
        };
        playing.n_items += 1;
        format!("{kind}_{}_0", playing.n_items - 1)
    }

    fn cwd(&self) -> PathBuf {
        let thread = self.threads.get(&self.place().thread);
        thread.map_or_else(|| self.cwd.clone(), |thread| thread.cwd.clone())
    }

    /// Streams a speech as deltas of one item and returns the whole text.
    fn stream(&mut self, speech: &Speech, method: &str, item: &str) -> Result<String, Stop> {
        let text = self.fill(&speech.text).repeat(speech.repeat as usize);
        for delta in speech.deltas(&text) {
            self.pause(speech.pause_ms)?;
            self.stage
                .send(&frames::delta(&self.place(), method, item, delta));
        }
        Ok(text)
    }

    fn say(&mut self, speech: &Speech) -> Result<(), Stop> {
        let id = self.next_item("msg");
        let mut item = frames::agent_message(&id);
        self.stage.send(&frames::item_started(&self.place(), &item));
        item["text"] = json!(self.stream(speech, "item/agentMessage/delta", &id)?);
        item["completedAtMs"] = json!(frames::now_ms());
        self.stage
            .send(&frames::item_completed(&self.place(), &item));
        if let Some(playing) = &mut self.playing {
            playing.last_message = Some(item);
        }
        Ok(())
    }

    fn think(&mut self, speech: &Speech) -> Result<(), Stop> {
        let id = self.next_item("rs");
        let place = self.place();
        let mut item = frames::reasoning(&id);
        self.stage.send(&frames::item_started(&place, &item));
        let params = json!({
            "threadId": place.thread, "turnId": place.turn, "itemId": id, "summaryIndex": 0,
        });
        self.stage.send(&frames::notification(
            "item/reasoning/summaryPartAdded",
            params,
        ));
        let text = self.stream(speech, "item/reasoning/summaryTextDelta", &id)?;
        item["summary"] = json!([text]);
        item["completedAtMs"] = json!(frames::now_ms());
        self.stage.send(&frames::item_completed(&place, &item));
        Ok(())
    }

    /// Half a message whose item never completes, then the notice of a retry.
    fn lose_text(&mut self, speech: &Speech) -> Result<(), Stop> {
        let id = self.next_item("msg");
        self.stage.send(&frames::item_started(
            &self.place(),
            &frames::agent_message(&id),
        ));
        self.stream(speech, "item/agentMessage/delta", &id)?;
        let details = "stream disconnected before completion: scripted";
        self.retry_notice("Reconnecting... 1/5", Value::Null, details);
        Ok(())
    }

    fn retry_notice(&mut self, message: &str, status: Value, details: &str) {
        let info = json!({"responseStreamDisconnected": {"httpStatusCode": status}});
        let place = self.place();
        let params = json!({
            "error": frames::error(message, info, Some(details)), "willRetry": true,
            "threadId": place.thread, "turnId": place.turn,
        });
        self.stage.send(&frames::notification("error", params));
    }

    fn command(&mut self, command: &Command) -> Result<(), Stop> {
        let line = self.fill(&command.run);
        let id = self.next_item("call");
        let cwd = self.cwd();
        let mut item = frames::command(&id, &line, &cwd.to_string_lossy());
        let unasked = self.sandbox_type() != "readOnly" || only_reads(&line);
        if command.ask == Ask::Always || !unasked {
            self.waiting("waitingOnApproval");
            self.stage.send(&frames::item_started(&self.place(), &item));
            let params = frames::ask_command(&self.place(), &item, command.reason.as_deref());
            let verdict = match self.ask("item/commandExecution/requestApproval", params) {
                Err(Cancelled::ByAnswer) => {
                    self.end_item(item, "declined");
                    self.waiting("");
                    return Err(Stop::Interrupted);
                }
                Err(Cancelled::Otherwise(stop)) => return Err(stop),
                Ok(verdict) => verdict,
            };
            self.waiting("");
            if verdict != Verdict::Accept {
                self.end_item(item, verdict.ending());
                return self.perform(&command.if_denied);
            }
            self.run(&line, item, cwd)?;
        } else {
            item["source"] = json!("unifiedExecStartup");
            item["processId"] = json!((10_000 + self.n_requests).to_string());
            self.stage.send(&frames::item_started(&self.place(), &item));
            self.run(&line, item, cwd)?;
        }
        self.perform(&command.if_allowed)
    }

    /// Runs a command whose item is started, to its end.
    fn run(&mut self, line: &str, mut item: Value, cwd: PathBuf) -> Result<(), Stop> {
        item["source"] = json!("unifiedExecStartup");
        let run = match self.stage.start(line, &cwd) {
            Ok(run) => run,
            Err(error) => {
                item["aggregatedOutput"] = json!(error.to_string());
                item["exitCode"] = json!(-1);
                self.end_item(item, "failed");
                return Ok(());
            }
        };
        item["processId"] = json!(run.to_string());
        let terminal = Terminal {
            place: self.place(),
            item,
            output: String::new(),
            started: Instant::now(),
        };
        self.terminals.insert(run, terminal);
        self.until_ended(run)
    }

    fn until_ended(&mut self, run: RunNumber) -> Result<(), Stop> {
        loop {
            if let Wake::Ended(ended) = self.listen(None)?
                && ended == run
            {
                return Ok(());
            }
        }
    }

    fn write(&mut self, write: &Write) -> Result<(), Stop> {
        let path = self.cwd().join(self.fill(&write.path));
        let change = Change::write(path, self.fill(&write.content));
        self.patch(change, write.ask, [&write.if_allowed, &write.if_denied])
    }

    fn edit(&mut self, edit: &Edit) -> Result<(), Stop> {
        let path = self.cwd().join(self.fill(&edit.path));
        let change = Change::edit(path, &self.fill(&edit.find), &self.fill(&edit.replace));
        self.patch(change, edit.ask, [&edit.if_allowed, &edit.if_denied])
    }

    /// Makes a patch, after asking where codex would. One that does not fit shows nothing, as
    /// codex shows nothing of it, and counts as denied.
    fn patch(
        &mut self,
        change: Result<Change, ChangeError>,
        ask: Ask,
        [allowed, denied]: [&[Action]; 2],
    ) -> Result<(), Stop> {
        let change = match change {
            Ok(change) => change,
            Err(error) => {
                self.stage
                    .complain(&format!("ERROR apply_patch verification failed: {error}"));
                return self.perform(denied);
            }
        };
        let id = self.next_item("call");
        let item = frames::file_change(&id, &change);
        if ask == Ask::AsReal && self.may_write(&change.path) {
            self.stage.send(&frames::item_started(&self.place(), &item));
        } else {
            self.waiting("waitingOnApproval");
            self.stage.send(&frames::item_started(&self.place(), &item));
            let params = frames::ask_patch(&self.place(), &item);
            let verdict = match self.ask("item/fileChange/requestApproval", params) {
                Err(Cancelled::ByAnswer) => return Err(Stop::Interrupted),
                Err(Cancelled::Otherwise(stop)) => return Err(stop),
                Ok(verdict) => verdict,
            };
            self.waiting("");
            if verdict != Verdict::Accept {
                self.end_item(item, verdict.ending());
                return self.perform(denied);
            }
        }
        if let Err(error) = change.make() {
            self.stage.complain(&format!("ERROR {error}"));
            self.end_item(item, "failed");
            return self.perform(denied);
        }
        self.end_item(item, "completed");
        self.tell_diff(&change);
        self.perform(allowed)
    }

    fn tell_diff(&mut self, change: &Change) {
        let place = self.place();
        let Some(playing) = &mut self.playing else {
            return;
        };
        playing.diff.push_str(&frames::git_diff(change));
        let params = json!({"threadId": place.thread, "turnId": place.turn, "diff": playing.diff});
        self.stage
            .send(&frames::notification("turn/diff/updated", params));
    }

    pub(super) fn end_item(&mut self, mut item: Value, status: &str) {
        item["status"] = json!(status);
        item["completedAtMs"] = json!(frames::now_ms());
        self.stage
            .send(&frames::item_completed(&self.place(), &item));
    }

    fn sandbox_type(&self) -> String {
        let thread = self.threads.get(&self.place().thread);
        let name = thread.and_then(|thread| thread.sandbox["type"].as_str());
        name.unwrap_or("readOnly").to_owned()
    }

    /// Tells whether the sandbox would let a patch of `path` through.
    fn may_write(&self, path: &Path) -> bool {
        let Some(thread) = self.threads.get(&self.place().thread) else {
            return false;
        };
        match self.sandbox_type().as_str() {
            "dangerFullAccess" => true,
            "workspaceWrite" => {
                let roots = thread.sandbox["writableRoots"].as_array();
                let roots = roots.into_iter().flatten().filter_map(Value::as_str);
                let path = plain(path);
                let guarded =
                    [".git", ".codex", ".agents", ".aws"].map(|name| thread.cwd.join(name));
                let inside =
                    path.starts_with(&thread.cwd) && !guarded.iter().any(|no| path.starts_with(no));
                inside || roots.into_iter().any(|root| path.starts_with(root))
            }
            _ => false,
        }
    }

    fn fail(&mut self, failing: &Failing) -> Result<(), Stop> {
        let status = match failing.kind {
            FailingKind::Unauthorized => json!(401),
            FailingKind::RateLimit | FailingKind::UsageLimit => json!(429),
            FailingKind::Server => json!(500),
            FailingKind::Connection => Value::Null,
        };
        for attempt in 1..=failing.retries {
            self.pause(failing.pause_ms)?;
            let message = format!("Reconnecting... {attempt}/{}", failing.retries);
            self.retry_notice(&message, status.clone(), &failure(failing.kind).0);
        }
        if let Some(seconds) = failing.resets_in {
            self.stage.send(&frames::used_up(in_seconds(seconds)));
        }
        match failing.outcome {
            FailingOutcome::Recovers => Ok(()),
            FailingOutcome::Fails => {
                let (message, info) = failure(failing.kind);
                Err(Stop::Failed(frames::error(&message, info, None)))
            }
        }
    }

    fn stall(&mut self, stall: &Stall) -> Result<(), Stop> {
        match stall.ms {
            Some(ms) => self.pause(ms),
            None => loop {
                self.listen(None)?;
            },
        }
    }

    fn exit(&mut self, code: i32, stderr: Option<&str>) -> Stop {
        if let Some(text) = stderr {
            self.stage.complain(text);
        }
        Stop::Exit(code)
    }

    fn frame(&mut self, frame: &Value) -> Result<(), Stop> {
        let text = self.fill(&frame.to_string());
        self.stage.send_line(&text);
        Ok(())
    }

    fn malformed(&mut self, line: &str) -> Result<(), Stop> {
        self.stage.send_line(line);
        Ok(())
    }

    fn usage(&mut self, last: (u64, u64)) -> Result<(), Stop> {
        self.tell_usage(last);
        Ok(())
    }

    /// Counts the tokens of one call and tells the totals.
    pub(super) fn tell_usage(&mut self, last: (u64, u64)) {
        let place = self.place();
        if let Some(playing) = &mut self.playing {
            playing.usage = Told::Already;
        }
        let Some(thread) = self.threads.get_mut(&place.thread) else {
            return;
        };
        let conversation = &mut thread.conversation;
        conversation.input_tokens += last.0;
        conversation.output_tokens += last.1;
        let total = (conversation.input_tokens, conversation.output_tokens);
        if let Err(error) = self.memory.save(&place.thread, conversation) {
            self.stage.complain(&format!("ERROR {error}"));
        }
        self.stage.send(&frames::token_usage(&place, total, last));
        self.stage.send(&frames::rate_limits());
    }
}

/// Returns what codex says of a failure, and its kind.
fn failure(kind: FailingKind) -> (String, Value) {
    let (message, info) = match kind {
        FailingKind::Unauthorized => (
            "unexpected status 401 Unauthorized: scripted error 401",
            json!({"httpConnectionFailed": {"httpStatusCode": 401}}),
        ),
        FailingKind::RateLimit => (
            "exceeded retry limit, last status: 429 Too Many Requests",
            json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
        ),
        FailingKind::UsageLimit => (
            "You\u{2019}ve hit your usage limit. Try again later.",
            json!("usageLimitExceeded"),
        ),
        FailingKind::Server => (
            "We're currently experiencing high demand, which may cause temporary errors.",
            json!("internalServerError"),
        ),
        FailingKind::Connection => (
            "Connection failed: error sending request",
            json!({"httpConnectionFailed": {"httpStatusCode": null}}),
        ),
    };
    (message.to_owned(), info)
}

/// Takes `.` and `..` out of a path without looking at the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}
