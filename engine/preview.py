"""What a request would cost if it were sent now: tokenised and looked up in the caches, nothing computed."""

from __future__ import annotations

from engine.chat import ChatRequest
from engine.estimate import about_text, about_tokens
from engine.events import Previewed
from engine.loader import LoadedModel
from engine.turn import fit_to_context


def preview(model: LoadedModel, request: ChatRequest) -> Previewed:
    """Count the tokens of a request whose last message is a draft, and how many of them are held already.

    What is far too long for the context is not counted, but told about.

    Args:
        model: Who would answer. Its caches stay as they are.
        request: Its last message may be empty.

    Raises:
        BadRequest: The template refuses these messages.
    """
    fitted = fit_to_context(model, request)
    limit, draft = model.runner.context_limit, request.messages[-1].content
    about = about_tokens(fitted.messages, limit)
    draft_tokens = about_text(draft, limit) or len(model.prompt.text_ids(draft))
    if about:
        return Previewed(request.id, about, 0, draft_tokens, limit, fitted.left_out, about=True)
    ids = model.prompt.ids(fitted.messages, request.started_on)
    return Previewed(
        request.id,
        prompt_tokens=len(ids),
        cached_tokens=model.store.known(request.conversation_id, ids) if request.reuse else 0,
        draft_tokens=draft_tokens,
        context_limit=limit,
        left_out=fitted.left_out,
    )
