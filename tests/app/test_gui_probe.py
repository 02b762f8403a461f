from __future__ import annotations

import time

from app.gui_probe import GuiProbe


def test_a_blocked_event_loop_is_seen_in_the_phase_in_which_it_began(qtbot):
    probe = GuiProbe()
    probe.start("calm")
    qtbot.wait(150)
    probe.mark("busy")
    qtbot.wait(30)
    probe.mark("after")  # told while the loop is blocked, as a signal that was late
    time.sleep(0.3)
    qtbot.wait(60)
    probe.stop()
    gaps = probe.gaps()
    assert list(gaps) == ["calm", "busy", "after"]
    phase, longest = probe.longest()
    assert phase == "busy"
    assert longest == gaps["busy"].max >= 300
    assert gaps["calm"].count > 10
    assert 4 < gaps["calm"].p50 < 20


def test_a_long_gap_names_what_held_the_thread(qtbot, tmp_path):
    with (tmp_path / "stacks").open("w+") as file:
        probe = GuiProbe(dump_to=file, dump_after_s=0.05)
        probe.start("x")
        qtbot.wait(20)
        _hold_up(0.15)
        probe.stop()
        file.seek(0)
        assert "_hold_up" in file.read()


def _hold_up(seconds):
    time.sleep(seconds)
