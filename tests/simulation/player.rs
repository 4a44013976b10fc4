//! Plays one launch of the program: the real start, engine and store, a tireless user, a virtual clock.
//!
//! It runs in its own process, which a fault may end at any boundary. The simulated user answers as the
//! scenario says and knows only what a user would know after a crash: what the run has recorded.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use agent_collab::app::startup::{
    RunInstance, StartAskPolicy, StartError, StartOptions, UnfinishedRunPolicy, resume_run,
    start_run,
};
use agent_collab::config::ConfigFlags;
use agent_collab::domain::event::Event;
use agent_collab::domain::ids::UnixMillis;
use agent_collab::domain::phase::{Mode, Phase};
use agent_collab::domain::question::{Question, QuestionAnswer, QuestionKind};
use agent_collab::domain::turn::TurnPurpose;
use agent_collab::engine::log_sinks::FrontEnd;
use agent_collab::engine::run_setup::{BranchPolicy, TestCommandPreference};
use agent_collab::engine::{Engine, EngineError, EngineOutcome, ViewUpdate};
use agent_collab::permission::{ScopePolicy, UncontainedCommandPolicy};
use agent_collab::process::ChildSpawner;
use agent_collab::store::event_log::EventLogReader;
use agent_collab::store::utc_time;

use crate::fault::{self, Fault, tell};
use crate::scenarios::{self, Scenario, Whim};
use crate::stand_ins::Cast;
use crate::world::kept;

/// The parameters of a launch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Launch {
    pub folder: PathBuf,
    pub scenario: String,
    pub fault: Option<Fault>,
}

/// The run is over.
pub const OVER: i32 = 0;
/// The program ended by itself and the run is not over.
pub const NOT_OVER: i32 = 10;

/// What the user writes into the plan.
const BY_HAND: &str = "A remark by hand.";
/// How much virtual time a run may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(48 * 3600);
/// How often the user answers in one launch before the run counts as going in a circle.
const MOST_ANSWERS: u32 = 60;

/// Plays one launch and returns the exit code.
pub fn play(launch: &Launch) -> i32 {
    fault::listen(launch.fault);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let code = runtime.block_on(async {
        virtual_now();
        utc_time::set_clock(virtual_now);
        match tokio::time::timeout(PATIENCE, live(launch)).await {
            Ok(code) => code,
            Err(_) => {
                tell("hangs", "for two days");
                NOT_OVER
            }
        }
    });
    // An agent's thread that waits for its turn ends with the process.
    runtime.shutdown_background();
    code
}

/// The wall clock: as late as it was at the start, and all virtual time since.
fn virtual_now() -> UnixMillis {
    static START: OnceLock<(UnixMillis, tokio::time::Instant)> = OnceLock::new();
    let (at, since) = START.get_or_init(|| (utc_time::now(), tokio::time::Instant::now()));
    let passed = i64::try_from(since.elapsed().as_millis()).expect("less than an age");
    UnixMillis(at.0 + passed)
}

async fn live(launch: &Launch) -> i32 {
    let scenario = scenarios::find(&launch.scenario);
    let wishes = wishes(launch, scenario);
    let mut started = match begin(&wishes).await {
        Ok(started) => started,
        Err(refusal) => {
            tell("refused", &refusal.problem);
            return NOT_OVER;
        }
    };
    for notice in &started.0.notices {
        tell("notice", notice);
    }
    let begun = started.1;
    let engine = &mut started.0.engine;
    let mut user = User::new(scenario, engine);
    let ended = match begun {
        Begun::Anew => user.live(engine).await,
        Begun::Again => match engine.resume(wishes.gate) {
            Ok(()) => user.live(engine).await,
            Err(error) => Err(error),
        },
        Begun::AfterIt => Ok(End::Over),
    };
    user.look(engine);
    let code = match ended {
        Ok(End::Over) => OVER,
        Ok(End::Stuck(why)) => {
            tell("stuck", &why);
            NOT_OVER
        }
        Ok(End::Halted(why)) => {
            tell("halted", &why);
            NOT_OVER
        }
        Err(error) => {
            tell("error", &error.to_string());
            NOT_OVER
        }
    };
    engine.shut_down().await;
    code
}

