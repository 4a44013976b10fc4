//! The simulated runs: what the agents play, what the user does, what the result must be.

use agent_collab::domain::findings::DisputeSide;
use agent_collab::domain::phase::Gate;
use agent_collab::domain::question::{QuestionAnswer, QuestionKind};
use serde_json::{Value, json};

use crate::script::{Agent, FIXED, objection, say, whole_revision, write};

/// One simulated run.
pub struct Scenario {
    pub name: &'static str,
    pub gate: Gate,
    pub goal: &'static str,
    /// Asked for instead of the first approval.
    pub changes: Option<&'static str>,
    /// Typed when an agent asks something.
    pub reply: &'static str,
    /// Additions to the configuration, TOML.
    pub config: &'static str,
    /// A hook of the repository, `pre-commit`; empty for none.
    pub hook: &'static str,
    /// What the user does in the midst of a turn.
    pub whim: Whim,
    /// What the planner and the reviewer play.
    pub agents: fn() -> [Agent; 2],
}

/// What the user does in the midst of the turn that answers the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whim {
    None,
    Interrupts,
    /// Edits the plan in an editor.
    EditsThePlan,
}

const PLAIN: Scenario = Scenario {
    name: "plain",
    gate: Gate::Auto,
    goal: "A test that the user typed",
    changes: None,
    reply: "",
    config: "",
    hook: "",
    whim: Whim::None,
    agents: plain,
};

pub const SCENARIOS: [Scenario; 10] = [
    PLAIN,
    Scenario {
        name: "manual",
        gate: Gate::Manual,
        agents: short,
        ..PLAIN
    },
    Scenario {
        name: "changes",
        gate: Gate::Manual,
        changes: Some("please mention the weather in the plan"),
        agents: short,
        ..PLAIN
    },
    Scenario {
        name: "arbitration",
        config: "[workflow]\nmax_iterations = 1\n",
        agents: stubborn,
        ..PLAIN
    },
    Scenario {
        name: "failing tests",
        agents: mended,
        ..PLAIN
    },
    Scenario {
        name: "failing commit",
        hook: "#!/bin/sh\ntest -f .git/tried && exit 0\ntouch .git/tried\necho no >&2\nexit 1\n",
        agents: short,
        ..PLAIN
    },
    Scenario {
        name: "question",
        gate: Gate::Manual,
        reply: "take the blue one",
        agents: asking,
        ..PLAIN
    },
    Scenario {
        name: "usage limit",
        agents: limited,
        ..PLAIN
    },
    Scenario {
        name: "interrupt",
        whim: Whim::Interrupts,
        agents: short,
        ..PLAIN
    },
    Scenario {
        name: "edit by hand",
        whim: Whim::EditsThePlan,
        agents: short,
        ..PLAIN
    },
];

/// The scenario of a name.
pub fn find(name: &str) -> &'static Scenario {
    static ALL: [Scenario; 10] = SCENARIOS;
    ALL.iter()
        .find(|scenario| scenario.name == name)
        .expect("a scenario of this name")
}

impl Scenario {
    /// What the user answers where nothing is typed.
    pub fn answer(&self, kind: &QuestionKind) -> Option<QuestionAnswer> {
        Some(match kind {
            QuestionKind::Arbitration { .. } => QuestionAnswer::ForcePass,
            QuestionKind::Dispute { .. } => QuestionAnswer::DecideDispute {
                side: DisputeSide::Planner,
            },
            QuestionKind::StepRecovery { .. } => QuestionAnswer::ContinueStep,
            QuestionKind::DirtyFiles { .. } => QuestionAnswer::Include,
            QuestionKind::StalePlan { .. } => QuestionAnswer::ReviewAgain,
            QuestionKind::EntryPoints { .. } => QuestionAnswer::Allow,
            QuestionKind::HeldEdits { .. } => QuestionAnswer::Keep,
            QuestionKind::TestNetwork { .. } => QuestionAnswer::LoopbackNetwork,
            QuestionKind::TestSocket { .. } => QuestionAnswer::HideSocket,
            QuestionKind::RunnerMissing { .. } => QuestionAnswer::AcceptAsIs,
            QuestionKind::Conflict { .. } => QuestionAnswer::Overwrite,
            QuestionKind::Draft { .. } => QuestionAnswer::Discard,
            QuestionKind::AdapterFailed { .. }
            | QuestionKind::NoDocument { .. }
            | QuestionKind::CommitFailed { .. }
            | QuestionKind::TestsFailed { .. }
            | QuestionKind::TestsInDoubt { .. }
            | QuestionKind::NothingChanged { .. }
            | QuestionKind::Blocked { .. }
            | QuestionKind::CannotExecute { .. } => QuestionAnswer::Retry,
            QuestionKind::Gate { .. }
            | QuestionKind::ManualEdit
            | QuestionKind::UsageLimit { .. }
            | QuestionKind::Execute { .. }
            | QuestionKind::Agent { .. } => return None,
        })
    }
}

