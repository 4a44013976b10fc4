//! Tests of whole trees: taken, compared, restored.

use super::*;

/// Lists the files of a tree with their content, `a=…`.
fn listing(fixture: &GitFixture, tree: &TreeId) -> String {
    let names = fixture.git(&format!("ls-tree -r --name-only {}", tree.0));
    let files = names
        .lines()
        .map(|name| format!("{name}={}", fixture.git(&format!("show {}:{name}", tree.0))));
    files.collect::<Vec<_>>().join(" ")
}

/// Returns what the user sees of index and work tree, and the exact bytes of the index.
fn state(fixture: &GitFixture) -> (String, Vec<u8>) {
    let bytes = std::fs::read(fixture.root().join(".git/index")).unwrap_or_default();
    let args = "--no-optional-locks status --porcelain=v2 --untracked-files=all";
    (fixture.git(args), bytes)
}

#[tokio::test]
async fn a_snapshot_holds_the_whole_tree_and_leaves_the_index_alone() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", "ignored\n");
    fixture.write("ignored", "x");
    fixture.write("a", "changed");
    fixture.write("new/file", "new");
    fixture.write("staged", "staged");
    fixture.git("add staged");
    fixture.write("staged", "staged and changed");
    fixture.remove("dir/b");
    fixture.write(".agent-collab/config.toml", "ours");
    fixture.git("add -f .agent-collab/config.toml");
    let before = state(&fixture);
    let snapshot = fixture.snapshot("turn 1").await;
    assert_eq!(state(&fixture), before);
    assert_eq!(snapshot.reference, "refs/agent-collab/run_1/turn-1");
    assert_eq!(
        fixture.git("rev-parse refs/agent-collab/run_1/turn-1"),
        snapshot.commit.0
    );
    assert_eq!(
        listing(&fixture, &snapshot.tree),
        ".gitignore=ignored a=changed new/file=new staged=staged and changed"
    );
    assert_eq!(fixture.git("log --format=%s --branches"), "first");
}

#[tokio::test]
async fn a_snapshot_works_before_the_first_commit() {
    let fixture = GitFixture::unborn();
    fixture.write("a", "a");
    let snapshot = fixture.snapshot("x").await;
    assert_eq!(listing(&fixture, &snapshot.tree), "a=a");
    assert_eq!(fixture.git("status --porcelain"), "?? a");
}

#[tokio::test]
async fn a_snapshot_needs_no_identity_and_runs_no_hook() {
    let fixture = GitFixture::new();
    fixture.git("config --unset user.name");
    fixture.git("config --unset user.email");
    fixture.git("config user.useConfigOnly true");
    for hook in ["post-index-change", "reference-transaction"] {
        fixture.hook(hook, "touch ran");
    }
    fixture.snapshot("x").await;
    assert_eq!(fixture.read("ran"), "(none)");
}

#[tokio::test]
async fn a_repository_inside_the_repository_keeps_itself() {
    let fixture = GitFixture::new();
    fixture.git("init -q -b main inner");
    fixture.write("inner/file", "x");
    let tree = fixture.current_tree().await;
    assert_eq!(listing(&fixture, &tree), "a=a dir/b=b");
}

#[tokio::test]
async fn a_file_in_place_of_a_folder_and_odd_names_are_stored() {
    let fixture = GitFixture::new();
    fixture.remove("dir/b");
    std::fs::remove_dir(fixture.root().join("dir")).unwrap();
    fixture.write("dir", "now a file");
    fixture.write("*", "star");
    fixture.write(":(top)x", "magic");
    let tree = fixture.current_tree().await;
    assert_eq!(
        listing(&fixture, &tree),
        "*=star :(top)x=magic a=a dir=now a file"
    );
}

#[tokio::test]
async fn a_large_untracked_file_is_stored() {
    let fixture = GitFixture::new();
    std::fs::write(fixture.root().join("large"), vec![7; 20_000_000]).unwrap();
    let tree = fixture.current_tree().await;
    assert_eq!(
        fixture.git(&format!("cat-file -s {}:large", tree.0)),
        "20000000"
    );
}

