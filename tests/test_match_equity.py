"""Match equity tables: computed by recursion, read from XML."""

from __future__ import annotations

from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nardcore as nc
from nardcore.match_equity import FIRST_DOUBLES, SHARES, default_table

GNUBG = Path("/usr/share/gnubg/met")

# four facts of a published table (Kazaross-XG2) and made-up numbers around them
SMALL = """<?xml version="1.0"?>
<!DOCTYPE met PUBLIC "-//SOMEBODY//DTD Match Equity Tables//EN" "met.dtd">
<!-- a comment -->
<met>
  <info><name> Three  points </name><description>of ours</description><length>3</length></info>
  <pre-crawford-table type="explicit">
    <row><me>0.5</me><me> 0.67736 </me><me>0.75076</me></row>
    <row><me>0.32264</me><me>0.5</me><me>0.59947</me></row>
    <row><me>0.24924</me><me>0.40053</me><me>0.5</me></row>
  </pre-crawford-table>
  <post-crawford-table type="explicit" player="both">
    <row><me>0.5</me><me>0.48803</me><me>0.32264</me></row>
  </post-crawford-table>
</met>
"""
RULES = {
    "cube": nc.BACKGAMMON,
    "no crawford": nc.BACKGAMMON.replace(crawford=False),
    "long": nc.FNR_LONG,
    "nothing at stake": nc.LONG_NARDY,
    "triktrak": nc.TRIKTRAK,
    "geometric": nc.SHORT_DAVE,
    "arithmetic": nc.SHORT_DAVE.replace(stake="dave_arithmetic"),
}


# -------------------------------------------------------------------------------------- computing


@pytest.fixture(scope="module")
def met() -> nc.MatchEquity:
    return nc.MatchEquity.compute()


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_a_table_sums_to_one_and_is_monotone(rules: nc.Rules) -> None:
    made = nc.MatchEquity.compute(rules=rules, length=9)
    table = made.table
    assert (table + table.T == 1).all()
    assert (np.diag(table) == 0.5).all()
    assert (np.diff(table, axis=1) > 0).all()  # better, the more the other needs
    assert (np.diff(table, axis=0) < 0).all()
    assert (np.diff(made.trailing, axis=1) < 0).all()
    assert ((table > 0) & (table < 1)).all()


@settings(max_examples=25)
@given(
    st.floats(0.4, 1),
    st.floats(0.6, 1),
    st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    st.sampled_from(sorted(RULES)),
)
def test_all_likely_rates_give_a_monotone_table(efficiency, plain, parts, name) -> None:
    shares = [plain, *((1 - plain) * part / sum(parts) for part in parts)]
    made = nc.MatchEquity.compute(rules=RULES[name], length=5, shares=shares, efficiency=efficiency)
    table = made.table
    assert (table + table.T == 1).all()
    assert (np.diff(table, axis=1) > -1e-12).all()


def test_a_longer_table_begins_with_a_shorter_one(met: nc.MatchEquity) -> None:
    short = nc.MatchEquity.compute(length=6)
    assert np.array_equal(met.table[:6, :6], short.table)
    assert np.array_equal(met.trailing[:, :6], short.trailing)
    assert met.length == 25
    assert met != short
    assert short == nc.MatchEquity.compute(length=6)
    assert hash(short) == hash(nc.MatchEquity.compute(length=6))


def test_scores_near_the_end_by_hand(met: nc.MatchEquity) -> None:
    dear = sum(SHARES["short"][1:]) / sum(SHARES["short"])
    # the Crawford game at 1 and 2 away: a mars wins the match at once, a plain win makes it even
    assert met(2, 1) == pytest.approx(0.5 * (dear + (1 - dear) * 0.5))
    # after it, the leader refuses whenever its chance is below one half
    assert met(2, 1, post_crawford=True) == pytest.approx(
        np.minimum(FIRST_DOUBLES, 0.5).mean(), abs=1e-12
    )
    # at three away, two of them by one win and a mars by itself
    won = dear + (1 - dear) * 0.5
    other = met(2, 1, post_crawford=True)
    assert met(3, 1, post_crawford=True) == pytest.approx(
        np.minimum(np.array(FIRST_DOUBLES) * won, other).mean(), abs=1e-12
    )
    assert met(1, 3, post_crawford=True) == 1 - met(3, 1, post_crawford=True)


