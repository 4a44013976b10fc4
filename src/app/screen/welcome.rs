//! Looks around before there is a run: whether the CLIs and git are as a run needs them, and which runs
//! were there before. Beside the loop; calls no model.
//!
//! Refuses to stand in the way: what is found is only shown, and whoever begins a run is checked again.

use std::path::Path;

use crate::app::history::{self, Finished};
use crate::app::start::{Found, NAMELESS, WITHOUT_A_REVIEWER, adapters};
use crate::config::types::Config;
use crate::engine::git::Repository;
use crate::engine::probe::{Probed, missing_login, probe};
use crate::engine::setup::NamedAdapter;
use crate::process::ChildSpawner;
use crate::store::WorkdirLayout;
use crate::tui::{Missing, Weight, Welcome};

use super::ending::End;
use super::{Done, Shell};

/// How many finished runs are wanted.
const N_RUNS: usize = 5;

/// What is looked at.
struct Ground {
    children: ChildSpawner,
    config: Config,
    root: std::path::PathBuf,
    repository: Option<Repository>,
}

impl Shell {
    /// Looks around, once the directory is ours and nothing begins by itself.
    pub(super) fn look_around(&mut self) {
        let Some(occupied) = &self.occupied else {
            return;
        };
        let Found {
            root,
            repository,
            loaded,
            children,
            ..
        } = &occupied.found;
        let ground = Ground {
            children: children.clone(),
            config: loaded.config.clone(),
            root: root.clone(),
            repository: repository.clone(),
        };
        let layout = occupied.layout.clone();
        self.beside(async move {
            let finished = last_finished(layout).await;
            // Whoever had a run here knows how to log in, and asking a CLI costs it up to a second.
            let logins = match finished.is_empty() {
                true => Logins::AreAsked,
                false => Logins::AreLeft,
            };
            let mut welcome = found(&ground, logins).await;
            welcome.runs = finished.iter().map(super::badges::row).collect();
            Done::LookedAround(Box::new(welcome), finished)
        });
    }

    pub(super) fn on_looked_around(
        &mut self,
        welcome: Welcome,
        finished: Vec<Finished>,
    ) -> Result<Option<End>, End> {
        self.views.name_runs(finished);
        self.screen.on_welcome(welcome);
        Ok(None)
    }
}

/// Whether the CLIs are asked who is logged in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Logins {
    AreAsked,
    AreLeft,
}

async fn found(ground: &Ground, logins: Logins) -> Welcome {
    let mut welcome = Welcome::default();
    match adapters(&ground.config) {
        Ok(adapters) => {
            let mut seen: Vec<&NamedAdapter> = Vec::new();
            for adapter in adapters.values() {
                if !seen.iter().any(|other| other.name == adapter.name) {
                    seen.push(adapter);
                    look_at(&mut welcome, ground, adapter, logins).await;
                }
            }
        }
        Err(refusal) => welcome.missing.push(Missing {
            what: refusal.problem,
            remedy: refusal.hint,
            weight: Weight::Stops,
        }),
    }
    look_at_git(&mut welcome, ground.repository.as_ref(), &ground.root).await;
    welcome
}

async fn look_at(welcome: &mut Welcome, ground: &Ground, adapter: &NamedAdapter, logins: Logins) {
    match probe(&ground.children, adapter, &ground.root).await {
        Probed::Ready(capabilities) => {
            let ready = format!("{} {}", adapter.name, capabilities.version);
            welcome.ready.push(ready);
            if logins == Logins::AreLeft {
                return;
            }
            if let Some(login) = missing_login(&ground.children, adapter, &ground.root).await {
                welcome.missing.push(Missing {
                    what: format!("nobody is logged in at {}", adapter.name),
                    remedy: format!(
                        "`{login}` does it; a provider of your own in its configuration needs none"
                    ),
                    weight: Weight::Lessens,
                });
            }
        }
        Probed::Unknown => welcome.ready.push(adapter.name.clone()),
        Probed::Refused { problem, hint } => {
            let remedy = match adapter.name == ground.config.roles.planner {
                true => hint,
                false => format!("{hint}; {WITHOUT_A_REVIEWER}"),
            };
            welcome.missing.push(Missing {
                what: problem,
                remedy,
                weight: Weight::Stops,
            });
        }
    }
}

async fn look_at_git(welcome: &mut Welcome, repository: Option<&Repository>, root: &Path) {
    let Some(repository) = repository else {
        welcome.missing.push(Missing {
            what: format!(
                "{} is in no git repository: no branch, no commits, no undo",
                root.display()
            ),
            remedy: "`git init` makes one; or go on without".to_owned(),
            weight: Weight::Lessens,
        });
        return;
    };
    match repository.identity().await {
        Ok(Ok(identity)) => welcome
            .ready
            .push(format!("git, commits as {}", identity.author.name)),
        Ok(Err(missing)) => welcome.missing.push(Missing {
            what: NAMELESS.to_owned(),
            remedy: missing.hint().to_owned(),
            weight: Weight::Stops,
        }),
        Err(error) => welcome.missing.push(Missing {
            what: error.to_string(),
            remedy: error.hint().to_owned(),
            weight: Weight::Stops,
        }),
    }
}

/// The last finished runs; where they cannot be read, `/history` says why.
async fn last_finished(layout: WorkdirLayout) -> Vec<Finished> {
    let listed = tokio::task::spawn_blocking(move || history::list(&layout)).await;
    let mut runs = match listed {
        Ok(Ok(runs)) => runs,
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    runs.truncate(N_RUNS);
    runs
}
