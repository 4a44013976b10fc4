//! Tests the other sub-commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::script::{Agent, objection, say, write};
use crate::world::World;

#[test]
fn the_version_and_the_help_are_told() {
    let world = World::without_git();
    world
        .program(&["--version"])
        .ends(0)
        .says(env!("CARGO_PKG_VERSION"));
    world
        .program(&["--help"])
        .ends(0)
        .says("agent-collab demo")
        .says("Exit codes");
    world
        .program(&["run", "--help"])
        .ends(0)
        .says("--yes-execute")
        .says("--on-cap");
}

#[test]
fn completions_are_printed_for_each_shell() {
    let world = World::without_git();
    for shell in ["bash", "zsh", "fish"] {
        world
            .program(&["completions", shell])
            .ends(0)
            .says("yes-execute");
    }
    world.program(&["completions", "tcsh"]).ends(2);
}

#[test]
fn doctor_tells_versions_live_and_hides_the_environment() {
    let mut world = World::new();
    world.env.push((
        "ANTHROPIC_API_KEY".to_owned(),
        "sk-ant-api03-very-secret".to_owned(),
    ));
    world.cast(&Agent::new(), &Agent::new().version("2.1.400"));
    let ran = world.program(&["doctor"]);
    ran.ends(0)
        .says("2.1.400")
        .says("0.169.0")
        .says("[SET]")
        .says("[NOT SET]")
        .says("ANTHROPIC_API_KEY");
    assert!(!ran.out.contains("very-secret"));
    let ran = world.program(&["doctor", "--json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
    assert_eq!(told["ok"], true);
    assert_eq!(told["environment"]["ANTHROPIC_API_KEY"], "[SET]");
    let ran = world.program(&["doctor", "-s", "adapters.codex.program=no-such-program"]);
    ran.ends(1)
        .says("no-such-program not found")
        .says("npm install");
}

#[test]
fn doctor_names_the_command_that_logs_in() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let logged_out = world.folder.join("claude.sh");
    let script = "#!/bin/sh\ncase \"$*\" in\n*'auth status') echo '{\"loggedIn\": false}' ;;\n\
                  *) echo '2.1.330 (Claude Code)' ;;\nesac\n";
    fs::write(&logged_out, script).expect("script");
    fs::set_permissions(&logged_out, fs::Permissions::from_mode(0o755)).expect("mode");
    let set = format!("adapters.claude.program={}", logged_out.display());
    let warning = "WARNING    you are not logged in to claude: run `claude auth login`";
    world.program(&["doctor", "-s", &set]).ends(0).says(warning);
    let ran = world.program(&["doctor"]);
    assert!(!ran.ends(0).out.contains("not logged in"), "{}", ran.out);
}

#[test]
fn doctor_says_what_tests_the_steps_and_what_that_proves() {
    let package = r#"{"scripts": {"test": "node --test"}}"#;
    let named = "each step is proven with all tests, which are known by name";
    for (manifest, set, command, proof) in [
        ("", "test.proof=full", Value::Null, "no test command"),
        (
            package,
            "test.proof=full",
            json!("`npm test` (detected in package.json)"),
            named,
        ),
        (
            package,
            "test.default_command=make check",
            json!("`make check` (from --set)"),
            "only its exit code is known",
        ),
        (
            package,
            "test.proof=off",
            json!("`npm test` (detected in package.json)"),
            "steps are tested, not proven: test.proof is off",
        ),
    ] {
        let mut world = World::new();
        world.proves_steps = true;
        world.cast(&Agent::new(), &Agent::new());
        if !manifest.is_empty() {
            world.put("package.json", manifest);
        }
        let given = ["-s", "test.default_command=auto", "-s", set];
        let ran = world.program(&[&["doctor", "--json"], &given[..]].concat());
        let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
        assert_eq!(told["tests"]["command"], command, "{set}");
        let found = told["tests"]["proof"].as_str().expect("a text");
        assert!(found.starts_with(proof), "{set}: {found}");
        let text = world.program(&[&["doctor"], &given[..]].concat());
        text.ends(0).says(proof);
    }
}

#[test]
fn doctor_tries_the_folders_that_a_run_writes_into() {
    let mut world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let before = world.files("");
    world
        .program(&["doctor"])
        .ends(0)
        .says("ok         the run's files: ")
        .says("ok         temporary files: ");
    assert_eq!(world.files(""), before, "nothing is left");
    for (variable, remedy) in [
        ("XDG_STATE_HOME", "set XDG_STATE_HOME to a folder"),
        ("XDG_CACHE_HOME", "set XDG_CACHE_HOME to a folder"),
        ("TMPDIR", "set TMPDIR to an existing folder"),
    ] {
        world
            .env
            .push((variable.to_owned(), "/proc/nothing".to_owned()));
        world
            .program(&["doctor"])
            .ends(1)
            .says("cannot write to /proc/nothing")
            .says(remedy);
        world.env.pop();
    }
    world.put("taken", "a file");
    world
        .program(&["doctor", "-s", "paths.workdir=taken/by"])
        .ends(1)
        .complains("taken is a file, expected a directory")
        .complains("move ");
}

#[test]
fn doctor_says_where_the_log_goes_and_when_it_holds_prompts() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let ran = world.program(&["doctor"]);
    ran.ends(0).says("ok         the program's own log: ");
    assert!(!ran.out.contains("prompts are logged"), "{}", ran.out);
    let json_file = world.folder.join("log.jsonl").display().to_string();
    let set = format!("log.json_file=\"{json_file}\"");
    let prompts = ["-s", "log.log_prompts=true", "-s", &set];
    let told = format!(
        "whole prompts are logged, without secrets, to {}/.agent-collab/debug.log, {json_file} (JSON) (log.log_prompts)",
        world.root.display()
    );
    let ran = world.program(&[&["doctor"], &prompts[..]].concat());
    ran.ends(0).says(&format!("WARNING    {told}"));
    let ran = world.program(&[&["doctor", "--json"], &prompts[..]].concat());
    let value: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
    assert_eq!(value["log"]["prompts"], told);
    world
        .program(&["doctor", "-s", "log.json_file=\"/proc/none/log.jsonl\""])
        .ends(1)
        .says("MISSING    the program's own log: cannot write `log.json_file`")
        .says("name a file outside the repository");
    assert!(
        !world.folder.join("log.jsonl").exists(),
        "doctor makes nothing"
    );
}

