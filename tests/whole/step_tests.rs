//! The program itself runs the tests of each step.

use crate::repository::commit_all;
use crate::script::{Agent, say, shell, write};
use crate::world::World;

fn writer() -> Agent {
    Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

/// The setting that uses the command of the repository or the plan.
const DETECT: [&str; 2] = ["-s", "test.default_command=auto"];

fn receipt(world: &World) -> serde_json::Value {
    world.state()["execution"]["done"][0]["receipt"].clone()
}

#[test]
fn the_configured_command_is_run() {
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    world
        .run(&["-s", "test.default_command=test -f new.txt"])
        .ends(0)
        .says("tests passed");
    let receipt = receipt(&world);
    assert_eq!(receipt["command"], "test -f new.txt");
    assert_eq!(receipt["exit_code"], 0);
    assert!(receipt["tree_before"].is_string() && receipt["tree_after"].is_string());
    let body = world.git(&["log", "-1", "--format=%b"]);
    assert!(body.contains("tests passed"), "{body}");
}

#[test]
fn the_plans_own_line_is_run_where_nothing_else_is_known() {
    let world = World::new();
    let agent = Agent::new()
        .plan("# Task: A\n\n1. [ ] Write\n\nTest: grep -q new new.txt\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world.run(&DETECT).ends(0);
    assert_eq!(receipt(&world)["command"], "grep -q new new.txt");
    assert_eq!(world.state()["execution"]["test"]["source"], "proposed");
}

#[test]
fn a_command_is_detected() {
    let world = World::new();
    world.put(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\n",
    );
    commit_all(&world.root, "second");
    world.cast(&writer(), &Agent::approving());
    let tools = world.folder.join("tools");
    crate::programs::put_program(
        &tools.join("cargo"),
        "#!/bin/sh\necho 'test result: ok. 2 passed; 0 failed; 0 ignored'\n",
    );
    let mut world = world;
    let path = format!(
        "{}:{}",
        tools.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    world.env.push(("PATH".to_owned(), path));
    world.run(&DETECT).ends(0);
    assert_eq!(receipt(&world)["counts"]["passed"], 2);
    assert_eq!(world.state()["execution"]["test"]["source"], "detected");
}

#[test]
fn without_a_command_the_step_is_not_tested_and_the_run_goes_on() {
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    world
        .run(&DETECT)
        .ends(6)
        .says("not tested")
        .complains("not verified: step 1 was not tested");
    assert!(world.read(".agent-collab/log.md").contains("not tested"));
    assert_eq!(world.subjects().len(), 2);
}

#[test]
fn a_runner_that_finds_no_tests_has_not_tested() {
    let world = World::new();
    world.put("pytest.ini", "[pytest]\n");
    commit_all(&world.root, "second");
    let tools = world.folder.join("tools");
    crate::programs::put_program(
        &tools.join("pytest"),
        "#!/bin/sh\necho 'no tests ran in 0.01s'\nexit 5\n",
    );
    let mut world = world;
    let path = format!(
        "{}:{}",
        tools.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    world.env.push(("PATH".to_owned(), path));
    world.cast(&writer(), &Agent::approving());
    world
        .run(&["-s", "test.default_command=pytest"])
        .ends(6)
        .says("not tested");
}

#[test]
fn a_test_run_ends_at_its_timeout() {
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    let ran = world.run(&[
        "-s",
        "test.default_command=sleep 600",
        "-s",
        "test.timeout=1s",
        "-s",
        "test.max_fix_turns=0",
    ]);
    ran.ends(3)
        .complains("tests_failed")
        .complains("--answer tests_failed=retry|skip|accept|stop");
    assert_eq!(
        world.events_of("tests.ran")[0]["receipt"]["outcome"],
        "timed_out"
    );
    assert!(world.leftovers().is_empty());
}

#[test]
fn fix_turns_mend_a_step_and_are_counted() {
    let world = World::new();
    let agent = writer().fix(1, 1, vec![say("Hm.")]).fix(
        1,
        2,
        vec![write("right.txt", "y\n"), say("Mended.")],
    );
    world.cast(&agent, &Agent::approving());
    world
        .run(&["-s", "test.default_command=test -f right.txt"])
        .ends(0);
    assert_eq!(world.committed(), ["new.txt", "right.txt"]);
    assert!(world.read(".agent-collab/log.md").contains("fix turns: 2"));
}

#[test]
fn failing_tests_become_a_question_after_the_last_fix_turn() {
    let world = World::new();
    let agent = writer()
        .fix(1, 1, vec![say("Hm.")])
        .fix(1, 2, vec![say("Hm.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&["-s", "test.default_command=false"])
        .ends(3)
        .complains("tests_failed");
    assert_eq!(world.events_of("tests.ran").len(), 3);
    assert_eq!(world.subjects(), ["first"]);
}

#[test]
fn failing_tests_are_accepted_where_the_user_says_so_and_the_log_says_that_they_failed() {
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    world
        .run(&[
            "-s",
            "test.default_command=false",
            "-s",
            "test.max_fix_turns=0",
            "--answer",
            "tests_failed=accept",
        ])
        .ends(6)
        .complains("not verified: step 1 was accepted with failing tests");
    assert_eq!(world.subjects().len(), 2);
    assert!(world.read(".agent-collab/log.md").contains("tests failed"));
}

#[test]
fn what_tests_change_belongs_to_the_step_and_what_they_make_does_not() {
    let world = World::new();
    world.put("count.txt", "0\n");
    commit_all(&world.root, "second");
    let agent = Agent::planning(&["Write", "Write more"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(2, vec![write("more.txt", "more\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    let command = "sh -c 'echo run >> count.txt; echo run >> made.log'";
    world
        .run(&[
            "-s",
            &format!("test.default_command={command}"),
            "--on-dirty",
            "include",
        ])
        .ends(0);
    assert_eq!(world.committed(), ["count.txt", "more.txt"]);
    // Before the first step, and twice in it, because the file changes each time; then that is known.
    assert_eq!(world.read("made.log"), "run\nrun\nrun\nrun\n");
    assert_eq!(world.git(&["ls-files", "made.log"]), "");
    let log = world.read(".agent-collab/log.md");
    assert!(
        log.contains("made by the tests, not committed: made.log"),
        "{log}"
    );
}

#[test]
fn tests_see_a_scrubbed_environment_and_no_input() {
    let mut world = World::new();
    world.env.push((
        "OPENAI_API_KEY".to_owned(),
        "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789".to_owned(),
    ));
    world.cast(&writer(), &Agent::approving());
    let out = world.written_by_tests("env.txt");
    let command = format!("sh -c 'env > {0}; cat >> {0}'", out.display());
    world
        .run(&["-s", &format!("test.default_command={command}")])
        .ends(0);
    let text = std::fs::read_to_string(out).expect("environment");
    assert!(text.contains("PATH="), "{text}");
    assert!(!text.contains("OPENAI_API_KEY"), "{text}");
}

#[test]
fn tests_get_the_machines_network_once_the_user_says_so_and_then_without_a_question() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a server");
    let port = server.local_addr().expect("its address").port();
    let program = format!(
        "use IO::Socket::INET; IO::Socket::INET->new(q(127.0.0.1:{port})) or die qq(connect: $!)"
    );
    let command = ["-s", "test.default_command=perl check.pl"];
    let world = World::new();
    world.put("check.pl", &program);
    commit_all(&world.root, "check");
    world.cast(&writer(), &Agent::approving());
    world
        .run(&command)
        .ends(3)
        .complains("fail without the machine's network: connect: Connection refused")
        .complains("--answer test_network=");
    let world = World::new();
    world.put("check.pl", &program);
    commit_all(&world.root, "check");
    world.cast(&writer(), &Agent::approving());
    world
        .run(&[&command[..], &["--answer", "test_network=host"]].concat())
        .ends(0);
    assert_eq!(receipt(&world)["outcome"], "passed");
    let other = Agent::planning(&["Write"]).step(1, vec![write("other.txt", "o\n"), say("Wrote.")]);
    world.cast(&other, &Agent::approving());
    world.run(&command).ends(0);
    assert_eq!(receipt(&world)["outcome"], "passed");
}

#[test]
fn tests_reach_dockers_socket_once_the_user_says_so_and_then_without_a_question() {
    let command = ["-s", "test.default_command=perl check.pl"];
    let new = || {
        let world = World::new();
        let run = world.folder.join("home/.docker/run");
        std::fs::create_dir_all(&run).expect("a folder");
        let socket = run.join("docker.sock");
        let docker = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        let path = socket.display();
        let program = format!(
            "use IO::Socket::UNIX; IO::Socket::UNIX->new(q({path})) or die qq(dial unix {path}: connect: $!)"
        );
        world.put("check.pl", &program);
        commit_all(&world.root, "check");
        world.cast(&writer(), &Agent::approving());
        (world, docker)
    };
    let (world, _docker) = new();
    world
        .run(&command)
        .ends(3)
        .complains("The tests before step 1 fail without")
        .complains("home/.docker/run/docker.sock, which is hidden from them: dial unix")
        .complains("--answer test_socket=");
    let (world, _docker) = new();
    world
        .run(&[&command[..], &["--answer", "test_socket=reach"]].concat())
        .ends(0);
    assert_eq!(receipt(&world)["outcome"], "passed");
    let other = Agent::planning(&["Write"]).step(1, vec![write("other.txt", "o\n"), say("Wrote.")]);
    world.cast(&other, &Agent::approving());
    world.run(&command).ends(0);
    assert_eq!(receipt(&world)["outcome"], "passed");
}

#[test]
fn a_question_at_the_end_of_a_step_without_change_is_shown_and_its_flag_named() {
    let world = World::new();
    let agent = Agent::planning(&["Write"])
        .step(
            1,
            vec![say(
                "I looked at it. Which of the two files do you want me to change?",
            )],
        )
        .step(1, vec![write("a.txt", "a\n"), say("Wrote a.txt.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("Which of the two files do you want me to change?")
        .complains("--answer question=");
    let world = World::new();
    world.cast(&agent, &Agent::approving());
    world.run(&["--answer", "question=a.txt"]).ends(0);
    assert_eq!(world.committed(), ["a.txt"]);
}

#[test]
fn a_question_after_a_change_is_no_question() {
    let world = World::new();
    let agent = Agent::planning(&["Write"]).step(
        1,
        vec![
            write("a.txt", "a\n"),
            say("Wrote a.txt. Shall I go on with the next one?"),
        ],
    );
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(0);
}

#[test]
fn an_agent_that_asks_again_and_again_does_not_keep_a_run_from_ending() {
    let world = World::new();
    let agent = Agent::planning(&["Write"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![say("Which file do you want me to change?")],
    );
    world.cast(&agent, &Agent::approving());
    world
        .run(&["--answer", "question=any"])
        .ends(3)
        .complains("--answer question=");
}

#[test]
fn a_command_of_the_agent_works_in_the_repository() {
    let world = World::new();
    let agent = Agent::planning(&["Write"])
        .step(1, vec![shell("echo by command > new.txt"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(0);
    assert_eq!(world.read("new.txt"), "by command\n");
}

#[test]
fn a_runner_that_is_not_there_is_a_question_at_once_and_no_fix_turn() {
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    world
        .run(&["-s", "test.default_command=no-such-runner --all"])
        .ends(3)
        .complains("needs you (runner_missing): Before step 1: tests could not be started")
        .complains("no-such-runner")
        .complains("--answer runner_missing=retry|accept|stop|cancel");
    assert!(world.events_of("step.audited").is_empty());
    // After a step it is one, too.
    let resume = ["resume", "--auto", "--answer", "runner_missing=accept"];
    world
        .program(
            &[
                &resume[..],
                &["-s", "test.default_command=no-such-runner --all"],
            ]
            .concat(),
        )
        .ends(3)
        .complains("needs you (tests_failed): Step 1: tests could not be started");
    assert_eq!(world.events_of("tests.ran").len(), 1);
    assert_eq!(world.state()["execution"]["current"]["fix_turns"], 0);
}

#[test]
fn a_step_that_changes_documentation_only_need_not_be_tested() {
    let world = World::new();
    let agent =
        Agent::planning(&["Describe"]).step(1, vec![write("docs/a.md", "a\n"), say("Described.")]);
    world.cast(&agent, &Agent::approving());
    world.run(&DETECT).ends(0).says("not tested");
}

/// Creates a test runner that prints `counts.txt`.
fn with_a_runner(world: &mut World, counts: &str) {
    world.put("counts.txt", counts);
    commit_all(&world.root, "counts");
    let tools = world.folder.join("tools");
    let script = "#!/bin/sh\ncat counts.txt\n";
    crate::programs::put_program(&tools.join("pytest"), script);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.display());
    world.env.push(("PATH".to_owned(), path));
}

const PYTEST: [&str; 2] = ["-s", "test.default_command=pytest"];

#[test]
fn fewer_tests_than_in_the_step_before_are_a_question_with_both_figures() {
    let mut world = World::new();
    with_a_runner(&mut world, "3 passed in 0.1s\n");
    let agent = Agent::planning(&["Write", "Change"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(
            2,
            vec![
                write("counts.txt", "2 passed, 1 skipped in 0.1s\n"),
                say("Changed."),
            ],
        );
    world.cast(&agent, &Agent::approving());
    world
        .run(&PYTEST)
        .ends(3)
        .complains("needs you (tests_in_doubt): Step 2: fewer tests ran than before")
        .complains("before 3 passed, 0 failed, 0 skipped; now 2 passed, 0 failed, 1 skipped");
    let accepts = ["resume", "--auto", "--answer", "tests_in_doubt=accept"];
    world
        .program(&[&accepts[..], &PYTEST[..]].concat())
        .ends(6)
        .complains("not verified: step 2 was accepted with doubtful tests");
    assert_eq!(world.subjects()[0], "[Step 2] Changed");
}

#[test]
fn a_runner_that_counts_nothing_is_a_question() {
    let mut world = World::new();
    with_a_runner(&mut world, "all well\n");
    world.cast(&writer(), &Agent::approving());
    world
        .run(&PYTEST)
        .ends(3)
        .complains("the tests passed, but no test was counted");
}
