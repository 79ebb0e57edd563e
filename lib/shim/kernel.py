# One cell of a persistent Python kernel (docs/kernels.md).
#
#   python3 -I kernel.py CONFIG CELL [ARG...]
#
# A fresh interpreter restores what the cell may touch, runs it, and saves what can be
# saved; no process is kept.  CONFIG is JSON: "space" (where the state lies), "channel"
# (descriptor of the report, or null), "value_bytes", "total_bytes", "tools" (names).
#
# State is .kz-kernel.json, which names everything, and one file of pickles that it names;
# the rename of the former is the commit, so a kill at any moment leaves the state before
# or the state after.  Functions and classes are kept as source: a function's code is
# compiled from it and never run, a class is made again only if its body does nothing.
# Whatever is read here was written by the tenant, and only the tenant reads it.
import ast
import builtins
import copyreg  # noqa: F401 (pickle wants it before a cell can shadow it)
import hashlib
import io
import json
import linecache
import os
import pickle
import re
import struct
import sys
import threading
import time
import traceback
import types
from _signal import SIG_IGN, getsignal, signal as set_signal, valid_signals

MANIFEST = ".kz-kernel.json"
BLOBS = (".kz-kernel.0.pkl", ".kz-kernel.1.pkl")
LIST_MAX = 200  # entries of one list of the report
TEXT_MAX = 200
DRAIN = 0.25  # seconds for threads that are about to end
WORD = re.compile(r"[^\W\d]\w*")
# A cell that has one of these words may reach any name.
DYNAMIC = {"globals", "locals", "vars", "dir", "eval", "exec", "__main__", "__name__", "inspect",
	   "_getframe", "modules", "runpy", "query", "compile", "__globals__", "__builtins__"}
HANDLES = {"socket", "_socket", "ssl", "_ssl", "select", "selectors", "threading", "_thread",
	   "subprocess", "sqlite3", "_sqlite3", "multiprocessing", "_multiprocessing", "concurrent",
	   "asyncio", "_asyncio", "tempfile", "mmap", "http", "urllib", "urllib3", "requests", "httpx",
	   "aiohttp", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "paramiko", "psycopg2",
	   "botocore", "boto3", "weakref", "_weakref", "contextvars", "_contextvars", "queue", "_queue",
	   "netrc", "getpass", "keyring"}
HARMLESS = {"http.HTTPStatus", "http.HTTPMethod", "urllib.parse"}
NEVER = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType,
	 types.TracebackType, types.CodeType, memoryview)
PLAIN_ENV = {"PATH", "HOME", "LANG", "PYTHONPATH", "NODE_PATH", "LC_ALL", "TZ", "TERM"}
CREDENTIAL = re.compile(r"KEY|TOKEN|SECRET|PASS|CRED|AUTH", re.I)
# What a class body or a definition may call when it is made again: name of module, of attribute.
CALLS = {("dataclasses", "field"), ("dataclasses", "dataclass"), ("enum", "auto"), ("enum", "unique"),
	 ("typing", "TypeVar"), ("typing", "NewType"), ("typing", "NamedTuple"), ("typing", "ParamSpec"),
	 ("typing", "TypedDict"), ("typing", "final"), ("typing", "overload"), ("typing", "runtime_checkable"),
	 ("collections", "namedtuple"), ("enum", "Enum"), ("enum", "IntEnum"), ("enum", "Flag"),
	 ("enum", "IntFlag"), ("functools", "lru_cache"), ("functools", "cache"), ("functools", "wraps"),
	 ("functools", "cached_property"), ("functools", "total_ordering"), ("functools", "partial"),
	 ("functools", "singledispatch"), ("contextlib", "contextmanager"), ("abc", "abstractmethod"),
	 ("re", "compile"), ("decimal", "Decimal"), ("fractions", "Fraction"), ("pathlib", "Path"),
	 ("datetime", "timedelta"), ("datetime", "date"), ("datetime", "datetime")}
CALLS_BUILTIN = {"property", "staticmethod", "classmethod", "frozenset", "set", "dict", "list", "tuple",
		 "int", "float", "str", "bytes", "bytearray", "bool", "complex", "range", "object", "len",
		 "max", "min", "abs", "round", "sorted", "sum"}
build_class = builtins.__build_class__
open_file, replace, unlink, fsync, write, real_exit = io.open, os.replace, os.unlink, os.fsync, os.write, os._exit
dumps, loads, sha256, now, fstat = json.dumps, json.loads, hashlib.sha256, time.monotonic, os.fstat


class Refused(Exception):
	"""This value is not saved, and why."""


def short(text):
	text = " ".join(str(text).split())
	return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "\u2026"


def kind(value):
	t = type(value)
	return t.__name__ if t.__module__ in ("builtins", "__main__") else f"{t.__module__}.{t.__name__}"


class Main(types.ModuleType):
	"""The cells' module: a name that was not restored yet is when another module asks for it."""

	def __getattr__(self, name):
		kernel = object.__getattribute__(self, "__dict__").get("__kz_kernel__")
		if kernel is not None and kernel.bring(name):
			return self.__dict__[name]
		raise AttributeError(name)


class Definition:
	"""A function or class of a cell, as source."""

	def __init__(self, serial, entry):
		self.serial, self.entry = serial, entry
		self.made = None
		self.members = {}  # of a class, as its definition left them
		self.filled = False

	@property
	def words(self):
		return set(WORD.findall(self.entry["source"])) | set(self.entry["deps"])


class Group:
	"""Values that are pickled together: names (nNAME), and what definitions (dN) and cells (cN) hold."""

	def __init__(self, keys, blob, definitions, cells):
		self.keys, self.blob, self.definitions, self.cells = keys, blob, definitions, cells
		self.loaded = self.is_bad = False
		self.failed = None


class Reach:
	"""All that groups and definitions lead to."""

	def __init__(self, kernel):
		self.kernel, self.words = kernel, set()
		self.groups, self.definitions, self.cells = {}, {}, {}

	def group(self, g):
		if g is None or id(g) in self.groups:
			return
		self.groups[id(g)] = g
		for serial in set(g.definitions) | {int(k[1:]) for k in g.keys if k[0] == "d"}:
			self.definition(serial)
		for serial in set(g.cells) | {int(k[1:]) for k in g.keys if k[0] == "c"}:
			self.cell(serial)

	def definition(self, serial):
		d = self.kernel.definitions.get(serial)
		if d is None or serial in self.definitions:
			return
		self.definitions[serial] = d
		self.words |= d.words
		for ref in d.entry["deps"].values():
			if ref[0] in "da":
				self.definition(ref[1])
		for cell in d.entry["cells"]:
			self.cell(cell)
		self.group(d.entry["state"])

	def cell(self, serial):
		c = self.kernel.cells.get(serial)
		if c is None or serial in self.cells:
			return
		self.cells[serial] = c
		self.group(c.state)


