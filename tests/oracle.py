"""A slow reader of the rules, written to be checked by eye against their text.

It shares nothing with the package: every order of the dice and every choice of checker is
tried one step at a time, each checker remembers what it did this turn, and the bans are applied
afterwards in the order in which the rules state them. Numbers in comments are rule numbers of
the rules page (docs of the package); boards are plain tuples in the package's layout of 32
integers, seen by the side on roll:

    0..23  points 1..24 of the mover, its own checkers positive, the enemy's negative
    24 25  on the bar, mover and enemy        26 27  borne off, mover and enemy
    28     the side on roll, 0 white 1 black  29     first-turn flags, bit 0 mover, bit 1 enemy
    30 31  zero

Where the package is compared with this file, a difference is a fault in one of the two, and
only the rules decide in which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

Board = tuple[int, ...]

OFF = 0  # where a checker stands in this file once it is borne off
BAR = 25  # entering with d lands on 25 - d (rule 16), so the bar is simply point 25
HEAD = 24
HOME = 6
MY_BAR, ENEMY_BAR, MY_OFF, ENEMY_OFF, TURN, FLAGS = 24, 25, 26, 27, 28, 29

CLASSES = ("ANY_OFF", "ALL_HOME", "OUTSIDE", "WINNER_HOME", "BAR")

STARTS = {
    "short": ((24, 2), (13, 5), (8, 3), (6, 5)),  # rule 2
    "long": ((24, 15),),  # rule 3
}

SCORING = {  # rule 29, in the order of CLASSES
    "triktrak": (1, 2, 4, 4, 8),
    "beginner": (1, 3, 2, 2, 4),
    "oin_mars": (1, 2, 2, 2, 2),
    "backgammon": (1, 2, 2, 3, 3),
    "single": (1, 1, 1, 1, 1),
}

ROLLS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))


def make_rules(**fields: Any) -> SimpleNamespace:
    """Give an object with every field of section 9 of the rules, defaults included."""
    rules = SimpleNamespace(
        movement="short",
        start=None,
        checkers=15,
        hit_and_hide="off",
        exact_first=False,
        last_home_larger=False,
        head_limit="one",
        head_exception="listed",
        head_exception_for="both",
        block="ahead",
        block_timing="end_of_turn",
        off_protects=True,
        long_koks="none",
        scoring="oin_mars",
        stake="none",
        cube_cap=64,
        jacoby=False,
        beavers=0,
        crawford=True,
        opening="use_dice",
        next_starter="roll",
        auto_doubles=0,
    )
    unknown = fields.keys() - vars(rules).keys()
    if unknown:
        raise TypeError(f"no such field of the rules: {sorted(unknown)}")
    vars(rules).update(fields)
    if rules.start is None:
        rules.start = STARTS[rules.movement]
    return rules


# ---------------------------------------------------------------------------------------------
# Boards


def enemy_number(rules: Any, point: int) -> int:
    """Give the enemy's own number of the mover's point; the same map leads back (rules 2, 3)."""
    if rules.movement == "short":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def start(rules: Any) -> Board:
    """Give the starting position, white on roll; in long both first turns are to come."""
    board = [0] * 32
    for point, count in rules.start:
        board[point - 1] += count
        board[enemy_number(rules, point) - 1] -= count
    board[FLAGS] = 3 if rules.movement == "long" else 0
    return tuple(board)


def flip(rules: Any, board: Sequence[int]) -> Board:
    """Give the same position as the other side sees it when it is on roll."""
    other = [0] * 32
    for point in range(1, 25):
        other[enemy_number(rules, point) - 1] = -board[point - 1]
    other[MY_BAR], other[ENEMY_BAR] = board[ENEMY_BAR], board[MY_BAR]
    other[MY_OFF], other[ENEMY_OFF] = board[ENEMY_OFF], board[MY_OFF]
    other[TURN] = 1 - board[TURN]
    other[FLAGS] = (board[FLAGS] & 1) << 1 | (board[FLAGS] & 2) >> 1
    return tuple(other)


def mover_is_off(board: Sequence[int]) -> bool:
    """Tell whether the mover has no checker left on the board or the bar."""
    return board[MY_BAR] == 0 and not any(count > 0 for count in board[:24])


def enemy_is_off(board: Sequence[int]) -> bool:
    """Tell whether the enemy has no checker left on the board or the bar."""
    return board[ENEMY_BAR] == 0 and not any(count < 0 for count in board[:24])


# ---------------------------------------------------------------------------------------------
# One turn


class Checker(NamedTuple):
    """One checker of the mover and what it did this turn."""

    point: int  # 1..24, OFF or BAR
    deed: int  # NOTHING, HIT or HIT_AND_MOVED; only hits that hit_and_hide tracks count


NOTHING, HIT, HIT_AND_MOVED = 0, 1, 2


class State(NamedTuple):
    """A turn under way.

    The checkers are sorted, so two states are equal exactly when they differ by nothing but
    which of several indistinguishable checkers is called which.
    """

    mine: tuple[Checker, ...]  # ascending: the last one is the farthest from being off
    enemy: tuple[int, ...]  # enemy checkers on the mover's points, by point; 0 and 25 unused
    enemy_bar: int
    left_head: int  # how many steps from point 24 were made this turn
    home_die: int  # the die that brought the last outside checker home this turn, else 0


class Turn(NamedTuple):
    """What holds for the whole turn."""

    rules: Any
    long: bool
    head_allowed: int  # steps from point 24 (rule 22); more than there are checkers if free
    no_overshoot: frozenset[int]  # dice that exact_first keeps from overshooting (rule 20)
    block_counts: bool  # False where rule 23 does not hold this turn
    enemy_has_off: bool


class Ended(NamedTuple):
    """A sequence of steps that ends here: a candidate for a whole play."""

    state: State
    used: tuple[int, ...]  # the dice, in the order played

    @property
    def wins(self) -> bool:
        return has_won(self.state)


def has_won(state: State) -> bool:
    return state.mine[-1].point == OFF


def opening_state(board: Sequence[int]) -> State:
    mine = [Checker(BAR, NOTHING)] * board[MY_BAR]
    for point in range(1, 25):
        mine += [Checker(point, NOTHING)] * max(0, board[point - 1])
    enemy = (0, *(max(0, -count) for count in board[:24]), 0)
    return State(tuple(sorted(mine)), enemy, board[ENEMY_BAR], 0, 0)


def closing_board(board: Sequence[int], state: State) -> Board:
    result = list(board)
    result[:24] = [-count for count in state.enemy[1:25]]
    result[MY_BAR] = 0
    for checker in state.mine:
        if checker.point == OFF:
            result[MY_OFF] += 1
        elif checker.point == BAR:
            result[MY_BAR] += 1
        else:
            result[checker.point - 1] += 1
    result[ENEMY_BAR] = state.enemy_bar
    result[FLAGS] &= ~1  # a turn, played or passed, clears the mover's flag (rule 22)
    return tuple(result)


def can_stand(turn: Turn, state: State, point: int) -> bool:
    """Rule 10: short is closed by two enemy checkers, long by one."""
    return state.enemy[point] < (1 if turn.long else 2)


def can_bear_off(turn: Turn, state: State, point: int, die: int) -> bool:
    """Rules 18 and 19, with rule 20 for the overshoot."""
    highest = state.mine[-1].point
    if highest > HOME:
        return False
    if die == point:
        return True
    return die > point == highest and die not in turn.no_overshoot


def steps(turn: Turn, state: State, die: int) -> Iterator[State]:
    """Yield the state after each single step of the die, over distinguishable checkers."""
    for checker in sorted(set(state.mine)):
        if checker.point == OFF:
            continue
        if state.mine[-1].point == BAR and checker.point != BAR:
            continue  # rule 16: nothing else moves while one is on the bar
        from_head = turn.long and checker.point == HEAD
        if from_head and state.left_head >= turn.head_allowed:
            continue  # rule 22
        target = checker.point - die
        if target >= 1:
            if not can_stand(turn, state, target):
                continue
        elif can_bear_off(turn, state, checker.point, die):
            target = OFF
        else:
            continue

        deed = HIT_AND_MOVED if checker.deed != NOTHING else NOTHING
        enemy, enemy_bar = state.enemy, state.enemy_bar
        if target != OFF and enemy[target] == 1:  # rule 15; never in long, where it is closed
            enemy = (*enemy[:target], 0, *enemy[target + 1 :])
            enemy_bar += 1
            if hit_is_tracked(turn.rules, target):
                deed = HIT

        mine = list(state.mine)
        mine.remove(checker)
        mine.append(Checker(target, deed))
        mine.sort()

        home_die = state.home_die
        if state.mine[-1].point > HOME >= mine[-1].point:
            home_die = die
        after = State(tuple(mine), enemy, enemy_bar, state.left_head + from_head, home_die)

        each_step = turn.block_counts and turn.rules.block_timing == "each_step"
        if each_step and has_forbidden_block(turn, after):
            continue  # rule 24
        yield after


def hit_is_tracked(rules: Any, point: int) -> bool:
    """Rule 17: `home` looks only at hits that land on the mover's 1-6."""
    return rules.hit_and_hide == "board" or (rules.hit_and_hide == "home" and point <= HOME)


