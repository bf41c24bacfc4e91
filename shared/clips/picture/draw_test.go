package picture_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/picture"
	"leasehold/shared/fault"
)

// stream is an episode as a Reader.
type stream struct{ samples []float32 }

func (s *stream) Read(dst []float32) (int, error) {
	n := copy(dst, s.samples)
	s.samples = s.samples[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// view explains a clip of noise, in an episode that plays it at 1 s or, if not played, nowhere.
func view(t testing.TB, played bool) picture.View {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	clip, episode := make([]float32, 8000), make([]float32, 32000)
	for i := range clip {
		clip[i] = float32(.1 * r.NormFloat64())
	}
	for i := range episode {
		episode[i] = float32(.02 * r.NormFloat64())
	}
	if played {
		for i, v := range clip {
			episode[8000+i] += v
		}
	}
	var b index.Builder
	require.NoError(t, b.Add("noise & <co>", clip))
	x, err := b.Build()
	require.NoError(t, err)
	e, err := match.Explain(t.Context(), x, &stream{episode}, 8100, match.Options{})
	require.NoError(t, err)
	require.Equal(t, played, e.Found, "%v", e.Reasons)
	return picture.View{Title: "noise & <co>", Clip: clip, Explanation: e}
}

func TestAPictureIsWellFormedAndHasALineForEachLandmark(t *testing.T) {
	t.Parallel()
	for _, played := range []bool{true, false} {
		v := view(t, played)
		var svg, raster bytes.Buffer
		require.NoError(t, picture.Write(&svg, "svg", v))
		lines := 0
		for d := xml.NewDecoder(&svg); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "line" {
				lines++
			}
		}
		require.Equal(t, 2*len(v.Hit.Marks)+1, lines)
		require.NoError(t, picture.Write(&raster, "png", v))
		p, err := png.Decode(&raster)
		require.NoError(t, err)
		require.Equal(t, 1020, p.Bounds().Dx())
	}
}

func TestAnUnknownFormatIsRefused(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, picture.Write(io.Discard, "gif", view(t, true)), fault.ErrInvalid)
}

func ExampleWrite() {
	var b bytes.Buffer
	err := picture.Write(&b, "svg", picture.View{Title: "nothing to see"})
	fmt.Println(b.Len() > 0, err)
	// Output: true <nil>
}
