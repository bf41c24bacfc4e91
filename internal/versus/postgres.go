package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// postgres is a server with its defaults, which sync each commit. Those who use it have it as their process, and
// leasehold its own process too.
type postgres struct {
	process int
	url     string
}

// startPostgres makes a data folder, which must be of the user postgres if this program runs as root, starts
// PostgreSQL in it, and waits until it answers. If it runs already, it is that one.
func startPostgres(h *host) (*postgres, error) {
	if h.postgres != nil {
		return h.postgres, nil
	}
	bin := ""
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(found) > 0 { // Debian's are not in PATH
		bin = found[len(found)-1]
	}
	parent, err := h.folder("postgres")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, "data")
	chown := exec.Command("chown", "postgres", parent)
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale")
	if err := runAs(initdb, "postgres"); err != nil {
		return nil, err
	}
	if initdb.SysProcAttr != nil {
		if out, err := chown.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	host, port, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &postgres{url: "postgres://postgres@" + net.JoinHostPort(host, port) + "/postgres?sslmode=disable"}
	s.process, err = h.run("postgres", filepath.Join(bin, "postgres"), "-D", dir, "-p", port, "-h", host, "-k", "", "-c", "log_min_messages=fatal", "-c", "max_connections=300")
	if err != nil {
		return nil, err
	}
	h.postgres = s
	return s, h.waitUntilStarted(func() error {
		c, err := pgx.Connect(h.ctx, s.url)
		if err == nil {
			err = c.Close(h.ctx)
		}
		return err
	})
}

func (s *postgres) pid() int { return s.process }
