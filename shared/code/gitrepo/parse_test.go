package gitrepo

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

const sum = "1111111111111111111111111111111111111111"

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 blob " + sum + "       4\ta\nb\x00160000 commit " + sum + "       -\tsub\x00100644 blob " + sum + " BAD\t\xff\x00"))
	f.Add([]byte("100644 blob x 4\ta\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		files, err := parseTree(out)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		for _, x := range files {
			require.NotEmpty(t, x.Path)
			require.NotContains(t, x.Path, "\x00")
			require.Regexp(t, objectID, x.OID)
		}
	})
}

// A clone has refs/remotes/origin/HEAD, a symbolic ref that git prints beside HEAD.
func TestSymbolicRefsOtherThanHeadAreIgnored(t *testing.T) {
	r, err := parseRefs("ref: refs/heads/main\tHEAD\n" + sum + "\tHEAD\n" + sum + "\trefs/heads/main\n" +
		"ref: refs/remotes/origin/main\trefs/remotes/origin/HEAD\n" + sum + "\trefs/remotes/origin/HEAD\n")
	require.NoError(t, err)
	require.Equal(t, remote{main: "main", hash: map[string]string{"main": sum}}, r)
}

// A bundle made with --all has the HEADs of the other work trees.
func TestTheHeadsOfOtherWorkTreesAreIgnored(t *testing.T) {
	r, err := parseRefs(sum + "\tHEAD\n" + sum + "\trefs/heads/main\n" + sum + "\tworktrees/fix/HEAD\n" + sum + "\tmain-worktree/HEAD\n")
	require.NoError(t, err)
	require.Equal(t, remote{main: headRef, hash: map[string]string{"main": sum, headRef: sum}}, r)
}

func FuzzParseRefs(f *testing.F) {
	f.Add("ref: refs/remotes/origin/main\trefs/remotes/origin/HEAD\n")
	f.Add("ref: refs/heads/main\tHEAD\n" + sum + "\tHEAD\n" + sum + "\trefs/heads/main\n")
	f.Add(sum + "\trefs/heads/a b\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRefs(text)
		if err != nil {
			require.ErrorIs(t, err, fault.ErrInvalid)
			return
		}
		names, err := chooseBranches(r, []string{"*", "HEAD"})
		if err != nil { // "*" selects no branch whose name ends with a slash, which git does not make
			require.ErrorIs(t, err, fault.ErrNotFound)
			return
		}
		for _, name := range names {
			require.NotContains(t, r.sourceRef(name), "\n")
			require.Regexp(t, objectID, r.hash[name])
		}
	})
}

func FuzzBlobAnswers(f *testing.F) {
	f.Add(sum + " blob 3\none\n" + sum + " missing\n" + sum + " tree 2\nab\n" + sum + " blob 9\ncut")
	f.Fuzz(func(t *testing.T, text string) {
		r := blobReader{in: bufio.NewReader(strings.NewReader(text)), maxBytes: 1 << 10}
		for {
			content, problem, failed := r.nextBlob(sum)
			if failed != nil {
				return
			}
			require.LessOrEqual(t, len(content), 1<<10)
			require.True(t, problem == nil || content == nil)
		}
	})
}
