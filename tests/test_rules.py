"""Rules as values: presets, faults, the text form, fingerprints, and words that describe them."""

import contextlib
import copy
import dataclasses
import enum
import os
import pickle
import subprocess
import sys
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nardcore.errors
import nardcore.rules
from nardcore import _terms
from nardcore.errors import (
    AmbiguousPlayError,
    FormatError,
    IllegalPlayError,
    InvalidPlayError,
    NardcoreError,
    PositionError,
    RolloutCancelled,
    RulesError,
    RulesTypeError,
    TableError,
)
from nardcore.rules import (
    BACKGAMMON,
    FNR_LONG,
    FNR_SHORT,
    HYPERGAMMON,
    LONG_BEGINNER,
    LONG_CLASSIC,
    LONG_NARDY,
    NACKGAMMON,
    PRESETS,
    SCORING,
    SHORT_BEGINNER,
    SHORT_NARDY,
    STATES,
    TRIKTRAK,
    TRIKTRAK_UA,
    Rules,
)

SHORT_START = ((24, 2), (13, 5), (8, 3), (6, 5))
LONG_START = ((24, 15),)

# The table of presets with every field of every preset, so that a changed default shows.
SHORT_FIELDS = {
    "movement": "short",
    "start": SHORT_START,
    "checkers": 15,
    "hit_and_hide": "off",
    "exact_first": False,
    "last_home_larger": False,
    "head_limit": "one",
    "head_exception": "listed",
    "head_exception_for": "both",
    "block": "ahead",
    "block_timing": "end_of_turn",
    "off_protects": True,
    "long_koks": "none",
    "cube_cap": 64,
    "jacoby": False,
    "beavers": 0,
    "crawford": True,
    "auto_doubles": 0,
}
LONG_FIELDS = SHORT_FIELDS | {"movement": "long", "start": LONG_START}
PRESET_TABLE = {
    "backgammon": SHORT_FIELDS
    | {"scoring": "backgammon", "stake": "cube", "opening": "use_dice", "next_starter": "roll"},
    "short_nardy": SHORT_FIELDS
    | {"hit_and_hide": "board"}
    | {"scoring": "oin_mars", "stake": "none", "opening": "use_dice", "next_starter": "roll"},
    "short_dave": SHORT_FIELDS
    | {"hit_and_hide": "board"}
    | {"scoring": "single", "stake": "dave_geometric"}
    | {"opening": "use_dice", "next_starter": "roll"},
    "triktrak": SHORT_FIELDS
    | {"exact_first": True}
    | {"scoring": "triktrak", "stake": "none", "opening": "reroll", "next_starter": "roll"},
    "triktrak_ua": SHORT_FIELDS
    | {"scoring": "triktrak", "stake": "none", "opening": "reroll", "next_starter": "roll"},
    "short_beginner": SHORT_FIELDS
    | {"last_home_larger": True}
    | {"scoring": "beginner", "stake": "none", "opening": "reroll", "next_starter": "roll"},
    "long_nardy": LONG_FIELDS
    | {"head_exception": "listed", "head_exception_for": "both"}
    | {"block": "ahead", "block_timing": "end_of_turn"}
    | {"scoring": "oin_mars", "stake": "none", "opening": "reroll", "next_starter": "winner"},
    "long_beginner": LONG_FIELDS
    | {"head_exception": "any_double", "head_exception_for": "both", "block": "off"}
    | {"long_koks": "all_in_start"}
    | {"scoring": "beginner", "stake": "none", "opening": "reroll", "next_starter": "roll"},
    "long_classic": LONG_FIELDS
    | {"head_limit": "free", "block": "flat", "block_timing": "end_of_turn"}
    | {"scoring": "oin_mars", "stake": "none", "opening": "reroll", "next_starter": "roll"},
    "fnr_short": SHORT_FIELDS
    | {"scoring": "oin_mars", "stake": "cube", "opening": "use_dice", "next_starter": "roll"},
    "fnr_long": LONG_FIELDS
    | {"head_exception": "listed", "head_exception_for": "second"}
    | {"block": "ahead", "block_timing": "each_step"}
    | {"scoring": "oin_mars", "stake": "cube", "opening": "use_dice", "next_starter": "roll"},
    "nackgammon": SHORT_FIELDS
    | {"start": ((24, 2), (23, 2), (13, 4), (8, 3), (6, 4))}
    | {"scoring": "backgammon", "stake": "cube", "opening": "use_dice", "next_starter": "roll"},
    "hypergammon": SHORT_FIELDS
    | {"checkers": 3, "start": ((24, 1), (23, 1), (22, 1))}
    | {"scoring": "backgammon", "stake": "cube", "opening": "use_dice", "next_starter": "roll"},
}
OPTIONS = {
    "movement": ("short", "long"),
    "hit_and_hide": ("off", "board", "home"),
    "head_limit": ("one", "free"),
    "head_exception": ("none", "listed", "blocked", "any_double"),
    "head_exception_for": ("both", "second"),
    "block": ("off", "ahead", "home", "flat"),
    "block_timing": ("end_of_turn", "each_step"),
    "long_koks": ("none", "all_in_start", "any_in_start", "none_home"),
    "stake": ("none", "dave_geometric", "dave_arithmetic", "cube"),
    "opening": ("use_dice", "reroll"),
    "next_starter": ("roll", "winner", "alternate"),
    "scoring": ("triktrak", "beginner", "oin_mars", "backgammon", "single"),
}
# Movement, classes, bear-off of the home points.
FROZEN_FINGERPRINTS = {
    "backgammon": ("e5f26356d6a6fe04", "0ab6a237698222d3", "167804752cd39ede"),
    "short_nardy": ("65e3e89143c62f79", "d2c24f417132622a", "167804752cd39ede"),
    "short_dave": ("65e3e89143c62f79", "d2c24f417132622a", "167804752cd39ede"),
    "triktrak": ("5b8ec2a41080d7da", "cd593098eb648168", "1f7e3ccffd5517b5"),
    "triktrak_ua": ("e5f26356d6a6fe04", "0ab6a237698222d3", "167804752cd39ede"),
    "short_beginner": ("8f40736a118a38a2", "890a8d3f33cb7b5d", "167804752cd39ede"),
    "long_nardy": ("14ef518993e93743", "f668a29753888bf3", "167804752cd39ede"),
    "long_beginner": ("7b3d02f804252559", "e7e099c4cb22ad76", "167804752cd39ede"),
    "long_classic": ("f85c303721ae5185", "d652bfa78a659070", "9c4561f8bd813128"),
    "fnr_short": ("e5f26356d6a6fe04", "0ab6a237698222d3", "167804752cd39ede"),
    "fnr_long": ("3c5566574f7f1c0b", "0025ab7f97a31113", "167804752cd39ede"),
    "nackgammon": ("d4aa212e5ea99e02", "93d86dc92ded9011", "167804752cd39ede"),
    "hypergammon": ("422410413088db91", "9dc7067981118697", "55695c86822fb83a"),
}
SWITCHES = ("exact_first", "last_home_larger", "off_protects", "jacoby", "crawford")
COUNTS = ("checkers", "beavers", "auto_doubles")
LARGEST = 2**31 - 1


