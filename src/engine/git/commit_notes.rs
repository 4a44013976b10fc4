//! Reads and extends the notes of commits under one reference of the program's own; no other notes are touched.
//!
//! New lines are one commit of the notes, made by `git fast-import`: it runs no hook, rewrites no text, and refuses where
//! another process changed the notes in between.

use std::collections::BTreeSet;

use super::commit_history::CommitHistory;
use super::config_programs::RepositoryConfig;
use super::error::GitError;
use super::git_command::{GitProgram, split_nul};
use super::{CommitId, is_object_id};
use crate::domain::receipt_chain::{CommitNote, NoteLines};
use crate::process::StdinSource;

/// The reference of the notes.
pub const NOTES_REF: &str = "refs/notes/agent-collab";

/// How often notes are written again that another process changed in between.
const MAX_TRIES: u32 = 3;

/// The notes of commits under [`NOTES_REF`].
#[derive(Debug, Clone, Copy)]
pub struct GitNotes<'a> {
    pub(super) git: &'a GitProgram,
}

impl GitNotes<'_> {
    /// Loads the notes of some commits, or of all that have one, in the order of their ids. The commits need not be
    /// here.
    ///
    /// # Errors
    /// Git fails, or the notes cannot be read.
    pub async fn load(self, only: Option<&BTreeSet<String>>) -> Result<Vec<CommitNote>, GitError> {
        match self.notes_tip().await? {
            Some(tip) => self.load_notes_at(&tip, only).await,
            None => Ok(Vec::new()),
        }
    }

    /// Appends lines to the notes of commits. Lines that one of these notes has already are left out.
    ///
    /// # Errors
    /// Git fails, has no identity for commits, or a commit is not here. Nothing was written then.
    pub async fn append(self, lines: &NoteLines) -> Result<(), GitError> {
        let commits: BTreeSet<String> = lines.keys().cloned().collect();
        let mut n_tries = 1;
        loop {
            let tip = self.notes_tip().await?;
            let notes = match &tip {
                Some(tip) => self.load_notes_at(tip, Some(&commits)).await?,
                None => Vec::new(),
            };
            let extended = extend_notes(&notes, lines);
            if extended.is_empty() {
                return Ok(());
            }
            self.check_commits_exist(&extended).await?;
            match self.import_notes(tip.as_ref(), &extended).await {
                Err(GitError::Failed { .. }) if n_tries < MAX_TRIES => n_tries += 1,
                done => return done,
            }
        }
    }

    /// Checks that the commits of notes are here: `git fast-import` ends with a crash report in git's folder if one is not.
    async fn check_commits_exist(self, notes: &[CommitNote]) -> Result<(), GitError> {
        let ids: Vec<String> = notes.iter().map(|note| note.commit.clone()).collect();
        let found = CommitHistory { git: self.git }
            .resolve_commits(&ids)
            .await?;
        let missing = ids.iter().zip(found).find(|(_, found)| found.is_none());
        missing.map_or(Ok(()), |(id, _)| {
            Err(GitError::Failed {
                command: "notes add".to_owned(),
                output: format!("the commit {id} is not in the repository"),
            })
        })
    }

    async fn notes_tip(self) -> Result<Option<CommitId>, GitError> {
        let git = self.git;
        let format = "--format=%(objecttype) %(objectname) %(refname)";
        let found = git.object_command(&["for-each-ref", format, NOTES_REF]);
        let found = found.stdout_text().await?;
        // Git also lists what lies below the name.
        let tip = found.lines().find_map(|line| {
            let id = line.strip_prefix("commit ")?.strip_suffix(NOTES_REF)?;
            Some(CommitId(id.trim_end().to_owned()))
        });
        Ok(tip)
    }

    async fn load_notes_at(
        self,
        tip: &CommitId,
        only: Option<&BTreeSet<String>>,
    ) -> Result<Vec<CommitNote>, GitError> {
        let git = self.git;
        let list = git.plain_object_command(&["ls-tree", "-r", "-z", "--full-tree"]);
        let list = list.arg(&tip.0).stdout_bytes().await?;
        let is_wanted = |commit: &String| only.is_none_or(|only| only.contains(commit));
        let entries: Vec<(String, String)> = split_nul(&list)
            .filter_map(|entry| parse_entry(&String::from_utf8_lossy(entry)))
            .filter(|(commit, _)| is_wanted(commit))
            .collect();
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<&str> = entries.iter().map(|(_, id)| id.as_str()).collect();
        let output = git
            .plain_object_command(&["cat-file", "--batch"])
            .stdin(StdinSource::Bytes((ids.join("\n") + "\n").into_bytes()))
            .stdout_bytes()
            .await?;
        let mut rest = output.as_slice();
        let mut notes = Vec::new();
        for (commit, id) in entries {
            let text = take_blob(&mut rest, &id).ok_or_else(|| GitError::Unreadable {
                command: "cat-file".to_owned(),
                what: format!("the note of {commit} is not there"),
            })?;
            notes.push(CommitNote { commit, text });
        }
        Ok(notes)
    }

    /// Commits notes on top of this tip.
    async fn import_notes(
        self,
        tip: Option<&CommitId>,
        notes: &[CommitNote],
    ) -> Result<(), GitError> {
        let identity = RepositoryConfig { git: self.git }.commit_identity().await?;
        let person = identity.map_err(|missing| GitError::Failed {
            command: "var GIT_COMMITTER_IDENT".to_owned(),
            output: missing.output,
        })?;
        let person = person.committer;
        let mut stream = format!(
            "commit {NOTES_REF}\ncommitter {} <{}> now\n",
            person.name, person.email
        )
        .into_bytes();
        add_data(&mut stream, b"Notes added by agent-collab\n");
        if let Some(tip) = tip {
            stream.extend_from_slice(format!("from {}\n", tip.0).as_bytes());
        }
        for note in notes {
            stream.extend_from_slice(format!("N inline {}\n", note.commit).as_bytes());
            add_data(&mut stream, &note.text);
        }
        stream.extend_from_slice(b"done\n");
        self.git
            .object_command(&["fast-import", "--quiet", "--done", "--date-format=now"])
            .stdin(StdinSource::Bytes(stream))
            .stdout_text()
            .await
            .map(drop)
    }
}

