/* Do not edit: made by kzgen from statemachines/NAME.sm. */
#ifndef KZ_GEN_MACHINES_SQL_H
#define KZ_GEN_MACHINES_SQL_H

/* Makes and fills machine_edge(machine, from_state, event, to_state, guards, action)
 * and machine_refusal(machine, from_state, event, class). */
#define KZ_MACHINES_SQL \
	"CREATE TABLE IF NOT EXISTS machine_edge (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, to_state TEXT NOT NULL, guards TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (machine, from_state, event, to_state)) STRICT, WITHOUT ROWID;\n" \
	"CREATE TABLE IF NOT EXISTS machine_refusal (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, class TEXT NOT NULL CHECK (class IN ('later', 'no', 'bug')), PRIMARY KEY (machine, from_state, event)) STRICT, WITHOUT ROWID;\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'none', 'grant', 'held', 'admission_open,member_below_limit,conversation_free', 'bind_worker');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'none', 'renew', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'none', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'none', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'none', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'held', 'grant', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'held', 'renew', 'held', 'token_matches,in_force', 'move_deadline');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'held', 'release', 'released', 'token_matches,in_force', 'end_lease');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'held', 'expire', 'expired', 'expired', 'end_lease');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'held', 'lose', 'lost', '', 'end_lease');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'released', 'grant', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'released', 'renew', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('lease', 'released', 'release', 'released', 'token_matches', '');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'released', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'released', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'expired', 'grant', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'expired', 'renew', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'expired', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'expired', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'expired', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'lost', 'grant', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'lost', 'renew', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'lost', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'lost', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('lease', 'lost', 'lose', 'no');\n" \
	"CREATE TABLE IF NOT EXISTS machine_edge (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, to_state TEXT NOT NULL, guards TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (machine, from_state, event, to_state)) STRICT, WITHOUT ROWID;\n" \
	"CREATE TABLE IF NOT EXISTS machine_refusal (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, class TEXT NOT NULL CHECK (class IN ('later', 'no', 'bug')), PRIMARY KEY (machine, from_state, event)) STRICT, WITHOUT ROWID;\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'admitted', 'prepare', 'prepared', '', '');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'admitted', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'admitted', 'deny', 'refused', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'admitted', 'abort', 'not_run', '', '');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'admitted', 'complete', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'admitted', 'fail', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'admitted', 'bound', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'admitted', 'lose', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'prepared', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'prepared', 'dispatch', 'dispatched', 'in_force,audit_written', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'prepared', 'deny', 'refused', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'prepared', 'abort', 'not_run', '', '');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'prepared', 'complete', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'prepared', 'fail', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'prepared', 'bound', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'prepared', 'lose', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'dispatched', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'dispatched', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'deny', 'refused', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'abort', 'not_run', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'complete', 'completed', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'fail', 'failed', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'bound', 'bounded', '', '');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('run', 'dispatched', 'lose', 'outcome_unknown', '', '');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'completed', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'failed', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'not_run', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'bounded', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'refused', 'lose', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'prepare', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'dispatch', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'deny', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'abort', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'complete', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'fail', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'bound', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('run', 'outcome_unknown', 'lose', 'no');\n" \
	"CREATE TABLE IF NOT EXISTS machine_edge (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, to_state TEXT NOT NULL, guards TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (machine, from_state, event, to_state)) STRICT, WITHOUT ROWID;\n" \
	"CREATE TABLE IF NOT EXISTS machine_refusal (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, class TEXT NOT NULL CHECK (class IN ('later', 'no', 'bug')), PRIMARY KEY (machine, from_state, event)) STRICT, WITHOUT ROWID;\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('ticket', 'none', 'enqueue', 'waiting', 'admission_open,queue_has_room', 'take_number');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'none', 'ask', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'none', 'serve', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'none', 'time_out', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'none', 'leave', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'waiting', 'enqueue', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('ticket', 'waiting', 'ask', 'waiting', '', 'note_life');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('ticket', 'waiting', 'serve', 'served', 'first_in_line', 'drop_ticket');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('ticket', 'waiting', 'time_out', 'timed_out', 'wait_over', 'drop_ticket');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('ticket', 'waiting', 'leave', 'gone', '', 'drop_ticket');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'served', 'enqueue', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'served', 'ask', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'served', 'serve', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'served', 'time_out', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'served', 'leave', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'timed_out', 'enqueue', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'timed_out', 'ask', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'timed_out', 'serve', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'timed_out', 'time_out', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'timed_out', 'leave', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'gone', 'enqueue', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'gone', 'ask', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'gone', 'serve', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'gone', 'time_out', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('ticket', 'gone', 'leave', 'no');\n" \
	"CREATE TABLE IF NOT EXISTS machine_edge (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, to_state TEXT NOT NULL, guards TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY (machine, from_state, event, to_state)) STRICT, WITHOUT ROWID;\n" \
	"CREATE TABLE IF NOT EXISTS machine_refusal (machine TEXT NOT NULL, from_state TEXT NOT NULL, event TEXT NOT NULL, class TEXT NOT NULL CHECK (class IN ('later', 'no', 'bug')), PRIMARY KEY (machine, from_state, event)) STRICT, WITHOUT ROWID;\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'absent', 'create', 'creating', 'image_published,under_ceiling,under_create_bound', 'start_create');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'ready', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'create_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'create_unknown', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'assign', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'publish', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'reset_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'abandon', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'quarantine', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'idle_retire', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'image_changed', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'lost', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'absent', 'absent_confirmed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'absent', 'orphan_found', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'create', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'ready', 'warm', 'token_matches,image_matches', 'wake_waiters');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'create_failed', 'absent', 'token_matches,absent_proved', 'free_capacity');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'create_unknown', 'retiring', 'token_matches', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'assign', 'later');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'expire', 'retiring', 'expired', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'publish', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'reset_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'abandon', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'quarantine', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'idle_retire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'image_changed', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'lost', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'creating', 'absent_confirmed', 'absent', 'absent_proved', 'free_capacity');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'creating', 'orphan_found', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'create', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'ready', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'create_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'create_unknown', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'warm', 'assign', 'leased', 'image_matches,admission_open,member_below_limit,conversation_free', 'start_lease');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'expire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'publish', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'reset_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'abandon', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'warm', 'quarantine', 'retiring', '', 'mark_quarantine');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'warm', 'idle_retire', 'retiring', 'idle_too_long,over_desired', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'warm', 'image_changed', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'warm', 'lost', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'absent_confirmed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'warm', 'orphan_found', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'create', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'ready', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'create_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'create_unknown', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'assign', 'later');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'leased', 'release', 'resetting', 'token_matches,in_force', 'start_reset');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'leased', 'expire', 'retiring', 'expired', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'publish', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'reset_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'leased', 'abandon', 'retiring', 'token_matches', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'leased', 'quarantine', 'retiring', 'token_matches', 'mark_quarantine');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'idle_retire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'image_changed', 'later');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'leased', 'lost', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'absent_confirmed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'leased', 'orphan_found', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'create', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'ready', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'create_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'create_unknown', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'assign', 'later');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'expire', 'retiring', 'expired', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'publish', 'warm', 'token_matches,evidence_ok,image_matches,in_force', 'wake_waiters');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'reset_failed', 'retiring', 'token_matches', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'abandon', 'retiring', 'token_matches', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'quarantine', 'retiring', 'token_matches', 'mark_quarantine');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'idle_retire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'image_changed', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'resetting', 'lost', 'retiring', '', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'absent_confirmed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'resetting', 'orphan_found', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'create', 'bug');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'ready', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'create_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'create_unknown', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'assign', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'release', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'retiring', 'expire', 'retiring', 'expired', 'start_delete');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'publish', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'reset_failed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'abandon', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'retiring', 'quarantine', 'retiring', '', 'mark_quarantine');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'idle_retire', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'image_changed', 'no');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'lost', 'no');\n" \
	"INSERT OR IGNORE INTO machine_edge VALUES ('worker', 'retiring', 'absent_confirmed', 'absent', 'absent_proved', 'free_capacity');\n" \
	"INSERT OR IGNORE INTO machine_refusal VALUES ('worker', 'retiring', 'orphan_found', 'no');\n"

#endif
