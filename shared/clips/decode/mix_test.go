package decode_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSoundInAntiphaseIsHeard has ten seconds of the same sound in both channels, except for three
// in which the right one is inverted, and then two seconds of sound in the left one only.
func TestSoundInAntiphaseIsHeard(t *testing.T) {
	t.Parallel()
	const rate = 8000
	r := rand.New(rand.NewPCG(1, 2))
	var data []byte
	var want []float64
	for i := range 12 * rate {
		v := .2 * r.NormFloat64()
		right := v
		switch s := i / rate; {
		case s >= 4 && s < 7:
			right = -v
		case s >= 10:
			right = 0
		}
		want = append(want, v)
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(math.Round(v*32767))))
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(math.Round(right*32767))))
	}
	w := plain(data)
	w.channels = 2
	path := filepath.Join(t.TempDir(), "stereo.wav")
	require.NoError(t, os.WriteFile(path, w.bytes(), 0o600))
	got, err := all(t.Context(), path)
	require.NoError(t, err)
	for i, v := range got {
		switch s := float64(i) / rate; {
		case s < 4 || s > 7.8 && s < 10, s > 4.8 && s < 7:
			require.InDelta(t, want[i], v, 1e-3, "at %v s", s)
		case s > 10.5:
			require.InDelta(t, want[i]/2, v, 1e-3, "at %v s", s)
		}
	}
}
