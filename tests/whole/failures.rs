//! Every failure says what is wrong and what to do, with the right exit code, and never hangs.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::programs::put_program;
use crate::script::{Agent, edit, objection, say, shell, write};
use crate::world::World;

fn fine(world: &World) {
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
}

#[test]
fn missing_clis_are_all_named_with_the_way_to_install_them() {
    let world = World::new();
    fine(&world);
    let ran = world.run(&[
        "-s",
        "adapters.codex.program=no-such-codex",
        "-s",
        "adapters.claude.program=/nowhere/claude",
    ]);
    ran.ends(1)
        .complains("no-such-codex not found")
        .complains("/nowhere/claude")
        .complains("npm install -g @openai/codex@")
        .complains("npm install -g @anthropic-ai/claude-code@");
    for line in [
        "error: no-such-codex not found",
        "\nerror: /nowhere/claude not found",
        "\nhint: install it",
    ] {
        ran.complains(line);
    }
    assert!(!world.root.join(".agent-collab/state.json").exists());
    world
        .program(&["resume", "-s", "adapters.codex.program=no-such-codex"])
        .ends(1)
        .complains("error: no unfinished run here");
}

#[test]
fn a_cli_that_is_too_old_is_refused_with_the_version_that_is_needed() {
    let world = World::new();
    world.cast(
        &Agent::planning(&["Write"]).version("0.1.0"),
        &Agent::approving(),
    );
    world
        .run(&[])
        .ends(1)
        .complains(" 0.1.0 is too old")
        .complains("or newer is needed")
        .complains("npm install");
}

#[test]
fn all_problems_of_the_configuration_are_told_at_once() {
    let mut world = World::new();
    fine(&world);
    world.config =
        "[roles]\nplaner = \"codex\"\n[workflow]\nmax_iterations = \"many\"\n".to_owned();
    world
        .run(&[])
        .ends(1)
        .complains("planer")
        .complains("planner")
        .complains("max_iterations")
        .complains("config.toml:2")
        .complains("config.toml:4");
}

#[test]
fn a_configuration_file_that_is_not_there_is_told() {
    let world = World::new();
    world
        .program(&["run", "--goal", "A", "--config", "/nowhere/config.toml"])
        .ends(1)
        .complains("/nowhere/config.toml")
        .complains("hint: name an existing file");
}

#[test]
fn a_work_directory_that_is_a_file_is_told() {
    let world = World::new();
    fine(&world);
    world.put(".agent-collab", "a file");
    let ran = world.run(&[]);
    ran.ends(1).complains(".agent-collab").complains("hint:");
}

