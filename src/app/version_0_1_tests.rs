//! Tests that the files that version 0.1 wrote still load: runs, sessions, the user's configuration and decisions.
//!
//! The files are in `tests/fixtures/version_0_1/` and are never changed. Two are runs as scripted agents played them,
//! one headless and one on the screen; `other_events.jsonl` has the events that they lack. A new variant of an event
//! that is stored gets its line in the fixtures of the version that introduces it, and its name in `ADDED_LATER`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::app::export::{ExportPage, html, markdown};
use crate::app::startup::RunTreeReader;
use crate::config::{ConfigFlags, TrustStore, UserDirs, config_display};
use crate::domain::discussion::{DiscussionEvent, GroupDiscussion};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::DiscussionId;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::Run;
use crate::domain::session::Message;
use crate::engine::run_journal::RunJournal;
use crate::engine::stored_run::{StoredRun, load_run};
use crate::store::approval_store::ApprovalStore;
use crate::store::event_log::EventLogReader;
use crate::store::input_history_file::InputHistoryFile;
use crate::store::session_files::{SessionMessageReader, list_sessions};
use crate::store::{
    EventLogRecord, TamperGuard, WorkdirLayout, WorkdirNames, discussion_files, run_archives,
    state_snapshot,
};
use crate::tui::{Screen, ScreenSettings};

/// The runs, as folders of the fixtures. The history of the first one has another run.
const RUNS: [&str; 2] = ["headless_run", "screen_run"];
/// Kinds of events, questions, answers and so on that version 0.1 did not have.
const ADDED_LATER: [&str; 22] = [
    "approval.checked",
    "approval_changed",
    "receipts.added",
    "step.proved",
    "unproven",
    "out_of_scope",
    "waive_proof",
    "execute_by_flag",
    "step.amended",
    "step.skipped",
    "amend_step",
    "replan_step",
    "red_baseline",
    "fix_first",
    "disputes.judged",
    "review.opened",
    "dispute",
    "decide_dispute",
    "threads.changed",
    "threads.written",
    "thread.resolved",
    "send_notes",
];

/// The keys of the configuration that version 0.1 did not have.
const KEYS_ADDED_LATER: [&str; 11] = [
    "commit.notes",
    "commit.trailers",
    "screen.linear",
    "screen.prompt",
    "test.carry",
    "test.command",
    "test.env",
    "test.paths",
    "test.proof",
    "test.setup",
    "workflow.bind_versions",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version_0_1")
}

fn layout_of(run: &str) -> WorkdirLayout {
    let names = WorkdirNames {
        workdir: run.into(),
        ..WorkdirNames::default()
    };
    WorkdirLayout::new(&fixtures(), names).unwrap()
}

/// All logs of the fixtures.
fn logs() -> Vec<PathBuf> {
    let mut logs = vec![fixtures().join("other_events.jsonl")];
    for run in RUNS {
        let layout = layout_of(run);
        logs.push(layout.events());
        let archives = run_archives::list_archives(&layout).unwrap();
        logs.extend(archives.iter().map(|archive| archive.layout.events()));
    }
    logs
}

fn read_records(log: &Path) -> Vec<EventLogRecord<Event>> {
    let mut records = Vec::new();
    EventLogReader::from_start(log)
        .read_all(|record| records.push(record))
        .unwrap_or_else(|error| panic!("{}: {error}", log.display()));
    records
}

fn fold_records(records: &[EventLogRecord<Event>]) -> Run {
    let folded = records.iter().fold(None, |run, record| {
        Run::replay_event(run, record.at, &record.event)
    });
    folded.unwrap()
}

/// Returns the names of all variants of a tagged type, as serde lists them in its error.
fn variant_names<T: DeserializeOwned>(tag: &str) -> BTreeSet<String> {
    let error = match serde_json::from_value::<T>(json!({ tag: "?" })) {
        Ok(_) => panic!("`?` is a variant"),
        Err(error) => error.to_string(),
    };
    let (_, names) = error.split_once("expected one of ").unwrap();
    let names = names.split(", ").map(|name| name.trim_matches('`'));
    names.map(str::to_owned).collect()
}

