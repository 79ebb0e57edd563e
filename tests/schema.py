#!/usr/bin/env python3
"""Check JSON lines on standard input against policy/schema/TYPE.json, where TYPE is each line's "type".

usage: schema.py [--last TYPE] [--expect TYPE]...

Fails (1) on a line that is not strict JSON, that has no schema, or that does not fit it; on no line at all; when
the last line is not of the type given; when a type expected did not come.  A schema that uses a keyword this
checker does not know fails too, so that nothing is believed checked which is not.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DIRS = [os.environ.get("KZ_SCHEMA", ""), os.path.join(HERE, "..", "policy", "schema"), os.path.join(HERE, "schema")]
TYPES = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "integer": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "number": lambda x: isinstance(x, (int, float)) and not isinstance(x, bool),
    "boolean": lambda x: isinstance(x, bool),
    "null": lambda x: x is None,
}
WORDS = {"$schema", "title", "description"}


class Bad(Exception):
    pass


def same(a, b):
    return type(a) is type(b) and a == b


def check(x, s, at):
    if s is True:
        return
    for word, arg in s.items():
        if word in WORDS:
            continue
        rule = globals().get("on_" + word)
        if rule is None:
            raise Bad(f"{at}: the schema uses {word}, which this checker does not know")
        rule(x, arg, at, s)


def on_type(x, arg, at, s):
    names = arg if isinstance(arg, list) else [arg]
    if not any(TYPES[n](x) for n in names):
        raise Bad(f"{at}: {json.dumps(x)[:80]} is not {' or '.join(names)}")


def on_const(x, arg, at, s):
    if not same(x, arg):
        raise Bad(f"{at}: {json.dumps(x)[:80]} is not {json.dumps(arg)}")


def on_enum(x, arg, at, s):
    if not any(same(x, a) for a in arg):
        raise Bad(f"{at}: {json.dumps(x)[:80]} is none of {json.dumps(arg)}")


def on_required(x, arg, at, s):
    for name in arg if isinstance(x, dict) else []:
        if name not in x:
            raise Bad(f"{at}: {name} is missing")


def on_properties(x, arg, at, s):
    for name, sub in arg.items() if isinstance(x, dict) else []:
        if name in x:
            check(x[name], sub, f"{at}.{name}")


def on_additionalProperties(x, arg, at, s):
    for name in x if isinstance(x, dict) else []:
        if name in s.get("properties", {}):
            continue
        if arg is False:
            raise Bad(f"{at}: {name} is not in the schema")
        check(x[name], arg, f"{at}.{name}")


def on_items(x, arg, at, s):
    for i, item in enumerate(x if isinstance(x, list) else []):
        check(item, arg, f"{at}[{i}]")


def on_pattern(x, arg, at, s):
    if isinstance(x, str) and not re.search(arg, x):
        raise Bad(f"{at}: {json.dumps(x)[:80]} does not match {arg}")


def on_maxItems(x, arg, at, s):
    if isinstance(x, list) and len(x) > arg:
        raise Bad(f"{at}: {len(x)} elements are more than {arg}")


def on_minLength(x, arg, at, s):
    if isinstance(x, str) and len(x) < arg:
        raise Bad(f"{at}: shorter than {arg}")


def on_maxLength(x, arg, at, s):
    if isinstance(x, str) and len(x) > arg:
        raise Bad(f"{at}: longer than {arg}")


def on_minimum(x, arg, at, s):
    if TYPES["number"](x) and x < arg:
        raise Bad(f"{at}: {x} is less than {arg}")


def on_maximum(x, arg, at, s):
    if TYPES["number"](x) and x > arg:
        raise Bad(f"{at}: {x} is more than {arg}")


def fits(x, s, at):
    try:
        check(x, s, at)
    except Bad:
        return False
    return True


def on_oneOf(x, arg, at, s):
    n = sum(fits(x, a, at) for a in arg)
    if n != 1:
        raise Bad(f"{at}: fits {n} of the forms, not one")


def on_anyOf(x, arg, at, s):
    if not any(fits(x, a, at) for a in arg):
        raise Bad(f"{at}: fits none of the forms")


def on_ref(x, arg, at, s):
    if not arg.endswith(".json"):
        raise Bad(f"{at}: the schema points at {arg}, which is no schema beside it")
    check(x, schema(arg[:-5]), at)


globals()["on_$ref"] = on_ref


def unique(pairs):
    d = dict(pairs)
    if len(d) != len(pairs):
        raise Bad("a name stands twice in one object")
    return d


def no_constant(name):
    raise Bad(f"{name} is not JSON")


def schema(kind):
    if not isinstance(kind, str) or not re.fullmatch("[a-z][a-z0-9_]*", kind):
        raise Bad(f"type {json.dumps(kind)} is not a name")
    for d in DIRS:
        path = os.path.join(d, kind + ".json")
        if d and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return json.load(f)
    raise Bad(f"there is no schema for type {kind}")


def main(args):
    want, last_want, seen, last = [], None, set(), None
    while args:
        word, value, args = args[0], args[1], args[2:]
        if word == "--last":
            last_want = value
        elif word == "--expect":
            want.append(value)
        else:
            raise SystemExit(__doc__)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            text = line.decode("utf-8")
            if not text.endswith("\n"):
                raise Bad("the line has no end")
            x = json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
            if not isinstance(x, dict) or next(iter(x), "") != "v" or list(x)[1:2] != ["type"]:
                raise Bad("not an object that begins with v and type")
            check(x, schema(x["type"]), x["type"])
        except (Bad, ValueError) as e:
            print(f"line {number}: {e}: {line[:200]!r}", file=sys.stderr)
            return 1
        last = x["type"]
        seen.add(last)
    if last is None:
        print("no line came", file=sys.stderr)
        return 1
    if last_want and last != last_want:
        print(f"the last line is {last}, not {last_want}", file=sys.stderr)
        return 1
    for kind in want:
        if kind not in seen:
            print(f"no line of type {kind} came", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
