# The kernel of one cell: what is known of its names.


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
		self.report = {"v": 1, "type": "report", "status": "kept_previous", "generation": 0, "bytes": 0,
			       "restored": 0, "lost": [], "restore_lost": [], "notes": []}
		self.is_reset = False
		self.gone = {}  # name that a cell had and that was not saved -> why
		self.why = {}  # id of an object -> why it has no definition
		self.environment = {v for k, v in os.environ.items() if k not in PLAIN_ENV and len(v) >= 8}
		self.credentials = [v.encode("utf-8", "surrogateescape") for k, v in os.environ.items()
				    if k not in PLAIN_ENV and len(v) >= 6 and CREDENTIAL.search(k)]
		self.file = None
		self.queue = []

	@staticmethod
	def enum():
		module = sys.modules.get("enum")
		return module.Enum if module else ()
