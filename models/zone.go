package models

import (
	"errors"
	"fmt"
	"sync"
	"time"
	_ "time/tzdata" // the zones, for systems that have none, such as a scratch image or Windows
)

// ErrNoZone is the error of a time zone that does not exist. It tells what LoadZone accepts.
var ErrNoZone = errors.New(ZoneRule)

// ZoneRule is the end of an error about a time zone: what LoadZone accepts.
const ZoneRule = "want a name of the IANA time zone database, such as Europe/Berlin, or UTC"

// zones keeps the zones that LoadZone has read, because reading one again takes a file. Only names that exist are
// kept, about 600.
var zones sync.Map

// LoadZone returns a time zone by its name; the empty name is UTC. It refuses "Local", because that depends on the
// machine. The error is ErrNoZone.
func LoadZone(name string) (*time.Location, error) {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("zone %.64q: %w", name, ErrNoZone)
	}
	zones.Store(name, zone)
	return zone, nil
}

// OnWall returns what a clock on the wall shows at t, as if it showed UTC.
func OnWall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// Instant returns the first time at which clocks in a zone show what wall shows, or at which
// they are set forward past it.
func Instant(wall time.Time, zone *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	begin, end := t.ZoneBounds()
	switch shown := OnWall(t); {
	case shown.After(wall): // no clock shows wall, and t is after the change
		return begin
	case shown.Before(wall): // no clock shows wall, and t is before the change
		return end
	case begin.IsZero(): // clocks were never changed before t
		return t
	}
	_, offset := t.Zone()
	_, before := begin.Add(-1).Zone() // the offset before the last change
	if earlier := t.Add(time.Duration(offset-before) * time.Second); before > offset && earlier.Before(begin) {
		return earlier // clocks were set back, and showed wall before that too
	}
	return t
}
