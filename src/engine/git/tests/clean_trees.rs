//! Tests of trees that are laid down in a folder of the program's own.

use std::collections::BTreeMap;
use std::fs;

use sha2::{Digest, Sha256};

use super::*;

struct CleanFixture {
    fixture: GitFixture,
    repository: GitRepository,
    place: TempDir,
    folder: CleanTreeFolder,
}

impl CleanFixture {
    async fn new() -> Self {
        let fixture = GitFixture::new();
        let repository = fixture.repository().await;
        let place = tempfile::tempdir().unwrap();
        let folder = CleanTreeFolder::new(place.path().join("new"));
        Self {
            repository,
            folder,
            fixture,
            place,
        }
    }

    /// Lays a tree down; returns what is missing, each path with `!` where the user's work tree has it.
    async fn lay_down(&self, tree: &TreeId) -> String {
        let missing = self
            .repository
            .clean_trees()
            .lay_down_tree(tree, &self.folder)
            .await;
        let name = |missing: MissingContent| {
            let mark = if missing.is_missing_for_user { "" } else { "!" };
            format!("{}{mark}", missing.path.display())
        };
        let names: Vec<String> = missing.unwrap().into_iter().map(name).collect();
        names.join(" ")
    }

    async fn head_tree(&self) -> TreeId {
        self.repository
            .branches()
            .head_tree()
            .await
            .unwrap()
            .unwrap()
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.folder.files()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.files()).unwrap();
                    let text = fs::read_to_string(&path).unwrap();
                    found.insert(name.display().to_string(), text);
                }
            }
        }
        found
    }
}

