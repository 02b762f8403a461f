"""Downloads from a hub that is slow, breaks off, lies, refuses or changes: a verified file, or a sentence."""

from __future__ import annotations

import errno
import shutil
import threading
import time
from collections import namedtuple
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.errors import Cancelled, DiskFull
from engine.hub.download import download
from engine.hub.get import get
from engine.hub.partial import Partial
from engine.hub.plan import Downloads, Unfinished, read_plan
from engine.hub.rate import Meter
from engine.hub.values import HubFailure
from engine.hub.wanted import Wanted
from engine.models.files import os_errors
from engine.models.registry import Registry
from tests.engine.hub.conftest import IMPATIENT, QUICK, REPO, Client, done
from tests.engine.hub.stand_in import Fault, StandIn, commit_of, wait_until

WEIGHTS = "model.safetensors"


def assert_whole(stand_in: StandIn, begun: Unfinished, commit: str = "") -> None:
    """Every file is here, byte for byte, and nothing that is half done."""
    repo = stand_in.repos[REPO]
    content = repo.commits[commit or begun.plan.revision]
    assert {path.name for path in begun.files.iterdir()} == {file.name for file in begun.plan.files}
    for path in begun.files.iterdir():
        assert path.read_bytes() == content[path.name], path.name
    assert sorted(path.name for path in begun.folder.iterdir()) == ["download.json", begun.files.name]


def test_only_what_makes_a_model_is_fetched(stand_in: StandIn, client: Client) -> None:
    begun = client.begin()
    steps = client.download(begun)
    assert_whole(stand_in, begun)
    assert not any(path.endswith((".bin", ".py", ".onnx", ".md")) for path in stand_in.paths())
    assert steps[-1].done == steps[-1].total == begun.plan.nbytes
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    fetched = [path.rpartition("/")[2] for path in stand_in.paths() if "/resolve/" in path]
    assert fetched[-1] == WEIGHTS  # a refusal of a small file comes before gigabytes


def test_what_broke_off_goes_on_where_it_stopped(stand_in: StandIn, client: Client) -> None:
    cut = 300_000
    stand_in.faults[f"cdn/{REPO}/{commit_of(1)}/{WEIGHTS}"] = [Fault(cut=cut), Fault(cut=100_000)]
    begun = client.begin()
    steps = client.download(begun)
    assert_whole(stand_in, begun)
    ranges = [headers.get("Range") for path, headers in stand_in.asked if path.startswith("/cdn/") and WEIGHTS in path]
    assert ranges == [None, f"bytes={cut}-", f"bytes={cut + 100_000}-"]
    assert any("trying again in" in step.sentence for step in steps)


def test_a_hub_that_cannot_be_reached_is_not_said_to_refuse(client: Client) -> None:
    begun = client.begin()
    client.stand_in = StandIn({})
    client.stand_in.address = "http://127.0.0.1:1"  # where nothing listens
    said: list[str] = []
    with client.hub() as hub, pytest.raises(HubFailure, match="There is no connection to"):
        said.extend(step.sentence for step in download(hub, begun, RequestHandle("test")))
    assert [sentence for sentence in said if "trying again" in sentence] == [
        "The hub cannot be reached; trying again in 1 s",
        "The hub cannot be reached; trying again in 1 s",
    ]


def test_a_later_run_goes_on_without_asking_for_what_is_here(stand_in: StandIn, client: Client) -> None:
    stand_in.faults[f"/{WEIGHTS}"] = [Fault(cut=200_000)] + [Fault(status=503)] * 3
    begun = client.begin()
    with pytest.raises(HubFailure, match=r"out of order \(HTTP 503\)"):
        client.download(begun)
    assert begun.done == begun.plan.nbytes - len(stand_in.repos[REPO].commits[commit_of(1)][WEIGHTS]) + 200_000
    stand_in.asked.clear()
    again = Downloads(client.models_dir).find(begun.plan.reference)
    assert again is not None
    steps = client.download(again)
    assert_whole(stand_in, again)
    assert {path.rpartition("/")[2] for path in stand_in.paths()} == {WEIGHTS}
    assert stand_in.asked[-1][1]["Range"] == "bytes=200000-"
    assert steps[0].sentence == f"Checking what is here of {WEIGHTS}: {100 * 200_000 // steps[0].total} %"


