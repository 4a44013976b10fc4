//! Replays published courses of reviews under these rules, and compares the table in docs/measured.md with the results.

use std::fmt::Write as _;

use serde::Deserialize;

use super::review_simulation::{
    PlannerDocuments, PlayEnding, ReviewScript, ReviewSimulation, ScriptContext,
};
use super::scripted_agents::{
    PlannerBehavior, ReviewerBehavior, ScriptedAgents, finding_text, step_of,
};
use crate::domain::findings::{FindingSeverity, FindingStatus};
use crate::domain::question::QuestionKind;

const MAX_ITERATIONS: u32 = 5;
/// Over how many steps of the plan the findings of a course are spread.
const N_PLAN_STEPS: u32 = 12;

const COURSES: [&str; 13] = [
    include_str!("../../../../tests/fixtures/reviews/no_mistakes_683.toml"),
    include_str!("../../../../tests/fixtures/reviews/no_mistakes_683_second.toml"),
    include_str!("../../../../tests/fixtures/reviews/pairflow.toml"),
    include_str!("../../../../tests/fixtures/reviews/agentic_workflow_37.toml"),
    include_str!("../../../../tests/fixtures/reviews/agentic_workflow_38.toml"),
    include_str!("../../../../tests/fixtures/reviews/aiwatch_1110.toml"),
    include_str!("../../../../tests/fixtures/reviews/aiwatch_1091.toml"),
    include_str!("../../../../tests/fixtures/reviews/humanize_230.toml"),
    include_str!("../../../../tests/fixtures/reviews/assembly_zero_2386.toml"),
    include_str!("../../../../tests/fixtures/reviews/flow_next_295_a.toml"),
    include_str!("../../../../tests/fixtures/reviews/flow_next_295_b.toml"),
    include_str!("../../../../tests/fixtures/reviews/flow_next_295_c.toml"),
    include_str!("../../../../tests/fixtures/reviews/humanize_199.toml"),
];

/// One published course of reviews.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedCourse {
    course: String,
    source: String,
    published: String,
    /// New findings of each review.
    counts: Vec<u32>,
    assumed: String,
    /// Whether all findings after the first review are true.
    late_is_true: bool,
    /// Whether it must reach an approval without a question.
    converges: bool,
}

/// How the severities of findings are mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeverityMix {
    FourFiveOne,
    Thirds,
    AllBlocking,
}

impl SeverityMix {
    fn label(self) -> &'static str {
        match self {
            Self::FourFiveOne => "4:5:1",
            Self::Thirds => "thirds",
            Self::AllBlocking => "all blocking",
        }
    }

    /// Returns the severity of a finding, which is counted from 0 over the whole course.
    fn severity(self, at: u32) -> FindingSeverity {
        use FindingSeverity::{Blocking, Major, Minor};
        // The tenths in an order that spreads each severity.
        const TENTHS: [FindingSeverity; 10] = [
            Major, Minor, Major, Minor, Blocking, Major, Minor, Major, Minor, Major,
        ];
        match self {
            Self::FourFiveOne => TENTHS[(at % 10) as usize],
            Self::Thirds => [Major, Minor, Blocking][(at % 3) as usize],
            Self::AllBlocking => Blocking,
        }
    }
}

/// A reviewer who finds what the course says, and a planner who fixes what it is given.
struct CourseScript<'a> {
    course: &'a PublishedCourse,
    mix: SeverityMix,
    /// How many findings were raised in the reviews before the one that is being written.
    n_raised_before: u32,
    review: u32,
    placement: LatePlacement,
    /// The plan of the review before.
    plan_before: String,
}

/// Where the findings after the first review lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LatePlacement {
    /// In any step.
    Spread,
    /// In a step that changed since the review before.
    InChangedText,
}

impl CourseScript<'_> {
    /// Returns the step of a finding. It depends on the finding and on its review, so that late ones that are spread lie
    /// in old and in new text.
    fn place(&self, number: u32, review: u32, plan: &str) -> u32 {
        let at = number * 5 + review;
        let steps = plan.lines().zip(self.plan_before.lines());
        let changed = steps.filter(|(now, before)| now != before);
        let changed = changed.filter_map(|(now, _)| now.split_once(". ")?.0.parse().ok());
        let changed: Vec<u32> = changed.collect();
        if self.placement == LatePlacement::Spread || changed.is_empty() {
            return at % N_PLAN_STEPS + 1;
        }
        changed[at as usize % changed.len()]
    }
}

