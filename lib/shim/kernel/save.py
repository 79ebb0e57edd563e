# Choosing what is kept of a cell's names, and telling what is not.


class Save:
	"""What is kept of the names as they stand now."""

	SKIP = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__",
		"__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__",
		"__abstractmethods__", "__parameters__", "__orig_bases__", "__hash__"}

	# names of every module, not of a cell
	OURS = {"__name__", "__doc__", "__package__", "__loader__", "__spec__", "__file__", "__cached__", "__path__", "__builtins__",
		"__annotations__", "__annotate__", "__conditional_annotations__", "__warningregistry__", "__kz_kernel__"}

	WRAPS = {"__wrapped__", "__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__type_params__",
		 "cache_parameters", "__annotate__"}

	def __init__(self, kernel):
		self.kernel = kernel
		self.done = {}  # key -> Group of one
		self.shared = {}  # key -> {id: object}
		self.bad = {}  # key -> why
		self.names = {}
		self.values = {}  # key -> object of a name
		self.most = kernel.config.get("total_bytes") or 8388608
		self.held = 0  # bytes of all pickles so far

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
		left_out = blank_names(d.entry)
		given = {}
		for k, v in now_.items():
			if k in self.SKIP or k.startswith(("_abc_", "_is_protocol", "_is_runtime", "__dataclass_", "__match_args__")):
				continue
			is_code = callable(v) or hasattr(type(v), "__get__")
			if k not in left_out and (is_code and then.get(k, d) is v or isinstance(v, type)):
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
		if d.entry["kind"] == "class":
			return self.class_state(d)
		given = {}
		if hasattr(d.made, "__wrapped__"):
			given = {k: v for k, v in d.made.__dict__.items() if k not in self.WRAPS}
		return given, [], *((f.__defaults__, f.__kwdefaults__, {k: v for k, v in f.__dict__.items() if k != "__wrapped__"})
				    for f in wrapped(d.made))

	def dump(self, obj, is_alone=True):
		k = self.kernel
		most = k.config.get("value_bytes") or 4194304
		why = f"it has more than {most} bytes (KZ_KERNEL_VALUE_BYTES); keep it in a file instead"
		out = Bounded(most, Refused(why)) if is_alone else Bounded(self.most, Over())
		p = Pickler(k, out)
		p.dump(obj)
		blob = out.getvalue()
		k.no_credential(blob)
		if p.is_doubtful or b"__main__" in blob:
			Check(k, BytesIO(blob)).load()
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
		except BaseException as e:
			self.bad[key] = short(e) or type(e).__name__
			return []
		self.done[key] = Group([key], blob, p.definitions, p.cells)
		self.held += len(blob)
		if self.held > self.most:  # more than a state has: made again if it turns out to be less, when some is shared
			self.done[key].blob = None
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
		# in an order that stays, so that what did not change is the same text
		names = [n for n in k.names if n in g] + [n for n in g if n not in k.names]
		for name, value in [(n, g[n]) for n in names]:
			if type(name) is not str:
				self.bad[f"n{name!r}"], self.values[f"n{name!r}"] = "its name is no text", value
				continue
			if name in self.OURS or (name == "kz" and value is k.kz):
				continue
			try:
				k.no_credential(name.encode("utf-8", "surrogatepass"))
				ref = self.reference(name, value)
			except BaseException as e:
				self.bad["n" + name] = short(e) or type(e).__name__
				self.values["n" + name] = value
				continue
			if ref:
				self.names[name] = ref
			else:
				self.values["n" + name] = value
		todo = [key for key in self.values if key not in self.bad][::-1]
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
		for keys in sets.values():
			keys.sort()
		groups = []
		for keys in sets.values():
			if len(keys) == 1:
				groups.append(self.done[keys[0]])
				continue
			try:
				blob, p = self.dump([self.object(x) for x in keys], False)
				groups.append(Group(keys, blob, p.definitions, p.cells))
			except Over:
				raise
			except BaseException as e:
				for key in keys:
					self.bad[key] = short(e) or type(e).__name__
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
		self.names = {n: self.names[n] for n in [*k.names, *k.g, *self.names] if n in self.names}
		reach = Reach(k)
		for ref in self.names.values():
			if ref[0] == "v":
				reach.group(ref[1])
		return reach

	def lost(self):
		bad = [key for key in self.values if key in self.bad]
		if len(bad) > LIST_MAX:
			self.kernel.report["notes"].insert(0, f"{len(bad) - LIST_MAX} more names were not kept")
		clean = self.kernel.clean
		return [{"name": clean(key[1:]), "type": clean(kind(self.values[key])), "reason": clean(self.bad[key])}
			for key in bad[:LIST_MAX]]

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

	def is_as_before(self, m):
		"""Would the state be the one that is stored? The number of cells that ran is nothing that is kept."""
		counts = {"generation", "ran", "serial", "blob", "python"}
		before = self.kernel.before
		if not before and before is not None:  # there was none
			return not (m["names"] or m["gone"] or m["imported"])
		return before is not None and all(before.get(k) == loads(dumps(v)) for k, v in m.items() if k not in counts)

	def choose(self):
		"""out: all that is reached by what is kept"""
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
		if sum(group.size for group in reach.groups.values()) > self.most:
			raise Over
		for group in reach.groups.values():
			if group.blob is None:
				group.blob = self.dump(self.object(group.keys[0]))[0]
		return reach

	def run(self):
		k = self.kernel
		try:
			self.write(self.choose())
		except Over:
			k.report["lost"] = self.lost()
			k.report.update(status="refused", reason="kernel_state_over_bound", bytes=max(self.held, self.most + 1))

	def write(self, reach):
		k = self.kernel
		name = BLOBS[1] if k.blob_name == BLOBS[0] else BLOBS[0]
		m = self.manifest(reach, name)
		is_new = not self.is_as_before(m)
		text = dumps(m, separators=(",", ":")).encode()
		blobs = b"".join(group.blob for group in reach.groups.values())
		if len(text) + len(blobs) > self.most:
			raise Over
		if is_new:
			store(k, name, blobs, text)
		else:
			remove(k, name, MANIFEST + ".new")
		k.report.update(status="saved", generation=k.generation + is_new, bytes=len(text) + len(blobs))
