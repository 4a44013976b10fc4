//! The type of a row of the command table: everything there is to know of one command.
//!
//! A row starts as `key_command`, `slash_command` or `view_command`; the methods add what is not usual.

use std::borrow::Cow;

use super::command_conditions::{CommandContext, is_always_available};
use super::command_target::CommandTarget;
use super::slash_command::{ArgumentValues, SlashArgument, SlashCommand};
use crate::domain::phase::Mode;
use crate::domain::run::RunState;
use crate::tui::action::Action;
use crate::tui::command::{RowCall, ScreenCommand};
use crate::tui::keymap::{KeyChord, KeyContext};

/// Builds a command from the argument that follows its name; the error says what to type.
pub type ArgumentParser = fn(&str) -> Result<ScreenCommand, String>;

/// A function of the screen that carries a command out, with the typed argument.
pub type ScreenFunction = fn(&mut dyn CommandTarget, &str, Option<&RunState>) -> Vec<Action>;

/// What a command does.
#[derive(Debug, Clone, Copy)]
pub enum CommandEffect {
    /// Builds a command that other code names, too; `perform_command` has an arm for it.
    Build(ArgumentParser),
    /// Calls a function of the screen. Only the row knows the command.
    Call(ScreenFunction),
}

/// Whether a command changes the run, which a read-only screen refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunChange {
    Never,
    Always,
    /// With an argument it does, alone it shows something.
    WithArgument,
}

/// The views whose keys leave a global command its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewReach {
    None,
    Diff,
    DiffAndBoard,
    All,
}

/// When the palette lists a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteListing {
    /// Also while nothing is typed.
    Always,
    /// Also while nothing is typed, once there is a run.
    DuringRun,
    /// Also while nothing is typed, before there is a run.
    BeforeRun,
    WhenSearched,
}

/// A heading of the palette, which has fewer and larger groups than the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteHeading {
    Now,
    View,
    Run,
    Agents,
    Screen,
}

impl PaletteHeading {
    /// All headings, in the order of the palette during a run.
    pub const ALL: [Self; 5] = [Self::Now, Self::View, Self::Run, Self::Agents, Self::Screen];

    pub fn label(self) -> &'static str {
        match self {
            Self::Now => "Now",
            Self::View => "View",
            Self::Run => "Run",
            Self::Agents => "Agents",
            Self::Screen => "Screen",
        }
    }
}

/// Where the palette lists a command that does not simply follow its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PalettePlace {
    pub heading: PaletteHeading,
    /// The place below the heading; lower ones come first. Commands without a place are between 0 and 100.
    pub order: u8,
}

/// The place of a command that follows its group.
const USUAL_ORDER: u8 = 50;

/// What the palette offers first once the run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndOffer {
    /// The place among the offers; lower ones come first.
    pub order: u8,
    pub title: &'static str,
}

/// The group of a command: a heading of the help, the palette and the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandGroup {
    Run,
    Requests,
    Documents,
    Agents,
    Navigation,
    Layout,
    Composer,
    Program,
}

/// A command: its keys, its slash command, when it is available, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct CommandRow {
    pub group: CommandGroup,
    /// The action's name in the user's configuration; empty if it cannot have keys.
    pub name: &'static str,
    /// The default keys; the first one is shown.
    pub keys: &'static [KeyChord],
    pub context: KeyContext,
    /// The slash command; its name is empty for the keys of a view.
    pub slash: SlashCommand,
    /// Further names, which the help lists; each stands for its own argument.
    pub aliases: &'static [&'static str],
    /// A name that is understood, but not listed.
    pub unlisted_name: &'static str,
    /// What completion offers for the argument.
    pub values: ArgumentValues,
    pub effect: CommandEffect,
    pub help: &'static str,
    /// The help in a few plain words, where it is long; empty if it is short itself.
    pub title: &'static str,
    /// A short label for the footer; empty if it is not shown there.
    pub hint: &'static str,
    /// The place in the footer; lower ones come first.
    pub hint_order: u8,
    /// Returns why the command has no effect now; `None` if it has one.
    pub blocker: fn(&CommandContext<'_>) -> Option<String>,
    pub run_change: RunChange,
    /// Whether a key may run it while a list or a text covers the run.
    pub is_safe_in_overlay: bool,
    /// Whether it answers the run's dialog, which the user must have seen.
    pub answers_dialog: bool,
    /// Whether it can be sent from another terminal.
    pub is_sendable: bool,
    pub reach: ViewReach,
    pub palette_listing: PaletteListing,
    /// Where the palette lists it, if not below the heading of its group.
    pub own_place: Option<PalettePlace>,
    pub end_offer: Option<EndOffer>,
    /// Whether it only means something in a window, so that linear mode does not list it.
    pub is_for_window: bool,
}

/// Creates a command with keys of its own, which the user can change.
pub const fn key_command(
    slash: &'static str,
    keys: &'static [KeyChord],
    context: KeyContext,
    effect: CommandEffect,
    help: &'static str,
) -> CommandRow {
    let (_, name) = slash.split_at(1);
    CommandRow {
        name,
        keys,
        context,
        ..slash_command(slash, effect, help)
    }
}

