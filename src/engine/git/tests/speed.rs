//! What a step's calls of git cost, on a small and on a large repository.

use std::time::Instant;

use super::attacks::held;
use super::*;

/// The calls of one step, in their order: before the turn, after it, around the tests, the commit.
async fn step(fixture: &Fixture, repository: &Repository, n: usize) -> u128 {
    let begun = Instant::now();
    let before = repository.snapshot(&format!("step-{n}")).await.unwrap();
    let runnable = repository.runnable().await.unwrap();
    let outside = begun.elapsed();
    fixture.write("d1/f1", &format!("changed {n}\n"));
    fixture.write(&format!("new-{n}"), "new\n");
    let begun = Instant::now();
    let now = repository.tree_now().await.unwrap();
    look(repository, &before.tree, &now, &runnable).await;
    let now = repository.tree_now().await.unwrap();
    repository
        .changes_between(&before.tree, &now)
        .await
        .unwrap();
    repository.dirty().await.unwrap();
    let now = repository.snapshot(&format!("after-{n}")).await.unwrap();
    look(repository, &before.tree, &now.tree, &runnable).await;
    repository.dirty().await.unwrap();
    repository.head().await.unwrap();
    let paths = paths(&["d1/f1", &format!("new-{n}")]);
    commit_now(repository, &paths, &[], "step").await.unwrap();
    (outside + begun.elapsed()).as_millis()
}

async fn look(repository: &Repository, before: &TreeId, now: &TreeId, runnable: &Runnable) {
    repository.changes_between(before, now).await.unwrap();
    repository.changes_between(before, now).await.unwrap();
    repository.hooks_folder().await.unwrap();
    let runnable = repository.runnable().await.unwrap().changes_since(runnable);
    assert_eq!(runnable, []);
}

#[tokio::test]
#[ignore = "measures; takes a minute"]
async fn what_a_step_costs() {
    for n_files in [1_000, 100_000] {
        let fixture = Fixture::unborn();
        for n in 0..n_files {
            fixture.write(&format!("d{}/f{n}", n % (n_files / 20)), &format!("{n}\n"));
        }
        fixture.write("d1/f1", "first\n");
        fixture.git("add -A");
        fixture.git("commit -q -m first");
        fixture.git("status");
        let repository = held(&fixture).await;
        let mut costs = Vec::new();
        for n in 0..7 {
            costs.push(step(&fixture, &repository, n).await);
        }
        costs.sort_unstable();
        println!(
            "{n_files} files: {} ms, all {costs:?}",
            costs[costs.len() / 2]
        );
    }
}
