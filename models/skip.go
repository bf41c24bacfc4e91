package models

import (
	"slices"
	"time"
)

// Skip is when a feed asks not to be read, in UTC (skipHours and skipDays of RSS).
type Skip struct {
	Hours []int    `json:"hours,omitempty" doc:"hours of the day, from 0 to 23" schema:"maxItems: 24, items: {minimum: 0, maximum: 23}"`
	Days  []string `json:"days,omitempty" doc:"Monday to Sunday" schema:"maxItems: 7, items: {enum: [Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday]}"`
}

// Skipped is a Skip as a set: bit h is hour h, and bit 24+d is day d of the week, from Sunday. Zero skips nothing.
type Skipped uint32

// The bits of all hours and of all days.
const (
	allHours Skipped = 1<<24 - 1
	allDays  Skipped = (1<<7 - 1) << 24
)

// Valid reports whether all hours and days exist.
func (s Skip) Valid() bool {
	return len(s.Hours) <= 24 && len(s.Days) <= 7 && !slices.ContainsFunc(s.Hours, func(h int) bool { return h < 0 || h > 23 }) &&
		!slices.ContainsFunc(s.Days, func(d string) bool { return weekday(d) < 0 })
}

// weekday returns the number of a day, from Sunday as 0; -1 for another name.
func weekday(name string) int {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if day.String() == name {
			return int(day)
		}
	}
	return -1
}

// Set returns s as a set, without hours and days that do not exist. A feed that skips all hours or all days would
// never be read; then its hours or its days are left out, and ignored is true.
func (s Skip) Set() (set Skipped, ignored bool) {
	for _, h := range s.Hours {
		if h >= 0 && h < 24 {
			set |= 1 << h
		}
	}
	for _, d := range s.Days {
		if day := weekday(d); day >= 0 {
			set |= 1 << (24 + day)
		}
	}
	for _, all := range []Skipped{allHours, allDays} {
		if set&all == all {
			set, ignored = set&^all, true
		}
	}
	return set, ignored
}

// Skip lists the hours and days of a set, ascending from 0 and from Sunday.
func (s Skipped) Skip() (listed Skip) {
	for h := range 24 {
		if s&(1<<h) != 0 {
			listed.Hours = append(listed.Hours, h)
		}
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if s&(1<<(24+day)) != 0 {
			listed.Days = append(listed.Days, day.String())
		}
	}
	return listed
}

// Has reports whether the hour or the day of t is in the set.
func (s Skipped) Has(t time.Time) bool {
	t = t.UTC()
	return s&(1<<t.Hour()|1<<(24+t.Weekday())) != 0
}
