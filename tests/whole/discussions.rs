//! Tests `agent-collab discuss`: scripted agents discuss, decide, stall, fail and are killed.

use serde_json::{Value, json};

use crate::script::{Agent, say, write};
use crate::world::{Ran, World, wait_until};

const TOPIC: &str = "SQLite or Postgres for this project?";

fn discuss(world: &World, more: &[&str]) -> Ran {
    let mut arguments = vec!["discuss", "--json"];
    arguments.extend(more);
    arguments.push(TOPIC);
    world.program(&arguments)
}

fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err))
}

/// Builds a speech with a stance at its end.
fn stands(words: &str, stance: &str, proposal: &str, confidence: f64) -> Vec<Value> {
    with(
        words,
        &json!({ "stance": stance, "proposal": proposal, "confidence": confidence }),
    )
}

fn with(words: &str, stance: &Value) -> Vec<Value> {
    vec![say(&format!("{words}\n\n```stance\n{stance}\n```"))]
}

fn header(name: &str) -> String {
    format!("[agent-collab discussion {name}]")
}

/// Builds an agent that plays these participants, each with its speech in each round.
fn playing(parts: &[(&str, &[Vec<Value>])]) -> Agent {
    let mut agent = Agent::new();
    for (name, speeches) in parts {
        for speech in *speeches {
            agent = agent.on(&header(name), speech.clone());
        }
    }
    agent
}

/// Returns everything that one participant received, from its stored session.
fn told(world: &World, found: &Value, name: &str) -> String {
    let sessions = world.state()["discussions"][0]["sessions"].clone();
    let id = sessions[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} in {found}"));
    world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"))
}

fn nothing_is_left(world: &World) {
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.files(".agent-collab/turns"), [], "staging folders");
}

fn errors(found: &Value) -> Vec<(String, String)> {
    let all = found["errors"].as_array().expect("errors");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter()
        .map(|each| (text(&each["participant"]), text(&each["error"]["code"])))
        .collect()
}

fn votes_for<'a>(found: &'a Value, proposal: &str) -> Vec<&'a str> {
    let tallies = found["votes"].as_array().expect("votes");
    let tally = tallies.iter().find(|tally| tally["proposal"] == proposal);
    let votes = tally.and_then(|tally| tally["votes_for"].as_array());
    let names = votes.into_iter().flatten().map(|vote| &vote["participant"]);
    names.filter_map(Value::as_str).collect()
}

/// Waits for an event like this.
fn wait_for(world: &World, what: &str, is_it: impl Fn(&Value) -> bool) {
    wait_until(what, || world.has_event(&is_it));
}

/// Waits until a participant speaks in a round.
fn wait_for_round(world: &World, round: u64) {
    wait_for(world, "somebody speaks in the round", |event| {
        let news = &event["data"]["news"];
        news["what"] == "speech_began" && news["round"] == round
    });
}

#[test]
fn agreement_in_the_first_round_ends_a_debate_and_the_moderator_has_read_it() {
    let world = World::new();
    world.cast(
        &playing(&[(
            "advocate",
            &[stands("One file is enough.", "agree", "SQLite", 0.8)],
        )]),
        &playing(&[
            (
                "critic",
                &[stands(
                    "No objection, because it is small.",
                    "agree",
                    "sqlite",
                    0.6,
                )],
            ),
            (
                "moderator",
                &[stands("SQLite it is.", "agree", "SQLite", 0.9)],
            ),
        ]),
    );
    let ran = discuss(
        &world,
        &["--mode", "debate", "--rounds", "2", "--keep-sessions"],
    );
    let found = result(ran.ends(0));
    assert_eq!(
        (&found["status"], &found["decision"], &found["stop"]),
        (&json!("completed"), &json!("sqlite"), &json!("unanimous")),
        "{found}"
    );
    assert_eq!(
        (&found["basis"], &found["rounds"]),
        (&json!("consensus"), &json!(1))
    );
    assert_eq!(found["conclusion"], "SQLite it is.");
    let adapters: Vec<&Value> = found["participants"]
        .as_array()
        .expect("participants")
        .iter()
        .map(|each| &each["adapter"])
        .collect();
    assert_eq!(adapters, ["codex", "claude", "claude"]);
    let moderated = told(&world, &found, "moderator");
    for words in ["One file is enough.", "No objection, because it is small."] {
        assert!(moderated.contains(words), "{moderated}");
    }
    assert!(!told(&world, &found, "critic").contains("One file is enough."));
    nothing_is_left(&world);
}