impl ReviewScript for CourseScript<'_> {
    fn review(&mut self, context: &ScriptContext<'_>) -> String {
        let counts = &self.course.counts;
        let count = |review: u32| counts.get(review as usize - 1).copied().unwrap_or(0);
        let review = context.state.iteration;
        if review > self.review {
            self.n_raised_before += (self.review.max(1)..review).map(count).sum::<u32>();
            self.review = review;
        }
        let mut body = String::new();
        for finding in context.ledger().active() {
            let n = finding.remark.n;
            body.push_str(&format!(
                "\n{n}. fixed: \u{201c}fix{n}r{}\u{201d}\n",
                review - 1
            ));
        }
        let next = context.ledger().highest_number() + 1;
        let mut holds = context
            .ledger()
            .open()
            .any(|finding| finding.record.is_waiting);
        for at in 0..count(review) {
            let number = self.n_raised_before + at;
            let severity = self.mix.severity(number);
            holds |= severity.can_hold();
            let step = self.place(number, review, context.plan);
            body.push_str(&finding_text(
                next + at,
                severity,
                &format!("topic{number}"),
                step,
            ));
            if review > 1 && self.course.late_is_true {
                body.push_str(&format!(
                    "   Evidence: \u{201c}Write part{step} of module{step}\u{201d}\n"
                ));
            }
        }
        // Asked what holds the plan up, it looks again and approves.
        let approves = !holds || context.is_asked_back;
        let marker = if approves {
            "APPROVED"
        } else {
            "CHANGES_REQUIRED"
        };
        format!("[{marker}]\n{body}")
    }

    fn respond(&mut self, context: &ScriptContext<'_>) -> PlannerDocuments {
        self.plan_before = context.plan.to_owned();
        ScriptedAgents::new(ReviewerBehavior::Omit, PlannerBehavior::Fix, 0).respond(context)
    }
}

fn course_plan() -> String {
    let steps: String = (1..=N_PLAN_STEPS)
        .map(|n| format!("{n}. [ ] Write part{n} of module{n} with case{n} and check{n}\n"))
        .collect();
    format!("# Task: sums\n\n{steps}\nTest: sh t.sh\n")
}

/// The result of a replay.
struct ReplayResult {
    n_reviews: u32,
    is_approved: bool,
    /// How it ended, in words.
    ending: String,
    n_residual: usize,
    n_late: usize,
    n_late_kept: usize,
}

fn replay(course: &PublishedCourse, mix: SeverityMix, placement: LatePlacement) -> ReplayResult {
    let mut world = ReviewSimulation::new(MAX_ITERATIONS, &course_plan());
    let mut script = CourseScript {
        course,
        mix,
        n_raised_before: 0,
        review: 0,
        placement,
        plan_before: String::new(),
    };
    let ending = world.play(&mut script);
    let ledger = &world.state().findings;
    let n_reviews = world.n_reviews();
    let raised = course.counts.iter().take(n_reviews as usize).skip(1);
    let late = ledger.all().iter().filter(|finding| finding.raised_in > 1);
    let is_kept = |status| match status {
        FindingStatus::Residual | FindingStatus::Open | FindingStatus::Fixed => true,
        FindingStatus::Withdrawn | FindingStatus::Rebutted | FindingStatus::DecidedByUser => false,
    };
    ReplayResult {
        n_reviews,
        is_approved: ending == PlayEnding::Approved,
        ending: match ending {
            PlayEnding::Approved => "approved".to_owned(),
            PlayEnding::Asked(QuestionKind::Arbitration { reason, .. }) => {
                let name = serde_json::to_value(reason).unwrap();
                format!("question: {}", name.as_str().unwrap().replace('_', " "))
            }
            PlayEnding::Asked(kind) => format!("question: {}", kind.name()),
        },
        n_residual: ledger.residual().count(),
        n_late: raised.sum::<u32>() as usize,
        n_late_kept: late.filter(|finding| is_kept(finding.status)).count(),
    }
}

fn courses() -> Vec<PublishedCourse> {
    COURSES
        .iter()
        .map(|text| toml::from_str(text).unwrap())
        .collect()
}

const MIXES: [SeverityMix; 3] = [
    SeverityMix::FourFiveOne,
    SeverityMix::Thirds,
    SeverityMix::AllBlocking,
];

#[test]
fn settled_published_courses_end_early_and_lose_nothing() {
    let mut table = String::from(
        "| course | severities | reviews as published | reviews here | end | residual | late findings kept |\n|---|---|---|---|---|---|---|\n",
    );
    for mix in MIXES {
        let mut reviews = Vec::new();
        for course in courses() {
            let result = replay(&course, mix, LatePlacement::Spread);
            let name = format!("{}, {}", course.course, mix.label());
            assert!(result.n_reviews <= MAX_ITERATIONS, "{name}");
            assert_eq!(
                result.n_late_kept, result.n_late,
                "{name}: a late finding is lost"
            );
            if course.converges && mix != SeverityMix::AllBlocking {
                assert!(result.is_approved, "{name}: cut, {}", result.ending);
            }
            writeln!(
                table,
                "| {} | {} | {} | {} | {} | {} | {} of {} |",
                course.course,
                mix.label(),
                course.counts.len(),
                result.n_reviews,
                result.ending,
                result.n_residual,
                result.n_late_kept,
                result.n_late
            )
            .unwrap();
            reviews.push(result.n_reviews);
        }
        reviews.sort_unstable();
        let median = reviews[reviews.len() / 2];
        writeln!(
            table,
            "| **median** | {} | | **{median}** | | | |",
            mix.label()
        )
        .unwrap();
        let goal = match mix {
            SeverityMix::FourFiveOne => 3,
            SeverityMix::Thirds => 4,
            SeverityMix::AllBlocking => 5,
        };
        println!("settled: {} median {median}, goal {goal}", mix.label());
        assert!(median <= goal, "{}: {median} reviews\n{table}", mix.label());
    }
    table.push('\n');
    table.push_str(&placement_table());
    println!("{table}");
    check_document(&table);
}

