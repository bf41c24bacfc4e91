package schedule

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
	"leasehold/shared/fault"
)

func timingOf(t testing.TB, s models.Schedule) timing {
	t.Helper()
	w, err := newTiming(s)
	require.NoError(t, err)
	return w
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return v
}

// In Berlin clocks were set forward from 02:00 to 03:00 on 2026-03-29 at 01:00 UTC, and back from 03:00
// to 02:00 on 2026-10-25 at 01:00 UTC. On Lord Howe they are set by half an hour.
func TestCronFollowsTheClocksOfItsZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cron, zone, after string
		want              []string
	}{
		"UTC":                                 {"30 3 * * *", "", "2026-11-22T03:30:00Z", []string{"2026-11-23T03:30:00Z"}},
		"in winter":                           {"0 3 * * *", "Europe/Berlin", "2026-01-10T12:00:00Z", []string{"2026-01-11T02:00:00Z"}},
		"in summer":                           {"0 3 * * *", "Europe/Berlin", "2026-07-10T12:00:00Z", []string{"2026-07-11T01:00:00Z"}},
		"a time that does not exist":          {"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		"two times that do not exist":         {"15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:15:00Z"}},
		"a time that exists twice":            {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		"from within the second of two hours": {"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", []string{"2026-10-26T01:30:00Z"}},
		"each hour, which exists twice":       {"0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", []string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"}},
		"each half hour, two are missing":     {"*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
		"half an hour that does not exist":    {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		"half an hour that exists twice":      {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", []string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
		"days of the week":                    {"0 9 * * MON-FRI", "America/New_York", "2026-11-20T15:00:00Z", []string{"2026-11-23T14:00:00Z"}},
		"a day that exists in leap years":     {"0 0 29 2 *", "", "2026-11-22T00:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		"day 7 is Sunday":                     {"0 9 * * 7", "", "2026-11-20T15:00:00Z", []string{"2026-11-22T09:00:00Z", "2026-11-29T09:00:00Z"}},
		"a range up to day 7":                 {"0 9 * * 6-7", "", "2026-11-20T15:00:00Z", []string{"2026-11-21T09:00:00Z", "2026-11-22T09:00:00Z", "2026-11-28T09:00:00Z"}},
		"a range with a name up to day 7":     {"0 9 * * fri-7/2", "", "2026-11-20T15:00:00Z", []string{"2026-11-22T09:00:00Z", "2026-11-27T09:00:00Z"}},
		"all days by number":                  {"0 9 * * 0-7", "", "2026-11-20T15:00:00Z", []string{"2026-11-21T09:00:00Z", "2026-11-22T09:00:00Z"}},
		"@daily":                              {"@daily", "Asia/Kolkata", "2026-11-22T00:00:00Z", []string{"2026-11-22T18:30:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := timingOf(t, models.Schedule{Cron: c.cron, Zone: c.zone})
			now := at(t, c.after)
			for _, want := range c.want {
				now = w.after(time.Time{}, now)
				require.Equal(t, want, now.Format(time.RFC3339))
			}
		})
	}
}

func TestWhatIsNoTimingIsRefusedWithWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for text, s := range map[string]models.Schedule{
		"either a cron expression or an interval": {},
		"either a cron":                       {Cron: "@daily", Every: 5},
		"want minute, hour, day of the month": {Cron: "nightly"},
		"above maximum (59)":                  {Cron: "60 * * * *"},
		"expected exactly 5 fields":           {Cron: "0 0 3 * * *"},
		"above maximum (6): 8":                {Cron: "0 0 * * 8"},
		"above maximum (6): 7-8":              {Cron: "0 0 * * 7-8"},
		`"L" is not a number`:                 {Cron: "0 0 L * *"},
		"step 90 of the minute: want 1 to 60": {Cron: "*/90 * * * *"},
		"step 25 of the hour: want 1 to 24":   {Cron: "0 1,2-9/25 * * *"},
		"name the time zone apart":            {Cron: "TZ=Europe/Berlin 0 3 * * *"},
		"name the time zone":                  {Cron: "TZ="},
		"such as --every 5m":                  {Cron: "@every 5m"},
		"an interval has no time zone":        {Every: 60, Zone: "Europe/Berlin"},
		"interval of -5 s: want 1 to":         {Every: -5},
		"interval of 0.5 s":                   {Every: 0.5},
		"interval of 1e+300 s":                {Every: 1e300},
	} {
		_, err := newTiming(s)
		require.ErrorIs(t, err, fault.ErrInvalid, "%+v", s)
		require.ErrorContains(t, err, text)
	}
}

func TestAnUnknownZoneIsNotFound(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Berlyn", "Local", "../etc/passwd"} {
		_, err := newTiming(models.Schedule{Cron: "@daily", Zone: zone})
		require.ErrorIs(t, err, fault.ErrNotFound)
		require.ErrorContains(t, err, fmt.Sprintf("zone %q: %s", zone, models.ZoneRule))
	}
}

// All text that the pattern of the API's description accepts is read, or contradicts itself.
func TestTheCronPatternIsThatOfTheParser(t *testing.T) {
	t.Parallel()
	expressions := rapid.StringMatching(CronPattern)
	rapid.Check(t, func(t *rapid.T) {
		text := expressions.Draw(t, "cron")
		if len(text) > MaxCron {
			return
		}
		_, err := parseCron(text, "")
		require.False(t, err != nil && !errors.Is(err, fault.ErrConflict), "%q: %v", text, err)
	})
	for _, text := range []string{"30 3 * * 1-5", "*/15 0,12 1 JAN-mar sun,7", " 0\t? ? ? fri-7/2 ", "@daily"} {
		require.True(t, IsCron(text), text)
	}
}

func TestTheLastDueTimeIsTheOneBeforeTheNext(t *testing.T) {
	t.Parallel()
	schedules := []models.Schedule{
		{Cron: "*/7 * * * *", Zone: "Europe/Berlin"}, {Cron: "30 2 * * *", Zone: "Europe/Berlin"}, {Cron: "15,45 1-3 * * *", Zone: "Australia/Lord_Howe"},
		{Cron: "0 0 1 * *"}, {Every: 7}, {Every: 90061},
	}
	base := at(t, "2026-10-20T00:00:00Z")
	rapid.Check(t, func(t *rapid.T) {
		w, err := newTiming(rapid.SampledFrom(schedules).Draw(t, "schedule"))
		require.NoError(t, err)
		due := w.after(time.Time{}, base.Add(time.Duration(rapid.Int64Range(0, 10*86400).Draw(t, "due"))*time.Second))
		now := due.Add(time.Duration(rapid.Int64Range(0, 5000).Draw(t, "now")) * time.Second)
		want := due
		for next := w.after(due, due); !next.After(now); next = w.after(next, next) {
			want = next
		}
		require.Equal(t, want.UTC(), w.last(due, now).UTC())
		require.True(t, w.after(due, now).After(now))
	})
}

func FuzzCron(f *testing.F) {
	for _, text := range []string{"*/5 * * * *", "@weekly", "0 0 29 2 *", "TZ= ", "1-2-3 * * * *", "*/0 * * * *", "? ? ? ? ?", "@every 0s", "99999999999999999999 * * * *"} {
		f.Add(text, "Europe/Berlin")
	}
	now := time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text, zone string) {
		w, err := newTiming(models.Schedule{Cron: text, Zone: zone})
		if err != nil {
			require.True(t, errors.Is(err, fault.ErrInvalid) || errors.Is(err, fault.ErrConflict) || errors.Is(err, fault.ErrNotFound), err)
			return
		}
		if next := w.after(time.Time{}, now); !next.IsZero() {
			require.True(t, next.After(now))
			require.Equal(t, next.UTC(), w.last(next, next).UTC())
		}
	})
}
