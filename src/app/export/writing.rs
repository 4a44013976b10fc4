//! The page as a file: where the command line says, or beside the record where nobody named one.
//!
//! Refuses to leave a mixture of an old and a new page.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Page, html, markdown};
use crate::app::start::Refusal;
use crate::config::Places;
use crate::domain::page::PageForm;
use crate::engine::git::Repository;
use crate::store::Layout;
use crate::store::history::slug;

/// How many pages of one name are kept before another name is wanted.
const MOST: u32 = 1_000;

impl Page {
    /// The page as it is written.
    pub fn text(&self, form: PageForm) -> String {
        match form {
            PageForm::Html => html::page(self),
            PageForm::Markdown => markdown::page(self),
        }
    }

    /// What its file is called, but for the ending.
    fn name(&self) -> String {
        let goal = self.state.goal.as_ref();
        slug(goal.map_or("run", |goal| goal.title.as_str()))
    }
}

/// Writes a run down in the directory of pages and tells where. A page that is there already stays: the next one is
/// called `…-2`.
///
/// # Errors
/// There is no run, its files cannot be read, or the page cannot be written.
pub async fn beside(
    run: Layout,
    repository: Option<Repository>,
    (root, places): (&Path, &Places),
    form: PageForm,
) -> Result<PathBuf, Refusal> {
    let folder = run.exports();
    let page = Page::gather(run, repository, (root, places)).await?;
    let (name, text) = (page.name(), page.text(form));
    let written = free(&folder, (&name, form.extension()), &text);
    written.map_err(|error| {
        Refusal::error(
            format!(
                "the page cannot be written in {}: {error}",
                folder.display()
            ),
            "`agent-collab export -o FILE` writes it elsewhere",
        )
    })
}

fn free(folder: &Path, (name, extension): (&str, &str), text: &str) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let mut file = whole(folder, text)?;
    for n in 1..=MOST {
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

/// Writes a file so that it holds the old or the new text, never a mixture.
///
/// # Errors
/// The disk refuses.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let file = whole(folder.unwrap_or(Path::new(".")), text)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A file without its name yet that holds all of the text.
fn whole(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
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
            let path = free(&folder, ("sing", "html"), text).unwrap();
            assert_eq!(path, folder.join(name));
        }
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(
            ["sing.html", "sing-2.html", "sing-3.html"].map(read),
            ["a", "b", "c"]
        );
        replace(&folder.join("sing.html"), "d").unwrap();
        assert_eq!(read("sing.html"), "d");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    }
}
