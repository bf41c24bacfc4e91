package decode_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// wavFile is a WAV in which every field can be wrong.
type wavFile struct {
	codec, channels, bits, align int // align 0 is the true one
	rate                         uint32
	length                       int64 // of the data chunk, -1 for the true one
	data                         []byte
	extra                        string // of the format chunk
	before                       string // chunks before the format's
}

func plain(data []byte) wavFile {
	return wavFile{codec: 1, channels: 1, bits: 16, rate: 8000, length: -1, data: data}
}

func (w wavFile) bytes() []byte {
	le := binary.LittleEndian
	if w.align == 0 {
		w.align = w.channels * (w.bits / 8)
	}
	if w.length < 0 {
		w.length = int64(len(w.data))
	}
	b := []byte("RIFF\x00\x00\x00\x00WAVE" + w.before + "fmt ")
	b = le.AppendUint32(b, uint32(16+len(w.extra)))
	b = le.AppendUint16(b, uint16(w.codec))
	b = le.AppendUint16(b, uint16(w.channels))
	b = le.AppendUint32(b, w.rate)
	b = le.AppendUint32(b, w.rate*uint32(w.align))
	b = le.AppendUint16(b, uint16(w.align))
	b = le.AppendUint16(b, uint16(w.bits))
	b = append(b, w.extra+"data"...)
	b = le.AppendUint32(b, uint32(w.length))
	return append(b, w.data...)
}

// pcm16 makes n little-endian samples of a sine.
func pcm16(n int) (b []byte) {
	for i := range n {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(9000*math.Sin(float64(i)/5))))
	}
	return b
}

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
