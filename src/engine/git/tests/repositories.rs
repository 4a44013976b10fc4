//! Tests with repositories in every state: subfolder, bare, linked, unborn, detached HEAD.

use super::*;

async fn discovered(folder: &Path) -> String {
    match GitRepository::discover(folder, settings()).await {
        Ok(RepositoryDiscovery::Found(repository)) => {
            format!("found {}", repository.root().display())
        }
        Ok(RepositoryDiscovery::NotARepository) => "not a repository".to_owned(),
        Ok(RepositoryDiscovery::NoWorkTree) => "no work tree".to_owned(),
        Err(error) => format!("{error}"),
    }
}

#[tokio::test]
async fn a_repository_is_found_from_below_and_through_a_link() {
    let fixture = GitFixture::new();
    let found = format!("found {}", fixture.root().display());
    assert_eq!(discovered(&fixture.root().join("dir")).await, found);
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(fixture.root(), &link).unwrap();
    assert_eq!(discovered(&link).await, found);
}

#[tokio::test]
async fn a_bare_repository_and_no_repository_are_told_apart() {
    let fixture = GitFixture::new();
    fixture.git("init -q --bare bare");
    assert_eq!(
        discovered(&fixture.root().join("bare")).await,
        "no work tree"
    );
    assert_eq!(
        discovered(&fixture.root().join(".git")).await,
        "no work tree"
    );
    assert_eq!(
        discovered(tempfile::tempdir().unwrap().path()).await,
        "not a repository"
    );
}

#[tokio::test]
async fn a_linked_work_tree_and_a_submodule_have_roots_of_their_own() {
    let (fixture, other) = (GitFixture::new(), GitFixture::new());
    let folder = tempfile::tempdir().unwrap();
    let linked = folder.path().canonicalize().unwrap().join("linked-tree");
    fixture.git(&format!(
        "worktree add -q \"{}\" -b linked",
        linked.display()
    ));
    assert_eq!(
        discovered(&linked).await,
        format!("found {}", linked.display())
    );
    let RepositoryDiscovery::Found(repository) =
        GitRepository::discover(&linked, settings()).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(repository.common_dir(), fixture.root().join(".git"));
    std::fs::write(linked.join("a"), "changed\n").unwrap();
    assert_eq!(dirty(&repository).await, "a modified");
    commit_now(&repository, &paths(&["a"]), &[], "in the linked tree")
        .await
        .unwrap();
    assert_eq!(git_in(&linked, "log --format=%s -1"), "in the linked tree");
    std::fs::remove_dir_all(&linked).unwrap();

    fixture.git(&format!(
        "-c protocol.file.allow=always submodule --quiet add \"{}\" sub",
        other.root().display()
    ));
    assert_eq!(
        discovered(&fixture.root().join("sub")).await,
        format!("found {}", fixture.root().join("sub").display())
    );
}

#[tokio::test]
async fn head_is_on_a_branch_or_not() {
    let unborn = GitFixture::unborn();
    assert_eq!(
        unborn.repository().await.branches().head().await.unwrap(),
        GitHead::Branch {
            name: "main".to_owned(),
            commit: None
        }
    );
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let branches = repository.branches();
    let commit = CommitId(fixture.git("rev-parse HEAD"));
    let on_main = GitHead::Branch {
        name: "main".to_owned(),
        commit: Some(commit.clone()),
    };
    assert_eq!(branches.head().await.unwrap(), on_main);
    // A packed branch, a symbolic one, and one in a folder.
    fixture.git("pack-refs --all");
    assert!(!fixture.root().join(".git/refs/heads/main").exists());
    assert_eq!(branches.head().await.unwrap(), on_main);
    fixture.git("symbolic-ref refs/heads/alias refs/heads/main");
    fixture.git("branch in/a/folder");
    for name in ["alias", "in/a/folder"] {
        fixture.git(&format!("symbolic-ref HEAD refs/heads/{name}"));
        let head = branches.head().await.unwrap();
        assert_eq!(head.commit(), Some(&commit), "{name}");
    }
    // A branch's file that git did not write is left to git.
    fixture.git("symbolic-ref HEAD refs/heads/main");
    let file = fixture.root().join(".git/refs/heads/main");
    let by_git = || fixture.git("rev-parse --verify --quiet HEAD^{commit}");
    for text in [
        commit.0.to_uppercase() + "\n",
        format!("{commit_id} \n", commit_id = commit.0),
    ] {
        std::fs::write(&file, text).unwrap();
        let head = branches.head().await.unwrap();
        assert_eq!(head.commit().map(|commit| commit.0.clone()), Some(by_git()));
    }
    std::fs::write(&file, format!("{}\n", "0".repeat(40))).unwrap();
    assert_eq!(branches.head().await.unwrap().commit(), None);
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("in/a/folder", &file).unwrap();
    let head = branches.head().await.unwrap();
    assert_eq!(head.commit(), Some(&commit));
    std::fs::remove_file(&file).unwrap();
    fixture.git(&format!("update-ref refs/heads/main {}", commit.0));
    fixture.git("checkout -q --detach");
    assert_eq!(branches.head().await.unwrap(), GitHead::Detached { commit });
}

