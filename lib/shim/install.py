# What runs pip inside the worker, in a step of its own before the program (docs/packages.md).
#
#   python3 -I install.py ASK
#
# ASK is JSON: "requests" (requirements), "keys" (their normal names), "imports" (pairs of module and
# distribution).  The token comes by the environment and is kept out of arguments, files and output.  Last it
# says one line of JSON: {"v":1,"ok":true,"lock":LOCK}, or {"v":1,"ok":false,"missing":WHAT,"full":FULL,"state":STATE}
# with the broker's word, asked once after a failure [BRK-17].  Of what pip prints one thing is looked for: the
# system's word that there was no room left.
import base64
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request

TOP = "/work/packages"
TARGET = TOP + "/python"
LOCK = TOP + "/kz-lock.json"
SCRATCH = TOP + "/.scratch"
GATEWAY = "127.0.0.1:8000"
TAIL = 65536


def end(**what):
	shutil.rmtree(SCRATCH, ignore_errors=True)
	sys.stdout.write(json.dumps(what) + "\n")
	sys.stdout.flush()
	os._exit(0 if what["ok"] else 1)


def normal(name):
	return re.sub(r"[-_.]+", "-", name).lower()


def broker_state(token):
	"""What the broker says of its registries; None when it says nothing."""
	user = base64.b64encode(b"kz:" + token.encode()).decode()
	ask = urllib.request.Request(f"http://{GATEWAY}/broker/state", headers={"Authorization": "Basic " + user})
	try:
		with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(ask, timeout=10) as answer:
			return json.loads(answer.read(65536))
	except Exception:
		return None


def run(command, env):
	"""Status of a command, and whether it said that there was no room left (ENOSPC)."""
	child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=2, stderr=subprocess.PIPE)
	last = bytearray()

	def listen():
		while piece := child.stderr.read1(65536):
			last.extend(piece)
			del last[:-TAIL]

	listener = threading.Thread(target=listen, daemon=True)
	listener.start()
	code = child.wait()
	# what it left running may hold the pipe open, and is not waited for
	listener.join(1)
	return code, b"[Errno 28]" in last


def installed(report):
	"""Normal name -> entry of the lock, of what pip says it installed."""
	found = {}
	with open(report) as f:
		items = json.load(f)["install"]
	for item in items:
		archive = (item.get("download_info") or {}).get("archive_info") or {}
		# older pip: "hash": "sha256=..."
		sha256 = (archive.get("hashes") or {}).get("sha256") or (archive.get("hash") or "").partition("sha256=")[2]
		meta = item["metadata"]
		found[normal(meta["name"])] = {"name": meta["name"], "version": meta["version"],
					       "digest": "sha256:" + (sha256 or "unknown")}
	return found


def pip_install(what, token):
	report = SCRATCH + "/report.json"
	env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": SCRATCH, "TMPDIR": SCRATCH + "/tmp",
	       "PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": f"http://kz:{token}@{GATEWAY}/pypi/simple/"}
	code, full = run([sys.executable, "-I", "-m", "pip", "install", "--target", TARGET, "--upgrade", "--no-input",
				"--disable-pip-version-check", "--no-cache-dir", "--no-warn-conflicts",
				"--retries", "1", "--timeout", "60", "--quiet", "--report", report] + what, env)
	if code:
		end(v=1, ok=False, missing=None, full=full, state=broker_state(token))
	return installed(report)


def is_importable(module):
	names = os.listdir(TARGET) if os.path.isdir(TARGET) else []
	return any(n in (module, module + ".py") or (n.startswith(module + ".") and n.endswith(".so")) for n in names)


def drop_replaced(found):
	"""pip leaves what describes the version before beside the new one."""
	for entry in os.listdir(TARGET):
		m = re.match(r"(.+)-([^-]+)\.dist-info$", entry)
		now = m and found.get(normal(m.group(1)))
		if now and m.group(2) != now["version"]:
			shutil.rmtree(TARGET + "/" + entry, ignore_errors=True)


def write_lock(ask, found):
	try:
		with open(LOCK) as f:
			lock = json.load(f)
		part = lock.setdefault("python", {"requests": [], "packages": []})
		packages = {normal(p["name"]): p for p in part["packages"]}
		requests = part["requests"]
	except Exception:
		lock, packages, requests = {"v": 1}, {}, []
	packages.update(found)
	again = set(ask["keys"])
	requests = [r for r in requests if normal(re.match(r"[A-Za-z0-9._-]*", r).group(0)) not in again]
	lock["python"] = {"requests": sorted(set(requests + ask["requests"])),
			  "packages": [packages[k] for k in sorted(packages)]}
	with open(LOCK, "w") as f:
		json.dump(lock, f)
	return lock


def main():
	ask = json.loads(sys.argv[1])
	token = os.environ.pop("KZ_PACKAGE_TOKEN")
	found = {}
	shutil.rmtree(SCRATCH, ignore_errors=True)
	os.makedirs(SCRATCH + "/tmp", 0o700)
	os.chdir(SCRATCH)
	try:
		import pip  # noqa: F401
	except ImportError:
		end(v=1, ok=False, missing="pip", full=False, state=None)
	if ask["requests"]:
		found.update(pip_install(ask["requests"], token))
	# a module that came with what was asked for by name is there
	rest = [package for module, package in ask["imports"] if not (ask["requests"] and is_importable(module))]
	if rest:
		found.update(pip_install(rest, token))
	drop_replaced(found)
	end(v=1, ok=True, lock=write_lock(ask, found))


try:
	main()
except OSError as e:
	if e.errno != errno.ENOSPC:
		raise
	# nor was there any for what is written here
	end(v=1, ok=False, missing=None, full=True, state=None)
