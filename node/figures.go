package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/process/exposition"
	"leasehold/shared/process/histogram"
	"leasehold/shared/space"
	"leasehold/worker"
)

// runBounds are the bounds of the durations of tasks and visits.
var runBounds = []time.Duration{
	10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second,
	5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
}

// figures are what a manager or a worker measures of itself. Its methods may be called concurrently.
type figures struct {
	slots    int
	sessions atomic.Int64 // that were opened
	beat     atomic.Int64 // when the latest heartbeat arrived, in nanoseconds of Unix time; 0: none has
	items    atomic.Int64 // that origins listed

	mu      sync.Mutex // guards the fields below
	running map[string]int
	tasks   map[endedAs]*histogram.Histogram
	visits  map[endedAs]*histogram.Histogram
}

// endedAs is a sort of tasks or visits: an action or a kind of origin, and how they ended.
type endedAs struct{ what, outcome string }

func newFigures(slots int) *figures {
	return &figures{slots: slots, running: map[string]int{}, tasks: map[endedAs]*histogram.Histogram{}, visits: map[endedAs]*histogram.Histogram{}}
}

// beats notes that a heartbeat arrived.
func (f *figures) beats() { f.beat.Store(time.Now().UnixNano()) }

// counting returns connect with a count of the sessions that it opens.
func (f *figures) counting(connect func(context.Context) (space.Repository, error)) func(context.Context) (space.Repository, error) {
	return func(ctx context.Context) (space.Repository, error) {
		repo, err := connect(ctx)
		if err == nil {
			f.sessions.Add(1)
		}
		return repo, err
	}
}

// begin notes that a task or visit begins, and returns the function that notes its end in one of tasks and visits.
func (f *figures) begin(what string, in map[endedAs]*histogram.Histogram) (end func(outcome string)) {
	began := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[what]++
	return func(outcome string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running[what]--
		key := endedAs{what, outcome}
		if in[key] == nil {
			in[key] = histogram.New(runBounds...)
		}
		in[key].Observe(time.Since(began))
	}
}

// measureTasks measures each attempt of a handler.
func (f *figures) measureTasks(next worker.Handler) worker.Handler {
	return worker.HandlerFunc(func(ctx context.Context, job worker.Job) (err error) {
		end, outcome := f.begin(job.Task().Action, f.tasks), "failed" // also if the handler panics
		defer func() { end(outcome) }()
		err = next.Handle(ctx, job)
		switch {
		case err == nil:
			outcome = "done"
		case ctx.Err() != nil:
			outcome = "stopped"
		}
		return err
	})
}

// measureVisits returns flows that measure each visit.
func (f *figures) measureVisits(flows map[models.FlowName]manager.Flow) map[models.FlowName]manager.Flow {
	all := map[models.FlowName]manager.Flow{}
	for name, flow := range flows {
		all[name] = measuredFlow{flow, f}
	}
	return all
}

// measuredFlow is a flow whose visits are measured.
type measuredFlow struct {
	manager.Flow
	figures *figures
}

// Visit visits an origin; see manager.Flow. Only kinds that have a flow arrive here, so there are few of them.
func (m measuredFlow) Visit(ctx context.Context, v models.Visit) (o models.Outcome, err error) {
	end, outcome := m.figures.begin(string(v.Origin.Kind), m.figures.visits), string(models.Failed)
	defer func() { end(outcome) }()
	o, err = m.Flow.Visit(ctx, v)
	if err == nil {
		outcome = string(o.Status)
		m.figures.items.Add(int64(o.Items))
	}
	return o, err
}

// collect writes the metrics of a worker, or of a manager.
func (f *figures) collect(isWorker bool) exposition.Collector {
	return func(to exposition.Sink) {
		to.BuildInfo()
		to.Gauge("leasehold_process_slots", "This is the number of tasks or visits that the process runs at once.", float64(f.slots))
		to.Counter("leasehold_process_sessions_opened_total", "This counts the sessions that the process opened at its coordinator; each after the first replaces one that was lost.", float64(f.sessions.Load()))
		if at := f.beat.Load(); at > 0 {
			to.Gauge("leasehold_process_heartbeat_age_seconds", "This is the time since the coordinator answered the latest heartbeat; it is absent before the first.", time.Since(time.Unix(0, at)).Seconds())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if isWorker {
			f.collectTasks(to)
		} else {
			f.collectVisits(to)
		}
	}
}

// collectTasks writes the metrics of tasks. The caller holds mu.
func (f *figures) collectTasks(to exposition.Sink) {
	for action, n := range f.running {
		to.Gauge("leasehold_process_tasks_running", "This is the number of tasks that run in the process, by action.", float64(n), "action", action)
	}
	for k, h := range f.tasks {
		to.Histogram("leasehold_process_task_seconds", "This is the duration of attempts in the process, by action and by how they ended (done, failed or stopped).", h, "action", k.what, "outcome", k.outcome)
	}
}

// collectVisits writes the metrics of visits. The caller holds mu.
func (f *figures) collectVisits(to exposition.Sink) {
	for kind, n := range f.running {
		to.Gauge("leasehold_process_visits_running", "This is the number of visits that run in the process, by kind of origin.", float64(n), "kind", kind)
	}
	for k, h := range f.visits {
		to.Histogram("leasehold_process_visit_seconds", "This is the duration of visits in the process, by kind of origin and by outcome.", h, "kind", k.what, "outcome", k.outcome)
	}
	to.Counter("leasehold_process_items_listed_total", "This counts the items that the visited origins listed.", float64(f.items.Load()))
}
