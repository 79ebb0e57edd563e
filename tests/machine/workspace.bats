#!/usr/bin/env bats
# Workspaces of runs: kept from run to run and from worker to worker, apart, bounded, never a mix; hostile trees.
# shellcheck disable=SC2154,SC2030,SC2031,SC2016 # run and kz_run set the variables; the code of runs is quoted
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_TARGET_IDLE=0 SANDBOX_POOL_MAX_ALLOCATED=4 SANDBOX_ACQUIRE_WAIT_SECONDS=120 SANDBOX_MAX_WALL_SECONDS=120
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	unset KZ_LEASE KZ_LEASE_TOKEN KZ_FENCE
	C=c$BATS_TEST_NUMBER
}

sh_run() { kz_run -A a -C "$C" -l shell -c "$1" </dev/null; }

stored() { find "$KZ_STATE/objects" -path '*/g/*' -type f -exec sha256sum {} + | sort; }

@test "WS-7 WS-17 what a run leaves the next one finds, on another worker too" {
	sh_run 'mkdir -p d/e; printf "a\0b" >d/e/f; chmod 750 d/e/f; ln -s e d/l; touch -d "2001-02-03 04:05:06" d/e/f'
	kz_record_is snapshot saved
	kz_record_is workspace.entries 4
	kz-lease acquire -A other -C other -j >lease
	sh_run 'find . -mindepth 1 -printf "%P %y %m %l\n" | sort; od -An -c d/e/f; stat -c %Y d/e/f; cat d/l/f | wc -c'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '%s\n' 'd d 755 ' 'd/e d 755 ' 'd/e/f f 750 ' 'd/l l 777 e' '   a  \0   b' "$(TZ=UTC date -d '2001-02-03 04:05:06' +%s)" 3)" ]
	kz_record_is snapshot unchanged
	KZ_LEASE_TOKEN=$(jq -r .token lease) kz-lease release "$(jq -r .lease lease)"
	python3 "$BATS_TEST_DIRNAME/../schema.py" --expect record <"$KZ_TEST_RECORD"
}

@test "WS-5 WS-6 OUT-8 RT-12 two who are at work in one conversation have nothing of each other" {
	local pid secret
	cat >one.py <<-'PY'
		import socket, sys, time
		for path in ("canary-file", "/tmp/canary-tmp", "/dev/shm/canary-shm"):
		    open(path, "w").write("canary-content")
		held = [socket.socket(), socket.socket(), socket.socket(socket.AF_UNIX)]
		for s, at in zip(held, (("0.0.0.0", 8080), ("0.0.0.0", 8091), "\0canary-socket")):
		    s.bind(at)
		    s.listen()
		socket.create_connection(("127.0.0.1", 8091), 5)
		print("canary-stderr", file=sys.stderr)
		print("canary-stdout", flush=True)
		time.sleep(120)
	PY
	# what it finds of the other, while that one is at work; its own text has no such word
	cat >other.py <<-'PY'
		import glob, os, socket
		word, found = "can" + "ary", []
		def look(what, text):
		    if word in text: found.append(what)
		for top in ("/work", "/tmp", "/var/tmp", "/dev/shm"):
		    for at, dirs, files in os.walk(top):
		        look(at, " ".join(dirs + files))
		look("environment", str(os.environ))
		for path in glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ") + ["/proc/net/unix"]:
		    try: look(path, open(path, errors="replace").read())
		    except OSError: pass
		for host in ("127.0.0.1", "0.0.0.0", "::1", socket.gethostname()):
		    for port in (8080, 8091):
		        try: found.append((host, port, socket.create_connection((host, port), 2)))
		        except OSError: pass
		try: found.append(socket.socket(socket.AF_UNIX).connect("\0" + word + "-socket"))
		except OSError: pass
		print("looked", found)
	PY
	kz-run -A a -C "$C" -e CANARY=canary-environment one.py canary-argument </dev/null >one.out 2>one.err &
	pid=$!
	kz_wait 30 grep -q canary-stdout one.out
	kz_run -A b -C "$C" other.py </dev/null
	[ "$output" = "looked []" ]
	[ "$error" = "" ]
	[ -z "$(kz-workspace list -A b -C "$C")" ]
	# control: it finds what is there
	kz_run -A c -C "$C" -i canary-input=other.py -e CANARY=canary other.py </dev/null
	[[ $output == "looked ['/work/space', 'environment'"* ]]
	kill -INT $pid
	wait $pid || true
	grep -q canary-stderr one.err
	for secret in canary-stdout canary-stderr canary-environment canary-argument; do
		kz_nowhere -F -- "$secret" "$KZ_STATE"
	done
}

