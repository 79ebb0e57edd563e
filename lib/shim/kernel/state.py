# What the state is made of: names, definitions, variables that functions share, groups of pickles.
# A cell that has one of these words may reach any name.
DYNAMIC = {"globals", "locals", "vars", "dir", "eval", "exec", "__main__", "__name__", "inspect",
	   "_getframe", "modules", "runpy", "query", "compile", "__globals__", "__builtins__"}


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
		return words(self.entry["source"]) | set(self.entry["deps"])


class Group:
	"""Values that are pickled together: names (nNAME), and what definitions (dN) and cells (cN) hold."""

	def __init__(self, keys, blob, definitions, cells):
		self.keys, self.blob, self.definitions, self.cells = keys, blob, definitions, cells
		self.size = len(blob)
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


class Cell:
	"""A variable that functions share after the call that made them ended."""

	def __init__(self, serial, cell, state):
		self.serial, self.cell, self.state = serial, cell, state
		self.filled = False
