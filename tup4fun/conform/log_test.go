package conform_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// lockMap and lockModel describe one lock per instance, held by sessions.
const (
	lockMap = `instance name; const Users = 2;
on put lock ("free", name) -> Lock.put(1);
on take lock ("free", name) by User(process) -> Lock.get(1);
ignore any lock ("free", _) in lock.end|lock.stop;
on restore lock ("free", name) -> Lock.put(1);`
	lockModel = `const Users = 1, Lock = (R, 1, {}), taken = 0
---
par proc Owner = Lock.put(1)
[] Users * proc User(i) = loop taken < 5 -> atomic { Lock.get(1); taken := taken + i }; Lock.put(1) pool
rap`
)

func judged(t testing.TB, log string, o conform.Options) (*conform.Report, error) {
	t.Helper()
	m, err := conform.ParseMap("lock.map", lockMap)
	require.NoError(t, err)
	c, err := conform.New(compiled(t, "lock.tup", lockModel, m.Constants), m, o)
	require.NoError(t, err)
	return c.Check(t.Context(), "t.jsonl", strings.NewReader(log))
}

const (
	reload = `{"seq":1,"clock":0,"process":"","operation":"reload","space":"","result":"ok"}` + "\n"
	begin  = `{"seq":2,"clock":1,"process":"u-1","role":"u","operation":"begin","space":"","result":"ok"}` + "\n"
	put    = `{"seq":3,"clock":1,"process":"u-1","role":"u","operation":"put","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"}` + "\n"
	take   = `{"seq":4,"clock":2,"process":"u-1","role":"u","operation":"take","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"}` + "\n"
)

func TestALogThatIsNoneIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ log, says string }{
		"empty":        {"", "it is empty"},
		"no JSON":      {reload + "milk\n" + put, "line 2"},
		"a gap":        {reload + begin + take, "line 3: not a log of a coordinator (docs/trace.md): seq 4 follows seq 2: there is a gap, or lines are out of order"},
		"no beginning": {begin + put, "want a reload first"},
		"too long":     {reload + strings.Repeat("x", 17<<20), "it has more than 16777216 bytes"},
	} {
		_, err := judged(t, c.log, conform.Options{})
		require.ErrorIs(t, err, conform.ErrNoLog, name)
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestATornLastLineIsLeftOut(t *testing.T) {
	t.Parallel()
	whole := reload + begin + put + take
	for end := len(reload); end <= len(whole); end++ {
		r, err := judged(t, whole[:end], conform.Options{})
		require.NoError(t, err)
		if strings.Contains(whole[:end], "free") && !r.Torn {
			require.Equal(t, conform.Conforms, r.Outcome, whole[:end])
		}
		require.NotEqual(t, conform.Violates, r.Outcome)
		ends := end == len(whole) || whole[end] == '\n' || whole[end-1] == '\n'
		require.Equal(t, !ends, r.Torn, whole[:end])
	}
}

func TestWhatContradictsItselfIsAViolation(t *testing.T) {
	t.Parallel()
	for says, change := range map[string][2]string{
		"the clock goes back":                 {`"seq":4,"clock":2`, `"seq":4,"clock":0`},
		"the role of":                         {`"role":"u","operation":"take"`, `"role":"v","operation":"take"`},
		`"u-2" does something`:                {`"process":"u-1","role":"u","operation":"take"`, `"process":"u-2","role":"u","operation":"take"`},
		"ref 7 is not in lock here":           {`"ref":1,"result":"ok"}` + "\n$", `"ref":7,"result":"ok"}` + "\n"},
		"names no tuple":                      {`"ref":1,"result":"ok"}` + "\n$", `"result":"ok"}` + "\n"},
		"tuple 1 is in lock, not in key":      {`"take","space":"lock"`, `"take","space":"key"`},
		"the result of take cannot be":        {`"ref":1,"result":"ok"}` + "\n$", `"ref":1,"result":"due"}` + "\n"},
		"it must be held or hidden for done":  {`"take"`, `"done"`},
		"a procedure restores a tuple":        {`"operation":"take"`, `"procedure":"p","operation":"restore"`},
		"a session holds a tuple that is":     {`"operation":"take"`, `"operation":"restore"`},
		"no expiry calls it here":             {`"process":"u-1","role":"u","operation":"take"`, `"process":"","procedure":"lock.end","operation":"take"`},
		"comes back, but no session holds it": {`"take"`, `"back"`},
		"but it is in lock already":           {`"take"`, `"put"`},
		"begins, but it is live already":      {`"operation":"take","space":"lock","tuple":"(\"free\", \"a\")","ref":1`, `"operation":"begin","space":""`},
		`tuple 1 is ("free", "a"), not`:       {`"take","space":"lock","tuple":"(\"free\", \"a\")"`, `"take","space":"lock","tuple":"(\"free\", \"b\")"`},
		`names the lease "", not "l"`:         {`"ref":1,"result":"ok"}` + "\n$", `"ref":1,"result":"ok","lease":"l"}` + "\n"},
	} {
		log := reload + begin + put + take + "$"
		changed := strings.TrimSuffix(strings.Replace(log, change[0], change[1], 1), "$")
		require.NotEqual(t, strings.TrimSuffix(log, "$"), changed, says)
		r, err := judged(t, changed, conform.Options{})
		require.NoError(t, err)
		require.Equal(t, conform.Violates, r.Outcome, says)
		require.ErrorContains(t, errorOf(r), says)
	}
}

func TestTheNumberOfATupleIsNew(t *testing.T) {
	t.Parallel()
	again := strings.NewReplacer(`"seq":3`, `"seq":5`, `"clock":1`, `"clock":3`).Replace(put)
	r, err := judged(t, reload+begin+put+take+again, conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Violates, r.Outcome)
	require.EqualError(t, errorOf(r), "the log contradicts itself: ref 1 is not new: there was 1")
}

// TestOnlyAnExpiryRunsAProcedureWithoutASession checks logs in which an expiry frees a lock with the procedure lock.end.
func TestOnlyAnExpiryRunsAProcedureWithoutASession(t *testing.T) {
	t.Parallel()
	expire := func(procedure string) string {
		return `"clock":5,"process":"","procedure":"` + procedure + `","operation":"expire","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"due"`
	}
	effect := func(clock int, procedure string) string {
		return fmt.Sprintf(`"clock":%d,"process":"","procedure":%q,"operation":"replace","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"`, clock, procedure)
	}
	const other = `"clock":5,"process":"u-1","role":"u","operation":"query","space":"lock","tuple":"(\"free\", \"a\")","ref":1,"result":"ok"`
	for name, c := range map[string]struct {
		lines []string
		want  conform.Outcome
	}{
		"its own":           {[]string{expire("lock.end"), effect(5, "lock.end")}, conform.Conforms},
		"that of a call":    {[]string{expire("lock.end"), effect(5, "lock.help")}, conform.Incomplete},
		"later":             {[]string{expire("lock.end"), effect(6, "lock.end")}, conform.Violates},
		"that of another":   {[]string{expire("lock.end"), expire("lock.stop"), effect(5, "lock.end")}, conform.Violates},
		"after a session's": {[]string{expire("lock.end"), other, effect(5, "lock.end")}, conform.Violates},
	} {
		log := reload + begin + put
		for i, line := range c.lines {
			log += fmt.Sprintf(`{"seq":%d,%s}`+"\n", i+4, line)
		}
		r, err := judged(t, log, conform.Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Outcome, "%s: %+v", name, r.Violation)
		if c.want == conform.Violates {
			require.ErrorContains(t, errorOf(r), "lock.end runs without a session, but no expiry calls it here", name)
		}
	}
}

func TestLinesThatChangedPlacesAreNamed(t *testing.T) {
	t.Parallel()
	other := strings.Replace(put, `"ref":1`, `"ref":2`, 1)
	swapped := reload + begin + other +
		strings.Replace(take, `"clock":2`, `"clock":1`, 1) +
		strings.Replace(put, `"seq":3`, `"seq":5`, 1)
	r, err := judged(t, swapped, conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Violates, r.Outcome)
	require.Equal(t, 4, r.Violation.Line)
	require.EqualError(t, errorOf(r), "the log contradicts itself: ref 1 is not in lock here; line 5 puts it")
	require.Empty(t, r.Violation.Last, "the line before is of another tuple")
}

type why string

func (w why) Error() string { return string(w) }

func errorOf(r *conform.Report) error { return why(r.Violation.Why) }

func TestAnOperationOnASpaceThatDoesNotExistChangesNothing(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"count", "receive", "notify", "next", "unnotify"} {
		line := `{"seq":5,"clock":2,"process":"u-1","role":"u","operation":"` + operation + `","space":"nowhere","result":"no such space"}` + "\n"
		r, err := judged(t, reload+begin+put+take+line, conform.Options{})
		require.NoError(t, err)
		require.Equal(t, conform.Conforms, r.Outcome, "%s: %+v", operation, r.Violation)
	}
}

