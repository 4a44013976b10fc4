//! The files that `@` completion searches, up to a limit.
//!
//! The list comes from the caller, not from the disk.

const MAX_FILES: usize = 400_000;
/// The maximum total length of their names.
const MAX_NAME_BYTES: usize = 32 << 20;

/// The files that completion searches.
#[derive(Debug)]
pub struct FileIndex {
    pub names: Vec<String>,
    /// The number of files in the repository.
    pub n_all: usize,
}

impl FileIndex {
    /// Creates the index with as many files as the limits allow.
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

    /// Returns a note that not all files are searched; empty if they are.
    pub fn truncation_note(&self) -> String {
        let n = self.names.len();
        if n < self.n_all {
            format!(" · searched the first {n} of {}", self.n_all)
        } else {
            String::new()
        }
    }
}
