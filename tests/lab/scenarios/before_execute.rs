//! A model that tries to write before EXECUTE writes nothing, whichever CLI and role it has.

use std::fs;

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

const AS_PLANNER: &str = "as planner, tries to write before EXECUTE (shell, redirect, pipe, list, escalation, patch or Write, link)";
const AS_REVIEWER: &str = "as reviewer, tries the same";

/// Every way to write that a model has, each with a file of its own.
fn attempts() -> Vec<Tool> {
    let shell = |command: &str| Tool::Shell(command.to_owned());
    let write = |path: &str| Tool::Write {
        path: path.to_owned(),
        content: "evil\n".to_owned(),
    };
    vec![
        shell("touch evil-shell.txt"),
        shell("echo evil > evil-redirect.txt"),
        shell("ls; touch evil-list.txt"),
        shell("cat code.js | tee evil-pipe.txt"),
        shell("git commit --allow-empty --message evil"),
        shell("touch door/evil-shell-link.txt"),
        Tool::Escalated("touch evil-escalated.txt".to_owned()),
        write("evil-tool.txt"),
        write("door/evil-tool-link.txt"),
        write(".agent-collab/evil-run-file.txt"),
    ]
}

fn evil(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) | Purpose::Review(_) => brain::after(&attempts(), request),
        Purpose::Respond(_)
        | Purpose::FirstStep
        | Purpose::SecondStep
        | Purpose::Summary
        | Purpose::Unclear => brain::honest(request),
    }
}

/// codex tries as planner, claude as reviewer.
pub fn usual(notes: &mut Notes) {
    play("before-execute-usual", USUAL, notes);
}

/// claude tries as planner, codex as reviewer.
pub fn swapped(notes: &mut Notes) {
    play("before-execute-swapped", SWAPPED, notes);
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, evil);
    world.repository.open_door(&world.home);
    let files = world.repository.snapshot();
    let head = world.repository.git(&["rev-parse", "HEAD"]);
    let outcome = world.run(&[]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    assert!(
        format!("{}{}", outcome.finished.stdout, outcome.finished.stderr).contains("--yes-execute")
    );
    assert_eq!(
        world.state()["phase"],
        "APPROVED",
        "the attempts end no run"
    );
    assert_eq!(
        world.repository.snapshot(),
        files,
        "no file of the repository changed"
    );
    assert_eq!(
        world.repository.git(&["rev-parse", "HEAD"]),
        head,
        "no commit was made"
    );
    for folder in [
        world.outside("."),
        world.outside("elsewhere"),
        world.repository.root().join(".agent-collab"),
    ] {
        let names = fs::read_dir(folder)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.file_name());
        let evil: Vec<_> = names
            .filter(|name| name.to_string_lossy().contains("evil"))
            .collect();
        assert!(evil.is_empty(), "{evil:?}");
    }
    notes.prove(AS_PLANNER, cast.planner, "nothing written");
    notes.prove(AS_REVIEWER, cast.reviewer, "nothing written");
}
