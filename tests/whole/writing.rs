//! Writing children: each in its own work tree, whose changes are returned as a patch or stay as one.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::script::{Agent, edit, say, shell, write};
use crate::world::{Ran, World, wait_until};

const TASK: [&str; 4] = ["task", "--agent", "general", "--json"];
const FIRST: &str = "[agent-collab task general#1]\n\n[agent-collab agent general]";

fn task(world: &World, more: &[&str]) -> Ran {
    let mut arguments = TASK.to_vec();
    arguments.extend(more);
    world.program(&arguments)
}

fn result(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}\n{}", ran.out, ran.err))
}

fn trees(world: &World) -> PathBuf {
    world.folder.join("home/.cache/agent-collab/worktrees")
}

fn nothing_is_left(world: &World) {
    assert_eq!(world.leftovers(), Vec::<String>::new());
    assert_eq!(world.files(".agent-collab/turns"), [], "staging folders");
    let trees = trees(world);
    for folder in std::fs::read_dir(&trees).into_iter().flatten().flatten() {
        let n = std::fs::read_dir(folder.path()).expect("folder").count();
        assert_eq!(n, 0, "{}", folder.path().display());
    }
    assert!(!world.root.join(".git/worktrees").exists());
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
}

/// Runs a command after asking, because the stand-in for codex has no sandbox.
fn asks(run: &str) -> Value {
    let mut command = shell(run);
    command["ask"] = json!("always");
    command
}

