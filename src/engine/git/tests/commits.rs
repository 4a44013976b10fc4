//! Tests of what a commit takes, and what it leaves unchanged.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::domain::plan_execution::CommitSize;
use crate::engine::sandbox::{self, CommandReach, CommitSigningMode};
use crate::process::{ChildSpawner, SandboxNetwork, SandboxSupport, detect_sandbox_support};

/// Formats the paths of the last commit with their letters: `M a, A new`.
fn last_commit(fixture: &GitFixture) -> String {
    let list = fixture.git("show --root --no-renames --format= --name-status HEAD");
    list.replace('\t', " ")
        .lines()
        .collect::<Vec<_>>()
        .join(", ")
}

async fn failure(fixture: &GitFixture, path: &str) -> CommitFailure {
    commit_now(&fixture.repository().await, &paths(&[path]), &[], "x")
        .await
        .unwrap_err()
}

#[tokio::test]
async fn a_commit_takes_its_paths_and_what_the_user_staged_survives() {
    let fixture = GitFixture::new();
    fixture.write("user", "one\n");
    fixture.write("half", "one\n");
    fixture.git("add -A");
    fixture.git("commit -q -m more");
    // The user's changes: staged and then changed again; staged new; staged removal; changed only; untracked.
    fixture.write("half", "staged\n");
    fixture.write("fresh", "staged new\n");
    fixture.git("add half fresh");
    fixture.write("half", "and changed again\n");
    fixture.git("rm -q --cached dir/b");
    fixture.write("user", "changed only\n");
    fixture.write("notes", "untracked\n");
    // The changes of the step.
    fixture.write("a", "step\n");
    fixture.write("sub/new", "step\n");
    fixture.write("*", "step\n");
    let repository = fixture.repository().await;
    let commit = commit_now(
        &repository,
        &paths(&["a", "sub/new", "user", "*"]),
        &paths(&["user"]),
        "[Step 1] do it\n\n# kept",
    )
    .await;
    assert_eq!(commit.unwrap().0, fixture.git("rev-parse HEAD"));
    assert_eq!(last_commit(&fixture), "A *, M a, A sub/new");
    assert_eq!(
        fixture.git("log -1 --format=%B"),
        "[Step 1] do it\n\n# kept"
    );
    let status = fixture.git("status --porcelain");
    assert_eq!(
        status,
        "D  dir/b\nA  fresh\nMM half\n M user\n?? dir/\n?? notes"
    );
    assert_eq!(
        (fixture.git("show :half"), fixture.git("show :fresh")),
        ("staged".to_owned(), "staged new".to_owned())
    );
    assert_eq!(fixture.read("half"), "and changed again\n");
}

