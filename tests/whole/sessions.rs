//! Conversations with the CLIs: resumed, swapped, lost and recovered.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::script::{Agent, say, shell, write};
use crate::world::World;

#[test]
fn roles_can_be_swapped() {
    let mut world = World::new();
    world.config = "[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n".to_owned();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&Agent::approving(), &planner);
    world.run(&[]).ends(0);
    assert_eq!(world.state()["planner"]["adapter"], "claude");
    assert_eq!(world.committed(), ["new.txt"]);
}

#[test]
fn one_cli_can_play_both_roles() {
    let mut world = World::new();
    world.config = "[roles]\nreviewer = \"codex\"\n".to_owned();
    let both = Agent::planning(&["Write"])
        .review("[APPROVED]\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&both, &Agent::new());
    world.run(&[]).ends(0);
}

#[test]
fn a_lost_conversation_goes_on_from_plan_and_comments() {
    let mut world = World::new();
    world.config = "[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n".to_owned();
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write it down"])
        .step(1, vec![write("prompt.txt", "${prompt}"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            shell(&format!("cat {wait}")),
            write(
                "${comments_path}",
                "[APPROVED]\n\n1. [minor] A remark to keep.\n",
            ),
        ],
    );
    world.cast(&reviewer, &planner);
    let mut running = world.start_run(&[]);
    running.until("$ cat");
    let mut forgotten = 0;
    for entry in std::fs::read_dir(&world.folder).expect("folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("claude.json.") {
            std::fs::remove_file(entry.path()).expect("remove");
            forgotten += 1;
        }
    }
    assert_eq!(forgotten, 1);
    world.release("wait");
    running.wait().ends(0).says("session lost");
    let prompt = world.read("prompt.txt");
    for word in [
        "[agent-collab RECOVER]",
        "Write it down",
        "A remark to keep",
        "[agent-collab EXECUTE step 1]",
    ] {
        assert!(prompt.contains(word), "{word} in\n{prompt}");
    }
    let state = world.state();
    assert_eq!(state["planner"]["degraded"], true);
    // What is on record is what the agent got, to the letter.
    let sent = sent(&world, &state["planner"]["id"]);
    assert!(
        sent.contains(&prompt),
        "{prompt}

in {sent:#?}"
    );
}

/// What a session was sent, as its record has it.
fn sent(world: &World, id: &Value) -> Vec<String> {
    let id = id.as_str().expect("an id");
    let messages = world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"));
    let messages = messages
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("message"));
    messages
        .filter(|message| message["role"] == "user")
        .map(|message| message["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_question_by_the_clis_own_means_is_shown_and_answered() {
    let world = World::new();
    let ask = || {
        serde_json::json!({
            "do": "question", "question": "Which colour?", "options": ["red", "blue"],
            "if_answered": [write("${comments_path}", "[APPROVED]\n\n1. [minor] It is ${answer}.\n")],
        })
    };
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(
        &planner,
        &Agent::new().on("[agent-collab REVIEW", vec![ask()]),
    );
    world
        .run(&[])
        .ends(3)
        .complains("Which colour?")
        .complains("--answer question=");
    world
        .run(&["--new", "--answer", "question=blue"])
        .ends(0)
        .says("It is blue.");
}

#[test]
fn calls_before_execute_are_declined_and_change_nothing() {
    let world = World::new();
    let planner = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![
                shell("touch sneaky.txt"),
                write("sneaky2.txt", "x\n"),
                write("${plan_path}", "# Task: A\n\n1. [ ] Write\n"),
            ],
        )
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            shell("touch sneaky3.txt"),
            shell("ls; touch sneaky4.txt"),
            write("sneaky5.txt", "x\n"),
            write("${comments_path}", "[APPROVED]\n"),
        ],
    );
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0).says("Denied: ");
    assert_eq!(world.committed(), ["new.txt"]);
    for n in ["", "2", "3", "4", "5"] {
        assert!(!world.root.join(format!("sneaky{n}.txt")).exists(), "{n}");
    }
}

/// Allows one command with a rule of the user.
const TOUCH_ONE: &str = "[[permission.rule]]\npermission = \"bash\"\npattern = \"touch by-rule.txt\"\naction = \"allow\"\n";

