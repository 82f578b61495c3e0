"""The table of small_families.py: what the small families lose to the whole ones."""

FILE = "small_families.json"
FIELDS = {"layout": str, "times": str, "list": str, "rows": int, "dispatch": (int, float), "dispatch_worst": (int, float),
          "best": (int, float)}
FORMATS = {"nc4": "NCxHWx<4>", "nc32": "NCxHWx<32>", "nhwc": "NHWC"}
TIMES = {"selection": "that tiles were chosen by", "page": "of another run"}
ENVIRONMENT = ("device", "selection_commits", "page_commit")
LISTS = ("anchors", "held out", "mobile1x1")


def small(result, table):
    """A line for each source format, kind of times and list."""
    e = result["environment"]
    rows = [r for r in result["rows"] if r["times"] in TIMES and r["list"] in LISTS]
    text = table(("source", "layers", "times", "rows:", "Dispatch, small / whole:", "worst:", "best tile, small / whole:"),
                 [(f"`{FORMATS[r['layout']]}`", r["list"], TIMES[r["times"]], r["rows"], f"{r['dispatch']:.3f}",
                   f"{r['dispatch_worst']:.2f}", f"{r['best']:.3f}") for r in rows])
    return text + f"\n{e['device']}, N of 1, 16 and 64; times that tiles were chosen by: commits {', '.join(e['selection_commits'])}; the " \
                  f"other run: {e['page_commit']}.\n"
