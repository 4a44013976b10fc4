//! The program is killed in each phase and between any two lines of its log, and the run is resumed: the end is
//! the same, nothing is committed twice, and the conversations continue.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use serde_json::Value;

use super::whole_run::assert_run_is_done;
use crate::brain;
use crate::cut_off::{End, Lives, Moment, assert_conversations_kept};
use crate::dice::Dice;
use crate::message_of;
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World, of_kind};

/// codex plans and executes.
pub fn each_phase_usual(notes: &mut Notes) {
    each_phase("killed-each-phase-usual", USUAL, notes);
}

/// claude plans and executes.
pub fn each_phase_swapped(notes: &mut Notes) {
    each_phase("killed-each-phase-swapped", SWAPPED, notes);
}

/// How long after a line the program is killed at the latest.
const LATEST: Duration = Duration::from_millis(80);

/// One kill in each phase, in the order of the run.
const PHASES: [(&str, Moment); 10] = [
    (
        "while the plan is written",
        Moment::Logged(|log| speaks(log, "WRITE_PLAN", 3)),
    ),
    (
        "in a review",
        Moment::Logged(|log| speaks(log, "REVIEW", 2)),
    ),
    (
        "while the review is answered",
        Moment::Logged(|log| speaks(log, "RESPOND", 1)),
    ),
    (
        "between the approval and the execution",
        Moment::Logged(|log| n_of(log, "execution.surveyed") == 1),
    ),
    (
        "before a step is begun",
        Moment::Logged(|log| n_of(log, "step.snapshot") == 1),
    ),
    (
        "while a step is coded",
        Moment::Logged(|log| speaks(log, "EXECUTE", 3)),
    ),
    ("while a step is tested", Moment::Runs("node --test")),
    (
        "before a step is committed",
        Moment::Logged(|log| n_of(log, "tests.ran") == 1),
    ),
    (
        "after a step was committed",
        Moment::Logged(|log| n_of(log, "commit.made") == 2),
    ),
    (
        "in the summary",
        Moment::Logged(|log| n_of(log, "step.done") == 2 && speaks(log, "EXECUTE", 1)),
    ),
];

/// Returns whether the agent whose turn runs in this phase has shown this many signs of life.
fn speaks(log: &[Value], phase: &str, n_signs: usize) -> bool {
    let entered = log
        .iter()
        .rposition(|event| event["kind"] == "run.phase" && event["data"]["to"] == phase);
    let begun = log
        .iter()
        .rposition(|event| event["kind"] == "turn.started");
    match (entered, begun) {
        (Some(entered), Some(begun)) if entered < begun => n_of(&log[begun..], "agent") >= n_signs,
        _ => false,
    }
}

pub(super) fn n_of(log: &[Value], kind: &str) -> usize {
    of_kind(log, kind).count()
}

fn each_phase(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, brain::honest);
    let mut lives = Lives::begin(&world);
    for (when, moment) in PHASES {
        assert_eq!(
            lives.cut_at(moment),
            End::Killed,
            "the moment {when} never came"
        );
    }
    assert_the_same_end(&world, cast, lives);
    let log = world.log();
    assert_eq!(n_of(&log, "recovery"), PHASES.len());
    world.note_log(notes, &log);
    notes.prove(
        "the program is killed in each phase and taken up: the same end, the conversation goes on",
        cast.planner,
        "yes",
    );
}

/// codex plans and executes; killed between lines that chance chooses.
pub fn some_lines_usual(notes: &mut Notes) {
    some_lines("killed-some-lines-usual", USUAL, notes);
}

/// claude plans and executes; killed between lines that chance chooses.
pub fn some_lines_swapped(notes: &mut Notes) {
    some_lines("killed-some-lines-swapped", SWAPPED, notes);
}

/// Kills one run shortly after its start, and once in each third of its log.
fn some_lines(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, brain::honest);
    let mut dice = Dice::new(name);
    let mut lives = Lives::begin(&world);
    for (from, to) in [(2, 6), (7, 40), (41, 75), (76, 110)] {
        let (n, later) = (dice.between(from, to), dice.delay(LATEST));
        let end = lives.cut_at(Moment::Lines(n, later));
        println!("scenario {name}: cut after line {n} and {later:?}: {end:?}");
    }
    assert_the_same_end(&world, cast, lives);
    world.note_log(notes, &world.log());
}

fn assert_the_same_end(world: &World, cast: Cast, lives: Lives<'_>) {
    let begun_anew = lives.finish();
    assert_run_is_done(world, &world.log());
    assert_conversations_kept(world, cast, &begun_anew);
}

/// codex plans and executes; between any two lines.
pub fn every_line_usual(notes: &mut Notes) {
    every_line("killed-every-line-usual", USUAL, notes);
}

/// claude plans and executes; between any two lines.
pub fn every_line_swapped(notes: &mut Notes) {
    every_line("killed-every-line-swapped", SWAPPED, notes);
}

/// One run for each number of lines: killed once the log has so many, until there are not so many.
fn every_line(name: &str, cast: Cast, _notes: &mut Notes) {
    let mut dice = Dice::new(name);
    let (mut failures, mut n_runs, mut places) = (Vec::new(), 0, BTreeSet::new());
    for n in lines_asked_for() {
        let later = dice.delay(LATEST);
        let play = AssertUnwindSafe(|| cut_once(&format!("{name}-{n}"), cast, n, later));
        n_runs += 1;
        match catch_unwind(play) {
            Ok(None) => break,
            Ok(Some(n_lines)) => drop(places.insert(n_lines)),
            Err(panic) => {
                let message = message_of(panic.as_ref());
                println!("{name}: cut after line {n} and {later:?}: {message}");
                failures.push(n);
            }
        }
    }
    println!(
        "{name}: {n_runs} runs, cut at {} places at least; {} failed: {failures:?}",
        places.len(),
        failures.len()
    );
    assert_eq!(failures, Vec::<usize>::new());
}

/// Cuts one run after this many lines; returns how many lines there were then, `None` if the run had already ended.
fn cut_once(name: &str, cast: Cast, n: usize, later: Duration) -> Option<usize> {
    let world = World::create(name, cast, brain::honest);
    let mut lives = Lives::begin(&world);
    let end = lives.kill_at(Moment::Lines(n, later));
    let log = world.log();
    println!(
        "{name}: {} lines and {later:?}, {}",
        log.len(),
        log.last()
            .map_or("nothing", |event| event["kind"].as_str().unwrap_or("?"))
    );
    if end == End::Killed {
        lives.take_up();
    }
    assert_the_same_end(&world, cast, lives);
    (end == End::Killed).then_some(log.len())
}

/// The lines that `LAB_LINES=from-to` names; all where it is not set.
fn lines_asked_for() -> RangeInclusive<usize> {
    let Ok(asked) = std::env::var("LAB_LINES") else {
        return 1..=usize::MAX;
    };
    let number = |text: &str| text.parse().expect("LAB_LINES=from-to, such as 1-40");
    match asked.split_once('-') {
        Some((from, to)) => number(from)..=number(to),
        None => number(&asked)..=number(&asked),
    }
}
