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
	accounts map[Key]*bookAccount
	last     *bookAccount // that was looked up
}

// A bookAccount is an account in a unit, with the role's budget for it.
type bookAccount struct {
	Key
	standing *ledger.Standing   // nil until it is read
	role     *ledger.RoleBudget // nil until it is read
	owed     dues
	items    []bookItem // of each function
}

// dues are the debts of an account, and of the role's budget for it.
type dues struct{ account, role budget.Amount }

// A bookItem is charged for a function.
type bookItem struct {
	function string
	own      ledger.Item // of the account; of nothing if nothing is due
	role     ledger.Item
}

func newBook(r Reader) *book { return &book{Reader: r, accounts: map[Key]*bookAccount{}} }

// account returns an account of the book.
func (b *book) account(name string, unit budget.Unit) *bookAccount {
	if a := b.last; a != nil && a.Account == name && a.Unit == unit {
		return a
	}
	k := Key{name, unit}
	a := b.accounts[k]
	if a == nil {
		a = &bookAccount{Key: k}
		b.accounts[k] = a
	}
	b.last = a
	return a
}

// item returns the item of a function.
func (a *bookAccount) item(function string) *bookItem {
	i := slices.IndexFunc(a.items, func(i bookItem) bool { return i.function == function })
	if i < 0 {
		i = len(a.items)
		a.items = append(a.items, bookItem{function: function})
	}
	return &a.items[i]
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
		here := b.account(account, unit).owed
		return add(due, here.account), add(roleDue, here.role)
	}
}

// add adds amounts of up to the largest.
func add(a, b budget.Amount) budget.Amount { return a + min(b, budget.Max-a) }

// quote quotes a question.
func (b *book) quote(q *ledger.Question, id []byte) (ledger.Answered, error) {
	d, a, err := quote(b, q, id)
	if err == nil {
		b.owe(q, d)
	}
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
	join := func(to *ledger.Item, due ledger.Item) {
		to.Account, to.Epsilon, to.Evaluations = due.Account, to.Epsilon+due.Epsilon, to.Evaluations+due.Evaluations
	}
	for _, due := range d.dues {
		a := b.account(due.Account, q.Unit)
		join(&a.item(q.Function).own, due)
		a.owed.account = add(a.owed.account, due.Epsilon)
	}
	for _, due := range d.roleDues {
		a := b.account(due.Account, q.Unit)
		join(&a.item(q.Function).role, due)
		a.owed.role = add(a.owed.role, due.Epsilon)
	}
}

// charge writes the charges.
func (b *book) charge(t Transaction, role string) error {
	run := new(Run)
	type service struct {
		function string
		unit     budget.Unit
	}
	own, roles := map[service][]ledger.Item{}, map[service][]ledger.Item{}
	for _, k := range slices.SortedFunc(maps.Keys(b.accounts), func(x, y Key) int { return cmp.Compare(x.Account, y.Account) }) {
		for _, item := range b.accounts[k].items {
			of := service{item.function, k.Unit}
			if item.own.Epsilon > 0 {
				own[of] = append(own[of], item.own)
			}
			if item.role.Epsilon > 0 {
				roles[of] = append(roles[of], item.role)
			}
		}
	}
	inOrder := func(all map[service][]ledger.Item) []service {
		return slices.SortedFunc(maps.Keys(all), func(x, y service) int {
			return cmp.Or(cmp.Compare(x.function, y.function), cmp.Compare(x.unit, y.unit))
		})
	}
	for _, of := range inOrder(own) { // read again: a function before may charge the same account
		if err := chargeItems(t, run.Origin(b.Now(), of.function, of.unit), own[of], through(own[of]), nothingAside, nothingAhead); err != nil {
			return err
		}
	}
	for _, of := range inOrder(roles) {
		if err := t.ChargeRoleBudgets(role, run.Origin(b.Now(), of.function, of.unit), roles[of]); err != nil {
			return err
		}
	}
	return nil
}

// Ascending implements [Reader].
func (b *book) Ascending(unit budget.Unit, _ int) (Standings, error) {
	return bookStandings{b, unit}, nil
}

type bookStandings struct {
	*book
	unit budget.Unit
}

func (s bookStandings) Standing(account string) (ledger.Standing, error) {
	a := s.account(account, s.unit)
	if a.standing == nil {
		read, err := s.Reader.Standing(a.Key)
		if err != nil {
			return read, err
		}
		a.standing = &read
	}
	return *a.standing, nil
}

func (s bookStandings) Close() {}

// RoleBudgets implements [Reader]. All questions are of one role.
func (b *book) RoleBudgets(role string, unit budget.Unit) (func(account string) (ledger.RoleBudget, error), error) {
	read, err := b.Reader.RoleBudgets(role, unit)
	if err != nil {
		return nil, err
	}
	return func(account string) (ledger.RoleBudget, error) {
		a := b.account(account, unit)
		if a.role == nil {
			found, err := read(account)
			if err != nil {
				return found, err
			}
			a.role = &found
		}
		return *a.role, nil
	}, nil
}
