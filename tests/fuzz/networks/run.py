#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws networks, compiles and runs them, and shrinks those that fail.

usage: run.py BUILD [COUNT] [--seed SEED] [--first K] [--jobs N] [--tries N] [--dump FOLDER]
       run.py BUILD --descriptions FILE.json
       run.py BUILD --table [RESULTS.jsonl | EARLIER.md]...

BUILD: a folder that CMake configured with -DPHYLLO_FUZZ_WORKERS=N, where the programs are built. The
seed is today's date unless --seed says another. Results are appended to BUILD/networks/results.jsonl;
--table writes what they cover to BUILD/networks/coverage.md, together with the counts of earlier tables. Exit status 1:
a network failed.
"""

import argparse
import collections
import copy
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import generate  # noqa: E402

SIZE = 12  # networks of one program
ENOUGH = 20  # times that each role, kind of step and boundary is to occur
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive",
               "OMP_STACKSIZE": "2M"}  # stacks as small as they are on many clusters
ROLES = ("input", "contraction", "normalization", "pointwise", "pooling", "add",
         "concatenation", "row", "lookup", "convolution", "move", "reduce", "map", "product", "position", "scan",
         "resample", "local_response", "fourier", "spectral_product", "unpooling", "sparse_product")
KINDS = ("single", "folded_contraction", "contraction_epilogue", "normalization_epilogue", "normalization_add",
         "add_epilogue", "attention", "pointwise_chain", "segment", "training segment", "whole step")


class Builder:
    """Programs of a few networks each, as many at once as BUILD has workers."""

    def __init__(self, build, jobs):
        self.build, self.jobs = build, jobs
        self.folder = build / "networks"
        self.folder.mkdir(exist_ok=True)
        cache = (build / "CMakeCache.txt").read_text()
        found = re.search(r"^PHYLLO_FUZZ_WORKERS:\w+=(\d+)", cache, re.M)
        self.workers = int(found.group(1)) if found else 0
        if self.workers < 1:
            sys.exit(f"Configure {build} with -DPHYLLO_FUZZ_WORKERS=6 first.")
        self.targets = (self.folder / "targets").read_text().split()

    def try_all(self, programs):
        """Verdicts of each program's networks, in order: dictionaries with `wrong` and `plan`."""
        for k, descriptions in enumerate(programs):
            generate.write_if_changed(self.folder / f"{self.targets[k]}.cpp", generate.program(descriptions))
        built = subprocess.run(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target",
                                *self.targets[:len(programs)], "--", "-k", "0"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        verdicts = []
        for k, descriptions in enumerate(programs):
            target = self.targets[k]
            if built.returncode and f"{target}.cpp.o" in failed_objects(built.stdout):
                if len(descriptions) > 1:
                    for d in descriptions:
                        verdicts += self.try_all_at(k, [d])
                    continue
                verdicts.append({"wrong": ["does not compile: " + first_error(built.stdout, target)], "plan": None})
                continue
            verdicts += [self.run_one(target, d) for d in descriptions]
        return verdicts

    def try_all_at(self, k, descriptions):
        targets, self.targets = self.targets, [self.targets[k]]
        try:
            return self.try_all([descriptions])
        finally:
            self.targets = targets

    def run_one(self, target, d):
        program = self.folder / target
        try:
            ran = subprocess.run([str(program), f"-tc={d['name']}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", timeout=600, env={**os.environ, **ENVIRONMENT})
            output, status = ran.stdout, ran.returncode
        except subprocess.TimeoutExpired:
            output, status = "", "it ran for more than 600 s"
        plan, wrong = None, []
        for line in output.splitlines():
            if line.startswith("network "):
                plan = json.loads(line.split(" ", 2)[2])
            elif line.startswith("wrong "):
                wrong.append(line.split(" ", 2)[2])
        if status and not wrong:
            wrong.append(f"the program ended with {status}: " + " ".join(output.split()[-30:]))
        if plan is None and not wrong:
            wrong.append("the network was not run")
        return {"wrong": wrong, "plan": plan}


def failed_objects(log):
    return " ".join(line for line in log.splitlines() if line.startswith("FAILED:"))


def first_error(log, target):
    for line in log.splitlines():
        if "error:" in line:
            return line.strip()[:300]
    return "see the log"


# ---- shrinking ----------------------------------------------------------------------------------------------


def smaller_numbers(n):
    return sorted({1, 2, n // 2, n - 1} - {0, n} - set(range(n, n + 3)))


def smaller_part(part):
    """Simpler parts in place of one; each a list of parts."""
    kind = part[0]
    if kind in generate.INPUTS:
        first = 2 if kind in generate.NAMED_INPUTS else 1
        for i in range(first, len(part)):
            for n in smaller_numbers(part[i]):
                yield [part[:i] + [n] + part[i + 1:]]
        if kind in generate.NAMED_INPUTS:
            yield []
            yield [[kind.replace("named_", "")] + part[2:]]
        return
    yield []
    if kind == "linear":
        for n in smaller_numbers(part[1]):
            yield [["linear", n, part[2]]]
        if part[2]:
            yield [["linear", part[1], False]]
    elif kind == "conv":
        rank = part[1]
        for n in smaller_numbers(part[2]):
            yield [part[:2] + [n] + part[3:]]
        for field, plain in ((3, 1), (4, 1), (5, 0)):
            for d in range(rank):
                for n in {plain, part[field][d] - 1} - {part[field][d], plain - 1}:
                    values = list(part[field])
                    values[d] = n
                    yield [part[:field] + [values] + part[field + 1:]]
        if part[6]:
            yield [part[:6] + [False]]
    elif kind == "general_conv":
        o = part[7]
        if not o["transposed"] and o["mode"] == "zeros" and list(o["after"]) == list(part[5]):
            yield [["conv"] + part[1:7]]
        for n in smaller_numbers(part[2]):
            yield [part[:2] + [n] + part[3:]]
        for name, plain in (("dilation", 1), ("output_padding", 0)):
            if any(n != plain for n in o[name]):
                yield [part[:7] + [{**o, name: [plain] * part[1]}]]
        if o["groups"] > 1:
            yield [part[:7] + [{**o, "groups": 1}]]
        if o["mode"] != "zeros":
            yield [part[:7] + [{**o, "mode": "zeros"}]]
        yield [part[:5] + [[0] * part[1]] + part[6:7] + [{**o, "after": [0] * part[1]}]]
        yield [part[:4] + [[1] * part[1]] + part[5:]]
    elif kind == "recurrent":
        o = part[3]
        for n in smaller_numbers(part[2]):
            yield [part[:2] + [n] + part[3:]]
        for name, plain in (("layers", 1), ("bidirectional", False), ("bias", False), ("initial", []), ("final", []),
                            ("lengths", None)):
            if o[name] != plain:
                yield [part[:3] + [{**o, name: plain}]]
    elif kind == "pool":
        rank = part[2]
        for n in smaller_numbers(part[3]):
            yield [["pool", part[1], rank, n, [n] * rank, [0] * rank]]
        yield [["pool", part[1], rank, part[3], [part[3]] * rank, [0] * rank]]
        yield [["pool", "average"] + part[2:]]
        if len(part) > 6:
            yield [part[:6]]
    elif kind == "lp_pool":
        yield [["pool", "average", *part[2:], [0] * part[2]]]
    elif kind in ("attention", "encoder", "decoder"):
        plain = {"causal": False, "mask": None, "dropout": None, "rotary": 0, "norm_first": False, "epsilon": 1e-5}
        for name, value in part[-1].items():
            if name in plain and value != plain[name]:
                yield [part[:-1] + [{**part[-1], name: plain[name]}]]
        if kind == "decoder":
            yield [["encoder"] + part[1:4] + part[5:]]
        if kind == "encoder":
            yield [["attention", part[2], None, {"causal": part[4]["causal"], "mask": part[4]["mask"], "dropout":
                    part[4]["dropout"], "rotary": part[4]["rotary"], "bias": True}]]
    elif kind == "embedding":
        for i in (1, 2):
            for n in smaller_numbers(part[i]):
                yield [part[:i] + [n] + part[i + 1:]]
    elif kind in ("group_norm", "instance_norm"):
        for plain in ([False, 1e-5], [True, 1e-5]):
            if part[-2:] != plain:
                yield [part[:-2] + plain]
        if kind == "group_norm":
            for n in smaller_numbers(part[1]):
                yield [[kind, n] + part[2:]]
    elif kind == "resize" and part[2:] != ["linear", False]:
        yield [part[:2] + ["linear", False]]
    elif kind == "spectral_conv":
        for n in smaller_numbers(part[1]):
            yield [[kind, n, part[2]]]
        for d in range(len(part[2])):
            for n in smaller_numbers(part[2][d]):
                yield [[kind, part[1], part[2][:d] + [n] + part[2][d + 1:]]]
    elif kind == "graph_conv":
        yield [["sparse_product", part[3]]]
        for n in smaller_numbers(part[1]):
            yield [[kind, n] + part[2:]]
    elif kind == "unpool":
        yield [["from", part[-1]]]
    elif kind == "local_response" and part[1] > 1:
        yield [[kind, 1] + part[2:]]
    elif kind in generate.DROPOUTS:
        yield [["dropout", part[1]]]
    elif kind == "softmax_over":
        yield [["softmax"]]
        yield [[kind, None, True]]
    elif kind == "reduce":
        yield [[kind, "sum", part[2]]]
        for axis in part[2]:
            if len(part[2]) > 1:
                yield [[kind, part[1], [axis]]]
    elif kind == "adaptive_pool":
        yield [[kind, "average"] + part[2:]]
        for d in range(part[2]):
            for n in smaller_numbers(part[3][d]):
                yield [part[:3] + [part[3][:d] + [n] + part[3][d + 1:]]]
    elif kind in ("layer_norm", "rms_norm"):
        for plain in ([kind, False, 1e-5], [kind, True, 1e-5]):
            if part != plain and (not part[1] or part[2] != 1e-5 or not plain[1]):
                yield [plain]
    elif kind == "prelu" and part != [kind, False, 0.25]:
        yield [[kind, False, 0.25]]
    elif kind in ("normalise", "denormalise") and part != ["normalise", False, False]:
        yield [["normalise", False, False]]
    elif kind == "glu" and part[1] != "sigmoid":
        yield [[kind, "sigmoid"]]
    elif kind == "combine":
        yield [["multiply_by", part[2]]]
    elif kind == "batch_norm" and (part[1] or len(part) > 2):
        yield [["batch_norm", None]]
    elif kind in generate.POINTWISE and kind != "sigmoid":
        yield [["sigmoid"]]
    elif kind == "repeat":
        for n in smaller_numbers(part[1]):
            yield [["repeat", n, part[2]]]
        yield part[2]
        for inner in smaller_parts(part[2]):
            if inner:
                yield [["repeat", part[1], inner]]
    elif kind == "recompute":
        yield part[1]
        for inner in smaller_parts(part[1]):
            if inner:
                yield [["recompute", inner]]
    elif kind == "residual":
        yield part[1]
        if part[2] is not None:
            yield [["residual", part[1], None]]
            for inner in smaller_parts(part[2]):
                yield [["residual", part[1], inner]]
        for inner in smaller_parts(part[1]):
            if inner:
                yield [["residual", inner, part[2]]]
    elif kind == "branch":
        for path in part[1]:
            yield path
        for i, path in enumerate(part[1]):
            if len(part[1]) > 2:
                yield [["branch", part[1][:i] + part[1][i + 1:]]]
            for inner in smaller_parts(path):
                yield [["branch", part[1][:i] + [inner] + part[1][i + 1:]]]


def smaller_parts(parts):
    for i, part in enumerate(parts):
        for instead in smaller_part(part):
            yield parts[:i] + instead + parts[i + 1:]


def with_width(parts, old, new):
    """The same parts with another number of channels wherever there is this one."""
    places = {"linear": 1, "conv": 2, "general_conv": 2, "input": 1, "named_input": 2, "embedding": 2}
    def change(part):
        part = [[change(p) if isinstance(p, list) and p and isinstance(p[0], str) else
                 [change(q) for q in p] if isinstance(p, list) and p and isinstance(p[0], list) else p for p in field]
                if isinstance(field, list) and field and isinstance(field[0], list) else field for field in part]
        at = places.get(part[0])
        return part[:at] + [new] + part[at + 1:] if at and part[at] == old else part
    return [change(part) for part in parts]


PLAIN = (("call", False), ("again", "marked"), ("bits", "fastest"), ("labels", "int"), ("layout", "right"), ("flat", True), ("element", "double"), ("precision", "double"),
         ("precision", "float"), ("capacity", 49), ("backends", "reference"), ("backends", "portable"), ("fusion", "none"),
         ("fusion", "epilogue"), ("fusion", "segment"), ("rule", {"name": "sgd", "rate": 0.0078125}))


def weight(d):
    graph = generate.Graph(d["parts"])
    text = json.dumps(d["parts"])
    settings = sum(d[k] != v for k, v in PLAIN)
    return (len(graph.nodes), graph.parameters + sum(generate.product(n["output"]) for n in graph.nodes), len(text),
            d["trained"], settings)


def candidates(d):
    """Smaller networks, the smallest first."""
    found = []
    for parts in smaller_parts(d["parts"]):
        found.append({**d, "parts": parts})
    for width in {n["output"][0] for n in generate.Graph(d["parts"]).nodes}:
        found += [{**d, "parts": with_width(d["parts"], width, n)} for n in smaller_numbers(width)]
    if d["trained"]:
        found.append({**d, "trained": False})
    for key, value in PLAIN:
        if d[key] != value and not (key == "precision" and value == "float" and d[key] == "double"):
            found.append({**d, key: value})
    if any(kind != "mean_squared_error" for kind, _ in d["loss"]):
        found.append({**d, "loss": [["mean_squared_error", 1]] * len(d["loss"])})
    valid = []
    for c in found:
        try:
            c = generate.complete(copy.deepcopy(c))
            if len(generate.Graph(c["parts"]).nodes) > 1:
                valid.append(c)
        except generate.Invalid:
            pass
    valid.sort(key=weight)
    return valid


def shrink(builder, d, tries):
    """The smallest network found that still fails, with what it says."""
    best, says = d, []
    while tries > 0:
        batch = candidates(best)
        for first in range(0, len(batch), 6):
            part = batch[first:first + 6]
            for k, c in enumerate(part):
                c["name"] = f"s{k}"
            tries -= len(part)
            verdicts = builder.try_all([part])
            failing = [(c, v) for c, v in zip(part, verdicts) if v["wrong"]]
            if failing:
                best, says = failing[0][0], failing[0][1]["wrong"]
                break
            if tries <= 0:
                break
        else:
            break
    return {**best, "name": d["name"]}, says


# ---- coverage -----------------------------------------------------------------------------------------------------


def coverage(results):
    roles, kinds, boundaries, settings = (collections.Counter() for _ in range(4))
    for r in results:
        d, plan = r["description"], r["plan"]
        boundaries.update(set(d["boundaries"]))
        settings.update([d["precision"], "fusion " + d["fusion"], "backends " + d["backends"], "layout " + d["layout"], d.get("bits", "fastest"), "again " + d.get("again", "marked")])
        settings.update(["trained"] if d["trained"] else [])
        settings.update(["in_kernel"] if d["call"] else [])
        if plan:
            roles.update(set(plan["roles"]))
            kinds.update(set(plan["inference"]) | set(plan["training"]) | ({"whole step"} if plan["whole_step"] else set()))
            kinds.update(["training segment"] if "segment" in plan["training"] else [])
    return roles, kinds, boundaries, settings


def all_boundaries():
    widths = (1, 2, 16, 17, 127, 128, 129)
    return [f"width {w}" for w in widths] + [f"spatial extent {e}" for e in (1, 2, 3)] + \
        [f"depth {d}" for d in (15, 16, 17)] + \
        [f"{what} {side}" for what in ("segment, parameters", "image segment, parameters", "image segment, values",
                                       "image segment, widest") for side in ("kept", "passed")] + \
        ["kernel = extent", "stride > kernel", "padding on one tap", "padding >= kernel", "window on one position",
         "window to one position", "image of one channel", "Flatten of one channel", "Flatten of one position",
         "Flatten of an image", "Flatten of the input", "value read twice", "head on an intermediate value",
         "one value, two outputs", "several inputs", "several outputs", "dead layer", "dead input", "inference in parts",
         "table of one entry", "table on one position", "table of a map", "integers beside numbers",
         "two tables of one input", "transposed convolution", "padding zeros", "padding reflect", "padding replicate",
         "padding circular", "padding after", "dilation", "groups", "depthwise", "output padding", "halves of channels",
         "noise", "gate of channels", "gate of positions", "map of one value twice",
         "one group", "groups of one channel", "groups of channels", "softmax over an extent", "softmax over channels",
         "logarithm of a softmax", "reduced channels", "reduced extents", "reduced by sum", "reduced by mean", "reduced by max",
         "adaptive windows overlap", "adaptive windows side by side", "rnn", "rnn_relu", "lstm",
         "gru", "recurrent, bidirectional", "recurrent, initial", "recurrent, final", "recurrent, lengths",
         "recurrent, layers", "recurrent, one time", "channel dropout", "alpha dropout", "stochastic depth",
         "normalisation without parameters", "normalisation without bias", "linear interpolation", "linear interpolation, corners",
         "cubic interpolation", "cubic interpolation, corners", "interpolation to fewer numbers",
         "pooling beyond the padding", "average without padding", "pooling of powers", "computed again", "inverse transform of an odd length", "inverse transform of even lengths"] + [f"rows of {c} channels" for c in (1, 17, 128, 129)]


def read_table(file):
    """What an earlier table says: networks, wrong ones, seeds and a count for each line."""
    text = pathlib.Path(file).read_text()
    networks, wrong, seeds = re.search(r"^(\d+) random networks, (\d+) wrong; seeds ([^.]*)\.", text, re.M).groups()
    lines = {name: int(count) for name, count in re.findall(r"^\| (.+?) \| (\d+) \|$", text, re.M)}
    return int(networks), int(wrong), set(seeds.split(", ")), lines


def table(results, earlier=()):
    roles, kinds, boundaries, settings = coverage(results)
    number, wrong = len(results), sum(bool(r["wrong"]) for r in results)
    seeds = {str(r["seed"]) for r in results}
    lines = {f"{title}: {name}": counter[name] for title, names, counter in
             (("role", ROLES, roles), ("step", KINDS, kinds), ("boundary", all_boundaries(), boundaries)) for name in names}
    required = list(lines)
    before = collections.Counter()
    for file in earlier:
        networks, failed, drawn, counts = read_table(file)
        number, wrong, seeds = number + networks, wrong + failed, seeds | drawn
        before.update(counts)
    lines.update({name: settings[name] for name in sorted(set(settings) | set(before) - set(lines))})
    text = f"{number} random networks, {wrong} wrong; seeds {', '.join(sorted(seeds))}. How many have each:\n\n"
    text += "| what | networks |\n|---|---|\n"
    text += "".join(f"| {name} | {count + before[name]} |\n" for name, count in lines.items())
    rare = [f"{name.split(': ')[1]} ({lines[name] + before[name]})" for name in required if lines[name] + before[name] < ENOUGH]
    text += f"\nFewer than {ENOUGH}: {', '.join(rare) if rare else 'none'}.\n"
    return text


def read_results(files):
    """The latest result of each network."""
    latest = {}
    for file in files:
        for line in pathlib.Path(file).read_text().splitlines():
            r = json.loads(line)
            latest[(r["seed"], r["description"]["name"], r.get("run", 0))] = r
    return list(latest.values())


# ---- the command -----------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].replace("usage: ", ""))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("count", type=int, nargs="?", default=60)
    parser.add_argument("--seed", default=datetime.date.today().strftime("%Y%m%d"))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tries", type=int, default=150, help="networks to try for each smallest one")
    parser.add_argument("--dump", type=pathlib.Path, help="where programs write what compare_torch.py reads")
    parser.add_argument("--descriptions", type=pathlib.Path)
    parser.add_argument("--table", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    log = build / "networks" / "results.jsonl"
    if arguments.table is not None:
        earlier = [file for file in arguments.table if file.endswith(".md")]
        results = [file for file in arguments.table if not file.endswith(".md")]
        text = table(read_results(results or ([] if earlier else [log])), earlier)
        (build / "networks" / "coverage.md").write_text(text)
        print(text)
        return 0
    builder = Builder(build, arguments.jobs)
    if arguments.dump:
        arguments.dump.mkdir(parents=True, exist_ok=True)
        ENVIRONMENT["PHYLLO_NETWORKS_DUMP"] = str(arguments.dump.resolve())
    if arguments.descriptions:
        networks = generate.read_descriptions(arguments.descriptions)
    else:
        networks = [generate.draw(arguments.seed, k) for k in range(arguments.first, arguments.first + arguments.count)]
    programs = [networks[k:k + SIZE] for k in range(0, len(networks), SIZE)]
    print(f"fuzz-networks: {len(networks)} networks of seed {arguments.seed}", flush=True)
    results, failing = [], []
    for first in range(0, len(programs), builder.workers):
        part = programs[first:first + builder.workers]
        descriptions = [d for p in part for d in p]
        for d, v in zip(descriptions, builder.try_all(part)):
            results.append({"seed": arguments.seed, "description": d, **v})
            with log.open("a") as file:
                file.write(json.dumps(results[-1]) + "\n")
            if v["wrong"]:
                failing.append(d)
                print(f"{d['name']}: {v['wrong'][0]}\n  {generate.type_of(d)}\n  {json.dumps(d)}", flush=True)
        print(f"fuzz-networks: {len(results)} of {len(networks)}, {len(failing)} wrong", flush=True)
    ENVIRONMENT.pop("PHYLLO_NETWORKS_DUMP", None)
    for d in failing if arguments.tries > 0 else []:
        smallest, says = shrink(builder, d, arguments.tries)
        print(f"\nThe smallest network found that fails as {d['name']} of seed {arguments.seed} does:\n"
              f"  {generate.type_of(smallest)}\n  {says[0] if says else 'nothing smaller fails'}\n"
              f"  Put it into tests/fuzz/networks/failures.json: {json.dumps(generate.brief(smallest))}", flush=True)
    text = table(results)
    (build / "networks" / "coverage.md").write_text(text)
    print(f"\nfuzz-networks: {len(results)} networks of seed {arguments.seed}, {len(failing)} wrong; "
          "coverage in networks/coverage.md of the build folder")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
