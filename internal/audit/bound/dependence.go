package bound

import "math/rand/v2"

// Dependence makes trials of pairs of answers that shall not depend on each other, one pair of
// each run of a statement. A trial has two runs: if its coin says 0, its outcome is the pair of
// the first run, and else the first answer of the first run with the second of the second.
// If the two answers of a run are independent, both inputs have the same law, so that the claim
// is 0, and any positive bound shows a dependence. No answer is used twice. coin must be
// independent of the answers.
func Dependence(runs [][2]Outcome, coin *rand.Rand) []Trial {
	trials := make([]Trial, 0, len(runs)/2)
	for k := 0; k+1 < len(runs); k += 2 {
		input := coin.IntN(2)
		trials = append(trials, Trial{input, pair(runs[k][0], runs[k+input][1])})
	}
	return trials
}

// pair returns two answers as one, with the values that tell most of how they belong together.
func pair(a, b Outcome) Outcome {
	o := Outcome{Text: "different"}
	if a.Text == b.Text {
		o.Text = "equal"
	}
	o.Values = append(append(o.Values, a.Values...), b.Values...)
	for j := range min(len(a.Values), len(b.Values)) {
		o.Values = append(o.Values, a.Values[j]-b.Values[j], a.Values[j]+b.Values[j])
	}
	return o
}
