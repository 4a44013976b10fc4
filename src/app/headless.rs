//! Runs without a screen: prints events, answers questions by flags, ends with an exit code. Never waits for input from
//! the terminal.

mod dispute_discussion;
mod exit_summary;

use std::io::Write;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::{Question, QuestionKind};
use crate::domain::run::RunState;
use crate::domain::turn::Role;
use crate::domain::user_plan::UserPlan;
use crate::engine::{Engine, EngineError, EngineOutcome};
use crate::text::{clean_text, truncate};

use super::auto_answers::{AutoAnswers, DisputePolicy, dismiss_questions, flag_for};
use super::headless_signals::{HeadlessShutdownMode, HeadlessSignals};
use super::oneshot_engine::{
    SHUTDOWN_TIMEOUT, adopt_orphaned_children, open_unless_signalled, terminate_remaining_processes,
};
use super::remote_control::{AfterCommand, RemoteControl};
use super::run_reporter::{ReportFormat, RunReporter};
use super::startup::{
    RunInstance, StartError, StartOptions, find_finished_run, omitted_instructions_notice,
    resume_run, start_run, unwritable_reason,
};

use dispute_discussion::{DisputeProgress, advance_dispute};
use exit_summary::report_finished_run;
pub(super) use exit_summary::{exit_code, log_path, summarize_finished_run};

/// Time that an interrupted turn gets to end by its CLI's protocol.
const LEAVE_GRACE: Duration = Duration::from_secs(2);

/// Maximum length of a title made from the goal's first line, in characters.
const TITLE_CHARS: usize = 80;

/// Everything that a headless run needs to start.
#[derive(Debug, Clone)]
pub struct HeadlessRun {
    pub wishes: StartOptions,
    pub command: HeadlessCommand,
    pub answers: AutoAnswers,
    pub format: ReportFormat,
}

/// What a headless run does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadlessCommand {
    /// Runs this goal to its end; the goal counts as confirmed.
    Begin {
        goal: String,
        /// The user's plan, with whose review the run begins; `None` lets the planner write one.
        plan: Option<Box<UserPlan>>,
    },
    /// Resumes the existing run.
    Resume(UnconfirmedGoal),
}

/// What to do with a goal that was discussed but not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnconfirmedGoal {
    /// Leave it to the user.
    WaitForUser,
    /// Treat it as confirmed.
    Accept,
}

/// Runs to the end and returns the exit code: 0 done, 1 error, 3 needs the user, 4 locked, 5 cancelled, 6 done but not
/// fully proven, 130 interrupted.
pub async fn run_headless(headless: HeadlessRun, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    match run_to_exit_code(headless, out, err).await {
        Ok(code) => code,
        Err(refusal) => {
            print_error(err, &refusal.problem, &refusal.hint);
            refusal.code
        }
    }
}

fn print_error(err: &mut dyn Write, problem: &str, hint: &str) {
    // If standard error is closed, there is nowhere left to report it.
    let _closed = writeln!(err, "error: {}", clean_text(problem));
    if !hint.is_empty() {
        let _closed = writeln!(err, "hint: {}", clean_text(hint));
    }
}