def fields(rules):
    return {field.name: getattr(rules, field.name) for field in dataclasses.fields(rules)}


def faults(call, *args, **kwargs):
    with pytest.raises(RulesError) as caught:
        call(*args, **kwargs)
    return caught.value.faults


def enemy_point(movement, point):
    return 25 - point if movement == "short" else (point + 11) % 24 + 1


@st.composite
def starts(draw, movement):
    """A start that leaves every point to one side: at most one of each pair of facing points."""
    pairs = [(p, enemy_point(movement, p)) for p in range(1, 25) if p < enemy_point(movement, p)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=12, unique=True))
    points = [draw(st.sampled_from(pair)) for pair in chosen]
    counts, left = [], 15
    for later in range(len(points) - 1, -1, -1):
        counts.append(draw(st.integers(1, left - later)))
        left -= counts[-1]
    return tuple(zip(points, counts, strict=True))


@st.composite
def valid_rules(draw):
    values = {field: draw(st.sampled_from(options)) for field, options in OPTIONS.items()}
    values |= {field: draw(st.booleans()) for field in SWITCHES}
    if draw(st.booleans()):
        start = draw(starts(values["movement"]))
        values |= {"start": start, "checkers": sum(count for _, count in start)}
    if draw(st.booleans()):
        values["scoring"] = draw(st.tuples(*[st.integers(1, LARGEST)] * 5))
    values["cube_cap"] = draw(st.none() | st.integers(0, 30).map(lambda power: 2**power))
    values["beavers"] = draw(st.integers(0, LARGEST))
    if values["stake"] == "cube":
        values["auto_doubles"] = draw(st.integers(0, LARGEST))
    return Rules(**values)


class TestPresets:
    def test_presets_are_those_of_the_table_in_its_order(self):
        assert list(PRESETS) == list(PRESET_TABLE)

    @pytest.mark.parametrize("name", PRESET_TABLE)
    def test_every_field_of_a_preset_is_what_the_table_says(self, name):
        assert fields(PRESETS[name]) == PRESET_TABLE[name]

    @pytest.mark.parametrize("name", PRESET_TABLE)
    def test_a_preset_is_a_constant_a_name_and_its_own_shortest_text(self, name):
        rules = getattr(nardcore.rules, name.upper())
        assert rules is PRESETS[name] is Rules.preset(name)
        assert rules.name == name
        assert repr(rules) == f"Rules.parse('{name}')"
        assert Rules.parse(name) == rules

    def test_no_two_presets_are_equal(self):
        assert len(set(PRESETS.values())) == len(PRESETS)

    def test_scoring_tables_are_those_of_the_page(self):
        assert dict(SCORING) == {
            "triktrak": (1, 2, 4, 4, 8),
            "beginner": (1, 3, 2, 2, 4),
            "oin_mars": (1, 2, 2, 2, 2),
            "backgammon": (1, 2, 2, 3, 3),
            "single": (1, 1, 1, 1, 1),
        }

    def test_states_are_in_the_order_of_the_outcome_classes(self):
        assert STATES == ("any_off", "all_home", "outside", "winner_home", "bar")

    def test_presets_and_scoring_cannot_be_changed(self):
        for mapping in (PRESETS, SCORING):
            with pytest.raises(TypeError):
                mapping["mine"] = None

    @pytest.mark.parametrize(
        ("wrong", "near"), [("tricktrak", "triktrak"), ("long-nardy", "long_nardy")]
    )
    def test_an_unknown_preset_suggests_the_nearest(self, wrong, near):
        assert faults(Rules.preset, wrong) == (
            f"there is no preset {wrong!r}; did you mean {near!r}?",
        )

    def test_a_preset_unlike_all_others_is_refused_without_a_guess(self):
        assert faults(Rules.preset, "?") == ("there is no preset '?'",)

    def test_the_name_of_a_preset_is_a_str(self):
        with pytest.raises(TypeError):
            Rules.preset(3)


