"""The files of a paper as they are read: places stay, comments say nothing, what is not there is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from seedbed.errors import UserError
from seedbed.phases.verification import paper_source
from seedbed.phases.verification.paper_source import Mention, TexFile, read_paper


def tex(raw: str) -> TexFile:
    return TexFile(Path("/lab/p.tex"), "p.tex", raw)


def mentions(raw: str) -> list[Mention]:
    return list(tex(raw).mentions())


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("a % b\nc", "a    \nc"), (r"5\% b", r"5\% b"), ("a\\\\% b\nc", "a     \nc"),
        ("\\begin{verbatim}\nx\n\\end{verbatim}y", f"{' ' * 16}\n \n{' ' * 14}y"), (r"\verb|x|y", "        y"),
        (r"\verb*+x+y", "         y"), (r"\begin{comment}x\end{comment}y", f"{' ' * 29}y"),
    ],
)  # fmt: skip
def test_comments_and_what_is_shown_as_it_stands_are_blank(raw: str, left: str) -> None:
    assert tex(raw).text == left


def test_a_place_has_the_line_it_stands_in() -> None:
    file = tex("ab\n\ncd")
    assert [file.line(place) for place in range(6)] == [1, 1, 1, 2, 3, 3]


def test_numbers_are_defined_where_rows_and_numbers_are() -> None:
    assert tex(r"\sbrow{a}\sbnumber{b}{1}").is_numbers
    assert not tex(r"\sbrow{a}").is_numbers
    assert not tex(r"\sbnumber{b}{1}").is_numbers
    assert not tex(r"%\sbrow{a}\sbnumber{b}{1}").is_numbers


@pytest.mark.parametrize(
    ("before", "inside"),
    [
        ("", False), ("$x", True), ("a $x", True), ("a $x$ b", False), ("a $x$ b $y", True), ("a $x$ $y$ $z", True),
        ("$$x", True), (r"costs \$5", False), ("costs $5\n\nand", False), ("costs $5\n\nand $x", True),
        ("a $x$\n\nb", False), ("$x\ny", True), ("a\n\nb $x", True), ("a\n\n\nb", False),
    ],
)  # fmt: skip
def test_a_formula_is_open_behind_an_odd_dollar_of_its_paragraph(before: str, inside: bool) -> None:
    assert tex(f"{before}Z $ and $").in_formula(len(before)) is inside


def test_a_macro_is_mentioned_with_its_place_and_text() -> None:
    raw = "x \\sb{ a/b\n/c } y \\sbsays{d/e/f} {one {two} \\} three}."
    first, second = mentions(raw)
    assert first == Mention("a/b/c", None, 2, raw.index("}") + 1)
    assert second == Mention("d/e/f", "one {two} \\} three", raw.index("\\sbsays"), len(raw) - 1)


def test_a_text_that_is_empty_is_one() -> None:
    assert mentions(r"\sbsays{a/b/c}{}") == [Mention("a/b/c", "", 0, 16)]


@pytest.mark.parametrize("rest", ["", " ", "x", " x {y}", "{y", r"{y\}", "{{y}"])
def test_words_without_a_text_in_braces_are_refused(rest: str) -> None:
    with pytest.raises(UserError, match=r"p\.tex:2: \\sbsays needs a text in braces as well\."):
        mentions(f"a\n\\sbsays{{d/e/f}}{rest}")


def test_a_number_is_defined_in_its_row() -> None:
    raw = "\\sbrow{one}\n\\sbname{short}\n\\sbnumber{f1}{0.5}\n"
    raw += "\\sbrow{two}\\sbnumber{f1/p}{\\ensuremath{<}0.1}\n\\sbnumber{x}"
    assert list(tex(raw).definitions()) == [
        (3, "one/f1", "0.5"),
        (4, "two/f1/p", "\\ensuremath{<}0.1"),
        (5, "two/x", ""),
    ]


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.tex"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "paper.tex"


def test_a_paper_is_read_with_what_it_reads_each_once_in_their_order(tmp_path: Path) -> None:
    paper = written(
        tmp_path / "lab",
        paper=r"\input{ one }\include{parts/two.tex}\input three \input{one}\subfile{../beside}"
        r"\input{data.csv}\input{no}",
        one=r"\input{paper}",
        parts__two=r"\input{parts/four}\input{gone/at/all}",
        parts__four="",
        three="",
        __beside="",
    )
    written(tmp_path, beside="")
    (tmp_path / "lab/data.csv").write_text(r"\input{one}")
    files = read_paper(paper)
    assert [file.name for file in files[:-1]] == [
        "paper.tex",
        "one.tex",
        "parts/two.tex",
        "parts/four.tex",
        "three.tex",
    ]
    assert files[-1].path == tmp_path / "beside.tex"
    assert files[-1].name.endswith("lab/../beside.tex")
    assert {file.name: file.reads for file in files if file.reads} == {
        "paper.tex": ["no"],
        "parts/two.tex": ["gone/at/all"],
    }


def test_what_defines_numbers_reads_nothing_further(tmp_path: Path) -> None:
    paper = written(
        tmp_path, paper=r"\input{numbers}", numbers=r"\sbrow{a}\sbnumber{b}{1} copied from \input{paper2}", paper2=""
    )
    files = read_paper(paper)
    assert [(file.name, file.reads) for file in files] == [("paper.tex", []), ("numbers.tex", [])]


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    (tmp_path / "p.tex").write_bytes(b"a\r\nb")
    assert read_paper(tmp_path / "p.tex")[0].raw == "a\nb"


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"none\.tex: no such file; give the LaTeX file of the paper\."):
        read_paper(tmp_path / "none.tex")
    with pytest.raises(UserError, match=r"is a folder; give the LaTeX file of the paper\."):
        read_paper(tmp_path)
    (tmp_path / "p.tex").write_bytes(b"a\nb\xff\n")
    with pytest.raises(UserError, match=r"^p\.tex:2: not UTF-8 text; save the file as UTF-8\.$"):
        read_paper(tmp_path / "p.tex")
    (tmp_path / "p.tex").write_bytes(b"12345678")
    monkeypatch.setattr(paper_source, "_LARGEST", 8)
    assert len(read_paper(tmp_path / "p.tex")) == 1
    monkeypatch.setattr(paper_source, "_LARGEST", 7)
    with pytest.raises(UserError, match=r"^p\.tex: larger than 0 MB; give the LaTeX file of a paper\.$"):
        read_paper(tmp_path / "p.tex")
