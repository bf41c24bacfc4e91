package git

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func FuzzAdvertisement(f *testing.F) {
	f.Add([]byte("001e# service=git-upload-pack\n0000003f1111111111111111111111111111111111111111 refs/heads/main\n0000"))
	f.Add([]byte("1111111111111111111111111111111111111111\trefs/heads/main\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		ad, err := parseAdvertisement(content)
		if err == nil {
			for name, sum := range ad.refs {
				require.Regexp(t, refName, name)
				require.Regexp(t, hash, sum)
			}
		}
		logTimes(string(content))
	})
}

func FuzzPack(f *testing.F) {
	answer, err := os.ReadFile("testdata/answer")
	require.NoError(f, err)
	_, pack, _ := bytes.Cut(answer, []byte("0008NAK\n"))
	require.Len(f, commitTimes(pack), 6)
	f.Add(pack)
	f.Add(pack[:len(pack)/2])
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, at := range commitTimes(content) {
			require.False(t, at.Before(time.Unix(1, 0)))
		}
		_, _ = applyDelta(content, content)
	})
}
