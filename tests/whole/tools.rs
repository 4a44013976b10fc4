//! Scripted agents call the program's own tools through the MCP server that they receive.

use serde_json::{Value, json};

use crate::script::{Agent, plan, say, shell, write};
use crate::world::World;

fn tool(tool: &str, input: Value) -> Value {
    json!({ "do": "tool", "tool": tool, "input": input })
}

fn todos(statuses: &[&str]) -> Value {
    let todo = |status: &&str| json!({ "content": "do it", "status": status });
    let todos: Vec<Value> = statuses.iter().map(todo).collect();
    tool("todowrite", json!({ "todos": todos }))
}

#[test]
fn what_is_handed_in_by_a_tool_counts_before_a_file() {
    let world = World::new();
    let planner = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![
                tool("plan_submit", json!({ "plan": plan(&["From the tool"]) })),
                write("${plan_path}", &plan(&["From the file"])),
                tool("plan_submit", json!({ "plan": "no plan at all" })),
            ],
        )
        .step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![tool("review_submit", json!({ "verdict": "approved" }))],
    );
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let committed = world.events_of("plan.committed");
    assert_eq!(committed[0]["plan"]["steps"][0]["text"], "From the tool");
    let reviews = world.events_of("review.committed");
    assert_eq!(reviews[0]["review"]["verdict"], "APPROVED");
}

#[test]
fn a_tool_that_the_session_does_not_have_is_blocked_and_recorded() {
    let world = World::new();
    let submit = tool("plan_submit", json!({ "plan": plan(&["Another"]) }));
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![submit, write("a.txt", "${answer}\n"), say("Wrote.")],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let blocked = world.events_of("tool.blocked");
    assert_eq!(blocked.len(), 1);
    assert_eq!(blocked[0]["tool"], "plan_submit");
    let told = std::fs::read_to_string(world.root.join("a.txt")).expect("the step's file");
    assert!(
        told.starts_with("{\"blocked\":true,\"tool\":\"plan_submit\""),
        "{told}"
    );
}

#[test]
fn a_refused_list_of_todos_leaves_the_one_that_there_is() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            todos(&["in_progress", "pending"]),
            todos(&["in_progress", "in_progress"]),
            tool("todoread", json!({})),
            write("a.txt", "${answer}\n"),
            say("Wrote."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0).says("Todos: 0 of 2 completed");
    assert_eq!(world.events_of("todo.updated").len(), 1);
    let told = std::fs::read_to_string(world.root.join("a.txt")).expect("the step's file");
    assert!(told.contains("(in_progress, medium)"), "{told}");
}

#[test]
fn a_question_is_answered_by_a_flag_or_by_its_default() {
    for (input, expected) in [
        (
            json!({ "question": "Which way?" }),
            "The user answered: left\n",
        ),
        (
            json!({ "question": "Which way?", "default": "right" }),
            "Nobody is there to ask; your default counts: right\n",
        ),
    ] {
        let world = World::new();
        let planner = Agent::planning(&["Write"]).step(
            1,
            vec![
                tool("ask_user", input),
                write("a.txt", "${answer}\n"),
                say("Wrote."),
            ],
        );
        world.cast(&planner, &Agent::approving());
        world.run(&["--answer", "question=left"]).ends(0);
        let told = std::fs::read_to_string(world.root.join("a.txt")).expect("the step's file");
        assert_eq!(told, expected);
    }
}