@test "EXEC-9 EXEC-6 a run whose packages could not be had says so, is not taken for one over the bound, and what was stored stays" {
	local before
	sh_run 'echo before >f'
	before=$(stored)
	kz_run -A a -C "$C" -r nosuch==1 -c 'open("f", "w").write("after")' </dev/null
	echo "$error"
	[ "$status" -eq 125 ]
	jq -ce '.outcome == "not_run" and .reason == "dependency_install_failed" and .snapshot == "skipped" and .limits_hit == [] and
		(.not_run | .reason == "dependency_install_failed" and .packages == ["nosuch"] and .registry_unreachable == false and .install_timed_out == false)' "$KZ_TEST_RECORD"
	[[ $error != *over_bound* ]]
	[ "$(stored)" = "$before" ]
	sh_run 'cat f'
	[ "$output" = before ]
}

@test "WS-1 WS-3 INV-35 same workspace twice: actors and conversations are apart; without -C nothing is kept" {
	kz_run -A a -C same -l shell -c 'echo a >mine' </dev/null
	kz_run -A b -C same -l shell -c 'ls -A' </dev/null
	[ -z "$output" ]
	kz_run -A a -C other -l shell -c 'ls -A' </dev/null
	[ -z "$output" ]
	kz_run -A a -l shell -c 'ls -A; echo x >x' </dev/null
	[ -z "$output" ]
	kz_record_is snapshot none
	kz_record_is workspace null
	kz_run -A a -C same -l shell -c 'cat mine' </dev/null
	[ "$output" = a ]
}

@test "WS-12 INV-36 a program that ended by itself is kept, one that a bound or a signal ended is not" {
	local before
	sh_run 'echo 1 >f; exit 3'
	[ "$status" -eq 3 ]
	kz_record_is snapshot saved
	sh_run 'echo 2 >f; kill -9 $$'
	kz_record_is snapshot saved
	before=$(stored)
	kz_run -A a -C "$C" -t 300 -l shell -c 'echo 3 >f; sleep 20' </dev/null
	kz_record_is snapshot skipped
	kz-run -A a -C "$C" -l shell -c 'echo 4 >f; echo up; sleep 20' >up 2>err </dev/null &
	kz_wait 20 test -s up
	kill -TERM $!
	wait $! || [ $? -eq 143 ]
	[ "$before" = "$(stored)" ]
	sh_run 'cat f'
	[ "$output" = 2 ]
	kz_record_is snapshot unchanged
	[ "$before" = "$(stored)" ]
}

@test "BOUND-9 BOUND-12 BOUND-6 at the bound it is kept, over it nothing advances and outputs stay" {
	# head and times of the file, its blocks, the end of the archive
	local size before
	sh_run 'head -c 8000000 /dev/zero >f'
	kz_record_is snapshot saved
	size=$((8388608 - $(kz_record workspace.bytes) + 8000000))
	sh_run "truncate -s $size f"
	kz_record_is snapshot saved
	kz_record_is workspace.bytes 8388608
	before=$(stored)
	kz_run -A a -C "$C" -l shell -o out -d . -c "truncate -s $((size + 1)) f; echo kept >out" </dev/null
	[ "$status" -eq 125 ]
	[[ $error == *"kz-run: workspace_over_bound: "* ]]
	kz_record_is reason workspace_over_bound
	kz_record_is outcome failed
	kz_record_is exit 0
	kz_record_is snapshot over_bound
	[ "$(cat out)" = kept ]
	[ "$before" = "$(stored)" ]
	# sparse files count at full length
	sh_run 'truncate -s 9M g'
	kz_record_is snapshot over_bound
	sh_run 'stat -c %s f; ls'
	[ "$output" = "$(printf '%s\nf' "$size")" ]
}

