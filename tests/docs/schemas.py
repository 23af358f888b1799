#!/usr/bin/env python3
"""Validates JSON that bankcheck writes, and recorded results, with the schemas in docs/schemas; exit code 1 and a line for
each fault.

    tests/docs/schemas.py BANKCHECK

The schemas use a part of JSON Schema, which this file implements; a keyword that it does not know is a fault, too.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf"}
KNOWN |= {"required", "properties", "additionalProperties", "items"}


def is_of(value, name: str) -> bool:
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema: dict, root: dict, where: str = "") -> list:
    """What of the value is not as the schema says."""
    if schema.keys() - KNOWN:
        return [f"{where}: the schema has {sorted(schema.keys() - KNOWN)}"]
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    if "anyOf" in schema:
        all_faults = [faults(value, choice, root, where) for choice in schema["anyOf"]]
        return [] if [] in all_faults else max(all_faults, key=lambda found: found[0].count("."))
    names = schema.get("type", [])
    if names and not any(is_of(value, name) for name in ([names] if isinstance(names, str) else names)):
        return [f"{where}: {json.dumps(value)[:40]} is no {names}"]
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return [f"{where}: unexpected {json.dumps(value)[:40]}"]
    found = []
    if isinstance(value, dict):
        found += [f"{where}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, part in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if inner is None and "properties" in schema:
                found.append(f"{where}: {key} is not in the schema")
            elif isinstance(inner, dict):
                found += faults(part, inner, root, f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for i, part in enumerate(value):
            found += faults(part, schema["items"], root, f"{where}[{i}]")
    return found


def checked(name: str, text: str, schema: dict) -> list:
    return [f"{name}{fault}" for fault in faults(json.loads(text), schema, schema)]


def recorded() -> list:
    """The name, the schema and the text of recorded results; a file of several runs gives several."""
    found = []
    for path in sorted(ROOT.glob("docs/results/*/*.json")):
        content = json.loads(path.read_text())
        schema = "ranks" if "ranks" in path.name else "case_study"
        if "schema_version" in content:
            runs = content.get("runs", [content])
            found += [(path.name, schema, json.dumps(run)) for run in runs]
    return found + [(str(path), "study", path.read_text()) for path in sorted(ROOT.glob("*/study.json"))]


def written(bankcheck: str) -> list:
    """The same for what bankcheck writes."""
    matmul = str(ROOT / "docs/tutorial/matmul.cu")
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/trace.jsonl"
        commands = {
            ("report", "emulate"): ["emulate", "--fit", "--json", "-", "--trace", trace, matmul],
            ("report", "report"): ["report", "--arch", "sm_90,gfx1100", "--json", "-", trace],
            ("predict", "predict"): ["predict", "--json", "--index", "32*tid"],
            ("predict", "a range"): ["predict", "--json", "--arch", "sm_13", "--index", "tid / 2"],
            ("predict", "global"): ["predict", "--json", "--space", "global", "--index", "32*tid"],
            ("layout", "layout"): ["layout", "--json", "Swizzle<3,3,3> o (8,64):(64,1)", "--type", "half"],
            ("archs", "archs"): ["archs", "--json"],
        }
        found = []
        for (schema, name), words in commands.items():
            run = subprocess.run([bankcheck, *words], stdout=subprocess.PIPE, text=True, check=False)
            found.append((f"bankcheck {name}", schema, run.stdout))
        return found + of_trace(bankcheck, Path(trace))


def of_trace(bankcheck: str, trace: Path) -> list:
    """The lines of a trace and its report, if it has its end and can be read."""
    command = [bankcheck, "report", "--fit", "--arch", "sm_90", "--json", "-", trace]
    report = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    text = trace.read_text(errors="replace")
    lines = [line for line in text.splitlines() if line] if report and '"record":"end"' in text else []
    return [(f"{trace.name}:{number}", "trace", line) for number, line in enumerate(lines, 1)] + [
        (f"report of {trace.name}", "report", text) for text in [report] if text
    ]


def controls(schema: dict, text: str) -> list:
    """Changes that must be found, in one good document."""
    without, another, more = (json.loads(text) for _ in range(3))
    del without["kernels"][0]["architectures"][0]["conflicts"]
    another["kernels"][0]["architectures"][0]["lines"][0]["line"] = "18"
    more["kernels"][0]["architectures"][0]["lines"][0]["colour"] = "red"
    return [what for what, bad in (("missing", without), ("type", another), ("new", more)) if not checked("", json.dumps(bad), schema)]


def main() -> int:
    schemas = {path.stem: json.loads(path.read_text()) for path in ROOT.glob("docs/schemas/*.json")}
    corpus = [document for path in sorted(ROOT.glob("tests/fuzz/corpus/trace/*")) for document in of_trace(sys.argv[1], path)]
    documents = [*written(sys.argv[1]), *corpus, *recorded()]
    wrong = [fault for name, schema, text in documents for fault in checked(name, text, schemas[schema])]
    wrong += [f"a change was not found: {what}" for what in controls(schemas["report"], documents[0][2])]
    wrong += [f"no document for the schema {name}" for name in schemas if name not in {schema for _, schema, _ in documents}]
    print("\n".join(wrong[:40]) or f"{len(documents)} documents are good")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
