//! Tests of work trees beside the user's: made from the current tree, isolated from files inside them,
//! removed without a trace.

use super::*;

#[tokio::test]
async fn a_tree_begins_with_all_that_is_not_ignored_and_the_users_stays_as_it_is() {
    for fixture in [GitFixture::new(), GitFixture::unborn()] {
        fixture.write(".gitignore", "out\n");
        fixture.write("new", "new\n");
        fixture.write("out", "ignored\n");
        let repository = fixture.repository().await;
        let before = (
            fixture.git("status --porcelain"),
            repository.branches().head().await.unwrap(),
        );
        let snapshot = repository.work_tree().snapshot("task").await.unwrap();
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().canonicalize().unwrap().join("ses_1");
        let planted = repository
            .add_worktree(&path, &snapshot.commit)
            .await
            .unwrap();
        assert_eq!(
            planted.work_tree().current_tree().await.unwrap(),
            snapshot.tree
        );
        assert_eq!(std::fs::read_to_string(path.join("new")).unwrap(), "new\n");
        assert!(!path.join("out").exists());

        std::fs::write(path.join("new"), "newer\n").unwrap();
        std::fs::create_dir(path.join("inner")).unwrap();
        git_in(&path.join("inner"), "init -q");
        // Files that an agent writes there do not lead git anywhere else.
        std::fs::write(
            path.join(".git"),
            format!("gitdir: {}\n", path.join("inner/.git").display()),
        )
        .unwrap();
        let known = repository.worktree_at(&path).unwrap();
        let after = known.work_tree().current_tree().await.unwrap();
        let changes = repository
            .trees()
            .changes_between(&snapshot.tree, &after)
            .await
            .unwrap();
        let names: Vec<_> = changes
            .iter()
            .map(|change| change.path.display().to_string())
            .collect();
        assert_eq!(names, ["new"]);
        assert_eq!(
            known.status().nested_repositories().await.unwrap(),
            [PathBuf::from("inner/")]
        );
        let patch = repository
            .trees()
            .binary_patch(&snapshot.tree, &after)
            .await
            .unwrap();
        assert!(String::from_utf8_lossy(&patch).contains("+newer"));

        repository.remove_worktree(&path).unwrap();
        repository.remove_worktree(&path).unwrap();
        assert!(!path.exists() && !fixture.root().join(".git/worktrees").exists());
        assert!(repository.worktree_at(&path).is_none());
        let now = (
            fixture.git("status --porcelain"),
            repository.branches().head().await.unwrap(),
        );
        assert_eq!(now, before);
    }
}

#[tokio::test]
async fn trees_of_the_user_are_no_concern() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (own, users) = (root.join("ours/ses_1"), root.join("users"));
    fixture.git(&format!("worktree add -q --detach \"{}\"", users.display()));
    let head = repository
        .work_tree()
        .snapshot("task")
        .await
        .unwrap()
        .commit;
    repository.add_worktree(&own, &head).await.unwrap();
    assert!(
        repository
            .missing_worktrees_below(&root.join("ours"))
            .is_empty()
    );
    std::fs::remove_dir_all(&own).unwrap();
    assert_eq!(
        repository.missing_worktrees_below(&root.join("ours")),
        std::slice::from_ref(&own)
    );
    repository.remove_worktree(&own).unwrap();
    let listed = fixture.git("worktree list --porcelain");
    assert!(listed.contains(&users.display().to_string()), "{listed}");
    assert!(!listed.contains("ses_1"), "{listed}");
    // A tree is created again if it was lost.
    repository.add_worktree(&own, &head).await.unwrap();
    std::fs::remove_dir_all(&own).unwrap();
    repository.add_worktree(&own, &head).await.unwrap();
    assert!(own.join("a").exists());
}
