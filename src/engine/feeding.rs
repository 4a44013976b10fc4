//! Takes events in: each is recorded and stepped, and what it leads to is performed.
//!
//! Refuses to know what an event means.

use std::collections::VecDeque;

use super::{Engine, EngineError, history};
use crate::domain::effect::Effect;
use crate::domain::event::Event;

/// What an event leads to and what was not done yet.
#[must_use]
pub struct Begun {
    changed: Option<Event>,
    effects: Vec<Effect>,
}

impl Engine {
    /// Takes an event in: it is recorded, stepped, and its effects are performed.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn feed(&mut self, event: Event) -> Result<(), EngineError> {
        let begun = self.begin(event)?;
        self.go_on(begun)
    }

    /// Takes in an event as [`Engine::feed`] does, but for what comes of it: that is [`Engine::go_on`]'s, and nothing
    /// may come between the two. A screen shows meanwhile what the user did; what comes of it can take long.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn begin(&mut self, event: Event) -> Result<Begun, EngineError> {
        let before = self.state().phase;
        let (record, effects) = self.journal.record(event)?;
        if let Some(entry) = history::entry(&record, self.state().iteration) {
            self.journal.log_entry(&entry)?;
        }
        self.recorded.push(record);
        let after = self.state().phase;
        let changed = (before != after).then_some(Event::PhaseChanged {
            from: before,
            to: after,
        });
        if changed.is_some() {
            self.hand_over_waiting();
        }
        Ok(Begun { changed, effects })
    }

    /// Performs what an event leads to, and takes in what happens by that.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn go_on(&mut self, mut begun: Begun) -> Result<(), EngineError> {
        let mut queue = VecDeque::new();
        loop {
            queue.extend(begun.changed);
            for effect in begun.effects {
                queue.extend(self.perform_next(effect)?);
            }
            let Some(event) = queue.pop_front() else {
                return Ok(());
            };
            begun = self.begin(event)?;
        }
    }

    /// Takes in an event that another one follows at once and that nothing comes of by itself; it is durable with that.
    pub(super) fn feed_ahead(&mut self, event: Event) -> Result<(), EngineError> {
        let (record, _none) = self.journal.record_ahead(event)?;
        self.recorded.push(record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Order;
    use crate::engine::granting::World;
    use crate::engine::live::Ask;

    #[test]
    fn what_happened_is_told_before_what_comes_of_it_is_done() {
        let mut world = World::new();
        world.engine.take_recorded();
        let begun = world.engine.begin(Event::Interrupted).unwrap();
        let told = world.engine.take_recorded();
        assert!(matches!(&told[..], [record] if record.event == Event::Interrupted));
        assert!(world.orders.try_recv().is_err(), "nothing is done yet");
        world.engine.go_on(begun).unwrap();
        let ordered = world.orders.try_recv().unwrap();
        assert!(matches!(ordered, Ask::Order(Order::Interrupt)));
    }
}
