package set

import "fmt"

// A Material is the sound files below the folder Dir, of one kind, sorted by name.
type Material struct {
	Package string // that apt-get downloads; "" if Dir is a local folder
	Dir     string // within the package, or a local folder
	Kind    Kind
	// Whole is set if each file is a clip (prompts, effects). Otherwise clips are cut out of the files.
	Whole bool
}

// A Recipe determines a set, together with the versions of its packages.
type Recipe struct {
	Name      string
	Seed      uint64
	Materials []Material
	Kbps      []int // one bitrate for each episode
	EpisodeS  float64
	Clips     map[Kind]int // most clips of each kind; half of them are played
	// PerCondition is the most times that clips are played under each condition.
	PerCondition int
	// BackgroundS is the length of the background drawn from the materials of each kind. It is
	// played repeatedly.
	BackgroundS float64
	// FreeS is the additional length without clips, in episodes of an hour.
	FreeS float64
}

// ReleaseSeed is the seed of the report set. It changes with each release, so that no
// threshold can have been chosen on its set. Sets of older seeds can be built again.
const ReleaseSeed = 18

// Development is the set on which thresholds may be tuned.
func Development(seed uint64) Recipe {
	return usual("dev", seed, []int{64, 96, 128}, []Material{
		prompts("asterisk-core-sounds-en-wav"),
		prompts("asterisk-core-sounds-fr-wav"),
		{Package: "drascula-music", Dir: "usr/share/scummvm/drascula", Kind: Music},
		{Package: "fillets-ng-data", Dir: "usr/share/games/fillets-ng/music", Kind: Music},
		{Package: "fillets-ng-data", Dir: "usr/share/games/fillets-ng/sound", Kind: Effect, Whole: true},
		{Package: "freedroid-data", Dir: "usr/share", Kind: Effect, Whole: true},
	})
}

// Report is the set for published figures. No constant of the search was ever chosen on
// its packages.
func Report(seed uint64) Recipe {
	return usual("report", seed, []int{80, 112, 72}, []Material{
		prompts("asterisk-core-sounds-ru-wav"),
		prompts("asterisk-prompt-it-menardi-wav"),
		{Package: "asterisk-moh-opsound-wav", Dir: "usr/share/asterisk/moh", Kind: Music},
		{Package: "planetblupi-music-ogg", Dir: "usr/share/planetblupi/music", Kind: Music},
		{Package: "hyperrogue-music", Dir: "usr/share/hyperrogue/music", Kind: Music},
		{Package: "sonic-pi-samples", Dir: "usr/share/sonic-pi/samples", Kind: Effect, Whole: true},
		{Package: "hyperrogue-music", Dir: "usr/share/hyperrogue/sounds", Kind: Effect, Whole: true},
		{Package: "frozen-bubble-data", Dir: "usr/share/games/frozen-bubble/snd", Kind: Effect, Whole: true},
	})
}

// usual returns a recipe with the amounts that both sets share.
func usual(name string, seed uint64, kbps []int, m []Material) Recipe {
	return Recipe{
		Name: name, Seed: seed, Materials: m, Kbps: kbps, EpisodeS: 1500, BackgroundS: 1200, PerCondition: 28,
		Clips: map[Kind]int{Speech: 480, Music: 240, Effect: 200},
	}
}

// folder returns the name of the folder for the set of a recipe.
func (r Recipe) folder() string {
	name := fmt.Sprintf("%s-%d-v%d", r.Name, r.Seed, version)
	if r.FreeS > 0 {
		name += fmt.Sprintf("-free%.0f", r.FreeS)
	}
	return name
}

func prompts(pkg string) Material {
	return Material{Package: pkg, Dir: "usr/share/asterisk/sounds", Kind: Speech, Whole: true}
}
