package pspace_test

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
)

// javaTasks is how many tasks the program in Java does.
const javaTasks = 1_000

func TestAProgramInJavaDoesTasks(t *testing.T) {
	t.Parallel()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Log("left out: the program in Java at the gate, because java is not installed")
		return
	}
	f := newFixture(t)
	for range javaTasks {
		_, err := task.Client{Repo: f.Repo}.Create(t.Context(), models.Task{Action: "java", Timeout: 600, TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 600}}, 0)
		require.NoError(t, err)
	}
	out, err := exec.CommandContext(t.Context(), java, "testdata/Worker.java", f.address, "java", fmt.Sprint(javaTasks)).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, fmt.Sprintln(javaTasks, "tasks done"), string(out))
	results, err := f.Repo.Space(task.Result).QueryAll(t.Context(), task.AnyResult("java"))
	require.NoError(t, err)
	require.Len(t, results, javaTasks)
	require.Equal(t, `"done by Java"`, task.DecodeResult(results[0]).Body)
	f.AwaitCount(task.Space, task.Any(), 0)
}
