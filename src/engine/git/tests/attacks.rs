//! Tests against agents that leave something in the work tree for git to run, and hooks that leave something
//! in git's folder.

use std::os::unix::fs::symlink;

use super::*;
use crate::engine::sandbox::{
    CommandReach, CommitSigningMode, sandbox_git_commits, sandbox_git_reads,
};
use crate::process::{ChildSpawner, SandboxNetwork, SandboxSupport, detect_sandbox_support};

/// Opens the repository as a run does, with the sandbox of its calls.
pub(super) async fn sandboxed_repository(fixture: &GitFixture) -> GitRepository {
    with_test_sandbox(fixture.repository().await).await
}

async fn with_test_sandbox(repository: GitRepository) -> GitRepository {
    let root = repository.root().to_path_buf();
    let candidates = ["/usr/bin/bwrap".into()];
    let kernel = detect_sandbox_support(&ChildSpawner::default(), &candidates, &root).await;
    assert!(matches!(kernel, SandboxSupport::Available(_)), "{kernel:?}");
    let repository = sandbox_git_reads(repository, &kernel);
    let reach = CommandReach {
        run: "run".to_owned(),
        network: SandboxNetwork::Loopback,
        sockets: Vec::new(),
        mentioned_paths: Vec::new(),
    };
    let workdir = root.join(".agent-collab");
    sandbox_git_commits(
        repository,
        &kernel,
        &root,
        &workdir,
        &reach,
        CommitSigningMode::Off,
    )
}

/// Returns a program that leaves a mark outside of the repository, where only an unsandboxed process can write.
fn marking(mark: &Path) -> String {
    format!("#!/bin/sh\ntouch \"{}\"\ncat\n", mark.display())
}

struct OutsideMarker {
    folder: TempDir,
}

impl OutsideMarker {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        Self { folder }
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join("ran")
    }

    fn program(&self) -> String {
        marking(&self.mark())
    }
}

/// Asks git everything that the program asks about the work tree.
async fn look_at_all(repository: &GitRepository) {
    let before = repository.work_tree().snapshot("before").await.unwrap();
    repository.status().dirty_files().await.unwrap();
    repository.unversioned_code().scan().await.unwrap();
    repository.status().list_files().await.unwrap();
    repository.status().nested_repositories().await.unwrap();
    let now = repository.work_tree().current_tree().await.unwrap();
    repository.trees().diff(&before.tree, &now).await.unwrap();
}

#[tokio::test]
async fn a_filter_that_is_a_script_of_the_repository_runs_held() {
    let fixture = GitFixture::new();
    let outside = OutsideMarker::new();
    fixture.write(".gitattributes", "*.txt filter=fmt\n");
    fixture.write("tools/fmt.sh", "#!/bin/sh\ncat\n");
    fixture.git("config filter.fmt.clean \"sh tools/fmt.sh\"");
    fixture.git("config filter.fmt.smudge \"sh tools/fmt.sh\"");
    fixture.git("add -A");
    fixture.git("commit -q -m filter");
    let repository = sandboxed_repository(&fixture).await;
    let tree = repository.work_tree().current_tree().await.unwrap();
    fixture.write("tools/fmt.sh", &outside.program());
    fixture.write("a.txt", "one\n");
    look_at_all(&repository).await;
    let paths = paths(&["a.txt", "tools/fmt.sh"]);
    commit_now(&repository, &paths, &[], "step").await.unwrap();
    repository.work_tree().restore_tree(&tree).await.unwrap();
    assert!(!outside.mark().exists(), "the agent's program ran unheld");
    assert_eq!(fixture.read("a.txt"), "(none)");
}

#[tokio::test]
async fn a_process_filter_runs_held() {
    let fixture = GitFixture::new();
    let outside = OutsideMarker::new();
    fixture.write(".gitattributes", "*.txt filter=fmt\n");
    fixture.git("config filter.fmt.process \"sh tools/fmt.sh\"");
    fixture.write("tools/fmt.sh", &outside.program());
    fixture.write("a.txt", "one\n");
    let repository = sandboxed_repository(&fixture).await;
    // The test filter does not speak the filter protocol; whether git complains does not matter here.
    let _either_way = repository.work_tree().current_tree().await;
    let _either_way = repository.status().dirty_files().await;
    assert!(!outside.mark().exists(), "the agent's program ran unheld");
}

