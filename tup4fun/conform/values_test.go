package conform_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/conform"
)

// granted is an event on a lease without its number.
func granted(operation, procedure, lease, subject string, ref int) string {
	return fmt.Sprintf(`"clock":1,"process":"m-1","role":"m","operation":%q,"procedure":%q,"space":"lease",`+
		`"tuple":"(\"lease\", \"%s\", \"m-1\", \"%s\", \"\", 5, 1)","lease":%q,"ref":%d,"result":"ok"`, operation, procedure, lease, subject, lease, ref)
}

// begun are the first lines of a log of session m-1.
var begun = []string{
	`"clock":0,"process":"","operation":"reload","space":"","result":"ok"`,
	`"clock":1,"process":"m-1","role":"m","operation":"begin","space":"","result":"ok"`,
}

// numbered returns a log of lines that have no numbers.
func numbered(lines ...string) string {
	var log strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&log, `{"seq":%d,%s}`+"\n", i+1, line)
	}
	return log.String()
}

// judgedBy returns the report of a model of the system about a log.
func judgedBy(t *testing.T, model, log string, o conform.Options) *conform.Report {
	t.Helper()
	c, err := conform.LoadProtocol(model, o)
	require.NoError(t, err)
	r, err := c.Check(t.Context(), "t.jsonl", strings.NewReader(log))
	require.NoError(t, err)
	return r
}

func TestAnItemIsNotLeasedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	first, second := granted("put", "lease.grant", "l1", "s", 1), granted("put", "lease.grant", "l2", "s", 2)
	r := judgedBy(t, "lease", numbered(append(begun, first, second)...), conform.Options{})
	require.Equal(t, conform.Violates, r.Outcome)
	require.Equal(t, `tuple 1 has the same values (unique ("lease", _, _, subject, parts, _, _))`, r.Violation.Why)
	r = judgedBy(t, "lease", numbered(append(begun, first, granted("take", "lease.revoke", "l1", "s", 1), second)...), conform.Options{})
	require.Equal(t, conform.Conforms, r.Outcome)
}

func TestALeaseKeepsItsItem(t *testing.T) {
	t.Parallel()
	r := judgedBy(t, "lease", numbered(append(begun, granted("put", "lease.grant", "l1", "s", 1), granted("replace", "lease.extend", "l1", "other", 1))...), conform.Options{})
	require.Equal(t, conform.Violates, r.Outcome)
	require.Contains(t, r.Violation.Why, "no rule of lease.map covers this event")

	// It also keeps it over a reload.
	restored := strings.Replace(granted("restore", "", "l1", "other", 1), `"process":"m-1","role":"m"`, `"process":""`, 1)
	r = judgedBy(t, "lease", numbered(append(begun, granted("put", "lease.grant", "l1", "s", 1), begun[0], restored)...), conform.Options{})
	require.Equal(t, conform.Violates, r.Outcome)
	require.Equal(t, `subject is "other", and was "s" in lease l1`, r.Violation.Why)
}

func TestACompleteLogLeavesNothingOver(t *testing.T) {
	t.Parallel()
	log := append(begun, granted("put", "lease.grant", "l1", "s", 1))
	require.Equal(t, conform.Conforms, judgedBy(t, "lease", numbered(log...), conform.Options{}).Outcome)
	r := judgedBy(t, "lease", numbered(log...), conform.Options{Complete: true})
	require.Equal(t, conform.Violates, r.Outcome)
	require.Equal(t, "the log ends, but Lease still holds a tuple", r.Violation.Why)
	require.Equal(t, 3, r.Violation.Line)
	log = append(log, granted("take", "lease.revoke", "l1", "s", 1))
	require.Equal(t, conform.Conforms, judgedBy(t, "lease", numbered(log...), conform.Options{Complete: true}).Outcome)
}

func TestAHoldDoesNotEndEarly(t *testing.T) {
	t.Parallel()
	put := strings.Replace(granted("put", "lease.grant", "l1", "s", 1), `"clock":1`, `"clock":1,"due":9`, 1)
	for clock, says := range map[int]string{8: "the log contradicts itself: the time of tuple 1 ends at 8ns, 1ns early", 9: ""} {
		expire := strings.NewReplacer(`"clock":1,"process":"m-1","role":"m"`, fmt.Sprintf(`"clock":%d,"process":""`, clock), `"result":"ok"`, `"result":"due"`).Replace(granted("expire", "lease.expire", "l1", "s", 1))
		take := strings.Replace(granted("take", "lease.expire", "l1", "s", 1), `"clock":1,"process":"m-1","role":"m"`, fmt.Sprintf(`"clock":%d,"process":""`, clock), 1)
		r := judgedBy(t, "lease", numbered(append(begun, put, expire, take)...), conform.Options{})
		if says == "" {
			require.Equal(t, conform.Conforms, r.Outcome, "%+v", r.Violation)
		} else {
			require.ErrorContains(t, errorOf(r), says)
		}
	}
	// Version 0.1 did not tell when holds end.
	untimed := strings.Replace(put, `,"due":9`, "", 1)
	expire := strings.NewReplacer(`"process":"m-1","role":"m"`, `"process":""`, `"result":"ok"`, `"result":"due"`).Replace(granted("expire", "lease.expire", "l1", "s", 1))
	require.Equal(t, conform.Conforms, judgedBy(t, "lease", numbered(append(begun, untimed, expire)...), conform.Options{}).Outcome)
}
