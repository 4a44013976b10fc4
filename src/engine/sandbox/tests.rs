//! Tests which mounts the process of a turn gets.
//!
//! Starts no process.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::adapter::{Adapter, SessionSpec, TurnSpec, claude::ClaudeAdapter, codex::CodexAdapter};
use crate::domain::ids::TurnId;

struct SandboxTestRepo {
    _folder: tempfile::TempDir,
    root: PathBuf,
    config: PathBuf,
}

fn place() -> SandboxTestRepo {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (root, config) = (top.join("repository"), top.join("claude"));
    for path in [
        root.join(".git"),
        root.join(".agent-collab/turns/s"),
        config.join("agents"),
        config.join("unheard-of"),
        config.join("todos"),
        config.join("projects/-other"),
    ] {
        fs::create_dir_all(path).unwrap();
    }
    fs::create_dir(top.join("cache")).unwrap();
    fs::write(config.join(".credentials.json"), "{}").unwrap();
    SandboxTestRepo {
        _folder: folder,
        root,
        config,
    }
}

fn launch_of(adapter: &mut dyn Adapter, place: &SandboxTestRepo, access: TurnAccess) -> LaunchSpec {
    let mut session = SessionSpec {
        cwd: place.root.clone(),
        staging: place.root.join(".agent-collab/turns/s"),
        ..SessionSpec::example("claude")
    };
    let config = place.config.display().to_string();
    session.cli.env = BTreeMap::from([("CLAUDE_CONFIG_DIR".to_owned(), config)]);
    let turn = TurnSpec {
        turn: TurnId::new("t"),
        prompt: "p".to_owned(),
        access,
        hidden_permissions: Vec::new(),
    };
    adapter.prepare_launch(&session, &turn)
}

fn holder(place: &SandboxTestRepo, access: TurnAccess) -> TurnSandbox {
    TurnSandbox {
        support: SandboxSupport::Available("/usr/bin/bwrap".into()),
        root: place.root.clone(),
        read_only_folders: Vec::new(),
        workdir: place.root.join(".agent-collab"),
        visible_workdir_files: None,
        staging: place.root.join(".agent-collab/turns/s"),
        access,
        sandbox_escapes: Vec::new(),
        denied_files: Vec::new(),
        tools_folder: None,
        writable: vec![place.root.with_file_name("cache"), "/no/such/folder".into()],
    }
}

/// Returns the folder in which claude stores the conversations of this repository.
fn conversations(place: &SandboxTestRepo) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let root = place.root.to_string_lossy();
    let name: String = root.chars().map(plain).collect();
    place.config.join("projects").join(name)
}

fn check(access: TurnAccess, repository: SandboxMount) {
    let place = place();
    let launch = launch_of(&mut ClaudeAdapter::default(), &place, access);
    let held = holder(&place, access).sandbox_spec(&launch, "run").unwrap();
    let conversations = conversations(&place);
    let wanted = [
        (place.config.clone(), SandboxMount::EmptyFolder),
        (place.config.join("agents"), SandboxMount::ReadOnly),
        (place.config.join("unheard-of"), SandboxMount::ReadOnly),
        (
            place.config.join(".credentials.json"),
            SandboxMount::Writable,
        ),
        (conversations.clone(), SandboxMount::Writable),
        (conversations.join("memory"), SandboxMount::EmptyFolder),
        (place.root.with_file_name("cache"), SandboxMount::Writable),
        (place.root.clone(), repository),
        (place.root.join(".git"), SandboxMount::ReadOnly),
        (place.root.join(".agent-collab"), SandboxMount::ReadOnly),
        (place.root.join(".agent-collab"), SandboxMount::ReadOnly),
        (
            place.root.join(".agent-collab/turns/s"),
            SandboxMount::Writable,
        ),
    ];
    let top = place.root.parent().unwrap();
    let mut its: Vec<_> = held.mounts().to_vec();
    its.retain(|(path, _)| path.starts_with(top));
    assert_eq!(
        its,
        SandboxSpec::new(Path::new("/usr/bin/bwrap"), wanted).mounts()
    );
    let is_private = |hold: &SandboxMount| matches!(hold, SandboxMount::BindFrom(_));
    let mut places = held.mounts().iter();
    assert!(places.any(|(path, hold)| path == Path::new("/tmp") && is_private(hold)));
}

#[test]
fn before_execute_claude_writes_its_own_and_its_staging_folder() {
    check(TurnAccess::ReadOnly, SandboxMount::ReadOnly);
}