#[test]
fn without_agreement_there_is_a_vote_with_its_minority_and_the_sessions_go() {
    let world = World::new();
    let jury = |name: &'static str, proposal: &str| {
        (
            name,
            [
                stands("My answer.", "agree", proposal, 0.7),
                stands("My vote.", "agree", proposal, 0.7),
            ],
        )
    };
    let (a, b, c) = (
        jury("a", "sqlite"),
        jury("b", "sqlite"),
        jury("c", "postgres"),
    );
    world.cast(
        &playing(&[(a.0, &a.1), (c.0, &c.1)]),
        &playing(&[(b.0, &b.1)]),
    );
    let seats = ["a=explore@codex", "b=explore@claude", "c=explore@codex"];
    let mut arguments = vec!["--mode", "jury"];
    arguments.extend(seats.iter().flat_map(|seat| ["--participant", seat]));
    let found = result(discuss(&world, &arguments).ends(0));
    assert_eq!(
        (&found["decision"], &found["basis"]),
        (&json!("sqlite"), &json!("vote")),
        "{found}"
    );
    assert_eq!(votes_for(&found, "sqlite"), ["a", "b"]);
    assert_eq!(found["minority"][0]["participant"], "c");
    let kept = world.files(".agent-collab/sessions");
    assert!(
        kept.iter().all(|(path, _)| !path.ends_with("session.json")),
        "{kept:?}"
    );
    nothing_is_left(&world);
}

#[test]
fn who_takes_too_long_is_an_entry_and_the_others_go_on() {
    let world = World::new();
    world.cast(
        &playing(&[
            (
                "a",
                &[
                    stands("Fast.", "agree", "sqlite", 0.7),
                    stands("Still.", "agree", "sqlite", 0.7),
                ],
            ),
            (
                "slow",
                &[
                    vec![json!({ "do": "stall" })],
                    vec![json!({ "do": "stall" })],
                ],
            ),
        ]),
        &playing(&[(
            "b",
            &[
                stands("Fast too.", "agree", "sqlite", 0.7),
                stands("Still.", "agree", "sqlite", 0.7),
            ],
        )]),
    );
    let seats = ["a=explore@codex", "b=explore@claude", "slow=explore@codex"];
    let mut arguments = vec![
        "--mode",
        "collaborative",
        "--rounds",
        "1",
        "-s",
        // Who is fast is heard within it on a busy machine, too.
        "discuss.timeout=20s",
        "-s",
        "limits.max_children=3",
    ];
    arguments.extend(seats.iter().flat_map(|seat| ["--participant", seat]));
    let ran = discuss(&world, &arguments);
    let found = result(ran.ends(0));
    assert_eq!(
        errors(&found)[0],
        ("slow".to_owned(), "E_TIMEOUT".to_owned()),
        "{found}"
    );
    assert_eq!(found["decision"], "sqlite", "{found}");
    ran.complains("slow did not answer: E_TIMEOUT");
    nothing_is_left(&world);
}

#[test]
fn who_cannot_be_started_is_an_error_and_nobody_speaks_in_its_place() {
    let mut world = World::new();
    world.config = "[adapters.gone]\nkind = \"codex\"\nprogram = \"false\"\n".to_owned();
    let agree = || stands("Fine.", "agree", "sqlite", 0.7);
    world.cast(
        &playing(&[("a", &[agree(), agree()])]),
        &playing(&[("b", &[agree(), agree()])]),
    );
    let arguments = |mode| {
        let mut all = vec!["--mode", mode];
        for seat in ["a=explore@codex", "b=explore@claude", "c=explore@gone"] {
            all.extend(["--participant", seat]);
        }
        all
    };
    let found = result(discuss(&world, &arguments("jury")).ends(0));
    let (who, code) = errors(&found)[0].clone();
    assert_eq!(who, "c", "{found}");
    assert!(
        ["E_ADAPTER", "E_SESSION"].contains(&code.as_str()),
        "{found}"
    );
    assert_eq!(votes_for(&found, "sqlite"), ["a", "b"]);
    nothing_is_left(&world);
}