#[test]
fn a_run_logs_to_each_sink_that_is_on_and_with_nothing_but_messages_where_that_is_wished() {
    let mut world = World::new();
    world.cast(
        &Agent::planning(&["Write"]),
        &Agent::new().review("[APPROVED]\n"),
    );
    let json_file = world.folder.join("log.jsonl");
    world.config.push_str(&format!(
        "[log]\nfile = false\nconsole = true\nmetadata = false\njson_file = \"{}\"\n",
        json_file.display()
    ));
    let ran = world.run(&[]);
    assert!(
        ran.err.lines().any(|line| line.ends_with(" INFO event")),
        "{}",
        ran.err
    );
    let text = std::fs::read_to_string(&json_file).expect("the log");
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        let members: Vec<&String> = entry.as_object().expect("an object").keys().collect();
        assert_eq!(members, ["time", "level", "message"], "{line}");
    }
    assert!(text.contains("\"message\":\"event\""), "{text}");
    assert!(
        !world.root.join(".agent-collab/debug.log").exists(),
        "that sink is off"
    );
}

#[test]
fn a_log_that_cannot_be_written_stops_the_start_with_file_line_and_remedy() {
    let mut world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    world
        .config
        .push_str("[log]\njson_file = \"/proc/none/log.jsonl\"\n");
    world
        .run(&[])
        .ends(1)
        .complains("cannot write `log.json_file`: cannot access /proc/none")
        .complains("config.toml:")
        .complains("hint: name a file outside the repository");
    assert!(
        !world.root.join(".agent-collab/events.jsonl").exists(),
        "nothing was begun"
    );
}

#[test]
fn doctor_goes_on_without_git() {
    let mut world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    world.env.push(("PATH".to_owned(), "/nowhere".to_owned()));
    let ran = world.program(&["doctor"]);
    ran.ends(1)
        .says("MISSING    git: cannot run git: git not found")
        .says("install git 2.30 or newer")
        .says("ok         codex: version ")
        .says("ok         state: ");
}

