#!/usr/bin/env bats
# weight 188
# The gates catch what they are for: each test breaks a copy of the tree in one place.
bats_require_minimum_version 1.5.0

setup_file() {
	ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT
	cd "$ROOT" || return 1
	make -s all
	mkdir "$BATS_FILE_TMPDIR/whole"
	cp -a .clang-format .luacheckrc Makefile VERSION bin docs lib policy scripts statemachines supervise "$BATS_FILE_TMPDIR/whole/"
	mkdir -p "$BATS_FILE_TMPDIR/whole/tests/unit"
}

setup() {
	cp -a "$BATS_FILE_TMPDIR/whole" "$BATS_TEST_TMPDIR/tree"
	cd "$BATS_TEST_TMPDIR/tree"
}

# caught WORDS COMMAND...: it fails and says so
caught() {
	local words=$1
	shift
	run "$@"
	echo "$output" | head -40
	[ "$status" -ne 0 ]
	[ "$status" -lt 126 ]
	[[ $output == *"$words"* ]]
}

# object SOURCE: compile it into a build directory that has the programs of the real one
object() {
	mkdir -p b/lib/{base,port,rule,core} "b/$(dirname "$1")"
	[ -e b/bin ] || ln -s "$ROOT/build/bin" b/bin
	cc -D_GNU_SOURCE -w -Ilib -I"$ROOT/build" -Istatemachines -c -o "b/${1%.c}.o" "$1"
}

@test "layers: an include that points up" {
	echo '#include "core/run/run.h"' >>lib/base/str.c
	caught 'lib/base/str.c includes "core/run/run.h", which layer base may not' scripts/check-layers "$ROOT/build"
}

@test "layers: a library used beside its port" {
	echo '#include <sqlite3.h>' >>lib/core/run/run.c
	caught 'lib/core/run/run.c includes <sqlite3.h>, which only lib/port/db may' scripts/check-layers "$ROOT/build"
}

@test "layers: a main that opens a library" {
	sed -i '/port\/vk/d' bin/kz-lease.deps
	caught 'but bin/kz-lease.deps does not name port/vk' scripts/check-layers "$ROOT/build"
}

@test "INV-30 layers: a program that signs and does not say so; kz-proxy cannot" {
	sed -i '/port\/seal-sign/d' bin/kz-grant.deps
	caught 'kz-grant holds crypto_sign_ed25519_detached, but bin/kz-grant.deps does not name port/seal-sign' scripts/check-layers "$ROOT/build"
	run grep -x port/seal-sign bin/kz-proxy.deps bin/kz-worker.deps
	[ "$status" -eq 1 ]
}

@test "layers: a core module that reads the environment, a rule that opens a file" {
	printf '#include <stdlib.h>\nchar *kz_x(void);\nchar *kz_x(void) { return getenv("X"); }\n' >lib/core/conf/x.c
	printf '#include <fcntl.h>\nint kz_x(void);\nint kz_x(void) { return open("x", 0); }\n' >lib/rule/x.c
	object lib/core/conf/x.c
	object lib/rule/x.c
	caught 'lib/core/conf/x.c reaches getenv' scripts/check-layers b
	[[ $output == *'lib/rule/x.c reaches open'* ]]
}

@test "layers: a name that two modules define" {
	echo 'int kz_x(void); int kz_x(void) { return 1; }' | tee lib/core/conf/x.c >lib/rule/x.c
	object lib/core/conf/x.c
	object lib/rule/x.c
	caught 'kz_x is defined in lib/core/conf/x.c lib/rule/x.c' scripts/check-layers b
}

@test "layers: an exception that is not needed, one without a reason" {
	echo 'lib/base/str.c printf' >>lib/layers-exceptions.txt
	caught 'the exception lib/base/str.c printf is not needed any more' scripts/check-layers "$ROOT/build"
	[[ $output == *'an exception needs a reason: lib/base/str.c printf'* ]]
}

@test "POL-6 decision: a second table of addresses, as text, range, number or macro" {
	local line
	for line in 'const char *kz_x = "169.254.1.1";' 'const char *kz_x = "100.64.0.0/10";' 'int kz_x = 0x7f000000;' \
		'int kz_x = IN6_IS_ADDR_LOOPBACK(kz_y);' 'const char *kz_x = "fd12:3456::/32";' 'const char *kz_x = "192.168.";'; do
		cp "$BATS_FILE_TMPDIR/whole/lib/core/run/run.c" lib/core/run/run.c
		echo "$line" >>lib/core/run/run.c
		caught 'outside of policy/addresses.tbl: lib/core/run/run.c:' scripts/check-decision "$ROOT/build"
		[[ $output == *"$line"* ]]
	done
}

# another_build: objects and programs of the real build to break, under b
another_build() {
	mkdir b
	cp -a "$ROOT/build/lib" "$ROOT/build/bin" "$ROOT/build/statemachines" b/
}

@test "POL-6 decision: one build as it is passes" {
	another_build
	scripts/check-decision b
}

