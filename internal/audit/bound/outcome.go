package bound

// An Outcome is one answer as an adversary sees it.
type Outcome struct {
	Text   string    // the whole row, as printed, with types
	Values []float64 // the numbers in it, in order
}

// A Trial is an answer and the input that a coin chose for it.
type Trial struct {
	Input   int // 0 or 1
	Outcome Outcome
}

// Halves divides trials into those to learn from and those to count.
func Halves(trials []Trial) (learning, counted []Trial) {
	middle := len(trials) / 2
	return trials[:middle], trials[middle:]
}

// ByInput returns the outcomes of trials by their input, as Learn takes them.
func ByInput(trials []Trial) [2][]Outcome {
	var draws [2][]Outcome
	for _, t := range trials {
		draws[t.Input] = append(draws[t.Input], t.Outcome)
	}
	return draws
}

// Measure counts trials that were not learned from.
func Measure(e Event, trials []Trial) Counts {
	var c Counts
	for _, t := range trials {
		c.Add(t.Input, e.Contains(t.Outcome))
	}
	return c
}
