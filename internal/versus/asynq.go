package main

import (
	"context"
	"io"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/hibiken/asynq"
)

// asynqPeer is Asynq. Its own results can only be polled, so the handler puts them into a list.
type asynqPeer struct {
	*redisServer
	client *asynq.Client
	server *asynq.Server
	pool   *redis.Pool
}

func startAsynq(h *host, durable bool) (peer, error) {
	s, err := startRedisServer(h, durable)
	return &asynqPeer{redisServer: s}, err
}

func (a *asynqPeer) name() string { return "Asynq 0.26, " + a.label }

// begin implements peer: the workers run in the client's server, so that a turn only creates tasks
// and takes results from the list.
func (a *asynqPeer) begin(_ context.Context, slots, batch int) (turns []func() error, err error) {
	if err := a.flush(); err != nil {
		return nil, err
	}
	options := asynq.RedisClientOpt{Addr: a.address, PoolSize: 3*slots + 10}
	a.client = asynq.NewClient(options)
	a.pool = &redis.Pool{MaxIdle: 2 * slots, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", a.address) }}
	create := func() error {
		_, err := a.client.Enqueue(asynq.NewTask("count", []byte(data)))
		return err
	}
	for range backlog {
		if err := create(); err != nil {
			return nil, err
		}
	}
	a.server = asynq.NewServer(options, asynq.Config{Concurrency: slots, LogLevel: asynq.FatalLevel, TaskCheckInterval: 10 * time.Millisecond})
	if err := a.server.Start(asynq.HandlerFunc(a.handle)); err != nil {
		return nil, err
	}
	for range slots {
		turns = append(turns, func() error {
			for range batch { // it has no bulk
				if err := create(); err != nil {
					return err
				}
			}
			c := a.pool.Get()
			defer c.Close()
			for range batch {
				if _, err := c.Do("BRPOP", "results", 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return turns, nil
}

// handle does a task: it puts the data of the task into the list of results.
func (a *asynqPeer) handle(_ context.Context, t *asynq.Task) error {
	c := a.pool.Get()
	defer c.Close()
	_, err := c.Do("LPUSH", "results", t.Payload())
	return err
}

// end stops the workers before it closes the connections that they use. It stops at the first
// error.
func (a *asynqPeer) end() error {
	a.server.Shutdown()
	for _, c := range []io.Closer{a.pool, a.client} {
		if err := c.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (a *asynqPeer) once(context.Context) (func() (time.Duration, error), error) { return nil, nil }
