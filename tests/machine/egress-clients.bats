# The usual clients inside a run, as they are, through kz-proxy: HTTP and TLS, in each mode; what is denied; what is not approved.
# weight 51
# shellcheck disable=SC2154,SC2016 # kz_run sets output, error and status; the programs are quoted on purpose
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	eg_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_EGRESS_PRIVATE_CIDRS=10.0.0.0/8 \
		SANDBOX_EGRESS_HOST_ALLOWLIST=web.pub.lab,pypi.pub.lab,npm.pub.lab,git.pub.lab
}

teardown_file() {
	eg_stop
}

# run CODE [OPTION]...: a shell program with the laboratory's authority in the variables that each client reads.
client() {
	local code=$1
	shift
	kz_run "$@" -i "$EG/ca.pem" -e CURL_CA_BUNDLE=/work/space/ca.pem -e REQUESTS_CA_BUNDLE=/work/space/ca.pem \
		-e PIP_CERT=/work/space/ca.pem -e PIP_DISABLE_PIP_VERSION_CHECK=1 -e PIP_RETRIES=0 -e PIP_NO_CACHE_DIR=1 \
		-e NODE_EXTRA_CA_CERTS=/work/space/ca.pem -e npm_config_cafile=/work/space/ca.pem -e npm_config_audit=false \
		-e npm_config_fund=false -e npm_config_update_notifier=false -e npm_config_fetch_retries=0 -e GIT_SSL_CAINFO=/work/space/ca.pem \
		-e GIT_TERMINAL_PROMPT=0 -l shell -c "$code"
}

# The same program in three modes, by HTTP and by TLS: what it must print, and what it prints of a refusal.
# each CODE WANT: CODE uses $U for SCHEME://HOST of the mode
each() {
	local code=$1 want=$2 mode good bad scheme
	for mode in public_internet private_network host_allowlist; do
		case $mode in
		public_internet) good=web.pub.lab bad=web.priv.lab ;;
		private_network) good=web.priv.lab bad=web.pub.lab ;;
		host_allowlist) good=web.pub.lab bad=other.pub.lab ;;
		esac
		"$KZ_BIN/kz" config set SANDBOX_EGRESS_MODE=$mode
		for scheme in http https; do
			client "U=$scheme://$good; $code" --approve t1
			[[ $output == *"$want"* && $status -eq 0 ]] || {
				echo "$mode $scheme://$good: status $status: $output $error" >&2
				return 1
			}
			[ "$(kz_record egress.effective)" = $mode ]
			client "U=$scheme://$bad; $code" --approve t2
			[[ $output != *"$want"* && $status -ne 0 ]] || {
				echo "$mode $scheme://$bad is not refused: $output $error" >&2
				return 1
			}
			[[ "$output $error" =~ 403|[Rr]efused ]] || {
				echo "$mode $scheme://$bad is refused in another way: $output $error" >&2
				return 1
			}
		done
	done
	client "U=http://web.pub.lab; $code"
	[[ $output != *"$want"* && $status -ne 0 ]]
	client "U=https://web.pub.lab; $code"
	[[ $output != *"$want"* && $status -ne 0 ]]
}

@test "PROXY-1 curl" {
	each 'curl -sS -f --max-time 100 $U/hello' "the internet says hello"
}

@test "PROXY-1 wget" {
	each 'wget -nv -O - --tries=1 --ca-certificate=/work/space/ca.pem $U/hello' "the internet says hello"
}

@test "PROXY-1 git" {
	each 'git clone -q $U/demo.git 2>&1 && cat demo/file' "from git"
}

# git's own protocol: questions and packs in the bodies of requests, a large one in chunks.
@test "PROXY-1 PROXY-8 git clones and pushes by its smart protocol" {
	each 'git -c protocol.version=2 clone -q $U/smart/demo.git 2>&1 && cat demo/file' "from git"
	"$KZ_BIN/kz" config set SANDBOX_EGRESS_MODE=public_internet
	local scheme
	for scheme in http https; do
		client "git clone -q $scheme://web.pub.lab/smart/demo.git && cd demo && head -c 3000000 /dev/urandom >big && git add big &&
			git -c user.name=a -c user.email=a@example.com commit -qm big && git push -q origin HEAD:refs/heads/$scheme && git rev-parse HEAD" \
			--approve t
		[ "$status" -eq 0 ]
		[ "$(git --git-dir="$EG/www/demo.git" rev-parse "$scheme")" = "$output" ]
	done
}

