package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/budget"
)

// run is one run of an SQL statement. Its number is the id of its first entry
// and 0 until it has one on disk.
type run struct{ number int64 }

// origin is what the entries of one call have in common.
type origin struct {
	run      *run
	time     int64 // microseconds since 1970
	function string
	unit     budget.Unit
}

// entry is a change of an account's balance or of its limit.
type entry struct {
	*origin
	account     string
	spent       budget.Amount
	reserved    budget.Amount
	evaluations int64

	term  term   // that a negative change returns to
	limit *limit // nil for a change of the balance

	taken bool // a note that is being written
}

// record is an entry as it is written: a row of table entry.
type record struct {
	id, statement, time     int64
	function, account, unit string
	spent, reserved         int64
	evaluations             int64
	window                  usage // of the account after the entry
	limit, seconds          int64 // that the entry sets; noLimit where it is of a balance
}

const noLimit = -1

// Head names an entry and, through its hash, all entries before it.
type Head struct {
	ID   int64 // 0 before the first entry
	Hash [sha256.Size]byte
}

// String is the head as [ParseHead] reads it: the id and the hash in hexadecimal.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.ID, h.Hash) }

// ParseHead reads a head.
func ParseHead(s string) (Head, error) {
	var h Head
	number, digits, _ := strings.Cut(s, ":")
	hash, err := hex.DecodeString(digits)
	if err == nil && len(hash) == sha256.Size {
		copy(h.Hash[:], hash)
		h.ID, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil || len(hash) != sha256.Size || h.ID < 0 {
		return Head{}, errors.New("a head is the number of an entry, a colon and 64 hexadecimal digits")
	}
	return h, nil
}

// genesis is the head of an empty ledger. It depends on the ledger's id, so that
// entries of one ledger do not verify in another.
func genesis(id string) Head {
	return Head{0, sha256.Sum256([]byte("geosql ledger " + id))}
}

// chain makes r the entry after h: it gives r its id and returns the new head.
// Every field takes part in the hash in a form that can be read back, texts
// behind their length, so that different entries are different input. Room is
// reused from call to call.
func (h Head) chain(r *record, room *[]byte) Head {
	r.id = h.ID + 1
	b := append((*room)[:0], h.Hash[:]...)
	for _, v := range [...]int64{
		r.id, r.statement, r.time, r.spent, r.reserved, r.evaluations,
		r.window.start, int64(r.window.spent), r.limit, r.seconds,
	} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, s := range [...]string{r.function, r.account, r.unit} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	*room = b
	return Head{r.id, sha256.Sum256(b)}
}
