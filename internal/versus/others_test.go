package versus

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// redis starts a Redis server with an append-only file that is always synced, or without
// persistence.
func redis(b *testing.B, durable bool) server {
	host, port := address(b)
	args, name := []string{"--port", port, "--bind", host, "--save", "", "--dir", b.TempDir(), "--daemonize", "no", "--loglevel", "warning"}, "Redis, no persistence"
	if durable {
		args, name = append(args, "--appendonly", "yes", "--appendfsync", "always"), "Redis, synced"
	}
	pid := run(b, "redis-server", args...)
	return server{name, pid, func(n int) client {
		return &resp{wired(connect(b, host, port)), fmt.Sprint("taken-", n)}
	}}
}

// wire is a connection that is read by lines.
type wire struct {
	net.Conn
	*bufio.Reader
	buf []byte
}

func wired(c net.Conn) wire { return wire{Conn: c, Reader: bufio.NewReader(c)} }

func (w wire) line() (string, error) {
	s, err := w.ReadString('\n')
	return strings.TrimRight(s, "\r\n"), err
}

// body reads n bytes and the line end.
func (w wire) body(n int) error {
	_, err := io.CopyN(io.Discard, w.Reader, int64(n+2))
	return err
}

// resp is a client of Redis.
type resp struct {
	wire
	taken string // the list of the items that this client holds
}

func (c *resp) turn() error {
	for _, command := range [][]string{{"LPUSH", "items", item}, {"BRPOPLPUSH", "items", c.taken, "0"}, {"LREM", c.taken, "1", item}} {
		if err := c.do(command); err != nil {
			return err
		}
	}
	return nil
}

// do sends a command and reads a number or a text.
func (c *resp) do(words []string) error {
	c.buf = fmt.Appendf(c.buf[:0], "*%d\r\n", len(words))
	for _, w := range words {
		c.buf = fmt.Appendf(c.buf, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := c.Write(c.buf); err != nil {
		return err
	}
	answer, err := c.line()
	if err != nil {
		return err
	}
	var n int
	switch {
	case strings.HasPrefix(answer, ":") && answer != ":0":
		return nil
	case strings.HasPrefix(answer, "$"):
		if _, err := fmt.Sscanf(answer, "$%d", &n); err != nil || n != len(item) {
			return fmt.Errorf("%s: %s: %w", words[0], answer, err)
		}
		return c.body(n)
	}
	return fmt.Errorf("%s: %s", words[0], answer)
}

// beanstalkd starts beanstalkd with a log that is synced at each write.
func beanstalkd(b *testing.B) server {
	host, port := address(b)
	pid := run(b, "beanstalkd", "-l", host, "-p", port, "-b", b.TempDir(), "-f", "0")
	return server{"beanstalkd, synced", pid, func(int) client { return &stalk{wired(connect(b, host, port))} }}
}

// stalk is a client of beanstalkd.
type stalk struct{ wire }

func (c *stalk) turn() error {
	c.buf = fmt.Appendf(c.buf[:0], "put 0 0 60 %d\r\n%s\r\n", len(item), item)
	if err := c.do("INSERTED"); err != nil {
		return err
	}
	c.buf = append(c.buf[:0], "reserve\r\n"...)
	answer, err := c.ask()
	if err != nil {
		return err
	}
	var id, size int
	if _, err := fmt.Sscanf(answer, "RESERVED %d %d", &id, &size); err != nil {
		return fmt.Errorf("reserve: %s: %w", answer, err)
	}
	if err := c.body(size); err != nil {
		return err
	}
	c.buf = fmt.Appendf(c.buf[:0], "delete %d\r\n", id)
	return c.do("DELETED")
}

// ask sends the buffer and reads one line.
func (c *stalk) ask() (string, error) {
	if _, err := c.Write(c.buf); err != nil {
		return "", err
	}
	return c.line()
}

func (c *stalk) do(want string) error {
	answer, err := c.ask()
	if err == nil && !strings.HasPrefix(answer, want) {
		err = fmt.Errorf("%s, and not %s", answer, want)
	}
	return err
}
