//! Tests of trees that are laid down in a folder of the program's own.

use std::collections::BTreeMap;
use std::fs;

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

    async fn lay_down(&self, tree: &TreeId) {
        self.repository
            .lay_down_tree(tree, &self.folder)
            .await
            .unwrap();
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
    let first = clean.repository.current_tree().await.unwrap();
    clean.fixture.write("a", "changed\n");
    clean.fixture.remove("dir/b");
    clean.fixture.write("new", "n\n");
    clean.fixture.write("x.log", "ignored\n");
    let second = clean.repository.current_tree().await.unwrap();
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
    let tree = clean.repository.current_tree().await.unwrap();
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
    let tree = clean.repository.current_tree().await.unwrap();
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
    let before = clean.repository.current_tree().await.unwrap();
    clean.fixture.remove("dir/b");
    clean.fixture.write("dir/c", "b\n");
    let after = clean.repository.current_tree().await.unwrap();
    let renamed = clean
        .repository
        .renamed_paths(&before, &after)
        .await
        .unwrap();
    assert_eq!(renamed, expected(&[("dir/b", "dir/c")]));
}
