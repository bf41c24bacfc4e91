// Package picture draws why a clip is found at a place, or is not: the spectrogram of the
// episode over that of the clip, each with the landmarks that both have, and the
// correlation of each of the clip's blocks, as SVG or PNG.
//
// Time runs from left to right, 0 to 4 kHz upwards; louder is brighter, over 70 dB. A
// landmark is a line between its two peaks. A block's bar is as high as its correlation
// in standard deviations; the line across is what it needs to count as covered.
package picture
