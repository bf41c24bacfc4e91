package code_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

func TestUTF16WithAByteOrderMarkIsText(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"\xff\xfeh\x00i\x00\n\x00":      "hi\n",
		"\xfe\xff\x00h\x00i\x00\n":      "hi\n",
		"\xff\xfe\x3d\xd8\x00\xde":      "😀",
		"\xff\xfe":                      "",
		"\xff\xfe\xfc\x00\xff\xfea\x00": "ü\ufeffa",
	} {
		text, ok := code.DecodeUTF16([]byte(content))
		require.True(t, ok, "%q", content)
		require.Equal(t, want, string(text))
		require.True(t, code.IsTextOf(code.OIDOf([]byte(content)), text), "%q", content)
		require.False(t, code.IsTextOf(code.OIDOf([]byte(content+"x")), text), "%q", content)
	}
	for name, content := range map[string]string{
		"no mark": "h\x00i\x00", "odd": "\xff\xfeh", "half of a pair": "\xff\xfe\x3d\xd8h\x00", "UTF-8": "hi", "UTF-8 with a mark": "\ufeffhi", "latin": "\xff\xff", "empty": "",
	} {
		_, ok := code.DecodeUTF16([]byte(content))
		require.False(t, ok, name)
	}
	require.True(t, code.IsTextOf(code.OIDOf([]byte("\xff")), []byte("\xff")))
}

func TestAnEmptyFileHasTheLanguageOfItsName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a/__init__.py": "Python", "x.go": "Go", "Makefile": "Makefile", "a.showcase": "Showcase", "x.d.ts": "TypeScript", "none": "", ".gitkeep": "", "a.GO": "Go",
	} {
		require.Equal(t, want, code.FileLang(name, code.BlobInfo{}), name)
	}
	require.Equal(t, "C", code.FileLang("a.py", code.BlobInfo{Size: 1, Lang: "C"}))
	require.Empty(t, code.FileLang("a.py", code.BlobInfo{Skipped: code.SkipBinary}))
}
