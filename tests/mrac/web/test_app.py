import asyncio
from contextlib import suppress

from starlette.types import Message, Receive, Scope, Send

from mrac.web.app import Settings, _Loading


def test_a_cancelled_request_does_not_cancel_the_loading_for_all() -> None:
    loading = _Loading(Settings())
    served: list[str] = []

    async def api(scope: Scope, receive: Receive, send: Send) -> None:
        served.append(scope["path"])

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    async def requests() -> None:
        first, second = (asyncio.create_task(loading({"path": path}, receive, send)) for path in ("first", "second"))
        await asyncio.wait([first], timeout=0)
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        loading._made.set_result(api)
        await second

    asyncio.run(requests())
    assert served == ["second"]
