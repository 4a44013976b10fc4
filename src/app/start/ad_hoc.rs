//! A run that is opened for something beside its workflow: a task, or its sessions.
//!
//! Refuses to go on with the run itself.

use std::collections::BTreeSet;

use super::ground::{git, probe_all};
use super::unfinished::{fits_the_run, unfinished_in_words};
use super::{
    Begun, Checked, Commits, Found, Occupied, Refusal, Started, Unfinished, Wishes, adapters,
    agent_prompts, begin, clear_away, find, guard, load_prompts, no_run, occupy, ready, reopen,
    started,
};
use crate::app::sessions;
use crate::config::permissions::{Allowing, Permissions};
use crate::domain::event::Event;
use crate::engine::journal::Journal;
use crate::engine::setup::NamedAdapter;
use crate::engine::{containing, subagent};
use crate::store::clean_up_workdir;

/// Opens the run that lies here, or an empty one, for whatever these adapters play and nothing else; the CLIs of no others
/// need be there.
///
/// # Errors
/// As [`super::start`].
pub async fn ad_hoc_played_by(
    players: &BTreeSet<String>,
    found: Found,
    wishes: &Wishes,
) -> Result<Started, Refusal> {
    let checked = check_for(&found, players, Commits::NotMade).await?;
    open(found, checked, wishes).await
}

async fn open(found: Found, checked: Checked, wishes: &Wishes) -> Result<Started, Refusal> {
    let mut occupied = occupy(found)?;
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    let mut begun = match Journal::reopen(guard(&occupied)?)? {
        Some(journal) => set_down(&mut occupied, checked, wishes, journal).await?,
        None => begin(&mut occupied, checked, wishes).await?,
    };
    begun.engine.work_alone();
    Ok(started(occupied, begun))
}

/// What happens where no run lies that could be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// An empty one is begun.
    Begin,
    /// Nothing can be done.
    Refuse,
}

/// Opens a run for something that the user wants beside any goal: the one that lies here where it is over or never had a
/// goal, else an empty one. Another goal may follow in it.
///
/// # Errors
/// An unfinished run stands in the way, there is none and that is refused, or git or the disk refuses.
pub async fn beside_a_goal(
    occupied: &mut Occupied,
    checked: Checked,
    wishes: &Wishes,
    absent: Absent,
) -> Result<Begun, Refusal> {
    clean_up_workdir(&occupied.layout, &occupied.lock)?;
    if wishes.unfinished == Unfinished::Refuse
        && let Some(journal) = Journal::reopen(guard(occupied)?)?
    {
        let state = journal.state();
        if let Some(run) = unfinished_in_words(state) {
            return Err(Refusal::error(
                format!("an unfinished run is here: {run}"),
                "/resume takes it up; answered with no, it goes to the history when another begins",
            ));
        }
        if state.is_over() || fits_the_run(&checked.adapters, state).is_ok() {
            return set_down(occupied, checked, wishes, journal).await;
        }
    }
    match absent {
        Absent::Begin => begin(occupied, checked, wishes).await,
        Absent::Refuse => Err(no_run()),
    }
}

/// A run that nobody goes on with now: what was under way in it is over, and nobody said yolo here.
async fn set_down(
    occupied: &mut Occupied,
    checked: Checked,
    wishes: &Wishes,
    journal: Journal,
) -> Result<Begun, Refusal> {
    let (run, mode) = (journal.state().run.clone(), journal.state().mode);
    clear_away(&run).await;
    let git = git(occupied, &run, checked.commits).await?;
    let mut begun = ready(occupied, checked, (git, wishes), journal);
    let settled = begun.engine.settle_children();
    let settled = settled.and_then(|()| match mode.after_restart() {
        after if after == mode => Ok(()),
        mode => begun.engine.feed(Event::ModeChanged { mode }),
    });
    let settled = settled.and_then(|()| begun.engine.sweep_trees());
    settled.map_err(|error| Refusal::error(&error, "nothing was begun"))?;
    Ok(begun)
}

/// The adapter that plays an agent.
///
/// # Errors
/// There is no such agent, or none that takes tasks.
pub fn player_of(found: &Found, agent: &str) -> Result<String, Refusal> {
    let config = &found.loaded.config;
    let profiles = Permissions::of(config, Allowing::Everybody).profiles;
    // Said first: no other complaint matters to who has mistyped the name.
    let profile = subagent(&profiles, agent).map_err(|unknown| {
        Refusal::error(
            unknown,
            "`agent-collab agents --mode subagent` tells what each is for",
        )
    })?;
    let adapter = profile.adapter.as_ref();
    Ok(adapter.unwrap_or(&config.roles.planner).clone())
}

/// As [`super::check`], for the CLIs of these adapters alone.
///
/// # Errors
/// As for it.
pub async fn check_for(
    found: &Found,
    players: &BTreeSet<String>,
    commits: Commits,
) -> Result<Checked, Refusal> {
    let config = &found.loaded.config;
    let roles = adapters(config)?;
    let settings_of = |name: &String| Some((name.clone(), config.adapters.get(name)?.clone()));
    let players: Vec<NamedAdapter> = players
        .iter()
        .filter_map(settings_of)
        .map(|(name, settings)| NamedAdapter { name, settings })
        .collect();
    probe_all(&found.children, players.iter(), &found.root).await?;
    Ok(Checked {
        prompts: load_prompts(&found.loaded)?,
        agent_prompts: agent_prompts(&found.loaded)?,
        adapters: roles,
        kernel: containing::kernel(&found.children, config, &found.root).await,
        commits,
    })
}

/// Takes the directory and opens the run that lies there as it stands; no commit is made in it.
///
/// # Errors
/// There is none, or another instance works here.
pub async fn at_rest(wishes: &Wishes) -> Result<Started, Refusal> {
    let mut occupied = occupy(find(wishes).await?)?;
    let begun = reopen(&mut occupied, wishes, Commits::NotMade).await?;
    Ok(started(occupied, begun))
}

/// Deletes child sessions that are older than they are kept.
pub(super) fn prune_old(occupied: &Occupied, begun: &mut Begun) -> Result<(), Refusal> {
    let place = (&occupied.layout, &occupied.lock);
    let limits = &occupied.found.loaded.config.limits;
    sessions::prune_old(place, &mut begun.engine, limits)
}
