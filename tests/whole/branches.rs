//! Which branch commits go to, in every kind of repository.

use crate::repository::{commit_all, git, init};
use crate::script::{Agent, say, write};
use crate::world::{RUN, World};

fn one_step(world: &World) {
    let agent = Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
}

fn branch(world: &World) -> String {
    world
        .git(&["symbolic-ref", "--short", "HEAD"])
        .trim()
        .to_owned()
}

#[test]
fn the_default_branch_is_left_for_one_named_after_the_goal() {
    let world = World::new();
    one_step(&world);
    world.run(&[]).ends(0).says("agent-collab/a-test");
    assert_eq!(branch(&world), "agent-collab/a-test");
    assert_eq!(world.git(&["log", "--format=%s", "main"]), "first\n");
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
}

#[test]
fn another_branch_is_kept() {
    let world = World::new();
    world.git(&["switch", "--quiet", "--create", "work"]);
    one_step(&world);
    world.run(&[]).ends(0);
    assert_eq!(branch(&world), "work");
}

#[test]
fn the_default_branch_is_kept_where_the_user_says_so() {
    let world = World::new();
    one_step(&world);
    world.run(&["--branch", "current"]).ends(0);
    assert_eq!(branch(&world), "main");
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
}

#[test]
fn a_new_branch_is_made_where_the_user_says_so_and_takes_a_free_name() {
    let world = World::new();
    world.git(&["branch", "agent-collab/a-test"]);
    world.git(&["switch", "--quiet", "--create", "work"]);
    one_step(&world);
    world.run(&["--branch", "new"]).ends(0);
    assert_eq!(branch(&world), "agent-collab/a-test-2");
}

#[test]
fn a_detached_head_gets_a_branch() {
    let world = World::new();
    world.git(&["checkout", "--quiet", "--detach"]);
    one_step(&world);
    world.run(&["--branch", "current"]).ends(0);
    assert_eq!(branch(&world), "agent-collab/a-test");
}

#[test]
fn the_first_commit_of_an_unborn_branch_is_that_of_step_1() {
    let world = World::without_git();
    init(&world.root);
    world.put("mine.txt", "mine\n");
    one_step(&world);
    world.run(&[]).ends(0);
    assert_eq!(branch(&world), "main");
    assert_eq!(world.subjects(), ["[Step 1] Wrote"]);
    assert_eq!(
        world.committed(),
        ["new.txt"],
        "what was there before is the user's"
    );
    assert_eq!(world.read("mine.txt"), "mine\n");
}

#[test]
fn without_git_the_run_audits_and_ends_with_commits_off() {
    let world = World::without_git();
    one_step(&world);
    let ran = world.run(&[]);
    ran.ends(0)
        .complains("commits are off")
        .complains("git init");
    assert_eq!(world.read("new.txt"), "new\n");
    assert_eq!(
        world.state()["execution"]["done"][0]["changed"],
        serde_json::json!(["new.txt"])
    );
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("commits are off")
    );
    assert!(!world.root.join(".git").exists());
}

#[test]
fn a_linked_worktree_has_a_run_of_its_own() {
    let mut world = World::new();
    let linked = world.folder.join("linked");
    world.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "work",
        &linked.display().to_string(),
    ]);
    world.root = linked;
    one_step(&world);
    world.run(&[]).ends(0);
    assert_eq!(branch(&world), "work");
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
    assert!(!world.folder.join("repository/.agent-collab").exists());
    let status = world.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert_eq!(
        status,
        "?? .agent-collab/.gitignore
"
    );
}

#[test]
fn a_submodule_with_changes_inside_is_left_alone() {
    let world = World::new();
    let inner = world.folder.join("inner");
    init(&inner);
    std::fs::write(inner.join("inner.txt"), "inner\n").expect("file");
    commit_all(&inner, "inner");
    world.git(&[
        "submodule",
        "--quiet",
        "add",
        &inner.display().to_string(),
        "sub",
    ]);
    commit_all(&world.root, "second");
    world.put("sub/inner.txt", "changed by me\n");
    one_step(&world);
    world.run(&[]).ends(0);
    assert_eq!(world.committed(), ["new.txt"]);
    assert_eq!(world.read("sub/inner.txt"), "changed by me\n");
    let inside = git(&world.root.join("sub"), &["log", "--format=%s"]);
    assert_eq!(inside, "inner\n");
}

#[test]
fn a_run_started_in_a_folder_below_belongs_to_the_root() {
    let world = World::new();
    world.put("below/x.txt", "x\n");
    commit_all(&world.root, "second");
    one_step(&world);
    let mut command = world.command(&RUN);
    let output = command
        .current_dir(world.root.join("below"))
        .output()
        .expect("program");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(world.committed(), ["new.txt"]);
    assert!(world.root.join(".agent-collab/state.json").exists());
}

#[test]
fn a_missing_identity_is_found_before_anything_runs() {
    let world = World::new();
    world.git(&["config", "--unset", "user.name"]);
    world.git(&["config", "--unset", "user.email"]);
    world.git(&["config", "user.useConfigOnly", "true"]);
    one_step(&world);
    world
        .run(&[])
        .ends(1)
        .complains("git has no name and email for commits")
        .complains("git config");
    assert!(!world.root.join(".agent-collab/state.json").exists());
}
