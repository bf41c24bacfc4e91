// Package audio brings recordings of any format into the one form in which they
// are compared: mono, 8 kHz, float32 samples of which 1 is full scale.
//
// Episodes are long, so they are spooled to a file (Spool); clips are short, so
// they are loaded (Load). Both decode in a stream of small blocks: memory is below
// 8 MiB whatever the file holds, besides what Load returns. The sub-packages do
// the steps, and each is of use alone:
//
//	decode    a file's content  → mono samples at its own rate
//	resample  any rate          → any other, without delay
//	match     clips, an episode → where each occurs
//
// Sample n of a Recording is the sound at n/RateHz seconds, exactly, whatever the
// format: the delay of encoders is removed where the file tells it, and the
// resampler adds none.
//
// A failure that is a property of the file is a *decode.Error, whose kind
// (fault.ErrInvalid, ErrTooLarge, ErrCorrupt, ErrNotFound) errors.Is finds, and
// whose text is for people and leaves out the file's name. The library imports
// nothing of ours but package fault.
package audio
