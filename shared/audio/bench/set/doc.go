// Package set builds the sets on which clip finding is measured: episodes with
// clips played in them under the conditions of real shows, and the truth about it.
//
// The material is openly licensed and comes from Debian packages: recorded prompts,
// music and effects of games. It is downloaded with apt-get, unpacked below a
// working folder, and never part of this repository. A Recipe says which packages,
// how much, and the seed; the same recipe from the same package versions gives the
// same set, to the byte of its truth.
//
// What keeps the labels clean:
//
//   - Clips and backgrounds (what goes on between and under them) come from different
//     recordings. A clip that is found in the background material all the same, by exact
//     correlation, is left out.
//   - A clip that repeats itself, such as a loop or a steady tone, is left out: no
//     offset of it is the right one.
//   - Clips that contain each other, or are the same sound, are one class, with the
//     offset of one within the other (Relation), so that finding either is right.
//   - Clips of which much comes again in others, as drums do under other chords,
//     share a loop (Clip.Loops): finding one where another is played is neither right
//     nor wrong.
//   - Half of the clips are never played.
//
// Development and Report share no package, so no speaker, no music and no effect, and
// no bitrate. How a clip is played (condition) is drawn from continuous ranges.
//
// The package needs apt-get, dpkg-deb, sox, lame and ffmpeg. It does not score:
// package bench does.
package set
