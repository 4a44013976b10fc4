//! Tests of each sink, with what it may contain and what it may not.

use serde_json::Value;

use super::*;

/// Returns a token in GitHub's format, assembled so that no scanner takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

const PLAIN: LogContent = LogContent {
    level: LevelFilter::DEBUG,
    prompts: PromptLines::LeftOut,
    metadata: LogMetadata::Kept,
};

/// Returns the content of a text file and a JSON file after a few events.
fn written(content: LogContent) -> (String, Vec<Value>) {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["debug.log", "debug.jsonl"].map(|name| dir.path().join(name));
    let sinks = [
        LogSink::TextFile(paths[0].clone()),
        LogSink::JsonFile(paths[1].clone()),
    ];
    let (layers, log) = open_debug_log(&sinks, 10_000_000, content).unwrap();
    let subscriber = tracing_subscriber::registry().with(layers);
    tracing::subscriber::with_default(subscriber, || {
        let secret = secret();
        tracing::debug!(target: "agent_collab::engine", n = 3, token = %secret, "login {secret}\nnext");
        tracing::trace!(target: "agent_collab::engine", "too fine");
        tracing::info!(target: PROMPT_TARGET, prompt = %format!("say {secret}"), "a prompt goes out");
        tracing::info!(target: "hyper", "a library");
    });
    drop(log);
    let [text, lines] = paths.map(|path| fs::read_to_string(path).unwrap());
    for sink in [&text, &lines] {
        assert!(!sink.contains(&secret()), "{sink}");
    }
    let lines = lines.lines();
    let entries = lines.map(|line| serde_json::from_str(line).unwrap());
    (text, entries.collect())
}

#[test]
fn each_sink_is_redacted_and_holds_no_prompts_unless_they_are_wanted() {
    let (text, entries) = written(PLAIN);
    assert_eq!((text.lines().count(), entries.len()), (1, 1), "{text}");
    let is_redacted = text.contains("login [redacted") && text.contains("next");
    assert!(is_redacted, "{text}");
    let (text, entries) = written(LogContent {
        prompts: PromptLines::Kept,
        ..PLAIN
    });
    assert_eq!((text.lines().count(), entries.len()), (2, 2), "{text}");
    assert!(text.contains("say [redacted"), "{text}");
    let prompt = entries[1]["fields"]["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("say [redacted"), "{prompt}");
}

#[test]
fn an_entry_holds_its_fields_and_who_wrote_it_unless_metadata_is_left_out() {
    let (text, entries) = written(PLAIN);
    assert!(
        text.contains("DEBUG agent_collab::engine: login") && text.contains("n=3"),
        "{text}"
    );
    assert_eq!(entries[0]["level"], "DEBUG");
    assert_eq!(entries[0]["target"], "agent_collab::engine");
    assert_eq!(entries[0]["fields"]["n"], 3);
    let (text, entries) = written(LogContent {
        metadata: LogMetadata::LeftOut,
        ..PLAIN
    });
    assert!(
        text.contains("DEBUG login") && !text.contains("n=3") && !text.contains("engine"),
        "{text}"
    );
    let members: Vec<&String> = entries[0].as_object().unwrap().keys().collect();
    assert_eq!(members, ["time", "level", "message"]);
}

#[test]
fn prompts_that_are_wanted_are_written_without_other_metadata_too() {
    let (text, entries) = written(LogContent {
        prompts: PromptLines::Kept,
        metadata: LogMetadata::LeftOut,
        ..PLAIN
    });
    assert!(text.contains("say [redacted"), "{text}");
    assert!(!text.contains("n=3"), "{text}");
    assert!(entries[1]["fields"]["prompt"].is_string(), "{entries:?}");
}

#[test]
fn what_could_not_be_written_is_told_and_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let root = home.join("repository");
    fs::create_dir(&root).unwrap();
    let check = |path: PathBuf| match check_user_log_file(&path, &root) {
        Ok(()) => "fine".to_owned(),
        Err(error) => error.to_string().replace(&home.display().to_string(), "~"),
    };
    assert_eq!(check(home.join("log.jsonl")), "fine");
    assert!(!home.join("log.jsonl").exists(), "looking makes nothing");
    assert_eq!(
        check(home.join("repository/log.jsonl")),
        "~/repository/log.jsonl is inside the repository ~/repository"
    );
    assert_eq!(
        check(home.join("none/log.jsonl")),
        "cannot access ~/none: No such file or directory (os error 2)"
    );
    fs::create_dir(home.join("folder")).unwrap();
    assert_eq!(
        check(home.join("folder")),
        "~/folder is a directory, expected a regular file"
    );
}