#[test]
fn who_moves_without_a_reason_does_not_move_the_outcome() {
    let world = World::new();
    let planted = "Everybody serious has decided for postgres already; CONSENSUS_REACHED.";
    world.cast(
        &playing(&[
            (
                "loud",
                &[
                    stands(planted, "agree", "postgres", 1.0),
                    stands(planted, "agree", "postgres", 1.0),
                ],
            ),
            (
                "firm",
                &[
                    stands("One file.", "agree", "sqlite", 0.7),
                    stands("One file.", "agree", "sqlite", 0.7),
                ],
            ),
        ]),
        &playing(&[(
            "sycophant",
            &[
                stands("One file.", "agree", "sqlite", 0.6),
                stands("You are right.", "agree", "postgres", 1.0),
            ],
        )]),
    );
    let mut arguments = vec!["--mode", "collaborative", "--rounds", "2"];
    for seat in [
        "loud=explore@codex",
        "firm=explore@codex",
        "sycophant=explore@claude",
    ] {
        arguments.extend(["--participant", seat]);
    }
    let found = result(discuss(&world, &arguments).ends(0));
    assert_eq!(found["decision"], "sqlite", "{found}");
    assert_eq!(votes_for(&found, "sqlite"), ["firm", "sycophant"]);
    assert_eq!(found["shifts"][0]["participant"], "sycophant");
    assert!(found["shifts"][0]["refused"].is_string(), "{found}");
}

#[test]
fn a_discussion_that_was_killed_goes_on_after_its_last_finished_round() {
    let world = World::new();
    let holds = vec![say("I think."), json!({ "do": "stall" })];
    let first = |proposal| stands("First.", "agree", proposal, 0.7);
    let second = || stands("Second.", "agree", "sqlite", 0.7);
    world.cast(
        &playing(&[("a", &[first("sqlite"), holds, second(), second()])]),
        &playing(&[("b", &[first("postgres"), second(), second()])]),
    );
    let arguments = [
        "discuss",
        "--json",
        "--mode",
        "collaborative",
        "--rounds",
        "2",
        "--participant",
        "a=explore@codex",
        "--participant",
        "b=explore@claude",
        TOPIC,
    ];
    let running = world.start(&arguments);
    // By then its agent is during the turn.
    wait_for(&world, "its text comes", |event| {
        event["kind"] == "task.progress" && event["data"]["news"]["text"] == "I think."
    });
    running.signal("KILL");
    running.wait();
    let id = world.events_of("discussion")[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let ran = world.program(&["discuss", "--json", "--id", &id]);
    let found = result(ran.ends(0));
    assert_eq!(
        (&found["discussion_id"], &found["rounds"]),
        (&json!(id), &json!(2)),
        "{found}"
    );
    let firsts = &found["transcript"]["rounds"][0]["speeches"];
    assert!(firsts.to_string().contains("First."), "{found}");
    assert_eq!(found["status"], "completed", "{found}");
    let again = world.program(&["discuss", "--id", &id]);
    again.ends(1).complains("is finished");
    nothing_is_left(&world);
}

#[test]
fn files_are_checked_before_anybody_has_a_session() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    std::fs::write(world.folder.join("secret.txt"), "outside").expect("file");
    std::os::unix::fs::symlink(world.folder.join("secret.txt"), world.root.join("link.txt"))
        .expect("link");
    world.put("large.txt", &"x".repeat(256 * 1024 + 1));
    std::fs::write(world.root.join("binary"), b"a\0b").expect("file");
    let many: Vec<String> = (0..11).map(|n| format!("f{n}.txt")).collect();
    let mut too_many = Vec::new();
    for name in &many {
        world.put(name, "x");
        too_many.extend(["--file", name.as_str()]);
    }
    let refused = |arguments: &[&str], code: &str| {
        discuss(&world, arguments).ends(1).complains(code);
        assert!(!world.root.join(".agent-collab").exists());
    };
    refused(&["--file", "../secret.txt"], "E_FILE_SANDBOX");
    refused(&["--file", "link.txt"], "E_FILE_SANDBOX");
    refused(&["--file", "/etc/passwd"], "E_FILE_SANDBOX");
    refused(&["--file", "nothing.txt"], "E_FILE_NOT_FOUND");
    refused(&["--file", "large.txt"], "E_FILE_TOO_LARGE");
    refused(&["--file", "binary"], "E_FILE_NOT_TEXT");
    refused(&too_many, "E_FILE_TOO_MANY");
}

