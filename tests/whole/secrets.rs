//! Text that looks like a credential or controls a terminal never gets past the engine.

use serde_json::json;

use crate::script::{Agent, FIXED, say, shell, write};
use crate::world::World;

/// Shapes of keys, none of them real.
const KEYS: [&str; 3] = [
    "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh",
    "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "AKIAIOSFODNN7EXAMPLQ",
];

const STEERING: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}after";

fn keys() -> String {
    KEYS.join(" and ")
}

/// Plays a run in which every text of an agent contains keys and control sequences.
fn play(world: &World) -> crate::world::Ran {
    let text = format!("The keys are {} {STEERING}", keys());
    let echo = format!("printf '%s\\n' '{}'; printf '\\033[2Jcleared\\n'", keys());
    let planner = Agent::new()
        .plan(&format!("# Task: With {}\n\n1. [ ] Write {} {STEERING}\n", KEYS[0], KEYS[1]))
        .revise(&format!("1. accepted: {} {STEERING}\n", keys()))
        .step(
            1,
            vec![
                json!({ "do": "thinking", "text": text }),
                say(&text),
                shell(&echo),
                json!({ "do": "frame", "json": { "method": "item/unheardOf", "params": { "token": KEYS[0], "text": text } } }),
                json!({ "do": "malformed", "line": format!("{{ no json {} {STEERING}", keys()) }),
                write("new.txt", "new\n"),
                say(&format!("Wrote with {}. {STEERING}", keys())),
            ],
        );
    let reviewer = Agent::new()
        .on(
            "[agent-collab REVIEW",
            vec![
                say(&text),
                write(
                    "${comments_path}",
                    &format!(
                        "[CHANGES_REQUIRED]\n\n1. [blocking] {} {STEERING}\n   Place: step 1\n   Scenario: {}\n",
                        keys(),
                        keys()
                    ),
                ),
            ],
        )
        .review(FIXED);
    world.cast(&planner, &reviewer);
    let tests = world.folder.join("tests.sh");
    crate::programs::put_program(&tests, &format!("echo {} >&2\necho {}\n", KEYS[0], KEYS[1]));
    world.run(&[
        "-s",
        &format!("test.default_command=sh {}", tests.display()),
    ])
}

#[test]
fn keys_in_agent_text_reach_no_log_no_event_and_no_screen() {
    let world = World::new();
    let ran = play(&world);
    ran.ends(0);
    let mut places = vec![
        ("stdout".to_owned(), ran.out.clone()),
        ("stderr".to_owned(), ran.err.clone()),
    ];
    for (path, bytes) in world.files(".agent-collab") {
        let name = path
            .strip_prefix(&world.root)
            .expect("below")
            .display()
            .to_string();
        let is_document = name.ends_with("plan.md")
            || name.ends_with("comments.md")
            || name.contains("/iterations/");
        if !is_document {
            places.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    assert!(
        places.iter().any(|(name, _)| name.contains("raw")),
        "raw streams are looked at, too"
    );
    let mut found = Vec::new();
    for (name, text) in &places {
        for key in KEYS {
            for line in text.lines().filter(|line| line.contains(key)) {
                found.push(format!(
                    "{name}: {}",
                    line.chars().take(200).collect::<String>()
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn documents_keep_the_agents_bytes() {
    let world = World::new();
    play(&world).ends(0);
    assert!(world.read(".agent-collab/plan.md").contains(KEYS[1]));
    assert!(
        world
            .read(".agent-collab/iterations/1/comments.md")
            .contains(KEYS[2])
    );
}

#[test]
fn control_sequences_reach_no_screen_no_event_and_no_log() {
    let world = World::new();
    let ran = play(&world);
    ran.ends(0).says("after");
    let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    for (name, text) in [
        ("stdout", &ran.out),
        ("stderr", &ran.err),
        ("log.md", &world.read(".agent-collab/log.md")),
    ] {
        let line = text.lines().find(|line| line.contains(steers));
        assert_eq!(line, None, "{name}");
    }
    let events = world.read(".agent-collab/events.jsonl");
    let line = events
        .lines()
        .find(|line| line.contains("\\u001b") || line.contains(steers) || line.contains("\\u202e"));
    assert_eq!(line, None);
    let status = world.program(&["status"]);
    assert_eq!(status.out.lines().find(|line| line.contains(steers)), None);
    assert!(!status.out.contains(KEYS[1]), "{}", status.out);
}

#[test]
fn raw_streams_and_state_are_the_users_alone_to_read() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    play(&world).ends(0);
    for (path, _) in world.files(".agent-collab") {
        let name = path.display().to_string();
        if ["raw", "state.json", "events.jsonl", "debug.log"]
            .iter()
            .any(|word| name.contains(word))
        {
            let mode = std::fs::metadata(&path).expect("file").permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{name} has mode {mode:o}");
        }
    }
}

#[test]
fn prompts_are_in_the_debug_log_only_where_that_was_asked_for_and_then_it_is_said() {
    for is_wanted in [false, true] {
        let mut world = World::new();
        world.config = format!("[log]\nlog_prompts = {is_wanted}\n");
        let planner =
            Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
        let planner = planner.always("[agent-collab task explore", vec![say("Found it.")]);
        world.cast(&planner, &Agent::approving());
        let goal = format!("A test with {}", KEYS[0]);
        let ran = world.program(&["run", "--goal", &goal, "--auto", "--yes-execute"]);
        ran.ends(0);
        assert_eq!(
            ran.err.contains("log.log_prompts"),
            is_wanted,
            "{}",
            ran.err
        );
        let log = world.read(".agent-collab/debug.log");
        assert_eq!(log.contains("[agent-collab WRITE_PLAN]"), is_wanted);
        assert!(!log.contains(KEYS[0]));
        // Those of tasks and of discussions go out another way.
        world
            .program(&["task", "--agent", "explore", "look"])
            .ends(0);
        let log = world.read(".agent-collab/debug.log");
        assert_eq!(log.contains("[agent-collab task explore#1]"), is_wanted);
        world.program(&["discuss", "A or B?"]);
        let log = world.read(".agent-collab/debug.log");
        assert_eq!(log.contains("[agent-collab discussion "), is_wanted);
    }
}
