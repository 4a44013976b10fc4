//! Verifies the chain of receipts at the end of a seed, from the receipts and from git notes alone.

use std::path::Path;

use agent_collab::app::receipt_verification::{VerificationReport, verify_range};
use agent_collab::domain::receipt_chain::{ChainBreak, WaiverPolicy};
use agent_collab::engine::git::{GitRepository, GitSettings, RepositoryDiscovery};
use agent_collab::store::{WorkdirLayout, WorkdirNames};
use tokio_util::sync::CancellationToken;

use crate::repository::git;
use crate::world::World;

/// What a run of the first scenario is told to be: the simulation has no sandbox, so its steps are checked, not proven.
const EXPECTED: &str = "6: 1 checked, 2 checked";

/// Everything that `agent-collab verify` would say otherwise after a kill.
pub fn violations(world: &World) -> Vec<String> {
    let nowhere = world.folder.join("home");
    let places = [("receipts", world.root.as_path()), ("notes", &nowhere)];
    let told = places.map(|(source, folder)| (source, verify(world, folder)));
    let wrong = told.into_iter().filter(|(_, told)| told != EXPECTED);
    wrong
        .map(|(source, told)| format!("by the {source} the chain is {told}"))
        .collect()
}

/// Verifies the commits of the run by the receipts below a folder, and by the notes of the repository.
fn verify(world: &World, folder: &Path) -> String {
    let first = git(&world.root, &["rev-list", "--max-parents=0", "HEAD"]);
    let layout = WorkdirLayout::new(folder, WorkdirNames::default()).expect("a layout");
    let mut settings = GitSettings::new("none", CancellationToken::new());
    for (name, value) in [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ] {
        settings.env.insert(name.to_owned(), value.to_owned());
    }
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    let report = runtime.block_on(async {
        match GitRepository::discover(&world.root, settings).await {
            Ok(RepositoryDiscovery::Found(git)) => {
                verify_range(&layout, &git, &format!("{first}..HEAD")).await
            }
            other => panic!("{other:?}"),
        }
    });
    match report {
        Ok(report) => describe(&report),
        Err(error) => error.to_string(),
    }
}

fn describe(report: &VerificationReport) -> String {
    let steps = report.chains.iter().flat_map(|chain| &chain.steps);
    let steps = steps.map(|step| format!("{} {}", step.step, step.status.label()));
    let of_chains = report.chains.iter().flat_map(|chain| &chain.breaks);
    let breaks = of_chains.chain(&report.breaks).map(ChainBreak::to_string);
    let lists = [&report.unreadable, &report.rewritten, &report.outside];
    let rest = lists.into_iter().flatten().cloned();
    let words: Vec<String> = steps.chain(breaks).chain(rest).collect();
    let code = report.result(WaiverPolicy::InPlan).exit_code();
    format!("{code}: {}", words.join(", "))
}
