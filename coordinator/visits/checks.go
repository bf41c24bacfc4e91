package visits

import "leasehold/shared/catalog/sqlfile"

// checks find damage in the tables of the schedule.
var checks = []sqlfile.Check{
	{Name: "schedule", Query: `SELECT 'origin ' || id || ' has a value out of its range' FROM schedule
		WHERE disabled NOT IN ('', 'failures', 'gone', 'lister', 'operator') OR first_seen < 0 OR last_seen < 0
			OR failures < 0 OR lost < 0 OR changes < 0 OR days < 0 OR every < 0 OR front NOT IN (0, 1) OR fork NOT IN (0, 1) OR told NOT IN (0, 1)
			OR length(recent) % 4 <> 0`},
	{Name: "outcomes", Query: `SELECT 'a visit of origin number ' || origin || ' has a value out of its range' FROM outcome
		WHERE at < 0 OR changed NOT IN (0, 1) OR took < 0 OR size < 0 OR changes < 0`},
	{Name: "schedule", Query: `SELECT 'the metadata of origin number ' || origin || ' are not JSON' FROM description WHERE metadata <> '' AND NOT json_valid(metadata)`},
	{Name: "schedule", Query: `SELECT 'the rules by which origins were placed are not JSON' FROM placement WHERE NOT json_valid(rules)`},
	{Name: "hosts", Query: `SELECT 'host ' || name || ' has a value out of its range' FROM host WHERE failures < 0 OR since < 0 OR until < 0 OR gap < 0`},
}
