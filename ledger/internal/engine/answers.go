package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Several questions in one transaction. An account that several of them charge has one entry.

// AnswerAll implements [ledger.Ledger].
func (c *Core) AnswerAll(ctx context.Context, qs []ledger.Question) (all []ledger.Answered, err error) {
	if len(qs) == 1 {
		a, err := c.Answer(ctx, qs[0])
		return []ledger.Answered{a}, err
	}
	if slices.ContainsFunc(qs, func(q ledger.Question) bool { return q.Draw == nil }) {
		return nil, errNoDraw
	}
	ids, err := identify(qs)
	if err != nil {
		return nil, err
	}
	needs := func(yield func(Key) bool) {
		for i := range qs {
			for k := range needsOfQuestion(&qs[i]) {
				if !yield(k) {
					return
				}
			}
		}
	}
	err = Wrap(c.store.Update(ctx, needs, func(t Transaction) error {
		b := newBook(t)
		if all, err = b.each(qs, func(i int, q *ledger.Question) (ledger.Answered, error) { return b.answer(t, q, ids[i][:]) }); err != nil {
			return err
		}
		return b.charge(t, qs[0].Role)
	}))
	if err != nil {
		return nil, undrawn(err) // and nothing that was drawn
	}
	return all, nil
}

// QuoteAll implements [ledger.Ledger].
func (c *Core) QuoteAll(ctx context.Context, qs []ledger.Question) (all []ledger.Answered, err error) {
	if len(qs) == 1 {
		a, err := c.Quote(ctx, qs[0])
		return []ledger.Answered{a}, err
	}
	ids, err := identify(qs)
	if err != nil {
		return nil, err
	}
	err = Wrap(c.store.View(ctx, func(r Reader) error {
		b := newBook(r)
		all, err = b.each(qs, func(i int, q *ledger.Question) (ledger.Answered, error) { return b.quote(q, ids[i][:]) })
		return err
	}))
	return all, err
}

// identify normalizes questions and returns their IDs.
func identify(qs []ledger.Question) ([][sha256.Size]byte, error) {
	ids := make([][sha256.Size]byte, len(qs))
	for i := range qs {
		if err := qs[i].Normalize(); err != nil {
			return nil, err
		}
		ids[i] = qs[i].ID()
	}
	return ids, nil
}

// A book has the charges of the questions of a role that are not written yet. It reads each standing once, since none changes before
// they are.
type book struct {
	Reader
	standings map[Key]ledger.Standing
	roles     map[Key]ledger.RoleBudget
	owed      map[Key]dues
	items     map[service]ledger.Item // of accounts
	roleItems map[service]ledger.Item
}

// dues are the debts of an account, and of the role's budget for it.
type dues struct{ account, role budget.Amount }

// A service is a function's for an account, which has one entry for it.
type service struct {
	function string
	Key
}

func newBook(r Reader) *book {
	return &book{r, map[Key]ledger.Standing{}, map[Key]ledger.RoleBudget{}, map[Key]dues{}, map[service]ledger.Item{}, map[service]ledger.Item{}}
}

