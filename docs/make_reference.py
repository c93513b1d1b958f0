#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Phyllo authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference.md from the docstrings of the headers and the list docs/reference.tsv.

usage: make_reference.py            write the page
       make_reference.py --check    fail where the page is not what it would be, or a docstring lacks a key
       make_reference.py --torch    look up PyTorch's names in PyTorch; 77 where there is none
       --root FOLDER                another copy of the project

Standard library only. What a page needs of a type is in its docstring; what a type does not state is that of the
documented type that it derives from. Kernels are found by the ops that the backends specialise `Kernels` for.
"""

import argparse
import ast
import dataclasses
import inspect
import pathlib
import re
import sys

KEYS = ["shape", "options", "state", "threads", "units", "errors", "numerics", "cost", "source"]
# Where listed types are declared, beside the folders whose public types are all listed.
COMPLETE = ["layer", "block", "loss"]
OTHERS = ["core/options", "core/convolution_options", "core/interpolation_options", "core/attention_options", "core/axis",
          "model/initialization", "model/orthogonal", "train/*"]
# Keys of a section's types; others may have them.
REQUIRED = {
    "Inputs and outputs": ["shape", "errors"],
    "Compositions": ["errors"],
    "Bases of your own layers": ["shape", "errors"],
    "Losses": ["errors"],
    "Update rules": ["options", "state", "numerics", "cost", "source"],
    "Schedules": ["source"],
    "Gradients and weights in training": [],
    "Initial weights": ["numerics", "source"],
    "Options of layers": [],
    "Layers that others consist of": ["shape", "errors"],
}
REQUIRED_OF_LAYERS = ["shape", "errors", "numerics", "cost", "source"]
# Sections without formulas: their text says which number goes where.
WITHOUT_FORMULA = ["Inputs and outputs", "Moves of numbers", "Compositions", "Gradients and weights in training",
                   "Options of layers", "Layers that others consist of"]
FORMULA = re.compile(r"[=^]|(max|min|ln|log|exp)\(| / |\bln |second\(|target - |\|output")

# Backends by folder, as users read their names, in the order in which they are asked.
BACKENDS = [("blas_lt", "`cublaslt`, `hipblaslt`"), ("gpu", "`cuda`, `hip`"), ("onednn", "`onednn`"),
            ("kokkos_kernels", "`kokkos_kernels`"), ("host", "`openmp`"),
            ("portable", "`portable`")]
# Ops of layers with role `row`, and of what is no layer itself.
OPS = {
    "GroupNorm": ["GroupNormalization"], "InstanceNorm": ["GroupNormalization"], "LayerNorm": ["RowNormalization"],
    "RMSNorm": ["RowNormalization"], "Softmax": ["Softmax"], "LogSoftmax": ["AxisSoftmax"],
    "SoftmaxOver": ["AxisSoftmax"], "LogSoftmaxOver": ["AxisSoftmax"],
    "MultiheadAttention": ["Contraction", "Attention"], "CrossAttention": ["Contraction", "Attention"],
    "TransformerEncoderLayer": ["Contraction", "Attention", "RowNormalization"],
    "TransformerDecoderLayer": ["Contraction", "Attention", "RowNormalization"],
    "Recurrent": ["Contraction", "Scan"], "Residual": ["Add"], "Branch": ["Copy"], "AddFrom": ["Add"],
    "ConcatFrom": ["Copy"], "MultiplyBy": ["Map"], "Combine": ["Map"],
    "Reparameterise": ["Map"], "ReparameterisePair": ["Map"], "LpPool1d": ["Pointwise", "Pooling"], "LpPool2d": ["Pointwise", "Pooling"], "LpPool3d": ["Pointwise", "Pooling"],
}
NO_KERNELS = ["Inputs and outputs", "Bases of your own layers", "Update rules", "Schedules", "Gradients and weights in training", "Initial weights",
              "Options of layers", "Layers that others consist of"]


class Mistake(Exception):
    pass


@dataclasses.dataclass
class Type:
    name: str
    header: str
    line: int
    declaration: str
    text: str = ""                 # the first paragraphs
    keys: dict = dataclasses.field(default_factory=dict)
    base: str = ""
    roles: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)
    is_rule: bool = False
    has_docstring: bool = False


def read_docstring(lines, where, problems):
    """The text and the keys of a docstring, whose lines begin behind the slashes."""
    paragraphs, keys, key = [[]], {}, None
    for number, line in enumerate(lines):
        at = f"{where[0]}:{where[1] + number}"
        match = re.match(r" ([a-z]+) +(?=\S)", line)
        if match and match[1] in KEYS and len(match[0]) == 10:
            if key and KEYS.index(match[1]) <= KEYS.index(key):
                problems.append(f"{at}: key {match[1]} comes behind {key}. The order is {', '.join(KEYS)}.")
            key = match[1]
            keys[key] = line[10:].strip()
        elif not line.strip():
            if key is None and paragraphs[-1]:
                paragraphs.append([])
        elif key is None:
            paragraphs[-1].append(line.strip())
        elif line.startswith(" " * 10):
            keys[key] += " " + line.strip()
        else:
            problems.append(f"{at}: a line behind the keys is neither a key nor indented to the text of one. A formatter "
                            "breaks docstrings wider than 100 columns.")
    for key, text in keys.items():
        if re.search(r"\S (shape|options|state|threads|units|errors|cost|source) {2,}\S", text):
            problems.append(f"{where[0]}:{where[1]}: key {key} contains another key. Begin a line with it.")
    return "\n\n".join(" ".join(p) for p in paragraphs if p), keys


def data_members(body):
    """Public data members of a struct with their defaults, up to its first function."""
    members = []
    for line in body:
        line = re.sub(r"\s*//.*", "", line)
        if line.startswith(("  static", "  PHYLLO", "  template", " private", "  using", "  constexpr", "  explicit")):
            continue
        match = re.match(r"  (?:std::)?[\w:<>]+ ((?:\w+ = [^,;{}()]+(?:, )?)+|\w+ = [^;]+|\w+);$", line)
        if match and not line.startswith("  Misspelt"):
            for part in re.findall(r"(\w+)(?: = ((?:[^,{}]|\{[^}]*\})+))?", match[1]):
                members.append((part[0], (part[1] or "").strip()))
        elif re.match(r"  [\w:<>&* ]+ \w+\(.*", line):
            break
    return members


def read_header(path, root, types, problems):
    name = path.relative_to(root / "include").as_posix()
    lines = path.read_text().split("\n")
    depth_of_detail = 0
    number = 0
    shared = None  # a docstring of several declarations, one behind the other
    while number < len(lines):
        line = lines[number]
        if re.match(r"namespace (phyllo::inline PHYLLO_ISA::)?detail\b", line):
            depth_of_detail = 1
        elif re.match(r"}  // namespace (phyllo::inline PHYLLO_ISA::)?detail\b", line):
            depth_of_detail = 0
        if not line.startswith(("///", "template <", "struct ", "class ", "using ", "inline ", "enum class ")):
            if not line.strip():
                shared = None
            # Docstrings of members are checked, not listed.
            if re.match(r"\s+///", line):
                begin = number
                while re.match(r"\s+///", lines[number]):
                    number += 1
                read_docstring([re.sub(r"\s+///", "", x) for x in lines[begin:number]],
                               (f"include/{name}", begin + 1), problems)
                continue
            number += 1
            continue
        begin = number
        docstring = None
        while lines[number].startswith("///"):
            number += 1
        if number > begin:
            docstring = read_docstring([x[3:] for x in lines[begin:number]], (f"include/{name}", begin + 1), problems)
        declaration_begin = number
        declaration = ""
        while number < len(lines):
            declaration += " " + re.sub(r"//.*", "", lines[number]).strip()
            if re.search(r"[;{]", re.sub(r"//.*", "", lines[number])):
                break
            number += 1
        declaration = " ".join(declaration.split())
        number += 1
        found = re.search(r"^(?:template <.*?> (?:requires ?\(.*?\) )?)?(?:struct|class|enum class) (\w+)(<)?", declaration)
        alias = re.match(r"^(?:template <.*?> )?using (\w+) = ", declaration)
        function = re.match(r"^inline Schedule (\w+_schedule)\(", declaration)
        match = found or alias or function
        if not match or (found and found[2]) or depth_of_detail or "operator" in declaration.split("struct")[0]:
            shared = None
            continue
        entry = Type(match[1], name, declaration_begin + 1, declaration)
        if docstring:
            shared = docstring
        if docstring or shared:
            entry.text, entry.keys = docstring or shared
            entry.keys = dict(entry.keys)
            entry.has_docstring = True
        if found:
            if declaration.endswith(";"):
                if not docstring and "{" not in declaration:
                    continue  # declared only
            body_begin = number
            if not re.search(r"\{\s*\};?$|;$", declaration):
                while number < len(lines) and not lines[number].startswith("};"):
                    number += 1
            body = lines[body_begin:number]
            base = re.search(r"\) ?: |[\w>] : (?:public )?([\w:]+)", declaration)
            entry.base = (base[1] or "").split("::")[-1] if base else ""
            text = "\n".join(body)
            entry.roles = re.findall(r"Role::(\w+)", " ".join(re.findall(r"Role role =[^;]*;", text)))
            entry.is_rule = bool(re.search(r"static constexpr int states = \d", text))
            entry.members = data_members(body)
            entry.declaration = re.sub(r"\s*\{.*$", "", declaration)
        else:
            entry.declaration = re.sub(r"\s*\{.*$", "", declaration).rstrip(";")
            if alias:
                target = re.search(r"using \w+ = (?:typename )?([\w:]+)", declaration)
                entry.base = target[1].split("::")[-1]
        types.setdefault(entry.name, entry)


def read_types(root, problems):
    types = {}
    include = root / "include" / "phyllo"
    patterns = [f"{folder}/*" for folder in COMPLETE] + OTHERS
    listed = sorted({path for pattern in patterns for path in include.glob(pattern + ".hpp")})
    for path in listed:
        read_header(path, root, types, problems)
    # Docstrings of all other headers have the same keys in the same order.
    for path in sorted(set(include.rglob("*.hpp")) - set(listed)):
        read_header(path, root, {}, problems)
    return types


def read_catalogue(root):
    """[(section, [(name, torch)])] of docs/reference.tsv."""
    sections = []
    for line in (root / "docs" / "reference.tsv").read_text().splitlines():
        if line.startswith("## "):
            sections.append((line[3:].strip(), []))
        elif line.strip() and not line.startswith("#"):
            name, _, torch = line.partition("\t")
            if not torch.strip():
                raise Mistake(f"docs/reference.tsv: {name} needs a tab and PyTorch's name, or -.")
            sections[-1][1].append((name, torch.strip()))
    return sections


def read_kernels(root):
    """The backends, by folder, that have kernels of each op, and the ops of each role."""
    backends = {}
    for folder, _ in BACKENDS:
        for path in (root / "include" / "phyllo" / "backend" / folder).rglob("*.hpp"):
            text = re.sub(r"requires Chain::random\nstruct Kernels.*", "", path.read_text())  # of few layers
            for op in re.findall(r"struct Kernels<(?:\w+, )*op::(\w+)", text):
                backends.setdefault(op, set()).add(folder)
    ops = {}
    for path in (root / "include" / "phyllo" / "kind").glob("*.hpp"):
        text = path.read_text()
        for role in re.findall(r"struct Kind<Role::(\w+)>", text):
            ops[role] = re.findall(r"\bOp =\s*op::(\w+)", text)
    ops["product"] = ["Attention"]
    return backends, ops


def ancestors(entry, types):
    seen = []
    while entry.base in types and entry.base not in seen:
        seen.append(entry.base)
        entry = types[entry.base]
    return [types[name] for name in seen]


def key_of(entry, key, types, depth=0):
    """A key's text: the type's own, or its ancestor's; `as X` and `those of X` with the text of X."""
    text = entry.keys.get(key)
    if text is None:
        for ancestor in ancestors(entry, types):
            if key in ancestor.keys and ancestor.name not in ("Pointwise", "Map"):
                return key_of(ancestor, key, types, depth)
        return None
    if depth > 4:
        raise Mistake(f"{entry.header}: key {key} of {entry.name} refers to itself.")
    match = re.match(r"((?:compile|run): )?as (\w+)(?=$|[;,. ])", text)
    if match and match[2] in types and match[2] != entry.name:
        other = key_of(types[match[2]], key, types, depth + 1)
        if other and other != "none":
            rest = text[match.end():]
            return (f"{match[1] or ''}{other}" if not other.startswith(("compile:", "run:")) else other) + rest
    if key == "options":
        parts = [part.strip() for part in text.split(" · ")]
        result = []
        for part in parts:
            match = re.match(r"those of (\w+)", part)
            base = types.get(match[1]) if match else None
            inherited = key_of(base, key, types, depth + 1) if base else None
            if not inherited or part != f"those of {match[1]}":
                result.append(part)
                continue
            own = {re.match(r"\w+", p)[0] for p in parts if re.match(r"\w+", p)}
            result += [p.strip() for p in inherited.split(" · ")
                       if not re.match(r"\w+", p.strip()) or re.match(r"\w+", p.strip())[0] not in own]
        text = " · ".join(result)
    return text