@pytest.mark.parametrize(
    "faults",
    [
        [Fault(wrong=True)],
        [Fault(status=500), Fault(status=503)],
        [Fault(status=524)],
        [Fault(status=429, headers={"Retry-After": "1"})],
        [Fault(status=429)],
        [Fault(cut=0)],
        [Fault(hang=True, cut=70_000)],
        [Fault(body=b"<html>log in here</html>")],
        [Fault(cut=70_000)] * 6,
    ],
    ids=[
        "wrong bytes",
        "500 and 503",
        "524 of a proxy",
        "429 for a second",
        "429",
        "cut at once",
        "silence",
        "a login page",
        "6 cuts",
    ],
)
def test_faults_that_pass_are_outlived(stand_in: StandIn, client: Client, faults: list[Fault]) -> None:
    stand_in.faults[f"/{WEIGHTS}"] = faults
    begun = client.begin()
    client.patience = IMPATIENT if faults[0].hang else QUICK
    client.download(begun)
    assert_whole(stand_in, begun)
    assert not stand_in.faults[f"/{WEIGHTS}"]


@pytest.mark.parametrize(
    ("fault", "kind", "sentence"),
    [
        (Fault(wrong=True), "checksum", "arrived twice with contents that are not those the hub speaks of"),
        (Fault(status=500), "network", "is out of order"),
        (Fault(status=429, headers={"Retry-After": "0"}), "network", "is asked too often from here"),
        (Fault(status=429, headers={"Retry-After": "86400"}), "network", "get the model again in 1440 min"),
        (Fault(status=404, headers={"X-Error-Code": "EntryNotFound"}), "not_found", "is not on the hub any more"),
        (Fault(status=404), "not_found", "or it is private"),
        (Fault(status=401), "not_found", "or it is private"),
        (Fault(status=403, headers={"X-Error-Code": "GatedRepo"}), "gated", "accepted its terms"),
        (Fault(status=418), "other", r"refuses to give tiny/llama-chat \(HTTP 418\)"),
        (Fault(cut=0), "network", "broke off; get the model again, it goes on"),
        (Fault(hang=True, cut=100), "network", "does not answer any more"),
        (Fault(body=b"<html>log in here</html>"), "checksum", "Something else comes in the place of"),
        (
            Fault(status=302, headers={"Location": "ftp://elsewhere/x"}),
            "network",
            "does not answer as a model hub does",
        ),
        (Fault(status=302, headers={"Location": f"/{WEIGHTS}"}), "network", "does not answer as a model hub does"),
    ],
)
def test_faults_that_stay_are_a_sentence(
    stand_in: StandIn, client: Client, fault: Fault, kind: str, sentence: str
) -> None:
    stand_in.faults[f"/{WEIGHTS}"] = [fault] * 60
    begun = client.begin()
    client.patience = IMPATIENT if fault.hang else QUICK
    with pytest.raises(HubFailure, match=sentence) as caught:
        client.download(begun)
    assert caught.value.kind == kind
    assert not begun.is_whole(begun.plan.files[-1])
    stand_in.faults.clear()
    client.patience = QUICK
    client.download(begun)  # and later, when the hub is well again
    assert_whole(stand_in, begun)


def test_a_pause_that_the_hub_asks_for_is_kept(stand_in: StandIn, client: Client) -> None:
    times: list[float] = []
    stand_in.before_file = lambda file: times.append(time.monotonic()) if file == WEIGHTS else None
    stand_in.faults[f"cdn/{REPO}/{commit_of(1)}/{WEIGHTS}"] = [Fault(status=429, headers={"Retry-After": "1"})]
    client.download(client.begin())
    assert times[1] - times[0] >= 1.0


def test_a_server_that_cannot_resume_is_read_from_the_beginning(stand_in: StandIn, client: Client) -> None:
    stand_in.ranges = False
    stand_in.faults[f"/{WEIGHTS}"] = [Fault(cut=250_000)]
    begun = client.begin()
    client.download(begun)
    assert_whole(stand_in, begun)


def test_a_file_that_changes_between_two_requests_is_read_anew(stand_in: StandIn, client: Client) -> None:
    files = stand_in.repos[REPO].commits[commit_of(1)]
    right = files[WEIGHTS]
    stand_in.faults[f"cdn/{REPO}/{commit_of(1)}/{WEIGHTS}"] = [Fault(cut=200_000)]
    begun = client.begin()
    asked = 0

    def change(file: str) -> None:
        nonlocal asked
        asked += file == WEIGHTS
        if file == WEIGHTS:  # others at first, then those of the commit
            files[WEIGHTS] = bytes(reversed(right)) if asked == 1 else right

    stand_in.before_file = change
    client.download(begun)
    assert_whole(stand_in, begun)
    ranges = [
        headers.get("If-Range") for path, headers in stand_in.asked if path.startswith("/cdn/") and WEIGHTS in path
    ]
    assert ranges[0] is None and ranges[1] is not None
    assert len(ranges) == 2  # told by the name of the contents at once, not by the checksum at the end


