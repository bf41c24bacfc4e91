package segment_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
)

// blobs are a few blobs with all kinds of facts.
func blobs() []code.Blob {
	var all []code.Blob
	add := func(text string, edit func(*code.Blob)) {
		b := code.Blob{OID: code.OIDOf([]byte(text)), Content: []byte(text)}
		edit(&b)
		all = append(all, b)
	}
	add("package a\n\nfunc Find() {}\n", func(b *code.Blob) {
		b.BlobInfo = code.BlobInfo{Size: 27, Lang: "Go", Lines: 3, Code: 2, Comment: 0, Complexity: 1}
		b.Symbols = []code.Symbol{{Name: "Find", Kind: "func", Scope: "a", Line: 3, End: 3, Signature: "()", Approx: true}, {Name: "lost", Line: 4}, {Name: "", Line: 1}, {Name: "two\nlines", Line: 1}}
		b.Functions = []code.FunctionReport{{Line: 3, Function: "Find", Receiver: "T", A: 1, B: 2, C: 3, Score: 3.5, ABCSeed: 1.25}}
	})
	add("", func(*code.Blob) {})
	add(strings.Repeat("a line of text\n", 2000), func(b *code.Blob) { b.Generated = true })
	add("binary\x00", func(*code.Blob) {})
	add("in a repository with SHA-256", func(b *code.Blob) {
		b.OID = code.OIDLike(code.OID(strings.Repeat("0", 64)), b.Content)
	})
	return all
}

// build returns the bytes of a segment of all.
func build(t testing.TB, all []code.Blob, o segment.Options) []byte {
	var out bytes.Buffer
	b := segment.NewBuilder(&out, o)
	for _, blob := range all {
		require.NoError(t, b.Add(blob))
	}
	require.NoError(t, b.Finish())
	return out.Bytes()
}

func TestASegmentReturnsWhatWasAdded(t *testing.T) {
	t.Parallel()
	for _, o := range []segment.Options{{}, {Compress: true}} {
		all := blobs()
		s, err := segment.Decode("x", build(t, all, o))
		require.NoError(t, err)
		require.Equal(t, len(all), s.Blobs())
		for _, want := range all {
			i, ok := s.Find(want.OID)
			require.True(t, ok)
			require.Equal(t, want.OID, s.OID(i))
			var buffer []byte
			text, err := s.Text(i, &buffer)
			require.NoError(t, err)
			if s.Skipped(i) == "" {
				require.Equal(t, string(want.Content), string(text))
			}
			require.Equal(t, want.Lang, s.Info(i).Lang)
			require.Equal(t, want.Generated, s.Generated(i))
		}
		_, ok := s.Find(code.OIDOf([]byte("absent")))
		require.False(t, ok)
		require.Equal(t, code.BlobInfo{Size: 27, Lang: "Go", Lines: 3, Code: 2, Complexity: 1}, s.Info(0))
		require.Equal(t, all[0].Functions, s.Functions(0))
		var symbols []code.Symbol
		s.Symbols(0, func(line int, read func() code.Symbol) bool { symbols = append(symbols, read()); return true })
		require.Equal(t, all[0].Symbols[:1], symbols, "symbols outside of the text are dropped")
		require.Equal(t, code.SkipBinary, s.Skipped(3))
	}
}

func TestTheSameBlobsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	require.Equal(t, build(t, blobs(), segment.Options{}), build(t, blobs(), segment.Options{}))
}

func TestAMergedSegmentHasTheKeptBlobs(t *testing.T) {
	t.Parallel()
	for _, o := range []segment.Options{{}, {Compress: true}} {
		all := blobs()
		var parts []*segment.Segment
		for _, part := range [][]code.Blob{all[:2], all[2:3], all[3:]} {
			s, err := segment.Decode("x", build(t, part, o))
			require.NoError(t, err)
			parts = append(parts, s)
		}
		var out bytes.Buffer
		keep := func(int, int) bool { return true }
		never := func() error { return nil }
		require.NoError(t, segment.Merge(&out, parts, keep, []string{strings.Repeat("ab", 32)}, never))
		merged, err := segment.Decode("x", out.Bytes())
		require.NoError(t, err)
		require.Equal(t, []string{strings.Repeat("ab", 32)}, merged.Replaces())
		out.Reset()
		require.NoError(t, segment.Merge(&out, parts, keep, nil, never))
		require.Equal(t, build(t, all, o), out.Bytes(), "merging all is building at once")
		out.Reset()
		require.NoError(t, segment.Merge(&out, parts, func(part, blob int) bool { return part != 1 }, nil, never))
		require.Equal(t, build(t, append(blobs()[:2], blobs()[3:]...), o), out.Bytes(), "merging a part is building without the rest")
	}
}

