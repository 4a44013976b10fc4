//! Work trees beside the user's: made of the present tree, blind to what lies in them, gone without a trace.

use super::*;

#[tokio::test]
async fn a_tree_begins_with_all_that_is_not_ignored_and_the_users_stays_as_it_is() {
    for fixture in [Fixture::new(), Fixture::unborn()] {
        fixture.write(".gitignore", "out\n");
        fixture.write("new", "new\n");
        fixture.write("out", "ignored\n");
        let repository = fixture.repository().await;
        let before = (
            fixture.git("status --porcelain"),
            repository.head().await.unwrap(),
        );
        let snapshot = repository.snapshot("task").await.unwrap();
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().canonicalize().unwrap().join("ses_1");
        let planted = repository.plant(&path, &snapshot.commit).await.unwrap();
        assert_eq!(planted.tree_now().await.unwrap(), snapshot.tree);
        assert_eq!(std::fs::read_to_string(path.join("new")).unwrap(), "new\n");
        assert!(!path.join("out").exists());

        std::fs::write(path.join("new"), "newer\n").unwrap();
        std::fs::create_dir(path.join("inner")).unwrap();
        git_in(&path.join("inner"), "init -q");
        // What somebody writes there leads git nowhere.
        std::fs::write(
            path.join(".git"),
            format!("gitdir: {}\n", path.join("inner/.git").display()),
        )
        .unwrap();
        let known = repository.planted_at(&path).unwrap();
        let after = known.tree_now().await.unwrap();
        let changes = repository
            .changes_between(&snapshot.tree, &after)
            .await
            .unwrap();
        let names: Vec<_> = changes
            .iter()
            .map(|change| change.path.display().to_string())
            .collect();
        assert_eq!(names, ["new"]);
        assert_eq!(known.nested().await.unwrap(), [PathBuf::from("inner/")]);
        let patch = repository.patch(&snapshot.tree, &after).await.unwrap();
        assert!(String::from_utf8_lossy(&patch).contains("+newer"));

        repository.uproot(&path).unwrap();
        repository.uproot(&path).unwrap();
        assert!(!path.exists() && !fixture.root().join(".git/worktrees").exists());
        assert!(repository.planted_at(&path).is_none());
        let now = (
            fixture.git("status --porcelain"),
            repository.head().await.unwrap(),
        );
        assert_eq!(now, before);
    }
}

#[tokio::test]
async fn trees_of_the_user_are_no_concern() {
    let fixture = Fixture::new();
    let repository = fixture.repository().await;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (own, users) = (root.join("ours/ses_1"), root.join("users"));
    fixture.git(&format!("worktree add -q --detach \"{}\"", users.display()));
    let head = repository.snapshot("task").await.unwrap().commit;
    repository.plant(&own, &head).await.unwrap();
    assert!(repository.gone_below(&root.join("ours")).is_empty());
    std::fs::remove_dir_all(&own).unwrap();
    assert_eq!(
        repository.gone_below(&root.join("ours")),
        std::slice::from_ref(&own)
    );
    repository.uproot(&own).unwrap();
    let listed = fixture.git("worktree list --porcelain");
    assert!(listed.contains(&users.display().to_string()), "{listed}");
    assert!(!listed.contains("ses_1"), "{listed}");
    // A tree is made anew where one was lost.
    repository.plant(&own, &head).await.unwrap();
    std::fs::remove_dir_all(&own).unwrap();
    repository.plant(&own, &head).await.unwrap();
    assert!(own.join("a").exists());
}
