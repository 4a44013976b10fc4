//! In whose name commits are made.
//!
//! Refuses to invent a name.

use super::discover::Repository;
use super::error::GitError;

/// Whom git names in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who wrote it.
    pub author: Person,
    /// Who committed it.
    pub committer: Person,
}

/// A name and an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
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

impl Repository {
    /// Asks in whose name a commit would be made here.
    ///
    /// # Errors
    /// Git fails for another reason than a missing identity, which is the inner result.
    pub async fn identity(&self) -> Result<Result<Identity, MissingIdentity>, GitError> {
        let mut people = Vec::new();
        for variable in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let finished = self.git_on_objects(&["var", variable]).finish().await?;
            match (
                finished.is_success(),
                parse_person(&finished.stdout.to_text()),
            ) {
                (true, Some(person)) => people.push(person),
                _ => {
                    return Ok(Err(MissingIdentity {
                        output: super::invoke::last_words(&finished),
                    }));
                }
            }
        }
        match <[Person; 2]>::try_from(people) {
            Ok([author, committer]) => Ok(Ok(Identity { author, committer })),
            Err(_) => Ok(Err(MissingIdentity {
                output: String::new(),
            })),
        }
    }
}

/// Reads `Name <address> 1700000000 +0000`.
fn parse_person(line: &str) -> Option<Person> {
    let (name, rest) = line.split_once(" <")?;
    let (email, _) = rest.split_once('>')?;
    Some(Person {
        name: name.to_owned(),
        email: email.to_owned(),
    })
}