#[tokio::test]
async fn removals_moves_modes_and_links_are_committed() {
    let fixture = GitFixture::new();
    fixture.write("run.sh", "");
    fixture.write("x/y", "");
    fixture.git("add -A");
    fixture.git("commit -q -m more");
    fixture.git("mv a moved");
    fixture.remove("dir/b");
    std::fs::set_permissions(
        fixture.root().join("run.sh"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    std::os::unix::fs::symlink("moved", fixture.root().join("link")).unwrap();
    fixture.remove("x/y");
    std::fs::remove_dir(fixture.root().join("x")).unwrap();
    fixture.write("x", "a file in place of a folder");
    let changed = paths(&[
        "a",
        "moved",
        "dir/b",
        "run.sh",
        "link",
        "x",
        "x/y",
        "came-and-went",
    ]);
    commit_now(&fixture.repository().await, &changed, &[], "all kinds")
        .await
        .unwrap();
    assert_eq!(
        last_commit(&fixture),
        "D a, D dir/b, A link, A moved, M run.sh, A x, D x/y"
    );
    assert_eq!(fixture.git("status --porcelain"), "");
}

#[tokio::test]
async fn the_size_of_a_commit_counts_its_files_and_the_lines_of_text() {
    let fixture = GitFixture::unborn();
    fixture.write("text", "one\ntwo\nthree\n");
    std::fs::write(fixture.root().join("binary"), b"\0\x01\n\n").unwrap();
    let repository = fixture.repository().await;
    let changed = paths(&["text", "binary"]);
    let first = commit_now(&repository, &changed, &[], "first");
    let first = first.await.unwrap();
    fixture.write("text", "one\n2\n");
    fixture.remove("binary");
    fixture.write("tab\tand\nline", "new\n");
    let not_utf8 = OsStr::from_bytes(b"caf\xe9");
    std::fs::write(fixture.root().join(not_utf8), "new\n").unwrap();
    let mut changed = paths(&["text", "binary", "tab\tand\nline"]);
    changed.push(not_utf8.into());
    let second = commit_now(&repository, &changed, &[], "second");
    let second = second.await.unwrap();
    let size = |files, added, removed| CommitSize {
        files,
        added,
        removed,
    };
    let sizes = [
        repository.history().commit_size(&first).await.unwrap(),
        repository.history().commit_size(&second).await.unwrap(),
    ];
    assert_eq!(sizes, [size(2, 3, 0), size(4, 3, 2)]);
    let described = sizes.map(CommitSize::describe);
    assert_eq!(described, ["2 files · +3", "4 files · +3 −2"]);
}

#[tokio::test]
async fn the_first_commit_can_be_a_steps() {
    let fixture = GitFixture::unborn();
    fixture.write("a", "a");
    fixture.write("users", "staged");
    fixture.git("add users");
    commit_now(&fixture.repository().await, &paths(&["a"]), &[], "first")
        .await
        .unwrap();
    assert_eq!(
        (last_commit(&fixture), fixture.git("status --porcelain")),
        ("A a".to_owned(), "A  users".to_owned())
    );
}

#[tokio::test]
async fn nothing_to_commit_is_told_and_our_own_folder_is_never_committed() {
    let fixture = GitFixture::new();
    fixture.write(".agent-collab/plan.md", "x");
    assert_eq!(
        failure(&fixture, "a").await.kind,
        CommitFailureKind::NothingToCommit
    );
    assert_eq!(
        failure(&fixture, ".agent-collab/plan.md").await.kind,
        CommitFailureKind::NothingToCommit
    );
    assert_eq!(
        failure(&GitFixture::unborn(), "gone").await.kind,
        CommitFailureKind::NothingToCommit
    );
    assert_eq!(
        failure(&fixture, "../outside").await.kind,
        CommitFailureKind::Other
    );
}

#[tokio::test]
async fn hooks_run_and_may_add_to_the_commit() {
    let fixture = GitFixture::new();
    fixture.hook(
        "pre-commit",
        "echo formatted > a && git add a && echo by-hook > b && git add b",
    );
    fixture.hook("commit-msg", "echo 'Signed-off-by: hook' >> \"$1\"");
    fixture.write("a", "step\n");
    commit_now(&fixture.repository().await, &paths(&["a"]), &[], "step")
        .await
        .unwrap();
    assert_eq!(
        (last_commit(&fixture), fixture.git("show HEAD:a")),
        ("M a, A b".to_owned(), "formatted".to_owned())
    );
    assert!(
        fixture
            .git("log -1 --format=%B")
            .ends_with("Signed-off-by: hook")
    );
    assert_eq!(fixture.git("status --porcelain"), "");
}

/// Needs a working bubblewrap.
#[tokio::test]
async fn hooks_of_a_held_commit_write_the_files_and_nothing_that_runs_later() {
    let fixture = GitFixture::new();
    // A clone may be in a temporary folder, and a sandboxed command may write those.
    let home = std::env::home_dir().unwrap();
    let outside = tempfile::tempdir_in(home).unwrap();
    let outside = outside.path().display().to_string();
    fixture.write(".agent-collab/state.json", "{}");
    let config = fixture.read(".git/config");
    fixture.hook(
        "pre-commit",
        &format!(
            "for file in .git/hooks/evil .git/config .agent-collab/state.json {outside}/evil; do\n\
             (echo evil >> $file) 2>> a\ndone\ngit add a"
        ),
    );
    fixture.write("a", "step\n");
    let root = fixture.root();
    let path = std::env::var_os("PATH").unwrap();
    let candidates: Vec<_> = std::env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .filter(|bwrap| bwrap.exists())
        .collect();
    let kernel = detect_sandbox_support(&ChildSpawner::default(), &candidates, &root).await;
    assert!(matches!(kernel, SandboxSupport::Available(_)), "{kernel:?}");
    let workdir = root.join(".agent-collab");
    let reach = CommandReach {
        run: "run".to_owned(),
        network: SandboxNetwork::Loopback,
        sockets: Vec::new(),
        mentioned_paths: Vec::new(),
    };
    let repository = fixture.repository().await;
    let places = (&*root, &*workdir);
    let repository = sandbox::sandbox_git_commits(
        repository,
        &kernel,
        places.0,
        places.1,
        &reach,
        CommitSigningMode::Off,
    );
    let commit = commit_now(&repository, &paths(&["a"]), &[], "step").await;
    commit.unwrap();
    let said = fixture.git("show HEAD:a");
    assert_eq!(said.matches("Read-only file system").count(), 4, "{said}");
    assert_eq!(fixture.read(".git/config"), config);
    assert_eq!(fixture.read(".agent-collab/state.json"), "{}");
    assert_eq!(fixture.read(".git/hooks/evil"), "(none)");
    assert!(!Path::new(&outside).join("evil").exists());
    assert_eq!(fixture.git("log --format=%s"), "step\nfirst");
}

#[tokio::test]
async fn a_hook_that_refuses_is_named_and_the_index_is_untouched() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    fixture.write("new", "step\n");
    fixture.write("staged", "users\n");
    fixture.git("add staged");
    let index = std::fs::read(fixture.root().join(".git/index")).unwrap();
    let repository = fixture.repository().await;
    for hook in ["commit-msg", "pre-commit"] {
        fixture.hook(hook, "echo \"$0 says no\"; exit 1");
        let failure = commit_now(&repository, &paths(&["a", "new"]), &[], "x")
            .await
            .unwrap_err();
        assert_eq!(failure.kind, CommitFailureKind::Hook(hook.to_owned()));
        assert!(
            failure.output.ends_with(&format!("{hook} says no")),
            "{}",
            failure.output
        );
    }
    assert_eq!(
        std::fs::read(fixture.root().join(".git/index")).unwrap(),
        index
    );
    assert_eq!(fixture.git("log --format=%s"), "first");
}

#[tokio::test]
async fn a_missing_identity_a_failing_signature_and_a_lock_are_told_apart() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    fixture.git("config commit.gpgSign true");
    fixture.git("config gpg.program false");
    assert_eq!(
        failure(&fixture, "a").await.kind,
        CommitFailureKind::Signing
    );
    fixture.git("config commit.gpgSign false");
    fixture.git("config --unset user.email");
    fixture.git("config user.useConfigOnly true");
    assert_eq!(
        failure(&fixture, "a").await.kind,
        CommitFailureKind::Identity
    );
    fixture.write(".git/index.lock", "");
    assert_eq!(failure(&fixture, "a").await.kind, CommitFailureKind::Lock);
    assert_eq!(fixture.git("log --format=%s"), "first");
}

