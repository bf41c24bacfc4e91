package admission

import (
	"context"
	"crypto/subtle"
	"fmt"
	"time"

	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

const (
	maxInvites = 10_000
	maxName    = 200 // bytes of the name of an invite or a peer
)

// Invite is a secret by which processes of a role join.
type Invite struct {
	ID      string
	Role    access.Roles // access.Worker or access.Manager
	Name    string
	Service bool // for the replicas of a service: any number of uses, and no end
	Created time.Time
	Expires time.Time // zero: never
	Uses    int       // keys that may join at most; 0: any number
	Used    int       // keys that have joined
	Latest  time.Time // use; zero: none
}

// validName reports whether an invite or a peer may have a name.
func validName(name string) bool { return len(name) <= maxName && wording.IsStorable(name) }

// HasEnded reports whether the time of the invite is over.
func (i Invite) HasEnded(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

const selectInvite = "SELECT id, role, name, service, created, expires, uses, used, latest, secret FROM invite "

// scanInvite reads an invite and the hash of its secret.
func scanInvite(row sqldb.Row) (i Invite, hash []byte, err error) {
	var role string
	var created, expires, latest int64
	if err := row.Scan(&i.ID, &role, &i.Name, &i.Service, &created, &expires, &i.Uses, &i.Used, &latest, &hash); err != nil {
		return i, nil, err
	}
	i.Role, err = access.ParseRoles(role)
	i.Created, i.Expires, i.Latest = timeOf(created), timeOf(expires), timeOf(latest)
	return i, hash, err
}

// CreateInvite makes an invite with a role, a name, an end and a number of uses, or one of a service. It keeps the hash
// of secret, by which a process proves that it has the invite, under the id.
func (s *Store) CreateInvite(ctx context.Context, i Invite, secret string) (Invite, error) {
	i.Created = s.now().UTC().Truncate(time.Second)
	switch {
	case i.Role != access.Worker && i.Role != access.Manager:
		return Invite{}, fmt.Errorf("role %s: %w: an invite is for a worker or a manager", i.Role, fault.ErrInvalid)
	case !validName(i.Name) || i.Uses < 0:
		return Invite{}, fmt.Errorf("invite: %w: want a name of at most %d bytes of UTF-8 without NUL, and 0 or more uses", fault.ErrInvalid, maxName)
	case !i.Expires.IsZero() && !i.Expires.After(s.now()):
		return Invite{}, fmt.Errorf("invite: %w: it would end at %s, which has passed", fault.ErrInvalid, i.Expires.Format(time.RFC3339))
	}
	hash := hashOf(secret)
	return i, s.file.Write(ctx, "create an invite", func(c *sqldb.Conn) error {
		if err := c.Exec("DELETE FROM invite WHERE expires > 0 AND expires < ?", seconds(s.now().Add(-renewable))); err != nil {
			return err
		}
		n, err := c.Number("SELECT count(*) FROM invite")
		if err == nil && n >= maxInvites {
			err = fmt.Errorf("%w: there are already %d invites, the maximum; revoke some", fault.ErrOverloaded, n)
		}
		if err != nil {
			return err
		}
		return c.Exec("INSERT INTO invite (id, role, name, service, secret, created, expires, uses) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			i.ID, i.Role.String(), i.Name, i.Service, hash[:], seconds(i.Created), seconds(i.Expires), i.Uses)
	})
}

// Invites returns the invites, the oldest first.
func (s *Store) Invites(ctx context.Context) (all []Invite, err error) {
	err = s.file.Read(ctx, "list the invites", func(c *sqldb.Conn) error {
		return c.All(selectInvite+"ORDER BY created, id", nil, func(row sqldb.Row) error {
			i, _, err := scanInvite(row)
			all = append(all, i)
			return err
		})
	})
	return all, err
}

// RevokeInvite ends an invite: no key joins by it any more. The peers that have joined stay. It fails with
// fault.ErrNotFound if there is none.
func (s *Store) RevokeInvite(ctx context.Context, id string) error {
	return s.file.Write(ctx, "revoke an invite", func(c *sqldb.Conn) error { return revokeInvite(c, id) })
}

func revokeInvite(c *sqldb.Conn, id string) error {
	n, err := c.Affect("DELETE FROM invite WHERE id = ?", wording.Storable(id))
	if err == nil && n == 0 {
		err = fmt.Errorf("invite %.64q: %w", id, fault.ErrNotFound)
	}
	return err
}

// errNotInvited does not tell whether the id or the secret is wrong.
var errNotInvited = fmt.Errorf("%w: this join line is not known: its invite was revoked or has ended, or it is of another coordinator", fault.ErrUnauthenticated)

// checkSecret refuses a wrong secret without a write to the database, because guesses must not delay other writes. For a
// known peer it checks nothing, because Join tells a revoked peer that it was revoked.
func (s *Store) checkSecret(ctx context.Context, peer, id, secret string) error {
	s.mu.Lock()
	_, known := s.peers[peer]
	s.mu.Unlock()
	if known {
		return nil
	}
	var hash []byte
	err := s.file.Read(ctx, "check an invite", func(c *sqldb.Conn) error {
		_, err := c.One("SELECT secret FROM invite WHERE id = ?", []any{wording.Storable(id)}, sqldb.Into(&hash))
		return err
	})
	given := hashOf(secret)
	if err == nil && subtle.ConstantTimeCompare(hash, given[:]) != 1 {
		err = errNotInvited
	}
	return err
}

// useInvite returns the invite with an id and a secret, in the transaction under way, and counts a use if the peer has not
// joined by it before. Its errors are fault.ErrUnauthenticated.
func (s *Store) useInvite(c *sqldb.Conn, id, secret, peer string) (Invite, error) {
	var i Invite
	var hash []byte
	known, err := c.One(selectInvite+"WHERE id = ?", []any{wording.Storable(id)}, func(row sqldb.Row) (err error) { i, hash, err = scanInvite(row); return err })
	if err != nil {
		return i, err
	}
	given := hashOf(secret)
	if !known || subtle.ConstantTimeCompare(hash, given[:]) != 1 {
		return i, errNotInvited
	}
	if i.HasEnded(s.now()) {
		return i, fmt.Errorf("%w: the invite %s has ended at %s; make another one (leasehold invite %s)", fault.ErrUnauthenticated, id, i.Expires.Format(time.RFC3339), i.Role)
	}
	added, err := c.Affect("INSERT INTO use (invite, peer) VALUES (?, ?) ON CONFLICT (invite, peer) DO NOTHING", id, peer)
	if err != nil {
		return i, err
	}
	if added > 0 && i.Uses > 0 && i.Used >= i.Uses {
		return i, fmt.Errorf("%w: the invite %s was used by %d processes, the maximum; make another one (leasehold invite %s)", fault.ErrUnauthenticated, id, i.Used, i.Role)
	}
	return i, c.Exec("UPDATE invite SET used = used + ?, latest = ? WHERE id = ?", added, seconds(s.now()), id)
}
