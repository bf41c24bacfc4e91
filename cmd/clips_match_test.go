package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips"
)

// liveWAV is the header of a recording at clips.RateHz whose length is unknown, as programs write
// it to a pipe, and its samples.
func liveWAV(samples []int16) []byte {
	data := []byte("RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	data = binary.LittleEndian.AppendUint32(data, clips.RateHz)
	data = binary.LittleEndian.AppendUint32(data, 2*clips.RateHz)
	data = append(data, "\x02\x00\x10\x00data\xff\xff\xff\xff"...)
	for _, v := range samples {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	return data
}

// TestFindingsOfALiveStreamArePrintedAsTheyCome serves a broadcast that stays open without an end,
// and interrupts the command after the second finding.
func TestFindingsOfALiveStreamArePrintedAsTheyCome(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(18, 8))
	sound, last := make([]int16, 180*clips.RateHz), 0.0
	for i := range sound {
		last = .8*last + 2000*r.NormFloat64()
		sound[i] = int16(last)
	}
	jingle := sound[20*clips.RateHz : 23*clips.RateHz]
	copy(sound[60*clips.RateHz:], jingle)
	clips := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(clips, "jingle.wav"), liveWAV(jingle), 0o600))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(liveWAV(sound))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- (&app{out: write, err: &said}).run(ctx, []string{"clips", "match", "--clips", clips, "--json", server.URL})
	}()
	lines := bufio.NewScanner(read)
	for _, at := range []string{"20", "60"} {
		require.True(t, lines.Scan(), said.String())
		require.Contains(t, lines.Text(), `"clip":"jingle","offset_s":`+at+`,`)
	}
	cancel()
	require.Equal(t, 1, <-ended)
}

// Opening a named pipe waits for a program that writes, and the system does not interrupt that.
func TestAPipeWithoutAWriterDoesNotKeepACommandFromEnding(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", pipe).Run())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := openEpisode(ctx, pipe)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	stacks := make([]byte, 8<<20)
	require.NotContains(t, string(stacks[:runtime.Stack(stacks, true)]), "cmd.openPipe", "no goroutine is left")
}
