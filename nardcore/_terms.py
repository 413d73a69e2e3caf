"""Words for people: rulesets described, results named, terms translated.

Nothing here has an effect on play. The Russian words are those of the source texts (S0 on triktrak,
S3 the compilation on short and long nardy), the Ukrainian ones follow the Ukrainian text on
triktrak (S4) where it has a word; `SOURCES` says what the letters stand for.
"""

from __future__ import annotations

import dataclasses
import difflib
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from nardcore.errors import RulesError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "LANGUAGES",
    "PRESET_WORDS",
    "RESULT_WORDS",
    "SOURCES",
    "STATE_WORDS",
    "TERMS",
    "Description",
    "Language",
    "PresetWords",
    "Words",
    "describe",
    "result_names",
    "term",
]

Language: TypeAlias = Literal["en", "ru", "uk"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


@dataclasses.dataclass(frozen=True, slots=True)
class Words:
    """One meaning in the three languages."""

    en: str
    ru: str
    uk: str

    def __getitem__(self, lang: Language) -> str:
        """Return the words in one language."""
        if lang not in LANGUAGES:
            raise ValueError(_missing("language", lang, LANGUAGES))
        word: str = getattr(self, lang)
        return word


@dataclasses.dataclass(frozen=True, slots=True)
class PresetWords:
    """What is said of one preset in the three languages.

    Parameters
    ----------
    title : Words
        A heading.
    text : Words
        One to three sentences on what sets the game apart.
    source : str
        The text and place the rules come from, in the letters of `SOURCES`.
    """

    title: Words
    text: Words
    source: str


@dataclasses.dataclass(frozen=True, slots=True)
class Description:
    """A preset described in one language.

    Parameters
    ----------
    preset : str
        The name of the preset.
    lang : {'en', 'ru', 'uk'}
        The language.
    title, text : str
        A heading, and one to three sentences.
    source : str
        The text the rules come from, in words, and the place in it.
    """

    preset: str
    lang: Language
    title: str
    text: str
    source: str

    def __str__(self) -> str:
        return f"{self.title}. {self.text} ({self.source})"


SOURCES: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "S0": Words(
            "Russian text on triktrak",
            "русский текст о триктраке",
            "російський текст про триктрак",
        ),
        "S3": Words(
            "Russian compilation of five articles on short and long nardy",
            "русская подборка из пяти статей о коротких и длинных нардах",
            "російська добірка з п'яти статей про короткі та довгі нарди",
        ),
        "S4": Words(
            "Ukrainian text on triktrak",
            "украинский текст о триктраке",
            "український текст про триктрак",
        ),
        "FNR": Words(
            "common practice of Russian federation play",
            "обычная практика игры в российских федерациях",
            "звичайна практика гри в російських федераціях",
        ),
        "variant": Words(
            "common variant",
            "распространённый вариант",
            "поширений варіант",
        ),
    }
)
"""What the letters of a source stand for."""

