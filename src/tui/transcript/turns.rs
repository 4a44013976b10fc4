//! Whose turn it is, when it began and what it used: a name stands once a turn, and its cost below it.
//!
//! Refuses to know the run's state: all of it is read off the events.

use std::collections::BTreeMap;

use super::block::{Block, Content, Who};
use crate::domain::event::Event;
use crate::domain::ids::At;
use crate::domain::session::{Usage, named_version};
use crate::domain::turn::{Role, TurnResult};
use crate::tui::words::{elapsed, tokens};
use crate::tui::wrap::one_line;

/// The turn at hand.
#[derive(Debug, Default)]
pub(super) struct Turns {
    since: Option<At>,
    /// Who spoke or acted last, in this turn.
    last: Option<Role>,
    /// The totals that were told last.
    used: BTreeMap<Role, Usage>,
    /// The totals when the turn began.
    before: BTreeMap<Role, Usage>,
    /// At which adapter each role is, as far as it was told.
    adapters: BTreeMap<Role, String>,
    /// Whether turns came before that are not told here.
    lacks_earlier: bool,
}

impl Turns {
    /// Events came before that are not told here: what totals were then is not known.
    pub fn begin_later(&mut self) {
        self.lacks_earlier = true;
    }

    /// Takes over what was told right before, where nothing later is known.
    pub fn take_earlier(&mut self, earlier: Self) {
        for (role, usage) in earlier.used {
            self.used.entry(role).or_insert(usage);
            self.before.entry(role).or_insert(usage);
        }
        for (role, adapter) in earlier.adapters {
            self.adapters.entry(role).or_insert(adapter);
        }
        self.lacks_earlier = earlier.lacks_earlier;
    }

    /// Takes an event in; gives the line that ends a turn.
    pub fn on_event(&mut self, at: At, event: &Event) -> Option<Block> {
        match event {
            Event::UsageReported { role, usage } => {
                self.used.insert(*role, *usage);
            }
            Event::Created(created) => {
                *self = Self::default();
                let reviewer = created.reviewer.iter();
                let all = [(Role::Planner, &created.planner)].into_iter();
                let all = all.chain(reviewer.map(|session| (Role::Reviewer, session)));
                self.adapters = all.map(|(role, (_, name))| (role, name.clone())).collect();
            }
            Event::SessionMoved { role, adapter, .. } => {
                self.adapters.insert(*role, adapter.clone());
            }
            Event::SessionVersion {
                role,
                adapter,
                version,
            } => return Some(self.is_of_version(*role, adapter, version)),
            Event::TurnStarted { .. } => {
                self.since = Some(at);
                self.last = None;
                self.before.clone_from(&self.used);
            }
            Event::TurnEnded {
                result: TurnResult::Completed { .. },
                ..
            } => {
                let (since, role) = (self.since.take()?, self.last.take()?);
                let text = self.in_words(role, &elapsed(since, at));
                let block = Block::new(Who::System, Content::notice(&text));
                return Some(block.about(Some(role)));
            }
            Event::TurnEnded { .. } | Event::PhaseChanged { .. } => self.last = None,
            _ => {}
        }
        None
    }

    /// Which CLI a role is played by.
    fn is_of_version(&self, role: Role, adapter: &str, version: &str) -> Block {
        let who = role.name();
        let adapter = match adapter {
            "" => self.adapters.get(&role).map_or("", String::as_str),
            adapter => adapter,
        };
        let text = match adapter {
            // It was told before what is shown, and is no part of what was recorded then.
            "" => format!("the {who}'s CLI has the version {}", one_line(version)),
            name => format!("the {who} is {}", one_line(&named_version(name, version))),
        };
        Block::new(Who::System, Content::notice(&text)).about(Some(role))
    }

    fn in_words(&self, role: Role, took: &str) -> String {
        let of = |totals: &BTreeMap<Role, Usage>| totals.get(&role).cloned().unwrap_or_default();
        let (now, before) = (of(&self.used), of(&self.before));
        let read = now.input_tokens.saturating_sub(before.input_tokens);
        let written = now.output_tokens.saturating_sub(before.output_tokens);
        let is_known = !self.lacks_earlier || self.before.contains_key(&role);
        let used = match (read, written) {
            (0, 0) => String::new(),
            _ if !is_known => String::new(),
            _ => format!(" · {} tokens in, {} out", tokens(read), tokens(written)),
        };
        format!("the {}'s turn took {took}{used}", role.name())
    }

    /// Says whether a block needs a name line: the first of its author, and after somebody else's.
    pub fn names(&mut self, block: &Block) -> bool {
        match (block.who, &block.content) {
            (Who::System, _) => false,
            (Who::Agent(role), _) => self.last.replace(role) != Some(role),
            (Who::You, _) => {
                self.last = None;
                true
            }
        }
    }

    /// A name that was written may be gone: the next block has its own.
    pub fn forget_name(&mut self) {
        self.last = None;
    }
}