/// Compares where late findings lie: the reviews of each mix, and how many courses end how.
fn placement_table() -> String {
    let mut table = String::from(
        "| late findings lie | severities | median | most | approved | circle | residual blocker | other questions |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (words, placement) in [
        ("in any step", LatePlacement::Spread),
        ("in changed text", LatePlacement::InChangedText),
    ] {
        for mix in MIXES {
            let courses = courses();
            let replays = courses.iter();
            let results: Vec<ReplayResult> = replays
                .map(|course| replay(course, mix, placement))
                .collect();
            let mut reviews: Vec<u32> = results.iter().map(|result| result.n_reviews).collect();
            reviews.sort_unstable();
            let most = reviews.last().copied().unwrap_or_default();
            assert!(most <= MAX_ITERATIONS, "{words}, {}: {most}", mix.label());
            assert!(
                results
                    .iter()
                    .all(|result| result.n_late_kept == result.n_late)
            );
            let ended = |ending: &str| {
                let same = results.iter().filter(|result| result.ending == ending);
                same.count()
            };
            let known = [
                ended("approved"),
                ended("question: circle"),
                ended("question: residual blocker"),
            ];
            let others = results.len() - known.iter().sum::<usize>();
            writeln!(
                table,
                "| {words} | {} | {} | {most} | {} | {} | {} | {others} |",
                mix.label(),
                reviews[reviews.len() / 2],
                known[0],
                known[1],
                known[2],
            )
            .unwrap();
        }
    }
    table
}

const START: &str = "<!-- published courses: start -->\n";
const END: &str = "<!-- published courses: end -->\n";
const DOCUMENT: &str = include_str!("../../../../docs/measured.md");

#[expect(
    clippy::disallowed_methods,
    reason = "the test writes its table into the document"
)]
fn check_document(table: &str) {
    let (before, rest) = DOCUMENT.split_once(START).unwrap();
    let (stored, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/measured.md");
        std::fs::write(path, format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        stored, table,
        "docs/measured.md differs; UPDATE_DOCS=1 cargo test --lib settled rewrites the table"
    );
}

#[test]
fn settled_published_courses_name_their_sources_and_assumptions() {
    for course in courses() {
        assert!(!course.source.is_empty() && !course.published.is_empty());
        assert!(!course.assumed.is_empty(), "{}", course.course);
        let total: u32 = course.counts.iter().sum();
        let published = match course.course.as_str() {
            "no-mistakes#683" => Some((27, 74)),
            "no-mistakes#683, second" => Some((21, 71)),
            "pairflow" => Some((19, 72)),
            "agentic-workflow #37" => Some((12, 90)),
            "agentic-workflow #38" => Some((6, 28)),
            "aiwatch#1110" => Some((8, 17)),
            _ => None,
        };
        if let Some(published) = published {
            assert_eq!((course.counts.len(), total), published, "{}", course.course);
        }
        if course.late_is_true {
            assert!(course.counts.len() > 1, "{}", course.course);
        }
    }
}

/// The reviewer requires the reversal of what it required before, at the same place, and the planner follows.
#[test]
fn settled_a_reversal_is_a_circle_and_goes_to_the_user() {
    let first = finding_text(1, FindingSeverity::Blocking, "one", 1);
    let second = finding_text(2, FindingSeverity::Blocking, "two", 1);
    let texts = [
        format!("[CHANGES_REQUIRED]\n{first}"),
        format!("[CHANGES_REQUIRED]\n1. withdrawn: it was right before\n{second}"),
        "[CHANGES_REQUIRED]\n2. fixed: \u{201c}check1\u{201d}\n".to_owned(),
    ];
    struct Reversal {
        texts: [String; 3],
    }
    impl ReviewScript for Reversal {
        fn review(&mut self, context: &ScriptContext<'_>) -> String {
            self.texts[context.state.iteration as usize - 1].clone()
        }

        fn respond(&mut self, context: &ScriptContext<'_>) -> PlannerDocuments {
            let open = context.ledger().unanswered().next().unwrap();
            let plan = if context.plan.contains("fix1") {
                course_plan()
            } else {
                super::scripted_agents::change_step(context.plan, step_of(open), "fix1")
            };
            PlannerDocuments {
                answers: format!("{}. accepted: done\n", open.remark.n),
                plan: Some(plan),
            }
        }
    }
    let mut world = ReviewSimulation::new(MAX_ITERATIONS, &course_plan());
    let ending = world.play(&mut Reversal { texts });
    assert!(matches!(
        ending,
        PlayEnding::Asked(QuestionKind::Arbitration { .. })
    ));
    assert_eq!(world.n_reviews(), 3);
}
