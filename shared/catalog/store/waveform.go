package store

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
)

// Waveform reads the waveform of an episode that is not gone.
func (s *Store) Waveform(ctx context.Context, episode string) (w models.Waveform, err error) {
	op := "catalog.Waveform " + episode
	err = s.db.Read(ctx, op, func(c *sqldb.Conn) error {
		w = models.Waveform{}
		known, err := c.One("SELECT w.duration, w.peaks FROM waveform w JOIN episode e ON e.number = w.episode WHERE e.id = ? AND e.gone = 0",
			[]any{episode}, sqldb.Into(&w.Duration, &w.Peaks))
		if err == nil && !known {
			return fmt.Errorf("%s: no waveform: %w", op, fault.ErrNotFound)
		}
		return err
	})
	return w, err
}

// saveWaveform stores the waveform of an episode in place of its former one.
func saveWaveform(c *sqldb.Conn, episode int64, w models.Waveform) error {
	return c.Exec("INSERT INTO waveform (episode, duration, peaks) VALUES (?, ?, ?) ON CONFLICT (episode) DO UPDATE SET duration = excluded.duration, peaks = excluded.peaks", episode, float64(w.Duration), w.Peaks)
}

// validWaveform returns fault.ErrInvalid for a waveform that cannot be drawn, or that is too large.
func validWaveform(w *models.Waveform) error {
	if w == nil {
		return nil
	}
	if len(w.Peaks) == 0 || len(w.Peaks) > models.MaxPeaks || !finite(float64(w.Duration)) || w.Duration <= 0 {
		return fmt.Errorf("waveform of %d peaks and %v s: want 1 to %d peaks and a duration above 0: %w", len(w.Peaks), float64(w.Duration), models.MaxPeaks, fault.ErrInvalid)
	}
	return nil
}