#[tokio::test]
async fn changes_and_their_patch_are_told_between_trees() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let trees = repository.trees();
    let before = repository.work_tree().current_tree().await.unwrap();
    assert_eq!(trees.changes_between(&before, &before).await.unwrap(), []);
    fixture.write("a", "changed\n");
    fixture.write("new", "");
    fixture.remove("dir/b");
    std::os::unix::fs::symlink("a", fixture.root().join("link")).unwrap();
    let after = repository.work_tree().current_tree().await.unwrap();
    let changes = trees.changes_between(&before, &after).await.unwrap();
    let told = describe_changes(changes.into_iter().map(|change| (change.path, change.kind)));
    assert_eq!(told, "a modified, dir/b deleted, link added, new added");
    let diff = trees.diff(&before, &after).await.unwrap();
    assert!(diff.contains("-a\n+changed\n"), "{diff}");
    assert_eq!(
        trees
            .read_file_in_tree(&before, Path::new("dir/b"))
            .await
            .unwrap()
            .as_deref(),
        Some(&b"b\n"[..])
    );
    assert_eq!(
        trees
            .read_file_in_tree(&after, Path::new("dir/b"))
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn a_restoration_touches_what_differs_and_nothing_else() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", ".env\n");
    fixture.write(".env", "secret");
    fixture.write("untracked", "mine");
    std::os::unix::fs::symlink("a", fixture.root().join("link")).unwrap();
    let repository = fixture.repository().await;
    let work_tree = repository.work_tree();
    let snapshot = work_tree.snapshot("x").await.unwrap();

    fixture.write("a", "changed");
    fixture.write("untracked", "overwritten");
    fixture.write("made/deep/file", "x");
    fixture.remove("dir/b");
    fixture.remove("link");
    fixture.write("link", "a file now");
    fixture.write(".agent-collab/plan.md", "plan");
    // The agent removed the user's secret from the ignore file; the secret must not count as a file of the
    // agent's.
    fixture.write(".gitignore", "");
    fixture.git("add a");
    let index = std::fs::read(fixture.root().join(".git/index")).unwrap();

    let restored = work_tree.restore_tree(&snapshot.tree).await.unwrap();
    assert_eq!(
        restored.written,
        paths(&[".gitignore", "a", "dir/b", "link", "untracked"])
    );
    assert_eq!(
        (restored.removed, restored.skipped_submodules),
        (paths(&["made/deep/file"]), vec![])
    );
    assert_eq!(work_tree.current_tree().await.unwrap(), snapshot.tree);
    let kept = [".env", ".agent-collab/plan.md", "untracked", "a"]
        .map(|path| fixture.read(path))
        .join(" ");
    assert_eq!(kept, "secret plan mine a\n");
    assert!(!fixture.root().join("made").exists());
    assert_eq!(
        std::fs::read(fixture.root().join(".git/index")).unwrap(),
        index
    );
}

#[tokio::test]
async fn a_folder_with_ignored_files_is_not_restored_over() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", "*.keep\n");
    fixture.write("thing", "file");
    let repository = fixture.repository().await;
    let work_tree = repository.work_tree();
    let snapshot = work_tree.snapshot("x").await.unwrap();
    fixture.remove("thing");
    fixture.write("thing/precious.keep", "kept");
    let error = work_tree.restore_tree(&snapshot.tree).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot write {}: directory not empty",
            fixture.root().join("thing").display()
        )
    );
    assert_eq!(fixture.read("thing/precious.keep"), "kept");
}

#[tokio::test]
async fn a_configured_folder_of_the_program_is_like_its_usual_one() {
    let fixture = GitFixture::new();
    fixture.write("runs/[1]/tracked", "committed by the user");
    fixture.git("add -A");
    fixture.git("commit -q -m more");
    let repository = fixture.repository().await;
    let head = repository.branches().head_tree().await.unwrap().unwrap();
    let folder = fixture.root().join("runs/[1]");
    let repository = repository
        .with_excluded_folder(&folder)
        .with_excluded_folder(&fixture.root());
    fixture.write("runs/[1]/tracked", "ours");
    fixture.write("runs/[1]/plan.md", "ours");
    fixture.write("runs/1/mine", "the user's");
    assert_eq!(dirty(&repository).await, "runs/1/mine untracked");
    let snapshot = repository.work_tree().snapshot("x").await.unwrap();
    assert_eq!(
        listing(&fixture, &snapshot.tree),
        "a=a dir/b=b runs/1/mine=the user's"
    );
    let failure = commit_now(
        &repository,
        &paths(&["runs/[1]/plan.md", "./runs/[1]/tracked"]),
        &[],
        "x",
    )
    .await
    .unwrap_err();
    assert_eq!(failure.kind, CommitFailureKind::NothingToCommit);
    // Even a tree that contains the folder does not restore it.
    let restored = repository.work_tree().restore_tree(&head).await.unwrap();
    assert_eq!(restored.removed, paths(&["runs/1/mine"]));
    assert_eq!(fixture.read("runs/[1]/tracked"), "ours");
    assert_eq!(fixture.read("runs/[1]/plan.md"), "ours");
}

/// Returns the content of a path in the parents of a snapshot.
fn parents_hold(fixture: &GitFixture, snapshot: &TreeSnapshot, path: &str) -> String {
    let parents = fixture.git(&format!("log -1 --format=%P {}", snapshot.commit.0));
    let held = parents
        .split(' ')
        .filter(|parent| !parent.is_empty())
        .map(|parent| fixture.git(&format!("show {parent}:{path}")));
    held.collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn what_is_only_staged_is_in_a_snapshot_too() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let work_tree = repository.work_tree();
    let snapshot = work_tree.snapshot("nothing staged").await.unwrap();
    assert_eq!(parents_hold(&fixture, &snapshot, "a"), "a");
    fixture.write("a", "X");
    fixture.write(".agent-collab/plan.md", "ours");
    fixture.git("add -f a .agent-collab");
    let staged = work_tree.snapshot("staged and in the tree").await.unwrap();
    assert_eq!(parents_hold(&fixture, &staged, "a"), "a");
    fixture.write("a", "Y");
    let before = state(&fixture);
    let snapshot = work_tree.snapshot("staged alone").await.unwrap();
    assert_eq!(state(&fixture), before);
    assert_eq!(parents_hold(&fixture, &snapshot, "a"), "a, X");
    let objects = fixture.git(&format!("rev-list --objects {}", snapshot.reference));
    assert!(objects.contains(&fixture.git("rev-parse :a")), "{objects}");
    assert!(!objects.contains("plan.md"), "{objects}");
    assert_eq!(
        listing(&fixture, &snapshot.tree),
        "a=Y dir/b=b",
        "the tree itself is the work tree"
    );
}

