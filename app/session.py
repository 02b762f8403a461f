"""One conversation: takes what the person does and what the engine says, and tells what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.answer import Answer
from app.branch import Branch, Deleted
from app.draft import Draft
from app.i18n import translate
from app.live import LiveTurn
from app.records import Attachment, ChatOptions, Conversation, Status, StoredMessage, Version, title_from
from app.requests import Requests
from app.said import sound
from app.store import Store
from app.tree import MessageTree
from app.turn import Turn, TurnOptions
from engine.chat import ChatRequest, RequestHandle
from engine.events import Event


class Session(QObject):
    """One conversation.

    A reply that streams is part of `messages()` with the text shown so far; `text_appended` brings the rest. After
    Stop, `message_finished` comes at once with what is there, and once more when the engine has sent the figures.

    Args:
        tree: All its messages, from the store; empty for a new conversation.
        stored: Whether the conversation is in the store already; a new one is stored with its first question.
        ask: Hands a request to the engine.
        options: The settings and the model of this moment, with what a conversation does otherwise.
    """

    message_added = Signal(object)  # StoredMessage; a reply comes without text, which follows in text_appended
    message_resumed = Signal(object)  # StoredMessage: a reply that was finished grows again by text_appended
    text_appended = Signal(str, str)  # message id, text
    message_finished = Signal(object)  # StoredMessage
    turn_changed = Signal(object)  # LiveTurn
    thread_changed = Signal()  # messages() is another branch now: draw it afresh
    conversation_changed = Signal(object)  # Conversation: stored for the first time, asked again, or other options
    queue_changed = Signal(str)  # the message that waits for the answer in progress, in words; "" when none does
    queue_returned = Signal(object)  # Draft: the message that waited is not sent, and belongs into the composer
    failed = Signal(str, str)  # sentence, detail: the question has no answer, `retry` asks again
    refused = Signal(str)  # sentence: nothing was done
    turn_ended = Signal(bool)  # whether it ended well; a message that waited for it is on its way by then
    left_out = Signal(int)  # so many of the oldest messages did not fit the context and were not read
    traced = Signal(str, object)  # message id, TurnTrace: how a reply was made

    def __init__(
        self,
        conversation: Conversation,
        tree: MessageTree,
        store: Store,
        ask: Callable[[ChatRequest], RequestHandle],
        options: Callable[[Conversation], TurnOptions],
        *,
        stored: bool = True,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._stored = stored
        self._queued: Draft | None = None
        self._branch = Branch(conversation.id, tree, store)
        self.requests = Requests(conversation, self._branch, options, prompt_chosen=stored)
        self._answer = Answer(self._branch, self.requests, store, ask, self)
        self._answer.message_added.connect(self.message_added)
        self._answer.message_resumed.connect(self.message_resumed)
        self._answer.text_appended.connect(self.text_appended)
        self._answer.message_finished.connect(self.message_finished)
        self._answer.turn_changed.connect(self.turn_changed)
        self._answer.thread_changed.connect(self.thread_changed)
        self._answer.ended.connect(self._turn_ended)
        self._answer.failed.connect(self.failed)
        self._answer.left_out.connect(self.left_out)
        self._answer.traced.connect(self.traced)

    @property
    def conversation(self) -> Conversation:
        """Title, times, system prompt and options."""
        return self.requests.conversation

    @conversation.setter
    def conversation(self, value: Conversation) -> None:
        self.requests.conversation = value

    @property
    def stored(self) -> bool:
        """Whether it has been saved, that is, whether anything was asked."""
        return self._stored

    @property
    def busy(self) -> bool:
        """Whether a question waits or is being answered."""
        return self._answer.busy

    @property
    def turn(self) -> Turn | None:
        """The turn in progress."""
        return self._answer.turn

    @property
    def live(self) -> LiveTurn:
        """The turn in progress, or the figures of the last one."""
        return self._answer.live

    @property
    def writing(self) -> str:
        """The id of the reply that is being written; empty while none is."""
        return self._answer.writing

    @property
    def queued_message(self) -> Draft | None:
        """The message that waits for the answer in progress, whole."""
        return self._queued

    @property
    def queued(self) -> str:
        """The message that waits for the answer in progress, in words; empty if none does."""
        return "" if self._queued is None else self._queued.words

    @property
    def left_out_count(self) -> int:
        """How many messages at the beginning of the branch were not read for the last answer that is complete."""
        return self._answer.left_out_count

    def messages(self) -> tuple[StoredMessage, ...]:
        """The branch that is shown; a reply that streams with the text shown so far."""
        return self._branch.messages

    def up_to(self, message_id: str) -> tuple[StoredMessage, ...]:
        """The messages shown to this one, with it; none if it is not shown."""
        return self._branch.up_to(message_id)

    def versions(self) -> dict[str, Version]:
        """Of the messages shown, those that have more than one version, by id."""
        return self._branch.versions

    # -- what the person does ----------------------------------------------------------------------------------

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> bool:
        """Ask a question, or let it wait for the answer in progress; whether it was taken.

        If not, `refused` says why and the text should stay in the composer.
        """
        submitted_at = time.perf_counter()
        question = Draft(text, tuple(attachments))
        if not self._says_something(question):
            return False
        if self.busy:
            return self._queue(question)
        self._add_question(question)
        self._answer.begin(submitted_at)
        return True

    def take_back_queued(self) -> str:
        """Do not send the message that waits; its words. `queue_returned` brings it whole."""
        words = self.queued
        self._return_queued()
        return words

    def edit(self, question_id: str, question: Draft) -> bool:
        """Ask a question in other words; whether it was taken. What was said before stays beside it as a version."""
        submitted_at = time.perf_counter()
        at = self._branch.index(question_id)
        if at is None or not self._says_something(question) or not self._may_change():
            return False
        self._cut(at)
        self._branch.settle()  # the new question stays whatever becomes of its answer
        self._add_question(question)
        self._answer.begin(submitted_at)
        return True

    def regenerate(self, reply_id: str) -> bool:
        """Answer a question once more; whether it began. The answer that was there stays beside it as a version."""
        submitted_at = time.perf_counter()
        at = self._branch.index(reply_id)
        if at is None or not self._may_change():
            return False
        self._cut(at)
        self._asked_again()
        self._answer.begin(submitted_at)
        return True

    def continue_reply(self, reply_id: str) -> bool:
        """Go on with the last answer, in its place; whether it began."""
        submitted_at = time.perf_counter()
        at = self._branch.index(reply_id)
        if at is None or not self._may_change():
            return False
        reply = self._branch.messages[at]
        if reply.role != "assistant" or self._branch.followed(reply_id):
            self.refused.emit(translate("session", "Only the last answer of a chat can be continued."))
            return False
        self._answer.begin(submitted_at, reply)
        return True

    def delete_message(self, message_id: str) -> Deleted | None:
        """Delete a message and all that follows it, and show its nearest version; None if it cannot be."""
        if self._branch.index(message_id) is None or not self._may_change():
            return None
        deleted = self._branch.delete(message_id)
        self._branch_changed()
        return deleted

    def undelete(self, deleted: Deleted) -> bool:
        """Undo `delete_message`; whether it was done."""
        if not self._may_change():
            return False
        self._branch.undelete(deleted)
        self._branch_changed()
        return True

    def show_version(self, message_id: str, step: int) -> bool:
        """Show the version of a message so many steps on, with what follows it; whether there is one."""
        wanted = self._branch.step(message_id, step)
        if wanted is None or not self._may_change():
            return False
        self._branch.show(wanted)
        self._branch_changed()
        return True

    def show_message(self, message_id: str) -> bool:
        """Show the branch that holds a message; whether it is on view now."""
        if self._branch.index(message_id) is not None:
            return True
        if self._branch.get(message_id) is None or not self._may_change():
            return False
        self._branch.show(message_id)
        self._branch_changed()
        return True

    def retry(self) -> None:
        """Do once more what failed; a reply that is not complete stays in the tree, beside a new one."""
        submitted_at = time.perf_counter()
        last = self._branch.last("user")
        if self.busy or last is None:
            return
        if self._answer.unfinished and self.continue_reply(self._answer.unfinished):
            return
        after = len(self._branch.up_to(last.id))
        if after < len(self._branch.messages):
            self._cut(after)
        self._asked_again()
        self._answer.begin(submitted_at)

    def stop(self, status: Status = "cancelled") -> None:
        """End the turn now, whatever it does; what was said stays, and a message that waits goes back."""
        self._answer.stop(status)

    def set_options(self, options: ChatOptions, system_prompt: str | None = None) -> None:
        """Change what this conversation does otherwise than the settings say, from the next question on.

        Args:
            options: In place of those of now.
            system_prompt: None leaves it as it is.
        """
        prompt = self.requests.system_prompt if system_prompt is None else sound(system_prompt)
        self.conversation = replace(self.conversation, options=options, system_prompt=prompt)
        self.requests.prompt_chosen = True
        if self._stored:
            self._store.set_options(self.conversation.id, options, prompt)
        self.conversation_changed.emit(self.conversation)

    # -- what the program says ---------------------------------------------------------------------------------

    def model_ready(self) -> None:
        """Send the question that waits for the model, if there is one."""
        self._answer.model_ready()

    def save_partial(self) -> None:
        """Save the reply as far as it has come."""
        self._answer.save_partial()

    def apply(self, event: Event) -> None:
        """Take an event of the engine; one of a turn that is over is dropped."""
        self._answer.apply(event)

    def _turn_ended(self, well: bool) -> None:
        queued = self._queued
        if not well:
            self._return_queued()
        elif queued is not None:
            self._set_queued(None)
            self.send(queued.text, queued.attachments)
        self.turn_ended.emit(well)

    def _says_something(self, question: Draft) -> bool:
        if not question:
            self.refused.emit(translate("session", "There is nothing to send yet. Please type a question."))
        return bool(question)

    def _may_change(self) -> bool:
        if self.busy:
            sentence = translate("session", "The answer is still being written. Please wait for it, or press Stop.")
            self.refused.emit(sentence)
        return not self.busy

    def _queue(self, question: Draft) -> bool:
        if self._queued is not None:
            sentence = translate("session", "One message waits already. Please press Edit beside it, or wait.")
            self.refused.emit(sentence)
            return False
        self._set_queued(question)
        return True

    def _set_queued(self, question: Draft | None) -> None:
        self._queued = question
        self.queue_changed.emit(self.queued)

    def _return_queued(self) -> None:
        """Give a message that waits back to the composer."""
        queued = self._queued
        if queued is not None:
            self._set_queued(None)
            self.queue_returned.emit(queued)

    def _cut(self, at: int) -> None:
        """Show the branch only as far as the message with this index, which something new takes the place of."""
        self._branch.cut(at)
        self.thread_changed.emit()

    def _asked_again(self) -> None:
        """Put the conversation where its new answer belongs: above those that were asked before."""
        self.conversation = self._asked_at(time.time())
        self._store.set_asked(self.conversation.id, self.conversation.updated_at)
        self.conversation_changed.emit(self.conversation)

    def _asked_at(self, moment: float) -> Conversation:
        return replace(self.conversation, updated_at=max(self.conversation.updated_at, moment))

    def _branch_changed(self) -> None:
        self.thread_changed.emit()
        self._answer.show_last_figures()

    def _add_question(self, draft: Draft) -> None:
        question = self.requests.question(draft, self._branch.leaf_id)
        if self._stored:
            changed = self._asked_at(question.created_at)
            self._store.add_message(question)
        else:
            changed = self._begun(draft)
            self._store.add_conversation(changed, question)
            self._stored = self.requests.prompt_chosen = True
        self.conversation = changed
        self._branch.add(question)
        self.message_added.emit(question)
        self.conversation_changed.emit(changed)

    def _begun(self, draft: Draft) -> Conversation:
        """The conversation as it is stored for the first time."""
        now, kept = Conversation(), self.conversation
        return replace(
            now,
            id=kept.id,
            title=kept.title or title_from(sound(draft.words)),
            system_prompt=self.requests.system_prompt,
            options=kept.options,
        )
