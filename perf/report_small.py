"""The table of small_families.py: what the small families lose to the whole ones."""

FILE = "small_families.json"
FIELDS = {"layout": str, "times": str, "list": str, "rows": int, "dispatch": (int, float), "dispatch_worst": (int, float),
          "best": (int, float)}
FORMATS = {"nc4": "NCxHWx<4>", "nc32": "NCxHWx<32>", "nhwc": "NHWC"}
TIMES = {"selection": "that tiles were chosen by", "page": "of the page", "independent": "of a third run"}
ENVIRONMENT = ("device", "selection_commits", "page_commit", "independent_commit")
LISTS = ("anchors", "held out", "mobile1x1")


def small(result, table):
    """A line for each source format, kind of times and list."""
    e = result["environment"]
    rows = [r for r in result["rows"] if r["times"] in TIMES and r["list"] in LISTS]
    text = table(("source", "layers", "times", "rows:", "Dispatch, small / whole:", "worst:", "best tile, small / whole:"),
                 [(f"`{FORMATS[r['layout']]}`", r["list"], TIMES[r["times"]], r["rows"], f"{r['dispatch']:.3f}",
                   f"{r['dispatch_worst']:.2f}", f"{r['best']:.3f}") for r in rows])
    return text + f"\n{e['device']}, N of 1, 16 and 64; times that tiles were chosen by: commits {', '.join(e['selection_commits'])}; the page: " \
                  f"{e['page_commit']}, by which tiles over NCxHWx<32> were chosen, too; the third run, by which none was: " \
                  f"{e['independent_commit']}.\n"


def lost(result, table):
    """The rows in which small families lose most, and what other families of as many tiles would lose."""
    rows = [(f"`{FORMATS[r['layout']]}`", r["layer"], r["batch"], f"`{r['small']}`", f"{r['small_us']:.2f}", f"`{r['best']}`",
             f"{r['best_us']:.2f}", f"{r['ratio']:.2f}") for r in result["lost"]]
    traded = [(", ".join(f"`{tile}`" for tile in r["without"]) or "none", f"{r['independent']['dispatch']:.3f}",
               f"{r['independent']['best']:.3f}", f"{r['older']['dispatch']:.3f}") for r in result["traded"]]
    bounds = "".join(f"All {r['sets']} sets of wgmma_sm90 tiles beside the family's others over `{FORMATS[r['layout']]}` lose {r['best']:.3f} or "
                     "more by their quickest tiles.\n" for r in result["least"])
    return (table(("source", "layer", "N:", "of the small family", "us:", "of the whole one", "us:", "ratio:"), rows)
            + "\nTiles for GPUs before Hopper whose place over `NCxHWx<32>` another wgmma_sm90 tile has, and what `anchors` lose, small / whole:\n\n"
            + table(("without", "Dispatch:", "best tile:", "Dispatch, without wgmma_sm90:"), traded)
            + f"\n{bounds}\n{result['environment']['device']}, commit {result['environment']['independent_commit']}.\n")