class Sources:
	"""Text of cells by file name, in pieces that begin at a line; and the trees of them."""

	def __init__(self):
		self.pieces = {}  # file -> [(line, text, nodes)]

	def add(self, file, line, text):
		pieces = self.pieces.setdefault(file, [])
		if any(p[0] == line and p[1] == text for p in pieces):
			return
		pieces.append([line, text, None])
		rows = text.splitlines(True)
		lines = list(linecache.cache.get(file, (0, None, [], file))[2])
		lines += ["\n"] * (line - 1 + len(rows) - len(lines))
		for i, row in enumerate(rows, line - 1):
			lines[i] = row if lines[i] == "\n" else lines[i]
		linecache.cache[file] = (sum(map(len, lines)), None, lines, file)

	@staticmethod
	def parse(text, line):
		"""Tree with the lines of the cell; text that is indented stands in a block."""
		shift = line - 1
		if text[:1] in " \t":
			text, shift = "if 1:\n" + text, shift - 1
		tree = ast.parse(text)
		ast.increment_lineno(tree, shift)
		return tree

	def nodes(self, file):
		"""Functions and lambdas of a file: (node, innermost enclosing node, text of the piece, its line)."""
		for piece in self.pieces.get(file, ()):
			if piece[2] is None:
				found = []

				def walk(node, parent, piece=piece, found=found):
					for child in ast.iter_child_nodes(node):
						inner = parent
						if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
							found.append((child, parent, piece[1], piece[0]))
							inner = child
						elif isinstance(child, ast.ClassDef):
							inner = child
						walk(child, inner)

				try:
					walk(self.parse(piece[1], piece[0]), None)
				except (SyntaxError, ValueError, RecursionError):
					pass
				piece[2] = found
			yield from piece[2]


def first_line(node):
	marks = getattr(node, "decorator_list", None)
	return min([node.lineno] + [d.lineno for d in marks or ()])


def text_of(node, text, line):
	"""Source of a node: whole lines of a statement; of a lambda just itself."""
	lines = text.splitlines(True)
	if isinstance(node, ast.Lambda):
		part = [x.encode() for x in lines[node.lineno - line : node.end_lineno - line + 1]]
		part[-1] = part[-1][: node.end_col_offset]
		part[0] = part[0][node.col_offset :]
		return "(" + b"".join(part).decode() + ")"
	return "".join(lines[first_line(node) - line : node.end_lineno - line + 1])


def code_inside(code, name):
	"""The first code object of that name directly or deeper in code."""
	for c in code.co_consts:
		if isinstance(c, types.CodeType):
			found = c if c.co_name == name else code_inside(c, name)
			if found is not None:
				return found
	return None


def rename(code, prefix):
	"""Code below __kz_outer__ under the qualified names that it had."""
	ours = "__kz_outer__.<locals>."

	def name(x):
		if isinstance(x, types.CodeType):
			return rename(x, prefix)
		return prefix + x[len(ours) :] if type(x) is str and x.startswith(ours) else x

	new = {"co_consts": tuple(name(x) for x in code.co_consts)}
	if hasattr(code, "co_qualname"):
		new["co_qualname"] = name(code.co_qualname)
	return code.replace(**new)


def function_code(entry):
	"""Compile the code of a function from its source; nothing of it runs."""
	tree = Sources.parse(entry["source"], entry["line"])
	while isinstance(tree.body[0], ast.If) and entry["source"][:1] in " \t":
		tree = ast.Module(body=tree.body[0].body, type_ignores=[])
	node = tree.body[0]
	if not isinstance(node, ast.Expr):
		node.decorator_list = []
		# of defaults and annotations the code knows nothing
		a = node.args
		a.defaults = [ast.copy_location(ast.Constant(None), d) for d in a.defaults]
		a.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in a.kw_defaults]
		for x in a.posonlyargs + a.args + a.kwonlyargs + [v for v in (a.vararg, a.kwarg) if v]:
			x.annotation = None
		node.returns = None
	body = [node]
	if entry["free"]:
		names = [ast.Name(n, ast.Store()) for n in entry["free"]]
		body = [ast.Assign(names, ast.Constant(None)), node]
	outer = ast.parse("def __kz_outer__(): pass").body[0]
	outer.body = body
	outer.lineno = outer.end_lineno = entry["line"]
	module = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
	found = code_inside(compile(module, entry["file"], "exec", entry["flags"], True), entry["code"])
	if found is None or list(found.co_freevars) != entry["free"]:
		raise Refused("its source does not give its code")
	return rename(found, entry["prefix"])


class Bounded(io.BytesIO):
	def __init__(self, most, words):
		super().__init__()
		self.most, self.words = most, words

	def write(self, data):
		if self.tell() + len(data) > self.most:
			raise Refused(self.words)
		return super().write(data)


class Pickler(pickle.Pickler):
	"""Pickles one value: notes what it shares, refuses what must not be kept."""

	def __init__(self, kernel, file):
		super().__init__(file, protocol=min(5, pickle.HIGHEST_PROTOCOL))
		self.kernel = kernel
		self.shared = {}  # id -> object that can change, kept so that no id is used twice
		self.definitions = set()
		self.cells = set()

	def persistent_id(self, obj):
		t = type(obj)
		if t in ATOMS:
			if t is str and obj in self.kernel.environment:
				raise Refused("a value of the environment")
			return None
		if t is types.FunctionType or isinstance(obj, type) or id(obj) in self.kernel.by_id:
			pid = self.kernel.definition_id(obj)
			if pid is not None:
				self.definitions.add(pid[1])
			return pid
		if t is types.CellType:
			serial = self.kernel.cell_serial(obj)
			self.cells.add(serial)
			return ("c", serial)
		if t is types.ModuleType or isinstance(obj, types.ModuleType):
			return ("m", self.kernel.module_name(obj))
		refuse(obj)
		if t.__hash__ is None or t.__dictoffset__ or t.__module__ == "__main__":
			if not isinstance(obj, self.kernel.enum()):
				self.shared[id(obj)] = obj
		return None


ATOMS = {int, float, complex, str, bytes, bool, type(None), tuple, frozenset, range, slice, type(...),
	 types.BuiltinFunctionType}


def refuse(obj):
	t = type(obj)
	if isinstance(obj, NEVER):
		raise Refused(f"a {t.__name__} cannot be saved")
	if obj is os.environ or t is type(os.environ):
		raise Refused("the environment is not saved")
	module = t.__module__ or ""
	if module == "_io":
		if t.__name__ not in ("StringIO", "BytesIO"):
			raise Refused("an open file is not saved")
		return
	if not isinstance(module, str):
		return
	root = module.partition(".")[0]
	if root in HANDLES and module not in HARMLESS and f"{module}.{t.__name__}" not in HARMLESS:
		if not isinstance(obj, BaseException):
			raise Refused(f"a live {module}.{t.__name__} is not saved")
	if root == "numpy" and t.__name__ == "memmap":
		raise Refused("an open file is not saved")


class Unpickler(pickle.Unpickler):
	def __init__(self, kernel, file):
		super().__init__(file)
		self.kernel = kernel

	def persistent_load(self, pid):
		return self.kernel.resolve(pid)

	def find_class(self, module, name):
		if module == "__main__":
			raise pickle.UnpicklingError(f"{name} has no definition that can be replayed")
		return super().find_class(module, name)


class Check(pickle.Unpickler):
	"""Would it load? Only for pickles that have the word __main__ in them."""

	def __init__(self, kernel, file):
		super().__init__(file)
		self.kernel = kernel

	def persistent_load(self, pid):
		return self.kernel.resolve(pid)

	def find_class(self, module, name):
		if module == "__main__":
			raise Refused(f"{name} has no definition that can be replayed")
		return super().find_class(module, name)


