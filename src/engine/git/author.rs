//! Finds the identity that git uses for commits.
//!
//! Never invents a name.

use super::config_programs::RepositoryConfig;
use super::error::GitError;
use super::git_command::last_output;

/// The identities that git writes into a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitIdentity {
    pub author: GitPerson,
    pub committer: GitPerson,
}

/// A name and an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitPerson {
    pub name: String,
    pub email: String,
}

/// Git has no name and address for commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingIdentity {
    /// The output of git.
    pub output: String,
}

impl MissingIdentity {
    /// Suggests what the user can do about it.
    pub fn hint(&self) -> &'static str {
        "run `git config --global user.name \"Your Name\" && git config --global user.email you@example.com`"
    }
}

impl RepositoryConfig<'_> {
    /// Returns the identity that a commit here would have.
    ///
    /// # Errors
    /// Git fails for another reason than a missing identity; that one is the inner result.
    pub async fn commit_identity(
        self,
    ) -> Result<Result<CommitIdentity, MissingIdentity>, GitError> {
        let mut people = Vec::new();
        for variable in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let finished = self.git.object_command(&["var", variable]).output().await?;
            match (
                finished.is_success(),
                parse_person(&finished.stdout.to_text()),
            ) {
                (true, Some(person)) => people.push(person),
                _ => {
                    return Ok(Err(MissingIdentity {
                        output: last_output(&finished),
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

/// Parses `Name <address> 1700000000 +0000`.
fn parse_person(line: &str) -> Option<GitPerson> {
    let (name, rest) = line.split_once(" <")?;
    let (email, _) = rest.split_once('>')?;
    Some(GitPerson {
        name: name.to_owned(),
        email: email.to_owned(),
    })
}
