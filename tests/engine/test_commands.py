"""The worker's queue: who goes first, who gives way to whom, and what closing hands out."""

from __future__ import annotations

import pytest

from engine.chat import RequestHandle
from engine.commands import Command, CommandQueue, Idle


def command(name: str) -> Command:
    return Command(RequestHandle(name), lambda: iter(()))


class TestCommandQueue:
    @pytest.fixture
    def commands(self) -> CommandQueue:
        return CommandQueue()

    def put(self, commands: CommandQueue, name: str = "real") -> Command:
        made = command(name)
        commands.put(made)
        return made

    def put_idle(self, commands: CommandQueue, name: str, kind: Idle = Idle.AHEAD) -> Command:
        made = command(name)
        commands.put_idle(made, kind)
        return made

    def test_idle_work_waits_for_real_work(self, commands):
        real = self.put(commands)
        idle = self.put_idle(commands, "idle")
        assert [commands.get(), commands.get()] == [real, idle]

    def test_only_the_newest_idle_command_stays(self, commands):
        self.put_idle(commands, "old")
        new = self.put_idle(commands, "new")
        assert commands.get() is new
        self.put_idle(commands, "newer")
        assert new.handle.cancelled

    def test_idle_work_is_done_in_the_order_of_its_kinds(self, commands):
        made = {kind: self.put_idle(commands, kind.name, kind) for kind in reversed(Idle)}
        assert [commands.get() for _ in Idle] == [made[kind] for kind in Idle]

    def test_a_real_command_takes_the_place_of_reading_ahead_alone(self, commands):
        ahead = self.put_idle(commands, "ahead")
        title = self.put_idle(commands, "title", Idle.TITLE)
        preview = self.put_idle(commands, "preview", Idle.PREVIEW)
        real = self.put(commands)
        assert [commands.get() for _ in range(3)] == [real, preview, title]
        assert ahead.handle.cancelled
        assert not title.handle.cancelled

    def test_a_title_is_pressed_by_anything_but_a_preview(self, commands):
        title = self.put_idle(commands, "title", Idle.TITLE)
        assert commands.get() is title
        self.put_idle(commands, "preview", Idle.PREVIEW)
        assert not commands.pressed()
        self.put_idle(commands, "ahead")
        assert commands.pressed()
        assert not title.handle.cancelled
        commands.put_back(title, Idle.TITLE)
        newer = self.put_idle(commands, "newer", Idle.TITLE)
        commands.put_back(title, Idle.TITLE)
        assert commands.take(Idle.TITLE) is newer

    def test_what_is_taken_in_between_does_not_come_again(self, commands):
        preview = self.put_idle(commands, "preview", Idle.PREVIEW)
        assert commands.take(Idle.PREVIEW) is preview
        assert commands.take(Idle.PREVIEW) is None

    def test_a_real_command_is_never_cancelled_by_another(self, commands):
        real = self.put(commands)
        assert commands.get() is real
        self.put(commands, "next")
        self.put_idle(commands, "idle")
        assert not real.handle.cancelled

    @pytest.mark.parametrize("late", [False, True])
    def test_closed_it_hands_out_what_waits_cancelled(self, commands, late):
        if late:
            commands.close()
        real = self.put(commands)
        self.put_idle(commands, "idle")
        if not late:
            commands.close()
        assert commands.get() is real
        assert real.handle.cancelled
        assert commands.get() is None
