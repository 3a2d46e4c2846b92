"""Writes special_cases.json: the special cases of the Array API standard for real-valued operands, a condition and a result each.

    python3 special_cases.py array-api/src/array_api_stubs/_2025_12/elementwise_functions.py > ../special_cases.json

The file is that of https://github.com/data-apis/array-api (MIT licence).
"""

import json
import re
import sys


def plain(text):
    """Without quotes, explanations in parentheses and the standard's index."""
    text = re.sub(r" \(.*?\)", "", text.replace("``", ""))
    return text.replace("_i", "").strip()


def rows(body):
    kind = "real"
    for line in map(str.strip, body.split("\n")):
        if line.startswith("For ") and line.endswith((",", "and")):
            kind = "complex" if "complex" in line.split(",")[0] else "real"
        sentence = re.match(r"- If (.*?), the (.*?)\.?( \(.*)?$", line)
        if sentence and kind == "real":
            yield {"when": plain(sentence[1]), "then": plain("the " + sentence[2])}


functions = {}
for body in re.split(r"\ndef ", open(sys.argv[1]).read())[1:]:
    functions[re.match(r"\w+", body)[0]] = list(rows(body))
json.dump({name: found for name, found in functions.items() if found}, sys.stdout, indent=1, ensure_ascii=False)
print()
