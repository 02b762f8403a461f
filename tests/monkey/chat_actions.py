"""What is done at random to conversations and their messages; nothing where there is none."""

from __future__ import annotations

from app.draft import Draft
from app.records import Attachment, ChatOptions
from tests.monkey.scene import Scene


def send(scene: Scene) -> None:
    if session := scene.chats.current:
        attached = (Attachment("a.txt", "x"),) if scene.random.random() < 0.2 else ()
        session.send(scene.random.choice(("hi", "q " * 50, "\ud83d x", "  ")), attached)


def open_one(scene: Scene) -> None:
    if chat := scene.any_chat():
        scene.chats.open(chat.id)


def delete(scene: Scene) -> None:
    if chat := scene.any_chat():
        scene.chats.delete(chat.id)


def archive(scene: Scene) -> None:
    if chat := scene.any_chat():
        scene.chats.archive(chat.id, scene.random.random() < 0.5)


def pin(scene: Scene) -> None:
    if chat := scene.any_chat():
        scene.chats.library.pin(chat.id, scene.random.random() < 0.5)


def rename(scene: Scene) -> None:
    if chat := scene.any_chat():
        scene.chats.rename(chat.id, scene.random.choice(("n", "", "\ud800")))


def move(scene: Scene) -> None:
    if chat := scene.any_chat():
        folders = [folder.id for folder in scene.chats.folders()]
        scene.chats.library.move(chat.id, scene.random.choice([*folders, None]))


def delete_folder(scene: Scene) -> None:
    if folders := scene.chats.folders():
        scene.chats.library.delete_folder(scene.random.choice(folders).id)


def regenerate(scene: Scene) -> None:
    if message := scene.any_message("assistant"):
        scene.desktop.conductor.shown.regenerate(message.id)


def edit(scene: Scene) -> None:
    message, session = scene.any_message("user"), scene.chats.current
    if message and session:
        session.edit(message.id, Draft("edited"))


def version(scene: Scene) -> None:
    message, session = scene.any_message(), scene.chats.current
    if message and session:
        session.show_version(message.id, scene.random.choice((-1, 1)))


def delete_message(scene: Scene) -> None:
    if message := scene.any_message():
        scene.chats.delete_message(message.id)


def fork(scene: Scene) -> None:
    if message := scene.any_message():
        scene.chats.fork(message.id)


def take_back(scene: Scene) -> None:
    if session := scene.chats.current:
        session.take_back_queued()


def set_options(scene: Scene) -> None:
    if session := scene.chats.current:
        options = ChatOptions("", {"temperature": scene.random.random()})
        session.set_options(options, scene.random.choice((None, "sys", "\udc00")))


def stop(scene: Scene) -> None:
    if session := scene.chats.current:
        session.stop()
