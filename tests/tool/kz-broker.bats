#!/usr/bin/env bats
# weight 122
# The package broker of a real kz-gateway, with pip and npm as clients and registries that the tests start.
# bats file_tags=case:root

load ../kz

RUN=00112233445566778899aabbccddeeff
EXECUTION=ffeeddccbbaa99887766554433221100

# registry FOLDER [ARGUMENT...]: start one there
registry() {
	local folder=$1
	shift
	mkdir -p "$folder"
	: >"$folder/log"
	python3 "$REGISTRY/registry.py" "$folder" "$@" </dev/null >"$folder/out" 2>&1 3>&- &
	echo $! >"$folder/pid"
	kz_wait 20 test -s "$folder/port"
}

# registries_are JSON: as a setting, and taken up
registries_are() {
	kz config set SANDBOX_PACKAGE_REGISTRIES "$1" </dev/null >/dev/null
	sleep 0.6 # the gateway looks for changes at most every half second
}

usual() {
	local port
	port=$(cat "$FIX/port")
	registries_are "{\"pypi\":{\"index\":\"http://127.0.0.1:$port/simple/\",\"hosts\":[\"127.0.0.1:$(cat "$FIX/away")\"]},\"npm\":{\"registry\":\"http://127.0.0.1:$port/npm/\"}}"
}

setup_file() {
	export REGISTRY=$BATS_TEST_DIRNAME/../registry FIX=$BATS_FILE_TMPDIR/fix
	kz_start SANDBOX_WARM_POOL_MIN=0 SANDBOX_PACKAGE_MAX_INDEX_BYTES=1000000 SANDBOX_PACKAGE_MAX_FILE_BYTES=3000000
	registry "$FIX-away"
	mkdir -p "$FIX"
	cp "$FIX-away/port" "$FIX/away"
	registry "$FIX"
	usual
}

teardown_file() {
	local f
	for f in "$FIX" "$FIX-away"; do
		[ ! -s "$f/pid" ] || kill "$(cat "$f/pid")" || true
	done
	kz_stop
}

setup() {
	# of its own, so that no test sees what another asked for
	EXECUTION=$(printf '%032x' $((0xabc000 + BATS_TEST_NUMBER)))
	TOKEN=$(token)
	cd "$BATS_TEST_TMPDIR" || return 1
}

# token [SECONDS [EXECUTION]]
token() {
	python3 "$REGISTRY/token.py" "$KZ_STATE/keys/package.key" "$RUN" "${2:-$EXECUTION}" $(($(date +%s) + ${1:-300}))
}

# In a network where nothing but the way to the gateway is.
worker() {
	timeout 150 python3 "$REGISTRY/worker.py" "$KZ_STATE/run/gateway/gateway.sock" "$EXECUTION" "$@"
}

# what a test that failed had stopped
teardown() {
	local service
	for service in kz-controller valkey; do
		s6-svc -u "$KZ_STATE/service/$service"
	done
}

