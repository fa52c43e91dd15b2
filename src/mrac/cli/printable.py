"""Text of files and names made safe to print: a terminal obeys control characters that stand in a file's name."""


def printable(text: object) -> str:
    r"""The text with control characters and other unprintable ones as `\x1b`, `\u202e`; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in str(text))
