//! Tests of merging two trees, and of writing the result into the work tree completely or not at all.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use proptest::prelude::*;

use super::*;

/// The content of the paths `a`, `b`, `d/x` and `d`; a digit is a line of a text with three lines.
type MergeTestFiles = BTreeMap<&'static str, String>;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";

fn lay(fixture: &GitFixture, files: &MergeTestFiles) {
    for path in ["a", "b", "d/x", "d"] {
        let path = fixture.root().join(path);
        let _missing = std::fs::remove_file(&path);
        let _full = std::fs::remove_dir(&path);
    }
    for (path, text) in files {
        fixture.write(path, text);
    }
}

fn found(fixture: &GitFixture) -> MergeTestFiles {
    let mut files = MergeTestFiles::new();
    for path in ["a", "b", "d/x", "d"] {
        if let Ok(text) = std::fs::read_to_string(fixture.root().join(path)) {
            files.insert(path, text);
        }
    }
    files
}

fn text() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        Just(BASE.to_owned()),
        Just(BASE.replace("one", "ONE")),
        Just(BASE.replace("five", "FIVE")),
        Just(BASE.replace("one", "first")),
        Just("\0binary\n".to_owned()),
    ]
}

fn files() -> impl Strategy<Value = MergeTestFiles> {
    let some = proptest::option::of(text());
    let last = prop_oneof![Just(0), Just(1), Just(2)];
    (some.clone(), some, last, text()).prop_map(|(a, b, last, of_last)| {
        let mut files = MergeTestFiles::new();
        files.extend(a.map(|text| ("a", text)));
        files.extend(b.map(|text| ("b", text)));
        match last {
            0 => {}
            1 => drop(files.insert("d", of_last)),
            _ => drop(files.insert("d/x", of_last)),
        }
        files
    })
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_only_one_side_changed_is_there_and_what_both_changed_is_told(
        base in files(), ours in files(), theirs in files(),
    ) {
        let fixture = GitFixture::unborn();
        runtime().block_on(async {
            let repository = fixture.repository().await;
            let mut trees = Vec::new();
            for files in [&base, &theirs, &ours] {
                lay(&fixture, files);
                trees.push(repository.work_tree().current_tree().await.unwrap());
            }
            let joined = repository.trees().merge_trees(&trees[0], &trees[2], &trees[1]).await.unwrap();
            let scratch = tempfile::tempdir_in(fixture.root().join(".git")).unwrap();
            repository.work_tree().write_merge(&joined, scratch.path()).await.unwrap();
            assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
            let now = found(&fixture);
            for path in ["a", "b", "d/x", "d"] {
                let [base, ours, theirs, now] = [&base, &ours, &theirs, &now].map(|files| files.get(path));
                let is_told = joined.conflicts.contains(Path::new(path));
                match () {
                    () if is_told => assert!(now == theirs || now.is_none(), "{path}"),
                    () if ours == base => assert_eq!(now, theirs, "{path}"),
                    () if theirs == base || theirs == ours => assert_eq!(now, ours, "{path}"),
                    () => {
                        // The result has the lines of both sides, each at its place.
                        let now = now.expect("joined").to_owned();
                        for (side, word) in [(ours, "ONE"), (theirs, "ONE"), (ours, "FIVE"), (theirs, "FIVE")] {
                            assert!(!side.expect("both").contains(word) || now.contains(word), "{path}: {now}");
                        }
                    }
                }
            }
        });
    }
}

pub(super) async fn joined(fixture: &GitFixture, theirs: impl Fn(), ours: impl Fn()) -> TreeMerge {
    let repository = fixture.repository().await;
    let base = repository.work_tree().current_tree().await.unwrap();
    theirs();
    let changed = repository.work_tree().current_tree().await.unwrap();
    repository.work_tree().restore_tree(&base).await.unwrap();
    ours();
    let now = repository.work_tree().current_tree().await.unwrap();
    repository
        .trees()
        .merge_trees(&base, &now, &changed)
        .await
        .unwrap()
}

#[tokio::test]
async fn modes_links_and_binary_files_come_along() {
    let fixture = GitFixture::new();
    fixture.write("run", "#!/bin/sh\n");
    let root = fixture.root();
    let mode = |path: &str, mode| {
        std::fs::set_permissions(root.join(path), PermissionsExt::from_mode(mode)).unwrap();
    };
    let theirs = || {
        mode("run", 0o755);
        std::fs::write(root.join("logo"), [0, 159, 146, 150]).unwrap();
        symlink("dir/b", root.join("link")).unwrap();
        std::fs::rename(root.join("a"), root.join("moved")).unwrap();
    };
    let joined = joined(&fixture, theirs, || mode("dir/b", 0o640)).await;
    assert!(joined.conflicts.is_empty());
    let repository = fixture.repository().await;
    let scratch = tempfile::tempdir_in(root.join(".git")).unwrap();
    repository
        .work_tree()
        .write_merge(&joined, scratch.path())
        .await
        .unwrap();
    assert_eq!(
        std::fs::read(root.join("logo")).unwrap(),
        [0, 159, 146, 150]
    );
    assert_eq!(
        std::fs::read_link(root.join("link")).unwrap(),
        Path::new("dir/b")
    );
    assert_eq!(
        (fixture.read("a"), fixture.read("moved")),
        ("(none)".to_owned(), "a\n".to_owned())
    );
    let mode_of = |path: &str| root.join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode_of("run") & 0o100, 0o100);
    assert_eq!(mode_of("dir/b"), 0o640);
}

#[tokio::test]
async fn what_git_ignores_links_and_later_changes_are_never_written_over() {
    let refused = async |spoil: &dyn Fn(&GitFixture)| {
        let fixture = GitFixture::new();
        fixture.write(".gitignore", "out\nlinked\n");
        let theirs = || {
            fixture.write("a", "A\n");
            fixture.write("dir/b", "B\n");
            fixture.remove(".gitignore");
            fixture.write("out", "theirs\n");
            fixture.write("linked/x", "theirs\n");
        };
        let joined = joined(&fixture, theirs, || {}).await;
        let clear = || {
            fixture.remove("out");
            std::fs::remove_dir_all(fixture.root().join("linked")).unwrap();
        };
        clear();
        spoil(&fixture);
        let repository = fixture.repository().await;
        let scratch = tempfile::tempdir_in(fixture.root().join(".git")).unwrap();
        let why = repository
            .work_tree()
            .write_merge(&joined, scratch.path())
            .await
            .unwrap_err();
        // Either everything is written or nothing.
        assert_eq!(
            (fixture.read("dir/b"), fixture.read(".gitignore")),
            ("b\n".to_owned(), "out\nlinked\n".to_owned())
        );
        let why = why
            .to_string()
            .replace(&fixture.root().display().to_string(), "");
        (why, fixture.read("a"), fixture.read("out"))
    };
    let ignored = refused(&|fixture| fixture.write("out", "mine\n")).await;
    assert_eq!(
        ignored,
        (
            "out is in the way: git ignores it, or it is not a folder".to_owned(),
            "a\n".to_owned(),
            "mine\n".to_owned()
        )
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let linked =
        refused(&|fixture| symlink(elsewhere.path(), fixture.root().join("linked")).unwrap()).await;
    assert!(
        linked.0.starts_with("/linked is in the way"),
        "{}",
        linked.0
    );
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let changed = refused(&|fixture| fixture.write("a", "mine\n")).await;
    assert_eq!(
        (changed.0.as_str(), changed.1.as_str()),
        ("a changed in the meantime", "mine\n")
    );
}
