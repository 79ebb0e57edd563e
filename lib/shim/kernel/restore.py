# Making again what cells defined, and unpickling what a cell may touch.


class Restoring:
	"""The part of Kernel that makes things again."""

	def import_module(self, name):
		__import__(name)
		for sub in self.imported:
			if sub.startswith(name + ".") and sub not in sys.modules:
				try:
					__import__(sub)
				except BaseException as e:
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
			with Quiet(values.values()):
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
			given, gone, *inner = state
			for f, code in zip(inner, wrapped(d.made)):
				code.__defaults__, code.__kwdefaults__ = f[:2]
				code.__dict__.update(f[2])
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
			values = Unpickler(self, BytesIO(group.blob)).load()
			for key, value in zip(group.keys, [values] if len(group.keys) == 1 else values):
				self.put(key, value, group)
			return True
		except BaseException as e:
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
		except BaseException as e:
			self.restore_lost(name, f"{type(e).__name__}: {e}")
		return name in self.g

	def restore_lost(self, name, why):
		ours = self.report["restore_lost"]
		if len(ours) < LIST_MAX and not any(x["name"] == name for x in ours):
			ours.append({"name": name, "type": "", "reason": short(why)})

	def wanted(self, text):
		"""Names that this text may touch, through the functions and values it uses."""
		todo, seen = words(text), set()
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
