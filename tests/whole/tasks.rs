//! Tests `agent-collab task`: child sessions, alone and during a run, and what remains of them.

use serde_json::{Value, json};

use crate::repository::forget_name;
use crate::script::{Agent, say, shell, write};
use crate::world::{Ran, Running, World, wait_until};

const EXPLORE: [&str; 4] = ["task", "--agent", "explore", "--json"];

fn task(world: &World, more: &[&str]) -> Ran {
    let mut arguments = EXPLORE.to_vec();
    arguments.extend(more);
    world.program(&arguments)
}

fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err))
}

fn id(result: &Value) -> &str {
    result["task_id"].as_str().expect("an id")
}

/// Who speaks in the messages of a session, and what.
fn history(world: &World, id: &str) -> Vec<(String, String)> {
    let text = world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"));
    let of = |message: &Value, key: &str| message[key].as_str().expect(key).to_owned();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .map(|message| (of(&message, "role"), of(&message, "text")))
        .collect()
}

fn speakers(history: &[(String, String)]) -> Vec<&str> {
    history.iter().map(|(role, _)| role.as_str()).collect()
}

fn nothing_is_left(world: &World) {
    assert_eq!(world.leftovers(), Vec::<String>::new());
    let staged = world.files(".agent-collab/turns");
    assert_eq!(staged, [], "staging folders");
}

#[test]
fn a_task_is_done_alone_and_goes_on_by_its_id() {
    let world = World::new();
    let explorer = Agent::new()
        .on(
            "[agent-collab task explore#1]\n\n[agent-collab agent explore]",
            vec![shell("cat README.md"), say("pub fn one, pub fn two")],
        )
        .on(
            "[agent-collab task explore#1]\n\nand tests?",
            vec![say("one is tested")],
        );
    world.cast(&explorer, &Agent::new());
    let first = task(&world, &["list the public functions"]);
    let found = result(first.ends(0));
    assert_eq!(
        found,
        json!({"task_id": id(&found), "agent": "explore", "name": "explore#1", "status": "completed",
            "summary": "pub fn one, pub fn two", "tool_calls": found["tool_calls"], "duration_ms": found["duration_ms"]})
    );
    let first = history(&world, id(&found));
    assert_eq!(speakers(&first), ["system", "user", "tool", "assistant"]);
    assert_eq!(first[1].1, "list the public functions");
    assert!(
        first[2].1.starts_with("command cat README.md\ncompleted"),
        "{}",
        first[2].1
    );
    nothing_is_left(&world);

    let more = result(task(&world, &["--id", id(&found), "and tests?"]).ends(0));
    assert_eq!(
        (&more["summary"], id(&more)),
        (&json!("one is tested"), id(&found))
    );
    let whole = history(&world, id(&found));
    assert_eq!(
        speakers(&whole),
        ["system", "user", "tool", "assistant", "user", "assistant"]
    );
    let path = format!(".agent-collab/sessions/{}/session.json", id(&found));
    let session: Value = serde_json::from_str(&world.read(&path)).expect("JSON");
    assert_eq!(session["title"], "and tests? (@explore)");
    assert_eq!(
        (&session["kind"], &session["parent_id"]),
        (&json!("task"), &Value::Null)
    );
    assert_eq!(session["status"], "completed");
}

#[test]
fn what_cannot_be_begun_is_refused_with_what_can() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let refused = |arguments: &[&str], why: &str| {
        let mut all = vec!["task"];
        all.extend(arguments);
        world.program(&all).ends(1).complains(why);
    };
    let known = "there are advocate, critic, explore, general, moderator";
    refused(&["--agent", "build", "x"], known);
    refused(&["--agent", "nobody", "x"], known);
    // No other complaint comes first: not that of a CLI which is not there.
    refused(
        &[
            "--agent",
            "nobody",
            "-s",
            "adapters.codex.program=/nowhere",
            "x",
        ],
        known,
    );
    refused(&["--agent", "explore", " "], "says nothing to do");
    refused(
        &["--agent", "explore", "--id", "ses_9", "x"],
        "ses_9 is not a task of this session",
    );
    nothing_is_left(&world);
}

