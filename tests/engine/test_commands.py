"""The worker's queue: who goes first, who gives way to whom, and what closing hands out."""

from __future__ import annotations

import pytest

from engine.chat import RequestHandle
from engine.commands import Command, CommandQueue, Idle


class TestCommandQueue:
    def command(self, name: str) -> Command:
        return Command(RequestHandle(name), lambda: iter(()))

    def test_idle_work_waits_for_real_work(self):
        commands = CommandQueue()
        idle, real = self.command("idle"), self.command("real")
        commands.put(real)
        commands.put_idle(idle)
        assert commands.get() is real
        assert commands.get() is idle

    def test_only_the_newest_idle_command_stays(self):
        commands = CommandQueue()
        old, new = self.command("old"), self.command("new")
        commands.put_idle(old)
        commands.put_idle(new)
        assert commands.get() is new
        commands.put_idle(self.command("newer"))
        assert new.handle.cancelled

    def test_idle_work_is_done_in_the_order_of_its_kinds(self):
        commands = CommandQueue()
        made = {kind: self.command(kind.name) for kind in reversed(Idle)}
        for kind, command in made.items():
            commands.put_idle(command, kind)
        assert [commands.get() for _ in Idle] == [made[kind] for kind in Idle]

    def test_a_real_command_takes_the_place_of_reading_ahead_alone(self):
        commands = CommandQueue()
        ahead, title, preview = (self.command(name) for name in ("ahead", "title", "preview"))
        commands.put_idle(ahead)
        commands.put_idle(title, Idle.TITLE)
        commands.put_idle(preview, Idle.PREVIEW)
        real = self.command("real")
        commands.put(real)
        assert [commands.get() for _ in range(3)] == [real, preview, title]
        assert ahead.handle.cancelled
        assert not title.handle.cancelled

    def test_a_title_is_pressed_by_anything_but_a_preview(self):
        commands = CommandQueue()
        title = self.command("title")
        commands.put_idle(title, Idle.TITLE)
        assert commands.get() is title
        commands.put_idle(self.command("preview"), Idle.PREVIEW)
        assert not commands.pressed()
        commands.put_idle(self.command("ahead"))
        assert commands.pressed()
        assert not title.handle.cancelled
        commands.put_back(title, Idle.TITLE)
        newer = self.command("newer")
        commands.put_idle(newer, Idle.TITLE)
        commands.put_back(title, Idle.TITLE)
        assert commands.take(Idle.TITLE) is newer

    def test_what_is_taken_in_between_does_not_come_again(self):
        commands = CommandQueue()
        preview = self.command("preview")
        commands.put_idle(preview, Idle.PREVIEW)
        assert commands.take(Idle.PREVIEW) is preview
        assert commands.take(Idle.PREVIEW) is None

    def test_a_real_command_is_never_cancelled_by_another(self):
        commands = CommandQueue()
        real = self.command("real")
        commands.put(real)
        assert commands.get() is real
        commands.put(self.command("next"))
        commands.put_idle(self.command("idle"))
        assert not real.handle.cancelled

    @pytest.mark.parametrize("late", [False, True])
    def test_closed_it_hands_out_what_waits_cancelled(self, late):
        commands = CommandQueue()
        if late:
            commands.close()
        real = self.command("real")
        commands.put(real)
        commands.put_idle(self.command("idle"))
        if not late:
            commands.close()
        assert commands.get() is real
        assert real.handle.cancelled
        assert commands.get() is None
