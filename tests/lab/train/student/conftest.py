from tests.lab.one_thread import one_thread

__all__ = ["one_thread"]
