// Package alert tells administrators of dead letters and of attention items: by a signed webhook or by a command. What
// follows is about dead letters; RunAttention is about the others.
//
// The protocol of tasks puts an alert into the space "alert" for each dead letter and each
// channel, in the transaction in which the task dies (task.Policy.Alerts). This package takes
// the oldest alert of a channel, sends it, and then removes it. So an alert is sent at least
// once, also if the coordinator is killed in between, and the space is the queue with its bound.
//
// While sending fails it is repeated with back-off, in turns with the other alerts of the channel,
// until the dead letter is a day old. Then, and if the receiver refuses the alert for good, the alert is
// dropped, and the log names it. An alert whose dead letter was requeued or discarded is dropped too.
package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/task"
)

// The channels.
const (
	ChannelWebhook = "webhook"
	ChannelCommand = "command"
)

const (
	sendTimeout = 10 * time.Second // of one request of a webhook, with its answer
	keepTrying  = 24 * time.Hour   // after the task died
	// attemptsPerTurn is how often an alert is tried before those behind it, in about half a minute: a
	// receiver that restarts still gets the alerts in their order.
	attemptsPerTurn = 5
)

// A Channel sends alerts.
type Channel interface {
	Name() string
	// Send sends one alert. It is repeated after fault.ErrUnavailable, and not after another error.
	Send(ctx context.Context, m Message) error
}

// Message is an alert as a channel sends it.
type Message struct {
	Key  string   // identifies the alert, so that a receiver recognises a repeated one
	Env  []string // of a command, beside that of this process: NAME=value
	Body []byte   // JSON
}

// Notice is what is sent, as JSON. It has no data of the task, because that may be large or
// secret.
type Notice struct {
	Event     string           `json:"event"` // "task.dead"
	Task      string           `json:"task"`  // id
	Action    string           `json:"action"`
	Reason    string           `json:"reason"`
	Attempts  int64            `json:"attempts"`
	Tags      []string         `json:"tags,omitempty"`
	Group     string           `json:"group,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
	DiedAt    time.Time        `json:"died_at"`
	History   []models.Attempt `json:"history,omitempty"`
}

// key identifies the alert, so that a receiver recognises a repeated one.
func (n Notice) key() string { return n.Task + "-" + n.DiedAt.Format("20060102T150405.000") }

// Names returns the names of channels, for task.Policy.
func Names(channels []Channel) (names []string) {
	for _, c := range channels {
		names = append(names, c.Name())
	}
	return names
}

// Run sends the alerts of channels until ctx ends, and returns nil then. It removes those of
// channels that are not configured any more, because nothing would ever send them. Any other
// error is one of the spaces.
func Run(ctx context.Context, tasks task.Client, channels []Channel, log *slog.Logger) error {
	senders := map[string]*sender{}
	for _, c := range channels {
		senders[c.Name()] = &sender{tasks: tasks, channel: c, log: log, loop: &retry.Loop{
			Message: "dead letters: sending an alert by " + c.Name() + " failed; it is repeated", Log: log,
			Backoff: retry.Backoff{Min: time.Second, Max: 5 * time.Minute},
			Retry:   func(err error) bool { return errors.Is(err, errNotSent) },
		}}
	}
	var running []supervisor.Task
	for _, name := range []string{ChannelWebhook, ChannelCommand} {
		if s, ok := senders[name]; ok {
			running = append(running, s.run)
			continue
		}
		if _, err := tasks.RemoveAlerts(ctx, name); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return supervisor.All(ctx, running...)
}

// sender sends the alerts of one channel, one after the other.
type sender struct {
	tasks   task.Client
	channel Channel
	log     *slog.Logger
	loop    *retry.Loop
	failed  int // how often the oldest alert could not be sent in its present turn
}

// errNotSent means that an alert could not be sent, and that it may be possible later.
var errNotSent = errors.New("not sent")

// run sends the alerts of the channel until ctx ends, and returns nil then. Any other error is one of
// the spaces. The pauses between attempts grow until an alert is sent, whichever it is.
func (s *sender) run(ctx context.Context) error {
	for {
		err := s.loop.Do(ctx, func() error { return s.sendOldest(ctx) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sendOldest waits for an alert, tries once to send the oldest, and removes it if it was sent or is
// dropped. A crash in between repeats it. After attemptsPerTurn failures the alert goes behind the
// others, because a receiver may fail at one alert and accept the next. The error is errNotSent, or one
// of the spaces.
func (s *sender) sendOldest(ctx context.Context) error {
	a, err := s.tasks.NextAlert(ctx, s.channel.Name())
	if err != nil {
		return err
	}
	err = s.send(ctx, a)
	if !errors.Is(err, errNotSent) {
		s.failed = 0
		if err != nil {
			return err
		}
		return s.tasks.RemoveAlert(ctx, a)
	}
	if s.failed++; s.failed == attemptsPerTurn {
		s.failed = 0
		if err := s.tasks.PostponeAlert(ctx, a); err != nil {
			return err
		}
	}
	return err
}

// send tries once to send an alert. It returns nil once the alert was sent or is dropped: if there is
// no dead letter any more, or if it cannot be sent, which is logged. It returns errNotSent if sending
// failed and may be repeated, until died+keepTrying. A malformed dead letter (fault.ErrCorrupt) is sent with
// the fields that could be read. Another error means that the dead letter cannot be read at all.
func (s *sender) send(ctx context.Context, a task.Alert) error {
	letter, err := s.tasks.DeadLetter(ctx, a.Task)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return err
	}
	died := time.UnixMilli(a.DiedAt).UTC()
	n := Notice{
		Event: "task.dead", Task: letter.ID, Action: letter.Action, Reason: letter.Reason, Attempts: letter.Attempts, Tags: letter.Tags, Group: letter.Group,
		CreatedAt: letter.CreatedAt, DiedAt: died, History: letter.History,
	}
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	err = s.channel.Send(ctx, Message{Key: n.key(), Env: []string{config.TaskIDEnv + "=" + n.Task, config.TaskActionEnv + "=" + n.Action}, Body: body})
	if errors.Is(err, fault.ErrUnavailable) && time.Since(died) < keepTrying {
		return fmt.Errorf("task %s: %w: %w", n.Task, errNotSent, err)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("dead letters: an alert could not be sent and is dropped", "channel", s.channel.Name(), "task", n.Task, "error", err)
	}
	return nil
}
