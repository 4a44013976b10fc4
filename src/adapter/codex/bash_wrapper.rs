//! Removes codex's own `bash -lc '…'` from a command line.
//!
//! A line that cannot be split exactly stays unchanged; nothing is guessed.

/// Returns the script of `bash -lc SCRIPT`, or the line itself if it is anything else.
pub(super) fn strip_bash_wrapper(line: &str) -> String {
    wrapped_script(line).unwrap_or_else(|| line.to_owned())
}

fn wrapped_script(line: &str) -> Option<String> {
    let mut rest = line.trim_matches(' ');
    let mut words = Vec::new();
    while !rest.is_empty() {
        let (word, after) = split_first_word(rest)?;
        words.push(word);
        rest = after.trim_start_matches(' ');
    }
    let [shell, flag, script] = <[String; 3]>::try_from(words).ok()?;
    let name = shell.rsplit('/').next().unwrap_or(&shell);
    let wrapped = matches!(name, "bash" | "sh" | "zsh") && matches!(flag.as_str(), "-c" | "-lc");
    wrapped.then_some(script)
}

/// Splits one shell word off the front; `None` if the shell would expand anything in it.
fn split_first_word(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut rest = text;
    loop {
        let Some(first) = rest.chars().next() else {
            return Some((word, rest));
        };
        match first {
            ' ' => return Some((word, rest)),
            '\'' => {
                let (quoted, after) = rest.get(1..)?.split_once('\'')?;
                word.push_str(quoted);
                rest = after;
            }
            '"' => rest = split_double_quoted(rest.get(1..)?, &mut word)?,
            // A backslash makes the next character literal. Before a line end the shell removes both, so that is not
            // split.
            '\\' => {
                let escaped = rest.chars().nth(1).filter(|next| *next != '\n')?;
                word.push(escaped);
                rest = rest.get(1 + escaped.len_utf8()..)?;
            }
            plain if plain.is_alphanumeric() || "/_-.+:@%,=".contains(plain) => {
                word.push(plain);
                rest = rest.get(plain.len_utf8()..)?;
            }
            _ => return None,
        }
    }
}

/// Appends the text up to the closing quote to `word` and returns what follows it.
fn split_double_quoted<'a>(text: &'a str, word: &mut String) -> Option<&'a str> {
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return text.get(at + 1..),
            '$' | '`' => return None,
            '\\' => match chars.next()?.1 {
                escaped @ ('\\' | '"' | '$' | '`') => word.push(escaped),
                '\n' => return None,
                other => word.extend(['\\', other]),
            },
            plain => word.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, wanted: &str) {
        assert_eq!(strip_bash_wrapper(line), wanted);
    }

    #[test]
    fn the_wrapper_is_taken_off_a_quoted_script() {
        check("/bin/bash -lc 'echo hi && ls'", "echo hi && ls");
        check("bash -c 'printf \"%s\" $HOME'", "printf \"%s\" $HOME");
        check("/usr/bin/zsh -lc ls", "ls");
        check(r#"/bin/sh -c 'it'"'"'s'"#, "it's");
        check(r"bash -c 'echo '\''it'\'", "echo 'it'");
        check(r#"bash -lc "it's \$HOME \\ \"x\"""#, r#"it's $HOME \ "x""#);
        check("bash -lc 'two\nlines'", "two\nlines");
        check("bash -lc ''", "");
    }

    #[test]
    fn a_line_that_is_not_exactly_a_wrapped_script_stays() {
        for line in [
            "ls -la",
            "bash -lc 'a' 'b'",
            "bash -lc 'a'; rm x",
            "bash -lc 'a' && rm x",
            "bash -lc \"echo $HOME\"",
            "bash -lc \"echo `id`\"",
            "bash -lc $'a'",
            "bash -lc 'open",
            "bash -x 'a'",
            "fish -c 'a'",
            "bash -lc a*",
            "",
        ] {
            check(line, line);
        }
    }
}
