package fingerprint

import "math"

// peakBlock is how many samples Peaks reads at a time.
const peakBlock = 1 << 16

// Peaks divides the sound into at most n equal parts, and returns the highest absolute value of each: 0 is silence,
// 255 full scale. It reads all of the sound. It returns none for an episode without samples, and fails as ReadAt does.
func (e *Episode) Peaks(n int) ([]byte, error) {
	peaks := make([]byte, min(n, e.Samples))
	block := make([]float32, peakBlock)
	for at := 0; at < e.Samples; at += len(block) {
		block = block[:min(len(block), e.Samples-at)]
		if err := e.ReadAt(block, at); err != nil {
			return nil, err
		}
		for i, v := range block {
			part := (at + i) * len(peaks) / e.Samples
			peaks[part] = max(peaks[part], byte(math.Round(math.Abs(float64(v))*math.MaxUint8)))
		}
	}
	return peaks, nil
}