#[test]
fn a_second_instance_is_refused_and_status_tells_of_the_first() {
    let world = World::new();
    let wait = world.fifo("wait");
    let planner = Agent::new().on(
        "[agent-collab WRITE_PLAN]",
        vec![shell(&format!("cat {wait}"))],
    );
    world.cast(&planner, &Agent::approving());
    let mut first = world.start(&["run", "--goal", "A test", "--auto"]);
    first.until("$ cat");
    world.run(&[]).ends(4).complains("another");
    world.run(&["--new"]).ends(4);
    world
        .program(&["status"])
        .ends(0)
        .says("phase      Plan (running)");
    let status = world.program(&["status", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&status.out).expect("JSON");
    assert_eq!(told["running"], true);
    assert_eq!(told["run"]["phase"], "WRITE_PLAN");
    first.signal("TERM");
    first.wait().ends(130);
    world.program(&["status"]).ends(0).says("not running");
}

#[test]
fn an_unfinished_run_is_kept_until_the_user_says_new() {
    let world = World::new();
    fine(&world);
    world
        .program(&["run", "--goal", "The first goal", "--auto"])
        .ends(3);
    world
        .run(&[])
        .ends(3)
        .complains("The first goal")
        .complains("--new");
    world.run(&["--new"]).ends(0);
    let kept: Vec<String> = world
        .files(".agent-collab/history")
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    assert!(
        kept.iter().any(|path| path.ends_with("state.json")),
        "{kept:?}"
    );
    assert!(
        kept.iter().any(|path| path.ends_with("plan.md")),
        "{kept:?}"
    );
}

#[test]
fn a_finished_run_makes_way_unasked() {
    let world = World::new();
    fine(&world);
    world.run(&[]).ends(0);
    world
        .run(&["--answer", "nothing_changed=already-true"])
        .ends(6)
        .complains("no step changed anything");
    assert!(!world.files(".agent-collab/history").is_empty());
}

#[test]
fn a_broken_snapshot_is_told_and_nothing_is_thrown_away() {
    let world = World::new();
    fine(&world);
    world
        .program(&["run", "--goal", "A test", "--auto"])
        .ends(3);
    world.put(".agent-collab/state.json", "{ broken");
    let ran = world.run(&[]);
    // The state is unreadable here, so the log is used.
    ran.ends(3)
        .complains("there is an unfinished run: `A test`, in phase Approve")
        .complains("hint:");
    world
        .program(&["status"])
        .ends(0)
        .says("state.json")
        .says("phase      Approve");
    assert_eq!(world.read(".agent-collab/state.json"), "{ broken");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let world = World::new();
    fine(&world);
    world
        .program(&["run", "--goal", "A", "--frobnicate"])
        .ends(2)
        .complains("--frobnicate");
    world.program(&["run"]).ends(2).complains("--goal");
    world
        .program(&["run", "--goal", "   "])
        .ends(2)
        .complains("the goal is empty");
    world
        .program(&["run", "--goal-file", "/nowhere/goal"])
        .ends(2)
        .complains("/nowhere/goal");
    world
        .program(&["run", "--goal", "A", "--on-cap", "more:0"])
        .ends(2)
        .complains("more:N");
    world
        .program(&["run", "--goal", "A", "-s", "nonsense"])
        .ends(2)
        .complains("KEY=VALUE");
    world.program(&[]).ends(2);
}

#[test]
fn a_goal_may_come_from_a_file() {
    let world = World::new();
    fine(&world);
    let file = world.folder.join("goal.md");
    std::fs::write(&file, "\n# Make it so\n\nWith all of it.\n").expect("file");
    world
        .program(&[
            "run",
            "--goal-file",
            &file.display().to_string(),
            "--auto",
            "--yes-execute",
        ])
        .ends(0);
    assert_eq!(
        world.git(&["symbolic-ref", "--short", "HEAD"]).trim(),
        "agent-collab/make-it-so"
    );
}

#[test]
fn a_failing_turn_is_tried_once_more_and_then_a_question() {
    let world = World::new();
    let error = || vec![json!({ "do": "error", "kind": "server" })];
    let planner = Agent::new()
        .on("[agent-collab WRITE_PLAN]", error())
        .on("[agent-collab WRITE_PLAN]", error());
    world.cast(&planner, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("adapter_failed")
        .complains("--answer adapter_failed=retry|new-session|switch|stop|cancel");
    let failed = world.events_of("turn.ended").len();
    assert_eq!(failed, 2, "tried twice");
}

#[test]
fn a_turn_that_fails_once_does_not_stop_a_run() {
    let world = World::new();
    let planner = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![json!({ "do": "error", "kind": "server" })],
        )
        .plan("# Task: A\n\n1. [ ] Write\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
}

#[test]
fn a_cli_that_dies_in_a_turn_is_started_again() {
    let world = World::new();
    let planner = Agent::planning(&["Write"])
        .step(
            1,
            vec![json!({ "do": "exit", "code": 7, "stderr": "out of luck" })],
        )
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0).says("exit status 7");
    assert_eq!(world.committed(), ["new.txt"]);
}

#[test]
fn a_turn_that_is_tried_again_finds_its_staging_folder_with_the_plan() {
    let world = World::new();
    let planner = Agent::planning(&["Write"])
        .on(
            "[agent-collab RESPOND",
            vec![json!({ "do": "exit", "code": 7, "stderr": "out of luck" })],
        )
        .on(
            "[agent-collab RESPOND",
            vec![
                edit("${plan_path}", "1. [ ] Write", "1. [ ] Write new.txt"),
                write("${comments_path}", "1. accepted: it says what\n"),
            ],
        )
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new()
        .review(&objection("major", "say what"))
        .review("[APPROVED]\n\n1. fixed: \"Write new.txt\"\n");
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0).says("exit status 7");
    assert_eq!(
        world.state()["plan"]["plan"]["steps"][0]["text"],
        "Write new.txt"
    );
}

#[test]
fn a_cli_that_always_dies_becomes_a_question() {
    let world = World::new();
    let planner = Agent::new().always(
        "[agent-collab WRITE_PLAN]",
        vec![json!({ "do": "exit", "code": 7, "stderr": "out of luck" })],
    );
    world.cast(&planner, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("exit status 7")
        .complains("adapter_failed");
    assert!(world.leftovers().is_empty());
}

#[test]
fn a_silent_turn_ends_at_its_limit() {
    let world = World::new();
    let planner = Agent::new().always("[agent-collab WRITE_PLAN]", vec![json!({ "do": "stall" })]);
    world.cast(&planner, &Agent::approving());
    let ran = world.run(&["-s", "limits.turn_timeout=1s"]);
    ran.ends(3)
        .complains("turn_timeout")
        .complains("adapter_failed");
    assert!(world.leftovers().is_empty());
}

#[test]
fn frames_that_nobody_knows_and_lines_that_are_none_stop_nothing() {
    let world = World::new();
    let odd = || {
        vec![
            json!({ "do": "frame", "json": { "method": "never/heard", "params": { "x": 1 } } }),
            json!({ "do": "frame", "json": { "type": "never_heard", "x": [1, 2] } }),
            json!({ "do": "malformed", "line": "{ this is no json" }),
            json!({ "do": "malformed", "line": "" }),
            json!({ "do": "malformed", "line": "[1, 2" }),
        ]
    };
    let mut first = odd();
    first.push(write("${plan_path}", "# Task: A\n\n1. [ ] Write\n"));
    let mut second = odd();
    second.push(write("${comments_path}", "[APPROVED]\n"));
    let planner = Agent::new()
        .on("[agent-collab WRITE_PLAN]", first)
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::new().on("[agent-collab REVIEW", second));
    world.run(&[]).ends(0).says("Malformed line: ");
}

