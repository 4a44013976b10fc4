//! Tests of the bubblewrap arguments, and of what a sandboxed child really cannot do.
//!
//! These tests need a working bubblewrap.

use std::fs;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::process::tests::put_program;
use crate::process::{
    ChildSpawner, CommandLimits, CommandOutput, ProcessMark, SandboxSupport, SpawnSpec,
    StdinSource, detect_sandbox_support, run_to_end,
};

fn words(privilege: UserPrivilege, places: &[(&str, SandboxMount)]) -> String {
    let places = places
        .iter()
        .map(|(path, hold)| (PathBuf::from(path), hold.clone()));
    let containment = SandboxSpec::new(Path::new("/usr/bin/bwrap"), places);
    let words = containment.to_arguments_as(privilege, Path::new("/r"));
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[test]
fn a_user_is_held_in_a_namespace_of_its_own_and_nothing_is_writable() {
    assert_eq!(
        words(UserPrivilege::User, &[]),
        "--die-with-parent --unshare-user --ro-bind / / --dev /dev --bind /proc /proc --chdir /r --"
    );
}

#[test]
fn root_loses_its_rights() {
    assert_eq!(
        words(UserPrivilege::Root, &[]),
        "--die-with-parent --unshare-user --cap-drop ALL --ro-bind / / --dev /dev --chdir /r --"
    );
}

#[test]
fn deeper_places_come_later_and_of_two_holds_the_stricter() {
    let places = [
        ("/r/.git", SandboxMount::ReadOnly),
        ("/r/.agent-collab/turns/s", SandboxMount::Writable),
        ("/r", SandboxMount::ReadOnly),
        ("/r", SandboxMount::Writable),
        ("/r/.agent-collab", SandboxMount::ReadOnly),
        ("/run/bus", SandboxMount::EmptyFile),
        ("/run/user", SandboxMount::EmptyFolder),
    ];
    let words = words(UserPrivilege::User, &places);
    let (_, places) = words.split_once("--bind /proc /proc ").unwrap();
    assert_eq!(
        places,
        "--bind-try /r /r --ro-bind-try /r /r --ro-bind-try /r/.agent-collab /r/.agent-collab \
         --ro-bind-try /r/.git /r/.git --ro-bind /dev/null /run/bus --tmpfs /run/user \
         --bind-try /r/.agent-collab/turns/s /r/.agent-collab/turns/s --chdir /r --"
    );
}

#[test]
fn a_place_is_replaced_by_another_folder_and_network_and_processes_are_its_own() {
    let replaced = SandboxMount::BindFrom(PathBuf::from("/scratch"));
    let containment = SandboxSpec::new(
        Path::new("/usr/bin/bwrap"),
        [(PathBuf::from("/r/.git"), replaced)],
    );
    let containment = containment
        .with_network(SandboxNetwork::Loopback)
        .with_processes(SandboxProcesses::Own);
    let words = containment.to_arguments_as(UserPrivilege::User, Path::new("/r"));
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    assert_eq!(
        words.join(" "),
        "--die-with-parent --unshare-user --unshare-net --unshare-pid --ro-bind / / --dev /dev --proc /proc \
         --bind /scratch /r/.git --chdir /r --"
    );
}

/// Runs a script in a folder of its own with these mounts, and returns its output with the folder.
async fn held(script: &str, places: &[(&str, SandboxMount)]) -> (CommandOutput, tempfile::TempDir) {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let root = folder.path().canonicalize().unwrap();
    for below in ["repository/.git", "repository/src", "turn"] {
        fs::create_dir_all(root.join(below)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap();
    let candidates: Vec<_> = std::env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .filter(|bwrap| bwrap.exists())
        .collect();
    let SandboxSupport::Available(bwrap) =
        detect_sandbox_support(&ChildSpawner::default(), &candidates, &root).await
    else {
        panic!("bubblewrap does not work here; tests/run installs it");
    };
    let places = places
        .iter()
        .map(|(path, hold)| (root.join(path), hold.clone()));
    let mut spec = SpawnSpec::new(
        "sh",
        root.join("repository"),
        ProcessMark::new("test", "held"),
    )
    .args(["-c", script]);
    spec.sandbox = Some(SandboxSpec::new(&bwrap, places));
    let limits = CommandLimits {
        timeout: Duration::from_secs(30),
        output_cap: 4096,
        stdin: StdinSource::Null,
    };
    let ran = run_to_end(&spec, &limits, &CancellationToken::new()).await;
    (ran.unwrap(), folder)
}

const EXECUTE: &[(&str, SandboxMount)] = &[
    ("repository", SandboxMount::Writable),
    ("repository/.git", SandboxMount::ReadOnly),
    ("turn", SandboxMount::Writable),
];

#[tokio::test]
async fn what_is_not_writable_cannot_be_written_by_any_way() {
    let script = "for path in a .git/a src/a ../a /var/tmp/a; do touch $path 2>&1; done
        mv src other 2>&1; rm -r src 2>&1; echo x > ../turn/a && cat ../turn/a
        echo temporary > /dev/shm/a && cat /dev/shm/a; mount -o remount,rw,bind / 2>/dev/null || echo no mount
        echo x 2>&1 > /proc/$PPID/root/$PWD/b || echo no door";
    let before = &[
        ("repository", SandboxMount::ReadOnly),
        ("repository/.git", SandboxMount::ReadOnly),
        ("turn", SandboxMount::Writable),
    ];
    let (finished, folder) = held(script, before).await;
    let said = finished.stdout.to_text();
    let (touched, rest) = said.split_once("x\ntemporary\nno mount\n").unwrap();
    assert_eq!(
        touched.matches("Read-only file system").count(),
        7,
        "{said}"
    );
    assert!(rest.contains("no door"), "{said}");
    let names: Vec<_> = fs::read_dir(folder.path().join("repository"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(!Path::new("/var/tmp/a").exists());
}

#[tokio::test]
async fn in_execute_the_repository_is_written_and_its_git_folder_is_not() {
    let script = "echo x > a && cat a; touch .git/a 2>&1; mv .git git 2>&1; touch ../a 2>&1";
    let (finished, folder) = held(script, EXECUTE).await;
    let said = finished.stdout.to_text();
    assert!(said.starts_with("x\n"), "{said}");
    assert_eq!(said.matches("Read-only").count(), 2, "{said}");
    assert!(said.contains("busy"), "{said}");
    assert!(folder.path().join("repository/a").exists());
    assert!(folder.path().join("repository/.git").is_dir());
}

#[tokio::test]
async fn what_is_hidden_is_empty() {
    let script = "ls -A src; cat file; echo x > file";
    let places = &[
        ("repository", SandboxMount::Writable),
        ("repository/src", SandboxMount::EmptyFolder),
    ];
    let (finished, _folder) = held(script, places).await;
    assert!(!finished.stdout.to_text().contains("secret"));
}

#[tokio::test]
async fn a_held_child_carries_its_mark_and_gives_its_exit_code() {
    let (finished, _folder) = held("echo $AGENT_COLLAB_MARK; exit 7", EXECUTE).await;
    assert!(finished.stdout.to_text().starts_with("test:held:"));
    assert_eq!(finished.exit.code, Some(7));
}

#[tokio::test]
async fn whoever_is_left_of_a_held_child_is_swept() {
    // With its own process ids, a printed id means nothing here; a lock that the process inherits shows
    // whether it lives.
    let script = "exec 9> ../turn/held; flock 9 && echo held; setsid sleep 600 &";
    let (finished, folder) = held(script, EXECUTE).await;
    assert_eq!(finished.stdout.to_text(), "held\n");
    let lock = fs::File::open(folder.path().join("turn/held")).unwrap();
    fs2::FileExt::try_lock_exclusive(&lock).unwrap();
    assert_eq!(finished.exit.survivors, Vec::<u32>::new());
}

#[tokio::test]
async fn without_a_bubblewrap_that_works_it_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let children = ChildSpawner::default();
    let none = detect_sandbox_support(&children, &[], folder.path()).await;
    assert_eq!(
        none,
        SandboxSupport::Unavailable("bubblewrap not found".to_owned())
    );
    let broken = folder.path().join("bwrap");
    put_program(&broken, "#!/bin/sh\necho 'no namespaces' >&2\nexit 1\n");
    let found =
        detect_sandbox_support(&children, std::slice::from_ref(&broken), folder.path()).await;
    let SandboxSupport::Unavailable(why) = found else {
        panic!("{found:?}")
    };
    assert!(why.ends_with("does not work here: no namespaces"), "{why}");
}

#[tokio::test]
async fn a_held_child_sees_its_own_processes_alone_and_what_it_left_ends_with_it() {
    // The id of this process does not exist in there, or belongs to another process.
    let own = std::process::id();
    let script = format!(
        "tr '\\0' ' ' < /proc/{own}/cmdline 2>/dev/null; kill -0 {own} 2>/dev/null && echo seen
         setsid env -i sh -c 'trap \"\" TERM HUP; touch ../turn/up; sleep 600' >/dev/null 2>&1 </dev/null &
         while ! test -e ../turn/up; do :; done; exit 7"
    );
    let (finished, folder) = held(&script, EXECUTE).await;
    assert_eq!(
        (finished.exit.code, finished.stdout.to_text().as_str()),
        (Some(7), "")
    );
    assert_eq!(finished.exit.survivors, [0_u32; 0]);
    assert!(folder.path().join("turn/up").exists());
}
