//! Builds the screen's settings from the configuration: keys, themes, mouse; checks all of them.

use std::collections::BTreeMap;
use std::path::Path;

use super::agent_list;
use super::startup::StartError;
use crate::config::config_model::{MotionLevel, NotificationMethod};
use crate::config::diagnostic::{ConfigLocation, ConfigProblem};
use crate::config::{self, ConfigFlags, ConfigProblems, LayeredSettings, LoadedConfig, UserDirs};
use crate::tui::{
    ActiveKeymap, AgentEntry, ColorSupport, ColorTheme, MouseCapture, ScreenAppearance, WishedKeys,
};
pub use crate::tui::{command_manual, sendable_commands};

/// The screen's settings from the user's configuration.
#[derive(Debug, Clone)]
pub struct UiConfig {
    /// The keys, themes and mouse mode.
    pub look: ScreenAppearance,
    /// The theme to show; `None` for the one that fits the terminal.
    pub theme: Option<ColorTheme>,
    /// How much moves on the screen.
    pub motion: MotionLevel,
    /// How to notify a user who looks elsewhere.
    pub notify: NotificationMethod,
    /// The agents to list.
    pub agents: Vec<AgentEntry>,
}

impl UiConfig {
    /// Builds the settings for a terminal with this colour support.
    ///
    /// # Errors
    /// Everything that is wrong, each with its file and line.
    pub fn from_config(loaded: &LoadedConfig, depth: ColorSupport) -> Result<Self, ConfigProblems> {
        let found = UiConfigCheck::from_settings(&loaded.settings, depth);
        if !found.problems.is_empty() {
            return Err(ConfigProblems(found.problems));
        }
        let screen = &loaded.config.screen;
        let clicks = if screen.mouse {
            MouseCapture::Taken
        } else {
            MouseCapture::Left
        };
        let look = found.look.with_mouse_capture(clicks);
        Ok(Self {
            theme: look.theme(&screen.theme),
            look,
            motion: screen.motion,
            notify: screen.notify,
            agents: agent_list::list_agents(&loaded.config),
        })
    }
}

/// Loads the configuration; on errors, reports problems with keys and themes, too.
///
/// # Errors
/// Everything that is wrong, each with its file and line.
pub fn load_checked_config(
    places: &UserDirs,
    root: &Path,
    choices: &ConfigFlags,
) -> Result<LoadedConfig, ConfigProblems> {
    config::load_with_checks(places, root, choices, |settings| {
        UiConfigCheck::from_settings(settings, ColorSupport::TrueColor).problems
    })
}

/// Returns whether the user's configuration asks for linear mode. Only a configuration that has the word at all is
/// loaded: the first frame does not wait for the others. What is wrong in it is reported when the directory is opened.
pub fn wants_linear(choices: &ConfigFlags) -> bool {
    let Ok(places) = UserDirs::from_env() else {
        return false;
    };
    let files = choices.file.iter().cloned().chain([places.global_config()]);
    let mut texts = files.filter_map(|file| std::fs::read_to_string(file).ok());
    let is_named = texts.any(|text| text.contains("linear"))
        || choices
            .overrides
            .iter()
            .any(|one| format!("{one:?}").contains("linear"));
    // A project cannot set it, so the folder does not matter.
    let load = || load_checked_config(&places, Path::new("/"), choices);
    is_named && load().is_ok_and(|loaded| loaded.config.screen.linear)
}

/// Converts configuration problems to an error: problems in flags are usage errors (exit code 2), problems in files
/// have exit code 1.
pub fn to_start_error(problems: ConfigProblems) -> StartError {
    let is_typed = |problem: &ConfigProblem| matches!(problem.place, ConfigLocation::Flag(_));
    if problems.0.iter().all(is_typed) {
        StartError {
            problem: problems.to_string(),
            hint: "`agent-collab config show` prints every key with its value".to_owned(),
            code: 2,
        }
    } else {
        StartError::new(problems, "`agent-collab config check` lists them again")
    }
}

/// The valid settings of the screen, and all problems.
struct UiConfigCheck {
    look: ScreenAppearance,
    problems: Vec<ConfigProblem>,
}

