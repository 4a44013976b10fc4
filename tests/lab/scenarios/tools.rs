//! Agents of both CLIs call this program's tools; another process tries to reach them and fails.

use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World, of_kind};

fn own(tool: &'static str, input: Value) -> Tool {
    Tool::Own { tool, input }
}

fn todos(statuses: &[&str]) -> Tool {
    let todo = |(at, status): (usize, &&str)| json!({"id": at.to_string(), "content": format!("part {at}"), "status": status});
    let todos: Vec<Value> = statuses.iter().enumerate().map(todo).collect();
    own("todowrite", json!({ "todos": todos }))
}

/// Tries every token that it can see at every socket that it can see, of any run, and prints the results.
/// The sockets are in the system's temporary folder if the path of the scenario's own is too long for a socket.
const INTRUDER: &str = r#"
const fs = require("node:fs"), net = require("node:net"), path = require("node:path");
const list = (folder) => { try { return fs.readdirSync(folder).map((name) => path.join(folder, name)); } catch { return []; } };
const of_users = [process.argv[2], "/tmp"].flatMap(list).filter((folder) => path.basename(folder).startsWith("agent-collab-"));
const folders = of_users.flatMap(list).flatMap(list).filter((folder) => fs.existsSync(path.join(folder, "tools")));
console.log(`the intruder sees ${folders.length} sessions;`);
for (const at of folders) for (const of of folders) {
  const who = at === of ? "own" : "other";
  let token = "";
  try { token = fs.readFileSync(path.join(of, "token"), "utf8"); } catch (error) { console.log(`${who} token: ${error.code};`); continue; }
  const stream = net.connect(path.join(at, "tools"));
  stream.on("error", (error) => console.log(`${who}: ${error.code};`));
  stream.on("data", (data) => { console.log(`${who}: ${JSON.parse(String(data).split("\n")[0]).tell};`); stream.end(); });
  stream.write(JSON.stringify({ ask: "hello", version: 2, token }) + "\n");
}
"#;

/// Adds the files of another run's session next to this one's.
fn another_run(world: &World) {
    let of_user = format!("tmp/agent-collab-{}", nix::unistd::getuid());
    let session = world.outside(&of_user).join("0123456789ab-other/session");
    std::fs::create_dir_all(&session).expect("a folder beside the run's");
    for name in ["token", "tools"] {
        std::fs::write(session.join(name), "another").expect("a file of another run");
    }
}

fn calls(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) => brain::after(
            &[
                todos(&["in_progress", "pending"]),
                todos(&["in_progress", "in_progress"]),
                own("todoread", json!({})),
            ],
            request,
        ),
        Purpose::FirstStep => brain::after(
            &[
                todos(&["completed", "completed"]),
                Tool::Shell("node ../intruder.js ../tmp".to_owned()),
            ],
            request,
        ),
        _other => brain::honest(request),
    }
}