class Cell:
	"""A variable that functions share after the call that made them ended."""

	def __init__(self, serial, cell, state):
		self.serial, self.cell, self.state = serial, cell, state
		self.filled = False


class Kernel:
	def __init__(self, config):
		self.config = config
		self.space = config.get("space") or "/work/space"
		self.main = Main("__main__")
		self.g = self.main.__dict__
		self.g["__builtins__"] = builtins
		self.sources = Sources()
		self.definitions = {}  # serial -> Definition
		self.by_id = {}  # id of what was made -> Definition
		self.names = {}  # name -> ["m", module] | ["f", module, attribute] | ["v", group]
		self.cells = {}  # serial -> Cell
		self.cell_by_id = {}
		self.imported = []  # modules that import statements named
		self.bound = {}  # name -> [module, attribute] of a from-import
		self.generation = self.ran = self.serial = 0
		self.blob_name = None
		self.report = {"v": 1, "type": "report", "status": "kept_previous", "generation": 0, "bytes": 0,
			       "restored": 0, "lost": [], "restore_lost": [], "notes": []}
		self.is_reset = False
		self.gone = {}  # name that a cell had and that was not saved -> why
		self.why = {}  # id of an object -> why it has no definition
		self.environment = {v for k, v in os.environ.items() if k not in PLAIN_ENV and len(v) >= 8}
		self.credentials = [v.encode("utf-8", "surrogateescape") for k, v in os.environ.items()
				    if k not in PLAIN_ENV and len(v) >= 6 and CREDENTIAL.search(k)]
		self.file = None
		self.queue = []

	@staticmethod
	def enum():
		module = sys.modules.get("enum")
		return module.Enum if module else ()

	# -- reading the state ------------------------------------------------------------

	def path(self, name):
		return os.path.join(self.space, name)

	def note(self, text):
		if len(self.report["notes"]) < LIST_MAX:
			self.report["notes"].append(short(text))

	def read(self):
		"""Take what is stored; a state that is cut or altered is told and not taken."""
		try:
			with open_file(self.path(MANIFEST), "rb") as f:
				m = loads(f.read().decode())
		except FileNotFoundError:
			return
		except (OSError, ValueError):
			self.damaged("its list cannot be read")
			return
		try:
			self.take(m)
		except (KeyError, TypeError, ValueError, OSError, AttributeError, IndexError):
			self.damaged("its list makes no sense")

	def damaged(self, why):
		self.names, self.definitions, self.cells, self.imported = {}, {}, {}, []
		self.report["damaged"] = True
		self.report["restore_lost"].append({"name": "*", "type": "", "reason": f"the saved state is damaged: {why}"})

	def take(self, m):
		if m["v"] != 1 or m["language"] != "python":
			raise ValueError
		self.generation, self.ran, self.serial = int(m["generation"]), int(m["ran"]), int(m["serial"])
		self.blob_name = m["blob"] if m["blob"] in BLOBS else None
		data = b""
		if self.blob_name:
			try:
				with open_file(self.path(self.blob_name), "rb") as f:
					data = f.read()
			except OSError:
				pass
		groups = []
		for at, n, digest, keys, definitions, cells in m["groups"]:
			groups.append(Group([str(k) for k in keys], data[at : at + n], set(definitions), set(cells)))
			if len(groups[-1].blob) != n or sha256(groups[-1].blob).hexdigest() != digest:
				groups[-1].is_bad = True
		names = {}
		for name, ref in m["names"].items():
			if ref[0] not in ("m", "f", "v") or (ref[0] == "v" and not 0 <= ref[1] < len(groups)):
				raise ValueError
			names[str(name)] = [ref[0], groups[ref[1]]] if ref[0] == "v" else list(map(str, ref))
		definitions = {}
		for e in m["definitions"]:
			e = dict(e)
			state = e.pop("state")
			d = Definition(int(e["serial"]), e)
			e["state"] = groups[state] if state is not None else None
			definitions[d.serial] = d
		for serial, state in m["cells"]:
			cell = Cell(int(serial), types.CellType(), groups[state])
			self.cells[cell.serial] = cell
			self.cell_by_id[id(cell.cell)] = cell
		self.names, self.definitions = names, definitions
		self.imported = [str(x) for x in m["imported"]]
		self.gone = {str(n): str(w) for n, w in m["gone"].items()}
		self.report["generation"] = self.generation
		for d in definitions.values():
			self.sources.add(d.entry["file"], d.entry["line"], d.entry["source"])

	# -- making things again ------------------------------------------------------------

	def import_module(self, name):
		__import__(name)
		for sub in self.imported:
			if sub.startswith(name + ".") and sub not in sys.modules:
				try:
					__import__(sub)
				except Exception as e:
					self.note(f"import {sub}: {e}")
		return sys.modules[name]

	def resolve(self, ref):
		if ref[0] == "m":
			return self.import_module(ref[1])
		if ref[0] == "f":
			return below(self.import_module(ref[1]), ref[2])
		if ref[0] == "c":
			cell = self.cells[ref[1]]
			self.queue.append(cell)
			return cell.cell
		value = self.make(ref[1])
		return below(value, ref[2]) if ref[0] == "a" else value

	def make(self, serial):
		"""The function or class of a serial number, made once; what it holds is filled in later."""
		d = self.definitions[serial]
		if d.made is None:
			e = d.entry
			if e["kind"] == "function":
				cells = tuple(self.resolve(["c", n]) for n in e["cells"])
				d.made = types.FunctionType(function_code(e), self.g, e["name"], None, cells or None)
				d.made.__module__ = "__main__"
			else:
				d.made = self.replay(e)
				d.members = members(d.made)
			self.by_id[id(d.made)] = d
			self.queue.append(d)
		return d.made

	def replay(self, e):
		tree = Sources.parse(e["source"], e["line"])
		if e["source"][:1] in " \t":
			tree = ast.Module(body=tree.body[0].body, type_ignores=[])
		blank(tree, {tuple(x) for x in e["blank"]})
		values = {name: self.resolve(ref) for name, ref in e["deps"].items()}
		before = {name: self.g[name] for name in set(values) | {e["name"]} if name in self.g}
		self.g.update(values)
		try:
			exec(compile(tree, e["file"], "exec", e["flags"], True), self.g)
			return self.g[e["name"]]
		finally:
			for name in set(values) | {e["name"]}:
				self.g.pop(name, None)
			self.g.update(before)

	def fill(self):
		"""Give functions, classes and cells that were made what they held. out: why it failed, else None"""
		why = None
		while self.queue:
			x = self.queue.pop()
			state = x.state if isinstance(x, Cell) else x.entry["state"]
			if state is not None and not x.filled and not self.load(state):
				why = state.failed
		return why

	def set_state(self, d, state):
		d.filled = True
		if d.entry["kind"] != "function":
			given, gone = state
			for name, value in given.items():
				setattr(d.made, name, value)
			for name in gone:
				delattr(d.made, name)
			return
		f = d.made
		(f.__qualname__, f.__module__, f.__defaults__, f.__kwdefaults__, attributes, f.__doc__, annotations) = state
		f.__dict__.update(attributes)
		if annotations is not None:
			f.__annotations__ = annotations

	def put(self, key, value, group):
		if key[0] == "n":
			if self.names.get(key[1:], (0, 0))[1] is group:
				self.g[key[1:]] = value
				self.report["restored"] += 1
		elif key[0] == "c":
			cell = self.cells[int(key[1:])]
			cell.filled = True
			if value:
				cell.cell.cell_contents = value[0]
		else:
			d = self.definitions[int(key[1:])]
			self.make(d.serial)
			self.set_state(d, value)

	def load(self, group):
		"""Unpickle a group and bind its names. out: did it go?"""
		if group.loaded or group.failed:
			return group.loaded
		group.loaded = True
		try:
			if group.is_bad:
				raise Refused("its bytes are cut or altered")
			values = Unpickler(self, io.BytesIO(group.blob)).load()
			for key, value in zip(group.keys, [values] if len(group.keys) == 1 else values):
				self.put(key, value, group)
			return True
		except Exception as e:
			group.failed = short(e if isinstance(e, Refused) else f"{type(e).__name__}: {e}")
		group.loaded = False
		for key in group.keys:
			if key[0] == "n" and self.names.get(key[1:], (0, 0))[1] is group:
				self.g.pop(key[1:], None)
		return False

	def bring(self, name):
		"""Restore one name now. out: is it bound?"""
		ref = self.names.get(name)
		if ref is None or name in self.g:
			return name in self.g
		try:
			if ref[0] == "v":
				why = None if self.load(ref[1]) else ref[1].failed
				inner = self.fill()
				if why or inner:
					self.restore_lost(name, why or inner)
			else:
				self.g[name] = self.resolve(ref)
				self.report["restored"] += 1
		except Exception as e:
			self.restore_lost(name, f"{type(e).__name__}: {e}")
		return name in self.g

	def restore_lost(self, name, why):
		ours = self.report["restore_lost"]
		if len(ours) < LIST_MAX and not any(x["name"] == name for x in ours):
			ours.append({"name": name, "type": "", "reason": short(why)})

	def wanted(self, text):
		"""Names that this text may touch, through the functions and values it uses."""
		todo, seen, groups = set(WORD.findall(text)), set(), []
		reach = Reach(self)
		while todo:
			name = todo.pop()
			seen.add(name)
			if name in self.names and self.names[name][0] == "v":
				reach.group(self.names[name][1])
			todo |= reach.words - seen
		return [n for n in self.names if n in seen or seen & DYNAMIC]

	def restore(self, text):
		for name in self.wanted(text):
			self.bring(name)

	# -- what a function or class is made from ------------------------------------------------

	def definition(self, obj):
		"""The definition of a function or class of a cell. out: None when it is none of a cell's. err: Refused"""
		d = self.by_id.get(id(obj))
		if d is not None:
			return d
		if id(obj) in self.why:
			raise Refused(self.why[id(obj)][1])
		if getattr(obj, "__module__", None) != "__main__":
			if type(obj) is not types.FunctionType or not obj.__code__.co_filename.startswith("<cell "):
				return None
		if type(obj) is types.FunctionType:
			return self.register_function(obj)
		raise Refused(f"{getattr(obj, '__qualname__', obj)} has no definition that can be replayed")

	def definition_id(self, obj):
		"""What a pickle says instead of a function or class. out: None when pickle finds it by itself"""
		try:
			d = self.definition(obj)
			return None if d is None else ("d", d.serial)
		except Refused:
			root, _, path = getattr(obj, "__qualname__", "").partition(".")
			for d in self.by_id.values():
				if path and d.made.__name__ == root and below(d.made, path, None) is obj:
					return ("a", d.serial, path)
			raise

	def cell_serial(self, cell):
		known = self.cell_by_id.get(id(cell))
		if known is None:
			self.serial += 1
			known = self.cells[self.serial] = self.cell_by_id[id(cell)] = Cell(self.serial, cell, None)
			known.filled = True
		return known.serial

	def new(self, obj, entry):
		self.serial += 1
		d = Definition(self.serial, dict(entry, serial=self.serial, state=None))
		d.made, d.filled = obj, True
		self.definitions[d.serial] = self.by_id[id(obj)] = d
		return d

	def register_function(self, obj):
		code, file = obj.__code__, obj.__code__.co_filename
		flags = code.co_flags & FUTURE
		why = "it was not defined in the text of a cell"
		for node, parent, text, line in self.sources.nodes(file):
			name = getattr(node, "name", "<lambda>")
			if name != code.co_name or first_line(node) != code.co_firstlineno:
				continue
			if isinstance(parent, ast.ClassDef):
				why = "a method is saved only with its class"
				continue
			source = text_of(node, text, line)
			entry = {"kind": "function", "name": obj.__name__, "code": name, "file": file,
				 "line": first_line(node), "flags": flags, "free": list(code.co_freevars),
				 "cells": [], "deps": {}, "blank": [], "source": source,
				 "prefix": getattr(code, "co_qualname", obj.__qualname__)[: -len(name)]}
			try:
				same = function_code(entry)
			except (SyntaxError, Refused, RecursionError, ValueError) as e:
				why = str(e)
				continue
			if same_code(same, code):
				entry["cells"] = [self.cell_serial(c) for c in obj.__closure__ or ()]
				return self.new(obj, entry)
			why = "its source does not give its code"
		raise Refused(f"function {obj.__name__}: {why}")

	def register_statement(self, obj, node, name, text, file, flags):
		"""A class, decorated function or named tuple: made again by its statement, if that does nothing else."""
		try:
			deps, blanks = self.pure(obj, node)
		except Refused as e:
			self.why[id(obj)] = (obj, f"{name}: {e}")
			return
		d = self.new(obj, {"kind": "class" if isinstance(node, ast.ClassDef) else "other", "name": name, "code": name,
				   "file": file, "line": first_line(node), "flags": flags, "free": [], "cells": [],
				   "deps": deps, "blank": [list(b) for b in blanks], "source": text_of(node, text, 1)})
		d.members = {k: v for k, v in members(obj).items() if stands_in(v, node, file)}

	def ref(self, name, local):
		"""How a name that a definition reads is had again. out: None for what is always there"""
		if name in local:
			return None
		if name not in self.g:
			if hasattr(builtins, name):
				return None
			raise Refused(f"it uses {name}, which is not bound any more")
		value = self.g[name]
		if isinstance(value, types.ModuleType):
			return ["m", self.module_name(value)]
		known = self.bound.get(name)
		if known and below(sys.modules.get(known[0]), known[1], None) is value:
			return ["f"] + known
		if isinstance(value, (type, types.FunctionType)) or id(value) in self.by_id:
			pid = self.definition_id(value)
			if pid is not None:
				return list(pid)
		where = importable(value)
		if where:
			return ["f"] + where
		raise Refused(f"it uses the value of {name}")

	def pure(self, obj, node):
		p = Purity(self, obj, node)
		p.statement(node)
		return p.deps, p.blanks

	def module_name(self, module):
		name = getattr(module, "__name__", None)
		if not isinstance(name, str) or sys.modules.get(name) is not module or name in ("__main__", "__kz__", "kz"):
			for other, m in list(sys.modules.items()):
				if m is module and other not in ("__main__", "__kz__", "kz"):
					return other
			raise Refused("the module cannot be imported again")
		return name


