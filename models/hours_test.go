package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
)

func TestHoursAreKeptWithTheirZone(t *testing.T) {
	t.Parallel()
	for text, want := range map[models.Hours]models.Hours{
		"22:00-06:00": "22:00-06:00@UTC", "08:30-24:00": "08:30-00:00@UTC", "00:00-23:59@Europe/Berlin": "00:00-23:59@Europe/Berlin",
		"any": "", "22:00-06:00@UTC": "22:00-06:00@UTC",
	} {
		got, err := models.ParseHours(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		if got != "" {
			again, err := models.ParseHours(got)
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
	}
}

func TestBadHoursAreRefusedWithWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range map[models.Hours]string{
		"": models.HoursRule, "22": models.HoursRule, "22-06": models.HoursRule, "22:00": models.HoursRule, "25:00-06:00": models.HoursRule,
		"24:00-06:00": models.HoursRule, "22:60-06:00": models.HoursRule, "+2:00-06:00": models.HoursRule, "22:00-24:01": models.HoursRule,
		"22:00-06:00@": models.HoursRule, "22:00-06:00 ": models.HoursRule, "22:00-22:00": "same minute", "00:00-24:00": "same minute",
		"22:00-06:00@Berlin": models.ZoneRule, "22:00-06:00@Local": models.ZoneRule, "22:00-06:00@../../etc/passwd": models.ZoneRule,
	} {
		_, err := models.ParseHours(text)
		require.ErrorContains(t, err, want, text)
	}
}

// The clocks of Berlin are set forward from 02:00 to 03:00 on 2026-03-29 (01:00 UTC), and back from 03:00 to 02:00
// on 2026-10-25 (01:00 UTC).
func TestHoursFollowTheClocksOfTheirZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hours, at string
		open      bool
		until     string
	}{
		{"22:00-06:00", "2026-03-01T12:00:00Z", false, "2026-03-01T22:00:00Z"},
		{"22:00-06:00", "2026-03-01T22:00:00Z", true, "2026-03-02T06:00:00Z"},
		{"22:00-06:00", "2026-03-01T05:59:59Z", true, "2026-03-01T06:00:00Z"},
		{"22:00-06:00", "2026-03-01T06:00:00Z", false, "2026-03-01T22:00:00Z"},
		{"09:00-17:00", "2026-03-01T17:00:00Z", false, "2026-03-02T09:00:00Z"},
		{"22:00-06:00@Europe/Berlin", "2026-03-28T20:00:00Z", false, "2026-03-28T21:00:00Z"},
		{"22:00-06:00@Europe/Berlin", "2026-03-28T22:00:00Z", true, "2026-03-29T04:00:00Z"},  // seven hours long
		{"22:00-06:00@Europe/Berlin", "2026-10-24T20:00:00Z", true, "2026-10-25T05:00:00Z"},  // nine hours long
		{"02:30-05:00@Europe/Berlin", "2026-03-28T23:00:00Z", false, "2026-03-29T01:00:00Z"}, // from when the clocks are set
		{"02:00-02:30@Europe/Berlin", "2026-03-29T00:00:00Z", false, "2026-03-29T01:00:00Z"}, // no clock shows them
		{"02:00-02:30@Europe/Berlin", "2026-03-29T01:00:00Z", true, "2026-03-29T01:30:00Z"},  // as long as on other days
		{"02:00-02:30@Europe/Berlin", "2026-03-29T01:30:00Z", false, "2026-03-30T00:00:00Z"}, // once a day
		{"01:00-02:30@Europe/Berlin", "2026-03-29T00:30:00Z", true, "2026-03-29T01:00:00Z"},  // until the clocks are set
		{"02:00-02:30@Europe/Berlin", "2026-10-24T23:00:00Z", false, "2026-10-25T00:00:00Z"}, // the first time that clocks show them
		{"02:00-02:30@Europe/Berlin", "2026-10-25T00:30:00Z", false, "2026-10-26T01:00:00Z"}, // and not the second time
		{"02:30-03:30@Europe/Berlin", "2026-10-25T00:30:00Z", true, "2026-10-25T02:30:00Z"},  // an hour longer
		{"18:00-02:00@America/Sao_Paulo", "2026-03-01T20:00:00Z", false, "2026-03-01T21:00:00Z"},
		{"00:00-01:00@Asia/Kathmandu", "2026-03-01T18:15:00Z", true, "2026-03-01T19:15:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		open, until := models.Hours(c.hours).At(at)
		require.Equal(t, c.open, open, "%s at %s", c.hours, c.at)
		require.Equal(t, c.until, until.Format(time.RFC3339), "%s at %s", c.hours, c.at)
	}
	open, until := models.Hours("").At(time.Now())
	require.True(t, open)
	require.Zero(t, until)
}

func TestHoursBeginWithinADayAndAnHourAndNeverInThePast(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.IntRange(0, 24*60-1)
		from, to := minute.Draw(t, "from"), minute.Draw(t, "to")
		if from == to {
			return
		}
		clock := func(m int) string { return time.Unix(int64(60*m), 0).UTC().Format("15:04") }
		zone := rapid.SampledFrom([]string{"Europe/Berlin", "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"}).Draw(t, "zone")
		h, err := models.ParseHours(models.Hours(clock(from) + "-" + clock(to) + "@" + zone))
		require.NoError(t, err)
		at := time.Unix(begin+rapid.Int64Range(0, 2*366*86400).Draw(t, "at"), 0)
		open, until := h.At(at)
		require.True(t, until.After(at))
		limit := 25 * time.Hour
		require.LessOrEqual(t, until.Sub(at), limit)
		if open {
			stillOpen, _ := h.At(until.Add(-time.Second))
			require.True(t, stillOpen)
			return
		}
		opened, closes := h.At(until)
		require.True(t, opened)
		require.True(t, closes.After(until))
	})
}
