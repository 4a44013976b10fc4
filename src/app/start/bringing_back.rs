//! A run of the history that becomes the one that lies here again, so that it can be gone on with.
//!
//! Refuses to go on with it, and to put an unfinished run away unasked.

use std::path::PathBuf;

use super::unfinished::{fits_the_run, unfinished_in_words};
use super::{Occupied, Refusal, Unfinished, Wishes, check, clear_away, find, occupy};
use crate::app::history::{self as past, Finished};
use crate::domain::run::State;
use crate::engine::lying::lying;
use crate::store::{StoreError, WorkdirLayout, archive_move, clean_up_workdir};

/// A run that lies here again.
#[derive(Debug)]
pub struct BroughtBack {
    /// What it was called in the history.
    pub name: String,
    /// Where it stands.
    pub state: Box<State>,
    /// Where what lay here is now, if something did.
    pub archived: Option<PathBuf>,
}

impl BroughtBack {
    /// What happened, in a sentence.
    pub fn in_words(&self) -> String {
        let name = &self.name;
        match &self.archived {
            Some(place) => format!(
                "{name} is back from the history; what lay here is in {}",
                place.display()
            ),
            None => format!("{name} is back from the history"),
        }
    }

    /// Whether it has a goal to go on to; without one there are only discussions and tasks.
    pub fn has_a_goal(&self) -> bool {
        unfinished_in_words(&self.state).is_some()
    }
}

/// Makes a run of the history, by its number, its name or a part of it, the one that lies here. What lay here goes to the
/// history: all of it or nothing.
///
/// # Errors
/// There is no such run, it cannot be gone on with, an unfinished one lies here and nobody said that it may be put away, or
/// what it goes on with is not there.
pub async fn bring_back(
    occupied: &Occupied,
    unfinished: Unfinished,
    wanted: &str,
) -> Result<BroughtBack, Refusal> {
    let (layout, lock) = (&occupied.layout, &occupied.lock);
    clean_up_workdir(layout, lock)?;
    let run = wanted_of(layout, wanted)?;
    let state = lying(&run.layout)?.map(|run| run.state().clone());
    let state = state.ok_or_else(|| cannot(&run, "nothing was recorded in it"))?;
    can_go_on(&run, &state)?;
    let title = what_lies(layout, unfinished, &run.name).await?;
    if unfinished_in_words(&state).is_some() {
        // What it goes on with is looked for before anything is moved.
        let checked = check(&occupied.found).await?;
        fits_the_run(&checked.adapters, &state)?;
    }
    let today = jiff::Zoned::now().date();
    let archived = archive_move::unarchive_run(layout, lock, &run.name, (&title, today))?;
    Ok(BroughtBack {
        name: run.name,
        state: Box::new(state),
        archived,
    })
}

/// The same from a command line, which holds the directory for as long as it takes.
///
/// # Errors
/// As [`unarchive_run`]; or another instance works here.
pub async fn bring_back_here(wishes: &Wishes, wanted: &str) -> Result<BroughtBack, Refusal> {
    let occupied = occupy(find(wishes).await?)?;
    bring_back(&occupied, wishes.unfinished, wanted).await
}

fn wanted_of(layout: &WorkdirLayout, wanted: &str) -> Result<Finished, Refusal> {
    let runs = past::list(layout)?;
    let run = past::find(&runs, wanted).map_err(|problem| Refusal {
        problem,
        hint: "`agent-collab history` lists them".to_owned(),
        code: 2,
    })?;
    match run.layout.workdir() == layout.workdir() {
        true => Err(cannot(run, "it lies here already")),
        false => Ok(run.clone()),
    }
}

fn cannot(run: &Finished, why: &str) -> Refusal {
    Refusal::error(
        format!("{} cannot be taken up again: {why}", run.name),
        "`agent-collab history` lists the runs; an unfinished one can be",
    )
}

fn can_go_on(run: &Finished, state: &State) -> Result<(), Refusal> {
    let mut talks = state.discussions.iter();
    let is_left = talks.any(|talk| talk.is_running() || talk.can_go_on());
    match state.is_over() && !is_left {
        true => Err(cannot(run, "it is over, and so are its discussions")),
        false => Ok(()),
    }
}

/// What the run is called in the history that lies here now, where it may go there.
async fn what_lies(
    layout: &WorkdirLayout,
    unfinished: Unfinished,
    other: &str,
) -> Result<String, Refusal> {
    let run = match lying(layout) {
        Ok(Some(run)) => run,
        Ok(None) => return Ok("cut-off".to_owned()),
        Err(StoreError::Damaged { .. }) if unfinished == Unfinished::Archive => {
            return Ok("unreadable".to_owned());
        }
        Err(error) => return Err(error.into()),
    };
    let state = run.state();
    if unfinished == Unfinished::Refuse
        && let Some(run) = unfinished_in_words(state)
    {
        return Err(Refusal {
            problem: format!("an unfinished run is here: {run}"),
            hint: format!(
                "finish or cancel it first; then `agent-collab resume {other}` takes the other one up"
            ),
            code: 3,
        });
    }
    clear_away(&state.run).await;
    let goal = state.goal.as_ref();
    Ok(goal.map_or_else(|| "without-goal".to_owned(), |goal| goal.title.clone()))
}