FUTURE = 0
for _n in __import__("__future__").all_feature_names:
	FUTURE |= getattr(__import__("__future__"), _n).compiler_flag


def same_code(a, b):
	"""Is it the code of the same text? Not by its bytes: a compiler treats names that a module imports in its own way."""
	if (a.co_names, a.co_varnames, a.co_cellvars, a.co_argcount, len(a.co_consts)) != \
	   (b.co_names, b.co_varnames, b.co_cellvars, b.co_argcount, len(b.co_consts)):
		return False
	for x, y in zip(a.co_consts, b.co_consts):
		if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
			if not same_code(x, y):
				return False
		elif type(x) is not type(y) or repr(x) != repr(y):
			return False
	return True


def importable(value):
	module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "_name", None))
	if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
		return None
	found = sys.modules.get(module)
	for part in name.split("."):
		found = getattr(found, part, None)
	return [module, name] if found is value else None


def below(value, path, *default):
	for part in path.split("."):
		value = getattr(value, part, *default)
	return value


def members(obj):
	"""Attributes of a class. out: {} for anything else"""
	return dict(obj.__dict__) if isinstance(obj, type) else {}


def stands_in(value, node, file):
	"""Was this member made by the statement itself? A function of a cell that stands elsewhere was put there later."""
	f = getattr(value, "__func__", getattr(value, "fget", value))
	code = getattr(f, "__code__", None)
	if code is None or not code.co_filename.startswith("<cell "):
		return callable(value) or hasattr(type(value), "__get__")
	return code.co_filename == file and node.lineno <= code.co_firstlineno <= node.end_lineno


