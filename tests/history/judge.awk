# judge.awk: is a history of transitions one that may happen?
#   sort -u -k1,1 -k2,2n OUTBOX... | awk -v ceiling=8 -v creates=3 -v member=2 -v queue=256 -v wait=30000 \
#	-v edges=FILE -f judge.awk
# edges holds "machine from event to" lines.  Prints each violation; ends 1 when there is one.
function bad(what) { if (faults++ < 20) print "line " NR ": " what ": " $0 }
function end_lease(id) { if (id in force) { active[force_actor[id]]--; delete holder[force[id]]; delete force[id] } }
BEGIN {
	while ((getline line < edges) > 0)
		edge[line] = 1
}
{
	store = $1; seq = $2; at = $3; machine = $4; from = $5; event = $6; to = $7; subject = $8; worker = $9; lease = $10; actor = $11
	if (store != last_store) {
		# A new life: what it holds of earlier entries begins where their own first line says.
		delete state; delete force; delete holder; delete active; delete waiting
		allocated = creating = queued = 0; last_seq = 0; last_store = store; fresh_life = lives++
	}
	if (seq != last_seq + 1) bad("AUD gap after " last_seq)
	last_seq = seq
	if (!((machine " " from " " event " " to) in edge)) bad("INV-15 no such edge")
	if (machine == "worker") {
		if (!(subject in state)) {
			if (from != "absent" && !fresh_life) bad("INV-6 unknown worker is " from)
			if (from != "absent") allocated++
			if (from == "creating") creating++
			state[subject] = from
		}
		if (state[subject] != from) bad("INV-6 was " state[subject])
		if (to == "warm" && from != "creating" && from != "resetting") bad("INV-7 warm from " from)
		if (from == "retiring" && to != "retiring" && to != "absent") bad("INV-8 came back")
		if (from == "absent") allocated++
		if (to == "absent") { allocated--; if (from != "retiring" && event != "create_failed") bad("INV-9 freed at " event) }
		if (from == "creating") creating--
		if (to == "creating") creating++
		if (allocated > ceiling) bad("INV-2 allocated " allocated)
		if (creating > creates) bad("INV-3 creating " creating)
		state[subject] = to
		if (to == "absent") delete state[subject]
		if (to == "leased") leases++
		if (event == "expire") expired++
	}
	if (machine == "lease" && to == "held") {
		if (worker in holder) bad("INV-1 " worker " is held by " holder[worker])
		if (subject in granted) bad("INV-11 lease id again")
		granted[subject] = 1
		holder[worker] = subject; force[subject] = worker; force_actor[subject] = actor
		if (++active[actor] > member) bad("INV-4 " active[actor] " leases of " actor)
	} else if (machine == "lease") {
		end_lease(subject)
	}
	if (machine == "ticket" && to == "waiting") {
		began[lease] = at; waiting[lease] = subject
		if (++queued > queue) bad("INV-5 " queued " tickets")
	} else if (machine == "ticket") {
		if (lease in waiting) queued--
		if (lease in began && at - began[lease] > wait + 5000) bad("INV-22 waited " at - began[lease])
		if (ordered && to == "served") {
			if (subject + 0 < served + 0) bad("INV-12 served after " served)
			served = subject
		}
		delete waiting[lease]; delete began[lease]
		if (to == "served") tickets++
	}
}
END {
	printf "%d transitions, %d leases, %d tickets served, %d expired, %d allocated, %d lives\n", NR, leases, tickets, expired, allocated, lives
	if (!fresh_life) for (w in waiting) { print "INV-22 ticket " waiting[w] " never ended"; faults++ }
	exit faults ? 1 : 0
}
