// Package decode turns a file of sound into a stream of mono samples.
//
// The content decides the format, never a name or a MIME type. WAV, AIFF and FLAC are
// decoded in this process. MP3 is decoded by ffmpeg if it is installed, and in this process
// otherwise. All other formats, and the compressed kinds of WAV and AIFF, are decoded by a
// child ffmpeg if it is installed. Channels are averaged, not dropped.
//
// Invariants, for every file:
//
//   - Memory is bounded: a stream needs less than 4 MiB (ffmpeg's own memory is
//     capped by its -max_alloc), and no length that a file declares is ever
//     allocated.
//   - Every sample is finite and within ±maxAmplitude.
//   - A stream has one rate. Where the rate, the channels or the kind of frames change within an MP3,
//     an Ogg or a FLAC, because an advert was joined, the rest is resampled to the first rate
//     (onerate.go), which takes up to 8 MiB more.
//   - Frame n of the stream is n/rate seconds after the first sample that was
//     given to the encoder: the delay and the padding of MP3 encoders are removed
//     if the Xing/Info header states them, as ffmpeg does. (An MP3 without that
//     header starts 1,105 samples late with LAME, 25 ms at 44.1 kHz, in every decoder and player.)
//   - A file that cannot be decoded to its end is an *Error whose kind errors.Is
//     finds: fault.ErrInvalid (not audio, or impossible), fault.ErrTooLarge,
//     fault.ErrCorrupt (truncated or damaged; the text gives the second, if known),
//     fault.ErrNotFound (no such file, or no ffmpeg for its format). A panic of a
//     decoder library becomes fault.ErrCorrupt or a damaged frame. Any other error
//     comes from the system.
//
// # Why not go-audio/wav
//
// Its FullPCMBuffer takes 136 s for an hour and holds the file in memory, and its
// header reader trusts the file (0 channels divide by zero, a chunk's declared length
// is allocated). RIFF is small, so wav.go reads it and checks each field. The buffers
// in the API are go-audio's, though.
//
// # Caveats
//
// Without ffmpeg, go-mp3 decodes layer III. It is wrong or gives up at MPEG 2 of 22,050 Hz
// and at MPEG 2.5, so frames of these are rewritten for it (mp3alone.go). MPEG 2.5 at
// 8,000 Hz, 22,050 Hz at 160 kbit/s, and layers I and II fail with fault.ErrNotFound. No
// module for AIFF or Vorbis was available. A damaged MP3 frame becomes silence of the same
// length, and bytes without a frame are skipped, as in players. The error at the end counts them,
// unless at most minBadFrames frames or one in maxBadShare are damaged.
// An *Error does not contain the file's name, because the caller knows what the user calls
// the recording.
package decode
