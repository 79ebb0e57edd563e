# What a function or class of a cell is made from.


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


def wrapped(obj):
	"""The functions of a cell below a decorated one, outer first."""
	out = []
	while is_of_cell(getattr(obj, "__wrapped__", None)) and len(out) < 20:
		obj = obj.__wrapped__
		out.append(obj)
	return out


class Quiet:
	"""A class made again is nothing new: what its bases do about a new subclass they did when it was made first."""

	def __init__(self, values):
		self.values, self.before = list(values), []

	def __enter__(self):
		seen = {c for v in self.values if isinstance(v, type) for c in v.__mro__ if "__init_subclass__" in vars(c)}
		for c in seen:
			if is_of_cell(getattr(vars(c)["__init_subclass__"], "__func__", None)):
				self.before.append((c, vars(c)["__init_subclass__"]))
				c.__init_subclass__ = classmethod(lambda cls, **keywords: None)

	def __exit__(self, *_):
		for c, method in self.before:
			c.__init_subclass__ = method


def stands_in(value, node, file):
	"""Was this member made by the statement itself? A function of a cell that stands elsewhere was put there later."""
	f = getattr(value, "__func__", getattr(value, "fget", value))
	code = getattr(f, "__code__", None)
	if code is None or not code.co_filename.startswith("<cell "):
		return callable(value) or hasattr(type(value), "__get__")
	return code.co_filename == file and node.lineno <= code.co_firstlineno <= node.end_lineno


class Defining:
	"""The part of Kernel that knows definitions."""

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
			file = obj.__code__.co_filename
			if file[:1] != "<":
				raise Refused(f"function {obj.__name__}: {file.rpartition('/')[2]} made it, not the text of a cell")
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
		self.no_credential(entry["source"].encode("utf-8", "surrogatepass"))
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
			if isinstance(parent, ast.ClassDef) and not isinstance(node, ast.Lambda):
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
			if hasattr(obj, "registry") and hasattr(obj, "dispatch"):
				raise Refused("what was registered for single dispatch is not saved")
			deps, blanks = self.pure(obj, node, flags)
			d = self.new(obj, {"kind": "class" if isinstance(node, ast.ClassDef) else "other", "name": name, "code": name,
					   "file": file, "line": first_line(node), "flags": flags, "free": [], "cells": [],
					   "deps": deps, "blank": [list(b) for b in blanks], "source": text_of(node, text, 1)})
		except Refused as e:
			self.why[id(obj)] = (obj, f"{name}: {e}")
			return
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

	def pure(self, obj, node, flags):
		p = Purity(self, obj, node, flags)
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