def hides(state: State) -> bool:
    """Rule 17: one that moved on after its last hit ends the turn beside another checker."""
    standing = Counter(checker.point for checker in state.mine)
    return any(
        checker.deed == HIT_AND_MOVED and checker.point != OFF and standing[checker.point] > 1
        for checker in state.mine
    )


def has_forbidden_block(turn: Turn, state: State) -> bool:
    """Rule 23, read along the enemy's route from its 24 to its 1, without a wrap."""
    held = {enemy_number(turn.rules, checker.point) for checker in state.mine if checker.point}
    route = range(24, 0, -1)
    enemy_stands = {number for number in route if state.enemy[enemy_number(turn.rules, number)] > 0}
    length = 0
    for number in (*route, 0):  # the 0 ends a run that reaches the last point
        if number in held:
            length += 1
            continue
        if length >= 6:
            last = number + 1
            match turn.rules.block:
                case "ahead":
                    legal = turn.enemy_has_off or any(n < last for n in enemy_stands)
                case "home":
                    legal = turn.enemy_has_off or any(n <= HOME for n in enemy_stands)
                case "flat":
                    legal = False
                case _:
                    raise ValueError(turn.rules.block)
            if not legal:
                return True
        length = 0
    return False


def head_allowed(rules: Any, board: Sequence[int], dice: tuple[int, int]) -> int:
    """Rule 22: how many checkers may leave point 24 this turn."""
    if rules.head_limit == "free":
        return 99
    first_turn = bool(board[FLAGS] & 1)
    enemy_moved_before = not board[FLAGS] & 2
    if not first_turn or (rules.head_exception_for == "second" and not enemy_moved_before):
        return 1
    double = dice[0] == dice[1]
    match rules.head_exception:
        case "none":
            excepted = False
        case "listed":
            excepted = double and dice[0] in (3, 4, 6)
        case "any_double":
            excepted = double
        case "blocked":
            excepted = not one_checker_plays_all(rules, board, dice)
        case _:
            raise ValueError(rules.head_exception)
    return 2 if excepted else 1


