//! Reads and writes the snapshot `state.json`: the whole state of the run after one numbered event.
//!
//! A snapshot never covers events that are not durable: only [`commit_snapshot`] writes one, and it syncs the
//! log first.

use std::path::PathBuf;

use memchr::memmem;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{EventLog, StoreError, WorkdirLayout, atomic_file, nofollow_fs, utc_time};

/// The schema number of the snapshot that this version writes.
pub const SCHEMA: u64 = 1;
/// The maximum size of a snapshot that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A state that was loaded from disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateSnapshot<T> {
    /// The number of the last event that the state contains.
    pub last_seq: u64,
    pub state: T,
}

/// What the file has.
#[derive(Serialize)]
struct SnapshotFile<'a, T: Serialize> {
    schema: u64,
    last_seq: u64,
    #[serde(flatten)]
    state: &'a T,
}

/// Makes the log durable and then replaces the snapshot by one that covers it.
///
/// `state` must serialise as an object without the keys `schema` and `last_seq`, which are added. The log is
/// borrowed mutably, so nothing can be appended between the two steps.
pub fn commit_snapshot<E, T: Serialize>(
    log: &mut EventLog<E>,
    state: &T,
) -> Result<(), StoreError> {
    let path = log.guard().layout().state();
    let shape = |reason: String| StoreError::Unserializable {
        path: path.clone(),
        reason,
    };
    let whole = SnapshotFile {
        schema: SCHEMA,
        last_seq: log.last_seq(),
        state,
    };
    let mut text = serde_json::to_vec_pretty(&whole).map_err(|e| shape(e.to_string()))?;
    for key in ["schema", "last_seq"] {
        // A line break in a string is escaped, so only members of the whole object begin like this.
        let member = format!("\n  \"{key}\": ");
        if memmem::find_iter(&text, &member).count() > 1 {
            return Err(shape(format!("the key {key} occurs twice")));
        }
    }
    text.push(b'\n');
    log.sync()?;
    log.guard().replace(&path, &text)
}

/// Loads the snapshot; `None` if there is none. Changes nothing, whatever it finds.
pub fn load_snapshot<T: DeserializeOwned>(
    layout: &WorkdirLayout,
) -> Result<Option<StateSnapshot<T>>, StoreError> {
    let path = layout.state();
    let Some(mut fields) = nofollow_fs::read_json::<Map<String, Value>>(&path, MAX_BYTES)? else {
        return Ok(None);
    };
    let mut number = |key: &str| {
        let value = fields.shift_remove(key).and_then(|value| value.as_u64());
        value.ok_or_else(|| StoreError::missing_number(&path, key))
    };
    let schema = number("schema")?;
    if schema > SCHEMA {
        return Err(StoreError::NewerSchema {
            path,
            found: schema,
            known: SCHEMA,
        });
    }
    let last_seq = number("last_seq")?;
    let state = serde_json::from_value(Value::Object(fields))
        .map_err(|e| StoreError::from_json(&path, &e))?;
    Ok(Some(StateSnapshot { last_seq, state }))
}

/// Stores the bytes of an unreadable snapshot in `history/` and returns the path; `None` if there is none.
///
/// # Errors
/// The file cannot be read, or its copy not written.
pub fn save_damaged_copy(layout: &WorkdirLayout) -> Result<Option<PathBuf>, StoreError> {
    let Some(bytes) = nofollow_fs::read_limited(&layout.state(), MAX_BYTES)? else {
        return Ok(None);
    };
    let history = layout.history();
    nofollow_fs::ensure_dirs(layout.workdir(), &history)?;
    let name = format!(
        "damaged-{}-state.json",
        utc_time::to_file_name(utc_time::now())
    );
    let place = nofollow_fs::find_free_path(&history.join(name))?;
    atomic_file::replace_file(&place, &bytes)?;
    Ok(Some(place))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::super::EventOrigin;
    use super::super::test_repo::TestRepo;
    use super::*;
    use crate::domain::ids::{RunId, UnixMillis};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct SnapshotTestState {
        phase: String,
        sizes: std::collections::BTreeMap<u32, u64>,
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", content = "data")]
    enum SnapshotTestEvent {
        Went(u8),
    }

    fn state() -> SnapshotTestState {
        SnapshotTestState {
            phase: "REVIEW".into(),
            sizes: [(3, 4)].into(),
        }
    }

    #[test]
    fn a_snapshot_names_the_last_event_that_it_covers() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let mut log = EventLog::create(&guard, &RunId::new("run_1"), UnixMillis(0)).unwrap();
        log.append(
            UnixMillis(1),
            &EventOrigin::default(),
            &SnapshotTestEvent::Went(1),
        )
        .unwrap();
        assert_eq!(
            load_snapshot::<SnapshotTestState>(&place.layout).unwrap(),
            None
        );
        commit_snapshot(&mut log, &state()).unwrap();
        let loaded = load_snapshot::<SnapshotTestState>(&place.layout)
            .unwrap()
            .unwrap();
        assert_eq!((loaded.last_seq, loaded.state), (1, state()));
        let text = fs::read_to_string(place.layout.state()).unwrap();
        assert!(
            text.starts_with("{\n  \"schema\": 1,\n  \"last_seq\": 1,\n  \"phase\""),
            "{text}"
        );
    }

    #[test]
    fn a_state_that_is_no_object_or_has_a_key_of_the_snapshot_is_refused() {
        #[derive(Serialize)]
        struct Numbered {
            schema: u64,
        }
        let place = TestRepo::new();
        let guard = place.open_guard();
        let mut log: EventLog<SnapshotTestEvent> =
            EventLog::create(&guard, &RunId::new("run_1"), UnixMillis(0)).unwrap();
        let twice = commit_snapshot(&mut log, &Numbered { schema: 7 }).unwrap_err();
        assert!(
            twice.to_string().contains("the key schema occurs twice"),
            "{twice}"
        );
        assert!(commit_snapshot(&mut log, &7).is_err());
        let nested = std::collections::BTreeMap::from([("a", Numbered { schema: 7 })]);
        commit_snapshot(&mut log, &nested).unwrap();
    }

    #[test]
    fn what_cannot_be_read_is_named_and_left_alone() {
        let place = TestRepo::new();
        for (text, expected) in [
            (
                "{\"schema\":1,\n\"last",
                "state.json:2: EOF while parsing a string at line 2 column 5",
            ),
            (
                "{\"schema\":2,\"last_seq\":1}",
                "state.json has schema 2, but this version knows 1",
            ),
            (
                "{\"last_seq\":1}",
                "state.json:1: the number schema is missing",
            ),
            (
                "{\"schema\":1,\"last_seq\":1}",
                "state.json:1: missing field `phase`",
            ),
        ] {
            fs::write(place.layout.state(), text).unwrap();
            let told = load_snapshot::<SnapshotTestState>(&place.layout)
                .unwrap_err()
                .to_string();
            assert_eq!(told.rsplit('/').next().unwrap(), expected);
            assert_eq!(fs::read_to_string(place.layout.state()).unwrap(), text);
        }
    }
}
