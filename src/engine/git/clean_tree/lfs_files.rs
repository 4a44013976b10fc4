//! Puts files of git LFS into a clean tree, where git has laid down their pointers: from the work tree, or from the folder
//! in which git LFS keeps what it fetched. A file counts only if it has the size and the hash that its pointer names.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{CleanTreeFolder, CleanTrees, MissingContent, MissingContentKind};
use crate::engine::git::error::GitError;
use crate::engine::git::git_command::{path_from_bytes, split_nul};

/// The maximum length of a pointer, in bytes, as git LFS has it.
const MAX_POINTER_BYTES: u64 = 1_024;
/// How pointers begin; the second is from before the program had its name.
const VERSIONS: [&str; 2] = [
    "version https://git-lfs.github.com/spec/v1",
    "version https://hawser.github.com/spec/v1",
];

/// What git stores in place of a large file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LfsPointer {
    /// The hash of the file, in hexadecimal.
    sha256: String,
    n_bytes: u64,
}

/// Parses a pointer; `None` where a text is none.
fn parse_pointer(text: &str) -> Option<LfsPointer> {
    let mut lines = text.lines();
    let version = lines.next()?;
    let mut value = |key: &str| lines.find_map(|line| line.strip_prefix(key));
    let sha256 = value("oid sha256:")?;
    let n_bytes = value("size ")?.parse().ok()?;
    let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    (VERSIONS.contains(&version) && is_hash).then(|| LfsPointer {
        sha256: sha256.to_ascii_lowercase(),
        n_bytes,
    })
}

impl CleanTrees<'_> {
    /// Replaces the pointers in a tree that was laid down by their files. Returns those whose file is not here.
    ///
    /// # Errors
    /// Git or the disk fails.
    pub(in crate::engine::git) async fn fill_lfs_files(
        self,
        folder: &CleanTreeFolder,
    ) -> Result<Vec<MissingContent>, GitError> {
        let list = ["ls-files", "-z", "--", ":(attr:filter=lfs)"];
        let listed = self.clean_index_command(folder, &list);
        let listed = listed.stdout_bytes().await?;
        let mut missing = Vec::new();
        for path in split_nul(&listed).map(path_from_bytes) {
            let target = folder.files().join(&path);
            let Some(pointer) = read_pointer(&target) else {
                continue;
            };
            let user_file = self.git.root.join(&path);
            let sources = [user_file.clone(), self.lfs_object(&pointer)];
            let copied = tokio::task::spawn_blocking(move || {
                let copied = sources
                    .iter()
                    .find_map(|source| copy_if_same(source, &target, &pointer).transpose());
                copied.transpose().map_err(|source| GitError::File {
                    verb: "write",
                    path: target,
                    source,
                })
            });
            let copied = copied.await.map_err(|error| GitError::Unreadable {
                command: "ls-files".to_owned(),
                what: error.to_string(),
            })?;
            if copied?.is_none() {
                missing.push(MissingContent {
                    is_missing_for_user: read_pointer(&user_file).is_some(),
                    kind: MissingContentKind::LfsFile,
                    path,
                });
            }
        }
        Ok(missing)
    }

    /// Returns where git LFS keeps a file that it fetched.
    fn lfs_object(self, pointer: &LfsPointer) -> PathBuf {
        let hash = &pointer.sha256;
        let part = |range| hash.get(range).unwrap_or_default();
        let folder = self.git.common_dir.join("lfs/objects");
        folder.join(part(0..2)).join(part(2..4)).join(hash)
    }
}

/// Reads the pointer that a file is; `None` where it is none.
fn read_pointer(file: &Path) -> Option<LfsPointer> {
    let found = file.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > MAX_POINTER_BYTES {
        return None;
    }
    parse_pointer(&fs::read_to_string(file).ok()?)
}

/// Copies a file in place of its pointer; `None` where it is another file.
fn copy_if_same(source: &Path, target: &Path, pointer: &LfsPointer) -> io::Result<Option<()>> {
    let is_candidate = |found: fs::Metadata| found.is_file() && found.len() == pointer.n_bytes;
    if !source.symlink_metadata().is_ok_and(is_candidate) {
        return Ok(None);
    }
    let Ok(mut read) = File::open(source) else {
        return Ok(None);
    };
    let folder = target.parent().unwrap_or(target);
    let mut copy = tempfile::NamedTempFile::new_in(folder)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let n_read = read.read(&mut buffer)?;
        let Some(part) = buffer.get(..n_read).filter(|part| !part.is_empty()) else {
            break;
        };
        hash.update(part);
        copy.write_all(part)?;
    }
    if format!("{:x}", hash.finalize()) != pointer.sha256 {
        return Ok(None);
    }
    // The pointer has the mode that git stores.
    copy.as_file()
        .set_permissions(target.metadata()?.permissions())?;
    copy.persist(target)?;
    Ok(Some(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_parsed_and_nothing_else_is_one() {
        let hash = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let version = "version https://git-lfs.github.com/spec/v1";
        let whole = format!("{version}\noid sha256:{hash}\nsize 12345\n");
        for (text, n_bytes) in [
            (whole.clone(), Some(12_345)),
            (whole.replace("oid", "ext-0-x sha256:1\noid"), Some(12_345)),
            (
                whole.replace("git-lfs.github", "hawser.github"),
                Some(12_345),
            ),
            (whole.replace("/v1", "/v9"), None),
            (whole.replace("sha256:4", "sha256:"), None),
            (whole.replace("size 12345", "size many"), None),
            (whole.replace("oid", "id"), None),
            ("version 1\n".to_owned(), None),
            (String::new(), None),
        ] {
            let pointer = parse_pointer(&text);
            assert_eq!(
                pointer.as_ref().map(|found| found.n_bytes),
                n_bytes,
                "{text}"
            );
            assert!(pointer.is_none_or(|found| found.sha256 == hash), "{text}");
        }
    }

    #[test]
    fn only_a_file_with_the_pointers_hash_is_copied() {
        let place = tempfile::tempdir().unwrap();
        let (source, target) = (place.path().join("big"), place.path().join("pointer"));
        let pointer = LfsPointer {
            sha256: format!("{:x}", Sha256::digest(b"large")),
            n_bytes: 5,
        };
        for (content, expected) in [
            ("large", "large"),
            ("small", "pointer"),
            ("larger", "pointer"),
        ] {
            fs::write(&source, content).unwrap();
            fs::write(&target, "pointer").unwrap();
            copy_if_same(&source, &target, &pointer).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), expected, "{content}");
        }
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    }
}
