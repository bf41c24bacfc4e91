package attention

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestADismissedItemComesBackAfterADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := New(Config{})
		lasting := []models.Attention{{Cause: models.CauseDead, About: "resize", Count: 2, Remedy: seen()}}
		w.publish(lasting, time.Now())
		require.NoError(t, w.Dismiss(w.Attention().Items[0].ID))
		require.Empty(t, w.Attention().Items)
		<-time.After(dismissed - time.Second)
		w.publish(lasting, time.Now())
		require.Empty(t, w.Attention().Items)
		<-time.After(time.Second)
		w.publish(lasting, time.Now())
		require.Len(t, w.Attention().Items, 1)
		require.NoError(t, w.Dismiss(w.Attention().Items[0].ID))
		w.publish(nil, time.Now())
		w.publish(lasting, time.Now())
		require.Len(t, w.Attention().Items, 1, "the cause ended, and came again")
	})
}

func TestHostileTextsAreOneBoundedLine(t *testing.T) {
	t.Parallel()
	w := New(Config{})
	hostile := "a\x00b\x1b[31m\r\n<script>\u202e\u2028\xff https://bob:pw@example.org/ " + strings.Repeat("é", 5_000)
	w.publish([]models.Attention{{
		Cause: models.CauseDead, About: hostile, Text: hostile, Detail: hostile, Example: hostile, Command: "run " + word(hostile), Remedy: &models.Remedy{Label: hostile, Operation: "x"},
	}}, time.Now())
	i := w.Attention().Items[0]
	for _, text := range []string{i.About, i.Text, i.Detail, i.Example, i.Command, i.Remedy.Label} {
		require.True(t, utf8.ValidString(text))
		require.LessOrEqual(t, len(text), maxDetail)
		require.NotContains(t, text, "bob")
		require.NotContains(t, text, "pw@")
		require.NotContains(t, text, "\u202e")
		require.False(t, strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u2028' }), "%q", text)
	}
	require.True(t, strings.HasPrefix(i.Command, "run 'a b [31m <script>"), i.Command)
	require.Equal(t, `'it'\''s'`, word("it's"))
}

func TestAPauseOfTheProcessIsNoted(t *testing.T) {
	t.Parallel()
	w, now := New(Config{}), time.Now()
	w.noteSleep(now, now.Add(3*time.Second), interval)
	require.Zero(t, w.slept)
	w.noteSleep(now, now.Add(31*time.Second), interval)
	require.Equal(t, 30*time.Second, w.slept)
}

func TestErrorsOfOneCauseAreEqualWhenMasked(t *testing.T) {
	t.Parallel()
	for text, masked := range map[string]string{
		"GET https://example.org/a?id=12: 503 after 1.5 s":                "GET URL N after N s",
		"open /var/lib/leasehold/x.wav: no such file":                     "open PATH: no such file",
		`C:\data\x\y.wav is locked`:                                       "PATH is locked",
		"task 0198f3a2-77aa-7def-8123-0123456789ab timed out after 600 s": "task ID timed out after N s",
		"":                           "no reason given",
		"exit status 2":              "exit status N",
		strings.Repeat("é", 100_000): clean(strings.Repeat("é", 100_000), maxText),
	} {
		require.Equal(t, masked, mask(text))
	}
}

func TestDurationsAreShort(t *testing.T) {
	t.Parallel()
	for d, text := range map[time.Duration]string{1500 * time.Microsecond: "2ms", 100 * time.Second: "1m40s", 2 * time.Minute: "2m", 10 * time.Minute: "10m", 3 * time.Hour: "3h", 61 * time.Minute: "1h1m"} {
		require.Equal(t, text, short(d))
	}
}
