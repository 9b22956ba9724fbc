package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Cumulative reads the JSON of a [Histogram], and returns how many readings are at most the last value of each bin, and
// their share of all. It is a function of the released histogram alone, and so spends nothing. The numbers never
// fall: they are the isotonic regression of the sums of the counts, moved to 0 where that is negative, and whole.
// Pooling takes noise from the sums, in which that of all bins up to one adds up.
//
// The answer is a JSON array on one line, of {"hi":..,"count":..,"share":..} for each bin in order. Shares are of the last
// count, and 0 where that is 0; they have the digits that tell one reading from none. An error is about text that no release can be.
func Cumulative(histogram string) (string, error) {
	var bins []struct {
		Lo, Hi *float64
		Count  *int64
	}
	if json.Unmarshal([]byte(histogram), &bins) != nil {
		return "", errors.New("is not what dx_histogram releases")
	}
	if len(bins) == 0 || len(bins) > MaxBins {
		return "", fmt.Errorf("has %d bins, and not from 1 to %d", len(bins), MaxBins)
	}
	ends, sums, sum := []int64{0}, []int128(nil), int128{}
	for i, b := range bins {
		switch {
		case b.Lo == nil || b.Hi == nil || b.Count == nil:
			return "", fmt.Errorf("bin %d has no lo, hi or count", i)
		case *b.Lo > *b.Hi || i > 0 && *bins[i-1].Hi >= *b.Lo:
			return "", fmt.Errorf("bin %d does not begin after the one before it, or ends before it begins", i)
		case *b.Count < -maxCount || *b.Count > maxCount:
			return "", fmt.Errorf("bin %d has a count that is not within %d of 0", i, int64(maxCount))
		}
		sum = sum.add(fromInt64(*b.Count))
		ends, sums = append(ends, int64(i)+1), append(sums, sum)
	}
	levels := isotonic(ends, sums)
	whole := func(level float64) int64 { return int64(math.Floor(max(0, level) + 0.5)) }
	total := whole(levels[len(levels)-1])
	answer := []byte{'['}
	for i, level := range levels {
		if i > 0 {
			answer = append(answer, ',')
		}
		count, share := whole(level), 0.
		if total > 0 {
			share = rounded(big.NewInt(count), big.NewInt(total), 1/float64(total))
		}
		answer = append(append(answer, `{"hi":`...), plain(*bins[i].Hi)...)
		answer = strconv.AppendInt(append(answer, `,"count":`...), count, 10)
		answer = append(append(answer, `,"share":`...), plain(share)...)
		if share == math.Trunc(share) {
			answer = append(answer, ".0"...) // SQLite tells REAL from INTEGER by it
		}
		answer = append(answer, '}')
	}
	return string(append(answer, ']')), nil
}
