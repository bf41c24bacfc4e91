// Package decode turns a file of sound into a stream of mono samples.
//
// The format is told by the content, never by a name or a MIME type. WAV, AIFF and
// FLAC are decoded in this process; MP3 too, when there is no ffmpeg; all else by a
// child ffmpeg, when one is installed. Channels are averaged, not dropped.
//
// Invariants, whatever the file holds:
//
//   - Memory is bounded: a stream needs less than 4 MiB (ffmpeg's own memory is
//     capped by its -max_alloc), and no length that a file declares is ever
//     allocated.
//   - Every sample is finite and within ±maxAmplitude.
//   - Frame n of the stream is n/rate seconds after the first sample that was
//     given to the encoder: the delay and the padding of MP3 encoders are removed
//     when the Xing/Info header tells them, as ffmpeg does. (An MP3 without that
//     header starts 25 to 50 ms late, in every decoder.)
//   - A file that cannot be decoded to its end is an *Error whose kind errors.Is
//     finds: fault.ErrInvalid (not audio, or impossible), fault.ErrTooLarge,
//     fault.ErrCorrupt (truncated or damaged; the text says at which second),
//     fault.ErrNotFound (no such file, or no ffmpeg for its format). Panics of a
//     decoder library end there. Any other error is of the machine.
//
// # Why not go-audio/wav
//
// Its FullPCMBuffer takes 136 s for an hour and holds the file in memory, and its
// header reading believes what it reads (0 channels divide by zero, a chunk's
// length is allocated). RIFF is small: wav.go reads it with each field checked.
// The buffers at the boundary are go-audio's, though.
//
// # Caveats
//
// Without ffmpeg, go-mp3 decodes layer III; MPEG 2 at 22,050 Hz and MPEG 2.5, at which it
// is wrong or gives up, with frames rewritten for it (mp3alone.go). MPEG 2.5 at 8,000 Hz,
// 22,050 Hz at 160 kbit/s, and layers I and II are fault.ErrNotFound. No module for AIFF or Vorbis could be had. A
// damaged MP3 frame becomes silence of the same length, as players do, up to
// maxBadShare of the frames. A text that carries a file name is not made here:
// the caller knows what the user calls the recording.
package decode
