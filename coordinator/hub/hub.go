// Package hub subscribes to the WebSub hubs that feeds name (W3C Recommendation of 2018-01-23), so that a change is
// reported and not only found by the next visit.
//
//	visit finds hub ─▶ request ─▶ hub verifies (GET callback) ─▶ active ─▶ request again at 80 % of the lease
//	                     │ no confirmation: again after a pause that doubles, from 10 minutes to 7 days
//
// The body of a report is not used: it counts as a report that the origin has changed, and a visit follows. The package
// does not decide when that visit comes.
//
// Invariants: a request is noted before it is sent, so that the hub may verify at once and a restart does not repeat
// it at once. A callback that is not known, or that nothing is expected of, is answered with 404.
package hub

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/models"
)

// Store keeps subscriptions: a visits.Store.
type Store interface {
	DueSubscriptions(ctx context.Context, now time.Time, n int) ([]visits.Subscription, error)
	Subscription(ctx context.Context, callback string) (visits.Subscription, error)
	EditSubscription(ctx context.Context, callback string, change func(*visits.Subscription) (keep bool)) (visits.Subscription, error)
	Tell(ctx context.Context, now time.Time, origin string) error
}

// Poster sends a request to a hub: a fetch.Fetcher, which refuses private addresses.
type Poster interface {
	Post(ctx context.Context, uri string, header http.Header, content []byte, maxBytes int64) ([]byte, error)
}

// Path is the path below which callbacks are.
const Path = "/hub/"

const (
	checkEach   = 10 * time.Second // between two looks for due requests
	atOnce      = 8                // requests at a time
	postTimeout = 30 * time.Second
	answerBytes = 4 << 10
	wantedLease = 10 * 24 * time.Hour
	maxLease    = 30 * 24 * time.Hour
	firstPause  = 10 * time.Minute
	maxPause    = 7 * 24 * time.Hour
	leaveTries  = 3 // requests to forget a subscription; after them it is forgotten here
	maxReason   = 200
)

// Subscriber subscribes to hubs and answers them. Its methods may be called concurrently.
type Subscriber struct {
	Store  Store
	Poster Poster
	Base   string // public URL of the coordinator, without a slash at its end
	Log    *slog.Logger
}

// Run sends the requests that are due until ctx ends, and waits for those under way. An error of the store is logged
// once until it changes, and the next check tries again; an error of a hub is kept with the subscription.
func (s *Subscriber) Run(ctx context.Context) {
	tick := time.NewTicker(checkEach)
	defer tick.Stop()
	logged := ""
	for {
		err := s.askDue(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			logged = ""
		case err.Error() != logged:
			logged = err.Error()
			s.Log.Error("coordinator: subscriptions at hubs could not be read or written; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// askDue sends the requests that are due now, atOnce at a time, and waits for them.
func (s *Subscriber) askDue(ctx context.Context) error {
	due, err := s.Store.DueSubscriptions(ctx, time.Now(), atOnce)
	if err != nil {
		return err
	}
	failed := make([]error, len(due))
	var running sync.WaitGroup
	for i, x := range due {
		running.Go(func() { failed[i] = s.ask(ctx, x.Callback) })
	}
	running.Wait()
	return cmp.Or(failed...)
}

// ask sends one request. A subscription that is to be forgotten, and whose hub did not confirm that, is removed.
func (s *Subscriber) ask(ctx context.Context, callback string) error {
	keep := true
	x, err := s.Store.EditSubscription(ctx, callback, func(x *visits.Subscription) bool {
		keep = !x.Leaving || x.Asked < leaveTries
		x.Asked++
		if x.Asked > 1 && x.Error == "" {
			x.Error = "the hub accepted the request and did not confirm it"
		}
		x.Due = time.Now().Add(pause(x.Asked)).Unix()
		return keep
	})
	if err != nil || !keep {
		return err
	}
	postCtx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	_, failure := s.Poster.Post(postCtx, x.URL, header, []byte(s.form(x).Encode()), answerBytes)
	if ctx.Err() != nil || failure == nil {
		return nil
	}
	_, err = s.Store.EditSubscription(ctx, callback, func(x *visits.Subscription) bool {
		if x.Asked > 0 { // else the hub has confirmed it meanwhile
			x.Error = cut(models.Redact(failure.Error()))
		}
		return true
	})
	return ignoreNotFound(err)
}

// pause returns the time until the next request after a number of requests without a confirmation.
func pause(asked int) time.Duration {
	return min(firstPause<<min(asked-1, 20), maxPause)
}

// form returns the request for a subscription, or for the end of it.
func (s *Subscriber) form(x visits.Subscription) url.Values {
	form := url.Values{"hub.callback": {s.Base + Path + x.Callback}, "hub.mode": {mode(x)}, "hub.topic": {x.Topic}}
	if !x.Leaving {
		form.Set("hub.secret", x.Secret)
		form.Set("hub.lease_seconds", strconv.Itoa(int(wantedLease.Seconds())))
	}
	return form
}

func mode(x visits.Subscription) string {
	if x.Leaving {
		return "unsubscribe"
	}
	return "subscribe"
}

// confirm notes that the hub has confirmed a subscription for a lease in seconds, or its end.
func (s *Subscriber) confirm(ctx context.Context, callback string, lease int64) error {
	_, err := s.Store.EditSubscription(ctx, callback, func(x *visits.Subscription) bool {
		now, length := time.Now(), min(time.Duration(min(lease, 1<<31))*time.Second, maxLease)
		x.Asked, x.Error = 0, ""
		x.Until = now.Add(length).Unix()
		x.Due = now.Add(max(length*8/10, firstPause)).Unix()
		return !x.Leaving
	})
	return err
}

// deny notes that the hub refused a subscription, which is tried again after the longest pause.
func (s *Subscriber) deny(ctx context.Context, callback, reason string) error {
	_, err := s.Store.EditSubscription(ctx, callback, func(x *visits.Subscription) bool {
		x.Error = cut(fmt.Sprintf("the hub denied the subscription: %q", reason))
		x.Until, x.Due = 0, time.Now().Add(maxPause).Unix()
		return !x.Leaving
	})
	return err
}