class TestValue:
    def test_fields_have_the_order_and_defaults_of_the_page(self):
        rules = Rules()
        assert fields(rules) == SHORT_FIELDS | {
            "scoring": "oin_mars",
            "stake": "none",
            "opening": "use_dice",
            "next_starter": "roll",
        }
        assert [field.name for field in dataclasses.fields(Rules)] == [
            *("movement", "start", "checkers", "hit_and_hide", "exact_first", "last_home_larger"),
            *("head_limit", "head_exception", "head_exception_for", "block", "block_timing"),
            *("off_protects", "long_koks"),
            *("scoring", "stake", "cube_cap", "jacoby", "beavers", "crawford"),
            *("opening", "next_starter", "auto_doubles"),
        ]

    def test_fields_are_keyword_only(self):
        with pytest.raises(TypeError):
            Rules("long")

    def test_rules_are_immutable_and_take_no_new_attributes(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            BACKGAMMON.stake = "none"
        assert not hasattr(BACKGAMMON, "__dict__")

    def test_rules_are_never_subclassed(self):
        assert getattr(Rules, "__final__", False)

    @given(valid_rules())
    def test_equal_rules_have_equal_hashes_and_one_key(self, rules):
        twin = Rules(**fields(rules))
        assert twin == rules
        assert hash(twin) == hash(rules)
        assert {rules: 1}[twin] == 1

    @given(valid_rules(), st.integers(0, pickle.HIGHEST_PROTOCOL))
    def test_pickle_and_copy_give_equal_rules(self, rules, protocol):
        assert pickle.loads(pickle.dumps(rules, protocol)) == rules
        assert copy.copy(rules) == copy.deepcopy(rules) == rules

    @given(valid_rules())
    def test_repr_evaluates_to_the_rules(self, rules):
        assert eval(repr(rules), {"Rules": Rules}) == rules

    def test_movement_decides_the_start(self):
        assert Rules(movement="short").start == SHORT_START
        assert Rules(movement="long").start == LONG_START

    def test_a_start_is_kept_highest_point_first_as_tuples(self):
        start = [[6, 5], [24, 2], [8, 3], [13, 5]]
        assert Rules(start=start).start == SHORT_START
        assert Rules(start=start) == Rules()

    def test_points_are_the_table_named_or_given(self):
        for name, points in SCORING.items():
            assert Rules(scoring=name).points == points
        assert Rules(scoring=[1, 2, 3, 4, 5]).points == (1, 2, 3, 4, 5)
        assert Rules(scoring=(1, 2, 3, 4, 5)).scoring == (1, 2, 3, 4, 5)

    def test_a_table_of_points_may_fall_as_the_beginners_does(self):
        assert Rules(scoring=(5, 4, 3, 2, 1)).points == (5, 4, 3, 2, 1)

    def test_members_of_a_str_enumeration_are_kept_as_plain_str(self):
        class Choice(enum.StrEnum):
            LONG = "long"
            MINE = "backgammon"

        rules = Rules(movement=Choice.LONG, scoring=Choice.MINE)
        assert type(rules.movement) is str
        assert type(rules.scoring) is str

    @pytest.mark.parametrize("field", OPTIONS)
    def test_every_option_of_the_page_is_accepted(self, field):
        for option in OPTIONS[field]:
            movement = "short" if field == "hit_and_hide" else "long"
            rules = Rules(**({"movement": movement} | {field: option}))
            assert getattr(rules, field) == option

    @pytest.mark.parametrize("field", [field for field in OPTIONS if field != "scoring"])
    def test_annotations_name_the_options_of_the_page(self, field):
        assert typing.get_args(typing.get_type_hints(Rules)[field]) == OPTIONS[field]


class TestOtherMovement:
    @pytest.mark.parametrize(
        ("field", "value", "default"),
        [
            ("head_limit", "free", "one"),
            ("head_exception", "blocked", "listed"),
            ("head_exception_for", "second", "both"),
            ("block", "flat", "ahead"),
            ("block_timing", "each_step", "end_of_turn"),
            ("long_koks", "none_home", "none"),
        ],
    )
    def test_short_ignores_what_only_long_knows(self, field, value, default):
        rules = Rules(**{field: value})
        assert getattr(rules, field) == default
        assert rules == Rules()
        assert getattr(Rules(movement="long", **{field: value}), field) == value

    @pytest.mark.parametrize(
        ("field", "value", "default"),
        [("hit_and_hide", "home", "off"), ("off_protects", False, True)],
    )
    def test_long_ignores_what_only_short_knows(self, field, value, default):
        rules = Rules(movement="long", **{field: value})
        assert getattr(rules, field) == default
        assert rules == Rules(movement="long")
        assert getattr(Rules(**{field: value}), field) == value

    @pytest.mark.parametrize("field", ["exact_first", "last_home_larger"])
    def test_bearing_off_options_hold_in_both_games(self, field):
        assert getattr(Rules(movement="long", **{field: True}), field) is True

    def test_an_ignored_field_must_still_have_a_value_that_exists(self):
        assert faults(Rules, movement="long", hit_and_hide="bord") == (
            "hit_and_hide: 'bord' is not one of off, board, home; did you mean 'board'?",
        )

    def test_a_change_of_movement_takes_the_default_start_along(self):
        assert BACKGAMMON.replace(movement="long").start == LONG_START
        assert LONG_NARDY.replace(movement="short").start == SHORT_START
        assert Rules.parse("backgammon+movement=long") == BACKGAMMON.replace(movement="long")

    def test_a_change_of_movement_keeps_a_start_of_ones_own(self):
        assert NACKGAMMON.replace(movement="long").start == NACKGAMMON.start


class TestFaults:
    @pytest.mark.parametrize("field", OPTIONS)
    def test_an_unknown_option_lists_the_known_ones(self, field):
        (fault,) = faults(Rules, **{field: "zzz"})
        assert fault == f"{field}: 'zzz' is not one of {', '.join(OPTIONS[field])}"

    @pytest.mark.parametrize("field", OPTIONS)
    def test_a_misspelt_option_suggests_the_near_one(self, field):
        option = OPTIONS[field][-1]
        (fault,) = faults(Rules, **{field: option + "x"})
        assert fault.endswith(f"; did you mean {option!r}?")

    @pytest.mark.parametrize("wrong", [None, 1, True, {"short"}, b"short"], ids=repr)
    @pytest.mark.parametrize("field", OPTIONS)
    def test_an_option_is_a_str(self, field, wrong):
        with pytest.raises(RulesTypeError) as caught:
            Rules(**{field: wrong})
        assert caught.value.faults[0].startswith(f"{field}: ")
        assert isinstance(caught.value, TypeError)

    @pytest.mark.parametrize("wrong", [0, 1, None, "true", 1.0], ids=repr)
    @pytest.mark.parametrize("field", SWITCHES)
    def test_a_switch_is_a_bool_and_nothing_like_it(self, field, wrong):
        with pytest.raises(RulesTypeError, match=rf"^{field}: a bool is needed"):
            Rules(**{field: wrong})

    @pytest.mark.parametrize("wrong", [True, None, "1", 1.0], ids=repr)
    @pytest.mark.parametrize("field", COUNTS)
    def test_a_number_is_an_int_and_no_bool(self, field, wrong):
        with pytest.raises(RulesTypeError, match=rf"^{field}: an int is needed"):
            Rules(**{field: wrong})

    @pytest.mark.parametrize("wrong", [-1, 2**31, 10**5000], ids=["-1", "2**31", "10**5000"])
    @pytest.mark.parametrize("field", ["beavers", "auto_doubles"])
    def test_counts_are_not_negative_and_fit_32_bits(self, field, wrong):
        (fault,) = faults(Rules, stake="cube", **{field: wrong})
        assert fault.endswith("is not between 0 and 2147483647")

    @pytest.mark.parametrize("wrong", [-1, 0, 16])
    def test_a_side_has_1_to_15_checkers(self, wrong):
        assert faults(Rules, checkers=wrong) == (f"checkers: {wrong} is not between 1 and 15",)

    @pytest.mark.parametrize("wrong", [-2, 0, 3, 63, 96, 2**31], ids=repr)
    def test_the_cap_of_the_cube_is_a_power_of_two(self, wrong):
        assert faults(Rules, cube_cap=wrong) == (
            f"cube_cap: {wrong} is not a power of two between 1 and 1073741824",
        )

    @pytest.mark.parametrize("right", [None, 1, 2, 64, 1024, 2**30], ids=repr)
    def test_the_cube_may_have_any_power_of_two_or_no_cap(self, right):
        assert Rules(cube_cap=right).cube_cap == right

    @pytest.mark.parametrize("wrong", [True, "64", 64.0], ids=repr)
    def test_the_cap_of_the_cube_is_an_int_or_none(self, wrong):
        with pytest.raises(RulesTypeError, match=r"^cube_cap: an int or None is needed"):
            Rules(cube_cap=wrong)

    @pytest.mark.parametrize("stake", ["none", "dave_geometric", "dave_arithmetic"])
    def test_automatic_doubles_need_the_cube(self, stake):
        assert faults(Rules, stake=stake, auto_doubles=1) == ("auto_doubles: 1 needs stake=cube",)
        assert Rules(stake=stake, auto_doubles=0).auto_doubles == 0
        assert Rules(stake="cube", auto_doubles=3).auto_doubles == 3

    def test_a_table_of_points_has_five_values(self):
        assert faults(Rules, scoring=(1, 2, 2, 3)) == (
            "scoring: a table has 5 values (any_off, all_home, outside, winner_home, bar), not 4",
        )

    def test_points_of_a_table_are_positive(self):
        assert faults(Rules, scoring=(0, 2, -2, 3, 2**31)) == (
            "scoring: 0 for any_off is not between 1 and 2147483647",
            "scoring: -2 for outside is not between 1 and 2147483647",
            "scoring: 2147483648 for bar is not between 1 and 2147483647",
        )

    def test_points_of_a_table_are_int_and_no_bool(self):
        with pytest.raises(RulesTypeError) as caught:
            Rules(scoring=(True, 2, 2.0, 3, "3"))
        assert [fault.split(" is needed")[0] for fault in caught.value.faults] == [
            "scoring: an int for any_off",
            "scoring: an int for outside",
            "scoring: an int for bar",
        ]

    def test_a_start_has_as_many_checkers_as_a_side(self):
        assert faults(Rules, start=((24, 2), (13, 5))) == (
            "start: 7 checkers stand there, but checkers=15",
        )
        assert faults(Rules, checkers=3) == ("start: 15 checkers stand there, but checkers=3",)

    def test_a_start_names_points_1_to_24_once_with_checkers_on_each(self):
        assert faults(Rules, start=((25, 5), (0, 5), (13, 0), (13, 5), (6, -1))) == (
            "start: there is no point 25",
            "start: there is no point 0",
            "start: 0 checkers on point 13",
            "start: point 13 is given twice",
            "start: -1 checkers on point 6",
        )

    @pytest.mark.parametrize(
        "wrong",
        [
            None,
            24,
            "24:15",
            {24: 15},
            (24, 15),
            ((24,),),
            ((24, 15, 1),),
            ((24.0, 15),),
            ((True, 15),),
        ],
        ids=repr,
    )
    def test_a_start_is_pairs_of_int(self, wrong):
        with pytest.raises(RulesTypeError, match=r"^start: a .* is needed"):
            Rules(start=wrong)

    @pytest.mark.parametrize(
        ("movement", "start", "points"),
        [
            ("short", ((24, 14), (1, 1)), "24, 1"),
            ("short", ((13, 5), (12, 10)), "13, 12"),
            ("long", ((24, 14), (12, 1)), "24, 12"),
            ("long", ((13, 5), (7, 5), (1, 5)), "13, 1"),
        ],
    )
    def test_a_start_puts_no_two_sides_on_one_point(self, movement, start, points):
        assert faults(Rules, movement=movement, start=start) == (
            f"start: both sides would stand on the mover's points {points}",
        )

    def test_all_faults_are_listed_at_once(self):
        found = faults(
            Rules,
            movement="shrot",
            block="aheat",
            exact_first=1,
            checkers=16,
            start=((25, 1),),
            beavers=-1,
            auto_doubles=2.0,
            cube_cap=3,
            scoring="oin",
        )
        assert [fault.split(":")[0] for fault in found] == [
            *("movement", "block", "exact_first", "checkers", "start", "beavers"),
            *("auto_doubles", "cube_cap", "scoring"),
        ]

    def test_faults_of_values_alone_are_value_errors_and_no_type_errors(self):
        with pytest.raises(ValueError, match="checkers") as caught:
            Rules(checkers=16)
        assert not isinstance(caught.value, TypeError)

    def test_an_unknown_field_is_no_field(self):
        with pytest.raises(TypeError):
            Rules(blok="off")


class TestReplace:
    def test_replace_changes_what_it_is_told_and_nothing_else(self):
        changed = LONG_NARDY.replace(block="flat", stake="cube", cube_cap=None)
        assert fields(changed) == fields(LONG_NARDY) | {
            "block": "flat",
            "stake": "cube",
            "cube_cap": None,
        }
        assert LONG_NARDY.block == "ahead"

    def test_replacing_nothing_gives_equal_rules(self):
        assert LONG_CLASSIC.replace() == LONG_CLASSIC

    def test_unknown_fields_and_wrong_values_are_listed_together(self):
        assert faults(LONG_NARDY.replace, blok="off", stake="cub", qqq=1) == (
            "there is no field 'blok'; did you mean 'block'?",
            "there is no field 'qqq'",
            "stake: 'cub' is not one of none, dave_geometric, dave_arithmetic, cube; "
            "did you mean 'cube'?",
        )

    def test_replacing_the_number_of_checkers_needs_a_start(self):
        assert BACKGAMMON.replace(checkers=3, start=HYPERGAMMON.start) == HYPERGAMMON
        with pytest.raises(RulesError):
            BACKGAMMON.replace(checkers=3)


class TestText:
    @given(valid_rules())
    def test_every_valid_rules_survive_their_text(self, rules):
        text = rules.name
        assert Rules.parse(text) == rules
        assert Rules.parse(text).name == text
        assert text.isascii()
        assert not any(letter.isspace() for letter in text)

    @given(valid_rules())
    def test_no_preset_of_the_movement_has_fewer_differences_and_no_earlier_one_as_few(self, rules):
        def differences(preset):
            return sum(fields(preset)[field] != value for field, value in fields(rules).items())

        base, *changes = rules.name.split("+")
        family = [name for name, preset in PRESETS.items() if preset.movement == rules.movement]
        counts = [differences(PRESETS[name]) for name in family]
        assert len(changes) == min(counts)
        assert base == family[counts.index(min(counts))]

    @pytest.mark.parametrize(
        ("rules", "text"),
        [
            (LONG_NARDY.replace(block="flat"), "long_nardy+block=flat"),
            (BACKGAMMON.replace(cube_cap=None), "backgammon+cube_cap=none"),
            (
                BACKGAMMON.replace(jacoby=True, crawford=False),
                "backgammon+jacoby=true+crawford=false",
            ),
            (BACKGAMMON.replace(beavers=2, auto_doubles=1), "backgammon+beavers=2+auto_doubles=1"),
            (SHORT_NARDY.replace(scoring=(1, 2, 2, 3, 3)), "short_nardy+scoring=1/2/2/3/3"),
            (TRIKTRAK.replace(start=NACKGAMMON.start), "triktrak+start=24:2,23:2,13:4,8:3,6:4"),
            (FNR_SHORT.replace(hit_and_hide="board"), "short_nardy+stake=cube"),
            (TRIKTRAK.replace(exact_first=False), "triktrak_ua"),
            (
                HYPERGAMMON.replace(checkers=2, start=((24, 1), (22, 1))),
                "backgammon+start=24:1,22:1+checkers=2",
            ),
        ],
    )
    def test_names_are_short_and_read_back(self, rules, text):
        assert rules.name == text
        assert Rules.parse(text) == rules

    def test_differences_may_come_in_any_order_and_be_none_at_all(self):
        assert Rules.parse("long_nardy+stake=cube+block=off") == Rules.parse(
            "long_nardy+block=off+stake=cube"
        )
        assert Rules.parse("long_nardy+block=ahead") == LONG_NARDY

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ("there is no preset ''",)),
            ("Backgammon", ("there is no preset 'Backgammon'; did you mean 'backgammon'?",)),
            ("block=flat", ("there is no preset 'block=flat'",)),
            ("long_nardy+", ("'' is not of the form field=value",)),
            ("long_nardy+block", ("'block' is not of the form field=value",)),
            ("long_nardy+blok=off", ("there is no field 'blok'; did you mean 'block'?",)),
            ("long_nardy+block=off+block=flat", ("block: given twice",)),
            ("long_nardy+exact_first=yes", ("exact_first: 'yes' is not one of true, false",)),
            ("backgammon+jacoby=1", ("jacoby: '1' is not one of true, false",)),
            ("backgammon+beavers=-1", ("beavers: '-1' is not a whole number",)),
            ("backgammon+beavers=1.0", ("beavers: '1.0' is not a whole number",)),
            ("backgammon+beavers=٣", ("beavers: '٣' is not a whole number",)),
            ("backgammon+beavers=01", ("beavers: '01' is not a whole number",)),
            ("backgammon+scoring=1/2/x/3/3", ("scoring: 'x' is not a whole number",)),
            (
                "backgammon+start=24",
                ("start: '24' is not of the form point:count,point:count",),
            ),
            ("backgammon+start=", ("start: '' is not of the form point:count,point:count",)),
            (
                "backgammon+start=24:15,1",
                ("start: '24:15,1' is not of the form point:count,point:count",),
            ),
            ("triktrak+auto_doubles=1", ("auto_doubles: 1 needs stake=cube",)),
            (
                "long_nardi+blok=off+block=aheat+stake=cube",
                (
                    "there is no preset 'long_nardi'; did you mean 'long_nardy'?",
                    "there is no field 'blok'; did you mean 'block'?",
                    "block: 'aheat' is not one of off, ahead, home, flat; did you mean 'ahead'?",
                ),
            ),
        ],
    )
    def test_every_fault_of_a_text_is_told(self, text, expected):
        assert faults(Rules.parse, text) == expected

    def test_a_number_of_any_length_is_a_fault_and_no_crash(self):
        assert len(faults(Rules.parse, "backgammon+beavers=" + "9" * 5000)) == 1

    @given(st.text())
    def test_any_text_is_rules_or_a_rules_error(self, text):
        for candidate in (text, "long_nardy+" + text, "backgammon+start=" + text):
            with contextlib.suppress(RulesError):
                rules = Rules.parse(candidate)
                assert Rules.parse(rules.name) == rules

    @pytest.mark.parametrize("wrong", [None, 3, b"long_nardy", LONG_NARDY], ids=repr)
    def test_the_text_is_a_str(self, wrong):
        with pytest.raises(TypeError):
            Rules.parse(wrong)


