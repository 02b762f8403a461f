"""`loquat models`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli_models import ready_model, run
from engine.errors import ModelNotFound
from engine.models.bundled import OVERRIDE
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.choices import AdapterChoice, ModelChoices, write_choices
from engine.paths import Paths
from engine.remote.servers import FILE, RemoteServer, servers_json
from tests.engine.models.gguf_files import write_gguf

TinyModel = Callable[..., Path]
Output = pytest.CaptureFixture[str]


@pytest.fixture
def gguf_file(tiny_model: TinyModel, tmp_path: Path) -> Path:
    return write_gguf(tiny_model("llama"), tmp_path / "My Model.gguf")


def test_nothing_is_there_at_first(loquat_home: Paths, capsys: Output) -> None:
    assert run(["list"], loquat_home) == 0
    assert capsys.readouterr().out.startswith("No models yet; the first chat fetches one, or: loquat models add ")


def test_the_model_that_came_with_the_program_is_not_fetched(
    loquat_home: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    file = tmp_path / Path(DEFAULT_MODEL.member).name
    with file.open("wb") as sparse:
        sparse.truncate(DEFAULT_MODEL.nbytes)
    monkeypatch.setenv(OVERRIDE, str(tmp_path))
    assert run(["list"], loquat_home) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"No models yet; {DEFAULT_MODEL.label} came with Loquat and is set up by the first chat")
    assert "fetch" not in said


def test_models_are_added_listed_chosen_and_removed(
    loquat_home: Paths, gguf_file: Path, tiny_model: TinyModel, capsys: Output
) -> None:
    assert run(["add", str(gguf_file)], loquat_home) == 0
    shown = capsys.readouterr()
    assert shown.out == "Added my-model (Tiny Model, 130 k, 1 MB).\n"
    progress = shown.err.splitlines()
    assert progress[:3] == ["Checking My Model.gguf", "Reading My Model.gguf", "Importing My Model.gguf"]
    assert run(["add", str(tiny_model("qwen2")), "--name", "second"], loquat_home) == 0
    assert run(["default", "second"], loquat_home) == 0
    capsys.readouterr()
    assert run(["list"], loquat_home) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "PARAMETERS", "ON", "DISK", "ARCHITECTURE", "LABEL"]
    assert first.startswith("   my-model ") and second.startswith("*  second ")
    assert head.index("LABEL") == first.index("Tiny Model") == second.index("tiny-qwen2")
    assert run(["remove", "second"], loquat_home) == 0
    assert capsys.readouterr().out.startswith("Removed second; ")
    assert run(["list"], loquat_home) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("*  my-model ")


def test_a_file_under_another_name_is_told_to_be_here_already(
    loquat_home: Paths, gguf_file: Path, capsys: Output
) -> None:
    assert run(["add", str(gguf_file)], loquat_home) == 0
    again = gguf_file.rename(gguf_file.with_name("renamed.gguf"))
    capsys.readouterr()
    assert run(["add", str(again)], loquat_home) == 0
    assert capsys.readouterr().out == "This is my-model (Tiny Model), which is here already.\n"
    assert run(["add", str(again), "--json"], loquat_home) == 0
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (done["name"], done["label"], done["already"]) == ("my-model", "Tiny Model", True)


def test_a_model_is_called_otherwise(loquat_home: Paths, gguf_file: Path, capsys: Output) -> None:
    assert run(["add", str(gguf_file)], loquat_home) == 0
    assert run(["rename", "my-model", "Das  Kleine"], loquat_home) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "my-model is called Das Kleine from now on."
    assert run(["list"], loquat_home) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("Das Kleine")
    assert run(["rename", "my-model", ""], loquat_home) == 0
    assert capsys.readouterr().out == "my-model is called Tiny Model from now on.\n"


def test_adapters_and_the_draft_are_listed(loquat_home: Paths, tiny_model: TinyModel, capsys: Output) -> None:
    assert run(["add", str(tiny_model("qwen2")), "--name", "tiny"], loquat_home) == 0
    folder = loquat_home.models / "tiny"
    adapters = (AdapterChoice("poet"), AdapterChoice("pirate", on=False))
    for choices, shown in (
        (ModelChoices(adapters=adapters, draft="smaller"), "tiny-qwen2 + poet, pirate (off); drafts by smaller"),
        (ModelChoices(adapters=adapters[:1]), "tiny-qwen2 + poet"),
        (ModelChoices(draft="smaller"), "tiny-qwen2; drafts by smaller"),
    ):
        write_choices(folder, choices)
        capsys.readouterr()
        assert run(["list"], loquat_home) == 0
        assert capsys.readouterr().out.splitlines()[1].endswith(f"  {shown}")
    assert run(["list", "--json"], loquat_home) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert (model["adapters"], model["draft"]) == ([], "smaller")


def test_programs_are_told_as_json(loquat_home: Paths, gguf_file: Path, capsys: Output) -> None:
    assert run(["add", str(gguf_file), "--weights", "int8", "--json"], loquat_home) == 0
    *progress, done = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert {line["event"] for line in progress} == {"progress"} and progress[0]["total"] == gguf_file.stat().st_size
    assert (done["event"], done["name"], done["label"]) == ("done", "my-model", "Tiny Model")
    assert run(["list", "--json"], loquat_home) == 0
    model = json.loads(capsys.readouterr().out)["models"][0]
    assert (model["name"], model["weights"], model["default"]) == ("my-model", "int8", True)
    assert model["folder"] == str(loquat_home.models / "my-model") and model["context"] == 512
    assert run(["add", __file__, "--json"], loquat_home) == 2
    failed = json.loads(capsys.readouterr().out)
    assert (failed["event"], failed["kind"]) == ("failed", "damaged")
    assert failed["sentence"].startswith("The file test_local.py is no GGUF model")


def test_models_on_servers_are_listed_and_offered(loquat_home: Paths, capsys: Output) -> None:
    server = RemoteServer("box", "GPU box", "https://gpu.example/v1", ("org/big", "small"))
    loquat_home.config.mkdir(parents=True, exist_ok=True)
    (loquat_home.config / FILE).write_text(servers_json((server,)), encoding="utf-8")
    assert run(["list"], loquat_home) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["NAME", "box/org/big", "box/small"]
    with pytest.raises(ModelNotFound, match="there are: box/org/big, box/small"):
        ready_model(loquat_home, "box2/small")


def test_a_list_needs_no_torch(loquat_home: Paths) -> None:
    script = (
        "import sys; from engine.cli_models import run; from engine.paths import default_paths;"
        "run(['list'], default_paths()); sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["add", "missing.gguf"], "There is no file or folder"),
        (["remove", "nobody"], "There is no model named nobody"),
        (["default", "nobody"], "There is no model named nobody"),
        (["add", __file__], "The file test_local.py is no GGUF model"),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, loquat_home: Paths, capsys: Output
) -> None:
    assert run(arguments, loquat_home) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith(sentence) and shown.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["add"], ["sell", "x"], ["list", "--all"]])
def test_wrong_usage_is_exit_code_2(arguments: list[str], loquat_home: Paths, capsys: Output) -> None:
    with pytest.raises(SystemExit) as caught:
        run(arguments, loquat_home)
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("usage: loquat models")


def test_what_is_linked_from_elsewhere_is_not_said_to_be_free_again(
    loquat_home: Paths, tiny_model: TinyModel, tmp_path: Path, capsys: Output
) -> None:
    assert run(["add", str(tiny_model("llama")), "--name", "linked"], loquat_home) == 0
    (tmp_path / "elsewhere").hardlink_to(loquat_home.models / "linked" / "model.safetensors")
    capsys.readouterr()
    assert run(["remove", "linked"], loquat_home) == 0
    said = capsys.readouterr().out
    assert said.startswith("Removed linked; ") and " of its " in said
    assert said.endswith("are free again; the rest is held elsewhere on this disk too.\n")


@pytest.mark.parametrize(
    ("command", "about"), [(["search"], "qwen coder"), (["add"], "the GGUF file"), (["adapter", "add"], "peft wrote")]
)
def test_arguments_are_described(command: list[str], about: str, loquat_home: Paths, capsys: Output) -> None:
    with pytest.raises(SystemExit):
        run([*command, "--help"], loquat_home)
    assert about in " ".join(capsys.readouterr().out.split())