#[tokio::test]
async fn the_default_branch_is_origins_then_the_configured_then_a_usual_one() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let branches = repository.branches();
    assert_eq!(
        branches.default_branch().await.unwrap().as_deref(),
        Some("main")
    );
    fixture.git("branch trunk");
    fixture.git("config init.defaultBranch trunk");
    assert_eq!(
        branches.default_branch().await.unwrap().as_deref(),
        Some("trunk")
    );
    fixture.git("update-ref refs/remotes/origin/stable HEAD");
    fixture.git("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/stable");
    assert_eq!(
        branches.default_branch().await.unwrap().as_deref(),
        Some("stable")
    );
    let odd = GitFixture::new();
    odd.git("branch -m odd");
    let odd = odd.repository().await;
    assert_eq!(odd.branches().default_branch().await.unwrap(), None);
}

#[tokio::test]
async fn a_run_on_the_default_branch_gets_one_of_its_own() {
    let fixture = GitFixture::new();
    fixture.write("a", "not committed\n");
    let repository = fixture.repository().await;
    let branches = repository.branches();
    let enter = async |choice| branches.enter_branch(choice, "add login!").await.unwrap();
    assert_eq!(
        enter(BranchChoice::Current).await,
        RunBranch::Stayed("main".to_owned())
    );
    assert_eq!(
        enter(BranchChoice::Unsaid).await,
        RunBranch::Created("agent-collab/add-login".to_owned())
    );
    assert_eq!(
        (fixture.read("a"), dirty(&repository).await),
        ("not committed\n".to_owned(), "a modified".to_owned())
    );
    assert_eq!(
        enter(BranchChoice::Unsaid).await,
        RunBranch::Stayed("agent-collab/add-login".to_owned())
    );
    assert_eq!(
        enter(BranchChoice::New).await,
        RunBranch::Created("agent-collab/add-login-2".to_owned())
    );
    fixture.git("checkout -q --detach");
    assert_eq!(
        enter(BranchChoice::Current).await,
        RunBranch::Created("agent-collab/add-login-3".to_owned())
    );
}

#[tokio::test]
async fn before_the_first_commit_the_branch_stays() {
    let fixture = GitFixture::unborn();
    let entered = fixture
        .repository()
        .await
        .branches()
        .enter_branch(BranchChoice::New, "x")
        .await
        .unwrap();
    assert_eq!(entered, RunBranch::Stayed("main".to_owned()));
}

#[tokio::test]
async fn a_branch_called_agent_collab_is_no_obstacle() {
    let fixture = GitFixture::new();
    fixture.git("branch agent-collab");
    let entered = fixture
        .repository()
        .await
        .branches()
        .enter_branch(BranchChoice::Unsaid, "x")
        .await
        .unwrap();
    assert_eq!(entered, RunBranch::Created("agent-collab-x".to_owned()));
}

#[tokio::test]
async fn author_and_committer_are_told_or_missed() {
    let fixture = GitFixture::new();
    let tester = GitPerson {
        name: "Tester".to_owned(),
        email: "tester@example.com".to_owned(),
    };
    let expected = CommitIdentity {
        author: tester.clone(),
        committer: tester,
    };
    assert_eq!(
        fixture
            .repository()
            .await
            .config()
            .commit_identity()
            .await
            .unwrap(),
        Ok(expected)
    );
    fixture.git("config --unset user.email");
    fixture.git("config user.useConfigOnly true");
    let missing = fixture
        .repository()
        .await
        .config()
        .commit_identity()
        .await
        .unwrap()
        .unwrap_err();
    assert!(
        missing.output.contains("no email was given"),
        "{}",
        missing.output
    );
}

