# May the statement that made a class be run again?
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


class Purity:
	"""May this statement be run again? Collects what it reads, and values that are kept instead of computed."""

	def __init__(self, kernel, obj, node, flags):
		self.is_late = flags & __future__.annotations.compiler_flag
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

	def annotation(self, node, local):
		"""One that is text is not computed; what it names is there all the same, for who looks."""
		is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
		if node is None or not (is_text or self.is_late):
			self.expression(node, local)
			return
		for word in words(node.value if is_text else ast.unparse(node)):
			try:
				self.name(word, local)
			except Refused:
				pass

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
			self.annotation(x.annotation, local)
		self.annotation(node.returns, local)

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
			self.annotation(s.annotation, local)
			self.value(s.value, local)
			if not isinstance(s.target, ast.Name):
				raise Refused("its body does more than define")
			if s.value is not None:
				local.add(s.target.id)
		elif not isinstance(s, ast.Pass) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
			raise Refused(f"its body does more than define ({type(s).__name__})")

	def klass(self, node, local):
		if node is self.node and isinstance(self.obj, type):
			for c in type(self.obj).__mro__:
				if c.__module__ == "__main__" and {"__new__", "__init__", "__call__", "__prepare__"} & set(vars(c)):
					raise Refused("its metaclass would run again")
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
		keeps = self.keeps_values
		self.keeps_values = keeps and node is self.node  # of a class within it nothing is saved
		for s in node.body:
			self.member(s, inner)
		self.keeps_values = keeps

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
