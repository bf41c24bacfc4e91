package picture

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"math"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/spectrum"
	"leasehold/shared/clips/verify"
	"leasehold/shared/clips/vote"
	"leasehold/shared/fault"
)

const (
	margin = 10
	width  = 1000 // of a spectrogram
	bars   = 120  // height
	lineUp = 16   // of text
	// topZ is the number of standard deviations at which a bar has its full height.
	topZ = 25
	// maxFrames bounds the time drawn: five minutes.
	maxFrames = 5 * 60 * match.RateHz / spectrum.Hop
)

var (
	shared  = color.RGBA{230, 60, 30, 255}
	covered = color.RGBA{40, 140, 60, 255}
	missed  = color.RGBA{190, 190, 190, 255}
	limit   = color.RGBA{0, 0, 0, 255}
)

// View is the content of a picture.
type View struct {
	Title string
	Clip  []float32 // at the speed of the explanation
	match.Explanation
}

// Formats are the formats that Write accepts; each is also the file extension.
var Formats = []string{"svg", "png"}

// heightOf returns the height of a drawn view: the title, two spectrograms and the blocks,
// each below a line of text, and the reasons.
func heightOf(v View) int {
	return 2*margin + lineUp + 2*(lineUp+margin+spectrum.Bins) + (lineUp + margin + bars) + lineUp*len(v.Lines())
}

// Write draws a view. It fails with fault.ErrInvalid unless the format is one of Formats, or with
// the error of w.
func Write(w io.Writer, format string, v View) error {
	height := heightOf(v)
	var c canvas
	switch format {
	case "svg":
		c = newVector(width+2*margin, height)
	case "png":
		c = newRaster(width+2*margin, height)
	default:
		return fmt.Errorf("picture: format %q: svg and png are known: %w", format, fault.ErrInvalid)
	}
	d := newDrawing(c, v)
	d.draw()
	return c.write(w)
}

// drawing is the state while a picture is drawn. Frames are counted from the start of the
// episode. The clip is drawn at the frame at which it was found.
type drawing struct {
	canvas
	View
	from, frames int // first drawn frame, and the number of frames
	begin        int // first frame of the clip
	y            int
}

// newDrawing returns a drawing of a view, with half a second around the clip.
func newDrawing(c canvas, v View) *drawing {
	const around = match.RateHz / spectrum.Hop / 2
	begin := v.Result.Begin / spectrum.Hop
	frames := min(maxFrames, len(v.Clip)/spectrum.Hop+2*around)
	return &drawing{canvas: c, View: v, from: begin - around, frames: max(1, frames), begin: begin, y: margin}
}

// draw draws the parts from top to bottom; y is where the next one begins.
func (d *drawing) draw() {
	d.say(d.Title)
	d.spectrogram("episode", d.Sound, d.From/spectrum.Hop, func(m vote.Mark) int { return m.Episode })
	d.spectrogram("clip", d.Clip, d.begin, func(m vote.Mark) int { return m.Clip + d.begin })
	d.blocks()
	for _, r := range d.Lines() {
		d.say(r)
	}
}

func (d *drawing) say(s string) {
	d.y += lineUp
	d.text(margin, d.y, s)
}

// x returns the horizontal position of a frame.
func (d *drawing) x(frame float64) float64 {
	return margin + (frame-float64(d.from))*width/float64(d.frames)
}

// spectrogram draws a sound that begins at frame first, and over it the landmarks that both
// sounds have; at returns the frame at which one is drawn.
func (d *drawing) spectrogram(name string, sound []float32, first int, at func(vote.Mark) int) {
	d.say(name)
	d.y += margin / 2
	d.picture(margin, d.y, d.pixels(sound, first))
	for _, m := range d.Hit.Marks {
		low, high, frames := landmark.Bins(m.Hash)
		f := float64(at(m))
		d.line(d.x(f), d.height(low), d.x(f+float64(frames)), d.height(high), shared)
	}
	d.y += spectrum.Bins + margin/2
}

func (d *drawing) height(bin int) float64 { return float64(d.y + spectrum.Bins - bin) }

// pixels returns the spectrogram of a sound that begins at frame first, over the frames of the
// drawing; where the sound has none, it is black. The loudest point is white, and one 70 dB below
// black.
func (d *drawing) pixels(sound []float32, first int) image.Image {
	p := image.NewGray(image.Rect(0, 0, width, spectrum.Bins))
	var columns [][]float32
	loudest := float32(1e-9)
	spectrum.NewFrames().Push(sound, func(power []float32) {
		columns = append(columns, append([]float32(nil), power...))
		for _, v := range power {
			loudest = max(loudest, v)
		}
	})
	for x := range width {
		k := d.from + x*d.frames/width - first
		if k < 0 || k >= len(columns) {
			continue
		}
		for bin, v := range columns[k] {
			db := 10 * math.Log10(float64(v/loudest)+1e-12)
			p.SetGray(x, spectrum.Bins-1-bin, color.Gray{uint8(255 * max(0, 1+db/70))})
		}
	}
	return p
}

// blocks draws a bar for each block of the clip, at its time in the episode, in another colour if
// it matches, and the threshold as a line.
func (d *drawing) blocks() {
	d.say("blocks")
	d.y += margin / 2
	bottom := float64(d.y + bars)
	for _, b := range d.Result.Blocks {
		from := float64(d.begin) + float64(b.At)/spectrum.Hop
		x, end := d.x(from), d.x(from+verify.BlockSamples/spectrum.Hop)
		h := bars * max(0, min(1, b.Z/topZ))
		c := missed
		if b.Z >= verify.BlockZ {
			c = covered
		}
		d.rect(x, bottom-h, max(1, end-x-1), h, c)
	}
	y := bottom - bars*verify.BlockZ/topZ
	d.line(margin, y, margin+width, y, limit)
	d.y += bars
}
