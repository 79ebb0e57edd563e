#!/usr/bin/env bats
# A worker image of the other architecture, made with an emulator: really built, and refused by a kz of this machine.
# shellcheck disable=SC2154,SC2030,SC2031 # run and kz_run set the variables
# bats file_tags=case:root,case:cross
bats_require_minimum_version 1.5.0
load ../kz

image() {
	"$BATS_TEST_DIRNAME/../../scripts/image" "$@"
}

setup_file() {
	IMAGES=$(mktemp -d /tmp/kzi.XXXXXX)
	OTHER=arm64 MACHINE=aarch64
	[ "$(dpkg --print-architecture)" = amd64 ] || OTHER=amd64 MACHINE=x86_64
	export IMAGES OTHER MACHINE
	chmod 755 "$IMAGES"
	mkdir "$IMAGES/wheels"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/../wheel.py" "$IMAGES/wheels" kz-tiny 1.0 >"$IMAGES/lock"
	image -a "$OTHER" -p minimal -l "$IMAGES/lock" -w "$IMAGES/wheels" "$IMAGES/x" >"$IMAGES/x.out" 2>"$IMAGES/x.err" </dev/null ||
		{ tail -n 40 "$IMAGES/x.err" && return 1; }
}

teardown_file() {
	rm -rf --one-file-system "$IMAGES"
}

@test "IMG-3 IMG-5 an image of the other architecture is built here: its own packages, pip and gates run emulated" {
	[ "$(jq -r .architecture "$IMAGES/x/manifest.json")" = "$OTHER" ]
	[ "$(jq -r .base.machine "$IMAGES/x/gates.json")" = "$MACHINE" ]
	[ "$(jq -r '.gates[] | select(.gate == "import kz_tiny").ok' "$IMAGES/x/gates.json")" = true ]
	# the machine in the head of an ELF program
	[ "$(od -An -tu2 -j18 -N2 "$(realpath "$IMAGES/x/root/usr/bin/python3")" | tr -d ' ')" -eq "$([ "$MACHINE" = aarch64 ] && echo 183 || echo 62)" ]
	# nothing of the emulator is in it
	[ -z "$(find "$IMAGES/x/root" -name '*qemu*')" ]
	run -0 image --verify "$IMAGES/x"
	run -0 image --gates "$IMAGES/x"
}

@test "IMG-3 kz up refuses it with image_architecture, also where an emulator could start its programs" {
	local state=$IMAGES/state
	KZ_STATE=$state run -78 "$(kz_bin_dir)/kz" up --set "KZ_IMAGE=$IMAGES/x"
	[[ "$output" == *"kz up: image_architecture: $IMAGES/x/manifest.json is for $OTHER, this machine is $(dpkg --print-architecture)" ]]
	KZ_STATE=$state "$(kz_bin_dir)/kz" down -f --purge --yes </dev/null >/dev/null || true
}

@test "IMG-3 a kz that runs closes when it is given one, and opens again with its own" {
	kz_start SANDBOX_WARM_POOL_MIN=1
	kz config set "KZ_IMAGE=$IMAGES/x"
	kz_wait 60 closed_by image_architecture
	kz_run -c 'print(1)'
	[ "$status" -eq 125 ]
	kz config set KZ_IMAGE=host
	kz_wait 60 serves
	kz_stop
}
closed_by() {
	[ "$(kz status -j | jq -rs 'map(select(.admission))[0].admission.reason')" = "$1" ]
}
serves() {
	kz_run -c 'print(1)'
	[ "$status" -eq 0 ] && [ "$output" = 1 ]
}
