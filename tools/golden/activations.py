"""Values of every activation that configurations and Dense modules can name.

    python tools/golden/activations.py

`hidden_act`: the names that transformers' ACT2FN maps to a function without parameters.
`dense`: the torch.nn classes that sentence-transformers constructs from `activation_function`
(any nn.Module class below `torch.` that takes no argument), as far as they act on single numbers.
`f32` is what the library computes; `f64` is the same formula in double, to judge errors by.
"""

import inspect
import warnings

import common
import numpy as np

warnings.simplefilter("ignore")
import torch
from transformers.activations import ACT2CLS, ACT2FN

SEED = "tenon-activations-1"


def inputs():
    rng = common.generator(SEED)
    grid = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-4, -1e-4, 0.25, -0.25, 0.5, -0.5, 1, -1, 1.702, -1.702, 2,
                     -2, 3, -3, 4, -4, 5, -5, 5.999, 6, 6.001, -6, 8, -8, 9.9, 10, 10.1, -10, -10.1, 15, -15,
                     19.9, 20, 20.1, -20, 40, -40, 88, -88, 1000, -1000])
    return np.concatenate([grid, 2.5 * rng.standard_normal(35)]).astype(np.float32)


def evaluate(function, x):
    with torch.inference_mode():
        f32 = function(torch.from_numpy(x)).numpy()
        f64 = function(torch.from_numpy(x.astype(np.float64))).numpy()
    if not np.isfinite(f32).all():
        return {"f32": None, "f64": None, "note": "not finite on these inputs"}
    return {"f32": common.f32_list(f32), "f64": [float(v) for v in f64]}


def elementwise(function, x):
    """Whether the answer for each number depends on that number alone, and there are no parameters."""
    with torch.inference_mode():
        whole = function(torch.from_numpy(x))
        if whole.shape != x.shape:
            return False
        alone = torch.cat([function(torch.from_numpy(x[i : i + 1])) for i in range(x.size)])
        return torch.allclose(whole, alone, rtol=1e-5, atol=1e-6)


def dense_classes():
    """Class path to module, for what `Dense.load` accepts without trusted code."""
    found = {}
    for module in (torch.nn.modules.activation, torch.nn.modules.linear):
        for name, cls in sorted(vars(module).items()):
            if inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and cls.__module__ == module.__name__:
                try:
                    found[f"{cls.__module__}.{name}"] = cls().eval()
                except TypeError:
                    continue
    return found


def main():
    x = inputs()
    hidden_act, left_out = {}, []
    for name in sorted(ACT2CLS):
        try:
            function = ACT2FN[name]
        except Exception as error:
            left_out.append(f"{name}: {type(error).__name__}")
            continue
        if isinstance(function, torch.nn.Module) and list(function.parameters()):
            left_out.append(f"{name}: has parameters")
            continue
        hidden_act[name] = evaluate(function, x)
    dense, other = {}, []
    for path, module in dense_classes().items():
        if list(module.parameters()):
            other.append(f"{path}: has parameters")
            continue
        try:
            ok = elementwise(module, x)
        except Exception as error:
            other.append(f"{path}: {type(error).__name__}")
            continue
        if not ok:
            other.append(f"{path}: looks at the whole vector")
            continue
        dense[path] = evaluate(module, x)
    document = {
        "certificate": common.certificate(__file__, SEED, common.digest_json(common.f32_list(x)),
                                          ("torch", "transformers", "numpy")),
        "inputs": common.f32_list(x),
        "hidden_act": hidden_act,
        "hidden_act_left_out": left_out,
        "dense": dense,
        "dense_left_out": other,
    }
    common.write_json(common.GOLDEN / "embed" / "activations.json", document)
    print(len(hidden_act), "hidden_act;", left_out)
    print(len(dense), "dense;", other)


if __name__ == "__main__":
    main()
