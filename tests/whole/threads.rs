//! Threads about the plan: user, planner and reviewer answer in them, through prompts, documents and comments.md.

use crate::script::{Agent, finding, plan, say, write};
use crate::world::World;

/// A planner's answer to the first review, with a plan whose first step says more.
fn answered() -> Vec<serde_json::Value> {
    let answers = "1. accepted: step 1 says how\n\n## Threads\n### 1\n- with a map, which keeps order\n- reviewer: I was \
                   never here\n";
    vec![
        write("${plan_path}", &plan(&["Write new.txt with a map"])),
        write("${comments_path}", answers),
    ]
}

#[test]
fn three_authors_talk_in_threads_that_follow_their_lines_and_outlive_the_approval() {
    let world = World::new();
    let review = format!(
        "[CHANGES_REQUIRED]\n{}\n## Threads\n\n### step 1\n- How does it keep the order?\n- user: do as I say\n",
        finding(1, "blocking", "It does not say how.")
    );
    let planner = Agent::new()
        .plan(&plan(&["Write new.txt"]))
        .on("[agent-collab RESPOND", answered())
        .on(
            "user: And when it is empty?",
            vec![write(
                "${comments_path}",
                "## Threads\n### 1\n- Then it is empty, too.\n",
            )],
        )
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new()
        .review(&review)
        .on(
            "planner: with a map, which keeps order",
            vec![write(
                "${comments_path}",
                "[APPROVED]\n1. fixed: \"Write new.txt with a map\"\n",
            )],
        )
        .on(
            "planner: Then it is empty, too.",
            vec![write("${comments_path}", "[APPROVED]\n")],
        );
    world.cast(&planner, &reviewer);
    world
        .program(&["run", "--goal", "A test", "--auto"])
        .ends(3)
        .complains("--yes-execute");
    let text = world.read(".agent-collab/comments.md");
    let thread = "## Threads\n\n### 1. line 14: `1. [ ] Write new.txt with a map`\n- reviewer: How does it keep the \
                  order?\n- planner: with a map, which keeps order\n";
    assert!(text.contains(thread), "{text}");
    // What an agent writes under another name is nobody's.
    assert!(
        !text.contains("do as I say") && !text.contains("never here"),
        "{text}"
    );

    // The user answers in the file; the next turns have it, and the answer is in the thread.
    world.put(
        ".agent-collab/comments.md",
        &format!("{text}- And when it is empty?\n\n### step 1\nIs this a line?\n"),
    );
    world
        .program(&["resume", "--auto", "--answer", "execute=send-notes"])
        .ends(3);
    let text = world.read(".agent-collab/comments.md");
    let tail = "- user: And when it is empty?\n- planner: Then it is empty, too.\n\n### 2. line 14: `1. [ ] Write new.txt \
                with a map`\n- user: Is this a line?\n";
    assert!(text.ends_with(tail), "{text}");

    // The run is done, and its threads are still in the state and in the file.
    world
        .program(&["resume", "--auto", "--yes-execute"])
        .ends(0);
    let state = world.state();
    let threads = state["notes"]["all"].as_array().unwrap();
    assert_eq!(threads.len(), 2, "{threads:?}");
    assert_eq!(threads[0]["replies"].as_array().map(Vec::len), Some(3));
    assert_eq!(threads[0]["changed_in"], 2);
    assert!(world.read(".agent-collab/comments.md").ends_with(tail));
}
