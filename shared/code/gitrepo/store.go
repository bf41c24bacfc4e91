package gitrepo

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Defaults of Config.
const (
	defaultMirrorBytes = 20 << 30
	defaultTotalBytes  = 50 << 30
)

// Config has the limits of a Store, and what it may access. A number of 0 is replaced by
// its default.
type Config struct {
	Dir         string // of the mirrors; created if it does not exist
	MirrorBytes int64  // of one mirror on disk
	TotalBytes  int64  // of all mirrors, without those in use
	// Schemes are the schemes of URLs that are accepted: https, http and ssh.
	Schemes []string
	// Hosts are the hosts that are accepted, such as "github.com"; empty: every host.
	Hosts []string
	// SSH is the command that connects to ssh URLs, for a shell, without options; empty: ssh.
	SSH string
	// Tokens are the files with the tokens of hosts, for private repositories.
	Tokens map[string]string
	// Library selects the library go-git even if this machine has the git command.
	Library bool
	// Resolve checks the host and port of an http(s) URL, and returns the address to
	// connect to; nil: every address is accepted.
	Resolve func(ctx context.Context, uri string) (netip.Addr, error)
}

// Store is a folder of mirrors. It may be used concurrently. It starts no goroutine that
// outlives a call.
type Store struct {
	Config
	git string // path of the command; empty: the library is used

	mu    sync.Mutex // guards inUse, and the removal of mirrors
	inUse map[string]int
}

// FindGit returns the absolute path of the git command, which does not depend on the folder it
// runs in; empty if this machine has none.
func FindGit() string {
	found, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	found, err = filepath.Abs(found)
	if err != nil {
		return ""
	}
	return found
}

// Open opens the folder of mirrors. Repositories are copied by the git command if this machine has
// one, else by the library go-git. It fails with fault.ErrFolder if the folder cannot be made.
func Open(c Config) (*Store, error) {
	git := ""
	if !c.Library {
		git = FindGit()
	}
	if c.MirrorBytes == 0 {
		c.MirrorBytes = defaultMirrorBytes
	}
	if c.SSH == "" {
		c.SSH = "ssh"
	}
	if c.TotalBytes == 0 {
		c.TotalBytes = defaultTotalBytes
	}
	if err := platform.MakeFolder(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("mirrors: %w: %w", fault.ErrFolder, err)
	}
	return &Store{Config: c, git: git, inUse: map[string]int{}}, nil
}

// Mirror returns the mirror of the source uri, whose folder is named by id. It makes no folder and
// reads nothing: see Fetch. trusted permits a folder that belongs to another user. The caller calls
// Close; until then makeSpace does not remove the mirror. It fails with fault.ErrInvalid for a
// malformed id or a refused source.
func (s *Store) Mirror(id, uri string, trusted bool) (*Mirror, error) {
	if !models.ValidID(id) {
		return nil, fmt.Errorf("mirror %.40q: %w: %s", id, fault.ErrInvalid, models.IDRule)
	}
	src, err := s.parseSource(uri)
	if err != nil {
		return nil, err
	}
	src.trusted = trusted
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse[id]++
	m := &Mirror{store: s, id: id, src: src, dir: filepath.Join(s.Dir, id+mirrorSuffix)}
	m.engine = s.engineOf(m)
	return m, nil
}

// mirrorSuffix is the end of the name of a mirror's folder.
const mirrorSuffix = ".git"

// Remove removes the mirror with this id, even if it is in use. It returns nil if there is none. It
// fails with fault.ErrInvalid for a malformed id, or fault.ErrFolder.
func (s *Store) Remove(id string) error {
	if !models.ValidID(id) {
		return fmt.Errorf("mirror %.40q: %w: %s", id, fault.ErrInvalid, models.IDRule)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeLocked(id)
}

// removeLocked removes the mirror, its configuration and its credentials; its caller holds mu and
// has checked the id, which is a part of their paths.
func (s *Store) removeLocked(id string) error {
	dir := filepath.Join(s.Dir, id)
	for _, path := range []string{dir + mirrorSuffix, dir + configSuffix, dir + credentialsSuffix} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("mirror %s: %w: %w", id, fault.ErrFolder, err)
		}
	}
	return nil
}

// release ends the use of a mirror.
func (s *Store) release(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inUse[id]--; s.inUse[id] <= 0 {
		delete(s.inUse, id)
	}
}
