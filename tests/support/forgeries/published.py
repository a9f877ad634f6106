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
    found = re.search(r'id="pack-0">([^<]*)<', page)
    assert found
    samples = json.loads(zlib.decompress(base64.b64decode(found[1])))
    samples[0]["answers"]["direct"][0]["output"]["answer"] = "forged"
    packed = base64.b64encode(zlib.compress(json.dumps(samples).encode())).decode()
    path.write_text(page.replace(found[1], packed), encoding="utf-8")


def grid_changed(copy: Copy) -> None:
    """Another score in the packed index of the samples."""
    path = copy.path(f"{RUN}/report.html")
    page = path.read_text(encoding="utf-8")
    found = re.search(r'id="samples-index">([^<]*)<', page)
    assert found
    index = json.loads(zlib.decompress(base64.b64decode(found[1])))
    index["tables"][0]["scores"][1][0][0][0] = 0.123
    packed = base64.b64encode(zlib.compress(json.dumps(index).encode())).decode()
    path.write_text(page.replace(found[1], packed), encoding="utf-8")


def pixel_changed(copy: Copy) -> None:
    path = copy.path(f"{RUN}/plots/crosslingual-seeds.png")
    data = path.read_bytes()
    path.write_bytes(data[:-30] + bytes([data[-30] ^ 1]) + data[-29:])


PUBLISHED = [
    Forgery("a figure in a table", f"{RUN}/report.html", r"tables, table .* shows '0\.999 ",
            seen_changed("tables", r'<td class="num"><a [^>]*>([\d.]+)<', "0.999")),
    Forgery("a bold figure", f"{RUN}/report.html", r"tables, table .*\*\*",
            seen_changed("tables", r"<b>[^<]*(</b>)", "</b><b></b>")),
    Forgery("a verdict", f"{RUN}/report.html", r"overview, a sentence says .*much better than",
            seen_changed("overview", r"<li [^>]*>[^<]*( beats | loses to | against )", " much better than ")),
    Forgery("the day of the run", f"{RUN}/report.html", r"overview, 'started' says '01 April",
            seen_changed("overview", r"<dt>started</dt><dd>([^<]*)<", "01 April 2020, 00:00 UTC")),
    Forgery("how long it took", f"{RUN}/report.html", r"overview, 'calls made' says 'in 1 s",
            seen_changed("overview", r"<dt>calls made</dt><dd>(in \d+ \w+)", "in 1 s flat")),
    Forgery("the model", f"{RUN}/report.html", r"overview, 'models' says 'small = openai/gpt",
            seen_changed("overview", r"<dt>models</dt><dd>small = (offline/)", "openai/gpt-")),
    Forgery("the seeds", f"{RUN}/report.html", r"overview, 'seeds' says '0, 1, 2'",
            seen_changed("overview", r"<dt>seeds</dt><dd>(0)<", "0, 1, 2")),
    Forgery("the cost", f"{RUN}/report.html", r"overview, 'cost' says '\$0\.0000",
            seen_changed("overview", r"<dt>cost</dt><dd>(\$[\d.]+)", "$0.0000")),
    Forgery("where a figure leads", f"{RUN}/report.html", r"tables, table .* column 'errors'.*q=nothing",
            seen_changed("tables", r'<a href="#([^"]*state=error)"', "q=nothing")),
    Forgery("a difference", f"{RUN}/report.html", r"comparisons, table .* shows '\+0\.999'",
            seen_changed("comparisons", r'<td class="num"><a [^>]*>([+-][\d.]+)<', "+0.999")),
    Forgery("a heading of a column", f"{RUN}/report.html", r"costs, table .* shows 'gained \$'",
            seen_changed("costs", r"<th[^>]*>(spent \$)</th>", "gained $")),
    Forgery("a row of a table", f"{RUN}/report.html", r"plots, table .* has \d+ rows", row_dropped("plots")),
    Forgery("the status", f"{RUN}/report.html", r"overview, 'status' says 'completely",
            seen_changed("overview", r"<dd>(completed)", "completely")),
    Forgery("a note under a table", f"{RUN}/report.html", r"section 'tables' has .*forged",
            seen_changed("tables", r'<p class="note">([^<]*)<', "forged")),
    Forgery("a version", f"{RUN}/report.html", r"manifest, table .* shows '9\.9\.9'",
            seen_changed("manifest", r'<td class="wide">(\d[\d.]*)</td>', "9.9.9")),
    Forgery("the config in the report", f"{RUN}/report.html", r"section 'samples' has|section 'samples'",
            seen_changed("samples", r"(search samples)", "find samples")),
    Forgery("a drawing in the report", f"{RUN}/report.html", r"overview, drawing .*: line \d+ of the SVG",
            image_changed("", r"(\d+)\.\d{4,}", r"\g<1>.5")),
    Forgery("an answer among the samples", f"{RUN}/report.html",
            r"sample \S+\.answers\.direct\[0\]\.output\.answer is 'forged'", sample_changed),
    Forgery("an embedded figure", f"{RUN}/report.html", r"figures\.n_cells is 40",
            replaced(f"{RUN}/report.html", r'"n_cells":4\b', '"n_cells":40')),
    Forgery("a score in the grid of samples", f"{RUN}/report.html",
            r"samples-index\.tables\[0\]\.scores\[1\]\[0\]\[0\]\[0\] is 0\.123", grid_changed),
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