def test_the_revision_stays_while_the_repository_moves_on(stand_in: StandIn, client: Client) -> None:
    repo = stand_in.repos[REPO]
    stand_in.faults[f"/{WEIGHTS}"] = [Fault(cut=200_000)] + [Fault(status=503)] * 3
    begun = client.begin()
    with pytest.raises(HubFailure):
        client.download(begun)
    repo.commits[commit_of(2)] = {name: bytes(len(data)) for name, data in repo.commits[commit_of(1)].items()}
    repo.main = commit_of(2)
    client.download(begun)
    assert_whole(stand_in, begun, commit_of(1))


def test_a_revision_that_is_taken_back_is_a_sentence(stand_in: StandIn, client: Client) -> None:
    begun = client.begin()
    del stand_in.repos[REPO].commits[commit_of(1)]
    with pytest.raises(HubFailure, match=f"has no revision .*loquat models forget {REPO}") as caught:
        client.download(begun)
    assert caught.value.kind == "not_found"


@pytest.mark.parametrize("left", [b"", b"rubbish", bytes(600_000), bytes(5_000_000)], ids=len)
def test_what_a_dead_process_left_is_not_believed(stand_in: StandIn, client: Client, left: bytes) -> None:
    begun = client.begin()
    (begun.folder / f"{WEIGHTS}.part").write_bytes(left)
    client.download(begun)
    assert_whole(stand_in, begun)


def test_it_can_be_cancelled_at_any_moment(stand_in: StandIn, client: Client) -> None:
    stand_in.rate = 400_000
    begun, handle = client.begin(), RequestHandle("test")
    with client.hub() as hub, pytest.raises(Cancelled):
        for step in download(hub, begun, handle):
            if step.done > 100_000:
                handle.cancel()
    assert 100_000 < begun.done < begun.plan.nbytes
    stand_in.rate = 0
    client.download(begun)
    assert_whole(stand_in, begun)


def test_nobody_there_is_a_sentence(client: Client) -> None:
    client.stand_in.address = "http://127.0.0.1:9"
    with pytest.raises(HubFailure, match=r"no connection to 127\.0\.0\.1:9; check the network") as caught:
        client.begin()
    assert caught.value.kind == "network"


@pytest.mark.parametrize("address", ["ftp://x", "huggingface.co", "http://", "nonsense", "http:///x", "file:///etc"])
def test_an_address_that_is_none_is_a_sentence(client: Client, address: str) -> None:
    client.stand_in.address = address
    with pytest.raises(HubFailure, match="HF_ENDPOINT is no http address") as caught:
        client.begin()
    assert caught.value.kind == "network"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"id": 3, "sha": 4, "siblings": [7]}', b"[" * 100_000])
def test_an_answer_of_another_kind_is_a_sentence(stand_in: StandIn, client: Client, body: bytes) -> None:
    stand_in.faults["/revision/main"] = [Fault(body=body)]
    with pytest.raises(HubFailure, match="does not answer as a model hub does") as caught:
        client.begin()
    assert caught.value.kind == "network"


def test_the_rate_and_the_time_left_are_told(stand_in: StandIn, client: Client) -> None:
    stand_in.rate = 600_000
    steps = [step for step in client.download(client.begin()) if step.rate is not None]
    assert all(0 < (step.rate or 0) < 700_000 for step in steps), [step.rate for step in steps]
    assert steps[-1].left_s == 0
    assert "MB/s" in steps[0].sentence and steps[0].sentence.endswith(" left")


def test_the_rate_is_that_of_the_last_seconds() -> None:
    clock = iter((0.0, 0.2, 2.0, 11.0, 12.0))
    meter = Meter("Tiny", 10_000_000, lambda: next(clock))
    meter.begin(1_000_000)
    told = [meter.step(done) for done in (1_100_000, 3_000_000, 3_900_000, 4_900_000)]
    assert [step.rate for step in told] == [None, 1e6, 1e5, pytest.approx(1.9e5)]
    assert [step.left_s for step in told] == [None, 7.0, 61.0, pytest.approx(5_100_000 / 1.9e5)]
    assert told[1].sentence == "Downloading Tiny: 3 MB of 10 MB, 1.0 MB/s, 7 s left"


