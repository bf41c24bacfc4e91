package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// kept are the logs that several tests need, by their names. The tests that use it are not parallel.
var kept = map[string][]byte{}

// keptLog returns the log with a name, which record makes at first.
func keptLog(name string, record func() []byte) []byte {
	if kept[name] == nil {
		kept[name] = record()
	}
	return kept[name]
}

// runLog returns the log of a run of the archive, with users beside it or without.
func runLog(t *testing.T, seed uint64, restarts, users bool) []byte {
	return keptLog(fmt.Sprint(seed, restarts, users), func() []byte {
		if users {
			return recordedWith(t, seed, 45*time.Minute, restarts, withUsers)
		}
		return recorded(t, seed, 90*time.Minute, restarts)
	})
}

// tourLog returns the log of a tour.
func tourLog(t *testing.T) []byte {
	return keptLog("tour", func() []byte { return toured(t) })
}

// allLogs returns one log of each kind.
func allLogs(t *testing.T) [][]byte {
	return [][]byte{tourLog(t), runLog(t, 0, false, true), runLog(t, 0, true, true), runLog(t, 1, true, false)}
}

// unlogged are the procedures that no log of these tests shows, each with the reason.
var unlogged = map[string]string{
	"browse.look": "reads", "task.counts": "reads", "task.limits": "reads", "task.list": "reads", "task.parents": "reads",
	"task.show": "reads", "task.showdead": "reads", "task.wait": "reads", "task.watch": "reads", "visit.room": "reads", "work.busy": "reads",
	"schedule.due": "reads", "task.overview": "reads", "task.actions": "reads", "task.suspects": "reads",
	"idempotency.call":   "calls another procedure, and changes the space idempotency, which no model describes",
	"idempotency.amend":  "changes the space idempotency, which no model describes",
	"idempotency.forget": "changes the space idempotency, which no model describes",
	"interop.claim":      "calls task.get", "interop.handback": "calls task.handback", "interop.report": "calls task.report",
	"transaction.run": "calls transaction.apply", "task.bulk": "calls task.requeue, task.discard or task.cancel",
	"status.log":         "changes the space log, which no model describes",
	"status.clock":       "writes only where the clock of a machine differs",
	"task.postponealert": "changes the space alert, which no model describes",
	"task.removealert":   "changes the space alert, which no model describes",
	"task.removealerts":  "changes the space alert, which no model describes",
}

// TestEachProcedureIsInALogThatConforms lists what each procedure of the coordinator did in all logs. Each log
// conforms, so each of these operations has a rule, or its space has no model.
func TestEachProcedureIsInALogThatConforms(t *testing.T) {
	did := map[string]map[string]bool{}
	for _, log := range allLogs(t) {
		requireConforms(t, log)
		require.NoError(t, trace.Read(bytes.NewReader(log), func(e trace.Event) error {
			if did[e.Procedure] == nil {
				did[e.Procedure] = map[string]bool{}
			}
			did[e.Procedure][strings.TrimSpace(e.Operation+" "+e.Space)] = true
			return nil
		}))
	}
	delete(did, "") // operations without a procedure
	registered := coordinator.Procedures(coordinator.Config{})
	for name := range registered {
		_, isUnlogged := unlogged[name]
		require.NotEqual(t, isUnlogged, did[name] != nil, "%s: want it in a log, or in unlogged with the reason", name)
	}
	for _, name := range slices.Sorted(maps.Keys(did)) {
		require.Contains(t, registered, name)
		t.Logf("%s: %s", name, strings.Join(slices.Sorted(maps.Keys(did[name])), ", "))
	}
	for name := range unlogged {
		require.Contains(t, registered, name)
	}
}

