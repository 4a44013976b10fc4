//! Reads and writes the files of one session: `session.json`, `messages.jsonl` and the raw stream.
//!
//! Does not know what a message is, and writes whatever serialises; of a session it reads what [`StoredSession`] names.

use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::task::{ChildSessionKind, ChildSessionStatus, TaskResult};
use crate::domain::task_patch::TaskPatch;

use super::nofollow_fs::{self, PathKind};
use super::{
    InstanceLock, LineCleaner, RawStream, StoreError, TamperGuard, WorkdirLayout, raw_stream,
    run_archives,
};

/// The schema number of `session.json` that this version writes.
pub const SCHEMA: u64 = 1;
/// The maximum size of a `session.json` that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A session as its `session.json` describes it; what is not in the file has its default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct StoredSession {
    pub id: String,
    /// Its short name in the run, which is not in the file.
    pub name: Option<String>,
    kind: String,
    pub status: String,
    pub title: String,
    pub adapter: String,
    pub created: Option<UnixMillis>,
    updated: Option<UnixMillis>,
    /// The last task of a child session.
    pub task: StoredTask,
    /// The whole file.
    #[serde(skip)]
    pub json: Map<String, Value>,
}

/// The last task of a stored child session.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct StoredTask {
    /// The working tree of its own.
    pub tree: Option<String>,
    patch: Value,
    result: Value,
}

impl StoredSession {
    pub fn session_id(&self) -> SessionId {
        SessionId::new(&self.id)
    }

    /// Returns whether it belongs to a task or a participant; false for a role's, and for a kind of another version.
    pub fn is_child(&self) -> bool {
        parse_word::<ChildSessionKind>(&self.kind).is_some()
    }

    /// Returns the status of a child session; `None` for one of another version.
    pub fn child_status(&self) -> Option<ChildSessionStatus> {
        parse_word(&self.status)
    }
}

impl StoredTask {
    /// Returns what its changes are; `None` without changes, and for those of another version.
    pub fn patch(&self) -> Option<TaskPatch> {
        TaskPatch::deserialize(&self.patch).ok()
    }
}

fn parse_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// Loads a session's `session.json` from disk, while another process may be writing it; `None` if there is
/// none.
///
/// # Errors
/// It cannot be read, or is not the JSON of a session.
pub fn load_session(
    layout: &WorkdirLayout,
    id: &SessionId,
) -> Result<Option<StoredSession>, StoreError> {
    let path = layout.session_folder(id).join("session.json");
    let Some(json) = nofollow_fs::read_json::<Map<String, Value>>(&path, MAX_BYTES)? else {
        return Ok(None);
    };
    let stored = StoredSession::deserialize(&json);
    let stored = stored.map_err(|error| StoreError::from_json(&path, &error))?;
    Ok(Some(StoredSession { json, ..stored }))
}

/// Loads the `session.json` of every session, ordered by id; one that cannot be read is left out.
///
/// # Errors
/// The folder of the sessions cannot be listed.
pub fn list_sessions(layout: &WorkdirLayout) -> Result<Vec<StoredSession>, StoreError> {
    Ok(list_session_folders(layout)?
        .into_iter()
        .map(|(_, read)| read)
        .collect())
}

/// Loads the result of a child session's last task; `None` until it is over.
///
/// # Errors
/// The session cannot be read, or its result is not one of this version.
pub fn load_task_result(
    layout: &WorkdirLayout,
    id: &SessionId,
) -> Result<Option<TaskResult>, StoreError> {
    let stored = load_session(layout, id)?.unwrap_or_default();
    Option::deserialize(&stored.task.result)
        .map_err(|error| StoreError::from_json(&layout.session_folder(id), &error))
}

