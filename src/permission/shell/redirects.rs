//! Redirections: where input comes from and output goes.
//!
//! It refuses to know which targets are dangerous.

use super::env::Env;
use super::reader::{Feed, Reader};
use super::syntax::{Redirection, Target};
use super::value::{Field, Texts};
use super::{Redirect, RedirectKind};

/// What the redirections of one command come to.
pub struct Redirected {
    pub redirects: Vec<Redirect>,
    pub feed: Feed,
    /// The files that standard output goes to.
    pub output: Vec<String>,
}

impl Reader {
    pub fn redirects(
        &mut self,
        redirections: &[Redirection],
        env: &mut Env,
        feed: &Feed,
    ) -> Redirected {
        let mut found = Redirected {
            redirects: Vec::new(),
            feed: feed.clone(),
            output: Vec::new(),
        };
        for redirection in redirections {
            match &redirection.target {
                Target::Document(body) => {
                    let pieces = body.get().map_or(&[][..], Vec::as_slice);
                    let texts = self.texts(pieces, env);
                    self.feed_text(redirection.fd, texts, &mut found);
                }
                Target::Line(word) => {
                    let line = Texts::one(super::value::Value::known("\n"));
                    let texts = self.texts(&word.pieces, env).then(&line);
                    self.feed_text(redirection.fd, texts, &mut found);
                }
                Target::File { operator, word } => {
                    let ways = self.word(word, env);
                    for field in ways.into_iter().flatten() {
                        self.redirect(redirection.fd, operator, field, &mut found);
                    }
                }
            }
        }
        found
    }

    fn feed_text(&mut self, fd: Option<u32>, texts: Texts, found: &mut Redirected) {
        match fd {
            Some(0) => found.feed = Feed::Texts(texts),
            Some(fd) => self.write_file(&format!("/dev/fd/{fd}"), texts),
            None => {}
        }
    }

    fn redirect(&mut self, fd: Option<u32>, operator: &str, field: Field, found: &mut Redirected) {
        let text = field.text();
        let names_descriptor = text == "-"
            || !text.is_empty()
                && text
                    .trim_end_matches('-')
                    .bytes()
                    .all(|byte| byte.is_ascii_digit());
        let kind = match operator {
            "<" => RedirectKind::Read,
            "<>" => RedirectKind::ReadWrite,
            ">>" | "&>>" => RedirectKind::Append,
            "<&" => RedirectKind::Duplicate,
            ">&" if names_descriptor => RedirectKind::Duplicate,
            _ => RedirectKind::Write,
        };
        match kind {
            RedirectKind::Read if fd == Some(0) => found.feed = self.file_feed(&field, &found.feed),
            RedirectKind::ReadWrite if fd == Some(0) => found.feed = Feed::Unknown,
            RedirectKind::Duplicate if fd == Some(0) => {
                let path = Field::known(format!("/dev/fd/{text}"));
                found.feed = self.file_feed(&path, &found.feed);
            }
            RedirectKind::Write | RedirectKind::Append
                if fd == Some(1) && found.output.last().is_none_or(|last| last != text) =>
            {
                found.output.push(text.to_owned());
            }
            _ => {}
        }
        found.redirects.push(Redirect {
            kind,
            fd,
            target: field.word(),
        });
    }

    /// What comes from a file.
    pub fn file_feed(&self, path: &Field, feed: &Feed) -> Feed {
        if matches!(
            path.text(),
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
        ) {
            return feed.clone();
        }
        if path.text() == "/dev/null" {
            return Feed::Texts(Texts::nothing());
        }
        match self.file(path) {
            Some(texts) => Feed::Texts(texts.clone()),
            None => Feed::Unknown,
        }
    }

    /// Puts the output where it is redirected to; answers what is left of it.
    pub fn keep_output(&mut self, files: &[String], out: Texts) -> Texts {
        if files.is_empty() {
            return out;
        }
        for path in files {
            if matches!(path.as_str(), "/dev/stdout" | "/dev/fd/1") {
                return out;
            }
            if !path.starts_with("/dev/") || self.is_waiting(path) {
                self.write_file(path, out.clone());
            }
        }
        Texts::nothing()
    }
}
