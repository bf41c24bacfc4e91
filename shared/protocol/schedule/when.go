package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"leasehold/models"
	"leasehold/shared/fault"
)

// timing computes due times. The zero time means that there is none.
type timing interface {
	// after returns the first due time after t. due is an earlier due time, or zero.
	after(due, t time.Time) time.Time
	// last returns the last due time up to and including t, and due if there is none between.
	last(due, t time.Time) time.Time
}

// Bounds of an interval.
const (
	minEvery = time.Second
	maxEvery = 366 * 24 * time.Hour
)

// newTiming reads when a schedule is due: by a cron expression in a zone, or after an interval of 1 second to 366
// days. It refuses both, neither, and an interval with a zone with fault.ErrInvalid, and fails as parseCron.
func newTiming(s models.Schedule) (timing, error) {
	switch {
	case (s.Cron == "") == (s.Every == 0):
		return nil, fmt.Errorf("%w: want either a cron expression or an interval of 1 second to 366 days", fault.ErrInvalid)
	case s.Cron != "":
		return parseCron(s.Cron, s.Zone)
	case s.Zone != "":
		return nil, fmt.Errorf("%w: zone %.64q: an interval has no time zone, only a cron expression has", fault.ErrInvalid, s.Zone)
	case math.IsNaN(float64(s.Every)), s.Every < models.SecondsOf(minEvery), s.Every > models.SecondsOf(maxEvery):
		return nil, fmt.Errorf("%w: interval of %v s: want 1 to %d seconds (366 days)", fault.ErrInvalid, float64(s.Every), int(maxEvery.Seconds()))
	}
	return interval(s.Every.Duration().Round(time.Millisecond)), nil
}

// interval is due again after each interval, counted from the due time before.
type interval time.Duration

// after returns the due time after t. Intervals count from due, or from t if there was none or it
// is in the future.
func (i interval) after(due, t time.Time) time.Time {
	if due.IsZero() || due.After(t) {
		return t.Add(time.Duration(i)).Truncate(time.Millisecond)
	}
	return i.last(due, t).Add(time.Duration(i))
}

func (i interval) last(due, t time.Time) time.Time {
	return due.Add(t.Sub(due) / time.Duration(i) * time.Duration(i))
}

// expression is a cron expression in a time zone.
type expression struct {
	fields *cron.SpecSchedule
	zone   *time.Location
	// everyHour means that the hour is not restricted. Then due times follow each other in
	// elapsed time even when the clocks change: an hour that comes twice has all of its due
	// times twice.
	everyHour bool
}

const wantCron = "want minute, hour, day of the month, month and day of the week, such as \"30 3 * * 1-5\", or @hourly, @daily, @weekly, @monthly or @yearly"

var cronParser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// parseCron reads a cron expression for a time zone; the empty zone is UTC. It refuses "Local", because that depends
// on the machine, and an expression with a zone or an interval in it. An expression due in every hour is computed in
// its zone, others in UTC (see expression). It fails with fault.ErrInvalid, with fault.ErrConflict for a range that
// begins after its end, and with fault.ErrNotFound for an unknown zone.
func parseCron(text, zone string) (timing, error) {
	switch {
	case len(text) > MaxCron:
		return nil, fmt.Errorf("%w: cron expression of %d bytes: want at most %d", fault.ErrInvalid, len(text), MaxCron)
	case strings.Contains(text, "="):
		return nil, fmt.Errorf("%w: cron expression %q: name the time zone apart from it; %s", fault.ErrInvalid, text, wantCron)
	case strings.HasPrefix(text, "@every"):
		return nil, fmt.Errorf("%w: cron expression %q: give an interval as every, such as --every 5m", fault.ErrInvalid, text)
	}
	if err := checkSteps(text); err != nil {
		return nil, err
	}
	parsed, err := cronParser.Parse(sundayIsZero(text))
	if err != nil && IsCron(text) {
		return nil, fmt.Errorf("%w: cron expression %q: %w", fault.ErrConflict, text, err)
	}
	if err != nil {
		if after, ok := strings.CutPrefix(err.Error(), "failed to parse int from "); ok { // and then an error of strconv
			word, _, _ := strings.Cut(after, ":")
			return nil, fmt.Errorf("%w: cron expression %q: %q is not a number; %s", fault.ErrInvalid, text, word, wantCron)
		}
		return nil, fmt.Errorf("%w: cron expression %q: %w; %s", fault.ErrInvalid, text, err, wantCron)
	}
	fields, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("%w: cron expression %q: %s", fault.ErrInvalid, text, wantCron)
	}
	x := expression{fields: fields, zone: time.UTC}
	if x.zone, err = models.LoadZone(zone); err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrNotFound, err)
	}
	const hours = 1<<24 - 1 // a bit for each hour of the day
	x.everyHour = fields.Hour&hours == hours
	x.fields.Location = time.UTC
	if x.everyHour {
		x.fields.Location = x.zone
	}
	return x, nil
}

