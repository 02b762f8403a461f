"""Neither the window nor a chat in the terminal pays for the server's libraries."""

from __future__ import annotations

from tests.test_architecture import modules_after

SERVERS_OWN = {"fastapi", "starlette", "uvicorn", "pydantic", "prometheus_client", "llguidance", "openai", "httpx"}


def test_only_serving_imports_the_servers_libraries() -> None:
    assert (
        not modules_after("import app.__main__, app.desktop, engine.cli_chat, engine.worker, engine.server.control")
        & SERVERS_OWN
    )
    assert not modules_after("import engine.engine, engine.turn, engine.loader") & SERVERS_OWN
    assert modules_after("import engine.server.thread") >= {"fastapi", "uvicorn"}
    assert not modules_after("import engine.server.thread, engine.cli_serve") & {"torch", "transformers", "PySide6"}
