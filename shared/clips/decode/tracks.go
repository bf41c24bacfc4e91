package decode

import (
	"cmp"
	"context"
	"strings"
)

// tracks returns how many tracks with sound a file has, for the containers that may have several. It is 1 for a
// stream, which ffmpeg could read only once, and if ffmpeg cannot tell.
func (d Decoder) tracks(ctx context.Context, in *input, format string) int {
	if in.file == nil || in.skipped || format != "mov" && format != "matroska" && format != "asf" {
		return 1
	}
	bin, ok := d.findFFmpeg()
	if !ok {
		return 1
	}
	// framecrc prints a line about each track before the first packet.
	out, err := runFFmpeg(ctx, bin, cmp.Or(d.stall, versionTime), "-nostdin", "-v", "error", "-max_alloc", maxFFmpegAlloc, "-protocol_whitelist", "file",
		"-f", format, "-i", "file:"+in.file.Name(), "-map", "0:a", "-c", "copy", "-t", "0.01", "-protocol_whitelist", "pipe", "-f", "framecrc", "pipe:1")
	if err != nil {
		return 1
	}
	return max(1, strings.Count(out, "#media_type "))
}
