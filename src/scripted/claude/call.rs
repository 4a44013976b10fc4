//! Calls of tools by claude: the call, the host's word on it, what comes of it.
//!
//! Knows the order of the frames around a call; their shapes are `frames.rs`'s.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::frames::{Tool, ToolResult, fresh};
use super::hook::Weighed;
use super::{Claude, Input, Phase, Stop, Wake};
use crate::scripted::act::{Change, ChangeError, only_reads};
use crate::scripted::script::{Ask, Command, Edit, Question, ToolUse, Write};
use crate::scripted::tool_server::{ToolCall, ToolOutcome, filled};

/// The answer to a request.
enum Verdict {
    /// It goes ahead with this input.
    Allow { input: Value },
    /// It does not go ahead; the model is told why.
    Deny { message: String },
    /// It does not go ahead and the turn ends.
    DenyAndStop { message: String },
}

/// What came of a tool.
enum Done {
    Allowed,
    Denied,
}

/// Whether a call is asked about.
enum Asks {
    Yes,
    No,
}

impl Claude {
    /// Streams a tool call and, where `asks`, waits for the host's word on it.
    fn call(
        &mut self,
        name: &str,
        input: Value,
        description: String,
        ask: Asks,
    ) -> Result<(Tool, Verdict), Stop> {
        let message = self.open_message();
        let mut tool = Tool {
            id: format!("toolu_{}", fresh().replace('-', "")),
            name: name.to_owned(),
            input,
            description,
        };
        let block = json!({"type": "tool_use", "id": tool.id, "name": name, "input": {}});
        let event = json!({"type": "content_block_start", "index": message.n_blocks, "content_block": block});
        self.stream(&message, event);
        let delta = json!({"type": "input_json_delta", "partial_json": tool.input.to_string()});
        let event =
            json!({"type": "content_block_delta", "index": message.n_blocks, "delta": delta});
        self.stream(&message, event);
        let block = json!({"type": "tool_use", "id": tool.id, "name": name, "input": tool.input});
        self.end_block(&message, &block);
        self.close_message("tool_use");
        let verdict = match (self.weigh(&tool)?, ask) {
            (Weighed::Allow, _) | (Weighed::Silent, Asks::No) => Verdict::Allow {
                input: tool.input.clone(),
            },
            (Weighed::Deny(message), _) => Verdict::Deny { message },
            (Weighed::Ask, _) | (Weighed::Silent, Asks::Yes) => self.ask(&tool)?,
        };
        match &verdict {
            Verdict::Allow { input } => tool.input = input.clone(),
            Verdict::Deny { message } => self.deny(&tool, message),
            Verdict::DenyAndStop { message } => {
                self.deny(&tool, message);
                self.set_phase(Phase::Between);
                return Err(self.stopped_by_denial());
            }
        }
        Ok((tool, verdict))
    }

    fn ask(&mut self, tool: &Tool) -> Result<Verdict, Stop> {
        let request = fresh();
        let frame = self.stamp.can_use_tool(&request, tool);
        let answer = self.put(&frame, request, tool)?;
        Ok(match answer {
            Some(answer) => verdict(&answer, &tool.input),
            None => Verdict::Deny {
                message: "Tool permission request failed: Error: Stream closed".to_owned(),
            },
        })
    }

    /// Puts a request about a call to the host and waits for its answer; `None` when none can come any more.
    pub(super) fn put(
        &mut self,
        frame: &Value,
        request: String,
        tool: &Tool,
    ) -> Result<Option<Value>, Stop> {
        self.stage.send(frame);
        self.set_phase(Phase::Asking {
            request: request.clone(),
            tool: tool.clone(),
        });
        let answer = loop {
            if self.input == Input::Closed {
                break None;
            }
            match self.listen(None)? {
                Wake::Answer {
                    request: answered,
                    answer,
                } if answered == request => break Some(answer),
                Wake::InputClosed => break None,
                Wake::Timeout
                | Wake::Output(..)
                | Wake::Ended(..)
                | Wake::Answer { .. }
                | Wake::Other => {}
            }
        };
        self.set_phase(Phase::Between);
        Ok(answer)
    }

