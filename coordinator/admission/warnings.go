package admission

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// soon is how long before the end of a way back a warning of it begins.
const soon = 7 * 24 * time.Hour

// CAChange is a change of the CA: join lines from before At name only the former CA, which is accepted until End.
type CAChange struct{ At, End time.Time }

// wayBack is an invite by which peers come back that keep no folder.
type wayBack struct {
	Invite
	peers int
}

// Warnings returns a line for each invite that ends within a week while peers that are there have joined by it, because
// one without a disk cannot come back after that, and for each that a change of the CA (zero: none) ends. Invites with a
// number of uses are left out, because they are for machines with a disk.
func (s *Store) Warnings(ctx context.Context, change CAChange) (lines []string, err error) {
	invites, err := s.Invites(ctx)
	if err != nil {
		return nil, err
	}
	ways := map[string]*wayBack{}
	for _, i := range invites {
		ways[i.ID] = &wayBack{Invite: i}
	}
	for _, p := range s.Peers(false) {
		if way := ways[p.Invite]; way != nil {
			way.peers++
		}
	}
	for _, way := range slices.SortedFunc(maps.Values(ways), func(a, b *wayBack) int { return cmp.Compare(a.ID, b.ID) }) {
		if line := way.warning(s.now(), change); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// warning returns what to do about the invite; empty: nothing.
func (w wayBack) warning(now time.Time, change CAChange) string {
	isOld := now.Before(change.End) && w.Created.Before(change.At) && !w.HasEnded(now)
	switch {
	case isOld && (w.Service || w.peers > 0):
		return fmt.Sprintf("the join line of the invite %s names only the former CA, which is accepted until %s: give its %s another line (leasehold invite %s)",
			w.ID, change.End.Format(time.RFC3339), processes(w.peers), w.command())
	case w.peers > 0 && w.Uses == 0 && !w.Expires.IsZero() && !w.HasEnded(now) && w.Expires.Before(now.Add(soon)):
		return fmt.Sprintf("%s joined by the invite %s, which ends at %s: without a disk they cannot come back after that (leasehold invite --service %s)",
			processes(w.peers), w.ID, w.Expires.Format(time.RFC3339), w.Role)
	}
	return ""
}

func (w wayBack) command() string {
	if w.Service {
		return "--service " + w.Role.String()
	}
	return w.Role.String()
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
