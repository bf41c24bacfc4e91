// Package set builds the sets on which clip finding is measured: episodes with
// clips played in them under the conditions of real shows, and the list of where each
// clip is played (the truth).
//
// The material is openly licensed and comes from Debian packages: recorded prompts,
// music and effects of games. It is downloaded with apt-get, unpacked below a
// working folder, and never part of this repository. A Recipe lists the packages, the
// amounts and the seed. The same recipe with the same package versions gives the same
// set, and the same bytes of truth.
//
// These rules keep the labels clean:
//
//   - Clips and backgrounds (the sound between and under clips) come from different
//     recordings. If exact correlation still finds a clip in the background material,
//     the clip is left out.
//   - A clip that repeats itself, such as a loop or a steady tone, is left out, because
//     no single offset of it is the right one.
//   - Clips that contain each other, or are the same sound, are one class, with the
//     offset of one within the other (Relation), so that finding either is right.
//   - If much of a clip recurs in another one, as drums do under other chords, the two
//     share a loop (Clip.Loops). Finding one where the other is played is neither right
//     nor wrong.
//   - Half of the clips are never played.
//
// Development and Report share no package and no bitrate. So they share no speaker, no
// music and no effect. The parameters of a condition are drawn from continuous ranges.
//
// The package needs apt-get, dpkg-deb, sox, lame and ffmpeg. Package bench scores the
// findings.
package set
