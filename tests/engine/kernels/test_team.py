from __future__ import annotations

import threading

import pytest

from engine.kernels.team import Team


def test_every_thread_gets_its_number():
    seen = []
    Team(3).run(lambda thread, threads: seen.append((thread, threads, threading.get_ident())))
    assert sorted(part[:2] for part in seen) == [(0, 3), (1, 3), (2, 3)]
    assert len({ident for *_, ident in seen}) == 3
    assert next(part for part in seen if part[0] == 0)[2] == threading.get_ident()


def test_all_run_at_once():
    """A barrier inside the part would never be passed otherwise."""
    team, meeting = Team(3), threading.Barrier(3, timeout=20)
    for _ in range(50):
        team.run(lambda thread, threads: meeting.wait())


def test_what_a_helper_raises_arrives():
    team = Team(2)

    def part(thread: int, threads: int) -> None:
        if thread == 1:
            raise ValueError("from the helper")

    with pytest.raises(ValueError, match="from the helper"):
        team.run(part)
    team.run(lambda thread, threads: None)


def test_threads_end_with_the_team():
    before = threading.active_count()
    team = Team(4)
    assert threading.active_count() == before, "threads start with the first run"
    team.run(lambda thread, threads: None)
    helpers = [thread for thread in threading.enumerate() if thread.name.startswith("kernels-")]
    assert len(helpers) == 3
    del team
    for helper in helpers:
        helper.join(timeout=20)
        assert not helper.is_alive()


def test_one_thread_needs_no_helper():
    before = threading.active_count()
    Team(1).run(lambda thread, threads: None)
    assert threading.active_count() == before
