"""Times NumPy on the work that its standard input names, a line each; answers with the seconds of
all repeats together.

    sweep VISIBLE HIDDEN CHAINS REPEATS       one Gibbs sweep
    anneal VISIBLE HIDDEN CHAINS REPEATS      one temperature of annealed importance sampling
    log_z VISIBLE HIDDEN 0 REPEATS            log Z by enumeration of the hidden states
"""
import os
import sys
import time

import numpy as np

rng = np.random.Generator(np.random.SFC64(1))


class Rbm:
    def __init__(self, visible, hidden, chains):
        self.w = (0.1 * rng.standard_normal((visible, hidden))).astype(np.float32)
        self.b = np.zeros(visible, np.float32)
        self.c = np.zeros(hidden, np.float32)
        self.v = np.zeros((chains, visible), np.float32)
        self.log_weights = np.zeros(chains)

    def draw(self, x):
        np.negative(x, out=x)
        np.exp(x, out=x)
        x += 1
        np.reciprocal(x, out=x)
        return (rng.random(x.shape, np.float32) < x).astype(np.float32)

    def sweep(self):
        h = self.draw(self.v @ self.w + self.c)
        self.v = self.draw(h @ self.w.T + self.b)

    def anneal(self):
        b, step = np.float32(0.5), np.float32(1e-3)
        x = self.v @ self.w + self.c
        soft = lambda y: np.logaddexp(np.float32(0), y).sum(axis=1)
        self.log_weights += soft((b + step) * x) - soft(b * x) + step * (self.v @ self.b)
        h = self.draw((b + step) * x)
        self.v = self.draw((b + step) * (h @ self.w.T + self.b))

    def log_z(self):
        visible, hidden = self.w.shape
        low = min(10, hidden)
        states = np.zeros((1 << low, hidden), np.float32)
        states[:, :low] = (np.arange(1 << low)[:, None] >> np.arange(low)) & 1
        sums = []
        for block in range(1 << (hidden - low)):
            states[:, low:] = (block >> np.arange(hidden - low)) & 1
            log_f = np.logaddexp(np.float32(0), states @ self.w.T).sum(axis=1, dtype=np.float64)
            most = log_f.max()
            sums.append(most + np.log(np.exp(log_f - most).sum()))
        return np.logaddexp.reduce(sums)


def blas():
    """The library behind matrix products: what is mapped once one was made."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with open("/proc/self/maps") as maps:
        files = {os.path.basename(line.split()[-1]) for line in maps if "blas" in line}
    return ", ".join(sorted(files)) or "unknown"


if "--version" in sys.argv:
    print(f"NumPy {np.__version__} with {blas()}")
    sys.exit()

models = {}
for line in sys.stdin:
    work, *numbers = line.split()
    visible, hidden, chains, repeats = map(int, numbers)
    key = (visible, hidden, chains)
    if key not in models:
        models[key] = Rbm(*key)
        getattr(models[key], work)()
    run = getattr(models[key], work)
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    print(time.perf_counter() - start, flush=True)
