package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"leasehold/models"
	apiclient "leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// goDriver executes lines with Go's clients: those of the API by shared/api/client, and work by the package worker.
// It is this test's own program in another process.
type goDriver struct {
	mu       sync.Mutex // guards out
	out      io.Writer
	gate     string // for work
	clients  map[string]*apiclient.Client
	sessions map[string]*apiclient.WorkerSession
	tasks    map[string]claimed
	handlers handlers
}

// claimed is a task with the session that has it.
type claimed struct {
	types.ClaimedTask
	session *apiclient.WorkerSession
}

// line has the arguments of each verb.
type line struct {
	Do, Client, Session, URL, Gate, Action, Key, ID, Reason, Span, Name, Text, Error, Output string

	Data    json.RawMessage
	Options json.RawMessage
	Tasks   []types.NewTask
	Timeout *float64
	Filter  apiclient.TaskFilter
	Seen    types.TaskCount
	Serves  map[string]int
	TTL     float64

	Limit       int
	Wait        float64
	Fraction    *float64
	Result      json.RawMessage
	Create      []types.NewTask
	GiveUp      bool `json:"give_up"`
	Delay       float64
	Concurrency int
	Drain       float64
}

// runGoDriver answers lines until there are no more.
func runGoDriver(in io.Reader, out io.Writer) error {
	d := &goDriver{out: out, clients: map[string]*apiclient.Client{}, sessions: map[string]*apiclient.WorkerSession{}, tasks: map[string]claimed{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		l := line{Client: "main", Session: "main", Limit: 1, Span: "hour", Concurrency: 2, TTL: 1, Drain: 1}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		answer, err := d.answer(context.Background(), l)
		if err != nil {
			d.tell("error", failureOf(err))
		} else {
			d.tell("ok", answer)
		}
	}
	return lines.Err()
}

func (d *goDriver) tell(kind string, value any) {
	text, err := json.Marshal(map[string]any{kind: value})
	if err != nil {
		panic(err) // a mistake in this file
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, "%s\n", text)
}

func (d *goDriver) event(kind, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, `{"event":%q,"task":%q}`+"\n", kind, id)
}

// failureOf names an error as the other clients name theirs.
func failureOf(err error) map[string]any {
	kind := "Other"
	for name, of := range map[string]error{
		"Invalid": fault.ErrInvalid, "NotFound": fault.ErrNotFound, "Conflict": fault.ErrConflict, "KeyReused": fault.ErrKeyReused,
		"StaleClaim": fault.ErrStaleToken, "SessionClosed": fault.ErrClosed, "TooLarge": fault.ErrTooLarge,
		"Unauthenticated": fault.ErrUnauthenticated, "Forbidden": fault.ErrForbidden, "Unavailable": fault.ErrUnavailable,
		"Timeout": context.DeadlineExceeded,
	} {
		if errors.Is(err, of) {
			kind = name
		}
	}
	if errors.Is(err, fault.ErrOverloaded) {
		kind = "Unavailable"
	}
	return map[string]any{"kind": kind, "text": err.Error(), "detail": err.Error()}
}