def blank(tree, places):
	"""Values at these places are not computed again; they come from what was saved."""
	if not places:
		return
	for node in ast.walk(tree):
		if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
			if (node.value.lineno, node.value.col_offset) in places:
				node.value = ast.copy_location(ast.Constant(None), node.value)


class Purity:
	"""May this statement be run again? Collects what it reads, and values that are kept instead of computed."""

	def __init__(self, kernel, obj, node):
		self.kernel, self.obj, self.node, self.deps, self.blanks = kernel, obj, node, {}, []
		# attributes of a plain class are part of what is saved with it
		self.keeps_values = (isinstance(node, ast.ClassDef) and type(obj) is type and
				     not node.decorator_list and not node.keywords)

	def name(self, name, local):
		ref = self.kernel.ref(name, local)
		if ref is not None:
			self.deps[name] = ref

	def target(self, node):
		"""The object that an expression of names and attributes stands for."""
		if isinstance(node, ast.Name):
			if node.id in self.kernel.g:
				return self.kernel.g[node.id]
			return getattr(builtins, node.id, None)
		if isinstance(node, ast.Attribute):
			base = self.target(node.value)
			return base.__dict__.get(node.attr) if isinstance(base, types.ModuleType) else None
		return None

	def may_call(self, node):
		f = self.target(node)
		if isinstance(node, ast.Name) and node.id in CALLS_BUILTIN and f is getattr(builtins, node.id):
			return True
		return f is not None and any(
			m in sys.modules and getattr(sys.modules[m], a, None) is f for m, a in CALLS)

	def expression(self, node, local):
		if node is None or isinstance(node, ast.Constant):
			return
		if isinstance(node, ast.Name):
			self.name(node.id, local)
		elif isinstance(node, ast.Lambda):
			for d in node.args.defaults + [x for x in node.args.kw_defaults if x]:
				self.expression(d, local)
		elif isinstance(node, ast.Call):
			if not self.may_call(node.func):
				raise Refused(f"its definition calls {short(ast.unparse(node.func))}")
			for x in [node.func] + node.args + [k.value for k in node.keywords]:
				self.expression(x, local)
		elif isinstance(node, (ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List,
				       ast.Dict, ast.Set, ast.Compare, ast.BoolOp, ast.Starred, ast.Slice,
				       ast.JoinedStr, ast.FormattedValue, ast.IfExp)):
			if isinstance(node, ast.Attribute) and not isinstance(node.value, (ast.Name, ast.Attribute)):
				raise Refused("its definition reads an attribute of a computed value")
			for child in ast.iter_child_nodes(node):
				if isinstance(child, ast.expr):
					self.expression(child, local)
		else:
			raise Refused(f"its definition computes something ({type(node).__name__})")

	def function(self, node, local):
		for d in node.decorator_list:
			if isinstance(d, ast.Attribute) and d.attr in ("setter", "getter", "deleter") and \
			   isinstance(d.value, ast.Name) and d.value.id in local:
				continue
			f = d.func if isinstance(d, ast.Call) else d
			if not self.may_call(f):
				raise Refused(f"its decorator {short(ast.unparse(f))} is not run again")
			self.expression(d, local)
		a = node.args
		for d in a.defaults + [x for x in a.kw_defaults if x]:
			self.expression(d, local)
		for x in a.posonlyargs + a.args + a.kwonlyargs + [v for v in (a.vararg, a.kwarg) if v]:
			self.expression(x.annotation, local)
		self.expression(node.returns, local)

	def value(self, node, local):
		if node is None:
			return
		before = dict(self.deps)
		try:
			self.expression(node, local)
		except Refused:
			if not self.keeps_values:
				raise
			self.deps = before
			self.blanks.append((node.lineno, node.col_offset))

	def member(self, s, local):
		if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
			self.function(s, local)
			local.add(s.name)
		elif isinstance(s, ast.ClassDef):
			self.klass(s, local)
			local.add(s.name)
		elif isinstance(s, ast.Assign):
			self.value(s.value, local)
			for t in s.targets:
				if not isinstance(t, ast.Name):
					raise Refused("its body does more than define")
				local.add(t.id)
		elif isinstance(s, ast.AnnAssign):
			self.expression(s.annotation, local)
			self.value(s.value, local)
			if not isinstance(s.target, ast.Name):
				raise Refused("its body does more than define")
			if s.value is not None:
				local.add(s.target.id)
		elif not isinstance(s, ast.Pass) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
			raise Refused(f"its body does more than define ({type(s).__name__})")

	def klass(self, node, local):
		for d in node.decorator_list:
			f = d.func if isinstance(d, ast.Call) else d
			if not self.may_call(f):
				raise Refused(f"its decorator {short(ast.unparse(f))} is not run again")
			self.expression(d, local)
		for b in node.bases + [k.value for k in node.keywords]:
			if not (node is self.node and self.base(b)):
				self.expression(b, local)
		if getattr(node, "type_params", None):
			raise Refused("it has type parameters")
		inner = set(local) | {"__qualname__", "__module__", "__name__"}
		for s in node.body:
			self.member(s, inner)

	def base(self, node):
		"""A base of a cell is the class itself: its name may have another one by now."""
		if not isinstance(node, ast.Name):
			return False
		for c in self.obj.__bases__:
			d = self.kernel.by_id.get(id(c))
			if d is not None and c.__name__ == node.id:
				self.deps[node.id] = ["d", d.serial]
				return True
		return False

	def statement(self, node):
		if isinstance(node, ast.ClassDef):
			self.klass(node, set())
		elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
			self.function(node, set())
		else:
			self.expression(node.value, set())


def statements(body):
	"""Statements of a cell that run at its top level, in order, also below if, try, with and loops."""
	for s in body:
		yield s
		for field in ("body", "orelse", "finalbody"):
			if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
				yield from statements(getattr(s, field, ()))
		for h in getattr(s, "handlers", ()):
			yield from statements(h.body)


