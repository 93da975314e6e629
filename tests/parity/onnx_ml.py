#!/usr/bin/env python3
"""Models of scikit-learn, XGBoost and LightGBM, and operators of ai.onnx.ml alone, against ONNX Runtime.

    onnx_ml.py RUNNER FOLDER [--only TEXT]

RUNNER is build/tests/onnx-backend; cases are written to FOLDER. Needs the packages numpy, onnx, onnxruntime, scikit-learn,
skl2onnx, onnxmltools, xgboost and lightgbm.
"""
import argparse
import sys
import warnings

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnx_cases import Cases

warnings.simplefilter("ignore")
f32 = np.float32
RNG = np.random.default_rng(5)


def data(n=200, features=6, classes=3):
    x = RNG.standard_normal((n, features)).astype(f32)
    return x, (np.digitize(x[:, 0] + x[:, 1] * x[:, 2], np.linspace(-1, 1, classes - 1)) if classes > 1 else (x[:, 0] * 3 + x[:, 1] ** 2).astype(f32))


def sklearn_models(c):
    from skl2onnx import to_onnx
    from sklearn import ensemble, linear_model, neural_network, pipeline, preprocessing, svm, tree
    for classes in (2, 3, 5):
        x, y = data(classes=classes)
        names = np.array([f"class {k}" for k in range(classes)])
        models = [tree.DecisionTreeClassifier(max_depth=5), ensemble.RandomForestClassifier(12, max_depth=6), ensemble.ExtraTreesClassifier(5),
                  ensemble.GradientBoostingClassifier(n_estimators=7), ensemble.HistGradientBoostingClassifier(max_iter=9), linear_model.LogisticRegression(),
                  linear_model.RidgeClassifier(), svm.SVC(), svm.SVC(probability=True), svm.SVC(kernel="poly", degree=2, coef0=0.5), svm.SVC(kernel="sigmoid", probability=True),
                  svm.LinearSVC(), svm.NuSVC(kernel="rbf"), neural_network.MLPClassifier((8,), max_iter=50), ensemble.AdaBoostClassifier(n_estimators=5),
                  pipeline.make_pipeline(preprocessing.StandardScaler(), preprocessing.Normalizer(), linear_model.LogisticRegression())]
        for model in models:
            for labels in (y, names[y]):
                model.fit(x, labels)
                for zipmap in (True, False):
                    for rows in (1, 5, 100):
                        try:
                            onx = to_onnx(model, x[:1], options={id(model): {"zipmap": zipmap}}, target_opset={"": 18, "ai.onnx.ml": 3})
                        except Exception as e:
                            print("not converted:", type(model).__name__, str(e)[:80])
                            break
                        c.model("classifier", f"{type(model).__name__}-{c.count:04}", onx, {"X": x[:rows]}, (1e-3, 2e-5))
    x, y = data(classes=1)
    for model in [tree.DecisionTreeRegressor(max_depth=7), ensemble.RandomForestRegressor(11), ensemble.GradientBoostingRegressor(n_estimators=20), ensemble.ExtraTreesRegressor(4, max_depth=8),
                  linear_model.LinearRegression(), linear_model.Ridge(), svm.SVR(), svm.SVR(kernel="poly"), svm.NuSVR(kernel="linear"), ensemble.HistGradientBoostingRegressor(max_iter=9)]:
        model.fit(x, y)
        xn = x[:100].copy()
        if "Hist" in type(model).__name__:
            xn[3, 1] = xn[70, 0] = np.nan
        try:
            onx = to_onnx(model, x[:1], target_opset={"": 18, "ai.onnx.ml": 3})
        except Exception as e:
            print("not converted:", type(model).__name__, str(e)[:80])
            continue
        for rows in (1, 5, 100):
            c.model("regressor", f"{type(model).__name__}-{c.count:04}", onx, {"X": xn[:rows]}, (1e-3, 2e-5))
    two = ensemble.RandomForestRegressor(6, max_depth=9).fit(x, np.stack([y, -y], 1))
    c.model("regressor", "two-targets", to_onnx(two, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}), {"X": x}, (1e-3, 2e-5))
    outliers = svm.OneClassSVM().fit(x)
    c.model("regressor", "one-class", to_onnx(outliers, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}), {"X": x}, (1e-3, 2e-5))


def boosted(c):
    import lightgbm
    import xgboost
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType
    kinds = [("X", FloatTensorType([None, 6]))]
    for classes in (1, 2, 4):
        x, y = data(classes=classes)
        xn = x.copy()
        xn[RNG.integers(0, len(x), 20), RNG.integers(0, 6, 20)] = np.nan
        for depth in (3, 6, 8, 11):
            if classes == 1:
                models = [(lightgbm.LGBMRegressor(n_estimators=9, max_depth=depth, verbose=-1), convert_lightgbm), (xgboost.XGBRegressor(n_estimators=9, max_depth=depth), convert_xgboost)]
            else:
                models = [(lightgbm.LGBMClassifier(n_estimators=9, max_depth=depth, verbose=-1), convert_lightgbm), (xgboost.XGBClassifier(n_estimators=9, max_depth=depth), convert_xgboost)]
            for model, convert in models:
                model.fit(xn, y)
                try:
                    onx = convert(model, initial_types=kinds, target_opset=15)
                except Exception as e:
                    print("not converted:", type(model).__name__, str(e)[:80])
                    continue
                for rows, values in ((1, x), (7, xn), (200, x), (200, xn)):
                    c.model("boosted", f"{type(model).__name__}-{c.count:04}", onx, {"X": values[:rows]}, (1e-3, 2e-5))


