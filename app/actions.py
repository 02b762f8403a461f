"""Everything that can be done by key or by name, declared once: shortcuts, Ctrl+K and slash commands come from here."""

from __future__ import annotations

from dataclasses import dataclass

from app.i18n import translate


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do.

    Attributes:
        label: What it does, as the palette says it.
        group: The heading under which it stands there.
        keys: Its shortcut as `QKeySequence` reads it; empty for none.
        slash: The word after "/" in the composer; empty where it makes no sense there.
    """

    id: str
    label: str
    group: str
    keys: str = ""
    slash: str = ""


def actions() -> tuple[Action, ...]:
    """All of them, in the language in force."""
    return (*_chat_actions(), *_message_actions(), *_view_actions(), *_program_actions())


def _chat_actions() -> tuple[Action, ...]:
    group = translate("actions", "Chat")
    return (
        Action("new_chat", translate("actions", "New chat"), group, "Ctrl+N", "new"),
        Action("search_chats", translate("actions", "Search all chats"), group, "Ctrl+Shift+F", "search"),
        Action("check_chat", translate("actions", "Check that reuse changes no answer"), group, "", "check"),
        Action("delete_chat", translate("actions", "Delete this chat"), group, "", "delete"),
    )


def _message_actions() -> tuple[Action, ...]:
    group = translate("actions", "Messages")
    return (
        Action("stop", translate("actions", "Stop the answer"), group),
        Action("regenerate", translate("actions", "Answer the last question once more"), group, "Ctrl+R", "regenerate"),
        Action("jump_to_end", translate("actions", "Jump to the latest message"), group, "Ctrl+End"),
    )


def _view_actions() -> tuple[Action, ...]:
    group = translate("actions", "View")
    return (
        Action("toggle_sidebar", translate("actions", "Show or fold the sidebar"), group, "Ctrl+B"),
        Action("toggle_inspector", translate("actions", "Show or fold the inspector"), group, "F12", "why"),
    )


def _program_actions() -> tuple[Action, ...]:
    group = translate("actions", "Loquat")
    return (
        Action("settings", translate("actions", "Settings"), group, "Ctrl+,", "settings"),
        Action("model_file", translate("actions", "Use a model file…"), group),
        Action("model_folder", translate("actions", "Use a model folder…"), group),
        Action("quit", translate("actions", "Quit"), group, "Ctrl+Q"),
    )
