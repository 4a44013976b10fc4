//! Checks that every path of a reading command stays inside the root, from every folder that it may be relative to.
//!
//! Nothing is read from the disk.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::permission::lexical_path::{is_inside, lexical_absolute};
use crate::permission::shell::{ShellWord, SimpleCommand};

use super::RefusalReason;

/// The longest word that is checked.
const MAX_WORD_BYTES: usize = 4_096;

/// The most texts that are recorded for one command.
const MAX_MENTIONS: usize = 2_000;

/// The root, and the folders in which a command may run.
#[derive(Debug)]
pub struct WorkingFolders {
    root: PathBuf,
    /// The starting folder, and each folder that a `cd` may lead to; a failed `cd` changes nothing.
    folders: Vec<PathBuf>,
    /// The texts that were checked as paths, for callers that ask what is opened.
    mentions: Rc<RefCell<Vec<PathMention>>>,
}

/// A text that was checked as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMention {
    pub text: String,
    /// The folders that it may be relative to.
    pub folders: Vec<PathBuf>,
    /// Whether it is a pattern of file names.
    pub is_pattern: bool,
}

impl WorkingFolders {
    /// Returns the repository's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folders in which a command may run.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Removes and returns the texts checked as paths so far.
    pub fn take_mentions(&self) -> Vec<PathMention> {
        self.mentions.take()
    }

    /// Starts with the folder in which a text runs.
    pub fn new(cwd: &Path, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            folders: vec![cwd.to_owned()],
            mentions: Rc::default(),
        }
    }

    /// Adds the folders that a `cd` may lead to.
    pub fn follow_cd(&mut self, simple: &SimpleCommand) {
        let mut words = simple.words.iter();
        if words.next().is_none_or(|first| first.text != "cd") {
            return;
        }
        let Some(target) = words.find(|word| !word.text.starts_with('-')) else {
            return;
        };
        let led: Vec<PathBuf> = self
            .folders
            .iter()
            .map(|folder| lexical_absolute(folder, Path::new(&target.text)))
            .collect();
        for folder in led {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    /// Adds a folder for one command.
    pub fn with_folder(&self, folder: &str) -> Self {
        let mut folders = self.folders.clone();
        folders.extend(
            self.folders
                .iter()
                .map(|from| lexical_absolute(from, Path::new(folder))),
        );
        Self {
            root: self.root.clone(),
            folders,
            mentions: Rc::clone(&self.mentions),
        }
    }

    /// Returns whether some `cd` may have changed the folder.
    pub fn has_changed_folder(&self) -> bool {
        self.folders.len() > 1
    }

    /// Proves that a word, as a path, stays inside the root.
    pub fn prove_path(&self, word: &ShellWord) -> Result<(), RefusalReason> {
        if !word.is_fully_known || word.may_split {
            return Err("a path is not known".to_owned());
        }
        if self.leaves_root(&word.text, word.is_glob) {
            Err(format!(
                "`{}` may name something outside the repository",
                word.text
            ))
        } else {
            Ok(())
        }
    }

    /// Returns whether a text that may be a path leaves the root.
    pub fn leaves_root(&self, text: &str, is_pattern: bool) -> bool {
        if is_process_substitution(text) {
            return false;
        }
        let mut mentions = self.mentions.borrow_mut();
        if mentions.len() < MAX_MENTIONS && !text.is_empty() {
            mentions.push(PathMention {
                text: text.to_owned(),
                folders: self.folders.clone(),
                is_pattern,
            });
        }
        drop(mentions);
        if text.len() > MAX_WORD_BYTES || text.starts_with('~') || self.folders.len() > 16 {
            return true;
        }
        if is_pattern && may_name_parent(text) {
            return true;
        }
        let mut after_folder = false;
        for part in text.split('/') {
            if part == ".." && after_folder {
                return true;
            }
            after_folder |= !matches!(part, "" | "." | "..");
        }
        let outside =
            |folder: &PathBuf| !is_inside(&lexical_absolute(folder, Path::new(text)), &self.root);
        self.folders.iter().any(outside)
    }

    /// Returns whether some suffix of an option word, as `../x` in `-rf../x`, leaves the root.
    pub fn option_leaves_root(&self, text: &str) -> bool {
        if text.len() > MAX_WORD_BYTES {
            return true;
        }
        if let Some((_, value)) = text.split_once('=').filter(|_| text.starts_with("--")) {
            return self.leaves_root(value, false);
        }
        text.char_indices()
            .skip(1)
            .any(|(at, _)| self.leaves_root(&text[at..], false))
    }
}

/// The name of a `<(…)`, whose commands are proven by themselves; a shell uses no descriptor with so high a number.
fn is_process_substitution(text: &str) -> bool {
    let number = text.strip_prefix("/dev/fd/1");
    number.is_some_and(|rest| rest.len() == 3 && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `.*`, `.?` and `.[!a]` match `..`.
fn may_name_parent(pattern: &str) -> bool {
    let risky = |part: &str| {
        let mut chars = part.chars();
        matches!(
            (chars.next(), chars.next()),
            (Some('.'), Some('*' | '?' | '[' | '.')) | (Some('['), _)
        )
    };
    pattern.contains('(')
        || (pattern.contains(['*', '?', '['])
            && pattern.split('/').any(risky)
            && pattern
                .split('/')
                .any(|part| part.starts_with(['.', '[']) && part.contains(['*', '?', '['])))
}