# is_taken PORT: somebody listens there
is_taken() { (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# get PATH [CURL ARGUMENT...]: the body in ./body, the head in ./head, the status printed
get() {
	local path=$1
	shift
	worker curl -sS --path-as-is -o body -D head -w '%{http_code}\n' -u "kz:$TOKEN" "$@" "http://127.0.0.1:8000$path" 2>curl.err || true
}

# is STATUS REASON PATH [...]
is() {
	local want=$1 reason=$2
	shift 2
	run get "$@"
	[ "$output" = "$want" ] || {
		echo "$1: $output, not $want"
		cat body
		return 1
	}
	[ "$(jq -r .reason body)" = "$reason" ] || {
		cat body
		return 1
	}
}

# has_not GREP ARGUMENT...: nothing of it is there
has_not() {
	if grep "$@"; then
		return 1
	fi
}

# the reason that /broker/state gives
state_reason() {
	get /broker/state >/dev/null
	python3 "$BATS_TEST_DIRNAME/../schema.py" --last broker_state <body
	jq -r .reason body
}

pip_() {
	worker env -i PATH="$PATH" HOME="$PWD" LC_ALL=C.UTF-8 PIP_CONFIG_FILE=/dev/null python3 -m pip --isolated --disable-pip-version-check \
		install --no-cache-dir --retries 1 --timeout 60 --target "$PWD/out" -i "http://kz:$TOKEN@127.0.0.1:8000/pypi/simple/" "$@" </dev/null 2>&1
}

npm_() {
	printf 'registry=http://127.0.0.1:8000/npm/\n//127.0.0.1:8000/npm/:_authToken=%s\nfetch-retries=1\nfetch-retry-mintimeout=100\nfetch-retry-maxtimeout=2000\n' "$TOKEN" >.npmrc
	[ -e package.json ] || echo '{"name":"t","version":"1.0.0"}' >package.json
	worker env -i PATH="$PATH" HOME="$PWD" npm "$@" --no-audit --no-fund --cache "$PWD/.cache" </dev/null 2>&1
}

@test "BRK-1 BRK-6 BRK-27: pip installs a wheel, a source archive and a tree, with nothing but the way to the broker" {
	run pip_ pure==1.0 tree source
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(find out -name '*.dist-info' | wc -l)" -eq 13 ]
	[ "$(PYTHONPATH=out python3 -c 'import pure, source, leaf_8; print(pure.VERSION, source.VERSION)')" = "1.0+local 1.0" ]
	[[ $output != *"$TOKEN"* ]]
}

@test "BRK-7: a wheel's companion is read in the place of the wheel, and no other sidecar is there" {
	pip_ --dry-run --report report companion >/dev/null
	grep -q '"name": "pure"' report
	# pip before 23.2 knows no companion of a JSON index, and reads the wheel
	if python3 -c 'import pip, sys; sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (23, 2))'; then
		grep -q '/f/companion/companion-1.0-py3-none-any.whl.metadata ' "$FIX/log"
	else
		grep -q '/f/companion/companion-1.0-py3-none-any.whl ' "$FIX/log"
	fi
	[ "$(get /pypi/files/companion/companion-1.0-py3-none-any.whl.metadata)" = 200 ]
	grep -q '^Name: companion$' body
	get /pypi/simple/pure/ >/dev/null
	is 403 package_unapproved /pypi/files/pure/pure-1.0-py3-none-any.whl.metadata
	is 400 package_name /pypi/files/pure/pure-1.0-py3-none-any.whl.provenance
	is 400 package_name /pypi/files/pure/pure-1.0-py3-none-any.whl.asc
}

@test "BRK-7: a companion that is not of its digest is not handed out" {
	get /pypi/simple/companion-wrong/ >/dev/null
	is 502 package_digest /pypi/files/companion-wrong/companion_wrong-1.0-py3-none-any.whl.metadata
	[ "$(state_reason)" = package_digest ]
}

@test "BRK-1 BRK-6: npm installs a scoped package with what it depends on, twice from the lock file, which holds no token (rewrite)" {
	run npm_ install @scope/three
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(node -p 'require("@scope/three") + require("two") + require("one")')" = 3.0.02.0.01.0.0 ]
	grep -q '"resolved": "http://127.0.0.1:8000/npm/@scope/three/-/three-3.0.0.tgz"' package-lock.json
	has_not -q kzp1 package-lock.json
	rm -rf node_modules .cache
	# another run, with another token
	EXECUTION=$(printf '%032x' 77)
	TOKEN=$(token)
	run npm_ ci
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(node -p 'require("@scope/three")')" = 3.0.0 ]
}

@test "BRK-33: install scripts run in the worker, where the way to the broker is all there is" {
	run npm_ install scripted --foreground-scripts
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(worker ip -o link | wc -l)" -eq 1 ]
}

@test "BRK-6: an index keeps what installers go by, in both forms, and nothing else (attribute loss, URL form)" {
	get /pypi/simple/PURE/ -H 'Accept: application/vnd.pypi.simple.v1+json' >/dev/null
	jq -e '.name == "pure" and .meta["api-version"] == "1.1" and .["project-status"].status == "archived"' body
	jq -e '.files | length == 4' body
	jq -e '.files[1].yanked == "broken" and .files[2]["requires-python"] == ">=99" and .files[0].size > 0' body
	jq -e '.files[3].url == "http://127.0.0.1:8000/pypi/files/pure/pure-1.0%2Blocal-py3-none-any.whl"' body
	[ "$(get '/pypi/files/pure/pure-1.0%2Blocal-py3-none-any.whl')" = 200 ]
	[ "$(get '/pypi/files/pure/pure-1.0+local-py3-none-any.whl')" = 200 ]
	# no Python of today may have the newest, and the one before it is yanked: pip goes by both
	pip_ --dry-run --report report pure >/dev/null
	jq -e '.install[0].metadata.version == "1.0+local"' report
	get /pypi/simple/companion/ -H 'Accept: application/vnd.pypi.simple.v1+json' >/dev/null
	jq -e '.files[0]["core-metadata"].sha256 | length == 64' body
	has_not -q 'dist-info\|hidden\|alternate\|provenance' body
	get /pypi/simple/companion/ -H 'Accept: text/html' >/dev/null
	grep -q 'data-core-metadata="sha256=[0-9a-f]*" data-dist-info-metadata="sha256=' body
	has_not -q '?' body
}

@test "BRK-1 BRK-6: a registry that speaks HTML alone serves pip as well" {
	touch "$FIX/html"
	run pip_ tree pure
	rm "$FIX/html"
	echo "$output"
	[ "$status" -eq 0 ]
	[ -d out/pure-1.0.dist-info ] || [ -d out/pure-1.0+local.dist-info ]
}

@test "BRK-6 BRK-30: a packument holds what npm needs; nothing shows where anything came from" {
	get /npm/@scope%2fthree -H 'Accept: application/vnd.npm.install-v1+json' >/dev/null
	grep -qi '^content-type: application/vnd.npm.install-v1+json' head
	jq -e '.versions["3.0.0"] | (keys == ["dependencies","dist","name","version"]) and (.dist | keys == ["integrity","shasum","tarball"])' body
	get /npm/one >/dev/null
	grep -qi '^content-type: application/json' head
	jq -e '.versions["1.1.0"].deprecated == "use another" and .["dist-tags"].latest == "1.1.0"' body
	has_not -q "hidden\|$(cat "$FIX/port")" body
	get /npm/relative >/dev/null
	[ "$(get /npm/relative/-/relative-1.0.0.tgz)" = 200 ]
	[ "$(get /npm/shasum-only/-/shasum-only-1.0.0.tgz)" = 200 ]
}

@test "BRK-2 BRK-28: no token, another run's, one that ended, one that was altered: nothing" {
	is 401 package_token /pypi/simple/pure/ -u kz:
	grep -qi '^www-authenticate: basic' head
	is 401 package_token /pypi/simple/pure/ -u "root:$TOKEN"
	is 401 package_token /pypi/simple/pure/ -u "kz:${TOKEN%?}"
	is 401 package_token "/pypi/simple/pure/?token=$TOKEN" -u kz:x
	is 401 package_token /npm/one -u kz: -H "Authorization: Bearer x$TOKEN"
	TOKEN=$(token 0) is 401 package_token /pypi/simple/pure/
	TOKEN=$(token 4000) is 401 package_token /pypi/simple/pure/
	TOKEN=$(token 300 "$(printf '%032x' 1)") is 403 package_token /pypi/simple/pure/
	[ "$(get /pypi/simple/pure/ -u : -H "Authorization: Bearer $TOKEN")" = 200 ]
	# an operator's connection is no worker's
	run curl -sS -o body -w '%{http_code}' --unix-socket "$KZ_STATE/run/gateway-admin.sock" -u "kz:$TOKEN" http://127.0.0.1:8000/pypi/simple/pure/
	[ "$output" = 403 ]
	# and the egress proxy takes no such thing for a grant
	run curl -sS -o body -w '%{http_code}' --unix-socket "$KZ_STATE/run/proxy/proxy.sock" -H "Proxy-Authorization: Bearer $TOKEN" --request-target http://127.0.0.1/ http://127.0.0.1/
	[ "$output" != 200 ]
}

@test "BRK-1 BRK-28: a file that no index of this run named is handed out to nobody" {
	is 403 package_unapproved /pypi/files/pure/pure-1.0-py3-none-any.whl
	get /pypi/simple/pure/ >/dev/null
	[ "$(get /pypi/files/pure/pure-1.0-py3-none-any.whl)" = 200 ]
	is 403 package_unapproved /pypi/files/pure/pure-7.0-py3-none-any.whl
	is 403 package_unapproved /npm/one/-/one-7.0.0.tgz
	EXECUTION=$(printf '%032x' 2)
	TOKEN=$(token) is 403 package_unapproved /pypi/files/pure/pure-1.0-py3-none-any.whl
}

@test "BRK-1: paths that some reader could take for others are refused (canonicalisation, parser differential)" {
	local path
	for path in /pypi/simple/pure /pypi/simple//pure/ /pypi/simple/../simple/pure/ /pypi/simple/p%2fure/ /pypi/simple/pure%00/ \
		'/pypi/simple/pure\/' /pypi/simple/pure%5c/ '/pypi/simple/pure/?' '/pypi/simple/pure/?x=1' /pypi/simple/%70ure/ /npm/a/b /npm/@a%252fb \
		/npm/-/ping /npm/.. /npm/@scope%2fthree%2f..; do
		is 400 package_name "$path"
	done
	is 400 package_name /pypi/simple/pure/ -H 'Host: evil.test'
	is 400 package_name /pypi/simple/pure/ -H 'Host: 127.0.0.1:9000'
	[ "$(get /pypi/simple/pure/ -H 'Host: localhost:8000')" = 200 ]
	grep -q 'href="http://localhost:8000/pypi/files/' body
}

@test "BRK-4 BRK-6: HEAD has the length and no body; a range is answered whole" {
	get /pypi/simple/pure/ >/dev/null
	[ "$(get /pypi/files/pure/pure-1.0-py3-none-any.whl -r 0-9)" = 200 ]
	cp body whole
	[ "$(get /pypi/files/pure/pure-1.0-py3-none-any.whl -I)" = 200 ]
	grep -qi "^content-length: $(stat -c %s whole)" head
	[ "$(get /pypi/simple/pure/ -I)" = 200 ]
}

@test "BRK-3: an index over its bound is refused while it comes; one that is large in what is dropped is not (size)" {
	is 413 index_too_large /pypi/simple/large/
	is 413 index_too_large /npm/npm-large
	is 404 package_unknown /npm/none-such
	# 40 MiB of it are nobody's
	[ "$(get /npm/npm-wide)" = 200 ]
	is 502 registry_answer /pypi/simple/bomb/
	[ "$(awk '/^VmHWM/ { print $2 }' "/proc/$(kz_service_pid kz-gateway)/status")" -lt 40000 ]
}

@test "BRK-4: a file over its bound is refused by its length, and cut by its count" {
	get /pypi/simple/large-length/ >/dev/null
	is 413 package_too_large /pypi/files/large-length/large_length-1.0-py3-none-any.whl
	get /pypi/simple/large-chunked/ >/dev/null
	get /pypi/files/large-chunked/large_chunked-1.0-py3-none-any.whl >/dev/null
	grep -q 'transfer closed\|chunk\|outstanding' curl.err
	[ "$(stat -c %s body)" -le 3000000 ]
	[ "$(state_reason)" = package_too_large ]
}

@test "BRK-6: a file of the wrong digest never comes whole" {
	get /pypi/simple/wrong-hash/ >/dev/null
	is 502 package_digest /pypi/files/wrong-hash/wrong_hash-1.0-py3-none-any.whl
	[ "$(state_reason)" = package_digest ]
	get /pypi/simple/wrong-large/ >/dev/null
	get /pypi/files/wrong-large/wrong_large-1.0-py3-none-any.whl >/dev/null
	grep -q 'transfer closed\|outstanding' curl.err
	[ "$(stat -c %s body)" -lt 1000000 ]
	run pip_ wrong-hash
	[ "$status" -ne 0 ]
	is 502 package_digest /npm/bad-integrity/-/bad-integrity-1.0.0.tgz
	# SHA-1 alone is npm's to check
	run npm_ install bad-shasum
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *EINTEGRITY* ]]
	rm -rf package.json node_modules .npmrc
	run npm_ install bad-integrity
	[ "$status" -ne 0 ]
}

