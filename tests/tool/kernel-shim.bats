#!/usr/bin/env bats
# The shims of persistent kernels alone: a fresh interpreter each cell, without a worker around it.
# shellcheck disable=SC2154 # run sets the variables
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	space=$BATS_TEST_TMPDIR/space
	mkdir "$space"
}

# cells LANGUAGE [CONFIG] <<CELLS: answers in $BATS_TEST_TMPDIR/said, one line a cell.
cells() {
	tests/tool/cells.py "$1" "$space" "${2:-{\}}" >"$BATS_TEST_TMPDIR/said"
}

# said N FILTER: of cell N, from 1.
said() {
	sed -n "$1p" "$BATS_TEST_TMPDIR/said" | jq -r "$2"
}

# is N FILTER VALUE
is() {
	local got
	got=$(said "$1" "$2")
	[ "$got" = "$3" ] || {
		echo "cell $1: $2 is: $got" >&2
		said "$1" . >&2
		return 1
	}
}

lost='[.report.lost[].name] | join(" ")'

@test "KRN-2 KRN-3 KRN-6 values, aliases and nested aliases go to the next interpreter" {
	cells python <<'CELLS'
import datetime, decimal, pathlib, re, collections
l = [1, 'zwei', 3.5, None, b'\0', {'k': (1, 2)}, {3}, 1j, True]
alias = l
holder = {'in': l}
things = [datetime.date(2024, 2, 29), decimal.Decimal('1.10'), pathlib.Path('a/b'), re.compile('x+'), collections.Counter('aab'), collections.deque([1], 3)]
it = iter([1, 2, 3]); next(it)
circle = []; circle.append(circle)
%%
alias.append('more')
print(l, alias is l, holder['in'] is l, things, next(it), circle[0] is circle, sep='|')
CELLS
	is 2 .out "[1, 'zwei', 3.5, None, b'\\x00', {'k': (1, 2)}, {3}, 1j, True, 'more']|True|True|[datetime.date(2024, 2, 29), Decimal('1.10'), PosixPath('a/b'), re.compile('x+'), Counter({'a': 2, 'b': 1}), deque([1], maxlen=3)]|2|True"
	is 2 .report.status saved
	is 2 .report.generation 2
	is 1 "$lost" ""
}

@test "KRN-3 functions are source: they read the live global, keep defaults, attributes and closures, and run nothing" {
	cells python <<'CELLS'
print('made')
k = 1
def reads(x, seen=[]):
    seen.append(x)
    return x + k, len(seen)
reads.note = 'n'
def counter(n):
    c = 0
    def up():
        nonlocal c
        c += n
        return c
    def now(): return c
    return up, now
up, now = counter(3)
up()
square = lambda v: v * v
table = {'a': lambda x: x + 1, 'b': lambda x: x * 2}
reads(1)
def stamp(t=print('evaluated once')): return 's'
def logged(f):
    print('decorating')
    def inner(*a): return ('logged', f(*a))
    return inner
@logged
def add(a, b): return a + b
async def waits(): return 'waited'
%%
k = 10
print(reads(5), reads.note, up(), now(), square(4), table['a'](1), table['b'](4), stamp(), add(1, 2), up.__qualname__)
%%
print(now(), up(), now(), counter(2)[0]())
await waits()
CELLS
	is 1 .out $'made\nevaluated once\ndecorating'
	is 2 .out "(15, 2) n 6 6 16 2 8 s ('logged', 3) counter.<locals>.up"
	is 3 .out $'6 9 9 2\n'"'waited'"
}

@test "KRN-3 functions and classes come back though a text above them has what other programs end lines at" {
	# U+2028, vertical tab, form feed
	printf 's = "a\xe2\x80\xa8b\x0bc"  # \x0c\ndef f():\n\treturn 1\ng = lambda: 2\nclass K:\n\tx = f\n%%%%\nt = "\xe2\x80\xa8"\n(f(), g(), K.x())\n' |
		cells python
	is 1 "$lost" ''
	is 2 .out '(1, 2, 1)'
}

@test "KRN-3 classes keep their identity: instances, subclasses, enums, dataclasses, named tuples, class attributes" {
	cells python <<'CELLS'
import dataclasses, enum, typing
from collections import namedtuple
from dataclasses import dataclass, field
class Base:
    made = 0
    limit = int('7')
    def __init__(self): Base.made += 1
    @property
    def twice(self): return self.limit * 2
    class Inner: pass
class Sub(Base):
    def hi(self): return super().twice
@dataclass
class Point:
    x: int
    tags: list = field(default_factory=list)
class Color(enum.Enum):
    RED = 1
T = typing.TypeVar('T')
class Box(typing.Generic[T]):
    def __init__(self, v): self.v = v
class Slots:
    __slots__ = ('me',)
Pair = namedtuple('Pair', 'a b')
s, p, red, pair, box, inner = Sub(), Point(1), Color.RED, Pair(1, 2), Box(3), Base.Inner()
slots = Slots(); slots.me = slots
kinds = [Point, Color]
Base.later = lambda self: 'later'
old = Base
class Base: pass
%%
print(isinstance(s, old), isinstance(s, Base), s.hi(), old.made, s.later(), type(inner) is old.Inner, p == Point(1), Point(2).tags, red is Color.RED, kinds[1] is Color, pair._replace(a=5), isinstance(pair, Pair), box.v, slots.me is slots)
CELLS
	is 2 .out $'True False 14 1 later True True [] True True Pair(a=5, b=2) True 3 True'
	is 1 "$lost" ""
}

