//! What is offered while the user writes: slash commands, and files after `@`.
//!
//! Refuses to look at the disk: which files there are is told, once somebody asks by typing `@`.

mod answers;
mod drawing;
mod files;
mod words;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::Screen;
use super::action::Action;
use super::agents::Agent;
use super::command::{self, Move};
use super::composer::Composer;
use super::fuzzy::{self, Among, Row};
use super::keymap::BINDINGS;
use super::list;
use super::wrap::one_line;
use crate::domain::run::RunState;
use crate::permission::permission_mode::MODES;
use drawing::OnEnter;
use files::Kept;
use words::{file_word, filled, named_values, preset_word};

/// How many are offered.
const MOST: usize = 50;
/// What the user is helped with while writing.
#[derive(Debug, Default)]
pub struct Helped {
    offer: Option<Offer>,
    files: Files,
    /// The agents that there are.
    pub agents: Vec<Agent>,
    /// What was sent while an agent talked, and goes to it once it is done.
    pub queued: Vec<String>,
    /// The entries of the palette that were taken last, the latest first.
    pub used: Vec<String>,
}

/// The files of the repository.
#[derive(Debug, Default)]
enum Files {
    #[default]
    NotAsked,
    Asked,
    Known(Kept),
}

/// What is offered for the word at the cursor.
#[derive(Debug)]
struct Offer {
    what: What,
    /// How many characters before the cursor it takes the place of.
    n_before: usize,
    rows: Vec<Row>,
    /// What each row puts there.
    texts: Vec<String>,
    chosen: usize,
    /// What was typed.
    typed: String,
    /// Whether what has nothing to do now stands last already.
    is_ordered: bool,
    /// That there is more than was looked through.
    cut: String,
    /// Why there is nothing to take, where somebody could wonder.
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Commands,
    Files,
    Presets,
    /// What a command takes.
    Values,
    /// What answers the open question.
    Answers,
    /// Agents that take tasks, and files.
    Both,
}

impl Helped {
    /// Tells whether something is offered.
    pub(super) fn offers(&self) -> bool {
        self.offer.is_some()
    }

    /// That nothing has a name that somebody wrote behind `@`, as far as that is known.
    pub(super) fn nothing_called(&self, name: &str) -> String {
        match &self.files {
            Files::Known(files) if files.names.len() == files.n_all => {
                format!("neither an agent nor a file is called {name}")
            }
            Files::Known(files) => {
                format!("no agent is called {name}, nor a file{}", files.cut())
            }
            Files::NotAsked | Files::Asked => format!("no agent is called {name}"),
        }
    }

    /// What Enter takes of what is offered, where it does: a command that is written whole is carried out.
    pub(super) fn taken_by_enter(&self, composer: &Composer) -> Option<&str> {
        let offer = self.offer.as_ref()?;
        let is_first_command = offer.what == What::Commands && offer.chosen == 0;
        let is_whole = is_first_command && command::read(&composer.text()).is_ok();
        let name = offer.rows.get(offer.chosen).map(|row| row.name.as_str());
        // A command that needs nothing more is carried out, unless somebody pointed at something.
        let has_all = offer.typed.is_empty() || name == Some(offer.typed.as_str());
        let is_whole = is_whole || offer.what == What::Values && offer.chosen == 0 && has_all;
        let is_answer = offer.what == What::Answers && name == Some(offer.typed.as_str());
        let is_whole = is_whole || is_answer;
        let text = offer.texts.get(offer.chosen).filter(|_| !is_whole);
        text.map(String::as_str)
    }
}