const PLAN: &str =
    "# Task: A test\n\n## Steps\n1. [ ] Write one\n2. [ ] Write two\n\nTest: test -f one.txt\n";
const SHORT: &str = "# Task: A test\n\n## Steps\n1. [ ] Write one\n\nTest: test -f one.txt\n";

/// A planner that plays its turns as often as it is asked to.
fn planner(plan: &str) -> Agent {
    Agent::new()
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![say("I think."), write("${plan_path}", plan), say("Done.")],
        )
        .always(
            "[agent-collab RESPOND",
            whole_revision(plan, "1. accepted: done\n2. accepted: done\n"),
        )
        .always(
            "[agent-collab EXECUTE step 2]",
            vec![write("two.txt", "two\n"), say("Wrote two.")],
        )
}

fn writes_one(planner: Agent) -> Agent {
    planner.always(
        "[agent-collab EXECUTE step 1]",
        vec![write("one.txt", "one\n"), say("Wrote one.")],
    )
}

fn review(text: &str) -> Vec<Value> {
    vec![say("I read."), write("${comments_path}", text)]
}

fn plain() -> [Agent; 2] {
    let reviewer = Agent::new()
        .always(
            "[agent-collab REVIEW 1]",
            review(&objection("major", "say why")),
        )
        .always("[agent-collab REVIEW", review(FIXED));
    [writes_one(planner(PLAN)), reviewer]
}

fn short() -> [Agent; 2] {
    let [_, reviewer] = plain();
    [writes_one(planner(SHORT)), reviewer]
}

/// Both are turned away once and again in each conversation; the limits end in an hour.
fn limited() -> [Agent; 2] {
    let limit = json!({ "do": "error", "kind": "usage_limit", "resets_in": 3600 });
    let planner = Agent::new().on("[agent-collab WRITE_PLAN]", vec![limit.clone()]);
    let reviewer = Agent::new()
        .on("[agent-collab REVIEW", vec![limit])
        .always("[agent-collab REVIEW", review("[APPROVED]\n"));
    let planner = planner.always(
        "[agent-collab WRITE_PLAN]",
        vec![say("I think."), write("${plan_path}", SHORT)],
    );
    [writes_one(planner), reviewer]
}

fn stubborn() -> [Agent; 2] {
    let reviewer = Agent::new().always(
        "[agent-collab REVIEW",
        review(&objection("major", "say why")),
    );
    [writes_one(planner(SHORT)), reviewer]
}

fn mended() -> [Agent; 2] {
    let planner = planner(SHORT)
        .always(
            "[agent-collab EXECUTE step 1]",
            vec![write("other.txt", "other\n"), say("Wrote another.")],
        )
        .always(
            "[agent-collab EXECUTE fix",
            // The same line as above, because it does not matter which of the two turns was last before a fault.
            vec![write("one.txt", "one\n"), say("Wrote another.")],
        );
    let reviewer = Agent::new().always("[agent-collab REVIEW", review("[APPROVED]\n"));
    [planner, reviewer]
}

fn asking() -> [Agent; 2] {
    let question = json!({
        "do": "question",
        "question": "Which colour?",
        "header": "Colour",
        "options": ["blue", "red"],
    });
    let mut turn = vec![question];
    turn.extend(review("[APPROVED]\n"));
    let reviewer = Agent::new().always("[agent-collab REVIEW", turn);
    [writes_one(planner(SHORT)), reviewer]
}