/// One CLI has both roles, so that there are two sessions of its kind.
fn play(notes: &mut Notes, vendor: Vendor) {
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let world = World::create(&format!("tools-{}", vendor.cli()), cast, calls);
    std::fs::write(world.outside("intruder.js"), INTRUDER).expect("a script beside the repository");
    another_run(&world);
    world.configure(
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"node ../intruder.js ../tmp\"\naction = \"allow\"\n",
    );
    let outcome = world.run(&["--yes-execute", "--on-ask", "allow-rules"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let lists: Vec<Vec<&str>> = outcome
        .of_kind("todo.updated")
        .map(|event| {
            let todos = event["data"]["todos"].as_array().into_iter().flatten();
            todos.filter_map(|todo| todo["status"].as_str()).collect()
        })
        .collect();
    assert_eq!(
        lists,
        [["in_progress", "pending"], ["completed", "completed"]]
    );
    let requests = world.server.bodies(vendor);
    let last_of = |turn: &str| {
        let found = requests.iter().rfind(|body| body.contains(turn));
        found.unwrap_or_else(|| panic!("{turn} is asked of {}", vendor.cli()))
    };
    let planning = last_of("[agent-collab WRITE_PLAN]");
    assert!(
        planning.contains("todos 0, 1 are in_progress, at most one may be"),
        "{planning}"
    );
    assert_eq!(
        planning.matches("0 of 2 todos are completed").count(),
        2,
        "{planning}"
    );
    let step = last_of("[agent-collab EXECUTE step 1]");
    let (_, seen) = step
        .rsplit_once("the intruder sees ")
        .expect("the intruder ran");
    let seen = seen.split_once('"').map_or(seen, |(seen, _)| seen);
    assert!(!seen.contains("welcome"), "{seen}");
    match vendor {
        // Its sandbox shows its commands none.
        Vendor::Openai => assert!(seen.starts_with("0 sessions"), "{seen}"),
        // The kernel shows its commands only their own session, which accepts tool calls from the CLI only.
        Vendor::Anthropic => assert!(
            seen.starts_with("1 sessions") && seen.contains("own: refused"),
            "{seen}"
        ),
    }
    notes.prove(
        "has the tools of the program, for its own session alone",
        vendor,
        "yes",
    );
}

/// codex; its sandbox shows its commands no session at all.
pub fn codex(notes: &mut Notes) {
    play(notes, Vendor::Openai);
}

/// claude: the kernel shows its commands no other session, and their own session rejects them.
pub fn claude(notes: &mut Notes) {
    play(notes, Vendor::Anthropic);
}

/// Hands everything in as data, after something that does not count.
fn handing_in(request: &Request) -> Reply {
    let calls = match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) => vec![
            own("plan_exit", json!({})),
            own("plan_submit", json!({"plan": "# Task: no steps at all\n"})),
            own("plan_submit", json!({"plan": brain::plan("")})),
            own("plan_exit", json!({})),
        ],
        Purpose::Review(_) if request.prompt.contains("## Risks") => vec![own(
            "review_submit",
            json!({"verdict": "approved", "verdicts": [
                {"finding": 1, "verdict": "fixed", "detail": "the plan says \"## Risks\""}
            ]}),
        )],
        Purpose::Review(_) => {
            let finding = json!({"severity": "blocking", "place": "step 1", "text": brain::REMARK,
                    "scenario": "a step goes wrong, and nobody knows what to look at"});
            vec![
                own(
                    "review_submit",
                    json!({"verdict": "approved", "findings": [finding]}),
                ),
                own(
                    "review_submit",
                    json!({"verdict": "changes_required", "findings": [finding],
                        "threads": [{"place": "step 1", "text": "Which order?"}]}),
                ),
            ]
        }
        Purpose::Respond(_) => {
            let plan = brain::plan("\n## Risks\n- None.\n");
            let answer =
                json!({"finding": 1, "answer": "accepted", "reason": "the risks are named now"});
            vec![
                own("plan_submit", json!({"plan": plan})),
                own(
                    "plan_submit",
                    json!({"plan": plan, "answers": [answer], "threads": [{"thread": 9, "text": "x"}]}),
                ),
                own(
                    "plan_submit",
                    json!({"plan": plan, "answers": [answer], "threads": [{"thread": 1, "text": "As listed."}]}),
                ),
            ]
        }
        Purpose::FirstStep => {
            let calls = [
                own(
                    "ask_user",
                    json!({"question": "Which way?", "options": ["left", "right"], "default": "left"}),
                ),
                own("plan_enter", json!({"reason": "a part is missing"})),
                own("plan_submit", json!({"plan": brain::plan("")})),
            ];
            return brain::after(&calls, request);
        }
        Purpose::SecondStep | Purpose::Summary | Purpose::Unclear => return brain::honest(request),
    };
    match calls.get(request.n_outputs()) {
        Some(call) => Reply::call(call.clone()),
        None => Reply::text("That is all."),
    }
}