@test "BRK-8: a host that is not in the list is not asked, named in an index or in a redirect" {
	get /pypi/simple/away-denied/ >/dev/null
	is 403 package_host_denied /pypi/files/away-denied/away_denied-1.0-py3-none-any.whl
	get /pypi/simple/elsewhere/ >/dev/null
	is 403 package_host_denied /pypi/files/elsewhere/elsewhere-1.0-py3-none-any.whl
	is 403 package_host_denied /pypi/simple/index-denied/
	is 403 package_host_denied /pypi/simple/index-metadata/
	is 502 registry_answer /pypi/simple/index-file/
	is 502 registry_answer /pypi/simple/loop/
	is 403 package_host_denied /npm/other-host/-/other-host-1.0.0.tgz
	get /pypi/simple/away-listed/ >/dev/null
	[ "$(get /pypi/files/away-listed/away_listed-1.0-py3-none-any.whl)" = 200 ]
	grep -q /f/away-listed/ "$FIX-away/log"
	[ "$(get /pypi/simple/index-moved/)" = 502 ] # it is the index of another project
}

@test "BRK-8: nothing that leads elsewhere ever leaves the broker (redirect fallback, bypass)" {
	local path
	for path in index-denied index-moved loop odd-300; do
		run get "/pypi/simple/$path/"
		[[ $output != 3* ]]
		has_not -qi '^location' head
	done
}

