//! The real-CLI lab: the pinned `codex` and `claude` of npm against a fake model server on loopback.
//!
//! This file lists the scenarios and runs three of them at a time. A missing CLI fails a scenario;
//! no scenario is ever skipped. `tests/run` installs the CLIs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "all of this crate is a test, which clippy's own switches for tests do not see"
)]

use std::sync::Arc;
use std::time::Instant;

use libtest_mimic::{Arguments, Failed, Trial};

use report::{Notes, Results};
use scenarios::Scenario;

mod bounded;
mod brain;
mod cell;
mod cut_off;
#[path = "../screen/dialog_clock.rs"]
mod dialog_clock;
mod dialogue;
mod dice;
mod home;
mod leftovers;
mod model_server;
#[path = "../whole/programs.rs"]
mod programs;
mod report;
mod repository;
mod scenarios;
mod seat;
mod world;

/// How many scenarios run at a time: one more than the test machines have processors, because each waits a quarter of its time.
const N_AT_A_TIME: usize = 3;

fn main() {
    // The message itself comes with the failed scenario.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("panicked at {:?}", panic.location())
    }));
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(N_AT_A_TIME);
    let results = Arc::new(Results::default());
    let mut trials: Vec<Trial> = scenarios::all()
        .map(|scenario| trial(scenario, Arc::clone(&results)))
        .collect();
    trials.extend(
        scenarios::LONG
            .iter()
            .map(|scenario| trial(scenario, Arc::new(Results::default())).with_ignored_flag(true)),
    );
    // The last in the list is the last to start, so every other one is done or running when it waits for them.
    trials.push(Trial::test(
        "the_capability_table_is_what_the_scenarios_found",
        move || {
            let names: Vec<&'static str> = scenarios::all().map(|scenario| scenario.name).collect();
            results.check_document(&names).map_err(Failed::from)
        },
    ));
    libtest_mimic::run(&arguments, trials).exit();
}

fn trial(scenario: &'static Scenario, results: Arc<Results>) -> Trial {
    let Scenario { name, play } = scenario;
    Trial::test(*name, move || {
        let started = Instant::now();
        let mut notes = Notes::default();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play(&mut notes)));
        println!("{}", notes.line(name, started.elapsed()));
        results.keep(name, outcome.is_ok().then_some(notes));
        outcome.map_err(|panic| Failed::from(message_of(panic.as_ref())))
    })
}

/// Returns the message of a panic.
fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "panicked".to_owned())
}
