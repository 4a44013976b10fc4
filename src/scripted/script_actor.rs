//! Performs the actions of a script, the same way for every program that a scripted agent imitates.
//!
//! It knows what happens in an action and in which order; which frames say so is up to the [`ScriptedProtocol`].

use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use super::conversation_store::ScriptPlaceholders;
use super::mcp_client::{ScriptedToolCall, ScriptedToolOutcome, ToolServerCommand, expand_strings};
use super::runtime::{ScriptCommandId, ScriptRuntime, ScriptedFileChange, ScriptedFileChangeError};
use super::script::{
    ScriptAction, ScriptAskPolicy, ScriptCommand, ScriptFailure, ScriptFailureKind,
    ScriptFailureOutcome, ScriptQuestion, ScriptSpeech, ScriptToolCall, ScriptUsage,
};
use super::seconds_from_now;
use crate::domain::findings::plan_files::named_files;

/// How many files a turn opens at most.
const MAX_OPENED_FILES: usize = 20;

/// Why a turn ends before its script does.
pub enum ScriptedTurnStop {
    Interrupted,
    Failed(ScriptedTurnFailure),
    /// The process ends with this exit code.
    Exit(i32),
}

/// What makes a turn fail.
pub enum ScriptedTurnFailure {
    /// No turn can be played, for this reason.
    NoTurn(String),
    /// The model service fails.
    Service(ScriptFailureKind),
}

/// The result of waiting within a turn.
pub enum ScriptedTurnEvent {
    Timeout,
    CommandOutput(ScriptCommandId, String),
    CommandEnded(ScriptCommandId, Option<i32>),
    /// The host answers the request with this id.
    Answer {
        request: String,
        answer: Value,
    },
    InputClosed,
    Other,
}

/// What a streamed text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeechKind {
    Message,
    Thinking,
}

/// How a script changes a file.
pub enum ScriptedFileText {
    /// The whole new content.
    Whole(String),
    /// The first occurrence of one text is replaced.
    Replacement { find: String, replace: String },
}

impl ScriptedFileText {
    /// Prepares the change of a file.
    pub fn prepare_change(
        self,
        path: PathBuf,
    ) -> Result<ScriptedFileChange, ScriptedFileChangeError> {
        match self {
            Self::Whole(content) => ScriptedFileChange::from_content(path, content),
            Self::Replacement { find, replace } => {
                ScriptedFileChange::from_replacement(path, &find, &replace)
            }
        }
    }
}

/// The frames with which an imitated program says what it does. Texts arrive with their placeholders filled in.
pub trait ScriptedProtocol {
    /// A text that is being streamed.
    type Speech;
    /// A call that was announced and may run.
    type Call;

    fn runtime(&mut self) -> &mut ScriptRuntime;

    /// Returns what `${…}` stands for in the current turn.
    fn placeholders(&mut self) -> Option<&mut ScriptPlaceholders>;

    fn cwd(&self) -> PathBuf;

    /// Waits until something happens or `deadline` passes.
    fn wait_for_event(
        &mut self,
        deadline: Option<Instant>,
    ) -> Result<ScriptedTurnEvent, ScriptedTurnStop>;

    fn open_speech(&mut self, kind: SpeechKind) -> Self::Speech;

    /// Sends a piece; `spoken` is the text so far, including the piece.
    fn send_delta(&mut self, speech: &Self::Speech, spoken: &str, delta: &str);

    fn close_speech(&mut self, speech: Self::Speech, text: String);

    /// Withdraws an unfinished text and announces a retry.
    fn withdraw_speech(&mut self, speech: Self::Speech);

    /// Announces a command and asks the host about it if the program would; `None` if it must not run.
    fn announce_command(
        &mut self,
        line: String,
        command: &ScriptCommand,
    ) -> Result<Option<Self::Call>, ScriptedTurnStop>;

    /// Runs an announced command to its end.
    fn run_command(&mut self, call: Self::Call) -> Result<(), ScriptedTurnStop>;

    /// Reads a file, with the program's own tool or a command.
    fn read_file(&mut self, path: PathBuf) -> Result<(), ScriptedTurnStop>;

    /// Changes a file after asking the host if the program would; returns whether the file was changed.
    fn change_file(
        &mut self,
        path: PathBuf,
        text: ScriptedFileText,
        ask: ScriptAskPolicy,
    ) -> Result<bool, ScriptedTurnStop>;

    /// Announces a call of a host tool and returns what its server gets; `None` if the call must not run.
    fn announce_tool(
        &mut self,
        tool: &str,
        input: Value,
    ) -> Result<Option<(Self::Call, ScriptedToolCall)>, ScriptedTurnStop>;

    /// Returns the host's tool server, if it registered one.
    fn tool_server(&self) -> Option<ToolServerCommand>;

    fn end_tool(&mut self, call: Self::Call, outcome: &ScriptedToolOutcome);

    /// Asks the user; `None` if the question is dismissed.
    fn ask_user(&mut self, question: &ScriptQuestion) -> Result<Option<String>, ScriptedTurnStop>;

