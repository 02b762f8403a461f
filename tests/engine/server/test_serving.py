"""The server as a whole: it gives way, lets go, refuses when it is full, counts, and ends."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import math
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from engine.chat import ChatRequest, Message
from engine.config import SamplingParams
from engine.errors import BadRequest
from engine.events import Finished, FinishReason, TextDelta
from engine.server.guard import Door
from engine.server.options import ServerOptions
from engine.server.thread import CannotServe, ServerThread
from tests.engine.fakes import FakeRunner
from tests.engine.server.conftest import NAME, PATIENCE_S, Served, Slow, until

LONG = {"model": NAME, "messages": [{"role": "user", "content": "q"}], "max_tokens": 3000}
PROMPT = 20  # tokens of it


def idle(served: Served) -> bool:
    return not served.service._open and served.service._admitted == 0


@contextlib.contextmanager
def hung_up(served: Served, body: dict, read: int):
    """A client that reads so many bytes of the answer and closes the connection at the end of the block."""
    data = json.dumps(body).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", served.server.port)) as connection:
        connection.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        if read:
            assert connection.recv(read)
        yield


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("phase", ["waiting", "prefill", "decode"])
def test_a_client_that_hangs_up_cancels_its_request_within_a_token(stream, phase, serve):
    runner = Slow()
    served = serve(runner)
    others = {"waiting": 1}.get(phase, 0)
    with contextlib.ExitStack() as stack:
        for _ in range(others):
            stack.enter_context(hung_up(served, LONG, 0))
            until(lambda: served.service._begun, "the first request to begin")
        with hung_up(served, {**LONG, "stream": stream}, 0):
            until(lambda: len(served.service._open) == 1 + others, "the request")
            if phase == "decode":
                runner.let(4)
                until(lambda: runner.computed > PROMPT, "some tokens")
        until(lambda: served.service._admitted == others, "the server to notice")
        before = runner.computed
        runner.let(2)
        if not others:
            until(lambda: idle(served), "the engine to let go")
            assert runner.computed - before <= 64  # at most the chunk or the token that was being computed
    runner.let(5000)
    until(lambda: idle(served), "all to be let go")


def test_hanging_up_again_and_again_leaves_nothing_behind(served):
    process = psutil.Process()

    def round_of(count: int) -> tuple[int, int]:
        for n in range(count):
            with hung_up(served, {**LONG, "stream": True, "seed": n}, 200):
                pass
        until(lambda: idle(served), "all to be let go")
        until(lambda: not served.server._server.server_state.connections, "the connections to close")
        gc.collect()
        return threading.active_count(), process.num_fds() if hasattr(process, "num_fds") else process.num_handles()

    assert served.chat("warm").status_code == 200
    served.http.close()
    threads, files = round_of(10)
    more_threads, more_files = round_of(30)
    assert more_threads <= threads and more_files <= files  # fewer where something of another test has ended meanwhile
    served.http = httpx.Client(base_url=f"http://127.0.0.1:{served.server.port}", timeout=PATIENCE_S)
    assert served.chat("still there?").status_code == 200


def test_small_pieces_are_sent_at_once(served):
    assert served.http.get("/health").status_code == 200  # and stays connected
    (connection,) = served.server._server.server_state.connections
    option = connection.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert option != 0


def test_one_request_too_many_is_429_and_says_when(serve):
    runner = Slow()
    served = serve(runner, ServerOptions(port=0, queue_limit=2))
    with hung_up(served, LONG, 0), hung_up(served, LONG, 0):
        until(lambda: served.service._admitted == 2, "both requests")
        refused = served.chat("q")
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["error"]["code"] == "rate_limit_exceeded"
        until(lambda: served.metrics["loquat_requests_waiting"] == 1, "the first to begin")
    runner.let(5000)
    until(lambda: idle(served), "both to be let go")
    assert served.chat("q").status_code == 200


def test_when_to_ask_again_follows_from_what_answers_take(serve):
    served = serve(FakeRunner(before=lambda ids: time.sleep(0.02)), ServerOptions(port=0, queue_limit=8))
    began = time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        assert [asked.status_code for asked in pool.map(served.chat, "abcdefgh")] == [200] * 8
    took = time.monotonic() - began
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(hung_up(served, LONG, 0))
        until(lambda: served.service._admitted == 8, "all requests")
        # An answer takes an eighth of what all did; counted with the others before it, it would be several times that.
        assert 1 <= int(served.chat("q").headers["Retry-After"]) <= math.ceil(took)


def test_the_window_is_answered_in_the_middle_of_a_served_reply(serve):
    runner = Slow()
    served = serve(runner)
    with hung_up(served, {**LONG, "max_tokens": 40, "stream": True}, 0):
        runner.let(5)
        until(lambda: runner.computed > PROMPT, "the reply to begin")
        params = SamplingParams(temperature=0.0, max_tokens=3)
        served.worker.submit(ChatRequest("window", (Message("user", "me first"),), params, "w"))
        runner.let(9)
        until(lambda: any(isinstance(event, Finished) for event in served.window), "the window's answer")
        assert served.service._begun  # the other is still being answered
        runner.let(5000)
        until(lambda: idle(served), "the other answer")
    assert {event.request_id for event in served.window} == {"window"}
    assert sum(isinstance(event, TextDelta) and bool(event.token_ids) for event in served.window) == 3


def test_requests_with_many_choices_do_not_hold_up_others(serve):
    served = serve()
    order: list[str] = []

    def ask(name: str, n: int) -> None:
        served_client.post("/v1/chat/completions", json={**LONG, "max_tokens": 200, "n": n})
        order.append(name)

    with httpx.Client(base_url=f"http://127.0.0.1:{served.server.port}", timeout=PATIENCE_S) as served_client:
        threads = [threading.Thread(target=ask, args=("many", 8))]
        threads[0].start()
        until(lambda: served.service._open, "the first request")
        threads.append(threading.Thread(target=ask, args=("one", 1)))
        threads[1].start()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert order == ["one", "many"]


def test_a_conversation_that_is_being_answered_is_not_forgotten(serve, monkeypatch):
    monkeypatch.setattr("engine.server.history._CONVERSATIONS", 1)
    runner, forgotten = Slow(), []
    served = serve(runner)
    monkeypatch.setattr(served.worker, "forget", forgotten.append)
    with hung_up(served, {**LONG, "stream": True}, 0), ThreadPoolExecutor(1) as pool:
        until(lambda: served.service._begun, "the long reply to begin")
        (ours,) = served.service.history._heads
        asked = pool.submit(served.chat, "a short one", max_tokens=2)
        until(lambda: asked.done() or runner.let(2), "the short reply")
        assert asked.result().status_code == 200
        assert len(forgotten) == 1 and ours not in forgotten
    runner.let(5000)
    until(lambda: idle(served), "the long reply to be let go")
    assert served.chat("and now?").status_code == 200
    assert ours in forgotten


def test_what_is_counted(served):
    done = served.chat("Hello there").json()
    message = done["choices"][0]["message"]
    again = served.chat("Hello there", message, "more").json()
    served.chat("q", model="gpt-4")
    counted = served.metrics
    usages = done["usage"], again["usage"]
    cached = sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in usages)
    prompts = sum(usage["prompt_tokens"] for usage in usages)
    assert counted["loquat_prompt_tokens_total"] == prompts
    assert counted["loquat_cached_tokens_total"] == cached > 0
    assert counted["loquat_computed_tokens_total"] == prompts - cached
    assert counted["loquat_generation_tokens_total"] == 16
    assert counted["loquat_time_to_first_token_seconds_count"] == 2
    assert counted["loquat_time_per_output_token_seconds_count"] == 2
    assert counted["loquat_kv_cache_bytes"] > 0
    assert counted["loquat_requests_running"] == counted["loquat_requests_waiting"] == 0
    assert counted['loquat_requests_total{outcome="length"}'] == 2
    assert counted['loquat_requests_total{outcome="404"}'] == 1


def test_without_a_model_the_server_says_so(served):
    served.worker.info = None
    for response in (served.http.get("/health"), served.http.get("/v1/models"), served.chat("q")):
        assert response.status_code == 503
        assert "No model is loaded" in response.json()["error"]["message"]


def test_a_model_on_a_server_is_not_served_on(served):
    served.worker.info = dataclasses.replace(served.worker.info, server="Big one", host="gpu.example")
    for response in (served.http.get("/health"), served.chat("q")):
        assert response.status_code == 503
        assert "A model on Big one is chosen" in response.json()["error"]["message"]


def test_another_model_ends_what_is_being_answered_with_a_sentence(serve):
    runner = Slow()
    served = serve(runner)
    answers: list[httpx.Response] = []

    def ask(stream: bool) -> None:
        answers.append(served.http.post("/v1/chat/completions", json={**LONG, "stream": stream}))

    threads = [threading.Thread(target=ask, args=(stream,)) for stream in (True, False)]
    threads[0].start()
    runner.let(5)
    until(lambda: runner.computed > PROMPT, "the reply to begin")
    threads[1].start()
    until(lambda: len(served.service._open) == 2, "the second request")
    served.worker.load("another")
    runner.let(5000)
    for thread in threads:
        thread.join(PATIENCE_S)
    whole = next(answer for answer in answers if answer.headers["content-type"] == "application/json")
    assert whole.status_code == 503
    stream = next(answer for answer in answers if answer is not whole)
    last = json.loads(stream.text.strip().split("data: ")[-1])
    assert "changed" in last["error"]["message"] == whole.json()["error"]["message"]


def test_it_ends_in_the_middle_of_a_reply_and_forgets_what_clients_said(serve):
    served = serve()
    served.chat("something private")
    with hung_up(served, {**LONG, "max_tokens": 4000, "stream": True}, 100):
        assert served.server.stop(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while served.worker._engine._model.store._caches and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not served.worker._engine._model.store._caches
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{served.server.port}/health")
    again = ServerThread(served.worker, ServerOptions(port=served.server.port))  # the port is free again
    again.start()
    assert httpx.get(f"http://127.0.0.1:{again.port}/health", timeout=PATIENCE_S).status_code == 200
    assert again.stop(PATIENCE_S)


def test_a_server_that_was_never_started_stops(served):
    assert ServerThread(served.worker, ServerOptions()).stop()


def test_a_port_that_is_taken_and_a_host_that_is_none_are_one_sentence(served):
    with pytest.raises(CannotServe, match=r"^Port \d+ is taken by another program; choose another port\.$"):
        ServerThread(served.worker, ServerOptions(port=served.server.port)).start()
    for host in ("no.such.host.invalid", "192.0.2.1"):
        with pytest.raises(CannotServe, match=r"\.$"):
            ServerThread(served.worker, ServerOptions(host=host, port=0, api_key="k")).start()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_others_than_this_machine_need_a_key(host, served):
    with pytest.raises(BadRequest, match="an API key is needed"):
        ServerThread(served.worker, ServerOptions(host=host))
    ServerThread(served.worker, ServerOptions(host=host, api_key="k"))


@pytest.mark.parametrize(
    ("host", "let_in"),
    [
        ("192.168.1.5:8000", True),
        ("[fe80::1]:8000", True),
        ("localhost", True),
        ("llm.example.org", True),
        (socket.gethostname(), True),
        ("evil.example", False),
        ("0.0.0.0:8000", False),
        ("[::]:8000", False),
        ("[", False),
        ("", False),
    ],
)
def test_on_an_open_address_rebound_names_are_refused(host, let_in):
    door = Door("0.0.0.0", "k", ("llm.example.org",))
    refusal = door.refusal("/v1/models", {"host": host, "authorization": "Bearer k"})
    assert (refusal is None) is let_in


def test_a_reply_that_is_cancelled_says_so_in_the_engine(served):
    reasons: list[FinishReason] = []
    serve_one = served.worker.serve

    def watched(request, sink):
        def both(event):
            if isinstance(event, Finished):
                reasons.append(event.reason)
            sink(event)

        return serve_one(request, both)

    served.worker.serve = watched
    with hung_up(served, {**LONG, "stream": True}, 100):
        pass
    until(lambda: reasons, "the end")
    assert reasons == [FinishReason.CANCELLED]
