package database

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
)

// sameOrigins examines what the catalog and the schedule have in common.
var sameOrigins = sqldb.Check{Name: "schedule", Query: "SELECT s.id, s.kind, s.uri, coalesce(o.kind, ''), coalesce(o.uri, '') FROM schedule s LEFT JOIN origin o ON o.id = s.id", Damage: differs}

// pairChecks are the checks of a database file.
var pairChecks = []sqldb.Check{sameOrigins,
	{Name: "mark", Query: "SELECT 'the mark has a value out of its range' FROM pair WHERE counter < 0 OR confirmed < 0 OR in_file < 0 OR in_file > counter"},
}

// differs checks that an origin of the schedule is the same in the catalog. The schedule has its URI without passwords.
func differs(row sqldb.Row) (string, error) {
	var id, kind, uri, catalogKind, catalogURI string
	err := row.Scan(&id, &kind, &uri, &catalogKind, &catalogURI)
	if kind != catalogKind || uri != models.Redact(catalogURI) {
		return fmt.Sprintf("origin %s is not in the catalog, or differs there", id), err
	}
	return "", err
}

const (
	// nightHour is the local hour at which the database is examined, when few use it.
	nightHour = 3
	// examineTime is how long an examination may take: one of a database of 10 GB takes some minutes.
	examineTime = time.Hour
)

// Examination is the result of reading all of the database.
type Examination struct {
	At     time.Time // its end; zero: none has ended
	Took   time.Duration
	Damage []string // empty: none was found
	Err    error    // why it could not be finished
}

// Examine lists the damage in the database, as sqldb.Database.Examine of its driver does.
func (d *Database) Examine(ctx context.Context) ([]string, error) { return d.db.Examine(ctx) }

// Examine lists the damage in the database at path, which no process has open. It changes nothing.
func Examine(ctx context.Context, path string) ([]string, error) {
	return sqlfile.ExamineAlone(ctx, path, format())
}

// LastExamination returns the result of the latest examination of RunExaminations.
func (d *Database) LastExamination() Examination {
	if e := d.examined.Load(); e != nil {
		return *e
	}
	return Examination{}
}

// RunExaminations examines the database each night, and logs the result, until ctx ends.
func (d *Database) RunExaminations(ctx context.Context, log *slog.Logger) {
	for {
		wait := time.NewTimer(time.Until(nextNight(time.Now())))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		if e := d.examine(ctx); ctx.Err() == nil {
			d.examined.Store(&e)
			e.log(log)
		}
	}
}

// examine examines the database once.
func (d *Database) examine(ctx context.Context) Examination {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	began := time.Now()
	damage, err := d.Examine(ctx)
	return Examination{At: time.Now(), Took: time.Since(began), Damage: damage, Err: err}
}

func (e Examination) log(log *slog.Logger) {
	switch {
	case len(e.Damage) > 0:
		log.Error("the database is damaged; restore a backup, and check the disk", "damage", e.Damage, "took", e.Took)
	case e.Err != nil:
		log.Warn("the nightly check of the database could not be finished", "error", e.Err)
	default:
		log.Info("the nightly check of the database found no damage", "took", e.Took)
	}
}

// nextNight returns the first time after now at which it is nightHour.
func nextNight(now time.Time) time.Time {
	night := time.Date(now.Year(), now.Month(), now.Day(), nightHour, 0, 0, 0, now.Location())
	if !night.After(now) {
		night = time.Date(now.Year(), now.Month(), now.Day()+1, nightHour, 0, 0, 0, now.Location())
	}
	return night
}
