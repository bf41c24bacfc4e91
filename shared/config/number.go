package config

import (
	"fmt"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// count is a whole number.
type count struct {
	to       *int
	min, max int
	auto     func() int // returns the value of "auto"; nil if auto is not accepted
}

func (n count) set(text string) error {
	if n.auto != nil && text == "auto" {
		*n.to = n.auto()
		return nil
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < n.min || i > n.max {
		return errNotAccepted
	}
	*n.to = i
	return nil
}

// accepts describes what set reads, for an error.
func (n count) accepts() string {
	s := fmt.Sprintf("a whole number from %d to %d", n.min, n.max)
	if n.auto != nil {
		s += ", or auto"
	}
	return s
}
func (n count) kind() string   { return "number" }
func (n count) String() string { return strconv.Itoa(*n.to) }

// cores returns how many goroutines may run at once. It respects a container's limit.
func cores() int { return runtime.GOMAXPROCS(0) }

// span is a length of time.
type span struct {
	to       *time.Duration
	min, max time.Duration
}

// set reads a duration within the limits, such as 1h30m. Other text is errNotAccepted.
func (d span) set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v < d.min || v > d.max {
		return errNotAccepted
	}
	*d.to = v
	return nil
}
func (d span) accepts() string {
	return fmt.Sprintf("a duration from %s to %s with its unit, such as 90s, 10m or 1h30m", shortSpan(d.min), shortSpan(d.max))
}
func (d span) kind() string   { return "duration" }
func (d span) String() string { return shortSpan(*d.to) }

// shortSpan writes 1h0m0s as 1h.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// size is a number of bytes.
type size struct {
	to       *int64
	min, max int64
	auto     func() int64 // returns the value of "auto"; nil if auto is not accepted
}

var (
	sizeForm  = regexp.MustCompile(`^([0-9]+)\s*([A-Za-z]*)$`)
	sizeUnits = map[string]int64{
		"": 1, "b": 1,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	}
)

// set reads a number with a unit of sizeUnits, whose letters may have either case, or auto where that is
// possible. It refuses a number that would overflow.
func (b size) set(text string) error {
	if b.auto != nil && text == "auto" {
		*b.to = b.auto()
		return nil
	}
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return errNotAccepted
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit, known := sizeUnits[strings.ToLower(m[2])]
	if err != nil || !known || n > math.MaxInt64/unit {
		return errNotAccepted
	}
	n *= unit
	if n < b.min || n > b.max {
		return errNotAccepted
	}
	*b.to = n
	return nil
}

// accepts describes what set reads, with the limits unless there is no upper one.
func (b size) accepts() string {
	s := "a number of bytes"
	if b.max < math.MaxInt64 {
		s += fmt.Sprintf(" from %s to %s", shortSize(b.min), shortSize(b.max))
	}
	s += ", such as 500MB or 2GiB"
	if b.auto != nil {
		s += ", or auto"
	}
	return s
}
func (b size) kind() string   { return "bytes" }
func (b size) String() string { return shortSize(*b.to) }

// shortSize writes 2147483648 as 2GiB, and a number in bytes unless it is a multiple of a unit.
func shortSize(n int64) string {
	for _, u := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if f := sizeUnits[strings.ToLower(u)]; n >= f && n%f == 0 {
			return fmt.Sprintf("%d%s", n/f, u)
		}
	}
	return strconv.FormatInt(n, 10)
}

// fraction is a number above 0 and below 1, or up to and including 1.
type fraction struct {
	to  *float64
	one bool // whether 1 is accepted
}

// set reads a number above 0 and below 1; 1 itself only if f.one. Other text is errNotAccepted. The
// comparison refuses NaN.
func (f fraction) set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && (v < 1 || f.one && v == 1)) {
		return errNotAccepted
	}
	*f.to = v
	return nil
}

// accepts describes what set reads, for an error.
func (f fraction) accepts() string {
	if f.one {
		return "a number above 0 and at most 1, such as 0.4"
	}
	return "a number above 0 and below 1, such as 0.6"
}
func (f fraction) kind() string   { return "fraction" }
func (f fraction) String() string { return strconv.FormatFloat(*f.to, 'g', -1, 64) }
