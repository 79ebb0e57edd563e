-- After gen/*.sql: what SQL has for every pair, in the form of gen/NAME.tsv.
.mode list
.separator "\t"
SELECT machine, from_state, event, to_state, '-', CASE guards WHEN '' THEN '-' ELSE guards END, CASE action WHEN '' THEN '-' ELSE action END FROM machine_edge
UNION ALL SELECT machine, from_state, event, '-', class, '-', '-' FROM machine_refusal;
