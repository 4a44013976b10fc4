//! Reads and describes the program's own files that something else changed, from logs of every version.

use serde::{Deserialize, Deserializer};

/// A restored file, and the place where the changed copy is kept; `None` where the file was missing.
pub type RestoredFile = (String, Option<String>);

/// Reads them; an earlier version wrote an empty string where there was no copy.
pub(super) fn deserialize_restored_files<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<RestoredFile>, D::Error> {
    let files = Vec::<RestoredFile>::deserialize(from)?;
    let named = |(path, kept): RestoredFile| (path, kept.filter(|kept| !kept.is_empty()));
    Ok(files.into_iter().map(named).collect())
}

/// Describes each file and what happened to the copy that was found.
pub fn describe_restored_files(files: &[RestoredFile]) -> String {
    let told = |(path, kept): &RestoredFile| match kept {
        Some(kept) => format!("{path} (the changed version is kept as {kept})"),
        None => format!("{path} (it was missing)"),
    };
    files.iter().map(told).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use crate::domain::event::Event;

    #[test]
    fn an_earlier_log_named_an_empty_place_where_nothing_was_kept() {
        let read = |text: &str| serde_json::from_str::<Event>(text).unwrap();
        let old = r#"{"kind":"store.tampered","data":{"files":[["a","k"],["b",""]]}}"#;
        let new = r#"{"kind":"store.tampered","data":{"files":[["a","k"],["b",null]]}}"#;
        assert_eq!(read(old), read(new));
        let Event::StoreTampered { files } = read(old) else {
            panic!("another event");
        };
        let words = "a (the changed version is kept as k), b (it was missing)";
        assert_eq!(super::describe_restored_files(&files), words);
    }
}
