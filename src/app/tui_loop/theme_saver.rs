//! Saves the user's theme to their own configuration: changes that one value and nothing else.
//!
//! Does not write to files that are not TOML, nor to a repository's configuration.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml_edit::{Document, DocumentMut, Item, Value};

use crate::app::startup::LockedProject;
use crate::config::{ConfigLayer, UserDirs};
use crate::store::{StoreError, atomic_file};
use crate::tui::Screen;

use super::background_result::{BackgroundResult, ThemeSaveResult};
use super::background_work::BackgroundWork;

/// Saves themes one at a time, so that the file has the last one chosen.
#[derive(Debug, Default)]
pub struct ThemeSaver {
    is_at_work: bool,
    next: Option<String>,
}

impl ThemeSaver {
    /// Saves a theme for future starts. In the background: the home directory may be on a slow disk.
    pub fn save(&mut self, name: String, work: &mut BackgroundWork) {
        if self.is_at_work {
            self.next = Some(name);
            return;
        }
        self.is_at_work = true;
        work.spawn_blocking(move || {
            let (file, written) = match UserDirs::from_env() {
                Ok(places) => {
                    let path = places.global_config();
                    (
                        display_path(&path, &places.home),
                        save_theme_to_file(&path, &name),
                    )
                }
                Err(error) => ("config.toml".to_owned(), Err(error.to_string())),
            };
            BackgroundResult::ThemeSaved(ThemeSaveResult {
                name,
                file,
                written,
            })
        });
    }

    /// Saves the theme that was chosen meanwhile; else shows where this one is saved with a note, or why not and how to
    /// save it.
    pub fn on_saved(
        &mut self,
        saved: ThemeSaveResult,
        note: &str,
        screen: &mut Screen,
        work: &mut BackgroundWork,
    ) {
        self.is_at_work = false;
        if let Some(next) = self.next.take() {
            return self.save(next, work);
        }
        let ThemeSaveResult {
            name,
            file,
            written,
        } = saved;
        match written {
            Ok(()) => {
                screen.set_toast(&format!("Theme {name}, saved in {file}{note}"));
            }
            Err(why) => screen.on_notice(&format!(
                "Theme {name} is not saved: {why}. To keep it, set `screen.theme = \"{name}\"` in {file}."
            )),
        }
    }
}

/// Returns a note if another setting overrides a saved theme at this start; else an empty text.
pub fn override_note(project: Option<&LockedProject>) -> String {
    let settings = project.map(|project| &project.project.loaded.settings);
    let held = settings.and_then(|settings| settings.values.get("screen.theme"));
    let held = held.filter(|held| held.layer > ConfigLayer::Global);
    held.map_or(String::new(), |held| {
        format!(", but {} overrides it", held.place)
    })
}

/// Shortens a path for people: `~` for the home directory.
fn display_path(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

/// Writes the theme to a file, which may be missing; follows a symbolic link.
fn save_theme_to_file(path: &Path, name: &str) -> Result<(), String> {
    let file = match fs::canonicalize(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(error.to_string()),
    };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.to_string()),
    };
    let fresh = with_theme(&text, name)?;
    if fresh == text {
        return Ok(());
    }
    let folder = file.parent().map(PathBuf::from).unwrap_or_default();
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    atomic_file::replace_file(&file, fresh.as_bytes()).map_err(|error| error_cause(&error))
}

/// Returns the cause of a failed write without the path, which is shown next to it.
fn error_cause(error: &StoreError) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns the configuration text with this theme.
fn with_theme(text: &str, name: &str) -> Result<String, String> {
    let value = Value::from(name);
    let fresh = insert_theme(text, value.to_string().trim())?;
    // The result must parse and have this theme.
    let read = parse_toml(&fresh)?;
    let theme = read.get("screen").and_then(|screen| screen.get("theme"));
    if theme.and_then(Item::as_str) == Some(name) {
        Ok(fresh)
    } else {
        Err("its format is unknown".to_owned())
    }
}

fn parse_toml(text: &str) -> Result<Document<&str>, String> {
    Document::parse(text).map_err(|error| {
        let told = error.to_string();
        let first = told.lines().next().unwrap_or_default().to_owned();
        format!("it is not valid TOML ({first})")
    })
}

