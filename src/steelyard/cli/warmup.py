"""``steelyard warmup``: use every part once, so that later processes start faster."""


def warmup() -> None:
    """Fill the caches that a first use writes.

    This is for images of containers and for clusters. It fits each estimator on a small table and draws
    a figure. It also shows that the installation works.

    Example: steelyard warmup
    """
    from steelyard.warmup import main

    main()