fn expected(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

#[tokio::test]
async fn one_tree_after_another_is_laid_down_without_what_is_not_in_it() {
    let clean = CleanFixture::new().await;
    clean.fixture.write(".gitignore", "*.log\n");
    let first = clean.repository.work_tree().current_tree().await.unwrap();
    clean.fixture.write("a", "changed\n");
    clean.fixture.remove("dir/b");
    clean.fixture.write("new", "n\n");
    clean.fixture.write("x.log", "ignored\n");
    let second = clean.repository.work_tree().current_tree().await.unwrap();
    clean.lay_down(&first).await;
    let ignore = (".gitignore", "*.log\n");
    assert_eq!(
        clean.files(),
        expected(&[ignore, ("a", "a\n"), ("dir/b", "b\n")])
    );
    clean.lay_down(&second).await;
    assert_eq!(
        clean.files(),
        expected(&[ignore, ("a", "changed\n"), ("new", "n\n")])
    );
    // The user's own files and index are as they were.
    assert_eq!(clean.fixture.read("x.log"), "ignored\n");
    assert_eq!(clean.fixture.git("diff --cached --name-only"), "");
}

#[tokio::test]
async fn what_tests_left_or_changed_is_gone() {
    let clean = CleanFixture::new().await;
    let tree = clean.repository.work_tree().current_tree().await.unwrap();
    clean.lay_down(&tree).await;
    let files = clean.folder.files();
    let before = fs::metadata(files.join("a")).unwrap().modified().unwrap();
    // The same length and the same time: only the system's own time tells.
    fs::write(files.join("a"), "b\n").unwrap();
    let file = fs::File::options()
        .write(true)
        .open(files.join("a"))
        .unwrap();
    file.set_modified(before).unwrap();
    fs::write(files.join("dir/left"), "x\n").unwrap();
    fs::create_dir_all(files.join(".git/hooks")).unwrap();
    fs::create_dir_all(files.join("nested/.git")).unwrap();
    fs::write(files.join("nested/x"), "x\n").unwrap();
    clean.lay_down(&tree).await;
    assert_eq!(clean.files(), expected(&[("a", "a\n"), ("dir/b", "b\n")]));
    assert!(!files.join(".git").exists());
}

#[tokio::test]
async fn a_folder_that_cannot_be_cleaned_is_replaced() {
    let clean = CleanFixture::new().await;
    let tree = clean.repository.work_tree().current_tree().await.unwrap();
    clean.lay_down(&tree).await;
    // An index that git cannot read stands for whatever tests may have broken.
    fs::write(clean.place.path().join("new/index/index"), "no index").unwrap();
    fs::write(clean.folder.files().join("left"), "x\n").unwrap();
    clean.lay_down(&tree).await;
    assert_eq!(clean.files(), expected(&[("a", "a\n"), ("dir/b", "b\n")]));
}

#[tokio::test]
async fn renamed_files_are_told() {
    let clean = CleanFixture::new().await;
    let before = clean.repository.work_tree().current_tree().await.unwrap();
    clean.fixture.remove("dir/b");
    clean.fixture.write("dir/c", "b\n");
    let after = clean.repository.work_tree().current_tree().await.unwrap();
    let renamed = clean
        .repository
        .trees()
        .renamed_paths(&before, &after)
        .await
        .unwrap();
    assert_eq!(renamed, expected(&[("dir/b", "dir/c")]));
}

/// Returns the pointer of git LFS to a text.
fn lfs_pointer(text: &str) -> String {
    format!(
        "version https://git-lfs.github.com/spec/v1\noid sha256:{:x}\nsize {}\n",
        Sha256::digest(text),
        text.len()
    )
}

#[tokio::test]
async fn files_of_git_lfs_come_from_the_work_tree_or_its_store_where_their_hash_is_right() {
    let clean = CleanFixture::new().await;
    let fixture = &clean.fixture;
    let attributes = "*.bin filter=lfs -text\n";
    fixture.write(".gitattributes", attributes);
    for (path, text) in [
        ("here.bin", "here"),
        ("stored.bin", "stored"),
        ("other.bin", "theirs"),
        ("not.txt", "here"),
    ] {
        fixture.write(path, &lfs_pointer(text));
    }
    fixture.write("gone.bin", &lfs_pointer("gone"));
    fixture.git("add -A");
    fixture.git("commit -q -m pointers");
    let tree = clean.head_tree().await;
    fixture.write("here.bin", "here");
    fixture.write("stored.bin", "a newer one");
    fixture.write("other.bin", "mine\n\n");
    let hash = format!("{:x}", Sha256::digest("stored"));
    fixture.write(
        &format!(".git/lfs/objects/{}/{}/{hash}", &hash[..2], &hash[2..4]),
        "stored",
    );
    for _ in 0..2 {
        assert_eq!(clean.lay_down(&tree).await, "gone.bin other.bin!");
        let files = clean.files();
        let expected = [
            ("here.bin", "here".to_owned()),
            ("stored.bin", "stored".to_owned()),
            ("other.bin", lfs_pointer("theirs")),
            ("gone.bin", lfs_pointer("gone")),
            ("not.txt", lfs_pointer("here")),
        ];
        for (path, text) in expected {
            assert_eq!(files.get(path), Some(&text), "{path}");
        }
        // What a test writes there is gone the next time.
        fs::write(clean.folder.files().join("here.bin"), "HERE").unwrap();
    }
}

#[tokio::test]
async fn a_submodule_lies_at_the_commit_that_the_tree_names() {
    let (clean, library) = (CleanFixture::new().await, GitFixture::new());
    let inner = GitFixture::new();
    let fixture = &clean.fixture;
    let add = |place: &GitFixture, from: &GitFixture, path: &str| {
        let from = from.root().display().to_string();
        place.git(&format!(
            "-c protocol.file.allow=always submodule add -q \"{from}\" {path}"
        ));
        place.git("commit -q -m submodule");
    };
    add(&library, &inner, "deep");
    add(fixture, &library, "lib");
    let without = clean.repository.work_tree().current_tree().await.unwrap();
    let first = clean.head_tree().await;
    assert_eq!(without, first);
    fixture.git("-C lib -c protocol.file.allow=always submodule update -q --init");
    fixture.git("-C lib config user.name Tester");
    fixture.git("-C lib config user.email tester@example.com");
    fixture.write("lib/a", "newer\n");
    fixture.git("-C lib commit -q -a -m newer");
    fixture.git("commit -q -a -m newer");
    let second = clean.head_tree().await;
    // What is in no commit of the submodule is not laid down.
    fixture.write("lib/a", "changed\n");
    fixture.write("lib/untracked", "u\n");
    let text = |path: &str| clean.files().get(path).cloned().unwrap_or_default();
    for (tree, expected) in [(&first, "a\n"), (&second, "newer\n"), (&first, "a\n")] {
        assert_eq!(clean.lay_down(tree).await, "");
        assert_eq!(text("lib/a"), expected);
        assert_eq!(text("lib/deep/a"), "a\n");
        assert_eq!(text("lib/untracked") + &text("lib/left"), "");
        fs::write(clean.folder.files().join("lib/left"), "x\n").unwrap();
        fs::write(clean.folder.files().join("lib/a"), "x\n").unwrap();
    }
    // A tree without the submodule has nothing of it.
    fixture.git("rm -q -f --cached lib .gitmodules");
    fixture.git("commit -q -m without");
    let third = clean.head_tree().await;
    assert_eq!(clean.lay_down(&third).await, "");
    assert_eq!(clean.files(), expected(&[("a", "a\n"), ("dir/b", "b\n")]));
}

#[tokio::test]
async fn a_submodule_without_its_commit_is_missing() {
    let (clean, library) = (CleanFixture::new().await, GitFixture::new());
    let fixture = &clean.fixture;
    let from = library.root().display().to_string();
    fixture.git(&format!(
        "-c protocol.file.allow=always submodule add -q \"{from}\" lib"
    ));
    fixture.git("update-index --cacheinfo 160000,1234567890123456789012345678901234567890,lib");
    fixture.git("commit -q -m submodule");
    let tree = clean.head_tree().await;
    assert_eq!(clean.lay_down(&tree).await, "lib!");
    // One that was never checked out is missing for the user, too.
    fs::remove_dir_all(fixture.root().join("lib")).unwrap();
    assert_eq!(clean.lay_down(&tree).await, "lib");
}
