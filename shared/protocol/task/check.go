package task

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
)

// Check refuses a task that could not be created at any time, with fault.ErrInvalid, fault.ErrTooLarge or, for
// models.ActionVisit, fault.ErrForbidden.
func (n New) Check() error {
	if err := checkNew(n.item()); err != nil {
		return err
	}
	switch {
	case n.OnConflict == "":
		return nil
	case n.OnConflict != KeepFirst && n.OnConflict != Replace:
		return fmt.Errorf("%w: on_conflict %.50q: want %s or %s", fault.ErrInvalid, n.OnConflict, KeepFirst, Replace)
	case n.UniqueKey == "":
		return fmt.Errorf("%w: on_conflict has no effect without unique_key", fault.ErrInvalid)
	}
	return nil
}

// checkAll refuses tasks that could not be created together at any time, with the errors of
// New.Check and sortByParents.
func checkAll(all []New) error {
	for _, n := range all {
		if err := n.Check(); err != nil {
			return err
		}
	}
	_, _, err := sortByParents(all)
	return err
}

// Bounds of a new task.
const (
	MaxCreate    = 1000 // tasks in one request
	MaxAttempts  = 1000 // that a task may demand
	maxNameBytes = 200  // of a unique key, a group, a tag and the name of a limit
	maxTags      = 16
	maxLimits    = 8
	MaxParents   = 64 // of a task
)

// checkNew refuses a task that no worker could do, or whose fields are not valid, as Check does.
func checkNew(i Item) error {
	switch {
	case !models.ValidID(i.Action):
		return fmt.Errorf("%w: action %.200q: %s", fault.ErrInvalid, i.Action, models.IDRule)
	case i.Action == models.ActionVisit:
		return fmt.Errorf("%w: action %s: only the coordinator has origins visited; want another action", fault.ErrForbidden, i.Action)
	case !validTimeout(i.Timeout):
		return fmt.Errorf("%w: timeout %v: want more than 0 and at most %v seconds", fault.ErrInvalid, i.Timeout, models.SecondsOf(lease.MaxTTL))
	case len(i.Data)+len(i.Subject)+len(lease.JoinParts(i.Parts)) > maxData:
		return fmt.Errorf("%w: data, subject and parts of more than %d bytes", fault.ErrTooLarge, maxData)
	}
	if err := validData(i.Data); err != nil {
		return err
	}
	return checkOptions(i.TaskOptions)
}

func validTimeout(s models.Seconds) bool { return s > 0 && s <= models.SecondsOf(lease.MaxTTL) }

