package code

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// folderSource is a folder of source code without a repository. Its files are named by
// the hash that git would give them, so that they are the same blobs as in a repository.
type folderSource struct {
	root   *os.Root
	places map[code.OID]string // a path, by the hash of its content; set by files
}

// compareFolder compares the names, sizes, times and kinds of a folder's files with those of an earlier visit,
// without reading contents. The outcome is Uneventful if the digests are equal.
func (f *Flow) compareFolder(ctx context.Context, o models.Origin, known models.Known) (models.Outcome, error) {
	src, err := f.openFolder(o)
	if err != nil {
		return models.Outcome{}, err
	}
	defer src.close()
	sum := sha256.New()
	count := 0
	err = src.(*folderSource).walk(ctx, func(path string, info fs.FileInfo) error {
		count++
		_, err := fmt.Fprintf(sum, "%q %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode().Type())
		return err
	})
	if err != nil {
		return models.Outcome{}, err
	}
	outcome := models.Outcome{Status: models.Eventful, Items: count, Digest: "files:" + hex.EncodeToString(sum.Sum(nil))}
	if outcome.Digest == known.Digest {
		outcome.Status = models.Uneventful
	}
	return outcome, nil
}

// openFolder opens a folder that the operator has permitted. The caller closes it.
func (f *Flow) openFolder(o models.Origin) (source, error) {
	if err := f.Fetch.Trust(o); err != nil {
		return nil, err
	}
	root, err := f.Fetch.Folder(o.URI)
	if err != nil {
		return nil, err
	}
	return &folderSource{root: root, places: map[code.OID]string{}}, nil
}

func (s *folderSource) shared() (dir, nonce string) { return "", "" } // its files may change
func (s *folderSource) close()                      { s.root.Close() }

// refs returns the only ref of a folder, or none if the folder was removed.
func (s *folderSource) refs() []code.Ref {
	info, err := s.root.Stat(".")
	if err != nil {
		return nil
	}
	return []code.Ref{folderRef(info.ModTime().UTC())}
}

// walk visits the files and symbolic links of the folder in the order of their names. It does not follow links,
// and leaves out hidden folders such as .git.
func (s *folderSource) walk(ctx context.Context, visit func(path string, info fs.FileInfo) error) error {
	n := 0
	return fs.WalkDir(s.root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("%s: %w: %w", path, err, fault.ErrInvalid)
		case e.IsDir():
			if strings.HasPrefix(e.Name(), ".") && path != "." {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0:
			return nil // a pipe or a device has no content
		}
		if n++; n > gitrepo.MaxFiles {
			return fmt.Errorf("%w: more than %d files in a folder", fault.ErrTooLarge, gitrepo.MaxFiles)
		}
		info, err := e.Info()
		if err != nil {
			return nil // removed meanwhile
		}
		return visit(path, info)
	})
}

// files lists the files with the hashes of their contents, which it reads. A file that cannot be read is listed
// with a hash of its path, so that blobs reports the reason; one whose content is not read has a hash of its path
// and the reason.
func (s *folderSource) files(ctx context.Context, _ code.Ref) (entries []entry, err error) {
	err = s.walk(ctx, func(path string, info fs.FileInfo) error {
		e := entry{path: path, size: info.Size()}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			e.skip = skipLink
		case info.Size() > code.MaxBlobBytes:
			e.skip = code.SkipTooLarge
		}
		if e.skip != "" {
			e.oid = code.OIDOf([]byte(fmt.Sprintf("%s %s %q %d", e.skip, s.root.Name(), path, info.Size())))
			entries = append(entries, e)
			return nil
		}
		content, err := s.read(path)
		if err != nil {
			e.oid = code.OIDOf([]byte(path))
			s.places[e.oid] = path
			entries = append(entries, e)
			return nil
		}
		e.oid, e.size = code.OIDOf(content), int64(len(content))
		s.places[e.oid] = path
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// read reads a regular file of at most code.MaxBlobBytes. It uses fetch.OpenRegular, because a pipe could
// take the place of a file. It fails if the file grew beyond the limit since it was listed.
func (s *folderSource) read(path string) ([]byte, error) {
	file, _, err := fetch.OpenRegular(s.root, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, code.MaxBlobBytes+1))
	if err == nil && len(content) > code.MaxBlobBytes {
		err = fmt.Errorf("%w: it grew", fault.ErrTooLarge)
	}
	return content, err
}

// blobs reads files by the hashes that files returned. A file that cannot be read, has more than
// code.MaxBlobBytes, or has other content by now, is visited with an error. The bound of the caller is the
// same, so it is ignored.
func (s *folderSource) blobs(ctx context.Context, oids []string, _ int64, visit func(string, []byte, error) error) error {
	for _, oid := range oids {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		content, err := s.read(s.places[code.OID(oid)])
		if err == nil && !gitrepo.IsBlob(oid, content) {
			content, err = nil, fmt.Errorf("file %q: %w: it changed while it was indexed", s.places[code.OID(oid)], fault.ErrUnavailable)
		}
		if err := visit(oid, content, err); err != nil {
			return err
		}
	}
	return nil
}
