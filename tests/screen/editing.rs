//! The user edits plan and comments on the screen: conflicts, edits by hand, who talks, what expired.

use nix::sys::signal::Signal;

use crate::World;
use crate::keys::{ENTER, ESC, F2};
use crate::played::{
    PLAN, WANTS_MORE, begin, cast, events_of, fifo, kept_of_conflicts, leave, open, overwrite,
    read, release, talking,
};
use crate::script::{Agent, edit, shell, write};

#[test]
fn a_line_that_is_written_anew_in_place_is_an_edit_of_the_users() {
    let world = World::new();
    let reviewer = Agent::new().review("[APPROVED]\n");
    let config = cast(&world, &talking().plan(PLAN), &reviewer, "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (");
    let before = read(&world, "plan.md");
    // The title, then the line below it.
    terminal.type_keys("2..");
    terminal.wait_for("▌ One word.");
    terminal.type_keys("+");
    terminal.wait_for("Enter: save line");
    terminal.type_keys(" Or two.\r");
    terminal.wait_for("Plan changed after its review");
    assert_eq!(
        read(&world, "plan.md"),
        before.replace("One word.", "One word. Or two.")
    );
    leave(terminal);
}

#[test]
fn a_paste_that_contains_the_end_of_a_paste_stays_a_paste() {
    let world = World::new();
    let config = cast(&world, &talking().plan(PLAN), &Agent::approving(), "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("\x1b[200~please wait\x1b[201~ or \ry\x1b[201~");
    // The Enter in it sends nothing, and what comes behind it answers nothing.
    terminal.wait_for("please wait or");
    assert!(events_of(&world, "execution.entered").is_empty());
    assert!(events_of(&world, "said.kept").is_empty());
    // A key so soon behind it would count as its rest.
    terminal.signal(Signal::SIGTERM);
    terminal.wait_for_end();
}

#[test]
fn a_clash_opens_the_editor_on_the_merge_and_its_result_counts() {
    let world = World::new();
    let fifo = fifo(&world);
    let planner = talking().plan(PLAN).on(
        "[agent-collab RESPOND",
        vec![
            shell(&format!("cat {}", fifo.display())),
            write(
                "${comments_path}",
                "1. rejected: it is enough. Evidence: the plan says \"# Task: A test\"\n",
            ),
            edit("${plan_path}", "One word", "Its word"),
        ],
    );
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let config = cast(&world, &planner, &reviewer, "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("is answering");
    let mine = read(&world, "plan.md").replace("One word", "My word");
    overwrite(&world, "plan.md", &mine);
    release(&fifo);
    terminal.wait_for("plan.md was edited while the planner was writing it");
    terminal.wait_for("differs from yours by +1 −1");
    terminal.type_keys("v");
    terminal.wait_for("+ Its word.");
    terminal.type_keys("v");
    terminal.wait_for("plan.md, the agent's");
    terminal.type_keys(ESC);
    terminal.wait_for("Merge both");
    terminal.type_keys("m");
    terminal.wait_for("THE EDITOR HAS");
    terminal.type_keys("nothing done\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("still has a conflict marker");
    assert_eq!(read(&world, "plan.md"), mine);
    terminal.type_keys("e");
    // The first editor's text is still visible below: only a second pair shows that this editor reads its keys.
    terminal.wait("the editor again", |terminal| {
        terminal.text().matches("THE EDITOR HAS").count() == 2
    });
    terminal.type_keys("both\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("Run this plan (");
    let plan = read(&world, "plan.md");
    assert!(plan.contains("My word.\nIts word.\n"), "{plan}");
    let kept = kept_of_conflicts(&world);
    assert!(kept.contains(&mine), "{kept:?}");
    let merged = |text: &String| text.contains("My word.\nIts word.\n");
    assert!(kept.iter().any(merged), "{kept:?}");
    leave(terminal);
}

/// Edits by hand at the cap; the last key chooses how to continue. Returns how many reviews there were.
fn edited_by_hand(done: &str) -> usize {
    let world = World::new();
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let config = cast(
        &world,
        &talking().plan(PLAN),
        &reviewer,
        "[workflow]\nmax_iterations = 1\n",
    );
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Review limit reached (1 of 1)");
    terminal.type_keys("e");
    terminal.wait_for("THE EDITOR HAS plan.md");
    terminal.type_keys("2. [ ] Sing\r");
    terminal.wait("the terminal taken again", |terminal| terminal.is_taken());
    terminal.wait_for("You are editing the plan");
    terminal.type_keys(done);
    terminal.wait_for("Run this plan (");
    assert!(read(&world, "plan.md").contains("2. [ ] Sing"));
    let n_reviews = read(&world, "events.jsonl")
        .matches("review.committed")
        .count();
    leave(terminal);
    n_reviews
}

#[test]
fn a_plan_edited_by_hand_at_the_cap_is_reviewed_once_more() {
    assert_eq!(edited_by_hand("r"), 2);
}

#[test]
fn a_plan_edited_by_hand_at_the_cap_is_accepted_without_a_review() {
    assert_eq!(edited_by_hand("y"), 1);
}

#[test]
fn the_user_chooses_who_talks_about_the_goal_and_changes_the_choice() {
    let world = World::new();
    let config = cast(&world, &talking().plan(PLAN), &talking(), "");
    let mut terminal = open(&world, &config);
    terminal.type_keys(F2);
    terminal.wait_for("F2 planner");
    terminal.type_keys("A test\r");
    terminal.wait_for("Message the reviewer");
    terminal.wait_for("Is this the goal");
    terminal.type_keys(F2);
    terminal.wait_for("Message the planner");
    terminal.type_keys("And more.\r");
    terminal.wait("both have talked", |terminal| {
        terminal.text().matches("Understood.").count() == 2
    });
    terminal.wait_for("Is this the goal");
    assert_eq!(
        terminal.text().matches("▌ A test").count(),
        1,
        "{}",
        terminal.text()
    );
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal.type_keys(ENTER);
    terminal.wait_for("Send the goal to the planner?");
    leave(terminal);
}

#[test]
fn a_call_that_waited_at_a_kill_is_shown_as_expired_and_its_agent_is_told() {
    let world = World::new();
    let folder = world.repository().join("demo");
    let mut terminal = world.open(&["demo", "--fast", "--dir", &folder.to_string_lossy()]);
    terminal.wait_for("Is this the goal");
    terminal.type_keys(ESC);
    terminal.wait_until_letters_command();
    terminal.type_keys("a");
    terminal.wait_for("Auto");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("p");
    terminal.wait_for("Manual");
    terminal.type_keys("m");
    terminal.wait_for("Start step 1?");
    terminal.type_keys("a");
    terminal.wait_for("Allow this command?");
    terminal.signal(Signal::SIGKILL);
    assert!(!terminal.wait_for_end().success());
    let config = folder.join("config.toml");
    let mut terminal = world.open_in("demo/wordstat", &["--config", &config.to_string_lossy()]);
    terminal.wait_for("Resume the unfinished run?");
    terminal.type_keys("y");
    terminal.wait_for("Expired unanswered: bash");
    terminal.wait_for("was cut off. What next?");
    terminal.type_keys("g");
    terminal.wait_for("Start step 3?");
    terminal.type_keys("v");
    terminal.wait_for("nobody answered");
    leave(terminal);
}