def kernels_of(entry, types, backends, ops):
    if entry.name in NO_FORMULA:
        return None
    names = []
    for one in [entry] + ancestors(entry, types):
        if one.name in OPS:
            names = OPS[one.name]
        elif one.roles and "row" not in one.roles:
            names = [op for role in one.roles for op in ops.get(role, [])]
        if names:
            break
    if not names:
        if "loss/" in entry.header and entry.members is not None and "row" not in entry.roles:
            names = ["Loss"]
        else:
            return None
    if names == ["Pointwise"]:
        alone = "`openmp`, `portable`" if entry.header.endswith("/dropout.hpp") else "`portable`"
        return "those of the layer in front, which apply it to their result; alone " + alone
    texts = []
    for op in names:
        if op not in backends:
            raise Mistake(f"{entry.header}: no backend has kernels of op {op} of {entry.name}.")
        has = [text for folder, text in BACKENDS if folder in backends[op]]
        texts.append((op, ", ".join(has)))
    if len({text for _, text in texts}) == 1:
        return texts[0][1]
    return "; ".join(f"{re.sub(r'(?<!^)([A-Z])', lambda m: ' ' + m[1].lower(), op).lower()}: {text}" for op, text in texts)


TORCH = re.compile(r"torch\.[\w.]+\w(?:\((?:[^()]|\([^()]*\))*\))?(?:\.\w+\(\))?")