#[tokio::test]
async fn a_commit_that_the_index_could_not_be_told_of_stands_and_says_what_to_do() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    fixture.hook("post-commit", "printf x > .git/index");
    let repository = fixture.repository().await;
    let failure = commit_now(&repository, &paths(&["a"]), &[], "x")
        .await
        .unwrap_err();
    let CommitFailureKind::IndexBehind(commit) = &failure.kind else {
        panic!("{failure:?}");
    };
    assert_eq!(fixture.git("rev-parse HEAD"), commit.0);
    let told = failure.index_behind_message(commit);
    let short = commit.0.get(..12).unwrap();
    assert!(
        told.starts_with(&format!("commit {short} was made, but")),
        "{told}"
    );
    assert!(told.contains("run `git reset` before you commit"), "{told}");
}

#[tokio::test]
async fn an_index_that_can_be_read_again_soon_is_refreshed_after_all() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    let folder = fixture.root().join(".git");
    fixture.hook(
        "post-commit",
        "cp .git/index .git/kept && printf x > .git/index",
    );
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut settings = settings();
    let path = trace.path().display().to_string();
    settings.env.insert("GIT_TRACE".to_owned(), path);
    let found = GitRepository::discover(&fixture.root(), settings).await;
    let RepositoryDiscovery::Found(repository) = found.unwrap() else {
        panic!("no repository");
    };
    // The index is there again when it is read for the second time.
    let restore = async {
        let n_attempts = || {
            let seen = std::fs::read_to_string(trace.path()).unwrap();
            seen.matches("git diff-tree").count()
        };
        while n_attempts() < 2 {
            tokio::task::yield_now().await;
        }
        std::fs::rename(folder.join("kept"), folder.join("index")).unwrap();
        std::future::pending::<()>().await;
    };
    let paths = paths(&["a"]);
    let made = tokio::select! {
        made = commit_now(&repository, &paths, &[], "x") => made,
        () = restore => unreachable!("it waits for ever"),
    };
    assert_eq!(fixture.git("rev-parse HEAD"), made.unwrap().0);
    assert_eq!(fixture.git("status --porcelain"), "");
}

