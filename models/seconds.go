package models

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds is a duration, such as a timeout, or a position in a recording, in seconds. JSON
// carries it as a plain number, which a time.Duration would be in nanoseconds.
type Seconds float64

// SecondsOf converts a duration.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration converts to a time.Duration, rounded to the nanosecond.
func (s Seconds) Duration() time.Duration {
	return time.Duration(math.Round(float64(s) * float64(time.Second)))
}

// String returns s as a decimal number, such as 0.5 or 2592000, with an exponent only from 10¹⁵ on.
func (s Seconds) String() string {
	if math.Abs(float64(s)) < 1e15 {
		return strconv.FormatFloat(float64(s), 'f', -1, 64)
	}
	return strconv.FormatFloat(float64(s), 'g', -1, 64)
}

// Clock prints s as m:ss.ss, the form in which people read a position in an
// episode, such as 12:34.56 or 0:07.30.
func (s Seconds) Clock() string {
	hundredths := int64(math.Round(float64(s) * 100))
	sign := ""
	if hundredths < 0 {
		sign, hundredths = "-", -hundredths
	}
	return fmt.Sprintf("%s%d:%02d.%02d", sign, hundredths/6000, hundredths/100%60, hundredths%100)
}
