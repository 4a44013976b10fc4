//! The files that are looked through for what is typed behind `@`, as many as there is room for.
//!
//! Refuses to look at the disk.

/// How many files are kept.
const MAX_FILES: usize = 400_000;
/// How many bytes their names have, all together.
const MAX_NAME_BYTES: usize = 32 << 20;

/// Those of the files that are looked through.
#[derive(Debug)]
pub struct FileIndex {
    /// Their names.
    pub names: Vec<String>,
    /// How many files there are.
    pub n_all: usize,
}

impl FileIndex {
    /// Keeps as many as there is room for.
    pub fn from_names(mut names: Vec<String>) -> Self {
        let n_all = names.len();
        let mut n_bytes = 0;
        let mut fits = |name: &String| {
            n_bytes += name.len();
            n_bytes <= MAX_NAME_BYTES
        };
        let n_kept = names
            .iter()
            .take(MAX_FILES)
            .take_while(|name| fits(name))
            .count();
        names.truncate(n_kept);
        Self { names, n_all }
    }

    /// That there are more than are looked through, where there are.
    pub fn truncation_note(&self) -> String {
        let n = self.names.len();
        if n < self.n_all {
            format!(" · the first {n} of {} were looked through", self.n_all)
        } else {
            String::new()
        }
    }
}
