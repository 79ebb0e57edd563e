#!/usr/bin/env bats
# The README's tour is run as it stands there (DEP-1, ADM-9).

bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	kz_start SANDBOX_WARM_POOL_MIN=2
}

teardown_file() {
	kz_stop
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	[ ! -e service ] || kill "$(cat service)"
}

# The Nth block of shell in the README.
block() {
	awk -v want="$1" '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0 } on && n == want' "$BATS_TEST_DIRNAME/../../README.md"
}

@test "ADM-9: the first example prints its hello and a record" {
	run bash -ec "$(block 1)"
	echo "$output"
	[ "${lines[0]}" = hello ]
	[ "$(jq -r .exit <<<"${lines[1]}")" = 3 ]
	[ "$(jq -r .cause <<<"${lines[1]}")" = exit ]
}

@test "ADM-9: the pipeline checks the record and reads the outputs" {
	echo 7 >data.csv
	echo 'open("sums.json", "w").write("{\"sum\": 7}"); open("report.txt", "w").write("seven")' >analyse.py
	mkdir out
	run bash -ec "$(block 2)"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = true ]
	[ "$(cat out/report.txt)" = seven ]
	[ "$(jq .sum out/sums.json)" = 7 ]
}

@test "ADM-9: one lease around two programs keeps the workspace between them" {
	run bash -ec "$(block 3)"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "step one" ]
}

@test "WS-7: the files of a conversation stay" {
	run bash -ec "$(block 4)"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "DEP-1: the service runs what is dropped into its folder" {
	mkdir -p inbox/done
	echo 'print("from the inbox")' >inbox/job.py
	block 5 | sed "s,/srv/inbox,$PWD/inbox," >run
	sh run >log 2>&1 3>&- &
	echo $! >service
	kz_wait 20 test -e inbox/done/job.py
	jq -e 'select(.type == "record") | .outcome == "completed"' inbox/done/job.py.jsonl
}

@test "ADM-9: the example of a bats suite passes, on a stack of its own" {
	{
		echo '#!/usr/bin/env bats'
		block 6 | sed "s,/usr/local/share/kz/kz.bash,$BATS_TEST_DIRNAME/../kz.bash,"
	} >own.bats
	run env -u KZ_STATE bats own.bats
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "AUD-9: the receipt is made, checked and compared as shown" {
	echo 7 >data.csv
	echo 'open("sums.json", "w").write("{\"sum\": 7}")' >analyse.py
	mkdir out
	run bash -ec "$(block 7)"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "reset.state: clean" ]
}

@test "ADM-9 EXEC-17: an approved run has the network of the policy, and what is refused is on record" {
	cat >fetch.py <<-'END'
		import urllib.error, urllib.request
		try:
		    urllib.request.urlopen("http://169.254.169.254/latest/")
		except urllib.error.HTTPError as e:
		    print("answer", e.code)
	END
	run bash -ec "$(block 8)"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *"a run       public_internet"* ]]
	[[ "$output" == *"example.com:443: allowed"* ]]
	[[ "$output" == *"answer 403"* ]]
	kz_wait 10 bash -c 'kz audit list -k denial | grep -q "reason=address_metadata host=169.254.169.254 port=80"'
}