#[tokio::test]
async fn a_hook_that_refuses_without_a_word_is_named() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    let repository = fixture.repository().await;
    fixture.hook("pre-commit", "exit 3");
    let failure = commit_now(&repository, &paths(&["a"]), &[], "x")
        .await
        .unwrap_err();
    let hook = "pre-commit".to_owned();
    assert_eq!(failure.kind, CommitFailureKind::Hook(hook));
    let said = "the pre-commit hook failed (exit 3) without a message";
    assert_eq!(failure.output, said);
}

#[tokio::test]
async fn a_hook_that_waits_for_ever_is_stopped() {
    let fixture = GitFixture::new();
    fixture.write("a", "step\n");
    fixture.hook("pre-commit", "sleep 1000");
    let mut repository = fixture.repository().await;
    repository.git.settings.commit_timeout = std::time::Duration::from_secs(5);
    let failure = commit_now(&repository, &paths(&["a"]), &[], "x")
        .await
        .unwrap_err();
    assert_eq!(failure.kind, CommitFailureKind::TimedOut);
    assert_eq!(fixture.git("status --porcelain"), " M a");
}

#[tokio::test]
async fn a_submodules_new_commit_is_committed() {
    let (fixture, other) = (GitFixture::new(), GitFixture::new());
    fixture.git(&format!(
        "-c protocol.file.allow=always submodule --quiet add \"{}\" sub",
        other.root().display()
    ));
    fixture.git("commit -q -m submodule");
    let inside = fixture.root().join("sub");
    git_in(
        &inside,
        "-c user.name=x -c user.email=x@x commit -q --allow-empty -m inside",
    );
    let repository = fixture.repository().await;
    assert_eq!(dirty(&repository).await, "sub submodule");
    commit_now(&repository, &paths(&["sub"]), &[], "move it")
        .await
        .unwrap();
    assert_eq!(
        (last_commit(&fixture), dirty(&repository).await),
        ("M sub".to_owned(), String::new())
    );
}

#[tokio::test]
async fn an_index_that_a_crash_left_behind_a_commit_is_told_of_it() {
    let fixture = GitFixture::new();
    fixture.write("new", "step\n");
    // The state that a commit leaves if the program dies right after it.
    let before = std::fs::read(fixture.root().join(".git/index")).unwrap();
    fixture.git("add new");
    fixture.git("commit -q -m step");
    std::fs::write(fixture.root().join(".git/index"), before).unwrap();
    assert_eq!(fixture.git("status --porcelain"), "D  new\n?? new");
    let repository = fixture.repository().await;
    let commit = CommitId(fixture.git("rev-parse HEAD"));
    repository.index().refresh(&commit).await.unwrap();
    assert_eq!(fixture.git("status --porcelain"), "");
}