@test "KRN-3 KRN-7 what cannot be kept is told by name and reason, and holds nothing else up" {
	API_TOKEN=sk-1234567890 MODE=deterministic cells python <<'CELLS'
import os, socket, sqlite3, subprocess, sys, threading
keep = 1
gen = (i for i in [1])
f = open('/dev/null')
sock = socket.socket()
lock = threading.Lock()
thread = threading.Thread(target=print)
db = sqlite3.connect(':memory:')
proc = subprocess.Popen(['true'], stdout=subprocess.PIPE); proc.wait()
env = os.environ
copied = dict(os.environ)
header = 'Bearer ' + os.environ['API_TOKEN']
nested = {'deep': [lock]}
modules = sys.modules
view = memoryview(b'x')
deep = []
for _ in range(30000): deep = [deep]
class Loud: print('side effect')
loud = Loud()
class Plain:
    x = 1
exec('def made(): pass')
uses = lambda: 1
uses.lock = lock
frame = sys._getframe()
%%
print(keep, Plain.x)
print('x'); made()
CELLS
	is 1 .out "side effect"
	is 1 "$lost" "gen f sock lock thread db proc env copied header nested modules view deep Loud loud made uses frame"
	is 1 '.report.lost[] | select(.name == "gen") | .reason' "a generator cannot be saved"
	is 1 '.report.lost[] | select(.name == "f") | .reason' "an open file is not saved"
	is 1 '.report.lost[] | select(.name == "header") | .reason' "it holds a value of the environment"
	is 1 '.report.lost[] | select(.name == "deep") | .reason' "it is nested too deeply"
	is 2 .out $'1 1\nx'
	said 2 .err | grep -qx 'kernel: made was not kept after its cell: function made: it was not defined in the text of a cell'
	run ! grep -rq 'sk-1234567890' "$space"
}

@test "KRN-3 imports come back by importing: modules, aliases, submodules, names, stars, and a module that a cell wrote" {
	cells python <<'CELLS'
import xml.dom.minidom, math as m
import xml.etree.ElementTree as ET
from os import path as p, environ
from math import *
open('helper.py', 'w').write('VALUE = 5\nclass Thing:\n    n = 3\n')
import helper
from helper import Thing
t = Thing()
%%
print(xml.dom.minidom.__name__, m.pi == pi, ET.__name__, p.join('a', 'b'), 'PATH' in environ, sqrt(4), helper.VALUE, t.n, isinstance(t, Thing))
CELLS
	is 2 .out "xml.dom.minidom True xml.etree.ElementTree a/b True 2.0 5 3 True"
	is 1 "$lost" ""
}

