package embedded

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/code/mapped"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

const (
	generationMagic     = "LHCSGN\x00\x01" // its last byte is the format
	generationExtension = ".generation"
	hashBytes           = 32
	fileRecord          = hashBytes + 8 + 4 + 1 // object id, refs, end of the path, flags
)

// Flags of a file.
const (
	fileSHA256 = 1 << iota
	fileVendored
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A generation is a repository's files, as its file has them: ordered by path.
type generation struct {
	mapping
	repoID, repo string
	refs         []code.Ref
	records      []byte
	paths        []byte
}

// generationPath returns the path of a repository's file: repository ids may have any characters.
func generationPath(dir, repoID string) string {
	sum := sha256.Sum256([]byte(repoID))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+generationExtension)
}

// encodeGeneration returns the content of the file of m, which was checked: magic, the lengths of
// head and records, the head (repository and refs), the records of the files, their paths, and a
// checksum of it all.
func encodeGeneration(m code.Manifest) []byte {
	head := []byte{}
	for _, text := range []string{m.RepoID, m.Repo} {
		head = appendText(head, text)
	}
	head = binary.AppendUvarint(head, uint64(len(m.Refs)))
	for _, r := range m.Refs {
		head = appendText(appendText(head, r.Name), r.Commit)
		head = binary.AppendVarint(head, unixNano(r.Time))
	}
	records, paths := encodeFiles(m)
	data := append([]byte(generationMagic), binary.LittleEndian.AppendUint32(nil, uint32(len(head)))...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(records)))
	data = slices.Concat(data, head, records, paths)
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// unixNano returns t in nanoseconds since 1970, or the least value if t is zero, because
// 0 is a valid time.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.UnixNano()
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// encodeFiles returns the records of m's files, ordered by path, and their paths one after the
// other. Files of several refs with the same path and content share a record; it has a bit for each
// of these refs, in the order of m.Refs. A record has the end of its path; the path begins where
// the path before it ends.
func encodeFiles(m code.Manifest) (records, paths []byte) {
	bit := map[string]uint64{}
	for i, r := range m.Refs {
		bit[r.Name] = 1 << i
	}
	files := slices.Clone(m.Files)
	slices.SortFunc(files, func(a, b code.File) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.OID, b.OID), cmp.Compare(a.Ref, b.Ref))
	})
	for i := 0; i < len(files); {
		f, refs, vendored := files[i], uint64(0), false
		for ; i < len(files) && files[i].Path == f.Path && files[i].OID == f.OID; i++ {
			refs |= bit[files[i].Ref]
			vendored = vendored || files[i].Vendored
		}
		var id [hashBytes]byte
		flags := byte(0)
		if n, _ := hex.Decode(id[:], []byte(f.OID)); n == hashBytes { // a manifest is checked before
			flags |= fileSHA256
		}
		if vendored {
			flags |= fileVendored
		}
		paths = append(paths, f.Path...)
		records = append(records, id[:]...)
		records = binary.LittleEndian.AppendUint64(records, refs)
		records = binary.LittleEndian.AppendUint32(records, uint32(len(paths)))
		records = append(records, flags)
	}
	return records, paths
}

// openGeneration maps the file at path and checks it. The caller calls close, which unmaps the
// file.
func openGeneration(path string) (*generation, error) {
	data, unmap, err := mapped.Open(path)
	if err != nil {
		return nil, err
	}
	g, err := decodeGeneration(data)
	if err != nil {
		_ = unmap()
		return nil, fmt.Errorf("generation %s: %w: %s", path, err, remedy)
	}
	if generationPath(filepath.Dir(path), g.repoID) != path {
		_ = unmap()
		return nil, fmt.Errorf("generation %s: it is of repository %.100q, whose file has another name: remove it: %w", path, g.repoID, fault.ErrCorrupt)
	}
	g.close = unmap
	return g, nil
}

func corrupt(what string) error { return fmt.Errorf("%s: %w", what, fault.ErrCorrupt) }

// decodeGeneration reads the content of a generation's file: magic number, lengths of head and
// records, head, records, paths, checksum. The result uses the memory of data. Any bytes are safe
// to pass.
func decodeGeneration(data []byte) (*generation, error) {
	const fixed, format = len(generationMagic) + 8, len(generationMagic) - 1
	if len(data) < fixed+4 || string(data[:format]) != generationMagic[:format] {
		return nil, corrupt("not a generation")
	}
	if data[format] != generationMagic[format] {
		return nil, corrupt(fmt.Sprintf("it has format %d, this program reads format %d", data[format], generationMagic[format]))
	}
	end := len(data) - 4
	if crc32.Checksum(data[:end], castagnoli) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, corrupt("the checksum is wrong")
	}
	head, records := int(binary.LittleEndian.Uint32(data[8:])), int(binary.LittleEndian.Uint32(data[12:]))
	if head > end-fixed || records > end-fixed-head || records%fileRecord != 0 {
		return nil, corrupt("a part is outside of the file")
	}
	g := &generation{records: data[fixed+head:][:records], paths: data[fixed+head+records : end]}
	if err := g.decodeHead(data[fixed:][:head]); err != nil {
		return nil, err
	}
	return g, g.checkFiles()
}

