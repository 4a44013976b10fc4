//! A run without a screen: events out, flags for answers, an exit code. It never hangs on a question.

mod ending;

use std::io::Write;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until, timeout};

use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::Question;
use crate::domain::run::State;
use crate::domain::turn::Role;
use crate::engine::{Engine, EngineError, Outcome};
use crate::text::{clean, truncate};

use super::alone::{SHUT_DOWN, end_what_is_left, look_after_children, until_signalled};
use super::answers::{Answers, flag_for};
use super::report::{Form, Teller};
use super::sent::{Outside, Then};
use super::start::{
    Refusal, Started, Wishes, instructions_left_out, over_here, resume, start, unwritable,
};
use super::unread::last_resort;

use ending::tell_over;
pub(super) use ending::{code_of, log_path, summary};

/// How long an interrupted turn may take to end by its CLI's protocol.
const LEAVE_GRACE: Duration = Duration::from_secs(2);

/// How much of a goal's first line is its title, in characters.
const TITLE_CHARS: usize = 80;

/// A headless run.
#[derive(Debug, Clone)]
pub struct Headless {
    /// What to start.
    pub wishes: Wishes,
    /// What to do.
    pub task: Task,
    /// What answers questions.
    pub answers: Answers,
    /// How it is told.
    pub form: Form,
}

/// What a headless program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Takes this goal, confirmed by being given, to its end.
    Begin(String),
    /// Takes up the run that is there.
    Resume(Unconfirmed),
}

/// What becomes of a goal that was talked about and that nobody confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfirmed {
    /// It waits for the user.
    Waits,
    /// It counts as it was given.
    Counts,
}

/// Plays a run to its end and returns the exit code: 0 done, 1 error, 3 needs the user, 4 locked,
/// 5 cancelled, 6 done and not all of it proven, 130 interrupted.
pub async fn run(headless: Headless, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    match play(headless, out, err).await {
        Ok(code) => code,
        Err(refusal) => {
            complain(err, &refusal.problem, &refusal.hint);
            refusal.code
        }
    }
}

fn complain(err: &mut dyn Write, problem: &str, hint: &str) {
    // There is nowhere left to say that standard error is closed.
    let _closed = writeln!(err, "error: {}", clean(problem));
    if !hint.is_empty() {
        let _closed = writeln!(err, "hint: {}", clean(hint));
    }
}