// checkOptions refuses options that are out of range, unknown, without effect, or name something
// twice, with fault.ErrInvalid. The comparisons of floats are negated, because NaN must not pass.
func checkOptions(o models.TaskOptions) error {
	switch {
	case o.MaxAttempts < 0 || o.MaxAttempts > MaxAttempts:
		return fmt.Errorf("%w: max_attempts %d: want 1 to %d", fault.ErrInvalid, o.MaxAttempts, MaxAttempts)
	case !(o.Backoff >= 0 && o.Backoff <= models.SecondsOf(lease.MaxTTL)):
		return fmt.Errorf("%w: backoff %v: want 0 to %v seconds", fault.ErrInvalid, o.Backoff, models.SecondsOf(lease.MaxTTL))
	case !(o.ResultTTL >= 0 && o.ResultTTL <= models.SecondsOf(lease.MaxTTL)):
		return fmt.Errorf("%w: result_ttl %v: want 0 to %v seconds", fault.ErrInvalid, o.ResultTTL, models.SecondsOf(lease.MaxTTL))
	case o.ResultTuple && o.ResultTTL == 0:
		return fmt.Errorf("%w: result_tuple needs a result_ttl, because nothing else removes the tuple", fault.ErrInvalid)
	case o.ResultTTL > 0 && !o.ResultTuple:
		return fmt.Errorf("%w: result_ttl has no effect without result_tuple", fault.ErrInvalid)
	case o.OnFailure != "" && o.OnFailure != models.FailWithParent && o.OnFailure != models.RunAnyway:
		return fmt.Errorf("%w: on_failure %.50q: want %s or %s", fault.ErrInvalid, o.OnFailure, models.FailWithParent, models.RunAnyway)
	case !slices.Contains([]string{"", models.WaitForLimit, models.CancelRunning, models.Drop}, o.OnLimit):
		return fmt.Errorf("%w: on_limit %.50q: want %s, %s or %s", fault.ErrInvalid, o.OnLimit, models.WaitForLimit, models.CancelRunning, models.Drop)
	case o.OnFailure != "" && len(o.After) == 0:
		return fmt.Errorf("%w: on_failure has no effect without after", fault.ErrInvalid)
	case o.OnLimit != "" && len(o.Limits) == 0:
		return fmt.Errorf("%w: on_limit has no effect without limits", fault.ErrInvalid)
	}
	for _, list := range []struct {
		name string
		all  []string
		most int
	}{{"tags", o.Tags, maxTags}, {"limits", o.Limits, maxLimits}, {"after", o.After, MaxParents}} {
		if len(list.all) > list.most {
			return fmt.Errorf("%w: %s has %d names, at most %d", fault.ErrInvalid, list.name, len(list.all), list.most)
		}
		for n, v := range list.all {
			if err := checkName(list.name, v); err != nil {
				return err
			}
			if slices.Contains(list.all[:n], v) {
				return fmt.Errorf("%w: %s has %q twice", fault.ErrInvalid, list.name, v)
			}
		}
	}
	for _, field := range []struct{ name, value string }{{"unique_key", o.UniqueKey}, {"group", o.Group}, {"trace", o.Trace}} {
		if field.value != "" {
			if err := checkName(field.name, field.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkName refuses a name that would not fit into a label, or not on a line. what is the name of its field.
func checkName(what, v string) error {
	if v == "" || len(v) > maxNameBytes || !utf8.ValidString(v) || slices.ContainsFunc([]rune(v), unicode.IsControl) {
		return fmt.Errorf("%w: %s %.250q: want 1 to %d bytes of UTF-8 without control characters", fault.ErrInvalid, what, v, maxNameBytes)
	}
	return nil
}

// checkTimes refuses times ten years or more from now with fault.ErrConflict, because a time in
// the wrong unit is that far away, and a task that would expire before a worker may have it.
func checkTimes(o models.TaskOptions, now time.Time) error {
	for _, field := range timesOf(o) {
		if !field.at.IsZero() && math.Abs(field.at.Sub(now).Hours()) >= MaxDelay.Hours() {
			return field.tooFar()
		}
	}
	if !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.NotBefore) {
		return fmt.Errorf("%w: expires_at %s: want a time after not_before, %s", fault.ErrConflict, o.ExpiresAt.Format(time.RFC3339), o.NotBefore.Format(time.RFC3339))
	}
	return nil
}

// checkEncodable refuses times that a record cannot keep with fault.ErrConflict. A record keeps the
// nanoseconds since 1970 in 64 bits: the year 2611 would become 2026. It keeps 0 for a task without such a time.
func checkEncodable(o models.TaskOptions) error {
	for _, field := range timesOf(o) {
		nanos := field.at.UnixNano()
		if !field.at.IsZero() && (nanos == 0 || !time.Unix(0, nanos).Equal(field.at)) {
			return field.tooFar()
		}
	}
	return nil
}

// timeField is a time field of a new task.
type timeField struct {
	name string
	at   time.Time
}

func timesOf(o models.TaskOptions) [2]timeField {
	return [...]timeField{{"not_before", o.NotBefore}, {"expires_at", o.ExpiresAt}}
}

func (f timeField) tooFar() error {
	return fmt.Errorf("%w: %s %s: want a time within ten years", fault.ErrConflict, f.name, f.at.Format(time.RFC3339))
}
