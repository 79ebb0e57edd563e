#!/usr/bin/env bats
# Read-only files in a real worker: what the tenant sees of them, and what process 1 insists on.

bats_require_minimum_version 1.5.0
load worker

setup_file() { worker_start; }
teardown_file() { worker_stop; }

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	printf alpha >a
	printf '' >b
}

sha() { sha256sum "$1" | cut -d' ' -f1; }

# manifest NAME...: the text that a program reads, of files of the same name here
manifest() {
	local f sep='['
	for f; do
		printf '%s{"path":"/work/shared/%s","sha256":"%s","size":%d}' "$sep" "$f" "$(sha "$f")" "$(stat -c %s "$f")"
		sep=,
	done
	printf ']'
}

# files NAME...: what an exec says of them
files() {
	local f
	for f; do
		jq -nc --arg n "$f" --arg s "$(sha "$f")" --argjson z "$(stat -c %s "$f")" '{name:$n,size:$z,sha256:$s}'
	done | jq -sc .
}

# told SHA256 AUDIENCE FILES: the member of an exec
told() {
	jq -nc --arg m "$1" --arg a "$2" --argjson f "$3" '{manifest_sha256:$m,audience_version:$a,files:$f}'
}

# see CODE: two files are put and a program looks at them
see() {
	local text digest
	text=$(manifest a b)
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	WK_SHARED=$(told "$digest" v1 "$(files a b)") WKENV_KAIZEN_SHARED_RESOURCES_DIR=/work/shared \
		WKENV_KAIZEN_SHARED_RESOURCES_MANIFEST=$text \
		wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + put $LEASE shared a "$PWD/a" + \
		put $LEASE shared b "$PWD/b" + exec $LEASE 120000 100000 /usr/bin/python3 -c "$1" + reset $LEASE t
}

@test "PRJ-6 RO projection: shared files are read, and no way to write them is open" {
	see '
import os
d = "/work/shared"
assert sorted(os.listdir(d)) == ["a", "b"] and open(d + "/a").read() == "alpha"
st = os.stat(d + "/a")
assert (st.st_mode & 0o7777, st.st_uid, st.st_nlink) == (0o444, 0, 1), st
def no(name, f, *a):
    try:
        f(*a)
    except OSError:
        return
    print("could", name)
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(n, *a):
    if libc.syscall(n, *a) < 0:
        raise OSError(ctypes.get_errno(), "")
no("write", open, d + "/a", "r+b")
no("append", open, d + "/a", "ab")
no("create", open, d + "/c", "w")
no("chmod", os.chmod, d + "/a", 0o666)
no("chown", os.chown, d + "/a", 1000, 1000)
no("times", os.utime, d + "/a")
no("rename", os.rename, d + "/a", d + "/z")
no("rename over", os.rename, "/work/space", d)
no("unlink", os.unlink, d + "/a")
no("rmdir", os.rmdir, d)
no("rename dir", os.rename, d, "/work/other")
no("link in", os.link, d + "/a", "/work/space/a")
no("symlink", os.symlink, "/etc/passwd", d + "/l")
no("mkdir", os.mkdir, d + "/sub")
no("truncate", os.truncate, d + "/a", 0)
no("xattr", os.setxattr, d + "/a", "user.x", b"1")
no("mount over", call, 165, b"none", d.encode(), b"tmpfs", 0, 0)
no("bind", call, 165, b"/work/space", d.encode(), 0, 4096, 0)
no("remount", call, 165, 0, d.encode(), 0, 32 | 4096, 0)
no("umount", call, 166, d.encode(), 2)
no("open_tree", call, 428, -100, d.encode(), 1)
no("mount_setattr", call, 442, -100, d.encode(), 0, 0, 0)
no("unshare", call, 272, 0x10000000 | 0x20000)
fd = os.open(d + "/a", os.O_RDONLY)
no("by descriptor", open, "/proc/self/fd/%d" % fd, "r+b")
no("fchmod", os.fchmod, fd, 0o666)
import mmap
no("shared map", mmap.mmap, fd, 5, mmap.MAP_SHARED, mmap.PROT_WRITE)
line = [l for l in open("/proc/self/mountinfo") if " /work/shared " in l]
assert len(line) == 1 and " ro,nosuid,nodev,noexec" in line[0], line
assert not [l for l in open("/proc/self/mountinfo") if " /work/shared/" in l]
print(open(d + "/a").read())'
	[ "$(record .exit)" = 0 ]
	[ "$(cat "$WORKER_STATE/out")" = alpha ]
	said '.surfaces.projection | .now == .baseline' | grep -qx true
}

