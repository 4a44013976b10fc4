//! Reads what a repository brings to configure and instruct agents: `.agent-collab/config.toml`,
//! `.agent-collab/prompts/*.md`, `CLAUDE.md` and `AGENTS.md`, each read once.
//!
//! Trust is decided elsewhere, based on the same bytes that were read here.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256 as Hasher};

use super::diagnostic::{ConfigLocation, ConfigProblem, ConfigProblems};
use super::toml_parser::ConfigSource;
use crate::domain::ids::Sha256;

/// The folder of a repository's own settings.
pub const PROJECT_DIR: &str = ".agent-collab";

/// The maximum size of a configuration, prompt or instruction file, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Instruction files for agents in the root of a repository.
pub const ROOT_INSTRUCTIONS: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// The instruction file for agents in a folder of a repository.
const NESTED_INSTRUCTIONS: &str = "AGENTS.md";

/// Folders with third-party or generated content, which are not searched for instructions.
const SKIPPED_FOLDERS: [&str; 8] = [
    "node_modules",
    "vendor",
    "third_party",
    "target",
    "build",
    "dist",
    "venv",
    "__pycache__",
];

/// The maximum number of folders to search for instructions, and of instruction files that count.
const MAX_FOLDERS: usize = 2_000;
const MAX_NESTED_INSTRUCTIONS: usize = 50;

/// A repository's own settings as they were when the program started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The repository's real path.
    pub root: PathBuf,
    /// `.agent-collab/config.toml`, if there is one.
    pub config: Option<ConfigSource>,
    /// `.agent-collab/prompts/*.md`, by name.
    pub prompts: Vec<ConfigSource>,
    /// `AGENTS.md` and `CLAUDE.md`, as far as they are files inside the repository; then the `AGENTS.md` files of
    /// folders, each for the files below it.
    pub instructions: Vec<ConfigSource>,
}

impl ProjectFiles {
    /// Reads a repository's own settings; names are shown relative to its root.
    pub fn load(root: &Path) -> Result<Self, ConfigProblems> {
        let root = root
            .canonicalize()
            .map_err(|error| ConfigProblems(vec![unreadable_file_problem(root, &error)]))?;
        let mut problems = Vec::new();
        let config = load_text(
            &root,
            &Path::new(PROJECT_DIR).join("config.toml"),
            &mut problems,
        );
        let prompts_dir = Path::new(PROJECT_DIR).join("prompts");
        let prompts = load_markdown(&root, &prompts_dir, &mut problems);
        let instructions = load_instructions(&root);
        if problems.is_empty() {
            Ok(Self {
                root,
                config,
                prompts,
                instructions,
            })
        } else {
            Err(ConfigProblems(problems))
        }
    }

    /// Hashes what trust is bound to: the configuration and the prompts, with their names.
    ///
    /// `AGENTS.md` and `CLAUDE.md` are left out. They reach agents only as marked data, set no key
    /// and change with ordinary work; if they were included, trust would end with every other commit.
    pub fn sha256(&self) -> Sha256 {
        hash_sources(self.config.iter().chain(&self.prompts))
    }

    /// Hashes the instructions for agents, with their names.
    pub fn instructions_sha256(&self) -> Sha256 {
        hash_sources(&self.instructions)
    }
}

fn hash_sources<'a>(sources: impl IntoIterator<Item = &'a ConfigSource>) -> Sha256 {
    let mut hasher = Hasher::new();
    for source in sources {
        let name = source.file.to_string_lossy();
        for part in [name.as_bytes(), source.text.as_bytes()] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    let bytes = hasher.finalize();
    Sha256::new(
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>(),
    )
}

/// Reads a folder's Markdown files, sorted by name; `folder` is relative to `root` and appears in messages.
pub fn load_markdown(
    root: &Path,
    folder: &Path,
    problems: &mut Vec<ConfigProblem>,
) -> Vec<ConfigSource> {
    load_folder(root, folder, "md", problems)
}

/// Reads a folder's files with the given ending, sorted by name; `folder` is relative to `root` and appears in
/// messages.
pub fn load_folder(
    root: &Path,
    folder: &Path,
    ending: &str,
    problems: &mut Vec<ConfigProblem>,
) -> Vec<ConfigSource> {
    let names = list_files(&root.join(folder), ending).unwrap_or_else(|error| {
        problems.push(unreadable_file_problem(folder, &error));
        Vec::new()
    });
    let load = |name: &PathBuf| load_text(root, &folder.join(name), problems);
    names.iter().filter_map(load).collect()
}

/// Lists a folder's files with the given ending, sorted by name; a missing folder has none.
fn list_files(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = PathBuf::from(entry?.file_name());
        if name
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Reads a file of at most 1 MiB as text; `None` if it does not exist.
pub fn load_file(path: &Path) -> io::Result<Option<String>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("it is larger than 1 MiB"));
    }
    let bytes = fs::read(path)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        io::Error::other(format!("line {line} is not UTF-8"))
    })?;
    Ok(Some(text))
}

/// Describes a file that cannot be read.
pub fn unreadable_file_problem(file: &Path, error: &io::Error) -> ConfigProblem {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "name an existing file",
        io::ErrorKind::PermissionDenied => "make it readable for you, or move it away",
        _ => "fix it, or move it away",
    };
    let place = ConfigLocation::File(file.to_owned());
    ConfigProblem::new(place, format!("cannot be read: {error}"), hint)
}

fn load_text(root: &Path, file: &Path, problems: &mut Vec<ConfigProblem>) -> Option<ConfigSource> {
    match load_file(&root.join(file)) {
        Ok(text) => text.map(|text| ConfigSource {
            file: file.to_owned(),
            text,
        }),
        Err(error) => {
            problems.push(unreadable_file_problem(file, &error));
            None
        }
    }
}

/// Reads the instruction files. A link out of the repository does not count, and one file with two names counts once.
fn load_instructions(root: &Path) -> Vec<ConfigSource> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    let at_the_root = ROOT_INSTRUCTIONS.map(PathBuf::from);
    for name in at_the_root
        .into_iter()
        .chain(find_nested_instructions(root))
    {
        let Ok(real) = root.join(&name).canonicalize() else {
            continue;
        };
        if !real.starts_with(root) || seen.contains(&real) {
            continue;
        }
        if let Ok(Some(text)) = load_file(&real) {
            found.push(ConfigSource { file: name, text });
        }
        seen.push(real);
    }
    found
}

/// Finds the `AGENTS.md` of folders, relative to the root, higher ones first. Folders of other repositories, hidden
/// folders and folders with third-party content are left out.
fn find_nested_instructions(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([PathBuf::new()]);
    let mut n_looked_at = 0;
    while let Some(folder) = open.pop_front() {
        n_looked_at += 1;
        if n_looked_at > MAX_FOLDERS || found.len() >= MAX_NESTED_INSTRUCTIONS {
            break;
        }
        // A folder that cannot be read cannot contain instructions for the current user either.
        let entries = fs::read_dir(root.join(&folder)).into_iter().flatten();
        let folders = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_own = !name.as_encoded_bytes().starts_with(b".")
                && SKIPPED_FOLDERS.iter().all(|foreign| name != *foreign);
            (is_folder && is_own).then(|| folder.join(name))
        });
        let mut folders: Vec<PathBuf> = folders.collect();
        folders.sort();
        for folder in folders {
            if root.join(&folder).join(".git").exists() {
                continue;
            }
            let file = folder.join(NESTED_INSTRUCTIONS);
            if root.join(&file).is_file() {
                found.push(file);
            }
            open.push_back(folder);
        }
    }
    found
}
