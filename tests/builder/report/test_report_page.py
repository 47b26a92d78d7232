"""The page in a real browser: search, filters, one task, the keyboard alone, colours, a phone, texts that mean harm.

After each test the page has asked for nothing but its own file, and its console is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser, Page, expect
from reported import ALL_KINDS, GOLD, REASON, ROWS, SAID, WRONG, Made, make_catalog, rejected_row, run

Open = Callable[..., Page]


def in_page(name: str) -> str:
    """A function that is run in the page."""
    text = (Path(__file__).parent / "in_page" / f"{name}.js").read_text()
    return text.partition("\n")[2].strip().removesuffix(";")


def names(page: Page) -> list[str]:
    """The tasks in the table, from its top."""
    return page.locator("#tasks tbody .c-name .main").all_inner_texts()


def tick(page: Page, facet: str, value: str) -> None:
    page.locator(f'[data-facet="{facet}"] .option', has_text=value).first.click()


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with answers."""
    folder = tmp_path_factory.mktemp("answers")
    make_catalog(folder / "ports", ALL_KINDS, ROWS)
    assert run(folder / "ports", "--with-answers").exit_code == 0
    return folder / "ports.html"


def test_every_task_is_listed_by_name_with_its_figures(html: Path, opened: Open) -> None:
    page = opened(html)
    assert names(page) == ["boats-in-all", "busiest-port", "fares-above-3", "fares-by-class", "mean-fare"]
    assert page.title() == "lab/ports · report"
    expect(page.locator("#figures")).to_have_text(re.compile("5 tasks.*2 proven.*1 failed.*2 unproven"))
    cells = page.locator("#tasks-4 td").all_inner_texts()
    assert cells[1:6] == ["failed", "test", "hard", "number", "fares.csv\nand 1 more"]
    assert cells[6].startswith("4 GB")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("boats", ["boats-in-all", "busiest-port"]),
        ("MEAN fares.csv", ["mean-fare"]),
        ("which class", ["fares-by-class"]),
        ("unproven", ["fares-above-3", "fares-by-class"]),
        ("zzz", []),
        ("<b>", []),
    ],
)
def test_the_search_finds_names_questions_and_tables(html: Path, opened: Open, words: str, found: list[str]) -> None:
    page = opened(html)
    page.fill("#search", words)
    assert names(page) == found
    expect(page.locator("#count")).to_have_text(f"{len(found)} of 5 tasks")


FILTERS = {
    "status": ("failed", ["mean-fare"]),
    "split": ("eval", ["fares-above-3", "fares-by-class"]),
    "tier": ("hard", ["fares-by-class", "mean-fare"]),
    "type": ("integer", ["boats-in-all", "fares-above-3"]),
    "table": ("fares.csv", ["fares-above-3", "fares-by-class", "mean-fare"]),
    "size": ("over 2, to 4 GB", ["mean-fare"]),
}


@pytest.mark.parametrize("facet", FILTERS)
def test_each_filter_shows_the_tasks_that_it_names(html: Path, opened: Open, facet: str) -> None:
    value, found = FILTERS[facet]
    page = opened(html)
    tick(page, facet, value)
    assert names(page) == found
    expect(page.locator(f'[data-facet="{facet}"] .option', has_text=value).locator(".number")).to_have_text(
        str(len(found))
    )
    page.reload()
    page.wait_for_selector("#tasks tbody .main")
    assert names(page) == found, "the address keeps what was chosen"
    page.locator("#view-tasks .clear").click()
    assert len(names(page)) == 5


def test_filters_of_one_kind_add_and_of_two_kinds_narrow(html: Path, opened: Open) -> None:
    page = opened(html)
    tick(page, "tier", "hard")
    tick(page, "tier", "none")
    assert names(page) == ["fares-above-3", "fares-by-class", "mean-fare"]
    tick(page, "split", "eval")
    assert names(page) == ["fares-above-3", "fares-by-class"]
    tick(page, "tier", "none")
    assert names(page) == ["fares-by-class"]


def test_a_filter_counts_what_it_would_show_beside_the_others(html: Path, opened: Open) -> None:
    page = opened(html)
    tick(page, "split", "eval")
    numbers = page.locator('[data-facet="tier"] .option').all_inner_texts()
    assert [" ".join(text.split()) for text in numbers] == ["easy 0", "medium 0", "hard 1", "none 1"]
    splits = page.locator('[data-facet="split"] .option .number').all_inner_texts()
    assert splits == ["2", "1", "2"]