/// Returns the texts of all stored patches.
fn kept(world: &World) -> Vec<String> {
    let files = world.files(".agent-collab/patches").into_iter();
    files
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

#[test]
fn what_a_child_changes_in_its_own_tree_comes_back_whole() {
    for cli in ["codex", "claude"] {
        let mut world = World::new();
        world.config = format!("[agents.general]\nadapter = \"{cli}\"\n");
        world.put("old.txt", "old\n");
        world.put("gone.txt", "gone\n");
        world.git(&["add", "-A"]);
        world.git(&["commit", "-qm", "more"]);
        // What is not committed is there for the child, what is ignored is not.
        world.put("README.md", "# A project\n\nchanged\n");
        world.put("new.txt", "new\n");
        world.put(".gitignore", "out\n");
        world.put("out", "built\n");
        let writer = Agent::new().on(
            FIRST,
            vec![
                shell("cat README.md"),
                edit("README.md", "changed", "changed by it"),
                write("made/it.txt", "made\n"),
                shell(
                    "git mv old.txt moved.txt || mv old.txt moved.txt; rm gone.txt; test ! -e out",
                ),
                say("Done."),
            ],
        );
        world.cast(&writer, &writer);
        let status = world.git(&["status", "--porcelain"]);
        let ran = task(&world, &["--on-ask", "allow-rules", "do it"]);
        let found = result(ran.ends(0));
        assert_eq!(found["patch"]["state"], "applied", "{found:#}\n{}", ran.err);
        assert_eq!(world.read("README.md"), "# A project\n\nchanged by it\n");
        assert_eq!(world.read("made/it.txt"), "made\n");
        assert_eq!(world.read("moved.txt"), "old\n");
        assert!(!world.root.join("old.txt").exists() && !world.root.join("gone.txt").exists());
        assert_eq!(world.read("out"), "built\n");
        // No commit, no branch, nothing staged.
        assert_eq!(world.subjects(), ["more", "first"]);
        assert!(world.git(&["diff", "--cached", "--name-only"]).is_empty());
        assert!(!status.contains("made"));
        assert_eq!(kept(&world), Vec::<String>::new());
        nothing_is_left(&world);
    }
}

#[test]
fn a_child_reaches_nothing_of_the_users() {
    for cli in ["codex", "claude"] {
        let mut world = World::new();
        world.config = format!("[agents.general]\nadapter = \"{cli}\"\n");
        let root = world.root.display().to_string();
        let writer = Agent::new().on(
            FIRST,
            vec![
                write(&format!("{root}/README.md"), "no\n"),
                write(&format!("{root}/.git/hooks/pre-commit"), "no\n"),
                write(&format!("{root}/.agent-collab/state.json"), "no\n"),
                write(".git", "gitdir: /nowhere\n"),
                asks(&format!("echo no > {root}/README.md")),
                asks(&format!("git -C {root} commit --allow-empty -m no")),
                asks(&format!("ln -s {root} way")),
                write("kept.txt", "kept\n"),
                say("Tried."),
            ],
        );
        world.cast(&writer, &writer);
        let found = result(task(&world, &["try it"]).ends(0));
        assert_eq!(world.read("README.md"), "# A project\n");
        assert_eq!(world.subjects(), ["first"]);
        assert!(!world.root.join(".git/hooks/pre-commit").exists());
        assert_eq!(found["patch"]["files"][0]["path"], "kept.txt", "{found:#}");
        assert_eq!(found["patch"]["n_files"], 1, "{found:#}");
        assert_eq!(world.read("kept.txt"), "kept\n");
        let refused = world.events_of("approval.answered");
        let refused = refused.iter().filter(|answer| answer["allowed"] == false);
        assert!(refused.count() >= 3);
        nothing_is_left(&world);
    }
}

#[test]
fn a_link_out_of_its_tree_leads_a_child_nowhere() {
    let mut world = World::new();
    world.config = "[agents.general]\nadapter = \"claude\"\n".to_owned();
    std::os::unix::fs::symlink(&world.root, world.folder.join("elsewhere")).expect("link");
    let link = world.folder.join("elsewhere").display().to_string();
    world.put("here", "");
    std::fs::remove_file(world.root.join("here")).expect("file");
    std::os::unix::fs::symlink(&link, world.root.join("here")).expect("link");
    let writer = Agent::new().on(
        FIRST,
        vec![
            // By its name the path is inside its own tree, but it leads to the user's: the kernel blocks the command.
            shell("echo no > here/README.md"),
            write("here/README.md", "no\n"),
            say("Tried."),
        ],
    );
    world.cast(&Agent::new(), &writer);
    let found = result(task(&world, &["try it"]).ends(0));
    assert_eq!(found.get("patch"), None, "{found:#}");
    assert_eq!(world.read("README.md"), "# A project\n");
    nothing_is_left(&world);
}

#[test]
fn what_is_not_allowed_or_not_completed_is_kept_as_a_patch() {
    let declined =
        "[[permission.rule]]\npermission = \"edit\"\npattern = \"secret.txt\"\naction = \"deny\"\n";
    let asked =
        "[[permission.rule]]\npermission = \"edit\"\npattern = \"asked.txt\"\naction = \"ask\"\n";
    for (config, path, why) in [
        (declined, "secret.txt", "secret.txt"),
        (asked, "asked.txt", "no one can answer"),
    ] {
        let mut world = World::new();
        world.config = config.to_owned();
        let writer = Agent::new().on(
            FIRST,
            vec![
                // A command writes what an edit would be refused.
                shell(&format!(
                    "echo it > {path}.x; mv {path}.x {path}; echo b > b.txt"
                )),
                say("Done."),
            ],
        );
        world.cast(&writer, &writer);
        let found = result(task(&world, &["do it"]).ends(0));
        let patch = &found["patch"];
        assert_eq!(patch["state"], "kept", "{found:#}");
        let told = patch["why"].as_str().expect("why");
        assert!(told.contains(why), "{told}");
        // All or nothing.
        assert!(!world.root.join(path).exists() && !world.root.join("b.txt").exists());
        assert_eq!(kept(&world).len(), 1);
        let file = patch["file"].as_str().expect("a file");
        world.git(&["apply", file]);
        assert_eq!(world.read(path), "it\n");
        nothing_is_left(&world);
    }
    let world = World::new();
    let writer = Agent::new().on(
        FIRST,
        vec![
            write("half.txt", "half\n"),
            json!({ "do": "error", "kind": "server" }),
        ],
    );
    world.cast(&writer, &writer);
    let found = result(task(&world, &["do it"]).ends(1));
    assert_eq!(found["patch"]["state"], "kept", "{found:#}");
    assert!(!world.root.join("half.txt").exists());
    assert!(kept(&world)[0].contains("+half"));
    nothing_is_left(&world);
}

#[test]
fn what_changed_on_both_sides_is_kept_where_nobody_is_there() {
    let world = World::new();
    let (wait, at) = (world.fifo("wait"), world.root.join("README.md"));
    let writer = Agent::new().on(
        FIRST,
        vec![
            edit("README.md", "# A project", "# Its project"),
            write("other.txt", "other\n"),
            shell(&format!("cat {wait}")),
            say("Done."),
        ],
    );
    world.cast(&writer, &writer);
    let mut arguments = TASK.to_vec();
    arguments.push("do it");
    let running = world.start(&arguments);
    wait_until("the child is at work", || at_work(&world));
    std::fs::write(&at, "# My project\n").expect("file");
    world.release("wait");
    let found = result(running.wait().ends(0));
    assert_eq!(found["patch"]["state"], "kept", "{found:#}");
    let why = found["patch"]["why"].as_str().expect("why");
    assert!(why.starts_with("README.md changed here too"), "{why}");
    assert_eq!(world.read("README.md"), "# My project\n");
    assert!(!world.root.join("other.txt").exists());
    assert!(kept(&world)[0].contains("Its project"));
    nothing_is_left(&world);
}

/// Whether the child has made its last change and waits.
fn at_work(world: &World) -> bool {
    let mut folders = std::fs::read_dir(trees(world))
        .into_iter()
        .flatten()
        .flatten();
    folders.any(|folder| {
        let mut trees = std::fs::read_dir(folder.path())
            .into_iter()
            .flatten()
            .flatten();
        trees.any(|tree| tree.path().join("other.txt").exists())
    })
}

#[test]
fn a_step_commits_what_its_children_changed() {
    let world = World::new();
    let give = json!({ "do": "tool", "tool": "task", "input":
        { "agent": "general", "prompt": "write two", "description": "writes two" } });
    let planner = Agent::planning(&["Write one and two"])
        .step(1, vec![write("one.txt", "one\n"), give, say("Wrote both.")])
        .on(FIRST, vec![write("two.txt", "two\n"), say("Wrote two.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0).says("changes applied (1 file, +1)");
    assert_eq!(world.committed(), ["one.txt", "two.txt"]);
    let asked = world.events_of("approval.asked");
    let taken = asked.iter().find(|asked| {
        asked["child"] == "planner ▸ general#1"
            && asked["request"]
                .as_str()
                .is_some_and(|id| id.ends_with("/patch"))
    });
    assert_eq!(taken.expect("decided")["permission"], "edit");
    nothing_is_left(&world);
}

#[test]
fn before_the_execution_every_child_only_reads() {
    let world = World::new();
    let give = json!({ "do": "tool", "tool": "task", "input":
        { "agent": "general", "prompt": "write two", "description": "writes two" } });
    let plan = crate::script::plan(&["Write one"]);
    let planner = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![give, write("${plan_path}", &plan)],
        )
        .step(1, vec![write("one.txt", "one\n"), say("Wrote one.")])
        .on(FIRST, vec![write("two.txt", "two\n"), say("Tried.")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    assert_eq!(world.committed(), ["one.txt"]);
    assert_eq!(world.events_of("task.started")[0].get("tree"), None);
    assert!(!trees(&world).exists());
    nothing_is_left(&world);
}

#[test]
fn after_a_kill_changes_are_saved_and_the_task_goes_on_with_them() {
    let world = World::new();
    let writer = Agent::new()
        .on(
            FIRST,
            vec![write("other.txt", "other\n"), json!({ "do": "stall" })],
        )
        .on(
            "go on",
            vec![
                shell("cat other.txt"),
                write("more.txt", "more\n"),
                say("All of it."),
            ],
        );
    world.cast(&writer, &Agent::new());
    let mut arguments = TASK.to_vec();
    arguments.push("begin");
    let running = world.start(&arguments);
    // If the conversation were not known yet, a new one would start.
    wait_until("it is at work and its conversation is known", || {
        at_work(&world) && world.has_event(|event| event["kind"] == "task.opened")
    });
    running.signal("KILL");
    running.wait();
    let started = world.events_of("task.started");
    let session = started[0]["session"].as_str().expect("an id");
    // Any other task is enough: the leftovers are saved first.
    let second = Agent::new().on("[agent-collab task general#2]", vec![say("Nothing to do.")]);
    world.cast(&second, &Agent::new());
    task(&world, &["nothing"]).ends(0);
    nothing_is_left(&world);
    assert!(kept(&world)[0].contains("+other"), "{:?}", kept(&world));
    let listed = world.program(&["sessions", "show", session]);
    listed
        .ends(0)
        .says("changes kept as a patch (1 file, +1) in .agent-collab/patches/");
    let patched = world.events_of("task.patch");
    assert_eq!(
        (&patched[0]["session"], &patched[0]["patch"]["state"]),
        (&json!(session), &json!("kept"))
    );
    assert!(!world.root.join("other.txt").exists());

    world.cast(&writer, &Agent::new());
    let found = result(task(&world, &["--id", session, "go on"]).ends(0));
    assert_eq!(found["patch"]["state"], "applied", "{found:#}");
    assert_eq!(
        (world.read("other.txt"), world.read("more.txt")),
        ("other\n".to_owned(), "more\n".to_owned())
    );
    nothing_is_left(&world);
}

#[test]
fn a_run_that_is_killed_with_a_writing_child_is_taken_up_without_a_loss() {
    let world = World::new();
    let give = json!({ "do": "tool", "tool": "task", "input":
        { "agent": "general", "prompt": "write two", "description": "writes two" } });
    let planner = Agent::planning(&["Write one"])
        .on(
            FIRST,
            vec![write("other.txt", "other\n"), json!({ "do": "stall" })],
        )
        .step(1, vec![write("one.txt", "one\n"), give, say("Both.")]);
    world.cast(&planner, &Agent::approving());
    let running = world.start_run(&[]);
    wait_until("the child is at work", || at_work(&world));
    running.signal("KILL");
    running.wait();
    let again = Agent::new().always(
        "[agent-collab EXECUTE step 1]",
        vec![write("one.txt", "one\n"), say("One.")],
    );
    world.cast(&again, &Agent::approving());
    let resumed = world.program(&["resume", "--auto", "--yes-execute", "--on-step", "redo"]);
    resumed.ends(0);
    assert_eq!(world.committed(), ["one.txt"]);
    assert!(!world.root.join("other.txt").exists());
    assert!(kept(&world)[0].contains("+other"), "{:?}", kept(&world));
    let patched = world.events_of("task.patch");
    assert_eq!(patched[0]["patch"]["state"], "kept");
    nothing_is_left(&world);
}

#[test]
fn a_stopped_child_loses_nothing_and_no_git_needs_none() {
    let world = World::without_git();
    world.put("README.md", "# A folder\n");
    let writer = Agent::new().on(
        FIRST,
        vec![write("other.txt", "other\n"), json!({ "do": "stall" })],
    );
    world.cast(&writer, &Agent::new());
    let mut arguments = TASK.to_vec();
    arguments.push("begin");
    let running = world.start(&arguments);
    wait_until("the child is at work", || at_work(&world));
    running.signal("INT");
    let found = result(running.wait().ends(130));
    assert_eq!(
        (&found["status"], &found["patch"]["state"]),
        (&json!("cancelled"), &json!("kept"))
    );
    assert!(kept(&world)[0].contains("+other"));
    assert!(!world.root.join("other.txt").exists() && !world.root.join(".git").exists());
    assert_eq!(world.leftovers(), Vec::<String>::new());
}
