# kz-proxy as an HTTP proxy: the rules of RFC 9110 and 9112 where they decide who sees which bytes, and where proxies differ.
# bats file_tags=case:root
bats_require_minimum_version 1.5.0
load ../kz
load ../egress

setup_file() {
	eg_start SANDBOX_WARM_POOL_MIN=0 || return 1
	eg_mint public_internet
}

teardown_file() {
	eg_stop
}

# --- tunnels ---

@test "PROXY-3 bytes in the same write as the CONNECT head reach the server, up to 300 kB" {
	eg_probe early_data
	eg_probe early_data_content
}
@test "PROXY-3 a head that comes one byte at a time is read" { eg_probe byte_by_byte; }
@test "PROXY-3 the client's half-close: the server's 1 MiB after it comes whole" { eg_probe half_close; }
@test "PROXY-3 the client's half-close together with the head loses nothing" { eg_probe half_close_at_once; }
@test "PROXY-3 a server that speaks first is heard" { eg_probe server_first; }
@test "PROXY-3 a server that sends 1 MiB and closes is heard to the end" { eg_probe server_closes; }
@test "PROXY-3 a client that reads late gets all of it" { eg_probe server_closes_slow_reader; }
@test "PROXY-3 8 MiB both ways at once" { eg_probe both_ways; }
@test "PROXY-17 a client that goes ends the connection to the server, within a second" { eg_probe client_reset; }
@test "PROXY-17 a client that goes in the middle of a stream ends it" { eg_probe client_abort; }
@test "RFC 9110 9.3.6 the answer to CONNECT has neither length nor coding" { eg_probe answer_of_connect; }
@test "RFC 9110 9.3.6 a CONNECT of HTTP/1.0 is served" { eg_probe connect_1_0; }

# --- CONNECT heads ---

@test "PROXY-12 a refused CONNECT closes; the request behind it is not read" { eg_probe refused_then_pipelined; }
@test "RFC 9110 9.3.6 CONNECT with a Content-Length is malformed" { eg_probe connect_with_length; }
@test "RFC 9110 9.3.6 CONNECT with a Content-Length of 0 is malformed too" { eg_probe connect_with_length_zero; }
@test "RFC 9110 9.3.6 CONNECT with a Transfer-Encoding is malformed" { eg_probe connect_with_coding; }
@test "RFC 9110 9.3.6 CONNECT takes HOST:PORT and nothing else" { eg_probe connect_form; }
@test "PROXY-18 the Host field of a CONNECT is ignored" { eg_probe host_differs_connect; }

# --- heads ---

@test "PROXY-18 on plain HTTP a Host field that differs from the authority is malformed" { eg_probe host_differs_plain; }
@test "PROXY-18 a Host field that is the same but for case and default port is taken" { eg_probe host_same_plain; }
@test "RFC 9112 3.2 two Host fields are malformed" { eg_probe two_hosts; }
@test "RFC 9112 3.2 HTTP/1.1 without a Host field is malformed" { eg_probe no_host; }
@test "RFC 9112 3.2 an invalid Host field is malformed" { eg_probe invalid_host; }
@test "RFC 9112 5.1 white space before the colon is malformed" { eg_probe space_before_colon; }
@test "RFC 9112 5.2 a folded line is malformed" { eg_probe obs_fold; }
@test "RFC 9112 2.2 white space before the first field is malformed" { eg_probe fold_before_first; }
@test "RFC 9112 2.2 lines that end with LF alone are malformed" { eg_probe bare_lf; }
@test "RFC 9112 2.2 a CR alone is malformed" { eg_probe bare_cr; }
@test "RFC 9110 5.5 a NUL in a field is malformed" { eg_probe nul_in_value; }
@test "RFC 9110 5.5 control characters in a field are malformed" { eg_probe controls_in_value; }
@test "RFC 9110 5.1 a field name that is no token is malformed" { eg_probe names_of_fields; }
@test "RFC 9112 3 request lines with other spaces, versions or words are malformed" { eg_probe bad_request_lines; }
@test "RFC 9112 2.2 empty lines before a request shift nothing" { eg_probe empty_line_first; }
@test "RFC 9112 2.3 other versions are refused" { eg_probe versions; }
@test "PROXY-19 a head of 64 KiB is too large (431)" { eg_probe header_too_large; }
@test "PROXY-19 a head without end is refused by its size" { eg_probe header_without_end; }
@test "PROXY-19 a head of some KiB passes" { eg_probe header_that_fits; }

# --- plain HTTP ---

