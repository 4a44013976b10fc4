//! Completion while the user writes: slash commands and their arguments, and agents and files after `@`.
//!
//! It does not read the disk: the first `@` requests the list of files.

mod answer_completion;
mod completion_render;
mod cursor_word;
mod file_index;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::action::Action;
use super::agent_dialogs::AgentEntry;
use super::appearance::ScreenAppearance;
use super::command_palette::PaletteAction;
use super::command_table::{
    ArgumentValues, CommandRow, OpenDialog, SlashCommand, all_rows, argument_at_end,
    parse_slash_command,
};
use super::composer::TextComposer;
use super::composer_pane::ComposerPane;
use super::dialogs::DialogContext;
use super::fuzzy_picker::{self, FuzzyTarget, PickerRow};
use super::list_index;
use super::text_wrap::to_one_line;
use super::theme::ColorTheme;
use super::view_moves::ScrollMove;
use crate::domain::run::RunState;
use crate::permission::permission_mode::MODES;
use completion_render::EnterEffect;
use cursor_word::file_word;
use file_index::FileIndex;

/// How many suggestions are offered at most.
const MAX_ENTRIES: usize = 50;
/// The state of completion, and what it draws from.
#[derive(Debug, Default)]
pub struct ComposerAssist {
    completion: Option<CompletionList>,
    files: FileListState,
    pub agents: Vec<AgentEntry>,
    /// Messages sent while an agent talks; it gets them when its turn ends.
    pub queued_messages: Vec<String>,
    /// The recent palette commands, the latest first.
    pub recent_commands: Vec<String>,
}

#[derive(Debug, Default)]
enum FileListState {
    #[default]
    NotRequested,
    Requested,
    Loaded(FileIndex),
}

/// The suggestions for the word at the cursor.
#[derive(Debug)]
pub(super) struct CompletionList {
    kind: CompletionKind,
    /// How many characters before the cursor a suggestion replaces.
    replaced_chars: usize,
    rows: Vec<PickerRow>,
    /// The text that each row inserts.
    insertions: Vec<String>,
    chosen: usize,
    typed: String,
    /// Whether unavailable commands have already been moved to the end.
    is_ordered: bool,
    /// Says that there are more files than were searched; empty if not.
    truncation_note: String,
    /// Why there is no suggestion, if the user could wonder.
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompletionKind {
    Commands,
    Files,
    Presets,
    /// The arguments of a command.
    Values,
    /// The answers to the open question.
    Answers,
    /// Agents that take tasks, and files.
    AgentsAndFiles,
}

impl ComposerAssist {
    /// Returns whether suggestions are shown.
    pub(super) fn has_completion(&self) -> bool {
        self.completion.is_some()
    }

    /// Builds the message that no agent or file has this name, as far as the files are known.
    pub(super) fn describe_unknown_name(&self, name: &str) -> String {
        match &self.files {
            FileListState::Loaded(files) if files.names.len() == files.n_all => {
                format!("No agent or file is called {name}")
            }
            FileListState::Loaded(files) => {
                format!(
                    "No agent or file is called {name}{}",
                    files.truncation_note()
                )
            }
            FileListState::NotRequested | FileListState::Requested => {
                format!("No agent is called {name}")
            }
        }
    }