def one_checker_plays_all(rules: Any, board: Sequence[int], dice: tuple[int, int]) -> bool:
    """Rule 22, `blocked`: some order lets one checker make every step of the roll from 24.

    A step is one of rules 10, 18 and 19; the block is a matter of the turn, not of the step.
    """
    turn = Turn(rules, True, 1, frozenset(), False, False)
    beginning = opening_state(board)
    if Checker(HEAD, NOTHING) not in beginning.mine:
        return False
    for order in orders(dice):
        state, point = beginning, HEAD
        for die in order:
            if point == OFF:
                break
            target = max(point - die, OFF)
            moved = list(state.mine)
            moved.remove(Checker(point, NOTHING))
            moved.append(Checker(target, NOTHING))
            wanted = tuple(sorted(moved))
            found = [after for after in steps(turn, state, die) if after.mine == wanted]
            if not found:
                break
            state, point = found[0], target
        else:
            return True
    return False


def orders(dice: tuple[int, int]) -> list[tuple[int, ...]]:
    """Rule 11: either die first; a double is four steps."""
    first, second = dice
    if first == second:
        return [(first,) * 4]
    return [(first, second), (second, first)]


def begin(rules: Any, board: Sequence[int], dice: tuple[int, int]) -> Turn:
    state = opening_state(board)
    long = rules.movement == "long"
    no_overshoot: frozenset[int] = frozenset()
    all_home = state.mine[-1].point <= HOME
    if rules.exact_first and dice[0] != dice[1] and all_home:
        points = {checker.point for checker in state.mine}
        no_overshoot = frozenset(dice) & points  # rule 20, each die separately
    turn = Turn(
        rules=rules,
        long=long,
        head_allowed=head_allowed(rules, board, dice) if long else 99,
        no_overshoot=no_overshoot,
        block_counts=long and rules.block != "off",
        enemy_has_off=board[ENEMY_OFF] > 0,
    )
    if turn.block_counts and has_forbidden_block(turn, state):
        turn = turn._replace(block_counts=False)  # rule 25
    return turn


def ended_sequences(turn: Turn, state: State, dice: tuple[int, int]) -> Iterator[Ended]:
    """Yield every sequence of steps, stopping anywhere; a win stops it (rules 13, 27)."""
    for order in orders(dice):
        reached = {state}
        yield Ended(state, ())
        for played, die in enumerate(order, start=1):
            reached = {
                after
                for before in reached
                if not has_won(before)
                for after in steps(turn, before, die)
            }
            for after in reached:
                yield Ended(after, order[:played])


