package admission

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"leasehold/shared/access"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

const (
	maxPeers = 20_000
	// renewable is how long after its end a certificate can be renewed.
	renewable = 30 * 24 * time.Hour
	// Recent is how long a peer that is not connected is listed.
	Recent = time.Hour
	// seenInterval is how exactly the time is kept at which a peer was seen.
	seenInterval = time.Minute
)

// Peer is a process of the fleet that has joined. It is its key: it stays the same one as long as it keeps its folder.
type Peer struct {
	ID      string
	Role    access.Roles
	Name    string
	Invite  string // id of the one by which it joined last
	Joined  time.Time
	Seen    time.Time
	Ends    time.Time // of its latest certificate
	Revoked bool
}

// PeerID returns the id of the peer with a key.
func PeerID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "peer-" + encoding.EncodeToString(sum[:10])
}

func (p Peer) identity() access.Identity {
	return access.Identity{ID: p.ID, Name: p.Name, Roles: p.Role}
}

// errRevoked is of a kind by which a process ends, and does not try to join again.
func errRevoked(id string) error {
	return fmt.Errorf("%s: %w: this process was revoked; an administrator has to let it join with another key", id, fault.ErrForbidden)
}

// Join admits a process with an invite, and returns it; ends is the end of the certificate that it gets. A key that has
// joined before stays the same peer. Errors: fault.ErrUnauthenticated for an invite that cannot be used, and
// fault.ErrForbidden for a key that was revoked.
func (s *Store) Join(ctx context.Context, invite, secret string, key ed25519.PublicKey, name string, ends time.Time) (p Peer, err error) {
	if !validName(name) {
		return Peer{}, fmt.Errorf("name: %w: want at most %d bytes of UTF-8 without NUL", fault.ErrInvalid, maxName)
	}
	id := PeerID(key)
	if err := s.checkSecret(ctx, id, invite, secret); err != nil {
		return Peer{}, err
	}
	err = s.file.Write(ctx, "join", func(c *sqldb.Conn) error {
		var known bool
		if p, known, err = findPeer(c, id); err != nil {
			return err
		}
		if known && p.Revoked { // also if the invite was revoked with it, so that the process does not try others
			return errRevoked(id)
		}
		i, err := s.useInvite(c, invite, secret, id)
		switch {
		case err != nil:
			return err
		case !known:
			p = Peer{ID: id, Joined: s.now().UTC().Truncate(time.Second)}
			if err := s.forgetOld(c); err != nil {
				return err
			}
		}
		p.Role, p.Name, p.Invite, p.Seen, p.Ends = i.Role, cmp.Or(name, i.Name), i.ID, s.now(), ends
		return s.savePeer(c, p)
	})
	return p, err
}

// Renew notes that a peer gets another certificate, which ends at ends, and returns the peer. Only the holder of the key
// may ask for it. Errors: fault.ErrForbidden for a peer that was revoked, and fault.ErrUnauthenticated for one that is
// not known, or whose certificate ended too long ago: it has to join again.
func (s *Store) Renew(ctx context.Context, id string, ends time.Time) (p Peer, err error) {
	err = s.file.Write(ctx, "renew a certificate", func(c *sqldb.Conn) error {
		var known bool
		p, known, err = findPeer(c, id)
		switch {
		case err != nil:
			return err
		case known && p.Revoked:
			return errRevoked(id)
		case !known || s.now().After(p.Ends.Add(renewable)):
			return fmt.Errorf("%s: %w: its certificate cannot be renewed any more; it has to join again", id, fault.ErrUnauthenticated)
		}
		p.Seen, p.Ends = s.now(), ends
		return s.savePeer(c, p)
	})
	return p, err
}

// ByPeer returns the identity of the peer with an id, which its certificate proves. Errors are as of Renew.
func (s *Store) ByPeer(id string) (access.Identity, error) {
	s.mu.Lock()
	p, known := s.peers[id]
	s.mu.Unlock()
	switch {
	case !known:
		return access.Identity{}, fmt.Errorf("%s: %w: this process is not known here; it has to join again", id, fault.ErrUnauthenticated)
	case p.Revoked:
		return access.Identity{}, errRevoked(id)
	}
	return p.identity(), nil
}