def escape(text):
    """Prose of a docstring as Markdown: what is code between backticks stays."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([<>|*_\[\]#~])", r"\\\1", parts[i])
    return "`".join(parts)


def torch_text(torch):
    if torch == "-":
        return "none"
    text, at = "", 0
    for match in TORCH.finditer(torch):
        text += escape(torch[at:match.start()]) + f"`{match[0]}`"
        at = match.end()
    text += escape(torch[at:])
    if torch.startswith("x["):
        text = f"`{torch}`"
    return text.replace("; ", ", ")


def signature(entry):
    text = entry.declaration
    if re.search(r"\busing (\w+) =", text):
        return text
    text = re.sub(r" : (?:public )?.*$", "", text)
    text = re.sub(r"^inline ", "", text)
    return text.strip()


def stem(name):
    return name[:-2] if re.search(r"[123]d$", name) else name


def same_in_ranks(text):
    """The text of a layer of one rank as that of all."""
    return re.sub(r"in ([123]|Rank) spatial dimensions?", "in 1, 2 or 3 spatial dimensions", text)


def entry_lines(group, torches, section, types, backends, ops):
    """One part of the page: a type, or the same in 1, 2 and 3 dimensions."""
    first = group[0]
    lines = ["### " + ", ".join(f"`{entry.name}`" for entry in group), ""]
    texts = []
    for entry in group:
        text = same_in_ranks(entry.text)
        text = re.sub(r"[;,] (?:rule|options|state)(?:, \w+)* and \w+ as \w+'s(?=\.)", "", text)
        if text not in texts:
            texts.append(text)
    parents = [a for a in ancestors(first, types) if a.name not in ("Pointwise", "Map") and a.text]
    lines += [escape(text) for text in texts]
    for parent in parents[:1]:
        if FORMULA.search(parent.text) and not FORMULA.search(texts[0]):
            lines.append(escape(same_in_ranks(re.sub(r" Write [^.]*\.", "", parent.text))))
    lines += ["", "| | |", "|---|---|"]
    declarations = "<br>".join(f"`{signature(entry)}`" for entry in group).replace("|", "\\|")
    lines.append(f"| declared | {declarations}<br>[{first.header}](../include/{first.header}) |")
    for key in KEYS:
        values = []
        for entry in group:
            # What is wrong and where it is from is more at the base of several ranks.
            of = parents[0] if len(group) > 1 and parents and key in ("errors", "source") else entry
            value = key_of(of, key, types)
            if value and value not in values:
                values.append(value)
        if key == "options":
            members = [f"{name} = {value}" if value else name for name, value in first.members
                       if name not in ("best", "waited", "resting")]
            if members and section in ("Losses", "Update rules", "Initial weights", "Gradients and weights in training"):
                lines.append(f"| defaults | {' · '.join(f'`{member}`' for member in members)} |")
        if key == "state" and not values and section not in ("Options of layers", "Schedules", "Initial weights"):
            values = ["none"]
        if values:
            lines.append(f"| {key} | {'<br>'.join(escape(value) for value in values)} |")
    kernels = None if section in NO_KERNELS else kernels_of(first, types, backends, ops)
    if kernels:
        lines.append(f"| kernels | {kernels} |")
    torch = []
    for one in torches:
        if torch_text(one) not in torch:
            torch.append(torch_text(one))
    if section != "Options of layers":
        lines.append(f"| PyTorch | {', '.join(torch)} |")
    lines.append("")
    return lines


HEAD = """# Reference of layers, losses, update rules and schedules

