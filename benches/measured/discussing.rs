//! Measures a discussion with more participants than places: how long a round takes, compared with the minimum number
//! of consecutive speeches.
//!
//! It uses real processes of the scripted agent. All agree at once, so that the first round is the last.

use std::path::Path;
use std::time::Duration;

use agent_collab::domain::discussion::{DiscussionMode, DiscussionStatus, GroupDiscussion};
use agent_collab::domain::task::TaskWaitMode;
use agent_collab::engine::{DiscussionRequest, Engine, TaskCaller};
use agent_collab::mcp::tools::group_discuss::GroupDiscussToolArguments;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::fanning_out::{TASK, alone, choices, repository};
use crate::limit::Limit;
use crate::side_by_side;

const ROUNDS: usize = 3;
/// What each participant says: the shortest speech that contains a vote.
const SAYS: &str =
    "Small.\n\n```stance\n{\"stance\":\"agree\",\"proposal\":\"sqlite\",\"confidence\":0.7}\n```";

/// Measures six participants on two places, and ten on four; two are the fewest, so two on one place is the measure.
pub fn run() -> anyhow::Result<()> {
    let (_place, root) = repository()?;
    for (n, n_places) in [(6_u32, 2_u32), (10, 4)] {
        let rounds = n.div_ceil(n_places);
        side_by_side(
            &format!("{n} participants on {n_places} places / {rounds} x one speech"),
            Limit::Times(1.15),
            ROUNDS,
            &mut || makespan(&root, n, n_places),
            &mut || Ok(makespan(&root, 2, 1)? * rounds / 2),
        )?;
    }
    Ok(())
}

/// Measures the time from the start to the outcome.
fn makespan(root: &Path, n: u32, n_places: u32) -> anyhow::Result<Duration> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut choices = choices(root, n_places, (SAYS, TASK))?;
        choices
            .overrides
            .push(agent_collab::config::ConfigOverride {
                flag: "--set".to_owned(),
                key: "discuss.concurrency".to_owned(),
                value: n_places.to_string(),
            });
        let mut started = alone(root, choices).await?;
        let begun = Instant::now();
        let given = started.engine.start_discussion(&ask(n))?;
        let (_, end) = given.map_err(|refused| anyhow::anyhow!("{refused}"))?;
        let ended = wait(&mut started.engine, end).await?;
        let took = begun.elapsed();
        anyhow::ensure!(
            ended.status == DiscussionStatus::Completed,
            "{}",
            ended.status.name()
        );
        started.engine.shut_down().await;
        Ok(took)
    })
}

async fn wait(
    engine: &mut Engine,
    mut end: oneshot::Receiver<GroupDiscussion>,
) -> anyhow::Result<GroupDiscussion> {
    loop {
        if let Ok(discussion) = end.try_recv() {
            return Ok(discussion);
        }
        let inward = engine.next_input().await;
        engine.handle_input(inward)?;
        engine.take_view_updates();
    }
}

fn ask(n: u32) -> DiscussionRequest {
    DiscussionRequest {
        caller: TaskCaller::User,
        arguments: GroupDiscussToolArguments {
            topic: "SQLite or Postgres?".to_owned(),
            mode: Some(DiscussionMode::Jury),
            agents: (0..n).map(|n| format!("p{n}=explore@codex")).collect(),
            ..GroupDiscussToolArguments::default()
        },
        finding: None,
        wait_mode: TaskWaitMode::Foreground,
    }
}
