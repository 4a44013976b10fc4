//! The user sends a text to the agent in the middle of its turn, while its command runs.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::stopped::{ENDLESS, PIPE, start_and_wait};
use crate::bounded;
use crate::brain::{self, Purpose};
use crate::model_server::script::{Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// The text that the user sends.
const WORD: &str = "mind the leap years, 闰年";
/// The time limit of everything together.
const LIMIT: Duration = Duration::from_secs(180);

/// codex receives the text while it plans.
pub fn codex(notes: &mut Notes) {
    steered("steered-codex", USUAL, notes);
}

/// claude receives the text while it plans.
pub fn claude(notes: &mut Notes) {
    steered("steered-claude", SWAPPED, notes);
}

fn plans(request: &Request) -> bool {
    matches!(brain::purpose_of(&request.prompt), Purpose::WritePlan(_))
}

fn steered(name: &str, cast: Cast, notes: &mut Notes) {
    let heard = Arc::new(AtomicBool::new(false));
    let hears = Arc::clone(&heard);
    let world = World::create(name, cast, move |request| {
        if plans(request) && request.n_outputs() == 1 && request.body.to_string().contains(WORD) {
            hears.store(true, Ordering::SeqCst);
        }
        if plans(request) {
            brain::after(&[Tool::Shell(ENDLESS.to_owned())], request)
        } else {
            brain::honest(request)
        }
    });
    let program = start_and_wait(&world);
    let sent = world.start_program(&["send", "steer", WORD]);
    let sent = sent.finish(world.home.root(), LIMIT);
    assert_eq!(sent.code(), 0, "{}", sent.stderr);
    let told = |frame: &Value| frame["from"] == "us" && says(cast.planner, &frame["frame"]);
    let deadline = Instant::now() + LIMIT;
    while !world.frames(cast.planner).iter().any(told) {
        assert!(Instant::now() < deadline, "the CLI was never told");
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::write(world.repository.root().join(PIPE), "").expect("the pipe is read");
    let finished = program.finish(world.home.root(), LIMIT);
    assert_eq!(finished.code(), 3, "{}", bounded::tail(&finished.stderr));
    assert_eq!(world.state()["phase"], "APPROVED");
    assert!(
        heard.load(Ordering::SeqCst),
        "the model hears it in the same turn"
    );
    notes.prove(
        "what the user says in the middle of a turn reaches the model in it",
        cast.planner,
        "yes",
    );
}

fn says(vendor: Vendor, frame: &Value) -> bool {
    let is_its_way = match vendor {
        Vendor::Openai => frame["method"] == "turn/steer",
        Vendor::Anthropic => frame["type"] == "user",
    };
    is_its_way && frame.to_string().contains(WORD)
}
