from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from PySide6.QtCore import QCoreApplication, Qt, QThread

from app.engine_bridge import EngineBridge
from engine.chat import ChatRequest, Message
from engine.config import EngineConfig
from engine.events import Finished, Loaded
from tests.app.fake_worker import FakeWorker, Reply


@pytest.fixture
def bridge(qtbot):
    made = EngineBridge(lambda emit: FakeWorker(emit, (Reply(),)))
    yield made
    made.close()


def request(text="Hello"):
    return ChatRequest("r1", (Message("user", text),))


def test_events_arrive_in_order_in_the_windows_thread(qtbot, bridge):
    events, threads = [], []

    def take(event):
        events.append(event)
        threads.append(QThread.currentThread())

    bridge.arrived.connect(take, Qt.ConnectionType.QueuedConnection)
    load = bridge.load(None, EngineConfig())
    answer = bridge.submit(request())
    assert not events, "nothing may come before the event loop runs"
    qtbot.waitUntil(lambda: bool(events) and isinstance(events[-1], Finished))
    assert [e.request_id for e in events] == [load.id] * 4 + [answer.id] * (len(events) - 4)
    assert isinstance(events[3], Loaded)
    assert set(threads) == {QCoreApplication.instance().thread()}


def test_after_close_no_event_arrives_and_the_thread_is_gone(qtbot):
    gate = threading.Semaphore(0)
    bridge = EngineBridge(lambda emit: FakeWorker(emit, (Reply(gate=gate),)))
    events = []
    bridge.arrived.connect(events.append, Qt.ConnectionType.QueuedConnection)
    bridge.submit(request())
    gate.release(2)
    qtbot.waitUntil(lambda: len(events) >= 5)
    assert bridge.close()
    seen = len(events)
    QCoreApplication.sendPostedEvents()
    assert not bridge._worker.thread.is_alive()
    assert all(not isinstance(event, Finished) for event in events[seen:])


def test_a_worker_that_outlives_the_bound_of_close_is_told_and_finds_no_dead_object(qtbot):
    gate = threading.Semaphore(0)
    bridge = EngineBridge(lambda emit: FakeWorker(emit, (Reply(gate=gate, deaf=True, prefill=0),)))
    worker = bridge._worker
    worker._closing = threading.Event()
    worker._closing.set = lambda: None  # a step that nothing interrupts
    bridge.submit(request())
    assert bridge.close(timeout_s=0.1) is False
    bridge.deleteLater()
    QCoreApplication.sendPostedEvents()
    gate.release(100)
    worker.thread.join(5)
    assert not worker.thread.is_alive()


def test_the_window_side_imports_neither_torch_nor_transformers():
    code = (
        "import sys, app.chats, app.desktop, app.__main__\n"
        "heavy = {'torch', 'transformers', 'numba', 'tokenizers', 'safetensors'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