// TestAProcedureWithoutARuleIsNamed gives a procedure a name that no map has.
func TestAProcedureWithoutARuleIsNamed(t *testing.T) {
	log := bytes.ReplaceAll(tourLog(t), []byte(`"interop.find"`), []byte(`"interop.new"`))
	system, err := conform.LoadSystem(conform.Options{})
	require.NoError(t, err)
	reports, err := system.Check(t.Context(), "trace.jsonl", bytes.NewReader(log))
	require.NoError(t, err)
	require.Equal(t, conform.Incomplete, reports[0].Outcome)
	require.Equal(t, []string{"interop.new"}, reports[0].Unknown)
}

// unshown are parts of lines of the models with operations that these logs need not show, each with the reason.
var unshown = map[string]map[string]string{
	"lease": {
		"count(Place, (visible)) = 1 -> Place.get(visible)":                             "a queue-ttl as short as here ends the task before its lease",
		"Result.put(token, 1); Place.get(_);":                                           "max-attempts would have to sink at a restart",
		"if live = token -> Lease.get(token); live := 0; ended":                         "likewise",
		"Result.put(n, 1); Place.get(i); // the last attempt":                           "seldom: the last attempt of a leased task must end without its worker",
		"if live = n -> Lease.get(n); live := 0; ended := ended + 1 [] else -> skip fi": "likewise",
		"[] Place.get(i) -> Place.put(i)":                                               "the work of these logs is too short for a worker to extend it",
		"// a put by a program that has the task":                                       "no program puts results of leased work here, as package worktest does",
		"if true -> Result.put(k, 0) [] true -> Result.put(k, 1) fi;":                   "likewise, by a program that had the task",
		"if count(Lease) = 1 -> Lease.query(?k)":                                        "these logs begin with empty spaces; TestALeaseFromBeforeTheLogIsExtended shows it",
	},
	"task": {
		"its limit drops it": "seldom: the limit must be full when the attempt ends",
		"Place.get(visible); Place.put(hidden); Task.query(token); why := delayed": "the space of dead letters would have to be full",
		"Dead.put(attempts); Claim.get(token); Place.get(_); Task.get(token)":      "seldom: a worker must have a task whose parent fails",
		"Task.query(token); Place.get(hidden); Place.put(visible); why := 0":       "seldom: a task must be replaced while it is delayed",
		"[] Due.query(unsaid) ->":               "version 0.1 did not log whether a lost session held other tasks",
		"if count(Place) = 1 -> Task.query(?k)": "these logs begin with empty spaces; TestATaskFromBeforeTheLogIsFollowed shows it",
	},
	"visit": {
		`Due.query("result"); Result.get(_); Result.put(free)`: "the coordinator would have to die while it records an outcome, as in internal/chaos",
	},
}

// TestEachStepOfTheModelsIsInALog requires that some log shows each operation of the models, unless unshown has its
// line.
func TestEachStepOfTheModelsIsInALog(t *testing.T) {
	unseen := map[string]map[conform.Unseen]int{}
	logs := allLogs(t)
	for _, log := range logs {
		for _, r := range requireConforms(t, log) {
			if unseen[r.Model] == nil {
				unseen[r.Model] = map[conform.Unseen]int{}
			}
			for _, u := range r.Unseen {
				unseen[r.Model][u]++
			}
		}
	}
	for model, all := range unseen {
		source, err := os.ReadFile(filepath.Join("../../tup4fun/conform/models", model+".tup"))
		require.NoError(t, err)
		lines := strings.Split(string(source), "\n")
		for part := range unshown[model] {
			require.Contains(t, string(source), part, "%s.tup has no such line", model)
		}
		for u, n := range all {
			line := strings.TrimSpace(lines[u.Pos.Line-1])
			if n == len(logs) && !hasReason(model, line) {
				t.Errorf("%s.tup:%s: no log shows %s of %s, and unshown has no reason: %s", model, u.Pos, u.Text, u.Process, line)
			}
		}
	}
}

// hasReason reports whether unshown has a part of a line of a model.
func hasReason(model, line string) bool {
	for part := range unshown[model] {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}