impl Offer {
    fn of_commands(typed: &str) -> Self {
        let all: Vec<(&str, &str)> = BINDINGS
            .iter()
            .flat_map(|binding| {
                let slashes = binding.slash.split(", ");
                slashes.map(|slash| (slash, binding.help_of(slash)))
            })
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        let all: Vec<(&str, &str)> = all
            .into_iter()
            .filter(|(slash, _)| seen.insert(*slash))
            .collect();
        let letters = typed.trim_start_matches('/');
        let names = all.iter().map(|(slash, _)| slash.trim_start_matches('/'));
        let mut found = fuzzy::best(letters, names, (Among::Names, MOST));
        // What Enter would carry out comes first, then what begins like it.
        found.sort_by_key(|at| {
            let name = all.get(*at).map_or("", |(slash, _)| *slash);
            (!is_whole(name, typed), !name.starts_with(typed))
        });
        let found: Vec<(&str, &str)> = found
            .iter()
            .filter_map(|at| all.get(*at).copied())
            .collect();
        Self {
            what: What::Commands,
            cut: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: false,
            n_before: typed.chars().count(),
            texts: found.iter().map(|(slash, _)| filled(slash)).collect(),
            rows: found
                .iter()
                .map(|(slash, help)| Row {
                    name: (*slash).to_owned(),
                    about: (*help).to_owned(),
                    lit: fuzzy::places(typed, slash),
                    ..Row::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// The presets that begin with what was typed.
    fn of_presets(presets: &[(String, String)], typed: &str) -> Self {
        Self::of_values(What::Presets, presets, typed)
    }

    /// The names, each with what it is, that begin with what was typed.
    fn of_values(what: What, values: &[(String, String)], typed: &str) -> Self {
        let found = values.iter().filter(|(name, _)| name.starts_with(typed));
        let found: Vec<&(String, String)> = found.take(MOST).collect();
        Self {
            what,
            cut: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: true,
            n_before: typed.chars().count(),
            texts: found.iter().map(|(name, _)| format!("{name} ")).collect(),
            rows: found
                .iter()
                .map(|(name, about)| Row {
                    name: one_line(name),
                    about: one_line(about),
                    lit: fuzzy::places(typed, name),
                    ..Row::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// Agents that take tasks stand before files.
    fn of_words(agents: &[Agent], files: &[String], typed: &str) -> Self {
        let mut offer = Self::of_files(files, typed);
        let letters = typed.trim_start_matches('@');
        let agents: Vec<&Agent> = agents.iter().filter(|agent| agent.takes_tasks()).collect();
        let names = agents.iter().map(|agent| agent.name.as_str());
        let found = fuzzy::best(letters, names, (Among::Names, MOST));
        let found: Vec<&&Agent> = found.iter().filter_map(|at| agents.get(*at)).collect();
        if found.is_empty() {
            return offer;
        }
        let rows = found.iter().map(|agent| Row {
            name: one_line(&agent.name),
            about: format!("agent: {}", agent.about),
            lit: fuzzy::places(letters, &agent.name),
            ..Row::default()
        });
        let texts = found.iter().map(|agent| format!("@{} ", agent.name));
        offer.what = What::Both;
        offer.rows.splice(0..0, rows);
        offer.texts.splice(0..0, texts);
        offer
    }

    fn of_files(files: &[String], typed: &str) -> Self {
        let letters = typed.trim_start_matches('@');
        let found = fuzzy::best(
            letters,
            files.iter().map(String::as_str),
            (Among::Paths, MOST),
        );
        let found: Vec<&String> = found.iter().filter_map(|at| files.get(*at)).collect();
        Self {
            what: What::Files,
            cut: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: true,
            n_before: typed.chars().count(),
            texts: found.iter().map(|file| format!("@{file} ")).collect(),
            rows: found
                .iter()
                .map(|file| Row {
                    name: one_line(file),
                    lit: fuzzy::places(letters, &one_line(file)),
                    ..Row::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// Puts what has nothing to do now behind the rest, once: what is pointed at stays where it is seen.
    fn put_idle_last(&mut self) {
        if std::mem::replace(&mut self.is_ordered, true) {
            return;
        }
        let rows = std::mem::take(&mut self.rows).into_iter();
        let texts = std::mem::take(&mut self.texts);
        let mut both: Vec<(Row, String)> = rows.zip(texts).collect();
        let typed = self.typed.as_str();
        both.sort_by_key(|(row, _)| {
            let is_whole = is_whole(&row.name, typed);
            let is_first = is_whole || row.name.starts_with(typed);
            (!is_whole, !is_first, row.is_idle)
        });
        (self.rows, self.texts) = both.into_iter().unzip();
    }
}

/// Tells whether a command, which may take something, is typed whole.
fn is_whole(name: &str, typed: &str) -> bool {
    name.split(' ').next() == Some(typed)
}

impl Screen {
    /// Takes the files of the repository for `@`, relative to its root; ignored ones are not among them.
    pub fn on_files(&mut self, files: Vec<String>) {
        self.dirty = true;
        self.helped.files = Files::Known(Kept::of(files));
        // Only a name is completed anew: what else is offered does not hang on files.
        if file_word(&self.composer.before_cursor()).is_some() {
            self.offer(None);
        }
    }

    /// Offers what fits the word at the cursor; asks for the files once they are wanted.
    pub(super) fn offer(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let before = self.composer.before_cursor();
        let is_command = self.composer.is_one_word() && before.starts_with('/');
        let mut actions = Vec::new();
        self.helped.offer = None;
        if is_command {
            self.helped.offer = Some(Offer::of_commands(&before));
        } else if let Some(word) = preset_word(&before) {
            self.helped.offer = Some(Offer::of_presets(&self.talks.presets, word));
        } else if let Some(word) = before.strip_prefix(answers::COMMAND) {
            self.helped.offer = Some(answers::offer(state, &self.known(), word));
        } else if let Some((values, word)) = self.values_at(&before) {
            self.helped.offer = Some(Offer::of_values(What::Values, &values, word));
        } else if let Some(word) = file_word(&before) {
            let files = match &self.helped.files {
                Files::Known(files) => files.names.as_slice(),
                Files::Asked | Files::NotAsked => &[],
            };
            let cut = match &self.helped.files {
                Files::Known(files) => files.cut(),
                Files::Asked | Files::NotAsked => String::new(),
            };
            // Only a text that begins with an agent's name is a task.
            let agents = match word.len() == before.len() {
                true => self.helped.agents.as_slice(),
                false => &[],
            };
            let offer = Offer::of_words(agents, files, word);
            self.helped.offer = Some(Offer { cut, ..offer });
            if let Files::NotAsked = self.helped.files {
                self.helped.files = Files::Asked;
                actions.push(Action::ListFiles);
            }
        }
        if self
            .helped
            .offer
            .as_ref()
            .is_some_and(|offer| offer.rows.is_empty() && offer.note.is_empty())
        {
            self.helped.offer = None;
        }
        actions
    }

    /// What the command of a line takes next, each with what it is, and what is typed of it.
    fn values_at<'a>(&self, line: &'a str) -> Option<(Vec<(String, String)>, &'a str)> {
        let (command, typed) = line.split_once(' ')?;
        if !command.starts_with('/') || typed.contains(char::is_whitespace) {
            return None;
        }
        let plain = |name: &str| (name.to_owned(), String::new());
        let agent = |agent: &Agent| (agent.name.clone(), agent.about.clone());
        let values: Vec<(String, String)> = match command {
            "/theme" => {
                let themes = self.settings.look.themes().iter();
                themes.map(|theme| plain(theme.name())).collect()
            }
            "/mode" => MODES
                .iter()
                .map(|mode| (mode.name().to_owned(), mode.describe().to_owned()))
                .collect(),
            "/agent" => self.helped.agents.iter().map(agent).collect(),
            "/task" => {
                let takers = self
                    .helped
                    .agents
                    .iter()
                    .filter(|agent| agent.takes_tasks());
                takers.map(agent).collect()
            }
            _ => named_values(command),
        };
        Some((values, typed)).filter(|(values, _)| !values.is_empty())
    }

    /// Tells whether a file of the repository has this name, as far as files were listed.
    pub(super) fn is_file(&self, name: &str) -> bool {
        match &self.helped.files {
            Files::Known(files) => files.names.iter().any(|file| file == name),
            Files::Asked | Files::NotAsked => false,
        }
    }

    /// Offers nothing more; the files are asked for anew with the next `@`.
    pub(super) fn end_offer(&mut self) {
        self.helped.offer = None;
        if let Files::Known(_) = self.helped.files {
            self.helped.files = Files::NotAsked;
        }
    }

    /// Draws what is offered, over what stands above the composer.
    pub(super) fn draw_offer(
        &mut self,
        frame: &mut Frame,
        composer: Rect,
        state: Option<&RunState>,
    ) {
        let Some(mut offer) = self.helped.offer.take() else {
            return;
        };
        if offer.what == What::Commands {
            let sheet = self.waiting(state);
            for row in &mut offer.rows {
                row.is_idle = !self.has_use(&row.name, state, sheet.as_ref());
            }
            offer.put_idle_last();
        }
        self.helped.offer = Some(offer);
        let enter = match self.helped.taken_by_enter(&self.composer) {
            Some(_) => OnEnter::Takes,
            None => OnEnter::Sends,
        };
        if let Some(offer) = &self.helped.offer {
            self.places.offer = offer.draw(frame, composer, enter);
        }
    }

    /// Points at what is offered before or behind.
    pub(super) fn point_in_offer(&mut self, to: Move) {
        if let Some(offer) = &mut self.helped.offer {
            let n_shown = self.places.offer.len();
            offer.chosen = list::rolled(to, offer.chosen, (offer.rows.len(), n_shown));
        }
    }

    /// Points at one of what is offered, or takes the one that is pointed at already.
    pub(super) fn click_offer(&mut self, at: usize) {
        let Some(offer) = &mut self.helped.offer else {
            return;
        };
        if std::mem::replace(&mut offer.chosen, at) == at {
            self.take_offer();
        }
    }

    /// Gives a key to what is offered; tells whether it was for it.
    pub(super) fn key_of_offer(&mut self, key: KeyEvent) -> bool {
        if self.helped.offer.is_none() || !key.modifiers.is_empty() {
            return false;
        }
        // `Home` and `End` stay the text's.
        let to = list::move_of(key).filter(|to| !matches!(to, Move::Top | Move::End));
        if let (Some(to), Some(offer)) = (to, &mut self.helped.offer) {
            let n_shown = self.places.offer.len();
            offer.chosen = list::stepped(to, offer.chosen, (offer.rows.len(), n_shown));
            return true;
        }
        match key.code {
            KeyCode::Esc => self.helped.offer = None,
            KeyCode::Tab => self.take_offer(),
            KeyCode::Enter => {
                if self.helped.taken_by_enter(&self.composer).is_none() {
                    self.helped.offer = None;
                    return false;
                }
                self.take_offer();
            }
            _ => return false,
        }
        true
    }

    fn take_offer(&mut self) {
        let Some(offer) = self.helped.offer.take() else {
            return;
        };
        if let Some(text) = offer.texts.get(offer.chosen) {
            self.composer.replace_before_cursor(offer.n_before, text);
        }
    }
}
