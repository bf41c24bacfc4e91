package resample_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"leasehold/shared/clips/resample"
	"leasehold/shared/fault"
)

func sine(n, rate int, hz float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(math.Sin(2 * math.Pi * hz * float64(i) / float64(rate)))
	}
	return out
}

func convert(t interface{ Fatal(...any) }, from, to int, in []float32, block int) []float32 {
	r, err := resample.New(from, to)
	if err != nil {
		t.Fatal(err)
	}
	var out []float32
	for len(in) > 0 {
		n := min(block, len(in))
		out = r.Push(out, in[:n])
		in = in[n:]
	}
	return r.Flush(out)
}

func TestToneKeepsItsPhase(t *testing.T) {
	t.Parallel()
	for _, from := range []int{2000, 4000, 7999, 8000, 8001, 11025, 16000, 22050, 32000, 44100, 44099, 48000, 96000, 192000, 768000} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			t.Parallel()
			got := convert(t, from, 8000, sine(from, from, 440), 4096)
			if len(got) != 8000 {
				t.Fatalf("%d samples of one second", len(got))
			}
			for i, want := range sine(8000, 8000, 440)[200:7800] {
				if d := math.Abs(float64(got[200+i] - want)); d > 1e-3 {
					t.Fatalf("sample %d differs by %v", 200+i, d)
				}
			}
		})
	}
}

func TestWhatTheNewRateCannotHoldIsGone(t *testing.T) {
	t.Parallel()
	for _, hz := range []float64{4200, 5000, 9000, 21000} {
		for i, v := range convert(t, 48000, 8000, sine(48000, 48000, hz), 1000)[200:7800] {
			if math.Abs(float64(v)) > 2e-3 {
				t.Fatalf("%v Hz: sample %d is %v", hz, i, v)
			}
		}
	}
}

func TestBlocksDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.IntRange(1000, 60000).Draw(t, "from"), rapid.IntRange(1000, 60000).Draw(t, "to")
		in := sine(rapid.IntRange(0, 3000).Draw(t, "n"), from, 300)
		a, b := convert(t, from, to, in, 1+len(in)), convert(t, from, to, in, rapid.IntRange(1, 500).Draw(t, "block"))
		if want := (len(in)*to + from - 1) / from; len(a) != want || len(b) != want {
			t.Fatalf("%d and %d samples, want %d", len(a), len(b), want)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("sample %d: %v or %v", i, a[i], b[i])
			}
		}
	})
}

func TestImpossibleRatesAreRefused(t *testing.T) {
	t.Parallel()
	for _, r := range [][2]int{{0, 8000}, {-1, 8000}, {8000, 0}, {1 << 31, 8000}} {
		if _, err := resample.New(r[0], r[1]); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

func Example() {
	r, err := resample.New(48000, 8000)
	if err != nil {
		panic(err)
	}
	var out []float32
	for range 100 { // blocks of 10 ms
		out = r.Push(out, make([]float32, 480))
	}
	out = r.Flush(out)
	fmt.Println(len(out), "samples")
	// Output: 8000 samples
}

func BenchmarkResample(b *testing.B) {
	for _, from := range []int{44100, 48000, 44099} {
		b.Run(fmt.Sprint(from), func(b *testing.B) {
			in := sine(from, from, 440)
			r, _ := resample.New(from, 8000)
			var out []float32
			for b.Loop() {
				out = r.Push(out[:0], in)
			}
			b.ReportMetric(3600*b.Elapsed().Seconds()/float64(b.N), "s/hour")
		})
	}
}
