package analyse

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

// Defect 11 of earlier indexers: a long line ended the file.
func TestALineOfAMebibyteIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	b := analyse(t, "a.go", []byte("package a\nvar s = `"+long+"`\nfunc Last() {}\n"))
	require.Equal(t, 3, b.Lines)
	require.Equal(t, "Last", b.Symbols[1].Name)
	b = analyse(t, "a.py", []byte("s = '"+long+"'\ndef last():\n  pass\n"))
	require.Equal(t, "last", b.Symbols[0].Name)
}

func TestWhatIsNotIndexedHasAReason(t *testing.T) {
	t.Parallel()
	for reason, content := range map[string][]byte{
		code.SkipTooLarge: bytes.Repeat([]byte("a"), code.MaxBlobBytes+1),
		code.SkipBinary:   []byte("a\x00"),
	} {
		b := analyse(t, "a.go", content)
		require.Equal(t, reason, b.Skipped)
		require.Nil(t, b.Content)
		require.EqualValues(t, len(content), b.Size)
	}
}

func TestAFileInUTF16IsIndexedAsItsText(t *testing.T) {
	t.Parallel()
	b := analyse(t, "a.py", []byte("\xff\xfed\x00e\x00f\x00 \x00f\x00(\x00)\x00:\x00\n\x00"))
	require.Empty(t, b.Skipped)
	require.Equal(t, "def f():\n", string(b.Content))
	require.EqualValues(t, 20, b.Size)
	require.Equal(t, "f", b.Symbols[0].Name)
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.go": "Go", "a.showcase": code.Showcase, "A.SHOWCASE": code.Showcase, "Makefile": "Makefile", "Dockerfile": "Dockerfile", "x/y.tsx": "TSX", "-rf": "", "a\nb.py": "Python", "\xff.c": "C",
	} {
		require.Equal(t, want, Language(name, []byte("x\n")), "%q", name)
	}
	for content, want := range map[string]string{
		"script: #!/usr/bin/python3\n": "Python",
		"a.h: class A { public: int x; };\n#include <vector>\nnamespace n { template <class T> T f(); }\n": "C++",
		"a.h: #include <stdio.h>\nint f(void);\n":                                                          "C",
		"a.m: @interface A : NSObject\n@end\n":                                                             "Objective-C",
		"a.s: TEXT ·add(SB), NOSPLIT, $0-24\n\tMOVQ x+0(FP), AX\n\tRET\n":                                  "Assembly",
		"a.txt: // -*- mode: ruby -*-\nx = 1\n":                                                            "Ruby",
		"unknown: word\n":                                                                                  "",
	} {
		name, text, _ := strings.Cut(content, ": ")
		require.Equal(t, want, Language(name, []byte(text)), content)
	}
	require.True(t, Vendored("vendor/x/a.go"))
	require.True(t, Vendored("a/node_modules/x.js"))
	require.False(t, Vendored("src/a.go"))
	for name, want := range map[string]bool{"a/b_test.go": true, "test_a.py": true, "x/a.spec.ts": true, "a.go": false, "testing.go": false, "x/latest.py": false} {
		require.Equal(t, want, IsTest(name), name)
	}
}

// withCtags returns an Analyser that asks universal-ctags, which make tools installs.
func withCtags(t testing.TB) *Analyser {
	t.Helper()
	path := FindCtags(t.Context())
	require.NotEmpty(t, path, "universal-ctags is not installed: make tools")
	a := New(path)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

func TestCtagsFindsSymbolsOfManyFilesAtATime(t *testing.T) {
	t.Parallel()
	a := withCtags(t)
	content, err := os.ReadFile("testdata/sample.py")
	require.NoError(t, err)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 20 {
				b, err := a.Blob(t.Context(), "dir/x.py", code.OIDOf(content), content)
				if err != nil || len(b.Symbols) != 3 || b.Symbols[1] != (code.Symbol{Name: "area", Kind: "member", Scope: "Shape", Line: 9, End: 12, Signature: "(self, x=1)"}) {
					t.Errorf("%+v, %v", b.Symbols, err)
				}
			}
		})
	}
	running.Wait()
	b, err := a.Blob(t.Context(), "x.py", "", []byte("def f(\x80\xff): '\\\n{\"_type\":\"completed\"}\n"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(b.Symbols), 1)
	b, err = a.Blob(t.Context(), "empty.py", "", nil)
	require.NoError(t, err)
	require.Empty(t, b.Symbols)
}

func TestWithoutAnAnswerOfCtagsTheRulesDecide(t *testing.T) {
	t.Parallel()
	fake := filepath.Join(t.TempDir(), "ctags")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\necho '{\"_type\":\"program\"}'\necho nonsense\n"), 0o755))
	for _, path := range []string{fake, "/nowhere/ctags", "/bin/true"} {
		a := New(path)
		b, err := a.Blob(t.Context(), "x.py", "", []byte("def f(x):\n  pass\n"))
		require.NoError(t, err)
		require.Len(t, b.Symbols, 1, path)
		require.True(t, b.Symbols[0].Approx)
		require.NoError(t, a.Close())
	}
}

func TestACtagsThatHangsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	fake := filepath.Join(t.TempDir(), "ctags")
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\ncat >/dev/null\n"), 0o755))
	a := New(fake)
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Blob(ctx, "x.py", "", []byte("def f(x):\n  pass\n"))
	require.ErrorIs(t, err, context.Canceled)
}

func FuzzBlob(f *testing.F) {
	files, err := filepath.Glob("testdata/*")
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(filepath.Base(file), content)
	}
	f.Add("x.go", []byte("package x\n//line a:99999999999\nfunc f() { x := func() { }"))
	f.Add("x.lua", []byte("--[[ a\n]] --b"))
	f.Add("x", []byte("\xfe\xff.ssock\n ")) // four characters of UTF-16 on one line
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		b := analyse(t, name, content)
		if b.Skipped != "" {
			return
		}
		if text, isUTF16 := code.DecodeUTF16(content); isUTF16 {
			content = text
		}
		lines := bytes.Count(content, []byte("\n"))
		if len(content) > 0 && content[len(content)-1] != '\n' {
			lines++
		}
		require.Equal(t, lines, b.Lines)
		require.LessOrEqual(t, b.Code+b.Comment, b.Lines)
		last := 0
		for _, s := range b.Symbols {
			require.NotEmpty(t, s.Name)
			require.GreaterOrEqual(t, s.Line, max(last, 1))
			require.LessOrEqual(t, s.Line, max(lines, 1))
			require.GreaterOrEqual(t, s.End, s.Line)
			require.LessOrEqual(t, len(s.Signature), maxSignature)
			last = s.Line
		}
		for _, r := range b.Functions {
			require.GreaterOrEqual(t, r.Score, 0.0)
		}
	})
}
