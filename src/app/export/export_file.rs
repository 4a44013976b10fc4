//! Writes the page to a file: to the path from the command line, else into the run's export directory.
//!
//! A failed write never leaves a mixture of an old and a new page.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{ExportPage, html, markdown};
use crate::app::startup::{RunTreeReader, StartError};
use crate::domain::export_format::ExportFormat;
use crate::store::WorkdirLayout;
use crate::store::archive_move::title_to_slug;

/// Number of pages with the same name before the export fails.
const MAX_SAME_NAME: u32 = 1_000;

impl ExportPage {
    /// Renders the page in the given format.
    pub fn render(&self, form: ExportFormat) -> String {
        match form {
            ExportFormat::Html => html::render_page(self),
            ExportFormat::Markdown => markdown::render_page(self),
        }
    }

    /// Returns the file name without its extension.
    fn file_stem(&self) -> String {
        let goal = self.state.goal.as_ref();
        title_to_slug(goal.map_or("run", |goal| goal.title.as_str()))
    }
}

/// Writes the page of a run into the export directory and returns the path. An existing page stays: the next one is
/// named `…-2`.
///
/// # Errors
/// The run does not exist, its files cannot be read, or the page cannot be written.
pub async fn write_to_exports(
    run: WorkdirLayout,
    ground: &RunTreeReader,
    form: ExportFormat,
) -> Result<PathBuf, StartError> {
    let folder = run.exports();
    let page = ExportPage::load(run, ground).await?;
    let (name, text) = (page.file_stem(), page.render(form));
    let written = write_under_free_name(&folder, &name, form.file_extension(), &text);
    written.map_err(|error| {
        StartError::new(
            format!("cannot write the page in {}: {error}", folder.display()),
            "`agent-collab export -o FILE` writes it elsewhere",
        )
    })
}

fn write_under_free_name(
    folder: &Path,
    name: &str,
    extension: &str,
    text: &str,
) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let mut file = write_temporary_file(folder, text)?;
    for n in 1..=MAX_SAME_NAME {
        let place = folder.join(match n {
            1 => format!("{name}.{extension}"),
            n => format!("{name}-{n}.{extension}"),
        });
        match file.persist_noclobber(&place) {
            Ok(_) => return Ok(place),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(error.error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes a text to a path that the user gave. A file has the old or the new text, never a mixture. A symbolic link
/// stays a link and its target is written. A device or a pipe is written into and stays what it is.
///
/// # Errors
/// The disk reports an error, or the path is a directory.
pub fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let place = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path)?,
        Ok(_) => return write_into(OpenOptions::new().write(true), path, text),
        // A dangling symbolic link: create the file that it names.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return write_into(OpenOptions::new().write(true).create(true), path, text);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        Err(error) => return Err(error),
    };
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let file = write_temporary_file(folder.unwrap_or(Path::new(".")), text)?;
    file.persist(&place).map_err(|error| error.error)?;
    Ok(())
}

/// Writes into an existing file, device or pipe.
fn write_into(how: &OpenOptions, path: &Path, text: &str) -> io::Result<()> {
    how.open(path)?.write_all(text.as_bytes())
}

/// Writes the text to a file that has no name yet.
fn write_temporary_file(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        // The mode of an ordinary new file, before the umask; the default of `tempfile` is 0600.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_there_stays() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("exports");
        for (text, name) in [
            ("a", "sing.html"),
            ("b", "sing-2.html"),
            ("c", "sing-3.html"),
        ] {
            let path = write_under_free_name(&folder, "sing", "html", text).unwrap();
            assert_eq!(path, folder.join(name));
        }
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(
            ["sing.html", "sing-2.html", "sing-3.html"].map(read),
            ["a", "b", "c"]
        );
        replace_file(&folder.join("sing.html"), "d").unwrap();
        assert_eq!(read("sing.html"), "d");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn a_link_is_written_through_and_what_is_no_file_is_written_into() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::write(at("page"), "old").unwrap();
        for (link, to) in [("link", "page"), ("new", "made")] {
            std::os::unix::fs::symlink(to, at(link)).unwrap();
            replace_file(&at(link), "text").unwrap();
            assert!(at(link).is_symlink(), "{link}");
            assert_eq!(fs::read_to_string(at(to)).unwrap(), "text");
        }
        let before = fs::metadata("/dev/null").unwrap().file_type();
        replace_file(Path::new("/dev/null"), "text").unwrap();
        assert_eq!(fs::metadata("/dev/null").unwrap().file_type(), before);
        assert!(replace_file(place.path(), "text").is_err());
    }

    #[test]
    fn a_pipe_gets_the_text() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let reader = {
            let path = path.clone();
            std::thread::spawn(move || fs::read_to_string(path).unwrap())
        };
        replace_file(&path, "text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
    }
}