@test "odd upstream answers have a reason of their own (robustness)" {
	local name
	for name in odd-json odd-type odd-empty odd-204 odd-charset odd-gzip odd-version odd-name odd-300 odd-deep odd-twice odd-types \
		odd-number odd-tail chunk-negative chunk-huge chunk-short chunk-long; do
		is 502 registry_answer "/pypi/simple/$name/"
	done
	is 502 registry_refused /pypi/simple/odd-500/
	has_not -qi '^retry-after' head
	is 502 registry_refused /pypi/simple/odd-403/
	is 502 registry_answer /npm/npm-html
	is 404 package_unknown /pypi/simple/none-such/
	get /pypi/simple/gone/ >/dev/null
	is 404 package_unknown /pypi/files/gone/gone-1.0-py3-none-any.whl
	[ "$(get /pypi/simple/gzipped/)" = 200 ]
}

@test "BRK-5: hostile installers, many at once, take neither the broker from others nor its memory (denial of service)" {
	run python3 "$REGISTRY/flood.py" "$KZ_STATE/run/gateway/gateway.sock" "$EXECUTION" "$TOKEN" "$(gateway)"
	echo "$output"
	[ "$status" -eq 0 ]
	# the same process, and a run of another serves itself
	EXECUTION=$(printf '%032x' 0xdef004)
	TOKEN=$(token)
	[ "$(get /pypi/simple/pure/)" = 200 ]
}

@test "BRK-5 PROXY-19: many executions that take next to nothing of what they asked for keep nobody else from files" {
	local i id all=() pid before
	before=$(gateway)
	for i in {1..8}; do
		id=$(printf '%032x' $((0xdef100 + i)))
		all+=("$id" "$(token 300 "$id")")
	done
	python3 "$REGISTRY/unread.py" "$KZ_STATE/run/gateway/gateway.sock" /pypi/files/bulk/bulk-1.0-py3-none-any.whl 7 "${all[@]}" >held 2>&1 3>&- &
	pid=$!
	kz_wait 60 grep -q held held
	[ "$(get /pypi/simple/pure/)" = 200 ]
	[ "$(get /pypi/files/pure/pure-1.0-py3-none-any.whl)" = 200 ]
	# one alone has half of the places, and leaves as many to others
	kill "$pid"
	python3 "$REGISTRY/unread.py" "$KZ_STATE/run/gateway/gateway.sock" /pypi/files/bulk/bulk-1.0-py3-none-any.whl 28 "${all[@]:0:4}" >alone 2>&1 3>&- &
	pid=$!
	kz_wait 60 grep -q held alone
	EXECUTION=$(printf '%032x' 0xdef005)
	TOKEN=$(token)
	[ "$(get /pypi/simple/pure/)" = 200 ]
	[ "$(get /pypi/files/pure/pure-1.0-py3-none-any.whl)" = 200 ]
	kill "$pid"
	[ "$(gateway)" = "$before" ]
}

