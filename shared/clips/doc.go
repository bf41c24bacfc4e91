// Package clips converts recordings of any format to the one form in which they
// are compared: mono, 8 kHz, float32 samples. Full scale is 1.
//
// Episodes are long, so they are spooled to a file (Spool); clips are short, so
// they are loaded (Load). Both decode in a stream of small blocks, so
// they need less than 8 MiB for a file of any length, plus the samples that Load
// returns. The sub-packages do the steps, and each can be used alone:
//
//	decode    a file's content  → mono samples at its own rate
//	resample  any rate          → any other, without delay
//	match     clips, an episode → the places of each clip
//
// Sample n of a Recording is the sound at exactly n/RateHz seconds in every format,
// because the decoder removes the encoder's delay if the file states it, and the
// resampler adds none.
//
// If the file itself causes a failure, the error is a *decode.Error. errors.Is finds
// its kind (fault.ErrInvalid, ErrTooLarge, ErrCorrupt, ErrNotFound). Its text is for
// people and leaves out the file's name. Of Leasehold the
// library imports only fault and process.
package clips
