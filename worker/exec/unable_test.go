//go:build unix

package exec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/worker"
	"leasehold/worker/exec"
)

func TestACommandThatCannotBeStartedIsAFaultOfTheMachine(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir, program string){
		"the program is gone":     func(t *testing.T, _, program string) { require.NoError(t, os.Remove(program)) },
		"its folder is gone":      func(t *testing.T, dir, _ string) { require.NoError(t, os.RemoveAll(dir)) },
		"its interpreter is gone": func(t *testing.T, _, program string) { write(t, program, "#!/no/such/sh\n") },
		"it has no code":          func(t *testing.T, _, program string) { write(t, program, "\x7fELF") },
		"it may not be run":       func(t *testing.T, _, program string) { require.NoError(t, os.Chmod(program, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "commands")
			require.NoError(t, os.Mkdir(dir, 0o700))
			program := filepath.Join(dir, "resize")
			write(t, program, "#!/bin/sh\necho done\n")
			h, err := exec.New([]string{program}, dir, output)
			require.NoError(t, err)
			j := &job{task: models.Task{ID: "t7", Data: json.RawMessage("{}")}}
			require.NoError(t, h.Handle(t.Context(), j))
			spoil(t, dir, program)
			var f *worker.Failure
			require.ErrorAs(t, h.Handle(t.Context(), j), &f)
			require.True(t, f.Unable)
			require.ErrorContains(t, f, "the command could not be started: ")
		})
	}
}

func TestATaskThatMakesTheEnvironmentTooLargeIsNoFaultOfTheMachine(t *testing.T) {
	h, err := exec.New([]string{"true"}, "", output)
	require.NoError(t, err)
	j := &job{task: models.Task{ID: "t7", TaskOptions: models.TaskOptions{Tags: []string{strings.Repeat("x", 1<<20)}}}}
	var f *worker.Failure
	require.ErrorAs(t, h.Handle(t.Context(), j), &f)
	require.False(t, f.Unable)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
}