@test "RFC 9112 3.2.2 only http:// and an authority is taken; user-info is malformed" { eg_probe plain_form; }
@test "PROXY-3 other schemes are refused" { eg_probe other_schemes; }
@test "PROXY-3 the proxy's credentials do not reach the server" { eg_probe credentials_stripped; }
@test "RFC 9110 11.6 the server's own credentials do" { eg_probe own_credentials_kept; }
@test "RFC 9110 7.6.1 fields of this hop do not reach the server" { eg_probe hop_by_hop_stripped; }
@test "RFC 9110 7.6.1 a Connection field takes neither Host nor length away" { eg_probe connection_names_what_matters; }
@test "RFC 9112 3.2.1 the server gets the origin form with the authority as Host" { eg_probe target_rewritten; }
@test "RFC 9110 7.6.3 the server is told of the proxy by Via, not of its name" { eg_probe via; }
@test "PROXY-3 every method passes, with its body" { eg_probe methods; }
@test "PROXY-3 the answer to HEAD has no body" { eg_probe head_method; }
@test "PROXY-3 a body of a length passes to the byte" { eg_probe body_by_length; }
@test "PROXY-3 a chunked body passes" { eg_probe body_chunked; }
@test "RFC 9110 10.1.1 Expect: 100-continue does not hang" { eg_probe expect_continue; }
@test "RFC 9112 9.6 one request a connection, and the client is told" { eg_probe answer_closes; }
@test "RFC 9112 9.6 a client that ends its side behind its request gets the answer" { eg_probe half_close_plain; }
@test "RFC 9112 9.3 a second request on the connection is not run" { eg_probe second_request_not_run; }
@test "RFC 9110 7.6.1 fields of the server's hop do not reach the client" { eg_probe answer_hop_by_hop; }
@test "RFC 9112 6.3 every framing of an answer passes" { eg_probe answers_pass; }
@test "RFC 9112 6.3 an answer of two framings, or none of HTTP, does not pass as it is" { eg_probe answers_odd; }
@test "RFC 9112 6.3 an answer that is cut short ends the client's connection" { eg_probe answer_cut; }
@test "RFC 9112 9.6 the connection ends with the answer, also when the server keeps its own open" { eg_probe answer_ends; }
@test "RFC 9112 9.6 an answer before the end of a request's body does not cut the body" { eg_probe answer_before_body; }
@test "RFC 9110 15 answers 101, 204 and 407 of a server switch, smuggle and ask for nothing" { eg_probe answers_without_content; }
@test "RFC 9112 11.1 what stands behind an answer is no second answer" { eg_probe answer_split; }
@test "PROXY-16 a redirect is handed on, and the next request is judged" { eg_probe redirect_is_the_clients; }

# --- smuggling ---

@test "RFC 9112 6.3 length and coding together are malformed" { eg_probe length_and_coding; }
@test "RFC 9112 6.3 two lengths are malformed" { eg_probe two_lengths; }
@test "RFC 9112 6.3 the same length twice is never handed on twice" { eg_probe two_lengths_alike; }
@test "RFC 9112 6.3 lengths that are no number are malformed" { eg_probe odd_lengths; }
@test "RFC 9112 6.1 codings that are not chunked alone are refused" { eg_probe odd_codings; }
@test "RFC 9112 6.1 other spellings of chunked do not make two framings" { eg_probe coding_variants; }
@test "RFC 9112 6.1 an unknown coding is not implemented (501)" { eg_probe unknown_coding; }
@test "RFC 9112 6.1 a coding in HTTP/1.0 is malformed" { eg_probe coding_in_1_0; }
@test "RFC 9112 7.1 malformed chunks, extensions and trailers smuggle no request" { eg_probe odd_chunks; }
@test "RFC 9112 6.2 bytes behind the length of a body do not reach the server" { eg_probe body_beyond_length; }
@test "RFC 9112 6.3 bytes behind a request without a body do not reach the server" { eg_probe get_with_body_undeclared; }

# --- credentials ---

@test "RFC 9110 11.7 without credentials: 407 with a challenge, and the end" { eg_probe without_credentials; }
@test "GRANT-14 the grant is taken as Bearer too" { eg_probe bearer; }
@test "PROXY-12 a malformed head is told before any grant is looked at" { eg_probe malformed_before_grant; }
@test "PROXY-2 two credentials are refused" { eg_probe two_credentials; }
@test "INV-33 odd credentials get no more than the others" { eg_probe odd_credentials; }
@test "GRANT-2 who does not say which execution it is of gets nothing" { eg_probe without_preamble; }

# --- any bytes, any end ---

proxy_pid() { kz_service_pid kz-proxy; }
has_no_connections() { [ "$(eg_health | jq '.connections + .tunnels')" -eq 0 ]; }
has_descriptors() { [ "$(find "/proc/$(proxy_pid)/fd" -mindepth 1 | wc -l)" -le "$1" ]; }

@test "PROXY-19 clients that go at any moment leave nothing behind" {
	local pid fds
	pid=$(proxy_pid)
	kz_wait 20 has_no_connections
	fds=$(find "/proc/$pid/fd" -mindepth 1 | wc -l)
	eg_probe vanish 1000
	kz_wait 20 has_no_connections
	# c-ares and the pool of pipes may keep a few
	kz_wait 20 has_descriptors $((fds + 40))
	[ "$(proxy_pid)" = "$pid" ]
}

@test "PROXY-3 heads with bytes changed, doubled and left out reach nothing that is not allowed" {
	local pid
	pid=$(proxy_pid)
	eg_mark
	eg_probe mutations 3000
	run eg_tried
	[ -z "$(awk '{ print $2 }' <<<"$output" | grep -vE '^(93\.184\.216\.[0-9]+|2606:2800:220:1::1)$')" ]
	[ "$(proxy_pid)" = "$pid" ]
	kz_wait 20 has_no_connections
}