#[tokio::test]
async fn what_is_staged_before_the_first_commit_is_kept() {
    let fixture = GitFixture::unborn();
    fixture.write("a", "X");
    fixture.git("add a");
    fixture.write("a", "Y");
    let snapshot = fixture.snapshot("x").await;
    assert_eq!(parents_hold(&fixture, &snapshot, "a"), "X");
}

#[tokio::test]
async fn a_change_in_the_same_tick_as_the_index_is_seen() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    for round in 0..20 {
        // The length is the same each time: only the content and, perhaps, the time differ.
        fixture.write("a", &format!("X{round:02}"));
        fixture.git("add a");
        fixture.write("a", &format!("Y{round:02}"));
        let tree = repository.work_tree().current_tree().await.unwrap();
        let content = repository
            .trees()
            .read_file_in_tree(&tree, std::path::Path::new("a"))
            .await
            .unwrap();
        assert_eq!(content.unwrap(), format!("Y{round:02}").into_bytes());
    }
}

#[tokio::test]
async fn a_change_right_after_a_reading_is_seen_by_the_next() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    for round in 0..20 {
        let text = format!("{round:02}");
        fixture.write("a", &text);
        let tree = repository.work_tree().current_tree().await.unwrap();
        assert_eq!(listing(&fixture, &tree), format!("a={text} dir/b=b"));
    }
}

#[tokio::test]
async fn a_conflict_and_an_intent_to_add_do_not_hinder_a_snapshot() {
    let fixture = GitFixture::new();
    fixture.git("checkout -q -b other");
    fixture.write("a", "theirs\n");
    fixture.git("commit -q -a -m theirs");
    fixture.git("checkout -q main");
    fixture.write("a", "ours\n");
    fixture.git("commit -q -a -m ours");
    fixture.write("intended", "x");
    fixture.git("add -N intended");
    let repository = fixture.repository().await;
    let snapshot = repository.work_tree().snapshot("intended").await.unwrap();
    assert_eq!(parents_hold(&fixture, &snapshot, "a"), "ours");
    fixture.git("rm -q --cached intended");
    let merged = Command::new("git")
        .current_dir(fixture.root())
        .args(["merge", "-q", "other"])
        .envs(ENVIRONMENT)
        .output()
        .unwrap();
    assert!(!merged.status.success());
    let snapshot = repository.work_tree().snapshot("conflict").await.unwrap();
    assert_eq!(parents_hold(&fixture, &snapshot, "a"), "ours");
    assert!(listing(&fixture, &snapshot.tree).contains("<<<<<<<"));
}

/// Returns the size on disk of the objects of these files, in bytes.
fn stored(fixture: &GitFixture, tree: &TreeId, path: &str) -> usize {
    let id = fixture.git(&format!("rev-parse {}:{path}", tree.0));
    let (folder, name) = id.split_at(2);
    let object = fixture.root().join(".git/objects").join(folder).join(name);
    std::fs::metadata(object).unwrap().len() as usize
}

#[tokio::test]
async fn much_that_is_new_is_stored_uncompressed_and_little_is_compressed() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let work_tree = repository.work_tree();
    let line = "the same line\n";
    fixture.write("little", &line.repeat(1_000));
    let little = work_tree.snapshot("little").await.unwrap().tree;
    assert!(stored(&fixture, &little, "little") < 1_000);
    let size = 33 * 1024 * 1024;
    fixture.write("much", &line.repeat(size / line.len()));
    let much = work_tree.snapshot("much").await.unwrap().tree;
    assert!(stored(&fixture, &much, "much") >= size - line.len());
}

#[tokio::test]
async fn a_tree_that_is_read_again_is_the_one_that_a_first_reading_finds() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let changes: [&dyn Fn(&GitFixture); 9] = [
        &|_| {},
        &|fixture| fixture.write("a", "changed"),
        &|_| {},
        &|fixture| fixture.write("new/file", "new"),
        &|fixture| fixture.remove("dir/b"),
        &|fixture| fixture.write("a", "CHANGED"),
        &|fixture| fixture.write(".git/info/exclude", "new\n"),
        &|fixture| {
            fixture.git("add -f new/file");
        },
        &|fixture| fixture.write(".gitignore", "a\n"),
    ];
    for change in changes {
        change(&fixture);
        let again = repository.work_tree().current_tree().await.unwrap();
        let first = fixture.current_tree().await;
        assert_eq!(listing(&fixture, &again), listing(&fixture, &first));
        assert_eq!(again, first);
    }
}
