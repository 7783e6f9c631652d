# What CI runs.
ci:
    bash .ci/run

# All tests.
test:
    cargo test --workspace

# Those, and the ones that go over every real session; many minutes, so better in a release build.
test-everything:
    cargo test --workspace --release -- --include-ignored --skip torture::

# Power failures and failing disks under the archive, a fixed set of seeds: ci (a minute), hour or night; STRONGROOM_TORTURE_PART=1/2 takes half of them. docs/reliability.md has the figures.
torture size:
    cargo test -p strongroom-archive --lib -- --ignored --exact --nocapture --test-threads=1 torture::power::{{size}} torture::faults::{{size}}

# A process killed so many times while it stores, imports, binds and deletes.
kill times:
    STRONGROOM_TEST_KILLS={{times}} cargo test -p strongroom-archive --test archive -- --exact --nocapture processes::what_was_acknowledged_survives_a_kill

# The cold tier against servers that speak S3, Azure and Google Cloud Storage, with a proxy between that does harm; a minute each, and needs python3 and the servers of tests/tier/servers.py.
test-tier rounds="1" *servers:
    cargo build -p strongroom-cli
    tests/tier/run target/debug/strongroom {{rounds}} {{servers}}

# So many forgeries in transcripts, and forty round trips; about 2 ms each in a debug build, so in a release build.
forge count:
    STRONGROOM_TEST_FORGERIES={{count}} cargo test --release -p strongroom --test properties -- --ignored --nocapture forgeries::

# Every bit of a small archive changed, alone and asked after, and a thousand schedules of a clock that jumps; half an hour.
every-bit:
    cargo test -p strongroom-archive --test archive -- --ignored --exact --nocapture every_bit::every_changed_bit_is_found
    cargo test -p strongroom --test properties -- --ignored --nocapture damaged:: clocks::

# Sessions that grow, imported, compacted, asked, moved and deleted for so many seconds; what must not grow is watched.
soak seconds="1750":
    cargo build -p strongroom-cli
    tests/soak/run target/debug/strongroom {{seconds}}

# The Python package, in a virtual environment below target/, with the agent frameworks it works inside.
test-python:
    crates/py/test

# A wheel for Linux from 2014 on, and a source distribution, in target/wheels. Needs python3 and a package registry.
wheel:
    python3 -m venv target/wheel
    target/wheel/bin/pip install --quiet 'maturin==1.16.0' ziglang
    cd crates/py && PATH="$PWD/../../target/wheel/bin:$PATH" maturin build --release --zig --compatibility manylinux2014
    cd crates/py && ../../target/wheel/bin/maturin sdist

# The tables of docs/python.md, with a Python in which the wheel is installed: what a call costs beyond the library's, and
# what other compactors make of the same messages. PEERS_PYTHON is a Python of 3.12.
measure-python python *real:
    cargo build --release -p strongroom --example calls
    {{python}} bench/python_overhead.py target/release/examples/calls
    {{python}} bench/python_peers.py --peers langchain-trim langchain-summary deepagents headroom {{real}}

# The ten largest files and functions: which noun is missing?
sizes:
    @git ls-files '*.rs' | xargs wc -l | sort -rn | sed -n 2,11p

# Import and compact beside read + SHA-256 + zstd -1 of the same bytes.
measure dir:
    cargo run --release -p strongroom-cli --example measure -- {{dir}}

# Questions with gold answers about the transcripts below a directory, put to Strongroom and to simple compactors; writes docs/benchmark.md.
bench dir out="target/bench":
    mkdir -p {{out}}
    cargo build --release -p strongroom-bench
    target/release/evidence-bench gen {{dir}} --out {{out}}/questions.jsonl
    target/release/evidence-bench run {{dir}} --questions {{out}}/questions.jsonl --out {{out}}/replies.jsonl --plain --baselines --memory
    target/release/evidence-bench score {{dir}} --questions {{out}}/questions.jsonl --replies {{out}}/replies.jsonl --out {{out}}/scores.json --faults {{out}}/faults.jsonl
    target/release/evidence-bench report --scores {{out}}/scores.json --date "$(date -u +%F)" --machine "$(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" --commit "$(git rev-parse --short HEAD)"

# The table of docs/evidence-quality.md: what is missed, called wrongly, left open, and how fast, on ../shared and the transcripts below a directory.
measure-evidence dir:
    cargo run -p xtask -- evidence-figures {{dir}}

# Any bytes, read as FORMAT (or as json) for a minute; needs a nightly compiler and cargo-fuzz.
fuzz format seconds="60":
    mkdir -p fuzz/corpus/{{format}}
    cargo +nightly fuzz run {{format}} fuzz/corpus/{{format}} crates/formats/tests/fixtures examples/read-only -- -max_total_time={{seconds}} -max_len=65536

# The table of docs/formats.md: how much of the transcripts below a directory is read, understood, paired and attributed.
measure-formats dir:
    cargo run -p xtask -- format-figures {{dir}}

# What the built-in summary keeps of the sessions below a directory, and what recorded compactions kept: docs/summary-quality.md.
measure-summaries dir:
    cargo run --release -p strongroom --example summary_quality -- {{dir}}
