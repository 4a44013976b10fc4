//! The user changes the plan while an agent writes it: whose text counts.

use crate::World;
use crate::played::{
    PLAN, WANTS_MORE, begin, cast, events_of, fifo, kept_of_conflicts, leave, overwrite, read,
    release, talking,
};
use crate::script::{Agent, edit, shell, write};
use crate::terminal::Terminal;

/// A run that asks whose plan counts; returns the plan as the user made it.
fn clash(world: &World) -> (Terminal, String) {
    let fifo = fifo(world);
    let planner = talking()
        .plan(PLAN)
        .on(
            "[agent-collab RESPOND",
            vec![
                shell(&format!("cat {}", fifo.display())),
                write("${comments_path}", "1. accepted: yes\n"),
                edit("${plan_path}", "One word", "Its word"),
            ],
        )
        .respond(
            "1. rejected: it is the user's plan. Evidence: the plan says \"# Task: A test\"\n",
        );
    let reviewer = Agent::new()
        .review(WANTS_MORE)
        .review("[APPROVED]\n\n1. withdrawn: it is enough\n");
    let config = cast(world, &planner, &reviewer, "");
    let mut terminal = begin(world, &config);
    terminal.wait("the response's turn", |_| {
        events_of(world, "turn.started").len() == 4
    });
    let mine = read(world, "plan.md").replace("One word", "My word");
    overwrite(world, "plan.md", &mine);
    release(&fifo);
    terminal.wait_for("plan.md was edited while the planner was writing it");
    terminal.wait_for("differs from yours by +1 −1");
    assert_eq!(read(world, "plan.md"), mine);
    (terminal, mine)
}

#[test]
fn the_agents_text_is_taken_over_the_users() {
    let world = World::new();
    let (mut terminal, mine) = clash(&world);
    terminal.type_keys("o");
    terminal.wait_for("Replace your text?");
    terminal.type_keys("y");
    terminal.wait_for("Run this plan (");
    let plan = read(&world, "plan.md");
    assert!(
        plan.contains("Its word.") && !plan.contains("My word."),
        "{plan}"
    );
    let kept = kept_of_conflicts(&world);
    assert!(kept.contains(&mine), "{kept:?}");
    terminal.type_keys("2");
    terminal.wait_for("Its word.");
    leave(terminal);
}

#[test]
fn the_users_text_stays_and_the_turn_goes_again() {
    let world = World::new();
    let (mut terminal, _) = clash(&world);
    terminal.type_keys("n");
    terminal.wait_for("Discard what the turn wrote?");
    terminal.type_keys("y");
    terminal.wait_for("Run this plan (");
    let plan = read(&world, "plan.md");
    assert!(
        plan.contains("My word.") && !plan.contains("Its word."),
        "{plan}"
    );
    let kept = kept_of_conflicts(&world);
    assert!(
        kept.iter().any(|text| text.contains("Its word.")),
        "{kept:?}"
    );
    // Its second answer is the one that counts.
    let comments = events_of(&world, "response.committed");
    assert_eq!(comments.len(), 1, "{comments:?}");
    assert!(
        format!("{comments:?}").contains("it is the user's plan"),
        "{comments:?}"
    );
    terminal.type_keys("2");
    terminal.wait_for("My word.");
    leave(terminal);
}