class TestFingerprints:
    def test_fingerprints_are_sixteen_hex_digits(self):
        for rules in PRESETS.values():
            for fingerprint in (
                rules.movement_fingerprint,
                rules.classes_fingerprint,
                rules.bearoff_fingerprint(),
            ):
                assert len(fingerprint) == 16
                assert set(fingerprint) <= set("0123456789abcdef")

    def test_movement_fingerprints_group_the_presets_by_how_checkers_move(self):
        groups = {}
        for name, rules in PRESETS.items():
            groups.setdefault(rules.movement_fingerprint, []).append(name)
        assert list(groups.values()) == [
            ["backgammon", "triktrak_ua", "fnr_short"],
            ["short_nardy", "short_dave"],
            ["triktrak"],
            ["short_beginner"],
            ["long_nardy"],
            ["long_beginner"],
            ["long_classic"],
            ["fnr_long"],
            ["nackgammon"],
            ["hypergammon"],
        ]

    @given(valid_rules(), valid_rules())
    def test_equal_movement_fingerprints_mean_equal_movement_fields(self, one, other):
        names = [field.name for field in dataclasses.fields(Rules)]
        movement = names[: names.index("off_protects")]
        classes = names[: names.index("scoring")]
        for rules in (other, other.replace(**{name: getattr(one, name) for name in movement})):
            same = all(getattr(one, name) == getattr(rules, name) for name in movement)
            assert (one.movement_fingerprint == rules.movement_fingerprint) == same
            same = all(getattr(one, name) == getattr(rules, name) for name in classes)
            assert (one.classes_fingerprint == rules.classes_fingerprint) == same

    @given(valid_rules())
    def test_scoring_stake_and_opening_change_no_fingerprint_of_movement_or_classes(self, rules):
        other = rules.replace(
            scoring=(9, 9, 9, 9, 9),
            stake="cube",
            cube_cap=None,
            jacoby=not rules.jacoby,
            beavers=7,
            crawford=not rules.crawford,
            opening="reroll",
            next_starter="alternate",
            auto_doubles=1,
        )
        assert other.movement_fingerprint == rules.movement_fingerprint
        assert other.classes_fingerprint == rules.classes_fingerprint
        assert other.bearoff_fingerprint() == rules.bearoff_fingerprint()

    def test_the_classifier_is_in_the_classes_and_not_in_the_movement(self):
        for one, other in (
            (TRIKTRAK, TRIKTRAK.replace(off_protects=False)),
            (LONG_NARDY, LONG_NARDY.replace(long_koks="none_home")),
        ):
            assert one.movement_fingerprint == other.movement_fingerprint
            assert one.classes_fingerprint != other.classes_fingerprint

    def test_one_home_table_serves_all_rules_that_bear_off_alike(self):
        same = {PRESETS[name].bearoff_fingerprint() for name in PRESETS}
        assert len(same) == 4
        for rules in (
            SHORT_NARDY,
            TRIKTRAK_UA,
            SHORT_BEGINNER,
            LONG_NARDY,
            LONG_BEGINNER,
            FNR_LONG,
        ):
            assert rules.bearoff_fingerprint() == BACKGAMMON.bearoff_fingerprint()
        for rules in (TRIKTRAK, LONG_CLASSIC, HYPERGAMMON):
            assert rules.bearoff_fingerprint() != BACKGAMMON.bearoff_fingerprint()

    def test_the_last_checker_home_matters_only_to_tables_of_more_than_six_points(self):
        for points in (1, 6):
            assert SHORT_BEGINNER.bearoff_fingerprint(points) == TRIKTRAK_UA.bearoff_fingerprint(
                points
            )
        for points in (7, 24):
            assert SHORT_BEGINNER.bearoff_fingerprint(points) != TRIKTRAK_UA.bearoff_fingerprint(
                points
            )

    def test_the_block_matters_to_bearing_off_only_when_it_is_flat(self):
        for block in ("off", "ahead", "home"):
            rules = LONG_NARDY.replace(block=block, block_timing="each_step")
            assert rules.bearoff_fingerprint() == LONG_NARDY.bearoff_fingerprint()
        flat = LONG_NARDY.replace(block="flat")
        assert flat.bearoff_fingerprint() == LONG_CLASSIC.bearoff_fingerprint()
        assert (
            flat.bearoff_fingerprint()
            != flat.replace(block_timing="each_step").bearoff_fingerprint()
        )

    def test_tables_that_count_mars_depend_on_classifier_and_points(self):
        def scored(rules):
            return rules.bearoff_fingerprint(scoring=True)

        assert scored(BACKGAMMON) != BACKGAMMON.bearoff_fingerprint()
        assert scored(BACKGAMMON) != scored(FNR_SHORT)
        assert scored(FNR_SHORT) == scored(LONG_NARDY)
        assert scored(TRIKTRAK) != scored(TRIKTRAK.replace(off_protects=False))
        assert scored(LONG_NARDY) != scored(LONG_NARDY.replace(long_koks="none_home"))

    def test_a_table_of_points_counts_by_its_values_and_not_by_its_name(self):
        mine = BACKGAMMON.replace(scoring=(1, 2, 2, 3, 3))
        assert mine != BACKGAMMON
        assert mine.bearoff_fingerprint(scoring=True) == BACKGAMMON.bearoff_fingerprint(
            scoring=True
        )

    @pytest.mark.parametrize("wrong", [0, 25, -1])
    def test_a_table_covers_1_to_24_points(self, wrong):
        with pytest.raises(ValueError, match="covers 1 to 24 points"):
            BACKGAMMON.bearoff_fingerprint(wrong)

    @pytest.mark.parametrize("wrong", [6.0, "6", None, True], ids=repr)
    def test_the_points_of_a_table_are_an_int(self, wrong):
        with pytest.raises(TypeError):
            BACKGAMMON.bearoff_fingerprint(wrong)

    def test_fingerprints_are_frozen(self):
        # Files carry these: a change here makes every table and every net unreadable.
        assert {
            name: (
                rules.movement_fingerprint,
                rules.classes_fingerprint,
                rules.bearoff_fingerprint(),
            )
            for name, rules in PRESETS.items()
        } == FROZEN_FINGERPRINTS

    def test_fingerprints_do_not_depend_on_hash_randomisation(self):
        program = (
            "from nardcore.rules import PRESETS\n"
            "print([r.classes_fingerprint for r in PRESETS.values()])"
        )
        answers = {
            subprocess.run(
                [sys.executable, "-P", "-c", program],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                check=True,
                text=True,
            ).stdout
            for seed in ("1", "2")
        }
        assert len(answers) == 1