#[test]
fn in_execute_claude_writes_the_repository_too() {
    check(TurnAccess::Workspace, SandboxMount::Writable);
}

#[test]
fn memories_of_the_project_and_a_store_among_settings_are_not_written() {
    let place = place();
    let memory = conversations(&place).join("memory");
    fs::create_dir_all(&memory).unwrap();
    fs::create_dir(place.config.join("plugins")).unwrap();
    let launch = launch_of(&mut ClaudeAdapter::default(), &place, TurnAccess::Workspace);
    let SandboxProvider::AgentCollab(own) = &launch.sandbox else {
        panic!("claude is held as a whole");
    };
    let places = cli_state_mounts::state_folder_mounts(own, &place.root, &place.root, |name| {
        launch.env.get(name).map(OsString::from)
    });
    for expected in [
        (memory, SandboxMount::ReadOnly),
        (place.config.join("plugins"), SandboxMount::ReadOnly),
        (
            place.config.join("plugins/store"),
            SandboxMount::EmptyFolder,
        ),
    ] {
        assert!(places.contains(&expected), "{expected:?} in {places:?}");
    }
}

#[test]
fn what_the_user_opens_of_claudes_folder_by_name_is_open() {
    let place = place();
    let launch = launch_of(&mut ClaudeAdapter::default(), &place, TurnAccess::ReadOnly);
    let held = TurnSandbox {
        writable: vec![place.config.join("agents"), place.config.join("todos")],
        ..holder(&place, TurnAccess::ReadOnly)
    };
    let held = format!("{:?}", held.sandbox_spec(&launch, "run").unwrap());
    for name in ["agents", "todos"] {
        let open = format!("({:?}, Writable)", place.config.join(name));
        assert!(held.contains(&open), "{held}");
    }
}

#[test]
fn a_repository_that_is_claudes_own_folder_stays_one() {
    let place = place();
    let here = SandboxTestRepo {
        root: place.config.clone(),
        ..place
    };
    let launch = launch_of(&mut ClaudeAdapter::default(), &here, TurnAccess::Workspace);
    let held = format!(
        "{:?}",
        holder(&here, TurnAccess::Workspace).sandbox_spec(&launch, "run")
    );
    let open = format!("({:?}, Writable)", here.config);
    let closed = format!("({:?}, EmptyFolder)", here.config);
    assert!(held.contains(&open) && !held.contains(&closed), "{held}");
}

#[test]
fn of_a_folder_that_is_kept_from_it_a_process_sees_what_is_shown_alone() {
    let place = place();
    let workdir = place.root.join(".agent-collab");
    let plan = workdir.join("plan.md");
    fs::write(&plan, "").unwrap();
    let files = [plan.clone(), workdir.join("comments.md")];
    let shown: Vec<_> = hidden_workdir_mounts(&workdir, &files).collect();
    let expected = [
        (workdir, SandboxMount::EmptyFolder),
        (plan, SandboxMount::ReadOnly),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn who_has_a_sandbox_of_its_own_is_not_held_and_nobody_is_without_a_kernel() {
    let place = place();
    let codex = launch_of(&mut CodexAdapter::default(), &place, TurnAccess::Workspace);
    assert_eq!(
        holder(&place, TurnAccess::Workspace).sandbox_spec(&codex, "run"),
        None
    );
    let claude = launch_of(&mut ClaudeAdapter::default(), &place, TurnAccess::Workspace);
    let without = TurnSandbox {
        support: SandboxSupport::Unavailable("none".to_owned()),
        ..holder(&place, TurnAccess::Workspace)
    };
    assert_eq!(without.sandbox_spec(&claude, "run"), None);
}

#[test]
fn the_bubblewrap_of_codex_is_found_beside_its_wrapper_and_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let vendored = top.join("node_modules/@openai/codex-linux-x64/vendor/x86_64");
    let bwrap = vendored.join("codex-resources/bwrap");
    let (wrapper, native) = (
        top.join("node_modules/@openai/codex/bin/codex.js"),
        vendored.join("bin/codex"),
    );
    for file in [&bwrap, &wrapper, &native] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    let traits = CodexAdapter::default().traits();
    let bundled = traits.bundled_bubblewrap.as_ref().unwrap();
    for program in [wrapper, native] {
        let found = find_bundled(bundled, &program.to_string_lossy());
        assert_eq!(found, std::slice::from_ref(&bwrap));
    }
    assert_eq!(
        find_bundled(bundled, "/no/such/codex"),
        Vec::<PathBuf>::new()
    );
}
