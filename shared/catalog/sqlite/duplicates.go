package sqlite

import (
	"fmt"
)

// hashes is a set of content hashes; the empty one, which stands for unknown,
// is never in it.
type hashes map[string]bool

func (h hashes) add(list ...string) {
	for _, s := range list {
		if s != "" {
			h[s] = true
		}
	}
}

func (h hashes) scan(row scanner) error {
	var s string
	err := row.Scan(&s)
	h.add(s)
	return err
}

// sameContent is one of the clips that have one hash.
type sameContent struct {
	number       int64
	name, origin string
	last         int64
}

// markDuplicates makes the clip that was curated first the only one of its
// content that is selectable, and returns how many others there are.
func markDuplicates(c *session, hash string) (int, error) {
	var list []sameContent
	err := c.All(`SELECT r.number, r.name, o.uri, r.last_curated FROM clip r JOIN origin o ON o.number = r.origin
		WHERE r.hash = ? AND r.hash <> '' AND r.gone = 0 ORDER BY r.first_curated, r.id`, []any{hash},
		func(row scanner) error {
			var s sameContent
			err := row.Scan(&s.number, &s.name, &s.origin, &s.last)
			list = append(list, s)
			return err
		})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	original := list[0]
	if err := c.Exec("DELETE FROM problem WHERE clip = ? AND scope = 'duplicate'", original.number); err != nil {
		return 0, err
	}
	for _, d := range list[1:] {
		p := trouble{scope: scopeDuplicate, clip: d.number, at: moment(d.last), reason: fmt.Sprintf(
			"same content as %s (%s); researched once, under that name", original.name, original.origin)}
		if err := p.note(c); err != nil {
			return 0, err
		}
	}
	return len(list) - 1, nil
}