#[test]
fn an_agent_that_says_nothing_is_asked_once_more_and_then_fails() {
    for (again, status) in [("It was in lib.rs.", "completed"), ("", "failed")] {
        let world = World::new();
        let explorer = Agent::new()
            .on(
                "[agent-collab task explore#1]",
                vec![shell("cat README.md")],
            )
            .on("Your last message was empty", vec![say(again)]);
        world.cast(&explorer, &Agent::new());
        let ran = task(&world, &["where is it?"]);
        let found = result(&ran);
        assert_eq!(found["status"], status, "{found}");
        match status {
            "completed" => assert_eq!(found["summary"], again),
            _ => {
                let error = found["error"].as_str().unwrap_or_default();
                assert!(error.starts_with("E_NO_SUMMARY"), "{error}");
                assert_eq!(found.get("summary"), None);
            }
        }
        ran.ends(i32::from(status == "failed"));
        nothing_is_left(&world);
    }
}

#[test]
fn an_agent_s_own_adapter_and_model_count_and_it_writes_nothing() {
    let mut world = World::new();
    world.config = "[agents.docs]\nmode = \"subagent\"\nadapter = \"claude\"\nmodel = \"m-1\"\n\
                    rules = [[\"edit\", \"*\", \"allow\"]]\n"
        .to_owned();
    let writer = Agent::new().on(
        "[agent-collab task docs#1]",
        vec![write("docs.md", "text\n"), say("I could not write.")],
    );
    world.cast(&Agent::new(), &writer);
    let ran = world.program(&["task", "--agent", "docs", "write docs"]);
    ran.ends(0).says("I could not write.");
    assert!(!world.root.join("docs.md").exists());
    let started = world.events_of("task.started");
    assert_eq!(
        (&started[0]["adapter"], &started[0]["model"]),
        (&json!("claude"), &json!("m-1"))
    );
    let asked = world.events_of("approval.asked");
    assert_eq!(asked[0]["child"], "you ▸ docs#1");
    let answered = world.events_of("approval.answered");
    assert!(answered.iter().all(|answer| answer["allowed"] == false));
    nothing_is_left(&world);
}

/// Starts a task whose agent has started, does not end and can be resumed.
fn begins(world: &World) -> Running {
    let explorer = Agent::new()
        .on(
            "[agent-collab task explore#1]\n\n[agent-collab agent",
            vec![say("I begin."), json!({ "do": "stall" })],
        )
        .on("go on", vec![say("Here it is.")]);
    world.cast(&explorer, &Agent::new());
    let mut arguments = EXPLORE.to_vec();
    arguments.push("look around");
    let running = world.start(&arguments);
    wait_until("its conversation is known", || {
        world.has_event(|event| event["kind"] == "task.opened")
    });
    running
}

#[test]
fn a_task_that_is_interrupted_is_cancelled_and_can_be_gone_on_with() {
    let world = World::new();
    let running = begins(&world);
    running.signal("INT");
    let ran = running.wait();
    let stopped = result(ran.ends(130));
    assert_eq!(
        (&stopped["status"], &stopped["error"]),
        (&json!("cancelled"), &json!("interrupted by SIGINT"))
    );
    nothing_is_left(&world);
    let found = result(task(&world, &["--id", id(&stopped), "go on"]).ends(0));
    assert_eq!(found["summary"], "Here it is.");
}

#[test]
fn beside_a_task_that_is_done_by_itself_nobody_is_heard() {
    let world = World::new();
    let running = begins(&world);
    for arguments in [
        &["task", "--agent", "explore", "look"][..],
        &["send", "stop"],
    ] {
        world
            .program(arguments)
            .ends(4)
            .complains("accepts no commands");
    }
    running.signal("INT");
    running.wait();
    nothing_is_left(&world);
}