/// Returns the values of `tag` in all objects below a value that have it.
fn add_tags(value: &Value, tag: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            let name = fields.get(tag).and_then(Value::as_str);
            found.extend(name.map(str::to_owned));
            fields
                .values()
                .for_each(|value| add_tags(value, tag, found));
        }
        Value::Array(values) => values.iter().for_each(|value| add_tags(value, tag, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn each_line_is_a_known_event_and_is_written_the_same_again() {
    for log in logs() {
        let text = fs::read_to_string(&log).unwrap();
        let records = read_records(&log);
        assert_eq!(records.len(), text.lines().count() - 1, "{}", log.display());
        for (record, line) in records.iter().zip(text.lines().skip(1)) {
            let again: Value = serde_json::from_str(&record.to_line().unwrap()).unwrap();
            let before: Value = serde_json::from_str(line).unwrap();
            assert_eq!(again, before);
        }
    }
}

#[test]
fn no_variant_is_without_a_line() {
    let mut lines = Vec::new();
    for log in logs() {
        let text = fs::read_to_string(&log).unwrap();
        lines.extend(
            text.lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap()),
        );
    }
    let check = |tag: &str, all: BTreeSet<String>| {
        let mut found = BTreeSet::new();
        lines
            .iter()
            .for_each(|line| add_tags(line, tag, &mut found));
        let is_missing =
            |name: &&String| !found.contains(*name) && !ADDED_LATER.contains(&name.as_str());
        let missing: Vec<&String> = all.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "no fixture has the {tag} {missing:?}");
    };
    check("kind", variant_names::<Event>("kind"));
    check("about", variant_names::<QuestionKind>("about"));
    check("answer", variant_names::<QuestionAnswer>("answer"));
    check("news", variant_names::<AgentActivity>("news"));
    check("what", variant_names::<DiscussionEvent>("what"));
}

#[test]
fn the_fold_of_a_log_is_its_snapshot() {
    for run in RUNS {
        let layout = layout_of(run);
        let folded = fold_records(&read_records(&layout.events()));
        let snapshot = state_snapshot::load_snapshot::<Run>(&layout)
            .unwrap()
            .unwrap();
        assert_eq!(folded.state(), snapshot.state.state());
        // Nothing of the state is lost on the way through its type.
        let mut stored: Value = serde_json::from_str(&in_words_of_today(&layout)).unwrap();
        let fields = stored.as_object_mut().unwrap();
        assert_eq!(fields.remove("schema"), Some(json!(1)));
        assert_eq!(fields.remove("last_seq"), Some(json!(snapshot.last_seq)));
        assert_eq!(serde_json::to_value(&folded).unwrap(), stored);
    }
}

/// Returns a snapshot with the names that the states of findings have today.
fn in_words_of_today(layout: &WorkdirLayout) -> String {
    fs::read_to_string(layout.state())
        .unwrap()
        .replace("settled_by_review", "fixed")
        .replace("settled_by_user", "decided_by_user")
}

#[test]
fn each_reader_of_a_run_comes_to_the_same_state() {
    for run in RUNS {
        let layout = layout_of(run);
        let folded = fold_records(&read_records(&layout.events()));
        let loaded = load_run(&layout).unwrap().unwrap();
        assert_eq!(loaded.state(), folded.state());
        let mut follower = StoredRun::from_log_end(layout.clone());
        let followed = follower.read_new().state.unwrap();
        assert_eq!(&followed, folded.state());
        // Reopening writes, so it works on a copy.
        let folder = tempfile::tempdir().unwrap();
        let copy = WorkdirLayout::new(folder.path(), WorkdirNames::default()).unwrap();
        let _ = copy.create().unwrap();
        fs::copy(layout.events(), copy.events()).unwrap();
        fs::copy(layout.state(), copy.state()).unwrap();
        let side = tempfile::tempdir().unwrap();
        let guard = TamperGuard::open(&copy, side.path()).unwrap();
        let mut journal = RunJournal::reopen(guard).unwrap().unwrap();
        assert_eq!(journal.state(), folded.state());
        assert!(journal.take_repair_notices().is_empty());
        assert_eq!(
            fs::read_to_string(copy.state()).unwrap(),
            in_words_of_today(&layout)
        );
    }
}

#[test]
fn sessions_messages_and_discussions_load() {
    let (mut n_messages, mut n_discussions) = (0, 0);
    for run in RUNS {
        let layout = layout_of(run);
        let sessions = list_sessions(&layout).unwrap();
        assert_eq!(
            sessions.len(),
            fs::read_dir(layout.sessions()).unwrap().count()
        );
        for session in sessions {
            let id = session.session_id();
            let messages = SessionMessageReader::new(&layout, &id).read_new().unwrap();
            n_messages += messages.len();
            for stored in messages {
                // A message of a task's session has no type of its own; it is shown as it is.
                assert!(stored["role"].is_string() && stored["text"].is_string());
                if !session.is_child() {
                    let message: Message = serde_json::from_value(stored.clone()).unwrap();
                    assert_eq!(serde_json::to_value(&message).unwrap(), stored);
                }
            }
        }
        for entry in fs::read_dir(layout.discussions()).into_iter().flatten() {
            let path = entry.unwrap().path();
            let id = DiscussionId::new(path.file_stem().unwrap().to_str().unwrap());
            let loaded = discussion_files::load_discussion(&layout, &id)
                .unwrap()
                .unwrap();
            let mut stored: Value =
                serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            assert_eq!(
                stored.as_object_mut().unwrap().remove("schema"),
                Some(json!(1))
            );
            assert_eq!(
                serde_json::to_value::<GroupDiscussion>(loaded).unwrap(),
                stored
            );
            n_discussions += 1;
        }
    }
    assert!(
        n_messages > 50 && n_discussions == 1,
        "{n_messages} {n_discussions}"
    );
}