#[test]
fn a_megabyte_of_text_is_no_trouble() {
    let world = World::new();
    let long =
        json!({ "do": "text", "text": "0123456789abcdef\n", "repeat": 65536, "delta": "whole" });
    let planner =
        Agent::planning(&["Write"]).step(1, vec![long, write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
}

#[test]
fn a_program_that_tells_no_version_is_refused() {
    let world = World::new();
    fine(&world);
    let program = world.folder.join("codex");
    put_program(
        &program,
        "#!/bin/sh\necho 'Segmentation fault' >&2\nexit 139\n",
    );
    let set = format!("adapters.codex.program={}", program.display());
    world
        .run(&["-s", &set])
        .ends(1)
        .complains("did not print its version")
        .complains("Segmentation fault");
}

#[test]
fn a_program_that_never_tells_its_version_is_left_at_once_where_the_user_wants_it() {
    for (name, arguments) in [
        ("TERM", &["task", "--agent", "explore", "look"][..]),
        ("INT", &["discuss", "one or two?"][..]),
        ("HUP", &["run", "--goal", "A test"][..]),
    ] {
        let world = World::new();
        fine(&world);
        let program = world.folder.join("codex");
        let asked = world.fifo("asked");
        put_program(
            &program,
            &format!("#!/bin/sh\necho asked > {asked}\nexec sleep 1000\n"),
        );
        let set = format!("adapters.codex.program={}", program.display());
        let mut all = arguments.to_vec();
        all.extend(["-s", &set]);
        let running = world.start(&all);
        // The pipe is read to its end only once the program has been asked.
        assert_eq!(world.heard("asked"), "asked\n");
        running.signal(name);
        running
            .wait()
            .ends(130)
            .complains(&format!("interrupted by SIG{name}"));
        assert_eq!(world.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn an_output_that_cannot_be_written_is_told() {
    let world = World::new();
    for arguments in [
        &["agents"][..],
        &["history"],
        &["status"],
        &["tools", "--json"],
        &["completions", "bash"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = world.command(arguments).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}");
        assert!(said.contains("cannot write the output"), "{said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_reason_for_words() {
    let world = World::new();
    for arguments in [&["completions", "bash"][..], &["tools", "--json"]] {
        let mut command = world.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ran = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        // One that is quicker than its reader has written all of it.
        assert!(
            matches!(ran.status.code(), Some(0 | 1)),
            "{arguments:?}: {said}"
        );
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn a_damaged_snapshot_is_no_reason_to_throw_a_run_away() {
    let world = World::new();
    fine(&world);
    world.run(&[]).ends(0);
    let intact = world.program(&["status"]).ends(0).out.clone();
    for damage in ["{ ,", "{\"schema\":99,\"last_seq\":1}"] {
        world.put(".agent-collab/state.json", damage);
        let status = world.program(&["status"]);
        status.ends(0).says("damaged    ").says("state.json");
        let (first, rest) = status.out.split_once('\n').expect("lines");
        assert!(first.ends_with("; shown from its log"), "{first}");
        assert_eq!(rest, intact);
        world
            .program(&["history"])
            .ends(0)
            .says("Done")
            .says("shown from its log");
        world
            .program(&["history", "latest"])
            .ends(0)
            .says("phase      Done");
        world
            .program(&["diff", "--stat"])
            .ends(0)
            .complains("note: ");
        world.program(&["export", "--md"]).ends(0);
        assert_eq!(world.read(".agent-collab/state.json"), damage);
    }
    world.put(".agent-collab/events.jsonl", "{ ,");
    world.program(&["status"]).ends(1).complains("state.json");
    world
        .program(&["history"])
        .ends(0)
        .says("damaged")
        .says("has schema 99");
}

#[test]
fn a_path_with_a_line_end_is_refused_at_the_start() {
    let mut world = World::new();
    fine(&world);
    let folder = world.root.join("two\nlines");
    fs::create_dir(&folder).unwrap();
    world.root = folder;
    world.git(&["init", "--quiet"]);
    let absent = "adapters.codex.program=no-such-codex";
    for arguments in [
        &["run", "--goal", "A test", "--auto"][..],
        // This is checked before anything is searched for.
        &["run", "--goal", "A test", "--auto", "-s", absent],
        &["doctor"],
    ] {
        world
            .program(arguments)
            .ends(1)
            .complains("contains a line break")
            .complains("rename that folder");
    }
    assert!(!world.root.join(".agent-collab").exists());
    world.program(&["status"]).ends(0);
}
