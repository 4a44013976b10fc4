//! Measures the git calls of a step, on a small and on a large repository.

use std::time::Instant;

use super::attacks::sandboxed_repository;
use super::*;

/// Makes the calls of one step in order: before the turn, after it, around the tests, the commit.
async fn step(fixture: &GitFixture, repository: &GitRepository, n: usize) -> u128 {
    let work_tree = repository.work_tree();
    let started = Instant::now();
    let before = work_tree.snapshot(&format!("step-{n}")).await.unwrap();
    let runnable = repository.unversioned_code().scan().await.unwrap();
    let outside = started.elapsed();
    fixture.write("d1/f1", &format!("changed {n}\n"));
    fixture.write(&format!("new-{n}"), "new\n");
    let started = Instant::now();
    let now = work_tree.current_tree().await.unwrap();
    look(repository, &before.tree, &now, &runnable).await;
    let now = work_tree.current_tree().await.unwrap();
    repository
        .trees()
        .changes_between(&before.tree, &now)
        .await
        .unwrap();
    repository.status().dirty_files().await.unwrap();
    let now = work_tree.snapshot(&format!("after-{n}")).await.unwrap();
    look(repository, &before.tree, &now.tree, &runnable).await;
    repository.status().dirty_files().await.unwrap();
    repository.branches().head().await.unwrap();
    let paths = paths(&["d1/f1", &format!("new-{n}")]);
    commit_now(repository, &paths, &[], "step").await.unwrap();
    (outside + started.elapsed()).as_millis()
}

async fn look(
    repository: &GitRepository,
    before: &TreeId,
    now: &TreeId,
    runnable: &UnversionedCode,
) {
    let trees = repository.trees();
    trees.changes_between(before, now).await.unwrap();
    trees.changes_between(before, now).await.unwrap();
    repository.config().read().await.unwrap();
    let runnable = repository
        .unversioned_code()
        .scan()
        .await
        .unwrap()
        .changes_since(runnable);
    assert_eq!(runnable, []);
}

#[tokio::test]
#[ignore = "measures; takes a minute"]
async fn what_a_step_costs() {
    for n_files in [1_000, 100_000] {
        let fixture = GitFixture::unborn();
        for n in 0..n_files {
            fixture.write(&format!("d{}/f{n}", n % (n_files / 20)), &format!("{n}\n"));
        }
        fixture.write("d1/f1", "first\n");
        fixture.git("add -A");
        fixture.git("commit -q -m first");
        fixture.git("status");
        let repository = sandboxed_repository(&fixture).await;
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
