# Running the text of a cell.


def statements(body):
	"""Statements of a cell that run at its top level, in order, also below if, try, with and loops."""
	for s in body:
		yield s
		for field in ("body", "orelse", "finalbody"):
			if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
				yield from statements(getattr(s, field, ()))
		for h in getattr(s, "handlers", ()):
			yield from statements(h.body)


def is_of_cell(obj):
	return type(obj) is types.FunctionType and obj.__code__.co_filename.startswith("<cell ")


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
			encoding = detect_encoding(io.BytesIO(self.data).readline)[0]
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
		rows = rows_of(self.text)[last.end_lineno - 1 :]
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
			set_trace(None)
			regain()
		except SystemExit as e:
			regain()
			self.status = self.exit_status(e)
		except BaseException as e:
			regain()
			self.status = 130 if isinstance(e, KeyboardInterrupt) else 1
			self.tell(e)
		k.g.pop("__kz_show__", None)

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
		if isinstance(e, NameError):
			self.hint(getattr(e, "name", None))

	def hint(self, name):
		"""Why a name that an earlier cell had is not there."""
		why = self.kernel.gone.get(name)
		if why:
			print(f"kernel: {name} was not kept after its cell: {why}", file=sys.stderr)
		for x in self.kernel.report["restore_lost"]:
			if x["name"] == name:
				print(f"kernel: {name} is kept, but could not be restored now: {x['reason']}", file=sys.stderr)

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
					flags |= getattr(__future__, a.name).compiler_flag
		for s in statements(tree.body):
			try:
				self.define(s, flags)
			except BaseException:  # an object that lets nobody look at it is told when it is pickled
				pass

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
		if obj is None or id(obj) in k.by_id or is_of_cell(obj):
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
