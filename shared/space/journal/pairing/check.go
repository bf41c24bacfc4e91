package pairing

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
)

// Name is the name of a store, also as the value of --accept-missing.
type Name string

// The stores.
const (
	Database Name = "database"
	Journal  Name = "journal"
)

// other returns the other store of the pair.
func (n Name) other() Name {
	if n == Database {
		return Journal
	}
	return Database
}

// Kind is the defect of a store.
type Kind string

// The kinds. If a store is Foreign, it is unknown which of the two was exchanged.
const (
	IsMissing Kind = "missing"
	IsEmpty   Kind = "empty"
	IsOlder   Kind = "older"
	IsForeign Kind = "foreign"
)

// Mismatch is the error of two stores that are not a pair. errors.Is finds fault.ErrCorrupt in it.
type Mismatch struct {
	Store    Name // the missing, empty or older one; Database if it is Foreign
	Kind     Kind
	Database Found
	Journal  Found
}

// Is makes it a fault.ErrCorrupt.
func (m *Mismatch) Is(target error) bool { return target == fault.ErrCorrupt }

// Mixed is the error of a database whose file and log do not belong together, because one of them was exchanged.
// errors.Is finds fault.ErrCorrupt in it.
type Mixed struct{ File, Log Mark }

// Is makes it a fault.ErrCorrupt.
func (m *Mixed) Is(target error) bool { return target == fault.ErrCorrupt }

// Error names the mistake, and the option to go on without the log.
func (m *Mixed) Error() string {
	return fmt.Sprintf("the database (catalog.db) and its log (catalog.db-wal) are of different times: the file was last written %s, the log %s. "+
		"Put back the one that was exchanged, or restore a backup. To go on with the file as it was then, without what the log has: --accept-missing %s. The log is kept beside it under a new name",
		timeText(m.File.At), timeText(m.Log.At), Database)
}

// found returns what was found in a store.
func (m *Mismatch) found(n Name) Found {
	if n == Database {
		return m.Database
	}
	return m.Journal
}

// files are the names of the stores in a data folder, contents what they hold.
var (
	files    = map[Name]string{Database: "catalog.db", Journal: "journal"}
	contents = map[Name]string{
		Database: "origins, episodes, clips, findings, problems and the schedule of visits",
		Journal:  "waiting tasks, leases, results that are not in the catalog yet, dead letters and other tuples",
	}
)

func label(n Name) string { return fmt.Sprintf("the %s (%s)", n, files[n]) }

// Error names the mistake, the content that would be lost, and the option to go on. It is for the
// operator, who must choose.
func (m *Mismatch) Error() string {
	if m.Kind == IsForeign {
		return fmt.Sprintf("the database (catalog.db, instance %.8s, written %s) and the journal (journal, instance %.8s, written %s) belong to different data folders: "+
			"put back the one that was exchanged, or restore a backup. To go on with the database and a new, empty journal: --accept-missing journal; "+
			"to go on with the journal and a new, empty database: --accept-missing database. The other one is kept beside it under a new name",
			m.Database.Mark.Instance, timeText(m.Database.Mark.At), m.Journal.Mark.Instance, timeText(m.Journal.Mark.At))
	}
	other := m.found(m.Store.other()).Mark
	if m.Kind == IsOlder {
		return fmt.Sprintf("%s is older than %s: %s; the other was last written %s, when this one had %s. "+
			"What has changed since then would be lost (%s): put the newer one back, or restore a backup. To go on with the older one: --accept-missing %s",
			label(m.Store), label(m.Store.other()), age(m.found(m.Store).Mark), timeText(other.At), describe(other.Other), contents[m.Store], m.Store)
	}
	return fmt.Sprintf("%s is %s, but %s belongs to one that had %s at %s. This would be lost (%s): "+
		"put it back, or restore a backup. To go on with a new, empty %s: --accept-missing %s",
		label(m.Store), m.Kind, label(m.Store.other()), describe(other.Other), timeText(other.At), contents[m.Store], m.Store, m.Store)
}

// age returns how old a store is.
func age(m Mark) string {
	if m.Instance == "" {
		return "it has no instance id, so it is a copy from before its first start was complete, or it was repaired"
	}
	return "it was last written " + timeText(m.At)
}

// describe returns a description of content for an error, also if there is none.
func describe(content string) string {
	if content == "" {
		return "unknown content"
	}
	return content
}

// timeText is a time for people, in whole seconds.
func timeText(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

// Check returns a *Mismatch if two stores are not a pair. Two stores without a mark are a
// new pair. The counters may differ by a raise that was
// interrupted: the database is raised first, so it may be ahead, but the journal must have the
// last counter that the database has confirmed. A journal without a mark is accepted if the first
// raise was interrupted before it.
func Check(database, journal Found) error {
	inDatabase, inJournal := database.Mark, journal.Mark
	wrong := func(n Name, k Kind) error { return &Mismatch{n, k, database, journal} }
	switch {
	case inDatabase.Instance == "" && inJournal.Instance == "":
		return nil
	case inDatabase.Instance == "":
		return wrong(Database, unmarked(database.State))
	case inJournal.Instance == "" && inDatabase.Confirmed == 0 && journal.State == Present:
		return nil // the first raise was interrupted
	case inJournal.Instance == "":
		return wrong(Journal, unmarked(journal.State))
	case inDatabase.Instance != inJournal.Instance:
		return wrong(Database, IsForeign)
	case inDatabase.Counter < inJournal.Counter:
		return wrong(Database, IsOlder)
	case inJournal.Counter < inDatabase.Confirmed:
		return wrong(Journal, IsOlder)
	}
	return nil
}

// unmarked returns the defect of a store without a mark.
func unmarked(s State) Kind {
	switch s {
	case Missing:
		return IsMissing
	case Empty:
		return IsEmpty
	}
	return IsOlder
}
