//! A document that the user edited while a turn wrote it: both texts shown, merged, and the loser kept.
//!
//! Nothing is overwritten that could not be kept. Refuses to know who answers and with which editor a
//! merge is put right: it reads the file in which that happens.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use crate::domain::event::Event;
use crate::domain::ids::Sha256;
use crate::domain::plan;
use crate::domain::question::{MergeConflict, QuestionAnswer, QuestionKind};
use crate::domain::review;
use crate::domain::run::DocumentAuthor;
use crate::domain::turn::{TurnOrder, TurnPurpose, TurnRetryReason};
use crate::store::document_files::{self as files, DocumentContent, hash_document};
use crate::store::{StoreError, merge_files};
use crate::text::three_way_merge::{ConflictVersions, MergeOutcome, ThreeWayTexts};
use crate::text::{front_matter, pluralize};

use super::collect::{Base, Seen, hash_of, no_document};
use super::documents::Pen;
use super::{Engine, Held, failed, troubled, with_hint};

/// The fields of front matter that the program writes: they are nobody's words.
const OWN_FIELDS: [&str; 6] = [
    "version",
    "status",
    "iteration",
    "author",
    "updated",
    "plan_sha256",
];
/// How many characters of a text's hash name its merge.
const NAME_CHARS: usize = 8;

/// Which of the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `plan.md`
    Plan,
    /// `comments.md`
    Comments,
}

/// A document of a turn against what lies on disk now.
struct Standing {
    kind: Kind,
    base: String,
    yours: String,
    agents: String,
    /// The file below `merges/` in which the merge is put right by hand; one for each pair of texts.
    file: String,
}

/// What a merge came to.
enum Tried {
    /// It can be committed.
    Whole(String),
    /// It needs the user's hand.
    Not(MergeConflict),
}

impl Standing {
    fn three_way(&self) -> ThreeWayTexts<'_> {
        ThreeWayTexts {
            base: &self.base,
            yours: &self.yours,
            agents: &self.agents,
        }
    }

    /// What keeps a text from being this document, in words.
    fn problem(&self, text: &str) -> Option<String> {
        let markers = self.three_way().marker_lines(text);
        if let Some(first) = markers.first() {
            return Some(format!("there is a marker left in line {first}"));
        }
        match self.kind {
            Kind::Plan => plan::parse(&plan::untick_all_steps(text))
                .err()
                .map(|problem| problem.to_string()),
            Kind::Comments => (!review::is_review(text))
                .then(|| "it has neither the marker line nor a numbered finding".to_owned()),
        }
    }
}

impl Engine {
    /// Goes on after the user said whose text counts.
    pub(super) fn settle_conflict(
        &mut self,
        order: &TurnOrder,
        answer: &QuestionAnswer,
        pen: Result<Pen, StoreError>,
    ) -> Vec<Event> {
        let settled = match answer {
            QuestionAnswer::Overwrite => self.overwrite(order, pen),
            QuestionAnswer::Merge => self.merge(order, pen),
            _ => self.discard(order),
        };
        settled.unwrap_or_else(|error| vec![failed("settle the conflict", error)])
    }

    fn overwrite(
        &mut self,
        order: &TurnOrder,
        pen: Result<Pen, StoreError>,
    ) -> Result<Vec<Event>, StoreError> {
        let seen = self.see()?;
        self.keep_yours(&seen)?;
        Ok(self.commit_document(order, &Base::Seen(seen), pen))
    }

    fn discard(&mut self, order: &TurnOrder) -> Result<Vec<Event>, StoreError> {
        self.keep_agents()?;
        self.drop_held();
        let reason = TurnRetryReason::USER_KEPT_OWN_TEXT;
        let mut events = self.put_merges_aside();
        events.push(no_document(order, reason.to_owned()));
        Ok(events)
    }

    /// Commits what the two texts were merged into, or says what is still to be done.
    fn merge(
        &mut self,
        order: &TurnOrder,
        pen: Result<Pen, StoreError>,
    ) -> Result<Vec<Event>, StoreError> {
        let seen = self.see()?;
        self.keep_yours(&seen)?;
        self.keep_agents()?;
        let merged = match self.standing(&seen) {
            None => None,
            Some(standing) => match self.try_merge(&standing)? {
                Tried::Whole(text) => Some(text),
                Tried::Not(clash) => {
                    let held = self.held.as_ref();
                    return Ok(held
                        .map(|held| self.conflict(held, Some(clash)))
                        .into_iter()
                        .collect());
                }
            },
        };
        if let Some(held) = &mut self.held {
            held.merged = merged;
        }
        let events = self.commit_document(order, &Base::Seen(seen), pen);
        // What was typed since is merged anew.
        if let Some(held) = &mut self.held {
            held.merged = None;
        }
        Ok(events)
    }

