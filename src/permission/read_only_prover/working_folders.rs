//! Paths of a reading command: every one must stay inside the root, from every folder that it may be named from.
//!
//! It refuses to look at the disk.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::permission::lexical_path::{is_inside, lexical_absolute};
use crate::permission::shell::{ShellWord, SimpleCommand};

use super::RefusalReason;

/// The longest word that is looked into.
const MAX_WORD_BYTES: usize = 4_096;

/// The most texts that are kept of one command.
const MAX_MENTIONS: usize = 2_000;

/// The root, and the folders in which a command may be run.
#[derive(Debug)]
pub struct WorkingFolders {
    root: PathBuf,
    /// Where the text begins, and where each `cd` may lead; a `cd` that fails leads nowhere.
    folders: Vec<PathBuf>,
    /// What was looked at as a path, for who asks what is opened.
    mentions: Rc<RefCell<Vec<PathMention>>>,
}

/// A text that was looked at as a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMention {
    /// The text.
    pub text: String,
    /// From which folders it may be named.
    pub folders: Vec<PathBuf>,
    /// Whether it is a pattern of file names.
    pub is_pattern: bool,
}

impl WorkingFolders {
    /// The repository's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folders in which a command may be run.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Takes what was looked at as a path so far.
    pub fn take_mentions(&self) -> Vec<PathMention> {
        self.mentions.take()
    }

    /// The folder in which a text is run.
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

    /// Tells whether some `cd` may have led elsewhere.
    pub fn has_changed_folder(&self) -> bool {
        self.folders.len() > 1
    }

    /// A word that is a path.
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

    /// Tells whether a text that may be a path leaves the root.
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

    /// Tells whether some end of an option's word, as `../x` in `-rf../x`, leaves the root.
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

/// The name of a `<(…)`, whose commands are proven by themselves; no descriptor of a shell has so high a number.
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