/// What ends the loop.
enum End {
    Over(Outcome),
    Unanswered(Box<Question>),
    /// By a signal, or by a command from outside.
    Interrupted(&'static str),
    OutputClosed,
    /// The run was stopped and waits for a goal.
    AtRest,
}

async fn play(headless: Headless, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, Refusal> {
    let Headless {
        wishes,
        task,
        mut answers,
        form,
    } = headless;
    if matches!(task, Task::Resume(_))
        && let Some((state, layout)) = over_here(&wishes).await?
    {
        return Ok(tell_over(
            (&state, &layout),
            &mut Teller::new(out, form),
            err,
        ));
    }
    look_after_children()?;
    let mut signals = Signals::listen()
        .map_err(|error| Refusal::error(format!("cannot listen for signals: {error}"), ""))?;
    let started = stand(&wishes, &task, &mut signals).await?;
    let Started {
        mut engine,
        mut notices,
        occupied,
    } = started;
    let mut outside = Outside::default();
    notices.extend(outside.listen(&occupied));
    let said = wishes.choices.instructions;
    notices.extend(instructions_left_out(&occupied.found.loaded, said));
    for notice in notices {
        let _closed = writeln!(err, "note: {notice}");
    }
    let mut teller = Teller::new(out, form);
    let begun = match &task {
        Task::Begin(goal) => begin(&mut engine, goal),
        Task::Resume(_) => engine.resume(wishes.gate),
    };
    let goal = match task {
        Task::Begin(_) => Unconfirmed::Waits,
        Task::Resume(goal) => goal,
    };
    let end = match begun {
        Ok(()) => {
            let from_outside = (&mut signals, &mut outside);
            drive(&mut engine, (&mut answers, goal), &mut teller, from_outside).await
        }
        Err(error) => Err(error),
    };
    outside.close().await;
    let code = match end {
        Ok(end) => leave(&mut engine, end, &mut teller, err, &mut signals).await,
        Err(error) => Err(error),
    };
    close(&mut engine, &mut signals).await;
    code.map_err(|error| Refusal::error(&error, "what was recorded so far is kept"))
}

/// Checks everything and opens the run, unless a signal comes first.
async fn stand(wishes: &Wishes, task: &Task, signals: &mut Signals) -> Result<Started, Refusal> {
    let starting = async {
        match task {
            Task::Begin(_) => start(wishes).await,
            Task::Resume(_) => resume(wishes).await,
        }
    };
    until_signalled(starting, signals).await
}

/// Gives the run its goal.
fn begin(engine: &mut Engine, goal: &str) -> Result<(), EngineError> {
    let text = clean(goal);
    engine.feed(Event::GoalGiven { text: text.clone() })?;
    confirm(engine, text)
}

fn confirm(engine: &mut Engine, text: String) -> Result<(), EngineError> {
    let title = text.lines().find(|line| !line.trim().is_empty());
    let title = truncate::to_chars(title.unwrap_or_default().trim(), TITLE_CHARS);
    engine.feed(Event::GoalConfirmed { title, text })
}

/// The goal that counts although nobody confirmed it: the flag says so, or no agent was asked about it yet. Then
/// what was cut off was the beginning of `run --goal`, whose goal counts as confirmed.
fn goal_that_counts(state: &State, unconfirmed: Unconfirmed) -> Option<String> {
    let sessions = [Role::Planner, Role::Reviewer].map(|role| state.session(role));
    let mut sessions = sessions.iter().flatten();
    let counts =
        unconfirmed == Unconfirmed::Counts || sessions.all(|session| session.n_messages == 0);
    let goal = state.goal.as_ref().filter(|goal| !goal.confirmed && counts);
    goal.filter(|_| state.phase == Phase::RefineGoal)
        .map(|goal| goal.text.clone())
}

async fn drive(
    engine: &mut Engine,
    (answers, mut unconfirmed): (&mut Answers, Unconfirmed),
    teller: &mut Teller<'_>,
    (signals, outside): (&mut Signals, &mut Outside),
) -> Result<End, EngineError> {
    loop {
        if flush(engine, teller).is_err() {
            return Ok(End::OutputClosed);
        }
        if let Some(outcome) = engine.outcome() {
            return Ok(End::Over(outcome.clone()));
        }
        if let Some(question) = engine.state().question().cloned() {
            match answers.answer_or_default(&question.kind) {
                Some(answer) => engine.feed(Event::Answered {
                    id: question.id,
                    answer,
                })?,
                None if answers.may_wait(&question.kind) || outside.may_wait(&question.kind) => {
                    if let Some(end) = wait_a_while(engine, signals, outside).await? {
                        return Ok(end);
                    }
                }
                None => return Ok(End::Unanswered(Box::new(question))),
            }
            continue;
        }
        if is_at_rest(engine) {
            let Some(goal) = goal_that_counts(engine.state(), unconfirmed) else {
                return Ok(End::AtRest);
            };
            // Once: a run that is stopped later waits for its user.
            unconfirmed = Unconfirmed::Waits;
            confirm(engine, goal)?;
            continue;
        }
        if let Some(end) = wait_a_while(engine, signals, outside).await? {
            return Ok(end);
        }
    }
}

/// Takes in what comes back next, or what comes from outside.
async fn wait_a_while(
    engine: &mut Engine,
    signals: &mut Signals,
    outside: &mut Outside,
) -> Result<Option<End>, EngineError> {
    tokio::select! {
        biased;
        name = signals.next() => return Ok(Some(End::Interrupted(name))),
        asked = outside.next() => {
            let then = outside.carry_out(asked, engine)?;
            return Ok((then == Then::Leave).then_some(End::Interrupted("`agent-collab send quit`")));
        }
        inward = engine.next() => engine.take(inward)?,
    }
    Ok(None)
}

/// Nothing runs, nothing waits and nothing is being done: only a person could go on.
fn is_at_rest(engine: &Engine) -> bool {
    let state = engine.state();
    state.running.is_none() && state.busy.is_none() && state.awaiting.is_none()
}

/// Prints what was recorded; pieces of text are for screens only.
fn flush(engine: &mut Engine, teller: &mut Teller<'_>) -> std::io::Result<()> {
    engine.take_deltas();
    teller.tell_all(&engine.take_recorded())
}

/// Says how it ended, records that the program goes where the run is not over, and gives the exit code.
async fn leave(
    engine: &mut Engine,
    end: End,
    teller: &mut Teller<'_>,
    err: &mut dyn Write,
    signals: &mut Signals,
) -> Result<u8, EngineError> {
    let (reason, code) = match end {
        End::Over(Outcome::Finished) => {
            drain(engine, teller, signals).await?;
            return Ok(finished(engine, teller, err));
        }
        End::Over(Outcome::Halted(reason)) => {
            complain(err, &reason, "the run is kept as it is");
            (reason, 1)
        }
        End::Unanswered(question) => {
            let flag = flag_for(&question.kind);
            let (asked, name) = (question.kind.in_words(), question.kind.name());
            let hint = format!("`{flag}` would have answered it; the run is kept");
            complain(err, &format!("needs you ({name}): {asked}"), &hint);
            let left = format!("needs the user ({name}): {asked}; {flag} would have answered it");
            (left, 3)
        }
        End::Interrupted(name) => {
            let reason = format!("interrupted by {name}");
            complain(err, &reason, "the run is kept");
            (reason, 130)
        }
        End::AtRest => {
            let (reason, hint) = at_rest_in_words(engine.state());
            complain(err, reason, hint);
            (reason.to_owned(), 3)
        }
        End::OutputClosed => {
            let reason = "nobody reads the output any more";
            let hint = "the run is kept; `agent-collab resume` goes on with it";
            complain(err, reason, hint);
            (reason.to_owned(), 1)
        }
    };
    engine.feed(Event::Left { reason })?;
    let deadline = Instant::now() + LEAVE_GRACE;
    while engine.state().running.is_some() {
        tokio::select! {
            biased;
            _ = signals.next() => {
                signals.patience = Patience::Over;
                break;
            }
            inward = engine.next() => engine.take(inward)?,
            () = sleep_until(deadline) => break,
        }
    }
    // The reader may be gone; that changes nothing about the end.
    let _closed = flush(engine, teller);
    Ok(code)
}

/// Lets tasks that nobody waited for come to their ends, for as long as `limits.drain` says. Who wants the program
/// gone has it gone: a signal ends that at once.
async fn drain(
    engine: &mut Engine,
    teller: &mut Teller<'_>,
    signals: &mut Signals,
) -> Result<(), EngineError> {
    if engine.state().phase == Phase::Cancelled {
        return Ok(());
    }
    let deadline = Instant::now() + engine.drain_limit();
    while engine.has_tasks() {
        tokio::select! {
            biased;
            _ = signals.next() => break,
            inward = engine.next() => engine.take(inward)?,
            () = sleep_until(deadline) => break,
        }
        engine.dismiss_questions()?;
        if flush(engine, teller).is_err() {
            break;
        }
    }
    Ok(())
}

/// Why nothing goes on, and what to do.
fn at_rest_in_words(state: &State) -> (&'static str, &'static str) {
    match state.cycle {
        0 => (
            "needs you: the goal is not confirmed",
            "`agent-collab resume --yes-goal` takes it as it was given; `agent-collab` goes on with the talk about it",
        ),
        _ => (
            "the run was stopped and is back at the goal",
            "give a goal anew with `--new`; files and commits are kept",
        ),
    }
}

fn finished(engine: &Engine, teller: &mut Teller<'_>, err: &mut dyn Write) -> u8 {
    let state = engine.state();
    let code = code_of(state);
    if state.phase == Phase::Cancelled {
        complain(err, "the run was cancelled", "");
        return code;
    }
    if state.changed_nothing() {
        let root = engine.repository().map(|repository| &repository.root);
        let unwritable = root.and_then(|root| unwritable(root));
        let why = unwritable.map_or(String::new(), |why| format!(": {why}"));
        complain(
            err,
            &format!("no step changed anything, so nothing was done{why}"),
            &format!(
                "look at {} for what each step said",
                log_path(engine.journal().layout())
            ),
        );
        return code;
    }
    if let Some(unproven) = state.unproven() {
        // There is nowhere left to say that standard error is closed.
        let _closed = writeln!(err, "not proven: {unproven}");
    }
    if teller.form == Form::Lines {
        // The reader may be gone; that changes nothing about the end.
        let _closed = teller.say(&summary(state, &log_path(engine.journal().layout())));
    }
    code
}

/// Ends every process; a second signal ends all patience.
async fn close(engine: &mut Engine, signals: &mut Signals) {
    if signals.patience == Patience::Left {
        tokio::select! {
            _ = timeout(SHUT_DOWN, engine.shut_down()) => {}
            _ = signals.next() => {}
        }
    }
    end_what_is_left().await;
}

/// Whether the end is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// It is.
    Left,
    /// A second signal ended it.
    Over,
}

/// The signals that end a program without a screen.
pub(super) struct Signals {
    patience: Patience,
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// The last one that came.
    last: Option<&'static str>,
}

impl Signals {
    /// Takes them over from the system.
    pub(super) fn listen() -> std::io::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        last_resort(&kinds)?;
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self {
            patience: Patience::Left,
            interrupt: interrupt?,
            terminate: terminate?,
            hangup: hangup?,
            last: None,
        })
    }

    /// Waits for the next one. Cancel safe.
    pub(super) async fn next(&mut self) -> &'static str {
        let name = tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        };
        self.last = Some(name);
        name
    }

    /// The last one that came, where any did.
    pub(super) fn last(&self) -> Option<&'static str> {
        self.last
    }
}