@test "WS-16 same workspace twice: runs at once on one workspace follow each other; nothing is lost" {
	local i pids=()
	for i in 1 2 3 4; do
		kz-run -A a -C "$C" -c "open('all', 'a').write('$i\n')" </dev/null &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	sh_run 'sort all'
	[ "$output" = "$(printf '%s\n' 1 2 3 4)" ]
}

@test "WS-16 a held lease: each run is kept, what another program changed is loaded, what was not kept is gone" {
	kz-lease acquire -A a -C "$C" -j >lease
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease)
	export KZ_LEASE KZ_LEASE_TOKEN
	# nothing stored yet, and not kept either
	kz_run -t 300 -l shell -c 'echo lost >lost; sleep 20' </dev/null
	kz_run -l shell -c 'ls -A; echo 1 >f' </dev/null
	[ -z "$output" ]
	kz_record_is snapshot saved
	kz_run -l shell -c 'cat f; touch -d @1 f' </dev/null
	[ "$output" = 1 ]
	echo 2 >two
	kz-workspace put f=two
	kz_run -l shell -c 'cat f' </dev/null
	[ "$output" = 2 ]
	kz_run -t 300 -l shell -c 'echo 3 >f; sleep 20' </dev/null
	kz_run -l shell -c 'cat f' </dev/null
	[ "$output" = 2 ]
	kz-lease release "$KZ_LEASE"
	unset KZ_LEASE KZ_LEASE_TOKEN
	sh_run 'cat f'
	[ "$output" = 2 ]
}

@test "WS-16 same workspace twice: a program that changes the workspace while a run under the same lease is at work: the run is told" {
	kz-lease acquire -A a -C "$C" -j >lease
	KZ_LEASE=$(jq -r .lease lease) KZ_LEASE_TOKEN=$(jq -r .token lease)
	export KZ_LEASE KZ_LEASE_TOKEN
	mkfifo go
	kz-run --record 9 -l shell -c 'echo up; read -r x; echo run >f' <go >up 2>err 9>rec &
	exec 8>go
	kz_wait 20 test -s up
	echo put >put
	kz-workspace put f=put
	echo go >&8
	exec 8>&-
	wait $! || [ $? -eq 125 ]
	[ "$(jq -r .reason rec)" = workspace_superseded ]
	[ "$(jq -r .snapshot rec)" = failed ]
	[ "$(kz-workspace get f)" = put ]
	kz-lease release "$KZ_LEASE"
}

@test "WS-15 confused deputy, hostile bytes: hostile names and kinds are kept exactly or left out, and nothing outside is touched" {
	echo canary >"$KZ_STATE/canary"
	kz_run -A a -C "$C" -c '
import os, socket
os.symlink("/etc/passwd", "abs"); os.symlink("../../../../etc/shadow", "up"); os.symlink(".", "self")
open("f", "w").write("x"); os.link("f", "hard")
os.mkfifo("fifo"); socket.socket(socket.AF_UNIX).bind("sock")
for n in (b"new\nline", b"\xff\xfe", b"n" * 255, b"Case", b"case", b"-rf", b"$(id)", b"\xe2\x80\xae", b" "):
    open(n, "wb").write(n)
with open("sparse", "wb") as s:
    s.truncate(100000)
try:
    os.mknod("dev", 0o020666, os.makedev(1, 3))
except OSError:
    pass
' </dev/null
	[ "$status" -eq 0 ]
	kz_record_is snapshot saved
	kz_record_is workspace.skipped 2
	kz_run -A a -C "$C" -c '
import os
names = sorted(os.listdir(b"."))
print(len(names), os.readlink("abs"), os.readlink("up"), os.readlink("self"), os.stat("sparse").st_size, os.stat("hard").st_nlink)
for n in (b"new\nline", b"\xff\xfe", b"n" * 255, b"Case", b"case", b"-rf", b"$(id)", b"\xe2\x80\xae", b" "):
    assert open(n, "rb").read() == n, n
' </dev/null
	[ "$status" -eq 0 ]
	[ "$output" = "15 /etc/passwd ../../../../etc/shadow . 100000 1" ]
	for path in abs up self/f; do
		run --separate-stderr kz-workspace get -A a -C "$C" "$path"
		[ "$status" -eq 65 ]
		[ -z "$output" ]
	done
	[ "$(cat "$KZ_STATE/canary")" = canary ]
}

