//! What the configuration says of the screen: its keys, its themes, the mouse; checked as a whole.
//!
//! Refuses to draw: `tui` does, with what is made here.

use crate::config::problem::{Place, Problem};
use crate::config::types::Motion;
use crate::config::{Loaded, Problems};
use crate::tui::{Clicks, Depth, Keymap, Look, Theme, WishedKeys};

/// How the screen looks and listens, by the user's own configuration.
#[derive(Debug, Clone)]
pub struct Looks {
    /// What the screen takes.
    pub look: Look,
    /// The theme to show; `None` for what fits the terminal.
    pub theme: Option<Theme>,
    /// How much moves by itself.
    pub motion: Motion,
}

impl Looks {
    /// Makes it of the configuration, for a terminal with so many colours.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its file and line.
    pub fn of(loaded: &Loaded, depth: Depth) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let themes = themes(loaded, &mut problems);
        let keymap = keymap(loaded).unwrap_or_else(|found| {
            problems.extend(found);
            Keymap::default()
        });
        let screen = &loaded.config.screen;
        let clicks = match screen.mouse {
            true => Clicks::Taken,
            false => Clicks::Left,
        };
        let look = Look::new(keymap, themes, depth).with_clicks(clicks);
        let theme = look.theme(&screen.theme);
        if theme.is_none() && screen.theme != "auto" {
            problems.push(unknown_theme(loaded, &look));
        }
        match problems.is_empty() {
            true => Ok(Self {
                look,
                theme,
                motion: screen.motion,
            }),
            false => {
                problems.sort();
                Err(Problems(problems))
            }
        }
    }
}

/// Where a setting stands.
fn place(loaded: &Loaded, path: &str) -> Place {
    let held = loaded.settings.values.get(path);
    held.map_or_else(|| Place::Flag(path.to_owned()), |held| held.place.clone())
}

fn keymap(loaded: &Loaded) -> Result<Keymap, Vec<Problem>> {
    let wished = loaded.config.keys.iter();
    let wishes: Vec<WishedKeys> = wished
        .map(|(action, keys)| WishedKeys {
            action: action.clone(),
            keys: keys.clone(),
        })
        .collect();
    Keymap::with(&wishes).map_err(|flaws| {
        let problem = |flaw: crate::tui::KeyFlaw| {
            let path = format!("keys.{}", flaw.action);
            Problem {
                place: place(loaded, &path),
                what: format!("`{path}`: {}", flaw.what),
                text: String::new(),
                hint: flaw.hint,
            }
        };
        flaws.into_iter().map(problem).collect()
    })
}

fn themes(loaded: &Loaded, problems: &mut Vec<Problem>) -> Vec<Theme> {
    let mut themes = Vec::new();
    for (name, fields) in &loaded.config.themes {
        let texts = fields
            .iter()
            .map(|(field, text)| (field.as_str(), text.as_str()));
        match Theme::own(name, texts) {
            Ok(theme) => themes.push(theme),
            Err(flaws) => problems.extend(flaws.into_iter().map(|flaw| {
                let first = fields.keys().next().map_or("", String::as_str);
                let path = match &flaw.field {
                    Some(field) => format!("themes.{name}.{field}"),
                    None => format!("themes.{name}"),
                };
                let at = format!("themes.{name}.{}", flaw.field.as_deref().unwrap_or(first));
                Problem {
                    place: place(loaded, &at),
                    what: format!("`{path}` {}", flaw.what),
                    text: String::new(),
                    hint: flaw.hint,
                }
            })),
        }
    }
    themes
}

fn unknown_theme(loaded: &Loaded, look: &Look) -> Problem {
    let names: Vec<&str> = look.themes().iter().map(Theme::name).collect();
    let wanted = &loaded.config.screen.theme;
    let near = crate::config::nearest(wanted, &names);
    let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
    Problem {
        place: place(loaded, "screen.theme"),
        what: format!("`screen.theme` is no theme: {wanted:?}"),
        text: String::new(),
        hint: format!("{near}known: auto, {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::{Choices, Places, load};

    /// Loads a user's configuration and a project's, and tells what comes of it.
    fn check(global: &str, project: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let write = |file: PathBuf, text: &str| {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let places = Places::below(&path);
        write(places.global_config(), global);
        write(path.join("repository/.agent-collab/config.toml"), project);
        let loaded = load(&places, &path.join("repository"), &Choices::default()).unwrap();
        let told = match Looks::of(&loaded, Depth::All) {
            Ok(looks) => format!(
                "{:?} {}",
                looks.theme.map(|theme| theme.name().to_owned()),
                {
                    let toml = looks.look.keymap.as_toml();
                    toml.lines()
                        .next()
                        .unwrap_or_default()
                        .split("  ")
                        .next()
                        .unwrap_or_default()
                        .to_owned()
                }
            ),
            Err(problems) => problems.to_string(),
        };
        let notices: String = loaded
            .notices
            .iter()
            .map(|notice| format!("\n{notice}"))
            .collect();
        format!("{told}{notices}").replace(&path.display().to_string(), "<scratch>")
    }

    #[test]
    fn keys_and_themes_are_the_users_own() {
        let global = "screen.theme = \"mine\"\n[keys]\ngo = [\"ctrl+g\", \"f5\"]\n[themes.mine]\nbase = \"nord\"\nground = 234\n";
        insta::assert_snapshot!(check(global, ""), @r#"Some("mine") go = ["ctrl+g", "f5"]"#);
        insta::assert_snapshot!(check("", "[keys]\ngo = \"a\"\n[themes.x]\nbad = \"red\"\n"), @r#"
        None go = "g"
        .agent-collab/config.toml:2:6: `keys.go = ["a"]` is ignored because a project does not choose your keys and colours
        .agent-collab/config.toml:4:7: `themes.x.bad = "red"` is ignored because a project does not choose your keys and colours
        "#);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_remedy() {
        let global = "screen.theme = \"noord\"\n[keys]\ngoo = \"g\"\nauto = \"ctlr+a\"\n[themes.nord]\nbad = \"rde\"\n";
        insta::assert_snapshot!(check(global, ""), @r##"
        <scratch>/config/agent-collab/config.toml:1:16: `screen.theme` is no theme: "noord"
          hint: did you mean "nord"? known: auto, terminal, dark, light, catppuccin, gruvbox, nord, tokyo-night, solarized-light, high-contrast, sixteen, none
        <scratch>/config/agent-collab/config.toml:3:7: `keys.goo`: is no action
          hint: did you mean "go"? `agent-collab keys` lists them all
        <scratch>/config/agent-collab/config.toml:4:8: `keys.auto`: `ctlr+a` is no key
          hint: did you mean "ctrl"?
        <scratch>/config/agent-collab/config.toml:6:7: `themes.nord.bad` is no colour: "rde"
          hint: did you mean "red"? write "#rrggbb", a number from 0 to 255, or one of default, black, red, green, yellow, blue, magenta, cyan, gray, darkgray, lightred, lightgreen, lightyellow, lightblue, lightmagenta, lightcyan, white
        <scratch>/config/agent-collab/config.toml:6:7: `themes.nord` is a theme already
          hint: call it another name and write base = "nord"
        "##);
    }
}