class Save:
	"""What is kept of the names as they stand now."""

	SKIP = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__",
		"__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__",
		"__abstractmethods__", "__parameters__", "__orig_bases__", "__hash__"}

	def __init__(self, kernel):
		self.kernel = kernel
		self.done = {}  # key -> Group of one
		self.shared = {}  # key -> {id: object}
		self.bad = {}  # key -> why
		self.names = {}
		self.values = {}  # key -> object of a name

	# what is pickled for a key

	def function_state(self, f):
		try:
			annotations = dict(f.__annotations__) or None
			if annotations:
				self.dump(annotations)
		except Exception:
			annotations = None
		return (f.__qualname__, f.__module__, f.__defaults__, f.__kwdefaults__, dict(f.__dict__), f.__doc__,
			annotations)

	def class_state(self, d):
		now_, then = members(d.made), d.members
		plain = type(d.made) is type or type(d.made).__name__ == "ABCMeta"
		given = {}
		for k, v in now_.items():
			if k in self.SKIP or k.startswith(("_abc_", "_is_protocol", "_is_runtime", "__dataclass_", "__match_args__")):
				continue
			is_code = callable(v) or hasattr(type(v), "__get__")
			if is_code and then.get(k, d) is v or isinstance(v, type):
				continue
			if not is_code and (not plain or k.startswith("__")):
				continue
			given[k] = v
		return given, [k for k in then if k not in now_ and not k.startswith("__")]

	def object(self, key):
		if key[0] == "n":
			return self.values[key]
		if key[0] == "c":
			try:
				return (self.kernel.cells[int(key[1:])].cell.cell_contents,)
			except ValueError:
				return ()
		d = self.kernel.definitions[int(key[1:])]
		if d.entry["kind"] == "function":
			return self.function_state(d.made)
		return self.class_state(d) if d.entry["kind"] == "class" else ({}, [])

	def dump(self, obj, most=None):
		k = self.kernel
		most = most or k.config.get("value_bytes") or 4194304
		out = Bounded(most, f"it has more than {most} bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead")
		p = Pickler(k, out)
		p.dump(obj)
		blob = out.getvalue()
		if any(c in blob for c in k.credentials):
			raise Refused("it holds a value of the environment")
		if b"__main__" in blob:
			Check(k, io.BytesIO(blob)).load()
		return blob, p

	def one(self, key):
		try:
			blob, p = self.dump(self.object(key))
		except RecursionError:
			self.bad[key] = "it is nested too deeply"
			return []
		except MemoryError:
			self.bad[key] = "memory is out"
			return []
		except Refused as e:
			self.bad[key] = short(e)
			return []
		except Exception as e:
			self.bad[key] = short(e) or type(e).__name__
			return []
		self.done[key] = Group([key], blob, p.definitions, p.cells)
		self.shared[key] = p.shared
		return self.needs(self.done[key])

	def needs(self, group):
		"""Keys of what definitions and cells hold that this group leads to."""
		reach = Reach(self.kernel)
		reach.group(group)
		out = [f"d{s}" for s, d in reach.definitions.items() if d.made is not None and d.filled]
		return out + [f"c{s}" for s, c in reach.cells.items() if c.filled]

	def collect(self):
		k, g = self.kernel, self.kernel.g
		for name, value in list(g.items()):
			if name.startswith("__") and name.endswith("__") or (name == "kz" and value is sys.modules["kz"]):
				continue
			try:
				ref = self.reference(name, value)
			except Refused as e:
				self.bad["n" + name] = short(e)
				self.values["n" + name] = value
				continue
			if ref:
				self.names[name] = ref
			else:
				self.values["n" + name] = value
		todo = [key for key in self.values if key not in self.bad]
		while todo:
			key = todo.pop()
			if key not in self.done and key not in self.bad:
				todo += self.one(key)
		for name, ref in k.names.items():
			if name not in g and not (ref[0] == "v" and ref[1].loaded) and name not in k.were_bound:
				self.names[name] = ref  # not touched: goes on as it is

	def reference(self, name, value):
		"""An import, when the name is one."""
		k = self.kernel
		if isinstance(value, types.ModuleType):
			return ["m", k.module_name(value)]
		bound = k.bound.get(name)
		if bound and below(sys.modules.get(bound[0]), bound[1], None) is value:
			if callable(value) or isinstance(value, type):
				return ["f"] + bound
			try:
				self.dump(value)
			except Exception:
				return ["f"] + bound
		return None

	def spread(self):
		"""What leads to something that is not kept is not kept either."""
		changed = True
		while changed:
			changed = False
			for key, group in list(self.done.items()):
				why = self.why_not(key, group)
				if why:
					del self.done[key]
					self.bad[key] = short(why)
					changed = True

	def why_not(self, key, group):
		k = self.kernel
		serials = set(group.definitions)
		cells = set(group.cells)
		if key[0] == "d":
			e = k.definitions[int(key[1:])].entry
			serials |= {r[1] for r in e["deps"].values() if r[0] in "da"}
			cells |= set(e["cells"])
		for s in serials:
			if f"d{s}" in self.bad:
				return f"{k.definitions[s].entry['name']} holds what is not saved: {self.bad[f'd{s}']}"
		for c in cells:
			if f"c{c}" in self.bad:
				return f"it holds a variable that is not saved: {self.bad[f'c{c}']}"
		return None

	def together(self):
		"""Keys that share something that can change are pickled as one. out: groups"""
		root = {key: key for key in self.done}

		def find(x):
			while root[x] != x:
				root[x] = root[root[x]]
				x = root[x]
			return x

		first = {}
		for key in self.done:
			for i in self.shared[key]:
				root[find(key)] = find(first.setdefault(i, key))
		sets = {}
		for key in self.done:
			sets.setdefault(find(key), []).append(key)
		groups = []
		for keys in sets.values():
			if len(keys) == 1:
				groups.append(self.done[keys[0]])
				continue
			try:
				blob, p = self.dump([self.object(x) for x in keys], 1 << 40)
				groups.append(Group(keys, blob, p.definitions, p.cells))
			except Exception as e:
				for key in keys:
					self.bad[key] = short(e)
					del self.done[key]
		return groups

	def place(self, groups):
		"""Names, definitions and cells point to their groups. out: all groups that are reached"""
		k = self.kernel
		for group in groups:
			for key in group.keys:
				if key[0] == "n":
					self.names[key[1:]] = ["v", group]
				elif key[0] == "d":
					k.definitions[int(key[1:])].entry["state"] = group
				else:
					k.cells[int(key[1:])].state = group
		reach = Reach(k)
		for ref in self.names.values():
			if ref[0] == "v":
				reach.group(ref[1])
		return reach

	def lost(self):
		out = []
		for key in self.values:
			if key in self.bad and len(out) < LIST_MAX:
				out.append({"name": short(key[1:]), "type": short(kind(self.values[key])), "reason": self.bad[key]})
		return out

	def missing(self):
		"""Names that are not there for the next cell, and why; for the hint beside a NameError."""
		k = self.kernel
		gone = {n: w for n, w in k.gone.items() if n not in self.names and n not in k.g} if not k.is_reset else {}
		gone.update((x["name"], x["reason"]) for x in k.report["lost"])
		return dict(list(gone.items())[-LIST_MAX:])

	def manifest(self, reach, blob_name):
		k = self.kernel
		groups, at, index = [], 0, {}
		for i, group in enumerate(reach.groups.values()):
			index[id(group)] = i
			n = len(group.blob)
			# bytes that were damaged stay so
			digest = sha256(group.blob).hexdigest() if not group.is_bad else "0" * 64
			groups.append([at, n, digest, group.keys, sorted(group.definitions), sorted(group.cells)])
			at += n
		definitions = []
		for d in reach.definitions.values():
			state = d.entry["state"]
			definitions.append(dict(d.entry, state=None if state is None else index[id(state)]))
		return {"v": 1, "language": "python", "python": "%d.%d" % sys.version_info[:2],
			"generation": k.generation + 1, "ran": k.ran, "serial": k.serial, "blob": blob_name,
			"names": {n: ["v", index[id(r[1])]] if r[0] == "v" else r for n, r in self.names.items()},
			"groups": groups, "definitions": definitions,
			"cells": [[c.serial, index[id(c.state)]] for c in reach.cells.values()],
			"imported": k.imported, "gone": self.missing()}

	def run(self):
		k = self.kernel
		if not k.is_reset:
			self.collect()
			self.spread()
			# a group that fails as a whole takes others along
			groups = self.together()
			while any(self.why_not(x, self.done[x]) for x in self.done):
				self.spread()
				groups = self.together()
			reach = self.place(groups)
		else:
			k.imported, reach = [], Reach(k)
		k.report["lost"] = self.lost() if not k.is_reset else []
		name = BLOBS[1] if k.blob_name == BLOBS[0] else BLOBS[0]
		text = dumps(self.manifest(reach, name), separators=(",", ":")).encode()
		blobs = b"".join(group.blob for group in reach.groups.values())
		most = k.config.get("total_bytes") or 8388608
		if len(text) + len(blobs) > most:
			k.report.update(status="refused", reason="kernel_state_over_bound", bytes=len(text) + len(blobs))
			return
		store(k, name, blobs, text)
		k.report.update(status="saved", generation=k.generation + 1, bytes=len(text) + len(blobs))


