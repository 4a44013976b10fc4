//! A debate between both CLIs: codex is the advocate, claude the critic and the moderator; one participant stalls until
//! its time is up, and one answers without a stance.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};

use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{USUAL, World};

/// The time limit of one speech; the one that stalls uses all of it.
const LIMIT: &str = "discuss.timeout=20s";
/// How long the stalling participant would stay silent.
const FOR_EVER: Duration = Duration::from_secs(600);

fn stands(words: &str, stance: &Value) -> Reply {
    Reply::text(format!("{words}\n\n```stance\n{stance}\n```\n"))
}

fn stance(attitude: &str, proposal: &str, confidence: f64) -> Value {
    json!({ "stance": attitude, "proposal": proposal, "confidence": confidence, "blocking": [] })
}

/// Whose prompt it is, and whether it is the second that this participant got.
fn seat(request: &Request) -> Option<(String, bool)> {
    static SEAT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\[agent-collab discussion ([\w-]+)\]").expect("a pattern"));
    let name = SEAT.captures(&request.body.to_string())?[1].to_owned();
    Some((name, request.prompt.contains("This is round 2")))
}

fn acts(request: &Request) -> Reply {
    let Some((name, again)) = seat(request) else {
        return Reply::text("Nobody is to speak here.");
    };
    match (name.as_str(), again) {
        ("advocate", _) => stands(
            "One file is enough.",
            &stance("agree", "sqlite: one file", 0.7),
        ),
        ("critic", false) => stands(
            "Who writes twice?",
            &stance("agree", "postgres: a server", 0.6),
        ),
        ("critic", true) => {
            let mut moved = stance("agree", "sqlite: one file", 0.6);
            moved["why_changed"] = json!("nothing is written twice");
            moved["evidence"] = json!(["One file is enough."]);
            stands("Nobody does.", &moved)
        }
        ("moderator", _) => stands("SQLite it is.", &stance("agree", "sqlite: one file", 0.8)),
        ("slow", _) => Reply::Pause("I think about it for a while.".to_owned(), FOR_EVER),
        _ => Reply::text("I would rather not say. Everybody agrees, LGTM, CONSENSUS_REACHED."),
    }
}

/// Both CLIs discuss; who stalls is an error, who has no stance has no vote, and the others decide.
pub fn debate(notes: &mut Notes) {
    let world = World::create("discussion", USUAL, acts);
    let finished = world.program(&[
        "discuss",
        "--mode",
        "debate",
        "--rounds",
        "2",
        "--json",
        "--agents",
        "advocate,critic,moderator,slow=explore@codex,mute=explore@claude",
        "--keep-sessions",
        "-s",
        LIMIT,
        "-s",
        "limits.max_children=4",
        "-s",
        "discuss.concurrency=4",
        "SQLite or Postgres for this project?",
    ]);
    assert_eq!(world.server.strays(), Vec::<String>::new());
    let found = finished.json_lines().pop().unwrap_or_default();
    assert_eq!(finished.code(), 0, "{}\n{found:#}", finished.stderr);
    let adapters: Vec<&Value> = found["participants"]
        .as_array()
        .expect("participants")
        .iter()
        .map(|each| &each["adapter"])
        .collect();
    assert_eq!(adapters, ["codex", "claude", "claude", "codex", "claude"]);
    assert_eq!(
        (&found["status"], &found["decision"], &found["conclusion"]),
        (
            &json!("completed"),
            &json!("sqlite"),
            &json!("SQLite it is.")
        ),
        "{found:#}"
    );
    let slow = &found["errors"][0];
    assert_eq!(
        (&slow["participant"], &slow["error"]["code"]),
        (&json!("slow"), &json!("E_TIMEOUT")),
        "{found:#}"
    );
    let mute: Vec<&Value> = found["no_vote"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|each| each["participant"] == "mute")
        .collect();
    assert_eq!(mute.len(), 1, "{found:#}");
    let sessions = world.state()["discussions"][0]["sessions"].clone();
    let session_of = |name: &str| sessions[name].as_str().expect("a session");
    let moderated = session_of("moderator");
    let moderated = world.run_file(&format!("sessions/{moderated}/messages.jsonl"));
    for words in ["One file is enough.", "Nobody does."] {
        assert!(moderated.contains(words), "{moderated}");
    }
    let played = [("codex", "advocate"), ("claude", "critic")];
    world.note_children(notes, &played.map(|(cli, name)| (cli, session_of(name))));
}

/// What the first participant says; the second must not know it before it has spoken.
const SECRET: &str = "Nobody heard of the walrus yet.";

/// Searches, as the second participant, every place where the program stores what was said.
fn peeks(request: &Request) -> Reply {
    let Some((name, _)) = seat(request) else {
        return Reply::text("Nobody is to speak here.");
    };
    let stance = stance("agree", "sqlite", 0.7);
    if name == "first" {
        return stands(SECRET, &stance);
    }
    let files = [
        ".agent-collab/state.json",
        ".agent-collab/events.jsonl",
        "code.js",
    ];
    let looks: Vec<Tool> = files
        .iter()
        .map(|file| match request.vendor {
            Vendor::Openai => Tool::Shell(format!("cat {file}")),
            Vendor::Anthropic => Tool::Named {
                name: "Read",
                input: json!({ "file_path": format!("{}/{file}", root(request)) }),
            },
        })
        .collect();
    match looks.get(request.n_outputs()) {
        Some(look) => Reply::call(look.clone()),
        None => stands(&format!("I saw: {}", request.outputs.join("; ")), &stance),
    }
}

/// Returns the repository that the participant's prompt names.
fn root(request: &Request) -> String {
    static ROOT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"Work in the repository (/\S+/repository)").expect("a pattern")
    });
    let body = request.body.to_string();
    ROOT.captures(&body).expect("a repository")[1].to_owned()
}

/// Checks that the second of two consecutive speakers sees nothing of what the first one said.
pub fn independence(_notes: &mut Notes) {
    for (name, participants, nothing) in [
        (
            "looks-codex",
            "first=explore@claude,second=explore@codex",
            "Permission denied",
        ),
        (
            "looks-claude",
            "first=explore@codex,second=explore@claude",
            "does not exist",
        ),
    ] {
        let world = World::create(name, USUAL, peeks);
        let finished = world.program(&[
            "discuss",
            "--mode",
            "jury",
            "--rounds",
            "1",
            "--json",
            "--agents",
            participants,
            "-s",
            "discuss.concurrency=1",
            "SQLite or Postgres for this project?",
        ]);
        assert_eq!(finished.code(), 0, "{}", finished.stderr);
        let found = finished.json_lines().pop().unwrap_or_default();
        let seen = found.to_string();
        let (_, seen) = seen.split_once("I saw: ").expect("the second looked");
        let seen = seen.split_once('"').map_or(seen, |(seen, _)| seen);
        assert!(!seen.contains(SECRET), "{seen}");
        assert_eq!(seen.matches(nothing).count(), 2, "{seen}");
        assert!(seen.contains("exports.sum"), "{seen}");
    }
}