    /// Reports a retry, the first of which is 1.
    fn send_retry(&mut self, failing: &ScriptFailure, attempt: u32);

    /// Reports a used-up plan limit that resets at this instant, in seconds since 1970.
    fn send_limit_reset(&mut self, resets_at: i64);

    fn add_usage(&mut self, tokens: ScriptUsage);

    /// Plays these actions as a turn of its own after this one.
    fn queue_unsolicited_turn(&mut self, actions: &[ScriptAction]);
}

/// Performs a list of actions.
pub fn perform_actions<P: ScriptedProtocol>(
    program: &mut P,
    actions: &[ScriptAction],
) -> Result<(), ScriptedTurnStop> {
    actions
        .iter()
        .try_for_each(|action| perform_action(program, action))
}

fn perform_action<P: ScriptedProtocol>(
    program: &mut P,
    action: &ScriptAction,
) -> Result<(), ScriptedTurnStop> {
    match action {
        ScriptAction::Text(speech) => speak(program, speech, SpeechKind::Message)?,
        ScriptAction::Thinking(speech) => speak(program, speech, SpeechKind::Thinking)?,
        ScriptAction::Cut(speech) => {
            let open = program.open_speech(SpeechKind::Message);
            stream_deltas(program, speech, &open)?;
            program.withdraw_speech(open);
        }
        ScriptAction::Command(command) => return perform_command(program, command),
        ScriptAction::Open(_) => open_named_files(program)?,
        ScriptAction::Write(write) => {
            let text = ScriptedFileText::Whole(expand(program, &write.content));
            let is_changed = change_file(program, &write.path, text, write.ask)?;
            let next = branch(is_changed, &write.if_allowed, &write.if_denied);
            return perform_actions(program, next);
        }
        ScriptAction::Edit(edit) => {
            let text = ScriptedFileText::Replacement {
                find: expand(program, &edit.find),
                replace: expand(program, &edit.replace),
            };
            let is_changed = change_file(program, &edit.path, text, edit.ask)?;
            let next = branch(is_changed, &edit.if_allowed, &edit.if_denied);
            return perform_actions(program, next);
        }
        ScriptAction::Question(question) => return perform_question(program, question),
        ScriptAction::Error(failing) => return perform_failure(program, failing),
        ScriptAction::Stall(stall) => match stall.ms {
            Some(ms) => pause(program, ms)?,
            None => loop {
                program.wait_for_event(None)?;
            },
        },
        ScriptAction::Exit(exit) => {
            if let Some(text) = &exit.stderr {
                program.runtime().write_stderr(text);
            }
            return Err(ScriptedTurnStop::Exit(exit.code));
        }
        ScriptAction::Frame(frame) => {
            let text = expand(program, &frame.json.to_string());
            program.runtime().send_line(&text);
        }
        ScriptAction::Malformed(malformed) => program.runtime().send_line(&malformed.line),
        ScriptAction::Unsolicited(turn) => program.queue_unsolicited_turn(&turn.actions),
        ScriptAction::Tool(tool) => return call_tool(program, tool),
        ScriptAction::Usage(tokens) => program.add_usage(*tokens),
    }
    Ok(())
}

fn branch<'a>(
    is_done: bool,
    done: &'a [ScriptAction],
    other: &'a [ScriptAction],
) -> &'a [ScriptAction] {
    if is_done { done } else { other }
}

/// Waits for `ms` of the script's milliseconds.
fn pause<P: ScriptedProtocol>(program: &mut P, ms: u64) -> Result<(), ScriptedTurnStop> {
    let deadline = Instant::now().checked_add(program.runtime().pause_duration(ms));
    while !matches!(
        program.wait_for_event(deadline)?,
        ScriptedTurnEvent::Timeout
    ) {}
    Ok(())
}

fn expand<P: ScriptedProtocol>(program: &mut P, text: &str) -> String {
    match program.placeholders() {
        Some(placeholders) => placeholders.expand(text),
        None => text.to_owned(),
    }
}

/// Sets what `${answer}` stands for from now on.
fn set_answer<P: ScriptedProtocol>(program: &mut P, answer: String) {
    if let Some(placeholders) = program.placeholders() {
        placeholders.set("answer", answer);
    }
}

fn speak<P: ScriptedProtocol>(
    program: &mut P,
    speech: &ScriptSpeech,
    kind: SpeechKind,
) -> Result<(), ScriptedTurnStop> {
    let open = program.open_speech(kind);
    let text = stream_deltas(program, speech, &open)?;
    program.close_speech(open, text);
    Ok(())
}

/// Streams a speech in deltas and returns the whole text.
fn stream_deltas<P: ScriptedProtocol>(
    program: &mut P,
    speech: &ScriptSpeech,
    open: &P::Speech,
) -> Result<String, ScriptedTurnStop> {
    let text = expand(program, &speech.text).repeat(speech.repeat as usize);
    let mut n_spoken = 0;
    for delta in speech.split_into_deltas(&text) {
        pause(program, speech.pause_ms)?;
        n_spoken += delta.len();
        program.send_delta(open, &text[..n_spoken], delta);
    }
    Ok(text)
}

