"""Times NumPy on the work that its standard input names, a line each; answers with the seconds of
all repeats together.

    sweep VISIBLE HIDDEN CHAINS REPEATS       one Gibbs sweep
    cd VISIBLE HIDDEN CASES REPEATS           one update of contrastive divergence, CD-1
    anneal VISIBLE HIDDEN CHAINS REPEATS      one temperature of annealed importance sampling
    log_z VISIBLE HIDDEN 0 REPEATS            log Z by enumeration of the hidden states

With --version it says in JSON what does its matrix products, with which kernels and threads.
"""
import ctypes
import json
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

    def mean(self, x):
        np.negative(x, out=x)
        np.exp(x, out=x)
        x += 1
        return np.reciprocal(x, out=x)

    def draw(self, x):
        return (rng.random(x.shape, np.float32) < self.mean(x)).astype(np.float32)

    def sweep(self):
        h = self.draw(self.v @ self.w + self.c)
        self.v = self.draw(h @ self.w.T + self.b)

    def cd(self):
        cases = self.v
        positive = self.mean(cases @ self.w + self.c)
        h = (rng.random(positive.shape, np.float32) < positive).astype(np.float32)
        v = self.draw(h @ self.w.T + self.b)
        negative = self.mean(v @ self.w + self.c)
        rate = np.float32(1e-6 / len(cases))  # so small that the model stays what it is
        self.w += rate * (cases.T @ positive - v.T @ negative)
        self.b += rate * (cases - v).sum(axis=0)
        self.c += rate * (positive - negative).sum(axis=0)

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
    """The libraries behind matrix products: what is mapped once one was made."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "/" in line}
    names = ("blas", "blis", "mkl", "atlas")
    return sorted(file for file in files if any(n in os.path.basename(file) for n in names))


def ask_openblas(files, question, answer):
    """What OpenBLAS says of itself, by whatever name a build gives the function; None without it."""
    for file in files:
        if "openblas" in os.path.basename(file):
            for name in (f"{a}openblas_{question}{b}" for a in ("", "scipy_") for b in ("", "64_")):
                function = getattr(ctypes.CDLL(file), name, None)
                if function is not None:
                    function.restype = answer
                    return function()
    return None


def version():
    files = blas()
    core = ask_openblas(files, "get_corename", ctypes.c_char_p)
    return {
        "version": np.__version__,
        "blas": [os.path.basename(file) for file in files],
        "core": core.decode() if core else None,
        "threads": ask_openblas(files, "get_num_threads", ctypes.c_int),
    }


if "--version" in sys.argv:
    print(json.dumps(version()))
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