/// Connects to every socket that it can see, as an agent's server would.
const INTRUDER: &str = r#"
for folder in "$TMPDIR"/agent-collab-*/*/*; do
  test -S "$folder/tools" || continue
  echo "a door"
  PROGRAM mcp --socket "$folder/tools" --token "$folder/token" </dev/null 2>&1
done > "ANSWERS"
"#;

#[test]
fn what_a_command_of_an_agent_starts_gets_through_no_door() {
    let mut world = World::new();
    // A short path, so that the sockets are here: if a socket's address is too long, they are in the shared folder.
    let place = tempfile::tempdir_in("/tmp").expect("a place for doors");
    let tmpdir = place.path().display().to_string();
    world.env.push(("TMPDIR".to_owned(), tmpdir));
    let answers = world.folder.join("answers");
    let script = INTRUDER
        .replace("PROGRAM", env!("CARGO_BIN_EXE_agent-collab"))
        .replace("ANSWERS", &answers.display().to_string());
    std::fs::write(world.folder.join("intruder.sh"), script).expect("script");
    world.config = "[[permission.rule]]\npermission = \"bash\"\npattern = \"sh ../intruder.sh\"\naction = \"allow\"\n".to_owned();
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            tool("todoread", json!({})),
            shell("sh ../intruder.sh"),
            tool("todoread", json!({})),
            write("a.txt", "${answer}\n"),
            say("Wrote."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&["--on-ask", "allow-rules"]).ends(0);
    let told = std::fs::read_to_string(&answers).expect("the intruder ran");
    let doors = told.matches("a door\n").count();
    // The reviewer's CLI has exited or is another process: neither socket accepts a command of the planner.
    assert_eq!(doors, 2, "{told}");
    assert_eq!(
        told.matches("the running program refused it").count(),
        doors,
        "{told}"
    );
    assert!(told.contains("started by a command"), "{told}");
    assert_eq!(world.read("a.txt"), "the list is empty\n");
}

fn look(agent: &str) -> Value {
    json!({ "agent": agent, "prompt": "look around" })
}

#[test]
fn an_agent_that_is_asked_about_is_asked_about_among_several_too() {
    for tasks in [
        json!({ "tasks": [look("explore"), look("general")] }),
        look("general"),
    ] {
        let mut world = World::new();
        world.config =
            "[[permission.rule]]\npermission = \"task\"\npattern = \"general\"\naction = \"ask\"\n"
                .to_owned();
        let planner = Agent::planning(&["Write"]).step(
            1,
            vec![
                tool("task", tasks),
                write("a.txt", "${answer}\n"),
                say("Wrote."),
            ],
        );
        world.cast(&planner, &Agent::approving());
        world.run(&["--on-ask", "deny"]).ends(0);
        assert!(world.read("a.txt").contains("no one can answer"));
        assert_eq!(world.events_of("task.started").len(), 0);
    }
}

#[test]
fn what_each_agent_has_is_printed() {
    let world = World::new();
    let all = "todoread todowrite plan_submit plan_exit ask_user task group_discuss group_discuss_context session_manage";
    for (agent, expected) in [
        ("plan", all),
        (
            "build",
            "todoread todowrite plan_enter step_result ask_user task group_discuss group_discuss_context session_manage",
        ),
        (
            "review",
            "todoread review_submit ask_user task group_discuss group_discuss_context",
        ),
        ("explore", ""),
        ("general", ""),
        ("advocate", ""),
        ("critic", ""),
        ("moderator", ""),
    ] {
        for mode in ["plan", "default", "auto-edit", "yolo"] {
            let ran = world.program(&["tools", "--agent", agent, "--mode", mode, "--json"]);
            let tools: Vec<Value> = serde_json::from_str(&ran.ends(0).out).expect("JSON");
            let offered = tools.iter().filter(|tool| tool["decision"] != "hidden");
            let offered: Vec<&str> = offered
                .inspect(|tool| assert_eq!(tool["decision"], "allow", "{agent} {mode}: {tool}"))
                .map(|tool| tool["name"].as_str().expect("a name"))
                .collect();
            assert_eq!(offered.join(" "), expected, "{agent} in the mode {mode}");
        }
    }
    let task = |agent: &str| {
        let ran = world.program(&["tools", "--agent", agent, "--json"]);
        let tools: Vec<Value> = serde_json::from_str(&ran.ends(0).out).expect("JSON");
        let task = tools.into_iter().find(|tool| tool["name"] == "task");
        task.expect("the tool task")["schema"]["properties"]["agent"]["enum"].clone()
    };
    assert_eq!(task("review"), json!(["explore", null]));
    assert!(
        task("build")
            .as_array()
            .is_some_and(|all| all.contains(&json!("general")))
    );
}

#[test]
fn a_reviewer_gives_several_tasks_to_explore_and_none_to_anybody_else() {
    for (second, n_given) in [("explore", 2), ("general", 1)] {
        let world = World::new();
        let ask = |agent: &str| json!({ "agent": agent, "prompt": "look", "description": "looks" });
        let both = tool("task", json!({ "tasks": [ask("explore"), ask(second)] }));
        let planner =
            Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
        let reviewer = Agent::new()
            .on(
                "[agent-collab REVIEW",
                vec![both, write("${comments_path}", "[APPROVED]\n")],
            )
            .always("[agent-collab task explore#", vec![say("Found.")]);
        world.cast(&planner, &reviewer);
        world.run(&[]).ends(0);
        let given = world.events_of("task.ended");
        assert_eq!(given.len(), n_given, "{given:?}");
    }
}