PRESET_WORDS: Final[Mapping[str, PresetWords]] = MappingProxyType(
    {
        "backgammon": PresetWords(
            Words("Backgammon", "Бэкгэммон", "Бекгемон"),
            Words(
                "Towards each other, with hitting and the doubling cube. "
                "A win is single, gammon (2) or backgammon (3).",
                "Встречное движение, шашки бьют, играют с кубом удвоения. "
                "Выигрыш бывает обычный, гаммон (2) и бакгаммон (3).",
                "Зустрічний рух, шашки збивають, грають з кубом подвоєння. "
                "Виграш буває звичайний, гамон (2) і бекгамон (3).",
            ),
            "S3 L223-L283",
        ),
        "short_nardy": PresetWords(
            Words("Short nardy", "Короткие нарды", "Короткі нарди"),
            Words(
                "Backgammon's movement, but a checker that has hit may not hide: it may not go on "
                "to end the turn with another of its own. Oin counts 1, mars 2.",
                "Встречное движение; побив, нельзя «запрятаться», то есть встать тем же ходом на "
                "пункт с другой своей шашкой. Оин приносит одно очко, марс – два.",
                "Зустрічний рух; збивши, не можна «заховатися», тобто тим самим ходом стати на "
                "пункт з іншою своєю шашкою. Оїн дає одне очко, марс – два.",
            ),
            "S3 L43-L103",
        ),
        "short_dave": PresetWords(
            Words("Short nardy with dave", "Короткие нарды с даве", "Короткі нарди з даве"),
            Words(
                "Short nardy for a stake: before a throw a side may say dave, resign or raise. "
                "The stake doubles with each acceptance; there is no mars.",
                "Короткие нарды на ставку: перед своим броском можно предложить «даве» – сдаться "
                "или поднять ставку. С каждым согласием ставка удваивается; марса нет.",
                "Короткі нарди на ставку: перед своїм кидком можна запропонувати «даве» – здатися "
                "або підняти ставку. З кожною згодою ставка подвоюється; марсу немає.",
            ),
            "S3 L105-L107",
        ),
        "triktrak": PresetWords(
            Words("Triktrak", "Триктрак", "Триктрак"),
            Words(
                "Traditional triktrak. A die whose own point held a checker when the turn began "
                "may not bear off from a lower one. Oyun 1, mars 2, home mars 4, koks 8.",
                "Традиционный триктрак. Если перед ходом на пункте с номером зара есть шашка, этим "
                "заром нельзя выводить с меньшего пункта. Оюн 1, марс 2, домашний марс 4, кокс 8.",
                "Традиційний триктрак. Якщо перед ходом на лінії з числом кістки є шашка, цією "
                "кісткою не можна виводити з меншої. Оюн 1, марс 2, домашній марс 4, кокс 8.",
            ),
            "S0 R1-R30",
        ),
        "triktrak_ua": PresetWords(
            Words(
                "Triktrak (Ukrainian text)",
                "Триктрак (украинский текст)",
                "Триктрак (український текст)",
            ),
            Words(
                "Triktrak with free choice in bearing off. The win is single, double (mars), "
                "fourfold or, with a checker on the bar, eightfold.",
                "Триктрак со свободным выбором при выводе шашек. Выигрыш одинарный, двойной "
                "(марс), четверной, а при шашке на борту восьмерной.",
                "Триктрак з вільним вибором під час виведення шашок. Виграш одинарний, подвійний "
                "(марс), учетверений, а при збитій шашці на борту восьмиразовий.",
            ),
            "S4 L1-L11",
        ),
        "short_beginner": PresetWords(
            Words(
                "Short nardy for beginners",
                "Короткие нарды для начинающих",
                "Короткі нарди для початківців",
            ),
            Words(
                "The last checker comes home with the larger die. "
                "Simple win 1, mars 2, home mars 3, koks 4.",
                "Последняя шашка заводится в дом большим количеством очков. "
                "Простая победа 1, марс 2, домашний марс 3, кокс 4.",
                "Остання шашка заводиться в будинок більшою кількістю очок. "
                "Проста перемога 1, марс 2, домашній марс 3, кокс 4.",
            ),
            "S3 L7-L11, L27-L41",
        ),
        "long_nardy": PresetWords(
            Words("Long nardy", "Длинные нарды", "Довгі нарди"),
            Words(
                "The same way round, no hitting. One checker a turn leaves the head, two on a "
                "first 3-3, 4-4 or 6-6. Six in a row only with an enemy checker ahead of them.",
                "Движение в одну сторону, шашки не бьют. С головы берут одну шашку за ход, при "
                "первых 3-3, 4-4 и 6-6 – две. Заграждение из шести разрешено, только если перед "
                "ним есть шашка соперника.",
                "Рух в один бік, шашки не збивають. З голови беруть одну шашку за хід, при "
                "перших 3-3, 4-4 і 6-6 – дві. Загородження з шести дозволене, лише якщо перед "
                "ним є шашка суперника.",
            ),
            "S3 L147-L221",
        ),
        "long_beginner": PresetWords(
            Words(
                "Long nardy for beginners",
                "Длинные нарды для начинающих",
                "Довгі нарди для початківців",
            ),
            Words(
                "Two checkers leave the head on any double in the first turn; a block is never "
                "forbidden. Simple win 1, mars 2, home mars 3, koks 4.",
                "При любом дубле на первом ходу с головы снимают две шашки; заслон разрешён "
                "всегда. Простая победа 1, марс 2, домашний марс 3, кокс 4.",
                "При будь-якому дублі на першому ході з голови знімають дві шашки; заслін "
                "дозволений завжди. Проста перемога 1, марс 2, домашній марс 3, кокс 4.",
            ),
            "S3 L7-L25",
        ),
        "long_classic": PresetWords(
            Words(
                "Long nardy, classic",
                "Длинные нарды, классические",
                "Довгі нарди, класичні",
            ),
            Words(
                "Any number of checkers may leave the head, and six in a row are never allowed. "
                "Mars doubles the stake.",
                "Передвигать можно любое количество шашек, в том числе с головы; непроходимый "
                "заслон не допускается. При марсе ставка удваивается.",
                "Пересувати можна будь-яку кількість шашок, зокрема з голови; непрохідний "
                "заслін не допускається. При марсі ставка подвоюється.",
            ),
            "S3 L109-L136",
        ),
        "fnr_short": PresetWords(
            Words(
                "Short nardy, federation play",
                "Короткие нарды, федерация",
                "Короткі нарди, федерація",
            ),
            Words(
                "Backgammon's movement with the doubling cube; a win is oin (1) or mars (2).",
                "Движение как в бэкгэммоне, с кубом удвоения; выигрыш – оин (1) или марс (2).",
                "Рух як у бекгемоні, з кубом подвоєння; виграш – оїн (1) або марс (2).",
            ),
            "FNR",
        ),
        "fnr_long": PresetWords(
            Words(
                "Long nardy, federation play",
                "Длинные нарды, федерация",
                "Довгі нарди, федерація",
            ),
            Words(
                "Long nardy with the doubling cube. Only the second player has the exception at "
                "the head, and a forbidden block may not stand even within a turn.",
                "Длинные нарды с кубом удвоения. Исключение для головы есть только у второго "
                "игрока, а запрещённое заграждение нельзя строить даже «на проходе».",
                "Довгі нарди з кубом подвоєння. Виняток для голови має лише другий гравець, а "
                "заборонене загородження не можна будувати навіть «на проході».",
            ),
            "FNR",
        ),
        "nackgammon": PresetWords(
            Words("Nackgammon", "Накгаммон", "Накгамон"),
            Words(
                "Backgammon from another start: two checkers on the 23-point too, "
                "four on 13 and on 6.",
                "Бэкгэммон с другой начальной позицией: две шашки также в 23-м пункте, "
                "по четыре в 13-м и 6-м.",
                "Бекгемон з іншою початковою позицією: дві шашки також на лінії 23, "
                "по чотири на лініях 13 і 6.",
            ),
            "variant",
        ),
        "hypergammon": PresetWords(
            Words("Hypergammon", "Гипергаммон", "Гіпергамон"),
            Words(
                "Backgammon with three checkers a side, on the points 24, 23 and 22.",
                "Бэкгэммон с тремя шашками у каждого игрока, в пунктах 24, 23 и 22.",
                "Бекгемон з трьома шашками в кожного гравця, на лініях 24, 23 і 22.",
            ),
            "variant",
        ),
    }
)
"""What is said of each preset, in the order of the presets."""

