package gitrepo

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"leasehold/models"
	"leasehold/shared/fault"
)

// nonceName is a file in a mirror with a random text. A process that reads it where another
// one names it sees the same folder.
const nonceName = "leasehold-nonce"

// nonceBytes is the length of the text of a nonce.
const nonceBytes = 26

// Share returns the folder of the mirror and its nonce, with which another process on this machine
// opens the mirror: see OpenShared. The first call writes the nonce; later calls return the same
// one. Only this user may read the folder. It fails with fault.ErrFolder.
func (m *Mirror) Share() (dir, nonce string, err error) {
	path := filepath.Join(m.dir, nonceName)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(rand.Text())
		err = errors.Join(err, f.Close())
	} else if errors.Is(err, os.ErrExist) {
		err = nil // an earlier call wrote it
	}
	if err == nil {
		nonce, err = readNonce(m.dir)
	}
	if err != nil {
		return "", "", fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return m.dir, nonce, nil
}

// readNonce reads the nonce of a mirror.
func readNonce(dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, nonceName))
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, nonceBytes+1))
	if err == nil && len(text) != nonceBytes {
		err = errors.New("the nonce is cut off")
	}
	return string(text), err
}

// OpenShared opens the mirror that another process has shared, to read its blobs. It fails with
// fault.ErrNotFound if dir is not that mirror, for example because the other process is on another
// machine. The other process may remove the mirror at any time.
func OpenShared(dir, nonce string) (*Mirror, error) {
	id, ok := strings.CutSuffix(filepath.Base(dir), mirrorSuffix)
	if !ok || !filepath.IsAbs(dir) || !models.ValidID(id) {
		return nil, fmt.Errorf("shared mirror %.200q: %w: want the path of a mirror", dir, fault.ErrInvalid)
	}
	found, err := readNonce(dir)
	if err != nil || found != nonce {
		return nil, fmt.Errorf("shared mirror %.200q: %w on this machine", dir, fault.ErrNotFound)
	}
	s := &Store{Config: Config{Dir: filepath.Dir(dir)}, git: FindGit(), inUse: map[string]int{}}
	// The git command may have copied objects that are too large for the library.
	if _, err := os.Stat(filepath.Join(dir, madeBy)); err != nil && s.UsesLibrary() {
		return nil, fmt.Errorf("shared mirror %.200q: %w", dir, errNeedsGit)
	}
	m := &Mirror{store: s, id: id, dir: dir}
	m.engine = s.engineOf(m)
	return m, nil
}
