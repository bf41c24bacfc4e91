package gitrepo

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

func TestARemoteThatIsItselfShallowIsRead(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	begin := packet("# service=git-upload-pack\n") + "0000" + packet(one+" HEAD\x00shallow filter\n") + packet(one+" refs/heads/main\n")
	a, err := ParseAdvertised([]byte(begin + packet("shallow "+two+"\n") + packet("shallow "+one) + "0000"))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"HEAD": one, "refs/heads/main": one}, a.Refs)
	require.True(t, a.Can("filter"))
	require.False(t, a.Can("fil"))
	for _, line := range []string{"shallow\n", "shallow " + two[:39], "shallow " + two + " x", "unshallow " + two} {
		_, err := ParseAdvertised([]byte(begin + packet(line) + "0000"))
		require.ErrorIs(t, err, fault.ErrInvalid, line)
	}
	_, err = ParseAdvertised([]byte(begin + "00ffcut off"))
	require.ErrorIs(t, err, fault.ErrInvalid)
}

func FuzzAdvertisement(f *testing.F) {
	f.Add([]byte("001e# service=git-upload-pack\n0000003f1111111111111111111111111111111111111111 refs/heads/main\n0000"))
	f.Add([]byte("1111111111111111111111111111111111111111\trefs/heads/main\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		a, err := ParseAdvertised(content)
		if err == nil {
			for name, hash := range a.Refs {
				require.Regexp(t, refName, strings.TrimSuffix(name, "^{}"))
				require.Regexp(t, objectID, hash)
			}
		}
		logTimes(string(content))
	})
}

func FuzzPack(f *testing.F) {
	answer, err := os.ReadFile("testdata/answer")
	require.NoError(f, err)
	_, pack, _ := bytes.Cut(answer, []byte("0008NAK\n"))
	require.Len(f, CommitTimes(pack), 6)
	f.Add(pack)
	f.Add(pack[:len(pack)/2])
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, at := range CommitTimes(content) {
			require.False(t, at.Before(time.Unix(1, 0)))
		}
	})
}