def test_a_column_sorts_both_ways_and_says_so(html: Path, opened: Open) -> None:
    page = opened(html)
    page.click("th.c-peak button")
    assert names(page)[:3] == ["mean-fare", "busiest-port", "fares-by-class"]
    page.click("th.c-peak button")
    assert names(page)[0] == "boats-in-all"
    assert page.get_attribute("th.c-peak", "aria-sort") == "descending"
    assert names(page)[-1] == "fares-above-3", "what was not measured is last either way"


def test_a_click_opens_a_task_and_its_address_opens_it_again(html: Path, opened: Open) -> None:
    page = opened(html)
    page.locator("#tasks tbody tr", has_text="mean-fare").locator(".c-tier").click()
    expect(page.locator("#task h2")).to_have_text("mean-fare")
    assert page.url.endswith("#test/mean-fare")
    again = opened(html, "#test/mean-fare")
    task = again.locator("#task")
    expect(task.locator(".instruction")).to_contain_text("What is the mean fare?")
    expect(task).to_contain_text("A trial did not end as it must.")
    trials = task.get_by_role("table", name="Trials").locator("tbody tr")
    assert [" ".join(row.split()) for row in trials.all_inner_texts()] == [
        "oracle 1 1 , as it must 4 100 MB",
        "nop 0 0 , as it must 3",
        "wrong 0 1 , not as it must 3",
        "huge 0 ungraded: oom , not as it must 3",
    ]
    expect(task.get_by_role("table", name="Files")).to_contain_text("tests/cases.json")
    expect(task).to_contain_text("1 answer that must pass and 1 that must not")


def test_a_task_that_is_not_there_is_told(html: Path, opened: Open) -> None:
    page = opened(html, "#train/%3Cb%3Enobody")
    expect(page.locator("#task")).to_contain_text("There is no task train/<b>nobody in this catalog.")


def test_answers_are_shown_with_a_plain_warning_or_are_not_there(html: Path, answers: Path, opened: Open) -> None:
    page = opened(html, "#test/mean-fare")
    expect(page.locator("#task")).to_contain_text("They tell the answer, so they are not in this file")
    assert page.locator("#answers").is_hidden()
    assert GOLD not in page.content()
    page = opened(answers, "#test/mean-fare")
    expect(page.locator("#answers")).to_contain_text("This file holds answers")
    expect(page.get_by_role("table", name="Golds")).to_contain_text(GOLD)
    expect(page.get_by_role("table", name="Golds")).to_contain_text("atol 0.5")
    expect(page.get_by_role("table", name="Must not pass")).to_contain_text(WRONG)
    expect(page.get_by_role("table", name="Trials")).to_contain_text(SAID)
    page = opened(answers, "#aside")
    page.locator("#rows tbody tr[id]").first.click()
    expect(page.locator("dialog#row")).to_contain_text(REASON)


def test_the_keyboard_alone_is_enough(html: Path, opened: Open) -> None:
    page = opened(html)
    press = page.keyboard.press
    press("/")
    page.keyboard.type("fare")
    press("ArrowDown")
    press("ArrowDown")
    assert page.evaluate("document.activeElement.id") == "tasks"
    assert page.get_attribute("#tasks", "aria-activedescendant") == "tasks-1"
    assert page.get_attribute("#tasks-1", "aria-selected") == "true"
    press("Enter")
    expect(page.locator("#task h2")).to_have_text("fares-by-class")
    assert page.evaluate("document.activeElement.id") == "task-title"
    press("ArrowRight")
    expect(page.locator("#task h2")).to_have_text("mean-fare")
    press("ArrowLeft")
    press("ArrowLeft")
    expect(page.locator("#task h2")).to_have_text("fares-above-3")
    press("Escape")
    assert page.evaluate("document.activeElement.id") == "tasks"
    assert page.get_attribute("#tasks", "aria-activedescendant") == "tasks-0"
    press("End")
    press("Enter")
    expect(page.locator("#task h2")).to_have_text("mean-fare")
    press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    press("Escape")
    assert len(names(page)) == 5
    press("Escape")
    assert page.evaluate("document.activeElement.id") == "tasks"
    press("?")
    assert page.locator("#keys").is_visible()


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(html: Path, opened: Open) -> None:
    page = opened(html)
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        what = page.evaluate(in_page("focused"))
        if what[0] == "BODY":
            break
        reached.append(what)
    assert all(seen for _, _, seen in reached), reached
    found = {name for _, name, _ in reached}
    assert {"Tasks", "Pictures", "theme", "search", "split-0", "tier-3", "table-1", "tasks"} <= {
        name.split("\n")[0] for name in found
    } | found


