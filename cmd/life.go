package cmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// life is a flag for how long something lasts: 24h, 90d.
type life struct{ time.Duration }

// Set implements pflag.Value: it reads a duration, or a number of days. It must be positive.
func (l *life) Set(text string) error {
	d, err := parseSpan(text)
	if err != nil || d <= 0 || d > 100*365*24*time.Hour {
		return fmt.Errorf("want a time such as 24h or 90d")
	}
	l.Duration = d
	return nil
}

func (l *life) String() string {
	if l.Duration == 0 {
		return ""
	}
	return l.Duration.String()
}

// Type implements pflag.Value.
func (l *life) Type() string { return "duration" }

// parseSpan reads a duration, such as 90m, or a number of days, such as 90d.
func parseSpan(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if !isDays {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * 24 * time.Hour, err
}
