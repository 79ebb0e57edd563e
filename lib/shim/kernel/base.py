# One cell of a persistent Python kernel (docs/kernels.md).
#
#   python3 -I kernel.py CONFIG CELL [ARG...]
#
# The parts of this folder are put together into one text, in the order of scripts/make/driver.mk: names of the parts
# before are there, imports stand here.
#
# A fresh interpreter restores what the cell may touch, runs it, and saves what can be
# saved; no process is kept.  CONFIG is JSON: "space" (where the state lies), "channel"
# (descriptor of the report, or null), "value_bytes", "total_bytes", "tools" (names).
#
# State is .kz-kernel.json, which names everything, and one file of pickles that it names;
# the rename of the former is the commit, so a kill at any moment leaves the state before
# or the state after.  Functions and classes are kept as source: a function's code is
# compiled from it and never run, a class is made again only if its body does nothing.
# Whatever is read here was written by the tenant, and only the tenant reads it.
import __future__
import ast
import builtins
import copyreg
import hashlib
import io
import json
import linecache
import os
import pickle
import re
import sys
import threading
import time
import traceback
import types
from tokenize import detect_encoding
from _signal import SIG_IGN, getsignal, signal as set_signal, valid_signals

MANIFEST = ".kz-kernel.json"
BLOBS = (".kz-kernel.0.pkl", ".kz-kernel.1.pkl")
LIST_MAX = 200  # entries of one list of the report
TEXT_MAX = 200
DRAIN = 0.25  # seconds for threads that are about to end
build_class = builtins.__build_class__
open_fd, close_fd, join, set_trace, set_profile = os.open, os.close, os.path.join, sys.settrace, sys.setprofile
set_recursion, deepest = sys.setrecursionlimit, sys.getrecursionlimit()
open_file, replace, unlink, fsync, write, real_exit = io.open, os.replace, os.unlink, os.fsync, os.write, os._exit
BytesIO, StringIO, original = io.BytesIO, io.StringIO, dict(builtins.__dict__)
dumps, loads, sha256, now, fstat = json.dumps, json.loads, hashlib.sha256, time.monotonic, os.fstat


class Refused(Exception):
	"""This value is not saved, and why."""


class Over(Exception):
	"""The state is larger than one may be."""


def short(text):
	"""One line that any terminal and any parser of JSON takes: no controls, no half characters."""
	try:
		text = str.__str__(text) if isinstance(text, str) else str(text)
	except Exception:
		text = type(text).__name__
	text = " ".join(text[: 4 * TEXT_MAX].split())
	text = "".join(c if c.isprintable() else "\ufffd" for c in text)
	return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "\u2026"


def kind(value):
	t = type(value)
	if type(t.__module__) is not str:
		return t.__name__
	return t.__name__ if t.__module__ in ("builtins", "__main__") else f"{t.__module__}.{t.__name__}"
