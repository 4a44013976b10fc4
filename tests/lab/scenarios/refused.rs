//! A CLI that is missing or older than the lab's version is rejected before anything is written or asked.

use std::fs;

use crate::brain;
use crate::model_server::script::Vendor;
use crate::programs::put_program;
use crate::report::Notes;
use crate::world::{USUAL, World, exists};

/// An older version of each CLI, as it reports it.
const OLDER: [(Vendor, &str); 2] = [
    (Vendor::Openai, "codex-cli 0.20.0"),
    (Vendor::Anthropic, "2.1.197 (Claude Code)"),
];

/// Both CLIs in turn, older and missing.
pub fn both(_: &mut Notes) {
    let world = World::create("refused", USUAL, brain::honest);
    for (vendor, older) in OLDER {
        let program = world.outside("bin").join(vendor.cli());
        let real = fs::read_link(&program).expect("a link to the pinned CLI");
        fs::remove_file(&program).expect("the link");
        assert_refused(&world, vendor.cli());
        put_program(&program, &format!("#!/bin/sh\necho '{older}'\n"));
        assert_refused(&world, &format!("npm install -g {}@", vendor.package()));
        fs::remove_file(&program).expect("the older CLI");
        std::os::unix::fs::symlink(real, &program).expect("a link to the pinned CLI");
    }
}

/// Checks that the message says what would help, and that nothing has happened.
fn assert_refused(world: &World, help: &str) {
    let outcome = world.run(&["--yes-execute"]);
    outcome.assert_code(1);
    let told = &outcome.finished.stderr;
    assert!(told.contains(help), "`{help}` is not in: {told}");
    assert!(!exists(&world.repository.root().join(".agent-collab")));
    assert!(
        Vendor::ALL
            .iter()
            .all(|vendor| world.server.n_requests(*vendor) == 0)
    );
}
