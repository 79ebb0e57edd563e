# The kernel of one cell: what is known of its names.


def forms(value):
	"""A credential as text of one, two and four bytes a character, as hex, and within base64 at each of its three places."""
	import base64

	yield value
	for width in (2, 4):
		yield b"".join(bytes([c]) + bytes(width - 1) for c in value)
	yield value.hex().encode()
	for before in range(3):
		n = (before + len(value)) // 3 * 3 - before  # that fill whole groups
		text = base64.b64encode(b"?" * before + value[:n])[(0, 4, 4)[before] :]
		if len(text) >= 8:
			yield text
			yield text.translate(bytes.maketrans(b"+/", b"-_"))


class Kernel(Reading, Restoring, Defining):
	"""What a cell knows of its names, and what is told at its end."""

	def __init__(self, config):
		self.config = config
		self.space = config.get("space") or "/work/space"
		self.main = Main("__main__")
		self.g = self.main.__dict__
		self.g["__builtins__"] = builtins
		self.sources = Sources()
		self.definitions = {}  # serial -> Definition
		self.by_id = {}  # id of what was made -> Definition
		self.names = {}  # name -> ["m", module] | ["f", module, attribute] | ["v", group]
		self.cells = {}  # serial -> Cell
		self.cell_by_id = {}
		self.imported = []  # modules that import statements named
		self.bound = {}  # name -> [module, attribute] of a from-import
		self.generation = self.ran = self.serial = 0
		self.blob_name = None
		self.before = {}  # the list that was read; None when it made no sense
		self.report = {"v": 1, "type": "report", "status": "kept_previous", "generation": 0, "bytes": 0,
			       "restored": 0, "lost": [], "restore_lost": [], "notes": []}
		self.is_reset = False
		self.gone = {}  # name that a cell had and that was not saved -> why
		self.why = {}  # id of an object -> why it has no definition
		self.environment = {v for k, v in os.environ.items() if k not in PLAIN_ENV and len(v) >= 8}
		self.environment |= {os.fsencode(v) for v in self.environment}
		self.longest = max(map(len, self.environment), default=0)
		self.credentials = [form for k, v in os.environ.items() if k not in PLAIN_ENV and len(v) >= 6 and CREDENTIAL.search(k)
				    for form in forms(os.fsencode(v))]
		self.file = self.kz = None
		self.queue = []

	def no_credential(self, data):
		if any(c in data for c in self.credentials):
			raise Refused("it holds a value of the environment")

	def clean(self, text):
		"""One line that may be told, and stored."""
		try:
			self.no_credential(str(text).encode("utf-8", "surrogatepass"))
		except Refused as e:
			return str(e)
		return short(text)

	@staticmethod
	def enum():
		module = sys.modules.get("enum")
		return module.Enum if module else ()