// cronFields are the fields of a cron expression, with the number of values of each.
var cronFields = [...]struct {
	name   string
	values int
}{{"minute", 60}, {"hour", 24}, {"day of the month", 31}, {"month", 12}, {"day of the week", 7}}

// checkSteps refuses a step with which a field has one value only, as "*/90" of the minute: it is due once an hour,
// and not every 90 minutes. Text of another form is left to cronParser.
func checkSteps(text string) error {
	fields := strings.Fields(text)
	if len(fields) != len(cronFields) {
		return nil
	}
	for n, field := range fields {
		for member := range strings.SplitSeq(field, ",") {
			_, step, _ := strings.Cut(member, "/")
			if every, err := strconv.Atoi(step); err == nil && every > cronFields[n].values {
				return fmt.Errorf("%w: cron expression %q: step %d of the %s: want 1 to %d; for longer intervals use every",
					fault.ErrInvalid, text, every, cronFields[n].name, cronFields[n].values)
			}
		}
	}
	return nil
}

// sundayIsZero replaces day 7 of the week, which cronParser does not know, by 0. A range up to 7 becomes the list of
// its days, with its step. Text of another form is left to cronParser, which refuses it.
func sundayIsZero(text string) string {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return text
	}
	var days []string
	for member := range strings.SplitSeq(fields[4], ",") {
		span, step, stepped := strings.Cut(member, "/")
		first, last, isRange := strings.Cut(span, "-")
		from, every := dayOfWeek(first), 1
		if stepped {
			every, _ = strconv.Atoi(step)
		}
		switch {
		case member == "7":
			member = "0"
		case isRange && last == "7" && from >= 0 && every > 0:
			var within []string
			for day := from; day <= 7; day += every {
				within = append(within, strconv.Itoa(day%7))
			}
			member = strings.Join(within, ",")
		}
		days = append(days, member)
	}
	fields[4] = strings.Join(days, ",")
	return strings.Join(fields, " ")
}

// dayOfWeek returns the number of a day, from 0 to 7 or by name; -1 if it is none.
func dayOfWeek(text string) int {
	if at := slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, strings.ToLower(text)); at >= 0 {
		return at
	}
	if day, err := strconv.Atoi(text); err == nil && day >= 0 && day <= 7 {
		return day
	}
	return -1
}

// after returns the first due time after t. If the hour is restricted, the expression is
// matched against clocks on the wall: a time that does not exist, because clocks are set
// forward, is due when they are, and a time that exists twice is due the first time.
func (x expression) after(_, t time.Time) time.Time {
	if x.everyHour {
		return x.fields.Next(t.In(x.zone)).UTC()
	}
	for wall := models.OnWall(t.In(x.zone)); ; {
		wall = x.fields.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if due := models.Instant(wall, x.zone); due.After(t) {
			return due.UTC()
		}
	}
}

// last returns the last due time after due and not after t, or due if there is none. It bisects,
// because a schedule that was due each minute has half a million due times a year.
func (x expression) last(due, t time.Time) time.Time {
	from, to := due, t // a due time is after from and not after t, and none is after to and not after t
	if next := x.after(due, due); next.IsZero() || next.After(t) {
		return due
	}
	for to.Sub(from) > time.Second {
		middle := from.Add(to.Sub(from) / 2)
		if next := x.after(due, middle); next.IsZero() || next.After(t) {
			to = middle
		} else {
			from = middle
		}
	}
	return x.after(due, from)
}
