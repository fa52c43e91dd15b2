"""Many frames to files: each is committed by itself, so that a run can be killed, resumed and repaired.

`run.run_job` lists the frames (`folders`, `parquet_rows`), has an executor do them (`executors.local`, `executors.ray`)
and keeps the manifest. What happens to one frame is in `stages`: load, calibrate, commit.
"""
