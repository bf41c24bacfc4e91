package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"
)

// redisServer is one Redis server, which its two peers share.
type redisServer struct {
	process int
	address string
	label   string
}

// startRedisServer starts Redis with an append-only file, synced at each write, or without persistence, unless it
// runs.
func startRedisServer(h *host, durable bool) (*redisServer, error) {
	if h.redis != nil {
		return h.redis, nil
	}
	dir, err := h.folder("redis")
	if err != nil {
		return nil, err
	}
	host, port, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &redisServer{address: net.JoinHostPort(host, port), label: "no persistence"}
	args := []string{"--port", port, "--bind", host, "--save", "", "--dir", dir, "--daemonize", "no", "--loglevel", "warning"}
	if durable {
		args, s.label = append(args, "--appendonly", "yes", "--appendfsync", "always"), "appendfsync always"
	}
	if s.process, err = h.run("", "redis-server", args...); err != nil {
		return nil, err
	}
	h.redis = s
	return s, h.waitUntilStarted(func() error {
		c, err := redis.Dial("tcp", s.address)
		if err == nil {
			err = c.Close()
		}
		return err
	})
}

func (s *redisServer) pid() int { return s.process }

// flush empties the server, all its databases.
func (s *redisServer) flush() error {
	c, err := redis.Dial("tcp", s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Do("FLUSHALL")
	return err
}

// lists is Redis as a reliable queue, with redigo.
type lists struct {
	*redisServer
	conns []redis.Conn
}

func startRedis(h *host, durable bool) (peer, error) {
	s, err := startRedisServer(h, durable)
	return &lists{redisServer: s}, err
}

func (l *lists) name() string { return "Redis 7.0 LMOVE, " + l.label }

// dial opens a connection, which end closes.
func (l *lists) dial() (redis.Conn, error) {
	c, err := redis.Dial("tcp", l.address)
	if err == nil {
		l.conns = append(l.conns, c)
	}
	return c, err
}

// begin implements peer: each slot has a connection and a list of the tasks that it has claimed.
// The first one fills the queue.
func (l *lists) begin(_ context.Context, slots, batch int) (turns []func() error, err error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	for n := range slots {
		c, err := l.dial()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if _, err := c.Do("LPUSH", same("tasks", backlog)...); err != nil {
				return nil, err
			}
		}
		s := listSlot{c, fmt.Sprint("held-", n)}
		turns = append(turns, func() error {
			if batch == 1 {
				return s.turn()
			}
			return s.turnBatch(batch)
		})
	}
	return turns, nil
}

// same returns a key and n times the data.
func same(key string, n int) []any {
	args := []any{key}
	for range n {
		args = append(args, data)
	}
	return args
}

// end closes the connections; an error has no effect, because they are not used again.
func (l *lists) end() error {
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
	return nil
}

type listSlot struct {
	conn redis.Conn
	held string // the list of the tasks that the slot has claimed
}

// turn creates a task, claims one, resolves it, and takes a result.
func (s listSlot) turn() error {
	if _, err := s.conn.Do("LPUSH", "tasks", data); err != nil {
		return err
	}
	task, err := redis.String(s.conn.Do("BLMOVE", "tasks", s.held, "RIGHT", "LEFT", 0))
	if err != nil {
		return err
	}
	if err := s.resolve(task); err != nil {
		return err
	}
	_, err = s.conn.Do("BRPOP", "results", 0)
	return err
}

// resolve puts results and ends tasks, in one transaction and one message. EXEC returns the error of the
// connection, so the errors of Send need no check.
func (s listSlot) resolve(tasks ...string) error {
	_ = s.conn.Send("MULTI")
	for _, t := range tasks {
		_ = s.conn.Send("LREM", s.held, 1, t)
	}
	_ = s.conn.Send("LPUSH", append([]any{"results"}, anys(tasks)...)...)
	_, err := s.conn.Do("EXEC")
	return err
}

// anys returns strings as arguments of a command.
func anys(all []string) (as []any) {
	for _, v := range all {
		as = append(as, v)
	}
	return as
}

// turnBatch is turn for a batch. It claims in one transaction, too, and takes results as many at
// a time as there are.
func (s listSlot) turnBatch(batch int) error {
	if _, err := s.conn.Do("LPUSH", same("tasks", batch)...); err != nil {
		return err
	}
	_ = s.conn.Send("MULTI")
	for range batch {
		_ = s.conn.Send("LMOVE", "tasks", s.held, "RIGHT", "LEFT")
	}
	tasks, err := redis.Strings(s.conn.Do("EXEC"))
	if err != nil {
		return err
	}
	if err := s.resolve(tasks...); err != nil {
		return err
	}
	for consumed := 0; consumed < batch; {
		reply, err := redis.Values(s.conn.Do("BLMPOP", 0, 1, "results", "RIGHT", "COUNT", batch-consumed))
		if err != nil {
			return err
		}
		results, err := redis.Values(reply[1], nil)
		if err != nil {
			return err
		}
		consumed += len(results)
	}
	return nil
}

// once implements peer. It claims with BRPOPLPUSH, as older programs do; creator and worker have
// a connection each.
func (l *lists) once(context.Context) (func() (time.Duration, error), error) {
	creator, err := l.dial()
	if err != nil {
		return nil, err
	}
	worker, err := l.dial()
	if err != nil {
		return nil, err
	}
	return claimOnce(func() error {
		_, err := worker.Do("BRPOPLPUSH", "tasks", "held", 0)
		return err
	}, func() error {
		_, err := creator.Do("LPUSH", "tasks", data)
		return err
	}), nil
}

// claimOnce has a worker claim tasks in a goroutine, and returns a function that creates a task
// and returns the time until the worker has it. An error of the worker is returned instead.
func claimOnce(claim, create func() error) func() (time.Duration, error) {
	claimed, failed := make(chan time.Time), make(chan error, 1)
	go func() {
		for {
			if err := claim(); err != nil {
				failed <- err
				return
			}
			claimed <- time.Now()
		}
	}()
	return func() (time.Duration, error) {
		began := time.Now()
		if err := create(); err != nil {
			return 0, err
		}
		select {
		case at := <-claimed:
			return at.Sub(began), nil
		case err := <-failed:
			return 0, err
		}
	}
}