fn perform_command<P: ScriptedProtocol>(
    program: &mut P,
    command: &ScriptCommand,
) -> Result<(), ScriptedTurnStop> {
    let line = expand(program, &command.run);
    let Some(call) = program.announce_command(line, command)? else {
        return perform_actions(program, &command.if_denied);
    };
    program.run_command(call)?;
    perform_actions(program, &command.if_allowed)
}

/// Reads the files that the prompt names and that exist.
fn open_named_files<P: ScriptedProtocol>(program: &mut P) -> Result<(), ScriptedTurnStop> {
    let (prompt, cwd) = (expand(program, "${prompt}"), program.cwd());
    let paths = named_files(&prompt).into_iter().map(|name| cwd.join(name));
    let files = paths.filter(|path| path.is_file()).take(MAX_OPENED_FILES);
    files
        .collect::<Vec<_>>()
        .into_iter()
        .try_for_each(|path| program.read_file(path))
}

fn change_file<P: ScriptedProtocol>(
    program: &mut P,
    path: &str,
    text: ScriptedFileText,
    ask: ScriptAskPolicy,
) -> Result<bool, ScriptedTurnStop> {
    let path = expand(program, path);
    let path = program.cwd().join(path);
    program.change_file(path, text, ask)
}

fn perform_question<P: ScriptedProtocol>(
    program: &mut P,
    question: &ScriptQuestion,
) -> Result<(), ScriptedTurnStop> {
    let options = question.options.iter();
    let expanded = ScriptQuestion {
        question: expand(program, &question.question),
        options: options.map(|label| expand(program, label)).collect(),
        ..question.clone()
    };
    let Some(answer) = program.ask_user(&expanded)? else {
        return perform_actions(program, &question.if_dismissed);
    };
    set_answer(program, answer);
    perform_actions(program, &question.if_answered)
}

fn perform_failure<P: ScriptedProtocol>(
    program: &mut P,
    failing: &ScriptFailure,
) -> Result<(), ScriptedTurnStop> {
    for attempt in 1..=failing.retries {
        pause(program, failing.pause_ms)?;
        program.send_retry(failing, attempt);
    }
    if let Some(seconds) = failing.resets_in {
        program.send_limit_reset(seconds_from_now(seconds));
    }
    match failing.outcome {
        ScriptFailureOutcome::Recovers => Ok(()),
        ScriptFailureOutcome::Fails => Err(ScriptedTurnStop::Failed(ScriptedTurnFailure::Service(
            failing.kind,
        ))),
    }
}

/// Calls a tool of the host; its server is started for this call.
fn call_tool<P: ScriptedProtocol>(
    program: &mut P,
    used: &ScriptToolCall,
) -> Result<(), ScriptedTurnStop> {
    let input = match program.placeholders() {
        Some(placeholders) => expand_strings(&used.input, &|text| placeholders.expand(text)),
        None => used.input.clone(),
    };
    let Some((call, sent)) = program.announce_tool(&used.tool, input)? else {
        return perform_actions(program, &used.if_failed);
    };
    let server = program.tool_server();
    let run = server.and_then(|server| program.runtime().start_tool_call(&server, sent).ok());
    let line = match run {
        Some(run) => wait_for_command(program, run)?.0,
        None => String::new(),
    };
    let outcome = ScriptedToolOutcome::parse(&line);
    program.end_tool(call, &outcome);
    set_answer(program, outcome.text);
    let next = branch(!outcome.is_error, &used.if_done, &used.if_failed);
    perform_actions(program, next)
}

/// Waits for the end of a command and returns its output and exit code; a stop kills it and everything it started.
pub fn wait_for_command<P: ScriptedProtocol>(
    program: &mut P,
    run: ScriptCommandId,
) -> Result<(String, Option<i32>), ScriptedTurnStop> {
    let mut output = String::new();
    loop {
        match program.wait_for_event(None) {
            Ok(ScriptedTurnEvent::CommandOutput(from, text)) if from == run => {
                output.push_str(&text)
            }
            Ok(ScriptedTurnEvent::CommandEnded(ended, code)) if ended == run => {
                return Ok((output, code));
            }
            Ok(_) => {}
            Err(stop) => {
                program.runtime().kill_command(run);
                return Err(stop);
            }
        }
    }
}

/// Waits for the answer to a request; `None` if no answer can come any more.
pub fn wait_for_answer<P: ScriptedProtocol>(
    program: &mut P,
    request: &str,
) -> Result<Option<Value>, ScriptedTurnStop> {
    loop {
        match program.wait_for_event(None)? {
            ScriptedTurnEvent::Answer {
                request: answered,
                answer,
            } if answered == request => return Ok(Some(answer)),
            ScriptedTurnEvent::InputClosed => return Ok(None),
            _ => {}
        }
    }
}
