//! The simulated runs: what the agents play, what the user does, what the result must be.

use agent_collab::domain::findings::DisputeSide;
use agent_collab::domain::phase::Gate;
use agent_collab::domain::question::{QuestionAnswer, QuestionKind};
use serde_json::{Value, json};

use crate::script::{Agent, DONE, FIXED, finding, objection, say, whole_revision, write};

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

pub const SCENARIOS: [Scenario; 15] = [
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
    Scenario {
        name: "renumbered findings",
        config: "[workflow]\nmax_iterations = 3\n",
        agents: renumbering,
        ..PLAIN
    },
    Scenario {
        name: "forged evidence",
        agents: forging,
        ..PLAIN
    },
    Scenario {
        name: "dispute",
        agents: disputing,
        ..PLAIN
    },
    Scenario {
        name: "skipped step",
        agents: blocked,
        ..PLAIN
    },
    Scenario {
        name: "replanned step",
        agents: replanned,
        ..PLAIN
    },
];

/// The scenario of a name.
pub fn find(name: &str) -> &'static Scenario {
    static ALL: [Scenario; 15] = SCENARIOS;
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
            QuestionKind::Blocked { .. } if self.name == "replanned step" => {
                let text = "in another way".to_owned();
                QuestionAnswer::ReplanStep { text }
            }
            QuestionKind::Blocked { .. } => {
                let reason = "nobody needs it".to_owned();
                QuestionAnswer::SkipStep { reason }
            }
            QuestionKind::StepRecovery { .. } => QuestionAnswer::ContinueStep,
            QuestionKind::DirtyFiles { .. } => QuestionAnswer::Include,
            QuestionKind::StalePlan { .. } => QuestionAnswer::ReviewAgain,
            QuestionKind::ApprovalChanged { .. }
            | QuestionKind::RunnerMissing { .. }
            | QuestionKind::RedBaseline { .. } => QuestionAnswer::AcceptAsIs,
            QuestionKind::EntryPoints { .. } => QuestionAnswer::Allow,
            QuestionKind::HeldEdits { .. } => QuestionAnswer::Keep,
            QuestionKind::OutOfScope { .. } => QuestionAnswer::Allow,
            QuestionKind::TestNetwork { .. } => QuestionAnswer::LoopbackNetwork,
            QuestionKind::TestSocket { .. } => QuestionAnswer::HideSocket,
            QuestionKind::Conflict { .. } => QuestionAnswer::Overwrite,
            QuestionKind::Draft { .. } => QuestionAnswer::Discard,
            QuestionKind::AdapterFailed { .. }
            | QuestionKind::NoDocument { .. }
            | QuestionKind::CommitFailed { .. }
            | QuestionKind::TestsFailed { .. }
            | QuestionKind::TestsInDoubt { .. }
            | QuestionKind::Unproven { .. }
            | QuestionKind::NothingChanged { .. }
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

/// A reviewer that raises the same again under another number, says nothing of the open finding, and drips new ones.
fn renumbering() -> [Agent; 2] {
    let again = |n: u32| format!("[CHANGES_REQUIRED]\n{}", finding(n, "major", "say why"));
    let dripping = finding(9, "blocking", "say since when");
    let reviewer = Agent::new()
        .always("[agent-collab REVIEW 1]", review(&again(1)))
        .always(
            "[agent-collab REVIEW 2]",
            review(&format!("{}{dripping}", again(7))),
        )
        .always("[agent-collab REVIEW", review(&again(3)));
    [writes_one(planner(SHORT)), reviewer]
}

/// A reviewer whose blocking findings quote what is nowhere.
fn forging() -> [Agent; 2] {
    let forged = |n: u32| {
        format!("\n{n}. [blocking] It is broken\n   Evidence: one.txt:{n} says \"no such line\"\n")
    };
    let all: String = (1..6).map(forged).collect();
    let reviewer = Agent::new().always(
        "[agent-collab REVIEW",
        review(&format!("[CHANGES_REQUIRED]\n{all}")),
    );
    [writes_one(planner(SHORT)), reviewer]
}

/// A planner that rejects a finding with evidence that is true, a reviewer that insists, and a session that judges.
fn disputing() -> [Agent; 2] {
    let rejects = "1. rejected: no. Evidence: the plan says \"# Task: A test\"\n";
    let planner = Agent::new()
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", SHORT), say("Done.")],
        )
        .always(
            "[agent-collab RESPOND",
            vec![write("${comments_path}", rejects)],
        );
    let judges = vec![say("```judgement\n1. planner: the goal asks for it\n```\n")];
    let insists = "[CHANGES_REQUIRED]\n\n1. stands: it stays wrong\n";
    let reviewer = Agent::new()
        .always("[agent-collab REVIEW 2 dispute]", judges.clone())
        .always("[agent-collab REVIEW 3 dispute]", judges)
        .always(
            "[agent-collab REVIEW 1]",
            review(&objection("blocking", "Wrong.")),
        )
        .always("[agent-collab REVIEW 2]", review(insists))
        .always("[agent-collab REVIEW 3]", review(insists))
        .always("[agent-collab REVIEW", review("[APPROVED]\n"));
    [writes_one(planner), reviewer]
}

/// A message whose result is that the step is blocked.
fn blocks() -> Vec<Value> {
    vec![say(
        "I looked.\n\n```step-result\nblocked: one.txt:1 says \"one\"\n```",
    )]
}

fn blocked() -> [Agent; 2] {
    let planner = Agent::new()
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", PLAN), say("Done.")],
        )
        .always("[agent-collab EXECUTE step 2]", blocks());
    let reviewer = Agent::new().always("[agent-collab REVIEW", review("[APPROVED]\n"));
    [writes_one(planner), reviewer]
}

/// The second step is blocked as it is planned first.
fn replanned() -> [Agent; 2] {
    let other = PLAN.replace("Write two", "Write two in another way");
    let planner = Agent::new()
        .always(
            "the user wants it planned again",
            vec![write("${plan_path}", &other), say("Done.")],
        )
        .always(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", PLAN), say("Done.")],
        )
        .always(
            "## Step 2\nWrite two in another way",
            vec![
                write("two.txt", "two\n"),
                say(&format!("Wrote two.\n\n{DONE}")),
            ],
        )
        .always("[agent-collab EXECUTE step 2]", blocks());
    let reviewer = Agent::new().always("[agent-collab REVIEW", review("[APPROVED]\n"));
    [writes_one(planner), reviewer]
}
