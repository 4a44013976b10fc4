//! codex asks before each call, even before those that its own sandbox would silently allow.

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{USUAL, World, exists};

/// What its sandbox lets codex do, and the run does not.
const READS_OUTSIDE: &str = "cat ../outside.txt";
const RULED_OUT: &str = "wc code.js";
const INTERACTIVE: &str = "bash -i";
/// What both let it do.
const IN_BOUNDS: &str = "echo made > made.txt && rm made.txt";
/// What codex prints for a call that a hook denied.
const BLOCKED: &str = "blocked by PreToolUse hook";

fn shell(command: &str) -> Tool {
    Tool::Shell(command.to_owned())
}

/// An MCP server of the user whose only tool claims to be read-only: codex alone would not ask about it.
const SERVER: &str = r#"
const fs = require("node:fs");
const lines = require("node:readline").createInterface({ input: process.stdin });
const tool = { name: "look", description: "Looks", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
lines.on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call") fs.writeFileSync(process.argv[2], "called");
  const results = {
    "initialize": { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } },
    "tools/list": { tools: [tool] },
    "tools/call": { content: [{ type: "text", text: "looked" }] },
  };
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
"#;

/// Adds the server to the user's own codex configuration.
fn serve_notes(world: &World) {
    let (script, called) = (world.outside("notes.js"), world.outside("notes-called"));
    std::fs::write(&script, SERVER).expect("the MCP server");
    let path = world.outside("home/.codex/config.toml");
    let before = std::fs::read_to_string(&path).expect("codex's own configuration");
    let server = format!(
        "{before}\n[mcp_servers.notes]\ncommand = \"node\"\nargs = [{script:?}, {called:?}]\nrequired = true\n"
    );
    std::fs::write(&path, server).expect("codex's own configuration");
}

fn ruled_out_patch() -> Tool {
    Tool::Edit {
        path: "code.test.js".to_owned(),
        old: "const test = require(\"node:test\");".to_owned(),
        new: "const test = () => {};".to_owned(),
    }
}

fn trying(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) => brain::after(&[shell(READS_OUTSIDE)], request),
        Purpose::FirstStep => brain::after(
            &[
                shell(RULED_OUT),
                ruled_out_patch(),
                shell(INTERACTIVE),
                Tool::Mcp {
                    server: "notes".to_owned(),
                    tool: "look".to_owned(),
                },
                shell(IN_BOUNDS),
            ],
            request,
        ),
        Purpose::Review(_)
        | Purpose::Respond(_)
        | Purpose::SecondStep
        | Purpose::Summary
        | Purpose::Unclear => brain::honest(request),
    }
}

/// Checks that sandboxed commands and patches are decided like all others; the run reaches its end.
pub fn codex(notes: &mut Notes) {
    let world = World::create("hooked-codex", USUAL, trying);
    world.configure(
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"wc *\"\naction = \"deny\"\n\
         [[permission.rule]]\npermission = \"edit\"\npattern = \"code.test.js\"\naction = \"deny\"\n",
    );
    serve_notes(&world);
    std::fs::write(world.outside("outside.txt"), "a secret of the user's\n")
        .expect("a file outside of the repository");
    let test = world.repository.read("code.test.js");
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let decisions = outcome.decisions();
    let decided = |part: &str| {
        let found = decisions.iter().find(|(target, _)| target.contains(part));
        found.map(|(_, allowed)| *allowed)
    };
    assert_eq!(decided(READS_OUTSIDE), Some(false), "{decisions:?}");
    assert_eq!(decided(RULED_OUT), Some(false), "{decisions:?}");
    assert_eq!(decided("code.test.js"), Some(false), "{decisions:?}");
    assert_eq!(decided(IN_BOUNDS), Some(true), "{decisions:?}");
    assert_eq!(world.repository.read("code.test.js"), test);
    assert!(!exists(&world.repository.root().join("made.txt")));
    assert!(!exists(&world.outside("notes-called")));
    let requests = world.server.bodies(Vendor::Openai);
    let last = requests
        .iter()
        .rfind(|body| body.contains("[agent-collab EXECUTE step 1]"))
        .expect("the first step is asked of codex");
    assert_eq!(last.matches(BLOCKED).count(), 5, "{last}");
    assert!(!last.contains("a secret of the user's"), "{last}");
    notes.prove(
        "asks before each call, by a hook that it trusts: commands, patches and MCP calls that it would let pass can be denied",
        Vendor::Openai,
        "yes",
    );
}