def is_permitted(turn: Turn, ended: Ended) -> bool:
    """The bans that look at the end of the turn; those on single steps are in `steps`."""
    if not turn.long and turn.rules.hit_and_hide != "off" and hides(ended.state):
        return False
    end_of_turn = turn.block_counts and turn.rules.block_timing == "end_of_turn"
    return not (end_of_turn and has_forbidden_block(turn, ended.state))


def legal_sequences(rules: Any, board: Sequence[int], dice: tuple[int, int]) -> list[Ended]:
    """Give every legal sequence: the bans first, then rule 12, then rule 21."""
    turn = begin(rules, board, dice)
    ended = ended_sequences(turn, opening_state(board), dice)
    permitted = [one for one in ended if is_permitted(turn, one)]

    # Rule 12, with the complete play of rule 13 beside it.
    most = max(len(one.used) for one in permitted)
    legal = [one for one in permitted if len(one.used) == most or one.wins]
    two_dice = dice[0] != dice[1]
    if two_dice and most == 1:
        larger = max(one.used[0] for one in legal)
        legal = [one for one in legal if one.used[0] == larger or one.wins]

    # Rule 21, on what is left.
    if rules.last_home_larger and two_dice:
        large, small = max(dice), min(dice)
        if any(one.state.home_die == large for one in legal):
            legal = [one for one in legal if one.state.home_die != small]
    return legal


def plays_with_dice(rules: Any, board: Sequence[int], dice: Sequence[int]) -> dict[Board, int]:
    """Give every legal result with the largest number of dice a way to it uses (rule 14)."""
    board = tuple(int(number) for number in board)
    if mover_is_off(board) or enemy_is_off(board):
        return {}
    first, second = (int(die) for die in dice)
    used: dict[Board, int] = {}
    for one in legal_sequences(rules, board, (first, second)):
        result = closing_board(board, one.state)
        used[result] = max(used.get(result, 0), len(one.used))
    return used


def plays(rules: Any, board: Sequence[int], dice: Sequence[int]) -> set[Board]:
    """Give the boards a roll can lead to, still in the mover's view.

    A pass gives the unchanged position, its flag bit 0 cleared; a finished game gives none.
    """
    return set(plays_with_dice(rules, board, dice))


def perft(rules: Any, board: Sequence[int], depth: int) -> int:
    """Count distinct results over the 21 rolls, recursively; finished games only at the last."""
    if depth == 0:
        return 1
    total = 0
    for roll in ROLLS:
        results = plays(rules, board, roll)
        if depth == 1:
            total += len(results)
        else:
            total += sum(perft(rules, flip(rules, result), depth - 1) for result in results)
    return total


# ---------------------------------------------------------------------------------------------
# The result


def loser_state(rules: Any, board: Sequence[int]) -> str:
    """Give the state of rule 28 for the side that sees this board as the mover and has lost."""
    stands = [point for point in range(1, 25) if board[point - 1] > 0]
    any_off = board[MY_OFF] > 0
    on_bar = board[MY_BAR] > 0
    far = any(point >= 19 for point in stands)  # short: the winner's home; long: the start
    outside = on_bar or any(point > HOME for point in stands)

    if rules.movement == "long":
        match rules.long_koks:
            case "none":
                koks = False
            case "all_in_start":
                koks = all(point >= 19 for point in stands)
            case "any_in_start":
                koks = far
            case "none_home":
                koks = all(point > HOME for point in stands)
            case _:
                raise ValueError(rules.long_koks)
        tests = [("ANY_OFF", any_off), ("BAR", koks), ("WINNER_HOME", far), ("OUTSIDE", outside)]
    else:
        tests = [("BAR", on_bar), ("WINNER_HOME", far), ("OUTSIDE", outside)]
        tests.insert(0 if rules.off_protects else 3, ("ANY_OFF", any_off))
    return next((name for name, applies in tests if applies), "ALL_HOME")


def classify(rules: Any, board: Sequence[int]) -> int:
    """Give the class of a finished position: 0-4 the mover has won, 5-9 it has lost."""
    if mover_is_off(board):
        return CLASSES.index(loser_state(rules, flip(rules, board)))
    if enemy_is_off(board):
        return 5 + CLASSES.index(loser_state(rules, board))
    raise ValueError("the game is not over")


def points(scoring: str | Sequence[int], result: int) -> int:
    """Give the mover's points of a class, negative when it has lost (rule 29)."""
    table = SCORING[scoring] if isinstance(scoring, str) else scoring
    return table[result] if result < 5 else -table[result - 5]
