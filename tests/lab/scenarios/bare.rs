//! Runs the CLIs against the model server without this program, which proves the server and the pinned versions.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bounded::{self, Finished};
use crate::dialogue::Dialogue;
use crate::home::Home;
use crate::leftovers::assert_none_left;
use crate::model_server::ModelServer;
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::repository::Repository;

const LIMIT: Duration = Duration::from_secs(180);

/// Writes `made.txt` with a tool that creates files, checks it with a shell command, then says goodbye.
fn make_and_look(request: &Request) -> Reply {
    match request.n_outputs() {
        0 => Reply::call(Tool::Write {
            path: "made.txt".to_owned(),
            content: "made by the model\n".to_owned(),
        }),
        1 => Reply::call(Tool::Shell("cat made.txt".to_owned())),
        _ => Reply::text(format!("goodbye after {}", request.outputs.join(" and "))),
    }
}

/// `codex exec --json` gets an answer, patches a file and runs a command.
pub fn codex_exec(notes: &mut Notes) {
    let server = ModelServer::start(make_and_look);
    let home = Home::create("bare-codex-exec", &server);
    let mut command = home.cli(Vendor::Openai);
    command
        .args([
            "exec",
            "--json",
            "--skip-git-repo-check",
            "-s",
            "workspace-write",
            "-",
        ])
        .current_dir(work(&home));
    let finished = bounded::run(command, "do it", home.root(), LIMIT);
    assert_made(&home, &finished);
    count(notes, &server, Vendor::Openai);
    notes.prove(
        "one prompt, answered by the fake server",
        Vendor::Openai,
        "yes",
    );
}

/// Checks that `codex app-server` reports its version and runs a thread and a turn with tool calls.
pub fn codex_app_server(notes: &mut Notes) {
    let server = ModelServer::start(make_and_look);
    let home = Home::create("bare-codex-app-server", &server);
    let cwd = work(&home);
    let mut command = home.cli(Vendor::Openai);
    command.arg("app-server").current_dir(&cwd);
    let mut dialogue = Dialogue::start(command, &home.root().join("stderr"), LIMIT);
    dialogue.send(&json!({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "lab", "version": "0"}}}));
    let hello = dialogue.wait_for("answer to initialize", |line| line["id"] == 1);
    let agent = hello["result"]["userAgent"]
        .as_str()
        .expect("codex tells its userAgent")
        .to_owned();
    dialogue.send(&json!({"method": "initialized"}));
    dialogue.send(&json!({"id": 2, "method": "thread/start", "params": {
        "cwd": cwd, "approvalPolicy": "on-request", "sandbox": "workspace-write",
        "config": {"projects": {cwd.to_string_lossy(): {"trust_level": "untrusted"}}}}}));
    let thread = dialogue.wait_for("answer to thread/start", |line| line["id"] == 2);
    let thread = &thread["result"]["thread"]["id"];
    dialogue.send(&json!({"id": 3, "method": "turn/start", "params": {
        "threadId": thread, "input": [{"type": "text", "text": "do it"}]}}));
    let end = dialogue.wait_for("turn/completed", |line| line["method"] == "turn/completed");
    assert_eq!(end["params"]["turn"]["status"], "completed", "{end}");
    dialogue.close();
    assert_eq!(
        fs::read_to_string(cwd.join("made.txt")).unwrap_or_default(),
        "made by the model\n"
    );
    count(notes, &server, Vendor::Openai);
    notes.versions.insert(Vendor::Openai, agent);
    assert_none_left(home.root());
}

/// `claude -p` gets an answer, writes a file and runs a command.
pub fn claude(notes: &mut Notes) {
    let server = ModelServer::start(make_and_look);
    let home = Home::create("bare-claude", &server);
    let mut command = home.cli(Vendor::Anthropic);
    command
        .args([
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "acceptEdits",
        ])
        .current_dir(work(&home));
    let finished = bounded::run(command, "do it", home.root(), LIMIT);
    assert_made(&home, &finished);
    count(notes, &server, Vendor::Anthropic);
    notes.prove(
        "one prompt, answered by the fake server",
        Vendor::Anthropic,
        "yes",
    );
}

fn work(home: &Home) -> std::path::PathBuf {
    let folder = home.root().join("work");
    fs::create_dir_all(&folder).expect("a folder to work in");
    folder
}

fn assert_made(home: &Home, finished: &Finished) {
    let lines: Vec<Value> = finished.json_lines();
    assert_eq!(
        finished.code(),
        0,
        "{}\n{}",
        bounded::tail(&finished.stdout),
        bounded::tail(&finished.stderr)
    );
    let made = fs::read_to_string(home.root().join("work/made.txt")).unwrap_or_default();
    assert_eq!(made, "made by the model\n", "{lines:#?}");
    assert!(
        finished.stdout.contains("goodbye after"),
        "{}",
        bounded::tail(&finished.stdout)
    );
}

/// Notes what the server saw of the CLI: its version and its requests.
fn count(notes: &mut Notes, server: &ModelServer, vendor: Vendor) {
    assert_eq!(
        server.strays(),
        Vec::<String>::new(),
        "the CLI asks nothing but the model"
    );
    let requests = server.requests(vendor);
    let user_agent = requests
        .first()
        .expect("the CLI asked the model")
        .user_agent
        .clone();
    notes.versions.insert(vendor, user_agent);
    *notes.n_requests.entry(vendor).or_default() += requests.len();
}

