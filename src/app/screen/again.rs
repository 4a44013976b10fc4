//! An unfinished run of the history, taken up again: it becomes the one that lies here, and goes on as any other.
//!
//! Refuses to put anything away that is at work or unfinished.

use crate::app::start::{self, BroughtBack, Occupied, Refusal, Unfinished};
use crate::engine::Engine;
use crate::tui::Documents;

use super::beginning::{Begin, What};
use super::documents::Looking;
use super::ending::End;
use super::{Done, First, Shell};

/// A run that was to come back.
pub struct Attempt {
    occupied: Occupied,
    /// The run that was open meanwhile.
    engine: Option<Engine>,
    brought: Result<BroughtBack, Refusal>,
}

impl Shell {
    /// Makes a run of the history the one that lies here, beside the loop, and goes on with it.
    pub(super) fn bring_back(&mut self, name: String) -> Result<Option<End>, End> {
        if self.views.follows() {
            // Whoever only looked at it starts here now.
            return self.take_over(First::BringBack { name });
        }
        self.close_opened();
        self.screen.touch();
        if let Some(why) = self.stands_in_the_way() {
            self.screen.on_word(&why);
            return Ok(None);
        }
        let Some(occupied) = self.occupied.take() else {
            return Ok(None);
        };
        self.screen.on_word("taking it out of the history …");
        // Nothing may be written to the run that is open while its files are moved.
        let (engine, unfinished) = (self.engine.take(), self.wishes.unfinished);
        self.beginning = Some(Begin::of(What::Unfinished));
        self.beside(async move {
            let brought = start::bring_back(&occupied, unfinished, &name).await;
            Done::BroughtBack(Box::new(Attempt {
                occupied,
                engine,
                brought,
            }))
        });
        Ok(None)
    }

    /// What has to end before another run can lie here.
    fn stands_in_the_way(&self) -> Option<String> {
        let is_left = "it stays in the history";
        if self.beginning.is_some() {
            return Some(format!("a run is being begun; {is_left}"));
        }
        let state = self.state()?;
        if !state.is_over() && state.goal.is_some() {
            return Some(format!(
                "a run is under way: finish or cancel it first; {is_left}"
            ));
        }
        let mut children = state.children.iter();
        let mut talks = state.discussions.iter();
        let is_busy = children.any(|child| child.is_running())
            || talks.any(|talk| talk.is_running())
            || self.is_at_work();
        is_busy
            .then(|| format!("something is still at work: let it end or stop it first; {is_left}"))
    }

    pub(super) fn on_brought_back(&mut self, attempt: Attempt) -> Result<Option<End>, End> {
        let Attempt {
            occupied,
            engine,
            brought,
        } = attempt;
        self.occupied = Some(occupied);
        let back = match brought {
            Ok(back) => back,
            Err(refusal) => {
                self.engine = engine;
                if self.engine.is_none() {
                    self.look_around();
                }
                self.screen
                    .on_notice(&format!("{}\n{}", refusal.problem, refusal.hint));
                return match self.beginning.take() {
                    Some(begin) => self.begin_next(begin.next, begin.since),
                    None => Ok(None),
                };
            }
        };
        drop(engine);
        self.first = First::AskForGoal;
        self.wishes.unfinished = Unfinished::Refuse;
        (self.lying, self.watch) = (None, None);
        self.documents = Looking::default();
        self.screen.on_documents(Documents::default());
        self.past_is_shown = true;
        self.forget_past();
        self.screen.on_notice(&back.in_words());
        if let Some(begin) = self.beginning.as_mut().filter(|_| !back.has_a_goal()) {
            begin.what = What::WithoutGoal;
        }
        self.try_to_begin()
    }
}
