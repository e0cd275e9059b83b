"""Values of SLEPc that spectra must reproduce:
    python3 spectrum.py > spectrum.json        (made with SLEPc 3.18.2, slepc4py and NumPy 1.24.2)
    python3 spectrum.py RULE VISIBLE HIDDEN SCALE SEED     one of them, as one line of JSON

The matrix of one sweep is never there: NumPy applies it unit by unit, from the laws written out again
(Gibbs; flip-the-state, Bruegge et al. 2013, Eq. 5). Models come from a generator that any language can
write out: s <- 16807 s mod 2^31-1, u = s / (2^31-1), a parameter SCALE (2 u - 1), rows of W first, then
the biases of v and of h.
"""
import json
import sys

import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc

CASES = [
    ("gibbs", 5, 6, 2.0, 11),
    ("flip", 5, 6, 2.0, 11),
    ("flip", 8, 7, 1.0, 12),
    ("flip", 8, 8, 0.5, 13),
    ("flip", 10, 10, 0.75, 14),
]


def parameters(scale, seed):
    while True:
        seed = seed * 16807 % 2147483647
        yield scale * (2 * (seed / 2147483647) - 1)


def states(units):
    """All states, the first unit the slowest.  [2^units x units]"""
    k = np.arange(2**units)
    return (k[:, None] >> np.arange(units - 1, -1, -1)) & 1


def on_probability(rule, x, on):
    if rule == "gibbs":
        return 1 / (1 + np.exp(-x))
    if on:
        return np.where(x == 0, 0.5, np.maximum(1 - np.exp(-x), 0))
    return np.where(x == 0, 0.5, np.minimum(np.exp(np.minimum(x, 0)), 1))


def updated(p, rule, inputs):
    """p T of the units of the second side, one after the other.  p [states of a side x of the other]"""
    rows, units = inputs.shape
    for j in range(units):
        q = p.reshape(rows, 2**j, 2, -1)
        off, on = q[:, :, 0], q[:, :, 1]
        x = inputs[:, j]
        up = (on_probability(rule, x, False)[:, None, None] * off
              + on_probability(rule, x, True)[:, None, None] * on)
        p = np.stack([off + on - up, up], axis=2).reshape(p.shape)
    return p


def eigenvalues(rule, n, m, scale, seed):
    draw = parameters(scale, seed)
    W = np.array([[next(draw) for _ in range(m)] for _ in range(n)])
    b = np.array([next(draw) for _ in range(n)])
    c = np.array([next(draw) for _ in range(m)])
    v, h = states(n), states(m)
    log_p = (v @ b)[:, None] + (h @ c)[None, :] + v @ W @ h.T
    root = np.exp(0.5 * (log_p - log_p.max()))
    to_h, to_v = v @ W + c, h @ W.T + b

    class Sweep:
        def mult(self, _, x, y):
            p = x.getArray(readonly=True).reshape(root.shape) * root
            p = updated(p, rule, to_h)
            p = updated(np.ascontiguousarray(p.T), rule, to_v).T
            y.setArray((p / root).ravel())

    size = root.size
    matrix = PETSc.Mat().createPython([size, size], context=Sweep(), comm=PETSc.COMM_SELF)
    matrix.setUp()
    found = {}
    for name in ("LARGEST_MAGNITUDE", "LARGEST_REAL"):
        solver = SLEPc.EPS().create(PETSc.COMM_SELF)
        solver.setOperators(matrix)
        solver.setProblemType(SLEPc.EPS.ProblemType.NHEP)
        solver.setDimensions(nev=3, ncv=30)
        solver.setTolerances(tol=1e-13, max_it=500)
        solver.setWhichEigenpairs(getattr(SLEPc.EPS.Which, name))
        solver.solve()
        one, *others = [solver.getEigenvalue(i) for i in range(solver.getConverged())]
        assert abs(one - 1) < 1e-12 and others, (one, others)
        found[name] = others
    return {"slem": max(abs(z) for z in found["LARGEST_MAGNITUDE"]),
            "second_eigenvalue": max(z.real for z in found["LARGEST_REAL"])}


def values(case):
    rule, n, m, scale, seed = case
    return {"rule": rule, "visible": n, "hidden": m, "scale": scale, "seed": seed,
            **eigenvalues(*case)}


if __name__ == "__main__":
    if sys.argv[1:]:
        rule, n, m, scale, seed = sys.argv[1:]
        print(json.dumps(values((rule, int(n), int(m), float(scale), int(seed)))))
    else:
        print("[\n" + ",\n".join(json.dumps(values(case)) for case in CASES) + "\n]")