/// Returns each session folder with its `session.json`, ordered by name.
fn list_session_folders(
    layout: &WorkdirLayout,
) -> Result<Vec<(PathBuf, StoredSession)>, StoreError> {
    let folder = layout.sessions();
    if nofollow_fs::path_kind(&folder)? != PathKind::Directory {
        return Ok(Vec::new());
    }
    let failed = |e| StoreError::from_io("list", &folder, e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    let read = |name: &String| {
        let id = SessionId::new(name);
        Some((layout.session_folder(&id), load_session(layout, &id).ok()??))
    };
    Ok(names.iter().filter_map(read).collect())
}

/// Reads the messages of a session that another process may be writing: each call reads only new ones.
#[derive(Debug, Clone)]
pub struct SessionMessageReader {
    path: PathBuf,
    /// How many bytes were read.
    n_read: u64,
}

impl SessionMessageReader {
    /// Prepares to read the messages of a session of this run; reads nothing yet.
    pub fn new(layout: &WorkdirLayout, id: &SessionId) -> Self {
        Self {
            path: layout.session_folder(id).join("messages.jsonl"),
            n_read: 0,
        }
    }

    /// Reads new messages. A damaged message is left out; an incomplete one is read once it is complete.
    /// Blocks.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read_new(&mut self) -> Result<Vec<Value>, StoreError> {
        let Some(mut file) = nofollow_fs::open_read(&self.path)? else {
            return Ok(Vec::new());
        };
        let failed = |e| StoreError::from_io("read", &self.path, e);
        file.seek(SeekFrom::Start(self.n_read)).map_err(failed)?;
        let mut lines = BufReader::new(file);
        let mut messages = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let n_bytes = lines.read_until(b'\n', &mut line).map_err(failed)?;
            if line.last() != Some(&b'\n') {
                return Ok(messages);
            }
            self.n_read += n_bytes as u64;
            messages.extend(serde_json::from_slice::<Value>(&line));
        }
    }
}

/// The result of deleting old sessions.
#[derive(Debug, Default)]
pub struct PruneReport {
    /// How many were deleted.
    pub n_deleted: usize,
    /// Why others still exist.
    pub failures: Vec<StoreError>,
}

/// Deletes the sessions of tasks in archived runs that were last changed before an instant.
///
/// # Errors
/// A folder cannot be listed.
pub fn prune_archived_sessions(
    layout: &WorkdirLayout,
    _lock: &InstanceLock,
    before: UnixMillis,
) -> Result<PruneReport, StoreError> {
    let mut pruned = PruneReport::default();
    for archive in run_archives::list_archives(layout)? {
        // Use the folder that was listed: the id inside a file may be another session's.
        for (folder, session) in list_session_folders(&archive.layout)? {
            if !session.is_child() || session.updated.is_none_or(|at| at >= before) {
                continue;
            }
            match std::fs::remove_dir_all(&folder) {
                Ok(()) => pruned.n_deleted += 1,
                Err(error) => pruned
                    .failures
                    .push(StoreError::from_io("remove", &folder, error)),
            }
        }
    }
    Ok(pruned)
}

/// The files of one session, written through the guard.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    guard: TamperGuard,
    dir: PathBuf,
}

impl SessionFiles {
    /// Returns the files of a session; touches none yet.
    pub fn new(guard: &TamperGuard, id: &SessionId) -> Self {
        Self {
            guard: guard.clone(),
            dir: guard.layout().session_folder(id),
        }
    }

    fn session_path(&self) -> PathBuf {
        self.dir.join("session.json")
    }

    fn messages_path(&self) -> PathBuf {
        self.dir.join("messages.jsonl")
    }

    /// Replaces `session.json` atomically; `session` must serialise as an object without `schema`.
    pub fn save<T: Serialize>(&self, session: &T) -> Result<(), StoreError> {
        let path = self.session_path();
        let shape = |reason: String| StoreError::Unserializable {
            path: path.clone(),
            reason,
        };
        let Value::Object(fields) =
            serde_json::to_value(session).map_err(|e| shape(e.to_string()))?
        else {
            return Err(shape("the session is not an object".into()));
        };
        if fields.contains_key("schema") {
            return Err(shape("the key `schema` occurs twice".into()));
        }
        let mut whole = Map::new();
        whole.insert("schema".into(), SCHEMA.into());
        whole.extend(fields);
        let mut text = serde_json::to_vec_pretty(&whole).map_err(|e| shape(e.to_string()))?;
        text.push(b'\n');
        self.guard.replace(&path, &text)
    }

