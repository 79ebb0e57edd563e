# Pickling: what is refused, what is shared, and references to what is no value.
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
ATOMS = {int, float, complex, str, bytes, bool, type(None), tuple, frozenset, range, slice, type(...),
	 types.BuiltinFunctionType}


class Bounded(BytesIO):
	def __init__(self, most, error):
		super().__init__()
		self.most, self.error = most, error

	def write(self, data):
		if self.tell() + memoryview(data).nbytes > self.most:  # a buffer of an array has no len
			raise self.error
		return super().write(data)


class Pickler(pickle.Pickler):
	"""Pickles one value: notes what it shares, refuses what must not be kept."""

	def __init__(self, kernel, file):
		super().__init__(file, protocol=min(5, pickle.HIGHEST_PROTOCOL))
		self.dispatch_table = dict(copyreg.dispatch_table)
		self.kernel = kernel
		self.shared = {}  # id -> object that can change, kept so that no id is used twice
		self.definitions = set()
		self.cells = set()
		self.is_doubtful = False  # what is made of it may not load

	def persistent_id(self, obj):
		t = type(obj)
		if t in ATOMS:
			if (t is str or t is bytes) and obj in self.kernel.environment:
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
		if isinstance(obj, BaseException) and type(t.__init__) is types.FunctionType:
			if is_plain_exception(t):
				self.dispatch_table[t] = reduce_exception
			else:
				self.is_doubtful = True
		if t is bytearray and len(obj) <= self.kernel.longest and bytes(obj) in self.kernel.environment:
			raise Refused("a value of the environment")
		if t.__hash__ is None or t.__dictoffset__ or t.__module__ == "__main__" or changes(t):
			if not isinstance(obj, self.kernel.enum()):
				self.shared[id(obj)] = obj
		return None


def changes(t):
	"""Can an object of this type change, though it has neither attributes of its own nor forbids to be hashed?"""
	return hasattr(t, "__next__") or str(t.__module__).startswith(("xml.etree", "numpy.random"))


# Exceptions that keep more than their arguments make it in their own __init__.
SPECIAL = (SyntaxError, ImportError, OSError, UnicodeError, StopIteration, SystemExit, NameError, AttributeError,
	   getattr(builtins, "BaseExceptionGroup", SyntaxError))


def is_plain_exception(t):
	"""Is it, but for an __init__ of its own, as any? That need not take the arguments that the exception has in the end."""
	return t.__reduce__ is BaseException.__reduce__ and \
		t.__reduce_ex__ is object.__reduce_ex__ and t.__setstate__ is BaseException.__setstate__ and \
		t.__new__ is new_exception(t) and not issubclass(t, SPECIAL)


def new_exception(t):
	"""The __new__ of the exceptions of the interpreter."""
	return next(c.__new__ for c in t.__mro__ if c.__module__ == "builtins")


def reduce_exception(e):
	"""Its __init__ does not run again: pickle would call the class with other arguments than the cell did."""
	return copyreg.__newobj__, (type(e), *e.args), e.__dict__ or None


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
	wrong = pickle.UnpicklingError

	def __init__(self, kernel, file):
		super().__init__(file)
		self.kernel = kernel

	def persistent_load(self, pid):
		return self.kernel.resolve(pid)

	def find_class(self, module, name):
		if module == "__main__":
			raise self.wrong(f"{name} has no definition that can be replayed")
		return super().find_class(module, name)


class Check(Unpickler):
	"""Would it load? Only for pickles that have the word __main__ in them, or an exception of a kind that often does not."""

	wrong = Refused
