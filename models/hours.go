package models

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Hours are the hours of a day in which an origin may be visited, such as 22:00-06:00@Europe/Berlin: the first
// minute, the first minute after them, which may be on the next day, and a time zone. Empty: it may be visited at
// any time. ParseHours returns the form that is kept, which always names the zone.
type Hours string

// AnyHours takes the hours of an origin back.
const AnyHours Hours = "any"

// ErrNoHours is the error of hours that begin and end at the same minute.
var ErrNoHours = errors.New("they begin and end at the same minute; " + HoursRule)

// HoursRule is the end of an error about hours: what ParseHours accepts.
const HoursRule = "want FROM-TO such as 22:00-06:00, with @ZONE such as @Europe/Berlin unless it is UTC; or any, for no limit"

// ParseHours checks hours as a user writes them, and returns the form that is kept; AnyHours becomes empty.
// The error is ErrNoZone or ErrNoHours if the text has the form of hours.
func ParseHours(text Hours) (Hours, error) {
	if text == AnyHours {
		return "", nil
	}
	w, err := text.window()
	if err != nil {
		return "", fmt.Errorf("hours %.100q: %w", string(text), err)
	}
	return Hours(fmt.Sprintf("%02d:%02d-%02d:%02d@%s", w.from/60, w.from%60, w.to/60, w.to%60, w.zone)), nil
}

// A window is the same hours of each day.
type window struct {
	from, to int // minutes of the day; to is on the next day if it is not above from
	zone     *time.Location
}

func (h Hours) window() (w window, err error) {
	span, name, hasZone := strings.Cut(string(h), "@")
	from, to, ok := strings.Cut(span, "-")
	w.from, w.to = minuteOf(from), minuteOf(to)
	if !ok || w.from < 0 || w.from == 24*60 || w.to < 0 || hasZone && name == "" {
		return w, fmt.Errorf("%s", HoursRule)
	}
	w.to %= 24 * 60
	if w.from == w.to {
		return w, ErrNoHours
	}
	w.zone, err = LoadZone(name)
	return w, err
}

// minuteOf reads a time of the day such as 06:00, from 00:00 to 24:00; -1 if it is none.
func minuteOf(text string) int {
	if len(text) != 5 || text[2] != ':' {
		return -1
	}
	hour, errHour := strconv.ParseUint(text[:2], 10, 8)
	minute, errMinute := strconv.ParseUint(text[3:], 10, 8)
	if errHour != nil || errMinute != nil || hour > 24 || minute > 59 || hour == 24 && minute > 0 {
		return -1
	}
	return int(60*hour + minute)
}

// At reports whether a time is within the hours, and returns when that changes next. Without hours, or if they
// cannot be read, all times are, and the change is the zero time.
//
// The hours begin and end when clocks in the zone first show so. A time that no clock shows, because clocks are set
// forward, is when they are. If that leaves nothing of the hours, they last as long as on other days. So the hours
// begin once on each day.
func (h Hours) At(t time.Time) (open bool, until time.Time) {
	w, err := h.window()
	if h == "" || err != nil {
		return true, time.Time{}
	}
	length := time.Duration((w.to-w.from+24*60)%(24*60)) * time.Minute
	today := OnWall(t.In(w.zone))
	for day := -2; ; day++ { // hours of an earlier day may end today
		from := time.Date(today.Year(), today.Month(), today.Day()+day, 0, w.from, 0, 0, time.UTC)
		opens, closes := Instant(from, w.zone), Instant(from.Add(length), w.zone)
		if !closes.After(opens) {
			closes = opens.Add(length)
		}
		switch {
		case opens.After(t):
			return false, opens.UTC()
		case closes.After(t):
			return true, closes.UTC()
		}
	}
}
