package git

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzAdvertisement(f *testing.F) {
	f.Add([]byte("001e# service=git-upload-pack\n0000003f1111111111111111111111111111111111111111 refs/heads/main\n0000"))
	f.Add([]byte("1111111111111111111111111111111111111111\trefs/heads/main\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		refs, err := parseAdvertisement(content)
		if err == nil {
			for name, sum := range refs {
				require.Regexp(t, refName, name)
				require.Regexp(t, hash, sum)
			}
		}
		logTimes(string(content))
	})
}