class TestWords:
    def test_every_preset_and_table_has_words_in_the_same_order(self):
        assert list(_terms.PRESET_WORDS) == list(PRESETS)
        assert list(_terms.RESULT_WORDS) == list(SCORING)

    @pytest.mark.parametrize("lang", _terms.LANGUAGES)
    @pytest.mark.parametrize("preset", PRESET_TABLE)
    def test_a_preset_is_described_in_one_to_three_lines_with_its_source(self, preset, lang):
        description = _terms.describe(preset, lang)
        assert (description.preset, description.lang) == (preset, lang)
        assert description.title
        assert description.source
        assert 20 < len(description.text) < 300
        assert "\n" not in description.text
        assert any("\u0430" <= letter <= "\u044f" for letter in description.text) == (lang != "en")
        assert str(description).startswith(description.title)

    @pytest.mark.parametrize(
        ("scoring", "lang", "names"),
        [
            ("triktrak", "en", ("oyun", "mars", "home mars", "home mars", "koks")),
            ("triktrak", "ru", ("оюн", "марс", "домашний марс", "домашний марс", "кокс")),
            ("triktrak", "uk", ("оюн", "марс", "домашній марс", "домашній марс", "кокс")),
            ("beginner", "en", ("simple", "home mars", "mars", "mars", "koks")),
            ("beginner", "ru", ("простая", "домашний марс", "марс", "марс", "кокс")),
            ("oin_mars", "ru", ("оин", "марс", "марс", "марс", "марс")),
            ("oin_mars", "uk", ("оїн", "марс", "марс", "марс", "марс")),
            ("backgammon", "en", ("single", "gammon", "gammon", "backgammon", "backgammon")),
        ],
    )
    def test_results_have_their_names_in_the_order_of_the_classes(self, scoring, lang, names):
        assert _terms.result_names(scoring, lang) == names

    @pytest.mark.parametrize("scoring", SCORING)
    def test_results_with_one_name_count_the_same_points(self, scoring):
        points = {}
        for name, count in zip(_terms.result_names(scoring), SCORING[scoring], strict=True):
            assert points.setdefault(name, count) == count

    def test_results_of_a_table_without_names_are_called_by_the_losers_state(self):
        for lang in _terms.LANGUAGES:
            assert len(set(_terms.result_names((1, 2, 3, 4, 5), lang))) == 5

    def test_every_term_has_a_word_in_every_language(self):
        for word in _terms.TERMS:
            for lang in _terms.LANGUAGES:
                text = _terms.term(word, lang)
                assert text
                assert text.isascii() == (lang == "en")

    @pytest.mark.parametrize("word", ["home", "head", "double", "block", "bar", "blot", "dave"])
    def test_the_terms_of_the_sources_are_there(self, word):
        assert word in _terms.TERMS

    def test_unknown_words_suggest_the_nearest(self):
        with pytest.raises(RulesError, match="did you mean 'triktrak'"):
            _terms.describe("tricktrak")
        with pytest.raises(RulesError, match="did you mean 'oin_mars'"):
            _terms.result_names("oin_mar")
        with pytest.raises(ValueError, match="did you mean 'checker'"):
            _terms.term("checkers")
        with pytest.raises(ValueError, match="no language 'de'"):
            _terms.term("point", "de")


