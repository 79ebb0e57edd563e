#!/usr/bin/env bats
# kz-run --scope: the files of a chat in a real worker, and what keeps code from starting.
# shellcheck disable=SC2154 # status, output and record are set by kz_run
bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export SEED=$BATS_FILE_TMPDIR/seed D=$BATS_FILE_TMPDIR/documents TOOL=$BATS_TEST_DIRNAME/../tool
	mkdir "$D"
	head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$SEED"
	python3 "$TOOL/v4public.py" public "$SEED" >"$BATS_FILE_TMPDIR/keys"
	kz_start SANDBOX_WARM_POOL_MIN=1 KZ_APP_KEYS_FILE="$BATS_FILE_TMPDIR/keys"
}
teardown_file() { kz_stop; }

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# scope SPEC: scope.json and live.json
scope() {
	python3 "$TOOL/scope.py" "$SEED" "$D" <<<"$1" >scope.json
	python3 "$TOOL/scope.py" --live "$SEED" "$D" <<<"$1" >live.json
}

# scoped ARG...: kz-run under it; status, output, and the record in rec
scoped() {
	status=0
	kz-run --record 7 --scope scope.json --documents "$D" --audience file:live.json "$@" \
		</dev/null >out 2>err 7>rec || status=$?
	output=$(cat out)
	echo "status $status: $(cat out err)"
}

rec() { jq -e "$1" rec >/dev/null; }
READ='import json, os
for e in json.loads(os.environ["KAIZEN_SHARED_RESOURCES_MANIFEST"]):
    print(e["filename"], open(e["path"]).read(), sorted(e) == ["filename", "id", "kind", "media_type", "path", "sha256", "size", "version"])
print(os.environ["KAIZEN_SHARED_RESOURCES_DIR"], sorted(os.listdir("/work/shared")))'

# denied REASON: no code ran, the audit has the reason and nobody's file
denied() {
	[ -z "$output" ]
	rec ".reason == \"$1\" and .not_run.reason == \"$1\" and .cause == null"
}