def test_parts_are_named_for_those_who_hear_the_page(html: Path, opened: Open) -> None:
    page = opened(html)
    grid = page.get_by_role("grid", name="Tasks")
    assert grid.get_attribute("aria-rowcount") == "6"
    assert grid.get_by_role("columnheader").count() == 8
    assert grid.get_by_role("row").count() == 6
    assert page.get_by_role("row", name=re.compile("mean-fare")).get_attribute("aria-rowindex") == "6"
    assert page.get_by_role("group", name="Tier").get_by_role("checkbox").count() == 4
    assert page.evaluate(in_page("unnamed")) == []
    assert page.get_attribute("html", "lang") == "en"


def test_colours_follow_the_system_and_the_button(html: Path, opened: Open) -> None:
    def ground(page: Page) -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    light, dark = opened(html, color_scheme="light"), opened(html, color_scheme="dark")
    assert ground(light) > 600 > 150 > ground(dark)
    dark.get_by_role("button", name="Switch to light colours").click()
    assert ground(dark) > 600
    dark.reload()
    dark.wait_for_selector("#tasks tbody .main")
    assert ground(dark) > 600, "the choice is kept"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(html: Path, opened: Open, scheme: str) -> None:
    page = opened(html, "#test/mean-fare", color_scheme=scheme)
    page.wait_for_selector("#task-title")
    weak = page.evaluate(in_page("contrast"))
    assert weak == []


