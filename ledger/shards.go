package ledger

import (
	"iter"
	"time"
)

// Shared is a ledger that processes on many machines use at a time, and that keeps the state of
// releases in shards.
type Shared interface {
	Ledger

	// OpenSharded begins a release in shards, or continues the one that has the ID. The plan and
	// the number of shards must be the same, else OpenSharded returns a [*ReleaseError].
	OpenSharded(id string, plan ReleasePlan, shards int) (Sharded, error)
}

// Sharded is a release whose rows are drawn shard by shard, by any number of processes on any
// number of machines at any time. Every step can be repeated and interrupted.
//
// First the rows of every account are counted in each shard. Then the accounts are charged, each
// once, for all of its rows: see [Release]. Only then may a shard be drawn, into a file that nobody
// but its process sees. Publish decides which of several draws of a shard may be seen: one charge
// pays for one draw.
type Sharded interface {
	Release

	// Shards returns the state of all shards, in their order.
	Shards() ([]Shard, error)

	// Claim asks to count a shard for some time, in which nobody else is told to. It reports
	// false if somebody counts it or has counted it.
	Claim(shard int, lease time.Duration) (bool, error)

	// SetCount stores what a shard has: how many rows each account has in it, in ascending order
	// of accounts (their Evaluations; Epsilon is ignored), and what info says of it. All of it is
	// stored or nothing. A second count of a shard must be the same as the first, else SetCount
	// returns a [*ReleaseError]: the input has changed.
	SetCount(shard int, digest string, info []byte, accounts iter.Seq2[Item, error]) error

	// Accounts returns, once all shards are counted, how many rows each account has in all of
	// them (Evaluations), in ascending order, of the accounts behind the first skip.
	Accounts(skip int64) iter.Seq2[Item, error]

	// Before returns how many rows the accounts of a shard have in the shards before it.
	Before(shard int) (map[string]int64, error)

	// SetCharged says that all accounts are charged. It fails if the number of accounts that
	// are charged is not that of the accounts that were counted.
	SetCharged() error

	// Publish stores which draw of a shard may be seen, if there is none yet and all accounts are
	// charged. It returns the draw that is stored: another attempt than the one given is to be
	// removed unseen.
	Publish(shard int, attempt Attempt) (Attempt, error)
}

// Shard is the state of a shard.
type Shard struct {
	Counted bool
	Digest  string // of the input, as counted
	Info    []byte
	Drawn   *Attempt // that may be seen; nil before there is one
}

// Attempt is one draw of a shard.
type Attempt struct {
	File   string // the name of the file that it was written to
	SHA256 string // of its bytes, in hexadecimal
	Info   []byte
}
