package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverPeer is River on PostgreSQL with its defaults, which sync each commit.
type riverPeer struct {
	*postgres
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	stop   func()
}

// startRiver starts PostgreSQL unless it runs, and makes the tables of River.
func startRiver(h *host, _ bool) (peer, error) {
	server, err := startPostgres(h)
	if err != nil {
		return nil, err
	}
	p := &riverPeer{postgres: server}
	return p, p.migrate(h.ctx)
}

// migrate makes the tables of River.
func (p *riverPeer) migrate(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, p.url)
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func (p *riverPeer) name() string { return "River 0.51, PostgreSQL 15" }

// count is the kind of task.
type count struct {
	Data string `json:"data"`
}

func (count) Kind() string { return "count" }

type counter struct{ river.WorkerDefaults[count] }

func (counter) Work(ctx context.Context, job *river.Job[count]) error {
	return river.RecordOutput(ctx, job.Args.Data)
}

// begin implements peer: the workers run in the client, so that a turn only creates tasks and waits
// for the events of their completion, which have the output.
func (p *riverPeer) begin(ctx context.Context, slots, batch int) (turns []func() error, err error) {
	config, err := pgxpool.ParseConfig(p.url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(min(2*slots+8, 200))
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, err
	}
	if _, err := p.pool.Exec(ctx, "TRUNCATE river_job"); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, counter{})
	p.client, err = river.NewClient(riverpgxv5.New(p.pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: slots}}, Workers: workers,
		FetchCooldown: time.Millisecond, FetchPollInterval: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return nil, err
	}
	task := count{data[1 : len(data)-1]}
	if _, err := p.client.InsertMany(ctx, many(task, backlog)); err != nil {
		return nil, err
	}
	completed, unsubscribe := p.client.SubscribeConfig(&river.SubscribeConfig{ChanSize: 100_000, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	p.stop = unsubscribe
	if err := p.client.Start(ctx); err != nil {
		return nil, err
	}
	for range slots {
		turns = append(turns, func() error {
			if err := p.create(ctx, task, batch); err != nil {
				return err
			}
			for range batch {
				e := <-completed
				if output := e.Job.Output(); !json.Valid(output) || !bytes.Contains(output, []byte("xxx")) {
					return fmt.Errorf("job %d has no output", e.Job.ID)
				}
			}
			return nil
		})
	}
	return turns, nil
}

// create inserts a batch of tasks; one task is inserted as programs do that.
func (p *riverPeer) create(ctx context.Context, task count, batch int) (err error) {
	if batch == 1 {
		_, err = p.client.Insert(ctx, task, nil)
	} else {
		_, err = p.client.InsertMany(ctx, many(task, batch))
	}
	return err
}

// many returns the arguments for n tasks.
func many(task count, n int) (all []river.InsertManyParams) {
	for range n {
		all = append(all, river.InsertManyParams{Args: task})
	}
	return all
}

// end stops the workers, then the events, and then closes the connections.
func (p *riverPeer) end() error {
	defer p.pool.Close()
	defer p.stop()
	return p.client.Stop(context.Background())
}

func (p *riverPeer) once(context.Context) (func() (time.Duration, error), error) { return nil, nil }