@test "PRJ-5, RESET-3: nothing of them is left for the next lease, whose place is empty" {
	tenant /bin/sh -c 'ls -A /work/shared; stat -c "%U %a" /work/shared; env'
	[ "$(head -1 "$WORKER_STATE/out")" = 'root 555' ]
	[ "$(grep -c KAIZEN "$WORKER_STATE/out")" -eq 0 ]
}

# refused WHAT: the calls so far were refused for this reason, and the worker goes on
refused() {
	[ "$status" -ne 0 ]
	grep -q "^projection_failed: the shared files: $1" "$WORKER_STATE/err"
	wk reset $LEASE t
	[ "$status" -eq 0 ]
}

# starts MANIFEST-TEXT TOLD PUTS...: two files are announced by that text; PUTS are calls
starts() {
	local text=$1 digest
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	WK_SHARED=$2 WKENV_KAIZEN_SHARED_RESOURCES_DIR=${DIR-/work/shared} WKENV_KAIZEN_SHARED_RESOURCES_MANIFEST=$text \
		wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + "${@:3}" exec $LEASE 120000 100000 /bin/echo ran
	[ "$(grep -c ran "$WORKER_STATE/out")" -eq 0 ]
}

both=()
put_both() { both=(put "$LEASE" shared a "$PWD/a" + put "$LEASE" shared b "$PWD/b" +); }

@test "PRJ-34: another digest, size, name, order, audience, manifest or place than was announced: no code" {
	local text digest
	put_both
	text=$(manifest a b)
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	starts "$text" "$(told "$digest" v1 "$(files a b | jq -c '.[0].sha256=.[1].sha256')")" "${both[@]}"
	refused 'their names'
	starts "$text" "$(told "$digest" v1 "$(files a b | jq -c '.[0].size+=1')")" "${both[@]}"
	refused 'their names'
	starts "$text" "$(told "$digest" v1 "$(files b a)")" "${both[@]}"
	refused 'their names'
	starts "$text" "$(told "$digest" v2 "$(files a b)")" "${both[@]}"
	refused 'they are for another audience'
	starts "$text" "$(told "${digest//[0-4]/5}" v1 "$(files a b)")" "${both[@]}"
	refused 'the manifest is another'
	text=$(manifest a b | sed 's|/work/shared/b|/work/space/b|')
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	starts "$text" "$(told "$digest" v1 "$(files a b)")" "${both[@]}"
	refused 'the manifest is another'
	text=$(manifest a b)
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	DIR=/work/space starts "$text" "$(told "$digest" v1 "$(files a b)")" "${both[@]}"
	refused 'the program is not told'
}

@test "PRJ-34: one missing, one too many, none told, none announced: no code" {
	local text digest
	put_both
	text=$(manifest a b)
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	starts "$text" "$(told "$digest" v1 "$(files a b)")" "${both[@]:0:6}"
	refused 'their names'
	starts "$(manifest a)" "$(told "$digest" v1 "$(files a)")" "${both[@]}"
	refused 'their names'
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + "${both[@]}" exec $LEASE 120000 1000 /bin/true
	refused 'there are some'
	wk bind $LEASE "$(fence)" 600000 + put $LEASE shared a "$PWD/a"
	refused 'no set of them'
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + put $LEASE shared a "$PWD/a" + put $LEASE shared a "$PWD/a"
	refused 'File exists'
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + put $LEASE shared sub/a "$PWD/a"
	refused 'a name is not'
}

@test "PRJ-2, BOUND-12: 20 files and 8 MiB are taken, the 21st and the next byte are not" {
	local i text digest calls=()
	head -c 8388608 /dev/zero >big
	text=$(manifest big)
	digest=$(printf %s "$text" | sha256sum | cut -d' ' -f1)
	WK_SHARED=$(told "$digest" v1 "$(files big)") WKENV_KAIZEN_SHARED_RESOURCES_DIR=/work/shared \
		WKENV_KAIZEN_SHARED_RESOURCES_MANIFEST=$text \
		wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + put $LEASE shared big "$PWD/big" + \
		exec $LEASE 120000 1000 /usr/bin/stat -c %s /work/shared/big + reset $LEASE t
	cat "$WORKER_STATE/err"
	[ "$(cat "$WORKER_STATE/out")" = 8388608 ]
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + put $LEASE shared big "$PWD/big" + put $LEASE shared a "$PWD/a"
	refused 'too many, or too large'
	for i in $(seq 20); do calls+=(put "$LEASE" shared "f$i" "$PWD/a" +); done
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + "${calls[@]}" shared $LEASE "$digest" v1 + reset $LEASE t
	[ "$status" -eq 0 ]
	wk bind $LEASE "$(fence)" 600000 + shared $LEASE "$digest" v1 + "${calls[@]}" put $LEASE shared last "$PWD/a"
	refused 'too many, or too large'
}
