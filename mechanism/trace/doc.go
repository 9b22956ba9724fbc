// Package trace reports a moving secret step by step under one epsilon for the
// whole trace. The independent mechanism adds noise to every point. The predictive
// mechanism first tests in private whether a prediction made from earlier reports is
// good enough, and pays for noise only if it is not.
// (Chatzikokolakis, Palamidessi, Stronati, A Predictive Differentially-Private
// Mechanism for Mobility Traces, 2014, called the paper.) It imports exact, planar and scalar.
// Start at Mechanism.
//
// A secret is a point of a [Space]: a [Plane], for locations, or a [Line], for
// readings. A [Mechanism] is a space with a [Policy]. A step takes three calls, so
// that its cost can be charged before anything is drawn:
//
//	plan, err := m.Plan(run, t)       // public: the next step and its largest cost
//	point := m.Draw(source, plan, x)  // the only call that sees the secret
//	err = m.Add(run, point)           // public: extends the run
//
// # The promise
//
// For traces x and x', and for every run r of points, times and outcomes of tests,
//
//	P(r | x) <= exp(epsilon * (max_i d(x_i, x'_i) + slack)) * P(r | x')
//
// where the slack is the effect of rounding to the lattice: a cell's diagonal on a
// plane, a step for readings off their universe's grid. This is theorem 3.1 of the
// paper. It holds for every prediction, however bad, and every budget manager,
// because each step is private at the epsilon that it spends (proof at [Mechanism.Draw]), is
// planned from the earlier reports alone, and spends no more than the remainder
// ([budget.Manager]). Points reported without a test, a stopped run and the times
// reveal nothing, as they are functions of public data.
//
// The bound is for the whole trace. A run that starts afresh has an epsilon of its own,
// and the two add up: it would be an assumption, not a theorem, that one day's traces
// tell nothing about those of the next.
//
// # Not promised
//
// Accuracy depends on the predictions. See [Policy] for the effect of the settings.
//
// A Mechanism is immutable and safe for concurrent use; a [Run] is not.
package trace