def put_file(path, data):
	fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
	try:
		view = memoryview(data)
		while view:
			view = view[write(fd, view) :]
		fsync(fd)
	finally:
		os.close(fd)


def store(k, name, blobs, text):
	try:
		put_file(k.path(name), blobs)
		put_file(k.path(MANIFEST + ".new"), text)
		replace(k.path(MANIFEST + ".new"), k.path(MANIFEST))
	except BaseException:
		for left in (name, MANIFEST + ".new"):
			try:
				unlink(k.path(left))
			except OSError:
				pass
		raise
	if k.blob_name and k.blob_name != name:
		try:
			unlink(k.path(k.blob_name))
		except OSError:
			pass


class Channel:
	"""Lines of JSON to the outside: calls of tools, and the report at the end."""

	def __init__(self, fd):
		self.fd, self.last, self.rest = fd, 0, b""
		self.lock = threading.Lock()
		if fd is not None:
			os.set_inheritable(fd, False)
			self.is_what = self.what()

	def what(self):
		s = fstat(self.fd)
		return s.st_dev, s.st_ino

	def state(self, generation):
		self.send({"v": 1, "type": "state", "generation": generation})

	def is_heard(self, generation):
		"""A cell may have closed the descriptor, or put a file of its own in its place."""
		if self.fd is None:
			return True
		try:
			if self.what() == self.is_what:
				self.state(generation)
				return True
		except OSError:
			pass
		self.fd = None
		return False

	def send(self, o):
		if self.fd is None:
			return
		data = memoryview(dumps(o, separators=(",", ":"), ensure_ascii=True).encode() + b"\n")
		while data:
			data = data[write(self.fd, data) :]

	def line(self):
		while b"\n" not in self.rest:
			more = os.read(self.fd, 65536)
			if not more:
				raise ToolError("tool_failed", "nobody answers")
			self.rest += more
		line, _, self.rest = self.rest.partition(b"\n")
		return loads(line)

	def call(self, name, arguments):
		text = dumps(arguments)  # what is no JSON is told here
		with self.lock:
			self.last += 1
			self.send({"v": 1, "type": "call", "id": self.last, "tool": name, "arguments": loads(text)})
			while True:
				o = self.line()
				if o.get("id") == self.last:
					break
		if "error" in o:
			raise ToolError(o["error"].get("reason"), o["error"].get("text"))
		return o.get("result")


class ToolError(Exception):
	"""A tool was not called, or failed."""

	def __init__(self, reason, text):
		super().__init__(f"{reason}: {text}")
		self.reason = reason


class Tools:
	"""kz.tools.NAME(key=value) or kz.tools["NAME"]({...}): read-only tools that this cell may call."""

	def __init__(self, channel, names):
		self.__dict__.update(_channel=channel, _names=list(names))

	def __dir__(self):
		return list(self._names)

	def __getitem__(self, name):
		# a name that is not in the list is asked for all the same: the answer tells why not
		def call(*args, **arguments):
			if self._channel.fd is None:
				raise ToolError("tool_unknown", "this cell has no tools")
			if args and (len(args) > 1 or arguments or not isinstance(args[0], dict)):
				raise TypeError("a tool takes named arguments, or one dict of them")
			return self._channel.call(name, args[0] if args else arguments)

		call.__name__ = call.__qualname__ = name
		return call

	def __getattr__(self, name):
		if name.startswith("__"):
			raise AttributeError(name)
		return self[name]


