package alert_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/alert"
	"leasehold/models"
	"leasehold/shared/fault"
)

// reports is a source of reports that the test replaces.
type reports struct {
	mu      sync.Mutex
	items   []models.Attention
	changed chan struct{}
}

func (r *reports) Attention() models.AttentionReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return models.AttentionReport{At: time.Now(), Items: r.items}
}

func (r *reports) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// publish replaces the report, and waits until it was handled.
func (r *reports) publish(ids ...string) {
	r.mu.Lock()
	r.items = nil
	for _, id := range ids {
		r.items = append(r.items, models.Attention{ID: id, Cause: models.CausePaused, Severity: models.StopsWork, Since: time.Now(), Count: 1})
	}
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	synctest.Wait()
}

// receiver keeps alerts, unless it fails with err.
type receiver struct {
	err  error
	sent []string
	keys []string
}

func (r *receiver) Name() string { return "test" }

func (r *receiver) Send(_ context.Context, m alert.Message) error {
	if r.err != nil {
		return r.err
	}
	var n alert.AttentionNotice
	err := json.Unmarshal(m.Body, &n)
	r.sent, r.keys = append(r.sent, n.Event+" "+n.ID+" "+string(n.Severity)), append(r.keys, m.Key)
	return err
}

// whileAlerting runs a test while items are sent to a receiver with an hour of quiet.
func whileAlerting(t *testing.T, test func(r *reports, to *receiver)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, to := &reports{changed: make(chan struct{})}, &receiver{}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			alert.RunAttention(ctx, r, []alert.Channel{to}, time.Hour, slog.New(slog.DiscardHandler))
			close(ended)
		}()
		synctest.Wait()
		test(r, to)
		stop()
		<-ended
	})
}

func TestAnAttentionItemIsSentOnceUntilItHasBeenQuiet(t *testing.T) {
	whileAlerting(t, func(r *reports, to *receiver) {
		r.publish("a", "b")
		r.publish("a", "b")
		require.Equal(t, []string{"attention a stops_work", "attention b stops_work"}, to.sent)
		require.NotEqual(t, to.keys[0], to.keys[1])
		for range 3 {
			<-time.After(45 * time.Minute)
			r.publish("a")
		}
		require.Len(t, to.sent, 2, "it lasts")
		<-time.After(59 * time.Minute)
		r.publish("a", "b")
		require.Len(t, to.sent, 3, "only b was quiet for an hour")
		r.publish()
		<-time.After(61 * time.Minute)
		r.publish("a")
		require.Equal(t, "attention a stops_work", to.sent[3])
	})
}

func TestAnAttentionItemIsTriedAgainWhileItLasts(t *testing.T) {
	whileAlerting(t, func(r *reports, to *receiver) {
		to.err = fault.ErrUnavailable
		r.publish("a", "b")
		to.err = nil
		r.publish("a")
		require.Empty(t, to.sent, "it pauses after a failure")
		<-time.After(2 * time.Second)
		r.publish("a")
		require.Equal(t, []string{"attention a stops_work"}, to.sent, "b has ended")

		to.err = errors.New("refused")
		r.publish("c")
		to.err = nil
		<-time.After(time.Hour)
		r.publish("c")
		require.Len(t, to.sent, 1, "a refused alert is dropped")
	})
}