fn add_data(stream: &mut Vec<u8>, bytes: &[u8]) {
    stream.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
    stream.extend_from_slice(bytes);
    stream.push(b'\n');
}

/// Parses an entry of the tree of notes into the commit and the blob. Git divides the ids of commits into folders.
fn parse_entry(entry: &str) -> Option<(String, String)> {
    let (about, path) = entry.split_once('\t')?;
    let blob = about.strip_prefix("100644 blob ")?;
    let commit = path.replace('/', "");
    (is_object_id(&commit) && is_object_id(blob)).then(|| (commit, blob.to_owned()))
}

/// Takes the next object from the output of `cat-file --batch`.
fn take_blob(rest: &mut &[u8], id: &str) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let header = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = header
        .strip_prefix(id)?
        .strip_prefix(" blob ")?
        .parse()
        .ok()?;
    let text = rest.get(end + 1..end + 1 + size)?.to_vec();
    *rest = rest.get(end + 2 + size..)?;
    Some(text)
}

/// Returns the notes that get lines, with those that they have.
fn extend_notes(notes: &[CommitNote], lines: &NoteLines) -> Vec<CommitNote> {
    let known: BTreeSet<&[u8]> = notes
        .iter()
        .flat_map(|note| note.text.split(|byte| *byte == b'\n'))
        .collect();
    let mut extended = Vec::new();
    for (commit, lines) in lines {
        let new = lines.iter().filter(|line| !known.contains(line.as_slice()));
        let new: Vec<&Vec<u8>> = new.collect();
        if new.is_empty() {
            continue;
        }
        let before = notes.iter().find(|note| note.commit == *commit);
        let mut text = before.map_or(Vec::new(), |note| note.text.clone());
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        for line in new {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        extended.push(CommitNote {
            commit: commit.clone(),
            text,
        });
    }
    extended
}