// seconds as a duration.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func (d *goDriver) answer(ctx context.Context, l line) (any, error) {
	c := d.clients[l.Client]
	ctx = apiclient.WithOperation(ctx, l.Key)
	switch l.Do {
	case "connect":
		c, err := apiclient.New(l.URL)
		d.clients[l.Client], d.gate = c, l.Gate
		return nil, err
	case "create":
		n := types.NewTask{Action: l.Action, Data: l.Data}
		if len(l.Options) > 0 {
			if err := json.Unmarshal(l.Options, &n); err != nil {
				return nil, err
			}
		}
		return c.CreateTask(ctx, n)
	case "create_all":
		return c.CreateTasks(ctx, types.NewTasks{Tasks: l.Tasks})
	case "get":
		return c.Task(ctx, l.ID)
	case "wait":
		if l.Timeout != nil {
			limited, cancel := context.WithTimeout(ctx, seconds(*l.Timeout))
			defer cancel()
			ctx = limited
		}
		return c.WaitTask(ctx, l.ID)
	case "cancel":
		return nil, c.CancelTask(ctx, l.ID, l.Reason)
	case "requeue":
		_, err := c.Requeue(ctx, l.ID)
		return nil, err
	case "work":
		return nil, d.work(l)
	case "process":
		host, err := os.Hostname()
		return map[string]any{"host": host, "pid": os.Getpid()}, err
	}
	if strings.HasSuffix(l.Do, "_selected") || c == nil {
		return d.bulk(ctx, c, l)
	}
	switch l.Do {
	case "actions":
		return c.Actions(ctx)
	case "leases":
		all, err := c.Leases(ctx)
		return append([]types.Lease{}, all...), err
	case "attention":
		return c.Attention(ctx)
	case "history":
		return c.History(ctx, l.Action, l.Span)
	case "count":
		return c.CountTasks(ctx, l.Filter)
	}
	return d.inSession(ctx, c, l)
}

// bulk changes what a filter selects, and returns all that was changed.
func (d *goDriver) bulk(ctx context.Context, c *apiclient.Client, l line) (any, error) {
	all := types.BulkResult{Done: []string{}, Refused: []types.BulkError{}}
	err := c.Bulk(ctx, strings.TrimSuffix(l.Do, "_selected"), l.Filter, l.Seen, l.Reason, func(part types.BulkResult) error {
		all.Done, all.Refused = append(all.Done, part.Done...), append(all.Refused, part.Refused...)
		return nil
	})
	return all, err
}

func (d *goDriver) inSession(ctx context.Context, c *apiclient.Client, l line) (any, error) {
	session, task := d.sessions[l.Session], d.tasks[l.ID]
	switch l.Do {
	case "session":
		n := types.NewSession{Name: l.Name, TTL: new(models.Seconds(max(l.TTL, 30)))}
		for action, slots := range l.Serves {
			n.Serves = append(n.Serves, types.Served{Action: action, Slots: int64(slots)})
		}
		s, err := c.OpenWorker(ctx, n)
		d.sessions[l.Session] = s
		return nil, err
	case "heartbeat":
		return session.Heartbeat(ctx)
	case "resume":
		_, err := c.OpenWorker(ctx, types.NewSession{Resume: session.ID})
		return nil, err
	case "end":
		if err := c.EndSession(ctx, session.ID); !errors.Is(err, fault.ErrClosed) && !errors.Is(err, fault.ErrNotFound) {
			return nil, err
		}
		return nil, nil // it was lost
	case "claim":
		found, err := session.Claim(ctx, l.Limit, seconds(l.Wait))
		for _, t := range found {
			d.tasks[t.ID] = claimed{t, session}
		}
		return append([]types.ClaimedTask{}, found...), err
	case "task_parents":
		return task.Parents, nil
	case "extend":
		if l.Fraction == nil {
			return nil, task.session.Extend(ctx, task.ClaimedTask, nil)
		}
		return nil, task.session.Extend(ctx, task.ClaimedTask, &models.Progress{Fraction: *l.Fraction, Text: l.Text})
	case "resolve":
		return task.session.Resolve(ctx, task.ClaimedTask, l.Result, l.Create...)
	case "release":
		return nil, task.session.Release(ctx, task.ClaimedTask, types.Release{Error: l.Error, Output: l.Output, GiveUp: l.GiveUp})
	case "hand_back":
		return nil, task.session.HandBack(ctx, task.ClaimedTask, seconds(l.Delay))
	}
	return nil, fmt.Errorf("%w: unknown verb %s", fault.ErrUsage, l.Do)
}

// work works until SIGTERM.
func (d *goDriver) work(l line) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	d.handlers.event = d.event
	return d.handlers.work(ctx, d.gate, l)
}
