"""What a conversation asks of the engine: requests made of its branch, its options and the settings of the moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.branch import Branch
from app.draft import Draft
from app.records import Conversation, StoredMessage, new_id
from app.said import sound, sound_file
from app.sampling import varied
from app.turn import Turn, TurnOptions, count_left_out, prompt_messages
from engine.chat import ChatRequest, Message


class Requests:
    """Makes the requests of one conversation.

    Attributes:
        conversation: As it is now.
        prompt_chosen: Whether its system prompt is decided; a new chat takes that of the settings when it begins.

    Args:
        branch: The messages that are shown.
        options: The settings and the model of this moment, with what the conversation does otherwise.
    """

    def __init__(
        self,
        conversation: Conversation,
        branch: Branch,
        options: Callable[[Conversation], TurnOptions],
        *,
        prompt_chosen: bool,
    ) -> None:
        self.conversation = conversation
        self.prompt_chosen = prompt_chosen
        self._branch = branch
        self._options = options

    def options(self) -> TurnOptions:
        """The settings and the model of this moment."""
        return self._options(self.conversation)

    @property
    def system_prompt(self) -> str:
        """What the model is told first."""
        return self.conversation.system_prompt if self.prompt_chosen else self.options().system_prompt

    def question(self, draft: Draft, parent_id: str | None = None) -> StoredMessage:
        """A question as it is kept."""
        files = tuple(sound_file(attachment) for attachment in draft.attachments)
        return StoredMessage(self.conversation.id, "user", sound(draft.text), parent_id=parent_id, attachments=files)

    def of_turn(self, turn: Turn) -> ChatRequest:
        """What is asked with a turn, from now on with the model of this moment."""
        options = self.options()
        turn.begin(options.model, options.end_ids)
        messages = self._messages(self._branch.messages, turn.model)
        if turn.begun is not None:
            messages = (*messages[:-1], replace(messages[-1], token_ids=turn.base_ids))
        request = self._request(turn.request_id, messages, turn.submitted_at)
        again = turn.begun is None and self._branch.followed(turn.parent_id)
        params = varied(request.params) if again and options.varies else request.params
        return replace(request, params=params, continue_reply=turn.begun is not None)

    def draft(self, draft: Draft) -> ChatRequest:
        """What a question would ask, while it is still being written."""
        return self._unsent(self._branch.messages, draft)

    def edit(self, question_id: str, draft: Draft) -> ChatRequest | None:
        """What a question would ask in other words; None if it is not shown."""
        messages = self._branch.up_to(question_id)
        return self._unsent(messages[:-1], draft) if messages else None

    def prompt(self) -> tuple[Message, ...]:
        """What was said so far."""
        return self._messages(self._branch.messages, self.options().model)

    def whole(self) -> ChatRequest:
        """All that was said so far, for work that nobody waits for."""
        return self._request(new_id(), self.prompt(), time.perf_counter())

    def unread(self, left_out: Sequence[int]) -> int:
        """How many messages of the branch those of a request are that have these indices."""
        return count_left_out(self.conversation.system_prompt, self._branch.messages, left_out)

    def _unsent(self, before: Sequence[StoredMessage], draft: Draft) -> ChatRequest:
        asked = self.question(draft)
        messages = self._messages([*before, asked], self.options().model)
        return self._request(asked.id, messages, time.perf_counter())

    def _messages(self, thread: Sequence[StoredMessage], model: str) -> tuple[Message, ...]:
        return prompt_messages(self.system_prompt, thread, model)

    def _request(self, request_id: str, messages: tuple[Message, ...], submitted_at: float) -> ChatRequest:
        options = self.options()
        return ChatRequest(
            id=request_id,
            messages=messages,
            params=options.params,
            conversation_id=self.conversation.id,
            started_on=self.conversation.started_on,
            overflow=options.overflow,
            submitted_at=submitted_at,
        )
