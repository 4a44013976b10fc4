//! Turns arguments into an exit code; everything else is the library's.

fn main() {}