// TestDamageIsFoundAndNamed changes each byte of a segment in turn.
func TestDamageIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := segment.Write(t.Context(), dir, blobs(), segment.Options{Compress: true})
	require.NoError(t, err)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range good {
		data := bytes.Clone(good)
		data[i] ^= 0x10
		requireDamage(t, path, data, fmt.Sprintf("byte %d changed", i))
	}
	for n := 0; n < len(good); n += 7 {
		requireDamage(t, path, good[:n], fmt.Sprintf("cut after %d bytes", n))
	}
	requireDamage(t, path, append(bytes.Clone(good), 0), "a byte more")
	other := bytes.Clone(good)
	other[7] = 2
	_, err = segment.Decode(path, other)
	require.ErrorContains(t, err, "it has format 2, this program reads format 1")
	requireDamage(t, path, []byte("PK\x03\x04 not a segment"), "foreign")
}

func requireDamage(t *testing.T, path string, data []byte, what string) {
	s, err := segment.Decode(path, data)
	if err == nil {
		err = s.Verify()
	}
	require.ErrorIs(t, err, fault.ErrCorrupt, what)
	require.ErrorContains(t, err, filepath.Base(path), what)
}

func TestASegmentWhoseTextIsNotThatOfItsBlobIsRefused(t *testing.T) {
	t.Parallel()
	lie := []code.Blob{{OID: code.OIDOf([]byte("said")), Content: []byte("done")}}
	path, err := segment.Write(t.Context(), t.TempDir(), lie, segment.Options{})
	require.NoError(t, err)
	s, err := segment.Open(path)
	require.NoError(t, err)
	require.ErrorContains(t, s.Verify(), "another hash")
	require.NoError(t, s.Close())
}

// FuzzDecode checks that no bytes make a method read outside of them, or return what is out
// of range: every checksum is made right, so that the decoder cannot rely on them.
func FuzzDecode(f *testing.F) {
	f.Add(build(f, blobs(), segment.Options{}), 0, byte(0))
	f.Add(build(f, blobs(), segment.Options{Compress: true}), 700, byte(0xff))
	f.Add([]byte("LHCSEG"), 0, byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= change
		}
		s, err := segment.Decode("fuzz", segment.FixChecksums(data))
		if err != nil {
			require.ErrorIs(t, err, fault.ErrCorrupt)
			return
		}
		var buffer, chunk []byte
		for i := range s.Blobs() {
			_, _ = s.Text(i, &buffer)
			_, _ = s.Find(s.OID(i))
			_, _ = s.Info(i), s.Functions(i)
			s.Symbols(i, func(_ int, read func() code.Symbol) bool { read(); return true })
			first, end := s.ChunksOf(i)
			for c := first; c < end; c++ {
				_, _ = s.Chunk(i, c, &chunk)
			}
		}
		for _, text := range []string{"fin", "line of", "xyz", "a"} {
			chunks, all := s.Candidates([]byte(text))
			for i, c := range chunks {
				require.True(t, !all && int(c) < s.Chunks() && (i == 0 || c > chunks[i-1]))
			}
		}
		s.Defining("", func([]byte) bool { return true }, func(_ []byte, of []uint32) bool {
			for _, b := range of {
				require.Less(t, int(b), s.Blobs())
			}
			return true
		})
		s.DefiningExactly("Find")
		var out bytes.Buffer
		_ = segment.Merge(&out, []*segment.Segment{s}, func(int, int) bool { return true }, nil, func() error { return nil })
	})
}

func ExampleBuilder() {
	text := []byte("package main\n")
	var file bytes.Buffer
	b := segment.NewBuilder(&file, segment.Options{})
	fmt.Println(b.Add(code.Blob{OID: code.OIDOf(text), Content: text}), b.Finish())
	s, err := segment.Decode("example", file.Bytes())
	fmt.Println(err)
	chunks, _ := s.Candidates([]byte("main"))
	fmt.Println(chunks)
	// Output:
	// <nil> <nil>
	// <nil>
	// [0]
}
