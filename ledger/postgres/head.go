package postgres

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/ledger"
)

// The head of a ledger with several writers.
//
// It stands for the last entries of all writers, which a text lists: a line for each writer that has
// entries, in ascending order. Its ID is how many entries there are, and its hash is that of the
// text. Table head keeps the text of each head that somebody was told, so that Verify can find out
// later which entries it stood for. If all entries come from a ledger in a file, the head is that of the file,
// and stands for itself.

// chain is the chain of a writer's entries.
type chain struct {
	head     ledger.Head // as far as it was followed
	end      ledger.Head // as the writer's row says
	archived ledger.Head // the last entry that the ledger does not hold any more
	wanted   []ledger.Head
}

// chains are the chains of a ledger by their writers.
type chains map[string]*chain

// chains reads where the chains of all writers begin and end.
func (r *reader) chains() (chains, error) {
	all := chains{}
	err := r.query("SELECT replace(id::text, '-', ''), seq, hash, archived, archived_hash FROM geosql.writer", func(rows pgx.Rows) error {
		var id string
		var end, archived int64
		var endHash, archivedHash []byte
		if err := rows.Scan(&id, &end, &endHash, &archived, &archivedHash); err != nil {
			return err
		}
		first := genesis(r.store.id, id)
		if archived == 0 {
			archivedHash = first.Hash[:]
		}
		c := &chain{end: ledger.Head{ID: end}, archived: ledger.Head{ID: archived}}
		if len(endHash) != sha256.Size || len(archivedHash) != sha256.Size {
			return fmt.Errorf("the ledger is damaged: a hash of writer %s has another length", id)
		}
		copy(c.end.Hash[:], endHash)
		copy(c.archived.Hash[:], archivedHash)
		c.head = c.archived
		all[id] = c
		return nil
	})
	return all, err
}

// combine returns the head that stands for some head of each chain, and the text that says which.
// The text is "" for a head that stands for itself.
func (all chains) combine(id string, of func(*chain) ledger.Head) (h ledger.Head, text string) {
	h = ledger.Genesis(id)
	var b strings.Builder
	var moved bool
	for _, writer := range slices.Sorted(maps.Keys(all)) {
		if last := of(all[writer]); last.ID > 0 {
			if moved = b.Len() == 0 && writer == movedWriter; moved {
				h = last
			}
			fmt.Fprintf(&b, "%s %v\n", writer, last)
		}
	}
	if text = b.String(); text == "" || moved && strings.Count(text, "\n") == 1 {
		return h, ""
	}
	return headOf(id, text)
}

// headOf returns the head of a text with its list.
func headOf(id, text string) (ledger.Head, string) {
	h := ledger.Head{Hash: sha256.Sum256([]byte("geosql ledger " + id + " writers\n" + text))}
	for line := range strings.Lines(text) {
		if _, last, err := parseHeadLine(line); err == nil {
			h.ID += last.ID
		}
	}
	return h, text
}

// parseHeadLine reads a line of a text that a head stands for.
func parseHeadLine(line string) (writer string, h ledger.Head, err error) {
	writer, head, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	h, err = ledger.ParseHead(head)
	return writer, h, err
}

// Head implements [ledger.Ledger]. A role that may not write is told only a head that is stored
// already.
func (l *Ledger) Head() (h ledger.Head, err error) {
	var known bool
	err = l.read(func(r *reader) error {
		h, known, err = r.head()
		return err
	})
	if err != nil || known {
		return h, err
	}
	err = l.store.update(func(t *transaction) error {
		all, err := t.chains()
		if err != nil {
			return err
		}
		var text string
		if h, text = all.combine(l.ID(), endOf); text == "" {
			return nil
		}
		return t.write("INSERT INTO geosql.head(entries, hash, vector, taken) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", h.ID, h.Hash[:], text, t.now)
	})
	if hasCode(err, insufficientPrivilege) {
		return ledger.Head{}, errors.New("ledger: this role may not write to the ledger, which has to store the entries that a head stands for, so that Verify finds them: have a role that may write ask for it")
	}
	return h, err
}

const insufficientPrivilege = "42501"

func endOf(c *chain) ledger.Head { return c.end }

// head returns the head, and whether Verify will know its entries.
func (r *reader) head() (h ledger.Head, known bool, err error) {
	all, err := r.chains()
	if err != nil {
		return h, false, err
	}
	h, text := all.combine(r.store.id, endOf)
	if text == "" {
		return h, true, nil
	}
	known, err = r.row("SELECT true FROM geosql.head WHERE entries = $1 AND hash = $2", []any{h.ID, h.Hash[:]}, &known)
	return h, known, err
}

// want has the chains lead through the entries of a head.
func (v *verifier) want(r *reader, earlier ledger.Head) error {
	now, _ := v.chains.combine(r.store.id, endOf)
	if earlier == now || earlier == ledger.Genesis(r.store.id) {
		return nil
	}
	var text string
	known, err := r.row("SELECT vector FROM geosql.head WHERE entries = $1 AND hash = $2", []any{earlier.ID, earlier.Hash[:]}, &text)
	if err != nil {
		return err
	}
	if !known {
		if moved := v.chains[movedWriter]; moved != nil && earlier.ID > 0 && earlier.ID <= moved.end.ID {
			return v.wantHead(movedWriter, earlier)
		}
		if earlier.ID > now.ID {
			return fmt.Errorf("the ledger has %d entries, fewer than the %d of the head given: entries were removed, or an older copy was put back", now.ID, earlier.ID)
		}
		return errors.New("the ledger does not know the head given: an older copy was put back, the ledger was rewritten, or the head is another ledger's")
	}
	if stands, _ := headOf(r.store.id, text); stands != earlier {
		return errors.New("the stored list of entries of the given head was changed")
	}
	for line := range strings.Lines(text) {
		writer, h, err := parseHeadLine(line)
		if err := cmp.Or(err, v.wantHead(writer, h)); err != nil {
			return err
		}
	}
	return nil
}

// wantHead has the chain of a writer lead through a head.
func (v *verifier) wantHead(writer string, h ledger.Head) error {
	c := v.chains[writer]
	switch {
	case c == nil:
		return fmt.Errorf("writer %s of the head given is missing: entries were removed", writer)
	case h.ID < c.archived.ID && v.whole == nil:
		return fmt.Errorf("the head given, of entry %d of writer %s, can only be verified with the archive that holds entries 1 to %d", h.ID, writer, c.archived.ID)
	}
	c.wanted = append(c.wanted, h)
	return nil
}

// check checks that the head is a wanted one, if one with its ID is wanted.
func (c *chain) check(writer string) error {
	for _, w := range c.wanted {
		if w.ID == c.head.ID && w.Hash != c.head.Hash {
			return fmt.Errorf("entry %d of writer %s has another hash than its head: the ledger was rewritten, or the head is another ledger's", w.ID, writer)
		}
	}
	return nil
}
