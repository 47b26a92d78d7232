"""Grades one short answer against one gold answer: reward 1.0 or 0.0, never anything between.

Accepts exactly one final answer, however it is dressed (blanks, quotes, Markdown, LaTeX, a code fence, JSON, "Answer:",
a short sentence, a unit the question asks for), that equals the gold by the rules of its answer type; several values,
spans, bounds, hedges, negations, commands, templates and orders to the grader are wrong even when the gold is in them.

Standard library only, Python >= 3.9; no network, clock or locale. The same file is imported (`grade`, `check_gold`,
`infer_answer_type`, `run_cases`) and run as a program inside a task's verifier:

    python3 -I grader.py --expected expected.json --answer FILE --sentinel sentinel.json --reward-dir DIR

The program writes reward.json ({"reward": 0.0 or 1.0}, the only key) and verdict.json and exits 0. When anything but
the answer is wrong it writes no reward at all, names the cause on stderr and in verdict.json, and exits 2.

Reading order: vocabulary, cleaning, undressing, what the question asks, numbers, text, dates, lists, named fields,
the table of types, golds, cases, the program.
"""

# Older interpreters and a 60 ms start rule out pathlib and zip(strict=); tables of words read best as split strings.
# ruff: noqa: PTH108, PTH112, PTH118, PTH123, PTH105, B905, SIM905, N818, RUF001, S105

from __future__ import annotations

import json
import os
import re
import stat
import sys
import unicodedata
from collections import namedtuple
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache

TYPE_CHECKING = False  # true to a type checker; `typing` itself costs every start some milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from functools import cached_property as part
    from hashlib import sha256
    from re import compile as pattern
    from typing import NamedTuple
else:
    try:
        from _sha2 import sha256  # the same digest as hashlib's, without the milliseconds that loading OpenSSL takes
    except ImportError:
        from hashlib import sha256

    class _Fields(type):
        """Makes a named tuple of a class with annotated fields, as typing.NamedTuple does."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__doc__ = body.get("__doc__")
            return made

    class NamedTuple(metaclass=_Fields):
        """The base of a named tuple."""

    class pattern:  # noqa: N801 - stands for re.compile
        """A regular expression that is compiled when it is first used: one answer needs few of them."""

        def __init__(self, text, flags=0):
            self.source = (text, flags)

        def __getattr__(self, name):
            method = getattr(re.compile(*self.source), name)
            setattr(self, name, method)
            return method

    class part:  # noqa: N801 - stands for functools.cached_property
        """A part of an object that is made when it is first asked for; a copy has the one that its original made."""

        def __init__(self, make):
            self.make = make
            self.name = make.__name__

        def __get__(self, instance, owner):
            original = instance.__dict__.get("original")
            made = self.make(instance) if original is None else getattr(original, self.name)
            instance.__dict__[self.name] = made
            return made


GRADER_VERSION = "1.3.0"

ANSWER_TYPES = (
    "number",
    "integer",
    "percent",
    "currency",
    "text",
    "category",
    "boolean",
    "date",
    "list",
    "ordered_list",
    "set",
    "range",
    "none",
    "fields",
)

MAX_ANSWER = 64 * 1024  # the seal copies no more; longer text is refused before anything reads it
MAX_WORKING = 3000  # characters of working that may stand before a declared final answer
MAX_MARKS = 8  # declarations of one and the same answer
MAX_SENTENCE = 400  # characters of one scalar answer, its sentence included
MAX_DIGITS = 300  # digits, and size of the exponent, of one number
LIST_TYPES = frozenset({"list", "ordered_list", "set"})
SHORT = 64  # characters of a text whose reading is kept for the next answer
KEPT = 4096  # such readings, so that what is kept is small
MAX_LEFTOVER = 48  # items of a list that may need pairing by more than equality
MAX_DEPTH = 24  # nesting of brackets in an answer that is read as JSON

EXACT = Context(prec=4 * MAX_DIGITS, traps=[InvalidOperation])  # wide enough that no difference is ever rounded
SHOWN = Context(prec=20)  # of a number in a reason
TINY = Decimal("1e-9")  # what a derived tolerance grants two programs that print the same float


def _kept(read: Callable[[str], str]) -> Callable[[str], str]:
    """A reading of a text that remembers those of the last short texts."""
    kept = lru_cache(maxsize=KEPT)(read)
    return lambda text: kept(text) if len(text) <= SHORT else read(text)


class GoldError(ValueError):
    """The gold cannot be graded as its type: a fault of the task, never of the answer."""


class Grade(NamedTuple):
    """A verdict: the reward (0.0 or 1.0), how it was reached, why in one sentence, the share of right fields."""

    reward: float
    method: str
    reason: str
    share: float | None = None


class Finding(NamedTuple):
    """What is the matter with a gold: level "refuse" (it cannot be graded) or "warn", and one plain sentence."""

    level: str
    sentence: str


class Tolerance(NamedTuple):
    """How far a number may be off: given (kept to the letter) or, where both are None, derived from the precision."""

    rtol: float | None = None
    atol: float | None = None
    decimals: int | None = None


class Wrong(Exception):
    """The answer is wrong, and this is why; ends a reading at any depth."""


# ---------------------------------------------------------------------------------------------------------------------
# Vocabulary: closed tables of words and signs. A word of an answer counts where a table or the question explains it.
# ---------------------------------------------------------------------------------------------------------------------

# Words that may stand around an answer without changing it.
FRAME = frozenset(
    """a an the this that these those it its it's they there here is was are were be been being has have had do does
    did so thus therefore hence then which who whose what when where answer answers final result results value
    values output total count number sum amount equals equal equal-to exactly precisely in of for on at by with as
    per and to from i we my our get got find found finds compute computed calculate calculated calculation counted
    counting comes came give gives gave yield yields yielded obtained overall altogether only just all out them one
    ones each every data dataset table file column row rows record records entry entries item items unit units based
    using after case cases time times ad ce both correct following respectively namely i.e ie follows also turns
    rounded rounding increased increase rose rise gained gain grew growth up profit positive loss deficit decrease
    decreased decline declined fall fell drop dropped down lost such""".split()
)

# Verbs whose past no ending gives away: a sentence may use one where the question uses another of its row.
IRREGULAR = [
    frozenset(row.split())
    for row in """
    begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|choose chose
    chosen|come came|cost costs|deal dealt|do did done|draw drew drawn|drive drove driven|earn earned|fall fell
    fallen| feed fed|feel felt|find found|fly flew flown|get got gotten|give gave given|go went gone|grow grew
    grown|have has had| hear heard|hold held|keep kept|know knew known|lead led|leave left|lend lent|lie lay
    lain|lose lost|make made|mean meant|meet met|pay paid|read reads|ride rode ridden|rise rose risen|run
    ran|say said|see saw seen|seek sought|sell sold|send sent|show shown showed|shoot shot|sink sank sunk|sit
    sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|swim swam swum|take took
    taken|teach taught|tell told|think thought|throw threw thrown|wear wore worn|weigh weight weighs|win
    won|write wrote written
    """.split("|")
]
WORD_GROUPS: dict[str, list[frozenset[str]]] = {}
for _group in IRREGULAR:
    for _word in _group:
        WORD_GROUPS.setdefault(_word, []).append(_group)
# What a rate is called, and the time it is counted by.
PERIOD_WORDS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year",
                "annual": "year", "annually": "year"}  # fmt: skip

# A number right after one of these is a bound or a guess, even where the question uses the same word.
CUES_BEFORE = frozenset(
    """than over above below under beyond within about around approximately approx roughly nearly almost circa ca close
    near exceeds exceeded exceeding exceed until till upto not never no nor except but without excluding isn't
    wasn't aren't unlike versus vs or between after before since from prior maximum minimum max min up""".split()
)
CUE_PAIRS_BEFORE = frozenset({("at", "least"), ("at", "most"), ("up", "to"), ("as", "much"), ("as", "many")})
CUES_AFTER = frozenset("or plus odd ish something max min maximum minimum tops upwards onwards".split())
CUE_PAIRS_AFTER = frozenset(
    {
        ("at", "least"),
        ("at", "most"),
        ("and", "more"),
        ("and", "counting"),
        ("and", "up"),
        ("and", "above"),
        ("and", "over"),
        ("and", "below"),
    }
)

# A number of these is no number of anything else; rows, records and entries stand for whatever a row describes.
COUNT_NOUNS = {
    **dict.fromkeys("row rows record records entry entries".split(), "row"),
    **{form: noun for noun in ("column", "table", "dataset", "time") for form in (noun, noun + "s")},
}
# That one of them is missing says nothing of what it holds.
HOLDERS = frozenset(COUNT_NOUNS) | {"data", "file", "files"}
HOW_MANY = pattern(r"\b(?:how many|number of|count of)\s+(?:[^\W\d_]+\s+)??(\w+)")
AGE_ASKED = pattern(
    r"\bhow old\b|\b(?:average|mean|median|maximum|minimum|max|min|modal|highest|lowest|oldest|youngest|typical"
    r"|(?:what|which)(?: (?:is|was) the)?)\s+ages?\b"
    r"|\b(?:mean|median|average|deviation|maximum|minimum|range) of (?:the |their |all )?ages?\b(?! group)"
)
OCCURRENCES = pattern(r"\b(?:times|often|ratio|factor|frequen|occur|appear|repeat)")

# In text these never stand beside the one answer.
NEGATIONS = frozenset(
    """not no never none nor neither isn't wasn't aren't weren't doesn't didn't don't hasn't haven't can't cannot won't
    without except excluding but or either instead rather unlike versus vs than non anything everything maybe
    perhaps probably possibly might""".split()
)
# These offer a second value or take the first one back; no question explains them away.
ALTERNATIVES = frozenset("or either maybe perhaps possibly probably alternatively otherwise vs versus".split())
SEPARATING = frozenset({",", ";", "/", "|", "&", "and", "or", "+"})
BESIDE = SEPARATING | {"(", ":", ")", "-"}  # between two values that stand side by side
PREPOSITIONS = frozenset("in of for at on by with from during among amongst within over under above below per".split())
PLACING = ("in", "of", "during", "for", "on", "at")  # "in 2019" is "of 2019"; "below 70" is not "above 70"
NEGATED = pattern(r"\b(?:not|never|nor|neither|cannot|without)\b|n't\b")

LINKS = frozenset("it's is been was are were be in by on at called named : =".split())
VERBS = frozenset("is was are were has have had does did do with".split())
# How a noun begins that is counted, and how one that is not: "how many of the 60 students own more than two cars".
COUNT_LEADS = frozenset({("how", "many"), ("number", "of"), ("count", "of")})
COUNT_FILLERS = frozenset("of the these those all more fewer less different distinct unique other".split())
HAVING = frozenset("with where have has had having whose".split())
DETERMINERS = frozenset("the a an one two three four five six seven eight nine ten than per each every any".split())
NOUN_ENDS = VERBS | PREPOSITIONS | frozenset("that which who whose where when can could will would or not".split())
TOTALS = frozenset(
    "number count sum total amount average mean median mode maximum minimum max min quantity variance deviation".split()
)
LABEL_NOUNS = frozenset(
    """option choice answer label category value code id name letter item number group class""".split()
)
BAD_LABELS = frozenset(
    """system assistant user developer instruction instructions grader note reward prompt todo example echo
    print""".split()
)
# A label that names another statistic than the question does contradicts it.
STATISTICS = frozenset(
    """mean average avg median mode min minimum max maximum std stdev variance lowest highest smallest
    largest""".split()
)
SAME_STATISTIC = (
    frozenset({"mean", "average", "avg"}),
    frozenset({"maximum", "max", "highest", "largest", "biggest", "greatest"}),
    frozenset({"minimum", "min", "lowest", "smallest", "least"}),
)
for _group in SAME_STATISTIC:
    for _word in _group:
        WORD_GROUPS.setdefault(_word, []).append(_group)
SYNONYMS = {"average": "mean", "avg": "mean", "maximum": "max", "minimum": "min", "stdev": "std", "sd": "std"}

# An order to the grader, wherever it stands.
ORDERS = pattern(
    r"\b(?:ignore|disregard|override|bypass|forget)\b[^.\n]{0,60}\b(?:instructions?|graders?|rules?|prompt|checks?|"
    r"previous|above|rubric)\b"
    r"|\b(?:mark|grade|score|award|accept|treat|give|assign|consider)\b[^.\n]{0,40}\b(?:(?:as|is) (?:correct|right)|"
    r"correct\b(?! answer)|full (?:marks|credit|score|points)|rewards?)\b"
    r"|(?:^|[\n<\[])\s*(?:system|assistant|developer)\b\s*[:>\]]"
    r"|\bgrader\b|\brewards?\b\s*[:=]",
    re.IGNORECASE,
)

ORDER_WORDS_NEEDED = (
    *("reward", "grade", "mark", "score", "award", "accept", "treat", "give", "assign", "consider"),
    *("ignore", "disregard", "override", "bypass", "forget", "system", "assistant", "developer"),
)

# A regular expression in place of an answer.
PATTERN = pattern(
    r"(?:\A|[\s^(])\.[*+]|\.[*+]\w|\\[dwsSDW](?![a-zA-Z])[+*]?|\[[^\]\n]{1,20}-[^\]\n]{1,20}\][+*{]|\A[^*]*\w\.[*+]\Z"
)

TRUTH_HEDGES = frozenset(
    """maybe perhaps probably possibly might think guess unsure unless or if but either likely partly almost
    sometimes ?""".split()
)
REASONS = frozenset({"because", "since"})
# What says the opposite of what: sides divided by "/", rows by "|".
OPPOSITES = """
    higher more larger greater bigger above over exceed exceeded exceeds surpassed increase increased rise rose risen
    grow grew grown gained up > / lower less fewer smaller below under decrease decreased fall fell fallen drop dropped
    decline declined shrink shrank down < | highest largest most greatest biggest / lowest smallest least fewest |
    longer / shorter | older / younger newer | faster / slower | heavier / lighter |
    before earlier sooner / after later | better / worse | best / worst | positive positively / negative negatively |
    warmer hotter / colder cooler | wetter / drier | profit / loss | same equal identical consistent / different differ
    """
EQUALS = ("same", "equal", "identical", "tied", "unchanged")
TWO_PLACED = frozenset("than exceed exceeds exceeded surpass surpasses surpassed outperform outperforms < >".split())
END_OF_CLAUSE = frozenset(".?;!,(")
QUANTIFIED = frozenset("any some there all every each both either only".split())
# What a "no" may be followed by without a mark, where it is the answer and no article of a noun ("no data").
AFTER_NO = frozenset("it it's they there here this that these those the a an he she we i because since".split())
AUXILIARIES = frozenset("is are was were does do did has have had".split())
FUNCTION_WORDS = VERBS | PREPOSITIONS | frozenset("the a an any and be been to from this that it one".split())
NO_AMOUNT = NEGATIONS | {"0", "zero"}
NOUN_STOPS = VERBS | PREPOSITIONS | frozenset("that which whose between across".split())
POINTING = frozenset("it they there he she this that these those we all both each".split())
# How much a reason says there is, and to how much of it a question applies.
SOME = frozenset("some several many multiple numerous few one exist exists existed".split())
UNIVERSAL = frozenset("all every each both always".split())
LIMITING = frozenset("only just exactly most never first last half".split())
# Kinds that exclude each other, and ends of which only one is asked for: sides divided by "/", rows by "|".
CONTRARIES = """
    categorical nominal qualitative / numeric numerical continuous quantitative | even / odd | symmetric / skewed |
    present / absent | pass passed passes / fail failed fails | accepted / rejected | valid / invalid |
    unique / duplicate duplicated
    """
ENDS = """
    start started starts begin began begun beginning opening launch / end ended ends finish finished deadline closing
    expiry due | first / last | lower / upper | birth born / death died | arrival arrived / departure departed |
    import imports imported / export exports exported | bought purchase purchased / sold sale sales
    """
FAULTS = frozenset("error errors exception traceback warning failure".split())
AGGREGATES = frozenset("sum count range difference".split())
# Keys that name an answer as such, whatever is asked.
ANSWER_KEYS = frozenset("n num nr pct std sd ans response solution prediction list text min max".split())
DATE_KEYS = frozenset("date day datetime timestamp time month year quarter week".split())
REMAINING = frozenset("remain remains remained remaining left kept retained".split())
OPPOSING_PREFIXES = ("in", "un", "non", "dis", "im", "ir")
YES = frozenset({"yes", "true", "y", "t", "1"})
NO = frozenset({"no", "false", "n", "f", "0"})

ONES = frozenset("zero one two three four five six seven eight nine".split())
NUMBER_WORDS = dict(
    zip(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen""".split(),
        range(20),
    ),
    **dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10))),
)
BIG_WORDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SCALES = {
    "hundred": 100, "hundreds": 100, "thousand": 10**3, "thousands": 10**3, "million": 10**6, "millions": 10**6,
    "billion": 10**9, "billions": 10**9, "trillion": 10**12, "trillions": 10**12, "k": 10**3, "mn": 10**6, "mln": 10**6,
    "mm": 10**6, "mio": 10**6, "m": 10**6, "bn": 10**9, "bln": 10**9, "b": 10**9, "tn": 10**12, "t": 10**12,
}  # fmt: skip
# Scale letters that are units too: the scale is meant unless the question asks for that dimension.
SCALE_UNITS = {"m": "length", "mm": "length", "t": "mass", "k": "temperature", "b": "data"}
# What a change is called, by its direction; a loss and a gain are amounts as well.
DECREASES = frozenset(
    """loss losses deficit lose loses lost losing decrease decreases decreased decreasing decline declines declined
    declining fall falls fell fallen falling drop drops dropped dropping down reduce reduces reduced reduction shrink
    shrank shrunk""".split()
)
INCREASES = frozenset(
    """profit profits gain gains gained gaining increase increases increased increasing rise rises rose risen rising
    grow grows grew grown growing growth up climb climbs climbed""".split()
)
MOVES = DECREASES | INCREASES
AMOUNTS = frozenset("loss losses deficit profit profits gain gains up down".split())
CHANGE_NOUNS = frozenset("decrease decline drop fall loss reduction increase rise gain growth".split())
CHANGE_ASKED = pattern(
    r"\b(?:chang|differ|var[yi]|trend|develop|evol|by how|than\b|compar|effect|impact|affect|mov(?:e|ing)|shift|slope"
    r"|coefficient|rate\b|add|remov|improv|higher|lower|more\b|less\b|fewer|gap\b|deviat)"
)
VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5", "⅗": "3/5", "⅘": "4/5",
          "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}  # fmt: skip

# dimension: names of one unit separated by blanks, units by "|". The first name is the unit's own.
UNIT_TABLE = {
    "mass": """
        kg kilogram kilograms kilogramme kilogrammes kilo kilos kgs | g gram grams gramme grammes gr | mg milligram
        milligrams | µg ug mcg microgram micrograms | t tonne tonnes ton tons | lb lbs pound pounds | oz ounce
        ounces""",
    "length": """
        km kilometre kilometres kilometer kilometers kms | m metre metres meter meters | cm centimetre centimetres
        centimeter centimeters | mm millimetre millimetres millimeter millimeters | µm um micron microns micrometre
        micrometres micrometer micrometers | nm nanometre nanometres nanometer nanometers | mi mile miles | ft foot
        feet | inch inches | yd yard yards""",
    "time": """
        s sec secs second seconds | ms millisecond milliseconds msec | µs us microsecond microseconds | min mins
        minute minutes | h hr hrs hour hours | d day days | wk week weeks | month months mo | yr yrs year years y""",
    "area": """
        m2 sqm sq.m | km2 sqkm | ha hectare hectares | acre acres | cm2 | mm2 | sqft ft2 | mi2 | yd2 | inch2""",
    "volume": """
        l litre litres liter liters | ml millilitre millilitres milliliter milliliters |
        µl microlitre microlitres microliter microliters | dl decilitre decilitres deciliter deciliters |
        m3 | km3 | cm3 | mm3 | ft3 |
        yd3 | inch3 | gal gallon gallons""",
    "speed": "knot knots kt kn",
    "temperature": """
        °c celsius c degc ℃ centigrade degree-celsius degrees-celsius °-celsius degree-c degrees-c °-c |
        °f fahrenheit f degf ℉ degree-fahrenheit degrees-fahrenheit °-fahrenheit degree-f degrees-f °-f |
        k kelvin kelvins""",
    "angle": "° deg degree degrees | rad radian radians",
    "energy": """
        kwh | mwh | gwh | wh | j joule joules | kj kilojoule kilojoules | mj millijoule millijoules | megajoule
        megajoules | cal calorie calories | kcal calorie calories kilocalorie kilocalories""",
    "power": """
        kw kilowatt kilowatts | w watt watts | mw megawatt megawatts | gw gigawatt gigawatts | hp horsepower |
        milliwatt milliwatts""",
    "electric": """
        v volt volts | a amp amps ampere amperes | ma milliampere milliamperes | kv kilovolt kilovolts |
        mv millivolt millivolts""",
    "pressure": """
        pa pascal pascals | hpa hectopascal hectopascals | kpa kilopascal kilopascals | mpa megapascal megapascals |
        bar bars | mbar millibar millibars | psi | mmhg""",
    "frequency": "hz hertz | khz kilohertz | mhz megahertz | ghz gigahertz | bpm | rpm | fps",
    "force": "n newton newtons",
    "light": "lx lux | lm lumen lumens",
    "level": "db decibel decibels",
    "content": "ppm | ppb",
    "resistance": "ω ohm ohms",
    "substance": "mol mole moles | mmol millimole millimoles | µmol umol micromole micromoles",
    "data": """
        byte bytes | kb kilobyte kilobytes | mb megabyte megabytes | gb gigabyte gigabytes | tb terabyte terabytes""",
    "points": """
        pp pps ppt ppts pts percentage-point percentage-points point points %-points
        | bp bps basis-point basis-points""",
    "money": """
        USD us$ usd us-dollar us-dollars us-$ american-dollar american-dollars | EUR € euro euros eur |
        GBP £ gbp sterling quid | JPY ¥ yen jpy | CNY ¥ cny rmb yuan renminbi |
        INR ₹ inr rupee rupees rs | KRW ₩ krw won | RUB ₽ rub rouble roubles ruble rubles | CHF chf franc francs |
        AUD a$ aud au$ | CAD c$ cad ca$ | NZD nz$ nzd | SGD s$ sgd | HKD hk$ hkd | MXN mx$ mxn peso pesos | BRL r$ brl
        real reais | SEK sek kr krona kronor | NOK nok kr krone kroner | DKK dkk kr krone kroner | ISK isk kr krona
        kronur | THB ฿ thb baht | ₱ peso pesos | ARS ars peso pesos | CLP clp peso pesos | IDR idr rp rupiah |
        VND ₫ vnd dong | HUF huf forint forints | UAH ₴ uah hryvnia | NGN ₦ ngn naira | KES kes ksh |
        PLN pln zł zloty zlotys | CZK czk | TRY ₺ lira | ZAR zar rand |
        ILS ₪ shekel shekels | cent cents ¢ c | pence penny""",
}
CURRENCY_SIGNS = frozenset("$€£¥₹₩₽₺₪฿₱₫₴₦")
DOLLARS = frozenset({"USD", "AUD", "CAD", "NZD", "SGD", "HKD"})
# What a question says when it asks for a quantity of that dimension without naming a unit.
DIMENSION_HINTS = {
    "mass": "weight mass weigh heavy heaviest load",
    "length": "length distance height width depth long tall far altitude",
    "time": "time duration delay long wait tenure latency",
    "area": "area",
    "volume": "volume capacity",
    "speed": "speed velocity fast",
    "temperature": "temperature warm hot cold degrees",
    "angle": "angle degrees",
    "energy": "energy consumption",
    "power": "power load",
    "data": "size memory storage",
    "pressure": "pressure",
    "frequency": "frequency pulse heart",
    "force": "force",
    "light": "illuminance",
    "level": "noise sound",
    "content": "concentration",
    "resistance": "resistance",
    "electric": "voltage current",
    "money": """
        price cost revenue income profit loss budget salary wage fee fare amount spend spending spent paid pay
        payment sales balance expense expenses freight charge charges tax value worth turnover bill invoice earnings
        deficit surplus debt subsidy subsidies rent payroll""",
}

MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb febr",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "\n        october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        [
            "monday mon",
            "tuesday tues tue",
            "wednesday weds wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "\n        sunday sun",
        ],
        1,
    )
    for name in names.split()
}
ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}


def _phrases(table: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in table.split("|"))


# Two claims: "there is none" and "it does not apply". The second also says the first, not the other way round.
NONE_WORDS = _phrases("""
    none | no one | no-one | noone | nobody | nothing | null | nil | no match | no matches | no results |
    no answer exists | there is none | there are none | there was none | there were none |
    there isn't any | there aren't any | there isn't one | not one | not a single one | not any | none exist
    | none exists | none of them | none found | no such | empty | empty list | empty set | [] | {}
    """)
ABSENCE_WORDS = frozenset(
    """any such exist exists existed found match matches qualify qualifies qualified cover covers covered apply
    applies applicable not doesn't isn't there one""".split()
)
INAPPLICABLE = _phrases("""
    not applicable | n/a | na | n.a | n.a. | n / a | inapplicable | does not apply | doesn't apply |
    it does not apply | it doesn't apply | not covered | it is not applicable | it's not applicable |
    it is not covered | is not applicable | non applicable
    """)


def _unit_index() -> tuple[dict[str, frozenset[str]], dict[str, str]]:
    """Every written form of a unit to the units it may mean, and each unit to its dimension."""
    forms: dict[str, set[str]] = {}
    dimensions: dict[str, str] = {}
    for dimension, row in UNIT_TABLE.items():
        for names in row.split("|"):
            own = names.split()[0]
            unit = f"{dimension}:{own}"
            dimensions[unit] = dimension
            for name in names.split():
                for form in {name.lower(), name.casefold()}:  # the micro sign casefolds to the Greek letter
                    forms.setdefault(form, set()).add(unit)
    forms["pound"] = forms["pounds"] = {"mass:lb", "money:GBP"}
    dollars = {f"money:{code}" for code in DOLLARS}
    for name in ("dollar", "dollars", "bucks"):
        forms[name] = dollars
    forms["$"] = dollars | {"money:MXN", "money:ARS", "money:CLP"}
    return {form: frozenset(units) for form, units in forms.items()}, dimensions