fn wishes(launch: &Launch, scenario: &Scenario) -> StartOptions {
    StartOptions {
        cwd: launch.folder.join("repository"),
        choices: ConfigFlags {
            file: Some(launch.folder.join("config.toml")),
            overrides: Vec::new(),
            instructions: None,
        },
        gate: scenario.gate,
        mode: Mode::Default,
        branch: BranchPolicy::NewIfDefault,
        test_choice: TestCommandPreference::Configured,
        ask_policy: StartAskPolicy::Wait,
        scope_policy: ScopePolicy::Ask,
        uncontained: UncontainedCommandPolicy::FollowRules,
        front_end: FrontEnd::Lines,
        unfinished: UnfinishedRunPolicy::Refuse,
        children: ChildSpawner::simulated_by(std::sync::Arc::new(Cast {
            folder: launch.folder.clone(),
        })),
    }
}

/// Whether a run is new or resumed.
enum Begun {
    Anew,
    Again,
    /// The launch before was killed when its run was over already: the start has moved that run to the history.
    AfterIt,
}

/// Resumes the existing run, or starts a new one if there is none.
async fn begin(wishes: &StartOptions) -> Result<(RunInstance, Begun), StartError> {
    if !wishes.cwd.join(".agent-collab").exists() {
        return Ok((start_run(wishes).await?, Begun::Anew));
    }
    match resume_run(wishes).await {
        Ok(started) => return Ok((started, Begun::Again)),
        Err(refusal) if refusal.problem.contains("no unfinished run") => {}
        Err(refusal) => return Err(refusal),
    }
    let started = start_run(wishes).await?;
    let begun = match kept(&wishes.cwd) {
        Some(_) => Begun::AfterIt,
        None => Begun::Anew,
    };
    Ok((started, begun))
}

enum End {
    Over,
    Halted(String),
    Stuck(String),
}

/// The user, who reads what is recorded and answers.
struct User {
    scenario: &'static Scenario,
    /// All that the run has recorded.
    seen: Vec<Event>,
    n_answers: u32,
}

impl User {
    fn new(scenario: &'static Scenario, engine: &mut Engine) -> Self {
        let mut seen = Vec::new();
        EventLogReader::from_start(&engine.journal().layout().events())
            .read_all(|record| seen.push(record.event))
            .expect("a log that can be read");
        engine.take_view_updates();
        Self {
            scenario,
            seen,
            n_answers: 0,
        }
    }

    /// Reads what was recorded since.
    fn look(&mut self, engine: &mut Engine) {
        let updates = engine.take_view_updates().into_iter();
        for record in updates.filter_map(ViewUpdate::into_record) {
            let value = serde_json::to_value(&record.event).expect("an event");
            let kind = value["kind"].as_str().unwrap_or_default().to_owned();
            tell("event", &format!("{}|{kind}", record.seq));
            if kind == "error" || kind == "turn.ended" {
                tell("says", &value["data"].to_string());
            }
            self.seen.push(record.event);
        }
    }

    async fn live(&mut self, engine: &mut Engine) -> Result<End, EngineError> {
        loop {
            self.look(engine);
            match engine.outcome() {
                Some(EngineOutcome::Finished) => return Ok(End::Over),
                Some(EngineOutcome::Halted(why)) => return Ok(End::Halted(why.clone())),
                None => {}
            }
            if self.n_answers > MOST_ANSWERS {
                return Ok(End::Stuck("it asks and asks".to_owned()));
            }
            if let Some(deed) = self.deed(engine) {
                self.n_answers += 1;
                match deed {
                    Deed::Feed(event) => engine.apply_event(event)?,
                    Deed::Type(event, text) => {
                        tell("types", &text);
                        engine.apply_event(event)?;
                        tell("typed", &text);
                    }
                    Deed::Stuck(why) => return Ok(End::Stuck(why)),
                }
                continue;
            }
            if let Some(event) = self.whim(engine) {
                engine.apply_event(event)?;
                continue;
            }
            let inward = engine.next_input().await;
            engine.handle_input(inward)?;
        }
    }

