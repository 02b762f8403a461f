"""All that is done at random, by name: to chats, their messages, the window, its dialogs, models; keys and clicks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.monkey import chat_actions, hands, program_actions
from tests.monkey.scene import Scene


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done.

    Attributes:
        run: Does it.
        weight: How often it is done, compared with the others.
    """

    run: Callable[[Scene], object]
    weight: float = 1.0


ACTIONS: dict[str, Action] = {
    "send": Action(chat_actions.send),
    "new chat": Action(lambda scene: scene.desktop.conductor.new_chat()),
    "open": Action(chat_actions.open_one),
    "delete": Action(chat_actions.delete, 0.3),
    "archive": Action(chat_actions.archive),
    "pin": Action(chat_actions.pin),
    "rename": Action(chat_actions.rename),
    "add a folder": Action(lambda scene: scene.chats.library.add_folder(scene.random.choice("ABC"))),
    "move": Action(chat_actions.move),
    "delete a folder": Action(chat_actions.delete_folder, 0.3),
    "do what a notice offers": Action(program_actions.take_offer),
    "stop": Action(chat_actions.stop),
    "regenerate": Action(chat_actions.regenerate),
    "regenerate the last": Action(lambda scene: scene.desktop.conductor.shown.regenerate_last()),
    "continue": Action(lambda scene: scene.desktop.conductor.shown.continue_last()),
    "edit": Action(chat_actions.edit),
    "version": Action(chat_actions.version),
    "delete a message": Action(chat_actions.delete_message),
    "fork": Action(chat_actions.fork),
    "take back": Action(chat_actions.take_back),
    "chat options": Action(chat_actions.set_options),
    "retry": Action(lambda scene: scene.chats.retry()),
    "save": Action(lambda scene: scene.chats.save_now()),
    "export": Action(program_actions.export),
    "import": Action(program_actions.import_chats),
    "restart": Action(Scene.restart, 0.15),
    "setting": Action(program_actions.setting),
    "assistant": Action(program_actions.assistant),
    "ask quickly": Action(lambda scene: scene.desktop.presence.quick.asked.emit("quick?")),
    "small window": Action(lambda scene: scene.desktop.presence.toggle_quick_ask()),
    "open the quick chat": Action(lambda scene: scene.desktop.presence.quick.opened.emit()),
    "inspector": Action(program_actions.inspect),
    "table of turns": Action(lambda scene: scene.desktop.conductor.inspection.show_table(), 0.2),
    "search": Action(program_actions.search),
    "find": Action(lambda scene: scene.desktop.window.chat.show_find()),
    "load a model": Action(lambda scene: scene.chats.load_model(scene.random.choice((None, "other")))),
    "cancel the load": Action(lambda scene: scene.chats.cancel_load()),
    "back to the model before": Action(lambda scene: scene.chats.back_to_previous_model()),
    "check": Action(lambda scene: scene.chats.check_current()),
    "compare": Action(lambda scene: scene.desktop.conductor.inspection.compare()),
    "remove a model": Action(lambda scene: scene.chats.models.remove("scripted"), 0.1),
    "get a model": Action(program_actions.get_model, 0.3),
    "pause a model": Action(lambda scene: scene.desktop.shelf.queue.pause("m")),
    "cancel a model": Action(lambda scene: scene.desktop.shelf.queue.cancel("m")),
    "resume a model": Action(lambda scene: scene.desktop.shelf.resume("m")),
    "search for models": Action(lambda scene: scene.desktop.shelf.search("x"), 0.2),
    "add a model": Action(program_actions.add_model, 0.3),
    "models": Action(lambda scene: scene.desktop.conductor.providing.show_dialog(), 0.3),
    "settings": Action(lambda scene: scene.desktop.conductor.dialogs.show_settings(), 0.3),
    "help": Action(lambda scene: scene.desktop.conductor.dialogs.show_help(), 0.1),
    "assistants": Action(lambda scene: scene.desktop.conductor.assisting.show_assistants(), 0.3),
    "options": Action(lambda scene: scene.desktop.conductor.assisting.show_options(), 0.3),
    "servers": Action(lambda scene: scene.desktop.conductor.connecting.show_dialog(), 0.3),
    "serving": Action(lambda scene: scene.desktop.conductor.dialogs.show_serving(), 0.3),
    "link": Action(lambda scene: scene.desktop.conductor.dialogs.show_link("https://example.org"), 0.3),
    "type": Action(hands.type_text),
    "send button": Action(lambda scene: scene.desktop.window.composer.button.click()),
    "attach": Action(hands.attach),
    "press a key": Action(hands.press_key, 3.0),
    "click": Action(hands.click_anything, 2.0),
    "resize": Action(hands.resize),
}