@test "BRK-12: a registry that takes six seconds to answer is waited for" {
	[ "$(get /pypi/simple/slow/)" = 200 ]
}

@test "a registry that dies in the middle of a file: the client sees that it is not whole" {
	get /pypi/simple/dies/ >/dev/null
	# nothing of it was passed on yet
	is 502 registry_answer /pypi/files/dies/dies-1.0-py3-none-any.whl
	get /pypi/simple/dies-large/ >/dev/null
	get /pypi/files/dies-large/dies_large-1.0-py3-none-any.whl >/dev/null
	grep -q 'transfer closed\|outstanding' curl.err
	run pip_ dies
	[ "$status" -ne 0 ]
	run npm_ install npm-dies
	[ "$status" -ne 0 ]
}

@test "BRK-30: what fails says no address, and no log holds a token or a path of the registry" {
	get /pypi/simple/odd-500/ >/dev/null
	get /pypi/simple/index-denied/ >/dev/null
	has_not -q "$(cat "$FIX/port")\|127.0.0.2" body head
	run grep -c kzp1 "$KZ_STATE/log/kz-gateway/current"
	[ "$output" = 0 ]
	has_not -q "simple/\|/f/" "$KZ_STATE/log/kz-gateway/current"
	kz_wait 10 grep -q 'package refused reason=package_host_denied run=[0-9a-f]* registry=pypi host=.* package=index-denied' "$KZ_STATE/log/kz-gateway/current"
}

@test "BRK-30: a registry's credentials go to its own host alone, over TLS that is verified, and to no worker" {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=kz -addext 'subjectAltName=IP:127.0.0.1' 2>/dev/null
	registry "$PWD/tls" --tls "$PWD/cert.pem" "$PWD/key.pem"
	cp "$FIX/away" tls/away
	echo secret-of-the-registry >password
	chmod 640 password
	local port
	port=$(cat tls/port)
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$port/simple/\"}}"
	# nobody vouches for it
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 503 ]'
	registries_are "{\"pypi\":{\"index\":\"https://localhost.test:$port/simple/\",\"user\":\"u\",\"password_file\":\"$PWD/password\",\"ca\":\"$PWD/cert.pem\"}}"
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$port/simple/\",\"hosts\":[\"127.0.0.1:$(cat "$FIX/away")\"],\"user\":\"u\",\"password_file\":\"$PWD/password\",\"ca\":\"$PWD/cert.pem\"}}"
	kz_wait 30 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
	grep -q "/simple/pure/ Basic $(printf u:secret-of-the-registry | base64)" tls/log
	has_not -q secret body head
	# from https nothing leads to http
	get /pypi/simple/away-listed/ >/dev/null
	is 403 package_host_denied /pypi/files/away-listed/away_listed-1.0-py3-none-any.whl
	# a token may be long, and of one that is too long no part is sent
	head -c 3000 /dev/zero | tr '\0' t >password
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$port/simple/\",\"password_file\":\"$PWD/password\",\"ca\":\"$PWD/cert.pem\"}}"
	kz_wait 30 eval 'get /pypi/simple/pure/ >/dev/null; grep -q "/simple/pure/ Bearer $(cat password) " tls/log'
	head -c 5000 /dev/zero | tr '\0' u >password
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$port/simple/\",\"password_file\":\"$PWD/password\",\"ca\":\"$PWD/cert.pem\",\"hosts\":[]}}"
	kz_wait 30 eval 'get /pypi/simple/pure/ >/dev/null; [ "$(jq -r .reason body)" = registry_invalid ]'
	has_not -q "Bearer u" tls/log
	kill "$(cat tls/pid)"
	usual
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
	has_not -q secret-of "$KZ_STATE/log/kz-gateway/current"
}

@test "BRK-8 BRK-13: a certificate of another name is none, whoever vouches for it" {
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=kz -addext 'subjectAltName=DNS:other.test,IP:127.0.0.2' 2>/dev/null
	registry "$PWD/tls" --tls "$PWD/cert.pem" "$PWD/key.pem"
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$(cat tls/port)/simple/\",\"ca\":\"$PWD/cert.pem\"}}"
	kz_wait 30 eval '[ "$(get /pypi/simple/pure/)" = 503 ]'
	[ "$(jq -r .reason body)" = registry_unreachable ]
	[ ! -s tls/log ]
	kill "$(cat tls/pid)"
	usual
	kz_wait 30 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
}