def test_without_a_stake_the_recursion_is_that_of_single_games() -> None:
    rules = nc.LONG_NARDY.replace(scoring="single")
    made = nc.MatchEquity.compute(rules=rules, length=8)
    for mine in range(1, 9):
        for theirs in range(1, 9):
            # the chance of `mine` heads before `theirs` tails
            n = mine + theirs - 1
            exact = sum(comb(n, k) for k in range(mine, n + 1)) / 2**n
            assert made(mine, theirs) == pytest.approx(exact)
    assert not made.crawford


def test_the_leader_at_one_has_no_crawford_game_in_dave() -> None:
    made = nc.MatchEquity.compute(rules=nc.SHORT_DAVE, length=5)
    assert made(3, 1) == pytest.approx(made(3, 1, post_crawford=True), abs=1e-15)
    # two wins at the stakes 2, or one and a refusal: three away is two raised games, as four away
    assert made(3, 1) == pytest.approx(0.25, abs=0.01)


@pytest.mark.skipif(not GNUBG.is_dir(), reason="gnubg's tables are not here")
def test_the_computed_table_is_near_a_published_one(met: nc.MatchEquity) -> None:
    published = nc.MatchEquity.read(GNUBG / "Kazaross-XG2.xml")
    assert published(1, 2) == 0.67736
    assert published(2, 3) == 0.59947
    assert published(2, 1, post_crawford=True) == 0.48803
    off = np.abs(met.table - published.table)
    assert off[:9, :9].max() < 0.01
    assert np.abs(met.trailing - published.trailing)[:, :9].max() < 0.01
    assert off.max() < 0.01  # so does all the rest


def test_the_default_table_is_computed_once() -> None:
    assert default_table(nc.BACKGAMMON, 4) is default_table(nc.BACKGAMMON, 4)
    assert default_table(nc.BACKGAMMON, 4).name == "computed for backgammon"


# ---------------------------------------------------------------------------------------- scores


def test_what_results_are_worth_at_a_score(met: nc.MatchEquity) -> None:
    score = nc.MatchScore((4, 2), met)
    assert score.value(1) == met(3, 2)
    assert score.value(3) == met(1, 2)  # the Crawford game comes next
    assert score.value(4) == score.value(9) == 1
    assert score.value(-1) == met(4, 1)
    assert score.value(-2) == 0
    assert score.flip().value(1) == 1 - score.value(-1)
    after = nc.MatchScore((3, 1), met)
    assert after.value(1) == met(2, 1, post_crawford=True)
    crawford = nc.MatchScore((3, 1), met, crawford=True)
    assert crawford.value(1) == after.value(1)


@pytest.mark.parametrize(
    ("away", "crawford"), [((0, 3), False), ((26, 3), False), ((2, 2), True), ((1, 1), True)]
)
def test_impossible_scores_are_refused(met: nc.MatchEquity, away, crawford) -> None:
    with pytest.raises(ValueError, match="away"):
        nc.MatchScore(away, met, crawford)


def test_bad_requests_are_refused(met: nc.MatchEquity) -> None:
    for bad in ((0, 1), (1, 26), (-1, 2)):
        with pytest.raises(ValueError, match="1 to 25 away"):
            met(*bad)
    for bad in (1.0, "1", True, None):
        with pytest.raises(TypeError, match="whole number"):
            met(bad, 2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="1 to 64"):
        nc.MatchEquity.compute(length=65)
    with pytest.raises(ValueError, match="efficiency"):
        nc.MatchEquity.compute(efficiency=1.1)
    with pytest.raises(ValueError, match="five numbers"):
        nc.MatchEquity.compute(shares=(0.5, 0.5))
    with pytest.raises(ValueError, match="first_doubles"):
        nc.MatchEquity.compute(first_doubles=())
    with pytest.raises(ValueError, match="read-only"):
        met.table[0, 0] = 1


# ------------------------------------------------------------------------------------------- XML


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "met.xml"
    path.write_text(SMALL)
    met = nc.MatchEquity.read(path)
    assert (met.name, met.length, met.crawford) == ("Three points", 3, True)
    assert (met(1, 2), met(2, 3), met(3, 2)) == (0.67736, 0.59947, 0.40053)
    assert met(2, 1, post_crawford=True) == 0.48803
    assert met == nc.MatchEquity.loads(SMALL) == nc.MatchEquity.loads(SMALL.encode())