@test "INV-38, INV-39, PRJ-7, PRJ-8, PRJ-10, PRJ-19: code opens the paths of the manifest, the room's files and the member's own" {
	scope '{"manifest":["a.txt=alpha"],"selection":["s.txt=secret"]}'
	scoped -l python -c "$READ"
	[ "$status" -eq 0 ]
	[ "${output}" = "a.txt alpha True
s.txt secret True
/work/shared ['a.txt', 's.txt']" ]
	rec '.private_selection and .projection.count == 2 and .projection.bytes == 11 and .projection.withheld == null'
	# and none of it is in the workspace that is stored, whose own file is
	scope '{"conversation":"unshared","manifest":["a.txt=alpha-canary"],"selection":["s.txt=secret-canary"]}'
	scoped -l shell -c 'cat "$KAIZEN_SHARED_RESOURCES_DIR"/*; echo own >own'
	[ "$output" = alpha-canarysecret-canary ]
	rec '.snapshot == "saved" and .workspace.entries == 1'
	kz-workspace export -A ann -C unshared -o all.tar 2>/dev/null
	[ "$(tar -tf all.tar | grep -v '/$')" = own ] || [ "$(tar -tf all.tar | grep -v '/$')" = ./own ]
	kz_nowhere -F -e alpha-canary -e secret-canary "$KZ_STATE/objects" all.tar
	python3 "$TOOL/../schema.py" --expect record <rec
}

@test "PRJ-6 RO projection: the place is one read-only file system with nothing mounted inside, whatever code tries" {
	scope '{"manifest":["a.txt=alpha"],"selection":["s.txt=secret"]}'
	scoped -l python -c '
import errno, os, subprocess
d = os.environ["KAIZEN_SHARED_RESOURCES_DIR"]
def why(f, *a):
    try:
        f(*a)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"
def tries():
    print(why(open, d + "/new", "w"), why(os.mkdir, d + "/dir"), why(os.unlink, d + "/a.txt"), why(os.symlink, "a", d + "/l"), why(os.rename, d + "/a.txt", d + "/b"))
    print(sorted({why(open, d + "/" + f, "r+b") for f in os.listdir(d)} - {"EACCES", "EROFS"}))
tries()
for c in (["mount", "-o", "remount,rw", d], ["mount", "-o", "remount,bind,rw", d], ["mount", "-t", "tmpfs", "none", d], ["umount", "-l", d]):
    print(subprocess.run(c, capture_output=True).returncode != 0)
tries()
for l in open("/proc/self/mountinfo"):
    if (l.split()[4] + "/").startswith(d + "/"):
        print(l.split()[4], l.split()[5].split(",")[0])'
	[ "$status" -eq 0 ]
	[ "$output" = "EROFS EROFS EROFS EROFS EROFS
[]
True
True
True
True
EROFS EROFS EROFS EROFS EROFS
[]
/work/shared ro" ]
}

@test "PRJ-9: without a file neither variable is there, whatever -e says, and the place is empty" {
	scope '{}'
	scoped -e KAIZEN_SHARED_RESOURCES_DIR=/tmp -e KAIZEN_SHARED_RESOURCES_MANIFEST='[]' -l shell -c 'env | grep -c ^KAIZEN; ls -A /work/shared'
	[ "$output" = 0 ]
	rec '.projection.count == 0 and .private_selection == false'
	kz_run -e KAIZEN_SHARED_RESOURCES_DIR=/tmp -l shell -c 'env | grep -c ^KAIZEN; ls -A /work/shared'
	[ "$output" = 0 ]
}

@test "INV-40, PRJ-24 to PRJ-31, PRJ-27: a selection is withheld, told as an event, and the run goes on; asked for, it is refused" {
	scope '{"manifest":["a=1"],"selection":["s=secret"],"live":{"version":"a2","roster":["ann","bob"]}}'
	scoped -l python -c "$READ"
	[ "$status" -eq 0 ]
	[[ $output == "a 1 True"* ]]
	[[ $output != *secret* ]]
	rec '.projection.withheld == {event:"run_code.private_selection_withheld",reason:"resource_audience_changed"} and (.private_selection | not)'
	scope '{"selection":["s=secret"],"live":{"version":"a2","roster":["ann","bob"]}}'
	scoped -l python -c "$READ"
	[ "$status" -eq 125 ]
	denied resource_audience_changed
	scoped -l shell -c 'echo plain'
	[ "$output" = plain ]
	told() { kz-audit list -j | jq -se 'any(.[]; tostring | contains("run_code.private_selection_withheld") and contains("resource_audience_changed"))'; }
	kz_wait 20 told
}

@test "PRJ-52, PRJ-53: outputs of a run that saw the selection are marked" {
	mkdir o
	scope '{"selection":["s=secret"]}'
	scoped -o r -d o -l shell -c 'cat /work/shared/s >r'
	[ "$(cat o/r)" = secret ]
	rec '.private_selection and .outputs[0].derived_private == true'
	scope '{"conversation":"another","manifest":["a=1"]}'
	scoped -o r -d o -l shell -c 'cat /work/shared/a >r'
	rec '(.private_selection | not) and (.outputs[0].derived_private != true)'
}

@test "PRJ-52: the mark is of the workspace as well: what a later run finds there, or elsewhere under its lease, is marked" {
	local o=$PWD/o
	mkdir o
	echo own >own
	tar cf own.tar own
	scope '{"conversation":"marked","selection":["s=secret"]}'
	scoped -l shell -c 'cp /work/shared/s copy'
	rec '.private_selection and .workspace.private'
	# a run that is shown nothing puts the copy out
	scope '{"conversation":"marked"}'
	scoped -o copy -d o -l shell -c true
	[ "$(cat o/copy)" = secret ]
	rec '(.private_selection | not) and .workspace.private and .outputs[0].derived_private and .downloads[0].derived_private and .snapshot == "unchanged"'
	python3 "$TOOL/../schema.py" --expect record <rec
	for verb in "list -j" "get -j -- copy" "export -j -o all.tar"; do
		# shellcheck disable=SC2086 # the verb, its options and operands
		kz-workspace ${verb%% *} -A ann -C marked ${verb#* } >line 2>warning
		python3 "$TOOL/../schema.py" <line
		jq -se 'all(.private)' line
		grep 'warning: .*private selection' warning
	done
	scoped -l shell -c 'mv copy moved; echo more >>moved'
	rec '.snapshot == "saved" and .workspace.private'
	kz-workspace rm -A ann -C marked moved
	scoped -o r -d o -l shell -c 'echo r >r'
	rec '.outputs[0].derived_private == false and (.workspace.private | not)'
	kz-workspace list -A ann -C marked 2>warning
	[ ! -s warning ]
	# a tar replaces the tree, and the copy with it
	scope '{"conversation":"marked","selection":["s=secret"]}'
	scoped -l shell -c 'cp /work/shared/s copy'
	rec .workspace.private
	kz-workspace put -j -A ann -C marked own | jq -e .private
	kz-workspace import -j -A ann -C marked own.tar | jq -e '.private | not'
	# under a held lease a copy may lie beside the workspace, which is replaced meanwhile
	cat >steps <<-S
	set -e
	kz-run --scope scope.json --documents $D --audience file:live.json -l shell -c 'cp /work/shared/s /tmp/copy' </dev/null
	kz-workspace import own.tar
	kz-run --record 7 -l shell -d $o -o r -c 'cp /tmp/copy r' </dev/null 7>held
	S
	kz-lease with -A ann -C marked -- sh steps
	[ "$(cat o/r)" = secret ]
	jq -e '(.private_selection | not) and .outputs[0].derived_private and .workspace.private' held
}

@test "CMP-1: what a run that saw the selection printed is not shortened" {
	printf builtin >"$KZ_STATE/env/KZ_COMPRESS"
	scope '{"selection":["s=secret"]}'
	scoped --compress -l shell -c 'seq 10000'
	rec '.private_selection and .model_view.stdout.omitted_bytes > 0 and (.model_view.stdout | has("compressed") | not)'
	# that workspace is marked now; another one is not
	scoped --compress -l shell -c 'seq 10000'
	rec '.model_view.stdout | has("compressed") | not'
	scope '{"conversation":"other","manifest":["a=1"]}'
	scoped --compress -l shell -c 'seq 10000'
	rec '.model_view.stdout.compressed.by == "builtin"'
	rm "$KZ_STATE/env/KZ_COMPRESS"
}

@test "EXEC-19: every field of document and capability, removed or altered: no code" {
	for case in 'drop:["actor"]:capability_missing' 'drop:["conversation"]:capability_missing' 'drop:["turn"]:capability_missing' \
		'drop:["admission_position"]:capability_missing' 'drop:["audience_version"]:capability_missing' 'drop:["manifest_sha256"]:capability_missing' \
		'drop:["capability"]:capability_missing' 'claims:{"actor":null}:capability_missing' 'claims:{"conversation":null}:capability_missing' \
		'claims:{"turn":null}:capability_missing' 'claims:{"position":null}:capability_missing' 'claims:{"audience_version":null}:capability_missing' \
		'claims:{"manifest_sha256":null}:capability_missing' 'claims:{"actor":"bob"}:capability_invalid' 'claims:{"conversation":"x"}:capability_invalid' \
		'claims:{"turn":"x"}:capability_invalid' 'claims:{"position":11}:capability_invalid' 'claims:{"audience_version":"x"}:capability_invalid' \
		'claims:{"manifest_sha256":"x"}:capability_invalid' 'manifest_sha256:"'"$(printf %064d 0)"'":resource_manifest_mismatch' 'token:"x":capability_invalid'; do
		scope "{\"manifest\":[\"a=1\"],\"${case%%:*}\":$(cut -d: -f2- <<<"${case%:*}")}"
		scoped -l shell -c 'echo ran'
		echo "$case"
		[ "$status" -eq 125 ]
		denied "${case##*:}"
	done
}

@test "AUD-1, AUD-3, AUD-4: dispatch and denial name audience, capability and manifest by digest, and no file or token" {
	scope '{"manifest":["canary-name=canary-bytes"],"audience_version":"canary-version"}'
	scoped -l shell -c 'true'
	[ "$status" -eq 0 ]
	want=$(jq -r .manifest_sha256 scope.json) token=$(jq -rj .capability scope.json | sha256sum | cut -d' ' -f1)
	version=$(printf canary-version | sha256sum | cut -d' ' -f1)
	kz-audit list -j >rows
	jq -se --arg m "$want" --arg t "$token" --arg v "$version" 'any(.[]; tostring | contains($m) and contains($t) and contains($v))' rows
	scope '{"manifest":["canary-name=canary-bytes"],"audience_version":"canary-version","live":{"manifest":[]}}'
	scoped -l shell -c 'echo ran'
	denied resource_room_changed
	token=$(jq -rj .capability scope.json | sha256sum | cut -d' ' -f1)
	kz-audit list -j >rows
	jq -se --arg t "$token" 'any(.[]; tostring | contains($t) and contains("resource_room_changed"))' rows
	[ "$(grep -c canary rows)" -eq 0 ]
	[ "$(grep -c "$(jq -r .capability scope.json)" rows)" -eq 0 ]
}

@test "EXEC-19: another -A or -C, no --documents, --audience without --scope: wrong command line; no keys: refused" {
	scope '{"manifest":["a=1"]}'
	scoped -A bob -c 'print(1)'
	[ "$status" -eq 64 ]
	rec '.reason == "usage"'
	scoped -C other -c 'print(1)'
	rec '.reason == "usage"'
	scoped -A ann -C chat -c 'print(1)'
	[ "$output" = 1 ]
	run kz-run --scope scope.json -c 'print(1)' </dev/null
	[ "$status" -eq 64 ]
	run kz-run --audience file:live.json -c 'print(1)' </dev/null
	[ "$status" -eq 64 ]
}

@test "PRJ-4, PRJ-55: a document that is not what its name says is not shown, and no code starts" {
	scope '{"manifest":["a=unlike any other"]}'
	file=$D/$(printf 'unlike any other' | sha256sum | cut -d' ' -f1)
	printf 'unlike any otheR' >"$file"
	scoped -l shell -c 'echo ran'
	denied resource_digest_mismatch
	rm "$file"
	scoped -l shell -c 'echo ran'
	denied resource_unavailable
}

@test "PRJ-2, BOUND-12: 20 files and 8 MiB run, one more of either does not" {
	scope "$(jq -nc '{manifest:[range(20)|"f\(.)=\(.)"]}')"
	scoped -l shell -c 'ls /work/shared | wc -l'
	[ "$output" = 20 ]
	scope "$(jq -nc '{manifest:[range(21)|"f\(.)=\(.)"]}')"
	scoped -l shell -c 'echo ran'
	denied resource_over_count
	python3 -c 'import json; print(json.dumps({"manifest": ["big=" + "x" * 8388607, "b=y"]}))' >spec
	python3 "$TOOL/scope.py" "$SEED" "$D" <"$PWD/spec" >scope.json
	python3 "$TOOL/scope.py" --live "$SEED" "$D" <"$PWD/spec" >live.json
	scoped -l shell -c 'cat /work/shared/* | wc -c'
	[ "$output" = 8388608 ]
	jq -c '.manifest[1]="b=yz"' spec >wider
	python3 "$TOOL/scope.py" "$SEED" "$D" <"$PWD/wider" >scope.json
	python3 "$TOOL/scope.py" --live "$SEED" "$D" <"$PWD/wider" >live.json
	scoped -l shell -c 'echo ran'
	denied resource_over_bytes
}

@test "EXEC-4, PRJ-9: under a held lease the next run sees its own set, or none" {
	scope '{"manifest":["a=1"]}'
	cp scope.json one.json
	cp live.json one.live
	scope '{"manifest":["b=2"]}'
	cat >steps <<-S
	set -e
	kz-run --scope one.json --documents $D --audience file:one.live -l shell -c 'ls /work/shared' </dev/null
	kz-run --scope scope.json --documents $D --audience file:live.json -l shell -c 'ls /work/shared' </dev/null
	kz-run -l shell -c 'ls -A /work/shared; env | grep -c ^KAIZEN' </dev/null || true
	S
	run kz-lease with -A ann -C chat -- sh steps
	echo "$output"
	[ "$output" = "a
b
0" ]
}

@test "PRJ-50: a file that cannot be given is refused as such, and no text of it stands in its place" {
	scope '{"manifest":["a=alpha text"],"selection":[{"id":"s.pdf","state":"unreadable"}]}'
	scoped -l python -c 'print("ran")
open("/work/shared/s.pdf")'
	rec '.projection.extracted_text_substitute == false and .projection.count <= 1 and (.projection.private_selection | not)'
	rm "$D/$(printf 'alpha text' | sha256sum | cut -d' ' -f1)"
	scoped -l shell -c 'echo ran'
	denied resource_unavailable
	rec '.projection.extracted_text_substitute == false and .projection.count == 0'
	kz-project resolve -j -k "$BATS_FILE_TMPDIR/keys" -a file:live.json <scope.json | jq -e '.extracted_text_substitute == false'
}

@test "KRN-12 KRN-13: a cell of a kernel gets no file and the selection is not loaded, which is told; code that names the contract is refused" {
	scope '{"conversation":"cells","manifest":["a.txt=told alpha"],"selection":["s.txt=told secret"]}'
	# nothing of it is loaded: it could not be
	rm "$D/$(printf 'told alpha' | sha256sum | cut -d' ' -f1)" "$D/$(printf 'told secret' | sha256sum | cut -d' ' -f1)"
	scoped -k -l python -c 'import os
seen = (os.listdir("/work/shared"), sorted(k for k in os.environ if k.startswith("KAIZEN")))
seen'
	[ "$output" = "([], [])" ]
	rec '.kernel.status == "saved" and .projection.count == 0 and .projection.bytes == 0 and (.private_selection | not) and (.workspace.private | not)'
	python3 "$TOOL/../schema.py" --expect record <rec
	scoped -k -l node -c 'state.seen = require("fs").readdirSync("/work/shared").length; state'
	[ "$output" = "{ seen: 0 }" ]
	# the state is that of the scope's conversation
	scoped -k -l python -c 'seen'
	[ "$output" = "([], [])" ]
	for code in 'seen = open(os.environ["KAIZEN_SHARED_RESOURCES_DIR"])' 'seen = "KAIZEN_SHARED_RESOURCES_MANIFEST"'; do
		scoped -k -l python -c "$code"
		[ "$status" -ne 0 ]
		denied resource_persistent_kernel
		rec '.outcome != "completed" and .kernel == null'
		grep -q 'resource_persistent_kernel' err
	done
	kz-audit list -j | jq -se 'any(.[]; tostring | contains("resource_persistent_kernel"))'
	scoped -k -l python -c 'seen'
	[ "$output" = "([], [])" ]
	rec '.kernel.generation == 1'
}

@test "PROJ-2 WS-18: in a room of a Project a member has its own workspace and grants, as outside, and nobody else's" {
	local room='"conversation":"filed","roster":["ann","bob"],"manifest":["plan=shared"]'
	scope "{$room}"
	scoped -l shell -e OWN=ann -c 'cat /work/shared/plan >mine; echo $OWN'
	[ "$output" = ann ]
	rec '.snapshot == "saved" and .egress.effective == "none" and .egress.reason != null'
	jq -c '.egress | {effective, reason}' rec >inside
	scope "{\"actor\":\"bob\",$room}"
	scoped -l shell -c 'cat /work/shared/plan; ls -A; env | grep -c ^OWN'
	[ "$output" = shared0 ]
	rec '.workspace.entries == 0'
	# the same member outside: the same egress, the same way to its workspace
	scope '{"conversation":"own","manifest":["plan=shared"]}'
	scoped -l shell -c 'ls -A'
	[ -z "$output" ]
	[ "$(jq -c '.egress | {effective, reason}' rec)" = "$(cat inside)" ]
	[ "$(kz-workspace list -A ann -C filed)" = mine ]
	[ "$(kz-workspace list -A bob -C filed 2>&1 | grep -c mine)" -eq 0 ]
}

@test "PROJ-10: what a Project's document says of a bucket is text: no way opens, and a scope with such a member is none" {
	scope '{"manifest":["blueprint.json={\"bucket\":\"b\",\"endpoint\":\"http://203.0.113.7\",\"signed_url\":\"http://203.0.113.7/b/k?X-Amz-Signature=00\"}"]}'
	scoped -l python -c '
import json, urllib.request
d = json.load(open("/work/shared/blueprint.json"))
for url in (d["endpoint"], d["signed_url"]):
    try:
        urllib.request.urlopen(url, timeout=5)
        print("reached")
    except OSError:
        print("no way")'
	[ "$output" = $'no way\nno way' ]
	rec '.egress.effective == "none" and .egress.execution == null'
	for member in bucket endpoint signed_url source; do
		jq -c --arg m "$member" '. + {($m): "http://203.0.113.7/b"}' scope.json >wider
		mv wider scope.json
		scoped -l shell -c 'echo ran'
		denied scope_malformed
		scope '{"manifest":["a=1"]}'
	done
}

@test "PROJ-11: the credentials of the object store reach no worker, record, scope or document" {
	local key=canary1access secret=canary1secret
	printf '%s\n%s\n' $key $secret >"$KZ_STATE/keys/objects.key"
	chmod 640 "$KZ_STATE/keys/objects.key"
	scope '{"conversation":"credentials","manifest":["a=1"]}'
	scoped -o found -d . -l shell -c 'cat /proc/self/environ /proc/1/environ /proc/*/cmdline >found 2>/dev/null
		grep -rla "canary[1]" /work /tmp /run /etc /var /dev/shm 2>/dev/null
		find / -xdev -name "objects.key" 2>/dev/null; echo searched'
	rm "$KZ_STATE/keys/objects.key"
	[ "$output" = searched ]
	[ -f found ]
	run ! grep -qaF canary1 found rec err
	kz_nowhere -F $secret "$D" "$KZ_STATE/env" "$KZ_STATE/public" "$KZ_STATE/audit" "$KZ_STATE/log" "$KZ_STATE/objects"
}
