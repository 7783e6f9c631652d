# What CI runs.
ci:
    bash .ci/run

# All tests.
test:
    cargo test --workspace

# The ten largest files and functions: which noun is missing?
sizes:
    @git ls-files '*.rs' | xargs wc -l | sort -rn | sed -n 2,11p

# Import and compact beside read + SHA-256 + zstd -1 of the same bytes.
measure dir:
    cargo run --release -p strongroom-cli --example measure -- {{dir}}

# The table of docs/evidence-quality.md: what is missed, called wrongly, left open, and how fast, on ../shared and the transcripts below a directory.
measure-evidence dir:
    cargo run -p xtask -- evidence-figures {{dir}}
