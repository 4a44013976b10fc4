//! The user's uncommitted changes are never lost and never committed without asking.

use std::fs::File;

use crate::script::{Agent, edit, say, shell, write};
use crate::world::{RUN, Running, World};

fn world_with_changes() -> World {
    let world = World::new();
    world.put("mine.txt", "first\n");
    world.put("staged.txt", "first\n");
    crate::repository::commit_all(&world.root, "second");
    world.put("mine.txt", "first\nmy words\r\n\u{0}");
    world.put("staged.txt", "first\nstaged\n");
    world.git(&["add", "staged.txt"]);
    world.put("untracked.txt", "mine, too\n");
    world
}

fn editor_of_mine() -> Agent {
    Agent::planning(&["Edit it"]).step(
        1,
        vec![
            edit("mine.txt", "first\n", "changed\n"),
            write("new.txt", "new\n"),
            say("Edited."),
        ],
    )
}

#[test]
fn files_that_no_step_touches_stay_as_they_are() {
    let world = world_with_changes();
    let index = world.git(&["diff", "--cached"]);
    let agent = Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(0);
    assert_eq!(world.read("mine.txt"), "first\nmy words\r\n\u{0}");
    assert_eq!(world.read("untracked.txt"), "mine, too\n");
    assert_eq!(
        world.git(&["diff", "--cached"]),
        index,
        "what was staged stays staged"
    );
    assert_eq!(world.committed(), ["new.txt"]);
    let status = world.git(&["status", "--porcelain", "--untracked-files=all"]);
    let rest = status.replace(".agent-collab/.gitignore", "");
    assert!(!rest.contains(".agent-collab"), "{status}");
}

#[test]
fn a_step_that_edits_a_dirty_file_asks_and_names_the_flag() {
    let world = world_with_changes();
    world.cast(&editor_of_mine(), &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("mine.txt")
        .complains("--on-dirty include|leave-out");
    assert_eq!(world.subjects(), ["second", "first"]);
    assert_eq!(world.read("mine.txt"), "changed\nmy words\r\n\u{0}");
}

#[test]
fn a_dirty_file_is_committed_whole_where_the_user_says_include() {
    let world = world_with_changes();
    world.cast(&editor_of_mine(), &Agent::approving());
    world.run(&["--on-dirty", "include"]).ends(0);
    assert_eq!(world.committed(), ["mine.txt", "new.txt"]);
    assert_eq!(
        world.git(&["show", "HEAD:mine.txt"]),
        "changed\nmy words\r\n\u{0}"
    );
    assert_eq!(world.read("staged.txt"), "first\nstaged\n");
    assert!(
        world
            .git(&["diff", "--cached", "--name-only"])
            .contains("staged.txt")
    );
}

#[test]
fn a_dirty_file_stays_uncommitted_where_the_user_says_leave_out() {
    let world = world_with_changes();
    world.cast(&editor_of_mine(), &Agent::approving());
    world.run(&["--on-dirty", "leave-out"]).ends(0);
    assert_eq!(world.committed(), ["new.txt"]);
    assert_eq!(world.read("mine.txt"), "changed\nmy words\r\n\u{0}");
    assert!(world.read(".agent-collab/log.md").contains("mine.txt"));
}

#[test]
fn an_untracked_file_of_the_user_is_dirty_too() {
    let world = world_with_changes();
    let agent =
        Agent::planning(&["Edit"]).step(1, vec![write("untracked.txt", "theirs\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("untracked.txt")
        .complains("--on-dirty");
}

#[test]
fn a_file_the_user_deleted_may_be_written_anew_only_by_their_leave() {
    let world = world_with_changes();
    std::fs::remove_file(world.root.join("mine.txt")).expect("remove");
    let agent =
        Agent::planning(&["Edit"]).step(1, vec![write("mine.txt", "theirs\n"), say("Wrote.")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("mine.txt")
        .complains("--on-dirty");
}

/// A run whose agent has edited one file and reads from a pipe until it is released.
fn under_way(world: &World, more: &[&str]) -> Running {
    let wait = world.fifo("wait");
    let agent = Agent::planning(&["Write"]).step(
        1,
        vec![
            write("new.txt", "new\n"),
            say("Wrote."),
            shell(&format!("cat {wait}")),
            say("Done."),
        ],
    );
    world.cast(&agent, &Agent::approving());
    let mut running = world.start_run(more);
    running.until("planner │ Wrote.");
    running
}

#[test]
fn what_the_user_saves_while_a_step_runs_asks_and_names_the_flag() {
    let world = World::new();
    let running = under_way(&world, &[]);
    world.put("notes.txt", "of the user\n");
    world.release("wait");
    running
        .wait()
        .ends(3)
        .complains("notes.txt")
        .complains("apparently not by its agent")
        .complains("--on-dirty include|leave-out");
    assert_eq!(world.subjects(), ["first"]);
}

#[test]
fn what_the_user_saves_while_a_step_runs_stays_out_of_its_commit_and_of_its_undo() {
    let world = World::new();
    let running = under_way(&world, &["--on-dirty", "leave-out"]);
    world.put("notes.txt", "of the user\n");
    world.release("wait");
    running.wait().ends(0);
    assert_eq!(world.committed(), ["new.txt"]);
    assert!(world.read(".agent-collab/log.md").contains("notes.txt"));
    world.program(&["undo", "--yes"]).ends(0);
    assert!(!world.root.join("new.txt").exists());
    assert_eq!(world.read("notes.txt"), "of the user\n");
}

#[test]
fn what_the_user_saves_between_a_kill_and_resume_stays_out_of_the_step() {
    let world = World::new();
    let running = under_way(&world, &[]);
    running.signal("KILL");
    running.wait();
    world.put("notes.txt", "of the user\n");
    let again = Agent::planning(&["Write"]).always(
        "[agent-collab EXECUTE step 1]",
        vec![say("It is all there.")],
    );
    world.cast(&again, &Agent::approving());
    let resume = ["resume", "--auto", "--yes-execute", "--on-step", "continue"];
    world.program(&resume).ends(3).complains("notes.txt");
    let answered = [&resume[..], &["--on-dirty", "leave-out"]].concat();
    world.program(&answered).ends(0);
    assert_eq!(world.committed(), ["new.txt"]);
    assert_eq!(world.read("notes.txt"), "of the user\n");
}

#[test]
fn what_a_command_of_the_agent_writes_is_its_own() {
    let world = World::new();
    let agent = Agent::planning(&["Write"]).step(
        1,
        vec![
            shell("mkdir made && echo x > made/by-command.txt"),
            say("Made."),
        ],
    );
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(0);
    assert_eq!(world.committed(), ["made/by-command.txt"]);
}

#[test]
fn what_the_program_prints_into_a_file_of_the_repository_is_no_change_of_the_users() {
    for kept in ["new", "of the repository"] {
        let world = World::new();
        if kept == "of the repository" {
            world.put("run.log", "an older one\n");
            crate::repository::commit_all(&world.root, "second");
        }
        let agent =
            Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
        world.cast(&agent, &Agent::approving());
        let log = File::create(world.root.join("run.log")).expect("a file");
        let mut program = world.command(&RUN);
        let ended = program.stdout(log).status().expect("the program");
        assert_eq!(ended.code(), Some(0), "{}", world.read("run.log"));
        assert_eq!(world.committed(), ["new.txt"], "{kept}");
        assert!(world.read("run.log").contains("Wrote."));
        let deleted = world.git(&["log", "--diff-filter=D", "--format=%s"]);
        assert_eq!(deleted, "", "{kept}");
    }
}
