//! Tests of reverts between trees, path by path, and of commits of trees.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::domain::question::CommitTarget;
use crate::domain::reversal_plan::{ReversalPlan, TreeSpan, UndoDirection};
use crate::engine::tree_reversal::{CommitRepository, ReversalAttempt, apply_reversal};

async fn spans(repository: &GitRepository, commits: &[&str]) -> Vec<RevertSpan> {
    let mut spans = Vec::new();
    for commit in commits {
        spans.push(
            repository
                .history()
                .trees_around_commit(&CommitId((*commit).to_owned()))
                .await
                .unwrap(),
        );
    }
    spans
}

fn commit_all(fixture: &GitFixture, message: &str) -> String {
    fixture.git("add -A");
    fixture.git(&format!("commit -q -m {message}"));
    fixture.git("rev-parse HEAD")
}

#[tokio::test]
async fn each_path_gets_its_earliest_content_and_changes_of_others_are_named() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let trees = repository.trees();
    fixture.write("a", "one\n");
    fixture.write("new", "new\n");
    let first = commit_all(&fixture, "one");
    fixture.write("dir/b", "mine\n");
    fixture.write("other", "mine\n");
    commit_all(&fixture, "mine");
    fixture.write("a", "two\n");
    fixture.write("dir/b", "two\n");
    let second = commit_all(&fixture, "two");
    fixture.write("new", "mine now\n");
    let now = repository.work_tree().current_tree().await.unwrap();
    let spans = spans(&repository, &[&first, &second]).await;
    let found = trees.contents_before(&spans, &now).await.unwrap();
    let names: Vec<_> = found
        .paths
        .keys()
        .map(|path| path.display().to_string())
        .collect();
    assert_eq!(names, ["a", "dir/b", "new"]);
    assert_eq!(
        found.changed_by_others,
        paths(&["new"]).into_iter().collect()
    );
    let target = trees.tree_with_contents(&now, &found.paths).await.unwrap();
    repository.work_tree().restore_tree(&target).await.unwrap();
    let text = ["a", "dir/b", "new", "other"].map(|path| fixture.read(path));
    // What the user changed before the second step is still there.
    assert_eq!(text, ["a\n", "mine\n", "(none)", "mine\n"]);
}

#[tokio::test]
async fn a_file_may_become_a_folder_and_the_other_way_round() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let trees = repository.trees();
    let before = repository.work_tree().current_tree().await.unwrap();
    fixture.remove("a");
    fixture.write("a/inside", "x\n");
    fixture.remove("dir/b");
    std::fs::remove_dir(fixture.root().join("dir")).unwrap();
    fixture.write("dir", "a file\n");
    let after = repository.work_tree().current_tree().await.unwrap();
    for (from, to, wanted) in [(&before, &after, "a\n"), (&after, &before, "(none)")] {
        let spans = [RevertSpan {
            unchanged_paths: BTreeSet::new(),
            from: from.clone(),
            to: to.clone(),
        }];
        let found = trees.contents_before(&spans, to).await.unwrap();
        let target = trees.tree_with_contents(to, &found.paths).await.unwrap();
        assert_eq!(&target, from);
        repository.work_tree().restore_tree(&target).await.unwrap();
        assert_eq!(fixture.read("a"), wanted);
    }
}

#[tokio::test]
async fn a_tree_is_committed_whatever_lies_in_the_work_tree() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let history = repository.history();
    let head = repository.branches().head_tree().await.unwrap().unwrap();
    fixture.write("a", "dirty\n");
    fixture.write("staged", "staged\n");
    fixture.git("add staged");
    let contents = BTreeMap::from([(PathBuf::from("dir/b"), None)]);
    let tree = repository
        .trees()
        .tree_with_contents(&head, &contents)
        .await
        .unwrap();
    let commit = repository
        .commits()
        .commit_whole_tree(&tree, "[Undo step 1] b\n")
        .await
        .unwrap();
    assert_eq!(fixture.git("rev-parse HEAD"), commit.0);
    assert_eq!(
        fixture.git("show --format=%s --name-status HEAD"),
        "[Undo step 1] b\n\nD\tdir/b"
    );
    assert_eq!(fixture.read("a"), "dirty\n");
    assert_eq!(
        dirty(&repository).await,
        "a modified, dir/b untracked, staged added"
    );
    assert!(history.is_ancestor_of_head(&commit).await.unwrap());
    assert_eq!(
        history.commit_subject(&commit).await.unwrap(),
        "[Undo step 1] b"
    );
}

#[tokio::test]
async fn the_first_commit_goes_back_to_nothing() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let first = CommitId(fixture.git("rev-parse HEAD"));
    let back = repository
        .history()
        .trees_around_commit(&first)
        .await
        .unwrap();
    let changes = repository
        .trees()
        .changes_between(&back.to, &back.from)
        .await
        .unwrap();
    assert!(
        changes
            .iter()
            .all(|change| change.kind == TreeChangeKind::Deleted)
    );
    assert_eq!(changes.len(), 2);
}

#[tokio::test]
async fn what_was_put_back_is_put_back_even_if_its_tree_cannot_be_stored() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let before = repository.work_tree().current_tree().await.unwrap();
    fixture.write("a", "step\n");
    let kept = repository.work_tree().current_tree().await.unwrap();
    let reversal = ReversalPlan {
        way: UndoDirection::Undo { step: 1 },
        steps: vec![1],
        text: String::new(),
        unfinished: None,
        spans: vec![TreeSpan {
            keeps: Vec::new(),
            from: before.0.clone(),
            to: kept.0.clone(),
        }],
        commits: Vec::new(),
    };
    let commits = CommitRepository {
        git: None,
        terms: CommitTarget::Off {
            reason: String::new(),
        },
    };
    // A reference with this name leaves no room for names below it.
    fixture.git("update-ref refs/agent-collab/run_1 HEAD");
    let done = apply_reversal(
        &repository,
        &commits,
        &reversal,
        &kept,
        ReversalAttempt::First,
    )
    .await;
    let done = done.unwrap();
    assert_eq!((fixture.read("a"), done.tree), ("a\n".to_owned(), before));
    let [(what, _)] = done.warnings.as_slice() else {
        panic!("{:?}", done.warnings);
    };
    assert_eq!(*what, "save the working tree after an undo");
}