#[tokio::test]
async fn dirty_names_every_path_but_our_own_and_ignored_ones() {
    let fixture = GitFixture::new();
    fixture.write("gone", "");
    fixture.write("to-link", "");
    fixture.write(".agent-collab/config.toml", "");
    fixture.git("add -A -f");
    fixture.git("commit -q -m more");
    fixture.write(".agent-collab/config.toml", "changed");
    fixture.write(".agent-collab/state.json", "{}");
    fixture.write(".gitignore", "*.log\n");
    fixture.write("x.log", "");
    fixture.write("new dir/new file", "");
    fixture.write("staged", "");
    fixture.git("add staged");
    fixture.remove("gone");
    fixture.git("mv a moved");
    fixture.remove("to-link");
    std::os::unix::fs::symlink("dir/b", fixture.root().join("to-link")).unwrap();
    fixture.write("\u{fc}n\"\n?*", "");
    let repository = fixture.repository().await;
    let expected = ".gitignore untracked, a deleted, gone deleted, moved added, new dir/new file untracked, \
                    staged added, to-link retyped, \u{fc}n\"\n?* untracked";
    assert_eq!(dirty(&repository).await, expected);
}

#[tokio::test]
async fn changes_inside_a_submodule_are_not_looked_for_and_its_commits_are() {
    let (fixture, other) = (GitFixture::new(), GitFixture::new());
    fixture.git(&format!(
        "-c protocol.file.allow=always submodule --quiet add \"{}\" sub",
        other.root().display()
    ));
    fixture.git("commit -q -m submodule");
    let repository = fixture.repository().await;
    assert_eq!(dirty(&repository).await, "");
    fixture.write("sub/a", "changed");
    assert_eq!(dirty(&repository).await, "");
    fixture.git("-C sub -c user.name=a -c user.email=b commit -q -a -m inside");
    assert_eq!(dirty(&repository).await, "sub submodule");
}

#[tokio::test]
async fn a_conflict_is_named() {
    let fixture = GitFixture::new();
    fixture.git("checkout -q -b other");
    fixture.write("a", "theirs\n");
    fixture.git("commit -q -a -m theirs");
    fixture.git("checkout -q main");
    fixture.write("a", "ours\n");
    fixture.git("commit -q -a -m ours");
    let merge = Command::new("git")
        .current_dir(fixture.root())
        .args(["merge", "other"])
        .envs(ENVIRONMENT)
        .output()
        .unwrap();
    assert!(!merge.status.success());
    let repository = fixture.repository().await;
    assert_eq!(dirty(&repository).await, "a unmerged");
    let failure = commit_now(&repository, &paths(&["a"]), &[], "x")
        .await
        .unwrap_err();
    assert_eq!(
        failure.kind,
        CommitFailureKind::OperationInProgress("MERGE_HEAD")
    );
}

#[tokio::test]
async fn commits_are_listed_from_a_base_on() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let base = CommitId(fixture.git("rev-parse HEAD"));
    fixture.git("commit -q --allow-empty -m second");
    fixture.git("commit -q --allow-empty -m third");
    let subjects = async |base: Option<&CommitId>| {
        let commits = repository.history().commits_since(base).await.unwrap();
        commits
            .into_iter()
            .map(|(_, subject)| subject)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(subjects(Some(&base)).await, "second third");
    assert_eq!(subjects(None).await, "first second third");
    assert_eq!(
        GitFixture::unborn()
            .repository()
            .await
            .history()
            .commits_since(None)
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn a_hooks_folder_inside_the_tree_is_found() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let home = format!("~/{}", repository.root().display());
    for (named, expected) in [
        (None, None),
        (Some("tools/hooks"), Some("tools/hooks")),
        (Some("/elsewhere"), None),
        (Some(home.as_str()), None),
    ] {
        if let Some(named) = named {
            fixture.git(&format!("config core.hooksPath \"{named}\""));
        }
        let configuration = repository.config().read().await.unwrap();
        let found = repository.config().hooks_folder_in_tree(&configuration);
        assert_eq!(found, expected.map(PathBuf::from), "{named:?}");
    }
}

#[tokio::test]
async fn a_missing_git_is_told_with_a_remedy() {
    let mut settings = settings();
    settings.program = "no-such-git".to_owned();
    let error = GitRepository::discover(tempfile::tempdir().unwrap().path(), settings)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "cannot run git: no-such-git not found");
    assert!(error.hint().starts_with("install git"));
}
