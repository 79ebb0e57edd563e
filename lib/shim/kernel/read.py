# Reading the state: a list and bytes that may be cut, altered or made up.
LINES_MAX = 1 << 22  # of a cell


def number(n, most=1 << 53):
	"""A number of the list that can be counted on and told."""
	if type(n) is not int or not 0 <= n < most:
		raise ValueError
	return n


class Reading:
	"""The part of Kernel that reads."""

	def path(self, name):
		return join(self.space, name)

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
		except Exception:
			self.damaged("its list cannot be read")
			return
		try:
			self.take(m)
		except Exception:
			self.damaged("its list makes no sense")

	def damaged(self, why):
		self.names, self.definitions, self.cells, self.imported = {}, {}, {}, []
		self.report["damaged"] = True
		self.before = None
		self.report["restore_lost"].append({"name": "*", "type": "", "reason": f"the saved state is damaged: {why}"})

	def take(self, m):
		if m["v"] != 1 or m["language"] != "python":
			raise ValueError
		self.generation, self.ran, self.serial = number(m["generation"]), number(m["ran"]), number(m["serial"])
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
		self.before = m
		names = {}
		for name, ref in m["names"].items():
			if ref[0] not in ("m", "f", "v") or (ref[0] == "v" and not 0 <= ref[1] < len(groups)):
				raise ValueError
			names[str(name)] = [ref[0], groups[ref[1]]] if ref[0] == "v" else list(map(str, ref))
		definitions = {}
		for e in m["definitions"]:
			e = dict(e)
			state = e.pop("state")
			number(e["line"], LINES_MAX)
			d = Definition(number(e["serial"]), e)
			e["state"] = groups[state] if state is not None else None
			definitions[d.serial] = d
		for serial, state in m["cells"]:
			cell = Cell(number(serial), types.CellType(), groups[state])
			self.cells[cell.serial] = cell
			self.cell_by_id[id(cell.cell)] = cell
		self.names, self.definitions = names, definitions
		self.imported = [str(x) for x in m["imported"]]
		self.gone = {str(n): str(w) for n, w in m["gone"].items()}
		self.report["generation"] = self.generation
		for d in definitions.values():
			self.sources.add(d.entry["file"], d.entry["line"], d.entry["source"])
