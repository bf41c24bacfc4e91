package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/beanstalkd/go-beanstalk"
)

// stalk is beanstalkd with a log, synced at each write.
type stalk struct {
	process int
	address string
	begun   int
	conns   []*beanstalk.Conn
}

// startBeanstalkd starts beanstalkd with a log, which is synced at each write, so it is always durable. It waits
// until beanstalkd answers.
func startBeanstalkd(h *host, _ bool) (peer, error) {
	dir, err := h.folder("beanstalkd")
	if err != nil {
		return nil, err
	}
	host, port, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &stalk{address: net.JoinHostPort(host, port)}
	if s.process, err = h.run("", "beanstalkd", "-l", host, "-p", port, "-b", dir, "-f", "0"); err != nil {
		return nil, err
	}
	return s, h.waitUntilStarted(func() error {
		c, err := s.dial()
		if err == nil {
			_, err = c.Stats()
		}
		return err
	})
}

func (s *stalk) name() string { return "beanstalkd 1.12, -b DIR -f 0" }
func (s *stalk) pid() int     { return s.process }

// dial opens a connection, which end closes.
func (s *stalk) dial() (*beanstalk.Conn, error) {
	c, err := beanstalk.Dial("tcp", s.address)
	if err == nil {
		s.conns = append(s.conns, c)
	}
	return c, err
}

// timeToRun is how long a reserved job may take.
const timeToRun = time.Minute

// stalkSlot has tubes of tasks and of results.
type stalkSlot struct {
	tasks, results           *beanstalk.Tube
	waitingTasks, newResults *beanstalk.TubeSet
	conn                     *beanstalk.Conn
}

// newSlot returns a slot with a connection of its own. Slots of one begin have the same tubes.
func (s *stalk) newSlot() (slot stalkSlot, err error) {
	c, err := s.dial()
	if err != nil {
		return slot, err
	}
	tasks, results := fmt.Sprint("tasks-", s.begun), fmt.Sprint("results-", s.begun)
	return stalkSlot{beanstalk.NewTube(c, tasks), beanstalk.NewTube(c, results), beanstalk.NewTubeSet(c, tasks), beanstalk.NewTubeSet(c, results), c}, nil
}

func (s stalkSlot) create() error {
	_, err := s.tasks.Put([]byte(data), 1, 0, timeToRun)
	return err
}

// work takes a task, puts its result into the tube of results, and deletes the task.
func (s stalkSlot) work() error {
	id, body, err := s.waitingTasks.Reserve(timeToRun)
	if err != nil {
		return err
	}
	if _, err := s.results.Put(body, 1, 0, timeToRun); err != nil {
		return err
	}
	return s.conn.Delete(id)
}

// consume takes a result and deletes it.
func (s stalkSlot) consume() error {
	id, _, err := s.newResults.Reserve(timeToRun)
	if err != nil {
		return err
	}
	return s.conn.Delete(id)
}

// begin implements peer. It uses new tubes, so that what an earlier measurement left is not
// counted; the first slot fills the tube of tasks.
func (s *stalk) begin(_ context.Context, slots, batch int) (turns []func() error, err error) {
	s.begun++ // new tubes
	for n := range slots {
		slot, err := s.newSlot()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			for range backlog {
				if err := slot.create(); err != nil {
					return nil, err
				}
			}
		}
		turns = append(turns, func() error {
			for _, step := range []func() error{slot.create, slot.work, slot.consume} {
				for range batch { // it has no bulk
					if err := step(); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return turns, nil
}

// end closes the connections; an error has no effect, because they are not used again.
func (s *stalk) end() error {
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
	return nil
}

// once implements peer. Creator and worker have a connection each and new tubes.
func (s *stalk) once(context.Context) (func() (time.Duration, error), error) {
	s.begun++
	creator, err := s.newSlot()
	if err != nil {
		return nil, err
	}
	worker, err := s.newSlot()
	if err != nil {
		return nil, err
	}
	return claimOnce(func() error {
		_, _, err := worker.waitingTasks.Reserve(timeToRun)
		return err
	}, creator.create), nil
}
