package cmd

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkWorkerMemory has a worker, a process of its own, research an hour of noise
// for 16 clips of 1 to 5 s. It reports the most memory that was resident (VmHWM), and
// what of it was beside the largest live heap, which is audio but for about 2 MB.
//
//	go test ./cmd -run '^$' -bench WorkerMemory -benchtime 1x
func BenchmarkWorkerMemory(b *testing.B) {
	const rate = 16_000
	dir, leasehold := b.TempDir(), filepath.Join(realBinary(b), "leasehold")
	random := rand.New(rand.NewPCG(1, 2))
	require.NoError(b, os.MkdirAll(filepath.Join(dir, "show"), 0o700))
	require.NoError(b, os.MkdirAll(filepath.Join(dir, "clips"), 0o700))
	writeNoise(b, filepath.Join(dir, "show", "hour.wav"), rate, 3600*rate, random)
	for n := range 16 {
		writeNoise(b, filepath.Join(dir, "clips", fmt.Sprint(n, ".wav")), rate, rate+random.IntN(4*rate), random)
	}
	for b.Loop() {
		h := beginHost(b, b.TempDir(), leasehold, append([]string{"coordinator"}, anyPorts...)...)
		for _, kind := range []string{"media show", "clips clips"} {
			kind, folder, _ := strings.Cut(kind, " ")
			add := begin(b, dir, leasehold, "origin", "add", "--kind", kind, folder, "--host", h.at.Gate)
			require.True(b, add.end().Success(), add.text())
		}
		begin(b, dir, leasehold, "manager", "--data", "m", "--host", h.at.Gate)
		w := begin(b, dir, "env", "GODEBUG=gctrace=1", leasehold, "worker", "--data", "w", "--slots", "1", "--host", h.at.Gate)
		resident := 0.0
		for !strings.Contains(h.ask("/api/v1/totals"), `"researched":16}`) {
			<-time.After(100 * time.Millisecond)
			resident = max(resident, residentMB(b, w.cmd.Process.Pid))
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

// residentMB reads VmHWM of a process.
func residentMB(b *testing.B, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(string(data))
	require.Len(b, m, 2)
	kb, err := strconv.ParseFloat(m[1], 64)
	require.NoError(b, err)
	return kb / 1024
}

// writeNoise writes a WAV file of 16-bit noise, mono.
func writeNoise(b *testing.B, path string, rate, samples int, random *rand.Rand) {
	data := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+2*samples))
	data = append(data, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	data = binary.LittleEndian.AppendUint32(data, uint32(rate))
	data = binary.LittleEndian.AppendUint32(data, uint32(2*rate))
	data = append(data, "\x02\x00\x10\x00data"...)
	data = binary.LittleEndian.AppendUint32(data, uint32(2*samples))
	for range samples {
		data = binary.LittleEndian.AppendUint16(data, uint16(random.IntN(16_000)-8_000))
	}
	require.NoError(b, os.WriteFile(path, data, 0o600))
}
