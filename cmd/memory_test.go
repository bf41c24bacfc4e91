package cmd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

var (
	memoryHours = flag.Int("memory.hours", 1, "length of the episode that memory is measured with")
	memoryClips = flag.Int("memory.clips", 16, "number of clips that memory is measured with")
)

// BenchmarkWorkerMemory runs a worker process that researches an hour of noise, in which a
// clip is played each 20 s, for 16 clips of 1 to 5 s. It reports the maximum resident memory
// (VmHWM), and how much of it is beside the largest live heap, which is audio except for
// about 2 MB. For a long episode with many clips run
//
//	go test ./cmd -run '^$' -bench 'WorkerMemory|MatchMemory' -benchtime 1x -memory.hours 10 -memory.clips 100
func BenchmarkWorkerMemory(b *testing.B) {
	dir, leasehold := b.TempDir(), filepath.Join(realBinary(b), "leasehold")
	writeShow(b, dir)
	for b.Loop() {
		h := startCoordinatorProcess(b, b.TempDir(), leasehold, append([]string{"coordinator"}, anyPorts...)...)
		for _, kind := range []string{"media show", "clips clips"} {
			kind, folder, _ := strings.Cut(kind, " ")
			add := start(b, dir, leasehold, "origin", "add", "--kind", kind, folder, "--host", h.at.Gate)
			require.True(b, add.end().Success(), add.text())
		}
		start(b, dir, leasehold, "manager", "--data", "m", "--host", h.at.Gate)
		w := start(b, dir, "env", "GODEBUG=gctrace=1", leasehold, "worker", "--data", "w", "--slots", "1", "--host", h.at.Gate)
		resident := 0.0
		for !strings.Contains(h.ask("/api/v1/totals"), fmt.Sprintf(`"researched":%d}`, *memoryClips)) {
			<-time.After(100 * time.Millisecond)
			resident = max(resident, residentMB(b, "VmHWM", w.cmd.Process.Pid))
		}
		live := 0.0
		for _, m := range regexp.MustCompile(`->(\d+) MB,`).FindAllStringSubmatch(w.text(), -1) {
			mb, err := strconv.ParseFloat(m[1], 64)
			require.NoError(b, err)
			live = max(live, mb)
		}
		b.ReportMetric(resident, "MB-resident")
		b.ReportMetric(live, "MB-live")
		b.ReportMetric(resident-live, "MB-beside")
	}
}

// BenchmarkMatchMemory reports the maximum resident memory of `leasehold clips match` for the
// same recordings.
func BenchmarkMatchMemory(b *testing.B) {
	dir, leasehold := b.TempDir(), filepath.Join(realBinary(b), "leasehold")
	writeShow(b, dir)
	for b.Loop() {
		c := exec.CommandContext(b.Context(), leasehold, "clips", "match", "--json", "--clips", "clips", "show/show.wav")
		c.Dir = dir
		out, err := c.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, c.Start())
		findings, most := 0, 0.0
		for lines := bufio.NewScanner(out); lines.Scan(); findings++ {
			now, _ := statusMB("VmHWM", c.Process.Pid) // the process may have ended
			most = max(most, now)
		}
		require.NoError(b, c.Wait())
		b.ReportMetric(most, "MB-resident")
		b.ReportMetric(float64(findings), "findings")
	}
}

