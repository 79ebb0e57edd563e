#!/usr/bin/env bats
# weight 40
# The status page in a real headless Chromium: what it shows, that it follows a burst, and that it changes nothing.
# bats file_tags=case:root

bats_require_minimum_version 1.5.0
load ../kz

setup_file() {
	export PORT
	# below those that the kernel gives out: nobody gets it while the gateway is stopped
	PORT=$(python3 -c '
import random, socket
while True:
    with socket.socket() as s:
        if s.connect_ex(("127.0.0.1", port := random.randrange(10000, 30000))): break
print(port)')
	kz_start SANDBOX_WARM_POOL_MIN=2 SANDBOX_POOL_MAX_ALLOCATED=3 SANDBOX_MAX_WALL_SECONDS=600 SANDBOX_ACQUIRE_WAIT_SECONDS=600 KZ_GATEWAY_LISTEN="127.0.0.1:$PORT" || return 1
	kz_wait 60 is_warm
}

teardown_file() { kz_stop; }

setup() {
	mkfifo "$BATS_TEST_TMPDIR/to" "$BATS_TEST_TMPDIR/from"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/gateway-page.py" <"$BATS_TEST_TMPDIR/to" >"$BATS_TEST_TMPDIR/from" \
		2>"$BATS_TEST_TMPDIR/page.err" 3>&- &
	PAGE_PID=$!
	exec 5>"$BATS_TEST_TMPDIR/to" 6<"$BATS_TEST_TMPDIR/from"
}

# What it reads ends, and it ends Chromium.
teardown() {
	exec 5>&- 6<&-
	wait "$PAGE_PID" || :
	cat "$BATS_TEST_TMPDIR/page.err" >&2
}

is_warm() { kz status -j | jq -e '.workers.warm >= 2' >/dev/null; }

# ask JSON: one command for the page; prints its answer
ask() {
	local line
	printf '%s\n' "$1" >&5
	read -r -t 120 line <&6 || return 1
	printf '%s\n' "$line"
}
js() { ask "$(jq -cn --arg js "$1" '{do: "eval", js: $js}')"; }
until_js() { [ "$(ask "$(jq -cn --arg js "$1" '{do: "wait", js: $js}')")" = true ]; }
# open [WIDTH [DARK]]
open_page() {
	ask "$(jq -cn --arg url "http://127.0.0.1:$PORT/" --argjson width "${1:-360}" --argjson dark "${2:-false}" \
		'{do: "open", url: $url, width: $width, dark: $dark}')" >/dev/null
	until_js 'document.getElementById("age")?.textContent === "live"'
}
row() { js "document.querySelector('$1 [data-key=\"$2\"] dd')?.textContent ?? null" | jq -r .; }

@test "ADM-1 ADM-3 ADM-5 ADM-8 it shows what kz status and kz-grant scope show" {
	open_page
	[ "$(js 'document.getElementById("admission").textContent' | jq -r .)" = 'admission open' ]
	kz_wait 60 eval '[ "$(row "#counts" warm)" = "$(kz status -j | jq .workers.warm)" ]'
	[ "$(row '#pool' allocated)" = "$(kz status -j | jq -r '"\(.allocated) of at most \(.ceiling)"')" ]
	[ "$(row '#network' ports)" = '80, 443' ]
	[ "$(js 'document.getElementById("scope").textContent' | jq -r .)" = "$(kz-grant scope -j | jq -r .effective)" ]
	[ "$(row '#network' revision)" = "$(kz-grant scope -j | jq -r '.revision[:16]')" ]
	[ "$(row '#network' never)" = "$(kz-grant scope -j | jq -r '.never | join(", ") | gsub("_"; " ")')" ]
	[ "$(row '#posture' runtime)" = "$(kz status -j | jq -r .posture.version)" ]
	[[ $(row '#services' kz-gateway) == ready* ]]
	[ "$(row '#services' -listen)" = "127.0.0.1:$PORT" ]
}

