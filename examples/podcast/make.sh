#!/usr/bin/env bash
# Regenerates the example: episodes/, clips/ and truth.json.
#
#   examples/podcast/make.sh          into examples/podcast
#   examples/podcast/make.sh FOLDER   into FOLDER, to compare
#
# Needs espeak-ng, sox, lame and flac (Debian). Every sound is generated here: speech by
# espeak-ng from the text below, tones and noise by sox. The same versions of the tools
# give the same files (sox -R: the same noise in each run; -D: no dither).
#
# An episode is a time line. `say` and `play` put a sound at the cursor and move the
# cursor; `over` mixes a clip into the sounds before the cursor. Positions are counted in
# samples; truth.json has them in seconds.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "${1:-$here}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rate=22050
speech_db=-32 # RMS of everything spoken
clip_db=-26   # RMS of every clip: 6 dB over speech, at gain 0
mkdir -p "$out/episodes" "$out/clips" "$work/clips"
cd "$work"

SOX() { sox -R -D -V1 "$@"; }
length() { soxi -s "$1"; }

# level IN OUT DB: the same sound at RMS level DB.
level() {
  local rms
  rms=$(sox "$1" -n stat 2>&1 | awk '/RMS.*amplitude/ {print $3}')
  SOX "$1" "$2" gain "$(awk -v r="$rms" -v d="$3" 'BEGIN {printf "%.4f", d - 20*log(r)/log(10)}')"
}

# speak VOICE SPEED OUT TEXT: speech, without silence at its ends.
speak() {
  espeak-ng -v "$1" -s "$2" -w spoken.wav -- "$4"
  SOX spoken.wav -r $rate -c 1 -b 16 "$3" silence 1 0.005 0.3% reverse silence 1 0.005 0.3% reverse
}

# pluck OUT SECONDS NOTE…: the notes as one chord.
pluck() {
  local to=$1 len=$2 n=0 notes=()
  shift 2
  for note in "$@"; do
    n=$((n + 1))
    SOX -n -r $rate -c 1 -b 16 "note$n.wav" synth "$len" pluck "$note" pad "$(awk -v n=$n 'BEGIN {print 0.03*(n-1)}')"
    notes+=(-v 0.25 "note$n.wav")
  done
  if [ $n -eq 1 ]; then SOX "${notes[@]}" "$to"; else SOX -m "${notes[@]}" "$to"; fi
}

# ---- clips -----------------------------------------------------------------

pluck a.wav 0.32 C4; pluck b.wav 0.27 E4; pluck c.wav 0.41 A4; pluck d.wav 1.6 D4 G4 B4
SOX a.wav b.wav c.wav d.wav raw.wav fade t 0 0 0.3
level raw.wav clips/jingle.wav $clip_db

SOX -n -r $rate -c 1 -b 16 raw.wav synth 0.75 sine 1310-1290 synth 0.75 sine mix 1980-2010 fade l 0.003 0.75 0.7 gain -6
level raw.wav clips/ding.wav $clip_db

SOX -n -r $rate -c 1 -b 16 n.wav synth 1.7 pinknoise gain -8
SOX -n -r $rate -c 1 -b 16 s.wav synth 1.7 sine 250:3300 gain -10
SOX -m -v 1 n.wav -v 1 s.wav raw.wav fade t 0.4 1.7 0.2
level raw.wav clips/sweep.wav $clip_db

