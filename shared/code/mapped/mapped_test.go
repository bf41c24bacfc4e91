package mapped_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code/mapped"
)

func TestAMappedFileIsReadAfterItWasRemoved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	data, unmap, err := mapped.Open(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	require.Equal(t, "content", string(data))
	require.NoError(t, unmap())
}

func TestAnEmptyFileHasNoBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	data, unmap, err := mapped.Open(path)
	require.NoError(t, err)
	require.Empty(t, data)
	require.NoError(t, unmap())
}

func ExampleOpen() {
	_, _, err := mapped.Open("absent")
	fmt.Println(os.IsNotExist(err))
	// Output: true
}