class TestErrors:
    @pytest.mark.parametrize(
        ("error", "kinds"),
        [
            (PositionError, (ValueError,)),
            (InvalidPlayError, (ValueError,)),
            (IllegalPlayError, (ValueError,)),
            (AmbiguousPlayError, (ValueError,)),
            (RulesError, (ValueError,)),
            (RulesTypeError, (RulesError, ValueError, TypeError)),
            (FormatError, (ValueError,)),
            (TableError, (ValueError, LookupError)),
            (RolloutCancelled, (KeyboardInterrupt,)),
        ],
    )
    def test_every_error_is_nardcores_and_of_the_kind_a_caller_expects(self, error, kinds):
        assert issubclass(error, NardcoreError)
        assert all(issubclass(error, kind) for kind in kinds)
        assert error.__doc__

    def test_every_error_is_exported(self):
        own = {
            name
            for name, value in vars(nardcore.errors).items()
            if isinstance(value, type) and issubclass(value, Exception) and not name.startswith("_")
        }
        assert own == set(nardcore.errors.__all__)

    @pytest.mark.parametrize("kind", [PositionError, RulesError, RulesTypeError])
    def test_faults_come_one_by_one_or_as_a_list_and_survive_pickle(self, kind):
        for error in (kind("a", "b"), kind(["a", "b"]), kind(fault for fault in "ab")):
            assert error.faults == ("a", "b")
            assert str(error) == "a; b"
            back = pickle.loads(pickle.dumps(error))
            assert type(back) is kind
            assert back.faults == ("a", "b")

    @pytest.mark.parametrize(
        ("line", "column", "text"),
        [(3, 7, "line 3, column 7: bad"), (3, None, "line 3: bad"), (None, None, "bad")],
    )
    def test_a_format_error_says_where_and_survives_pickle(self, line, column, text):
        error = FormatError("bad", line=line, column=column)
        for one in (error, pickle.loads(pickle.dumps(error))):
            assert (one.line, one.column, str(one)) == (line, column, text)

    def test_a_cancelled_rollout_keeps_what_is_done(self):
        error = RolloutCancelled(partial={"trials": 72})
        assert error.partial == {"trials": 72}
        assert pickle.loads(pickle.dumps(error)).partial == {"trials": 72}
        assert RolloutCancelled().partial is None
