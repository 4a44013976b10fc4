//! AGENTS.md and CLAUDE.md reach the models only if the user trusts the repository, and then only once.

use crate::brain;
use crate::model_server::script::Vendor;
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// A word of each file that occurs in no other text.
const CANARIES: [(&str, &str); 2] = [
    ("AGENTS.md", "CANARY-AGENTS"),
    ("CLAUDE.md", "CANARY-CLAUDE"),
];

/// codex plans, claude reviews.
pub fn usual(notes: &mut Notes) {
    play("instructions-usual", USUAL, notes);
}

/// claude plans, codex reviews.
pub fn swapped(notes: &mut Notes) {
    play("instructions-swapped", SWAPPED, notes);
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, brain::honest);
    for (file, canary) in CANARIES {
        world
            .repository
            .write(file, &format!("# Instructions\n\nAlways say {canary}.\n"));
    }
    world.repository.commit_all("instructions for agents");
    let outcome = world.run(&[]);
    outcome.assert_code(3);
    let untrusted = Vendor::ALL.map(|vendor| world.server.bodies(vendor));
    for body in untrusted.iter().flatten() {
        assert_eq!(
            counts(body),
            [0, 0],
            "an instruction reached a model before trust"
        );
    }
    let trust = world.program(&["trust", "--yes"]);
    assert_eq!(trust.code(), 0, "{}{}", trust.stdout, trust.stderr);
    let outcome = world.run(&["--new", "--yes-execute"]);
    outcome.assert_code(0);
    world.note(notes, &outcome);
    for (vendor, before) in Vendor::ALL.into_iter().zip(untrusted) {
        let bodies = world.server.bodies(vendor).split_off(before.len());
        assert!(!bodies.is_empty(), "{} asked its model", vendor.cli());
        for body in bodies {
            assert_eq!(
                counts(&body),
                [1, 1],
                "{} is told each instruction once, and has it in its history afterwards",
                vendor.cli()
            );
        }
        notes.prove(
            "AGENTS.md and CLAUDE.md in its requests before `agent-collab trust`",
            vendor,
            "absent",
        );
        notes.prove(
            "AGENTS.md and CLAUDE.md in its requests after `agent-collab trust`",
            vendor,
            "once in each",
        );
    }
}

fn counts(body: &str) -> [usize; 2] {
    CANARIES.map(|(_, canary)| body.matches(canary).count())
}
