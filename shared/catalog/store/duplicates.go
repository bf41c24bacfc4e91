package store

import (
	"fmt"

	"leasehold/shared/catalog/sqldb"
)

// markDuplicates restores an invariant after clip was listed, went, or got another hash: of the clips with one
// hash that are not gone, the one curated first is selectable, and each other has a problem that names it. It
// must be called for the clip's old hash and its new one; an empty hash is unknown, and changes nothing. It looks
// at the other clips only if another one is the first now; otherwise only the given one may be marked wrongly.
// changed reports whether a problem was noted or lifted. If one was lifted, all episodes become candidates again.
func (s *Store) markDuplicates(c *sqldb.Conn, hash string, clip int64) (changed bool, err error) {
	const sameContent = ` FROM clip r JOIN origin o ON o.number = r.origin WHERE r.hash = ? AND r.hash <> '' AND r.gone = 0`
	var first int64
	var name, origin string
	ok, err := c.One("SELECT r.number, r.name, o.uri"+sameContent+" ORDER BY r.first_curated, r.id LIMIT 1", []any{hash}, sqldb.Into(&first, &name, &origin))
	if err != nil || !ok {
		return false, err
	}
	lifted, err := c.Affect("DELETE FROM problem WHERE clip = ? AND scope = 'duplicate'", first)
	if err != nil {
		return false, err
	}
	others, args := sameContent+" AND r.number = ? AND r.number <> ?", []any{hash, clip, first}
	if firstMayHaveChanged := lifted > 0 || first == clip; firstMayHaveChanged {
		others, args = sameContent+" AND r.number <> ?", []any{hash, first}
	}
	if lifted > 0 {
		if err := reopenEpisodes(c); err != nil {
			return false, err
		}
	}
	var duplicates []problem
	err = c.All("SELECT r.number, r.last_curated"+others, args, func(row sqldb.Row) error {
		p := problem{scope: scopeDuplicate, reason: fmt.Sprintf("same content as %s (%s); researched once, under that name", name, origin)}
		var last int64
		err := row.Scan(&p.clip, &last)
		p.at = moment(last)
		duplicates = append(duplicates, p)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, p := range duplicates {
		if err := p.note(c); err != nil {
			return false, err
		}
	}
	return lifted > 0 || len(duplicates) > 0, nil
}