impl UiConfigCheck {
    fn from_settings(settings: &LayeredSettings, depth: ColorSupport) -> Self {
        let mut problems = Vec::new();
        let themes = parse_themes(settings, &mut problems);
        let keymap = parse_keymap(settings).unwrap_or_else(|found| {
            problems.extend(found);
            ActiveKeymap::default()
        });
        let look = ScreenAppearance::new(keymap, themes, depth);
        let wanted = settings.values.get("screen.theme").map(|held| &held.value);
        if let Some(wanted) = wanted.and_then(toml::Value::as_str)
            && wanted != "auto"
            && look.theme(wanted).is_none()
            // The theme exists but has an invalid colour, which is reported as such.
            && !settings.table_names("themes").contains(wanted)
        {
            problems.push(unknown_theme_problem(settings, wanted, &look));
        }
        problems.sort();
        Self { look, problems }
    }
}

/// Returns where a setting comes from.
fn setting_place(settings: &LayeredSettings, path: &str) -> ConfigLocation {
    let held = settings.values.get(path);
    held.map_or_else(
        || ConfigLocation::Flag(path.to_owned()),
        |held| held.place.clone(),
    )
}

fn parse_keymap(settings: &LayeredSettings) -> Result<ActiveKeymap, Vec<ConfigProblem>> {
    let keys: BTreeMap<String, Vec<String>> = settings.read_table("keys");
    let wishes: Vec<WishedKeys> = keys
        .into_iter()
        .map(|(action, keys)| WishedKeys { action, keys })
        .collect();
    ActiveKeymap::with_overrides(&wishes).map_err(|flaws| {
        let problem = |flaw: crate::tui::KeyFlaw| {
            let path = format!("keys.{}", flaw.action);
            let place = setting_place(settings, &path);
            ConfigProblem::new(place, format!("`{path}`: {}", flaw.problem), flaw.hint)
        };
        flaws.into_iter().map(problem).collect()
    })
}

fn parse_themes(settings: &LayeredSettings, problems: &mut Vec<ConfigProblem>) -> Vec<ColorTheme> {
    let mut themes = Vec::new();
    let written: BTreeMap<String, BTreeMap<String, String>> = settings.read_table("themes");
    for (name, fields) in &written {
        let texts = fields
            .iter()
            .map(|(field, text)| (field.as_str(), text.as_str()));
        match ColorTheme::from_fields(name, texts) {
            Ok(theme) => themes.push(theme),
            Err(flaws) => problems.extend(flaws.into_iter().map(|flaw| {
                let first = fields.keys().next().map_or("", String::as_str);
                let path = match &flaw.field {
                    Some(field) => format!("themes.{name}.{field}"),
                    None => format!("themes.{name}"),
                };
                let at = format!("themes.{name}.{}", flaw.field.as_deref().unwrap_or(first));
                let place = setting_place(settings, &at);
                ConfigProblem::new(place, format!("`{path}` {}", flaw.problem), flaw.hint)
            })),
        }
    }
    themes
}

