package visits

import (
	"encoding/json"

	"leasehold/shared/catalog/sqldb"
)

// checks find damage in the tables of the schedule.
var checks = []sqldb.Check{
	{Name: "schedule", Query: `SELECT 'origin ' || id || ' has a value out of its range' FROM schedule
		WHERE disabled NOT IN ('', 'failures', 'gone', 'lister', 'operator') OR first_seen < 0 OR last_seen < 0
			OR failures < 0 OR lost < 0 OR changes < 0 OR days < 0 OR every < 0 OR front NOT IN (0, 1) OR fork NOT IN (0, 1) OR told NOT IN (0, 1)
			OR length(recent) % 4 <> 0`},
	{Name: "outcomes", Query: `SELECT 'a visit of origin number ' || origin || ' has a value out of its range' FROM outcome
		WHERE at < 0 OR changed NOT IN (0, 1) OR took < 0 OR size < 0 OR changes < 0`},
	{Name: "schedule", Query: `SELECT 'the metadata of origin number ' || origin || ' are not JSON', metadata FROM description WHERE metadata <> ''`, Damage: notJSON},
	{Name: "schedule", Query: `SELECT 'the rules by which origins were placed are not JSON', rules FROM placement`, Damage: notJSON},
	{Name: "hosts", Query: `SELECT 'host ' || name || ' has a value out of its range' FROM host WHERE failures < 0 OR since < 0 OR until < 0 OR gap < 0`},
}

// notJSON reads a description of damage and a text, and returns the description if the text is not JSON.
func notJSON(row sqldb.Row) (string, error) {
	var damage, text string
	if err := row.Scan(&damage, &text); err != nil || json.Valid([]byte(text)) {
		return "", err
	}
	return damage, nil
}