_OYUN: Final = Words("oyun", "оюн", "оюн")
_OIN: Final = Words("oin", "оин", "оїн")
_MARS: Final = Words("mars", "марс", "марс")
_HOME_MARS: Final = Words("home mars", "домашний марс", "домашній марс")
_KOKS: Final = Words("koks", "кокс", "кокс")
_SIMPLE: Final = Words("simple", "простая", "проста")
_SINGLE: Final = Words("single", "обычная победа", "звичайна перемога")
_GAMMON: Final = Words("gammon", "гаммон", "гамон")
_BACKGAMMON: Final = Words("backgammon", "бакгаммон", "бекгамон")
_WIN: Final = Words("win", "победа", "перемога")

RESULT_WORDS: Final[Mapping[str, tuple[Words, Words, Words, Words, Words]]] = MappingProxyType(
    {
        "triktrak": (_OYUN, _MARS, _HOME_MARS, _HOME_MARS, _KOKS),
        "beginner": (_SIMPLE, _HOME_MARS, _MARS, _MARS, _KOKS),
        "oin_mars": (_OIN, _MARS, _MARS, _MARS, _MARS),
        "backgammon": (_SINGLE, _GAMMON, _GAMMON, _BACKGAMMON, _BACKGAMMON),
        "single": (_WIN, _WIN, _WIN, _WIN, _WIN),
    }
)
"""What each scoring table calls a win, by the loser's state in the order of the classes."""

