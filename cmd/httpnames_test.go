package cmd

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACoordinatorIsCalledByTheNamesOfItsSetting(t *testing.T) {
	t.Parallel()
	leasehold := filepath.Join(realBinary(t), "leasehold")
	c := startCoordinatorProcess(t, t.TempDir(), leasehold, append([]string{"coordinator", "--http-names", "tasks.example,coordinator.lan"}, anyPorts...)...)
	for name, want := range map[string]int{"coordinator.lan:80": http.StatusOK, "Tasks.example": http.StatusOK, "other.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.at.HTTP+"/api/v1/totals", nil)
		require.NoError(t, err)
		r.Host = name
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, name)
	}
}