#[test]
fn beside_a_run_tasks_are_its_instance_s_and_end_with_it() {
    let mut world = World::new();
    world.config = "[limits]\ndrain = \"1s\"\n".to_owned();
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write one"])
        .step(
            1,
            vec![
                say("I begin."),
                shell(&format!("cat {wait}")),
                write("one.txt", "one\n"),
                say("Wrote one."),
            ],
        )
        .on("[agent-collab task explore#1]", vec![say("Two functions.")])
        .on(
            "[agent-collab task explore#2]",
            vec![json!({ "do": "stall" })],
        );
    world.cast(&planner, &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    let found = result(task(&world, &["list them"]).ends(0));
    assert_eq!(found["summary"], "Two functions.");
    let mut arguments = EXPLORE.to_vec();
    arguments.push("look for ever");
    let waits = world.start(&arguments);
    running.until("explore#2 gets a task");
    world.release("wait");
    running.wait().ends(0).says("done: 1 of 1 step");
    let cut_off = result(waits.wait().ends(1));
    assert_eq!(cut_off["status"], "cancelled");
    assert_eq!(world.read("one.txt"), "one\n");
    nothing_is_left(&world);
}

#[test]
fn a_task_whose_program_was_killed_is_cancelled_and_leaves_no_process() {
    let world = World::new();
    let running = begins(&world);
    running.signal("KILL");
    running.wait();
    let started = world.events_of("task.started");
    let session = started[0]["session"].as_str().expect("an id");
    let found = result(task(&world, &["--id", session, "go on"]).ends(0));
    assert_eq!(found["summary"], "Here it is.");
    let ended = world.events_of("task.ended");
    assert_eq!(
        (&ended[0]["status"], &ended[0]["error"]),
        (
            &json!("cancelled"),
            &json!("the program ended, the task can be continued")
        )
    );
    nothing_is_left(&world);
}

#[test]
fn sessions_are_listed_shown_deleted_and_pruned() {
    let world = World::new();
    let explorer = Agent::new().always("[agent-collab task explore", vec![say("Found it.")]);
    world.cast(&explorer, &Agent::new());
    let sessions = |world: &World, more: &[&str]| {
        let mut arguments = vec!["sessions"];
        arguments.extend(more);
        world.program(&arguments)
    };
    sessions(&world, &["list"]).ends(0).says("no sessions in ");
    sessions(&world, &["prune"]).ends(0).says("0 sessions");
    std::fs::create_dir(world.root.join(".agent-collab")).expect("a folder without a run");
    sessions(&world, &["prune"]).ends(0).says("0 sessions");
    let first = result(&task(&world, &["look here"]));
    let second = result(&task(&world, &["look there"]));
    let listed = sessions(&world, &["list"]);
    listed
        .ends(0)
        .says("look here (@explore)")
        .says("  explore#1  completed    codex     20");
    sessions(&world, &["show", "explore#2"])
        .ends(0)
        .says("\nlook there\n");
    sessions(&world, &["show", id(&first)])
        .ends(0)
        .says("\nlook here\n")
        .says("Found it.");
    sessions(&world, &["show", "ses_"])
        .ends(2)
        .complains("sessions match ses_");
    // Nothing of it commits.
    forget_name(&world.root);
    sessions(&world, &["delete", id(&first)])
        .ends(0)
        .says("deleted ses_");
    sessions(&world, &["delete", id(&first)]).ends(2);
    task(&world, &["--id", id(&first), "more"]).ends(1);
    // Sessions are kept for fourteen days first, then for none.
    sessions(&world, &["prune"]).ends(0).says("0 sessions");
    let more = world.program(&["task", "--agent", "explore", "--id", "explore#2", "more"]);
    more.ends(0)
        .says("by explore#2 in ")
        .says("continue with --id explore#2");
    assert_eq!(world.events_of("task.started")[2]["session"], id(&second));
    world.put("own.toml", "[limits]\nkeep_sessions_days = 0\n");
    sessions(&world, &["--config", "own.toml", "prune"])
        .ends(0)
        .says("1 session ");
    assert!(!sessions(&world, &["list"]).out.contains("@explore"));
    nothing_is_left(&world);
}

#[test]
fn a_run_that_is_over_waits_for_a_task_for_as_long_as_it_may_and_for_a_signal_not_at_all() {
    let stall = json!({ "do": "stall" });
    let short = json!({ "do": "stall", "ms": 500 });
    for (drain, stall, status) in [
        ("1m", &short, "completed"),
        ("1s", &stall, "cancelled"),
        ("1m", &stall, "cancelled"),
    ] {
        let mut world = World::new();
        world.config = format!("[limits]\ndrain = \"{drain}\"\n");
        let background = json!({
            "agent": "explore", "prompt": "look", "description": "looks", "background": true,
        });
        let planner = Agent::planning(&["Write one"])
            .step(
                1,
                vec![
                    json!({ "do": "tool", "tool": "task", "input": background }),
                    write("one.txt", "one\n"),
                    say("Wrote one."),
                ],
            )
            .on(
                "[agent-collab task explore#1]",
                vec![say("I begin."), stall.clone(), say("Two functions.")],
            );
        world.cast(&planner, &Agent::approving());
        let mut running = world.start_run(&["--json"]);
        running.until("\"to\":\"DONE\"");
        // Without it the program would wait for a minute.
        if (drain, status) == ("1m", "cancelled") {
            running.signal("TERM");
        }
        running.wait().ends(0);
        let ended = world.events_of("task.ended");
        assert_eq!(ended[0]["status"], status, "{drain}: {ended:?}");
        nothing_is_left(&world);
    }
}

#[test]
fn a_task_is_done_where_git_knows_no_name_and_tells_what_was_refused() {
    let world = World::new();
    for key in ["user.name", "user.email"] {
        world.git(&["config", "--local", "--unset-all", key]);
    }
    let explorer = Agent::new().on(
        "[agent-collab task explore#1]",
        vec![shell("rm README.md"), say("Found it.")],
    );
    world.cast(&explorer, &Agent::new());
    let ran = task(&world, &["look"]);
    assert_eq!(result(ran.ends(0))["summary"], "Found it.");
    ran.complains("  Denied: ");
    assert!(!ran.err.contains("too late"), "{}", ran.err);
    nothing_is_left(&world);
}

/// A client of the program's tools that stores what the tool server sends.
const KEEPING_CLIENT: &str = r#"
if [ "$1" = --start ]; then echo ready; exit; fi
"$@" | tee -a "SAID"
"#;

#[test]
fn a_caller_is_told_what_its_child_does_while_it_waits_and_nothing_after_the_answer() {
    let world = World::new();
    let said = world.folder.join("said.jsonl");
    let client = world.folder.join("client.sh");
    let script = KEEPING_CLIENT.replace("SAID", &said.display().to_string());
    std::fs::write(&client, script).expect("client");
    let look = json!({ "agent": "explore", "prompt": "look around" });
    let give = json!({ "do": "tool", "tool": "task", "input": look });
    let planner = Agent::planning(&["Write"])
        .tool_client(&["sh", &client.display().to_string()])
        .step(1, vec![give, write("a.txt", "a\n"), say("Wrote.")])
        .on(
            "[agent-collab task explore#1]",
            vec![shell("cat README.md"), say("Found it.")],
        );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let frames: Vec<Value> = std::fs::read_to_string(&said)
        .expect("what was said")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let told: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["method"] == "notifications/progress")
        .map(|frame| &frame["params"])
        .collect();
    let first = told.first().expect("it is told something");
    assert_eq!(first["message"], "explore#1: begins");
    let counted: Vec<f64> = told
        .iter()
        .filter_map(|told| told["progress"].as_f64())
        .collect();
    assert_eq!(counted.len(), told.len());
    assert!(counted.is_sorted_by(|a, b| a < b), "{counted:?}");
    assert!(
        told.iter().all(|told| told["progressToken"] == 2),
        "{told:?}"
    );
    let last = frames.last().expect("frames");
    assert!(
        last["result"]["isError"] != true && last["id"] == 2,
        "the answer is last: {last}"
    );
}