# branch NAME: what the server has under it, "" for nothing
branch() { git --git-dir="$EG/www/demo.git" rev-parse -q --verify "refs/heads/$1" || :; }

@test "PROXY-1 git fetches what came later, and pushes it and deletes it again, by its smart protocol" {
	"$KZ_BIN/kz" config set SANDBOX_EGRESS_MODE=public_internet
	client 'set -e
		git clone -q http://web.pub.lab/smart/demo.git one && git clone -q https://git.pub.lab/smart/demo.git two
		cd one && git checkout -q -b later && echo later >later && git add later && git -c user.name=a -c user.email=a@example.com commit -qm later
		git push -q origin later && cd ../two && git fetch -q && git show origin/later:later && git rev-parse origin/later' --approve t
	echo "$status $output $error"
	[ "$status" -eq 0 ]
	[ "$output" = "later"$'\n'"$(branch later)" ]
	client 'git clone -q http://web.pub.lab/smart/demo.git && cd demo && git push -q origin :later' --approve t
	[ "$status" -eq 0 ]
	[ -z "$(branch later)" ]
}

@test "PROXY-16 POL-14 git pushes where the policy allows and nowhere else; what the server itself refuses is told as the server's" {
	local mode good bad push='git clone -q http://$GOOD/smart/demo.git && cd demo && git checkout -q -b $B && echo $B >$B && git add $B &&
		git -c user.name=a -c user.email=a@example.com commit -qm $B && git push http://$TO/smart/$REPO.git $B 2>&1'
	[ -d "$EG/www/quiet.git" ] || cp -a "$EG/www/demo.git" "$EG/www/quiet.git"
	git --git-dir="$EG/www/quiet.git" config http.receivepack false
	for mode in public_internet private_network host_allowlist; do
		case $mode in
		public_internet) good=web.pub.lab bad=web.priv.lab ;;
		private_network) good=git.priv.lab bad=git.pub.lab ;;
		host_allowlist) good=git.pub.lab bad=other.pub.lab ;;
		esac
		"$KZ_BIN/kz" config set SANDBOX_EGRESS_MODE=$mode
		eg_mark
		client "GOOD=$good TO=$bad REPO=demo B=bad-$mode; $push" --approve t
		echo "$mode: $status $output $error"
		[ "$status" -ne 0 ]
		[[ $output == *403* ]]
		[ -z "$(branch "bad-$mode")" ]
		# the server heard of the clone, and of no push
		run ! grep -q receive-pack "$EG/web.log"
		kz_wait 5 eg_has_host "$bad"
		client "GOOD=$good TO=$good REPO=demo B=good-$mode; $push" --approve t
		echo "$mode: $status $output $error"
		[ "$status" -eq 0 ]
		[ -n "$(branch "good-$mode")" ]
		client "GOOD=$good TO=$good REPO=quiet B=quiet-$mode; $push" --approve t
		[ "$status" -ne 0 ]
		[[ $output == *403* ]]
		# the server writes its log behind its answer
		kz_wait 10 grep -q '403 "GET /smart/quiet.git/info/refs?service=git-receive-pack' "$EG/web.log"
	done
	client "GOOD=web.pub.lab TO=web.pub.lab REPO=demo B=unapproved; $push"
	[ "$status" -ne 0 ]
	[ -z "$(branch unapproved)" ]
}
eg_has_host() { eg_denials | awk '{ print $2 }' | grep -qx "$1"; }

@test "PROXY-1 requests of Python" {
	each "python3 -c 'import requests, sys; r = requests.get(sys.argv[1] + \"/hello\", timeout=100); r.raise_for_status(); print(r.text)' \$U" \
		"the internet says hello"
}

@test "PROXY-1 urllib of Python" {
	each "python3 -c 'import ssl, sys, urllib.request as u; print(u.urlopen(sys.argv[1] + \"/hello\", timeout=100, context=ssl.create_default_context(cafile=\"/work/space/ca.pem\")).read())' \$U" \
		"the internet says hello"
}

@test "PROXY-1 pip" {
	each 'case $U in http:*) export PIP_TRUSTED_HOST=${U#*//} ;; esac; pip install -vv --target t --index-url $U/simple kzdemo && PYTHONPATH=t python3 -c "import kzdemo; print(\"answer\", kzdemo.answer)"' \
		"answer 42"
}