    pub(super) fn deny(&mut self, tool: &Tool, message: &str) {
        self.note_denial(tool);
        let result = ToolResult {
            content: message.to_owned(),
            is_error: Some(true),
            detail: json!(format!("Error: {message}")),
            meta: meta(&[
                ("non_execution_kind", json!("permission-rule")),
                (
                    "permission_decision",
                    json!({"decision": "reject", "source": "user_reject"}),
                ),
            ]),
        };
        self.stage.send(&self.stamp.tool_result(tool, &result));
    }

    pub(super) fn note_denial(&mut self, tool: &Tool) {
        if let Some(playing) = &mut self.playing {
            let denial =
                json!({"tool_name": tool.name, "tool_use_id": tool.id, "tool_input": tool.input});
            playing.denials.push(denial);
        }
    }

    pub(super) fn command(&mut self, command: &Command) -> Result<(), Stop> {
        let line = self.fill(&command.run);
        let description = command.reason.clone().unwrap_or_else(|| line.clone());
        let input = json!({"command": line, "description": description});
        let ruled = self.flags.asks.iter().any(|rule| rule == "Bash");
        let ask = if command.ask == Ask::Always || ruled || !only_reads(&line) {
            Asks::Yes
        } else {
            Asks::No
        };
        let (tool, verdict) = self.call("Bash", input, description, ask)?;
        match verdict {
            Verdict::Allow { .. } => {
                self.run(&tool)?;
                self.perform(&command.if_allowed)
            }
            Verdict::Deny { .. } | Verdict::DenyAndStop { .. } => self.perform(&command.if_denied),
        }
    }

