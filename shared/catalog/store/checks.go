package store

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
)

// checks are those of the catalog's tables. Values that were computed from others, and copies of values, show
// damage of both.
var checks = []sqldb.Check{
	recordings(episodes), recordings(clips),
	{Name: "recordings", Query: outOfRange("episode") + " UNION ALL " + outOfRange("clip")},
	{Name: "recordings", Only: sqldb.SQLite, Query: otherType("episode") + " UNION ALL " + otherType("clip")},
	{Name: "researched clips", Only: sqldb.SQLite, Query: "SELECT episode, clips, (SELECT seq FROM sqlite_sequence WHERE name = 'clip') FROM researched", Damage: researchedDamage},
	{Name: "researched clips", Only: sqldb.PostgreSQL, Query: "SELECT episode, clips, (SELECT last_value FROM clip_number_seq) FROM researched", Damage: researchedDamage},
	{Name: "waveforms", Query: "SELECT 'the waveform of episode number ' || episode || ' has a number out of its range' FROM waveform " +
		"WHERE length(peaks) NOT BETWEEN 1 AND 2000 OR duration <= 0"},
	{Name: "waveforms", Only: sqldb.SQLite, Query: "SELECT 'the waveform of episode number ' || episode || ' has a value of another type' FROM waveform " +
		"WHERE typeof(peaks) <> 'blob' OR typeof(duration) NOT IN ('real', 'integer')"},
	// A candidate has copies of columns of its episode.
	{Name: "candidates", Query: `SELECT 'the candidate of episode ' || e.id || ' differs from the episode' FROM candidate c JOIN episode e ON e.number = c.episode
		WHERE e.gone = 0 AND (c.id <> e.id OR c.title <> e.title OR c.aired <> e.aired OR c.first_curated <> e.first_curated OR c.priority <> e.priority)`},
	// The ranges are those of validFinding.
	{Name: "findings", Query: `SELECT 'clip ' || k.id || ' in episode ' || e.id || ' at ' || f.offset || ' s has a number out of its range'
		FROM finding f JOIN episode e ON e.number = f.episode JOIN clip k ON k.number = f.clip
		WHERE f.offset < 0 OR f.duration < 0 OR abs(f.score) > 1e6 OR f.coverage < 0 OR f.coverage > 1 OR f.speed < 0 OR f.speed > 1e3
			OR f.part_from < 0 OR f.part_to < f.part_from OR f.offset > 1e6 OR f.duration > 1e6 OR f.part_to > 1e6`},
	{Name: "findings", Only: sqldb.SQLite, Query: `SELECT 'clip ' || k.id || ' in episode ' || e.id || ' at ' || f.offset || ' s has a number of another type'
		FROM finding f JOIN episode e ON e.number = f.episode JOIN clip k ON k.number = f.clip
		WHERE typeof(f.offset) NOT IN ('real', 'integer') OR typeof(f.duration) NOT IN ('real', 'integer') OR typeof(f.score) NOT IN ('real', 'integer')`},
	{Name: "problems", Query: `SELECT 'problem ' || number || ' has the scope ' || '"' || scope || '"' || ', or lacks its subject' FROM problem
		WHERE scope NOT IN ('item', 'visit', 'move', 'episode', 'part', 'clip', 'duplicate', 'pair', 'fetch', 'rest') OR reason = '' AND scope <> 'rest'
			OR scope IN ('fetch', 'rest') AND episode IS NULL AND clip IS NULL
			OR scope IN ('item', 'visit', 'move') AND origin IS NULL OR scope IN ('episode', 'part', 'pair') AND episode IS NULL
			OR scope IN ('clip', 'duplicate', 'pair') AND clip IS NULL`},
}

// recordings checks the ids of the recordings in t, which are made of the origin and the name.
func recordings(t table) sqldb.Check {
	query := "SELECT r.id, o.id, r.name FROM " + string(t) + " r JOIN origin o ON o.number = r.origin WHERE r.gone <> 2"
	return sqldb.Check{Name: string(t) + "s", Query: query, Damage: func(row sqldb.Row) (string, error) {
		var id, origin, name string
		err := row.Scan(&id, &origin, &name)
		if models.NewID(origin, name) != id {
			return fmt.Sprintf("the id of %s is not that of its origin and name", id), err
		}
		return "", err
	}}
}

// outOfRange selects the recordings in a table with a value that is never written: a hash that is not "" or
// sha256:…, a flag, or dates before 1970 or in the wrong order.
func outOfRange(table string) string {
	return `SELECT '` + table + ` ' || id || ' has a value out of its range' FROM ` + table + ` WHERE gone NOT IN (0, 1, 2) OR unlisted NOT IN (0, 1)
		OR hash <> '' AND hash NOT LIKE 'sha256:%' OR first_curated < 0 OR last_curated < first_curated
		OR uri = '' OR title = ''`
}

// otherType selects the recordings in a table with a priority that SQLite accepts as text.
func otherType(table string) string {
	return "SELECT '" + table + " ' || id || ' has a priority that is not a number' FROM " + table + " WHERE typeof(priority) <> 'integer'"
}

// researchedDamage checks the set of researched clips of an episode: that it is one, and that all numbers in it were
// given to clips.
func researchedDamage(row sqldb.Row) (string, error) {
	var episode int64
	var blob []byte
	var last uint64
	if err := row.Scan(&episode, &blob, &last); err != nil {
		return "", err
	}
	set := roaring.New()
	if err := set.UnmarshalBinary(blob); err != nil {
		return fmt.Sprintf("the set of episode number %d cannot be read: %v", episode, err), nil
	}
	if err := set.Validate(); err != nil {
		return fmt.Sprintf("the set of episode number %d contradicts itself: %v", episode, err), nil
	}
	if !set.IsEmpty() && uint64(set.Maximum()) > last {
		return fmt.Sprintf("the set of episode number %d names clip number %d, which does not exist", episode, set.Maximum()), nil
	}
	return "", nil
}
