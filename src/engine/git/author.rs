//! In whose name commits are made.
//!
//! Refuses to invent a name.

use super::error::GitError;
use super::repository::GitRepository;

/// Whom git names in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitIdentity {
    /// Who wrote it.
    pub author: GitPerson,
    /// Who committed it.
    pub committer: GitPerson,
}

/// A name and an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPerson {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// Git does not know in whose name to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingIdentity {
    /// What git said.
    pub output: String,
}

impl MissingIdentity {
    /// Says what the user can do about it.
    pub fn hint(&self) -> &'static str {
        "run: git config --global user.name \"Your Name\" && git config --global user.email you@example.com"
    }
}

impl GitRepository {
    /// Asks in whose name a commit would be made here.
    ///
    /// # Errors
    /// Git fails for another reason than a missing identity, which is the inner result.
    pub async fn commit_identity(
        &self,
    ) -> Result<Result<CommitIdentity, MissingIdentity>, GitError> {
        let mut people = Vec::new();
        for variable in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let finished = self.git_object_command(&["var", variable]).output().await?;
            match (
                finished.is_success(),
                parse_person(&finished.stdout.to_text()),
            ) {
                (true, Some(person)) => people.push(person),
                _ => {
                    return Ok(Err(MissingIdentity {
                        output: super::git_command::last_output(&finished),
                    }));
                }
            }
        }
        match <[GitPerson; 2]>::try_from(people) {
            Ok([author, committer]) => Ok(Ok(CommitIdentity { author, committer })),
            Err(_) => Ok(Err(MissingIdentity {
                output: String::new(),
            })),
        }
    }
}

/// Reads `Name <address> 1700000000 +0000`.
fn parse_person(line: &str) -> Option<GitPerson> {
    let (name, rest) = line.split_once(" <")?;
    let (email, _) = rest.split_once('>')?;
    Some(GitPerson {
        name: name.to_owned(),
        email: email.to_owned(),
    })
}
