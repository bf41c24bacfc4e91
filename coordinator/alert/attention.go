package alert

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// Attention shows what needs attention: an attention.Watcher.
type Attention interface {
	Attention() models.AttentionReport
	// Changed returns a channel that is closed when the next report comes.
	Changed() <-chan struct{}
}

// AttentionNotice is the body of an alert about an attention item.
type AttentionNotice struct {
	Event string `json:"event"` // "attention"
	models.Attention
}

// RunAttention sends each attention item once over each channel, until ctx ends. An item whose cause ends and comes back
// within quiet is not sent again. While a channel cannot be reached, an item is tried again with back-off as long as it
// lasts. What was sent is not kept on the disk, so that a restart sends the items that last again.
func RunAttention(ctx context.Context, a Attention, channels []Channel, quiet time.Duration, log *slog.Logger) {
	var running sync.WaitGroup
	for _, c := range channels {
		s := &attentionSender{channel: c, quiet: quiet, log: log, sent: map[string]time.Time{}, backoff: retry.Backoff{Min: time.Second, Max: 5 * time.Minute}}
		running.Go(func() { s.run(ctx, a) })
	}
	running.Wait()
}

// attentionSender sends the items over one channel. Only run uses it.
type attentionSender struct {
	channel Channel
	quiet   time.Duration
	log     *slog.Logger
	sent    map[string]time.Time // when items were there last that were sent, by id

	backoff retry.Backoff
	pause   time.Duration // after the last send, which failed; 0: it did not
	next    time.Time     // before which nothing is sent
}

func (s *attentionSender) run(ctx context.Context, a Attention) {
	for ctx.Err() == nil {
		changed := a.Changed()
		s.sendNew(ctx, a.Attention().Items)
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// sendNew sends the items that were not sent, until one fails, and forgets those that have been gone for longer than
// quiet.
func (s *attentionSender) sendNew(ctx context.Context, items []models.Attention) {
	now := time.Now()
	for id, last := range s.sent {
		if now.Sub(last) > s.quiet {
			delete(s.sent, id)
		}
	}
	for _, i := range items {
		if _, known := s.sent[i.ID]; known {
			s.sent[i.ID] = now
		}
	}
	for _, i := range items {
		if _, known := s.sent[i.ID]; known {
			continue
		}
		if now.Before(s.next) || !s.send(ctx, i) {
			return
		}
		s.sent[i.ID] = time.Now()
	}
}

// send sends one item, and reports whether it is done with: it was sent, or the receiver refuses it for good.
func (s *attentionSender) send(ctx context.Context, i models.Attention) (done bool) {
	body, err := json.Marshal(AttentionNotice{"attention", i})
	if err == nil {
		err = s.channel.Send(ctx, Message{Key: i.ID + "-" + i.Since.Format("20060102T150405"), Body: body})
	}
	if errors.Is(err, fault.ErrUnavailable) {
		if s.pause > 0 {
			s.pause = s.backoff.Next(s.pause)
		} else {
			s.pause = s.backoff.First()
			s.log.Warn("attention: sending an alert by "+s.channel.Name()+" failed; it is repeated", "item", i.ID, "error", err)
		}
		s.next = time.Now().Add(s.pause)
		return false
	}
	s.pause = 0
	if err != nil && ctx.Err() == nil {
		s.log.Error("attention: an alert could not be sent and is dropped", "channel", s.channel.Name(), "item", i.ID, "error", err)
	}
	return true
}
