//! Tests of the scan for code that runs although no tree shows it.

use proptest::prelude::*;

use super::*;

/// Formats the changes between two scans: `created .git/hooks/x`.
fn changes(now: &UnversionedCode, earlier: &UnversionedCode) -> String {
    let changes = now.changes_since(earlier);
    let told: Vec<String> = changes
        .iter()
        .map(|change| format!("{:?} {}", change.how, change.path.display()).to_lowercase())
        .collect();
    told.join(", ")
}

/// Checks the changes between scans before and after an action; the action must change no tree except for its
/// ignore files.
async fn check(fixture: &GitFixture, act: impl FnOnce(&GitFixture), expected: &str) {
    let repository = fixture.repository().await;
    let before = repository.unversioned_code().scan().await.unwrap();
    act(fixture);
    let now = repository.unversioned_code().scan().await.unwrap();
    assert_eq!(changes(&now, &before), expected);
    assert_eq!(
        repository.unversioned_code().scan().await.unwrap(),
        now,
        "a look is steady"
    );
}

#[tokio::test]
async fn a_hook_in_gits_folder_is_seen_and_samples_are_not() {
    let fixture = GitFixture::new();
    let plant = |fixture: &GitFixture| {
        fixture.hook("pre-commit", "echo planted");
        fixture.hook("commit-msg.sample", "echo sample");
    };
    check(&fixture, plant, "created .git/hooks/pre-commit").await;
    let make_plain = |fixture: &GitFixture| {
        let path = fixture.root().join(".git/hooks/pre-commit");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    check(&fixture, make_plain, "changed .git/hooks/pre-commit").await;
    let remove = |fixture: &GitFixture| fixture.remove(".git/hooks/pre-commit");
    check(&fixture, remove, "removed .git/hooks/pre-commit").await;
}

#[tokio::test]
async fn a_hook_hidden_by_an_ignore_file_is_seen() {
    let fixture = GitFixture::new();
    fixture.git("config core.hooksPath .husky/_");
    let plant = |fixture: &GitFixture| {
        fixture.write(".gitignore", ".husky/\n");
        fixture.write(".husky/_/pre-commit", "planted");
        fixture.write(".husky/pre-commit", "what it calls");
    };
    check(
        &fixture,
        plant,
        "created .husky/_/pre-commit, created .husky/pre-commit",
    )
    .await;
    let change = |fixture: &GitFixture| fixture.write(".husky/_/pre-commit", "changed");
    check(&fixture, change, "changed .husky/_/pre-commit").await;
}

#[tokio::test]
async fn another_hooks_folder_is_seen_with_what_lies_in_it() {
    let fixture = GitFixture::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let hooks = elsewhere.path().canonicalize().unwrap();
    std::fs::create_dir(hooks.join("below")).unwrap();
    std::fs::write(hooks.join("pre-push"), "x").unwrap();
    std::fs::write(hooks.join("below/called"), "x").unwrap();
    let name = hooks.display().to_string();
    let point =
        |fixture: &GitFixture| drop(fixture.git(&format!("config core.hooksPath \"{name}\"")));
    let expected =
        format!("created {name}/below/called, created {name}/pre-push, changed .git/config");
    check(&fixture, point, &expected.to_lowercase()).await;
    let change = |_: &GitFixture| std::fs::write(hooks.join("below/called"), "y").unwrap();
    let expected = format!("changed {name}/below/called");
    check(&fixture, change, &expected.to_lowercase()).await;
}

#[tokio::test]
async fn a_hook_that_is_a_link_is_seen_through() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", "real\n");
    fixture.write("real", "one");
    let link = |fixture: &GitFixture| {
        std::fs::create_dir_all(fixture.root().join(".git/hooks")).unwrap();
        for (target, name) in [("../../real", "pre-commit"), ("nowhere", "post-commit")] {
            let name = fixture.root().join(".git/hooks").join(name);
            std::os::unix::fs::symlink(target, name).unwrap();
        }
    };
    let expected = "created .git/hooks/post-commit, created .git/hooks/pre-commit";
    check(&fixture, link, expected).await;
    let change = |fixture: &GitFixture| fixture.write("real", "two");
    check(&fixture, change, "changed .git/hooks/pre-commit").await;
}