// decodeHead reads the repository and its refs from data. After the end of data, text returns ""
// and sets bad, so one check at the end suffices. A time of math.MinInt64 is none.
func (g *generation) decodeHead(data []byte) error {
	r := bytes.NewReader(data)
	bad := false
	text := func() string {
		n, err := binary.ReadUvarint(r)
		if err != nil || n > uint64(r.Len()) {
			bad = true
			return ""
		}
		b := make([]byte, n)
		_, _ = r.Read(b) // the reader has n bytes
		return string(b)
	}
	g.repoID, g.repo = text(), text()
	refs, err := binary.ReadUvarint(r)
	if err != nil || refs > code.MaxRefs {
		return corrupt("too many refs")
	}
	for range refs {
		ref := code.Ref{Name: text(), Commit: text()}
		at, err := binary.ReadVarint(r)
		if err != nil {
			bad = true
		}
		if at != math.MinInt64 {
			ref.Time = time.Unix(0, at).UTC()
		}
		g.refs = append(g.refs, ref)
	}
	if bad {
		return corrupt("the head ends early")
	}
	return nil
}

// checkFiles checks that the end of each path is within paths and not before the end of the path
// before it, and that each file has a ref and no ref that g does not have. Other methods rely on
// that.
func (g *generation) checkFiles() error {
	last := 0
	for i := range g.files() {
		end := g.pathEnd(i)
		unknownRef := len(g.refs) < code.MaxRefs && g.mask(i)>>len(g.refs) != 0
		if end < last || end > len(g.paths) || unknownRef || g.mask(i) == 0 {
			return corrupt("the record of a file is out of range")
		}
		last = end
	}
	return nil
}

// files returns the number of files.
func (g *generation) files() int { return len(g.records) / fileRecord }

func (g *generation) record(i int) []byte { return g.records[i*fileRecord:][:fileRecord] }

func (g *generation) pathEnd(i int) int {
	return int(binary.LittleEndian.Uint32(g.record(i)[hashBytes+8:]))
}

func (g *generation) flags(i int) byte { return g.record(i)[fileRecord-1] }

// mask returns a bit for each ref of g that has file i: bit 0 is g.refs[0].
func (g *generation) mask(i int) uint64 {
	return binary.LittleEndian.Uint64(g.record(i)[hashBytes:])
}

// path returns the path of file i. It is memory of the mapped file.
func (g *generation) path(i int) []byte {
	from := 0
	if i > 0 {
		from = g.pathEnd(i - 1)
	}
	return g.paths[from:g.pathEnd(i)]
}

// oid returns the object id of file i. The record has 32 bytes, as a SHA-256 needs; a SHA-1 takes
// the first 20.
func (g *generation) oid(i int) code.OID {
	id := g.record(i)[:hashBytes]
	if g.flags(i)&fileSHA256 == 0 {
		id = id[:20]
	}
	return code.OID(hex.EncodeToString(id))
}

func (g *generation) vendored(i int) bool { return g.flags(i)&fileVendored != 0 }

// refsOf calls visit for each ref of file i.
func (g *generation) refsOf(i int, visit func(code.Ref)) {
	for n, mask := 0, g.mask(i); mask != 0; n, mask = n+1, mask>>1 {
		if mask&1 != 0 {
			visit(g.refs[n])
		}
	}
}

// newest returns the date of the newest commit that has file i; zero if none has a date.
func (g *generation) newest(i int) (t time.Time) {
	g.refsOf(i, func(r code.Ref) {
		if r.Time.After(t) {
			t = r.Time
		}
	})
	return t
}

// writeGeneration writes m as the repository's file, durably, and opens it. It replaces the old
// file by renaming, so that a crash leaves one of the two. It calls reached after each step; an
// error of it ends the writing, as a failing disk would. All arguments of cmp.Or are evaluated,
// so the file is closed in each case.
func writeGeneration(dir string, m code.Manifest, reached func(string) error) (*generation, error) {
	f, err := os.CreateTemp(dir, "writing-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name()) // does nothing once it was renamed
	_, err = f.Write(encodeGeneration(m))
	if err = cmp.Or(err, f.Sync(), f.Close(), reached("generation written")); err != nil {
		return nil, err
	}
	path := generationPath(dir, m.RepoID)
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, err
	}
	if err := cmp.Or(platform.SyncDir(dir), reached("generation renamed")); err != nil {
		return nil, err
	}
	return openGeneration(path)
}
