//! Passes linker flags that save memory: pack the relocations that the loader applies at each start (half a megabyte
//! unpacked), and place the functions of the start next to each other (`start_order.ld`); scattered, they take 3 MB
//! more.
//!
//! A flag is used only if a small program that is linked with it runs, because not every linker and C library supports
//! them.
//!
//! Makes the constant table of redaction rules out of its rows (`build/redaction_table.rs`).
//!
//! In a debug build a test may ask the program to panic (`panics_on_request`), also where debug assertions are off.
#![allow(
    clippy::print_stdout,
    reason = "this is how a build script speaks to cargo"
)]

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[path = "build/redaction_table.rs"]
mod redaction_table;

const PACKED: &str = "-Wl,-z,pack-relative-relocs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    redaction_table::write_redaction_table()?;
    println!("cargo:rerun-if-changed=start_order.ld");
    // A wrapper that puts another linker in place.
    println!("cargo:rerun-if-env-changed=LD_PRELOAD");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    println!("cargo:rustc-check-cfg=cfg(panics_on_request)");
    if !is_release {
        println!("cargo:rustc-cfg=panics_on_request");
    }
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    // What is built for another machine cannot be tried here.
    let is_for_here = env::var_os("HOST") == env::var_os("TARGET");
    if !is_linux || !is_for_here {
        return Ok(());
    }
    let mut wanted = vec![PACKED.to_owned()];
    // In a debug build, which has five times as many functions, it would cost each link seconds.
    if is_release {
        wanted.extend(start_order());
    }
    for flag in wanted.iter().filter(|flag| runs_with(flag) == Some(true)) {
        println!("cargo:rustc-link-arg-bins={flag}");
    }
    Ok(())
}

/// The linker's flag for the order of functions.
fn start_order() -> Option<String> {
    let folder = env::var("CARGO_MANIFEST_DIR").ok()?;
    Some(format!("-Wl,-T,{folder}/start_order.ld"))
}

/// Returns whether a program that is linked with the flag runs; `None` if that cannot be tried.
fn runs_with(flag: &str) -> Option<bool> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (folder.join("tried.rs"), folder.join("tried"));
    std::fs::write(&source, "fn main() {}\n").ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    rustc.args(["-C", &format!("link-arg={flag}"), "-o"]);
    rustc.arg(&program).arg(&source);
    Some(succeeds(&mut rustc)? && succeeds(&mut Command::new(&program))?)
}

fn succeeds(command: &mut Command) -> Option<bool> {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    Some(quiet.status().ok()?.success())
}
