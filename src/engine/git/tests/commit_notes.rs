//! Tests of the program's own notes of commits.

use super::*;
use crate::domain::receipt_chain::{CommitNote, NoteLines};

fn lines(of: &[(&str, &[&str])]) -> NoteLines {
    let to_bytes = |lines: &[&str]| lines.iter().map(|line| line.as_bytes().to_vec()).collect();
    of.iter()
        .map(|(commit, lines)| ((*commit).to_owned(), to_bytes(lines)))
        .collect()
}

/// Formats notes as `commit: text`, with the commits by their numbers.
fn told(notes: &[CommitNote], commits: &[String]) -> String {
    let name = |id: &String| commits.iter().position(|commit| commit == id);
    let mut told: Vec<String> = notes
        .iter()
        .map(|note| {
            let text = String::from_utf8_lossy(&note.text);
            format!("{:?}: {text:?}", name(&note.commit).unwrap())
        })
        .collect();
    told.sort();
    told.join(", ")
}

#[tokio::test]
async fn lines_are_added_to_notes_once_and_as_they_are() {
    let fixture = GitFixture::new();
    fixture.git("commit -q --allow-empty -m second");
    let commits = ["HEAD~", "HEAD"].map(|name| fixture.git(&format!("rev-parse {name}")));
    let [first, second] = commits.each_ref().map(String::as_str);
    // Nothing of the user's git decides about these notes, and none of its other notes change.
    fixture.git("notes add -m mine HEAD");
    fixture.git("config notes.rewriteRef refs/notes/*");
    fixture.git("config core.notesRef refs/notes/other");
    fixture.hook("reference-transaction", "echo ran > hook-ran; exit 1");
    let others = fixture.git("for-each-ref --format=%(objectname) refs/notes/commits");
    let repository = fixture.repository().await;
    assert_eq!(repository.notes().load(None).await.unwrap(), []);
    let wanted = lines(&[(first, &["{\"a\": \"ü \"}", "two "]), (second, &[])]);
    for _ in 0..2 {
        repository.notes().append(&wanted).await.unwrap();
        let notes = repository.notes().load(None).await.unwrap();
        assert_eq!(
            told(&notes, &commits),
            "0: \"{\\\"a\\\": \\\"ü \\\"}\\ntwo \\n\""
        );
    }
    assert_eq!(fixture.git(&format!("rev-list --count {NOTES_REF}")), "1");
    // A line that the note of one of these commits has is not added to another one.
    let more = lines(&[(first, &[]), (second, &["two ", "three"])]);
    repository.notes().append(&more).await.unwrap();
    repository
        .notes()
        .append(&lines(&[(first, &["four"])]))
        .await
        .unwrap();
    let notes = repository.notes().load(None).await.unwrap();
    assert_eq!(
        told(&notes, &commits),
        "0: \"{\\\"a\\\": \\\"ü \\\"}\\ntwo \\nfour\\n\", 1: \"three\\n\""
    );
    let only = repository
        .notes()
        .load(Some(&[second.to_owned()].into()))
        .await;
    assert_eq!(told(&only.unwrap(), &commits), "1: \"three\\n\"");
    assert_eq!(fixture.read("hook-ran"), "(none)");
    let still = fixture.git("for-each-ref --format=%(objectname) refs/notes/commits");
    assert_eq!(still, others);
    // Git's own command reads them.
    let shown = fixture.git(&format!("notes --ref={NOTES_REF} show HEAD"));
    assert_eq!(shown, "three");
}

#[tokio::test]
async fn notes_of_a_commit_that_is_not_here_are_read_and_not_written() {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let missing = "0123456789012345678901234567890123456789";
    let failed = repository
        .notes()
        .append(&lines(&[(missing, &["x"])]))
        .await;
    assert!(matches!(failed, Err(GitError::Failed { .. })), "{failed:?}");
    let git_folder = std::fs::read_dir(fixture.root().join(".git")).unwrap();
    let names = git_folder.map(|entry| entry.unwrap().file_name());
    let is_crash = |name: &std::ffi::OsString| name.to_string_lossy().contains("crash");
    assert!(!names.collect::<Vec<_>>().iter().any(is_crash));
    assert_eq!(repository.notes().load(None).await.unwrap(), []);
    let head = fixture.git("rev-parse HEAD");
    repository
        .notes()
        .append(&lines(&[(&head, &["x"])]))
        .await
        .unwrap();
    let clone = tempfile::tempdir().unwrap();
    let from = fixture.root().display().to_string();
    git_in(clone.path(), "init -q");
    git_in(
        clone.path(),
        &format!("fetch -q {from} {NOTES_REF}:{NOTES_REF}"),
    );
    let RepositoryDiscovery::Found(cloned) = GitRepository::discover(clone.path(), settings())
        .await
        .unwrap()
    else {
        panic!("no repository");
    };
    let notes = cloned.notes().load(None).await.unwrap();
    assert_eq!(told(&notes, &[head]), "0: \"x\\n\"");
}