def random_forest(trees, depth, features, votes, modes, missing):
    """Attributes of a forest of the older form, drawn at random."""
    a = {k: [] for k in "nodeids treeids featureids values modes truenodeids falsenodeids missing_value_tracks_true".split()}
    v = {k: [] for k in "treeids nodeids ids weights".split()}
    for t in range(trees):
        nodes = 0

        def grow(level):
            nonlocal nodes
            me, nodes = nodes, nodes + 1
            at = len(a["nodeids"])
            leaf = level == depth or (level > 0 and RNG.random() < 0.2)
            for k, value in (("nodeids", me), ("treeids", t), ("featureids", 0 if leaf else int(RNG.integers(features))), ("values", 0.0 if leaf else float(np.round(RNG.standard_normal(), 1))),
                             ("modes", "LEAF" if leaf else str(RNG.choice(modes))), ("truenodeids", 0), ("falsenodeids", 0), ("missing_value_tracks_true", int(RNG.integers(2)) if missing else 0)):
                a[k].append(value)
            if leaf:
                for target in votes(t):
                    v["treeids"].append(t), v["nodeids"].append(me), v["ids"].append(target), v["weights"].append(float(RNG.standard_normal()))
            else:
                a["truenodeids"][at] = grow(level + 1)
                a["falsenodeids"][at] = grow(level + 1)
            return me
        grow(0)
    if not missing:
        del a["missing_value_tracks_true"]
    return {f"nodes_{k}": x for k, x in a.items()}, v


def forests(c):
    every = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    for i in range(120):
        depth, features, targets = int(RNG.integers(1, 10)), int(RNG.integers(1, 6)), int(RNG.integers(1, 4))
        modes = (["BRANCH_LEQ"], ["BRANCH_LT"], every[:4], every)[i % 4]
        votes = (lambda t: [t % targets], lambda t: list(range(targets)), lambda t: [int(RNG.integers(targets))])[i % 3]
        nodes, v = random_forest(int(RNG.integers(1, 8)), depth, features, votes, modes, i % 5 == 0)
        x = np.round(RNG.standard_normal((int(RNG.choice([1, 3, 9, 70, 200])), features)), 1).astype(f32)
        if i % 6 == 0:
            x[RNG.random(x.shape) < 0.1] = np.nan
        if i % 7 == 3:
            x = x.astype(np.int64) if not np.isnan(x).any() else x
        post = str(RNG.choice(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]))
        base = [0.5, -0.25, 0.125][:targets] if i % 2 else None
        c.node("TreeEnsembleRegressor", [x], domain="ai.onnx.ml", kind="forest", tolerance=(1e-3, 2e-5), n_targets=targets, post_transform=post, base_values=base,
               aggregate_function=str(RNG.choice(["SUM", "AVERAGE", "MIN", "MAX"])), **nodes, **{f"target_{k}": w for k, w in v.items()})
        classes = int(RNG.integers(2, 5))
        votes = (lambda t: [t % classes], lambda t: [1], lambda t: [0], lambda t: list(range(classes)))[i % 4]
        nodes, v = random_forest(int(RNG.integers(1, 8)), depth, features, votes, modes, i % 5 == 0)
        if i % 3 == 0:
            v["weights"] = [abs(w) / 8 for w in v["weights"]]
        labels = dict(classlabels_strings=[f"l{k}" for k in range(classes)]) if i % 2 else dict(classlabels_int64s=[0, 1] if classes == 2 else [int(k) * 2 - 1 for k in range(classes)])
        base = [[0.5, -0.25, 0.125, 0.0][:classes], None, [0.25]][i % 3] if classes == 2 else [None, [0.5, -0.25, 0.125, 0.0][:classes]][i % 2]
        c.node("TreeEnsembleClassifier", [x], 2, domain="ai.onnx.ml", kind="forest", tolerance=(1e-3, 2e-5), post_transform=post, base_values=base, **labels, **nodes,
               **{f"class_{k}": w for k, w in v.items()})