/// Plan, review and answers come as data and count; what contradicts itself does not.
fn hand_in(notes: &mut Notes, name: &str, cast: Cast) {
    let world = World::create(name, cast, handing_in);
    let outcome = world.run(&["--yes-execute", "--on-ask", "deny"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let planner = world.server.bodies(cast.planner).join("\n");
    let reviewer = world.server.bodies(cast.reviewer).join("\n");
    for told in [
        "there is no plan yet",
        "the plan has no numbered box",
        "the plan is accepted",
        "The plan is handed on",
        "no answer to finding 1",
        "there is no thread 9",
        "- reviewer: Which order?",
        "Nobody is there to ask; your default counts: left",
        "nobody is there to agree",
    ] {
        assert!(
            planner.contains(told),
            "{told} is not told to {}",
            cast.planner.cli()
        );
    }
    assert!(reviewer.contains("an approval cannot stand beside blocking or major findings"));
    assert!(reviewer.contains("the review is accepted"));
    assert!(
        reviewer.contains("- planner: As listed."),
        "the answer in the thread"
    );
    let reviews: Vec<&Value> = outcome
        .of_kind("review.committed")
        .map(|event| &event["data"]["review"])
        .collect();
    assert_eq!(reviews.len(), 2);
    assert_eq!(reviews[0]["remarks"][0]["text"], brain::REMARK);
    assert_eq!(reviews[0]["remarks"][0]["place"], "step 1");
    assert_eq!(reviews[1]["verdict"], "APPROVED");
    let answered = outcome
        .of_kind("response.committed")
        .next()
        .expect("answers");
    assert_eq!(
        answered["data"]["responses"][0]["reason"],
        "the risks are named now"
    );
    // A CLI that knows the session's tools rejects unknown ones by itself.
    let blocked = outcome.of_kind("tool.blocked");
    assert!(
        blocked
            .into_iter()
            .all(|event| event["data"]["tool"] == "plan_submit")
    );
    for vendor in [cast.planner, cast.reviewer] {
        notes.prove(
            "hands plans and reviews in as data, checked at once",
            vendor,
            "yes",
        );
    }
}

/// codex plans, claude reviews.
pub fn handed_in_usual(notes: &mut Notes) {
    hand_in(notes, "handed-in-usual", USUAL);
}

/// claude plans, codex reviews.
pub fn handed_in_swapped(notes: &mut Notes) {
    hand_in(notes, "handed-in-swapped", SWAPPED);
}

/// The executor asks twice to go back to planning, for these reasons.
const REASONS: [&str; 2] = ["a part is missing", "a step is wrong"];

fn giving_up(request: &Request) -> Reply {
    let calls = REASONS.map(|reason| own("plan_enter", json!({ "reason": reason })));
    match (
        brain::purpose_of(&request.prompt),
        calls.get(request.n_outputs()),
    ) {
        (Purpose::FirstStep, Some(call)) => Reply::call(call.clone()),
        (Purpose::FirstStep, None) => Reply::text("I plan anew."),
        _other => brain::honest(request),
    }
}

/// The user says no, and the step continues; then yes, and the plan is rewritten, reviewed and shown to the user.
fn plan_again(notes: &mut Notes, vendor: Vendor) {
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let world = World::create(&format!("again-{}", vendor.cli()), cast, giving_up);
    let name = format!("again-{}", vendor.cli());
    let mut seat = world.execute_on_the_screen(&name);
    let shot = |what: &str| format!("{name}-{what}");
    for (reason, key) in REASONS.into_iter().zip(["2", "1"]) {
        let question = format!("The planner wants to go back to planning: {reason}");
        seat.see(&shot(key), &["Planner asks", &question]);
        // The number points at the answer, Enter gives it.
        seat.type_keys(key);
        seat.press("\r", |text| !text.contains(&format!("▌  {question}")));
    }
    seat.wait_until("there is a new plan", || {
        let state = world.state();
        state["cycle"] == 2 && state["phase"] == "APPROVED"
    });
    seat.end();
    let log = world.log();
    assert_eq!(of_kind(&log, "plan.entered").count(), 1);
    let told = world.server.bodies(vendor).join("\n");
    assert!(told.contains("The user said no: you stay the executor."));
    assert!(told.contains("The user agrees: you are the planner again"));
    world.note_log(notes, &log);
    notes.prove(
        "goes back to planning by the user's word, and stays with the user's no",
        vendor,
        "yes",
    );
}

/// codex asks.
pub fn again_codex(notes: &mut Notes) {
    plan_again(notes, Vendor::Openai);
}

/// claude asks.
pub fn again_claude(notes: &mut Notes) {
    plan_again(notes, Vendor::Anthropic);
}
