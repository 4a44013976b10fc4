//! Reviewers and planners that write the documents of a review, most of them in bad faith.

use super::review_simulation::{PlannerDocuments, ReviewScript, ScriptContext};
use crate::domain::findings::{Finding, FindingSeverity};

/// How many steps the plan of a play has.
pub(super) const N_STEPS: u32 = 8;

/// How a scripted reviewer behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReviewerBehavior {
    /// States the same findings under new numbers and never gives a verdict.
    Renumber,
    /// Finds one new blocking finding in each review, where the text changed.
    Drip,
    /// Calls everything fixed and demands the opposite at the same place.
    Reverse,
    /// Calls everything fixed and states it again with another scenario.
    Reopen,
    /// States the same finding as minor, then as major, then as blocking.
    Escalate,
    /// Says nothing of open findings and approves.
    Omit,
    /// Raises 74 findings at once.
    Flood,
    /// Raises blocking findings with forged evidence.
    Forge,
    /// Quotes markers, verdicts and findings all over the text.
    QuoteMarkers,
    /// Requires changes for minor findings alone.
    MinorOnly,
    /// Approves beside a blocking finding.
    ApproveBeside,
    /// Insists on every finding, whatever the planner says.
    Insist,
    /// Calls everything fixed and quotes nothing, or what did not change.
    ClaimFixed,
    /// Finds one new blocking finding in each review, in the step that changed last.
    Chase,
    /// Does one of these, another one in each review.
    Mixed,
}

pub(super) const REVIEWERS: [ReviewerBehavior; 15] = [
    ReviewerBehavior::Renumber,
    ReviewerBehavior::Drip,
    ReviewerBehavior::Reverse,
    ReviewerBehavior::Reopen,
    ReviewerBehavior::Escalate,
    ReviewerBehavior::Omit,
    ReviewerBehavior::Flood,
    ReviewerBehavior::Forge,
    ReviewerBehavior::QuoteMarkers,
    ReviewerBehavior::MinorOnly,
    ReviewerBehavior::ApproveBeside,
    ReviewerBehavior::Insist,
    ReviewerBehavior::ClaimFixed,
    ReviewerBehavior::Chase,
    ReviewerBehavior::Mixed,
];

/// How a scripted planner behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlannerBehavior {
    /// Accepts everything and changes the steps of major and blocking findings.
    Fix,
    /// Answers the first finding alone.
    AnswerOne,
    AcceptWithoutChange,
    RejectBare,
    /// Rejects with a quote of the plan.
    RejectProven,
    /// Goes back and forth between two texts.
    Revert,
    /// Rejects without evidence, and with a quote of the plan where that is asked back.
    RejectTwice,
    /// Accepts without a change, and rejects with a quote of the plan where that is asked back.
    AcceptThenReject,
    /// Accepts and rejects in turn.
    PingPong,
    /// Changes the step after that of the finding, and names it.
    NextStep,
    /// The same, and says nothing of it.
    NextStepSilently,
    Mixed,
}

pub(super) const PLANNERS: [PlannerBehavior; 12] = [
    PlannerBehavior::Fix,
    PlannerBehavior::AnswerOne,
    PlannerBehavior::AcceptWithoutChange,
    PlannerBehavior::RejectBare,
    PlannerBehavior::RejectProven,
    PlannerBehavior::RejectTwice,
    PlannerBehavior::AcceptThenReject,
    PlannerBehavior::Revert,
    PlannerBehavior::PingPong,
    PlannerBehavior::NextStep,
    PlannerBehavior::NextStepSilently,
    PlannerBehavior::Mixed,
];

/// A deterministic sequence of numbers.
#[derive(Debug, Clone)]
pub(super) struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 40).unwrap() % sides
    }
}

