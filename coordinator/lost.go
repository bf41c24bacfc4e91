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
	lostEach    = 4  // at most so many are logged one by one
	lostTasks   = 10 // so many tasks of each are named
)

// lostSession is a session that was lost, the name of its machine, and the tasks that it held.
type lostSession struct {
	id, host string
	tasks    []string
}

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
	sessions    []lostSession // the first of them, at most lostEach
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
			if len(g.sessions) < lostEach {
				g.sessions = append(g.sessions, s)
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
		var ids []string
		for _, one := range g.sessions {
			ids = append(ids, one.id)
		}
		c.Log.Warn(fmt.Sprintf("%d sessions lost: no heartbeats came in time; what they held is offered again", g.count),
			"host", host, "first", strings.Join(ids, " "))
		return
	}
	for _, one := range g.sessions {
		if strings.HasPrefix(one.id, "client-") { // as remote.SessionID names them
			status.Tell(c.Log, slog.LevelInfo, one.id, text)
			continue
		}
		attrs := []any{"session", one.id, "host", host}
		if n := len(one.tasks); n > 0 {
			attrs = append(attrs, "held", n, "tasks", strings.Join(one.tasks[:min(n, lostTasks)], " "))
		}
		c.Log.Warn(text, attrs...)
	}
}
