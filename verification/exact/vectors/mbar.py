# Solutions of MBAR and BAR that the library must reproduce:
#   python3 mbar.py > mbar.json
# (made with Python 3.11.2, NumPy 1.24.2 and SciPy 1.10.1). MBAR's equations are solved on the dense
# samples x rungs matrix by SciPy's trust region and root finder, BAR's by brentq; the covariance is
# Kong's with a pseudo-inverse. Samples come from a generator that any language can write out:
#   s <- 16807 s mod 2^31-1, u = s / (2^31-1), D = 1 + v b + sqrt(3 v) (u1 + u2 + u3 + u4 - 2)
import json

import numpy as np
from scipy.optimize import brentq, minimize, root
from scipy.special import expit, logsumexp


def samples(seed, variance, betas, counts):
    s, d = seed, []
    for b, n in zip(betas, counts):
        for _ in range(n):
            u = 0.0
            for _ in range(4):
                s = s * 16807 % 2147483647
                u += s / 2147483647
            d.append(1 + variance * b + np.sqrt(3 * variance) * (u - 2))
    return np.array(d)


def mbar(betas, counts, d):
    seen = np.flatnonzero(counts)
    n = counts[seen]
    energy = np.outer(d, betas[seen]) + np.log(n)

    def full(z):
        return np.concatenate([[0.0], z])

    def value(z):
        return logsumexp(energy - full(z), axis=1).sum() + n @ full(z)

    def gradient(z):
        log_p = energy - full(z)
        p = np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True))
        return (n - p.sum(axis=0))[1:]

    def hessian(z):
        log_p = energy - full(z)
        p = np.exp(log_p - logsumexp(log_p, axis=1, keepdims=True))
        return (np.diag(p.sum(axis=0)) - p.T @ p)[1:, 1:]

    start = np.zeros(len(seen) - 1)
    first = minimize(value, start, jac=gradient, hess=hessian, method="trust-exact",
                     options={"gtol": 1e-6, "maxiter": 1000})
    last = root(gradient, first.x, jac=hessian, method="hybr",
                options={"xtol": 1e-14})
    assert np.abs(last.fun).max() < 1e-9 * n.sum(), last.fun
    log_mixture = logsumexp(energy - full(last.x), axis=1)
    log_z = logsumexp(np.outer(d, betas) - log_mixture[:, None], axis=0)
    w = np.exp(np.outer(d, betas) - log_z - log_mixture[:, None])
    theta = w.T @ np.linalg.pinv(np.eye(len(d)) - (w * counts) @ w.T, rcond=1e-9) @ w
    relative = theta - theta[:, :1] - theta[:1] + theta[0, 0]
    return log_z - log_z[0], relative


def bar(betas, counts, d):
    edges = np.concatenate([[0], np.cumsum(counts)])
    log_z = [0.0]
    for k in range(len(betas) - 1):
        delta = (betas[k + 1] - betas[k]) * d[edges[k]:edges[k + 2]]
        m = np.log(counts[k + 1] / counts[k])
        ratio = brentq(lambda x: expit(m + delta - x).sum() - counts[k + 1], delta.min(),
                       delta.max(), xtol=1e-14, rtol=1e-14)
        log_z.append(log_z[-1] + ratio)
    return log_z


def case(seed, variance, counts):
    counts = np.array(counts)
    # The library's ladder is in single precision.
    betas = np.linspace(0, 1, len(counts)).astype(np.float32).astype(float)
    d = samples(seed, variance, betas, counts)
    log_z, covariance = mbar(betas, counts, d)
    result = {"seed": seed, "variance": variance, "counts": counts.tolist(),
              "mbar": log_z.tolist(), "covariance": covariance.tolist()}
    if counts.min() > 0:
        result["bar"] = bar(betas, counts, d)
    return json.dumps(result)


cases = [case(1, 4.0, [60, 140]), case(2, 10.0, [40, 20, 60, 80]),
         case(3, 60.0, [30, 50, 70, 10, 40]), case(4, 9.0, [50, 0, 60, 50]),
         case(5, 6.0, [0, 80, 70, 50, 0]), case(6, 20.0, [1, 19, 30, 9, 1, 40])]
print("[\n " + ",\n ".join(cases) + "\n]")
