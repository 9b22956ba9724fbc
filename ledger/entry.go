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

// Entry is one step in the history of a ledger: it changes the spent and reserved amounts of an account,
// or sets its limit. An entry without a unit changes no account's balance: it records
// the spending of a role, see [RoleBudgetOf], or an event of the ledger itself, such as that it was
// restored from a copy. The entries of a ledger form a chain, in which each has the hash of itself
// and the one before it.
type Entry struct {
	ID          int64 // grows by one from entry to entry, from 1
	Statement   int64 // the ID of the first entry of the same run of an SQL statement
	Time        int64 // in microseconds since 1970
	Function    string
	Account     string
	Unit        budget.Unit
	Spent       budget.Amount // may be below 0, as may Reserved
	Reserved    budget.Amount
	Evaluations int64
	Window      WindowUse     // of the account after the entry
	Limit       budget.Amount // that the entry sets, or NoLimit
	LimitWindow int64         // seconds; 0 for none
}

// NoLimit is the Limit of an entry that changes spent and reserved amounts.
const NoLimit budget.Amount = -1

// Head names an entry and, through its hash, all entries before it.
type Head struct {
	ID   int64 // 0 before the first entry
	Hash [sha256.Size]byte
}

// String returns the id and the hash in hexadecimal, as [ParseHead] reads them.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.ID, h.Hash) }

// ParseHead reads a head from the text that [Head.String] returns.
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

// Genesis returns the head of an empty ledger. It depends on the ledger's id, so that entries
// of one ledger do not verify in another.
func Genesis(id string) Head {
	return Head{0, sha256.Sum256([]byte("geosql ledger " + id))}
}

// Next makes e the entry after h: it sets the ID of e and returns the new head. It uses the
// memory of scratch, which callers keep from call to call.
//
// Every field is hashed in a form that can be read back, texts behind their length, so that
// different entries have different input.
func (h Head) Next(e *Entry, scratch *[]byte) Head {
	e.ID = h.ID + 1
	b := append((*scratch)[:0], h.Hash[:]...)
	for _, v := range [...]int64{
		e.ID, e.Statement, e.Time, int64(e.Spent), int64(e.Reserved), e.Evaluations,
		e.Window.Start, int64(e.Window.Spent), int64(e.Limit), e.LimitWindow,
	} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, s := range [...]string{e.Function, e.Account, string(e.Unit)} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	*scratch = b
	return Head{e.ID, sha256.Sum256(b)}
}