@test "KRN-15 an exception and an exit keep what was assigned; a syntax error changes nothing; a kill leaves the cell before" {
	cells python <<'CELLS'
x = 1
%%
x = 2
1 / 0
x = 3
%%
print(x)
x = 4
import sys
sys.exit(7)
%%
x = 5
def broken(:
%%
print(x)
x = 6
import os
print(end='', flush=True)
os._exit(9)
%%
print(x)
x = 7
open('ready', 'w').close()
while True: pass # kill
%%
print(x)
x = 8
%%
print(x)
CELLS
	is 2 .status 1
	is 2 .report.generation 2
	is 3 '[.out, .status] | tojson' '["2\n",7]'
	is 4 '[.status, .report.status, .report.generation] | tojson' '[1,"kept_previous",3]'
	is 5 '[.out, .status, .report] | tojson' '["4\n",9,null]'
	is 6 '[.out, .status, .report] | tojson' '["4\n",-9,null]'
	is 7 '[.out, .report.generation] | tojson' '["4\n",4]'
	is 8 .out 8
}

@test "KRN-8 a variable over its bound is told; a state over its bound is refused whole and the one before stays" {
	cells python '{"value_bytes":100000,"total_bytes":300000}' <<'CELLS'
small, big = 'x' * 90000, 'x' * 110000
%%
a, b, c = ('%d' % i * 90000 for i in range(3))
%%
print(len(small), 'a' in globals())
CELLS
	is 1 "$lost" big
	is 2 '[.report.status, .report.reason, .report.generation] | tojson' '["refused","kernel_state_over_bound",1]'
	is 3 .out "90000 False"
}

@test "KRN-6 del forgets, reset forgets also when the cell fails, and a cell that touches nothing carries all on" {
	cells python <<'CELLS'
x, y = 1, 2
%%
del x
%%
pass
%%
print(y, 'x' in globals())
%%
import kz
kz.reset()
raise ValueError
%%
y
CELLS
	is 3 .report.restored 0
	is 4 .out "2 False"
	is 5 .report.status saved
	is 6 .status 1
}

@test "KRN-3 what does not come back now is carried on untouched and comes back later" {
	cells python <<'CELLS'
open('helper.py', 'w').write('class Thing:\n    pass\n')
import helper
t = [helper.Thing()]; u = 5
%%
import os
os.rename('helper.py', 'away')
%%
print('t' in globals(), u)
%%
import os
os.rename('away', 'helper.py')
%%
print(type(t[0]).__name__)
CELLS
	is 3 .out "False 5"
	is 3 '[.report.restore_lost[].name] | sort | tojson' '["helper","t"]'
	is 5 .out Thing
}

@test "KRN-3 a name that could not be restored says so beside its NameError, with the reason" {
	cells python <<'CELLS'
open('helper.py', 'w').write('class Thing:\n    pass\n')
import helper
t = [helper.Thing()]
%%
open('helper.py', 'w').write('class Other:\n    pass\n')
%%
t
%%
import os; os.remove('helper.py')
%%
helper.Thing
CELLS
	is 3 '.err | split("\n")[-2]' "kernel: t is kept, but could not be restored now: AttributeError: Can't get attribute 'Thing' on <module 'helper' from '$space/helper.py'>"
	is 5 '.err | split("\n")[-2]' "kernel: helper is kept, but could not be restored now: ModuleNotFoundError: No module named 'helper'"
}

@test "KRN-3 KRN-8 a large value that pickles itself as a buffer, as arrays do, is kept, and one over the bound is told so" {
	cells python '{"value_bytes": 1000000}' <<'CELLS'
import pickle
class Array:
    def __init__(self, data): self.data = data
    def __reduce_ex__(self, protocol): return Array, (pickle.PickleBuffer(self.data),)
small, large, over = Array(b'x' * 10), Array(bytearray(b'y' * 700000)), Array(b'z' * 1100000)
%%
len(small.data), len(large.data)
CELLS
	is 1 "$lost" over
	is 1 '.report.lost[0].reason' "it has more than 1000000 bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead"
	is 2 .out "(10, 700000)"
}

@test "KRN-2 KRN-3 iterators and elements of a tree that two names lead to stay one" {
	cells python <<'CELLS'
import itertools, xml.etree.ElementTree as ET
ids = itertools.count(1)
holder, rows = {'ids': ids}, iter([1, 2, 3])
same = [rows]
root = ET.fromstring('<a><b/></a>')
b = root.find('b')
%%
next(ids); next(rows)
b.set('k', 'v')
%%
next(holder['ids']), next(same[0]), ET.tostring(root), root[0] is b
CELLS
	is 3 .out "(2, 2, b'<a><b k=\"v\" /></a>', True)"
}

@test "KRN-3 what a class body computed comes back whatever it is: descriptors, functions, classes; or the class is told" {
	cells python <<'CELLS'
class Twice:
    def __set_name__(self, owner, name): self.name = '_' + name
    def __get__(self, obj, owner): return self if obj is None else getattr(obj, self.name)
    def __set__(self, obj, value): setattr(obj, self.name, 2 * value)
class Given: pass
def make(what): return what
class Has:
    x = Twice()
    f = make(lambda self: 'f')
    kind: type = make(Given)
    n = make(5)
h = Has(); h.x = 2
class Outer:
    class Inner:
        n = make(6)
o = Outer()
%%
h.x, h.f(), Has.kind is Given, h.n
%%
h.x = 3
%%
h.x, h.f(), Has.kind is Given, h.n, isinstance(Has().__class__.__dict__['x'], Twice)
CELLS
	is 1 "$lost" "Outer o"
	is 1 '.report.lost[0].reason' "Outer: its definition calls make"
	is 2 .out "(4, 'f', True, 5)"
	is 4 .out "(6, 'f', True, 5, True)"
}

@test "KRN-3 exceptions whose __init__ takes other arguments than they keep come back as they were, and it does not run again" {
	cells python <<'CELLS'
class Failed(Exception):
    def __init__(self, text, code, *, hint=None):
        print('made')
        super().__init__(f'{text} ({code})')
        self.code, self.hint = code, hint
class Worse(Failed, ValueError):
    pass
class Where(OSError):
    def __init__(self, number): super().__init__(number, 'where')
class Whence(OSError):
    def __init__(self, number, text='x'): super().__init__(number, text)
class Own(Exception):
    def __init__(self, a, b): self.a = a
    def __reduce__(self): return Own, (self.a, 2)
one, two, three, four, five = Failed('no', 3, hint=[1]), Worse('x', code=4), Where(2), Own(1, 2), KeyError('k')
six = Whence(7)
same = [one, one.hint]
%%
print(repr(one), one.code, one.hint, repr(two), two.code, isinstance(two, ValueError), repr(five), four.a, same[0] is one and same[1] is one.hint, six.args)
CELLS
	# of those that the interpreter makes in its own way only what loads is kept
	is 1 '.report.lost | map([.name, .reason]) | tojson' '[["three","Where.__init__() takes 2 positional arguments but 3 were given"]]'
	is 2 .out "Failed('no (3)') 3 [1] Worse('x (4)') 4 True KeyError('k') 1 True (7, 'x')"
	is 2 '.report.restore_lost | tojson' '[]'
}

@test "what a traceback marks in the last line of a cell is what failed, with an end of the line or without" {
	printf 'x = 1\nx / 0' | cells python
	is 1 '.err | split("\n")[2:4] | tojson' '["    x / 0","    ~~^~~"]'
}

@test "KRN-16 a state that was cut, altered or made up is told and runs on" {
	local blob
	cells python <<<'x, y = [1], [2]'
	blob=$(jq -r .blob "$space/.kz-kernel.json")
	truncate -s -1 "$space/$blob"
	cells python <<<'print("x" in globals(), "y" in globals())'
	is 1 '[(.out | rtrimstr("\n")), ([.report.restore_lost[] | .name + ": " + .reason] | join(","))] | IN(["True False", "y: its bytes are cut or altered"], ["False True", "x: its bytes are cut or altered"])' true
	cp "$space/.kz-kernel.json" "$BATS_TEST_TMPDIR/whole"
	for damage in '{' '[]' '{"v":1}' '{"v":1,"language":"python","generation":"x"}' "$(jq -c '.names.x = ["v", 99]' "$BATS_TEST_TMPDIR/whole")" \
		"$(head -c 200000 /dev/zero | tr '\0' '[')" "$(sed 's/"generation":[0-9]*/"generation":Infinity/' "$BATS_TEST_TMPDIR/whole")" \
		"$(jq -c '.generation = 1e30' "$BATS_TEST_TMPDIR/whole")" \
		"$(jq -c '.definitions = [{serial: 9, file: "<cell 1>", line: 1e30, source: "def f(): pass", state: null}]' "$BATS_TEST_TMPDIR/whole")"; do
		echo "$damage" >"$space/.kz-kernel.json"
		cells python <<<'print("runs")'
		is 1 .out runs
		is 1 .report.damaged true
	done
}

@test "the last expression is shown as in a notebook; arguments, tracebacks and threads are those of a program" {
	cells python <<'CELLS'
'shown'
%%
import sys
sys.argv[1:];
%%
def f():
    raise KeyError('k')
None
%%
f()
%%
import threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
import os
if os.fork() == 0: x = 1
else: os.wait(); x = 2
%%
x
CELLS
	is 1 .out "'shown'"
	is 2 .out ""
	is 4 .err $'Traceback (most recent call last):\n  File "<cell 3>", line 1, in <module>\n    f()\n  File "<cell 2>", line 2, in f\n    raise KeyError(\'k\')\nKeyError: \'k\''
	is 5 '.report.notes[0]' "1 thread(s) of the cell were still running; they are ended"
	is 6 .out 2
	is 6 .report.generation 3
}

@test "KRN-3 functions that call themselves, decorated ones and lambdas of a class body come back with what they hold" {
	cells python <<'CELLS'
import contextlib, functools
def fact(n): return 1 if n < 2 else n * fact(n - 1)
def fib(n, seen={}):
    def inner(m): return fib(m)
    if n not in seen: seen[n] = n if n < 2 else inner(n - 1) + inner(n - 2)
    return seen[n]
fib(5)
@functools.lru_cache(maxsize=None)
def slow(n, calls=[]):
    calls.append(n)
    return n if n < 2 else slow(n - 1)
slow(3); slow.note = ['n']
@contextlib.contextmanager
def opened(what):
    yield [what]
@functools.singledispatch
def show(x): return 'any'
@show.register
def _(x: int): return 'int'
def counted(f):
    @functools.wraps(f)
    def inner(*a):
        inner.calls += 1
        return f(*a)
    inner.calls = 0
    return inner
@counted
def twice(x): return 2 * x
twice(1)
class Table:
    ways = {'up': lambda x: x + 1}
    key = lambda self: 'key'
%%
print(fact(5), fib.__defaults__[0][5], fib(7), slow(1), slow.__wrapped__.__defaults__, slow.note, twice(4), twice.calls, Table.ways['up'](1), Table().key(), fact.__qualname__, fib.__code__.co_consts[1].co_name)
with opened('x') as x: print(x)
CELLS
	is 1 "$lost" show
	is 1 '.report.lost[0].reason' "show: what was registered for single dispatch is not saved"
	is 2 .out $'120 5 13 1 ([3, 2, 1, 1],) [\'n\'] 8 2 2 key fact inner\n[\'x\']'
}

@test "KRN-3 a class made again is nothing new: no hook of its bases runs, and one whose metaclass would is told" {
	cells python <<'CELLS'
class Plugin:
    known = {}
    def __init_subclass__(cls, tag=None, **more):
        print('hook'); Plugin.known[tag or cls.__name__] = cls; cls.tags = [tag]
class A(Plugin, tag='a'): pass
class B(A): pass
class Meta(type):
    made = []
    def __new__(m, *a): Meta.made.append(a[0]); return super().__new__(m, *a)
class WithMeta(metaclass=Meta): pass
class Named(type):
    def whoami(cls): return cls.__name__
class WithNamed(metaclass=Named): pass
%%
print(sorted(Plugin.known), Plugin.known['a'] is A, A.tags, B.__mro__[1] is A, WithNamed.whoami())
class C(A): pass
print(sorted(Plugin.known))
CELLS
	is 1 .out $'hook\nhook'
	is 1 '.report.lost | map(.name + ": " + .reason) | tojson' '["WithMeta: WithMeta: its metaclass would run again"]'
	is 2 .out $'[\'B\', \'a\'] True [\'a\'] True WithNamed\nhook\n[\'B\', \'C\', \'a\']'
}

@test "KRN-3 postponed annotations: a dataclass whose annotations name nothing that is bound, and one with class variables" {
	cells python <<'CELLS'
from __future__ import annotations
from dataclasses import dataclass, fields
from typing import ClassVar
@dataclass
class Row:
    x: Missing
    y: list[int] = None
    shared: ClassVar[int] = 5
def f(a: Missing) -> Row: return Row(a)
row = f(1)
%%
print(row, [x.name for x in fields(Row)], Row.shared, f(2), f.__annotations__)
CELLS
	is 1 "$lost" ""
	is 2 .out "Row(x=1, y=None) ['x', 'y'] 5 Row(x=2, y=None) {'a': 'Missing', 'return': 'Row'}"
}

@test "KRN-3 objects that lie, raise, exit or nest fail alone, and what is told of them is plain text" {
	cells python <<'CELLS'
class Evil:
    def __getattribute__(self, n): raise RuntimeError('no ' + n)
class Lies:
    @property
    def __class__(self): raise KeyError('x')
    def __eq__(self, o): raise TypeError
    __hash__ = None
class Reduces:
    def __init__(self, f): self.f = f
    def __reduce__(self): return self.f()
class BadText(Exception):
    def __str__(self): raise ValueError
def say(e): raise e
def again(): return Reduces, (Reduces(again),)
evil, lies = Evil(), Lies()
half = Reduces(lambda: say(ValueError('\ud800 \0 \x1b[31m')))
text, number = Reduces(lambda: say(BadText())), Reduces(lambda: 5)
out, stop, loop = Reduces(lambda: say(SystemExit(3))), Reduces(lambda: say(KeyboardInterrupt())), Reduces(again)
globals().update({5: 1, 'a b': 2, '\ud800': 3, '\0': (i for i in [])})
import sys; sys.setrecursionlimit(10**6)
deep = []
for _ in range(300000): deep = [deep]
keep = [1]
%%
print(keep, globals()['a b'], globals()['\ud800'])
class Late:
    def __setstate__(self, s): raise SystemExit(9)
    def __getstate__(self): return 1
late = Late()
%%
print(keep)
late
CELLS
	is 1 '[.status, .report.status] | tojson' '[0,"saved"]'
	is 1 "$lost" "evil lies half text number out stop loop 5 � deep"
	is 1 '.report.lost | map(select(.name == ("half", "text", "5", "deep")) | .reason) | tojson' '["� � �[31m","BadText","its name is no text","it is nested too deeply"]'
	is 2 .out "[1] 2 3"
	is 3 '[.out, .status, .report.status, .report.restore_lost[0]] | tojson' '["[1]\n",1,"saved",{"name":"late","type":"","reason":"SystemExit: 9"}]'
}

@test "KRN-2 KRN-3 what a cell does to its interpreter ends with it: builtins, limits, tracing, streams, modules" {
	cells python <<'CELLS'
import builtins, io, json, os, pickle, sys
builtins.len = None; builtins.isinstance = lambda *a: 1 / 0; builtins.type = int; builtins.sorted = None
json.dumps = json.loads = pickle.Pickler = os.write = os.open = os.close = os.fsync = os.replace = io.BytesIO = io.open = None
a = [1]
%%
import sys; sys.setrecursionlimit(60); b = a
%%
print(b is a); import sys; sys.stdout.close(); sys.stderr = None; c = 3
%%
__builtins__ = {}; __name__ = 'other'; __doc__ = 5; d = 4
%%
import sys; sys.modules.clear(); e = 5
%%
import sys; f = 6; sys.setprofile(lambda *a: 1 / 0)
%%
print(a, b is a, c, d, e, f, __name__, len(a))
globals().clear()
%%
print([k for k in globals() if k[0] != '_'])
CELLS
	is 3 .out True
	is 7 .out "[1] True 3 4 5 6 __main__ 1"
	is 8 .out "['kz']"
}

@test "KRN-7 a credential is in no state, in whatever wrapping: bytes, arrays, keys, names, sources, base64, hex, errors" {
	API_TOKEN=sk-1234567890 MODE=deterministic cells python <<'CELLS'
import base64, collections, os
tok, mode = os.environ['API_TOKEN'], os.environ['MODE']
class S(str): pass
class K: t = tok
class Tells:
    def __reduce__(self): raise ValueError(tok)
def f(t=tok): return t
def lit(): return 'sk-1234567890'
class Lit:
    def lit(self): return 'sk-1234567890'
closed = (lambda t: lambda: t)(tok)
a, b, c = tok.encode(), bytearray(tok.encode()), tok.encode('utf-16')
d, e, g = {tok: 1}, [{'h': ('Bearer ' + tok,)}], S(tok)
h, i, j = (base64.b64encode(b'u' * n + b':' + tok.encode()) for n in range(3))
k, l, m = a.hex(), collections.UserString(tok), mode.encode()
import array; n, o = array.array('u', tok), array.array('b', a)
globals()[tok] = 1
tells, kept = Tells(), tok[:5]
%%
print(kept, sorted(x for x in globals() if x[0] != '_'))
CELLS
	is 2 .out "sk-12 ['S', 'Tells', 'array', 'base64', 'collections', 'kept', 'kz', 'os']"
	is 1 '.report.lost | length' 23
	run ! grep -rqE "sk-1234567890|736b2d31|c2stMTIz|stMTIzNDU2" "$space"
	run ! grep -q 'sk-1234567890' "$BATS_TEST_TMPDIR/said"
	space=$BATS_TEST_TMPDIR/node
	mkdir "$space"
	API_TOKEN=sk-1234567890 cells node <<'CELLS'
const t = process.env.API_TOKEN; state[t] = 1; state.a = { [t]: 1 }; state.b = t; state.c = Buffer.from(t).toString('hex');
for (const n of [0, 1, 2]) state['b' + n] = [Buffer.from('u'.repeat(n) + ':' + t).toString('base64url')];
state.ok = t.slice(0, 5);
%%
Object.keys(state)
CELLS
	is 1 "$lost" "state[...] state.a[...] state.b state.c state.b0[0] state.b1[0] state.b2[0]"
	is 2 .out "[ 'ok' ]"
	run ! grep -q 'sk-1234567890' "$BATS_TEST_TMPDIR/said"
}

@test "KRN-3 names of any script last: with marks, in a compatible form; and those with two underscores around them" {
	cells python <<'CELLS'
µ = 5
𝑥 = [2]
हिन्दी = 3
café = 4
def été(): return Ωhm
Ωhm = 'unit'
__version__ = '1.2'
%%
print(µ, 𝑥, हिन्दी, café, été(), __version__)
%%
import warnings; warnings.warn('x')
CELLS
	is 2 .out "5 [2] 3 4 unit 1.2"
	is 1 "$lost" ""
	is 3 "$lost" ""
	cells python <<<"print('__warningregistry__' in globals(), __name__, 'µ:', x)"
	is 1 .out "False __main__ µ: [2]"
}

@test "KRN-8 a state far over its bound is refused with little memory more than the cell has, and one that is shared is none" {
	CELLS_UNDER="prlimit --as=400000000" cells python <<'CELLS'
for i in range(45): globals()[f'v{i}'] = bytearray(4000000)
%%
held = [bytearray(4000000)]
for i in range(45): globals()[f'v{i}'] = [held, i]
%%
print(len(v44[0][0]), v0[0] is v44[0])
b = bytearray(200000000)
%%
print(v7[1])
CELLS
	is 1 '[.report.status, .report.reason, .report.generation, (.report.lost | length)] | tojson' '["refused","kernel_state_over_bound",0,0]'
	is 2 '[.report.status, .report.generation, (.report.lost | length)] | tojson' '["saved",1,0]'
	is 3 .out $'4000000 True'
	is 3 "$lost" b
	is 3 '.report.lost[0].reason' 'it has more than 4194304 bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead'
	is 4 .out 7
}

@test "KRN-4 KRN-8 Node: what is far too large, or nobody can write down, is lost alone and costs little" {
	cells node '{"value_bytes":10000,"total_bytes":50000}' <<'CELLS'
let x = [1]; for (let i = 0; i < 40; i++) x = [x, x]
Object.assign(state, { a: 1, text: '"'.repeat(3e8), tree: x, holes: [], wide: 'é'.repeat(6000), fits: ['y'.repeat(9990)] })
state.holes[1e8] = 1; undefined
%%
Object.keys(state)
%%
for (let i = 0; i < 6; i++) state[`k${i}`] = 'x'.repeat(9000); undefined
%%
Array.prototype[Symbol.iterator] = function* () {}; state.b = [1]; undefined
%%
Object.keys(state)
CELLS
	is 1 "$lost" "state.text state.tree state.holes state.wide"
	is 1 '[.report.lost[].reason] | unique | tojson' '["it has more than 10000 bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead"]'
	is 2 .out "[ 'a', 'fits' ]"
	is 3 '[.report.status, .report.reason, .report.generation] | tojson' '["refused","kernel_state_over_bound",1]'
	is 5 .out "[ 'a', 'fits', 'b' ]"
}

@test "KRN-3 ten thousand variables, of which two are used; more losses than are told by name are counted" {
	cells python <<'CELLS'
for i in range(10000): globals()[f'v{i}'] = i if i % 3 else [i]
for i in range(250): globals()[f'g{i}'] = (x for x in [])
%%
print(v9999, v7)
%%
print(sum(1 for k in list(globals()) if k[0] == 'v'))
CELLS
	is 1 '[(.report.lost | length), .report.notes[0]] | tojson' '[200,"50 more names were not kept"]'
	is 2 '[.out, .report.restored, .report.generation] | tojson' '["[9999] 7\n",2,1]'
	is 3 .out 10000
}

@test "CB-1 CB-2 a cell calls tools by name over its channel, and no child of it has the channel" {
	cells python '{"tools":["search"]}' <<'CELLS'
print(kz.tools.search(q='x', n=1), kz.tools['search']({'q': 2}), dir(kz.tools))
try: kz.tools.refused()
except kz.ToolError as e: print(e.reason, e)
import os, subprocess
subprocess.run(['ls', '/proc/self/fd'], close_fds=False, stdout=subprocess.PIPE).stdout.split() == [b'0', b'1', b'2', b'3'] or print('more')
print([x for x in os.environ if 'TOOL' in x or 'CHANNEL' in x])
CELLS
	is 1 .out $'{\'echo\': {\'q\': \'x\', \'n\': 1}} {\'echo\': {\'q\': 2}} [\'search\']\ntool_writes tool_writes: it writes\n[]'
	space=$BATS_TEST_TMPDIR/node
	mkdir "$space"
	cells node '{"tools":["search"]}' <<'CELLS'
console.log(await kz.tools.search({q: 1}), Object.keys(kz.tools));
try { await kz.tools.refused() } catch (e) { console.log(e.reason) }
CELLS
	is 1 .out $'{ echo: { q: 1 } } [ \'search\' ]\ntool_writes'
}

@test "KRN-4 Node keeps the keys of state that JSON keeps exactly, and tells the others by path" {
	cells node <<'CELLS'
state.ok = [1, { x: 'y' }, null, true];
const proxied = new Proxy({}, {}), cycle = {}; cycle.me = cycle;
Object.assign(state, { u: undefined, f: () => 1, s: Symbol('s'), big: 1n, nan: NaN, inf: { deep: [Infinity] }, minus: -0, date: new Date(0), map: new Map(), set: new Set(), cls: new (class A {})(), typed: new Uint8Array(1), hole: [, 1], cycle, proxied, json: { toJSON() { return 1 } } });
Object.defineProperty(state, 'getter', { get: () => 1, enumerable: true, configurable: true });
state.half = ['\ud800', { '\udfff': 1 }];
%%
state.half[0].charCodeAt(0) + state.half[1]['\udfff'] + ' ' + Object.keys(state)
CELLS
	is 1 "$lost" "state.u state.f state.s state.big state.nan state.inf.deep[0] state.minus state.date state.map state.set state.cls state.typed state.hole state.cycle.me state.proxied state.json.toJSON state.getter"
	is 2 .out "'55297 ok,half'"
}

@test "KRN-4 KRN-15 Node: exceptions and exits keep state, a const may come again, timers end, a state that is no object is refused" {
	cells node <<'CELLS'
const x = 1; state.a = 1
%%
const x = 2; state.a = 2; throw new Error('no')
%%
state.a++; process.exit(4)
%%
state.b = await import('node:path').then(m => m.join('a', 'b')); setInterval(() => {}, 1000); state.b
%%
Promise.reject(new Error('late')); state.c = 1
%%
state = [1]
%%
import fs from 'node:fs'
console.log(state, typeof fs.readFileSync, process.argv.slice(2))
%%
JSON.stringify = () => '1'; state.d = { k: 1 }
%%
state.e = 1; const = 2
%%
state.one = { v: 1 }; state.two = state.one
%%
kz.reset(); throw 1
%%
state
CELLS
	is 2 .status 1
	is 3 .status 4
	is 4 '[.out, .report.notes[0][:15]] | tojson' '["'"'a/b'"'\n","pending_handles"]'
	is 5 .status 1
	is 6 .report.status refused
	is 7 .out "{ a: 3, b: 'a/b', c: 1 } function [ 'one', 'two' ]"
	is 8 .report.status saved
	is 9 '[.status, .report.status, .report.generation] | tojson' '[1,"kept_previous",6]'
	is 10 '.report.notes[0]' "state.two and state.one share an object: they are copies in the next cell"
	is 12 .out "{}"
	[ "$(ls -A "$space")" = .kz-kernel-node.json ]
}

@test "Node: the last expression is shown, also one in brackets, and what stands in a comment is none" {
	cells node <<'CELLS'
[1, 2].map((x) => x * 2)
%%
({ a: 1 })
%%
// twice; the array
const list = [3];
[...list, 4].length
%%
const a = 1; (a + 1)
%%
console.log('x'); // shown; done
%%
state.n = 5 // -> {n} ok
%%
const b = [[7]]
[0]
%%
const c = 2
(function () { console.log('never') })
%%
`text`
%%
-1
CELLS
	is 1 .out "[ 2, 4 ]"
	is 2 .out "{ a: 1 }"
	is 3 .out 2
	is 4 .out 2
	is 5 '[.status, .out] | tojson' '[0,"x\n"]'
	is 6 '[.status, .out] | tojson' '[0,"5\n"]'
	# a line that goes on is no expression of its own, as in any JavaScript
	is 7 '[.status, .out] | tojson' '[0,""]'
	is 8 .status 1
	is 9 .out "'text'"
	is 10 .out -1
}

@test "Node: the last expression of a module is shown too, and an error shows the text of the cell alone" {
	cells node <<'CELLS'
import fs from 'node:fs';
import { join,
  sep } from 'node:path'
import 'node:os'
const n = [1, 2]; n.length + join('a', 'b') + typeof fs.readFileSync
%%
import fs from 'node:fs'; typeof fs
%%
import fs from 'node:fs'
const quiet = 1
%%
import fs from 'node:fs'
export const out = 1
%%
let x = ;
%%
const fine = 1
let x = ;
%%
state.__kz = typeof __kz_show__; state.__kz
CELLS
	is 1 .out "'2a/bfunction'"
	is 2 .out "'object'"
	is 3 '[.status, .out] | tojson' '[0,""]'
	is 4 '[.status, .out] | tojson' '[0,""]'
	is 5 '.err | split("\n")[:3] | tojson' '["<cell>:1","let x = ;","        ^"]'
	is 6 '.err | split("\n")[:3] | tojson' '["<cell>:2","let x = ;","        ^"]'
	[ "$(ls -A "$space")" = .kz-kernel-node.json ]
}

@test "KRN-4 Node: a state that a cell declares itself is not the one that is kept, and that is told" {
	cells node <<'CELLS'
state.a = 1
%%
const state = { b: 2 }
%%
var state = 5
%%
import fs from 'node:fs'
let state = { b: 2 }
%%
{ const state = 1 } function f(state) { let x = state }
%%
const { state: other } = { state: 1 }; state
CELLS
	for n in 2 3 4; do
		is "$n" '.report.notes[0][:39]' "the cell declares a state of its own: w"
	done
	for n in 1 5 6; do
		is "$n" '.report.notes | tojson' '[]'
	done
	is 6 .out "{ a: 1 }"
}

@test "KRN-4 Node: what is told is one line of plain text, each key stands for itself, and what a cell did to objects and JSON runs nowhere" {
	cells node <<'CELLS'
state.fine = { when: 'ok', list: [1], n: 2, yes: true };
state['\0\u001b[31m\ud83d'] = 1n;
state['\u{1f600}'.repeat(300)] = 1n;
state.getter = { get constructor() { throw new Error('ran') }, f: () => 1 };
class Named { static get name() { throw new Error('ran') } }
state.named = new Named();
for (let i = 0; i < 250; i++) state['many' + i] = undefined;
for (const t of [Object, Array, String, Number, Boolean]) t.prototype.toJSON = () => 'ran';
%%
state
%%
state.fine.list.push(2); Object.defineProperty(Array.prototype, 'toJSON', { value: () => 1 }); Object.freeze(Object.prototype);
%%
state
CELLS
	is 1 '[.report.status, .report.generation] | tojson' '["saved",1]'
	is 1 '.report.lost | length' 200
	is 1 '.report.lost[0:4] | map(.name | .[0:12]) | tojson' '["state. [31m ","state.😀😀😀😀😀😀","state.getter","state.named"]'
	is 1 '.report.lost[1].name | length' 200
	is 1 '.report.notes[0]' "54 more keys of state were not kept"
	is 2 '.report.generation' 1
	is 2 .out "{ fine: { when: 'ok', list: [ 1 ], n: 2, yes: true } }"
	is 4 .out "{ fine: { when: 'ok', list: [ 1, 2 ], n: 2, yes: true } }"
}

@test "KRN-15 WS-9 a cell that changed nothing makes no new state: no program, no change, and the files stay as they are" {
	cells node <<'CELLS'
state.a = [1]
%%
let b = ; state.a = 2
%%
import fs from 'node:fs'; state.a = ;
%%
state.a.push(2); state.a.pop(); null
%%
state.b = 1
CELLS
	is 2 '[.status, .report.status, .report.generation] | tojson' '[1,"kept_previous",1]'
	is 3 '[.status, .report.generation] | tojson' '[1,1]'
	is 4 '[.status, .report.status, .report.generation] | tojson' '[0,"saved",1]'
	is 5 '[.report.status, .report.generation] | tojson' '["saved",2]'
	space=$BATS_TEST_TMPDIR/python
	mkdir "$space"
	cells python <<'CELLS'
print('nothing yet')
%%
import math
x, y = [1, {'k': (2,)}], 1
def f(n): return n + y
class C:
    made = 1
c, gen = C(), (i for i in x)
up = (lambda n: lambda: n + c.made)(3)
%%
def broken(:
%%
print(f, x, c.made, up(), math.pi)
%%
1 / 0
%%
x.append(1); x.pop(); c.made
%%
y = 2
%%
y
CELLS
	is 1 '[.report.status, .report.generation] | tojson' '["saved",0]'
	is 3 '[.status, .report.status, .report.generation] | tojson' '[1,"kept_previous",1]'
	is 4 '[.report.status, .report.generation] | tojson' '["saved",1]'
	is 5 '[.status, .report.status, .report.generation] | tojson' '[1,"saved",1]'
	is 6 '[.report.status, .report.generation] | tojson' '["saved",1]'
	is 7 '[.report.status, .report.generation] | tojson' '["saved",2]'
	is 8 '[.out, .report.generation] | tojson' '["2\n",2]'
}

@test "KRN-8 KRN-15 KRN-16 Node: bounds, a kill, and a state that was altered" {
	cells node '{"value_bytes":1000,"total_bytes":2000}' <<'CELLS'
state.small = 'x'; state.big = 'x'.repeat(2000)
%%
for (let i = 0; i < 3; i++) state['k' + i] = 'x'.repeat(900)
%%
state.small = 'y'; require('fs').writeFileSync('ready', ''); for (;;) {} // # kill
%%
state
CELLS
	is 1 "$lost" state.big
	is 2 '[.report.status, .report.reason] | tojson' '["refused","kernel_state_over_bound"]'
	is 4 .out "{ small: 'x' }"
	rm "$space/ready"
	cells node <<<'import fs from "node:fs"; state.small = "w"; process.exit(3)'
	is 1 '[.status, .report.status] | tojson' '[3,"saved"]'
	# nor what a module was loaded from
	[ "$(ls -A "$space")" = .kz-kernel-node.json ]
	sed -i 's/"small":"w"/"small":"z"/' "$space/.kz-kernel-node.json"
	cells node <<<'state'
	is 1 '[.out, .report.damaged] | tojson' '["{}\n",true]'
}
