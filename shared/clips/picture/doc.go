// Package picture draws, as SVG or PNG, why a search finds a clip at a place or does not. It draws
// the spectrogram of the episode above the clip's, each with the landmarks that both have, and the
// correlation of each block of the clip.
//
// Time runs from left to right, and frequency from 0 to 4 kHz upwards. Louder is brighter, over
// a range of 70 dB. A landmark is a line between its two peaks. The height of the bar of a
// block is its correlation in standard deviations; the horizontal line is the threshold at
// which a block counts as covered.
package picture
