# From the start of the interpreter to its end.


def drain():
	"""Threads that are about to end may; the others do not hold a cell. out: how many are left"""
	until = now() + DRAIN
	for t in threading.enumerate():
		if t is not threading.main_thread() and not t.daemon:
			t.join(max(0.0, until - now()))
	return sum(1 for t in threading.enumerate() if t is not threading.main_thread() and t.is_alive())


def make_kz(kernel, channel):
	kz = types.ModuleType("kz", "What a cell of a kernel has beside Python: tools, and forgetting.")
	kz.tools = Tools(channel, kernel.config.get("tools") or ())
	kz.ToolError = ToolError

	def reset():
		"""Forget all variables when this cell ends."""
		kernel.is_reset = True

	kz.reset = reset
	sys.modules["kz"] = kernel.g["kz"] = kernel.kz = kz


def flush():
	for s in (sys.stdout, sys.stderr):
		try:
			s.flush()
		except (OSError, ValueError, AttributeError):
			pass


def regain():
	"""What a cell did to the interpreter ends with it."""
	set_trace(None)
	set_profile(None)
	builtins.__dict__.update(original)
	set_recursion(deepest)


def calm():
	"""The cell is over, and so are its handlers: one that raised between the new state's rename and the end of it would
	have the new state's values removed."""
	for number in valid_signals():
		if callable(getsignal(number)):
			set_signal(number, SIG_IGN)


def settle(kernel, cell, tree, channel):
	"""After the cell: what it left is saved, or the state before it stays."""
	left = drain()
	if left:
		kernel.note(f"{left} thread(s) of the cell were still running; they are ended")
	try:
		calm()
		if channel.is_heard(kernel.generation):
			cell.names(tree)
			Save(kernel).run()
		else:  # that a state was not saved is what is said of a cell without a report
			print("kernel: the cell closed descriptor 3: its state is not saved", file=sys.stderr)
	except MemoryError:
		kernel.note("the state was not saved: memory is out")
	except Exception as e:
		kernel.note(f"the state was not saved: {type(e).__name__}: {e}")
	return left


def main():
	config = loads(sys.argv[1])
	with open_file(sys.argv[2], "rb") as f:
		data = f.read()
	channel = Channel(config.get("channel"))
	kernel = Kernel(config)
	sys.argv = sys.argv[2:]
	sys.path[:0] = [kernel.space] + [p for p in os.environ.get("PYTHONPATH", "").split(":") if p and p != kernel.space]
	sys.modules["__main__"] = kernel.main
	kernel.g["__kz_kernel__"] = kernel
	make_kz(kernel, channel)
	pid, left = os.getpid(), 0
	kernel.read()
	try:
		sys.stdout.reconfigure(line_buffering=True)  # what a cell said before it was killed is seen
		channel.state(kernel.generation)
	except (OSError, AttributeError):
		pass
	cell = CellRun(kernel, data, sys.argv)
	tree = cell.parse()
	if tree is None:
		cell.status = 1
	else:
		kernel.restore(cell.text)
		kernel.were_bound = set(kernel.g)
		cell.go(tree)
		flush()
		if os.getpid() != pid:  # a child of the cell is no cell
			real_exit(cell.status)
		left = settle(kernel, cell, tree, channel)
	try:
		channel.send(kernel.report)
	except OSError:
		pass
	flush()
	if left:
		real_exit(cell.status)
	sys.exit(cell.status)


if __name__ == "__main__":
	main()