Written by `docs/make_reference.py` from the docstrings in `include/phyllo`. Do not edit this page: change a docstring and run the
script.

Shapes are channels first: N samples, C channels, S... spatial extents, T positions of a sequence. Text between `<` and `>` is
a template argument. "Declared" is the declaration with its defaults and the header; "state" are trained parameters, buffers or what
an update rule keeps.

"Kernels" lists the backends that have kernels of a layer's operation, in the order in which they are asked. `openmp` is the backend of
processors, with vector registers. `cuda` and `hip` use matrix cores, not in `double`. `onednn`, `cublaslt` and `hipblaslt` are
components for wide layers, in `float` and bfloat16 (`onednn`) or in 16 bits; `kokkos_kernels` is one for
devices, in `double`, and for sparse matrices. `portable` is Kokkos alone, on every execution space.
Pointwise layers, and many others, are fused with their neighbours: [30_fusion.md](30_fusion.md). "PyTorch" is the function or class
that computes the same.
"""


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page_of(types, catalogue, backends, ops):
    lines = HEAD.strip().split("\n") + [""]
    lines += ["| section | names |", "|---|---|"]
    for section, names in catalogue:
        lines.append(f"| [{section}](#{anchor(section)}) | {', '.join(f'`{name}`' for name, _ in names)} |")
    lines.append("")
    for section, names in catalogue:
        lines += [f"## {section}", ""]
        if section in ("Options of layers", "Layers that others consist of"):
            lines += ["| name | meaning | header |", "|---|---|---|"]
            for name, torch in names:
                entry = types[name]
                part = f" {torch[0].upper()}{torch[1:]}." if torch.startswith("part of") else ""
                text = entry.text
                if section == "Options of layers" and "options" in entry.keys:
                    for item in entry.keys["options"].split(" · "):
                        if item.startswith(name + ":"):
                            text = item[len(name) + 1:].strip()
                            text = text[0].upper() + text[1:] + "."
                if part and "part of" in text.lower():
                    part = ""
                lines.append(f"| `{signature(entry)}` | {escape(' '.join(text.split()))}{part} | "
                             f"[{entry.header}](../include/{entry.header}) |")
            lines.append("")
            continue
        i = 0
        while i < len(names):
            j = i + 1
            if stem(names[i][0]) != names[i][0]:
                while j < len(names) and stem(names[j][0]) == stem(names[i][0]):
                    j += 1
            group = [types[name] for name, _ in names[i:j]]
            lines += entry_lines(group, [torch for _, torch in names[i:j]], section, types, backends, ops)
            i = j
    return "\n".join(lines).rstrip() + "\n"


def check_types(types, catalogue, root, problems):
    listed = {}
    for section, names in catalogue:
        for name, _ in names:
            if name in listed:
                problems.append(f"docs/reference.tsv: {name} is listed twice.")
            if name not in types:
                problems.append(f"docs/reference.tsv: no header declares {name}. Remove the line, or rename it.")
            listed[name] = section
    for entry in types.values():
        folder = entry.header.split("/")[1]
        is_public = folder in COMPLETE or entry.is_rule or entry.name.endswith("_schedule")
        is_public = is_public or (folder == "model" and "deviation" in str(entry.members) + str(entry.name))
        if is_public and entry.name not in listed and entry.name not in INTERNAL:
            problems.append(f"include/{entry.header}:{entry.line}: {entry.name} is not in docs/reference.tsv. Add a line with "
                            "PyTorch's name, or -.")
    # fwd.hpp lists what users write.
    section = ""
    for line in (root / "include/phyllo/fwd.hpp").read_text().splitlines():
        match = re.match(r"// (\w+)", line)
        section = match[1] if match else section
        match = re.search(r"^(?:template <.*> )?(?:struct|class) (\w+);", line)
        if match and section in COMPLETE and match[1] not in listed:
            problems.append(f"include/phyllo/fwd.hpp: {match[1]} is not in docs/reference.tsv.")
    for name, section in listed.items():
        entry = types.get(name)
        if not entry:
            continue
        where = f"include/{entry.header}:{entry.line}"
        if not entry.text:
            problems.append(f"{where}: {name} has no docstring.")
            continue
        for key in REQUIRED.get(section, REQUIRED_OF_LAYERS):
            if not key_of(entry, key, types):
                problems.append(f"{where}: the docstring of {name} has no key {key}.")
        if section not in WITHOUT_FORMULA and section not in ("Inputs and outputs",):
            texts = [entry.text] + [a.text for a in ancestors(entry, types) if a.name not in ("Pointwise", "Map")]
            if not any(FORMULA.search(text) for text in texts) and name not in NO_FORMULA:
                problems.append(f"{where}: the first paragraph of the docstring of {name} has no formula.")


# In the folders of layers, but no layer that users write.
INTERNAL = ["LossTerms", "LossAt", "LossesAt", "LossSet"]
# Bases and compositions, whose parts have formulas.
NO_FORMULA = ["NoTargets", "On", "Losses", "Schedule"]


def check_torch(catalogue):
    try:
        import torch
    except ImportError:
        print("there is no PyTorch here")
        return 77

    def resolve(node):
        if isinstance(node, ast.Name) and node.id == "torch":
            return torch
        if isinstance(node, ast.Attribute):
            return getattr(resolve(node.value), node.attr)
        if isinstance(node, ast.Call):
            function = resolve(node.func)
            try:
                parameters = inspect.signature(function)
            except ValueError:
                return function  # of C++
            parameters.bind_partial(*node.args, **{word.arg: None for word in node.keywords})
            return function
        raise Mistake(f"not a name: {ast.dump(node)}")

    wrong, count = [], 0
    for _, names in catalogue:
        for name, text in names:
            for match in TORCH.finditer(text):
                count += 1
                try:
                    resolve(ast.parse(match[0], mode="eval").body)
                except (AttributeError, TypeError, SyntaxError, Mistake) as error:
                    wrong.append(f"{name}: {match[0]}: {error}")
    print("\n".join(wrong) or f"PyTorch {torch.__version__} has all {count} names")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    root = arguments.root
    catalogue = read_catalogue(root)
    if arguments.torch:
        return check_torch(catalogue)
    problems = []
    types = read_types(root, problems)
    check_types(types, catalogue, root, problems)
    if problems:
        print("\n".join(problems))
        return 1
    page = page_of(types, catalogue, *read_kernels(root))
    path = root / "docs" / "reference.md"
    if not arguments.check:
        path.write_text(page)
    elif not path.exists() or path.read_text() != page:
        print("docs/reference.md is not what the docstrings say. Run docs/make_reference.py.")
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Mistake as mistake:
        sys.exit(str(mistake))