# A port where nothing listens, and one that takes no more connections: SYNs are dropped.
silent_port() {
	python3 -c '
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
held = []
for _ in range(4):
    c = socket.socket(); c.setblocking(False); c.connect_ex(s.getsockname()); held.append(c)
print(s.getsockname()[1], flush=True)
time.sleep(60)' >port.new 3>&- &
	echo $! >silent.pid
	kz_wait 20 test -s port.new
}

@test "BRK-12 BRK-13 BRK-14 BRK-15: a registry that cannot be reached: 503, its header, no Retry-After; then nobody dials for a while (wrong status)" {
	silent_port
	local port
	port=$(cat port.new)
	registries_are "{\"pypi\":{\"index\":\"http://127.0.0.1:$port/simple/\"},\"npm\":{\"registry\":\"http://127.0.0.1:$(cat "$FIX/port")/npm/\"}}"
	is 503 registry_unreachable /pypi/simple/pure/
	grep -qi '^x-kaizen-package-registry: unreachable' head
	grep -qi '^content-length: ' head
	has_not -qi '^retry-after\|^connection: close' head
	# at once, and without a new connection
	kill "$(cat silent.pid)"
	python3 -c '
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("dialled", "w")
        self.send_response(404); self.send_header("Content-Length", "0"); self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()' "$port" 3>&- 2>/dev/null &
	local server=$!
	kz_wait 20 is_taken "$port"
	is 503 registry_unreachable /pypi/simple/pure/
	[ ! -e dialled ]
	# the other registry is another host
	[ "$(get /npm/one)" = 200 ]
	# [BRK-17]
	get /broker/state >/dev/null
	python3 "$BATS_TEST_DIRNAME/../schema.py" --last broker_state <body
	jq -e '.registries.pypi.reachable == false and .registries.npm.reachable and .reason == "registry_unreachable"' body
	# after it one probe opens the host again
	kz_wait 40 eval '[ "$(get /pypi/simple/pure/)" = 404 ]'
	[ -e dialled ]
	kill "$server"
	usual
}

@test "BRK-31: the cooldown is shared through Valkey, and one gateway's word counts for another" {
	local port key
	registries_are '{"pypi":{"index":"http://127.0.0.1:9/simple/"}}'
	is 503 registry_unreachable /pypi/simple/pure/
	key=$(valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw KEYS '{kz:*}:registry:cool:127.0.0.1:9')
	[ -n "$key" ]
	[ "$(valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw PTTL "$key")" -gt 60000 ]
	# as if another had found the fixture's host not to answer
	port=$(cat "$FIX/port")
	usual
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
	valkey-cli -s "$KZ_STATE/run/valkey.sock" SET "${key%:9}:$port" 1 PX 75000
	is 503 registry_unreachable /pypi/simple/pure/
	# half open: one probe is on its way elsewhere, then it is ours
	valkey-cli -s "$KZ_STATE/run/valkey.sock" SET "${key%:9}:$port" 1 PX 30000
	valkey-cli -s "$KZ_STATE/run/valkey.sock" SET "${key%:cool:127.0.0.1:9}:probe:127.0.0.1:$port" 1 PX 30000
	is 503 registry_unreachable /pypi/simple/pure/
	valkey-cli -s "$KZ_STATE/run/valkey.sock" DEL "${key%:cool:127.0.0.1:9}:probe:127.0.0.1:$port"
	[ "$(get /pypi/simple/pure/)" = 200 ]
	[ "$(valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw EXISTS "${key%:9}:$port")" = 0 ]
}

vk() { valkey-cli -s "$KZ_STATE/run/valkey.sock" --raw "$@"; }
gateway() { kz_service_pid kz-gateway; }
keeper() { pgrep -P "$(gateway)" -x kz-gateway-cool; }
taken_over() { python3 "$BATS_TEST_DIRNAME/share.py" "$(gateway)" "$@"; }
knows_cooldowns() {
	local got
	got=$(taken_over ask l 127.0.0.1:9) && [[ $got =~ ^-?[0-9]+$ ]]
}
# Is one of this process's sockets the other side of one that Valkey took?
speaks_to_valkey() {
	local own peers
	own=$(find "/proc/$1/fd" -type l -printf '%l\n' | sed -nE 's/^socket:\[([0-9]+)\]$/\1/p')
	peers=$(ss -xH state established | awk -v at="$KZ_STATE/run/valkey.sock" '{ for (i = 1; i < NF; i++) if ($i == at) print $NF }')
	grep -qxFf <(echo "$own") <<<"$peers"
}
# everything that Valkey holds, but for what ends by itself and is no registry's
all_keys() {
	local key
	vk --scan | sort | while read -r key; do
		[[ $key == *:registry:* ]] || [ "$(vk PTTL "$key")" = -1 ] || continue
		echo "$key"
	done
}

@test "BRK-31 INV-30: the gateway has no way to Valkey: none is open, and none is in its file system" {
	local root
	root=/proc/$(gateway)/root
	[ "$(get /pypi/simple/pure/)" = 200 ] # which asks whether the host is left alone
	speaks_to_valkey "$(keeper)"
	! speaks_to_valkey "$(gateway)" || return 1
	[ -S "$KZ_STATE/run/valkey.sock" ]
	[ -z "$(find "$root/" -type s)" ]
	[ ! -e "$root$KZ_STATE/run" ]
	[ ! -e "$root/proc" ]
	# nor is there a folder that leads out
	[ -z "$(find -L "/proc/$(gateway)/fd" -maxdepth 1 -mindepth 1 -type d)" ]
}