STATE_WORDS: Final[tuple[Words, Words, Words, Words, Words]] = (
    Words("checkers borne off", "есть выведенные шашки", "є виведені шашки"),
    Words("all checkers home", "все шашки в доме", "усі шашки в будинку"),
    Words("a checker outside home", "шашка за пределами дома", "шашка поза будинком"),
    Words("a checker in the winner's home", "шашка в доме победителя", "шашка в будинку переможця"),
    Words("a checker on the bar", "шашка на борту", "шашка на борту"),
)
"""The loser's states in the order of the classes, for tables that have no names of their own."""

TERMS: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "anchor": Words("anchor", "якорный пункт", "якірна лінія"),
        "bar": Words("bar", "бар", "борт"),
        "bear off": Words("bear off", "выводить", "виводити"),
        "black": Words("black", "чёрные", "чорні"),
        "block": Words("block", "заслон", "заслін"),
        "blot": Words("blot", "блот", "блот"),
        "board": Words("board", "доска", "дошка"),
        "checker": Words("checker", "шашка", "шашка"),
        "closed point": Words("closed point", "закрытый пункт", "закрита лінія"),
        "cube": Words("doubling cube", "куб удвоения", "куб подвоєння"),
        "dave": Words("dave", "даве", "даве"),
        "dice": Words("dice", "зары", "кістки"),
        "die": Words("die", "зар", "кістка"),
        "double": Words("double", "дубль", "дубль"),
        "draw": Words("draw", "ничья", "нічия"),
        "enter": Words("enter", "зарядить", "ввести"),
        "game": Words("game", "партия", "партія"),
        "head": Words("head", "голова", "голова"),
        "hit": Words("hit", "побить", "збити"),
        "home": Words("home", "дом", "будинок"),
        "illegal": Words("illegal play", "незаконный ход", "неправильний хід"),
        "long nardy": Words("long nardy", "длинные нарды", "довгі нарди"),
        "loser": Words("loser", "проигравший", "переможений"),
        "match": Words("match", "матч", "матч"),
        "off": Words("off", "во дворе", "на дворі"),
        "open point": Words("open point", "открытый пункт", "вільна лінія"),
        "opponent": Words("opponent", "соперник", "суперник"),
        "pass": Words("pass", "пас", "пас"),
        "pip": Words("pip", "очко", "очко"),
        "play": Words("play", "ход", "хід"),
        "player": Words("player", "игрок", "гравець"),
        "point": Words("point", "пункт", "лінія"),
        "points": Words("points", "очки", "очки"),
        "position": Words("position", "позиция", "позиція"),
        "raise": Words("raise", "поднять ставку", "підняти ставку"),
        "resign": Words("resign", "сдаться", "здатися"),
        "result": Words("result", "результат", "результат"),
        "roll": Words("roll", "бросок", "кидок"),
        "rules": Words("rules", "правила", "правила"),
        "short nardy": Words("short nardy", "короткие нарды", "короткі нарди"),
        "stake": Words("stake", "ставка", "ставка"),
        "start": Words("start", "начальная позиция", "початкова позиція"),
        "step": Words("step", "однозарный ход", "хід на одну кістку"),
        "turn": Words("turn", "ход", "хід"),
        "white": Words("white", "белые", "білі"),
        "win": Words("win", "победа", "перемога"),
        "winner": Words("winner", "победитель", "переможець"),
        "yard": Words("yard", "двор", "двір"),
    }
)
"""The general terms, by their English headword."""


