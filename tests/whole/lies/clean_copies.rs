//! Steps whose tests need what git leaves out of a tree: a file of git LFS and a submodule.

use super::node::{PRODUCT_TEST, PROJECT, TEST_FIRST, WITH_PRODUCT};
use super::{Change, lay_out, play_in};
use crate::repository::{commit_all, git, init};

const HONEST: Change = Change {
    name: "a feature beside a test that needs a large file and a submodule",
    plan: TEST_FIRST,
    writes: &[
        ("src/sum.js", WITH_PRODUCT),
        ("test/product.test.js", PRODUCT_TEST),
    ],
    runs: "",
    end: "0 proven",
};

/// What `git lfs clean` does.
const CLEAN: &str = "file=$(mktemp)\ncat > \"$file\"\nhash=$(sha256sum < \"$file\" | cut -d' ' -f1)\nprintf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' \"$hash\" \"$(wc -c < \"$file\")\"\n";

const TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport fs from 'node:fs';\n\ntest('reads', () => {\n  assert.equal(fs.readFileSync('data.bin', 'utf8'), 'large');\n  assert.equal(fs.readFileSync('lib/value.txt', 'utf8'), 'shared\\n');\n});\n";

#[test]
fn a_file_of_git_lfs_and_a_submodule_are_in_the_clean_copies() {
    let world = lay_out(&PROJECT);
    let library = world.folder.join("library");
    init(&library);
    std::fs::write(library.join("value.txt"), "shared\n").expect("a file");
    commit_all(&library, "library");
    let library = library.display().to_string();
    git(
        &world.root,
        &["submodule", "add", "--quiet", &library, "lib"],
    );
    for (name, value) in [
        ("filter.lfs.clean", "sh tools/clean.sh"),
        // Nothing is fetched, so this never runs.
        ("filter.lfs.smudge", "false"),
        ("filter.lfs.required", "true"),
    ] {
        git(&world.root, &["config", name, value]);
    }
    world.put("tools/clean.sh", CLEAN);
    world.put(".gitattributes", "*.bin filter=lfs -text\n");
    world.put("data.bin", "large");
    world.put("test/data.test.js", TEST);
    commit_all(&world.root, "a large file and a submodule");
    let stored = git(&world.root, &["cat-file", "blob", "HEAD:data.bin"]);
    assert!(stored.starts_with("version https://git-lfs"), "{stored}");
    assert_eq!(
        play_in(&world, &PROJECT, &HONEST),
        Ok("0 proven".to_owned())
    );
}
