# Writing the state.


def put_file(path, data):
	fd = open_fd(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
	try:
		view = memoryview(data)
		while view:
			view = view[write(fd, view) :]
		fsync(fd)
	finally:
		close_fd(fd)


def remove(k, *names):
	"""What a cell that was killed may have left."""
	for name in names:
		try:
			unlink(k.path(name))
		except OSError:
			pass


def store(k, name, blobs, text):
	try:
		put_file(k.path(name), blobs)
		put_file(k.path(MANIFEST + ".new"), text)
		replace(k.path(MANIFEST + ".new"), k.path(MANIFEST))
	except BaseException:
		remove(k, name, MANIFEST + ".new")
		raise
	if k.blob_name and k.blob_name != name:
		remove(k, k.blob_name)
