"""Packs the module that `cargo build` has made into a wheel, for tests: nothing is compiled or needed besides.

    python3 crates/py/debug_wheel.py target/debug/lib_native.so target/debug-wheel

A wheel for use is made by `just wheel`.
"""

import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def contents(module, version):
    """The names in the wheel with their bytes, all but the record."""
    for path in sorted((HERE / "python/strongroom").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(HERE / "python").as_posix(), path.read_bytes()
    yield "strongroom/_native.abi3.so", Path(module).read_bytes()
    info = f"strongroom-{version}.dist-info"
    yield f"{info}/METADATA", f"Metadata-Version: 2.1\nName: strongroom\nVersion: {version}\n".encode()
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    yield f"{info}/entry_points.txt", b"[console_scripts]\nstrongroom = strongroom.__main__:main\n"


def tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"cp39-abi3-{platform}"


def row(name, data):
    """A line of the record."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def main(module, out):
    manifest = (HERE / "../../Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE)[1]
    Path(out).mkdir(parents=True, exist_ok=True)
    wheel = Path(out) / f"strongroom-{version}-{tag()}.whl"
    record = f"strongroom-{version}.dist-info/RECORD"
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for name, data in contents(module, version):
            archive.writestr(name, data)
            rows.append(row(name, data))
        archive.writestr(record, "".join([*rows, f"{record},,\n"]))
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
