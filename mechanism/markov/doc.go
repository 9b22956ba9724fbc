// Package markov holds public knowledge about moving people: a [Grid] of cells
// over a domain and, as a [Model], a Markov chain on it, trained from traces. It
// is what temporal correlations are known by (Xiao, Xiong, Protecting Locations
// with Differential Privacy under Temporal Correlations, CCS 2015, section 2.2).
//
// # Nothing here protects a secret
//
// A model is public: whoever may ask for a report may know it, and its counts, its
// binary form and the reports that rest on it say what they say about the traces
// it was trained on. Training adds no noise. A model trained on secrets releases
// them; train on data that are public or belong to nobody who is to be protected.
// A mechanism that rests on a model must promise what it promises for every model:
// a wrong one may make it protect other cells and report less usefully, no more.
//
// # The chain
//
// Counting is described at [Trainer]. Let c_i be the counts of the transitions
// from cell i, n_i their sum, and u_i a move that stays in the cell with the
// probability with which everybody was seen to stay in theirs, and else goes to one
// of its neighbours, eight or what of them lies on the grid, with equal
// probabilities. Row i of the transition matrix is
//
//	(1 - 1e-6) * (c_i + u_i)/(n_i + 1) + 1e-6/cells
//
// so that in a cell which nobody was seen in people move on as fast as they do
// elsewhere, and no cell is ever ruled out: the
// chain is irreducible. A [Model] stores the counts that are not zero and two
// numbers per cell; the matrix is never written out.
//
// Start and Advance give the same bits on every processor: products are rounded
// before they are added, and sums are taken in one order.
package markov
