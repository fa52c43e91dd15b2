"""The page /docs: an OpenAPI description as one HTML page, without scripts and without a request to anywhere."""

from html import escape
from typing import Any, Final

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--panel:#f6f8fa;--line:#d0d7de;--accent:#0a5db5}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4ae;--paper:#0d1117;--panel:#161b22;--line:#30363d;
--accent:#6cb0ff}}
*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;background:var(--paper);
color:var(--ink);font:1rem/1.5 system-ui,sans-serif}h1{margin:0 0 .25rem}h2{margin:2.5rem 0 .5rem}
h3{margin:1.25rem 0 .25rem;font-size:1rem}p{margin:.25rem 0 .75rem}a{color:var(--accent)}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}.soft{color:var(--soft)}
section{border:1px solid var(--line);border-radius:8px;padding:0 1rem 1rem;margin:1rem 0;background:var(--panel)}
.verb{color:var(--accent);font-weight:700;margin-right:.5rem}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .75rem .35rem 0;
border-bottom:1px solid var(--line)}th{font-weight:600}td:first-child{white-space:nowrap}
"""


def docs_page(schema: dict[str, Any]) -> str:
    """The whole page of an OpenAPI description."""
    info = schema["info"]
    operations = [
        _operation(path, verb, operation)
        for path, methods in schema["paths"].items()
        for verb, operation in methods.items()
    ]
    names = schema.get("components", {}).get("schemas", {})
    shapes = [f'<section id="{escape(n)}"><h3>{escape(n)}</h3>{_fields(s)}</section>' for n, s in names.items()]
    title = escape(f"{info['title']} {info['version']}")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1><p>{escape(info.get('description', ''))}</p>"
        '<p class="soft">For programs: <a href="openapi.json">openapi.json</a></p>'
        f"<h2>Requests</h2>{''.join(operations)}<h2>Shapes</h2>{''.join(shapes)}</body></html>"
    )


def _operation(path: str, verb: str, operation: dict[str, Any]) -> str:
    parts = [
        f'<section><h3><span class="verb">{escape(verb.upper())}</span><code>{escape(path)}</code></h3>',
        f"<p>{escape(operation.get('summary', ''))}</p>",
    ]
    if operation.get("security"):
        parts.append("<p class=soft>Needs the header <code>Authorization: Bearer TOKEN</code>.</p>")
    body = operation.get("requestBody", {}).get("content", {})
    if body:
        rows = "".join(_row(f"<code>{escape(kind)}</code>", _shape(each["schema"])) for kind, each in body.items())
        parts.append(f"<h3>Body</h3>{_table(('content type', 'shape'), rows)}")
    rows = "".join(
        _row(f"<code>{escape(status)}</code>", escape(answer.get("description", "")), _contents(answer))
        for status, answer in operation.get("responses", {}).items()
    )
    return "".join([*parts, f"<h3>Answers</h3>{_table(('status', 'meaning', 'content'), rows)}</section>"])


def _contents(answer: dict[str, Any]) -> str:
    kinds = answer.get("content", {}).items()
    return "<br>".join(f"<code>{escape(kind)}</code> {_link(each.get('schema', {}))}" for kind, each in kinds)


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    rows = "".join(
        _row(
            f"<code>{escape(name)}</code>{'' if name not in required else ' <span class=soft>required</span>'}",
            _shape(each),
            escape(each.get("description", "")),
        )
        for name, each in schema.get("properties", {}).items()
    )
    about = f"<p>{escape(schema['description'])}</p>" if "description" in schema else ""
    return about + _table(("name", "type", "what it is"), rows)


def _shape(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _link(schema)
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values:
        return " | ".join(f"<code>{escape(str(each))}</code>" for each in values)
    if "oneOf" in schema:
        return " or ".join(_shape(each) for each in schema["oneOf"])
    kind = schema.get("type", "anything")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if words == "array":
        return f"list of {_shape(schema.get('items', {}))}"
    if "base64" in schema.get("properties", {}):
        return "{<code>name</code>, <code>base64</code>}"
    more = {"binary": "file"}.get(schema.get("format", "")) or schema.get("contentEncoding")
    return escape(more or words)


def _link(schema: dict[str, Any]) -> str:
    name = escape(str(schema.get("$ref", "")).rpartition("/")[2])
    return f'<a href="#{name}">{name}</a>' if name else ""


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _table(heads: tuple[str, ...], rows: str) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