/// Creates a command that is a slash command only.
pub const fn slash_command(
    slash: &'static str,
    effect: CommandEffect,
    help: &'static str,
) -> CommandRow {
    CommandRow {
        group: CommandGroup::Program,
        name: "",
        keys: &[],
        context: KeyContext::Anywhere,
        slash: SlashCommand::new(slash),
        aliases: &[],
        unlisted_name: "",
        values: ArgumentValues::Words,
        effect,
        help,
        title: "",
        hint: "",
        hint_order: 0,
        blocker: is_always_available,
        run_change: RunChange::Never,
        is_safe_in_overlay: true,
        answers_dialog: false,
        is_sendable: false,
        reach: ViewReach::None,
        palette_listing: PaletteListing::WhenSearched,
        own_place: None,
        end_offer: None,
        is_for_window: false,
    }
}

/// Creates a command that is a key of one view only; `texts` are the help and the hint.
pub const fn view_command(
    name: &'static str,
    keys: &'static [KeyChord],
    context: KeyContext,
    parser: ArgumentParser,
    texts: [&'static str; 2],
) -> CommandRow {
    CommandRow {
        name,
        keys,
        context,
        hint: texts[1],
        ..slash_command("", CommandEffect::Build(parser), texts[0])
    }
}

/// Puts the rows into a group.
pub const fn in_group<const N: usize>(
    group: CommandGroup,
    mut rows: [CommandRow; N],
) -> [CommandRow; N] {
    let mut n = 0;
    while n < N {
        rows[n].group = group;
        n += 1;
    }
    rows
}

impl CommandGroup {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 8] = [
        Self::Run,
        Self::Requests,
        Self::Documents,
        Self::Agents,
        Self::Navigation,
        Self::Layout,
        Self::Composer,
        Self::Program,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Self::Run => "The run",
            Self::Requests => "What waits for you",
            Self::Documents => "Plan, review and changes",
            Self::Agents => "Tasks and discussions",
            Self::Navigation => "Moving",
            Self::Layout => "The view",
            Self::Composer => "Writing and copying",
            Self::Program => "The program",
        }
    }

    /// Returns the heading in the palette.
    pub fn palette_heading(self) -> PaletteHeading {
        match self {
            Self::Run | Self::Requests => PaletteHeading::Now,
            Self::Layout | Self::Navigation => PaletteHeading::View,
            Self::Documents => PaletteHeading::Run,
            Self::Agents => PaletteHeading::Agents,
            Self::Composer | Self::Program => PaletteHeading::Screen,
        }
    }
}

impl CommandRow {
    /// Gives the action a name that is not its slash command.
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Says in a few plain words what it does, where the help is long.
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Sets the argument of its slash command.
    pub const fn with_argument(mut self, argument: SlashArgument) -> Self {
        self.slash.argument = argument;
        self
    }

    /// Sets what completion offers for the argument.
    pub const fn with_values(mut self, values: ArgumentValues) -> Self {
        self.values = values;
        self
    }

    pub const fn with_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub const fn with_unlisted_name(mut self, unlisted_name: &'static str) -> Self {
        self.unlisted_name = unlisted_name;
        self
    }

    /// Shows the command in the footer.
    pub const fn hint(mut self, hint_order: u8, hint: &'static str) -> Self {
        self.hint_order = hint_order;
        self.hint = hint;
        self
    }

    /// Sets the condition: it returns why the command has no effect now.
    pub const fn unless(mut self, blocker: fn(&CommandContext<'_>) -> Option<String>) -> Self {
        self.blocker = blocker;
        self
    }

    /// Says that the command changes the run: refused where the run is read-only, and while something covers it.
    pub const fn changes_run(mut self) -> Self {
        self.run_change = RunChange::Always;
        self.is_safe_in_overlay = false;
        self
    }

    /// Says that the command changes the run if it has an argument.
    pub const fn changes_run_with_argument(mut self) -> Self {
        self.run_change = RunChange::WithArgument;
        self
    }

    /// Lets a key run the command although something covers the run.
    pub const fn also_in_overlay(mut self) -> Self {
        self.is_safe_in_overlay = true;
        self
    }

    /// Keeps a key from running the command while something covers the run.
    pub const fn not_in_overlay(mut self) -> Self {
        self.is_safe_in_overlay = false;
        self
    }

    /// Says that the command answers the run's dialog.
    pub const fn answers_dialog(mut self) -> Self {
        self.answers_dialog = true;
        self
    }

    /// Lets `agent-collab send` send the command.
    pub const fn sendable(mut self) -> Self {
        self.is_sendable = true;
        self
    }

    /// Lets the key work in other views, too.
    pub const fn reaches(mut self, reach: ViewReach) -> Self {
        self.reach = reach;
        self
    }

    /// Lists the command in the palette before anything is typed: a verb that a newcomer looks for there.
    pub const fn listed(mut self) -> Self {
        self.palette_listing = PaletteListing::Always;
        self
    }

    /// Lists the command like [`Self::listed`], once there is a run.
    pub const fn listed_during_run(mut self) -> Self {
        self.palette_listing = PaletteListing::DuringRun;
        self
    }

    /// Lists the command like [`Self::listed`], before there is a run.
    pub const fn listed_before_run(mut self) -> Self {
        self.palette_listing = PaletteListing::BeforeRun;
        self
    }

    /// Lists the command below another heading of the palette than its group's, or at another place.
    pub const fn placed(mut self, heading: PaletteHeading, order: u8) -> Self {
        self.own_place = Some(PalettePlace { heading, order });
        self
    }

    /// Returns where the palette lists it.
    pub fn palette_place(&self) -> PalettePlace {
        self.own_place.unwrap_or(PalettePlace {
            heading: self.group.palette_heading(),
            order: USUAL_ORDER,
        })
    }

    /// Leaves the command out of linear mode's help.
    pub const fn in_window_only(mut self) -> Self {
        self.is_for_window = true;
        self
    }

    /// Offers the command first in the palette once the run is over, under this title.
    pub const fn offered_at_end(mut self, order: u8, title: &'static str) -> Self {
        self.end_offer = Some(EndOffer { order, title });
        self
    }

    /// Returns whether this is a slash command, not the key of a view.
    pub fn is_slash_command(&self) -> bool {
        !self.slash.name.is_empty()
    }

    /// Returns the description of one of its slash commands. The name of a mode has its own: that mode's label and
    /// what it allows.
    pub fn help_for(&self, slash: SlashCommand) -> Cow<'static, str> {
        match slash.mode() {
            Some(mode) => Cow::Owned(format!("{}: {}", mode.label(), mode.describe())),
            None => Cow::Borrowed(self.help),
        }
    }

