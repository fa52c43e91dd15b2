"""The OpenAPI description of requests and answers, which the application reads by itself and not through models."""

from typing import Any, Final

from mrac.http.encoders import FORMATS, MAPS
from mrac.http.frame import KINDS, SUFFIXES

DESCRIPTION: Final = (
    "Dense metric depth from one image and a few range readings, some of them wrong. Every answer has the header "
    "X-Request-ID; every error is one message in JSON."
)
_NUMBER: Final = {"type": "number"}
_TEXT: Final = {"type": "string"}
_BASE64: Final = {"type": "string", "contentEncoding": "base64"}
_FILE: Final = {"type": "string", "format": "binary"}
_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "method": {**_TEXT, "description": "A name of /v1/methods; by default the server's."},
    "foundation": {**_TEXT, "description": "Network in place of the method's: a name of /v1/methods."},
    "gate": {**_TEXT, "description": "In place of the method's, with options: theil_sen_mad:kappa=3."},
    "fit": {**_TEXT, "description": "In place of the method's."},
    "head": {**_TEXT, "description": "In place of the method's."},
    "space": {"enum": ["depth", "inverse_depth", "log_depth"], "description": "In which the relation is fitted."},
    "from": {"enum": list(KINDS), "description": "What the file of readings is; by default by its suffix."},
    "anchors_scale": {**_TEXT, "description": "Stored depth per metre, or its name: mm, kitti, tum."},
    "camera_name": {**_TEXT, "description": "Which camera of the file `camera`."},
    "fov": {**_TEXT, "description": "Of a zone sensor, two angles in degrees: 45,45."},
    "turned": {"enum": ["90", "180", "270"], "description": "Turns a zone sensor's frame counter-clockwise."},
    "mirrored": {"enum": ["horizontal", "vertical"], "description": "Mirrors such a frame, after that."},
    "sensor": {**_TEXT, "description": "Noise, range and sentinels of a sensor, such as realsense."},
    "max_anchors": {"type": "integer", "minimum": 1, "description": "Of a depth image or cloud, spread evenly."},
    "fix": {**_TEXT, "description": "Mistakes to put right where they are found: units,swapped_uv."},
    "format": {"enum": list(FORMATS), "description": "Of the answer; goes before the header Accept."},
    "maps": {
        **_TEXT,
        "description": f"Of a JSON answer: {', '.join(MAPS)}, both with a comma, or none. Default: both.",
    },
}
_PARTS: Final = {
    "image": "PNG, JPEG, WebP, TIFF, BMP, GIF or PPM.",
    "anchors": f"Readings: {', '.join(SUFFIXES[:-2])}; or the text of a JSON list of [u, v, z] rows.",
    "camera": "Intrinsics: KITTI, ROS, COLMAP, JSON; as JSON also in place: fx, fy, cx, cy, width, height.",
    "pose": "Camera from sensor: a 4×4 matrix, KITTI's calibration, JSON.",
    "depth_camera": "Intrinsics of a depth image of another camera.",
    "confidence": "Confidence of a depth image.",
}
_NAMED: Final = {
    "type": "object",
    "required": ["base64"],
    "properties": {"name": {**_TEXT, "description": "For its suffix."}, "base64": _BASE64},
}
_ROWS: Final = {
    "type": "array",
    "items": {"type": "array", "minItems": 3, "maxItems": 4, "items": {"type": ["number", "null"]}},
    "description": "Rows [u, v, z] or [u, v, z, sigma]: pixels and metres; null is a missing number.",
}
_MAP: Final = {
    "type": "object",
    "required": ["shape", "dtype", "base64"],
    "description": "An (H, W) map in metres, row by row.",
    "properties": {
        "shape": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"}},
        "dtype": {"const": "<f4"},
        "base64": _BASE64,
    },
}
_VERDICT: Final = {
    "type": "object",
    "required": ["u", "v", "z_m", "keep", "score", "outlier_probability", "weight", "reason"],
    "properties": {
        **{name: {"type": ["number", "null"]} for name in ("u", "v", "z_m")},
        "keep": {"type": "boolean"},
        **dict.fromkeys(("score", "outlier_probability", "weight"), _NUMBER),
        "reason": _TEXT,
    },
}
_RESULT: Final = {
    "type": "object",
    "required": ["request_id", "status", "warnings", "stages", "fit", "anchors", "size", "timings_ms"],
    "properties": {
        "request_id": _TEXT,
        "version": _TEXT,
        "status": {**_TEXT, "description": "`ok`, or what made the scene hard (docs/reference.md)."},
        "warnings": {"type": "array", "items": {"type": "object"}, "description": "Usual mistakes that were noticed."},
        "stages": {"type": "object"},
        "options": {"type": "object"},
        "space": _TEXT,
        "fit": {"type": "object"},
        "anchors": {"type": "array", "items": {"$ref": "#/components/schemas/Verdict"}},
        "size": {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}},
        "depth_m": {"$ref": "#/components/schemas/Map"},
        "sigma_m": {"$ref": "#/components/schemas/Map"},
        "timings_ms": {"type": "object", "additionalProperties": _NUMBER},
        "cache": _TEXT,
        "device": {"type": "object"},
    },
}
_ERROR: Final = {
    "type": "object",
    "required": ["error", "request_id"],
    "properties": {"error": {**_TEXT, "description": "One line: what arrived, what is needed."}, "request_id": _TEXT},
}
_FORM: Final = {
    "type": "object",
    "required": ["image", "anchors"],
    "properties": {**{name: {**_FILE, "description": text} for name, text in _PARTS.items()}, **_OPTIONS},
}
_JSON: Final = {
    "type": "object",
    "required": ["image", "anchors"],
    "properties": {
        "image": {**_BASE64, "description": _PARTS["image"]},
        "anchors": {"oneOf": [_ROWS, _NAMED]},
        **{
            name: {"oneOf": [_NAMED, {"type": "object"}], "description": _PARTS[name]}
            for name in _PARTS
            if name not in ("image", "anchors")
        },
        **_OPTIONS,
    },
}
SCHEMAS: Final[dict[str, Any]] = {
    "CalibrateForm": _FORM,
    "CalibrateJson": _JSON,
    "Result": _RESULT,
    "Verdict": _VERDICT,
    "Map": _MAP,
    "Error": _ERROR,
}
_ERRORS: Final = {
    400: "A part is missing, broken, or contradicts another.",
    401: "The bearer token is missing or wrong.",
    408: "The body did not arrive in time.",
    413: "More bytes, pixels or readings than the limits allow.",
    415: "A content type or a file format that is not read.",
    429: "Busy: as many requests as may wait are waiting; Retry-After says when to try again.",
    500: "A mistake of the server's; its log has the details.",
    503: "The server warms up or stops.",
    504: "The calibration took too long.",
}


