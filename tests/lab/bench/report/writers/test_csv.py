import csv
import io

from mrac.lab.bench.report.writers.csv import COLUMNS, write_table
from tests.lab.bench.report.writers.made_table import TABLE


def test_a_line_per_entry_and_nothing_rounded() -> None:
    rows = list(csv.DictReader(io.StringIO(write_table(TABLE))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 6
    first = rows[0]
    assert (first["group"], first["row"], first["column"]) == ("first", "vanilla", "NYUv2")
    assert (first["value"], first["spread"], first["images"]) == ("0.347123", "0.00049", "9")
    assert (first["paper"], first["paper_where"]) == ("0.347±0.001", "Table I")
    assert (rows[1]["value"], rows[1]["state"], rows[1]["paper"]) == ("", "missing", "1.490±0.005")
    assert (rows[2]["state"], rows[2]["failed"]) == ("failed", "3")
    assert rows[3]["best"] == "1"
