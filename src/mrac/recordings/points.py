"""Points of a sensor_msgs PointCloud2: its fields as arrays, and arrays as a message."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mrac.conventions import FloatArray
from mrac.errors import ContractError
from mrac.recordings.message_classes import MessageClasses

_TYPES: Final = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}  # PointField's numbers
_NUMBERS: Final = {np.dtype(kind): number for number, kind in _TYPES.items()}


def structured(message: Any) -> NDArray[Any]:
    """(N,) records with the message's fields; of a field of several numbers, the array.

    Raises:
        ContractError: a field has a type that is not known, or the data are shorter than the size says.
    """
    names, formats, offsets = [], [], []
    for field in message.fields:
        if field.datatype not in _TYPES:
            raise ContractError(f"point cloud: field {field.name!r} has the type {field.datatype}; 1 to 8 are known")
        kind = np.dtype(_TYPES[field.datatype]).newbyteorder(">" if message.is_bigendian else "<")
        if field.name and field.name not in names:  # padding has no name
            names.append(str(field.name))
            formats.append((kind, (int(field.count),)) if field.count > 1 else kind)
            offsets.append(int(field.offset))
    step, width, height = int(message.point_step), int(message.width), int(message.height)
    row_step = int(message.row_step) if height > 1 else step * width
    data = np.frombuffer(message.data, np.uint8)
    if step < 1 or row_step < step * width or data.size < row_step * (height - 1) + step * width:
        raise ContractError(
            f"point cloud: {data.size} bytes arrived for {height} rows of {width} points of {step} bytes; "
            f"{height} rows of {row_step} bytes are needed"
        )
    try:
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": step})
    except ValueError as error:
        raise ContractError(f"point cloud: its fields do not fit into {step} bytes ({error})") from None
    rows = np.lib.stride_tricks.as_strided(data, (height, step * width), (row_step, 1), writeable=False)
    return np.ascontiguousarray(rows).reshape(-1).view(dtype)


def coordinates(message: Any) -> FloatArray:
    """(N, 3) x, y, z in metres of the points that have finite ones.

    Raises:
        ContractError: there is no x, y or z; see also `structured`.
    """
    if not message.width * message.height:  # without a return some drivers send a message without fields
        return np.empty((0, 3))
    records = structured(message)
    missing = [name for name in "xyz" if name not in (records.dtype.names or ())]
    if missing:
        raise ContractError(
            f"point cloud: no field {missing[0]!r} among {', '.join(records.dtype.names or ()) or 'none'}; x, y and z "
            "are needed, in metres"
        )
    xyz = np.stack([records[name].astype(np.float64) for name in "xyz"], axis=1)
    return np.asarray(xyz[np.isfinite(xyz).all(axis=1)])


def cloud_message(classes: MessageClasses, header: Any, columns: dict[str, NDArray[Any]]) -> Any:
    """A PointCloud2 of one row with the named columns, each (N,), packed in this order.

    It is dense, in the word of PCL, where all positions are finite: whoever sees `is_dense` looks for no NaN.
    """
    dtype = np.dtype([(name, column.dtype) for name, column in columns.items()])
    num = len(next(iter(columns.values())))
    records = np.empty(num, dtype)
    for name, column in columns.items():
        records[name] = column
    fields = [
        classes.make(
            "sensor_msgs/msg/PointField",
            name=name,
            offset=int(dtype.fields[name][1]) if dtype.fields else 0,
            datatype=_NUMBERS[column.dtype],
            count=1,
        )
        for name, column in columns.items()
    ]
    return classes.make(
        "sensor_msgs/msg/PointCloud2",
        header=header,
        height=1,
        width=num,
        fields=fields,
        is_bigendian=False,
        point_step=dtype.itemsize,
        row_step=dtype.itemsize * num,
        data=classes.sequence(records.view(np.uint8).ravel() if num else np.empty(0, np.uint8)),
        is_dense=all(bool(np.isfinite(columns[name]).all()) for name in "xyz"),
    )
