package visits

import "leasehold/shared/catalog/sqlfile"

// legacy imports visits.db, in which programs kept the schedule before it moved into the
// file of the catalog. Origins that the catalog does not have are left out, and what was
// placed is placed again, since placement stays empty.
var legacy = sqlfile.Legacy{
	File: "visits.db",
	ID:   1281712500, // "Leas" + 1
	Imports: []string{
		importTables("0, 0, 0"), // version 1 had no columns active, begun and next
		importTables("active, begun, next"),
	},
}

// importTables returns the statements that import a version of visits.db; listerColumns are the
// columns active, begun and next of a lister, or what stands for them. Rows of origins that the
// catalog lacks are left out.
func importTables(listerColumns string) string {
	const schedule = `key, id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled, last_visit,
		last_success, last_status, digest, etag, modified, target, idx, failures, disabled, not_before, changes, days, lost, urgent,
		visit, pool, queue, class, ref`
	return `
		INSERT INTO schedule (priority, ` + schedule + `)
			SELECT (SELECT o.priority FROM main.origin o WHERE o.id = l.id), ` + schedule + `
			FROM legacy.origin l WHERE l.id IN (SELECT id FROM main.origin);
		INSERT INTO lister (key, listed, hits, misses, wrong, active, begun, next) SELECT key, listed, hits, misses, wrong, ` + listerColumns + `
			FROM legacy.lister WHERE key IN (SELECT key FROM schedule);
		INSERT INTO main.outcome SELECT * FROM legacy.outcome WHERE origin IN (SELECT key FROM schedule);
		INSERT INTO counter SELECT name, CAST(value AS INTEGER) FROM legacy.fact WHERE name NOT LIKE 'placed by %';
		UPDATE main.origin SET listed = 1 WHERE id IN (SELECT id FROM schedule WHERE lister <> 0);`
}