hits=()
for hit in 0:0.30 0.31:0.12 0.52:0.12 0.97:0.30 1.41:0.10 1.55:0.10 1.90:0.60; do
  at=${hit%:*} len=${hit#*:}
  SOX -n -r $rate -c 1 -b 16 "hit$at.wav" synth "$len" whitenoise lowpass 2600 fade l 0 "$len" "$len" pad "$at"
  hits+=(-v 0.3 "hit$at.wav")
done
SOX -m "${hits[@]}" raw.wav
level raw.wav clips/drums.wav $clip_db

pluck raw0.wav 4.8 G3 B3 D4 F4 A4
SOX raw0.wav raw.wav fade t 0 0 2
level raw.wav clips/farewell.wav $clip_db

speak en-us+f3 150 raw.wav "It is a tuple!"
level raw.wav clips/tuple.wav $clip_db
speak en-gb-scotland+m7 135 raw.wav "The lease! Is! Up!"
level raw.wav clips/lease.wav $clip_db
speak en-us+croak 140 raw.wav "Who holds the lock?" # this clip is played nowhere
level raw.wav clips/lock.wav $clip_db

# ---- episodes --------------------------------------------------------------

begin() { episode=$1 cursor=0 parts=() n_parts=0; }

# put FILE OFFSET DB
put() {
  n_parts=$((n_parts + 1))
  SOX "$1" "part$n_parts.wav" pad "${2}s" gain "$3"
  parts+=(-v 1 "part$n_parts.wav")
}

gap() { cursor=$((cursor + $(awk -v s="$1" -v r=$rate 'BEGIN {printf "%d", s*r}'))); }

say() {
  speak "$1" 165 said.wav "$2"
  level said.wav levelled.wav $speech_db
  put levelled.wav $cursor 0
  cursor=$((cursor + $(length levelled.wav)))
  gap 0.35
}

note() { echo "$episode $1 $2 $(length "clips/$1.wav")" >>truth; }

# play CLIP [DB]
play() {
  note "$1" $cursor
  put "clips/$1.wav" $cursor "${2:-0}"
  cursor=$((cursor + $(length "clips/$1.wav")))
}

# over CLIP DB SECONDS: begins SECONDS before the cursor.
over() {
  local at=$((cursor - $(awk -v s="$3" -v r=$rate 'BEGIN {printf "%d", s*r}')))
  note "$1" $at
  put "clips/$1.wav" $at "$2"
}

# finish OUT: mixes all parts, exactly up to the cursor.
finish() {
  SOX -m "${parts[@]}" mixed.wav
  SOX mixed.wav "$1" trim 0 ${cursor}s pad 0 $((cursor > $(length mixed.wav) ? cursor - $(length mixed.wav) : 0))s
}

host=en-gb guest=en-us+m3 third=en-gb-x-rp+f2

begin one.mp3
play jingle
gap 0.4
say $host "Welcome to the space between, the programme in which nobody knows anybody, and everything gets done all the same."
say $guest "Thank you for having me. I did not know that you would."
say $host "Nobody did. Somebody put an invitation into the space, and you took it. That is the whole idea."
play ding
gap 0.3
say $guest "So when I take a piece of work, it is mine for ever?"
say $host "Certainly not. Work is one thing, and the right to do it is another. You may have the right for a while, and if you fall asleep, it goes to somebody who is awake."
over tuple -1.5 4.0
say $guest "I once fell asleep in the middle of a very long episode. When I woke up, three others had finished it."
over tuple -3.5 3.2
gap 0.3
play drums
play drums -4
gap 0.5
say $host "And what did you do then?"
say $guest "I reported my result all the same. They thanked me, looked at my token, and told me kindly that it was stale."
say $host "A stale token is like yesterday's bread. You may not sell it, but the ducks are delighted."
play ding -9
gap 0.6
say $guest "Is there a lesson in this?"
say $host "Extend early, extend often, and never trust a clock that you have not wound yourself."
say $guest "I shall have that put on a cushion."
gap 4 # silence to the end
finish one.wav

begin two.mp3
gap 0.5
say $third "This is the second episode, which was recorded in a room with a hum. We have asked the hum to leave, and it has asked for a hearing."
play jingle -3
over sweep -3 1.1
gap 1.2
say $third "Our subject is the manager who died on a Tuesday. She had eleven leases, two of them nearly new, and not one was lost."
say $guest "How can that be? Who looked after them?"
say $third "Time did. A right that nobody renews comes to its end by itself, and the work lies where everyone can see it."
over sweep -1 3.4
play lease
gap 0.4
say $guest "That was our doorbell. Please go on."
say $third "By Wednesday morning another manager had looked at what was left, and said, oh, a few things that nobody is doing. I like those."
over ding 0 2.5
say $guest "Did they ever meet?"
say $third "Never. They only ever met the space, and the space is discreet."
play lease -6
play tuple -6
gap 0.4
say $guest "I knew a worker once who gave every task back. He said that he could not, but that another might."
say $third "That is no shame. It is written down, politely, and he is not asked again while there is somebody else. Only when everyone has said no does the space take a breath, and ask once more."
over drums -2 6.0
say $guest "And if they still cannot?"
say $third "Then it is a dead letter. We read it out at the annual dinner, and somebody mends the program."
gap 0.3
play farewell
finish speech.wav
SOX -n -r $rate -c 1 -b 16 hum.wav synth "$(length speech.wav)s" sine 110 tremolo 0.2 60 gain -40
SOX -m -v 1 speech.wav -v 1 hum.wav two.wav

begin three.flac
say $guest "Episode three. The others are at lunch, so I shall explain everything, quickly, before they come back."
play sweep
gap 0.4
say $guest "Imagine a large table. Anybody may put a card on it. Anybody may ask for a card that looks like this one, and wait until there is one."
play tuple
gap 0.3
say $guest "There is no post office, no address book, and no boss who knows where you live. If you are not there, your cards are still there."
over jingle -2.5 3.8
say $guest "Now, you take a card, and you put a coin in the clock. While the clock runs, the card is yours. When you are done, you put down another card, with the answer."
over drums -1 5.0
gap 0.2
play farewell -5
over ding -5 2.9
gap 0.3
say $guest "When the clock stops, and there is no answer, the card is simply back on the table. Nobody shouts. The next one takes it."
say $guest "People ask me, what if two of them answer? Then there are two answers, and they are the same, and we keep one. Ah. I hear footsteps."
play jingle -8
gap 0.5
say $host "Are you explaining everything again?"
say $guest "Only quickly."
say $host "Then say goodbye."
over lease -3 0.6
gap 1.5
say $guest "Goodbye."
gap 0.5
finish three.wav

# ---- files -----------------------------------------------------------------

mp3() { # WAV OUT KBPS TITLE
  # At 44.1 kHz, which needs no ffmpeg to decode.
  SOX "$1" -r 44100 "${1%.wav}44.wav"
  lame --quiet --noreplaygain -m m -b "$3" --cbr --tt "$4" "${1%.wav}44.wav" "$2"
}
mp3 one.wav "$out/episodes/one.mp3" 64 "The space between"
mp3 two.wav "$out/episodes/two.mp3" 112 "The manager who died on a Tuesday"
SOX three.wav -r 16000 three16.wav
flac --silent --best --force --no-padding -o "$out/episodes/three.flac" three16.wav

SOX clips/jingle.wav "$out/clips/jingle.wav" remix 1 1 # in stereo
SOX clips/ding.wav "$out/clips/ding.wav"
SOX clips/lock.wav "$out/clips/lock.wav"
mp3 clips/sweep.wav "$out/clips/sweep.mp3" 128 "Sweep"
mp3 clips/tuple.wav "$out/clips/tuple.mp3" 96 "It is a tuple!"
for clip in drums farewell lease; do
  flac --silent --best --force --no-padding -o "$out/clips/$clip.flac" clips/$clip.wav
done

# The clips in each episode, by episode and time.
sort -k1,1 -k3,3n truth | awk -v r=$rate '
  BEGIN {print "["}
  {printf "%s  {\"episode\": \"%s\", \"clip\": \"%s\", \"offset_s\": %.6f, \"duration_s\": %.6f}", (NR > 1 ? ",\n" : ""), $1, $2, $3/r, $4/r}
  END {print "\n]"}' >"$out/truth.json"
du -ch "$out"/episodes/* "$out"/clips/* | tail -1
