package keeper

import (
	"fmt"
	"sync"
	"time"

	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
)

// tallies count the new answers that roles make in a day of UTC, as the ledger keeps each for good. They begin anew with the server.
type tallies struct {
	now func() time.Time

	mu  sync.Mutex
	day int64             // since 1970
	of  map[string]*tally // by role
}

type tally struct{ answers, bytes int64 }

// mayDraw returns an error if a role has made all of today's answers, with so many more that are not noted yet. Earlier answers are given
// again all the same.
func (t *tallies) mayDraw(r *role.Role, more int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := t.today(r)
	switch n, bytes := r.MostAnswers(); {
	case made.answers+int64(more) >= n:
		return errManyAnswers("the role has made %d new answers today, as many as it may", made.answers)
	case made.bytes >= bytes:
		return errManyAnswers("the role has made new answers of %d bytes today, as many as it may", made.bytes)
	}
	return nil
}

func errManyAnswers(message string, made int64) error {
	return &wire.Error{Code: "53400", Message: fmt.Sprintf(message, made),
		Detail: "Nobody was charged for this answer. Answers that were given before are given again.",
		Hint:   "New answers can be made from 00:00 UTC on. The owner of the database can allow the role more."}
}

// drew notes an answer.
func (t *tallies) drew(r *role.Role, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	made := t.today(r)
	made.answers++
	made.bytes += int64(bytes)
}

func (t *tallies) today(r *role.Role) *tally {
	if day := t.now().Unix() / (24 * 60 * 60); t.of == nil || day != t.day {
		t.day, t.of = day, map[string]*tally{}
	}
	made := t.of[r.Name]
	if made == nil {
		made = new(tally)
		t.of[r.Name] = made
	}
	return made
}
