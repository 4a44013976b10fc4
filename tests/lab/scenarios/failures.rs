//! The model server fails in every way it can: the run survives transient failures and reports the others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::brain::{self, Purpose};
use crate::model_server::script::{Part, Reply, Request, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// How long the stalled stream stays silent.
const STALL: Duration = Duration::from_secs(8);

/// Each vendor's first requests fail, each in another way, and its first text that ends a turn stalls in the
/// middle; then the models are honest.
fn stumbling() -> impl Fn(&Request) -> Reply {
    let stalled = Vendor::ALL.map(|_| AtomicBool::new(false));
    move |request| match request.n {
        1 => Reply::refuse(500, "the server stumbles"),
        2 => Reply::Refuse {
            status: 429,
            headers: vec![("retry-after", "1")],
            message: "too many requests".to_owned(),
        },
        3 => Reply::Cut("a text of some length, half of which never arrives".to_owned()),
        _ => stall_once(request, &stalled[request.vendor as usize]),
    }
}

fn stall_once(request: &Request, stalled: &AtomicBool) -> Reply {
    let reply = brain::honest(request);
    let Reply::Say(parts) = &reply else {
        return reply;
    };
    match parts.as_slice() {
        [Part::Text(text)] if !stalled.swap(true, Ordering::SeqCst) => {
            Reply::Pause(text.clone(), STALL)
        }
        _ => reply,
    }
}

/// codex plans through all stumbles, claude reviews through them.
pub fn stumbling_usual(notes: &mut Notes) {
    lives_through("failures-stumbling-usual", USUAL, notes);
}

/// claude plans through all stumbles, codex reviews through them.
pub fn stumbling_swapped(notes: &mut Notes) {
    lives_through("failures-stumbling-swapped", SWAPPED, notes);
}

fn lives_through(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, stumbling());
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert!(world.repository.tests_pass(&world.home));
    assert!(outcome.finished.took > STALL, "a stream stalled");
    for failure in [
        "model answers 500, once",
        "model answers 429 with retry-after, once",
        "model's stream is cut, once",
        "model's stream is silent for 8 s",
    ] {
        for vendor in [cast.planner, cast.reviewer] {
            notes.prove(failure, vendor, "the run goes on and ends well");
        }
    }
}

/// codex always gets a 401.
pub fn codex_unauthorised(notes: &mut Notes) {
    gives_up("failures-codex-401", USUAL, 401, notes);
}

/// claude always gets a 401.
pub fn claude_unauthorised(notes: &mut Notes) {
    gives_up("failures-claude-401", SWAPPED, 401, notes);
}

/// codex always gets a 500.
pub fn codex_down(notes: &mut Notes) {
    gives_up("failures-codex-500", USUAL, 500, notes);
}

/// claude always gets a 500.
pub fn claude_down(notes: &mut Notes) {
    gives_up("failures-claude-500", SWAPPED, 500, notes);
}

fn gives_up(name: &str, cast: Cast, status: u16, notes: &mut Notes) {
    let world = World::create(name, cast, move |_| Reply::refuse(status, "no"));
    world.home.bound_codex_retries();
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert_eq!(
        world.state()["phase"],
        "WRITE_PLAN",
        "the run can be taken up where it was"
    );
    let what = if status == 401 {
        "model answers 401"
    } else {
        "model answers 500, always"
    };
    notes.prove(what, cast.planner, "the user is told, exit 3");
}

/// Every text that ends a turn before EXECUTE is 1 MB long, with the document at its end.
fn long_winded(request: &Request) -> Reply {
    let words = "word ".repeat(200_000);
    match (brain::purpose_of(&request.prompt), request.n_outputs()) {
        (Purpose::WritePlan(_), _) => Reply::text(format!(
            "{words}\n\n```markdown plan.md\n{}```\n",
            brain::plan("\n## Risks\n- none\n")
        )),
        (Purpose::Review(_), _) => Reply::text(format!(
            "{words}\n\n```markdown comments.md\n[APPROVED]\n\nFine.\n```\n"
        )),
        (
            Purpose::Respond(_)
            | Purpose::FirstStep
            | Purpose::SecondStep
            | Purpose::Summary
            | Purpose::Unclear,
            _,
        ) => brain::honest(request),
    }
}

/// codex plans in 1 MB, claude reviews in 1 MB.
pub fn long_usual(notes: &mut Notes) {
    reads_until_over("failures-long-usual", USUAL, notes);
}

/// claude plans in 1 MB, codex reviews in 1 MB.
pub fn long_swapped(notes: &mut Notes) {
    reads_until_over("failures-long-swapped", SWAPPED, notes);
}

fn reads_until_over(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, long_winded);
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    for vendor in Vendor::ALL {
        notes.prove(
            "model's answer is 1 MB long, the document at its end",
            vendor,
            "read whole",
        );
    }
}
