//! The few styles of the screen, by meaning.
//!
//! Colour never says anything alone: a word or a sign stands beside it. Only the terminal's own sixteen
//! colours are used, so that the user's palette holds.

use ratatui::style::{Color, Modifier, Style};

use crate::domain::turn::Role;

/// What needs the user; nothing else looks like this.
pub const NEEDS_YOU: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// What is chosen in a list.
pub const CHOSEN: Style = Style::new()
    .fg(Color::Yellow)
    .add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// What is picked where nothing needs the user.
pub const PICKED: Style = Style::new().add_modifier(Modifier::BOLD.union(Modifier::REVERSED));
/// What the user said.
pub const YOU: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
/// What this program says.
pub const QUIET: Style = Style::new().fg(Color::DarkGray);
/// What went well and was checked.
pub const GOOD: Style = Style::new().fg(Color::Green);
/// What went wrong.
pub const BAD: Style = Style::new().fg(Color::Red);
/// Headings and names.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// Code and commands.
pub const CODE: Style = Style::new().fg(Color::Cyan);
/// A key in a hint.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Text as it is.
pub const PLAIN: Style = Style::new();
/// Text that is not final.
pub const PROVISIONAL: Style = Style::new().add_modifier(Modifier::DIM);

/// The style of a role's name.
pub fn role(role: Role) -> Style {
    let colour = match role {
        Role::Planner => Color::Blue,
        Role::Reviewer => Color::Magenta,
    };
    Style::new().fg(colour).add_modifier(Modifier::BOLD)
}