/// Fails once in each way that passes by itself, then answers.
fn stumble(request: &Request) -> Reply {
    let text = "an answer of some length, so that half of it can be lost on the way";
    match request.n {
        1 => Reply::refuse(500, "the server stumbles"),
        2 => Reply::Refuse {
            status: 429,
            headers: vec![("retry-after", "1")],
            message: "too many requests".to_owned(),
        },
        3 => Reply::Cut(text.to_owned()),
        _ => Reply::Pause(text.to_owned(), Duration::from_secs(1)),
    }
}

/// Both CLIs live through a 500, a 429, a cut stream and a pause of the model server.
pub fn stumbling_server(notes: &mut Notes) {
    let codex = ["exec", "--json", "--skip-git-repo-check", "-"];
    let claude = ["-p", "--output-format", "stream-json", "--verbose"];
    for (vendor, arguments) in [(Vendor::Openai, &codex[..]), (Vendor::Anthropic, &claude)] {
        let server = ModelServer::start(stumble);
        let home = Home::create(&format!("bare-{}-stumbling", vendor.cli()), &server);
        let mut command = home.cli(vendor);
        command.args(arguments).current_dir(work(&home));
        let finished = bounded::run(command, "hello", home.root(), LIMIT);
        assert_eq!(finished.code(), 0, "{}", bounded::tail(&finished.stdout));
        assert!(
            finished.took > Duration::from_secs(2),
            "a wait of 1 s and a pause of 1 s"
        );
        assert!(
            finished.stdout.contains("can be lost on the way"),
            "{}",
            bounded::tail(&finished.stdout)
        );
        assert_eq!(server.n_requests(vendor), 4, "three failures and an answer");
        count(notes, &server, vendor);
    }
}

/// Files with instructions, each with a word that occurs in no other text.
const CANARIES: [(&str, &str); 6] = [
    ("repository/AGENTS.md", "CANARY-AGENTS"),
    ("repository/CLAUDE.md", "CANARY-CLAUDE"),
    ("repository/.claude/CLAUDE.md", "CANARY-DOT-CLAUDE"),
    ("repository/.claude/rules/rule.md", "CANARY-RULE"),
    ("home/.codex/AGENTS.md", "CANARY-USER-CODEX"),
    ("home/.claude/CLAUDE.md", "CANARY-USER-CLAUDE"),
];

/// Runs a CLI in a repository with all these files but those left out, and lists the canaries in its requests.
fn canaries(
    notes: &mut Notes,
    name: &str,
    vendor: Vendor,
    arguments: &[&str],
    leave_out: &str,
) -> Vec<&'static str> {
    let server = ModelServer::start(|_| Reply::text("noted"));
    let home = Home::create(name, &server);
    let repository = Repository::create(&home);
    for (path, canary) in CANARIES
        .iter()
        .filter(|(path, _)| leave_out.is_empty() || !path.contains(leave_out))
    {
        let path = home.root().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for instructions");
        fs::write(path, format!("# Instructions\n\n{canary}\n")).expect("an instruction file");
    }
    let mut command = home.cli(vendor);
    command.args(arguments).current_dir(repository.root());
    let finished = bounded::run(command, "hello", home.root(), LIMIT);
    assert_eq!(finished.code(), 0, "{}", bounded::tail(&finished.stderr));
    count(notes, &server, vendor);
    let bodies = server.bodies(vendor).concat();
    CANARIES
        .iter()
        .map(|&(_, canary)| canary)
        .filter(|canary| bodies.contains(canary))
        .collect()
}

/// What switches off a CLI's own reading of the repository's instructions, and leaves the user's own alone.
const INSTRUCTIONS_OFF: &str = "its own reading of AGENTS.md and CLAUDE.md is switched off by";

/// codex reads AGENTS.md by itself; `project_doc_max_bytes=0` switches the repository's off.
pub fn codex_instructions(notes: &mut Notes) {
    let on = canaries(
        notes,
        "codex-instructions-on",
        Vendor::Openai,
        &["exec", "--json", "-"],
        "",
    );
    assert_eq!(on, ["CANARY-AGENTS", "CANARY-USER-CODEX"]);
    let quiet = ["exec", "--json", "-c", "project_doc_max_bytes=0", "-"];
    let off = canaries(notes, "codex-instructions-off", Vendor::Openai, &quiet, "");
    assert_eq!(off, ["CANARY-USER-CODEX"]);
    notes.prove(
        INSTRUCTIONS_OFF,
        Vendor::Openai,
        "`project_doc_max_bytes=0`",
    );
}

/// claude reads CLAUDE.md, else AGENTS.md, by itself; `--setting-sources user` switches the repository's off.
pub fn claude_instructions(notes: &mut Notes) {
    let plain = ["-p", "--output-format", "json"];
    let on = canaries(
        notes,
        "claude-instructions-on",
        Vendor::Anthropic,
        &plain,
        "",
    );
    assert_eq!(
        on,
        [
            "CANARY-CLAUDE",
            "CANARY-DOT-CLAUDE",
            "CANARY-RULE",
            "CANARY-USER-CLAUDE"
        ]
    );
    let alone = canaries(
        notes,
        "claude-instructions-agents",
        Vendor::Anthropic,
        &plain,
        "claude/",
    );
    assert_eq!(alone, ["CANARY-CLAUDE"]);
    let quiet = ["-p", "--output-format", "json", "--setting-sources", "user"];
    for leave_out in ["", "CLAUDE.md"] {
        let off = canaries(
            notes,
            "claude-instructions-off",
            Vendor::Anthropic,
            &quiet,
            leave_out,
        );
        assert!(
            off.iter().all(|canary| *canary == "CANARY-USER-CLAUDE"),
            "{off:?}"
        );
    }
    notes.prove(
        INSTRUCTIONS_OFF,
        Vendor::Anthropic,
        "`--setting-sources user`",
    );
}
