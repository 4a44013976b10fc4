//! The tools of the program, called by the agents of both CLIs; and what another process gets out of the way to them.

use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, World};

fn own(tool: &'static str, input: Value) -> Tool {
    Tool::Own { tool, input }
}

fn todos(statuses: &[&str]) -> Tool {
    let todo = |(at, status): (usize, &&str)| json!({"id": at.to_string(), "content": format!("part {at}"), "status": status});
    let todos: Vec<Value> = statuses.iter().enumerate().map(todo).collect();
    own("todowrite", json!({ "todos": todos }))
}

/// Tries every token that it can see at every socket that it can see, and prints what became of it.
const INTRUDER: &str = r#"
const fs = require("node:fs"), net = require("node:net"), path = require("node:path");
const tmp = process.argv[2];
const folders = fs.readdirSync(tmp).filter((name) => name.startsWith("agent-collab-")).flatMap((name) => {
  const of_run = path.join(tmp, name);
  try { return fs.readdirSync(of_run).map((session) => path.join(of_run, session)); } catch { return []; }
}).filter((folder) => fs.existsSync(path.join(folder, "tools")));
console.log(`the intruder sees ${folders.length} sessions;`);
for (const at of folders) for (const of of folders) {
  const who = at === of ? "own" : "other";
  let token = "";
  try { token = fs.readFileSync(path.join(of, "token"), "utf8"); } catch (error) { console.log(`${who} token: ${error.code};`); continue; }
  const stream = net.connect(path.join(at, "tools"));
  stream.on("error", (error) => console.log(`${who}: ${error.code};`));
  stream.on("data", (data) => { console.log(`${who}: ${JSON.parse(String(data).split("\\n")[0]).tell};`); stream.end(); });
  stream.write(JSON.stringify({ ask: "hello", version: 1, token }) + "\\n");
}
"#;

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
    assert!(!seen.contains("other: welcome"), "{seen}");
    match vendor {
        // Its commands have no sockets.
        Vendor::Openai => assert!(
            !seen.contains("welcome") && seen.contains("EPERM"),
            "{seen}"
        ),
        // The kernel shows its commands their own session, whose tools it may call anyway.
        Vendor::Anthropic => assert!(seen.starts_with("1 sessions"), "{seen}"),
    }
    notes.prove(
        "has the tools of the program, for its own session alone",
        vendor,
        "yes",
    );
}

/// codex; its commands have no sockets.
pub fn codex(notes: &mut Notes) {
    play(notes, Vendor::Openai);
}

/// claude; the kernel shows its commands no other session.
pub fn claude(notes: &mut Notes) {
    play(notes, Vendor::Anthropic);
}
