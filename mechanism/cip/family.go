package cip

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The families of secret sets that have a name.
const (
	EveryOther = "every-other" // one set: the first, third, fifth ... point
	Singles    = "singles"     // each point by itself
	Windows    = "windows:"    // followed by W: any 1 to W consecutive points
)

const families = `"every-other", "singles" or "windows:W"`

// Bounds on the work of [Policy.Loss], since anyone who may write SQL can call it.
const (
	maxTimes = 256
	maxSets  = 10_000
	maxWork  = 200_000_000 // multiplications of long numbers per length scale
)

// window returns the W of a family of windows, or 0 for other families.
func window(family string) int {
	digits, ok := strings.CutPrefix(family, Windows)
	w, err := strconv.Atoi(digits)
	if !ok || err != nil || w < 1 || digits != strconv.Itoa(w) {
		return 0
	}
	return w
}

func (p *Policy) checkFamily() error {
	switch {
	case p.Family != "" && len(p.Sets) > 0:
		return fmt.Errorf("family is either %q or lists of indices", p.Family)
	case p.Family != "" && p.Family != EveryOther && p.Family != Singles && window(p.Family) == 0:
		return fmt.Errorf("family must be %s, or lists of indices, not %q", families, p.Family)
	case p.Family == "" && len(p.Sets) == 0:
		return fmt.Errorf("family must be %s, or lists of indices", families)
	case len(p.Sets) > maxSets:
		return fmt.Errorf("family has %d sets, more than %d", len(p.Sets), maxSets)
	}
	for _, set := range p.Sets {
		if err := checkSet(set); err != nil {
			return err
		}
	}
	return nil
}

func checkSet(set []int) error {
	if len(set) == 0 {
		return fmt.Errorf("family has an empty set")
	}
	sorted := slices.Sorted(slices.Values(set))
	if sorted[0] < 0 {
		return fmt.Errorf("family has the index %d", sorted[0])
	}
	for k := range sorted[1:] {
		if sorted[k] == sorted[k+1] {
			return fmt.Errorf("family has a set with the index %d twice", sorted[k])
		}
	}
	return nil
}

// sets returns the family's sets for n times, each in ascending order.
func (p *Policy) sets(n int) ([][]int, error) {
	var sets [][]int
	switch {
	case p.Family == EveryOther:
		sets = [][]int{indices(0, n, 2)}
	case p.Family != "":
		w := max(1, window(p.Family)) // 1 for singles
		for size := 1; size <= min(w, n); size++ {
			for from := 0; from+size <= n; from++ {
				sets = append(sets, indices(from, from+size, 1))
			}
		}
	default:
		for _, set := range p.Sets {
			set = slices.Sorted(slices.Values(set))
			if last := set[len(set)-1]; last >= n {
				return nil, fmt.Errorf("family has the index %d, but there are only %d times", last, n)
			}
			sets = append(sets, set)
		}
	}
	return sets, checkWork(sets, n)
}

func indices(from, to, step int) []int {
	var set []int
	for i := from; i < to; i += step {
		set = append(set, i)
	}
	return set
}

func checkWork(sets [][]int, n int) error {
	if len(sets) > maxSets {
		return fmt.Errorf("family has %d sets for %d times, more than %d", len(sets), n, maxSets)
	}
	work := 0
	for _, set := range sets {
		work += len(set) * len(set) * n
	}
	if work > maxWork {
		return fmt.Errorf("family is too much work for %d times: its sets' squared sizes add up to %d, more than %d",
			n, work/n, maxWork/n)
	}
	return nil
}

// rest returns the indices below n that are not in a set.
func rest(set []int, n int) []int {
	var others []int
	for i := range n {
		if _, in := slices.BinarySearch(set, i); !in {
			others = append(others, i)
		}
	}
	return others
}
