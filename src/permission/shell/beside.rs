//! Process substitutions: lists that run beside the command that names them.
//!
//! It refuses to know programs and what they write to a name.

use std::rc::Rc;

use super::env::Env;
use super::reader::{Feed, Reader, Waiting};
use super::syntax::{Feeds, List};
use super::value::Texts;

impl Reader {
    /// The name that stands for `<(…)` or `>(…)`.
    pub fn process(&mut self, list: &Rc<List>, feeds: Feeds, env: &Env) -> String {
        if feeds == Feeds::List {
            let name = self.open_process(Texts::unknown());
            let env = self.branch(env);
            self.waiting.push(Waiting {
                name: name.clone(),
                list: Rc::clone(list),
                env,
                is_fed: false,
            });
            return name;
        }
        let out = self.list_beside(list, env, &Feed::Nothing);
        self.open_process(out)
    }

    /// Follows a list that runs beside the command that names it.
    fn list_beside(&mut self, list: &List, env: &Env, feed: &Feed) -> Texts {
        let here = self.here();
        self.n_forks += 1;
        let mut out = Texts::unknown();
        if self.work.enter(&here) {
            out = self.list_apart(list, env, feed);
            self.work.leave();
        }
        self.n_forks -= 1;
        self.stand_at(&here);
        out
    }

    /// Tells whether a path is the name of a `>(…)`.
    pub fn is_waiting(&self, path: &str) -> bool {
        self.waiting.iter().any(|waiting| waiting.name == path)
    }

    /// Lets the list of a `>(…)` read what is written to it.
    pub fn feed_waiting(&mut self, path: &str, texts: Texts) {
        let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.name == path) else {
            return;
        };
        waiting.is_fed = true;
        let (list, env) = (Rc::clone(&waiting.list), waiting.env.clone());
        self.list_beside(&list, &env, &Feed::Texts(texts));
    }

    /// Follows the lists of a command that nothing known was written to.
    pub fn end_waiting(&mut self, n_before: usize) {
        while self.waiting.len() > n_before {
            if let Some(waiting) = self.waiting.pop().filter(|waiting| !waiting.is_fed) {
                self.list_beside(&waiting.list, &waiting.env, &Feed::Unknown);
            }
        }
    }
}