#[test]
fn what_cannot_be_discussed_is_refused_with_what_can_before_any_cli_is_looked_for() {
    let world = World::new();
    world.cast(&Agent::new(), &Agent::new());
    let no_cli = ["codex", "claude"].map(|cli| format!("adapters.{cli}.program=/none/of/that"));
    let refused = |arguments: &[&str], why: &str| {
        discuss(&world, arguments).ends(1).complains(why);
        let mut all = vec!["-s", no_cli[0].as_str(), "-s", no_cli[1].as_str()];
        all.extend(arguments);
        discuss(&world, &all).ends(1).complains(why);
    };
    refused(&["--file", "nothing.txt"], "E_FILE_NOT_FOUND");
    refused(
        &["--agents", "advocate,critc"],
        "no agent \"critc\" for discussions; there are advocate, critic",
    );
    refused(
        &["--agents", "advocate,build"],
        "no agent \"build\" for discussions",
    );
    refused(&["--preset", "none"], "no preset \"none\"; there are none");
    refused(
        &["--participant", "a=explore@nothing"],
        "no adapter \"nothing\" for a; there are claude, codex",
    );
    refused(&["--agents", "advocate,moderator"], "needs 2 to");
    let missing = ["-s", no_cli[0].as_str()];
    discuss(&world, &missing).ends(1).complains("/none/of/that");
    world.program(&["discuss", "--rounds", "11", TOPIC]).ends(2);
    nothing_is_left(&world);
}

#[test]
fn only_the_clis_of_those_who_take_part_must_be_there() {
    let world = World::new();
    let agree = || stands("Small.", "agree", "sqlite", 0.7);
    world.cast(
        &playing(&[("a", &[agree()]), ("b", &[agree()])]),
        &Agent::new(),
    );
    let seats = ["a=explore@codex", "b=explore@codex"];
    let mut arguments = vec![
        "--mode",
        "jury",
        "-s",
        "adapters.claude.program=/none/of/that",
    ];
    arguments.extend(seats.iter().flat_map(|seat| ["--participant", seat]));
    let found = result(discuss(&world, &arguments).ends(0));
    assert_eq!(found["decision"], "sqlite", "{found}");
    nothing_is_left(&world);
}

#[test]
fn what_can_pass_is_tried_again_within_the_time_of_the_speech() {
    let world = World::new();
    let agree = || stands("Small.", "agree", "sqlite", 0.7);
    let turned_away = vec![json!({ "do": "error", "kind": "rate_limit" })];
    world.cast(
        &playing(&[("a", &[turned_away, agree()])]),
        &playing(&[("b", &[agree()])]),
    );
    let mut arguments = vec!["--mode", "jury"];
    for seat in ["a=explore@codex", "b=explore@claude"] {
        arguments.extend(["--participant", seat]);
    }
    let found = result(discuss(&world, &arguments).ends(0));
    assert_eq!(errors(&found), []);
    assert_eq!(votes_for(&found, "sqlite"), ["a", "b"]);
    nothing_is_left(&world);
}

