package cliplint

import (
	"math"
	"math/rand/v2"
)

// backgroundSeconds is the length of a background, after which it begins again.
const backgroundSeconds = 20

// background is a sound under which clips are played, with a root mean square of 1; no samples are
// silence. Each is made from a constant seed, so that a check is repeatable.
type background struct {
	name    string
	samples []float32
}

func backgrounds() []background {
	return []background{{name: "silence"}, {"speech", level(speech())}, {"music", level(music())}}
}

// speech sounds like a voice: syllables of a gliding pitch with three formants, hisses between
// them, and pauses. The generator has a fixed seed, and products are rounded by float64() before
// they are added, so that the result is the same on each machine.
func speech() []float64 {
	r := rand.New(rand.NewPCG(18, 1))
	x := make([]float64, backgroundSeconds*RateHz)
	for at := 0; at < len(x); {
		n := int(RateHz * (.12 + float64(.18*r.Float64())))
		pitch, glide := 90+float64(130*r.Float64()), .8+float64(.4*r.Float64())
		formants := []float64{300 + float64(500*r.Float64()), 900 + float64(1300*r.Float64()), 2300 + float64(800*r.Float64())}
		voiced(x[at:min(at+n, len(x))], pitch, glide, formants)
		at += n
		hiss := r.IntN(RateHz / 12)
		for i := at; i < min(at+hiss, len(x)-1); i++ {
			v := float64(.05 * r.NormFloat64())
			x[i], x[i+1] = x[i]+v, x[i+1]-v // a difference, which is high
		}
		at += hiss
		if r.IntN(6) == 0 {
			at += r.IntN(RateHz / 2)
		}
	}
	return x
}

// voiced writes a syllable: the harmonics of a pitch that ends glide times as high, each as loud
// as the formants near it make it. It adds to x, and is silent at both ends.
func voiced(x []float64, pitch, glide float64, formants []float64) {
	const top = 3600 // Hz
	phase := 0.0
	for i := range x {
		done := float64(i) / float64(len(x))
		f := float64(pitch * (1 + float64((glide-1)*done)))
		phase += float64(2 * math.Pi / RateHz * f)
		sum := 0.0
		for h := 1.0; h*f < top; h++ {
			gain := .02
			for _, formant := range formants {
				off := (float64(h*f) - formant) / 120
				gain += 1 / (1 + float64(off*off))
			}
			sum += float64(gain * math.Sin(h*phase) / math.Sqrt(h))
		}
		x[i] += float64(sum * math.Sin(math.Pi*done))
	}
}

// music is chords of plucked notes, four a second, with a drum each half second. It is the same
// on each machine, as speech.
func music() []float64 {
	r := rand.New(rand.NewPCG(18, 2))
	x := make([]float64, backgroundSeconds*RateHz)
	scale := []float64{0, 2, 3, 5, 7, 8, 10} // semitones
	for beat := range 4 * backgroundSeconds {
		at := beat * RateHz / 4
		for range 1 + r.IntN(3) {
			pitch := 110 * math.Exp2((scale[r.IntN(len(scale))]+float64(12*r.IntN(3)))/12)
			for i := at; i < min(at+RateHz, len(x)); i++ {
				t := float64(i-at) / RateHz
				for h := 1.0; h <= 4; h++ {
					x[i] += float64(math.Exp(-4*h*t) / h * math.Sin(2*math.Pi*pitch*h*t))
				}
			}
		}
		if beat%2 == 0 {
			for i := at; i < min(at+RateHz/10, len(x)); i++ {
				x[i] += float64(math.Exp(-float64(i-at)/200) * r.NormFloat64())
			}
		}
	}
	return x
}

// level brings a sound, which must not be silent, to a root mean square of 1. So callers can put
// it under a clip at any number of decibels.
func level(x []float64) []float32 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v * v)
	}
	scale := math.Sqrt(float64(len(x)) / sum)
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v * scale)
	}
	return out
}