@test "ADM-5 its counts follow a burst, and the console has no word" {
	local i
	local -a runs=()
	open_page
	[ "$(row '#counts' leased)" = 0 ]
	for i in 1 2 3 4; do
		kz-run -A "actor-$i" -c 'import time; time.sleep(600)' </dev/null >/dev/null 2>&1 3>&- 5>&- 6<&- &
		runs+=($!)
	done
	until_js 'document.querySelector("#counts [data-key=leased] dd").textContent === "3"'
	until_js 'document.querySelector("#pool [data-key=waiting] dd").textContent.startsWith("1 ")'
	until_js 'document.querySelector("#bar .s-leased").style.flexGrow === "3"'
	kill "${runs[@]}"
	wait "${runs[@]}" || :
	until_js 'document.querySelector("#counts [data-key=leased] dd").textContent === "0"'
	# only reading, only here, and nothing that failed
	ask '{"do":"log"}' >"$KZ_STATE/page.log"
	jq -e --arg own "http://127.0.0.1:$PORT/" 'all(.[]; .request == "GET" and (.url | startswith($own))) and length > 3' \
		"$KZ_STATE/page.log" || {
		cat "$KZ_STATE/page.log" >&2
		return 1
	}
}

@test "ADM-1 there is nothing on it that changes anything" {
	open_page
	[ "$(js 'document.querySelectorAll("form, button, input, select, textarea, a, area, iframe, object, embed, [onclick], [contenteditable], [href]:not(link)").length')" = 0 ]
	[ "$(js 'document.querySelectorAll("script[src], link[rel=stylesheet], img, audio, video").length')" = 0 ]
	# what a stranger could put into it would neither run nor be sent
	[ "$(js '(() => { const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.body.append(s); return window.ran === undefined })()')" = true ]
	[ "$(js 'fetch("http://localhost:1/").then(() => "sent", () => "refused")' | jq -r .)" = refused ]
	[ "$(js "fetch('/status.json', { method: 'POST' }).then((r) => r.status)")" = 405 ]
}

@test "ADM-1 it is readable on a phone, light and dark" {
	local dark
	for dark in false true; do
		open_page 360 "$dark"
		[ "$(js 'document.documentElement.scrollWidth <= 360 && [...document.querySelectorAll("body *")].every((e) => e.getBoundingClientRect().right <= 360.5)')" = true ]
		# WCAG: 4.5 between text and what is behind it
		[ "$(js '(() => {
			const rgb = (c) => c.match(/[\d.]+/g).map(Number);
			const lum = (c) => rgb(c).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
				.reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
			const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] !== 0) return c; } return "rgb(255,255,255)"; };
			const low = [];
			for (const e of document.querySelectorAll("h1, h2, p, dt, dd")) {
				if (!e.textContent || e.offsetParent === null) continue;
				const [a, b] = [lum(getComputedStyle(e).color), lum(back(e))].sort((x, y) => y - x);
				if ((a + 0.05) / (b + 0.05) < 4.5) low.push(e.textContent);
			}
			return low;
		})()')" = '[]' ]
		[ "$(js 'parseFloat(getComputedStyle(document.body).fontSize) >= 16')" = true ]
	done
	dark=$(js 'getComputedStyle(document.body).backgroundColor')
	open_page 360 false
	[ "$(js 'getComputedStyle(document.body).backgroundColor')" != "$dark" ]
}

@test "ADM-2 ADM-5 it says that admission is closed, what the scope lacks, and that nobody answers" {
	open_page
	kz config set SANDBOX_EGRESS_ALLOWED_PORTS=80,x
	until_js '!document.getElementById("fix").hidden && document.getElementById("fix").textContent.includes("SANDBOX_EGRESS_ALLOWED_PORTS")'
	kz config set SANDBOX_EGRESS_ALLOWED_PORTS=80,443
	until_js 'document.getElementById("fix").hidden'
	s6-svc -d "$KZ_STATE/service/kz-controller"
	until_js 'document.getElementById("admission").textContent.startsWith("admission closed: ")'
	until_js 'document.getElementById("admission").classList.contains("bad")'
	s6-svc -u "$KZ_STATE/service/kz-controller"
	until_js 'document.getElementById("admission").textContent === "admission open"'
	s6-svc -d "$KZ_STATE/service/kz-gateway"
	until_js 'document.body.classList.contains("stale") && document.getElementById("age").textContent.startsWith("no answer for")'
	s6-svc -u "$KZ_STATE/service/kz-gateway"
	until_js 'document.getElementById("age").textContent === "live"'
}
