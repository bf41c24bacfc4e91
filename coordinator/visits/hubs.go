package visits

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// Subscription is what the coordinator has arranged, or is about to, with the WebSub hub of an origin. Package hub
// makes the requests. Times are seconds since 1970.
type Subscription struct {
	Callback string // 128 random bits in hex: the last part of the callback's URL
	Origin   string // id; it may have been removed
	models.Hub
	Secret  string // with which the hub signs what it sends
	Leaving bool   // the hub is to forget it
	Asked   int    // requests in a row that the hub has not confirmed
	Until   int64  // end of the lease; 0: the hub has never confirmed
	Due     int64  // when the next request is sent
	Error   string // why the last request failed
}

// mostSubscriptions bounds the number of subscriptions. The feeds beyond it are only visited.
const mostSubscriptions = 10_000

const selectHubs = "SELECT callback, origin, hub, topic, secret, leaving, asked, until, due, error FROM hub "

func scanSubscription(from sqldb.Row) (x Subscription, err error) {
	err = from.Scan(&x.Callback, &x.Origin, &x.URL, &x.Topic, &x.Secret, &x.Leaving, &x.Asked, &x.Until, &x.Due, &x.Error)
	return x, err
}

func subscriptions(c *sqldb.Conn, where string, args ...any) (all []Subscription, err error) {
	err = c.All(selectHubs+where, args, func(from sqldb.Row) error {
		x, err := scanSubscription(from)
		all = append(all, x)
		return err
	})
	return all, err
}

// noteHub notes the hub that a visit found, in the transaction under way: a new one is subscribed to, and one that
// the feed no longer names is left.
func (s *Store) noteHub(origin string, h models.Hub, now int64) error {
	all, err := subscriptions(s.db, "WHERE origin = ? AND leaving = 0", origin)
	if err != nil {
		return err
	}
	known := false
	for _, x := range all {
		if x.Hub == h {
			known = true
			continue
		}
		if err := s.leaveHub(x, now); err != nil {
			return err
		}
	}
	if known || h == (models.Hub{}) || !h.Valid() {
		return nil
	}
	var number int
	if _, err := s.db.One("SELECT count(*) FROM hub", nil, sqldb.Into(&number)); err != nil || number >= mostSubscriptions {
		return err
	}
	return s.keepSubscription(Subscription{Callback: randomHex(16), Origin: origin, Hub: h, Secret: randomHex(32), Due: now})
}

// randomHex returns random bytes in hex.
func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// leaveHub has a hub forget a subscription, in the transaction under way. One that no hub knows is removed at once.
func (s *Store) leaveHub(x Subscription, now int64) error {
	if x.Until == 0 && x.Asked == 0 {
		return s.db.Exec("DELETE FROM hub WHERE callback = ?", x.Callback)
	}
	x.Leaving, x.Asked, x.Due, x.Error = true, 0, now, ""
	return s.keepSubscription(x)
}

// leaveHubs leaves the hubs of an origin that is removed, in the transaction under way.
func (s *Store) leaveHubs(origin string, now int64) error {
	all, err := subscriptions(s.db, "WHERE origin = ? AND leaving = 0", origin)
	if err != nil {
		return err
	}
	for _, x := range all {
		if err := s.leaveHub(x, now); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) keepSubscription(x Subscription) error {
	return s.db.Exec(`INSERT INTO hub (callback, origin, hub, topic, secret, leaving, asked, until, due, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (callback) DO UPDATE SET origin = excluded.origin, hub = excluded.hub,
		topic = excluded.topic, secret = excluded.secret, leaving = excluded.leaving, asked = excluded.asked, until = excluded.until,
		due = excluded.due, error = excluded.error`,
		x.Callback, x.Origin, x.URL, x.Topic, x.Secret, x.Leaving, x.Asked, x.Until, x.Due, wording.Storable(x.Error))
}

// DueSubscriptions lists at most n subscriptions whose next request is due, the one that waits longest first.
func (s *Store) DueSubscriptions(ctx context.Context, now time.Time, n int) (all []Subscription, err error) {
	err = s.file.Read(ctx, "due subscriptions", func(c *sqldb.Conn) error {
		all, err = subscriptions(c, "WHERE due <= ? ORDER BY due LIMIT ?", now.Unix(), n)
		return err
	})
	return all, err
}

// Subscription returns the subscription with a callback. It fails with fault.ErrNotFound if there is none.
func (s *Store) Subscription(ctx context.Context, callback string) (x Subscription, err error) {
	err = s.file.Read(ctx, "subscription", func(c *sqldb.Conn) error {
		x, err = subscriptionOf(c, callback)
		return err
	})
	return x, err
}

func subscriptionOf(c *sqldb.Conn, callback string) (Subscription, error) {
	all, err := subscriptions(c, "WHERE callback = ?", callback)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("callback of a hub: %w", fault.ErrNotFound)
	}
	if err != nil {
		return Subscription{}, err
	}
	return all[0], nil
}

// EditSubscription changes a subscription in one transaction, or removes it if change returns false, and returns it
// as it is then. It fails with fault.ErrNotFound if there is none.
func (s *Store) EditSubscription(ctx context.Context, callback string, change func(*Subscription) (keep bool)) (x Subscription, err error) {
	err = s.write(ctx, "subscription", func() error {
		if x, err = subscriptionOf(s.db, callback); err != nil {
			return err
		}
		if change(&x) {
			return s.keepSubscription(x)
		}
		return s.db.Exec("DELETE FROM hub WHERE callback = ?", callback)
	})
	return x, err
}

// subscriptionFor returns the subscription of an origin; nil if it has none.
func (s *Store) subscriptionFor(origin string) (*Subscription, error) {
	all, err := subscriptions(s.db, "WHERE origin = ? AND leaving = 0", origin)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}