#[tokio::test]
async fn a_diff_driver_that_is_a_script_of_the_repository_runs_nowhere() {
    let fixture = GitFixture::new();
    let outside = OutsideMarker::new();
    fixture.write(".gitattributes", "* diff=x\n");
    fixture.git("config diff.x.textconv \"sh tools/x.sh\"");
    fixture.git("config diff.x.command \"sh tools/x.sh\"");
    fixture.git("config diff.external \"sh tools/x.sh\"");
    fixture.write("tools/x.sh", &outside.program());
    let repository = sandboxed_repository(&fixture).await;
    look_at_all(&repository).await;
    assert!(!outside.mark().exists(), "the agent's program ran unheld");
}

#[tokio::test]
async fn a_submodule_whose_git_folder_was_replaced_is_not_entered_and_is_told() {
    let (fixture, other, outside) = (GitFixture::new(), GitFixture::new(), OutsideMarker::new());
    other.write(".gitattributes", "* filter=x\n");
    other.git("add -A");
    other.git("commit -q -m attributes");
    fixture.git(&format!(
        "-c protocol.file.allow=always submodule --quiet add \"{}\" sub",
        other.root().display()
    ));
    fixture.git("commit -q -m submodule");
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.unversioned_code().scan().await.unwrap();
    std::fs::remove_file(fixture.root().join("sub/.git")).unwrap();
    fixture.git("init -q sub");
    fixture.git("-C sub add -A");
    fixture.git("-C sub -c user.name=a -c user.email=b commit -q -m own");
    let program = outside.folder.path().join("program");
    put_program(&program, &outside.program());
    fixture.git(&format!(
        "-C sub config filter.x.clean \"{}\"",
        program.display()
    ));
    fixture.git(&format!(
        "-C sub config core.fsmonitor \"{}\"",
        program.display()
    ));
    // The content has the same length, so that only the content itself differs.
    fixture.write("sub/a", "b\n");
    look_at_all(&repository).await;
    assert!(!outside.mark().exists(), "the agent's program ran unheld");
    let changes = repository
        .unversioned_code()
        .scan()
        .await
        .unwrap()
        .changes_since(&before);
    let told = changes.iter().map(|change| change.path.display());
    let told: Vec<String> = told.map(|path| path.to_string()).collect();
    assert_eq!(told, ["sub/.git"]);
}

#[tokio::test]
async fn a_git_folder_that_appears_below_the_root_is_told() {
    let fixture = GitFixture::new();
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.unversioned_code().scan().await.unwrap();
    fixture.write(".gitignore", "ignored/\n");
    for nested in ["dir", "untracked/deep", "ignored/x"] {
        fixture.write(&format!("{nested}/file"), "x\n");
        fixture.git(&format!("init -q {nested}"));
    }
    let changes = repository
        .unversioned_code()
        .scan()
        .await
        .unwrap()
        .changes_since(&before);
    let told = changes.iter().map(|change| change.path.display());
    let told: Vec<String> = told.map(|path| path.to_string()).collect();
    assert_eq!(told, ["dir/.git", "ignored/x/.git", "untracked/deep/.git"]);
}

/// What a hook tries to leave in git's folder; git runs or follows each of these later.
const PLANTS: [&str; 10] = [
    "echo ../elsewhere > \"$D/commondir\"",
    "echo '[core]\n\tfsmonitor = touch ran' > \"$D/config.worktree\"",
    "mkdir -p \"$D/info\"; echo '* filter=x' > \"$D/info/attributes\"",
    "echo /elsewhere > \"$D/objects/info/alternates\"",
    "mkdir -p \"$D/modules/sub\"; echo '[core]' > \"$D/modules/sub/config\"",
    "mkdir -p \"$D/hooks\"; echo 'touch ran' > \"$D/hooks/post-checkout\"",
    "echo '[core]\n\tfsmonitor = touch ran' >> \"$D/config\"",
    "git update-ref refs/heads/planted HEAD",
    "git update-ref refs/tags/planted HEAD",
    "echo 'ref: refs/heads/planted' > \"$D/refs/heads/other\"",
];