// each does something with each question, as one behind those before it. A refusal ends that; of the first question it is an error.
func (b *book) each(qs []ledger.Question, do func(i int, q *ledger.Question) (ledger.Answered, error)) ([]ledger.Answered, error) {
	all := make([]ledger.Answered, 0, len(qs))
	for i := range qs {
		q := qs[i]
		if q.Role != qs[0].Role {
			break
		}
		q.Earlier = b.behind(q.Unit, q.Earlier)
		a, err := do(i, &q)
		if i > 0 && IsRefusal(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// behind returns the debts for the questions before, and for earlier ones.
func (b *book) behind(unit budget.Unit, earlier func(string) (due, roleDue budget.Amount)) func(string) (due, roleDue budget.Amount) {
	return func(account string) (due, roleDue budget.Amount) {
		if earlier != nil {
			due, roleDue = earlier(account)
		}
		here := b.owed[Key{account, unit}]
		return add(due, here.account), add(roleDue, here.role)
	}
}

// add adds amounts of up to the largest.
func add(a, b budget.Amount) budget.Amount { return a + min(b, budget.Max-a) }

// quote quotes a question.
func (b *book) quote(q *ledger.Question, id []byte) (a ledger.Answered, err error) {
	d, err := decide(b, q, id)
	if err != nil {
		return a, err
	}
	a = d.answered(b.Now())
	if d.given != nil {
		_, a.Time, err = b.Reader.Answer(d.given.ID)
	}
	b.owe(q, d)
	return a, err
}

// answer answers a question, but for its charges.
func (b *book) answer(t Transaction, q *ledger.Question, id []byte) (a ledger.Answered, err error) {
	d, err := decide(b, q, id)
	if err != nil {
		return a, err
	}
	a = d.answered(b.Now())
	switch {
	case d.given == nil:
		if a.Answer, err = q.Draw(q.LeftOut(d.out)); err != nil {
			return a, &drawError{err}
		}
		err = t.AddAnswer(id, d.out, a.Answer, q.Role)
	default:
		if a.Answer, a.Time, err = b.Reader.Answer(d.given.ID); err == nil && !d.given.Seen {
			err = t.AddSeen(d.given.ID, q.Role)
		}
	}
	b.owe(q, d)
	return a, err
}

// owe notes the charges of a question.
func (b *book) owe(q *ledger.Question, d *decision) {
	note := func(items map[service]ledger.Item, due ledger.Item) Key {
		s := service{q.Function, Key{due.Account, q.Unit}}
		due.Epsilon += items[s].Epsilon // as large as the limit at most
		due.Evaluations += items[s].Evaluations
		items[s] = due
		return s.Key
	}
	for _, due := range d.dues {
		k := note(b.items, due)
		o := b.owed[k]
		b.owed[k] = dues{add(o.account, due.Epsilon), o.role}
	}
	for _, due := range d.roleDues {
		k := note(b.roleItems, due)
		o := b.owed[k]
		b.owed[k] = dues{o.account, add(o.role, due.Epsilon)}
	}
}

// charge writes the charges.
func (b *book) charge(t Transaction, role string) error {
	run := new(Run)
	for from, items := range b.entries(b.items, run) { // read again: a function before may charge the same account
		if err := chargeItems(t, from, items, through(items), nothingAside, nothingAhead); err != nil {
			return err
		}
	}
	for from, items := range b.entries(b.roleItems, run) {
		if err := t.ChargeRoleBudgets(role, from, items); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the items of each function and unit, in the order of accounts.
func (b *book) entries(items map[service]ledger.Item, run *Run) func(yield func(*Origin, []ledger.Item) bool) {
	order := slices.SortedFunc(maps.Keys(items), func(x, y service) int {
		return cmp.Or(cmp.Compare(x.function, y.function), cmp.Compare(x.Unit, y.Unit), cmp.Compare(x.Account, y.Account))
	})
	return func(yield func(*Origin, []ledger.Item) bool) {
		for len(order) > 0 {
			first := order[0]
			var same []ledger.Item
			for len(order) > 0 && order[0].function == first.function && order[0].Unit == first.Unit {
				same = append(same, items[order[0]])
				order = order[1:]
			}
			if !yield(&Origin{run, b.Now(), first.function, first.Unit}, same) {
				return
			}
		}
	}
}

// Ascending implements [Reader].
func (b *book) Ascending(unit budget.Unit, _ int) (Standings, error) {
	return bookStandings{b, unit}, nil
}

type bookStandings struct {
	*book
	unit budget.Unit
}

func (s bookStandings) Standing(account string) (found ledger.Standing, err error) {
	return once(s.standings, Key{account, s.unit}, s.Reader.Standing)
}

func (s bookStandings) Close() {}

// RoleBudgets implements [Reader]. All questions are of one role.
func (b *book) RoleBudgets(role string, unit budget.Unit) (func(account string) (ledger.RoleBudget, error), error) {
	read, err := b.Reader.RoleBudgets(role, unit)
	if err != nil {
		return nil, err
	}
	return func(account string) (ledger.RoleBudget, error) {
		return once(b.roles, Key{account, unit}, func(k Key) (ledger.RoleBudget, error) { return read(k.Account) })
	}, nil
}

// once returns what is known of a key, or reads it.
func once[V any](known map[Key]V, k Key, read func(Key) (V, error)) (V, error) {
	v, ok := known[k]
	if ok {
		return v, nil
	}
	v, err := read(k)
	if err == nil {
		known[k] = v
	}
	return v, err
}