func TestAfterAReloadTheCheckGoesOnFromWhatTheLogSays(t *testing.T) {
	t.Parallel()
	again := `{"seq":5,"clock":2,"process":"","operation":"reload","space":"","result":"ok"}` + "\n"
	restored := `{"seq":6,"clock":2,"process":"","operation":"restore","space":"lock","tuple":"(\"free\", \"a\")","ref":2,"result":"ok"}` + "\n"
	another := strings.Replace(strings.Replace(restored, `"seq":6`, `"seq":7`, 1), `"ref":2`, `"ref":3`, 1)

	r, err := judged(t, reload+begin+put+take+again+restored, conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "the crash kept a put from the log")
	require.Equal(t, 2, r.Reloads)

	r, err = judged(t, reload+begin+put+take+again+restored+another, conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Violates, r.Outcome)
	require.ErrorContains(t, errorOf(r), "after the reload at line 5 the spaces hold tuples that the model cannot have there")
}

func TestATupleFromBeforeTheLogFillsItsSpace(t *testing.T) {
	t.Parallel()
	const model = `const Users = 1, Lock = (R, 1, {}), made = 0
---
par proc Owner = atomic { if made = 0 -> made := 1; Lock.put(1) fi }
[] proc Earlier = atomic { if made = 0 & count(Lock) = 1 -> made := 1 fi }
[] Users * proc User(i) = loop true -> Lock.get(1) pool
rap`
	m, err := conform.ParseMap("lock.map", strings.Replace(lockMap, "const Users", "earlier Earlier; const Users", 1))
	require.NoError(t, err)
	c, err := conform.New(compiled(t, "lock.tup", model, m.Constants), m, conform.Options{})
	require.NoError(t, err)
	restored := strings.NewReplacer(`"seq":3,"clock":1,"process":"u-1","role":"u"`, `"seq":2,"clock":0,"process":""`, `"put"`, `"restore"`).Replace(put)
	later := strings.NewReplacer(`"seq":2`, `"seq":3`).Replace(begin)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(reload+restored+later+take))
	require.NoError(t, err)
	require.Equal(t, conform.Conforms, r.Outcome, "%s %+v", r.Reason, r.Violation)
}

func TestALogOfAnotherSystemIsNotSaidToConform(t *testing.T) {
	t.Parallel()
	other, err := os.ReadFile("../../examples/mergesort/mergesort.jsonl")
	require.NoError(t, err)
	r, err := judged(t, string(other), conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Incomplete, r.Outcome)
	require.Equal(t, "no rule of lock.map covers an event of the log: is it the log of another system?", r.Reason)
}

func FuzzCheck(f *testing.F) {
	f.Add(reload + begin + put + take)
	f.Add(reload + begin + put + take[:len(take)/2])
	f.Add(strings.ReplaceAll(reload+begin+put, `(\"free\", \"a\")`, `(\"free\", (1, [2]), int 1, true, \"`))
	f.Fuzz(func(t *testing.T, log string) {
		r, err := judged(t, log, conform.Options{})
		if err != nil {
			require.ErrorIs(t, err, conform.ErrNoLog)
			return
		}
		require.NoError(t, r.Text(io.Discard))
	})
}

func TestOverItsBoundsACheckIsIncomplete(t *testing.T) {
	t.Parallel()
	r, err := judged(t, reload+begin+put+take, conform.Options{States: 1})
	require.NoError(t, err)
	require.Equal(t, conform.Incomplete, r.Outcome)
	require.Contains(t, r.Reason, "the bound on states of the model was reached")

	log := reload + begin + put + take
	for n := range 2 { // more sessions take the lock than the model has users
		user := fmt.Sprint("u-", n+2)
		lines := strings.NewReplacer("u-1", user, `"ref":1`, fmt.Sprint(`"ref":`, n+2), `"clock":1`, `"clock":3`, `"clock":2`, `"clock":3`,
			`"seq":2`, fmt.Sprint(`"seq":`, 3*n+5), `"seq":3`, fmt.Sprint(`"seq":`, 3*n+6), `"seq":4`, fmt.Sprint(`"seq":`, 3*n+7))
		log += lines.Replace(begin + put + take)
	}
	r, err = judged(t, log, conform.Options{})
	require.NoError(t, err)
	require.Equal(t, conform.Incomplete, r.Outcome)
	require.Contains(t, r.Reason, "the model has too few processes: u-3 is number 3 of User in name a, and lock.tup has 2")
}