    /// Appends one message, durably.
    pub fn append_message<M: Serialize>(&self, message: &M) -> Result<(), StoreError> {
        let path = self.messages_path();
        let mut line = Vec::new();
        // An incomplete line from a crash must not swallow the message that follows it.
        if self
            .guard
            .last_byte(&path)?
            .is_some_and(|byte| byte != b'\n')
        {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, message).map_err(|e| StoreError::Unserializable {
            path: path.clone(),
            reason: e.to_string(),
        })?;
        line.push(b'\n');
        self.guard.append(&path, &line)?;
        self.guard.sync(&path)
    }

    /// Opens the raw stream, which takes at most about twice `limit` bytes; every line goes through `clean`
    /// first.
    pub fn open_raw_stream(&self, limit: u64, clean: LineCleaner) -> RawStream {
        RawStream::new(
            &self.guard,
            self.dir.join(raw_stream::RAW_FILE_NAME),
            limit,
            clean,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn a_session_and_its_messages_come_back() {
        let place = TestRepo::new();
        let id = SessionId::new("ses_a");
        let files = SessionFiles::new(&place.open_guard(), &id);
        assert_eq!(load_session(&place.layout, &id).unwrap(), None);
        files
            .save(&json!({"id": "ses_a", "status": "cut off", "kind": "of another version"}))
            .unwrap();
        let stored = load_session(&place.layout, &id).unwrap().unwrap();
        assert_eq!(stored.session_id(), id);
        assert!(!stored.is_child());
        assert_eq!(stored.child_status(), Some(ChildSessionStatus::CutOff));
        assert_eq!((stored.created, stored.task.patch()), (None, None));
        assert_eq!(stored.json["schema"], SCHEMA);
        files.append_message(&1).unwrap();
        files.append_message(&"two").unwrap();
        let told = SessionMessageReader::new(&place.layout, &id).read_new();
        assert_eq!(told.unwrap(), [Value::from(1), Value::from("two")]);
    }

    #[test]
    fn an_old_session_goes_by_its_folder_whatever_it_says_of_itself() {
        let place = TestRepo::new();
        let lock = InstanceLock::acquire(&place.layout).unwrap();
        let archive = place.layout.archived_layout("2026-11-20-done");
        for folder in ["ses_a", "a copy of ses_a"] {
            let dir = archive.session_folder(&SessionId::new(folder));
            fs::create_dir_all(&dir).unwrap();
            let old = r#"{"id":"ses_a","kind":"task","updated":1}"#;
            fs::write(dir.join("session.json"), old).unwrap();
        }
        let prune = || {
            let pruned = prune_archived_sessions(&place.layout, &lock, UnixMillis(2)).unwrap();
            (pruned.n_deleted, pruned.failures.len())
        };
        assert_eq!((prune(), prune()), ((2, 0), (0, 0)));
    }

    #[test]
    fn half_a_message_of_a_crash_spoils_only_itself() {
        let place = TestRepo::new();
        let id = SessionId::new("ses_a");
        let dir = place.layout.session_folder(&id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("messages.jsonl"), "1\n{\"te").unwrap();
        let files = SessionFiles::new(&place.open_guard(), &id);
        files.append_message(&3).unwrap();
        let told = SessionMessageReader::new(&place.layout, &id).read_new();
        assert_eq!(told.unwrap(), [Value::from(1), Value::from(3)]);
    }

    #[test]
    fn messages_are_read_on_and_half_a_one_once_it_is_whole() {
        let place = TestRepo::new();
        let id = SessionId::new("ses_a");
        let dir = place.layout.session_folder(&id);
        let mut messages = SessionMessageReader::new(&place.layout, &id);
        assert_eq!(messages.read_new().unwrap(), [Value::Null; 0]);
        fs::create_dir_all(&dir).unwrap();
        let mut written = String::new();
        let mut check = |more: &str, read: &[Value]| {
            written.push_str(more);
            fs::write(dir.join("messages.jsonl"), &written).unwrap();
            assert_eq!(messages.read_new().unwrap(), read, "{written:?}");
        };
        check("1\nno\n2\n\"t", &[Value::from(1), Value::from(2)]);
        check("", &[]);
        check("wo\"\n", &[Value::from("two")]);
    }
}