    /// Returns what one of its slash commands does, in a few plain words.
    pub fn title_for(&self, slash: SlashCommand) -> Cow<'static, str> {
        match (slash.mode(), self.title) {
            (Some(mode), _) => Cow::Owned(format!("{}: {}", mode.label(), in_few_words(mode))),
            (None, "") => Cow::Borrowed(self.help),
            (None, title) => Cow::Borrowed(title),
        }
    }

    /// Returns its slash commands, the main one first.
    pub fn slash_commands(&self) -> impl Iterator<Item = SlashCommand> + use<> {
        let aliases = self.aliases.iter().map(|name| SlashCommand::new(name));
        std::iter::once(self.slash).chain(aliases)
    }

    /// Returns the slash commands as the help lists them.
    pub fn slash_names(&self) -> String {
        let names: Vec<String> = self
            .slash_commands()
            .map(|slash| slash.to_string())
            .collect();
        names.join(", ")
    }

    /// Builds the command of its key, which has no argument but a fixed one; `None` if it needs one.
    pub fn key_command(&'static self) -> Option<ScreenCommand> {
        self.parse(self.slash.fixed_argument()).ok()
    }

    /// Builds the command from the argument after its name.
    ///
    /// # Errors
    /// The argument is missing or not one of its own; the message says what to type.
    pub fn parse(&'static self, argument: &str) -> Result<ScreenCommand, String> {
        match self.effect {
            CommandEffect::Build(parser) => parser(argument),
            CommandEffect::Call(function) => {
                self.slash.check(argument)?;
                Ok(ScreenCommand::Call(RowCall {
                    row: self,
                    function,
                    argument: argument.to_owned(),
                }))
            }
        }
    }

    /// Parses the argument after one of its names; `None` if the name is not one of its own.
    pub fn parse_named(
        &'static self,
        name: &str,
        argument: &str,
    ) -> Option<Result<ScreenCommand, String>> {
        let typed = |known: &&str| known.strip_prefix('/') == Some(name);
        if typed(&self.slash.name) || typed(&self.unlisted_name) {
            return Some(self.parse(argument));
        }
        let alias = self.aliases.iter().find(|alias| typed(alias));
        alias.map(|_| self.parse(name))
    }

    /// Returns whether its key still works in a view that has keys of its own.
    pub fn works_in_view(&self, view: KeyContext) -> bool {
        match view {
            KeyContext::Diff => self.reach != ViewReach::None,
            KeyContext::Board => matches!(self.reach, ViewReach::DiffAndBoard | ViewReach::All),
            KeyContext::Find | KeyContext::Text => self.reach == ViewReach::All,
            KeyContext::Anywhere | KeyContext::OutsideComposer | KeyContext::Composer => false,
        }
    }

    /// Returns whether a key shared with another row would be ambiguous.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let is_view = |row: &Self| KeyContext::VIEWS.contains(&row.context);
        match (is_view(self), is_view(other)) {
            (true, true) => self.context == other.context,
            (true, false) => other.works_in_view(self.context),
            (false, true) => self.works_in_view(other.context),
            (false, false) => !matches!(
                (self.context, other.context),
                (KeyContext::OutsideComposer, KeyContext::Composer)
                    | (KeyContext::Composer, KeyContext::OutsideComposer)
            ),
        }
    }
}

/// Says what a mode allows, where there is little room.
fn in_few_words(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "edits are denied",
        Mode::Default => "your rules decide",
        Mode::AutoEdit => "edits run unasked",
        Mode::Yolo => mode.describe(),
    }
}
