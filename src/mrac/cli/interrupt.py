"""Ends a command within a second of Ctrl-C or SIGTERM, whatever it is doing, with one line.

Python runs a handler only between two of its own instructions, which a compiled kernel or a network may keep it from
for seconds, and on its way out it waits for every thread and worker. So a thread of its own waits for the signal, gives
the command half a second to end by itself, and then ends the process. What was being written is under another name
(`mrac.io.files.write_whole`): a later run removes it.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

_GRACE_S: Final = 0.5
_ended = threading.Lock()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within it, Ctrl-C and SIGTERM end this process; elsewhere than in the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)  # the handler in C must never wait
    before = [(number, signal.signal(number, _interrupt)) for number in (signal.SIGINT, signal.SIGTERM)]
    before_fd = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(receiver,), daemon=True, name="mrac-signals").start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before_fd)
        for number, handler in before:
            signal.signal(number, handler)
        sender.close()  # by which the thread ends


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _wait(receiver: socket.socket) -> None:
    with receiver:
        while number := receiver.recv(1):
            if number[0] in (signal.SIGINT, signal.SIGTERM):
                threading.Event().wait(_GRACE_S)
                end(number[0])


def end(number: int) -> NoReturn:
    """Says that the command was stopped, once, and ends the process at once: 130 for Ctrl-C, 143 for SIGTERM."""
    with _ended:  # never released: whoever comes second waits for the end
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):  # closed, or a pipe that nobody reads
                continue
        try:
            os.write(2, b"mrac: stopped\n")
        finally:
            os._exit(128 + number)
