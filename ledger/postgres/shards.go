package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// sharded implements [ledger.Sharded].
type sharded struct {
	ledger.Release
	ledger *Ledger
	id     string
	number int64  // of the release
	shards int    // that it has
	owner  []byte // of its claims
}

// OpenSharded implements [ledger.Shared].
func (l *Ledger) OpenSharded(id string, plan ledger.ReleasePlan, shards int) (ledger.Sharded, error) {
	release, err := l.OpenRelease(id, plan)
	if err != nil {
		return nil, err
	}
	s := &sharded{Release: release, ledger: l, id: id, shards: shards, owner: make([]byte, 16)}
	_, _ = rand.Read(s.owner) // never fails
	stored, err := s.find()
	if err == nil && stored == 0 {
		if release.Published() != nil {
			return s, nil // its shards did not move with it
		}
		stored, err = s.add(shards)
	}
	if err == nil && stored != int64(shards) {
		err = &ledger.ReleaseError{ID: id, Reason: fmt.Sprintf("has %d shards; another release needs another id", stored)}
	}
	if err == nil && release.Published() != nil {
		err = s.forgetCounts() // that a process left which was killed
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

const shardingSQL = "SELECT number, shards FROM geosql.sharding WHERE release = $1"

// find returns the number of shards that the release has, or 0 if it has not begun.
func (s *sharded) find() (shards int64, err error) {
	err = s.view(func(r *reader) error {
		_, err := r.row(shardingSQL, []any{s.id}, &s.number, &shards)
		return err
	})
	return shards, err
}

// add begins the release in shards, unless somebody else has, and returns how many it has.
func (s *sharded) add(n int) (shards int64, err error) {
	err = s.update(func(t *transaction) error {
		if err := t.write("INSERT INTO geosql.sharding(release, shards) VALUES ($1, $2) ON CONFLICT DO NOTHING", s.id, int64(n)); err != nil {
			return err
		}
		if found, err := t.row(shardingSQL, []any{s.id}, &s.number, &shards); err != nil || !found {
			return errors.Join(err, errAnswerUnless(found))
		}
		return t.write("INSERT INTO geosql.part(release, shard) SELECT $1::bigint, generate_series(0, $2::bigint - 1) ON CONFLICT DO NOTHING", s.number, shards)
	})
	return shards, err
}

// errAnswerUnless returns an error unless a row was found that must be there.
func errAnswerUnless(found bool) error {
	if found {
		return nil
	}
	return errAnswer
}

func (s *sharded) view(work func(*reader) error) error {
	return engine.Wrap(s.ledger.store.view(context.Background(), work))
}

func (s *sharded) update(work func(*transaction) error) error { return s.ledger.store.update(work) }

// Progress implements [ledger.Sharded].
func (s *sharded) Progress() (p ledger.ShardProgress, err error) {
	err = s.view(func(r *reader) error {
		_, err := r.row(`
SELECT s.charged, count(p.digest), count(p.file) FROM geosql.sharding AS s JOIN geosql.part AS p ON p.release = s.number
WHERE s.number = $1 GROUP BY s.charged`, []any{s.number}, &p.Charged, &p.Counted, &p.Drawn)
		return err
	})
	return p, err
}

// partColumns are the columns that scanPart reads.
const partColumns = "coalesce(digest, ''), info, coalesce(file, ''), coalesce(sha256, ''), draw, digest IS NOT NULL"

// scanPart reads the state of a shard.
func scanPart(rows pgx.Rows) (x ledger.Shard, err error) {
	var drawn ledger.Attempt
	err = rows.Scan(&x.Digest, &x.Info, &drawn.File, &drawn.SHA256, &drawn.Info, &x.Counted)
	if drawn.File != "" {
		x.Drawn = &drawn
	}
	return x, err
}

// Shard implements [ledger.Sharded].
func (s *sharded) Shard(shard int) (x ledger.Shard, err error) {
	all, err := s.parts(int64(shard), 1)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("ledger: release %s has no shard %d", s.id, shard)
	}
	if err != nil {
		return x, err
	}
	return all[0], nil
}

// parts returns the states of up to n shards, from one on.
func (s *sharded) parts(from int64, n int) (all []ledger.Shard, err error) {
	err = s.view(func(r *reader) error {
		all = all[:0]
		return r.query("SELECT "+partColumns+" FROM geosql.part WHERE release = $1 AND shard >= $2 ORDER BY shard LIMIT $3", func(rows pgx.Rows) error {
			x, err := scanPart(rows)
			all = append(all, x)
			return err
		}, s.number, from, int64(n))
	})
	return all, err
}

// partsAtOnce is how many shards are read at a time. In between no connection is kept.
const partsAtOnce = 64

// Shards implements [ledger.Sharded].
func (s *sharded) Shards() iter.Seq2[ledger.Shard, error] {
	return func(yield func(ledger.Shard, error) bool) {
		for from := 0; ; from += partsAtOnce {
			all, err := s.parts(int64(from), partsAtOnce)
			if err != nil {
				yield(ledger.Shard{}, err)
				return
			}
			for _, x := range all {
				if !yield(x, nil) {
					return
				}
			}
			if len(all) < partsAtOnce {
				return
			}
		}
	}
}

// Claim implements [ledger.Sharded].
func (s *sharded) Claim(wanted int, lease time.Duration) (shard int, err error) {
	err = s.update(func(t *transaction) error {
		shard = -1
		found, err := t.row(`
UPDATE geosql.part SET owner = $3, leased = $4 + $5 WHERE release = $1 AND shard = (
  SELECT p.shard FROM geosql.part AS p JOIN geosql.sharding AS s ON s.number = p.release
  WHERE p.release = $1 AND ($2 < 0 OR p.shard = $2)
    AND (p.digest IS NULL OR s.charged AND p.file IS NULL) AND (p.leased <= $4 OR p.owner = $3)
  ORDER BY p.shard LIMIT 1 FOR UPDATE OF p SKIP LOCKED)
RETURNING shard`, []any{s.number, int64(wanted), s.owner, t.now, lease.Microseconds()}, &shard)
		if found {
			t.written++
		}
		return err
	})
	return shard, err
}

// SetCount implements [ledger.Sharded].
func (s *sharded) SetCount(shard int, digest string, info []byte, accounts iter.Seq2[ledger.Item, error]) error {
	return s.update(func(t *transaction) error {
		var before string
		found, err := t.row("SELECT coalesce(digest, '') FROM geosql.part WHERE release = $1 AND shard = $2 FOR UPDATE", []any{s.number, int64(shard)}, &before)
		switch {
		case err != nil || !found:
			return errors.Join(err, errAnswerUnless(found))
		case before == digest:
			return nil
		case before != "":
			return &ledger.ReleaseError{ID: s.id, Reason: fmt.Sprintf("has another input: shard %d was counted with other rows", shard)}
		}
		if err := s.addCounts(t, shard, accounts); err != nil {
			return err
		}
		return t.write("UPDATE geosql.part SET digest = $3, info = $4, leased = 0 WHERE release = $1 AND shard = $2", s.number, int64(shard), digest, info)
	})
}

// SetCharged implements [ledger.Sharded].
func (s *sharded) SetCharged() error {
	var counted int64 // which cannot change any more, but for the counts that Seal removes
	for _, err := range s.Accounts(0) {
		if err != nil {
			return err
		}
		counted++
	}
	return s.update(func(t *transaction) error {
		var charged, left int64
		var said bool // by another process, which may have sealed the release since
		found, err := t.row(`
SELECT r.charged, (SELECT count(*) FROM geosql.part WHERE release = $2 AND digest IS NULL),
  (SELECT charged FROM geosql.sharding WHERE number = $2)
FROM geosql.release AS r WHERE r.id = $1 FOR UPDATE`, []any{s.id, s.number}, &charged, &left, &said)
		switch {
		case err != nil || !found:
			return errors.Join(err, errAnswerUnless(found))
		case said:
			return nil
		case left > 0:
			return fmt.Errorf("ledger: release %s: %d shards are not counted", s.id, left)
		case charged != counted:
			return fmt.Errorf("ledger: release %s: %d of %d accounts are charged", s.id, charged, counted)
		}
		return t.write("UPDATE geosql.sharding SET charged = true WHERE number = $1", s.number)
	})
}

// Publish implements [ledger.Sharded].
func (s *sharded) Publish(shard int, attempt ledger.Attempt) (ledger.Attempt, error) {
	var stored ledger.Attempt
	err := s.update(func(t *transaction) error {
		err := t.write(`
UPDATE geosql.part SET file = $3, sha256 = $4, draw = $5 WHERE release = $1 AND shard = $2 AND file IS NULL
  AND (SELECT charged FROM geosql.sharding WHERE number = $1)`, s.number, int64(shard), attempt.File, attempt.SHA256, attempt.Info)
		if err != nil {
			return err
		}
		stored = ledger.Attempt{}
		found, err := t.row("SELECT coalesce(file, ''), coalesce(sha256, ''), draw FROM geosql.part WHERE release = $1 AND shard = $2",
			[]any{s.number, int64(shard)}, &stored.File, &stored.SHA256, &stored.Info)
		if err == nil && (!found || stored.File == "") {
			err = fmt.Errorf("ledger: release %s: shard %d cannot be published before all accounts are charged", s.id, shard)
		}
		return err
	})
	return stored, err
}

// Seal implements [ledger.Release].
func (s *sharded) Seal(sha256 string) error {
	if err := s.Release.Seal(sha256); err != nil {
		return err
	}
	return s.forgetCounts()
}

// forgetCounts removes how many rows each account has, which nobody needs any more.
func (s *sharded) forgetCounts() error {
	some := false
	err := s.view(func(r *reader) error {
		_, err := r.row("SELECT EXISTS (SELECT FROM geosql.part_count WHERE release = $1)", []any{s.number}, &some)
		return err
	})
	if err != nil || !some {
		return err
	}
	return s.update(func(t *transaction) error {
		return t.write("DELETE FROM geosql.part_count WHERE release = $1", s.number)
	})
}
