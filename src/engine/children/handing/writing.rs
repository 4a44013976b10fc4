//! A child's changes and the user's tree: joined to be looked at, and written.
//!
//! Both happen while nobody compares the tree. Refuses to know who allowed it.

use std::path::PathBuf;

use super::{Again, Handed, Prepared};
use crate::adapter::{ChangeKind, FileChange};
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::patch::PatchState;
use crate::engine::children::plot::Plot;
use crate::engine::git::{GitError, Joined, NotPut, TreeId};
use crate::engine::{Engine, EngineError};
use crate::store::patches;
use crate::text::patch::{FileDiff, Patch};

impl Engine {
    pub(super) fn put(&mut self, session: &SessionId, joined: Joined) -> Result<(), EngineError> {
        let (Some(plot), Some(handing)) = (self.plot_of(session), self.handing(session)) else {
            return Ok(());
        };
        handing.patch.state = PatchState::Applying;
        let patch = handing.patch.clone();
        // On record first: who ends in the middle goes through with it.
        self.feed(Event::TaskPatched {
            session: session.clone(),
            patch,
        })?;
        self.do_for(
            session,
            async move { Handed::Put(put(&plot, &joined).await) },
        );
        Ok(())
    }
}

/// Joins changes with the user's tree as it is.
pub(super) async fn prepare(plot: &Plot, [base, tree]: [TreeId; 2]) -> Result<Prepared, String> {
    let _held = plot.lock.lock().await;
    let git = &plot.git;
    let joined = async {
        let now = git.tree_now().await?;
        let joined = git.join(&base, &now, &tree).await?;
        let target = git.tree_with(&now, &joined.contents()).await?;
        let text = git.diff(&now, &target).await?;
        Ok::<_, GitError>((joined, text))
    };
    let (joined, text) = joined
        .await
        .map_err(|error| format!("{error}; {}", error.hint()))?;
    let changes = by_file(&text);
    Ok(Prepared { joined, changes })
}

/// A diff as changes of files, for the queue to show.
fn by_file(text: &str) -> Vec<FileChange> {
    let patch = Patch::read(text);
    let change = |(n, file): (usize, &FileDiff)| {
        let lines = patch.lines_of(n).iter().map(|line| line.text.as_str());
        FileChange {
            path: PathBuf::from(&file.name),
            kind: ChangeKind::Update,
            diff: lines.collect::<Vec<_>>().join("\n"),
        }
    };
    patch.files.iter().enumerate().map(change).collect()
}

/// Writes what is not in the user's tree yet of changes that were being written; a conflict is left alone.
pub(in crate::engine::children) async fn put_rest(
    plot: &Plot,
    trees: [TreeId; 2],
) -> Result<(), String> {
    let Prepared { joined, .. } = prepare(plot, trees).await?;
    match joined.conflicts.is_empty() {
        true if joined.paths.is_empty() => Ok(()),
        true => put(plot, &joined).await.map(drop).map_err(|(_, why)| why),
        false => Err(format!("{} files changed since", joined.conflicts.len())),
    }
}

/// Writes what was joined; what a conflict replaces is kept as a patch that brings it back.
async fn put(plot: &Plot, joined: &Joined) -> Result<String, (Again, String)> {
    let _held = plot.lock.lock().await;
    let no = |why: String| (Again::No, why);
    let git = &plot.git;
    let git_no = |error: GitError| no(format!("{error}; {}", error.hint()));
    // Kept, so that nothing is lost whatever becomes of the rest.
    let name = format!("{}-before", plot.turn);
    git.snapshot(&name).await.map_err(git_no)?;
    let mut told = String::new();
    if !joined.conflicts.is_empty() {
        let replaced = joined.contents().into_iter();
        let replaced = replaced
            .filter(|(path, _)| joined.conflicts.contains(path))
            .collect();
        let target = git
            .tree_with(&joined.ours, &replaced)
            .await
            .map_err(git_no)?;
        let back = git.patch(&target, &joined.ours).await.map_err(git_no)?;
        let name = format!("{}-replaced", plot.turn);
        let file = patches::write(&plot.layout, &name, &back);
        let file = file.map_err(|error| no(format!("{error}; {}", error.hint())))?;
        let file = plot.below_root(&file);
        told = format!("what it replaced is in {file}; `git apply` brings it back");
    }
    let scratch = plot.layout.turns().join(format!("put-{}", plot.turn));
    let put = git.put(joined, &scratch).await;
    if let Err(error) = std::fs::remove_dir(&scratch) {
        tracing::warn!(%error, "a folder of a child stays");
    }
    match put {
        Ok(()) => Ok(told),
        Err(moved @ NotPut::Moved(_)) => Err((Again::Yes, moved.to_string())),
        Err(error) => Err(no(error.to_string())),
    }
}