@test "PROXY-1 npm" {
	each 'npm_config_registry=$U/ npm install --no-save kzdemo 2>&1 && node -p "\"answer \" + require(\"kzdemo\")"' "answer 42"
}

@test "PROXY-1 fetch of Node" {
	each "node -e 'fetch(process.argv[1] + \"/hello\").then(async r => { console.log(r.status, await r.text()); process.exit(r.ok ? 0 : 1) }, e => { console.error(e, e.cause); process.exit(1) })' \$U" \
		"the internet says hello"
}

@test "PROXY-1 http and https of Node" {
	each "node -e 'const u = process.argv[1] + \"/hello\"; require(u.split(\":\")[0]).get(u, r => { console.log(r.statusCode); r.pipe(process.stdout); r.on(\"end\", () => process.exitCode = r.statusCode == 200 ? 0 : 1) }).on(\"error\", e => { console.error(e); process.exit(1) })' \$U" \
		"the internet says hello"
}

@test "PROXY-16 a redirect to what is denied is refused, by the same proxy" {
	local to
	"$KZ_BIN/kz" config set SANDBOX_EGRESS_MODE=public_internet
	client 'curl -sS -L -f http://web.pub.lab/redirect/good' --approve t
	[ "$output" = "the internet says hello" ]
	eg_mark
	for to in metadata private name port; do
		client "curl -sS -L -f -w '%{http_code} %{num_redirects}' http://web.pub.lab/redirect/$to" --approve t
		[ "$status" -ne 0 ]
		[[ $output == *"403 1" ]] || {
			echo "$to: $output $error" >&2
			return 1
		}
		client "curl -sS -L -f https://web.pub.lab/redirect/$to" --approve t
		[ "$status" -ne 0 ]
		[[ $output != *hello* ]]
	done
	run -0 eg_tried
	[ -z "$(grep -vE '^tcp (93.184.216.34|2606:2800:220:1::1) (80|443)$' <<<"$output")" ]
}

@test "RT-11 besides the proxy nothing can be reached from a run, with a grant or without" {
	local code='import socket
for where in [("93.184.216.34", 80), ("10.1.2.3", 80), ("169.254.169.254", 80), ("198.18.0.1", 80), ("198.51.100.53", 53), ("8.8.8.8", 53)]:
    try:
        socket.create_connection(where, 2)
        print("reached", where)
    except OSError as e:
        pass
for where in [("2606:2800:220:1::1", 80), ("fd4b:5a::1", 80)]:
    try:
        socket.create_connection(where, 2)
        print("reached", where)
    except OSError as e:
        pass
try:
    print("resolved", socket.getaddrinfo("web.pub.lab", 80))
except OSError:
    pass
print("end")'
	eg_mark
	kz_run --approve t -c "$code"
	[ "$output" = end ]
	kz_run -c "$code"
	[ "$output" = end ]
	[ -z "$(eg_tried)" ]
	[ -z "$(eg_asked)" ]
}

@test "EXEC-17 without an approval there is no variable, no listener and no grant, and the record says why" {
	kz_run -l shell -c 'env | grep -i proxy; cat /proc/net/tcp | tail -n +2; echo end'
	[ "$output" = end ]
	kz_record_is egress.effective none
	kz_record_is egress.reason not_approved
	kz_run --approve t -l shell -c 'env | grep -io "^[a-z]*_proxy=" | sort | tr "\n" " "; tail -n +2 /proc/net/tcp | grep -c :0C38'
	[ "$output" = "$(printf 'ALL_PROXY= HTTPS_PROXY= HTTP_PROXY= NO_PROXY= all_proxy= http_proxy= https_proxy= no_proxy= 1')" ] ||
		[ "$(tr ' ' '\n' <<<"$output" | sort -u | tr -d '\n')" = "1ALL_PROXY=HTTPS_PROXY=HTTP_PROXY=NO_PROXY=all_proxy=http_proxy=https_proxy=no_proxy=" ]
	kz_record_is egress.effective public_internet
	kz_record_is egress.approval t
}

@test "EXEC-17 the caller cannot point the proxy variables elsewhere" {
	kz_run --approve t -e HTTP_PROXY=http://10.1.2.3:80 -e https_proxy=http://10.1.2.3:80 -l shell -c 'env | grep -i _proxy= | grep -c 10.1.2.3'
	[ "$status" -ne 0 ]
	[[ $output != [1-9]* ]]
}
