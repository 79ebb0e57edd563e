#!/usr/bin/env bats
# scripts/fuzz finds what is planted, shows its input, and knows how to say that there is nothing.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.."
	export TREE=$BATS_FILE_TMPDIR/tree
	mkdir -p "$TREE/scripts" "$TREE/tests/fuzz/corpus/"{planted,quiet,leaky} "$TREE/build-fuzz/tests/fuzz"
	cp scripts/fuzz "$TREE/scripts/"
	cd "$TREE"
	cat >tests/fuzz/planted.c <<-'C'
	#include <stdint.h>
	#include <stdlib.h>
	#include <string.h>
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
	{
		if (size == 5 && memcmp(data, "begin", 5) == 0)
			return data[size];
		return 0;
	}
	C
	sed 's/return data\[size\];/return 0;/' tests/fuzz/planted.c >tests/fuzz/quiet.c
	sed 's/return data\[size\];/return malloc(9) == (void *)data;/' tests/fuzz/planted.c >tests/fuzz/leaky.c
	local target
	for target in planted quiet leaky; do
		printf 'begin' >tests/fuzz/corpus/$target/one
		clang -g -O1 -fsanitize=fuzzer,address,undefined -o build-fuzz/tests/fuzz/$target tests/fuzz/$target.c
	done
}

setup() {
	cd "$TREE"
}

@test "fuzz: a byte read too far ends it, with the input" {
	run scripts/fuzz --seconds 1 planted
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *heap-buffer-overflow* ]]
	[ "$(cat build-fuzz/found/planted-crash-*)" = begin ]
}

@test "fuzz: a leak ends it" {
	run scripts/fuzz --seconds 1 leaky
	echo "$output"
	[ "$status" = 1 ]
	[[ $output == *LeakSanitizer* ]]
}

@test "fuzz: nothing found says how much was tried and with which seed; one bad target of several is bad" {
	run scripts/fuzz --seconds 1 quiet
	echo "$output"
	[ "$status" = 0 ]
	[[ $output =~ ^fuzz\ quiet:\ [0-9]+\ inputs\ in\ 1\ s.*Seed:\ [0-9]+$ ]]
	run scripts/fuzz --seconds 1 quiet planted
	[ "$status" = 1 ]
}

@test "fuzz: what is kept stays small" {
	printf 'begin' >tests/fuzz/corpus/quiet/same
	run scripts/fuzz --merge quiet
	[ "$status" = 0 ]
	[ "$(find tests/fuzz/corpus/quiet -type f | wc -l)" -le 2 ]
	grep -qx begin tests/fuzz/corpus/quiet/*
}

@test "fuzz: wrong command line, unknown target" {
	run scripts/fuzz --seconds 0
	[ "$status" = 64 ]
	run scripts/fuzz --every
	[ "$status" = 64 ]
	run scripts/fuzz none
	[ "$status" = 66 ]
}