def single(c):
    node = lambda op, inputs, outputs=1, ml=3, **a: c.node(op, inputs, outputs, domain="ai.onnx.ml", ml=ml, **a)
    for dtype in (f32, np.float64, np.int64, np.int32):
        x = np.round(RNG.standard_normal((5, 4)) * 3).astype(dtype)
        node("ArrayFeatureExtractor", [x, np.array([2, 0, 3, 3])])
        node("Binarizer", [x], threshold=1.0)
        node("Scaler", [x], scale=[2.0], offset=[0.5])
        node("Scaler", [x], scale=[2.0, 1.0, 0.5, 3.0], offset=[0.5, 0.0, 1.0, 2.0])
        for norm in ("MAX", "L1", "L2"):
            node("Normalizer", [x], norm=norm)
        if dtype in (f32, np.float64):
            node("Imputer", [x], imputed_value_floats=[7.0], replaced_value_float=0.0)
        else:
            node("Imputer", [x], imputed_value_int64s=[7, 8, 9, 10], replaced_value_int64=0)
        node("FeatureVectorizer", [x, x], inputdimensions=[4, 4])
        node("OneHotEncoder", [x], cats_int64s=[-3, 0, 1, 2], zeros=1)
        for targets in (1, 3):
            for post in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"):
                w = RNG.standard_normal(4 * targets).tolist()
                node("LinearRegressor", [x], targets=targets, coefficients=w, intercepts=RNG.standard_normal(targets).tolist(), post_transform=post)
                labels = dict(classlabels_ints=[5, 7, 9]) if targets == 3 else dict(classlabels_strings=["no", "yes"])
                node("LinearClassifier", [x], 2, coefficients=w, intercepts=RNG.standard_normal(targets).tolist(), post_transform=post, **labels)
    x = np.array([np.nan, 1, 2, np.nan], f32).reshape(2, 2)
    node("Imputer", [x], imputed_value_floats=[7.0, 8.0], replaced_value_float=float("nan"))
    node("ArrayFeatureExtractor", [np.array([["a", "b"], ["c", "d"]], object), np.array([1])])
    words, more = np.array([["cat", "dog"], ["bird", "cat"]], object), np.array([3, 1, 9, -1])
    node("OneHotEncoder", [words], cats_strings=["dog", "cat"], zeros=1)
    node("CategoryMapper", [words], cats_strings=["dog", "cat"], cats_int64s=[3, 9], default_int64=-7)
    node("CategoryMapper", [more], cats_strings=["dog", "cat"], cats_int64s=[3, 9], default_string="none")
    node("LabelEncoder", [words], ml=1, classes_strings=["dog", "cat"], default_int64=-4)
    node("LabelEncoder", [np.array([0, 1, 5])], ml=1, classes_strings=["dog", "cat"], default_string="none")
    for ml in (2, 4):
        node("LabelEncoder", [words], ml=ml, keys_strings=["dog", "cat"], values_int64s=[4, 2], default_int64=-4)
        node("LabelEncoder", [words], ml=ml, keys_strings=["dog", "cat"], values_strings=["d", "c"])
        node("LabelEncoder", [words], ml=ml, keys_strings=["dog", "cat"], values_floats=[0.5, 2.0])
        node("LabelEncoder", [more], ml=ml, keys_int64s=[9, 1, 9], values_int64s=[4, 2, 5])
        node("LabelEncoder", [more], ml=ml, keys_int64s=[9, 1], values_strings=["x", "y"], default_string="?")
        node("LabelEncoder", [np.array([1.5, np.nan if ml > 2 else 9, 0], f32)], ml=ml, keys_floats=[1.5, float("nan")], values_int64s=[4, 2])
    node("LabelEncoder", [np.array([1, 2, 3], np.int16)], ml=4, keys_tensor=helper.make_tensor("k", TensorProto.INT16, [2], [1, 3]),
         values_tensor=helper.make_tensor("v", TensorProto.DOUBLE, [2], [0.5, 0.25]), default_tensor=helper.make_tensor("d", TensorProto.DOUBLE, [1], [-3.0]))
    for labels in (dict(classlabels_strings=["a", "b"]), dict(classlabels_int64s=[3, 7])):
        node("ZipMap", [np.array([[0.25, 0.75], [1, 0]], f32)], **labels)
    for value in ({7: 0.5, 3: 2.0}, {2: "1.5", 0: "3"}):
        for to in ("TO_FLOAT", "TO_STRING", "TO_INT64"):
            node("CastMap", [value], cast_to=to)
            node("CastMap", [value], cast_to=to, map_form="SPARSE", max_map=9)
    node("DictVectorizer", [{"a": 0.5, "z": 2.0, "b": 1.0}], string_vocabulary=["b", "c", "a"])
    node("DictVectorizer", [{7: 0.5, 3: 2.0}], int64_vocabulary=[3, 4, 7])
    node("DictVectorizer", [{7: "x", 3: "y"}], int64_vocabulary=[3, 4, 7])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("runner")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    cases = Cases(args.folder)
    for part in (single, forests, sklearn_models, boosted):
        if args.only in part.__name__:
            part(cases)
    print(f"{cases.count} cases")
    sys.exit(cases.run(args.runner, args.threads))


if __name__ == "__main__":
    main()
