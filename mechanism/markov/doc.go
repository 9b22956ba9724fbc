// Package markov holds public knowledge about how people move: a [Grid] of cells over a
// domain and, as a [Model], a Markov chain on it, trained from traces. The chain
// describes temporal correlations (Xiao, Xiong, Protecting Locations with Differential
// Privacy under Temporal Correlations, CCS 2015, section 2.2). It imports planar. Start at Model
// and Trainer.
//
// # Nothing here protects a secret
//
// A model is public: everybody who may ask for a report may know it. Its counts, its binary
// form and the reports that rest on it tell about the traces that it was trained on.
// Training adds no noise. A model trained on secrets releases them: train on public data,
// or on data of nobody who needs protection. A mechanism that uses a model must keep its
// promise for every model: a wrong one may only make its reports less useful.
//
// # The chain
//
// [Trainer] describes the counting. Let c_i be the counts of the transitions from cell i,
// and n_i their sum. Let u_i be the distribution of a move that stays in the cell with
// the overall share of transitions that stay in theirs, and otherwise goes to one of its
// neighbours, up to eight of them, with equal probabilities. Row i of the transition
// matrix is
//
//	(1 - 1e-6) * (c_i + u_i)/(n_i + 1) + 1e-6/cells
//
// so that people leave a cell without visits as fast as they leave others, and no cell is
// ever ruled out: the chain is irreducible. A [Model] stores the counts that are not zero
// and two numbers per cell; the matrix is never written out.
//
// Start and Advance return the same bits on every processor: products are rounded before
// they are added, and sums are computed in one order.
package markov