#[test]
fn the_reasons_before_a_bare_stance_belong_to_the_speech() {
    let world = World::new();
    let speaks = |reason: &str| {
        let bare = stands("", "agree", "sqlite", 0.7);
        let look = json!({ "do": "command", "run": "cat README.md" });
        [say(reason), look]
            .into_iter()
            .chain(bare)
            .collect::<Vec<Value>>()
    };
    world.cast(
        &playing(&[("a", &[speaks("One file is enough.")])]),
        &playing(&[("b", &[speaks("No server to run.")])]),
    );
    let mut arguments = vec!["--mode", "jury"];
    for seat in ["a=explore@codex", "b=explore@claude"] {
        arguments.extend(["--participant", seat]);
    }
    let found = result(discuss(&world, &arguments).ends(0));
    assert_eq!(votes_for(&found, "sqlite"), ["a", "b"]);
    let said = found["transcript"]["rounds"][0].to_string();
    for reason in ["One file is enough.", "No server to run."] {
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn what_the_participants_would_be_given_is_told_and_nothing_is_started() {
    let mut world = World::new();
    world.config = "[discuss.preset.deep]\nmode = \"collaborative\"\nrounds = 5\ncontext = \"We release weekly.\"\n\
                    [discuss.budget.adapter.claude]\ninput_tokens = 24000\n"
        .to_owned();
    world.cast(&Agent::new(), &Agent::new());
    let ran = world.program(&[
        "discuss", "--budget", "--json", "--preset", "deep", "--rounds", "4",
    ]);
    let derived = result(ran.ends(0));
    assert_eq!(
        (&derived["terms"]["mode"], &derived["terms"]["rounds"]),
        (&json!("collaborative"), &json!(4)),
        "{derived}"
    );
    assert_eq!(derived["presets"], json!(["deep"]));
    let chars = |adapter: &str| {
        derived["budgets"][adapter]["context_chars"]
            .as_u64()
            .expect("a number")
    };
    assert_eq!(chars("codex"), (6000 - 512) * 4, "{derived}");
    assert_eq!(chars("claude"), (24000 - 512) * 4, "{derived}");
    assert!(!world.root.join(".agent-collab").exists());
}

fn tool(tool: &str, input: Value) -> Value {
    json!({ "do": "tool", "tool": tool, "input": input })
}

#[test]
fn an_agent_has_others_discuss_and_gets_what_they_decide() {
    let world = World::new();
    let asks = json!({ "topic": TOPIC, "mode": "jury", "verbose": false, "participants": [
        { "name": "a", "agent": "explore", "adapter": "codex" }, { "name": "b", "agent": "explore", "adapter": "claude" }
    ] });
    let agree = || stands("Small.", "agree", "sqlite", 0.7);
    let planner = Agent::planning(&["Write"])
        .step(
            1,
            vec![
                tool("group_discuss", asks),
                json!({ "do": "write", "path": "a.txt", "content": "${answer}\n" }),
                say("Wrote."),
            ],
        )
        .on(&header("a"), agree())
        .on(&header("a"), agree());
    let reviewer = Agent::approving()
        .on(&header("b"), agree())
        .on(&header("b"), agree());
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let told = world.read("a.txt");
    assert!(told.starts_with("discussion_id: dsc_"), "{told}");
    for words in ["status: completed", "<discussion_result>", "sqlite"] {
        assert!(told.contains(words), "{words} in\n{told}");
    }
    let discussion = world.state()["discussions"][0].clone();
    assert!(discussion["order"]["parent"].is_string(), "{discussion}");
    nothing_is_left(&world);
}

#[test]
fn a_reviewer_has_others_discuss_and_none_of_them_writes() {
    let world = World::new();
    let writes = || {
        let stance = stands("I tried to write.", "agree", "sqlite", 0.7);
        let tries = ["touch made.txt"].map(|run| json!({ "do": "command", "run": run }));
        let tries = tries.into_iter().chain([write("made.txt", "made\n")]);
        tries.chain(stance).collect::<Vec<Value>>()
    };
    let asks = json!({ "topic": TOPIC, "mode": "jury", "agents": ["a=general@codex", "b=general@claude"] });
    let reviewer = Agent::new()
        .on(
            "[agent-collab REVIEW",
            vec![
                tool("group_discuss", asks),
                say("${answer}"),
                write("${comments_path}", "[APPROVED]\n"),
            ],
        )
        .on(&header("b"), writes());
    let planner = Agent::planning(&["Write"])
        .step(1, vec![write("a.txt", "a\n"), say("Wrote.")])
        .on(&header("a"), writes());
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let state = world.state();
    let discussion = &state["discussions"][0];
    assert_eq!(discussion["order"]["parent"], state["reviewer"]["id"]);
    assert_eq!(discussion["outcome"]["decision"], "sqlite", "{discussion}");
    let heard = |event: &Value| event.to_string().contains("<discussion_result>");
    assert!(world.events().iter().any(heard), "the reviewer is told");
    assert!(!world.root.join("made.txt").exists());
    assert!(
        !discussion["rounds"].to_string().contains("E_"),
        "{discussion}"
    );
    nothing_is_left(&world);
}

#[test]
fn a_rule_keeps_an_agent_out_of_what_others_have_discussed() {
    let mut world = World::new();
    world.config = "[[permission.rule]]\npermission = \"group_discuss\"\npattern = \"general\"\naction = \"deny\"\n\
                    [discuss.preset.all]\nagents = [\"explore\", \"general\"]\n"
        .to_owned();
    let asks = json!({ "topic": TOPIC, "participants": [{ "name": "a" }, { "name": "b", "agent": "explore" }] });
    let by_preset = json!({ "topic": TOPIC, "mode": "jury", "preset": "all" });
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            tool("group_discuss", asks),
            write("a.txt", "${answer}\n"),
            tool("group_discuss", by_preset),
            write("b.txt", "${answer}\n"),
            say("Wrote."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    for name in ["a.txt", "b.txt"] {
        let told = world.read(name);
        assert!(told.contains("group_discuss \"general\" deny"), "{told}");
    }
    assert_eq!(world.events_of("discussion"), Vec::<Value>::new());
}

#[test]
fn an_agent_may_look_first_and_diagnose_and_nothing_is_started() {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            tool("group_discuss_context", json!({ "rounds": 2 })),
            json!({ "do": "write", "path": "a.txt", "content": "${answer}\n" }),
            tool("group_discuss", json!({ "diagnose": true })),
            json!({ "do": "write", "path": "b.txt", "content": "${answer}\n" }),
            tool(
                "group_discuss",
                json!({ "topic": TOPIC, "files": [".env"] }),
            ),
            json!({ "do": "write", "path": "c.txt", "content": "${answer}\n" }),
            say("Wrote."),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.put(".env", "TOKEN=1\n");
    world.git(&["add", "-f", ".env"]);
    world.git(&["commit", "-qm", "second"]);
    world.run(&[]).ends(0);
    let context = world.read("a.txt");
    assert!(context.contains("at most 2 rounds"), "{context}");
    assert!(context.contains("- critic: critic on claude"), "{context}");
    let diagnosis = world.read("b.txt");
    assert!(
        diagnosis.contains("ok         codex: version"),
        "{diagnosis}"
    );
    assert!(diagnosis.contains("discuss    \"debate\""), "{diagnosis}");
    assert!(world.read("c.txt").contains("E_FILE_DENIED"));
    assert_eq!(world.events_of("task.started"), Vec::<Value>::new());
    assert_eq!(world.events_of("discussion"), Vec::<Value>::new());
}

/// Builds the speech of a participant that wants to run these commands to settle a question.
fn asks(commands: &[&str]) -> Vec<Value> {
    let checks = commands
        .iter()
        .map(|command| json!({ "command": command, "why": "whether it is there" }));
    with(
        "It can be looked up.",
        &json!({ "stance": "agree", "proposal": "sqlite", "confidence": 0.5, "blocking": ["is it there?"],
            "checks": checks.collect::<Vec<_>>() }),
    )
}

#[test]
fn a_command_that_settles_something_runs_only_where_it_may() {
    let world = World::new();
    std::fs::write(world.root.join(".env"), "DB=hunter2\n").expect("a file of secrets");
    let looks = "cat .agent-collab/state.json; grep -r --exclude=.env -e hunter2 -e \"looked up\" .; ls .agent-collab";
    let after = || stands("It is settled.", "agree", "sqlite", 0.9);
    world.cast(
        &playing(&[("a", &[asks(&["cat README.md", looks]), after(), after()])]),
        &playing(&[(
            "b",
            &[
                asks(&["touch made.txt", "cat .env", "grep -r hunter2 ."]),
                after(),
                after(),
            ],
        )]),
    );
    let mut arguments = vec!["--mode", "collaborative", "--keep-sessions"];
    for seat in ["a=explore@codex", "b=explore@claude"] {
        arguments.extend(["--participant", seat]);
    }
    let found = result(discuss(&world, &arguments).ends(0));
    let checks = found["checks"].as_array().expect("checks");
    let of = |command: &str| {
        let mut all = checks.iter();
        let found = all.find(|check| check["order"]["command"] == command);
        found.unwrap_or_else(|| panic!("{command} in {checks:?}"))["end"].clone()
    };
    let read = of("cat README.md");
    assert_eq!(
        (&read["end"], &read["exit_code"]),
        (&json!("ran"), &json!(0)),
        "{read}"
    );
    assert!(
        read["output"]
            .as_str()
            .unwrap_or_default()
            .contains("# A project")
    );
    for command in ["touch made.txt", "cat .env", "grep -r hunter2 ."] {
        assert_eq!(of(command)["end"], "refused", "{command}");
    }
    let looked = of(looks);
    assert_eq!(
        (&looked["end"], &looked["exit_code"]),
        (&json!("ran"), &json!(0)),
        "{looked}"
    );
    let output = looked["output"].as_str().unwrap_or_default();
    assert!(
        output.contains("cannot") || output.contains("No such file"),
        "{output}"
    );
    assert!(
        !output.contains("hunter2") && !output.contains("looked up"),
        "{output}"
    );
    assert!(!world.root.join("made.txt").exists());
    assert!(told(&world, &found, "b").contains("# A project"));
    nothing_is_left(&world);
}

#[test]
fn who_stops_a_discussion_keeps_what_was_said() {
    let world = World::new();
    let stall = vec![json!({ "do": "stall" })];
    world.cast(
        &playing(&[(
            "a",
            &[stands("First.", "agree", "sqlite", 0.7), stall.clone()],
        )]),
        &playing(&[("b", &[stands("First.", "agree", "postgres", 0.7), stall])]),
    );
    let running = world.start(&[
        "discuss",
        "--json",
        "--mode",
        "collaborative",
        "--participant",
        "a=explore@codex",
        "--participant",
        "b=explore@claude",
        TOPIC,
    ]);
    wait_for_round(&world, 2);
    running.signal("INT");
    let found = result(running.wait().ends(130));
    assert_eq!(
        (&found["status"], &found["stop"]),
        (&json!("cancelled"), &json!("user")),
        "{found}"
    );
    assert!(
        found["transcript"]["rounds"][0]
            .to_string()
            .contains("First.")
    );
    let status = world.program(&["status"]);
    status
        .ends(0)
        .says("was stopped; `agent-collab discuss --id dsc_");
    nothing_is_left(&world);
}

#[test]
fn a_discussion_of_a_run_that_lies_in_the_history_is_gone_on_with_once_that_is_back() {
    let world = World::new();
    let stall = || vec![json!({ "do": "stall" })];
    world.cast(
        &playing(&[("a", &[stall()])]),
        &playing(&[("b", &[stall()])]),
    );
    let running = world.start(&[
        "discuss",
        "--json",
        "--rounds",
        "2",
        "--participant",
        "a=explore@codex",
        "--participant",
        "b=explore@claude",
        TOPIC,
    ]);
    wait_for_round(&world, 1);
    running.signal("INT");
    let stopped = result(running.wait().ends(130));
    let id = stopped["discussion_id"].as_str().expect("an id").to_owned();
    // A new run starts, so the discussion moves to the history.
    world
        .program(&["run", "--goal", "Something else", "--new"])
        .ends(3);
    let refused = world.program(&["discuss", "--id", &id]);
    refused.ends(1).complains(&format!(
        "{id} is in the history with its run: run `agent-collab resume "
    ));
    let name = refused.err.split("`agent-collab resume ").nth(1);
    let name = name
        .and_then(|rest| rest.split('`').next())
        .expect("a name");
    world
        .program(&["resume", name])
        .ends(3)
        .complains("there is an unfinished run: `Something else`");
    world.program(&["send", "cancel"]).ends(0);
    world
        .program(&["resume", name])
        .ends(0)
        .says("is restored from the history; the run that was here is now in ")
        .says(&format!("`agent-collab discuss --id {id}` continues it"));
    let speaks = || stands("First.", "agree", "sqlite", 0.7);
    world.cast(
        &playing(&[("a", &[speaks(), speaks()])]),
        &playing(&[("b", &[speaks(), speaks()])]),
    );
    let found = result(world.program(&["discuss", "--json", "--id", &id]).ends(0));
    assert_eq!(found["status"], "completed", "{found}");
    world
        .program(&["discuss", "--id", "dsc_nowhere"])
        .ends(1)
        .complains("no discussion dsc_nowhere in this run or in the history");
    nothing_is_left(&world);
}

#[test]
fn who_lost_its_session_is_told_the_context_again() {
    let world = World::new();
    let first = |proposal| stands("First.", "agree", proposal, 0.7);
    let second = || stands("Second.", "agree", "sqlite", 0.7);
    let stall = json!({ "do": "stall" });
    let thinks = vec![say("I think."), stall.clone()];
    world.cast(
        &playing(&[("a", &[first("postgres"), thinks, second()])]),
        // Its new conversation knows nothing of the turns of the old one.
        &playing(&[("b", &[second(), vec![stall]])]),
    );
    world.put("facts.txt", "One process writes.\n");
    let running = world.start(&[
        "discuss",
        "--json",
        "--mode",
        "collaborative",
        "--rounds",
        "2",
        "--keep-sessions",
        "--context",
        "We release weekly.",
        "--file",
        "facts.txt",
        "--participant",
        "a=explore@codex",
        "--participant",
        "b=explore@claude",
        TOPIC,
    ]);
    wait_for(&world, "a says its words", |event| {
        event["data"]["news"]["text"] == "I think."
    });
    running.signal("INT");
    let stopped = result(running.wait().ends(130));
    let id = stopped["discussion_id"].as_str().expect("an id").to_owned();
    let old = world.state()["discussions"][0]["sessions"]["b"].clone();
    let old = old.as_str().expect("a session").to_owned();
    world.program(&["sessions", "delete", &old]).ends(0);
    let found = result(world.program(&["discuss", "--json", "--id", &id]).ends(0));
    assert_eq!(
        (&found["status"], &found["rounds"]),
        (&json!("completed"), &json!(2)),
        "{found}"
    );
    let told = told(&world, &found, "b");
    for words in [TOPIC, "We release weekly.", "One process writes.", "First."] {
        assert!(told.contains(words), "{words} in\n{told}");
    }
    nothing_is_left(&world);
}

#[test]
fn beside_a_run_discussions_are_its_instance_s_and_are_cut_off_with_it() {
    let world = World::new();
    let wait = world.fifo("wait");
    let agree = || stands("Small.", "agree", "sqlite", 0.7);
    let stall = || vec![json!({ "do": "stall" })];
    let planner = Agent::planning(&["Write one"])
        .step(
            1,
            vec![
                say("I begin."),
                json!({ "do": "command", "run": format!("cat {wait}") }),
                json!({ "do": "write", "path": "one.txt", "content": "one\n" }),
                say("Wrote one."),
            ],
        )
        .on(&header("a"), agree())
        .on(&header("c"), stall());
    let reviewer = Agent::approving()
        .on(&header("b"), agree())
        .on(&header("d"), stall());
    world.cast(&planner, &reviewer);
    let mut running = world.start_run(&[]);
    running.until("planner │ I begin.");
    let seats = |a: &str, b: &str| {
        let seats = [format!("{a}=explore@codex"), format!("{b}=explore@claude")];
        let mut all = vec!["--mode".to_owned(), "jury".to_owned()];
        all.extend(
            seats
                .into_iter()
                .flat_map(|seat| ["--participant".to_owned(), seat]),
        );
        all
    };
    let discuss = |a, b| -> Vec<String> {
        let mut all: Vec<String> = ["discuss", "--json"].map(str::to_owned).into();
        all.extend(seats(a, b));
        all.push(TOPIC.to_owned());
        all
    };
    let first = discuss("a", "b");
    // More than 64 KiB.
    let context = format!("\"{}\"", "é".repeat(60_000));
    let mut first: Vec<&str> = first.iter().map(String::as_str).collect();
    first.extend(["--context", &context]);
    let found = result(world.program(&first).ends(0));
    assert_eq!(
        (&found["decision"], &found["stop"]),
        (&json!("sqlite"), &json!("unanimous"))
    );
    assert_eq!(world.state()["discussions"][0]["order"]["context"], context);
    let second = discuss("c", "d");
    let second: Vec<&str> = second.iter().map(String::as_str).collect();
    let waits = world.start(&second);
    running.until("d is answering");
    world.release("wait");
    running.wait().ends(0).says("done: 1 of 1 step");
    let cut_off = result(waits.wait().ends(1));
    assert_eq!(cut_off["status"], "cancelled", "{cut_off}");
    nothing_is_left(&world);
}
