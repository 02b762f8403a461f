"""The window over the scripted program, and a document with every kind of block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.conductor import Conductor
from app.theme import Theme
from app.views.chat_view import ChatView
from app.views.main_window import MainWindow
from tests.app.conftest import World
from tests.app.fake_worker import Reply

DOCUMENT = """# A title

Those are the **two phases** of generation. *Prefill* reads `code` and
then more ~~gone~~ [link](https://example.org/a_b) text.

1. First **item**:
   ```python
   x = 1

   y = "🙂"  # two
   ```
   after
2. Second
   - nested *a*
   - nested b

   a paragraph in the second
10. tenth

- a
- b
* another list

> quote one
> - inner
>
> second

| a | b |
|:--|--:|
| 1 | **x** |
| 2 | `y` |

---

Setext
======

    indented code

```js
const a = `x`;
// ``` inside
```
The end <b>html</b> ![alt](http://x/y.png) 推理 🙂
1986
- [ ] task
"""


@pytest.fixture
def make_window(
    qtbot: Any, theme: Theme, make_world: Callable[..., World], ready_world: Callable[..., World]
) -> Callable[..., tuple[MainWindow, World]]:
    """`make_window(*replies, ready=True)`: the window, shown, over the scripted program."""

    def make(*replies: Reply, ready: bool = True, **values: Any) -> tuple[MainWindow, World]:
        world = (ready_world if ready else make_world)(*replies, **values)
        window = MainWindow(theme)
        world.conductor = Conductor(window, world.program(theme))
        qtbot.addWidget(window)
        window.resize(1200, 800)
        with qtbot.waitActive(window):
            window.show()
        return window, world

    return make


@pytest.fixture
def chat(qtbot: Any, theme: Theme) -> ChatView:
    """An empty conversation's view, shown."""
    view = ChatView(theme)
    qtbot.addWidget(view)
    view.resize(900, 600)
    with qtbot.waitActive(view):
        view.show()
    return view