# The tree is read when no process of the program is there any more, so the loop is stopped at any moment of it. Tried until the
# link was met, and the directory too.
@test "WS-12 confused deputy: a directory renamed and replaced by a link until the end is kept exactly as it was then" {
	local links=0 directories=0 tries=0
	until [ "$links" -gt 0 ] && [ "$directories" -gt 0 ]; do
		tries=$((tries + 1))
		[ "$tries" -le 40 ]
		kz_run -A a -C "$C" -c '
import os, shutil, signal, time
for n in os.listdir("."): os.unlink(n) if os.path.islink(n) or os.path.isfile(n) else shutil.rmtree(n)
os.mkdir("d")
for i in range(200): open("d/%d" % i, "w").write("content")
if os.fork() == 0:
    os.setsid()
    for s in set(range(1, 65)) - {9, 19, 32, 33}: signal.signal(s, signal.SIG_IGN)
    while True:
        os.rename("d", "e"); os.symlink("/etc", "d"); open("swaps", "w").close()
        os.unlink("d"); os.rename("e", "d")
while not os.path.exists("swaps"): time.sleep(0.001)
' </dev/null
		[ "$status" -eq 0 ]
		kz_record_is snapshot saved
		rm -rf tree
		mkdir tree
		kz-workspace export -A a -C "$C" | tar -x -C tree
		if [ -L tree/d ]; then
			[ "$(readlink tree/d)" = /etc ]
			links=$((links + 1))
		elif [ -d tree/d ]; then
			directories=$((directories + 1))
		fi
		# all of the directory, under the one name or the other, and nothing else
		[ "$(find tree -path '*/[de]/*' -type f -size 7c | wc -l)" -eq 200 ]
		[ "$(find tree -mindepth 2 | wc -l)" -eq 200 ]
	done
}

@test "WS-7 no workspace is kept where that is off, and no code starts where the store is gone" {
	sh_run 'echo 1 >f'
	kz config set SANDBOX_WORKSPACE_PERSIST=false
	sh_run 'ls -A; echo 2 >f'
	[ -z "$output" ]
	kz_record_is snapshot none
	kz config set SANDBOX_WORKSPACE_PERSIST=true
	mv "$KZ_STATE/objects" "$KZ_STATE/away"
	sh_run 'echo ran'
	mv "$KZ_STATE/away" "$KZ_STATE/objects"
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	kz_record_is outcome not_run
	kz_record_is reason store_unavailable
	kz_record_is snapshot skipped
	sh_run 'cat f'
	[ "$output" = 1 ]
}

@test "INV-37 altered content is never given to a program, and an older state never stands for it" {
	local blob
	sh_run 'echo 1 >f'
	sh_run 'echo 2 >f'
	blob=$(find "$KZ_STATE/objects" -path '*/b/*' -type f -newer "$KZ_STATE/env" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
	cp "$blob" kept
	printf X | dd of="$blob" bs=1 seek=600 conv=notrunc status=none
	sh_run 'echo ran'
	[ -z "$output" ]
	kz_record_is reason object_damaged
	kz_record_is not_run.reason object_damaged
	truncate -s 100 "$blob"
	sh_run 'echo ran'
	kz_record_is reason object_damaged
	cat kept >"$blob"
	sh_run 'cat f'
	[ "$output" = 2 ]
}
