package autoscale_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/autoscale"
	"leasehold/shared/fault"
)

// writeProgram writes a shell script into a folder.
func writeProgram(t *testing.T, dir, name, script string) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755))
	return path
}

func TestTheCommandGetsTheChangeAndItsFailureIsTold(t *testing.T) {
	dir := t.TempDir()
	path := writeProgram(t, dir, "scale", `echo "$1 $LEASEHOLD_AUTOSCALE_ACTION $LEASEHOLD_AUTOSCALE_FROM $LEASEHOLD_AUTOSCALE_TO $LEASEHOLD_AUTOSCALE_DRAINED" >>`+dir+`/log
[ "$LEASEHOLD_AUTOSCALE_TO" != 9 ] || { echo no machine is free >&2; exit 3; }`)
	f, err := autoscale.NewCommand([]string{path, "x"})
	require.NoError(t, err)
	require.False(t, f.DrainsItself())
	n, err := f.Workers(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.NoError(t, f.Scale(t.Context(), autoscale.Change{Action: "a", From: 3, To: 1, Drained: []string{"worker-1", "worker-2"}}))
	err = f.Scale(t.Context(), autoscale.Change{Action: "a", From: 3, To: 9})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "no machine is free")
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "x a 3 1 worker-1 worker-2\nx a 3 9 \n", string(log))

	_, err = autoscale.NewCommand([]string{filepath.Join(dir, "missing")})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestWhatTheCommandStartsGoesOnAndWhatTakesTooLongIsKilled(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	path := writeProgram(t, dir, "scale", "mkfifo "+pipe+"; (echo started; cat "+pipe+" >"+dir+"/read) & exit 0")
	f, err := autoscale.NewCommand([]string{path})
	require.NoError(t, err)
	require.NoError(t, f.Scale(t.Context(), autoscale.Change{To: 1}))
	require.NoError(t, os.WriteFile(pipe, []byte("alive"), 0o600), "its reader goes on")
	require.Eventually(t, func() bool {
		read, err := os.ReadFile(filepath.Join(dir, "read"))
		return err == nil && string(read) == "alive"
	}, time.Minute, time.Millisecond)

	f, err = autoscale.NewCommand([]string{writeProgram(t, dir, "slow", "sleep 600 & wait")})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, f.Scale(ctx, autoscale.Change{To: 1}), fault.ErrUnavailable)
}

func TestAServiceOfASwarmIsScaledAndMustLeaveItsWorkersTimeToEnd(t *testing.T) {
	dir := t.TempDir()
	writeProgram(t, dir, "docker", `echo "$*" >>`+dir+`/log
case "$*" in
*--\ none) echo "no such service: none" >&2; exit 1;;
*--\ everywhere) echo '{"Mode":{"Global":{}},"TaskTemplate":{"ContainerSpec":{}}}';;
*--\ hasty) echo '{"Mode":{"Replicated":{"Replicas":3}},"TaskTemplate":{"ContainerSpec":{}}}';;
*--\ slow) echo '{"Mode":{"Replicated":{"Replicas":3}},"TaskTemplate":{"ContainerSpec":{"StopGracePeriod":60000000000,"Env":["LEASEHOLD_DRAIN=2m"]}}}';;
*--\ text) echo 'template: no such field';;
*inspect*) echo '{"Mode":{"Replicated":{"Replicas":3}},"TaskTemplate":{"ContainerSpec":{"StopGracePeriod":40000000000}}}';;
esac`)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, want := range map[string]string{
		"none": "no such service", "everywhere": "want a replicated service", "hasty": "set stop_grace_period: 40s", "slow": "set stop_grace_period: 130s", "text": "corrupt",
	} {
		_, err := autoscale.NewService(t.Context(), name)
		require.ErrorContains(t, err, want)
	}
	f, err := autoscale.NewService(t.Context(), "lh_worker")
	require.NoError(t, err)
	require.True(t, f.DrainsItself())
	n, err := f.Workers(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, 3, n, "those that Docker is to run, not those that are connected")
	require.NoError(t, f.Scale(t.Context(), autoscale.Change{To: 5}))
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "service scale --detach lh_worker=5\n")

	t.Setenv("PATH", "")
	_, err = autoscale.NewService(t.Context(), "lh_worker")
	require.ErrorIs(t, err, fault.ErrNotFound)
}