UNITS, DIMENSIONS = _unit_index()
_LENGTHS = {form: row.split()[0] for row in UNIT_TABLE["length"].split("|") for form in row.split()}
POWER_HINT = pattern(r"[\^²³⁻]|\b(?:sq|cu)|\bcubic", re.IGNORECASE)
POWER_WORD = pattern(
    r"\b(?:(square|sq)|(?:cubic|cu))\b\.?\s?(" + "|".join(sorted(_LENGTHS, key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
POWER_SIGN = pattern(r"(?<=[^\W\d_])(?:\^\{?([23])\}?|([²³]))(?!\w)")
INVERSE = pattern(
    r"(?:(?<=\w)(?<!\bin)[ ]?[·*]?[ ]?|(?<=[(\[])|(?<=in )|(?<=, ))"
    r"([^\W\d_]{1,3})(?:\^\{?-([123])\}?|⁻([¹²³]))(?!\w)"
)
ONE_PER = pattern(r"(?<=\d )1/(?=[^\W\d_])|(?<=in )1/(?=[^\W\d_])|(?<=[(\[])1/(?=[^\W\d_])")


def plain_powers(text: str) -> str:
    """Squares, cubes and inverses of units in one form: "square kilometres", "km^2" and "km²" are km2, "s^-1" is /s."""
    if POWER_HINT.search(text):
        text = POWER_WORD.sub(lambda match: _LENGTHS[match[2].lower()] + ("2" if match[1] else "3"), text)
        text = POWER_SIGN.sub(lambda match: (match[1] or match[2]).translate(POWERS), text)
        text = INVERSE.sub(lambda match: f"/{match[1]}{match[2] or match[3]}".translate(POWERS).rstrip("1"), text)
    text = SPELLED_UNIT.sub(_spelled_unit, text)
    return ONE_PER.sub("/", text) if "1/" in text else text


# Units of several words, each with its short form.
PHRASES = {
    "basis points": "bp", "basis point": "bp", "beats per minute": "bpm", "revolutions per minute": "rpm",
    "frames per second": "fps", "parts per million": "ppm", "parts per billion": "ppb",
}  # fmt: skip
SPELLED_UNIT = pattern(
    r"\b(kilo|mega|giga|)watt[ -]hours?\b|\b(metric)[ -]ton(?:ne)?s?\b|\bpounds?[ -](sterling)\b"
    r"|(?<=[\d ])(p)\.p\b\.?|\b(rs|fr|kr)\.(?=\s?\d)"
    r"|(?<=\d )(" + "|".join(PHRASES) + r")\b|(?<=[^\W\d_])/(?=\d[\d,]* ?[^\W\d_])",
    re.IGNORECASE,
)


def _spelled_unit(match: re.Match[str]) -> str:
    """A unit of two words as one: "megawatt hours" are MWh."""
    if match[1] is not None:
        return {"kilo": "kWh", "mega": "MWh", "giga": "GWh"}.get(match[1].lower(), "Wh")
    if match[5]:
        return {"fr": "CHF "}.get(match[5].lower(), match[5] + " ")
    if match[6]:
        return PHRASES[match[6].lower()]
    return "tonnes" if match[2] else "GBP" if match[3] else " pp" if match[4] else " per "


POWERS = str.maketrans("¹²³", "123")
PREFIXES = {"k": "thousand", "M": "million", "G": "billion"}
MEGATONNES = pattern(r"(?<=\d)\s?([kMG])t\b")
SPEEDS = {"kmh": "km/h", "kph": "km/h", "kmph": "km/h", "mph": "mi/h", "mps": "m/s"}
# Units that differ only in the case of their letters.
CASED_UNITS = {"mW": "power:milliwatt", "Mb": "data:megabit", "MJ": "energy:megajoule", "mA": "electric:ma",
               "Mg": "mass:megagram", "Gb": "data:gigabit", "MV": "electric:megavolt", "mPa": "pressure:millipascal",
               "Kb": "data:kilobit", "mHz": "frequency:millihertz"}  # fmt: skip

# ---------------------------------------------------------------------------------------------------------------------
# Cleaning: bytes to text of one Unicode form, or a refusal.
# ---------------------------------------------------------------------------------------------------------------------

_BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
TRANSLATION = {
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), None),  # invisible
    **dict.fromkeys(map(ord, _BLANKS), " "),
    **dict.fromkeys(map(ord, "\u2028\u2029\u0085"), "\n"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d\u300e\u300f"), '"'),
    ord("\u00b4"): "'",
}
SPLIT_NUMBER = pattern("\\d[\u200b\u200c\u200d\u2060\ufeff\u00ad]+\\d")
BLANKS = pattern(r"\s+")
BLANK_RUN = pattern(r"[ \t]{3,}")
BLANK_LINES = pattern(r"\n(?:[ \t]{0,2}\n)+")
HOSTILE = pattern("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff0-\ufffd]")
OUTER = " \t\n.,;:!\"'。।۔"


def clean(answer: str | bytes) -> str:
    """The answer as text: NFC, one kind of blank, dash and quote. Raises Wrong for what no honest answer holds."""
    if len(answer) > MAX_ANSWER:
        raise Wrong(f"The answer is longer than {MAX_ANSWER} characters.")
    if isinstance(answer, bytes):
        try:
            answer = answer.decode("utf-8")
        except UnicodeDecodeError:
            raise Wrong("The answer is not UTF-8 text.") from None
    if answer.isascii() and answer.isprintable():  # one line: nothing to translate, nothing hostile, no second form
        text = answer.strip(" ")
        return BLANK_RUN.sub("  ", text) if "   " in text else text
    if SPLIT_NUMBER.search(answer):
        raise Wrong("An invisible character stands inside a number.")
    text = answer.replace("\r\n", "\n").replace("\r", "\n").translate(TRANSLATION).strip(" \t\n\u200e\u200f")
    if HOSTILE.search(text):
        raise Wrong("The answer holds control characters.")
    text = BLANK_LINES.sub("\n\n", BLANK_RUN.sub("  ", text))  # no later pattern meets a long run of blanks
    return unicodedata.normalize("NFC", text)


# ---------------------------------------------------------------------------------------------------------------------
# Undressing: fences, marks, quotes, LaTeX, and the sentence that declares the final answer.
# ---------------------------------------------------------------------------------------------------------------------

WRAPPERS = ("**", "__", "`", '"', "'", "$$", "*", "_", "$")
DRESSES = frozenset("`~<\\*_\"'$#•-")
# A fence, with its language, which is no number.
FENCED = pattern(r"\A(```|~~~)(?:(?:[^\W\d][\w+.-]*)?[ ]*\n)?((?:(?!\1).)*)\1\Z", re.DOTALL)
STRUCK = pattern(r"(?<!~)~~(?!~)[^~]*~~(?!~)|<(s|del|strike)>[^<]*</\1>")
TAGGED = pattern(r"\A<(\w{1,12})>(.*)</\1>\Z", re.DOTALL)
# Tags whose content is run, hidden or working, never an answer.
NO_DRESS = frozenset(
    "script style template iframe svg title head think thinking thought reasoning scratchpad error warning".split()
)
LATEX_WRAPPER = pattern(r"\\(?:boxed|fbox|text|textbf|textit|mathbf|mathrm|mathit|emph|underline)\s*\{")
LATEX_MATH = pattern(r"\A\\[(\[](?!.*\\[(\[])(.*)\\[)\]]\Z", re.DOTALL)
LEADING_MARK = pattern(r"\A(?:#{1,6}\s+|[*•]\s+|-\s+(?=[^\W\d]))(?=\S)")
ANSWER_TAG = pattern(r"\A([^<]*\n\s*)<answer>([^<\n]*)</answer>\Z", re.IGNORECASE)
EMPHASIS = pattern(r"(?<![\w*_])(\*\*|__)(?=[^\s*_])([^*_\n]{1,200})(?<!\s)\1(?![\w*_])")
BULLETS = pattern(r"\A[-*•]\s[^\n]*\n(?:[^\n]*\n)?\s*[-*•]\s")  # the first mark of a list is no dress of the whole
MARK = pattern(
    r"(?:\b(?:the|my|our)\s+)?(?:\b(?:final|correct|overall)\s+)?\b(?:answer|result)(?:\*\*|__)?\s*"
    r"(?:is\s*:|is\b|are\b|was\b|[:=]|(?<!\n)-\s)\s*(?:\*\*(?=\s)|__(?=\s))?",
    re.IGNORECASE,
)
HEAD_WORD = pattern(r"[\w'\"{}@\[(<>|$]+")
NEGATION_MARK = pattern(r"(?<![\w!?.)\]\\\"'*_`])!=?\s?(?=[\w(\"'.$€£*_`-])")
SENTENCE_END = pattern(r"[.!?](?:\*\*|__)?\s+")
CONNECTIVES = frozenset("so thus therefore hence and ok then finally so, the my our here is".split())


def _closing(text: str, start: int, opening: str = "{", closing: str = "}") -> int:
    """Where the bracket opened just before `start` closes, or -1."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if depth == 0:
            return position
    return -1


def _peel_once(text: str) -> str:
    text = text.strip(" \t\n")
    if text[:1] not in DRESSES:
        return text  # every dressing around the whole begins with a mark
    match = FENCED.match(text)
    if match:
        return match[2]
    if text[0] == "<":
        match = TAGGED.match(text)
        return match[2] if match and match[1].casefold() not in NO_DRESS else text
    if text[0] == "\\":
        match = LATEX_WRAPPER.match(text)
        if match and _closing(text, match.end()) == len(text) - 1:
            return text[match.end() : -1]
        return LATEX_MATH.sub(r"\1", text)
    for mark in WRAPPERS:
        inner = text[len(mark) : -len(mark)]
        if len(text) > 2 * len(mark) and text == mark + inner + mark and mark not in inner:
            return inner
    return text if BULLETS.search(text) else LEADING_MARK.sub("", text)


def peel(text: str) -> str:
    """The text without the dressing around the whole of it (bounded: ten layers)."""
    if "~~" in text or "</" in text:
        text = STRUCK.sub(" ", text)
    for _ in range(10):
        peeled = _peel_once(text)
        if peeled == text:
            break
        text = peeled
    return text


def _unbox(text: str) -> str:
    """Every \\boxed{x} in a longer text becomes an "answer: x" of its own; two different boxes are two answers."""
    found: list[str] = []
    pieces: list[str] = []
    position = 0
    for match in re.finditer(r"\\boxed\s*\{", text):
        end = _closing(text, match.end())
        if end == -1:
            break
        if match.start() < position:
            continue
        found.append(text[match.end() : end].strip())
        pieces += [text[position : match.start()], found[-1]]
        position = end + 1
    if len({fold(item) for item in found}) > 1:
        raise Wrong("Several different boxed answers are given.")
    return "".join([*pieces, text[position:]])


def _sentence_start(text: str, position: int) -> int:
    """Where the sentence or line around `position` begins."""
    line = text[:position].rfind("\n") + 1
    ends = [line + match.end() for match in SENTENCE_END.finditer(text[line:position])]
    return ends[-1] if ends else line


def declared(text: str) -> str:
    """The sentence that states the final answer; what stands before it is working, which may be short.

    Raises Wrong where two declarations differ, where the working is long, and where nothing is declared after all.
    """
    boxed = "\\boxed" in text
    text = _unbox(text)
    folded = text.casefold()
    marks = list(MARK.finditer(text)) if "answer" in folded or "result" in folded else []
    if not marks and not boxed:
        return text
    if not marks:
        return text[_sentence_start(text, len(text.rstrip())) :]
    if len(marks) > MAX_MARKS:
        raise Wrong("The answer declares many answers.")
    starts = [_sentence_start(text, mark.start()) for mark in marks]
    if starts[-1] > MAX_WORKING:
        raise Wrong("The declared answer stands behind more working than a short answer has.")
    tails = []
    for mark, stop in zip(marks, [*starts[1:], len(text)]):
        tails.append(text[mark.end() : max(stop, mark.end())])
    if len({fold(peel(tail)) for tail in tails}) > 1:
        raise Wrong("Several different answers are declared.")
    head = text[starts[-1] : marks[-1].start()]
    words = HEAD_WORD.findall(head.casefold())
    if all(word in CONNECTIVES for word in words):
        return tails[-1]
    return text[starts[-1] :]


def _may_order(text: str) -> bool:
    """Whether one of the words stands in a text without which no order is given."""
    folded = text.casefold()
    return any(word in folded for word in ORDER_WORDS_NEEDED)


def _behind_hashes(text: str) -> str:
    """What stands behind the one "####" on the last line, or in a tag there, where no other mark is used."""
    tagged = ANSWER_TAG.match(text)
    working, _, last = (tagged[1], "", tagged[2]) if tagged else text.rpartition("\n#### ")
    if "\\boxed" in working:
        raise Wrong("Two answers are declared.")
    alone = "#" not in working and "\n" not in last and not MARK.search(text)
    return last if alone and len(working) <= MAX_WORKING else text


def undress(text: str, ctx: Question) -> str:
    """From a clean answer to the one statement in it, without markup."""
    longer = MAX_ANSWER if ctx.answer_type == "fields" else 8 * len(ctx.gold)
    if len(text) > MAX_WORKING + MAX_SENTENCE + longer:
        raise Wrong("The answer is longer than a short answer with its working.")
    match = ORDERS.search(text) if _may_order(text) else None
    if match and match[0].strip().casefold() not in ctx.known_text:
        raise Wrong("The answer gives the grader an order.")
    if PATTERN.search(text) and not PATTERN.search(ctx.gold):
        raise Wrong("The answer is a pattern.")
    if ctx.answer_type != "fields" and "!" not in ctx.gold and NEGATION_MARK.search(text):
        raise Wrong("A negation mark stands in front of the answer.")
    text = peel(_behind_hashes(text))
    if ("**" in text or "__" in text) and not EMPHASIS.search(ctx.gold):
        text = EMPHASIS.sub(r"\2", text)
    for _ in range(3):
        inner = peel(declared(text))
        if inner == text:
            break
        text = inner
    if not text.strip(OUTER + "*_`"):
        raise Wrong("The answer is empty.")
    return text


# ---------------------------------------------------------------------------------------------------------------------
# What the question asks: its words, numbers, unit, scale and whether it asks for a rate.
# ---------------------------------------------------------------------------------------------------------------------

WORD = pattern(r"[^\W\d_]+(?:'[^\W\d_]+)*|\w+")
QUESTION_SCALE = pattern(
    r"\b(?:in|how many|as|of)\s+(?:us\s+|usd\s+|eur\s+|[$€£]\s*|the\s+)*"
    r"(thousands?|millions?|billions?|trillions?|mn|mln|bn)\b"
    r"|[(\[](?:in\s+)?(?:us)?[$€£]?\s*(thousands?|millions?|billions?|trillions?|mn|mln|bn)\b"
    r"|\b(?:in|as)\s+(?:usd|eur|gbp|dollar|euro)s?\s+(thousands?|millions?|billions?|trillions?)\b"
    r"|(?:\b(?:in|as)\s+|\()[$€£](k|m|mn|bn)\b",
)
RATE = pattern(r"%|\b(?:per ?cent|percent|percentages?|pct|proportion|fraction|share|probability|likelihood|rate)\b")
NOT_A_RATE = pattern(r"\b(?:heart|exchange|hourly|daily|frame|sampling|flow|pulse|data|bit|day)\s+rate\b|\brate per\b")
PERCENT_FIXED = pattern(r"%|\b(?:per ?cent|percent|percentages?|pct)\b")
PERCENT_DEMANDED = pattern(r"\b(?:in|as|as an?)\s+(?:%|per ?cent|percent|percentages?|pct)(?!\w)|\(%\)")
FRACTION_FIXED = pattern(
    r"\bas a (?:fraction|decimal|proportion)\b|\bbetween 0 and 1\b|\bprobability\b|\bfrom 0 to 1\b"
)
LITERAL_END = pattern(r"[\s,;:?()\[\]\"]+")
QUESTION_NUMBER = pattern(r"\d(?:[\d.,]*\d)?")
EACH = pattern(r"(?:\b(?:per|an?|each|every)\s+|(?<![\w)])/)([^\W\d_]+[23]?)\b")
OR_BEYOND = pattern(r"\w or (?:more|less|above|below|over|under|[^\W\d_]{2,}er)\b")  # "5 or more", "2010 or later"
CHOICE = pattern(r"([\w.-]+),?\s+or\s+([\w.-]+)")
COLUMNS = pattern(r"\bcolumns?\s+([^().;?!]*)")
NOUN_END = pattern(r" (?:of|in|with|that|which|for|by|at|on|[?.,;:(]) ")
INNER_UNDERSCORE = pattern(r"(?<=[^\W_])_(?=[^\W_])")
_UNIT_SIGN = r"[^\s\d,;:?!()\[\]\"$€£¥₹]"
UNIT_TOKEN = pattern(rf"[$€£¥₹]|\d[\d.,]*|{_UNIT_SIGN}+(?:\d(?=/){_UNIT_SIGN}+)?(?:\d\b)?|[(\[]")
LOSSES = pattern(r"\b(?:loss|losses|negative|income|profit|deficit|balance|cash flow)\b")
_LOSS = r"\b(?:loss|decrease|decline|fall|drop|reduction)\w*\b"
_MINUS = r"\b(?:negative|(?:an?|the|with) minus|minus sign)\b"
LOSS_IS_NEGATIVE = pattern(
    rf"{_LOSS}[^.]{{0,30}}{_MINUS}|{_MINUS}[^.;]{{0,30}}\b(?:for|if|when|means?|is)\b[^.;]{{0,20}}{_LOSS}"
)
CHANGE_OF_EITHER_SIGN = pattern(
    r"\b(?:did|does|do|has|have|had|what|is|was|compute|calculate|find|give|report|determine)\b[^.;:?!]{0,80}?"
    r"\bchanged?\b"
)
# "Drop the rows with missing values", "whose date falls in May", "add up": nothing in them becomes less or more.
_PARTS = r"(?:rows?|records?|entries|columns?|values?|cells?|lines?|duplicates?|missing|nans?|nulls?|empty)"
NO_MOVE = pattern(
    rf"\bdrop(?:s|ped|ping)? (?:[\w-]+ ){{0,2}}{_PARTS}\b|\b{_PARTS} (?:[\w-]+ ){{0,2}}dropped\b"
    r"|\bfall(?:s|ing) (?:in|on|into|within|between|under)\b|\bup\b"
)
YEAR_ASKED = pattern(r"\b(?:which|what|first|last) year\b")
NATIONS = {  # whose currency a name of several countries' is: "Danish kroner", "Hong Kong dollars", "Korean won"
    "australian": "AUD", "canadian": "CAD", "singapore": "SGD", "zealand": "NZD", "kong": "HKD", "mexican": "MXN",
    "philippine": "₱", "argentine": "ARS", "chilean": "CLP", "swedish": "SEK", "norwegian": "NOK", "danish": "DKK",
    "icelandic": "ISK", "japanese": "JPY", "korean": "KRW",
}  # fmt: skip


def _stem(word: str) -> str:
    """A word without the endings that number, tense and comparison give it."""
    word = word.casefold()
    for ending in ("'s", "ings", "ing", "ers", "er", "ies", "ied", "ed", "es", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


stem = _kept(_stem)


def _sides(table: str) -> list[list[set[str]]]:
    """The rows of a table of opposites, each with the stems of its two sides."""
    return [[{_stem(word) for word in side.split()} for side in row.split("/")] for row in table.split("|")]


DIRECTIONS = _sides(OPPOSITES)
KINDS = _sides(CONTRARIES)
CONTRARY_LABELS = DIRECTIONS + KINDS + _sides(ENDS)
SAME = {_stem(word) for word in EQUALS}


class Question:
    """What a question and its gold let an answer say; what no answer needs to know is never looked for."""

    bare_unit = False  # whether the gold names its unit without the scale that the question asks for

    def __init__(self, question: str, gold: str, answer_type: str) -> None:
        self.text = question.translate(TRANSLATION)
        self.answer_type = answer_type
        self.gold = gold

    @part
    def folded(self) -> str:
        return unicodedata.normalize("NFC", self.text).casefold()

    @part
    def known_text(self) -> str:
        return self.folded + "\n" + self.gold.casefold()

    @part
    def words(self) -> list[str]:
        return WORD.findall(self.folded.replace("_", " "))

    @part
    def raw_words(self) -> set[str]:
        """The words, with the other forms of those whose tense or degree no ending shows."""
        words = set(self.words)
        for word in self.words:
            if word in WORD_GROUPS:
                words.update(*WORD_GROUPS[word])
        return words | {period for word, period in PERIOD_WORDS.items() if word in words}

    @part
    def common_words(self) -> set[str]:
        """The words that stand somewhere without a capital, outside of a choice: no names."""
        return {word for word in WORD.findall(self.text) if word == word.lower() and not word.isdigit()} - self.options

    @part
    def columns(self) -> set[str]:
        """The words of the columns it names."""
        return set(WORD.findall(" ".join(COLUMNS.findall(self.folded)).replace("_", " ")))

    @part
    def options(self) -> set[str]:
        """The words on both sides of an "or"."""
        return {word for pair in CHOICE.findall(self.folded) for word in pair}

    @part
    def stems(self) -> set[str]:
        return {stem(word) for word in self.raw_words}

    @part
    def literals(self) -> set[str]:
        words = (word for text in (self.text, plain_powers(self.text)) for word in LITERAL_END.split(text))
        return {_unit_key(word) for word in words} - {""}

    @part
    def numbers(self) -> set[Decimal]:
        values = (read_decimal(blob) for blob in QUESTION_NUMBER.findall(self.folded))
        return {value for value in values if value is not None}

    @part
    def units(self) -> frozenset[str]:
        phrase = next((phrase for phrase in PHRASES if phrase in self.folded), None)
        units = UNITS[PHRASES[phrase]] if phrase else _asked_units(self.text, self.answer_type == "integer")
        if not units and self.how_old:
            return UNITS["years"]
        if units >= UNITS["pounds"]:  # a mass or a currency; "millions of pounds" of neither may be both
            money = self.answer_type == "currency" or self.raw_words & set(DIMENSION_HINTS["money"].split())
            if money or self.scale == 1 or self.raw_words & set(DIMENSION_HINTS["mass"].split()):
                units -= {"mass:lb" if money else "money:GBP"}
        return units

    @part
    def per_words(self) -> list[str]:
        """What "per", "each" or "monthly" names."""
        named = (period for word, period in PERIOD_WORDS.items() if word in self.raw_words)
        return [*EACH.findall(plain_powers(self.folded)), *named]

    @part
    def periods(self) -> set[str]:
        return {unit for word in self.per_words for unit in UNITS.get(word, ())}

    @part
    def scale(self) -> Decimal:
        match = QUESTION_SCALE.search(self.folded)
        word = next((group for group in match.groups() if group), "") if match else ""
        return Decimal(SCALES.get(word, 1))

    @part
    def moneyed(self) -> bool:
        return self.answer_type == "currency" or _is_money(self.units)

    @part
    def points(self) -> bool:
        return "percentage point" in self.folded or "basis point" in self.folded

    @part
    def rate(self) -> bool:
        """Whether a share is asked for, which may be written in percent or as a fraction."""
        if self.points or ("how many" in self.folded and not PERCENT_FIXED.search(self.folded)):
            return False
        return self.answer_type == "percent" or bool(RATE.search(NOT_A_RATE.sub(" ", self.folded)))

    @part
    def direction(self) -> int:
        """1 where it asks by how much something rose, -1 where it fell, 0 where it asks for neither or for either."""
        if self.signed:
            return 0
        words = set(WORD.findall(NO_MOVE.sub(" ", self.folded))) & MOVES
        words = words - AMOUNTS or words  # "by how much did the loss grow" asks for a growth
        rises, falls = not INCREASES.isdisjoint(words), not DECREASES.isdisjoint(words)
        return rises - falls

    @part
    def signed(self) -> bool:
        """Whether it asks for a change that may be of either sign, or says that a fall has a minus."""
        match = CHANGE_OF_EITHER_SIGN.search(self.folded)
        either = match and MOVES.isdisjoint(WORD.findall(match[0]))
        return bool(either or LOSS_IS_NEGATIVE.search(self.folded))

    @part
    def directions(self) -> list[tuple[int, int]]:
        """The rows of OPPOSITES it speaks of, each with the one side of it."""
        sides = [(row, [side for side in (0, 1) if pair[side] & self.stems]) for row, pair in enumerate(DIRECTIONS)]
        return [(row, said[0]) for row, said in sides if len(said) == 1]

    def opposes(self, stems: set[str], table: list[list[set[str]]]) -> bool:
        """Whether words name one side of a row of which the question names the other alone."""
        return any(
            self.stems & one and not self.stems & other and stems & other and not stems & one
            for row in table
            for one, other in (row, row[::-1])
        )

    @part
    def denied(self) -> set[str]:
        """The stems of what it asks about as not being so: "price" of "which rows have no price"."""
        start = next((at for at, token in enumerate(self.tokens) if token in ("which", "what", "who")), 0)
        clause = self.tokens[start:]
        stop = next((at for at, token in enumerate(clause) if token in ".?;:("), len(clause))
        denial = next((at for at in range(stop) if _denies(clause[at])), stop)
        return {stem(word) for word in clause[denial + 1 : stop] if word not in FUNCTION_WORDS} - {
            stem(noun) for noun in self.asked_for[0]
        }

    @part
    def denials(self) -> set[str]:
        """The stems it has right behind a "not", "no", "without" or "non-" alone: of "were not paid", paid."""
        behind: set[int] = set()
        for at, token in enumerate(self.tokens):
            if _denies(token) or token == "non":
                rest = range(at + 1, min(at + 5, len(self.tokens)))
                behind.update([next((to for to in rest if self.tokens[to] not in FUNCTION_WORDS), at)])
        other = {stem(word) for at, word in enumerate(self.tokens) if at not in behind}
        return {stem(self.tokens[at]) for at in behind if self.tokens[at] not in FRAME} - other

    @part
    def removed(self) -> set[str]:
        """Of "how many rows remain after dropping those with gaps", the stems of what was done to the others."""
        start = next((at for at, word in enumerate(self.tokens) if word in ("after", "once")), 0)
        if not start or REMAINING.isdisjoint(self.words):
            return set()
        clause = _clause(self.tokens[start + 1 :])
        other = self.tokens[:start] + self.tokens[start + 1 + len(clause) :]
        return {stem(word) for word in clause if word not in FRAME} - {stem(word) for word in other}

    def place_of(self, words: Sequence[str]) -> int | None:
        """Where the question first has one of the words, or another form of it; None where it has none of them."""
        forms = {form for word in words if word not in FRAME for form in {word}.union(*WORD_GROUPS.get(word, []))}
        stems = {stem(form) for form in forms} | ({"deviation"} if forms & {"std", "sd", "stdev"} else set())
        return next((at for at, word in enumerate(self.words) if stem(word) in stems or word in stems), None)

    def complements(self, words: Sequence[str]) -> bool:
        """Whether words speak of what the question leaves out: "orders were paid" where it asks how many were not."""
        stems = {stem(word) for word in words}
        if self.denials & stems and not any(_denies(word) or word == "non" for word in words):
            return True
        if self.removed & stems and REMAINING.isdisjoint(words) and not {"after", "once"} & set(words):
            return True
        known = set(self.words)
        strange = [word for word in words if len(word) >= 5 and word not in known and word not in FRAME]
        return any(known & {prefix + word for prefix in OPPOSING_PREFIXES} for word in strange)

    @part
    def conditions(self) -> list[str]:
        """The words of the conditions under which it asks for the gold: of "if no column qualifies, answer none"."""
        gold = f" {' '.join(_tokens_of(self.gold))} "
        told = [f" {part} " for part in self.side_by_side.replace(" ? ", " . ").split(" . ")]
        return [condition for part in told if gold in part for condition in CONDITION.findall(part)]

    @part
    def listed(self) -> set[str]:
        """The stems of the nouns that it lists ("list every code") or may find none of ("if there is no flight")."""
        found: set[str] = set()
        for at, token in enumerate(self.tokens):
            if token in LISTING and (at == 0 or not self.tokens[at - 1][0].isalnum() or self.tokens[at - 1] == "and"):
                rest = enumerate(self.tokens[at + 1 :], at + 1)
                found.update(self._noun_phrase(next((step for step, word in rest if word not in LISTED), at), 3))
        for condition in self.conditions:
            words = condition.split()
            lead = next((at for at, word in enumerate(words) if word in CONDITION_LEADS), len(words))
            for word in [word for word in words[lead + 1 :] if word != "such"][:2]:
                if word in NOUN_ENDS:
                    break
                found.add(stem(word))
        if "record" in found or "row" in found:  # which stand for each other, and for what a file is named after
            found.update(("record", "row"))
            found.update(stem(token.split(".")[0]) for token in self.tokens if "." in token)
        return found

    @part
    def existence(self) -> list[str]:
        """The words of what it asks whether there is any ("missing value in column price"); none where it does not."""
        match = EXISTENCE.match(self.folded)
        if not match:
            return []
        tokens = _tokens_of(self.folded[match.end() :])
        stop = next((at for at, token in enumerate(tokens) if token in "?.,;:(" or token in ALTERNATIVES), len(tokens))
        return tokens[:stop]

    @part
    def compared(self) -> tuple[set[str], set[str]]:
        """What it compares with what: of "is A higher than B", A and B; both empty where it compares nothing."""
        written = TEXT_TOKEN.findall(self.text)[1:]
        words = [_own_word(word) for word in written]
        pivot = next((at for at in range(len(words)) if _turns_on(words, at, set())), len(words))
        if pivot == len(words):
            return self._paired()
        stop = next((at for at in range(pivot, len(words)) if words[at] in END_OF_CLAUSE), len(words))
        start = next((at for at in range(pivot, 0, -1) if words[at] in (".", "?", ":", ";")), 0)
        left = [at for at in range(start, pivot) if _is_thing(words[at]) and words[at] not in words[pivot:stop]]
        right: list[int] = []
        for at in range(pivot, stop):
            if _is_thing(words[at]) and words[at] not in words[:pivot]:
                right.append(at)
            elif right:
                break
        if not left or not right or (words[right[0]][0].isdigit() and not YEAR.match(words[right[0]])):
            return set(), set()
        place = next((word for word in words[pivot + 1 : pivot + 3] if word not in ("that", "those")), "")
        placed = [at for at in left if place in PREPOSITIONS and place == _placing(words[start:at])]
        named = [at for at in placed or left if _is_name(written[at])] if _is_name(written[right[0]]) else placed
        adjective = next((at for at in range(pivot) if _turns(words[at])), pivot)
        nearest = [at for at in left if at < adjective][-1:] or left[-1:]
        return {words[at] for at in named or nearest}, {words[at] for at in right}

    def _paired(self) -> tuple[set[str], set[str]]:
        """Of "compare days of fog and days of rain: is it higher for fog", fog and rain; else two empty sets."""
        match = HIGHER_FOR.search(self.side_by_side)
        if match and _turns(match[1]):
            tokens = self.tokens
            for at in (at for at, token in enumerate(tokens) if token in ("and", "or", "versus", "vs")):
                for lead in (2, 1, 0):
                    pair = [*tokens[at - 1 : at], *tokens[at + 1 + lead : at + 2 + lead]]
                    same = tokens[max(0, at - 1 - lead) : at - 1] == tokens[at + 1 : at + 1 + lead]
                    if same and match[2] in pair and all(map(_is_thing, pair)):
                        return {match[2]}, {*pair} - {match[2]}
        return set(), set()

    @part
    def names(self) -> set[str]:
        """The words behind its first that are written with a capital."""
        return {_own_word(word) for word in TEXT_TOKEN.findall(self.text)[1:] if word[0].isupper()}

    @part
    def counts(self) -> bool:
        return self.answer_type == "integer" and not self.units

    @part
    def counted(self) -> set[str]:
        """The stems of the nouns it asks the number of: of "how many of the 60 students passed", student."""
        found: set[str] = set()
        for at in range(len(self.tokens)):
            if tuple(self.tokens[at : at + 2]) not in COUNT_LEADS:
                continue
            rest = enumerate(self.tokens[at + 2 :], at + 2)
            starts = [step for step, word in rest if word not in COUNT_FILLERS and not word.isdigit()]
            for start in starts[:1]:
                found.update(self._noun_phrase(start, 4))
        return found

    @part
    def not_counted(self) -> set[str]:
        """The stems of what it names as another thing: of "how many species live at one site", site."""
        found: set[str] = set()
        for at, token in enumerate(self.tokens):
            before = self.tokens[max(0, at - 2) : at]
            placed = token in DETERMINERS or token.isdigit()
            if not self.counted:  # "what was the rent of the flats" asks for no flats; "the sum of the fares" for fares
                placed = token == "the" and before[-1:] == ["of"] and before[0] not in TOTALS
            placed = placed and before[-1:] not in (["count"], ["counting"])
            if placed or (token == "the" and self.how_old):
                found.update(self._noun_phrase(at + 1, 2))
        return (found | self._others() if self.counted else found) - self.counted

    def _others(self) -> set[str]:
        """The stems of what a value is named of: carrier in "flights with carrier AA"."""
        pairs = zip(self.tokens, self.tokens[1:], self.tokens[2:])
        return {stem(noun) for word, noun, value in pairs if word in HAVING and value in self.names | {"="}}

    @part
    def population(self) -> set[str]:
        """The stems of the nouns a figure is taken over, where nothing is counted: readings of "over all readings"."""
        found: set[str] = set()
        for at, token in enumerate(self.tokens):
            if token in ("for", "over", "among", "across") and self.tokens[at - 1] not in TOTALS:
                phrase = self._noun_phrase(at + 1 + (self.tokens[at + 1 : at + 2] in (["the"], ["all"])), 2)
                found.update(phrase if stem("column") not in phrase else ())
        return found

    def _noun_phrase(self, start: int, length: int) -> list[str]:
        """The stems of the words from there to the next verb, preposition or mark."""
        phrase: list[str] = []
        for word in self.tokens[start : start + length]:
            if word in NOUN_ENDS or word in DETERMINERS or not word[0].isalnum():
                break
            phrase.append(stem(word))
        return phrase

    @part
    def how_old(self) -> bool:
        return bool(AGE_ASKED.search(self.folded) and not HOW_MANY.search(self.folded))

    @part
    def bullets(self) -> bool:
        return self.answer_type == "integer" and "how many" in self.folded

    @part
    def side_by_side(self) -> str:
        """The words and numbers with one blank between them and around."""
        return f" {' '.join(self.tokens)} "

    @part
    def tokens(self) -> list[str]:
        return _tokens_of(self.text)

    def explains(self, word: str) -> bool:
        """Whether a word of an answer comes from the question or is a word any sentence may hold."""
        if word in ALTERNATIVES:
            return False
        parts = [part for part in word.replace(".", "_").split("_") if part]
        return all(stem(part) in self.stems or part in FRAME or self.states_code(part) for part in parts)

    def states_code(self, word: str) -> bool:
        """Whether it has this word of letters and digits (B6)."""
        return not word.isalpha() and not word.isdigit() and self.says(word)

    def asks(self, word: str) -> bool:
        """Whether it asks for a bound ("by which date", "since when"), so that the answer may name it as one."""
        return any(self.says(word, interrogative) for interrogative in ("which", "what", "when"))

    def states(self, phrase: str) -> bool:
        """Whether a phrase of several words is the question's own, and neither a name nor one of its options."""
        tokens = _tokens_of(phrase.strip(OUTER))
        if len(tokens) < 2 or tuple(tokens) in CUE_PAIRS_BEFORE or not all(token[0].isalnum() for token in tokens):
            return False
        if self.signed and not MOVES.isdisjoint(tokens):
            return False  # "(a decline)" is the sign of the value
        firsts = PLACING if tokens[0] in PLACING else tokens[:1]
        if not any(self.says(first, *tokens[1:]) for first in firsts):
            return False
        if "or" in tokens:
            return bool(OR_BEYOND.search(" ".join(tokens)))
        return self.options.isdisjoint(tokens)

    def says(self, *words: str) -> bool:
        """Whether the question has these words and numbers side by side."""
        return f" {' '.join(words)} " in self.side_by_side

    @part
    def asked_for(self) -> tuple[set[str], list[list[str]]]:
        """The nouns after "which" or "what" (postal, code), and what may follow them (has the most orders)."""
        tokens = self.tokens
        nouns: set[str] = set()
        clauses: list[list[str]] = []
        for at, token in enumerate(tokens):
            if token not in ("which", "what", "who"):
                continue
            if token == "who":
                clauses.append(_clause(tokens[at + 1 :]))
                continue
            if tokens[at + 1 : at + 2] in (["is"], ["was"]):
                clause = " ".join(tokens[at:]) + " ? "
                nouns.update(NOUN_END.split(clause)[0].split()[-1:])
            for step in range(1, min(4, len(tokens) - at)):
                word = tokens[at + step]
                if (word in FRAME and word not in LABEL_NOUNS) or not word[0].isalnum():
                    break
                nouns.add(word)
                clauses.append(_clause(_past_file(tokens[at + step + 1 :])))
        return nouns, clauses


CONDITION = pattern(r"(?<= if )[^,;:()]+?(?= [,;:()\"'] | ?\Z)")
CONDITION_LEADS = frozenset("no every all each any".split())
LISTING = frozenset("list name give take find return report show identify".split())
LISTED = frozenset("the all each every any of distinct different unique me those these name names value values".split())
EXISTENCE = pattern(
    r"\A(?:(?:is|are|was|were) there|(?:do|does|did) there exist)\s+(?:ever\s+)?(?:(?:any|an?|some|at least one)\s+)?"
    r"|\A(?:do|does|did) (?=.*\b(?:any|at least one)\b).*?\b(?:any|at least one)\s+",
    re.DOTALL,
)


HIGHER_FOR = pattern(r" (\w+) (?:for|in|on|at|among|during|with) (?:[^ ]+ )?(\w+) \?")


def _denies(word: str) -> bool:
    return word in ("no", "not", "without", "never") or word.endswith("n't")


def _own_word(word: str) -> str:
    """A word in small letters without a possessive ending; the article is no word, the name A is one."""
    word = word.replace("'s", "")
    return "" if word == "a" else word.casefold()


def _turns_on(words: list[str], at: int, things: set[str]) -> bool:
    """Whether one thing is held against another there: by "than", or by "above" in front of one of those things."""
    above = words[at] in ("above", "below", "over", "under") and words[at + 1 : at + 2]
    return words[at] in TWO_PLACED or bool(above and (above[0] in things or above[0] in ("that", "those")))


def _placing(words: list[str]) -> str:
    """The last preposition among them, or nothing."""
    return next((word for word in reversed(words) if word in PREPOSITIONS), "")


def _is_name(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()


def _is_thing(word: str) -> bool:
    """Whether a word can be what is compared."""
    return word[:1].isalnum() and (word not in FRAME or word == "a") and word not in TWO_PLACED and not _turns(word)


def _turns(word: str) -> bool:
    return any(stem(word) in side for pair in DIRECTIONS for side in pair)


@lru_cache
def _question_read(question: str, gold: str, answer_type: str) -> Question:
    return Question(question, gold, answer_type)


def question_of(question: str, gold: str, answer_type: str) -> Question:
    """A question, read once however many answers to it are graded; each grade has a copy of its own to change."""
    original = _question_read(question, gold, answer_type)
    copy = object.__new__(Question)
    copy.__dict__.update(original.__dict__, original=original)
    return copy


IN_FILE = pattern(r"\A(?:, )?(?:" + "|".join(sorted(PREPOSITIONS)) + r") (?:[^ ]+ ){0,3}?[^ ]+\.[^ ]*(?: ,)?(?: |\Z)")


def _past_file(tokens: list[str]) -> list[str]:
    """The tokens without "in the file cars.csv" in front."""
    return IN_FILE.sub("", " ".join(tokens)).split()


def _clause(tokens: list[str]) -> list[str]:
    """The tokens up to the next mark that ends a clause."""
    stop = next((at for at, token in enumerate(tokens) if token in "?.,;:("), len(tokens))
    return tokens[:stop]


NO_UNITS: frozenset[str] = frozenset()
SENTENCE = pattern(r"(?:[^.?!;]|[.?!;](?!\s|\Z))+[.?!;]?")
# A sentence that says how the data are, and asks nothing: a verb of being or having comes before any word that asks.
TELLING = pattern(
    r"\s*(?:(?!\b(?:what|which|who|whose|where|when|how|if|that|answer|result|report|give)\b)[^?(])*?"
    r"\b(?:is|are|has|have|gives|holds|contains)\b[^?]*\Z",
    re.IGNORECASE,
)
COUNTING = pattern(
    r"\b(?:how many|number of|count(?:ed|ing)?|how often|how large|frequency|size|length)\b", re.IGNORECASE
)
ANNOUNCING = frozenset("in into to as many much number".split())
SELECTING = frozenset("with where when which that from between".split())


def units_of(key: str) -> frozenset[str]:
    """The units a written form may mean; `a/b` is made of its parts."""
    key = SPEEDS.get(key, key)
    if key.count("/") != 1:
        return UNITS.get(key, NO_UNITS)
    above, below = key.split("/")
    return frozenset(f"{first}/{second}" for first in UNITS.get(above, ()) for second in UNITS.get(below, ()))


def _is_money(units: frozenset[str]) -> bool:
    return any(DIMENSIONS.get(unit) == "money" for unit in units)


def _unit_key(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text.lower()
    return text.replace("²", "2").replace("³", "3").replace("^", "").replace("·", "*").strip(".").lower()


def _asked_units(text: str, whole: bool) -> frozenset[str]:
    """The units a question asks for: those it announces ("in metres", "how many days"), else all that it names.

    A sentence that tells of the data ("The column is in feet.") announces none beside one that asks; what is counted
    (`whole`) without being announced may be days, and no degrees.
    """
    sentences = [sentence for sentence in SENTENCE.findall(text) if not TELLING.match(sentence)]
    announced, named = _named_units(" ".join(sentences))
    if announced:
        return announced
    named = named or _named_units(text)[1]
    counted = whole and COUNTING.search(text)
    return frozenset(unit for unit in named if DIMENSIONS.get(unit) == "time") if counted else named


def _named_units(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The units a text announces and all it names, apart from those that belong to a number ("larger than 1 MB").

    Short forms count only where a unit is announced: "in kg", "(kg)", "[kg]", or at the end of a column's name.
    """
    tokens = UNIT_TOKEN.findall(INNER_UNDERSCORE.sub(" _ ", plain_powers(text)))
    found: set[str] = set()
    announced: set[str] = set()
    for position, token in enumerate(tokens):
        key = _unit_key(token)
        before = tokens[position - 1].lower() if position else ""
        units = units_of(key)
        if not units or before[:1].isdigit() or before == "per":
            continue
        if (
            key.isalpha()
            and len(key) <= 3
            and before not in ("in", "(", "[", "_")
            and not (
                before == "of" and tokens[position - 2].lower() in SCALES and _is_money(units)
            )  # "billions of yen"
            and f"money:{NATIONS.get(before)}" not in units
            and (before != "many" or key in ("won", "yen", "bit"))
            and key not in ("usd", "eur", "gbp", "kwh")
        ):
            continue
        nation = f"money:{NATIONS.get(before, 'USD')}"
        if nation in units:
            units = frozenset({nation})
        following = [_unit_key(part) for part in tokens[position + 1 : position + 3]]
        if len(following) == 2 and following[0] == "per" and following[1] in UNITS:
            money = {unit for unit in units if DIMENSIONS.get(unit) == "money"}
            units = frozenset(f"{first}/{second}" for first in units for second in UNITS[following[1]]) | money
        units |= {unit.split("/")[0] for unit in units if unit.startswith("money:")}
        found |= units
        selects = following[:1] and following[0] in SELECTING  # "in hours with rain"
        if not selects and not ANNOUNCING.isdisjoint(word.lower() for word in tokens[max(0, position - 3) : position]):
            announced |= units
    return frozenset(announced), frozenset(found)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers: exact decimals read from tokens, with sign, percent, scale and unit.
# ---------------------------------------------------------------------------------------------------------------------


class Quantity(NamedTuple):
    """A number as written: its value, whether a percent sign, a scale word or a unit stood beside it."""

    value: Decimal = Decimal(0)
    percent: bool = False
    scaled: bool = False
    units: frozenset[str] = frozenset()
    money: bool = False
    special: str = ""  # nan, inf, -inf or none
    spelled: bool = False  # the unit is a word behind the number, no currency's sign or code


class Token(NamedTuple):
    kind: str  # num, word or sym
    text: str
    start: int
    end: int
    value: Decimal = Decimal(0)


SPECIALS = {
    **dict.fromkeys(["nan", "not a number", "float('nan')", 'float("nan")', "np.nan", "numpy.nan", "math.nan"], "nan"),
    **dict.fromkeys(["inf", "+inf", "infinity", "+infinity", "positive infinity", "infinite", "∞", "+∞"], "inf"),
    **dict.fromkeys(["float('inf')", 'float("inf")', "np.inf", "numpy.inf", "math.inf", "\\infty", "+\\infty"], "inf"),
    **dict.fromkeys(["float('-inf')", 'float("-inf")', "-np.inf", "-numpy.inf", "-math.inf"], "-inf"),
    **dict.fromkeys(["-inf", "-infinity", "negative infinity", "minus infinity", "-∞", "-\\infty"], "-inf"),
    **dict.fromkeys(["none", "null"], "none"),
}

TOKEN = pattern(
    r"(?P<frac>\\[dt]?frac\s*\{\s*-?[\d.,]{1,40}\s*\}\s*\{\s*[\d.,]{1,40}\s*\})"
    r"|(?P<num>(?:\d(?:\d|[.,'_](?=\d)|[ ](?=\d{3}(?!\d)))*|\.\d+)\.?(?:[eE][+-]?\d+(?!\w))?"
    r"(?:\s*(?:[x×*·⋅]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[{(]?\s*[+-]?\d+(?:\s*[})])?)?)"
    r"|(?P<vulgar>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])"
    r"|(?P<word>[^\W\d_][\w]*(?:'[^\W\d_]+)?)"
    r"|(?P<sym>\S)"
)
BARE_NUMBER = pattern(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?\Z")  # nothing around it that could ask for a reading
YEAR = pattern(r"[12]\d{3}\Z")
# What the question states so too: an ordinal then names something ("1st class"), a day is no more than its year.
STATED_NUMBER = pattern(r"(?<![\w.-])(?:\d+(?:st|nd|rd|th)|([12]\d{3})-\d\d-\d\d)(?![\w-])", re.IGNORECASE)
EXPONENT = pattern(r"[eE](?=[+-]?\d)|\s*(?:[x×*·⋅]|\\times|\\cdot)\s*10\s*(?:\^|\*\*)\s*[{(]?\s*")
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
INLINE_MATH = pattern(r"(?<![\w$])\$([^$\s]{1,60}|[\d.]{1,40} \\times 10\^\{?-?\d{1,4}\}?)\$(?![\w$])")
LATEX_BLANK = pattern(r"\\[,;: ]")
LATEX_TEXT = pattern(r"\\(?:text|mathrm)\{([^{}]{0,40})\}")
LATEX_DEGREE = pattern(r"\^\s?(?:\{\s?\\circ\s?\}|\\circ(?![a-zA-Z]))|\\degree(?![a-zA-Z])")
TEN_POWER = pattern(r"(10)([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)")
_POWER = r"[²³]?(?:\^?\d(?!\d))?"
PERCENT = pattern(r"(?:%|(?:percent|pct|per\s+cent)\b)(\s*-?\s*points?\b)?|percentage(\s+points?\b)", re.IGNORECASE)
UNIT_TEXT = pattern(rf"\s*((?:°|µ|μ)?[^\W\d_°µ]+{_POWER}(?:[/·*][^\W\d_]+{_POWER})*|°[CFcf]?|[℃℉])")
GROUPED = pattern(r"\d{1,3}([ ,.'_])\d{3}(?:\1\d{3})*\Z")
DOTTED = pattern(r"(?:\d+\.?|\d*\.\d+)\Z")
COMMA_DECIMAL = pattern(r"(?:0\d*|\d{4,}|\d{1,3}(?!,\d{3}\Z)),\d+\Z")
GROUPED_DECIMAL = pattern(r"(\d{1,3}([ ,.'_])\d{3}(?:\2\d{3})*)(?!\2)[.,](\d*)\Z")
PLACES = pattern(
    r"[(,]?\s*\b(?:rounded|rounding)?\s*(?:to|at|with)\s+"
    r"(?:the\s+nearest\s+[a-z]+|(?:\d{1,2}|one|two|three|four|five|six)\s+"
    r"(?:decimals?(?:\s+places?)?|d\.?p\.?|digits?|significant\s+(?:figures?|digits?)|s\.?f\.?))\s*\)?",
    re.IGNORECASE,
)
_SUM = r"[\d\s.,+\-*/×÷()%$€£]*"
ARITHMETIC = pattern(rf"\A{_SUM}\d{_SUM}[+\-*/×÷]{_SUM}=\s*(?=\S)")
LABEL = pattern(r"\A@?([^\W\d][\w .'\"()/-]{0,60}?)[\"'`*_]*\s*(?::|=(?!=)|==?>|->)\s*(?=\S)")
# Signs that stand for a statistic, each with the words of a question that asks for it.
SYMBOLS = {
    "r^2": "squared r2 r² determination", "r²": "squared r2 r² determination", "\\mu": "mean average",
    "\\bar{x}": "mean average", "μ": "mean average", "\\sigma": "std deviation", "σ": "std deviation",
    "\\sigma^2": "variance", "σ²": "variance", "s^2": "variance", "\\rho": "correlation", "ρ": "correlation",
}  # fmt: skip
# Names likewise; one letter may mean much else, and counts only where the question asks for one of these by name.
STATISTIC_NAMES = {
    **dict.fromkeys(["p-value", "p value", "pvalue", "p_value"], "p significance probability"),
    **dict.fromkeys(["r2", "r-squared", "r squared", "r_squared"], "squared r2 r² determination"),
    **dict.fromkeys(["rmse", "root mean squared error"], "rmse root"), "mse": "mse squared", "mae": "mae absolute",
    **dict.fromkeys(["correlation", "pearson"], "correlation correlated pearson"), "spearman": "spearman rank",
    "covariance": "covariance", "slope": "slope regression gradient", "iqr": "iqr interquartile",
    **dict.fromkeys(["q1", "q2", "q3"], "quartile quartiles percentile median"), "p": "p probability",
    "r": "r correlation correlated pearson spearman", "t": "t statistic test", "f": "f statistic test",
}  # fmt: skip
SYMBOLS.update(STATISTIC_NAMES)
QUARTILE_NAMES = frozenset("iqr q1 q2 q3".split())
NAME_ASKED = pattern(
    r"\b(?:what(?:'s| is| was)|give|report|compute|calculate|find|evaluate)(?: the| its)? "
    r"((?:(?!(?:of|between|for|in|on|from|with|by|and)\b)[\w'()-]+[ ]?){1,6})"
)
SYMBOL = pattern(
    r"\A(" + "|".join(map(re.escape, sorted(SYMBOLS, key=len, reverse=True))) + r")\s*[=:]\s*", re.IGNORECASE
)
FIELD = pattern(r"\A@\w+\[(.*)\]\Z", re.DOTALL)


def read_decimal(blob: str) -> Decimal | None:
    """The one value of digits with group and decimal marks, or None where there is none or more than one reading.

    A comma before exactly three digits groups ("1,234"), a single dot never does ("1.234"); with two kinds of mark the
    last is the decimal mark.
    """
    if len(blob) > MAX_DIGITS:
        return None
    if DOTTED.match(blob):
        return Decimal(blob)
    if COMMA_DECIMAL.match(blob):
        return Decimal(blob.replace(",", "."))
    match = GROUPED.match(blob)
    if match:
        return Decimal(blob.replace(match[1], ""))
    match = GROUPED_DECIMAL.match(blob)
    return Decimal(f"{match[1].replace(match[2], '')}.{match[3]}") if match else None


def _power(mantissa: Decimal | None, exponent: str) -> Decimal | None:
    power = Decimal(exponent)
    return mantissa.scaleb(power, EXACT) if mantissa is not None and abs(power) <= MAX_DIGITS else None


def _token_values(match: re.Match[str]) -> list[Decimal | None]:
    """The values one number token stands for: one, or several where blanks do not group it."""
    text = match.group()
    if match.lastgroup == "vulgar":
        above, below = VULGAR[text].split("/")
        return [EXACT.divide(Decimal(above), Decimal(below))]
    if match.lastgroup == "frac":
        above, below = re.findall(r"\{\s*(-?[\d.,]+)\s*\}", text)
        return [_divide(read_decimal(above.lstrip("-")), read_decimal(below), above.startswith("-"))]
    parts = EXPONENT.split(text)
    value = read_decimal(parts[0].rstrip("."))
    if value is None:
        return [read_decimal(piece) for piece in parts[0].rstrip(".").split(" ")]
    for exponent in parts[1:]:
        value = _power(value, exponent.strip("}) "))
    return [value]


def _divide(above: Decimal | None, below: Decimal | None, negative: bool = False) -> Decimal | None:
    if above is None or not below:
        return None
    quotient = EXACT.divide(above, below)
    return -quotient if negative else quotient


def scan(text: str) -> list[Token]:
    """Numbers, words and signs in the order they stand; Raises Wrong for digits with no single reading."""
    tokens: list[Token] = []
    for match in TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if kind in ("word", "sym"):
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
            continue
        for value in _token_values(match):
            if value is None:
                raise Wrong(f"{_show(match.group())} has no single reading as a number.")
            tokens.append(Token("num", match.group(), match.start(), match.end(), value))
    return _join_fractions(tokens)


def _join_fractions(tokens: list[Token]) -> list[Token]:
    """`1/2` and `1 ½` become one number each."""
    joined: list[Token] = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        after = tokens[position + 1 : position + 3]
        if [part.kind for part in (token, *after)] == ["num", "sym", "num"] and after[0].text == "/":
            value = _divide(token.value, after[1].value)
            if value is None:
                raise Wrong("The fraction divides by zero.")
            if value == token.value:
                raise Wrong("Two numbers with a stroke between them are two values, not one.")
            token = Token("num", token.text + "/" + after[1].text, token.start, after[1].end, value)
            position += 2
        mixed = "/" in token.text[1:] or token.text in VULGAR
        if mixed and joined and joined[-1].text.isdigit() and token.value < 1:
            whole = joined.pop()
            token = Token("num", "", whole.start, token.end, whole.value + token.value)
        joined.append(token)
        position += 1
    return joined


def read_number_words(words: Sequence[str]) -> Decimal | None:
    """The value of "forty-two", "two thousand and nineteen", "four point two million"; None when it is no number."""
    total = group = Decimal(0)
    last = ""
    for position, word in enumerate(words):
        if word in NUMBER_WORDS:
            small = NUMBER_WORDS[word]
            if last in NUMBER_WORDS and not (NUMBER_WORDS[last] >= 20 and 0 < small < 10):
                return None
            group += small
        elif word == "hundred":
            group = (group or Decimal(1)) * 100
        elif word == "dozen" and len(words) - position == 1:
            group = (group or Decimal(1)) * 12
        elif word in BIG_WORDS:
            total += (group or Decimal(1)) * BIG_WORDS[word]
            group = Decimal(0)
        elif word == "point":
            return _spoken_decimal(total + group, words[position + 1 :])
        elif word == "and":
            continue
        else:
            return None
        last = word
    return total + group


def _spoken_decimal(whole: Decimal, words: Sequence[str]) -> Decimal | None:
    digits = "".join(str(NUMBER_WORDS[word]) for word in words if word in ONES)
    scale = {"": 1, **BIG_WORDS}.get(" ".join(words[len(digits) :]))
    return Decimal(f"{whole}.{digits}") * scale if digits and scale else None


def _words_to_numbers(tokens: list[Token]) -> list[Token]:
    """Number words become numbers where no digits stand; "one" alone in a longer run of words stays a word."""
    if any(token.kind == "num" for token in tokens):
        return tokens
    spoken = {*NUMBER_WORDS, *BIG_WORDS, "hundred", "dozen", "point"}
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        stop = position
        while stop < len(tokens) and (
            tokens[stop].text.casefold() in spoken or (stop > position and tokens[stop].text.casefold() in ("and", "-"))
        ):
            stop += 1
        while stop > position and tokens[stop - 1].text.casefold() in ("and", "-"):
            stop -= 1
        words = [token.text.casefold() for token in tokens[position:stop] if token.text != "-"]
        value = read_number_words(words) if words else None
        if value is None:
            result.append(tokens[position])
            position += 1
        else:
            result.append(Token("num", " ".join(words), tokens[position].start, tokens[stop - 1].end, value))
            position = stop
    return result


class Reader:
    """Reads every quantity of one statement, then asks that nothing else in it is unexplained."""

    def __init__(self, text: str, ctx: Question) -> None:
        text = INLINE_MATH.sub(r"\1", text)
        if not text.isascii():
            text = TEN_POWER.sub(lambda match: f"{match[1]}^{match[2].translate(SUPERSCRIPTS)}", text)
        if "\\" in text:
            text = LATEX_TEXT.sub(r"\1", LATEX_BLANK.sub(" ", LATEX_DEGREE.sub("°", text)))
        text = STATED_NUMBER.sub(lambda said: said[1] or "" if said[0].casefold() in ctx.literals else said[0], text)
        text = plain_powers(text)
        if ctx.scale != 1 and "mass:t" in ctx.units:
            text = MEGATONNES.sub(lambda match: f" {PREFIXES[match[1]]} tonnes", text)
        self.text = text
        self.ctx = ctx
        self.tokens = _words_to_numbers(scan(self.text))
        self.used: set[int] = set()
        self.found: list[tuple[int, Quantity]] = []
        for position, token in enumerate(self.tokens):
            if token.kind == "num" and position not in self.used:
                self.found.append((position, self._quantity(position)))

    def _word(self, position: int) -> str:
        return self.tokens[position].text.casefold() if 0 <= position < len(self.tokens) else ""

    def _quantity(self, position: int) -> Quantity:
        self.used.add(position)
        value = self.tokens[position].value
        negative, units, first = self._left(position)
        percent, scale, right, last = self._right(position)
        money = _is_money(units | right)
        if units and right and not (units & right):
            raise Wrong("Two different units are named.")
        opened, closed = self._word(first - 1) == "(", self._word(last + 1) == ")"
        if opened and closed and not percent and self._accounting(money):
            if negative:
                raise Wrong("A minus sign inside accounting parentheses has no single reading.")
            negative = True
        if self._turned(first, last + 1):
            if negative:
                raise Wrong("A decrease by a negative amount has no single reading.")
            negative = True
        value = EXACT.multiply(value, Decimal(scale or 1))
        spelled = bool(right) and not (money and len(self._word(last)) <= 3)
        named = (units & right) or units or right
        return Quantity(-value if negative else value, percent, bool(scale), named, money, spelled=spelled)

    def _accounting(self, money: bool) -> bool:
        return money or self.ctx.answer_type == "currency" or bool(LOSSES.search(self.ctx.folded))

    def _turned(self, first: int, after: int) -> bool:
        """Whether words beside the number ("a loss of", "fell by", "6 % decrease") turn its sign.

        The direction that the question asks for turns nothing, the opposite one does. Where no change is asked for, one
        that restates the question turns nothing ("it fell below 2.5 in 1996").
        """
        said = [self._word(at) for at in range(len(self.tokens))]
        if MOVES.isdisjoint(said):
            return False
        before, behind = said[:first], said[after:]
        words = [word for word in before if word in MOVES]
        if self.ctx.signed and self._word(first) not in ("-", "minus", "negative"):
            words += [word for word in behind if word in MOVES]
        elif behind and behind[0] in CHANGE_NOUNS:
            words.append(behind.pop(0))
        opposite = {1: DECREASES, -1: INCREASES}.get(self.ctx.direction, frozenset())
        if any(word in opposite and word not in self.ctx.raw_words for word in behind):
            raise Wrong("The direction stated is the opposite of the one that was asked for.")
        if not words:
            return False
        words = [word for word in words if word not in AMOUNTS] or words
        if len({word in INCREASES for word in words}) > 1 and not all(word in self.ctx.raw_words for word in words):
            raise Wrong("The answer says that it rose and that it fell.")
        if self.ctx.direction or self.ctx.signed:
            return (self.ctx.direction == -1) is not (words[0] in DECREASES)
        a_change = "by" in before or (before[-1:] == ["of"] and not (CHANGE_NOUNS - AMOUNTS).isdisjoint(before[-2:]))
        if a_change and not CHANGE_ASKED.search(self.ctx.folded):
            raise Wrong("The answer states a change where none was asked for.")
        if AMOUNTS.isdisjoint(words) and self.ctx.raw_words.issuperset(words):
            return False
        year = YEAR.match(self._word(after - 1)) and YEAR_ASKED.search(self.ctx.folded)
        placed = year or (before and before[-1] in PLACING and before[-1] != "of")
        stems = {stem(word) for word in words}
        meant = placed and any(stems <= DIRECTIONS[row][side] for row, side in self.ctx.directions)
        return words[0] in DECREASES and not meant

    def _left(self, position: int) -> tuple[bool, frozenset[str], int]:
        """Sign and currency before a number, and where they begin."""
        negative, units, at = False, frozenset[str](), position - 1
        signed = False
        for _ in range(6):
            word = self._word(at)
            touching = self.tokens[at].end == self.tokens[at + 1].start
            if word in ("-", "+") and not signed and (touching or at == 0) and not self._glued(at):
                negative, signed = word == "-", True
            elif word in ("minus", "negative", "plus") and not signed:
                negative, signed = word != "plus", True
            elif word in CURRENCY_SIGNS:
                units = UNITS[word]
                joined = self._word(at - 1) + word
                if joined in UNITS and self.tokens[at - 1].end == self.tokens[at].start:
                    units = UNITS[joined]
                    self.used.add(at)
                    at -= 1
            elif 2 <= len(word) <= 3 and _is_money(UNITS.get(word, NO_UNITS)) and self._is_code(at):
                units = UNITS[word]
            elif word != "\\":
                break
            self.used.add(at)
            at -= 1
        return negative, units, at + 1

    def _glued(self, at: int) -> bool:
        """Whether a dash is joined to what stands before it, as in 40-45 or covid-19."""
        return self.tokens[at - 1].end == self.tokens[at].start and self.tokens[at - 1].kind != "sym"

    def _is_code(self, at: int) -> bool:
        """Whether letters are a currency: written as a code, or where money is asked for ("won 39" is a verb)."""
        return self.ctx.moneyed or (self.tokens[at].text.isupper() and len(self.tokens[at].text) == 3)

    def _right(self, position: int) -> tuple[bool, int, frozenset[str], int]:
        """Percent sign, scale word and unit after a number, and the last token they take."""
        percent, scale, units, at = False, 0, frozenset[str](), position + 1
        for _ in range(6):
            word = self._word(at)
            if not word:
                break
            attached = self.tokens[at].start == self.tokens[at - 1].end
            if word == "\\" and self._word(at + 1) in ("%", "$"):
                self.used.add(at)
                at += 1
                continue
            taken = 0 if percent else self._take_percent(at)
            if taken == 2:
                units = UNITS["pp"]
            percent = percent or taken == 1
            if not scale and self._is_scale(at, attached):
                scale, taken = SCALES[word], 1
            if word == "/":
                taken = self._take_period(at)
            if not taken and not units and not percent:
                units = self._take_unit(at)
                taken = len(units)
            if not taken:
                if attached and self.tokens[at].kind == "word":
                    raise Wrong(f"{_show(self.tokens[at].text)} after the number is no unit that was asked for.")
                break
            while self.tokens[at].start < self._end_of_take:
                self.used.add(at)
                at += 1
                if at >= len(self.tokens):
                    break
        return percent, scale, units, at - 1

    def _take_period(self, at: int) -> int:
        """The "/month" behind an amount, where the question says "per month"."""
        word = self._word(at + 1)
        if word not in self.ctx.per_words and not UNITS.get(word, NO_UNITS) & self.ctx.periods:
            return 0
        self._end_of_take = self.tokens[at + 1].end
        return 1

    def _take_percent(self, at: int) -> int:
        """1 for a percent sign or word, 2 for percentage points, 0 for neither."""
        match = PERCENT.match(self.text, self.tokens[at].start)
        if not match:
            return 0
        self._end_of_take = match.end()
        return 2 if match[1] or match[2] else 1

    def _is_scale(self, at: int, attached: bool) -> bool:
        written, word = self.tokens[at].text, self._word(at)
        if word not in SCALES or self._word(at + 1) == "/":
            return False
        self._end_of_take = self.tokens[at].end
        if len(word) > 2:
            return True
        if SCALE_UNITS.get(word) in {DIMENSIONS.get(unit, "") for unit in self.ctx.units}:
            return False
        return written in ("k", "K", "M", "B", "bn", "Bn", "BN", "mn", "mln") or (
            self.ctx.moneyed and (attached or written.isupper())
        )

    def _take_unit(self, at: int) -> frozenset[str]:
        """The unit written at a token, or nothing; two words ("percentage points", "US dollars") first."""
        start = self.tokens[at].start
        first, second, third = (self._word(at + step) for step in range(3))
        self._end_of_take = self.tokens[min(at + 1, len(self.tokens) - 1)].end
        if first in ("a", "in") and not second[:1].isalnum() and not self._is_named(at):
            self._end_of_take = self.tokens[at].end
            return UNITS["inch" if first == "in" else "a"]
        if f"{first}-{second}" in UNITS:
            return UNITS[f"{first}-{second}"]
        per = units_of(f"{first}/{third}") if second in ("per", "an", "/") else frozenset[str]()
        if per:
            self._end_of_take = self.tokens[at + 2].end
            return per
        if self.tokens[at].kind == "num":
            return NO_UNITS
        match = UNIT_TEXT.match(self.text, start)
        source = match[1] if match else self.tokens[at].text
        self._end_of_take = start + len(source)
        return self._named_unit(source)

    def _is_named(self, at: int) -> bool:
        """Whether an "in" or "A" at the end is the question's: "height (in)", "height_in", "group A"; else a unit."""
        if self._word(at) == "in":
            return bool(INCHES_ASKED.search(self.ctx.folded))
        return self.tokens[at].text in WORD.findall(self.ctx.text)[1:]

    def _named_unit(self, source: str) -> frozenset[str]:
        key = _unit_key(source)
        if key in ("point", "points", "pts") and SCORE_ASKED.search(self.ctx.folded):
            return frozenset({f"question:{key}"})
        if key in ALTERNATIVES or (key in CUES_BEFORE | CUES_AFTER | NEGATIONS and not units_of(key)):
            return NO_UNITS
        if source in CASED_UNITS and source not in self.ctx.text:
            return frozenset({CASED_UNITS[source]})
        if key in self.ctx.literals and key not in FRAME:
            return units_of(key) or frozenset({f"question:{key}"})
        if units_of(key) and key not in FRAME:
            return units_of(key)
        above, _, below = key.partition("/")
        asked = below in self.ctx.per_words or UNITS.get(below, NO_UNITS) & self.ctx.periods
        if asked and above in self.ctx.literals:
            return frozenset({f"question:{key}"})
        if any(mark in source for mark in "/^²³"):
            raise Wrong(f"The unit {_show(source)} is not the one that was asked for.")
        return NO_UNITS

    def single(self) -> Quantity:
        """The one quantity stated, once the numbers that come from the question are set aside. Raises Wrong."""
        for position, quantity in self.found:
            self._check_cues(position, quantity)
        candidates = [
            (at, item) for at, item in self.found if not (abs(item.value) in self.ctx.numbers and not item.percent)
        ]
        chosen = candidates or self.found
        self._check_alternatives({at for at, _ in chosen})
        if not chosen:
            raise Wrong("The answer states no number.")
        if len({(item.value, item.percent) for _, item in chosen}) > 1 and not self._same_rate(chosen):
            raise Wrong("The answer states several numbers.")
        places = [at for at, _ in chosen]
        if not all(map(self._restates, places, places[1:])):
            raise Wrong("The answer repeats its number.")
        self._check_leftovers()
        quantity = chosen[0][1]
        agree_on_unit(quantity, self.ctx)
        return quantity

    def _check_alternatives(self, chosen: set[int]) -> None:
        """Refuses a number of the question's that is offered beside the chosen one ("0, 1"), not to label it."""
        places = [at for at, _ in self.found]
        for first, second in zip(places, places[1:]):  # noqa: RUF007
            if (first in chosen) is (second in chosen):
                continue
            gap = {self._word(at) for at in range(first + 1, second) if at not in self.used}
            if first in chosen:
                enclosed = self._word(second - 1) == "("
                bare = enclosed or self._word(second - 1) in SEPARATING or gap <= BESIDE
                bare = bare and not (enclosed and self._is_year(second, first))
            else:
                bare = gap <= BESIDE - {":"} and not self._is_label(first, places)
            if bare:
                raise Wrong("The answer offers a second number beside the first.")

    def _is_year(self, at: int, chosen: int) -> bool:
        """Whether a number in brackets says of which year the other one is: "43 (2019)"."""
        return bool(YEAR.match(self.tokens[at].text)) and not YEAR.match(self.tokens[chosen].text)

    def _is_label(self, at: int, places: list[int]) -> bool:
        """Whether a number of the question's names what the next one counts: "in 2019, 42", "top 5: 42"."""
        before = at - 1
        while before in places or self._word(before) in SEPARATING:
            before -= 1
        word = self._word(before)
        return word in PREPOSITIONS or (word.isalpha() and self.ctx.says(word, self._word(before + 1)))

    def _restates(self, first: int, second: int) -> bool:
        """Whether the second number is the first in another form: `5/8 = 0.625`, `12.5% (0.125)`."""
        return any(self._word(at) in ("=", "(") for at in range(first + 1, second))

    def _same_rate(self, chosen: list[tuple[int, Quantity]]) -> bool:
        values = {item.value / 100 if item.percent else item.value for _, item in chosen}
        return self.ctx.rate and len(values) == 1

    def _check_cues(self, position: int, quantity: Quantity) -> None:
        """Refuses a bound, hedge or negation right beside a number that is not the question's own."""
        if abs(quantity.value) in self.ctx.numbers and len(self.found) > 1:
            if self._loses_bound(position):
                raise Wrong("The answer changes what the question says of a number.")
            return
        if position in (2, 3) and self._word(position - 1) in ("is", "was", "are", "were"):
            subject = self._word(position - 2)
            _check_contrary(subject, self.ctx)
            if subject not in TOTALS | STATISTICS and self._names_another(subject):
                raise Wrong(f"The answer states {_show(subject)}, which is not what was asked for.")
        before: list[str] = []
        at = position - 1
        while at >= 0 and len(before) < 3:
            token = self.tokens[at]
            if at not in self.used or token.kind != "sym":
                if token.kind != "word":
                    break
                before.append(token.text.casefold())
            at -= 1
        near = [word for word in before[:2] if not self.ctx.asks(word)]
        if near[:1] == ["by"] and YEAR.match(self.tokens[position].text) and "year" in self.ctx.raw_words:
            raise Wrong("The year is a bound, not a stated value.")
        pairs = set(zip(before[1:], before))
        if not EXTREMES.issuperset(CUES_BEFORE.intersection(near)) or pairs & CUE_PAIRS_BEFORE:
            raise Wrong("The number is a bound, a guess or negated, not a stated value.")
        at = position + 1
        while at in self.used:
            at += 1
        pair = (self._word(at), self._word(at + 1))
        noun = position + 1
        while self._word(noun) in SCALES or self._word(noun) in ("more", "fewer", "less"):
            noun += 1
        named = self._word(noun)
        for word in {pair[0], named} & COUNT_NOUNS.keys():
            if not self._counts(COUNT_NOUNS[word]):
                raise Wrong(f"The answer counts {word}, which is not what was asked for.")
        a_year = self._asks_year(position) and self._is_noun(named)
        if a_year or self._names_another(named) or self._is_no_figure(named, quantity):
            raise Wrong(f"The answer counts {_show(named)}, which is not what was asked for.")
        if (pair[0] in CUES_AFTER and not self.ctx.explains(pair[0])) or pair in CUE_PAIRS_AFTER:
            raise Wrong("The number is a bound or one of several, not a stated value.")

    def _asks_year(self, position: int) -> bool:
        return bool(YEAR.match(self.tokens[position].text)) and "year" in self.ctx.asked_for[0]

    def _is_noun(self, word: str) -> bool:
        """Whether a word of the question's names what there is a number of: "1964 births"."""
        return word.isalpha() and word != "year" and word not in FRAME and stem(word) in self.ctx.stems

    def _names_another(self, word: str) -> bool:
        """Whether a word names a thing of the question's that is not the one it counts."""
        return word not in FRAME and stem(word) in self.ctx.not_counted

    def _is_no_figure(self, word: str, quantity: Quantity) -> bool:
        """Whether a number of these is a count, where a figure was asked for: cars for a share, planes for a mean."""
        if quantity.percent or word in FRAME or units_of(word) or not word.endswith("s"):
            return False
        if self.ctx.answer_type == "percent":
            return not self.ctx.points and stem(word) in self.ctx.stems
        return self.ctx.answer_type != "integer" and not self.ctx.counted and stem(word) in self.ctx.population

    def _counts(self, noun: str) -> bool:
        """Whether the question lets its answer be a number of rows, columns, tables, datasets or times."""
        asked = next((COUNT_NOUNS[word] for word in HOW_MANY.findall(self.ctx.folded) if word in COUNT_NOUNS), "")
        if noun == "row":
            return asked in ("", "row", "time") and bool(COUNTING.search(self.ctx.folded))
        if noun == "time":
            return bool(OCCURRENCES.search(self.ctx.folded))
        return stem(noun) in (self.ctx.counted or self.ctx.stems)

    def _check_leftovers(self) -> None:
        words = [self._word(at) for at, token in enumerate(self.tokens) if token.kind == "word"]
        if words and self.ctx.complements(words):
            raise Wrong("The answer speaks of what the question leaves out.")
        for position, token in enumerate(self.tokens):
            if position in self.used:
                continue
            if token.kind == "word":
                if not self._explained(position) and not self._spells_the_number(position):
                    raise Wrong(f"The word {_show(token.text)} is explained by neither the question nor a sentence.")
            elif token.text not in ".,:;=()!*`\"'—-[]":
                raise Wrong(f"The sign {_show(token.text)} does not belong to one stated number.")
            elif token.text == ";" and position + 1 < len(self.tokens):
                raise Wrong("More than the one number is stated.")
            elif token.text == "-" and not self._dash_is_pause(position):
                raise Wrong("The answer is a span or a calculation, not one number.")
            elif token.text == "[" and position:
                raise Wrong("The answer calls or indexes something, it does not state a number.")
            elif token.text == "(" and self._call(position):
                raise Wrong("The answer is code, not a number.")

    def _explained(self, position: int) -> bool:
        """Whether the question explains a word; "or" only where it stands there as here ("5 or more stars")."""
        word = self._word(position)
        if self._word(position - 1) == "per" and units_of(word):
            asked = self.ctx.periods | {unit.split("/")[1] for unit in self.ctx.units if "/" in unit}
            asked |= {
                unit for key in self.ctx.literals if key.startswith("/") for unit in UNITS.get(key.strip("/"), ())
            }
            return bool(units_of(word) & asked)
        if self._implied(word, position):
            return True
        if word in NUMBER_WORDS and self._loses_bound(position):
            return False
        if word not in ALTERNATIVES:
            return self.ctx.explains(word)
        return self.ctx.says(self._word(position - 1), word, self._word(position + 1))

    def _implied(self, word: str, position: int) -> bool:
        """Whether a word belongs to the usual name of what is asked: a return rate, Pearson's coefficient, people."""
        words = self.ctx.raw_words
        if word == "old":
            return "time:yr" in self.ctx.units
        if word in REMAINING:
            return not words.isdisjoint(REMAINING)
        if word == "rate":
            return self.ctx.rate and stem(self._word(position - 1)) in self.ctx.stems - self.ctx.denied
        if any(word in names and not words.isdisjoint(said) for names, said in USUAL_NAMES):
            return True
        if word in MONTHS and self.ctx.says("month", str(MONTHS[word])):
            return True
        if len(word) >= 7 and any(len(said) == 4 and word.startswith(said) for said in words - FRAME - PREPOSITIONS):
            return True  # temp is the temperature
        if word in ("pearson", "pearson's", "coefficient"):
            return "correlation" in words and words.isdisjoint(("spearman", "kendall", "determination"))
        return word in PEOPLE and self._word(position + 1) == "per" and self.ctx.says("population", "density")

    def _loses_bound(self, position: int) -> bool:
        """Whether the question's "more than two" stands here without its "more than"."""
        number, before = self._word(position), self._word(position - 1)
        if not before.isalpha() or before in BOUNDS_OF_COUNT | PREPOSITIONS or self.ctx.says(before, number):
            return False
        return any(self.ctx.says(bound, number) for bound in BOUNDS_OF_COUNT)

    def _spells_the_number(self, position: int) -> bool:
        """Whether a word belongs to "(forty-two)" behind a 42."""
        spoken = [
            token.text.casefold()
            for at, token in enumerate(self.tokens)
            if at not in self.used and token.kind == "word"
        ]
        words = [word for word in spoken if word in NUMBER_WORDS or word in BIG_WORDS or word == "hundred"]
        return self._word(position) in words and read_number_words(words) in {item.value for _, item in self.found}

    def _dash_is_pause(self, position: int) -> bool:
        token = self.tokens[position]
        before = self.tokens[position - 1]
        after = [*self.tokens, Token("end", "", 0, 0)][position + 1]
        if after.text in ("-", "+") and after.start == token.end:
            return False  # two signs
        spans = after.kind == "num" or (before.end == token.start and after.kind != "word")
        return position == 0 or before.kind != "num" or not spans

    def _call(self, position: int) -> bool:
        before = self.tokens[position - 1]
        return before.kind == "word" and before.end == self.tokens[position].start


def agree_on_unit(quantity: Quantity, ctx: Question) -> None:
    """Refuses a unit, currency or percent sign that the question does not ask for."""
    if quantity.percent and not ctx.rate:
        raise Wrong("A percentage is stated where no rate was asked for.")
    units = quantity.units
    asked = units & ctx.units or any(unit.startswith("question:") for unit in units)
    if ctx.scale != 1 and quantity.spelled and not quantity.scaled and not ctx.bare_unit and asked:
        raise Wrong("The unit is named without the scale that was asked for.")
    if not units or (units & ctx.units and not (ctx.answer_type == "percent" and not ctx.points)):
        return
    if ctx.answer_type == "percent" and units.isdisjoint(UNITS["pp"]):
        raise Wrong("A number of something is stated where a share was asked for.")
    if any(unit.startswith("question:") for unit in units):
        return
    if any(unit.split("/")[0] in ctx.units and unit.split("/")[1] in ctx.periods for unit in units if "/" in unit):
        return
    dimensions = {DIMENSIONS.get(unit, unit.split(":")[0] if "/" not in unit else "speed") for unit in units}
    hinted = any(
        hint in ctx.raw_words for dimension in dimensions for hint in DIMENSION_HINTS.get(dimension, "").split()
    )
    money = "money" in dimensions and ctx.answer_type == "currency"
    if ctx.units or ctx.counts or not (hinted or money):
        raise Wrong("The unit named is not the one that was asked for.")


INCHES_ASKED = pattern(r"[(\[]in[)\]]|_in\b")
EXTREMES = frozenset("maximum minimum max min up".split())
SPECIAL_STATED = pattern(r"\A([^\W\d][\w ]{0,60}) (?:is|was) (nan|inf|-inf|infinity|-infinity)\Z")
ONLY_A_YEAR = pattern(r"\A(?:in|during|since) [12]\d{3}\Z")
SCORE_ASKED = pattern(
    r"\bwhat (?:is|was) the (?:(?!(?:of|with|at|in|by|to|and)\b)\w+ ){0,2}score\b(?! (?:variance|count|rank))"
)
# What is said for what: names of an answer, and the words of a question for which each stands.
USUAL_NAMES = [
    (frozenset(names.split()), frozenset(said.split()))
    for names, said in (
        ("outlier outliers", "iqr quartile quartiles interquartile outlier"),
        ("difference gap", "subtract minus difference"),
        ("distinct different unique", "distinct different unique"),
        ("consecutive unbroken", "consecutive unbroken uninterrupted streak run"),
        ("missing empty unknown", "missing empty"),
        ("peaked", "highest most maximum largest"),
        ("lasts lasted", "longest last lasted long"),
        ("late", "delay delayed behind"),
        ("exceed exceeds exceeded", "exceed exceeds exceeded above"),
    )
]
PEOPLE = frozenset("people persons inhabitants residents".split())
BOUNDS_OF_COUNT = frozenset("than least most over above under below exceeding".split())


def read_quantity(text: str, ctx: Question) -> Quantity:
    """The one quantity a statement makes. Raises Wrong where there is none or another, or a word is unexplained."""
    if not BARE_NUMBER.match(text):
        text = _strip_scalar_dress(text, ctx)
    if BARE_NUMBER.match(text):
        value = Decimal(text.lstrip("+-"))
        return Quantity(-value if text[0] == "-" else value)
    text = text[2:] if ctx.bullets and text.startswith("- ") else text  # no count is negative
    folded = text.strip(OUTER).casefold()
    if folded in SPECIALS:
        return Quantity(special=SPECIALS[folded])
    match = SPECIAL_STATED.match(folded)
    if match and all(map(ctx.explains, WORD.findall(match[1]))):
        return Quantity(special=SPECIALS[match[2]])
    if ONLY_A_YEAR.match(folded) and HOW_MANY.search(ctx.folded):
        raise Wrong("The answer says when, where it was asked how many.")
    if len(text) > MAX_SENTENCE:
        raise Wrong("The answer is too long to state one number.")
    return Reader(text, ctx).single()


def _strip_scalar_dress(text: str, ctx: Question) -> str:
    """Takes one value out of a one-key JSON object, a one-item list, `@name[value]`, a label or a calculation."""
    for _ in range(4):
        before = text
        text = _from_json(peel(text), ctx)
        text = FIELD.sub(r"\1", text)
        match = SYMBOL.match(text)
        if match:
            if _names_another_statistic(match[1].casefold(), ctx):
                raise Wrong("The sign names another statistic than the one that was asked for.")
            text = text[match.end() :]
        match = LABEL.match(text)
        if match and _label_is_harmless(match[1], ctx):
            text = text[match.end() :]
        text = PLACES.sub(" ", text).strip(" \t\n")
        if "=" in text:
            text = ARITHMETIC.sub("", text[:MAX_SENTENCE]) + text[MAX_SENTENCE:]
        if text == before:
            break
    return text


def _names_another_statistic(said: str, ctx: Question) -> bool:
    """Whether a sign or name alone stands for a statistic that is not asked for, were it spoken of besides."""
    words = {plain_powers(said), *SYMBOLS[said].split()}
    quartile = said in QUARTILE_NAMES
    if quartile and "quartile" not in ctx.folded and "iqr" not in ctx.words:
        return False  # "Q3: 42" is the third quarter
    if said in STATISTIC_NAMES:
        named = set(WORD.findall(" ".join(NAME_ASKED.findall(ctx.folded))))
        asked = any(not named.isdisjoint(row.split()) for row in STATISTIC_NAMES.values())
        if asked or (quartile and ctx.counts and COUNTING.search(ctx.folded)):
            return named.isdisjoint(words)
        if len(said) == 1:
            return False
    return words.isdisjoint(ctx.raw_words.union(plain_powers(ctx.folded).split()))


def _check_contrary(label: str, ctx: Question) -> None:
    """Refuses a label that names another thing than was asked for: the end for the start, a sum for a minimum."""
    words = WORD.findall(label.casefold().replace("_", " "))
    strange = {word for word in words if not ctx.explains(word)}
    if ctx.complements(words):
        raise Wrong(f"The label {_show(label)} names what the question leaves out.")
    statistic = STATISTICS & ctx.raw_words and not HOW_MANY.search(ctx.folded)
    others = AGGREGATES if SAME_STATISTIC[0].isdisjoint(ctx.raw_words) else AGGREGATES | {"total"}
    if (
        ctx.opposes({stem(word) for word in words}, CONTRARY_LABELS)
        or strange & FAULTS
        or (statistic and others.intersection(words) - ctx.raw_words)
    ):
        raise Wrong(f"The label {_show(label)} names something else than what was asked for.")


def _label_is_harmless(label: str, ctx: Question) -> bool:
    _check_contrary(label, ctx)
    words = WORD.findall(label.casefold().replace("_", " "))
    if set(words) & (YES | NO - {"n", "t", "f", "y"}) and ctx.answer_type == "boolean":
        return False
    known = {SYNONYMS.get(word, word) for word in ctx.raw_words}
    known |= {"std"} if "deviation" in ctx.raw_words else set()
    for word in words:
        if word in BAD_LABELS or word in NEGATIONS or word in CUES_BEFORE - STATISTICS:
            return False
        if word in STATISTICS and SYNONYMS.get(word, word) not in known:
            return False
    return 0 < len(words) <= 6


def _names_answer(key: str, ctx: Question) -> bool:
    """Whether a key says no more than that this is the answer, or is made of the question's words."""
    words = WORD.findall(key.casefold().replace("_", " "))
    known = ANSWER_KEYS | LABEL_NOUNS | (DATE_KEYS if ctx.answer_type == "date" else frozenset())
    return _label_is_harmless(key, ctx) and all(
        ctx.explains(word) or word in known or units_of(word) & ctx.units for word in words
    )


def _from_json(text: str, ctx: Question) -> str:
    """The value of a JSON object with one key, or of a list with one item; anything else unchanged."""
    if text[:1] not in ("{", "["):
        return text
    value = load_json(text)
    if isinstance(value, Pairs) and len(value) == 1:
        if not _names_answer(str(value[0][0]), ctx):
            raise Wrong(f"The key {_show(str(value[0][0]))} names something else than the answer.")
        value = value[0][1]
    elif isinstance(value, list) and len(value) == 1:
        value = value[0]
    else:
        return text
    return value if isinstance(value, str) else _json_text(value)


class Pairs(list):  # type: ignore[type-arg]
    """A JSON object as its (key, value) pairs in order, repeats kept."""


PYTHON_TOKEN = pattern(r"\"(?:[^\"\\\n]|\\.)*\"?|'((?:[^'\\\n]|\\.)*)'?|\b(?:True|False|None)\b|[()]")
PYTHON_AS_JSON = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]"}


def load_json(text: str) -> object:
    """JSON, or a Python literal of the same shape, with every number kept as written (a str).

    None when the text is neither or nests too deeply.
    """
    if _depth(text) > MAX_DEPTH:
        return None
    keep: Callable[[str], object] = str
    written = PYTHON_TOKEN.sub(_python_as_json, text)
    try:
        return json.loads(written, object_pairs_hook=Pairs, parse_int=keep, parse_float=keep, parse_constant=keep)
    except (ValueError, RecursionError):
        return None


def _python_as_json(match: re.Match[str]) -> str:
    if match[1] is None:
        return PYTHON_AS_JSON.get(match[0], match[0])
    return json.dumps(match[1].replace("\\'", "'"), ensure_ascii=False)


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "[{(") - (char in "]})")
        deepest = max(deepest, depth)
    return deepest


def tolerance_of(gold: Decimal, written: str, tol: Tolerance, question: str) -> Decimal:
    """The largest difference that still counts as equal, in the gold's own units.

    Given tolerances are kept to the letter. With neither given: half a unit of the last place that `decimals`, else the
    question's stated rounding, else the gold itself has; an integer gold without stated rounding is exact; never as
    large as the gold.
    """
    if tol.rtol is not None or tol.atol is not None:
        relative = EXACT.multiply(Decimal(repr(float(tol.rtol or 0))), abs(gold))
        return max(Decimal(repr(float(tol.atol or 0))), relative)
    step = _stated_step(gold, tol.decimals, question)
    if step is None:
        exponent = int(Decimal(_bare_number(written) or 0).as_tuple().exponent)
        step = Decimal(1).scaleb(exponent) if exponent < 0 else Decimal(0)
    half = max(step / 2, abs(gold) * TINY)
    return half if not gold or half < abs(gold) else abs(gold) / 10


NUMERAL = pattern(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def _bare_number(written: str) -> str:
    match = NUMERAL.search(written.replace(",", ""))
    return match[0] if match else ""


COUNT_WORD = r"(\d{1,2}|one|two|three|four|five|six|seven|eight|a|single)"
ROUND_DECIMALS = pattern(COUNT_WORD + r"\s+(?:decimals?\b|digits? after|d\.?p\b)", re.IGNORECASE)
ROUND_DIGITS = pattern(COUNT_WORD + r"\s+(?:significant|sig\.?)\s*(?:figures?|digits?|figs?)", re.IGNORECASE)
ROUND_NEAREST = pattern(
    r"nearest\s+(whole|integer|unit|dollar|euro|pound|percent|ten|hundred|thousand|million|cent|tenth|hundredth|"
    r"thousandth)|"
    r"(to the cent)|(whole number)|(rounded to an integer)",
    re.IGNORECASE,
)
NEAREST = {"ten": "10", "hundred": "100", "thousand": "1000", "million": "1e6", "cent": "0.01", "tenth": "0.1",
           "hundredth": "0.01", "thousandth": "0.001", "to the cent": "0.01"}  # fmt: skip


def _stated_step(gold: Decimal, decimals: int | None, question: str) -> Decimal | None:
    if decimals is not None:
        return Decimal(1).scaleb(-decimals)
    match = ROUND_DECIMALS.search(question)
    if match:
        return Decimal(1).scaleb(-_count(match[1]))
    match = ROUND_DIGITS.search(question)
    if match:
        return Decimal(1).scaleb(gold.adjusted() - _count(match[1]) + 1)
    match = ROUND_NEAREST.search(question)
    if match:
        word = next(group for group in match.groups() if group).casefold()
        return Decimal(NEAREST.get(word, "1"))
    return None


def _count(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS.get(word.casefold(), 1)


@lru_cache
def _gold_read(gold: str, question: str, answer_type: str, scale: Decimal) -> Quantity:
    """The gold's own number. Raises GoldError: a gold that needs interpretation is a fault of the task."""
    own = question_of(f"{question} {gold}", gold, answer_type)
    own.rate = True
    own.numbers = set()
    own.units = frozenset(DIMENSIONS)
    own.counts = False
    own.scale = scale
    own.bare_unit = True
    try:
        return read_quantity(clean(gold), own)
    except Wrong as problem:
        raise GoldError(f"The gold {_show(gold)} is not one number: {problem}") from None


def _gold_quantity(gold: str, ctx: Question) -> Quantity:
    """The gold's own number; what its unit says of the question is noted there. Raises GoldError."""
    quantity = _gold_read(gold, ctx.text, ctx.answer_type, ctx.scale)
    if quantity.units:
        ctx.units = ctx.units | quantity.units
        ctx.bare_unit = quantity.spelled and not quantity.scaled
    ctx.rate = ctx.rate or quantity.percent
    return quantity


def grade_number(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Equality of two quantities within the tolerance; returns why it holds, raises Wrong where it does not."""
    target = _gold_quantity(gold, ctx)
    if not target.value and not target.special and _says_no(answer, ctx):
        return "The answer says that there is no such thing."
    found = read_quantity(answer, ctx)
    if target.special or found.special:
        if target.special != found.special:
            raise Wrong(f"{_show(found.special or answer)} is not {_show(gold)}.")
        return f"Both are {target.special}."
    if ctx.answer_type == "integer":
        tol = Tolerance(0, 0)
        if "/" in answer and found.value == found.value.to_integral_value():
            raise Wrong("A fraction is not a count.")
    wanted = _gold_base(target, ctx)
    unit = wanted / target.value if target.value else _gold_unit(target, ctx)
    allowed = tolerance_of(target.value, gold, tol, ctx.text) * abs(unit)
    readings = _readings(found, target, ctx)
    for value in readings:
        if EXACT.abs(EXACT.subtract(wanted, value)) <= allowed:
            return f"{_plain(found.value)} is {_nearness(allowed, wanted)} {_plain(target.value)}."
    raise Wrong(f"{_plain(found.value)} is not {_nearness(allowed, wanted)} {_plain(target.value)}.")


NO_SUCH = pattern(r"\A(?:there (?:is|are|was|were) )?no ([^\W\d][\w '-]{0,150})\Z")


def _says_no(answer: str, ctx: Question) -> bool:
    """Whether an answer says that there is none of what is counted, in the question's own words."""
    match = NO_SUCH.match(answer.strip(OUTER).casefold())
    if not match or not ctx.counted:
        return False
    words = WORD.findall(match[1])
    named = {stem(word) for word in words[: len(ctx.counted)]} == ctx.counted
    return named and all(ctx.explains(word) and word not in NEGATIONS for word in words)


def _nearness(allowed: Decimal, wanted: Decimal) -> str:
    """What a tolerance asks for, in words; what it grants to the last digits of a float is no difference."""
    return "equal to" if allowed <= abs(wanted) * TINY else f"within {_plain(allowed)} of"


def _gold_unit(target: Quantity, ctx: Question) -> Decimal:
    """What one unit of the gold is worth in the base everything is compared in."""
    return _gold_base(target._replace(value=Decimal(1)), ctx)


def _gold_base(target: Quantity, ctx: Question) -> Decimal:
    """The gold in plain units: a rate in percent where rates are read, else with the question's scale applied."""
    if _compares_rates(target, ctx):
        return target.value * 100 if _gold_is_fraction(target, ctx) else target.value
    return target.value if target.scaled else target.value * ctx.scale


def _compares_rates(target: Quantity, ctx: Question) -> bool:
    return ctx.rate and not target.units and ctx.scale == 1


def _percent_asked(ctx: Question) -> bool:
    return bool(PERCENT_FIXED.search(ctx.folded)) and "fraction" not in ctx.raw_words


def _gold_is_fraction(target: Quantity, ctx: Question) -> bool:
    if target.percent or abs(target.value) > 1:
        return False
    return bool(FRACTION_FIXED.search(ctx.folded)) or not _percent_asked(ctx)


def _readings(found: Quantity, target: Quantity, ctx: Question) -> list[Decimal]:
    """What the answer's number can mean, in the base of `_gold_base`; two only for a bare fraction of a percentage."""
    if not _compares_rates(target, ctx):
        return [found.value if found.scaled else found.value * ctx.scale]
    if found.percent:
        return [found.value]
    if ctx.answer_type != "percent":  # bare numbers stand in the gold's own scale
        return [found.value * 100 if _gold_is_fraction(target, ctx) else found.value]
    if FRACTION_FIXED.search(ctx.folded) and not _percent_asked(ctx):
        return [found.value * 100]
    if abs(found.value) > 1:
        return [found.value]
    if not _percent_asked(ctx):
        return [found.value * 100]
    return [found.value] if PERCENT_DEMANDED.search(ctx.folded) else [found.value, found.value * 100]


def takes_percent_sign(gold: str, question: str, answer_type: str) -> bool:
    """Whether an answer may put a percent sign behind the gold's own digits. Raises GoldError."""
    ctx = question_of(question, gold, answer_type)
    target = _gold_quantity(gold, ctx)
    return _compares_rates(target, ctx) and not _gold_is_fraction(target, ctx)


def _plain(value: Decimal) -> str:
    text = f"{value.normalize(SHOWN):f}" if abs(value.adjusted()) < 15 else f"{value:.6E}"
    return text if text != "-0" else "0"


# ---------------------------------------------------------------------------------------------------------------------
# Text: one folded form, no extra words beyond a plain sentence around it.
# ---------------------------------------------------------------------------------------------------------------------

OPTION_A = pattern(r"\bA\b")
ARTICLE = pattern(r"\A(?:the|an?)\s+(?=\S)")
SOLE_NUMBER = pattern(r"\A1[.)]\s+(?=[^\W\d][^\n]*\Z)")  # a list of one
MARKDOWN_ESCAPE = pattern(r"\\([#_*$%&<>|~])")
TIGHT_HYPHEN = pattern(r"(?<=\w)-(?=\w)")
TEXT_TOKEN = pattern(r"\w+(?:['.]\w+)*|[^\w\s]")
LETTER_BLANK = pattern(r"(?<=[^\W\d_])\s(?=[^\W_])")
INNER_HYPHEN = pattern(r"(?<=\w)(?:-| - )(?=\w)")
SIGN_BLANKS = pattern(r"\s*([^\w\s'\"().,;:-])\s*")


def _fold(text: str) -> str:
    """The form in which texts are compared: case, outer punctuation, blanks, inner hyphens, leading article folded."""
    text = MARKDOWN_ESCAPE.sub(r"\1", _strip_outer(_letters(text)).replace("≤", "<=").replace("≥", ">="))
    return ARTICLE.sub("", SIGN_BLANKS.sub(r"\1", " ".join(INNER_HYPHEN.sub(" ", text).split())).strip())


fold = _kept(_fold)


def _letters(text: str) -> str:
    """Case folded, and composed in one way."""
    return unicodedata.normalize("NFC", text.casefold())


def _strip_outer(text: str) -> str:
    """Without quotes, full stops and paired parentheses around the whole."""
    for _ in range(6):
        before = text
        text = text.strip(OUTER + "`*")
        if text[:1] + text[-1:] in ("()", "[]") and _closing(text, 1, text[0], text[-1]) == len(text) - 1:
            text = text[1:-1]
        if text == before:
            break
    return text


def _joined(folded: str) -> str:
    """Blanks between letters do not matter ("e mail", "email"); between digits they do."""
    return LETTER_BLANK.sub("", folded)


def same_text(gold: str, answer: str) -> bool:
    """Whether two texts are one up to what does not matter; a written time, date or month may take another form."""
    first, second = fold(gold), fold(answer)
    if not first:
        return gold.strip().casefold() == answer.strip().casefold() != ""
    return first == second or (
        ("-" not in answer + gold or not any(c.isdigit() for c in first)) and _joined(first) == _joined(second)
    )


def grade_text(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Equality of folded texts, alone or as the one thing a short sentence states."""
    text = peel(_from_json(peel(answer), ctx))
    text = SOLE_NUMBER.sub("", FIELD.sub(r"\1", text))
    if same_text(gold, text):
        return "The texts are the same."
    if _option_letter(gold, text, ctx):
        return "The option named is the one."
    text = _without_support(text, ctx)
    if same_text(gold, text):
        return "The texts are the same, with a number in support."
    when = _calendar(gold, text, ctx)
    if when:
        return when
    if len(text) > MAX_SENTENCE:
        raise Wrong("The answer says more than the one text asked for.")
    _text_in_sentence(gold, text, ctx)
    return "A plain sentence states the text."


EXTREME = pattern(
    r"(?<!\bat )\b(?:most|least|fewest|highest|lowest|largest|smallest|greatest|biggest|longest|shortest|best|worst)\b"
)
SUPPORT = pattern(
    r"\A(\W{0,5}[^\W\d][^\d]{0,199}?)(?:\s*:\s*|\s+with\s+|\s*(\()\s*)"
    r"((?:[^\W\d]+[ =:]{1,3}){0,4})([-+]?[$€£]?\d[\d.,]{0,20})"
    r"((?:\s?[^\s\w(),;:.-]|\s?[^\W\d])(?:[^\s(),;:.]{0,19})(?:\s[^\s\d(),;:.]{1,20}){0,2})?\s*(?(2)\))\.?\Z"
)


def _without_support(text: str, ctx: Question) -> str:
    """Without the one measured value behind a name ("Lamp (12%)", "Lamp (210.5 mm)"), where the most is asked for."""
    match = SUPPORT.match(text.strip())
    if not match or not EXTREME.search(ctx.folded):
        return text
    value, unit = match[4].lstrip("+-$€£").rstrip(".,"), (match[5] or "").strip()
    number = read_decimal(value)
    if number is None or number in ctx.numbers or YEAR.match(value) or (unit == "%") != ctx.rate:
        return text
    words = WORD.findall(match[3].casefold()) + (unit.casefold().split() if unit != "%" else [])
    named = value not in ctx.gold and all(ctx.explains(word) or units_of(_unit_key(word)) for word in words)
    return match[1] if named and (NEGATIONS | ctx.options).isdisjoint(words) else text


def _option_letter(gold: str, text: str, ctx: Question) -> bool:
    """`C) histogram` for C where the question lists (C) histogram; a letter with another option's text is wrong."""
    letter = gold.strip(OUTER + "()").casefold()
    if len(letter) != 1:
        return False
    listed = re.search(rf"(?:\(|\b){re.escape(letter)}[).:]\s*([^()\n;]+?)\s*(?=[(,;.?\n]|\b[a-z][).:]|$)", ctx.folded)
    said = re.match(
        rf"\A(?:option|choice|answer)?\s*\(?{re.escape(letter)}\s*(?:[).:,-]+|\s)\s*\(?(.+?)\)?\Z",
        text.casefold().strip(OUTER),
    )
    return bool(listed and said and fold(said[1]) == fold(listed[1]))


def _tokens_of(text: str) -> list[str]:
    return TEXT_TOKEN.findall(fold_inner(text))


def fold_inner(text: str) -> str:
    """`fold` without taking the outer signs and the article off."""
    return TIGHT_HYPHEN.sub(" ", _letters(text))


def _text_in_sentence(gold: str, text: str, ctx: Question) -> None:
    """Raises Wrong unless the text is a short sentence that states the gold, once, and denies or adds nothing."""
    wanted = _tokens_of(_strip_outer(gold))
    words = _tokens_of(text.strip(OUTER))
    places = [at for at in range(len(words) - len(wanted) + 1) if words[at : at + len(wanted)] == wanted]
    if len(places) != 1:
        raise Wrong(f"The answer does not state {_show(gold)}." if not places else "The answer names the text twice.")
    prefix, suffix = words[: places[0]], words[places[0] + len(wanted) :]
    followed = bool(suffix) and suffix[0][0].isalnum() and suffix[0] not in VERBS
    if wanted == ["a"] and (followed or not OPTION_A.search(text)):
        raise Wrong("The article is no option.")
    prefix = [word for word in prefix if word not in ("*", "`", '"', "'", "(", "[")]
    while suffix and suffix[0] in "*`\"')].,!":
        suffix = suffix[1:]
    while suffix and suffix[-1] in "*`\"')].,!":
        suffix = suffix[:-1]
    _check_prefix(prefix, ctx)
    _check_suffix(suffix, ctx)


def _check_prefix(prefix: list[str], ctx: Question) -> None:
    nouns = ctx.asked_for[0]
    if ctx.options.intersection(prefix) - FRAME - nouns - LABEL_NOUNS:
        raise Wrong("The answer names another option in front of this one.")
    if ctx.denied.intersection(map(stem, prefix)):
        raise Wrong("The answer states what the question asks about as not being so.")
    for word in prefix:
        if word[0].isalnum():
            if not ctx.explains(word) and word not in LABEL_NOUNS:
                raise Wrong(f"The word {_show(word)} stands in front of the text and is not explained.")
        elif word not in ",:=_.-":
            raise Wrong(f"The sign {_show(word)} does not belong to one stated text.")
    while prefix and prefix[-1] in ("the", "a", "an"):
        prefix = prefix[:-1]
    if not prefix:
        return
    last = prefix[-1]
    if last in ":=":
        _check_contrary(" ".join(prefix), ctx)
        _check_label([word for word in prefix if word[0].isalnum()], ctx)
    named = last in nouns or last in LABEL_NOUNS
    of = last == "of" and not nouns.isdisjoint(prefix[-2:-1])
    if not (last in LINKS or named or of):
        raise Wrong("What stands in front of the text does not state it as the answer.")


def _check_label(label: list[str], ctx: Question) -> None:
    """Refuses a label of names alone ("Dream: Biscoe"): it says another text where one was asked for."""
    nouns = ctx.asked_for[0]
    known = (FRAME, LABEL_NOUNS, nouns, ctx.common_words, ctx.columns)
    label = [part for word in label for part in (word, *word.split("_"))]
    if not any(word in words for word in label for words in known):
        raise Wrong("The answer offers another text in front of this one.")


def _check_suffix(suffix: list[str], ctx: Question) -> None:
    """What follows the text must be the question's own clause ("sold the most cars") or one made of its words."""
    nouns, clauses = ctx.asked_for
    if suffix[:1] in (["which"], ["that"], ["who"]):
        suffix = suffix[1:]
    said = [word for word in suffix if word not in ("the", "a", "an")]
    if suffix[-1:] == ["out"]:
        raise Wrong("What stands behind the text makes it another statement.")
    if all(word in nouns for word in suffix):
        return
    if any([word for word in clause if word not in ("the", "a", "an")][: len(said)] == said for clause in clauses):
        return
    if ctx.denied.intersection(map(stem, suffix)):
        raise Wrong("The answer states what the question asks about as not being so.")
    for word in suffix:
        if word in NEGATIONS:
            raise Wrong(f"The word {_show(word)} behind the text changes it.")
        if word[0].isalnum():
            if not ctx.explains(word):
                raise Wrong(f"The word {_show(word)} behind the text is not explained.")
        elif word not in ",.-":
            raise Wrong(f"The sign {_show(word)} does not belong to one stated text.")
    if suffix[0] not in VERBS:
        raise Wrong("What stands behind the text makes it another text.")


def same_point(gold: str, answer: str, question: str = "") -> bool:
    """Whether two texts name one point of the calendar ("June", "Jun"), so that the second passes for the first."""
    try:
        return bool(_calendar(clean(gold), clean(answer), question_of(question, gold, "text")))
    except Wrong:
        return False


def grade_boolean(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Truth by a closed list of words; a reason may follow if it does not say the opposite."""
    wanted = _truth(fold(gold))
    if wanted is None:
        raise GoldError(f"The gold {_show(gold)} is neither yes nor no.")
    written = _strip_scalar_dress(answer, ctx).strip(OUTER)
    text = fold_inner(written)
    found = _truth(fold(text))
    if found is None:
        found = _existence_stated(text, ctx)
    if found is None:
        found = _declared_truth(text)
        if _contradicts(found, TEXT_TOKEN.findall(written), ctx):
            raise Wrong(f"The reason contradicts the {'yes' if found else 'no'}, or answers another question.")
    if found != wanted:
        raise Wrong(f"The answer says {'yes' if found else 'no'}, the gold says {'yes' if wanted else 'no'}.")
    return f"Both say {'yes' if wanted else 'no'}."


def _truth(word: str) -> bool | None:
    return True if word in YES else False if word in NO else None


def _is_bare(words: list[str]) -> bool:
    """Whether numbers and dates alone stand beside a yes or no: a second answer, where any word makes it a reason."""
    spoken = [word for word in words if word[0].isalnum() and word not in SEPARATING]
    compared = any(word in "<>=" for word in words)
    return (
        bool(spoken)
        and not compared
        and all(word[0].isdigit() or word in MONTHS or word in WEEKDAYS for word in spoken)
    )


def _declared_truth(text: str) -> bool:
    """The truth a sentence declares. Raises Wrong where it declares none, both, a guess or a denial."""
    if len(text) > MAX_SENTENCE:
        raise Wrong("The answer is too long to say yes or no.")
    words = WORD_OR_SIGN.findall(text)
    plain = [word for word in words if word in ("yes", "no", "true", "false")]
    said = {_truth(word) for word in plain}
    if len(said) != 1:
        raise Wrong("The answer says both yes and no." if said else "The answer says neither yes nor no.")
    truth = said.pop() is True
    if _is_bare([word for word in words if word not in plain]):
        raise Wrong("The answer offers another value beside yes or no.")
    if TRUTH_HEDGES & set(words) or MAY_BE.search(text) or (truth and NEGATED.search(text)):
        raise Wrong("The answer hedges or denies what it says.")
    follower = AFTER_NO | AUXILIARIES if words[0] == "no" else FRAME | REASONS
    if words[0] in plain and words[1] in follower.union(",.;:!-—("):
        return truth
    before = words[: words.index(plain[0])]
    stated = before and before[-1] in ("is", "it's", ":", "=", "was", "therefore", "so", "hence", "thus", "are", ",")
    if words[-1] in plain and stated and not NEGATED.search(text):
        return truth
    raise Wrong("The answer does not declare yes or no.")


MAY_BE = pattern(r"\b(?:may|might|could|can) (?:be|have)\b")


def _existence_stated(text: str, ctx: Question) -> bool | None:
    """The truth of "there is no significant difference" where that is what the question asks for; else None."""
    words = [word for word in WORD_OR_SIGN.findall(text.strip(OUTER)) if word not in ("a", "an", "the", "any")]
    if words[:2] in (["there", verb] for verb in ("is", "are", "was", "were")):
        words = words[2:]
    elif words[:1] != ["no"]:
        return None
    if words == ["none"]:
        return False if ctx.existence else None
    denied = words[:1] == ["no"]
    said = [stem(word) for word in words[denied:]]
    words = [word for word in ctx.existence if word not in ("a", "an", "the", "any")]
    noun = next((at for at, word in enumerate(words) if word in NOUN_STOPS), len(words))
    asked = [stem(word) for word in words]
    return not denied if 0 < noun <= len(said) and asked[: len(said)] == said else None


def _restates(words: list[str], ctx: Question) -> bool:
    """Whether the reason of a "no" affirms what the question asks: "No, it is", "No, there are 3 duplicates"."""
    words = [word for word in words if word[:1].isalnum() and word not in ("so", "the", "a", "an")]
    if not words or NEGATED.search(ctx.folded) or not NO_AMOUNT.isdisjoint(words):
        return False
    if words[0] in POINTING and AUXILIARIES.intersection(words[-2:]) and set(words[2:]) <= SOME:
        return True
    if ctx.directions:
        return False
    counted = {word for word in words if word.isdigit() or word in NUMBER_WORDS or word in SOME}
    said = [word for word in words if word not in counted and word not in FRAME]
    if not all(ctx.explains(word) or f"{word}ly" in ctx.words for word in said):
        return False
    if ctx.existence and not ctx.numbers:
        things = {stem(word) for word in ctx.existence if word not in FRAME}
        if things.intersection(map(stem, said)) or (counted and not said):
            return True
    limits = {word for word in LIMITING | UNIVERSAL if word in ctx.words}
    if counted - {"one"} - set(ctx.words) or LIMITING.intersection(words) - limits or len(set(said) - counted) < 1:
        return False
    if (limits & UNIVERSAL and UNIVERSAL.isdisjoint(words)) or not (limits & LIMITING).issubset(words):
        return False
    if "one" in counted and UNIVERSAL.isdisjoint(words):
        return False
    stated = len(said) > 1 or not AUXILIARIES.isdisjoint(words)
    return stated and _in_order(map(stem, said), map(stem, ctx.tokens))


def _in_order(said: Iterator[str], asked: Iterator[str]) -> bool:
    """Whether the words stand in the question in the same order, those left out apart."""
    return all(any(other.startswith(word) for other in asked) for word in said)


def _contradicts(truth: bool, written: list[str], ctx: Question) -> bool:
    """Whether what stands beside a yes or no says the opposite of it, or the same of something else.

    The reason turns the question round when it uses the opposite word ("lower" for "higher"), and again when it speaks
    of the other side of a comparison; a yes goes with an even number of turns, a no with an odd one.
    """
    reason = [_own_word(word) for word in written[1:]] if written[0].casefold() in ("no", "false") else []
    written = [word for word in written if word.casefold() not in ("yes", "no", "true", "false")]
    words = [_own_word(word) for word in written]
    left, right = ctx.compared
    things = left | right
    pivot = next((at for at, word in enumerate(words) if word in COMPARED or _turns_on(words, at, things)), len(words))
    subject = set(words[:pivot])
    if "than" in ctx.words and AS_MUCH.search(" ".join(words)):
        return truth
    if subject & left and subject & right:
        return False  # it speaks of both in words of its own
    stems = {stem(word) for word in words if word not in "<>" or subject & (left | right)}
    sides = [(side, [one for one in (0, 1) if DIRECTIONS[row][one] & stems]) for row, side in ctx.directions]
    turned = {said != [side] for side, said in sides if len(said) == 1}
    if SAME & stems and ctx.directions and not SAME & ctx.stems:
        turned.add(True)
    if len(turned) > 1:
        return False
    if truth and any(PREFIXED.sub("", word) in ctx.words and not ctx.explains(word) for word in words):
        return True
    if truth and ("non" in words or ctx.opposes({stem(word) for word in words}, KINDS)):
        return "non" not in ctx.words
    swapped = bool(subject & right)  # a reason that names neither side speaks of the first
    denied = any(word in ("not", "none", "nobody") or word.endswith("n't") for word in words)
    denied = denied or not {"no", "never", "zero", "0"}.isdisjoint(reason)
    if not truth:
        if ctx.existence and not denied and (_names_one(written, ctx) or _counts_some(reason, ctx)):
            return True
        if ctx.existence and not ctx.numbers:  # how many there are makes no difference
            words = [word for word in words if not word.isdigit() and word not in SOME]
        plain = all(ctx.explains(word) or _turns(word) or word in NEGATIONS for word in words if word[:1].isalnum())
        if not turned:
            return _restates(reason, ctx)
        return plain and (True in turned) is (swapped is not denied)
    others = swapped or (QUANTIFIED.isdisjoint(ctx.words) and _names_another(written, ctx))
    years = set(YEAR_WITHIN.findall(" ".join(words[:pivot])))
    stated = set(STATED_YEAR.findall(ctx.text))
    if stated and years and not years & stated:
        return True
    if turned:
        return (True in turned) is not (others is not denied)
    return others


COMPARED = frozenset("compared versus vs".split())
PREFIXED = pattern(r"\A(?:in|un|im|ir|il|dis|non)(?=\w{4})")
AS_MUCH = pattern(r"\b(?:is|are|was|were) (?:just |exactly )?as \w+ as\b")


def _names_another(written: list[str], ctx: Question) -> bool:
    """Whether the first thing a reason speaks of has a name that the question does not know, where it has names."""
    if not ctx.names or " ".join(written).isupper():
        return False
    stop = next((at for at, word in enumerate(written) if _turns(_own_word(word))), len(written))
    return any(word[0].isupper() and not ctx.explains(_own_word(word)) for word in written[:stop])


def _names_one(written: list[str], ctx: Question) -> bool:
    """Whether a reason states names or years that the question does not know, and nothing else: "2003 was", "Miami"."""
    said = [(word, before) for before, word in zip(["", *written], written) if word[0].isalnum()]
    stated = bool(said) and said[-1][0].casefold() in AUXILIARIES
    rest = [(word, before) for word, before in said if word.casefold() not in FRAME]
    return bool(rest) and all(
        not ctx.explains(_own_word(word)) and (YEAR.match(word) or (word[0].isupper() and (stated or before != ".")))
        for word, before in rest
    )


def _counts_some(words: list[str], ctx: Question) -> bool:
    """Whether a reason says there are some of what the question asks whether there is any of: "there are 2 rows"."""
    words = [word for word in words if word[:1].isalnum()]
    stop = next((at for at, word in enumerate(ctx.existence) if word in NOUN_STOPS), len(ctx.existence))
    head = [word for word in ctx.existence[:stop] if not word.isdigit() and word not in NUMBER_WORDS]
    if words[:1] != ["there"] or len(head) < stop:
        return False
    noun = (
        words[3:] if words[2:] and (words[2].isdigit() or words[2] in NUMBER_WORDS or words[2] in SOME) else words[2:]
    )
    return stem("".join(noun[:1])) in map(stem, head) and _in_order(map(stem, noun[1:]), map(stem, ctx.tokens))


def grade_none(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """ "There is none" or "it does not apply", in the usual words, with nothing named after all."""
    text = _strip_scalar_dress(answer, ctx)
    found = _absence(text, ctx)
    wanted = _absence(gold, ctx)
    if found is None:
        raise Wrong("The answer does not say that there is none.")
    if wanted == "inapplicable" and found != wanted:
        raise Wrong("That there is none is another claim than that it does not apply.")
    return "Both say that there is none."


NONE_OPENING = pattern(r"(?:there (?:is|are) )?no\b|(?:none|nobody|nothing)\b")
MINUS = pattern(r"(?<=\w )-(?=\d)")
NOT_APPLIED = pattern(r"(?:not|n't|not be) (?:apply|applicable|covered|cover)\b")


def _denies_what_is_asked(text: str, ctx: Question) -> bool:
    """Whether the noun behind a "no" is what the question asks for: "no product", not "no answer" or "no reviews"."""
    words = _tokens_of(text)
    if "no" not in words:
        return True
    noun = words[words.index("no") + 1 :]
    noun = noun[1:] if noun[:1] == ["such"] else noun
    if not noun:
        return "such" in words
    asked = ctx.listed | {stem(word) for word in ctx.asked_for[0]}
    if any(word in HOLDERS and stem(word) not in asked for word in noun[:3]):
        return False
    if asked:
        return stem(noun[0]) in asked or noun[0] in ABSENCE_WORDS
    return noun[0] not in FRAME and "." not in noun[0] and stem(noun[0]) not in ctx.denied


def _restates_condition(text: str, ctx: Question) -> bool:
    """Whether it says, alone or beside a "none", what the question answers so: "no column qualifies"."""
    for condition in ctx.conditions:
        if condition in text:
            said = f" {' '.join(word for word in _tokens_of(text) if word[0].isalnum())} "
            before, stated, after = said.partition(f" {condition} ")
            rest = f"{before} {after}".strip()
            return bool(stated) and (not rest or rest in NONE_WORDS)
    return False


def _absence(text: str, ctx: Question) -> str | None:
    folded = BLANKS.sub(" ", fold_inner(text)).strip(OUTER)
    if not INAPPLICABLE.isdisjoint((folded, fold(text))):
        return "inapplicable"
    if folded in NONE_WORDS or _restates_condition(folded, ctx):
        return "none"
    words = WORD_OR_SIGN.findall(MINUS.sub("", folded))
    if any(not word[0].isalnum() and word not in ",.'" for word in words) or words[1:2] == [","]:
        return None
    rest = [word for word in words if word[0].isalnum()]
    if not _denies_what_is_asked(folded, ctx):
        return None
    opening = NONE_OPENING.match(folded)
    denied = NOT_APPLIED.search(folded)
    negatives = [word for word in rest if word in ("no", "none", "not", "nobody", "nothing") or word.endswith("n't")]
    if len(negatives) != 1 or any(char.isdigit() and word not in ctx.words for word in rest for char in word):
        return None
    known = ABSENCE_WORDS | {"without"} if ctx.denied else ABSENCE_WORDS
    if not all(word in known or word in negatives or ctx.explains(word) for word in rest):
        return None
    return "inapplicable" if denied else "none" if opening else None


# ---------------------------------------------------------------------------------------------------------------------
# Dates: calendar equality at the granularity of the gold, only in forms with one reading.
# ---------------------------------------------------------------------------------------------------------------------


class When(NamedTuple):
    """A point of the calendar; None where it is not said. `time` is (hour, minute, second)."""

    year: int | None = None
    half: int | None = None
    quarter: int | None = None
    month: int | None = None
    week: int | None = None
    day: int | None = None
    weekday: int | None = None
    time: tuple[int, int, int] | None = None


_M = "(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_Y = r"(?P<year>[12]\d{3})(?!\d)"
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.(?= ))?(?!\w)"
_O = "(?P<ordinal>" + "|".join(ORDINALS) + ")"
_HALF_DAY = r"(?P<half_day>[ap]\.?m\b\.?)"
_ZONE = r"(?:\s*(?:z|utc|gmt|[+]00:?00))?(?![\w:])"
DATE_FORMS = [
    pattern(form)
    for form in (
        r"(?<!\d)" + _Y + r"([-/.])(?P<month_no>\d{1,2})\2(?P<day>\d{1,2})(?=\D|t\d|$)",
        r"(?<![\d.,])(?P<year>[12]\d{3})(?P<month_no>[01]\d)(?P<day>[0-3]\d)(?![\d.,]\d|\d)",
        r"(?<!\d)(?P<first>\d{1,2})([-/.])(?P<second>\d{1,2})\2" + _Y,
        r"(?<!\d)" + _D + r"[\s-]*(?:of\s+)?" + _M + r"[\s,/-]*(?:of\s+)?" + _Y,
        r"(?<!\d)" + _D + "-" + _M + r"-(?P<short_year>\d\d)(?!\d)",
        r"\b" + _M + r"[\s-]*(?:the\s+)?" + _D + r"(?:[\s,-]|of\b|in\b)+" + _Y,
        r"(?<!\d)" + _Y + r"[\s,-]+" + _M + r"[\s-]+" + _D,
        r"\b" + _M + r"[\s,/-]*(?:of\s+|in\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[\s,/-]*" + _M,
        r"\bq(?:uarter)?\s*(?P<quarter>[1-4])\b[\s,/'-]*(?:of\s+|in\s+)?(?:the\s+year\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[\s,/_.:-]*q(?:uarter)?\s*(?P<quarter>[1-4])\b",
        r"(?<![\w.])(?P<quarter>[1-4])q[\s,/'-]*(?:of\s+)?" + _Y,
        r"\b" + _O + r"[\s-]+quarter[\s,]*(?:of\s+|in\s+)?(?:the\s+year\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[\s,]*(?:the\s+)?" + _O + r"[\s-]+quarter\b",
        r"\bh(?P<half>[12])[\s,/-]*(?:of\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[\s,/-]*h(?P<half>[12])\b",
        r"\b(?P<half_word>first|second)[\s-]+half[\s,]*(?:of\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[\s-]*w(?P<week>\d{1,2})\b",
        r"\bw(?:eek)?\s*(?P<week>\d{1,2})[\s,/-]*(?:of\s+|in\s+)?" + _Y,
        r"(?<!\d)" + _Y + r"[-/](?P<month_no>\d{1,2})(?![\d/.-])",
        r"(?<![\d/.-])(?P<month_no>\d{1,2})/" + _Y,
        r"(?<!\d)" + _D + r"[\s-]*(?:of\s+)?" + _M,
        r"\b" + _M + r"[\s-]*(?:the\s+)?" + _D,
        r"\bq(?:uarter)?\s*(?P<quarter>[1-4])\b",
        r"(?<![\w.])(?P<quarter>[1-4])q\b",
        r"\b" + _O + r"[\s-]+quarter\b",
        r"\bh(?P<half>[12])\b",
        r"\b(?P<half_word>first|second)[\s-]+half\b",
        r"\b" + _M,
        r"(?<![\w.,-])" + _Y + r"(?![\w-]|[.,]\d)",
    )
]
TIME_FORMS = [
    pattern(form)
    for form in (
        r"(?:(?<=\d)t|(?<![\w:.]))(?P<hour>\d{1,2})(?::|h)(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.0+)?)?"
        rf"(?:\s*{_HALF_DAY}|\s*(?:h|hrs?|hours)\b\.?)?{_ZONE}",
        rf"(?<![\w:.])(?P<hour>\d{{1,2}})\.(?P<minute>\d\d)\s*{_HALF_DAY}",
        rf"(?<![\w:.])(?P<hour>\d{{1,2}})\s*{_HALF_DAY}",
    )
]
WEEKDAY_FORM = pattern(r"\b(" + "|".join(sorted(WEEKDAYS, key=len, reverse=True)) + r")(?:(?<=day)s)?\b\.?")
# Without one of these no form of a date, a time or a weekday fits.
CALENDAR_HINT = pattern(r"\d|quarter|half|\b(?:" + "|".join(sorted({name[:3] for name in (*MONTHS, *WEEKDAYS)})) + ")")
DANGLING = PREPOSITIONS | {"be"}
DATE_BOUNDS = frozenset("to from and after before until till since through".split())
TAKEN = "§"  # in a text, where a date that was read stood
WORD_SIGN = pattern(r"\w")
TIMESTAMP = pattern(r"\A(?:pd\.)?Timestamp\('([^']*)'\)\Z")
ONE_IN_BRACKETS = pattern(r"\A\[([^\[\],;]{1,40})\]\Z")
ASKS_TIME = pattern(r"\btime\b|\bhour\b|\btimestamp\b|o'clock")
YEAR_WITHIN = pattern(r"\bin ([12]\d{3})\b")
STATED_YEAR = pattern(r"\b[12]\d{3}\b")
WORD_OR_SIGN = pattern(r"[\w']+|[^\w\s]")
MIDNIGHT = (0, 0, 0)
MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def read_when(text: str) -> tuple[When, str]:
    """The one point of the calendar in a text, and the text left over. Raises Wrong for none or several."""
    left = fold_case(text)
    if not CALENDAR_HINT.search(left):
        raise Wrong("The answer states no date.")
    found: dict[str, re.Match[str]] = {}
    for name, forms in (("time", TIME_FORMS), ("date", DATE_FORMS), ("weekday", [WEEKDAY_FORM])):
        for form in forms:
            match = form.search(left)
            if match:
                found[name] = match
                left = f"{left[: match.start()]} {TAKEN} {left[match.end() :]}"
                break
    if not found:
        raise Wrong("The answer states no date.")
    if CALENDAR_HINT.search(left) and any(form.search(left) for form in (*TIME_FORMS, *DATE_FORMS, WEEKDAY_FORM)):
        raise Wrong("The answer states several dates.")
    when = _date_of(found["date"].groupdict("")) if "date" in found else When()
    if "time" in found:
        when = when._replace(time=_time_of(found["time"].groupdict("")))
    if "weekday" in found:
        when = when._replace(weekday=WEEKDAYS[found["weekday"][1]])
        actual = _weekday(when)
        if actual and actual != when.weekday:
            raise Wrong("The weekday is not the one that date has.")
        if "date" in found and YEAR.match(found["date"][0]):  # it stands beside the weekday and is no part of it
            left = WEEKDAY_FORM.sub(f" {TAKEN} ", fold_case(text), count=1)
    return when, left


def fold_case(text: str) -> str:
    return BLANKS.sub(" ", text.casefold())


def _date_of(parts: dict[str, str]) -> When:
    year = _integer(parts.get("year"))
    if parts.get("short_year"):
        year = 2000 + int(parts["short_year"])
    if parts.get("first"):
        return _day_month(int(parts["first"]), int(parts["second"]), year)
    month = MONTHS.get(parts.get("month", "")) or _integer(parts.get("month_no"))
    quarter = ORDINALS.get(parts.get("ordinal", "")) or _integer(parts.get("quarter"))
    half = ORDINALS.get(parts.get("half_word", "")) or _integer(parts.get("half"))
    when = When(year, half, quarter, month, _integer(parts.get("week")), _integer(parts.get("day")))
    return _checked(when)


def _integer(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _day_month(first: int, second: int, year: int | None) -> When:
    readings = []
    for day, month in {(first, second), (second, first)}:
        try:
            readings.append(_checked(When(year=year, month=month, day=day)))
        except Wrong:
            continue
    if len(readings) != 1:
        raise Wrong("Day and month can be read either way round, or there is no such day.")
    return readings[0]


def _checked(when: When) -> When:
    month, day, year = when.month, when.day, when.year
    if month is not None:
        if not 1 <= month <= 12:
            raise Wrong("There is no such month.")
        leap = year is None or (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
        if day is not None and not 1 <= day <= MONTH_DAYS[month - 1] - (month == 2 and not leap):
            raise Wrong("There is no such day.")
    return when


def _time_of(parts: dict[str, str]) -> tuple[int, int, int]:
    hour, minute, second = int(parts["hour"]), int(parts.get("minute") or 0), int(parts.get("second") or 0)
    if parts.get("half_day"):
        if not 1 <= hour <= 12:
            raise Wrong("There is no such hour.")
        hour = hour % 12 + (12 if parts["half_day"].startswith("p") else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise Wrong("There is no such time.")
    return hour, minute, second


def _weekday(when: When) -> int | None:
    """ISO weekday of a full date (the calendar repeats; no clock is asked)."""
    if when.year is None or when.month is None or when.day is None:
        return None
    year, month = (when.year - 1, when.month + 12) if when.month < 3 else (when.year, when.month)
    zeller = (when.day + 13 * (month + 1) // 5 + year + year // 4 - year // 100 + year // 400) % 7
    return (zeller + 5) % 7 + 1


def same_when(gold: When, found: When, ctx: Question) -> None:
    """Raises Wrong unless both name the same point at the gold's granularity."""
    if gold.time == MIDNIGHT and not ASKS_TIME.search(ctx.folded):
        gold = gold._replace(time=None)
    if found.time == MIDNIGHT and not gold.time:
        found = found._replace(time=None)
    if gold.weekday is None and found.weekday is not None and found.day is None:
        raise Wrong("The weekday was not asked for.")
    if gold.day is not None and None in (gold.weekday, found.weekday):
        gold, found = gold._replace(weekday=None), found._replace(weekday=None)
    years = {int(year) for year in STATED_YEAR.findall(ctx.text)}
    if len(years) == 1 and (gold.year is None) != (found.year is None) and (gold.year or found.year) in years:
        gold, found = gold._replace(year=None), found._replace(year=None)
    for name, wanted, said in zip(When._fields, gold, found):
        if wanted != said:
            problem = "is missing" if said is None else "was not asked for" if wanted is None else "is another"
            raise Wrong(f"The {name} {problem}.")


def grade_date(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Calendar equality with the gold's granularity."""
    wanted = _gold_when(gold)
    text = _strip_date_dress(answer, ctx)
    if len(text) > MAX_SENTENCE:
        raise Wrong("The answer is too long to state one date.")
    found, rest = read_when(text)
    _check_date_rest(rest, ctx)
    same_when(wanted, found, ctx)
    return "Both name the same date."


@lru_cache
def _gold_when(gold: str) -> When:
    """The gold's point of the calendar. Raises GoldError."""
    try:
        wanted, rest = read_when(clean(gold))
    except Wrong as problem:
        raise GoldError(f"The gold {_show(gold)} is no date: {problem}") from None
    if WORD_SIGN.search(rest):
        raise GoldError(f"The gold {_show(gold)} says more than a date.")
    return wanted


def _strip_date_dress(answer: str, ctx: Question) -> str:
    text = FIELD.sub(r"\1", peel(_from_json(peel(answer), ctx)))
    text = ONE_IN_BRACKETS.sub(r"\1", TIMESTAMP.sub(r"\1", text))
    match = LABEL.match(text)
    if match and not re.search(r"\d", match[1]) and not _named_when(match[1]) and _label_is_harmless(match[1], ctx):
        text = text[match.end() :]
    return text


def _check_date_rest(rest: str, ctx: Question) -> None:
    words = WORD_OR_SIGN.findall(rest)
    if not DANGLING.isdisjoint(words[-1:]):
        raise Wrong("The answer breaks off behind the date, or is no date.")
    for at, word in enumerate(words):
        if word == TAKEN:
            continue
        before = ["", *words][at]
        if word.isdigit() and not ctx.says(before, word) and not (before == "(" and YEAR.match(word)):
            raise Wrong("The answer offers a number beside the date.")
        if not word[0].isalnum() and word not in ".,:()\"'*`!-":
            raise Wrong(f"The sign {_show(word)} does not belong to one stated date.")
        if word[0].isalnum() and (word in NEGATIONS or not ctx.explains(word)):
            raise Wrong(f"The word {_show(word)} is not explained.")
        bound = word in DATE_BOUNDS or (word == "by" and TAKEN in words[at + 1 : at + 3])
        if bound and not ctx.asks(word):
            raise Wrong("The answer is a span or a bound, not a date.")


@lru_cache
def _named_when(text: str) -> When | None:
    """The point of the calendar that a short text is the name of; a year alone is a number."""
    try:
        when, rest = read_when(text)
    except Wrong:
        return None
    return None if WORD_SIGN.search(rest) else when


def _calendar(gold: str, text: str, ctx: Question) -> str:
    """For a text gold that is a month, weekday, quarter, date or time: whether another form of it is given."""
    wanted = _named_when(gold)
    if wanted is None:
        return ""
    match = LABEL.match(peel(text))
    if match:
        _check_label(WORD.findall(match[1].casefold()), ctx)
    found, left = read_when(_strip_date_dress(text, ctx))
    _check_date_rest(left, ctx)
    same_when(wanted, found, ctx)
    return "Both name the same point of the calendar."


# ---------------------------------------------------------------------------------------------------------------------
# Ranges: two ends, in order.
# ---------------------------------------------------------------------------------------------------------------------

_END = r"(?:[$€£]\s*)?[+-]?\s*(?:[$€£]\s*)?(?:\d[\d.,' ]*\d|\d)(?:[eE][+-]?\d+)?(?:\s*%)?"
# A name of an end and what stands between it and its number: "low:", "lower bound", "the smallest density is".
END_LABEL = pattern(
    r"\b(?:(?:the|an?)\s+)?(?:(low(?:er|est)?|min(?:imum)?|smallest|least|start|from)|"
    r"(upper|high(?:er|est)?|max(?:imum)?|largest|greatest|end))\b(?:\s*(?:bound|limit|end|quartile|value)?\s*[:=]?"
    r"|((?:\s+[^\s,;:=]+){0,6}?)(?:\s*[:=]|\s+(?:is|was|of|at)\b))\s*(?=[-+$€£]{0,2}\d)",
    re.IGNORECASE,
)
QUARTILES = pattern(
    r"\bq1\s?[:=]\s?([-+]?\d[\d.]{0,20}?)(?:\s?[,;]\s?|\s(?:and\s)?)q3\s?[:=]\s?(?=[-+]?\d)", re.IGNORECASE
)
_BETWEEN = r"-|—|to|and|through|until|\.\.\.?|,|;|…|<=?\s*\w{1,12}\s*<=?|≤\s*\w{1,12}\s*[≤<]|<\s*\w{1,12}\s*≤"
RANGE_WORDS = frozenset("between ci range interval inclusive old".split())
SPAN = pattern(rf"(?P<low>{_END})\s*(?:{_BETWEEN})\s*(?P<high>{_END})")
UNIT_TWICE = pattern(rf"(?<=\d)(\s?°?[^\W\d_]+)(?=\s*(?:{_BETWEEN})\s*{_END}\1(?!\w))")  # "13.1 mm to 17.3 mm"


def grade_range(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Both ends equal within the tolerance, each for itself, the lower first."""
    try:
        wanted, brackets = read_range(clean(gold), question_of(f"{ctx.text} {gold}", gold, "range"))
    except Wrong as problem:
        raise GoldError(f"The gold {_show(gold)} is no range: {problem}") from None
    found, shape = read_range(answer, ctx)
    if {brackets, shape} <= {"[)", "(]", "[]"} and brackets != shape:
        raise Wrong("The range closes at another end.")
    for target, value in zip(wanted, found):
        allowed = tolerance_of(target[0], target[1], tol, ctx.text)
        if EXACT.abs(EXACT.subtract(target[0], value[0])) > allowed:
            raise Wrong(f"The end {_plain(value[0])} is not {_nearness(allowed, target[0])} {_plain(target[0])}.")
    return "Both ends agree."


def read_range(text: str, ctx: Question) -> tuple[list[tuple[Decimal, str]], str]:
    """The two ends (value, as written) and the brackets around them. Raises Wrong for anything but one range."""
    text = peel(text)
    if len(text) > MAX_SENTENCE:
        raise Wrong("The answer is too long to state one range.")
    pairs = load_json(text) if text[:1] == "{" else None
    if isinstance(pairs, Pairs) and len(pairs) == 2:
        text = f"{pairs[0][1]} to {pairs[1][1]}"
    text = QUARTILES.sub(r"\1 to ", text) if "quartile" in ctx.folded else text
    text = UNIT_TWICE.sub("", plain_powers(_without_labels(text, ctx)), 1)
    match = SPAN.search(text)
    if not match:
        raise Wrong("The answer states no two ends.")
    before, after = text[: match.start()].rstrip(), _without_unit(text[match.end() :].lstrip(), ctx)
    brackets = before[-1:] + after[:1]
    if "%" in match[0]:
        agree_on_unit(Quantity(percent=True), ctx)
    for sign in set(match[0]) & set("$€£"):
        if ctx.units and not ctx.units & UNITS[sign]:
            raise Wrong("The currency named is not what was asked for.")
    _check_range_rest(before, after, ctx)
    ends = []
    for written in (match["low"], match["high"]):
        mantissa, _, exponent = written.lower().partition("e")
        value = _power(read_decimal(re.sub(r"[$€£%+\s-]", "", mantissa)), re.sub(r"[\s%]", "", exponent) or "0")
        if value is None:
            raise Wrong("An end of the range has no single reading.")
        ends.append((-value if "-" in mantissa else value, written))
    return ends, brackets


def _without_labels(text: str, ctx: Question) -> str:
    """A range without the names of its ends. Raises Wrong where they stand in another order than the ends do."""
    found = END_LABEL.finditer(text)
    labels = [label for label in found if all(map(ctx.explains, WORD.findall((label[3] or "").casefold())))]
    uppers = [match[2] is not None for match in labels]
    if len(labels) > 1 and uppers != [False, True]:
        raise Wrong("The names of the ends are not those of a lower and an upper end.")
    for match in reversed(labels):
        mark = " " if match[2] else " : "  # keeps the lower end apart from a number in front
        text = text[: match.start()] + mark + text[match.end() :]
    return text


def _without_unit(after: str, ctx: Question) -> str:
    """What follows a range, without a unit, which must be one the question asks for."""
    match = UNIT_TEXT.match(after)
    source = match[1] if match else ""
    units = units_of(_unit_key(source))
    if not units:
        return after
    agree_on_unit(Quantity(units=units), ctx)
    return after[len(source) :]


def _check_range_rest(before: str, after: str, ctx: Question) -> None:
    if re.match(r"[\s)\]]*(?:[,;/|&(]|and\b)\s*[-+$€£]?\d", after):
        raise Wrong("The answer states more than two ends.")
    for number in re.findall(r"\d[\d.,]*", before + " " + after):
        if read_decimal(number.rstrip(".,")) not in ctx.numbers:
            raise Wrong("The answer states more than two ends.")
    for word in re.findall(r"[^\W\d_]+|[^\w\s]", before + " " + after):
        word = word.casefold()
        unit = UNITS.get(word, frozenset()) & ctx.units
        if word.isalpha() and not ctx.explains(word) and word not in RANGE_WORDS:
            raise Wrong(f"The word {_show(word)} is not explained.")
        if (not word.isalpha() and word not in ".,:=()[]%$€£\"'*`") or (word in "$€£" and ctx.units and not unit):
            raise Wrong(f"The sign {_show(word)} does not belong to one range.")


# ---------------------------------------------------------------------------------------------------------------------
# Lists: items split by one kind of separator, matched optimally.
# ---------------------------------------------------------------------------------------------------------------------

BULLET = pattern(r"\A\s*(?:[-*•+]|\(?\d{1,4}[.)]|\(\d{1,4}\))\s+")
MARK_OF_LINE = pattern(r"\A\s*[-*•+]\s+(?=\S)")
NUMBERED = pattern(r"\A\s*(?:\*\*)?(?:\(?(\d{1,4})[.)]|\((\d{1,4})\))(?:\*\*)?\s+(.*)\Z", re.DOTALL)
# Ranks as answers write them: "#1 Ford", "1st: Ford", "Rank 1: Ford", "1 - Ford", "First: Ford"; behind: "Ford (1)".
_PLACE = r"(?:\s(?:place|rank))?\s?(?:[.):|,]|\s[-—](?=\s))"
RANKED = pattern(
    r"\A\s*(?:(?:#|(?:no|nr)\.?\s?|(?:rank|place|position|number)\s)(\d{1,4})[.):]?|(\d{1,4})(?:st|nd|rd|th)\b"
    rf"(?:{_PLACE})?|(\d{{1,4}}){_PLACE}|(first|second|third|fourth|fifth)\b(?:{_PLACE})?)(?:\s+|(?=[^\W\d]))(\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
RANK_BEHIND = pattern(r"\A(.*\S)\s*\((?:#|no\.?\s?|rank\s)?(\d{1,4})(?:st|nd|rd|th)?\)\Z", re.IGNORECASE | re.DOTALL)
RANK_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
PAIR = pattern(r"\A(.{1,200}?)\s*(?::|=>|=|->|→|\|)\s*(\S.*)\Z", re.DOTALL)
TRAILING_VALUE = pattern(
    r"\A(.{1,200}?)\s*(?:\(\s*(\S.*?)\s*\)|\s[-—]\s+(\S.*)|\s+([-+]?[$€£]?\d[\d.,]*%?))\Z", re.DOTALL
)
NO_PAIR = pattern(r"://|\d:\d\d")
ITEM_END = pattern(r"\s{0,4}(?:[,;]\s{0,4}(?:and\s)?|and\s|\Z)")
LEADING_VALUE = pattern(r"\A([-+]?[$€£]?\d[\d.,]*%?)\s+(?:of\s+)?(.+)\Z", re.DOTALL)
TABLE_RULE = pattern(r"\A[\s|:-]*\Z")
BULLET_MARK = pattern(r"[-*•]\s")
COUNTED = pattern(r"(?:\A|(?<=\s))\(?(\d{1,3})[.)]\s+(?=\S)")
NUMPY = pattern(r"\A(?:np|numpy)\.(?:float|int|uint|str)\d*_?\((.*)\)\Z")
ARRAY = pattern(
    r"\A(?:(?:np|numpy)\.)?(?:(?:pd|pandas)\.)?(?:Index|array)\((\[.*\])(?:, ?dtype=['\"]?[\w.<>]{1,20}['\"]?)?\)\Z",
    re.DOTALL,
)
AND = pattern(r"\s(?:and|&)\s")
LEADING_AND = pattern(r"(?:^|\s)(?:and|&)\s+")
NUMBERS_ONLY = pattern(r"\A[-+\d.eE% ]+\Z")
THEN = pattern(r"\Athen\s+")
PLAIN_NUMBER = pattern(r"\A([-+]?)[$€£]?(?!0\d)(\d[\d.,' ]*|\.\d+)([eE][+-]?\d+)?%?\Z")
BOTH = pattern(r"\A(?:both|all)\s+(?=\S)", re.IGNORECASE)
LIST_LEAD = pattern(r"\A([^\n:=\[{]{0,120}?)(?:\bare\b:?|\bis\b:?|\bwere\b:?|:)\s*(?=\S)", re.IGNORECASE)
SEPARATORS = ("\n", ";", "|", " > ", "→", "->", ", ", ",", " and ", " & ")


def read_items(text: str, like: Sequence[str] = (), ordered: bool = False) -> list[str]:
    """The items of a list as written. A separator that stands inside an item of `like` (the gold) does not separate.

    Raises Wrong where the order matters and the numbers in front of the items are in another one.
    """
    return _without_ranks(_split_items(text, like), like, ordered)


def _split_items(text: str, like: Sequence[str]) -> list[str]:
    text = peel(text)
    text = ARRAY.sub(r"\1", text)
    value = load_json(text) if text[:1] in ("[", "{") else None
    if isinstance(value, list):
        return [_item_text(item) for item in value]
    if (
        text[:1] in ("[", "(", "{")
        and _closing(text, 1, text[0], {"[": "]", "(": ")", "{": "}"}[text[0]]) == len(text) - 1
    ):
        text = text[1:-1]
    if not text.strip():
        return []
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) == 1:
        lines = _numbered_in_line(lines[0])
    if len(lines) > 1:
        if TABLE_RULE.match(lines[1]):  # heads and the rule below them
            lines = lines[2:]
        lines = [line for line in lines if not TABLE_RULE.match(line)]
        lines = [MARK_OF_LINE.sub("", line) for line in lines]
        return [_bare(line.strip().strip("|").strip(" ,;")) for line in lines]
    return [_bare(item) for item in _split_line(BULLET.sub("", text) if BULLET_MARK.match(text) else text, like)]


def _numbered_in_line(line: str) -> list[str]:
    """`1) Mia 2) Ada` as its two lines; a line that does not count from 1 stays one."""
    marks = list(COUNTED.finditer(line))
    if len(marks) < 2 or marks[0].start() or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return [line]
    stops = [*(mark.start() for mark in marks[1:]), len(line)]
    return [line[mark.start() : stop].strip(" ,;") for mark, stop in zip(marks, stops)]


def _item_text(item: object) -> str:
    if isinstance(item, Pairs):
        return ", ".join(f"{key}: {_item_text(value)}" for key, value in item)
    if isinstance(item, (list, tuple)):
        return ": ".join(map(_item_text, item))
    return "null" if item is None else str(item)


def _bare(item: str) -> str:
    return peel(NUMPY.sub(r"\1", peel(item))).strip()


def _without_ranks(items: list[str], like: Sequence[str], ordered: bool) -> list[str]:
    """Without the numbers that count the items from 1 or 0; golds (nothing they are `like`) have plain numbers only."""
    if len(items) < 2:
        return items
    for form in (NUMBERED, RANKED, RANK_BEHIND) if like else (NUMBERED,):
        parts = [match.groups() if match else () for match in map(form.match, items)]
        if not all(parts) or any(map(form.match, like)):
            continue
        texts = [part[0] if form is RANK_BEHIND else part[-1] for part in parts]
        places = [next(filter(None, part[1:] if form is RANK_BEHIND else part)) for part in parts]
        ranks = [RANK_WORDS.get(place.casefold()) or int(place) for place in places]
        counted = ranks in (list(range(1, len(ranks) + 1)), list(range(len(ranks))), [1] * len(ranks))
        if ordered and not counted and form is not RANK_BEHIND:
            raise Wrong("The numbers in front of the items are in another order.")
        if counted or form is NUMBERED:
            return [_bare(text) for text in texts]
    return items


def _split_line(text: str, like: Sequence[str]) -> list[str]:
    pieces, quoted = _outside_quotes(text) if '"' in text or "'" in text else ([], False)
    if quoted:
        return pieces
    paired = bool(like) and all(map(PAIR.match, like))  # an arrow then stands between a key and its value
    for separator in ("\t", ";", "|", *(() if paired else ("→", "->", "=>", ">"))):
        if separator in text and not any(separator in item for item in like):
            return [piece for piece in text.split(separator) if piece.strip()]
    commas_inside = [item for item in like if "," in item]
    spaced = ", " in text and not any(", " in item for item in like)
    if commas_inside and not spaced:
        pieces = [text]
    elif spaced:
        pieces = text.split(", ")
    elif AND.search(text):
        halves = AND.split(text) if not any(" and " in item for item in like) else [text]
        pieces = [part for half in halves for part in ([half] if GROUPED.match(half) else _split_commas(half))]
    else:
        pieces = _split_commas(text)
    if not any(" and " in item for item in like):
        pieces = [part for piece in pieces for part in LEADING_AND.split(piece) if part.strip()]
    if NUMBERS_ONLY.match(text):
        pieces = text.split()
    return [THEN.sub("", piece.strip()) for piece in pieces if piece.strip()]


def _split_commas(text: str) -> list[str]:
    pieces, start, depth = [], 0, 0
    for position, char in enumerate(text):
        depth = max(0, depth + (char in "([{") - (char in ")]}"))
        if char == "," and depth == 0:
            pieces.append(text[start:position])
            start = position + 1
    return [*pieces, text[start:]]


def _outside_quotes(text: str) -> tuple[list[str], bool]:
    """The items of a line, and whether quotes hold some of them together; `"Smith, John", Doe` has two."""
    items: list[str] = []
    any_quoted, position = False, 0
    while position < len(text):
        end = _closing_quote(text, position) if text[position : position + 1] in ('"', "'") else -1
        if end >= 0:
            any_quoted = True
            items.append(text[position + 1 : end])
            position = end + 1
        else:
            stop = next((at for at in range(position, len(text)) if text[at] in ",;"), len(text))
            items.append(text[position:stop])
            position = stop
        match = ITEM_END.match(text, position)
        position = match.end() if match else position
    return [item for item in items if item.strip()], any_quoted


def _closing_quote(text: str, start: int) -> int:
    """Where the quote at `start` closes: in front of a separator or the end; -1 when it is only an apostrophe."""
    mark, at = text[start], start
    while True:
        at = text.find(mark, at + 1)
        if at == -1 or ITEM_END.match(text, at + 1):
            return at


class Item(NamedTuple):
    """One gold item: its text, its number if it is one, its key and value if it is a pair."""

    text: str
    number: Decimal | None
    pair: re.Match[str] | None


@lru_cache
def _gold_items(gold: str) -> list[Item]:
    texts = read_items(clean(gold))
    pairs = [PAIR.match(text) for text in texts]
    if not all(pairs) or any(map(NO_PAIR.search, texts)):
        pairs = [None] * len(texts)
    return [Item(text, _plain_number(text), pair) for text, pair in zip(texts, pairs)]


def _plain_number(text: str) -> Decimal | None:
    """The value of an item that is a number and not a code with leading zeros."""
    match = PLAIN_NUMBER.match(text.strip())
    if not match:
        return None
    value = _power(read_decimal(match[2]), (match[3] or "e0")[1:])
    return -value if value is not None and match[1] == "-" else value


def grade_list(gold: str, answer: str, ctx: Question, tol: Tolerance) -> str:
    """Every gold item has its own item in the answer and nothing is left; order counts only for `ordered_list`."""
    items = _gold_items(gold)
    found = _answer_items(answer, items, ctx)
    if ctx.answer_type == "set":
        found = _distinct(found)
        items = list({fold(item.text): item for item in reversed(items)}.values())[::-1]
    if len(found) != len(items):
        raise Wrong(f"The answer has {len(found)} items, the gold {len(items)}.")
    if ctx.answer_type == "ordered_list":
        _check_label_order(items, found, ctx)
        for at, (item, text) in enumerate(zip(items, found), 1):
            if not _same_item(item, text, ctx, tol):
                raise Wrong(f"Item {at} is {_show(text)}, not {_show(item.text)}.")
        return "Every item agrees, in order."
    _match_all(items, found, ctx, tol)
    return "Every item of the gold has its own in the answer."


def _check_label_order(items: list[Item], found: list[str], ctx: Question) -> None:
    """Refuses labels in another order than the question's: "max = 3, min = 57" for minimum and maximum."""
    labels = [None if item.pair else LABEL.match(text) for item, text in zip(items, found)]
    named = [ctx.place_of(WORD.findall(label[1].casefold().replace("_", " "))) for label in labels if label]
    if len(named) == len(items) and None not in named and named != sorted(named, key=lambda place: place or 0):
        raise Wrong("The labels name the values in another order than the question does.")


def _distinct(items: list[str]) -> list[str]:
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(fold(item), item)
    return list(seen.values())


def _answer_items(answer: str, items: list[Item], ctx: Question) -> list[str]:
    like = [item.text for item in items]
    text = _list_frame(peel(FIELD.sub(r"\1", peel(answer))), items, ctx)
    text = BOTH.sub("", text) if len(items) > 1 else text
    if text.rstrip("\"'`)]}* ").endswith(("...", "…")) and not any(item.text.endswith(("...", "…")) for item in items):
        raise Wrong("The list breaks off.")
    value = load_json(text) if text[:1] == "{" else None
    if isinstance(value, Pairs) and len(value) == 1 and isinstance(value[0][1], list):
        if not _names_answer(str(value[0][0]), ctx):
            raise Wrong(f"The key {_show(str(value[0][0]))} names something else than the answer.")
        return [_item_text(item) for item in value[0][1]]
    if isinstance(value, Pairs) and len({fold(str(key)) for key, _ in value}) != len(value):
        raise Wrong("A key of the object is given twice.")
    found = _records(text, items, ctx) or read_items(text, like, ctx.answer_type == "ordered_list")
    if found and not any(item.pair for item in items):
        found = _without_common_noun(found, items, ctx)
        found[-1] = _strip_last(found[-1], items, ctx)
        found[0] = _strip_first(found[0], items, ctx)
        spoken = {stem(word) for text in (found[0], found[-1]) for word in WORD.findall(text)} if ctx.denied else set()
        if spoken & ctx.denied and not ctx.denied.intersection(map(stem, WORD.findall(ctx.gold))):
            raise Wrong("The answer states what the question asks about as not being so.")
    return found


def _records(text: str, items: list[Item], ctx: Question) -> list[str] | None:
    """Pairs that are written as records, [{"group": "A", "mean": 3.25}], or as lines of two cells below their heads."""
    if not all(item.pair for item in items):
        return None
    value = load_json(text) if text[:1] == "[" else None
    if isinstance(value, list) and all(isinstance(row, Pairs) for row in value):
        heads = {tuple(str(key) for key, _ in row) for row in value}
        rows = [[_item_text(cell) for _, cell in row] for row in value]
        titles = list(heads.pop()) if len(heads) == 1 else []
    else:
        rows = [[cell.strip() for cell in line.split(",")] for line in text.split("\n") if line.strip()]
        titles = rows.pop(0) if len(rows) == len(items) + 1 else ["name", "value"]
    if len(rows) != len(items) or any(len(row) != 2 for row in (titles, *rows)):
        return None
    if not all(_names_answer(title, ctx) for title in titles):
        raise Wrong("The heads above the pairs name something else than the answer.")
    return [f"{key}: {cell}" for key, cell in rows]


def _list_frame(text: str, items: list[Item], ctx: Question) -> str:
    """Without a lead such as "The two sizes are" or "Sizes:" in front of the items."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and not BULLET.match(lines[0]) and all(BULLET.match(line) for line in lines[1:]):
        heading = WORD.findall(lines[0].casefold())
        if all(ctx.explains(word) and word not in NEGATIONS for word in heading):
            return "\n".join(lines[1:])
    match = LIST_LEAD.match(text)
    pieces = [piece.strip() for piece in text.split(",")]
    if (
        not match
        or (len(pieces) == len(items) > 1 and all(map(LABEL.match, pieces)) and not any(item.pair for item in items))
        or RANKED.match(text)
        or (
            match[0].rstrip().endswith(":")
            and any(item.pair for item in items)
            and "\n" not in match[0] + text[match.end() :][:1]
        )
    ):
        return text
    words = WORD.findall(match[1].casefold())
    if not all(ctx.explains(word) or word in NUMBER_WORDS for word in words) or set(words) & NEGATIONS:
        return text
    if ctx.denied.intersection(map(stem, words)):
        return text
    return text[match.end() :]


LISTED_NOUN = pattern(r"\A(?:rank|list|name|order|sort|give)\s(?:all\s)?(?:the\s)?(?:\w+\s)??(\w+s)\b")


def _without_common_noun(found: list[str], items: list[Item], ctx: Question) -> list[str]:
    """Without the noun the question lists, behind every item: "Red Line, Blue Line" for "Which lines"."""
    tails = {text.strip(OUTER).rpartition(" ")[2].casefold() for text in found}
    noun = tails.pop()
    match = LISTED_NOUN.match(ctx.folded)
    asked = ctx.asked_for[0] | ({match[1]} if match else set())
    if tails or not {noun + "s", noun[:-1] + "ies"} & asked:
        return found
    if any(fold(item.text).endswith(noun) for item in items):
        return found
    return [text.strip(OUTER).rpartition(" ")[0] for text in found]


def _strip_last(text: str, items: list[Item], ctx: Question) -> str:
    """The last item without the rest of a sentence that repeats the question ("... and green flash")."""
    words = text.split()
    golds = {fold(item.text) for item in items}
    for cut in range(len(words) - 1, 0, -1) if len(words) <= 24 else ():
        rest = [word.strip(OUTER).casefold() for word in words[cut:]]
        head = " ".join(words[:cut])
        plain = rest[0] in VERBS | ctx.raw_words and all(ctx.explains(word) and word not in NEGATIONS for word in rest)
        if any(map(_denies, rest)):
            plain = ctx.says(*rest)
        elif ctx.denied.intersection(map(stem, rest)):
            plain = False
        if plain and fold(head) in golds:
            return head
    return text


def _strip_first(text: str, items: list[Item], ctx: Question) -> str:
    """The first item without the question's noun for all of them ("clinics B and D", "The columns age and fare")."""
    lead = ARTICLE.match(text.casefold())
    noun, _, rest = text[lead.end() if lead else 0 :].partition(" ")
    golds = {fold(item.text) for item in items}
    named = noun.casefold() in ctx.raw_words and noun.casefold() not in NEGATIONS
    return rest if named and fold(rest) in golds else text


def _same_item(item: Item, text: str, ctx: Question, tol: Tolerance) -> bool:
    try:
        if item.pair:
            return _same_pair(item.pair, text, ctx, tol)
        if item.number is not None:
            scalar = question_of(ctx.text, item.text, "number")
            scalar.numbers = set()
            grade_number(item.text, text, scalar, tol)
            return True
        return same_text(item.text, text) or bool(_calendar(item.text, text, ctx))
    except Wrong:
        return False


def _same_pair(pair: re.Match[str], text: str, ctx: Question, tol: Tolerance) -> bool:
    """`A: 3`, `A = 3`, `A (3)`, `A 3` and `3 A` are one pair."""
    for shape, key_at, values_at in ((PAIR, 1, (2,)), (TRAILING_VALUE, 1, (2, 3, 4)), (LEADING_VALUE, 2, (1,))):
        match = shape.match(text.strip())
        if not match:
            continue
        value = next((match[at] for at in values_at if match[at]), "")
        key = match[key_at]
        key_same = same_text(pair[1], peel(key)) or same_text(pair[1], _without_nouns(key, ctx))
        if key_same and _same_item(Item(pair[2], _plain_number(pair[2]), None), peel(value), ctx, tol):
            return True
    return False


def _without_nouns(key: str, ctx: Question) -> str:
    """`type A` is A where the question speaks of type A; `cats` is cat."""
    words = key.split()
    if len(words) > 1 and stem(words[0]) in ctx.stems:
        return " ".join(words[1:])
    return key[:-1] if key.endswith("s") else key


def _match_all(items: list[Item], found: list[str], ctx: Question, tol: Tolerance) -> None:
    """Raises Wrong unless items and found can be paired off completely (equal forms first, then augmenting paths)."""
    waiting: dict[str, list[int]] = {}
    for at, text in enumerate(found):
        waiting.setdefault(fold(text), []).append(at)
    left: list[Item] = []
    for item in items:
        same = waiting.get(fold(item.text))
        if same:
            same.pop()
        else:
            left.append(item)
    free = [found[at] for places in waiting.values() for at in places]
    if len(left) > MAX_LEFTOVER:
        if any(item.number is None for item in left):
            raise Wrong("Too many items of the list are not in the gold.")
        _match_numbers(left, free, ctx, tol)
        return
    _augment(left, free, lambda item, text: _same_item(item, text, ctx, tol))


def _augment(items: list[Item], texts: list[str], same: Callable[[Item, str], bool]) -> None:
    edges = [[at for at, text in enumerate(texts) if same(item, text)] for item in items]
    owner: dict[int, int] = {}
    for start in range(len(items)):
        if not _place(start, edges, owner, set()):
            raise Wrong(f"{_show(items[start].text)} is not among the answer's items.")


def _place(item: int, edges: list[list[int]], owner: dict[int, int], seen: set[int]) -> bool:
    for at in edges[item]:
        if at not in seen:
            seen.add(at)
            if at not in owner or _place(owner[at], edges, owner, seen):
                owner[at] = item
                return True
    return False


def _match_numbers(items: list[Item], texts: list[str], ctx: Question, tol: Tolerance) -> None:
    """Long numeric lists: the smallest free number that reaches a gold's interval goes to the one that closes first."""
    numbers = [_plain_number(text) for text in texts]
    if any(number is None for number in numbers):
        raise Wrong("An item of the list is not a number.")
    spans = []
    for item in items:
        value = item.number or Decimal(0)
        allowed = tolerance_of(value, item.text, tol, ctx.text)
        spans.append((value + allowed, value - allowed))
    values = sorted(number for number in numbers if number is not None)
    spans.sort()
    for (high, low), value in zip(spans, values):
        if not low <= value <= high:
            raise Wrong(f"{_plain(value)} is not among the gold's items.")


# ---------------------------------------------------------------------------------------------------------------------
# Named fields: each with its own type and tolerance; right when all are right.
# ---------------------------------------------------------------------------------------------------------------------

NAMED = pattern(r"@([\w .-]{1,80})\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]")
# What may stand in front of a name and between it and its value, in lines and in one line.
NAME_START = r"(?:^|[,;.]|\s(?=and\b))[ \t|]*(?:and\s|[-*•+]\s|\d{1,3}[.)]\s)?\s*[\"'`*_]{0,4}(?:the\s+)?"
NAME_END = r"[\"'`*_]{0,4}((?:[ \t][^\W\d_]+){0,3}?)[\"'`*_]{0,4}[ \t]*(?:[:=|,;\t]+|[=-]>|(?:is|was|are|were)\b)"
FIELD_KEYS = frozenset({"name", "gold", "answer_type", "rtol", "atol", "decimals"})


class Field(NamedTuple):
    name: str
    gold: str
    answer_type: str
    tol: Tolerance


def read_fields(gold: object) -> list[Field]:
    """The named golds of a `fields` task: a list of objects, or an object of name to gold. Raises GoldError."""
    if isinstance(gold, str):
        gold = load_json(gold)
    if isinstance(gold, Pairs):
        gold = dict(gold)
    if isinstance(gold, dict):
        rows = [
            {"name": name, **(dict(row) if isinstance(row, (dict, Pairs)) else {"gold": row})}
            for name, row in gold.items()
        ]
    elif isinstance(gold, list):
        rows = [dict(row) if isinstance(row, (dict, Pairs)) else {} for row in gold]
    else:
        rows = []
    fields = []
    for row in rows:
        if not row.get("name") or "gold" not in row or set(row) - FIELD_KEYS:
            raise GoldError(
                "A field needs a name and a gold, and knows no other keys than " + ", ".join(sorted(FIELD_KEYS))
            )
        text = gold_text(row["gold"])
        kind = str(row.get("answer_type") or infer_answer_type(text, str(row["name"]))[0])
        if kind not in ANSWER_TYPES or kind == "fields":
            raise GoldError(f"The field {row['name']} is of no known type: {kind}")
        for finding in _check_tolerances(kind, row.get("rtol"), row.get("atol"), row.get("decimals")):
            if finding.level == "refuse":
                raise GoldError(f"The field {row['name']}: {finding.sentence}")
        fields.append(
            Field(str(row["name"]), text, kind, Tolerance(row.get("rtol"), row.get("atol"), row.get("decimals")))
        )
    if not fields or len({_field_key(field.name) for field in fields}) != len(fields):
        raise GoldError("The gold names no fields, or one of them twice.")
    return fields


def _field_key(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.casefold().strip(" *`\"'@")).strip()


def _field_question(field: Field, question: str) -> str:
    return f"{question} {field.name.replace('_', ' ')}"


def _grade_field(field: Field, answer: str, question: str) -> Grade:
    asked = _field_question(field, question)
    return grade(field.gold, answer, answer_type=field.answer_type, question=asked, **field.tol._asdict())


def grade_fields(gold: object, answer: str, question: str) -> Grade:
    fields = read_fields(gold)
    said = answered_fields(answer, [_field_key(field.name) for field in fields], question)
    wrong: list[str] = []
    for field in fields:
        values = said.get(_field_key(field.name), [])
        if not values:
            wrong.append(f"{field.name} is missing")
        elif len({fold(peel(value)) for value in values}) > 1:
            wrong.append(f"{field.name} is given several values")
        else:
            grade_one = _grade_field(field, values[0], question)
            if grade_one.reward != 1.0:
                wrong.append(f"{field.name}: {grade_one.reason}")
    share = (len(fields) - len(wrong)) / len(fields)
    if wrong:
        return Grade(0.0, "fields", "; ".join(wrong)[:500], share)
    return Grade(1.0, "fields", f"All {len(fields)} fields are right.", share)


def answered_fields(answer: str, names: Sequence[str], question: str) -> dict[str, list[str]]:
    """The values an answer gives each name: from an object, `@name[value]`, a table with a row of names above its row
    of values, or `name: value`, `name is value`, `name, value` in lines or in one line.
    """
    text = peel(answer)
    said: dict[str, list[str]] = {}
    value = load_json(text) if text[:1] in ("{", "[") else None
    while isinstance(value, list) and len(value) == 1:
        if isinstance(value, Pairs) and _field_key(str(value[0][0])) in names:
            break
        value = value[0][1] if isinstance(value, Pairs) else value[0]
    if isinstance(value, Pairs):
        for key, item in value:
            said.setdefault(_field_key(str(key)), []).append(item if isinstance(item, str) else _json_text(item))
        return said
    for named in NAMED.finditer(text):
        said.setdefault(_field_key(named[1]), []).append(named[2])
    return said or _fields_of_table(text, names) or _fields_of_lines(text, names, question)


def _cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table or of separated values."""
    separator = next((mark for mark in ("|", "\t", ";", ",") if mark in line), ",")
    if separator in ";," and ('"' in line or "'" in line):
        return _outside_quotes(line)[0]
    return [cell.strip() for cell in line.strip("|").split(separator)]


def _fields_of_table(text: str, names: Sequence[str]) -> dict[str, list[str]] | None:
    """The values below a row that holds every name; nothing where another line follows than rows of as many cells."""
    lines = [line for line in (line.strip() for line in text.split("\n")) if not TABLE_RULE.match(line)]
    for at, line in enumerate(lines[:-1]):
        header = [_field_key(cell) for cell in _cells(line)]
        if set(names) <= set(header):
            rows = [_cells(row) for row in lines[at + 1 :]]
            if any(len(row) != len(header) for row in rows):
                return None
            return {name: [row[header.index(name)] for row in rows] for name in names if header.count(name) == 1}
    return None


def _fields_of_lines(text: str, names: Sequence[str], question: str) -> dict[str, list[str]]:
    """What follows each name up to the end of its line or the next name."""
    ctx = question_of(question, "", "fields")
    # A name's key has ss for ß, which no flag of a pattern makes equal.
    spelt = "|".join(
        re.escape(name).replace("\\ ", "[\\s_-]+").replace("ss", "(?:ss|ß)")
        for name in sorted(names, key=len, reverse=True)
    )
    known = {word for name in names for word in name.split()} | NEGATIONS
    cuts = [
        match
        for match in re.finditer(f"{NAME_START}({spelt}){NAME_END}", text, re.IGNORECASE | re.MULTILINE)
        if all(ctx.explains(word) and word not in known for word in match[2].casefold().split())
    ]
    said: dict[str, list[str]] = {}
    for match, stop in zip(cuts, [*(cut.start() for cut in cuts[1:]), len(text)]):
        value = text[match.end() : stop].strip().partition("\n")[0]
        said.setdefault(_field_key(match[1]), []).append(value.lstrip("*_` \t").strip(" \t|,;"))
    return said


def _json_text(item: object) -> str:
    if isinstance(item, Pairs):
        return "; ".join(f"{key}: {value if isinstance(value, str) else _json_text(value)}" for key, value in item)
    return json.dumps(item)


# ---------------------------------------------------------------------------------------------------------------------
# The table of types, and the one function everything else calls.
# ---------------------------------------------------------------------------------------------------------------------

RULES: dict[str, Callable[[str, str, Question, Tolerance], str]] = {
    "number": grade_number,
    "integer": grade_number,
    "percent": grade_number,
    "currency": grade_number,
    "text": grade_text,
    "category": grade_text,
    "boolean": grade_boolean,
    "date": grade_date,
    "list": grade_list,
    "ordered_list": grade_list,
    "set": grade_list,
    "range": grade_range,
    "none": grade_none,
}


def gold_text(gold: object) -> str:
    """A gold as text: strings as they are, True/False/None by name, floats by repr, lists and objects as JSON."""
    if isinstance(gold, str):
        return gold
    if isinstance(gold, (type(None), bool, int)):
        return str(gold)
    if isinstance(gold, float):
        return repr(gold)
    return json.dumps(gold, ensure_ascii=False)


def grade(
    gold: object,
    answer: str | bytes,
    *,
    answer_type: str,
    question: str = "",
    rtol: float | None = None,
    atol: float | None = None,
    decimals: int | None = None,
) -> Grade:
    """Grades one answer.

    Args:
        gold: the right answer; for "fields" a list of {"name", "gold", "answer_type", "rtol", "atol", "decimals"}.
        answer: what was submitted, as text or as the bytes of the answer file (UTF-8).
        answer_type: one of ANSWER_TYPES.
        question: the question as asked; it settles units, scale, rounding and which words an answer may repeat.
        rtol, atol: a number is right when |gold - answer| <= max(atol, rtol * |gold|); given values are kept to the
            letter (0 is 0), with both None the tolerance follows the stated rounding or the gold's own precision.
        decimals: decimal places the gold was rounded to, where neither tolerance is given.

    Returns a Grade; any answer gets one. Raises GoldError where the gold cannot be graded as its type, ValueError for
    an unknown type.
    """
    if answer_type not in ANSWER_TYPES:
        raise ValueError(f"{answer_type!r} is not one of the answer types {', '.join(ANSWER_TYPES)}")
    text = "" if answer_type == "fields" else _clean_gold(gold)
    ctx = question_of(question, text, answer_type)
    try:
        cleaned = clean(answer)
        if answer_type == "fields":
            undress(cleaned, question_of(question, "", answer_type))
            return grade_fields(gold, cleaned, question)
        if answer_type in ("text", "category") and same_letters(text, cleaned):
            return Grade(1.0, answer_type, "The texts are the same, letter by letter.")
        reason = _reason(text, undress(cleaned, ctx), ctx, Tolerance(rtol, atol, decimals))
    except Wrong as problem:
        return Grade(0.0, answer_type, str(problem), 0.0 if answer_type == "fields" else None)
    return Grade(1.0, answer_type, reason)


STATED_BRACKET = pattern(r"\s*\(([^()]{3,120})\)")
_STATED = r"(?:in|during|for|on|at|over|among|within|by|before|after|since|until)\s"
STATED_HINT = pattern(rf"\(|\b(?:{_STATED}|of\s|from\s|using\s)", re.IGNORECASE)
STATED_LEAD = pattern(rf"\A(?:{_STATED}|of\s|from\s|using\s)", re.IGNORECASE)
LEAD_END = pattern(r"\s*[,:]\s+|(?<=\d)\s+|\s+(?=(?:it|this|that|there)\s)", re.IGNORECASE)
IN_YEAR = pattern(r"\s*\b((?:in|of|during) [12]\d{3})(?![\w/-]|[.,]\d)", re.IGNORECASE)
TAIL_START = pattern(rf",?\s+(?={_STATED})", re.IGNORECASE)
MAX_PHRASES = 24
ONE_VALUE = frozenset({"number", "integer", "percent", "currency", "text", "category", "date"})


def _reason(gold: str, text: str, ctx: Question, tol: Tolerance) -> str:
    """Why the answer is right; where it is wrong as it stands, without what it repeats of the question."""
    rule = RULES[ctx.answer_type]
    try:
        return rule(gold, text, ctx, tol)
    except Wrong:
        if ctx.answer_type not in ONE_VALUE or not STATED_HINT.search(text):
            raise
        shorter = _without_stated(text, ctx)
        if shorter == text:
            raise
    return rule(gold, shorter, ctx, tol)


def _without_stated(text: str, ctx: Question) -> str:
    """Without the question's own phrases around the value: "In 2019, ", " (5 or more faults)", " in 2019"."""
    for _ in range(3):
        cut = next((cut for cut, phrase in _stated_spans(text) if ctx.states(phrase)), None)
        rest = f"{text[: cut.start]} {text[cut.stop :]}".strip() if cut else ""
        if not rest.strip(OUTER):
            break
        text = rest
    return text


def _stated_spans(text: str) -> list[tuple[slice, str]]:
    """Where the question's phrases may stand, each with the phrase; the longest of a kind first."""
    within = [match for form in (STATED_BRACKET, IN_YEAR) for match in form.finditer(text)]
    spans = [(slice(*match.span()), match[1]) for match in within]
    if STATED_LEAD.match(text):
        ends = list(LEAD_END.finditer(text))[:MAX_PHRASES]
        spans += [(slice(0, match.end()), text[: match.start()]) for match in reversed(ends)]
    starts = list(TAIL_START.finditer(text))[:MAX_PHRASES]
    return spans + [(slice(match.start(), len(text)), text[match.end() :]) for match in starts]


def _clean_gold(gold: object) -> str:
    """The gold as text, cleaned as an answer is. Raises GoldError where it is empty or no answer could hold it."""
    if isinstance(gold, str) and gold.isalnum() and gold.isascii():
        return gold
    try:
        text = clean(gold_text(gold))
    except Wrong as problem:
        raise GoldError(str(problem).replace("The answer", "The gold")) from None
    if not text.strip():
        raise GoldError("The gold is empty.")
    return text


def same_letters(gold: str, answer: str) -> bool:
    """Whether two clean texts are one but for case: then nothing in them needs to be understood."""
    return _letters(gold) == _letters(answer)


def _show(text: str) -> str:
    """A short quotation for a reason; what has no glyph of its own (control, bidirectional, format) is escaped."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ---------------------------------------------------------------------------------------------------------------------
# Golds: which type a gold proposes, and why one cannot be graded.
# ---------------------------------------------------------------------------------------------------------------------

REWARD_MODES = ("exact", "numeric", "list", "list_csv", "flexible", "")
_MOST = "highest|lowest|largest|smallest|most|least|oldest|newest|earliest|latest|best|worst|first"
ORDER_WORDS = pattern(
    r"\b(?:in (?:[a-z-]+ )?order(?! of magnitude)|ordered by|order(?:ed)?:|ranked|ranking|descending|ascending|sorted|"
    rf"(?:{_MOST}) first|from (?:{_MOST})\b.{{0,20}}\bto)\b"
)
ANY_ORDER = pattern(r"\bin any order\b|\border does(?:n't| not) matter\b|\bregardless of order\b")
COUNT_ASKED = pattern(
    r"\bhow many\b|\bnumber of\b|\bcount\b|\b(?:which|what) year\b|\byear\b.{0,20}\bdid\b|\bwhole number\b|\binteger\b"
)
AVERAGED = pattern(
    r"\b(?:mean|average|avg|median|ratio|correlation|std|deviation|variance|slope|score|coefficient|rate)\b"
)
LIST_ASKED = pattern(
    r"\blist\b|\bwhich (?:two|three|four|five|six|\d+)\b|\bnames? of (?:all|the (?:two|three|top))\b|"
    r"\bcomma[- ]separated\b|\beach\b|\ball\b"
)
TEXT_TYPES = frozenset({"text", "category", "boolean", "date", "none"})


def infer_answer_type(gold: object, question: str) -> tuple[str, bool]:
    """The answer type a gold and its question propose, and whether that is sure enough not to be reported."""
    if isinstance(gold, bool):
        return "boolean", True
    if (
        isinstance(gold, (list, dict))
        and gold
        and (isinstance(gold, dict) or all(isinstance(row, dict) and "name" in row for row in gold))
    ):
        return "fields", True
    text, asked = gold_text(gold).strip(), question.casefold()
    ordered = bool(ORDER_WORDS.search(asked)) and not ANY_ORDER.search(asked)
    list_type = "ordered_list" if ordered else "list"
    folded = text.casefold().strip(OUTER)
    if not text:
        return "text", False
    if folded in ("yes", "no", "true", "false"):
        return "boolean", True
    if folded in INAPPLICABLE or (folded in NONE_WORDS and folded not in ("[]", "{}", "null")):
        return "none", True
    if (
        (text[0] == "[" and isinstance(load_json(text), list))
        or "\n" in text
        or (_outside_quotes(text)[1] and len(read_items(text)) > 1)
    ):
        return list_type, bool(ordered or ANY_ORDER.search(asked) or LIST_ASKED.search(asked))
    number = _number_type(text, asked)
    if number:
        return number
    if _is_date(text):
        return "date", bool(re.search(r"\d", text))
    if re.match(r"\A[(\[].*[,;].*[)\]]\Z", text) or re.match(r"\A[-\d.]+\s*(?:-|to)\s*[-\d.]+\Z", text):
        spoken = re.search(r"\brange\b|\binterval\b|\bbetween\b|\bbin\b|\bspan\b", asked)
        if spoken or not re.match(r"\A[12]\d{3}-\d\d\Z", text):
            return "range", bool(spoken)
    if ";" in text or "," in text:
        return list_type, bool(LIST_ASKED.search(asked) or ordered)
    if len(text.split()) <= 5:
        return "category", bool(re.search(r"\bwhich\b|\bwhat\b|\bwho\b|\bname\b", asked))
    return "text", False


def _number_type(text: str, asked: str) -> tuple[str, bool] | None:
    if text.casefold() in SPECIALS:
        return "number", text.casefold() not in ("none", "null")
    if re.match(r"\A[-+]?0\d+\Z", text):
        return "text", True
    if re.match(r"\A[-+]?[\d.,]+\s*%\Z", text):
        return "percent", True
    if re.match(r"\A[-+(]?\s*[$€£]\s*[-+]?[\d.,]+\)?\Z", text):
        return "currency", True
    value = _plain_number(text)
    if value is None:
        return None
    if not re.match(r"\A[-+]?[\d,]+\Z", text):
        return ("percent" if PERCENT_FIXED.search(asked) and "percentage point" not in asked else "number"), True
    if COUNT_ASKED.search(asked) and not AVERAGED.search(asked):
        return "integer", True
    return ("number", True) if AVERAGED.search(asked) else ("integer", False)


def _is_date(text: str) -> bool:
    try:
        when, rest = read_when(text)
    except Wrong:
        return False
    return not WORD_SIGN.search(rest) and when != When(half=when.half)  # H2 without a year is a gas as well


def from_reward_mode(mode: str | None, gold: object, question: str) -> str:
    """The answer type of a public row's `reward_mode`. Raises ValueError for an unknown mode."""
    mode = (mode or "").strip().casefold()
    if mode not in REWARD_MODES:
        raise ValueError(f"reward mode {mode!r} is not one of {', '.join(name for name in REWARD_MODES if name)}")
    inferred = infer_answer_type(gold, question)[0]
    if mode == "numeric":
        return inferred if inferred in ("number", "integer", "percent", "currency") else "number"
    if mode in ("list", "list_csv"):
        asked = question.casefold()
        return "ordered_list" if ORDER_WORDS.search(asked) and not ANY_ORDER.search(asked) else "list"
    if mode == "exact":
        return inferred if inferred in TEXT_TYPES or inferred == "integer" else "text"
    return inferred


def check_gold(
    gold: object,
    *,
    answer_type: str,
    rtol: float | None = None,
    atol: float | None = None,
    decimals: int | None = None,
    question: str = "",
) -> list[Finding]:
    """Why a gold cannot be graded ("refuse"), or what is doubtful about it ("warn"); empty when it is sound."""
    if answer_type not in ANSWER_TYPES:
        return [Finding("refuse", f"{answer_type!r} is not an answer type; expected one of {', '.join(ANSWER_TYPES)}.")]
    findings = _check_tolerances(answer_type, rtol, atol, decimals)
    if any(finding.level == "refuse" for finding in findings):
        return findings
    if answer_type == "fields":
        return findings + _check_fields(gold, question)
    text = gold_text(gold)
    if not text.strip():
        return [*findings, Finding("refuse", "The gold is empty.")]
    try:
        verdict = grade(gold, text, answer_type=answer_type, question=question, rtol=rtol, atol=atol, decimals=decimals)
    except GoldError as problem:
        return [*findings, Finding("refuse", str(problem))]
    if verdict.reward != 1.0:
        return [
            *findings,
            Finding("refuse", f"The gold does not pass as its own answer as {answer_type}: {verdict.reason}"),
        ]
    if answer_type in LIST_TYPES and not read_items(clean(text)):
        return [*findings, Finding("refuse", "The gold is an empty list; say so with the type none.")]
    return findings + _check_meaning(text, answer_type, Tolerance(rtol, atol, decimals), question)


def _check_tolerances(answer_type: str, rtol: object, atol: object, decimals: object) -> list[Finding]:
    findings = []
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            findings.append(Finding("refuse", f"{name} is {value!r}, not a number."))
        elif not 0 <= value < float("inf"):
            findings.append(Finding("refuse", f"{name} is {value!r}; a tolerance is finite and not negative."))
        elif value and answer_type in TEXT_TYPES:
            findings.append(Finding("refuse", f"{name} is {value!r}, but {answer_type} answers have no tolerance."))
        elif value and answer_type == "fields":
            findings.append(Finding("refuse", f"{name} is {value!r} for the whole; each field has its own tolerance."))
        elif value and answer_type == "integer":
            findings.append(Finding("warn", f"{name} is {value!r}, but an integer is exact: it is ignored."))
    if decimals is not None and (
        isinstance(decimals, bool) or not isinstance(decimals, int) or not -12 <= decimals <= 30
    ):
        findings.append(Finding("refuse", f"decimals is {decimals!r}; expected a whole number of places."))
    if isinstance(rtol, (int, float)) and rtol >= 1:
        findings.append(Finding("refuse", f"rtol is {rtol!r}: every value up to twice the gold, and zero, would pass."))
    return findings


def _check_fields(gold: object, question: str) -> list[Finding]:
    try:
        fields = read_fields(gold)
    except GoldError as problem:
        return [Finding("refuse", str(problem))]
    return [
        Finding(finding.level, f"{field.name}: {finding.sentence}")
        for field in fields
        for finding in check_gold(
            field.gold, answer_type=field.answer_type, question=_field_question(field, question), **field.tol._asdict()
        )
    ]


def _check_meaning(text: str, answer_type: str, tol: Tolerance, question: str) -> list[Finding]:
    """Golds that are swallowed by their tolerance, or look like another type than the declared one."""
    findings = []
    values: list[tuple[str, Decimal | None]] = [(text, None)]
    if answer_type in ("number", "percent", "currency"):
        quantity = _gold_quantity(text, question_of(question, text, answer_type))
        values = [] if quantity.special else [(text, quantity.value)]
    elif answer_type in LIST_TYPES:
        values = [(item, _plain_number(item)) for item in read_items(clean(text))]
        if (tol.rtol or tol.atol) and all(value is None and not PAIR.match(item) for item, value in values):
            findings.append(Finding("refuse", "A tolerance is given, but no item of the list is a number."))
    elif answer_type == "integer":
        quantity = _gold_quantity(text, question_of(question, text, answer_type))
        if quantity.special or quantity.value != quantity.value.to_integral_value():
            findings.append(Finding("refuse", f"The gold {_show(text)} is not a whole number."))
        values = []
    for written, value in values:
        if value and (tol.rtol is not None or tol.atol is not None):
            allowed = tolerance_of(value, written, tol, question)
            if allowed >= abs(value):
                findings.append(
                    Finding("refuse", f"The tolerance {_plain(allowed)} swallows the gold {written}: zero would pass.")
                )
            elif allowed * 4 >= abs(value):
                findings.append(
                    Finding("warn", f"The tolerance {_plain(allowed)} is a quarter or more of the gold {written}.")
                )
    if answer_type in ("text", "category") and re.fullmatch(r"[-+]?\d*\.\d+(?:[eE][+-]?\d+)?", text.strip()):
        findings.append(
            Finding("warn", f"The gold {_show(text)} is a decimal number, but its type compares it as text.")
        )
    return findings


# ---------------------------------------------------------------------------------------------------------------------
# Cases: a task's own unit tests.
# ---------------------------------------------------------------------------------------------------------------------


def run_cases(expected: dict[str, object], cases: dict[str, object]) -> list[str]:
    """One sentence for every case of a task that does not hold under `expected` (the content of expected.json).

    cases = {"schema": 1, "accept": [{"answer": ..., "why": ...}], "reject": [...]}; a form on both sides is a failure.
    """
    problems = []
    sides: dict[str, list[dict[str, str]]] = {}
    if cases.get("schema") != 1:
        problems.append(f"cases.json has schema {cases.get('schema')!r}, expected 1.")
    for side in ("accept", "reject"):
        rows = cases.get(side, [])
        sides[side] = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        if not isinstance(rows, list) or len(sides[side]) != len(rows):
            problems.append(f"{side} is not a list of objects.")
    accepted = {str(row.get("answer")) for row in sides["accept"]}
    for side, wanted in (("accept", 1.0), ("reject", 0.0)):
        for row in sides[side]:
            answer, why = row.get("answer"), row.get("why", "")
            if not isinstance(answer, str):
                problems.append(f"A case of {side} has no answer text ({why}).")
                continue
            if side == "reject" and answer in accepted:
                problems.append(f"{_show(answer)} is both accepted and rejected ({why}).")
            verdict = _grade_expected(expected, answer)
            if verdict.reward != wanted:
                problems.append(f"{_show(answer)} should be {side}ed ({why}): {verdict.reason}")
    return problems


def _grade_expected(expected: dict[str, object], answer: str | bytes) -> Grade:
    keep = {key: expected.get(key) for key in ("rtol", "atol", "decimals")}
    return grade(
        expected["gold"],
        answer,
        answer_type=str(expected["answer_type"]),
        question=str(expected.get("question") or ""),
        **keep,  # type: ignore[arg-type]
    )


# ---------------------------------------------------------------------------------------------------------------------
# The program: what the verifier runs.
# ---------------------------------------------------------------------------------------------------------------------

CAUSES = (
    "usage",
    "reward-dir-unwritable",
    "sentinel-missing",
    "sentinel-malformed",
    "expected-missing",
    "expected-malformed",
    "grader-mismatch",
    "gold-ungradable",
    "artifact-lost",
    "grader-error",
)
OPTIONS = ("--expected", "--answer", "--sentinel", "--reward-dir")
MAX_FILE = 16 * 1024 * 1024  # bytes of expected.json or sentinel.json


class Fault(Exception):
    """Something other than the answer is wrong: no reward is written. `cause` is one of CAUSES."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class Sentinel(NamedTuple):
    """What the sealing step saw in the agent's box; see `read_sentinel`."""

    state: str
    why: str
    size: int
    sha256: str | None
    late: bool


def source_sha256() -> str:
    """The sha256 of this file as it is on disk, in hexadecimal."""
    with open(__file__, "rb") as file:
        return sha256(file.read()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns 0 with a reward written, 2 with none."""
    options: dict[str, str] = {}
    try:
        options = _options(sys.argv[1:] if arguments is None else list(arguments))
        _clear_reward(options["--reward-dir"])
        verdict, reward = _verdict(options)
        _write(options["--reward-dir"], "verdict.json", verdict)
        _write(options["--reward-dir"], "reward.json", {"reward": reward})
    except Fault as fault:
        return _report(options.get("--reward-dir"), fault.cause, str(fault))
    except Exception as problem:  # whatever it is, it is not the answer's fault, and it must not become a 0
        return _report(options.get("--reward-dir"), "grader-error", f"{type(problem).__name__}: {problem}")
    return 0


def _options(arguments: list[str]) -> dict[str, str]:
    names, values = arguments[0::2], arguments[1::2]
    if sorted(names) != sorted(OPTIONS) or len(names) != len(values):
        raise Fault("usage", "usage: grader.py " + " ".join(f"{name} PATH" for name in OPTIONS))
    return dict(zip(names, values))


def _clear_reward(folder: str) -> None:
    """Takes away a reward this run did not write."""
    try:
        os.unlink(os.path.join(folder, "reward.json"))
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise Fault("reward-dir-unwritable", f"a stale reward cannot be removed: {problem}") from None
    if not os.path.isdir(folder):
        raise Fault("reward-dir-unwritable", f"{folder} is not a directory")


def _verdict(options: dict[str, str]) -> tuple[dict[str, object], float]:
    sentinel = read_sentinel(options["--sentinel"])
    expected = read_expected(options["--expected"])
    digest = source_sha256()
    if expected["grader_sha256"] != digest:
        raise Fault(
            "grader-mismatch", f"expected.json was written for grader {expected['grader_sha256']}, this is {digest}"
        )
    content = _sealed_answer(options["--answer"], sentinel) if sentinel.state == "sealed" else b""
    try:
        graded = _grade_expected(expected, content)
    except GoldError as problem:
        raise Fault("gold-ungradable", str(problem)) from None
    if sentinel.state == "absent":
        graded = Grade(0.0, "absent", "No answer was filed.")
    elif sentinel.state == "refused":
        graded = Grade(0.0, "refused", f"What was filed is not an answer file: {sentinel.why}")
    elif sentinel.late:
        graded = Grade(0.0, "late", "The answer was filed after the time limit.", graded.share)
    return {
        "schema": 1,
        "task": expected.get("task"),
        "submitted": sentinel.state != "absent",
        "reward": graded.reward,
        "method": graded.method,
        "reason": graded.reason,
        "share": graded.share,
        "late": sentinel.late,
        "answer_excerpt": repr(content[:800].decode("utf-8", "replace")[:200])[1:-1],
        "answer_bytes": sentinel.size,
        "answer_sha256": sentinel.sha256,
        "answer_source": options["--answer"] if sentinel.state == "sealed" else None,
        **_versions(digest),
    }, graded.reward


def _versions(digest: str) -> dict[str, object]:
    return {
        "grader_version": GRADER_VERSION,
        "grader_sha256": digest,
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def read_sentinel(path: str) -> Sentinel:
    """Reads sentinel.json: {"schema": 1, "state", "why", "bytes", "sha256", "ctime_ns", "sealed_at_ns", "late"}.

    State "sealed": the answer file is beside it with these bytes and sha256; "absent": the agent filed none; "refused":
    what it filed is no small regular file. Raises Fault where it is missing or says anything else.
    """
    row = _read_object(path, "sentinel")
    size, sha = row.get("bytes"), row.get("sha256")
    sealed = row.get("state") == "sealed"
    sound = (
        row.get("schema") == 1
        and row.get("state") in ("sealed", "absent", "refused")
        and isinstance(row.get("why"), str)
        and isinstance(row.get("late"), bool)
        and _whole(row.get("sealed_at_ns"))
        and (row.get("ctime_ns") is None or _whole(row.get("ctime_ns")))
        and (not sealed or bool(re.fullmatch("[0-9a-f]{64}", str(sha))))
    )
    if not sound or not isinstance(size, int) or not _whole(size) or (sealed and size > MAX_ANSWER):
        raise Fault("sentinel-malformed", f"{path} is not what the sealing step writes")
    late = row["late"] is True
    return Sentinel(str(row["state"]), str(row["why"]), size, sha if isinstance(sha, str) else None, late)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_expected(path: str) -> dict[str, object]:
    """Reads expected.json: {"schema": 1, "task", "grader_sha256", "answer_type", "gold", "question", "rtol", "atol",
    "decimals"}. Raises Fault where it is missing or malformed."""
    row = _read_object(path, "expected")
    sound = (
        row.get("schema") == 1
        and isinstance(row.get("grader_sha256"), str)
        and row.get("answer_type") in ANSWER_TYPES
        and row.get("gold") not in (None, "", [], {})
        and isinstance(row.get("question", ""), (str, type(None)))
        and not any(
            finding.level == "refuse"
            for finding in _check_tolerances("number", row.get("rtol"), row.get("atol"), row.get("decimals"))
        )
    )
    if not sound:
        raise Fault("expected-malformed", f"{path} is not what the builder writes")
    return row


def _read_object(path: str, kind: str) -> dict[str, object]:
    try:
        content = _read_bytes(path, MAX_FILE)
    except OSError as problem:
        raise Fault(f"{kind}-missing", f"{path} cannot be read: {problem}") from None
    try:
        value = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise Fault(f"{kind}-malformed", f"{path} is not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise Fault(f"{kind}-malformed", f"{path} is not a JSON object")
    return value


def _read_bytes(path: str, limit: int) -> bytes:
    """A regular file of at most `limit` bytes, without following a link or waiting on a FIFO. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(f"longer than {limit} bytes")
    return content


def _sealed_answer(path: str, sentinel: Sentinel) -> bytes:
    """The answer as sealed. Raises Fault where the file that travelled is not the one that was sealed."""
    try:
        content = _read_bytes(path, MAX_ANSWER)
    except OSError as problem:
        raise Fault("artifact-lost", f"the sealed answer cannot be read: {problem}") from None
    if len(content) != sentinel.size or sha256(content).hexdigest() != sentinel.sha256:
        raise Fault("artifact-lost", "the answer file is not the one that was sealed")
    return content


def _write(folder: str, name: str, value: dict[str, object]) -> None:
    """Writes beside, then renames: the file is whole or not there."""
    path = os.path.join(folder, name)
    try:
        with open(path + ".part", "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump(value, file, allow_nan=False, ensure_ascii=False)
            file.write("\n")
        os.replace(path + ".part", path)
    except OSError as problem:
        raise Fault("reward-dir-unwritable", f"{path} cannot be written: {problem}") from None


def _report(folder: str | None, cause: str, detail: str) -> int:
    """Names the cause on stderr and, where it can, in verdict.json; makes sure that no reward stands. Returns 2."""
    print(f"cause={cause} {detail}", file=sys.stderr)
    if folder is not None:
        for name in ("reward.json", "reward.json.part"):
            try:
                os.unlink(os.path.join(folder, name))
            except OSError:
                continue
        try:
            _write(
                folder, "verdict.json", {"schema": 1, "reward": None, "cause": cause, "reason": detail, **_versions("")}
            )
        except Fault:
            return 2
    return 2


if __name__ == "__main__":
    sys.exit(main())
