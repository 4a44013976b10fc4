//! Tests `agent-collab agents`, and the effect of an agent's configuration in a run.

use serde_json::Value;

use crate::script::{Agent, DONE, say, write};
use crate::world::World;

/// An agent that the user configured, and a hidden one.
const OWN: &str = "[agents.docs]\ndescription = \"Writes documentation\"\nmodel = \"m-1\"\nrules = [[\"edit\", \"docs/*\", \"allow\"]]\n\
                   [agents.quiet]\nmode = \"subagent\"\nhidden = true\n";

#[test]
fn agents_are_listed_by_mode_and_shown_with_their_rules() {
    let world = World::new();
    world.put("own.toml", OWN);
    let names = |more: &[&str]| {
        let mut arguments = vec!["agents", "--config", "own.toml", "--json"];
        arguments.extend(more);
        let ran = world.program(&arguments);
        let told: Value = serde_json::from_str(&ran.ends(0).out).expect("JSON");
        let named = |agent: &Value| agent["name"].as_str().unwrap_or_default().to_owned();
        let names: Vec<String> = told.as_array().expect("agents").iter().map(named).collect();
        names.join(" ")
    };
    assert_eq!(
        names(&[]),
        "advocate build critic docs explore general moderator plan review"
    );
    assert_eq!(names(&["--mode", "primary"]), "build docs plan review");
    assert_eq!(
        names(&["--mode", "subagent"]),
        "advocate critic docs explore general moderator"
    );
    assert_eq!(names(&["quiet"]), "quiet");
    let show = |name: &str| world.program(&["agents", "--config", "own.toml", name]);
    show("docs")
        .ends(0)
        .says("Writes documentation")
        .says("m-1")
        .says("edit \"docs/*\" allow")
        .says("own.toml:4:");
    show("explore").ends(0).says("* \"*\" deny");
    show("doc")
        .ends(2)
        .complains("known agents: advocate, build")
        .complains("no agent \"doc\"");
}

/// Returns the session's agent for each message with the user role.
fn agents_of(world: &World) -> Vec<String> {
    let said = world.events_of("session.message").into_iter();
    let said = said.filter(|said| said["role"] == "planner" && said["message"]["role"] == "user");
    let agent = |said: Value| {
        said["message"]["agent"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    said.map(agent).collect()
}

#[test]
fn a_phase_puts_its_agent_on_the_session_and_the_log_says_which() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    // The goal and the plan, the synthetic message that makes it build, the step, and the summary, which reads only.
    assert_eq!(
        agents_of(&world),
        ["plan", "plan", "build", "build", "plan"]
    );
    let said = world.events_of("session.message");
    let switch = said.iter().find(|said| said["message"]["turn"].is_null());
    assert_eq!(switch.expect("the switch")["message"]["synthetic"], true);
    // The user's own text is not a text of the program.
    let own = said
        .iter()
        .filter(|said| said["message"]["role"] == "user" && said["message"]["synthetic"] == false);
    assert_eq!(own.count(), 1);
    let planner = world.state()["planner"]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let kept = world.read(&format!(".agent-collab/sessions/{planner}/messages.jsonl"));
    let first: serde_json::Value =
        serde_json::from_str(kept.lines().next().unwrap_or_default()).expect("a message");
    assert_eq!(
        (first["synthetic"].as_bool(), first["text"].as_str()),
        (Some(false), Some("A test"))
    );
    assert_eq!(world.state()["planner"]["last_user_agent"], "plan");
}

#[test]
fn an_agent_s_own_prompt_goes_out_with_its_turns_and_with_no_others() {
    let mut world = World::new();
    world.config = "[agents.build]\nprompt = \"prompts/building.md\"\n".to_owned();
    let planner = Agent::planning(&["Write"])
        .on(
            "Prefer small functions",
            vec![write("a.txt", "a\n"), say(&format!("Wrote.\n\n{DONE}"))],
        )
        .step(
            1,
            vec![
                write("b.txt", "without the prompt\n"),
                say("Wrote without the prompt."),
            ],
        );
    world.cast(&planner, &Agent::approving());
    world
        .run(&[])
        .ends(1)
        .complains("prompts/building.md, but this prompt does not exist");
    let prompts = world.folder.join("home/.config/agent-collab/prompts");
    std::fs::create_dir_all(&prompts).expect("folder");
    std::fs::write(prompts.join("building.md"), "Prefer small functions.\n").expect("prompt");
    world.run(&[]).ends(0);
    let registered = world.events_of("agents.registered");
    assert_eq!(
        registered,
        [serde_json::json!({ "agents": { "build": "primary" } })]
    );
    assert_eq!(world.read("a.txt"), "a\n");
    let raw = world.files(".agent-collab/sessions");
    let prompts: String = raw
        .iter()
        .filter(|(path, _)| path.ends_with("messages.jsonl"))
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        .collect();
    assert_eq!(prompts.matches("[agent-collab agent build]").count(), 1);
}

#[test]
fn yolo_ends_with_the_program_and_no_configuration_says_it() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    let arguments = ["run", "--goal", "A test", "--auto", "--mode", "yolo"];
    world.program(&arguments).ends(3).complains("execute");
    assert_eq!(world.state()["mode"], "yolo");
    world
        .program(&["resume", "--auto", "--yes-execute"])
        .ends(0);
    assert_eq!(world.state()["mode"], "default");
    let world = World::new();
    world.cast(&planner, &Agent::approving());
    for key in ["mode", "workflow.mode", "permission.mode", "safety.mode"] {
        let set = format!("{key}=\"yolo\"");
        let ran = world.program(&["run", "--goal", "A test", "--auto", "-s", &set]);
        assert_ne!(ran.code, 0, "{key}");
        ran.complains(key);
    }
}
