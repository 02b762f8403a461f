"""Scenes of the model dialog: what is here, what could be had, downloads, refusals."""

from __future__ import annotations

from typing import Any, Final

from app.views.models.models_dialog import ModelsDialog
from tests.pictures.stage import Scene, Stage, settle, wait_for

GB: Final = 1_000_000_000
LONG_NAME: Final = "someone-with-a-long-name/Qwen2.5-1.5B-Instruct-with-a-very-long-name-GGUF"


def _fit(kind: str, needs: float, rate: float | None, context: int = 32_768) -> dict[str, Any]:
    return {
        "kind": kind,
        "context": context,
        "needs": round(needs * GB),
        "free": 6 * GB,
        "tokens_per_s": rate,
        "ttft_s": None if rate is None else 4 / rate,
    }


def _model(name: str, label: str, billions: float, **more: Any) -> dict[str, Any]:
    """An entry of the catalogue; the figures follow from its size, roughly."""
    size, rate = 0.55 * billions, 9 / (0.55 * billions)
    kinds = {4: 0.62, 8: 1.15, 16: 2.1}

    def source(weights: str, bits: int) -> dict[str, Any]:
        needs = kinds[bits] * billions + 0.35
        kind = "no" if needs > 6 else "smaller" if needs > 5 else "fits"
        fit = _fit(kind, needs, None if kind == "no" else rate * 4 / bits, 8192 if kind == "smaller" else 32_768)
        return {
            "weights": weights,
            "nbytes": round(size * GB),
            "disk": round((size + billions * bits / 8) * GB),
            "fit": fit,
        }

    return {
        "name": name,
        "label": label,
        "parameters": round(billions * 1e9),
        "context": 32_768,
        "sources": [source("int4", 4), source("int8", 8), source("none", 16)],
        "licence": "apache-2.0",
        "licence_label": "Apache License 2.0",
        "licence_url": "https://www.apache.org/licenses/LICENSE-2.0",
        "languages": ["en"],
        **more,
    }


CATALOGUE: Final = {
    "models": [
        _model("smollm2-360m", "SmolLM2 360M Instruct", 0.362, family="SmolLM2",
               repo="HuggingFaceTB/SmolLM2-360M-Instruct",
               good_at="Rewriting and short summaries in English on the smallest machines."),
        _model("qwen2.5-1.5b", "Qwen2.5 1.5B Instruct", 1.54, family="Qwen2.5", repo="Qwen/Qwen2.5-1.5B-Instruct",
               languages=["en", "zh", "fr", "es", "de", "ja"], more_languages=29,
               good_at="A good all-rounder for small machines: questions, summaries and simple code."),
        _model("llama-3.2-3b", "Llama 3.2 3B Instruct", 3.21, family="Llama 3.2",
               repo="meta-llama/Llama-3.2-3B-Instruct",
               licence="llama3.2", licence_label="Llama 3.2 Community License", accept=True, gated=True,
               licence_url="https://www.llama.com/llama3_2/license/",
               languages=["en", "de", "fr", "it", "pt", "hi", "es"],
               good_at="Conversation and summaries; follows instructions well for its size."),
        _model("mistral-7b", "Mistral 7B Instruct v0.3", 7.25, family="Mistral",
               repo="mistralai/Mistral-7B-Instruct-v0.3",
               good_at="Fluent English and French, longer texts."),
        _model("qwen2.5-14b", "Qwen2.5 14B Instruct", 14.8, family="Qwen2.5", repo="Qwen/Qwen2.5-14B-Instruct",
               languages=["en", "zh"], good_at="The strongest of the list, for machines with much memory."),
    ]
}  # fmt: skip
FOUND: Final = {
    "models": [
        {"repo": "bartowski/Qwen2.5-Coder-1.5B-Instruct-GGUF", "label": "Qwen2.5-Coder-1.5B-Instruct-GGUF",
         "parameters": 1_540_000_000, "licence": "apache-2.0", "downloads": 48_211, "gguf": True},
        {"repo": LONG_NAME, "label": LONG_NAME.partition("/")[2], "licence": "other", "downloads": 12, "gated": True},
    ]
}  # fmt: skip
FAR: Final = {"event": "progress", "stage": "download", "done": 312_000_000, "total": 986_000_000, "rate": 4.8e6,
              "left_s": 140.0, "sentence": "Downloading Qwen2.5 1.5B Instruct: 312 of 986 MB"}  # fmt: skip
GATED: Final = {
    "event": "failed",
    "kind": "gated",
    "sentence": "Llama 3.2 3B is given only to those who agreed on its page; agree there, then give an access token.",
    "detail": "401",
}


def _open(stage: Stage) -> ModelsDialog:
    stage.commands.say("catalogue", CATALOGUE)
    stage.run("models")
    dialog: ModelsDialog = stage.of(ModelsDialog)
    wait_for(lambda: dialog._shelf.catalogue is not None)
    return dialog


def installed(stage: Stage) -> None:
    """A model of this machine."""
    _open(stage)


def catalogue(stage: Stage) -> None:
    """A model that can be downloaded, and how it would go here."""
    _open(stage).pick("offer:qwen2.5-1.5b")


def too_large(stage: Stage) -> None:
    """A model that does not fit."""
    dialog = _open(stage)
    dialog.search_field.setText("14b")
    dialog.pick("offer:qwen2.5-14b")


def licence(stage: Stage) -> None:
    """A model whose licence has to be accepted."""
    _open(stage).pick("offer:llama-3.2-3b")


def download(stage: Stage) -> None:
    """One download under way, one that waits, one of an earlier run."""
    left = {"name": "mistral-7b", "label": "Mistral 7B Instruct v0.3", "done": 1_200_000_000, "total": 4_100_000_000}
    stage.commands.say("downloads", {"downloads": [left]})
    stage.commands.say("get", FAR, {"wait": "never"})
    dialog = _open(stage)
    for name in ("offer:qwen2.5-1.5b", "offer:smollm2-360m"):
        dialog.pick(name)
        dialog.details.buttons["get"].click()
    dialog.pick("task:qwen2.5-1.5b")
    wait_for(lambda: "MB/s" in dialog.details.progress)


def download_closed(stage: Stage) -> None:
    """A download goes on when the dialog is closed."""
    download(stage)
    stage.of(ModelsDialog).accept()
    settle()


def gated(stage: Stage) -> None:
    """A download that its makers do not give to everybody."""
    stage.commands.say("get", GATED, {"exit": 2})
    dialog = _open(stage)
    dialog.pick("offer:llama-3.2-3b")
    dialog.details.terms.accept_box.setChecked(True)
    dialog.details.buttons["get"].click()
    wait_for(lambda: bool(dialog.details.said))


def hub(stage: Stage) -> None:
    """What a search found on the hub."""
    stage.commands.say("search", FOUND)
    dialog = _open(stage)
    dialog.search_field.setText("coder")
    dialog.pick("search:coder")
    dialog.details.buttons["ask"].click()
    wait_for(lambda: bool(dialog._shelf.found))


def ask_the_hub(stage: Stage) -> None:
    """What is typed can be looked for on the hub."""
    _open(stage).search_field.setText("qwen")


SCENES: Final = (
    Scene("models", installed),
    Scene("models-catalogue", catalogue),
    Scene("models-large-text", catalogue, settings={"text_size": "130"}),
    Scene("models-too-large", too_large),
    Scene("models-licence", licence),
    Scene("models-download", download),
    Scene("models-download-closed", download_closed),
    Scene("models-gated", gated),
    Scene("models-hub", hub),
    Scene("models-ask-hub", ask_the_hub),
)