#[test]
fn each_event_is_drawn_on_a_screen() {
    for log in logs() {
        let mut screen = Screen::new(ScreenSettings::default());
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
        let mut run = None;
        for record in read_records(&log) {
            run = Run::replay_event(run, record.at, &record.event);
            let state = run.as_ref().map(Run::state);
            screen.on_event(record.at, &record.event);
            terminal
                .draw(|frame| screen.draw(frame, state, record.at))
                .unwrap();
        }
        let drawn = terminal.backend().to_string();
        assert!(
            drawn.contains("Chat") && drawn.contains("Status"),
            "{drawn}"
        );
    }
}

#[tokio::test]
async fn a_run_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let ground = RunTreeReader {
        root: fixtures(),
        repository: None,
        places: UserDirs::under(folder.path()),
    };
    for run in RUNS {
        let page = ExportPage::load(layout_of(run), &ground).await.unwrap();
        assert_eq!(page.problem, None);
        let title = page.state.goal.as_ref().unwrap().title.clone();
        assert!(markdown::render_page(&page).contains(&title));
        assert!(html::render_page(&page).contains(&title));
        assert!(page.sections.len() > 10 && !page.turns.is_empty());
    }
}

#[test]
fn the_configuration_says_what_it_said() {
    let folder = tempfile::tempdir().unwrap();
    let places = UserDirs::under(folder.path());
    let root = folder.path().join("project");
    let prompts = places.config_dir.join("prompts");
    fs::create_dir_all(&prompts).unwrap();
    fs::create_dir_all(&root).unwrap();
    let user = fixtures().join("user");
    fs::copy(user.join("config.toml"), places.global_config()).unwrap();
    fs::copy(user.join("prompts/docs.md"), prompts.join("docs.md")).unwrap();
    let loaded = crate::config::load(&places, &root, &ConfigFlags::default()).unwrap();
    let notices: Vec<&str> = loaded.notices.iter().map(|n| n.what.as_str()).collect();
    assert!(notices.len() == 1 && notices[0].starts_with("workflow.stall_limit has no effect"));
    let place = places.global_config().display().to_string();
    let shown = config_display::to_json(&loaded).to_string();
    let shown = shown.replace(&place, "/home/user/.config/agent-collab/config.toml");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let before = fs::read_to_string(user.join("config_values.json")).unwrap();
    let mut before: Value = serde_json::from_str(&before).unwrap();
    let values = before["values"].as_object_mut().unwrap();
    assert!(values.remove("workflow.stall_limit").is_some());
    for (key, value) in shown["values"].as_object().unwrap() {
        if KEYS_ADDED_LATER.contains(&key.as_str()) {
            assert_eq!(value["layer"], "default", "{key}");
            values.insert(key.clone(), value.clone());
        }
    }
    before["notices"] = shown["notices"].clone();
    assert_eq!(shown, before);
}

#[test]
fn the_users_decisions_and_texts_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let places = UserDirs::under(folder.path());
    let (user, root) = (fixtures().join("user"), Path::new("/home/user/project"));
    fs::create_dir_all(places.approvals_dir()).unwrap();
    fs::create_dir_all(places.input_history_dir()).unwrap();
    fs::copy(user.join("trust.json"), places.trust_file()).unwrap();
    let trusted = TrustStore::new(&places).list().unwrap();
    assert_eq!(trusted.len(), 1);
    assert_eq!(trusted[0].root, root);
    let approvals = ApprovalStore::new(&places.approvals_dir(), root);
    fs::copy(user.join("approvals.json"), approvals.file()).unwrap();
    let approvals = approvals.list().unwrap();
    let texts = approvals.iter().map(|record| record.approved.what.as_str());
    assert_eq!(texts.collect::<Vec<_>>(), ["touch two", "touch three"]);
    let name = ApprovalStore::new(&places.input_history_dir(), root);
    fs::copy(user.join("input_history.json"), name.file()).unwrap();
    let texts = InputHistoryFile::new(&places.input_history_dir(), root).load();
    assert_eq!(texts.unwrap()[0], "A test");
}
