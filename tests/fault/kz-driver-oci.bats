#!/usr/bin/env bats
# weight 37
# kill -9 of the driver before and after each of its effects: list sees what is left, delete removes it.

load ../driver

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../.." FAULT=1 build-fault/bin/kz-driver-oci
	driver_setup_file build-fault
}

teardown_file() {
	driver_teardown_file
}

setup() {
	driver_setup
	# the image and the choice of a runtime are made before the fault
	IMAGE=$(image)
}

teardown() {
	driver_teardown
}

# A create that meets the fault; then the answer, if there was one, is true, and delete undoes everything.
create_with() {
	local fault=$1 name=w-1
	reply=$(printf '{"v":1,"verb":"create","worker":"%s","instance":"%s","image":"%s"}\n' "$name" "$(instance_of 1)" "$IMAGE" |
		KZ_FAULT=$fault driver) || true
	case "$(field '.answer // ""')" in
	present)
		get "$name"
		[ "$(field .alive)" = true ]
		passed=1
		;;
	absent)
		[ -n "$(field .reason)" ]
		nothing_left || { echo "$fault: absent, but something is left"; return 1; }
		;;
	unknown) ;;
	"") ;;
	*) return 1 ;;
	esac
	# what is left is reported, or there is nothing
	if [ -n "$(cgroups)$(processes)" ] && [ "$(listed)" != "$name" ]; then
		echo "$fault: something is left that list does not report"
		cgroups
		return 1
	fi
	delete "$name" "$(instance_of 1)"
	[ "$(field .answer)" = absent ] || { echo "$fault: $reply"; return 1; }
	listed >/dev/null
	nothing_left || { echo "$fault: something is left after delete"; return 1; }
}

# Walk one point: its 1st, 2nd, ... passing, until a create is through without meeting it.
walk() {
	local point=$1 how=$2 n
	for n in $(seq 1 60); do
		passed=0
		create_with "$point:$n:$how"
		[ "$passed" -eq 0 ] || return 0
	done
	echo "$point is passed more than 60 times"
	return 1
}

@test "FENCE-4 a driver killed around making a cgroup" {
	walk CG_MAKE before
	walk CG_MAKE after
}

@test "FENCE-4 a driver killed around starting the runtime" {
	walk RT_RUN before
	walk RT_RUN after
}

@test "FENCE-4 a driver killed around making directories and files" {
	walk DIR_MAKE before
	walk DIR_MAKE after
	walk FILE_REPLACE before
	walk FILE_REPLACE after
}

@test "FENCE-4 a driver killed around removing a tree" {
	walk TREE_REMOVE before
	walk TREE_REMOVE after
}

@test "POOL-25 an effect that fails makes the create absent, with nothing left" {
	local point
	for point in CG_MAKE RT_RUN DIR_MAKE; do
		walk "$point" fail
	done
}

@test "POOL-25 a runtime that cannot be started is absent" {
	create_with RT_RUN:1:fail
	printf '{"v":1,"verb":"create","worker":"w-1","instance":"%s","image":"%s"}\n' "$(instance_of 1)" "$IMAGE" >"$KZ_STATE/q"
	[ "$(KZ_FAULT=RT_RUN:1:fail driver <"$KZ_STATE/q" | jq -r '.answer+" "+.reason')" = "absent runtime_unavailable" ]
	nothing_left
}

# A delete that is killed at its Nth effect, then repeated.
delete_with() {
	local fault=$1
	reply=$(printf '{"v":1,"verb":"delete","worker":"w-1","instance":"%s"}\n' "$(instance_of 1)" | KZ_FAULT=$fault driver) || true
	if [ -n "$(cgroups)$(processes)" ] && [ "$(listed)" != w-1 ]; then
		echo "$fault: something is left that list does not report"
		return 1
	fi
	if [ "$(field '.answer // ""')" = absent ]; then
		nothing_left
		return
	fi
	delete w-1 "$(instance_of 1)"
	[ "$(field .answer)" = absent ]
	# a draft of a directory that was about to go is swept by the next create
	create w-2 "$(instance_of 2)" "$IMAGE"
	delete w-2 "$(instance_of 2)"
	nothing_left || { echo "$fault"; return 1; }
}

@test "FENCE-4 a delete that is killed around each of its effects can be repeated" {
	local point how n
	for point in CG_REMOVE RT_DELETE TREE_REMOVE; do
		for how in before after; do
			for n in 1 2 3 10 20; do
				create w-1 "$(instance_of 1)" "$IMAGE"
				[ "$(field .answer)" = present ]
				delete_with "$point:$n:$how"
			done
		done
	done
}

@test "FENCE-4 dangling box: a driver killed at any moment of a create" {
	local ms pid
	for ms in 5 10 15 20 25 30 35 40 45 50 55 60 70 80 100; do
		printf '{"v":1,"verb":"create","worker":"w-1","instance":"%s","image":"%s"}\n' "$(instance_of 1)" "$IMAGE" >"$KZ_STATE/q"
		"$DRIVER_DIR/bin0/kz-driver-oci" <"$KZ_STATE/q" >"$KZ_STATE/a" &
		pid=$!
		sleep "0.$(printf %03d "$ms")"
		kill -9 "$pid" 2>/dev/null || [ -s "$KZ_STATE/a" ]
		wait "$pid" || [ $? -eq 137 ]
		if [ -n "$(cgroups)$(processes)" ] && [ "$(listed)" != w-1 ]; then
			echo "$ms: something is left that list does not report"
			cgroups
			false
		fi
		delete w-1 "$(instance_of 1)"
		[ "$(field .answer)" = absent ]
		create w-2 "$(instance_of 2)" "$IMAGE"
		delete w-2 "$(instance_of 2)"
		nothing_left
	done
}

@test "FENCE-4 a probe whose driver was killed is listed and deleted" {
	local name
	rm "$KZ_STATE/run/oci/probe.json"
	KZ_FAULT=RT_RUN:1:after driver <<<'{"v":1,"verb":"probe"}' || true
	name=$(listed)
	[[ $name == probe-* ]]
	delete "$name"
	[ "$(field .answer)" = absent ]
	nothing_left
}