def describe(preset: str, lang: Language = "en") -> Description:
    """Describe a preset and name its source.

    Parameters
    ----------
    preset : str
        The name of a preset.
    lang : {'en', 'ru', 'uk'}
        The language.

    Returns
    -------
    Description
        Title, text and source.

    Raises
    ------
    RulesError
        If there is no such preset.
    ValueError
        If there is no such language.

    Examples
    --------
    >>> describe("triktrak_ua", "uk").title
    'Триктрак (український текст)'
    >>> describe("long_nardy").source
    'Russian compilation of five articles on short and long nardy, L147-L221'
    """
    if preset not in PRESET_WORDS:
        raise RulesError(_missing("preset", preset, PRESET_WORDS))
    words = PRESET_WORDS[preset]
    letters, _, place = words.source.partition(" ")
    source = SOURCES[letters][lang]
    return Description(
        preset=preset,
        lang=lang,
        title=words.title[lang],
        text=words.text[lang],
        source=f"{source}, {place}" if place else source,
    )


def result_names(
    scoring: str | tuple[int, int, int, int, int], lang: Language = "en"
) -> tuple[str, str, str, str, str]:
    """Return what a scoring table calls a win, by the loser's state.

    Parameters
    ----------
    scoring : str or tuple of 5 int
        A named table, or one of a ruleset's own, whose results are then called by the states.
    lang : {'en', 'ru', 'uk'}
        The language.

    Returns
    -------
    tuple of 5 str
        Names in the order of the classes: any off, all home, outside, winner's home, bar.

    Raises
    ------
    RulesError
        If there is no such table.
    ValueError
        If there is no such language.

    Examples
    --------
    >>> result_names("triktrak", "ru")
    ('оюн', 'марс', 'домашний марс', 'домашний марс', 'кокс')
    >>> result_names("backgammon")
    ('single', 'gammon', 'gammon', 'backgammon', 'backgammon')
    """
    if not isinstance(scoring, str):
        first, second, third, fourth, fifth = STATE_WORDS
    elif scoring in RESULT_WORDS:
        first, second, third, fourth, fifth = RESULT_WORDS[scoring]
    else:
        raise RulesError(_missing("scoring table", scoring, RESULT_WORDS))
    return first[lang], second[lang], third[lang], fourth[lang], fifth[lang]


def term(word: str, lang: Language = "en") -> str:
    """Return a term in one of the languages.

    Parameters
    ----------
    word : str
        An English headword, a key of `TERMS`.
    lang : {'en', 'ru', 'uk'}
        The language.

    Returns
    -------
    str
        The term.

    Raises
    ------
    ValueError
        If there is no such term or language.

    Examples
    --------
    >>> term("point", "ru"), term("point", "uk")
    ('пункт', 'лінія')
    """
    if word not in TERMS:
        raise ValueError(_missing("term", word, TERMS))
    return TERMS[word][lang]


def _missing(what: str, word: str, known: Iterable[str]) -> str:
    words = list(known)
    close = difflib.get_close_matches(word.lower(), words, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"there is no {what} {word!r}{hint}"