    /// Returns the suggestion that Enter would insert, if any: a fully typed command is carried out instead.
    pub(super) fn accepted_by_enter(&self, composer: &TextComposer) -> Option<&str> {
        let offer = self.completion.as_ref()?;
        let is_first_command = offer.kind == CompletionKind::Commands && offer.chosen == 0;
        let is_whole = is_first_command && parse_slash_command(&composer.text()).is_ok();
        let name = offer.rows.get(offer.chosen).map(|row| row.name.as_str());
        // A command that needs no argument is carried out, unless the user has selected a suggestion.
        let has_all = offer.typed.is_empty() || name == Some(offer.typed.as_str());
        let is_whole =
            is_whole || offer.kind == CompletionKind::Values && offer.chosen == 0 && has_all;
        let is_answer = offer.kind == CompletionKind::Answers && name == Some(offer.typed.as_str());
        let is_whole = is_whole || is_answer;
        let text = offer.insertions.get(offer.chosen).filter(|_| !is_whole);
        text.map(String::as_str)
    }
}

impl CompletionList {
    fn from_commands(typed: &str) -> Self {
        let mut seen = std::collections::BTreeSet::new();
        let all: Vec<(SlashCommand, &CommandRow)> = all_rows()
            .flat_map(|binding| binding.slash_commands().map(move |slash| (slash, binding)))
            .filter(|(slash, _)| seen.insert(*slash))
            .collect();
        let shown: Vec<String> = all.iter().map(|(slash, _)| slash.to_string()).collect();
        let letters = typed.trim_start_matches('/');
        let names = shown.iter().map(|name| name.trim_start_matches('/'));
        let mut found = fuzzy_picker::best_matches(letters, names, FuzzyTarget::Names, MAX_ENTRIES);
        // The command that Enter would carry out comes first, then those that start like it.
        found.sort_by_key(|at| {
            let name = shown.get(*at).map_or("", String::as_str);
            (!is_fully_typed(name, typed), !name.starts_with(typed))
        });
        let found: Vec<(SlashCommand, &CommandRow)> = found
            .iter()
            .filter_map(|at| all.get(*at))
            .copied()
            .collect();
        Self {
            kind: CompletionKind::Commands,
            truncation_note: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: false,
            replaced_chars: typed.chars().count(),
            insertions: found
                .iter()
                .map(|(slash, _)| slash.typed_prefix())
                .collect(),
            rows: found
                .iter()
                .map(|(slash, binding)| PickerRow {
                    name: slash.to_string(),
                    about: binding.help_for(*slash).into_owned(),
                    title: binding.title_for(*slash).into_owned(),
                    matched_chars: match_positions_behind_slash(typed, &slash.to_string()),
                    ..PickerRow::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// Suggests the values, each with its description, that start with the typed text.
    fn from_values(what: CompletionKind, values: &[(String, String)], typed: &str) -> Self {
        let found = values.iter().filter(|(name, _)| name.starts_with(typed));
        let found: Vec<&(String, String)> = found.take(MAX_ENTRIES).collect();
        Self {
            kind: what,
            truncation_note: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: true,
            replaced_chars: typed.chars().count(),
            insertions: found.iter().map(|(name, _)| format!("{name} ")).collect(),
            rows: found
                .iter()
                .map(|(name, about)| PickerRow {
                    name: to_one_line(name),
                    about: to_one_line(about),
                    matched_chars: fuzzy_picker::match_positions(typed, name),
                    ..PickerRow::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// Suggests agents that take tasks, then files.
    fn from_agents_and_files(agents: &[AgentEntry], files: &[String], typed: &str) -> Self {
        let mut offer = Self::from_files(files, typed);
        let letters = typed.trim_start_matches('@');
        let agents: Vec<&AgentEntry> = agents
            .iter()
            .filter(|agent| agent.accepts_tasks())
            .collect();
        let names = agents.iter().map(|agent| agent.name.as_str());
        let found = fuzzy_picker::best_matches(letters, names, FuzzyTarget::Names, MAX_ENTRIES);
        let found: Vec<&&AgentEntry> = found.iter().filter_map(|at| agents.get(*at)).collect();
        if found.is_empty() {
            return offer;
        }
        let rows = found.iter().map(|agent| PickerRow {
            name: to_one_line(&agent.name),
            about: format!("agent: {}", agent.description),
            matched_chars: fuzzy_picker::match_positions(letters, &agent.name),
            ..PickerRow::default()
        });
        let texts = found.iter().map(|agent| format!("@{} ", agent.name));
        offer.kind = CompletionKind::AgentsAndFiles;
        offer.rows.splice(0..0, rows);
        offer.insertions.splice(0..0, texts);
        offer
    }

    fn from_files(files: &[String], typed: &str) -> Self {
        let letters = typed.trim_start_matches('@');
        let found = fuzzy_picker::best_matches(
            letters,
            files.iter().map(String::as_str),
            FuzzyTarget::Paths,
            MAX_ENTRIES,
        );
        let found: Vec<&String> = found.iter().filter_map(|at| files.get(*at)).collect();
        Self {
            kind: CompletionKind::Files,
            truncation_note: String::new(),
            note: String::new(),
            typed: typed.to_owned(),
            is_ordered: true,
            replaced_chars: typed.chars().count(),
            insertions: found.iter().map(|file| format!("@{file} ")).collect(),
            rows: found
                .iter()
                .map(|file| PickerRow {
                    name: to_one_line(file),
                    matched_chars: fuzzy_picker::match_positions(letters, &to_one_line(file)),
                    ..PickerRow::default()
                })
                .collect(),
            chosen: 0,
        }
    }

    /// Moves unavailable commands to the end, once, so that the selected row does not move later.
    fn move_idle_last(&mut self) {
        if std::mem::replace(&mut self.is_ordered, true) {
            return;
        }
        let rows = std::mem::take(&mut self.rows).into_iter();
        let texts = std::mem::take(&mut self.insertions);
        let mut both: Vec<(PickerRow, String)> = rows.zip(texts).collect();
        let typed = self.typed.as_str();
        both.sort_by_key(|(row, _)| {
            let is_whole = is_fully_typed(&row.name, typed);
            let is_first = is_whole || row.name.starts_with(typed);
            (!is_whole, !is_first, row.is_idle)
        });
        (self.rows, self.insertions) = both.into_iter().unzip();
    }
}

/// Returns the positions of the typed letters in a command; the slash, which all commands begin with, marks none.
fn match_positions_behind_slash(typed: &str, name: &str) -> Vec<usize> {
    let mut found = fuzzy_picker::match_positions(typed, name);
    found.retain(|at| *at > 0);
    found
}

/// Returns whether the typed text is the whole name of a command, which may have arguments.
fn is_fully_typed(name: &str, typed: &str) -> bool {
    name.split(' ').next() == Some(typed)
}

/// What suggestions are drawn from, beside what the composer knows.
pub(super) struct CompletionSources<'a> {
    pub(super) state: Option<&'a RunState>,
    pub(super) known: DialogContext<'a>,
    /// The discussion presets, each with its description.
    pub(super) presets: &'a [(String, String)],
    pub(super) appearance: &'a ScreenAppearance,
}

impl CompletionSources<'_> {
    /// Returns the suggestions for the word at the cursor.
    pub(super) fn find_completion(&self, composer: &ComposerPane) -> Option<CompletionList> {
        let before = composer.editor.text_before_cursor();
        let assist = &composer.assist;
        if composer.editor.is_one_word() && before.starts_with('/') {
            return Some(CompletionList::from_commands(&before));
        }
        if let Some(offer) = self.argument_completion(&before, &assist.agents) {
            return Some(offer);
        }
        let word = file_word(&before)?;
        let (files, cut) = match &assist.files {
            FileListState::Loaded(files) => (files.names.as_slice(), files.truncation_note()),
            FileListState::Requested | FileListState::NotRequested => (&[][..], String::new()),
        };
        // A text gives a task only if it starts with an agent's name.
        let agents = if word.len() == before.len() {
            assist.agents.as_slice()
        } else {
            &[]
        };
        Some(CompletionList {
            truncation_note: cut,
            ..CompletionList::from_agents_and_files(agents, files, word)
        })
    }

    /// Suggests the arguments of the command in a line, each with its description; `None` if it has none to offer.
    fn argument_completion(&self, line: &str, agents: &[AgentEntry]) -> Option<CompletionList> {
        let (row, typed) = argument_at_end(line)?;
        let agent = |agent: &AgentEntry| (agent.name.clone(), agent.description.clone());
        let agents = agents.iter();
        let values: Vec<(String, String)> = match row.values {
            ArgumentValues::Answers => {
                let answers = answer_completion::complete_answer(self.state, &self.known, typed);
                return Some(answers);
            }
            ArgumentValues::Presets => {
                let kind = CompletionKind::Presets;
                return Some(CompletionList::from_values(kind, self.presets, typed));
            }
            ArgumentValues::Themes => {
                let themes = self.appearance.themes().iter();
                themes
                    .map(|theme| (theme.name().to_owned(), String::new()))
                    .collect()
            }
            ArgumentValues::Modes => MODES
                .iter()
                .map(|mode| {
                    let help = format!("{}: {}", mode.label(), mode.describe());
                    (mode.name().to_owned(), help)
                })
                .collect(),
            ArgumentValues::Agents => agents.map(agent).collect(),
            ArgumentValues::TaskAgents => agents
                .filter(|agent| agent.accepts_tasks())
                .map(agent)
                .collect(),
            ArgumentValues::Words => {
                let words = row.slash.argument_words();
                words
                    .map(|word| (word.to_owned(), row.help.to_owned()))
                    .collect()
            }
        };
        let kind = CompletionKind::Values;
        (!values.is_empty()).then(|| CompletionList::from_values(kind, &values, typed))
    }
}

impl ComposerAssist {
    /// Shows the suggestions that were found; requests the files when they are needed.
    pub(super) fn show_completion(&mut self, found: Option<CompletionList>) -> Vec<Action> {
        let is_of_files = found.as_ref().is_some_and(|offer| {
            matches!(
                offer.kind,
                CompletionKind::Files | CompletionKind::AgentsAndFiles
            )
        });
        self.completion = found.filter(|offer| !offer.rows.is_empty() || !offer.note.is_empty());
        if is_of_files && matches!(self.files, FileListState::NotRequested) {
            self.files = FileListState::Requested;
            return vec![Action::ListFiles];
        }
        Vec::new()
    }

    /// Selects the previous or next suggestion; `n_shown` is the number of visible rows.
    pub(super) fn scroll_completion(&mut self, to: ScrollMove, n_shown: usize) {
        if let Some(offer) = &mut self.completion {
            offer.chosen = list_index::scroll_index(to, offer.chosen, offer.rows.len(), n_shown);
        }
    }
}

impl ComposerPane {
    /// Stores the files of the repository; returns whether the suggestions depend on them.
    pub(super) fn set_repository_files(&mut self, files: Vec<String>) -> bool {
        self.assist.files = FileListState::Loaded(FileIndex::from_names(files));
        file_word(&self.editor.text_before_cursor()).is_some()
    }

    /// Moves suggested commands that have no effect now to the end.
    pub(super) fn order_completion(
        &mut self,
        state: Option<&RunState>,
        dialog: Option<OpenDialog>,
    ) {
        if let Some(offer) = &mut self.assist.completion
            && offer.kind == CompletionKind::Commands
        {
            let commands: Vec<SlashCommand> =
                all_rows().flat_map(CommandRow::slash_commands).collect();
            for row in &mut offer.rows {
                let command = commands.iter().find(|slash| slash.to_string() == row.name);
                let action = command.map(|slash| PaletteAction::from_slash_command(*slash));
                let blocker = action.and_then(|action| action.blocker(state, dialog));
                row.is_idle = blocker.is_some();
            }
            offer.move_idle_last();
        }
    }

    /// Draws the suggestions above the composer, over the content there; returns the areas of the rows.
    pub(super) fn draw_completion(
        &self,
        frame: &mut Frame,
        area: Rect,
        theme: &ColorTheme,
    ) -> Vec<(Rect, usize)> {
        let enter = match self.assist.accepted_by_enter(&self.editor) {
            Some(_) => EnterEffect::AcceptsEntry,
            None => EnterEffect::SendsText,
        };
        let offer = self.assist.completion.as_ref();
        offer.map_or_else(Vec::new, |offer| offer.draw(frame, area, enter, theme))
    }

    /// Passes a key to the suggestions, of which `n_shown` rows are visible; returns whether they used it.
    pub(super) fn on_completion_key(&mut self, key: KeyEvent, n_shown: usize) -> bool {
        let Some(offer) = &mut self.assist.completion else {
            return false;
        };
        if !key.modifiers.is_empty() {
            return false;
        }
        // `Home` and `End` still move in the text.
        let to = list_index::list_move(key)
            .filter(|to| !matches!(to, ScrollMove::Top | ScrollMove::End));
        if let Some(to) = to {
            offer.chosen = list_index::step_index(to, offer.chosen, offer.rows.len(), n_shown);
            return true;
        }
        match key.code {
            KeyCode::Esc => self.assist.completion = None,
            KeyCode::Tab => self.accept_completion(),
            KeyCode::Enter => {
                if self.assist.accepted_by_enter(&self.editor).is_none() {
                    // The text is complete: Enter sends it or carries it out.
                    self.assist.completion = None;
                    return false;
                }
                self.accept_completion();
            }
            _ => return false,
        }
        true
    }

    pub fn accept_completion(&mut self) {
        let Some(offer) = self.assist.completion.take() else {
            return;
        };
        if let Some(text) = offer.insertions.get(offer.chosen) {
            self.editor
                .replace_before_cursor(offer.replaced_chars, text);
        }
    }

    /// Selects a suggestion, or inserts it if it is selected already.
    pub fn click_completion(&mut self, at: usize) {
        let Some(offer) = &mut self.assist.completion else {
            return;
        };
        if std::mem::replace(&mut offer.chosen, at) == at {
            self.accept_completion();
        }
    }

    /// Closes the suggestions; the next `@` requests the files again.
    pub fn close_completion(&mut self) {
        self.assist.completion = None;
        if let FileListState::Loaded(_) = self.assist.files {
            self.assist.files = FileListState::NotRequested;
        }
    }

    /// Returns whether the listed files contain this name.
    pub fn is_repository_file(&self, name: &str) -> bool {
        match &self.assist.files {
            FileListState::Loaded(files) => files.names.iter().any(|file| file == name),
            FileListState::Requested | FileListState::NotRequested => false,
        }
    }
}
