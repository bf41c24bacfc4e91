package coordinator

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"leasehold/shared/protocol/status"
)

// maxLost is how many lost sessions wait to be logged; more are not logged.
const maxLost = 1000

// Lost sessions of one machine are logged together: when none was lost for lostQuiet, or after lostLongest. One client
// may open thousands, and each line would push another out of the log.
const (
	lostQuiet   = time.Second
	lostLongest = time.Minute
	lostEach    = 4 // at most so many are logged one by one
)

// lostSession is a session that was lost, and the name of its machine.
type lostSession struct{ id, host string }

// noteLost queues a lost session for logLost. The engine calls it while it is locked, so it must
// not block: if the queue is full the session is not logged.
func noteLost(lost chan<- lostSession, s lostSession) {
	select {
	case lost <- s:
	default:
	}
}

// lostGroup is the sessions of one machine that were lost and are not logged.
type lostGroup struct {
	first, last time.Time
	count       int
	ids         []string // of the first of them, at most lostEach
}

// logLost logs the sessions that are lost until ctx ends.
func (c *Coordinator) logLost(ctx context.Context) {
	groups := map[string]*lostGroup{}
	tick := time.NewTicker(lostQuiet)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for host, g := range groups {
				c.logGroup(host, g)
			}
			return
		case s := <-c.lost:
			g := groups[s.host]
			if g == nil {
				g = &lostGroup{first: time.Now()}
				groups[s.host] = g
			}
			g.last = time.Now()
			g.count++
			if len(g.ids) < lostEach {
				g.ids = append(g.ids, s.id)
			}
		case <-tick.C:
			for host, g := range groups {
				if time.Since(g.last) >= lostQuiet || time.Since(g.first) >= lostLongest {
					c.logGroup(host, g)
					delete(groups, host)
				}
			}
		}
	}
}

// logGroup logs lost sessions of a machine: one by one, or in one line if there are more than lostEach. Those of
// commands, and of programs that use package spaces, go to the space "log" only, without a warning, because a user may
// have killed them.
func (c *Coordinator) logGroup(host string, g *lostGroup) {
	const text = "session lost: no heartbeat came in time; what it held is offered again"
	if g.count > lostEach {
		c.Log.Warn(fmt.Sprintf("%d sessions lost: no heartbeats came in time; what they held is offered again", g.count),
			"host", host, "first", strings.Join(g.ids, " "))
		return
	}
	for _, id := range g.ids {
		if strings.HasPrefix(id, "client-") { // as remote.SessionID names them
			status.Tell(c.Log, slog.LevelInfo, id, text)
		} else {
			c.Log.Warn(text, "session", id, "host", host)
		}
	}
}
