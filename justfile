# What people do daily. `just` alone lists it.

default:
    @just --list --unsorted

# Open the screen here, with the model of your config.toml.
run *args:
    cargo run --release -- {{args}}

# Open the screen in a scratch folder with the built-in demo model; your own data is not touched.
demo:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --release
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    mkdir "$place/work"
    printf 'fn main() {\n    println!("hello");\n}\n' > "$place/work/main.rs"
    # Only what the terminal needs is handed on, so that no key in the environment picks a model.
    env -i PATH="$PATH" HOME="$place" TERM="${TERM:-xterm-256color}" COLORTERM="${COLORTERM:-}" \
        LANG="${LANG:-C.UTF-8}" KIMI_SHARE_DIR="$place/share" \
        "${CARGO_TARGET_DIR:-target}/release/kimi-tui" --work-dir "$place/work"

# All tests, or those whose name contains the words given.
test *args:
    cargo test {{args}}

# What must pass before anything lands.
check:
    .ci/run

# Formatting and lints.
lint:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# How cost grows; figures are in docs/performance.md.
bench *args:
    cargo bench {{args}}

# Write the screen snapshots anew, then show what changed. Read it before you commit it.
snapshots:
    INSTA_UPDATE=always cargo test
    git diff --stat -- '*.snap'

# Licences and advisories of the dependencies (needs cargo-deny).
deny:
    cargo deny check