    /// Runs a command to its end; an interrupt kills it and everything it started.
    fn run(&mut self, tool: &Tool) -> Result<(), Stop> {
        let line = tool.input["command"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let started = self.stage.start(&line, &PathBuf::from(&self.stamp.cwd));
        let run = match started {
            Ok(run) => run,
            Err(error) => {
                self.tell_command(tool, &error.to_string(), None);
                return Ok(());
            }
        };
        self.set_phase(Phase::Running { tool: tool.clone() });
        let mut output = String::new();
        let code = loop {
            match self.listen(None) {
                Ok(Wake::Output(from, text)) if from == run => output.push_str(&text),
                Ok(Wake::Ended(ended, code)) if ended == run => break code,
                Ok(_) => {}
                Err(stop) => {
                    self.stage.kill(run);
                    return Err(stop);
                }
            }
        };
        self.set_phase(Phase::Between);
        self.tell_command(tool, output.trim_end(), code);
        Ok(())
    }

    fn tell_command(&mut self, tool: &Tool, output: &str, code: Option<i32>) {
        let result = if code == Some(0) {
            let silent = output.is_empty();
            let content = if silent {
                "(Bash completed with no output)"
            } else {
                output
            };
            ToolResult {
                content: content.to_owned(),
                is_error: Some(false),
                detail: json!({
                    "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
                    "noOutputExpected": silent,
                }),
                meta: accepted(),
            }
        } else {
            let content = format!("Exit code {}\n{output}", code.unwrap_or(137));
            let content = content.trim_end().to_owned();
            let detail = json!(format!("Error: {content}"));
            ToolResult {
                content,
                is_error: Some(true),
                detail,
                meta: accepted(),
            }
        };
        self.stage.send(&self.stamp.tool_result(tool, &result));
    }

    pub(super) fn write(&mut self, write: &Write) -> Result<(), Stop> {
        let path = PathBuf::from(&self.stamp.cwd).join(self.fill(&write.path));
        let input = json!({"file_path": path, "content": self.fill(&write.content)});
        let done = self.change("Write", input, write.ask, |input| {
            Change::write(path_of(input, &path), text_of(input, "content"))
        })?;
        self.perform(if matches!(done, Done::Allowed) {
            &write.if_allowed
        } else {
            &write.if_denied
        })
    }

    pub(super) fn edit(&mut self, edit: &Edit) -> Result<(), Stop> {
        let path = PathBuf::from(&self.stamp.cwd).join(self.fill(&edit.path));
        let input = json!({
            "file_path": path, "old_string": self.fill(&edit.find),
            "new_string": self.fill(&edit.replace), "replace_all": false,
        });
        let done = self.change("Edit", input, edit.ask, |input| {
            let [find, replace] = ["old_string", "new_string"].map(|key| text_of(input, key));
            Change::edit(path_of(input, &path), &find, &replace)
        })?;
        self.perform(if matches!(done, Done::Allowed) {
            &edit.if_allowed
        } else {
            &edit.if_denied
        })
    }

    /// Changes a file, after asking where claude would.
    fn change(
        &mut self,
        name: &'static str,
        input: Value,
        ask: Ask,
        work_out: impl Fn(&Value) -> Result<Change, ChangeError>,
    ) -> Result<Done, Stop> {
        let described = input["file_path"].as_str().unwrap_or_default();
        let described = described.rsplit('/').next().unwrap_or_default().to_owned();
        let ruled = self.flags.asks.iter().any(|rule| rule == name);
        let unasked = self.stamp.mode == "acceptEdits" && !ruled && ask == Ask::AsReal;
        let ask = if unasked { Asks::No } else { Asks::Yes };
        let (tool, verdict) = self.call(name, input, described, ask)?;
        if !matches!(verdict, Verdict::Allow { .. }) {
            return Ok(Done::Denied);
        }
        let made = work_out(&tool.input).and_then(|change| change.make().map(|()| change));
        let (result, done) = match made {
            Ok(change) => (changed(&change), Done::Allowed),
            Err(error) => {
                let content = format!("<tool_use_error>{error}</tool_use_error>");
                let detail = json!(format!("Error: {error}"));
                (
                    ToolResult {
                        content,
                        is_error: Some(true),
                        detail,
                        meta: accepted(),
                    },
                    Done::Denied,
                )
            }
        };
        self.stage.send(&self.stamp.tool_result(&tool, &result));
        Ok(done)
    }

    /// Calls a tool of the host's; its server is started for it.
    pub(super) fn use_tool(&mut self, used: &ToolUse) -> Result<(), Stop> {
        let name = format!("mcp__agent_collab__{}", used.tool);
        let input = filled(&used.input, &|text| self.fill(text));
        let (tool, verdict) = self.call(&name, input, used.tool.clone(), Asks::No)?;
        if !matches!(verdict, Verdict::Allow { .. }) {
            return self.perform(&used.if_failed);
        }
        let call = ToolCall {
            tool: used.tool.clone(),
            input: tool.input.clone(),
            thread: None,
        };
        self.set_phase(Phase::Running { tool: tool.clone() });
        let outcome = ToolOutcome::read(&self.answer_of(call)?);
        self.set_phase(Phase::Between);
        let result = ToolResult {
            content: outcome.text.clone(),
            is_error: Some(outcome.is_error),
            detail: json!(outcome.text),
            meta: accepted(),
        };
        self.stage.send(&self.stamp.tool_result(&tool, &result));
        if let Some(playing) = &mut self.playing {
            playing.words.set("answer", outcome.text);
        }
        self.perform(match outcome.is_error {
            true => &used.if_failed,
            false => &used.if_done,
        })
    }

    /// The line that answers a call; empty where nobody does.
    fn answer_of(&mut self, call: ToolCall) -> Result<String, Stop> {
        let started = self.flags.tools.clone();
        let started = started.map(|server| server.behind(&self.script.tool_client));
        let started = started.and_then(|server| self.stage.call(&server, call).ok());
        let Some(run) = started else {
            return Ok(String::new());
        };
        let mut line = String::new();
        loop {
            match self.listen(None) {
                Ok(Wake::Output(from, text)) if from == run => line = text,
                Ok(Wake::Ended(ended, _)) if ended == run => return Ok(line),
                Ok(_) => {}
                Err(stop) => {
                    self.stage.kill(run);
                    return Err(stop);
                }
            }
        }
    }

    pub(super) fn question(&mut self, question: &Question) -> Result<(), Stop> {
        let text = self.fill(&question.question);
        let options: Vec<Value> = question
            .options
            .iter()
            .map(|label| json!({"label": self.fill(label), "description": ""}))
            .collect();
        let header = if question.header.is_empty() {
            "Question"
        } else {
            &question.header
        };
        let asked =
            json!({"question": text, "header": header, "options": options, "multiSelect": false});
        let input = json!({"questions": [asked]});
        let (tool, verdict) = self.call("AskUserQuestion", input, text.clone(), Asks::Yes)?;
        let answer = tool.input["answers"][&text].as_str().map(str::to_owned);
        let (Verdict::Allow { .. }, Some(answer)) = (verdict, answer) else {
            return self.perform(&question.if_dismissed);
        };
        let result = ToolResult {
            content: format!(
                "Your questions have been answered: \"{text}\"=\"{answer}\". You can now continue with these answers in mind."
            ),
            is_error: None,
            detail: json!({"questions": tool.input["questions"], "answers": tool.input["answers"]}),
            meta: accepted(),
        };
        self.stage.send(&self.stamp.tool_result(&tool, &result));
        if let Some(playing) = &mut self.playing {
            playing.words.set("answer", answer);
        }
        self.perform(&question.if_answered)
    }
}

/// Reads the host's answer to `can_use_tool`.
fn verdict(answer: &Value, asked: &Value) -> Verdict {
    let body = &answer["response"];
    let message = body["message"].as_str().map(str::to_owned);
    match (answer["subtype"].as_str(), body["behavior"].as_str()) {
        (Some("success"), Some("allow")) => {
            let input = body.get("updatedInput").filter(|input| input.is_object());
            Verdict::Allow {
                input: input.unwrap_or(asked).clone(),
            }
        }
        (Some("success"), Some("deny")) => {
            let message = message.unwrap_or_default();
            if body["interrupt"] == true {
                Verdict::DenyAndStop { message }
            } else {
                Verdict::Deny { message }
            }
        }
        _ => {
            let error = answer["error"].as_str().unwrap_or("malformed answer");
            Verdict::Deny {
                message: format!("Tool permission request failed: Error: {error}"),
            }
        }
    }
}

fn changed(change: &Change) -> ToolResult {
    let path = change.path.display();
    let (kind, content) = match change.before {
        None => ("create", format!("File created successfully at: {path}")),
        Some(_) => (
            "update",
            format!("The file {path} has been updated successfully."),
        ),
    };
    let detail = json!({
        "type": kind, "filePath": change.path, "content": change.after, "structuredPatch": [],
        "originalFile": change.before, "userModified": false,
    });
    ToolResult {
        content,
        is_error: None,
        detail,
        meta: accepted(),
    }
}

fn accepted() -> Map<String, Value> {
    meta(&[(
        "permission_decision",
        json!({"decision": "accept", "source": "user_temporary"}),
    )])
}

/// What a tool result tells of who decided.
pub(super) fn meta(entries: &[(&str, Value)]) -> Map<String, Value> {
    entries
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

fn path_of(input: &Value, fallback: &Path) -> PathBuf {
    input["file_path"]
        .as_str()
        .map_or_else(|| fallback.to_owned(), PathBuf::from)
}

fn text_of(input: &Value, key: &str) -> String {
    input[key].as_str().unwrap_or_default().to_owned()
}