// BenchmarkCoordinatorMemory reports the resident memory of a coordinator with its journal
// on disk: empty, with 100,000 waiting tasks, and the maximum.
//
//	go test ./cmd -run '^$' -bench CoordinatorMemory -benchtime 1x
func BenchmarkCoordinatorMemory(b *testing.B) {
	const tasks, clients = 100_000, 64
	leasehold := filepath.Join(realBinary(b), "leasehold")
	for b.Loop() {
		h := startCoordinatorProcess(b, b.TempDir(), leasehold, append([]string{"coordinator"}, anyPorts...)...)
		b.ReportMetric(residentMB(b, "VmRSS", h.cmd.Process.Pid), "MB-empty")
		conn, err := remote.Dial(b.Context(), remote.Config{Address: h.at.Gate, Session: remote.SessionID("bench")})
		require.NoError(b, err)
		repo := space.Over(conn)
		var creating sync.WaitGroup
		for range clients {
			creating.Go(func() {
				for n := range tasks / clients {
					if _, err := (task.Client{Repo: repo}).Create(b.Context(), models.Task{Action: "dig", Subject: fmt.Sprint("garden-", n), Timeout: 60}, 0); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		creating.Wait()
		b.ReportMetric(residentMB(b, "VmRSS", h.cmd.Process.Pid), "MB-full")
		b.ReportMetric(residentMB(b, "VmHWM", h.cmd.Process.Pid), "MB-most")
		require.NoError(b, repo.Close(b.Context()))
	}
}

// residentMB reads a line of /proc/PID/status.
func residentMB(b *testing.B, line string, pid int) float64 {
	mb, ok := statusMB(line, pid)
	require.True(b, ok, "process %d has no %s", pid, line)
	return mb
}

// statusMB is residentMB for a process that may have ended; ok is false then.
func statusMB(line string, pid int) (mb float64, ok bool) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	m := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		return 0, false
	}
	kb, err := strconv.ParseFloat(string(m[1]), 64)
	return kb / 1024, err == nil
}

// writeShow writes clips of 1 to 5 s of noise, and an episode of noise in which one of them
// is played each 20 s. The episode repeats 20 minutes.
func writeShow(b *testing.B, dir string) {
	const rate = 16_000
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(samples, level int) []int {
		x := make([]int, samples)
		for i := range x {
			x[i] = random.IntN(2*level) - level
		}
		return x
	}
	background := noise(20*60*rate, 2_000)
	for n := range *memoryClips {
		clip := noise(rate+random.IntN(4*rate), 8_000)
		writeWAV(b, filepath.Join(dir, "clips", fmt.Sprint(n, ".wav")), rate, clip, 1)
		if at := (5 + 20*n) * rate; at+len(clip) < len(background) {
			for i, v := range clip {
				background[at+i] += v
			}
		}
	}
	writeWAV(b, filepath.Join(dir, "show", "show.wav"), rate, background, 3**memoryHours)
}

// writeWAV writes 16-bit mono samples, repeated times times.
func writeWAV(b *testing.B, path string, rate int, samples []int, times int) {
	raw := make([]byte, 0, 2*len(samples))
	for _, v := range samples {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+times*len(raw)))
	head = append(head, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	head = binary.LittleEndian.AppendUint32(head, uint32(rate))
	head = binary.LittleEndian.AppendUint32(head, uint32(2*rate))
	head = append(head, "\x02\x00\x10\x00data"...)
	head = binary.LittleEndian.AppendUint32(head, uint32(times*len(raw)))
	require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	require.NoError(b, err)
	_, err = f.Write(head)
	for range times {
		require.NoError(b, err)
		_, err = f.Write(raw)
	}
	require.NoError(b, err)
	require.NoError(b, f.Close())
}

// BenchmarkSilentConnections measures a coordinator process beside 10,000 clients that open a
// connection to its gate, send nothing or the beginning of a message one byte a second, and
// open another one when it is closed: its resident memory, and the 99th percentile of the puts
// of a healthy client, alone and beside them.
//
//	go test ./cmd -run '^$' -bench SilentConnections -benchtime 1x
func BenchmarkSilentConnections(b *testing.B) {
	const crowd, beside = 10_000, 30 * time.Second
	leasehold := filepath.Join(realBinary(b), "leasehold")
	for b.Loop() {
		h := startCoordinatorProcess(b, b.TempDir(), leasehold, append([]string{"coordinator"}, anyPorts...)...)
		conn, err := remote.Dial(b.Context(), remote.Config{Address: h.at.Gate, Session: remote.SessionID("bench")})
		require.NoError(b, err)
		repo := space.Over(conn)
		require.NoError(b, repo.Create(b.Context(), "s", space.Options{}))
		p99 := func(during time.Duration) time.Duration {
			var all []time.Duration
			for end := time.Now().Add(during); time.Now().Before(end); {
				began := time.Now()
				require.NoError(b, repo.Space("s").Put(b.Context(), tuple.New("a", int64(1)), 0))
				all = append(all, time.Since(began))
				_, _, err := repo.Space("s").GetP(b.Context(), tuple.Match("a", int64(1)))
				require.NoError(b, err)
			}
			slices.Sort(all)
			return all[len(all)*99/100]
		}
		alone := p99(10 * time.Second)
		empty := residentMB(b, "VmRSS", h.cmd.Process.Pid)
		ctx, cancel := context.WithCancel(b.Context())
		var clients sync.WaitGroup
		var opened atomic.Int64
		for n := range crowd {
			clients.Go(func() {
				for ctx.Err() == nil {
					if dribble(ctx, h.at.Gate, n%2 == 0) {
						opened.Add(1)
					}
				}
			})
		}
		crowded := p99(beside)
		b.ReportMetric(residentMB(b, "VmRSS", h.cmd.Process.Pid), "MB-beside")
		b.ReportMetric(residentMB(b, "VmHWM", h.cmd.Process.Pid), "MB-most")
		cancel()
		clients.Wait()
		b.ReportMetric(empty, "MB-empty")
		b.ReportMetric(float64(opened.Load()), "connections")
		b.ReportMetric(float64(alone.Microseconds()), "us-alone-p99")
		b.ReportMetric(float64(crowded.Microseconds()), "us-beside-p99")
		b.ReportMetric(float64(crowded)/float64(alone), "of-alone")
		require.NoError(b, repo.Close(b.Context()))
	}
}

// dribble opens a connection, sends the beginning of a large frame at one byte a second if
// sends is set, and returns when the gate has closed the connection or ctx ends. It reports
// whether a connection was opened.
func dribble(ctx context.Context, address string, sends bool) bool {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		<-time.After(100 * time.Millisecond) // the backlog is full
		return false
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if sends {
		_, _ = c.Write(append(wire.AppendPreamble(nil), 0, 0, 0x0f, 0xff))
	}
	for err == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		if sends {
			_, _ = c.Write([]byte{1})
		}
		if _, err = c.Read(make([]byte, 1)); ctx.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	return true
}

// greet opens a session at a gate with a TTL of one minute, and returns the gate's refusal.
func greet(c net.Conn, session string) error {
	hello := wire.AppendHello(nil, wire.Hello{Session: session, Mode: "client", Key: []byte("k"), TTL: time.Minute})
	if err := wire.Send(c, wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: hello}); err != nil {
		return err
	}
	r := bufio.NewReader(c)
	if _, err := wire.ReadPreamble(r); err != nil {
		return err
	}
	f, _, err := wire.Read(r, nil)
	if err == nil && f.Kind == wire.Failure {
		refusal, decodeErr := wire.DecodeError(f.Body)
		return errors.Join(refusal, decodeErr)
	}
	return err
}
