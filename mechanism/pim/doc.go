// Package pim reports a moving person's location step by step, hidden among the
// places where the person may be according to the earlier reports: the planar
// isotropic mechanism on delta-location sets (Xiao, Xiong, Protecting Locations with
// Differential Privacy under Temporal Correlations, CCS 2015, called the paper). It imports exact,
// markov and planar. Start at Mechanism.
//
// A public Markov model (package markov) turns the earlier reports into a prior
// probability of each cell of a grid. The delta-location set is the smallest set of
// cells with a probability of at least 1 - delta. The location's cell, or the nearest
// one in the set if the set leaves it out, is reported with noise shaped by the
// differences of the set's cells, and the report turns the prior into a posterior. A [Mechanism] is a
// model with a [Policy]; a step takes three calls, so that its cost can be charged
// before anything is drawn:
//
//	plan, err := run.Plan(t)          // public: the set, and the law of the noise
//	z := plan.Draw(source, cell)      // the only call that sees the secret
//	run.Add(plan, z)                  // public: updates the belief
//
// # The promise
//
// For any two cells x and x' of the grid, whatever was reported before, and every z,
//
//	P(z | x) <= e^epsilon * P(z | x'),
//
// and locations in one cell are indistinguishable. Proof at [Plan.Draw]. The bound is
// per step: over T steps it is T*epsilon, and that is the charge, since nothing is
// forgotten when the set moves on.
//
// The promise does not rest on the model. A wrong model costs accuracy, as do sets that
// leave out where the person is, but neither costs privacy. All that follows from the reports
// and the model together, including the sets, is public. The noise hides the cell among
// those of the set, and a set of one cell hides nothing: earlier reports and the model
// have told all. [Policy.MinSet] sets the least number of cells.
//
// # The public estimate
//
// A report is noise about as wide as its set. The best public estimate after all reports is
// mostly much nearer to the secret: [Run.Mean], [Run.Likeliest] and [Run.Area] return it. They
// follow from the reports and the model, so they cost nothing, and show nothing that the
// reports have not shown.
//
// # Accuracy
//
// By theorem 5.10 of the paper the error is within a constant factor of the best
// possible one, sqrt(area of K)/epsilon, where K is the sensitivity hull of the set. That
// holds for hulls about as wide as long, not for thin ones: half sides of 10 and 0.1 make
// an error of 20/epsilon, but the square root of the area is 2. Sets on a line have no
// area; their noise stays on the line.
//
// # No isotropic transformation
//
// The paper moves K into isotropic position by a random matrix T, draws uniformly
// there, and moves back. But if y is uniform in TK then T^-1 y is uniform in K: the
// matrix cancels, whatever it is. And |Tz|_TK = |z|_K, so the inference of section
// 5.3 is the same without it too. Here K itself is sampled, exactly.
package pim