    /// Takes the merge that the user put right, else makes one.
    fn try_merge(&self, standing: &Standing) -> Result<Tried, StoreError> {
        if let Some(document) = files::read_document(&self.merge_path(standing))? {
            let text = String::from_utf8_lossy(&document.bytes).into_owned();
            return Ok(match standing.problem(&text) {
                None => Tried::Whole(text),
                Some(why) => Tried::Not(self.clash(standing, why)),
            });
        }
        let (text, why) = match standing.three_way().merge() {
            MergeOutcome::Clean(text) => match standing.problem(&text) {
                None => return Ok(Tried::Whole(text)),
                Some(why) => (text, why),
            },
            MergeOutcome::WithConflicts(text) => {
                let n_places = standing.three_way().marker_lines(&text).len() / 3;
                let places = pluralize(n_places, "place");
                (text, format!("in {places} both changed the same lines"))
            }
        };
        merge_files::write_merge(self.journal.layout(), &standing.file, &text)?;
        Ok(Tried::Not(self.clash(standing, why)))
    }

    fn merge_path(&self, standing: &Standing) -> PathBuf {
        self.journal.layout().merges().join(&standing.file)
    }

    fn clash(&self, standing: &Standing, why: String) -> MergeConflict {
        let path = self.merge_path(standing);
        let below = path.strip_prefix(&self.setup.root).unwrap_or(&path);
        MergeConflict {
            file: below.to_string_lossy().into_owned(),
            why,
        }
    }