@test "BRK-31 INV-30: by what it has instead it can ask four things of one host, and nothing else" {
	local keys prefix taken most
	# whatever is written from here on was not written by the controller, which retires workers when it likes
	s6-svc -wD -d "$KZ_STATE/service/kz-controller"
	vk --scan --pattern '*:registry:*' | xargs -r valkey-cli -s "$KZ_STATE/run/valkey.sock" DEL
	prefix=$(vk --scan --pattern '{kz:*}:*' | head -n 1 | sed -E 's/^(\{kz:[^}]*\}).*/\1/')
	[ -n "$prefix" ]
	keys=$(all_keys)
	run taken_over hostile
	[ "$status" -eq 0 ] || { echo "$output" && return 1; }
	[ "$output" -gt 250 ]
	[ "$(all_keys)" = "$keys" ]
	[ "$(vk ACL WHOAMI)" = default ]
	kz_wait 10 grep -q 'asked for what no gateway asks for' "$KZ_STATE/log/kz-gateway/current"
	# the four
	[ "$(taken_over ask l h.test:1)" = -2 ]
	[ "$(taken_over ask f h.test:1)" = 1 ]
	[ "$(taken_over ask l h.test:1)" -gt 60000 ]
	[ "$(taken_over ask p h.test:1)" = 1 ]
	# a probe's key lives eight seconds, which a slow machine needs for what follows
	[ "$(vk PEXPIRE "$prefix:registry:probe:h.test:1" 600000)" = 1 ]
	[ "$(taken_over ask p h.test:1)" = 0 ]
	[ "$(comm -13 <(echo "$keys") <(all_keys))" = "$prefix:registry:cool:h.test:1
$prefix:registry:probe:h.test:1" ]
	[ "$(taken_over ask r h.test:1)" = 2 ]
	[ "$(all_keys)" = "$keys" ]
	# it fills nothing: a burst, and then as many as die out
	read -r taken most < <(taken_over flood 2000)
	[ "$taken" -ge 1 ]
	[ "$taken" -le "$most" ]
	[ "$(vk --scan --pattern '*:registry:*' | wc -l)" -le "$taken" ]
	vk --scan --pattern '*:registry:*' | xargs -r valkey-cli -s "$KZ_STATE/run/valkey.sock" DEL
	[ "$(all_keys)" = "$keys" ]
	s6-svc -wU -u "$KZ_STATE/service/kz-controller"
}

@test "BRK-31: two gateways of a deployment share what one of them found" {
	local other=$BATS_TEST_TMPDIR/other second server port mine=$KZ_STATE/run/gateway/gateway.sock
	worker() { timeout 150 python3 "$REGISTRY/worker.py" "$mine" "$EXECUTION" "$@"; }
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	registries_are "{\"pypi\":{\"index\":\"http://127.0.0.1:$port/simple/\"}}"
	mkdir "$other" "$other/run" "$other/log"
	cp -a "$KZ_STATE/env" "$KZ_STATE/keys" "$KZ_STATE/public" "$other/"
	printf 'unix:%s/run/valkey.sock' "$KZ_STATE" >"$other/env/KZ_VALKEY_URL"
	kz-gateway -s "$other" </dev/null >gateway.log 2>&1 3>&- &
	second=$!
	kz_wait 20 test -S "$other/run/gateway/gateway.sock"
	is 503 registry_unreachable /pypi/simple/pure/
	# it is there by now, and the other gateway never met it
	python3 -c '
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("met", "w")
        self.send_response(404); self.send_header("Content-Length", "0"); self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()' "$port" 3>&- 2>/dev/null &
	server=$!
	kz_wait 20 is_taken "$port"
	mine=$other/run/gateway/gateway.sock
	is 503 registry_unreachable /pypi/simple/pure/
	[ ! -e met ]
	# and the one's success is the other's
	vk PEXPIRE "$(vk --scan --pattern "*:registry:cool:127.0.0.1:$port")" 50000
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 404 ]'
	[ -e met ]
	[ -z "$(vk --scan --pattern "*:registry:*:127.0.0.1:$port")" ]
	kill "$second" "$server"
	wait "$second" || [ $? -lt 126 ]
	usual
}

@test "BRK-31: Valkey that is started again, or not there: installs go on, and what is shared comes back" {
	local pid
	pid=$(gateway)
	s6-svc -wd -d "$KZ_STATE/service/valkey"
	[ "$(get /pypi/simple/pure/)" = 200 ]
	registries_are '{"pypi":{"index":"http://127.0.0.1:9/simple/"}}'
	is 503 registry_unreachable /pypi/simple/pure/
	usual
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
	s6-svc -wU -u "$KZ_STATE/service/valkey"
	# after a while it asks again
	kz_wait 30 knows_cooldowns
	kz_wait 60 eval 'sleep 1; [ "$(taken_over ask f h.test:2)" = 1 ]'
	[ "$(vk --scan --pattern '*:registry:cool:h.test:2' | wc -l)" = 1 ]
	[ "$(taken_over ask r h.test:2)" = 1 ]
	[ "$(gateway)" = "$pid" ]
}

