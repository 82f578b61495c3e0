"""The result files that report.py reads: what is one set, and what a file must have."""

import json
import re

LAYER_FIELDS = {"layer": str, "batch": int, "kernel": str, "layout": str, "peer": str,
                "floor_us": (int, float), "mismatches": int, "status": str}
LAYER_ENVIRONMENT = ("batch", "list", "device", "driver", "cuda", "operator", "method", "copy_tb_s", "commit", "date")
# One for all files of a folder perf/results/<gpu>.
ONE = ("commit", "device", "driver")


def read(path, fields, environment):
    """A result file, or a ValueError that says what it is not. Rows that were not run are left out."""
    try:
        result = json.loads(path.read_text())
        missing = [name for name in environment if name not in result["environment"]]
        if missing:
            raise ValueError(f"its environment has no '{missing[0]}'")
        rows = [row for row in result["rows"] if not is_not_run(row)]
        result["environment"].setdefault("not_run", len(result["rows"]) - len(rows))
        result["rows"] = rows
        for row in result["rows"]:
            for field, kind in fields.items():
                if not isinstance(row.get(field), kind):
                    raise ValueError(f"row {row.get('layer', row.get('batch'))}: '{field}' is {row.get(field)!r}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no result file of this kind: {error}") from error
    return result


def is_not_run(row):
    return str(row.get("status", "")).startswith(("failed: not run", "not run"))


def read_layers(files):
    """weft_perf's files of one list, in the order of their batches."""
    results = [read(path, LAYER_FIELDS, LAYER_ENVIRONMENT) for path in files]
    return sorted(results, key=lambda r: r["environment"]["batch"])


class Set:
    """The files of one GPU: of one commit of the library and one driver, as perf/measure.py writes them; and `earlier`
    ones, of other commits, for what this set does not have."""

    def __init__(self, folder, earlier=None):
        self.folder, self.earlier = folder, earlier

    def check(self):
        """A ValueError if its files are not of one commit, device and driver."""
        first = None
        for path in sorted(self.folder.glob("*.json")):
            environment = read(path, {}, ()).get("environment", {})
            of = {field: environment.get(field) for field in ONE}
            if first is None:
                first = (path, of)
            for field in ONE:
                if of[field] is None or of[field] != first[1][field]:
                    raise ValueError(f"{self.folder.name} mixes results: {path.name} is of {field} {of[field]}, {first[0].name} of "
                                     f"{first[1][field]}; perf/measure.py --take leaves one commit there")
        return first[1] if first else None

    def layers(self, name):
        """The files <name>-n<batch>.json, by batch."""
        return read_layers(path for path in sorted(self.folder.glob(f"{name}-n*.json"))
                           if re.fullmatch(r"\d+", path.stem[len(name) + 2:]))

    def one(self, name, fields, environment=("device", "commit", "method"), earlier=False):
        """A file, or None."""
        for folder in (self.folder, self.earlier if earlier else None):
            if folder and (folder / name).exists():
                return read(folder / name, fields, environment)
        return None

    def newest(self):
        """The date of the last file, without the time of day."""
        dates = [read(path, {}, ())["environment"].get("date") for path in self.folder.glob("*.json")]
        return max((d for d in dates if d), default="-").split(" ")[0]
