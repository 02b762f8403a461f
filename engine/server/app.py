"""The routes: OpenAI's, and two for whoever runs the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Coroutine
from typing import Any, Final, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.types import Send

from engine.server.answers import model_object
from engine.server.completions import ChatCompletion, Completion, TextCompletion
from engine.server.failures import Failure, Refused, of_validation
from engine.server.guard import answer
from engine.server.metrics import CONTENT_TYPE
from engine.server.schema import ChatBody, TextBody
from engine.server.service import Service

_GONE: Final = 499  # nginx's word for a client that did not wait; nobody reads it
_DONE: Final = b"data: [DONE]\n\n"
_NO_TELEMETRY: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": about}
    for status, about in {
        400: "The request cannot be answered.",
        401: "The API key is missing or wrong.",
        403: "The request comes from a web page or for another host.",
        404: "There is no such model.",
        413: "The body is too large.",
        429: "There are too many requests.",
        503: "No model is loaded.",
    }.items()
}
Answer = TypeVar("Answer")


def build_app(service: Service) -> FastAPI:
    """The application over a service; what it lets in is decided in front of it, by `engine.server.guard`."""
    app = FastAPI(
        title="Loquat",
        docs_url=None,  # they would load scripts from the network
        redoc_url=None,
        responses=_REFUSALS,
        telemetry=_NO_TELEMETRY,
    )
    _add_failures(app, service)
    _add_about(app, service)

    @app.post("/v1/chat/completions", response_model=None)
    async def chat(request: Request, body: ChatBody) -> Response:
        """Answer a conversation."""
        return await _respond(request, ChatCompletion(service, body), stream=bool(body.stream))

    @app.post("/v1/completions", response_model=None)
    async def text(request: Request, body: TextBody) -> Response:
        """Go on with a text."""
        return await _respond(request, TextCompletion(service, body), stream=bool(body.stream))

    return app


def _add_about(app: FastAPI, service: Service) -> None:
    """Routes that say something about the server."""
    started = int(time.time())

    @app.get("/health", response_model=None)
    async def health() -> dict[str, str]:
        """Whether there is a model that can answer."""
        return {"status": "ok", "model": service.model.name}

    @app.get("/metrics", response_model=None)
    async def metrics() -> Response:
        """Figures for Prometheus."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE)

    @app.get("/v1/models", response_model=None)
    async def models() -> dict[str, Any]:
        """The model that answers."""
        return {"object": "list", "data": [model_object(service.model, started)]}

    @app.get("/v1/models/{name:path}", response_model=None)
    async def model(name: str) -> dict[str, Any]:
        """One model."""
        return model_object(service.model_named(name), started)


def _add_failures(app: FastAPI, service: Service) -> None:
    """Every error as OpenAI's error object."""

    def said(failure: Failure) -> Response:
        service.metrics.refused(failure.status)
        return answer(failure)

    @app.exception_handler(Refused)
    async def refused(_: Request, error: Refused) -> Response:
        return said(error.failure)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return said(of_validation(error.errors()))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        sentences = {404: "There is no such address here.", 405: "This address does not take this method."}
        sentence = sentences.get(error.status_code, "The body cannot be read; send JSON.")
        return said(Failure(error.status_code, sentence, headers=error.headers or {}))

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> Response:
        return said(Failure(500, "Something went wrong inside Loquat; see its log.", "server_error"))


async def _respond(request: Request, completion: Completion, *, stream: bool) -> Response:
    """The answer, or nothing where the client did not wait for it."""
    if not stream:
        whole = await _unless_gone(request, completion.whole())
        return Response(status_code=_GONE) if whole is None else JSONResponse(whole)
    chunks = completion.chunks()
    try:
        first = await _unless_gone(request, anext(chunks))
    except BaseException:
        await chunks.aclose()
        raise
    if first is None:
        await chunks.aclose()
        return Response(status_code=_GONE)
    return _EventStream(_events(first, chunks), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """What the work comes to; None, and the work cancelled, if the client goes away before."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        return await task if task.done() else None
    finally:
        for other in (task, watch):
            other.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Returns when the client closes the connection; its body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _EventStream(StreamingResponse):
    """Ends its iterator when it ends itself, however that comes; so a client that leaves cancels its request."""

    async def stream_response(self, send: Send) -> None:
        """Send everything."""
        async with contextlib.aclosing(self.body_iterator):  # type: ignore[type-var]
            await super().stream_response(send)


async def _events(first: dict[str, Any], chunks: AsyncGenerator[dict[str, Any], None]) -> AsyncGenerator[bytes, None]:
    """Server-sent events. A failure in the midst is the last one, in place of the mark of a complete stream."""
    async with contextlib.aclosing(chunks):
        yield _event(first)
        try:
            async for chunk in chunks:
                await asyncio.sleep(0)  # chunks that came together go out in turns with others', if still wanted
                yield _event(chunk)
        except Refused as refused:
            yield _event(refused.failure.body())
            return
        yield _DONE


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()
