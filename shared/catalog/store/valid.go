package store

import (
	"fmt"
	"math"
	"slices"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// validResearched returns fault.ErrInvalid for a result that cannot be stored; it is a fault.ErrContradiction
// if its values do not fit together.
func validResearched(r models.Researched) error {
	if err := validProblem(r); err != nil {
		return err
	}
	if err := validWaveform(r.Waveform); err != nil {
		return err
	}
	// A problem of the episode needs no versions of clips, because it is stored without them.
	if r.Problem == "" || r.Scope != models.ScopeEpisode {
		for _, id := range r.Clips {
			if _, ok := r.ClipMedia[id]; !ok {
				return fmt.Errorf("clip_media lacks the version of clip %s: %w", id, fault.ErrContradiction)
			}
		}
	}
	for _, f := range r.Findings {
		if err := validFinding(r, f); err != nil {
			return err
		}
	}
	return nil
}

// validProblem returns fault.ErrInvalid for an unknown scope, a problem of clips without clips, and
// findings beside a problem, unless it is one of a part: the rest of the episode was searched.
// A result without a problem is valid.
func validProblem(r models.Researched) error {
	if !slices.Contains([]models.Retry{models.RetryNever, models.RetryLater, models.RetryChanged}, r.Retry) {
		return fmt.Errorf("retry %q: want %s or none: %w", r.Retry, wording.Or(models.RetryLater, models.RetryChanged), fault.ErrInvalid)
	}
	if r.Retry != models.RetryNever && (r.Problem == "" || r.Scope != models.ScopeEpisode && r.Scope != models.ScopeClip) {
		return fmt.Errorf("retry %q: only a problem of an episode or of clips has it: %w", r.Retry, fault.ErrContradiction)
	}
	scopes := []models.Scope{models.ScopePair, models.ScopeEpisode, models.ScopeClip, models.ScopePart}
	switch {
	case r.Scope != "" && !slices.Contains(scopes, r.Scope):
		return fmt.Errorf("the scope of a problem must be %s; got %q: %w", wording.Or(scopes...), r.Scope, fault.ErrInvalid)
	case r.Problem == "":
		return nil
	case r.Scope == "":
		return fmt.Errorf("a problem needs a scope: %w", fault.ErrContradiction)
	case r.Scope != models.ScopeEpisode && len(r.Clips) == 0:
		return fmt.Errorf("a problem of scope %s needs clips: %w", r.Scope, fault.ErrContradiction)
	case len(r.Findings) > 0 && r.Scope != models.ScopePart:
		return fmt.Errorf("a result with a problem cannot have findings; got %d: %w", len(r.Findings), fault.ErrContradiction)
	}
	return nil
}

// validFinding returns fault.ErrInvalid for a finding of another episode or clip than the
// result's, and for numbers that are not in their ranges, such as NaN.
func validFinding(r models.Researched, f models.Finding) error {
	switch {
	case f.Episode != r.Episode || !slices.Contains(r.Clips, f.Clip):
		return fmt.Errorf("finding of clip %q in episode %q: the result is about another pair: %w", f.Clip, f.Episode, fault.ErrContradiction)
	case !finite(f.Score):
		return fmt.Errorf("finding of clip %s: score %v is not a number: %w", f.Clip, f.Score, fault.ErrInvalid)
	case !finite(f.Coverage) || f.Coverage < 0 || f.Coverage > 1 || !finite(f.Speed) || f.Speed < 0:
		return fmt.Errorf("finding of clip %s: coverage %v must be from 0 to 1, and speed %v from 0: %w", f.Clip, f.Coverage, f.Speed, fault.ErrInvalid)
	case !finite(float64(f.PartFrom)) || !finite(float64(f.PartTo)) || f.PartFrom < 0 || f.PartTo < 0:
		return fmt.Errorf("finding of clip %s: part from %v s to %v s must be numbers from 0: %w", f.Clip, float64(f.PartFrom), float64(f.PartTo), fault.ErrInvalid)
	case f.PartTo < f.PartFrom:
		return fmt.Errorf("finding of clip %s: its part ends at %v s, before it starts at %v s: %w", f.Clip, float64(f.PartTo), float64(f.PartFrom), fault.ErrContradiction)
	case !finite(float64(f.Offset)) || f.Offset < 0 || !finite(float64(f.Duration)) || f.Duration < 0:
		return fmt.Errorf("finding of clip %s: offset %v s and duration %v s must be numbers from 0: %w",
			f.Clip, float64(f.Offset), float64(f.Duration), fault.ErrInvalid)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