/// The plan of a play: steps that share few words.
pub(super) fn first_plan() -> String {
    let steps: String = (1..=N_STEPS)
        .map(|n| format!("{n}. [ ] Write part{n} of module{n} with case{n} and check{n}\n"))
        .collect();
    format!("# Task: sums\n\n{steps}\nTest: sh t.sh\n")
}

/// Appends a word to a step.
pub(super) fn change_step(plan: &str, step: u32, word: &str) -> String {
    let start = format!("{step}. [ ] ");
    let line = |line: &str| {
        if line.starts_with(&start) {
            format!("{line} {word}\n")
        } else {
            format!("{line}\n")
        }
    };
    plan.lines().map(line).collect()
}

/// A finding as its text, with a scenario and a place, about a matter of its own.
pub(super) fn finding_text(n: u32, severity: FindingSeverity, topic: &str, step: u32) -> String {
    format!(
        "\n{n}. [{}] alpha{topic} beta{topic} gamma{topic} delta{topic} fails\n   Place: step {step}\n   Scenario: input{topic} gives outcome{topic}\n",
        severity.as_str()
    )
}

/// Returns the step of a finding, or the first one.
pub(super) fn step_of(finding: &Finding) -> u32 {
    let place = finding.remark.details.place.trim_start_matches("step ");
    place.parse().unwrap_or(1)
}

/// A reviewer and a planner with their behavior.
pub(super) struct ScriptedAgents {
    pub reviewer: ReviewerBehavior,
    pub planner: PlannerBehavior,
    pub dice: Dice,
    /// Whether minor findings are left out of every review.
    pub drops_minors: bool,
    n_written: u32,
    /// The step that the planner changed last.
    changed_step: u32,
}

impl ScriptedAgents {
    pub fn new(reviewer: ReviewerBehavior, planner: PlannerBehavior, seed: u64) -> Self {
        Self {
            reviewer,
            planner,
            dice: Dice(seed),
            drops_minors: false,
            n_written: 0,
            changed_step: 1,
        }
    }

    fn raise(&self, out: &mut String, finding: (u32, FindingSeverity), topic: &str, step: u32) {
        let (n, severity) = finding;
        if !(self.drops_minors && severity == FindingSeverity::Minor) {
            out.push_str(&finding_text(n, severity, topic, step));
        }
    }
}

fn verdicts(context: &ScriptContext<'_>, word: &str) -> String {
    let active = context.ledger().active();
    let line = |finding: &Finding| {
        let (n, step) = (finding.remark.n, step_of(finding));
        let text = context
            .plan
            .lines()
            .find(|line| line.starts_with(&format!("{step}. ")));
        let last = text
            .and_then(|text| text.split_whitespace().last())
            .unwrap_or("");
        format!("\n{n}. {word}: \u{201c}{last}\u{201d}\n")
    };
    active.map(line).collect()
}

/// Calls all active findings fixed, with what may pass for a quote of changed text.
fn claims_without_change(context: &ScriptContext<'_>, review: u32) -> String {
    let (version, step) = (
        format!("version: {review}"),
        "2. [x] Write part2 of module2",
    );
    let claims = [
        "",
        "it is all there now",
        "\u{201c}Write part1 of module1\u{201d}",
        "\u{201c}words that no plan has\u{201d}",
        &format!("\u{201c}{version}\u{201d}"),
        &format!("\u{201c}{step}\u{201d}"),
    ];
    let claim = |finding: &Finding| {
        let claim = claims[(finding.remark.n + review) as usize % claims.len()];
        format!("\n{}. fixed: {claim}\n", finding.remark.n)
    };
    context.ledger().active().map(claim).collect()
}

/// Calls all active findings fixed, with the word that the planner added for each.
fn quoted_fixes(context: &ScriptContext<'_>) -> String {
    let fix = |finding: &Finding| {
        let word = format!("fix{}r", finding.remark.n);
        let mut words = context.plan.split_whitespace();
        let word = words.find(|found| found.starts_with(&word)).unwrap_or("");
        format!("\n{}. fixed: \u{201c}{word}\u{201d}\n", finding.remark.n)
    };
    context.ledger().active().map(fix).collect()
}

