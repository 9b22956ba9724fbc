package cip

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ParseTimes reads the times of a trace from a JSON array of numbers, in any unit
// and order, and sorts them.
func ParseTimes(text string) ([]float64, error) {
	var numbers []*float64 // null would be taken for 0
	if err := json.Unmarshal([]byte(text), &numbers); err != nil || numbers == nil {
		return nil, errors.New("times must be a JSON array of numbers, such as [0, 60, 120]")
	}
	times := make([]float64, len(numbers))
	for i, x := range numbers {
		if x == nil {
			return nil, errors.New("times must be numbers, not null")
		}
		times[i] = *x
	}
	return sortTimes(times)
}

// sortTimes returns the times in ascending order. It does not change its argument.
func sortTimes(times []float64) ([]float64, error) {
	if n := len(times); n < 1 || n > maxTimes {
		return nil, fmt.Errorf("there must be 1 to %d times, not %d", maxTimes, n)
	}
	for _, t := range times {
		if !(-maxNumber <= t && t <= maxNumber) {
			return nil, fmt.Errorf("time %v is out of range", t)
		}
	}
	sorted := slices.Sorted(slices.Values(times))
	for i := range sorted[1:] {
		if sorted[i] == sorted[i+1] {
			return nil, fmt.Errorf("time %v is there twice", sorted[i])
		}
	}
	return sorted, nil
}
