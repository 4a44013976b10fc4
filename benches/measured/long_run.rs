//! Creates a long run on disk, as the program itself would have recorded it: every event goes through the
//! journal. The same numbers give the same run, except for its instants.

use std::path::Path;

use agent_collab::domain::effect::Effect;
use agent_collab::domain::event::{
    AgentActivity, Event, RunParameters, ToolKind, ToolStatus, WorkflowSettings,
};
use agent_collab::domain::ids::{RunId, SessionId, Sha256, TurnId};
use agent_collab::domain::phase::{Gate, Mode};
use agent_collab::domain::run::RUN_SCHEMA;
use agent_collab::domain::turn::{Role, TurnOutcome};
use agent_collab::engine::run_journal::RunJournal;
use agent_collab::store::{StoreError, TamperGuard, WorkdirLayout, WorkdirNames};

/// How many events of an agent make one turn.
const A_TURN: u32 = 500;

/// Creates a run of `n_events` events of an agent with texts of `mean` bytes. The run waits for the release of
/// the turn that writes the plan. The last text is `the last of … events`.
///
/// # Errors
/// The files cannot be written.
pub fn make(
    root: &Path,
    side: &Path,
    n_events: u32,
    mean: usize,
) -> Result<RunJournal, StoreError> {
    let layout = WorkdirLayout::new(root, WorkdirNames::default())?;
    let _privacy = layout.create()?;
    let guard = TamperGuard::open(&layout, side)?;
    let (mut journal, _first) = RunJournal::create(guard, created())?;
    let mut texts = Texts::new(mean);
    tell(
        &mut journal,
        Event::GoalGiven {
            text: "Make it fast".to_owned(),
        },
    )?;
    for first in (0..n_events).step_by(A_TURN as usize) {
        let until = (first + A_TURN).min(n_events);
        let turn = begin_turn(&mut journal)?;
        for n in first..until {
            let news = if n + 1 == n_events {
                AgentActivity::Text {
                    text: format!("the last of {n_events} events"),
                }
            } else {
                texts.news(n)
            };
            let turn = turn.clone();
            tell(
                &mut journal,
                Event::Agent {
                    turn,
                    role: Role::Planner,
                    news,
                },
            )?;
        }
        let result = TurnOutcome::Completed {
            question: None,
            summary: "done".to_owned(),
            result: None,
        };
        tell(&mut journal, Event::TurnEnded { turn, result })?;
    }
    let (title, text) = ("Make it fast".to_owned(), "Make it fast".to_owned());
    tell(&mut journal, Event::GoalConfirmed { title, text })?;
    Ok(journal)
}

/// Returns the parameters of the new run.
pub fn created() -> RunParameters {
    RunParameters {
        schema: RUN_SCHEMA,
        run: RunId::new("run_long"),
        gate: Gate::Manual,
        mode: Mode::Default,
        settings: WorkflowSettings {
            max_iterations: 5,
            stall_limit: 2,
            auto_approve: false,
            max_fix_turns: 2,
            baseline: false,
            proves_steps: false,
            proves_by_step_tests: false,
            binds_versions: false,
        },
        planner: (SessionId::new("ses_planner"), "claude".to_owned()),
        reviewer: Some((SessionId::new("ses_reviewer"), "codex".to_owned())),
    }
}

/// Records an event and what follows from it for the record.
fn tell(journal: &mut RunJournal, event: Event) -> Result<(), StoreError> {
    let from = journal.state().phase;
    let (_, effects) = journal.record(event)?;
    let to = journal.state().phase;
    if from != to {
        journal.record(Event::PhaseChanged {
            from,
            to,
            reason: None,
        })?;
    }
    for effect in effects {
        if let Effect::AskUser(question) = effect {
            journal.record(Event::QuestionAsked { question })?;
        }
    }
    Ok(())
}

fn begin_turn(journal: &mut RunJournal) -> Result<TurnId, StoreError> {
    tell(
        journal,
        Event::GoalMessageAdded {
            text: "Go on".to_owned(),
        },
    )?;
    tell(journal, Event::TurnSendConfirmed)?;
    let turn = journal
        .state()
        .running
        .as_ref()
        .map_or_else(|| TurnId::new("none"), |running| running.order.turn.clone());
    let prompt_sha256 = Sha256::new("0".repeat(64));
    tell(
        journal,
        Event::TurnStarted {
            turn: turn.clone(),
            prompt_sha256,
            process: None,
        },
    )?;
    Ok(turn)
}

const WORDS: [&str; 24] = [
    "the",
    "state",
    "file",
    "is",
    "written",
    "after",
    "every",
    "step",
    "and",
    "`cargo test`",
    "fails",
    "naïve",
    "漢字",
    "…",
    "fn main()",
    "struct Event",
    "match",
    "Some(None)",
    "tokio",
    "🦀",
    "a key",
    "was",
    "read",
    "— then",
];

/// Generates texts out of a few words with a small random generator.
struct Texts {
    mean: usize,
    state: u64,
}

impl Texts {
    fn new(mean: usize) -> Self {
        Self {
            mean,
            state: 88_172_645_463_325_252,
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 11).unwrap_or(0) % below.max(1)
    }

    fn text(&mut self, n_bytes: usize) -> String {
        let mut text = String::with_capacity(n_bytes + 16);
        while text.len() < n_bytes {
            text.push_str(WORDS[self.draw(WORDS.len())]);
            text.push(if self.draw(12) == 0 { '\n' } else { ' ' });
        }
        text
    }

    /// What an agent does: it thinks, speaks, and runs commands whose output is long.
    fn news(&mut self, n: u32) -> AgentActivity {
        let n_bytes = self.mean / 2 + self.draw(self.mean);
        let item = format!("item_{}", n / 4);
        match n % 4 {
            0 => AgentActivity::Thinking {
                text: self.text(n_bytes),
            },
            1 => AgentActivity::Text {
                text: self.text(n_bytes),
            },
            2 => AgentActivity::ToolStarted {
                item,
                tool: ToolKind::Command,
                title: "cargo test --workspace".to_owned(),
                detail: None,
            },
            _ => AgentActivity::ToolEnded {
                item,
                status: ToolStatus::Completed,
                exit_code: Some(0),
                output: self.text(n_bytes * 2),
            },
        }
    }
}