    /// Makes sure that the merge of the open conflict lies in a file that can be edited; says where.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn prepare_merge(&self) -> Result<PathBuf, String> {
        let prepared = || -> Result<Option<PathBuf>, StoreError> {
            let Some(standing) = self
                .standing(&self.see()?)
                .filter(|_| self.is_in_conflict())
            else {
                return Ok(None);
            };
            if files::read_document(&self.merge_path(&standing))?.is_none() {
                let (MergeOutcome::Clean(text) | MergeOutcome::WithConflicts(text)) =
                    standing.three_way().merge();
                merge_files::write_merge(self.journal.layout(), &standing.file, &text)?;
            }
            Ok(Some(self.merge_path(&standing)))
        };
        let nothing = || "there are no two texts that could be merged now".to_owned();
        prepared()
            .map_err(|error| error.to_string())?
            .ok_or_else(nothing)
    }

    fn is_in_conflict(&self) -> bool {
        let awaiting = self.state().awaiting.as_ref();
        awaiting.is_some_and(|question| matches!(question.kind, QuestionKind::Conflict { .. }))
    }

    /// The versions that the open question is about; none where it is about something else.
    ///
    /// # Errors
    /// A document cannot be read.
    pub fn versions(&self) -> Result<Vec<ConflictVersions>, StoreError> {
        let Some(held) = self.at_issue()? else {
            return Ok(Vec::new());
        };
        let (seen, found) = (self.see()?, self.returned(&held));
        let names = self.journal.layout().names();
        // Answers to a review are appended: there is nothing of the user's that they could differ from.
        let (was, is) = (&held.staging, &seen);
        let comments = match held.order.purpose {
            TurnPurpose::Review => {
                [was.comments_before.as_ref(), is.comments.as_ref()].map(text_of)
            }
            _ => Default::default(),
        };
        let plan = [was.plan_before.as_ref(), is.plan.as_ref()].map(text_of);
        let texts = [
            (Kind::Plan, &names.plan, plan, found.plan),
            (Kind::Comments, &names.comments, comments, found.comments),
        ];
        let versions = |(kind, name, [before, yours], agents): (
            Kind,
            &String,
            [String; 2],
            Option<String>,
        )| {
            Some(ConflictVersions {
                name: name.clone(),
                before: users_words(kind, &before),
                yours: users_words(kind, &yours),
                agents: users_words(kind, &agents?),
            })
        };
        Ok(texts.into_iter().filter_map(versions).collect())
    }

    /// The document of the held turn that has to be merged; `None` where the user did not change it, or
    /// the turn brought none. Answers to a review are appended to whatever lies there.
    fn standing(&self, seen: &Seen) -> Option<Standing> {
        let held = self.held.as_ref()?;
        let found = self.returned(held);
        let layout = self.journal.layout();
        let (kind, name, before, now, agents) = match held.order.purpose {
            TurnPurpose::Review => (
                Kind::Comments,
                &layout.names().comments,
                &held.staging.comments_before,
                &seen.comments,
                found.comments?,
            ),
            _ => (
                Kind::Plan,
                &layout.names().plan,
                &held.staging.plan_before,
                &seen.plan,
                found.plan?,
            ),
        };
        if hash_of(before) == hash_of(now) {
            return None;
        }
        let short = |hash: &Sha256| hash.as_str().chars().take(NAME_CHARS).collect::<String>();
        let yours = hash_of(now).map_or_else(|| "none".to_owned(), short);
        let file = format!(
            "{yours}-{}-{name}",
            short(&hash_document(agents.as_bytes()))
        );
        Some(Standing {
            kind,
            base: users_words(kind, &text_of(before.as_ref())),
            yours: users_words(kind, &text_of(now.as_ref())),
            agents,
            file,
        })
    }

    /// The event that tells of a conflict.
    pub(super) fn conflict(&self, held: &Held, clash: Option<MergeConflict>) -> Event {
        let names = self.journal.layout().names();
        let changed = match self.see() {
            Err(_) => Vec::new(),
            Ok(seen) => [
                (&names.plan, &held.staging.plan_before, &seen.plan),
                (
                    &names.comments,
                    &held.staging.comments_before,
                    &seen.comments,
                ),
            ]
            .into_iter()
            .filter(|(_, before, now)| hash_of(before) != hash_of(now))
            .map(|(name, ..)| name.clone())
            .collect::<Vec<String>>(),
        };
        let document = match (changed.as_slice(), &held.order.purpose) {
            ([], TurnPurpose::Review) => names.comments.clone(),
            ([], _) => names.plan.clone(),
            (changed, _) => changed.join(" and "),
        };
        Event::DocumentConflict {
            turn: held.order.turn.clone(),
            document,
            clash,
        }
    }

    fn see(&self) -> Result<Seen, StoreError> {
        let layout = self.journal.layout();
        Ok(Seen {
            plan: files::read_document(&layout.plan())?,
            comments: files::read_document(&layout.comments())?,
        })
    }

    /// Keeps what lies on disk where it is not what the turn began with.
    fn keep_yours(&self, seen: &Seen) -> Result<(), StoreError> {
        let Some(held) = &self.held else {
            return Ok(());
        };
        let names = self.journal.layout().names();
        for (name, before, now) in [
            (&names.plan, &held.staging.plan_before, &seen.plan),
            (
                &names.comments,
                &held.staging.comments_before,
                &seen.comments,
            ),
        ] {
            if let Some(document) = now
                && hash_of(before) != hash_of(now)
            {
                self.keep("yours", name, &document.bytes)?;
            }
        }
        Ok(())
    }

    pub(super) fn keep_agents(&self) -> Result<(), StoreError> {
        let Some(held) = &self.held else {
            return Ok(());
        };
        let (names, found) = (self.journal.layout().names(), self.returned(held));
        for (name, text) in [(&names.plan, found.plan), (&names.comments, found.comments)] {
            if let Some(text) = text {
                self.keep("agents", name, text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn keep(&self, whose: &str, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = format!("{whose}-{name}");
        files::save_conflict_copy(self.journal.layout(), &name, bytes, self.journal.now())?;
        Ok(())
    }

    /// Keeps the user's words that the next version of a document takes away, where that version's base
    /// is what lies there: words that were taken in before a turn are not in conflict with it.
    pub(super) fn keep_what_goes(
        &self,
        kind: Kind,
        base: Option<&Sha256>,
    ) -> Result<(), StoreError> {
        let (layout, state) = (self.journal.layout(), self.state());
        let (path, name, by, known) = match kind {
            Kind::Plan => (
                layout.plan(),
                &layout.names().plan,
                state.plan_by,
                state.plan.as_ref().map(|plan| &plan.file_sha256),
            ),
            Kind::Comments => (
                layout.comments(),
                &layout.names().comments,
                state.comments_by,
                state.comments_sha256.as_ref(),
            ),
        };
        let Some(now) = files::read_document(&path)?.filter(|now| Some(&now.sha256) == base) else {
            return Ok(());
        };
        match by == DocumentAuthor::User || known != Some(&now.sha256) {
            true => self.keep("yours", name, &now.bytes),
            false => Ok(()),
        }
    }

    /// Moves the merges that the user may have typed in to the texts that lost a conflict.
    pub(super) fn put_merges_aside(&self) -> Vec<Event> {
        let (layout, now) = (self.journal.layout(), self.journal.now());
        let put = merge_files::move_to_conflicts(layout, now);
        put.err()
            .map(|error| troubled("put a merge aside", with_hint(&error)))
            .into_iter()
            .collect()
    }
}

fn text_of(document: Option<&DocumentContent>) -> String {
    document.map_or_else(String::new, |document| {
        String::from_utf8_lossy(&document.bytes).into_owned()
    })
}

/// A document without what the program puts into it anew at each commit.
fn users_words(kind: Kind, text: &str) -> String {
    let document = front_matter::parse_document(text);
    let mut fields = document.fields;
    fields.retain(|(key, _)| !OWN_FIELDS.contains(&key.as_str()));
    let body = match kind {
        Kind::Plan => document.body,
        Kind::Comments => review::strip_responses(document.body),
    };
    front_matter::write_document(&fields, body)
}