@test "POL-6 decision: a second definition, a decision of another name, a second reader of the table" {
	another_build
	echo 'int kz_addr_classify(void); int kz_addr_classify(void) { return 0; }' >lib/core/run/x.c
	echo 'int kz_decide_other(void); int kz_decide_other(void) { return 0; }' >lib/core/run/y.c
	echo 'extern int kz_addr_blocks[]; int kz_z(void); int kz_z(void) { return kz_addr_blocks[0]; }' >lib/core/run/z.c
	object lib/core/run/x.c
	object lib/core/run/y.c
	object lib/core/run/z.c
	caught 'kz_addr_classify is defined in: b/lib/core/run/x.o b/lib/rule/address_class.o' scripts/check-decision b
	[[ $output == *'b/lib/core/run/y.o has kz_decide_other, a decision of its own'* ]]
	[[ $output == *'b/lib/core/run/z.o reads the table of addresses'* ]]
}

@test "POL-6 INV-32 decision: a proxy without the decision, one with another version of it" {
	another_build
	cp b/bin/kz-lease b/bin/kz-proxy
	caught 'kz-proxy has not the kz_decide_target of lib/rule/decide.o' scripts/check-decision b
	echo 'int kz_decide_target(void); int main(void) { return kz_decide_target(); } int kz_decide_target(void) { return 0; }' >x.c
	cc -w -o b/bin/kz-other x.c
	rm b/bin/kz-proxy
	caught 'kz-other has not the kz_decide_target of lib/rule/decide.o' scripts/check-decision b
}

@test "PROXY-6 PROXY-8 decision: a loose reader of addresses" {
	another_build
	echo 'int inet_aton(); int getaddrinfo(); int kz_x(void); int kz_x(void) { return inet_aton() + getaddrinfo(); }' >lib/core/run/x.c
	object lib/core/run/x.c
	caught 'b/lib/core/run/x.o reads addresses with inet_aton' scripts/check-decision b
	[[ $output == *'b/lib/core/run/x.o reads addresses with getaddrinfo'* ]]
}

@test "headers: one that does not compile alone, one that cannot be included twice" {
	rm -r lib statemachines/gen
	mkdir -p lib/base statemachines/gen
	echo 'size_t kz_x(void);' >lib/base/alone.h
	echo 'struct kz_x { int x; };' >lib/base/twice.h
	echo 'int kz_x(void);' >lib/base/good.h
	caught 'lib/base/alone.h does not compile alone' scripts/check-headers -Ilib
	[[ $output == *'lib/base/twice.h does not compile alone'* ]]
	[[ $output != *good.h* ]]
}

@test "size: a function, a header, a file and a main that are too long" {
	{ echo 'void kz_long(void)'; echo '{'; printf 'kz_x();\n%.0s' {1..100}; echo '}'; } >lib/base/long.c
	printf '\n%.0s' {1..121} >lib/base/long.h
	printf '\n%.0s' {1..601} >lib/base/file.c
	printf '\n%.0s' {1..151} >bin/long.c
	caught 'lines lib/base/long.c:kz_long has 103, the limit is 100' scripts/check-size
	[[ $output == *'file lib/base/long.h has 121, the limit is 120'* ]]
	[[ $output == *'file lib/base/file.c has 601, the limit is 600'* ]]
	[[ $output == *'file bin/long.c has 151, the limit is 150'* ]]
}

@test "size: too many branches, an exception that is not needed" {
	{ echo 'void kz_maze(int x)'; echo '{'; printf 'if (x) kz_x();\n%.0s' {1..26}; echo '}'; } >lib/base/maze.c
	echo 'file lib/base/maze.c 700 it is small' >>scripts/size-exceptions.txt
	caught 'complexity lib/base/maze.c:kz_maze has 27, the limit is 25' scripts/check-size
	[[ $output == *'the exception for file lib/base/maze.c is not needed any more'* ]]
}

@test "docs: a function without a docstring" {
	printf '\nint kz_unsaid(void);\n' >>lib/base/str.h
	caught 'no docstring: lib/base/str.h:' scripts/check-docs "$ROOT/build"
	[[ $output == *kz_unsaid* ]]
}

@test "docs: a program without a page, a page that is not what -h says" {
	rm docs/man/kz-reset.1
	sed -i 's/^\.Op Fl j.*//; s/^\.It Fl t , -timeout.*/.It Fl q , -quiet/; s/Xr kz-reset 1/Xr kz-unset 1/' docs/man/kz-lease.1
	caught 'kz-reset has no manual page' scripts/check-docs "$ROOT/build"
	[[ $output == *'the SYNOPSIS of docs/man/kz-lease.1 differs from the usage of kz-lease -h'* ]]
	[[ $output == *'docs/man/kz-lease.1 does not name --timeout, an option of kz-lease -h'* ]]
	[[ $output == *'docs/man/kz-lease.1 lists --quiet, an option that is none of kz-lease -h'* ]]
	[[ $output == *'a page refers to kz-unset(1), which there is not'* ]]
}