class CellRun:
	"""Running the text of one cell."""

	def __init__(self, kernel, data, args):
		self.kernel, self.data, self.args = kernel, data, args
		self.status = 0
		self.built = []

	def parse(self):
		"""out: tree, or None for a text that is no Python, which was told."""
		k = self.kernel
		k.file = f"<cell {k.ran + 1}>"
		try:
			encoding = __import__("tokenize").detect_encoding(io.BytesIO(self.data).readline)[0]
			self.text = io.TextIOWrapper(io.BytesIO(self.data), encoding).read()
			tree = ast.parse(self.text, k.file)
			self.compile(ast.parse(self.text, k.file))
		except (SyntaxError, ValueError, UnicodeError, RecursionError, LookupError) as e:
			k.ran += 1
			k.sources.add(k.file, 1, getattr(self, "text", ""))
			self.tell(e.with_traceback(None))
			return None
		k.ran += 1
		k.sources.add(k.file, 1, self.text)
		return tree

	def build_class(self, *args, **keywords):
		"""Notes the classes of the cell as they are made: a name may have another class at its end."""
		made = build_class(*args, **keywords)
		frame = sys._getframe(1)
		if frame.f_code.co_filename == self.kernel.file and frame.f_code.co_name == "<module>":
			self.built.append((made, frame.f_lineno))
		return made

	def show(self, value):
		if value is not None:
			print(repr(value))

	def compile(self, tree):
		last = tree.body[-1] if tree.body else None
		if isinstance(last, ast.Expr) and not self.is_quiet(last):
			show = ast.copy_location(ast.Name("__kz_show__", ast.Load()), last)
			call = ast.copy_location(ast.Call(show, [last.value], []), last)
			tree = ast.Module(tree.body[:-1] + [ast.copy_location(ast.Expr(call), last)], tree.type_ignores)
		return compile(tree, self.kernel.file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)

	def is_quiet(self, last):
		"""As in a notebook: a last line that ends with ';' shows nothing."""
		rows = self.text.splitlines()[last.end_lineno - 1 :]
		after = (rows[0].encode()[last.end_col_offset :].decode() if rows else "") + "".join(rows[1:])
		return after.lstrip().startswith(";")

	def go(self, tree):
		k = self.kernel
		k.g["__kz_show__"] = self.show
		builtins.__build_class__ = self.build_class
		try:
			code = self.compile(tree)
			if code.co_flags & 0x80:  # a coroutine: it waits at its top level
				import asyncio

				asyncio.run(eval(code, k.g))
			else:
				exec(code, k.g)
		except SystemExit as e:
			self.status = self.exit_status(e)
		except BaseException as e:
			self.status = 130 if isinstance(e, KeyboardInterrupt) else 1
			self.tell(e)
		k.g.pop("__kz_show__", None)
		builtins.__build_class__ = build_class

	@staticmethod
	def exit_status(e):
		if e.code is None or isinstance(e.code, int):
			return (e.code or 0) & 255
		print(e.code, file=sys.stderr)
		return 1

	def tell(self, e):
		tb = e.__traceback__
		while tb and tb.tb_frame.f_code.co_filename == __file__:
			tb = tb.tb_next
		e.__traceback__ = tb
		try:
			if sys.excepthook is sys.__excepthook__:  # which does not know the text of cells
				traceback.print_exception(type(e), e, tb)
			else:
				sys.excepthook(type(e), e, tb)
		except BaseException:
			traceback.print_exception(type(e), e, tb)
		why = self.kernel.gone.get(getattr(e, "name", None)) if isinstance(e, NameError) else None
		if why:
			print(f"kernel: {e.name} was not kept after its cell: {why}", file=sys.stderr)

	def names(self, tree):
		"""Imports and definitions of the cell, in their order."""
		k = self.kernel
		for s in statements(tree.body):
			if isinstance(s, ast.Import):
				k.imported += [a.name for a in s.names if a.name not in k.imported]
			elif isinstance(s, ast.ImportFrom) and not s.level and s.module:
				self.from_import(s)
		flags = 0
		for s in tree.body:
			if isinstance(s, ast.ImportFrom) and s.module == "__future__":
				for a in s.names:
					flags |= getattr(__import__("__future__"), a.name).compiler_flag
		for s in statements(tree.body):
			self.define(s, flags)

	def from_import(self, s):
		k = self.kernel
		if s.module not in k.imported:
			k.imported.append(s.module)
		for a in s.names:
			if a.name == "*":
				m = sys.modules.get(s.module)
				for n in getattr(m, "__all__", None) or [x for x in dir(m) if x[:1] != "_"]:
					k.bound[n] = [s.module, n]
			else:
				k.bound[a.asname or a.name] = [s.module, a.name]

	def last_of(self, s, name):
		"""What a statement defined: of a class without decorators the class itself, else what its name has now."""
		if isinstance(s, ast.ClassDef) and not s.decorator_list:
			mine = [c for c, line in self.built if line == s.lineno and c.__name__ == name]
			return mine[-1] if mine else None
		return self.kernel.g.get(name)

	def define(self, s, flags):
		k = self.kernel
		if isinstance(s, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
			name = s.name
		elif isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and \
				isinstance(s.value, ast.Call):
			name = s.targets[0].id
		else:
			return
		obj = self.last_of(s, name)
		if obj is None or id(obj) in k.by_id or type(obj) is types.FunctionType:
			return
		if isinstance(s, ast.Assign):
			# only what pickle would look for by its name
			is_type = isinstance(obj, type) or type(obj).__module__ == "typing"
			if not is_type or getattr(obj, "__module__", None) != "__main__":
				return
		elif isinstance(s, ast.ClassDef):
			if not isinstance(obj, type) or obj.__module__ != "__main__" or obj.__qualname__ != name:
				return
		elif getattr(getattr(obj, "__wrapped__", None), "__code__", None) is None or \
				obj.__wrapped__.__code__.co_firstlineno != first_line(s) or \
				obj.__wrapped__.__code__.co_filename != k.file:
			return
		k.register_statement(obj, s, name, self.text, k.file, flags)


def drain():
	"""Threads that are about to end may; the others do not hold a cell. out: how many are left"""
	until = now() + DRAIN
	for t in threading.enumerate():
		if t is not threading.main_thread() and not t.daemon:
			t.join(max(0.0, until - now()))
	return sum(1 for t in threading.enumerate() if t is not threading.main_thread() and t.is_alive())


def make_kz(kernel, channel):
	kz = types.ModuleType("kz", "What a cell of a kernel has beside Python: tools, and forgetting.")
	kz.tools = Tools(channel, kernel.config.get("tools") or ())
	kz.ToolError = ToolError

	def reset():
		"""Forget all variables when this cell ends."""
		kernel.is_reset = True

	kz.reset = reset
	sys.modules["kz"] = kernel.g["kz"] = kz


def flush():
	for s in (sys.stdout, sys.stderr):
		try:
			s.flush()
		except (OSError, ValueError, AttributeError):
			pass


def calm():
	"""The cell is over, and so are its handlers: one that raised between the new state's rename and the end of it would
	have the new state's values removed."""
	for number in valid_signals():
		if callable(getsignal(number)):
			set_signal(number, SIG_IGN)


def settle(kernel, cell, tree, channel):
	"""After the cell: what it left is saved, or the state before it stays."""
	left = drain()
	if left:
		kernel.note(f"{left} thread(s) of the cell were still running; they are ended")
	try:
		calm()
		if channel.is_heard(kernel.generation):
			cell.names(tree)
			Save(kernel).run()
		else:  # that a state was not saved is what is said of a cell without a report
			print("kernel: the cell closed descriptor 3: its state is not saved", file=sys.stderr)
	except MemoryError:
		kernel.note("the state was not saved: memory is out")
	except Exception as e:
		kernel.note(f"the state was not saved: {type(e).__name__}: {e}")
	return left


def main():
	config = loads(sys.argv[1])
	with open_file(sys.argv[2], "rb") as f:
		data = f.read()
	channel = Channel(config.get("channel"))
	kernel = Kernel(config)
	sys.argv = sys.argv[2:]
	sys.path[:0] = [kernel.space] + [p for p in os.environ.get("PYTHONPATH", "").split(":") if p and p != kernel.space]
	sys.modules["__main__"] = kernel.main
	kernel.g["__kz_kernel__"] = kernel
	make_kz(kernel, channel)
	pid, left = os.getpid(), 0
	kernel.read()
	try:
		sys.stdout.reconfigure(line_buffering=True)  # what a cell said before it was killed is seen
		channel.state(kernel.generation)
	except (OSError, AttributeError):
		pass
	cell = CellRun(kernel, data, sys.argv)
	tree = cell.parse()
	if tree is None:
		cell.status = 1
	else:
		kernel.restore(cell.text)
		kernel.were_bound = set(kernel.g)
		cell.go(tree)
		flush()
		if os.getpid() != pid:  # a child of the cell is no cell
			real_exit(cell.status)
		left = settle(kernel, cell, tree, channel)
	try:
		channel.send(kernel.report)
	except OSError:
		pass
	flush()
	if left:
		real_exit(cell.status)
	sys.exit(cell.status)


if __name__ == "__main__":
	main()