/// Replaces the theme's value, else inserts it below its table's header, else adds a table at the end: changes no other
/// byte.
fn insert_theme(text: &str, value: &str) -> Result<String, String> {
    let read = parse_toml(text)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(screen) = read.get("screen") else {
        let gap = match text {
            "" => "",
            _ if text.ends_with('\n') => end,
            _ => &format!("{end}{end}"),
        };
        return Ok(format!("{text}{gap}[screen]{end}theme = {value}{end}"));
    };
    if let Some(held) = screen.get("theme").and_then(Item::span) {
        let (before, after) = (text.get(..held.start), text.get(held.end..));
        if let (Some(before), Some(after)) = (before, after) {
            return Ok(format!("{before}{value}{after}"));
        }
    }
    let head = screen.as_table().filter(|table| !table.is_dotted());
    let head = head.and_then(toml_edit::Table::span);
    if let Some((above, below)) = head.and_then(|head| text.split_at_checked(head.start)) {
        let (line, rest) = below.split_once('\n').unwrap_or((below, ""));
        let line = line.trim_end_matches('\r');
        return Ok(format!("{above}{line}{end}theme = {value}{end}{rest}"));
    }
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| "its format is unknown".to_owned())?;
    let theme: Value = value
        .parse()
        .map_err(|_| "its format is unknown".to_owned())?;
    let screen = document.get_mut("screen");
    let screen = screen.and_then(Item::as_table_like_mut);
    let screen = screen.ok_or("`screen` is not a table in it")?;
    screen.insert("theme", Item::Value(theme));
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_is_put_where_it_stands_and_nothing_else_changes() {
        let check = |text: &str, wanted: &str| {
            assert_eq!(with_theme(text, "nord").as_deref(), Ok(wanted), "{text}");
        };
        check("", "[screen]\ntheme = \"nord\"\n");
        check("# mine\n", "# mine\n\n[screen]\ntheme = \"nord\"\n");
        check("a = 1", "a = 1\n\n[screen]\ntheme = \"nord\"\n");
        check(
            "[ screen ] # looks\r\ntheme='dark' # at night\r\nmouse = true\r\n",
            "[ screen ] # looks\r\ntheme=\"nord\" # at night\r\nmouse = true\r\n",
        );
        check(
            "[screen] # looks\n# no bell\nnotify = \"off\"\n\n[keys]\ngo = \"f5\"\n",
            "[screen] # looks\ntheme = \"nord\"\n# no bell\nnotify = \"off\"\n\n[keys]\ngo = \"f5\"\n",
        );
        check("[screen]", "[screen]\ntheme = \"nord\"\n");
        check(
            "screen.theme = \"dark\"\nx = 1\n",
            "screen.theme = \"nord\"\nx = 1\n",
        );
        check(
            "screen.mouse = true\n[keys]\ngo = \"f5\"\n",
            "screen.mouse = true\nscreen.theme = \"nord\"\n[keys]\ngo = \"f5\"\n",
        );
        check(
            "screen = { mouse = true }\n",
            "screen = { mouse = true , theme = \"nord\" }\n",
        );
        check(
            "screen = { theme = \"dark\", mouse = true }\n",
            "screen = { theme = \"nord\", mouse = true }\n",
        );
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        let why = |text: &str| with_theme(text, "nord").unwrap_err();
        assert!(why("[screen\n").starts_with("it is not valid TOML (TOML parse error at line 1"));
        assert_eq!(why("screen = 1\n"), "`screen` is not a table in it");
    }

    #[test]
    fn the_file_is_made_or_written_where_it_lies_and_a_folder_that_cannot_be_written_is_told() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config/agent-collab/config.toml");
        save_theme_to_file(&path, "nord").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "[screen]\ntheme = \"nord\"\n"
        );
        // The user's files may be somewhere else, as dotfiles.
        let lies = folder.path().join("dotfiles.toml");
        fs::write(&lies, "[screen]\ntheme = \"dark\" # mine\n").unwrap();
        fs::set_permissions(&lies, fs::Permissions::from_mode(0o640)).unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&lies, &path).unwrap();
        save_theme_to_file(&path, "nord").unwrap();
        assert!(path.is_symlink());
        let text = fs::read_to_string(&lies).unwrap();
        assert_eq!(text, "[screen]\ntheme = \"nord\" # mine\n");
        let mode = fs::metadata(&lies).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        // A dangling link is not overwritten, and a file is not a folder.
        fs::remove_file(&lies).unwrap();
        assert!(save_theme_to_file(&path, "nord").is_err());
        assert!(path.is_symlink());
        fs::write(&lies, "").unwrap();
        assert!(save_theme_to_file(&lies.join("config.toml"), "nord").is_err());
    }

    #[test]
    fn a_file_below_the_home_is_called_by_it() {
        let called = |path: &str| display_path(Path::new(path), Path::new("/home/u"));
        assert_eq!(called("/home/u/.config/x.toml"), "~/.config/x.toml");
        assert_eq!(called("/etc/x.toml"), "/etc/x.toml");
    }
}