#[test]
fn status_tells_where_a_run_stands() {
    let world = World::new();
    world.program(&["status"]).ends(0).says("no run in");
    assert!(
        !world.root.join(".agent-collab").exists(),
        "looking makes nothing"
    );
    let planner = Agent::planning(&["Write", "Look"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(2, vec![write("look.txt", "looked\n"), say("Looked.")]);
    world.cast(
        &planner,
        &Agent::new().review(&objection("blocking", "Wrong.")),
    );
    world.run(&["-s", "workflow.max_iterations=1"]).ends(3);
    world
        .program(&["status"])
        .ends(0)
        .says("A test")
        .says("phase      Review")
        .says("#1 blocking: Wrong")
        .says("1. [ ] Write")
        .says("waiting    ");
    world.cast(&planner, &Agent::approving());
    world.run(&["--new"]).ends(0);
    world
        .program(&["status"])
        .ends(0)
        .says("phase      Done")
        .says("1. [x] Write (tests passed")
        .says("2. [x] Look (tests passed");
    let told: Value =
        serde_json::from_str(&world.program(&["status", "--json"]).out).expect("JSON");
    assert_eq!(told["running"], false);
    assert_eq!(told["run"]["phase"], "DONE");
}

#[test]
fn the_configuration_is_shown_checked_and_found() {
    let world = World::new();
    world
        .program(&["config", "show"])
        .ends(0)
        .says("max_iterations")
        .says("planner");
    let told: Value =
        serde_json::from_str(&world.program(&["config", "show", "--json"]).out).expect("JSON");
    assert!(told.is_object());
    world.program(&["config", "check"]).ends(0);
    world
        .program(&["config", "path"])
        .ends(0)
        .says(".agent-collab/config.toml")
        .says(".config/agent-collab/config.toml");
    world.put(
        ".agent-collab/config.toml",
        "[workflow]\nmax_iterationz = 2\nauto_approve = \"x\"\n",
    );
    let ran = world.program(&["config", "check"]);
    assert_ne!(ran.code, 0);
    let all = format!("{}{}", ran.out, ran.err);
    assert!(
        all.contains("max_iterationz")
            && all.contains("max_iterations")
            && all.contains("auto_approve"),
        "{all}"
    );
}

#[test]
fn an_untrusted_repository_may_only_tighten_and_trust_is_bound_to_content() {
    let world = World::new();
    world.put(
        ".agent-collab/config.toml",
        "[workflow]\nmax_iterations = 1\n[test]\ndefault_command = \"touch pwned.txt\"\n",
    );
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world
        .run(&[])
        .ends(0)
        .complains("test.default_command")
        .complains("agent-collab trust");
    assert!(!world.root.join("pwned.txt").exists());
    assert_eq!(world.state()["settings"]["max_iterations"], 1);
    world.program(&["trust"]).ends(3).says("--yes");
    world
        .program(&["trust", "--yes"])
        .ends(0)
        .says("touch pwned.txt");
    world
        .program(&["trust", "--list"])
        .ends(0)
        .says("trusted  ");
    world
        .program(&["trust", "--revoke"])
        .ends(0)
        .says("no longer trusted");
    world
        .program(&["trust", "--list"])
        .ends(0)
        .says("no trusted repositories");
}

#[test]
fn without_a_terminal_the_reason_comes_first_and_no_help() {
    let world = World::new();
    for arguments in [
        &["--view"][..],
        &["--resume"],
        &["-s", "screen.mouse=false"],
        &[],
    ] {
        let ran = world.program(arguments);
        ran.ends(2).complains("`agent-collab run --goal …` runs");
        assert!(ran.err.starts_with("error: no terminal"), "{}", ran.err);
        assert!(!ran.err.contains("Usage"), "{}", ran.err);
    }
}

#[test]
fn the_configuration_is_chosen_before_a_command_and_behind_it() {
    let world = World::new();
    world.put("own.toml", "[workflow]\nmax_iterations = 4\n");
    let value = "workflow.max_iterations=7";
    for arguments in [
        &["--config", "own.toml", "config", "show"][..],
        &["config", "--config", "own.toml", "show"],
        &["config", "show", "--config", "own.toml"],
    ] {
        world.program(arguments).ends(0).says("max_iterations = 4");
        let both = [&["-s", value][..], arguments].concat();
        world.program(&both).ends(0).says("max_iterations = 7");
    }
    world
        .program(&["--config", "own.toml", "scrub"])
        .ends(2)
        .complains("cannot be used with '--config <FILE>'");
}

#[test]
fn the_private_folder_for_sockets_goes_with_the_last_who_uses_it() {
    let world = World::new();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let left: Vec<_> = std::fs::read_dir(world.folder.join("tmp"))
        .expect("folder")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Returns whether an agent received a text, according to the run's files.
fn was_sent(world: &World, text: &str) -> bool {
    let files = world.files(".agent-collab");
    let texts = files
        .iter()
        .map(|(_, bytes)| String::from_utf8_lossy(bytes));
    texts.into_iter().any(|file| file.contains(text))
}

#[test]
fn instructions_of_a_repository_that_is_not_trusted_are_told_of_and_sent_where_that_is_said() {
    for (flags, is_sent, is_told) in [
        (&[][..], false, true),
        (&["--instructions", "ignore"], false, false),
        (&["--instructions", "use"], true, false),
    ] {
        let world = World::new();
        world.put("AGENTS.md", "Be-brief-everywhere.\n");
        world.put("src/AGENTS.md", "Be-brief-in-src.\n");
        let writes = vec![write("a.txt", "a\n")];
        let planner = Agent::planning(&["Write a"]).step(1, writes);
        world.cast(&planner, &Agent::approving());
        let ran = world.run(flags);
        ran.ends(0);
        let line = "AGENTS.md, src/AGENTS.md: not sent to the agents, because this repository is not trusted; \
                    to send them once use --instructions use";
        assert_eq!(ran.err.contains(line), is_told, "{}", ran.err);
        for text in ["Be-brief-everywhere.", "Be-brief-in-src."] {
            assert_eq!(was_sent(&world, text), is_sent, "{text}");
        }
        assert_eq!(was_sent(&world, "only for files below `src/`"), is_sent);
    }
}

#[test]
fn doctor_says_which_instructions_count() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let ran = world.program(&["doctor"]);
    assert!(!ran.ends(0).out.contains("to the agents"));
    world.put("AGENTS.md", "Be brief.\n");
    world
        .program(&["doctor"])
        .ends(0)
        .says("AGENTS.md: not sent to the agents, because this repository is not trusted");
    world.program(&["trust", "--yes"]).ends(0);
    world
        .program(&["doctor"])
        .ends(0)
        .says("AGENTS.md: sent to the agents, because this repository is trusted");
}
