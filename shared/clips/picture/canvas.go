package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// canvas is the surface of a picture. Coordinates are pixels from the upper left.
type canvas interface {
	picture(x, y int, p image.Image)
	rect(x, y, w, h float64, c color.RGBA)
	line(x1, y1, x2, y2 float64, c color.RGBA)
	text(x, y int, s string)
	write(w io.Writer) error
}

// raster is a canvas of pixels, written as PNG.
type raster struct{ *image.RGBA }

// newRaster returns a white raster.
func newRaster(w, h int) raster {
	r := raster{image.NewRGBA(image.Rect(0, 0, w, h))}
	draw.Draw(r, r.Bounds(), image.White, image.Point{}, draw.Src)
	return r
}

func (r raster) picture(x, y int, p image.Image) {
	draw.Draw(r, p.Bounds().Add(image.Pt(x, y)), p, p.Bounds().Min, draw.Src)
}

func (r raster) rect(x, y, w, h float64, c color.RGBA) {
	area := image.Rect(int(x), int(y), int(math.Ceil(x+w)), int(math.Ceil(y+h)))
	draw.Draw(r, area, image.NewUniform(c), image.Point{}, draw.Over)
}

// line draws a line of single pixels; points outside of the picture are left out.
func (r raster) line(x1, y1, x2, y2 float64, c color.RGBA) {
	steps := math.Ceil(max(math.Abs(x2-x1), math.Abs(y2-y1), 1))
	for i := 0.0; i <= steps; i++ {
		r.Set(int(x1+(x2-x1)*i/steps), int(y1+(y2-y1)*i/steps), c)
	}
}

func (r raster) text(x, y int, s string) {
	d := font.Drawer{Dst: r, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}

func (r raster) write(w io.Writer) error { return png.Encode(w, r) }

// vector is a canvas of shapes, written as SVG.
type vector struct {
	w, h int
	body *bytes.Buffer
}

func newVector(w, h int) vector { return vector{w, h, &bytes.Buffer{}} }

// picture embeds p as a PNG. Encoding cannot fail, because a buffer accepts all writes, and PNG
// allows the size of the picture.
func (v vector) picture(x, y int, p image.Image) {
	var b bytes.Buffer
	_ = png.Encode(&b, p)
	fmt.Fprintf(v.body, `<image x="%d" y="%d" width="%d" height="%d" href="data:image/png;base64,%s"/>`+"\n",
		x, y, p.Bounds().Dx(), p.Bounds().Dy(), base64.StdEncoding.EncodeToString(b.Bytes()))
}

func (v vector) rect(x, y, w, h float64, c color.RGBA) {
	fmt.Fprintf(v.body, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, h, web(c))
}

func (v vector) line(x1, y1, x2, y2 float64, c color.RGBA) {
	fmt.Fprintf(v.body, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, web(c))
}

func (v vector) text(x, y int, s string) {
	fmt.Fprintf(v.body, `<text x="%d" y="%d">%s</text>`+"\n", x, y, html.EscapeString(s))
}

// write writes the SVG.
func (v vector) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="12">`+"\n"+
		`<rect width="%[1]d" height="%[2]d" fill="white"/>`+"\n%[3]s</svg>\n", v.w, v.h, v.body)
	return err
}

func web(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
