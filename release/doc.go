// Package release publishes a sanitised copy of a data set of locations, as the
// algorithm of figure 5.12 does (Bordenabe, Measuring Privacy with Distinguishability
// Metrics (2014), section 5.4): every location becomes a draw of the planar Laplace
// mechanism around it, and what it is about pays for it in the ledger.
//
// # What is promised
//
// Two locations d metres apart, in the same row, are distinguishable by at most
// epsilon*(d + step*sqrt 2): see [planar.Laplace.Draw]. Draws are independent, so what is
// said about several locations of an account adds up, and the account is charged epsilon
// for each. All else is public: how many rows there are and in which order, the columns
// that are kept, which coordinates are NULL, and which rows are invalid as text.
//
// # Two passes
//
// The input is read twice, in batches, so that memory does not grow with it. The first
// pass refuses what is wrong before anything is charged, counts the locations of every
// account, and takes the digest of everything that the second one will use. Accounts that
// are too many for memory are sorted in a file without a name.
//
// Between the passes all accounts are asked whether they can pay, so that a refusal charges
// nobody, and are then charged, in their order and many in a transaction. In the second pass
// workers draw, and one goroutine adds their batches to the temporary file, in the order of
// the input.
//
// # Killed at any point
//
// The ledger knows how many accounts are charged. The same command charges those behind
// them, and draws all rows anew, over the remains of the temporary file. So
// several draws of one row may have been made, and one charge paid for them. That is
// sound because only one of them is ever seen: the draws of an attempt that did not end
// were in a file that nobody but its owner can read, which is emptied before the next
// attempt, and which had no other name. Once a whole file is synced, the ledger seals the
// release with its hash, and only then it gets its name. Under an id that is sealed
// nothing is drawn: a crash between the seal and the name leaves the very file that is
// sealed, and the next run gives it its name.
package release
