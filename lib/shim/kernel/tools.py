# The channel to the outside, and tools over it.


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
		text = dumps(arguments, allow_nan=False)  # what is no JSON is told here
		with self.lock:
			self.last += 1
			self.send({"v": 1, "type": "call", "id": self.last, "tool": name, "arguments": loads(text)})
			while True:
				o = self.line()
				if o.get("id") in (self.last, 0):  # 0: what was said could not be read
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