def _error(status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {"description": _ERRORS[status], "content": content}


def _route(description: str, content: dict[str, Any], errors: tuple[int, ...], body: Any = None) -> dict[str, Any]:
    """What FastAPI's route takes."""
    good = {"description": description, "content": content}
    responses = {"200": good, **{str(status): _error(status) for status in errors}}
    return {"openapi_extra": {"responses": responses, **({} if body is None else {"requestBody": body})}}


CALIBRATE: Final = _route(
    "Depth, standard deviation and verdicts; as PNG the depth alone, 16 bit, its scale in the file's text.",
    {
        FORMATS["json"]: {"schema": {"$ref": "#/components/schemas/Result"}},
        FORMATS["png"]: {"schema": _FILE},
        FORMATS["npz"]: {"schema": _FILE},
    },
    tuple(_ERRORS),
    {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": {"$ref": "#/components/schemas/CalibrateForm"}},
            "application/json": {"schema": {"$ref": "#/components/schemas/CalibrateJson"}},
        },
    },
)
_OBJECT: Final = {"application/json": {"schema": {"type": "object"}}}
METHODS: Final = _route("Names with one line on each, and the limits.", _OBJECT, (401,))
HEALTH: Final = _route("The process answers.", _OBJECT, ())
READY: Final = _route("Requests will be answered at full speed.", _OBJECT, (503,))
METRICS: Final = _route("Text in the format of Prometheus.", {"text/plain": {"schema": _TEXT}}, (401,))


def completed(schema: dict[str, Any], has_token: bool) -> dict[str, Any]:
    """FastAPI's description with our schemas, and with the token where one is needed."""
    components = schema.setdefault("components", {})
    components["schemas"] = SCHEMAS
    if has_token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in schema["paths"].items():
            if path.startswith("/v1/") or path == "/metrics":
                for operation in methods.values():
                    operation["security"] = [{"token": []}]
    return schema
