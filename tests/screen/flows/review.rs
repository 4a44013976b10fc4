//! The review: what approves, what continues, and who ends it.

use crate::World;
use crate::keys::{CTRL_C, ENTER};
use crate::played::{
    PLAN, WANTS_MORE, begin, cast, confirm, events_of, kept_of_conflicts, leave, open, read, state,
    talking, told,
};
use crate::script::Agent;
use crate::terminal::Terminal;

/// The cap at the first review.
const AT_ONCE: &str = "[workflow]\nmax_iterations = 1\n";

/// Checks the verdict of a reviewer's comments, with manual gates up to it.
fn check_verdict(comments: &str, value: &str, next: &str, shown: &str) {
    let world = World::new();
    let reviewer = Agent::new().review(comments);
    let config = cast(&world, &talking().plan(PLAN), &reviewer, "");
    let mut terminal = confirm(&world, &config);
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys(ENTER);
    terminal.wait_for(next);
    terminal.type_keys("3");
    terminal.wait_for(shown);
    assert_eq!(state(&world)["verdict"]["value"], value, "{comments}");
    assert!(read(&world, "comments.md").contains(comments), "{comments}");
    leave(terminal);
}

#[test]
fn the_marker_alone_approves_a_plan() {
    let approves = |comments: &str| {
        let next = "Run this plan (";
        check_verdict(comments, "APPROVED", next, "Review 1: approved");
    };
    let goes_on = |comments: &str| {
        let (value, next) = ("CHANGES_REQUIRED", "Send the review to the planner?");
        check_verdict(comments, value, next, "review 1: changes required");
    };
    approves("[APPROVED]\n\nFine.\n");
    goes_on(WANTS_MORE);
    goes_on(&WANTS_MORE.replace("[CHANGES_REQUIRED]", "[APPROVED, if it sings]"));
}

#[test]
fn findings_are_followed_through_the_reviews() {
    let world = World::new();
    let planner = talking()
        .plan(PLAN)
        .revise("1. accepted: it says more\n2. rejected: it is short\n");
    let reviewer = Agent::new()
        .review(&format!("{WANTS_MORE}\n2. [minor] Say it shorter.\n"))
        .review("[APPROVED]\n\n1. fixed: \"Now\"\n2. withdrawn: it is short\n");
    let config = cast(&world, &planner, &reviewer, "");
    let mut terminal = confirm(&world, &config);
    for released in [
        "Send the plan to the reviewer?",
        "Send the review to the planner?",
    ] {
        terminal.type_keys(ENTER);
        terminal.wait_for(released);
    }
    terminal.wait_for("Review 1/5");
    terminal.type_keys("3");
    terminal.wait_for("2 open of 2");
    terminal.wait_for("MAJOR     1  Say more");
    terminal.type_keys("1");
    terminal.wait_for("Send the review to the planner?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.wait_for("Review 2/5");
    terminal.type_keys("3");
    terminal.wait_for("planner accepts: it says more");
    terminal.wait_for("planner rejects: it is short");
    terminal.type_keys("1");
    terminal.wait_for("Send the plan to the reviewer?");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("3");
    terminal.wait_for("0 open of 2");
    terminal.wait_for("review 2: approved");
    let told = told(&world, "reviewer");
    assert!(told.contains("it is short"), "{told}");
    leave(terminal);
}

/// A planner that changes the plan each time, and a reviewer for whom it is never enough.
fn without_end(n: u32) -> (Agent, Agent) {
    let both = (talking().plan(PLAN), Agent::new().review(WANTS_MORE));
    (1..n).fold(both, |(planner, reviewer), _| {
        let stands = "[CHANGES_REQUIRED]\n\n1. stands: still too short\n";
        let planner = planner.revise("1. accepted: yes\n");
        (planner, reviewer.review(stands))
    })
}

/// The keys of the choices that the dialog on the screen offers.
fn offered(terminal: &Terminal) -> String {
    let text = terminal.text();
    let panel = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('▌'));
    let words = panel.flat_map(|line| line.split("  "));
    let keys = words.map(|word| word.trim_matches(['▸', ' ']));
    let is_key = |word: &&str| word.len() == 1 && word.chars().all(char::is_uppercase);
    keys.filter(is_key).collect()
}

