//! What happens if the system has no sandbox for an agent, and if root works in files of another user.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use serde_json::json;

use crate::script::{Agent, say, write};
use crate::world::World;

/// Hides bubblewrap: PATH has all of the programs but that one. Returns the folder that is PATH.
fn hide_bubblewrap(world: &mut World) -> PathBuf {
    let programs = world.folder.join("programs");
    std::fs::create_dir(&programs).expect("a folder");
    let path = std::env::var_os("PATH").expect("PATH");
    let folders = std::env::split_paths(&path);
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    for entry in entries
        .flatten()
        .filter(|entry| entry.file_name() != "bwrap")
    {
        // The first of a name is the one that counts.
        let _named_before = symlink(entry.path(), programs.join(entry.file_name()));
    }
    let path = programs.display().to_string();
    world.env.push(("PATH".to_owned(), path));
    programs
}

/// Puts a bubblewrap in place that fails the first two times that it is to start claude, as the real one does
/// when a socket disappears that it is to hide. Returns the file that gets a line at each of these calls.
fn fail_first_setups(world: &mut World, socket: &Path) -> PathBuf {
    let real = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join("bwrap"))
            .find(|file| file.exists())
    });
    let real = real.expect("bubblewrap is installed");
    let calls = world.folder.join("failed-setups");
    let program = hide_bubblewrap(world).join("bwrap");
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *'{socket}'*' --input-format '*)\n\
         if [ \"$(cat '{calls}' 2>/dev/null | wc -l)\" -lt 2 ]; then\n\
         echo failed >> '{calls}'\n\
         echo \"bwrap: Can't mkdir parents for {socket}: Read-only file system\" >&2\n\
         exit 1\nfi;;\nesac\nexec '{real}' \"$@\"\n",
        socket = socket.display(),
        calls = calls.display(),
        real = real.display(),
    );
    std::fs::write(&program, script).expect("the stand-in");
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("its mode");
    calls
}

#[test]
fn a_sandbox_whose_hidden_socket_disappears_is_set_up_again() {
    let mut world = World::new();
    let socket = world.folder.join("other.sock");
    let _listener = UnixListener::bind(&socket).expect("a socket of another program");
    let calls = fail_first_setups(&mut world, &socket);
    let steps = vec![write("new.txt", "new\n"), say("Done.")];
    let planner = Agent::planning(&["Write"]).step(1, steps);
    world.cast_claude_first(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let calls = std::fs::read_to_string(&calls).expect("claude was started in a sandbox");
    assert_eq!(calls.lines().count(), 2, "{calls}");
    let completed = |event: &serde_json::Value| event["result"]["end"] == "completed";
    let ended = world.events_of("turn.ended");
    assert!(
        !ended.is_empty() && ended.iter().all(completed),
        "{ended:#?}"
    );
}

/// claude executes a step whose command would be allowed by the mode.
fn touching() -> World {
    let mut world = World::new();
    hide_bubblewrap(&mut world);
    let command = json!({ "do": "command", "run": "touch new.txt", "ask": "always" });
    let planner = Agent::planning(&["Write"]).step(1, vec![command, say("Done.")]);
    world.cast_claude_first(&planner, &Agent::approving());
    world
}

const YOLO: [&str; 4] = ["--mode", "yolo", "--on-ask", "allow-rules"];

#[test]
fn without_bubblewrap_each_command_of_claude_asks_in_yolo_too() {
    let world = touching();
    world
        .run(&YOLO)
        .ends(3)
        .says("Denied: touch new.txt: no sandbox contains")
        .complains("claude runs without a sandbox: bubblewrap not found");
    assert!(!world.root.join("new.txt").exists());
}

#[test]
fn without_bubblewrap_the_flag_lets_the_mode_decide() {
    let world = touching();
    let lifted = world.run(&[&YOLO[..], &["--uncontained"]].concat());
    lifted.ends(0);
    assert_eq!(world.committed(), ["new.txt"]);
}

#[test]
fn without_bubblewrap_doctor_says_what_is_open_and_the_demo_runs() {
    let world = touching();
    world
        .program(&["doctor"])
        .says("none: bubblewrap not found (hint: install bubblewrap")
        .says("each command that is not proven read-only asks")
        .says("unless --uncontained");
    let folder = world.folder.join("demo").display().to_string();
    world
        .program(&["demo", "--headless", "--fast", "--dir", &folder])
        .ends(6)
        .says("done: 3 of 3 steps changed something")
        .says("0 of 3 proven, 3 checked");
}

#[test]
fn root_in_the_repository_of_somebody_else_needs_the_flag() {
    let world = World::new();
    world.cast(
        &Agent::planning(&["Write"]).step(1, vec![say("Done.")]),
        &Agent::approving(),
    );
    if geteuid().is_root() {
        // git itself refuses until its user allows the folder.
        let settings = world.folder.join("home/.gitconfig");
        let before = std::fs::read_to_string(&settings).unwrap_or_default();
        std::fs::write(&settings, before + "[safe]\ndirectory = *\n").expect("a file");
        chown(&world.root, Some(12_345), None).expect("root gives files away");
        world
            .run(&[])
            .ends(1)
            .complains("this program runs as root")
            .complains("belongs to the user 12345")
            .complains("--uncontained");
        assert!(!world.root.join(".agent-collab/state.json").exists());
    } else {
        // Only root is rejected.
        assert!(!world.run(&[]).err.contains("runs as root"));
    }
}