HOSTILE = {
    "script": "</script><script>window.harm = 1</script>",
    "comment": "<!--<script>",
    "image": '<img src="x" onerror="window.harm = 1">',
    "attribute": "\" onmouseover='window.harm = 1' x=\"",
    "address": "javascript:window.harm=1 https://example.com/x",
    "control": "a\x00b\x07c\x1b[31md\x7fe\x9bf\u2028g",
    "bidi": "safe \u202eexe.txt\u202c \u2066x\u2069 \u200f",
    "hidden": "zero\u200bwidth\ufeff \U000e0041",
    "right to left": "שלום \u05d0 مرحبا",
    "marks": "Z" + "\u0335\u0321" * 200,
    "wide": "W" * 5000,
    "lines": "\n" * 300 + "end",
    "template": "${window.harm = 1} {{ harm }} <%= harm %>",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with answers, of a catalog in which all that rows, tables and answers say means harm."""
    folder = tmp_path_factory.mktemp("hostile")
    tasks = [
        Made(f"task-{number}", text + "?", tables=(text,), instruction=text, accept=(text,), reject=(text,), gold=text,
             proof="failed")
        for number, text in enumerate(HOSTILE.values())
    ]  # fmt: skip
    harm = HOSTILE["script"] + HOSTILE["image"]
    tasks.append(
        Made("task-path", files={f"environment/data/{HOSTILE['image'].replace('/', '')}\x07\u202e.csv": "a\n"})
    )
    rows = [rejected_row(n, question=text, reason=text) for n, text in enumerate(HOSTILE.values())]
    make_catalog(folder / "c", tasks, rows, name=f"lab/{harm}".replace('"', "'"))
    done = run(folder / "c", "--with-answers")
    assert done.exit_code == 0, done.output
    return folder / "c.html"


def test_texts_that_mean_harm_are_only_text(hostile: Path, opened: Open) -> None:
    page = opened(hostile)
    for fragment in ("?", "pictures", "aside", *(f"train/task-{n}" for n in [*range(len(HOSTILE)), "path"])):
        page.evaluate("address => { location.hash = address; }", f"#{fragment}")
        page.wait_for_timeout(60)
        assert page.evaluate("window.harm") is None
        assert (
            page.locator("img, iframe, object, main script, [onerror], [onmouseover], a[href^='javascript']").count()
            == 0
        )
        assert not re.search(
            r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]", page.inner_text("body")
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), fragment
    page.evaluate("location.hash = '#?'")
    page.fill("#search", "<script>window")
    assert names(page) == ["task-0"]


def test_what_cannot_be_seen_is_written_out(hostile: Path, opened: Open) -> None:
    order = list(HOSTILE)
    page = opened(hostile, f"#train/task-{order.index('bidi')}")
    expect(page.locator(".instruction")).to_have_text("safe ⟨U+202E⟩exe.txt⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200F⟩")
    page = opened(hostile, f"#train/task-{order.index('control')}")
    expect(page.locator(".instruction")).to_have_text("a⟨U+0000⟩b⟨U+0007⟩c⟨U+001B⟩[31md⟨U+007F⟩e⟨U+009B⟩f⟨U+2028⟩g")
    page = opened(hostile, f"#train/task-{order.index('right to left')}")
    expect(page.locator(".instruction")).to_have_text("שלום א مرحبا")


class Listening(BaseHTTPRequestHandler):
    """Somebody outside, who would be glad of a request."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET  # noqa: N815 - the name that the server calls

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_the_policy_stops_what_a_fault_would_let_in(html: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(html.as_uri())
    page.wait_for_selector("#tasks tbody .main")
    with ThreadingHTTPServer(("127.0.0.1", 0), Listening) as outside:
        Thread(target=outside.serve_forever, daemon=True).start()
        page.evaluate(in_page("let_in"), f"http://127.0.0.1:{outside.server_port}")
        outside.shutdown()
    assert page.evaluate("window.harm") is None
    assert page.locator("#tasks").is_visible(), "a style of somebody else's has no effect"
    assert Listening.asked == []
    assert "TrustedHTML" in page.evaluate(
        "() => { try { document.body.innerHTML = '<b>'; } catch (e) { return String(e); } }"
    )
    page.close()


def test_pictures_show_what_is_chosen_and_lead_to_it(html: Path, opened: Open) -> None:
    page = opened(html, "#pictures")
    page.wait_for_selector("#pictures svg")
    titles = page.locator("#pictures figcaption").all_inner_texts()
    assert titles == ["Proof", "Memory limits against measured peaks", "How much of its limit a task needed", "Splits",
                      "Tiers", "Answer types", "Memory limits", "Tables", "Rows set aside, by reason"]  # fmt: skip
    assert page.locator("circle.dot").count() == 4
    expect(page.locator("#pictures")).to_contain_text("least 1.42 (boats-in-all)")
    reasons = page.get_by_role("group", name="Rows set aside by reason").locator("a")
    assert [reason.get_attribute("aria-label") for reason in reasons.all()] == [
        "its golds conflict: 2",
        "there is no gold: 1",
    ]
    page.get_by_role("link", name="eval: 2").click()
    assert names(page) == ["fares-above-3", "fares-by-class"]
    page.get_by_role("link", name="Pictures").click()
    expect(page.locator("#pictured")).to_have_text("Pictures of the 2 chosen of 5 tasks")
    assert page.locator("circle.dot").count() == 1


def test_rows_set_aside_are_searched_by_reason_and_opened(html: Path, opened: Open) -> None:
    page = opened(html, "#aside?kind=there+is+no+gold")
    rows = page.locator("#rows tbody tr[id]")
    assert rows.count() == 1
    expect(page.locator("#aside-count")).to_have_text("1 of 3 rows")
    page.select_option("#kind", label="any")
    page.fill("#aside-search", "row-7")
    assert rows.count() == 1
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.locator("dialog#row h2")).to_have_text("row-7")
    expect(page.locator("dialog#row")).to_contain_text("rows.jsonl:7")
    page.keyboard.press("Escape")
    assert page.locator("dialog#row").is_hidden()


def test_a_phone_has_everything_in_its_width(html: Path, opened: Open) -> None:
    page = opened(html, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    for fragment in ("#?", "#pictures", "#aside", "#test/mean-fare"):
        page.evaluate("address => { location.hash = address; }", fragment)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, fragment
    page.evaluate("location.hash = '#?'")
    assert page.get_by_role("grid", name="Tasks").get_by_role("row").count() == 6
    assert page.locator("#filters").is_hidden()
    page.get_by_role("button", name="Filters", exact=True).click()
    tick(page, "split", "eval")
    page.get_by_role("button", name="Filters", exact=True).click()
    assert names(page) == ["fares-above-3", "fares-by-class"]
    page.select_option("#sort", label="Answer")
    page.locator("#tasks tbody .c-tier").first.tap()
    expect(page.locator("#task h2")).to_have_text("fares-by-class")


def test_an_empty_catalog_and_one_without_the_list_of_rows_say_so(tmp_path: Path, opened: Open) -> None:
    catalog = make_catalog(tmp_path / "c", [])
    (catalog / "rejected.parquet").unlink()
    run(catalog)
    page = opened(tmp_path / "c.html")
    expect(page.locator("#view-tasks")).to_contain_text("This catalog has no tasks.")
    page = opened(tmp_path / "c.html", "#pictures")
    expect(page.locator("#pictures")).to_contain_text("came without the list of rows")


def test_what_was_cut_says_so_on_the_page(tmp_path: Path, opened: Open) -> None:
    files = {f"environment/data/{number:04}.csv": "a\n" for number in range(400)}
    run(make_catalog(tmp_path / "c", [Made("long", instruction="x" * 30_000, files=files)]))
    page = opened(tmp_path / "c.html", "#train/long")
    expect(page.locator("#task")).to_contain_text("The first 20,000 of 30,000 characters")
    expect(page.locator("#task")).to_contain_text("The first 300 of 405 files")


TASKS = 10_000
NODES = 1_500


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 10,000 tasks and 10,000 rows set aside."""
    folder = tmp_path_factory.mktemp("large")
    kinds: dict[str, tuple[Any, ...]] = {
        "split": ("train", "train", "test", "eval"),
        "tier": ("easy", "medium", "hard", None),
        "answer_type": ("number", "text", "list", "date", "boolean"),
        "memory_mb": (1280, 2048, 5120, 9216),
        "proof": ("proven", *["none"] * 10, "failed", *["none"] * 10, "begun"),
    }
    made = (
        Made(
            f"task-{number}",
            f"How many boats does port {number} have?",
            tables=(f"ports-{number % 700}.csv",),
            peak_mb=40 + number % 900,
            **{key: values[number % len(values)] for key, values in kinds.items()},
        )
        for number in range(TASKS)
    )
    make_catalog(folder / "c", made, (rejected_row(number) for number in range(TASKS)))
    assert run(folder / "c").exit_code == 0
    return folder / "c.html"


def nodes(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('body *').length"))


def test_ten_thousand_tasks_are_one_small_file_of_which_little_is_in_the_document(large: Path, opened: Open) -> None:
    assert large.stat().st_size < 4_000_000
    page = opened(large)
    assert page.get_attribute("#tasks", "aria-rowcount") == "10001"
    assert nodes(page) < NODES
    page.evaluate("document.querySelector('#tasks-scroller').scrollTop = 250000")
    page.wait_for_selector("#tasks-4470")
    assert nodes(page) < NODES
    page.locator("#tasks").focus()
    page.keyboard.press("End")
    page.wait_for_selector("#tasks-9999.active")
    assert page.locator("#tasks-9999 .main").inner_text() == "task-9999"
    assert page.evaluate(in_page("in_sight"), "tasks-9999")
    page.keyboard.press("Home")
    for _ in range(30):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(in_page("in_sight"), "tasks-30")
    page.fill("#search", "port 7321 ")
    assert names(page) == ["task-7321"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".instruction")).to_contain_text("How many boats does port 7321 have?")
    page.evaluate("location.hash = '#aside'")
    page.wait_for_selector("#rows-0")
    assert nodes(page) < NODES
    page.evaluate("location.hash = '#pictures'")
    page.wait_for_selector("#pictures svg")
    assert nodes(page) < 3 * NODES


def test_of_many_tables_a_field_finds_one(large: Path, opened: Open) -> None:
    page = opened(large)
    table = page.locator('[data-facet="table"]')
    assert table.locator(".option").count() == 8
    table.get_by_role("searchbox").fill("ports-699")
    table.locator(".option").first.click()
    expect(page.locator("#count")).to_have_text("14 of 10,000 tasks")


def test_coming_back_from_a_task_the_list_is_where_it_was(large: Path, opened: Open) -> None:
    page = opened(large)
    page.evaluate("document.querySelector('#tasks-scroller').scrollTop = 100000")
    page.wait_for_selector("#tasks-1790")
    page.click("#tasks-1790 .c-tier")
    expect(page.locator("#task h2")).to_have_text("task-1790")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#task h2")).to_have_text("task-1791")
    page.go_back()
    page.go_back()
    page.wait_for_selector("#tasks-1790")
    assert page.evaluate("document.querySelector('#tasks-scroller').scrollTop") == 100000
