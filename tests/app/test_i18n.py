"""The language of the window: chosen, changed, and the engine's sentences in it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app import engine_sentences
from app.i18n import (
    TRANSLATIONS,
    as_one_text,
    best_language,
    install,
    labelled,
    language_in_force,
    mark,
    translate,
    translate_marked,
)


@pytest.fixture(autouse=True)
def _english_again(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    yield
    install(qapp, "en")
    QLocale.setDefault(before)


def test_a_language_is_installed_in_place_of_the_one_before(qapp: QApplication) -> None:
    assert install(qapp, "zh_CN") == "zh_CN"
    assert translate("settings_dialog", "Search the settings") == "搜索设置"
    assert language_in_force() == "zh_CN"
    QCoreApplication.sendPostedEvents(None, 52)  # DeferredDelete
    first = qapp.findChildren(QTranslator)
    assert install(qapp, "en") == "en"
    assert translate("settings_dialog", "Search the settings") == "Search the settings"
    assert language_in_force() == "en"
    install(qapp, "zh_CN")
    QCoreApplication.sendPostedEvents(None, 52)  # DeferredDelete
    assert len(qapp.findChildren(QTranslator)) == len(first), "none is left behind"


def test_qts_own_words_follow_where_they_are_installed(qapp: QApplication) -> None:
    install(qapp, "zh_CN")
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"


def test_an_unknown_language_is_refused(qapp: QApplication) -> None:
    with pytest.raises(ValueError, match="must be one of system, en, zh_CN, not de"):
        install(qapp, "de")


@pytest.mark.parametrize(
    ("wanted", "spoken"),
    [
        (["zh-Hans-CN", "en"], "zh_CN"),
        (["zh_TW"], "zh_CN"),
        (["de-DE", "zh-CN", "en-US"], "zh_CN"),
        (["de-DE", "en-US", "zh-CN"], "en"),
        (["C"], "en"),
        ([], "en"),
    ],
)
def test_the_system_language_is_the_first_that_loquat_speaks(wanted: list[str], spoken: str) -> None:
    assert best_language(wanted) == spoken


def test_what_has_no_translation_stays_and_what_is_marked_is_translated_when_shown(qapp: QApplication) -> None:
    install(qapp, "zh_CN")
    assert translate("composer", "Never said {x}") == "Never said {x}"
    assert mark("declarations", "Theme") == "Theme"
    assert translate_marked("declarations", "Theme") == "主题"
    assert translate_marked("declarations", "") == "", "Qt would answer with the file's header"


def test_sentences_follow_each_other_as_the_language_has_it(qapp: QApplication) -> None:
    assert as_one_text(["First.", "", "Second."]) == "First. Second."
    install(qapp, "zh_CN")
    assert as_one_text(["一。", "", "二。"]) == "一。二。"


def test_a_number_has_the_separators_of_every_other_number(qapp: QApplication) -> None:
    install(qapp, "en")
    assert translate("turn_page", "%Ln tokens", 1) == "1 token"
    assert translate("turn_page", "%Ln tokens", 1240) == "1,240 tokens"
    install(qapp, "zh_CN")
    assert translate("turn_page", "%Ln tokens", 1240) == "1,240 个词元"


def test_a_label_has_the_colon_of_the_language(qapp: QApplication) -> None:
    assert labelled("Question", "Why?") == "Question: Why?"
    install(qapp, "zh_CN")
    assert labelled("问题", "为什么？") == "问题：为什么？"


ENGINE = [
    ("There is no file or folder /a/b.gguf.", "没有文件或文件夹 /a/b.gguf。"),
    ("Downloading SmolLM2: 12 MB of 88 MB", "正在下载 SmolLM2：12 MB，共 88 MB"),
    ("Downloading SmolLM2: 12 MB", "正在下载 SmolLM2：12 MB"),
    ("2 threads · no CUDA device found", "2 个线程 · 未发现 CUDA 设备"),
    (
        "The file x.gguf is damaged or incomplete (it ends too early); get it again.",
        "文件 x.gguf 已损坏或不完整（文件过早结束）；请重新获取。",
    ),
    (
        "The server Lab refuses the request (error 400): it does not say why.",
        "服务器 Lab 拒绝了请求（错误 400）：没有说明原因。",
    ),
    (
        "The server began to answer after 1.2 s and wrote for 340 ms.",
        "服务器等了 1.2 秒才开始回答，回答用时 340 毫秒。",
    ),
    ("Port 8000 is taken by another program; choose another port.", "端口 8000 已被其他程序占用；请选择其他端口。"),
    (
        "There is no room for a context of 8,192 tokens (float32) with smollm2 in the 1.0 GiB that Loquat may use"
        " (50 % of 7.8 GiB, as set); the largest that fits is a context of 4,096 tokens (int8).",
        "在 Loquat 可用的 1.0 GiB（7.8 GiB 的 50 %，按设置）中，smollm2 没有空间容纳 8,192 个词元的上下文（float32）；"
        "能容纳的最大配置是 4,096 个词元的上下文（int8）。",
    ),
    ("Something that the engine never says.", "Something that the engine never says."),
]


@pytest.mark.parametrize(("english", "chinese"), ENGINE)
def test_a_sentence_of_the_engine_is_said_in_the_language_in_force(
    qapp: QApplication, english: str, chinese: str
) -> None:
    assert engine_sentences.translated(english) == english
    install(qapp, "zh_CN")
    assert engine_sentences.translated(english) == chinese


def test_every_template_of_the_engine_finds_itself(qapp: QApplication) -> None:
    """With values in it, each sentence is matched by its own template and by no shorter one, and keeps its values."""
    install(qapp, "zh_CN")
    for template in engine_sentences._templates():
        values = [f"⟨{i}⟩" for i in range(10)]
        said = engine_sentences.translated(template.text.format(*values))
        wanted = _chinese(template.text).format(*values)
        assert said == wanted, template.text


def _chinese(source: str) -> str:
    root = ET.parse(Path(TRANSLATIONS) / "loquat_zh_CN.ts").getroot()  # noqa: S314 - the project's own file
    found = [m.findtext("translation") for m in root.iter("message") if m.findtext("source") == source]
    return found[0] or source
