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
        argument: What may follow that word; empty for nothing.
    """

    id: str
    label: str
    group: str
    keys: str = ""
    slash: str = ""
    argument: str = ""


def actions() -> tuple[Action, ...]:
    """All of them, in the language in force."""
    return (*_chat_actions(), *_message_actions(), *_view_actions(), *_program_actions())


def _chat_actions() -> tuple[Action, ...]:
    group = translate("actions", "Chat")
    title, words = translate("actions", "title"), translate("actions", "words")
    return (
        Action("new_chat", translate("actions", "New chat"), group, "Ctrl+N", "new"),
        Action("search_chats", translate("actions", "Search all chats"), group, "Ctrl+Shift+F", "search", words),
        Action("find", translate("actions", "Find in this chat"), group, "Ctrl+F", "find", words),
        Action("rename_chat", translate("actions", "Rename this chat"), group, "", "rename", title),
        Action("pin_chat", translate("actions", "Pin or unpin this chat"), group, "", "pin"),
        Action("archive_chat", translate("actions", "Archive this chat"), group, "", "archive"),
        Action("delete_chat", translate("actions", "Delete this chat"), group, "", "delete"),
        Action("undo", translate("actions", "Undo the latest deletion"), group, "Ctrl+Z"),
        Action("chat_options", translate("actions", "Options of this chat…"), group, "Ctrl+Shift+O", "options"),
        Action("copy_chat", translate("actions", "Copy this chat as Markdown"), group, "", "copy"),
        Action("export_chat", translate("actions", "Export this chat…"), group, "", "export"),
        Action("export_all", translate("actions", "Export all chats…"), group),
        Action("import_chats", translate("actions", "Import chats…"), group, "", "import"),
        Action("check_chat", translate("actions", "Check that reuse changes no answer"), group, "", "check"),
        Action("next_chat", translate("actions", "Next chat in the list"), group, "Ctrl+PgDown"),
        Action("previous_chat", translate("actions", "Previous chat in the list"), group, "Ctrl+PgUp"),
    )


def _message_actions() -> tuple[Action, ...]:
    group = translate("actions", "Messages")
    return (
        Action("attach", translate("actions", "Attach files…"), group, "Ctrl+Shift+A", "attach"),
        Action("stop", translate("actions", "Stop the answer"), group),
        Action("regenerate", translate("actions", "Answer the last question once more"), group, "Ctrl+R", "regenerate"),
        Action("continue", translate("actions", "Continue the last answer"), group, "", "continue"),
        Action("copy_answer", translate("actions", "Copy the last answer"), group, "Ctrl+Shift+C"),
        Action("jump_to_end", translate("actions", "Jump to the latest message"), group, "Ctrl+End"),
    )


def _view_actions() -> tuple[Action, ...]:
    group = translate("actions", "View")
    return (
        Action("palette", translate("actions", "Find anything to do or open"), group, "Ctrl+K"),
        Action("toggle_sidebar", translate("actions", "Show or fold the sidebar"), group, "Ctrl+B"),
        Action("toggle_inspector", translate("actions", "Show or fold the inspector"), group, "F12", "why"),
        Action("explain", translate("actions", "Where the time went"), group),
        Action("compare_cache", translate("actions", "Compare with and without the cache"), group),
        Action("all_turns", translate("actions", "All turns…"), group),
        Action("export_turns", translate("actions", "Export figures of all turns (CSV)…"), group),
        Action("quick_ask", translate("actions", "Quick ask"), group, "Ctrl+Shift+Space"),
        Action("larger", translate("actions", "Larger text"), group, "Ctrl++"),
        Action("smaller", translate("actions", "Smaller text"), group, "Ctrl+-"),
        Action("theme", translate("actions", "Light or dark"), group, "", "theme"),
    )


def _program_actions() -> tuple[Action, ...]:
    group = translate("actions", "Loquat")
    return (
        Action("settings", translate("actions", "Settings"), group, "Ctrl+,", "settings"),
        Action("help", translate("actions", "Help"), group, "F1", "help"),
        Action("assistants", translate("actions", "Assistants…"), group, "", "assistants"),
        Action("models", translate("actions", "Models: get, import, rename, delete…"), group, "Ctrl+Shift+M", "models"),
        Action("previous_model", translate("actions", "Back to the previous model"), group, "Ctrl+Shift+B", "back"),
        Action("model_file", translate("actions", "Use a model file…"), group),
        Action("model_folder", translate("actions", "Use a model folder…"), group),
        Action("add_server", translate("actions", "Add a server…"), group),
        Action("serve", translate("actions", "Serve other programs…"), group),
        Action("quit", translate("actions", "Quit"), group, "Ctrl+Q"),
    )
