"""`mrac warm`: compile at install time what the first calls would compile."""

import time

import click


@click.command(name="warm")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Default: default. May be repeated.")
@click.option("--all", "everything", is_flag=True, help="Every method whose weights are here.")
def warm(methods: tuple[str, ...], everything: bool) -> None:
    """Compile the kernels and load the networks of methods once, so that no later call waits for it.

    Kernels are kept beside the package, or in the user's cache where the package cannot be written; an image of a
    robot's software is a good place for this command. Without it the first call compiles for about ten seconds.

    \b
    Examples:
      mrac warm
      mrac warm --method default --method mrac
      mrac warm --all
    """
    from mrac import registry  # noqa: PLC0415  (numba and scipy: `mrac --help` should not wait for them)
    from mrac.errors import ContractError, MissingExtra  # noqa: PLC0415
    from mrac.warm_up import warm_up  # noqa: PLC0415

    for name in registry.names("method") if everything else methods or ("default",):
        start = time.perf_counter()
        try:
            warm_up(name)
        except (ContractError, MissingExtra) as error:
            if not everything:
                raise
            click.echo(f"{name}: left out, {error}")
        else:
            click.echo(f"{name}: ready, {time.perf_counter() - start:.1f} s")


COMMAND = warm