/// Why the main loop ended.
enum HeadlessEnd {
    RunOver(EngineOutcome),
    Unanswered(Box<Question>),
    /// By a signal, or by a command on the IPC socket.
    Interrupted(&'static str),
    OutputClosed,
    /// The run was stopped and needs a goal.
    Idle,
}

async fn run_to_exit_code(
    headless: HeadlessRun,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, StartError> {
    let HeadlessRun {
        wishes,
        command: task,
        mut answers,
        format: form,
    } = headless;
    if matches!(task, HeadlessCommand::Resume(_))
        && let Some((state, layout)) = find_finished_run(&wishes).await?
    {
        return Ok(report_finished_run(
            &state,
            &layout,
            &mut RunReporter::new(out, form),
            err,
        ));
    }
    adopt_orphaned_children()?;
    let mut signals = HeadlessSignals::listen()
        .map_err(|error| StartError::new(format!("cannot listen for signals: {error}"), ""))?;
    let started = open_run(&wishes, &task, &mut signals).await?;
    let RunInstance {
        mut engine,
        mut notices,
        occupied,
    } = started;
    let mut outside = RemoteControl::default();
    notices.extend(outside.listen(&occupied));
    let said = wishes.choices.instructions;
    notices.extend(omitted_instructions_notice(&occupied.project.loaded, said));
    for notice in notices {
        let _closed = writeln!(err, "note: {notice}");
    }
    let mut teller = RunReporter::new(out, form);
    let started = match &task {
        HeadlessCommand::Begin { goal, plan } => {
            begin_run(&mut engine, goal, plan.as_deref()).await
        }
        HeadlessCommand::Resume(_) => engine.resume(wishes.gate),
    };
    let goal = match task {
        HeadlessCommand::Begin { .. } => UnconfirmedGoal::WaitForUser,
        HeadlessCommand::Resume(goal) => goal,
    };
    let end = match started {
        Ok(()) => {
            let from_outside = (&mut signals, &mut outside);
            drive_run(
                &mut engine,
                &mut answers,
                goal,
                &mut teller,
                from_outside.0,
                from_outside.1,
            )
            .await
        }
        Err(error) => Err(error),
    };
    outside.close().await;
    let code = match end {
        Ok(end) => report_and_record_end(&mut engine, end, &mut teller, err, &mut signals).await,
        Err(error) => Err(error),
    };
    shut_down(&mut engine, &mut signals).await;
    code.map_err(|error| StartError::new(&error, "everything recorded so far is kept"))
}

/// Checks everything and opens the run, unless a signal arrives first.
async fn open_run(
    wishes: &StartOptions,
    task: &HeadlessCommand,
    signals: &mut HeadlessSignals,
) -> Result<RunInstance, StartError> {
    let starting = async {
        match task {
            HeadlessCommand::Begin { .. } => start_run(wishes).await,
            HeadlessCommand::Resume(_) => resume_run(wishes).await,
        }
    };
    open_unless_signalled(starting, signals).await
}

async fn begin_run(
    engine: &mut Engine,
    goal: &str,
    plan: Option<&UserPlan>,
) -> Result<(), EngineError> {
    if let Some(plan) = plan {
        engine.copy_user_plan(plan).await?;
        // Without its plan the run would have the planner write one.
        if engine.outcome().is_some() {
            return Ok(());
        }
    }
    let text = clean_text(goal);
    engine.apply_event(Event::GoalGiven { text: text.clone() })?;
    confirm_goal(engine, text)
}

fn confirm_goal(engine: &mut Engine, text: String) -> Result<(), EngineError> {
    let title = text.lines().find(|line| !line.trim().is_empty());
    let title = truncate::to_chars(title.unwrap_or_default().trim(), TITLE_CHARS);
    engine.apply_event(Event::GoalConfirmed { title, text })
}

/// Returns the goal to continue with although it is not confirmed: a flag says so, or no agent has received a message
/// yet. In the second case `agent-collab run --goal` was cut off at its start, and its goal counts as confirmed.
fn accepted_goal(state: &RunState, unconfirmed: UnconfirmedGoal) -> Option<String> {
    let sessions = [Role::Planner, Role::Reviewer].map(|role| state.session(role));
    let mut sessions = sessions.iter().flatten();
    let counts =
        unconfirmed == UnconfirmedGoal::Accept || sessions.all(|session| session.n_messages == 0);
    let goal = state.goal.as_ref().filter(|goal| !goal.confirmed && counts);
    goal.filter(|_| state.phase == Phase::RefineGoal)
        .map(|goal| goal.text.clone())
}

async fn drive_run(
    engine: &mut Engine,
    answers: &mut AutoAnswers,
    mut unconfirmed: UnconfirmedGoal,
    teller: &mut RunReporter<'_>,
    signals: &mut HeadlessSignals,
    outside: &mut RemoteControl,
) -> Result<HeadlessEnd, EngineError> {
    loop {
        if teller.print_updates(&engine.take_view_updates()).is_err() {
            return Ok(HeadlessEnd::OutputClosed);
        }
        if let Some(outcome) = engine.outcome() {
            return Ok(HeadlessEnd::RunOver(outcome.clone()));
        }
        if let Some(question) = engine.state().current_question().cloned() {
            let mut answer = answers.answer_or_default(&question.kind);
            if let (None, QuestionKind::Dispute { n }, DisputePolicy::Discuss) =
                (&answer, &question.kind, answers.on_dispute)
            {
                match advance_dispute(engine, *n)? {
                    DisputeProgress::Discussing => {
                        if let Some(end) = wait_for_next(engine, signals, outside).await? {
                            return Ok(end);
                        }
                        continue;
                    }
                    DisputeProgress::Decided(side) => answer = Some(side),
                    DisputeProgress::Undecided(why) if teller.format == ReportFormat::Lines => {
                        // If the output is closed, the next record finds out.
                        let _closed = teller.print_line(&why);
                    }
                    DisputeProgress::Undecided(_) => {}
                }
            }
            match answer {
                Some(answer) => engine.apply_event(Event::QuestionAnswered {
                    id: question.id,
                    answer,
                })?,
                None if answers.may_wait(&question.kind) || outside.may_wait(&question.kind) => {
                    if let Some(end) = wait_for_next(engine, signals, outside).await? {
                        return Ok(end);
                    }
                }
                None => return Ok(HeadlessEnd::Unanswered(Box::new(question))),
            }
            continue;
        }
        if is_idle(engine) {
            let Some(goal) = accepted_goal(engine.state(), unconfirmed) else {
                return Ok(HeadlessEnd::Idle);
            };
            // Only once: a run that is stopped later needs the user.
            unconfirmed = UnconfirmedGoal::WaitForUser;
            confirm_goal(engine, goal)?;
            continue;
        }
        if let Some(end) = wait_for_next(engine, signals, outside).await? {
            return Ok(end);
        }
    }
}

/// Handles the next input of the engine, command from outside or signal.
async fn wait_for_next(
    engine: &mut Engine,
    signals: &mut HeadlessSignals,
    outside: &mut RemoteControl,
) -> Result<Option<HeadlessEnd>, EngineError> {
    tokio::select! {
        biased;
        name = signals.next_signal() => return Ok(Some(HeadlessEnd::Interrupted(name))),
        asked = outside.next_request() => {
            let then = outside.handle_request(asked, engine)?;
            return Ok((then == AfterCommand::Leave).then_some(HeadlessEnd::Interrupted("`agent-collab send quit`")));
        }
        inward = engine.next_input() => engine.handle_input(inward)?,
    }
    Ok(None)
}

/// Returns whether nothing runs and nothing is pending, so that only the user can continue.
fn is_idle(engine: &Engine) -> bool {
    let state = engine.state();
    state.running.is_none() && state.busy.is_none() && state.awaiting.is_none()
}

/// Prints how the run ended, records the exit of the program if the run is not over, and returns the exit code.
async fn report_and_record_end(
    engine: &mut Engine,
    end: HeadlessEnd,
    teller: &mut RunReporter<'_>,
    err: &mut dyn Write,
    signals: &mut HeadlessSignals,
) -> Result<u8, EngineError> {
    let (reason, code) = match end {
        HeadlessEnd::RunOver(EngineOutcome::Finished) => {
            drain_tasks(engine, teller, signals).await?;
            return Ok(report_finished(engine, teller, err));
        }
        HeadlessEnd::RunOver(EngineOutcome::Halted(reason)) => {
            print_error(err, &reason, "the run is saved as it is");
            (reason, 1)
        }
        HeadlessEnd::Unanswered(question) => {
            let flag = flag_for(&question.kind);
            let (asked, name) = (question.kind.describe(), question.kind.name());
            let hint = format!("`{flag}` would have answered it; the run is saved");
            print_error(err, &format!("needs you ({name}): {asked}"), &hint);
            let left = format!("needs the user ({name}): {asked}; {flag} would have answered it");
            (left, 3)
        }
        HeadlessEnd::Interrupted(name) => {
            let reason = format!("interrupted by {name}");
            print_error(err, &reason, "the run is saved");
            (reason, 130)
        }
        HeadlessEnd::Idle => {
            let (reason, hint) = describe_idle(engine.state());
            print_error(err, reason, hint);
            (reason.to_owned(), 3)
        }
        HeadlessEnd::OutputClosed => {
            let reason = "the output was closed";
            let hint = "the run is saved; continue it with `agent-collab resume`";
            print_error(err, reason, hint);
            (reason.to_owned(), 1)
        }
    };
    engine.apply_event(Event::ProgramExited { reason })?;
    let deadline = Instant::now() + LEAVE_GRACE;
    while engine.state().running.is_some() {
        tokio::select! {
            biased;
            _ = signals.next_signal() => {
                signals.shutdown_mode = HeadlessShutdownMode::Immediate;
                break;
            }
            inward = engine.next_input() => engine.handle_input(inward)?,
            () = sleep_until(deadline) => break,
        }
    }
    // The reader may have closed the output; the result stays the same.
    let _closed = teller.print_updates(&engine.take_view_updates());
    Ok(code)
}

/// Waits for background tasks to end, up to `limits.drain_tasks`. A signal ends the wait at once.
async fn drain_tasks(
    engine: &mut Engine,
    teller: &mut RunReporter<'_>,
    signals: &mut HeadlessSignals,
) -> Result<(), EngineError> {
    if engine.state().phase == Phase::Cancelled {
        return Ok(());
    }
    let deadline = Instant::now() + engine.setup().config.limits.drain;
    while engine.has_active_tasks() {
        tokio::select! {
            biased;
            _ = signals.next_signal() => break,
            inward = engine.next_input() => engine.handle_input(inward)?,
            () = sleep_until(deadline) => break,
        }
        dismiss_questions(engine)?;
        if teller.print_updates(&engine.take_view_updates()).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns why an idle run does not continue, and what the user can do.
fn describe_idle(state: &RunState) -> (&'static str, &'static str) {
    match (state.phase, state.cycle) {
        (Phase::Init | Phase::RefineGoal, 0) => (
            "needs you: the goal is not confirmed",
            "`agent-collab resume --yes-goal` confirms it as given; `agent-collab` continues the discussion about it",
        ),
        (Phase::Init | Phase::RefineGoal, _) => (
            "the run was stopped and is back at the goal",
            "give a new goal with `--new`; files and commits are kept",
        ),
        _ => (
            "nothing runs and nothing waits for an answer",
            "the run is saved; `agent-collab resume` looks again for what comes next",
        ),
    }
}

fn report_finished(engine: &Engine, teller: &mut RunReporter<'_>, err: &mut dyn Write) -> u8 {
    let state = engine.state();
    let code = exit_code(state);
    if state.phase == Phase::Cancelled {
        print_error(err, "the run was cancelled", "");
        return code;
    }
    if state.has_changed_nothing() {
        let root = engine.repository().map(|repository| repository.root());
        let unwritable = root.and_then(unwritable_reason);
        let why = unwritable.map_or(String::new(), |why| format!(": {why}"));
        print_error(
            err,
            &format!("no step changed anything{why}"),
            &format!(
                "see {} for the summary of each step",
                log_path(engine.journal().layout())
            ),
        );
        return code;
    }
    if let Some(unproven) = state.describe_unproven_steps() {
        // If standard error is closed, there is nowhere left to report it.
        let _closed = writeln!(err, "not verified: {unproven}");
    }
    if teller.format == ReportFormat::Lines {
        // The reader may have closed the output; the result stays the same.
        let _closed = teller.print_line(&summarize_finished_run(
            state,
            &log_path(engine.journal().layout()),
        ));
    }
    code
}

/// Shuts down the engine and ends every process; a second signal skips the grace period.
async fn shut_down(engine: &mut Engine, signals: &mut HeadlessSignals) {
    if signals.shutdown_mode == HeadlessShutdownMode::Graceful {
        tokio::select! {
            _ = timeout(SHUTDOWN_TIMEOUT, engine.shut_down()) => {}
            _ = signals.next_signal() => {}
        }
    }
    terminate_remaining_processes().await;
}
