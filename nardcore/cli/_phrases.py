"""What ``nardcore play`` and ``nardcore replay`` say, in three languages."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from nardcore._terms import Words, result_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nardcore._terms import Language
    from nardcore.rules import Rules

__all__ = ["COLOUR", "HELP", "PHRASES", "result_name", "say"]

COLOUR: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "w": Words("white", "белые", "білі"),
        "b": Words("black", "чёрные", "чорні"),
    }
)
"""The sides as subjects of a sentence."""

PHRASES: Final[Mapping[str, Words]] = MappingProxyType(
    {
        "game": Words(
            "Game {n}, score {w}-{b}: {rules}",
            "Партия {n}, счёт {w}-{b}: {rules}",
            "Партія {n}, рахунок {w}-{b}: {rules}",
        ),
        "crawford": Words(
            "The Crawford game: nobody may double.",
            "Партия Кроуфорда: удваивать нельзя.",
            "Партія Кроуфорда: подвоювати не можна.",
        ),
        "throws": Words(
            "{side} begins ({throws})", "начинают {side} ({throws})", "починають {side} ({throws})"
        ),
        "begins": Words("{side} begins", "начинают {side}", "починають {side}"),
        "doubled": Words(
            "the stake is {value}, by equal throws",
            "ставка {value}: автодубль",
            "ставка {value}: автодубль",
        ),
        "rolled": Words("{side} throws {dice}", "{side} бросают {dice}", "{side} кидають {dice}"),
        "played": Words(
            "{side} plays {dice}: {play}",
            "{side} ходят {dice}: {play}",
            "{side} ходять {dice}: {play}",
        ),
        "offer": Words(
            "{side} offers to play for {value}",
            "{side} предлагают ставку {value}",
            "{side} пропонують ставку {value}",
        ),
        "accept": Words("{side} accepts", "{side} принимают", "{side} приймають"),
        "refuse": Words("{side} refuses", "{side} отказываются", "{side} відмовляються"),
        "beaver": Words(
            "{side} accepts and raises to {value}",
            "{side} принимают и поднимают до {value}",
            "{side} приймають і піднімають до {value}",
        ),
        "resign": Words(
            "{side} resigns: {name}", "{side} сдаются: {name}", "{side} здаються: {name}"
        ),
        "accept_resignation": Words("{side} accepts", "{side} согласны", "{side} згодні"),
        "refuse_resignation": Words(
            "{side} plays on", "{side} играют дальше", "{side} грають далі"
        ),
        "won": Words(
            "{side} wins {points}: {name}",
            "{side} выигрывают, очков: {points}, {name}",
            "{side} виграють, очок: {points}, {name}",
        ),
        "match": Words(
            "{side} wins the match {w}-{b}",
            "{side} выигрывают матч {w}-{b}",
            "{side} виграють матч {w}-{b}",
        ),
        "drawn": Words("the score is {w}-{b}", "счёт {w}-{b}", "рахунок {w}-{b}"),
        "stake": Words(
            "stake {value}, raised next by {side}",
            "ставка {value}, поднять могут {side}",
            "ставка {value}, підняти можуть {side}",
        ),
        "undone": Words("taken back", "ход взят назад", "хід узято назад"),
        "saved": Words("saved to {file}", "записано в {file}", "записано в {file}"),
        "left": Words("The game is not over.", "Партия не закончена.", "Партію не закінчено."),
        "plays": Words("{n} plays", "ходов: {n}", "ходів: {n}"),
        "ask_roll": Words("throw (Enter)", "бросить (Enter)", "кинути (Enter)"),
        "ask_offer": Words(
            "throw (Enter) or {word}", "бросить (Enter) или {word}", "кинути (Enter) або {word}"
        ),
        "ask_play": Words("your play of {dice}", "ваш ход {dice}", "ваш хід {dice}"),
        "ask_answer": Words(
            "accept or refuse", "accept — принять, refuse — нет", "accept — прийняти, refuse — ні"
        ),
        "ask_beaver": Words(
            "accept, refuse or beaver",
            "accept, refuse или beaver",
            "accept, refuse або beaver",
        ),
        "ask_dice": Words("dice of {side}", "зары: {side}", "кістки: {side}"),
        "ask_throw": Words(
            "throw for the first move, white's die and black's",
            "розыгрыш: зар белых и зар чёрных",
            "розіграш: кістка білих і кістка чорних",
        ),
    }
)
"""Sentences by what they are for."""

HELP: Final = Words(
    """\
8/5 6/5     a play; a number takes it from the list
Enter       throw the dice
list        the legal plays, numbered
hint        the best plays, as the evaluator rates them
best        play the best one
double      offer to raise the stake (also: dave, offer)
accept      accept what is offered (take, yes); refuse (drop, no); beaver
resign      give the game up; resign mars, resign all_home and so on for more
undo        take back your last decision and what followed
board       draw the board
sheet       the moves so far
save FILE   write everything down; nardcore play --load FILE goes on
quit        leave""",
    """\
8/5 6/5     ход; число берёт ход из списка
Enter       бросить зары
list        все возможные ходы с номерами
hint        лучшие ходы по оценке программы
best        сделать лучший ход
double      поднять ставку (также dave, offer)
accept      принять (take, yes); refuse — отказаться (drop, no); beaver
resign      сдаться; resign марс, resign all_home и так далее
undo        взять назад своё последнее решение
board       показать доску
sheet       ходы партии
save FILE   записать всё; продолжить: nardcore play --load FILE
quit        выйти""",
    """\
8/5 6/5     хід; число бере хід зі списку
Enter       кинути кістки
list        усі можливі ходи з номерами
hint        найкращі ходи за оцінкою програми
best        зробити найкращий хід
double      підняти ставку (також dave, offer)
accept      прийняти (take, yes); refuse — відмовитися (drop, no); beaver
resign      здатися; resign марс, resign all_home тощо
undo        узяти назад своє останнє рішення
board       показати дошку
sheet       ходи партії
save FILE   записати все; далі: nardcore play --load FILE
quit        вийти""",
)


def say(phrase: str, lang: Language, **values: object) -> str:
    """Fill in a sentence; a side is given by its letter."""
    side = values.get("side")
    if isinstance(side, str) and side in COLOUR:
        values["side"] = COLOUR[side][lang]
    return PHRASES[phrase][lang].format(**values)


def result_name(rules: Rules, state: int, lang: Language) -> str:
    """Call a win by its name."""
    if rules.stake.startswith("dave"):
        return result_names("single", lang)[state]
    return result_names(rules.scoring if isinstance(rules.scoring, str) else rules.points, lang)[
        state
    ]
