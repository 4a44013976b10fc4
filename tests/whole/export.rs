//! A run as one HTML page: it contains everything, and nothing of it becomes markup, a link or a leak.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};

use crate::script::{Agent, say, write};
use crate::world::World;

const ATTACK: &str =
    "<script>alert(1)</script><img src=x onerror=alert(2)> AKIAIOSFODNN7EXAMPLE \u{1b}[31m求和 🎉";

/// Creates a world in which an agent sends texts that must not be interpreted.
fn world() -> World {
    let world = World::new();
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            write(
                "new.html",
                "<script src=https://example.com/x.js></script>\n",
            ),
            say(ATTACK),
        ],
    );
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    world
}

/// The names of all tags of a page, which must be closed in their order.
fn tags(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    let body = page.split_once("</style>").expect("a style").1;
    for tag in body.split('<').skip(1) {
        let name = tag
            .split(['>', ' ', '\n'])
            .next()
            .unwrap_or_default()
            .to_owned();
        match name.strip_prefix('/') {
            // The head was opened before the style.
            Some("head" | "html") => {}
            Some(closed) => assert_eq!(open.pop().as_deref(), Some(closed), "{tag}"),
            None if matches!(name.as_str(), "br" | "hr") => {}
            None => open.push(name.clone()),
        }
        seen.push(name);
    }
    assert_eq!(open, Vec::<String>::new());
    seen
}

#[test]
fn a_page_of_html_holds_the_run_and_lets_nothing_of_it_act() {
    let world = world();
    let ran = world.program(&["export"]);
    ran.ends(0);
    let page = &ran.out;
    for part in [
        "<!doctype html>",
        "<h2>Plan</h2>",
        "<h2>Steps</h2>",
        "<h2>Course</h2>",
        "new.html",
        "求和 🎉",
        "prefers-color-scheme",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    let known = tags(page);
    for bad in ["script", "img", "link", "iframe", "a"] {
        assert!(!known.iter().any(|tag| tag == bad), "{bad} in {page}");
    }
    assert!(!page.contains("AKIAIOSFODNN7EXAMPLE"));
    assert!(!page.contains('\u{1b}'));
    assert!(!page.contains("url(") && !page.contains("@import"));
}

#[test]
fn a_page_of_markdown_keeps_markup_of_others_out() {
    let world = world();
    let ran = world.program(&["export", "--md"]);
    ran.ends(0)
        .says("## Plan")
        .says("## Steps")
        .says("&lt;script>alert(1)");
    assert!(!ran.out.contains("AKIAIOSFODNN7EXAMPLE"));
}

#[test]
fn a_file_is_written_whole_and_a_run_is_found_by_its_number() {
    let world = world();
    let file = world.root.join("run.html");
    let path = file.to_str().expect("a path");
    world.program(&["export", "-o", path]).ends(0);
    let page = fs::read_to_string(&file).expect("the page");
    assert!(page.ends_with("</html>\n"));
    world.program(&["export", "1"]).ends(0).says(&page);
    world
        .program(&["export", "2"])
        .ends(2)
        .complains("no finished run 2");
    world
        .program(&["export", "-o", "/nowhere/at/all.html"])
        .ends(1)
        .complains("cannot write /nowhere/at/all.html");
    assert!(
        World::new()
            .program(&["export"])
            .err
            .contains("no run here yet")
    );
}

#[test]
fn what_a_path_leads_to_is_written_and_stays_what_it_is() {
    let world = world();
    let pipe = world.fifo("pipe");
    let (heard, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| heard.send(fs::read_to_string(&pipe).expect("what was written")));
        world.program(&["export", "--md", "-o", &pipe]).ends(0);
        assert!(told.recv().expect("a reader").starts_with("# "));
    });
    let is_pipe = fs::symlink_metadata(&pipe)
        .expect("it is there")
        .file_type()
        .is_fifo();
    assert!(is_pipe, "it is no file now");
    let (link, page) = (world.folder.join("link.md"), world.folder.join("page.md"));
    symlink(&page, &link).expect("a link");
    // Once where nothing is, once over what is there.
    for _ in 0..2 {
        let to = link.display().to_string();
        world.program(&["export", "--md", "-o", &to]).ends(0);
        assert!(fs::read_to_string(&page).expect("a page").starts_with("# "));
        assert!(link.is_symlink());
    }
}
