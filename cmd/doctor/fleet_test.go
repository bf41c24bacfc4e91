package doctor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/doctor"
	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/process/build"
)

// healthyFleet is a coordinator with a worker, without anything to look at.
func healthyFleet() doctor.Fleet {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	return doctor.Fleet{
		Asked: now, Report: models.AttentionReport{At: now.Add(-time.Second)},
		Status: client.Status{Coordinator: "http://127.0.0.1:7412", Sessions: []types.Session{{ID: "worker-1"}}, Spaces: []types.Space{{Name: "task", Visible: 3}}},
		Sessions: []types.OpenSession{
			{Mode: "coordinator", Version: build.Version()}, {Mode: "worker", Version: build.Version()}, {Mode: "client", Version: "0.0.1"},
		},
	}
}

func TestAHealthyFleetHasOneFindingForEachCheck(t *testing.T) {
	t.Parallel()
	var names []string
	for _, x := range doctor.ExamineFleet(healthyFleet()) {
		require.Equal(t, doctor.OK, x.State, x)
		require.Empty(t, x.Advice, x)
		require.NotEmpty(t, x.What, x)
		names = append(names, x.Check)
	}
	require.Equal(t, []string{"coordinator", "memory", "catalog", "disk", "clocks", "versions", "access", "attention"}, names)
}

func TestWhatIsWrongWithAFleetIsAFinding(t *testing.T) {
	t.Parallel()
	item := func(cause models.Cause, s models.Severity) func(*doctor.Fleet) {
		return func(f *doctor.Fleet) {
			f.Report.Items = []models.Attention{{Cause: cause, Severity: s, Text: "it is so", Detail: "Since noon.", Command: "leasehold log"}}
		}
	}
	for name, c := range map[string]struct {
		change func(*doctor.Fleet)
		want   doctor.Finding
	}{
		"memory":         {item(models.CauseRefused, models.StopsWork), doctor.Finding{Check: "memory", State: doctor.Fail, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"near its bound": {item(models.CauseNearBound, models.ToKnow), doctor.Finding{Check: "memory", State: doctor.Warn, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"not writable":   {item(models.CauseNotWritable, models.StopsWork), doctor.Finding{Check: "catalog", State: doctor.Fail, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"disk":           {item(models.CauseOwnFault, models.Degrades), doctor.Finding{Check: "disk", State: doctor.Warn, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"clocks":         {item(models.CauseClocks, models.ToKnow), doctor.Finding{Check: "clocks", State: doctor.Warn, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"versions":       {item(models.CauseVersions, models.ToKnow), doctor.Finding{Check: "versions", State: doctor.Warn, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"others":         {item(models.CauseNoWorker, models.StopsWork), doctor.Finding{Check: "attention", State: doctor.Fail, What: "it is so. Since noon.", Advice: "leasehold log"}},
		"own clock": {func(f *doctor.Fleet) { f.Asked = f.Asked.Add(-24 * time.Hour) },
			doctor.Finding{Check: "clocks", State: doctor.Warn, What: "the clock of this machine is 23h59m59s behind the coordinator's", Advice: "synchronise the clocks (NTP)"}},
		"own version": {func(f *doctor.Fleet) { f.Sessions = []types.OpenSession{{Mode: "worker", Version: "9.9.9"}} },
			doctor.Finding{Check: "versions", State: doctor.Warn, What: "this program is " + build.Version() + ", and the fleet is 9.9.9 (1 session)", Advice: "use the program of the same version"}},
		"damage": {func(f *doctor.Fleet) { f.Status.Database.Damage = []string{"page 7"} },
			doctor.Finding{Check: "catalog", State: doctor.Fail, What: "the database is damaged: page 7", Advice: "restore a backup"}},
		"join line": {item(models.CauseInviteEnds, models.ToKnow), doctor.Finding{Check: "access", State: doctor.Warn, What: "it is so. Since noon.", Advice: "leasehold log"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := healthyFleet()
			c.change(&f)
			found := doctor.ExamineFleet(f)
			require.Contains(t, found, c.want)
			require.Len(t, found, 8, "the finding takes the place of the one that all is well")
			require.Equal(t, c.want.State == doctor.Fail, doctor.Failed(found))
		})
	}
}