// Saw notes that peers are connected. It skips ids that are not of peers.
func (s *Store) Saw(ctx context.Context, ids ...string) error {
	stale := s.notSeen(ids)
	if len(stale) == 0 {
		return nil
	}
	return s.file.Write(ctx, "note that peers are there", func(c *sqldb.Conn) error {
		for _, id := range stale {
			p, known, err := findPeer(c, id)
			if err == nil && known {
				p.Seen = s.now()
				err = s.savePeer(c, p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// notSeen returns those of the ids that are of peers which were not seen within seenInterval.
func (s *Store) notSeen(ids []string) (stale []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if p, known := s.peers[id]; known && s.now().Sub(p.Seen) >= seenInterval {
			stale = append(stale, id)
		}
	}
	return stale
}

// Peers returns the peers, the latest seen first: those that were seen within Recent, or all.
func (s *Store) Peers(all bool) []Peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.now().Add(-Recent)
	peers := slices.SortedFunc(maps.Values(s.peers), func(a, b Peer) int { return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(a.ID, b.ID)) })
	return slices.DeleteFunc(peers, func(p Peer) bool { return !all && (p.Revoked || p.Seen.Before(since)) })
}

// RevokePeer revokes the key of a peer, and with withInvite also the invite by which it joined, and returns the peer. It
// fails with fault.ErrNotFound if there is none.
func (s *Store) RevokePeer(ctx context.Context, id string, withInvite bool) (p Peer, err error) {
	err = s.file.Write(ctx, "revoke a peer", func(c *sqldb.Conn) error {
		var known bool
		if p, known, err = findPeer(c, id); err == nil && !known {
			err = fmt.Errorf("peer %.64q: %w", id, fault.ErrNotFound)
		}
		if err != nil {
			return err
		}
		if withInvite {
			if err := revokeInvite(c, p.Invite); err != nil && !errors.Is(err, fault.ErrNotFound) {
				return err
			}
		}
		p.Revoked = true
		return s.savePeer(c, p)
	})
	return p, err
}

const selectPeer = "SELECT id, role, name, invite, joined, seen, ends, revoked FROM peer "

func scanPeer(row sqldb.Row) (p Peer, err error) {
	var role string
	var joined, seen, ends int64
	if err := row.Scan(&p.ID, &role, &p.Name, &p.Invite, &joined, &seen, &ends, &p.Revoked); err != nil {
		return p, err
	}
	p.Role, err = access.ParseRoles(role)
	p.Joined, p.Seen, p.Ends = timeOf(joined), timeOf(seen), timeOf(ends)
	return p, err
}

func findPeer(c *sqldb.Conn, id string) (p Peer, known bool, err error) {
	known, err = c.One(selectPeer+"WHERE id = ?", []any{wording.Storable(id)}, func(row sqldb.Row) (err error) { p, err = scanPeer(row); return err })
	return p, known, err
}

// savePeer writes a peer in the transaction under way.
func (s *Store) savePeer(c *sqldb.Conn, p Peer) error {
	c.OnEnd(func(committed bool) {
		if committed {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.peers[p.ID] = p
		}
	})
	const save = "INSERT INTO peer (id, role, name, invite, joined, seen, ends, revoked) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET role = excluded.role, name = excluded.name, " +
		"invite = excluded.invite, seen = excluded.seen, ends = excluded.ends, revoked = excluded.revoked"
	return c.Exec(save, p.ID, p.Role.String(), p.Name, p.Invite, seconds(p.Joined), seconds(p.Seen), seconds(p.Ends), p.Revoked)
}

// forgetOld forgets the peers whose certificates cannot be renewed any more, and if there are still too many, those that
// were not seen for longest and are not revoked.
func (s *Store) forgetOld(c *sqldb.Conn) error {
	forget := func(where string, args ...any) error {
		return c.All("SELECT id FROM peer WHERE "+where, args, func(row sqldb.Row) error {
			var id string
			if err := row.Scan(&id); err != nil {
				return err
			}
			c.OnEnd(func(committed bool) {
				if committed {
					s.mu.Lock()
					defer s.mu.Unlock()
					delete(s.peers, id)
				}
			})
			return nil
		})
	}
	ended := seconds(s.now().Add(-renewable))
	if err := forget("ends < ?", ended); err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM peer WHERE ends < ?", ended); err != nil {
		return err
	}
	n, err := c.Number("SELECT count(*) FROM peer")
	if err != nil || n < maxPeers {
		return err
	}
	const oldest = "id IN (SELECT id FROM peer WHERE revoked = 0 ORDER BY seen LIMIT ?)"
	if err := forget(oldest, n-maxPeers+1); err != nil {
		return err
	}
	return c.Exec("DELETE FROM peer WHERE "+oldest, n-maxPeers+1)
}

func (s *Store) loadPeers(c *sqldb.Conn) error {
	return c.All(selectPeer, nil, func(row sqldb.Row) error {
		p, err := scanPeer(row)
		s.peers[p.ID] = p
		return err
	})
}
