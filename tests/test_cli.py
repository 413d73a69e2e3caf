"""The command line: what it prints, how it refuses, how it stops."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import nardcore as nc
from nardcore import cli
from nardcore._terms import LANGUAGES, TERMS, result_names

click = pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner  # noqa: E402

from nardcore.cli._app import COMMANDS, app  # noqa: E402

LONG = "long_nardy x15,11,o15,11 0/0 0/0 w 31 xo"
OPENING_ID = "4HPwATDgc/ABMA"
OVER = "backgammon x,23 0/0 14/15 w - -"
# A shell may start the tests with Ctrl-C ignored, which children inherit.
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from nardcore.cli import main; import nardcore.cli.perft, nardcore.cli.rollout;"
    "print('ready', file=sys.stderr, flush=True); sys.exit(main())"
)


def run(*args, stdin=None):
    return CliRunner().invoke(app, list(map(str, args)), input=stdin)


def good(*args, stdin=None):
    done = run(*args, stdin=stdin)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def data(*args, stdin=None):
    return json.loads(good(*args, "--json", stdin=stdin))


def bad(*args, stdin=None, code=2):
    """Give the one line of an error."""
    done = run(*args, stdin=stdin)
    assert done.exit_code == code, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("nardcore")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def process(*args, **options):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", START, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"} | options.pop("env", {}),
        **options,
    )


# ----------------------------------------------------------------------------------------- general


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name):
    text = good(name, "--help")
    assert "Examples:" in text
    assert f"nardcore {name}" in text
    assert "--json" in text


def test_help_lists_every_command_without_importing_them():
    code = (
        "import sys; from nardcore.cli import main; main(['--help']);"
        "print([m for m in sys.modules if m.split('.')[0] == 'rich' or m.startswith("
        "'nardcore.cli.') and not m.startswith('nardcore.cli._')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    *lines, loaded = done.stdout.splitlines()
    assert loaded == "[]"
    for name in COMMANDS:
        assert any(line.split()[:1] == [name] for line in lines)


def test_no_command_is_misuse():
    done = run()
    assert done.exit_code == 2
    assert "Commands:" in done.output


def test_unknown_command_and_option_suggest_near_ones():
    assert "did you mean 'rollout'?" in bad("rolout")
    assert "--games" in bad("rollout", "--gmes", 3)


def test_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "nardcore.cli", "version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"nardcore {nc.__version__} ({nc.isa()})\n")


def test_missing_packages_are_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "rich" else object())
    assert cli.main(["rules"]) == 2
    assert capsys.readouterr().err == (
        "nardcore: the command line needs rich; install it with: pip install 'nardcore[cli]'\n"
    )


def test_main_returns_the_exit_code(capsys):
    assert cli.main(["moves", "start", "31"]) == 0
    assert cli.main(["moves", "start", "71"]) == 2
    assert capsys.readouterr().out.startswith("3-1 16 plays\n")


@pytest.mark.parametrize("flag", ["--version", "version"])
def test_version_names_version_and_isa(flag):
    assert good(flag) == f"nardcore {nc.__version__} ({nc.isa()})\n"


def test_version_as_json():
    assert data("version") == {"version": nc.__version__, "isa": nc.isa()}


# --------------------------------------------------------------------------------------- positions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("start", nc.Position.start()),
        (OPENING_ID, nc.Position.start()),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", nc.Position.start()),
        (LONG, nc.Position.start(nc.LONG_NARDY)),
    ],
)
def test_every_form_of_a_position_is_read(text, expected):
    assert nc.Position.parse(data("show", text)["text"]) == expected


def test_rules_option_is_what_ids_are_read_under():
    assert data("show", OPENING_ID, "--rules", "triktrak")["rules"] == "triktrak"


def test_rules_option_outranks_those_of_the_text():
    assert data("show", LONG, "--rules", "fnr_long")["rules"] == "fnr_long"


def test_rules_of_the_other_movement_are_refused():
    assert "long_nardy" in bad("show", LONG, "--rules", "backgammon")


def test_positions_come_one_a_line_from_standard_input():
    text = f"# two positions\n{OPENING_ID}\n\n{LONG}\n"
    lines = good("show", "-", "--json", stdin=text).splitlines()
    assert [json.loads(line)["rules"] for line in lines] == ["backgammon", "long_nardy"]


def test_bad_line_of_standard_input_is_named_before_any_work():
    assert "line 2: column 1: 'hello' is no position" in bad(
        "rollout", "--position", "-", stdin=f"{OPENING_ID}\nhello\n"
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["show", "hello"], "column 1: 'hello' is no position"),
        (["show", "backgammon x16,23 0/0 0/15 w - -"], "16 checkers"),
        (["show", "-"], "no position on standard input"),
        (["show", "--rules", "lng_nardy"], "did you mean 'long_nardy'?"),
        (["show", "--rules", "backgammon+checkers=99"], "checkers: 99"),
        (["show", "--dice", "70"], "a die shows 1 to 6"),
        (["moves", "start"], "DICE is needed"),
        (["moves", "start", "3"], "is no roll"),
        (["moves"], "POSITION"),
        (["perft", "--depth", "0"], "1<=x<=30"),
        (["rules", "hello"], "there is no preset"),
        (["rules", "--lang", "de"], "'de'"),
    ],
)
def test_misuse_is_one_line_and_exit_code_2(args, words):
    assert words in bad(*args, stdin="")


# ------------------------------------------------------------------------ moves, show, perft, rules


def test_moves_lists_every_play():
    lines = good("moves", "start", "31").splitlines()
    assert lines[0] == "3-1 16 plays"
    expected = [str(play) for play in nc.Position.start().plays((3, 1))]
    assert [line.split(maxsplit=1)[1] for line in lines[1:]] == expected


def test_moves_takes_the_dice_of_the_text_unless_given():
    assert good("moves", LONG).startswith("3-1 ")
    assert good("moves", LONG, "66").startswith("6-6 1 play\n")


def test_moves_in_a_numbering():
    assert "I/III/IV" in good("moves", "start", "21", "--rules=long_nardy", "--numbering=roman")


def test_moves_as_json_tells_hits_and_results():
    position = nc.Position({8: 2, 6: 2}, {20: 1, 3: 2})
    found = data("moves", position.text((3, 1)))
    assert found["dice"] == [3, 1]
    hit = next(play for play in found["plays"] if play["hits"])
    assert "*" in hit["play"]
    assert position.play(hit["play"], dice=(3, 1)) == nc.Position.parse(hit["result"])


def test_show_draws_the_board_and_writes_every_form():
    text = good("show", "--dice", "31")
    position = nc.Position.start()
    for form in (position.text((3, 1)), position.gnubg_id(), position.xgid((3, 1))):
        assert form in text
    assert "to play 3-1" in text
    assert "white 167, black 167" in text


def test_show_says_what_ids_cannot_express():
    assert good("show", "--rules", "long_nardy").count("cannot express these rules") == 2
    assert data("show", "--rules", "long_nardy")["gnubg_id"] is None


def test_show_writes_svg(tmp_path):
    target = tmp_path / "board.svg"
    assert good("show", "--svg", target) == ""
    assert target.read_text("utf-8").strip() == nc.Position.start().svg().strip()
    assert good("show", "--svg", "-").startswith("<svg")
    assert "one position" in bad("show", "-", "--svg", target, stdin=f"{LONG}\n{LONG}\n")
    bad("show", "--svg", tmp_path / "none" / "board.svg", code=1)


def test_perft_counts():
    assert good("perft").startswith("perft 2 202,782 ")
    assert data("perft", LONG, "--depth", 2)["nodes"] == 484
    assert data("perft", "--depth", 1, "--weighted")["nodes"] == nc.Position.start().perft(
        1, weighted=True
    )


def test_perft_divides():
    found = data("perft", "--depth", 1, "--divide")
    assert sum(found["divide"]["3-1"].values()) == 16
    assert found["nodes"] == 447
    assert "  8/5 6/5: 1\n" in good("perft", "--depth", 1, "--divide")


def test_rules_lists_every_preset():
    lines = good("rules").splitlines()
    assert [line.split()[0] for line in lines[2:]] == list(nc.PRESETS)
    rows = data("rules")
    assert [row["name"] for row in rows] == list(nc.PRESETS)
    assert rows[0]["source"] == "S3 L223-L283"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_rules_describes_one_in_each_language(lang):
    text = good("rules", "triktrak", "--lang", lang)
    for name in result_names("triktrak", lang):
        assert name in text
    assert "exact_first" in text
    assert lang == "en" or TERMS["head"][lang] in text
    found = data("rules", "triktrak", "--lang", lang)
    assert found["fields"]["exact_first"] is True
    assert [row["points"] for row in found["results"]] == [1, 2, 4, 4, 8]


def test_rules_describes_changed_presets():
    assert "Changed here: block=flat." in good("rules", "long_nardy+block=flat")


# ------------------------------------------------------------------------------------------ rollout


def test_rollout_is_that_of_the_library():
    found = data("rollout", "--games", 3000, "--seed", 7)
    same = nc.rollout(nc.Position.start(), games=3000, seed=7)
    assert found["counts"] == same.counts.tolist()
    assert found["equity"] == same.equity()
    assert found["stderr"] == same.stderr()
    assert found["ci95"] == list(same.ci(0.95))
    assert found["mean_plies"] == same.mean_plies
    assert found["seed"] == ["7"]
    assert found["cancelled"] is False
    assert found["games_per_second"] > 0


def test_rollout_defaults_are_games_of_the_net_of_backgammon(monkeypatch):
    from nardcore.cli import rollout

    asked = {}

    def instead(position, **request):
        asked.update(request, position=position)
        return nc.rollout(position, **{**request, "games": 100})

    monkeypatch.setattr(rollout, "rollout", instead)
    text = good("rollout")
    assert asked["games"] == 100_000
    assert asked["policy"] is None
    assert "policy net\n" in text
    assert asked["position"] == nc.Position.start()
    assert f"seed       {asked['seed']}\n" in text


def test_rollout_table_has_class_by_class_and_inclusive_chances():
    text = good("rollout", "--games", 500, "--seed", 1, "--rules", "triktrak")
    result = nc.rollout(nc.Position.start(nc.TRIKTRAK), games=500, seed=1)
    p = 100 * result.probabilities
    for words in ("oyun", "mars or more", "home mars or more", "koks or more", "any win"):
        assert words in text
    mars = next(line for line in text.splitlines() if line.startswith("mars or more"))
    assert f"{p[1:5].sum():.3f} %" in mars
    assert f"{p[6:].sum():.3f} %" in mars
    assert f"equity     {result.equity():+.4f} ± {result.stderr():.4f}" in text
    assert "triktrak points a game for white" in text
    assert "games/s" in text
    assert "\x1b" not in text


def test_inclusive_chances_go_by_points_not_by_place():
    found = data("rollout", "--games", 500, "--seed", 1, "--rules", "short_beginner")
    counts = nc.rollout(nc.Position.start(nc.SHORT_BEGINNER), games=500, seed=1).counts
    home_mars = next(row for row in found["inclusive"] if row["name"] == "home mars")
    assert home_mars["win"] == pytest.approx((counts[1] + counts[4]) / 500)


def test_rollout_of_black_names_the_sides():
    text = good("rollout", "--games", 50, "--position", LONG.replace(" w ", " b "))
    assert "black on roll, first roll 3-1" in text
    assert "points a game for black" in text


def test_rollout_in_russian():
    text = good("rollout", "--games", 50, "--rules", "triktrak", "--lang", "ru")
    assert "домашний марс и выше" in text


def test_rollout_scoring():
    found = data("rollout", "--games", 500, "--seed", 1, "--scoring", "1/2/3/4/5")
    result = nc.rollout(nc.Position.start(), games=500, seed=1)
    assert found["equity"] == result.equity((1, 2, 3, 4, 5))
    assert found["points"] == [1, 2, 3, 4, 5]
    single = data("rollout", "--games", 500, "--seed", 1, "--scoring", "single")
    assert single["equity"] == result.equity("single")
    assert "3 or more" in good("rollout", "--games", 50, "--scoring", "1/2/3/4/5")


def test_rollout_takes_the_dice_of_the_text_unless_given():
    assert data("rollout", "--games", 10, "--position", LONG)["position"] == LONG
    other = data("rollout", "--games", 10, "--position", LONG, "--dice", "66")
    assert other["position"] == LONG.replace("31", "66")


def test_rollout_of_several_positions():
    lines = good(
        "rollout", "--position", "-", "--games", 50, "--json", stdin=f"{OPENING_ID}\n{LONG}\n"
    ).splitlines()
    first, second = map(json.loads, lines)
    assert first["seed"] == second["seed"]
    assert second["position"] == LONG


def test_rollouts_go_on_where_another_ended(tmp_path):
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    common = ["rollout", "--seed", 3, "--policy", "random", "--opening"]
    good(*common, "--games", "1k", "--output", a)
    good(*common, "--games", "500", "--first", "1e3", "--output", b, "--threads", 1)
    merged = nc.RolloutResult.load(a).merge(nc.RolloutResult.load(b))
    assert merged == nc.rollout(
        nc.Position.start(), games=1500, seed=3, policy="random", opening=True
    )


def test_rollout_stops_at_a_standard_error():
    found = data("rollout", "--target-stderr", 0.02, "--seed", 1)
    assert found["games"] == nc.rollout(nc.Position.start(), target_stderr=0.02, seed=1).games
    assert found["stderr"] <= 0.02


def test_rollout_policies_of_the_sides():
    found = data("rollout", "--games", 20, "--policy", "linear,random")
    assert found["policies"] == ["linear", "random"]
    assert "policy linear against random" in good(
        "rollout", "--games", 20, "--policy", "linear,random"
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [("20", 20), ("2_000", 2000), ("1,000", 1000), ("1k", 1000), ("0.5k", 500), ("1e3", 1000)],
)
def test_games_as_people_write_them(text, number):
    assert data("rollout", "--games", text, "--policy", "random")["games"] == number


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--games", "0"], "games is 1 or more"),
        (["--games", "1.5"], "is no whole number"),
        (["--games", "many"], "is no whole number"),
        (["--policy", "best"], "there is no policy 'best'"),
        (["--policy", "linear,random,linear"], "two with a comma"),
        (["--scoring", "best"], "there is no scoring"),
        (["--scoring", "1/2"], "there is no scoring"),
        (["--dice", "31", "--opening"], "either"),
        (["--position", LONG, "--opening"], "either"),
        (["--seed", "-1"], "--seed"),
        (["--threads", "0"], "--threads"),
        (["--target-stderr", "0"], "above 0"),
        (["--target-stderr", "nan"], "above 0"),
        (["--position", OVER], "the game is over"),
    ],
)
def test_rollout_refuses(args, words):
    assert words in bad("rollout", *args)


def test_output_that_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch):
    from nardcore.cli import rollout

    def never(*_, **__):
        raise AssertionError

    monkeypatch.setattr(rollout, "rollout", never)
    assert "No such file" in bad("rollout", "--output", tmp_path / "none" / "r.json", code=1)
    assert "directory" in bad("rollout", "--output", tmp_path)
    if os.path.exists("/dev/full"):  # noqa: PTH110 - no Path on Windows
        assert "no regular file" in bad("rollout", "--output", "/dev/full", code=1)
    assert "one position" in bad(
        "rollout", "--position", "-", "--output", tmp_path / "r", stdin=f"{LONG}\n{LONG}\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_result_is_shown_though_it_cannot_be_saved(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(nc.RolloutResult, "save", full)
    done = run("rollout", "--games", 20, "--output", tmp_path / "r.json")
    assert done.exit_code == 1
    assert "equity" in done.stdout
    assert done.stderr.endswith("r.json: No space left on device\n")


# -------------------------------------------------------------------------------------- signature


def test_bench_measures():
    found = data("bench", "--seconds", 0.01, "--threads", 1, "--rules", "hypergammon")
    assert [rate["work"] for rate in found["rates"]] == [
        "random games",
        "linear games",
        "batch.plays",
    ]
    assert all(rate["rate"] > 0 for rate in found["rates"])
    assert "games" in good("bench", "--seconds", 0.01, "--rules", "hypergammon")


def test_bench_prints_the_signature(monkeypatch):
    from nardcore import _signature

    parts = [_signature.Part("plays", "backgammon", 5, 16 * "a")]
    monkeypatch.setattr(_signature, "parts", lambda: iter(parts))
    assert good("bench", "--signature") == _signature.text()
    found = data("bench", "--signature")
    assert found["signature"] == 5
    assert found["parts"][0]["rules"] == "backgammon"


# -------------------------------------------------------------------------------- real processes


def interrupted(*args):
    """Start a long command, let it work for a while, and send Ctrl-C."""
    child = process(*args)
    assert child.stderr.readline() == "ready\n"
    time.sleep(2)
    assert child.poll() is None, child.communicate()
    begun = time.perf_counter()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert "Traceback" not in err
    assert child.returncode == 130, err
    return out, err, time.perf_counter() - begun


posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@posix
def test_ctrl_c_prints_the_partial_result(tmp_path):
    target = tmp_path / "partial.json"
    out, err, took = interrupted("rollout", "--games", "1g", "--seed", 5, "--output", target)
    assert err == ""
    assert "Cancelled after" in out
    assert "equity" in out
    assert took < 20
    partial = nc.RolloutResult.load(target)
    assert partial.games > 0
    assert partial == nc.rollout(nc.Position.start(), games=partial.games, seed=5)


@posix
def test_ctrl_c_with_json():
    out, err, _ = interrupted("rollout", "--target-stderr", "1e-9", "--json")
    assert err == ""
    found = json.loads(out)
    assert found["cancelled"] is True
    assert found["games"] == sum(found["counts"]) > 0


@posix
def test_ctrl_c_stops_perft():
    out, err, took = interrupted("perft", "--depth", 7)
    assert (out, err) == ("", "nardcore perft: cancelled\n")
    assert took < 20


@posix
def test_reader_that_leaves_early_is_no_error():
    child = process("perft", "--depth", 1, "--divide", env={"PYTHONUNBUFFERED": "1"})
    assert child.stdout.readline().startswith("1-1 ")
    child.stdout.close()
    assert child.stderr.read() == "ready\n"
    assert child.wait(60) == 0
    child.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device")  # noqa: PTH110
def test_full_disk_is_one_line():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-P", "-m", "nardcore.cli", "moves", "start", "11"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (1, "nardcore moves: No space left on device\n")


def test_pipes_get_neither_colours_nor_bars():
    child = process("rollout", "--games", 5000, "--rules", "hypergammon")
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "ready\n")
    assert "\x1b" not in out


@posix
def test_terminal_gets_a_bar_on_standard_error():
    import pty

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "nardcore.cli", "rollout", "--games", "20k", "--json"],
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(master)
    found = json.loads(child.communicate()[0])
    assert child.returncode == 0
    assert found["games"] == 20_000
    assert b"20,000/20,000 games" in seen
    assert f"equity {found['equity']:+.4f} ± {found['stderr']:.4f}".encode() in seen


def test_progress_with_counted_is_told_the_result_so_far():
    class Watch:
        def __init__(self):
            self.seen = []

        def __call__(self, done, total):
            raise AssertionError

        def counted(self, done, total, result):
            self.seen.append((done, total, result.games))

    watch = Watch()
    nc.rollout(nc.Position.start(nc.HYPERGAMMON), games=5000, seed=1, progress=watch)
    assert watch.seen == [(2048, 5000, 2048), (4096, 5000, 4096), (5000, 5000, 5000)]


def test_output_without_unicode_still_works():
    child = process("rollout", "--games", 50, "--lang", "ru", env={"PYTHONIOENCODING": "ascii"})
    out, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (0, "ready\n")
    assert "equity" in out