def test_players_may_be_unequal() -> None:
    text = SMALL.replace('player="both"', 'player="0"').replace(
        "</met>",
        '<post-crawford-table player="1"><row><me>0.5</me><me>0.4</me><me>0.3</me></row>'
        "</post-crawford-table></met>",
    )
    met = nc.MatchEquity.loads(text)
    assert met(2, 1, post_crawford=True) == 0.48803
    assert met(2, 1, post_crawford=True, player=1) == 0.4
    assert met(1, 2, post_crawford=True, player=1) == 1 - 0.48803
    assert met(2, 3, player=1) == 1 - met(3, 2)


def test_the_last_chance_after_the_crawford_game_may_be_missing() -> None:
    met = nc.MatchEquity.loads(SMALL.replace("<me>0.48803</me><me>0.32264</me>", "<me>.488</me>"))
    assert met(2, 1, post_crawford=True) == 0.488


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE met [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY a{i} "{"&a;" if not i else f"&a{i - 1};" * 10}">' for i in range(12))
    + "]><met><info><name>&a11;</name></info></met>"
)
BAD = {
    "nothing": "",
    "no XML": "a match equity table",
    "cut": SMALL[:-20],
    "another element": "<table/>",
    "no rows": "<met/>",
    "not square": SMALL.replace("<me>0.75076</me>", ""),
    "a word": SMALL.replace("0.59947", "half"),
    "not a number": SMALL.replace("0.59947", "nan"),
    "above one": SMALL.replace("0.59947", "1.5"),
    "below nought": SMALL.replace("0.59947", "-0.5"),
    "no post-Crawford table": SMALL[: SMALL.index("  <post-")] + "</met>",
    "twice": SMALL.replace("</met>", SMALL[SMALL.index("  <post-") :]),
    "another player": SMALL.replace('player="both"', 'player="2"'),
    "a formula": SMALL.replace('type="explicit"', 'type="zadeh"', 1),
    "rows elsewhere": "<met><row><me>1</me></row></met>",
    "a chance elsewhere": "<met><me>1</me></met>",
    "many rows": SMALL.replace("  </pre-", "<row></row>" * 70 + "</pre-"),
    "a long row": SMALL.replace("<row>", "<row>" + "<me>0.5</me>" * 70, 1),
    "deep": "<met>" + "<a>" * 100_000,
    "an entity": '<!DOCTYPE met [<!ENTITY a "b">]>' + SMALL[SMALL.index("<met>") :],
    "a laugh": LAUGHS,
    "an outer entity": '<!DOCTYPE met [<!ENTITY a SYSTEM "file:///etc/passwd">]><met>&a;</met>',
    "a parameter entity": '<!DOCTYPE met [<!ENTITY % a SYSTEM "http://127.0.0.1/x">%a;]><met/>',
    "an undefined entity": "<met>&nbsp;</met>",
    "large": SMALL + " " * (1 << 20),
    "an encoding": '<?xml version="1.0" encoding="utf-7"?><met/>',
    "no encoding": '<?xml version="1.0" encoding="no such"?><met/>',
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_bad_file_is_a_format_error(text: str) -> None:
    with pytest.raises(nc.FormatError):
        nc.MatchEquity.loads(text)


@given(st.binary(max_size=100) | st.text(max_size=100))
def test_anything_else_is_a_format_error(data: bytes | str) -> None:
    with pytest.raises(nc.FormatError):
        nc.MatchEquity.loads(data)


@given(st.integers(0, len(SMALL) - 1), st.text(max_size=3))
def test_a_damaged_file_is_read_or_refused(at: int, other: str) -> None:
    try:
        met = nc.MatchEquity.loads(SMALL[:at] + other + SMALL[at + 1 :])
    except nc.FormatError:
        return
    assert ((met.table >= 0) & (met.table <= 1)).all()


@pytest.mark.skipif(not GNUBG.is_dir(), reason="gnubg's tables are not here")
@pytest.mark.parametrize("path", sorted(GNUBG.glob("*.xml")), ids=lambda path: path.name)
def test_tables_of_gnubg_are_read(path: Path) -> None:
    if path.name in ("catalog.xml", "mec.xml", "zadeh.xml"):
        with pytest.raises(nc.FormatError):
            nc.MatchEquity.read(path)
        return
    met = nc.MatchEquity.read(path)
    assert met.length in (15, 25)
    assert (np.diff(met.table, axis=1) >= -0.001).all()
