package fetch

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAChangedFileOfTheCacheIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	damage, err := ExamineCache(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, damage, "there is no cache")
	c, err := openCache(dir, 1<<20)
	require.NoError(t, err)
	for _, content := range []string{"first", "second"} {
		s, err := c.stage(strings.NewReader(content))
		require.NoError(t, err)
		_, err = c.publish(s, record{Key: keyOf(content), Hash: s.hash})
		require.NoError(t, err)
	}
	damage, err = ExamineCache(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, damage)
	changed := c.path(hashOf("first"))
	require.NoError(t, os.WriteFile(changed, []byte("furst"), 0o600))
	damage, err = ExamineCache(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, damage, 1)
	require.Contains(t, damage[0], changed)

	record := c.recordPath(keyOf("second"))
	content, err := os.ReadFile(record)
	require.NoError(t, err)
	sum := regexp.MustCompile(`,"sum":\d+`)
	require.Regexp(t, sum, string(content))
	for changed, want := range map[string]int{
		string(content): 1,
		sum.ReplaceAllString(string(content), ""):                  1, // of an earlier version
		strings.Replace(string(content), "sha256:", "sha256:0", 1): 2,
		string(content[:20]):                                       2,
	} {
		require.NoError(t, os.WriteFile(record, []byte(changed), 0o600))
		damage, err = ExamineCache(t.Context(), dir)
		require.NoError(t, err)
		require.Len(t, damage, want, changed)
	}
}
