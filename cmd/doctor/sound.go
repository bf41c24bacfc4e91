package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"leasehold/shared/clips/decode"
	"leasehold/shared/fault"
)

// checkSound checks which formats can be decoded.
func checkSound(ctx context.Context) []Finding {
	all := []Finding{checkFFmpeg(ctx)}
	for _, f := range decode.Formats() {
		found := Finding{Check: "decodes " + f.Name, State: OK, What: "by " + f.By}
		if f.By == "" {
			found.State, found.What, found.Advice = Warn, "no decoder", ffmpegAdvice()
		}
		if f.Note != "" {
			found.What += ": " + f.Note
		}
		all = append(all, found)
	}
	return all
}

// ffmpegAdvice is the advice for a machine without ffmpeg. The image has neither a package
// manager nor a shell.
func ffmpegAdvice() string {
	has := func(program string) bool {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			if info, err := os.Stat(filepath.Join(dir, program)); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
				return true
			}
		}
		return false
	}
	switch {
	case has("apt"):
		return "install ffmpeg (apt install ffmpeg)"
	case !has("sh"):
		return "mount a static ffmpeg at /usr/local/bin/ffmpeg, or build the image with docker/Dockerfile.ffmpeg"
	}
	return "install ffmpeg"
}

// checkFFmpeg checks whether there is a working ffmpeg with every feature that decoding uses.
func checkFFmpeg(ctx context.Context) Finding {
	f := Finding{Check: "ffmpeg", State: OK}
	v, err := decode.FindFFmpeg(ctx)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		f.State, f.What, f.Advice = Warn, "not in the PATH", ffmpegAdvice()+", for more formats and faster MP3"
	case err != nil:
		f.State, f.What, f.Advice = Warn, err.Error(), "repair ffmpeg; until then it is treated as if it were not installed"
	case len(v.Lacks) > 0:
		f.State, f.What = Warn, fmt.Sprintf("%s, %s, without %s", v.Path, v.Version, strings.Join(v.Lacks, ", "))
		f.Advice = ffmpegAdvice() + ", in a build that has them"
	default:
		f.What = fmt.Sprintf("%s, %s", v.Path, v.Version)
	}
	return f
}
