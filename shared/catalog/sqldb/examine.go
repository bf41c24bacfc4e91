package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// Check finds damage in the rows of a schema that the database itself accepts.
type Check struct {
	// Name is what the damage is in: "findings".
	Name string
	// Query gives the rows to look at.
	Query string
	// Only is the driver that the check is for, SQLite or PostgreSQL; empty: both.
	Only string
	// Damage describes what is wrong with a row; "" if nothing is. Without it each row that Query gives is
	// damaged, and its only column describes it.
	Damage func(Row) (string, error)
}

// MostDamage is how many lines Examine lists at most.
const MostDamage = 100

// Examine runs checks for a driver, SQLite or PostgreSQL, each in its own transaction. classify adds kinds of package fault to errors. A
// check that fails because the database is damaged is damage, and the others go on.
func Examine(ctx context.Context, conn *sql.Conn, driver string, checks []Check, classify func(error) error) (damage []string, err error) {
	for _, check := range checks {
		if check.Only != "" && check.Only != driver {
			continue
		}
		err := check.run(ctx, conn, func(text string) {
			if len(damage) < MostDamage {
				damage = append(damage, check.Name+": "+text)
			}
		})
		switch err = classify(err); {
		case ctx.Err() != nil:
			return damage, context.Cause(ctx)
		case errors.Is(err, fault.ErrCorrupt):
			damage = append(damage, check.Name+": "+err.Error())
		case err != nil:
			return damage, fmt.Errorf("%s: %w", check.Name, err)
		}
	}
	return damage, nil
}

// run calls report for each damaged row.
func (c Check) run(ctx context.Context, conn *sql.Conn, report func(string)) error {
	rows, err := conn.QueryContext(ctx, c.Query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if c.Damage != nil {
			text, err = c.Damage(rows)
		} else {
			err = rows.Scan(&text)
		}
		if err != nil {
			return err
		}
		if text != "" {
			report(text)
		}
	}
	return rows.Err()
}