    /// What the user does while the findings are answered, once in a run.
    fn whim(&self, engine: &Engine) -> Option<Event> {
        let running = engine.state().running.as_ref()?;
        let is_new = matches!(self.seen.last(), Some(Event::TurnStarted { .. }));
        let did =
            |event: &Event| matches!(event, Event::InterruptRequested | Event::PlanEdited { .. });
        if running.order.purpose != TurnPurpose::Respond || !is_new || self.seen.iter().any(did) {
            return None;
        }
        match self.scenario.whim {
            Whim::None => None,
            Whim::Interrupts => Some(Event::InterruptRequested),
            Whim::EditsThePlan => {
                let plan = engine.journal().layout().plan();
                let text = std::fs::read_to_string(&plan).ok()?;
                if !text.contains(BY_HAND) {
                    tell("types", BY_HAND);
                    // A full disk fails the user's editor, too.
                    if std::fs::write(&plan, format!("{text}\n{BY_HAND}\n")).is_ok() {
                        tell("typed", BY_HAND);
                    }
                }
                None
            }
        }
    }

    /// What the user does now; nothing while something is being done.
    fn deed(&self, engine: &Engine) -> Option<Deed> {
        let state = engine.state();
        if let Some(question) = state.awaiting.clone() {
            // A usage limit passes by itself.
            let waits = matches!(question.kind, QuestionKind::UsageLimit { .. });
            return (!waits).then(|| self.answer(question));
        }
        if state.running.is_some() || state.busy.is_some() {
            return None;
        }
        let goal = self.scenario.goal;
        Some(match (state.phase, &state.goal) {
            (Phase::Init, None) => typed(
                Event::GoalGiven {
                    text: goal.to_owned(),
                },
                goal,
            ),
            (Phase::RefineGoal, Some(given)) if !given.confirmed => {
                Deed::Feed(Event::GoalConfirmed {
                    title: given.title.clone(),
                    text: given.text.clone(),
                })
            }
            (phase, _) => Deed::Stuck(format!("nothing goes on in {phase}")),
        })
    }

    fn answer(&self, question: Question) -> Deed {
        let Question { id, kind } = question;
        tell("asked", kind.name());
        let plain = |answer| Deed::Feed(Event::QuestionAnswered { id, answer });
        match &kind {
            QuestionKind::Gate { .. } => Deed::Feed(Event::TurnSendConfirmed),
            QuestionKind::Execute { .. } => match self.scenario.changes {
                Some(text) if !self.asked_for_changes() => {
                    let text = text.to_owned();
                    let answer = QuestionAnswer::RequestChanges { text: text.clone() };
                    typed(Event::QuestionAnswered { id, answer }, &text)
                }
                _ => plain(QuestionAnswer::Execute),
            },
            QuestionKind::Agent { questions, .. } => {
                let text = self.scenario.reply.to_owned();
                let answers = questions
                    .iter()
                    .map(|asked| (asked.text.clone(), text.clone()))
                    .collect();
                let answer = QuestionAnswer::Texts { answers };
                typed(Event::QuestionAnswered { id, answer }, &text)
            }
            other => match self.scenario.answer(other) {
                Some(answer) => plain(answer),
                None => Deed::Stuck(format!("the user has no answer to {}", other.name())),
            },
        }
    }

    fn asked_for_changes(&self) -> bool {
        let is_it = |event: &Event| {
            matches!(
                event,
                Event::QuestionAnswered {
                    answer: QuestionAnswer::RequestChanges { .. },
                    ..
                }
            )
        };
        self.seen.iter().any(is_it)
    }
}

enum Deed {
    Feed(Event),
    /// As `Feed`; the user typed this for it.
    Type(Event, String),
    Stuck(String),
}

fn typed(event: Event, text: &str) -> Deed {
    Deed::Type(event, text.to_owned())
}
