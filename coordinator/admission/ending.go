package admission

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// soon is how long before the end of an invite it counts as ending.
const soon = 7 * 24 * time.Hour

// CAChange is a change of the CA: join lines from before At name only the former CA, which is accepted until End.
type CAChange struct{ At, End time.Time }

// Ending is an invite that ends soon, although processes without a disk can come back only by it.
type Ending struct {
	Invite
	Peers int       // that joined by it and are there
	End   time.Time // when the invite ends: no process can join by it after that
	Moved bool      // its join line ends with the former CA; else the invite ends
}

// EndingInvites returns the invites that end within a week while peers that are there have joined by them, and those
// that a change of the CA (zero: none) ends; sorted by id. Invites with a number of uses are left out, because they are
// for machines with a disk.
func (s *Store) EndingInvites(ctx context.Context, change CAChange) (ending []Ending, err error) {
	invites, err := s.Invites(ctx)
	if err != nil {
		return nil, err
	}
	peers, now := map[string]int{}, s.now()
	for _, p := range s.Peers(false) {
		peers[p.Invite]++
	}
	for _, i := range invites {
		e := Ending{Invite: i, Peers: peers[i.ID], End: i.Expires}
		switch {
		case i.HasEnded(now):
		case now.Before(change.End) && i.Created.Before(change.At) && (i.Service || e.Peers > 0):
			e.End, e.Moved = change.End, true
			ending = append(ending, e)
		case e.Peers > 0 && i.Uses == 0 && !i.Expires.IsZero() && i.Expires.Before(now.Add(soon)):
			ending = append(ending, e)
		}
	}
	slices.SortFunc(ending, func(a, b Ending) int { return cmp.Compare(a.ID, b.ID) })
	return ending, nil
}
