#!/usr/bin/env bats
# weight 40
# The object store killed before and after every effect of a put and a removal, and every effect failing: the old object or
# the new one, whole; nothing else is listed; the same command again puts everything right.

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return 1
	make -s -j2 FAULT=1 build-fault/tests/tool/objects
	export OBJECTS=$PWD/build-fault/tests/tool/objects
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export KZ_STATE=$PWD/state
	mkdir -p state/env state/keys
	chmod 700 state
	echo old >old
	echo new >new
}

begin() {
	rm -rf state/objects
	mkdir state/objects
	[ "$1" != old ] || "$OBJECTS" put w/k/one old
}

# walk OLD-OR-NONE AFTERWARDS COMMAND...: AFTERWARDS lists what may be found, in words old, new, none
walk() {
	local before=$1 may=$2 point how rc found count=0
	shift 2
	begin "$before"
	rm -f trace
	KZ_FAULT_TRACE=$PWD/trace "$OBJECTS" "$@"
	sort -u trace >points
	while read -r -u 5 point; do
		for how in before after fail; do
			rc=0
			begin "$before"
			KZ_FAULT="$point:$how" "$OBJECTS" "$@" 2>err || rc=$?
			case $how in
			fail) [ "$rc" -eq 69 ] && grep -q '^store_unavailable: ' err ;;
			*) [ "$rc" -eq 137 ] ;;
			esac || { echo "$point:$how: $rc $(cat err)"; return 1; }
			found=none
			if "$OBJECTS" get w/k/one got >/dev/null 2>err; then
				found=$(cat got)
			fi
			[[ " $may " == *" $found "* ]] || { echo "$point:$how: found $found"; return 1; }
			[ "$("$OBJECTS" list | wc -l)" -le 1 ] || return 1
			[ "$found" = none ] || [ "$("$OBJECTS" list)" = "w/k/one 4 dated" ] || return 1
			"$OBJECTS" "$@" 2>err || grep -q '^object_exists: ' err || { cat err; return 1; }
			count=$((count + 1))
		done
	done 5<points
	[ "$count" -ge "$least" ]
}

@test "WS-8 WS-12 a first put, killed or failing at each effect, leaves nothing or the whole object" {
	least=15 walk none "none new" fresh w/k/one new
	grep -q OBJ_DIR points
	grep -q OBJ_WRITE points
	grep -q OBJ_NAME points
	grep -q OBJ_FLUSH points
}

@test "WS-8 WS-12 a put over an object, killed or failing at each effect, leaves the old one or the new one" {
	least=9 walk old "old new" put w/k/one new
}

@test "WS-8 a removal, killed or failing at each effect, leaves the object or nothing" {
	least=3 walk old "old none" rm w/k/one
	grep -q OBJ_REMOVE points
}

@test "WS-8 what a killed put left under another name is never listed and goes when it is old" {
	begin none
	mkdir -p state/objects/w
	echo half >state/objects/w/.t-0123
	touch -d '2 days ago' state/objects/w/.t-0123
	[ "$("$OBJECTS" list)" = "" ]
	[ "$("$OBJECTS" sweep)" = 1 ]
	[ -z "$(find state/objects -type f)" ]
}
