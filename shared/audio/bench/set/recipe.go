package set

// A Material is the sound files of a folder, of one kind. Files come from below
// Dir, in the order of their names.
type Material struct {
	Package string // that apt-get downloads; "" for a folder that is there
	Dir     string // within the package, else of the machine
	Kind    Kind
	// Whole files are clips (prompts, effects); else clips are cut out of them.
	Whole bool
}

// A Recipe is all that a set is made of.
type Recipe struct {
	Name      string
	Seed      uint64
	Materials []Material
	Kbps      []int // of each episode, so as many episodes
	EpisodeS  float64
	Clips     map[Kind]int // at most so many; half of them are played
	// PerCondition is how often clips are played under each condition.
	PerCondition int
}

// Development is the set on which thresholds are tuned.
func Development() Recipe {
	return Recipe{
		Name: "dev", Seed: 1,
		Materials: []Material{
			prompts("asterisk-core-sounds-en-wav"),
			prompts("asterisk-core-sounds-fr-wav"),
			{Package: "drascula-music", Dir: "usr/share/scummvm/drascula", Kind: Music},
			{Package: "fillets-ng-data", Dir: "usr/share/games/fillets-ng/music", Kind: Music},
			{Package: "fillets-ng-data", Dir: "usr/share/games/fillets-ng/sound", Kind: Effect, Whole: true},
		},
		Kbps: []int{64, 96, 128}, EpisodeS: 1200, Clips: clips, PerCondition: perCondition,
	}
}

// Report is the set of which figures are told.
func Report() Recipe {
	return Recipe{
		Name: "report", Seed: 2,
		Materials: []Material{
			prompts("asterisk-core-sounds-it-wav"),
			prompts("asterisk-core-sounds-es-wav"),
			{Package: "singularity-music", Dir: "usr/share", Kind: Music},
			{Package: "colobot-common-sounds", Dir: "usr/share/games/colobot/music", Kind: Music},
			{Package: "colobot-common-sounds", Dir: "usr/share/games/colobot/sounds", Kind: Effect, Whole: true},
			{Package: "freedroid-data", Dir: "usr/share", Kind: Effect, Whole: true},
		},
		Kbps: []int{80, 112, 80}, EpisodeS: 1200, Clips: clips, PerCondition: perCondition,
	}
}

// perCondition times the conditions fill an hour without crowding it.
const perCondition = 28

var clips = map[Kind]int{Speech: 600, Music: 280, Effect: 120}

func prompts(pkg string) Material {
	return Material{Package: pkg, Dir: "usr/share/asterisk/sounds", Kind: Speech, Whole: true}
}
