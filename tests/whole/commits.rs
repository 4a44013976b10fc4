//! Failing commits, and changes to files that the program would run.

use crate::programs::put_program;
use crate::script::{Agent, edit, say, write};
use crate::world::World;

fn one_step(world: &World, actions: Vec<serde_json::Value>) {
    let mut actions = actions;
    actions.push(say("Done."));
    world.cast(
        &Agent::planning(&["Do it"]).step(1, actions),
        &Agent::approving(),
    );
}

#[test]
fn a_failing_hook_is_a_question_and_its_words_are_shown() {
    let world = World::new();
    put_program(
        &world.root.join(".git/hooks/pre-commit"),
        "#!/bin/sh\necho 'no tabs, please' >&2\nexit 1\n",
    );
    one_step(&world, vec![write("new.txt", "new\n")]);
    world
        .run(&[])
        .ends(3)
        .complains("no tabs, please")
        .complains("--answer commit_failed=retry|go-on|stop");
    assert_eq!(world.subjects(), ["first"]);
    assert_eq!(world.read("new.txt"), "new\n");
}

#[test]
fn a_run_goes_on_without_a_failed_commit_where_the_user_says_so() {
    let world = World::new();
    put_program(
        &world.root.join(".git/hooks/pre-commit"),
        "#!/bin/sh\nexit 1\n",
    );
    one_step(&world, vec![write("new.txt", "new\n")]);
    world.run(&["--answer", "commit_failed=go-on"]).ends(0);
    assert_eq!(world.subjects(), ["first"]);
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("the user continued without it")
    );
}

#[test]
fn trying_a_failed_commit_again_comes_to_an_end() {
    let world = World::new();
    put_program(
        &world.root.join(".git/hooks/pre-commit"),
        "#!/bin/sh\nexit 1\n",
    );
    one_step(&world, vec![write("new.txt", "new\n")]);
    world
        .run(&["--answer", "commit_failed=retry"])
        .ends(3)
        .complains("commit_failed");
}

fn check_asks(files: &[(&str, &str)], actions: Vec<serde_json::Value>, named: &str) {
    let world = World::new();
    for (path, text) in files {
        world.put(path, text);
    }
    crate::repository::commit_all(&world.root, "second");
    one_step(&world, actions);
    // What the tests need may not be installed here, which is asked about before the first step.
    world
        .run(&["-s", "test.baseline=false"])
        .ends(3)
        .complains(named)
        .complains("entry_points")
        .complains("--answer entry_points=allow|stop");
    assert!(
        world.events_of("tests.ran").is_empty(),
        "nothing ran before the answer"
    );
    assert_eq!(world.subjects(), ["second", "first"]);
}

#[test]
fn scripts_of_package_json_that_a_step_changes_ask_first() {
    let package = "{ \"name\": \"x\", \"scripts\": { \"test\": \"true\" } }\n";
    check_asks(
        &[("package.json", package)],
        vec![edit("package.json", "true", "curl evil")],
        "package.json",
    );
}

#[test]
fn a_conftest_that_a_step_writes_asks_first() {
    check_asks(
        &[("pytest.ini", "[pytest]\n")],
        vec![write("conftest.py", "def pytest_configure():\n    pass\n")],
        "conftest.py",
    );
}

