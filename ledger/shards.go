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
	// the number of shards must be the same, else OpenSharded returns a [*ReleaseError]. A release that
	// was complete before its ledger moved is published and has no shards: only releases
	// move, and a ledger in which one in shards is not complete cannot move.
	OpenSharded(id string, plan ReleasePlan, shards int) (Sharded, error)
}

// Sharded is a release of rows that are drawn shard by shard, by any number of processes on any
// number of machines at any time. Every step can be repeated and interrupted.
//
// First the rows of every account are counted in each shard. Then the accounts are charged, each
// once, for all of its rows: see [Release]. Only then may a shard be drawn, into a file that nobody
// but its process sees. Publish decides which of several draws of a shard may be seen: one charge
// pays for one draw.
type Sharded interface {
	Release

	// Progress returns how far all processes together are.
	Progress() (ShardProgress, error)

	// Shard returns the state of a shard, and Shards that of all shards, in their order.
	Shard(shard int) (Shard, error)
	Shards() iter.Seq2[Shard, error]

	// Claim asks for a shard to count, or once all accounts are charged for one to draw, that
	// nobody else is told of for some time. Wanted is its number, or -1 for any. Claim returns -1
	// if somebody has it, or has done it. The holder of a shard claims it again for more time, or for
	// none to leave it to others. A claim saves work and decides nothing: a process that counts or
	// draws a shard without one does no harm.
	Claim(wanted int, lease time.Duration) (shard int, err error)

	// SetCount stores the count of a shard: how many rows each account has in it, in ascending order
	// of accounts (their Evaluations; Epsilon is ignored), and the info about it. All of it is
	// stored or nothing. A second count of a shard must have the same digest as the first, else
	// SetCount returns a [*ReleaseError]: the input has changed. It changes nothing. Accounts must
	// not use the ledger.
	SetCount(shard int, digest string, info []byte, accounts iter.Seq2[Item, error]) error

	// Accounts returns, once all shards are counted, how many rows each account has in all of
	// them (Evaluations), in ascending order, of the accounts behind the first skip.
	Accounts(skip int64) iter.Seq2[Item, error]

	// Excess returns the accounts of a shard that have more than most rows up to its end, and how
	// many of their rows in it are among their first ones (Evaluations), in ascending order.
	Excess(shard int, most int64) iter.Seq2[Item, error]

	// SetCharged says that all accounts are charged. It fails if the number of accounts that
	// are charged is not that of the accounts that were counted.
	SetCharged() error

	// Publish stores which draw of a shard may be seen, if there is none yet and all accounts are
	// charged. It returns the draw that is stored: another attempt than the one given is to be
	// removed unseen. After an error the attempt may be stored all the same, and must be kept.
	Publish(shard int, attempt Attempt) (Attempt, error)
}

// ShardProgress says how far a release in shards is.
type ShardProgress struct {
	Counted int // shards
	Charged bool
	Drawn   int // shards with a draw that may be seen
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