#[test]
fn rules_of_the_user_allow_what_they_name_and_nothing_else() {
    let mut world = World::new();
    let asked = |run: &str| serde_json::json!({ "do": "command", "run": run, "ask": "always" });
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            asked("touch by-rule.txt"),
            asked("touch by-nobody.txt"),
            asked("touch by-rule.txt && touch more.txt"),
            say("Done."),
        ],
    );
    world.config = TOUCH_ONE.to_owned();
    world.cast_claude_first(&planner, &Agent::approving());
    let unheld = [
        "-s",
        "safety.contain_agents=false",
        "--on-ask",
        "allow-rules",
    ];
    world
        .run(&[&unheld[..], &["--uncontained"]].concat())
        .ends(0);
    assert_eq!(world.committed(), ["by-rule.txt"]);
    // Without that flag nothing outside of a sandbox runs without asking.
    let mut world4 = World::new();
    world4.config = TOUCH_ONE.to_owned();
    world4.cast_claude_first(&planner, &Agent::approving());
    world4
        .run(&unheld)
        .ends(3)
        .says("Denied: touch by-rule.txt");
    // Only the user may let a call out of codex's own sandbox, and each call is asked about.
    let mut world3 = World::new();
    world3.config = TOUCH_ONE.to_owned();
    world3.cast(&planner, &Agent::approving());
    world3
        .run(&["--on-ask", "allow-rules"])
        .ends(3)
        .says("would run outside the sandbox");
    let mut world2 = World::new();
    world2.cast_claude_first(&planner, &Agent::approving());
    world2
        .run(&["-s", "safety.contain_agents=false", "--uncontained"])
        .ends(3)
        .says("no one can answer (--on-ask deny)");
}

/// The facts that each stored session of a world must have, by its kind and who it is; checks them on the way.
fn stored_sessions(world: &World) -> BTreeMap<String, Value> {
    let folder = world.root.join(".agent-collab/sessions");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("sessions").flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        let session = world.read(&format!(".agent-collab/sessions/{id}/session.json"));
        let session: Value = serde_json::from_str(&session).expect("JSON");
        assert_eq!(session["id"], id);
        assert!(session.get("parent_id").is_some(), "{session}");
        for key in ["kind", "title", "profile", "adapter"] {
            let text = session[key].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "no {key}: {session}");
        }
        let instant = |value: &Value| value.as_i64().expect("an instant");
        let (created, updated) = (instant(&session["created"]), instant(&session["updated"]));
        let messages = world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"));
        assert!(!messages.is_empty(), "{id} has no messages");
        for line in messages.lines() {
            let message: Value = serde_json::from_str(line).expect("JSON");
            let at = instant(&message["ts"]);
            assert!(created <= at && at <= updated, "{message} in {session}");
            for key in ["id", "role", "agent", "text"] {
                assert!(message[key].is_string(), "no {key}: {message}");
            }
            assert!(message["synthetic"].is_boolean(), "{message}");
        }
        let word = |key: &str| session[key].as_str().unwrap_or_default().to_owned();
        let known = format!("{} {}", word("kind"), word("profile"));
        found.insert(known, session);
    }
    found
}

fn kinds(found: &BTreeMap<String, Value>) -> Vec<&str> {
    found.keys().map(String::as_str).collect()
}

#[test]
fn each_kind_of_session_is_stored_with_its_parent_title_agent_times_and_messages() {
    let mut world = World::new();
    world.config = "[discuss]\nkeep_sessions = true\nrounds = 1\n".to_owned();
    let tool = |tool: &str, input: Value| json!({ "do": "tool", "tool": tool, "input": input });
    let stance = "It is fine.\n\n```stance\n{\"stance\": \"agree\", \"proposal\": \"yes\", \"confidence\": 0.8}\n```";
    let speaks = |agent: Agent| agent.always("[agent-collab discussion ", vec![say(stance)]);
    let planner = Agent::planning(&["Write"])
        .step(
            1,
            vec![
                tool("task", json!({ "agent": "explore", "prompt": "look" })),
                tool("group_discuss", json!({ "topic": "Is it fine?" })),
                write("a.txt", "a\n"),
                say("Wrote."),
            ],
        )
        .always("[agent-collab task explore#", vec![say("Found.")]);
    world.cast(&speaks(planner), &speaks(Agent::approving()));
    world.run(&[]).ends(0);
    let found = stored_sessions(&world);
    assert_eq!(
        kinds(&found),
        [
            "participant advocate",
            "participant critic",
            "participant moderator",
            "role plan",
            "role review",
            "task explore",
        ]
    );
    let planner = &found["role plan"]["id"];
    for (kind, session) in &found {
        let parent = if kind.starts_with("role") {
            &Value::Null
        } else {
            planner
        };
        assert_eq!(&session["parent_id"], parent, "{kind}");
    }
}

#[test]
fn what_the_user_asks_for_beside_a_run_is_stored_in_the_same_way() {
    let world = World::new();
    let agent = Agent::new().always("[agent-collab task explore#", vec![say("Found.")]);
    world.cast(&agent, &Agent::new());
    world
        .program(&["task", "--agent", "explore", "look"])
        .ends(0);
    let found = stored_sessions(&world);
    assert_eq!(kinds(&found), ["task explore"]);
    assert_eq!(found["task explore"]["parent_id"], Value::Null);
}