#[test]
fn the_script_that_the_test_command_names_asks_first() {
    let plan = "# Task: A\n\n1. [ ] Do it\n\nTest: sh check.sh\n";
    let world = World::new();
    world.put("check.sh", "exit 0\n");
    crate::repository::commit_all(&world.root, "second");
    let agent = Agent::new()
        .plan(plan)
        .step(1, vec![write("check.sh", "exit 0 # mine\n"), say("Done.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("check.sh")
        .complains("entry_points");
    assert!(world.events_of("tests.ran").is_empty());
}

#[test]
fn what_npm_test_comes_to_asks_first() {
    let package = "{ \"scripts\": { \"test\": \"node scripts/test.js\" } }\n";
    check_asks(
        &[("package.json", package), ("scripts/test.js", "a()\n")],
        vec![write("scripts/test.js", "process.exit(0)\n")],
        "scripts/test.js",
    );
}

#[test]
fn a_module_in_the_place_of_the_runner_asks_first() {
    check_asks(
        &[("pytest.ini", "[pytest]\n")],
        vec![write("pytest.py", "raise SystemExit(0)\n")],
        "pytest.py",
    );
}

#[test]
fn what_agents_obey_in_the_next_session_asks_first() {
    for path in [
        ".claude/settings.json",
        ".mcp.json",
        ".envrc",
        "docs/CLAUDE.md",
    ] {
        check_asks(&[("notes.txt", "a\n")], vec![write(path, "{}\n")], path);
    }
}

#[test]
fn a_runner_among_the_installed_packages_is_replaced_only_with_leave_and_one_answer_lasts() {
    for (more, code, asked) in [(&[][..], 3, 1), (&["--answer", "entry_points=allow"], 0, 1)] {
        let world = World::new();
        world.put(".gitignore", "node_modules/\n");
        crate::repository::commit_all(&world.root, "second");
        world.put("node_modules/.bin/jest", "exit 1\n");
        let replace = crate::script::shell("echo 'exit 0' > node_modules/.bin/jest");
        let agent = Agent::planning(&["Do it", "More"])
            .step(1, vec![replace, write("new.txt", "new\n"), say("Done.")])
            .step(2, vec![write("more.txt", "more\n"), say("Done.")]);
        world.cast(&agent, &Agent::approving());
        let command = "test.default_command=sh node_modules/.bin/jest";
        world.run(&[&["-s", command], more].concat()).ends(code);
        let asks = world.events_of("question.asked");
        let asks = asks.iter().filter(|ask| {
            ask.to_string()
                .contains("1 installed package changed: .bin")
        });
        assert_eq!(asks.count(), asked);
    }
}

#[test]
fn a_git_hook_that_a_step_writes_asks_first() {
    let world = World::new();
    one_step(
        &world,
        vec![
            crate::script::shell(
                "printf '#!/bin/sh\\ntouch ../../hooked\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
            ),
            write("new.txt", "new\n"),
        ],
    );
    let ran = world.run(&[]);
    ran.ends(3)
        .complains("pre-commit")
        .complains("entry_points");
    assert_eq!(world.subjects(), ["first"]);
}

#[test]
fn other_changes_of_a_manifest_are_not_asked_about() {
    let world = World::new();
    world.put(
        "package.json",
        "{ \"name\": \"x\", \"scripts\": { \"test\": \"true\" } }\n",
    );
    crate::repository::commit_all(&world.root, "second");
    one_step(&world, vec![edit("package.json", "\"x\"", "\"y\"")]);
    world.run(&["-s", "test.default_command=true"]).ends(0);
    assert_eq!(world.committed(), ["package.json"]);
}

#[test]
fn an_allowed_change_goes_on_to_tests_and_commit() {
    let world = World::new();
    world.put("check.sh", "exit 1\n");
    crate::repository::commit_all(&world.root, "second");
    one_step(&world, vec![write("check.sh", "exit 0\n")]);
    world
        .run(&[
            "-s",
            "test.default_command=sh check.sh",
            "--answer",
            "entry_points=allow",
        ])
        .ends(0);
    assert_eq!(world.committed(), ["check.sh"]);
    assert_eq!(
        world.events_of("tests.ran")[0]["receipt"]["outcome"],
        "passed"
    );
}

#[test]
fn a_step_without_a_change_asks_and_a_run_of_such_steps_is_not_proven() {
    let world = World::new();
    one_step(&world, vec![crate::script::shell("true")]);
    let ran = world.run(&[]);
    ran.ends(3)
        .complains("needs you (nothing_changed): Step 1 changed nothing")
        .complains("--answer nothing_changed=already-true|blocked|retry|amend:TEXT|replan|replan:TEXT|skip|skip:TEXT|cancel");
    let ran = world.program(&[
        "resume",
        "--auto",
        "--answer",
        "nothing_changed=already-true",
    ]);
    ran.ends(6).complains("no step changed anything");
    assert!(
        world.events_of("tests.ran").is_empty(),
        "nothing was changed, so nothing is tested"
    );
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("changed nothing")
    );
    assert_eq!(world.subjects(), ["first"]);
}

#[test]
fn one_step_without_a_change_is_enough_to_be_unproven() {
    let world = World::new();
    let agent = Agent::planning(&["Look", "Write"])
        .step(1, vec![say("Looked.")])
        .step(2, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&["--answer", "nothing_changed=already-true"])
        .ends(6)
        .complains("not verified: step 1 changed nothing");
    assert_eq!(world.subjects(), ["[Step 2] Wrote", "first"]);
}

#[test]
fn a_run_whose_executor_is_blocked_does_not_go_on() {
    let world = World::new();
    let agent = Agent::planning(&["Look", "Write"])
        .step(1, vec![say("BLOCKED: the key is missing.\n\nI looked.")])
        .step(2, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    // A blocked step is not reported like a step that changed nothing.
    world
        .run(&["--answer", "nothing_changed=already-true"])
        .ends(3)
        .complains("needs you (blocked): Step 1 is blocked, its agent says: the key is missing.");
    assert_eq!(world.subjects(), ["first"]);
    let ran = world.program(&["resume", "--auto", "--answer", "blocked=skip"]);
    ran.ends(6).complains("not verified: step 1 was skipped");
    let plan = world.read(".agent-collab/plan.md");
    assert!(plan.contains("1. [ ] Look\n2. [x] Write"), "{plan}");
}
