"""A model on a server, behind what the worker needs of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from engine.chat import ChatRequest, RequestHandle
from engine.events import ChatEvent, ModelInfo
from engine.remote.link import STALL_S, Link
from engine.remote.probe import Listed, list_models
from engine.remote.servers import RemoteServer
from engine.remote.turn import RemoteTurn


class RemoteEngine:
    """Answers chat requests with one model of one server. Not thread-safe.

    Args:
        server: Which server.
        model: The model's name there.
        key: Of the server; empty if it needs none.
        clock: Monotonic seconds, the same clock that stamps `ChatRequest.submitted_at`.
        stall_s: Longest silence of the server in seconds.

    Attributes:
        server: Which server.
        info: What is known of the model; of the text's way more than of the model.
    """

    def __init__(
        self,
        server: RemoteServer,
        model: str,
        key: str,
        clock: Callable[[], float] = time.perf_counter,
        stall_s: float = STALL_S,
    ) -> None:
        self.server = server
        self._model = model
        self._clock = clock
        self._link = Link(server.base_url, key, stall_s)
        self._beyond = True
        self.info = _info(server, model, None, 0.0)

    def connect(self, handle: RequestHandle) -> ModelInfo:
        """Make sure that the server is there and has the model; what is known of it then.

        Raises:
            ServerFailed: It is not, or has not.
            Cancelled: `handle` was cancelled.
        """
        began = self._clock()
        listed = list_models(self._link, self.server, lambda: handle.cancelled, wanted=self._model)
        self.info = _info(self.server, self._model, listed, self._clock() - began)
        return self.info

    def stream(self, request: ChatRequest, handle: RequestHandle | None = None) -> Iterator[ChatEvent]:
        """Answer a request: text as it comes, and `Finished` as the last event, also when it was cancelled.

        Raises:
            BadRequest: There is nothing to answer, or a server cannot.
            ServerFailed: It did not answer, or not to the end; what came was told.
        """
        turn = RemoteTurn(
            self._link,
            self.server,
            self._model,
            request,
            handle or RequestHandle(request.id),
            clock=self._clock,
            beyond=self._beyond,
        )
        yield from turn.run()
        self._beyond = turn.beyond

    def close(self) -> None:
        """Close all connections."""
        self._link.close()


def _info(server: RemoteServer, model: str, listed: Listed | None, load_s: float) -> ModelInfo:
    return ModelInfo(
        name=server.name_of(model),
        label=model.rpartition("/")[2],
        architecture="",
        parameters=0,
        context_limit=listed.context_limit if listed is not None else 0,
        device="server",
        device_reason=f"on {server.name}, at {server.host}",
        dtype="",
        threads=0,
        weight_bytes=0,
        kv_bytes_per_token=0,
        load_s=load_s,
        server=server.name,
        host=server.host,
    )
