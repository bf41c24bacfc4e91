package store

import (
	"fmt"
	"net/url"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/wording"
)

// recordMove notes the new address that a successful visit found, and why the origin cannot move. It returns the
// address, with the user of the origin's URL, if the origin moves there (catalog.Catalog.RecordOutcome). An origin
// moves to no other host that is trusted: there it counts as listed, because a server named the host, and not the
// operator.
func recordMove(c *sqldb.Conn, number int64, outcome models.Outcome) (movedTo string, err error) {
	o, _, err := findOrigin(c, outcome.Origin)
	if err != nil {
		return "", err
	}
	m := models.Move{}
	if outcome.Move != nil && outcome.Move.To != o.URI {
		m = *outcome.Move
		m.To = wording.Storable(m.To)
	}
	if m.To != "" {
		other, err := otherAt(c, o, m.To)
		if err != nil {
			return "", err
		}
		if other != "" {
			m = models.Move{Problem: fmt.Sprintf("its new address, %s, is another origin, %s", m.To, other)}
		}
	}
	if err := replaceMoveProblem(c, number, m.Problem, outcome.At); err != nil {
		return "", err
	}
	switch {
	case m.To != o.MovesTo:
		since := int64(0)
		if m.To != "" {
			since = stamp(outcome.At)
		}
		return "", c.Exec("UPDATE origin SET moves_to = ?, moves_since = ? WHERE id = ?", m.To, since, o.ID)
	case m.To == "" || !m.Answers || outcome.At.Sub(o.MovesSince) < models.MoveAfter:
		return "", nil
	}
	movedTo = models.WithUserOf(o.URI, m.To)
	return movedTo, c.Exec("UPDATE origin SET uri = ?, moved_from = ?, moves_to = '', moves_since = 0, listed = ? WHERE id = ?",
		movedTo, o.URI, o.Listed || !sameHost(o.URI, movedTo), o.ID)
}

// otherAt returns the id of another origin of the kind of o that is at an address, or moved from there and may be
// brought back; empty if there is none.
func otherAt(c *sqldb.Conn, o models.Origin, to string) (id string, err error) {
	_, err = c.One("SELECT id FROM origin WHERE kind = ? AND (uri IN (?, ?) OR id = ?) AND id <> ? LIMIT 1",
		[]any{o.Kind, to, models.WithUserOf(o.URI, to), models.NewID(string(o.Kind), to), o.ID}, sqldb.Into(&id))
	return id, err
}

// sameHost reports whether two URLs have one host and port.
func sameHost(a, b string) bool {
	from, err := url.Parse(a)
	if err != nil {
		return false
	}
	to, err := url.Parse(b)
	return err == nil && from.Scheme == to.Scheme && from.Host == to.Host
}
