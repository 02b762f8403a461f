"""What the person puts away: chats into the archive, chats and messages into the trash, each with a way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from app import chat_words
from app.i18n import translate
from app.library import Library
from app.live import Notice
from app.records import Conversation
from app.session import Session
from app.sessions import Sessions
from app.trash import Thing, Trash


class Removal(QObject):
    """Removes, and offers in a notice to undo that.

    Args:
        library: Where conversations stand.
        sessions: Those in use.
        trash: What can still be brought back.
    """

    notice = Signal(object)  # Notice
    removed = Signal(str)  # conversation id: it is not in the list any more
    returned = Signal(str)  # conversation id: it has something back that belongs on view

    def __init__(self, library: Library, sessions: Sessions, trash: Trash, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self._sessions = sessions
        self._trash = trash

    def archive(self, conversation_id: str, archived: bool) -> None:
        """Put a conversation out of the list, or back into it. An answer that is being written goes on."""
        conversation = self._library.get(conversation_id)
        if conversation is None:
            return
        self._library.archive(conversation_id, archived)
        if archived:
            self.removed.emit(conversation_id)
            sentence = translate("removal", "Archived “{title}”.").format(title=conversation.title)
            self._offer_undo(sentence, partial(self.archive, conversation_id, False))

    def delete(self, conversation_id: str) -> None:
        """Take a conversation out of the list, and stop what it is doing."""
        session = self._sessions.get(conversation_id)
        if session is not None:
            session.stop()
        conversation = self._library.delete(conversation_id)
        if conversation is None:
            return
        self._trash.put(conversation)
        self.removed.emit(conversation_id)
        sentence = translate("removal", "Deleted “{title}”.").format(title=conversation.title)
        self._offer_undo(sentence, partial(self._undelete, conversation, sentence))

    def delete_message(self, session: Session, message_id: str) -> None:
        """Delete a message and all that follows it."""
        deleted = session.delete_message(message_id)
        if deleted is not None:
            self._trash.put(deleted)
            sentence = chat_words.deleted(len(deleted.ids))
            self._offer_undo(sentence, partial(self._undelete, deleted, sentence))

    def _undelete(self, thing: Thing, sentence: str) -> None:
        if not self._trash.holds(thing):
            gone = translate("removal", "What was deleted can no longer be brought back.")
            self.notice.emit(Notice(gone))
        elif self._brought_back(thing):
            self._trash.take(thing)
        else:  # the chat is busy, and has said so
            self._offer_undo(sentence, partial(self._undelete, thing, sentence))

    def _brought_back(self, thing: Thing) -> bool:
        if isinstance(thing, Conversation):
            self._library.undelete(thing)
            self.returned.emit(thing.id)
            return True
        self.returned.emit(thing.conversation_id)
        session = self._sessions.get(thing.conversation_id)
        return session is not None and session.undelete(thing)

    def _offer_undo(self, sentence: str, action: Callable[[], None]) -> None:
        self.notice.emit(Notice(sentence, "", translate("removal", "Undo"), action, lapses=True, undoes=True))