def test_a_full_disk_is_a_sentence(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, write, room = client.begin(), Partial.write, 200_000

    def until_full(partial: Partial, block: bytes) -> None:
        if partial.done > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(partial, block)

    monkeypatch.setattr(Partial, "write", until_full)
    with pytest.raises(DiskFull, match="The disk is full"), os_errors("get it", client.models_dir):
        client.download(begun)
    monkeypatch.undo()
    client.download(begun)
    assert_whole(client.stand_in, begun)


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"format": 99}', '{"format": 1, "files": 3}', "\0", "[" * 100_000]
)
def test_a_note_that_cannot_be_read_counts_as_none(client: Client, content: str) -> None:
    begun = client.begin()
    (begun.folder / "download.json").write_text(content)
    downloads = Downloads(client.models_dir)
    assert read_plan(begun.folder) is None
    assert downloads.find(begun.plan.reference) is None and downloads.entries() == []
    downloads.begin(begun.plan)
    assert [each.plan for each in downloads.entries()] == [begun.plan]


def test_only_one_process_downloads_the_same(client: Client) -> None:
    begun, entered, leave = client.begin(), threading.Event(), threading.Event()

    def hold() -> None:
        with Downloads(client.models_dir).alone(begun.plan.reference):
            entered.set()
            leave.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    wait_until(entered.is_set)
    with (
        pytest.raises(HubFailure, match="is being downloaded already"),
        Downloads(client.models_dir).alone(begun.plan.reference),
    ):
        pass
    leave.set()
    other.join()
    with Downloads(client.models_dir).alone(begun.plan.reference):
        pass
    shutil.rmtree(begun.folder)


def test_room_is_looked_for_first(stand_in: StandIn, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9, 64 * 1024 * 1024 + 400_000))
    with pytest.raises(DiskFull, match="too full to get llama-chat"):
        done(get(Registry(client.models_dir), client.hub, Wanted(REPO), RequestHandle("test")))
    assert not [path for path in stand_in.paths() if "/resolve/" in path]
    assert not list(Path(client.models_dir).iterdir())


def test_a_proxy_of_the_environment_is_used_and_no_token_goes_over_an_open_line(
    stand_in: StandIn, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", stand_in.address)
    client.token, client.kept = "hf_secret", "hf_secret"
    stand_in.address = "http://hub.invalid"
    begun = client.begin()
    assert begun.plan.revision == commit_of(1)
    assert stand_in.asked[-1][1]["Host"] == "hub.invalid"
    assert "Authorization" not in stand_in.asked[-1][1]


@pytest.mark.parametrize(
    ("proxy", "sentence"), [("gopher://x", "look at HTTPS_PROXY"), ("http://127.0.0.1:9", "proxy")]
)
def test_a_proxy_that_is_none_is_a_sentence(
    client: Client, monkeypatch: pytest.MonkeyPatch, proxy: str, sentence: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    client.stand_in.address = "http://hub.invalid"
    with pytest.raises(HubFailure, match=sentence) as caught:
        client.begin()
    assert caught.value.kind == "network"


def test_a_limit_told_in_the_hubs_own_header_is_kept(stand_in: StandIn, client: Client) -> None:
    limit = {"RateLimit": '"api";r=0;t=5000', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}
    stand_in.faults["/revision/main"] = [Fault(status=429, headers=limit)]
    with pytest.raises(HubFailure, match="get the model again in 83 min"):
        client.begin()


def test_a_password_in_the_address_is_sent_and_never_told(stand_in: StandIn, client: Client) -> None:
    stand_in.address = stand_in.address.replace("//", "//me:se%23cret@")
    stand_in.known_tokens = {"Basic bWU6c2UjY3JldA=="}
    with client.hub() as hub:
        assert hub.page(REPO) == f"{stand_in.address.replace('me:se%23cret@', '')}/{REPO}"
    client.begin()
    assert {stand_in.asked[-1][1]["Authorization"]} == stand_in.known_tokens
    stand_in.faults["/revision/main"] = [Fault(status=418)]
    with pytest.raises(HubFailure) as caught:
        client.begin()
    assert "127.0.0.1" in caught.value.detail and "cret" not in caught.value.sentence + caught.value.detail


@pytest.mark.parametrize("token", ["two words", "é", "a\nb", "x" * 501])
def test_a_token_that_cannot_be_one_is_a_sentence(client: Client, token: str) -> None:
    client.token = token
    with pytest.raises(HubFailure, match="That is no access token") as caught:
        client.begin()
    assert caught.value.kind == "token"
    client.token, client.kept = "", token  # by a window, which does not look at it
    client.stand_in.repos[REPO].private = True
    with pytest.raises(HubFailure, match="That is no access token") as caught:
        client.begin()
    assert caught.value.kind == "token"
