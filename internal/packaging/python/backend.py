"""Packs the wheel whose files this folder holds (PEP 517)."""

import csv
import os
import zipfile


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = "geosql-{{.Version}}-py3-none-{{.Wheel}}.whl"
    with open("geosql-{{.Version}}.dist-info/RECORD") as record, \
            zipfile.ZipFile(os.path.join(wheel_directory, name), "w") as wheel:
        for path, *_ in csv.reader(record):
            wheel.write(path)
    return name