fn unknown_theme_problem(
    settings: &LayeredSettings,
    wanted: &str,
    look: &ScreenAppearance,
) -> ConfigProblem {
    let names: Vec<&str> = look.themes().iter().map(ColorTheme::name).collect();
    let near = crate::config::suggest_name(wanted, &names);
    ConfigProblem::new(
        setting_place(settings, "screen.theme"),
        format!("unknown theme in `screen.theme`: {wanted:?}"),
        format!("{near}known: auto, {}", names.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Loads a user's and a project's configuration, and describes the result.
    fn check(global: &str, project: &str) -> String {
        check_with(&[], global, project)
    }

    /// The same with files in the user's themes folder.
    fn check_with(files: &[(&str, &str)], global: &str, project: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let write = |file: PathBuf, text: &str| {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let places = UserDirs::under(&path);
        write(places.global_config(), global);
        write(path.join("repository/.agent-collab/config.toml"), project);
        for (name, text) in files {
            write(places.global_themes().join(name), text);
        }
        let in_words = |problems: ConfigProblems| {
            let told = problems.to_string();
            told.replace(&path.display().to_string(), "<scratch>")
        };
        let repository = path.join("repository");
        let loaded = match load_checked_config(&places, &repository, &ConfigFlags::default()) {
            Ok(loaded) => loaded,
            Err(problems) => return in_words(problems),
        };
        let told = match UiConfig::from_config(&loaded, ColorSupport::TrueColor) {
            Ok(looks) => format!(
                "{:?} {}",
                looks.theme.map(|theme| theme.name().to_owned()),
                {
                    let toml = looks.look.keymap.to_toml();
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
        .agent-collab/config.toml:2:6: `keys.go = ["a"]` is ignored because a project cannot choose your keys and colours
        .agent-collab/config.toml:4:7: `themes.x.bad = "red"` is ignored because a project cannot choose your keys and colours
        "#);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_remedy() {
        let global = "screen.theme = \"noord\"\n[keys]\ngoo = \"g\"\nauto = \"ctlr+a\"\n[themes.nord]\nbad = \"rde\"\n";
        insta::assert_snapshot!(check(global, ""), @r##"
        <scratch>/config/agent-collab/config.toml:1:16: unknown theme in `screen.theme`: "noord"
          hint: did you mean "nord"? known: auto, terminal, dark, light, catppuccin, gruvbox, nord, tokyo-night, rose-pine, solarized-light, high-contrast, sixteen, none
        <scratch>/config/agent-collab/config.toml:3:7: `keys.goo`: is not an action
          hint: did you mean "go"? see all with `agent-collab keys`
        <scratch>/config/agent-collab/config.toml:4:8: `keys.auto`: `ctlr+a` is not a key
          hint: did you mean "ctrl"?
        <scratch>/config/agent-collab/config.toml:6:7: `themes.nord.bad` is not a colour: "rde"
          hint: did you mean "red"? write "#rrggbb", a number from 0 to 255, or one of default, black, red, green, yellow, blue, magenta, cyan, gray, darkgray, lightred, lightgreen, lightyellow, lightblue, lightmagenta, lightcyan, white
        <scratch>/config/agent-collab/config.toml:6:7: `themes.nord` is already a theme
          hint: give it another name and write base = "nord"
        "##);
    }
    #[test]
    fn a_theme_may_be_a_file_of_its_own() {
        let mine = [(
            "mine.toml",
            "base = \"gruvbox\"\ngood = \"#a3be8c\"\nbad = \"red\"\n",
        )];
        insta::assert_snapshot!(check_with(&mine, "screen.theme = \"mine\"\n", ""), @r#"Some("mine") go = "g""#);
        let wrong = [
            (
                "mine.toml",
                "base = \"grubox\"\ngrund = 1\ngood = \"gren\"\n",
            ),
            ("empty.toml", "# nothing yet\n"),
            ("my theme.toml", "base = \"nord\"\n"),
            ("nord.toml", "bad = \"red\"\n"),
            ("cut.toml", "bad = \n"),
        ];
        insta::assert_snapshot!(check_with(&wrong, "screen.theme = \"mine\"\n", ""), @r##"
        <scratch>/config/agent-collab/themes/empty.toml: has no colours
          hint: add base = "nord" or colours such as good = "#a3be8c", or move the file away
        <scratch>/config/agent-collab/themes/my theme.toml: has no valid theme name
          hint: name the file NAME.toml, with letters, digits, `-` and `_`, but not `none`
        <scratch>/config/agent-collab/themes/cut.toml:1:7: not valid TOML: string values must be quoted, expected literal string
          | bad =
          hint: put the value into double quotes
        <scratch>/config/agent-collab/themes/mine.toml:1:8: `themes.mine.base` is not a built-in theme: "grubox"
          hint: did you mean "gruvbox"? known: terminal, dark, light, catppuccin, gruvbox, nord, tokyo-night, rose-pine, solarized-light, high-contrast, sixteen, none
        <scratch>/config/agent-collab/themes/mine.toml:2:1: unknown key `themes.mine.grund`
          | grund = 1
          hint: did you mean `themes.mine.ground`?
        <scratch>/config/agent-collab/themes/mine.toml:3:8: `themes.mine.good` is not a colour: "gren"
          hint: did you mean "green"? write "#rrggbb", a number from 0 to 255, or one of default, black, red, green, yellow, blue, magenta, cyan, gray, darkgray, lightred, lightgreen, lightyellow, lightblue, lightmagenta, lightcyan, white
        <scratch>/config/agent-collab/themes/nord.toml:1:7: `themes.nord` is already a theme
          hint: give it another name and write base = "nord"
        "##);
    }

    #[test]
    fn what_is_wrong_with_keys_is_told_with_what_else_is_wrong() {
        let global =
            "[workflow]\nmax_iterations = \"many\"\n[keys]\ngoo = \"g\"\nquit = \"none\"\n";
        insta::assert_snapshot!(check(global, ""), @r#"
        <scratch>/config/agent-collab/config.toml:2:18: `workflow.max_iterations` must be a whole number from 1 to 100, but is the text "many"
          | max_iterations = "many"
          hint: for example `max_iterations = 5`
        <scratch>/config/agent-collab/config.toml:4:7: `keys.goo`: is not an action
          hint: did you mean "go"? see all with `agent-collab keys`
        <scratch>/config/agent-collab/config.toml:5:8: `keys.quit`: needs a key that works while you write
          hint: such as one with Ctrl, or an F key
        "#);
    }
}
