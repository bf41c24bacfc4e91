package realm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/fault"
	"leasehold/shared/pgrealm"
	"leasehold/shared/space/journal/postgres"
)

const (
	// beat is how often a member gives a sign of life, and present the time without one after which it is not listed.
	beat    = time.Second
	present = 10 * beat
	// forgotten is the time without a sign of life after which the row of a member is removed.
	forgotten = 24 * time.Hour
)

// Member is a coordinator of a realm.
type Member struct {
	Name    string    // the same after a restart
	Gates   []string  // addresses at which clients reach its gate, host:port
	API     string    // URL of its API
	Version string    // of the program
	Format  int       // the newest format of a realm that the program reads
	Since   time.Time // when its process joined the realm
}

// Joined is a member that this process has put into the list.
type Joined struct {
	realm    *Realm
	name     string
	instance string
}

// Join puts a member into the list, in place of an earlier process of that name. If that one still gives signs of life,
// it fails with fault.ErrConflict. It fails with fault.ErrInvalid if the realm has a format that this program does not
// read. The journal of the realm must have been opened before.
func (r *Realm) Join(ctx context.Context, m Member) (*Joined, error) {
	ctx, done := r.limited(ctx, longTime)
	defer done()
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	j := &Joined{realm: r, name: m.Name, instance: hex.EncodeToString(id[:])}
	if err := r.requireFree(ctx, m.Name); err != nil {
		return nil, err
	}
	err := r.change(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO member (name, instance, gate, api, version, format, since, seen) VALUES ($1, $2, $3, $4, $5, $6, now(), now())
			ON CONFLICT (name) DO UPDATE SET instance = $2, gate = $3, api = $4, version = $5, format = $6, since = now(), seen = now()`,
			m.Name, j.instance, strings.Join(m.Gates, ","), m.API, m.Version, m.Format)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM member WHERE seen < now() - make_interval(secs => $1)`, forgotten.Seconds())
		}
		if err != nil {
			return err
		}
		format, err := formatOf(ctx, tx) // after the row is there, so that FinishUpgrade sees it or has ended
		if err != nil {
			return err
		}
		return postgres.CheckFormat(format)
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// requireFree fails with fault.ErrConflict if another process of that name gives signs of life: it looks twice, because
// one that was killed may have given its last one a moment ago.
func (r *Realm) requireFree(ctx context.Context, name string) error {
	var seen [2]time.Time
	for i := range seen {
		if i > 0 {
			select {
			case <-time.After(2 * beat):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		var recent bool
		err := r.pool.QueryRow(ctx, `SELECT seen, seen > now() - make_interval(secs => $2) FROM member WHERE name = $1`, name, present.Seconds()).Scan(&seen[i], &recent)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !recent {
			return nil
		}
		if err != nil {
			return r.failed(err)
		}
	}
	if seen[0].Equal(seen[1]) {
		return nil
	}
	return fmt.Errorf("realm %s has a member %s that lives: %w: each coordinator needs a data folder or a machine name of its own", r.Name, name, fault.ErrConflict)
}

// Run gives signs of life until ctx ends, and then takes the member off the list. It waits while the database is away.
func (j *Joined) Run(ctx context.Context, log *slog.Logger) {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	away, told := false, "" // the SQLSTATE of the latest warning
	for {
		select {
		case <-ctx.Done():
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), beat)
			defer cancel()
			_, _ = j.realm.pool.Exec(leaving, `DELETE FROM member WHERE name = $1 AND instance = $2`, j.name, j.instance) // else it is not listed for long
			return
		case <-ticks.C:
		}
		renewed, err := j.renew(ctx)
		if err == nil && !renewed {
			err = errReplaced
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && (!away || pgrealm.Code(err) != told):
			log.Warn("this member cannot renew its row in the list of the realm's members", "error", pgrealm.Unavailable(err))
		case err == nil && away:
			log.Warn("this member renews its row in the list of the realm's members again")
		}
		away, told = err != nil, pgrealm.Code(err)
	}
}

// renew gives a sign of life. It returns false if the row is another process's now.
func (j *Joined) renew(ctx context.Context) (renewed bool, err error) {
	ctx, done := j.realm.limited(ctx, shortTime)
	defer done()
	tag, err := j.realm.pool.Exec(ctx, `UPDATE member SET seen = now() WHERE name = $1 AND instance = $2`, j.name, j.instance)
	return tag.RowsAffected() > 0, err
}

// errReplaced is the error of a member whose row another process has.
var errReplaced = fmt.Errorf("another process has its name: %w", fault.ErrConflict)

// Members returns the members that give signs of life, by name. A sign ahead of the clock is from before that was set
// back, and a member that lives gives another one within a second.
func (r *Realm) Members(ctx context.Context) (all []Member, err error) {
	ctx, done := r.limited(ctx, shortTime)
	defer done()
	if all, err = membersOf(ctx, r.pool); err != nil {
		return nil, r.failed(err)
	}
	return all, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func membersOf(ctx context.Context, q querier) ([]Member, error) {
	rows, err := q.Query(ctx, `SELECT name, gate, api, version, format, since FROM member
		WHERE seen BETWEEN now() - make_interval(secs => $1) AND now() + make_interval(secs => $1) ORDER BY name`, present.Seconds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		var gates string
		err = row.Scan(&m.Name, &gates, &m.API, &m.Version, &m.Format, &m.Since)
		m.Gates = strings.Split(gates, ",")
		return m, err
	})
}