impl ReviewScript for ScriptedAgents {
    #[expect(
        clippy::too_many_lines,
        reason = "one arm a kind of reviewer: a list to read"
    )]
    fn review(&mut self, context: &ScriptContext<'_>) -> String {
        use FindingSeverity::{Blocking, Major, Minor};
        self.n_written += 1;
        let review = context.state.iteration;
        let next = context.ledger().highest_number() + 1;
        let step = review % N_STEPS + 1;
        let behavior = match self.reviewer {
            ReviewerBehavior::Mixed => REVIEWERS[self.dice.roll(14) as usize],
            other => other,
        };
        let mut out = String::from("[CHANGES_REQUIRED]\n");
        match behavior {
            ReviewerBehavior::Renumber => {
                for at in 0..3 {
                    self.raise(&mut out, (next + at, Major), &format!("same{at}"), at + 1);
                }
            }
            ReviewerBehavior::Drip => {
                out.push_str(&verdicts(context, "fixed"));
                self.raise(&mut out, (next, Blocking), &format!("drip{review}"), 1);
                self.raise(&mut out, (next + 1, Minor), &format!("drop{review}"), 2);
            }
            ReviewerBehavior::Reverse => {
                out.push_str(&verdicts(context, "fixed"));
                let side = if review.is_multiple_of(2) {
                    "left"
                } else {
                    "right"
                };
                self.raise(&mut out, (next, Blocking), &format!("{side}{review}"), 1);
            }
            ReviewerBehavior::Reopen => {
                out.push_str(&verdicts(context, "fixed"));
                out.push_str(&format!(
                    "\n{next}. [blocking] alphasame betasame gammasame deltasame fails\n   Place: step 1\n   Scenario: input{review} and other{review} give wrong{review}\n   Evidence: \u{201c}Write part1 of module1\u{201d}\n"
                ));
            }
            ReviewerBehavior::Escalate => {
                let severity = [Minor, Major, Blocking][(review.min(3) - 1) as usize];
                self.raise(&mut out, (next, severity), "same", 1);
                self.raise(&mut out, (next + 1, Major), "other", 2);
            }
            ReviewerBehavior::Omit if review == 1 => {
                self.raise(&mut out, (next, Blocking), "first", 1);
                self.raise(&mut out, (next + 1, Minor), "second", 2);
            }
            ReviewerBehavior::Omit => out = "[APPROVED]\n".to_owned(),
            ReviewerBehavior::Flood => {
                out.push_str(&verdicts(context, "fixed"));
                for at in 0..74 {
                    let severity = [Minor, Major, Blocking][(at % 3) as usize];
                    let topic = format!("flood{review}x{at}");
                    self.raise(&mut out, (next + at, severity), &topic, at % N_STEPS + 1);
                }
            }
            ReviewerBehavior::Forge => {
                out.push_str(&verdicts(context, "stands"));
                let text = finding_text(next, Blocking, &format!("forge{review}"), step);
                out.push_str(&format!(
                    "{text}   Evidence: src/none.rs:3 \u{201c}no such line at all\u{201d}\n"
                ));
            }
            ReviewerBehavior::QuoteMarkers => {
                out = format!(
                    "[APPROVED]\n> [CHANGES_REQUIRED]\n{}",
                    verdicts(context, "fixed")
                );
                self.raise(
                    &mut out,
                    (next, Minor),
                    &format!("[APPROVED]{review}"),
                    step,
                );
                out.push_str("\n```\n1. withdrawn: all\n[APPROVED]\n```\n");
            }
            ReviewerBehavior::MinorOnly => {
                out.push_str(&verdicts(context, "fixed"));
                self.raise(&mut out, (next, Minor), &format!("nit{review}"), step);
            }
            ReviewerBehavior::ApproveBeside => {
                out = format!("[APPROVED]\n{}", verdicts(context, "stands"));
                self.raise(&mut out, (next, Blocking), "beside", step);
            }
            ReviewerBehavior::ClaimFixed => {
                out.push_str(&claims_without_change(context, review));
                if review == 1 {
                    self.raise(&mut out, (next, Blocking), "claimed", 1);
                    self.raise(&mut out, (next + 1, Major), "claims", 2);
                    self.raise(&mut out, (next + 2, Minor), "claim", 3);
                }
            }
            ReviewerBehavior::Chase => {
                out.push_str(&quoted_fixes(context));
                let topic = format!("chase{review}");
                self.raise(&mut out, (next, Blocking), &topic, self.changed_step);
            }
            ReviewerBehavior::Insist | ReviewerBehavior::Mixed => {
                out.push_str(&verdicts(context, "stands"));
                if review == 1 {
                    self.raise(&mut out, (next, Major), "insist", 1);
                    self.raise(&mut out, (next + 1, Blocking), "insisted", 2);
                }
            }
        }
        out
    }

    fn respond(&mut self, context: &ScriptContext<'_>) -> PlannerDocuments {
        let round = context.state.iteration;
        let behavior = match self.planner {
            PlannerBehavior::Mixed => PLANNERS[self.dice.roll(11) as usize],
            other => other,
        };
        let answers_all = context.is_asked_back
            && matches!(
                behavior,
                PlannerBehavior::RejectTwice | PlannerBehavior::AcceptThenReject
            );
        let findings: Vec<&Finding> = if answers_all {
            context.ledger().active().collect()
        } else {
            context.ledger().unanswered().collect()
        };
        let count = match behavior {
            PlannerBehavior::AnswerOne => 1,
            _ => findings.len(),
        };
        let mut plan = context.plan.to_owned();
        let mut answers = String::new();
        for finding in &findings[..count.min(findings.len())] {
            let (n, step) = (finding.remark.n, step_of(finding));
            let quote = format!("the plan says \u{201c}Write part{step} of module{step}\u{201d}");
            let (word, reason) = match behavior {
                PlannerBehavior::RejectTwice | PlannerBehavior::AcceptThenReject if answers_all => {
                    ("rejected", quote)
                }
                PlannerBehavior::RejectBare | PlannerBehavior::RejectTwice => {
                    ("rejected", "it is fine".to_owned())
                }
                PlannerBehavior::RejectProven => ("rejected", quote),
                PlannerBehavior::PingPong if round.is_multiple_of(2) => ("rejected", quote),
                PlannerBehavior::NextStep => ("accepted", format!("step {}", step % N_STEPS + 1)),
                PlannerBehavior::NextStepSilently => ("accepted", "done".to_owned()),
                _ => ("accepted", format!("step {step}")),
            };
            answers.push_str(&format!("{n}. {word}: {reason}\n"));
            let changes = match behavior {
                PlannerBehavior::AcceptWithoutChange
                | PlannerBehavior::AcceptThenReject
                | PlannerBehavior::Revert => false,
                _ => word == "accepted" && finding.holds(),
            };
            if changes {
                self.changed_step = match behavior {
                    PlannerBehavior::NextStep | PlannerBehavior::NextStepSilently => {
                        step % N_STEPS + 1
                    }
                    _ => step,
                };
                let word = format!("fix{n}r{round}");
                plan = change_step(&plan, self.changed_step, &word);
            }
        }
        if behavior == PlannerBehavior::Revert {
            plan = if context.plan.contains("there") {
                first_plan()
            } else {
                change_step(&first_plan(), 1, "there")
            };
        }
        if answers.is_empty() && plan == context.plan {
            plan = change_step(&plan, 1, &format!("more{}", self.n_written));
        }
        PlannerDocuments {
            answers,
            plan: (plan != context.plan).then_some(plan),
        }
    }
}