/// Lists all files in git's folder except objects and what a commit itself writes.
fn gits_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(folder).unwrap().display().to_string();
            let is_object = below.starts_with("objects/") && !below.starts_with("objects/info");
            if is_object || below.starts_with("logs") || below == "COMMIT_EDITMSG" {
                continue;
            }
            if path.is_dir() {
                open.push(path)
            } else {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let keeps = !["index", "refs/heads/main", "HEAD"].contains(&&*below);
                found.push(format!("{below} {}", if keeps { &text } else { "" }));
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_a_hook_plants_in_gits_folder_does_not_stay() {
    for plant in PLANTS {
        for hooks in [".git/hooks", "hooks"] {
            let fixture = GitFixture::new();
            std::fs::remove_dir_all(fixture.root().join(".git/hooks")).unwrap();
            if hooks == "hooks" {
                fixture.git("config core.hooksPath hooks");
            }
            fixture.write("b", "b\n");
            let script =
                format!("#!/bin/sh\nD=$(git rev-parse --absolute-git-dir)\n{plant}\nexit 0\n");
            std::fs::create_dir_all(fixture.root().join(hooks)).unwrap();
            put_program(&fixture.root().join(hooks).join("pre-commit"), &script);
            let repository = sandboxed_repository(&fixture).await;
            let before = gits_files(&fixture.root().join(".git"));
            let commit = commit_now(&repository, &paths(&["b"]), &[], "step").await;
            let commit = commit.unwrap_or_else(|error| panic!("{plant}: {error}"));
            let after = gits_files(&fixture.root().join(".git"));
            assert_eq!(after, before, "{plant}");
            assert_eq!(fixture.git("rev-parse HEAD"), commit.0);
            assert_eq!(fixture.git("symbolic-ref HEAD"), "refs/heads/main");
            assert_eq!(fixture.git("show HEAD:b"), "b");
            assert_eq!(fixture.git("reflog -1 --format=%gs"), "commit: step");
            fixture.git("fsck");
        }
    }
}

#[tokio::test]
async fn a_held_commit_is_made_on_no_branch_in_a_linked_tree_and_before_the_first() {
    let fixture = GitFixture::new();
    fixture.git("checkout -q --detach");
    fixture.write("b", "b\n");
    let repository = sandboxed_repository(&fixture).await;
    let commit = commit_now(&repository, &paths(&["b"]), &[], "detached").await;
    assert_eq!(fixture.git("rev-parse HEAD"), commit.unwrap().0);
    assert_eq!(fixture.git("log -1 --format=%s"), "detached");

    let folder = tempfile::tempdir().unwrap();
    let linked = folder.path().canonicalize().unwrap().join("linked");
    fixture.git(&format!(
        "worktree add -q \"{}\" -b linked",
        linked.display()
    ));
    let tree = GitFixture { folder };
    tree.write("linked/c", "c\n");
    let found = GitRepository::discover(&linked, settings()).await.unwrap();
    let RepositoryDiscovery::Found(repository) = found else {
        panic!("{found:?}")
    };
    let repository = with_test_sandbox(repository).await;
    let commit = commit_now(&repository, &paths(&["c"]), &[], "linked").await;
    assert_eq!(fixture.git("rev-parse linked"), commit.unwrap().0);
    assert_eq!(git_in(&linked, "status --porcelain"), "");

    let unborn = GitFixture::unborn();
    unborn.write("a", "a\n");
    let repository = sandboxed_repository(&unborn).await;
    let commit = commit_now(&repository, &paths(&["a"]), &[], "first").await;
    assert_eq!(unborn.git("rev-parse main"), commit.unwrap().0);
}

#[tokio::test]
async fn a_step_cannot_hide_itself_from_a_diff() {
    let fixture = GitFixture::new();
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.work_tree().current_tree().await.unwrap();
    fixture.write(".gitattributes", "* -diff\n*.rs binary\n");
    fixture.write("a", "changed\n");
    fixture.write("b.rs", "new\n");
    let now = repository.work_tree().current_tree().await.unwrap();
    let diff = repository.trees().diff(&before, &now).await.unwrap();
    assert!(diff.contains("+changed") && diff.contains("+new"), "{diff}");
}

#[tokio::test]
async fn an_encoding_that_is_none_does_not_break_a_look() {
    let fixture = GitFixture::new();
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.work_tree().current_tree().await.unwrap();
    fixture.write(".gitattributes", "* working-tree-encoding=nonsense\n");
    fixture.write("a", "changed\n");
    let now = repository.work_tree().current_tree().await.unwrap();
    let changes = repository
        .trees()
        .changes_between(&before, &now)
        .await
        .unwrap();
    let changes = describe_changes(changes.into_iter().map(|change| (change.path, change.kind)));
    assert_eq!(changes, ".gitattributes added, a modified");
    repository.status().dirty_files().await.unwrap();
    let paths = paths(&["a", ".gitattributes"]);
    commit_now(&repository, &paths, &[], "step").await.unwrap();
    assert_eq!(fixture.git("show HEAD:a"), "changed");
}

#[tokio::test]
async fn a_link_as_git_folder_is_told() {
    let fixture = GitFixture::new();
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.unversioned_code().scan().await.unwrap();
    symlink("/var/tmp", fixture.root().join("dir/.git")).unwrap();
    let changes = repository
        .unversioned_code()
        .scan()
        .await
        .unwrap()
        .changes_since(&before);
    assert_eq!(changes.len(), 1, "{changes:?}");
}

#[tokio::test]
async fn where_nothing_holds_git_a_filter_that_an_agent_could_change_is_refused() {
    let fixture = GitFixture::new();
    fixture.write("tools/fmt.sh", "#!/bin/sh\ncat\n");
    let repository = sandbox_git_reads(
        fixture.repository().await,
        &SandboxSupport::Unavailable("bubblewrap not found".to_owned()),
    );
    let check = async |command: &str, is_taken: bool| {
        fixture.git(&format!("config filter.fmt.clean \"{command}\""));
        let told = repository.work_tree().current_tree().await;
        assert_eq!(told.is_ok(), is_taken, "{command}: {told:?}");
        if let Err(error) = told {
            assert!(error.to_string().contains(command), "{error}");
            assert!(error.hint().contains("install bubblewrap"));
        }
    };
    check("cat", true).await;
    check("cat -- %f", true).await;
    check("./tools/fmt.sh", false).await;
    check("tools/fmt.sh", false).await;
    check("sh tools/fmt.sh", false).await;
    check("cat tools/fmt.sh", false).await;
    check("cat; tools/fmt.sh", false).await;
    check("no-such-program-anywhere", false).await;
    fixture.git("config --unset filter.fmt.clean");
    fixture.git("config filter.fmt.process tools/fmt.sh");
    assert!(repository.status().dirty_files().await.is_err());
    assert!(repository.work_tree().current_tree().await.is_err());
}

#[tokio::test]
async fn a_submodules_git_is_found_in_every_kind_of_index() {
    let check = |init: &str, version: &str| {
        let fixture = GitFixture {
            folder: tempfile::tempdir().unwrap(),
        };
        fixture.git(&format!("init -q {init}"));
        for name in ["a", "long/name/of/a/file", "z"] {
            fixture.write(name, name);
        }
        for name in ["long/name/of/a/repository", "sub"] {
            fixture.git(&format!("init -q {init} {name}"));
            fixture.write(&format!("{name}/x"), "x");
            fixture.git(&format!("-C {name} add -A"));
            fixture.git(&format!(
                "-C {name} -c user.name=a -c user.email=b commit -q -m x"
            ));
        }
        fixture.git("-c advice.addEmbeddedRepo=false add -A");
        fixture.git(&format!("update-index --index-version {version}"));
        let mut found = crate::engine::git::submodule_mounts(&fixture.root());
        found.sort();
        let found = found.iter().map(|(path, _)| {
            let below = path.strip_prefix(fixture.root()).unwrap();
            below.display().to_string()
        });
        let found: Vec<String> = found.collect();
        let expected = ["long/name/of/a/repository/.git", "sub/.git"];
        assert_eq!(found, expected, "{init} {version}");
    };
    for version in ["2", "3", "4"] {
        check("", version);
        check("--object-format=sha256", version);
    }
}

#[tokio::test]
async fn a_program_of_the_repository_that_gits_configuration_names_asks_when_it_changes() {
    let fixture = GitFixture::new();
    fixture.write("tools/fmt.sh", "cat\n");
    fixture.write("lib/other.sh", "cat\n");
    fixture.git("config filter.fmt.clean ./tools/fmt.sh");
    fixture.git("config merge.m.driver \"sh 'lib/other.sh' %O\"");
    let repository = sandboxed_repository(&fixture).await;
    let before = repository.work_tree().current_tree().await.unwrap();
    fixture.write("tools/fmt.sh", "touch ran\n");
    fixture.write("lib/other.sh", "touch ran\n");
    fixture.write("lib/third.sh", "touch ran\n");
    fixture.write(".gitattributes", "* filter=fmt\n");
    let now = repository.work_tree().current_tree().await.unwrap();
    let configuration = &repository.config().read().await.unwrap();
    let changes = crate::engine::test_runner::sensitive_changes_between(
        &repository,
        configuration,
        None,
        &before,
        &now,
    );
    let changes = changes.await.unwrap();
    let told: Vec<String> = changes
        .iter()
        .map(|change| change.path.display().to_string())
        .collect();
    assert_eq!(told, [".gitattributes", "lib/other.sh", "tools/fmt.sh"]);
}
