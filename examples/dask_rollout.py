"""A rollout on a Dask cluster, here one of two processes on this machine."""

import sys

import nardcore as nc

try:
    from distributed import Client, LocalCluster
except ImportError:
    sys.exit("this example needs Dask: pip install distributed")


def main(games: int = 100_000) -> None:
    """Play on workers; the answer is the one that threads would have given."""
    position = nc.Position.start(nc.LONG_NARDY)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        result = nc.rollout(position, games=games, seed=5, executor=client.get_executor())
    print(result)
    assert result == nc.rollout(position, games=games, seed=5)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
