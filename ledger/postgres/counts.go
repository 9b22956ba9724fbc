package postgres

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/geosql/geosql/internal/intern"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
)

// How many rows accounts have in a shard is stored in blocks, each a row of the server: for each of
// some accounts, in ascending order, the number of rows, the length of its name, and the name. A row
// for each account would make counting cost more than releasing.

// blockSize returns how many bytes a block has, roughly: a reader of all shards side by side has a
// block of each in memory.
func (s *sharded) blockSize() int { return min(1<<16, max(1<<12, 1<<28/s.shards)) }

// addCounts stores how many rows accounts have in a shard.
func (s *sharded) addCounts(t *transaction, shard int, accounts iter.Seq2[ledger.Item, error]) error {
	var block []byte
	first, last := "", ""
	write := func() error {
		err := t.write("INSERT INTO geosql.part_count(release, shard, first, counts) VALUES ($1, $2, $3, $4)", s.number, int64(shard), first, slices.Clone(block))
		block = block[:0]
		return err
	}
	blocks := 0
	for x, err := range accounts {
		if err == nil {
			err = checkNames(x.Account)
		}
		if err == nil && x.Account <= last {
			err = fmt.Errorf("ledger: account %s is counted after %s", printable.SQL(x.Account), printable.SQL(last))
		}
		if err != nil {
			return err
		}
		last = x.Account
		if len(block) == 0 {
			first = x.Account
		}
		block = binary.AppendUvarint(block, uint64(x.Evaluations))
		block = binary.AppendUvarint(block, uint64(len(x.Account)))
		block = append(block, x.Account...)
		if len(block) < s.blockSize() {
			continue
		}
		if err := write(); err != nil {
			return err
		}
		if blocks++; blocks%16 == 0 { // so that they do not all wait in memory
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	if len(block) == 0 {
		return nil
	}
	return write()
}

// counts reads the counts of a shard block by block.
type counts struct {
	sharded *sharded
	shard   int
	all     []ledger.Item // of the block
	next    int
	last    bool // there is no other block
}

// fill reads the next block unless there is something left of this one. It reports false if there is
// none.
func (c *counts) fill() (bool, error) {
	for c.next == len(c.all) && !c.last {
		after := ""
		if len(c.all) > 0 {
			after = c.all[len(c.all)-1].Account
		}
		c.all, c.next = c.all[:0], 0
		err := c.sharded.view(func(r *reader) error {
			var block []byte
			found, err := r.row("SELECT counts FROM geosql.part_count WHERE release = $1 AND shard = $2 AND first > $3 ORDER BY first LIMIT 1",
				[]any{c.sharded.number, int64(c.shard), after}, &block)
			if c.last = !found; err == nil && found {
				err = c.decode(block)
			}
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return c.next < len(c.all), nil
}

// decode reads a block.
func (c *counts) decode(block []byte) error {
	text := string(block) // the names are parts of it
	for at := 0; at < len(block); {
		rows, n := binary.Uvarint(block[at:])
		at += max(n, 0)
		length, m := binary.Uvarint(block[at:])
		at += max(m, 0)
		if n <= 0 || m <= 0 || length > uint64(len(block)-at) {
			return errAnswer
		}
		c.all = append(c.all, ledger.Item{Account: text[at : at+int(length)], Evaluations: int64(rows)})
		at += int(length)
	}
	return nil
}

// upTo returns the rest of the block up to an account, and takes it away.
func (c *counts) upTo(account string) []ledger.Item {
	rest := c.all[c.next:]
	n := sort.Search(len(rest), func(i int) bool { return rest[i].Account > account })
	c.next += n
	return rest[:n]
}

// A tally adds up how many rows accounts have.
type tally struct {
	names intern.Table
	rows  []int64
}

func (t *tally) add(all []ledger.Item) {
	for _, x := range all {
		i := t.names.Number([]byte(x.Account))
		if i == len(t.rows) {
			t.rows = append(t.rows, 0)
		}
		t.rows[i] += x.Evaluations
	}
}

// take returns the accounts in ascending order, and empties the tally.
func (t *tally) take() []ledger.Item {
	all := make([]ledger.Item, len(t.rows))
	for i, n := range t.rows {
		all[i] = ledger.Item{Account: string(t.names.Name(i)), Evaluations: n}
	}
	t.names.Reset()
	t.rows = t.rows[:0]
	slices.SortFunc(all, func(a, b ledger.Item) int { return strings.Compare(a.Account, b.Account) })
	return all
}

// Accounts implements [ledger.Sharded]. It reads the shards side by side.
func (s *sharded) Accounts(skip int64) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		all := make([]*counts, s.shards)
		for i := range all {
			all[i] = &counts{sharded: s, shard: i}
		}
		var sum tally
		left := skip
		for {
			known, err := addNext(&all, &sum)
			if err != nil {
				yield(ledger.Item{}, err)
				return
			}
			if !known {
				return
			}
			page := sum.take()
			n := min(left, int64(len(page)))
			left -= n
			for _, x := range page[n:] {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

// addNext adds the next accounts of all shards to a sum: the ones that all shards have read. It
// removes shards that have no more, and reports false if none is left.
func addNext(all *[]*counts, sum *tally) (bool, error) {
	bound := ""
	left := (*all)[:0]
	for _, c := range *all {
		some, err := c.fill()
		if err != nil {
			return false, err
		}
		if !some {
			continue
		}
		left = append(left, c)
		if last := c.all[len(c.all)-1].Account; len(left) == 1 || last < bound {
			bound = last
		}
	}
	*all = left
	for _, c := range left {
		sum.add(c.upTo(bound))
	}
	return len(left) > 0, nil
}

// Excess implements [ledger.Sharded]. It reads the shards before it side by side.
func (s *sharded) Excess(shard int, most int64) iter.Seq2[ledger.Item, error] {
	return func(yield func(ledger.Item, error) bool) {
		here := &counts{sharded: s, shard: shard}
		earlier := make([]*counts, shard)
		for i := range earlier {
			earlier[i] = &counts{sharded: s, shard: i}
		}
		for {
			some, err := here.fill()
			if err != nil {
				yield(ledger.Item{}, err)
				return
			}
			if !some {
				return
			}
			block := here.all[here.next:]
			here.next = len(here.all)
			before, err := rowsUpTo(earlier, block[len(block)-1].Account)
			if err != nil {
				yield(ledger.Item{}, err)
				return
			}
			for _, x := range block {
				n := before.of(x.Account)
				if n+x.Evaluations > most && !yield(ledger.Item{Account: x.Account, Evaluations: max(0, most-n)}, nil) {
					return
				}
			}
		}
	}
}

// rowsUpTo adds up the counts of shards up to an account, from where they were read to.
func rowsUpTo(shards []*counts, account string) (*tally, error) {
	sum := new(tally)
	for _, c := range shards {
		for {
			some, err := c.fill()
			if err != nil {
				return nil, err
			}
			if !some {
				break
			}
			sum.add(c.upTo(account))
			if c.next < len(c.all) {
				break
			}
		}
	}
	return sum, nil
}

// of returns how many rows an account has.
func (t *tally) of(account string) int64 {
	if i, found := t.names.Find([]byte(account)); found {
		return t.rows[i]
	}
	return 0
}
