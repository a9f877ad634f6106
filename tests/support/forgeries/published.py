"""Forgeries of what is published: the report, the summaries, the drawings, the manifest."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib

from tests.support.forgeries.copies import DIRECT, RUN, Change, Copy, Forgery
from tests.support.forgeries.edits import edited, more, put, replaced


def seen_changed(section: str, pattern: str, new: str) -> Change:
    """Other text in what a section of report.html shows; group 1 of the pattern is what is replaced."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        start = page.index(f'<section id="{section}">')
        found = re.compile(pattern, re.DOTALL).search(page, start, page.find("</section>", start))
        assert found, f"{pattern!r} is not in section {section}"
        assert found[1] != new
        path.write_text(page[: found.start(1)] + new + page[found.end(1) :], encoding="utf-8")

    return change


def row_dropped(section: str) -> Change:
    """The last row of a section's last table is gone."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        start = page.index(f'<section id="{section}">')
        end = page.rindex("</tr></tbody>", start, page.index("</section>", start))
        path.write_text(page[: page.rindex("<tr>", start, end)] + page[end + 5 :], encoding="utf-8")

    return change


def image_changed(name: str, old: str, new: str) -> Change:
    """Other text in a drawing inside report.html; `name` begins its title."""

    def change(copy: Copy) -> None:
        path = copy.path(f"{RUN}/report.html")
        page = path.read_text(encoding="utf-8")
        found = re.search(rf'<img alt="{name}[^>]*base64,([^"]*)"', page)
        assert found
        svg = base64.b64decode(found[1]).decode()
        other = re.sub(old, new, svg, count=1)
        assert other != svg
        path.write_text(page.replace(found[1], base64.b64encode(other.encode()).decode()), encoding="utf-8")

    return change


def sample_changed(copy: Copy) -> None:
    """Another answer in the packed samples of report.html."""
    path = copy.path(f"{RUN}/report.html")
    page = path.read_text(encoding="utf-8")
    found = re.search(r'id="chunk-0">([^<]*)<', page)
    assert found
    samples = json.loads(zlib.decompress(base64.b64decode(found[1])))
    samples[0]["output"]["answer"] = "forged"
    packed = base64.b64encode(zlib.compress(json.dumps(samples).encode())).decode()
    path.write_text(page.replace(found[1], packed), encoding="utf-8")


def pixel_changed(copy: Copy) -> None:
    path = copy.path(f"{RUN}/plots/crosslingual-seeds.png")
    data = path.read_bytes()
    path.write_bytes(data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])


PUBLISHED = [
    Forgery("a figure in a table", f"{RUN}/report.html", r"tables, table .* shows '0\.999'",
            seen_changed("tables", r'<td class="num">([\d.]+)</td>', "0.999")),
    Forgery("a bold figure", f"{RUN}/report.html", r"tables, table .*\*\*",
            seen_changed("tables", r"<b>[^<]*(</b>)", "</b><b></b>")),
    Forgery("a verdict", f"{RUN}/report.html", r"overview, table .* shows 'much better'",
            seen_changed("overview", r"<td[^>]*>([^<]*)</td></tr>", "much better")),
    Forgery("a difference", f"{RUN}/report.html", r"comparisons, table .* shows '\+0\.999'",
            seen_changed("comparisons", r'<td class="num">([+-][\d.]+)</td>', "+0.999")),
    Forgery("a heading of a column", f"{RUN}/report.html", r"costs, table .* shows 'gained \$'",
            seen_changed("costs", r"<th[^>]*>(spent \$)</th>", "gained $")),
    Forgery("a row of a table", f"{RUN}/report.html", r"plots, table .* has \d+ rows", row_dropped("plots")),
    Forgery("a tile", f"{RUN}/report.html", r"section 'overview' has .*completely",
            seen_changed("overview", r"<b>(completed)</b>", "completely")),
    Forgery("a note under a table", f"{RUN}/report.html", r"section 'tables' has .*forged",
            seen_changed("tables", r'<p class="note">([^<]*)<', "forged")),
    Forgery("a commit in the manifest", f"{RUN}/report.html", r"section 'manifest' has .*c0ffee",
            seen_changed("manifest", r"(config_hash)", "c0ffee")),
    Forgery("the config in the report", f"{RUN}/report.html", r"section 'samples' has|section 'samples'",
            seen_changed("samples", r"(search samples)", "find samples")),
    Forgery("a drawing in the report", f"{RUN}/report.html", r"plots, drawing .*: line \d+ of the SVG",
            image_changed("", r"(\d+)\.\d{4,}", r"\g<1>.5")),
    Forgery("an answer among the samples", f"{RUN}/report.html", r"sample \S+\.output\.answer is 'forged'",
            sample_changed),
    Forgery("an embedded figure", f"{RUN}/report.html", r"figures\.n_cells is 40",
            replaced(f"{RUN}/report.html", r'"n_cells":4\b', '"n_cells":40')),
    Forgery("the list of samples", f"{RUN}/report.html", r"samples-index\.n_samples is",
            replaced(f"{RUN}/report.html", r'("chunk":\d+,"n_samples":)\d+', r"\g<1>99")),
    Forgery("a mean in summary.json", f"{RUN}/summary.json", r"rows\[0\]\.n is",
            edited(f"{RUN}/summary.json", put("rows", 0, "n", to=more))),
    Forgery("a verdict in summary.json", f"{RUN}/summary.json", r"comparisons\[0\]\.verdict is 'much better'",
            edited(f"{RUN}/summary.json", put("comparisons", 0, "verdict", to="much better"))),
    Forgery("a figure in summary.csv", f"{RUN}/summary.csv", r"line \d+ is",
            replaced(f"{RUN}/summary.csv", r"0\.\d{2}", "0.99")),
    Forgery("a figure in summary.md", f"{RUN}/summary.md", r"line \d+ is",
            replaced(f"{RUN}/summary.md", r"0\.\d{3} ", "0.999 ")),
    Forgery("a figure in numbers.tex", f"{RUN}/numbers.tex", r"line \d+ is",
            replaced(f"{RUN}/numbers.tex", r"0?\.\d{3}", "0.999")),
    Forgery("a figure in summary.tex", f"{RUN}/summary.tex", r"line \d+ is",
            replaced(f"{RUN}/summary.tex", r"0?\.\d{3}", "0.999")),
    Forgery("tokens in costs.csv", f"{RUN}/costs.csv", r"line 2 is", replaced(f"{RUN}/costs.csv", r",\d{3,},", ",1,")),
    Forgery("a coordinate in an SVG", f"{RUN}/plots/crosslingual-pareto.svg", r"line \d+ of the SVG has",
            replaced(f"{RUN}/plots/crosslingual-pareto.svg", r"(\d+)\.\d{4,}", r"\g<1>.5")),
    Forgery("a label in an SVG", f"{RUN}/plots/crosslingual-seeds.svg", r"line \d+ of the SVG has .*forged",
            replaced(f"{RUN}/plots/crosslingual-seeds.svg", r">[A-Za-z0-9]+</text>", ">forged</text>")),
    Forgery("a pixel", f"{RUN}/plots/crosslingual-seeds.png", r"another picture", pixel_changed),
    Forgery("another drawing", f"{RUN}/plots/more.svg", r"not expected",
            lambda copy: shutil.copy(copy.run / "plots/crosslingual-pareto.svg", copy.run / "plots/more.svg") and None),
    Forgery("simulated in the manifest", f"{RUN}/manifest.json", r"simulated is False",
            edited(f"{RUN}/manifest.json", put("simulated", to=False))),
]  # fmt: skip
"""In the run's own folder; all at once, since each must be named for itself."""

GONE = [
    Forgery("a file is gone", f"{RUN}/summary.tex", r"is missing",
            lambda copy: copy.path(f"{RUN}/summary.tex").unlink()),
    Forgery("a drawing is gone", f"{RUN}/plots/crosslingual-pareto.svg", r"is missing",
            lambda copy: copy.path(f"{RUN}/plots/crosslingual-pareto.svg").unlink()),
    Forgery("a history is gone", f"{DIRECT}/lm_history.jsonl", r"is missing",
            lambda copy: (copy.root / DIRECT / "lm_history.jsonl").unlink()),
    Forgery("a cell called failed", f"{RUN}/summary.json", r"missing names 'direct.*which has a result",
            edited(f"{RUN}/summary.json", put("missing", to=[{"cell": "direct · tiny · small · seed 0",
                                                               "reason": "failed"}]))),
]  # fmt: skip