@test "BRK-31: a keeper that is gone stops no install; when none is under way the gateway starts anew, and shares again" {
	local pid slow
	pid=$(gateway)
	: >"$FIX/log"
	get /pypi/simple/slow/ >slow.status &
	slow=$!
	kz_wait 20 grep -q '^/simple/slow/' "$FIX/log"
	kill -KILL "$(keeper)"
	[ "$(get /pypi/simple/pure/)" = 200 ]
	wait "$slow"
	kz_wait 60 eval 'now=$(gateway) && [ "$now" != "$pid" ] && [ "$(get /pypi/simple/pure/)" = 200 ]'
	kz_wait 30 knows_cooldowns
	kz logs kz-gateway | grep -q 'no cooldown is shared any more'
}

@test "BRK-12 BRK-13: a registry that takes the connection and is silent is bounded too, in TLS as well (timeout path)" {
	local mute
	: >"$FIX/log"
	is 503 registry_unreachable /pypi/simple/silent/
	grep -qi '^x-kaizen-package-registry: unreachable' head
	[ "$(state_reason)" = registry_unreachable ]
	# who waited does not wait again [BRK-18]
	is 503 registry_unreachable /pypi/simple/silent/
	is 503 registry_unreachable /pypi/simple/pure/
	[ "$(wc -l <"$FIX/log")" = 1 ]
	# it was reached, so nobody else is kept from it; nor is it by answers that are none
	EXECUTION=$(printf '%032x' 0xdef001)
	TOKEN=$(token)
	[ "$(get /pypi/simple/pure/)" = 200 ]
	is 503 registry_unreachable /pypi/simple/hangs-up/
	EXECUTION=$(printf '%032x' 0xdef003)
	TOKEN=$(token)
	is 503 registry_unreachable /pypi/simple/babbles/
	grep -q '^/simple/babbles/' "$FIX/log"
	[ -z "$(vk --scan --pattern '{kz:*}:registry:*')" ]
	EXECUTION=$(printf '%032x' 0xdef002)
	TOKEN=$(token)
	[ "$(get /pypi/simple/pure/)" = 200 ]
	# a port that takes connections and says nothing, as TLS begins
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64)
print(s.getsockname()[1], flush=True)
time.sleep(600)' >port.mute 3>&- &
	mute=$!
	kz_wait 20 test -s port.mute
	registries_are "{\"pypi\":{\"index\":\"https://127.0.0.1:$(cat port.mute)/simple/\"}}"
	is 503 registry_unreachable /pypi/simple/pure/
	grep -qi '^x-kaizen-package-registry: unreachable' head
	kill "$mute"
	usual
	# what this gateway saw itself is its own: it starts anew
	s6-svc -r "$KZ_STATE/service/kz-gateway"
	kz_wait 30 eval '[ "$(get /pypi/simple/pure/)" = 200 ]'
}

@test "BRK-32: settings that make no sense are refused with their reason, and {} is none" {
	registries_are '{}'
	kz_wait 20 eval '[ "$(get /pypi/simple/pure/)" = 403 ]'
	is 403 registry_unset /pypi/simple/pure/
	[ "$(state_reason)" = registry_unset ]
	local bad
	for bad in '[]' '{"pypi":1}' '{"pypi":{}}' '{"pypi":{"index":"ftp://a.test/"}}' '{"pypi":{"index":"https://u:p@a.test/"}}' '{"other":{}}' \
		'{"pypi":{"index":"https://a.test/","more":1}}' '{"npm":{"registry":"https://a.test/","hosts":["*.test"]}}' \
		'{"npm":{"registry":"https://a.test/","user":"u"}}' '{"npm":{"registry":"https://a.test/","password_file":"x"}}'; do
		registries_are "$bad"
		kz_wait 20 eval 'get /npm/one >/dev/null; [ "$(jq -r .reason body)" = registry_invalid ]'
		usual
		kz_wait 20 eval '[ "$(get /npm/one)" = 200 ]'
	done
}

# bats test_tags=case:npm-registry
@test "BRK-1 BRK-32: npm installs from the registry that this machine is configured for" {
	local registry host own=""
	registry=$(npm config get registry </dev/null)
	host=$(sed -E 's#^https?://([^/:]*).*#\1#' <<<"$registry")
	# where a machine's name server answers with an address of its own making, the operator says so
	case $(getent ahostsv4 "$host" | awk '{ print $1; exit }') in
	192.0.2.* | 198.51.100.* | 203.0.113.*) own='"192.0.2.0/24","198.51.100.0/24","203.0.113.0/24"' ;;
	esac
	registries_are "{\"npm\":{\"registry\":\"$registry\",\"addresses\":[$own]}}"
	run npm_ install is-odd
	usual
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(node -p 'require("is-odd")(3)')" = true ]
}