#[test]
fn at_the_cap_there_are_four_ways_and_more_iterations_is_one() {
    let world = World::new();
    let (planner, reviewer) = without_end(7);
    let config = cast(&world, &planner, &reviewer, "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Review limit reached (5 of 5), 1 finding open");
    terminal.wait_for("Review 5/5");
    assert_eq!(offered(&terminal), "FMEC", "{}", terminal.text());
    terminal.type_keys("m");
    terminal.wait_until_writing();
    terminal.type_keys("x");
    terminal.type_keys(ENTER);
    terminal.wait_for("Write a number from 1 to 1000.");
    assert_eq!(state(&world)["extra"], 0);
    terminal.type_keys("\x152");
    terminal.type_keys(ENTER);
    terminal.wait_for("Review 7/7");
    terminal.wait("the seventh review", |_| {
        events_of(&world, "review.committed").len() == 7
    });
    terminal.wait("the question again", |terminal| offered(terminal) == "FMEC");
    let now = state(&world);
    assert_eq!((&now["iteration"], &now["extra"]), (&7.into(), &2.into()));
    leave(terminal);
}

/// A run whose first review is its last, at the question what now.
fn at_the_cap(world: &World, reviewer: &Agent) -> Terminal {
    let config = cast(world, &talking().plan(PLAN), reviewer, AT_ONCE);
    let mut terminal = begin(world, &config);
    terminal.wait_for("Review limit reached (1 of 1), 1 finding open");
    terminal
}

#[test]
fn the_plan_is_let_pass_against_its_review() {
    let world = World::new();
    let mut terminal = at_the_cap(&world, &Agent::new().review(WANTS_MORE));
    terminal.type_keys("f");
    terminal.wait_for("Force the plan past its review?");
    terminal.type_keys("y");
    terminal.wait_for("Run this plan (");
    terminal.wait_for("You forced this plan past its review");
    terminal.type_keys("3");
    terminal.wait_for("You forced the plan past its review");
    let now = state(&world);
    assert_eq!(now["phase"], "APPROVED");
    assert_eq!(now["verdict"]["value"], "CHANGES_REQUIRED");
    assert_eq!(now["verdict"]["forced"], true);
    let log = read(&world, "log.md");
    assert!(
        log.contains("approved the plan anyway, with 1 open finding"),
        "{log}"
    );
    leave(terminal);
}

#[test]
fn a_run_that_is_cancelled_at_the_cap_is_over() {
    let world = World::new();
    let mut terminal = at_the_cap(&world, &Agent::new().review(WANTS_MORE));
    terminal.type_keys("c");
    terminal.wait_for("Cancel the run?");
    // A stray Enter cancels nothing.
    terminal.type_keys(ENTER);
    terminal.wait_gone("Cancel the run?");
    assert_eq!(state(&world)["phase"], "REVIEW");
    terminal.type_keys("c");
    terminal.wait_for("Cancel the run?");
    terminal.type_keys("y");
    terminal.wait_for("Run finished");
    assert_eq!(state(&world)["phase"], "CANCELLED");
    terminal.type_keys(CTRL_C);
    assert_eq!(terminal.wait_for_end().code(), Some(5));
    terminal.assert_given_back();
    let folder = world.folder.path().to_string_lossy().into_owned();
    assert_eq!(crate::demo::n_agents(&folder), 0);
    // There must be nothing to continue.
    let config = world.folder.path().join("config.toml");
    let terminal = open(&world, &config);
    assert!(!terminal.text().contains("Resume the unfinished run?"));
    leave(terminal);
}

#[test]
fn plan_and_comments_are_edited_by_hand_at_the_cap() {
    let world = World::new();
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let mut terminal = at_the_cap(&world, &reviewer);
    terminal.type_keys("e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    terminal.type_keys("2. [ ] Sing\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("You are editing the plan");
    terminal.type_keys("m");
    terminal.wait_for("THE EDITOR HAS comments.md");
    terminal.type_keys("It says enough, I find.\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("You are editing the plan");
    terminal.type_keys("r");
    terminal.wait_for("Run this plan (2 steps)?");
    let told = told(&world, "reviewer");
    assert!(told.contains("2. [ ] Sing"), "{told}");
    assert!(told.contains("+It says enough, I find."), "{told}");
    // The next review replaces the comments; what the user wrote there is preserved.
    let kept = kept_of_conflicts(&world);
    let is_mine = |text: &String| text.contains("It says enough, I find.");
    assert!(kept.iter().any(is_mine), "{kept:?}");
    leave(terminal);
}
