package sqldb

// BeforeCommit has f called before the transaction under way commits, unless it has
// failed; an error of f makes it fail.
func (c *Conn) BeforeCommit(f func() error) { c.last = append(c.last, f) }

// OnEnd has f called when the transaction under way ends, before any other caller writes;
// committed reports whether it is known to be kept. It lets a caller keep in memory what the
// database holds.
func (c *Conn) OnEnd(f func(committed bool)) { c.ended = append(c.ended, f) }

// Failed returns the error of the first statement that failed in the latest transaction; nil if none did.
func (c *Conn) Failed() error { return c.failed }

// InTransaction runs do for a driver so that all it writes is kept, or nothing; begin is the statement that begins the
// transaction. One that changed no row is rolled back. Before the commit InTransaction calls the functions of
// BeforeCommit, and after it, or after the rollback, those of OnEnd.
func (c *Conn) InTransaction(begin string, do func(*Conn) error) error {
	c.failed = nil
	if err := c.Exec(begin); err != nil {
		return err
	}
	c.changed = false
	committed := false
	defer func() { // also when do panics: the connection must be usable after it
		if !committed {
			_ = c.Script("ROLLBACK") // fails if the database has rolled back itself
		}
		ended := c.ended
		c.last, c.ended = nil, nil
		for _, f := range ended {
			f(committed)
		}
	}()
	if err := do(c); err != nil {
		return err
	}
	for _, f := range c.last {
		if err := f(); err != nil {
			return err
		}
	}
	if c.failed != nil { // PostgreSQL would answer COMMIT without an error, and roll back
		return c.failed
	}
	end := "COMMIT"
	if !c.changed { // PostgreSQL would wait for the disk, because a guard locks a row
		end = "ROLLBACK"
	}
	if err := c.Exec(end); err != nil {
		return err
	}
	committed = true
	c.endCountdown() // of FailInFirst
	return nil
}