@test "docs: a reason, a setting and an exit status that operations does not mention" {
	sed -i 's/queue_full/queue_fool/g' docs/operations.md
	sed -i 's/KZ_INVENTORY_SECONDS/KZ_INVENTORY/g' docs/operations.md
	sed -i -E 's/(^|[^0-9])74([^0-9]|$)/\1seventy-four\2/g' docs/operations.md
	caught 'docs/operations.md does not mention queue_full' scripts/check-docs "$ROOT/build"
	[[ $output == *'docs/operations.md does not mention KZ_INVENTORY_SECONDS'* ]]
	[[ $output == *'docs/operations.md does not mention exit status 74'* ]]
}

@test "docs: a schema that is not JSON" {
	echo '{' >policy/schema/x.json
	caught 'policy/schema/x.json is not JSON' scripts/check-docs "$ROOT/build"
}

@test "generated: a file changed by hand, a file without a source" {
	echo '/* mine */' >>statemachines/gen/lease_sm.h
	git init -q .
	touch statemachines/gen/nothing.h
	git add statemachines/gen docs/tables
	caught 'statemachines/gen/lease_sm.h is not what its source gives' make -s check-generated
	[[ $output == *'statemachines/gen/nothing.h has no source any more'* ]]
}

@test "reasons: a row that nothing raises, one that no test reaches, and an exemption that is not needed" {
	local no=never_re # this file names none of them
	# Python's caches come and go beside us
	tar -C "$ROOT" --exclude=__pycache__ -cf - tests | tar -xf -
	scripts/check-reasons
	sed -i "s/^usage |/never_raised | 77 | refusal | x\n${no}ached | 77 | refusal | x\n&/" policy/reasons.tbl
	echo "const char *x = \"${no}ached\";" >>lib/base/str.c
	printf 'usage | reached | x\nusage x\n' >>policy/reasons.exempt
	caught 'never_raised is not raised' scripts/check-reasons
	[[ $output != *"${no}ached is not raised"* ]]
	[[ $output == *"${no}ached is not reached"* ]]
	[[ $output == *'reasons.exempt: usage is reached'* ]]
	[[ $output == *'a line is not CODE'* ]]
}

@test "shell: a finding in a script, in a bats file and in a script without a suffix" {
	rm -r scripts/* supervise tests/unit
	cp "$ROOT/scripts/check-shell" scripts/
	printf '#!/bin/sh\ncat $1\n' >plain
	printf '# shellcheck shell=bash\ncat $2\n' >x.bash
	printf '#!/usr/bin/env bats\n@%s "x" {\n\tlocal y=$(date)\n\techo "$y"\n}\n' test >tests/x.bats
	caught './plain line 2' scripts/check-shell
	[[ $output == *'./x.bash line 2'* ]]
	[[ $output == *'tests/x.bats line 3'* ]]
}

@test "shell: a chain whose first part can fail unseen" {
	rm -r scripts/* supervise tests/unit
	cp "$ROOT/scripts/check-shell" scripts/
	printf '@%s "x" {\n\t[ -e a ] && [ -e b ]\n\ttrue\n}\n' test >tests/x.bats
	caught 'tests/x.bats line 2' scripts/check-shell
	printf '@%s "x" {\n\t[ -e a ] || { [ -e b ] && [ -e c ]; }\n\ttrue\n}\n' test >tests/x.bats
	caught 'tests/x.bats line 2' scripts/check-shell
	printf '@%s "x" {\n\ttrue\n\t[ -e a ] && [ -e b ]\n}\n' test >tests/x.bats
	scripts/check-shell
}

@test "python: an argument too few, a name that nobody has, in a file and in what a cell gets" {
	mkdir -p tests/x
	cp -a "$ROOT/scripts/check-python" scripts/
	printf 'def one(x):\n    return x\n' >tests/x/other.py
	printf 'from other import one\n\n\ndef late():\n    return one()\n' >tests/x/token.py
	caught 'tests/x/token.py line 5: No value for argument' scripts/check-python lib/shim/install.py tests
	printf 'from other import one\n\n\ndef late():\n    return one(1)\n' >tests/x/token.py
	scripts/check-python lib/shim/install.py tests
	printf 'def late():\n    return nobody\n' >b.py
	caught "b.py line 2: Undefined variable 'nobody'" scripts/check-python b.py tests
	printf '\nlate = nobody\n' >>lib/shim/kernel/save.py
	caught "Undefined variable 'nobody'" make -s B=b check-python
}

@test "lua: a global that nobody meant" {
	printf '\nlocal function mistaken()\n\toops = 1\nend\nmistaken()\n' >>lib/valkey/00-head.lua
	caught 'oops' make -s check-lua
}

# bats test_tags=case:format
@test "format: a file laid out in another way" {
	printf 'int kz_x( void );\n' >lib/base/x.h
	caught 'check-format: lib/base/x.h' scripts/check-format lib/base/x.h
	scripts/check-format --write lib/base/x.h
	[ "$(cat lib/base/x.h)" = 'int kz_x(void);' ]
	scripts/check-format lib/base/x.h
}
