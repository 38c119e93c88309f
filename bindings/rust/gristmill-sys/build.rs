// SPDX-License-Identifier: Apache-2.0
// Finds libgristmill: in GRISTMILL_LIB_DIR, else where pkg-config says. Compiles nothing, and needs no CUDA toolkit.
use std::env;
use std::process::Command;

/// What pkg-config says of linking gristmill, or why it says nothing.
fn pkg_config(linked_statically: bool) -> Result<String, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let mut command = Command::new(&program);
    command.args(["--libs", "gristmill"]);
    if linked_statically {
        command.arg("--static");
    }
    let output = command.output().map_err(|error| format!("{program} does not run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_string())
    }
}

/// The folder of the library; None: the linker finds it without being told.
fn library_folder(linked_statically: bool) -> Option<String> {
    if let Ok(folder) = env::var("GRISTMILL_LIB_DIR") {
        return Some(folder);
    }
    match pkg_config(linked_statically) {
        Ok(flags) => flags.split_whitespace().find_map(|flag| flag.strip_prefix("-L").map(str::to_string)),
        Err(why) => {
            panic!("gristmill-sys finds no libgristmill: set GRISTMILL_LIB_DIR to its folder. pkg-config: {why}")
        }
    }
}

fn main() {
    for name in ["GRISTMILL_LIB_DIR", "GRISTMILL_STATIC", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation links nothing
    }
    let linked_statically =
        env::var_os("CARGO_FEATURE_STATIC").is_some() || env::var("GRISTMILL_STATIC").as_deref() == Ok("1");
    if let Some(folder) = library_folder(linked_statically) {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:lib_dir={folder}"); // DEP_GRISTMILL_LIB_DIR of crates that depend on this one
    }
    if linked_statically {
        println!("cargo:rustc-link-lib=static=gristmill");
        for library in ["dl", "pthread", "m"] {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    } else {
        println!("cargo:rustc-link-lib=dylib=gristmill");
    }
}