#[tokio::test]
async fn gits_configuration_is_seen_with_included_files() {
    let fixture = GitFixture::new();
    let change = |fixture: &GitFixture| {
        fixture.git("config filter.x.clean touch");
        fixture.write(".git/info/attributes", "* filter=x\n");
    };
    let expected = "changed .git/config, created .git/info/attributes";
    check(&fixture, change, expected).await;
    fixture.git("config include.path extra");
    let include = |fixture: &GitFixture| fixture.write(".git/extra", "[core]\nsshCommand = evil\n");
    check(&fixture, include, "created .git/extra").await;
    let change = |fixture: &GitFixture| fixture.write(".git/extra", "[core]\nsshCommand = worse\n");
    check(&fixture, change, "changed .git/extra").await;
}

#[tokio::test]
async fn ignored_entry_points_are_seen_and_other_ignored_files_are_not() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", "*.log\nbuilt/\nnode_modules/\n/.venv\n");
    let plant = |fixture: &GitFixture| {
        fixture.write(
            ".gitignore",
            "*.log\nbuilt/\nnode_modules/\n/.venv\nconftest.py\n.cargo\n",
        );
        for path in [
            "conftest.py",
            "tests/conftest.py",
            ".cargo/config.toml",
            "built/deep/build.rs",
            "built/package.json",
            "x.log",
            "node_modules/a/conftest.py",
            ".venv/lib/conftest.py",
            ".agent-collab/conftest.py",
        ] {
            fixture.write(path, "x");
        }
    };
    check(
        &fixture,
        plant,
        "created .cargo/config.toml, changed .venv, created built/deep/build.rs, created conftest.py, \
         changed node_modules, created tests/conftest.py",
    )
    .await;
    let change = |fixture: &GitFixture| fixture.write("conftest.py", "y");
    check(&fixture, change, "changed conftest.py").await;
}

#[tokio::test]
async fn a_tracked_or_untracked_entry_point_is_left_to_the_tree() {
    let fixture = GitFixture::new();
    let plant = |fixture: &GitFixture| {
        fixture.write("conftest.py", "x");
        fixture.write("build.rs", "x");
        fixture.git("add build.rs");
    };
    check(&fixture, plant, "").await;
}

#[tokio::test]
async fn repositories_inside_this_one_are_looked_into() {
    let (fixture, other) = (GitFixture::new(), GitFixture::new());
    fixture.git(&format!(
        "-c protocol.file.allow=always submodule --quiet add \"{}\" sub",
        other.root().display()
    ));
    let plant = |fixture: &GitFixture| {
        fixture.git("init -q -b main inner");
        fixture.write("inner/conftest.py", "x");
        fixture.write("sub/conftest.py", "x");
    };
    check(
        &fixture,
        plant,
        "created inner/.git, created inner/conftest.py, created sub/conftest.py",
    )
    .await;
}

#[tokio::test]
async fn more_files_than_are_looked_at_are_told() {
    let fixture = GitFixture::new();
    fixture.write(".gitignore", "many/\n");
    let plant = |fixture: &GitFixture| {
        std::fs::create_dir(fixture.root().join("many")).unwrap();
        for n in 0..20_001 {
            std::fs::File::create(fixture.root().join(format!("many/{n}"))).unwrap();
        }
    };
    check(&fixture, plant, "created …").await;
}

fn any_look() -> impl Strategy<Value = UnversionedCode> {
    let mark = "[ab]".prop_map(|content| UnversionedCodeEntry {
        kind: UnversionedCodeKind::Hook,
        content,
    });
    proptest::collection::btree_map("[p-s]".prop_map(PathBuf::from), mark, 0..4)
        .prop_map(UnversionedCode)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nothing_is_told_of_equal_looks_and_every_difference_once(now in any_look(), earlier in any_look()) {
        let told = now.changes_since(&earlier);
        let differing = now.0.keys().chain(earlier.0.keys()).filter(|path| now.0.get(*path) != earlier.0.get(*path));
        let differing: std::collections::BTreeSet<&PathBuf> = differing.collect();
        prop_assert_eq!(told.iter().map(|change| &change.path).collect::<Vec<_>>(), differing.into_iter().collect::<Vec<_>>());
        for change in &told {
            let content = now.0.get(&change.path).map(|mark| mark.content.clone());
            prop_assert_eq!(&change.content, &content);
        }
    }

    #[test]
    fn a_look_survives_being_stored(look in any_look()) {
        let stored = serde_json::to_string(&look).unwrap();
        prop_assert_eq!(serde_json::from_str::<UnversionedCode>(&stored).unwrap(), look);
    }
}
