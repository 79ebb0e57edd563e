# Text of cells, and code of functions compiled again from it; nothing of it runs.
WORD = re.compile(r"[^\W\d]\w*")
WIDE = re.compile("[A-Za-z_\x80-\U0010ffff][0-9A-Za-z_\x80-\U0010ffff]*")
FUTURE = 0
for _n in __future__.all_feature_names:
	FUTURE |= getattr(__future__, _n).compiler_flag


def rows_of(text):
	"""Lines with their ends, as Python counts them: nothing but a line feed ends one."""
	return StringIO(text).readlines()


def words(text):
	"""What may be a name in a text: one of another script may have marks in it, and is bound by its compatible form."""
	found = set(WORD.findall(text))
	if not text.isascii():
		from unicodedata import normalize  # the parser has it by then

		found |= {normalize("NFKC", word) for word in WIDE.findall(text)}
	return found


class Sources:
	"""Text of cells by file name, in pieces that begin at a line; and the trees of them."""

	def __init__(self):
		self.pieces = {}  # file -> [(line, text, nodes)]

	def add(self, file, line, text):
		pieces = self.pieces.setdefault(file, [])
		if any(p[0] == line and p[1] == text for p in pieces):
			return
		pieces.append([line, text, None])
		rows = rows_of(text)
		lines = list(linecache.cache.get(file, (0, None, [], file))[2])
		lines += ["\n"] * (line - 1 + len(rows) - len(lines))
		for i, row in enumerate(rows, line - 1):
			if lines[i] == "\n":
				lines[i] = row if row[-1:] == "\n" else row + "\n"  # each has an end, or marks in it are one off
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
	lines = rows_of(text)
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
	found = compiled(entry, node, [])
	if found is not None and entry["code"] in found.co_freevars and entry["code"] not in entry["free"]:
		# a function of the top level that calls itself by its name
		found = compiled(entry, node, [ast.Global([entry["code"]])])
	if found is None or list(found.co_freevars) != entry["free"]:
		raise Refused("its source does not give its code")
	return rename(found, entry["prefix"])


def compiled(entry, node, body):
	"""The code of a function, compiled below one that has the variables that it shares."""
	if entry["free"]:
		names = [ast.Name(n, ast.Store()) for n in entry["free"]]
		body = body + [ast.Assign(names, ast.Constant(None))]
	outer = ast.parse("def __kz_outer__(): pass").body[0]
	outer.body = body + [node]
	outer.lineno = outer.end_lineno = entry["line"]
	module = ast.fix_missing_locations(ast.Module(body=[outer], type_ignores=[]))
	return code_inside(compile(module, entry["file"], "exec", entry["flags"], True), entry["code"])


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


def blank(tree, places):
	"""Values at these places are not computed again; they come from what was saved."""
	if not places:
		return
	for node in ast.walk(tree):
		if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
			if (node.value.lineno, node.value.col_offset) in places:
				node.value = ast.copy_location(ast.Constant(None), node.value)


def blank_names(entry):
	"""Attributes of a class that its definition does not make again."""
	if not entry["blank"]:
		return set()
	names = set()
	for node in ast.walk(Sources.parse(entry["source"], entry["line"])):
		if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and \
				[node.value.lineno, node.value.col_offset] in entry["blank"]:
			names |= {t.id for t in (node.targets if isinstance(node, ast.Assign) else [node.target])}
	return names
