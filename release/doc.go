// Package release publishes a sanitised copy of a data set of locations, as the
// algorithm of figure 5.12 does (Bordenabe, Measuring Privacy with Distinguishability
// Metrics (2014), section 5.4): every location is replaced by a draw of a planar
// mechanism around it, and the account that it is about is charged in the ledger. It imports
// dataset, ledger and mechanism/planar. Start at Spec and Run.
//
// # The promise
//
// A released location is at most exp(epsilon*(d + step*sqrt 2)) times as likely from one
// location as from another d metres away: see [planar.Laplace.Draw]. Draws are independent,
// so the exponents of several locations of an account add up, and the account is charged
// epsilon for each. Everything else is public: the number and the order of the rows, the
// kept columns, which coordinates are NULL, which rows are invalid as text, and that no more
// locations than the spec allows lay outside the box.
//
// # Two passes
//
// The input is read twice, in batches, so that memory does not grow with it. The first
// pass refuses invalid input before anything is charged, counts the locations of every
// account, and computes the digest of everything that the second pass will use. Accounts
// that do not fit into memory are sorted in a file without a name.
//
// Between the passes the release checks that the locations lie in the box, but for a share that
// the spec allows, and that all accounts can pay. Until then the ledger knows nothing of it, so
// that a refusal charges nobody and settings can be mended. Then it charges them, in order and many per transaction. In the second pass workers
// draw, and one goroutine appends their batches to the temporary file, in the order of the
// input.
//
// # Killed at any point
//
// The ledger records how many accounts are charged. The same command, run again, charges
// the remaining accounts and draws all rows again into the temporary file. So one charge may
// pay for several draws of a row. That is sound because only one of them is ever seen: the
// draws of an unfinished attempt were in a file that nobody but its owner can read, that has
// no other name, and that is emptied before the next attempt. Once the complete file is
// synced, the ledger seals the release with its hash, and only then does the file get its
// name. Nothing is drawn for a sealed release: a crash between the seal and the rename
// leaves exactly the sealed file, and the next run renames it.
//
// # In shards
//
// [RunShards] releases an input in several files, with any number of processes that share a
// ledger. The ledger keeps how far each shard is ([ledger.Sharded]), and every step can be repeated
// by anybody: all shards are counted, then all accounts are charged, then each shard is drawn
// into a file that nobody else reads. The first draw of a shard that the ledger stores is the one that may
// be seen, and any other is removed. Nobody needs a shard's claim to be right; it saves work.
//
// Start reading at RunShards (shard.go), which opens the release in the ledger; its loop asks how far all processes are, and does
// the next step. countNext claims a shard for a while, reads it, and stores how many rows each account has. chargeNext checks the
// whole input, and that all can pay, and charges the accounts in ascending order, unless another process does. drawNext draws a
// shard into a draft, syncs it, and publishes it by a compare-and-set in the ledger; any process may rename the published draft.
// complete writes the report and the manifest, and seals the release.
package release
