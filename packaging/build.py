#!/usr/bin/env python3
"""Builds Loquat's installers.

    python3 packaging/build.py [--target deb|appdir|tar|inno|dmg ...]

On every system: a clean environment from the lock, the default model, PyInstaller, a test of the frozen program, then
the installers that this system can make (or those that are asked for), what each part weighs, a list of parts (SBOM)
and checksums. What comes out lies in dist/, what is made on the way in build/. Standard library only: what else it
needs lies in the environments that it makes. The steps are in packaging/building.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from building import environment, freeze, icons, licences, model, report, sbom, smoke, system_licences, targets, tree
from building.job import Job
from building.project import DIST, lock_name, read_project, source_date
from windows import version


def main(arguments: list[str]) -> int:
    """Build; returns the exit code."""
    options = _options(arguments)
    wanted = options.target or targets.of_this_system()
    job = _program(options)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    parts = freeze.data_folder(job.program) / sbom.NAME
    shutil.copyfile(parts, DIST / f"loquat-{job.project.version}-{lock_name()}.cdx.json")
    report.write(job.program, [targets.make(name, job) for name in wanted])
    return 0


def _program(options: argparse.Namespace) -> Job:
    """The frozen program, tested, as the steps after it are given it."""
    project, epoch = read_project(), source_date()
    python = environment.make(lock_name(), fresh=options.fresh)
    tools = environment.make("tools", fresh=options.fresh)
    models = sorted(model.provide(python).glob("*.gguf"))
    drawn = icons.provide(python)
    texts = licences.provide(python)  # before the long step, for it says what is missing
    if sys.platform == "win32":
        version.write(project)
    program = freeze.freeze(python, epoch)
    data = freeze.data_folder(program)
    shutil.copytree(texts, data / licences.FOLDER)
    system_licences.add(data / licences.FOLDER, data)
    job = Job(program, project, epoch, drawn, tools)
    sbom.write(data / sbom.NAME, job, models, python)
    tree.settle(program, epoch)
    if not options.no_smoke_test:
        print(f"The frozen program works: {smoke.smoke(freeze.program_file(program))}", flush=True)
    return job


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", choices=sorted(targets.TARGETS), help="may be given several times")
    parser.add_argument("--fresh", action="store_true", help="make the environments anew, even where they fit the lock")
    parser.add_argument("--no-smoke-test", action="store_true", help="do not start the frozen program")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
